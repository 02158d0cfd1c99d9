"""What the commands share that ask a router about jobs: its table, how it stands, and the jobs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial, wraps
from typing import TypeAlias, TypeVar

import click

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Context
from crondor.diagnostics import Severity, printable
from crondor.router import RouteState, RoutingTable
from crondor.transform.circular import as_warnings
from crondor_cli.common.ad_chunks import NearAd, own_ad
from crondor_cli.common.ad_findings import AdFindings
from crondor_cli.common.config_options import ConfigFiles, config_options
from crondor_cli.common.options import (
    Surroundings,
    ads_option,
    clock_of,
    clock_options,
    file_options,
    format_option,
)
from crondor_cli.common.output import say
from crondor_cli.common.route_options import legacy_option, load_route_table
from crondor_cli.common.submit_files import submit_files
from crondor_cli.route.jobs import CandidateJob, JobFiles, reading_jobs_options
from crondor_cli.route.state import route_state_of, route_state_options, with_copies

_Made = TypeVar("_Made")
_Make: TypeAlias = "Callable[[Iterator[CandidateJob]], Iterator[_Made]]"


class Asking:
    """A question about jobs. ``count`` is how many were read so far; ``near`` is JobFiles.near()."""

    def __init__(self, table: RoutingTable, files: JobFiles, owner: str | None) -> None:
        """Take what the command line says."""
        self.table = table
        self.owner = owner
        self.context: Context = files.context
        self.route_state = RouteState()
        self.findings = AdFindings()
        self.count = 0
        self.near: Callable[[NearAd], ClassAd] = own_ad
        self._files = files
        self._kept: Sequence[CandidateJob] | None = None

    def stand(self, loads: Sequence[str], throttled: Sequence[str], *, counts_copies: bool) -> None:
        """Set how the router stands; to count copies the jobs are read and kept. Raises UsageError."""
        self.route_state = route_state_of(self.table, loads, throttled)
        if counts_copies:
            self._kept = list(self._files.jobs(self.findings))
            self.route_state = with_copies(self.route_state, self.table, (job.ad for job in self._kept), self.context)

    def jobs(self) -> Iterator[CandidateJob]:
        """Yield the jobs as they are read."""
        return self.made(iter, jobs=1)

    def made(self, make: _Make[_Made], jobs: int | None) -> Generator[_Made, None, None]:
        """Yield what is made of each job, one thing of one job; ``make`` may be given some of them, by processes."""
        with ExitStack() as stack:
            if self._kept is None:
                found: Iterator[_Made] = stack.enter_context(closing(self._shared(make, jobs)))
            else:
                found = make(iter(self._kept))
            for self.count, each in enumerate(found, start=1):
                yield each

    def _shared(self, make: _Make[_Made], jobs: int | None) -> Generator[_Made, None, None]:
        shared = self._files.shared(make)
        self.near = partial(self._files.near, shared)
        return shared.made(self._files.parts(shared, self.findings), lambda found: self.findings.add([found]), jobs)

    def end(self) -> None:
        """Say what has to be said at the end, and exit with 1 where something was wrong."""
        self.findings.add(as_warnings(self.table.circles), counts=False)
        self.findings.end()
        if not self.table.is_enabled:
            self.findings.add(each for each in self.table.diagnostics if each.severity is Severity.ERROR)
            say("JobRouter is disabled.", err=True)
        for each in self.table.rejected:
            why = f": {each.diagnostics[0].message}" if each.diagnostics else ""
            say(printable(f"rejected: {each.name}{why}; see crondor route check"), err=True)
        if self.findings.failed or not self.table.is_enabled:
            raise click.exceptions.Exit(1)


def asking_options(*formats: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add all options of a question about jobs; the command gets ``asking`` and ``format_``."""

    def add(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def command(
            *,
            paths: tuple[str, ...],
            ads: tuple[str, ...],
            config: ConfigFiles,
            surroundings: Surroundings,
            legacy: bool,
            now: str | None,
            tz: str | None,
            loads: tuple[str, ...],
            throttled: tuple[str, ...],
            count_copies: bool,
            owner: str | None,
            job_owner: str | None,
            ignore_prior_routing: bool,
            lenient: bool,
            **options: object,
        ) -> None:
            if not (paths or ads):
                raise click.UsageError("name the jobs: FILES or --ads FILE", click.get_current_context(silent=True))
            files = JobFiles((*paths, *ads), clock_of(now, tz), surroundings, job_owner, lenient, ignore_prior_routing)
            files.check(config.paths)
            context = files.context
            table = load_route_table(config, surroundings.allow_dirs, context, legacy=legacy)
            asking = Asking(table, files, owner)
            asking.stand(loads, throttled, counts_copies=count_copies)
            function(asking, **options)

        formed = clock_options(format_option(*formats)(command))
        read = submit_files()(ads_option(file_options(reading_jobs_options(route_state_options(formed)))))
        return config_options(legacy_option(read))

    return add
