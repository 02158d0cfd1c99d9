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
    """A cluster cannot do the work; nothing of it was printed wrongly."""

    exit_code = 2


class Workers(NamedTuple):
    """The workers of a cluster.

    ``submit`` gives a task to one of them and returns its future; ``size`` is how many tasks run at a time.
    """

    submit: Callable[[Any], Any]
    size: int


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
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what it has to say comes as an error
    try:
        client = make(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = f"{error}" or type(error).__name__
        raise ClusterProblem(f"no Dask scheduler answers at {printable(address)}: {printable(reason)}") from None
    with client:
        _check(client)
        sent = client.scatter(work, broadcast=True, hash=False)
        try:
            yield Workers(lambda task: client.submit(do, sent, task, pure=False), sum(client.nthreads().values()))
        except (futures.CancelledError, OSError) as error:
            raise ClusterProblem(f"the cluster was lost: {printable(str(error)) or type(error).__name__}") from None


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
        raise ClusterProblem("the workers must have what this process has:\n  " + "\n  ".join(faults))


def _different(client: Any, name: str, here: str, there: dict[str, object]) -> Iterator[str]:  # noqa: ANN401
    """Yield what is different at each worker."""
    if all(found == here for found in there.values()):
        return
    names = client.run(lambda dask_worker: str(dask_worker.name))
    for address, found in sorted(there.items()):
        if found != here:
            worker = printable(names.get(address, ""))
            has = f"has {printable(found)}" if isinstance(found, str) else "has none"
            yield f"worker {worker} ({printable(address)}): {name} {here} is needed, it {has}"
