"""`crondor route convert`: status 0 all converted, 1 a route or an attribute is left out, 2 wrong usage."""

from pathlib import Path

import pytest

from tests.cli.running import crondor

OLD = """\
SITE = b.edu
JOB_ROUTER_DEFAULTS = [ Requirements = TARGET.WantJobRouter is true; MaxIdleJobs = 10 ]
JOB_ROUTER_ENTRIES = [ Name = "Site 1"; GridResource = "gt2 $(SITE)"; set_A = CurrentTime ] \\
  [ Name = "Site2"; GridResource = "batch slurm"; queue = "atlas" ]
"""


@pytest.fixture
def old(tmp_path: Path) -> str:
    """Return the path of an old configuration."""
    path = tmp_path / "old.conf"
    path.write_text(OLD)
    return str(path)


def test_the_new_configuration_is_one_that_the_router_loads(old: str, tmp_path: Path) -> None:
    """It stands on stdout, or in a file; what changed stands on stderr with a summary."""
    result = crondor("route", "convert", "--config", old)
    assert result.status == 0
    assert "   SET A time()\n" in result.out
    assert '   GridResource = "gt2 $(SITE)"\n' in result.out
    assert result.out.startswith("SITE = b.edu\n")
    assert result.out.endswith("JOB_ROUTER_ROUTE_NAMES = Site1 Site2\n")
    column = OLD.splitlines()[2].index("CurrentTime") + 1
    assert f"{old}:3:{column}: note: Site 1: set_A: CurrentTime becomes time() [legacy-current-time]" in result.err
    assert "warning: Site2 now takes jobs; HTCondor 23 rejected it [legacy-differs]" in result.err  # over queue
    assert "differences from the old routes: 2 warnings, 2 notes\n" in result.err
    assert result.err.endswith("through the old routes and the new: 2 differences\n")
    new = tmp_path / "new.conf"
    written = crondor("route", "convert", "--config", old, "-o", str(new))
    assert (written.status, written.out) == (0, "")
    assert new.read_text() == result.out
    shown = crondor("route", "show", "--config", str(new))
    assert shown.status == 0
    assert '"Site2"' in shown.out


def test_route_diff_proves_a_conversion(tmp_path: Path) -> None:
    """Nothing differs where nothing is said; where something is, it is shown."""
    before, after = tmp_path / "before.conf", tmp_path / "after.conf"
    entry = '[ Name = "A"; TargetUniverse = 5; Requirements = RequestMemory < limit; limit = 8000; eval_set_N = %s ]'
    for value, differences, status in (("RequestCpus * limit", "no differences", 0), ("TARGET.X", "1 difference", 1)):
        before.write_text(f"JOB_ROUTER_ENTRIES = {entry % value}\n")
        converted = crondor("route", "convert", "--config", str(before), "-o", str(after), "--force")
        assert converted.err.endswith(f"through the old routes and the new: {differences}\n")
        compared = crondor("route", "diff", "--legacy", "--made", str(before), str(after))
        assert (compared.status, compared.err) == (status, "")


def test_htcondor_s_own_conversion_is_there_in_both_modes(old: str) -> None:
    """Its defects included."""
    file = crondor("route", "convert", "--config", old, "--faithful")
    assert file.status == 0
    assert "   SET A CurrentTime\n" in file.out
    assert "   queue = atlas\n" in file.out
    assert file.out.startswith("\n##### Route 1\nJOB_ROUTER_ROUTE_Site1 @=jre\n   NAME Site 1\n")
    config = crondor("route", "convert", "--config", old, "--faithful", "--mode", "config")
    assert config.out.startswith("\n##### JOB_ROUTER_ENTRIES [1] #####\nNAME Site 1\n")
    assert 'GridResource = "gt2 b.edu"\n' in config.out


def test_findings_and_routes_are_data_in_json(old: str) -> None:
    """Nothing is on stderr then."""
    result = crondor("route", "convert", "--config", old, "--format", "json")
    assert (result.status, result.err) == (0, "")
    assert [(each["name"], each["was"]) for each in result.data["routes"]] == [("Site1", "Site 1"), ("Site2", "Site2")]
    assert result.data["names"] == ["Site1", "Site2"]
    assert result.data["macros"] == {"SITE": "b.edu"}
    assert {each["code"] for each in result.data["diagnostics"]} == {
        "legacy-name",
        "legacy-current-time",
        "legacy-keyword",
        "legacy-differs",
    }
    assert result.data["verified"]["differences"] == 2


def test_a_malformed_route_is_reported_and_the_others_are_converted(tmp_path: Path) -> None:
    """With file, line and column."""
    path = tmp_path / "bad.conf"
    path.write_text('JOB_ROUTER_ENTRIES = [ Name = "a"; x = ) ] [ Name = "b"; Requirements = true ]\n')
    result = crondor("route", "convert", "--config", str(path))
    assert result.status == 1
    assert f"{path}:1:40: error: malformed route in JOB_ROUTER_ENTRIES, ignored:" in result.err
    assert result.out.endswith("JOB_ROUTER_ROUTE_NAMES = b\n")


def test_what_the_command_printed_can_be_handed_over(tmp_path: Path) -> None:
    """The command itself is never run."""
    path = tmp_path / "cmd.conf"
    ran = tmp_path / "ran"
    path.write_text(f"JOB_ROUTER_ENTRIES_CMD = touch {ran}\nJOB_ROUTER_DEFAULTS = Requirements = true\n")
    result = crondor("route", "convert", "--config", str(path))
    assert "legacy-command" in result.err
    table = tmp_path / "table.txt"
    table.write_text('[ GridResource = "gt2 a.edu/jobmanager"; ]\n')
    result = crondor("route", "convert", "--config", str(path), "--cmd-output", str(table))
    assert result.status == 0
    assert "JOB_ROUTER_ROUTE_gt2aedujobmanager @=jre\n" in result.out
    assert not ran.exists()


def test_entries_of_a_file_beside_the_configuration_are_read(tmp_path: Path) -> None:
    """Those of any other folder are not, unless it is allowed."""
    (tmp_path / "entries").write_text('[ Name = "f"; Requirements = true ]')
    path = tmp_path / "c.conf"
    path.write_text("JOB_ROUTER_ENTRIES_FILE = entries\n")
    assert "JOB_ROUTER_ROUTE_f" in crondor("route", "convert", "--config", str(path)).out
    path.write_text("JOB_ROUTER_ENTRIES_FILE = /etc/hostname\n")
    assert crondor("route", "convert", "--config", str(path)).status == 1


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--config", "OLD", "--mode", "file"],
        ["--config", "OLD", "--faithful", "--format", "json"],
        ["--config", "OLD", "--faithful", "--cmd-output", "x"],
        ["--config", "OLD", "-o", "OLD"],
        ["--config", "OLD", "-o", "/nowhere/at/all"],
        ["--config", "OLD", "--cmd-output", "/nowhere/at/all"],
        ["--config", "OLD", "--cmd-output", "OLD"],
        ["--config", "/nowhere/at/all"],
    ],
)
def test_wrong_usage_is_told(arguments: list[str], old: str) -> None:
    """Before anything is written."""
    result = crondor("route", "convert", *(old if each == "OLD" else each for each in arguments))
    assert result.status == 2
    assert "Error: " in result.err
    assert Path(old).read_text(encoding="utf-8") == OLD


def test_terminal_controls_of_a_name_are_not_printed_raw(tmp_path: Path) -> None:
    """What a table says is text."""
    path = tmp_path / "c.conf"
    path.write_bytes(b'JOB_ROUTER_ENTRIES = [ Name = "\\033[2J"; x = ) ]\n[ Name = "a"\n')
    result = crondor("route", "convert", "--config", str(path))
    assert "\x1b" not in result.err


def test_a_configuration_without_old_routes_is_told_so(tmp_path: Path) -> None:
    """And gets no empty list, which would switch routing off; what is wrong beside is no difference."""
    path = tmp_path / "new.conf"
    path.write_text("A = 1\n")
    result = crondor("route", "convert", "--config", str(path))
    assert (result.status, result.out, result.err) == (0, "", "no old routes to convert\n")
    path.write_text('use ROLE : Execute\nJOB_ROUTER_ENTRIES = [ name = "A"; Requirements = X ]\n')
    result = crondor("route", "convert", "--config", str(path))
    assert "differences from the old routes: none\nin the rest of the configuration: 1 note\n" in result.err
