"""Commands that run for months: signals, the service manager, waiting for a locked queue, the state folder."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Final

import click

from crondor.diagnostics import printable
from crondor_cli.kit.screen import clean_line, say

_ADDRESS: Final = "NOTIFY_SOCKET"
_PERIOD, _PROCESS = "WATCHDOG_USEC", "WATCHDOG_PID"
_MILLION: Final = 1_000_000


class ServiceManager:
    """The service manager that started this process; without one nothing is sent.

    ``period`` is the interval in seconds of its watchdog; None without one.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        address = environ.get(_ADDRESS, "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        if not address.startswith(("/", "@")) or not hasattr(socket, "AF_UNIX"):
            self._address = ""
        self.period = _seconds(environ)

    def ready(self, status: str = "") -> None:
        """Report that the work has begun, or continues after a reload."""
        self._send("READY=1", *((f"STATUS={status}",) if status else ()))

    def alive(self) -> None:
        """Report that the process does not hang."""
        if self.period is not None:
            self._send("WATCHDOG=1")

    def reloading(self) -> None:
        """Report that the configuration is being reloaded; ``ready`` ends that."""
        self._send("RELOADING=1", f"MONOTONIC_USEC={int(time.monotonic() * _MILLION)}")

    def stopping(self) -> None:
        """Report that the process is ending as requested."""
        self._send("STOPPING=1")

    def _send(self, *lines: str) -> None:
        """Send lines; a missing manager is no reason to end."""
        if self._address:
            with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
                sender.setblocking(False)
                sender.sendto("\n".join(lines).encode(), self._address)


def _seconds(environ: Mapping[str, str]) -> float | None:
    """Return half of the watchdog's time, as its manual advises; None if it is not for this process."""
    text, process = environ.get(_PERIOD, ""), environ.get(_PROCESS, str(os.getpid()))
    if not text.isascii() or not text.isdecimal() or len(text) > 18 or process != str(os.getpid()):
        return None
    return int(text) / _MILLION / 2 or None


Handler = Callable[[int, FrameType | None], object]


class Waker:
    """A wait that a signal ends; ``descriptor`` becomes readable when a signal arrives."""

    def __init__(self, descriptor: int) -> None:
        """Take the descriptor that signals write to; created by ``waking``."""
        self.descriptor = descriptor

    def wait(self, seconds: float) -> None:
        """Wait until a signal arrives, or for a time, and forget the signal."""
        select.select([self.descriptor], [], [], seconds)
        self.forget()

    def wait_alive(self, seconds: float, manager: ServiceManager) -> None:
        """Wait like ``wait``, and report to a service manager that the process is alive, as often as it requires."""
        end = time.monotonic() + seconds
        while True:
            manager.alive()
            left = end - time.monotonic()
            if left <= 0 or select.select([self.descriptor], [], [], min(left, manager.period or left))[0]:
                break
        self.forget()

    def forget(self) -> None:
        """Forget the signals received, so that the next wait takes its full time."""
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
    """Give signals handlers, by name, until the block ends; signals that this system lacks are skipped.

    Python writes to the Waker's pipe as soon as a signal arrives, before it calls the handler: a signal just before a
    wait also ends it, and no lock is needed, which the interrupted code might hold. The terminal's echo of Ctrl-C is
    erased before its handler is called.
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


PATIENCE: Final = 5.0  # seconds: a command holds a queue for much less, a router or crondor run as long as it runs
_PAUSE: Final = 0.05  # seconds between attempts


class LockWait:
    """Waits for a queue that another process has, for a limited time."""

    def __init__(
        self, folder: Path, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        """Take the queue's folder, for the message; ``clock`` and ``sleep`` use seconds."""
        self._folder = folder
        self._clock = clock
        self._sleep = sleep
        self._end: float | None = None

    def __call__(self) -> bool:
        """Wait a little, and return whether to try again."""
        if self._end is None:
            shown = printable(str(self._folder))
            say(f"another process writes the queue in {shown}: waiting up to {PATIENCE:.0f} s for it", err=True)
            self._end = self._clock() + PATIENCE
        if self._clock() >= self._end:
            return False
        self._sleep(_PAUSE)
        return True


def state_folder(name: str, option: str) -> Path:
    """Return a folder of crondor in the user's state folder. Raises UsageError if the user has no home."""
    base = os.environ.get("XDG_STATE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".local" / "state") / "crondor" / name
    except RuntimeError:
        raise click.UsageError(f"this user has no home folder: set another with {option}") from None
