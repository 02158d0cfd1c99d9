"""Jobs as they stand in a schedd's queue: their ads as ``condor_q -long``, ``-json`` or ``-xml`` prints them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import replace
from datetime import tzinfo

from crondor._schedule.job_terms import ATTRIBUTES, ExpressionText
from crondor._types import Made
from crondor.classad import Context
from crondor.classad.ad import ClassAd, Place
from crondor.classad.formats import ReadMode, read_ads
from crondor.classad.formats.pieces import Report, Text
from crondor.deferral import DEFAULT_SCHEDD_INTERVAL
from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.job import attributes
from crondor.job.expressions import JobExpressions
from crondor.job.policy import always_leaves
from crondor.job.status import JobStatus
from crondor.recurrence import Policy
from crondor.schedule import InvalidSchedule, JobSchedule, Universe, commands_of
from crondor.source import Source, Span
from crondor.spec import FIELDS, Dialect, InvalidSpec

__all__ = ["SCHEDULING", "QueuedJob", "read_queue"]

SCHEDULING = tuple(attribute.lower() for attribute in ATTRIBUTES[:6])
"""The attributes any of which makes a job a scheduled one, in lower case."""

_READ = (*ATTRIBUTES, "ScheddInterval", "JobUniverse")
TERMS = tuple(name.lower() for name in (*_READ, "Requirements"))
"""The attributes that decide about a schedule, in lower case."""

_NEEDED = ("ScheddInterval", "DeferralPrepTime", "DeferralWindow")
_NEEDED_IN = re.compile(r"\b(?:scheddinterval|deferralpreptime|deferralwindow)\b", re.IGNORECASE)


_STATUS = {int(status): status for status in JobStatus}


class QueuedJob(Made):
    """One ad of a queue; what it says is looked at when it is asked for.

    ``spans`` has, for the attributes of the schedule as lower-case names, a place that messages can point at.
    """

    __slots__ = ("ad", "place")

    def __init__(self, ad: ClassAd) -> None:
        """Take the ad."""
        self.ad = ad
        self.place = ad.place or Place("<ad>", 1)

    def __repr__(self) -> str:
        """Return the job's number."""
        return f"<QueuedJob {self.id or 'without a number'}>"

    def _made_of(self) -> tuple[object, ...]:
        return (self.ad,)

    __hash__ = None  # type: ignore[assignment]  # its ad changes

    @property
    def id(self) -> str | None:
        """``ClusterId.ProcId``, None for an ad that is no job's."""
        numbers = attributes.job_numbers(self.ad)
        return None if numbers is None else f"{numbers[0]}.{numbers[1]}"

    @property
    def status(self) -> JobStatus | None:
        """JobStatus, None where it is missing or none of the known ones."""
        return _STATUS.get(attributes.int32(self.ad, "JobStatus") or 0)

    @property
    def is_scheduled(self) -> bool:
        """Say whether the job has any Cron attribute, or a DeferralTime."""
        codes = self.ad.codes
        return any(name in codes for name in SCHEDULING)

    @property
    def is_crontab(self) -> bool:
        """Say whether the job has any Cron attribute: then its DeferralTime is the schedd's work."""
        return any(field.attribute in self.ad for field in FIELDS)

    @property
    def present(self) -> int | None:
        """The DeferralTime (epoch seconds) that the schedd has computed for a crontab job, None if there is none."""
        time = self.integer("DeferralTime") if self.is_crontab else None
        return time if time is not None and time > 0 else None

    @property
    def requirements(self) -> str:
        """The text of Requirements, empty where there are none."""
        return self.ad.text("Requirements") if "Requirements" in self.ad else ""

    @property
    def leaves(self) -> bool:
        """Say whether the job leaves the queue when a run ends, without a look at anything but OnExitRemove."""
        return always_leaves(self.ad)

    @property
    def spans(self) -> dict[str, Span]:
        """Where messages about the schedule's attributes point: the ad's place, and the text of the attribute."""
        return {name.lower(): self._source(name).span() for name in ATTRIBUTES if name in self.ad}

    @property
    def terms(self) -> tuple[Hashable, ...]:
        """What decides about the schedule, None where the ad has none: those of TERMS, texts or what was read of them.

        Where all are literals, equal ones make equal schedules.
        """
        codes = self.ad.codes
        return tuple([codes.get(name) for name in TERMS])

    @property
    def has_expressions(self) -> bool:
        """Say whether any of these depends on other attributes, or on the time.

        Raises ClassAdSyntaxError.
        """
        codes = (self.ad.code(name) for name in _READ if name in self.ad)
        return any(not isinstance(code.const, (bool, int, float, str)) for code in codes)

    def integer(self, name: str) -> int | None:
        """Return an attribute's value as an integer, where it is a number."""
        return attributes.integer(self.ad, name)

    def string(self, name: str) -> str | None:
        """Return an attribute's value where it is a string."""
        return attributes.string(self.ad, name)

    def schedule(
        self,
        now: int,
        *,
        dialect: Dialect = Dialect.MANUAL,
        schedd_interval: int = DEFAULT_SCHEDD_INTERVAL,
        zone: str | tzinfo = "UTC",
        policy: Policy | None = None,
    ) -> JobSchedule:
        """Return what the job asks for; Cron attributes that are expressions are evaluated at ``now`` (epoch seconds).

        The ad's own ScheddInterval wins. ``notes`` say what keeps the job from running. Raises InvalidSchedule.
        """
        expressions = JobExpressions(self.ad, zone)
        faults: list[Diagnostic] = []
        known: dict[str, object] = {}
        for name in _READ:
            if name in self.ad:
                known[name] = self._literal(name, now, faults)
        if faults:
            raise InvalidSchedule(faults)
        try:
            schedule = JobSchedule.from_attributes(
                known,
                dialect=dialect,
                schedd_interval=schedd_interval,
                zone=zone,
                policy=policy,
                evaluate=expressions,
                now=now,
            )
        except InvalidSpec as error:
            raise InvalidSchedule([self._placed(fault) for fault in error.diagnostics], error) from None
        notes = tuple(self._notes(schedule, expressions))
        return replace(schedule, notes=notes) if notes else schedule

    def _literal(self, name: str, now: int, faults: list[Diagnostic]) -> object:
        """Return a literal's value, or the expression; of what is no time or length the number it comes to now."""
        try:
            value: object = self.ad.code(name).const
        except CrondorError as error:
            faults += [d.relocated(self._source(name).span()) for d in error.diagnostics]
            return None
        if name in _SETTLED:
            return attributes.integer(self.ad, name, Context(now=now))
        text = self.ad.text(name)
        return value if isinstance(value, (bool, int, float, str)) else ExpressionText(text)

    def _notes(self, schedule: JobSchedule, expressions: JobExpressions) -> Iterator[Diagnostic]:
        if self._never_matches():
            missing = " and ".join(name for name in _NEEDED if name not in self.ad)
            message = f"without {missing} Requirements are never true: the job never matches"
            help_text = "condor_qedit sets what is missing; the submit commands without + or MY. set it by themselves"
            yield Diagnostic("never-matches", message, span=self._here, help=help_text)
        if schedule.universe is Universe.SCHEDULER:
            message = "a scheduler universe job with a schedule never runs"
            yield Diagnostic("universe-scheduler", message, span=self._here, help="submit it with universe = local")
        elif schedule.universe is Universe.GRID:
            message = "a grid universe job carries the times, and nothing waits for them"
            help_text = "let the remote job be deferred"
            yield Diagnostic("universe-grid", message, Severity.WARNING, self._here, help_text)
        for attribute, value in (
            ("DeferralTime", schedule.time if schedule.spec is None else None),
            ("DeferralWindow", schedule.window),
            ("DeferralPrepTime", schedule.prep_time),
        ):
            if isinstance(value, ExpressionText) and attribute in self.ad and self.ad.text(attribute) == value.text:
                yield from expressions.surprises(attribute, value.text, self._source(attribute).span())

    @property
    def _here(self) -> Span:
        """The ad as a whole, which has no text to show."""
        return self._source("", "").span()

    def _never_matches(self) -> bool:
        """Say whether Requirements refer to what condor_submit would have set, and the ad does not have it."""
        if all(name in self.ad for name in _NEEDED) or "Requirements" not in self.ad:
            return False
        text = self.ad.text("Requirements")
        return any(name.lower() not in self.ad.codes for name in map(str.lower, _NEEDED_IN.findall(text)))

    def _placed(self, fault: Diagnostic) -> Diagnostic:
        names = commands_of(fault.span.source.name) if fault.span else ()
        spans = self.spans
        onto = next((spans[name] for name in names if name in spans), None)
        return fault if onto is None else fault.relocated(onto)

    def _source(self, name: str, text: str | None = None) -> Source:
        """Return the text of an attribute under a name that says where the ad stands; of a string its content."""
        job = f"{self.place.name}:{self.place.line}: job {self.id or 'without a number'}"
        if text is None:
            given = self.string(name) if name not in ("DeferralTime", "DeferralWindow", "DeferralPrepTime") else None
            text = self.ad.text(name) if given is None else given
            job = f"{job}, {name}"
        return Source(text, job)


_SETTLED = frozenset(("ScheddInterval", "JobUniverse"))


def read_queue(text: Text, *, name: str | None = None, report: Report | None = None) -> Iterator[QueuedJob]:
    """Yield the jobs of a text, a file or lines, in whatever form of ads it is, one by one.

    ``report`` is called with what cannot be read, and reading goes on; without it the first fault raises
    ClassAdSyntaxError. Expressions are read when they are needed.
    """
    return map(QueuedJob, read_ads(text, None, ReadMode.LAZY, name=name, report=report))
