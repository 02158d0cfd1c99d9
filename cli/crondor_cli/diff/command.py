"""`crondor diff`: where two schedules part, or two readings of one."""

from __future__ import annotations

import os
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import click

from crondor.diagnostics import CrondorError, Diagnostic, printable
from crondor.preview.comparison import AskedComparison, Comparison, compare, compare_asked, pairs
from crondor.preview.facts import LAST_INSTANT
from crondor.preview.jobs import Job
from crondor.spec import Dialect
from crondor_cli.diff.shown import print_json, print_table
from crondor_cli.kit.command import Command
from crondor_cli.kit.jobs import ScheduleRequest
from crondor_cli.kit.options import (
    Clock,
    Surroundings,
    UsageProblem,
    clock_options,
    file_options,
    format_option,
    until_option,
)
from crondor_cli.kit.schedules import asked_data, check_alone, known_text, read_asked, schedule_text_option
from crondor_cli.kit.screen import say, show, usage
from crondor_cli.kit.tables import columns, diagnostic_data, echo_json, instant, instant_or_none, plural
from crondor_cli.kit.times import local_text, relative

if TYPE_CHECKING:
    from crondor.compile.meaning import WrittenSchedule
    from crondor_cli.diff import results


EXAMPLE = "crondor diff '0 6 * * 1' '0 6 * * 1-5'"

EPILOG = """\b
Examples:
  crondor diff old.sub new.sub
  crondor diff '0 6 * * 1' '0 6 1-10/3 * 1' --tz Europe/Berlin
  crondor diff job.sub
  crondor diff '0 0 */2 * 1' --dialect manual,unix
  crondor diff '@daily' job.sub --dialect unix,manual --until 2027-01-01
  crondor diff --schedule 'every weekday at 06:00' job.sub

A and B are submit files (- is standard input) or crontab lines: text that contains a blank or begins with @, and names
no file. A alone is compared in two dialects, by default the manual's and the real schedd's. With --schedule that
schedule is A; it is compared with the times of all jobs of B together, as far as their requirements allow.

Exit status, as of diff(1): 0 no difference, 1 they differ, 2 trouble (wrong usage, an invalid schedule)."""


def _dialects(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[Dialect, ...] | None:
    """Read one dialect for both sides, or two, separated by a comma."""
    if value is None:
        return None
    known = {dialect.value: dialect for dialect in Dialect}
    names = [name.strip().lower() for name in value.split(",")]
    if len(names) > 2 or any(name not in known for name in names):
        message = f"'{printable(value)}' is not one or two (X,Y) of {', '.join(map(repr, known))}."
        raise click.BadParameter(message, ctx, param)
    return tuple(known[name] for name in names)


@click.command("diff", cls=Command, example=EXAMPLE, epilog=EPILOG)
@click.argument("sides", nargs=-1, metavar="A [B]")
@schedule_text_option
@click.option("-n", "--count", type=click.IntRange(1, 100_000), default=5, show_default=True, help="Times to show.")
@until_option("Look for differences", "2200; with the real schedd: a year on")
@file_options
@clock_options
@click.option(
    "--dialect",
    "dialects",
    callback=_dialects,
    metavar="X[,Y]",
    help="Read both sides in X, or A in X and B in Y (default: manual; A alone: manual,htcondor).",
)
@format_option("table", "json", text="How to print the comparison.")
def command(
    sides: tuple[str, ...],
    schedule: str | None,
    own_zone: str | None,
    count: int,
    until: str | None,
    clock: Clock,
    dialects: tuple[Dialect, ...] | None,
    format_: str,
    surroundings: Surroundings,
) -> None:
    """Show where two schedules differ: the first times that only one of them has, and each field."""
    is_asked = check_alone(schedule, own_zone, {})
    if is_asked and len(sides) != 1:
        raise usage("--schedule is A: name the file or crontab line to compare it with, B, and no other")
    readings = _readings((*sides, *sides) if is_asked else sides, dialects)
    end = clock.last(until, "no difference")
    end = None if end is None else min(end, LAST_INSTANT)
    if schedule is not None:
        try:
            asked = read_asked(schedule, own_zone, clock, None, surroundings.allow_dirs)
        except CrondorError as error:
            raise UsageProblem(error) from None
        _diff_asked(asked, sides[0], readings[0], _Asking(clock, end, count, format_), surroundings)
        return
    left, right, warnings = _jobs(sides, readings, clock, surroundings)
    comparisons = [compare(first, second, count, end) for first, second in pairs(left, right, readings)]
    show(dict.fromkeys([*warnings, *(finding for c in comparisons for finding in c.findings)]))
    if any(_is_trouble(c, is_one=len(sides) == 1) for c in comparisons):
        raise click.exceptions.Exit(2)
    if format_ == "table":
        print_table(comparisons, count)
    else:
        print_json(comparisons, warnings)
    if any(c.differs for c in comparisons):
        raise click.exceptions.Exit(1)


class _Asking(NamedTuple):
    clock: Clock
    end: int | None
    most: int
    form: str


def _diff_asked(
    schedule: WrittenSchedule, side: str, dialect: Dialect, asking: _Asking, surroundings: Surroundings
) -> None:
    """Compare --schedule with the jobs of a file, or a crontab line. Exits with 1 where they differ, 2 in trouble."""
    clock, end, most, form = asking
    try:
        jobs, warnings = _of(side, dialect, clock, surroundings)
    except CrondorError as error:
        raise UsageProblem(error) from None
    found = compare_asked(schedule, jobs, dialect, clock, end, most)
    show(dict.fromkeys([*warnings, *found.findings]))
    if found.trouble:
        raise click.exceptions.Exit(2)
    name = "<stdin>" if side == "-" else side
    if form == "table":
        print_asked(found, name, most)
    else:
        print_asked_json(found, name)
    if found.differs:
        raise click.exceptions.Exit(1)


def _readings(sides: tuple[str, ...], dialects: tuple[Dialect, ...] | None) -> tuple[Dialect, Dialect]:
    """Return the dialect of each side."""
    if not 1 <= len(sides) <= 2:
        raise usage("name two schedules to compare, A and B, or one; a crontab line is one argument, in quotes")
    if dialects is None:
        return Dialect.MANUAL, Dialect.HTCONDOR if len(sides) == 1 else Dialect.MANUAL
    if len(sides) == 1 and len(set(dialects)) == 1:
        raise usage("one schedule in one dialect is nothing to compare: write --dialect X,Y")
    return dialects[0], dialects[-1]


def _jobs(
    sides: tuple[str, ...], readings: tuple[Dialect, Dialect], clock: Clock, surroundings: Surroundings
) -> tuple[list[Job], list[Job], list[Diagnostic]]:
    """Return the jobs of both sides, as many on the left as on the right, and the warnings about their files."""
    if list(sides) == ["-", "-"]:
        raise usage("standard input can be read once only: one of A and B is to be something else")
    try:
        right, more = left, warnings = _of(sides[0], readings[0], clock, surroundings)
        if len(sides) == 2 or _is_line(sides[0]):
            right, more = _of(sides[-1], readings[1], clock, surroundings)
    except CrondorError as error:
        raise UsageProblem(error) from None
    if len(left) != len(right):
        counts = [f"{printable(side)} has {len(jobs)}" for side, jobs in zip(sides, (left, right), strict=True)]
        raise usage(f"schedules are compared one by one, in order: {' and '.join(counts)} of them")
    return left, right, list(dict.fromkeys([*warnings, *more]))


def _of(side: str, dialect: Dialect, clock: Clock, surroundings: Surroundings) -> tuple[list[Job], list[Diagnostic]]:
    is_line = _is_line(side)
    paths, line = ((), side) if is_line else ((side,), None)
    return ScheduleRequest(paths, line, {}, clock, dialect, line_name=f"'{side}'", surroundings=surroundings).jobs()


def _is_line(side: str) -> bool:
    """Say whether an argument is a crontab line: it contains a blank or begins with @, and names no file."""
    if not (side.startswith("@") or any(character.isspace() for character in side)):
        return False
    try:
        return not os.path.lexists(side)
    except ValueError:  # a null byte in it
        return True


def _is_trouble(comparison: Comparison, *, is_one: bool) -> bool:
    """Say whether there is no answer; of one schedule read twice one refusal is a difference."""
    refused = sum(side.schedule is None for side in comparison.sides)
    return comparison.trouble or refused > (1 if is_one else 0)


def print_asked_json(found: AskedComparison, name: str) -> None:
    """Print one object."""
    zone = found.clock.zone
    data: results.DiffResult = {
        "differs": found.differs,
        "pairs": [],
        "schedules": [
            {
                **asked_data(found.schedule, found.clock),
                "file": name,
                "jobs": len(found.jobs),
                "compared_until": instant(found.until, zone),
                "compared": found.compared,
                "partings": [
                    {**instant(time, zone), "fires": "first" if is_first else "second"}
                    for time, is_first in found.partings
                ],
                "first_common": instant_or_none(found.common, zone),
            }
        ],
        "diagnostics": [diagnostic_data(each) for each in dict.fromkeys(found.findings)],
    }
    echo_json(data)


def print_asked(found: AskedComparison, name: str, count: int) -> None:
    """Print both sides, how many times they have in common, and where they part."""
    clock, schedule = found.clock, found.schedule
    jobs = "" if len(found.jobs) == 1 else f" ({len(found.jobs)} schedules)"
    lines = [f"< {printable(schedule.text)}", f"    {printable(schedule.words)}", f"> {printable(name)}{jobs}"]
    lines += [f"    {printable(words)}" for words in found.words]
    own = "" if schedule.zone.name == clock.zone_name else f"{schedule.zone.name} for <, "
    lines.append(f"  zone          {own}{clock.zone_name} (the submit host's)")
    known = known_text(schedule, clock)
    lines += [f"  known         {known}"] if known else []
    end = local_text(found.until, clock.zone)
    lines += [f"  looked until  {end}{f' ({found.reason})' if found.reason and not known else ''}"]
    if not found.differs:
        said = f"both have the same {plural(found.compared, 'time')}" if found.compared else "neither has a time"
        say("\n".join([*lines, f"  result        the same: {said}"]))
        return
    named = len(found.partings)
    same = plural(found.compared - named, "time")
    lines += [
        f"  result        they differ; {same} up to there {'is' if same.startswith('1 ') else 'are'} the same",
        "",
    ]
    times = f"{'first ' * (named == count)}{'time' if named == 1 else f'{named} times'}"
    lines.append(f"  The {times} that only one of them has:")
    rows = [
        [f"{'<' if is_first else '>'}  {local_text(time, clock.zone)}", relative(time - clock.now)]
        for time, is_first in found.partings
    ]
    say("\n".join(chain(lines, (f"  {line}" for line in columns(rows)))))
