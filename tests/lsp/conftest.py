"""Tests of editors are there where the editors are: no test is skipped, and none pretends to have run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from tests.lsp.client import Client, serving

collect_ignore = [
    name for program, name in (("nvim", "test_neovim.py"), ("emacs", "test_emacs.py")) if shutil.which(program) is None
]


@pytest.fixture(scope="session")
def server() -> Iterator[Client]:
    """Return a client of a server that many tests share."""
    capabilities = {"textDocument": {"rename": {"prepareSupport": True}}, "workspace": {"applyEdit": True}}
    with serving(capabilities=capabilities) as found:
        yield found


@pytest.fixture
def client(server: Client) -> Iterator[Client]:
    """Return the same for one test, which finds no text open and leaves none."""
    yield server
    server.close_all()
