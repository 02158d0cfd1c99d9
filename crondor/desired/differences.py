"""What a queue lacks of a folder of submit files, job by job: the changes that `crondor apply` makes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Final, NamedTuple

from crondor.classad import Context, lower
from crondor.classad.ad import ClassAd
from crondor.desired.marks import (
    CRON,
    EDITING,
    HELD,
    SUBMITTING,
    UNFINISHED,
    Key,
    Marks,
    content_of,
    digest,
    digests,
    hand_changes,
    held_by_hand,
    text_of,
)
from crondor.diagnostics import Span, shortened
from crondor.job.attributes import JobStatus, int32, integer, string
from crondor.job_queue.records import JobId
from crondor.schedd.reading import job_id
from crondor.transform import AttributeChange

FIXED: Final = frozenset(("jobuniverse",))
"""Attributes, in lower case, that a file sets and nobody may edit (HTCondor 25.14: SYSTEM_IMMUTABLE_JOB_ATTRS)."""

REMOVING: Final = "via crondor apply: "
"""The begin of RemoveReason of a job that was removed by its plan."""

_GONE: Final = (JobStatus.REMOVED, JobStatus.COMPLETED)
_UNDER_WAY: Final = frozenset((JobStatus.RUNNING, JobStatus.TRANSFERRING_OUTPUT, JobStatus.SUSPENDED))
_LONGEST: Final = 200  # characters of a HoldReason


class Action(Enum):
    """What is done with a job."""

    SUBMIT = "submit"
    EDIT = "edit"
    REPLACE = "replace"
    RELEASE = "release"
    HOLD = "hold"
    REMOVE = "remove"
    NOTHING = "nothing"


class Wanted(NamedTuple):
    """A job of the folder: its ad with marks, as it is submitted, and its queue statement (None: implied)."""

    key: Key
    ad: ClassAd
    span: Span | None = None


class Difference(NamedTuple):
    """One job's difference between folder and queue, and the action that removes it.

    ``job`` is the job in the queue; ``new`` the one that replaces it, if it is already there, on hold. ``attributes``
    are edited in this order. ``drift`` is what somebody did by hand: ``edited``, ``held``, ``released``, ``removed``,
    ``duplicated``. ``waits``: nothing is done until the job's run has ended. ``is_orphan``: the folder has no such job,
    so that only a confirmed removal removes it. ``why`` is a reason in words, for people.
    """

    action: Action
    key: Key
    wanted: Wanted | None = None
    job: JobId | None = None
    ad: ClassAd | None = None
    attributes: tuple[AttributeChange, ...] = ()
    drift: tuple[str, ...] = ()
    why: str = ""
    waits: bool = False
    is_orphan: bool = False
    new: JobId | None = None

    @property
    def is_different(self) -> bool:
        """Whether folder and queue differ."""
        return self.action is not Action.NOTHING


class Terms(NamedTuple):
    """How a queue is changed.

    ``context`` has its clock. ``caches_cron``: it is a schedd, which reads Cron attributes once. ``fixed`` are further
    attributes that cannot be edited, in lower case. ``cuts_runs``: running jobs are also replaced and removed.
    ``left`` are jobs of the plan that have left the queue, the latest first.
    """

    context: Context
    caches_cron: bool = False
    fixed: frozenset[str] = FIXED
    cuts_runs: bool = False
    left: tuple[ClassAd, ...] = ()


def differences(wanted: Iterable[Wanted], ads: Iterable[ClassAd], terms: Terms) -> list[Difference]:
    """Compare the jobs of a folder with a plan's jobs in a queue, whose ads have its mark; in the order of the files.

    Jobs that were removed or have completed count as gone.
    """
    queued: defaultdict[Key, list[_Queued]] = defaultdict(list)
    left: defaultdict[Key, list[ClassAd]] = defaultdict(list)
    for ad in (*ads, *terms.left):
        job, marks = job_id(ad), Marks.of(ad)
        if int32(ad, "JobStatus") in _GONE:
            left[marks.key].append(ad)
        elif job is not None:
            queued[marks.key].append(_Queued(job, ad))
    found: list[Difference] = []
    for each in wanted:
        jobs = sorted(queued.pop(each.key, ()))
        found += _of_job(each, jobs, terms, next((ad for ad in left[each.key] if _is_marked(each, ad)), None))
    for key, jobs in sorted(queued.items()):
        found += (_removal(job, key, terms, "the folder has no such job", is_orphan=True) for job in sorted(jobs))
    return found


def is_under_way(ad: ClassAd, context: Context) -> bool:
    """Return whether the program of a job runs; one that waits on its machine for its time does not."""
    return int32(ad, "JobStatus") in _UNDER_WAY and (integer(ad, "DeferralTime", context) or 0) <= context.now


class _Queued(NamedTuple):
    """A job in the queue."""

    job: JobId
    ad: ClassAd


def is_being_submitted(ad: ClassAd) -> bool:
    """Return whether a job is on hold until apply has finished submitting it."""
    is_held = int32(ad, "JobStatus") == JobStatus.HELD and string(ad, "HoldReason") == SUBMITTING
    return is_held and not Marks.of(ad).is_held


def is_as(wanted: Wanted, ad: ClassAd) -> bool:
    """Return whether a job in the queue has the wanted content and marks."""
    return not _changes(wanted, ad) and _is_marked(wanted, ad)


def _of_job(wanted: Wanted, jobs: list[_Queued], terms: Terms, left: ClassAd | None) -> Iterator[Difference]:
    """Yield the differences of one job of the folder, of which the queue may have several.

    ``left`` is the last equal one that has left the queue.
    """
    begun = [each for each in jobs if is_being_submitted(each.ad)]
    whole = [each for each in jobs if not is_being_submitted(each.ad)]
    ready = [
        each for each in begun if is_as(wanted, each.ad)
    ]  # submitted by an apply that was ended before the release
    whole.sort(key=lambda each: (not is_as(wanted, each.ad), not is_under_way(each.ad, terms.context)))
    kept: _Queued | None = None
    if whole:
        kept = whole[0]
        difference = _kept(wanted, kept, terms)
        if difference.action is Action.REPLACE and ready:
            difference = difference._replace(new=ready[0].job)
            begun.remove(ready[0])
    elif ready:
        kept = ready[0]
        begun.remove(kept)
        difference = Difference(Action.RELEASE, wanted.key, wanted, *kept, why=SUBMITTING)
    else:
        difference = _absent(wanted, left)
    yield from (_removal(each, wanted.key, terms, SUBMITTING) for each in begun)
    yield difference
    for each in whole[1:]:
        yield _removal(each, wanted.key, terms, f"job {whole[0].job} is the same job", ("duplicated",))


def _absent(wanted: Wanted, left: ClassAd | None) -> Difference:
    """Return what is to be done about a job that is not in the queue."""
    if left is None:
        return Difference(Action.SUBMIT, wanted.key, wanted)
    if int32(left, "JobStatus") == JobStatus.COMPLETED:
        why = f"job {job_id(left)} has run, and does not stay in the queue"
        return Difference(Action.NOTHING, wanted.key, wanted, why=why)
    reason = string(left, "RemoveReason") or ""
    if reason.startswith(REMOVING):
        return Difference(Action.SUBMIT, wanted.key, wanted)
    why = f"job {job_id(left)} was removed: {shortened(reason, _LONGEST)}"
    return Difference(Action.SUBMIT, wanted.key, wanted, drift=("removed",), why=why)


def _removal(
    queued: _Queued, key: Key, terms: Terms, why: str, drift: tuple[str, ...] = (), *, is_orphan: bool = False
) -> Difference:
    waits = is_under_way(queued.ad, terms.context) and not terms.cuts_runs
    return Difference(Action.REMOVE, key, None, *queued, drift=drift, why=why, waits=waits, is_orphan=is_orphan)


def _kept(wanted: Wanted, queued: _Queued, terms: Terms) -> Difference:
    """Return what is to be done with the one job in the queue."""
    ad = queued.ad
    marks, changes = Marks.of(ad), _changes(wanted, ad)
    drift = tuple(hand_changes(ad))
    found = Difference(Action.NOTHING, wanted.key, wanted, *queued, tuple(changes), drift)
    waits = is_under_way(ad, terms.context) and not terms.cuts_runs
    if not changes and _is_marked(wanted, ad):
        return _in_status(found, ad, is_held=marks.is_held, waits=waits)
    why = _not_editable(changes, ad, marks, terms)
    if why:
        return found._replace(action=Action.REPLACE, why=why, waits=waits)
    if marks.digest.startswith(UNFINISHED):
        why = EDITING
    elif not changes:
        why = "the marks alone: its content is as wanted already"
    return found._replace(action=Action.EDIT, why=why, waits=waits and HELD in content_of(wanted.ad))


def _in_status(found: Difference, ad: ClassAd, *, is_held: bool, waits: bool) -> Difference:
    """Return what is to be done with a job whose content is as wanted."""
    status, reason = int32(ad, "JobStatus"), string(ad, "HoldReason") or ""
    if is_held and status != JobStatus.HELD:
        return found._replace(action=Action.HOLD, why="its file holds it", waits=waits)
    if is_held or status != JobStatus.HELD:
        return found
    if reason == EDITING or held_by_hand(ad):
        return found._replace(action=Action.RELEASE, why=f"HoldReason: {shortened(reason, _LONGEST)}")
    return found._replace(why=f"held: {shortened(reason, _LONGEST)}")


def _changes(wanted: Wanted, ad: ClassAd) -> list[AttributeChange]:
    """Return the attributes whose expressions differ from the wanted ones, by name."""
    marks, whole = Marks.of(ad), content_of(wanted.ad)
    content = marks.compared(whole)
    is_held = HELD in content
    dropped = set(marks.altered) - set(map(lower, whole))
    texts = {**dict.fromkeys(dropped), **marks.present(ad)}
    names = {lower(name): name for name in (*texts, *marks.names, *content)}
    names.pop(HELD, None)
    found = []
    for _, name in sorted(names.items()):
        before, after = text_of(ad, name), content.get(name)
        if before != after:
            found.append(AttributeChange(name, before, after))
    if is_held != marks.is_held:
        found.append(AttributeChange(HELD, "true" if marks.is_held else None, "true" if is_held else None))
    return found


def _is_marked(wanted: Wanted, ad: ClassAd) -> bool:
    marks = Marks.of(ad)
    content = marks.compared(content_of(wanted.ad))
    return marks.digest == digest(content) and marks.names == digests(content)


def _not_editable(changes: list[AttributeChange], ad: ClassAd, marks: Marks, terms: Terms) -> str:
    """Return why a job cannot be edited in place, empty if it can be."""
    fixed = [each.name for each in changes if lower(each.name) in terms.fixed]
    if fixed:
        return f"{', '.join(fixed)} cannot be edited"
    altered = [each.name for each in changes if lower(each.name) in marks.altered]
    if altered:
        return f"the schedd changes {', '.join(altered)} of a job that is submitted"
    # HTCondor 25.14, Scheduler::calculateCronTabSchedule: the parsed schedule is kept by job until a reconfig, or until
    # the job has no Cron attribute at all; one that the bindings edit always has one, even if it is undefined.
    crons = [each.name for each in changes if lower(each.name) in CRON]
    if crons and terms.caches_cron and any(name in ad for name in CRON):
        return f"a schedd reads an edited {', '.join(crons)} only after a reconfig"
    return ""
