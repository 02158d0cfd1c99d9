"""Whatever the folder and the queue were, and whenever an apply was ended: after the next one they agree."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crondor.classad import Context, Expression
from crondor.classad.ad import ClassAd
from crondor.desired.applying import Applying
from crondor.desired.differences import Action, Difference, Terms, Wanted, differences
from crondor.desired.marks import DIGEST, FILE, JOB, NAMES, SUBMITTING, Key, hand_changes, jobs_of_plan, marked
from crondor.job_queue import JobId
from crondor.schedd.embedded import MemorySchedd
from crondor.schedd.protocol import Acted, Hold, Which

NOW = 1_795_195_625
PLAN, OWNER = "jobs", "alice"
Hands: TypeAlias = "Sequence[tuple[int, str | tuple[str, str]]]"
Folder: TypeAlias = Mapping[Key, Mapping[str, object]]


class Killed(Exception):
    """The process was killed."""


class Fragile(MemorySchedd):
    """A queue whose process is killed before its n-th change, or does something else there."""

    left = 10**9
    instead: Callable[[], object] | None = None

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0 and self.instead is None:
            raise Killed
        if self.left == 0 and self.instead is not None:
            do, self.instead, self.left = self.instead, None, 10**9
            do()

    def edit_if(self, job: JobId, condition: str, edits: Mapping[str, object]) -> bool:
        """Edit the attributes one by one, and be killed between two of them."""
        if self.capabilities.atomic_edits or len(edits) == 1:
            self._count()
            return super().edit_if(job, condition, edits)
        first, *rest = edits
        if not self.edit_if(job, condition, {first: edits[first]}):
            return False
        return all(self.edit_if(job, "true", {name: edits[name]}) for name in rest)

    def submit(self, ads: Sequence[ClassAd]) -> list[JobId]:
        """Submit, unless killed; a live schedd's transform changes some jobs."""
        self._count()
        jobs = super().submit(ads)
        for job, ad in zip(jobs, ads, strict=True):
            if not self.capabilities.atomic_edits and ad.python("JobPrio") == 2:
                super().edit_if(job, "true", {"JobPrio": 9})
        return jobs

    def hold(self, which: Which, hold: Hold) -> Acted:
        """Hold, unless killed."""
        self._count()
        return super().hold(which, hold)

    def release(self, which: Which, reason: str) -> Acted:
        """Release, unless killed."""
        self._count()
        return super().release(which, reason)

    def remove(self, which: Which, reason: str) -> Acted:
        """Remove, unless killed."""
        self._count()
        return super().remove(which, reason)


def wanted_of(folder: Folder) -> list[Wanted]:
    """Return the jobs of a folder."""
    return [
        Wanted(key, marked(ClassAd({"Owner": OWNER, "JobStatus": 1, **values}), PLAN, key))
        for key, values in sorted(folder.items())
    ]


def plan_of(schedd: MemorySchedd, folder: Folder, *, cuts_runs: bool = True) -> list[Action]:
    """Return what is to be done."""
    return [each.action for each in compared(schedd, folder, cuts_runs=cuts_runs) if each.is_different]


def compared(schedd: MemorySchedd, folder: Folder, *, cuts_runs: bool = True) -> list[Difference]:
    """Return the differences."""
    terms = Terms(Context(now=NOW), caches_cron=not schedd.capabilities.atomic_edits, cuts_runs=cuts_runs)
    terms = terms._replace(left=tuple(schedd.history(jobs_of_plan(PLAN, OWNER))))
    return differences(wanted_of(folder), schedd.jobs(jobs_of_plan(PLAN, OWNER)), terms)


def apply(schedd: MemorySchedd, folder: Folder) -> bool:
    """Apply a folder, and remove what it lacks; return whether all was done."""
    applying = Applying(schedd, PLAN, OWNER, cuts_runs=True)
    done = [applying.apply(each).is_done for each in compared(schedd, folder)]
    return all(done)


def agrees(schedd: MemorySchedd, folder: Folder) -> None:
    """Check that the queue has each job of the folder once, as it is there, and nobody else's was touched."""
    assert plan_of(schedd, folder) == []
    ads = schedd.jobs(jobs_of_plan(PLAN, OWNER))
    found = {Key(str(ad.python(FILE)), int(str(ad.python(JOB)))): ad for ad in ads}
    assert len(ads) == len(found)
    assert found.keys() == folder.keys()
    for key, values in folder.items():
        ad = found[key]
        found_values = {name: ad.python(name) for name in values}
        if found_values.get("JobPrio") == 9:
            found_values["JobPrio"] = 2
        assert found_values == dict(values)
        assert not list(hand_changes(ad))
    assert len(schedd.jobs('Owner == "bob"')) == 1


NAMES_AND_VALUES = st.fixed_dictionaries(
    {"Cmd": st.sampled_from(["/bin/a", "/bin/b"])},
    optional={
        "JobUniverse": st.sampled_from([5, 12]),
        "CronHour": st.sampled_from(["1", "2"]),
        "CronMinute": st.just("0"),
        "JobPrio": st.integers(0, 2),
        "JobStatus": st.just(5),
    },
)
FOLDERS = st.dictionaries(
    st.builds(Key, st.sampled_from(["a", "A", "b/c"]), st.integers(0, 1)), NAMES_AND_VALUES, max_size=4
)
HANDS = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from(["hold", "hold by a daemon", "release", "remove", "again", "begin", "run"])
        | st.tuples(
            st.sampled_from(["Cmd", "JobPrio", "CronHour", "CronMonth", "Else", DIGEST, NAMES, FILE, JOB]),
            st.sampled_from(['"1"', "7", "undefined", "a + 1"]),
        ),
    ),
    max_size=4,
)


def by_hand(schedd: MemorySchedd, hands: Hands) -> None:
    """Do what people do to jobs of a plan."""
    for number, what in hands:
        jobs = [JobId(int(str(ad.python("ClusterId"))), 0) for ad in schedd.jobs(jobs_of_plan(PLAN, OWNER))]
        if not jobs:
            return
        job = jobs[number % len(jobs)]
        if isinstance(what, tuple):
            schedd.edit_if(job, "true", {what[0]: Expression(what[1])})
        elif what == "again":
            schedd.submit(schedd.jobs(job))
        elif what == "run":
            schedd.write(job, {"JobStatus": 2, "NumJobStarts": 1})
        elif what == "remove":
            schedd.remove(job, "by hand")
        elif what == "release":
            schedd.release(job, "by hand")
        else:
            schedd.hold(job, {"begin": Hold(SUBMITTING), "hold": Hold("by hand")}.get(what, Hold("its program", 6)))


def queue(*, atomic: bool) -> Fragile:
    """Return a queue with a job of somebody else, which has our marks."""
    other = marked(ClassAd({"ClusterId": 1, "ProcId": 0, "Owner": "bob", "JobStatus": 1}), PLAN, Key("a", 0))
    return Fragile(clock=lambda: NOW, atomic_edits=atomic, ads=[other])


@given(st.lists(st.tuples(FOLDERS, HANDS), min_size=1, max_size=3), st.booleans())
@settings(max_examples=40, deadline=None)
def test_after_apply_a_plan_has_nothing(steps: list[tuple[Folder, Hands]], atomic: bool) -> None:
    """Whatever edits of files and hands were before, on a queue with and without transactions."""
    schedd = queue(atomic=atomic)
    for folder, hands in steps:
        assert apply(schedd, folder)
        before = sorted(str(ad.python("ClusterId")) for ad in schedd.jobs(jobs_of_plan(PLAN, OWNER)))
        agrees(schedd, folder)
        apply(schedd, folder)
        assert before == sorted(str(ad.python("ClusterId")) for ad in schedd.jobs(jobs_of_plan(PLAN, OWNER)))
        by_hand(schedd, hands)
    assert apply(schedd, steps[-1][0])
    agrees(schedd, steps[-1][0])


@given(FOLDERS, HANDS, FOLDERS, st.booleans(), st.lists(st.integers(0, 11), max_size=4))
@settings(max_examples=40, deadline=None)
def test_a_kill_at_any_change_is_mended(
    first: Folder, hands: Hands, second: Folder, atomic: bool, moments: list[int]
) -> None:
    """No job of a key is lost, none is idle twice, and the next apply has the same result as an undisturbed one."""
    schedd = queue(atomic=atomic)
    apply(schedd, first)
    by_hand(schedd, hands)
    apply(schedd, first)
    kept = first.keys() & second.keys()
    for moment in moments:
        schedd.left = moment
        with suppress(Killed):
            apply(schedd, second)
        schedd.left = 10**9
        ads = schedd.jobs(jobs_of_plan(PLAN, OWNER))
        idle = [(ad.python(FILE), ad.python(JOB)) for ad in ads if ad.python("JobStatus") != 5]
        assert len(idle) == len(set(idle))
        assert kept <= {Key(str(ad.python(FILE)), int(str(ad.python(JOB)))) for ad in ads}
    apply(schedd, second)
    agrees(schedd, second)


@given(FOLDERS, FOLDERS, st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_two_applies_at_once_are_one(first: Folder, second: Folder, moment: int) -> None:
    """The other one runs in the middle of this one, on a live schedd."""
    schedd = queue(atomic=False)
    apply(schedd, first)
    schedd.left, schedd.instead = moment, lambda: apply(schedd, second)
    apply(schedd, second)
    schedd.instead = None
    ads = schedd.jobs(jobs_of_plan(PLAN, OWNER))
    idle = [(ad.python(FILE), ad.python(JOB)) for ad in ads if ad.python("JobStatus") != 5]
    assert len(idle) == len(set(idle))
    apply(schedd, second)
    agrees(schedd, second)


@pytest.mark.parametrize("action", [Action.SUBMIT, Action.EDIT])
def test_a_run_is_waited_for(action: Action) -> None:
    """Without cuts_runs a running job stays as it is, if it would have to be replaced."""
    schedd, key = queue(atomic=False), Key("a", 0)
    apply(schedd, {key: {"Cmd": "/bin/a", "JobUniverse": 5}})
    (job,) = (JobId(int(str(ad.python("ClusterId"))), 0) for ad in schedd.jobs(jobs_of_plan(PLAN, OWNER)))
    schedd.write(job, {"JobStatus": 2})
    universe = 12 if action is Action.SUBMIT else 5
    folder = {key: {"Cmd": "/bin/b", "JobUniverse": universe}}
    (found,) = compared(schedd, folder, cuts_runs=False)
    applied = Applying(schedd, PLAN, OWNER).apply(found)
    assert applied.is_done is (action is Action.EDIT)
    assert schedd.jobs(job)[0].python("Cmd") == ("/bin/b" if applied.is_done else "/bin/a")


def test_a_job_that_another_apply_removes_is_no_running_one() -> None:
    """The new job stays, though this process does not remove the old one."""
    schedd, key = queue(atomic=False), Key("a", 0)
    apply(schedd, {key: {"Cmd": "/bin/a", "JobUniverse": 5}})
    schedd.left, schedd.instead = 2, lambda: MemorySchedd.remove(schedd, "ClusterId == 2", "by another apply")
    folder: Folder = {key: {"Cmd": "/bin/a", "JobUniverse": 12}}
    apply(schedd, folder)
    agrees(schedd, folder)


@pytest.mark.parametrize("prio", [1, 2])
def test_a_job_that_has_run_is_known_from_its_marks(prio: int) -> None:
    """Also one that the schedd changed as it received it; with other content it is submitted again."""
    schedd, folder = queue(atomic=False), {Key("a", 0): {"Cmd": "/bin/a", "JobPrio": prio}}
    apply(schedd, folder)
    schedd.write(JobId(2, 0), {"JobStatus": 4})
    schedd.leave(JobId(2, 0))
    assert plan_of(schedd, folder) == []
    assert plan_of(schedd, {Key("a", 0): {"Cmd": "/bin/b", "JobPrio": prio}}) == [Action.SUBMIT]
