"""Random schedules compiled, and their lines tried by others: HTCondor's own library, the schedd's walk, a pool."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from itertools import takewhile
from pathlib import Path
from random import Random
from typing import NamedTuple

from crondor.compile.meaning import WrittenSchedule, read_schedule
from crondor.compile.writing.compiler import compile_schedule
from crondor.compile.writing.wish import CannotCompile, Compiled, Timing, Wish
from crondor.zones import zone_of
from tests.compile.cases import KINDS, ZONES

PEER = Path(__file__).with_name("clause_peer.py")
START = int(datetime(2020, 12, 1, tzinfo=timezone.utc).timestamp())
DAY = 86400
OTHERS = ("UTC", "Asia/Kolkata", "America/Los_Angeles")


class Trial(NamedTuple):
    """A schedule on a submit host, and what is asked beside it."""

    text: str
    zone: str
    host: str
    timing: Timing
    days: int
    local: bool

    def schedule(self) -> WrittenSchedule:
        """Return the schedule."""
        return read_schedule(self.text, zone=self.zone, start=START, name="nightly")

    def compiled(self) -> Compiled | CannotCompile:
        """Return the jobs, or the refusal."""
        timing = self.timing
        try:
            return compile_schedule(
                Wish(self.schedule(), zone_of(self.host), START, START + self.days * DAY, timing, local=self.local)
            )
        except CannotCompile as refusal:
            return refusal


_LEFT_OUT = (
    "",
    "",
    "",
    " except 2020-12-24..2021-01-06",
    " except holidays:DE-BW",
    " except (every Friday)",
    " except 2021-03-01T10:00..2021-03-01T14:00",
    " except (first Monday of the month)",
    " except (13:00..14:00)",
)


def trial(kind: str, number: int, days: int = 1100) -> Trial:
    """Return a random trial."""
    dice = Random(f"compiled {kind} {number}")  # noqa: S311 - test data
    text = KINDS[kind](dice).text
    left = dice.choice(_LEFT_OUT[:8])
    if left:
        text = f"({text}){left}"
    host = dice.choice(ZONES)
    zone = host if dice.random() < 0.5 else dice.choice(ZONES)
    timing = Timing(
        dice.choice((0, 0, 30, 60, 600)),
        dice.choice((None, None, 15, 300)),
        dice.choice((5, 60, 300)),
        dice.choice(("vanilla", "local")),
    )
    return Trial(text, zone, host, timing, days, local=zone == host and dice.random() < 0.3)


def offered(compiled: Compiled, most: int, dice: Random) -> list[list[int]]:
    """Return, for each job, times that its schedd may set: all near clock changes, and at most so many others."""
    found = []
    proof = compiled.proof
    near = _near_changes(compiled)
    for job in compiled.jobs:
        times: list[int] = []
        close: list[int] = []
        for day in range(proof.start // DAY, proof.until // DAY + 1):
            into = close if day in near else times
            minutes = (day * DAY + 60 * minute for minute in _members(job.superset.minutes(day)))
            into += [time for time in minutes if proof.start < time <= proof.until]
        if len(times) > most:
            at = dice.randrange(len(times) - most // 2)
            times = [*times[at : at + most // 2], *dice.sample(times, most // 2)]
        found.append(sorted({*times, *close}))
    return found


def _near_changes(compiled: Compiled) -> set[int]:
    """Return the UTC days of clock changes, and those beside them, of the submit host and of the schedule's zone."""
    wish, proof = compiled.wish, compiled.proof
    changes = [c for zone in (wish.host, wish.schedule.zone) for c in zone.changes(proof.start - DAY, proof.until)]
    return {change.start // DAY + more for change in changes for more in (-1, 0, 1)}


def _members(bits: int) -> list[int]:
    return [at for at in range(bits.bit_length()) if bits >> at & 1]


def passing(clauses: Sequence[str], times: Sequence[Sequence[int]], zone: str) -> list[set[int] | None]:
    """Return which times HTCondor's own library lets pass each clause, on a host in a zone; None for a refusal."""
    lines = "".join(
        json.dumps({"clause": clause, "times": list(some)}) + "\n" for clause, some in zip(clauses, times, strict=True)
    )
    done = subprocess.run(
        [sys.executable, str(PEER)],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TZ": zone},
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return [None if each is None else set(each) for each in found]


def walked(compiled: Compiled, start: int, until: int) -> list[set[int]]:
    """Return the answers of each job's schedd from one instant to another, each fed into the next."""
    return [{int(a) for a in takewhile(until.__ge__, job.superset.schedd.upcoming(start))} for job in compiled.jobs]


class Tally(NamedTuple):
    """What came of many trials: ``times`` were judged by the library, ``changes`` of submit hosts' clocks passed."""

    exact: Counter[str]
    refused: Counter[str]
    times: int
    changes: int
    faults: list[str]


_Case = tuple[str, list[int], set[int], Trial]  # a clause, times, the wanted ones among them, and where it is from


def tried(trials: Sequence[Trial], most: int, dice: Random) -> Tally:
    """Compile trials, and hold each against HTCondor's library in the host's zone and, zone-proof, in three others."""
    exact: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    faults: list[str] = []
    asked: dict[str, list[_Case]] = {}
    count = changes = 0
    for each in trials:
        compiled = each.compiled()
        if isinstance(compiled, CannotCompile):
            refused[compiled.diagnostics[0].kind] += 1
            continue
        exact[f"{len(compiled.jobs)} job{'s' if len(compiled.jobs) > 1 else ''}"] += 1
        if not compiled.exact:
            faults.append(f"not exact: {each}")
            continue
        schedule = each.schedule()
        changes += sum(1 for _ in zone_of(each.host).changes(compiled.proof.start, compiled.proof.until))
        samples = offered(compiled, most, dice)
        union: set[int] = set()
        for job, times in zip(compiled.jobs, samples, strict=True):
            wanted = {time for time in times if schedule.matches(time)}
            union |= wanted
            count += len(times)
            if not job.clause:
                if wanted != set(times):
                    faults.append(f"without a clause: {each}")
                continue
            epoch = "formatTime" not in job.clause
            for zone in (each.host, *(OTHERS if epoch else ())):
                asked.setdefault(zone, []).append((job.clause, times, wanted, each))
    for zone, cases in asked.items():
        faults += _faults(zone, cases)
    return Tally(exact, refused, count, changes, faults)


def _faults(zone: str, cases: list[_Case]) -> Iterator[str]:
    """Yield where HTCondor's library, on a host in a zone, lets other times pass than the wanted ones."""
    found = passing([case[0] for case in cases], [case[1] for case in cases], zone)
    for (clause, _, wanted, each), passed in zip(cases, found, strict=True):
        if passed is None:
            yield f"refused by the library: {clause}"
        elif passed - wanted or _missing(wanted - passed, each):
            yield f"{each} in {zone}: {sorted(passed ^ wanted)[:5]} {clause[:200]}"


def _missing(missing: set[int], each: Trial) -> bool:
    """Say whether times that one job lets pass by are no other job's."""
    if not missing:
        return False
    compiled = each.compiled()
    assert isinstance(compiled, Compiled)
    return not all(
        sum(job.superset.minutes(t // DAY) >> t % DAY // 60 & 1 for job in compiled.jobs) > 1 for t in missing
    )
