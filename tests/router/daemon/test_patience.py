"""A schedd that takes no writing, and jobs that it refuses: asked seldom, and said once."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import pytest

from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic
from crondor.job_queue import JobId
from crondor.router.daemon import RoutedState, Router, RouterEvent
from crondor.router.daemon.rehearsal import Site
from crondor.schedd.embedded import MemorySchedd
from crondor.schedd.protocol import (
    Acted,
    Capabilities,
    Forbidden,
    Hold,
    JobChange,
    PartlyEdited,
    ScheddError,
    Scheduled,
    Unreachable,
    Which,
)
from tests.router.daemon.scenes import ROUTE, Stage, job, table

MANY = 100
REASON = "authentication (FS) failed"
ADVICE = "set SEC_FS_ENFORCE_CHANNEL_BINDING = false"


class Fickle:
    """A queue whose writes raise what ``mood`` returns for the job they are about; ``writes`` counts them."""

    def __init__(self, schedd: MemorySchedd) -> None:
        """Begin well."""
        self._schedd = schedd
        self.mood: Callable[[JobId | None], ScheddError | None] = lambda _: None
        self.writes = 0

    @property
    def capabilities(self) -> Capabilities:
        """As the queue."""
        return self._schedd.capabilities

    def jobs(self, which: Which = None, projection: Iterable[str] | None = None) -> list[ClassAd]:
        """As the queue."""
        return self._schedd.jobs(which, projection)

    def scheduled(self, which: Which = None) -> Scheduled:
        """As the queue."""
        return self._schedd.scheduled(which)

    def history(
        self, which: Which = None, projection: Iterable[str] | None = None, limit: int | None = None
    ) -> list[ClassAd]:
        """As the queue."""
        return self._schedd.history(which, projection, limit)

    def changes(self) -> list[JobChange]:
        """As the queue."""
        return self._schedd.changes()

    def edit_if(self, job: JobId, condition: str, edits: Mapping[str, object]) -> bool:
        """Refuse it or do it."""
        self._write(job)
        return self._schedd.edit_if(job, condition, edits)

    def submit(self, ads: Sequence[ClassAd]) -> list[JobId]:
        """Refuse it or do it."""
        self._write(None)
        return self._schedd.submit(ads)

    def hold(self, which: Which, hold: Hold) -> Acted:
        """Refuse it or do it."""
        self._write(None)
        return self._schedd.hold(which, hold)

    def release(self, which: Which, reason: str) -> Acted:
        """Refuse it or do it."""
        self._write(None)
        return self._schedd.release(which, reason)

    def remove(self, which: Which, reason: str) -> Acted:
        """Refuse it or do it."""
        self._write(None)
        return self._schedd.remove(which, reason)

    def _write(self, job: JobId | None) -> None:
        self.writes += 1
        error = self.mood(job)
        if error is not None:
            raise error


def forbidden(_job: JobId | None) -> ScheddError:
    """Return what a schedd raises that does not allow this user to write."""
    return Forbidden(Diagnostic("schedd-forbidden", REASON, help=ADVICE))


def unreachable(_job: JobId | None) -> ScheddError:
    """Return what a schedd raises that does not answer."""
    return Unreachable(Diagnostic("schedd-unreachable", REASON, help=ADVICE))


def between(_job: JobId | None) -> ScheddError:
    """Return what is raised where it stops to answer between two attributes."""
    cause = unreachable(None)
    error = PartlyEdited(cause, ["ManagedManager"])
    error.__cause__ = cause
    return error


def sulking(count: int = MANY, mood: Callable[[JobId | None], ScheddError | None] = forbidden) -> tuple[Stage, Fickle]:
    """Return a stage with jobs to route and a schedd in a mood."""
    stage = Stage(
        table({"Site1": f"{ROUTE}MaxJobs = 1000\nMaxIdleJobs = 1000\n"}), [Site("Site1", slots=MANY, run_time=100_000)]
    )
    stage.submit(*(job() for _ in range(count)))
    fickle = Fickle(stage.source)
    fickle.mood = mood
    stage.start(fickle)
    return stage, fickle


def poll(stage: Stage, router: Router) -> bool:
    """Let time pass, and the router poll."""
    stage.now += 10
    stage.sites.advance(stage.now)
    return router.poll()


@pytest.mark.parametrize("mood", [forbidden, unreachable, between])
def test_one_question_tells_how_a_schedd_stands(mood: Callable[[JobId | None], ScheddError]) -> None:
    """Not one for each job; the reason is said once, with what to do about it."""
    stage, fickle = sulking(mood=mood)
    assert not poll(stage, stage.router)
    assert fickle.writes == 1
    (said,) = (entry for entry in stage.entries if REASON in str(entry))
    assert said.what is RouterEvent.NOT_CLAIMED
    assert mood is between or ADVICE in str(said)
    assert stage.router.has_claimed_none
    assert all(found.state is not RoutedState.UNCLAIMED for found in stage.router.jobs.values())


def test_it_is_asked_less_and_less_often() -> None:
    """After a first refusal in the next poll, then every 2nd, 4th and so on; each time by one job, in one line."""
    stage, fickle = sulking()
    asked = []
    for number in range(1, 100):
        before, lines = fickle.writes, len(stage.entries)
        assert not poll(stage, stage.router)
        assert len(stage.entries) - lines <= (MANY + 5 if number == 1 else 5)
        if fickle.writes > before:
            assert fickle.writes == before + 1
            asked.append(number)
    assert asked == [1, 2, 4, 8, 16, 32, 63, 94]
    assert "it is left alone for 7 polls" in str(stage.said(RouterEvent.NOT_CLAIMED)[3])
    assert stage.router.report().pause == 25  # of 30, five polls later


def test_when_it_takes_writing_again_all_is_routed() -> None:
    """First one job, with the next poll the others; none was lost, and no failure counts for the route."""
    stage, fickle = sulking()
    for _ in range(5):
        poll(stage, stage.router)
    fickle.mood = lambda _: None
    while not stage.copies():
        poll(stage, stage.router)
    assert len(stage.copies()) == 1
    assert poll(stage, stage.router)
    assert len(stage.copies()) == MANY
    assert stage.router.route_state.throttles["site1"].failed == 0


def test_a_new_table_has_it_asked_at_once() -> None:
    """Who tells the router to read its configuration has changed something."""
    stage, fickle = sulking()
    for _ in range(9):
        poll(stage, stage.router)
    fickle.mood = lambda _: None
    stage.router.reload(stage.table)
    poll(stage, stage.router)
    assert len(stage.copies()) == MANY


def test_refused_jobs_do_not_keep_others_away() -> None:
    """Each waits by itself, longer each time; the reason is said once for all of them."""
    mine = {JobId(number, 0) for number in range(1, MANY, 2)}

    def choosy(found: JobId | None) -> ScheddError | None:
        return ScheddError(Diagnostic("schedd-refused", f"{found} is not yours")) if found in mine else None

    stage, fickle = sulking(mood=choosy)
    assert poll(stage, stage.router)
    assert len(stage.copies()) == MANY - len(mine)
    (said,) = stage.said(RouterEvent.NOT_CLAIMED)
    assert "is not yours" in str(said)
    assert str(said).endswith(f"; the same for {len(mine) - 1} more")
    assert not stage.router.has_claimed_none
    tries = []
    for number in range(2, 70):
        lines = len(stage.said(RouterEvent.FOUND))
        poll(stage, stage.router)
        if len(stage.said(RouterEvent.FOUND)) > lines:
            tries.append(number)
    assert tries == [2, 4, 8, 16, 32, 62]
    fickle.mood = lambda _: None
    for _ in range(31):
        poll(stage, stage.router)
    assert len({str(ad["RoutedFromJobId"]) for ad in stage.copies()}) == MANY


def test_a_poll_in_which_all_jobs_are_refused_has_not_done_its_part() -> None:
    """Whatever the reason; one where some are, or where they are left to a later poll, has."""
    stage, _ = sulking(2, lambda _: ScheddError(Diagnostic("schedd-refused", "not yours")))
    assert [poll(stage, stage.router) for _ in range(4)] == [False, False, True, False]
    stage, _ = sulking(2, lambda found: ScheddError(Diagnostic("x", "no")) if found == JobId(1, 0) else None)
    assert poll(stage, stage.router)


def test_copies_are_followed_while_their_schedd_takes_no_more() -> None:
    """What a copy does is shown in its source, which is in another queue."""
    made = table({"Site1": f"{ROUTE}MaxJobs = 5\nMaxIdleJobs = 5\n"})
    stage = Stage(made, [Site("Site1", slots=1, run_time=200)], two=True)
    (found,) = stage.submit(job())
    fickle = Fickle(stage.destination)
    router = stage.start(None, fickle)
    poll(stage, router)
    fickle.mood = forbidden
    stage.submit(job())
    assert not poll(stage, router)
    poll(stage, router)
    poll(stage, router)
    assert router.jobs[found].copy_id is not None
    assert stage.values(found, "JobStatus") == [2]
