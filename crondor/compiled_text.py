"""A submit file's own schedule and policies compiled into lines of the file: `crondor compile --write`.

What the new text says is read as condor_submit reads it, and compared with what was compiled, before anybody has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timezone
from typing import NamedTuple

from crondor.calendar import DAY
from crondor.classad import ClassAdSyntaxError
from crondor.compile.markers import Policies, read_policies
from crondor.compile.meaning import read_schedule, schedule_line
from crondor.compile.writing.compiler import WrittenJob, clause_of, compile_schedule, fit
from crondor.compile.writing.wish import (
    CAUGHT_UP,
    CLAUSE,
    Block,
    Compiled,
    LineOptions,
    Wish,
    default_end,
    marked_lines,
    rewritten,
)
from crondor.diagnostics import CrondorError, Diagnostic, Source
from crondor.macro.files import Files
from crondor.spec import FIELDS, CronSpec
from crondor.submit import SubmitFile
from crondor.zones import zone_of

_FORCED = "my.requirements"  # +Requirements, as read
_FRESH = 366 * DAY  # lines that are valid for so long are left unchanged


class NotWritten(CrondorError, ValueError):
    """A file in which the compiled lines would not have the intended effect."""


class CompiledText(NamedTuple):
    """A file's text with compiled lines; ``compiled`` is None if the present ones are valid, up to ``until``."""

    text: str
    until: int
    compiled: Compiled | None


def compile_text(
    source: Source,
    wish_for: Callable[[str | None, LineOptions], Wish],
    read: Callable[[Source], SubmitFile],
    until: int | None = None,
    options: LineOptions | None = None,
) -> CompiledText:
    """Return a submit file's text with the lines of its schedule, replacing existing ones.

    ``wish_for`` returns the wish for jobs of a universe (None: they differ) and with options: the given ones, and
    otherwise those of the existing lines. ``read`` reads the file and the result. Lines that are valid up to ``until``
    (epoch seconds; None: for a year) stay unchanged. Raises CannotCompile for a schedule that HTCondor cannot express,
    InvalidSchedule for invalid markers, and NotWritten for invalid policies, or if lines of the file conflict with the
    compiled ones.
    """
    block, policies = marked_lines(source), read_policies(source)
    chosen = options or LineOptions()
    if faults := (*policies.faults, *_two_windows(policies, chosen)):
        raise NotWritten(faults)
    chosen = chosen if block is None else chosen.over(block.options)
    if policies.start_deadline is not None:
        chosen = chosen._replace(window=None)  # the line says it
    with_line = chosen.over(LineOptions(window=policies.start_deadline))
    wish = wish_for(_universe(source, read), with_line)._replace(makes_up=policies.makes_up)
    if block is not None and block.options == chosen and _still_fits(block, wish, policies, until):
        return CompiledText(source.text, block.until, None)
    compiled = compile_schedule(wish)
    if len(compiled.jobs) > 1 and (span := policies.places.get("overlap", policies.places.get("catch_up"))):
        message = f"the schedule takes {len(compiled.jobs)} jobs, which do not wait for each other or catch up together"
        help_text = "remove the line, or choose times that are further apart"
        raise NotWritten(Diagnostic("schedule-policy", message, span=span, help=help_text))
    text = rewritten(source, compiled, chosen, policies.commands)
    _compare(text, compiled, policies, source, read)
    return CompiledText(text, compiled.proof.until, compiled)


def with_lines(
    source: Source, read: Callable[[Source], SubmitFile], files: Files | None, zone: str, now: int
) -> Source:
    """Return a submit file with the lines of its schedule, if it has a schedule and no compiled lines.

    ``zone`` is the submit host's, and ``now`` epoch seconds: the lines are compiled from the beginning of that year on,
    so that they do not differ from day to day. Raises what ``compile_text`` raises.
    """
    line = schedule_line(source)
    if line is None or marked_lines(source) is not None:
        return source
    host = zone_of(zone)
    start = int(datetime(datetime.fromtimestamp(now, timezone.utc).year, 1, 1, tzinfo=timezone.utc).timestamp())
    schedule = read_schedule(line, zone=zone, files=files)

    def wish(universe: str | None, options: LineOptions) -> Wish:
        return options.wish(schedule, host, start, default_end(start), universe=universe)

    return Source(compile_text(source, wish, read).text, source.name)


def _two_windows(policies: Policies, options: LineOptions) -> Iterator[Diagnostic]:
    if policies.start_deadline is not None and options.window not in {None, policies.start_deadline}:
        message = f"--window {options.window} and start_deadline = {policies.start_deadline} s are different windows"
        span = policies.places["start_deadline"]
        yield Diagnostic("schedule-policy", message, span=span, help="omit --window, or change the line")


def _universe(source: Source, read: Callable[[Source], SubmitFile]) -> str | None:
    """Return the common universe of a file's jobs, None if they differ or it is unknown."""
    try:
        groups = list(read(source).groups(("universe",)))
    except CrondorError:
        return None
    found = {group.values.get("universe", "vanilla").strip().lower() for group in groups}
    return found.pop() if len(found) == 1 else None


def _still_fits(block: Block, wish: Wish, policies: Policies, until: int | None) -> bool:
    """Return whether existing lines are valid for the wish, long enough."""
    if (until or wish.start + _FRESH) > block.until or block.zone != wish.host.name:
        return False
    timing = wish.timing
    for job in block.jobs:
        if job.get("cron_window", "0") != str(timing.window) or (
            timing.prep_time is not None and job.get("cron_prep_time") != str(timing.prep_time)
        ):
            return False
        if not policies.is_in(job) or (CAUGHT_UP in job.get(CLAUSE, "")) != (wish.makes_up and CLAUSE in job):
            return False
    try:
        jobs = [
            WrittenJob(
                CronSpec.from_mapping({f.attribute: job.get(f.command, "*") for f in FIELDS}), job.get(CLAUSE, "")
            )
            for job in block.jobs
        ]
        return fit(wish.schedule, jobs, wish.host, wish.start, block.until).is_exact
    except (CrondorError, ClassAdSyntaxError):
        return False


def _compare(
    text: str, compiled: Compiled, policies: Policies, before: Source, read: Callable[[Source], SubmitFile]
) -> None:
    """Read the new text like condor_submit, and check that its jobs are the compiled ones. Raises NotWritten."""
    own = {name.lower(): value for name, value in policies.commands.items()}
    names = (*(field.command for field in FIELDS), "cron_window", "cron_prep_time", "requirements", _FORCED, *own)
    wanted = {_essence(commands) for commands in compiled.commands}
    groups = [group.values for group in read(Source(text, before.name)).groups(names)]
    found = {_essence(values) for values in groups}
    if {fields for fields, _ in found} != {fields for fields, _ in wanted}:
        message = "lines after the compiled ones set the fields again, so that the jobs would run at other times"
        help_text = "delete the file's own cron_* lines, or move them before the compiled lines"
        raise NotWritten(Diagnostic("compile-lines", message, span=schedule_line(before), help=help_text))
    if any(values.get(name) != value for values in groups for name, value in own.items()):
        message = "lines after the compiled ones set a command again that a policy of the file writes"
        help_text = f"delete the file's own {' or '.join(own)}"
        raise NotWritten(Diagnostic("compile-lines", message, span=schedule_line(before), help=help_text))
    clauses = {clause for _, clause in wanted}
    if any(clauses) and any(_FORCED in values for values in groups):
        message = "the file sets +Requirements, which overrides the compiled clause: every time would match"
        help_text = "write it as requirements ="
        raise NotWritten(Diagnostic("compile-lines", message, span=schedule_line(before), help=help_text))
    if any(not any(clause in text for clause in clauses) for _, text in found):
        message = "the file sets requirements after the compiled lines, so that every time would match"
        help_text = "move its requirements before them"
        raise NotWritten(Diagnostic("compile-lines", message, span=schedule_line(before), help=help_text))
    try:
        for _, requirements in found:
            clause_of(requirements)
    except ClassAdSyntaxError:
        message = (
            "with the compiled clause the file's requirements are not a valid expression: condor_submit refuses the job"
        )
        help_text = "set requirements unconditionally, outside of an if"
        raise NotWritten(Diagnostic("compile-lines", message, span=schedule_line(before), help=help_text)) from None


def _essence(given: Mapping[str, str]) -> tuple[tuple[str, ...], str]:
    """Return fields and lengths of a job's commands, and its requirements."""
    fields = tuple(given.get(field.command, "*").strip() or "*" for field in FIELDS)
    lengths = given.get("cron_window", "").strip(), given.get("cron_prep_time", "").strip()
    return (*fields, *lengths), given.get("requirements", "").strip()
