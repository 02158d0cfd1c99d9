"""JobSchedule: the schedule of a job, read from submit commands or job attributes, and its next Deferral."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from enum import Enum
from typing import Protocol, runtime_checkable

from crondor._schedule import (
    COMMANDS,
    ExpressionText,
    InvalidSchedule,
    Read,
    Universe,
    commands_of,
    cron_value,
    misspelt,
    needs_evaluation,
    read_commands,
    read_literal,
    seconds_of,
    speaks_of_time,
)
from crondor._types import expect
from crondor.codes import MISSED_DEFERRED_EXECUTION_TIME
from crondor.deferral import (
    DEFAULT_PREP_TIME,
    DEFAULT_SCHEDD_INTERVAL,
    DEFAULT_WINDOW,
    GATE,
    MACHINE_DEFERS,
    Deferral,
    InvalidDeferral,
)
from crondor.diagnostics import CrondorError, Diagnostic, Source, Span, shortened
from crondor.recurrence import Policy, Recurrence
from crondor.spec import FIELDS, CronSpec, Dialect

__all__ = [
    "COMMANDS",
    "Evaluate",
    "EvaluateRun",
    "ExpressionText",
    "InvalidSchedule",
    "JobSchedule",
    "Recalculation",
    "Universe",
    "UnknownValue",
    "commands_of",
    "misspelt",
    "needs_evaluation",
    "speaks_of_time",
]

IDLE = 1  # JobStatus
_LONGEST = 200  # characters of an expression or a value in a message

_CONSEQUENCES = {
    "DeferralTime": "Requirements are then never true, and without their clause the starter holds the job "
    f"(code {MISSED_DEFERRED_EXECUTION_TIME}); make it a positive integer",
    "DeferralWindow": "Requirements are then never true, and the job never matches; make it an integer",
    "DeferralPrepTime": "Requirements are then never true, and the job never matches; make it an integer",
}
_NEGATIVE = {
    "DeferralWindow": (
        "the job is then only matched until that long before its time, and starts at its time; write 0 or more"
    ),
    "DeferralPrepTime": (
        "the job is then only matched from that long after its time, minus SCHEDD_INTERVAL; write 0 or more"
    ),
}

Evaluate = Callable[[str, int], object]
"""Evaluate a ClassAd expression of the job at a time (epoch seconds).

It returns a Python value, None for undefined, and an ExpressionText for a value that is neither a number nor a string.
It may raise CrondorError for an invalid expression. ``crondor.job.expressions`` has one.
"""


@runtime_checkable
class EvaluateRun(Protocol):
    """An Evaluate that can put a run's DeferralTime into the job's ad, as the schedd does before each run."""

    def for_run(self, time: int, /) -> Evaluate:
        """Return an Evaluate for the run at ``time`` (epoch seconds)."""


_Number = int | ExpressionText


class UnknownValue(CrondorError, ValueError):
    """A time, window or prep time that cannot be evaluated, or with which the job can never run."""


class Recalculation(str, Enum):
    """Why a schedd computes a new DeferralTime (docs/deferral.md)."""

    NO_SCHEDULE = "no schedule is cached"  # a new job, a restart, a reconfig, a hold by the job's own run
    RUN_ENDED = "a run has ended"
    MISSED = "the window has passed"
    RELEASED = "the job was released"  # according to the manual; not in the schedd of 25.14


@dataclass(frozen=True, slots=True)
class JobSchedule:
    """The schedule of one job: cron fields, a deferral time, or neither; window, prep time and universe.

    ``spec`` and ``time`` (epoch seconds) are both None for a job that is not deferred; lengths are seconds.
    ``complete`` is False if DeferralWindow or DeferralPrepTime is missing, so that Requirements never match. ``notes``
    are warnings from reading; faults raised an error. ``recurrence`` says when the cron fields fire. Raises
    UnknownZone.
    """

    spec: CronSpec | None = None
    time: _Number | None = None
    window: _Number = DEFAULT_WINDOW
    prep_time: _Number = DEFAULT_PREP_TIME
    universe: Universe = Universe.VANILLA
    schedd_interval: int = DEFAULT_SCHEDD_INTERVAL
    zone: str | tzinfo = "UTC"
    policy: Policy | None = None
    evaluate: Evaluate | None = field(default=None, compare=False)
    complete: bool = True
    notes: tuple[Diagnostic, ...] = ()
    recurrence: Recurrence | None = field(init=False, default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.spec is not None:
            object.__setattr__(self, "recurrence", Recurrence(self.spec, self.zone, self.policy))

    @classmethod
    def from_submit(
        cls,
        commands: Mapping[str, str],
        *,
        spans: Mapping[str, Span] | None = None,
        dialect: Dialect = Dialect.MANUAL,
        schedd_interval: int = DEFAULT_SCHEDD_INTERVAL,
        zone: str | tzinfo = "UTC",
        policy: Policy | None = None,
        evaluate: Evaluate | None = None,
        now: int | None = None,
    ) -> JobSchedule:
        """Read the commands of one job: names in lower case (``+Attr`` as ``my.attr``), macros expanded.

        ``spans`` has the place of each value, for errors. A Cron attribute that is an expression is evaluated at
        ``now`` (epoch seconds), when the schedd reads it; other expressions when they are needed. The rules are those
        of condor_submit 25.14 (docs/deferral.md). Raises InvalidSchedule or InvalidSpec with all faults.
        """
        expect("commands", commands, Mapping, "a mapping of submit commands", "for a file read_submit(Source(text))")
        for name, text in commands.items():
            expect(name, text, str, "text as in a submit file")
        terms = read_commands(commands, spans or {}, dialect, _reader(evaluate, now))
        return cls(
            spec=terms.spec,
            time=terms.time,
            window=terms.window,
            prep_time=terms.prep_time,
            universe=terms.universe,
            schedd_interval=schedd_interval if terms.schedd_interval is None else terms.schedd_interval,
            zone=zone,
            policy=policy,
            evaluate=evaluate,
            complete=terms.complete,
            notes=terms.notes,
        )

    @classmethod
    def from_attributes(
        cls,
        ad: Mapping[str, object],
        *,
        dialect: Dialect = Dialect.MANUAL,
        schedd_interval: int = DEFAULT_SCHEDD_INTERVAL,
        zone: str | tzinfo = "UTC",
        policy: Policy | None = None,
        evaluate: Evaluate | None = None,
        now: int | None = None,
    ) -> JobSchedule:
        """Read the attributes of a job ad (names in any case) as Python values; an ExpressionText is evaluated later.

        In a Cron attribute it is evaluated at ``now`` (epoch seconds), as by the schedd. The ad's own ScheddInterval
        overrides ``schedd_interval``. Raises InvalidSpec, and CrondorError for an expression that cannot be evaluated.
        """
        known = {name.lower(): value for name, value in ad.items()}
        for f in FIELDS:
            value = known.get(f.attribute.lower())
            known[f.attribute.lower()] = cron_value(value, dialect, _reader(evaluate, now))
        is_cron = any(known[f.attribute.lower()] is not None for f in FIELDS)
        interval = seconds_of(known.get("scheddinterval"))
        universe = known.get("jobuniverse")
        window, prep = (known.get(name) for name in ("deferralwindow", "deferralpreptime"))
        return cls(
            spec=CronSpec.from_mapping(known, dialect=dialect) if is_cron else None,
            time=_number_of(known.get("deferraltime")),
            window=DEFAULT_WINDOW if window is None else _number_of(window) or 0,
            prep_time=DEFAULT_PREP_TIME if prep is None else _number_of(prep) or 0,
            universe=next((u for u in Universe if u == universe), Universe.VANILLA),
            schedd_interval=schedd_interval if interval is None else interval,
            zone=zone,
            policy=policy,
            evaluate=evaluate,
            complete=window is not None and prep is not None,
        )

    def with_time(self, time: int | None) -> JobSchedule:
        """Return the same schedule with another DeferralTime (epoch seconds), None for none."""
        made = copy(self)  # derived values stay the same
        object.__setattr__(made, "time", time)
        return made

    @property
    def is_deferred(self) -> bool:
        """Return whether the job waits for a time."""
        return self.spec is not None or self.time is not None

    def next(self, now: int) -> Deferral:
        """Return the deferral that a schedd computes at ``now`` (epoch seconds).

        Cron fields win over a deferral time, which the schedd overwrites. Raises UnknownValue if an expression cannot
        be evaluated or the starter holds the job for its value, InvalidDeferral for a time of 0, NeverRuns and
        OutOfRange.
        """
        if self.recurrence is not None:
            return self.deferral(self.recurrence.next(now), now)
        if self.time is None:
            message = "the job has neither cron fields nor a deferral time: it may run at once"
            raise UnknownValue(Diagnostic("not-deferred", message, help="define cron_minute or deferral_time"))
        time = self._value("DeferralTime", self.time, now)
        try:
            return self.deferral(time, now)
        except InvalidDeferral as error:
            span = Source(str(self.time), "DeferralTime").span()
            raise InvalidDeferral(replace(fault, span=span) for fault in error.diagnostics) from None

    def deferral(self, time: int, now: int) -> Deferral:
        """Return the run at ``time`` with the job's window and prep time, evaluated at ``now`` for that run."""
        window = self._value("DeferralWindow", self.window, now, time)
        prep_time = self._value("DeferralPrepTime", self.prep_time, now, time)
        return Deferral(time, window, prep_time, self.schedd_interval)

    def requirements_clause(self) -> str | None:
        """Return what condor_submit adds to Requirements, None for nothing (25.14)."""
        if not self.is_deferred or self.universe is Universe.GRID:
            return None
        return GATE if self.universe is Universe.LOCAL else f"{MACHINE_DEFERS} && {GATE}"

    def _value(self, attribute: str, number: _Number, now: int, run: int | None = None) -> int:
        if isinstance(number, int):
            return number
        span = Source(number.text, attribute).span()
        # A literal of the wrong kind needs no evaluation.
        value = number if read_literal(number.text).value is None else self._evaluated(attribute, number.text, now, run)
        seconds = seconds_of(value)
        if seconds is None or seconds < 0:
            shown = _shown(value if seconds is None else seconds)
            message = f"{attribute} = {_brief(number.text)} is {shown} at {now}, not a number of seconds, 0 or more"
            help_text = (_CONSEQUENCES if seconds is None else _NEGATIVE).get(attribute, _CONSEQUENCES[attribute])
            raise UnknownValue(Diagnostic("bad-value", message, span=span, help=help_text))
        return seconds

    def _evaluated(self, attribute: str, text: str, now: int, run: int | None) -> object:
        source = Source(text, attribute)
        evaluate = self.evaluate
        if evaluate is None:
            message = f"{attribute} = {_brief(text)} is an expression, and there is nothing to evaluate it with"
            raise UnknownValue(Diagnostic("not-evaluated", message, span=source.span(), help="pass evaluate"))
        try:
            of_runs: object = evaluate
            if run is not None and self.spec is not None and isinstance(of_runs, EvaluateRun):
                return of_runs.for_run(run)(text, now)
            return evaluate(text, now)
        except CrondorError as error:
            spans = [source.span(*d.span[1:]) if d.span is not None else source.span() for d in error.diagnostics]
            raise UnknownValue(replace(d, span=s) for d, s in zip(error.diagnostics, spans, strict=True)) from None


def _reader(evaluate: Evaluate | None, now: int | None) -> Read | None:
    return None if evaluate is None or now is None else lambda text: evaluate(text, now)


def _number_of(value: object) -> _Number | None:
    """Return an attribute's value if it may be a number; others are rejected when used."""
    if value is None or isinstance(value, ExpressionText):
        return value
    seconds = seconds_of(value)
    if seconds is not None:
        return seconds
    return ExpressionText(f'"{value}"' if isinstance(value, str) else str(value).lower())


def _shown(value: object) -> str:
    if value is None:
        return "undefined"
    if isinstance(value, ExpressionText):
        return _brief(value.text)
    return "a very large number" if isinstance(value, int) and abs(value) > 10**30 else _brief(repr(value))


def _brief(text: str) -> str:
    return shortened(text, _LONGEST)
