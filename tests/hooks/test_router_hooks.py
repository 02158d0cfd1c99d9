"""The job router's hooks: keyword, formats, and every row of what an answer means."""

from collections.abc import Callable

import pytest

from crondor.classad import ClassAd, Expression
from crondor.hooks.kinds import HookConsequence, HookType, RouterHooks, ad_text, hook_input, read_output, route_ad
from crondor.hooks.runner import HookCall, HookLimits, HookRunner

Script = Callable[..., str]
TRANSLATE, UPDATE, FINALIZE, CLEANUP = (
    HookType.TRANSLATE_JOB,
    HookType.UPDATE_JOB_INFO,
    HookType.JOB_FINALIZE,
    HookType.JOB_CLEANUP,
)
JOB = ClassAd({"ClusterId": 1, "ProcId": 0, "JobUniverse": 5, "Owner": "alice", "HookKeyword": "RA"})


def hooks(**knobs: str) -> RouterHooks:
    """Return the hooks of some knobs."""
    return RouterHooks(knobs, {"PATH": "/usr/bin:/bin"})


def test_the_keyword_of_the_job_comes_first(script: Script) -> None:
    """A job's HookKeyword counts even where it has no hooks; without one the router's default does."""
    path = script("true")
    found = hooks(RB_HOOK_TRANSLATE_JOB=path, JOB_ROUTER_HOOK_KEYWORD="RB")
    assert found.keyword(JOB) == "RA"
    assert found.find(TRANSLATE, JOB).path is None
    other = ClassAd({"Owner": "alice"})
    assert found.find(TRANSLATE, other).path == path
    other["HookKeyword"] = 5
    assert found.keyword(other) == "RB"
    other["HookKeyword"] = Expression('strcat("R", "C")')
    assert found.keyword(other) == "RC"


def test_finalize_has_an_old_name(script: Script) -> None:
    """JOB_EXIT is looked up where JOB_FINALIZE is not there, or may not be used."""
    path = script("true")
    assert hooks(RA_HOOK_JOB_EXIT=path).find(FINALIZE, JOB).path == path
    assert hooks(RA_HOOK_JOB_EXIT=path, RA_HOOK_JOB_FINALIZE="/none/x").find(FINALIZE, JOB).knob == "RA_HOOK_JOB_EXIT"


def test_a_program_that_may_not_be_used_is_a_problem_and_no_hook(script: Script) -> None:
    """HTCondor routes such a job by itself; here the reason is there to be shown."""
    found = hooks(RA_HOOK_TRANSLATE_JOB=script("true", "open", 0o757)).find(TRANSLATE, JOB)
    assert found.path is None
    assert found.problem is not None
    assert found.problem.code == "hook-writable"


def test_formats() -> None:
    """What each hook reads, to the line."""
    route = route_ad("Grid", 9, "batch slurm")
    copy = ClassAd({"ClusterId": 2})
    lines = 'ClusterId = 1\nHookKeyword = "RA"\nJobUniverse = 5\nOwner = "alice"\nProcId = 0\n'
    head = '[ Name = "Grid"; GridResource = "batch slurm"; TargetUniverse = 9 ]\n------\n'
    assert hook_input(TRANSLATE, JOB, route=route) == head + lines
    assert hook_input(TRANSLATE, JOB, route=route_ad("L", 12)).startswith('[ Name = "L"; TargetUniverse = 12 ]\n------')
    assert hook_input(FINALIZE, JOB, copy) == lines + "\n------\nClusterId = 2\n"
    assert hook_input(UPDATE, JOB, copy) == hook_input(CLEANUP, JOB, copy) == "ClusterId = 2\n"


def test_a_string_of_a_job_writes_no_line() -> None:
    """A line end in a string would forge attributes; secrets stay out; what the parent has is there."""
    parent = ClassAd({"Args": "a\n------\nOwner = root", "ClaimId": "secret", "_condor_privX": 1})
    job = ClassAd({"Owner": "bob"}).chain(parent)
    assert ad_text(job) == 'Args = "a ------ Owner = root"\nOwner = "bob"\n'


def test_an_attribute_that_is_no_expression_stays_a_text() -> None:
    """A job with a damaged attribute is handed over all the same."""
    job = ClassAd({"A": 1})
    job.put("Bad", "1 +")
    assert ad_text(job) == "A = 1\nBad = 1 +\n"


def test_cleanup_is_not_called_without_a_copy(script: Script) -> None:
    """A job that never had a copy has nothing to clean up."""
    found = hooks(RA_HOOK_JOB_CLEANUP=script("true"))
    assert found.call(found.find(CLEANUP, JOB), JOB, ClassAd()) is None
    assert found.call(found.find(CLEANUP, JOB), JOB, ClassAd({"ClusterId": 2})) is not None


UNIVERSE = "echo JobUniverse = 5;"
ROWS = [
    (TRANSLATE, UNIVERSE, HookConsequence.USE_AD, {"JobUniverse": 5}, False),
    (TRANSLATE, UNIVERSE + "exit 1", HookConsequence.CLEAN_UP, {}, False),
    (TRANSLATE, UNIVERSE + "echo no ad line", HookConsequence.CLEAN_UP, {}, False),
    (TRANSLATE, "true", HookConsequence.CLEAN_UP, {}, True),
    (TRANSLATE, "echo", HookConsequence.CLEAN_UP, {}, True),
    (TRANSLATE, "echo A = 1", HookConsequence.CLEAN_UP, {}, True),
    (TRANSLATE, UNIVERSE + "kill -9 $$", HookConsequence.CLEAN_UP, {}, True),
    (UPDATE, "echo A = 1; echo MyType = 2; echo targettype = 3", HookConsequence.UPDATE_COPY, {"A": 1}, False),
    (UPDATE, "echo A = 1; exit 1", HookConsequence.SKIP_POLL, {}, False),
    (UPDATE, "echo A", HookConsequence.CLEAN_UP, {}, False),
    (UPDATE, "true", HookConsequence.MIRROR, {}, False),
    (UPDATE, "kill -9 $$", HookConsequence.SKIP_POLL, {}, True),
    (FINALIZE, "echo A = 1", HookConsequence.FINALIZE, {"A": 1}, False),
    (FINALIZE, "echo A = 1; exit 9", HookConsequence.REROUTE, {}, False),
    (FINALIZE, "echo A = = 1", HookConsequence.REROUTE, {}, False),
    (FINALIZE, "true", HookConsequence.FINALIZE, {}, False),
    (FINALIZE, "kill -9 $$", HookConsequence.REROUTE, {}, True),
    (CLEANUP, "echo garbage", HookConsequence.FINISH, {}, False),
    (CLEANUP, "exit 1", HookConsequence.RETRY_CLEANUP, {}, False),
    (CLEANUP, "kill -9 $$", HookConsequence.RETRY_CLEANUP, {}, True),
]


@pytest.mark.parametrize(("hook", "text", "action", "attributes", "differs"), ROWS)
def test_consequences(
    hook: HookType, text: str, action: HookConsequence, attributes: dict[str, int], differs: bool, script: Script
) -> None:
    """Each row of the table: what the program did, and what becomes of the job."""
    run = HookRunner().run(HookCall(script(text), environ={"PATH": "/usr/bin:/bin"}))
    found = hooks().conclude(hook, run)
    assert found.action is action
    assert found.ad == ClassAd(attributes)
    assert found.reason
    assert bool(found.upstream) is differs


def test_a_cleanup_that_never_succeeds_is_given_up(script: Script) -> None:
    """After some tries the router finishes the job; HTCondor's stays with it for ever."""
    run = HookRunner().run(HookCall(script("exit 1")))
    assert hooks().conclude(CLEANUP, run, tries=9).action is HookConsequence.RETRY_CLEANUP
    found = hooks().conclude(CLEANUP, run, tries=10)
    assert found.action is HookConsequence.FINISH
    assert "given up after 10 tries" in found.reason


FAILED = {TRANSLATE: HookConsequence.CLEAN_UP, UPDATE: HookConsequence.CLEAN_UP, FINALIZE: HookConsequence.REROUTE}


def test_hostile_output_is_a_reason(script: Script) -> None:
    """NULs, garbage, a flood: the job fails with a reason, and nothing is raised."""
    for text in (r"printf 'JobUniverse = 5\nA = 1\000'", "head -c 200000 /dev/urandom", "yes '(' | head -c 100000"):
        run = HookRunner().run(HookCall(script(text), environ={"PATH": "/usr/bin:/bin"}))
        for hook, failed in FAILED.items():
            found = hooks().conclude(hook, run)
            assert found.action is failed
            assert len(found.diagnostics) < 30
    limits = HookLimits(output=1000)
    run = HookRunner().run(HookCall(script("cat /dev/zero"), environ={"PATH": "/usr/bin:/bin"}, limits=limits))
    for hook, failed in FAILED.items():
        assert hooks().conclude(hook, run).action is (HookConsequence.SKIP_POLL if hook is UPDATE else failed)


def test_faults_underline_what_the_hook_printed() -> None:
    """Line and column are those of the output."""
    output = read_output("A = 1\n\n  B = 1 +\n 'C' = 1\nd e = 1\n =1\n", "stdout of the hook")
    places = [each.span.location for each in output.faults if each.span is not None]
    assert places == [f"stdout of the hook:{at}" for at in ("3:10", "4:2", "5:1", "6:2")]
    assert list(output.ad) == ["A"]


def test_a_finalize_hook_that_cannot_be_started_is_tried_again(script: Script) -> None:
    """It may have disappeared between two looks; a copy that is done is not thrown away for that, at first."""
    run = HookRunner().run(HookCall(script("true") + ".gone"))
    assert hooks().conclude(FINALIZE, run).action is HookConsequence.SKIP_POLL
    assert hooks().conclude(FINALIZE, run, tries=10).action is HookConsequence.REROUTE
    assert hooks().conclude(TRANSLATE, run).action is HookConsequence.CLEAN_UP
