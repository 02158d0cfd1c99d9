"""The processes that a hook has started, whatever they did to get away: new sessions, double forks."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import Final

MARK: Final = "_CRONDOR_HOOK"
"""The variable that all processes of a hook inherit, as HTCondor's ``_CONDOR_ANCESTOR_<pid>``."""

_PROC: Final = "/proc"
_ROUNDS: Final = 20  # a process that forks faster than it is ended
_LOOKS: Final = 2000  # at a process that is changing programs, on a machine that has little time for it
_PAUSE: Final = 0.001  # seconds between them
_NO_PROGRAM: Final = 0x4 | 0x200000  # PF_EXITING, PF_KTHREAD of the kernel's sched.h


def end_family(leader: int, mark: str, *, is_brief: bool = False) -> int:
    """Kill what is left of a hook's processes, and return how many there were beside the leader.

    ``leader`` is the number of the process group, and must not have been waited for yet: its number could be another
    process's by then. Processes that have left the group are found by their mark, where there is a /proc.
    ``is_brief``: the hook took so little time that the numbers of processes cannot have gone round; then only those
    that began after it are looked at.
    """
    found = marked = _marked(mark, leader if is_brief else 0) - {leader}
    signal_group(leader, signal.SIGKILL)
    for _ in range(_ROUNDS):
        if not marked:
            break
        for process in marked:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        marked = _marked(mark, 0) - found - {leader}
        found |= marked
    return len(found)


def signal_group(leader: int, number: signal.Signals) -> None:
    """Send a signal to a hook's process group."""
    with suppress(OSError):
        os.killpg(leader, number)


def _marked(mark: str, leader: int) -> set[int]:
    """Return the processes of this user that have the mark in their environment; 0 for ``leader``: whenever begun."""
    found: set[int] = set()
    first, last = leader, _last_number()
    if leader and last == leader:
        return found
    for _ in range(_ROUNDS):
        found |= _marked_between(f"{MARK}={mark}".encode(), first, last)
        first, last = last, _last_number()
        if first == last:
            break  # nobody began meanwhile, as the child of one that went before it was looked at
    return found


def _marked_between(needle: bytes, first: int, last: int) -> set[int]:
    """Return the processes with the mark whose numbers were given out after ``first`` and up to ``last``; 0: all."""
    user = os.geteuid()
    found: set[int] = set()
    with suppress(OSError):
        for name in os.listdir(_PROC):  # noqa: PTH208 - names are all that is needed, and there are many
            if name.isdecimal() and (not first or _is_between(int(name), first, last)):
                with suppress(OSError):
                    if user in {0, os.stat(f"{_PROC}/{name}").st_uid} and needle in _environment(name):  # noqa: PTH116
                        found.add(int(name))
    return found


def _last_number() -> int:
    """Return the number of the process that was begun last, 0 where there is no /proc."""
    with suppress(OSError):
        return int(Path(_PROC, "loadavg").read_text(encoding="ascii").split()[-1])
    return 0


def _is_between(number: int, first: int, last: int) -> bool:
    """Say whether a number was given out after ``first`` and up to ``last``, which may have begun anew in between."""
    return first < number <= last if last > first else number > first or number <= last


def _environment(process: str) -> bytes:
    """Return a process's environment. While execve puts one program in the place of another, there is none to read."""
    path = Path(_PROC, process, "environ")
    for _ in range(_LOOKS):
        environment = path.read_bytes()
        if environment or not _is_changing(process):
            break
        sleep(_PAUSE)
    return environment


def _is_changing(process: str) -> bool:
    """Say whether a process that shows no environment may have one, by the fields that proc(5) numbers."""
    fields = Path(_PROC, process, "stat").read_bytes().rpartition(b") ")[2].split()
    state, flags, env_start, env_end = fields[0], int(fields[9 - 3]), int(fields[50 - 3]), int(fields[51 - 3])
    is_empty = env_start == env_end != 0
    return state not in {b"Z", b"X"} and not flags & _NO_PROGRAM and not is_empty
