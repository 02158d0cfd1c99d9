"""The programs of examples/ that check submit files, run as they stand."""

import json
import re
import runpy
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from urllib.request import urlopen
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest

from tests.cli.running import environment
from tests.repository.conftest import ROOT

EXAMPLES = ROOT / "examples"
CLEAN = (EXAMPLES / "nightly.sub").read_text(encoding="utf-8")


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_the_service_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over HTTP, with the findings and their places; its function has ten lines at most."""
    service = runpy.run_path(str(EXAMPLES / "check_service.py"))["service"]
    source = (EXAMPLES / "check_service.py").read_text(encoding="utf-8")
    function = re.search(r"^def service.*?(?=^\S)", source.split("\nif __name__")[0] + "\nx", re.MULTILINE | re.DOTALL)
    assert function is not None
    assert len(function[0].strip().splitlines()) <= 10
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    with make_server("127.0.0.1", 0, service, handler_class=_Quiet) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        body = b"executable = x\ncron_minute = 61\narguments = \xff\ninclude : /etc/passwd\nqueue\n"
        with urlopen(f"http://127.0.0.1:{server.server_port}/", body, timeout=60) as answer:
            data = json.load(answer)
        thread.join(60)
    assert data["name"] == "job.sub"
    found = {(each["code"], each["place"]["line"]) for each in data["findings"]}
    assert {("CRN101", 2), ("CRN004", 4)} <= found
    assert "root:" not in json.dumps(data)


def test_the_fixture_fails_with_what_check_shows(tmp_path: Path) -> None:
    """Beside a project's submit files, as pytest runs it."""
    shutil.copy(EXAMPLES / "test_submit_files.py", tmp_path)
    (tmp_path / "clean.sub").write_text(CLEAN, encoding="utf-8")
    (tmp_path / "wrong.sub").write_text(CLEAN.replace("cron_minute ", "cron_minutes "), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    assert (done.returncode, "1 failed, 1 passed" in done.stdout) == (1, True), done.stdout
    assert "wrong.sub:" in done.stdout
    assert "[CRN501]" in done.stdout
