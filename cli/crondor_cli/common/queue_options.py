"""The options that name a queue; nothing of a queue is read here."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from crondor.spec import Dialect

_Function = TypeVar("_Function", bound=Callable[..., None])

VARIABLE = "CRONDOR_QUEUE"
_WAYS = (
    ("live", "--live", "the schedd that runs here"),
    ("log", "--log FILE", "a schedd's job_queue.log"),
    ("ads", "--ads FILE", "what condor_q -long prints"),
    ("queue", "--queue PATH", f"an embedded queue; {VARIABLE} names it too"),
)


class QueueOptions(NamedTuple):
    """The options that name a queue."""

    queue: str | None = None
    log: str | None = None
    live: bool = False
    name: str | None = None
    pool: str | None = None
    ads: str | None = None

    @property
    def kind(self) -> str:
        """``queue``, ``log``, ``live`` or ``ads``. Raises UsageError for none and for more than one."""
        given = {"log": self.log, "live": self.is_live, "ads": self.ads, "queue": self.queue}
        chosen = [kind for kind, value in given.items() if value]
        if len(chosen) > 1:
            named = " and ".join(f"--{kind}" for kind in chosen)
            raise click.UsageError(f"{named} name different queues: choose one", click.get_current_context(silent=True))
        if not chosen and not os.environ.get(VARIABLE):
            raise which_queue(click.get_current_context(silent=True))
        return chosen[0] if chosen else "queue"

    @property
    def is_live(self) -> bool:
        """Say whether a live schedd is named."""
        return bool(self.live or self.name or self.pool)

    @property
    def folder(self) -> Path:
        """Where the embedded queue is."""
        return folder_of(self.queue)

    @property
    def dialect(self) -> Dialect:
        """How Cron attributes are read there: the embedded queue as the manual says, a schedd's as it does itself."""
        return Dialect.MANUAL if self.kind == "queue" else Dialect.HTCONDOR


def folder_of(queue: str | None) -> Path:
    """Return the folder of the embedded queue. Raises UsageError where neither option nor variable names it."""
    given = queue or os.environ.get(VARIABLE)
    if not given:
        raise which_queue(click.get_current_context(silent=True))
    return Path(given)


def which_queue(context: click.Context | None) -> click.UsageError:
    """Return the error for a command that was told no queue, with the options that it has for one."""
    known = {param.name for param in context.command.params} if context is not None else set()
    ways = [f"{option} ({what})" for name, option, what in _WAYS if name in known] or ["--queue PATH"]
    said = f"{', '.join(ways[:-1])} or {ways[-1]}" if len(ways) > 1 else ways[0]
    return click.UsageError(f"name the queue: {said}", context)


def queue_option(function: _Function) -> _Function:
    """Add --queue."""
    help_text = f"The embedded queue's folder (default: {VARIABLE})."
    return click.option("--queue", metavar="PATH", help=help_text)(function)


def source_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add all ways to name a queue to be read, which come as one argument ``asked``."""
    command = click.option("--ads", metavar="FILE", help="Ads as condor_q prints them; - reads standard input.")(
        _asking(function)
    )
    return queue_option(_log_option(_live_options(command)))


def queue_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the ways to name a queue to be read but --ads, which come as one argument ``asked``."""
    return queue_option(_log_option(_live_options(_asking(function, ads=False))))


def schedd_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the ways to name a queue that can be written, which come as one argument ``asked``."""
    return queue_option(_live_options(_asking(function)))


def live_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the ways to name a live schedd, which come as one argument ``asked``."""
    return _live_options(_asking(function))


def _asking(function: Callable[..., None], *, ads: bool = True) -> Callable[..., None]:
    """Put the options that name a queue together."""
    names = [field for field in QueueOptions._fields if ads or field != "ads"]

    @wraps(function)
    def command(*args: object, **options: Any) -> None:  # noqa: ANN401 - as click has read them
        asked = QueueOptions(**{name: options.pop(name) for name in names if name in options})
        function(*args, asked=asked, **options)

    return command


def _log_option(function: _Function) -> _Function:
    return click.option("--log", metavar="FILE", help="A schedd's job_queue.log, read only.")(function)


def _live_options(function: _Function) -> _Function:
    """Add --live, --name and --pool."""
    function = click.option("--pool", metavar="HOST", help="With --live: the collector of another pool.")(function)
    function = click.option("--name", metavar="NAME", help="With --live: the schedd of this name.")(function)
    return click.option("--live", is_flag=True, help="The schedd that runs here (needs the htcondor package).")(
        function
    )


def constraint_option(function: _Function) -> _Function:
    """Add --constraint."""
    help_text = "Only jobs for which this expression is true."
    return click.option("--constraint", metavar="EXPR", help=help_text)(function)
