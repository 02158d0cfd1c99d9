"""Query all watched queues at once, so that a slow schedd does not delay the others."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from crondor.diagnostics import CrondorError
from crondor.monitor.watched import WatchedQueue
from crondor.schedd.live import Question
from crondor.schedd.live_process import Answer

PATIENCE: Final = 20.0
"""Seconds that a round waits for a schedd that answered the last time, or was never asked."""

_SLICE: Final = 0.5  # seconds between checks whether to end
_END: Final = 5.0  # seconds to wait for a thread after its worker was ended


# A query waits for another process, and its thread does nothing but wait. Answers are processed by the one thread that
# makes the looks.
class _Answered(NamedTuple):
    queue: WatchedQueue
    answer: Answer | CrondorError | None
    began: float
    ended: float


class Questions:
    """Queries queues round by round; a single queue, or one without a schedd, is queried by its look.

    ``silenced`` are those that did not answer in the last round, but did before.
    """

    def __init__(self, queues: Sequence[WatchedQueue]) -> None:
        """Start no queries yet."""
        self.silenced: list[WatchedQueue] = []
        self._queues = queues
        self._busy: dict[WatchedQueue, threading.Thread] = {}
        self._answered: queue.SimpleQueue[_Answered] = queue.SimpleQueue()

    def round(self, patience: float, is_over: Callable[[], bool]) -> Iterator[WatchedQueue]:
        """Query all queues, and yield each one that can be looked at; queues that have not answered are skipped.

        Pending queries are not repeated; ``patience`` is in seconds, and a queue that did not answer the last time is
        not waited for. ``is_over`` is called repeatedly, and ends the waiting.
        """
        for each in self._queues:
            if each in self._busy:
                continue
            question = each.ask() if len(self._queues) > 1 else None
            if question is None:
                yield each
            else:
                self._ask(each, question)
        end = time.monotonic() + patience
        while not is_over():
            is_awaited = any(each.fault is None for each in self._busy)
            left = end - time.monotonic() if is_awaited else 0.0
            try:
                found = self._answered.get(block=left > 0, timeout=min(_SLICE, left) if left > 0 else None)
            except queue.Empty:
                if left > 0:
                    continue
                break
            if self._is_done(found):
                yield found.queue
        self.silenced = [each for each in self._busy if each.fault is None]
        for each in self.silenced:
            each.be_silent()

    def close(self) -> None:
        """End the pending queries."""
        for each, thread in self._busy.items():
            each.interrupt()
            thread.join(_END)
        self._busy.clear()

    def _is_done(self, found: _Answered) -> bool:
        """Process an answer, and return whether nothing else must be queried."""
        del self._busy[found.queue]
        answer = found.answer
        question = None if answer is None else found.queue.hear(answer, found.began, found.ended)
        if question is not None:
            self._ask(found.queue, question)
        return question is None

    def _ask(self, asked: WatchedQueue, question: Question) -> None:
        def work() -> None:
            began = time.monotonic()
            answer: Answer | CrondorError | None = None
            try:
                answer = question()
            except CrondorError as error:
                answer = error
            finally:
                self._answered.put(_Answered(asked, answer, began, time.monotonic()))

        thread = threading.Thread(target=work, daemon=True)
        self._busy[asked] = thread
        thread.start()
