"""A history that a schedd writes and rotates, followed: each job once, none left out."""

import os
from pathlib import Path

import pytest

from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic
from crondor.job_queue import HistoryFollower, QueueIO, history_files
from crondor.job_queue.history import history_record

NOW = 1_795_586_400


class Schedd:
    """Writes a history file, and rotates it as a schedd does."""

    def __init__(self, folder: Path) -> None:
        """Begin without one."""
        self.path = folder / "history"
        self._rotations = 0

    def leave(self, *clusters: int) -> None:
        """Write jobs."""
        with self.path.open("a") as file:
            for cluster in clusters:
                file.write(history_record(ClassAd({"ClusterId": cluster, "ProcId": 0}), file.tell(), NOW))

    def rotate(self) -> Path:
        """Give the file its other name."""
        self._rotations += 1
        name = self.path.with_name(f"history.20261125T06000{self._rotations}")
        self.path.rename(name)
        os.utime(name, (NOW + self._rotations, NOW + self._rotations))
        return name


class Reader:
    """What is new in a history, and what was said of it."""

    def __init__(self, path: Path) -> None:
        """Read nothing yet."""
        self.follower = HistoryFollower(path)
        self.found: list[Diagnostic] = []

    def poll(self) -> list[object]:
        """Return the clusters that are new."""
        return [ad.value("ClusterId") for ad in self.follower.poll(self.found.append)]


@pytest.fixture
def schedd(tmp_path: Path) -> Schedd:
    """Return one that has written nothing."""
    return Schedd(tmp_path)


@pytest.fixture
def reader(schedd: Schedd) -> Reader:
    """Return one that has read nothing."""
    return Reader(schedd.path)


def test_each_job_once(schedd: Schedd, reader: Reader) -> None:
    """Before there is a file, and as it grows."""
    assert reader.poll() == []
    schedd.leave(1, 2)
    assert reader.poll() == [1, 2]
    assert reader.poll() == []
    schedd.leave(3)
    assert reader.poll() == [3]


def test_what_is_there_may_be_left_out(schedd: Schedd, reader: Reader) -> None:
    """However long it is."""
    reader.follower.skip()
    schedd.leave(*range(1, 3000))
    reader.follower.skip()
    assert reader.poll() == []
    schedd.leave(3000)
    assert reader.poll() == [3000]


def test_a_record_that_is_still_written_waits(schedd: Schedd) -> None:
    """Until its banner is whole, wherever it is cut; also where what is there is left out."""
    schedd.leave(1, 2)
    whole = schedd.path.read_bytes()
    for cut in range(whole.index(b"*** ") + 4, len(whole)):
        schedd.path.write_bytes(whole[:cut])
        one, other = Reader(schedd.path), Reader(schedd.path)
        other.follower.skip()
        before = one.poll()
        schedd.path.write_bytes(whole)
        assert before + one.poll() == [1, 2]
        assert other.poll() == [1, 2][len(before) :]


def test_a_rotation_loses_none(schedd: Schedd, reader: Reader) -> None:
    """What was written before it, and what has come then; once, and also where there is no new file yet."""
    schedd.leave(1)
    assert reader.poll() == [1]
    schedd.leave(2)
    schedd.rotate()
    assert reader.poll() == [2]
    schedd.leave(3)
    assert reader.poll() == [3]
    assert reader.poll() == []
    assert reader.found == []


def test_several_rotations_between_two_polls(schedd: Schedd, reader: Reader) -> None:
    """All of the files, in their order; a later poll goes on in the last one."""
    schedd.leave(1)
    assert reader.poll() == [1]
    for number in range(2, 5):
        schedd.leave(number)
        schedd.rotate()
    schedd.leave(5)
    assert reader.poll() == [2, 3, 4, 5]
    schedd.leave(6)
    assert reader.poll() == [6]
    assert reader.found == []


def test_a_file_that_is_gone_before_its_end_was_read(schedd: Schedd, reader: Reader) -> None:
    """It is said, and reading goes on."""
    schedd.leave(1)
    assert reader.poll() == [1]
    schedd.leave(2)
    schedd.rotate().unlink()
    schedd.leave(3)
    assert reader.poll() == [3]
    assert [each.kind for each in reader.found] == ["history-rotated"]


def test_a_file_that_was_cut_is_read_anew(schedd: Schedd, reader: Reader) -> None:
    """One that is shorter than it was."""
    schedd.leave(1, 2)
    assert reader.poll() == [1, 2]
    schedd.path.write_text("")
    schedd.leave(3)
    assert reader.poll() == [3]


def test_a_rotation_at_the_begin(schedd: Schedd, reader: Reader) -> None:
    """Of a file that was not there when the others were left out, or had just got its other name."""
    schedd.leave(1)
    schedd.rotate()
    reader.follower.skip()
    other = Reader(schedd.path)
    schedd.leave(2)
    schedd.rotate()
    schedd.leave(3)
    assert reader.poll() == [2, 3]
    assert other.poll() == [1, 2, 3]


def test_other_names_beside_it_are_not_read(schedd: Schedd, reader: Reader) -> None:
    """Nor is what is no file."""
    schedd.leave(1)
    (schedd.path.parent / "history.20261125T070000").mkdir()
    (schedd.path.parent / "history_old").write_text("x")
    assert reader.poll() == [1]
    assert history_files(str(schedd.path)) == [str(schedd.path)]


def test_files_of_a_time(schedd: Schedd) -> None:
    """Those that were written to later, the oldest first, and the present one."""
    assert history_files(str(schedd.path)) == []
    rotated = []
    for number in range(1, 4):
        schedd.leave(number)
        rotated.append(str(schedd.rotate()))
    schedd.leave(4)
    assert history_files(str(schedd.path)) == [*rotated, str(schedd.path)]
    assert history_files(str(schedd.path), NOW + 2) == [*rotated[1:], str(schedd.path)]


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """A folder in its place; where it is the first time, there is no history."""
    reader = Reader(tmp_path / "history")
    schedd = Schedd(tmp_path)
    schedd.leave(1)
    assert reader.poll() == [1]
    schedd.path.unlink()
    schedd.path.mkdir()
    with pytest.raises(QueueIO, match="history cannot be read"):
        reader.poll()


def test_a_file_without_records_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it is: no more than a record's longest is held, and the records after it are found."""
    monkeypatch.setattr("crondor.job_queue.history._PIECE", 100)
    monkeypatch.setattr("crondor.job_queue.history._LONGEST", 1000)
    path = tmp_path / "history"
    path.write_bytes(b"x" * 100_000)
    assert Reader(path).poll() == []
    with path.open("a") as file:
        for cluster in (1, 2):
            file.write("\n" + history_record(ClassAd({"ClusterId": cluster, "ProcId": 0}), 0, NOW))
    assert Reader(path).poll()[-1:] == [2]
