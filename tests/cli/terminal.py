"""A terminal for commands that draw: what its screen shows in the end, with keys that are typed on the way."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pyte

from tests.cli.running import PROGRAM, SLOWEST, environment

CTRL_C = b"\x03"
LINES = 24


class Seen(NamedTuple):
    """The status of a command, the lines of the screen at its end without blank ones below, and all that was sent."""

    status: int
    screen: list[str]
    sent: str


def on_screen(
    *arguments: str,
    columns: int = 80,
    folder: Path | None = None,
    stdout: int | None = None,
    react: Callable[[str, int], None] | None = None,
    program: Sequence[str] = PROGRAM,
    env: Mapping[str, str | None] | None = None,
) -> Seen:
    """Run the command on a terminal of its own, which echoes keys and sends signals as real ones do.

    ``react`` is called with what was sent so far, and the descriptor on which keys are typed. ``stdout`` goes
    elsewhere where it is given.
    """
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, columns, 0, 0))
    screen = pyte.Screen(columns, LINES)
    stream = pyte.ByteStream(screen)
    sent = b""

    def lead() -> None:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # the terminal of this process group: Ctrl-C comes to it

    with subprocess.Popen(
        [*program, *arguments],
        stdin=child,
        stdout=child if stdout is None else stdout,
        stderr=child,
        cwd=folder,
        env=environment(**{"COLUMNS": None, **(env or {})}),
        start_new_session=True,
        preexec_fn=lead,  # noqa: PLW1509 - nothing else runs in this process
    ) as running:
        os.close(child)
        with suppress(OSError):  # Linux: nobody holds the other end any more
            while select.select([parent], [], [], SLOWEST)[0] and (piece := os.read(parent, 1 << 16)):
                sent += piece
                stream.feed(piece)
                if react is not None:
                    react(sent.decode("utf-8", "replace"), parent)
        status = running.wait(SLOWEST)
    os.close(parent)
    return Seen(status, "\n".join(line.rstrip() for line in screen.display).rstrip().split("\n"), sent.decode())
