"""Work shared out among processes, and values on their way between them."""

from __future__ import annotations

import copyreg
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import wait
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

import click
from click.core import ParameterSource

from crondor_cli.kit.progress import PROGRESS, THREAD
from crondor_cli.kit.settings import MOST_JOBS

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess


_Item = TypeVar("_Item")
_Task = TypeVar("_Task")
_Made = TypeVar("_Made")
_Function = TypeVar("_Function", bound=Callable[..., None])

_MOST_UNASKED: Final = 8  # processes without --jobs: more are waiting for the one that reads and writes
_UNSAFE: Final = ("darwin", "emscripten", "wasi")
_AHEAD: Final = 2  # results a process may be ahead of the one that is waited for


class ForMuch(int):
    """How many processes share the work where there is much of it, as settings say; little of it is done by one."""

    __slots__ = ()


def _asked(context: click.Context, param: click.Parameter, jobs: int | None) -> int | None:
    """Tell a number of the settings from one that was asked for."""
    is_set = context.get_parameter_source(param.name or "") is ParameterSource.DEFAULT_MAP
    return ForMuch(jobs) if jobs is not None and is_set else jobs


def jobs_option(function: _Function) -> _Function:
    """Add --jobs N, as ``jobs``: None where it was not given, ForMuch where the settings say it."""
    return click.option(
        "--jobs",
        type=click.IntRange(1, MOST_JOBS),
        metavar="N",
        callback=_asked,
        help="Processes that share the work (default: the processors for much of it, else 1).",
    )(function)


class Alone(Generic[_Made]):
    """A task that this process does by itself, in its turn; the tasks behind it wait for that."""

    def __init__(self, work: Callable[[], Iterable[_Made]]) -> None:
        """Take what does it."""
        self.work = work


class WorkerLost(click.ClickException):
    """A process that shares the work has ended before its time: what it had is not done."""

    exit_code = 2

    def __init__(self, status: int | None) -> None:
        """Take its exit status, negative the number of a signal."""
        how = f"was ended with status {status}"
        if status is not None and status < 0:
            with suppress(ValueError):
                how = f"was killed by {signal.Signals(-status).name}"
        message = f"a process of --jobs {how}: the output ends before what it was given"
        super().__init__(f"{message}; if memory ran out, try --jobs 1")


def processors() -> int:
    """Return how many processors this process may use."""
    if sys.version_info >= (3, 13):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processes(jobs: int | None) -> int:
    """Return how many processes share much work: those asked for or set, else one for each processor."""
    if not _may_fork():
        return 1
    return min(processors(), _MOST_UNASKED) if jobs is None else jobs


def _may_fork() -> bool:
    """Say whether this process can be forked, and loses no thread by that but the one that draws."""
    if not hasattr(os, "fork") or sys.platform in _UNSAFE:
        return False
    return len([each for each in threading.enumerate() if each.name != THREAD]) == 1


class Sharing(Generic[_Task, _Made]):
    """How tasks are done: ``work`` yields what it makes of one, which can be pickled.

    The first tasks are done here: ``few`` of them, only one where processes were asked for. ``on_task`` is told of each
    task before what was made of it is yielded.
    """

    def __init__(
        self, work: Callable[[_Task], Iterable[_Made]], *, few: int, on_task: Callable[[_Task], object] | None = None
    ) -> None:
        """Take what does them."""
        self.work = work
        self.on_task = on_task or _nobody
        self._few = few

    def in_order(self, tasks: Iterable[_Task | Alone[_Made]], jobs: int | None = None) -> Generator[_Made, None, None]:
        """Yield all that is made of tasks, in their order.

        Close it (``closing``) if it is not read to its end. Raises what a task raises, and WorkerLost.
        """
        left = iter(tasks)
        many = processes(jobs)
        here = None if many == 1 else self._few if _is_unasked(jobs) else 1
        for task in left:
            if isinstance(task, Alone):
                yield from task.work()
                continue
            if here is not None and not here:
                with _Crew(self, many) as crew:
                    if crew.has_any:
                        yield from crew.results(task, left)
                        return
                here = None
            self.on_task(task)
            yield from self.work(task)
            here = None if here is None else here - 1


def _is_unasked(jobs: int | None) -> bool:
    return jobs is None or isinstance(jobs, ForMuch)


def _nobody(_task: object) -> None:
    """Tell nobody of a task."""


def of_many(
    work: Callable[[_Item], _Made],
    items: Iterable[_Item],
    jobs: int | None,
    *,
    least: int,
    together: int,
    is_own: Callable[[_Item], bool],
) -> Generator[_Made, None, None]:
    """Yield what ``work`` makes of each of many items, in their order; the first are done here.

    Where ``jobs`` were not asked for there are other processes from ``least`` items on. Each gets so many ``together``,
    fewer where there are few in all; what ``is_own`` says is of this process (it reads standard input) is done here.
    Raises as Sharing.in_order() does.
    """
    all_of_them = list(items)
    many = 1 if _is_unasked(jobs) and len(all_of_them) < least else processes(jobs)
    size = max(1, min(together, len(all_of_them) // (4 * many)))

    def work_all(some: list[_Item]) -> Iterator[_Made]:
        return map(work, some)

    def tasks() -> Iterator[list[_Item] | Alone[_Made]]:
        some: list[_Item] = []
        for item in all_of_them:
            if some and (len(some) >= size or is_own(item)):
                yield some
                some = []
            if is_own(item):
                yield Alone(partial(work_all, [item]))
            else:
                some.append(item)
        if some:
            yield some

    return Sharing(work_all, few=1).in_order(tasks(), many)


class _Answer(NamedTuple):
    """What was made of a task, and what was raised behind it."""

    made: list[Any]
    error: BaseException | None = None


class _Worker(NamedTuple):
    """A process and the pipe to it."""

    process: ForkProcess
    pipe: Connection


class _Crew(Generic[_Task, _Made]):
    """Some processes that wait for tasks."""

    def __init__(self, sharing: Sharing[_Task, _Made], size: int) -> None:
        """Take what they do, and how many there are."""
        self._sharing = sharing
        self._size = size
        self._idle: list[_Worker] = []
        self._busy: dict[Connection, tuple[_Worker, int]] = {}
        self._done: dict[int, _Answer] = {}

    def __enter__(self) -> _Crew[_Task, _Made]:
        """Fork the processes."""
        fork = get_context("fork")
        with PROGRESS.resting(), _held_back():
            for _ in range(self._size):
                ours, theirs = fork.Pipe()
                others = [ours, *(each.pipe for each in self._idle)]
                process = fork.Process(target=self._serve, args=(theirs, others), daemon=True)
                try:
                    process.start()
                except OSError:  # this user has too many processes, or memory is short: fewer will do
                    ours.close()
                    theirs.close()
                    break
                theirs.close()
                self._idle.append(_Worker(process, ours))
        return self

    @property
    def has_any(self) -> bool:
        """Whether any process waits for a task."""
        return bool(self._idle)

    def __exit__(self, *_error: object) -> None:
        """End all of them, whatever they do."""
        workers = [*self._idle, *(worker for worker, _ in self._busy.values())]
        for each in workers:
            each.process.terminate()
            each.pipe.close()
        for each in workers:
            each.process.join()

    def results(self, first: _Task, left: Iterator[_Task | Alone[_Made]]) -> Iterator[_Made]:
        """Yield what is made of each task."""
        task: _Task | Alone[_Made] | None = first
        given = told = 0
        waiting: dict[int, _Task] = {}
        most = _AHEAD * self._size
        while task is not None or told < given:
            while task is not None and not isinstance(task, Alone) and self._idle and given - told < most:
                waiting[given] = task
                self._give(given, task)
                given += 1
                task = _following(left)
            if told in self._done:
                answer = self._done.pop(told)
                self._sharing.on_task(waiting.pop(told))
                told += 1
                yield from answer.made
                if answer.error is not None:
                    raise answer.error
            elif isinstance(task, Alone) and told == given:
                yield from task.work()
                task = _following(left)
            else:
                self._take()

    def _give(self, number: int, task: _Task) -> None:
        worker = self._idle.pop()
        self._busy[worker.pipe] = worker, number
        with suppress(OSError):  # it has ended: whoever waits for its answer finds out
            worker.pipe.send_bytes(_to_bytes(task))

    def _take(self) -> None:
        """Wait for an answer."""
        pipe = next(iter(wait(list(self._busy))))
        worker, number = self._busy[pipe]  # type: ignore[index]  # of the pipes that were given
        try:
            answer = worker.pipe.recv_bytes()
        except (EOFError, OSError):
            worker.process.join()
            self._done[number] = _Answer([], WorkerLost(worker.process.exitcode))
        else:
            self._done[number] = _from_bytes(answer)
            self._idle.append(worker)
        del self._busy[worker.pipe]

    def _serve(self, pipe: Connection, others: Iterable[Connection]) -> None:
        """Do tasks until the pipe is closed: what runs in a process of the crew."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one that gives the tasks says so, and ends this one
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        for each in others:
            each.close()
        with suppress(EOFError, OSError):
            while True:
                pipe.send_bytes(self._answer(pipe.recv_bytes()))
        os._exit(0)  # what stands in a buffer of the other process is not written twice

    def _answer(self, task: bytes) -> bytes:
        made: list[_Made] = []
        problem: Exception | None = None
        try:
            made.extend(self._sharing.work(_from_bytes(task)))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is raised where its turn is known
            problem = _sendable(error)
        try:
            return _to_bytes(_Answer(made, problem))
        except Exception as error:  # noqa: BLE001 - what was made holds something that cannot be sent
            return _to_bytes(_Answer([], _sendable(error)))


def _following(left: Iterator[_Task | Alone[_Made]]) -> _Task | Alone[_Made] | None:
    """Return the next task, None behind the last; what is raised on the way to it is raised in its turn."""
    try:
        return next(left, None)
    except Exception as error:  # noqa: BLE001 - an input that cannot be read further, for one
        problem = error

    def fail() -> Iterable[_Made]:
        raise problem

    return Alone(fail)


class _held_back:  # noqa: N801 - a block, as contextlib has them
    """A block in which Ctrl-C waits, so that no process that is being forked meets it."""

    def __enter__(self) -> None:
        self._before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])

    def __exit__(self, *_error: object) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)


def _mapping(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


copyreg.pickle(MappingProxyType, lambda view: (_mapping, (dict(view),)))  # pickle knows none


def _to_bytes(value: object) -> bytes:
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def _from_bytes(data: bytes) -> Any:  # noqa: ANN401 - whatever was sent
    return pickle.loads(data)  # noqa: S301 - bytes come from the processes of this command alone


def _sendable(error: Exception) -> Exception:
    """Return an error, or its words where it holds what cannot be sent."""
    try:
        _from_bytes(_to_bytes(error))
    except Exception:  # noqa: BLE001 - whatever an error holds
        return click.ClickException(f"{type(error).__name__}: {error}")
    return error
