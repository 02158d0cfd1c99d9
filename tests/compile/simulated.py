"""Compiled jobs in the simulated pool, by the command that users run: what starts, to the second."""

import re
from pathlib import Path
from random import Random
from typing import NamedTuple

from crondor.compile.writing.wish import Compiled
from crondor.zones import zone_of
from tests.cli.running import crondor
from tests.compile.compiled import DAY, Trial

_LENGTHS = (2, 7, 30, 120)  # days to simulate: the first with enough runs
_ENOUGH = 5
_TAIL = 300  # seconds before the end that are not looked at: a run may still be on its way
_STARTED = re.compile(r"^001 \S+ (\S+ \S+) ", re.MULTILINE)


class Simulated(NamedTuple):
    """What was wanted of a simulated pool and what it started, by the submit host's clock."""

    begin: int
    days: int
    wanted: list[str]
    started: list[str]


def simulated(each: Trial, compiled: Compiled, dice: Random, folder: Path) -> Simulated | None:
    """Let a pool run the jobs for some days around a clock change of the host, or any; None where nothing is wanted."""
    schedule, host = each.schedule(), zone_of(each.host)
    start, last = compiled.proof.start, compiled.proof.until
    changes = [change.start - DAY for change in host.changes(start + 2 * DAY, last - 3 * DAY)]
    begin = dice.choice(changes or range(start, last, DAY))
    begin = min(begin, schedule.next(begin) or begin)
    for length in _LENGTHS:
        days = max(1, (min(begin + length * DAY, last) - begin) // DAY)
        wanted = list(schedule.between(begin, begin + days * DAY - _TAIL))
        if len(wanted) >= _ENOUGH:
            break
    if not wanted:
        return None
    log, file = folder / "log", folder / "job.sub"
    log.unlink(missing_ok=True)
    file.write_text(_lines(each, compiled))
    result = crondor(
        *("simulate", str(file), "--now", str(begin), "--tz", each.host, "--days", str(days)),
        *("--schedd-interval", str(each.timing.schedd_interval), "--slots", str(len(compiled.jobs))),
        *("--run-time", "1", "--transfer", "0", "--match-delay", "0-5", "--no-advice", "--log", str(log)),
    )
    assert "Traceback" not in result.err
    clock = [f"{host.moment(time):%Y-%m-%d %H:%M:%S}" for time in wanted]
    end = f"{host.moment(begin + days * DAY - _TAIL):%Y-%m-%d %H:%M:%S}"
    return Simulated(begin, days, clock, [time for time in _STARTED.findall(log.read_text()) if time <= end])


def _lines(each: Trial, compiled: Compiled) -> str:
    lines = [f"universe = {each.timing.universe}", "executable = /bin/true", "on_exit_remove = false"]
    for commands in compiled.commands:
        lines += [*(f"{name} = {value}" for name, value in commands.items()), "queue"]
    return "\n".join([*lines, ""])
