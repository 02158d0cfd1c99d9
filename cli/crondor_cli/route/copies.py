"""What `crondor route q`, `rm` and `history` share: the queue of the copies, and which copies are meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import click

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Context
from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.router.table.knobs import SettingsReader
from crondor.router.tools import routed
from crondor.schedd.ads import job_id
from crondor.schedd.selection import Selection
from crondor_cli.common.config_options import ConfigFiles, config_options
from crondor_cli.common.options import Clock, UsageProblem, include_option
from crondor_cli.common.queue import complete_job, selection_of, unknown_job
from crondor_cli.common.queue_options import QueueOptions
from crondor_cli.common.route_options import complete_route, load_config

_Function = TypeVar("_Function", bound=Callable[..., None])


def contact_options(function: _Function) -> _Function:
    """Add --config and --allow-dir: the configuration of the router, which names the queue of its copies."""
    return config_options(include_option(function))


def copies_options(function: _Function) -> _Function:
    """Add the options of HTCondor's tools that say which copies are meant."""
    for add in (
        click.option("--constraint", "constraints", multiple=True, metavar="EXPR", help="Jobs for which this is true."),
        click.option("--held", is_flag=True, help="Held jobs."),
        click.option("--idle", is_flag=True, help="Idle jobs."),
        click.option(
            "--route",
            "--site",
            "routes",
            multiple=True,
            metavar="NAME",
            shell_complete=complete_route,
            help="Jobs on this route.",
        ),
    ):
        function = add(function)
    return click.argument("jobs", nargs=-1, metavar="[JOB]...", shell_complete=complete_job)(function)


def copies(
    jobs: tuple[str, ...], routes: Iterable[str], states: Iterable[str], constraints: Iterable[str]
) -> Selection:
    """Return the routed copies that the options mean; what cannot be read is a usage error."""
    named = selection_of(jobs, None)
    try:
        return routed(named, routes=routes, states=states, constraints=constraints)
    except CrondorError as error:
        raise UsageProblem(error) from None


def missing_copies(chosen: Selection, ads: Iterable[ClassAd]) -> list[Diagnostic]:
    """Return an error for each job and cluster that was named and has no routed copy among the ads."""
    if not chosen.jobs and not chosen.clusters:
        return []
    there = {number for ad in ads if (number := job_id(ad)) is not None}
    clusters = {number.cluster for number in there}
    missing = [str(job) for job in chosen.jobs if job not in there]
    missing += [str(cluster) for cluster in chosen.clusters if cluster not in clusters]
    return [unknown_job(name, " that is routed and meant") for name in missing]


def queue_of_copies(
    asked: QueueOptions, config: ConfigFiles, allow_dirs: tuple[str, ...], clock: Clock
) -> QueueOptions:
    """Return the queue that the options name, or else the configuration: the router's second schedd, or its first.

    Its name and pool win over its log. Raises CrondorError where the configuration names no queue, and for a file of
    it that is no text; UsageError for one that cannot be read.
    """
    if config == ConfigFiles():
        return asked
    if any((asked.queue, asked.log, asked.ads, asked.name, asked.pool)):
        return asked
    reader = SettingsReader(load_config(config, allow_dirs, Context(now=clock.now, zone=clock.zone)))
    settings = reader.settings()
    for contact in (settings.destination_schedd, settings.source_schedd):
        if contact.name or contact.pool:
            return QueueOptions(None, None, live=True, name=contact.name or None, pool=contact.pool or None)
        if contact.job_queue_log and not asked.live:
            return QueueOptions(None, contact.job_queue_log)
    if asked.live:
        return asked
    message = "this configuration names no queue: neither JOB_ROUTER_SCHEDD2_* nor JOB_ROUTER_SCHEDD1_*, nor a log"
    raise CrondorError(Diagnostic("route-no-queue", message, Severity.ERROR, help="name it: --log FILE, or --live"))


def queue_name(asked: QueueOptions) -> str:
    """Return what a list calls its queue, as condor_q does."""
    if asked.kind == "ads":
        return f"Jobads: {asked.ads}"
    if asked.kind == "live":
        names = [name for name in (asked.name, asked.pool) if name]
        return f"Schedd: {' : '.join(names) or 'of this host'}"
    return f"Schedd: {asked.log or asked.folder}"
