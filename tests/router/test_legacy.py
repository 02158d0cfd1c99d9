"""Tables of ClassAd routes: what is read, in which order, under which names, and what is said of the rest."""

from pathlib import Path

import pytest

from crondor.classad import ClassAd, EvaluationFailed
from crondor.config import read_config
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source
from crondor.macro.files import Files
from crondor.router import RoutingTable, load_table
from crondor.router.legacy import (
    ConversionMode,
    LegacyTable,
    Macros,
    convert_as_tool,
    convert_table,
    legacy_routes,
    legacy_table,
    read_legacy,
)

SEED = Path(__file__).with_name("legacy.conf").read_text(encoding="utf-8")


def _codes(table: LegacyTable) -> list[str]:
    return [found.kind for found in table.diagnostics]


def _names(table: LegacyTable) -> list[str]:
    return [entry.name for entry in table.entries]


def _only(table: LegacyTable, code: str) -> Diagnostic:
    return next(found for found in table.diagnostics if found.kind == code)


def test_the_example_of_the_old_manual_routes_a_job() -> None:
    """Its second route takes the job that asks for it, with the defaults and its own attributes."""
    table = read_legacy(SEED)
    assert _names(table) == ["Site 1", "Site 2", "Site 3"]
    assert not table.diagnostics
    route = legacy_routes(table)[1]
    assert (route.name, route.max_jobs, route.max_idle_jobs) == ("Site 2", 200, 10)
    assert (route.grid_resource, route.is_legacy, route.takes_transforms) == (
        "gt2 site2.edu/jobmanager-pbs",
        True,
        False,
    )
    job = ClassAd({"WantJobRouter": True, "JobStatus": 1, "QDate": 0})
    assert route.transform.matches(job)
    assert not route.transform.matches(ClassAd({"JobStatus": 1}))
    routed = route.transform.apply(job).ad
    assert "WantJobRouter" not in routed
    assert routed.value("GlobusRSL") == "(maxwalltime=1440)(jobType=single)"
    assert str(routed["PeriodicRemove"]) == "JobStatus == 5 || (JobStatus == 1 && (time() - QDate) > 3600 * 6)"


def test_the_table_of_a_collector_comes_from_the_command() -> None:
    """The runner is given the command line; what it prints are routes, named by their GridResource."""
    asked: list[str] = []

    def condor_status(command: str) -> str:
        asked.append(command)
        sites = ("a.edu/jobmanager-pbs", "b.edu/jobmanager-lsf")
        return "".join(f'[ GridResource = "gt2 {site}"; ]\n' for site in sites)

    knobs = {
        "JOB_ROUTER_DEFAULTS": "[ Requirements = true ]",
        "JOB_ROUTER_ENTRIES_CMD": "/usr/local/bin/osg_ress_routing_table.sh $(EXTRA)",
        "EXTRA": "-constraint Up",
        "JOB_ROUTER_ENTRIES_REFRESH": "3600",
        "JOB_ROUTER_ENTRIES": '[ Name = "mine"; GridResource = "batch slurm" ]',
    }
    table = read_legacy(knobs, run=condor_status)
    assert asked == ["/usr/local/bin/osg_ress_routing_table.sh -constraint Up"]
    assert _names(table) == ["gt2 a.edu/jobmanager-pbs", "gt2 b.edu/jobmanager-lsf", "mine"]
    assert table.refresh == 3600
    assert [route.grid_resource for route in legacy_routes(table)] == [*_names(table)[:2], "batch slurm"]


def test_no_command_is_run_without_a_runner() -> None:
    """Its routes are missing, and that is said."""
    table = read_legacy({"JOB_ROUTER_ENTRIES_CMD": "touch /tmp/never"})
    assert _codes(table) == ["legacy-command"]
    assert not table.entries


@pytest.mark.parametrize("error", [OSError("exit status 3"), CrondorError(Diagnostic("late", "it takes too long"))])
def test_a_command_that_fails_leaves_the_other_routes(error: Exception) -> None:
    """HTCondor's daemon ends there."""

    def run(_: str) -> str:
        raise error

    table = read_legacy({"JOB_ROUTER_ENTRIES_CMD": "x", "JOB_ROUTER_ENTRIES": '[ Name = "a" ]'}, run=run)
    assert _names(table) == ["a"]
    found = _only(table, "legacy-command")
    assert found.severity is Severity.ERROR
    assert ("exit status 3" in found.message) or ("it takes too long" in found.message)


def test_routes_of_a_file_are_text_that_no_macro_is_replaced_in(tmp_path: Path) -> None:
    """The file is opened below the allowed folder only."""
    (tmp_path / "entries.txt").write_text('[ Name = "a"; set_X = "$(NO_MACRO)" ]')
    knobs = {
        "JOB_ROUTER_ENTRIES_FILE": "entries.txt",
        "NO_MACRO": "replaced",
        "JOB_ROUTER_DEFAULTS": "Requirements = true",
    }
    table = read_legacy(knobs, files=Files([str(tmp_path)], base=str(tmp_path)))
    routed = legacy_routes(table)[0].transform.apply(ClassAd()).ad
    assert routed.value("X") == "$(NO_MACRO)"
    assert _codes(read_legacy(knobs)) == ["legacy-file"]
    outside = {"JOB_ROUTER_ENTRIES_FILE": "/etc/passwd"}
    assert _codes(read_legacy(outside, files=Files([str(tmp_path)], base=str(tmp_path)))) == ["legacy-file"]


def test_a_malformed_ad_is_left_out_with_its_place_and_its_beginning() -> None:
    """The routes around it stay; line and column are those of the file, continuation or not."""
    text = 'JOB_ROUTER_ENTRIES = [ Name = "a" ] \\\n  [ Name = "bad"; \\\n    x = (; ], [ Name = "c" ]\n'
    table = read_legacy(Source(text, "50-routes.conf"))
    assert _names(table) == ["a", "c"]
    found = _only(table, "legacy-ad")
    assert found.span is not None
    assert found.span.location == "50-routes.conf:3:10"
    assert '[ Name = "bad"; x = (; ], [ Name' in found.message


def test_an_ad_without_its_bracket_costs_itself_alone() -> None:
    """HTCondor loses the next one, too."""
    text = 'JOB_ROUTER_ENTRIES @=e\n[ Name = "a";\n  x = 1;\n[ Name = "b"; sub = [ Name = "inside" ] ]\n@e\n'
    table = read_legacy(Source(text, "r"))
    assert _names(table) == ["b"]
    assert [str(found.span and found.span.location) for found in table.diagnostics] == ["r:4:1"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('junk[ Name = "a" ]', []),
        ('junk [ Name = "a" ]', ["a"]),
        ('"text"  [ Name = "a" ] [ Name = "b" ]', ["b"]),
        ('5[ Name = "a" ] , [ Name = "b" ]', ["b"]),
        (';[ Name = "a" ]', ["a"]),
        ('=[ Name = "a" ]', []),
        ('[ x = (; y = [ Name = "inside" ] ]', ["inside"]),
    ],
)
def test_the_tool_reads_on_where_htcondor_s_reader_stopped(text: str, names: list[str]) -> None:
    """Right after the sign that made no sense, and what it had looked at."""
    made = convert_as_tool({"JOB_ROUTER_ENTRIES": text}, mode=ConversionMode.CONFIG)
    assert [route.name for route in made.routes] == names


def test_text_between_ads_is_reported_and_comments_are_not() -> None:
    """Blanks, commas and comments separate routes."""
    table = read_legacy({"JOB_ROUTER_ENTRIES": '/* one */ [ Name = "a" ], // two\n [ Name = "b" ] GridResource = 5'})
    assert _names(table) == ["a", "b"]
    assert "GridResource = 5" in _only(table, "legacy-ad").message


@pytest.mark.parametrize(
    ("override", "taken", "severity"),
    [("true", 2, None), ("false", 1, Severity.NOTE), ("undefined", 2, Severity.WARNING)],
)
def test_the_second_route_of_a_name_follows_its_override_rule(
    override: str, taken: int, severity: Severity | None
) -> None:
    """It keeps the place of the first; names have no case."""
    entries = f'[ Name = "A"; n = 1 ] [ Name = "b" ] [ Name = "a"; n = 2; OverrideRoutingEntry = {override} ]'
    table = read_legacy({"JOB_ROUTER_ENTRIES": entries})
    assert [name.lower() for name in _names(table)] == ["a", "b"]
    assert table.entries[0].value("n") == taken
    assert [found.severity for found in table.diagnostics] == ([] if severity is None else [severity])


def test_defaults_stand_below_each_route() -> None:
    """Without brackets they are the inside of an ad; several are merged where that is asked for."""
    entries = '[ Name = "r"; MaxJobs = 5 ]'
    bare = read_legacy({"JOB_ROUTER_DEFAULTS": "MaxJobs = 1; MaxIdleJobs = 2", "JOB_ROUTER_ENTRIES": entries})
    assert (bare.entries[0].value("MaxJobs"), bare.entries[0].value("MaxIdleJobs")) == (5, 2)
    two = {"JOB_ROUTER_DEFAULTS": "[ x = 1; y = 1 ] [ y = 2 ]", "JOB_ROUTER_ENTRIES": entries}
    assert read_legacy(two).entries[0].value("y") == 1
    assert _codes(read_legacy(two)) == ["legacy-defaults"]
    assert read_legacy({**two, "MERGE_JOB_ROUTER_DEFAULT_ADS": "true"}).entries[0].value("y") == 2


def test_malformed_defaults_switch_routing_off() -> None:
    """The table says so, and has no routes for a router; its ads can be converted all the same."""
    table = read_legacy(
        {"JOB_ROUTER_DEFAULTS": "[ MaxJobs = ; ]", "JOB_ROUTER_ENTRIES": '[ Name = "r"; Requirements = true ]'}
    )
    assert not table.is_enabled
    assert _codes(table) == ["legacy-ad", "legacy-defaults"]
    assert _names(table) == ["r"]
    assert legacy_routes(table) == ()


def test_the_order_is_that_of_the_names_and_leaves_out_the_others() -> None:
    """A name without a route, and a route without its name in the list, are reported."""
    knobs = {
        "JOB_ROUTER_ENTRIES": '[ Name = "a" ] [ Name = "b" ] [ Name = "c" ]',
        "JOB_ROUTER_ROUTE_NAMES": "C, a none",
    }
    table = read_legacy(knobs)
    assert _names(table) == ["c", "a"]
    assert [found.message.split(" ")[2] for found in table.diagnostics] == ["b", "from"][::-1] or len(
        table.diagnostics
    ) == 2
    assert _codes(table) == ["legacy-order", "legacy-order"]


def test_a_knob_of_its_own_replaces_a_route_of_its_name() -> None:
    """Written as a ClassAd it is converted under the knob's name, as a transform it stays as it is."""
    knobs = {
        "JOB_ROUTER_ENTRIES": '[ Name = "One"; Requirements = true ] [ Name = "two"; Requirements = true ]',
        "JOB_ROUTER_ROUTE_one": '[ Name = "other"; Requirements = true; MaxJobs = 3 ]',
        "JOB_ROUTER_ROUTE_TWO": "REQUIREMENTS true",
    }
    table = read_legacy(knobs)
    assert _names(table) == ["one"]
    assert (table.modern, table.order) == (("TWO",), ("one", "TWO"))
    assert _codes(table) == ["legacy-override", "legacy-override"]
    route = legacy_routes(table)[0]
    assert (route.name, route.max_jobs, route.takes_transforms) == ("one", 3, True)


def test_old_and_new_routes_stand_in_one_table() -> None:
    """In the old order, with the transforms around them and the settings; where nothing loads the table says why."""
    knobs = {
        "JOB_ROUTER_ENTRIES": '[ Name = "a b"; Requirements = true ] [ Name = "c"; Requirements = true ]',
        "JOB_ROUTER_ROUTE_New": "REQUIREMENTS true",
        "JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES": "T",
        "JOB_ROUTER_TRANSFORM_T": "SET X 1",
        "JOB_ROUTER_MAX_JOBS": "7",
    }
    table = legacy_table(knobs)
    assert table.is_enabled
    assert [(route.name, route.is_legacy, route.takes_transforms) for route in table.routes] == [
        ("a b", True, False),
        ("c", True, False),
        ("New", False, True),
    ]
    assert [each.name for each in table.before] == ["T"]
    assert table.settings.max_jobs == 7
    ordered = legacy_table({**knobs, "JOB_ROUTER_ROUTE_NAMES": "New c"})
    assert [route.name for route in ordered.routes] == ["New", "c"]
    none = legacy_table({"JOB_ROUTER_ENTRIES": "[ x = ; ]"})
    assert not none.is_enabled
    assert {"legacy-ad", "route-names"} <= {found.kind for found in none.diagnostics}


def test_a_route_without_any_name_gets_one() -> None:
    """And the reader is told."""
    table = read_legacy({"JOB_ROUTER_ENTRIES": "[ MaxJobs = 1 ] [ MaxJobs = 2 ]"})
    assert _names(table) == ["route_1", "route_2"]
    assert _codes(table) == ["legacy-name", "legacy-name"]


def test_macros_can_stay_in_strings() -> None:
    """Those outside of strings are replaced in any case, since no ClassAd has them."""
    knobs = {"JOB_ROUTER_ENTRIES": '[ Name = "r"; set_A = "$(X)"; set_B = $(X); set_C = "$$(X)" ]', "X": "12"}
    kept = read_legacy(knobs, macros=Macros.KEPT).entries[0].ad
    assert [str(kept[f"set_{name}"]) for name in "ABC"] == ['"$(X)"', "12", '"$$(X)"']
    assert str(read_legacy(knobs).entries[0].ad["set_A"]) == '"12"'


def test_a_table_added_to_in_parts_is_read_as_one() -> None:
    """As HTCondor-CE writes it."""
    text = 'JOB_ROUTER_ENTRIES = [ Name = "a" ]\nJOB_ROUTER_ENTRIES = $(JOB_ROUTER_ENTRIES) [ Name = "b"; x = ; ]\n'
    table = read_legacy(Source(text, "ce.conf"))
    assert _names(table) == ["a"]
    found = _only(table, "legacy-ad")
    assert found.span is not None
    assert found.span.location == "ce.conf:2:62"


def test_a_table_added_to_over_several_lines_keeps_its_places() -> None:
    """What was added stands where it is written, the earlier text where its name is."""
    text = 'JOB_ROUTER_ENTRIES = [ Name = "a"; ] [ x ]\nJOB_ROUTER_ENTRIES @=e\n  $(JOB_ROUTER_ENTRIES)\n  # no\n'
    table = read_legacy(Source(text + '  [ Name = "b";\n    y = ) ]\n@e\n', "ce.conf"))
    assert _names(table) == ["a"]
    assert [str(each.span and each.span.location) for each in table.diagnostics] == ["ce.conf:3:3", "ce.conf:6:9"]


def test_a_cycle_of_macros_is_a_finding() -> None:
    """The routes of that knob are missing."""
    table = read_legacy({"JOB_ROUTER_ENTRIES": "$(A)", "A": "$(B)", "B": "$(A)"})
    assert not table.entries
    assert any(found.kind == "macro-cycle" for found in table.diagnostics)


def test_a_refresh_that_is_no_number_is_reported() -> None:
    """And counts as none."""
    table = read_legacy({"JOB_ROUTER_ENTRIES_REFRESH": "often"})
    assert table.refresh == 0
    assert _codes(table) == ["knob-value"]


def test_a_value_that_fails_is_undefined() -> None:
    """Where HTCondor has no value at all."""
    entry = read_legacy({"JOB_ROUTER_ENTRIES": '[ Name = "r"; MaxJobs = random(0) ]'}).entries[0]
    with pytest.raises(EvaluationFailed):
        entry.ad.value("MaxJobs")
    assert str(entry.value("MaxJobs")).lower().endswith("undefined")


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
