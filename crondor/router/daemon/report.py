"""What a router that runs leaves beside its queue: when it polled, and its throttles, which are nowhere else."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.job_queue.faults import refused_by_disk
from crondor.rights.walk import open_plain
from crondor.router.match.throttle import Throttle
from crondor.source import Source

_FORMAT: Final = 1
_MOST: Final = 1 << 20  # bytes of a report; a thousand routes take a tenth of it
_COUNTS: Final = ("begin", "routed", "failed", "succeeded")
_MODE: Final = 0o644


class InvalidReport(CrondorError, ValueError):
    """A file is no report of a router."""


@dataclass(frozen=True)
class RouterReport:
    """What a router says of itself; times are epoch seconds, names of routes in lower case.

    ``answered``: the queues answered the last poll. ``turn`` is how often a route has been chosen. ``pause``: for how
    many polls a schedd that refused, or did not answer, is left alone.
    """

    name: str
    started: int
    polled: int
    answered: bool = True
    turn: int = 0
    throttles: Mapping[str, Throttle] = field(default_factory=dict)
    pause: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    poll_seconds: float = 0.0

    def write(self, path: Path | str) -> None:
        """Write it as JSON, whole or not at all. Raises QueueIO."""
        data = {
            "format": _FORMAT,
            "name": self.name,
            "started": self.started,
            "polled": self.polled,
            "answered": self.answered,
            "turn": self.turn,
            "pause": self.pause,
            "counts": dict(self.counts),
            "poll_seconds": self.poll_seconds,
            "throttles": {name: throttle._asdict() for name, throttle in self.throttles.items()},
        }
        temporary = Path(f"{path}.tmp")
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
            with os.fdopen(os.open(temporary, flags, _MODE), "w", encoding="utf-8") as file:
                json.dump(data, file)
            temporary.replace(path)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise refused_by_disk(path, "the router's report cannot be written", error) from error

    @classmethod
    def read(cls, path: Path | str) -> RouterReport | None:
        """Return the report of a file, None where there is none. Raises InvalidReport and QueueIO."""
        try:
            with os.fdopen(open_plain(path), "rb") as file:
                data = file.read(_MOST)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise refused_by_disk(path, "this report cannot be read", error) from error
        try:
            return cls._of(json.loads(data))  # whatever is cut off is not JSON any more
        except (ValueError, RecursionError) as error:
            span = Source("", str(path)).span()
            message = f"this is no report of a router: {error}"
            hint = "a running router writes it anew with its next poll; otherwise remove it"
            raise InvalidReport(Diagnostic("router-report", message, Severity.WARNING, span, hint)) from None

    @classmethod
    def _of(cls, data: object) -> RouterReport:
        if not isinstance(data, dict) or data.get("format") != _FORMAT:
            raise ValueError(f"it is not of format {_FORMAT}")
        throttles = data.get("throttles")
        if not isinstance(throttles, dict) or not isinstance(data.get("name"), str):
            raise ValueError("a name and throttles are missing")  # noqa: TRY004 - of a file, as below
        return cls(
            data["name"],
            _count(data, "started"),
            _count(data, "polled"),
            data.get("answered") is True,
            _count(data, "turn"),
            {name: _throttle(each) for name, each in throttles.items()},
            _count(data, "pause") if "pause" in data else 0,
            _counts(data.get("counts", {})),
            _number(data.get("poll_seconds", 0.0), "poll_seconds"),
        )


def _throttle(data: object) -> Throttle:
    if not isinstance(data, dict):
        raise ValueError("a throttle is an object")  # noqa: TRY004 - a value of a file
    jobs = _number(data.get("jobs"), "jobs of a throttle")
    begin, routed, failed, succeeded = (_count(data, name) for name in _COUNTS)
    return Throttle(begin, routed, failed, succeeded, jobs)


def _counts(data: object) -> dict[str, int]:
    if not isinstance(data, dict):
        raise ValueError("counts are an object")  # noqa: TRY004 - a value of a file
    return {name: _count(data, name) for name in data}


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e12:
        raise ValueError(f"{name} is a number")
    return float(value)


def _count(data: Mapping[str, object], name: str) -> int:
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 48:
        raise ValueError(f"{name} is a count")
    return value
