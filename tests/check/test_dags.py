"""DAG files: what DAGMan refuses, as condor_dag_checker 25.14 says, and what nodes get of their VARS."""

import json
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.dag import DagLimits, read_dag
from crondor.diagnostics import Severity, Source
from crondor.lint import CheckReport, CheckSettings, page
from crondor.lint.dags import check_dag
from crondor.lint.report import NodeText
from crondor.lint.rules import dags
from crondor.macro.files import Files
from crondor.submit import SubmitFile, read_submit
from tests.cli.running import crondor
from tests.golden.dags.record import ANSWERS, cases, laid_out

RECORDED = json.loads(ANSWERS.read_text(encoding="utf-8"))
CASES = dict(cases())
SETTINGS = CheckSettings(1795305600, "Europe/Berlin")
OF_NODES = {"CRN808", "CRN809", "CRN810"}  # nothing that the checker looks at
BLOCK = re.compile(r"^```dag\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CHECKERS_OWN = {
    # It takes the arguments for a part of the script's name.
    "plain": {("x.dag", 8), ("x.dag", 9)},
    # It reads the file that it was given once more before it notices.
    "splice in itself": {("x.dag", 1)},
    "include": {("x.dag", 1), ("more.dag", 1)},
}
CRONDORS_OWN = {
    "splice in itself": {("inner.dag", 3)},
    # DagProcessor::process refuses what follows; the checker does not look at it.
    "parent before its include": {("x.dag", 2)},
    "connect": {("inner.dag", 5), ("x.dag", 4)},
    "save point of no node": {("x.dag", 2)},
    "roles that only DAGMan checks": {("x.dag", line) for line in range(4, 9)},
}


def read(source: Source, node: NodeText) -> SubmitFile:
    """Read the description of a node."""
    return read_submit(source, files=node.files, variables=node.variables)


def checked(folder: Path, files: dict[str, str]) -> tuple[CheckReport, ...]:
    """Check x.dag of some files."""
    laid_out(files, folder)
    below = Files([str(folder)], base=str(folder))
    return check_dag(below.read("x.dag"), SETTINGS, below, read)


def said(reports: tuple[CheckReport, ...]) -> set[tuple[str, int, str]]:
    """Return file, line and code of every finding."""
    spans = [(each.diagnostic.span, each.diagnostic.code) for report in reports for each in report.findings]
    return {(span.source.name, span.line, code) for span, code in spans if span is not None}


@pytest.mark.parametrize("name", CASES)
def test_the_lines_that_condor_dag_checker_refuses(name: str, tmp_path: Path) -> None:
    """And whether there is a cycle; the differences are those above."""
    found = said(checked(tmp_path, CASES[name]))
    of_dag = {each for each in found if each[2].startswith("CRN80") and each[2] not in OF_NODES}
    theirs = set()
    for file, line, reason in RECORDED[name]["errors"]:
        inside = re.match(r"(\w+\.dag):(\d+)>", reason)
        theirs.add((inside[1], int(inside[2])) if inside else (file, line))
    ours = {(Path(file).name, line) for file, line, code in of_dag if code != "CRN805"}
    assert ours - theirs == CRONDORS_OWN.get(name, set())
    assert theirs - ours == CHECKERS_OWN.get(name, set())
    assert any(code == "CRN805" for *_, code in of_dag) == RECORDED[name]["cycle"]


@pytest.mark.parametrize("rule", dags.RULES, ids=lambda rule: rule.code)
def test_the_page_of_a_rule_shows_it(rule: object, tmp_path: Path) -> None:
    """Its first DAG triggers the rule, the second one does not."""
    assert isinstance(rule, type(dags.RULES[0]))
    bad, good = BLOCK.findall(page(rule.code))
    for text, expected in ((bad, True), (good, False)):
        found = checked(tmp_path, {"a.sub": "", "b.sub": "", "x.dag": text})
        assert any(code == rule.code for *_, code in said(found)) is expected
    assert page(rule.code).startswith(f"# {rule.code} {rule.name}: {rule.title}\n")
    assert re.search(r"^Source: \S", page(rule.code), re.MULTILINE)


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=14))
def test_a_cycle_is_found_if_there_is_one(edges: list[tuple[int, int]]) -> None:
    """Graphlib is the judge."""
    text = "".join(f"JOB N{number} a.sub\n" for number in range(8))
    text += "".join(f"PARENT N{one} CHILD N{other}\n" for one, other in edges)
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for one, other in edges:
        sorter.add(other, one)
    try:
        sorter.prepare()
        expected = False
    except CycleError:
        expected = True
    expected = expected or any(one == other for one, other in edges)
    dag = read_dag(Source(text, "x.dag"))
    assert any(each.code == "CRN805" for each in dag.faults) is expected
    assert all(each.code == "CRN805" for each in dag.faults)


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\n\0"), max_size=12)


@given(
    st.dictionaries(st.from_regex(r"(?!(?i:queue|append|prepend|my))[a-z]\w{0,5}", fullmatch=True), WORDS, min_size=1)
)
def test_a_quoted_value_is_read_back(values: dict[str, str]) -> None:
    """Whatever characters it has; a backslash escapes a quote and itself."""
    escaped = {key: value.replace("\\", "\\\\").replace('"', '\\"') for key, value in values.items()}
    line = " ".join(f'{key}="{value}"' for key, value in escaped.items())
    dag = read_dag(Source(f"JOB A a.sub\nVARS A {line}\n", "x.dag"))
    (node,) = dag.nodes
    folded = {key.lower(): value for key, value in values.items()}
    assert {key: each.text for key, each in node.variables.items()} == folded
    assert all(each.name.text.lower() == each.key for each in node.variables.values())


@given(st.text(st.sampled_from("AB \n\t\"'\\={}@+#/%JOB PARENT CHILD VARS SPLICE INCLUDE SCRIPT"), max_size=80))
def test_any_text_is_read(text: str) -> None:
    """Without an exception, and every fault has a place."""
    assert all(each.span is not None for each in read_dag(Source(text, "x.dag")).faults)


def test_nodes_are_checked_with_their_variables(tmp_path: Path) -> None:
    """The findings are at the line: of the submit file, of VARS, of the node."""
    found = said(
        checked(
            tmp_path,
            {
                "x.dag": "JOB A a.sub\nJOB B a.sub\nJOB C {\n  reqest_disk = 1GB\n executable = /bin/true\n}\n"
                'VARS A x="1" minute="61"\nVARS B y="2"\nVARS ALL_NODES z="1"\n',
                "a.sub": "executable = /bin/true\narguments = $(x) $(z) $(JOB) $(RETRY)\ncron_minute = $(minute:0)\n",
            },
        )
    )
    a, x = str(tmp_path / "a.sub"), "x.dag"
    names = {(Path(file).name, line, code) for file, line, code in found}
    assert (x, 4, "CRN501") in names  # the misspelt command of the description inside
    assert (x, 8, "CRN501") in names  # nothing uses y
    assert (x, 9, "CRN501") not in names  # a.sub uses z, and C does not
    assert {(x, 1, "CRN808"), (x, 2, "CRN808")} & names
    assert (Path(a).name, 2, "CRN540") in names  # B has no x
    assert (Path(a).name, 3, "CRN101") in names  # minute 61 of A
    assert not any(code in {"CRN401", "CRN006"} and file == x for file, _, code in names)


def test_a_value_that_the_file_replaces(tmp_path: Path) -> None:
    """APPEND is defined last, and a value made of itself is used."""
    files = {
        "x.dag": 'JOB A a.sub\nVARS A x="1"\nVARS A APPEND y="1"\nVARS A z="1"\n',
        "a.sub": "x = 3\ny = 3\nz = $(z) 4\nexecutable = /bin/true\narguments = $(x) $(y) $(z)\nqueue\n",
    }
    assert {(line, code) for file, line, code in said(checked(tmp_path, files)) if file == "x.dag"} == {(2, "CRN810")}


def test_limits(tmp_path: Path) -> None:
    """Deep splices, many nodes, many faults: a note says what was left out."""
    deep = {f"d{n}.dag": f"SPLICE S d{n + 1}.dag\n" for n in range(30)}
    found = checked(tmp_path, {"x.dag": "SPLICE S d0.dag\n", **deep, "d30.dag": "JOB A a.sub\n"})
    assert [each.diagnostic.severity for each in found[0].findings] == [Severity.NOTE]
    nested = {f"n{n}.dag": "" for n in range(120)}
    found = checked(tmp_path, {"x.dag": "".join(f"SUBDAG EXTERNAL S{n} n{n}.dag\n" for n in range(120)), **nested})
    assert (len(found), [each.diagnostic.span.line for each in found[0].findings if each.diagnostic.span]) == (
        101,
        [101],
    )
    many = "".join(f"JOB N{n} a.sub\n" for n in range(50))
    dag = read_dag(Source(many, "x.dag"), None, DagLimits(nodes=20))
    assert (len(dag.nodes), len(dag.faults), dag.is_whole) == (20, 1, False)
    assert len(read_dag(Source("FOO\n" * 5000, "x.dag")).faults) == DagLimits().faults
    laid_out({"s.dag": many}, tmp_path)
    below = Files([str(tmp_path)], base=str(tmp_path))
    for text, limits in (
        (many + 'VARS ALL_NODES a="1"\n' * 9, DagLimits(steps=100)),
        (many + "SCRIPT PRE ALL_NODES /bin/true\n" * 9, DagLimits(steps=100)),
        ("SPLICE S s.dag\nJOB A a.sub\nPARENT A CHILD" + " S" * 9, DagLimits(steps=100)),
        ("SPLICE S s.dag\nSPLICE T s.dag\nSPLICE U s.dag\nSPLICE V s.dag\n", DagLimits(size=500)),
        (f"SPLICE {'S' * 99} s.dag\n", DagLimits(size=1000)),
    ):
        dag = read_dag(Source(text, "x.dag"), below, limits)
        assert ({each.severity for each in dag.faults}, dag.is_whole) == ({Severity.NOTE}, False)
        assert len(dag.faults) < 3


def test_the_time_is_not_quadratic() -> None:
    """A line of 200,000 pieces is read, and each of 200,000 unknown names is not compared with all others."""
    (node,) = read_dag(Source("\\\n" * 200_000 + "JOB A \\\n" + "\\\n" * 200_000 + "a.sub\n", "x.dag")).nodes
    assert (node.place.text, node.file_place.text) == ("A", "a.sub")
    names = " ".join(f"missing{n}" for n in range(20_000))
    jobs = "".join(f"JOB N{n} a.sub\n" for n in range(20_000))
    assert len(read_dag(Source(f"{jobs}PARENT N1 CHILD {names}\n", "x.dag")).faults) == DagLimits().faults


def test_no_other_name_is_suggested_for_a_short_one() -> None:
    """All names of one or two letters are similar. A long one is shortened."""
    long = f"JOB {'n' * 5000} a.sub\n"
    assert len(read_dag(Source(long * 2, "x.dag")).faults[0].message) < 1100
    (fault,) = read_dag(Source("JOB A a.sub\nJOB AB a.sub\nRETRY B 3\n", "x.dag")).faults
    assert (fault.help, fault.fix) == ("define it with JOB", None)


def test_nothing_outside_is_read(tmp_path: Path) -> None:
    """Neither by a path nor by a link; a note says so."""
    (tmp_path / "secret.sub").write_text("wrong\n", encoding="utf-8")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link.sub").symlink_to(tmp_path / "secret.sub")
    found = checked(inside, {"x.dag": "JOB A ../secret.sub\nJOB B link.sub\nINCLUDE ../secret.sub\nJOB C sub DIR ..\n"})
    assert all(each.diagnostic.severity is Severity.NOTE for report in found for each in report.findings)
    assert len(found) == 1


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Selection, comments, fixes and statuses are those of submit files."""
    monkeypatch.chdir(tmp_path)
    Path("a.sub").write_text("executable = /bin/true\nreqest_disk = 1GB\nqueue\n", encoding="utf-8")
    Path("x.dag").write_text("JOB A a.sub\n# crondor: ignore[CRN802]\nRETRY B 3\nJBO C a.sub\n", encoding="utf-8")
    result = crondor("check", "x.dag")
    assert result.status == 1
    assert "x.dag:4:1: error: JBO is not a command of DAG files [CRN801]" in result.out
    assert "a.sub:2:1: warning: HTCondor has no command reqest_disk" in result.out
    assert "CRN802" not in result.out
    assert crondor("check", "--select", "CRN802", "x.dag").status == 0
    assert crondor("check", "--fix", "--write", "--unsafe", "x.dag", "a.sub").status == 0
    assert Path("x.dag").read_text(encoding="utf-8").splitlines()[-1] == "JOB C a.sub"
    assert "request_disk" in Path("a.sub").read_text(encoding="utf-8")
    assert crondor("check", "-", stdin="JOB A\n").status == 1
