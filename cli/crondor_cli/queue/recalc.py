"""`crondor queue recalc`: one pass over the crontab jobs of a queue, as a schedd makes it."""

from __future__ import annotations

import click

from crondor.diagnostics import has_error
from crondor.job.queued import QueuedJob
from crondor.schedd.ads import job_id, mirror_of
from crondor.schedd.applying import apply_edits
from crondor.schedd.cron_tabs import CronEdit, recalculate
from crondor.spec import Dialect
from crondor.zones import Policy
from crondor_cli.common.command import Command
from crondor_cli.common.options import Clock, clock_of, clock_options, format_option, reading_options
from crondor_cli.common.queue import embedded_of, job_arguments, live_of
from crondor_cli.common.queue_options import QueueOptions, source_options
from crondor_cli.common.queue_reading import read_queue
from crondor_cli.common.show import show
from crondor_cli.queue.text import edits_data, print_edits

EXAMPLE = "crondor queue recalc --queue q"

EPILOG = """\b
Examples:
  crondor queue recalc --queue q
  crondor queue recalc --queue q --apply
  condor_q -all -long | crondor queue recalc --ads -

The pass is that of a schedd that has just started or was reconfigured: no schedule is cached, so that every idle
crontab job gets its next time. An embedded queue reads the fields as the manual says, all others as the schedd of
HTCondor 25.14 does; --dialect chooses. A log and ads are read only.

Exit status: 0 fine, 1 a finding (a job to be held, one that is not there), 2 wrong usage."""


@click.command(
    "recalc",
    cls=Command,
    example=EXAMPLE,
    epilog=EPILOG,
)
@job_arguments
@click.option("--apply", is_flag=True, help="Write it: into the embedded queue, or to the live schedd.")
@source_options
@clock_options
@reading_options(htcondor=True)
@format_option("table", "json")
def command(
    jobs: tuple[str, ...],
    constraint: str | None,
    apply: bool,
    asked: QueueOptions,
    now: str | None,
    tz: str | None,
    dialect: Dialect | None,
    policy: Policy | None,
    format_: str,
) -> None:
    """Compute the DeferralTime of crontab jobs; without --apply nothing is written."""
    if apply and asked.kind in {"log", "ads"}:
        message = f"--apply cannot write into --{asked.kind}: it is read only"
        raise click.UsageError(message, click.get_current_context(silent=True))
    read = read_queue(asked, jobs, constraint, clock_of(now, tz), dialect, policy)
    ads, clock = read.found.ads, read.clock
    before = {job: QueuedJob(ad).integer("DeferralTime") for ad in ads if (job := job_id(ad)) is not None}
    edits = recalculate(
        mirror_of(ads, read.found.findings.append), clock.now, zone=clock.zone, dialect=read.dialect, policy=policy
    )
    show(dict.fromkeys(read.found.findings))
    if apply and edits:
        edits = _apply(asked, clock, edits)
    pairs = [(edit, before.get(edit.job)) for edit in edits]
    if format_ == "json":
        edits_data(pairs, read, applied=apply)
    else:
        print_edits(pairs, clock, applied=apply)
    bad = has_error(read.found.findings)
    if bad or any(edit.time is None for edit in edits):
        raise click.exceptions.Exit(1)


def _apply(asked: QueueOptions, clock: Clock, edits: list[CronEdit]) -> list[CronEdit]:
    """Write edits where their jobs are idle still, and return those that were written. Raises CrondorError."""
    if asked.kind == "queue":
        with embedded_of(asked.queue, clock) as schedd:
            return schedd.apply(edits)
    with live_of(asked) as live:
        return apply_edits(live, edits)
