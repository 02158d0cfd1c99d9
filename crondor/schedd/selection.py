"""Which jobs are meant: by number, by cluster, by owner, by a constraint; as condor_q and condor_hold take them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from crondor.classad import Context, Expression, UnparseForm, print_string
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.job.attributes import exact_integer, string
from crondor.job_queue.keys import JobId
from crondor.job_queue.mirror import Mirror
from crondor.source import Source

_NUMBER: Final = re.compile(r"([1-9][0-9]{0,9})(?:\.(0|[1-9][0-9]{0,9}))?\Z").match
_OWNER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_@.-]{0,255}\Z").match
_STRING: Final = re.compile(r'"([^"\\]*)"\Z').match
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
        return self.print(UnparseForm.COMPACT)

    def print(self, form: UnparseForm) -> str:
        """Return that text in a form; the tools and the schedd read UnparseForm.OLD."""
        named = [
            *(f"(ClusterId == {job.cluster} && ProcId == {job.proc})" for job in self.jobs),
            *(f"ClusterId == {cluster}" for cluster in self.clusters),
            *(f"Owner == {print_string(owner, form)}" for owner in self.owners),
        ]
        parts = [" || ".join(named)] if named else []
        if self.constraint is not None:
            parts.append(self.constraint.unparse(form))
        return " && ".join(f"({part})" for part in parts) if len(parts) > 1 else (parts or ["true"])[0]

    def holds(self, ad: ClassAd, context: Context) -> bool:
        """Say whether an ad is one of these."""
        return self._names(ad, context) and (self.constraint is None or self.constraint.holds(ad, None, context))

    def _names(self, ad: ClassAd, context: Context) -> bool:
        if not self._is_named:
            return True
        cluster, proc = (exact_integer(ad, name, context) for name in ("ClusterId", "ProcId"))
        owner = string(ad, "Owner", context)
        return (
            (cluster, proc) in self.jobs
            or cluster in self.clusters
            or (owner is not None and owner.lower() in map(str.lower, self.owners))
        )

    def of_mirror(self, mirror: Mirror, context: Context) -> Iterator[tuple[JobId, ClassAd]]:
        """Yield the jobs of a queue in their order, with their ads; a number costs no walk over the queue."""
        return self._found(sorted(self._candidates(mirror)), mirror, context)

    def in_any_order(self, mirror: Mirror, context: Context) -> Iterator[ClassAd]:
        """Yield the ads of the jobs of a queue as they come; of all its jobs no list is made."""
        return (ad for _, ad in self._found(self._candidates(mirror), mirror, context))

    def _found(self, candidates: Iterable[JobId], mirror: Mirror, context: Context) -> Iterator[tuple[JobId, ClassAd]]:
        is_named, constraint = not self.owners, self.constraint
        is_owned = not (is_named or self.jobs or self.clusters)
        for job in candidates:
            if is_owned and self._is_anothers(mirror.text(job, "Owner")):
                continue
            ad = mirror.ad(job)
            if (is_named or self._names(ad, context)) and (constraint is None or constraint.holds(ad, None, context)):
                yield job, ad

    def _is_anothers(self, owner: str | None) -> bool:
        """Say whether the text of an attribute Owner is plainly none of the owners, so that no ad need be made."""
        plain = _STRING(owner or '""')
        return plain is not None and plain[1].lower() not in map(str.lower, self.owners)

    def unmet(self, found: Collection[JobId | None]) -> list[str]:
        """Return the numbers and clusters named that are none of these jobs'."""
        clusters = {job.cluster for job in found if job is not None}
        return [
            *(str(job) for job in self.jobs if job not in found),
            *(str(cluster) for cluster in self.clusters if cluster not in clusters),
        ]

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
