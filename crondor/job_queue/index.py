"""Jobs by what they have: kept up to date with the mirror, so that asking costs what is found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from typing import Final, Generic, TypeVar

from crondor.classad.formats.long_form import read_lazily
from crondor.classad.scope import Value
from crondor.classad.text import lower
from crondor.job.attributes import alone, int32_of, string_of
from crondor.job_queue.keys import JobId, cluster_of
from crondor.job_queue.mirror import AdChange, ChangeKind, Mirror
from crondor.spec import FIELDS

Answer = TypeVar("Answer", bound=Hashable)
Lookup = Callable[[str], "str | None"]

_NOTHING: Final[frozenset[JobId]] = frozenset()
_CRON: Final = tuple(field.attribute for field in FIELDS)


class Index(Generic[Answer]):
    """The jobs of a mirror by an answer that some of their attributes decide.

    ``index[answer]`` are the jobs, a set that lives: do not change it, and copy it where jobs change while it is
    walked. The answer is taken from the attributes' texts, a cluster's for jobs that lack them; what other attributes
    decide is not known.
    """

    def __init__(self, mirror: Mirror, attributes: Iterable[str], answer: Callable[[Lookup], Answer]) -> None:
        """Look at all jobs, and at each that changes from now on.

        ``answer`` gets what returns an attribute's text (old syntax, or None), and may ask for ``attributes`` only.
        """
        self._mirror = mirror
        self._names = frozenset(map(lower, attributes))
        self._answer = answer
        self._jobs: dict[Answer, set[JobId]] = {}
        self._answers: dict[JobId, Answer] = {}
        for job in mirror:
            self._put(job)
        self.close = mirror.subscribe(self._update)

    def __getitem__(self, answer: Answer) -> Collection[JobId]:
        """Return the jobs with an answer, none if there are none."""
        return self._jobs.get(answer, _NOTHING)

    def answers(self) -> Collection[Answer]:
        """Return the answers that some job has."""
        return self._jobs.keys()

    def _update(self, changes: tuple[AdChange, ...]) -> None:
        for change in changes:
            if change.kind is ChangeKind.CHANGED and not self._names & change.attributes:
                continue
            cluster = cluster_of(change.key)
            if cluster is not None:
                for job in self._mirror.procs(cluster):
                    self._put(job)
                continue
            found = JobId.parse(change.key)
            if found is not None and found in self._mirror:
                self._put(found)
            elif found is not None:
                self._drop(found)

    def _put(self, job: JobId) -> None:
        answer = self._answer(lambda name: self._mirror.text(job, name))
        if job in self._answers:
            if self._answers[job] == answer:
                return
            self._drop(job)
        self._answers[job] = answer
        self._jobs.setdefault(answer, set()).add(job)

    def _drop(self, job: JobId) -> None:
        if job not in self._answers:
            return
        answer = self._answers.pop(job)
        jobs = self._jobs[answer]
        jobs.discard(job)
        if not jobs:
            del self._jobs[answer]


def by_status(mirror: Mirror) -> Index[int | None]:
    """Return the jobs by JobStatus (1 idle, 2 running, 3 removed, 4 completed, 5 held); None: no number by itself."""
    return Index(mirror, ["JobStatus"], lambda text: int32_of(_value(text("JobStatus"))))


def by_owner(mirror: Mirror) -> Index[str | None]:
    """Return the jobs by Owner; None: no string by itself."""
    return Index(mirror, ["Owner"], lambda text: string_of(_value(text("Owner"))))


def by_cron(mirror: Mirror) -> Index[bool]:
    """Return the jobs by whether they have any of the five Cron attributes with a value: a schedule of their own."""
    return Index(mirror, _CRON, lambda text: any(map(_given, map(text, _CRON))))


def _value(text: str | None) -> Value:
    return alone(None if text is None else read_lazily(text))


def _given(text: str | None) -> bool:
    return text is not None and lower(text) != "undefined"
