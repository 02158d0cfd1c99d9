"""docs/classad.md and the pages of its commands: keys, values, bounds and differences are crondor's own answers."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from crondor.classad import (
    CircularReference,
    ClassAd,
    ClassAdSyntaxError,
    EvaluationFailed,
    Expression,
    print_value,
    read_ad,
    tree,
)
from crondor.classad import formats as forms
from crondor.diagnostics import CrondorError
from crondor_cli.main import cli
from tests.cli.schemas import faults
from tests.docs.json_types import unseen
from tests.docs.test_docs import DOCS, ROOT, bare, tables
from tests.golden.recording import read_accepted

PAGE = DOCS / "classad.md"
TABLES = list(tables(PAGE))
FILES = {
    "job.ad": "Memory = 1\nRequirements = TARGET.Memory > 2 && x\n",
    "slot.ad": "Memory = 2\nRequirements = true\n",
    "none.ad": "a = 1\n",
    "ring.ad": "Requirements = random(0)\n",
}


def run(*arguments: str) -> str:
    """Run a classad command and return what it prints."""
    return CliRunner().invoke(cli, ["classad", *arguments]).stdout


def table(*columns: str) -> list[list[str]]:
    """Return the rows of the table that begins with these columns."""
    (found,) = (t for t in TABLES if t.columns[: len(columns)] == list(columns))
    return found.rows


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("eval", ["1", "1 --explain", "Requirements --my job.ad --target slot.ad --explain"]),
        ("match", ["job.ad slot.ad", "slot.ad job.ad", "job.ad none.ad", "ring.ad slot.ad"]),
    ],
)
def test_json_keys_are_those_documented(
    name: str, runs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Real output is valid, and each documented key occurs in it with each of its types."""
    monkeypatch.chdir(tmp_path)
    for file, text in FILES.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    data = [json.loads(run(name, "--format", "json", *line.split())) for line in runs]
    assert not [fault for each in data for fault in faults(f"classad-{name}", each)]
    assert unseen(f"classad-{name}", data) == {}


def test_three_valued_logic_is_as_the_table_says() -> None:
    """Each cell is the value of the column's expression."""
    rows = table("`A`", "`B`")
    columns = next(t.columns for t in TABLES if t.columns[:2] == ["`A`", "`B`"])
    for row in rows:
        my = ClassAd.of_texts({"A": bare(row[0]), "B": bare(row[1])})
        assert [print_value(my.evaluate(bare(column))) for column in columns[2:]] == row[2:], row


def test_what_is_odd_has_the_value_shown() -> None:
    """Each row of what is kept as HTCondor has it."""
    rows = table("written", "value", "why")
    assert len(rows) >= 10
    for written, value, _ in rows:
        assert print_value(Expression(bare(written)).evaluate()) == bare(value)


def _doubled(text: str, begin: str, times: int) -> ClassAd:
    links = {f"a{at}": text.replace("a", f"a{at - 1}") for at in range(1, times)}
    return ClassAd.of_texts({**links, "a0": begin})


BEYOND: dict[str, Callable[[], object]] = {
    "MAX_TEXT": lambda: Expression(" " * (tree.MAX_TEXT + 1)),
    "MAX_TOKENS": lambda: Expression("1," * tree.MAX_TOKENS),
    "MAX_NESTING": lambda: Expression("(" * 166 + "1" + ")" * 166),
    "MAX_DEPTH": lambda: Expression("+".join(["1"] * (tree.MAX_DEPTH + 2))).evaluate(),
    "MAX_STEPS": lambda: _doubled("a + a", "1", 31).value("a30"),
    "MAX_STRING": lambda: ClassAd({"s": "x" * (tree.MAX_STRING // 2 + 1)}).evaluate("strcat(s, s)"),
    "MAX_LIST": lambda: ClassAd({"s": "a " * (tree.MAX_LIST + 1)}).evaluate("split(s)"),
    "MAX_REFERENCES": lambda: Expression("a17").references(_doubled("a + a", "[b = 1].b", 18)),
    "MAX_AD*": lambda: read_ad('a = "' + "x" * forms.MAX_AD + '"\n'),
    "MAX_DEPTH*": lambda: read_ad('{"a": ' + "[" * (forms.MAX_DEPTH + 1) + "]" * (forms.MAX_DEPTH + 1) + "}"),
}


@pytest.mark.parametrize("row", table("bound", "number"), ids=lambda row: row[0])
def test_bounds_are_those_of_the_table(row: list[str]) -> None:
    """The number is the constant's, and the error for an input beyond it has the number."""
    name = row[0].replace("`", "")
    module = forms if name.endswith("*") else tree
    assert getattr(module, name.rstrip("*")) == int(row[1])
    with pytest.raises((ClassAdSyntaxError, EvaluationFailed, CircularReference)) as error:
        BEYOND[name]()
    assert name in {"MAX_NESTING", "MAX_REFERENCES"} or row[1] in error.value.diagnostics[0].message


def test_every_bound_has_a_row() -> None:
    """Those of the caches aside, which refuse nothing."""
    named = {name for name in vars(tree) if name.startswith("MAX_") and "CACHED" not in name}
    named |= {f"{name}*" for name in vars(forms) if name.startswith("MAX_")}
    assert named == {row[0].replace("`", "") for row in table("bound", "number")}


def _families() -> set[str]:
    found = set()
    for path in (ROOT / "tests" / "golden" / "classad").glob("*.jsonl.gz"):
        for line in gzip.decompress(path.read_bytes()).splitlines():
            defect = json.loads(line).get("upstream_defect")
            if defect is not None:
                found.add(defect.partition(": ")[0])
    return found


def test_every_family_of_defects_has_a_row() -> None:
    """What the recordings mark as HTCondor's defect is on the page, with what crondor does there."""
    rows = table("family", "example")
    assert {row[0] for row in rows} == _families()
    for _, example, _, ours in rows:
        expression = Expression(bare(example))
        printed = str(expression) == ours.strip("`")
        assert printed or print_value(expression.evaluate()) == bare(ours), example


def test_the_number_of_cases_is_that_of_the_recordings() -> None:
    """5,990 lines, and 4 accepted ones."""
    folder = ROOT / "tests" / "golden" / "classad"
    lines = sum(len(gzip.decompress(path.read_bytes()).splitlines()) for path in folder.glob("*.jsonl.gz"))
    accepted = sum(len(read_accepted(path)) for path in folder.glob("accepted_*.txt"))
    assert f"{lines:,} cases, [{accepted} of them aside]" in PAGE.read_text(encoding="utf-8").replace("\n", " ")


def test_the_table_of_recordings_counts_right() -> None:
    """tests/golden/README.md gives the lines of recordings, and how many of them are accepted; of ClassAds all."""
    folder = ROOT / "tests" / "golden"
    (found,) = (t for t in tables(folder / "README.md") if t.columns[:2] == ["recording", "lines"])
    for name, lines, passed, accepted, unfit, listed in found.rows:
        data = (folder / name).read_bytes()
        text = gzip.decompress(data) if name.endswith(".gz") else data
        assert len(text.splitlines()) == int(lines)
        names = read_accepted(folder / listed.partition(":")[0]) if accepted != "0" else {}
        assert (len(names), int(passed)) == (int(accepted), int(lines) - int(accepted) - int(unfit))
    assert {row[0] for row in found.rows} >= {f"classad/{path.name}" for path in folder.glob("classad/*.jsonl.gz")}


def test_errors_are_those_of_the_table() -> None:
    """Every error named is one of ours and a ValueError."""
    for name, _ in table("error", "when"):
        kind = {"ClassAdSyntaxError": ClassAdSyntaxError, "EvaluationFailed": EvaluationFailed}.get(
            bare(name), CircularReference
        )
        assert kind.__name__ == bare(name)
        assert issubclass(kind, CrondorError)
        assert issubclass(kind, ValueError)
