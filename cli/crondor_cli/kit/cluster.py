"""Work shared among the workers of a running Dask cluster (extra ``cluster``)."""

from __future__ import annotations

import logging
import os
import platform
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from contextlib import contextmanager
from importlib import import_module, metadata
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

import click

from crondor.diagnostics import CrondorError, Diagnostic, Source, printable
from crondor.macro.files import FileRefused, Files
from crondor_cli.kit.files import files_of

# Of crondor_cli.kit.parallel, which imports this module.
_FileTask: TypeAlias = Any
_Submit: TypeAlias = "Callable[[list[_FileTask]], Any]"

_Value = TypeVar("_Value")

_PATIENCE: Final = 30  # seconds until a scheduler answers and a worker is available
# Packages that results depend on: the same releases there as here, if installed here.
_ALIKE: Final = ("crondor", "pcre2", "tzdata", "holidays")

# What a check probably asks about, and is answered before: words of these commands, and earlier questions.
_NAMING: Final = re.compile(
    r"(?im)^[ \t]*(?:executable|input|log|output|error|initialdir|transfer_input_files)[ \t]*=(.*)"
)
_WORD: Final = re.compile(r"[^\s,;=\"'()]+")
_MOST_KNOWN: Final = 15
_MOST_REMEMBERED: Final = 300

_release = metadata.version


class ClusterProblem(click.ClickException):
    """A failure of a cluster; the output so far is correct, but may be incomplete."""

    exit_code = 2


class _Answer:
    """The answer of a worker."""

    def __init__(self, future: Any) -> None:  # noqa: ANN401 - distributed has no types
        self._future = future

    def done(self) -> bool:
        """Return whether the result is there."""
        return bool(self._future.done())

    def result(self) -> Any:  # noqa: ANN401
        """Wait for the result; errors of the work itself are part of it. Raises ClusterProblem."""
        with _losses():
            return self._future.result()


@contextmanager
def _losses() -> Iterator[None]:
    """Raise ClusterProblem for all exceptions of distributed in the block."""
    try:
        yield
    except ClusterProblem:
        raise
    except Exception as error:  # noqa: BLE001 - its exceptions have no common base
        message = f"the cluster was lost, and the output is incomplete ({type(error).__name__})"
        raise ClusterProblem(message) from None


class _Question(NamedTuple):
    """A call of a method of Files, for files of a limited size."""

    method: str
    limit: int
    arguments: tuple[str | int, ...]


class _Asked(NamedTuple):
    """The questions of a worker about other files, instead of a result."""

    questions: list[_Question]


class ToldFiles(Files):
    """Files of another machine, known by answers; ``asked`` has the questions without one, as if nothing were there."""

    def __init__(self, path: str, allow_dirs: tuple[str, ...]) -> None:
        """Describe the files that a submit file may read, without an answer."""
        super().__init__((), base=os.path.dirname(path) or ".", is_named_whole=True)
        self._path = path
        self._allow_dirs = allow_dirs
        self.answers: dict[_Question, Any] = {}
        self.asked = _Asked([])

    def answer(self, questions: Iterable[_Question]) -> None:
        """Answer questions, on the machine that has the files."""
        files = files_of(self._path, self._allow_dirs)
        self.answers.update((each, _answered(files, each)) for each in questions)

    def read(self, path: str) -> Source:
        """Return the text of a file. Raises FileRefused, and InvalidText if it is not text."""
        found: Source | None = self._told(None, "read", path)
        if found is None:
            raise FileRefused(Diagnostic("file-missing", f"can't open file {path}"))
        return found

    def kind(self, path: str) -> str:
        """Return ``folder`` or ``file``, empty if nothing is there."""
        return self._told("", "kind", path)

    def is_executable(self, path: str) -> bool | None:
        """Return whether anybody may execute a file, None if there is none."""
        return self._told(None, "is_executable", path)

    def names(self, folder: str, most: int) -> list[str]:
        """Return the names in a folder, none if there are more than ``most``."""
        return self._told([], "names", folder, most)

    def matching(self, pattern: str) -> list[str]:
        """Return the paths that a pattern matches."""
        return self._told([], "matching", pattern)

    def _told(self, nothing: _Value, method: str, *arguments: str | int) -> _Value:
        question = _Question(method, self.limit, arguments)
        if question not in self.answers:
            self.asked.questions.append(question)
            return nothing
        found: _Value | CrondorError = self.answers[question]
        if isinstance(found, CrondorError):
            raise found
        return found

    def _resolved(self, path: str) -> str:
        """Refuse: what the methods above do not ask for would be looked up on this machine."""
        raise NotImplementedError(f"{path} is on another machine")


def _answered(files: Files, question: _Question) -> object:
    """Return what a method of Files returns, or its error."""
    try:
        files = files if question.limit == files.limit else files.limited(question.limit)
        return getattr(files, question.method)(*question.arguments)
    except CrondorError as error:
        return error


class _Sent:
    """Some tasks that were sent to a worker."""

    def __init__(self, tasks: list[_FileTask], submit: _Submit, asked: Counter[_Question]) -> None:
        self._tasks = tasks
        self._submit = submit
        self._asked = asked
        self._made: list[object] = [None] * len(tasks)
        self._left = list(range(len(tasks)))
        self._last: Any = None  # the one with an error, if any
        self._sent = submit(tasks)

    def done(self) -> bool:
        """Return whether the results are there; if there are questions, answer them."""
        while self._left and self._sent.done():
            self._go_on()
        return not self._left

    def result(self) -> Any:  # noqa: ANN401 - as above
        """Wait for the results."""
        while self._left or self._last is None:
            self._go_on()
        return self._last._replace(made=self._made)

    def _go_on(self) -> None:
        """Take the results of a worker, and answer its questions."""
        answer = self._sent.result()
        asking: list[int] = []
        for number, each in zip(self._left, answer.made, strict=False):
            if isinstance(each, _Asked):
                asking.append(number)
                files = self._tasks[number].files
                files.answer(each.questions)
                self._asked.update(each.questions)
            else:
                self._made[number] = each
        if answer.error is not None:
            del self._made[self._left[len(answer.made)] :]
        if answer.error is not None or self._last is None:
            self._last = answer
        self._left = asking
        if asking:
            self._sent = self._submit([self._tasks[number] for number in asking])


class Workers(NamedTuple):
    """The workers of a cluster: ``submit`` sends a task to one, ``size`` returns the number of concurrent tasks."""

    submit: Callable[[Any], Any]
    size: Callable[[], int]


class Cluster:
    """A Dask cluster, by the address of its scheduler."""

    def __init__(self, address: str) -> None:
        """Store the address; nothing is connected."""
        self._address = address
        self._asked: Counter[_Question] = Counter()

    def with_text(self, task: _FileTask, allow_dirs: tuple[str, ...]) -> _FileTask:
        """Return the task for a worker, with answers to likely questions; without a text if it cannot be read."""
        try:
            source = task.read()
        except (CrondorError, click.UsageError):
            return task
        files = ToldFiles(task.path, allow_dirs)
        files.answer(question for question, count in self._asked.most_common(_MOST_KNOWN) if count > 1)
        words = [word for value in _NAMING.findall(source.text) for word in _WORD.findall(value)][:_MOST_KNOWN]
        kinds = [_Question("kind", files.limit, (word,)) for word in {*words, *map(os.path.dirname, words)}]
        files.answer(kinds)
        plain = (each for each in kinds if files.answers[each] == "file")
        files.answer([each._replace(method="is_executable") for each in plain])
        return task._replace(text=source, files=files)

    def asking(self, submit: _Submit) -> _Submit:
        """Return a function that sends tasks to workers, and again with answers as soon as these were asked for."""
        waiting: list[_Sent] = []

        def send(tasks: list[_FileTask]) -> _Sent:
            waiting[:] = [each for each in waiting if not each.done()]
            if len(self._asked) > _MOST_REMEMBERED:
                known = dict(self._asked.most_common(_MOST_KNOWN))
                self._asked.clear()
                self._asked.update(known)
            waiting.append(_Sent(tasks, submit, self._asked))
            return waiting[-1]

        return send

    @contextmanager
    def workers(self, do: Callable[[Any, Any], Any], work: Callable[[Any], Iterable[Any]]) -> Iterator[Workers]:
        """Yield the workers, which call ``do`` with ``work`` and each task; ``work`` is sent to them once.

        Tasks of a lost worker are repeated by another. Raises ClusterProblem for a cluster that does not answer, or
        whose workers have other versions than this process.
        """
        try:
            make: Any = import_module("distributed").Client  # optional, and takes half a second
        except ImportError as error:
            message = f"--cluster needs distributed ({printable(str(error))}): pip install '.[cluster]' in a clone"
            raise ClusterProblem(message) from None
        for name in [*logging.root.manager.loggerDict]:
            if name.startswith("distributed"):
                logging.getLogger(name).setLevel(logging.CRITICAL)  # its failures are raised as errors
        try:
            client = make(self._address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, TypeError, ValueError) as error:  # TypeError: tls:// without its configuration
            reason = f"{error}" or type(error).__name__
            raise ClusterProblem(
                f"no Dask scheduler answers at {printable(self._address)}: {printable(reason)}"
            ) from None
        with client:
            with _losses():
                _check(client)
                sent = client.scatter(work, broadcast=True, hash=False)

            def submit(task: object) -> _Answer:
                with _losses():
                    return _Answer(client.submit(do, sent, task, pure=False))

            yield Workers(submit, lambda: sum(client.nthreads().values()))


def _check(client: Any) -> None:  # noqa: ANN401 - distributed has no types
    """Raise ClusterProblem if there are no workers, or if some differ, with their differences."""
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except (TimeoutError, futures.TimeoutError):
        message = f"the cluster has no worker after {_PATIENCE} s: start one, dask worker ADDRESS"
        raise ClusterProblem(message) from None
    faults = list(_different(client, "Python", platform.python_version(), client.run(platform.python_version)))
    for name in _ALIKE:
        try:
            here = _release(name)
        except metadata.PackageNotFoundError:
            continue
        faults += _different(client, name, here, client.run(metadata.version, name, on_error="return"))
    if faults:
        raise ClusterProblem("the workers need the same versions as this process:\n  " + "\n  ".join(faults))


def _different(client: Any, name: str, here: str, there: dict[str, object]) -> Iterator[str]:  # noqa: ANN401
    """Yield the differences of each worker."""
    if all(found == here for found in there.values()):
        return
    names = client.run(lambda dask_worker: str(dask_worker.name))
    for address, found in sorted(there.items()):
        if found != here:
            worker = printable(names.get(address, ""))
            has = f"it has {printable(found)}" if isinstance(found, str) else "it is missing there"
            yield f"worker {worker} ({printable(address)}): {name} {here} is needed, {has}"
