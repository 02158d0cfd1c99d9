"""`crondor next --queue`: the coming starts of the jobs of a queue, in order of time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from crondor.diagnostics import has_error
from crondor.schedd.reading import QueuedStart, coming_starts
from crondor.spec import Dialect
from crondor.zones import Policy
from crondor_cli.kit.options import Clock, QueueOptions
from crondor_cli.kit.queues import reading_of
from crondor_cli.kit.screen import say, show
from crondor_cli.kit.tables import cell, diagnostic_data, echo_json, moments, print_rows
from crondor_cli.kit.times import ClockFace

if TYPE_CHECKING:
    from crondor_cli.next import results


def show_starts(
    asked: QueueOptions,
    jobs: tuple[str, ...],
    constraint: str | None,
    clock: Clock,
    dialect: Dialect | None,
    policy: Policy | None,
    count: int,
    form: str,
) -> None:
    """Print the first ``count`` starts of a queue's jobs. Exits with 1 if the queue cannot be read."""
    read = reading_of(asked, jobs, constraint, clock, dialect, policy)
    starts = coming_starts(read.looks(), count)
    show(dict.fromkeys(read.found.findings))
    if form == "json":
        rows: Iterator[results.NextStart] = (
            {"job": start.job, "owner": start.owner, "cmd": start.cmd, **moments(start.deferral, clock.zone)}
            for start in starts
        )
        echo_json({**read.head, "starts": rows, "diagnostics": map(diagnostic_data, read.found.findings)})
    else:
        _print_table(starts, clock)
    if has_error(read.found.findings):
        raise click.exceptions.Exit(1)


def _print_table(starts: list[QueuedStart], clock: Clock) -> None:
    if not starts:
        say("no start ahead")
        return
    face = ClockFace(clock.zone)
    rows = []
    for job, owner, cmd, run in starts:
        distance = face.relative(run.time - clock.now)
        edges = (face.beside(run.match_opens, run.time), face.beside(run.last_start, run.time))
        rows.append([face.text(run.time), distance, job, cell(owner), cell(cmd), *edges])
    print_rows(["start", "from now", "job", "owner", "cmd", "match opens", "last start"], rows)
