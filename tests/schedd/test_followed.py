"""A live schedd that is followed in its log, or asked only for the jobs that matter."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from crondor.classad import ClassAd, Expression
from crondor.job_queue.mirror import ChangeKind
from crondor.job_queue.records import JobId
from crondor.router.daemon.context import claim_steps
from crondor.schedd.embedded import LOG, EmbeddedSchedd
from crondor.schedd.followed import FollowedSchedd, NarrowSchedd
from crondor.schedd.live import LiveSchedd
from crondor.schedd.protocol import Hold, NotOffered, QueuePart, Schedd
from crondor.schedd.reading import QueueLogSchedd
from tests.schedd.conftest import NOW, PATIENCE, StandIn

LAG = 60


class Site:
    """A schedd, and its log as another machine sees it: only what ``arrive`` has brought there."""

    def __init__(self, folder: Path) -> None:
        """Begin with an empty queue."""
        self.now = NOW
        self.real = EmbeddedSchedd(folder / "queue", clock=lambda: self.now)
        self._here, self._there = folder / "queue" / LOG, folder / "seen.log"
        self.arrive()
        log = QueueLogSchedd(self._there, clock=lambda: self.now)
        self.schedd = FollowedSchedd(log, self.real, clock=lambda: self.now, lag=LAG)

    def arrive(self) -> None:
        """Bring the log over, as it is now."""
        shutil.copyfile(self._here, self._there)

    def add(self) -> JobId:
        """Submit a job past the follower."""
        return self.real.submit([ClassAd({"Owner": "alice", "Cmd": "/bin/date", "Note": "old"})])[0]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A schedd and its log."""
    made = Site(tmp_path)
    with made.real:
        yield made


def _note(schedd: Schedd, job: JobId) -> object:
    return schedd.jobs(job)[0].value("Note")


def test_is_a_schedd(site: Site) -> None:
    """It offers all that a schedd does; a DeferralTime is in its log late."""
    assert isinstance(site.schedd, Schedd)
    assert site.schedd.capabilities.can_write
    assert not site.schedd.capabilities.sees_deferral_time


def test_reads_the_log(site: Site) -> None:
    """Jobs and their changes are those of the log."""
    job = site.add()
    assert site.schedd.jobs() == []
    site.arrive()
    assert [each.job for each in site.schedd.changes()] == [job]
    site.real.edit_if(job, "true", {"Note": "new"})
    assert [ad.value("Note") for ad in site.schedd.jobs()] == ["old"]
    assert _note(site.schedd, job) == "new"  # asked for by its number
    site.arrive()
    assert [(each.job, each.attributes) for each in site.schedd.changes()] == [(job, frozenset(("note",)))]
    assert [ad.value("Note") for ad in site.schedd.jobs()] == ["new"]
    assert site.schedd.scheduled().total == 1


def test_a_late_log_does_not_undo_an_edit(site: Site) -> None:
    """What was written is asked for until the log shows it, and older changes of that job are not mentioned before."""
    job = site.add()
    site.arrive()
    site.schedd.changes()
    site.real.edit_if(job, "true", {"Other": 1})
    between = site.real.submit([ClassAd({"Cmd": "/bin/ls"})])[0]
    site.arrive()
    assert site.schedd.edit_if(job, 'Note == "old"', {"Note": "new"})
    assert not site.schedd.edit_if(job, 'Note == "old"', {"Note": "again"})
    assert [each.job for each in site.schedd.changes()] == [between]
    assert _note(site.schedd, job) == "new"
    site.arrive()
    changes = site.schedd.changes()
    assert {each.job for each in changes} == {job}
    assert {name for each in changes for name in each.attributes} == {"note", "other"}
    assert site.schedd.changes() == []


def test_an_edit_that_somebody_overwrites_is_not_waited_for(site: Site) -> None:
    """If the schedd has what the log has, the log is not late, whatever was written before."""
    job = site.add()
    site.arrive()
    site.schedd.changes()
    site.schedd.edit_if(job, "true", {"Note": "new"})
    site.real.edit_if(job, "true", {"Note": "another"})
    assert site.schedd.is_late(job)
    assert site.schedd.changes() == []
    site.arrive()
    assert [each.job for each in site.schedd.changes()] == [job]
    assert not site.schedd.is_late(job)


def test_a_job_that_has_left_is_not_waited_for(site: Site) -> None:
    """Its number is not used again."""
    job = site.add()
    site.arrive()
    site.schedd.changes()
    site.schedd.edit_if(job, "true", {"Note": "new"})
    site.schedd.remove(job, "because")
    site.real.clear_finished()
    site.arrive()
    assert [(each.job, each.kind) for each in site.schedd.changes()] == [(job, ChangeKind.DESTROYED)]


def test_a_late_log_counts_after_the_lag(site: Site) -> None:
    """It is waited for no longer than MAX_JOB_MIRROR_UPDATE_LAG says."""
    job = site.add()
    site.arrive()
    site.schedd.changes()
    site.schedd.edit_if(job, "true", {"Note": "new"})
    site.schedd.changes()
    assert site.schedd.is_late(job)
    site.now += LAG
    site.schedd.changes()
    assert not site.schedd.is_late(job)


def test_withheld_changes_come_as_one(site: Site) -> None:
    """A job that was new stays new, and no attribute is forgotten."""
    (job,) = site.schedd.submit([ClassAd({"Cmd": "/bin/date", "Note": "old"})])
    site.schedd.changes()
    site.arrive()
    site.schedd.edit_if(job, "true", {"Note": "new"})
    assert site.schedd.changes() == []
    site.real.edit_if(job, "true", {"Other": 1})
    site.arrive()
    assert [(each.job, each.kind) for each in site.schedd.changes()] == [(job, ChangeKind.CREATED)]


def test_the_log_of_another_schedd_is_refused(tmp_path: Path, site: Site) -> None:
    """A job of one number was submitted at another time there."""
    site.add()
    site.arrive()
    site.schedd.check()
    with EmbeddedSchedd(tmp_path / "other", clock=lambda: NOW + 5) as other:
        other.submit([ClassAd({"Owner": "bob", "Cmd": "/bin/date"})])
        log = QueueLogSchedd(tmp_path / "other" / LOG, clock=lambda: NOW)
        with pytest.raises(NotOffered, match="another schedd's"):
            FollowedSchedd(log, site.real, clock=lambda: NOW).check()


def test_a_partial_claim_names_only_what_was_reached(stand_in: StandIn) -> None:
    """A job that had the value before, and somebody else's, is not taken for one of these."""
    free, taken, others = (
        stand_in.add(ClassAd({"JobStatus": 1})),
        stand_in.add(ClassAd({"JobStatus": 1, "Managed": "External", "ManagedManager": "router"})),
        stand_in.add(ClassAd({"JobStatus": 1, "Managed": "External", "ManagedManager": "other"})),
    )
    with LiveSchedd(timeout=PATIENCE, environment=stand_in.environment) as schedd:
        chunk = [free, taken, others]
        for condition, name, value, proof in claim_steps("router"):
            chunk = schedd.edit_each(chunk, condition, name, value, proof)
            assert chunk == [free]


def test_a_submitted_job_is_known_at_once(site: Site) -> None:
    """A job that the log does not show yet is asked for by its number."""
    (job,) = site.schedd.submit([ClassAd({"Cmd": "/bin/date"})])
    assert site.schedd.jobs() == []
    assert [ad.value("Cmd") for ad in site.schedd.jobs(job)] == ["/bin/date"]
    site.arrive()
    assert [(each.job, each.kind) for each in site.schedd.changes()] == [(job, ChangeKind.CREATED)]
    assert len(site.schedd.jobs()) == 1


def test_a_deleted_attribute_and_an_undefined_one_are_the_same(site: Site) -> None:
    """The log has no text for it, or undefined."""
    job = site.add()
    site.arrive()
    site.schedd.changes()
    site.schedd.edit_if(job, "true", {"Note": Expression("undefined")})
    site.arrive()
    assert [each.job for each in site.schedd.changes()] == [job]


def test_actions_go_to_the_schedd(site: Site) -> None:
    """Hold, release, remove and the history are the schedd's own."""
    job = site.add()
    site.arrive()
    assert site.schedd.hold(job, Hold("because")).done == 1
    assert site.schedd.release(job, "because").done == 1
    assert site.schedd.remove(job, "because").done == 1
    site.real.clear_finished()
    assert [ad.value("Note") for ad in site.schedd.history()] == ["old"]


@pytest.fixture
def narrow(stand_in: StandIn) -> Iterator[NarrowSchedd]:
    """A live schedd that can be asked for parts, over the bindings' stand-in."""
    schedd = NarrowSchedd(timeout=PATIENCE, environment=stand_in.environment)
    with schedd:
        yield schedd


IDLE = QueuePart(Expression("JobStatus == 1"), ("Owner", "JobStatus", "Rank"))
TAKEN = QueuePart(Expression('Managed =?= "External"'))


def test_without_parts_all_is_asked_for(stand_in: StandIn, narrow: NarrowSchedd) -> None:
    """It is a live schedd like any other."""
    job = stand_in.add(ClassAd({"JobStatus": 2}))
    assert narrow.mirror is None
    assert [each.job for each in narrow.changes()] == [job]
    assert narrow.mirror is None


def test_only_the_parts_are_asked_for(stand_in: StandIn, narrow: NarrowSchedd) -> None:
    """Of jobs in a part with a projection only that is sent, of the others all; jobs in no part are not there."""
    idle = stand_in.add(ClassAd({"Owner": "alice", "JobStatus": 1, "Cmd": "/bin/date"}))
    taken = stand_in.add(ClassAd({"JobStatus": 2, "Managed": "External", "Cmd": "/bin/ls"}))
    stand_in.add(ClassAd({"JobStatus": 2}))
    narrow.narrow([IDLE, TAKEN])
    assert {each.job for each in narrow.changes()} == {idle, taken}
    assert narrow.mirror is not None
    assert "Owner" in narrow.mirror.ad(idle)
    assert "Cmd" not in narrow.mirror.ad(idle)
    assert narrow.mirror.ad(taken).value("Cmd") == "/bin/ls"


def test_an_expression_has_the_whole_ad_sent(stand_in: StandIn, narrow: NarrowSchedd) -> None:
    """It may refer to attributes that the projection leaves out."""
    job = stand_in.add(ClassAd({"JobStatus": 1, "Rank": Expression("Cpus * 2"), "Cpus": 4}))
    narrow.narrow([IDLE])
    narrow.changes()
    assert narrow.mirror is not None
    assert narrow.mirror.ad(job).value("Rank") == 8


def test_a_job_that_leaves_the_parts(stand_in: StandIn, narrow: NarrowSchedd) -> None:
    """A waiting one has left; one whose whole ad was needed is looked at once more."""
    waiting, taken = (stand_in.add(ClassAd({"JobStatus": 1})), stand_in.add(ClassAd({"Managed": "External"})))
    narrow.narrow([IDLE, TAKEN])
    narrow.changes()
    state = stand_in.read()
    state["jobs"][str(waiting)]["JobStatus"] = "2"
    state["jobs"][str(taken)]["Managed"] = '"Schedd"'
    stand_in.write(state)
    assert {each.job: each.kind for each in narrow.changes()} == {
        waiting: ChangeKind.DESTROYED,
        taken: ChangeKind.CHANGED,
    }
    assert narrow.mirror is not None
    assert narrow.mirror.ad(taken).value("Managed") == "Schedd"
    assert [(each.job, each.kind) for each in narrow.changes()] == [(taken, ChangeKind.DESTROYED)]


def test_an_address_file_names_the_schedd(tmp_path: Path, stand_in: StandIn) -> None:
    """Its first line is the address; one that is missing is an error that says so."""
    stand_in.add(ClassAd({"JobStatus": 1}))
    path = tmp_path / "address"
    with NarrowSchedd(timeout=PATIENCE, environment=stand_in.environment, address_file=str(path)) as schedd:
        with pytest.raises(Exception, match="address file"):
            schedd.jobs()
        path.write_text("<127.0.0.1:9618?addrs=127.0.0.1-9618>\n$CondorVersion: 25.14.0 $\n$CondorPlatform: x $\n")
        assert len(schedd.jobs()) == 1
