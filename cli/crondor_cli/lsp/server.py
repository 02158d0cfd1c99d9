"""The language server: its settings, the open texts, their findings, and the messages to the client."""

from __future__ import annotations

import asyncio
import io
import logging
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO, Final, NamedTuple, TypeVar, cast

import click
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method
from pygls.uris import to_fs_path

from crondor.diagnostics import CrondorError, Severity, Source, render
from crondor.editing import CheckedText, EditSettings, check_text, kind_of
from crondor.editing.findings import compiled, explanation
from crondor.editing.reading import HintKind, ReadText
from crondor.knowledge.releases import NEWEST, Release
from crondor.lint import CheckSettings, Rule, TextEdit
from crondor.lint.subject import CheckMemory, SiteRules
from crondor.lint.submit import rules_for
from crondor_cli.kit.command import installed_version
from crondor_cli.kit.files import files_of, user_folder
from crondor_cli.kit.findings import BaselineOptions, ChosenReports, codes_of, read_checked, with_baseline
from crondor_cli.kit.options import Clock, Surroundings, UsageProblem, clock_of, interval_of, pool_files
from crondor_cli.kit.pool_config import read_pool
from crondor_cli.kit.schedules import host_of
from crondor_cli.kit.settings import as_given, find_settings
from crondor_cli.kit.site_rules import read_site
from crondor_cli.lsp import answers
from crondor_cli.lsp.answers import COMPILE, EXPLAIN, MOST, TextOnScreen, actions, edit_of, page_uri, shown

_INTERVAL = 300
_MINUTE = 60
_HINTS = {
    "none": frozenset[HintKind](),
    "next-run": frozenset((HintKind.NEXT_RUN,)),
    "macros": frozenset((HintKind.MACROS,)),
    "all": frozenset(HintKind),
}


class GivenOptions(NamedTuple):
    """Options of the command line, which override the settings of a folder: a time for now, a zone, the hints."""

    now: str | None = None
    tz: str | None = None
    hints: str | None = None


class SettingsOfFolders:
    """Reads the settings of a file at each request: they are few, and change during editing.

    The configuration of an access point is cached while its files are unchanged. ``complain`` receives invalid
    settings, which are replaced by defaults.
    """

    def __init__(self, given: GivenOptions, complain: Callable[[str], None]) -> None:
        self._given = given
        self._complain = complain
        self._pools: dict[tuple[object, ...], Any] = {}
        self.site_rules: dict[str, Rule[Any]] = {}  # by code

    def of(self, path: str) -> EditSettings:
        """Return the settings that the findings of a file depend on."""
        values = self._values(path)
        site = self._site(path, values.get("check.target"))
        try:
            return self._settings(path, values, site)
        except (click.ClickException, CrondorError) as error:
            self._complain(_message(error))
            return self._settings(path, {}, site)

    def _site(self, path: str, target: str | None) -> SiteRules | None:
        try:
            site = read_site(Release.parse(target) if target else None, os.path.dirname(path) or None)
        except CrondorError as error:
            self._complain(_message(error))
            return None
        self.site_rules.update({each.code: each for each in site.rules} if site else {})
        return site

    def _values(self, path: str) -> dict[str, Any]:
        try:
            found = find_settings(os.environ, user_folder(), os.path.dirname(path) or None)
        except CrondorError as error:
            self._complain(_message(error))
            return {}
        for warning in found.warnings:
            self._complain(render(warning).partition("\n")[0])
        return {each.setting.name: as_given(each) for each in found.values.values()}

    def _settings(self, path: str, values: dict[str, Any], site: SiteRules | None) -> EditSettings:
        clock = clock_of(self._given.now, self._given.tz or values.get("tz"))
        if self._given.now is None:
            clock = clock._replace(now=clock.now - clock.now % _MINUTE)  # so that results are cached that long
        target = values.get("check.target")
        release = Release.parse(target) if target else None
        allow_dirs = tuple(values.get("allow-dir", ()))
        pool = self._pool(tuple(values.get("pool-config", ())), allow_dirs, clock, release)
        check = CheckSettings(
            clock.now,
            clock.zone,
            schedd_interval=interval_of(int(values.get("schedd-interval", _INTERVAL)), pool),
            files=not values.get("check.no-files", False),
            access_point=pool,
            target=release or NEWEST,
            site=site,
        )
        surroundings, host = Surroundings(allow_dirs), host_of(pool)
        chosen = codes_of(values.get("check.select", ()), rules_for(check))
        ignored = codes_of(values.get("check.ignore", ()), rules_for(check))
        return EditSettings(
            check,
            lambda source: read_checked(source, check, surroundings, host),
            lambda source, node: read_checked(source, check, surroundings, host, node),
            files_of(path, allow_dirs),
            os.environ,
            chosen,
            ignored,
            _baseline(values.get("check.baseline"), chosen, ignored),
            _HINTS[self._given.hints or values.get("lsp.hints", "next-run")],
        )

    def _pool(self, paths: Sequence[str], allow_dirs: Sequence[str], clock: Clock, release: Release | None) -> Any:  # noqa: ANN401 - an AccessPoint, which takes 60 ms to import
        if not paths:
            return None
        key = (tuple(paths), tuple(allow_dirs), clock.now // 3600, release, tuple(map(_stamp, paths)))
        if key not in self._pools:
            made = read_pool(pool_files(paths), allow_dirs, clock, release)
            self._pools = {key: made}
        return self._pools[key]


def _baseline(path: str | None, chosen: tuple[str, ...], ignored: tuple[str, ...]) -> Any:  # noqa: ANN401 - as EditSettings.new
    """Return a filter for the findings in a baseline. Raises UsageError."""
    if path is None:
        return None
    return with_baseline(ChosenReports((), chosen, ignored, strict=False), BaselineOptions(path, update=False)).new


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _message(error: click.ClickException | CrondorError) -> str:
    if isinstance(error, UsageProblem):
        error = error.error
    if isinstance(error, click.ClickException):
        return error.message
    return render(error.diagnostics[0]).partition("\n")[0]


_SETTLE: Final = 0.02  # seconds without a keystroke before a text is checked
_LONGEST: Final = 1.0  # longest wait in seconds for a text that is slow to check
_Found = TypeVar("_Found")


class _Protocol(LanguageServerProtocol):
    """The protocol with texts of our own: pygls splits lines like Python, also at form feeds."""

    _server: CrondorServer

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Open a text."""
        self._server.opened(params.text_document)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Change a text."""
        self._server.changed(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Close a text."""
        self._server.closed(params.text_document.uri)


class CrondorServer(LanguageServer):
    """The current texts by URI, and the findings of the versions checked last.

    One worker does all checks, one at a time, so that messages and changes are processed meanwhile.
    """

    def __init__(self, given: GivenOptions) -> None:
        version = installed_version() or "from a checkout"
        super().__init__("crondor", version, protocol_cls=_Protocol, converter_factory=default_converter)
        self.settings = SettingsOfFolders(given, self._complain_of_settings)
        self.texts: dict[str, TextOnScreen] = {}
        self.checked: dict[str, tuple[TextOnScreen, CheckedText, ReadText]] = {}
        self._read: dict[str, tuple[TextOnScreen, ReadText]] = {}
        self._memories: dict[str, CheckMemory] = {}
        self.is_shut_down = False
        self.status = 0
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._seconds: dict[str, float] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._complaints: set[str] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="crondor")
        self._aside = ThreadPoolExecutor(1, thread_name_prefix="crondor-aside")

    @property
    def encoding(self) -> str:
        """The units of columns agreed on with the client."""
        encoding = self.workspace.position_encoding or types.PositionEncodingKind.Utf16
        return encoding.value if isinstance(encoding, types.PositionEncodingKind) else encoding

    def opened(self, item: types.TextDocumentItem) -> None:
        """Open a text, and check it."""
        name = to_fs_path(item.uri) or item.uri
        text = TextOnScreen(item.uri, Source(item.text, name), item.version, item.language_id, self.encoding)
        self.texts[item.uri] = text
        self._look(text, 0)

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        """Change a text, and check it after a pause."""
        uri, version = params.text_document.uri, params.text_document.version
        text = self.texts.get(uri)
        if text is None:
            return
        for change in params.content_changes:
            place = change.range if isinstance(change, types.TextDocumentContentChangePartial) else None
            text = text.changed(place, change.text, version)
        self.texts[uri] = text
        self._look(text, max(_SETTLE, min(_LONGEST, self._seconds.get(uri, 0) / 2)))

    def closed(self, uri: str) -> None:
        """Forget a text and its findings."""
        text = self.texts.pop(uri, None)
        self.checked.pop(uri, None)
        self._read.pop(uri, None)
        self._memories.pop(uri, None)
        self._seconds.pop(uri, None)
        timer = self._timers.pop(uri, None)
        if timer is not None:
            timer.cancel()
        if text is not None:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def look_again(self) -> None:
        """Check all texts again: a setting or a file that they name has changed."""
        self._complaints.clear()
        self._read.clear()
        for text in self.texts.values():
            self._look(text, _SETTLE)

    async def work(self, function: Callable[..., _Found], *arguments: object) -> _Found:
        """Call a function in the worker."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, function, *arguments)

    async def findings(self, uri: str) -> tuple[TextOnScreen, CheckedText, ReadText] | None:
        """Return the findings of the current text; None if it is not open, or in no known language."""
        text = self.texts.get(uri)
        if text is None:
            return None
        known = self.checked.get(uri)
        if known is None or known[0] is not text:
            await self._check(text)
            known = self.checked.get(uri)
        return known

    async def work_aside(self, function: Callable[..., _Found], *arguments: object) -> _Found:
        """Call a slow function in another worker; it must not use the first worker's data."""
        return await asyncio.get_running_loop().run_in_executor(self._aside, function, *arguments)

    def fresh(self, screen: TextOnScreen) -> ReadText | None:
        """Return a text parsed again for separate use; None if its language is unknown."""
        kind = kind_of(screen.source.name, screen.language)
        return None if kind is None else ReadText(screen.source, kind, self.settings.of(screen.source.name))

    def answered(self, screen: TextOnScreen, answer: Callable[..., _Found], *arguments: object) -> _Found | None:
        """Call a function with a parsed text, in the worker; None if its language is unknown."""
        text = self._reading(screen)
        return None if text is None else answer(screen, text, *arguments)

    def _reading(self, screen: TextOnScreen) -> ReadText | None:
        """Return a parsed text, parsed again if the settings or the minute have changed; runs in the worker."""
        kind = kind_of(screen.source.name, screen.language)
        if kind is None:
            return None
        settings = self.settings.of(screen.source.name)
        known = self._read.get(screen.uri)
        if known is not None and known[0] is screen and known[1].settings.check == settings.check:
            return known[1]
        is_open = self.texts.get(screen.uri) is screen
        memory = self._memories.setdefault(screen.uri, CheckMemory()) if is_open else None
        text = ReadText(screen.source, kind, settings, memory)
        if is_open:
            self._read[screen.uri] = screen, text
        return text

    def _look(self, text: TextOnScreen, delay: float) -> None:
        loop = self._loop = asyncio.get_running_loop()
        waiting = self._timers.pop(text.uri, None)
        if waiting is not None:
            waiting.cancel()
        self._timers[text.uri] = loop.call_later(delay, self._begin, text)

    def _begin(self, text: TextOnScreen) -> None:
        self._timers.pop(text.uri, None)
        task = asyncio.ensure_future(self._check(text))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _check(self, text: TextOnScreen) -> None:
        try:
            found = await self.work(self._found, text)
        except Exception as error:  # noqa: BLE001 - the server survives any failure of a rule
            message = f"{text.source.name}: {type(error).__name__}: {error}"
            self.window_log_message(types.LogMessageParams(types.MessageType.Error, message))
            return
        if found is None or self.texts.get(text.uri) is not text:
            return
        self.checked[text.uri] = (text, *found)
        diagnostics = [shown(each, text) for each in found[0].findings[:MOST]]
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(text.uri, diagnostics, text.version))

    def _found(self, text: TextOnScreen) -> tuple[CheckedText, ReadText] | None:
        """Check a text, unless it has changed; runs in the worker."""
        begun = time.thread_time()  # time used by other processes is no reason to wait longer
        read = self._reading(text) if self.texts.get(text.uri) is text else None
        if read is None:
            return None
        found = check_text(read)
        self._seconds[text.uri] = time.thread_time() - begun
        return found, read

    def _complain_of_settings(self, message: str) -> None:
        """Report invalid settings to the user, once."""
        if message not in self._complaints and self._loop is not None:
            self._complaints.add(message)
            params = types.ShowMessageParams(types.MessageType.Warning, f"crondor: {message}")
            self._loop.call_soon_threadsafe(self.window_show_message, params)


_Answer = TypeVar("_Answer")


async def _of(server: CrondorServer, uri: str, answer: Callable[..., _Answer], *arguments: object) -> _Answer | None:
    """Call a function with a parsed text, in the worker; None if it is not open."""
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


_LABEL = "Compile the schedule"


def add_compiling(server: CrondorServer) -> None:
    """Add the compiling of schedules to a server."""

    @server.command(COMPILE)
    async def compile_schedule(uri: str, line: int) -> bool:
        """Insert the lines of the schedule in a line (from 0) into a text; return whether they were inserted."""
        screen = server.texts.get(uri)
        if screen is None:
            return False
        try:
            edit = await server.work_aside(_compiled, server, screen, line)
        except CrondorError as error:
            _tell(server, types.MessageType.Error, _first_lines(error))
            return False
        if edit is None:
            _tell(server, types.MessageType.Info, "the compiled lines match the schedule: nothing was changed")
            return False
        if server.texts.get(uri) is not screen:
            _tell(server, types.MessageType.Warning, "the text has changed in the meantime: compile again")
            return False
        change = edit_of(screen, [types.TextEdit(screen.places.range_of(edit.span), edit.text)])
        answer = await server.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(change, _LABEL))
        return answer.applied


def _compiled(server: CrondorServer, screen: TextOnScreen, line: int) -> TextEdit | None:
    text = server.fresh(screen)
    return None if text is None else compiled(text, screen.places.line_start(line))


def _first_lines(error: CrondorError) -> str:
    fault = next((each for each in error.diagnostics if each.severity is Severity.ERROR), error.diagnostics[0])
    said = render(fault).partition("\n")[0]
    return f"{said}\nhelp: {fault.help}" if fault.help else said


def _tell(server: CrondorServer, kind: types.MessageType, message: str) -> None:
    server.window_show_message(types.ShowMessageParams(kind, f"crondor: {message}"))


def serve(given: GivenOptions, stdin: BinaryIO, stdout: BinaryIO) -> int:
    """Serve one client on two streams, until it ends or disconnects; return the exit status."""
    logging.getLogger("pygls").setLevel(logging.CRITICAL)  # a client's errors are answered, and nobody reads stderr
    server = make(given)
    server.start_io(stdin, cast("BinaryIO", _Kept(stdout)))
    return server.status


class _Kept(io.BufferedIOBase):
    """Standard output that pygls cannot close, since others still flush it."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def write(self, data: Any) -> int:  # noqa: ANN401 - bytes of any kind, as a buffered stream takes them
        return self._out.write(data)

    def flush(self) -> None:
        if not (self.closed or self._out.closed):
            self._out.flush()


def make(given: GivenOptions) -> CrondorServer:
    """Return a server with all features."""
    server = CrondorServer(given)
    _add_words(server)
    _add_names(server)
    _add_structure(server)
    add_compiling(server)
    kinds = [types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite, types.CodeActionKind.SourceFixAll]

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=kinds))
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        known = await server.findings(params.text_document.uri)
        return [] if known is None else await server.work(actions, *known, params.range, params.context)

    @server.command(EXPLAIN)
    def explain(code: str) -> str | None:
        rule = server.settings.site_rules.get(code)
        uri = rule.url or None if rule else page_uri(code) if code.isalnum() else None
        window = server.client_capabilities.window
        if uri is not None and window is not None and window.show_document is not None:
            server.window_show_document(types.ShowDocumentParams(uri))
        return rule.text if rule else explanation(code) if code.isalnum() else None

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
