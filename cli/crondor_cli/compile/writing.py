"""`crondor compile --write FILE`: the lines of a file's own schedule, written between two markers."""

from __future__ import annotations

import os

import click

from crondor.compile.text import schedule_line
from crondor.compiled_text import compile_text
from crondor.diagnostics import printable
from crondor.knowledge.kinds import FileKind
from crondor.source import Source
from crondor_cli.common.changed_text import write_source
from crondor_cli.common.given_files import read_source
from crondor_cli.common.jobs import ScheduleRequest
from crondor_cli.common.options import Surroundings
from crondor_cli.common.output import say
from crondor_cli.common.show import show
from crondor_cli.compile.asking import Asked
from crondor_cli.times.text import local_text


def write_file(path: str, asked: Asked, surroundings: Surroundings) -> None:
    """Write the compiled lines of a submit file's own schedule; says what was done.

    Raises UsageError for a file without a schedule or that cannot be written, CrondorError for a schedule that cannot
    be said, or lines of the file that come in its way.
    """
    context = click.get_current_context(silent=True)
    if path == "-":
        raise click.UsageError("--write changes a file: standard input is none", context)
    source = written = read_source(path, FileKind.SUBMIT)
    line = schedule_line(source)
    if line is None:
        message = f"'{printable(path)}' has no schedule: write it there, as # crondor: schedule = every Friday at 06:00"
        raise click.UsageError(message, context)
    whole = asked.whole(line.text)
    if whole != line.text:
        source = Source(source.text[: line.start] + whole + source.text[line.end :], source.name)
        line = source.span(line.start, line.start + len(whole))
    schedule = asked.schedule(line, os.path.dirname(path) or ".")
    show(schedule.warnings)
    request = ScheduleRequest((path,), None, {}, asked.clock, surroundings=surroundings)
    made = compile_text(
        source,
        lambda universe, options: asked.wish(schedule, options, universe),
        lambda read: request.read_from(read, path),
        asked.until,
        asked.options,
    )
    end = local_text(made.until, asked.clock.zone)
    if made.compiled is None and source is written:
        say(f"{printable(path)}: the lines fit, until {end}; nothing was written")
        return
    if made.text != written.text:
        write_source(written, Source(made.text, source.name))
    if made.compiled is None:
        say(f"{printable(path)}: the schedule line is whole, and the lines fit, until {end}")
        return
    jobs = "1 job" if len(made.compiled.jobs) == 1 else f"{len(made.compiled.jobs)} jobs"
    result = "exact" if made.compiled.exact else "NOT exact"
    say(f"{printable(path)}: {jobs}, {result}, {made.compiled.proof.offered:,} times compared, until {end}")
    for reason in made.compiled.reasons:
        say(f"  {printable(reason)}")
