"""Whatever users do, whenever: what must hold of every job at every moment."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from crondor.job_queue import JobId
from crondor.job_queue.mirror import Mirror
from crondor.pool.daemons.events import PoolEvent, PoolEventKind
from crondor.pool.daemons.pool import Pool
from crondor.pool.settings import (
    Exits,
    FlowSettings,
    Lengths,
    Link,
    LinkFault,
    Machine,
    Party,
    PoolSettings,
    Preemption,
    Resources,
)
from crondor.schedd.protocol import Hold
from tests.examples import TIMES
from tests.pool.pools import NOW, ads

_SUBMITS = [
    "cron_minute = *\ncron_window = 30\non_exit_remove = false",
    "cron_minute = */5\ncron_prep_time = 0\non_exit_remove = NumJobStarts >= 3",
    "universe = local\ncron_minute = */2\non_exit_remove = false",
    f"deferral_time = {NOW + 400}\ndeferral_window = 60",
    "cron_minute = 61\non_exit_remove = false",
    "cron_minute = x\nperiodic_release = true",
    "cron_minute = */3\ncron_window = 20\nperiodic_hold = NumJobStarts > 1\non_exit_remove = false",
    "cron_minute = *\narguments = $$(Cpus) $$([Memory + 1])\non_exit_remove = false",
    "cron_minute = *\nleave_in_queue = time() - CompletionDate < 400",
    "cron_minute = */4\nrequest_cpus = 2\non_exit_hold = ExitCode == 1\non_exit_remove = false",
]
_FAULTS = (
    "shadow-schedd:40%",
    "starter-shadow:40%",
    "schedd-shadow:30%",
    "starter-startd:50%",
    "schedd-negotiator:20%",
)
_TIMES = st.integers(0, 900)
_PICK = st.integers(0, 50)


class PoolMachine(RuleBasedStateMachine):
    """A small pool in which anything may be done at any time."""

    def __init__(self) -> None:
        """Begin without a pool."""
        super().__init__()
        self.pool: Pool
        self.running: set[JobId] = set()
        self.edits: dict[JobId, dict[str, int]] = {}
        self.serial = 0
        self.replayed = Mirror()

    @initialize(
        delay=st.integers(0, 90),
        transfer=st.integers(0, 90),
        run_time=st.integers(0, 400),
        slots=st.integers(1, 3),
        skew=st.integers(-60, 60),
        preempt=st.none() | st.integers(0, 300),
        exits=st.sampled_from(["0", "0:2,1:1,sig9:1"]),
        is_divided=st.booleans(),
        faults=st.sets(st.sampled_from(_FAULTS)),
        is_kept=st.booleans(),
    )
    def begin(
        self,
        *,
        delay: int,
        transfer: int,
        run_time: int,
        slots: int,
        skew: int,
        preempt: int | None,
        exits: str,
        is_divided: bool,
        faults: set[str],
        is_kept: bool,
    ) -> None:
        """Open a pool."""
        pool = PoolSettings(
            match_delay=Lengths(0, delay),
            transfer=Lengths(0, transfer),
            run_time=Lengths(0, run_time),
            slots=slots,
            machines=(Machine(Resources(2, 4096, 1 << 30), slots),) if is_divided else (),
            skew=skew,
            preemption=None if preempt is None else Preemption(Lengths(0, preempt), 0.3),
            exits=Exits.parse(exits),
            flow=FlowSettings(faults=tuple(map(LinkFault.parse, sorted(faults))), is_kept=is_kept),
            schedd_interval=60,
            seed=delay,
        )
        self.pool = Pool(pool, NOW)
        self.pool.watchers.append(self.note)
        self.pool.schedd.followers.append(self.replayed.apply)

    def note(self, seen: PoolEvent) -> None:
        """Judge each thing that happens, as it happens."""
        job = seen.job
        if seen.what is PoolEventKind.MATCHED:
            assert job.id not in self.running, "two instances"
            self.running.add(job.id)
        elif seen.what in {PoolEventKind.ENDED, PoolEventKind.EVICTED}:
            self.running.remove(job.id)
        elif seen.what is PoolEventKind.STARTED:
            assert job.run is not None
            there = seen.time + (0 if job.is_local else self.pool.settings.skew)
            time, window = job.run.ad.value("DeferralTime"), job.run.ad.value("DeferralWindow")
            assert isinstance(time, int)
            assert isinstance(window, int)
            assert time <= there <= time + window, "a start outside its window"
        elif seen.what is PoolEventKind.HELD and "missed" in seen.text:
            assert seen.number == 20

    def pick(self, number: int) -> JobId:
        """Return one of the jobs in the queue."""
        jobs = list(self.pool.jobs)
        return jobs[number % len(jobs)]

    @rule(text=st.sampled_from(_SUBMITS))
    def submit(self, text: str) -> None:
        """Submit a job."""
        self.pool.submit(ads(text, 60))

    @rule(seconds=_TIMES)
    def wait(self, seconds: int) -> None:
        """Let time pass."""
        self.pool.advance(self.pool.now + seconds)

    @precondition(lambda self: self.pool.jobs)
    @rule(number=_PICK)
    def edit(self, number: int) -> None:
        """Edit an attribute of the user's own, and the schedule."""
        job = self.pick(number)
        self.serial += 1
        assert self.pool.edit(job, {"Note": self.serial, "CronMinute": f"*/{self.serial % 7 + 1}"})
        self.edits.setdefault(job, {})["Note"] = self.serial

    @precondition(lambda self: self.pool.jobs)
    @rule(number=_PICK)
    def hold(self, number: int) -> None:
        """Hold a job; a held one says no, and one that is removed or completed."""
        job = self.pick(number)
        was = self.pool.jobs[job].ad.value("JobStatus")
        assert self.pool.hold(job, Hold("via condor_hold")) == (was not in {3, 4, 5})

    @precondition(lambda self: self.pool.jobs)
    @rule(number=_PICK)
    def release(self, number: int) -> None:
        """Release a job; one that is not held says no."""
        job = self.pick(number)
        was = self.pool.jobs[job].ad.value("JobStatus")
        assert self.pool.release(job, "via condor_release") == (was == 5)

    @precondition(lambda self: self.pool.jobs)
    @rule(number=_PICK, act=st.sampled_from(["remove", "suspend", "resume", "vacate"]))
    def act(self, number: int, act: str) -> None:
        """Do something else to a job."""
        job = self.pick(number)
        if act == "remove":
            was = self.pool.jobs[job].ad.value("JobStatus")
            assert self.pool.remove(job, "via condor_rm") == (was != 3)
            assert not self.pool.remove(job, "via condor_rm")
        else:
            {"suspend": self.pool.suspend, "resume": self.pool.resume, "vacate": self.pool.vacate}[act](job)

    @rule()
    def reconfig(self) -> None:
        """Have the schedd read all schedules anew."""
        self.pool.reconfig()

    @invariant()
    def statuses_agree(self) -> None:
        """Whoever has a run is running or suspended, and nobody else; the queue and the jobs are the same."""
        if not hasattr(self, "pool"):
            return
        jobs = self.pool.jobs
        assert jobs.keys() == self.pool.schedd.ads.keys() == set(self.pool.schedd.mirror)
        for job_id, job in jobs.items():
            status = job.ad.value("JobStatus")
            assert status == job.status
            assert (job.run is not None) == (status in {2, 7}), status
            assert (job_id in self.running) == (job.run is not None)
            assert str(status) == self.pool.schedd.mirror.text(job_id, "JobStatus")

    @invariant()
    def slots_are_counted(self) -> None:
        """The slots that are taken are those of the runs."""
        if hasattr(self, "pool"):
            claims = [job.run.claim for job in self.pool.jobs.values() if job.run is not None and job.run.claim]
            negotiator, settings = self.pool.matching.negotiator, self.pool.settings
            if not settings.machines:
                assert negotiator.free == settings.slots - len(claims) >= 0
                return
            for number, free in enumerate(negotiator.left[0]):
                for claim in claims:
                    if claim.number == number and claim.resources is not None:
                        free = free.plus(claim.resources)  # noqa: PLW2901 - what would be free without it
                assert free == settings.machines[0].resources

    @invariant()
    def no_edit_is_lost(self) -> None:
        """What a user has set stays, whatever the daemons write."""
        for job_id, values in self.edits.items():
            job = self.pool.jobs.get(job_id)
            for name, value in values.items() if job is not None else ():
                assert job is not None
                assert job.ad.value(name) == value

    @invariant()
    def edits_reach_who_must_know(self) -> None:
        """The schedd's copy has them at once, and the shadow's unless the way there is broken."""
        flow = self.pool.flow if hasattr(self, "pool") else None
        if flow is None:
            return
        is_whole = not any(fault.link is Link.SCHEDD_SHADOW for fault in self.pool.settings.flow.faults)
        for job_id, job in self.pool.jobs.items():
            shadow, starter = flow.view(Party.SHADOW, job_id), flow.view(Party.STARTER, job_id)
            assert (starter is not None) == (job.run is not None)
            assert (shadow is not None) == (job.run is not None and not job.is_local)
            for name, value in self.edits.get(job_id, {}).items():
                schedd = flow.view(Party.SCHEDD, job_id)
                assert schedd is not None
                assert schedd.value(name) == value
                assert shadow is None or not is_whole or shadow.value(name) == value

    @invariant()
    def the_log_gives_the_queue(self) -> None:
        """Replaying what is written into job_queue.log gives the same ads; computed times are not logged."""
        if not hasattr(self, "pool"):
            return
        assert set(self.replayed) == self.pool.jobs.keys()
        for job_id, job in self.pool.jobs.items():
            mine, theirs = job.ad.copy(), self.replayed.ad(job_id)
            for name in ("DeferralTime", "MyType", "TargetType"):
                mine.pop(name, None)
                theirs.pop(name, None)
            assert mine == theirs


PoolTest = PoolMachine.TestCase
PoolTest.settings = settings(max_examples=10 * TIMES, stateful_step_count=25, deadline=None)
