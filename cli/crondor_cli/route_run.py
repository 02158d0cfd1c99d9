"""`crondor route run`: a job router over an embedded queue or a live schedd."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crondor.classad.scope import Context
from crondor.config import Configuration
from crondor.diagnostics import CrondorError, Severity
from crondor.job_queue.faults import refused_by_disk
from crondor.router import RoutingTable
from crondor.router.life import Entry, HookDesk, Options, Router, RouterLock, UserLogs
from crondor_cli.options import Clock, clock_of, clock_options
from crondor_cli.route_files import FileOptions, file_options
from crondor_cli.route_options import config_option, legacy_option, load_config, show_faults, table_of
from crondor_cli.schedd_queue import (
    Asked,
    embedded_of,
    folder_of,
    live_of,
    live_options,
    no_queue,
    opened,
    queue_option,
)
from crondor_cli.show import show_error
from crondor_cli.waking import Waker

if TYPE_CHECKING:
    from crondor.schedd.embedded import EmbeddedSchedd
    from crondor.schedd.protocol import Schedd

EPILOG = """\b
Examples:
  crondor route run --config 50-routes.conf --queue ./queue --once --dry-run
  crondor route run --config 50-routes.conf --live
  crondor route run --config 50-routes.conf --wait-for-gates --log-format json

SIGHUP reads the configuration anew; one that cannot be used leaves the old one in force, and says why. SIGTERM and
Ctrl-C end the router between two polls: its jobs stay as they are, and the next router of this name goes on with them.

Exit status: 0 ended as it was told, 1 a finding (routing switched off, with --once a schedd that does not answer, a
router of this name is running), 2 wrong usage."""

_STAYS = "the routing table stays as it was"


@click.command("run", epilog=EPILOG, short_help="Run a job router over a queue.")
@config_option
@legacy_option
@queue_option
@live_options
@click.option("--once", is_flag=True, help="Make one poll and end.")
@click.option("--dry-run", is_flag=True, help="Say what the next poll would do; nothing is written.")
@click.option("--wait-for-gates", is_flag=True, help="Take crontab and deferral jobs only when a run's gate opens.")
@click.option("--owner", metavar="USER", help="Take this user's jobs only, as a router that is not root.")
@click.option("--uid-domain", default="", metavar="DOMAIN", help="For the copies' User (default: the source's).")
@click.option("--user-logs", metavar="DIR", help="Write the jobs' user logs at or below this folder.")
@click.option("--hooks", is_flag=True, help="Run the hooks that the configuration names.")
@file_options
@click.option("--log-format", type=click.Choice(["text", "json"]), default="text", help="How to say what is done.")
@clock_options
def command(
    config: tuple[str, ...],
    allow_dirs: tuple[str, ...],
    legacy: bool,
    queue: str | None,
    live: bool,
    name: str | None,
    pool: str | None,
    once: bool,
    dry_run: bool,
    wait_for_gates: bool,
    owner: str | None,
    uid_domain: str,
    user_logs: str | None,
    hooks: bool,
    spool: str | None,
    files_dirs: tuple[str, ...],
    token_issuer: str | None,
    log_format: str,
    now: str | None,
    tz: str | None,
) -> None:
    """Route the jobs of a queue: take them over, submit their copies, keep both together, and clean up."""
    if now is not None and not (once or dry_run):
        raise click.UsageError("--now is for --once and --dry-run: a router that runs goes by the clock")
    asked = Asked(queue, None, live, name, pool)
    clock = clock_of(now, tz)
    context = Context(now=clock.now, zone=clock.zone)

    knobs = _Knobs()

    def load() -> RoutingTable:
        configuration = load_config(config, allow_dirs, context)
        made = table_of(configuration, config, allow_dirs, context, legacy=legacy)
        if made.is_enabled:
            knobs.configuration = configuration
        return made

    table = load()
    show_faults(table)
    if not table.is_enabled:
        click.echo("JobRouter is disabled.", err=True)
        raise click.exceptions.Exit(1)
    moves = FileOptions(spool, files_dirs, token_issuer, lambda: load_config(config, allow_dirs, context))
    moves.check(is_live=live)
    options = Options(
        owner=owner,
        domain=uid_domain,
        waits_for_gates=wait_for_gates,
        zone=clock.zone,
        hooks=_desk(knobs) if hooks and not dry_run else None,
        log=_writer(clock, log_format),
    )
    if user_logs is not None and not dry_run:
        options = Options(**{**vars(options), "write_event": UserLogs(user_logs, clock.zone)})
    fixed = now is not None and once
    ticks = (lambda: clock.now) if fixed or dry_run else (lambda: int(time.time()))
    with ExitStack() as stack:
        if dry_run:
            schedd, embedded = _copied(asked, clock, stack), None
        else:
            schedd, embedded = _opened(asked, clock, stack)
            stack.enter_context(RouterLock(_lock_path(asked, table), table.settings.name))
        delivery = None if dry_run else moves.delivery(schedd, _lock_path(asked, table), ticks)
        options = Options(**{**vars(options), "delivery": moves.planned() if dry_run else delivery})
        router = Router(table, schedd, clock=ticks, options=options)
        if once or dry_run:
            _poll_once(router, embedded)
        else:
            _Loop(router, embedded, load, lambda now: moves.reload(delivery, now)).run()


def _poll_once(router: Router, embedded: EmbeddedSchedd | None) -> None:
    answered = router.poll()
    if embedded is not None:
        embedded.clear_finished()
    if not answered:
        raise click.exceptions.Exit(1)


class _Loop:
    """Polls until it is told to end."""

    def __init__(
        self,
        router: Router,
        embedded: EmbeddedSchedd | None,
        load: Callable[[], RoutingTable],
        reload: Callable[[int], None],
    ) -> None:
        self._router = router
        self._embedded = embedded
        self._load = load
        self._reload_files = reload
        self._is_over = False
        self._is_stale = False
        self._woken = Waker()

    def run(self) -> None:
        """Poll at once, and then every JOB_ROUTER_POLLING_PERIOD."""
        signal.signal(signal.SIGTERM, self._end)
        signal.signal(signal.SIGINT, self._end)
        if hasattr(signal, "SIGHUP"):
            signal.signal(signal.SIGHUP, self._reload)
        loaded = time.monotonic()
        while not self._is_over:
            refresh = self._router.table.settings.entries_refresh
            if self._is_stale or (0 < refresh <= time.monotonic() - loaded):
                self._take_table()
                loaded = time.monotonic()
            self._router.poll()
            if self._embedded is not None:
                self._embedded.clear_finished()
            self._woken.wait(max(1, self._router.table.settings.polling_period))
        self._router.close()

    def _take_table(self) -> None:
        self._is_stale = False
        try:
            table = self._load()
        except (CrondorError, click.ClickException) as error:
            if isinstance(error, CrondorError):
                show_error(error)
            else:
                click.echo(error.format_message(), err=True)
            click.echo(_STAYS, err=True)
            return
        show_faults(table)
        if not table.is_enabled:
            click.echo(_STAYS, err=True)
            return
        self._router.reload(table)
        self._reload_files(int(time.time()))

    def _end(self, _number: int, _frame: object) -> None:
        self._is_over = True
        self._woken.set()

    def _reload(self, _number: int, _frame: object) -> None:
        self._is_stale = True
        self._woken.set()


def _opened(asked: Asked, clock: Clock, stack: ExitStack) -> tuple[Schedd, EmbeddedSchedd | None]:
    """Open a queue for writing. Raises CrondorError."""
    if asked.kind == "live":
        return stack.enter_context(live_of(asked)), None
    embedded = stack.enter_context(embedded_of(asked.queue, clock))
    return embedded, embedded


def _copied(asked: Asked, clock: Clock, stack: ExitStack) -> Schedd:
    """Return a copy of a queue in memory, to try a poll with. Raises CrondorError."""
    from crondor.schedd.memory import MemorySchedd  # noqa: PLC0415 - for a dry run only

    schedd = stack.enter_context(opened(asked, clock))
    if schedd is None:
        raise CrondorError(no_queue(asked.folder, Severity.ERROR))
    return MemorySchedd(clock=lambda: clock.now, zone=clock.zone, ads=schedd.jobs())


def _lock_path(asked: Asked, table: RoutingTable) -> Path:
    """Return JOB_ROUTER_LOCK, else a file beside the embedded queue.

    Its default is $(LOCK)/..., which is a file in the root folder where the configuration does not say LOCK.
    """
    settings = table.settings
    path = Path(settings.lock)
    if not settings.lock or path.parent == Path(path.anchor):
        path = folder_of(asked.queue) / f"{settings.name}Lock"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise refused_by_disk(path.parent, "the router's lock cannot be here", error) from error
    return path


class _Knobs:
    """The knobs of the hooks, as the configuration in force has them."""

    configuration = Configuration()

    def get(self, name: str, /) -> str | None:
        return self.configuration.string(name)


def _desk(knobs: _Knobs) -> HookDesk:
    from crondor.hooks.router_hooks import RouterHooks  # noqa: PLC0415 - where they are asked for
    from crondor.hooks.runner import HookRunner  # noqa: PLC0415 - the same

    return HookDesk(RouterHooks(knobs, dict(os.environ)), HookRunner().start)


def _writer(clock: Clock, form: str) -> Callable[[Entry], None]:
    def write(entry: Entry) -> None:
        if form == "json":
            data = {"time": entry.time, "what": entry.what.name.lower(), "job": entry.job, "text": str(entry)}
            click.echo(json.dumps(data))
        else:
            local = datetime.fromtimestamp(entry.time, clock.zone)
            click.echo(f"{local:%Y-%m-%d %H:%M:%S %z} {entry}")

    return write
