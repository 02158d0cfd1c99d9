"""A job's own policy, and a job in its present state in a queue.

HTCondor 25.14 has one implementation for its schedd, shadow, local starter and job router:
``UserPolicy::AnalyzePolicy`` (src/condor_utils/user_job_policy.cpp). The expressions are evaluated in order, and the
first that fires decides. It fires if it is not zero as an integer, so that 1.5 fires and 0.5 does not; undefined, an
error, or a string never fires. There are two exceptions. TimerRemove is a time, and a value that is not a number is a
ruling of its own: UNDEFINED. OnExitRemove keeps a job only if it is the number zero: without a value, as without the
attribute, the job leaves.

After PeriodicHold, PeriodicRelease and PeriodicRemove the administrator's expressions for the same act are evaluated,
also in the job's ad: SYSTEM_PERIODIC_HOLD and similar knobs, by daemons with a configuration.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from datetime import tzinfo
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from crondor._schedule import ATTRIBUTES, ExpressionText
from crondor._types import Made
from crondor.classad import Context, Expression
from crondor.classad.ad import ClassAd, Place
from crondor.classad.formats import ReadMode, read_ads
from crondor.classad.formats.pieces import Report, Text
from crondor.classad.parser import print_constant
from crondor.classad.scope import UNKNOWN, Code
from crondor.classad.tree import Literal
from crondor.codes import (
    JOB_DURATION_EXCEEDED,
    JOB_EXECUTE_EXCEEDED,
    JOB_POLICY,
    JOB_POLICY_UNDEFINED,
    SYSTEM_POLICY,
    USER_REQUEST,
)
from crondor.deferral import DEFAULT_SCHEDD_INTERVAL
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span
from crondor.job import attributes
from crondor.job.attributes import (
    ON_MACHINE,
    ExitValue,
    JobStatus,
    count,
    expression,
    fires,
    int32,
    int32_of,
    integer,
    integer_of,
    printed,
    result,
    string,
    string_of,
)
from crondor.job.expressions import JobExpressions
from crondor.recurrence import Policy
from crondor.schedule import InvalidSchedule, JobSchedule, Universe, commands_of
from crondor.spec import FIELDS, Dialect, InvalidSpec

BIRTH: Final = "JobCurrentStartDate"  # when the shadow of the run began: at the match, before any wait
LONGEST: Final = ("AllowedJobDuration", "AllowedExecuteDuration")

_WELL: Final = ExitValue(0, by_signal=False)


class Act(Enum):
    """The effect of a policy; UNDEFINED: unknown, since a value that must be a number is not one."""

    STAY = "stay"
    HOLD = "hold"
    RELEASE = "release"
    VACATE = "vacate"
    REMOVE = "remove"
    UNDEFINED = "undefined"


class Ruling(NamedTuple):
    """The effect of a policy, with the reason HTCondor writes and its code and subcode."""

    act: Act
    reason: str = ""
    code: int = JOB_POLICY
    subcode: int = 0

    @property
    def held(self) -> Ruling:
        """Return the ruling of a shadow or a router, which hold a job for UNDEFINED; a schedd ignores it."""
        return self._replace(act=Act.HOLD) if self.act is Act.UNDEFINED else self


class SystemExpression(NamedTuple):
    """An expression of the administrator's policy.

    ``name`` is its name in reasons (SYSTEM_PERIODIC_HOLD), ``knob`` the knob (possibly with a name after it), ``text``
    how HTCondor prints it. ``reason`` and ``subcode`` are evaluated in the job's ad; ``place`` is the knob's.
    """

    name: str
    knob: str
    expression: Expression
    text: str
    reason: Expression | None = None
    subcode: Expression | None = None
    place: Span | None = None

    def ruling(self, ad: ClassAd, act: Act, context: Context) -> Ruling | None:
        """Return its ruling, None if it does not fire."""
        if not integer_of(result(self.expression, ad, context)):
            return None
        reason = None if self.reason is None else string_of(result(self.reason, ad, context))
        subcode = None if self.subcode is None else int32_of(result(self.subcode, ad, context))
        default = f"The system macro {self.name} expression '{self.text}' evaluated to TRUE"
        return Ruling(act, reason or default, SYSTEM_POLICY, subcode or 0)


SystemPolicy: TypeAlias = Mapping[str, tuple[SystemExpression, ...]]
"""The expressions by the attribute of the job that is evaluated before them."""

NO_POLICY: Final[SystemPolicy] = {}

_STAY: Final = Ruling(Act.STAY)
_ACTS: Final = {
    "PeriodicVacate": Act.VACATE,
    "TimerRemove": Act.REMOVE,
    "PeriodicHold": Act.HOLD,
    "PeriodicRelease": Act.RELEASE,
    "PeriodicRemove": Act.REMOVE,
}  # in the order of evaluation
_ALWAYS: Final = (*LONGEST, "TimerRemove")  # for which false is a number, too

_DECIDING: Final = tuple(map(str.lower, (*LONGEST, *_ACTS, "OnExitHold", "OnExitRemove")))
_ASKED: Final = frozenset(map(str.lower, (*LONGEST, *_ACTS)))


def has_periodic(ad: ClassAd) -> bool:
    """Return whether a job has a periodic expression, or a longest time to run."""
    if _ASKED.isdisjoint(ad.codes):
        return False
    return any(
        name in ad and (name in _ALWAYS or ad.text(name).strip().lower() != "false") for name in (*LONGEST, *_ACTS)
    )


def expressions(status: int) -> list[str]:
    """Return the periodic expressions that are evaluated in a status, in their order."""
    left_out = {
        "PeriodicVacate": status not in ON_MACHINE,
        "PeriodicHold": status in (JobStatus.HELD, JobStatus.COMPLETED),
        "PeriodicRelease": status != JobStatus.HELD,
    }
    return [] if status == JobStatus.REMOVED else [name for name in _ACTS if not left_out.get(name)]


def periodic(
    ad: ClassAd, status: int, now: int, context: Context, birth: str = BIRTH, system: SystemPolicy = NO_POLICY
) -> Ruling:
    """Return the ruling of a job's periodic policy at ``now`` (epoch seconds), including ``system``.

    A longest time to run comes first. AllowedJobDuration counts from ``birth``, an attribute.
    """
    if status in ON_MACHINE and (too_long := _too_long(ad, now, birth)):
        return too_long
    return _first(ad, expressions(status), now, context, system)


def at_exit(ad: ClassAd, now: int, context: Context, system: SystemPolicy = NO_POLICY) -> Ruling:
    """Return the ruling when a job's program has ended, as in its ad: it stays, leaves or is held.

    A longest time to run and the periodic expressions come first, except PeriodicVacate.
    """
    found = _too_long(ad, now, BIRTH) or _first(ad, expressions(JobStatus.RUNNING)[1:], now, context, system)
    if found.act is not Act.STAY:
        return found.held
    hold = _fired(ad, "OnExitHold", Act.HOLD, context)
    if hold is not None:
        return hold
    if int32(ad, "OnExitRemove", context) == 0:
        return Ruling(Act.STAY, _reason(ad, "OnExitRemove", "FALSE"))
    return Ruling(Act.REMOVE)


def known_at_exit(ad: ClassAd) -> Act | None:
    """Return the ruling of ``at_exit`` at every exit; None if periodic expressions or the run matter."""
    return _known_at_exit(tuple(map(ad.codes.get, _DECIDING)))


@lru_cache(maxsize=256)
def _known_at_exit(codes: tuple[Code | str | None, ...]) -> Act | None:
    found = {name: code for name, code in zip(_DECIDING, codes, strict=True) if code is not None}
    ad = ClassAd.of(found, {name: name for name in found})
    ruling = None if has_periodic(ad) else always_at_exit(ad)
    return None if ruling is None else ruling.act


def always_at_exit(ad: ClassAd) -> Ruling | None:
    """Return the ruling of ``at_exit`` for every run of a job without periodic expressions; None if it varies."""
    hold, remove = (ad.text(name).strip().lower() if name in ad else None for name in ("OnExitHold", "OnExitRemove"))
    if hold not in (None, "false") or remove not in (None, "true", "false"):
        return None
    return Ruling(Act.STAY, _reason(ad, "OnExitRemove", "FALSE")) if remove == "false" else Ruling(Act.REMOVE)


def always_leaves(ad: ClassAd) -> bool:
    """Return whether OnExitRemove alone makes a job leave its queue after every run."""
    found = expression(ad, "OnExitRemove")
    return found is None or (found.code.const is not UNKNOWN and int32_of(found.code.const) != 0)


def ended(ad: ClassAd, starts: int, ending: ExitValue = _WELL) -> ClassAd:
    """Return a job's ad for ``at_exit``, after its program has ended in the ``starts``-th start."""
    made = ad.copy()
    said, unsaid = ("ExitSignal", "ExitCode") if ending.by_signal else ("ExitCode", "ExitSignal")
    made.prune(unsaid)
    completions = max(1, starts - count(ad, "NumJobStarts") + count(ad, "NumJobCompletions"))
    counts = {"NumJobStarts": starts, "JobRunCount": starts, "NumJobCompletions": completions}
    states = {said: ending.number, "ExitBySignal": ending.by_signal, "JobStatus": int(JobStatus.RUNNING)}
    for name, value in (*states.items(), *counts.items()):
        made.set(name, value)
    return made


def _first(ad: ClassAd, names: list[str], now: int, context: Context, system: SystemPolicy) -> Ruling:
    for name in names:
        if name == "TimerRemove":
            found = _timer(ad, now, context)
        elif name == "PeriodicRelease" and int32(ad, "HoldReasonCode", context) == USER_REQUEST:
            continue
        else:
            found = _fired(ad, name, _ACTS[name], context)
        rulings = (each.ruling(ad, _ACTS[name], context) for each in system.get(name, ())) if system else ()
        found = found or next(filter(None, rulings), None)
        if found is not None:
            return found
    return _STAY


def _fired(ad: ClassAd, name: str, act: Act, context: Context) -> Ruling | None:
    if not fires(ad, name, context):
        return None
    reason = string(ad, f"{name}Reason", context) or _reason(ad, name, "TRUE")
    return Ruling(act, reason, subcode=int32(ad, f"{name}SubCode", context) or 0)


def _timer(ad: ClassAd, now: int, context: Context) -> Ruling | None:
    if "TimerRemove" not in ad:
        return None
    timer = int32(ad, "TimerRemove", context)
    if timer is None:
        return Ruling(Act.UNDEFINED, _reason(ad, "TimerRemove", "UNDEFINED"), JOB_POLICY_UNDEFINED)
    return Ruling(Act.REMOVE, _reason(ad, "TimerRemove", "TRUE")) if 0 <= timer < now else None


def _too_long(ad: ClassAd, now: int, birth: str) -> Ruling | None:
    """Return the hold of a job that runs for too long; of two runs' times the older one is ignored."""
    born = integer(ad, birth)
    if born is None:
        return None
    allowed = integer(ad, "AllowedJobDuration")
    if allowed is not None and now - born >= allowed:
        return Ruling(Act.HOLD, f"The job exceeded allowed job duration of {_duration(allowed)}", JOB_DURATION_EXCEEDED)
    allowed, began = integer(ad, "AllowedExecuteDuration"), integer(ad, "JobCurrentStartExecutingDate")
    if allowed is None or began is None or began < born:
        return None
    began = max(began, integer(ad, "TransferOutFinished") or 0)
    if now - began > allowed:
        return Ruling(
            Act.HOLD, f"The job exceeded allowed execute duration of {_duration(allowed)}", JOB_EXECUTE_EXCEEDED
        )
    return None


def _duration(seconds: int) -> str:
    """Return a length like HTCondor's ``format_time_short``: ``1+02:03:04`` without leading zeros."""
    minutes, second = divmod(max(0, seconds), 60)
    hours, minute = divmod(minutes, 60)
    text = f"{hours // 24}+{hours % 24:02}:{minute:02}:{second:02}".lstrip(" 0+")
    return text.removeprefix(":")


def _reason(ad: ClassAd, name: str, value: str) -> str:
    return f"The job attribute {name} expression '{printed(ad, name)}' evaluated to {value}"


SCHEDULING = tuple(map(str.lower, ATTRIBUTES[:6]))
"""The attributes that make a job a scheduled one, in lower case."""

_READ = (*ATTRIBUTES, "ScheddInterval", "JobUniverse")
TERMS = tuple(map(str.lower, (*_READ, "Requirements")))
"""The attributes that determine a schedule, in lower case."""


def _term(code: Code | str | None) -> Hashable:
    if isinstance(code, Code) and isinstance(code.node, Literal):
        return print_constant(code.node.value)
    return code


_NEEDED = ("ScheddInterval", "DeferralPrepTime", "DeferralWindow")
_NEEDED_IN = re.compile(r"\b(?:scheddinterval|deferralpreptime|deferralwindow)\b", re.IGNORECASE)


_STATUS = {int(status): status for status in JobStatus}


class QueuedJob(Made):
    """An ad of a queue, evaluated when needed; ``spans`` has its schedule's places by lower-case name."""

    __slots__ = ("ad", "place")

    def __init__(self, ad: ClassAd) -> None:
        self.ad = ad
        self.place = ad.place or Place("<ad>", 1)

    def __repr__(self) -> str:
        return f"<QueuedJob {self.id or 'without a number'}>"

    def _made_of(self) -> tuple[object, ...]:
        return (self.ad,)

    __hash__ = None  # type: ignore[assignment]  # its ad changes

    @property
    def id(self) -> str | None:
        """``ClusterId.ProcId``, None for an ad that is not a job's."""
        numbers = attributes.job_numbers(self.ad)
        return None if numbers is None else f"{numbers[0]}.{numbers[1]}"

    @property
    def status(self) -> JobStatus | None:
        """JobStatus, None if it is missing or unknown."""
        return _STATUS.get(attributes.int32(self.ad, "JobStatus") or 0)

    @property
    def is_scheduled(self) -> bool:
        """Return whether the job has any Cron attribute, or a DeferralTime."""
        codes = self.ad.codes
        return any(name in codes for name in SCHEDULING)

    @property
    def is_crontab(self) -> bool:
        """Return whether the job has any Cron attribute: then the schedd computes its DeferralTime."""
        return any(field.attribute in self.ad for field in FIELDS)

    @property
    def present(self) -> int | None:
        """The DeferralTime (epoch seconds) that the schedd has computed for a crontab job, None if there is none."""
        time = self.integer("DeferralTime") if self.is_crontab else None
        return time if time is not None and time > 0 else None

    @property
    def requirements(self) -> str:
        """The text of Requirements, with the time of a made-up run; empty if there are none."""
        text = self.ad.text("Requirements") if "Requirements" in self.ad else ""
        made_up = self.integer("CrondorCatchUpTime") if "CrondorCatchUpTime" in text else None
        return text if made_up is None else text.replace("MY.CrondorCatchUpTime", str(made_up))

    @property
    def leaves(self) -> bool:
        """Return whether OnExitRemove alone makes the job leave the queue after every run."""
        return always_leaves(self.ad)

    @property
    def spans(self) -> dict[str, Span]:
        """The places for messages about the schedule's attributes: the ad's place, and the text of the attribute."""
        return {name.lower(): self._source(name).span() for name in ATTRIBUTES if name in self.ad}

    @property
    def terms(self) -> tuple[Hashable, ...]:
        """The attributes of TERMS that determine the schedule, None if the ad has none: literals as texts, read or not.

        If all are literals, equal ones make equal schedules.
        """
        codes = self.ad.codes
        return tuple([_term(codes.get(name)) for name in TERMS])

    @property
    def has_expressions(self) -> bool:
        """Return whether any of these depends on other attributes, or on the time. Raises ClassAdSyntaxError."""
        codes = (self.ad.code(name) for name in _READ if name in self.ad)
        return any(not isinstance(code.const, (bool, int, float, str)) for code in codes)

    def integer(self, name: str) -> int | None:
        """Return an attribute's value as an integer, if it is a number."""
        return attributes.integer(self.ad, name)

    def string(self, name: str) -> str | None:
        """Return an attribute's value if it is a string."""
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
        """Return the job's schedule; Cron attributes that are expressions are evaluated at ``now`` (epoch seconds).

        The ad's own ScheddInterval wins. ``notes`` tell what prevents the job from running. Raises InvalidSchedule.
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
                evaluate=expressions if self.has_expressions else None,  # a schedule is kept, and the ad need not be
                now=now,
            )
        except InvalidSpec as error:
            raise InvalidSchedule([self._placed(fault) for fault in error.diagnostics], error) from None
        notes = tuple(self._notes(schedule, expressions))
        return replace(schedule, notes=notes) if notes else schedule

    def _literal(self, name: str, now: int, faults: list[Diagnostic]) -> object:
        """Return a literal's value, or the expression; if it is no time or length, its present number."""
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
            help_text = (
                "set the missing attribute with condor_qedit; the submit commands without + or MY. set it themselves"
            )
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
        """Return whether Requirements refer to an attribute that condor_submit would have set, and the ad lacks it."""
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
        """Return the text of an attribute with a name for the ad's place; the contents of a string."""
        job = f"{self.place.name}:{self.place.line}: job {self.id or 'without a number'}"
        if text is None:
            given = self.string(name) if name not in ("DeferralTime", "DeferralWindow", "DeferralPrepTime") else None
            text = self.ad.text(name) if given is None else given
            job = f"{job}, {name}"
        return Source(text, job)


_SETTLED = frozenset(("ScheddInterval", "JobUniverse"))


def read_queue(text: Text, *, name: str | None = None, report: Report | None = None) -> Iterator[QueuedJob]:
    """Yield the jobs of a text, a file or lines, in any format of ads, one by one.

    ``report`` is called with each fault, and reading continues; without it the first fault raises ClassAdSyntaxError.
    Expressions are read when they are needed.
    """
    return map(QueuedJob, read_ads(text, None, ReadMode.LAZY, name=name, report=report))
