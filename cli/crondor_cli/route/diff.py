"""`crondor route diff`: what another configuration does otherwise with jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import click

from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError
from crondor.router.compare import MadeJob, TablesComparison, made_jobs
from crondor.router.compare.comparing import Comparing
from crondor.router.compare.outcomes import JobOutcome, JobOutcomes
from crondor_cli.common.ad_chunks import NearAd
from crondor_cli.common.ad_findings import AdFindings
from crondor_cli.common.command import Command
from crondor_cli.common.options import (
    Surroundings,
    UsageProblem,
    ads_option,
    clock_of,
    clock_options,
    file_options,
    format_option,
)
from crondor_cli.common.output import echo_lines
from crondor_cli.common.parallel import jobs_option
from crondor_cli.common.route_options import legacy_option
from crondor_cli.common.show import show
from crondor_cli.common.submit_files import find
from crondor_cli.route import diff_data, diff_markdown, diff_text
from crondor_cli.route.diff_report import DiffReport
from crondor_cli.route.jobs import CandidateJob, JobFiles, reading_jobs_options
from crondor_cli.route.two_tables import LoadingOptions, Side, load_side

EXAMPLE = """\
echo 'JOB_ROUTER_ROUTE_NAMES = A' > old.conf
echo 'JOB_ROUTER_ROUTE_A = REQUIREMENTS RequestMemory < 8000' >> old.conf
echo 'JOB_ROUTER_ROUTE_NAMES = A' > new.conf
echo 'JOB_ROUTER_ROUTE_A = REQUIREMENTS RequestMemory <= 8000' >> new.conf
crondor route diff old.conf new.conf"""

EPILOG = """\b
Examples:
  crondor route diff 50-routes.conf new-routes.conf
  condor_q -long | crondor route diff old.conf new.conf --ads -
  crondor route diff old.conf new.conf --config 01-common.conf --spec job.sub
  crondor route diff /etc/condor-ce/config.d staging/config.d \\
      --format markdown > comment.md
  crondor route diff --ce / image/

OLD and NEW are files, folders of files as HTCondor reads a LOCAL_CONFIG_DIR, or trees with an etc/condor or, with --ce,
an etc/condor-ce; --config names files that stand before both. Without --ads and --spec jobs are made from what the
routes ask for: both sides of each comparison, each branch. No route is taken for full or throttled.

Exit status, as of diff(1): 0 no difference, 1 they differ, 2 trouble (wrong usage, a file or job that cannot be
read, no routes on either side)."""

_FORMS: dict[str, Callable[[DiffReport], Iterator[str]]] = {
    "text": diff_text.lines,
    "markdown": diff_markdown.lines,
    "json": diff_data.lines,
}


@click.command(
    "diff",
    cls=Command,
    example=EXAMPLE,
    epilog=EPILOG,
)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--config", metavar="FILE", multiple=True, help="A file that stands before OLD and before NEW.")
@click.option("--ce", is_flag=True, help="As the programs of HTCondor-CE: /etc/condor-ce, and what it sets.")
@ads_option
@click.option("--spec", "specs", multiple=True, metavar="FILE", help="A submit file: its jobs.")
@click.option("--made", is_flag=True, help="Jobs made from what the routes ask for (without --ads and --spec: so).")
@click.option("--owner", metavar="USER", help="Route this user's jobs alone, as a router does that is not root.")
@legacy_option
@file_options
@reading_jobs_options
@clock_options
@jobs_option
@format_option(*_FORMS, text="How to print the comparison; markdown: for a review comment.")
def command(
    old: str,
    new: str,
    config: tuple[str, ...],
    ce: bool,
    ads: tuple[str, ...],
    specs: tuple[str, ...],
    made: bool,
    owner: str | None,
    legacy: bool,
    surroundings: Surroundings,
    job_owner: str | None,
    ignore_prior_routing: bool,
    lenient: bool,
    now: str | None,
    tz: str | None,
    jobs: int | None,
    format_: str,
) -> None:
    """Show which jobs change their route, what changes in their copies, and which routes nobody reaches.

    Limits and routes that come and go are compared as well; every difference has a job that shows it.
    """
    if made and (ads or specs):
        raise click.UsageError("--made makes the jobs: leave out --ads and --spec")
    paths = (*find(specs), *ads)
    files = JobFiles(paths, clock_of(now, tz), surroundings, job_owner, lenient, ignore_prior_routing)
    files.check((old, new, *config))
    given = LoadingOptions(config, ce, surroundings.allow_dirs, legacy)
    try:
        sides = load_side(old, given, files.context), load_side(new, given, files.context)
    except CrondorError as error:
        raise UsageProblem(error) from None
    _show_faults(sides)
    findings = AdFindings()
    own = [] if paths else made_jobs([side.table for side in sides], files.context)
    outcomes = JobOutcomes(sides[0].table, sides[1].table, files.context, owner)
    if paths:
        found = _compared(files, outcomes, findings, jobs)
    else:
        comparing: Comparing[ClassAd] = Comparing(outcomes, lambda ad: ad)
        for each in own:
            comparing.take(each.id, outcomes.of(each.ad), each.ad)
        found = comparing.end()
    findings.end()
    report = DiffReport(sides[0], sides[1], found, _kind(ads, specs), _chosen(own))
    echo_lines(_FORMS[format_](report), fits=format_ == "text")
    status = 2 if findings.failed else int(not found.is_empty)
    if status:
        raise click.exceptions.Exit(status)


def _compared(files: JobFiles, outcomes: JobOutcomes, findings: AdFindings, jobs: int | None) -> TablesComparison:
    """Compare what the jobs of files come to, which so many processes find out."""

    def come_to(found: Iterator[CandidateJob]) -> Iterator[tuple[str, JobOutcome | None, NearAd]]:
        for job, ad in found:
            yield job, outcomes.of(ad), NearAd.of(ad)

    shared = files.shared(come_to)
    comparing: Comparing[NearAd] = Comparing(outcomes, lambda near: files.near(shared, near))
    with closing(shared.made(files.parts(shared, findings), lambda found: findings.add([found]), jobs)) as taken:
        for job, outcome, near in taken:
            comparing.take(job, outcome, near)
    return comparing.end()


def _kind(ads: tuple[str, ...], specs: tuple[str, ...]) -> str:
    return "queue" if ads else "submitted" if specs else "made"


def _chosen(jobs: list[MadeJob]) -> dict[str, dict[str, str | None]]:
    return {job.id: job.chosen for job in jobs}


def _show_faults(sides: tuple[Side, Side]) -> None:
    """Say why routing is off, and exit with 2 where it is on both sides: nothing can be compared."""
    for side in sides:
        show(side.faults)
    if not any(side.table.is_enabled for side in sides):
        raise click.exceptions.Exit(2)
