"""The progress display of slow commands, and --watch, which reruns a command when a file changes."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from functools import partial, wraps
from threading import Event, Thread
from typing import Final, NamedTuple, TypeVar

import click

from crondor.diagnostics import CrondorError, columns_of
from crondor_cli.kit.screen import STATUS, drawn_columns, not_installed, say, show_error, usage
from crondor_cli.kit.tables import plural

_Item = TypeVar("_Item")

THREAD: Final = "progress"
"""The name of the drawing thread."""

_QUIET: Final = 1.0  # seconds without output before the line is drawn
_PACE: Final = 0.1  # seconds between updates
_BAR: Final = 24  # columns of the bar, including its brackets
_BRIEFEST: Final = 3.0  # seconds of work before the remaining time is estimated


# Every command has a progress line (see ``Command``), except those that run until they are stopped. Code that knows the
# amount of work declares it (``begin``, ``counted``); otherwise the line counts seconds. Output replaces the line, and
# it is erased at the end. Nothing is drawn if stderr is not a terminal or a dumb one, if stdout is a pipe, whose reader
# may use the terminal, and with ``--quiet``.
class _Stage(NamedTuple):
    """A stage: its label, its amount of work, the plural of the unit, and its start (monotonic seconds)."""

    label: str
    total: int | None
    unit: str
    began: float

    def left(self, now: float, done: int) -> str:
        """Return the estimated remaining time."""
        taken = now - self.began
        if not (done and self.total) or taken < _BRIEFEST:
            return ""
        return f"{taken * max(0, self.total - done) / done:.0f} s left"


class Progress:
    """The current stage, the work done, and the thread that draws it."""

    def __init__(self) -> None:
        self.done = 0
        self._stage = _Stage("working", None, "", 0.0)
        self._is_hidden = False
        self._began = 0.0
        self._over: Event | None = None
        self._drawer: Thread | None = None

    def begin(self, label: str, total: int | None = None, unit: str = "") -> None:
        """Begin a stage: its label (``checking``), its amount of work, and the plural of the unit."""
        self._stage, self.done = _Stage(label, total, unit, time.monotonic()), 0
        self._is_hidden = False

    def counted(self, items: Iterable[_Item], label: str, unit: str, total: int | None = None) -> Iterator[_Item]:
        """Yield items as a stage of their own; ``total`` is their number if they have no length."""
        stage = _Stage(label, len(items) if isinstance(items, Sized) else total, unit, time.monotonic())
        for number, item in enumerate(items):
            self._stage, self.done = stage, number  # processing an item may have begun other stages
            yield item
        self._stage, self.done = stage, stage.total or self.done

    def reach(self, done: int) -> None:
        """Set the amount of work done in the stage."""
        self.done = done

    def hide(self) -> None:
        """Draw nothing until the next stage: the user is typing, or the command waits for a change."""
        self._is_hidden = True
        STATUS.clear()

    def start(self, *, is_wanted: bool) -> None:
        """Start drawing, if it ``is_wanted`` and visible."""
        self.begin("working")
        self._began = time.monotonic()
        if not is_wanted or self._drawer is not None or not _is_seen():
            return
        self._draw_on()

    def _draw_on(self) -> None:
        """Start drawing the current stage."""
        self._over = Event()
        STATUS.open()
        self._drawer = Thread(target=self._draw, args=(self._over,), name=THREAD, daemon=True)
        self._drawer.start()

    def stop(self) -> None:
        """Stop drawing, and erase the line."""
        if self._drawer is None or self._over is None:
            return
        self._over.set()
        self._drawer.join(1.0)
        self._drawer = self._over = None
        STATUS.close()

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Stop the drawing thread during a block, then restart it."""
        was_drawn = self._drawer is not None
        self.stop()
        try:
            yield
        finally:
            if was_drawn:
                self._draw_on()

    def line(self, now: float, columns: int) -> str:
        """Return the line at a time (seconds of a monotonic clock), shorter than a number of columns."""
        stage, done = self._stage, self.done
        seconds = f"{now - self._began:.0f} s"
        if not stage.total:
            count = plural(done, stage.unit.removesuffix("s")) if done and stage.unit else ""
            return _fitting([stage.label, count, seconds], columns)
        share = min(1.0, done / stage.total)
        inner = _BAR - 2
        bar = f"[{'#' * int(share * inner):-<{inner}}]"
        count = f"{done:,} of {plural(stage.total, stage.unit.removesuffix('s'))}" if stage.unit else ""
        pieces = [stage.label, bar, f"{int(share * 100):3} %", count, seconds, stage.left(now, done)]
        return _fitting(pieces, columns)

    def _draw(self, over: Event) -> None:
        while not over.wait(_PACE):
            now = time.monotonic()
            columns = drawn_columns(sys.stderr)
            if not self._is_hidden and columns and now - max(STATUS.spoken, self._began) >= _QUIET:
                STATUS.draw(self.line(now, columns))


def _fitting(pieces: list[str], columns: int) -> str:
    """Return the first pieces that fit into a line, leaving its last column free."""
    made = ""
    for piece in filter(None, pieces):
        longer = f"{made}  {piece}" if made else piece
        if columns_of(longer) >= columns:
            break
        made = longer
    return made


def _is_seen() -> bool:
    """Return whether drawing on stderr is visible."""
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return False
    try:
        return sys.stdout is None or not stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError):
        return True


PROGRESS: Final = Progress()

_SETTLE = 200  # milliseconds without a change before the command runs: editors write files in several steps


def watch_option(*, here: bool = False) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add --watch to a command that takes FILES and --spec; ``here``: by default it watches this folder."""

    def add(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def command(
            *args: object, watch: bool, files: tuple[str, ...], specs: tuple[str, ...], **options: object
        ) -> None:
            once = partial(function, *args, files=files, specs=specs, **options)
            if watch:
                run_on_changes(once, (*specs, *files) or ((".",) if here else ()))
            else:
                once()

        help_text = "Run again whenever a file changes, until Ctrl-C."
        return click.option("--watch", is_flag=True, help=help_text)(command)

    return add


def run_on_changes(once: Callable[[], None], paths: Sequence[str]) -> None:
    """Run a command, and again after each change of its files or of others in their folders, until Ctrl-C.

    Raises UsageError for standard input, for missing files, and without the package watchfiles.
    """
    if "-" in paths or not paths:
        raise usage("--watch follows files and folders, and not standard input")
    folders = sorted({path if os.path.isdir(path) else os.path.dirname(path) or "." for path in paths})
    missing = [folder for folder in folders if not os.path.isdir(folder)]
    if missing:
        raise usage(f"--watch: there is no folder '{missing[0]}'")
    changes = _changes(folders)
    for _ in changes:
        PROGRESS.begin("working")
        if sys.stdout is not None and sys.stdout.isatty():
            click.clear()
        _shown(once)
        say(f"Watching {plural(len(folders), 'folder')}; Ctrl-C ends it.", err=True)
        PROGRESS.hide()


def _changes(folders: Iterable[str]) -> Iterator[object]:
    """Yield once at the start, and then after each change."""
    try:
        from watchfiles import watch  # noqa: PLC0415 - optional, and 30 ms
    except ImportError:
        raise not_installed("--watch", "watchfiles", "watch") from None
    yield None
    yield from watch(*folders, debounce=_SETTLE, step=_SETTLE // 2)


def _shown(once: Callable[[], None]) -> None:
    """Run a command, and show errors instead of ending: the next change may fix them."""
    try:
        once()
    except click.exceptions.Exit:
        pass
    except click.ClickException as error:
        error.show(sys.stderr)
    except CrondorError as error:
        show_error(error)
