"""JobTimes: when a job runs, by its schedule and by what its requirements say of DeferralTime."""

import gzip
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timezone
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.job.policy import read_queue
from crondor.recurrence import NeverRuns
from crondor.schedule import JobSchedule
from crondor.spec import CronSpec, Dialect
from crondor.times import MOST_EXCLUDED, JobTimes
from tests.engine.random_schedules import specs
from tests.examples import examples

GOLDEN = Path(__file__).parents[1] / "golden"
NOW = int(datetime(2026, 11, 20, 12, 30, tzinfo=timezone.utc).timestamp())
HOURLY = {"cron_minute": "0"}
EVEN = "DeferralTime % 7200 == 0"
DEFERS = "TARGET.HasJobDeferral"
GATE = (
    "(((time() + ScheddInterval) >= (DeferralTime - DeferralPrepTime)) && (time() < (DeferralTime + DeferralWindow)))"
)


def times(requirements: str = "", /, **commands: str) -> JobTimes:
    """Return the times of a job with submit commands, every hour without any."""
    return JobTimes.from_submit({**(commands or HOURLY), "requirements": requirements})


def hours(found: Iterator[int], count: int = 4) -> list[int]:
    """Return the hours, in UTC, of the first of some times."""
    return [datetime.fromtimestamp(int(time), timezone.utc).hour for time in islice(found, count)]


def test_times_that_requirements_exclude_are_named_and_are_no_runs() -> None:
    """Both lists stand beside each other, and an excluded time says which part of the requirements excludes it."""
    job = times(f'(Arch == "X86_64") && ({EVEN})')
    assert hours(job.named(NOW)) == [13, 14, 15, 16]
    assert hours(job.runs(NOW)) == [14, 16, 18, 20]
    assert (hours(iter([job.next(NOW), job.previous(NOW)]))) == [14, 12]
    thirteen = NOW + 1800
    assert (job.is_run(thirteen), job.is_run(thirteen + 3600), job.is_run(thirteen + 60)) == (False, True, False)
    assert (job.why_excluded(thirteen), job.why_excluded(thirteen + 3600)) == (EVEN, "")


@pytest.mark.parametrize(
    "clause",
    [
        f'TARGET.Arch =?= "X86_64" && {EVEN}',
        f'stringListMember(Machine, "a,b") && ({EVEN})',
        f"{EVEN} && {DEFERS} && {GATE}",
        f"(({DEFERS}) && {GATE}) && ({EVEN}) && isUndefined(MY.Note) && random(3) < 2",
        f"MY.{EVEN} && (TARGET.DeferralTime =!= 5)",
        '!(DeferralTime % 7200 == 3600) && eval(strcat("fa", "lse"))',
        f"Night =?= true && {EVEN} || {EVEN}",
        f"true ? {EVEN} : Night",
        "splitTime(DeferralTime).Hours % 2 == 0 && splitTime(LastMatchTime).Hours == 3",
    ],
)
def test_what_is_not_known_counts_as_possible(clause: str) -> None:
    """Machines, other attributes, the moment of the match: only DeferralTime decides, whatever stands beside it."""
    assert hours(times(clause).runs(NOW)) == [14, 16, 18, 20]


@pytest.mark.parametrize(
    "clause",
    [
        "",
        "false",
        f"{DEFERS} && {GATE}",
        "DeferralTime +",
        f"Night || {EVEN}",
        "ifThenElse(Night, DeferralTime % 2 == 0, false)",
    ],
)
def test_requirements_that_do_not_decide_by_the_time_exclude_none(clause: str) -> None:
    """Those that nobody can read neither: it is condor_submit that refuses them."""
    assert hours(times(clause).runs(NOW)) == [13, 14, 15, 16]


def test_an_error_or_a_text_is_not_true() -> None:
    """Requirements that come to an error match nothing."""
    assert hours(times('DeferralTime % 7200 == 0 ? "yes" : error').runs(NOW)) == []


def test_the_schedds_times_are_those_of_its_dialect() -> None:
    """The schedd reads `*/7` of a weekday as every day, and requirements exclude what is wrong of it."""
    weekly = {"cron_minute": "0", "cron_hour": "6", "cron_day_of_week": "1"}
    cure = 'formatTime(DeferralTime, "%w %H:%M") == "1 06:00"'
    job = times(cure, **weekly)
    real = job.in_dialect(Dialect.HTCONDOR)
    assert list(islice(job.runs(NOW), 9)) == [int(time) for time in islice(real.runs(NOW), 9)]
    assert list(job.named(NOW, NOW + 86400 * 40)) != [int(time) for time in real.named(NOW, NOW + 86400 * 40)]
    assert job.in_dialect(Dialect.MANUAL) is job


def test_a_job_of_one_time_has_it_or_has_none() -> None:
    """A deferral_time that requirements exclude never comes about."""
    at = str(NOW + 1800)
    assert list(times(EVEN, deferral_time=at).runs(NOW)) == []
    assert list(times("DeferralTime % 3600 == 0", deferral_time=at).runs(NOW)) == [NOW + 1800]
    assert list(times(deferral_time=at).runs(NOW + 1800)) == []
    with pytest.raises(NeverRuns, match="exclude"):
        times(EVEN, deferral_time=at).next(NOW)


def test_a_search_without_an_end_gives_up() -> None:
    """Requirements that exclude every time would be tried until the year 2200."""
    never = times("DeferralTime < 0", cron_minute="*")
    assert list(never.runs(NOW)) == []
    with pytest.raises(NeverRuns, match=f"{MOST_EXCLUDED:,}"):
        never.next(NOW)
    with pytest.raises(NeverRuns, match="exclude"):
        never.previous(NOW)
    late = times(f"DeferralTime >= {NOW + 86400 * 10}", cron_minute="*")
    assert next(late.runs(NOW, NOW + 86400 * 20)) == NOW + 86400 * 10


def test_a_queues_job_has_the_schedds_present_time_first() -> None:
    """Its Requirements hold condor_submit's own clause, and its DeferralTime is the first of its times."""
    (queued,) = read_queue(
        f'CronMinute = "0"\nDeferralTime = {NOW + 5400}\nRequirements = {DEFERS} && {GATE} && ({EVEN})\n'
    )
    job = JobTimes.from_queue(queued, NOW)
    assert hours(job.named(NOW), 2) == [14, 15]
    assert hours(job.runs(NOW), 2) == [14, 16]


def test_requirements_of_recorded_jobs_exclude_no_time() -> None:
    """What condor_submit and a schedd wrote into the ads of real jobs says nothing against any time."""
    texts = [gzip.decompress(path.read_bytes()).decode() for path in GOLDEN.rglob("*.long.gz")]
    found = [job for text in texts for job in read_queue(text) if job.is_scheduled]
    assert found
    assert all(not JobTimes.from_queue(job, NOW).is_restricted for job in found)


@examples(15)
@given(specs([Dialect.MANUAL]), st.integers(1, 50), st.integers(0, 3), st.integers(NOW, NOW + 86400 * 700))
def test_runs_are_the_named_times_with_the_clause(spec: CronSpec, step: int, rest: int, after: int) -> None:
    """For any schedule and any step: forwards, backwards, and one by one."""
    until = after + 86400 * 3
    job = JobTimes(JobSchedule(spec), f"DeferralTime / 60 % {step} == {rest}")
    named, runs = list(job.named(after, until)), list(job.runs(after, until))
    assert runs == [time for time in named if time // 60 % step == rest]
    assert all(job.is_run(time) is (time in runs) for time in named[:50])
    back: list[int] = []
    while named and (not back or back[-1] > runs[0]) and len(back) < len(runs) and len(back) < 20:
        back.append(job.previous(back[-1] if back else until + 1))
    assert back == runs[::-1][:20]


def test_only_requirements_that_speak_of_the_time_need_the_engine() -> None:
    """`crondor next` starts without it."""
    code = (
        "import sys; from crondor.times import JobTimes; "
        "job = JobTimes.from_submit({'cron_minute': '0', 'requirements': 'Arch == 3'}); job.next(0); "
        "print([name for name in sys.modules if name.startswith('crondor.classad')])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.strip() == b"[]"
