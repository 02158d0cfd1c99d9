"""The routing table of a configuration: order, names, defaults, what is left out and why."""

import re

import pytest

from crondor.classad import ClassAd
from crondor.config import Configuration, read_config
from crondor.diagnostics import Severity, Source
from crondor.router import RoutingTable, difference, load_table
from crondor.router.table.loading import KNOBS

SITE = "UNIVERSE VANILLA\nREQUIREMENTS WantJobRouter"


def knob(name: str, *lines: str) -> str:
    """Return a knob with a value of several lines."""
    return "\n".join((f"{name} @=end", *lines, "@end"))


def route(name: str, *lines: str) -> str:
    """Return the knob of a route."""
    return knob(f"JOB_ROUTER_ROUTE_{name}", *(lines or SITE.split("\n")))


def read(*parts: str) -> Configuration:
    """Read a file."""
    return read_config(Source("\n".join(parts) + "\n", "routes.conf"), environ={})


def load(*parts: str) -> RoutingTable:
    """Load a file."""
    return load_table(read(*parts))


def names(table: RoutingTable) -> list[str]:
    """Return the routes' names."""
    return [each.name for each in table.routes]


def reasons(table: RoutingTable) -> dict[str, str]:
    """Return why routes were left out, with the line."""
    return {
        each.name: "; ".join(f"{found.span.line if found.span else 0}: {found.message}" for found in each.diagnostics)
        for each in table.rejected
    }


def test_routes_come_in_the_order_of_the_list() -> None:
    """Separated by commas or blanks; a list may be put together."""
    table = load("A = b", "JOB_ROUTER_ROUTE_NAMES = c, a,$(A)", route("a"), route("b"), route("c"))
    assert (names(table), table.rejected, table.is_enabled) == (["c", "a", "b"], (), True)


def test_a_route_that_cannot_be_loaded_is_left_out_alone() -> None:
    """With the reason, and the line in the file."""
    table = load(
        "JOB_ROUTER_ROUTE_NAMES = Good Gone Empty Bad Two NAMES Old",
        route("Good"),
        "JOB_ROUTER_ROUTE_Empty =",
        route("Bad", "REQUIREMENTS true", "# a comment", "FROB x", "SET"),
        route("Two", "REQUIREMENTS (", "SET a 1"),
        "JOB_ROUTER_ROUTE_Old = [ Name = 5; ]",
    )
    assert names(table) == ["Good"]
    found = reasons(table)
    assert found["Gone"] == "1: route 'Gone' from JOB_ROUTER_ROUTE_NAMES not found in the routing table"
    assert found["Empty"] == "6: JOB_ROUTER_ROUTE_Empty definition is empty, ignoring"
    assert found["Bad"] == "10: FROB is not a valid transform keyword; 11: SET needs 2 arguments"
    assert found["Two"].startswith("14: invalid REQUIREMENTS : (")
    assert found["NAMES"].endswith("HTCondor skips it")
    assert found["Old"].startswith("17: [ is not a valid transform keyword")


def test_a_route_without_a_second_argument_loads() -> None:
    """HTCondor puts it into the table, and the jobs that it takes fail."""
    table = load("JOB_ROUTER_ROUTE_NAMES = A", route("A", "REQUIREMENTS true", "SET X=5"))
    assert (names(table), table.rejected) == (["A"], ())
    warned = [each.message for each in table.routes[0].transform.warnings]
    assert warned == ["SET needs 2 arguments, separated by a blank: an ad that leads here fails"]


def test_a_function_that_fails_in_a_limit_says_why() -> None:
    """In HTCondor's words, before the limit that is none."""
    table = load("JOB_ROUTER_ROUTE_NAMES = A", route("A", "UNIVERSE 5", "REQUIREMENTS true", "MaxJobs = $INT(Nope)"))
    assert [(each.kind, each.message) for each in table.diagnostics] == [
        ("route-macro", "A: MaxJobs: $INT() macro: Nope does not evaluate to an integer!"),
        ("route-limit", "A: MaxJobs =  is not an integer: it becomes 100"),
    ]


@pytest.mark.parametrize(("text", "jobs"), [("1e400", -(1 << 31)), ("99999999999", 2147483647), ("1 ? 4 : 5 1", 4)])
def test_a_limit_that_is_hardly_meant(text: str, jobs: int) -> None:
    """A real that no integer holds becomes the least one; what follows a choice is skipped."""
    table = load("JOB_ROUTER_ROUTE_NAMES = A", route("A", "UNIVERSE 5", "REQUIREMENTS true", f"MaxJobs = {text}"))
    assert table.routes[0].max_jobs == jobs


def test_a_name_inside_never_wins() -> None:
    """The knob's does, in the spelling of the list."""
    table = load("JOB_ROUTER_ROUTE_NAMES = SITE", route("Site", "NAME Other", *SITE.split("\n")))
    assert (names(table), table.routes[0].transform.name) == (["SITE"], "SITE")
    assert table.route("site") is table.routes[0]


def test_a_route_that_is_listed_twice_is_asked_twice() -> None:
    """The later spelling takes both places."""
    table = load("JOB_ROUTER_ROUTE_NAMES = Site B site", route("Site"), route("B"))
    assert names(table) == ["site", "B", "site"]
    assert any("found and overwrite" in each.message for each in table.diagnostics)


def test_requirements_are_optional_where_a_constraint_says_what_is_routed() -> None:
    """An empty constraint says nothing."""
    bare = route("A", "UNIVERSE VANILLA")
    assert names(load("JOB_ROUTER_ROUTE_NAMES = A", "JOB_ROUTER_SOURCE_JOB_CONSTRAINT = X", bare)) == ["A"]
    for line in ("", "JOB_ROUTER_SOURCE_JOB_CONSTRAINT ="):
        assert reasons(load("JOB_ROUTER_ROUTE_NAMES = A", line, bare)) == {"A": "4: Missing Requirements in job route"}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((), (100, 50, 0.03)),
        (("MaxJobs = 7", "MaxIdleJobs = -1", "FailureRateThreshold = 0.5"), (7, -1, 0.5)),
        (("MaxJobs = $(NJ)", "MaxIdleJobs = $INT(3)"), (12, 3, 0.03)),
        (("N = 2", "MaxJobs = $(N) * 3"), (6, 50, 0.03)),
        (("MaxJobs = ",), (100, 50, 0.03)),
        (('MaxJobs = "3"', "MaxIdleJobs = x", "FailureRateThreshold = abc"), (100, 50, 0.03)),
        (("MaxJobs = $(MY.ProcId)", "MaxIdleJobs = MY.ProcId"), (100, 50, 0.03)),
        (("MaxJobs = 99999999999",), (2147483647, 50, 0.03)),
        (("MaxJobs = 1", "maxjobs = 2"), (2, 50, 0.03)),
        (("if false", "MaxJobs = 1", "else", "MaxJobs = 3", "endif"), (3, 50, 0.03)),
        (("if defined IsClusterAd", "MaxJobs = 1", "endif", "TRANSFORM 2"), (1, 50, 0.03)),
    ],
)
def test_limits_are_read_once_without_a_job(lines: tuple[str, ...], expected: tuple[int, int, float]) -> None:
    """What is no number then becomes the default."""
    made = load("NJ = 12", "JOB_ROUTER_ROUTE_NAMES = A", route("A", *SITE.split("\n"), *lines)).routes[0]
    assert (made.max_jobs, made.max_idle_jobs, made.failure_rate_threshold) == expected


def test_the_defaults_are_knobs() -> None:
    """Of all routes without a valid number of their own; the configuration may set MaxJobs itself, too."""
    defaults = ("JOB_ROUTER_DEFAULT_MAX_JOBS_PER_ROUTE = 5", "JOB_ROUTER_DEFAULT_MAX_IDLE_JOBS_PER_ROUTE = 2 * 3")
    made = load(*defaults, "JOB_ROUTER_ROUTE_NAMES = A", route("A", *SITE.split("\n"), "MaxJobs = x")).routes[0]
    assert (made.max_jobs, made.max_idle_jobs) == (5, 6)
    assert load("MaxJobs = 9", "JOB_ROUTER_ROUTE_NAMES = A", route("A")).routes[0].max_jobs == 9


def test_a_default_limit_is_looked_at_for_a_route_without_one_alone() -> None:
    """As HTCondor does it; one that is no number is said once, however many routes need it."""
    wrong = "JOB_ROUTER_DEFAULT_MAX_JOBS_PER_ROUTE = lots"
    own = load(wrong, "JOB_ROUTER_ROUTE_NAMES = A", route("A", *SITE.split("\n"), "MaxJobs = 3"))
    assert (own.is_enabled, names(own), own.diagnostics) == (True, ["A"], ())
    table = load(wrong, "JOB_ROUTER_ROUTE_NAMES = A B", route("A"), route("B"))
    assert (table.is_enabled, [each.kind for each in table.diagnostics]) == (False, ["knob-value"])


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("X = $(Y)", "Y = $(X)", "JOB_ROUTER_ROUTE_NAMES = $(X)"), None),
        ((route("North"), route("South")), "list the routes: JOB_ROUTER_ROUTE_NAMES = North, South"),
        ((route("A"), "JOB_ROUTER_ROUTE_NAME = A"), "list the routes: JOB_ROUTER_ROUTE_NAMES = A"),
        (tuple(route(f"R{n}") for n in range(9)), "list the routes: JOB_ROUTER_ROUTE_NAMES = R0, R1, R2, R3, R4, ..."),
        (
            ("JOB_ROUTER_ENTRIES = [ Requirements = true ]",),
            (
                "the routes here are ClassAds: --legacy routes by them like HTCondor up to 24, "
                "crondor route convert converts them"
            ),
        ),
    ],
)
def test_without_a_list_the_routes_there_are_help(lines: tuple[str, ...], said: str | None) -> None:
    """A list that cannot be read is a fault of its own, and not one that is missing."""
    table = load(*lines)
    assert not table.is_enabled
    assert [each.help for each in table.diagnostics if each.kind == "route-names"] == ([said] if said else [])


def test_a_listed_route_may_be_a_classad() -> None:
    """In the old syntax, JOB_ROUTER_ROUTE_NAMES has the order of the entries."""
    table = load('JOB_ROUTER_ENTRIES = [ Name = "A"; Requirements = true ]', "JOB_ROUTER_ROUTE_NAMES = A")
    said = "if it is a ClassAd of JOB_ROUTER_ENTRIES: crondor route convert converts it"
    assert [each.diagnostics[0].help for each in table.rejected] == [said]


def test_requirements_with_a_comment_behind() -> None:
    """It is a part of the expression."""
    table = load("JOB_ROUTER_ROUTE_NAMES = A", route("A", "REQUIREMENTS X # all of them"))
    assert table.rejected[0].diagnostics[0].help == "a comment needs a line of its own"


def test_a_listed_word_that_is_no_name() -> None:
    """Nobody can define such a knob."""
    noted = load("JOB_ROUTER_ROUTE_NAMES = # A").rejected[0].diagnostics[0]
    assert noted.help == "a comment needs a line of its own: this is part of the list"
    found = load('JOB_ROUTER_ROUTE_NAMES = "A" B;C').rejected
    assert {each.diagnostics[0].help for each in found} == {
        "a name has letters, digits, _ . and /; names are separated by commas or blanks"
    }


@pytest.mark.parametrize(
    ("lines", "universe", "resource"),
    [
        ((), 9, None),
        (("UNIVERSE vanilla", "GridResource = x"), 5, None),
        (("UNIVERSE 12",), 12, None),
        (("UNIVERSE Grid", 'GridResource = "batch slurm"'), 9, "batch slurm"),
        (("TargetUniverse = 7",), 7, None),
        (("UNIVERSE nothing", "TargetUniverse = 5"), 5, None),
        (("UNIVERSE local", "TargetUniverse = 5"), 12, None),
        (("TargetUniverse = five", "GridResource =  arc $(HOST) "), 9, "arc h.org"),
        (('GridResource = "a" b',), 9, '"a" b'),
    ],
)
def test_where_the_copies_go(lines: tuple[str, ...], universe: int, resource: str | None) -> None:
    """UNIVERSE wins over TargetUniverse, and that over grid; only grid has a resource, without its quotes."""
    made = load("HOST = h.org", "JOB_ROUTER_ROUTE_NAMES = A", route("A", "REQUIREMENTS true", *lines)).routes[0]
    assert (made.universe, made.grid_resource) == (universe, resource)


def test_the_tests_of_a_route_are_expressions() -> None:
    """One that cannot be read counts as not given; SendIDTokens that says nothing is an empty text."""
    lines = ("JobFailureTest = (bad", "EditJobInPlace = Memory > $(M)", "SendIDTokens =")
    table = load("M = 5", "JOB_ROUTER_ROUTE_NAMES = A", route("A", *SITE.split("\n"), *lines))
    made = table.routes[0]
    assert made.job_failure_test is None
    assert (str(made.edit_job_in_place), str(made.send_id_tokens)) == ("Memory > 5", '""')
    assert [each.span.line for each in table.diagnostics if each.span] == [6]


@pytest.mark.parametrize(
    "wrong",
    [
        "JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES = Gone",
        "JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES = T\nJOB_ROUTER_TRANSFORM_T = REQUIREMENTS (",
        "JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES = T\nJOB_ROUTER_TRANSFORM_T =",
        "JOB_ROUTER_MAX_JOBS = many",
        "JOB_ROUTER_ROUND_ROBIN_SELECTION = perhaps",
        "PERIODIC_EXPR_TIMESLICE = 1.5",
        "JOB_ROUTER_NAME =",
        "JOB_ROUTER_SOURCE_JOB_CONSTRAINT = (",
        "JOB_ROUTER_ROUTE_NAMES =",
        "this is nothing",
        "if what",
    ],
)
def test_what_switches_routing_off(wrong: str) -> None:
    """All of it, with the reason; the routes can be looked at all the same."""
    configuration = read("JOB_ROUTER_ROUTE_NAMES = A", route("A"), wrong)
    table = load_table(configuration)
    assert (table.is_enabled, table.routes) == (False, ())
    assert table.diagnostics
    kept = load_table(configuration, keep_routes=True)
    assert (kept.is_enabled, names(kept)) == (False, [] if wrong.endswith("NAMES =") else ["A"])


@pytest.mark.parametrize("wrong", ["Owner == (", "1 +", "true // all of them", "$(X)", "a b"])
def test_routes_need_no_requirements_beside_a_source_constraint_that_cannot_be_read(wrong: str) -> None:
    """HTCondor loads them, and its router ends when it first asks; the one fault is told, and no route is blamed."""
    bare = route("A", 'GridResource = "batch slurm"')
    lines = ("X = $(Y)\nY = $(X)", "JOB_ROUTER_ROUTE_NAMES = A", bare, f"JOB_ROUTER_SOURCE_JOB_CONSTRAINT = {wrong}")
    table = load(*lines)
    assert (table.is_enabled, [each.name for each in table.idle], table.rejected) == (False, ["A"], ())
    errors = [each for each in table.diagnostics if each.severity is Severity.ERROR]
    assert [each.span and each.span.line for each in errors] == [7]


def test_transforms_around_routes_are_not_validated() -> None:
    """HTCondor runs them, and fails with the job; each is loaded once, and a NAME inside does not count."""
    table = load(
        "JOB_ROUTER_ROUTE_NAMES = A",
        route("A"),
        "JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES = T t, U",
        knob("JOB_ROUTER_TRANSFORM_T", "NAME Other", "FROB x"),
        "JOB_ROUTER_TRANSFORM_U = SET A 1",
    )
    assert table.is_enabled
    assert [each.name for each in table.before] == ["T", "U"]


def test_findings_point_into_the_file() -> None:
    """Those of a job's run too: the transform's lines are those of the file."""
    table = load("JOB_ROUTER_ROUTE_NAMES = A", route("A", "# first", *SITE.split("\n"), "  SET X \\", "   1"))
    line = table.routes[0].transform.lines[0]
    assert (line.text, line.span().location) == ("SET X 1", "routes.conf:6:3")


def test_a_line_ends_without_blanks() -> None:
    """Also where a backslash joins nothing to it."""
    lines = ("X = a \\", "", "JobFailureTest = $(X)b", "SET A $(X)b")
    table = load("JOB_ROUTER_ROUTE_NAMES = A", route("A", *SITE.split("\n"), *lines))
    assert str(table.routes[0].job_failure_test) == "ab"
    assert table.routes[0].transform.apply(ClassAd({"WantJobRouter": True})).ad.text("A") == "ab"


def test_the_settings_are_the_knobs() -> None:
    """Each by its type, or its default."""
    table = load(
        "JOB_ROUTER_ROUTE_NAMES = A",
        route("A"),
        "JOB_ROUTER_NAME = east",
        "JOB_ROUTER_POLLING_PERIOD = 5 * 2 + 1",
        "JOB_ROUTER_ROUND_ROBIN_SELECTION = TRUE",
        'JOB_ROUTER_SOURCE_JOB_CONSTRAINT = Owner == "ann"',
        "LOCK = /var/lock",
        "GRID_ATTRS_TO_COPY = A, B",
        "JOB_ROUTER_SCHEDD2_SPOOL = /spool2",
        "JOB_QUEUE_LOG = /spool/job_queue.log",
        "JOB_ROUTER_CREATE_IDTOKEN_NAMES = one two",
        'JOB_ROUTER_CREATE_IDTOKEN_one = sub = "x"',
    )
    made = table.settings
    assert (made.name, made.polling_period, made.round_robin, made.max_jobs) == ("east", 11, True, -1)
    assert (str(made.source_constraint), made.lock) == ('Owner == "ann"', "/var/lock/eastLock")
    assert made.attributes_to_copy == (("GRID", ("A", "B")),)
    assert made.source_schedd.job_queue_log == "/spool/job_queue.log"
    assert made.destination_schedd.address_file == "/spool2/.schedd_address"
    assert made.id_tokens == (("one", 'sub = "x"'),)


def test_the_defaults_of_the_knobs_are_those_of_the_settings() -> None:
    """The list of knobs says what the reader takes."""
    listed = {each.name: each.default for each in KNOBS}
    made = load("JOB_ROUTER_ROUTE_NAMES = A", route("A")).settings
    assert listed["JOB_ROUTER_NAME"] == made.name
    assert int(listed["JOB_ROUTER_POLLING_PERIOD"]) == made.polling_period
    assert int(listed["JOB_ROUTER_MAX_JOBS"]) == made.max_jobs
    assert int(listed["MAX_JOB_MIRROR_UPDATE_LAG"]) == made.update_lag
    assert int(listed["PERIODIC_EXPR_INTERVAL"]) == made.periodic_interval
    assert int(listed["MAX_PERIODIC_EXPR_INTERVAL"]) == made.max_periodic_interval
    assert int(listed["UPDATE_INTERVAL"]) == made.update_interval
    assert (listed["JOB_ROUTER_RELEASE_ON_HOLD"] == "true") is made.release_on_hold
    assert (listed["JOB_ROUTER_ROUND_ROBIN_SELECTION"] == "true") is made.round_robin


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("JOB_ROUTER_MAX_JOB = 5", "did you mean JOB_ROUTER_MAX_JOBS?"),
        ("JOB_ROUTER_ROUTE_NAME = A", None),  # a route called NAME
        ("JOBROUTER_ROUTE_NAMES = A", "did you mean JOB_ROUTER_ROUTE_NAMES?"),
        ("JOB_ROUTER_DEBUG = D_FULLDEBUG", None),
        ("JOB_ROUTER_DEFAULTS_GENERATED = MaxJobs = 5", None),  # HTCondor-CE's
        ("JOB_ROUTER_TRANFORM_P_2 = SET A 1", "did you mean JOB_ROUTER_TRANSFORM_P_2?"),
        ("JOB_ROUTER.JOB_ROUTER_POLING_PERIOD = 5", "did you mean JOB_ROUTER_POLLING_PERIOD?"),
        ("JOB_ROUTER_FROBNICATE = 5", "docs/router-files.md has a link to all knobs of a router"),
    ],
)
def test_a_knob_that_nobody_looks_at_is_named(line: str, said: str | None) -> None:
    """With the nearest one that somebody does."""
    told = load("JOB_ROUTER_ROUTE_NAMES = A", route("A"), line).diagnostics
    found = [each for each in told if each.kind == "route-knob-unknown"]
    assert [each.help for each in found] == ([said] if said else [])
    for each in found:
        start = line.partition("JOB_ROUTER.")[1]
        meant = re.search("did you mean (.*)[?]", str(said))
        assert each.fix == (start + meant[1] if meant else None)


@pytest.mark.parametrize(
    ("others", "line", "said"),
    [
        ((), "LOCAL_CONFIG_DIR = /etc/condor/config.d", ["/etc/condor/config.d"]),
        (("/etc/condor/config.d/10.conf",), "LOCAL_CONFIG_DIR = /etc/condor/config.d/", []),
        (("/etc/condor/config.d-old/10.conf",), "LOCAL_CONFIG_DIR = /etc/condor/config.d", ["/etc/condor/config.d"]),
        ((), "LOCAL_CONFIG_FILE = $(X)/a, /b", ["/x/a", "/b"]),
        (("/b",), "LOCAL_CONFIG_FILE = $(X)/a, /b", ["/x/a"]),
        ((), "LOCAL_CONFIG_DIR =", []),
        ((), "LOCAL_CONFIG_FILE = make-config now |", ["make-config"]),
        ((), "LOCAL_CONFIG_FILE = $(Y)", []),
    ],
)
def test_further_files_of_a_configuration_are_not_passed_over_silently(
    others: tuple[str, ...], line: str, said: list[str]
) -> None:
    """HTCondor reads what these knobs name; whoever names the files as well hears nothing."""
    made = read("JOB_ROUTER_ROUTE_NAMES = A", route("A"), "X = /x", "Y = $(Z)", "Z = $(Y)", line)
    for name in others:
        made = read_config(Source("", name), base=made)
    table = load_table(made)
    found = [each.message.split()[2] for each in table.diagnostics if each.kind == "config-hidden"]
    assert (table.is_enabled, found) == (True, said)


def test_the_difference_of_two_tables_is_by_name() -> None:
    """Added, dropped, changed and unchanged; the order of routes is none of them."""
    old = load("JOB_ROUTER_ROUTE_NAMES = A B C D", route("A"), route("B"), route("C"), route("D"))
    new = load(
        "JOB_ROUTER_ROUTE_NAMES = E D c B",
        "JOB_ROUTER_DEFAULT_MAX_JOBS_PER_ROUTE = 100",
        route("B"),
        route("C", *SITE.split("\n"), "SET X 1"),
        route("D", *SITE.split("\n"), "# said"),
        route("E"),
    )
    found = difference(old, new)
    assert [each.name for each in found.added] == ["E"]
    assert [each.name for each in found.dropped] == ["A"]
    assert [(was.name, now.name) for was, now in found.changed] == [("C", "c")]
    assert [each.name for each in found.unchanged] == ["D", "B"]
    assert difference(old, old).is_empty
    limits = load("JOB_ROUTER_DEFAULT_MAX_JOBS_PER_ROUTE = 1", "JOB_ROUTER_ROUTE_NAMES = A", route("A"))
    assert [now.max_jobs for _, now in difference(old, limits).changed] == [1]
