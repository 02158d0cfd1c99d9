"""`crondor next --schedule`: the coming or past runs of a schedule in any language."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

import click

from crondor.diagnostics import Diagnostic, Severity, printable
from crondor.preview.facts import LAST_INSTANT
from crondor_cli.kit.options import Clock
from crondor_cli.kit.schedules import asked_data, known_text
from crondor_cli.kit.screen import columns_of_rows, echo_lines, screen_columns, show
from crondor_cli.kit.tables import diagnostic_data, echo_csv, echo_json, instant
from crondor_cli.kit.times import ClockFace, zone_text
from crondor_cli.next.shown import CSV_COLUMNS

if TYPE_CHECKING:
    from crondor.compile.meaning import WrittenSchedule
    from crondor_cli.next import results


def show_asked(
    schedule: WrittenSchedule, clock: Clock, start: int, end: int | None, count: int, form: str, *, is_previous: bool
) -> None:
    """Print the runs after ``start`` (epoch seconds), up to ``end``; or those before it, the latest first.

    Exits with 1 if there are none.
    """
    last = LAST_INSTANT if end is None else end
    runs = array("q", islice(schedule.backwards(start) if is_previous else schedule.between(start, last), count))
    findings = [*schedule.warnings]
    if not is_previous and schedule.until is not None and len(runs) < count and (end is None or end > schedule.until):
        message = f"no run is known beyond: {schedule.until_reason}"
        findings.append(Diagnostic("schedule-known", message, Severity.WARNING))
    show(findings)
    row: results.AskedRuns = {**asked_data(schedule, clock), "runs": (instant(run, clock.zone) for run in runs)}
    if form == "json":
        past: results.Past = {"jobs": [], "schedules": iter((row,))}
        coming: results.Coming = {"jobs": [], "schedules": iter((row,)), "diagnostics": map(diagnostic_data, findings)}
        echo_json(past if is_previous else coming)
    elif form == "csv":
        lines = ((row["text"], "", i, *run.values(), *[""] * 5) for i, run in enumerate(row["runs"], 1))
        echo_csv(chain((CSV_COLUMNS,), lines))
    else:
        echo_lines(map(str, runs) if form == "epoch" else _table(row, schedule, runs, clock))
    if not runs:
        raise click.exceptions.Exit(1)


def _table(row: results.AskedRuns, schedule: WrittenSchedule, runs: Sequence[int], clock: Clock) -> Iterator[str]:
    is_apart = row["zone"] != clock.zone_name
    yield from (printable(row["text"]), f"  schedule   {printable(row['words'])}")
    zone = f"{row['zone']}; the submit host's is {clock.zone_name}" if is_apart else zone_text(clock)
    yield f"  zone       {zone}"
    if row["until"] is not None:
        yield f"  known      {known_text(row['until'], clock)}"
    yield ""
    if not runs:
        yield "  no run in this time"
        return
    size = len(str(len(runs)))
    head = ["  " + "#".rjust(size + 1), "local time", "from now", *(["submit host's time"] if is_apart else [])]
    own, hosts = ClockFace(schedule.zone.info), ClockFace(clock.zone)
    rows = (
        [f"   {i:>{size}}", own.text(run), own.relative(run - clock.now), *([hosts.text(run)] if is_apart else [])]
        for i, run in enumerate(runs, 1)
    )
    yield from columns_of_rows(head, rows, screen_columns(sys.stdout))
