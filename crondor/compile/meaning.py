"""What the parts of a schedule mean: runs, or days without a time of day until somebody says when."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from crondor.compile.calendar_event import looks_like_event, read_event
from crondor.compile.calendar_file import is_calendar_file, read_calendar_file
from crondor.compile.context import Context, named_zone
from crondor.compile.cron import looks_like_cron, read_cron
from crondor.compile.dates import Moment, looks_like_dates, read_dates
from crondor.compile.day_terms import DayTerm
from crondor.compile.days import MINUTES, DaySet, Spans
from crondor.compile.english import UNDERSTOOD, looks_like_words, read_words
from crondor.compile.expression import Atom, Clause, Join, Part
from crondor.compile.faults import Remarks, short
from crondor.compile.holiday_calendar import PREFIX, read_holidays
from crondor.compile.phrases import at_times, listed
from crondor.compile.rfc import looks_like_rfc, read_rfc
from crondor.compile.sets import Active, Both, Either, Without
from crondor.compile.wall import edge_of
from crondor.diagnostics import similar
from crondor.source import Span
from crondor.zones import Policy, Zone

_MIDNIGHT = 1
_LANGUAGES = (
    'write cron fields ("0 18 * * 5L"), RRULE:..., a calendar event (Mon..Fri 09:00), words (every 2 hours), '
    "dates (2026-12-24..2027-01-06), holidays:DE, or the name of an .ics file"
)


@dataclass(frozen=True)
class Meaning:
    """Runs; or days, as their whole time (``whole``) and with a time of day (``at``); or spans, ``whole`` alone.

    ``cover`` is what a calendar file takes away: the whole time of its events, of which ``runs`` are the starts.
    """

    zone: Zone
    span: Span
    runs: DaySet | None = None
    whole: Callable[[], DaySet] | None = None
    at: Callable[[int], DaySet] | None = None
    has_midnight: bool = False
    cover: Callable[[], DaySet | None] | None = None

    def taken(self) -> DaySet | None:
        """Return what stands right of except and only takes, or keeps."""
        if self.cover is not None:
            return self.cover()
        return self.runs if self.whole is None else self.whole()


def schedule_of(part: Part, context: Context) -> DaySet | None:
    """Return the runs that a whole text means; None, and faults, where it means none."""
    found = meaning_of(part, context)
    return None if found is None else _runs(found, context)


def _runs(found: Meaning, context: Context) -> DaySet | None:
    """Return runs; days that nobody gave a time run at midnight where people mean that."""
    if found.runs is not None or found.whole is None:
        return found.runs
    if found.at is None:
        message = "this is a span of time, and no run in it"
        help_text = "write what runs in it: `every hour only 2026-12-24T10:00..2026-12-24T14:00`"
        context.remarks.fault("no-time", message, found.span, help_text)
        return None
    if not found.has_midnight:
        message = "these are days, and no time of day is said"
        context.remarks.fault("no-time", message, found.span, f"write `{short(found.span.text)} at 09:00`")
        return None
    return found.at(_MIDNIGHT)


def meaning_of(part: Part, context: Context) -> Meaning | None:
    """Return what a part means; None, and faults, where it cannot be read."""
    if isinstance(part, Atom):
        return _of_atom(part, context)
    if isinstance(part, Clause):
        return _of_clause(part, context)
    left = meaning_of(part.left, context)
    # What stands on the right means the days of the schedule on the left, in its zone.
    right = meaning_of(part.right, context if left is None else context._replace(zone=left.zone))
    if left is None or right is None:
        return None
    span = left.span.source.span(left.span.start, right.span.end)
    if part.word == "or":
        return _either(left, right, span, context)
    return _limited(part.word, left, right, span)


def _limited(word: str, left: Meaning, right: Meaning, span: Span) -> Meaning | None:
    """Return the left without, or within, the right."""
    other = right.runs if word == "and" and right.cover is not None else right.taken()
    if other is None:
        return None

    def limit(runs: DaySet, other: DaySet = other) -> DaySet:
        return Without(runs, other) if word == "except" else Both(runs, other, word)

    whole, at, runs = left.whole, left.at, left.runs
    if whole is None:
        return None if runs is None else Meaning(left.zone, span, limit(runs))
    if word == "and" and right.whole is None:  # days and runs: the runs on those days
        return Meaning(right.zone, span, Both(other, whole(), word))
    return Meaning(
        left.zone,
        span,
        whole=lambda: limit(whole()),
        at=None if at is None else lambda times: limit(at(times)),
        has_midnight=left.has_midnight,
    )


def _either(left: Meaning, right: Meaning, span: Span, context: Context) -> Meaning | None:
    if left.whole is not None and right.whole is not None:
        first, second, first_at, second_at = left.whole, right.whole, left.at, right.at
        has_times = first_at is not None and second_at is not None
        return Meaning(
            left.zone,
            span,
            whole=lambda: Either(first(), second()),
            at=(lambda times: Either(first_at(times), second_at(times))) if has_times else None,  # type: ignore[misc]
            has_midnight=left.has_midnight and right.has_midnight,
        )
    one, other = _runs(left, context), _runs(right, context)
    if one is None or other is None:
        return None
    covers = [each.taken if each.cover is not None else None for each in (left, right)]
    if any(covers):
        return Meaning(left.zone, span, Either(one, other), cover=lambda: _cover_either(left, right))
    return Meaning(left.zone, span, Either(one, other))


def _cover_either(left: Meaning, right: Meaning) -> DaySet | None:
    first, second = left.taken(), right.taken()
    return None if first is None or second is None else Either(first, second)


def _of_clause(clause: Clause, context: Context) -> Meaning | None:
    """Return a part with what a clause says of all of it."""
    if clause.word == "zone":
        zone = named_zone(clause.value.text, clause.value, context.remarks)
        inner = meaning_of(clause.of, context if zone is None else context._replace(zone=zone))
        return None if zone is None else inner
    if clause.word == "name":
        return meaning_of(clause.of, context._replace(name=clause.value.text.strip('"')))
    if clause.word == "policy":
        policy = _policy(clause.value, context)
        return meaning_of(clause.of, context if policy is None else context._replace(policy=policy))
    if clause.word == "from" and clause.moment is not None:
        zone = own_zone(clause.of) or context.zone
        context = context._replace(start=edge_of(clause.moment.wall * 60, zone, context.policy))
    found = meaning_of(clause.of, context)
    if found is None:
        return None
    if clause.times is not None:
        return _timed(found, clause.times, clause.value, context)
    return None if clause.moment is None else _active(found, clause.word, clause.moment, context.policy)


def _policy(span: Span, context: Context) -> Policy | None:
    known = [policy.value for policy in Policy]
    if span.text.lower() in known:
        return Policy(span.text.lower())
    near = similar(span.text.lower(), known, 0.6)
    help_text = f"did you mean {near[0]}?" if near else f"write {listed(known, 'or')}"
    context.remarks.fault("policy", f"there is no policy `{short(span.text)}`", span, help_text)
    return None


def own_zone(part: Part) -> Zone | None:
    """Return the zone that a part names for all of it, None where it names none, or one that there is not."""
    while not isinstance(part, Atom):
        if isinstance(part, Join):
            part = part.left
        elif part.word == "zone":
            return named_zone(part.value.text, part.value, Remarks())
        else:
            part = part.of
    return None


def _timed(found: Meaning, times: int, span: Span, context: Context) -> Meaning | None:
    if found.at is None:
        message = "`at` gives days a time, and this has times already"
        context.remarks.fault("time", message, span, "leave it out, or put the days it belongs to in parentheses")
        return None
    return Meaning(found.zone, found.span, found.at(times))


def _active(found: Meaning, word: str, moment: Moment, policy: Policy) -> Meaning:
    """Return what of a part lies from a moment on, or until it; a date is meant with all its day."""
    wall = moment.wall + (MINUTES - 1 if moment.is_date and word == "until" else 0)
    edge = edge_of(wall * 60, found.zone, policy, is_end=word == "until")
    start, end = (edge, None) if word == "from" else (None, edge)

    def limit(runs: DaySet) -> DaySet:
        comma = "," if "," in runs.words else ""
        said = f"{word} {moment.text[:10]}" in runs.words
        words = runs.words if said else f"{runs.words}{comma} {word} {moment.text}"
        return Active(runs, start, end, words)

    whole, at, cover = found.whole, found.at, found.cover
    return replace(
        found,
        runs=None if found.runs is None else limit(found.runs),
        whole=None if whole is None else lambda: limit(whole()),
        at=None if at is None else lambda times: limit(at(times)),
        cover=None if cover is None else lambda: None if (taken := cover()) is None else limit(taken),
    )


def _of_atom(atom: Atom, context: Context) -> Meaning | None:
    """Return what a piece in one of the languages means, with the times and the start behind it.

    atom = calendar_file | piece_of_text
    """
    if is_calendar_file(atom.span.text):
        both = read_calendar_file(atom.span, context)
        return None if both is None else Meaning(both[0].zone, atom.span, both[0], cover=lambda: both[1])
    anchor = None if atom.start is None else edge_of(atom.start.wall * 60, context.zone, context.policy)
    behind = "" if atom.times is None else f" {at_times(atom.times)}"
    runs, days = _read(atom.span, context._replace(behind=behind), anchor)
    if isinstance(runs, Spans):
        found = Meaning(runs.zone, atom.span, whole=lambda: runs)
    elif runs is not None:
        found = Meaning(runs.zone, atom.span, runs)
    elif days is not None:
        found = Meaning(
            days.zone,
            atom.span,
            whole=days.whole,
            at=lambda times: days.at(times, context.policy),
            has_midnight=days.has_midnight,
        )
    else:
        return None
    times = atom.times
    if times is None and atom.start is not None and not atom.start.is_date and found.at is not None:
        times = 1 << atom.start.wall % MINUTES
    if times is not None:
        timed = _timed(found, times, atom.span, context)
        if timed is None:
            return None
        found = timed
    return found if atom.start is None else _active(found, "from", atom.start, context.policy)


def _read(span: Span, context: Context, anchor: int | None) -> tuple[DaySet | None, DayTerm | None]:
    """Return what a piece says in the language that it is written in: runs, or days.

    piece_of_text = holidays | properties | words | dates | event | cron
    """
    for is_so, read in _READERS:
        if is_so(span.text):
            return read(span, context, anchor)
    _unknown(span, context)
    return None, None


def _names_holidays(text: str) -> bool:
    return text.lower().startswith(PREFIX)


# The first that a piece looks like reads it.
_READERS: tuple[
    tuple[Callable[[str], bool], Callable[[Span, Context, int | None], tuple[DaySet | None, DayTerm | None]]], ...
] = (
    (_names_holidays, lambda span, context, _: (None, read_holidays(span, context))),
    (looks_like_rfc, lambda span, context, _: (read_rfc(span, context), None)),
    (looks_like_words, read_words),
    (looks_like_dates, lambda span, context, _: read_dates(span, context)),
    (looks_like_event, lambda span, context, _: read_event(span, context)),
    (looks_like_cron, lambda span, context, _: (read_cron(span, context), None)),
)


def _unknown(span: Span, context: Context) -> None:
    """Say that a piece is in no language, and which it may be meant to be."""
    text = span.text
    words = text.split()
    if re.fullmatch(r"[\d*?/,#~LWH-]+", words[0], re.IGNORECASE) and 1 < len(words) < 5:
        read_cron(span, context)
        return
    first = words[0].lower()
    known = ("every", "each", "first", "second", "third", "fourth", "last", "weekdays", "weekends", "holidays")
    near = similar(first, known, 0.7)
    help_text = f"did you mean `{near[0]}`? {UNDERSTOOD}" if near else _LANGUAGES
    context.remarks.fault("unknown", f"`{short(text)}` is no schedule that crondor knows", span, help_text)


__all__ = ["Meaning", "meaning_of", "schedule_of"]
