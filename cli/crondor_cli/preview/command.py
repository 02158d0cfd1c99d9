"""`crondor preview`: show the ads of submitted jobs as the schedd would store them, and whether it accepts them."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import click

from crondor.access_point import AccessPoint, Submitter, TransformStep, Verdict
from crondor.classad.formats import Format, Order
from crondor.diagnostics import CrondorError, has_error
from crondor.job.attributes import printed
from crondor.knowledge.kinds import FileKind
from crondor.preview.accepted import PreviewedFile, PreviewedJobs, accepted_jobs, changed_by, place_text
from crondor_cli.kit import options as opts
from crondor_cli.kit.command import Command
from crondor_cli.kit.files import read_source
from crondor_cli.kit.options import Clock, ConfigFiles, Surroundings
from crondor_cli.kit.pool_config import read_pool
from crondor_cli.kit.schedules import host_of, read_description
from crondor_cli.kit.screen import SCREEN, account, emit, say, show, styled, together, usage
from crondor_cli.kit.tables import diagnostic_data

if TYPE_CHECKING:
    from crondor.knowledge.releases import Release
    from crondor.transform.apply import AttributeChange
    from crondor_cli.preview import results


EXAMPLE = """\
echo 'JOB_TRANSFORM_NAMES = Acct' > site.conf
echo 'JOB_TRANSFORM_Acct = SET AcctGroup "physics"' >> site.conf
printf 'shell = date\\ncron_hour = 3\\nqueue\\n' > job.sub
crondor preview --pool-config site.conf job.sub --diff"""

EPILOG = """\b
Examples:
  crondor preview --pool-config 50-site.conf job.sub
  crondor preview --pool-config host job.sub --diff
  crondor preview --pool-config 50-site.conf job.sub --format long
  crondor preview --pool-config old.conf --target 24 job.sub --job 3

JOB_TRANSFORM_NAMES and SUBMIT_REQUIREMENT_NAMES are applied as the schedd applies them, in the same order. Each
changed line names its transform and place. Jobs with the same result are shown once. Nothing is submitted, and no
program that a file names is run.

The ads lack values that only the schedd knows (counters, file sizes); a requirement that depends on them is reported
as undecided.

Exit status: 0 all jobs are accepted; 1 a job is refused, or a file is invalid; 2 wrong usage, or a file that cannot be
read."""


class PreviewRequest(NamedTuple):
    """The options."""

    paths: tuple[str, ...]
    pool_config: ConfigFiles | None
    target: Release | None
    job: int | None
    owner: str | None
    clock: Clock
    surroundings: Surroundings


@click.command("preview", cls=Command, example=EXAMPLE, epilog=EPILOG)
@opts.submit_files()
@opts.pool_config_options
@opts.target_option
@click.option("--job", type=click.IntRange(0), metavar="N", help="Only the job with this ProcId.")
@click.option("--owner", metavar="USER", help="The submitting user (default: this account).")
@click.option("--diff", is_flag=True, help="Print the changes of each job instead of its ad.")
@opts.file_options
@opts.clock_options
@opts.format_option("text", "long", "json", text="How to print; long: the stored ads, as condor_q -long has them.")
@opts.gathered("request", PreviewRequest)
def command(request: PreviewRequest, diff: bool, format_: str) -> None:
    """Show the ads of submitted jobs before and after the access point's transforms, and whether it accepts them.

    --pool-config names the configuration of the access point; without it HTCondor's defaults are used.
    """
    if not request.paths:
        raise usage("give at least one submit file: crondor preview FILE")
    if diff and format_ != "text":
        raise usage("--diff is printed as text: omit --format")

    if not show_all(previewed(request), format_, diff=diff):
        raise click.exceptions.Exit(1)


def previewed(request: PreviewRequest) -> Iterator[PreviewedFile]:
    """Yield each file. Raises UsageError if it is unreadable, CrondorError if the configuration stops a schedd."""
    access_point = read_pool(
        request.pool_config, request.surroundings.allow_dirs, request.clock, request.target, beside=request.paths
    )
    cluster = 1
    seen = False
    for path in request.paths:
        file = _file(path, cluster, request, access_point)
        cluster += bool(file.jobs)
        seen = seen or bool(file.jobs) or has_error(file.diagnostics) or request.job is None
        yield file
    if not seen:
        raise usage(f"--job {request.job}: there is no job with this ProcId")


def _file(path: str, cluster: int, request: PreviewRequest, access_point: AccessPoint) -> PreviewedFile:
    owner = request.owner or account()
    clock = request.clock
    source = read_source(path, FileKind.SUBMIT)
    try:
        host = host_of(access_point, owner)
        file = read_description(source, path, request.surroundings.here(), clock.now, clock.zone, host=host)
        domain = access_point.submit_knobs.get("uid_domain") or platform.node()
        return accepted_jobs(file, cluster, access_point, Submitter(owner, domain, clock.now), request.job)
    except CrondorError as error:
        return PreviewedFile(source.name, cluster, diagnostics=error.diagnostics)


_COLOURS = {"-": "red", "+": "green"}


def show_all(found: Iterable[PreviewedFile], form: str, *, diff: bool) -> bool:
    """Show everything as it is read; return whether all jobs are accepted."""
    is_fine = True
    data: list[results.Preview] = []
    for each in found:
        is_fine = is_fine and each.is_accepted
        show(each.diagnostics)
        show(dict.fromkeys(found for job in each.jobs for found in job.admission.diagnostics))
        if form == "json":
            data.append(_data(each))
        elif form == "long":
            _long(each)
        else:
            _text(each, diff=diff)
    if form == "json":
        say(json.dumps(data, indent=2), fits=False)
    return is_fine


def _long(file: PreviewedFile) -> None:
    """Print the ads of the jobs, or on stderr why none of them is stored."""
    if file.limit is not None:
        say(_refused(file.name, file.limit), err=True)
    for each in file.jobs:
        admission = each.admission
        if admission.refusal is not None:
            say(_refused(each.title, admission.refusal), err=True)
        elif file.is_accepted:
            for number in range(each.first, each.first + each.number):
                ad = admission.after
                if number != each.first:
                    ad = ad.copy()
                    ad.set("ProcId", number)
                emit(f"{ad.print(Format.LONG, Order.NAME)}\n".encode("utf-8", "surrogateescape"))


def _text(file: PreviewedFile, *, diff: bool) -> None:
    if file.limit is not None:
        say(f"@@ {file.name} @@")
        say(_refused("", file.limit))
    is_bold = SCREEN.wants_colour(sys.stdout)
    for each in file.together():
        head = f"@@ {each.title} @@"
        say(styled(head, bold=True) if is_bold else head)
        for line in _lines(each, diff=diff):
            say(line, fits=False)
        for line in _verdict(each):
            say(line)


def _lines(jobs: PreviewedJobs, *, diff: bool) -> Iterator[str]:
    """Yield the lines of both ads, by name: unchanged, old and new ones, with their transforms."""
    admission = jobs.admission
    before, after = admission.before, admission.after
    is_coloured = SCREEN.wants_colour(sys.stdout)
    names = {**dict(before.names), **after.names}
    for key in sorted(names):
        old = f"{before.names[key]} = {printed(before, key)}" if key in before.codes else None
        new = f"{after.names[key]} = {printed(after, key)}" if key in after.codes else None
        if old == new:
            if not diff:
                yield f"  {new}"
            continue
        by = changed_by(admission.steps, names[key])
        for sign, text in (("- ", old), ("+ ", new)):
            if text is not None:
                mark = f"    # {by}" if by and (sign == "+ " or new is None) else ""
                line = f"{sign}{text}"
                yield together(styled(line, colour=_COLOURS[sign[0]]), mark) if is_coloured else f"{line}{mark}"


def _verdict(jobs: PreviewedJobs) -> Iterator[str]:
    admission = jobs.admission
    for each in admission.unsure:
        yield f"undecided: {each.knob}{place_text(each.place)} depends on values that only the schedd knows"
    for each in admission.warnings:
        yield f"warned of by {each.knob}{place_text(each.place)}: {each.reason}"
    taken = "the job is accepted" if jobs.number == 1 else f"all {jobs.number:,} jobs are accepted"
    yield taken if admission.refusal is None else _refused("", admission.refusal)


def _refused(title: str, verdict: Verdict) -> str:
    head = f"{title}: " if title else ""
    end = f" ({verdict.help})" if verdict.help else ""
    return f"{head}refused by {verdict.knob}{place_text(verdict.place)}: {verdict.reason.rstrip()}{end}"


def _data(file: PreviewedFile) -> results.Preview:
    return {
        "file": file.name,
        "cluster": file.cluster,
        "accepted": file.is_accepted,
        "refusal": None if file.limit is None else _verdict_data(file.limit),
        "jobs": [_job_data(each) for each in file.jobs],
        "diagnostics": [diagnostic_data(each) for each in file.diagnostics],
    }


def _job_data(jobs: PreviewedJobs) -> results.Previewed:
    admission = jobs.admission
    return {
        "first": f"{jobs.cluster}.{jobs.first}",
        "count": jobs.number,
        "line": None if jobs.queue is None else jobs.queue.line,
        "accepted": admission.refusal is None,
        "refusal": None if admission.refusal is None else _verdict_data(admission.refusal),
        "warned_of": [_verdict_data(each) for each in admission.warnings],
        "unsure": [_verdict_data(each) for each in admission.unsure],
        "transforms": [_step_data(each) for each in admission.steps],
        "changes": list(map(_change_data, admission.changes)),
        "before": json.loads(admission.before.print(Format.JSON, Order.NAME)),
        "after": json.loads(admission.after.print(Format.JSON, Order.NAME)),
        "diagnostics": [diagnostic_data(each) for each in admission.diagnostics],
    }


def _step_data(step: TransformStep) -> results.Step:
    place = step.transform.place
    return {
        "knob": step.transform.knob,
        "converted": step.transform.is_classad,
        "file": place and place.source.name,
        "line": place and place.line,
        "changes": [
            {**_change_data(change), "line": (at := step.place(change.name)) and at.line} for change in step.changes
        ],
    }


def _change_data(change: AttributeChange) -> results.Change:
    return {"name": change.name, "before": change.before, "after": change.after}


def _verdict_data(verdict: Verdict) -> results.Refusal:
    place = verdict.place
    return {
        "what": verdict.kind.value,
        "knob": verdict.knob,
        "reason": verdict.reason,
        "help": verdict.help,
        "file": place and place.source.name,
        "line": place and place.line,
    }
