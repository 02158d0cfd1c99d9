"""Work shared out among the workers of a Dask cluster that runs already (extra ``cluster``)."""

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

_PATIENCE: Final = 30  # seconds until a scheduler has answered, and a worker has come
# What answers depend on: the same releases there as here, if they are here.
_ALIKE: Final = ("crondor", "pcre2", "tzdata", "holidays")

_release = metadata.version


class ClusterProblem(click.ClickException):
    """A cluster cannot do the work; what was printed is correct, but may be incomplete."""

    exit_code = 2


class _Answer:
    """What a worker is to answer."""

    def __init__(self, future: Any) -> None:  # noqa: ANN401 - distributed has no types
        self._future = future

    def result(self) -> Any:  # noqa: ANN401
        """Wait for it; errors of the work itself are part of an answer. Raises ClusterProblem."""
        with _losses():
            return self._future.result()


@contextmanager
def _losses() -> Iterator[None]:
    """Raise ClusterProblem for whatever distributed raises in the block."""
    try:
        yield
    except ClusterProblem:
        raise
    except Exception as error:  # noqa: BLE001 - it has many errors, and not one base
        message = f"the cluster was lost, the output is not complete ({type(error).__name__})"
        raise ClusterProblem(message) from None


class Workers(NamedTuple):
    """The workers of a cluster: ``submit`` gives a task to one, ``size`` returns how many tasks run at a time now."""

    submit: Callable[[Any], Any]
    size: Callable[[], int]


@contextmanager
def workers_of(address: str, do: Callable[[Any, Any], Any], work: Callable[[Any], Iterable[Any]]) -> Iterator[Workers]:
    """Give the workers of a scheduler, which call ``do`` with ``work`` and each task; ``work`` is sent to them once.

    Tasks of a worker that is lost are done by another one. Raises ClusterProblem for a cluster that does not answer, or
    whose workers differ from this process in what answers depend on.
    """
    try:
        make: Any = import_module("distributed").Client  # optional, and it takes half a second
    except ImportError as error:
        message = f"--cluster needs distributed ({printable(str(error))}): pip install '.[cluster]' in a clone"
        raise ClusterProblem(message) from None
    for name in [*logging.root.manager.loggerDict]:
        if name.startswith("distributed"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # what it has to say comes as an error
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
    """Raise ClusterProblem where there are no workers, or some that differ, with what each lacks."""
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
    """Yield what is different at each worker."""
    if all(found == here for found in there.values()):
        return
    names = client.run(lambda dask_worker: str(dask_worker.name))
    for address, found in sorted(there.items()):
        if found != here:
            worker = printable(names.get(address, ""))
            has = f"it has {printable(found)}" if isinstance(found, str) else "it is not installed there"
            yield f"worker {worker} ({printable(address)}): {name} {here} is needed, {has}"
