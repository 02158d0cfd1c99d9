"""User logs, followed: what is new, in every form, and nothing that a job may not name."""

import os
from datetime import timezone
from pathlib import Path

import pytest

from crondor.classad.ad import ClassAd
from crondor.monitor import UserLogFollower

NOW = 1_795_586_400

TEXT = "{number:03} (007.000.000) 2026-11-25 06:00:{second:02} Job {what}\n...\n"
XML = """\
<c>
<a n="EventTypeNumber"><i>{0}</i></a>
<a n="Cluster"><i>7</i></a>
<a n="Proc"><i>0</i></a>
<a n="EventTime"><s>2026-11-25T06:00:0{1}</s></a>
</c>
"""


def event(number: int, second: int, what: str = "executing on host: <127.0.0.1:9618>") -> str:
    """Return an event in text form."""
    return TEXT.format(number=number, second=second, what=what)


def found(follower: UserLogFollower, path: Path) -> list[tuple[int, int]]:
    """Return number and second of the events that are new in a log."""
    ad = ClassAd({"ClusterId": 7, "ProcId": 0, "Iwd": str(path.parent), "UserLog": path.name})
    return [(each.number, int(each.time) % 60) for each in follower.events([ad, ad], NOW)]


def test_only_what_is_new_is_read(tmp_path: Path) -> None:
    """An event that is still written waits until it is whole; a log that is not there yet is no fault."""
    log, follower = tmp_path / "job.log", UserLogFollower([tmp_path])
    assert found(follower, log) == []
    log.write_text(event(0, 1, "submitted from host: <127.0.0.1:9618>") + event(1, 2)[:-3])
    assert found(follower, log) == [(0, 1)]
    with log.open("a") as file:
        file.write(event(1, 2)[-3:] + event(4, 9, "was evicted."))
    assert found(follower, log) == [(1, 2), (4, 9)]
    assert found(follower, log) == []
    assert follower.diagnostics == ()


def test_a_log_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    """Another file, or the same with other bytes; also one that is shorter now."""
    log, follower = tmp_path / "job.log", UserLogFollower([tmp_path])
    log.write_text(event(0, 1) * 5)
    assert len(found(follower, log)) == 5
    log.rename(tmp_path / "job.log.old")
    log.write_text(event(1, 2))
    assert found(follower, log) == [(1, 2)]
    log.write_text(event(1, 3))
    assert found(follower, log) == [(1, 3)]
    log.write_text("")
    assert found(follower, log) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            '{"EventTypeNumber": 1, "EventTime": "2026-11-25T06:00:02", "Cluster": 7, "Proc": 0, "Subproc": 0}\n',
            '{"EventTypeNumber": 4, "EventTime": "2026-11-25T06:00:09", "Cluster": 7, "Proc": 0, "Subproc": 0}\n',
        ),
        ("<classads>\n" + XML.format(1, 2), XML.format(4, 9)),
    ],
)
def test_logs_as_json_and_xml(tmp_path: Path, first: str, second: str) -> None:
    """As they grow."""
    log, follower = tmp_path / "job.log", UserLogFollower([tmp_path])
    log.write_text(first + second[:20])
    assert found(follower, log) == [(1, 2)]
    log.write_text(first + second)
    assert found(follower, log) == [(4, 9)]


def test_of_a_long_log_the_end_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than its bound, from the first event that is whole there."""
    most = 10_000
    monkeypatch.setattr("crondor.monitor.user_logs.MOST_BYTES", most)
    log, follower = tmp_path / "job.log", UserLogFollower([tmp_path])
    one = event(1, 2)
    log.write_text(event(0, 1) + one * (most // len(one)) + event(4, 9))
    events = found(follower, log)
    assert events[-1] == (4, 9)
    assert (0, 1) not in events
    assert 0 < most // len(one) + 1 - len(events) < 3


@pytest.mark.parametrize("name", ["/etc/passwd", "../job.log", "link", "pipe", "folder", "/dev/zero"])
def test_a_job_names_no_file_that_is_not_allowed(tmp_path: Path, name: str) -> None:
    """Outside of the folders, over a link, a pipe that nobody writes to, a folder, a device: nothing is read."""
    folder = tmp_path / "in"
    (folder / "folder").mkdir(parents=True)
    (tmp_path / "job.log").write_text(event(1, 2))
    (folder / "link").symlink_to(tmp_path / "job.log")
    os.mkfifo(folder / "pipe")
    follower = UserLogFollower([folder], timezone.utc)
    ad = ClassAd({"ClusterId": 7, "ProcId": 0, "Iwd": str(folder), "UserLog": name})
    for told in (1, 0):  # once
        assert list(follower.events([ad], NOW)) == []
        assert len(follower.diagnostics) == told


def test_what_is_no_event_is_told_once(tmp_path: Path) -> None:
    """And the events around it count."""
    log, follower = tmp_path / "job.log", UserLogFollower([tmp_path])
    log.write_text(event(1, 2) + "garbage\n...\n" + event(4, 9))
    assert found(follower, log) == [(1, 2), (4, 9)]
    assert len(follower.diagnostics) == 1
    with log.open("a") as file:
        file.write("garbage\n...\n")
    assert found(follower, log) == []


@pytest.mark.parametrize("old", ["job.log.old", "job.log.1", "job.log-20261125"])
def test_a_rotated_log_is_read_to_its_end(tmp_path: Path, old: str) -> None:
    """What came before the rotation and after it, once each; also where there is no new one yet."""
    log, follower = tmp_path / "job.log", UserLogFollower([tmp_path])
    log.write_text(event(0, 1))
    assert found(follower, log) == [(0, 1)]
    log.write_text(event(0, 1) + event(1, 2))
    log.rename(tmp_path / old)
    assert found(follower, log) == [(1, 2)]
    log.write_text(event(4, 3))
    assert found(follower, log) == [(4, 3)]
    assert found(follower, log) == []


def test_a_rotated_log_that_the_next_rotation_replaces(tmp_path: Path) -> None:
    """The one that was read is gone; what came after it was never read under its own name."""
    log, follower = tmp_path / "job.log", UserLogFollower([tmp_path])
    for number in range(1, 4):
        log.write_text(event(1, number))
        log.rename(tmp_path / "job.log.old")
        assert found(follower, log) == [(1, number)]


def test_several_rotations_between_two_looks(tmp_path: Path) -> None:
    """All of the logs are read, the oldest first."""
    log, follower = tmp_path / "job.log", UserLogFollower([tmp_path])
    log.write_text(event(0, 1))
    assert found(follower, log) == [(0, 1)]
    for number in range(1, 4):
        with log.open("a") as file:
            file.write(event(1, 10 * number))
        name = tmp_path / f"job.log.{4 - number}"
        log.rename(name)
        os.utime(name, (NOW + number, NOW + number))
    log.write_text(event(4, 40))
    assert found(follower, log) == [(1, 10), (1, 20), (1, 30), (4, 40)]


def test_a_log_tells_of_no_job_that_does_not_name_it(tmp_path: Path) -> None:
    """Whoever may write it could tell of anybody's job."""
    log, follower = tmp_path / "job.log", UserLogFollower([tmp_path])
    log.write_text(event(0, 1) + event(1, 2).replace("(007", "(008"))
    assert found(follower, log) == [(0, 1)]


def test_a_job_that_has_left_is_read_once_more(tmp_path: Path) -> None:
    """Its end is written when it leaves; then its log is forgotten."""
    log, follower = tmp_path / "job.log", UserLogFollower([tmp_path])
    log.write_text(event(0, 1))
    assert found(follower, log) == [(0, 1)]
    with log.open("a") as file:
        file.write(event(5, 2, "terminated."))
    assert [each.number for each in follower.events([], NOW)] == [5]
    with log.open("a") as file:
        file.write(event(0, 3))
    assert list(follower.events([], NOW)) == []
