"""Commands that run for months: signals, the service manager, the wait for a locked queue, the folder of state."""

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

    ``period`` is how often, in seconds, it wants to hear that the process is alive; None where it does not.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Take what the manager has left in the environment."""
        address = environ.get(_ADDRESS, "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        if not address.startswith(("/", "@")) or not hasattr(socket, "AF_UNIX"):
            self._address = ""
        self.period = _seconds(environ)

    def ready(self, status: str = "") -> None:
        """Say that the work has begun, or goes on after a reload."""
        self._send("READY=1", *((f"STATUS={status}",) if status else ()))

    def alive(self) -> None:
        """Say that the process does not hang."""
        if self.period is not None:
            self._send("WATCHDOG=1")

    def reloading(self) -> None:
        """Say that the configuration is read anew; ``ready`` ends that."""
        self._send("RELOADING=1", f"MONOTONIC_USEC={int(time.monotonic() * _MILLION)}")

    def stopping(self) -> None:
        """Say that the process ends as requested."""
        self._send("STOPPING=1")

    def _send(self, *lines: str) -> None:
        """Send lines; a manager that is gone is no reason to end."""
        if self._address:
            with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
                sender.setblocking(False)
                sender.sendto("\n".join(lines).encode(), self._address)


def _seconds(environ: Mapping[str, str]) -> float | None:
    """Return half of the watchdog's time, as its manual advises; None where it is not for this process."""
    text, process = environ.get(_PERIOD, ""), environ.get(_PROCESS, str(os.getpid()))
    if not text.isascii() or not text.isdecimal() or len(text) > 18 or process != str(os.getpid()):
        return None
    return int(text) / _MILLION / 2 or None


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


PATIENCE: Final = 5.0  # seconds: a command has a queue for much less, a router or crondor run as long as it goes on
_PAUSE: Final = 0.05  # seconds between two tries


class LockWait:
    """Waits for a queue that another process has, as long as one wants to wait for a command."""

    def __init__(
        self, folder: Path, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        """Take the queue's folder, for the message; ``clock`` and ``sleep`` count seconds."""
        self._folder = folder
        self._clock = clock
        self._sleep = sleep
        self._end: float | None = None

    def __call__(self) -> bool:
        """Wait a little, and say whether to try again."""
        if self._end is None:
            shown = printable(str(self._folder))
            say(f"another process writes the queue in {shown}: waiting up to {PATIENCE:.0f} s for it", err=True)
            self._end = self._clock() + PATIENCE
        if self._clock() >= self._end:
            return False
        self._sleep(_PAUSE)
        return True


def state_folder(name: str, option: str) -> Path:
    """Return crondor's folder of that name among the user's states. Raises UsageError where the user has no home."""
    base = os.environ.get("XDG_STATE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".local" / "state") / "crondor" / name
    except RuntimeError:
        raise click.UsageError(f"this user has no home folder: name another with {option}") from None
