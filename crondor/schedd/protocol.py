"""The interface of every schedd: jobs, selections, edits, actions, history, changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Protocol, TypeAlias, runtime_checkable

from crondor.classad import Context, Expression, UnparseForm, lower, print_string
from crondor.classad.ad import ClassAd
from crondor.codes import SPOOLING_INPUT, USER_REQUEST
from crondor.diagnostics import CrondorError, Diagnostic, Source
from crondor.job.attributes import JobStatus, count, exact_integer, expression, int32, integer_of, string
from crondor.job_queue.mirror import AdChange, ChangeKind, Mirror
from crondor.job_queue.records import JobId, cluster_of
from crondor.knowledge.words import hold_name

_NUMBER: Final = re.compile(r"([1-9][0-9]{0,9})(?:\.(0|[1-9][0-9]{0,9}))?\Z").match
_OWNER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_@.-]{0,255}\Z").match
_STRING: Final = re.compile(r'"([^"\\]*)"\Z').match
_ODD_NUMBER: Final = re.compile(r"[0-9.]").match


class NoSelection(CrondorError, ValueError):
    """A word that is neither a job's number nor a cluster's nor an owner."""


@dataclass(frozen=True)
class Selection:
    """Jobs with one of these numbers, clusters or owners (all jobs without any) for which the constraint holds."""

    jobs: tuple[JobId, ...] = ()
    clusters: tuple[int, ...] = ()
    owners: tuple[str, ...] = ()
    constraint: Expression | None = None

    @classmethod
    def of(cls, which: Which) -> Selection:
        """Return a selection unchanged, and a job's number or the text of a constraint as a selection.

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

        Raises NoSelection for all other words, and ClassAdSyntaxError.
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
        """Return the selected jobs for which a condition also holds. Raises ClassAdSyntaxError."""
        more = read_constraint(condition)
        if self.constraint is None:
            return replace(self, constraint=more)
        return replace(self, constraint=Expression(f"({self.constraint}) && ({more})"))

    @property
    def is_all(self) -> bool:
        """Return whether all jobs are selected."""
        return not self._is_named and self.constraint is None

    @property
    def _is_named(self) -> bool:
        return bool(self.jobs or self.clusters or self.owners)

    @property
    def text(self) -> str:
        """The selection as the text of one constraint, ``true`` for all jobs."""
        return self.print(UnparseForm.COMPACT)

    def print(self, form: UnparseForm) -> str:
        """Return that text in a form; the tools and the schedd read UnparseForm.OLD."""
        named = [
            *map(_range_text, _ranges(self.jobs)),
            *(f"ClusterId == {cluster}" for cluster in self.clusters),
            *(f"Owner == {print_string(owner, form)}" for owner in self.owners),
        ]
        parts = [" || ".join(named)] if named else []
        if self.constraint is not None:
            parts.append(self.constraint.unparse(form))
        return " && ".join(f"({part})" for part in parts) if len(parts) > 1 else (parts or ["true"])[0]

    def holds(self, ad: ClassAd, context: Context) -> bool:
        """Return whether an ad is selected."""
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
        """Yield the selected jobs of a queue in order, with their ads; numbers are looked up directly."""
        return self._found(sorted(self._candidates(mirror)), mirror, context)

    def in_any_order(self, mirror: Mirror, context: Context) -> Iterator[ClassAd]:
        """Yield the ads of the selected jobs in any order, without making a list of all jobs."""
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
        """Return whether the text of an Owner attribute excludes all owners, so that no ad is needed."""
        plain = _STRING(owner or '""')
        return plain is not None and plain[1].lower() not in map(str.lower, self.owners)

    def unmet(self, found: Collection[JobId | None]) -> list[str]:
        """Return the selected numbers and clusters that none of these jobs has."""
        clusters = {job.cluster for job in found if job is not None}
        return [
            *(str(job) for job in self.jobs if job not in found),
            *(str(cluster) for cluster in self.clusters if cluster not in clusters),
        ]

    def missing(self, mirror: Mirror) -> list[str]:
        """Return the selected numbers and clusters that a queue lacks."""
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


def _ranges(jobs: Iterable[JobId]) -> list[tuple[int, int, int]]:
    """Return numbers as clusters with the first and last of consecutive procs, for a shorter constraint."""
    found: list[tuple[int, int, int]] = []
    for cluster, proc in sorted(set(jobs)):
        if found and (cluster, proc) == (found[-1][0], found[-1][2] + 1):
            found[-1] = (cluster, found[-1][1], proc)
        else:
            found.append((cluster, proc, proc))
    return found


def _range_text(found: tuple[int, int, int]) -> str:
    cluster, first, last = found
    procs = f"ProcId == {first}" if first == last else f"ProcId >= {first} && ProcId <= {last}"
    return f"(ClusterId == {cluster} && {procs})"


Which: TypeAlias = "Selection | JobId | str | None"


def read_constraint(text: str, name: str = "<constraint>") -> Expression:
    """Return the text of a constraint as an expression.

    Raises ClassAdSyntaxError.
    """
    return Expression.parse(Source(text, name))


def _fault(word: str) -> Diagnostic:
    if _ODD_NUMBER(word):
        message = "this is not a job number: a cluster from 1, or cluster.proc"
        return Diagnostic("job-id", message, span=Source(word, "<job>").span(), help="write 12 or 12.0")
    message = "this is neither a job number nor an owner's name"
    hint = "write 12, 12.0, alice, or a condition after --constraint"
    return Diagnostic("job-id", message, span=Source(word, "<job>").span(), help=hint)


Clock: TypeAlias = Callable[[], int]
"""Returns epoch seconds."""

SUBMITTING: Final = "crondor completes this job's ad"
"""HoldReason of a job whose ad is incomplete, in a schedd that accepts it in several steps."""


class ScheddError(CrondorError, RuntimeError):
    """A schedd did not do what was requested."""


class NotOffered(ScheddError):
    """This schedd cannot do that; see its ``capabilities``."""


class Unreachable(ScheddError):
    """No schedd answers, or not in time."""


class Refused(ScheddError):
    """The schedd rejected a job or an edit; nothing was done."""


class Forbidden(Refused):
    """The schedd accepts no edits from this user, for any job."""


class PartlyEdited(ScheddError):
    """Some of several edits were applied before one failed; ``applied`` are their names."""

    def __init__(self, error: CrondorError, applied: Sequence[str]) -> None:
        super().__init__(error.diagnostics)
        self.applied = tuple(applied)


@dataclass(frozen=True)
class Capabilities:
    """A schedd's capabilities.

    ``atomic_edits``: several attributes of one ``edit_if`` change together or not at all; otherwise only the first ones
    may be changed. ``sees_deferral_time``: its jobs show the DeferralTime in force; a log follower sees it late.
    """

    atomic_edits: bool
    can_submit: bool
    can_write: bool
    sees_deferral_time: bool


class Hold(NamedTuple):
    """The reason of a hold: HoldReason, HoldReasonCode and HoldReasonSubCode, which some holds lack (None)."""

    reason: str
    code: int = USER_REQUEST
    subcode: int | None = 0


class Acted(NamedTuple):
    """The number of jobs changed by an action, and of jobs not changed, by reason."""

    done: int = 0
    already: int = 0
    bad_status: int = 0
    denied: int = 0
    not_found: int = 0


class Scheduled(NamedTuple):
    """The ads of the selected jobs with a schedule, by cluster and proc, and the number of selected jobs.

    ``missing`` are the selected numbers and clusters without a job for which the constraint is true.
    """

    ads: list[ClassAd]
    total: int
    missing: list[str]


class JobChange(NamedTuple):
    """A change of one job; ``attributes`` are the changed names in lower case, empty unless CHANGED."""

    job: JobId
    kind: ChangeKind
    attributes: frozenset[str] = frozenset()


@runtime_checkable
class Schedd(Protocol):
    """One schedd.

    Jobs are selected with a JobId, a constraint (text of the ClassAd language), or a Selection of both; None selects
    all. An unsupported operation raises NotOffered; a schedd that does not answer raises Unreachable, a queue on disk
    JobQueueError, an invalid constraint ClassAdSyntaxError.
    """

    @property
    def capabilities(self) -> Capabilities:
        """The schedd's capabilities."""

    def jobs(self, which: Which = None, projection: Iterable[str] | None = None) -> list[ClassAd]:
        """Return the ads of jobs, by cluster and proc; ``projection`` are the only attributes needed except ids.

        The ads are copies, which the caller may modify.
        """

    def scheduled(self, which: Which = None) -> Scheduled:
        """Return the ads of the jobs with a schedule, any Cron attribute or DeferralTime; the others are counted.

        In a queue in memory it costs little more than the returned jobs.
        """

    def edit_if(self, job: JobId, condition: str, edits: Mapping[str, object]) -> bool:
        """Set attributes of a job if a condition holds in its ad, and return whether it did.

        Values are Python values or Expressions. Without ``atomic_edits`` they are set one by one in order, only the
        first together with the condition: put the attribute first that makes the condition false, and last the one that
        readers act on. Raises PartlyEdited if it fails between them.
        """

    def submit(self, ads: Sequence[ClassAd]) -> list[JobId]:
        """Add jobs to the queue in one new cluster, and return their ids in the order of the ads."""

    def hold(self, which: Which, hold: Hold) -> Acted:
        """Put jobs on hold."""

    def release(self, which: Which, reason: str) -> Acted:
        """Make held jobs idle."""

    def remove(self, which: Which, reason: str) -> Acted:
        """Remove jobs from the queue and move them to the history."""

    def history(
        self, which: Which = None, projection: Iterable[str] | None = None, limit: int | None = None
    ) -> list[ClassAd]:
        """Return the ads of jobs that have left the queue, the latest first."""

    def changes(self) -> list[JobChange]:
        """Return the changes of jobs since the last call; the first call returns all jobs as CREATED."""


class QueuePart(NamedTuple):
    """Jobs of a queue that match a constraint (evaluated by the schedd), with these attributes; None: all."""

    constraint: Expression
    projection: tuple[str, ...] | None = None


@runtime_checkable
class EditsTogether(Protocol):
    """A schedd that edits several jobs at a time, where a query costs more than an edit."""

    def edit_each(self, jobs: Sequence[JobId], condition: str, name: str, value: object, proof: str) -> list[JobId]:
        """Set one attribute of each job for which a condition holds, and return those jobs.

        ``proof`` is a condition that holds in a job after this edit, and in none of the other jobs.
        """


@runtime_checkable
class Narrowing(Protocol):
    """A schedd whose ``changes`` can be limited to parts of the queue."""

    def narrow(self, parts: Sequence[QueuePart]) -> None:
        """Limit ``changes`` to these parts; a job in several parts comes from the last one."""


def job_changes(mirror: Mirror, changes: tuple[AdChange, ...]) -> Iterator[JobChange]:
    """Yield a transaction's changes job by job; a change of a cluster's ad is a change of each of its jobs."""
    for change in changes:
        job = JobId.parse(change.key)
        if job is not None:
            yield JobChange(job, change.kind, change.attributes)
            continue
        cluster = cluster_of(change.key) if change.kind is ChangeKind.CHANGED else None
        if cluster is not None:
            yield from (JobChange(found, ChangeKind.CHANGED, change.attributes) for found in mirror.procs(cluster))


class ChangeList:
    """Collects the changes of a mirror until they are taken; at first, all its jobs are new.

    It holds at most one change per job, however many transactions there were, and none before the first ``take``.
    """

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self._found: dict[JobId, JobChange] | None = None
        self.close = mirror.subscribe(self._add)

    def take(self) -> list[JobChange]:
        """Return the changes, one per job in the order of the first ones, and start again."""
        found, self._found = self._found, {}
        if found is None:
            return [JobChange(job, ChangeKind.CREATED) for job in self._mirror]
        return list(found.values())

    def _add(self, changes: tuple[AdChange, ...]) -> None:
        if self._found is None:
            return
        for change in job_changes(self._mirror, changes):
            before = self._found.get(change.job)
            if before is None:
                self._found[change.job] = change
                continue
            both = joined(before, change)
            if both is None:
                del self._found[change.job]
            else:
                self._found[change.job] = both


def joined(first: JobChange, second: JobChange) -> JobChange | None:
    """Return two changes of a job as one; None if the job came and left."""
    if first.kind is ChangeKind.CREATED:
        return None if second.kind is ChangeKind.DESTROYED else first
    if second.kind is ChangeKind.DESTROYED:
        return second
    if first.kind is ChangeKind.DESTROYED:  # it has returned, as when another log replaced the old one
        return JobChange(first.job, ChangeKind.CREATED)
    return JobChange(first.job, ChangeKind.CHANGED, first.attributes | second.attributes)


FIXED: Final = frozenset(("clusterid", "procid", "mytype", "targettype"))


def check_editable(names: Iterable[str], more: frozenset[str] = frozenset()) -> None:
    """Raise ScheddError for attributes that identify the job, and for ``more`` (lower case)."""
    faults = [
        Diagnostic(
            "schedd-fixed",
            f"{name} identifies the job and cannot be edited"
            if lower(name) in FIXED
            else f"{name} belongs to the schedd and cannot be edited",
            span=Source(name, "<edit>").span(),
            help="submit another job" if lower(name) in FIXED else "hold, release or remove the job",
        )
        for name in names
        if lower(name) in FIXED | more
    ]
    if faults:
        raise ScheddError(faults)


_FOLLOWED: Final = frozenset(("jobstatus", "holdreasoncode"))

Writes: TypeAlias = Mapping[str, object]
"""Attributes by name, as Python values or Expressions; None deletes."""


def write(ad: ClassAd, values: Writes) -> None:
    """Set attributes of an ad; None deletes."""
    for name, value in values.items():
        if value is None:
            ad.pop(name, None)
        else:
            ad.set(name, value)


def edited(ad: ClassAd, edits: Writes) -> ClassAd:
    """Return a copy of an ad with some attributes set; None deletes."""
    made = ad.copy()
    write(made, edits)
    return made


def entered(ad: ClassAd, status: JobStatus, now: int) -> dict[str, object]:
    """Return the edits for a change of JobStatus at ``now`` (epoch seconds)."""
    made: dict[str, object] = {"JobStatus": int(status), "EnteredCurrentStatus": now}
    before = int32(ad, "JobStatus")
    if before is not None:
        made["LastJobStatus"] = before
    return made


def can_be_held(ad: ClassAd, hold: Hold) -> bool:
    """Return whether a held job can be held again: by its user, if others had held it."""
    return hold.code == USER_REQUEST and int32(ad, "HoldReasonCode") not in {USER_REQUEST, SPOOLING_INPUT}


def held(ad: ClassAd, hold: Hold, now: int, *, by_schedd: bool = True) -> dict[str, object]:
    """Return the edits that put a job on hold, preserving the reason of its last release.

    The schedd moves ReleaseReason to LastReleaseReason; a hold by shadow or starter leaves it unchanged.
    """
    edits: dict[str, object] = {
        **(_moved(ad, "ReleaseReason") if by_schedd else {}),
        "JobStatus": int(JobStatus.HELD),
        "EnteredCurrentStatus": now,
        "LastSuspensionTime": 0,
        "HoldReason": hold.reason,
        "HoldReasonCode": hold.code,
        **({} if hold.subcode is None else {"HoldReasonSubCode": hold.subcode}),
    }
    return {**edits, **followed(ad, edits)}


def counted(ad: ClassAd, code: int) -> dict[str, object]:
    """Return NumHolds and NumHoldsByReason after another hold; a hold to spool input does not count."""
    if code == SPOOLING_INPUT:
        return {}
    name = hold_name(code)
    reasons = _reasons(ad)
    before = reasons.get(name)
    reasons[name] = (integer_of(before) or 0) + 1
    return {"NumHolds": count(ad, "NumHolds") + 1, "NumHoldsByReason": reasons}


def followed(ad: ClassAd, edits: Mapping[str, object]) -> dict[str, object]:
    """Return the attributes that a schedd also sets when a job with ``ad`` is edited (25.14: ``SetAttribute``).

    A changed status sets LastJobStatus; a HoldReasonCode counts one more hold. Attributes in ``edits`` are left alone.
    """
    given = {lower(name) for name in edits}
    if given.isdisjoint(_FOLLOWED):
        return {}
    asked = ClassAd({name: edits[name] for name in edits if lower(name) in _FOLLOWED})
    made: dict[str, object] = {}
    before, after = int32(ad, "JobStatus"), int32(asked, "JobStatus")
    if before is not None and before > 0 and after is not None and after != before:
        made["LastJobStatus"] = before
        if (before, after) == (JobStatus.REMOVED, JobStatus.HELD):
            made["JobStatusOnRelease"] = before
    code = int32(asked, "HoldReasonCode")
    if code is not None:
        made |= counted(ad, code)
    return {name: value for name, value in made.items() if lower(name) not in given}


def _reasons(ad: ClassAd) -> dict[str, object]:
    try:
        value = ad.python("NumHoldsByReason")
    except CrondorError:
        value = None
    return dict(value) if isinstance(value, Mapping) else {}


def released(ad: ClassAd, reason: str, now: int) -> dict[str, object]:
    """Return the edits that release a job; the reason of its hold becomes the last reason."""
    status = int32(ad, "JobStatusOnRelease")
    after = JobStatus(status) if status in set(JobStatus) else JobStatus.IDLE
    return {**entered(ad, after, now), "ReleaseReason": reason, **_no_longer_held(ad)}


def removed(ad: ClassAd, reason: str, now: int) -> dict[str, object]:
    """Return the edits that remove a job, before it leaves the queue."""
    return {**entered(ad, JobStatus.REMOVED, now), "RemoveReason": reason, **_no_longer_held(ad)}


def _no_longer_held(ad: ClassAd) -> dict[str, object]:
    gone = {"JobStatusOnRelease": None} if "JobStatusOnRelease" in ad else {}
    return {**_moved(ad, "HoldReason", "HoldReasonCode", "HoldReasonSubCode"), **gone}


def _moved(ad: ClassAd, *names: str) -> dict[str, object]:
    there = {name: expression(ad, name) for name in names if name in ad}
    kept = {f"Last{name}": code for name, code in there.items() if code is not None}
    return {**kept, **dict.fromkeys(there)}
