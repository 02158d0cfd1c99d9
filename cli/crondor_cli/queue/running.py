"""The embedded queue for those who change it: opened here, or asked of the `crondor run` that has it open."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from crondor.diagnostics import CrondorError, Diagnostic
from crondor.job_queue import QueueLocked
from crondor.job_queue.faults import refused_by_disk
from crondor.pool.local.requests import Request
from crondor.pool.local.session import MARKER
from crondor.rights.walk import is_there
from crondor.schedd.embedded import EmbeddedSchedd
from crondor_cli.common.options import Clock
from crondor_cli.common.queue import embedded_of
from crondor_cli.common.queue_options import folder_of

_PATIENCE: Final = 15.0  # seconds for a session to take a request up, and as many to answer
_PAUSE: Final = 0.02  # seconds between two looks


def changed(
    queue: str | None, clock: Clock, direct: Callable[[EmbeddedSchedd], dict[str, Any]], request: Mapping[str, object]
) -> dict[str, Any]:
    """Return what ``direct`` does to the queue, or what a running session answers to the request for the same.

    Where nobody can be asked it waits some seconds for the queue. Raises CrondorError; QueueLocked where somebody else
    has the queue.
    """
    try:
        return _direct(queue, clock, direct, waits=False)
    except QueueLocked:
        answer = _asked(folder_of(queue), request)
    return _direct(queue, clock, direct, waits=True) if answer is None else answer


def _direct(
    queue: str | None, clock: Clock, direct: Callable[[EmbeddedSchedd], dict[str, Any]], *, waits: bool
) -> dict[str, Any]:
    with embedded_of(queue, clock, waits=waits) as schedd:
        return direct(schedd)


def _asked(folder: Path, request: Mapping[str, object]) -> dict[str, Any] | None:
    """Return a session's answer, None where none took the request up. Raises CrondorError."""
    marker = folder / MARKER
    if not is_there(marker):
        return None
    try:
        asking = Request(folder, request)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise refused_by_disk(folder, "crondor run cannot be asked", error) from error
    answer = None
    try:
        answer = _waited(asking.answer, marker.exists)
    finally:
        was_taken = answer is not None or not asking.withdraw()
    if not was_taken:
        return None
    answer = answer or _waited(asking.answer, lambda: True)
    if answer is None:
        message = "the crondor run that has this queue took the request up, and has not said what came of it"
        raise CrondorError(
            Diagnostic(
                "no-answer",
                message,
                help="crondor run tells what happens to its jobs; crondor queue history lists those that have left",
            )
        )
    if "faults" in answer:
        raise CrondorError([Diagnostic(str(code), str(said), help=hint) for code, said, hint in answer["faults"]])
    return answer


def _waited(look: Callable[[], dict[str, Any] | None], is_there: Callable[[], bool]) -> dict[str, Any] | None:
    """Look for an answer as long as there is somebody to give it, and for some seconds at most."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        found = look()
        if found is not None or not is_there():
            return found
        time.sleep(_PAUSE)
    return None
