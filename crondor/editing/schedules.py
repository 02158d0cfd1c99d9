"""The schedules of a text while it is written: in words, with their coming runs, as the real schedd has them too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, tzinfo
from itertools import islice
from typing import NamedTuple

from crondor.diagnostics import CrondorError
from crondor.editing.kinds import TextKind
from crondor.editing.reading import ReadText
from crondor.lint.subject import CheckedJob
from crondor.source import Span
from crondor.times import JobTimes, requirements_of
from crondor.words import describe
from crondor.zones import load_zone

_MOST = 200  # groups of jobs of one text whose runs are shown


class ScheduleShown(NamedTuple):
    """The schedule of equal jobs: where it ends, where they are queued, in words, its next runs (epoch seconds).

    ``schedd`` are those of the real schedd where they are others; ``fault`` is why there are none. ``excluded`` is the
    part of their requirements that excludes their next time, empty where none does.
    """

    fields: tuple[Span, ...]
    queue: Span | None
    jobs: int
    words: str
    runs: tuple[int, ...]
    schedd: tuple[int, ...] | None
    fault: str = ""
    excluded: str = ""


def schedules(text: ReadText, count: int) -> Iterator[ScheduleShown]:
    """Yield the schedules of a submit description with ``count`` runs each; none where its jobs cannot be made."""
    if text.kind is not TextKind.SUBMIT:
        return
    for job in islice(text.jobs.jobs, _MOST):
        fields = tuple(span for name, span in job.group.spans.items() if "cron" in name or "deferral" in name)
        if fields:
            yield _shown(job, fields, count, text.settings.check.now)


def counted(text: ReadText) -> Iterator[tuple[Span, int | None]]:
    """Yield the queue statements of a submit description, with how many jobs each makes; None: that is not known."""
    if text.kind is TextKind.SUBMIT and text.jobs.submit is not None:
        for queue in text.jobs.submit.queues:
            if not queue.is_implied and queue.span.source is text.source:
                yield queue.span, queue.jobs if queue.arguments.is_whole else None


def moment(time: int, zone: str | tzinfo) -> str:
    """Return an instant as people read it: ``Sat 2026-11-21 02:30 +0100``."""
    info = load_zone(zone) if isinstance(zone, str) else zone
    try:
        return datetime.fromtimestamp(time, info).strftime("%a %Y-%m-%d %H:%M %z")
    except (OverflowError, ValueError, OSError):
        return str(time)


def _shown(job: CheckedJob, fields: tuple[Span, ...], count: int, now: int) -> ScheduleShown:
    schedule = job.manual.schedule
    if schedule is None:
        fault = job.manual.faults[0].message if job.manual.faults else "it cannot be read"
        return ScheduleShown(fields, job.group.queue, job.group.count, "", (), None, fault)
    words = describe(schedule.spec) if schedule.spec is not None else ""
    times = JobTimes(schedule, requirements_of(job.values))
    runs = upcoming(times, count, now)
    real = job.schedd.schedule
    others = None if real is None else upcoming(replace(times, schedule=real), count, now)
    schedd = others if schedule.spec is not None and others != runs else None
    excluded = _excluded(times, now)
    return ScheduleShown(fields, job.group.queue, job.group.count, words, runs, schedd, excluded=excluded)


def _excluded(times: JobTimes, now: int) -> str:
    with suppress(CrondorError):
        return next((times.why_excluded(time) for time in times.named(now)), "")
    return ""


def upcoming(times: JobTimes, count: int, now: int) -> tuple[int, ...]:
    """Return the next runs, fewer where there are no more."""
    found: list[int] = []
    with suppress(CrondorError):
        found += islice(times.runs(now), count)
    return tuple(found)
