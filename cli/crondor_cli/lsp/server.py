"""The server: the texts that are open, what was found in them, and who is told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from typing import Final, TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method
from pygls.uris import to_fs_path

from crondor.check.memory import CheckMemory
from crondor.editing import CheckedText, check_text, kind_of
from crondor.editing.reading import ReadText
from crondor.source import Source
from crondor_cli.lsp.positions import TextOnScreen
from crondor_cli.lsp.settings import GivenOptions, SettingsOfFolders
from crondor_cli.lsp.showing import MOST, shown

_SETTLE: Final = 0.02  # seconds without a keystroke before a text is looked at
_LONGEST: Final = 1.0  # seconds that a text waits which takes long
_Found = TypeVar("_Found")


class _Protocol(LanguageServerProtocol):
    """The protocol with texts of our own: pygls ends lines where Python does, at form feeds as well."""

    _server: CrondorServer

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Take a text."""
        self._server.opened(params.text_document)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Change a text."""
        self._server.changed(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget a text."""
        self._server.closed(params.text_document.uri)


class CrondorServer(LanguageServer):
    """The texts by URI, each as it stands now, and the findings of the version that was looked at last.

    All looking is done by one worker, behind one another, so that messages are answered and changes taken meanwhile.
    """

    def __init__(self, given: GivenOptions) -> None:
        """Take what the command line says."""
        super().__init__("crondor", _version(), protocol_cls=_Protocol, converter_factory=default_converter)
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
        """The units of columns that were agreed on with the client."""
        encoding = self.workspace.position_encoding or types.PositionEncodingKind.Utf16
        return encoding.value if isinstance(encoding, types.PositionEncodingKind) else encoding

    def opened(self, item: types.TextDocumentItem) -> None:
        """Take a text, and look at it."""
        name = to_fs_path(item.uri) or item.uri
        text = TextOnScreen(item.uri, Source(item.text, name), item.version, item.language_id, self.encoding)
        self.texts[item.uri] = text
        self._look(text, 0)

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        """Change a text, and look at it once it rests."""
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
        """Forget a text, and what was found in it."""
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
        """Look at all texts: what is set has changed, or a file that they name."""
        self._complaints.clear()
        self._read.clear()
        for text in self.texts.values():
            self._look(text, _SETTLE)

    async def work(self, function: Callable[..., _Found], *arguments: object) -> _Found:
        """Have the worker call a function."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, function, *arguments)

    async def findings(self, uri: str) -> tuple[TextOnScreen, CheckedText, ReadText] | None:
        """Return the findings of a text as it stands now, None for one that is not open, or in no language of ours."""
        text = self.texts.get(uri)
        if text is None:
            return None
        known = self.checked.get(uri)
        if known is None or known[0] is not text:
            await self._check(text)
            known = self.checked.get(uri)
        return known

    async def work_aside(self, function: Callable[..., _Found], *arguments: object) -> _Found:
        """Have another worker call a function that takes long, and touches nothing that the first one holds."""
        return await asyncio.get_running_loop().run_in_executor(self._aside, function, *arguments)

    def fresh(self, screen: TextOnScreen) -> ReadText | None:
        """Return a text to read for oneself, None for one in no language of ours."""
        kind = kind_of(screen.source.name, screen.language)
        return None if kind is None else ReadText(screen.source, kind, self.settings.of(screen.source.name))

    def answered(self, screen: TextOnScreen, answer: Callable[..., _Found], *arguments: object) -> _Found | None:
        """Ask a function about a text, None for one in no language of ours; the worker does this."""
        text = self._reading(screen)
        return None if text is None else answer(screen, text, *arguments)

    def _reading(self, screen: TextOnScreen) -> ReadText | None:
        """Return a text as it was read, anew where the settings or the minute are others; the worker does this."""
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
        except Exception as error:  # noqa: BLE001 - whatever a text does to a rule, the server goes on
            self._log(f"{text.source.name}: {type(error).__name__}: {error}")
            return
        if found is None or self.texts.get(text.uri) is not text:
            return
        self.checked[text.uri] = (text, *found)
        diagnostics = [shown(each, text) for each in found[0].findings[:MOST]]
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(text.uri, diagnostics, text.version))

    def _found(self, text: TextOnScreen) -> tuple[CheckedText, ReadText] | None:
        """Check a text, unless it is another by now; the worker does this."""
        begun = time.thread_time()  # not what others take of the processor: that is no reason to wait even longer
        read = self._reading(text) if self.texts.get(text.uri) is text else None
        if read is None:
            return None
        found = check_text(read)
        self._seconds[text.uri] = time.thread_time() - begun
        return found, read

    def _complain_of_settings(self, message: str) -> None:
        """Tell the user, once, what of the settings cannot be used."""
        if message not in self._complaints and self._loop is not None:
            self._complaints.add(message)
            params = types.ShowMessageParams(types.MessageType.Warning, f"crondor: {message}")
            self._loop.call_soon_threadsafe(self.window_show_message, params)

    def _log(self, message: str) -> None:
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, message))


def _version() -> str:
    try:
        return metadata.version("crondor")
    except metadata.PackageNotFoundError:
        return "from a checkout"
