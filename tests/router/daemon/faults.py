"""Queues that fail before or after a chosen transaction of the router, and what must hold whatever fails."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from crondor.diagnostics import Diagnostic
from crondor.job.attributes import JobStatus
from crondor.job_queue import JobId, Transaction
from crondor.job_queue.mirror import AdChange
from crondor.schedd.embedded import MemorySchedd
from crondor.schedd.protocol import Unreachable
from tests.router.daemon.scenes import Stage

ALIVE = (1, 2, 5, 6)


class Crash(BaseException):
    """The process ends here."""


class Fault:
    """Something that goes wrong at the transactions with some numbers, before (even) or after (odd) each."""

    def __init__(self, *at: int, kind: Callable[[], BaseException] = Crash) -> None:
        """Take the numbers: 2n is before the n-th transaction of the router, 2n+1 after it."""
        self.at = set(at)
        self.kind = kind
        self.count = 0
        self.is_armed = False
        self.struck = 0

    def strike(self, point: int) -> None:
        """Fail if this is one of the points."""
        if point in self.at:
            self.struck += 1
            raise self.kind()

    def watch(self, schedd: MemorySchedd) -> None:
        """Stand around the transactions of a queue."""
        original = schedd._memory.transaction

        @contextmanager
        def transaction(*, durable: bool = True, comment: str = "") -> Iterator[Transaction]:
            if not self.is_armed:
                with original(durable=durable, comment=comment) as change:
                    yield change
                return
            number = self.count
            self.count += 1
            self.strike(2 * number)
            with original(durable=durable, comment=comment) as change:
                yield change
            self.strike(2 * number + 1)

        schedd._memory.transaction = transaction  # type: ignore[method-assign]


def unreachable() -> Unreachable:
    """Return what a schedd raises that does not answer."""
    return Unreachable(Diagnostic("schedd-unreachable", "the schedd does not answer"))


class Watch:
    """Looks at the queue of copies after every transaction, whoever made it."""

    def __init__(self, stage: Stage, most: int, most_idle: int) -> None:
        """Take the limits of each route."""
        self.broken: list[str] = []
        self._stage = stage
        self._most = most
        self._most_idle = most_idle
        stage.destination.mirror.subscribe(self._look)

    def _look(self, _changes: tuple[AdChange, ...]) -> None:
        mirror = self._stage.destination.mirror
        routes: Counter[str] = Counter()
        idle: Counter[str] = Counter()
        sources: Counter[str] = Counter()
        for found in mirror:
            if (
                mirror.text(found, "RoutedBy") != '"jobrouter"'
                or int(mirror.text(found, "JobStatus") or 0) not in ALIVE
            ):
                continue
            route = mirror.text(found, "RouteName") or ""
            routes[route] += 1
            idle[route] += mirror.text(found, "JobStatus") in ("1", "5")
            sources[mirror.text(found, "RoutedFromJobId") or ""] += 1
        self.broken += [f"{route}: {n} copies" for route, n in routes.items() if n > self._most]
        self.broken += [f"{route}: {n} idle" for route, n in idle.items() if n > self._most_idle]
        self.broken += [f"{source}: {n} copies" for source, n in sources.items() if n > 1]


Script = Callable[[Stage, list[JobId], int], None]


def play(stage: Stage, jobs: list[JobId], fault: Fault, script: Script, polls: range) -> None:
    """Let the router poll and fail; after a crash a new one goes on.

    ``polls``: from the first on it ends when nothing may happen any more; it is after the last act of the script.
    """
    for schedd in {id(each): each for each in (stage.source, stage.destination)}.values():
        fault.watch(schedd)
    for number in range(polls.stop):
        stage.now += 10
        stage.sites.advance(stage.now)
        if stage.source is not stage.destination:
            stage.source.clear_finished()
        script(stage, jobs, number)
        fault.is_armed = True
        try:
            stage.router.poll()
        except Crash:
            stage.start()
        finally:
            fault.is_armed = False
        if number >= polls.start and not stage.router.jobs and not _waits(stage):
            return


def _waits(stage: Stage) -> bool:
    """Say whether anything may still happen."""
    return bool(leftovers(stage) or stage.source.jobs("JobStatus =!= 5"))


def leftovers(stage: Stage) -> list[str]:
    """Return what must not be there when all is over: copies, and sources that a router has."""
    found = [f"copy {ad['ClusterId']} with {ad['JobStatus']}" for ad in stage.copies()]
    found += [f"source {ad['ClusterId']} is {ad['Managed']}" for ad in stage.source.jobs('Managed =?= "External"')]
    return found


def end_of(stage: Stage, job: JobId) -> tuple[str, object]:
    """Return where a source is in the end, and its status; fails for one that is nowhere or in two places."""
    queued, past = stage.source.jobs(job), stage.source.history(job)
    assert len(queued) + len(past) == 1, f"{job} is in {len(queued)} queues and {len(past)} histories"
    where = "queue" if queued else "history"
    return where, JobStatus(int(str((queued or past)[0].python("JobStatus"))))
