"""The processes that a hook has started, whatever they did to get away: new sessions, double forks."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Final

MARK: Final = "_CRONDOR_HOOK"
"""The variable that all processes of a hook inherit, as HTCondor's ``_CONDOR_ANCESTOR_<pid>``."""

_PROC: Final = "/proc"
_ROUNDS: Final = 20  # a process that forks faster than it is ended


def end_family(leader: int, mark: str) -> int:
    """Kill what is left of a hook's processes, and return how many there were beside the leader.

    ``leader`` is the number of the process group, and must not have been waited for yet: its number could be another
    process's by then. Processes that have left the group are found by their mark, where there is a /proc.
    """
    found = marked = _marked(mark) - {leader}
    signal_group(leader, signal.SIGKILL)
    for _ in range(_ROUNDS):
        if not marked:
            break
        for process in marked:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        marked = _marked(mark) - found - {leader}
        found |= marked
    return len(found)


def signal_group(leader: int, number: signal.Signals) -> None:
    """Send a signal to a hook's process group."""
    with suppress(OSError):
        os.killpg(leader, number)


def _marked(mark: str) -> set[int]:
    """Return the processes of this user that have the mark in their environment."""
    needle = f"{MARK}={mark}".encode()
    user = os.geteuid()
    found: set[int] = set()
    try:
        entries = os.scandir(_PROC)
    except OSError:
        return found
    with entries:
        for entry in entries:
            if entry.name.isdecimal():
                with suppress(OSError):
                    if user in {0, entry.stat().st_uid} and needle in _environment(entry.name):
                        found.add(int(entry.name))
    return found


def _environment(process: str) -> bytes:
    return Path(_PROC, process, "environ").read_bytes()
