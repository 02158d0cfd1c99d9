"""A job's policy: what a value of an expression asks for, and that everybody who asks hears the same."""

from collections.abc import Iterator
from itertools import product
from typing import Final, NamedTuple

import pytest

from crondor.classad import Context, Expression
from crondor.classad.ad import ClassAd
from crondor.job.attributes import ExitValue, JobStatus
from crondor.job.policy import Act, QueuedJob, Ruling, at_exit, ended, expressions, periodic
from crondor.router.daemon import RouterOptions
from crondor.router.daemon.rehearsal import Site
from crondor.router.daemon.runs import runs_again
from crondor.router.plan.planner import stays
from crondor.schedd.protocol import Hold
from tests.check.asking import found
from tests.pool.pools import Seen
from tests.router.daemon.scenes import NOW, ROUTE, Stage, job, table

CONTEXT: Final = Context(now=NOW)


class Meaning(NamedTuple):
    """What a value is: something that is wanted, a number at all, a number that is zero."""

    wants: bool
    number: bool
    zero: bool


NOTHING: Final = Meaning(wants=False, number=False, zero=False)
ZERO: Final = Meaning(wants=False, number=True, zero=True)
ONE: Final = Meaning(wants=True, number=True, zero=False)
VALUES: Final = {
    "true": ONE,
    "false": ZERO,
    "undefined": NOTHING,
    "error": NOTHING,
    "Foo": NOTHING,
    "Foo == 3": NOTHING,
    "0": ZERO,
    "1": ONE,
    "-1": ONE,
    '"x"': NOTHING,
    '"true"': NOTHING,
    "1.5": ONE,
    "0.5": ZERO,
}
WANTED: Final = {
    "PeriodicVacate": Act.VACATE,
    "PeriodicHold": Act.HOLD,
    "PeriodicRelease": Act.RELEASE,
    "PeriodicRemove": Act.REMOVE,
    "OnExitHold": Act.HOLD,
}
STATUS: Final = {"PeriodicVacate": JobStatus.RUNNING, "PeriodicRelease": JobStatus.HELD}
COMMANDS: Final = {
    "PeriodicVacate": "periodic_vacate",
    "PeriodicHold": "periodic_hold",
    "PeriodicRelease": "periodic_release",
    "PeriodicRemove": "periodic_remove",
    "OnExitHold": "on_exit_hold",
    "OnExitRemove": "on_exit_remove",
    "TimerRemove": "+TimerRemove",
}


def rows() -> Iterator[tuple[str, str, Act]]:
    """Yield each expression with each value, and what it asks for."""
    for (name, act), (text, value) in product(WANTED.items(), VALUES.items()):
        yield name, text, act if value.wants else Act.STAY
    for text, value in VALUES.items():
        yield "OnExitRemove", text, Act.STAY if value.zero else Act.REMOVE
        if text != "-1":  # no time: crondor and HTCondor take it for none
            yield "TimerRemove", text, Act.REMOVE if value.number else Act.UNDEFINED


ROWS: Final = list(rows())


def texts(name: str, text: str) -> dict[str, str]:
    """Return a job that stays after a run, with one expression more."""
    return {"OnExitRemove": "false", name: text}


def says(name: str, text: str) -> Ruling:
    """Return what the policy itself says of a job with one expression."""
    ad = ClassAd.of_texts(texts(name, text))
    if name.startswith("OnExit"):
        return at_exit(ended(ad, 1), NOW, CONTEXT)
    return periodic(ad, STATUS.get(name, JobStatus.IDLE), NOW, CONTEXT)


@pytest.mark.parametrize(("name", "text", "act"), ROWS)
def test_the_policy_itself(name: str, text: str, act: Act) -> None:
    """The act, its reason and its code; HTCondor writes the expression into the reason as it stands."""
    ruling = says(name, text)
    value = "UNDEFINED" if act is Act.UNDEFINED else "FALSE" if name == "OnExitRemove" else "TRUE"
    reason = f"The job attribute {name} expression '{text}' evaluated to {value}"
    is_told = (act is Act.STAY) == (name == "OnExitRemove")
    assert ruling.act is act
    if name == "OnExitHold" and act is Act.STAY:
        reason = "The job attribute OnExitRemove expression 'false' evaluated to FALSE"
        is_told = True
    assert ruling.reason == (reason if is_told else "")
    assert (ruling.code, ruling.subcode) == (5 if act is Act.UNDEFINED else 3, 0)


def checks(name: str, text: str) -> bool:
    """Say whether ``crondor check`` finds that the job is left alone."""
    line = f"{COMMANDS[name]} = {text}"
    if name == "OnExitRemove":
        assert bool(found("CRN402", "cron_minute = 0", line)) == bool(found("CRN403", "cron_minute = 0", line))
        return bool(found("CRN402", "cron_minute = 0", line))
    if name in {"OnExitHold", "PeriodicRelease"}:
        code = "CRN402" if name == "OnExitHold" else "CRN403"
        return bool(found(code, "cron_minute = 0", "on_exit_remove = false", line))
    return bool(found("CRN308", f"deferral_time = {NOW + 10**6}", line))


@pytest.mark.parametrize(("name", "text", "act"), [row for row in ROWS if row[0] != "PeriodicVacate"])
def test_check_says_the_same(name: str, text: str, act: Act) -> None:
    """Before submission; of the vacation of a job that runs no rule has anything to say."""
    assert checks(name, text) == (act in {Act.STAY, Act.UNDEFINED})


def simulated(name: str, text: str) -> Act:
    """Return what becomes of such a job in a pool."""
    stays_on = "" if name == "OnExitRemove" else "on_exit_remove = false"
    gate = "" if name in {"PeriodicVacate", "OnExitHold", "OnExitRemove"} else "cron_minute = 0"
    seen = Seen(f"{gate}\n{stays_on}\n{COMMANDS[name]} = {text}")
    if name == "PeriodicRelease":
        seen.pool.hold(seen.jobs[0], Hold("by a test", 21))
    seen.at(700 if gate else 45)
    told = {what for _, what in seen.story()}
    acts = {"evicted": Act.VACATE, "released": Act.RELEASE, "removed": Act.REMOVE, "completed": Act.REMOVE}
    if name != "PeriodicRelease":
        acts["held"] = Act.HOLD
    (act,) = {act for what, act in acts.items() if what in told} or {Act.STAY}
    return act


@pytest.mark.parametrize(("name", "text", "act"), ROWS)
def test_simulate_says_the_same(name: str, text: str, act: Act) -> None:
    """The schedd passes over an idle job whose timer is no number."""
    assert simulated(name, text) is (Act.STAY if act is Act.UNDEFINED else act)


def routed(name: str, text: str) -> Act:
    """Return what a router does to a source while its copy, which has no policy, runs."""
    rules = f"{ROUTE}DELETE {name}\nDELETE PeriodicHold\nDELETE PeriodicRemove"
    stage = Stage(table({"Site1": rules}), [Site("Site1", run_time=600)])
    more = {"PeriodicVacate": {"PeriodicHold": "true"}, "PeriodicRelease": {"PeriodicRemove": "JobStatus == 5"}}
    attributes = {name: text, **more.get(name, {})}
    (source,) = stage.submit(job(**{each: Expression(value) for each, value in attributes.items()}))
    stage.poll(2)
    if name == "PeriodicRelease":
        stage.destination.hold(stage.copy(), Hold("by the site", 21))
    stage.poll(10)
    (status, code) = stage.values(source, "JobStatus", "HoldReasonCode")
    if name in more:  # what comes next is done where nothing is asked for
        return WANTED[name] if status == {"PeriodicVacate": 2, "PeriodicRelease": 5}[name] else Act.STAY
    return {3: Act.REMOVE, 5: Act.UNDEFINED if code == 5 else Act.HOLD}.get(status, Act.STAY)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize(("name", "text", "act"), [row for row in ROWS if not row[0].startswith("OnExit")])
def test_a_router_says_the_same(name: str, text: str, act: Act) -> None:
    """It holds the source of what is undefined."""
    assert routed(name, text) is act


@pytest.mark.parametrize(("name", "text", "act"), [row for row in ROWS if row[0].startswith("OnExit")])
def test_a_router_says_the_same_at_exit(name: str, text: str, act: Act) -> None:
    """It asks once a run is over, and a plan of routes asks beforehand."""
    ad = job(CronMinute="0", **{each: Expression(value) for each, value in texts(name, text).items()})
    assert runs_again(ended(ad, 1), NOW, CONTEXT) == (act is Act.STAY)
    assert stays(ad, NOW, 1, CONTEXT) == (act is Act.STAY)
    if name == "OnExitRemove" and "Foo" not in text:
        assert QueuedJob(ad).leaves == (act is Act.REMOVE)


@pytest.mark.parametrize(("text", "again"), [("false", True), ("Foo", False), ("0.5", True), ('"x"', False)])
def test_a_router_that_waits_for_gates_goes_by_it(text: str, again: bool) -> None:
    """Until the first run is over."""
    stage = Stage(table({"Site1": ROUTE}), [Site("Site1", run_time=60)], options=RouterOptions(waits_for_gates=True))
    terms = {"DeferralWindow": 600, "DeferralPrepTime": 120, "ScheddInterval": 60}
    (source,) = stage.submit(job(CronMinute="0", OnExitRemove=Expression(text), **terms))
    while stage.now < NOW // 3600 * 3600 + 3600 + 900:
        stage.source.recalculate()
        stage.poll()
    assert stage.values(source, "JobStatus") == [JobStatus.IDLE if again else JobStatus.COMPLETED]


# The order, and what goes with a ruling


def test_the_order_of_the_expressions() -> None:
    """Each comes before those after it, in each status in which it counts."""
    order = ["PeriodicVacate", "TimerRemove", "PeriodicHold", "PeriodicRelease", "PeriodicRemove"]
    counting = {
        JobStatus.IDLE: [1, 2, 4],
        JobStatus.RUNNING: [0, 1, 2, 4],
        JobStatus.REMOVED: [],
        JobStatus.COMPLETED: [1, 4],
        JobStatus.HELD: [1, 3, 4],
        JobStatus.TRANSFERRING_OUTPUT: [1, 2, 4],
        JobStatus.SUSPENDED: [0, 1, 2, 4],
    }
    assert list(counting) == list(JobStatus)
    for status, places in counting.items():
        names = [order[place] for place in places]
        assert expressions(status) == names
        while names:
            ad = ClassAd.of_texts(
                {**dict.fromkeys(order[: order.index(names[0])], "false"), **dict.fromkeys(names, "1")}
            )
            ad.prune("TimerRemove" if names[0] != "TimerRemove" else "nothing")
            wanted = {**WANTED, "TimerRemove": Act.REMOVE}[names[0]]
            assert periodic(ad, status, NOW, CONTEXT)[:2] == (
                wanted,
                f"The job attribute {names[0]} expression '1' evaluated to TRUE",
            )
            names = names[1:]
        assert periodic(ClassAd.of_texts({"Other": "1"}), status, NOW, CONTEXT).act is Act.STAY


def test_a_longest_time_to_run_comes_first() -> None:
    """It is counted from the match, and at exit, too."""
    ad = ClassAd({"AllowedJobDuration": 60, "JobCurrentStartDate": NOW - 60, "PeriodicRemove": True})
    assert periodic(ad, JobStatus.RUNNING, NOW, CONTEXT).code == 46
    assert periodic(ad, JobStatus.RUNNING, NOW - 1, CONTEXT).act is Act.REMOVE
    assert periodic(ad, JobStatus.IDLE, NOW, CONTEXT).act is Act.REMOVE
    assert at_exit(ended(ad, 1), NOW, CONTEXT).code == 46


@pytest.mark.parametrize(
    ("ad", "act"),
    [
        ({"PeriodicRemove": "1", "OnExitHold": "1", "OnExitRemove": "0"}, Act.REMOVE),
        ({"PeriodicHold": "1", "OnExitRemove": "1"}, Act.HOLD),
        ({"PeriodicVacate": "1", "OnExitRemove": "0"}, Act.STAY),
        ({"PeriodicRelease": "1", "OnExitRemove": "0"}, Act.STAY),
        ({"TimerRemove": "Foo", "OnExitRemove": "0"}, Act.HOLD),
        ({"OnExitHold": "1", "OnExitRemove": "1"}, Act.HOLD),
        ({"OnExitRemove": "ExitCode == 3"}, Act.STAY),
        ({}, Act.REMOVE),
    ],
)
def test_what_comes_first_at_exit(ad: dict[str, str], act: Act) -> None:
    """The periodic expressions but for PeriodicVacate, then OnExitHold, then OnExitRemove."""
    assert at_exit(ended(ClassAd.of_texts(ad), 1), NOW, CONTEXT).act is act


def test_a_signal_leaves_the_exit_code_undefined() -> None:
    """So who asks for it alone lets the job leave."""
    ad = ClassAd.of_texts({"OnExitRemove": "ExitCode == 3"})
    assert at_exit(ended(ad, 1, ExitValue(9, by_signal=True)), NOW, CONTEXT).act is Act.REMOVE


@pytest.mark.parametrize("name", ["PeriodicHold", "OnExitHold"])
def test_a_job_gives_its_own_reason_and_subcode(name: str) -> None:
    """The subcode as an int of 32 bits, the reason where it is a string and not empty."""
    own = {f"{name}Reason": '"enough"', f"{name}SubCode": "7.9"}
    ad = ClassAd.of_texts({**texts(name, "true"), **own})
    found = at_exit(ended(ad, 1), NOW, CONTEXT)
    assert found == Ruling(Act.HOLD, "enough", 3, 7)
    for odd in ('""', "5", "Foo"):
        ad.set_text(f"{name}Reason", odd)
        ad.set_text(f"{name}SubCode", '"5"')
        found = at_exit(ended(ad, 1), NOW, CONTEXT)
        assert found == Ruling(Act.HOLD, f"The job attribute {name} expression 'true' evaluated to TRUE", 3, 0)


def test_a_release_leaves_a_users_hold_alone() -> None:
    """CONDOR_HOLD_CODE UserRequest; what comes after is asked all the same."""
    ad = ClassAd.of_texts({"PeriodicRelease": "true", "HoldReasonCode": "1"})
    assert periodic(ad, JobStatus.HELD, NOW, CONTEXT).act is Act.STAY
    ad.set("PeriodicRemove", value=True)
    assert periodic(ad, JobStatus.HELD, NOW, CONTEXT).act is Act.REMOVE
