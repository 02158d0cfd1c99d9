"""The grammar around the languages: `A except B`, only, and, or, clauses such as `A zone B`, and dates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, Union

from crondor.compile.days import MINUTES, DaySet, Spans, day_text, listed, year_start
from crondor.compile.english import joins_words, looks_like_words
from crondor.compile.walls import (
    WHOLE_MINUTES,
    Context,
    DayTerm,
    Remarks,
    calendar_day,
    edge_of,
    is_skipped,
    moments_of,
    pieces,
    short,
    single_runs,
)
from crondor.diagnostics import Source, Span

_MOMENT = r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ]\s*(\d{1,2}):(\d{2})(?::(\d{2}))?)?"
MOMENT = re.compile(_MOMENT, re.IGNORECASE)
_CLOCK = re.compile(r"\d{1,2}:\d{2}")
_TO = r"\s*\.\.\s*|\s+(?:-|to|\u2013)\s+"
_ENTRY = re.compile(rf"\s*{_MOMENT}(?:(?:{_TO}){_MOMENT})?\s*", re.IGNORECASE)
_WRITE = "write 2026-12-24, 2026-12-24T14:00, or a span 2026-12-24..2027-01-06; the years are 1970 to 2200"


class Moment(NamedTuple):
    """A date, or a date with a time of day: minutes on the wall clock since 1970-01-01 00:00."""

    wall: int
    is_date: bool

    @property
    def text(self) -> str:
        """The text as people write it."""
        day, minute = divmod(self.wall, MINUTES)
        return day_text(day) if self.is_date else f"{day_text(day)} {minute // 60:02}:{minute % 60:02}"


def looks_like_dates(text: str) -> bool:
    """Return whether a text consists only of dates, times of day and spans."""
    return all(_ENTRY.fullmatch(part) for part in text.split(","))


def read_moment(span: Span, remarks: Remarks) -> Moment | None:
    """Return a date or a date with a time of day; None, and a fault, for another text.

    moment = [0-9]+ "-" [0-9]+ "-" [0-9]+ (("T" | " ") [0-9]+ ":" [0-9]+)?
    """
    found = MOMENT.fullmatch(span.text.strip())
    day = calendar_day(int(found[1]), int(found[2]), int(found[3])) if found else None
    hour, minute, second = (int(found[at] or 0) for at in (4, 5, 6)) if found else (0, 0, 0)
    if found is None or day is None or hour > 23 or minute > 59:
        remarks.fault("date", f"`{short(span.text.strip())}` is not a date", span, _WRITE)
        return None
    if second:
        remarks.fault("seconds", f"{WHOLE_MINUTES}, without seconds", span, "remove them")
        return None
    return Moment(day * MINUTES + hour * 60 + minute, found[4] is None)


def read_dates(span: Span, context: Context) -> tuple[DaySet | None, DayTerm | None]:
    """Return single instants, or days if there is no time of day; neither, and faults, for another text.

    dates = entry ("," entry)*
    entry = moment ((".." | " to ") moment)?
    """
    remarks = context.remarks
    before = len(remarks.errors)
    entries: list[tuple[Moment, Moment | None]] = []
    places: list[Span] = []
    for place in pieces(span):
        text = place.text
        dots = re.search(_TO, text, re.IGNORECASE)
        start = read_moment(place.part(0, dots.start() if dots else len(text)), remarks)
        end = read_moment(place.part(dots.end()), remarks) if dots else None
        if start is not None and end is not None and end.wall < start.wall:
            remarks.fault("date", "the span ends before it begins", place, "swap its ends")
        if start is not None:
            entries.append((start, end))
            places.append(place)
    if len(remarks.errors) > before:
        return None, None
    return _of_entries(entries, places, span, context)


def _of_entries(
    entries: list[tuple[Moment, Moment | None]], places: list[Span], span: Span, context: Context
) -> tuple[DaySet | None, DayTerm | None]:
    zone, policy = context.zone, context.policy
    if all(start.is_date and (end is None or end.is_date) for start, end in entries):
        days = {day for start, end in entries for day in range(start.wall // MINUTES, _last(start, end) + 1)}
        texts = [start.text if end is None else f"{start.text} to {end.text}" for start, end in entries]
        return None, DayTerm(by_year(days), f"on {listed(texts)}", zone)
    if any(end is not None for _, end in entries):
        if any(end is None for _, end in entries):
            help_text = "join them with `or`, in parentheses"
            context.remarks.fault("date", "a list cannot have both single times and spans", span, help_text)
            return None, None
        spans = [
            (edge_of(start.wall * 60, zone, policy), edge_of((end.wall + MINUTES * end.is_date) * 60, zone, policy))
            for start, end in entries
            if end is not None
        ]
        texts = [f"{start.text} to {end.text}" for start, end in entries if end is not None]
        return Spans(spans, zone, f"from {listed(texts)}"), None
    walls = [start.wall * 60 for start, _ in entries]
    skipped = [
        _warn_of_gap(start, place, context)
        for (start, _), place in zip(entries, places, strict=True)
        if is_skipped(start.wall * 60, zone)
    ]
    if len(skipped) == len(entries) and not any(skipped):
        message = f"this never runs: the clock in {zone.name} skips it, and --policy {policy.value} drops such runs"
        context.remarks.fault("never", message, span, "write a time that the clock shows")
        return None, None
    return single_runs(walls, zone, f"at {listed([start.text for start, _ in entries])}", policy), None


def _warn_of_gap(moment: Moment, place: Span, context: Context) -> list[int]:
    """Warn about a time that the clock skips; return its runs under the policy."""
    zone, policy = context.zone, context.policy
    found = moments_of(moment.wall * 60, zone, policy)
    fate = f"the run is at {zone.moment(found[0]):%H:%M}" if found else "there is no run"
    message = f"the clock in {zone.name} skips {moment.text}: with --policy {policy.value} {fate}"
    context.remarks.warn("skipped", message, place, "write a time that the clock shows")
    return found


def _last(start: Moment, end: Moment | None) -> int:
    return (start if end is None else end).wall // MINUTES


def by_year(days: set[int]) -> Callable[[int], int]:
    """Return day numbers as days by year."""

    def of_year(year: int) -> int:
        base, past = year_start(year), year_start(year + 1)
        if len(days) < past - base:
            return sum(1 << day - base for day in days if base <= day < past)
        return sum(1 << day - base for day in range(base, past) if day in days)

    return of_year


SET_WORDS = ("except", "only")
JOINING = ("and", "or")
CLAUSES = ("at", "from", "until", "zone", "name", "policy")
KEYWORDS = (*SET_WORDS, *JOINING, *CLAUSES)
MOST_CHARACTERS = 10_000
_DEEPEST = 50
_MOST_JOINTS = 50  # words between parts; each adds to the depth of a question about a day
_TOKEN = re.compile(r'"[^"\n]*"|\(|\)|[^\s()"]+')
_CLOCK = re.compile(
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2})(?::(?P<second>\d{2}))?)?\s*(?P<half>am|pm)?", re.IGNORECASE
)
_CLOCK_WORDS = {"noon": 12 * 60, "midday": 12 * 60, "midnight": 0}
_HALF_HOLDS = re.compile(r"(?<![A-Z])[HR]\Z", re.IGNORECASE)  # `H(0-29)`: a parenthesis of cron, not of the algebra


class Atom(NamedTuple):
    """A piece in one of the languages, with the times and the start directly after it."""

    span: Span
    times: int | None = None
    start: Moment | None = None


class Join(NamedTuple):
    """Two parts and the word between them: except, only, and, or."""

    word: str
    left: Part
    right: Part
    span: Span  # of the word


class Clause(NamedTuple):
    """A part and the clauses about all of it: at, from, until, zone, name, policy."""

    word: str
    of: Part
    value: Span
    moment: Moment | None = None
    times: int | None = None


Part = Union[Atom, Join, Clause]  # noqa: UP007 - evaluated, on Python 3.10 before the classes exist


class _Token(NamedTuple):
    text: str
    span: Span

    @property
    def word(self) -> str:
        return self.text.lower()


def tokens_of(source: Source) -> Iterator[_Token]:
    """Yield words, parentheses and quoted names; a parenthesis of cron's H belongs to its word."""
    at = 0
    while (found := _TOKEN.search(source.text, at)) is not None:
        start, end = found.span()
        while _HALF_HOLDS.search(source.text, start, end) and source.text[end : end + 1] == "(":
            close = re.compile(r"\([^()\s]*\)[^\s()]*").match(source.text, end)
            if close is None:
                break
            end = close.end()
        yield _Token(source.text[start:end], source.span(start, end))
        at = end


def parse(source: Source, remarks: Remarks) -> Part | None:
    """Return the structure of a text; None, and faults, if it has none.

    schedule = union (set_word union | clause)*
    set_word = "except" | "only"
    """
    if not source.text.strip():
        remarks.fault("empty", "no schedule is given", source.span(), 'write one, such as "0 18 * * 5L"')
        return None
    if len(source.text) > MOST_CHARACTERS:
        message = f"a schedule of {len(source.text)} characters is too long (at most {MOST_CHARACTERS})"
        remarks.fault("long", message, source.span(0, 1), "write a shorter one, or its dates in an .ics file")
        return None
    tokens = list(tokens_of(source))
    joints = [token for token in tokens if token.word in KEYWORDS]
    if len(joints) > _MOST_JOINTS:
        message = f"a schedule of more than {_MOST_JOINTS} parts is too long"
        remarks.fault("long", message, joints[_MOST_JOINTS].span, "write its dates as one list, or in an .ics file")
        return None
    parser = _Parser(tokens, source, remarks)
    found = parser.schedule(0)
    if parser.at < len(parser.tokens) and not remarks.errors:
        token = parser.tokens[parser.at]
        if token.text == ")":
            remarks.fault("syntax", "`)` has no opening parenthesis", token.span, "remove it")
        elif token.word in JOINING:
            message = f"`{token.text}` comes after a clause, or after a clause about all of except and only"
            remarks.fault("syntax", message, token.span, "put the parts to join into parentheses")
        else:
            message = f"`{short(token.text)}` is unexpected here"
            remarks.fault("syntax", message, token.span, "join two parts with except, only, and, or")
    return found


class _Parser:
    def __init__(self, tokens: list[_Token], source: Source, remarks: Remarks) -> None:
        self.tokens = tokens
        self.source = source
        self.remarks = remarks
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at].word if self.at < len(self.tokens) else ""

    def next(self) -> _Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def here(self) -> Span:
        """Return what to underline if something is missing: the token before."""
        if self.at < len(self.tokens):
            return self.tokens[self.at].span
        return self.source.span(max(0, len(self.source.text.rstrip()) - 1))

    def schedule(self, depth: int) -> Part | None:
        """Return a chain: except removes the part on its right from all on its left, only keeps just that."""
        left = self.union(depth, may_have_clauses=True)
        while left is not None:
            word = self.peek()
            if word in SET_WORDS:
                token = self.next()
                right = self.union(depth, may_have_clauses=False)
                left = None if right is None else Join(word, left, right, token.span)
            elif word in CLAUSES:
                if isinstance(left, Join) and left.word in JOINING:
                    message = f"`{word}` may apply to the last part only or to all of them"
                    self.remarks.fault("syntax", message, self.tokens[self.at].span, "add parentheses")
                left = self.clause(left)
            else:
                break
        return left

    def union(self, depth: int, *, may_have_clauses: bool) -> Part | None:
        """Return parts joined by or.

        union = intersection ("or" intersection)*
        """
        return self._joined("or", lambda: self._intersection(depth, may_have_clauses=may_have_clauses))

    def _intersection(self, depth: int, *, may_have_clauses: bool) -> Part | None:
        """Return parts joined by and.

        intersection = operand ("and" operand)*
        """
        return self._joined("and", lambda: self._operand(depth, may_have_clauses=may_have_clauses))

    def _joined(self, word: str, operand: Callable[[], Part | None]) -> Part | None:
        left = operand()
        while left is not None and self.peek() == word:
            token = self.next()
            right = operand()
            left = None if right is None else Join(word, left, right, token.span)
        return left

    def _operand(self, depth: int, *, may_have_clauses: bool) -> Part | None:
        """Return a part in parentheses, or in one of the languages.

        operand = ("(" schedule ")" | atom) clause*
        """
        if self.at >= len(self.tokens) or self.peek() in {*KEYWORDS, ")"}:
            self.remarks.fault("syntax", "a schedule, days or dates are missing here", self.here(), "write them")
            return None
        if self.peek() != "(":
            return self._atom(may_have_clauses=may_have_clauses)
        opened = self.next()
        if depth >= _DEEPEST:
            self.remarks.fault("syntax", "parentheses are nested too deeply", opened.span, "remove some")
            return None
        found = self.schedule(depth + 1)
        if found is None:
            return None
        if self.peek() != ")":
            self.remarks.fault("syntax", "the parenthesis is not closed", opened.span, "write ) at its end")
            return None
        self.next()
        # A clause after the parenthesis belongs to it, whatever joins it to others.
        while may_have_clauses and self.peek() in CLAUSES and found is not None:
            found = self.clause(found)
        return found

    def _atom(self, *, may_have_clauses: bool) -> Part | None:
        first = self.next().span
        end = first.end
        while self.at < len(self.tokens) and self.peek() not in {"(", ")"}:
            if self.peek() in KEYWORDS and not self._goes_on(first.start, end):
                break
            if self._is_clock(self.at) and looks_like_words(self.source.text[first.start : end]):
                break  # `every weekday 09:00`: the time needs no `at`
            end = self.next().span.end
        span = self.source.span(first.start, end)
        atom: Part = Atom(span)
        if not (may_have_clauses and looks_like_words(span.text)):
            return atom
        times: int | None = None
        start: Moment | None = None
        while self.peek() in {"at", "from"} or (times is None and self._is_clock(self.at)):
            clause = self.clause(atom) if self.peek() in {"at", "from"} else self._with_times(atom)
            if clause is None:
                break
            times = clause.times if clause.times is not None else times
            start = clause.moment or start
        return Atom(span, times, start)

    def _goes_on(self, start: int, end: int) -> bool:
        """Return whether a keyword is a word of the piece before it: `Monday and Friday`."""
        if self.peek() != "and" or self.at + 1 >= len(self.tokens):
            return False
        after = self.tokens[self.at + 1].word
        if after == "the" and self.at + 2 < len(self.tokens):
            after = self.tokens[self.at + 2].word
        return joins_words(self.source.text[start:end], after)

    def clause(self, of: Part) -> Clause | None:
        """Return a part with the clauses that follow it.

        clause = "at" times | ("from" | "until") moment | "zone" [^ ]+ | "name" [^ ]+ | "policy" [^ ]+
        """
        word = self.next()
        if word.word == "at":
            return self._with_times(of)
        if self.at >= len(self.tokens) or self.peek() in {*KEYWORDS, "(", ")"}:
            self.remarks.fault("syntax", f"`{word.text}` has no value", word.span, _EXAMPLES[word.word])
            return None
        value = self.next().span
        if word.word not in {"from", "until"}:
            return Clause(word.word, of, value)
        if self.at < len(self.tokens) and re.fullmatch(r"\d{1,2}:\d{2}(:\d{2})?", self.peek()):
            value = self.source.span(value.start, self.next().span.end)
        if word.word == "from" and (found := _CLOCK.fullmatch(value.text)):
            help_text = f"write `from YYYY-MM-DDT{found[0]:0>5}`"
            self.remarks.fault("date", "`from` needs a date", value, help_text)
            return Clause(word.word, of, value)
        return Clause(word.word, of, value, read_moment(value, self.remarks))

    def _with_times(self, of: Part) -> Clause | None:
        """Read `09:00, 17:00 and 18:30`.

        times = clock_time (("," | "and") clock_time)*
        """
        start = self.here().start
        times = 0
        while True:
            if self.at >= len(self.tokens):
                self.remarks.fault("time", "a time of day is missing", self.here(), "write a time such as 09:00")
                return None
            token = self.next()
            span = token.span
            text = span.text
            if self.peek() in {"am", "pm", "am,", "pm,"}:
                span = self.source.span(span.start, self.next().span.end)
                text = span.text
            more = text.endswith(",")
            for piece in re.finditer(r"[^,]+", text):
                times |= 1 << (self._minute(span.part(*piece.span())) or 0)
            end = span.end
            if not more and self.peek() == "and" and self._is_clock(self.at + 1):
                self.next()
                more = True
            if not more and self.peek() == ",":
                self.next()
                more = True
            if not more:
                return Clause("at", of, self.source.span(start, end), None, times)

    def _is_clock(self, at: int) -> bool:
        if at >= len(self.tokens):
            return False
        word = self.tokens[at].word.rstrip(",")
        return word in _CLOCK_WORDS or re.fullmatch(r"\d{1,2}:\d{2}|\d{1,2}(am|pm)", word) is not None

    def _minute(self, span: Span) -> int | None:
        """Return a time of day as its minute.

        clock_time = CLOCK | CLOCK_WORDS
        """
        text = span.text.strip().lower()
        if text in _CLOCK_WORDS:
            return _CLOCK_WORDS[text]
        found = _CLOCK.fullmatch(text)
        hour, minute = (int(found[1]), int(found[2] or 0)) if found else (99, 0)
        half = found["half"] if found else None
        if half and not 1 <= hour <= 12:
            hour = 99
        elif half:
            hour = hour % 12 + 12 * (half == "pm")
        if found is not None and found["second"] and int(found["second"]):
            self.remarks.fault("seconds", WHOLE_MINUTES, span, "remove the seconds")
            return None
        if hour > 23 or minute > 59 or (found is not None and found["minute"] is None and not half):
            fix = f"{hour:02}:00" if hour <= 23 and found is not None else None
            help_text = f"write {fix}" if fix else "write a time such as 09:00 or 5:30pm"
            self.remarks.fault("time", f"`{short(text)}` is not a time of day", span, help_text, fix)
            return None
        return hour * 60 + minute


_EXAMPLES = {
    "from": "write `from 2026-12-01`, or `from 2026-12-01T06:00`",
    "until": "write `until 2027-12-31`",
    "zone": "write `zone Europe/Berlin`",
    "name": "write `name nightly`",
    "policy": "write `policy skip`",
}
