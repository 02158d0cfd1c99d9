"""Recorded pools in which jobs missed their times for several causes: followed by ads, by logs, and seen once."""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from crondor.classad import Expression
from crondor.classad.ad import ClassAd
from crondor.event_log import EventType, JobEvent
from crondor.monitor import DueRun, QueueWatch, Verdict
from tests.monitor.made import words

RECORDING: dict[str, Any] = json.loads((Path(__file__).parent / "recordings" / "pool.json").read_text("utf-8"))
FIRST = 1_795_616_460  # 14:21:00
MINUTE = 60
HELD_20 = 11


def looks() -> Iterator[tuple[int, dict[str, ClassAd]]]:
    """Yield the time of each look and the ads."""
    texts: dict[str, dict[str, str]] = {}
    for look in RECORDING["looks"]:
        for job, changed in look["changed"].items():
            there = {**texts.get(job, {}), **changed}
            texts[job] = {name: text for name, text in there.items() if text is not None}
        for job in look["left"]:
            texts.pop(job)
        yield look["now"], {job: ClassAd({n: Expression(t) for n, t in ad.items()}) for job, ad in texts.items()}


def events() -> list[JobEvent]:
    """Return the events of the user logs."""
    return [JobEvent(number, cluster, 0, time, attributes=said) for time, number, cluster, said in RECORDING["events"]]


def starts() -> dict[int, set[int]]:
    """Return when programs began, by cluster, as the user logs say; a hold of code 20 takes that before it back."""
    found: dict[int, set[int]] = defaultdict(set)
    for event in events():
        if event.number == EventType.EXECUTE and event.cluster != HELD_20:
            found[event.cluster].add(int(event.time))
    return found


@pytest.fixture(scope="module")
def followed() -> dict[tuple[int, int], DueRun]:
    """Return the last verdict of each due time, by cluster and time, of a watch that saw every look."""
    watch = QueueWatch(since=FIRST - 1)
    found: dict[tuple[int, int], DueRun] = {}
    for now, ads in looks():
        for run in watch.look(ads.values(), now).runs:
            found[int(float(run.job)), run.run.time] = run
    return found


@pytest.fixture(scope="module")
def logged() -> dict[tuple[int, int], DueRun]:
    """Return the verdicts of one look at the end, without any DeferralTime and with all user logs."""
    *_, (now, ads) = looks()
    watch = QueueWatch(since=FIRST - 1, sees_deferral_time=False)
    runs = watch.look(ads.values(), now, events=events()).runs
    return {(int(float(run.job)), run.run.time): run for run in runs}


def test_each_start_of_a_user_log_is_told_and_no_other(followed: dict[tuple[int, int], DueRun]) -> None:
    """Between the first look and the last, but for what began and ended in a gap between two looks."""
    begun = {(cluster, time) for cluster, times in starts().items() for time in times}
    told = [(cluster, run.started) for (cluster, _), run in followed.items() if run.started is not None]
    assert all(any((cluster, time + off) in begun for off in (-1, 0, 1)) for cluster, time in told)
    watched = [now for now, _ in looks()]
    gaps = [(a, b) for a, b in pairwise(watched) if b - a > MINUTE]
    seen = {
        (cluster, time)
        for cluster, time in begun
        if watched[0] < time < watched[-1] - 2 and not any(a - MINUTE < time < b for a, b in gaps)
    }
    missing = {(c, t) for c, t in seen if not any((c, t + off) in told for off in (-1, 0, 1))}
    assert missing == set()


@pytest.mark.parametrize(
    ("cluster", "minute", "verdict"),
    [
        (1, 24, ("started", None)),
        (1, 25, ("missed", "starter-gone")),
        (1, 29, ("missed", "starter-gone")),
        (1, 41, ("missed", "starter-gone")),
        (1, 42, ("started", None)),
        (2, 41, ("started", None)),
        (2, 42, ("lost", "left-queue")),
        (3, 24, ("started", None)),
        (3, 25, ("lost", "left-queue")),
        (4, 25, ("missed", "held")),
        (4, 37, ("missed", "held")),
        (4, 38, ("started", None)),
        (5, 38, ("started", None)),
        (6, 25, ("started", None)),
        (7, 22, ("missed", "no-match")),
        (8, 23, ("missed", "schedd-reading")),
        (8, 24, ("unplanned", "schedd-reading")),
        (9, 40, ("lost", "held")),
        (9, 41, ("started", None)),
        (10, 21, ("started", None)),
        (10, 22, ("missed", "still-running")),
        (10, 23, ("missed", "still-running")),
        (10, 24, ("started", None)),
    ],
)
def test_the_verdicts_are_those_of_what_was_done(
    followed: dict[tuple[int, int], DueRun], cluster: int, minute: int, verdict: tuple[str, str | None]
) -> None:
    """Of what was done to the pool."""
    assert words(followed[cluster, FIRST + (minute - 21) * MINUTE]) == verdict


def test_the_time_that_is_past_is_held() -> None:
    """With an execute event in the log, and JobCurrentStartExecutingDate in the ad."""
    watch = QueueWatch()
    for now, ads in looks():
        for run in watch.look(ads.values(), now).runs:
            if run.job == "11.0" and run.is_final:
                assert words(run) == ("missed", "held-20")
                return
    pytest.fail("no verdict")


def test_logs_alone_tell_the_same(
    followed: dict[tuple[int, int], DueRun], logged: dict[tuple[int, int], DueRun]
) -> None:
    """Of jobs that are still there; what happened in a gap only the logs tell, and they do.

    A job that waits on its machine is not in a log: of one whose starter had hung for a while they say no-match.
    """
    open_ = {Verdict.UNKNOWN, Verdict.UNPLANNED, Verdict.DUE, Verdict.LATE}
    known = {key: words(run) for key, run in followed.items() if run.verdict not in open_}
    both = [key for key in known if key in logged and logged[key].verdict not in open_]
    assert len(both) > 150
    differ = {key for key in both if known[key] != words(logged[key])}
    waits = {key for key in both if known[key] == ("missed", "starter-gone")}
    assert {words(logged[key]) for key in waits} == {("missed", "no-match")}
    vacated = (10, FIRST + 15 * MINUTE)
    assert differ - waits == {vacated}
    assert words(logged[vacated]) == ("lost", "evicted")
    assert not [key for key, run in logged.items() if run.verdict is Verdict.UNKNOWN]


# Jobs whose program wrote down when it began: tests/golden/daemon/README.md

LOOKS = Path(__file__).parents[1] / "golden" / "daemon" / "looks.jsonl.gz"
JOBS: list[dict[str, Any]] = [json.loads(line) for line in gzip.decompress(LOOKS.read_bytes()).splitlines()]
CLUSTERS: dict[str, dict[str, Any]] = {job["name"]: job for job in JOBS}
OPEN = frozenset((Verdict.AHEAD, Verdict.DUE, Verdict.LATE))
FOLLOWED: dict[str, set[tuple[str, str | None]]] = {
    "l04 22.0": {("missed", "not-started")},
    "l05 23.0": {("missed", "held"), ("started", None)},
    "l06 24.0": {("missed", "still-running"), ("started", None)},
    "v05 6.0": {("missed", "no-match")},
    "v06 7.0": {("missed", "held"), ("started", None)},
    "v09 10.0": {("missed", "no-match")},
    "v10 11.0": {("missed", "no-match"), ("missed", "still-running"), ("started", None)},
    "v11 12.0": {("missed", "held-20")},
    "v14 14.0": {("lost", "left-queue"), ("started", None)},
    "v15 15.0": {("missed", "schedd-reading"), ("unplanned", "schedd-reading")},
    "v16 16.0": {("lost", "evicted"), ("missed", "no-match"), ("started", None)},
    "g01 31.0": {("missed", "not-started")},
    "g02 32.0": {("missed", "held"), ("started", None)},
}
EARLY = {("missed", "no-match"), ("missed", "not-started")}
"""What else there is of them, and of all other jobs: before there was a machine, or the job had come in time."""


def ads_of(job: dict[str, Any]) -> Iterator[tuple[int, list[ClassAd]]]:
    """Yield the time of each look at a job, and its ad, none where it has left."""
    texts: dict[str, str] = {}
    for now, changed in job["looks"]:
        there = {} if changed is None else {**texts, **changed}
        texts = {name: text for name, text in there.items() if text is not None}
        yield now, [ClassAd({name: Expression(text) for name, text in texts.items()})] if texts else []


def log_of(job: dict[str, Any]) -> list[JobEvent]:
    """Return the events of a job's log."""
    cluster, proc = map(int, job["name"].split()[1].split("."))
    return [JobEvent(number, cluster, proc, time, attributes=said) for time, number, said in job["events"]]


def is_so(job: dict[str, Any], run: DueRun) -> bool:
    """Say whether a verdict is right: its program began in the window of a due time, or did not and was not cut off."""
    begun = {time for time in job["starts"] if run.run.time - 2 <= time <= run.run.last_start + 2}
    return bool(begun) if run.verdict is Verdict.STARTED else not begun - set(job["cut_off"])


def test_the_recording_has_jobs_of_all_kinds() -> None:
    """Local ones, grid jobs and routed ones beside those that need a machine."""
    kinds = {(changed or {}).get("JobUniverse") for job in JOBS for _, changed in job["looks"]}
    assert {"5", "9", "12"} <= kinds
    assert len(JOBS) == 34
    assert sum(len(job["starts"]) for job in JOBS) > 150


@pytest.mark.parametrize("is_logged", [False, True])
@pytest.mark.parametrize("sees_deferral_time", [True, False])
def test_one_look_says_nothing_that_is_not_so(*, is_logged: bool, sees_deferral_time: bool) -> None:
    """At many moments, of each job's last due time: what has begun is started, and nothing else; few are unknown."""
    wrong, unknown, known = set(), 0, 0
    for job in JOBS:
        events = log_of(job) if is_logged else []
        for now, ads in [*ads_of(job)][2 * is_logged + sees_deferral_time :: 8]:
            watch = QueueWatch(sees_deferral_time=sees_deferral_time)
            told = [event for event in events if event.time <= now]
            for standing in watch.look(ads, now, events=told).jobs:
                run = standing.latest
                if run is None or run.verdict in OPEN:
                    continue
                unknown += run.verdict is Verdict.UNKNOWN
                known += run.verdict is not Verdict.UNKNOWN
                if run.verdict is not Verdict.UNKNOWN and not is_so(job, run):
                    wrong.add((job["name"], now, run.run.time, words(run)))
    assert wrong == set()
    assert known > 400
    assert unknown < 0.02 * known


@pytest.mark.parametrize("is_logged", [False, True])
@pytest.mark.parametrize("name", sorted(CLUSTERS))
def test_a_watch_says_what_became_of_each_time(name: str, *, is_logged: bool) -> None:
    """With and without user logs; the routed source and its copy say the same."""
    job = CLUSTERS[name]
    first = job["looks"][0][0]
    watch = QueueWatch(since=first - 1)
    found: dict[int, DueRun] = {}
    told = 0
    events = sorted(log_of(job), key=lambda event: event.time) if is_logged else []
    for now, ads in ads_of(job):
        new = [event for event in events[told:] if event.time <= now]
        told += len(new)
        for run in watch.look(ads, now, events=new).runs:
            found[run.run.time] = run
    if not ads:
        found |= {run.run.time: run for run in watch.look([], now + 5 * MINUTE).runs}
    final = [run for run in found.values() if run.verdict not in {*OPEN, Verdict.UNKNOWN}]
    assert {words(run) for run in final} - FOLLOWED.get(name, set()) <= {("started", None), *EARLY}
    assert FOLLOWED.get(name, set()) <= {words(run) for run in final}
    for run in final:
        if run.verdict is not Verdict.UNPLANNED:
            assert is_so(job, run), words(run)
