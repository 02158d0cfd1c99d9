"""Schedules against croniter and cronsim: parsing, the next run, a hundred runs, as epochs and as datetimes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import islice
from zoneinfo import ZoneInfo

from croniter import croniter
from cronsim import CronSim, CronSimError

from benchmarks.measure import Case
from crondor.recurrence import NeverRuns, Recurrence
from crondor.spec import CronSpec, Dialect

START = 1795132925  # 2026-11-20 00:02:05 UTC
BEFORE_LEAP = 3981484800  # 2096-03-02 00:00 UTC: the next 29 February is in 2104

RICH = "0-30/5,45 8-18/2 1,15 1-6 1-5"
DENSE = "*/15 * * * *"
SCHEDULES = (("weekdays", "0 9 * * 1-5"), ("both days", "0 0 13 * 5"), ("yearly", "0 0 1 1 *"))


def cases() -> Iterator[Case]:
    """Yield every case; all of them begin with the text, nothing is kept from one repetition to the next."""
    yield _parse("parse, cold", DENSE)
    yield _parse("parse a rich line, cold", RICH)
    for zone_name, as_epochs, as_datetimes in (("UTC", 60, 25), ("America/New_York", 40, 30)):
        zone = ZoneInfo(zone_name)
        yield _hundred(f"100 x */15 as epochs, {zone_name}", DENSE, zone, as_epochs, epochs=True)
        yield _hundred(f"100 x */15 as datetimes, {zone_name}", DENSE, zone, as_datetimes, epochs=False)
        yield _one_next(zone_name, zone)
        for name, line in SCHEDULES:
            yield _hundred(f"100 x {name}, {zone_name}", line, zone, 10, epochs=True)
        yield _leap_day(zone_name, zone)
    yield _never()


def _parse(name: str, line: str) -> Case:
    start = datetime.fromtimestamp(START, ZoneInfo("UTC"))
    return Case(
        name,
        {
            "crondor": lambda: CronSpec.from_line(line, dialect=Dialect.UNIX),
            "cronsim": lambda: CronSim(line, start),
            "croniter": lambda: croniter(line, start),
        },
        1.5,
    )


def _hundred(name: str, line: str, zone: ZoneInfo, goal: float, *, epochs: bool) -> Case:
    start = datetime.fromtimestamp(START, zone)

    def ours() -> object:
        recurrence = Recurrence(CronSpec.from_line(line, dialect=Dialect.UNIX), zone)
        return list(islice(recurrence.upcoming(START) if epochs else recurrence.upcoming(start), 100))

    peers = {"crondor": ours, "cronsim": lambda: list(islice(CronSim(line, start), 100))}
    return Case(name, peers | {"croniter": _croniter(line, start, 100)}, goal)


def _croniter(line: str, start: datetime, count: int) -> Callable[[], object]:
    def theirs() -> object:
        schedule = croniter(line, start)
        return [schedule.get_next(datetime) for _ in range(count)]

    return theirs


def _one_next(zone_name: str, zone: ZoneInfo) -> Case:
    """One next on a spec that is built, without any table of ours; cronsim's objects are built beforehand."""
    start = datetime.fromtimestamp(START, zone)
    spec = CronSpec.from_line(DENSE, dialect=Dialect.UNIX)
    built = CronSim(DENSE, start)
    first = built.dt
    schedule = croniter(DENSE, start)

    def cronsim_next() -> object:
        built.dt = first  # back to the start: cheaper than a new object, in its favour
        return next(built)

    return Case(
        f"one next on a built spec, {zone_name}",
        {
            "crondor": lambda: Recurrence(spec, zone).next(START),
            "cronsim": cronsim_next,
            "croniter": lambda: schedule.get_next(datetime, start_time=start),
        },
        6,
    )


def _leap_day(zone_name: str, zone: ZoneInfo) -> Case:
    line = "0 0 29 2 *"
    start = datetime.fromtimestamp(BEFORE_LEAP, zone)
    return Case(
        f"29 February from 2096, {zone_name}",
        {
            "crondor": lambda: Recurrence(CronSpec.from_line(line, dialect=Dialect.UNIX), zone).next(BEFORE_LEAP),
            "cronsim": lambda: next(CronSim(line, start)),
            "croniter": _croniter(line, start, 1),
        },
        10,
    )


def _never() -> Case:
    line = "0 0 31 2 *"
    start = datetime.fromtimestamp(START, ZoneInfo("UTC"))

    def ours() -> None:
        with contextlib.suppress(NeverRuns):
            Recurrence(CronSpec.from_line(line, dialect=Dialect.UNIX)).next(START)

    def cronsims() -> None:
        with contextlib.suppress(CronSimError):
            CronSim(line, start)

    return Case("31 February refused", {"crondor": ours, "cronsim": cronsims}, 1 / 3)
