"""The results of submitting jobs to an access point: the ads it stores, or why it refuses them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from crondor.access_point import AccessPoint, Admission, SentJob, Submitter, TransformStep, Verdict, sent_jobs
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Span, has_error
from crondor.schedule import misspelt
from crondor.submit import SubmitFile, job_ads

MOST_JOBS: Final = 10_000


class PreviewedJobs(NamedTuple):
    """Jobs with the same result: ``number`` of them from ``first`` on, and the result of the first.

    ``is_same``: their ads differ only in their numbers.
    """

    cluster: int
    first: int
    number: int
    queue: Span | None
    admission: Admission
    is_same: bool = True

    @property
    def title(self) -> str:
        """Which jobs they are."""
        beside = "" if self.number == 1 else f", and {self.number - 1:,} {self._like}"
        place = "" if self.queue is None else f" of {self.queue.source.name}:{self.queue.line}"
        return f"job {self.cluster}.{self.first}{place}{beside}"

    @property
    def _like(self) -> str:
        return "like it" if self.is_same else "with the same result"


@dataclass(frozen=True)
class PreviewedFile:
    """One submit file: its jobs, why they are refused together, and the diagnostics."""

    name: str
    cluster: int
    jobs: tuple[PreviewedJobs, ...] = ()
    limit: Verdict | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    def together(self) -> Iterator[PreviewedJobs]:
        """Yield the jobs, with consecutive jobs of the same result as one, even if their ads differ."""
        found: PreviewedJobs | None = None
        for each in self.jobs:
            if found is not None and found.queue == each.queue and _alike(found.admission, each.admission):
                found = found._replace(number=found.number + each.number, is_same=False)
                continue
            if found is not None:
                yield found
            found = each
        if found is not None:
            yield found

    @property
    def is_accepted(self) -> bool:
        """Whether all its jobs are."""
        refused = self.limit is not None or any(each.admission.refusal is not None for each in self.jobs)
        return not refused and not has_error(self.diagnostics) and bool(self.jobs)


def _said(file: SubmitFile, access_point: AccessPoint) -> tuple[Diagnostic, ...]:
    names = ((key, file.name(key)) for key in file.keys)
    written = ((span.text if span else key, span) for key, span in names)
    known = access_point.commands
    found = [each for each in misspelt(written) if each.span is None or each.span.text.lower() not in known]
    return tuple(dict.fromkeys((*file.warnings, *found)))


def _check_size(file: SubmitFile) -> None:
    if file.job_count > MOST_JOBS * 100:
        message = f"{file.job_count:,} jobs are more than crondor checks"
        raise CrondorError(Diagnostic("preview-many", message, help="queue fewer jobs"))


def _admitted(sent: SentJob, cluster: int, wanted: int | None, access_point: AccessPoint) -> Iterator[PreviewedJobs]:
    """Yield the jobs of a group; one by one only if their numbers matter, joining equal neighbours."""
    first = int(sent.ad.text("ProcId"))
    numbers = range(first, first + sent.jobs.count)
    if wanted is not None:
        numbers = range(wanted, wanted + 1) if wanted in numbers else range(0)
    if numbers and not (access_point.tells_jobs_apart and len(numbers) <= MOST_JOBS):
        yield _one(sent, cluster, numbers[0], len(numbers), access_point)
        return
    found: PreviewedJobs | None = None
    for number in numbers:
        one = _one(sent, cluster, number, 1, access_point)
        if found is not None and _alike(found.admission, one.admission):
            found = found._replace(number=found.number + 1)
            continue
        if found is not None:
            yield found
        found = one
    if found is not None:
        yield found


def _one(sent: SentJob, cluster: int, number: int, count: int, access_point: AccessPoint) -> PreviewedJobs:
    ad = sent.ad.copy()
    ad.set("ProcId", number)
    return PreviewedJobs(cluster, number, count, sent.jobs.queue, access_point.admit(ad))


def _alike(one: Admission, other: Admission) -> bool:
    mine, theirs = (replace(each, before=one.before, after=one.after, steps=()) for each in (one, other))
    return mine == theirs and list(one.changes) == list(other.changes)


def changed_by(steps: Iterable[TransformStep], name: str) -> str:
    """Return which transforms changed an attribute, each with its place."""
    key = name.lower()
    found = [step for step in steps if any(change.name.lower() == key for change in step.changes)]
    return ", then ".join(f"{step.transform.knob}{place_text(step.place(name))}" for step in found)


def place_text(place: Span | None) -> str:
    """Return a place in parentheses, empty for none."""
    return "" if place is None else f" ({place.source.name}:{place.line})"


def accepted_jobs(
    file: SubmitFile, cluster: int, access_point: AccessPoint, who: Submitter, wanted: int | None = None
) -> PreviewedFile:
    """Return the result for the jobs of a file at an access point, or for the job with the ProcId ``wanted``.

    Raises InvalidSubmit if condor_submit refuses them.
    """
    name, said = file.source.name, _said(file, access_point)
    limit = access_point.too_many(file)
    if limit is not None:
        return PreviewedFile(name, cluster, (), limit, said)
    _check_size(file)
    made = job_ads(file, config=access_point.submit_knobs, in_order=True, limit=MOST_JOBS, cluster=cluster)
    jobs = [
        each for sent in sent_jobs(made, who, file.job_count) for each in _admitted(sent, cluster, wanted, access_point)
    ]
    if not file.job_count:
        end = file.source.span(len(file.source.text))
        said = (*said, Diagnostic("no-jobs", "the file queues no job", Severity.WARNING, end))
    return PreviewedFile(name, cluster, tuple(jobs), None, said)
