"""`crondor route run`: run a job router over an embedded queue or a live schedd."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Context
from crondor.config import Configuration
from crondor.diagnostics import CrondorError, Diagnostic, Severity, printable
from crondor.hooks.kinds import RouterHooks
from crondor.hooks.runner import HookCall, HookLimits, HookRunner
from crondor.rights.trust import is_root
from crondor.router import RoutingTable
from crondor.router.daemon import (
    EventWriter,
    HookRunners,
    LogEntry,
    Router,
    RouteReason,
    RouterLock,
    RouterOptions,
    UserLogs,
)
from crondor.router.daemon.log import no_log
from crondor.router.sandbox import (
    FileDelivery,
    PlannedDelivery,
    Proxies,
    Sandbox,
    Spool,
    TokenFiles,
    TokenPlan,
    TokenRequest,
    read_tokens,
)
from crondor.router.table.loading import SettingsReader
from crondor.router.tools import routed
from crondor.schedd.embedded import EmbeddedSchedd, MemorySchedd, no_queue
from crondor.schedd.followed import FollowedSchedd, NarrowSchedd
from crondor.schedd.protocol import Schedd, Selection
from crondor.schedd.reading import QueueLogSchedd, job_id
from crondor_cli.kit import options as opts
from crondor_cli.kit.command import Command, need_processes, with_default
from crondor_cli.kit.configs import complete_route, config_option, legacy_option, load_config, show_faults, table_of
from crondor_cli.kit.options import Clock, ConfigFiles, QueueOptions, UsageProblem
from crondor_cli.kit.queues import complete_job, embedded_of, opened, selection_of, unknown_job
from crondor_cli.kit.screen import say, show, show_error, usage
from crondor_cli.kit.services import Handler, ServiceManager, Waker, waking
from crondor_cli.kit.tables import plural, say_json
from crondor_cli.route.status import destination_of, destination_options, lock_path, report_path, source_of

if TYPE_CHECKING:
    from crondor_cli.route import results

_SECONDS = 30.0  # limit for one token


@dataclass(frozen=True)
class FileOptions:
    """The options about files, and how to load the configuration."""

    spool: str | None
    files_dirs: tuple[str, ...]
    token_issuer: str | None
    load: Callable[[], Configuration]

    def check(self, *, is_live: bool) -> None:
        """Raise UsageError for options that exclude or require each other."""
        if self.spool is not None and is_live:
            raise usage("--spool needs --queue: a live schedd has its own spool")
        if (self.spool is None) != (not self.files_dirs):
            raise usage("--spool and --files-dir require each other")
        if self.token_issuer is not None and not Path(self.token_issuer).is_absolute():
            raise usage("--token-issuer needs the full path of a program")

    def planned(self) -> PlannedDelivery | None:
        """Return a delivery that moves nothing, for a dry run; None if nothing would be moved."""
        if self.spool is None and self.token_issuer is None:
            return None
        return PlannedDelivery(self._sandbox(), TokenPlan() if self.token_issuer is None else self.plan())

    def delivery(self, schedd: Schedd, lock: Path, clock: Callable[[], int]) -> FileDelivery | None:
        """Return a delivery that moves files; None if nothing is moved. Its notes are next to the router's lock."""
        if self.spool is None and self.token_issuer is None:
            return None
        tokens = None
        if self.token_issuer is not None:
            issuer = partial(_issue, self.token_issuer)
            tokens = TokenFiles(self.plan(), issuer, lock.with_name(f"{lock.name}.tokens"), report=_report)
        proxies = Proxies(lock.with_name(f"{lock.name}.proxies"), report=_report)
        return FileDelivery(schedd, self._sandbox(), clock=clock, proxies=proxies, tokens=tokens, report=_report)

    def reload(self, delivery: FileDelivery | None, now: int) -> None:
        """Read the requested tokens again."""
        if delivery is not None:
            delivery.reload(self.plan(), now)

    def plan(self) -> TokenPlan:
        """Read the requested tokens, and report their faults."""
        found = read_tokens(self.load())
        show(found.diagnostics)
        return found

    def _sandbox(self) -> Sandbox | None:
        if self.spool is None:
            return None
        return Sandbox(Spool(self.spool), self.files_dirs, report=_report)


def _issue(program: str, request: TokenRequest) -> str:
    """Return a token made by a program, called without a shell. Raises ValueError with its message."""
    asked = {
        "name": request.name,
        "sub": request.subject,
        "kid": request.key,
        "lifetime": request.lifetime,
        "scope": list(request.scopes),
        "now": request.now,
    }
    limits = HookLimits(seconds=_SECONDS, output=64 << 10)
    run = HookRunner().run(
        HookCall(program, stdin=json.dumps(asked), environ=dict(os.environ), limits=limits, name=program)
    )
    if not run.succeeded:
        raise ValueError(f"{program} {run.reason}: {run.stderr.strip()[:500]}" if run.stderr else run.reason)
    return run.stdout


def _report(found: Diagnostic) -> None:
    show([found])


EXAMPLE = """\
printf 'shell = date\\ncron_hour = 3\\nqueue\\n' > job.sub
crondor queue submit --queue q job.sub
echo 'JOB_ROUTER_ROUTE_NAMES = A' > r.conf
echo 'JOB_ROUTER_ROUTE_A = REQUIREMENTS true' >> r.conf
crondor route run --config r.conf --queue q --once --dry-run"""

EPILOG = """\b
Examples:
  crondor route run --config 50-routes.conf --queue ./queue --once --dry-run
  crondor route run --config 50-routes.conf --live
  crondor route run --config 50-routes.conf --wait-for-gates \\
      --log-format json
  crondor route run --config 50-routes.conf --queue ./jobs \\
      --destination-queue ./site

With --live, JOB_ROUTER_SCHEDD1_* and JOB_ROUTER_SCHEDD2_* of the configuration (NAME, POOL, ADDRESS_FILE,
JOB_QUEUE_LOG) are the defaults for the schedds and their logs. The router follows the log and writes to the schedd.
Without a readable log, each poll asks the schedd only for the jobs that matter to the routes.
crondor route status shows the state of a router.

SIGHUP reads the configuration again; if it cannot be read, the old configuration stays, and the reason is on stderr.
If it switches routing off, no more jobs are taken, and routed jobs continue. SIGTERM and Ctrl-C end the router between
two polls: the next router of this name continues with its jobs.

Without --config the configuration of this host is used: CONDOR_CONFIG, or the first of HTCondor's standard places.

If a schedd does not answer or refuses changes, the router pauses for some polls, longer each time; the same for a job
that the schedd refuses. The reason is reported once.

Exit status: 0 ended normally, 1 a finding (routing switched off, a router of this name is running, with --once: a
schedd that does not answer or refuses writes, or no job that could be claimed), 2 wrong usage."""

_NO_LOGS = "the user logs of the jobs are not written: they do not show that a job was routed, ran and ended"
_STAYS = "the routing table is unchanged"


@click.command("run", cls=Command, is_endless=True, example=EXAMPLE, epilog=EPILOG)
@config_option
@legacy_option
@opts.schedd_options
@click.option("--log", metavar="FILE", help="Follow this job_queue.log of the live schedd; write to the schedd itself.")
@destination_options
@click.option("--once", is_flag=True, help="Poll once and end.")
@click.option("--dry-run", is_flag=True, help="Show what the next poll would do; nothing is written.")
@click.option("--wait-for-gates", is_flag=True, help="Take crontab and deferral jobs only when a run's gate opens.")
@click.option("--owner", metavar="USER", help="Take only this user's jobs, like a router that is not root.")
@click.option(
    "--uid-domain", default="", metavar="DOMAIN", help="The domain in the copies' User (default: the source's)."
)
@click.option("--user-logs", metavar="DIR", help="Write the jobs' user logs at or below this folder.")
@click.option("--hooks", is_flag=True, help="Run the hooks that the configuration names.")
@click.option("--spool", metavar="DIR", help="Spool sandboxed jobs' files in this folder of the router.")
@click.option(
    "--files-dir",
    "files_dirs",
    metavar="DIR",
    multiple=True,
    help="Move sandboxed jobs' files at or below this folder only (repeatable; needs --spool).",
)
@click.option(
    "--token-issuer",
    metavar="PROGRAM",
    help="Make tokens with this program: a request as JSON on its input, the token on its output.",
)
@with_default("--log-format", "text", "How to print the actions.", click.Choice(["text", "json"]))
@opts.clock_options
def command(
    config: ConfigFiles,
    allow_dirs: tuple[str, ...],
    legacy: bool,
    asked: QueueOptions,
    destination_queue: str | None,
    destination_name: str | None,
    destination_pool: str | None,
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
    clock: Clock,
) -> None:
    """Route the jobs of a queue: claim them, submit copies, mirror the copies' state, and clean up."""
    need_processes("route run")
    if clock.is_fixed and not (once or dry_run):
        raise click.UsageError("--now is for --once and --dry-run: a running router uses the clock")
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
        say("JobRouter is disabled.", err=True)
        raise click.exceptions.Exit(1)
    asked, log = _asked_live(asked)
    source = source_of(asked, table)
    copies = destination_of(source, table, destination_queue, destination_name, destination_pool)
    moves = FileOptions(spool, files_dirs, token_issuer, lambda: load_config(config, allow_dirs, context))
    moves.check(is_live=asked.live)
    options = RouterOptions(
        owner=owner,
        domain=uid_domain,
        waits_for_gates=wait_for_gates,
        zone=clock.zone,
        hooks=HookRunners(RouterHooks(knobs, dict(os.environ)), HookRunner().start, as_owner=is_root())
        if hooks and not dry_run
        else None,
        log=_writer(clock, log_format),
    )
    if not dry_run:
        options = replace(options, write_event=_user_logs(user_logs, clock, is_said=asked.live))
    is_fixed = dry_run or clock.is_fixed
    ticks = (lambda: clock.now) if is_fixed else (lambda: int(time.time()))
    named = [source] if copies is None else [source, copies]
    logs = _logs(asked, log, copies, table)
    with ExitStack() as stack:
        if dry_run:
            copied = [_copied(each, log.path, clock, stack) for each, log in zip(named, logs, strict=False)]
            router = Router(table, *copied, clock=ticks, options=replace(options, delivery=moves.planned()))
            if not _poll_dry(router, clock, log_format):
                raise click.exceptions.Exit(1)
            return
        # Checked first: a typo in a path must not create a folder.
        lag = table.settings.update_lag
        queues = [_opened(each, logs[at], clock, ticks, lag, stack, waits=once) for at, each in enumerate(named)]
        lock = lock_path(source, table)
        stack.enter_context(RouterLock(lock, table.settings.name))
        delivery = moves.delivery(queues[-1], lock, ticks)
        router = Router(table, *queues, clock=ticks, options=replace(options, delivery=delivery))
        loop = _Loop(router, queues, load, report_path(lock), lambda now: moves.reload(delivery, now))
        if not once:
            with waking(loop.handlers) as waker, stack.pop_all():  # the queues close before the handlers are removed
                loop.run(waker)
        elif not loop.poll() or router.has_claimed_none:
            raise click.exceptions.Exit(1)


class _Loop:
    """Polls until a signal ends it."""

    def __init__(
        self,
        router: Router,
        queues: Sequence[Schedd],
        load: Callable[[], RoutingTable],
        report: Path,
        reload: Callable[[int], None],
    ) -> None:
        self._router = router
        self._embedded = [each for each in queues if isinstance(each, EmbeddedSchedd)]
        self._load = load
        self._report = report
        self._can_report = True
        self._reload_files = reload
        self._is_over = False
        self._is_stale = False

    @property
    def handlers(self) -> dict[str, Handler]:
        """The signal handlers by name."""
        return {"SIGTERM": self._end, "SIGINT": self._end, "SIGHUP": self._reload}

    def poll(self) -> bool:
        """Make a poll, and return whether the queues answered; finished jobs leave embedded queues.

        With a single queue, the edits of a poll are synced together: a crash of the machine loses only the last ones.
        With two queues, or files, each edit is synced, so that neither gets ahead of the other.
        """
        is_alone = len(self._embedded) == 1 and self._router.options.delivery is None
        with self._embedded[0].together() if is_alone else nullcontext():
            answered = self._router.poll()
            for each in self._embedded:
                each.clear_finished()
        return answered

    def run(self, waker: Waker) -> None:
        """Poll at once, and then every JOB_ROUTER_POLLING_PERIOD, or when a signal arrives."""
        manager = ServiceManager(os.environ)
        loaded = time.monotonic()
        manager.ready()
        while not self._is_over:
            refresh = self._router.table.settings.entries_refresh
            if self._is_stale or (0 < refresh <= time.monotonic() - loaded):
                manager.reloading()
                self._take_table()
                manager.ready()
                loaded = time.monotonic()
            began = time.monotonic()
            self.poll()
            self._write_report(time.monotonic() - began)
            waker.wait_alive(max(1, self._router.table.settings.polling_period), manager)
        manager.stopping()
        self._router.close()
        self._report.unlink(missing_ok=True)

    def _write_report(self, seconds: float) -> None:
        """Write the router's state, for `crondor route status` and `crondor monitor`; report a failure once."""
        try:
            replace(self._router.report(), poll_seconds=seconds).write(self._report)
            self._can_report = True
        except CrondorError as error:
            if self._can_report:
                show_error(error)
            self._can_report = False

    def _take_table(self) -> None:
        self._is_stale = False
        try:
            table = self._load()
        except (CrondorError, click.ClickException) as error:
            if isinstance(error, CrondorError):
                show_error(error)
            else:
                say(error.format_message(), err=True)
            say(_STAYS, err=True)
            return
        show_faults(table)
        self._router.reload(table)
        if table.is_enabled:
            self._reload_files(int(time.time()))
        else:
            say(f"JobRouter is disabled: no more jobs are taken, {_STAYS}", err=True)

    def _end(self, _number: int, _frame: object) -> None:
        self._is_over = True

    def _reload(self, _number: int, _frame: object) -> None:
        self._is_stale = True


def _asked_live(asked: QueueOptions) -> tuple[QueueOptions, str | None]:
    """Return the queue without --log, so that it is a live one, and the log. Raises UsageError."""
    if asked.log and asked.queue:
        raise usage("--log is for a live schedd, and --queue for an embedded queue: choose one")
    return asked._replace(log=None, live=asked.live or bool(asked.log)), asked.log


class _QueueLog(NamedTuple):
    """The log of a live schedd; ``is_needed``: an option names it, so it must be readable."""

    path: str = ""
    is_needed: bool = False


def _logs(asked: QueueOptions, log: str | None, copies: QueueOptions | None, table: RoutingTable) -> list[_QueueLog]:
    """Return the logs of both queues, from the options or the configuration, as for HTCondor's router."""
    settings = table.settings
    is_named = bool(asked.name or asked.pool)
    configured = "" if is_named else settings.source_schedd.job_queue_log
    first = _QueueLog(log, is_needed=True) if log else _QueueLog(configured)
    contact = settings.destination_schedd
    is_configured = copies is not None and (copies.name or "", copies.pool or "") == (contact.name, contact.pool)
    return [first, _QueueLog(contact.job_queue_log if is_configured else "")]


def _opened(
    asked: QueueOptions,
    log: _QueueLog,
    clock: Clock,
    ticks: Callable[[], int],
    lag: int,
    stack: ExitStack,
    *,
    waits: bool,
) -> Schedd:
    """Open a queue for writing. Raises CrondorError."""
    if asked.kind != "live":
        return stack.enter_context(embedded_of(asked.queue, clock, ticks=ticks, waits=waits))
    live = stack.enter_context(NarrowSchedd(asked.name, asked.pool, as_owner=True, address_file=asked.address_file))
    if not log.path:
        return live
    try:
        return FollowedSchedd(QueueLogSchedd(log.path, clock=ticks, zone=clock.zone), live, clock=ticks, lag=lag)
    except CrondorError as error:
        if log.is_needed:
            raise
        reason = "; ".join(each.message for each in error.diagnostics)
        message = f"{log.path} is not followed, and the schedd is queried at each poll instead: {reason}"
        hint = "let this user read the log, or give it with --log"
        show([Diagnostic("route-log", printable(message), Severity.NOTE, help=hint)])
        return live


def _poll_dry(router: Router, clock: Clock, form: str) -> bool:
    """Print what a poll does, and how many jobs it leaves for which reason; return whether the queue answered."""
    answered = router.poll()
    for (reason, route), count in sorted(router.summary().items()):
        if reason in (RouteReason.ROUTED, RouteReason.COPY):
            continue
        if form == "json":
            data: results.Stays = {
                "time": clock.now,
                "what": "stays",
                "reason": reason.value,
                "route": route or None,
                "count": count,
            }
            say_json(data)
        else:
            about = f" ({printable(route)})" if route else ""
            local = datetime.fromtimestamp(clock.now, clock.zone)
            say(f"{local:%Y-%m-%d %H:%M:%S %z} JobRouter: {plural(count, 'job')} not routed: {reason.value}{about}")
    return answered


def _copied(asked: QueueOptions, log: str, clock: Clock, stack: ExitStack) -> Schedd:
    """Return a copy of a queue in memory, or of its log if readable, for a dry run. Raises CrondorError."""
    if asked.kind == "live" and log and os.access(log, os.R_OK):
        asked = QueueOptions(log=log)
    schedd = stack.enter_context(opened(asked, clock))
    if schedd is None:
        raise CrondorError(no_queue(asked.folder, Severity.ERROR))
    return MemorySchedd(clock=lambda: clock.now, zone=clock.zone, ads=schedd.jobs())


class _Knobs:
    """The hook knobs of the configuration in force."""

    configuration = Configuration()

    def get(self, name: str, /) -> str | None:
        return self.configuration.string(name)


def _user_logs(folder: str | None, clock: Clock, *, is_said: bool) -> EventWriter:
    """Return a writer of user logs; a note says if a pool gets none. Raises BadParameter for a missing folder."""
    if folder is None:
        if is_said:
            show([Diagnostic("route-user-logs", _NO_LOGS, Severity.NOTE, help="give their folder with --user-logs")])
        return no_log
    if not os.path.isdir(folder):
        raise click.BadParameter(f"there is no folder {printable(folder)!r}", param_hint="--user-logs")
    return UserLogs(folder, clock.zone, report=_report)


def _writer(clock: Clock, form: str) -> Callable[[LogEntry], None]:
    def write(entry: LogEntry) -> None:
        if form == "json":
            data: results.Entry = {
                "time": entry.time,
                "what": entry.what.name.lower(),
                "job": entry.job,
                "text": str(entry),
            }
            say_json(data)
        else:
            local = datetime.fromtimestamp(entry.time, clock.zone)
            say(f"{local:%Y-%m-%d %H:%M:%S %z} {entry}")

    return write


copies_options = opts.options_of(
    click.argument("jobs", nargs=-1, metavar="[JOB]...", shell_complete=complete_job),
    click.option(
        "--route",
        "--site",
        "routes",
        multiple=True,
        metavar="NAME",
        shell_complete=complete_route,
        help="Jobs on this route.",
    ),
    click.option("--idle", is_flag=True, help="Idle jobs."),
    click.option("--held", is_flag=True, help="Held jobs."),
    click.option("--constraint", "constraints", multiple=True, metavar="EXPR", help="Jobs for which this is true."),
)
"""Selects copies, with the options of HTCondor's tools."""


def copies(
    jobs: tuple[str, ...], routes: Iterable[str], states: Iterable[str], constraints: Iterable[str]
) -> Selection:
    """Return the routed copies selected by the options; raise UsageError for invalid ones."""
    named = selection_of(jobs, None)
    try:
        return routed(named, routes=routes, states=states, constraints=constraints)
    except CrondorError as error:
        raise UsageProblem(error) from None


def missing_copies(chosen: Selection, ads: Iterable[ClassAd]) -> list[Diagnostic]:
    """Return an error for each selected job and cluster without a routed copy among the ads."""
    if not chosen.jobs and not chosen.clusters:
        return []
    there = {number for ad in ads if (number := job_id(ad)) is not None}
    clusters = {number.cluster for number in there}
    missing = [str(job) for job in chosen.jobs if job not in there]
    missing += [str(cluster) for cluster in chosen.clusters if cluster not in clusters]
    return [unknown_job(name, " that is routed and selected") for name in missing]


def queue_of_copies(
    asked: QueueOptions, config: ConfigFiles, allow_dirs: tuple[str, ...], clock: Clock
) -> QueueOptions:
    """Return the queue of the options, or else of the configuration: the router's second schedd, or its first.

    Its name and pool take precedence over its log. Raises CrondorError if the configuration names no queue, or has a
    file that is not text; UsageError for an unreadable file.
    """
    if config == ConfigFiles():
        return asked
    if any((asked.queue, asked.log, asked.ads, asked.name, asked.pool)):
        return asked
    reader = SettingsReader(load_config(config, allow_dirs, Context(now=clock.now, zone=clock.zone)))
    settings = reader.settings()
    for contact in (settings.destination_schedd, settings.source_schedd):
        if contact.name or contact.pool:
            return QueueOptions(None, None, live=True, name=contact.name or None, pool=contact.pool or None)
        if contact.job_queue_log and not asked.live:
            return QueueOptions(None, contact.job_queue_log)
    if asked.live:
        return asked
    message = "this configuration names no queue: neither JOB_ROUTER_SCHEDD2_* nor JOB_ROUTER_SCHEDD1_*, nor a log"
    raise CrondorError(Diagnostic("route-no-queue", message, Severity.ERROR, help="give it with --log FILE or --live"))


def queue_name(asked: QueueOptions) -> str:
    """Return the heading of a list with the name of its queue, like condor_q."""
    if asked.kind == "ads":
        return f"Jobads: {asked.ads}"
    if asked.kind == "live":
        names = [name for name in (asked.name, asked.pool) if name]
        return f"Schedd: {' : '.join(names) or 'of this host'}"
    return f"Schedd: {asked.log or asked.folder}"
