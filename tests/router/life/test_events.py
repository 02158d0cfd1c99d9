"""The user log that the router writes: whole events, in the folder that is allowed, of every kind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from crondor.classad.ad import ClassAd
from crondor.event_log import EventType, read_events
from crondor.job_queue import JobId
from crondor.router.life import UserLogs
from crondor.router.life.events import event
from tests.router.life.scenes import NOW

JOB = JobId(7, 0)


def test_events_are_appended(tmp_path: Path) -> None:
    """A log's name is taken from the job's Iwd."""
    ad = ClassAd({"UserLog": "job.log", "Iwd": str(tmp_path), "RoutedToJobId": "8.0", "ExitCode": 3})
    write = UserLogs(tmp_path)
    for kind in (EventType.EXECUTE, EventType.JOB_EVICTED, EventType.JOB_TERMINATED):
        assert write(ad, event(kind, JOB, ad, NOW))
    found = list(read_events((tmp_path / "job.log").read_text()))
    assert [each.number for each in found] == [1, 4, 5]
    assert found[0].attributes["ExecuteHost"] == "8.0"
    assert found[2].attributes["ReturnValue"] == 3


def test_a_signal_is_no_return_value(tmp_path: Path) -> None:
    """Abnormal termination."""
    ad = ClassAd({"UserLog": str(tmp_path / "job.log"), "ExitBySignal": True, "ExitSignal": 9})
    assert UserLogs(tmp_path)(ad, event(EventType.JOB_TERMINATED, JOB, ad, NOW))
    (found,) = read_events((tmp_path / "job.log").read_text())
    assert (found.attributes["TerminatedNormally"], found.attributes["TerminatedBySignal"]) == (False, 9)


def test_a_job_without_a_log_is_no_fault(tmp_path: Path) -> None:
    """Nothing is written, and that is well."""
    for name in ("/dev/null", None):
        ad = ClassAd({} if name is None else {"UserLog": name})
        assert UserLogs(tmp_path)(ad, event(EventType.JOB_EVICTED, JOB, ad, NOW))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["fifo", "folder", "n" * 5000])
def test_what_is_no_file_is_no_log(tmp_path: Path, name: str) -> None:
    """A fifo keeps nobody waiting, with a reader or without."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    ad = ClassAd({"UserLog": name, "Iwd": str(tmp_path)})
    assert not UserLogs(tmp_path)(ad, event(EventType.JOB_EVICTED, JOB, ad, NOW))
    reader = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    assert not UserLogs(tmp_path)(ad, event(EventType.JOB_EVICTED, JOB, ad, NOW))
    os.close(reader)


@pytest.mark.parametrize("name", ["../elsewhere.log", "/etc/elsewhere.log", "link.log", "missing/job.log"])
def test_no_file_outside_the_folder_is_written(tmp_path: Path, name: str) -> None:
    """By whatever way; it is said that the log could not be written."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "link.log").symlink_to(tmp_path / "target.log")
    ad = ClassAd({"UserLog": name, "Iwd": str(folder)})
    assert not UserLogs(folder)(ad, event(EventType.JOB_EVICTED, JOB, ad, NOW))
    assert not (tmp_path / "target.log").exists()
    assert not (tmp_path / "elsewhere.log").exists()
