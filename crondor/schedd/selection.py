"""Which jobs are meant: by number, by cluster, by owner, by a constraint; as condor_q and condor_hold take them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from crondor.classad import Context, Expression, print_string
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.job_queue.keys import JobId
from crondor.job_queue.mirror import Mirror
from crondor.source import Source

_NUMBER: Final = re.compile(r"([1-9][0-9]{0,9})(?:\.(0|[1-9][0-9]{0,9}))?\Z").match
_OWNER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_@.-]{0,255}\Z").match
_ODD_NUMBER: Final = re.compile(r"[0-9.]").match


class NoSelection(CrondorError, ValueError):
    """A word is neither a job's number nor a cluster's nor an owner."""


@dataclass(frozen=True)
class Selection:
    """Jobs with one of these numbers, clusters or owners (all jobs if none is given), where the constraint holds."""

    jobs: tuple[JobId, ...] = ()
    clusters: tuple[int, ...] = ()
    owners: tuple[str, ...] = ()
    constraint: Expression | None = None

    @classmethod
    def of(cls, which: Which) -> Selection:
        """Return a selection as it is, and a job's number or the text of a constraint as one.

        Raises ClassAdSyntaxError.
        """
        if which is None:
            return cls()
        if isinstance(which, Selection):
            return which
        return cls(jobs=(which,)) if isinstance(which, JobId) else cls(constraint=read_constraint(which))

    @classmethod
    def parse(cls, words: Iterable[str], constraint: str | None = None) -> Selection:
        """Read ``12.0``, ``12`` and owners, and the text of a constraint.

        Raises NoSelection for all words that are none of these, and ClassAdSyntaxError.
        """
        jobs: list[JobId] = []
        clusters: list[int] = []
        owners: list[str] = []
        faults: list[Diagnostic] = []
        for word in words:
            number = _NUMBER(word)
            if number is not None and number[2] is not None:
                jobs.append(JobId(int(number[1]), int(number[2])))
            elif number is not None:
                clusters.append(int(word))
            elif _OWNER(word):
                owners.append(word)
            else:
                faults.append(_fault(word))
        if faults:
            raise NoSelection(faults)
        expression = None if constraint is None else read_constraint(constraint, "--constraint")
        return cls(tuple(jobs), tuple(clusters), tuple(owners), expression)

    def where(self, condition: str) -> Selection:
        """Return the jobs of these where a condition holds too. Raises ClassAdSyntaxError."""
        more = read_constraint(condition)
        if self.constraint is None:
            return replace(self, constraint=more)
        return replace(self, constraint=Expression(f"({self.constraint}) && ({more})"))

    @property
    def is_all(self) -> bool:
        """Say whether nothing narrows it."""
        return not self._is_named and self.constraint is None

    @property
    def _is_named(self) -> bool:
        return bool(self.jobs or self.clusters or self.owners)

    @property
    def text(self) -> str:
        """The same as the text of one constraint, ``true`` for all jobs."""
        named = [
            *(f"(ClusterId == {job.cluster} && ProcId == {job.proc})" for job in self.jobs),
            *(f"ClusterId == {cluster}" for cluster in self.clusters),
            *(f"Owner == {print_string(owner)}" for owner in self.owners),
        ]
        parts = [" || ".join(named)] if named else []
        if self.constraint is not None:
            parts.append(str(self.constraint))
        return " && ".join(f"({part})" for part in parts) if len(parts) > 1 else (parts or ["true"])[0]

    def holds(self, ad: ClassAd, context: Context) -> bool:
        """Say whether an ad is one of these."""
        return self._names(ad, context) and (self.constraint is None or self.constraint.holds(ad, None, context))

    def _names(self, ad: ClassAd, context: Context) -> bool:
        if not self._is_named:
            return True
        cluster, proc, owner = (ad.value(name, None, context) for name in ("ClusterId", "ProcId", "Owner"))
        return (
            (cluster, proc) in self.jobs
            or cluster in self.clusters
            or (isinstance(owner, str) and owner.lower() in map(str.lower, self.owners))
        )

    def of_mirror(self, mirror: Mirror, context: Context) -> Iterator[tuple[JobId, ClassAd]]:
        """Yield the jobs of a queue in their order, with their ads; a number costs no walk over the queue."""
        is_named, constraint = not self.owners, self.constraint
        for job in sorted(self._candidates(mirror)):
            ad = mirror.ad(job)
            if (is_named or self._names(ad, context)) and (constraint is None or constraint.holds(ad, None, context)):
                yield job, ad

    def missing(self, mirror: Mirror) -> list[str]:
        """Return the numbers and clusters named that a queue does not have."""
        return [
            *(str(job) for job in self.jobs if job not in mirror),
            *(str(cluster) for cluster in self.clusters if not mirror.procs(cluster)),
        ]

    def _candidates(self, mirror: Mirror) -> Iterable[JobId]:
        if self.owners or not self._is_named:
            return mirror
        found = {job for job in self.jobs if job in mirror}
        for cluster in self.clusters:
            found.update(mirror.procs(cluster))
        return found


Which: TypeAlias = "Selection | JobId | str | None"


def read_constraint(text: str, name: str = "<constraint>") -> Expression:
    """Return the text of a constraint as an expression.

    Raises ClassAdSyntaxError.
    """
    return Expression.parse(Source(text, name))


def _fault(word: str) -> Diagnostic:
    if _ODD_NUMBER(word):
        message = "this is no job's number: a cluster from 1, or cluster.proc"
        return Diagnostic("job-id", message, span=Source(word, "<job>").span(), help="write 12 or 12.0")
    message = "this is neither a job's number nor the name of an owner"
    hint = "write 12, 12.0, alice, or a condition after --constraint"
    return Diagnostic("job-id", message, span=Source(word, "<job>").span(), help=hint)
