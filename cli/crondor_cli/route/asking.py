"""Shared by the commands that ask a router about jobs: its table, its state, and the jobs."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from itertools import chain, count
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

import click

from crondor import job_queue
from crondor.classad.ad import ClassAd
from crondor.classad.scope import Context
from crondor.classad.text import lower
from crondor.diagnostics import CrondorError, Diagnostic, Severity, printable
from crondor.job.attributes import exact_integer, string
from crondor.knowledge.kinds import FileKind, recognised
from crondor.macro import MAX_BYTES, source_from_bytes
from crondor.router import RouteLoad, RouteState, RoutingTable, Throttle
from crondor.router.match.reasons import JobVerdict
from crondor.router.table.route import forget_routing, id_text
from crondor.submit import job_ads, read_submit
from crondor.transform.loading import as_warnings
from crondor_cli.kit import options as opts
from crondor_cli.kit.ads import (
    AdChunk,
    AdFindings,
    Found,
    NearAd,
    Report,
    SharedAds,
    byte_chunks,
    decoded,
    lenient_option,
    mode_of,
    name_of,
    own_ad,
)
from crondor_cli.kit.configs import legacy_option, load_route_table
from crondor_cli.kit.files import FileProblem, check_stdin, files_of
from crondor_cli.kit.options import Clock, ConfigFiles, Surroundings
from crondor_cli.kit.parallel import Alone
from crondor_cli.kit.screen import account, say, usage

if TYPE_CHECKING:
    from crondor_cli.kit import results

_Made = TypeVar("_Made")
_PEEK = 1 << 16  # characters used to detect the kind of a file


class CandidateJob(NamedTuple):
    """A job for the router: its id, ``cluster.proc``, and its ad."""

    id: str
    ad: ClassAd


class JobFiles(NamedTuple):
    """The files of jobs, and the related options."""

    clock: Clock
    paths: tuple[str, ...] = ()
    surroundings: Surroundings = Surroundings()
    job_owner: str | None = None
    lenient: bool = False
    ignore_prior_routing: bool = False

    @property
    def context(self) -> Context:
        """The context of expressions."""
        return Context(now=self.clock.now, zone=self.clock.zone)

    def check(self, others: Iterable[str] = ()) -> None:
        """Check that the files are readable before anything is written; also ``others``. Raises UsageError."""
        check_stdin(*self.paths, *others)
        for path in self.paths:
            if path != "-" and not os.access(path, os.R_OK):
                reason = "Permission denied" if os.path.exists(path) else "No such file or directory"
                raise FileProblem(f"cannot read '{printable(path)}': {reason}")

    def jobs(self, findings: AdFindings) -> Iterator[CandidateJob]:
        """Yield the jobs of all files as they are read; ads without an id are reported and skipped."""
        shared = self.shared(iter)
        return shared.made(self.parts(shared, findings), lambda found: findings.add([found]), jobs=1)

    def shared(self, make: Callable[[Iterator[CandidateJob]], Iterator[_Made]]) -> SharedAds[_Made]:
        """Return a reader that applies ``make`` to portions of the jobs."""
        return SharedAds(lambda ads, report: make(self._candidates(ads, report)), mode_of(self.lenient))

    def near(self, shared: SharedAds[_Made], near: NearAd) -> ClassAd:
        """Return the ad of the job yielded last, read again if another process has it."""
        if near.ad is not None:
            return near.ad
        return next(self._candidates([shared.again(near.line)], lambda _found: None)).ad

    def _candidates(self, ads: Iterable[ClassAd], report: Report) -> Iterator[CandidateJob]:
        context = self.context
        for ad in ads:
            if self.ignore_prior_routing:
                forget_routing(ad)
            name = id_text(ad, context)
            if name is None:
                place = "" if ad.place is None else f"{ad.place.name}:{ad.place.line}: "
                message = f"{place}an ad without ClusterId or ProcId is skipped"
                report(Diagnostic("no-job-id", message, Severity.WARNING))
                continue
            yield CandidateJob(name, ad)

    def parts(self, shared: SharedAds[_Made], findings: AdFindings) -> Iterator[AdChunk | Alone[_Made | Found]]:
        """Yield the parts of all files, depending on the kind of each; unreadable files are findings."""
        clusters = count(1)
        for path in self.paths:
            pieces = byte_chunks(path)
            held, head = _head(pieces)
            kind = recognised(head)
            whole = chain((held,), pieces)
            if kind is FileKind.QUEUE_LOG:
                yield shared.alone(_passing_over(partial(_log, whole, name_of(path), findings), findings))
            elif kind is FileKind.SUBMIT or (kind is None and len(head) >= _PEEK):
                read = partial(self._submitted, whole, path, next(clusters), findings)
                yield shared.alone(_passing_over(read, findings))
            else:
                yield from shared.parts(whole, name_of(path))

    def _submitted(self, pieces: Iterable[bytes], path: str, cluster: int, findings: AdFindings) -> Iterator[ClassAd]:
        """Yield the jobs of a submit file as they would be in the queue; each file is a cluster."""
        around = self.surroundings.here()
        file = read_submit(
            source_from_bytes(_short(pieces), name_of(path)),
            files=files_of(path, around.allow_dirs),
            environ=around.environ,
            seed=around.seed,
            now=self.clock.now,
            zone=self.clock.zone,
        )
        findings.add(file.warnings, counts=False)
        owner = self.job_owner or account()
        for made in job_ads(file, in_order=True, cluster=cluster):
            yield from made.each(JobStatus=1, Owner=owner, QDate=self.clock.now)


def _passing_over(read: Callable[[], Iterator[ClassAd]], findings: AdFindings) -> Callable[[Report], Iterator[ClassAd]]:
    """Return a reader for a submit file or a log; an unreadable file is a finding, and the others are read."""

    def ads(_report: Report) -> Iterator[ClassAd]:
        try:
            yield from read()
        except CrondorError as error:
            findings.add(error.diagnostics)

    return ads


def _head(pieces: Iterator[bytes]) -> tuple[bytes, str]:
    """Return the start of a text, long enough to detect its kind, as bytes and as text."""
    held: list[bytes] = []
    text: list[str] = []
    size = 0
    for piece in decoded(_kept(pieces, held)):
        text.append(piece)
        size += len(piece)
        if size >= _PEEK:
            break
    return b"".join(held), "".join(text)


def _kept(pieces: Iterator[bytes], held: list[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        held.append(piece)
        yield piece


def _short(pieces: Iterable[bytes]) -> bytes:
    """Return a text, cut just above the limit for submit files (also for /dev/zero)."""
    found: list[bytes] = []
    size = 0
    for piece in pieces:
        found.append(piece)
        size += len(piece)
        if size > MAX_BYTES:
            break
    return b"".join(found)


class _Bytes(io.BytesIO):
    """Pieces of bytes as a file object."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        super().__init__()
        self._pieces = iter(pieces)

    def read(self, _size: int | None = -1, /) -> bytes:
        """Return the next piece, nothing at the end."""
        return next(filter(None, self._pieces), b"")


def _log(pieces: Iterable[bytes], name: str, findings: AdFindings) -> Iterator[ClassAd]:
    """Yield the jobs of a job_queue.log. Raises DamagedLog."""
    reading = job_queue.read_records(_Bytes(pieces), name, live=True)
    findings.add(reading.diagnostics)
    mirror = reading.mirror
    for job in mirror:
        yield mirror.ad(job)


reading_jobs_options = opts.options_of(
    click.option("--ignore-prior-routing", is_flag=True, help="Treat each job as idle and never routed."),
    click.option("--job-owner", metavar="NAME", help="Owner of the jobs of submit files (default: you)."),
    lenient_option,
)
"""How jobs are read: --ignore-prior-routing, --job-owner, --lenient."""

_LOAD = re.compile(r"(.+)=([0-9]{1,9})(?:/([0-9]{1,9}))?").fullmatch
_RUNNING = (2, 6)  # JobStatus of jobs that do not count as idle: running, transferring output

route_state_options = opts.options_of(
    click.option(
        "--load", "loads", metavar="ROUTE=JOBS[/IDLE]", multiple=True, help="The jobs on a route (default: none)."
    ),
    click.option("--throttled", metavar="ROUTE", multiple=True, help="Assume that failures throttle this route."),
    click.option("--count-copies", is_flag=True, help="Count the routed copies among the jobs on their routes."),
    click.option("--owner", metavar="USER", help="Consider only this user's jobs, like a router that is not root."),
)
"""The state of the router: --load, --throttled, --count-copies, --owner."""


def route_state_of(table: RoutingTable, loads: Iterable[str], throttled: Iterable[str]) -> RouteState:
    """Return the route state given by the options. Raises UsageError."""
    found: dict[str, RouteLoad] = {}
    for each in loads:
        match = _LOAD(each)
        if match is None:
            raise click.UsageError(f"--load {printable(each)}: write ROUTE=JOBS or ROUTE=JOBS/IDLE, like Site1=100/20")
        name, jobs, idle = match[1], int(match[2]), int(match[3] or 0)
        if idle > jobs:
            raise click.UsageError(f"--load {printable(each)}: {idle} of {jobs} jobs cannot be idle")
        found[_known(table, name, "--load")] = RouteLoad(jobs, idle)
    stopped = {_known(table, name, "--throttled"): Throttle(routed=1, jobs=1.0) for name in throttled}
    return RouteState(found, stopped, sum(load.jobs for load in found.values()))


def _known(table: RoutingTable, name: str, option: str) -> str:
    if table.route(name) is None:
        names = ", ".join(route.name for route in table.routes) or "none"
        raise click.UsageError(f"{option}: there is no route '{printable(name)}' (routes: {printable(names)})")
    return lower(name)


def with_copies(route_state: RouteState, table: RoutingTable, ads: Iterable[ClassAd], context: Context) -> RouteState:
    """Return the route state with the copies among some jobs counted, as the router counts them."""
    loads = dict(route_state.loads)
    count = 0
    for ad in ads:
        by, name = (string(ad, each, context) for each in ("RoutedBy", "RouteName"))
        if by != table.settings.name or name is None or table.route(name) is None:
            continue
        status = exact_integer(ad, "JobStatus", context)
        count += 1
        load = loads.get(lower(name), RouteLoad())
        loads[lower(name)] = RouteLoad(load.jobs + 1, load.idle + (status not in _RUNNING))
    return RouteState(loads, route_state.throttles, route_state.managed + count, route_state.turn)


_Make: TypeAlias = "Callable[[Iterator[CandidateJob]], Iterator[_Made]]"


class Asking:
    """A query about jobs. ``count`` is how many were read so far; ``near`` is JobFiles.near()."""

    def __init__(self, table: RoutingTable, files: JobFiles, owner: str | None) -> None:
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
        """Set the router's state; to count copies, all jobs are read and stored. Raises UsageError."""
        self.route_state = route_state_of(self.table, loads, throttled)
        if counts_copies:
            self._kept = list(self._files.jobs(self.findings))
            self.route_state = with_copies(self.route_state, self.table, (job.ad for job in self._kept), self.context)

    def jobs(self) -> Iterator[CandidateJob]:
        """Yield the jobs as they are read."""
        return self.made(iter, jobs=1)

    def made(self, make: _Make[_Made], jobs: int | None) -> Generator[_Made, None, None]:
        """Yield the result of ``make`` for each job; ``make`` gets portions of the jobs, in processes if several."""
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
        """Print the final messages, and exit with 1 if there were faults."""
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


def judged_data(told: JobVerdict | None) -> results.Judged:
    """Return each route's verdict about a job; None: no route was asked."""
    if told is None:
        return {"missed": [], "routes": []}
    return {
        "missed": [{"clause": each.clause.name.lower(), "reason": each.reason} for each in told.missed],
        "routes": [
            {"route": each.route.name, "outcome": each.outcome.value, "reason": each.reason} for each in told.verdicts
        ],
    }


def _asking(
    files: JobFiles,
    ads: tuple[str, ...],
    config: ConfigFiles,
    legacy: bool,
    loads: tuple[str, ...],
    throttled: tuple[str, ...],
    count_copies: bool,
    owner: str | None,
) -> Asking:
    files = files._replace(paths=(*files.paths, *ads))
    if not files.paths:
        raise usage("give the jobs: FILES or --ads FILE")
    files.check(config.paths)
    table = load_route_table(config, files.surroundings.allow_dirs, files.context, legacy=legacy)
    asking = Asking(table, files, owner)
    asking.stand(loads, throttled, counts_copies=count_copies)
    return asking


def asking_options(*formats: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add all options of a query about jobs; the command gets ``asking`` and ``format_``."""
    return opts.options_of(
        opts.config_options,
        legacy_option,
        opts.submit_files(),
        opts.ads_option,
        opts.file_options,
        reading_jobs_options,
        route_state_options,
        opts.clock_options,
        opts.format_option(*formats),
        opts.gathered("files", JobFiles),
        opts.gathered("asking", _asking),
    )
