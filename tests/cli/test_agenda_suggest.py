"""`crondor agenda --suggest`: other minutes, as tables, JSON, a picture and a diff, and put into the files."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Write
from tests.cli.running import Result, at_now

STAYS = "on_exit_remove = false"


def suggest(*arguments: str, stdin: str = "") -> Result:
    """Run `crondor agenda --suggest` at NOW, in Berlin."""
    return at_now("agenda", "--suggest", "--tz", "Europe/Berlin", *arguments, stdin=stdin)


@pytest.fixture
def files(write: Write) -> list[str]:
    """Return four files at two o'clock."""
    lines = ("shell = date", "cron_minute = 0   ", "cron_hour = 2", STAYS, "queue")
    return [write(*lines, name=f"{name}.sub") for name in "abcd"]


def test_before_and_after_stand_beside_each_other(files: list[str]) -> None:
    """The peaks, the busiest minutes, from-to with the reason, a diff; nothing is written, and the status is 1."""
    texts = [Path(path).read_text(encoding="utf-8") for path in files]
    result = suggest(*files)
    assert result.status == 1
    assert "most starts in a minute       4      1" in result.lines
    assert "Busiest minutes before" in result.lines
    assert "Busiest minutes after" in result.lines
    assert result.out.count(": at most 1 start in its minutes, not 4") == 3  # the last one has the minute for itself
    assert result.out.count("\n-cron_minute = 0   \n+cron_minute = ") == 3
    assert result.err == "3 files would change; --write changes them\n"
    assert [Path(path).read_text(encoding="utf-8") for path in files] == texts
    assert suggest(*files) == result


def test_written_once_there_is_nothing_left(files: list[str]) -> None:
    """Only the values change, and all that follows them stays; the second time is idle."""
    before = [Path(path).read_text(encoding="utf-8").splitlines() for path in files]
    result = suggest("--write", *files)
    assert (result.status, result.err) == (0, "3 files changed\n")
    after = [Path(path).read_text(encoding="utf-8").splitlines() for path in files]
    for old, new in zip(before, after, strict=True):
        assert [*old[:1], *old[2:]] == [*new[:1], *new[2:]]
        assert new[1].endswith("   ")
    assert len({new[1] for new in after}) == 4
    again = suggest(*files)
    assert again.status == 0
    assert "Nothing to move: no other minutes are better" in again.lines


@pytest.mark.skipif(shutil.which("patch") is None, reason="patch(1) is not there")
def test_the_diff_is_one_for_patch(files: list[str], tmp_path: Path) -> None:
    """It does what --write does."""
    shown = suggest(*files).out
    copies = tmp_path / "copies"
    copies.mkdir()
    for path in files:
        shutil.copy(path, copies)
    subprocess.run(["patch", "-p0", "--quiet"], input=shown.encode(), cwd="/", check=True)  # noqa: S607 - on the path
    patched = [Path(path).read_bytes() for path in files]
    suggest("--write", *(str(copies / Path(path).name) for path in files))
    assert [(copies / Path(path).name).read_bytes() for path in files] == patched


def test_the_folder_does_not_matter(files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same from wherever the files are named."""
    one = suggest("--format", "json", *files).data["suggestion"]["moves"]
    monkeypatch.chdir(tmp_path)
    assert suggest("--format", "json", *(Path(path).name for path in files)).data["suggestion"]["moves"] == one


def test_json_has_it_beside_the_agenda(files: list[str]) -> None:
    """Jobs by their positions; --write says that it has written."""
    found = suggest("--format", "json", *files)
    suggestion = found.data["suggestion"]
    assert found.status == 1
    assert (suggestion["before"]["most_starts"], suggestion["after"]["most_starts"]) == (4, 1)
    assert sorted(move["jobs"][0] for move in suggestion["moves"]) == [1, 2, 3]
    assert suggestion["files"] == files[1:]
    assert suggestion["written"] is False
    assert suggest("--format", "json", "--write", *files).data["suggestion"]["written"] is True
    assert "suggestion" not in at_now("agenda", "--format", "json", *files).data


def test_hours_move_only_when_asked(files: list[str]) -> None:
    """With --hours, as far as it says, in the text, the diff, the JSON and the files; nothing else changes."""
    long = ("--run-time", "3000")
    assert "+cron_hour" not in suggest(*long, *files).out
    result = suggest("--hours", "2", *long, *files)
    assert "Proposed for cron_minute and cron_hour" in result.lines
    assert "  hour 2 -> 3  a better time: " in result.out
    data = suggest("--hours", "2", "--format", "json", *long, *files).data["suggestion"]
    proposed = {move["proposed_hour"] for move in data["moves"]}
    assert {move["hour"] for move in data["moves"]} == {"2"}
    assert proposed - {"2"}
    assert proposed <= {"0", "1", "2", "3", "4"}
    before = [Path(path).read_text(encoding="utf-8").splitlines() for path in files]
    assert suggest("--write", "--hours", "2", *long, *files).status == 0
    after = [Path(path).read_text(encoding="utf-8").splitlines() for path in files]
    for old, new in zip(before, after, strict=True):
        assert [old[0], *old[3:]] == [new[0], *new[3:]]
    assert {line[2].removeprefix("cron_hour = ") for line in after} - {"2"} == proposed - {"2"}


def test_an_hour_that_others_use_stays(write: Write) -> None:
    """Where something is made of it, where it is a macro's, or not all of its jobs share the minute."""
    head = ("shell = date", "cron_minute = 0")
    other = [write(*head, "cron_hour = 2", STAYS, "queue", name="a.sub")]
    other += [write(*head, "cron_hour = 2", "arguments = $(cron_hour)", STAYS, "queue", name="b.sub")]
    other += [write(*head, "h = 2", "cron_hour = $(h)", STAYS, "queue", name="c.sub")]
    twice = ("cron_hour = 2", STAYS, "queue", "cron_minute = 1", "queue")
    other += [write(*head, *twice, name="d.sub")]
    data = suggest("--hours", "3", "--run-time", "3000", "--format", "json", *other).data
    moves = [move for move in data["suggestion"]["moves"] if move["hour"] != move["proposed_hour"]]
    assert {Path(data["jobs"][move["jobs"][0]]["name"]).name for move in moves} == {"a.sub"}


def test_what_must_not_move_stays_and_says_why(write: Write) -> None:
    """By a comment, by a macro, by what is made of it, by its requirements, by a compiled schedule, and by --pin."""
    paths = {
        "free": write("cron_minute = 0", "cron_hour = 2", "queue", name="free.sub"),
        "named": write("cron_minute = 0", "cron_hour = 2", "queue", name="named.sub"),
        "comment": write("# crondor: ignore[CRN101]", "cron_minute = 0", "cron_hour = 2", "queue", name="comment.sub"),
        "macro": write("m = 0", "cron_minute = $(m)", "cron_hour = 2", "queue", name="macro.sub"),
        "used": write("cron_minute = 0", "cron_hour = 2", "arguments = $(cron_minute)", "queue", name="used.sub"),
        "asks": write(
            "cron_minute = 0", "cron_hour = 2", "requirements = DeferralTime % 7200 == 0", "queue", name="asks.sub"
        ),
        "compiled": write(
            "# crondor: schedule = 0 2 * * *",
            "other = 1",
            "cron_minute = 0",
            "cron_hour = 2",
            "queue",
            name="compiled.sub",
        ),
        "none": write("cron_hour = 2", "queue", name="none.sub"),
    }
    found = suggest("--format", "json", "--pin", "named.sub", *paths.values()).data
    names = list(paths)
    reasons = {names[each["job"]]: each["reason"] for each in found["suggestion"]["fixed"]}
    assert reasons == {
        "named": "--pin names it",
        "comment": "the crondor comment in line 1 is about it",
        "macro": "its cron_minute is not written out in its file",
        "used": "something else in its file depends on its minute",
        "asks": "its requirements ask for its DeferralTime",
        "compiled": "its file is compiled from a schedule: change that",
        "none": "its file sets no cron_minute",
    }
    assert [move["jobs"] for move in found["suggestion"]["moves"]] == [[0]]


def test_a_file_in_which_more_would_change_is_left_as_it_is(write: Write) -> None:
    """Whatever names the minute in a way that cannot be seen shows when the file is read with another one."""
    free = write("cron_minute = 0", "cron_hour = 2", "queue", name="free.sub")
    lines = ("x = minute", "arguments = $(cron_$(x))", "cron_minute = 0", "cron_hour = 2", "queue")
    hidden = [write(*lines, name=f"{name}.sub") for name in "ab"]
    result = suggest("--write", free, *hidden)
    assert result.status == 1
    assert "other minutes would also change arguments, so the file is not changed" in result.err
    assert "cron_minute = 0" in Path(hidden[0]).read_text(encoding="utf-8")
    assert "cron_minute = 0" in Path(hidden[1]).read_text(encoding="utf-8")


def test_a_file_with_an_error_is_left_alone(write: Write) -> None:
    """One of its jobs cannot be counted, so nobody knows what its minute does."""
    good = write("cron_minute = 0", "cron_hour = 2", "queue", name="good.sub")
    half = write("cron_minute = 0", "cron_hour = 2", "queue", "cron_hour = 99", "queue", name="half.sub")
    found = suggest("--format", "json", good, half)
    assert found.status == 1
    assert {each["reason"] for each in found.data["suggestion"]["fixed"]} == {"its file has an error"}
    assert found.data["suggestion"]["files"] == [good]


def test_spacing_is_kept_in_a_list_that_the_schedd_reads_alike(write: Write) -> None:
    """Every quarter of an hour stays that."""
    path = write("cron_minute = */15", "queue", name="a.sub")
    other = write("# crondor: ignore[CRN101]", "cron_minute = 0,15,30,45", "queue", name="b.sub")
    suggest("--write", path, other)
    text = Path(path).read_text(encoding="utf-8").splitlines()[0].removeprefix("cron_minute = ")
    minutes = [int(each) for each in text.split(",")]
    assert minutes == [minutes[0] + 15 * n for n in range(4)]
    assert 0 < minutes[0] < 15


def test_a_lone_job_and_no_job(write: Write) -> None:
    """Nothing to do is fine; no job with a time is the finding that it always is."""
    lone = suggest(write("cron_minute = 0", "queue"))
    assert lone.status == 0
    assert "Nothing to move" in lone.out
    assert suggest(write("queue")).status == 1


def test_standard_input_can_be_shown_and_not_written() -> None:
    """A diff for a pipe; --write says why not, with the status of a file that cannot be written."""
    text = "cron_minute = 0\ncron_hour = 2\nqueue\ncron_hour = 2-3\ncron_minute = 0\nqueue\n"
    assert suggest("-", stdin=text).out.count("\n+cron_minute = ") >= 1
    result = suggest("--write", "-", stdin=text)
    assert result.status == 2
    assert "standard input cannot be changed" in result.err


@pytest.mark.parametrize("option", [("--write",), ("--pin", "a.sub"), ("--run-time", "60"), ("--hours", "1")])
def test_what_goes_with_suggest_needs_it(option: tuple[str, ...], files: list[str]) -> None:
    """Wrong usage, and the files stay."""
    result = at_now("agenda", *option, *files)
    assert result.status == 2
    assert f"{option[0]} needs --suggest" in result.err


def test_a_pin_that_names_nothing_is_wrong_usage(files: list[str]) -> None:
    """A slip would move what should stay."""
    result = suggest("--pin", "e.sub", "--write", *files)
    assert result.status == 2
    assert "--pin 'e.sub' matches no job" in result.err
    assert "cron_minute = 0 " in Path(files[0]).read_text(encoding="utf-8")


def test_longer_runs_hold_more_slots(files: list[str]) -> None:
    """--run-time counts, in seconds."""
    short, long = (
        suggest("--format", "json", "--run-time", time, *files).data["suggestion"]["after"]["most_held"]
        for time in ("0", "7200")
    )
    assert short < long


def test_the_picture_is_drawn_and_the_same_twice(files: list[str], tmp_path: Path) -> None:
    """Before and after."""
    drawn = []
    for name in ("a.svg", "b.svg"):
        suggest("--plot", str(tmp_path / name), *files)
        drawn.append((tmp_path / name).read_bytes())
    assert drawn[0] == drawn[1]
    assert b"<svg" in drawn[0]
