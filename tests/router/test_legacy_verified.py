"""A conversion does what the old routes did: for any table the releases took, or it says what it changes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from crondor.classad.expression import Expression
from crondor.config import Configuration, read_config
from crondor.router import apply_route, load_table
from crondor.router.legacy import Macros, convert_table, read_legacy
from crondor.router.legacy.configuration import NewTable
from crondor.router.legacy.made_jobs import made_jobs
from crondor.router.legacy.verifying import Verified, verify
from crondor.source import Source

_CONSTRAINT = "JOB_ROUTER_SOURCE_JOB_CONSTRAINT = target.JobUniverse == 5\n"
CHANGING = frozenset(
    ("eval-target", "other", "grid-resource", "limit", "keyword", "copy", "universe", "name", "quoted", "inlined")
)
"""The findings that say of a route that it means something else now: docs/route-convert.md has them."""


def tried(text: str) -> tuple[NewTable, Verified]:
    """Convert a table and try the result."""
    configuration = read_config(Source(_CONSTRAINT + text, "old.conf"))
    made = convert_table(read_legacy(configuration, macros=Macros.KEPT))
    return made, verify(read_legacy(configuration), made)


_NAMES = st.sampled_from(["VO", "RequestCpus", "Rank", "Group", "OnExitHold", "default_queue"])
_VARIABLES = st.sampled_from(["mem", "limit", "site"])
_ATOMS = st.one_of(
    st.integers(0, 9).map(str),
    st.sampled_from(['"atlas"', '"cms"', "true", "undefined", "VO", "RequestCpus", "RequestMemory", "mem", "site"]),
)
_FAITHFUL = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "*", "<", "==", "=?=", "&&", "||"]), inner).map(
            lambda found: f"({found[0]} {found[1]} {found[2]})"
        ),
        st.tuples(inner, inner, inner).map(lambda found: f"ifThenElse({', '.join(found)})"),
        st.tuples(inner, inner).map(lambda found: f"strcat({', '.join(found)})"),
    ),
    max_leaves=4,
)
_ANY = st.one_of(_FAITHFUL, st.sampled_from(["TARGET.RequestCpus", "other.VO", "mem * TARGET.RequestCpus", "my.mem"]))


def _entries(expressions: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    line = st.one_of(
        st.tuples(st.just("set_"), _NAMES, expressions),
        st.tuples(st.just("eval_set_"), _NAMES, expressions),
        st.tuples(st.just("delete_"), _NAMES, st.just("true")),
        st.tuples(st.just("copy_"), _NAMES, st.sampled_from(['"OldVO"', '"Group"'])),
        st.tuples(st.just(""), _VARIABLES, st.one_of(st.integers(0, 99).map(str), st.just('"here"'), expressions)),
    ).map(lambda found: f"{found[0]}{found[1]} = {found[2]};")
    head = st.tuples(
        st.sampled_from(["TargetUniverse = 5;", 'GridResource = "batch slurm";']),
        st.one_of(st.just(""), expressions.map(lambda text: f"Requirements = {text};")),
    ).map("".join)
    entry = st.tuples(head, st.lists(line, max_size=5).map(" ".join)).map(" ".join)
    return st.lists(entry, min_size=1, max_size=3).map(
        lambda found: (
            "JOB_ROUTER_ENTRIES @=end\n"
            + "\n".join(f'[ Name = "R{number}"; {each} ]' for number, each in enumerate(found))
            + "\n@end\n"
        )
    )


@settings(max_examples=60, deadline=None)
@given(_entries(_ANY))
def test_what_comes_out_otherwise_has_been_said(text: str) -> None:
    """Of any table; the findings name what is changed, and a job shows it."""
    made, found = tried(text)
    assert found.jobs
    if found.different:
        said = {each.kind.removeprefix("legacy-") for each in made.diagnostics}
        assert said & CHANGING, (str(made), [each.message for each in found.diagnostics])
        assert found.diagnostics


def test_what_transforms_around_a_route_read_is_not_lost() -> None:
    """The queue and the memory of a site's file, and its universe, are what the transforms behind the route see."""
    around = """\
JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES = Queue
JOB_ROUTER_TRANSFORM_Queue @=end
  REQUIREMENTS BatchQueue is undefined
  SET BatchQueue "$(default_queue)"
  SET Universe "$(TargetUniverse)"
  EVALSET Cores $(default_xcount:1)
  SET Site "$(site_of)"
@end
"""
    table = """\
JOB_ROUTER_ENTRIES = [ Name = "A"; TargetUniverse = 5; set_default_queue = "grid"; eval_set_default_xcount = 2 * 2; \
set_site_of = "here"; set_unread = "x" ]
"""
    made, found = tried(around + table)
    assert not found.different
    text = str(made)
    assert "   default_queue = grid\n" in text
    assert "   EVALMACRO default_xcount 2 * 2\n" in text
    assert "   site_of = here\n" in text
    assert "   unread = " not in text
    ad = _copy(read_config(Source(_CONSTRAINT + around + text, "new.conf")))
    assert [ad[name] for name in ("BatchQueue", "Universe", "Cores", "Site")] == ['"grid"', '"5"', "4", '"here"']


def _copy(configuration: Configuration) -> dict[str, str]:
    table = load_table(configuration)
    (job,) = made_jobs([], 1)
    ad = apply_route(table, table.routes[0], job).ad
    assert ad is not None
    return {name: ad.text(name) for name in ad}


def test_the_queue_by_its_old_name_is_set_by_the_new_one_too() -> None:
    """HTCondor-CE fills BatchQueue otherwise."""
    configuration = read_config('JOB_ROUTER_ENTRIES = [ Name = "A"; TargetUniverse = 9; set_remote_queue = "cms" ]')
    table = read_legacy(configuration)
    assert 'SET BatchQueue "cms"' in str(convert_table(table, ["default_queue"]))
    assert "BatchQueue" not in str(convert_table(table))


def test_what_an_older_entrypoint_generated_is_left_out() -> None:
    """Its transforms do that now; limits stay, and what the site has changed."""
    configuration = read_config(
        "JOB_ROUTER_DEFAULTS_GENERATED = [ MaxJobs = 5; set_A = 1; set_B = 2 ]\n"
        "JOB_ROUTER_DEFAULTS = [ MaxJobs = 5; set_A = 1; set_B = 3 ]\n"
        'JOB_ROUTER_ENTRIES = [ Name = "A"; Requirements = true ]\n'
    )
    text = str(convert_table(read_legacy(configuration, without_generated=True)))
    assert ("MaxJobs = 5" in text, "SET A" in text, "SET B 3" in text) == (True, False, True)
    assert "SET A 1" in str(convert_table(read_legacy(configuration)))


def test_a_malformed_route_is_a_comment_that_nothing_continues() -> None:
    """All of its text, and the reason."""
    source = Source(
        'JOB_ROUTER_ENTRIES @=e\n[ Name = "A"; \\\n set_X = ( ]\n[ Name = "B"; Requirements = true ]\n@e\n', "o"
    )
    made = convert_table(read_legacy(read_config(source)))
    comment = [line for line in str(made).splitlines() if line.startswith("#")]
    assert "malformed route in JOB_ROUTER_ENTRIES" in comment[0]
    assert any('Name = "A"' in line for line in comment)
    assert not any(line.endswith("\\") for line in comment)
    assert read_config(str(made)).string("JOB_ROUTER_ROUTE_NAMES") == "B"


def test_a_schedd_s_transforms_are_converted_with_the_routes() -> None:
    """Those that are ClassAds; what differs is found."""
    text = 'JOB_TRANSFORM_NAMES = T, U\nJOB_TRANSFORM_T = [ Requirements = VO == "a"; copy_VO = "Old"; set_VO = "b" ]\n'
    made, found = tried(text + "JOB_TRANSFORM_U @=end\n  SET X 1\n@end\n")
    assert [each.name for each in made.transforms] == ["T"]
    assert 'JOB_TRANSFORM_T @=jre\n   REQUIREMENTS VO == "a"\n' in str(made)
    assert (found.jobs > 2, found.different) == (True, 0)
    made, found = tried("JOB_TRANSFORM_T = [ eval_set_N = TARGET.RequestCpus ]\n")
    assert found.different
    assert "JOB_TRANSFORM_T: N is 1, and was undefined" in found.diagnostics[0].message


def test_made_jobs_reach_both_sides_of_each_condition() -> None:
    """The constants, those beside them, and none; the same each time, and never more than asked."""
    asked = [Expression('RequestCpus > 8 && VO == "atlas" && stringListMember("x", Groups)')]
    jobs = list(made_jobs(asked))
    assert {job.text("RequestCpus") for job in jobs if "RequestCpus" in job} >= {"8", "9", "7", "1"}
    assert any("VO" not in job for job in jobs)
    assert [job.print() for job in jobs] == [job.print() for job in made_jobs(asked)]
    assert len(list(made_jobs(asked, 3))) == 3
    assert len({job.text("ProcId") for job in jobs}) == len(jobs)
