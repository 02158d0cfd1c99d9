"""A recorded pool in which jobs missed their times for several causes: followed by ads, and read at the end by logs."""

from __future__ import annotations

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
