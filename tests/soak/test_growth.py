"""What the monitor and the router keep goes with the jobs that are there, not with those that have come and gone.

The jobs are those of the soak, the clock is a number: a round is a minute.
"""

from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from crondor.config import read_config
from crondor.router import load_table
from crondor.router.daemon import Router, RouterOptions
from crondor.schedd.embedded import EmbeddedSchedd
from tests.soak.files import Files
from tests.soak.reach import kept
from tests.soak.routing import ROUTES, Turnover
from tests.soak.watched import SIX, clock_at, watched

JOBS, TURN_OVER, CLUSTER = 50, 10, 10
EARLY, LATE = range(64, 84, 4), range(108, 128, 4)  # minutes; a removed job is remembered for an hour
MORE = 1.05


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have small clusters, and what is remembered up to a bound reach it early."""
    for bound, most in (
        ("crondor.job_queue.mirror._MAX_KNOWN", 200),
        ("crondor.router.table.route._MOST_NAMES", 4),
        ("crondor.monitor.queue_watch._MOST_TERMS", 40),
        ("crondor.schedd.reading._MOST_KNOWN", 40),
        ("crondor.transform.plan._MOST_PLANS", 4),
        ("tests.soak.files._AT_ONCE", CLUSTER),
        ("tests.soak.routing._AT_ONCE", CLUSTER),
    ):
        monkeypatch.setattr(bound, most)


class Now:
    """A clock."""

    now = SIX


class Sizes:
    """What was kept in some minutes: how it ebbs and flows within twenty of them does not count."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._early: Counter[str] = Counter()
        self._late: Counter[str] = Counter()

    def look(self, minute: int, root: object) -> None:
        """Take what hangs on an object, in the minutes that count."""
        if minute in EARLY:
            self._early |= kept(root)
        elif minute in LATE:
            self._late |= kept(root)

    @property
    def grown(self) -> dict[str, tuple[int, int]]:
        """The types of which more bytes are kept than before, and how many."""
        early, late = self._early, self._late
        return {name: (early[name], late[name]) for name in late if late[name] > MORE * early[name] + 2000}


def test_a_watched_queue(tmp_path: Path) -> None:
    """With its user logs, which come and go as well, its history, and jobs of one time."""
    files = Files(tmp_path, SIX)
    files.fill(JOBS)
    sizes = Sizes()
    with ExitStack() as stack:
        stack.callback(files.close)
        queue = watched(files, stack)
        for minute in range(1, LATE.stop):
            now = SIX + 60 * minute
            files.turn_over(TURN_OVER, now)
            assert queue.look(clock_at(now)) is not None
            sizes.look(minute, queue)
        assert queue.totals.started > 20
    assert sizes.grown == {}


@pytest.mark.parametrize("waits", [False, True], ids=["at once", "for gates"])
def test_a_router(tmp_path: Path, waits: bool) -> None:
    """With copies that end well, sources that are removed before, and jobs that wait for their gates."""
    clock = Now()
    sizes = Sizes()
    with EmbeddedSchedd(tmp_path / "queue", clock=lambda: clock.now) as schedd:
        options = RouterOptions(waits_for_gates=waits)
        router = Router(load_table(read_config(ROUTES)), schedd, clock=lambda: clock.now, options=options)
        jobs = Turnover(schedd)
        jobs.fill(JOBS)
        for minute in range(1, LATE.stop):
            clock.now = SIX + 60 * minute
            with schedd.together():
                jobs.step(TURN_OVER, clock.now)
                router.poll()
                schedd.clear_finished()
            sizes.look(minute, router)
        assert router.report().counts["finished"] > 50
    assert sizes.grown == {}
