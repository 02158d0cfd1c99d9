"""Work shared among the workers of a running Dask cluster (extra ``cluster``)."""

from __future__ import annotations

import logging
import platform
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from contextlib import contextmanager
from importlib import import_module, metadata
from typing import Any, Final, NamedTuple

import click

from crondor.diagnostics import printable

_PATIENCE: Final = 30  # seconds until a scheduler answers and a worker is available
# Packages that results depend on: the same releases there as here, if installed here.
_ALIKE: Final = ("crondor", "pcre2", "tzdata", "holidays")

_release = metadata.version


class ClusterProblem(click.ClickException):
    """A failure of a cluster; the output so far is correct, but may be incomplete."""

    exit_code = 2


class _Answer:
    """The answer of a worker."""

    def __init__(self, future: Any) -> None:  # noqa: ANN401 - distributed has no types
        self._future = future

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


class Workers(NamedTuple):
    """The workers of a cluster: ``submit`` sends a task to one, ``size`` returns the number of concurrent tasks."""

    submit: Callable[[Any], Any]
    size: Callable[[], int]


@contextmanager
def workers_of(address: str, do: Callable[[Any, Any], Any], work: Callable[[Any], Iterable[Any]]) -> Iterator[Workers]:
    """Yield the workers of a scheduler, which call ``do`` with ``work`` and each task; ``work`` is sent to them once.

    Tasks of a lost worker are repeated by another. Raises ClusterProblem for a cluster that does not answer, or whose
    workers have other versions than this process.
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
        client = make(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, TypeError, ValueError) as error:  # TypeError: tls:// without its configuration
        reason = f"{error}" or type(error).__name__
        raise ClusterProblem(f"no Dask scheduler answers at {printable(address)}: {printable(reason)}") from None
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
