"""Why a field's text is not valid in MANUAL or UNIX: every fault with its place and what to write instead."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice

from crondor._spec.fields import (
    _NAMED,
    BLANK_BETWEEN,
    DAY_OF_MONTH,
    DAY_OF_WEEK,
    HOUR,
    MINUTE,
    MONTH,
    NICKNAMES,
    Dialect,
    Field,
    number,
    read_field,
)
from crondor._spec.inline_comment import CURE, MESSAGE, inline_comment
from crondor.calendar import MONTHS, WEEKDAYS
from crondor.diagnostics import Diagnostic, shortened
from crondor.source import Span

MOST_FAULTS = 10  # of one field; a hostile text gets no longer list

_END_NOTES = {
    (MINUTE.index, 60): "a full hour is minute 0",
    (HOUR.index, 24): "midnight is hour 0",
    (DAY_OF_MONTH.index, 0): "the first day of a month is 1",
    (MONTH.index, 0): "January is 1, December is 12",
    (DAY_OF_WEEK.index, 8): "Saturday is 6",
}
_CHOSEN = "write a value yourself, or let crondor compile --name NAME choose one by the job's name"
_LETTERS = re.compile(r"[A-Za-z]+")
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\uff0d"


def field_faults(text: str, span: Span, field: Field, dialect: Dialect) -> list[Diagnostic]:
    """Return the faults of a field that ``read_field`` refused, at most ``MOST_FAULTS`` and a line that says so."""
    whole = _whole_field(text, span, field)
    if whole is not None:
        return [whole]
    found: list[Diagnostic] = []
    at = 0
    for part in text.split(","):
        item = part.strip(" ")
        start = at + len(part) - len(part.lstrip(" ")) if item else at
        place = span.part(start, start + len(item)) if item else _empty_place(span, text, at, len(part))
        at += len(part) + 1
        if item and read_field(item, field, dialect) is not None:
            continue
        found.extend(islice(_item_faults(item, place, field, dialect), MOST_FAULTS + 1 - len(found)))
        if len(found) > MOST_FAULTS:
            more = f"and more faults in {field.title}; these are the first"
            return [*found[:MOST_FAULTS], Diagnostic("cron-more", more, span=found[-1].span)]
    return found or [_fault("syntax", f"{field.title} cannot be read", span, _grammar(field))]


def _fault(code: str, message: str, span: Span, help_text: str, fix: str | None = None) -> Diagnostic:
    return Diagnostic(f"cron-{code}", message, span=span, help=help_text, fix=fix)


def _short(text: str) -> str:
    return shortened(text, 24)


def _grammar(field: Field) -> str:
    return f"write numbers from {_limits(field)}, ranges such as {_example(field)}, `*`, steps such as `*/2`"


def _limits(field: Field) -> str:
    return f"{field.low} to {field.high}" + (" (Sunday is 0 or 7)" if field.index == DAY_OF_WEEK.index else "")


def _example(field: Field) -> str:
    return f"`{field.low}-{field.low + 4}`"


def _empty_place(span: Span, text: str, at: int, length: int) -> Span:
    """Return something to underline for an empty item: its blanks, or the comma before or after it."""
    if length:
        return span.part(at, at + length)
    return span.part(at, at + 1) if at < len(text) else span.part(at - 1, at)


def _whole_field(text: str, span: Span, field: Field) -> Diagnostic | None:
    """Return the one fault that makes looking at items pointless, if there is one."""
    stripped = text.strip(" ")
    if not stripped:
        return _fault(
            "empty",
            f"{field.title} is empty",
            span,
            f"leave {field.command} out, or write `*` for every {field.title}",
            "*",
        )
    comment = inline_comment(text)
    if comment is not None:
        return _fault("comment", MESSAGE, span.part(comment, len(text)), CURE)
    if stripped.startswith("@"):
        return _nickname(stripped, span, field)
    if stripped[0] in "\"'":
        bare = stripped.strip("\"'")
        return _fault(
            "quoted",
            "quotes stay inside the value of a submit command",
            span,
            f"write {_short(bare)} without quotes",
            bare,
        )
    if "$(" in stripped:
        return _fault(
            "macro", f"{_short(stripped)} contains a macro that was not expanded", span, "write the value itself"
        )
    return None


def _nickname(word: str, span: Span, field: Field) -> Diagnostic:
    """Say what a word such as @daily stands for."""
    line = NICKNAMES.get(word.lower())
    if line is None:
        return _fault("nickname", f"{_short(word)} looks like a crontab nickname, not a field", span, _grammar(field))
    commands = [
        f"{c} = {v}"
        for c, v in zip(("cron_minute", "cron_hour", "cron_day_of_month", "cron_month"), line.split(), strict=False)
        if v != "*"
    ] + (["cron_day_of_week = 0"] if line.endswith("0") else [])
    return _fault("nickname", f"{word} stands for a whole crontab line ({line})", span, f"write {', '.join(commands)}")


def _item_faults(item: str, span: Span, field: Field, dialect: Dialect) -> Iterator[Diagnostic]:
    if not item:
        yield _fault("empty-item", f"{field.title} has an empty list item", span, "remove the extra comma")
        return
    bad = list(islice(_bad_characters(item, span, field, dialect), MOST_FAULTS + 1))
    if bad:
        yield from bad
        return
    slash = item.find("/")
    body = _trimmed(span.part(0, slash if slash >= 0 else None))
    yield from _body_faults(body, field, dialect, has_step=slash >= 0)
    if slash >= 0:
        yield from _step_faults(body.text, _trimmed(span.part(slash + 1)), span, field, dialect)


def _bad_characters(item: str, span: Span, field: Field, dialect: Dialect) -> Iterator[Diagnostic]:
    between = re.search(BLANK_BETWEEN, item)
    if between:
        piece = span.part(*between.span())
        fix = f"{between[1]},{between[2]}"
        message = f"a blank stands inside {field.title} (the schedd would read {between[1]}{between[2]})"
        yield _fault("blank", message, piece, f"write {fix}", fix)
        return
    for word in _LETTERS.finditer(item):
        known = _known_word(word[0], field, dialect)
        if known is None:
            continue
        yield _fault(*known[:2], span.part(*word.span()), *known[2:])
        if known[0] != "name":
            return
    for at, character in enumerate(_LETTERS.sub(lambda word: "0" * len(word[0]), item)):
        if character not in "0123456789-*/ ":
            yield _odd_character(character, span.part(at, at + 1), field)
            return


def _known_word(word: str, field: Field, dialect: Dialect) -> tuple[str, str, str, str] | tuple[str, str, str] | None:
    """Return code, message, help (and fix) for letters in a field; None where they are valid."""
    upper = word.upper()
    months, days = _NAMED
    value = {MONTH.index: months, DAY_OF_WEEK.index: days}.get(field.index, {}).get(upper[:3])
    if value is not None and (len(upper) == 3 or _is_long_name(upper)):
        if dialect is Dialect.UNIX and len(upper) == 3:
            return None
        why = "three letters are allowed" if dialect is Dialect.UNIX else "HTCondor reads numbers only"
        return "name", f"{word} is a name, and {why}", f"write {value} for {word}", str(value)
    if upper in {"L", "W", "LW"}:
        days_help = "crondor compile writes fields and a clause for it: crondor compile '0 6 L * *'"
        help_text = days_help if field.index == DAY_OF_MONTH.index else _grammar(field)
        return "unsupported", f"`{word}` (last or nearest day) belongs to other schedulers", help_text
    if upper in {"H", "R"}:
        return "unsupported", f"`{word}` (a value chosen for you) belongs to other schedulers", _CHOSEN
    where = [f.title for f, names in ((MONTH, months), (DAY_OF_WEEK, days)) if upper[:3] in names]
    if where and where[0] != field.title:
        return "name", f"{word} is a {where[0]}, and this is {field.title}", f"put it in {where[0]}, as a number"
    return "character", f"`{_short(word)}` is not a number", _grammar(field)


def _is_long_name(upper: str) -> bool:
    return upper.capitalize() in {*MONTHS[1:], *WEEKDAYS, "Sept", "Tues", "Thur", "Thurs"}


_ODD = {
    "?": ("unsupported", "`?` belongs to other schedulers", "write `*`, or leave it out", "*"),
    "#": (
        "unsupported",
        "`#` (the nth weekday) belongs to other schedulers",
        "crondor compile writes fields and a clause for it: crondor compile '0 6 * * 5#2'",
        None,
    ),
    ";": ("character", "`;` does not separate values", "write ,", ","),
    "~": ("unsupported", "`~` (a random value) belongs to other schedulers", _CHOSEN, None),
} | {dash: ("character", f"`{dash}` is a dash, not the hyphen of a range", "write -", "-") for dash in _DASHES}


def _odd_character(character: str, span: Span, field: Field) -> Diagnostic:
    digit = unicodedata.digit(character, None)
    if digit is not None:
        text = str(digit)
        return _fault("digit", f"`{character}` is not an ASCII digit", span, f"write {text}", text)
    if character == ".":
        return _fault("character", f"{field.title} takes whole numbers", span, "write a whole number")
    code, message, help_text, fix = _ODD.get(
        character, ("character", f"`{character}` is not allowed in {field.title}", _grammar(field), None)
    )
    return _fault(code, message, span, help_text, fix)


def _trimmed(span: Span) -> Span:
    """Return a span without the blanks at its ends."""
    text = span.text
    return span.part(len(text) - len(text.lstrip(" ")), len(text.rstrip(" "))) if text.strip(" ") else span


def _body_faults(span: Span, field: Field, dialect: Dialect, *, has_step: bool) -> Iterator[Diagnostic]:
    body = span.text
    if body == "*":
        return
    dash = body.find("-")
    shown = f"`{_short(body)}`"
    if not body.strip(" "):
        slash = span.source.span(span.end, span.end + 1)
        help_text = "write `*/` and the step, or low-high/step"
        yield _fault("syntax", "a step needs `*` or a range before the slash", slash, help_text, "*/")
    elif "*" in body:
        help_text = "write `*` alone, or `*/n` for every nth value"
        yield _fault("syntax", f"{shown} mixes `*` with something else", span, help_text)
    elif dash >= 0 and "-" in body[dash + 1 :]:
        yield _fault("syntax", f"{shown} has more than one hyphen", span, f"write one range, such as {_example(field)}")
    elif dash >= 0 and not (body[:dash].strip(" ") and body[dash + 1 :].strip(" ")):
        yield _fault("syntax", f"{shown} is half a range", span, f"write both ends, such as {_example(field)}")
    else:
        ends = [span.part(0, dash), span.part(dash + 1)] if dash >= 0 else [span]
        yield from _end_faults(span, [_trimmed(end) for end in ends], field, dialect, has_step=has_step)


def _end_faults(
    span: Span, ends: list[Span], field: Field, dialect: Dialect, *, has_step: bool
) -> Iterator[Diagnostic]:
    consequence = ""
    if dialect is Dialect.MANUAL:
        consequence = " (the schedd would cut the range)" if len(ends) > 1 else " (the schedd would take every value)"
    numbers = [_value(end.text, field, dialect) for end in ends]
    outside = [
        _outside(value, end, field, consequence)
        for value, end in zip(numbers, ends, strict=True)
        if not field.low <= value <= field.high
    ]
    yield from outside
    if not outside and numbers[0] > numbers[-1]:
        yield _reversed(numbers[0], numbers[-1], span, field, has_step=has_step)


def _value(text: str, field: Field, dialect: Dialect) -> int:
    value = number(text)
    if value is None and dialect is Dialect.UNIX:
        value = _NAMED[field.index == DAY_OF_WEEK.index].get(text.upper())
    return -1 if value is None else value


def _outside(value: int, span: Span, field: Field, consequence: str) -> Diagnostic:
    note = _END_NOTES.get((field.index, value))
    help_text = f"write {_limits(field)}" + (f"; {note}" if note else "")
    return _fault("range", f"{field.title} {_short(span.text)} is out of range{consequence}", span, help_text)


def _reversed(low: int, high: int, span: Span, field: Field, *, has_step: bool) -> Diagnostic:
    message = f"the range {_short(span.text)} runs backwards: a range does not wrap around"
    if has_step:
        return _fault("reversed", message, span, "swap the ends, or list the values")
    if field.index == DAY_OF_WEEK.index:
        fix = f"{low}-7" + (f",1-{high}" if high > 1 else ",1" if high else "")
        fix = fix.replace("7-7", "0")
    else:
        upper = f"{low}-{field.high}" if low < field.high else str(low)
        lower = f"{field.low}-{high}" if high > field.low else str(high)
        fix = f"{upper},{lower}"
    return _fault("reversed", message, span, f"write {fix} to go around, or swap the ends", fix)


def _step_faults(body: str, step: Span, item: Span, field: Field, dialect: Dialect) -> Iterator[Diagnostic]:
    text = step.text.strip(" ")
    value = number(text)
    if not text:
        slash = step.source.span(step.start - 1, step.start)
        yield _fault("syntax", "the step after the slash is missing", slash, "write a number from 1 up after `/`")
    elif value is None:
        yield _fault("syntax", f"`{_short(text)}` is not a step", step, "write one number from 1 up after `/`")
    elif value == 0:
        yield _fault("step-zero", "a step of 0 never advances", step, "write a step from 1 up, or no step")
    elif dialect is not Dialect.UNIX and (start := number(body)) is not None and field.low <= start <= field.high:
        fix = f"{start}-{field.high}/{text}"
        message = f"a step follows a single value (the schedd reads {body}/{text} as {body} or as nothing)"
        yield _fault("single-step", message, item, f"write {fix}", fix)
