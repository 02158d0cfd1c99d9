"""Earlier runs as a table, JSON or bare epoch seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from crondor.diagnostics import printable
from crondor_cli.common.data import instant
from crondor_cli.common.jobs import Job
from crondor_cli.common.options import Clock
from crondor_cli.common.output import echo_lines
from crondor_cli.common.streaming import echo_json
from crondor_cli.times.text import ClockFace, relative

Found = list[tuple[Job, "Sequence[int] | None"]]


def _print_table(found: Found, clock: Clock) -> None:
    echo_lines(_lines(found, clock))


def _lines(found: Found, clock: Clock) -> Iterator[str]:
    face = ClockFace(clock.zone)
    for job, times in found:
        if times is None:
            continue
        where = job.name if job.line is None else f"{job.name}:{job.line}"
        yield f"{printable(where)}, {clock.zone_name}"
        if not times:
            yield "  no run before this time"
        for time in times:
            yield f"  {face.text(time)}  {relative(time - clock.now)}"


def _print_json(found: Found, clock: Clock) -> None:
    jobs = (
        {
            "name": job.name,
            "line": job.line,
            "count": job.count,
            "zone": clock.zone_name,
            "now": clock.now,
            "runs": (instant(time, clock.zone) for time in times or ()),
        }
        for job, times in found
    )
    echo_json({"jobs": jobs})


def _print_epochs(found: Found, _: Clock) -> None:
    echo_lines(str(time) for _job, times in found for time in times or ())


VIEWS: dict[str, Callable[[Found, Clock], None]] = {
    "table": _print_table,
    "json": _print_json,
    "epoch": _print_epochs,
}
