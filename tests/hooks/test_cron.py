"""A daemon's cron jobs: configuration, the four modes on a virtual clock, output, merging."""

from __future__ import annotations

import signal
from collections.abc import Callable
from itertools import pairwise
from time import monotonic

import pytest

from crondor.classad import ClassAd, Expression
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.hooks.cron.output import Block, BlockReader, CronAds
from crondor.hooks.cron.schedule import CronEvent, CronManager, CronOutput, CronStep, LivePrograms, cron_environment
from crondor.hooks.cron.settings import AutoPublish, CronJob, CronMode, CronSettings, Manager, read_settings
from crondor.hooks.runner import wait

Script = Callable[..., str]
SLOWEST = 180.0  # seconds; whatever takes longer hangs
MANUAL = "Value=10\n-\nSlotId=1\nValue=1\n- s1\nSlotId=2\nValue=2\n- s2 update:true\n"


class Programs:
    """Programs that take a given time, print a text at their end, and may ignore SIGTERM."""

    def __init__(self, takes: float = 0, text: str = "A = 1\n", *, stubborn: bool = False) -> None:
        """Take what all of them do."""
        self.takes, self.text, self.stubborn = takes, text, stubborn
        self.log: list[tuple[float, str]] = []

    def start(self, job: CronJob, now: float) -> _Program:
        """Start one."""
        self.log.append((now, job.name))
        return _Program(self, now + self.takes)


class _Program:
    def __init__(self, programs: Programs, ends: float) -> None:
        self.programs, self.ends = programs, ends

    def progress(self, now: float) -> CronOutput:
        ended = now >= self.ends
        return CronOutput(self.programs.text if ended else "", ended)

    def send(self, number: signal.Signals, now: float) -> None:
        self.programs.log.append((now, number.name))
        if number is signal.SIGKILL or (number is signal.SIGTERM and not self.programs.stubborn):
            self.ends = now


def settings(manager: Manager = Manager.STARTD, /, load: float = 1.0, **knobs: str) -> CronSettings:
    """Return the settings of jobs: ``J_PERIOD="5s"`` is STARTD_CRON_J_PERIOD; every job has a program."""
    names = sorted({name.split("_")[0] for name in knobs})
    found = {f"{manager.value}_{name}": value for name, value in knobs.items()}
    found |= {f"{manager.value}_{name}_EXECUTABLE": "/bin/true" for name in names}
    found |= {f"{manager.value}_JOBLIST": " ".join(names), f"{manager.value}_MAX_JOB_LOAD": str(load)}
    return read_settings(manager, found)


def live(configured: CronSettings, programs: Programs, until: int) -> tuple[CronManager, list[CronEvent]]:
    """Live through some seconds, and return what happened."""
    manager = CronManager(configured, programs)
    events = list(manager.configure(configured, 0))
    for now in range(until + 1):
        events += manager.step(now)
    return manager, events


def starts(programs: Programs) -> list[float]:
    """Return when programs were started."""
    return [at for at, what in programs.log if not what.startswith("SIG")]


def test_periodic_counts_from_start_to_start() -> None:
    """The first run is at once, whatever a run takes."""
    programs = Programs(takes=3)
    live(settings(J_PERIOD="10s"), programs, 30)
    assert starts(programs) == [0, 10, 20, 30]


def test_wait_for_exit_counts_from_the_end() -> None:
    """A run of 3 seconds and a period of 10 make 13."""
    programs = Programs(takes=3)
    live(settings(J_MODE="waitforexit", J_PERIOD="10"), programs, 30)
    assert starts(programs) == [0, 13, 26]


def test_a_run_that_is_too_long_is_skipped_or_killed() -> None:
    """KILL sends SIGTERM and, a second later, SIGKILL, and runs the job again; without it periods are skipped."""
    programs = Programs(takes=15)
    _, events = live(settings(J_PERIOD="10s"), programs, 30)
    assert starts(programs) == [0, 20]
    assert [e.time for e in events if e.what is CronStep.STILL_RUNNING] == [10, 30]
    programs = Programs(takes=15, stubborn=True)
    live(settings(J_PERIOD="10s", J_KILL="True"), programs, 12)
    assert programs.log[1:] == [(10, "SIGTERM"), (11, "SIGKILL"), (12, "J")]


def test_one_shot_and_on_demand() -> None:
    """The one runs once, the other when it is asked for."""
    programs = Programs()
    manager, _ = live(settings(A_MODE="OneShot", B_MODE="OnDemand"), programs, 50)
    assert programs.log == [(0, "A")]
    list(manager.demand(51))
    assert programs.log == [(0, "A"), (51, "B")]


def test_reconfiguration() -> None:
    """RECONFIG_RERUN runs again, RECONFIG sends SIGHUP after the first block, a new period counts from the start."""
    programs = Programs()
    configured = settings(A_MODE="OneShot", A_RECONFIG_RERUN="true", B_MODE="OneShot", C_PERIOD="100s")
    manager, _ = live(configured, programs, 50)
    changed = settings(A_MODE="OneShot", A_RECONFIG_RERUN="true", B_MODE="OneShot", C_PERIOD="60s")
    list(manager.configure(changed, 50))
    for now in range(50, 121):
        list(manager.step(now))
    assert [at for at, name in programs.log if name == "A"] == [0, 50]
    assert [at for at, name in programs.log if name == "B"] == [0]
    assert [at for at, name in programs.log if name == "C"][:2] == [0, 60]
    list(manager.configure(settings(B_MODE="OneShot"), 130))
    assert [name for name, _ in manager.ads.named()] == ["B"]


def test_sighup_comes_after_the_first_block() -> None:
    """A program that has printed nothing yet is left alone."""
    programs = Programs(takes=100)
    configured = settings(J_MODE="OneShot", J_RECONFIG="t")
    manager, _ = live(configured, programs, 5)
    assert not list(manager.configure(configured, 6))
    manager._jobs["J"].blocks = 1
    assert [e.text for e in manager.configure(configured, 7)] == ["SIGHUP: the configuration is new"]


def test_the_load_is_limited() -> None:
    """A job waits until the sum of loads leaves it room; then it starts at once."""
    programs = Programs(takes=5)
    knobs = {f"{name}_{item}": value for name in "ABC" for item, value in (("MODE", "OneShot"), ("JOB_LOAD", "0.4"))}
    _, events = live(settings(Manager.STARTD, 0.8, **knobs), programs, 20)
    assert programs.log == [(0, "A"), (0, "B"), (5, "C")]
    assert [e.job for e in events if e.what is CronStep.WAITS] == ["C"]


def test_a_condition_is_asked_in_the_daemons_ad() -> None:
    """What is not true keeps a job from starting."""
    configured = settings(A_MODE="OneShot", A_CONDITION="HasGpu", B_MODE="OneShot", B_CONDITION="!HasGpu")
    programs = Programs()
    manager = CronManager(configured, programs, ClassAd({"HasGpu": True}))
    list(manager.configure(configured, 0))
    assert programs.log == [(0, "A")]


def test_a_thousand_jobs_of_a_minute_keep_their_time() -> None:
    """An hour of them is 60 runs each, a minute apart."""
    jobs = tuple(CronJob(f"J{n}", "/bin/true", CronMode.PERIODIC, 60, load=0) for n in range(1000))
    configured = CronSettings(Manager.STARTD, jobs)
    programs = Programs()
    manager = CronManager(configured, programs)
    list(manager.configure(configured, 0))
    while (due := manager.next_time()) is not None and due < 600:
        list(manager.step(due))
    assert len(programs.log) == 10_000
    mine = [at for at, name in programs.log if name == "J7"]
    assert {b - a for a, b in pairwise(mine)} == {60}


def test_faults_of_a_configuration_come_all_at_once() -> None:
    """A job with a fault is left out, and the others stay."""
    knobs = {
        "STARTD_CRON_JOBLIST": "A, B C D A",
        "STARTD_CRON_A_EXECUTABLE": "/bin/true",
        "STARTD_CRON_A_PERIOD": "5x",
        "STARTD_CRON_B_EXECUTABLE": "/bin/true",
        "STARTD_CRON_B_MODE": "Sometimes",
        "STARTD_CRON_C_MODE": "OneShot",
        "STARTD_CRON_D_EXECUTABLE": "/bin/true",
        "STARTD_CRON_D_PERIOD": "2M",
        "STARTD_CRON_D_KILL": "yes",
        "STARTD_CRON_D_METRICS": "SUM:GPUs, MEAN:X",
        "STARTD_CRON_AUTOPUBLISH": "perhaps",
    }
    found = read_settings(Manager.STARTD, knobs)
    assert [job.name for job in found.jobs] == ["D"]
    assert found.jobs[0].period == 120
    assert not found.jobs[0].kill
    assert found.jobs[0].metrics == (("UptimeGPUsSeconds", True),)
    codes = ["hook-cron-period", "hook-cron-mode", "hook-cron-executable", "hook-cron-boolean", "hook-cron-metrics"]
    codes += ["hook-cron-period", "hook-cron-autopublish"]
    assert sorted(d.kind for d in found.diagnostics) == sorted(codes)


def test_arguments_and_environment() -> None:
    """Quotes only count where the whole value stands in double ones; the schedd's jobs are told of the interface."""
    found = settings(A_PERIOD="1", A_ARGS="a 'b c'", A_ENV="X=1;Y=2", B_PERIOD="1", B_ARGS="\"a 'b c'\"")
    assert [job.arguments for job in found.jobs] == [("a", "'b", "c'"), ("a", "b c")]
    assert cron_environment({}, found, found.jobs[0]) == {"X": "1", "Y": "2"}
    other = settings(Manager.SCHEDD, A_PERIOD="1")
    names = {"SCHEDD_INTERFACE_VERSION": "1", "SCHEDD_CRON_NAME": "SCHEDD"}
    assert cron_environment({}, other, other.jobs[0]) == names
    other = settings(Manager.SCHEDD, A_PERIOD="1", A_CONFIG_VAL_PROG="/usr/bin/condor_config_val")
    names["SCHEDD_CONFIG_VAL"] = "/usr/bin/condor_config_val"  # a knob of the job: ClassAdCronJobParams::Initialize
    assert cron_environment({}, other, other.jobs[0]) == names


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('a "b c" d', ("a", '"b', 'c"', "d")),
        (r"a\"b \\", (r"a\"b", r"\\")),
        ("it's $HOME\t;rm", ("it's", "$HOME", ";rm")),
        ("a'b c'", ("a'b", "c'")),
        ('"a \'b c\' d""e"', ("a", "b c", 'd"e')),
        ("  \"'' x\"", ("", "x")),
        ("", ()),
    ],
)
def test_arguments_are_split_as_a_daemon_does(text: str, arguments: tuple[str, ...]) -> None:
    """Unless they begin with a double quote blanks alone part them, and quotes and backslashes are what they are."""
    (job,) = settings(A_PERIOD="1", A_ARGS=text).jobs
    assert job.arguments == arguments


@pytest.mark.parametrize("text", ['"a', '"a" b', '"it\'s"'])
def test_arguments_with_quotes_that_do_not_close_are_refused(text: str) -> None:
    """HTCondor leaves the job out, too."""
    found = settings(A_PERIOD="1", A_ARGS=text, B_PERIOD="1")
    assert ([job.name for job in found.jobs], [d.kind for d in found.diagnostics]) == (["B"], ["hook-cron-args"])


class Broken(dict[str, str]):
    """Knobs of which some cannot be read: their macros have no end, for example."""

    def get(self, name: str, /, default: str | None = None) -> str | None:  # type: ignore[override]
        """Return a knob, or raise as a configuration does."""
        found = super().get(name, default)
        if found == "broken":
            raise CrondorError(Diagnostic("config", f"$(X) in {name} has no end"))
        return found


def test_each_parameter_that_is_wrong_says_its_own_reason() -> None:
    """All of a job are read, whatever is wrong with the first; it is left out, and the others run."""
    texts = {"MODE": "broken", "ARGS": "broken", "ENV": "X", "PERIOD": "never", "CONDITION": "((", "JOB_LOAD": "much"}
    knobs = Broken({f"STARTD_CRON_A_{item}": text for item, text in texts.items()})
    knobs |= {"STARTD_CRON_JOBLIST": "A B C", "STARTD_CRON_A_EXECUTABLE": "/bin/true", "STARTD_CRON_A_METRICS": "x"}
    knobs |= {"STARTD_CRON_B_EXECUTABLE": "/bin/true", "STARTD_CRON_B_PERIOD": "1m", "STARTD_CRON_B_JOB_LOAD": "-1"}
    knobs |= {
        "STARTD_CRON_C_EXECUTABLE": "broken",
        "STARTD_CRON_C_PERIOD": "broken",
        "STARTD_CRON_MAX_JOB_LOAD": "broken",
    }
    found = read_settings(Manager.STARTD, knobs)
    assert [(job.name, job.load) for job in found.jobs] == [("B", 0.01)]
    said = [(d.kind, d.message.partition(" ")[0].removeprefix("STARTD_CRON_")) for d in found.diagnostics]
    assert sorted(said) == [
        ("hook-cron-condition", "A_CONDITION"),
        ("hook-cron-env", "A_ENV:"),
        ("hook-cron-metrics", "A_METRICS:"),
        ("hook-cron-number", "A_JOB_LOAD"),
        ("hook-cron-number", "B_JOB_LOAD"),
        ("hook-cron-value", "A_ARGS"),
        ("hook-cron-value", "A_MODE"),
        ("hook-cron-value", "C_EXECUTABLE"),
        ("hook-cron-value", "C_PERIOD"),
        ("hook-cron-value", "MAX_JOB_LOAD"),
    ]
    assert "$(X) in STARTD_CRON_A_ARGS has no end" in next(d.message for d in found.diagnostics if "ARGS" in d.message)


def test_a_slot_number_of_any_kind_is_one() -> None:
    """A real loses its fraction, an infinity is slot 0, as in HTCondor; what is no number goes into all slots."""
    merged = {}
    for text in ("1", "1.9", "true", "4294967297", 'real("INF")', '"1"', "2"):
        manager, _ = live(settings(J_PERIOD="1h"), Programs(text=f"SlotId = {text}\nA = 1\n"), 1)
        merged[text] = "A" in manager.ads.merged(ClassAd({"Name": "slot1@here", "SlotID": 1}))
    assert [text for text, has in merged.items() if has] == ["1", "1.9", "true", "4294967297", '"1"']


def test_benchmarks_run_one_by_one_and_have_no_tags() -> None:
    """Each has a load of 1.0, which is all there is (StartdBenchJobParams); tags and reruns do not count."""
    found = settings(Manager.BENCHMARKS, A_RECONFIG_RERUN="true", B_MODE="OnDemand")
    assert [(job.load, job.reconfig_rerun) for job in found.jobs] == [(1.0, False), (1.0, False)]
    assert [d.kind for d in found.diagnostics] == ["hook-cron-rerun"]
    programs = Programs(takes=5, text="X = 1\n- tag\n")
    manager = CronManager(found, programs)
    list(manager.configure(found, 0))
    list(manager.demand(0))
    for now in range(12):
        list(manager.step(now))
    assert programs.log == [(0, "A"), (5, "B")]
    assert [name for name, _ in manager.ads.named()] == ["A", "B"]


def published(text: str, *, prefix: str = "", ignores_tags: bool = False) -> list[Block]:
    """Return the blocks of an output, which comes a character at a time."""
    reader = BlockReader(CronJob("J", "/x", prefix=prefix), ignores_tags=ignores_tags)
    return [block for char in text for block in reader.feed(char, 7)] + reader.end(7)


def test_the_example_of_the_manual() -> None:
    """Value is 10 everywhere except in slots 1 and 2, and an update goes out."""
    ads = CronAds(Manager.STARTD)
    job = CronJob("TEST", "/x")
    ads.add_job(job)
    reader = BlockReader(job)
    results = [ads.publish(job, block) for block in (*reader.feed(MANUAL, 7), *reader.end(7))]
    assert [result.updates for result in results] == [False, False, True]
    slots = [ads.merged(ClassAd({"Name": f"slot{n}@here", "SlotID": n})) for n in range(1, 5)]
    assert [slot.value("Value") for slot in slots] == [1, 2, 10, 10]
    assert [slot.value("SlotID") for slot in slots] == [1, 2, 3, 4]


def test_the_grammar_of_output() -> None:
    """Tags, updates, prefixes, bad lines, the last block without a dash."""
    text = "A = 1\nbad line\n- one update:false\n\nB = 2\n- update:true\nC = 3\n- two update\nD = 4\n"
    found = published(text, prefix="P_")
    assert [(b.name, b.update) for b in found] == [("J.one", False), ("J", True), ("J.two", True), ("J", None)]
    assert found[0].ad == ClassAd({"P_A": 1, "P_LastUpdate": 7})
    assert [b.name for b in published(text, ignores_tags=True)] == ["J"] * 4
    assert published("- tag\n-\n\n") == []
    assert [b.name for b in published("- tag\n-\nA = 1\n")] == ["J.tag"]
    assert [b.update for b in published("A = 1\n- t update:A==1\nA = 2\n- t update:A==1\n")] == [True, False]


def test_a_last_line_without_end_waits_for_the_next_run() -> None:
    """HTCondor's buffer of a job outlives its run: the line is not read, and then spoils the next run's first."""
    reader = BlockReader(CronJob("J", "/x"))
    assert not reader.feed("A = 1\nB = 2 +", 0)
    assert [block.ad for block in reader.end(0)] == [ClassAd({"A": 1, "LastUpdate": 0})]
    reader.feed("1\nC = 3\n", 5)
    assert [block.ad for block in reader.end(5)] == [ClassAd({"B": Expression("2 + 1"), "C": 3, "LastUpdate": 5})]
    assert [d.kind for d in reader.findings] == ["hook-cron-no-line-end"]


def test_a_nul_ends_a_line() -> None:
    """What stands on both sides of it counts, and it is said."""
    reader = BlockReader(CronJob("J", "/x"))
    reader.feed("A = 1\0B = 2\n", 0)
    assert [block.ad for block in reader.end(0)] == [ClassAd({"A": 1, "B": 2, "LastUpdate": 0})]
    assert [d.kind for d in reader.findings] == ["hook-cron-nul"]


@pytest.mark.parametrize(
    ("value", "update"),
    [
        *((text, True) for text in ("true", "TRUE", "1", "A", "2 > 1", "no", "yes", "", "truely", '"x"')),
        *((text, False) for text in ("false", "False", "0", "A-1")),
        ("falsely", None),
    ],
)
def test_what_is_no_boolean_makes_an_update(value: str, update: bool | None) -> None:
    """string_is_boolean_param leaves the update on where it can read nothing, unless the word begins as false."""
    assert [block.update for block in published(f"A = 1\n- t update:{value.replace(' ', '')}\n")] == [update]


def test_a_block_is_lost_where_the_job_is_started_again_at_once() -> None:
    """StartJob empties the queue of lines before anybody has read it: a dash saves the block, or a load that waits."""
    configured = settings(J_MODE="WaitForExit", J_PERIOD="0")
    manager, events = live(configured, Programs(takes=5), 12)
    assert not manager.ads.named()
    assert {d.kind for event in events for d in event.diagnostics} == {"hook-cron-block-lost"}
    manager, _ = live(configured, Programs(takes=5, text="A = 1\n-\n"), 12)
    assert [name for name, _ in manager.ads.named()] == ["J"]
    manager, _ = live(settings(J_MODE="WaitForExit", J_PERIOD="0", J_JOB_LOAD="0.6"), Programs(takes=5), 12)
    assert [name for name, _ in manager.ads.named()] == ["J"]
    manager, _ = live(settings(J_PERIOD="5", J_KILL="true"), Programs(takes=9), 12)
    assert not manager.ads.named()


def test_an_output_without_end_is_bounded() -> None:
    """Lines and blocks have a longest length; what is beyond is said."""
    reader = BlockReader(CronJob("J", "/x"))
    for _ in range(100):
        reader.feed("x" * 100_000, 0)
    assert len(reader._rest) < 100_000
    reader.end(0)
    for n in range(200):
        reader.feed(f'A{n} = "{"x" * 50_000}"\n', 0)
    assert [d.kind for d in reader.findings] == ["hook-cron-long-line", "hook-cron-long-block"]
    reader.feed("\0" * 100_000, 0)
    assert reader._line == 201  # a run of them ends one line
    assert [len(block.ad) for block in reader.feed("-\nB = 1\n-\n", 0)] == [84, 2]
    reader.feed("\0", 0)
    assert [d.kind for d in reader.findings[2:]] == ["hook-cron-nul"]


def test_where_an_ad_is_merged() -> None:
    """The first of the four attributes decides; none of them is merged itself."""
    job = CronJob("J", "/x")
    slot = ClassAd({"Name": "gpu_slot2@here", "SlotID": 2, "SlotTypeId": 3})
    cases: list[tuple[dict[str, object], bool]] = [
        ({"SlotMergeConstraint": Expression("TARGET.SlotID > 1"), "SlotId": 9}, True),
        ({"SlotMergeConstraint": Expression("TARGET.SlotID > 2"), "SlotId": 2}, False),
        ({"SlotName": "gpu", "SlotId": 9}, True),
        ({"Name": "slot"}, False),
        ({"SlotTypeId": 3, "SlotId": 9}, True),
        ({"SlotId": 9}, False),
        ({}, True),
    ]
    for attributes, is_merged in cases:
        ads = CronAds(Manager.STARTD)
        ads.add_job(job)
        ads.publish(job, Block("J", ClassAd({**attributes, "X": 1})))
        made = ads.merged(slot)
        assert ("X" in made) is is_merged, attributes
        assert made.value("Name") == "gpu_slot2@here"
        assert made.value("SlotID") == 2


def test_metrics_are_summed_and_peaked() -> None:
    """Runs add up in each ad, and the ads of two devices in the slot."""
    metrics = (("UptimeGPUsSeconds", True), ("UptimeGPUsMemoryPeakUsage", False))
    job = CronJob("M", "/x", metrics=metrics)
    ads = CronAds(Manager.STARTD)
    ads.add_job(job)
    for name, seconds, peak in (("M.a", 1, 5), ("M.a", 2, 3), ("M.b", 10, 4)):
        block = ClassAd({"UptimeGPUsSeconds": seconds, "UptimeGPUsMemoryPeakUsage": peak, "LastUpdate": 9})
        ads.publish(job, Block(name, block))
    made = ads.merged(ClassAd({"Name": "slot1@here", "SlotID": 1}))
    assert made.value("UptimeGPUsSeconds") == 13
    assert made.value("UptimeGPUsMemoryPeakUsage") == 5


def test_updates_are_automatic_where_configured() -> None:
    """If_Changed looks past LastUpdate; what a job says wins."""
    job = CronJob("J", "/x", prefix="P_")
    ads = CronAds(Manager.STARTD, AutoPublish.IF_CHANGED)
    ads.add_job(job)
    values = [(1, 1, None), (1, 2, None), (2, 3, None), (3, 4, False), (3, 5, True)]
    blocks = [Block("J", ClassAd({"P_A": a, "P_LastUpdate": t}), update) for a, t, update in values]
    assert [ads.publish(job, block).updates for block in blocks] == [True, False, True, False, True]
    more = Block("J", ClassAd({"P_A": 3, "P_B": 1, "P_LastUpdate": 6}))
    assert not ads.publish(job, more).updates  # ClassAdsAreSame looks at the old ad's attributes only
    assert ads.publish(job, Block("J", ClassAd({"P_B": 1, "P_LastUpdate": 7}))).updates


def test_a_real_program_publishes_while_it_runs(script: Script) -> None:
    """A block is there when its dash is, not when the program ends."""
    job = CronJob("J", script("echo A = 1; echo - update:true; sleep 1000"), CronMode.ONE_SHOT)
    configured = CronSettings(Manager.STARTD, (job,))
    programs = LivePrograms(configured, {"PATH": "/usr/bin:/bin"}, lambda: 0.0)
    manager = CronManager(configured, programs)
    list(manager.configure(configured, 0))
    end = monotonic() + SLOWEST
    while not manager.ads.named():
        assert monotonic() < end
        wait(programs.started, 0.05)
        list(manager.step(0))
    assert [e.what for e in manager.stop(0)] == [CronStep.SIGNALLED]
    assert programs.started[0].finish().signal_number == 9


def test_a_program_that_is_not_there_is_tried_again(script: Script) -> None:
    """A WaitForExit job that could not be started is not lost, as it is in HTCondor."""
    missing = script("true") + ".none"
    configured = CronSettings(Manager.STARTD, (CronJob("J", missing, CronMode.WAIT_FOR_EXIT, 5),))
    programs = LivePrograms(configured, {}, lambda: 0.0)
    manager = CronManager(configured, programs)
    events = list(manager.configure(configured, 0))
    assert [e.what for e in events] == [CronStep.FAILED_TO_START]
    assert isinstance(events[0].diagnostics[0], Diagnostic)
    assert manager.next_time() == 60


@pytest.mark.parametrize("period", ["0", "-5", "abc", "1.5m", "5 s", "999999999999999999h"])
def test_periods_that_are_none(period: str) -> None:
    """A period is a number and s, m or h."""
    assert not settings(J_PERIOD=period).jobs
