"""Cron, extended: five fields with what OCPS 1.4 adds, H and ~, and a sixth for years; fields of Quartz and AWS."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import NamedTuple

from crondor._spec import NICKNAMES, Dialect, field_faults, fold_sunday, number, read_field, stepped, value_of
from crondor.calendar import FIRST_YEAR, LAST_YEAR, MONTHS, WEEKDAYS, day_number, month_length
from crondor.compile.days import DaySet, clock_list, listed, ordinal
from crondor.compile.rule import MonthDays, every_seventh, nearest_weekday, nth_of_month
from crondor.compile.walls import (
    WHOLE_MINUTES,
    Context,
    CronSchedule,
    Remarks,
    Timed,
    WallSchedule,
    any_year,
    pieces,
    short,
)
from crondor.diagnostics import Span
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, FIELDS, MONTH, CronSpec, Field
from crondor.words import describe

_HASHED = re.compile(
    r"H(?:\((\d{1,2})-(\d{1,2})\))?(?:/(\d{1,4}))?|(\d{1,2})?~(\d{1,2})?(?:/(\d{1,4}))?", re.IGNORECASE
)
_HASH_TOP = {DAY_OF_MONTH.index: 28, DAY_OF_WEEK.index: 6}  # days that every month has; Sunday once
_FIRST_FIELD = re.compile(r"[\d*?~]|[HR](?:[(/,]|$)", re.IGNORECASE)
_LAST_DAY = re.compile(r"L(?:-(\d{1,2}))?(W)?", re.IGNORECASE)
_TO_LAST_DAY = re.compile(r"(\d{1,2})-L(?:/(\d{1,4}))?", re.IGNORECASE)
_NEAREST = re.compile(r"(\d{1,2})W", re.IGNORECASE)
_OF_MONTH = re.compile(r"([0-9A-Z]+(?:-[0-9A-Z]+)?)(?:#(\d{1,4}|L)|L)", re.IGNORECASE)
_RANGE = re.compile(r"([0-9A-Z]+)-([0-9A-Z]+)(?:/(\d+))?", re.IGNORECASE)
_YEARS = re.compile(r"(\d{4}|\d{1,4}-\d{4})([-,/]\d+)*|\*/\d+")
_MARKS = re.compile(r"[LWHR#+?~]", re.IGNORECASE)  # in items beyond numbers, names and stars
_TAKES = {
    DAY_OF_MONTH.index: "1 to 31, ranges, steps, L (the last day), L-3, 20-L, LW and 15W",
    DAY_OF_WEEK.index: "0 to 7 or SUN to SAT, ranges, steps, MON#1, FRI#L or 5L (the last), and + before all",
}
_SUNDAY = "days of the week are 0 to 7 here, Sunday is 0 and 7; Quartz counts from Sunday = 1"


class _Item(NamedTuple):
    """An item of a list: the values as bits, or a function for the days of a month; and its words."""

    bits: int = 0
    days: MonthDays | None = None
    words: str = ""


class _FieldRead(NamedTuple):
    """A field: its values, its functions of the month, whether it restricts nothing."""

    bits: int
    items: tuple[_Item, ...]
    is_free: bool
    starts_with_star: bool

    @property
    def worked_out(self) -> tuple[_Item, ...]:
        return tuple(item for item in self.items if item.days is not None)


class _Fields(NamedTuple):
    """All fields; ``years`` None for all. ``is_both``: two restricted day fields must both match."""

    minute: _FieldRead
    hour: _FieldRead
    day: _FieldRead
    month: _FieldRead
    day_of_week: _FieldRead
    years: set[int] | None
    is_both: bool


def looks_like_cron(text: str) -> bool:
    """Return whether a text looks like cron fields: at least five words that begin like minutes, or a nickname."""
    words = text.split()
    return text.startswith("@") or (len(words) >= 5 and _FIRST_FIELD.match(words[0]) is not None)


def has_choice(text: str) -> bool:
    """Return whether the job's name chooses a value, by ``H`` or ``~``."""
    return re.search(r"~|(?<![A-Za-z])H(?![A-Za-z])", text) is not None


def read_cron(span: Span, context: Context) -> DaySet | None:
    """Return the schedule of cron fields; None, and all faults, if they cannot be read.

    cron = NICKNAMES | extended extended extended extended extended year?
    """
    if span.text.startswith("@"):
        return _nickname(span, context)
    remarks = context.remarks
    words = [span.part(*found.span()) for found in re.finditer(r"\S+", span.text)]
    years: Span | None = None
    is_quartz = False
    if len(words) == 7:
        _zero_seconds(words[0], remarks)
        is_quartz = "?" in {words[3].text, words[5].text}
        words, years = words[1:6], words[6]
        _warn_of_weekdays(
            "seven fields are Quartz's: seconds first, years last", words, span, remarks, is_quartz=is_quartz
        )
    elif len(words) == 6:
        words, years, is_quartz = _six(words, span, remarks)
    elif len(words) != 5:
        names = "minute hour day-of-month month day-of-week, and optionally years"
        help_text = f"write {names}; `*` for every value"
        remarks.fault("fields", f"cron has five or six fields, this has {len(words)}", span, help_text)
        return None
    is_both = words[4].text.startswith("+")
    if is_both:
        words = [*words[:4], words[4].part(1)]
    before = len(remarks.errors)
    minute, hour, day, month, day_of_week = (
        read_extended(word, field, context, is_quartz=is_quartz) for word, field in zip(words, FIELDS, strict=True)
    )
    taken = _years(years, remarks)
    if len(remarks.errors) > before:
        return None
    return _schedule(_Fields(minute, hour, day, month, day_of_week, taken, is_both), words, years, context)


def _nickname(span: Span, context: Context) -> DaySet | None:
    line = NICKNAMES.get(span.text.lower())
    if line is None:
        known = ", ".join(NICKNAMES)
        reboot = span.text.lower() == "@reboot"
        message = "@reboot names no time" if reboot else f"{short(span.text)} is not a nickname"
        context.remarks.fault("nickname", message, span, f"write one of {known}")
        return None
    return _plain(CronSpec.from_line(line), context)


def _zero_seconds(word: Span, remarks: Remarks) -> bool:
    if number(word.text) == 0:
        return True
    message = f"{WHOLE_MINUTES}: seconds must be 0, not {short(word.text)}"
    remarks.fault("seconds", message, word, "write 0, or remove the seconds")
    return False


def _warn_of_weekdays(said: str, words: list[Span], span: Span, remarks: Remarks, *, is_quartz: bool) -> None:
    """Warn about how weekday numbers are counted, if the fields may be those of Quartz."""
    if not is_quartz:
        remarks.warn("quartz", said, span, _SUNDAY)
    elif re.search(r"(?<![#/\d])\d", words[4].text):
        message = f"read like Quartz and AWS: in `{words[4].text}` Sunday is 1 and Saturday is 7"
        remarks.note("quartz", message, words[4], "write names, such as MON-FRI, which are unambiguous")


def _six(words: list[Span], span: Span, remarks: Remarks) -> tuple[list[Span], Span | None, bool]:
    """Tell six fields apart: years last, or seconds first. Ambiguous fields are rejected with both readings.

    A `?` in a day field decides: Quartz then has its seconds first, AWS its years last; both count from Sunday = 1.
    """
    texts = [word.text for word in words]
    last = texts[5]
    is_years = _YEARS.fullmatch(last) is not None
    is_quartz = not is_years and "?" in {texts[3], last}
    may_be_weekday = is_quartz or (
        not is_years and re.fullmatch(r"\+?[0-7*?LA-Z#,/-]+", last, re.IGNORECASE) is not None
    )
    has_years = is_years or last == "*"
    if has_years and (not may_be_weekday or (not is_quartz and "?" in {texts[2], texts[4]})):
        is_quartz = "?" in {texts[2], texts[4]}
        if is_quartz:
            _warn_of_weekdays("", words, span, remarks, is_quartz=is_quartz)
        return words[:5], words[5], is_quartz
    if may_be_weekday and (not has_years or is_quartz or re.search(r"[LW]", texts[3], re.IGNORECASE)):
        if _zero_seconds(words[0], remarks):
            _warn_of_weekdays("six fields, read with the seconds first", words[1:], span, remarks, is_quartz=is_quartz)
        return words[1:], None, is_quartz
    message = "six fields ending in `*` may have the seconds first or the years last"
    help_text = f"write `{' '.join(texts[1:])}` (without seconds) or `{' '.join(texts[:5])}` (every year)"
    if not has_years:
        message = f"`{short(last)}` is neither a day of week, after seconds, nor a year"
        help_text = "write five fields, or a year such as 2027 or 2026-2030 as the sixth"
    remarks.fault("six", message, span if has_years else words[5], help_text)
    return words[:5], None, is_quartz


def read_extended(span: Span, field: Field, context: Context, *, is_quartz: bool = False) -> _FieldRead:
    """Return a field and add faults to the remarks. ``is_quartz``: weekdays count from Sunday = 1.

    extended = cron_item ("," cron_item)*
    cron_item = "?" | LAST_DAY | TO_LAST_DAY | NEAREST | OF_MONTH | HASHED | round | item
    """
    if is_quartz and field.index == DAY_OF_WEEK.index and span.text.upper() == "L":
        return _FieldRead(1 << 6, (_Item(1 << 6),), is_free=False, starts_with_star=False)
    items = [_item(place, field, context, is_quartz=is_quartz) for place in pieces(span)]
    bits = 0
    for item in items:
        bits |= item.bits
    stars = [re.fullmatch(r"[*?](/0*1)?", text) is not None for text in span.text.split(",")]
    if any(stars) and len(stars) > 1:
        message = f"`{short(span.text)}` matches every {field.title}: the star does, whatever else is listed"
        context.remarks.warn("star", message, span, "remove the star, or the rest")
    return _FieldRead(bits, tuple(items), any(stars), span.text.startswith(("*", "?")))


def _item(span: Span, field: Field, context: Context, *, is_quartz: bool) -> _Item:
    remarks = context.remarks
    found = _hashed(span, field, context) or _special(span, field, remarks, is_quartz=is_quartz)
    if found is not None:
        return found
    text = _as_cron(span.text, field, is_quartz=is_quartz)
    bits = _bits(text, field)
    if bits is None:
        _refuse(span, text, field, remarks)
    elif bits.bit_count() == 1 and field.index == DAY_OF_WEEK.index and "-" in text and "/" not in text:
        day = WEEKDAYS[bits.bit_length() - 1]
        remarks.warn("range", f"`{span.text}` is only {day}", span, f"write {day[:3].upper()}, or * for every day")
    return _Item(bits or 0)


def _as_cron(text: str, field: Field, *, is_quartz: bool) -> str:
    """Return an item with a star for `?`, and with cron's numbers for Quartz's weekdays (none if there is none)."""
    body, slash, step = text.partition("/")
    if body == "?":
        return f"*{slash}{step}"
    if not is_quartz or field.index != DAY_OF_WEEK.index or body == "*":
        return text
    ends = [end if (value := number(end)) is None else str(value - 1) for end in body.split("-")]
    if any(end in {"-1", "7"} for end in ends):
        return ""
    if slash and len(ends) == 1:
        ends.append("6")  # in cron a step continues to Sunday as 7
    return "-".join(ends) + slash + step


def _bits(text: str, field: Field) -> int | None:
    """Return the values of an item, or of a range across the end of its field: `22-6`, `SAT-MON/2`.

    round = value "-" value ("/" number)?
    """
    read = read_field(text, field, Dialect.UNIX) if text else None
    found = _RANGE.fullmatch(text)
    if read is not None or found is None:
        return None if read is None else read[0]
    low, high = (value_of(end, field, unix=True) for end in found.group(1, 2))
    step = 1 if found[3] is None else number(found[3])
    if low is None or high is None or not step or not all(field.low <= end <= field.high for end in (low, high)):
        return None
    size = 7 if field.index == DAY_OF_WEEK.index else field.high - field.low + 1
    low, high = (field.low + (end - field.low) % size for end in (low, high))
    bits = 0
    for value in range(low, high + 1 if low <= high else high + size + 1, step):
        bits |= 1 << field.low + (value - field.low) % size
    return bits


def _refuse(span: Span, text: str, field: Field, remarks: Remarks) -> None:
    """Add why an item cannot be read, and what the field accepts; ``text`` is the item in cron's form."""
    given = span.text
    takes = _TAKES.get(field.index, f"{field.low} to {field.high}, ranges, steps, * and H")
    if not text:
        help_text = "write 1 (Sunday) to 7 (Saturday), or names"
        remarks.fault("weekday", f"`{short(given)}` is not a day of the week in Quartz", span, help_text)
    elif re.match(r"R(?:\W|$)", given, re.IGNORECASE):
        help_text = "write H: a value chosen by the job's name, always the same"
        remarks.fault(
            "random",
            "R is random: each program that reads it would choose another value",
            span,
            help_text,
            f"H{given[1:]}",
        )
    elif field.index == DAY_OF_MONTH.index and re.fullmatch(r"W\d{1,2}", given, re.IGNORECASE):
        fix = f"{given[1:]}W"
        remarks.fault("nearest", f"the day comes before the W: {given}", span, f"write {fix}", fix)
    elif given.startswith("+"):
        help_text = "write it once, before the day of week: +MON,FRI"
        remarks.fault("plus", "`+` requires both day fields, and comes before the day of week", span, help_text)
    elif _MARKS.search(re.sub(r"[A-Z]{3,}", "", given, flags=re.IGNORECASE)):
        remarks.fault("item", f"cannot read `{short(given)}` in {field.title}", span, f"write {takes}")
    else:
        remarks.found.extend(field_faults(given, span, field, Dialect.UNIX))


def _hashed(span: Span, field: Field, context: Context) -> _Item | None:
    """Return the value that H or ~ chooses for the job: by a hash of its name, always the same."""
    found = _HASHED.fullmatch(span.text)
    if found is None:
        return None
    top = _HASH_TOP.get(field.index, field.high)
    low = int(found[1] or found[4] or field.low)
    high = int(found[2] or found[5] or top)
    step = int(found[3] or found[6] or 0)
    if not field.low <= low <= high <= field.high or (step == 0 and (found[3] or found[6])):
        help_text = f"write a range within {field.low} to {field.high}, and a step of 1 or more"
        context.remarks.fault("hash", f"`{short(span.text)}` has no value to choose", span, help_text)
        return _Item()
    if not context.name:
        message = f"`{short(span.text)}` is chosen by the job's name, which is missing"
        context.remarks.fault("name", message, span, "add `name NIGHTLY`, or write a value")
        return _Item()
    digest = int.from_bytes(sha256(f"{context.name}\n{field.name}".encode()).digest()[:8], "big")
    if step:
        return _Item(_folded(stepped(low + digest % min(step, high - low + 1), high, step), field))
    return _Item(_folded(1 << low + digest % (high - low + 1), field))


def _folded(bits: int, field: Field) -> int:
    return fold_sunday(bits) if field.index == DAY_OF_WEEK.index else bits


def _special(span: Span, field: Field, remarks: Remarks, *, is_quartz: bool) -> _Item | None:
    """Return the days that L, W or # name; None for any other item."""
    if field.index == DAY_OF_MONTH.index:
        return _last_day(span, remarks) or _to_last_day(span, remarks) or _nearest(span, remarks)
    if field.index == DAY_OF_WEEK.index:
        if span.text.upper() == "L":
            help_text = "write 6 for Saturday, or 6L for the last one of the month"
            message = "`L` alone as day of week is Saturday to some and an error to others"
            remarks.fault("last", message, span, help_text)
            return _Item(1)
        return _of_month(span, remarks, is_quartz=is_quartz)
    return None


def _last_day(span: Span, remarks: Remarks) -> _Item | None:
    found = _LAST_DAY.fullmatch(span.text)
    if found is None:
        return None
    back = int(found[1] or 0)
    if back > 30:
        remarks.fault("last", f"no month has a day {back} days before its last", span, "write L-1 to L-30")
        return _Item(2)
    place = "last day" if not back else f"{ordinal(back + 1)} last day"
    if found[2]:
        return _Item(
            days=lambda year, month: nearest_weekday(year, month, month_length(year, month) - back),
            words="the last weekday" if not back else f"the weekday nearest to the {place}",
        )
    return _Item(days=lambda year, month: _day_bit(month_length(year, month) - back), words=f"the {place}")


def _to_last_day(span: Span, remarks: Remarks) -> _Item | None:
    found = _TO_LAST_DAY.fullmatch(span.text)
    if found is None:
        return None
    first, step = int(found[1]), int(found[2] or 1)
    if not 1 <= first <= 31 or not step:
        help_text = "write 1-L to 31-L, and a step of 1 or more"
        remarks.fault("last", f"`{short(span.text)}` has no first day", span, help_text)
        return _Item(2)
    often = "" if step == 1 else f"every {ordinal(step)} day from "
    return _Item(
        days=lambda year, month: stepped(first, month_length(year, month), step),
        words=f"{often}the {ordinal(first)} to the last day",
    )


def _day_bit(day: int) -> int:
    return 1 << day if day >= 1 else 0


def _nearest(span: Span, remarks: Remarks) -> _Item | None:
    found = _NEAREST.fullmatch(span.text)
    if found is None:
        return None
    day = int(found[1])
    if not 1 <= day <= 31:
        remarks.fault("nearest", f"no month has a day {day}", span, "write 1W to 31W")
        return _Item(2)
    return _Item(
        days=lambda year, month: nearest_weekday(year, month, day), words=f"the weekday nearest to the {ordinal(day)}"
    )


def _of_month(span: Span, remarks: Remarks, *, is_quartz: bool) -> _Item | None:
    """Return weekdays by their place in the month: the n-th or the last of each of them."""
    found = _OF_MONTH.fullmatch(span.text)
    if found is None:
        return None
    bits = _bits(_as_cron(found[1], DAY_OF_WEEK, is_quartz=is_quartz), DAY_OF_WEEK)
    if bits is None:
        return None
    days = [day for day in range(7) if bits >> day & 1]
    count = -1 if found[2] is None or found[2].upper() == "L" else int(found[2])
    if count == 0 or count > 5:
        message = f"no month has a {ordinal(count)} {WEEKDAYS[days[0]]}" if count else "the first weekday is #1, not #0"
        remarks.fault("nth", message, span, "write #1 to #5, or L for the last")
        return _Item(1)
    place = "last" if count < 0 else ordinal(count)

    def of_month(year: int, month: int) -> int:
        taken = 0
        for day in days:
            taken |= nth_of_month(year, month, (day,), (count,))
        return taken

    return _Item(days=of_month, words=f"the {place} {listed([WEEKDAYS[day] for day in days], 'or')}")


def _years(span: Span | None, remarks: Remarks) -> set[int] | None:
    """Return the years of a sixth field, None for all.

    year = years ("," years)*
    years = ("*" | [0-9]+ ("-" [0-9]+)?) ("/" [0-9]+)?
    """
    if span is None or span.text in {"*", "?"}:
        return None
    found: set[int] = set()
    for place in pieces(span):
        text = place.text
        match = re.fullmatch(r"(?:\*|(\d{1,4})(?:-(\d{1,4}))?)(?:/(\d{1,4}))?", text)
        low = int(match[1] or FIRST_YEAR) if match else 0
        open_end = match is not None and (match[1] is None or match[3] is not None)
        high = int(match[2] or (LAST_YEAR if open_end else low)) if match else 0
        step = int(match[3] or 1) if match else 0
        years = range(low, min(high, LAST_YEAR) + 1, step) if step and low <= high else range(0)
        known = {year for year in years if year >= FIRST_YEAR}
        if not known:
            help_text = f"write years from {FIRST_YEAR} to {LAST_YEAR}, such as 2027 or 2026-2030"
            remarks.fault("year", f"`{short(text)}` is not a year", place, help_text)
        else:
            found.update(known)
    return found


def _plain(spec: CronSpec, context: Context) -> CronSchedule:
    return CronSchedule(spec, context.zone, context.policy)


def _schedule(fields: _Fields, words: list[Span], year_span: Span | None, context: Context) -> DaySet | None:
    minute, hour, day, _, day_of_week, years, is_both = fields
    restrict_both = is_both and not (day.is_free or day_of_week.is_free)
    if years is None and not (day.worked_out or day_of_week.worked_out or restrict_both):
        texts = [_spelled(each, word, f) for each, word, f in zip(fields[:5], words, FIELDS, strict=True)]
        spec = CronSpec.from_line(" ".join(texts))
        found = _plain(spec, context)
        if found.is_never:
            context.remarks.fault("never", f"this is {describe(spec)}", words[2], "write a day that the months have")
        return found
    times = sum(minute.bits << 60 * h for h in range(24) if hour.bits >> h & 1)
    follows = context.policy.follows(hour_starred=hour.starts_with_star, minute_starred=minute.starts_with_star)
    pattern = Timed(any_year(_Days(fields).of_year), times)
    day_words = _day_words(fields, is_both=restrict_both)
    sentence = " ".join(filter(None, (clock_list(times), day_words, _year_words(year_span))))
    return WallSchedule(pattern, context.zone, sentence, context.policy, follows=follows)


class _Days:
    """The days that match the day fields together: by OR if both restrict, as in every cron, with ``+`` by AND."""

    def __init__(self, fields: _Fields) -> None:
        self.day, self.day_of_week = fields.day, fields.day_of_week
        self.months, self.years, self.is_both = fields.month.bits, fields.years, fields.is_both

    def of_year(self, year: int) -> int:
        """Return the days of a year, 1 January is bit 0."""
        if self.years is not None and year not in self.years:
            return 0
        mask = first = 0
        for month in range(1, 13):
            if self.months >> month & 1:
                mask |= self.of_month(year, month) >> 1 << first
            first += month_length(year, month)
        return mask

    def of_month(self, year: int, month: int) -> int:
        """Return the days of a month, the 1st is bit 1."""
        length = month_length(year, month)
        whole = (2 << length) - 2
        if self.day.is_free and self.day_of_week.is_free:
            return whole
        days = _worked_out(self.day, year, month) | self.day.bits
        base = day_number(year, month, 1)
        weekdays = _worked_out(self.day_of_week, year, month)
        for each in range(7):
            if self.day_of_week.bits >> each & 1:
                weekdays |= every_seventh(base, each, length) << 1
        if self.day.is_free:
            return weekdays & whole
        if self.day_of_week.is_free:
            return days & whole
        return (days & weekdays if self.is_both else days | weekdays) & whole


def _worked_out(field: _FieldRead, year: int, month: int) -> int:
    bits = 0
    for item in field.worked_out:
        if item.days is not None:
            bits |= item.days(year, month)
    return bits


def _spelled(read: _FieldRead, word: Span, field: Field) -> str:
    """Return a field in the form of HTCondor's manual: numbers, with the stars kept."""
    if read.is_free:
        return "*"
    if re.fullmatch(r"[*?]/\d+", word.text):
        return word.text.replace("?", "*")
    return ",".join(str(value) for value in range(field.low, field.high + 1) if read.bits >> value & 1)


def _day_words(fields: _Fields, *, is_both: bool) -> str:
    day, month, day_of_week = fields[2:5]
    dates = [] if day.is_free else list(_said(day, lambda value: f"the {ordinal(value)}"))
    weekdays = [] if day_of_week.is_free else list(_said(day_of_week, lambda value: f"every {WEEKDAYS[value]}"))
    all_months = month.bits == MONTH.full
    where = "" if all_months else f"in {listed([MONTHS[m] for m in range(1, 13) if month.bits >> m & 1])}"
    parts = [*dates, *weekdays]
    if not parts:
        return where or "every day"
    if is_both:
        return f"on {listed(dates, 'or')}, if that is {listed(weekdays, 'or').replace('every ', 'a ')} {where}".strip()
    said = f"on {listed(parts, 'or')}"
    if not where:
        return said if all("every" in part for part in parts) else f"{said} of the month"
    return f"{said} {where}"


def _said(field: _FieldRead, of: Callable[[int], str]) -> Iterator[str]:
    yield from (item.words for item in field.worked_out)
    yield from (of(value) for value in range(32) if field.bits >> value & 1)


def _year_words(span: Span | None) -> str:
    return "" if span is None or span.text in {"*", "?"} else f"in {span.text.replace(',', ', ')}"


__all__ = ["looks_like_cron", "read_cron", "read_extended"]
