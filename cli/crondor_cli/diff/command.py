"""`crondor diff`: show where two schedules differ, or two readings of one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

import click

from crondor.algebra import has_day_zero
from crondor.day_rule import decided_by
from crondor.diagnostics import CrondorError, Diagnostic, printable
from crondor.preview.comparison import AskedComparison, ComparedSide, Comparison, compare, compare_asked, pairs
from crondor.preview.facts import LAST_INSTANT
from crondor.preview.field_words import day_rule_words, value_set, written
from crondor.preview.jobs import Job
from crondor.preview.runs import DAY_ZERO, folded, last_retry
from crondor.recurrence import never_reason
from crondor.spec import CronSpec, Dialect, Field
from crondor.words import describe
from crondor_cli.kit import options as opts
from crondor_cli.kit.command import Command, with_default
from crondor_cli.kit.options import Clock, Surroundings, UsageProblem
from crondor_cli.kit.schedules import ScheduleRequest, asked_data, known_text, schedule_text_option
from crondor_cli.kit.screen import FACTS, prose, say, screen_columns, show, usage
from crondor_cli.kit.tables import columns, diagnostic_data, echo_json, instant, instant_or_none, plural
from crondor_cli.kit.times import local_text, relative, retries_text, zone_text

if TYPE_CHECKING:
    from crondor.preview.jobs import Clock as PreviewClock
    from crondor_cli.diff import results

EPILOG = """\b
Examples:
  crondor diff old.sub new.sub
  crondor diff '0 6 * * 1' '0 6 1-10/3 * 1' --tz Europe/Berlin
  crondor diff job.sub
  crondor diff '0 0 */2 * 1' --dialect manual,unix
  crondor diff '@daily' job.sub --dialect unix,manual --until 2027-01-01
  crondor diff --schedule 'every weekday at 06:00' job.sub

A and B are submit files (- is standard input) or crontab lines (text with a blank or a leading @ that names no file).
Without B, A is compared in two dialects, by default the manual's and the real schedd's. With --schedule, that schedule
is A: it is compared with the times of all jobs of B together that their requirements allow.

Exit status, as of diff(1): 0 no difference, 1 they differ, 2 errors (wrong usage, an invalid schedule)."""


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


@click.command("diff", cls=Command, example="crondor diff '0 6 * * 1' '0 6 * * 1-5'", epilog=EPILOG)
@click.argument("sides", nargs=-1, metavar="A [B]")
@schedule_text_option
@with_default("-n", 5, "Times to show.", click.IntRange(1, 100_000), name="--count")
@opts.until_option("Look for differences", "2200; with the real schedd: a year on")
@opts.file_options
@opts.clock_options
@click.option(
    "--dialect",
    "dialects",
    callback=_dialects,
    metavar="X[,Y]",
    help="Read both sides in X, or A in X and B in Y (default: manual; A alone: manual,htcondor).",
)
@opts.format_option("table", "json", text="How to print the comparison.")
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
    """Show where two schedules differ: the first times that only one of them has, and the fields."""
    if schedule is not None and len(sides) != 1:
        raise usage("--schedule is A: give only B, the file or crontab line to compare it with")
    readings = _readings((*sides, *sides) if schedule is not None else sides, dialects)
    end = clock.last(until, "no difference")
    end = None if end is None else min(end, LAST_INSTANT)
    request = ScheduleRequest(clock, surroundings=surroundings, schedule=schedule, own_zone=own_zone)
    try:
        asked = request.alone(None)
        jobs, warnings = ([], []) if asked is None else _of(sides[0], readings[0], clock, surroundings)
    except CrondorError as error:
        raise UsageProblem(error) from None
    if asked is not None:
        found = compare_asked(asked, jobs, readings[0], clock, end, count)
        _show_asked(found, "<stdin>" if sides[0] == "-" else sides[0], warnings, count, format_)
        return
    left, right, warnings = _jobs(sides, readings, clock, surroundings)
    comparisons = [compare(first, second, count, end) for first, second in pairs(left, right, readings)]
    show(dict.fromkeys([*warnings, *(finding for c in comparisons for finding in c.findings)]))
    most = 1 if len(sides) == 1 else 0  # for one schedule read twice, a single rejection is a difference
    if any(c.trouble or sum(side.schedule is None for side in c.sides) > most for c in comparisons):
        raise click.exceptions.Exit(2)
    data: results.DiffResult = {
        "differs": any(c.differs for c in comparisons),
        "pairs": (rows := [_pair(c) for c in comparisons]),
        "diagnostics": [diagnostic_data(warning) for warning in warnings],
    }
    if format_ == "json":
        echo_json(data)
    else:
        parts = (part for row, c in zip(rows, comparisons, strict=True) for part in _sections(row, c, count))
        say("\n\n".join("\n".join(part) for part in parts))
    if data["differs"]:
        raise click.exceptions.Exit(1)


def _readings(sides: tuple[str, ...], dialects: tuple[Dialect, ...] | None) -> tuple[Dialect, Dialect]:
    """Return the dialect of each side."""
    if not 1 <= len(sides) <= 2:
        raise usage("give two schedules to compare, A and B, or one; a crontab line is one argument, in quotes")
    if dialects is None:
        return Dialect.MANUAL, Dialect.HTCONDOR if len(sides) == 1 else Dialect.MANUAL
    if len(sides) == 1 and len(set(dialects)) == 1:
        raise usage("one schedule in one dialect cannot be compared: write --dialect X,Y")
    return dialects[0], dialects[-1]


def _jobs(
    sides: tuple[str, ...], readings: tuple[Dialect, Dialect], clock: Clock, surroundings: Surroundings
) -> tuple[list[Job], list[Job], list[Diagnostic]]:
    """Return the jobs of both sides, equally many, and the warnings about their files."""
    if list(sides) == ["-", "-"]:
        raise usage("standard input can be read only once: use a file for A or B")
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
    return ScheduleRequest(clock, paths, line, dialect=dialect, line_name=f"'{side}'", surroundings=surroundings).jobs()


def _is_line(side: str) -> bool:
    """Return whether an argument is a crontab line: it contains a blank or begins with @, and is not a file."""
    if not (side.startswith("@") or any(character.isspace() for character in side)):
        return False
    try:
        return not os.path.lexists(side)
    except ValueError:  # a null byte in it
        return True


def _pair(c: Comparison) -> results.Pair:
    clock = c.first.job.clock
    relation: results.Relation | None = None
    if c.wall is not None and c.zone is not None:
        relation = {"wall_clock": c.wall.value, "zone": c.zone.value}
    times: list[results.Parting] = []
    for parting in c.partings:
        fires = "first" if parting.is_first else "second"
        times.append({**instant(parting.time, clock.zone), "fires": fires, "retry": parting.is_retry})
    return {
        "first": _side_data(c.first),
        "second": _side_data(c.second),
        "zone": clock.zone_name,
        "now": clock.now,
        "until": c.until,
        "differs": c.differs,
        "relation": relation,
        "fields": [
            {"field": each.name, "first": _reading(c.first.spec, each), "second": _reading(c.second.spec, each)}
            for each in c.fields
        ],
        "terms": [{"term": name, "first": one, "second": two} for name, one, two in c.terms],
        "partings": times,
        "first_common": instant_or_none(c.common, clock.zone),
        "diagnostics": [diagnostic_data(finding) for finding in dict.fromkeys(c.findings)],
    }


def _side_data(side: ComparedSide) -> results.Side:
    spec, schedule = side.spec, side.schedule
    time = schedule.time if schedule is not None and spec is None else None
    return {
        "name": side.job.name,
        "line": side.job.line,
        "count": side.job.count,
        "dialect": side.dialect.value,
        "words": None if spec is None else describe(spec),
        "canonical": None if spec is None else str(spec),
        "deferral_time": time if time is None or isinstance(time, int) else str(time),
        "refusal": side.refusal,
    }


def _reading(spec: CronSpec | None, field: Field) -> results.Reading | None:
    if spec is None:
        return None
    return {"written": spec.given[field.index], "values": list(spec.values(field)), "starred": spec.stars[field.index]}


def _show_asked(found: AskedComparison, name: str, warnings: list[Diagnostic], count: int, form: str) -> None:
    """Print --schedule compared with the jobs of a file, or a crontab line. Exits with 1 if they differ, else 2."""
    show(dict.fromkeys([*warnings, *found.findings]))
    if found.trouble:
        raise click.exceptions.Exit(2)
    row = _asked(found, name)
    if form == "json":
        findings = [diagnostic_data(each) for each in dict.fromkeys(found.findings)]
        data: results.DiffResult = {"differs": found.differs, "pairs": [], "schedules": [row], "diagnostics": findings}
        echo_json(data)
    else:
        say("\n".join(_asked_lines(row, found, count)))
    if found.differs:
        raise click.exceptions.Exit(1)


def _asked(found: AskedComparison, name: str) -> results.ComparedSchedule:
    zone = found.clock.zone
    return {
        **asked_data(found.schedule, found.clock),
        "file": name,
        "jobs": len(found.jobs),
        "compared_until": instant(found.until, zone),
        "compared": found.compared,
        "partings": [
            {**instant(time, zone), "fires": "first" if is_first else "second"} for time, is_first in found.partings
        ],
        "first_common": instant_or_none(found.common, zone),
    }


def _asked_lines(row: results.ComparedSchedule, found: AskedComparison, count: int) -> Iterator[str]:
    """Yield both sides, the number of common times, and the differences."""
    clock, until, same = found.clock, row["until"], row["compared"] - len(found.partings)
    jobs = "" if row["jobs"] == 1 else f" ({row['jobs']} schedules)"
    yield from (f"< {printable(row['text'])}", f"    {printable(row['words'])}", f"> {printable(row['file'])}{jobs}")
    yield from (f"    {printable(words)}" for words in found.words)
    own = "" if row["zone"] == clock.zone_name else f"{row['zone']} for <, "
    yield f"  zone          {own}{clock.zone_name} (the submit host's)"
    if until is not None:
        yield f"  known         {known_text(until, clock)}"
    reason = f" ({found.reason})" if found.reason and until is None else ""
    yield f"  looked until  {local_text(row['compared_until']['time'], clock.zone)}{reason}"
    if not found.differs:
        said = f"both have the same {plural(same, 'time')}" if same else "neither has a time"
        yield f"  result        the same: {said}"
        return
    yield f"  result        they differ; {plural(same, 'time')} up to there {'is' if same == 1 else 'are'} the same"
    named = len(found.partings)
    first = "first " if named == count else ""
    yield from ("", f"  The {first}{'time' if named == 1 else f'{named} times'} that only one of them has:")
    yield from (f"  {line}" for line in columns([_parting_cells(each, clock) for each in row["partings"]]))


_RELATIONS = {
    "same": "both mean the same",
    "subset": "every run of < is one of >, but not the other way round",
    "superset": "every run of > is one of <, but not the other way round",
    "neither": "neither contains the other",
}


def _sections(row: results.Pair, c: Comparison, count: int) -> Iterator[list[str]]:
    """Yield the sections of a comparison, each a list of lines."""
    clock = c.first.job.clock
    is_plain = all(side.dialect is Dialect.MANUAL for side in c.sides)
    head: list[str] = []
    for mark, side, shown in (("<", c.first, row["first"]), (">", c.second, row["second"])):
        name = printable(shown["name"] if shown["line"] is None else f"{shown['name']}:{shown['line']}")
        jobs = "" if shown["count"] == 1 else f" ({shown['count']} jobs)"
        head.append(f"{mark} {name}{jobs}{'' if is_plain else ', ' + shown['dialect']}")
        head += prose(printable(_words(shown, side)), screen_columns(sys.stdout), "    ", "    ", FACTS)
    yield [*head, *_fact("zone", zone_text(clock))]
    if c.is_refused:
        return
    if c.fields or c.terms:
        yield _table(row, c)
    if c.has_instants:
        until = "before 2201"
        if row["until"] != LAST_INSTANT:
            until = f"until {datetime.fromtimestamp(row['until'], clock.zone):%Y-%m-%d %H:%M}"
        common = f"no time {until} that both have"
        if row["first_common"] is not None:
            time = row["first_common"]["time"]
            common = f"{local_text(time, clock.zone)}, {relative(time - clock.now)}"
        yield [*_relation(row, c), *_fact("first common", common)]
        yield list(_partings(list(row["partings"]), c, count, until))
    for mark, side in zip("<>", c.sides, strict=True):
        if side.dialect is Dialect.HTCONDOR and side.spec is not None and has_day_zero(side.spec):
            yield prose(f"{mark} has the schedd's {DAY_ZERO}", screen_columns(sys.stdout), "  ", "  ")


def _words(row: results.Side, side: ComparedSide) -> str:
    if side.schedule is None:
        return f"{'the schedd would not run it' if side.dialect is Dialect.HTCONDOR else 'refused'}: {row['refusal']}"
    if row["words"] is not None:
        return row["words"]
    time = row["deferral_time"]
    if time is None:
        return "no schedule: the job may run at once"
    return f"once, at {local_text(time, side.job.clock.zone) if isinstance(time, int) else time}"


def _fact(name: str, text: str) -> list[str]:
    return prose(text, screen_columns(sys.stdout), f"  {name:<12}  ", " " * 16, FACTS)


def _table(row: results.Pair, c: Comparison) -> list[str]:
    """Return the differences, a pair of lines for each field."""
    rows = [["field", "", "written", "values"]]
    a, b = c.first.spec, c.second.spec
    if a is not None and b is not None:
        for field in c.fields:
            ours, theirs = value_set(a, field), value_set(b, field)
            if ours == theirs:
                starred = b.stars[field.index]
                note = "" if a.stars[field.index] == starred else f", {'' if starred else 'not '}starred"
                theirs = f"the same{note}"
            rows.append([field.title, "<", printable(written(a, field)), ours])
            rows.append(["", ">", printable(written(b, field)), theirs])
    for term in row["terms"]:
        unit = " s" if term["term"] in {"window", "prep_time"} else ""
        rows.append([term["term"].replace("_", " "), "<", printable(f"{term['first']}{unit}"), ""])
        rows.append(["", ">", printable(f"{term['second']}{unit}"), ""])
    lines = columns(rows)
    if a is not None and b is not None and decided_by(a) is not decided_by(b):
        lines += [*_fact("day rule", f"<  {day_rule_words(a)}"), *_fact("", f">  {day_rule_words(b)}")]
    return lines


def _relation(row: results.Pair, c: Comparison) -> list[str]:
    never = [mark for mark, side in zip("<>", c.sides, strict=True) if side.spec and never_reason(side.spec)]
    relation = row["relation"]
    if never:
        hangs = ", and the schedd hangs in its search" if relation is None else ""
        text = f"{'neither ever' if len(never) == 2 else f'{never[0]} never'} fires{hangs}"
    elif relation is None:
        if any(side.spec is None for side in c.sides):
            return []
        text = "none: the htcondor dialect is not a set of times: its answers depend on when it is asked"
    elif relation["wall_clock"] == relation["zone"]:
        text = _RELATIONS[relation["zone"]]
    else:
        wall, zone = _RELATIONS[relation["wall_clock"]], _RELATIONS[relation["zone"]]
        text = f"on the wall clock {wall}; in {row['zone']} {zone}"
    return _fact("relation", text)


def _partings(partings: list[results.Parting], c: Comparison, count: int, until: str) -> Iterator[str]:
    """Yield the times that only one side has."""
    clock = c.first.job.clock
    if not partings:
        yield from _fact("partings", f"no time {until} that only one of them has")
        return
    first = f"first {count} times" if count > 1 else "first time"
    yield f"  The {f'times {until}' if len(partings) < count else first} that only one of them has:"
    rows = []

    def retry_of(parting: results.Parting) -> tuple[str, int] | None:
        return (parting["fires"], parting["time"]) if parting["retry"] else None

    def last_of(fires: str, time: int) -> int | None:
        recurrence = (c.first if fires == "first" else c.second).recurrence
        return None if recurrence is None else last_retry(recurrence, time)

    for parting, last in folded(partings, retry_of, last_of):
        rows.append(_parting_cells(parting, clock, " (retry)" if parting["retry"] else ""))
        if last is not None:
            rows.append([retries_text(parting["time"], last, clock.zone)])
    yield from (f"  {line}" for line in columns(rows))


def _parting_cells(parting: results.AskedParting, clock: PreviewClock, mark: str = "") -> list[str]:
    side, time = "<" if parting["fires"] == "first" else ">", parting["time"]
    return [f"{side}  {local_text(time, clock.zone)}{mark}", relative(time - clock.now)]
