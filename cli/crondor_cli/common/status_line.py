r"""The line of a terminal that is written over: what ``progress`` draws, and what Ctrl-C leaves there (``^C``).

Whatever is written on the terminal takes the line away first; what is drawn from another thread waits for its end.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from threading import RLock
    from types import TracebackType

ERASE: Final = "\r\033[K"


class StatusLine:
    """The line; a block ``with STATUS:`` writes on the terminal while nothing is drawn there.

    ``spoken`` is when something was written last, in seconds of the monotonic clock.
    """

    def __init__(self) -> None:
        """Begin closed: nothing is drawn, and nobody waits for another."""
        self.spoken = 0.0
        self._drawn = ""
        self._is_at_begin = True
        self._lock: RLock | None = None

    def open(self) -> None:
        """Let a thread draw."""
        from threading import RLock  # noqa: PLC0415 - for a person at a terminal alone

        self._drawn, self._is_at_begin, self.spoken = "", True, time.monotonic()
        self._lock = RLock()

    def close(self) -> None:
        """Take the line away; nothing is drawn any more."""
        self.clear()
        self._lock = None

    def draw(self, text: str) -> None:
        """Write text, visible and of one line, over what is drawn; not behind a line that is not ended yet."""
        lock = self._lock
        if lock is None or not lock.acquire(timeout=0.1):
            return
        try:
            if self._is_at_begin and text != self._drawn:
                _write(ERASE + text)
                self._drawn = text
        finally:
            lock.release()

    def clear(self) -> None:
        """Take the line away."""
        with self:
            pass

    def spoke(self, text: str) -> None:
        """Take note of what was written on the terminal, inside the block."""
        if self._lock is not None and text:
            self._is_at_begin = text.endswith("\n")
            self.spoken = time.monotonic()

    def __enter__(self) -> None:
        """Take the line away, and keep it so."""
        if self._lock is not None:
            self._lock.acquire()
            if self._drawn:
                self._drawn = ""
                _write(ERASE)

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Let the line be drawn again."""
        if self._lock is not None:
            self._lock.release()


def clean_line() -> None:
    """Take away what a terminal shows of Ctrl-C (``^C``), so that what is written next begins a line.

    It can be called by a signal's handler: the stream, which may be at work, is passed by.
    """
    with suppress(OSError, ValueError, AttributeError):
        if sys.stderr.isatty():
            os.write(sys.stderr.fileno(), b"\n" if os.environ.get("TERM") == "dumb" else ERASE.encode())


def _write(text: str) -> None:
    with suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()


STATUS: Final = StatusLine()
