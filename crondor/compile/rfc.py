"""RFC 5545 as text: DTSTART, RRULE, RDATE and EXDATE, on lines of their own or with blanks between them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from crondor.calendar import DAY
from crondor.compile.days import MINUTES, UTC, DaySet, Instants, Spans, day_text, listed, ordinal
from crondor.compile.rule import Frequency, Rule, RulePattern, rule_words
from crondor.compile.walls import (
    WHOLE_MINUTES,
    Context,
    Either,
    Nothing,
    Remarks,
    WallSchedule,
    Without,
    calendar_day,
    epoch_of,
    moments_of,
    named_zone,
    pieces,
    short,
)
from crondor.diagnostics import Span
from crondor.zones import Policy, Zone

PROPERTIES = ("DTSTART", "RRULE", "RDATE", "EXDATE")
_REFUSED = {
    "EXRULE": "write `except RRULE:...` after the schedule; RFC 5545 no longer has EXRULE",
    "DTEND": "remove it: a run only has a start",
    "DURATION": "remove it: a run only has a start",
}
_PROPERTY = re.compile(
    r"(?P<name>[A-Za-z-]+)(?P<params>(?:;[A-Za-z-]+=[^;:\s]*)*):(?P<value>\S*)|(?P<rule>FREQ=\S*)", re.IGNORECASE
)
_DATE = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})(?:T(\d{2}):?(\d{2})(?::?(\d{2}))?(Z?))?", re.IGNORECASE)
_TIMES = {"BYHOUR", "BYMINUTE", "BYSECOND"}
WEEKDAY_CODES = ("SU", "MO", "TU", "WE", "TH", "FR", "SA")
_NTH = re.compile(r"([+-]?\d{1,3})?(SU|MO|TU|WE|TH|FR|SA)", re.IGNORECASE)
_PARTS = (
    *("FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYMONTH", "BYWEEKNO", "BYYEARDAY", "BYMONTHDAY"),
    *("BYDAY", "BYHOUR", "BYMINUTE", "BYSECOND", "BYSETPOS"),
)
# The range of a list's numbers, and whether they may count from the end.
_LISTS = {
    "BYMONTH": ("months", 1, 12, False),
    "BYWEEKNO": ("week_numbers", 1, 53, True),
    "BYYEARDAY": ("year_days", 1, 366, True),
    "BYMONTHDAY": ("month_days", 1, 31, True),
    "BYHOUR": ("hours", 0, 23, False),
    "BYMINUTE": ("minutes", 0, 59, False),
    "BYSETPOS": ("positions", 1, 366, True),
}


class Moment(NamedTuple):
    """A DATE or DATE-TIME: minutes on the wall clock since 1970-01-01 00:00, its own zone if it has one."""

    wall: int
    zone: Zone | None
    is_date: bool
    second: int = 0

    def instant(self, zone: Zone) -> int:
        """Return the epoch seconds, in ``zone`` if it has none of its own."""
        return epoch_of(self.wall * 60, self.zone or zone)

    def runs(self, zone: Zone, policy: Policy) -> list[int]:
        """Return the instants (epoch seconds) of a run at this time, under a policy for clock changes."""
        return moments_of(self.wall * 60, self.zone or zone, policy)


def looks_like_rfc(text: str) -> bool:
    """Return whether a text begins like properties or a rule."""
    return re.match(r"(?:DTSTART|DTEND|DURATION|RRULE|RDATE|EXDATE|EXRULE)[;:]|FREQ=", text, re.IGNORECASE) is not None


def read_rfc(span: Span, context: Context) -> DaySet | None:
    """Return the schedule of properties; None, and faults, if they cannot be read.

    properties = property+
    property = PROPERTIES (";" ("TZID" | "VALUE") "=" [^;:]+)* ":" (recur | instants) | recur
    """
    given = _Properties(context)
    for found in re.finditer(r"\S+", span.text):
        given.take(span.part(*found.span()))
    return given.schedule(span)


class _Properties:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.remarks = context.remarks
        self.start: Moment | None = None
        self.rules: list[Span] = []
        self.added: list[Moment] = []
        self.removed: list[Moment] = []

    def take(self, span: Span) -> None:
        """Read one property."""
        found = _PROPERTY.fullmatch(span.text)
        name = "" if found is None else "RRULE" if found["rule"] else found["name"].upper()
        if found is None or (name not in PROPERTIES and name not in _REFUSED):
            known = ", ".join(PROPERTIES)
            self.remarks.fault(
                "rfc", f"`{short(span.text)}` is not a property of a schedule", span, f"write one of {known}"
            )
            return
        if name in _REFUSED:
            self.remarks.fault("rfc", f"{name} has no meaning here", span, _REFUSED[name])
            return
        if found["rule"]:
            self.rules.append(span)
            return
        value = span.part(*found.span("value"))
        if name == "RRULE":
            self.rules.append(value)
            return
        zone = self._zone(span, found["params"] or "", found.start("params"))
        moments = list(_moments(value, zone, self.remarks, is_bound=name == "EXDATE"))
        if name == "DTSTART":
            if self.start is not None or len(moments) > 1:
                self.remarks.fault("rfc", "a schedule has one DTSTART", span, "remove the others")
            self.start = moments[0] if moments else self.start
        elif name == "RDATE":
            self.added.extend(moments)
        else:
            self.removed += [each for each in moments if not each.second]
            if any(each.second for each in moments):
                message = f"{WHOLE_MINUTES}: an EXDATE with seconds excludes none of them"
                self.remarks.warn("seconds", message, value, "let it end in 00")

    def _zone(self, span: Span, params: str, at: int) -> Zone | None:
        for found in re.finditer(r";([A-Za-z-]+)=([^;]*)", params):
            key, place = found[1].upper(), span.part(at + found.start(2), at + found.end(2))
            if key == "TZID":
                return named_zone(found[2].strip('"'), place, self.remarks)
            if key != "VALUE" or found[2].upper() not in {"DATE", "DATE-TIME"}:
                self.remarks.fault(
                    "rfc", f"the parameter {short(found[0][1:])} is not supported", place, "remove the parameter"
                )
        return None

    def schedule(self, span: Span) -> DaySet | None:
        """Return the set of all properties together."""
        context, start = self.context, self.start
        zone = (start.zone if start is not None else None) or context.zone
        if start is None and self.rules:
            if context.start is None:
                help_text = "write DTSTART:20261201T170000 before it, or `from 2026-12-01T17:00` after it"
                self.remarks.fault("start", "an RRULE counts from its DTSTART, which is missing", span, help_text)
                for rule in self.rules:
                    read_rule(rule, Moment(0, None, is_date=False), zone, self.remarks)
                return None
            start = Moment(zone.local(context.start) // 60, None, is_date=False)
        sets: list[DaySet] = []
        for rule in self.rules:
            found = read_rule(rule, start, zone, self.remarks) if start is not None else None
            if found is not None:
                sets.append(_of_rule(found, zone, context))
        single = [*self.added, *([start] if start is not None and not self.rules and not self.added else [])]
        if single:
            instants = [run for each in single for run in each.runs(zone, context.policy)]
            if instants:
                sets.append(Instants(instants, zone, moments_words(instants, zone)))
            else:
                message = f"this never runs: the clock skips it, and --policy {context.policy.value} drops such runs"
                self.remarks.fault("never", message, span, "write a time that the clock shows")
        if not sets:
            if not self.remarks.errors:
                self.remarks.fault("rfc", "no property names a time", span, "write an RRULE or RDATE")
            return None
        whole = sets[0] if len(sets) == 1 else Either(*sets)
        return self._without(whole, zone) if self.removed else whole

    def _without(self, whole: DaySet, zone: Zone) -> DaySet:
        policy = self.context.policy
        instants = [run for each in self.removed if not each.is_date for run in each.runs(zone, policy)]
        spans = [
            (each.instant(zone), each._replace(wall=each.wall + MINUTES).instant(zone))
            for each in self.removed
            if each.is_date
        ]
        if instants:
            whole = Without(whole, Instants(instants, zone, moments_words(instants, zone)))
        if spans:
            days = [day_text(each.wall // MINUTES) for each in self.removed if each.is_date]
            whole = Without(whole, Spans(spans, zone, f"on {listed(days)}"))
        return whole


def moments_words(instants: list[int], zone: Zone) -> str:
    """Return instants in words: "at 2026-12-24 14:00 and 2026-12-31 14:00"."""
    texts = [f"{zone.moment(instant):%Y-%m-%d %H:%M}" for instant in sorted(set(instants))]
    return f"at {listed(texts)}"


def _moments(span: Span, zone: Zone | None, remarks: Remarks, *, is_bound: bool) -> Iterator[Moment]:
    """Yield the moments of a value; ``is_bound``: they start no run, and may have seconds.

    instants = DATE ("," DATE)*
    """
    for place in pieces(span):
        found = read_moment(place, zone, remarks, is_bound=is_bound)
        if found is not None:
            yield found


def read_moment(span: Span, zone: Zone | None, remarks: Remarks, *, is_bound: bool = False) -> Moment | None:
    """Return a DATE or DATE-TIME; None, and a fault, for another text, or for seconds in the start of a run."""
    found = _DATE.fullmatch(span.text)
    day = calendar_day(*map(int, found.group(1, 2, 3))) if found else None
    hour, minute, second = (int(each or 0) for each in found.group(4, 5, 6)) if found else (0, 0, 0)
    if found is None or day is None or hour > 23 or minute > 59 or second > 59:
        help_text = "write 20261201T170000, or 20261201T170000Z for UTC; the years are 1970 to 2200"
        remarks.fault("moment", f"`{short(span.text)}` is not a date with a time of day", span, help_text)
        return None
    if second and not is_bound:
        remarks.fault("seconds", f"{WHOLE_MINUTES}, without seconds", span, "let it end in 00")
        return None
    own = UTC if found[7] else zone
    return Moment(day * MINUTES + hour * 60 + minute, own, is_date=found[4] is None, second=second)


def read_rule(span: Span, start: Moment, zone: Zone, remarks: Remarks) -> Rule | None:
    """Return a recurrence rule counted from its start; None, and all its faults, if it cannot be read.

    recur = rule_part (";" rule_part)*
    rule_part = PARTS "=" [^;]+
    """
    parts: dict[str, Span] = {}
    before = len(remarks.errors)
    for place in pieces(span, ";"):
        text = place.text
        key, sign, _ = text.partition("=")
        name = key.upper()
        if not text and place.start == span.end:
            continue  # a semicolon at the end
        if not sign or name not in _PARTS:
            remarks.fault(
                "rule", f"`{short(text)}` is not a part of a rule", place, f"write one of {', '.join(_PARTS)}"
            )
        elif name in parts:
            remarks.fault("rule", f"{name} occurs twice", place, "write it once, as a list")
        else:
            parts[name] = place.part(len(key) + 1)
    found = _rule_of(parts, span, start, zone, remarks)
    return found if len(remarks.errors) == before else None


def _rule_of(given: dict[str, Span], span: Span, start: Moment, zone: Zone, remarks: Remarks) -> Rule:
    frequency = _frequency(given.get("FREQ"), span, remarks)
    rule = Rule(frequency, start.wall)
    parts = _without_times(given, remarks) if start.is_date else given
    for name, (field, low, high, may_be_negative) in _LISTS.items():
        if name in parts:
            numbers = _numbers(name, parts[name], low, high, remarks, may_be_negative=may_be_negative)
            rule = rule._replace(**{field: numbers})  # type: ignore[arg-type]
    if "INTERVAL" in parts:
        rule = rule._replace(interval=_positive("INTERVAL", parts["INTERVAL"], remarks))
    if "COUNT" in parts:
        rule = rule._replace(runs=_positive("COUNT", parts["COUNT"], remarks))
    if "BYDAY" in parts:
        rule = rule._replace(weekdays=_weekdays(parts["BYDAY"], frequency, remarks))
    if "WKST" in parts:
        code = parts["WKST"].text.upper()
        if code in WEEKDAY_CODES:
            rule = rule._replace(week_start=WEEKDAY_CODES.index(code))
        else:
            remarks.fault("rule", f"`{short(code)}` is not a weekday", parts["WKST"], "write MO, or SU")
    if "UNTIL" in parts:
        rule = _with_until(rule, parts["UNTIL"], start, zone, remarks)
        if "COUNT" in parts:
            remarks.fault("rule", "a rule has UNTIL or COUNT, not both", parts["COUNT"], "remove one")
    _check_together(given, frequency, remarks)
    return rule


def _frequency(span: Span | None, whole: Span, remarks: Remarks) -> Frequency:
    names = ", ".join(each.name for each in Frequency)
    if span is None:
        remarks.fault("rule", "a rule needs FREQ", whole, f"write FREQ= and one of {names}")
        return Frequency.DAILY
    text = span.text.upper()
    if text == "SECONDLY":
        remarks.fault("seconds", f"{WHOLE_MINUTES}: SECONDLY is not possible", span, "write MINUTELY, or longer")
    elif text in Frequency.__members__:
        return Frequency[text]
    else:
        remarks.fault("rule", f"`{short(span.text)}` is not a frequency", span, f"write one of {names}")
    return Frequency.DAILY


def _numbers(name: str, span: Span, low: int, high: int, remarks: Remarks, *, may_be_negative: bool) -> tuple[int, ...]:
    found: set[int] = set()
    for place in pieces(span):
        text = place.text
        number = int(text) if re.fullmatch(r"[+-]?[0-9]{1,3}", text) else None
        if number is None or not (low <= number <= high or (may_be_negative and low <= -number <= high)):
            sign = f", or -{low} to -{high} from the end" if may_be_negative else ""
            remarks.fault("rule", f"{name} `{short(text)}` is out of range", place, f"write {low} to {high}{sign}")
        else:
            found.add(number)
    return tuple(sorted(found))


def _positive(name: str, span: Span, remarks: Remarks) -> int:
    if re.fullmatch(r"0*[1-9][0-9]{0,8}", span.text):
        return int(span.text)
    remarks.fault("rule", f"{name} `{short(span.text)}` is not a number of 1 or more", span, "write 1 or more")
    return 1


def _weekdays(span: Span, frequency: Frequency, remarks: Remarks) -> tuple[tuple[int, int], ...]:
    found: list[tuple[int, int]] = []
    for place in pieces(span):
        text = place.text
        match = _NTH.fullmatch(text)
        number = int(match[1] or 0) if match else 0
        if match is None or (match[1] and not 1 <= abs(number) <= 53):
            remarks.fault("rule", f"BYDAY `{short(text)}` is not a weekday", place, "write MO, 2TU or -1FR")
        elif number and frequency > Frequency.MONTHLY:
            message = f"`{text}`: only a month or a year has a {ordinal(abs(number))} weekday"
            remarks.fault("rule", message, place, f"write {match[2]}, or FREQ=MONTHLY")
        else:
            found.append((number, WEEKDAY_CODES.index(match[2].upper())))
    return tuple(dict.fromkeys(found))


def _without_times(parts: dict[str, Span], remarks: Remarks) -> dict[str, Span]:
    """Return the parts without those that are meaningless if the start is a date (RFC 5545, 3.3.10)."""
    for name in _TIMES & parts.keys():
        if parts[name].text.strip("0"):
            message = f"{name} is ignored, because the start is a date"
            remarks.warn("rule", message, parts[name], "write the start with a time of day: DTSTART:20261201T090000")
    return {name: part for name, part in parts.items() if name not in _TIMES}


def _with_until(rule: Rule, span: Span, start: Moment, zone: Zone, remarks: Remarks) -> Rule:
    """Add the last minute that may have a run: one that starts at the second of the start."""
    found = read_moment(span, None, remarks, is_bound=True)
    if found is None:
        return rule
    wall = found.wall * 60 + found.second
    if found.zone is not None:  # UTC, as RFC 5545 requires with a DTSTART with a zone
        wall = (start.zone or zone).local(wall)
    elif found.is_date and not start.is_date:
        wall += DAY - 1
    return rule._replace(until=(wall - start.second) // 60)


def _check_together(parts: dict[str, Span], frequency: Frequency, remarks: Remarks) -> None:
    """Add faults for what RFC 5545 forbids: parts that are meaningless with a frequency."""
    forbidden = {
        "BYWEEKNO": frequency != Frequency.YEARLY,
        "BYYEARDAY": Frequency.MONTHLY <= frequency <= Frequency.DAILY,
        "BYMONTHDAY": frequency == Frequency.WEEKLY,
    }
    for name, is_wrong in forbidden.items():
        if is_wrong and name in parts:
            message = f"{name} has no meaning with FREQ={frequency.name}"
            remarks.fault("rule", message, parts[name], "leave it out, or write FREQ=YEARLY")
    if "BYWEEKNO" in parts and "BYDAY" in parts and re.search(r"\d", parts["BYDAY"].text):
        message = "a numbered weekday has no meaning with BYWEEKNO"
        remarks.fault("rule", message, parts["BYDAY"], "remove the number")
    if "BYSETPOS" in parts and not any(name.startswith("BY") and name != "BYSETPOS" for name in parts):
        message = "BYSETPOS chooses from the values of another part, which is missing"
        remarks.fault("rule", message, parts["BYSETPOS"], "add BYDAY=MO,TU,WE,TH,FR, for example")
    if "BYSECOND" in parts and parts["BYSECOND"].text.strip("0"):
        remarks.fault("seconds", f"{WHOLE_MINUTES}: BYSECOND can only be 0", parts["BYSECOND"], "leave it out")


def _of_rule(rule: Rule, zone: Zone, context: Context) -> DaySet:
    pattern = RulePattern(rule)
    words = rule_words(pattern, rule)
    if pattern.last is not None and pattern.last < rule.start:
        return Nothing(zone, "never")
    if rule.until is not None:
        words = f"{words} until {day_text(rule.until // MINUTES)}"
    return WallSchedule(pattern, zone, words, context.policy, follows=pattern.follows)


__all__ = ["PROPERTIES", "Moment", "looks_like_rfc", "moments_words", "read_moment", "read_rfc"]
