"""The way of a job's ad between daemons: the sentences of the description of its flow, one by one."""

from typing import Any

import pytest

from crondor.classad import Expression
from crondor.pool.daemons.flow import Flow, Message
from crondor.pool.settings import FlowSettings, InvalidFault, InvalidKnob, Lengths, Link, LinkFault, Party
from tests.pool.pools import NOW, Seen

HOURLY = "cron_minute = 0\non_exit_remove = false"
START = 3600  # of the first run


class Told(Seen):
    """A pool in which it is known what each daemon sees, and programs take an hour and a half."""

    def __init__(self, text: str = HOURLY, *faults: str, **changes: Any) -> None:  # noqa: ANN401 - as in Seen
        """Take updates that fail, and settings: those of the flow have lower case names of their knobs."""
        names = FlowSettings.__dataclass_fields__.keys() & changes.keys()
        flow = FlowSettings(
            is_kept=True,
            faults=tuple(LinkFault.parse(fault) for fault in faults),
            **{name: changes.pop(name) for name in names},
        )
        super().__init__(text, flow=flow, **{"run_time": Lengths.fixed(5400), **changes})
        self.messages: list[Message] = []
        self.flow.listeners.append(self.messages.append)

    @property
    def flow(self) -> Flow:
        """What each daemon sees."""
        assert self.pool.flow is not None
        return self.pool.flow

    def sees(self, party: Party, name: str) -> object:
        """Return the value of an attribute in a party's copy of the only job; None where it has none."""
        ad = self.flow.view(party, self.jobs[0])
        return ad.python(name) if ad is not None and name in ad else None

    def times(self, link: Link, why: str = "") -> list[int]:
        """Return when messages arrived on a link, in seconds since the submission."""
        return [m.time - NOW for m in self.messages if m.link is link and m.arrived and m.why.startswith(why)]


def test_the_negotiator_throws_its_copy_away() -> None:
    """It has the job in the second of the match, without $$ expanded, and never again."""
    seen = Told(f"{HOURLY}\narguments = $$(Cpus)").at(3010)
    assert seen.sees(Party.NEGOTIATOR, "Args") == "$$(Cpus)"
    assert seen.at(3011).sees(Party.NEGOTIATOR, "Args") is None


def test_shadow_startd_and_starter_see_dollars_expanded() -> None:
    """The schedd's copy has the expansions beside the text; nobody has a copy of a job that does not run."""
    seen = Told(f"{HOURLY}\narguments = $$(Cpus) $$(Colour:red) $$([Memory / 2])").at(3000)
    assert seen.sees(Party.SHADOW, "Args") is None
    seen.at(3100)
    for party in (Party.SHADOW, Party.STARTD, Party.STARTER):
        assert seen.sees(party, "Args") == "128 red 524288"
        assert seen.sees(party, "CpusProvisioned") == 128
        assert isinstance(seen.sees(party, "RequestDisk"), int)
    names = ("Args", "MATCH_EXP_Args", "MATCH_Cpus")
    assert [seen.sees(Party.SCHEDD, name) for name in names] == [
        "$$(Cpus) $$(Colour:red) $$([Memory / 2])", "128 red 524288", 128,
    ]  # fmt: skip


def test_the_starter_updates_after_8_and_then_every_300_seconds() -> None:
    """Shadow and startd get the same updates; the last one comes with the end."""
    seen = Told(run_time=Lengths.fixed(700)).at(5000)
    expected = [START + after for after in (8, 308, 608, 700)]
    assert seen.times(Link.STARTER_SHADOW) == sorted(seen.times(Link.STARTER_STARTD)) == expected


def test_suspension_is_told_at_once() -> None:
    """So is its end; and the clock of the program stands still meanwhile."""
    seen = Told().at(START + 100)
    seen.pool.suspend(seen.jobs[0])
    assert seen.sees(Party.SHADOW, "JobState") == "Suspended"
    assert seen.sees(Party.STARTD, "JobState") == "Running"
    seen.at(START + 250).pool.resume(seen.jobs[0])
    assert [seen.sees(Party.SHADOW, name) for name in ("JobState", "RemoteUserCpu")] == ["Running", 100]


def test_the_schedd_hears_of_a_start_with_the_next_update() -> None:
    """It is lazy by default: condor_q sees NumJobStarts after 15 minutes, the shadow at once."""
    seen = Told().at(START + 899)
    assert (seen.sees(Party.SHADOW, "NumJobStarts"), seen.sees(Party.SCHEDD, "NumJobStarts")) == (1, 0)
    assert seen.at(START + 900).sees(Party.SCHEDD, "NumJobStarts") == 1
    assert Told(shadow_queue_update_interval=10).at(START + 10).sees(Party.SCHEDD, "NumJobStarts") == 1
    assert Told(shadow_lazy_queue_update=False).at(START).sees(Party.SCHEDD, "NumJobStarts") == 1


def test_an_update_of_the_queue_that_fails_is_dropped() -> None:
    """The next one has what it had."""
    seen = Told(HOURLY, "shadow-schedd@70m..80m").at(START + 1700)
    assert seen.sees(Party.SCHEDD, "NumJobStarts") == 0
    assert seen.at(START + 1800).sees(Party.SCHEDD, "NumJobStarts") == 1


def test_an_edit_reaches_the_shadow_and_not_the_starter() -> None:
    """The schedd has it at once, and the shadow is told to pull it."""
    seen = Told().at(START + 5)
    seen.pool.edit(seen.jobs[0], {"Note": 7})
    expected = {Party.SCHEDD: 7, Party.SHADOW: 7, Party.STARTER: None, Party.STARTD: None}
    assert {party: seen.sees(party, "Note") for party in expected} == expected


def test_an_edit_that_was_not_pulled_comes_with_the_next_one() -> None:
    """It stays marked until then, and the shadow's policy does not see it."""
    seen = Told(HOURLY, "schedd-shadow@1h..61m").at(START + 5)
    seen.pool.edit(seen.jobs[0], {"Note": 7, "PeriodicHold": Expression("JobStatus == 2")})
    assert seen.at(START + 200).sees(Party.SHADOW, "Note") is None
    assert seen.ad().value("JobStatus") == 2
    seen.pool.edit(seen.jobs[0], {"Other": 8})
    assert (seen.sees(Party.SHADOW, "Note"), seen.sees(Party.SHADOW, "Other")) == (7, 8)
    assert seen.at(START + 300).ad().value("JobStatus") == 5


def test_timer_remove_is_read_again_with_each_update() -> None:
    """Whatever became of the signal that it was edited."""
    seen = Told(f"{HOURLY}\n+TimerRemove = {NOW + 9**9}", "schedd-shadow").at(START + 5)
    seen.pool.edit(seen.jobs[0], {"TimerRemove": NOW + START + 600})
    assert seen.at(START + 890).sees(Party.SHADOW, "TimerRemove") == NOW + 9**9
    assert seen.at(START + 1000).story("removed") == [(START + 900, "removed")]


def test_the_last_update_is_tried_again() -> None:
    """Every 30 seconds; the job is running to the schedd until one succeeds."""
    seen = Told(HOURLY, "shadow-schedd@1h..3680", run_time=Lengths.fixed(10))
    assert seen.at(START + 99).ad().value("JobStatus") == 2
    assert seen.at(START + 100).ad().value("JobStatus") == 1
    tries = [m.why for m in seen.messages if m.link is Link.SHADOW_SCHEDD]
    assert tries == ["final", "final, retry 1", "final, retry 2", "final, retry 3"]
    assert seen.ad().value("NumJobCompletions") == 1


def test_a_job_whose_last_update_fails_is_queued_again() -> None:
    """After five more tries; the schedd does not know that it ever ran, so it runs again."""
    text = f"deferral_time = {NOW + 600}\ndeferral_window = 600"
    seen = Told(text, "shadow-schedd@..800", run_time=Lengths.fixed(10)).at(759)
    assert seen.ad().value("JobStatus") == 2
    seen.at(760)
    assert [seen.ad().value(name) for name in ("JobStatus", "NumJobStarts", "NumJobCompletions")] == [1, 0, 0]
    assert "ExitCode" not in seen.ad()
    assert seen.at(2000).story("started", "completed") == [(600, "started"), (775, "started"), (815, "completed")]


def test_a_broken_connection_to_the_starter_is_taken_up_again() -> None:
    """The end of the program is told when it is there; the starter tries 8, 16, 32 and 64 seconds later."""
    seen = Told(HOURLY, "starter-shadow@1h..3680", run_time=Lengths.fixed(20)).at(START + 300)
    tried = [m.time - NOW - START for m in seen.messages if m.link is Link.STARTER_SHADOW]
    assert tried == [8, 16, 20, 20 + 32, 20 + 32 + 64]
    assert seen.story("ended") == [(START + 116, "ended")]


def test_a_run_whose_lease_ends_is_lost() -> None:
    """The startd kills it, JobLeaseDuration after the shadow was heard of last; the job is idle again."""
    seen = Told(f"{HOURLY}\njob_lease_duration = 1000", "starter-shadow@3700..").at(9000)
    assert seen.story("started", "evicted", "ended")[:2] == [(START, "started"), (START + 8 + 1000, "evicted")]


def test_what_the_startd_misses_is_dropped() -> None:
    """Its policy sees older values, and so does its history."""
    seen = Told(HOURLY, "starter-startd@3700..", run_time=Lengths.fixed(700)).at(START + 699)
    assert (seen.sees(Party.SHADOW, "RemoteUserCpu"), seen.sees(Party.STARTD, "RemoteUserCpu")) == (608, 8)
    assert seen.at(START + 701).sees(Party.STARTD_HISTORY, "RemoteUserCpu") == 8
    assert seen.sees(Party.STARTD, "RemoteUserCpu") is None


def test_the_histories() -> None:
    """The startd writes its copy when the claim ends, the schedd its own when the job leaves; or they do not."""
    seen = Told("cron_minute = 0", run_time=Lengths.fixed(10)).at(START + 20)
    assert (seen.sees(Party.HISTORY, "ExitCode"), seen.sees(Party.STARTD_HISTORY, "JobState")) == (0, "Exited")
    assert seen.flow.view(Party.SCHEDD, seen.jobs[0]) is None
    lost = Told("cron_minute = 0", "schedd-history", "startd-history", run_time=Lengths.fixed(10)).at(START + 20)
    assert lost.flow.view(Party.HISTORY, lost.jobs[0]) is None
    assert lost.flow.view(Party.STARTD_HISTORY, lost.jobs[0]) is None


def test_the_router_follows_the_log() -> None:
    """It looks every ten seconds; a computed DeferralTime is not in the log, nor what the shadow has not told."""
    seen = Told().at(9)
    assert seen.flow.view(Party.ROUTER, seen.jobs[0]) is None
    seen.at(START + 20)
    assert seen.sees(Party.ROUTER, "JobStatus") == 2
    assert seen.sees(Party.ROUTER, "DeferralTime") is None
    assert seen.sees(Party.ROUTER, "NumJobStarts") == 0
    assert seen.at(START + 910).sees(Party.ROUTER, "NumJobStarts") == 1
    seen.pool.remove(seen.jobs[0], "x")
    assert seen.sees(Party.ROUTER, "JobStatus") == 2
    assert seen.at(START + 920).flow.view(Party.ROUTER, seen.jobs[0]) is None


def test_a_router_that_cannot_read_looks_again() -> None:
    """It reads all that it has missed."""
    seen = Told(HOURLY, "schedd-router@..2m").at(119)
    assert seen.flow.view(Party.ROUTER, seen.jobs[0]) is None
    assert seen.at(120).sees(Party.ROUTER, "CronMinute") == "0"


def test_a_negotiation_that_fails_comes_a_cycle_later() -> None:
    """The job is as idle as before."""
    seen = Told(HOURLY, "schedd-negotiator@50m..51m").at(START)
    assert seen.story("matched") == [(3080, "matched")]


def test_a_local_job_has_no_shadow() -> None:
    """The schedd's own starter has the ad, and tells the schedd itself."""
    seen = Told("universe = local\ncron_minute = 0\non_exit_remove = false").at(START + 1000)
    assert seen.flow.view(Party.SHADOW, seen.jobs[0]) is None
    assert seen.sees(Party.STARTER, "CronMinute") == "0"
    assert seen.sees(Party.SCHEDD, "NumJobStarts") == 1
    assert seen.times(Link.STARTER_SCHEDD) == [START]
    assert seen.at(START + 6000).times(Link.STARTER_SCHEDD) == [START]  # not how it ended, as it is queued again
    seen = Told("universe = local\ncron_minute = 0").at(START + 6000)
    assert seen.times(Link.STARTER_SCHEDD) == [START, START + 5400]


def test_updates_that_a_missing_shadow_cannot_send_are_lost_with_an_eviction() -> None:
    """The schedd's copy goes back to what it had."""
    seen = Told(HOURLY, "shadow-schedd").at(START + 100)
    seen.pool.vacate(seen.jobs[0])
    assert seen.ad().value("NumJobStarts") == 0


@pytest.mark.parametrize("faults", [(), ("shadow-schedd:30%", "starter-shadow:30%")])
def test_looking_changes_nothing(faults: tuple[str, ...]) -> None:
    """What happens is the same whether somebody wants to know what each daemon sees, and each time."""
    plans = tuple(LinkFault.parse(fault) for fault in faults)
    text = "cron_minute = */7\non_exit_remove = NumJobStarts > 20\narguments = $$(Cpus)"
    stories = []
    for is_kept in (False, True, True):
        flow = FlowSettings(faults=plans, is_kept=is_kept)
        seen = Seen(text, flow=flow, run_time=Lengths(0, 2000), match_delay=Lengths(0, 90)).at(40_000)
        stories.append(seen.story())
    assert stories[0] == stories[1] == stories[2]
    assert len(stories[0]) > 70


@pytest.mark.parametrize(
    "text", ["", "x", "shadow-startd", "shadow-schedd:101%", "shadow-schedd@2h..1h", "shadow-schedd@1-2..3", "a@..@"]
)
def test_what_is_no_fault_is_refused(text: str) -> None:
    """With a word on what to write."""
    with pytest.raises(InvalidFault) as caught:
        LinkFault.parse(text)
    assert caught.value.diagnostics[0].help


def test_a_fault_is_written_as_it_is_read() -> None:
    """The link, its share, its span."""
    for text in ("shadow-schedd", "starter-shadow:25%", "schedd-router:0.5%@60..120", "startd-history@0..9"):
        assert str(LinkFault.parse(text)) == text


@pytest.mark.parametrize(
    "text", ["", "X=1", "SHADOW_QUEUE_UPDATE_INTERVAL", "shadow_queue_update_interval=0", "faults=1"]
)
def test_what_is_no_knob_is_refused(text: str) -> None:
    """With those that are."""
    with pytest.raises(InvalidKnob):
        FlowSettings().with_knob(text)


def test_knobs_are_read() -> None:
    """Numbers and truth values, in any case."""
    flow = FlowSettings().with_knob("Shadow_Queue_Update_Interval = 10").with_knob("SHADOW_LAZY_QUEUE_UPDATE=False")
    assert (flow.shadow_queue_update_interval, flow.shadow_lazy_queue_update) == (10, False)
