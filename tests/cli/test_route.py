"""`crondor route show` and `check`: status 0 fine, 1 a finding, 2 wrong usage."""

import json
import sys
from pathlib import Path

import pytest

from tests.cli.running import NOW, Result, crondor

GOOD = """JOB_ROUTER_ROUTE_NAMES = Site1, Site2
JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES = Tag
JOB_ROUTER_TRANSFORM_Tag = SET Tagged true
JOB_ROUTER_ROUTE_Site1 @=end
  REQUIREMENTS RequestMemory > 5
  GridResource = "batch slurm"
  MaxJobs = 3
@end
JOB_ROUTER_ROUTE_Site2 @=end
  UNIVERSE vanilla
  REQUIREMENTS Owner == "ann"
@end
"""
SHOWN = """Pre-Route Transform : Tag
\tNAME Tag
\tSET Tagged true

Route 1
Name         : "Site1"
Source       : Site1
Universe     : 9
MaxJobs      : 3
MaxIdleJobs  : 50
GridResource : batch slurm
Requirements : RequestMemory > 5
\tNAME Site1
\tUNIVERSE GRID
\tREQUIREMENTS RequestMemory > 5
\tGridResource = "batch slurm"
\tMaxJobs = 3

Route 2
Name         : "Site2"
Source       : Site2
Universe     : 5
MaxJobs      : 100
MaxIdleJobs  : 50
GridResource :
Requirements : Owner == "ann"
\tNAME Site2
\tUNIVERSE VANILLA
\tREQUIREMENTS Owner == "ann"

"""
BAD = GOOD.replace("Site1, Site2", "Site1, Site2, Gone").replace("  MaxJobs = 3", "  FROB x")


@pytest.fixture
def config(tmp_path: Path) -> str:
    """Return the path of a configuration with a good table."""
    path = tmp_path / "routes.conf"
    path.write_text(GOOD)
    return str(path)


@pytest.fixture
def bad(tmp_path: Path) -> str:
    """Return the path of a configuration with two bad routes."""
    path = tmp_path / "bad.conf"
    path.write_text(BAD)
    return str(path)


def test_the_table_is_shown_as_htcondor_shows_it(config: str) -> None:
    """A good one exits with 0."""
    result = crondor("route", "show", "--config", config)
    assert (result.status, result.out, result.err) == (0, SHOWN, "")


def test_standard_input_is_a_configuration(config: str) -> None:
    """Later files win."""
    result = crondor("route", "show", "--config", config, "--config", "-", stdin="JOB_ROUTER_ROUTE_NAMES = Site2\n")
    assert result.status == 0
    assert 'Route 1\nName         : "Site2"' in result.out
    assert crondor("route", "show", "--config", "-", "--config", "-").status == 2


def test_rejected_routes_are_shown_with_reason_and_place(bad: str) -> None:
    """condor_job_router_info leaves them out without a word."""
    result = crondor("route", "show", "--config", bad)
    assert result.status == 1
    assert result.out.endswith(
        "Rejected routes:\n"
        "Name         : Site1\n"
        f"Reason       : FROB is not a valid transform keyword ({bad}:7:3)\n"
        "Name         : Gone\n"
        f"Reason       : route 'Gone' from JOB_ROUTER_ROUTE_NAMES not found in the routing table ({bad}:1:40)\n"
    )


def test_the_table_as_json(bad: str) -> None:
    """With all that the text has."""
    result = crondor("route", "show", "--config", bad, "--format", "json")
    assert result.status == 1
    data = result.data
    assert data["is_enabled"] is True
    assert [each["name"] for each in data["routes"]] == ["Site2"]
    assert data["routes"][0]["place"] == {"file": bad, "line": 10, "column": 3}
    assert [each["name"] for each in data["rejected"]] == ["Site1", "Gone"]
    assert data["rejected"][0]["diagnostics"][0]["line"] == 7
    assert data["before"] == [{"name": "Tag", "text": "NAME Tag\nSET Tagged true"}]


def test_a_table_that_is_switched_off_says_so(tmp_path: Path) -> None:
    """With the reason."""
    path = tmp_path / "off.conf"
    path.write_text(GOOD.replace("JOB_ROUTER_TRANSFORM_Tag", "JOB_ROUTER_TRANSFORM_Tga"))
    result = crondor("route", "show", "--config", str(path))
    assert result.status == 1
    assert "JobRouter is disabled.\n" in result.err
    assert "JOB_ROUTER_TRANSFORM_Tag not found" in result.err
    assert "Route 1" not in result.out


@pytest.mark.parametrize(
    "knob", ["JOB_ROUTER_SOURCE_JOB_CONSTRAINT = (", "JOB_ROUTER_MAX_JOBS = many", "JOB_ROUTER_NAME ="]
)
@pytest.mark.parametrize("format_", ["table", "json"])
def test_a_knob_that_cannot_be_read_hides_no_route(knob: str, format_: str, tmp_path: Path) -> None:
    """They are shown, and the knob with its place: nothing is routed before it is mended."""
    path = tmp_path / "off.conf"
    path.write_text(f"{GOOD}{knob}\n")
    result = crondor("route", "show", "--config", str(path), "--format", format_)
    assert result.status == 1
    assert all(name in result.out for name in ("Site1", "Site2"))
    if format_ == "json":
        assert result.data["is_enabled"] is False
        assert [each["line"] for each in result.data["diagnostics"] if each["severity"] == "error"] == [
            GOOD.count("\n") + 1
        ]
    else:
        assert "JobRouter is disabled.\n" in result.err
        assert f"off.conf:{GOOD.count(chr(10)) + 1}:" in result.err


def test_a_clean_configuration_passes_the_check(config: str) -> None:
    """Nothing is found."""
    result = crondor("route", "check", "--config", config)
    assert (result.status, result.out) == (0, "1 file checked: nothing found\n")


def test_findings_are_shown_as_those_of_check(bad: str) -> None:
    """With the line underlined, and a count at the end."""
    result = crondor("route", "check", "--config", bad)
    assert result.status == 1
    assert f"{bad}:7:3: error: route Site1 is left out: FROB is not a valid transform keyword [CRN612]\n" in result.out
    assert result.lines[-1] == "1 file checked: 2 errors"


def test_findings_are_chosen_by_code(bad: str) -> None:
    """And a code that no rule has is wrong usage."""
    assert crondor("route", "check", "--config", bad, "--ignore", "CRN61").status == 0
    assert crondor("route", "check", "--config", bad, "--select", "CRN611").lines[-1] == "1 file checked: 1 error"
    assert crondor("route", "check", "--config", bad, "--select", "CRN1").status == 2


@pytest.mark.parametrize("form", ["json", "sarif", "github"])
def test_findings_for_programs(bad: str, form: str) -> None:
    """The forms of check."""
    result = crondor("route", "check", "--config", bad, "--format", form)
    assert result.status == 1
    assert "CRN612" in result.out
    if form == "json":
        assert [each["name"] for each in result.data["files"][0]["findings"]] == ["missing-route", "rejected-route"]
    if form == "sarif":
        assert [each["id"] for each in json.loads(result.out)["runs"][0]["tool"]["driver"]["rules"]] == [
            "CRN611",
            "CRN612",
        ]


def test_rules_are_listed_counted_and_explained(bad: str) -> None:
    """As those of check."""
    assert any(line.startswith("CRN632  warning  unreachable") for line in crondor("route", "check", "--rules").lines)
    assert crondor("route", "check", "--explain", "never-matches").out.startswith("# CRN631 never-matches")
    assert crondor("route", "check", "--explain", "CRN999").status == 2
    counted = crondor("route", "check", "--config", bad, "--statistics").lines
    assert counted == [
        "1  CRN611  missing-route: a listed route that is not defined",
        "1  CRN612  rejected-route: a route that HTCondor does not load",
        "1 file checked: 2 errors",
    ]


def test_an_included_file_is_read_below_its_folder_only(tmp_path: Path) -> None:
    """Unless another folder is allowed."""
    folder, other = tmp_path / "conf", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    (other / "more.conf").write_text(GOOD)
    main = folder / "main.conf"
    main.write_text(f"include : {other}/more.conf\n")
    hidden = crondor("route", "check", "--config", str(main))
    assert "CRN602" in hidden.out
    shown = crondor("route", "show", "--config", str(main), "--allow-dir", str(other))
    assert (shown.status, shown.out) == (0, SHOWN)


@pytest.mark.parametrize(
    "arguments",
    [("show",), ("check",), ("show", "--config", "/nowhere.conf"), ("check", "--config", "/nowhere.conf"), ("frob",)],
)
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    """A file that cannot be read is wrong usage, too."""
    assert crondor("route", *arguments).status == 2


def test_a_file_that_is_no_text_is_a_finding(tmp_path: Path) -> None:
    """No traceback."""
    path = tmp_path / "x.conf"
    path.write_bytes(b"A = \xff\xfe\n")
    for command in ("show", "check"):
        result = crondor("route", command, "--config", str(path))
        assert result.status == 1
        assert "UTF-8" in result.out + result.err


def test_routes_written_as_classads_are_taken_on_request(tmp_path: Path) -> None:
    """HTCondor 25 does not look at them."""
    path = tmp_path / "old.conf"
    path.write_text('JOB_ROUTER_ENTRIES = [ name = "Site 1"; Requirements = X; GridResource = "batch pbs"; ]\n')
    assert crondor("route", "show", "--config", str(path)).status == 1
    result = crondor("route", "show", "--config", str(path), "--legacy")
    assert result.status == 0
    assert 'Name         : "Site 1"\n' in result.out


def test_a_file_without_its_option_is_told_where_it_belongs(config: str) -> None:
    """It is what one tries first; other mistakes keep their own words."""
    for command in ("show", "check", "convert"):
        result = crondor("route", command, config, "more.conf")
        assert result.status == 2
        words = f"crondor route {command} --config {config} --config more.conf"
        assert f"Error: give the file with --config: {words}\n" in result.err
    assert "'yaml' is not one of" in crondor("route", "check", "--format", "yaml", config).err


def test_what_is_said_of_many_routes_counts_once(tmp_path: Path) -> None:
    """As crondor route check counts; of ClassAd routes, route convert says more."""
    path = tmp_path / "twice.conf"
    path.write_text("JOB_ROUTER_ROUTE_NAMES = A A A\nJOB_ROUTER_ROUTE_A = REQUIREMENTS X\n")
    assert crondor("route", "show", "--config", str(path)).err == "2 warnings: see crondor route check\n"
    assert "1 file checked: 2 warnings" in crondor("route", "check", "--config", str(path)).out
    path.write_text('JOB_ROUTER_ENTRIES = [ name = "S 1"; GridResource = "x"; Requirements = CurrentTime > x; ]\n')
    shown = crondor("route", "show", "--config", str(path), "--legacy")
    assert shown.err == "2 notes: see crondor route convert\n"


CONFIG = """JOB_ROUTER_ROUTE_NAMES = Site1
SEC_TOKEN_DIRECTORY = {folder}/tokens
JOB_ROUTER_CREATE_IDTOKEN_NAMES = site
JOB_ROUTER_CREATE_IDTOKEN_site @=end
  sub = "router"
  lifetime = 600
  scope = "condor:/READ"
@end
JOB_ROUTER_ROUTE_Site1 @=end
  REQUIREMENTS WantJobRouter
  UNIVERSE vanilla
  JobShouldBeSandboxed = true
  {more}
@end
"""
JOB = """executable = /bin/true
transfer_executable = false
transfer_input_files = input
+WantJobRouter = true
queue
"""
ISSUER = """#!{python}
import json, sys
request = json.load(sys.stdin)
print("token-of-" + request["sub"] + "-" + str(request["lifetime"]) + "-" + ",".join(request["scope"]))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a configuration, a program that makes tokens, and a queue of one job."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tokens").mkdir()
    (tmp_path / "input").write_text("hello")
    (tmp_path / "job.sub").write_text(JOB)
    (tmp_path / "issuer").write_text(ISSUER.format(python=sys.executable))
    (tmp_path / "issuer").chmod(0o755)
    configure(tmp_path)
    assert crondor("queue", "submit", "job.sub", "--queue", "queue", "--now", NOW).status == 0
    return tmp_path


def configure(folder: Path, more: str = "") -> None:
    """Write the configuration."""
    (folder / "routes.conf").write_text(CONFIG.format(folder=folder, more=more))


def run(*arguments: str) -> Result:
    """Run the router over the folder's queue, for one poll."""
    return crondor("route", "run", "--config", "routes.conf", "--queue", "queue", "--once", "--now", NOW, *arguments)


def said(found: Result) -> list[str]:
    """Return what was said, without times and jobs."""
    return [line.rpartition("): ")[2] for line in found.lines[1:]]


def test_input_is_spooled(folder: Path) -> None:
    """In HTCondor's layout; a dry run looks at the files and moves none."""
    dry = run("--spool", "spool", "--files-dir", ".", "--dry-run")
    assert (dry.status, dry.err, said(dry)[1]) == (0, "", "submitted job")
    assert not (folder / "spool").exists()
    found = run("--spool", "spool", "--files-dir", ".")
    assert (found.status, found.err, said(found)[1]) == (0, "", "submitted job")
    assert (folder / "spool/2/0/cluster2.proc0.subproc0/input").read_text() == "hello"


def test_what_is_missing_is_said(folder: Path) -> None:
    """By a dry run as well; nothing is submitted."""
    (folder / "input").unlink()
    for more in ((), ("--dry-run",)):
        found = run("--spool", "spool", "--files-dir", ".", *more)
        assert "failed to submit job: cannot open" in said(found)[1]
        assert found.status == 0


def test_without_a_spool_a_sandbox_is_refused(folder: Path) -> None:
    """As before; with an issuer alone as well."""
    assert "this router cannot move files" in run("--dry-run").out
    assert "this router has no spool" in run("--token-issuer", str(folder / "issuer")).out


def test_tokens_are_made_by_a_program(folder: Path) -> None:
    """They go into the sandbox before the other files."""
    configure(folder, 'SendIDTokens = "site"')
    found = run("--spool", "spool", "--files-dir", ".", "--token-issuer", str(folder / "issuer"))
    assert (found.status, found.err) == (0, "")
    token = "token-of-router-600-condor:/READ\n"  # noqa: S105 - of a test
    assert (folder / "tokens/site").read_text() == token
    assert (folder / "spool/2/0/cluster2.proc0.subproc0/site").read_text() == token
    assert sorted(path.name for path in (folder / "queue").iterdir() if "router" in path.name) == [
        "jobrouterLock.tokens"
    ]


def test_a_program_that_fails_is_said(folder: Path) -> None:
    """And the route that sends its token as well."""
    configure(folder, 'SendIDTokens = "site"')
    (folder / "issuer").write_text("#!/bin/sh\necho no key >&2\nexit 3\n")
    found = run("--spool", "spool", "--files-dir", ".", "--token-issuer", str(folder / "issuer"))
    assert "failed to create token site" in found.err
    assert "exited with status 3: no key" in found.err
    assert "unknown IDTOKEN site" in found.out


@pytest.mark.parametrize("arguments", [("--spool", "spool"), ("--files-dir", "."), ("--token-issuer", "issuer")])
@pytest.mark.usefixtures("folder")
def test_options_that_do_not_go_together(arguments: tuple[str, ...]) -> None:
    """Wrong usage."""
    assert run(*arguments).status == 2
