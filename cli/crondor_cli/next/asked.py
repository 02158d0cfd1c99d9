"""`crondor next --schedule`: the runs of a schedule in any language, coming or past."""

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
from crondor_cli.kit.tables import diagnostic_data, echo_csv, echo_json, instant, iso
from crondor_cli.kit.times import ClockFace, zone_text
from crondor_cli.next.shown import CSV_COLUMNS

if TYPE_CHECKING:
    from crondor.compile.meaning import WrittenSchedule
    from crondor_cli.next import results

Times = Sequence[int]


def show_next(schedule: WrittenSchedule, clock: Clock, start: int, end: int | None, count: int, form: str) -> None:
    """Print the runs after ``start`` (epoch seconds), none after ``end``. Exits with 1 where there is none."""
    runs = array("q", islice(schedule.between(start, LAST_INSTANT if end is None else end), count))
    reached = schedule.until is not None and len(runs) < count and (end is None or end > schedule.until)
    findings = [*schedule.warnings]
    if reached:
        message = f"no run is known beyond: {schedule.until_reason}"
        findings.append(Diagnostic("schedule-known", message, Severity.WARNING))
    show(findings)
    if form == "json":
        coming: results.Coming = {
            "jobs": [],
            "schedules": iter((_data(schedule, runs, clock),)),
            "diagnostics": list(map(diagnostic_data, findings)),
        }
        echo_json(coming)
    else:
        _print(schedule, runs, clock, form)
    if not runs:
        raise click.exceptions.Exit(1)


def show_previous(schedule: WrittenSchedule, clock: Clock, start: int, count: int, form: str) -> None:
    """Print the runs before ``start``, the latest first. Exits with 1 where there is none."""
    runs = array("q", islice(schedule.backwards(start), count))
    show(schedule.warnings)
    if form == "json":
        past: results.Past = {"jobs": [], "schedules": iter((_data(schedule, runs, clock),))}
        echo_json(past)
    else:
        _print(schedule, runs, clock, form)
    if not runs:
        raise click.exceptions.Exit(1)


def _data(schedule: WrittenSchedule, runs: Times, clock: Clock) -> results.AskedRuns:
    return {**asked_data(schedule, clock), "runs": (instant(run, clock.zone) for run in runs)}


def _print(schedule: WrittenSchedule, runs: Times, clock: Clock, form: str) -> None:
    if form == "epoch":
        echo_lines(map(str, runs))
    elif form == "csv":
        echo_csv(chain((CSV_COLUMNS,), _csv_rows(schedule, runs, clock)))
    else:
        echo_lines(_table(schedule, runs, clock))


def _csv_rows(schedule: WrittenSchedule, runs: Times, clock: Clock) -> Iterator[list[object]]:
    for number, run in enumerate(runs, 1):
        known = {"name": schedule.text, "number": number, "time": run, "local": iso(run, clock.zone)}
        yield [known.get(column, "") for column in CSV_COLUMNS]


def _table(schedule: WrittenSchedule, runs: Times, clock: Clock) -> Iterator[str]:
    is_apart = schedule.zone.name != clock.zone_name
    yield from (printable(schedule.text), f"  schedule   {printable(schedule.words)}")
    zone = f"{schedule.zone.name}; the submit host's is {clock.zone_name}" if is_apart else zone_text(clock)
    yield f"  zone       {zone}"
    known = known_text(schedule, clock)
    if known:
        yield f"  known      {known}"
    yield ""
    if not runs:
        yield "  no run in this time"
        return
    size = len(str(len(runs)))
    head = ["  " + "#".rjust(size + 1), "local time", "from now", *(["submit host's time"] if is_apart else [])]
    yield from columns_of_rows(head, _rows(schedule, runs, clock, size, is_apart=is_apart), screen_columns(sys.stdout))


def _rows(schedule: WrittenSchedule, runs: Times, clock: Clock, size: int, *, is_apart: bool) -> Iterator[list[str]]:
    own, hosts = ClockFace(schedule.zone.info), ClockFace(clock.zone)
    for number, run in enumerate(runs, 1):
        cells = [f"   {number:>{size}}", own.text(run), own.relative(run - clock.now)]
        yield [*cells, hosts.text(run)] if is_apart else cells
