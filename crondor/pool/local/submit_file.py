"""A submit file whose jobs run on this machine: what it asks for, and why it cannot."""

from __future__ import annotations

import getpass
import hashlib
import platform
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, printable
from crondor.job.attributes import int32
from crondor.schedd.protocol import edited
from crondor.schedule import Universe, misspelt
from crondor.submit import SubmitFile, job_ads

NAME: Final = "CrondorName"
"""The attribute with a job's label for people: the file, and the line of its queue statement."""

MOST: Final = 10_000  # jobs of one file; more are probably a mistake

DIGEST: Final = "CrondorSpecDigest"
"""The attribute with the digest of the file's text when its jobs were submitted."""

_LOCAL: Final = ("universe = local",)
_TAKEN: Final = {Universe.VANILLA: "vanilla", Universe.SCHEDULER: "scheduler"}
_OTHERS: Final = ("WantDocker", "WantContainer", "DockerImage", "ContainerImage", "VMType")


class RunFile(NamedTuple):
    """A submit file and its jobs, one ad each; ``path`` is its path in the queue."""

    path: str
    label: str
    ads: list[ClassAd]
    findings: list[Diagnostic]


def digest_of(source: Source) -> str:
    """Return the digest of a text."""
    return hashlib.sha256(source.text.encode("utf-8", "surrogateescape")).hexdigest()


def read_spec(path: str, source: Source, cluster: int, read: Callable[[Source, Sequence[str]], SubmitFile]) -> RunFile:
    """Read a submit file with the path ``path`` in the queue, whose jobs will be in a cluster.

    ``read`` reads a text, with some lines appended. Raises CrondorError, also for jobs that cannot run here.
    """
    file = read(source, ())
    made = list(_ads(file, cluster))
    names = ((key, file.name(key)) for key in file.keys)
    findings = [*file.warnings, *misspelt((span.text if span else key, span) for key, span in names)]
    foreign = list(dict.fromkeys(_universe(ad) for ad, _ in made))
    refused = [fault for ad, span_of in made for fault in _unfit(ad, span_of)]
    if refused:
        raise CrondorError(list(dict.fromkeys(refused)))
    taken = [_TAKEN[Universe(universe)] for universe in foreign if universe in _TAKEN]
    if taken:
        findings += [_treated(file, universe) for universe in taken]
        file = read(source, _LOCAL)
        made = list(_ads(file, cluster))
    ads = []
    for ad, diagnostics in made:
        findings += diagnostics.findings
        owned = _owned(ad, diagnostics.label)
        owned.set(DIGEST, digest_of(source))
        ads.append(owned)
    return RunFile(path, Path(source.name).name, ads, list(dict.fromkeys(findings)))


class _Origin(NamedTuple):
    """The place and the label of a job."""

    label: str
    findings: tuple[Diagnostic, ...]
    fault: Diagnostic


def _ads(file: SubmitFile, cluster: int) -> Iterator[tuple[ClassAd, _Origin]]:
    """Yield each job's ad. Raises InvalidSubmit, and CrondorError for too many jobs or late ones."""
    if file.job_count > MOST:
        message = f"{file.job_count:,} jobs are more than the {MOST:,} that crondor runs at once"
        raise CrondorError(Diagnostic("run-many", message, help="queue fewer jobs"))
    for made in job_ads(file, in_order=True, cluster=cluster):
        queue = made.jobs.queue
        if "ProcId" not in made.ad:
            message = "these jobs are to be made later (max_materialize, max_idle), which crondor run does not do"
            raise CrondorError(Diagnostic("run-late", message, span=queue, help="remove the command"))
        name = printable(Path(file.source.name).name)
        label = name if queue is None else f"{name}:{queue.source.position(queue.start)[0]}"
        fault = Diagnostic("run-universe", "", span=queue)
        for _ in range(made.jobs.count):
            yield made.ad, _Origin(label, made.jobs.findings, fault)


def _universe(ad: ClassAd) -> int:
    found = int32(ad, "JobUniverse")
    return int(Universe.VANILLA) if found is None else found


def _unfit(ad: ClassAd, origin: _Origin) -> Iterator[Diagnostic]:
    """Return why a job cannot run on this machine by itself."""
    universe = _universe(ad)
    hint = "submit it to a pool, or write universe = local"
    if universe not in {*_TAKEN, Universe.LOCAL}:
        name = next((each.name.lower() for each in Universe if each == universe), str(universe))
        message = f"a {name} universe job cannot run here: crondor run has the local universe only"
        yield Diagnostic(origin.fault.kind, message, span=origin.fault.span, help=hint)
    elif any(name in ad for name in _OTHERS):
        message = "a job in a container cannot run here: crondor run starts programs of this machine only"
        yield Diagnostic(origin.fault.kind, message, span=origin.fault.span, help=hint)


def _treated(file: SubmitFile, universe: str) -> Diagnostic:
    message = (
        f"{universe} universe jobs run here as in the local universe: no machine is matched, no file is transferred"
    )
    hint = "write universe = local to say so"
    return Diagnostic("run-as-local", message, Severity.WARNING, file.name("universe"), help=hint)


def _owned(ad: ClassAd, label: str) -> ClassAd:
    """Return a job's ad with its owner and label."""
    owner = getpass.getuser()
    return edited(ad, {"Owner": owner, "User": f"{owner}@{platform.node()}", NAME: label})
