"""What goes to a terminal fits it, and what goes to a program keeps its lines."""

import io
import re
import shutil
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor._toml import TomlPlaces
from crondor.classad import ClassAdSyntaxError
from crondor.classad.ad import ClassAd
from crondor.classad.formats.reading import read_ad
from crondor.diagnostics import Diagnostic, Source, columns_of, render
from crondor.preview.runs import Rows, Runs
from crondor_cli.hook.run import ad_lines
from crondor_cli.kit.screen import PROSE, fitted, in_columns, padded, prose, screen_columns
from tests.cli.running import NOW, ROOT, crondor

WORDS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P")), min_size=1, max_size=12)
LINES = st.lists(WORDS, min_size=1, max_size=30).map(" ".join)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@given(LINES, st.integers(30, 120))
def test_no_line_is_wider_and_no_word_is_broken(line: str, columns: int) -> None:
    """Words keep their order; a line is wider than the screen only where one word is."""
    made = fitted(line, columns)
    assert made.split() == line.split()
    for part in made.splitlines():
        assert columns_of(part) <= columns or len(part.split()) == 1


def test_what_follows_stands_below_its_beginning() -> None:
    """A fact and a help go on below their text, not at the margin."""
    assert fitted("  timing     window 900 s, prep time 600 s, universe", 40).splitlines() == [
        "  timing     window 900 s, prep time 600",
        "             s, universe",
    ]
    assert fitted("    = help: write one complete expression of it", 40).splitlines() == [
        "    = help: write one complete",
        "            expression of it",
    ]


def test_colours_take_no_room() -> None:
    """Sequences that colour are no columns."""
    line = "\x1b[31m\x1b[1merror\x1b[0m: nothing"
    assert fitted(line, 20) == line


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("ก\u0e33", 2), ("👩", 2)])
def test_wide_characters_count_as_two_and_combining_ones_as_none(text: str, columns: int) -> None:
    """As a terminal shows them."""
    assert columns_of(text) == columns
    assert columns_of(padded(text, 9)) == 9


HEAD = ("job", "owner", "next start", "state")
ROWS = (("1.0", "alice", "Fri 2026-11-20 18:30", "idle"), ("12.0", "日本", "-", "held"), ("note",))


def table(columns: int | None, rows: Sequence[Sequence[str]] = ROWS) -> list[str]:
    """Return the table for a screen."""
    return in_columns(HEAD, rows, columns)


def test_a_wide_table_stacks_what_does_not_fit_and_loses_nothing() -> None:
    """The last columns go below their row, with their names."""
    wide, narrow = table(None), table(30)
    assert wide == [
        "job   owner  next start            state",
        "1.0   alice  Fri 2026-11-20 18:30  idle",
        "12.0  日本   -                     held",
        "      note",
    ]
    assert narrow == [
        "job   owner",
        "1.0   alice",
        "      next start: Fri 2026-11-20 18:30",
        "      state: idle",
        "12.0  日本",
        "      state: held",
        "      note",
    ]
    assert table(None) == table(80)


def test_what_says_nothing_is_not_stacked() -> None:
    """The caller knows which cells those are."""
    narrow = in_columns(HEAD, ROWS, 30, plain={"", "-", "idle"})
    assert "      state: idle" not in narrow
    assert "      state: held" in narrow


@pytest.mark.parametrize("columns", [None, 40, 60, 200])
def test_prose_is_wrapped_once_and_no_wider_than_people_read(columns: int | None) -> None:
    """The first line has a beginning of its own, and gaps inside stay."""
    text = "<  " + "a job that leaves the queue after its first run " * 5
    lines = prose(text.strip(), columns, "  ", "    ")
    most = PROSE if columns is None else min(PROSE, columns)
    assert max(map(len, lines)) <= most
    assert all(len(line) + len(after.split()[0]) + 1 > most for line, after in pairwise(lines))
    assert lines[0].startswith("  <  a job")
    assert all(line.startswith("    ") and line[4] != " " for line in lines[1:])
    assert fitted("\n".join(lines), columns or PROSE) == "\n".join(lines)


def test_only_a_terminal_has_a_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file and a pipe have none; COLUMNS overrules a terminal's."""
    monkeypatch.setenv("COLUMNS", "72")
    assert screen_columns(Terminal()) == 72
    assert screen_columns(io.StringIO()) is None
    assert screen_columns(None) is None
    monkeypatch.setenv("COLUMNS", "none")
    assert screen_columns(Terminal()) is None  # no descriptor, so no width


@given(st.text(max_size=200), st.integers(0, 200), st.integers(0, 60), st.integers(20, 120))
def test_an_excerpt_fits_and_its_underline_is_below_the_piece(text: str, start: int, size: int, columns: int) -> None:
    """However long the line of the file is, and whatever stands in it."""
    source = Source(re.sub(r"[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", " ", text) or "x", "f")
    start = min(start, len(source.text) - 1)
    span = source.span(start, min(len(source.text), start + size))
    _, line, below = render(Diagnostic("x", "message", span=span), columns).splitlines()
    widest = 1 if text.isascii() and text.isprintable() else len("\\U00010000")
    assert columns_of(line) <= max(columns, len("   1 | ......") + 20 * widest)
    plain = render(Diagnostic("x", "message", span=span)).splitlines()
    assert below.strip("| ^") == ""
    assert len(plain) == 3


# What is pasted

FILES = {
    "weekly.sub": (
        *("executable = weekly.sh", "cron_minute = 0,5,10,15,20,25,30,35", "cron_hour = 7", "cron_day_of_week = 1-5"),
        *("cron_prep_time = 20", "cron_window = 0", "on_exit_remove = false", "queue", ""),
    ),
    "same.sub": ("executable = weekly.sh", "cron_minute = 0", "on_exit_remove = false", "queue", ""),
    "bad.sub": ("executable = a", "cron_minute = 61", "queue", ""),
    "tab": (f"0,10,20,30,40,50 7 * * 1-5 /usr/local/bin/report --to {'a' * 30} --quiet --all -v", ""),
    "old.conf": (
        "JOB_ROUTER_ENTRIES @=end",
        f'[ Name = "A"; GridResource = "batch slurm {"x" * 40}"; Requirements = TARGET.RequestMemory <= 4096; ]',
        *("@end", ""),
    ),
    "new.conf": ("JOB_ROUTER_ROUTE_NAMES = A", "JOB_ROUTER_ROUTE_A @=end", "  UNIVERSE VANILLA", "@end", ""),
}
LONG = "every 5 minutes except 2026-12-24T10:00..2026-12-24T14:00"
NARROW = 20  # columns
FRIDAY = "last Friday of the month at 18:00 except 2026-12-25"
ROUTES = ("--config", "routes.conf", "routable.ads")
PASTED = [
    (("next", "weekly.sub"), "add to requirements:|canonical"),
    (("next", "--crontab", "*/7 */5 */3 */2 0"), "write:|portable"),
    (("explain", "weekly.sub"), "add to requirements:|canonical"),
    (("explain", "--crontab", "*/7 */5 */3 */2 0"), "write:|portable"),
    (("compile", FRIDAY), r"\w+ = "),
    (("compile", FRIDAY, "--format", "submit"), ""),
    (("compile", LONG, "--format", "submit", "--tz", "UTC"), ""),
    (("compile", FRIDAY, "--format", "json"), ""),
    (("check", "weekly.sub"), r" +[+-] "),
    (("check", "--fix", "weekly.sub"), r"[+-]\w"),
    (("check", "bad.sub", "--format", "github"), ""),
    (("check", "bad.sub", "--statistics", "--format", "github"), r"\|"),
    (("check", "bad.sub", "--format", "json"), ""),
    (("import", "crontab", "tab"), ""),
    (("export", "--to", "crontab", "weekly.sub", "--command", "echo a b c d e f g h i j k l m n o p q r s t u"), ""),
    (("next", "--at", "2026-12-24 18:00"), "deferral_time"),
    (("agenda", "same.sub", "weekly.sub", "--suggest"), r"[+-]\w|\w+ = "),
    (("simulate", "weekly.sub", "--transfer", "6m", "--days", "3"), r".*: change "),
    (("classad", "eval", 'strcat("a value of several words that is longer than the", " screen is wide")'), ""),
    (("route", "convert", "--config", "old.conf"), ""),
    (("route", "explain", "--summary", *ROUTES, "--format", "json"), ""),
    (("route", "apply", *ROUTES, "--format", "json"), ""),
    (("route", "apply", *ROUTES, "--diff"), ""),
    (("route", "diff", "old.conf", "new.conf", "--format", "markdown"), ""),
    (("route", "diff", "old.conf", "new.conf", "--format", "json"), ""),
    (("config", "service", "router", "--show", "--", "--live", "--config", "old.conf"), ""),
    (("config", "schema", "compile"), ""),
    (("next", "weekly.sub", "--format", "csv"), ""),
    (("next", "weekly.sub", "--format", "json"), ""),
    (("explain", "weekly.sub", "--format", "json"), ""),
]
CLOCKED = {"next", "explain", "compile", "check", "agenda", "simulate", "export", "import"}


@pytest.mark.parametrize(("arguments", "lines"), PASTED, ids=lambda each: " ".join(each)[:60])
def test_what_is_pasted_or_read_is_whole_on_a_narrow_terminal(
    arguments: tuple[str, ...], lines: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Submit lines, clauses, crontab lines, routes, diffs, data: each is one line, however long, as in a file."""
    shutil.copytree(ROOT / "examples", tmp_path, dirs_exist_ok=True)
    for name, text in FILES.items():
        (tmp_path / name).write_text("\n".join(text), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    clock = ("--now", NOW) if arguments[0] in CLOCKED else ()
    expected = [line for line in crondor(*arguments, *clock).lines if re.match(rf" *(?:{lines})", line)]
    assert max(map(len, expected)) > NARROW
    shown = re.sub(r"\x1b\[[0-9;]*[mK]", "", crondor(*arguments, *clock, columns=NARROW).out).splitlines()
    assert [line for line in expected if line not in shown] == []


CHECKOUT = Path(__file__).parents[2]
ODD = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
OWN = {  # whose texts are this project's own, or come without a number
    "cli/crondor_cli/kit/command.py",
    "crondor/knowledge/words.py",
}


@pytest.mark.parametrize("odd", ODD)
def test_a_line_feed_alone_ends_a_line(odd: str) -> None:
    """In TOML, in ads that are read, and in those that are shown."""
    source = Source(f'a = "x{odd}b = 3"\nb = 4\n')
    assert TomlPlaces(source).key("b").location == "<text>:2:1"
    with pytest.raises(ClassAdSyntaxError) as refused:
        read_ad(f'A = "x{odd}y"\n\nA = 2\n')
    span = refused.value.diagnostics[0].span
    assert span is not None
    assert span.location == "<text>:3:1"
    assert ad_lines(ClassAd({"A": f"x{odd}y", "B": 1})) == [f'A = "x{odd}y"', "B = 1"]


def test_nothing_else_cuts_lines_as_python_does() -> None:
    """``lines_of`` is the one place that cuts a text into lines."""
    found = {
        str(path.relative_to(CHECKOUT))
        for folder in ("crondor", "cli/crondor_cli")
        for path in (CHECKOUT / folder).rglob("*.py")
        if "splitlines(" in path.read_text(encoding="utf-8")
    }
    assert found == OWN


TIMES = st.lists(st.integers(1, 40), unique=True).map(sorted)


def sides(rows: Rows) -> list[tuple[int, int | None, int | None, bool]]:
    """Return the rows as numbers."""
    return [(row.number, row.run and row.run.time, row.schedd and row.schedd.time, row.compared) for row in rows]


@given(TIMES, TIMES, st.integers(1, 12))
def test_runs_are_paired_by_time(ours: list[int], theirs: list[int], count: int) -> None:
    """A side that was cut at ``count`` says nothing of later times; rows can be asked for again."""
    ours, theirs = ours[:count], theirs[:count]
    last = ours[-1] if len(ours) == count else None
    reached = theirs[-1] if len(theirs) == count else None
    times = sorted(time for time in {*ours, *theirs} if last is None or time <= last)
    expected = [
        (number, time if time in ours else None, time if time in theirs else None, reached is None or time <= reached)
        for number, time in enumerate(times, 1)
    ]
    rows = Rows(Runs(ours, most=count), Runs(theirs, most=count))
    assert sides(rows) == sides(rows) == expected
    assert len(rows) == len(expected)
    assert [row.number for row in rows.parting()] == [row.number for row in rows if row.differs]
    assert rows.differing == sum(row.differs for row in rows)


@given(TIMES)
def test_one_reading_alone_is_compared_with_nothing(ours: list[int]) -> None:
    """Its rows have one side, and none differs."""
    rows = Rows(Runs(ours))
    assert sides(rows) == [(number, time, None, False) for number, time in enumerate(ours, 1)]
    assert rows.differing == 0
