"""Attributes as HTCondor's daemons read them, statuses, and arguments. No reading raises.

The rule is the schedd's: ``ClassAd::LookupInteger``, ``LookupFloat``, ``LookupBool`` and ``LookupString`` (HTCondor
25.14: src/classad/classad.cpp, src/classad/value.cpp), used by its ``GetAttributeInt`` and similar functions
(src/condor_schedd.V6/qmgmt.cpp), and by the shadow, the starter and the startd. The attribute is evaluated in its ad.
Every number is an integer: a real loses its fraction, true is 1. Every number is a boolean: all but zero are true. A
string is only a string. Everything else counts as missing: a string of digits, a time, a list, undefined, an invalid
expression, an endless evaluation.

Readers with other rules have their own function here, which says why and where HTCondor does it: ``int32``,
``exact_integer``, ``exact_boolean``, ``fires``; and where crondor differs on purpose: ``count``, ``finite``. The
functions that end in ``_of`` take a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from typing import Final, NamedTuple

from crondor.classad.compile import read
from crondor.classad.evaluate import value_of
from crondor.classad.expression import Expression
from crondor.classad.operators import truth as _truth
from crondor.classad.parser import UnparseForm
from crondor.classad.scope import AdValue, Attributes, Code, Context, Value, as_code
from crondor.classad.text import lower
from crondor.classad.tree import ERROR, UNDEFINED, truncate, wrap32
from crondor.diagnostics import CrondorError, Diagnostic

_CONTEXT: Final = Context()
_FAR: Final = 1 << 63
_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})").fullmatch
_STRING: Final = re.compile(r'"[ !#-\[\]-~]*"').fullmatch


def value(ad: Attributes, name: str, context: Context = _CONTEXT, target: Attributes | None = None) -> Value:
    """Return an attribute's value: UNDEFINED if the ad does not have it, ERROR if it has no value.

    A plain integer or string, the usual case, is recognized without evaluation at a tenth of the cost.
    """
    key = lower(name)
    codes = ad.codes
    code = codes.get(key)
    if code is None:
        return UNDEFINED
    if code.__class__ is str:
        if _INTEGER(code):
            return int(code)
        if _STRING(code):
            return code[1:-1]
    try:
        return value_of(as_code(read, codes, key, code), ad, target, context)
    except CrondorError:  # an invalid expression, or one without a value
        return ERROR


# Numbers as integers


def integer_of(found: object) -> int | None:
    """Return a value as LookupInteger reads it (``Value::IsNumber``, src/classad/value.cpp); None for no number.

    A real beyond 64 bits, an infinity and NaN become the least integer, as on x86-64: C++ leaves it undefined.
    """
    kind = found.__class__
    if kind is int:
        return found  # type: ignore[return-value]
    if kind is float:
        return truncate(found)  # type: ignore[arg-type]
    return int(found) if kind is bool else None  # type: ignore[call-overload]


def integer(ad: Attributes, name: str, context: Context = _CONTEXT, target: Attributes | None = None) -> int | None:
    """Return a number as an integer of 64 bits, like a ``long long`` or ``time_t`` in HTCondor."""
    return integer_of(value(ad, name, context, target))


def int32_of(found: object) -> int | None:
    """Return a value as LookupInteger stores it in an ``int``: its lower 32 bits."""
    number = integer_of(found)
    return None if number is None else wrap32(number)


def int32(ad: Attributes, name: str, context: Context = _CONTEXT, target: Attributes | None = None) -> int | None:
    """Return a number as HTCondor stores it in an ``int``: statuses, codes, counters, signals, TimerRemove.

    Only 32 bits of it remain: 4294967297 is 1 and an infinity 0 (``Value::IsNumber(int &)``, src/classad/value.cpp).
    """
    return int32_of(value(ad, name, context, target))


def count(ad: Attributes, name: str) -> int:
    """Return a counter of a job; 0 if it is missing or negative.

    HTCondor continues to count from any value. A negative number of holds, starts or ends is meaningless, and sums and
    ranges are made of it here.
    """
    found = int32(ad, name)
    return found if found is not None and found > 0 else 0


def exact_integer(ad: Attributes, name: str, context: Context = _CONTEXT) -> int | None:
    """Return an integer that is one: a real or a boolean counts as missing (``ClassAd::EvaluateAttrInt``).

    HTCondor's job router reads the statuses, codes and counters of its jobs like this
    (src/condor_job_router/JobRouter.cpp, VanillaToGrid.cpp); so must a later query of a schedd for ``Name =?= number``,
    which a real never equals.
    """
    return exact_integer_of(value(ad, name, context))


def exact_integer_of(found: object) -> int | None:
    """Return a value that is an integer; None for any other."""
    return found if found.__class__ is int else None


# Numbers as they are


def number_of(found: object) -> int | float | None:
    """Return a value as LookupFloat reads it; None if it is not a number. A real may be an infinity or NaN."""
    if isinstance(found, bool):
        return int(found)
    return found if isinstance(found, (int, float)) else None


def number(
    ad: Attributes, name: str, context: Context = _CONTEXT, target: Attributes | None = None
) -> int | float | None:
    """Return a number with its fraction; true is 1."""
    return number_of(value(ad, name, context, target))


def finite(ad: Attributes, name: str, context: Context = _CONTEXT) -> int | float | None:
    """Return a number usable for sums and dates, None beyond 64 bits or for NaN (``inf`` in HTCondor's tools)."""
    found = number(ad, name, context)
    return found if found is not None and abs(found) < _FAR else None


# Booleans


def boolean_of(found: object) -> bool | None:
    """Return a value as LookupBool reads it (``Value::IsBooleanValueEquiv``); None if it is not a number."""
    return _truth(found)  # type: ignore[arg-type]


def boolean(ad: Attributes, name: str, context: Context = _CONTEXT, target: Attributes | None = None) -> bool | None:
    """Return whether an attribute is true, or a nonzero number; None if it is neither."""
    return boolean_of(value(ad, name, context, target))


def exact_boolean(ad: Attributes, name: str) -> bool | None:
    """Return a boolean that is one: a number counts as missing (``ClassAd::EvaluateAttrBool``).

    HTCondor's job router reads HoldCopiedFromTargetJob like this (src/condor_job_router/VanillaToGrid.cpp).
    """
    found = value(ad, name)
    return found if found.__class__ is bool else None


def fires(ad: Attributes, name: str, context: Context = _CONTEXT) -> bool:
    """Return whether an expression of a job's policy fires: as an integer it is not zero.

    So 0.5 does not, though it is true elsewhere (``UserPolicy::AnalyzeSinglePeriodicPolicy``,
    src/condor_utils/user_job_policy.cpp).
    """
    return bool(integer(ad, name, context))


# How a program ended


class ExitValue(NamedTuple):
    """The exit code of a program, or the signal that ended it."""

    number: int
    by_signal: bool


def ending(ad: Attributes) -> ExitValue | None:
    """Return how a job's program ended; None if its ad does not tell.

    ExitBySignal decides between ExitSignal and ExitCode; without it the one that exists.
    """
    by_signal = boolean(ad, "ExitBySignal")
    for name, is_signal in (("ExitCode", False), ("ExitSignal", True)):
        number = int32(ad, name) if by_signal is None or by_signal is is_signal else None
        if number is not None:
            return ExitValue(number, is_signal)
    return None


# Strings


def string_of(found: object) -> str | None:
    """Return a value as LookupString reads it; None if it is not a string."""
    return found if isinstance(found, str) else None


def string(ad: Attributes, name: str, context: Context = _CONTEXT, target: Attributes | None = None) -> str | None:
    """Return a string."""
    return string_of(value(ad, name, context, target))


# Texts


def plain(text: str) -> int | None:
    """Return the integer of a plain text, as HTCondor writes one; None if it has to be evaluated.

    ``05`` is not a valid expression, and more than 18 digits may exceed 64 bits.
    """
    return int(text) if _INTEGER(text) else None


def alone(code: Code | str | None) -> Value:
    """Return the value that an expression (or its text) has in an empty ad; UNDEFINED if it has none.

    References to other attributes are undefined: this is for indexing a queue by one attribute of its jobs, when only
    its changes are known.
    """
    return UNDEFINED if code is None else value(AdValue({"": code}, {}), "")


# Expressions


def expression(ad: Attributes, name: str) -> Expression | None:
    """Return an attribute's expression; None if it is missing or invalid."""
    key = lower(name)
    code = ad.codes.get(key)
    try:
        return None if code is None else Expression.of(as_code(read, ad.codes, key, code))
    except CrondorError:
        return None


def result(code: Expression, ad: Attributes, context: Context = _CONTEXT, target: Attributes | None = None) -> Value:
    """Return the value of an expression in an ad, ERROR if it has none."""
    try:
        return code.evaluate(ad, target, context)
    except CrondorError:
        return ERROR


def printed(ad: Attributes, name: str) -> str:
    """Return an attribute's expression in old syntax, or its unchanged text if it is invalid. Raises KeyError."""
    code = expression(ad, name)
    return str(ad.codes[lower(name)]) if code is None else code.unparse(UnparseForm.OLD)


# Numbers of jobs


def job_numbers(ad: Attributes, context: Context = _CONTEXT) -> tuple[int, int] | None:
    """Return ClusterId and ProcId; None if one of them is not an integer.

    They stand for the job's key in the queue, which is digits: 5.9 or true names no job (``EvaluateAttrInt`` in
    src/condor_job_router/JobRouter.cpp).
    """
    cluster = exact_integer(ad, "ClusterId", context)
    proc = None if cluster is None else exact_integer(ad, "ProcId", context)
    return None if cluster is None or proc is None else (cluster, proc)


class JobStatus(IntEnum):
    """The job attribute JobStatus."""

    IDLE = 1
    RUNNING = 2
    REMOVED = 3
    COMPLETED = 4
    HELD = 5
    TRANSFERRING_OUTPUT = 6
    SUSPENDED = 7


ON_MACHINE: Final = frozenset((JobStatus.RUNNING, JobStatus.SUSPENDED))
"""The states in which a job's program and its shadow run."""

_DELIMITERS = "!#$%&*+,-/:;<>?@^`|~\x1f"  # that may precede an old environment
_BLANKS = " \t\r\n"
_WORD = re.compile(r"[^ \t\r\n]+")
_PIECE = re.compile(r"'((?:[^']|'')*)'|([^' \t\r\n]+)")
# Texts that condor_submit would read as the beginning of a macro or a macro function.
_MACRO = re.compile(r"(?<!\$)(\$+)(\w*)\((?=(dollar\b|[\w./]*:)?)", re.ASCII | re.IGNORECASE)
_UNWRITTEN = re.compile(r"[\n\0]|\$\$\w*\(|\$\w*\((dollar\b|[\w./]*:)|\\\Z", re.ASCII | re.IGNORECASE)


# The rules are those of the manual (condor_submit, ``arguments`` and ``environment``), new syntax and old.
class InvalidArguments(CrondorError, ValueError):
    """A value of ``arguments`` or ``environment`` that condor_submit refuses."""


def as_text(text: str) -> str:
    """Return ``text`` quoted as the value of a submit command: no macro in it is expanded.

    Raises InvalidArguments if it cannot be written: a line end, a NUL character, ``$$(``, blanks at the ends, a
    backslash at the end (which would continue the line).
    """
    if _UNWRITTEN.search(text) or text != text.strip(" \t\r\v\f"):
        raise _invalid(f"{text[:40]!r} cannot be written as the value of a submit command")
    return _MACRO.sub(r"$(DOLLAR)\2(", text)


def join_arguments(arguments: Iterable[str]) -> str:
    """Return the value of ``arguments``, in the new syntax, for exactly these arguments.

    Raises InvalidArguments for a line end or a NUL character, which cannot be written.
    """
    return '"' + " ".join(map(_quoted, arguments)) + '"'


def join_environment(variables: Mapping[str, str]) -> str:
    """Return the value of ``environment``, in the new syntax; raises InvalidArguments like ``join_arguments``."""
    return join_arguments(f"{name}={value}" for name, value in variables.items())


def split_arguments(value: str) -> list[str]:
    """Return the arguments of a value whose macros are expanded, in either syntax. Raises InvalidArguments."""
    value = value.strip(_BLANKS)
    if value.startswith('"'):
        return list(_split(_inside(value)))
    bare = value.replace('\\"', "")
    if '"' in bare:
        raise _invalid('a double quote inside the old syntax is written as \\"')
    return [word.replace('\\"', '"') for word in _WORD.findall(value)]


def split_raw_arguments(value: str) -> list[str]:
    """Return the arguments of a knob: in double quotes the new syntax, else words between blanks, unchanged.

    Quotes and backslashes in such words are ordinary characters (``ArgList::AppendArgsV1RawOrV2Quoted``,
    src/condor_utils/condor_arglist.cpp, 25.14). Raises InvalidArguments.
    """
    value = value.strip(_BLANKS)
    return list(_split(_inside(value))) if value.startswith('"') else _WORD.findall(value)


def split_environment(value: str) -> dict[str, str]:
    """Return the variables of a value whose macros are expanded, in either syntax. Raises InvalidArguments."""
    value = value.strip(_BLANKS)
    entries = _split(_inside(value)) if value.startswith('"') else old_entries(value)
    found: dict[str, str] = {}
    for entry in entries:
        name, equals, text = entry.partition("=")
        if not equals or not name:
            raise _invalid(f"{entry[:40]!r} is not of the form name=value")
        found[name] = text
    return found


def old_entries(value: str) -> list[str]:
    """Return the variables of an old-syntax environment; its separator may come first (Env::MergeFromV1AutoDelim)."""
    sign = value[:1] if value[:1] in _DELIMITERS else ""
    parts = re.split(f"[{re.escape(sign or ';')}\n]", value[len(sign) :])
    return [entry for part in parts if (entry := part.lstrip(" \t\r\n"))]


def _quoted(text: str) -> str:
    if re.search(r"[\n\0]", text):
        raise _invalid("a line end or a NUL character cannot be written in a submit file")
    if re.fullmatch(r"[\w@%+:,./=-]+", text, re.ASCII):
        return text
    return "'" + _MACRO.sub(_unexpanded, text.replace("'", "''")).replace('"', '""') + "'"


def _unexpanded(macro: re.Match[str]) -> str:
    """Return the beginning of a macro quoted so that it is none.

    ``$$(name)`` is a macro too, which the schedd expands when it starts the job; ``$(DOLLAR)`` after a dollar sign
    becomes one, before ``(DOLLAR)`` it makes another of itself, and before ``(name:`` it hides those that follow. There
    the quotes are closed before the parenthesis and opened after it.
    """
    dollars, name, again = macro.groups()
    return f"{dollars}{name}'('" if again or len(dollars) > 1 else f"$(DOLLAR){name}("


def _inside(value: str) -> str:
    """Return the text between the double quotes of the new syntax, with doubled quotes single."""
    if len(value) < 2 or not value.endswith('"') or '"' in value[1:-1].replace('""', ""):
        raise _invalid('in the new syntax double quotes surround all of the value, and one inside is written ""')
    return value[1:-1].replace('""', '"')


def _split(text: str) -> Iterator[str]:
    """Yield the texts between blanks; pieces in single quotes keep their blanks, and ``''`` in them is a quote."""
    at, size = 0, len(text)
    while True:
        while at < size and text[at] in _BLANKS:
            at += 1
        if at == size:
            return
        pieces: list[str] = []
        while at < size and text[at] not in _BLANKS:
            found = _PIECE.match(text, at)
            if found is None:
                raise _invalid("a single quote is not closed")
            pieces.append(found[2] if found[1] is None else found[1].replace("''", "'"))
            at = found.end()
        yield "".join(pieces)


def _invalid(message: str) -> InvalidArguments:
    help_text = "write \"one 'two words' 'it''s'\", for example"
    return InvalidArguments(Diagnostic("submit-quotes", message, help=help_text))
