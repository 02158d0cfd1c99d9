"""Work shared among processes or the workers of a cluster, and the transfer of values between them."""

from __future__ import annotations

import copyreg
import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent import futures
from contextlib import contextmanager
from functools import partial
from itertools import chain
from multiprocessing import active_children, get_context, parent_process
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

import click
from click.core import ParameterSource

from crondor.diagnostics import Source
from crondor.knowledge.kinds import FileKind
from crondor_cli.kit.files import read_source
from crondor_cli.kit.options import MOST_JOBS, gathered
from crondor_cli.kit.progress import PROGRESS, THREAD

if TYPE_CHECKING:
    from crondor_cli.kit.cluster import Cluster, ToldFiles

_Item = TypeVar("_Item")
_Task = TypeVar("_Task")
_Made = TypeVar("_Made")
_Function = TypeVar("_Function", bound=Callable[..., None])

_MOST_UNASKED: Final = 8  # processes without --jobs: more would wait for the one that reads and writes
_UNSAFE: Final = ("darwin", "emscripten", "wasi")
_AHEAD: Final = 3  # tasks per process that are submitted ahead


class ForMuch(int):
    """A number of processes for large inputs, from the settings; small inputs use one process."""

    __slots__ = ()


class OnCluster(int):
    """Work by the workers of a Dask cluster, for any input."""

    cluster: Cluster


def _asked(context: click.Context, param: click.Parameter, jobs: int | None) -> int | None:
    """Distinguish a number from the settings from one on the command line."""
    is_set = context.get_parameter_source(param.name or "") is ParameterSource.DEFAULT_MAP
    return ForMuch(jobs) if jobs is not None and is_set else jobs


def jobs_option(function: _Function) -> _Function:
    """Add --jobs N, as ``jobs``: None if not given, ForMuch if from the settings."""
    return click.option(
        "--jobs",
        type=click.IntRange(1, MOST_JOBS),
        metavar="N",
        callback=_asked,
        help="Processes to use (default: all processors for large inputs, else 1).",
    )(function)


def _sharing(jobs: int | None, cluster: str | None) -> int | None:
    if cluster is None:
        return jobs
    if not _is_unasked(jobs):
        raise click.UsageError("--jobs uses processes on this machine, and --cluster a Dask cluster: choose one")
    from crondor_cli.kit.cluster import Cluster  # noqa: PLC0415 - 25 ms, for few

    made = OnCluster(1)
    made.cluster = Cluster(cluster)
    return made


sharing_options = gathered(
    "jobs",
    _sharing,
    jobs_option,
    click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Share the work among the workers of this Dask scheduler; all files are read here.",
    ),
)
"""--jobs N and --cluster ADDRESS, as ``jobs``."""


class Alone(Generic[_Made]):
    """A task that this process does itself, in order; later tasks wait for it."""

    def __init__(self, work: Callable[[], Iterable[_Made]]) -> None:
        self.work = work


class WorkerLost(click.ClickException):
    """A process that shares the work was killed: its tasks are not done."""

    exit_code = 2

    def __init__(self) -> None:
        message = "a process of --jobs was killed: the output is incomplete"
        super().__init__(f"{message}; if memory ran out, try --jobs 1")


def processors() -> int:
    """Return the number of processors available to this process."""
    if sys.version_info >= (3, 13):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processes(jobs: int | None) -> int:
    """Return the number of processes for large inputs: as requested or set, else one per processor."""
    if not _may_fork():
        return 1
    return min(processors(), _MOST_UNASKED) if jobs is None else jobs


def _may_fork() -> bool:
    """Return whether this process can fork without losing a thread, except the one that draws progress."""
    if not hasattr(os, "fork") or sys.platform in _UNSAFE:
        return False
    return len([each for each in threading.enumerate() if each.name != THREAD]) == 1


class Answer(NamedTuple):
    """The results of a task, and the exception after them."""

    made: list[Any]
    error: Exception | None = None


Submit: TypeAlias = "Callable[[_Task], futures.Future[Answer]]"


class Sharing(Generic[_Task, _Made]):
    """Runs tasks: ``work`` yields the results of a task, which must be picklable.

    The first tasks are done here: ``few`` of them, only one if processes were requested. ``on_task`` is called with
    each task before its results are yielded. ``asking`` gets the function that sends a task to a worker of a cluster,
    and returns one that also answers the worker's questions.
    """

    def __init__(
        self,
        work: Callable[[_Task], Iterable[_Made]],
        *,
        few: int,
        on_task: Callable[[_Task], object] | None = None,
        asking: Callable[[Submit[_Task]], Submit[_Task]] | None = None,
    ) -> None:
        self.work = work
        self.on_task = on_task or _nobody
        self._few = few
        self._asking = asking

    def in_order(self, tasks: Iterable[_Task | Alone[_Made]], jobs: int | None = None) -> Generator[_Made, None, None]:
        """Yield all results of tasks, in order.

        Close it (``closing``) if it is not exhausted. Raises what a task raises, and WorkerLost.
        """
        left = iter(tasks)
        if isinstance(jobs, OnCluster):
            with jobs.cluster.workers(_answer_with, self.work) as workers:
                submit = workers.submit if self._asking is None else self._asking(workers.submit)
                yield from self._by_others(left, submit, workers.size)
            return
        many = processes(jobs)
        here = None if many == 1 else self._few if _is_unasked(jobs) else 1
        for task in left:
            if not isinstance(task, Alone) and here is not None:
                if not here:
                    yield from self._shared(chain((task,), left), many)
                    return
                here -= 1
            yield from self._done(task)

    def _done(self, task: _Task | Alone[_Made]) -> Iterator[_Made]:
        """Yield the results of a task done here."""
        if isinstance(task, Alone):
            yield from task.work()
            return
        self.on_task(task)
        yield from self.work(task)

    def _shared(self, tasks: Iterator[_Task | Alone[_Made]], many: int) -> Iterator[_Made]:
        """Yield the results of tasks done by several processes."""
        with _pool(self.work, many) as pool:
            if pool is None:
                for each in tasks:
                    yield from self._done(each)
                return
            yield from self._by_others(tasks, lambda task: pool.submit(_answer, task), lambda: many)

    def _by_others(
        self, tasks: Iterator[_Task | Alone[_Made]], submit: Submit[_Task], size: Callable[[], int]
    ) -> Iterator[_Made]:
        waiting: deque[tuple[_Task, futures.Future[Answer]]] = deque()
        many = size()
        for task in _with_failure(tasks):
            while waiting and (isinstance(task, Alone) or len(waiting) >= _AHEAD * many):
                yield from self._taken(*waiting.popleft())
                many = size()
            if isinstance(task, Alone):
                yield from task.work()
            else:
                waiting.append((task, submit(task)))
        while waiting:
            yield from self._taken(*waiting.popleft())

    def _taken(self, task: _Task, answer: futures.Future[Answer]) -> Iterator[_Made]:
        """Yield the results of another process for a task."""
        made, error = answer.result()
        self.on_task(task)
        yield from made
        if error is not None:
            raise error


def _is_unasked(jobs: int | None) -> bool:
    return jobs is None or isinstance(jobs, ForMuch)


def _nobody(_task: object) -> None:
    """Ignore a task."""


class FileTask(NamedTuple):
    """A submit file to work on; a worker of a cluster gets its text, and what it may know of other files."""

    path: str
    text: Source | None = None
    files: ToldFiles | None = None

    def read(self, *, dags: bool = False) -> Source:
        """Return the text, with ``dags`` also of a DAG. Raises CrondorError, and UsageError if it cannot be read."""
        return read_source(self.path, FileKind.SUBMIT, dags=dags) if self.text is None else self.text

    @property
    def has_asked(self) -> bool:
        """Whether an answer about a file was missing: results until now do not count."""
        return self.files is not None and bool(self.files.asked.questions)


def of_files(
    work: Callable[[FileTask], _Made],
    paths: Iterable[str],
    allow_dirs: tuple[str, ...],
    jobs: int | None,
    *,
    least: int,
    together: int,
) -> Generator[_Made, None, None]:
    """Yield the results of ``work`` for many submit files, in order; the first are done here.

    If ``jobs`` were not requested, other processes are used from ``least`` files on. Each gets ``together`` files at a
    time, fewer if there are few in all; standard input, and for a cluster a file that cannot be read, are done here.
    Raises as Sharing.in_order() does.
    """
    all_paths = list(paths)
    cluster = jobs.cluster if isinstance(jobs, OnCluster) else None
    if cluster is None:
        jobs = 1 if _is_unasked(jobs) and len(all_paths) < least else processes(jobs)
    size = max(1, min(together, len(all_paths) // (4 * (jobs or 1))))

    def tasks() -> Iterator[list[FileTask] | Alone[_Made]]:
        some: list[FileTask] = []
        for path in all_paths:
            task = FileTask(path)
            if cluster is not None and path != "-" and not path.endswith(".dag"):
                task = cluster.with_text(task, allow_dirs)
            is_own = path == "-" or (cluster is not None and task.text is None)
            if some and (len(some) >= size or is_own):
                yield some
                some = []
            if is_own:
                yield Alone(partial(map, work, [task]))
            else:
                some.append(task)
        if some:
            yield some

    sharing = Sharing(partial(_of_each, work), few=1, asking=None if cluster is None else cluster.asking)
    return sharing.in_order(tasks(), jobs)


def _of_each(work: Callable[[FileTask], _Made], tasks: list[FileTask]) -> Iterator[Any]:
    """Yield the results, and questions in place of those that depend on them."""
    for each in tasks:
        made = work(each)
        yield each.files.asked if each.files is not None and each.has_asked else made


_WORK: list[Callable[[Any], Iterable[Any]]] = []  # the function for tasks, in a process that shares the work


def _begin(work: Callable[[Any], Iterable[Any]]) -> None:
    """Prepare a process that shares the work: it inherits ``work`` by forking, and ends with its parent."""
    _WORK[:] = [work]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _answer(task: object) -> Answer:
    return _answer_with(_WORK[0], task)


def _answer_with(work: Callable[[Any], Iterable[Any]], task: object) -> Answer:
    made: list[object] = []
    try:
        made.extend(work(task))
    except Exception as error:  # noqa: BLE001 - raised in the parent, in order
        return Answer(made, _sendable(error))
    return Answer(made)


@contextmanager
def _pool(work: Callable[[Any], Iterable[Any]], size: int) -> Iterator[futures.Executor | None]:
    """Yield ``size`` forked processes, which end with the block; None if the system allows no more."""
    pool = futures.ProcessPoolExecutor(size, get_context("fork"), initializer=_begin, initargs=(work,))
    try:
        with PROGRESS.resting(), _held_back():
            pool.submit(os.getpid)  # the first task forks all processes
    except OSError:  # too many processes, or no memory
        _end(pool)
        yield None
        return
    try:
        yield pool
    except futures.BrokenExecutor:
        raise WorkerLost from None
    finally:
        _end(pool)


def _end(pool: futures.Executor) -> None:
    pool.shutdown(wait=False, cancel_futures=True)
    for each in active_children():
        each.terminate()
        each.join()


def _with_failure(tasks: Iterator[_Item]) -> Iterator[_Item | Alone[Any]]:
    """Yield tasks; an exception in between is raised in order."""
    try:
        yield from tasks
    except Exception as error:  # noqa: BLE001 - such as an unreadable input
        problem = error

        def fail() -> Iterable[Any]:
            raise problem

        yield Alone(fail)


class _held_back:  # noqa: N801 - used like the blocks of contextlib
    """A block in which Ctrl-C waits, so that it does not hit a process during the fork."""

    def __enter__(self) -> None:
        self._before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])

    def __exit__(self, *_error: object) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)


def _mapping(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


copyreg.pickle(MappingProxyType, lambda view: (_mapping, (dict(view),)))  # pickle does not support it


def _sendable(error: Exception) -> Exception:
    """Return an error, or its text if it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - created here
    except Exception:  # noqa: BLE001 - depends on the contents of the error
        return click.ClickException(f"{type(error).__name__}: {error}")
    return error
