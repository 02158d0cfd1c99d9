"""What a pool does to jobs besides running them: other ends, preemption, machines that are divided, $$, staying."""

import pytest

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.pool.daemons.matching import expand
from crondor.pool.settings import (
    Exits,
    InvalidExits,
    InvalidLength,
    InvalidMachine,
    InvalidPreemption,
    Lengths,
    Machine,
    Preemption,
    Resources,
    chance,
    machine_ad,
)
from tests.pool.pools import Seen

HOURLY = "cron_minute = 0\non_exit_remove = false"


def test_exit_codes_reach_the_policy() -> None:
    """on_exit_hold and on_exit_remove see ExitCode, and ExitSignal where a signal ended the program."""
    assert Seen("on_exit_hold = ExitCode == 3", exits=Exits.parse("3")).at(100).ad().value("JobStatus") == 5
    seen = Seen("on_exit_remove = ExitBySignal =!= true", exits=Exits.parse("sig9")).at(40)
    assert [seen.ad().value(name) for name in ("ExitBySignal", "ExitSignal", "JobStatus")] == [True, 9, 1]
    assert "ExitCode" not in seen.ad()
    local = Seen("universe = local\non_exit_hold = ExitCode == 3", exits=Exits.parse("3")).at(100)
    assert local.ad().value("JobStatus") == 5


def test_ways_to_end_are_drawn_by_their_weights() -> None:
    """The same chance gives the same end."""
    exits = Exits.parse("0:6,1:3,sig9:1,5:0")
    drawn = [str(exits.drawn(chance(3, n))) for n in range(4000)]
    assert [round(drawn.count(one) / 400) for one in ("0", "1", "sig9", "5")] == [6, 3, 1, 0]
    assert drawn == [str(exits.drawn(chance(3, n))) for n in range(4000)]


@pytest.mark.parametrize("text", ["", "x", "256", "sig0", "sig65", "0:0", "1,,2", "-1"])
def test_what_is_no_way_to_end_is_refused(text: str) -> None:
    """With a word on what to write."""
    with pytest.raises(InvalidExits) as caught:
        Exits.parse(text)
    assert caught.value.diagnostics[0].help


def test_a_preempted_run_is_idle_again_and_gets_its_next_time() -> None:
    """A crontab job is computed anew, as at the end of a run; a one-time job goes on in its window."""
    taken = Preemption(Lengths.fixed(700))
    seen = Seen(HOURLY, preemption=taken, run_time=Lengths.fixed(900)).at(4000)
    assert seen.story("started", "evicted") == [(3600, "started"), (3710, "evicted")]
    assert [seen.ad().value(name) for name in ("JobStatus", "NumJobStarts")] == [1, 1]
    assert seen.ad().value("LastVacateTime") == seen.pool.now - 290
    assert seen.story("planned")[-1] == (3710, "planned")


def test_preemption_by_share() -> None:
    """Some runs lose their machine, the others do not; none that has ended before."""
    taken = Preemption.parse("30%@650-700")
    seen = Seen(HOURLY, preemption=taken, run_time=Lengths.fixed(300)).at(400 * 3600)
    evicted, started = len(seen.story("evicted")), len(seen.story("started"))
    assert started == 399 + 1
    assert 80 < evicted < 160
    assert not Seen(HOURLY, preemption=taken, run_time=Lengths.fixed(20)).at(100 * 3600).story("evicted")


@pytest.mark.parametrize("text", ["101%@5m", "x", "5%", "5%@x"])
def test_what_is_no_preemption_is_refused(text: str) -> None:
    """A share above all, and lengths that are none."""
    with pytest.raises((InvalidPreemption, InvalidLength)):
        Preemption.parse(text)


def test_machines_are_divided_as_jobs_ask() -> None:
    """Four processors do for a job of three and one of one; a third job waits until something is free."""
    text = "request_cpus = 3\nqueue\nrequest_cpus = 1\nqueue 2"
    seen = Seen(text, machines=(Machine.parse("cpus=4,memory=4G"),))
    assert len([h for h in seen.at(30).happened if h.what.value == "started"]) == 2
    assert seen.pool.matching.negotiator.left == [[Resources(0, 4096 - 2 * 128, (1 << 40) - 2 * (1 << 20))]]
    assert len(seen.at(100).story("started")) == 4
    assert seen.pool.matching.negotiator.left == [[Resources(4, 4096, 1 << 40)]]


def test_a_small_job_does_not_wait_for_a_large_one() -> None:
    """What is free goes to the best job that it is enough for."""
    text = "request_cpus = 4\npriority = 5\nqueue\nrequest_cpus = 2\npriority = 0\nqueue 3"
    seen = Seen(text, machines=(Machine.parse("cpus=5,memory=4G"),), run_time=Lengths.fixed(100))
    order = [h.job.id.proc for h in seen.at(1000).happened if h.what.value == "started"]
    assert order[0] == 0
    assert sorted(order) == [0, 1, 2, 3, 4]


def test_a_job_runs_where_its_requirements_are_met() -> None:
    """Each kind of machine is asked; a job that none meets is rejected."""
    kinds = (Machine.parse("cpus=1,memory=1G"), Machine.parse("cpus=8,memory=16G,count=2"))
    seen = Seen("request_memory = 8G\nqueue\nrequest_memory = 32G", machines=kinds).at(100)
    assert [h.job.id.proc for h in seen.happened if h.what.value == "started"] == [0]
    assert seen.ad(1).value("LastRejMatchReason") == "no match found"


@pytest.mark.parametrize(
    "text", ["", "cpus", "cpus=0", "memory=4G", "cpus=1,cpus=2", "cpus=1,disk=-1", "cpus=4G", "gpus=1"]
)
def test_what_is_no_machine_is_refused(text: str) -> None:
    """With a word on what to write."""
    with pytest.raises(InvalidMachine):
        Machine.parse(text)


def test_a_dynamic_slot_has_what_was_asked_for() -> None:
    """$$ sees the slot of the run, not the whole machine."""
    machines = (Machine.parse("cpus=8,memory=16G"),)
    seen = Seen("request_cpus = 2\narguments = $$(Cpus) $$(SlotType)", machines=machines).at(20)
    run = seen.pool.jobs[seen.jobs[0]].run
    assert run is not None
    assert run.ad.value("Args") == "2 Dynamic"


def test_what_cannot_be_expanded_holds_the_job() -> None:
    """With the schedd's words and code 0; its slot is free again."""
    seen = Seen("arguments = $$(Colour)").at(100)
    names = ("JobStatus", "HoldReasonCode", "HoldReason")
    assert [seen.ad().value(name) for name in names] == [5, 0, "Cannot expand $$ expression (Colour)."]
    assert seen.pool.matching.negotiator.free == 1
    assert not seen.story("matched")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$$(Arch)-$$(OpSys)", "X86_64-LINUX"),
        ("$$(Nope:a b)", "a b"),
        ("$$(Nope:)", ""),
        ("$$(DOLLARDOLLAR)(Arch)", "$$(Arch)"),
        ("$$([strcat(TARGET.Arch, MY.Note)])", "X86_64x"),
        ('$$([ifThenElse(Cpus > 1, \\"many\\", \\"one\\")])', "many"),
        ("$$(Start)", "true"),
        ("$$(", "$$("),
        ("$$([", "$$(["),
        ("$(Arch)", "$(Arch)"),
    ],
)
def test_dollars(text: str, value: str) -> None:
    """Attributes, fallbacks, expressions; what is none of these stays."""
    ad = ClassAd({"Note": "x"})
    ad.set_text("Args", f'"{text}"')
    assert expand(ad, machine_ad(), Context(now=0)).ad.value("Args") == value


@pytest.mark.parametrize("text", ["$$(a.b)", "$$(Nope)", "$$([)])", "$$([Nope])", "$$([error])"])
def test_dollars_that_fail(text: str) -> None:
    """A name that no machine has, an expression that is no string, or none at all."""
    assert expand(ClassAd({"Args": text}), machine_ad(), Context(now=0)).failed is not None


@pytest.mark.parametrize("piece", ["$$(a:", "$$(a", "$$([", "$$(Cpus)", "$$([1])", "$$", "$$(a:$$([b"])
def test_dollars_without_end_take_no_time(piece: str) -> None:
    """Ten thousand pieces are the most that is expanded; the rest stays as it is."""
    made = expand(ClassAd({"Args": piece * 100_000}), machine_ad(), Context(now=0))
    assert made.failed is not None or len(made.ad.text("Args")) > 100_000


def test_what_was_expanded_is_used_where_there_is_no_machine() -> None:
    """As for a shadow that comes back after the machine's ad is gone."""
    ad = ClassAd({"Args": "$$(Colour)", "MATCH_EXP_Args": "red", "Other": "$$(Size)", "MATCH_Size": 5})
    made = expand(ad, None, Context(now=0))
    assert (made.ad.value("Args"), made.ad.value("Other")) == ("red", "5")


def test_a_job_stays_while_it_wants_to() -> None:
    """leave_in_queue keeps a completed job, for condor_q to see; condor_rm takes this one out."""
    seen = Seen("leave_in_queue = JobStatus == 4").at(5000)
    assert seen.ad().value("JobStatus") == 4
    assert seen.story("completed", "left") == [(35, "completed")]
    assert seen.pool.remove(seen.jobs[0], "via condor_rm")
    assert not seen.pool.jobs
    assert seen.story("left", "removed") == [(5000, "removed"), (5000, "left")]


def test_a_job_leaves_when_it_wants_to_no_more() -> None:
    """The expression is looked at again from time to time."""
    seen = Seen("leave_in_queue = time() - CompletionDate < 600").at(5000)
    assert seen.story("completed", "left") == [(35, "completed"), (635, "left")]
    assert not seen.pool.jobs
