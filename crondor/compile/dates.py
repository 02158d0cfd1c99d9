"""Dates one by one and in spans: `2026-12-24, 2026-12-31T14:00`, `2026-12-24..2027-01-06`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from crondor.compile.context import Context, calendar_day, is_skipped
from crondor.compile.day_terms import DayTerm
from crondor.compile.days import MINUTES, DaySet, Spans, day_text, year_start
from crondor.compile.faults import WHOLE_MINUTES, Remarks, pieces, short
from crondor.compile.phrases import listed
from crondor.compile.wall import edge_of, moments_of, single_runs
from crondor.source import Span

_MOMENT = r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ]\s*(\d{1,2}):(\d{2})(?::(\d{2}))?)?"
MOMENT = re.compile(_MOMENT, re.IGNORECASE)
_TO = r"\s*\.\.\s*|\s+(?:-|to|\u2013)\s+"
_ENTRY = re.compile(rf"\s*{_MOMENT}(?:(?:{_TO}){_MOMENT})?\s*", re.IGNORECASE)
_WRITE = "write 2026-12-24, 2026-12-24T14:00, or a span 2026-12-24..2027-01-06; the years are 1970 to 2200"


class Moment(NamedTuple):
    """A date, or a date with a time of day: minutes on the wall clock since 1970-01-01 00:00."""

    wall: int
    is_date: bool

    @property
    def text(self) -> str:
        """It as people write it."""
        day, minute = divmod(self.wall, MINUTES)
        return day_text(day) if self.is_date else f"{day_text(day)} {minute // 60:02}:{minute % 60:02}"


def looks_like_dates(text: str) -> bool:
    """Say whether a text is made of dates, times of day and spans alone."""
    return all(_ENTRY.fullmatch(part) for part in text.split(","))


def read_moment(span: Span, remarks: Remarks) -> Moment | None:
    """Return a date or a date with a time of day; None, and a fault, for another text.

    moment = [0-9]+ "-" [0-9]+ "-" [0-9]+ (("T" | " ") [0-9]+ ":" [0-9]+)?
    """
    found = MOMENT.fullmatch(span.text.strip())
    day = calendar_day(int(found[1]), int(found[2]), int(found[3])) if found else None
    hour, minute, second = (int(found[at] or 0) for at in (4, 5, 6)) if found else (0, 0, 0)
    if found is None or day is None or hour > 23 or minute > 59:
        remarks.fault("date", f"`{short(span.text.strip())}` is no date", span, _WRITE)
        return None
    if second:
        remarks.fault("seconds", f"{WHOLE_MINUTES}, and this has seconds", span, "leave them out")
        return None
    return Moment(day * MINUTES + hour * 60 + minute, found[4] is None)


def read_dates(span: Span, context: Context) -> tuple[DaySet | None, DayTerm | None]:
    """Return single instants, or days where no time of day stands; neither, and faults, for another text.

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
            context.remarks.fault("date", "single times and spans do not stand in one list", span, help_text)
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
        message = f"this is never: the clock in {zone.name} skips it, and --policy {policy.value} drops such runs"
        context.remarks.fault("never", message, span, "write a time that the clock shows")
        return None, None
    return single_runs(walls, zone, f"at {listed([start.text for start, _ in entries])}", policy), None


def _warn_of_gap(moment: Moment, place: Span, context: Context) -> list[int]:
    """Warn of a time that the clock skips; return the runs that it has all the same."""
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
