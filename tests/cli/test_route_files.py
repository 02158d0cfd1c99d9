"""`crondor route run` with files: a spool, token files, and what it refuses."""

import sys
from pathlib import Path

import pytest

from tests.cli.running import NOW, Result, crondor

CONFIG = """JOB_ROUTER_ROUTE_NAMES = Site1
SEC_TOKEN_DIRECTORY = {folder}/tokens
JOB_ROUTER_CREATE_IDTOKEN_NAMES = site
JOB_ROUTER_CREATE_IDTOKEN_site @=end
  sub = "router"
  lifetime = 600
  scope = "condor:/READ"
@end
JOB_ROUTER_ROUTE_Site1 @=end
  REQUIREMENTS WantJobRouter
  UNIVERSE vanilla
  JobShouldBeSandboxed = true
  {more}
@end
"""
JOB = """executable = /bin/true
transfer_executable = false
transfer_input_files = input
+WantJobRouter = true
queue
"""
ISSUER = """#!{python}
import json, sys
request = json.load(sys.stdin)
print("token-of-" + request["sub"] + "-" + str(request["lifetime"]) + "-" + ",".join(request["scope"]))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a configuration, a program that makes tokens, and a queue of one job."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tokens").mkdir()
    (tmp_path / "input").write_text("hello")
    (tmp_path / "job.sub").write_text(JOB)
    (tmp_path / "issuer").write_text(ISSUER.format(python=sys.executable))
    (tmp_path / "issuer").chmod(0o755)
    configure(tmp_path)
    assert crondor("queue", "submit", "job.sub", "--queue", "queue", "--now", NOW).status == 0
    return tmp_path


def configure(folder: Path, more: str = "") -> None:
    """Write the configuration."""
    (folder / "routes.conf").write_text(CONFIG.format(folder=folder, more=more))


def run(*arguments: str) -> Result:
    """Run the router over the folder's queue, for one poll."""
    return crondor("route", "run", "--config", "routes.conf", "--queue", "queue", "--once", "--now", NOW, *arguments)


def said(found: Result) -> list[str]:
    """Return what was said, without times and jobs."""
    return [line.rpartition("): ")[2] for line in found.lines[1:]]


def test_input_is_spooled(folder: Path) -> None:
    """In HTCondor's layout; a dry run looks at the files and moves none."""
    dry = run("--spool", "spool", "--files-dir", ".", "--dry-run")
    assert (dry.status, dry.err, said(dry)[1]) == (0, "", "submitted job")
    assert not (folder / "spool").exists()
    found = run("--spool", "spool", "--files-dir", ".")
    assert (found.status, found.err, said(found)[1]) == (0, "", "submitted job")
    assert (folder / "spool/2/0/cluster2.proc0.subproc0/input").read_text() == "hello"


def test_what_is_missing_is_said(folder: Path) -> None:
    """By a dry run as well; nothing is submitted."""
    (folder / "input").unlink()
    for more in ((), ("--dry-run",)):
        found = run("--spool", "spool", "--files-dir", ".", *more)
        assert "failed to submit job: cannot open" in said(found)[1]
        assert found.status == 0


def test_without_a_spool_a_sandbox_is_refused(folder: Path) -> None:
    """As before; with an issuer alone as well."""
    assert "this router cannot move files" in run("--dry-run").out
    assert "this router has no spool" in run("--token-issuer", str(folder / "issuer")).out


def test_tokens_are_made_by_a_program(folder: Path) -> None:
    """They go into the sandbox before the other files."""
    configure(folder, 'SendIDTokens = "site"')
    found = run("--spool", "spool", "--files-dir", ".", "--token-issuer", str(folder / "issuer"))
    assert (found.status, found.err) == (0, "")
    token = "token-of-router-600-condor:/READ\n"  # noqa: S105 - of a test
    assert (folder / "tokens/site").read_text() == token
    assert (folder / "spool/2/0/cluster2.proc0.subproc0/site").read_text() == token
    assert sorted(path.name for path in (folder / "queue").iterdir() if "router" in path.name) == [
        "jobrouterLock.tokens"
    ]


def test_a_program_that_fails_is_said(folder: Path) -> None:
    """And the route that sends its token as well."""
    configure(folder, 'SendIDTokens = "site"')
    (folder / "issuer").write_text("#!/bin/sh\necho no key >&2\nexit 3\n")
    found = run("--spool", "spool", "--files-dir", ".", "--token-issuer", str(folder / "issuer"))
    assert "failed to create token site" in found.err
    assert "exited with status 3: no key" in found.err
    assert "unknown IDTOKEN site" in found.out


@pytest.mark.parametrize("arguments", [("--spool", "spool"), ("--files-dir", "."), ("--token-issuer", "issuer")])
@pytest.mark.usefixtures("folder")
def test_options_that_do_not_go_together(arguments: tuple[str, ...]) -> None:
    """Wrong usage."""
    assert run(*arguments).status == 2
