"""Of any old table that the releases accept: a conversion does what they did, or says where it does not."""

import re
from collections.abc import Iterator

from hypothesis import assume, given
from hypothesis import strategies as st

from crondor.config import Configuration, read_config
from crondor.diagnostics import Diagnostic, Severity, Source
from crondor.router import load_table
from crondor.router.compare import TablesComparison, compare_tables, made_jobs
from crondor.router.legacy import Macros, convert_table, legacy_table, read_legacy
from crondor.router.legacy.configuration import NewTable
from crondor.router.legacy.routes import without_old
from crondor.router.legacy.verifying import compared_tables, verify
from tests.examples import examples

_UNCHANGED = frozenset(
    ("legacy-requirements", "legacy-inputrsl", "legacy-delete", "legacy-refresh", "legacy-around", "legacy-name")
)
"""The warnings and notes that say of no route that it does anything else under its new name, without transforms."""
_MEANT = frozenset(("legacy-requirements", "legacy-inputrsl", "legacy-delete", "legacy-variable"))
"""Those of routes that do the same."""

_NAMES = st.sampled_from(["VO", "RequestCpus", "Rank", "Group", "OnExitHold", "default_queue", "remote_queue"])
_VARIABLES = st.sampled_from(["mem", "limit", "site"])
_STRINGS = st.sampled_from(['"atlas"', '"cms"', '""', r'"a\"b"', r'"a\\"', '"$(SITE)"', '"$(NONE)"', '"a=b"', '"#x"'])
_PLAIN = st.one_of(
    st.integers(-1, 9).map(str),
    st.sampled_from(["2.5", "true", "undefined", "error", "VO", "RequestCpus", "RequestMemory", "time()", "QDate"]),
    _STRINGS,
)
_ATOMS = st.one_of(
    _PLAIN,
    st.sampled_from(["mem", "site", "TARGET.RequestCpus", "other.VO", "my.mem", "MY.limit", "CurrentTime"]),
    st.sampled_from(['" x "', '"$$(Cpus)"']),
)
_AROUND = st.sampled_from(
    [
        "",
        "JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES = T\nJOB_ROUTER_TRANSFORM_T @=e\nSET Q $(default_queue:1)\n@e\n",
        "JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES = T\nJOB_ROUTER_TRANSFORM_T = DELETE VO\n",
    ]
)
_REST = st.sampled_from(
    [
        "JOB_ROUTER_SOURCE_JOB_CONSTRAINT = target.JobUniverse == 5\n",
        "JOB_ROUTER_SOURCE_JOB_CONSTRAINT = WantJobRouter is true\nJOB_ROUTER_ROUND_ROBIN_SELECTION = true\n",
        "",
    ]
)
_Texts = st.SearchStrategy[str]


def _expressions(atoms: _Texts) -> _Texts:
    return st.recursive(
        atoms,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from(["+", "-", "*", "<", ">=", "==", "=?=", "!=", "&&", "||"]), inner).map(
                lambda found: f"({' '.join(found)})"
            ),
            st.tuples(inner, inner, inner).map(lambda found: f"ifThenElse({', '.join(found)})"),
            st.tuples(inner, inner).map(lambda found: f"strcat({', '.join(found)})"),
            inner.map("!({})".format),
            inner.map("isUndefined({})".format),
            inner.map('regexp("^a", {})'.format),
        ),
        max_leaves=4,
    )


def _lines(expressions: _Texts, variables: _Texts, copied: _Texts, limits: _Texts) -> _Texts:
    return st.one_of(
        st.tuples(st.sampled_from(["set_", "eval_set_"]), _NAMES, expressions),
        st.tuples(st.just("delete_"), _NAMES, st.sampled_from(["true", "false"])),
        st.tuples(st.just("copy_"), _NAMES, copied),
        st.tuples(st.just(""), variables, expressions),
        st.tuples(st.just(""), st.sampled_from(["MaxJobs", "MaxIdleJobs", "FailureRateThreshold"]), limits),
        st.tuples(
            st.just(""), st.sampled_from(["EditJobInPlace", "JobFailureTest", "JobShouldBeSandboxed"]), expressions
        ),
    ).map(lambda found: f"{found[0]}{found[1]} = {found[2]};")


def _routes(kinds: _Texts, expressions: _Texts, lines: _Texts) -> _Texts:
    """Return ads without the Name."""
    requirements = st.one_of(st.just(""), expressions.map("Requirements = {};".format))
    return st.tuples(kinds, requirements, st.lists(lines, max_size=4).map(" ".join)).map(" ".join)


def _tables(around: _Texts, lines: _Texts, entries: st.SearchStrategy[list[str]]) -> _Texts:
    defaults = st.one_of(
        st.just(""), st.lists(lines, max_size=2).map(lambda found: f"JOB_ROUTER_DEFAULTS = [ {' '.join(found)} ]\n")
    )
    return st.tuples(st.just("SITE = uio\n"), _REST, around, defaults, entries).map(
        lambda found: "".join(found[:4]) + "JOB_ROUTER_ENTRIES @=end\n" + "\n".join(found[4]) + "\n@end\n"
    )


_EVERY = _expressions(_ATOMS)
_LINES = _lines(
    _EVERY,
    st.one_of(_VARIABLES, st.sampled_from(["queue", "MyName"])),
    st.sampled_from(['"OldVO"', '"Group"', "5"]),
    _EVERY,
)
_KINDS = st.sampled_from(["TargetUniverse = 5;", "TargetUniverse = 9;", 'GridResource = "batch slurm";', ""])
_ROUTE_NAMES = st.sampled_from(['Name = "Oslo";', 'Name = "Bergen";', 'Name = "Site 1";', 'Name = "$(SITE)";', ""])
_ANY_ROUTES = _routes(st.one_of(_KINDS, _STRINGS.map("GridResource = {};".format)), _EVERY, _LINES)
_TABLES = _tables(
    _AROUND,
    _LINES,
    st.lists(st.tuples(_ROUTE_NAMES, _ANY_ROUTES).map("[ {0[0]} {0[1]} ]".format), min_size=1, max_size=3),
)
_PLAIN_LINES = _lines(
    _expressions(_PLAIN), _VARIABLES, st.sampled_from(['"OldVO"', '"Group"']), st.integers(0, 99).map(str)
)
_PLAIN_ROUTES = _routes(_KINDS, _expressions(_PLAIN), _PLAIN_LINES)
_PLAIN_TABLES = _tables(
    st.just(""),
    _PLAIN_LINES,
    st.lists(_PLAIN_ROUTES, min_size=1, max_size=3).map(
        lambda found: [f'[ Name = "R{number}"; {each} ]' for number, each in enumerate(found)]
    ),
)


def _converted(text: str) -> tuple[Configuration, NewTable]:
    configuration = read_config(Source(text, "old.conf"))
    return configuration, convert_table(read_legacy(configuration, macros=Macros.KEPT))


def _differing(found: TablesComparison) -> set[str]:
    """Return the routes that are others: by themselves, not for what other routes take."""
    said = {*found.routes.added, *found.routes.dropped, *(name for name, _ in found.routes.rejected)}
    said |= {each.new_route for each in found.copies if each.old_route == each.new_route}
    return said | {each.route or "" for each in found.settings}


def _said(made: NewTable, name: str) -> Iterator[Diagnostic]:
    """Yield the findings that say what is changed of a route, under its old name or its new one."""
    names = {name, *(route.entry.name for route in made.routes if route.name == name)}
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b", re.IGNORECASE)
    for each in made.diagnostics:
        is_changing = each.kind not in _UNCHANGED or each.severity is Severity.ERROR
        if is_changing and pattern.search(each.message):
            yield each


@examples(25)
@given(_TABLES)
def test_a_conversion_does_the_same_or_says_what_it_changes(text: str) -> None:
    """What the comparison finds on a route over made jobs, the conversion has said of that route."""
    configuration, made = _converted(text)
    both = compared_tables(read_legacy(configuration), made)
    jobs = made_jobs([both.old, both.new], most=150)
    found = compare_tables(both.old, both.alone, ((each.id, each.ad) for each in jobs))
    assert found.candidates
    assert found.routes.order is None
    for name in _differing(found):
        assert any(_said(made, name)), (name, found, str(made))
    if found.moved or found.overlaps or found.unreached:
        assert any(any(_said(made, name)) for name in made.names), (found, str(made))


@examples(12)
@given(_PLAIN_TABLES)
def test_route_diff_says_nothing_of_a_conversion(text: str) -> None:
    """Of a table in which nothing is to be mended; the conversion says nothing either."""
    configuration, made = _converted(text)
    assume(all(each.kind in _MEANT and each.severity is not Severity.ERROR for each in made.diagnostics))
    table = read_legacy(configuration)
    old = legacy_table(table, faithful=True)
    new = load_table(read_config(str(made), base=without_old(table)))
    found = compare_tables(old, new, ((each.id, each.ad) for each in made_jobs([old, new], most=150)))
    assert found.is_empty, (found, str(made))
    assert verify(table, made, most=150).diagnostics == ()
