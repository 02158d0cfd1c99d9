"""The scheduling commands by name, their values, and which jobs leave the queue after a run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import IntEnum
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

from crondor._spec import CURE, inline_comment
from crondor.deferral import DEFAULT_PREP_TIME, DEFAULT_WINDOW, GATE
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Span, similar
from crondor.spec import FIELDS, CronSpec, Dialect, InvalidSpec


# HTCondor: SubmitHash::SetJobDeferral, CronTab::needsCronTab.
class Universe(IntEnum):
    """JobUniverse, for the universes that still exist."""

    VANILLA = 5
    SCHEDULER = 7
    GRID = 9
    JAVA = 10
    PARALLEL = 11
    LOCAL = 12
    VM = 13

    @property
    def waits_for_passes(self) -> bool:
        """Whether a job only gets its next time when the schedd scans its queue, once per SCHEDD_INTERVAL."""
        return self not in {Universe.LOCAL, Universe.GRID, Universe.SCHEDULER}


# "docker" and "container" are vanilla jobs with an image.
UNIVERSES = {member.name.lower(): member for member in Universe} | {
    "docker": Universe.VANILLA,
    "container": Universe.VANILLA,
}

# The commands of each value; the first that is set wins (docs/deferral.md): snake case before the attribute's name,
# cron_ before deferral_.
TIME_COMMANDS = ("deferral_time", "deferraltime")
WINDOW_COMMANDS = ("cron_window", "cronwindow", "deferral_window", "deferralwindow")
PREP_COMMANDS = ("cron_prep_time", "cronpreptime", "deferral_prep_time", "deferralpreptime")
CRON_COMMANDS = tuple((field.command, field.attribute.lower()) for field in FIELDS)

_CRON = tuple(chain.from_iterable(CRON_COMMANDS))

ATTRIBUTES = (*(f.attribute for f in FIELDS), "DeferralTime", "DeferralWindow", "DeferralPrepTime")
_OWN = tuple(f"my.{attribute.lower()}" for attribute in ATTRIBUTES)

# All commands of a submit description that affect the schedule.
COMMANDS: tuple[str, ...] = (
    *_CRON,
    *TIME_COMMANDS,
    *WINDOW_COMMANDS,
    *PREP_COMMANDS,
    *_OWN,
    "my.scheddinterval",
    "universe",
    "jobuniverse",
)

# Commands whose values condor_submit puts into the ad as expressions; a cron_* command becomes a string.
_EVALUATED = (*TIME_COMMANDS, *WINDOW_COMMANDS, *PREP_COMMANDS, *_OWN)


def commands_of(name: str) -> tuple[str, ...]:
    """Return the names (lower case) that may have set a field or attribute, in order of precedence."""
    for attribute, names in (
        *((field.attribute, names) for field, names in zip(FIELDS, CRON_COMMANDS, strict=True)),
        *((field.name, names) for field, names in zip(FIELDS, CRON_COMMANDS, strict=True)),
        ("DeferralTime", TIME_COMMANDS),
        ("DeferralWindow", WINDOW_COMMANDS),
        ("DeferralPrepTime", PREP_COMMANDS),
    ):
        if attribute == name:
            return (f"my.{names[-1].replace('_', '')}", *names)
    return ()


_BEGINNINGS = ("cron", "crom", "corn_", "defer", "deffer")
_LONGEST_NAME = 40  # twice as long as any command: like none
_WORDS_FOR = {
    "cron_minutes": "cron_minute",
    "cron_min": "cron_minute",
    "cron_hours": "cron_hour",
    "cron_day": "cron_day_of_month",
    "cron_dom": "cron_day_of_month",
    "cron_days_of_month": "cron_day_of_month",
    "cron_months": "cron_month",
    "cron_dow": "cron_day_of_week",
    "cron_weekday": "cron_day_of_week",
    "cron_days_of_week": "cron_day_of_week",
    "cron_preptime": "cron_prep_time",
    "deferral_prep": "deferral_prep_time",
}

# Compiled by the re module on first use: most jobs have only plain numbers.
_REAL = r"-?(\d*\.\d+([eE][-+]?\d+)?|\d+[eE][-+]?\d+)"
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_MAYBE_STRING = _STRING + "?"  # also without an end, so that the rest is read only once
_NO_EXPRESSION = r"""\d+(\s*[A-Za-z_"'$#;@]|\s+\d)|\$"""
_LARGEST = 2**63 - 1


class ExpressionText(NamedTuple):
    """The text of a ClassAd expression that has to be evaluated first."""

    text: str

    def __str__(self) -> str:
        return self.text


class LiteralTerm(NamedTuple):
    """How condor_submit reads a value that must be a non-negative integer: a number, an expression, or neither."""

    value: int | ExpressionText | None
    overflowed: bool = False


def read_literal(text: str) -> LiteralTerm:
    """Return the value of a deferral command; None if condor_submit refuses it (docs/deferral.md).

    A literal above 2^63-1 becomes 0. Text that looks like an expression counts as one.
    """
    written, text = text.strip(), _bare(text)
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdecimal():
        negative = digits != text
        if digits.startswith("0") and digits != "0" and not negative:
            return LiteralTerm(None)  # a syntax error of the ClassAd language
        overflowed = len(digits.lstrip("0")) > 19 or int(digits[-20:]) > _LARGEST
        value = 0 if overflowed else int(digits)
        return LiteralTerm(None if negative and value else value, overflowed)
    known = text.lower() in {"true", "false", "undefined", "error"}
    if not text or known or re.fullmatch(_REAL, text) or re.fullmatch(_STRING, text) or re.match(_NO_EXPRESSION, text):
        return LiteralTerm(None)
    return LiteralTerm(ExpressionText(written) if _is_balanced(text) else None)


def seconds_of(value: object) -> int | None:
    """Return an attribute's value in seconds as the starter reads it (``crondor.job.attributes.integer``), or None.

    A real loses its fraction. None also for one beyond 64 bits, which a starter reads as a negative time, and for a
    boolean, which a starter reads as 1 or 0 seconds: that is never intended.
    """
    if isinstance(value, float):
        return int(value) if abs(value) < _LARGEST else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def read_string(text: str) -> str | None:
    """Return the text of a ClassAd string literal, None for anything else."""
    text = text.strip()
    return text[1:-1].replace('\\"', '"') if re.fullmatch(_STRING, text) else None


def needs_evaluation(commands: Mapping[str, str]) -> bool:
    """Return whether any scheduling command (lower case, ``+Attr`` as ``my.attr``) has a non-literal expression."""
    return any(
        isinstance(read_literal(commands[name]).value, ExpressionText) for name in _EVALUATED if name in commands
    )


def speaks_of_time(text: str) -> bool:
    """Return whether an expression may depend on DeferralTime, apart from the clause of condor_submit."""
    return "deferraltime" in text.replace(GATE, "").lower()


def _bare(text: str) -> str:
    """Return text without parentheses around all of it: a literal in them is still a literal (25.14)."""
    text = text.strip()
    if not text.startswith("("):
        return text
    blanked = _blanked(text)
    start = len(blanked) - len(blanked.lstrip("( \t\r\n\f\v"))
    end = max(start, len(blanked.rstrip(") \t\r\n\f\v")))
    pairs = depth = blanked.count("(", 0, start)
    for character in blanked[start:end]:
        depth += (character in "([{") - (character in ")]}")
        pairs = min(pairs, depth)
    if depth != blanked.count(")", end) or pairs < 1:
        return text
    low, high = 0, len(text)
    for _ in range(pairs):
        low = blanked.index("(", low) + 1
        high = blanked.rindex(")", 0, high)
    return text[low:high].strip()


def _blanked(text: str) -> str:
    """Return a text with the characters of its strings blanked out."""
    return re.sub(
        _MAYBE_STRING, lambda found: "_" * len(found[0]) if re.fullmatch(_STRING, found[0]) else found[0], text
    )


def _is_balanced(text: str) -> bool:
    depth = 0
    for character in _blanked(text):
        depth += (character in "([{") - (character in ")]}")
        if depth < 0:
            return False
    return depth == 0


def misspelt(commands: Iterable[tuple[str, Span | None]]) -> Iterator[Diagnostic]:
    """Yield a warning for each command that looks like a scheduling command and is not: it has no effect."""
    for name, span in commands:
        lowered = name.lower()
        if lowered in COMMANDS or not lowered.startswith(_BEGINNINGS) or len(lowered) > _LONGEST_NAME:
            continue
        close = [_WORDS_FOR[lowered]] if lowered in _WORDS_FOR else _close_commands(lowered)
        if close:
            yield Diagnostic(
                "submit-misspelt",
                f"HTCondor has no command {name}: it does not affect the schedule",
                Severity.WARNING,
                span=span,
                help=f"did you mean {close[0]}?",
                fix=close[0],
            )


@lru_cache(1000)  # a file is checked again after each fix or edit
def _close_commands(name: str) -> list[str]:
    return similar(name, (command for command in COMMANDS if "_" in command), 0.75)


# condor_submit puts attributes with + or MY. into the ad last, so they win.
REMOVE: Final = ("my.onexitremove", "on_exit_remove", "onexitremove")
RETRIES: Final = ("max_retries", "jobmaxretries", "success_exit_code", "jobsuccessexitcode", "retry_until")
LEAVING: Final = (*REMOVE, *RETRIES)


def leaves_by(values: Mapping[str, str]) -> str | None:
    """Return the command that makes a crontab job leave the queue after its first run or its first success.

    ``values`` are those of lower-case submit commands. Empty if ``on_exit_remove`` is missing, whose default is true;
    None if the job may stay.
    """
    own = REMOVE[0]
    if not values.get(own, "").strip():
        retries = next((name for name in RETRIES if values.get(name, "").strip()), None)
        if retries is not None:
            return retries
    given = next((name for name in REMOVE if values.get(name, "").strip()), None)
    if given is None:
        return ""
    return given if values[given].strip().lower() == "true" else None


def leaving_words(found: str) -> str:
    """Return the result of ``leaves_by`` as a sentence, with what to write instead."""
    if found in RETRIES:
        return f"{found} makes the job leave the queue at its first success, whatever on_exit_remove says"
    way = "add on_exit_remove = false" if not found else f"write {found} = false"
    return f"the job leaves the queue after its first run; to repeat it, {way}"


HOLD: Final = "hold"


# HTCondor: SubmitHash::SetJobStatus.
def is_on_hold(values: Mapping[str, str]) -> bool:
    """Return whether a job, by its lower-case submit commands, is submitted on hold."""
    return values.get(HOLD, "").strip().lower() in {"true", "1"}


ON_HOLD: Final = "the job is submitted on hold (HoldReasonCode 15): it runs at none of its times until it is released"
RELEASED: Final = "release it by condor_release; or remove hold, or the line suspended = true, and compile again"

_Number = int | ExpressionText
UNDEFINED = ExpressionText("undefined")

Read = Callable[[str], object]


# HTCondor: SubmitHash::SetJobDeferral, SubmitHash::NeedsJobDeferral.
class InvalidSchedule(CrondorError, ValueError):
    """Scheduling commands that condor_submit refuses, or a schedule that the dialect rejects; all faults at once.

    ``invalid_spec`` is the fault of the cron fields, if they have one.
    """

    def __init__(self, diagnostics: list[Diagnostic], invalid_spec: InvalidSpec | None = None) -> None:
        super().__init__(diagnostics)
        self.invalid_spec = invalid_spec


class Terms(NamedTuple):
    """The values of a job's scheduling commands; ``complete`` as in JobSchedule."""

    spec: CronSpec | None
    time: _Number | None
    window: _Number
    prep_time: _Number
    universe: Universe
    complete: bool
    schedd_interval: int | None  # the job's own; condor_submit does not set it
    notes: tuple[Diagnostic, ...]


def read_commands(
    commands: Mapping[str, str], spans: Mapping[str, Span], dialect: Dialect, evaluate: Read | None = None
) -> Terms:
    """Read the commands of a job (lower-case names, ``+Attr`` as ``my.attr``).

    ``evaluate`` gives the value of an expression in a Cron attribute. Raises InvalidSchedule.
    """
    return _Reading(commands, spans, dialect, evaluate).terms()


def cron_value(value: object, dialect: Dialect, evaluate: Read | None) -> object:
    """Return the value of a Cron attribute: a string, an integer, None if missing, or something that is neither.

    Raises CrondorError for an expression that cannot be read, or without ``evaluate``.
    """
    if isinstance(value, ExpressionText) and value != UNDEFINED:
        if evaluate is None:
            message = f"{value.text} is an expression, and there is nothing to evaluate it with"
            raise CrondorError(Diagnostic("not-evaluated", message, help="pass evaluate and now"))
        found = evaluate(value.text)
        value = UNDEFINED if found is None else found
    # For the schedd even an undefined attribute makes a crontab job.
    return None if value == UNDEFINED and dialect is not Dialect.HTCONDOR else value


def _effective(commands: Mapping[str, str]) -> dict[str, str]:
    """Drop empty commands (undefined attributes) and their other spellings, which condor_submit then never looks up."""
    lengths = (WINDOW_COMMANDS[:2], WINDOW_COMMANDS[2:], PREP_COMMANDS[:2], PREP_COMMANDS[2:])
    spellings = (*CRON_COMMANDS, TIME_COMMANDS, *lengths)
    shadowed = {camel for snake, camel in spellings if not commands.get(snake, "x").strip()}
    found = {}
    for name, value in commands.items():
        if value.strip() and name not in shadowed:
            found[name] = value
        elif name.startswith("my."):
            found[name] = "undefined"
    return found


class _Reading:
    """One pass over the commands of a job; faults are collected before one error is raised."""

    def __init__(
        self, commands: Mapping[str, str], spans: Mapping[str, Span], dialect: Dialect, evaluate: Read | None
    ) -> None:
        self.commands = _effective(commands)
        self.spans = spans
        self.dialect = dialect
        self.evaluate = evaluate
        self.faults: list[Diagnostic] = []
        self.notes: list[Diagnostic] = []
        self.invalid_spec: InvalidSpec | None = None

    def terms(self) -> Terms:
        universe = self._universe()
        time_by = self._first((*TIME_COMMANDS, "my.deferraltime"))
        cron_by = self._first(_CRON)
        # Any of these makes condor_submit set window and prep time; an attribute written with + does not.
        trigger = cron_by or self._first(TIME_COMMANDS)
        time = self._number("deferral_time", TIME_COMMANDS, "my.deferraltime")
        window = self._number("deferral_window", WINDOW_COMMANDS if trigger else (), "my.deferralwindow")
        prep_time = self._number("deferral_prep_time", PREP_COMMANDS if trigger else (), "my.deferralpreptime")
        complete = trigger is not None or (window is not None and prep_time is not None)
        interval = self._number("ScheddInterval", (), "my.scheddinterval")
        spec = self._spec()
        by_command = self._first(TIME_COMMANDS)
        if universe is Universe.SCHEDULER and by_command:
            self._refuse_scheduler(by_command, cron_by)
        self._look_for_surprises(universe, time_by, cron_by, complete=complete)
        if self.faults:
            raise InvalidSchedule(self.faults, self.invalid_spec)
        return Terms(
            spec,
            time,
            DEFAULT_WINDOW if window is None else window,
            DEFAULT_PREP_TIME if prep_time is None else prep_time,
            universe,
            complete,
            interval if isinstance(interval, int) else None,
            tuple(self.notes),
        )

    def _first(self, names: Iterable[str]) -> str | None:
        return next((name for name in names if name in self.commands), None)

    def _universe(self) -> Universe:
        name = self._first(("universe", "jobuniverse"))
        if name is None:
            return Universe.VANILLA
        text = self.commands[name].strip()
        known = UNIVERSES.get(text.lower())
        if known is None and text.isascii() and text.isdecimal() and len(text) < 4:
            known = next((universe for universe in Universe if universe == int(text)), None)
        if known is None:
            help_text = f"write one of {', '.join(sorted(UNIVERSES))}"
            self._fault("submit-universe", name, f"I don't know about the '{text[:40]}' universe.", help_text)
        return known or Universe.VANILLA

    def _number(self, reported: str, names: tuple[str, ...], attribute: str) -> _Number | None:
        """Read a time or length; condor_submit's error names ``reported`` whatever was written."""
        name = attribute if attribute in self.commands else self._first(names)
        if name is None:
            return None
        text = self.commands[name].strip()
        literal = read_literal(text)
        if literal.value is None and name != attribute:
            message = f"{reported} = {text} is invalid, must eval to a non-negative integer."
            plain = "write a number of seconds, 0 or more, or an expression"
            self._fault("submit-number", name, message, plain if inline_comment(text) is None else CURE)
            return None
        if literal.value is None:  # an attribute may have any type; it is evaluated later
            return ExpressionText(text)
        if literal.overflowed:
            message = f"{text} is larger than 2^63-1, and HTCondor reads it as 0"
            self._note("submit-overflow", name, message, "write a number of seconds")
        return literal.value

    def _spec(self) -> CronSpec | None:
        """Read the cron fields: of each the attribute, else the command, else the attribute's name as command."""
        values: dict[str, object] = {}
        places: dict[str, Span] = {}
        for field, names in zip(FIELDS, CRON_COMMANDS, strict=True):
            name = self._first((f"my.{field.attribute.lower()}", *names))
            if name is None:
                continue
            value: object = self.commands[name]
            if name.startswith("my."):
                try:
                    value = cron_value(self._attribute(name), self.dialect, self.evaluate)
                except CrondorError as error:
                    self._faults_of(error, name)
                    continue
            if value is None:
                continue
            values[field.attribute] = value
            if name in self.spans:
                places[field.name] = self.spans[name]
        if not values:
            return None
        try:
            return CronSpec.from_mapping(values, dialect=self.dialect)
        except InvalidSpec as error:
            self.invalid_spec = error
            for fault in error.diagnostics:
                onto = places.get(fault.span.source.name) if fault.span else None
                self.faults.append(fault.relocated(onto) if onto else fault)
            return None

    def _attribute(self, name: str) -> object:
        """Return the Python value of an attribute's literal, nan for one that is neither string nor integer."""
        text = self.commands[name]
        string = read_string(text)
        if string is not None:
            return string
        if text.strip().lower() == UNDEFINED.text:
            return UNDEFINED
        literal = read_literal(text).value
        return float("nan") if literal is None else literal  # neither string nor integer

    def _refuse_scheduler(self, time_by: str, cron_by: str | None) -> None:
        names = {name: field.attribute for field, pair in zip(FIELDS, CRON_COMMANDS, strict=True) for name in pair}
        attribute = names.get(cron_by or "", "DeferralTime")
        message = f"{attribute} does not work for scheduler universe jobs."
        help_text = "Consider submitting this job using the local universe, instead"
        self._fault("submit-scheduler", cron_by or time_by, message, help_text)

    def _look_for_surprises(
        self, universe: Universe, time_by: str | None, cron_by: str | None, *, complete: bool
    ) -> None:
        bypass = self._first(_OWN[:6])
        deferred = time_by or cron_by or bypass
        if cron_by and time_by:
            message = "the schedd overwrites deferral_time when it computes the first time of the cron fields"
            self._note("cron-and-time", time_by, message, "remove deferral_time, or the cron commands")
        if bypass and not complete:
            message = (
                "condor_submit does not see the attribute: the first job of a cluster has no DeferralWindow and "
                "DeferralPrepTime, and never matches"
            )
            help_text = "use the submit command without + or MY.; condor_submit sets both for the jobs after the first"
            self._note("bypass", bypass, message, help_text, Severity.ERROR)
        if not deferred:
            lone = self._first((*WINDOW_COMMANDS, *PREP_COMMANDS))
            if lone:
                message = f"{lone} has no effect without a cron field or deferral_time"
                self._note("window-alone", lone, message, "define cron_minute or deferral_time as well")
        elif universe is Universe.SCHEDULER and time_by and not cron_by:
            message = (
                "condor_submit accepts the attribute only for the first job of a cluster, and nothing waits for it"
            )
            self._note("universe-scheduler", time_by, message, "write universe = local", Severity.ERROR)
        elif universe is Universe.SCHEDULER:
            message = "a scheduler universe job is accepted with cron fields, and never runs"
            help_text = "write universe = local; for a DAG, crondor compile --dag writes such a job"
            self._note("universe-scheduler", "universe", message, help_text, Severity.ERROR)
        elif universe is Universe.GRID:
            message = "a grid universe job carries the times, and nothing waits for them"
            self._note("universe-grid", "universe", message, "let the remote job be deferred")

    def _faults_of(self, error: CrondorError, name: str) -> None:
        """Return the faults of a value at the place where it is written."""
        span = self.spans.get(name)
        self.faults += error.diagnostics if span is None else [d.relocated(span) for d in error.diagnostics]

    def _fault(self, code: str, name: str, message: str, help_text: str) -> None:
        self.faults.append(Diagnostic(code, message, span=self.spans.get(name), help=help_text))

    def _note(self, code: str, name: str, message: str, help_text: str, severity: Severity = Severity.WARNING) -> None:
        self.notes.append(Diagnostic(code, message, severity, self.spans.get(name), help_text))
