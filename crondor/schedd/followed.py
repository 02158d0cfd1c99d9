"""A live schedd whose queue is followed: in its job_queue.log, or with queries for the needed jobs only.

Querying every ad at each poll is expensive in a large queue. HTCondor's job router reads the log instead and writes
with the schedd's protocol; so does ``FollowedSchedd``. If the log cannot be read, ``NarrowSchedd`` queries parts of the
queue.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final, NamedTuple

from crondor.classad import ClassAdSyntaxError, Context, Expression
from crondor.classad.ad import ClassAd, to_code
from crondor.diagnostics import Diagnostic, Source
from crondor.job_queue.mirror import Mirror
from crondor.job_queue.records import JobId
from crondor.schedd.live import LiveSchedd
from crondor.schedd.protocol import (
    Acted,
    Clock,
    EditsTogether,
    Hold,
    JobChange,
    QueuePart,
    Schedd,
    ScheddError,
    Scheduled,
    Selection,
    Which,
    joined,
)
from crondor.schedd.reading import QueueLogSchedd, job_id, not_offered

LAG: Final = 600
"""Seconds that a log may be late, as MAX_JOB_MIRROR_UPDATE_LAG of HTCondor."""


class _Written(NamedTuple):
    """An edit of a job: how long the log may be late, what it should show, and whether it had the job before."""

    until: int
    texts: Mapping[str, Expression]
    was_known: bool


class FollowedSchedd:
    """A schedd read from its log and written to directly; jobs selected by number come from the schedd itself.

    A schedd writes its log before it answers, but a log on a shared file system may be late. Until the log shows an
    edit, or for ``lag`` seconds, its job is late and ``changes`` omits it, so that an old state is never mistaken for a
    new one.
    """

    def __init__(self, log: QueueLogSchedd, schedd: Schedd, *, clock: Clock, lag: int = LAG) -> None:
        """Read from ``log``, write to ``schedd``; ``clock`` returns epoch seconds."""
        self.capabilities = replace(schedd.capabilities, sees_deferral_time=False)
        self._log = log
        self._schedd = schedd
        self._clock = clock
        self._lag = lag
        self._written: dict[JobId, _Written] = {}
        self._withheld: dict[JobId, JobChange] = {}
        self._is_checked = False

    @property
    def mirror(self) -> Mirror:
        """The queue at the last query."""
        return self._log.mirror

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings of the last reading of the log."""
        return self._log.diagnostics

    def is_late(self, job: JobId) -> bool:
        """Return whether the log, when last read, did not yet show the edits of a job."""
        return job in self._written

    def check(self) -> None:
        """Raise NotOffered if the log is another schedd's: one of its jobs has another QDate or Owner there.

        This is done before the first edit. Raises Unreachable and ScheddError.
        """
        if self._is_checked:
            return
        known = [job for job in islice(self.mirror, _SAMPLE) if self.mirror.text(job, "QDate")]
        for ad in self._schedd.jobs(Selection(jobs=tuple(known)), ["QDate", "Owner"]) if known else ():
            job = job_id(ad)
            for name in ("QDate", "Owner"):
                if job in known and name in ad and not _is(self.mirror.text(job, name), ad[name]):
                    said = f"job {job} has another {name} in this log than in the schedd: this is another schedd's log"
                    raise not_offered(said, "give the log of that schedd: --log FILE")
        self._is_checked = True

    def jobs(self, which: Which = None, projection: Iterable[str] | None = None) -> list[ClassAd]:
        """Return the ads of jobs, those selected by number from the schedd. Raises as QueueLogSchedd and it do."""
        chosen = Selection.of(which)
        is_by_number = chosen.jobs and not (chosen.clusters or chosen.owners)
        return (self._schedd if is_by_number else self._log).jobs(chosen, projection)

    def scheduled(self, which: Which = None) -> Scheduled:
        """Return the jobs with a schedule. Raises as ``QueueLogSchedd.jobs``."""
        return self._log.scheduled(which)

    def changes(self) -> list[JobChange]:
        """Return the changes of jobs since the last call. Raises QueueIO."""
        found = self._log.changes()
        if not (self._written or self._withheld):
            return found
        now = self._clock()
        self._written = {
            job: each for job, each in self._written.items() if now < each.until and not self._shows(job, each)
        }
        self._look_again([change.job for change in found if change.job in self._written])
        for change in found:
            before = self._withheld.get(change.job)
            both = change if before is None else joined(before, change)
            if both is None:
                del self._withheld[change.job]
            else:
                self._withheld[change.job] = both
        return [self._withheld.pop(job) for job in list(self._withheld) if job not in self._written]

    def _look_again(self, jobs: Sequence[JobId]) -> None:
        """Query late jobs that the log mentions: another client may have overwritten the edits."""
        for start in range(0, len(jobs), _CHUNK):
            chunk = tuple(jobs[start : start + _CHUNK])
            names = {name for job in chunk for name in self._written[job].texts}
            try:
                ads = self._schedd.jobs(Selection(jobs=chunk), names)
            except ScheddError:
                return
            for ad in ads:
                job = job_id(ad)
                if job is None or job not in self.mirror or job not in self._written:
                    continue
                if all(_is(self.mirror.text(job, name), ad.get(name)) for name in self._written[job].texts):
                    del self._written[job]

    def history(
        self, which: Which = None, projection: Iterable[str] | None = None, limit: int | None = None
    ) -> list[ClassAd]:
        """Return the jobs that have left, the latest first. Raises as the schedd does."""
        return self._schedd.history(which, projection, limit)

    def edit_if(self, job: JobId, condition: str, edits: Mapping[str, object]) -> bool:
        """Set attributes of a job if a condition holds in its ad. Raises as the schedd and ``check`` do."""
        self.check()
        done = self._schedd.edit_if(job, condition, edits)
        if done:
            self._wait_for(job, edits)
        return done

    def edit_each(self, jobs: Sequence[JobId], condition: str, name: str, value: object, proof: str) -> list[JobId]:
        """Set one attribute of each job for which a condition holds; return those jobs. Raises as ``edit_if``."""
        if not isinstance(self._schedd, EditsTogether):
            return [job for job in jobs if self.edit_if(job, condition, {name: value})]
        self.check()
        done = self._schedd.edit_each(jobs, condition, name, value, proof)
        for job in done:
            self._wait_for(job, {name: value})
        return done

    def submit(self, ads: Sequence[ClassAd]) -> list[JobId]:
        """Submit jobs. Raises as the schedd does."""
        self.check()
        made = self._schedd.submit(ads)
        for job in made:
            self._wait_for(job, {})
        return made

    def hold(self, which: Which, hold: Hold) -> Acted:
        """Hold jobs. Raises as the schedd does."""
        return self._schedd.hold(which, hold)

    def release(self, which: Which, reason: str) -> Acted:
        """Release jobs. Raises as the schedd does."""
        return self._schedd.release(which, reason)

    def remove(self, which: Which, reason: str) -> Acted:
        """Remove jobs. Raises as the schedd does."""
        return self._schedd.remove(which, reason)

    def _wait_for(self, job: JobId, edits: Mapping[str, object]) -> None:
        texts = {name: Expression.of(to_code(value)) for name, value in edits.items()}
        self._written[job] = _Written(self._clock() + self._lag, texts, job in self.mirror)

    def _shows(self, job: JobId, written: _Written) -> bool:
        if job not in self.mirror:
            return written.was_known  # it has left since; numbers are not reused
        return all(_is(self.mirror.text(job, name), wanted) for name, wanted in written.texts.items())


def _is(text: str | None, wanted: Expression | None) -> bool:
    """Return whether an attribute's text in a log equals an expression; undefined may be a missing text."""
    if text is None or wanted is None:
        return (text is None or _is(text, _UNDEFINED)) and (wanted is None or wanted == _UNDEFINED)
    try:
        return Expression.parse(Source(text), old=True) == wanted
    except ClassAdSyntaxError:
        return False


_UNDEFINED: Final = Expression("undefined")
_SAMPLE: Final = 20  # jobs of a log that are compared with the schedd's
_CHUNK: Final = 200  # jobs queried by number at once
_LITERAL: Final = re.compile(r'-?[0-9.]+(?:[eE][+-]?[0-9]+)?\Z|"[^"\\]*"\Z|(?i:true|false|undefined)\Z').match


def _is_literal(code: object) -> bool:
    return isinstance(code, str) and _LITERAL(code) is not None


class NarrowSchedd(LiveSchedd):
    """A live schedd whose ``changes`` query only the parts of the queue passed to ``narrow``."""

    _parts: Sequence[QueuePart] | None = None

    @property
    def mirror(self) -> Mirror | None:
        """The parts at the last ``changes``; None without parts, and before the first ``changes``."""
        return None if self._parts is None else self._mirror

    def narrow(self, parts: Sequence[QueuePart]) -> None:
        """Limit ``changes`` to these parts; a job in several parts comes from the last one."""
        self._parts = tuple(parts)

    def _queue(self, faults: list[Diagnostic]) -> Iterator[ClassAd]:
        """Query the parts, and by number the jobs with whole ads that are no longer in them: they may still exist."""
        if self._parts is None:
            yield from super()._queue(faults)
            return
        seen: set[JobId | None] = set()
        again: list[JobId] = []
        for part in self._parts:
            for ad in self.jobs(Selection(constraint=part.constraint), part.projection):
                job = job_id(ad)
                seen.add(job)
                if job is not None and part.projection is not None and not all(map(_is_literal, ad.codes.values())):
                    again.append(job)  # an expression may refer to any other attribute
                else:
                    yield ad
            faults += self.diagnostics
        whole = [part.constraint for part in self._parts if part.projection is None]
        before = () if self._mirror is None else self._mirror
        again += (job for job in before if job not in seen and self._is_whole(job, whole))
        for start in range(0, len(again), _CHUNK):
            yield from self.jobs(Selection(jobs=tuple(again[start : start + _CHUNK])))
            faults += self.diagnostics

    def _is_whole(self, job: JobId, whole: Sequence[Expression]) -> bool:
        ad = None if self._mirror is None else self._mirror.ad(job)
        return ad is not None and any(each.holds(ad, None, Context()) for each in whole)
