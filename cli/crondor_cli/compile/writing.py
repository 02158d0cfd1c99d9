"""`crondor compile --write FILE`: the lines of a file's own schedule, written between two markers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from crondor.calendar import DAY
from crondor.compile.text import WrittenSchedule, schedule_line
from crondor.compile.writing.fitting import ClassAdSyntaxError, WrittenJob, fit
from crondor.compile.writing.marked import CLAUSE, Block, marked_lines, rewritten
from crondor.diagnostics import CrondorError, Diagnostic, printable
from crondor.rights.replacing import Changed, replace_text
from crondor.source import Source, Span
from crondor.spec import FIELDS, CronSpec
from crondor.zones import zone_of
from crondor_cli.common.file_problem import file_problem
from crondor_cli.common.jobs import ScheduleRequest, read_source
from crondor_cli.common.options import Surroundings
from crondor_cli.common.output import say
from crondor_cli.common.show import show
from crondor_cli.compile.asking import Asked
from crondor_cli.times.text import local_text

if TYPE_CHECKING:
    from crondor.compile.writing.wish import Compiled

_FRESH = 366 * DAY  # lines that fit for so long are left as they are


class NotWritten(CrondorError, ValueError):
    """A file in which the compiled lines would not do what was asked for."""


def write_file(path: str, asked: Asked, surroundings: Surroundings) -> None:
    """Write the compiled lines of a submit file's own schedule; says what was done.

    Raises UsageError for a file without a schedule or that cannot be written, CrondorError for a schedule that cannot
    be said, or lines of the file that come in its way.
    """
    context = click.get_current_context(silent=True)
    if path == "-":
        raise click.UsageError("--write changes a file: standard input is none", context)
    source = read_source(path)
    line = schedule_line(source)
    if line is None:
        message = f"'{printable(path)}' has no schedule: write it there, as # crondor: schedule = every 2 days at 06:00"
        raise click.UsageError(message, context)
    schedule = asked.schedule(line, os.path.dirname(path) or ".")
    show(schedule.warnings)
    request = ScheduleRequest((path,), None, {}, asked.clock, surroundings=surroundings)
    universe = _universe(request, source, path)
    block = marked_lines(source)
    if block is not None and _still_fits(block, schedule, asked):
        say(f"{printable(path)}: the lines fit, until {local_text(block.until, asked.clock.zone)}; nothing was written")
        return
    compiled = asked.compiled(schedule, universe)
    text = rewritten(source, compiled.commands, compiled.proof.until, compiled.wish.host.name)
    _check(text, compiled, request, source, path)
    if text != source.text:
        _replace(path, source, text)
    jobs = "1 job" if len(compiled.jobs) == 1 else f"{len(compiled.jobs)} jobs"
    result = "exact" if compiled.exact else "NOT exact"
    end = local_text(compiled.proof.until, asked.clock.zone)
    say(f"{printable(path)}: {jobs}, {result}, {compiled.proof.offered:,} times compared, until {end}")
    for reason in compiled.reasons:
        say(f"  {printable(reason)}")


def _universe(request: ScheduleRequest, source: Source, path: str) -> str | None:
    """Return the universe that a file's jobs agree in, None where they do not or it cannot be told."""
    try:
        groups = list(request.read_from(source, path).groups(("universe",)))
    except CrondorError:
        return None
    found = {group.values.get("universe", "vanilla").strip().lower() for group in groups}
    return found.pop() if len(found) == 1 else None


def _still_fits(block: Block, schedule: WrittenSchedule, asked: Asked) -> bool:
    """Say whether lines that are there do what is asked for, long enough."""
    now = asked.begin
    if (asked.until or now + _FRESH) > block.until or block.zone != asked.clock.zone_name:
        return False
    window, prep_time, _, _ = asked.lengths
    for job in block.jobs:
        if job.get("cron_window", "0") != str(window) or (
            prep_time is not None and job.get("cron_prep_time") != str(prep_time)
        ):
            return False
    try:
        jobs = [
            WrittenJob(
                CronSpec.from_mapping({f.attribute: job.get(f.command, "*") for f in FIELDS}), job.get(CLAUSE, "")
            )
            for job in block.jobs
        ]
        return fit(schedule, jobs, zone_of(asked.clock.zone_name), now, block.until).is_exact
    except (CrondorError, ClassAdSyntaxError):
        return False


def _check(text: str, compiled: Compiled, request: ScheduleRequest, before: Source, path: str) -> None:
    """Read the new text as condor_submit does, and look whether its jobs are the compiled ones. Raises NotWritten."""
    source = Source(text, before.name)
    names = (*(field.command for field in FIELDS), "cron_window", "cron_prep_time", "requirements")
    wanted = {_essence(commands) for commands in compiled.commands}
    found = {_essence(group.values) for group in request.read_from(source, path).groups(names)}
    if {fields for fields, _ in found} != {fields for fields, _ in wanted}:
        message = "lines behind the compiled ones set the fields anew, so that the jobs would run at other times"
        help_text = "delete the file's own cron_* lines, or move them before the compiled lines"
        raise NotWritten(Diagnostic("compile-lines", message, span=_line_of(before), help=help_text))
    clauses = {clause for _, clause in wanted}
    if any(not any(clause in text for clause in clauses) for _, text in found):
        message = "the file sets requirements behind the compiled lines, so that every time would match"
        help_text = "move its requirements before them"
        raise NotWritten(Diagnostic("compile-lines", message, span=_line_of(before), help=help_text))


def _line_of(source: Source) -> Span | None:
    return schedule_line(source)


def _essence(values: object) -> tuple[tuple[str, ...], str]:
    """Return fields and lengths of a job's commands, and its requirements."""
    given = dict(values)  # type: ignore[call-overload]
    fields = tuple(given.get(field.command, "*").strip() or "*" for field in FIELDS)
    lengths = given.get("cron_window", "").strip(), given.get("cron_prep_time", "").strip()
    return (*fields, *lengths), given.get("requirements", "").strip()


def _replace(path: str, before: Source, text: str) -> None:
    """Replace a file's text in one step; raises UsageError where that cannot be done."""
    context = click.get_current_context(silent=True)
    shown = printable(path)
    try:
        replace_text(path, before.text.encode("utf-8"), text.encode("utf-8"))
    except Changed:
        raise click.UsageError(f"'{shown}' has changed meanwhile; nothing was written", context) from None
    except CrondorError as error:
        reason = "; ".join(printable(each.message) for each in error.diagnostics)
        raise click.UsageError(f"cannot write '{shown}': {reason}", context) from None
    except OSError as error:
        raise file_problem("write", path, error) from None
