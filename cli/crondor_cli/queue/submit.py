"""`crondor queue submit` and `edit`: submit jobs to a queue, and edit their attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from crondor.classad import ClassAdSyntaxError, Expression
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, printable
from crondor.job_queue import JobId, QueueLocked
from crondor.knowledge.kinds import FileKind
from crondor.pool.local.session import ask
from crondor.schedd.cron_tabs import CronEdit
from crondor.schedd.embedded import EmbeddedSchedd
from crondor.schedd.protocol import PartlyEdited, ScheddError, Selection, read_constraint
from crondor.schedd.reading import job_id
from crondor.schedule import misspelt
from crondor.submit import SubmitFile, SubmitHost
from crondor_cli.kit import options as opts
from crondor_cli.kit.command import Command
from crondor_cli.kit.files import read_source
from crondor_cli.kit.options import Clock, QueueOptions, Surroundings, UsageProblem, folder_of
from crondor_cli.kit.progress import PROGRESS
from crondor_cli.kit.queues import (
    ads_of_file,
    embedded_of,
    job_arguments,
    live_of,
    missing_of,
    no_job,
    selection_of,
    unknown_job,
    without_owner,
)
from crondor_cli.kit.schedules import read_description
from crondor_cli.kit.screen import account, say, show, usage
from crondor_cli.kit.tables import diagnostic_data, echo_json, plural

if TYPE_CHECKING:
    from crondor_cli.queue import results


@contextmanager
def halfway(done: Callable[[ScheddError | None], list[str]], doubtful: Callable[[], str]) -> Iterator[None]:
    """Make changes one by one in this block, and report those made if it ends early.

    ``done`` returns them as sentences, perhaps about an error; ``doubtful`` describes the last request, whose result is
    unknown after Ctrl-C. Raises ScheddError, extended with this report.
    """
    try:
        yield
    except ScheddError as error:
        said = done(error)
        if not said:
            raise
        warned = _warning(f"before that {'; '.join(said)}", "this is not undone")
        raise ScheddError((*error.diagnostics, warned)) from None
    except KeyboardInterrupt:
        before = "; ".join(done(None)) or "nothing done before"
        show([_warning(f"interrupted: {before}; {doubtful()}", "earlier changes remain: check with condor_q")])
        raise


def _warning(message: str, hint: str) -> Diagnostic:
    return Diagnostic("schedd-halfway", message, Severity.WARNING, help=hint)


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

The file is read as condor_submit 25.14 reads it, and nothing in it is run. Either all its jobs are queued, or none;
their DeferralTime is computed at once. The folder of a job (Iwd) is its initialdir, which is relative to the folder
where the command is started, wherever FILE is.

With --live each job gets its own cluster, and belongs to the user who submits. $(Cluster) is not known in advance, so
it is refused. The schedd computes DeferralTime. condor_submit checks and spools more than this command.

Exit status: 0 fine, 1 a finding (a file that cannot be submitted, a job whose schedule is invalid), 2 wrong usage."""


@click.command("submit", cls=Command, example=EXAMPLE, epilog=EPILOG)
@opts.submit_files()
@opts.file_options
@click.option(
    "-a",
    "--append",
    "append",
    metavar="LINE",
    multiple=True,
    help="A line to add before each queue statement, as with -append.",
)
@opts.schedd_options
@opts.clock_options
@opts.format_option("text", "json")
def command(
    paths: tuple[str, ...],
    append: tuple[str, ...],
    asked: QueueOptions,
    clock: Clock,
    format_: str,
    surroundings: Surroundings,
) -> None:
    """Submit the jobs of files to a queue; - reads standard input."""
    if not paths:
        raise usage("give a submit file: crondor queue submit FILE")
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
        several: results.Clusters = {"files": [{"file": each.name, **_data(each)} for each in made]}
        echo_json(_data(made[0]) if len(made) == 1 else several)
    if any(each.is_held or not each.jobs for each in made):
        raise click.exceptions.Exit(1)


def _live(asked: QueueOptions, files: list[SubmitFile]) -> list[list[JobId]]:
    """Submit to a live schedd, which gives each job its own cluster.

    Raises CrondorError before the first submission, and ScheddError with the jobs submitted so far if it fails in
    between; after Ctrl-C they are also reported.
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
    """Return a file's ads; they must not contain the cluster's number, which is not known yet. Raises CrondorError."""
    ads, others = ads_of_file(file, 1), ads_of_file(file, 2)
    for ad, other in zip(ads, others, strict=True):
        named = [name for name in ad if name != "ClusterId" and ad[name] != other[name]]
        if named:
            message = f"{named[0]} contains the cluster number, which a live schedd assigns after the ad is made"
            hint = "omit $(Cluster), or use condor_submit"
            raise CrondorError(Diagnostic("submit-cluster", message, span=file.source.span(0, 0), help=hint))
    return list(map(without_owner, ads))


def _clusters_text(jobs: Sequence[JobId]) -> str:
    """Return the clusters of jobs as text; there is at least one job."""
    clusters = sorted({job.cluster for job in jobs})
    return f"clusters {clusters[0]} to {clusters[-1]}" if len(clusters) > 1 else f"cluster {clusters[0]}"


class _Cluster(NamedTuple):
    """The result of submitting a file."""

    name: str
    jobs: list[JobId]
    findings: list[Diagnostic]
    is_held: bool

    def __str__(self) -> str:
        """Return the number of jobs submitted, as text."""
        count = plural(len(self.jobs), "job")
        return f"{count} submitted to {_clusters_text(self.jobs)}" if self.jobs else "no job submitted"


def _data(made: _Cluster) -> results.Cluster:
    cluster = made.jobs[0].cluster if made.jobs else None
    found = [diagnostic_data(finding) for finding in made.findings]
    return {"cluster": cluster, "jobs": [str(job) for job in made.jobs], "diagnostics": found}


def _submitted(file: SubmitFile, jobs: list[JobId], held: list[CronEdit]) -> _Cluster:
    """Return the result for a file's jobs, some of which may be held."""
    made = set(jobs)
    ours = [edit for edit in held if edit.job in made]
    names = ((key, file.name(key)) for key in file.keys)
    said = [*file.warnings, *misspelt((span.text if span else key, span) for key, span in names)]
    said += [Diagnostic("held", f"job {edit.job} is held: {edit.hold}", Severity.WARNING) for edit in ours]
    return _Cluster(file.source.name, jobs, list(dict.fromkeys(said)), bool(ours))


def _read(path: str, append: tuple[str, ...], clock: Clock, surroundings: Surroundings) -> SubmitFile:
    """Read a submit file. Raises InvalidSubmit, UsageError if unreadable."""
    source, host = read_source(path, FileKind.SUBMIT), SubmitHost(user=account(), folder=str(Path.cwd()))
    return read_description(source, path, surroundings, clock.now, clock.zone, host=host, append=append)


def _clusters(files: list[SubmitFile], first: int) -> list[list[ClassAd]]:
    """Return the ads of each file, one cluster each; all faults are found before any job is in the queue."""
    found: list[list[ClassAd]] = []
    for file in files:
        found.append(ads_of_file(file, first))
        first += bool(found[-1])
    return found


def changed(
    queue: str | None, clock: Clock, direct: Callable[[EmbeddedSchedd], dict[str, Any]], request: Mapping[str, object]
) -> dict[str, Any]:
    """Return the result of ``direct`` in the queue, or the answer of a running session to the same request.

    If there is no session, it waits some seconds for the queue. Raises CrondorError; QueueLocked if another process has
    the queue.
    """
    with suppress(QueueLocked), embedded_of(queue, clock, waits=False) as schedd:
        return direct(schedd)
    if (answer := ask(folder_of(queue), request)) is not None:
        return answer
    with embedded_of(queue, clock) as schedd:
        return direct(schedd)


EDIT_EXAMPLE = """\
printf 'shell = date\\ncron_hour = 3\\nqueue\\n' > job.sub
crondor queue submit --queue q job.sub
crondor queue edit --queue q 1.0 --set 'CronHour="4"'"""

_SHOWN = 20

EDIT_EPILOG = """\b
Examples:
  crondor queue edit 12.0 --queue q --set 'CronHour="3"' --set JobPrio=5
  crondor queue edit alice --live --set 'JobPrio=5' --if 'JobStatus == 1'
  crondor queue edit --live 12.0 --set 'JobPrio=5'

A value is an expression; strings are in double quotes. Either all attributes of all jobs change, or nothing; jobs for
which --if is false are left alone. An edited Cron attribute takes effect at the next crondor queue recalc; a schedd
reads it after a reconfig or restart. If crondor run has the queue open, it makes the changes job by job, and uses the
new schedule at once. With --live each attribute is edited in turn, the first under the condition of --if; if this
fails halfway, the edited attributes are reported.

Exit status: 0 fine, 1 a finding (a missing job, or no job that was edited), 2 wrong usage."""


@click.command("edit", cls=Command, example=EDIT_EXAMPLE, epilog=EDIT_EPILOG)
@job_arguments
@click.option(
    "--set", "edits", metavar="NAME=EXPR", multiple=True, help="An attribute and its value; at least one is needed."
)
@click.option(
    "--if", "condition", metavar="EXPR", default="true", help="Edit only jobs for which this is true (default: true)."
)
@opts.schedd_options
@opts.clock_options
@opts.format_option("text", "json")
def edit(
    jobs: tuple[str, ...],
    constraint: str | None,
    edits: tuple[str, ...],
    condition: str,
    asked: QueueOptions,
    clock: Clock,
    format_: str,
) -> None:
    """Set attributes of jobs as condor_qedit does, all attributes of a job at once, under a condition."""
    if not edits:
        raise usage(_without_edits(jobs))
    chosen = selection_of(jobs, constraint, needed=True)
    values = _values(edits)
    try:
        read_constraint(condition, "--if")
    except ClassAdSyntaxError as error:
        raise UsageProblem(error) from None

    def direct(schedd: EmbeddedSchedd) -> dict[str, Any]:
        ids = [job for job, _ in chosen.of_mirror(schedd.mirror, schedd.context())]
        done = set(schedd.edit(ids, condition, values))
        said = {"edited": [job for job in ids if job in done], "unchanged": [job for job in ids if job not in done]}
        named = {name: [str(job) for job in jobs] for name, jobs in said.items()}
        return {**named, "missing": chosen.missing(schedd.mirror)}

    if asked.kind == "live":
        answer = _edit_live(asked, chosen, condition, values)
    else:
        texts = {name: str(value) for name, value in values.items()}
        request = {"what": "edit", "jobs": jobs, "constraint": constraint, "condition": condition, "values": texts}
        answer = changed(asked.queue, clock, direct, request)
    done = answer["edited"]
    findings = [unknown_job(name) for name in answer["missing"]]
    if not findings and not done:
        findings.append(no_job(" for which --if holds" if answer["unchanged"] else ""))
    show(findings)
    if format_ == "json":
        found = [diagnostic_data(each) for each in findings]
        data: results.EditResult = {"edited": done, "unchanged": answer["unchanged"], "diagnostics": found}
        echo_json(data)
    else:
        say(f"{plural(len(done), 'job')} edited")
    if findings:
        raise click.exceptions.Exit(1)


def _edit_live(
    asked: QueueOptions, chosen: Selection, condition: str, values: Mapping[str, Expression]
) -> dict[str, list[str]]:
    """Edit jobs in a live schedd, one by one. Raises ScheddError, with the edits made if it fails in between."""
    said: dict[str, list[str]] = {"edited": [], "unchanged": []}
    with live_of(asked) as schedd:
        said["missing"] = missing_of(schedd, chosen)
        found = [job for job in map(job_id, schedd.jobs(chosen, ["ClusterId"])) if job is not None]

        def at() -> JobId:
            """Return the job after those edited."""
            return found[len(said["edited"]) + len(said["unchanged"])]

        def done(error: ScheddError | None) -> list[str]:
            return _done(said["edited"], at(), error)

        with halfway(done, lambda: f"job {at()} may have been edited in part"):
            for job in PROGRESS.counted(found, "editing", "jobs", len(found)):
                is_edited = schedd.edit_if(job, condition, values)
                said["edited" if is_edited else "unchanged"].append(str(job))
    return said


def _done(edited: list[str], job: JobId, error: ScheddError | None) -> list[str]:
    """Return the edits made so far, as sentences: of complete jobs, and of the job with an error."""
    shown = ", ".join(edited[:_SHOWN]) + (" ..." if len(edited) > _SHOWN else "")
    done = [f"{plural(len(edited), 'job')} edited ({shown})"] if edited else []
    if isinstance(error, PartlyEdited):
        done.append(f"{', '.join(error.applied)} of job {job} set")
    return done


def _values(edits: tuple[str, ...]) -> dict[str, Expression]:
    """Parse ``NAME=EXPR``; all faults are one usage error."""
    values: dict[str, Expression] = {}
    faults: list[CrondorError] = []
    for edit in edits:
        name, equals, text = edit.partition("=")
        if not equals:
            raise usage(f"--set {edit}: write NAME=EXPR")
        try:
            values[name.strip()] = Expression.parse(Source(text.strip(), f"--set {name.strip()}"))
        except ClassAdSyntaxError as error:
            faults.append(error)
    if faults:
        raise UsageProblem(CrondorError(found for fault in faults for found in fault.diagnostics))
    return values


def _without_edits(jobs: tuple[str, ...]) -> str:
    """Return the error for missing edits; condor_qedit takes name and value as words, and many type an assignment."""
    meant = next((word for word in jobs if "=" in word), None)
    if meant is None and len(jobs) > 2:
        meant = f"{jobs[1]}={jobs[2]}"
    return f"give an attribute to set: --set {quote(printable(meant)) if meant else 'NAME=EXPR'}"
