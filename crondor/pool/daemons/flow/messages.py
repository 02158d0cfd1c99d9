"""One message about a job, from one daemon to another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from crondor.job_queue import JobId
from crondor.pool.settings.links import Link


class Message(NamedTuple):
    """What went over a link at a time (epoch seconds), or did not: ``arrived`` is False for one that failed.

    ``why`` says what it was sent for. ``values`` are the texts of the attributes that it carries, where it is no whole
    ad; ``whole`` how many attributes that has, else 0.
    """

    time: int
    link: Link
    job: JobId
    why: str
    arrived: bool = True
    values: Mapping[str, str] = {}  # nobody changes it
    whole: int = 0


Listener: TypeAlias = Callable[[Message], None]
NOTHING: Mapping[str, str] = {}
