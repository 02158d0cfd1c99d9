"""A server with all that it can do, on two streams."""

from __future__ import annotations

import io
import logging
from typing import Any, BinaryIO, cast

from lsprotocol import types

from crondor.editing.findings import explanation
from crondor_cli.lsp.actions import EXPLAIN, actions
from crondor_cli.lsp.compiling import add_compiling
from crondor_cli.lsp.features import add_features
from crondor_cli.lsp.server import CrondorServer
from crondor_cli.lsp.settings import GivenOptions
from crondor_cli.lsp.showing import page_uri


def serve(given: GivenOptions, stdin: BinaryIO, stdout: BinaryIO) -> int:
    """Serve one client on two streams, until it says so or goes away; return the exit status."""
    logging.getLogger("pygls").setLevel(logging.CRITICAL)  # a client's mistakes are answered, and nobody reads stderr
    server = make(given)
    server.start_io(stdin, cast("BinaryIO", _Kept(stdout)))
    return server.status


class _Kept(io.BufferedIOBase):
    """Standard output, which pygls would close, and others still flush."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def write(self, data: Any) -> int:  # noqa: ANN401 - bytes of any kind, as a buffered stream takes them
        return self._out.write(data)

    def flush(self) -> None:
        if not (self.closed or self._out.closed):
            self._out.flush()


def make(given: GivenOptions) -> CrondorServer:
    """Return a server with all that it can do."""
    server = CrondorServer(given)
    add_features(server)
    add_compiling(server)
    kinds = [types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite, types.CodeActionKind.SourceFixAll]

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=kinds))
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        known = await server.findings(params.text_document.uri)
        return [] if known is None else await server.work(actions, *known, params.range, params.context)

    @server.command(EXPLAIN)
    def explain(code: str) -> str | None:
        uri = page_uri(code) if code.isalnum() else None
        window = server.client_capabilities.window
        if uri is not None and window is not None and window.show_document is not None:
            server.window_show_document(types.ShowDocumentParams(uri))
        return explanation(code) if code.isalnum() else None

    @server.feature(types.SHUTDOWN)
    def shutdown(_: None) -> None:
        server.is_shut_down = True

    @server.feature(types.EXIT)
    def end(_: None) -> None:
        server.status = 0 if server.is_shut_down else 1

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(_: types.DidSaveTextDocumentParams) -> None:
        server.look_again()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def did_change_configuration(_: types.DidChangeConfigurationParams) -> None:
        server.look_again()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(_: types.DidChangeWatchedFilesParams) -> None:
        server.look_again()

    return server
