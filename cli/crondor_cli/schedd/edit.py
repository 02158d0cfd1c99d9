"""`crondor schedd edit`: attributes of jobs of the embedded queue, under a condition."""

from __future__ import annotations

from shlex import quote
from typing import Any

import click

from crondor.classad import ClassAdSyntaxError, Expression
from crondor.diagnostics import CrondorError, printable
from crondor.schedd.embedded import EmbeddedSchedd
from crondor.schedd.selection import read_constraint
from crondor.source import Source
from crondor_cli.common.command import Command
from crondor_cli.common.data import diagnostic_data
from crondor_cli.common.options import UsageProblem, clock_of, clock_options, format_option
from crondor_cli.common.output import say
from crondor_cli.common.queue import job_arguments, no_job, queue_option, selection_of, unknown_job
from crondor_cli.common.show import show
from crondor_cli.common.streaming import echo_json
from crondor_cli.schedd.running import changed

EXAMPLE = """\
printf 'shell = date\\ncron_hour = 3\\nqueue\\n' > job.sub
crondor schedd submit --queue q job.sub
crondor schedd edit --queue q 1.0 --set 'CronHour="4"'"""

EPILOG = """\b
Examples:
  crondor schedd edit 12.0 --set 'CronHour="3"' --set 'DeferralWindow=600'
  crondor schedd edit alice --set 'JobPrio=5' --if 'JobStatus == 1'

A value is an expression, a string in double quotes. All attributes of all jobs change at once, or nothing; only jobs
for which --if holds are meant.
An edited Cron attribute counts at the next crondor schedd recalc; a schedd looks at it after a reconfig or restart.
Where crondor run has the queue open, that one does it, job by job, and takes the new schedule at once.

Exit status: 0 fine, 1 a finding (a job that is not there, or none that was edited), 2 wrong usage."""


@click.command(
    "edit", cls=Command, example=EXAMPLE, epilog=EPILOG, short_help="Set attributes of jobs of the embedded queue."
)
@job_arguments
@click.option("--set", "edits", metavar="NAME=EXPR", multiple=True, help="An attribute and its value; once at least.")
@click.option("--if", "condition", metavar="EXPR", default="true", help="Only where this is true (default: true).")
@queue_option
@clock_options
@format_option("text", "json")
def command(
    jobs: tuple[str, ...],
    constraint: str | None,
    edits: tuple[str, ...],
    condition: str,
    queue: str | None,
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

    texts = {name: str(value) for name, value in values.items()}
    request = {"what": "edit", "jobs": jobs, "constraint": constraint, "condition": condition, "values": texts}
    answer = changed(queue, clock, direct, request)
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
