"""`crondor route test`: expectations as TOML, tried and recorded."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from crondor.diagnostics import Source
from crondor.router.compare import Expectation
from crondor.router.compare.expectation_files import BadExpectations, read_expectations, written
from tests.cli.running import Result, crondor
from tests.cli.test_route_diff import JOB, NEW, OLD

TESTS = """config = ["old.conf"]

[[test]]
name = "large jobs go to the batch system"
job = { RequestMemory = 8001 }
route = "Large"
copy = { GridResource = "batch slurm", JobUniverse = 9 }
copy_without = ["CurrentHosts"]

[[test]]
name = "others stay"
job = { RequestMemory = 8000 }
job_expressions = { RequestDisk = "DiskUsage * 2" }
job_without = ["Arguments"]
route = "Rest"

[[test]]
name = "held jobs are none"
job = { JobStatus = 5 }
no_route = "only idle jobs"
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.conf").write_text(OLD, encoding="utf-8")
    Path("new.conf").write_text(NEW, encoding="utf-8")
    Path("routes.toml").write_text(TESTS, encoding="utf-8")


def tried(*arguments: str) -> Result:
    """Try the file of tests."""
    return crondor("route", "test", "routes.toml", *arguments)


def test_all_as_expected() -> None:
    """One line, or none."""
    assert (tried().status, tried().out) == (0, "3 tests passed\n")
    assert tried("-q").out == ""


def test_what_fails_is_said_with_its_place_and_reason() -> None:
    """The other route, why not the one that is meant, and what the copy has instead."""
    found = tried("--config", "new.conf")
    assert found.status == 1
    assert found.lines == [
        "routes.toml:10: FAILED others stay",
        "  route: expected Rest, found Large, since Large is asked before Rest",
        "1 test failed, 2 tests passed",
    ]
    Path("routes.toml").write_text(
        TESTS.replace("batch slurm", "batch pbs").replace("only idle", "bad"), encoding="utf-8"
    )
    found = tried()
    assert '  GridResource: expected "batch pbs", found "batch slurm"' in found.lines
    assert any(line.startswith("  reason: expected bad jobs, found only idle jobs") for line in found.lines)


def test_json_junit_and_github() -> None:
    """The same for programs."""
    found = tried("--config", "new.conf", "--format", "json")
    assert (found.data["passed"], found.data["failed"]) == (2, 1)
    assert found.data["tests"][1]["unmet"][0]["what"] == "route"
    suites = ET.fromstring(tried("--config", "new.conf", "--format", "junit").out)  # noqa: S314 - the same
    assert suites.attrib["failures"] == "1"
    assert [case.attrib["name"] for case in suites.iter("testcase") if case.find("failure") is not None] == [
        "others stay"
    ]
    line = tried("--config", "new.conf", "--format", "github").out
    assert line.startswith("::error title=route test%3A others stay,file=routes.toml,line=10::route: expected Rest")


def test_xml_takes_any_text() -> None:
    """Quotes, signs of markup, and what XML has no sign for."""
    text = TESTS.replace("others stay", 'a <b> & \\"c\\" \\u0001').replace('"Rest"', '"R<&"')
    Path("routes.toml").write_text(text, encoding="utf-8")
    suites = ET.fromstring(tried("--format", "junit").out)  # noqa: S314
    assert [case.attrib["name"] for case in suites.iter("testcase")][1] == 'a <b> & "c" \\x01'


def test_record_writes_the_file_that_is_named() -> None:
    """As -o FILE does; without either the tests are printed, and stderr says how to keep them."""
    named = crondor("route", "test", "--record", "--config", "old.conf", "named.toml")
    assert (named.status, named.out, named.err) == (0, "", "")
    assert crondor("route", "test", "named.toml").status == 0
    printed = crondor("route", "test", "--record", "--config", "old.conf")
    assert printed.out == Path("named.toml").read_text(encoding="utf-8")
    assert "-o FILE" in printed.err


def test_what_is_recorded_passes_and_finds_a_change() -> None:
    """Of made jobs, and of those of a queue; the file names its configuration as seen from its folder."""
    Path("ci").mkdir()
    assert crondor("route", "test", "--record", "--config", "old.conf", "-o", "ci/r.toml").status == 0
    assert Path("ci/r.toml").read_text(encoding="utf-8").startswith('config = ["../old.conf"]\n')
    found = crondor("route", "test", "ci/r.toml", "--format", "json")
    assert (found.status, found.data["failed"]) == (0, 0)
    assert {each["route"] for each in found.data["tests"]} >= {"Short", "Large", "Rest"}
    assert crondor("route", "test", "ci/r.toml", "--config", "new.conf").status == 1
    Path("queue.ads").write_text(JOB.format(1, "RequestMemory = DiskUsage\nDiskUsage = 9000"), encoding="utf-8")
    recorded = crondor("route", "test", "--record", "--config", "old.conf", "--ads", "queue.ads").out
    assert 'job_expressions = { RequestMemory = "DiskUsage" }' in recorded
    assert 'route = "Rest"' in recorded or 'route = "Large"' in recorded
    again = crondor("route", "test", "--record", "--config", "old.conf", "-o", "ci/r.toml")
    assert (again.status, "exists" in again.err) == (2, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file has no [[test]]"),
        ("x = [", "this is not TOML"),
        ("confg = 1\n[[test]]\nroute = 'A'", "unknown key confg"),
        ("config = 5\n[[test]]\nroute = 'A'", "config is a list of file names"),
        ("test = 5", "a test is a table"),
        ("[[test]]\nname = 5\nroute = 'A'", "name must be a string"),
        ("[[test]]\njob = {A=1}", "say where the job goes"),
        ("[[test]]\nroute = 'A'\nno_route = true", "say where the job goes"),
        ("[[test]]\nroute = 5", "route must be the name of a route"),
        ("[[test]]\nno_route = 5", "no_route must be true"),
        ("[[test]]\nno_route = true\ncopy = {A=1}", "a job that no route takes has no copy"),
        ("[[test]]\nroute = 'A'\njob = 5", "job must be a table of attributes"),
        ("[[test]]\nroute = 'A'\njob = {'a b'=1}", "a b is not an attribute name"),
        ("[[test]]\nroute = 'A'\njob = {A={B=1}}", "A has a value that is not possible in a ClassAd"),
        ("[[test]]\nroute = 'A'\njob_expressions = {A=1}", "an expression is a text"),
        ("[[test]]\nroute = 'A'\njob_expressions = {A='1 +'}", "A is no expression"),
        ("[[test]]\nroute = 'A'\njob_without = 5", "job_without must be a list of attributes"),
        ("[[test]]\nroute = 'A'\njbo = {A=1}", "unknown key jbo"),
        ("x = " + "[" * 5000, "nested too deeply"),
    ],
)
def test_a_file_that_cannot_be_used(text: str, said: str) -> None:
    """Where, what, and status 2."""
    Path("routes.toml").write_text(text, encoding="utf-8")
    found = tried("--config", "old.conf")
    assert found.status == 2
    assert said in found.err
    assert "routes.toml:" in found.err


def test_a_key_is_shown_where_it_stands() -> None:
    """In its own test."""
    with pytest.raises(BadExpectations) as caught:
        read_expectations(Source("[[test]]\nroute = 'A'\n[[test]]\nroute = 5\n", "t.toml"))
    assert [each.span and each.span.location for each in caught.value.diagnostics] == ["t.toml:4:1"]


def test_wrong_usage() -> None:
    """No file, no configuration, options that do not go together."""
    assert crondor("route", "test").status == 2
    Path("there.toml").touch()
    refused = crondor("route", "test", "there.toml", "--record", "--config", "old.conf")
    assert (refused.status, Path("there.toml").read_text(encoding="utf-8")) == (2, "")
    assert "--record -o there.toml" in refused.err
    assert crondor("route", "test", "a", "--record", "--config", "old.conf", "-o", "b").status == 2
    assert tried("--ads", "x").status == 2
    Path("routes.toml").write_text(TESTS.replace('config = ["old.conf"]', ""), encoding="utf-8")
    assert "give its files with --config FILE" in crondor("route", "test", "routes.toml", "--config-root", ".").err


def test_what_is_written_reads_as_it_was() -> None:
    """Values, expressions, what is not there, and any sign in a text."""
    texts = {
        "A": "5",
        "B": "-5",
        "C": '"x\\"y\\\\z\\u00e9"',
        "D": "true",
        "E": "X + 1",
        "F": None,
        "G": "2.5",
        "H": "{ 1,2 }",
    }
    expected = [
        Expectation('a "name" \\ é\x7f', texts, "R", "", {"A": "undefined", "B": None}),
        Expectation("none", {}, None, "why"),
    ]
    text = "\n".join(written(expected, ['a"b.conf']))
    read = read_expectations(Source(text, "t.toml"))
    assert read.config == ('a"b.conf',)
    assert [each.expectation.name for each in read.tests] == [each.name for each in expected]
    again = "\n".join(written([each.expectation for each in read.tests], read.config))
    assert again == text


def test_a_file_of_tests_names_nothing_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever wrote it does not choose what is read and shown, by a link neither; the user may."""
    for name in ("inner", "other"):
        Path(name).mkdir()
    Path("other/secret").write_text("a secret\n", encoding="utf-8")
    Path("inner/link.conf").symlink_to("../other/secret")
    monkeypatch.chdir("inner")
    for name in ("../other/secret", str(tmp_path / "other" / "secret"), "link.conf"):
        Path("t.toml").write_text(TESTS.replace("old.conf", name), encoding="utf-8")
        result = crondor("route", "test", "t.toml")
        assert (result.status, result.out) == (2, "")
        assert "is outside" in result.err
        assert "a secret" not in result.err
    Path("t.toml").write_text(TESTS.replace("old.conf", "../old.conf"), encoding="utf-8")
    assert crondor("route", "test", "t.toml", "--allow-dir", "..").status == 0
    assert crondor("route", "test", "t.toml", "--config", "../old.conf").status == 0
