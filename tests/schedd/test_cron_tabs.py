"""The crontab bookkeeping: which jobs, when, from what schedule; held to a model that looks at every job each time."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad.ad import ClassAd
from crondor.job_queue import JobId
from crondor.job_queue.mirror import Mirror
from crondor.job_queue.records import Op, Record
from crondor.recurrence import Recurrence
from crondor.schedd.cron_tabs import CronTabs, recalculate
from crondor.schedd.reading import mirror_of
from crondor.schedule import Recalculation
from crondor.spec import CronSpec, Dialect

NOW = 1_795_195_625
IDLE, RUNNING, HELD = 1, 2, 5
JOBS = tuple(JobId(1 + n // 2, n % 2) for n in range(4))


class Queue:
    """A mirror, changed attribute by attribute."""

    def __init__(self) -> None:
        """Begin empty."""
        self.mirror = Mirror()

    def set(self, job: JobId | str, **texts: str | None) -> None:
        """Set an ad's attributes in one transaction, making it where it is not there; None deletes."""
        self.mirror.begin()
        if str(job) not in self.mirror.ads:
            self.mirror.apply(Record(Op.NEW, str(job), "Job"))
        for name, text in texts.items():
            gone = Record(Op.DELETE, str(job), name)
            self.mirror.apply(gone if text is None else Record(Op.SET, str(job), name, text))
        self.mirror.tell(self.mirror.changes())

    def destroy(self, job: JobId) -> None:
        """Remove a job."""
        self.mirror.begin()
        self.mirror.apply(Record(Op.DESTROY, str(job)))
        self.mirror.tell(self.mirror.changes())


def book_of(queue: Queue, dialect: Dialect = Dialect.HTCONDOR) -> CronTabs:
    """Return a book on a queue."""
    return CronTabs(queue.mirror, dialect=dialect)


def times(book: CronTabs, now: int, queue: Queue | None = None) -> dict[JobId, int | None]:
    """Return what a pass computes, written into the queue where one is given."""
    edits = book.recalculate(now)
    for edit in edits:
        if queue is not None and edit.time is not None:
            queue.set(edit.job, DeferralTime=str(edit.time))
    assert len({edit.job for edit in edits}) == len(edits)
    return {edit.job: edit.time for edit in edits}


def next_of(minute: str, now: int, dialect: Dialect = Dialect.HTCONDOR) -> int:
    """Return when a minute comes next."""
    return int(Recurrence(CronSpec(minute=minute, dialect=dialect)).next(now))


ONE = JOBS[0]


def test_only_crontab_jobs_are_looked_at() -> None:
    """Any Cron attribute makes one, the cluster's too; a deferral time alone does not."""
    queue = Queue()
    queue.set(JOBS[0], JobStatus="1", CronHour='"3"')
    queue.set(JOBS[1], JobStatus="1", DeferralTime="5")
    queue.set("02.-1", CronMinute='"7"')
    queue.set(JOBS[2], JobStatus="1")
    book = book_of(queue)
    assert len(book) == 2
    assert times(book, NOW).keys() == {JOBS[0], JOBS[2]}
    assert JOBS[1] not in book


def test_an_edited_schedule_counts_after_a_reconfig() -> None:
    """Not before, not even a bad one; that is then held with the schedd's own words."""
    queue = Queue()
    queue.set(ONE, JobStatus="1", CronMinute='"7"')
    book = book_of(queue)
    first = times(book, NOW, queue)[ONE]
    assert first == next_of("7", NOW)
    queue.set(ONE, CronMinute='"zzz"')
    assert times(book, first + 1, queue) == {ONE: next_of("7", first + 1)}
    book.reconfig()
    (edit,) = book.recalculate(first + 2)
    assert (edit.job, edit.why, edit.time) == (ONE, Recalculation.NO_SCHEDULE, None)
    assert edit.hold == "Invalid cron schedule parameters: Invalid parameter value 'zzz' for CronMinute"


def test_a_job_held_while_idle_keeps_its_time() -> None:
    """In HTCondor, until it is past; in the manual's reading it gets a new one."""
    for dialect, expected in ((Dialect.HTCONDOR, set()), (Dialect.MANUAL, {ONE})):
        queue = Queue()
        queue.set(ONE, JobStatus="1", CronMinute='"7"')
        book = book_of(queue, dialect)
        times(book, NOW, queue)
        queue.set(ONE, DeferralTime=str(NOW + 50_000))
        queue.set(ONE, JobStatus="5")
        assert times(book, NOW + 10) == {}
        queue.set(ONE, JobStatus="1")
        assert times(book, NOW + 10).keys() == expected


@pytest.mark.parametrize(("code", "is_forgotten"), [("1", False), ("3", True), ("20", True), (None, True)])
def test_a_user_s_hold_of_a_running_job_keeps_the_schedule(code: str | None, is_forgotten: bool) -> None:
    """Its shadow says that it was killed; one that holds it for its own expressions says JOB_SHOULD_HOLD."""
    queue = Queue()
    queue.set(ONE, JobStatus="1", CronMinute='"*"', DeferralWindow="600")
    book = book_of(queue)
    first = times(book, NOW, queue)[ONE]
    assert first is not None
    queue.set(ONE, JobStatus="2")
    queue.set(ONE, JobStatus="5", HoldReasonCode=code)
    queue.set(ONE, JobStatus="1", HoldReasonCode=None)
    assert times(book, first + 5) == ({ONE: next_of("*", first + 5)} if is_forgotten else {})


def test_a_users_own_deferral_time_is_overwritten() -> None:
    """At the first calculation; one that is edited later is honoured for that run."""
    queue = Queue()
    queue.set(ONE, JobStatus="1", CronMinute='"7"', DeferralTime=str(NOW + 99_999))
    book = book_of(queue)
    assert times(book, NOW, queue) == {ONE: next_of("7", NOW)}
    queue.set(ONE, DeferralTime=str(NOW + 30))
    assert times(book, NOW + 30) == {}
    assert times(book, NOW + 31) == {ONE: next_of("7", NOW + 31)}


def test_nothing_is_due_before_its_second() -> None:
    """next_due says when to come again: late by exactly the window is in time."""
    queue = Queue()
    queue.set(ONE, JobStatus="1", CronMinute='"7"', DeferralWindow="60")
    book = book_of(queue)
    assert book.next_due == 0
    first = times(book, NOW, queue)[ONE]
    assert first is not None
    assert book.next_due == first + 61
    assert times(book, first + 60) == {}
    assert times(book, first + 61).keys() == {ONE}


def test_expressions_are_evaluated_in_their_own_job() -> None:
    """Equal texts of two jobs are then two schedules; a window counts as it is at that run."""
    queue = Queue()
    for job, minute in zip(JOBS[:2], (7, 9), strict=True):
        queue.set(job, JobStatus="1", CronMinute="string(M)", M=str(minute), DeferralWindow="M * 2")
    book = book_of(queue)
    assert times(book, NOW, queue) == {JOBS[0]: next_of("7", NOW), JOBS[1]: next_of("9", NOW)}
    assert book.next_due == next_of("7", NOW) + 14 + 1


@pytest.mark.parametrize("window", ["-100000", '"x"', "undefined", "error", "99999999999999999999", "1.0E300", "1/0"])
def test_no_window_makes_a_pass_hang(window: str) -> None:
    """One that is no number counts as 0; a negative one makes the time past at once, once a pass."""
    queue = Queue()
    queue.set(ONE, JobStatus="1", CronMinute='"7"', DeferralWindow=window)
    book = book_of(queue)
    assert times(book, NOW, queue) == {ONE: next_of("7", NOW)}
    assert times(book, NOW) == {}


def test_a_schedule_that_never_fires_is_held() -> None:
    """Where the real schedd never returns."""
    queue = Queue()
    queue.set(ONE, JobStatus="1", CronDayOfMonth='"31"', CronMonth='"2"')
    for dialect in (Dialect.HTCONDOR, Dialect.MANUAL):
        (edit,) = book_of(queue, dialect).recalculate(NOW)
        assert edit.time is None
        assert edit.hold
        assert edit.hold.startswith("Invalid cron schedule parameters: ")


def test_edits_without_end_do_not_fill_the_memory() -> None:
    """A time that is edited all the time leaves no more than a few places after."""
    queue = Queue()
    queue.set(ONE, JobStatus="1", CronMinute='"7"')
    book = book_of(queue)
    times(book, NOW, queue)
    for number in range(5000):
        queue.set(ONE, DeferralTime=str(NOW + 10_000 + number))
    assert len(book._dues) < 1100
    assert times(book, NOW + 14_999) == {}
    assert times(book, NOW + 15_000).keys() == {ONE}


def test_one_pass_over_ads() -> None:
    """What condor_q printed is a queue too."""
    ads = [ClassAd({"ClusterId": 1, "ProcId": 0, "JobStatus": 1, "CronMinute": "7"}), ClassAd({"A": 1})]
    (edit,) = recalculate(mirror_of(ads), NOW)
    assert (edit.job, edit.time) == (ONE, next_of("7", NOW))
    again = ClassAd({**ads[0], "CronMinute": "8"})
    assert [edit.time for edit in recalculate(mirror_of([*ads, again]), NOW)] == [next_of("8", NOW)]


def test_a_queue_of_ads_has_what_is_in_them_and_no_more() -> None:
    """Own and parent's attributes as they are spelled, of two of one job the later, no job that no queue can hold."""
    cluster = ClassAd({"ClusterId": 1, "Note": "a = b", "Args": "of all"})
    first, other = ClassAd({"ProcId": 0, "ARGS": "own", "Gone": 1}), ClassAd({"ProcId": 1, "args": "its"})
    beyond = ClassAd({"ClusterId": 1 << 31, "ProcId": 0, "CronMinute": "7"})
    again = ClassAd({"ProcId": 0, "ARGS": "late"})
    queue = mirror_of([*(ad.chain(cluster) for ad in (first, other)), beyond, again.chain(cluster)])
    whole = {"mytype": '"Job"', "targettype": '"Machine"', "clusterid": "1", "note": '"a = b"'}
    assert list(queue) == [JobId(1, 1), ONE]
    assert queue.own(ONE) == {**whole, "procid": "0", "args": '"late"'}
    assert queue.own(JobId(1, 1)) == {**whole, "procid": "1", "args": '"its"'}
    assert [queue.spelling(job, "args") for job in (ONE, JobId(1, 1))] == ["ARGS", "args"]


# A model


@dataclass
class Modelled:
    """One job, as the rules of docs/deferral.md see it."""

    minute: str
    window: int
    status: int = IDLE
    time: int | None = None
    cached: str | None = None
    ended: bool = False
    released: bool = False


@dataclass
class Model:
    """All jobs, looked at one by one in each pass."""

    dialect: Dialect
    jobs: dict[JobId, Modelled] = field(default_factory=dict)

    def turn(self, job: Modelled, status: int) -> None:
        """Change a JobStatus."""
        before, job.status = job.status, status
        if status == HELD and before == RUNNING:
            job.cached = None
        job.ended = before == RUNNING and status == IDLE
        job.released = before == HELD and status == IDLE

    def recalculate(self, now: int) -> dict[JobId, int | None]:
        """Return the times that change."""
        found: dict[JobId, int | None] = {}
        for key, job in self.jobs.items():
            if job.status != IDLE:
                continue
            missed = job.time is not None and now > job.time + job.window
            again = job.released and self.dialect is Dialect.MANUAL
            if job.cached is None or job.ended or again or missed:
                job.cached = job.cached or job.minute
                time = next_of(job.cached, now, self.dialect)
                if time != job.time:
                    found[key] = job.time = time
            job.ended = job.released = False
        return found


EVENTS = st.one_of(
    st.tuples(st.just("pass"), st.sampled_from(JOBS), st.integers(0, 4000)),
    st.tuples(st.just("status"), st.sampled_from(JOBS), st.sampled_from([IDLE, RUNNING, HELD])),
    st.tuples(st.just("time"), st.sampled_from(JOBS), st.integers(-500, 4000)),
    st.tuples(st.just("window"), st.sampled_from(JOBS), st.integers(0, 500)),
    st.tuples(st.just("minute"), st.sampled_from(JOBS), st.integers(0, 59)),
    st.tuples(st.just("gone"), st.sampled_from(JOBS), st.integers(0, 59)),
    st.tuples(st.just("reconfig"), st.sampled_from(JOBS), st.just(0)),
)


class Both:
    """A queue with its book, and the model, to which the same happens."""

    def __init__(self, dialect: Dialect) -> None:
        """Submit all jobs."""
        self.queue, self.model, self.now = Queue(), Model(dialect), NOW
        self.book = book_of(self.queue, dialect)
        for job in JOBS:
            self.submit(job, 7)

    def submit(self, job: JobId, minute: int) -> None:
        """Add a job."""
        self.model.jobs[job] = Modelled(str(minute), 0)
        self.queue.set(job, JobStatus="1", CronMinute=f'"{minute}"', DeferralWindow="0")

    def look(self, seconds: int) -> None:
        """Make a pass later, and compare."""
        self.now += seconds
        assert times(self.book, self.now, self.queue) == self.model.recalculate(self.now)

    def reconfig(self) -> None:
        """Forget the schedules."""
        self.book.reconfig()
        for job in self.model.jobs.values():
            job.cached = None

    def happen(self, what: str, key: JobId, number: int) -> None:
        """Let something happen to a job; one that is gone comes again."""
        job = self.model.jobs.get(key)
        if job is None:
            self.submit(key, number % 60)
        elif what == "gone":
            del self.model.jobs[key]
            self.queue.destroy(key)
        elif what == "status" and job.status != number:
            self.model.turn(job, number)
            self.queue.set(key, JobStatus=str(number))
        else:
            self.edit(what, key, job, number)

    def edit(self, what: str, key: JobId, job: Modelled, number: int) -> None:
        """Let somebody edit a job."""
        if what == "time":
            job.time = self.now + number
            self.queue.set(key, DeferralTime=str(job.time))
        elif what == "window":
            job.window = number
            self.queue.set(key, DeferralWindow=str(number))
        elif what == "minute":
            job.minute = str(number)
            self.queue.set(key, CronMinute=f'"{number}"')


@given(st.lists(EVENTS, max_size=40), st.sampled_from([Dialect.HTCONDOR, Dialect.MANUAL]))
def test_the_book_is_the_model(events: list[tuple[str, JobId, int]], dialect: Dialect) -> None:
    """Whatever happens between passes, the heap finds what looking at every job finds."""
    both = Both(dialect)
    for what, job, number in events:
        if what == "pass":
            both.look(number)
        elif what == "reconfig":
            both.reconfig()
        else:
            both.happen(what, job, number)
    both.look(7)
