"""Random schedules of each kind, with the times that an independent oracle says they have on the wall clock."""

import calendar
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from random import Random
from typing import NamedTuple
from zoneinfo import ZoneInfo

from croniter import croniter
from dateutil.rrule import rrulestr

from crondor.zones import Policy

# Changes at one, two, three and midnight, by half an hour, by two hours, never, and for the time of Ramadan.
ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Antarctica/Troll",
    "Asia/Beirut",
    "Africa/Casablanca",
    "America/St_Johns",
)
_LONGEST_GAP = timedelta(hours=3)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_CODES = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_ORDINALS = ("first", "second", "third", "fourth", "last")


class Case(NamedTuple):
    """A text; the wall-clock times that it has from one time to another; whether it follows real time."""

    text: str
    walls: Callable[[datetime, datetime], Iterator[datetime]]
    follows: bool = False


def walls_of(case: Case, start: datetime, end: datetime) -> list[datetime]:
    """Return the wall-clock times of a case between two others, and of some days beside them."""
    return list(case.walls(start - timedelta(days=2), end + timedelta(days=2)))


def instants(case: Case, walls: list[datetime], zone: str, policy: Policy, start: datetime, end: datetime) -> list[int]:
    """Return the instants (epoch seconds) of a case in a zone, by what datetime says of gaps and folds."""
    info = ZoneInfo(zone)
    found: set[int] = set()
    follows = policy is Policy.KUBERNETES or (case.follows and policy is not Policy.SKIP)
    for wall in walls:
        found.update(_placed(wall, info, policy, follows=follows))
    low, high = (int(each.replace(tzinfo=info).timestamp()) for each in (start, end))
    return sorted(each for each in found if low < each <= high)


def _placed(wall: datetime, zone: ZoneInfo, policy: Policy, *, follows: bool) -> list[int]:
    first, second = (int(wall.replace(tzinfo=zone, fold=fold).timestamp()) for fold in (0, 1))
    if first == second:
        return [first]
    if datetime.fromtimestamp(first, zone).replace(tzinfo=None) == wall:
        return [first, second] if follows else [first]
    # A gap: fold 0 reads the old clock on, fold 1 the new one back.
    if follows or policy is Policy.SKIP or timedelta(seconds=first - second) >= _LONGEST_GAP:
        return []
    if policy is Policy.COMPATIBLE:
        return [first]
    offset = datetime.fromtimestamp(second, zone).utcoffset()
    return [next(at for at in range(second, first + 1, 60) if datetime.fromtimestamp(at, zone).utcoffset() != offset)]


def _days(start: datetime, end: datetime) -> Iterator[date]:
    day = start.date()
    while day <= end.date():
        yield day
        day += timedelta(days=1)


def _by_day(takes: Callable[[date], bool], times: list[time]) -> Callable[[datetime, datetime], Iterator[datetime]]:
    def walls(start: datetime, end: datetime) -> Iterator[datetime]:
        for day in _days(start, end):
            if takes(day):
                yield from (datetime.combine(day, at) for at in times)

    return walls


def _times(dice: Random) -> list[time]:
    return sorted({time(dice.randrange(24), dice.choice((0, 15, 30, 59))) for _ in range(dice.randint(1, 3))})


def _length(day: date) -> int:
    return calendar.monthrange(day.year, day.month)[1]


def _nth(day: date, weekdays: set[int], number: int) -> bool:
    """Say whether a day is the n-th of its month (-1 the last) among those of some weekdays (0 is Monday)."""
    days = [d for d in range(1, _length(day) + 1) if day.replace(day=d).weekday() in weekdays]
    index = number - 1 if number > 0 else len(days) + number
    return 0 <= index < len(days) and days[index] == day.day


# Cron


def cron(dice: Random) -> Case:
    """Return fields with L, W, # and years, by their definition, day by day."""
    minutes, hours = sorted(dice.sample(range(60), dice.randint(1, 2))), sorted(dice.sample(range(24), 2))
    kinds: list[tuple[str, str, Callable[[date], bool]]] = []
    back, day, weekday, number = dice.randint(1, 9), dice.randint(1, 31), dice.randrange(7), dice.randint(1, 5)
    name = dice.choice((str((weekday + 1) % 7), _WEEKDAYS[weekday][:3].upper()))
    kinds.append(("L", "*", lambda d: d.day == _length(d)))
    kinds.append((f"L-{back}", "?", lambda d: d.day == _length(d) - back))
    kinds.append(("LW", "*", lambda d: _nth(d, {0, 1, 2, 3, 4}, -1)))
    kinds.append((f"{day}W", "?", lambda d: d.day == _nearest(d.year, d.month, day)))
    kinds.append(("*", f"{name}L", lambda d: _nth(d, {weekday}, -1)))
    kinds.append(("?", f"{name}#{number}", lambda d: _nth(d, {weekday}, number)))
    kinds.append((f"{day},L", f"{name}#1", lambda d: d.day in {day, _length(d)} or _nth(d, {weekday}, 1)))
    of_month, of_week, takes = dice.choice(kinds)
    months = sorted(dice.sample(range(1, 13), dice.choice((12, 12, 3))))
    years = dice.choice(("", "", " 2021-2027", " 2022,2024", " 2020/2"))
    taken = {"": range(9999), " 2021-2027": range(2021, 2028), " 2022,2024": (2022, 2024)}.get(
        years, range(2020, 2201, 2)
    )
    month = "*" if len(months) == 12 else ",".join(map(str, months))
    text = f"{_list(minutes)} {_list(hours)} {of_month} {month} {of_week}{years}"
    at = [time(hour, minute) for hour in hours for minute in minutes]
    return Case(text, _by_day(lambda d: takes(d) and d.month in months and d.year in taken, at))


def _nearest(year: int, month: int, day: int) -> int:
    """Return the weekday nearest to a day in its month, by trying all; 0 where the month has no such day."""
    length = calendar.monthrange(year, month)[1]
    if day > length:
        return 0
    near = sorted((d for d in range(1, length + 1) if date(year, month, d).weekday() < 5), key=lambda d: abs(d - day))
    return near[0]


def _list(values: list[int]) -> str:
    return ",".join(map(str, values))


def cron_by_croniter(dice: Random) -> Case:
    """Return fields with L and #, by croniter."""
    weekday = dice.randrange(7)
    ours, theirs = dice.choice(
        (("L", "L"), (f"* * {weekday}#{dice.randint(1, 5)}", ""), (f"* * {weekday}L", f"* * L{weekday}"))
    )
    head = f"{dice.randrange(60)} {dice.randrange(24)}"
    tail = "" if ours.startswith("*") else f" {dice.choice(('*', '2', '1-6'))} *"

    def walls(start: datetime, end: datetime) -> Iterator[datetime]:
        found = croniter(f"{head} {theirs or ours}{tail}", start)
        at: datetime = found.get_next(datetime)
        while at <= end:
            yield at
            at = found.get_next(datetime)

    return Case(f"{head} {ours}{tail}", walls)


# RFC 5545


def rule(dice: Random) -> Case:
    """Return a recurrence rule, by dateutil; what that refuses to count, as it finds nothing, is tried no further.

    Nor is a place that no hour and no minute has: it walks to the year 9999 for it, hour by hour.
    """
    while True:
        frequency = dice.choice(("YEARLY", "MONTHLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY"))
        interval = dice.choice((90, 45, 7 * 60, 1441) if frequency == "MINUTELY" else (1, 1, 2, 3, 5, 7))
        parts = [f"FREQ={frequency}", f"INTERVAL={interval}", *_rule_dates(dice, frequency), *_rule_times(dice)]
        if dice.random() < 0.3 and any(part.startswith("BY") for part in parts):
            parts.append(f"BYSETPOS={_list(dice.sample((1, 2, 3, -1, -2), dice.randint(1, 2)))}")
        parts += dice.choice(([], [f"WKST={dice.choice(_CODES)}"]))
        parts += dice.choice(([], [], [f"COUNT={dice.choice((1, 5, 60))}"], ["UNTIL=20240615T120000"]))
        start = datetime.combine(
            date(2019, dice.randint(1, 12), dice.randint(1, 28)), time(dice.randrange(24), dice.choice((0, 20, 45)))
        )
        text = ";".join(parts)
        places, minutes = (_numbers(name, text) for name in ("BYSETPOS", "BYMINUTE"))
        size = len(minutes) or 1 if frequency == "HOURLY" else 1
        if places and frequency in {"HOURLY", "MINUTELY"} and min(map(abs, places)) > size:
            continue
        with suppress(ValueError):
            return rule_case(text, start)


def _numbers(name: str, text: str) -> list[int]:
    """Return the numbers of a part of a rule, none where it is not there."""
    found = re.search(rf"{name}=([-0-9,]+)", text)
    return [int(each) for each in found[1].split(",")] if found else []


def _rule_dates(dice: Random, frequency: str) -> Iterator[str]:
    has_months, has_days = dice.random() < 0.3, dice.random() < 0.5
    days = _rule_days(dice, frequency, by_month=has_months)
    if has_months:
        yield f"BYMONTH={_list(sorted(dice.sample(range(1, 13), dice.randint(1, 5))))}"
    if has_days:
        yield f"BYDAY={days}"
    of_month = dice.sample((1, 2, 13, 15, 28, 29, 30, 31, -1, -2, -7, -31), dice.randint(1, 4))
    if dice.random() < 0.3 and frequency != "WEEKLY":
        yield f"BYMONTHDAY={_list(of_month)}"
    elif dice.random() < 0.15 and frequency in {"YEARLY", "HOURLY", "MINUTELY"}:
        yield f"BYYEARDAY={_list(dice.sample((1, 60, 100, 200, 365, 366, -1, -100, -366), 3))}"
    elif dice.random() < 0.3 and frequency == "YEARLY" and has_days and not any(c.isdigit() for c in days):
        yield f"BYWEEKNO={_list(dice.sample((1, 2, 20, 52, 53, -1, -10), 2))}"


def _rule_times(dice: Random) -> Iterator[str]:
    if dice.random() < 0.3:
        yield f"BYHOUR={_list(sorted(dice.sample(range(24), dice.randint(1, 3))))}"
    if dice.random() < 0.3:
        yield f"BYMINUTE={_list(sorted(dice.sample(range(60), dice.randint(1, 2))))}"


def _rule_days(dice: Random, frequency: str, *, by_month: bool) -> str:
    days = dice.sample(_CODES, dice.randint(1, 5))
    if frequency == "MONTHLY" and dice.random() < 0.5:
        return ",".join(f"{dice.choice((1, 2, 3, 4, 5, -1, -2))}{day}" for day in days[:2])
    if frequency == "YEARLY" and dice.random() < 0.5:
        numbers = (1, 2, -1) if by_month else (1, 10, 20, 53, -1, -5)
        return ",".join(f"{dice.choice(numbers)}{day}" for day in days[:2])
    return ",".join(days)


def rule_case(text: str, start: datetime) -> Case:
    """Return a rule from a start, by dateutil."""
    oracle = rrulestr(f"DTSTART:{start:%Y%m%dT%H%M%S}\nRRULE:{text}")

    def walls(low: datetime, high: datetime) -> Iterator[datetime]:
        with suppress(ValueError):  # it says so where it finds that there is no run at all
            yield from (at for at in oracle.between(low, high, inc=True) if not at.second)

    follows = ("HOURLY" in text or "MINUTELY" in text) and "BYHOUR" not in text
    return Case(f"DTSTART:{start:%Y%m%dT%H%M%S} RRULE:{text}", walls, follows)


# Calendar events


def event(dice: Random) -> Case:
    """Return a calendar event made of known sets, by looking at every day."""
    weekdays = set(dice.sample(range(7), dice.choice((7, 7, 1, 3))))
    months = sorted(dice.sample(range(1, 13), dice.choice((12, 12, 2, 4))))
    from_end = dice.random() < 0.3
    days = sorted(dice.sample(range(1, 29 if from_end else 32), dice.choice((1, 3, 10))))
    every_day = not from_end and dice.random() < 0.4
    hours, minutes = sorted(dice.sample(range(24), dice.randint(1, 3))), sorted(dice.sample(range(60), 2))
    week = "" if len(weekdays) == 7 else ",".join(_WEEKDAYS[d][:3] for d in sorted(weekdays)) + " "
    month = "*" if len(months) == 12 else ",".join(f"{m:02}" for m in months)
    date_part = f"*-{month}{'~' if from_end else '-'}{'*' if every_day else _list(days)}"

    def takes(day: date) -> bool:
        number = _length(day) - day.day + 1 if from_end else day.day
        return day.weekday() in weekdays and day.month in months and (every_day or number in days)

    at = [time(hour, minute) for hour in hours for minute in minutes]
    return Case(f"{week}{date_part} {_list(hours)}:{_list(minutes)}", _by_day(takes, at))


# Words


def words(dice: Random) -> Case:
    """Return a phrase, by its plain meaning, day by day."""
    at = _times(dice)
    said = " and ".join(f"{each:%H:%M}" for each in at)
    start = date(2019, dice.randint(1, 12), dice.randint(1, 28))
    weekday, number, n = dice.randrange(7), dice.randrange(5), dice.randint(2, 9)
    place = -1 if number == 4 else number + 1
    name = _WEEKDAYS[weekday]
    other = _WEEKDAYS[(weekday + 2) % 7]
    two = {weekday, (weekday + 2) % 7}
    day_of_month = dice.randint(1, 31)
    monday = start - timedelta(days=start.weekday())
    working = {0, 1, 2, 3, 4}
    some = start.replace(year=2021), start.replace(year=2024)

    def turn(day: date) -> int:
        return (day.year - start.year) * 12 + day.month - start.month

    phrases: list[tuple[str, Callable[[date], bool]]] = [
        (f"every {name} at {said}", lambda d: d.weekday() == weekday),
        (f"every {name} and {other} at {said}", lambda d: d.weekday() in two),
        (f"every weekday at {said}", lambda d: d.weekday() in working),
        (f"weekends at {said}", lambda d: d.weekday() in {5, 6}),
        (f"every {n} days at {said} from {start}", lambda d: d >= start and (d - start).days % n == 0),
        (
            f"every {n} weeks on {name} at {said} from {start}",
            lambda d: d >= start and d.weekday() == weekday and (d - monday).days // 7 % n == 0,
        ),
        (
            f"every {n} months on the last {name} at {said} from {start}",
            lambda d: d >= start and turn(d) % n == 0 and _nth(d, {weekday}, -1),
        ),
        (f"every {n} months at {said} from {start}", lambda d: d >= start and turn(d) % n == 0 and d.day == start.day),
        (f"{_ORDINALS[number]} {name} of the month at {said}", lambda d: _nth(d, {weekday}, place)),
        (f"last working day of the month at {said}", lambda d: _nth(d, working, -1)),
        (f"last day of the month at {said}", lambda d: d.day == _length(d)),
        (f"first and third {name} of the month at {said}", lambda d: _nth(d, {weekday}, 1) or _nth(d, {weekday}, 3)),
        (f"on the {day_of_month}th of the month at {said}", lambda d: d.day == day_of_month),
        (f"second {name} of March, June at {said}", lambda d: d.month in {3, 6} and _nth(d, {weekday}, 2)),
        (f"{some[0]}, {some[1]} at {said}", lambda d: d in some),
    ]
    text, takes = dice.choice(phrases)
    return Case(text, _by_day(takes, at))


KINDS: dict[str, Callable[[Random], Case]] = {
    "cron": cron,
    "croniter": cron_by_croniter,
    "rule": rule,
    "event": event,
    "words": words,
}
