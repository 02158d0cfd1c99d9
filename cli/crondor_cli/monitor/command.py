"""`crondor monitor`: report which scheduled jobs were due, which started, and why the others did not."""

from __future__ import annotations

import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from importlib.resources import files
from types import FrameType
from typing import Final
from urllib.parse import urlsplit

import click

from crondor.diagnostics import Diagnostic, has_error, printable
from crondor.monitor import Look, Verdict
from crondor.monitor.metrics import LOOPBACK, Address, Metrics
from crondor.monitor.notices import LONGEST, Notice, Notifier
from crondor.monitor.watched import PATIENCE, Questions, Row, Wanted, WatchedQueue, all_rows
from crondor.spec import Dialect
from crondor.zones import Policy
from crondor_cli.kit import options as opts
from crondor_cli.kit.command import Command, with_default
from crondor_cli.kit.files import file_problem, write_file
from crondor_cli.kit.options import Clock, QueueOptions
from crondor_cli.kit.queues import job_arguments, selection_of
from crondor_cli.kit.screen import Level, levelled, say, show, usage
from crondor_cli.kit.services import ServiceManager, waking
from crondor_cli.monitor.queues import json_line, line, print_table, queues_of

_ADDRESS: Final = re.compile(r"(?:(?P<host>[^:\[\]]*):|\[(?P<six>[0-9A-Fa-f:.]+)\]:)?(?P<port>[0-9]{1,5})\Z").match


def read_address(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Address | None:
    """Read HOST:PORT, [HOST]:PORT of IPv6, or PORT alone, which means this machine only. Raises BadParameter."""
    if value is None:
        return None
    found = _ADDRESS(value)
    if found is None or not int(found["port"]) < 1 << 16:
        raise click.BadParameter(f"'{printable(value)}' is neither HOST:PORT, like {LOOPBACK}:9811, nor PORT")
    return Address(found["six"] or found["host"] or LOOPBACK, int(found["port"]))


RULES: Final = "crondor.rules.yml"
DASHBOARD: Final = "crondor-dashboard.json"


def write_alerts(folder: str, *, force: bool) -> None:
    """Write both files into a folder, and print their paths. Raises UsageError for existing files, CrondorError."""
    ours = files("crondor_cli.monitor")
    paths = {os.path.join(folder, name): ours.joinpath(name).read_bytes() for name in (RULES, DASHBOARD)}
    if not force:
        opts.refuse_existing(paths)
    for path, data in paths.items():
        try:
            os.makedirs(folder, exist_ok=True)
        except (OSError, ValueError) as error:
            raise file_problem("write", folder, error) from None
        write_file(path, data)
        say(f"written: {path}")


def made_metrics(routers: Iterable[str]) -> Metrics:
    """Return metrics without a look. Raises UsageError if the extra ``monitor`` is missing."""
    try:
        return Metrics(routers)
    except ImportError:
        message = "--metrics needs prometheus-client and waitress: pip install '.[monitor]' in a clone of crondor"
        raise usage(message) from None


def read_notices(
    _context: click.Context, _parameter: click.Parameter, value: Sequence[tuple[str, str]]
) -> tuple[Notice, ...]:
    """Read the commands of --on. Raises BadParameter for an invalid command line."""
    return tuple(Notice(verdict, _words(text)) for verdict, text in value)


def _words(text: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise click.BadParameter(f"'{printable(text)}' is not a command line: {error}") from None
    if not words or any("\0" in word for word in words):
        raise click.BadParameter("give a command, like 'mail -s missed root'")
    return words


def read_url(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Read an http or https URL. Raises BadParameter."""
    if value is None:
        return None
    try:
        parts = urlsplit(value)
        is_one = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_one = False
    if not is_one or not value.isprintable() or " " in value:
        raise click.BadParameter(f"'{printable(value)}' is not a URL that begins with http:// or https://")
    return value


EXAMPLE = """\
printf 'shell = date\\ncron_hour = 3\\nqueue\\n' > job.sub
crondor queue submit --queue q job.sub
crondor monitor --once --queue q"""

EPILOG = """\b
Examples:
  crondor monitor --live
  crondor monitor --log /var/lib/condor/spool/job_queue.log \\
      --history /var/lib/condor/spool/history --allow-dir /home
  crondor monitor --live --pool cm.example.org --all-schedds --format json
  crondor monitor --once --live --fail-on missed,late
  condor_q -all -long | crondor monitor --once --ads -
  crondor monitor --live --metrics 9811 --on missed 'mail -s missed root'
  crondor monitor --alerts -o /etc/prometheus/crondor

Each due time has one verdict, and a cause: started, late (its window is open), missed, lost (the job had left the
queue, or its run was interrupted) or unknown. docs/monitor.md explains them.

Exit status: 0 fine, 1 a finding (with --once: a verdict of --fail-on, or a queue that cannot be read), 2 wrong
usage. Without --once it runs until Ctrl-C or SIGTERM."""

_TROUBLE = "trouble"
_FAILS = (
    *(verdict.value for verdict in (Verdict.MISSED, Verdict.LOST, Verdict.LATE, Verdict.UNPLANNED, Verdict.UNKNOWN)),
    _TROUBLE,
)
_TOLD = [verdict.value for verdict in Verdict if verdict is not Verdict.AHEAD]
_LEVELS = {Verdict.MISSED: Level.WARNING, Verdict.LOST: Level.WARNING, Verdict.LATE: Level.NOTICE}
_ONCE = 60.0  # seconds that --once waits for silent schedds
_MOST_TOLD = 10_000  # findings remembered, so that each is shown once
_DEFAULT = f"{Verdict.MISSED.value},{Verdict.LOST.value},{_TROUBLE}"


def _read_fails(_context: click.Context, _parameter: click.Parameter, value: str) -> frozenset[str]:
    words = [word.strip() for word in value.split(",") if word.strip()]
    unknown = [word for word in words if word not in (*_FAILS, "none")]
    if unknown:
        raise click.BadParameter(f"'{printable(unknown[0])}' is not one of {', '.join(_FAILS)}, none")
    return frozenset(words) - {"none"}


@click.command("monitor", cls=Command, example=EXAMPLE, epilog=EPILOG, is_endless=True)
@job_arguments
@opts.source_options
@click.option("--all-schedds", is_flag=True, help="All live schedds that the collector (--pool) knows.")
@click.option("--history", "histories", multiple=True, metavar="FILE", help="A history file of the schedd's.")
@click.option(
    "--allow-dir", "allow_dirs", multiple=True, metavar="DIR", help="A folder at or below which user logs are read."
)
@click.option("--once", is_flag=True, help="Poll once and end.")
@click.option(
    "--fail-on",
    metavar="WORDS",
    default=_DEFAULT,
    show_default=True,
    callback=_read_fails,
    help="With --once: verdicts that make the exit status 1.",
)
@opts.from_option("Judge due times", "begin", "the last one of each job")
@with_default("--grace", 60, "Seconds after which a start counts as late.", click.IntRange(0, 86400), metavar="SECONDS")
@click.option(
    "--poll",
    type=click.FloatRange(1, 3600),
    default=30.0,
    metavar="SECONDS",
    help="Seconds between polls (default: 30).",
)
@click.option(
    "--on",
    "notices",
    type=(click.Choice(_TOLD), str),
    multiple=True,
    metavar="VERDICT COMMAND",
    callback=read_notices,
    help="Run a command for each due time of a verdict.",
)
@click.option("--heartbeat", metavar="URL", callback=read_url, help="Request this address after each successful poll.")
@click.option("--metrics", metavar="[HOST:]PORT", callback=read_address, help="Serve metrics for Prometheus.")
@click.option("--router", "routers", multiple=True, metavar="FILE", help="A router's status file, for the metrics.")
@click.option("--alerts", is_flag=True, help="Write alert rules and a Grafana dashboard, and end.")
@opts.output_option("With --alerts: the folder.", metavar="DIR", default=".")
@opts.clock_options
@opts.reading_options(htcondor=True)
@opts.format_option("table", "json", text="json: a line for each due time.")
def command(
    jobs: tuple[str, ...],
    constraint: str | None,
    asked: QueueOptions,
    all_schedds: bool,
    histories: tuple[str, ...],
    allow_dirs: tuple[str, ...],
    once: bool,
    fail_on: frozenset[str],
    begin: str | None,
    grace: int,
    poll: float,
    notices: tuple[Notice, ...],
    heartbeat: str | None,
    metrics: Address | None,
    routers: tuple[str, ...],
    alerts: bool,
    out: str,
    force: bool,
    clock: Clock,
    dialect: Dialect | None,
    policy: Policy | None,
    format_: str,
) -> None:
    """Report which times of scheduled jobs were due, which started, and why the others are late, missed or lost."""
    if alerts:
        write_alerts(out, force=force)
        return
    if once and metrics is not None:
        raise click.UsageError("--metrics needs a monitor that keeps running: omit --once")
    if asked.ads and not once:
        raise usage("--ads is read once: add --once")
    since = None if begin is None else clock.read(begin, "--from")
    chosen = selection_of(jobs, constraint)
    wanted = Wanted(asked, chosen, dialect, policy, grace, since, histories, tuple(allow_dirs), is_once=once)
    ticks = _Ticks(clock, time.time)
    with ExitStack() as stack:
        queues = queues_of(wanted, clock, lambda: ticks.now, stack, every=all_schedds)
        notifier = Notifier(notices, heartbeat, os.environ, lambda fault: show([fault]))
        stack.callback(notifier.close)
        if once:
            _once(queues, clock, fail_on, format_, notifier, every=since is not None)
            return
        exported, where = None, ""
        if metrics is not None:
            exported = made_metrics(routers)
            port = stack.enter_context(exported.served(metrics))
            where = f"metrics on http://{metrics.shown(port)}/metrics"
        _follow(queues, ticks, poll, format_, notifier, exported, where)


class _Ticks:
    """A clock that continues from the given time."""

    def __init__(self, clock: Clock, now: Callable[[], float]) -> None:
        self._clock = clock
        self._ahead = clock.now - int(now())
        self._now = now

    @property
    def now(self) -> int:
        return int(self._now()) + self._ahead

    @property
    def clock(self) -> Clock:
        return self._clock._replace(now=self.now)


def _once(
    queues: Iterable[WatchedQueue],
    clock: Clock,
    fail_on: frozenset[str],
    format_: str,
    notifier: Notifier,
    *,
    every: bool,
) -> None:
    """Look at each queue, print the result, and exit with 1 for a verdict of --fail-on."""
    rows: list[Row] = []
    is_bad = False
    all_queues = list(queues)
    questions = Questions(all_queues)
    looks = {queue: queue.look(clock) for queue in questions.round(_ONCE, lambda: False)}
    questions.close()
    for each in all_queues:
        look = looks.get(each)
        show(dict.fromkeys(each.findings))
        _show_fault(each)
        is_bad |= each.fault is not None or has_error(each.findings)
        if look is not None:
            rows += all_rows(each.name, look, every=every)
            notifier.tell(look.runs, clock.zone)
    if format_ == "json":
        for row in rows:
            say(json_line(row, clock), fits=False)
    elif rows or not is_bad:
        print_table(rows, clock, named=len(all_queues) > 1, every=every)
    is_found = any(row.verdict.value in fail_on or (_TROUBLE in fail_on and row.is_troubled) for row in rows)
    if not is_bad:
        notifier.beat()
    notifier.close(LONGEST * (1 + len(rows)))
    if is_bad or is_found:
        raise click.exceptions.Exit(1)


def _follow(
    queues: list[WatchedQueue],
    ticks: _Ticks,
    poll: float,
    format_: str,
    notifier: Notifier,
    metrics: Metrics | None,
    where: str,
) -> None:
    """Print the news until a signal comes; no notifications at first, so that a restart repeats no command."""
    ended: list[int] = []

    def end(number: int, _frame: FrameType | None) -> None:
        ended.append(number)

    def is_over() -> bool:
        manager.alive()
        return bool(ended)

    told = _Told()
    questions = Questions(queues)
    manager = ServiceManager(os.environ)
    with waking({"SIGTERM": end}) as waker, closing(questions):
        manager.ready()
        say(where, err=True, nl=bool(where))  # its reader may end this process
        while not ended:
            looks: dict[WatchedQueue, Look | None] = dict.fromkeys(queues)
            for queue in questions.round(PATIENCE, is_over):
                looks[queue] = _look(queue, ticks.clock, told, format_, named=len(queues) > 1)
                manager.alive()
            for queue in questions.silenced if not ended else ():
                _show_fault(queue)
            clock = ticks.clock
            for queue, look in looks.items():
                if look is not None:
                    is_first = queue.looks == 1
                    notifier.tell((run for run in look.runs if not (is_first and run.is_final)), clock.zone)
            if all(look is not None for look in looks.values()):
                notifier.beat()
            if metrics is not None:
                metrics.update(looks, clock.now)
                told.show_new(metrics.findings)
            waker.wait_alive(poll, manager)
        manager.stopping()


def _show_fault(queue: WatchedQueue) -> None:
    """Show why a queue cannot be read, with its name."""
    if queue.fault is not None:
        about = f"{queue.name}: " if queue.name else ""
        show(replace(each, message=f"{about}{each.message}") for each in queue.fault.diagnostics)


class _Told:
    """The findings shown: each is shown once, unless too many others came in between."""

    def __init__(self) -> None:
        self._findings: dict[Diagnostic, None] = {}

    def show_new(self, findings: Iterable[Diagnostic]) -> None:
        new = [each for each in dict.fromkeys(findings) if each not in self._findings]
        show(new)
        self._findings.update(dict.fromkeys(new))
        for each in [*self._findings][:-_MOST_TOLD]:
            del self._findings[each]


def _look(queue: WatchedQueue, clock: Clock, told: _Told, format_: str, *, named: bool) -> Look | None:
    """Look at a queue and print the news; an unreadable queue is reported once, until it can be read again."""
    was_fine = queue.fault is None
    look = queue.look(clock)
    told.show_new(queue.findings)
    if was_fine:
        _show_fault(queue)
    if look is None:
        return None
    shown = {run.job for run in look.runs} if format_ == "json" else set()
    standings = {str(standing.job): standing for standing in look.jobs.among(shown)}
    for run in look.runs:
        standing = standings.get(run.job)
        row = Row(queue.name, run, None if standing is None else standing.status)
        if format_ == "json":
            say(json_line(row, clock), fits=False)
        elif run.verdict is not Verdict.DUE:
            say(levelled(line(row, clock, named=named), _LEVELS.get(run.verdict, Level.INFO), sys.stdout))
    return look
