"""Fetched work where the starter's hooks run as the job's owner: reports, left by him and taken in by the startd."""

import json
import os
import socket
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from crondor.classad import ClassAd, Expression
from crondor.hooks.fetch.journal import MODE, FetchRunState, Journal, NotPermitted, ReportFault, Reports, RunReport
from crondor.hooks.fetch.source import Heard
from crondor.hooks.kinds import HookType
from tests.hooks.crashing import crashing
from tests.hooks.party import NOON, USERS, Party, mark
from tests.rights.people import IS_ROOT

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is one user on Windows")

KEY = f"a.sub#0@{NOON}"
GOOD = {"key": KEY, "state": "running", "time": NOON + 5, "said": {"JobState": '"Running"'}}
ENDS = (HookType.PREPARE_JOB, HookType.UPDATE_JOB_INFO, HookType.JOB_EXIT)


def leave(party: Party, user: str, name: str, data: bytes) -> None:
    """Leave a file among the reports, whatever is in it."""
    assert party.be(user, lambda: (party.folder / name).write_bytes(data)) == str(len(data))


def test_reports_close_the_loop(party: Party) -> None:
    """The owner of the job may not have the journal; what his hooks tell is in it after the startd's next fetch."""
    assert party.fetch() == KEY
    party.tell(HookType.REPLY_FETCH)
    for after, hook in enumerate(ENDS, 1):
        assert party.be("alice", lambda: party.tell(hook, now=NOON + after)) == str(Heard(None))  # noqa: B023 - at once
    assert party.run().state is FetchRunState.ACCEPTED
    assert party.fetch(now=NOON + 60) == ""
    run = party.run()
    assert (run.state, run.time, run.said["ExitCode"], run.said["reason"]) == (
        FetchRunState.EXITED,
        NOON + 3,
        "3",
        "exit",
    )
    lines = party.source().journal.path.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["state"] for line in lines] == ["offered", "accepted", "prepared", "running", "exited"]
    assert list(party.folder.iterdir()) == []


def test_anybody_may_leave_and_nobody_else_may_see(party: Party) -> None:
    """Whatever the umask: the state folder lets others pass, and a report can be read by the startd's user."""
    before = os.umask(0o077)
    try:
        party.fetch()
        party.be("alice", lambda: party.tell(HookType.PREPARE_JOB))
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (party.state, party.folder, *party.folder.iterdir())]
    assert modes == [0o711, MODE, 0o644]
    assert not IS_ROOT or "PermissionError" in party.be("bob", lambda: list(party.folder.iterdir()))
    (left,) = party.folder.iterdir()
    assert not IS_ROOT or "PermissionError" in party.be("bob", left.unlink)


def test_one_user_for_all_hooks_needs_no_reports(party: Party) -> None:
    """As of a glide-in: there is no folder, and each hook writes the journal itself."""
    party.patch.setattr("crondor.hooks.fetch.journal.user_id", lambda _: os.geteuid())
    party.fetch()
    for hook in (HookType.REPLY_FETCH, *ENDS):
        assert party.tell(hook).run is not None
    assert party.run().state is FetchRunState.EXITED
    assert [path.name for path in party.state.iterdir()] == ["fetched.journal"]


def test_the_startds_hooks_must_have_the_journal(party: Party) -> None:
    """What they tell cannot wait, and no run may be given back by a report."""
    party.fetch()
    for hook in (HookType.REPLY_FETCH, HookType.EVICT_CLAIM):
        assert party.be("alice", lambda: party.tell(hook)).startswith("NotPermitted")  # noqa: B023 - at once
    said = party.be("bob", lambda: party.fetch(now=NOON + 3600))
    assert said.startswith("NotPermitted")
    assert ("REPLY_FETCH and EVICT_CLAIM run as one user" if IS_ROOT else "chmod 600") in said
    assert "cannot be trusted" not in said
    assert party.be("alice", party.source().journal.is_there) == "True"


def test_what_is_not_permitted_is_named(party: Party, tmp_path: Path) -> None:
    """Whose the journal is; a folder that is not there; one that lets nobody pass."""
    party.fetch()
    assert not IS_ROOT or "it belongs to root, but this is 54321" in party.be("alice", party.fetch)
    closed = Journal(party.state / "fetched.journal" / "deeper")
    with pytest.raises(Exception, match="Not a directory"), closed.writing(is_first=True):
        pass
    party.state.chmod(0o700)
    said = party.be("alice", lambda: party.tell(HookType.PREPARE_JOB))
    assert not IS_ROOT or ("ReportFault" in said and f"let others traverse {party.state}" in said)
    missing = Journal(tmp_path / "none")
    with pytest.raises(Exception, match="there is no journal"), missing.writing():
        pass
    assert not missing.path.parent.exists()


def test_a_report_that_cannot_be_left_is_said(party: Party) -> None:
    """The folder is missing, or is no folder, or the disk is full: the hook fails, and nothing half is left."""
    party.fetch()
    party.folder.rmdir()
    assert "FETCH_WORK creates it" in party.be("alice", lambda: party.tell(HookType.JOB_EXIT))
    party.folder.symlink_to(party.state)
    assert "Not a directory" in party.be("alice", lambda: party.tell(HookType.JOB_EXIT))
    party.folder.unlink()
    party.folder.mkdir()
    party.folder.chmod(MODE)
    real = os.write
    with party.patch.context() as patch:
        patch.setattr(os, "write", lambda file, data: real(file, data[:20]) if data[:1] == b"{" else real(file, data))
        assert "No space left" in party.be("alice", lambda: party.tell(HookType.JOB_EXIT))
    assert list(party.folder.iterdir()) == []
    with pytest.raises(ReportFault, match="too large"):
        Reports(party.state).leave(RunReport("x" * 50_000, FetchRunState.EXITED, NOON, {}))


def test_a_report_of_another_user_counts_for_nothing(party: Party) -> None:
    """It is dropped and named; the word of the job's owner and of the journal's counts."""
    party.fetch()
    party.be("bob", lambda: party.tell(HookType.JOB_EXIT))
    (finding,) = party.source().catch_up(NOON + 2)
    assert "reports about a.sub#0@1795608000, a run of alice's" in finding.message
    assert (party.run().state, list(party.folder.iterdir())) == (FetchRunState.OFFERED, [])
    Reports(party.state).leave(RunReport(KEY, FetchRunState.RUNNING, NOON + 3, {}))
    assert party.source().catch_up(NOON + 4) == []
    assert party.run().state is FetchRunState.RUNNING


def test_a_run_whose_owner_is_not_known_has_reports_of_nobody(party: Party) -> None:
    """Such are the runs of a journal that does not say whose they are."""
    party.fetch()
    path = party.source().journal.path
    path.write_text(path.read_text(encoding="utf-8").replace('"alice"', '""'), encoding="utf-8")
    party.be("alice", lambda: party.tell(HookType.JOB_EXIT))
    (finding,) = party.source().catch_up(NOON + 2)
    assert "a run of nobody's" in finding.message
    assert party.run().state is FetchRunState.OFFERED


DATA = {
    "empty": b"",
    "garbage": b"\x00\xff\xfe{",
    "long": b'{"key": "' + b"x" * 40_000,
    "deep": b"[" * 30_000,
    "number": b"5",
    "keys": b"{}",
    "cut": json.dumps(GOOD).encode()[:-9],
    "infinite": json.dumps({**GOOD, "time": float("inf")}).encode(),
    "boolean": json.dumps({**GOOD, "time": True}).encode(),
    "digits": b'{"key": "a", "state": "exited", "time": ' + b"9" * 9000 + b', "said": {}}',
    "text": json.dumps({**GOOD, "said": "x"}).encode(),
    "unhashable": json.dumps({**GOOD, "state": ["exited"]}).encode(),
    "surrogate": json.dumps({**GOOD, "key": "\ud800"}).encode(),
    "unknown": json.dumps({**GOOD, "key": "b.sub#0@5"}).encode(),
    **{state: json.dumps({**GOOD, "state": state}).encode() for state in ("offered", "rejected", "accepted", "lost")},
}


@pytest.mark.parametrize("what", DATA)
def test_what_is_no_report_is_dropped(what: str, party: Party) -> None:
    """It is named and removed; the run is not given back, and a good report beside it counts."""
    party.fetch()
    leave(party, "alice", "1.report", DATA[what])
    assert [finding.kind for finding in party.source().catch_up(NOON + 9)] == ["fetch-report"]
    assert party.run().state is FetchRunState.OFFERED
    assert party.fetch(now=NOON + 9) == ""
    leave(party, "alice", "1.report", DATA[what])
    leave(party, "alice", "2.report", json.dumps(GOOD).encode())
    party.source().catch_up(NOON + 9)
    assert (party.run().state, list(party.folder.iterdir())) == (FetchRunState.RUNNING, [])


def bind(path: Path) -> None:
    """Make a socket."""
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def link(path: Path) -> None:
    """Give a file elsewhere a second name."""
    elsewhere = path.parents[2] / "once"
    elsewhere.write_text(json.dumps(GOOD), encoding="utf-8")
    os.utime(elsewhere, (0, 0))  # written long before the time that the tests have, whatever day it is
    os.link(elsewhere, path)


def point(path: Path) -> None:
    """Point to what another may have written elsewhere."""
    elsewhere = path.parents[2] / "once"
    elsewhere.write_text(json.dumps(GOOD), encoding="utf-8")
    path.symlink_to(elsewhere)


MAKES: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "link to what never ends": lambda path: path.symlink_to("/dev/zero"),
    "link to the journal": lambda path: path.symlink_to("../fetched.journal"),
    "link to a report": point,
    "link to nothing": lambda path: path.symlink_to("nothing"),
    "folder": Path.mkdir,
    "socket": bind,
    "second name": link,
}


@pytest.mark.parametrize("what", MAKES)
@pytest.mark.parametrize("name", ["1.report", "other"])
def test_what_is_no_plain_file_stops_nobody(what: str, name: str, party: Party) -> None:
    """It is neither followed nor waited for."""
    party.fetch()
    party.be("alice", lambda: MAKES[what](party.folder / name))
    assert [finding.kind for finding in party.source().catch_up(NOON)] == ["fetch-report"]
    assert list(party.folder.iterdir()) == []
    assert party.run().state is FetchRunState.OFFERED
    assert party.source().journal.path.is_file()


def test_what_cannot_be_removed_is_named(party: Party) -> None:
    """A folder with something in it stays, and other reports count."""
    party.fetch()
    party.be("alice", lambda: (party.folder / "1.report" / "deep").mkdir(parents=True))
    party.be("alice", lambda: party.tell(HookType.PREPARE_JOB))
    (finding,) = party.source().catch_up(NOON + 9)
    assert "1.report" in finding.message
    assert "and 1 more" in finding.message
    assert party.run().state is FetchRunState.PREPARED


def test_a_flood_is_taken_in_bit_by_bit(party: Party) -> None:
    """No more than a number of reports, or for a time, at each fetch."""
    party.patch.setattr("crondor.hooks.fetch.journal._MOST_REPORTS", 5)
    party.fetch()
    for number in range(12):
        leave(party, "alice", f"{number}.report", json.dumps({**GOOD, "time": NOON + number}).encode())
    left = [[len(party.source().catch_up(NOON + 60)), len(list(party.folder.iterdir()))] for _ in range(3)]
    assert left == [[1, 7], [1, 2], [0, 0]]
    leave(party, "alice", "1.report", b"")
    party.patch.setattr("crondor.hooks.fetch.journal._MOST_SECONDS", -1)
    (finding,) = party.source().catch_up(NOON + 60)
    assert "the others wait" in finding.message


def test_many_updates_are_one_line(party: Party) -> None:
    """The journal grows by the states of a run, not by what its owner leaves."""
    party.fetch()
    for number in range(40):
        leave(party, "alice", f"{number}.report", json.dumps({**GOOD, "time": NOON + number}).encode())
    party.source().catch_up(NOON + 60)
    leave(party, "alice", "again.report", json.dumps({**GOOD, "time": NOON + 39}).encode())
    party.source().catch_up(NOON + 70)
    assert len(party.source().journal.path.read_bytes().splitlines()) == 2
    assert party.run().time == NOON + 39


@pytest.mark.parametrize(("told", "found"), [(10**30, NOON + 9), (-5, NOON), (NOON + 4, NOON + 4)])
def test_a_time_that_cannot_be_is_put_right(told: int, found: int, party: Party) -> None:
    """It lies between the last news and now."""
    party.fetch()
    leave(party, "alice", "1.report", json.dumps({**GOOD, "time": told}).encode())
    party.source().catch_up(NOON + 9)
    assert party.run().time == found


def test_a_report_says_only_what_is_asked(party: Party) -> None:
    """Its other words do not get into the journal, and long ones are cut."""
    party.fetch()
    said = {"ExitReason": "x" * 9000, "key": "b", "state": "rejected", "slot": "s", "rejections": "7", "owner": "bob"}
    leave(party, "alice", "1.report", json.dumps({**GOOD, "said": said}).encode())
    party.source().catch_up(NOON + 9)
    run = party.run()
    assert (run.state, run.owner, run.slot, run.rejections) == (FetchRunState.RUNNING, "alice", "", 0)
    assert run.said["ExitReason"] == "x" * 200


def test_a_late_report_changes_nothing(party: Party) -> None:
    """States only go forward, whoever tells them last."""
    party.fetch()
    party.be("alice", lambda: party.tell(HookType.JOB_EXIT, now=NOON + 5, reason="evict"))
    party.tell(HookType.REPLY_FETCH)
    party.be("alice", lambda: party.tell(HookType.UPDATE_JOB_INFO, now=NOON + 9))
    party.be("alice", lambda: party.tell(HookType.PREPARE_JOB, now=NOON + 9))
    assert party.source().catch_up(NOON + 10) == []
    assert party.run().state is FetchRunState.EVICTED


def test_a_report_is_whole_or_not_there_wherever_a_hook_ends(party: Party) -> None:
    """What was begun is not read, and is removed an hour later; the run is never offered again."""
    is_crash, points, seen = True, 0, set()
    while is_crash:
        name = f"job{points}.sub#0"
        key = party.fetch(name)

        def tell(key: str = key) -> str:
            party.become("alice")
            return str(party.tell(HookType.JOB_EXIT, key).run)

        is_crash, _ = crashing(points, tell)
        for path in party.folder.iterdir():
            os.utime(path, (NOON, NOON))
            party.left[mark(path.stat())] = USERS["alice"]
        found = party.source().catch_up(NOON + 2)
        assert (party.fetch(name), found) == ("", [])
        seen.add(party.run(key).state)
        points += 1
    assert seen == {FetchRunState.OFFERED, FetchRunState.EXITED}
    assert list(party.folder.iterdir()) != []
    party.source().catch_up(NOON + 3700)
    assert list(party.folder.iterdir()) == []
    assert points > 6


def test_a_report_is_taken_in_wherever_the_startds_hook_ends(party: Party) -> None:
    """It is removed once the journal has it, and does not count twice."""
    is_crash, points = True, 0
    while is_crash:
        name = f"job{points}.sub#0"
        key = party.fetch(name)
        party.be("alice", lambda: party.tell(HookType.UPDATE_JOB_INFO, key))  # noqa: B023 - called at once
        party.be("alice", lambda: party.tell(HookType.JOB_EXIT, key))  # noqa: B023 - called at once
        is_crash, _ = crashing(points, lambda: party.fetch(name))  # noqa: B023 - called at once
        assert party.fetch(name) == ""
        assert (party.run(key).state, list(party.folder.iterdir())) == (FetchRunState.EXITED, [])
        points += 1
    assert points > 8


def test_two_slots_take_in_and_offer_at_once(party: Party) -> None:
    """Each report counts, and each run is offered once."""
    names = [f"{name}.sub#0" for name in "abcdefgh"]
    keys = sorted(party.fetch(*names) for _ in names)
    for key in keys:
        for hook in ENDS:
            party.be("alice", lambda: party.tell(hook, key))  # noqa: B023 - called at once
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: party.fetch(*names), range(8))) == [""] * 8
    assert {party.run(key).state for key in keys} == {FetchRunState.EXITED}
    states = [json.loads(line)["state"] for line in party.source().journal.path.read_bytes().splitlines()]
    assert [states.count(state) for state in ("offered", "prepared", "running", "exited")] == [8] * 4


def test_a_folder_of_another_user_is_believed_by_nobody_not_even_root(party: Party) -> None:
    """Whose the folder is could have any job run: root runs none of it, and makes nothing there."""
    party.state.mkdir()
    if IS_ROOT:
        os.chown(party.state, USERS["bob"], -1)
    else:
        party.patch.setattr("crondor.rights.trust.ours", lambda: (0, USERS["alice"]))
    with pytest.raises(NotPermitted, match="this folder belongs to") as caught:
        party.fetch()
    assert "run as one user, who owns the folder" in str(caught.value)
    assert list(party.state.iterdir()) == []
    if IS_ROOT:
        assert party.be("bob", party.fetch) == KEY
        (party.folder / "1.report").touch()
        assert [each.kind for each in party.source().catch_up(NOON + 2)] == ["fetch-journal"]


def test_a_link_in_the_place_of_the_reports_gets_no_rights(party: Party, tmp_path: Path) -> None:
    """Whose the state folder is could have root open any folder to all."""
    other = tmp_path / "other"
    other.mkdir(0o700)
    party.state.mkdir()
    mkdir = Path.mkdir

    def swapped(path: Path, mode: int = 0o777, **more: bool) -> None:
        mkdir(path, mode, **more)
        party.patch.setattr(Path, "lstat", lambda path: path.stat())  # as where it comes after the look
        path.rmdir()
        path.symlink_to(other)

    party.patch.setattr(Path, "mkdir", swapped)
    assert "cannot make it" in Reports(party.state).make("alice")[0].message
    assert stat.S_IMODE(other.stat().st_mode) == 0o700


SLOT = {"Name": "slot1@here", "State": "Unclaimed", "Activity": "Idle"}


@pytest.mark.parametrize(
    ("slot", "state"),
    [
        ({}, FetchRunState.LOST),
        ({"State": "Claimed"}, FetchRunState.LOST),
        ({"State": "Claimed", "Activity": "Busy"}, FetchRunState.PREPARED),
        ({"State": "Claimed", "Activity": "Retiring"}, FetchRunState.PREPARED),
        ({"PartitionableSlot": True}, FetchRunState.PREPARED),
        ({"Name": "slot2@here"}, FetchRunState.PREPARED),
        ({"State": Expression("undefined")}, FetchRunState.PREPARED),
    ],
)
def test_a_run_is_lost_when_its_slot_asks_for_work_again(
    slot: dict[str, object], state: FetchRunState, party: Party
) -> None:
    """A starter that is killed, or ends before its job has started, may end its JOB_EXIT with it."""
    work = party.source()
    job = work.offer(ClassAd(SLOT), NOON).job
    assert job is not None
    work.hear(HookType.PREPARE_JOB, job, NOON + 1)
    assert work.offer(ClassAd({**SLOT, **slot}), NOON + 9000).job is None
    assert party.run().state is state
    work.hear(HookType.JOB_EXIT, job, NOON + 9001)
    assert party.run().state is FetchRunState.EXITED


def test_a_slot_that_is_busy_is_not_offered_what_it_would_refuse(party: Party) -> None:
    """It asks at each FetchWorkDelay; without a REPLY_FETCH the run would be lost."""
    work = party.source()
    busy = {**SLOT, "State": "Claimed", "Activity": "Busy", "CurrentRank": 0.0}
    assert work.offer(ClassAd({**busy, "Rank": 0.0}), NOON) == (None, ())
    assert not work.journal.read()
    assert work.offer(ClassAd({**busy, "Rank": Expression("TARGET.JobUniverse")}), NOON).job is not None


def test_a_run_of_which_there_is_news_is_not_forgotten(party: Party) -> None:
    """A job may take longer than a day; the journal that is shortened keeps it."""
    party.fetch()
    party.tell(HookType.UPDATE_JOB_INFO, now=NOON + 90_000)
    with party.source().journal.path.open("a", encoding="utf-8") as file:
        file.write('{"key": "old", "state": "exited", "time": 1, "last_start": 1, "x": "%s"}\n' % ("x" * 2_000_000))
    party.fetch("b.sub#0", now=NOON + 90_001)
    assert "old" not in Journal(party.state).read()
    assert party.tell(HookType.JOB_EXIT, now=NOON + 90_002).run is not None
    assert party.run().owner == "alice"


def test_not_permitted_is_a_fault_of_the_journal(party: Party) -> None:
    """Whoever reads it only is told so, too."""
    party.fetch()
    journal = party.source().journal
    with party.patch.context() as patch:
        patch.setattr(os, "open", _refuse)
        with pytest.raises(NotPermitted):
            journal.read()


def _refuse(*_: object, **__: object) -> int:
    raise PermissionError(13, "Permission denied")
