"""The queues of a router on the command line: sources, copies, and the files that it has beside them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from crondor.router import RoutingTable
from crondor_cli.common.queue_options import QueueOptions, folder_of
from crondor_cli.common.state import state_folder

_Function = TypeVar("_Function", bound=Callable[..., None])


def destination_options(function: _Function) -> _Function:
    """Add --destination-queue, --destination-name and --destination-pool."""
    for add in (
        click.option("--destination-pool", metavar="HOST", help="The collector of its pool."),
        click.option("--destination-name", metavar="NAME", help="Copies go to the live schedd of this name."),
        click.option("--destination-queue", metavar="PATH", help="Copies go into this embedded queue."),
    ):
        function = add(function)
    return function


def destination_of(
    source: QueueOptions,
    table: RoutingTable,
    queue: str | None,
    name: str | None,
    pool: str | None,
    log: str | None = None,
) -> QueueOptions | None:
    """Return the queue of the copies, None where it is that of the sources.

    Between live schedds JOB_ROUTER_SCHEDD2_NAME and JOB_ROUTER_SCHEDD2_POOL say it if no option does. Raises
    UsageError.
    """
    if all(option is None for option in (queue, name, pool, log)):
        return _configured(source, table)
    asked = QueueOptions(queue, log, bool(name or pool), name, pool)
    if len([each for each in (queue, name or pool, log) if each]) > 1:
        raise click.UsageError("the --destination options name different queues: choose one")
    if asked.kind == source.kind == "queue" and folder_of(asked.queue).resolve() == folder_of(source.queue).resolve():
        return None
    return asked


def _configured(source: QueueOptions, table: RoutingTable) -> QueueOptions | None:
    """Return the live schedd of the copies that the configuration names, if any."""
    contact = table.settings.destination_schedd
    if source.kind != "live" or not (contact.name or contact.pool):
        return None
    return QueueOptions(None, name=contact.name or None, pool=contact.pool or None, live=True)


def source_of(asked: QueueOptions, table: RoutingTable) -> QueueOptions:
    """Return the queue of the sources: --live alone is JOB_ROUTER_SCHEDD1_NAME and JOB_ROUTER_SCHEDD1_POOL."""
    contact = table.settings.source_schedd
    if asked.kind != "live" or asked.name or asked.pool:
        return asked
    return asked._replace(name=contact.name or None, pool=contact.pool or None)


def lock_path(asked: QueueOptions, table: RoutingTable) -> Path:
    """Return JOB_ROUTER_LOCK, else a file beside the embedded queue, or of a live one in the user's state folder.

    Its default is $(LOCK)/..., which is a file in the root folder where the configuration does not say LOCK.
    """
    settings = table.settings
    path = Path(settings.lock)
    if not settings.lock or path.parent == Path(path.anchor):
        folder = state_folder("queue", "JOB_ROUTER_LOCK") if asked.kind == "live" else folder_of(asked.queue)
        return folder / f"{settings.name}Lock"
    return path


def report_path(lock: Path) -> Path:
    """Return where the router that holds a lock leaves how it stands."""
    return lock.with_name(f"{lock.name}.status")
