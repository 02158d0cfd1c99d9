"""Tests of editors are there where the editors are: no test is skipped, and none pretends to have run."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.lsp.client import Client, serving

collect_ignore = [
    name for program, name in (("nvim", "test_neovim.py"), ("emacs", "test_emacs.py")) if shutil.which(program) is None
]


_CAPABILITIES = {"textDocument": {"rename": {"prepareSupport": True}}, "workspace": {"applyEdit": True}}
_running = ExitStack()
_clients: list[Client] = []


@pytest.fixture
def client() -> Iterator[Client]:
    """Return a client of a server that the tests of this folder share; each finds no text open, and leaves none."""
    if not _clients:
        _clients.append(_running.enter_context(serving(capabilities=_CAPABILITIES)))
    yield _clients[0]
    _clients[0].close_all()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """End the server with the last test of this folder: what is forked elsewhere has none of its threads."""
    if nextitem is None or nextitem.path.parent != Path(__file__).parent:
        _clients.clear()
        _running.close()
