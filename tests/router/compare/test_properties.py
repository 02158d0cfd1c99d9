"""A table does what itself does; and where nothing is said, each job goes and is copied alike."""

from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import Context
from crondor.router import RouteState, RoutingTable, apply_route, why
from crondor.router.compare import compare_tables, made_jobs
from tests.examples import examples
from tests.router.tables import table_of

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
