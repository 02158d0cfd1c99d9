"""Waiting that a signal ends."""

from __future__ import annotations

import contextlib
import os
import select
from types import TracebackType


class Waker(contextlib.AbstractContextManager["Waker"]):
    """Waits until it is woken or time is up.

    ``set`` may be called by a signal handler at any moment: it takes no lock, unlike that of threading.Event, which
    waits for ever where the signal comes while the same thread is within the Event.
    """

    def __init__(self) -> None:
        """Make the pipe through which it is woken."""
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)

    def set(self) -> None:
        """Wake it, or have the next wait end at once."""
        with contextlib.suppress(BlockingIOError):  # it is full of such calls
            os.write(self._writer, b".")

    def wait(self, seconds: float) -> None:
        """Wait, and forget who has woken it."""
        select.select([self._reader], [], [], seconds)
        with contextlib.suppress(BlockingIOError):
            while os.read(self._reader, 1 << 16):
                pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the pipe."""
        os.close(self._reader)
        os.close(self._writer)
