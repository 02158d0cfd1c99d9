"""How far a long command is: a line on the terminal behind stderr, drawn after a second without output.

Every command has it (see ``Command``), but those that run until they are told to end. Whoever knows how much there is
to do says so (``begin``, ``counted``); without that the line counts the seconds. It is written over by whatever is
said, and gone at the end. Nothing is drawn where stderr is no terminal or a dumb one, where stdout is a pipe, whose
reader may have the terminal for itself, and with ``--quiet``.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from crondor.diagnostics import columns_of
from crondor_cli.common.columns import plural
from crondor_cli.common.layout import drawn_columns
from crondor_cli.common.status_line import STATUS

if TYPE_CHECKING:
    from threading import Event, Thread

_Item = TypeVar("_Item")

THREAD: Final = "progress"
"""What the thread that draws is called."""

_QUIET: Final = 1.0  # seconds without output before the line is drawn
_PACE: Final = 0.1  # seconds between two looks
_BAR: Final = 24  # columns of the bar, with its brackets
_BRIEFEST: Final = 3.0  # seconds of work before the time that is left is guessed


class _Stage(NamedTuple):
    """What is done, how much there is of it, the plural of what is counted, and when it began (monotonic seconds)."""

    label: str
    total: int | None
    unit: str
    began: float

    def left(self, now: float, done: int) -> str:
        """Return how long it still takes, as far as its past can tell."""
        taken = now - self.began
        if not (done and self.total) or taken < _BRIEFEST:
            return ""
        return f"{taken * max(0, self.total - done) / done:.0f} s left"


class Progress:
    """What is being done, how much of it is done, and the thread that draws it."""

    def __init__(self) -> None:
        """Begin with nothing to say."""
        self.done = 0
        self._stage = _Stage("working", None, "", 0.0)
        self._is_hidden = False
        self._began = 0.0
        self._over: Event | None = None
        self._drawer: Thread | None = None

    def begin(self, label: str, total: int | None = None, unit: str = "") -> None:
        """Begin a stage: what is done (``checking``), how much there is of it, and the plural of what is counted."""
        self._stage, self.done = _Stage(label, total, unit, time.monotonic()), 0
        self._is_hidden = False

    def counted(self, items: Iterable[_Item], label: str, unit: str, total: int | None = None) -> Iterator[_Item]:
        """Yield items as a stage of their own; ``total`` where they do not know it themselves."""
        stage = _Stage(label, len(items) if isinstance(items, Sized) else total, unit, time.monotonic())
        for number, item in enumerate(items):
            self._stage, self.done = stage, number  # an item may have stages of its own
            yield item
        self._stage, self.done = stage, stage.total or self.done

    def reach(self, done: int) -> None:
        """Say how much of the stage is done."""
        self.done = done

    def hide(self) -> None:
        """Draw nothing until the next stage begins: somebody types, or the command waits for a change."""
        self._is_hidden = True
        STATUS.clear()

    def start(self, *, is_wanted: bool) -> None:
        """Begin to draw, if it ``is_wanted`` and somebody sees it."""
        self.begin("working")
        self._began = time.monotonic()
        if not is_wanted or self._drawer is not None or not _is_seen():
            return
        self._draw_on()

    def _draw_on(self) -> None:
        """Begin to draw what is known."""
        from threading import Event, Thread  # noqa: PLC0415 - for a person at a terminal alone

        self._over = Event()
        STATUS.open()
        self._drawer = Thread(target=self._draw, args=(self._over,), name=THREAD, daemon=True)
        self._drawer.start()

    def stop(self) -> None:
        """Draw no more; the line is gone."""
        if self._drawer is None or self._over is None:
            return
        self._over.set()
        self._drawer.join(1.0)
        self._drawer = self._over = None
        STATUS.close()

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Give a block in which there is no thread that draws; behind it what was drawn is drawn again."""
        was_drawn = self._drawer is not None
        self.stop()
        try:
            yield
        finally:
            if was_drawn:
                self._draw_on()

    def line(self, now: float, columns: int) -> str:
        """Return what is drawn at a time (seconds of a monotonic clock), in less than so many columns."""
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
    """Return the first pieces that fit into a line, without its last column."""
    made = ""
    for piece in filter(None, pieces):
        longer = f"{made}  {piece}" if made else piece
        if columns_of(longer) >= columns:
            break
        made = longer
    return made


def _is_seen() -> bool:
    """Say whether somebody sees what is drawn on stderr."""
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return False
    try:
        return sys.stdout is None or not stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError):
        return True


PROGRESS: Final = Progress()
