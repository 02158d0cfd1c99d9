"""Several schedds are asked at the same time, and one that does not answer is not waited for."""

import threading
from collections.abc import Callable, Iterator
from typing import cast

import pytest

from crondor.diagnostics import CrondorError, Diagnostic
from crondor.monitor.watched import Questions, WatchedQueue
from crondor.schedd.live_process import Answer
from crondor.schedd.protocol import Unreachable

LONG = 3600.0  # seconds; who waits so long fails
ANSWER = Answer([], {})


class Queue:
    """A queue whose schedd answers when it may; with ``more`` it is asked twice."""

    def __init__(self, *, answers: bool = True, more: bool = False, is_live: bool = True) -> None:
        """Let it answer, or not."""
        self.may_answer = threading.Event()
        if answers:
            self.may_answer.set()
        self.fault: CrondorError | None = None
        self.heard: list[Answer | CrondorError] = []
        self.asked = 0
        self._more = more
        self._is_live = is_live

    def ask(self) -> Callable[[], Answer] | None:
        """Return the question."""
        return self._question if self._is_live else None

    def _question(self) -> Answer:
        self.asked += 1
        self.may_answer.wait()
        if self.fault is not None:
            raise Unreachable(Diagnostic("schedd-timeout", "it does not answer"))
        return ANSWER

    def hear(self, answer: Answer | CrondorError, _began: float, _ended: float) -> Callable[[], Answer] | None:
        """Take an answer."""
        self.heard.append(answer)
        return self._question if self._more and len(self.heard) % 2 else None

    def be_silent(self) -> None:
        """Take note of a fault."""
        self.fault = Unreachable(Diagnostic("schedd-timeout", "silent"))

    def interrupt(self) -> None:
        """Have it answer."""
        self.may_answer.set()


class Scene:
    """Queues, and the rounds in which they are asked."""

    def __init__(self, *queues: Queue) -> None:
        """Ask nothing yet."""
        self.queues = queues
        self.questions = Questions(cast("list[WatchedQueue]", list(queues)))

    @property
    def silenced(self) -> list[Queue]:
        """Those that did not answer in the last round, and did before."""
        return cast("list[Queue]", self.questions.silenced)

    def round(self, wanted: int, patience: float = LONG) -> list[Queue]:
        """Return the queues of a round in the order of their answers; it is over when so many have come."""
        found: list[Queue] = []
        answers = self.questions.round(patience, lambda: len(found) >= wanted)
        found.extend(cast("Iterator[Queue]", answers))
        return found


@pytest.fixture
def scene() -> Iterator[Callable[..., Scene]]:
    """Return what makes scenes, and end their threads."""
    made: list[Scene] = []

    def make(*queues: Queue) -> Scene:
        made.append(Scene(*queues))
        return made[-1]

    yield make
    for each in made:
        each.questions.close()


def test_all_are_asked_before_any_has_answered(scene: Callable[..., Scene]) -> None:
    """The second one answers first, and the first one when it may."""
    one, two = Queue(answers=False), Queue()
    found: list[Queue] = []
    for each in scene(one, two).questions.round(LONG, lambda: len(found) == 2):
        found.append(cast("Queue", each))
        one.may_answer.set()
    assert found == [two, one]


def test_one_that_does_not_answer_holds_up_no_other(scene: Callable[..., Scene]) -> None:
    """It is waited for once; in later rounds it is not asked anew, and taken when it has answered."""
    one, two = Queue(answers=False), Queue()
    stage = scene(one, two)
    assert stage.round(1) == [two]
    assert (stage.silenced, one.fault is None) == ([one], False)
    assert two in stage.round(1)
    assert (stage.silenced, one.asked) == ([], 1)
    one.may_answer.set()
    found: list[Queue] = []
    while one not in found:
        found += stage.round(2)
    assert isinstance(one.heard[0], Unreachable)


def test_nobody_waits_for_who_was_silent(scene: Callable[..., Scene]) -> None:
    """However long the patience is: a round ends when all the others have answered."""
    one, two = Queue(answers=False), Queue()
    stage = scene(one, two)
    stage.round(1)
    two.may_answer.clear()
    two.fault = one.fault
    assert stage.round(1) == []


def test_what_else_is_to_be_asked_is_asked(scene: Callable[..., Scene]) -> None:
    """Before the look, as for the jobs that have left."""
    one, two = Queue(more=True), Queue()
    assert set(scene(one, two).round(2)) == {one, two}
    assert (len(one.heard), len(two.heard)) == (2, 1)


def test_one_alone_and_one_without_a_schedd_are_asked_by_their_looks(scene: Callable[..., Scene]) -> None:
    """No thread is begun for them."""
    one, two = Queue(), Queue(is_live=False)
    assert scene(one).round(1) == [one]
    assert scene(two, Queue()).round(2)[0] is two
    assert (one.asked, two.asked) == (0, 0)


def test_the_end_waits_for_nobody(scene: Callable[..., Scene]) -> None:
    """What is still asked is interrupted."""
    before = threading.active_count()
    stage = scene(Queue(answers=False), Queue(answers=False))
    assert stage.round(0) == []
    assert threading.active_count() == before + 2
    stage.questions.close()
    assert threading.active_count() == before
