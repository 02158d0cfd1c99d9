"""How far a long command is: on a terminal alone, gone at the end, and cleared by Ctrl-C."""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import click
import pytest

from crondor_cli.kit import progress as progress_
from crondor_cli.kit.progress import Progress, run_on_changes
from crondor_cli.kit.screen import StatusLine, say
from crondor_cli.main import cli
from tests.cli.running import EXAMPLES, PROGRAM, crondor
from tests.cli.terminal import CTRL_C, Seen, on_screen
from tests.cli.test_alike import COMMANDS, everything

RULES = "SET Site 1\n"
AD = "ClusterId = 1\nProcId = 0\n\n"
ENDLESS = {"run", "monitor", "route run", "hook run", "hook daemon-cron"}


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """Return a pipe that nobody writes into yet: whoever reads it takes as long as the test wants."""
    (tmp_path / "rules").write_text(RULES, encoding="utf-8")
    found = tmp_path / "jobs.ads"
    os.mkfifo(found)
    return found


class Writer(threading.Thread):
    """Opens a pipe, and writes into it when it is told to."""

    def __init__(self, path: Path) -> None:
        """Take the pipe; ``start`` opens it, for which a reader is needed."""
        super().__init__(daemon=True)
        self._path = path
        self.go = threading.Event()

    def run(self) -> None:
        """Write one ad, if somebody reads it still."""
        with suppress(BrokenPipeError), self._path.open("w", encoding="utf-8") as file:
            file.flush()
            self.go.wait(180)
            file.write(AD)


def transform(
    pipe: Path,
    *,
    columns: int = 80,
    stdout: int | None = None,
    react: Callable[[str, int], None] | None = None,
    env: Mapping[str, str | None] | None = None,
) -> Seen:
    """Run a command on a terminal that reads the pipe, which the shell has opened for it."""
    program = ("sh", "-c", 'exec 9<"$0"; exec "$@"', str(pipe), *PROGRAM)
    return on_screen(
        "classad",
        "transform",
        "--rules",
        str(pipe.parent / "rules"),
        "/dev/fd/9",
        columns=columns,
        stdout=stdout,
        react=react,
        program=program,
        env=env,
    )


def test_a_long_command_says_so_and_leaves_its_output_alone(pipe: Path) -> None:
    """The line is drawn while it reads, and nothing of it is left."""
    writer = Writer(pipe)
    writer.start()

    def react(sent: str, _: int) -> None:
        if "reading 9" in sent:
            writer.go.set()

    seen = transform(pipe, react=react)
    assert "reading 9" in seen.sent
    assert (seen.status, seen.screen) == (0, ["ClusterId = 1", "ProcId = 0", "Site = 1"])


@pytest.mark.parametrize("columns", [20, 80])
def test_ctrl_c_leaves_a_clean_screen(pipe: Path, columns: int) -> None:
    """Neither the line nor ^C is left, the status is 130; a narrow terminal has a short line."""
    writer = Writer(pipe)
    writer.start()
    typed: list[int] = []

    def react(sent: str, keys: int) -> None:
        if "reading" in sent and not typed:
            typed.append(os.write(keys, CTRL_C))

    seen = transform(pipe, react=react, columns=columns)
    writer.go.set()
    assert "^C" in seen.sent
    assert (seen.status, seen.screen) == (130, [""])


@pytest.mark.parametrize("changes", [{"TERM": "dumb"}, {"pipe": "1"}])
def test_nothing_is_drawn_where_it_would_be_in_the_way(pipe: Path, changes: dict[str, str]) -> None:
    """A dumb terminal cannot take a line back; the reader of a pipe, a pager perhaps, has the terminal for itself."""
    writer = Writer(pipe)
    writer.start()
    writer.go.set()
    if "pipe" in changes:
        reader, output = os.pipe()
        seen = transform(pipe, stdout=output)
        for each in (reader, output):
            os.close(each)
        assert seen.sent == ""
    else:
        seen = transform(pipe, env=changes)
        assert "\x1b" not in seen.sent


def test_every_command_that_ends_says_how_far_it_is() -> None:
    """One that runs until it is told to end does not."""
    assert {path for path, command in everything(cli) if getattr(command, "is_endless", None)} == ENDLESS
    assert all(hasattr(command, "is_endless") for command in COMMANDS.values())


@pytest.mark.parametrize(("words", "is_wanted"), [((), True), (("-q",), False)])
def test_quiet_is_quiet(words: tuple[str, ...], is_wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever wants to see errors alone does not want to see this."""
    asked = []
    monkeypatch.setattr(progress_.PROGRESS, "start", lambda *, is_wanted: asked.append(is_wanted))
    crondor("check", *words, str(EXAMPLES[0]))
    assert asked == [is_wanted]


def line(done: int, total: int | None, unit: str, columns: int = 100, now: float = 0.0) -> str:
    """Return what is drawn of a stage that began at 0 s."""
    made = Progress()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: 0.0)
        made.begin("checking", total, unit)
    made.reach(done)
    return made.line(now, columns)


def test_the_line_says_how_much_is_done_and_how_long_it_still_takes() -> None:
    """As much of it as fits, without the last column, where a terminal would begin a new line."""
    whole = "checking  [#####-----------------]   25 %  250 of 1,000 files  4 s  12 s left"
    assert line(250, 1000, "files", now=4.0) == whole
    assert line(250, 1000, "files", columns=len(whole), now=4.0) == whole.removesuffix("  12 s left")
    assert line(250, 1000, "files", columns=30, now=4.0) == "checking"
    assert line(250, 1000, "", now=1.0) == "checking  [#####-----------------]   25 %  1 s"
    assert line(0, 1, "files", now=2.0) == "checking  [----------------------]    0 %  0 of 1 file  2 s"
    assert line(2000, 1000, "", now=1.0) == "checking  [######################]  100 %  1 s"


def test_without_an_end_the_line_counts() -> None:
    """What is done, and the seconds."""
    assert line(0, None, "ads", now=2.0) == "checking  2 s"
    assert line(1500, None, "ads", now=2.0) == "checking  1,500 ads  2 s"
    assert line(1, None, "ads", now=2.0) == "checking  1 ad  2 s"
    assert line(0, 0, "files", now=2.0) == "checking  2 s"


def test_counted_items_may_have_stages_of_their_own() -> None:
    """After each the outer stage is back."""
    made = Progress()
    lines = []
    for item in made.counted(["a", "b"], "reading", "files"):
        lines.append(made.line(0.0, 100).partition("  ")[0])
        made.begin(f"counting {item}", 7)
    assert lines == ["reading", "reading"]
    assert (made.line(0.0, 100)[:7], made.done) == ("reading", 2)


def test_nothing_is_drawn_behind_a_line_that_has_not_ended(capsys: pytest.CaptureFixture[str]) -> None:
    """It would be written over."""
    status = StatusLine()
    status.open()
    with status:
        status.spoke("half a line")
    status.draw("checking")
    assert capsys.readouterr().err == ""
    with status:
        status.spoke("the rest\n")
    status.draw("checking")
    status.draw("checking")
    assert capsys.readouterr().err == "\r\x1b[Kchecking"
    status.close()
    assert capsys.readouterr().err == "\r\x1b[K"
    status.draw("checking")
    assert capsys.readouterr().err == ""


@pytest.fixture
def changes(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Have two changes seen, and return which folders were watched."""
    seen: list[tuple[str, ...]] = []

    def watch(*folders: str, **_: object) -> Iterator[object]:
        seen.append(folders)
        yield from ({1}, {2})

    monkeypatch.setattr("watchfiles.watch", watch)
    return seen


def test_a_command_runs_at_first_and_after_each_change(
    changes: list[tuple[str, ...]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And goes on where it finds something, or cannot read its input."""
    ends = iter([click.exceptions.Exit(1), click.UsageError("no file"), None])

    def once() -> None:
        say("looked")
        end = next(ends)
        if end is not None:
            raise end

    (tmp_path / "jobs").mkdir()
    run_on_changes(once, [str(tmp_path / "a.sub"), str(tmp_path / "b.sub"), str(tmp_path / "jobs")])
    shown = capsys.readouterr()
    assert shown.out == "looked\n" * 3
    assert "no file" in shown.err
    assert shown.err.count("Watching 2 folders; Ctrl-C ends it.") == 3
    assert changes == [(str(tmp_path), str(tmp_path / "jobs"))]


@pytest.mark.parametrize("paths", [["-"], ["nowhere/job.sub"]])
def test_what_cannot_be_watched_is_refused(paths: list[str]) -> None:
    """Before anything runs."""
    with pytest.raises(click.UsageError, match="--watch"):
        run_on_changes(lambda: pytest.fail("it ran"), paths)


def test_without_its_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """And nothing runs."""
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(click.UsageError, match="which is not installed"):
        run_on_changes(lambda: pytest.fail("it ran"), [str(tmp_path)])
