"""The golden replay: everything recorded passes, and whatever is altered in a recording fails."""

import copy
import gzip
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import pytest

from tests.golden import replay
from tests.golden.judging import Result, differences, judge
from tests.golden.kinds import KINDS, crontab
from tests.golden.kinds.case import Case, NotApplicable
from tests.golden.pinned_zones import pin_zones, unpin_zones
from tests.golden.recording import read_recording

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
CRONTAB = GOLDEN / "crontab"
CORPORA = {
    "crontab-htcondor": CRONTAB / "htcondor.jsonl.gz",
    "crontab-unix": CRONTAB / "unix.jsonl.gz",
    "crontab-manual": CRONTAB / "unix.jsonl.gz",
    "odd-specs": CRONTAB / "odd_specs.jsonl",
}

# Field names as in the recordings; a mutant is the path that is altered and the altered line.
Line = dict[str, object]
Mutant = tuple[str, Line]


@pytest.fixture(scope="module", autouse=True)
def _pinned_zones() -> Iterator[None]:
    pin_zones()
    yield
    unpin_zones()


class Done(NamedTuple):
    """What a replay left behind."""

    stdout: str
    stderr: str
    returncode: object


def _replay(*arguments: str | Path) -> Done:
    """Run the command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with patch.object(sys, "argv", ["replay.py", *map(str, arguments)]), redirect_stdout(out), redirect_stderr(err):
        try:
            status: object = replay.main()
        except SystemExit as end:
            status = end.code
    return Done(out.getvalue(), err.getvalue(), status)


def _process(*arguments: str | Path, cwd: Path | None = None, path: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(GOLDEN / "replay.py"), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def _written(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@lru_cache(maxsize=1)
def _recording(kind: str) -> list[Case]:
    return read_recording(CORPORA[kind])


def _sample(kind: str, every: int, applicable: Callable[[Line], bool] = lambda _: True) -> list[Line]:
    lines = [case.value for case in _recording(kind)]
    return [line for line in lines if isinstance(line, dict) and applicable(line)][::every]


def _schedd_line(outcome: str, stage: str | None = None) -> Line:
    return _sample("crontab-htcondor", 1, lambda line: (line["outcome"], line.get("stage")) == (outcome, stage))[0]


def _hang_line() -> Line:
    """31 April: no line of the corpus hangs, since nobody waited for one."""
    spec = {"minute": "0", "hour": "6", "dom": "31", "month": "4", "dow": None}
    return {"tz": "UTC", **spec, "after": 1700000000, "outcome": "hang"}


def _failure(kind: str, line: object) -> list[str]:
    """Return the fields in which a line fails; none when it passes or is not compared."""
    try:
        return [difference.field for difference in differences(crontab.KINDS[kind], Case(1, "x", line, CRONTAB))]
    except NotApplicable:
        return []


def _altered(value: object) -> list[object]:
    """Return values that are not ``value``: a near one, one of another type, and none at all."""
    if isinstance(value, str):
        return [value + "x", "x" + value[1:], None, 5]
    if isinstance(value, int):
        return [value + 60, value - 60, value + 1, float(value), str(value), None]
    if isinstance(value, list):
        return [value[:-1] if value else [0], [*value, value[-1] if value else 0], None, {}]
    return [None, 0, []]


def _mutants(line: Line, *path: str | int) -> Iterator[Mutant]:
    """Yield the line with what stands at ``path`` altered in every way, and everything inside it in turn."""
    inner: object = line
    for step in path:
        inner = inner[step]  # type: ignore[index]  # the path leads through lists and objects
    name = ".".join(map(str, path))
    for value in _altered(inner):
        mutant = copy.deepcopy(line)
        _put(mutant, path, value)
        yield f"{name} = {value!r}", mutant
    if isinstance(inner, (dict, list)):
        for step in inner if isinstance(inner, dict) else range(len(inner)):
            yield from _mutants(line, *path, step)
    if isinstance(inner, dict):
        for step in inner:
            mutant = copy.deepcopy(line)
            _put(mutant, path, {name: value for name, value in inner.items() if name != step})
            yield f"{name} without {step}", mutant


def _put(line: Line, path: tuple[str | int, ...], value: object) -> None:
    inner: object = line
    for step in path[:-1]:
        inner = inner[step]  # type: ignore[index]  # as above
    inner[path[-1]] = value  # type: ignore[index]  # as above


def _survivors(kind: str, mutants: Iterator[Mutant] | list[Mutant]) -> list[str]:
    """Return the mutants that do not fail, or that fail without naming the altered field."""
    return [
        name
        for name, line in mutants
        if name.split(" ")[0].split(".")[0] not in {field.split(".")[0].split("[")[0] for field in _failure(kind, line)}
    ]


@pytest.mark.parametrize(
    ("kind", "passed", "not_applicable"),
    [
        ("crontab-htcondor", 3000, {}),
        ("crontab-unix", 834, {"verdict majority": 64, "verdict contested": 24}),
        (
            "crontab-manual",
            719,
            {
                "a zone other than UTC": 128,
                "verdict majority": 37,
                "verdict contested": 7,
                "tag star-in-list": 23,
                "tag star-step": 1,
                "tag explicit-full": 7,
            },
        ),
        ("odd-specs", 32, {"engines do not agree whether it is valid": 9}),
    ],
)
def test_every_recorded_line_passes(kind: str, passed: int, not_applicable: dict[str, int]) -> None:
    """Nothing fails, nothing needs to be accepted, and no line is lost."""
    result = judge(crontab.KINDS[kind], read_recording(CORPORA[kind]), {})
    assert [(case.number, found) for case, found in result.failed[:3]] == []
    assert result == Result(passed=passed, not_applicable=result.not_applicable)
    assert result.not_applicable == not_applicable


def test_every_kind_has_a_corpus() -> None:
    """A kind that is added is tested here."""
    assert CORPORA.keys() == crontab.KINDS.keys()


def test_a_hang_passes_where_the_schedd_never_returns() -> None:
    """A hang is an outcome like the others."""
    assert _failure("crontab-htcondor", _hang_line()) == []


def test_altered_runs_of_the_schedd_fail() -> None:
    """Every run, past and retry_at counts."""
    lines = _sample("crontab-htcondor", 25, lambda line: line["outcome"] == "runs")
    assert any("retry_at" in json.dumps(line) for line in lines)
    assert [_survivors("crontab-htcondor", _mutants(line, "runs")) for line in lines] == [[]] * len(lines)


@pytest.mark.parametrize("stage", ["validate", "init"])
def test_altered_refusals_of_the_schedd_fail(stage: str) -> None:
    """Stage and error text count."""
    other = {"validate": "init", "init": "validate"}[stage]
    for line in _sample("crontab-htcondor", 5, lambda line: line.get("stage") == stage):
        altered = [*_mutants(line, "stage"), *_mutants(line, "error"), ("stage swapped", {**line, "stage": other})]
        assert _survivors("crontab-htcondor", altered) == []


def test_an_altered_outcome_fails() -> None:
    """A line of one outcome is none of another, whether or not the fields that belong to it are altered as well."""
    belonging = ("runs", "stage", "error")
    lines = [_schedd_line("runs"), _schedd_line("invalid", "init"), _schedd_line("invalid", "validate"), _hang_line()]
    for line in lines:
        assert _survivors("crontab-htcondor", _mutants(line, "outcome")) == []
        for other in lines:
            if other["outcome"] != line["outcome"]:
                assert _failure("crontab-htcondor", {**line, "outcome": other["outcome"]})
                own = {name: value for name, value in line.items() if name not in belonging}
                theirs = {name: value for name, value in other.items() if name in belonging}
                swapped = {**own, **theirs, "outcome": other["outcome"]}
                assert "outcome" in _failure("crontab-htcondor", swapped)


@pytest.mark.parametrize("kind", ["crontab-unix", "crontab-manual"])
def test_altered_runs_of_unix_engines_fail(kind: str) -> None:
    """Every expected instant counts, and so does never."""

    def compared(line: Line) -> bool:
        return line["verdict"] == "unanimous" and (kind == "crontab-unix" or (line["tz"], line["tags"]) == ("UTC", []))

    lines = [*_sample(kind, 8, compared), *_sample(kind, 1, lambda line: compared(line) and line["expected"] == [])]
    for line in lines:
        assert _failure(kind, line) == []
        assert _survivors(kind, _mutants(line, "expected")) == []


@pytest.mark.parametrize("kind", ["crontab-unix", "crontab-manual"])
def test_no_line_leaves_or_enters_the_gate_by_a_word(kind: str) -> None:
    """A verdict that does not follow from the engines, or a tag that the schedule does not bear out, fails."""
    gate_tags = [f"{tag}-{day}" for tag in ("star-step", "star-in-list", "explicit-full") for day in ("dom", "dow")]
    plain = _sample(kind, 50, lambda line: line["verdict"] == "unanimous" and "*" not in f"{line['dom']}{line['dow']}")
    for line in [*_sample(kind, 40), *_sample(kind, 8, lambda line: line["verdict"] != "unanimous")]:
        others = {"unanimous", "majority", "contested"} - {str(line["verdict"])}
        altered = [*_mutants(line, "verdict"), *((f"verdict = {v}", {**line, "verdict": v}) for v in others)]
        assert _survivors(kind, altered) == []
        shape = [
            (f"{name} = None", {**line, name: None}) for name in ("disagree", "unsupported", "verified_by", "tags")
        ]
        assert _survivors(kind, shape) == []
        assert _failure(kind, {**line, "verified_by": []}) == ["verified_by"]
        assert _failure(kind, {**line, "tags": ["star-step-week"]}) == ["tags"]
    for line in plain:
        assert _failure(kind, {**line, "disagree": {"other": [0, 60, 120, 180, 240]}}) == ["verdict"]
        assert _failure(kind, {**line, "disagree": {"other": line["expected"]}}) == ["disagree"]
        assert [_failure(kind, {**line, "tags": [tag]}) for tag in gate_tags[:4]] == [["tags"]] * 4
    starred = _sample(kind, 1, lambda line: line["dom"] == "*" == line["dow"] and line["tz"] == "UTC")[0]
    assert [_failure(kind, {**starred, "tags": [tag]}) for tag in [*gate_tags, "tz"]] == [["tags"]] * 7


def test_an_odd_spec_on_the_other_side_fails() -> None:
    """What eight engines refuse cannot be accepted by all, and the other way round."""
    refused = _sample("odd-specs", 1, lambda line: len(_object(line, "rejected_by")) >= 8)
    accepted = _sample("odd-specs", 1, lambda line: not line["rejected_by"])
    assert (len(refused), len(accepted)) == (29, 3)
    for line in refused:
        engines = {**_object(line, "accepted_by"), **_object(line, "rejected_by")}
        by_all = {**line, "rejected_by": {}, "accepted_by": {engine: [1795132860, 1795132920] for engine in engines}}
        assert _failure("odd-specs", by_all) == ["accepted_by"]
    for line in accepted:
        engines = _object(line, "accepted_by")
        by_none = {**line, "accepted_by": {}, "rejected_by": dict.fromkeys(engines, "no")}
        assert _failure("odd-specs", by_none) == ["rejected_by"]


def test_altered_instants_of_odd_specs_fail() -> None:
    """Both instants of the majority count, and each engine must have two."""
    for line in _sample("odd-specs", 1, lambda line: not line["rejected_by"]):
        answers = _object(line, "accepted_by")
        texts = [json.dumps(answer) for answer in answers.values()]
        majority = json.loads(max(texts, key=texts.count))
        for n in (0, 1):
            moved = [instant + 60 * (n == place) for place, instant in enumerate(majority)]
            altered = {engine: moved if answer == majority else answer for engine, answer in answers.items()}
            assert _failure("odd-specs", {**line, "accepted_by": altered}) == [f"accepted_by[{n}]"]
        never = {**line, "accepted_by": {engine: ["Z"] for engine in answers}}
        assert _failure("odd-specs", never) == ["accepted_by"]
        for wrong in ([], majority[:1], [*majority, 0], ["Z", "Z"], None, [None, 0]):
            ill_formed = {**line, "accepted_by": {**answers, "cronsim": wrong}}
            assert _failure("odd-specs", ill_formed)[0].startswith("accepted_by.cronsim")


def test_ill_formed_engines_of_odd_specs_fail() -> None:
    """An engine is on one side, a refusal has a message, and somebody must have been asked."""
    for line in _sample("odd-specs", 1):
        both = {**_object(line, "rejected_by"), **dict.fromkeys(_object(line, "accepted_by"), "no")}
        mute = {**_object(line, "rejected_by"), "other": None}
        if line["accepted_by"]:
            assert _failure("odd-specs", {**line, "rejected_by": both}) == ["accepted_by"]
        assert _failure("odd-specs", {**line, "rejected_by": mute}) == ["rejected_by.other"]
        assert _failure("odd-specs", {**line, "rejected_by": {}, "accepted_by": {}}) == ["accepted_by"]
        for side in ("accepted_by", "rejected_by"):
            assert _failure("odd-specs", {**line, side: []}) == [side]


def _object(line: Line, field: str) -> dict[str, object]:
    value = line[field]
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize("kind", crontab.KINDS)
def test_a_missing_unknown_or_ill_typed_field_fails_by_name(kind: str) -> None:
    """Nothing crashes the replay, and nothing goes uncompared in silence."""
    prose = {"note", "source", "suite_literal"}
    for line in _sample(kind, 97) if kind != "odd-specs" else _sample(kind, 4):
        missing = [(f"{name} missing", {key: line[key] for key in line if key != name}) for name in line.keys() - prose]
        ill_typed = [(f"{name} = {{}}", {**line, name: 1.5}) for name in line.keys() - prose]
        assert _survivors(kind, missing) == []
        assert _survivors(kind, ill_typed) == []
        assert _failure(kind, {**line, "expectation": 1}) == ["expectation"]
        assert _failure(kind, {**line, "tz": "Europe/Berlino"}) == ["tz"]
    no_objects: list[object] = [None, 3, [], "runs"]
    assert [_failure(kind, value) for value in no_objects] == [["line"]] * 4


def test_a_crash_of_crondor_fails_the_line() -> None:
    """An exception is a difference of that line."""
    line = {**_schedd_line("runs"), "after": 1 << 70}
    assert _failure("crontab-htcondor", line) == ["error"]


def test_command_replays_a_recording_from_any_folder(tmp_path: Path) -> None:
    """The figures are the last lines of standard output and the exit status is 0."""
    done = _process("odd-specs", CORPORA["odd-specs"], cwd=tmp_path)
    tail = ["9 not applicable (9 engines do not agree whether it is valid)", "32 passed, 0 failed"]
    assert (done.stdout.splitlines(), done.stderr, done.returncode) == (tail, "", 0)


def test_command_shows_what_differs(tmp_path: Path) -> None:
    """--show prints so many lines with their number, what was recorded and what crondor says; the rest is counted."""
    line = _schedd_line("runs")
    runs = line["runs"]
    assert isinstance(runs, list)
    wrong = {**line, "runs": [*runs[:4], runs[4] + 60]}
    lines = [line, wrong, {**wrong, "note": "again"}, {**line, "outcome": "hung"}]
    done = _replay("crontab-htcondor", _written(tmp_path / "r.jsonl", *lines), "--show", "1")
    shown = done.stdout.splitlines()
    assert shown[0].startswith("line 2 (")
    assert shown[1:] == [
        f"    runs[4]: recorded {runs[4] + 60}, crondor says {runs[4]}",
        "... and 2 more",
        "1 passed, 3 failed",
    ]
    assert done.returncode == 1
    silent = _replay("crontab-htcondor", tmp_path / "r.jsonl", "--show", "0")
    assert (silent.stdout, silent.returncode) == ("1 passed, 3 failed\n", 1)


def test_differences_are_accepted_by_name_only(tmp_path: Path) -> None:
    """A name or a digest with a reason accepts one line; the others go on failing."""
    line = {**_schedd_line("runs"), "outcome": "hang"}
    del line["runs"]
    lines = [{**line, "name": "first"}, {**line, "name": "second"}, line]
    recording = _written(tmp_path / "r.jsonl", *lines)
    digest = read_recording(recording)[2].id
    accepted = tmp_path / "accepted.txt"
    accepted.write_text(f"# by name\nfirst\tthe engine was killed\n\n{digest}\trecorded on a slow machine\n")
    done = _replay("crontab-htcondor", recording, "--accept", accepted, "--show", "0")
    assert done.stdout.splitlines() == [
        "line 1 (first) differs, accepted: the engine was killed",
        f"line 3 ({digest}) differs, accepted: recorded on a slow machine",
        "2 accepted",
        "0 passed, 1 failed",
    ]
    assert (done.stderr, done.returncode) == ("", 1)
    with accepted.open("a") as file:
        file.write("second\tthe same\n")
    assert _replay("crontab-htcondor", recording, "--accept", accepted).returncode == 0
    assert _replay("crontab-htcondor", recording).stdout.endswith("0 passed, 3 failed\n")


def test_a_line_that_is_recorded_anew_is_not_accepted_any_more(tmp_path: Path) -> None:
    """The digest is that of the content, not of its layout."""
    line = _schedd_line("runs")
    old, turned, new = read_recording(
        _written(tmp_path / "r", line, dict(reversed(line.items())), {**line, "after": 0})
    )
    assert old.id == turned.id != new.id


def test_a_name_that_two_lines_share_names_none(tmp_path: Path) -> None:
    """Such lines are told apart by their digests."""
    cases = read_recording(_written(tmp_path / "r", {"name": "a"}, {"name": "a", "b": 1}, {"name": "c"}))
    assert [case.id == "a" for case in cases] == [False, False, False]
    assert cases[2].id == "c"


def test_idle_entries_of_the_list_are_reported(tmp_path: Path) -> None:
    """An entry that names no line, a passing line or a line that is not compared is said on standard error."""
    contested = _sample("crontab-unix", 1, lambda line: line["verdict"] == "contested")[0]
    passing = _sample("crontab-unix", 1)[0]
    lines = [{**contested, "name": "contested"}, {**passing, "name": "passing"}]
    accepted = tmp_path / "accepted.txt"
    accepted.write_text("passing\tonce\nnobody\tnever\ncontested\tno fact\n")
    done = _replay("crontab-unix", _written(tmp_path / "r.jsonl", *lines), "--accept", accepted)
    assert done.stderr.splitlines() == [
        f"replay: {accepted}, line 1: passing: it does not differ any more",
        f"replay: {accepted}, line 2: nobody: no line of this recording has this name",
        f"replay: {accepted}, line 3: contested: this kind does not compare it",
    ]
    assert done.stdout.splitlines() == ["1 not applicable (1 verdict contested)", "1 passed, 0 failed"]
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ("first\n", "line 1: write the line's name, a tab and the reason"),
        ("\nfirst\t \n", "line 2: write the line's name, a tab and the reason"),
        ("first because\n", "line 1: write the line's name, a tab and the reason"),
        ("\tbecause\n", "line 1: write the line's name, a tab and the reason"),
        ("a\tb\na\tc\n", "line 2: a stands in line 1 already"),
    ],
)
def test_an_entry_needs_a_name_and_a_reason(entries: str, message: str, tmp_path: Path) -> None:
    """A list that does not say why accepts nothing."""
    accepted = tmp_path / "accepted.txt"
    accepted.write_text(entries)
    done = _replay("odd-specs", CORPORA["odd-specs"], "--accept", accepted)
    assert (done.stdout, done.stderr, done.returncode) == ("", f"replay: {accepted}, {message}\n", 2)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", " is empty: it records nothing"),
        (b"\n\n", " is empty: it records nothing"),
        (gzip.compress(b"", mtime=0), " is empty: it records nothing"),
        (b'{"a": 1}\n{"a": \n', ", line 2, column 7: not JSON: Expecting value"),
        (b'{"a": NaN}\n', ", line 1: not JSON: NaN is no JSON number"),
        (b'{}\n{"a": "\xff"}\n', ", line 2: not UTF-8"),
        (gzip.compress(b"{}", mtime=0)[:-9], ": Compressed file ended before the end-of-stream marker was reached"),
    ],
)
def test_an_unreadable_recording_is_no_replay(content: bytes, message: str, tmp_path: Path) -> None:
    """One sentence names the file and the line, and the exit status is 2."""
    recording = tmp_path / "r.jsonl"
    recording.write_bytes(content)
    done = _replay("odd-specs", recording)
    assert (done.stdout, done.stderr, done.returncode) == ("", f"replay: {recording}{message}\n", 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["crontab-htcndor", "r"], "unknown kind 'crontab-htcndor'; did you mean crontab-htcondor? (kinds: crontab-"),
        (["qqq", "r"], f"unknown kind 'qqq' (kinds: {', '.join(KINDS)})"),
        (["odd-specs", "/nowhere/r.jsonl"], "/nowhere/r.jsonl: No such file or directory"),
        (["odd-specs", "/"], "/: Is a directory"),
        (["odd-specs", str(CORPORA["odd-specs"]), "--accept", "/nowhere/a"], "/nowhere/a: No such file or directory"),
        (["odd-specs", "r", "--show", "-1"], "--show: -1 is negative"),
        (["odd-specs", "r", "--show", "x"], "argument --show: invalid int value: 'x'"),
        (["odd-specs"], "the following arguments are required: FILE"),
    ],
)
def test_usage_errors(arguments: list[str], message: str) -> None:
    """A wrong call says what is wrong and exits with 2."""
    done = _replay(*arguments)
    assert message in done.stderr
    assert (done.stdout, done.returncode) == ("", 2)


def test_other_zone_rules_are_refused(tmp_path: Path) -> None:
    """A package tzdata of another release would change the answers."""
    (tmp_path / "tzdata").mkdir()
    (tmp_path / "tzdata" / "__init__.py").write_text('IANA_VERSION = "2024a"\n')
    done = _process("odd-specs", CORPORA["odd-specs"], path=str(tmp_path))
    expected = "the recordings were made with tzdata 2025b, and the package here is 2024a: pip install tzdata==2025.2"
    assert (done.stdout, done.stderr, done.returncode) == ("", f"replay: {expected}\n", 2)


def test_zones_of_the_machine_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever PYTHONTZPATH offers, the pinned rules are read."""
    (tmp_path / "America").mkdir()
    (tmp_path / "America" / "Chicago").write_bytes(b"no zone at all")
    monkeypatch.setenv("PYTHONTZPATH", str(tmp_path))
    line = _sample("crontab-htcondor", 1, lambda line: line["tz"] == "America/Chicago")[0]
    assert _process("crontab-htcondor", _written(tmp_path / "r.jsonl", line)).stdout == "1 passed, 0 failed\n"


def test_a_replay_that_compares_nothing_says_so(tmp_path: Path) -> None:
    """No failure, but no proof either."""
    contested = _sample("crontab-unix", 1, lambda line: line["verdict"] == "contested")[0]
    done = _replay("crontab-unix", _written(tmp_path / "r.jsonl", contested))
    assert done.stderr == f"replay: no line of {tmp_path / 'r.jsonl'} is for crontab-unix: nothing was compared\n"
    assert (done.stdout.splitlines()[-1], done.returncode) == ("0 passed, 0 failed", 0)


def test_a_field_that_stands_twice_fails(tmp_path: Path) -> None:
    """JSON readers keep the last of two; a recording must not depend on that."""
    text = json.dumps(_schedd_line("runs"))
    recording = tmp_path / "r.jsonl"
    recording.write_text(text[:-1] + ', "outcome": "runs"}\n')
    result = judge(crontab.KINDS["crontab-htcondor"], read_recording(recording), {})
    assert [found[0].field for _, found in result.failed] == ["outcome"]


def test_the_committed_recordings_are_the_same_bytes_whenever_they_are_made() -> None:
    """Neither time nor file name stands in the gzip files."""
    for path in CRONTAB.glob("*.gz"):
        assert path.read_bytes()[3:8] == bytes(5)
