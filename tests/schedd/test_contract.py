"""What every schedd must do, grouped by what it says it can: all of them, those that write, atomic and not."""

from collections.abc import Callable

import pytest

from crondor.classad import ClassAdSyntaxError, Expression
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError
from crondor.job.attributes import JobStatus
from crondor.job.policy import QueuedJob
from crondor.job_queue import JobId
from crondor.job_queue.mirror import ChangeKind
from crondor.schedd.protocol import Acted, Hold, NotOffered, PartlyEdited, Schedd, ScheddError, Selection, Which
from crondor.schedd.reading import job_id
from tests.schedd.conftest import NOW, Place, StandIn

KINDS = ("embedded", "memory", "log", "live")
Make = Callable[[str], Place]


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, make: Make) -> Place:
    """Every schedd."""
    return make(request.param)


@pytest.fixture(params=["embedded", "memory", "live"])
def writable(request: pytest.FixtureRequest, make: Make) -> Place:
    """Those that can write."""
    return make(request.param)


def ids(schedd: Schedd, which: Which = None) -> list[JobId | None]:
    """Return the numbers of jobs."""
    return [job_id(ad) for ad in schedd.jobs(which)]


def status(schedd: Schedd, job: JobId) -> JobStatus | None:
    """Return a job's JobStatus."""
    return QueuedJob(schedd.jobs(job)[0]).status


def told(reason: str) -> tuple[str, str]:
    """Return a reason as the queue has it; HTCondor's schedd adds who gave it."""
    return reason, f"{reason} (by user alice)"


def test_the_groups_are_what_the_schedds_say(make: Make) -> None:
    """The fixtures of this file are drawn by hand; this holds them to the capabilities."""
    said = {kind: make(kind).schedd.capabilities for kind in KINDS}
    assert [kind for kind in KINDS if said[kind].can_write] == ["embedded", "memory", "live"]
    assert [kind for kind in KINDS if said[kind].can_submit] == ["embedded", "memory", "live"]
    assert [kind for kind in KINDS if said[kind].atomic_edits] == ["embedded", "memory"]
    assert [kind for kind in KINDS if said[kind].sees_deferral_time] == ["embedded", "memory", "live"]


# All schedds


def test_it_is_a_schedd(place: Place) -> None:
    """The protocol is what callers type against."""
    assert isinstance(place.schedd, Schedd)


def test_jobs_are_found(place: Place) -> None:
    """By number, cluster, owner and constraint, in the order of their numbers."""
    one, two, three = place.fill()
    schedd = place.schedd
    assert ids(schedd) == [one, two, three]
    assert ids(schedd, two) == [two]
    assert ids(schedd, "JobStatus != 2") == [one, three]
    assert ids(schedd, Selection(clusters=(three.cluster,), jobs=(one,))) == [one, three]
    assert ids(schedd, Selection(owners=("ALICE",), constraint=Expression("JobStatus == 5"))) == [three]
    assert ids(schedd, JobId(77, 0)) == []
    assert ids(schedd, f"time() >= {0}") == [one, two, three]


def test_scheduled_jobs_are_found_and_the_others_counted(place: Place) -> None:
    """Of those that are meant; what is named in vain is said, a name that the constraint leaves out too."""
    one, two, three = place.fill()
    place.edit(three, "DeferralTime", NOW + 60)

    def found(which: Which = None) -> tuple[list[JobId | None], int, list[str]]:
        scheduled = place.schedd.scheduled(which)
        return [job_id(ad) for ad in scheduled.ads], scheduled.total, scheduled.missing

    assert found() == ([one, three], 3, [])
    assert found(two) == ([], 1, [])
    assert found("JobStatus != 1") == ([three], 2, [])
    assert found(Selection(owners=("Alice",))) == ([one, three], 2, [])
    assert found(Selection(jobs=(three, JobId(7, 0)), clusters=(1, 9))) == ([one, three], 2, ["7.0", "9"])
    assert found(Selection(jobs=(one, two), constraint=Expression("JobStatus == 2"))) == ([], 1, ["1.0"])


def test_an_ad_has_what_was_asked_for(place: Place) -> None:
    """All attributes, or the projection and the ids; strings keep quotes and backslashes."""
    _, two, _ = place.fill()
    whole = place.schedd.jobs(two)[0]
    assert whole.python("Note") == 'a "b" \\c'
    assert whole.python("Cmd") == "/bin/df"
    (small,) = place.schedd.jobs(two, ["owner", "NoSuch"])
    assert {name.lower() for name in small} == {"clusterid", "procid", "owner"}


def test_a_constraint_that_is_none_is_refused(place: Place) -> None:
    """At the caller, with the piece underlined."""
    with pytest.raises(ClassAdSyntaxError) as error:
        place.schedd.jobs("JobStatus == ")
    assert error.value.diagnostics[0].span is not None


def test_changes_are_told_once(place: Place) -> None:
    """At first every job is new; afterwards what has changed, job by job."""
    one, two, _ = place.fill()
    schedd = place.schedd
    assert {(change.job, change.kind) for change in schedd.changes()} == {
        (JobId(number, 0), ChangeKind.CREATED) for number in (1, 2, 3)
    }
    assert schedd.changes() == []
    place.edit(one, "JobPrio", 5)
    place.edit(one, "Note", "x")
    four = place.add(ClassAd({"Owner": "carol", "JobStatus": 1}))
    found = {change.job: (change.kind, change.attributes) for change in schedd.changes()}
    assert found == {one: (ChangeKind.CHANGED, frozenset({"jobprio", "note"})), four: (ChangeKind.CREATED, frozenset())}
    assert two not in found


# Those that only read


def test_a_log_refuses_to_write(make: Make) -> None:
    """Each of the methods, and it says where to go instead."""
    place = make("log")
    (one, *_), schedd = place.fill(), place.schedd
    calls: list[Callable[[], object]] = [
        lambda: schedd.edit_if(one, "true", {"JobPrio": 1}),
        lambda: schedd.submit([ClassAd()]),
        lambda: schedd.hold(one, Hold("x")),
        lambda: schedd.release(one, "x"),
        lambda: schedd.remove(one, "x"),
        schedd.history,
    ]
    for call in calls:
        with pytest.raises(NotOffered) as error:
            call()
        assert error.value.diagnostics[0].help


# Those that write


def test_an_edit_is_made_under_its_condition(writable: Place) -> None:
    """Only where it holds, so that of two who compare and set one wins."""
    one, *_ = writable.fill()
    schedd = writable.schedd
    assert schedd.edit_if(one, "JobStatus == 1", {"JobStatus": 2, "RemoteHost": "slot1@a"})
    assert not schedd.edit_if(one, "JobStatus == 1", {"JobStatus": 2, "RemoteHost": "slot1@b"})
    assert schedd.jobs(one)[0].python("RemoteHost") == "slot1@a"
    assert not schedd.edit_if(JobId(77, 0), "true", {"JobPrio": 1})
    assert schedd.edit_if(one, "JobStatus == 2", {})
    assert not schedd.edit_if(one, "JobStatus == 1", {})


def test_values_come_back_as_they_were_set(writable: Place) -> None:
    """Of every kind, expressions too."""
    one, *_ = writable.fill()
    values: dict[str, object] = {
        "AString": 'C:\\dir "x"',
        "ANumber": -5,
        "AReal": 2.5,
        "ABool": True,
        "AList": [1, "b"],
        "AnExpression": Expression("ANumber * 2"),
    }
    assert writable.schedd.edit_if(one, "true", values)
    ad = writable.schedd.jobs(one)[0]
    assert [ad.python(name) for name in values] == ['C:\\dir "x"', -5, 2.5, True, [1, "b"], -10]
    assert str(ad["AnExpression"]) == "ANumber * 2"


def test_what_says_which_job_it_is_cannot_be_edited(writable: Place) -> None:
    """ClusterId and its like; all faults at once."""
    one, *_ = writable.fill()
    with pytest.raises(ScheddError) as error:
        writable.schedd.edit_if(one, "true", {"clusterid": 7, "JobPrio": 1, "ProcId": 2})
    assert [fault.kind for fault in error.value.diagnostics] == ["schedd-fixed", "schedd-fixed"]
    assert "JobPrio" not in writable.schedd.jobs(one)[0]


def test_a_condition_that_is_none_is_refused(writable: Place) -> None:
    """Before anything is sent."""
    one, *_ = writable.fill()
    with pytest.raises(ClassAdSyntaxError):
        writable.schedd.edit_if(one, "JobStatus ==", {"JobPrio": 1})


def test_jobs_are_held_and_released(writable: Place) -> None:
    """With their reason; what cannot be done is counted."""
    one, two, three = writable.fill()
    schedd = writable.schedd
    assert schedd.hold(None, Hold("not now", 7)) == Acted(done=2, already=1)
    assert [status(schedd, job) for job in (one, two, three)] == [JobStatus.HELD] * 3
    assert schedd.jobs(one)[0].python("HoldReason") in told("not now")
    assert schedd.release('Owner == "alice"', "go on") == Acted(done=2)
    assert schedd.release(one, "go on") == Acted(bad_status=1)
    assert [status(schedd, job) for job in (one, two, three)] == [JobStatus.IDLE, JobStatus.HELD, JobStatus.IDLE]
    assert "HoldReason" not in schedd.jobs(three)[0]
    assert schedd.jobs(one)[0].python("ReleaseReason") in told("go on")


def test_removed_jobs_are_in_the_history(writable: Place) -> None:
    """The latest first, with the reason, and as many as are wanted."""
    one, two, three = writable.fill()
    schedd = writable.schedd
    assert schedd.history() == []
    assert schedd.remove(two, "bye") == Acted(done=1)
    assert schedd.remove(Selection(jobs=(one, three)), "all of it") == Acted(done=2)
    assert schedd.jobs() == []
    assert [job_id(ad) for ad in schedd.history()] == [three, one, two]
    (last,) = schedd.history(limit=1)
    assert job_id(last) == three
    assert last.python("RemoveReason") in told("all of it")
    assert [job_id(ad) for ad in schedd.history('Owner == "bob"', ["Owner"])] == [two]


def test_submitted_jobs_are_idle_and_whole(writable: Place) -> None:
    """Their attributes are those of their ads; the schedd adds status and times."""
    ads = [
        ClassAd({"Cmd": "/bin/date", "CronMinute": str(n), "Requirements": Expression("TARGET.Disk > 1")})
        for n in (1, 2)
    ]
    jobs = writable.schedd.submit(ads)
    assert len(set(jobs)) == 2
    assert writable.schedd.submit([]) == []
    for job, minute in zip(jobs, "12", strict=True):
        (ad,) = writable.schedd.jobs(job)
        assert (ad.python("CronMinute"), ad.python("Cmd"), ad.python("JobStatus")) == (minute, "/bin/date", 1)
        assert str(ad["Requirements"]) == "TARGET.Disk > 1"
        assert QueuedJob(ad).integer("QDate")


# Atomic edits, and the others


def test_an_atomic_edit_is_all_or_nothing(make: Make) -> None:
    """A value that no log can hold leaves the ones before it unset."""
    place = make("embedded")
    one, *_ = place.fill()
    with pytest.raises(CrondorError):
        place.schedd.edit_if(one, "true", {"JobPrio": 9, "Not a name": 1})
    assert "JobPrio" not in place.schedd.jobs(one)[0]


@pytest.mark.parametrize("after", [1, 2])
def test_an_edit_that_stops_says_how_far_it_came(make: Make, stand_in: StandIn, after: int) -> None:
    """Elsewhere a prefix is applied, in the order that was given, and the error names it."""
    place = make("live")
    one, *_ = place.fill()
    stand_in.fail(*[("edit", "")] * after, ("edit", "permission denied"))
    edits = {"First": 1, "Second": 2, "Third": 3}
    with pytest.raises(PartlyEdited) as error:
        place.schedd.edit_if(one, "true", edits)
    assert error.value.applied == tuple(edits)[:after]
    ad = place.schedd.jobs(one)[0]
    assert [name for name in edits if name in ad] == list(edits)[:after]


def test_the_first_attribute_carries_the_condition(make: Make, stand_in: StandIn) -> None:
    """It is in the constraint of the first edit only: the second one would find it false already."""
    place = make("live")
    one, *_ = place.fill()
    assert place.schedd.edit_if(one, "JobStatus == 1", {"JobStatus": 2, "RemoteHost": "slot1"})
    assert stand_in.read()["calls"].count("edit") == 2


def test_a_failed_edit_is_no_lost_race(make: Make, stand_in: StandIn) -> None:
    """No job that matches is False; a job that matches and is not edited is an error."""
    place = make("live")
    one, *_ = place.fill()
    stand_in.fail(("edit", "Unable to edit jobs matching constraint"))
    with pytest.raises(ScheddError) as error:
        place.schedd.edit_if(one, "true", {"JobPrio": 1})
    assert error.value.diagnostics[0].kind == "schedd-refused"
