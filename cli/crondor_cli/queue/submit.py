"""`crondor queue submit`: the jobs of a submit file into a queue."""

from __future__ import annotations

import getpass
import platform
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import click

from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.job_queue import JobId
from crondor.knowledge.kinds import FileKind
from crondor.schedd.cron_tabs import CronEdit
from crondor.schedule import misspelt
from crondor.source import Span
from crondor.submit import SubmitFile, SubmitHost, job_ads, read_submit
from crondor_cli.common.columns import plural
from crondor_cli.common.command import Command
from crondor_cli.common.data import diagnostic_data
from crondor_cli.common.given_files import read_source
from crondor_cli.common.jobs import files_of
from crondor_cli.common.options import Clock, Surroundings, clock_of, clock_options, file_options, format_option
from crondor_cli.common.output import say
from crondor_cli.common.progress import PROGRESS
from crondor_cli.common.queue import embedded_of, live_of
from crondor_cli.common.queue_options import QueueOptions, schedd_options
from crondor_cli.common.show import show
from crondor_cli.common.streaming import echo_json
from crondor_cli.common.submit_files import submit_files
from crondor_cli.queue.halfway import halfway

MOST = 100_000  # jobs of one file; a queue of more is a slip of the finger

EXAMPLE = """\
printf 'shell = date\\ncron_hour = 3\\nqueue\\n' > job.sub
crondor queue submit --queue q job.sub"""

EPILOG = """\b
Examples:
  crondor queue submit nightly.sub --queue q
  crondor queue submit --queue ./queue - < nightly.sub
  crondor queue submit --live nightly.sub
  crondor queue submit jobs/nightly.sub -a 'initialdir = /data/night' \\
      -a 'cron_hour = 3'

The file is read as condor_submit 25.14 reads it, and nothing in it is run. All its jobs come into the queue at once, or
none of them; their DeferralTime is computed with them. Each job's folder (Iwd) is its initialdir; a relative one, and
none, counts from the folder the command is started in, wherever FILE is.

With --live each job gets a cluster of its own, as whoever submits; $(Cluster) cannot be said beforehand, and is
refused. The schedd computes DeferralTime. condor_submit checks and spools more than this.

Exit status: 0 fine, 1 a finding (a file that cannot be submitted, a job whose schedule is invalid), 2 wrong usage."""


@click.command("submit", cls=Command, example=EXAMPLE, epilog=EPILOG)
@submit_files()
@file_options
@click.option(
    "-a",
    "--append",
    "append",
    metavar="LINE",
    multiple=True,
    help="A line before each queue statement, as with -append.",
)
@schedd_options
@clock_options
@format_option("text", "json")
def command(
    paths: tuple[str, ...],
    append: tuple[str, ...],
    asked: QueueOptions,
    now: str | None,
    tz: str | None,
    format_: str,
    surroundings: Surroundings,
) -> None:
    """Put the jobs of submit files into a queue; - reads standard input."""
    if not paths:
        raise click.UsageError("name a submit file: crondor queue submit FILE", click.get_current_context(silent=True))
    clock = clock_of(now, tz)
    held: list[CronEdit] = []
    if asked.kind == "live":
        files = [_read(path, append, clock, surroundings) for path in paths]
        jobs = _live(asked, files)
    else:
        with embedded_of(asked.queue, clock, make=True) as schedd:
            files = [_read(path, append, clock, surroundings) for path in paths]
            jobs = [schedd.submit(ads) for ads in _clusters(files, schedd.next_cluster)]
            held = [edit for edit in schedd.recalculate() if edit.time is None]
    made = [_submitted(file, found, held) for file, found in zip(files, jobs, strict=True)]
    for each in made:
        show(each.findings)
        if format_ != "json":
            say(str(each))
    if format_ == "json":
        echo_json(made[0].data if len(made) == 1 else {"files": [{"file": each.name, **each.data} for each in made]})
    if any(each.is_held or not each.jobs for each in made):
        raise click.exceptions.Exit(1)


def _live(asked: QueueOptions, files: list[SubmitFile]) -> list[list[JobId]]:
    """Submit to a live schedd, which gives each job a cluster of its own.

    Raises CrondorError before any is there, and ScheddError, which says what was submitted where it ends halfway, as is
    said after Ctrl-C.
    """
    made = [_without_cluster(file) for file in files]
    there: list[JobId] = []

    def done(_: object) -> list[str]:
        return [f"{plural(len(there), 'job')} submitted to {_clusters_text(there)}"] if there else []

    with live_of(asked) as schedd, halfway(done, lambda: "one more job may have been submitted"):
        for ads in made:
            for ad in ads:
                there += schedd.submit([ad])
    left = iter(there)
    return [list(islice(left, len(ads))) for ads in made]


def _without_cluster(file: SubmitFile) -> list[ClassAd]:
    """Return a file's ads, which may not say the cluster's number: it is not known before. Raises CrondorError."""
    ads, others = _ads(file, 1), _ads(file, 2)
    for ad, other in zip(ads, others, strict=True):
        named = [name for name in ad if name != "ClusterId" and ad[name] != other[name]]
        if named:
            message = f"{named[0]} has the cluster's number in it, which a live schedd gives after the ad is made"
            hint = "leave $(Cluster) out, or use condor_submit"
            raise CrondorError(Diagnostic("submit-cluster", message, span=file.source.span(0, 0), help=hint))
        for name in ("Owner", "User"):  # the schedd says whose it is
            del ad[name]
    return ads


def _clusters_text(jobs: Sequence[JobId]) -> str:
    """Name the clusters of jobs, of which there is one at least."""
    clusters = sorted({job.cluster for job in jobs})
    return f"clusters {clusters[0]} to {clusters[-1]}" if len(clusters) > 1 else f"cluster {clusters[0]}"


class _Cluster(NamedTuple):
    """What became of a submit file."""

    name: str
    jobs: list[JobId]
    findings: list[Diagnostic]
    is_held: bool

    def __str__(self) -> str:
        """Say how many jobs came into the queue."""
        count = f"{len(self.jobs):,} job{'' if len(self.jobs) == 1 else 's'}"
        return f"{count} submitted to {_clusters_text(self.jobs)}" if self.jobs else "no job submitted"

    @property
    def data(self) -> dict[str, object]:
        """The same for programs."""
        cluster = self.jobs[0].cluster if self.jobs else None
        found = [diagnostic_data(finding) for finding in self.findings]
        return {"cluster": cluster, "jobs": [str(job) for job in self.jobs], "diagnostics": found}


def _submitted(file: SubmitFile, jobs: list[JobId], held: list[CronEdit]) -> _Cluster:
    """Put together what there is to say of a file's jobs, of which some may be held."""
    made = set(jobs)
    ours = [edit for edit in held if edit.job in made]
    names = ((key, file.name(key)) for key in file.keys)
    said = [*file.warnings, *misspelt((span.text if span else key, span) for key, span in names)]
    said += [Diagnostic("held", f"job {edit.job} is held: {edit.hold}", Severity.WARNING) for edit in ours]
    return _Cluster(file.source.name, jobs, list(dict.fromkeys(said)), bool(ours))


def _read(path: str, append: tuple[str, ...], clock: Clock, surroundings: Surroundings) -> SubmitFile:
    """Read a submit file. Raises InvalidSubmit, UsageError if unreadable."""
    return read_submit(
        read_source(path, FileKind.SUBMIT),
        files=files_of(path, surroundings.allow_dirs),
        environ=surroundings.environ,
        seed=surroundings.seed,
        now=clock.now,
        zone=clock.zone,
        host=SubmitHost(user=getpass.getuser(), folder=str(Path.cwd())),
        append=append,
    )


def _clusters(files: list[SubmitFile], first: int) -> list[list[ClassAd]]:
    """Return the ads of each file, a cluster each; what is wrong with one is known before any job is in the queue."""
    found: list[list[ClassAd]] = []
    for file in files:
        found.append(_ads(file, first))
        first += bool(found[-1])
    return found


def _ads(file: SubmitFile, cluster: int) -> list[ClassAd]:
    """Return the ads of a file's jobs in a cluster, in order. Raises InvalidSubmit, CrondorError for too many jobs."""
    if file.job_count > MOST:
        message = f"{file.job_count:,} jobs are more than the {MOST:,} that crondor puts into a queue at once"
        raise CrondorError(Diagnostic("submit-many", message, help="queue fewer"))
    ads: list[ClassAd] = []
    owner = getpass.getuser()
    own = {"Owner": owner, "User": f"{owner}@{platform.node()}"}
    made_of = PROGRESS.counted(job_ads(file, in_order=True, cluster=cluster), "making ads", "jobs", file.job_count)
    for made in made_of:
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
