"""`crondor queue status`, `recalc` and `history`: list the crontab and deferral jobs of a queue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import tzinfo
from typing import TYPE_CHECKING

import click

from crondor.classad.printing import Format
from crondor.diagnostics import has_error, printable
from crondor.job.attributes import JobStatus
from crondor.job.policy import QueuedJob
from crondor.schedd.cron_tabs import CronEdit, apply_edits, recalculate
from crondor.schedd.embedded import no_queue
from crondor.schedd.reading import ScheduledJob, ScheduledState, job_id, mirror_of
from crondor.spec import Dialect
from crondor.zones import Policy
from crondor_cli.kit import options as opts
from crondor_cli.kit.command import Command
from crondor_cli.kit.options import Clock, QueueOptions
from crondor_cli.kit.queues import (
    QueueReading,
    embedded_of,
    job_arguments,
    live_of,
    opened,
    reading_of,
    reads_queue,
    selection_of,
)
from crondor_cli.kit.screen import emit, say, show, usage
from crondor_cli.kit.tables import cell, diagnostic_data, echo_json, iso, moments, print_rows
from crondor_cli.kit.times import local_text, relative

if TYPE_CHECKING:
    from crondor_cli.queue import results

_STATES = {
    ScheduledState.RUNNING.value: "green",
    ScheduledState.WAITING.value: "cyan",
    ScheduledState.SUSPENDED.value: "yellow",
    ScheduledState.UNKNOWN.value: "yellow",
    ScheduledState.HELD.value: "red",
}
_LATE = "the log shows DeferralTime late; a time that is not in it yet is computed from the schedule"


def _job(look: ScheduledJob, zone: tzinfo) -> results.StatusJob:
    queued, schedule = look.queued, look.schedule
    return {
        "job": queued.id,
        "owner": queued.string("Owner"),
        "cmd": queued.string("Cmd"),
        "state": look.state.value,
        "canonical": str(schedule.spec) if schedule is not None and schedule.spec is not None else None,
        "deferral_time": look.deferral_time,
        "next": None if look.next is None else moments(look.next, zone),
        "trouble": [diagnostic_data(trouble) for trouble in look.trouble],
    }


def _status_rows(looks: Iterable[ScheduledJob], clock: Clock) -> Iterator[list[str]]:
    """Yield a row for each job, with its trouble below."""
    for look in looks:
        job = _job(look, clock.zone)
        state, due, start = job["state"], job["deferral_time"], job["next"]
        if look.state is ScheduledState.WAITING and due is not None:
            state = f"waiting (starts {relative(due - clock.now)})"
        times = ["-", "-", "-", "-"]
        if start is not None:
            time, opens, last = start["time"], start["match_opens"], start["last_start"]
            shown = local_text(time, clock.zone)
            edges = (_without_date(local_text(each, clock.zone), shown) for each in (opens, last))
            times = [shown, relative(time - clock.now), *edges]
        yield [look.id, cell(job["owner"]), state, *times]
        for trouble in job["trouble"]:
            hint = f"; {trouble['help']}" if trouble["help"] else ""
            yield [printable(f"{trouble['severity']}: {trouble['message']}{hint} [{trouble['code']}]")]


def _without_date(full: str, other: str) -> str:
    """Return a time without its date if both have the same date."""
    same = full[:14] == other[:14] and full[-5:] == other[-5:] and not full.startswith("epoch")
    return full[15:-6] if same else full


def _edit(edit: CronEdit, before: int | None, zone: tzinfo) -> results.Edit:
    return {
        "job": str(edit.job),
        "before": before,
        "time": edit.time,
        "local": None if edit.time is None else iso(edit.time, zone),
        "hold_reason": edit.hold,
        "reason": edit.why.value,
    }


def _print_edits(edits: list[results.Edit], clock: Clock, *, applied: bool) -> None:
    """Print a row for each edit with the previous DeferralTime."""
    if not edits:
        say("nothing to do: every crontab job has its time")
        return
    rows = []
    for edit in edits:
        was = "-" if edit["before"] is None else local_text(edit["before"], clock.zone)
        new = "held (code 25)" if edit["time"] is None else local_text(edit["time"], clock.zone)
        rows.append([edit["job"], was, new, edit["reason"]])
        rows += [[printable(edit["hold_reason"])]] if edit["hold_reason"] is not None else []
    print_rows(["job", "was", "DeferralTime", "because"], rows)
    say("written" if applied else "nothing was written: use --apply")


EPILOG = """\b
Examples:
  crondor queue status --live
  crondor queue status alice --queue q --constraint 'JobStatus == 5'
  crondor queue status --log /var/lib/condor/spool/job_queue.log
  condor_q -all -long | crondor queue status --ads -

A job that HTCondor calls Running while it waits on its machine for its DeferralTime is `waiting` here. A log gets
DeferralTime late: a missing time is computed from the schedule.

Exit status: 0 fine, 1 a finding (a job with trouble, a missing job, a queue that cannot be read), 2 wrong usage."""


@click.command("status", cls=Command, example="crondor queue status --queue q", epilog=EPILOG)
@job_arguments
@reads_queue
@opts.format_option("table", "json")
def command(read: QueueReading, format_: str) -> None:
    """List the jobs that have a schedule: state, next start, and trouble."""
    looks = _Watched(read.looks())
    show(dict.fromkeys(read.found.findings))
    found, clock = read.found, read.clock
    if format_ == "json":
        data: results.StatusResult = {
            **read.head,
            "sees_deferral_time": found.sees_deferral_time,
            "job_count": found.total,
            "jobs": (_job(look, clock.zone) for look in looks),
            "diagnostics": map(diagnostic_data, found.findings),
        }
        echo_json(data)
    elif rows := list(_status_rows(looks, clock)):
        print_rows(["job", "owner", "state", "next start", "from now", "match opens", "last start"], rows, _STATES)
        if not found.sees_deferral_time:
            say(f"note: {_LATE}")
    else:
        say(f"no job with a schedule, of {found.total}")
    if looks.troubled or has_error(found.findings):
        raise click.exceptions.Exit(1)


class _Watched:
    """Passes jobs on, and records whether one had trouble."""

    def __init__(self, looks: Iterable[ScheduledJob]) -> None:
        self._looks = looks
        self.troubled = False

    def __iter__(self) -> Iterator[ScheduledJob]:
        for look in self._looks:
            self.troubled |= look.is_troubled
            yield look


RECALC_EXAMPLE = "crondor queue recalc --queue q"

RECALC_EPILOG = """\b
Examples:
  crondor queue recalc --queue q
  crondor queue recalc --queue q --apply
  condor_q -all -long | crondor queue recalc --ads -

As in a schedd that has just started or was reconfigured, every idle crontab job gets its next time. In an embedded
queue the fields are read as the manual says, elsewhere as the schedd of HTCondor 25.14 reads them; --dialect selects
another reading. A log and ads are read only.

Exit status: 0 fine, 1 a finding (a job to be held, a missing job), 2 wrong usage."""


@click.command("recalc", cls=Command, example=RECALC_EXAMPLE, epilog=RECALC_EPILOG)
@job_arguments
@click.option("--apply", is_flag=True, help="Write the times to the embedded queue or the live schedd.")
@opts.source_options
@opts.clock_options
@opts.reading_options(htcondor=True)
@opts.format_option("table", "json")
def recalc(
    jobs: tuple[str, ...],
    constraint: str | None,
    apply: bool,
    asked: QueueOptions,
    clock: Clock,
    dialect: Dialect | None,
    policy: Policy | None,
    format_: str,
) -> None:
    """Compute the DeferralTime of crontab jobs; without --apply nothing is written."""
    if apply and asked.kind in {"log", "ads"}:
        raise usage(f"--apply cannot write into --{asked.kind}: it is read only")
    read = reading_of(asked, jobs, constraint, clock, dialect, policy)
    ads, clock = read.found.ads, read.clock
    before = {job: QueuedJob(ad).integer("DeferralTime") for ad in ads if (job := job_id(ad)) is not None}
    edits = recalculate(
        mirror_of(ads, read.found.findings.append), clock.now, zone=clock.zone, dialect=read.dialect, policy=policy
    )
    show(dict.fromkeys(read.found.findings))
    if apply and edits and asked.kind == "queue":
        with embedded_of(asked.queue, clock) as schedd:
            edits = schedd.apply(edits)
    elif apply and edits:
        with live_of(asked) as live:
            edits = apply_edits(live, edits)
    rows = [_edit(edit, before.get(edit.job), clock.zone) for edit in edits]
    if format_ == "json":
        found = map(diagnostic_data, read.found.findings)
        data: results.RecalcResult = {**read.head, "applied": apply, "edits": iter(rows), "diagnostics": found}
        echo_json(data)
    else:
        _print_edits(rows, clock, applied=apply)
    if has_error(read.found.findings) or any(edit.time is None for edit in edits):
        raise click.exceptions.Exit(1)


HISTORY_EXAMPLE = "crondor queue history --queue q"

HISTORY_EPILOG = """\b
Examples:
  crondor queue history --queue q
  crondor queue history alice -n 3 --live
  crondor queue history --live --constraint 'ExitCode != 0'

Exit status: 0 fine, 1 a queue that cannot be read, 2 wrong usage."""


@click.command("history", cls=Command, example=HISTORY_EXAMPLE, epilog=HISTORY_EPILOG)
@job_arguments
@click.option("-n", "--count", type=click.IntRange(1, 1_000_000), default=10, help="How many (default: 10).")
@opts.schedd_options
@opts.clock_options
@opts.format_option("table", "long", "json")
def history(
    jobs: tuple[str, ...], constraint: str | None, count: int, asked: QueueOptions, clock: Clock, format_: str
) -> None:
    """List the jobs that have left the queue, the latest first."""
    chosen = selection_of(jobs, constraint)
    with opened(asked, clock) as schedd:
        if schedd is None:
            show([no_queue(asked.folder)])
        ads = [] if schedd is None else schedd.history(chosen, limit=count)
    if format_ == "long":
        emit("\n".join(ad.print(Format.LONG) for ad in ads))
        return
    left = [_left(QueuedJob(ad)) for ad in ads]
    if format_ == "json":
        data: results.HistoryResult = {"jobs": left}
        echo_json(data)
    elif left:
        print_rows(["job", "owner", "cmd", "state", "since", "reason"], [_row(job, clock) for job in left])
    else:
        say("no job has left the queue")


def _row(job: results.Job, clock: Clock) -> list[str]:
    when = "-" if job["since"] is None else local_text(job["since"], clock.zone)
    return [job["job"] or "-", cell(job["owner"]), cell(job["cmd"]), job["state"], when, cell(job["reason"])]


def _left(job: QueuedJob) -> results.Job:
    completed = job.integer("CompletionDate")
    is_completed = completed and job.status is JobStatus.COMPLETED
    return {
        "job": job.id,
        "owner": job.string("Owner"),
        "cmd": job.string("Cmd"),
        "state": "unknown" if job.status is None else job.status.name.lower(),
        "since": completed if is_completed else job.integer("EnteredCurrentStatus"),
        "reason": job.string("RemoveReason"),
    }
