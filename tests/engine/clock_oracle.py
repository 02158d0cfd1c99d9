"""When a schedule runs beside a clock change, by looking at the clock at every minute: the words of the policies."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache, lru_cache
from itertools import groupby
from typing import NamedTuple
from zoneinfo import ZoneInfo

from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, HOUR, MINUTE, MONTH, CronSpec, Dialect
from crondor.zones import Policy

DAY = 86400
MINUTE_LONG = timedelta(minutes=1)
_MARGIN = 6 * 3600  # what a change beside an interval may still move into it
LONGEST_GAP = timedelta(hours=3)  # a gap of three hours or more drops its runs

# Where clocks are changed at two or three, at midnight and a minute after it, by half an hour, by two or three hours,
# by a day, by seconds, backwards in summer, and twice in a spring.
ZONES = [
    "Africa/Cairo",
    "Africa/Casablanca",
    "Africa/Monrovia",
    "America/Caracas",
    "America/Havana",
    "America/New_York",
    "America/Santiago",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Antarctica/Casey",
    "Antarctica/Troll",
    "Asia/Amman",
    "Asia/Beirut",
    "Asia/Gaza",
    "Asia/Kathmandu",
    "Asia/Pyongyang",
    "Asia/Tehran",
    "Asia/Tokyo",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "Europe/Dublin",
    "Europe/Lisbon",
    "Pacific/Apia",
    "Pacific/Chatham",
    "Pacific/Kiritimati",
    "Pacific/Kwajalein",
]


class Change(NamedTuple):
    """A clock change (epoch seconds), and what the clock shows just before it and at it."""

    instant: int
    old: datetime
    new: datetime

    @property
    def is_gap(self) -> bool:
        """Say whether the clock goes forward."""
        return self.new > self.old

    @property
    def touched(self) -> tuple[datetime, datetime]:
        """The wall-clock times that are skipped, or shown twice (the end excluded)."""
        return min(self.old, self.new), max(self.old, self.new)


class Minute(NamedTuple):
    """One minute of the wall clock: the instants at which the clock shows it, none in a gap, two in a fold.

    Of a skipped one: ``moved`` is where it lies when the gap's length is added, ``resumes`` the first instant after
    the gap; both None in a gap of three hours or more.
    """

    wall: datetime
    passes: tuple[int, ...]
    moved: int | None = None
    resumes: int | None = None


@cache
def changes(name: str, start: int = 0, end: int = 2_500_000_000) -> tuple[Change, ...]:
    """Return every change of a zone's offset, by looking at the clock every two days and then closer."""
    zone = ZoneInfo(name)
    found = []
    reached = _offset(start, zone)
    for low in range(start, end, 2 * DAY):
        before, after = low, low + 2 * DAY
        last, reached = reached, _offset(after, zone)
        if last == reached:
            continue
        while after - before > 1:
            middle = (before + after) // 2
            before, after = (middle, after) if _offset(middle, zone) == _offset(before, zone) else (before, middle)
        old = show(before, zone) + timedelta(seconds=1)
        found.append(Change(after, old, show(after, zone)))
    return tuple(found)


def show(instant: int, zone: ZoneInfo) -> datetime:
    """Return what the clock on the wall shows."""
    return datetime.fromtimestamp(instant, zone).replace(tzinfo=None)


def _offset(instant: int, zone: ZoneInfo) -> timedelta | None:
    return datetime.fromtimestamp(instant, zone).utcoffset()


def kinds(zone: str) -> list[Change]:
    """Return the last change of each kind that a zone has had: its time of day, and how far the clock goes."""
    found = {(change.old.time(), change.new - change.old): change for change in changes(zone)}
    return list(found.values())


def grid_id(value: str | Change) -> str:
    """Return what names a zone or a change in a test's name."""
    return value if isinstance(value, str) else f"{value.old:%Y-%m-%dT%H:%M}"


GRID = [(zone, change) for zone in ZONES for change in kinds(zone)]


@lru_cache(maxsize=256)
def minutes(name: str, low: int, high: int) -> tuple[Minute, ...]:
    """Return the minutes that the clock on the wall shows or skips from ``low`` to ``high``, and some hours more."""
    zone = ZoneInfo(name)
    seen: dict[datetime, list[int]] = {}
    skipped: list[Minute] = []
    before = low - _MARGIN
    before -= show(before, zone).second
    wall = show(before, zone)
    while before < high + _MARGIN:
        seen.setdefault(wall, []).append(before)
        instant, following = before + 60, show(before + 60, zone)
        if following != wall + MINUTE_LONG:
            instant += -following.second % 60  # a clock that was changed by seconds
            following = show(instant, zone)
            skipped += _skipped(before, instant, zone)
        before, wall = instant, following
    shown = [Minute(wall, tuple(passes)) for wall, passes in seen.items()]
    return tuple(sorted([*shown, *(minute for minute in skipped if minute.wall not in seen)]))


def _skipped(before: int, instant: int, zone: ZoneInfo) -> Iterator[Minute]:
    """Yield the minutes that the clock skips between two instants that follow each other."""
    last = show(before, zone)
    resumes = next(at for at in range(before, instant + 1) if _offset(at, zone) == _offset(instant, zone))
    gap = show(resumes, zone) - last - timedelta(seconds=resumes - before)
    wall = last + MINUTE_LONG
    while wall < show(instant, zone):
        moved = before + (wall - last) // timedelta(seconds=1)  # the old clock, read on through the gap
        yield Minute(wall, ()) if gap >= LONGEST_GAP else Minute(wall, (), moved, resumes)
        wall += MINUTE_LONG


def fires_on(spec: CronSpec, wall: datetime) -> bool:
    """Say whether a schedule names a wall-clock minute, from the words of docs/dialects.md."""
    return names_day(spec, wall) and wall.minute in spec.values(MINUTE) and wall.hour in spec.values(HOUR)


def names_day(spec: CronSpec, wall: datetime) -> bool:
    """Say whether a schedule names a date, from the words of docs/dialects.md."""
    if wall.month not in spec.values(MONTH):
        return False
    by_day = wall.day in spec.values(DAY_OF_MONTH)
    by_weekday = wall.isoweekday() % 7 in spec.values(DAY_OF_WEEK)
    _, _, day_starred, _, weekday_starred = spec.stars
    if spec.dialect is Dialect.UNIX:
        return by_day and by_weekday if day_starred or weekday_starred else by_day or by_weekday
    if day_starred or weekday_starred:
        return (day_starred or by_day) and (weekday_starred or by_weekday)
    return by_day or by_weekday


def follows_real_time(spec: CronSpec, policy: Policy) -> bool:
    """Say whether a schedule goes on through gaps and folds as if there were none, from docs/clock-changes.md."""
    minute, hour = (_is_starred(text or "*", spec.dialect) for text in spec.given[:2])
    return {Policy.COMPATIBLE: hour, Policy.DEBIAN: minute or hour, Policy.SKIP: False, Policy.KUBERNETES: True}[policy]


def _is_starred(text: str, dialect: Dialect) -> bool:
    if dialect is Dialect.UNIX:
        return text.startswith("*")
    return any(item.strip().startswith("*") for item in text.split(","))


@lru_cache(maxsize=256)
def _days(name: str, low: int, high: int) -> list[tuple[datetime, list[Minute]]]:
    """Return the minutes of each day, with the first of them."""
    groups = (list(group) for _, group in groupby(minutes(name, low, high), lambda minute: minute.wall.date()))
    return [(group[0].wall, group) for group in groups]


@lru_cache(maxsize=256)
def runs(spec: CronSpec, name: str, policy: Policy, low: int, high: int) -> tuple[int, ...]:
    """Return the runs after ``low`` up to ``high`` (epoch seconds), which lie some days apart at most."""
    follows = follows_real_time(spec, policy)
    found: set[int] = set()
    for day, shown in _days(name, low, high):
        if names_day(spec, day):
            named = (
                minute for minute in shown if spec.bits[0] >> minute.wall.minute & spec.bits[1] >> minute.wall.hour & 1
            )
            found.update(at for minute in named for at in placed(minute, policy, follows=follows))
    return tuple(sorted(instant for instant in found if low < instant <= high))


def placed(minute: Minute, policy: Policy, *, follows: bool) -> list[int]:
    """Return when a minute that a schedule names is run, under a policy."""
    if minute.passes:
        return list(minute.passes if follows else minute.passes[:1])
    if follows or policy is Policy.SKIP or minute.moved is None or minute.resumes is None:
        return []
    return [minute.moved if policy is Policy.COMPATIBLE else minute.resumes]
