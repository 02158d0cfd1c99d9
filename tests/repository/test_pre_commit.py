"""The pre-commit hooks, run by pre-commit itself on a clone of this repository; nothing is fetched."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.running import crondor
from tests.repository.conftest import ROOT

HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
LINES = (
    "executable = /bin/true",
    "cron_minutes = 0",
    "cron_hour = 6",
    "cron_window = 60",
    "on_exit_remove = ExitCode == 77",
    "periodic_release = HoldReasonCode == 20",
    "queue",
)


def run(*words: str, folder: Path, env: dict[str, str], status: int | None = 0) -> str:
    """Run a program and return what it prints."""
    done = subprocess.run(
        words, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False, encoding="utf-8"
    )
    assert status is None or done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def env(offline: dict[str, str]) -> dict[str, str]:
    """Return an environment for git and pre-commit."""
    names = {f"GIT_{role}_NAME": "nobody" for role in ("AUTHOR", "COMMITTER")}
    addresses = {f"GIT_{role}_EMAIL": "nobody@example.org" for role in ("AUTHOR", "COMMITTER")}
    return {**offline, **names, **addresses, "PRE_COMMIT_HOME": str(Path(offline["HOME"], "pre-commit"))}


@pytest.fixture(scope="module")
def clone(checkout: Path, env: dict[str, str]) -> Path:
    """Return a repository with this checkout as it is now."""
    run("git", "init", "-q", ".", folder=checkout, env=env)
    run("git", "add", "-A", folder=checkout, env=env)
    run("git", "commit", "-qm", "all", folder=checkout, env=env)
    return checkout


@pytest.fixture
def project(tmp_path: Path, clone: Path, env: dict[str, str]) -> Path:
    """Return a repository with a submit file and the hooks."""
    revision = run("git", "rev-parse", "HEAD", folder=clone, env=env).strip()
    hooks = [{"id": each["id"]} for each in HOOKS if each["id"] != "crondor-route-check"]
    hooks.append({"id": "crondor-route-check", "args": ["--config", "50-routes.conf"]})
    config = {"repos": [{"repo": clone.as_uri(), "rev": revision, "hooks": hooks}]}
    (tmp_path / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    (tmp_path / "job.sub").write_text("\n".join((*LINES, "")), encoding="utf-8")
    (tmp_path / "50-routes.conf").write_text("JOB_ROUTER_ROUTE_NAMES = Nowhere\n", encoding="utf-8")
    run("git", "init", "-q", ".", folder=tmp_path, env=env)
    run("git", "add", "-A", folder=tmp_path, env=env)
    return tmp_path


def test_the_manifest_is_one_to_pre_commit(env: dict[str, str]) -> None:
    """It reads it without a word."""
    words = (sys.executable, "-m", "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml")
    assert run(*words, folder=ROOT, env=env) == ""


def test_the_hooks_run(project: Path, env: dict[str, str]) -> None:
    """The first says what is wrong, the second cures it, and then both are content; the third reads what it is told."""
    commit = (sys.executable, "-m", "pre_commit", "run", "--all-files", "--color", "never")
    found = run(*commit, folder=project, env=env, status=1)
    assert "job.sub:2:1: warning: " in found
    assert "[CRN501]" in found
    assert "files were modified by this hook" in found
    assert (project / "job.sub").read_text(encoding="utf-8").splitlines()[1] == "cron_minute = 0"
    again = run(*commit, folder=project, env=env, status=1)
    assert re.findall(r"^(.*?)\.+(\w+)$", again, re.MULTILINE) == [
        ("crondor check", "Passed"),
        ("crondor check --fix --write", "Passed"),
        ("crondor route check", "Failed"),
    ]
    assert "50-routes.conf:1:" in again


def test_the_hooks_name_commands_that_there_are() -> None:
    """And take the files that `crondor check` takes."""
    for each in HOOKS:
        words = [word for word in each["entry"].split()[1:] if not word.startswith("-")]
        assert crondor(*words, "--help").status == 0
