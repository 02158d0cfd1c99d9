"""Every command that reads a stream of ads hands on what comes before a fault and after it, and tells it once."""

import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import Format, write_ads
from crondor.classad.ad import ClassAd
from crondor_cli.kit.screen import echo_lines
from crondor_cli.kit.tables import echo_json
from tests.cli.running import NOW, Result, crondor

COUNT = 30
FORMS = [Format.LONG, Format.NEW, Format.PRETTY, Format.JSON, Format.JSON_LINES, Format.XML]
CONFIG = """\
JOB_ROUTER_ROUTE_NAMES = Site
JOB_ROUTER_ROUTE_Site @=rt
  GridResource = "batch slurm"
  UNIVERSE grid
  REQUIREMENTS true
  MaxJobs = 10000
  MaxIdleJobs = 10000
@rt
"""
ATTRIBUTES = {
    "ProcId": 0,
    "JobStatus": 1,
    "JobUniverse": 5,
    "Owner": "alice",
    "Cmd": "/bin/true",
    "CronMinute": "0",
    "OnExitRemove": False,
    "ScheddInterval": 300,
    "DeferralPrepTime": 300,
    "DeferralWindow": 0,
}
ADS = [ClassAd({"ClusterId": 1000 + number, **ATTRIBUTES}) for number in range(COUNT)]

Command = Callable[[str, Path], Result]
_ID = re.compile(r"\b1\d{3}\b")


def _format(path: str, _folder: Path) -> Result:
    return crondor("classad", "convert", path, "--to", "jsonl")


def _transform(path: str, folder: Path) -> Result:
    (folder / "rules").write_text("SET X 1\n")
    return crondor("classad", "transform", "--rules", str(folder / "rules"), path, "--format", "jsonl", "--now", NOW)


def _next(path: str, _folder: Path) -> Result:
    return crondor("next", "--ads", path, "-n", "1", "--now", NOW, "--format", "csv")


def _status(path: str, _folder: Path) -> Result:
    return crondor("queue", "status", "--ads", path, "--now", NOW)


def _match(path: str, folder: Path) -> Result:
    (folder / "routes").write_text(CONFIG)
    return crondor("route", "explain", "--summary", "--config", str(folder / "routes"), path, "--now", NOW)


def _apply(path: str, folder: Path) -> Result:
    (folder / "routes").write_text(CONFIG)
    return crondor("route", "apply", "--config", str(folder / "routes"), path, "--now", NOW, "--format", "table")


def _plan(path: str, folder: Path) -> Result:
    (folder / "routes").write_text(CONFIG)
    options = ("--config", str(folder / "routes"), "-n", "1", "--now", NOW)
    return crondor("route", "plan", "--ads", path, *options)


COMMANDS: list[Command] = [_format, _transform, _next, _status, _match, _apply, _plan]


def _written(form: Format) -> str:
    return "".join(write_ads(ADS, form))


def _ids(result: Result) -> set[int]:
    """Return the clusters in the output."""
    return {int(found) for found in _ID.findall(result.out)} & set(range(1000, 1000 + COUNT))


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.value)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__.strip("_"))
def test_an_ad_that_is_cut_off_costs_none_before_it(command: Command, form: Format, tmp_path: Path) -> None:
    """The fault has a line and a column, and the exit status says that there was one."""
    text = _written(form)
    last = ADS[-1].print(form).strip()
    path = tmp_path / "jobs.ads"
    path.write_text(text[: text.rindex(last) + last.index("Cmd") + (4 if form is Format.LONG else 0)])
    result = command(str(path), tmp_path)
    assert result.status == 1
    assert len(_ids(result) - {1000 + COUNT - 1}) == COUNT - 1
    assert len(re.findall(r"(?m)^\S*jobs\.ads:\d+:\d+: error: ", result.err)) == 1, result.err


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.value)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__.strip("_"))
def test_a_text_between_ads_costs_none_after_it(command: Command, form: Format, tmp_path: Path) -> None:
    """It is told where it stands."""
    text = _written(form)
    printed = ADS[COUNT // 2].print(form).strip()
    at = text.index(printed) + len(printed)
    path = tmp_path / "jobs.ads"
    path.write_text(f"{text[:at]}\n\nWARNING: no answer\n\n{text[at:]}")
    result = command(str(path), tmp_path)
    assert result.status == 1
    assert len(_ids(result)) == COUNT
    line = text.count("\n", 0, at) + 3
    assert re.findall(r"(?m)^\S*jobs\.ads:(\d+:\d+): error: ", result.err) == [f"{line}:1"], result.err


def test_json_that_is_written_is_whole_where_what_is_read_is_not(tmp_path: Path) -> None:
    """A list has its end."""
    path = tmp_path / "jobs.ads"
    path.write_text(_written(Format.NEW)[:-40])
    result = crondor("classad", "convert", str(path), "--to", "json")
    assert result.status == 1
    assert len(json.loads(result.out)) == COUNT - 1


def test_a_file_of_another_kind_with_faults_costs_no_other_file(tmp_path: Path) -> None:
    """The routes of the jobs in the others are told."""
    (tmp_path / "routes").write_text(CONFIG)
    (tmp_path / "bad.sub").write_text("executable = x\nif broken\nqueue\n")
    (tmp_path / "jobs.ads").write_text(_written(Format.NEW))
    paths = [str(tmp_path / name) for name in ("bad.sub", "jobs.ads")]
    result = crondor("route", "explain", "--summary", "--config", str(tmp_path / "routes"), *paths, "--now", NOW)
    assert result.status == 1
    assert len(_ids(result)) == COUNT
    assert "bad.sub:" in result.err


def test_more_faults_than_anyone_reads_are_counted(tmp_path: Path) -> None:
    """By the commands that collect them."""
    path = tmp_path / "jobs.ads"
    path.write_text(_written(Format.NEW) + "junk\n[ClusterId = ]\n" * 1000)
    for command in (_next, _status, _plan):
        result = command(str(path), tmp_path)
        assert len(_ids(result)) == COUNT
        assert "1,980 more faults like these" in result.err
        assert result.status == 1


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), VALUES, min_size=1, max_size=4), st.sets(st.text(), max_size=4))
def test_an_array_that_is_an_iterator_prints_as_a_list(data: dict[str, object], streamed: set[str]) -> None:
    """Byte for byte what ``json.dumps`` writes, with empty arrays and line ends in strings."""
    data |= {key: data.get(key) if isinstance(data.get(key), list) else [] for key in streamed}
    given_ = {key: iter(value) if key in streamed and isinstance(value, list) else value for key, value in data.items()}
    written = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", written)
        echo_json(given_)
    assert written.getvalue() == json.dumps(data, indent=2) + "\n"


@given(VALUES)
def test_iterators_within_print_as_lists(value: object) -> None:
    """In objects, and in the items of arrays that are iterators themselves."""
    written = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", written)
        echo_json({"jobs": iter([{"runs": iter([value]), "state": {"seen": iter([])}, "of": value}]), "n": 1})
    expected = {"jobs": [{"runs": [value], "state": {"seen": []}, "of": value}], "n": 1}
    assert written.getvalue() == json.dumps(expected, indent=2) + "\n"


def test_lines_go_out_before_the_last_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    """What has been printed need not be kept."""
    seen: list[int] = []

    def lines() -> Iterator[str]:
        for number in range(10_000):
            if number == 9_999:
                seen.append(len(capsys.readouterr().out))
            yield f"{number:09}"

    echo_lines(lines())
    assert seen[0] + len(capsys.readouterr().out) == 100_000
    assert seen[0] > 30_000
