"""`crondor queue guard`: keep DeferralTime of queued jobs as the manual defines it, and make up missed runs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.schedd.embedded import no_queue
from crondor.schedd.guard import Guard, GuardPass
from crondor.schedd.protocol import Schedd, Unreachable
from crondor.zones import Policy
from crondor_cli.kit.command import Command
from crondor_cli.kit.options import Clock, QueueOptions, clock_options, format_option, policy_option, schedd_options
from crondor_cli.kit.progress import PROGRESS
from crondor_cli.kit.queues import embedded_of, job_arguments, live_of, opened, selection_of
from crondor_cli.kit.screen import say, show, show_error
from crondor_cli.kit.tables import diagnostic_data, iso, plural, say_json
from crondor_cli.kit.times import local_text

if TYPE_CHECKING:
    from crondor_cli.queue import results

EXAMPLE = """\
printf 'shell = date\\ncron_hour = 3\\nqueue\\n' > job.sub
crondor queue submit --queue q job.sub
crondor queue guard --queue q --once"""

EPILOG = """\b
Examples:
  crondor queue guard --live --once
  crondor queue guard --live --apply --poll 10
  crondor queue guard --live --apply alice

The guard is for jobs that are already queued. It is best effort: a job that is matched between two passes, before the
edit, runs at the schedd's time. For jobs that are not yet submitted, a clause in requirements that lets only the right
times match is better: crondor next --spec FILE prints it.

It also makes up runs, for jobs compiled with the policies catch_up and overlap = queue: HTCondor makes up nothing. The
attributes CrondorCaughtUp, the missed time, and CrondorCatchUpTime, the DeferralTime of its run, mark such a job.

Exit status: 0 fine, 1 a finding (with --once: a wrong time, a run to make up, a schedule that cannot be guarded), 2
wrong usage.
Without --once it runs until Ctrl-C."""

_WARNING = Diagnostic(
    "guard-best-effort",
    "best effort: if a job is matched between two passes, it runs at the schedd's time; the guard is too late",
    Severity.NOTE,
    help="for jobs still to be submitted, add to requirements the clause that crondor next --spec FILE prints",
)


@click.command("guard", cls=Command, example=EXAMPLE, epilog=EPILOG)
@job_arguments
@click.option("--apply", is_flag=True, help="Edit the jobs (default: only report the edits).")
@click.option("--once", is_flag=True, help="Make one pass and end.")
@click.option(
    "--poll",
    type=click.FloatRange(1, 3600),
    default=30.0,
    metavar="SECONDS",
    help="Seconds between passes (default: 30).",
)
@schedd_options
@clock_options
@policy_option()
@format_option("text", "json", text="json: a line for each pass.")
def command(
    jobs: tuple[str, ...],
    constraint: str | None,
    apply: bool,
    once: bool,
    poll: float,
    asked: QueueOptions,
    clock: Clock,
    policy: Policy | None,
    format_: str,
) -> None:
    """Compare the DeferralTime of idle crontab jobs with the manual, and correct it; make up the runs they want."""
    chosen = selection_of(jobs, constraint)
    show([_WARNING])
    with ExitStack() as stack:
        schedd: Schedd
        if asked.kind == "live":
            schedd = stack.enter_context(live_of(asked))
        else:
            schedd = _embedded(asked, clock, stack, apply=apply, once=once)
        guard = Guard(schedd, zone=clock.zone, policy=policy, which=chosen)
        said: set[Diagnostic] = set()
        while not _pass(guard, clock, said, format_, apply=apply, once=once):
            PROGRESS.hide()  # it waits, and no end is in sight
            time.sleep(poll)
            clock = clock._replace(now=int(time.time()))


def _embedded(asked: QueueOptions, clock: Clock, stack: ExitStack, *, apply: bool, once: bool) -> Schedd:
    """Open the embedded queue, for writing only if it may be edited. Raises CrondorError."""
    if apply:
        return stack.enter_context(embedded_of(asked.queue, clock, waits=once))
    schedd = stack.enter_context(opened(asked, clock))
    if schedd is None:
        raise CrondorError(no_queue(asked.folder, Severity.ERROR))
    return schedd


def _pass(guard: Guard, clock: Clock, said: set[Diagnostic], format_: str, *, apply: bool, once: bool) -> bool:
    """Make and print a pass, and return whether it was the only one; a missing schedd is not the end."""
    try:
        found = guard.guard(clock.now, apply=apply)
    except Unreachable as error:
        if once:
            raise
        show_error(error)
        return False
    new = [fault for faults in found.trouble.values() for fault in faults if fault not in said]
    show(dict.fromkeys(new))
    said.update(new)
    data = _result(found, clock)
    if format_ == "json":
        say_json(data)
    else:
        for line in _lines(data, clock):
            say(line)
    if once and (found.corrections or found.catch_ups or found.trouble):
        raise click.exceptions.Exit(1)
    return once


def _result(found: GuardPass, clock: Clock) -> results.GuardResult:
    return {
        "now": clock.now,
        "job_count": found.jobs,
        "corrections": [
            {
                "job": str(each.job),
                "before": each.before,
                "time": each.time,
                "local": iso(each.time, clock.zone),
                "applied": each.applied,
            }
            for each in found.corrections
        ],
        "catch_ups": [
            {
                "job": str(each.job),
                "missed": each.missed,
                "time": each.time,
                "local": iso(each.time, clock.zone),
                "applied": each.applied,
            }
            for each in found.catch_ups
        ],
        "trouble": [
            {"job": str(job), "diagnostics": [diagnostic_data(fault) for fault in faults]}
            for job, faults in found.trouble.items()
        ],
    }


_OUTCOMES = {None: "not written: --apply", True: "written", False: "not written: the job has changed"}


def _lines(found: results.GuardResult, clock: Clock) -> Iterator[str]:
    now = local_text(found["now"], clock.zone)
    for each in found["corrections"]:
        before = "none" if each["before"] is None else local_text(each["before"], clock.zone)
        change = f"{each['job']} DeferralTime {before} -> {local_text(each['time'], clock.zone)}"
        yield f"{now}  {change}  ({_OUTCOMES[each['applied']]})"
    for made in found["catch_ups"]:
        missed, time = (local_text(each, clock.zone) for each in (made["missed"], made["time"]))
        change = f"{made['job']} the run of {missed} is made up: DeferralTime {time}"
        yield f"{now}  {change}  ({_OUTCOMES[made['applied']]})"
    if not (*found["corrections"], *found["catch_ups"]):
        yield f"{now}  {plural(found['job_count'], 'idle crontab job')}, nothing to correct"
