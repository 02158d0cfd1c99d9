"""Earlier runs as a table, JSON or bare epoch seconds."""

from __future__ import annotations

from collections.abc import Callable

from crondor.diagnostics import printable
from crondor_cli.common.data import instant
from crondor_cli.common.jobs import Job
from crondor_cli.common.options import Clock
from crondor_cli.common.output import say
from crondor_cli.common.streaming import echo_json
from crondor_cli.times.text import local_text, relative

Found = list[tuple[Job, "list[int] | None"]]


def _print_table(found: Found, clock: Clock) -> None:
    for job, times in found:
        where = job.name if job.line is None else f"{job.name}:{job.line}"
        if times is None:
            continue
        say(f"{printable(where)}, {clock.zone_name}")
        if not times:
            say("  no run before this time")
        for time in times:
            say(f"  {local_text(time, clock.zone)}  {relative(time - clock.now)}")


def _print_json(found: Found, clock: Clock) -> None:
    jobs = [
        {
            "name": job.name,
            "line": job.line,
            "count": job.count,
            "zone": clock.zone_name,
            "now": clock.now,
            "runs": [instant(time, clock.zone) for time in times or ()],
        }
        for job, times in found
    ]
    echo_json({"jobs": jobs})


def _print_epochs(found: Found, _: Clock) -> None:
    for _job, times in found:
        for time in times or ():
            say(time)


VIEWS: dict[str, Callable[[Found, Clock], None]] = {
    "table": _print_table,
    "json": _print_json,
    "epoch": _print_epochs,
}
