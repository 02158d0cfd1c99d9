"""The pages: every command they show answers as shown, every example runs, and every table says what crondor says."""

import csv
import doctest
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest

from crondor.lint import RULES
from crondor.recurrence import Policy, Recurrence
from crondor.schedule import JobSchedule
from crondor.spec import FIELDS, CronSpec, Dialect, Field, InvalidSpec
from crondor_cli.kit.typed_times import UnreadableTime, parse_time
from crondor_cli.main import main
from tests.cli.schemas import faults
from tests.docs.json_types import unseen
from tests.rows import rows

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
CLI = DOCS / "cli"
FRONT = (ROOT / "README.md", ROOT / "website/pages/index.md")
PAGES = sorted(page for page in (*FRONT, *DOCS.rglob("*.md")) if page.exists())

SOME_TIME = 1_000_000_000.0  # what the clock says where a page forgets --now: 2001, so that it cannot pass by chance
SOME_ZONE = "Antarctica/Troll"  # and the zone where it forgets --tz

Crondor = Callable[..., tuple[str, int]]


class Block(NamedTuple):
    """A fenced block: its page, the line its text begins at, the language, the text."""

    page: Path
    line: int
    language: str
    text: str


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield Block(page, text.count("\n", 0, found.start(2)) + 1, found[1], found[2])


def where(block: Block) -> str:
    """Return the name of a block in a test report."""
    return f"{block.page.relative_to(ROOT)}:{block.line}"


ALL = [block for page in PAGES for block in blocks(page)]
CONSOLE = [b for b in ALL if b.language == "console" and re.match(r"\$ (crondor|cat)\b", b.text)]
PYTHON = [b for b in ALL if b.language == "python"]


class Table(NamedTuple):
    """A table: the heading it stands under, its column names, and its rows of cells."""

    heading: str
    columns: list[str]
    rows: list[list[str]]


def tables(page: Path) -> Iterator[Table]:
    """Yield the tables of a page, fenced text left out."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    heading = ""
    rows: list[list[str]] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("#"):
            heading = line.lstrip("# ")
        if line.startswith("|"):
            cells = re.split(r"(?<!\\)\|", line.strip()[1:-1])
            rows.append([cell.strip().replace("\\|", "|") for cell in cells])
        elif rows:
            assert all(len(row) == len(rows[0]) for row in rows), f"{page.name}: a ragged table under {heading!r}"
            assert {cell.strip("-:") for cell in rows[1]} == {""}, f"{page.name}: a headless table under {heading!r}"
            yield Table(heading, rows[0], rows[2:])
            rows = []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_tables_are_whole(page: Path) -> None:
    """Each row has as many cells as the head, and there is a head."""
    assert list(tables(page)) or "|---" not in page.read_text(encoding="utf-8")


def bare(cell: str) -> str:
    """Return a cell without its backticks."""
    return cell.strip("`")


@pytest.fixture
def crondor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Crondor:
    """Return a function that runs the command in a folder of its own: what the screen shows, and the exit status."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")

    def run(*arguments: str, stdin: str = "") -> tuple[str, int]:
        screen = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path)
            patch.setenv("COLUMNS", "80")
            patch.setenv("TZ", SOME_ZONE)
            patch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))  # those of whoever runs the tests stay out
            patch.setattr("time.time", lambda: SOME_TIME)
            patch.setattr(sys, "argv", ["crondor", *arguments])
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
            patch.setattr(sys, "stdout", screen)
            patch.setattr(sys, "stderr", screen)
            with pytest.raises(SystemExit) as end:
                main()
        screen.seek(0)
        status = end.value.code
        return screen.read(), status if isinstance(status, int) else 0

    return run


# Commands


def replay(block: Block, run: Crondor, folder: Path) -> str:
    """Return the block as it would look with the answers of today.

    Besides `$ crondor` it knows `$ cat FILE`, whose text is the file that the next command reads, `< FILE`,
    `$ echo $?`, `$ rm`, and `$ git`.
    """
    shown: list[str] = []
    status = 0
    for part in re.findall(r"^\$ .*\n(?:(?!\$ ).*\n)*", block.text, re.MULTILINE):
        line, _, output = part.partition("\n")
        words = shlex.split(line[2:])
        if words[0] == "cat":
            (folder / words[1]).parent.mkdir(exist_ok=True)
            (folder / words[1]).write_text(output, encoding="utf-8")
        elif words[0] in {"git", "rm"}:
            as_somebody = ("-c", "user.name=alice", "-c", "user.email=alice@example.org") if words[0] == "git" else ()
            done = subprocess.run([words[0], *as_somebody, *words[1:]], cwd=folder, check=True, capture_output=True)
            output = done.stdout.decode()
        elif words == ["echo", "$?"]:
            output = f"{status}\n"
        else:
            assert words[0] == "crondor", f"{where(block)}: this test cannot run {line}"
            stdin = (folder / words[-1]).read_text(encoding="utf-8") if "<" in words else ""
            output, status = run(*words[1 : words.index("<") if "<" in words else None], stdin=stdin)
        shown += [line, "\n", output]
    return "".join(shown)


@pytest.mark.parametrize("block", CONSOLE, ids=where)
def test_commands_answer_as_the_page_shows(block: Block, crondor: Crondor, tmp_path: Path) -> None:
    """What a page shows of a command is what the command prints, to the letter."""
    assert replay(block, crondor, tmp_path) == block.text


# Python


@pytest.mark.parametrize("block", PYTHON, ids=where)
def test_python_examples_run(block: Block) -> None:
    """A python block runs on its own; where it is a dialogue, the answers are those shown."""
    if ">>>" not in block.text:
        exec(compile(block.text, where(block), "exec"), {"__name__": "example"})  # noqa: S102 - our own pages
        return
    example = doctest.DocTestParser().get_doctest(block.text, {}, where(block), str(block.page), block.line)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=report.append)
    assert not report, "".join(report)


# JSON and CSV


JSON_INPUTS = rows("docs/json_inputs")


@pytest.mark.parametrize("command", ["next", "explain", "diff", "agenda", "check", "simulate"])
def test_json_keys_are_those_documented(command: str, crondor: Crondor, tmp_path: Path) -> None:
    """Real output is valid, and each documented key occurs in it with each of its types."""
    odd = "cron_minute = 0\ncron_hours = 6\ncron_window = QDate\ncron_prep_time = QDate\nqueue\n"
    (tmp_path / "odd.sub").write_text(odd, encoding="utf-8")
    (tmp_path / "unknown.sub").write_text("deferral_time = QDate + 60\nqueue\n", encoding="utf-8")
    (tmp_path / "none.sub").write_text("", encoding="utf-8")
    cured = "cron_day_of_week = 1\ncron_hour = 6\ncron_minute = 0\n"
    cured += 'requirements = formatTime(DeferralTime, "%w%H%M") == "10600"\nqueue\n'
    (tmp_path / "cured.sub").write_text(cured, encoding="utf-8")
    (tmp_path / "past.sub").write_text("deferral_time = 1\nqueue\n", encoding="utf-8")
    (tmp_path / "far.sub").write_text("deferral_time = 4102444800\n", encoding="utf-8")
    hourly = "executable = /bin/true\ncron_minute = 0\ncron_prep_time = 0\non_exit_remove = false\nqueue\n"
    (tmp_path / "hourly.sub").write_text(hourly, encoding="utf-8")
    removing = "SYSTEM_PERIODIC_REMOVE = JobStatus == 1 && time() - EnteredCurrentStatus > 7200\n"
    (tmp_path / "removing.conf").write_text(removing, encoding="utf-8")
    never = "executable = /bin/true\ncron_day_of_month = 31\ncron_month = 2\nqueue\n"
    (tmp_path / "only.sub").write_text("executable = /bin/true\ndeferral_time = 4102444800\n", encoding="utf-8")
    (tmp_path / "never.sub").write_text(never, encoding="utf-8")
    (tmp_path / "routed.sub").write_text("executable = /bin/true\n+WantJobRouter = true\nqueue 30\n", encoding="utf-8")
    nested = "executable = /bin/true\nx = minute\narguments = $(cron_$(x))\ncron_minute = 0\nqueue\n"
    (tmp_path / "nested.sub").write_text(nested, encoding="utf-8")
    (tmp_path / "whole.sub").write_text("if true\nlog = x\n", encoding="utf-8")
    held = 'ClusterId = 1\nProcId = 0\nJobStatus = 5\nOwner = "alice"\nCmd = "/bin/date"\nDeferralTime = 1795611600\n'
    held += 'CronMinute = "0"\nHoldReason = "late"\nHoldReasonCode = 20\n\nCronMinute = "0"\n'
    (tmp_path / "queue.ads").write_text(held, encoding="utf-8")
    rules = "[[check.rule]]\ncode = 'SITE001'\nwhen = 'true'\nmessage = 'x'\nno-match = ['']\n"
    (tmp_path / "rules.toml").write_text(rules, encoding="utf-8")
    (tmp_path / "bad.sub").write_text("cron_minute = 0\nqueue\ncron_hour = 60\nqueue\n", encoding="utf-8")
    data = []
    for arguments in JSON_INPUTS:
        if arguments[0] == command:
            common = ("--format", "json", "--tz", "UTC", "--now", "2026-11-25 12:00")
            screen, _ = crondor(arguments[0], *common, *arguments[1:])
            data.append(json.loads(re.search(r"^\{.*^\}", screen, re.MULTILINE | re.DOTALL)[0]))  # type: ignore[index]
            assert not faults(command, data[-1])
    assert unseen(command, data) == {}


def test_csv_columns_are_those_documented(crondor: Crondor) -> None:
    """The CSV columns of docs/cli/next.md are those of real output, in their order."""
    screen, _ = crondor("next", "--crontab", "0 6 * * *", "--format", "csv", "--tz", "UTC")
    table = next(t for t in tables(CLI / "next.md") if t.columns[0] == "CSV column")
    assert [bare(row[0]) for row in table.rows] == next(csv.reader([screen.splitlines()[0]]))


def test_typed_times_are_read_as_documented() -> None:
    """The tables of typed times give the instants that the command reads, and the refusals that it makes."""
    zone = ZoneInfo("America/New_York")
    now = int(datetime(2026, 11, 18, 9, tzinfo=zone).timestamp())
    checked = 0
    for table in tables(CLI / "README.md"):
        if table.columns[0] == "typed":
            for written, answer, *_ in table.rows:
                text = bare(written)
                if bare(answer).startswith("time-"):
                    with pytest.raises(UnreadableTime) as error:
                        parse_time(text, now, zone)
                    assert error.value.diagnostics[0].kind == bare(answer)
                else:
                    moment = datetime.fromtimestamp(parse_time(text, now, zone), zone)
                    assert f"{moment:%a %Y-%m-%d %H:%M %z}" == answer
                checked += 1
    assert checked >= 15


# Dialects


def _members(text: str) -> set[int]:
    found: set[int] = set()
    for item in text.split(","):
        low, _, high = item.partition("-")
        found |= set(range(int(low), int(high or low) + 1))
    return found


def reading(field: Field, text: str, dialect: Dialect) -> tuple[str, set[int], bool]:
    """Return what a dialect makes of a field: "values", the values and the star flag; or "error" or "held (stage)"."""
    try:
        spec = CronSpec.from_mapping({field.attribute: text}, dialect=dialect)
    except InvalidSpec as error:
        return ("error" if error.stage is None else f"held ({error.stage})"), set(), False
    return "values", set(spec.values(field)), spec.stars[field.index]


def said(cell: str, field: Field) -> tuple[str, set[int], bool]:
    """Return the same of a cell: `*`, `1,4-7`, the same with "starred", or error or held (stage)."""
    if not cell.startswith("`"):
        return cell, set(), False
    values, _, star = cell[1:].partition("`")
    assert star in {"", " starred"}, cell
    if values == "*":
        return "values", set(range(field.low, min(field.high, 6 if field.name == "day_of_week" else 99) + 1)), True
    return "values", _members(values), bool(star)


DIALECT_ROWS = [
    row for t in tables(DOCS / "dialects.md") if t.columns[:4] == ["written", "MANUAL", "HTCONDOR", "UNIX"]
    for row in t.rows
]  # fmt: skip


@pytest.mark.parametrize("row", DIALECT_ROWS, ids=lambda row: bare(row[0]))
def test_dialects_read_as_the_tables_say(row: list[str]) -> None:
    """Each cell of the tables in docs/dialects.md is crondor's own answer."""
    name, _, text = bare(row[0]).partition(" = ")
    field = next(f for f in FIELDS if name in {f.command, f.attribute})
    value = text[1:-1] if name == field.attribute else text
    for dialect, cell in zip((Dialect.MANUAL, Dialect.HTCONDOR, Dialect.UNIX), row[1:4], strict=True):
        assert reading(field, value, dialect) == said(cell, field), dialect


def test_the_dialect_tables_are_complete() -> None:
    """There are rows for the questions that the readings answer differently."""
    assert len(DIALECT_ROWS) >= 20


# Clock changes


class ClockCase(NamedTuple):
    """One answer at a clock change: zone, crontab line, start, policy, and the next runs (ISO 8601)."""

    zone: str
    line: str
    start: str
    policy: str
    runs: tuple[str, ...]


def clock_cases() -> list[ClockCase]:
    """Return the cells of the tables in docs/clock-changes.md; "same" repeats the cell to the left."""
    cases = []
    policies = [policy.value for policy in Policy]
    for table in tables(DOCS / "clock-changes.md"):
        if table.columns == ["zone", "schedule", "from", *policies]:
            for zone, line, start, *cells in table.rows:
                runs: tuple[str, ...] = ()
                for policy, cell in zip(policies, cells, strict=True):
                    runs = runs if cell == "same" else tuple(run.replace(" ", "T") for run in cell.split(", "))
                    cases.append(ClockCase(zone, bare(line), start.replace(" ", "T"), policy, runs))
    return cases


@pytest.mark.parametrize("case", clock_cases(), ids=lambda case: f"{case.zone} {case.line} {case.start} {case.policy}")
def test_clock_changes_are_answered_as_the_tables_say(case: ClockCase) -> None:
    """Each cell names the next runs after the start under its policy."""
    start = datetime.fromisoformat(case.start)
    assert start.astimezone(ZoneInfo(case.zone)).isoformat(timespec="minutes") == case.start
    recurrence = Recurrence(CronSpec.from_line(case.line), case.zone, Policy(case.policy))
    found = tuple(run.isoformat(timespec="minutes") for run in islice(recurrence.upcoming(start), len(case.runs)))
    assert found == case.runs


def test_the_clock_cases_are_from_the_golden_file() -> None:
    """Each case that the page shows is one of tests/golden/dst_cases.txt, and there are those that users meet most."""
    golden = set()
    for line in (ROOT / "tests/golden/dst_cases.txt").read_text(encoding="ascii").splitlines():
        if line and not line.startswith("#"):
            zone, schedule, start, policies, runs = (part.strip() for part in line.split(" | "))
            for policy in policies.split(","):
                golden.add(ClockCase(zone, schedule, start, policy.strip(), tuple(runs.split())))
    shown = set(clock_cases())
    assert shown <= golden
    assert len({(case.zone, case.line, case.start) for case in shown}) >= 8


# Deferral


def test_the_moments_of_a_run_are_those_of_the_timeline() -> None:
    """The table of moments in docs/deferral.md gives the times of its example."""
    table = next(t for t in tables(DOCS / "deferral.md") if t.columns[0] == "moment")
    job = JobSchedule.from_submit({"cron_minute": "0", "cron_prep_time": "600", "cron_window": "900"})
    run = job.next(int(datetime.fromisoformat("2026-11-25T11:30+00:00").timestamp()))
    zone = ZoneInfo("UTC")
    for row in table.rows:
        moment = datetime.fromtimestamp(getattr(run, bare(row[0])), zone)
        assert f"{moment:%H:%M:%S}" == row[2]


# Rules of check


def test_the_subjects_of_rules_are_those_documented() -> None:
    """docs/check.md names the subject of each group of codes, in order."""
    table = next(table for table in tables(DOCS / "check.md") if table.columns[0] == "codes")
    assert [bare(row[0]) for row in table.rows] == sorted({code[:4] for code in RULES})


@pytest.mark.parametrize("zone", ["America/New_York", "Europe/Berlin", "UTC"])
def test_the_examples_pass_their_own_check(zone: str, crondor: Crondor) -> None:
    """No error and no warning in a submit file that is given as an example."""
    screen, status = crondor("check", "--no-config", "--now", "2026-11-25 12:00", "--tz", zone, "examples")
    assert status == 0, screen
