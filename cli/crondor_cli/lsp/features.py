"""What the server can be asked, and who answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from crondor.diagnostics import CrondorError
from crondor_cli.lsp import answers
from crondor_cli.lsp.server import CrondorServer

_Answer = TypeVar("_Answer")


def add_features(server: CrondorServer) -> None:
    """Let a server answer questions about what is written, where, and how it hangs together."""
    _add_words(server)
    _add_names(server)
    _add_structure(server)


async def _of(server: CrondorServer, uri: str, answer: Callable[..., _Answer], *arguments: object) -> _Answer | None:
    """Have the worker answer about a text, None for one that is not open."""
    screen = server.texts.get(uri)
    return None if screen is None else await server.work(server.answered, screen, answer, *arguments)


def _add_words(server: CrondorServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        return await _of(server, params.text_document.uri, answers.hovered, params.position)

    options = types.CompletionOptions(trigger_characters=["$", "(", ".", "+", ":"], resolve_provider=True)

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, options)
    async def completion(params: types.CompletionParams) -> types.CompletionList | None:
        return await _of(server, params.text_document.uri, answers.completed, params.position)

    @server.feature(types.COMPLETION_ITEM_RESOLVE)
    async def resolve(item: types.CompletionItem) -> types.CompletionItem:
        return await server.work(answers.documented, item)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hint(params: types.InlayHintParams) -> list[types.InlayHint] | None:
        return await _of(server, params.text_document.uri, answers.hinted, params.range)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def code_lens(params: types.CodeLensParams) -> list[types.CodeLens] | None:
        return await _of(server, params.text_document.uri, answers.lenses)


def _add_names(server: CrondorServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: types.DefinitionParams) -> list[types.Location] | None:
        return await _of(server, params.text_document.uri, answers.defined, params.position)

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(params: types.ReferenceParams) -> list[types.Location] | None:
        return await _of(server, params.text_document.uri, answers.referred, params.position, params.context)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def highlight(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
        return await _of(server, params.text_document.uri, answers.highlighted, params.position)

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare_rename(params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        return await _of(server, params.text_document.uri, answers.may_rename, params.position)

    @server.feature(types.TEXT_DOCUMENT_RENAME)
    async def rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        uri = params.text_document.uri
        try:
            return await _of(server, uri, answers.with_new_name, params.position, params.new_name)
        except CrondorError as error:
            raise JsonRpcInvalidParams(error.diagnostics[0].message) from None


def _add_structure(server: CrondorServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        return await _of(server, params.text_document.uri, answers.outlined)

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    async def folding(params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
        return await _of(server, params.text_document.uri, answers.folded)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, answers.LEGEND)
    async def tokens(params: types.SemanticTokensParams) -> types.SemanticTokens | None:
        return await _of(server, params.text_document.uri, answers.coloured)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_LINK)
    async def links(params: types.DocumentLinkParams) -> list[types.DocumentLink] | None:
        return await _of(server, params.text_document.uri, answers.linked)
