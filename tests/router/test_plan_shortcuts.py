"""What a plan reads once for all runs comes to what is evaluated for each of them."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crondor.classad.ad import ClassAd
from crondor.classad.formats import Format
from crondor.classad.scope import Context
from crondor.config import read_config
from crondor.deferral import GATE
from crondor.diagnostics import Source
from crondor.router.plan import copy_schedule, planner
from crondor.router_bridge import PlanOptions, plan
from crondor.submit import SubmitHost, read_submit
from tests.examples import examples

NOW = 1_795_608_000  # 2026-11-25 12:00 UTC

SCHEDULES = st.sampled_from(
    ["cron_minute = *", "cron_minute = */7", "cron_hour = */2\ncron_minute = 5", f"deferral_time = {NOW + 500}"]
)
EXTRA = st.lists(
    st.sampled_from(
        [
            *("on_exit_remove = false", "on_exit_remove = NumJobStarts > 3", "on_exit_hold = time() % 2 == 0"),
            *("cron_window = 90", "cron_window = NumJobStarts * 30", "cron_prep_time = 10", "cron_prep_time = 2 * 60"),
            *("periodic_remove = NumJobStarts > 2", "requirements = time() % 120 < 60", 'requirements = eval("true")'),
            *("requirements = DeferralTime > CurrentTime + 20", "requirements = QDate < DeferralTime - 30"),
            *("+ScheddInterval = 100 + 200", "+DeferralWindow = -5", "+DeferralWindow = 1.5", "+Odd = 1 + 1"),
            *('+Owner = strcat("a", "lice")', "+Late = DeferralTime + EnteredCurrentStatus", "universe = local"),
            *("requirements = TARGET.HasJobDeferral && DeferralTime < time() + 300", "+Long = 12345678901234567890"),
        ]
    ),
    max_size=3,
).map("\n".join)
LINES = st.lists(
    st.sampled_from(
        [
            *("UNIVERSE VANILLA", "UNIVERSE GRID\nGridResource = condor a b", "SET Copied DeferralTime + 1"),
            *("EVALSET At time()", "EVALSET Due DeferralTime", "EVALMACRO m DeferralTime - 60\nSET Before $(m)"),
            *("SET Dice $RANDOM_INTEGER(1,6)", "EVALSET Dice random(6)", "SET Mine $(MY.DeferralTime)"),
            *("COPY DeferralTime Due", "RENAME DeferralTime Due", "DELETE /^Deferral/", 'DEFAULT Owner "bob"'),
            *('EVALSET Text eval("DeferralTime")', "SET DeferralTime CurrentTime + 100", "SET DeferralWindow 30 + 30"),
            *("SET Requirements true", "SET OnExitRemove time() % 2 == 0", "EVALSET Since EnteredCurrentStatus"),
            *("REQUIREMENTS DeferralTime % 120 == 0", "REQUIREMENTS time() % 2 == 0", "MaxJobs = 1"),
        ]
    ),
    max_size=3,
).map("\n".join)


def planned(job: str, route: str, before: str, options: PlanOptions) -> list[object]:
    """Return what a plan says of each run."""
    text = f"executable = /bin/true\n+WantJobRouter = true\n{job}\nqueue\n"
    file = read_submit(Source(text, "job.sub"), now=NOW, host=SubmitHost())
    universe = "" if "UNIVERSE" in route else "UNIVERSE VANILLA\n"
    rules = (
        f"JOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ROUTE_A @=end\n{universe}{route}\n@end\n"
        f"JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES = T\nJOB_ROUTER_TRANSFORM_T @=end\n{before}\n@end\n"
    )
    made = plan(file, read_config(Source(rules, "r.conf")), NOW, NOW + 3 * 3600, options)
    found: list[object] = []
    for run in made:
        cured = made.cure(run)
        ad = None if run.routed is None or run.routed.ad is None else run.routed.ad
        found.append(
            (
                *(run.job.id, run.number, run.run, run.outcome, run.taken, run.starts, run.ends, run.room, run.conduct),
                *(run.stays, [str(each) for each in run.findings], cured and (cured.text, cured.manner.conduct)),
                None if ad is None else ad.print(Format.LONG),
                None if run.routed is None else run.routed.applied,
            )
        )
    return found


@examples(15)
@given(SCHEDULES, EXTRA, LINES, LINES, st.booleans(), st.sampled_from([None, 20, 200]))
@example("cron_minute = *", "on_exit_remove = false", "", "", True, 20)
@example("cron_minute = *", "on_exit_remove = false", "EVALSET At time()", "COPY DeferralTime Due", True, 20)
def test_a_plan_is_the_same_without_its_shortcuts(
    schedule: str, extra: str, route: str, before: str, at_gate: bool, run_time: int | None
) -> None:
    """Jobs with their numbers as texts, gates as numbers and policies known by their texts change no run and no ad."""
    options = PlanOptions(at_gate=at_gate, run_time=run_time, count=40)
    job = f"{schedule}\n{extra}"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(planner, "_with_texts", lambda ad: ad)
        patched.setattr(planner, "known_at_exit", lambda _: None)
        patched.setattr(copy_schedule, "_gate_numbers", lambda _: None)
        expected = planned(job, route, before, options)
    assert planned(job, route, before, options) == expected


def test_numbers_become_texts_only_where_they_are_written_so() -> None:
    """An expression that comes to a number stays one."""
    ad = ClassAd({"A": 7, "B": "text", "C": True, "D": 1.5})
    for name, text in (("E", "1 + 1"), ("F", "1.50"), ("G", "-5"), ("H", '"a\\nb"'), ("I", "A")):
        ad.set_text(name, text)
    for name in ("A", "B"):
        ad.code(name)
    before = {name: ad.text(name) for name in ad}
    made = planner._with_texts(ad)
    assert {name: made.text(name) for name in made} == before
    assert made.codes["a"] == "7"
    assert not isinstance(made.codes["e"], str)


@given(*[st.integers(-3, 3)] * 4, st.integers(-8, 8))
def test_the_clause_as_numbers_is_the_clause(time: int, window: int, prep_time: int, interval: int, now: int) -> None:
    """Each part of what condor_submit adds to Requirements has the value that it has as an expression."""
    numbers = {
        "DeferralTime": time,
        "DeferralWindow": window,
        "DeferralPrepTime": prep_time,
        "ScheddInterval": interval,
    }
    ad = ClassAd(numbers)
    ad.set_text("Requirements", GATE)
    parts = copy_schedule._conjuncts(ad)
    assert [part.gate for part in parts] == [copy_schedule._opens, copy_schedule._closes]
    for part in parts:
        assert part.gate is not None
        found = part.gate(NOW + now, (NOW + time, window, prep_time, interval))
        ad.set("DeferralTime", NOW + time)
        assert found == part.expression.holds(ad, None, Context(now=NOW + now))
