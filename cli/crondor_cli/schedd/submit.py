"""`crondor schedd submit`: the jobs of a submit file into the embedded queue."""

from __future__ import annotations

import getpass
import os
import platform
from pathlib import Path

import click

from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.macro.files import Files
from crondor.schedule import misspelt
from crondor.source import Span
from crondor.submit import SubmitFile, SubmitHost, job_ads, read_submit
from crondor_cli.common.data import diagnostic_data
from crondor_cli.common.jobs import read_source
from crondor_cli.common.options import Clock, clock_of, clock_options, format_option
from crondor_cli.common.output import say
from crondor_cli.common.queue import embedded_of, queue_option
from crondor_cli.common.show import show
from crondor_cli.common.streaming import echo_json

MOST = 100_000  # jobs of one file; a queue of more is a slip of the finger

EPILOG = """\b
Examples:
  crondor schedd submit nightly.sub
  crondor schedd submit --queue ./queue - < nightly.sub
  crondor schedd submit jobs/nightly.sub -a 'initialdir = /data/night' -a 'cron_hour = 3'

The file is read as condor_submit 25.14 reads it, and nothing in it is run. All its jobs come into the queue at once, or
none of them; their DeferralTime is computed with them. Each job's folder (Iwd) is its initialdir, and where that is
relative or not given, from the folder the command is started in, wherever FILE is.

Exit status: 0 fine, 1 a finding (a file that cannot be submitted, a job whose schedule is invalid), 2 wrong usage."""


@click.command("submit", epilog=EPILOG, short_help="A submit file into the embedded queue.")
@click.argument("file")
@click.option(
    "-a",
    "--append",
    "append",
    metavar="LINE",
    multiple=True,
    help="A line before each queue statement, as with -append.",
)
@queue_option
@clock_options
@format_option("text", "json")
def command(
    file: str, append: tuple[str, ...], queue: str | None, now: str | None, tz: str | None, format_: str
) -> None:
    """Put the jobs of a submit file into the embedded queue; - reads standard input."""
    clock = clock_of(now, tz)
    with embedded_of(queue, clock, make=True) as schedd:
        read = _read(file, append, clock)
        ads = _ads(read, schedd.next_cluster)
        jobs = schedd.submit(ads)
        edits = schedd.recalculate()
    made = set(jobs)
    held = [edit for edit in edits if edit.time is None and edit.job in made]
    names = ((key, read.name(key)) for key in read.keys)
    findings = list(
        dict.fromkeys([*read.warnings, *misspelt((span.text if span else key, span) for key, span in names)])
    )
    findings += [Diagnostic("held", f"job {edit.job} is held: {edit.hold}", Severity.WARNING) for edit in held]
    show(findings)
    if format_ == "json":
        data = {"cluster": jobs[0].cluster if jobs else None, "jobs": [str(job) for job in jobs]}
        echo_json({**data, "diagnostics": [diagnostic_data(f) for f in findings]})
    else:
        count = f"{len(jobs):,} job{'' if len(jobs) == 1 else 's'}"
        say(f"{count} submitted to cluster {jobs[0].cluster}" if jobs else "no job submitted")
    if held or not jobs:
        raise click.exceptions.Exit(1)


def _read(path: str, append: tuple[str, ...], clock: Clock) -> SubmitFile:
    """Read a submit file. Raises InvalidSubmit, UsageError if unreadable."""
    folder = os.path.dirname(path) or "."
    return read_submit(
        read_source(path),
        files=Files([] if path == "-" else [folder], base=folder),
        now=clock.now,
        zone=clock.zone,
        host=SubmitHost(user=getpass.getuser(), folder=str(Path.cwd())),
        append=append,
    )


def _ads(file: SubmitFile, cluster: int) -> list[ClassAd]:
    """Return the ads of a file's jobs in a cluster, in order. Raises InvalidSubmit, CrondorError for too many jobs."""
    if file.job_count > MOST:
        message = f"{file.job_count:,} jobs are more than the {MOST:,} that crondor puts into a queue at once"
        raise CrondorError(Diagnostic("submit-many", message, help="queue fewer"))
    ads: list[ClassAd] = []
    owner = getpass.getuser()
    own = {"Owner": owner, "User": f"{owner}@{platform.node()}"}
    for made in job_ads(file, in_order=True, cluster=cluster):
        if "ProcId" not in made.ad:
            raise CrondorError(_late(made.jobs.queue))
        for name, value in own.items():
            if name not in made.ad:
                made.ad.set(name, value)
        ads += [made.ad] * made.jobs.count
    return ads


def _late(queue: Span | None) -> Diagnostic:
    message = "these jobs are to be made later (max_materialize, max_idle), which the embedded queue does not do"
    return Diagnostic("submit-late", message, span=queue, help="leave the command out")
