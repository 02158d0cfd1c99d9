"""Signals that have handlers for a while, and end a wait."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from types import FrameType

from crondor_cli.common.notify import ServiceManager
from crondor_cli.common.status_line import clean_line

Handler = Callable[[int, FrameType | None], object]


class Waker:
    """A wait that a signal ends; ``descriptor`` can be read when one has come."""

    def __init__(self, descriptor: int) -> None:
        """Take what a signal writes to; ``waking`` makes it."""
        self.descriptor = descriptor

    def wait(self, seconds: float) -> None:
        """Wait until a signal comes, for some time at most, and forget it."""
        select.select([self.descriptor], [], [], seconds)
        self.forget()

    def wait_alive(self, seconds: float, manager: ServiceManager) -> None:
        """Wait as ``wait`` does, and tell a service manager meanwhile, as often as it wants, that this is alive."""
        end = time.monotonic() + seconds
        while True:
            manager.alive()
            left = end - time.monotonic()
            if left <= 0 or select.select([self.descriptor], [], [], min(left, manager.period or left))[0]:
                break
        self.forget()

    def forget(self) -> None:
        """Forget the signals that have come: the next wait takes its time."""
        with contextlib.suppress(BlockingIOError):
            while os.read(self.descriptor, 1 << 16):
                pass


def _cleaning(handler: Handler) -> Handler:
    def handle(number: int, frame: FrameType | None) -> object:
        clean_line()
        return handler(number, frame)

    return handle


@contextlib.contextmanager
def waking(handlers: Mapping[str, Handler]) -> Iterator[Waker]:
    """Give signals handlers, by name, until the block ends; those that this system does not have are left out.

    Python writes into the Waker's pipe the moment a signal comes, before it calls the handler: one that comes just
    before a wait ends it too, and no lock is taken, which the interrupted code may hold. What the terminal shows of
    Ctrl-C is taken away before its handler is called.
    """
    with contextlib.ExitStack() as stack:
        reader, writer = os.pipe()
        for each in (reader, writer):
            stack.callback(os.close, each)
            os.set_blocking(each, False)
        for name, handler in handlers.items():
            number = getattr(signal, name, None)
            if number is not None:
                called = _cleaning(handler) if number is signal.SIGINT else handler
                stack.callback(signal.signal, number, signal.signal(number, called))
        stack.callback(signal.set_wakeup_fd, signal.set_wakeup_fd(writer, warn_on_full_buffer=False))
        yield Waker(reader)
