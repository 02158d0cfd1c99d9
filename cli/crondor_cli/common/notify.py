"""What a service manager is told: systemd's notify protocol (sd_notify(3)), of which only the datagrams are needed."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

_ADDRESS: Final = "NOTIFY_SOCKET"
_PERIOD, _PROCESS = "WATCHDOG_USEC", "WATCHDOG_PID"
_MILLION: Final = 1_000_000


class ServiceManager:
    """Whoever started this process and wants to know how it is; where nobody does, nothing is sent.

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
        """Say that the process ends as it was told."""
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
