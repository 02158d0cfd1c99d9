"""A small grammar of words: `every 2 days`, `every Monday, Friday`, `last working day of the month`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from crondor.calendar import DAY, LONGEST, MONTHS, SHORT_MONTHS, SHORT_WEEKDAYS, WEEKDAYS, month_length
from crondor.compile.days import DaySet, Elapsed, day_text, listed, ordinal
from crondor.compile.rule import MonthDays, day_of_month, in_turn, nth_of_month, weekdays_of_month
from crondor.compile.walls import WHOLE_MINUTES, Context, CronSchedule, DayTerm, any_year, short
from crondor.diagnostics import Span, similar
from crondor.spec import CronSpec

UNITS = {
    **dict.fromkeys(("minute", "minutes", "min", "mins"), "minute"),
    **dict.fromkeys(("hour", "hours", "h"), "hour"),
    **dict.fromkeys(("day", "days"), "day"),
    **dict.fromkeys(("week", "weeks"), "week"),
    **dict.fromkeys(("month", "months"), "month"),
}
ORDINALS = {
    **{word: number for number, word in enumerate(("first", "second", "third", "fourth", "fifth"), 1)},
    "last": -1,
}
WEEKDAY_NAMES = {
    **{name.lower(): day for day, name in enumerate(WEEKDAYS)},
    **{f"{name.lower()}s": day for day, name in enumerate(WEEKDAYS)},
    **{name.lower(): day for day, name in enumerate(SHORT_WEEKDAYS)},
    "tues": 2,
    "thur": 4,
    "thurs": 4,
}
MONTH_NAMES = {
    **{name.lower(): month for month, name in enumerate(MONTHS) if month},
    **{name.lower(): month for month, name in enumerate(SHORT_MONTHS) if month},
}
DAY_SETS = {
    **dict.fromkeys(("weekday", "weekdays", "workday", "workdays"), (1, 2, 3, 4, 5)),
    **dict.fromkeys(("weekend", "weekends"), (0, 6)),
}
_OFTEN = {"daily": "day", "weekly": "week", "monthly": "month"}  # `daily at 09:00` is `every day at 09:00`
_STARTS = ("every", "each", "on", "the", "weekdays", "weekends", "workdays", *ORDINALS)
_SECONDS = ("seconds", "secs", "sec")
_GLUE = ("of", "in", "on", "the", "each", "every", "other", "working", "business", "to", "and")
_TOKEN = re.compile(r"\d+(?:st|nd|rd|th)?|[A-Za-z]+|,|\.\.|[^\s]", re.IGNORECASE)
_MOST = 100_000  # of a step
_EXAMPLE = 20788  # 2026-12-01, a day to count from in proposals
UNDERSTOOD = (
    "understood are: every 15 minutes, every 2 hours, every weekday, every Monday, Friday, every 3 months on the 15th, "
    "first Monday of the month, last working day of the month, 24 December; each with `at 09:00`, `from 2026-12-01`"
)


class _Word(NamedTuple):
    text: str
    span: Span


class _Misread(Exception):
    """A word that is unexpected at its place."""

    def __init__(self, word: _Word | None, expected: str = "") -> None:
        super().__init__()
        self.word = word
        self.expected = expected


class _Kind(NamedTuple):
    """A set of days: how it picks them from a month, its words, and whether it depends on the week only."""

    days: MonthDays
    words: str
    weekdays: tuple[int, ...] = ()
    month: int = 0  # of a date of the year


def looks_like_words(text: str) -> bool:
    """Return whether a text begins like the grammar of words."""
    words = [*text.lower().split(maxsplit=2), "", ""]
    if words[0] in _OFTEN:
        return words[1] in {"", "on"}  # followed by a zone, it is a calendar event
    if words[0] in MONTH_NAMES or words[0] in _STARTS or re.fullmatch(r"\d+(st|nd|rd|th)", words[0]):
        return True
    return words[0].isdecimal() and words[1].rstrip(",") in MONTH_NAMES


def joins_words(before: str, after: str) -> bool:
    """Return whether `and` between two words of this grammar only makes a list: `Monday and Friday`, `1st and 15th`."""
    return looks_like_words(before) and (
        after.lower().strip(",") in {**WEEKDAY_NAMES, **MONTH_NAMES, **ORDINALS}
        or re.fullmatch(r"\d+(st|nd|rd|th)", after.lower()) is not None
    )


def read_words(span: Span, context: Context, anchor: int | None) -> tuple[DaySet | None, DayTerm | None]:
    """Return the schedule, or the days, that words name; neither, and a fault, for unknown words.

    ``anchor`` is the instant of the words' own `from`.

    words = (("every" | "each") step? UNITS | OFTEN) ("on" days)? | ("every" | "each" | "on")? days
    """
    reader = _Reader(span, context, anchor)
    before = len(context.remarks.errors)
    try:
        found = reader.read()
    except _Misread as error:
        if len(context.remarks.errors) == before:
            reader.explain(error)
        return None, None
    return (None, None) if len(context.remarks.errors) > before else found


class _Reader:
    def __init__(self, span: Span, context: Context, anchor: int | None) -> None:
        self.span = span
        self.context = context
        self.anchor = anchor
        self.at = 0
        self.words = [_Word(found[0].lower(), span.part(*found.span())) for found in _TOKEN.finditer(span.text)]

    def peek(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.words[at].text if at < len(self.words) else ""

    def take(self, *words: str) -> bool:
        if self.peek() in words and self.at < len(self.words):
            self.at += 1
            return True
        return False

    def explain(self, error: _Misread) -> None:
        """Add which word is wrong, and what is understood."""
        remarks = self.context.remarks
        if error.word is None:
            end = self.span.part(len(self.span.text) - 1)
            remarks.fault("words", f"something is missing here{error.expected}", end, UNDERSTOOD)
            return
        word = error.word.text
        known = [*UNITS, *ORDINALS, *WEEKDAY_NAMES, *MONTH_NAMES, *DAY_SETS, "every", *_GLUE]
        near = similar(word, known, 0.7) if word.isalpha() and word not in known else []
        help_text = f"did you mean `{near[0]}`?" if near else UNDERSTOOD
        fix = near[0] if near else None
        remarks.fault("words", f"cannot read `{short(word)}` here{error.expected}", error.word.span, help_text, fix)

    def read(self) -> tuple[DaySet | None, DayTerm | None]:
        """Return the meaning of all the words. Raises _Misread."""
        found = self._read()
        if self.at < len(self.words):
            raise _Misread(self.words[self.at])
        return found

    def _read(self) -> tuple[DaySet | None, DayTerm | None]:
        if self.take("every", "each"):
            start = self.at
            found = self._frequency()
            if found is not None:
                return found
            self.at = start
        elif self.peek() in _OFTEN:
            self.at += 1
            return None, self._term(self._within(_OFTEN[self.words[self.at - 1].text], None), "")
        else:
            self.take("on")
        return None, self._term(self.days(), "")

    def _term(self, kind: _Kind, often: str, keep: Callable[[int], int] | None = None) -> DayTerm:
        days = kind.days

        def of_year(year: int) -> int:
            mask = first = 0
            for month in range(1, 13):
                mask |= days(year, month) >> 1 << first
                first += month_length(year, month)
            return mask if keep is None else mask & keep(year)

        return DayTerm(any_year(of_year), f"{kind.words}{often}", self.context.zone, has_midnight=True)

    # How often

    def _frequency(self) -> tuple[DaySet | None, DayTerm | None] | None:
        """Return the meaning of `every N units`; None if the words name days instead, as `every second Monday` may."""
        start = self.at
        number = self._step()
        unit = UNITS.get(self.peek())
        if unit is None and number > 1:
            return self._every_nth(self.words[start].text, number)
        if unit is None or (number < 0 and unit != "minute"):
            return None
        word = self.words[self.at]
        self.at += 1
        if self.peek() in {"of", "in"} or (unit == "day" and self.peek() in {",", "and"}):
            return None
        if not 1 <= number <= _MOST:
            self.context.remarks.fault(
                "words", f"a step is 1 to {_MOST}", word.span, "write every 2 hours, for example"
            )
            return None, None
        if unit in {"minute", "hour"}:
            return self._elapsing(number, unit, word), None
        return None, self._of_calendar(number, unit, word)

    def _every_nth(self, step: str, number: int) -> tuple[DaySet | None, DayTerm | None] | None:
        """Return the meaning of `every other Tuesday`; None if the words name days of the month.

        `every second Tuesday` is ambiguous, and an error.
        """
        word, rest = self.peek(), [word.text for word in self.words[self.at :]]
        if word in _SECONDS or (step == "second" and not rest):
            self.context.remarks.fault("seconds", WHOLE_MINUTES, self.words[-1].span, "write `every minute`")
            return None, None
        is_weekly = word in WEEKDAY_NAMES or word.startswith("weekend")
        is_working = word in {"working", "business"} and self.peek(1) in {"day", "days"}
        is_ordinal = _ordinal_of(step) is not None
        if is_weekly and not is_ordinal:
            return None, self._of_calendar(number, "week", self.words[self.at])
        is_of_month = is_ordinal and (number > 5 or not {"of", "in"}.isdisjoint(rest))
        if is_of_month or not (is_weekly or is_working or word in DAY_SETS):
            return None
        kind = word.capitalize() if word in WEEKDAY_NAMES else " ".join(rest[: 1 + is_working])
        start = day_text(_EXAMPLE if self.anchor is None else self.context.zone.local(self.anchor) // DAY)
        in_turn = f"every {number} weeks on {kind.removesuffix('s')}s" if is_weekly else f"every {number} days"
        in_turn += f" from {start}{self.context.behind}"
        if is_ordinal:
            other = f"every other {kind}" if number == 2 else f"one {kind} in {number}"
            message = f"`every {step} {kind}` may be the {ordinal(number)} {kind} of each month, or {other}"
            help_text = f"write `{ordinal(number)} {kind} of the month{self.context.behind}`, or `{in_turn}`"
        else:
            message = f"`every {step} {kind}` counts days that are not evenly spaced"
            help_text = f"write `{in_turn}`, or the days by name: `every Monday, Wednesday, Friday`"
        self.context.remarks.fault("which", message, self.words[self.at].span, help_text)
        return None, None

    def _step(self) -> int:
        """Return the step, 1 if there is none.

        step = "other" | [0-9]+ | ordinal
        """
        word = self.peek()
        if self.take("other"):
            return 2
        if word.isdecimal() or (word in ORDINALS and ORDINALS[word] > 1) or re.fullmatch(r"\d+(st|nd|rd|th)", word):
            self.at += 1
            return ORDINALS.get(word) or int(re.sub(r"\D", "", word)[:9])
        return 1

    def _elapsing(self, number: int, unit: str, word: _Word) -> DaySet | None:
        """Return every so many minutes or hours: from the anchor, or from midnight if they divide a day."""
        step = number * (60 if unit == "hour" else 1)
        zone = self.context.zone
        words = f"every {unit if number == 1 else f'{number} {unit}s'}"
        in_turn = (60 if unit == "minute" else 24) % number == 0
        start = self.anchor if self.anchor is not None or in_turn else self.context.start
        if start is not None:
            return Elapsed(start, step, zone, f"{words} from {zone.moment(start):%Y-%m-%d %H:%M}")
        if not in_turn:
            help_text = self._counted("2026-12-01T00:00")
            message = f"{number} {unit}s do not divide {'an hour' if unit == 'minute' else 'a day'} evenly: add a start"
            self._no_start(message, word, help_text)
            return None
        line = "* * * * *" if step == 1 else f"*/{number} * * * *" if unit == "minute" else f"0 */{number} * * *"
        line = line.replace("*/1 ", "* ")
        return CronSchedule(CronSpec.from_line(line), zone, self.context.policy)

    def _of_calendar(self, number: int, unit: str, word: _Word) -> DayTerm | None:
        start = self.context.start if self.anchor is None and number > 1 else self.anchor
        if number > 1 and start is None:
            message = f"every {number} {unit}s, counted from when?"
            self._no_start(message, word, self._counted("2026-12-01"))
            if self.take("on"):
                self.days()
            return None
        day = 0 if start is None else self.context.zone.local(start) // DAY
        kind = self._within(unit, day if start is not None else None)
        if number == 1:
            return self._term(kind, "")
        often = f"every {number} {unit}s from {day_text(day)}"
        if unit == "day":
            kind = kind._replace(words="")
        return self._term(kind, f"{' ' * bool(kind.words)}{often}", in_turn(unit, number, day))

    def _no_start(self, message: str, word: _Word, help_text: str) -> None:
        """Report that there is no start, unless there is one that cannot be read."""
        if not self.context.remarks.has("date"):
            self.context.remarks.fault("start", message, word.span, help_text)

    def _counted(self, start: str) -> str:
        """Return what to write instead: the same words, counted from a time."""
        return f"write `{self.span.text} from {start}{self.context.behind}`"

    def _within(self, unit: str, start: int | None) -> _Kind:
        """Return the days of a week or month: those named, or the start's own."""
        if self.take("on") or (unit == "week" and self.peek() in {*WEEKDAY_NAMES, "weekend", "weekends"}):
            return self.days()
        if unit == "day":
            return _Kind(lambda year, month: (2 << month_length(year, month)) - 2, "every day")
        if unit == "week":
            return _of_week([1 if start is None else (start + 4) % 7])
        date = 1 if start is None else int(day_text(start)[8:])
        return _Kind(lambda year, month: day_of_month(year, month, date), f"on the {ordinal(date)} of the month")

    # Which days

    def days(self) -> _Kind:
        """Return the days that words name.

        days = day_item (("," | "and") day_item)* month_part?
        month_part = ("of" | "in") ("the" | "each" | "every")? ("month" | MONTH_NAMES (("," | "and") MONTH_NAMES)*)
        """
        items = [self._item()]
        while self.peek() in {",", "and"}:
            self.at += 1
            self.take("and")
            items.append(self._item())
        months = self._months()
        if all(kind.weekdays for kind in items):
            items = [_of_week(sorted({day for kind in items for day in kind.weekdays}))]
        words = listed([kind.words.removeprefix("on ") for kind in items])
        is_of_month = not all(kind.weekdays or kind.month for kind in items)
        where = f" in {listed([MONTHS[m] for m in months])}" if months else " of the month" if is_of_month else ""
        rules = [kind.days for kind in items]

        def of_month(year: int, month: int) -> int:
            if months and month not in months:
                return 0
            bits = 0
            for days in rules:
                bits |= days(year, month)
            return bits

        weekdays = items[0].weekdays if len(items) == 1 and not months else ()
        lead = "" if words.startswith("every day") else "on "
        return _Kind(of_month, f"{lead}{words}{where}", weekdays)

    def _item(self) -> _Kind:
        """Return one item of a list of days.

        day_item = "the"? (weekday_span | day_kind | ordinals (WEEKDAY_NAMES | day_kind)? | date_of_year)
        day_kind = "day" | ("working" | "business") "day" | DAY_SETS
        """
        self.take("the")
        word = self.peek()
        if word in WEEKDAY_NAMES:
            return self._weekday_range()
        if word in DAY_SETS:
            self.at += 1
            return _of_week(DAY_SETS[word])
        if word == "day":
            self.at += 1
            return _Kind(lambda year, month: (2 << month_length(year, month)) - 2, "every day")
        if word in {"working", "business"} and self.peek(1) in {"day", "days"}:
            self.at += 2
            return _of_week((1, 2, 3, 4, 5))
        of_year = self._date_of_year()
        if of_year is not None:
            return of_year
        numbers = self._ordinals()
        if not numbers:
            raise _Misread(self.words[self.at] if self.at < len(self.words) else None)
        return self._of_numbers(numbers)

    def _date_of_year(self) -> _Kind | None:
        """Return a day of every year: `24 December`, `December 24th`; None for other words.

        date_of_year = (ordinal | [0-9]+) MONTH_NAMES | MONTH_NAMES (ordinal | [0-9]+)
        """
        one, other = self.peek(), self.peek(1)
        month, day = (one, other) if one in MONTH_NAMES else (other, one)
        number = int(day) if day.isdecimal() and len(day) < 3 else _ordinal_of(day)
        if month not in MONTH_NAMES or number is None:
            return None
        which = MONTH_NAMES[month]
        if not -1 <= number <= LONGEST[which] or number == 0:
            raise _Misread(self.words[self.at], f": {MONTHS[which]} has 1 to {LONGEST[which]} days")
        self.at += 2
        place = f"{'last day of' if number < 0 else number} {MONTHS[which]}"
        return _Kind(
            lambda year, each: day_of_month(year, each, number) if each == which else 0, f"on {place}", (), which
        )

    def _weekday_range(self) -> _Kind:
        """Return a weekday, or a range of weekdays.

        weekday_span = WEEKDAY_NAMES ((".." | "-" | "to") WEEKDAY_NAMES)?
        """
        first = WEEKDAY_NAMES[self.peek()]
        self.at += 1
        if not self.take("..", "-", "to"):
            return _of_week([first])
        if self.peek() not in WEEKDAY_NAMES:
            raise _Misread(self.words[self.at] if self.at < len(self.words) else None, ": a weekday is expected")
        last = WEEKDAY_NAMES[self.peek()]
        self.at += 1
        return _of_week([(first + step) % 7 for step in range((last - first) % 7 + 1)])

    def _ordinals(self) -> list[int]:
        """Return the numbers of a list such as `first and third`, which a kind of day may follow.

        ordinals = ordinal (("," | "and") "the"? ordinal)*
        ordinal = ORDINALS | [0-9]+ ("st" | "nd" | "rd" | "th")
        """
        found: list[int] = []
        while (number := _ordinal_of(self.peek())) is not None:
            if number > 31 or number == 0:
                raise _Misread(self.words[self.at], ": days are 1st to 31st")
            self.at += 1
            found.append(number)
            further = 2 if self.peek(1) == "the" else 1
            if self.peek() not in {",", "and"} or _ordinal_of(self.peek(further)) is None:
                break
            self.at += further
        return found

    def _of_numbers(self, numbers: list[int]) -> _Kind:
        places = listed(["last" if n < 0 else ordinal(n) for n in numbers])
        word = self.peek()
        if word in WEEKDAY_NAMES:
            day = WEEKDAY_NAMES[word]
            self._at_most(numbers, 5)
            self.at += 1
            return _Kind(lambda y, m: nth_of_month(y, m, (day,), numbers), f"on the {places} {WEEKDAYS[day]}")
        is_working = word in {"working", "business"} and self.peek(1) == "day"
        if is_working or word in DAY_SETS:
            kinds = DAY_SETS.get(word, (1, 2, 3, 4, 5))
            name = "weekend day" if kinds == (0, 6) else "working day"
            self.at += 2 if is_working or self.peek(1) == "day" else 1
            self._at_most(numbers, 23)
            return _Kind(lambda y, m: nth_of_month(y, m, kinds, numbers), f"on the {places} {name}")
        self.take("day")
        name = " day" if numbers == [-1] else ""

        def of_month(year: int, month: int) -> int:
            bits = 0
            for number in numbers:
                bits |= day_of_month(year, month, number)
            return bits

        return _Kind(of_month, f"on the {places}{name}")

    def _at_most(self, numbers: list[int], most: int) -> None:
        if max(numbers) > most:
            raise _Misread(self.words[self.at - 1], f": a month has at most {most} of them")

    def _months(self) -> tuple[int, ...]:
        if not self.take("of", "in"):
            return ()
        self.take("the", "each", "every")
        if self.take("month"):
            return ()
        found = []
        while self.peek() in MONTH_NAMES:
            found.append(MONTH_NAMES[self.peek()])
            self.at += 1
            if self.peek() in {",", "and"} and self.peek(1) in MONTH_NAMES:
                self.at += 1
        if not found:
            raise _Misread(self.words[self.at] if self.at < len(self.words) else None, ": a month is expected")
        return tuple(sorted(set(found)))


def _ordinal_of(word: str) -> int | None:
    """Return the number of `second`, `2nd` or `last`; None for another word."""
    if word in ORDINALS:
        return ORDINALS[word]
    return int(word[:-2]) if re.fullmatch(r"\d{1,6}(st|nd|rd|th)", word) else None


def _of_week(days: Iterable[int]) -> _Kind:
    chosen = tuple(days)

    return _Kind(lambda y, m: weekdays_of_month(y, m, chosen), f"on {_week_words(chosen)}", chosen)


def _week_words(days: Sequence[int]) -> str:
    if set(days) == {1, 2, 3, 4, 5}:
        return "weekdays"
    return listed([f"{WEEKDAYS[day]}s" for day in sorted(set(days), key=lambda day: (day - 1) % 7)])
