"""Two routing tables compared: each kind of difference, with made jobs alone and with jobs of a queue."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import ClassAd, Context
from crondor.router import RouteState, RoutingTable, apply_route, why
from crondor.router.compare import TablesComparison, compare_tables, made_jobs
from tests.examples import examples
from tests.router.tables import job, table_of

VANILLA = "UNIVERSE VANILLA\n"


def made(old: RoutingTable, new: RoutingTable) -> TablesComparison:
    """Compare two tables over jobs made from both."""
    return compare_tables(old, new, ((each.id, each.ad) for each in made_jobs([old, new])))


def one(requirements: str, *lines: str, config: str = "") -> RoutingTable:
    """Return a table of one route in the vanilla universe."""
    return table_of({"A": VANILLA + f"REQUIREMENTS {requirements}\n" + "\n".join(lines)}, config)


def moves(found: TablesComparison) -> set[tuple[str | None, str | None]]:
    """Return the old and the new route of jobs that move."""
    return {(each.old, each.new) for each in found.moved}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("RequestMemory < 8000", "RequestMemory <= 8000"),
        ("RequestMemory < 8000", "RequestMemory < 8001"),
        ("RequestMemory * 2 < 8000", "RequestMemory * 2 < 8002"),
        ("RequestMemory / 1024 > 4", "RequestMemory / 1024 > 5"),
        ('Owner == "ann"', 'Owner =?= "ann"'),
        ('Owner == "ann"', 'Owner == "bob"'),
        ("WantX", "WantX =!= false"),
        ("WantX == true", "WantX =?= true"),
        ("isUndefined(Site)", "Site is undefined || Site == 5"),
        ('stringListMember(Owner, "ann,bob")', 'stringListMember(Owner, "ann")'),
        ('regexp("^atlas[0-9]+$", Owner)', 'regexp("^atlas[0-9]$", Owner)'),
        ("A > 1 && B > 2 && C > 3", "A > 1 && B > 2 && C >= 3"),
        ("A > 1 || B > 2 || C > 3", "A > 1 || B > 2 || C >= 3"),
        ("A > 1 ? B > 2 : C > 3", "A > 1 ? B > 2 : C >= 3"),
        ("ifThenElse(A > 1, B > 2, C > 3)", "ifThenElse(A > 1, B >= 2, C > 3)"),
        ("(A ?: 5) < 4", "(A ?: 3) < 4"),
        ("!(A > 1 && B)", "!(A > 1)"),
        ("ProcId % 2 == 0", "ProcId % 2 == 1"),
        ("X > 0.5", "X >= 0.5"),
        ("X == Y", "X =?= Y"),
    ],
)
def test_made_jobs_find_a_change_of_requirements(before: str, after: str) -> None:
    """On a boundary, in one branch of many, of a type or of something that is not there."""
    found = made(one(before), one(after))
    assert found.moved
    assert all(each.why for each in found.moved)
    assert made(one(before), one(before)).is_empty


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        ("SET Foo 1", "SET Foo 2", "Foo"),
        ("SET Foo 1", "DEFAULT Foo 1", "Foo"),
        ("SET Foo 1", "", "Foo"),
        ("COPY Foo Bar", "RENAME Foo Bar", "Foo"),
        ("DELETE Foo", "", "Foo"),
        ("EVALSET Mem RequestMemory * 2", "EVALSET Mem RequestMemory * 3", "Mem"),
        ("EVALSET Mem RequestMemory", "SET Mem $(MY.RequestMemory)", "Mem"),
        ("EVALSET Mem ifThenElse(xcount > 17, 1, 2)", "EVALSET Mem ifThenElse(xcount >= 17, 1, 2)", "Mem"),
        ("EVALSET Mem 5 + (xcount > 17 ? 1 : 2)", "EVALSET Mem 5 + (xcount > 18 ? 1 : 2)", "Mem"),
        ("if defined MY.Queue\nSET Foo 1\nendif", "SET Foo 1", "Foo"),
        (
            "EVALMACRO big xcount > 8\nif $(big)\nSET Foo 1\nendif",
            "EVALMACRO big xcount > 9\nif $(big)\nSET Foo 1\nendif",
            "Foo",
        ),
        ("DELETE /^Proj(.+)/", "", "Projx"),
        ("LIM = 5\nEVALSET Foo xcount > $(LIM)", "LIM = 6\nEVALSET Foo xcount > $(LIM)", "Foo"),
        ('SET Foo "$(SITE)"', 'SET Foo "$(SITE:x)y"', "Foo"),
    ],
)
def test_made_jobs_find_a_change_of_the_copy(before: str, after: str, name: str) -> None:
    """Whatever a transform reads is tried with other values, and left out."""
    found = made(one("true", before), one("true", after))
    assert not found.moved
    assert name in {each.name for each in found.copies}
    assert made(one("true", before), one("true", before)).is_empty


def test_the_copy_of_a_job_and_how_it_is_made() -> None:
    """A job that is edited, sandboxed, or cannot be copied any more."""
    plain = one("true")
    names = {each.name for each in made(plain, one("true", "EditJobInPlace = true")).copies}
    assert "EditJobInPlace" in names
    assert [each.name for each in made(plain, one("true", "JobShouldBeSandboxed = true")).copies][:1] == [
        "JobShouldBeSandboxed"
    ]
    failing = made(plain, one("true", "SendIDTokens = 5"))
    assert [(each.name, each.pairs[0].new) for each in failing.copies] == [
        ("", "evaluated SendIDTokens value is invalid!")
    ]


def test_a_route_that_nobody_reaches() -> None:
    """It took jobs before, and another one takes them now; the witness is such a job."""
    routes = {"Some": VANILLA + 'REQUIREMENTS Owner == "ann"', "All": VANILLA + "REQUIREMENTS true"}
    old, new = table_of(routes), table_of(dict(reversed(routes.items())))
    found = made(old, new)
    assert found.routes.order == (("Some", "All"), ("All", "Some"))
    assert moves(found) == {("Some", "All")}
    assert found.moved[0].why == "All is asked before Some, and takes it"
    (unreached,) = found.unreached
    assert (unreached.route, unreached.taken_by, unreached.is_added) == ("Some", "All", False)
    assert unreached.jobs_before
    assert unreached.witness is not None
    assert unreached.witness.ad.text("Owner").lower() == '"ann"'
    assert not made(new, new).unreached


def test_a_new_route_that_is_shadowed_and_one_that_nothing_meets() -> None:
    """Both are said, the first with the route that takes its jobs."""
    old = table_of({"All": VANILLA + "REQUIREMENTS true"})
    new = table_of(
        {
            "All": VANILLA + "REQUIREMENTS true",
            "Late": VANILLA + "REQUIREMENTS X > 5",
            "Never": VANILLA + "REQUIREMENTS false",
        }
    )
    found = made(old, new)
    assert found.routes.added == ("Late", "Never")
    assert [(each.route, each.is_added, each.taken_by) for each in found.unreached] == [
        ("Late", True, "All"),
        ("Never", True, None),
    ]


def test_jobs_that_two_routes_would_take() -> None:
    """Only where one table has such a pair and the other has none; a job that moves says so itself."""
    old = table_of({"A": VANILLA + "REQUIREMENTS X < 5", "B": VANILLA + "REQUIREMENTS X >= 5"})
    new = table_of({"A": VANILLA + "REQUIREMENTS X < 5", "B": VANILLA + "REQUIREMENTS X >= 4"})
    (overlap,) = made(old, new).overlaps
    assert (overlap.first, overlap.second, overlap.is_new) == ("A", "B", True)
    assert overlap.witness.ad.text("X") == "4"
    assert [each.is_new for each in made(new, old).overlaps] == [False]
    assert not made(new, new).overlaps


def test_limits_and_settings() -> None:
    """Of routes that both tables have, and of the router."""
    old = one("true", "MaxJobs = 5", config="JOB_ROUTER_NAME = x\n")
    new = one("true", "MaxJobs = 7", "FailureRateThreshold = 0.5", config="JOB_ROUTER_MAX_JOBS = 9\n")
    assert [tuple(each) for each in made(old, new).settings] == [
        (None, "JOB_ROUTER_NAME", "x", "jobrouter"),
        (None, "JOB_ROUTER_MAX_JOBS", "-1", "9"),
        ("A", "MaxJobs", "5", "7"),
        ("A", "FailureRateThreshold", "0.03", "0.5"),
    ]


def test_a_constraint_of_sources_is_compared_too() -> None:
    """Jobs that the router looks at no more go on no route, for that reason."""
    found = made(one("true"), one("true", config="JOB_ROUTER_SOURCE_JOB_CONSTRAINT = TARGET.WantX\n"))
    assert moves(found) == {("A", None)}
    assert found.moved[0].why.startswith("JOB_ROUTER_SOURCE_JOB_CONSTRAINT: ")


def test_a_constraint_is_asked_with_the_job_as_target() -> None:
    """Both sides of it are made, and each branch."""
    constraint = "JOB_ROUTER_SOURCE_JOB_CONSTRAINT = TARGET.JobUniverse =?= 5 || {}\n"
    old, new = (one("X > 5", config=constraint.format(text)) for text in ("TARGET.Y > 7", "!(TARGET.Y <= 8)"))
    (moved,) = made(old, new).moved
    assert (moved.old, moved.new, moved.witness.ad.text("Y")) == ("A", None, "8")
    assert moved.witness.ad.text("JobUniverse") != "5"


def test_routes_that_come_go_and_are_rejected() -> None:
    """Names have no case; a route that is left out says why."""
    old = table_of({"A": VANILLA + "REQUIREMENTS X", "B": VANILLA + "REQUIREMENTS Y"})
    new = table_of({"a": VANILLA + "REQUIREMENTS X", "C": VANILLA + "REQUIREMENTS Z"})
    found = made(old, new)
    assert found.routes[:2] == (("C",), ("B",))
    assert moves(found) == {("B", None), (None, "C")}
    assert {each.why for each in found.moved if each.old == "B"} == {"there is no route B"}


def test_rules_that_are_other_texts_and_do_the_same() -> None:
    """That is no difference, but it is said that no job shows one."""
    found = made(one("true", "SET Foo 1"), one("true", "SET Bar 2", "DELETE Bar", "SET Foo 1"))
    assert {each.name for each in found.copies} == {"Bar"}
    found = compare_tables(one("X", "SET Foo 1"), one("X", "SET Foo 2"), [("1.0", job(X="false"))])
    assert found.is_empty
    assert found.unproven == ("A",)


def test_round_robin_names_the_routes_by_turns() -> None:
    """A job goes on either."""
    routes = {"A": VANILLA + "REQUIREMENTS true", "B": VANILLA + "REQUIREMENTS true"}
    found = made(table_of(routes), table_of(routes, "JOB_ROUTER_ROUND_ROBIN_SELECTION = true\n"))
    assert moves(found) == {("A", "A, B by turns")}


def queue(*ads: Mapping[str, str]) -> list[tuple[str, ClassAd]]:
    """Return jobs of a queue, in one cluster."""
    return [(f"1.{number}", job(ProcId=str(number), **texts)) for number, texts in enumerate(ads)]


def test_jobs_that_are_alike_are_counted() -> None:
    """Also where an attribute that counts is an expression that reads others, and where a job is no candidate."""
    old, new = one("Mem < 8"), one("Mem < 6")
    jobs = queue(
        *({"Mem": "7", "Other": str(number)} for number in range(50)),
        *({"Mem": "Base + 1", "Base": str(number)} for number in (3, 6, 6, 9)),
        {"Mem": "eval(Text)", "Text": '"7"'},
        {"Mem": "7", "JobStatus": "2"},
        {"Mem": "7", "Managed": '"External"'},
        {"Mem": "7", "StageInStart": "5"},
    )
    found = compare_tables(old, new, iter(jobs))
    assert found.jobs == len(jobs)
    assert [(each.old, each.new, each.jobs, each.witness.job) for each in found.moved] == [("A", None, 53, "1.0")]


def test_copies_are_compared_job_by_job_where_texts_do_not_tell() -> None:
    """Names that are put together, patterns of names, texts that are evaluated."""
    for rule in ("SET Foo $(MY.$(WHICH))", "COPY /^Q(.*)/ Foo", "EVALSET Foo eval(MY.Qtext)"):
        lines = ("WHICH = Qtext", rule)
        jobs = queue(*({"Qtext": f'"{number}"'} for number in (1, 2, 2, 3)))
        found = compare_tables(one("true", *lines), one("true", "SET Foo 5"), jobs)
        assert sum(each.jobs for each in found.copies if each.name == "Foo") == 4, rule
        assert len(next(each for each in found.copies if each.name == "Foo").pairs) == 3, rule


def test_a_queue_beyond_what_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was counted is kept, and memory is not."""
    monkeypatch.setattr("crondor.router.compare.outcomes._MOST_TEXTS", 100)
    jobs = queue(*({"Mem": str(number % 20)} for number in range(1000)))
    found = compare_tables(one("Mem < 10"), one("Mem < 5"), jobs)
    assert [each.jobs for each in found.moved] == [250]
    monkeypatch.setattr("crondor.router.compare.comparing.MOST_ROWS", 0)
    assert compare_tables(one("Mem < 10"), one("Mem < 5"), jobs).is_cut


def test_made_jobs_are_the_same_each_time_and_bounded() -> None:
    """Each is another one; ids are those of their ads."""
    table = one(" && ".join(f"X{number} > {number}" for number in range(12)), "EVALSET Y xcount > 5")
    first, again = made_jobs([table]), made_jobs([table])
    assert [(each.id, each.chosen) for each in first] == [(each.id, each.chosen) for each in again]
    assert len({tuple(sorted(each.chosen.items(), key=str)) for each in first}) == len(first)
    assert len(made_jobs([table], most=7)) == 7
    assert first[0].chosen == {}
    many = table_of(
        {f"R{number}": VANILLA + f"REQUIREMENTS A{number} > {number} && B < {number}" for number in range(25)}
    )
    found = made_jobs([many])
    assert len(found) <= 5000
    reached = {
        match.new
        for match in compare_tables(
            table_of({"Z": VANILLA + "REQUIREMENTS false"}), many, ((each.id, each.ad) for each in found)
        ).moved
    }
    assert reached >= {f"R{number}" for number in range(25)}


@pytest.mark.parametrize("operator", ["||", "&&"])
def test_requirements_of_thousands_of_clauses_are_tried_as_a_whole(operator: str) -> None:
    """In little time, and without a depth of calls."""
    table = one(f" {operator} ".join(f"A{number} == {number}" for number in range(1500)))
    assert made(table, table).is_empty


_NAMES = st.sampled_from(["RequestMemory", "Queue", "WantX", "xcount", "Owner", "MY.Queue", "TARGET.WantX"])
_CONSTANTS = st.sampled_from(["1", "8000", "2.5", '"short"', '"ann"', "true", "undefined"])
_COMPARED = st.tuples(_NAMES, st.sampled_from(["<", "<=", "==", "=?=", "!=", ">"]), _CONSTANTS).map(" ".join)
_ATOMS = st.one_of(_COMPARED, _NAMES, _NAMES.map("isUndefined({})".format), _NAMES.map('regexp("^a.*", {})'.format))


def _wider(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, st.sampled_from(["&&", "||"]), inner).map(lambda each: f"({' '.join(each)})"),
        inner.map("(!({}))".format),
        st.tuples(inner, inner, inner).map(lambda each: f"ifThenElse({', '.join(each)})"),
    )


_CONDITIONS = st.recursive(_ATOMS, _wider, max_leaves=4)
_LINES = st.one_of(
    _CONDITIONS.map("EVALSET Foo {}".format),
    _CONDITIONS.map("EVALMACRO m ifThenElse({}, 1, 0)\nif $(m)\nSET Bar 1\nendif".format),
    st.sampled_from(["SET Foo 1", "SET Foo $(MY.Queue)", "DEFAULT Queue 5", "COPY Queue Foo", "DELETE /^Want(.*)/"]),
    st.sampled_from(["MaxJobs = 5", "EditJobInPlace = WantX", "if defined MY.Queue\nSET Foo 2\nendif"]),
)
_ROUTES = st.lists(st.tuples(_CONDITIONS, st.lists(_LINES, max_size=2)), min_size=1, max_size=3)


def _table(routes: list[tuple[str, list[str]]]) -> RoutingTable:
    texts = {
        f"R{at}": "\n".join(("UNIVERSE VANILLA", f"REQUIREMENTS {asked}", *lines))
        for at, (asked, lines) in enumerate(routes)
    }
    return table_of(texts)


@examples(10)
@given(_ROUTES)
def test_a_table_does_what_itself_does(routes: list[tuple[str, list[str]]]) -> None:
    """Loaded twice, over all jobs that are made from it."""
    old, new = _table(routes), _table(routes)
    found = compare_tables(old, new, ((each.id, each.ad) for each in made_jobs([old, new], most=200)))
    assert found.is_empty
    assert not found.unproven


@examples(10)
@given(_ROUTES, _ROUTES)
def test_where_nothing_is_said_each_job_goes_and_is_copied_alike(
    before: list[tuple[str, list[str]]], after: list[tuple[str, list[str]]]
) -> None:
    """By routing and copying each job by itself; and where something is said of a job, that job shows it."""
    old, new = _table(before), _table(after)
    jobs = made_jobs([old, new], most=120)
    found = compare_tables(old, new, ((each.id, each.ad) for each in jobs))
    context = Context()
    moved: dict[tuple[str | None, str | None], int] = {}
    copied = False
    for each in jobs:
        chosen = [why(table, each.ad, RouteState(), context).chosen for table in (old, new)]
        names = [route.name if route is not None else None for route in chosen]
        if names[0] != names[1]:
            moved[names[0], names[1]] = moved.get((names[0], names[1]), 0) + 1
        if chosen[0] is not None and chosen[1] is not None:
            made = [apply_route(table, route, each.ad) for table, route in zip((old, new), chosen, strict=True)]  # type: ignore[arg-type]
            texts = [
                sorted((change.name.lower(), change.after) for change in one.changes if change.name != "RouteName")
                for one in made
            ]
            copied = copied or texts[0] != texts[1] or made[0].failed != made[1].failed
    assert {(each.old, each.new): each.jobs for each in found.moved} == moved
    assert bool(found.copies) >= copied
