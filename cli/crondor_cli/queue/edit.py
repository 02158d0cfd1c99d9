"""`crondor queue edit`: attributes of jobs of a queue, under a condition."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote
from typing import Any

import click

from crondor.classad import ClassAdSyntaxError, Expression
from crondor.diagnostics import CrondorError, printable
from crondor.job_queue import JobId
from crondor.schedd.ads import job_id
from crondor.schedd.embedded import EmbeddedSchedd
from crondor.schedd.protocol import PartlyEdited, ScheddError
from crondor.schedd.selection import Selection, read_constraint
from crondor.source import Source
from crondor_cli.common.columns import plural
from crondor_cli.common.command import Command
from crondor_cli.common.data import diagnostic_data
from crondor_cli.common.options import UsageProblem, clock_of, clock_options, format_option
from crondor_cli.common.output import say
from crondor_cli.common.progress import PROGRESS
from crondor_cli.common.queue import job_arguments, live_of, missing_of, no_job, selection_of, unknown_job
from crondor_cli.common.queue_options import QueueOptions, schedd_options
from crondor_cli.common.show import show
from crondor_cli.common.streaming import echo_json
from crondor_cli.queue.halfway import halfway
from crondor_cli.queue.running import changed

EXAMPLE = """\
printf 'shell = date\\ncron_hour = 3\\nqueue\\n' > job.sub
crondor queue submit --queue q job.sub
crondor queue edit --queue q 1.0 --set 'CronHour="4"'"""

_SHOWN = 20

EPILOG = """\b
Examples:
  crondor queue edit 12.0 --queue q --set 'CronHour="3"' --set JobPrio=5
  crondor queue edit alice --live --set 'JobPrio=5' --if 'JobStatus == 1'
  crondor queue edit --live 12.0 --set 'JobPrio=5'

A value is an expression, a string in double quotes. All attributes of all jobs change at once, or nothing; only jobs
for which --if holds are meant.
An edited Cron attribute counts at the next crondor queue recalc; a schedd looks at it after a reconfig or restart.
Where crondor run has the queue open, that one does it, job by job, and takes the new schedule at once.
With --live the schedd is asked job by job and attribute by attribute, the first under the condition of --if; where that
ends halfway, it is said what was set.

Exit status: 0 fine, 1 a finding (a job that is not there, or none that was edited), 2 wrong usage."""


@click.command("edit", cls=Command, example=EXAMPLE, epilog=EPILOG)
@job_arguments
@click.option("--set", "edits", metavar="NAME=EXPR", multiple=True, help="An attribute and its value; once at least.")
@click.option("--if", "condition", metavar="EXPR", default="true", help="Only where this is true (default: true).")
@schedd_options
@clock_options
@format_option("text", "json")
def command(
    jobs: tuple[str, ...],
    constraint: str | None,
    edits: tuple[str, ...],
    condition: str,
    asked: QueueOptions,
    now: str | None,
    tz: str | None,
    format_: str,
) -> None:
    """Set attributes of jobs, as condor_qedit does, all of a job's at once and under a condition."""
    if not edits:
        raise click.UsageError(_without_edits(jobs), click.get_current_context(silent=True))
    chosen = selection_of(jobs, constraint, needed=True)
    values = _values(edits)
    clock = clock_of(now, tz)
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
        answer = _live(asked, chosen, condition, values)
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
        data = {name: answer[name] for name in ("edited", "unchanged")}
        echo_json({**data, "diagnostics": [diagnostic_data(f) for f in findings]})
    else:
        say(f"{len(done):,} job{'' if len(done) == 1 else 's'} edited")
    if findings:
        raise click.exceptions.Exit(1)


def _live(
    asked: QueueOptions, chosen: Selection, condition: str, values: Mapping[str, Expression]
) -> dict[str, list[str]]:
    """Let a live schedd do it, job by job. Raises ScheddError, which says what was set where it ends halfway."""
    said: dict[str, list[str]] = {"edited": [], "unchanged": []}
    with live_of(asked) as schedd:
        said["missing"] = missing_of(schedd, chosen)
        found = [job for job in map(job_id, schedd.jobs(chosen, ["ClusterId"])) if job is not None]

        def at() -> JobId:
            """Return the job that comes after those that were asked for."""
            return found[len(said["edited"]) + len(said["unchanged"])]

        def done(error: ScheddError | None) -> list[str]:
            return _done(said["edited"], at(), error)

        with halfway(done, lambda: f"job {at()} may have been edited in part"):
            for job in PROGRESS.counted(found, "editing", "jobs", len(found)):
                is_edited = schedd.edit_if(job, condition, values)
                said["edited" if is_edited else "unchanged"].append(str(job))
    return said


def _done(edited: list[str], job: JobId, error: ScheddError | None) -> list[str]:
    """Say what was set before the end: of the jobs that were edited, and of the one that an error is about."""
    shown = ", ".join(edited[:_SHOWN]) + (" ..." if len(edited) > _SHOWN else "")
    done = [f"{plural(len(edited), 'job')} edited ({shown})"] if edited else []
    if isinstance(error, PartlyEdited):
        done.append(f"{', '.join(error.applied)} of job {job} set")
    return done


def _values(edits: tuple[str, ...]) -> dict[str, Expression]:
    """Read ``NAME=EXPR``; all faults are one usage error."""
    values: dict[str, Expression] = {}
    faults: list[CrondorError] = []
    for edit in edits:
        name, equals, text = edit.partition("=")
        if not equals:
            message = f"--set {edit}: write NAME=EXPR"
            raise click.UsageError(message, click.get_current_context(silent=True))
        try:
            values[name.strip()] = Expression.parse(Source(text.strip(), f"--set {name.strip()}"))
        except ClassAdSyntaxError as error:
            faults.append(error)
    if faults:
        raise UsageProblem(CrondorError(found for fault in faults for found in fault.diagnostics))
    return values


def _without_edits(jobs: tuple[str, ...]) -> str:
    """Say that no attribute is set; condor_qedit takes a name and a value as words, and many type an assignment."""
    meant = next((word for word in jobs if "=" in word), None)
    if meant is None and len(jobs) > 2:
        meant = f"{jobs[1]}={jobs[2]}"
    return f"name what is set: --set {quote(printable(meant)) if meant else 'NAME=EXPR'}"
