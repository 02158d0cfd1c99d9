"""CronSpec: five fields, three dialects, as an immutable value of bit sets and star flags."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NoReturn

from crondor._spec import (
    DAY_OF_MONTH,
    DAY_OF_WEEK,
    FIELDS,
    FULL,
    HOUR,
    MINUTE,
    MONTH,
    NICKNAMES,
    Dialect,
    Field,
    ScheddField,
    field_faults,
    field_text,
    illegal_characters,
    read_field,
    read_schedd_field,
    values,
    zero_step,
)
from crondor._types import expect
from crondor.codes import INVALID_CRON_SETTINGS
from crondor.diagnostics import CrondorError, Diagnostic, Source, Span

__all__ = [
    "DAY_OF_MONTH",
    "DAY_OF_WEEK",
    "FIELDS",
    "HOUR",
    "MINUTE",
    "MONTH",
    "CronSpec",
    "Dialect",
    "Field",
    "InvalidSpec",
]

_HOLD_PREFIX = "Invalid cron schedule parameters: "
_LARGE = 10**18  # a number of any size is equally wrong
_STARRED = tuple((bits, True) for bits in FULL)


class InvalidSpec(CrondorError, ValueError):
    """A schedule that the dialect rejects, with every fault of every field.

    In the HTCONDOR dialect ``stage`` is the step of the schedd that fails (``validate``: an illegal character;
    ``init``: an empty field), ``error`` the text of its engine and ``hold_reason`` the job's HoldReason (code 25);
    otherwise all three are None.
    """

    def __init__(self, diagnostics: list[Diagnostic], *, stage: str | None = None, error: str | None = None) -> None:
        """Keep the faults, and the schedd's own text if there is one."""
        super().__init__(diagnostics)
        self.stage = stage
        self.error = error
        self.hold_reason = None if error is None else _HOLD_PREFIX + error


class CronSpec:
    """When a job is scheduled: minute, hour, day of month, month and day of week, read in one dialect.

    A field is text as in a submit file, or None if it is not defined (every value). Two specs are equal when dialect,
    values and star flags are equal, however they were written: ``*/20`` and ``*/20,40`` are, ``*`` and ``0-23`` are
    not, since they differ at clock changes and in the rule of the two day fields.

    Raises InvalidSpec with all faults of all fields; no invalid spec exists.
    """

    __slots__ = ("_bits", "_dialect", "_given", "_stars")

    _bits: tuple[int, int, int, int, int]
    _stars: tuple[bool, bool, bool, bool, bool]
    _dialect: Dialect
    _given: tuple[str | None, str | None, str | None, str | None, str | None]

    def __init__(
        self,
        *,
        minute: str | None = None,
        hour: str | None = None,
        day_of_month: str | None = None,
        month: str | None = None,
        day_of_week: str | None = None,
        dialect: Dialect = Dialect.MANUAL,
    ) -> None:
        """Read the fields; at least one must be defined."""
        given = (minute, hour, day_of_month, month, day_of_week)
        dialect = Dialect(dialect)
        _check_types(given)
        reader = _read_schedd if dialect is Dialect.HTCONDOR else _read
        bits, stars = reader(given, dialect, None)
        _set_value(self, given, bits, stars, dialect)

    @classmethod
    def from_line(cls, line: str, *, dialect: Dialect = Dialect.MANUAL, name: str = "<crontab>") -> CronSpec:
        """Read the five fields of a crontab line, ``minute hour day-of-month month day-of-week``.

        In the UNIX dialect a nickname (``@daily``) may stand for the line. ``name`` names the text in errors.
        Raises InvalidSpec.
        """
        dialect = Dialect(dialect)
        reader = _read_schedd if dialect is Dialect.HTCONDOR else _read
        expect("line", line, str, "text with five fields", "write '*/5 * * * *'")
        words = line.split()
        if len(words) == len(FIELDS):
            minute, hour, day_of_month, month, day_of_week = words
            texts: _Texts = (minute, hour, day_of_month, month, day_of_week)
            spans = None
        else:
            texts, spans = _split_line(line, dialect, name)
        try:
            bits, stars = reader(texts, dialect, spans)
        except InvalidSpec:
            # Places in the line are only computed for an error.
            texts, spans = _split_line(line, dialect, name)
            bits, stars = reader(texts, dialect, spans)
        self = cls.__new__(cls)
        _set_value(self, texts, bits, stars, dialect)
        return self

    @classmethod
    def from_mapping(cls, ad: Mapping[str, object], *, dialect: Dialect = Dialect.MANUAL) -> CronSpec:
        """Read CronMinute, CronHour, CronDayOfMonth, CronMonth and CronDayOfWeek of a job ad (names in any case).

        Other names are skipped; None counts as absent. In the HTCONDOR dialect a value that is not a string counts as
        ``*``, as for the schedd; in the others an integer is that single value and anything else is a fault. Raises
        InvalidSpec.
        """
        dialect = Dialect(dialect)
        expect("ad", ad, Mapping, "a mapping of job attributes", "for text CronSpec.from_line(...)")
        attributes = {key.lower(): value for key, value in ad.items()}
        given = {f.name: attributes.get(f.attribute.lower()) for f in FIELDS}
        faults = []
        texts: dict[str, str | None] = {}
        for field in FIELDS:
            value = given[field.name]
            if value is None or isinstance(value, str):
                texts[field.name] = value
            elif dialect is Dialect.HTCONDOR:
                texts[field.name] = "*"
            elif isinstance(value, int) and not isinstance(value, bool):
                texts[field.name] = str(max(-_LARGE, min(value, _LARGE)))
            else:
                faults.append(_wrong_type(value, field))
                texts[field.name] = "*"
        try:
            spec = cls(**texts, dialect=dialect)
        except InvalidSpec as error:
            if not faults:
                raise
            faults += error.diagnostics
        if faults:
            raise InvalidSpec(faults)
        return spec

    @property
    def dialect(self) -> Dialect:
        """How the fields were read."""
        return self._dialect

    @property
    def given(self) -> tuple[str | None, str | None, str | None, str | None, str | None]:
        """The five texts as they were written; not compared."""
        return self._given

    @property
    def bits(self) -> tuple[int, int, int, int, int]:
        """The values of each field as a bit set (bit n for value n; Sunday is bit 0)."""
        return self._bits

    @property
    def stars(self) -> tuple[bool, bool, bool, bool, bool]:
        """The star flag of each field: it restricts nothing, or follows real time (see docs/dialects.md)."""
        return self._stars

    def values(self, field: Field) -> tuple[int, ...]:
        """Return the values of one field in ascending order."""
        return values(self._bits[field.index])

    @property
    def canonical(self) -> tuple[str, str, str, str, str]:
        """The shortest text of each field with the same meaning in the same dialect."""
        texts = (field_text(self._bits[f.index], f, self._dialect, star=self._stars[f.index]) for f in FIELDS)
        minute, hour, day_of_month, month, day_of_week = texts
        return minute, hour, day_of_month, month, day_of_week

    def __str__(self) -> str:
        """Return the canonical crontab line."""
        return " ".join(self.canonical)

    def __repr__(self) -> str:
        """Return code that builds an equal spec."""
        return f"CronSpec.from_line({str(self)!r}, dialect={self._dialect!s})"

    def __eq__(self, other: object) -> bool:
        """Compare dialect, values and star flags."""
        if not isinstance(other, CronSpec):
            return NotImplemented
        return (self._bits, self._stars, self._dialect) == (other._bits, other._stars, other._dialect)

    def __hash__(self) -> int:
        return hash((self._bits, self._stars, self._dialect))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Raise: a spec is immutable."""
        message = f"CronSpec is immutable: {name}"
        raise AttributeError(message)

    def __delattr__(self, name: str) -> NoReturn:
        """Raise: a spec is immutable."""
        self.__setattr__(name, None)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle and copy by the five texts."""
        return _rebuild, (self._given, self._dialect)


_Texts = tuple[str | None, str | None, str | None, str | None, str | None]
_Bits = tuple[int, int, int, int, int]
_Stars = tuple[bool, bool, bool, bool, bool]
_Spans = tuple[Span, Span, Span, Span, Span]
_set = object.__setattr__


def _check_types(given: tuple[object, ...]) -> None:
    for field, text in zip(FIELDS, given, strict=True):
        expect(field.name, text, (str, type(None)), "text as in a submit file, or None")


def _set_value(spec: CronSpec, given: _Texts, bits: _Bits, stars: _Stars, dialect: Dialect) -> None:
    _set(spec, "_given", given)
    _set(spec, "_bits", bits)
    _set(spec, "_stars", stars)
    _set(spec, "_dialect", dialect)


def _wrong_type(value: object, field: Field) -> Diagnostic:
    kind = "a boolean" if isinstance(value, bool) else "a number" if isinstance(value, float) else "no literal"
    message = f"{field.attribute} is {kind}, not a string"
    help_text = f'write {field.attribute} = "..." with the values in quotes'
    return Diagnostic("cron-type", message, span=_span(str(value), field, None), help=help_text)


def _rebuild(given: _Texts, dialect: Dialect) -> CronSpec:
    minute, hour, day_of_month, month, day_of_week = given
    return CronSpec(
        minute=minute, hour=hour, day_of_month=day_of_month, month=month, day_of_week=day_of_week, dialect=dialect
    )


def _read(texts: _Texts, dialect: Dialect, spans: _Spans | None) -> tuple[_Bits, _Stars]:
    """Read the fields in MANUAL or UNIX: first quickly, then again for the faults if there are any."""
    read: list[tuple[int, bool]] = []
    for field, text in zip(FIELDS, texts, strict=True):
        value = _STARRED[field.index] if text is None or text == "*" else read_field(text, field, dialect)
        if value is None:
            raise InvalidSpec(_faults(texts, dialect, spans))
        read.append(value)
    if texts == _NOTHING:
        raise InvalidSpec([_nothing_defined()])
    (a, p), (b, q), (c, r), (d, s), (e, t) = read
    return (a, b, c, d, e), (p, q, r, s, t)


def _faults(texts: _Texts, dialect: Dialect, spans: _Spans | None) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for field, text in zip(FIELDS, texts, strict=True):
        if text is not None and read_field(text, field, dialect) is None:
            found += field_faults(text, _span(text, field, spans), field, dialect)
    return found


def _read_schedd(texts: _Texts, dialect: Dialect, spans: _Spans | None) -> tuple[_Bits, _Stars]:  # noqa: ARG001
    """Read fields like the schedd, which checks all characters first. HTCondor: CronTab::validate, CronTab::init."""
    if texts == _NOTHING:
        raise InvalidSpec([_nothing_defined()])
    (a, b, c, d, e) = read = [
        read_schedd_field("*" if text is None else text, field) for field, text in zip(FIELDS, texts, strict=True)
    ]
    if any(field.fault for field in read):
        raise _schedd_refusal(texts, read, spans)
    return (a.bits, b.bits, c.bits, d.bits, e.bits), (a.star, b.star, c.star, d.star, e.star)


def _schedd_refusal(texts: _Texts, read: list[ScheddField], spans: _Spans | None) -> InvalidSpec:
    stage = "validate" if any(r.fault == "character" for r in read) else "init"
    error = "".join(r.error for r in read if stage == "init" or r.fault == "character")
    found: list[Diagnostic] = []
    for field, text, result in zip(FIELDS, texts, read, strict=True):
        if text is None or result.fault is None:
            continue
        span = _span(text, field, spans)
        found += _schedd_faults(text, span, field, result.fault)
    return InvalidSpec(found, stage=stage, error=error)


def _schedd_faults(text: str, span: Span, field: Field, fault: str) -> list[Diagnostic]:
    consequence = f"the schedd holds the job (code {INVALID_CRON_SETTINGS})"
    if fault == "character":
        faults = field_faults(text, span, field, Dialect.MANUAL)
        return [
            Diagnostic(
                "schedd-character",
                f"{field.attribute} allows only digits , - . / * and blanks: {consequence}",
                span=span.part(start, end),
                help=next((f.help for f in faults if f.span and _overlaps(f.span, span, start, end)), faults[0].help),
            )
            for start, end in illegal_characters(text)[:10]
        ]
    if fault == "step":
        message = f"a step of 0 in {field.attribute}: {consequence} without a message"
        place = span.part(*zero_step(text))
        return [Diagnostic("schedd-step", message, span=place, help="write a step of 1 or more")]
    message = f"no value of {field.attribute} remains: {consequence}"
    limits = f"{field.low} to {field.high}"
    help_text = f"the schedd keeps only multiples of a step and drops reversed ranges; list values from {limits}"
    return [Diagnostic("schedd-empty", message, span=span, help=help_text)]


def _overlaps(one: Span, whole: Span, start: int, end: int) -> bool:
    return one.start < whole.start + end and whole.start + start < one.end


_NOTHING: _Texts = (None, None, None, None, None)


def _nothing_defined() -> Diagnostic:
    names = ", ".join(f.command for f in FIELDS)
    return Diagnostic("cron-none", "no cron field is defined, so there is no schedule", help=f"define one of {names}")


def _span(text: str, field: Field, spans: _Spans | None) -> Span:
    return Source(text, field.name).span() if spans is None else spans[field.index]


def _split_line(line: str, dialect: Dialect, name: str) -> tuple[_Texts, _Spans]:
    """Split a crontab line into its five fields and their places."""
    source = Source(line, name)
    words = [source.span(m.start(), m.end()) for m in re.finditer(r"\S+", line)]
    if words and words[0].text.startswith("@") and len(words) == 1:
        expanded = NICKNAMES.get(words[0].text.lower())
        if expanded is not None and dialect is Dialect.UNIX:
            a, b, c, d, e = expanded.split()
            return (a, b, c, d, e), (words[0],) * 5
        raise InvalidSpec([_nickname(words[0], expanded, dialect)])
    if len(words) != len(FIELDS):
        raise InvalidSpec([_wrong_count(source, words)])
    v, w, x, y, z = words
    return (v.text, w.text, x.text, y.text, z.text), (v, w, x, y, z)


def _nickname(word: Span, expanded: str | None, dialect: Dialect) -> Diagnostic:
    if expanded is None:
        known = ", ".join(NICKNAMES)
        return Diagnostic(
            "cron-nickname", f"{word.text[:40]} is not a schedule", span=word, help=f"write one of {known}"
        )
    message = f"the {dialect.value} dialect has no nicknames such as {word.text}"
    return Diagnostic("cron-nickname", message, span=word, help=f"write {expanded}", fix=expanded)


def _wrong_count(source: Source, words: list[Span]) -> Diagnostic:
    names = "minute hour day-of-month month day-of-week"
    count = len(words)
    if count > len(FIELDS):
        span = source.span(words[5].start, words[-1].end)
        help_text = "remove seconds, years and the command" if count <= 7 else "remove the command"
    else:
        span = source.span()
        help_text = "write `*` for a field that takes every value"
    plural = "" if count == 1 else "s"
    message = f"a crontab line has five fields ({names}), this has {count or 'no'} word{plural}"
    return Diagnostic("cron-fields", message, span=span, help=help_text)
