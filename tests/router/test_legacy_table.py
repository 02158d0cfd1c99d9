"""Tables in either syntax: ClassAd routes beside routes of today."""

from pathlib import Path

from crondor.classad import ClassAd
from crondor.config import read_config
from crondor.diagnostics import Source
from crondor.macro.files import Files
from crondor.router import RoutingTable, load_table
from crondor.router.legacy import convert_table, legacy_table, read_legacy

OLD = """JOB_ROUTER_DEFAULTS = [ requirements = target.WantJobRouter is True; MaxJobs = 200; set_requirements = true; ]
JOB_ROUTER_ENTRIES = [ GridResource = "batch slurm"; name = "Site 1"; ] \\
  [ name = "Old"; TargetUniverse = 5; MaxJobs = 7; ]
"""
NEW = """JOB_ROUTER_ROUTE_New @=end
  UNIVERSE VANILLA
  REQUIREMENTS X
@end
JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES = T
JOB_ROUTER_TRANSFORM_T = SET Seen true
"""


def load(text: str, files: Files | None = None) -> RoutingTable:
    """Load a configuration in either syntax."""
    return legacy_table(read_legacy(read_config(Source(text, "old.conf")), files=files))


def test_old_routes_need_no_list() -> None:
    """They come in the order in which they are written, each with its limits, and are converted."""
    table = load(OLD)
    assert table.is_enabled
    assert [(each.name, each.max_jobs, each.universe, each.is_legacy) for each in table.routes] == [
        ("Site 1", 200, 9, True),
        ("Old", 7, 5, True),
    ]
    assert table.routes[0].transform.matches(ClassAd({"WantJobRouter": True}))
    assert not table.routes[0].transform.matches(ClassAd({}))
    assert not load_table(read_config(Source(OLD))).is_enabled


def test_both_kinds_stand_in_one_table() -> None:
    """Transforms before and after routes are for those of today only."""
    table = load(OLD + NEW)
    assert [(each.name, each.takes_transforms) for each in table.routes][-1] == ("New", True)
    assert {each.name for each in table.routes} == {"Site 1", "Old", "New"}
    assert [each.takes_transforms for each in table.routes if each.is_legacy] == [False, False]
    listed = load(f"JOB_ROUTER_ROUTE_NAMES = New Old Gone\n{OLD}{NEW}")
    assert [each.name for each in listed.routes] == ["New", "Old"]
    assert any("Gone" in each.message for each in listed.diagnostics)


def test_a_route_of_today_written_as_a_classad_is_converted() -> None:
    """HTCondor 25 leaves it out."""
    text = "JOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ROUTE_A = [ TargetUniverse = 5; Requirements = X; ]\n"
    assert [(each.name, each.is_legacy, each.takes_transforms) for each in load(text).routes] == [("A", True, True)]
    assert [each.name for each in load_table(read_config(text)).rejected] == ["A"]


def test_what_switches_routing_off_does_so_here_too() -> None:
    """Defaults that do not read, a transform that is missing, and no route at all."""
    for text in (
        "JOB_ROUTER_DEFAULTS = [ x\n" + OLD[OLD.index("JOB_ROUTER_ENTRIES") :],
        OLD + NEW.replace("FORM_T =", "FORM_U ="),
        "A = 1\n",
        OLD + "nothing\n",
    ):
        table = load(text)
        assert (table.is_enabled, table.routes) == (False, ())


def test_a_table_in_a_file(tmp_path: Path) -> None:
    """Read below the folder that is allowed; a command is not run."""
    (tmp_path / "table").write_text('[ name = "F"; Requirements = X; GridResource = "batch pbs"; ]\n')
    files = Files([str(tmp_path)], base=str(tmp_path))
    text = "JOB_ROUTER_ENTRIES_FILE = table\nJOB_ROUTER_ENTRIES_CMD = /bin/echo x\n"
    table = load(text, files)
    assert [each.name for each in table.routes] == ["F"]
    assert any("ENTRIES_CMD" in each.message for each in table.diagnostics)
    assert load("JOB_ROUTER_ENTRIES_FILE = table\n").routes == ()


def test_what_only_a_conversion_changes_is_not_said_of_the_table_as_it_is() -> None:
    """Its routes keep their names, no transform reaches them, and they are read again."""
    text = """
JOB_ROUTER_ENTRIES = [ Name = "Site 1"; Requirements = CurrentTime > 5; GridResource = "arc" ]
JOB_ROUTER_ENTRIES_REFRESH = 60
JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES = T
JOB_ROUTER_TRANSFORM_T = SET A 1
"""
    taken = legacy_table(read_legacy(read_config(text)))
    converted = {each.kind for each in convert_table(read_legacy(read_config(text))).diagnostics}
    assert converted >= {"legacy-name", "legacy-around", "legacy-refresh", "legacy-current-time"}
    assert [each.name for each in taken.routes] == ["Site 1"]
    assert {each.kind for each in taken.diagnostics} == converted - {"legacy-name", "legacy-around", "legacy-refresh"}
