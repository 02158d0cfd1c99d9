"""The submit commands and job attributes of scheduling by name, and the reading of their literal values.

HTCondor: SubmitHash::SetJobDeferral, CronTab::needsCronTab.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from typing import NamedTuple

from crondor.deferral import GATE
from crondor.diagnostics import Diagnostic, Severity, similar
from crondor.source import Span
from crondor.spec import FIELDS


class Universe(IntEnum):
    """JobUniverse, for the universes that jobs still have."""

    VANILLA = 5
    SCHEDULER = 7
    GRID = 9
    JAVA = 10
    PARALLEL = 11
    LOCAL = 12
    VM = 13

    @property
    def waits_for_passes(self) -> bool:
        """Whether a job gets its next time at the schedd's passes alone, one in SCHEDD_INTERVAL."""
        return self not in {Universe.LOCAL, Universe.GRID, Universe.SCHEDULER}


# "docker" and "container" are vanilla jobs that ask for an image.
UNIVERSES = {member.name.lower(): member for member in Universe} | {
    "docker": Universe.VANILLA,
    "container": Universe.VANILLA,
}

# Which commands give a value, the first that is set wins (docs/deferral.md): snake case before the attribute's name,
# cron_ before deferral_.
TIME_COMMANDS = ("deferral_time", "deferraltime")
WINDOW_COMMANDS = ("cron_window", "cronwindow", "deferral_window", "deferralwindow")
PREP_COMMANDS = ("cron_prep_time", "cronpreptime", "deferral_prep_time", "deferralpreptime")
CRON_COMMANDS = tuple((field.command, field.attribute.lower()) for field in FIELDS)

ATTRIBUTES = (*(f.attribute for f in FIELDS), "DeferralTime", "DeferralWindow", "DeferralPrepTime")

# Everything of a submit description that bears on the schedule.
COMMANDS: tuple[str, ...] = (
    *(name for names in CRON_COMMANDS for name in names),
    *TIME_COMMANDS,
    *WINDOW_COMMANDS,
    *PREP_COMMANDS,
    *(f"my.{attribute.lower()}" for attribute in ATTRIBUTES),
    "my.scheddinterval",
    "universe",
    "jobuniverse",
)

# Those whose values condor_submit puts into the ad as expressions; a cron_* command becomes a string.
_EVALUATED = (
    *TIME_COMMANDS,
    *WINDOW_COMMANDS,
    *PREP_COMMANDS,
    *(f"my.{attribute.lower()}" for attribute in ATTRIBUTES),
)


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

# Compiled by the re module where they are first used: most jobs have nothing but plain numbers.
_REAL = r"-?(\d*\.\d+([eE][-+]?\d+)?|\d+[eE][-+]?\d+)"
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_MAYBE_STRING = _STRING + "?"  # one without an end too, so that its rest is read only once
_NO_EXPRESSION = r"""\d+(\s*[A-Za-z_"'$#;@]|\s+\d)|\$"""
_LARGEST = 2**63 - 1


class ExpressionText(NamedTuple):
    """The text of a ClassAd expression that has to be evaluated first."""

    text: str

    def __str__(self) -> str:
        """Return the text."""
        return self.text


class LiteralTerm(NamedTuple):
    """What condor_submit makes of a value that must be a non-negative integer: a number, an expression, or neither."""

    value: int | ExpressionText | None
    overflowed: bool = False


def read_literal(text: str) -> LiteralTerm:
    """Return the value of a deferral command; None where condor_submit refuses it (docs/deferral.md).

    A literal above 2^63-1 becomes 0. Text that only looks like an expression is taken for one.
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
    """Return an attribute's value as the starter takes it for seconds (``crondor.job.attributes.integer``), or None.

    A real loses its fraction. One beyond 64 bits counts as none, as it does to a starter, which finds a time below 0;
    and so does a boolean, which a starter takes for 1 second or 0: nobody means that.
    """
    if isinstance(value, float):
        return int(value) if abs(value) < _LARGEST else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def read_string(text: str) -> str | None:
    """Return the text of a ClassAd string literal, None for anything else."""
    text = text.strip()
    return text[1:-1].replace('\\"', '"') if re.fullmatch(_STRING, text) else None


def needs_evaluation(commands: Mapping[str, str]) -> bool:
    """Say whether any scheduling command (lower-case names, ``+Attr`` as ``my.attr``) is an expression, no literal."""
    return any(
        isinstance(read_literal(commands[name]).value, ExpressionText) for name in _EVALUATED if name in commands
    )


def speaks_of_time(text: str) -> bool:
    """Say whether an expression may depend on a job's DeferralTime, beside the clause that condor_submit adds."""
    return "deferraltime" in text.replace(GATE, "").lower()


def _bare(text: str) -> str:
    """Return text without the parentheses around all of it: a literal in them is still one (25.14)."""
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
    """Return a text with something harmless in place of the characters of its strings."""
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
    """Yield a warning for each command that looks like a scheduling command and is none: it has no effect."""
    for name, span in commands:
        lowered = name.lower()
        if lowered in COMMANDS or not lowered.startswith(_BEGINNINGS):
            continue
        close = [_WORDS_FOR[lowered]] if lowered in _WORDS_FOR else _close_commands(lowered)
        if close:
            yield Diagnostic(
                "submit-misspelt",
                f"HTCondor knows no command {name}, and the schedule does without it",
                Severity.WARNING,
                span=span,
                help=f"did you mean {close[0]}?",
                fix=close[0],
            )


def _close_commands(name: str) -> list[str]:
    return similar(name, (command for command in COMMANDS if "_" in command), 0.75)
