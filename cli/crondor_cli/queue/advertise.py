"""`crondor queue advertise`: print a queue's next starts as attributes, like a daemon's cron job."""

from __future__ import annotations

from collections.abc import Iterator

import click

from crondor.classad.ad import ClassAd
from crondor.classad.printing import Format, Order
from crondor.diagnostics import CrondorError, Diagnostic, has_error, printable
from crondor.schedd.reading import advertised, coming_starts
from crondor.spec import Dialect
from crondor.submit import job_ads
from crondor.zones import Policy
from crondor_cli.kit import options as opts
from crondor_cli.kit.ads import context_of
from crondor_cli.kit.command import Command, with_default
from crondor_cli.kit.options import Clock, QueueOptions, Surroundings
from crondor_cli.kit.queues import QueueJobs, QueueReading, reading_of, selection_of
from crondor_cli.kit.schedules import ScheduleRequest
from crondor_cli.kit.screen import emit, show, usage

EXAMPLE = """\
printf 'shell = date\\ncron_hour = 3\\nqueue\\n' > job.sub
crondor queue advertise job.sub"""

EPILOG = """\b
Examples:
  crondor queue advertise --log /var/lib/condor/spool/job_queue.log
  crondor queue advertise nightly.sub weekly.sub -n 5
  condor_q -all -long | crondor queue advertise --ads -

\b
In the schedd's configuration, so that condor_status -schedd -long shows them:
  use FEATURE : ScheddCronPeriodic(CRONDOR, 1m, /usr/bin/crondor, \\
      queue advertise --log $(SPOOL)/job_queue.log)

Attributes: CrondorJobs counts the jobs with a schedule; CrondorIdle, CrondorWaiting, CrondorRunning and CrondorHeld
count them by state, CrondorTrouble those with trouble. CrondorNextJob, CrondorNextOwner and CrondorNextDeferral (epoch
seconds) describe the next start, CrondorNext lists the coming starts. Without a coming start there is no CrondorNext.

Exit status: 0 fine; 1 a finding (a queue that cannot be read); 2 wrong usage."""

_MOST = 100
_MOST_JOBS = 1000  # per submit file


@click.command("advertise", cls=Command, example=EXAMPLE, epilog=EPILOG)
@opts.submit_files("A submit file, like FILES, instead of a queue.")
@opts.constraint_option
@with_default("-n", 10, "Starts to list.", click.IntRange(0, _MOST), name="--count")
@opts.source_options
@opts.file_options
@opts.clock_options
@opts.reading_options(htcondor=True)
def command(
    paths: tuple[str, ...],
    constraint: str | None,
    count: int,
    asked: QueueOptions,
    clock: Clock,
    dialect: Dialect | None,
    policy: Policy | None,
    surroundings: Surroundings,
) -> None:
    """Print the coming starts of scheduled jobs, of a queue or of FILES, as attributes for the schedd's ad."""
    if paths:
        if any(asked):
            raise usage("FILES and a queue: choose one")
        read = QueueReading(
            asked, clock, _submitted(paths, constraint, clock, surroundings), dialect or Dialect.HTCONDOR, policy
        )
    else:
        read = reading_of(asked, (), constraint, clock, dialect, policy)
    looks = list(read.looks())
    show(dict.fromkeys(read.found.findings))
    ad = advertised(looks, coming_starts(looks, count))
    emit(ad.print(Format.LONG, Order.KEPT) + "-", nl=True)
    if has_error(read.found.findings):
        raise click.exceptions.Exit(1)


def _submitted(paths: tuple[str, ...], constraint: str | None, clock: Clock, surroundings: Surroundings) -> QueueJobs:
    """Return the jobs of submit files, as if each file was a cluster."""
    request = ScheduleRequest(clock, paths, surroundings=surroundings)
    chosen, context = selection_of((), constraint), context_of(clock)
    made = [ad for number, path in enumerate(paths, 1) for ad in _jobs(request, path, number)]
    ads = [ad for ad in made if chosen.holds(ad, context)]
    return QueueJobs(ads, len(ads), sees_deferral_time=True, findings=[])


def _jobs(request: ScheduleRequest, path: str, number: int) -> Iterator[ClassAd]:
    """Yield the ads of one file's jobs. Raises CrondorError for too many."""
    made = list(job_ads(request.read(path), cluster=number))
    count = sum(one.jobs.count for one in made)
    if count > _MOST_JOBS:
        message = f"{printable(path)} has {count} jobs: at most {_MOST_JOBS} of a file are advertised"
        raise CrondorError(Diagnostic("advertise-many", message, help="submit it, and advertise the queue"))
    for one in made:
        yield from one.each(JobStatus=1)
