"""Cron, extended: five fields with names and nicknames, L, W and #, H and ~, and a sixth field for years."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from hashlib import sha256

from crondor._named_tuple import NamedTuple
from crondor._spec.faults import field_faults
from crondor._spec.fields import NICKNAMES, Dialect, number, read_field, stepped
from crondor.calendar import FIRST_YEAR, LAST_YEAR, MONTHS, WEEKDAYS, day_number, month_length
from crondor.compile.context import Context
from crondor.compile.days import DaySet
from crondor.compile.faults import WHOLE_MINUTES, Remarks, pieces, short
from crondor.compile.month_days import MonthDays, nearest_weekday, nth_of_month
from crondor.compile.phrases import clock_list, listed, ordinal
from crondor.compile.protocol import CronSchedule
from crondor.compile.rule import every_seventh
from crondor.compile.wall import Timed, WallSchedule, any_year
from crondor.source import Span
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, FIELDS, MONTH, CronSpec, Field
from crondor.words import describe
from crondor.zones import Policy

_HASHED = re.compile(
    r"H(?:\((\d{1,2})-(\d{1,2})\))?(?:/(\d{1,4}))?|(\d{1,2})?~(\d{1,2})?(?:/(\d{1,4}))?", re.IGNORECASE
)
_HASH_TOP = {DAY_OF_MONTH.index: 28, DAY_OF_WEEK.index: 6}  # a day that every month has; Sunday once
_FIRST_FIELD = re.compile(r"[\d*?~]|H(?:[(/,]|$)", re.IGNORECASE)
_LAST_DAY = re.compile(r"L(?:-(\d{1,2}))?(W)?", re.IGNORECASE)
_NEAREST = re.compile(r"(\d{1,2})W", re.IGNORECASE)
_LAST_WEEKDAY = re.compile(r"([0-7]|SUN|MON|TUE|WED|THU|FRI|SAT)L", re.IGNORECASE)
_NTH_WEEKDAY = re.compile(r"([0-7]|SUN|MON|TUE|WED|THU|FRI|SAT)#(\d)", re.IGNORECASE)
_DAY_NUMBERS = {name[:3].upper(): day for day, name in enumerate(WEEKDAYS)} | {str(d): d % 7 for d in range(8)}
_SUNDAY = "days of the week are 0 to 7 here, Sunday is 0 and 7; Quartz counts from Sunday = 1"


class _Item(NamedTuple):
    """An item of a list: the values as bits, or the days of a month that it works out; and its words."""

    bits: int = 0
    days: MonthDays | None = None
    words: str = ""


class _FieldRead(NamedTuple):
    """A field: its values, what it works out month by month, whether it restricts nothing."""

    bits: int
    items: tuple[_Item, ...]
    is_free: bool
    starts_with_star: bool

    @property
    def worked_out(self) -> tuple[_Item, ...]:
        return tuple(item for item in self.items if item.days is not None)


def looks_like_cron(text: str) -> bool:
    """Say whether a text has the look of cron fields: five words or more that begin as minutes do, or a nickname."""
    words = text.split()
    return text.startswith("@") or (len(words) >= 5 and _FIRST_FIELD.match(words[0]) is not None)


def read_cron(span: Span, context: Context) -> DaySet | None:
    """Return the schedule of cron fields; None, and all faults, where they cannot be read.

    cron = NICKNAMES | extended extended extended extended extended year?
    """
    if span.text.startswith("@"):
        return _nickname(span, context)
    words = [span.part(*found.span()) for found in re.finditer(r"\S+", span.text)]
    years: Span | None = None
    if len(words) == 7:
        if _zero_seconds(words[0], context.remarks):
            context.remarks.warn("quartz", "seven fields are Quartz's: seconds first, years last", span, _SUNDAY)
        words, years = words[1:6], words[6]
    elif len(words) == 6:
        words, years = _six(words, span, context.remarks)
    elif len(words) != 5:
        names = "minute hour day-of-month month day-of-week, and years if you like"
        help_text = f"write {names}; `*` for every value"
        context.remarks.fault("fields", f"cron has five fields or six, this has {len(words)}", span, help_text)
        return None
    before = len(context.remarks.errors)
    read = [read_extended(word, field, context) for word, field in zip(words, FIELDS, strict=True)]
    taken = _years(years, context.remarks)
    if len(context.remarks.errors) > before:
        return None
    return _schedule(read, words, taken, years, context)


def _nickname(span: Span, context: Context) -> DaySet | None:
    line = NICKNAMES.get(span.text.lower())
    if line is None:
        known = ", ".join(NICKNAMES)
        reboot = span.text.lower() == "@reboot"
        message = "@reboot names no time" if reboot else f"{short(span.text)} is no nickname"
        context.remarks.fault("nickname", message, span, f"known are {known}")
        return None
    return _plain(CronSpec.from_line(line), context)


def _zero_seconds(word: Span, remarks: Remarks) -> bool:
    if number(word.text) == 0:
        return True
    message = f"{WHOLE_MINUTES}: seconds can only be 0, and this says {short(word.text)}"
    remarks.fault("seconds", message, word, "write 0, or leave the seconds out")
    return False


def _six(words: list[Span], span: Span, remarks: Remarks) -> tuple[list[Span], Span | None]:
    """Tell six fields apart: years last, or seconds first. What may be both is refused with both readings."""
    last = words[5].text
    is_years = re.fullmatch(r"\d{4}([-,/]\d+)*|\*/\d+", last) is not None
    may_be_weekday = re.fullmatch(r"[0-7*?LA-Z#,/-]+", last, re.IGNORECASE) is not None and not is_years
    may_be_years = is_years or last == "*"
    first_half = words[3].text
    if may_be_years and not may_be_weekday:
        return words[:5], words[5]
    if may_be_weekday and (not may_be_years or first_half == "?" or re.search(r"[LW]", first_half, re.IGNORECASE)):
        if _zero_seconds(words[0], remarks):
            remarks.warn("quartz", "six fields, read with the seconds first", span, _SUNDAY)
        return words[1:], None
    texts = [word.text for word in words]
    message = "six fields ending in `*` may have the seconds first or the years last"
    help_text = f"write `{' '.join(texts[1:])}` (seconds left out) or `{' '.join(texts[:5])}` (every year)"
    remarks.fault("six", message, span, help_text)
    return words[:5], None


def read_extended(span: Span, field: Field, context: Context) -> _FieldRead:
    """Return a field; faults go to the remarks.

    extended = cron_item ("," cron_item)*
    cron_item = "?" | LAST_DAY | NEAREST | LAST_WEEKDAY | NTH_WEEKDAY | HASHED | item
    """
    items = [_item(place, field, context) for place in pieces(span)]
    bits = 0
    for item in items:
        bits |= item.bits
    stars = [text in {"*", "?", "*/1"} for text in span.text.split(",")]
    return _FieldRead(bits, tuple(items), any(stars), span.text.startswith("*"))


def _item(span: Span, field: Field, context: Context) -> _Item:
    text, remarks = span.text, context.remarks
    if text == "?":
        if field.index in {DAY_OF_MONTH.index, DAY_OF_WEEK.index}:
            return _Item(field.full)
        remarks.fault("question", f"`?` stands for a day field, and this is {field.title}", span, "write *", "*")
        return _Item()
    found = _hashed(span, field, context)
    if found is not None:
        return found
    special = _special(span, field, remarks)
    if special is not None:
        return special
    read = read_field(text, field, Dialect.UNIX)
    if read is not None:
        return _Item(read[0])
    remarks.found.extend(field_faults(text, span, field, Dialect.UNIX))
    return _Item()


def _hashed(span: Span, field: Field, context: Context) -> _Item | None:
    """Return what H or ~ chooses for the job: a value of the range by a hash of its name, the same for ever."""
    found = _HASHED.fullmatch(span.text)
    if found is None:
        return None
    top = _HASH_TOP.get(field.index, field.high)
    low = int(found[1] or found[4] or field.low)
    high = int(found[2] or found[5] or top)
    step = int(found[3] or found[6] or 0)
    if not field.low <= low <= high <= field.high or (step == 0 and (found[3] or found[6])):
        help_text = f"write a range within {field.low} to {field.high}, and a step from 1 up"
        context.remarks.fault("hash", f"`{short(span.text)}` has no value to choose", span, help_text)
        return _Item()
    if not context.name:
        message = f"`{short(span.text)}` is chosen by the job's name, and there is none"
        context.remarks.fault("name", message, span, "add `name NIGHTLY`, or write a value")
        return _Item()
    digest = int.from_bytes(sha256(f"{context.name}\n{field.name}".encode()).digest()[:8], "big")
    if step:
        return _Item(_fold(stepped(low + digest % min(step, high - low + 1), high, step), field))
    return _Item(_fold(1 << low + digest % (high - low + 1), field))


def _fold(bits: int, field: Field) -> int:
    return (bits | 1) & 0x7F if field.index == DAY_OF_WEEK.index and bits >> 7 else bits


def _special(span: Span, field: Field, remarks: Remarks) -> _Item | None:
    """Return what L, W or # name; None for any other item."""
    if field.index == DAY_OF_MONTH.index:
        return _last_day(span, remarks) or _nearest(span, remarks)
    if field.index == DAY_OF_WEEK.index:
        if span.text.upper() == "L":
            help_text = "write 6 for Saturday, or 6L for the last one of the month"
            message = "`L` alone as day of week is Saturday to some and an error to others"
            remarks.fault("last", message, span, help_text)
            return _Item(1)
        return _nth_weekday(span, remarks)
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


def _nth_weekday(span: Span, remarks: Remarks) -> _Item | None:
    last, which = _LAST_WEEKDAY.fullmatch(span.text), _NTH_WEEKDAY.fullmatch(span.text)
    if last is None and which is None:
        return None
    day = _DAY_NUMBERS[(last or which)[1].upper()]  # type: ignore[index]
    count = int(which[2]) if which else -1
    if count == 0 or count > 5:
        message = f"no month has a {ordinal(count)} {WEEKDAYS[day]}" if count else "the first weekday is #1, not #0"
        remarks.fault("nth", message, span, "write #1 to #5, or L for the last")
        return _Item(1)
    place = "last" if count < 0 else ordinal(count)
    return _Item(
        days=lambda year, month: nth_of_month(year, month, (day,), (count,)), words=f"the {place} {WEEKDAYS[day]}"
    )


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
        match = re.fullmatch(r"(?:\*|(\d{4})(?:-(\d{4}))?)(?:/(\d{1,4}))?", text)
        low = int(match[1] or FIRST_YEAR) if match else 0
        open_end = match is not None and (match[1] is None or match[3] is not None)
        high = int(match[2] or (LAST_YEAR if open_end else low)) if match else 0
        step = int(match[3] or 1) if match else 0
        if not FIRST_YEAR <= low <= high <= LAST_YEAR or step == 0:
            help_text = f"write years from {FIRST_YEAR} to {LAST_YEAR}, such as 2027 or 2026-2030"
            remarks.fault("year", f"`{short(text)}` is no year", place, help_text)
        else:
            found.update(range(low, high + 1, step))
    return found


def _plain(spec: CronSpec, context: Context) -> CronSchedule:
    return CronSchedule(spec, context.zone, context.policy)


def _schedule(
    read: list[_FieldRead], words: list[Span], years: set[int] | None, year_span: Span | None, context: Context
) -> DaySet | None:
    minute, hour, day, month, day_of_week = read
    if years is None and not day.worked_out and not day_of_week.worked_out:
        texts = [_spelled(each, word, f) for each, word, f in zip(read, words, FIELDS, strict=True)]
        spec = CronSpec.from_line(" ".join(texts))
        found = _plain(spec, context)
        if found.is_never:
            context.remarks.fault("never", f"this is {describe(spec)}", words[2], "write a day that the months have")
        return found
    times = sum(minute.bits << 60 * h for h in range(24) if hour.bits >> h & 1)
    follows = hour.starts_with_star or (context.policy is Policy.DEBIAN and minute.starts_with_star)
    pattern = Timed(any_year(_DayFields(day, month.bits, day_of_week, years).of_year), times)
    sentence = " ".join(filter(None, (clock_list(times), _day_words(day, month, day_of_week), _year_words(year_span))))
    return WallSchedule(pattern, context.zone, sentence, context.policy, follows=follows)


class _DayFields:
    """The days that the day fields take together: joined by OR where both restrict, as in every cron."""

    def __init__(self, day: _FieldRead, months: int, day_of_week: _FieldRead, years: set[int] | None) -> None:
        self.day, self.day_of_week = day, day_of_week
        self.months, self.years = months, years

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
        return (days if self.day_of_week.is_free else days | weekdays) & whole


def _worked_out(field: _FieldRead, year: int, month: int) -> int:
    bits = 0
    for item in field.worked_out:
        if item.days is not None:
            bits |= item.days(year, month)
    return bits


def _spelled(read: _FieldRead, word: Span, field: Field) -> str:
    """Return a field as HTCondor's manual has it: numbers, and stars where they stood."""
    if read.is_free:
        return "*"
    if re.fullmatch(r"\*/\d+", word.text):
        return word.text
    return ",".join(str(value) for value in range(field.low, field.high + 1) if read.bits >> value & 1)


def _day_words(day: _FieldRead, month: _FieldRead, day_of_week: _FieldRead) -> str:
    parts = [] if day.is_free else list(_said(day, lambda value: f"the {ordinal(value)}"))
    parts += [] if day_of_week.is_free else list(_said(day_of_week, lambda value: f"every {WEEKDAYS[value]}"))
    all_months = month.bits == MONTH.full
    where = "" if all_months else f"in {listed([MONTHS[m] for m in range(1, 13) if month.bits >> m & 1])}"
    if not parts:
        return where or "every day"
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
