"""The jobs that a route command is asked about, from files of any kind, told by what is in them."""

from __future__ import annotations

import getpass
import io
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, count
from typing import NamedTuple, TypeVar

import click

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Context
from crondor.diagnostics import CrondorError, Diagnostic, Severity, printable
from crondor.job_queue.log import read_records
from crondor.knowledge.kinds import FileKind, recognised
from crondor.macro import MAX_BYTES, source_from_bytes
from crondor.router.table.conversion import forget_routing
from crondor.router.table.job_ids import id_text
from crondor.submit import job_ads, read_submit
from crondor_cli.common.ad_chunks import AdChunk, Found, NearAd, Report, SharedAds
from crondor_cli.common.ad_files import byte_chunks, check_stdin, decoded, lenient_option, mode_of, name_of
from crondor_cli.common.ad_findings import AdFindings
from crondor_cli.common.file_problem import FileProblem
from crondor_cli.common.jobs import files_of
from crondor_cli.common.options import Clock, Surroundings
from crondor_cli.common.parallel import Alone

_Function = TypeVar("_Function", bound=Callable[..., None])
_Made = TypeVar("_Made")
_PEEK = 1 << 16  # characters that a file's kind is told by


class CandidateJob(NamedTuple):
    """A job as the router sees it: its id, ``cluster.proc``, and its ad."""

    id: str
    ad: ClassAd


class JobFiles(NamedTuple):
    """The files that jobs come from, and what the command line says of them."""

    paths: tuple[str, ...]
    clock: Clock
    surroundings: Surroundings = Surroundings()
    owner: str | None = None
    lenient: bool = False
    ignores: bool = False

    @property
    def context(self) -> Context:
        """The context of expressions."""
        return Context(now=self.clock.now, zone=self.clock.zone)

    def check(self, others: Iterable[str] = ()) -> None:
        """Look at the files before anything is written; ``others`` are read too. Raises UsageError."""
        check_stdin(*self.paths, *others)
        for path in self.paths:
            if path != "-" and not os.access(path, os.R_OK):
                reason = "Permission denied" if os.path.exists(path) else "No such file or directory"
                raise FileProblem(f"cannot read '{printable(path)}': {reason}")

    def jobs(self, findings: AdFindings) -> Iterator[CandidateJob]:
        """Yield the jobs of all files as they are read; what has no id is reported and left out."""
        shared = self.shared(iter)
        return shared.made(self.parts(shared, findings), lambda found: findings.add([found]), jobs=1)

    def shared(self, make: Callable[[Iterator[CandidateJob]], Iterator[_Made]]) -> SharedAds[_Made]:
        """Return how the jobs are read and something is made of them; ``make`` is given some of them."""
        return SharedAds(lambda ads, report: make(self._candidates(ads, report)), mode_of(self.lenient))

    def near(self, shared: SharedAds[_Made], near: NearAd) -> ClassAd:
        """Return the ad of a job that comes with what was yielded last, read anew where another process has it."""
        if near.ad is not None:
            return near.ad
        return next(self._candidates([shared.again(near.line)], lambda _found: None)).ad

    def _candidates(self, ads: Iterable[ClassAd], report: Report) -> Iterator[CandidateJob]:
        context = self.context
        for ad in ads:
            if self.ignores:
                forget_routing(ad)
            name = id_text(ad, context)
            if name is None:
                place = "" if ad.place is None else f"{ad.place.name}:{ad.place.line}: "
                message = f"{place}an ad is left out because it doesn't have a ClusterId and/or ProcId attribute"
                report(Diagnostic("no-job-id", message, Severity.WARNING))
                continue
            yield CandidateJob(name, ad)

    def parts(self, shared: SharedAds[_Made], findings: AdFindings) -> Iterator[AdChunk | Alone[_Made | Found]]:
        """Yield the parts of all files, each told by what is in it; those that cannot be read are findings."""
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
        """Yield the jobs of a submit file as they would be in the queue, the files one cluster each."""
        file = read_submit(
            source_from_bytes(_short(pieces), name_of(path)),
            files=files_of(path, self.surroundings.allow_dirs),
            environ=self.surroundings.around(os.environ),
            seed=self.surroundings.seed,
            now=self.clock.now,
            zone=self.clock.zone,
        )
        findings.add(file.warnings, counts=False)
        owner = self.owner or getpass.getuser()
        for made in job_ads(file, in_order=True, cluster=cluster):
            first = made.jobs.first[1]
            for proc in range(first, first + made.jobs.count):
                ad = made.ad.copy()
                ad.set("ProcId", proc)
                for name, value in (("JobStatus", 1), ("Owner", owner), ("QDate", self.clock.now)):
                    if name not in ad:
                        ad.set(name, value)
                yield ad


def _passing_over(read: Callable[[], Iterator[ClassAd]], findings: AdFindings) -> Callable[[Report], Iterator[ClassAd]]:
    """Return what reads a submit file or a log; one that cannot be read is a finding: the others' jobs are there."""

    def ads(_report: Report) -> Iterator[ClassAd]:
        try:
            yield from read()
        except CrondorError as error:
            findings.add(error.diagnostics)

    return ads


def _head(pieces: Iterator[bytes]) -> tuple[bytes, str]:
    """Return the beginning of a text, long enough to tell its kind, as bytes and as text."""
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
    """Return a text that is no longer than a submit file may be, or one that is just too long, of /dev/zero too."""
    found: list[bytes] = []
    size = 0
    for piece in pieces:
        found.append(piece)
        size += len(piece)
        if size > MAX_BYTES:
            break
    return b"".join(found)


class _Bytes(io.BytesIO):
    """Pieces of bytes as an open file."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        super().__init__()
        self._pieces = iter(pieces)

    def read(self, _size: int | None = -1, /) -> bytes:
        """Return the next piece, nothing at the end."""
        return next(filter(None, self._pieces), b"")


def _log(pieces: Iterable[bytes], name: str, findings: AdFindings) -> Iterator[ClassAd]:
    """Yield the jobs of a job_queue.log. Raises DamagedLog."""
    reading = read_records(_Bytes(pieces), name, live=True)
    findings.add(reading.diagnostics)
    mirror = reading.mirror
    for job in mirror:
        yield mirror.ad(job)


def reading_jobs_options(function: _Function) -> _Function:
    """Add what says how jobs are read: --ignore-prior-routing, --job-owner, --lenient."""
    for add in (
        lenient_option,
        click.option("--job-owner", metavar="NAME", help="Owner of the jobs of submit files (default: you)."),
        click.option(
            "--ignore-prior-routing", is_flag=True, help="Take each job for idle, and as one that was never routed."
        ),
    ):
        function = add(function)
    return function
