"""The user log that the router writes: whole events, in the folder that is allowed, of every kind."""

import os
from pathlib import Path

import pytest

from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic
from crondor.event_log import EventType, read_events
from crondor.job_queue import JobId
from crondor.router.daemon import UserLogs
from crondor.router.daemon.log import event
from tests.rights.people import ALICE, BOB, IS_ROOT, PEOPLE, as_root, home, link_in_place, swapping
from tests.router.daemon.scenes import NOW

JOB = JobId(7, 0)
OURS = {"Owner": "me"}


def test_events_are_appended(tmp_path: Path) -> None:
    """A log's name is taken from the job's Iwd."""
    ad = ClassAd({**OURS, "UserLog": "job.log", "Iwd": str(tmp_path), "RoutedToJobId": "8.0", "ExitCode": 3})
    write = UserLogs(tmp_path, accounts=PEOPLE.get)
    for kind in (EventType.EXECUTE, EventType.JOB_EVICTED, EventType.JOB_TERMINATED):
        assert write(ad, event(kind, JOB, ad, NOW))
    found = list(read_events((tmp_path / "job.log").read_text()))
    assert [each.number for each in found] == [1, 4, 5]
    assert found[0].attributes["ExecuteHost"] == "8.0"
    assert found[2].attributes["ReturnValue"] == 3


def test_a_signal_is_no_return_value(tmp_path: Path) -> None:
    """Abnormal termination."""
    ad = ClassAd({**OURS, "UserLog": str(tmp_path / "job.log"), "ExitBySignal": True, "ExitSignal": 9})
    assert UserLogs(tmp_path, accounts=PEOPLE.get)(ad, event(EventType.JOB_TERMINATED, JOB, ad, NOW))
    (found,) = read_events((tmp_path / "job.log").read_text())
    assert (found.attributes["TerminatedNormally"], found.attributes["TerminatedBySignal"]) == (False, 9)


def test_a_job_without_a_log_is_no_fault(tmp_path: Path) -> None:
    """Nothing is written, and that is well."""
    for name in ("/dev/null", None):
        ad = ClassAd({} if name is None else {"UserLog": name})
        assert UserLogs(tmp_path, accounts=PEOPLE.get)(ad, event(EventType.JOB_EVICTED, JOB, ad, NOW))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["fifo", "folder", "n" * 5000])
def test_what_is_no_file_is_no_log(tmp_path: Path, name: str) -> None:
    """A fifo keeps nobody waiting, with a reader or without."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    ad = ClassAd({**OURS, "UserLog": name, "Iwd": str(tmp_path)})
    assert not UserLogs(tmp_path, accounts=PEOPLE.get)(ad, event(EventType.JOB_EVICTED, JOB, ad, NOW))
    reader = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    assert not UserLogs(tmp_path, accounts=PEOPLE.get)(ad, event(EventType.JOB_EVICTED, JOB, ad, NOW))
    os.close(reader)


@pytest.mark.parametrize("name", ["../elsewhere.log", "/etc/elsewhere.log", "link.log", "missing/job.log"])
def test_no_file_outside_the_folder_is_written(tmp_path: Path, name: str) -> None:
    """By whatever way; it is said that the log could not be written."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "link.log").symlink_to(tmp_path / "target.log")
    ad = ClassAd({**OURS, "UserLog": name, "Iwd": str(folder)})
    assert not UserLogs(folder, accounts=PEOPLE.get)(ad, event(EventType.JOB_EVICTED, JOB, ad, NOW))
    assert not (tmp_path / "target.log").exists()
    assert not (tmp_path / "elsewhere.log").exists()


# Whose log it is


def aborted(folder: Path, log: object, reason: str = "done", **more: object) -> tuple[bool, list[Diagnostic]]:
    """Have a job of alice's removed; say whether that is in its log, and why not."""
    said: list[Diagnostic] = []
    ad = ClassAd({"Owner": "alice", "UserLog": str(log), "RemoveReason": reason, **more})
    logs = UserLogs(folder, accounts=PEOPLE.get, report=said.append)
    return logs(ad, event(EventType.JOB_ABORTED, JOB, ad, NOW)), said


@as_root
def test_a_log_is_the_owners(commons: Path) -> None:
    """It is made by him, in a folder of his, and not by root."""
    log = home(commons, ALICE) / "job.log"
    assert aborted(commons, log) == (True, [])
    assert (log.stat().st_uid, log.stat().st_gid, log.stat().st_mode & 0o777) == (ALICE.uid, ALICE.gid, 0o644)
    log.chmod(0o600)
    assert aborted(commons, log) == (True, [])
    assert len(list(read_events(log.read_text()))) == 2


@as_root
@pytest.mark.parametrize("way", ["path", "link", "folder", "second name"])
def test_root_writes_nothing_for_a_user_that_he_may_not_write(commons: Path, way: str) -> None:
    """A reason that alice gives is no line of bob's authorized_keys, by whatever way she names the file."""
    victim = home(commons, BOB) / "authorized_keys"
    victim.write_text("ssh-ed25519 bob\n")
    os.chown(victim, BOB.uid, BOB.gid)
    victim.chmod(0o644)
    mine = home(commons, ALICE)
    log = mine / "way" / "authorized_keys" if way == "folder" else mine / "log"
    if way == "path":
        log = victim
    elif way == "second name":
        os.link(victim, log)
    else:
        (mine / ("way" if way == "folder" else "log")).symlink_to(victim.parent if way == "folder" else victim)
    written, said = aborted(commons, log, "ssh-ed25519 alice")
    assert not written
    assert [each.kind for each in said] == ["file-denied"]
    assert "as alice: Permission denied" in said[0].message
    assert victim.read_text() == "ssh-ed25519 bob\n"


@pytest.mark.parametrize("owner", ["nobody-knows-him", "", None])
def test_nothing_is_written_for_a_user_whom_the_system_does_not_know(commons: Path, owner: str | None) -> None:
    """Nor for a job that does not say whose it is."""
    more: dict[str, object] = {} if owner is None else {"Owner": owner}
    ad = ClassAd({"UserLog": str(commons / "log"), **more})
    said: list[Diagnostic] = []
    logs = UserLogs(commons, accounts=PEOPLE.get, report=said.append)
    for _ in range(3):
        assert not logs(ad, event(EventType.JOB_EVICTED, JOB, ad, NOW))
    assert [each.kind for each in said] == ["no-account"]
    assert list(commons.iterdir()) == []


def test_a_user_writes_logs_of_his_own_jobs_alone(commons: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What he may write others could name as a log of theirs."""
    if IS_ROOT:
        monkeypatch.setattr("crondor.rights.replacing.is_root", lambda: False)
        monkeypatch.setattr("crondor.rights.replacing.current_user", lambda: BOB.uid)
    written, said = aborted(commons, commons / "log")
    assert (written, [each.kind for each in said]) == (False, ["no-rights"])
    assert list(commons.iterdir()) == []


def test_an_owner_that_the_ad_alone_names_does_not_count(commons: Path) -> None:
    """Older schedds take OsUser from any submit file."""
    log = commons / "log"
    written, _ = aborted(commons, log, OsUser="me")
    assert (written, log.exists()) == (False, False)


def test_a_folder_that_becomes_a_link_at_the_last_moment_leads_nowhere(
    commons: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also to a file that the same user may write: it is not below the folder that is allowed."""
    victim = commons / "victim"
    victim.mkdir()
    (victim / "log").write_text("mine")
    logs = commons / "home"
    (logs / "alice").mkdir(parents=True)
    ad = ClassAd({**OURS, "UserLog": str(logs / "alice/log")})
    write = UserLogs(logs, accounts=PEOPLE.get)
    swapping(monkeypatch, os.path, "realpath", link_in_place(logs / "alice", victim))
    swap = os.path.realpath
    monkeypatch.setattr(os.path, "realpath", lambda path, **more: swap(path, **more) if "log" in str(path) else path)
    assert not write(ad, event(EventType.JOB_EVICTED, JOB, ad, NOW))
    assert (logs / "alice").is_symlink()
    assert (victim / "log").read_text() == "mine"


def test_no_text_of_a_job_makes_a_line_of_a_log(tmp_path: Path) -> None:
    """Whatever ends lines, or acts on a terminal, stands there as an escape."""
    reason = "x\n...\n000 (001.000.000) 2026-01-01 00:00:00 Job submitted\r\x0b\x0c\x1b[2J\x85\u2028\u2029y"
    ad = ClassAd({**OURS, "UserLog": str(tmp_path / "log"), "RemoveReason": reason, "HoldReason": reason})
    for kind in (EventType.JOB_ABORTED, EventType.JOB_HELD):
        assert UserLogs(tmp_path, accounts=PEOPLE.get)(ad, event(kind, JOB, ad, NOW))
    text = (tmp_path / "log").read_text()
    assert [each.number for each in read_events(text)] == [9, 12]
    assert len(text.splitlines()) == len(text.split("\n")) - 1 == 7
