"""Metrics of the watched queues for Prometheus, served at an address of their own (extra ``monitor``)."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from crondor.diagnostics import CrondorError, Diagnostic
from crondor.monitor import Cause, JobStanding, Look, Verdict
from crondor.monitor.queue_watch import DRIFT
from crondor.monitor.watched import WatchedQueue
from crondor.router.daemon import RouterReport
from crondor.router.daemon.lock import is_locked

if TYPE_CHECKING:
    from prometheus_client.core import Metric


LOOPBACK: Final = "127.0.0.1"
MOST_JOBS: Final = 10_000  # jobs of a queue with series of their own
MOST_CONNECTIONS: Final = 64
_WORKERS: Final = 2  # threads that answer requests
_LONGEST_SILENCE: Final = 10  # seconds that a connection may be inactive
_MOST_ASKED: Final = 1 << 14  # bytes of a request
_STATUS: Final = ".status"  # suffix of the file that a router writes next to its lock
_QUEUE: Final = ("schedd",)
_CAUSE: Final = ("schedd", "cause")
_JOB: Final = ("schedd", "job_id", "owner")  # Prometheus reserves the label `job`
_ROUTER: Final = ("router",)

FAMILIES: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "crondor_last_poll_timestamp_seconds": ("time of the last look", ()),
    "crondor_queue_up": ("1 if the last look could read the queue", _QUEUE),
    "crondor_poll_seconds": ("duration of the last look", _QUEUE),
    "crondor_runs_due_total": ("due times", _QUEUE),
    "crondor_runs_started_total": ("due times whose program started", _QUEUE),
    "crondor_runs_missed_total": ("due times missed, by cause", _CAUSE),
    "crondor_runs_lost_total": ("due times lost, by cause", _CAUSE),
    "crondor_runs_unknown_total": ("due times with an unknown outcome", _QUEUE),
    "crondor_starts_unplanned_total": ("program starts that belong to no due time", _QUEUE),
    "crondor_runs_late": ("due times that are late now", _QUEUE),
    "crondor_jobs": ("scheduled jobs, by state", ("schedd", "state")),
    "crondor_jobs_trouble": ("scheduled jobs that cannot run as scheduled", _QUEUE),
    "crondor_jobs_drift": ("jobs of a folder that somebody edited, held or released by hand", _QUEUE),
    "crondor_gates_open": ("idle jobs whose gate is open: they may be matched now", _QUEUE),
    "crondor_guard_corrections": ("idle jobs whose DeferralTime is not as in the manual", _QUEUE),
    "crondor_job_next_start_timestamp_seconds": ("the job's next start", _JOB),
    "crondor_job_last_start_timestamp_seconds": ("the last start of the job's program", _JOB),
    "crondor_job_last_success_timestamp_seconds": ("the last end of the job's program with exit code 0", _JOB),
    "crondor_job_gate_open": ("1 if the job may be matched now", _JOB),
    "crondor_job_late": ("1 while the job's last due time is late", _JOB),
    "crondor_job_missed": ("1 from a missed or lost due time to the next start", (*_JOB, "cause")),
    "crondor_router_up": ("1 if a router runs and its queues answer", _ROUTER),
    "crondor_router_claims_total": ("jobs claimed by the router", _ROUTER),
    "crondor_router_copies_total": ("copies submitted by the router", _ROUTER),
    "crondor_router_failures_total": ("failures of the router, by event", ("router", "cause")),
    "crondor_router_poll_seconds": ("duration of the router's last poll", _ROUTER),
    "crondor_router_last_poll_timestamp_seconds": ("time of the router's last poll", _ROUTER),
}
"""The help text and labels of each metric; a name that ends in _total is a counter, any other a gauge."""

_FAILURES: Final = (
    "not_claimed", "route_gone", "not_transformed", "no_owner", "no_sandbox", "not_submitted", "unsure", "not_edited",
    "lag", "not_whole", "not_updated", "copy_not_updated", "not_finalized", "no_log", "failed", "not_removed",
    "not_yielded", "files_left", "passed_over", "unreachable",
)  # fmt: skip


class Address(NamedTuple):
    """The address at which the metrics are served."""

    host: str
    port: int

    def shown(self, port: int) -> str:
        """Return the address as part of a URL, with the actual port."""
        return f"[{self.host}]:{port}" if ":" in self.host else f"{self.host}:{port}"


class Metrics:
    """The metrics of the last looks; updated after each look, and served as they are."""

    def __init__(self, routers: Iterable[str] = ()) -> None:
        """Start empty. ``routers`` are the status files of routers.

        Raises ImportError if the extra ``monitor`` is missing.
        """
        import waitress  # noqa: PLC0415 - optional, as is the next
        from prometheus_client import core  # noqa: PLC0415

        self._waitress = waitress
        self._gauge: Any = core.GaugeMetricFamily
        self._counter: Any = core.CounterMetricFamily
        self._routers = tuple(routers)
        self._families: list[Metric] = []
        self.findings: list[Diagnostic] = []

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics, like a collector of prometheus_client."""
        yield from self._families

    def update(self, looks: Mapping[WatchedQueue, Look | None], now: int) -> None:
        """Update the metrics from the looks at ``now`` (epoch seconds)."""
        self.findings = []
        samples = _Samples()
        samples.add("crondor_last_poll_timestamp_seconds", (), now)
        for queue, look in looks.items():
            _add_queue(samples, queue, is_up=look is not None)
            if look is not None:
                _add_look(samples, queue.label, look)
        for path in self._routers:
            _add_router(samples, path, self._report(path))
        self._families = [self._family(name, found) for name, found in samples.by_name.items()]

    @contextmanager
    def served(self, address: Address) -> Iterator[int]:
        """Serve the metrics until the block ends; yield the port. Raises CrondorError if the address is unavailable."""
        from prometheus_client import CollectorRegistry, make_wsgi_app  # noqa: PLC0415 - see above

        registry = CollectorRegistry()
        registry.register(self)
        try:
            server = _Server(self._waitress, make_wsgi_app(registry), address)
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or error
            message = f"the metrics cannot be served on {address.shown(address.port)}: {reason}"
            raise CrondorError(Diagnostic("monitor-address", message, help="give another HOST:PORT")) from error
        try:
            yield server.port
        finally:
            server.end()

    def _family(self, name: str, samples: Iterable[tuple[tuple[str, ...], float]]) -> Metric:
        text, labels = FAMILIES[name]
        made: Any = (self._counter if name.endswith("_total") else self._gauge)(name, text, labels=labels)
        for values, number in samples:
            made.add_metric(values, number)
        family: Metric = made
        return family

    def _report(self, path: str) -> RouterReport | None:
        """Return a router's report; None if none runs, or its report cannot be read."""
        lock = path.removesuffix(_STATUS)
        if lock != path and not is_locked(Path(lock)):
            return None  # left by a router that did not end cleanly
        try:
            return RouterReport.read(path)
        except CrondorError as error:
            self.findings += error.diagnostics
            return None


class _Server:
    """Answers requests in its own threads; an inactive connection occupies no thread.

    Beyond the limit the connection that has waited longest is closed, so that a new one is always answered.
    """

    def __init__(self, waitress: ModuleType, application: Callable[..., object], address: Address) -> None:
        """Start serving. Raises OSError if the address is unavailable."""
        logging.getLogger("waitress").addHandler(logging.NullHandler())  # faulty requests are not logged
        self._asyncore = waitress.wasyncore
        self._open: dict[int, object] = {}
        listening = _listening(address)
        try:
            self._server: Any = waitress.create_server(
                application,
                self._open,
                sockets=[listening],
                threads=_WORKERS,
                connection_limit=2 * MOST_CONNECTIONS,
                channel_timeout=_LONGEST_SILENCE,
                cleanup_interval=1,
                max_request_header_size=_MOST_ASKED,
                max_request_body_size=_MOST_ASKED,
            )
        except BaseException:
            listening.close()
            raise
        self.port = int(listening.getsockname()[1])
        self._is_over = False
        self._thread = threading.Thread(target=self._serve, name="metrics", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        channels: dict[int, _Channel] = self._server.active_channels
        while not self._is_over:
            self._asyncore.loop(timeout=1.0, use_poll=True, map=self._open, count=1)
            if len(channels) > MOST_CONNECTIONS:
                _one_too_many(channels.values()).handle_close()

    def end(self) -> None:
        """Close all connections, and wait for the threads."""
        self._is_over = True
        self._server.pull_trigger()
        self._thread.join()
        self._server.task_dispatcher.shutdown()
        self._asyncore.close_all(self._open)  # here: the thread might close the trigger too early


def _listening(address: Address) -> socket.socket:
    """Return a socket bound to the first address of a host. Raises OSError."""
    family, kind, protocol, _, where = socket.getaddrinfo(
        address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    made = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(where)
    except OSError:
        made.close()
        raise
    return made


class _Channel(Protocol):
    """The attributes used of waitress' HTTPChannel, a connection."""

    requests: Sequence[object]
    total_outbufs_len: int
    creation_time: float

    def handle_close(self) -> None: ...


def _one_too_many(channels: Iterable[_Channel]) -> _Channel:
    """Return the oldest connection of the larger group: those waiting for an answer, or the others.

    So neither many idle clients nor many that never read their answer push out a new one.
    """
    waiting: list[_Channel] = []
    silent: list[_Channel] = []
    for channel in channels:
        (waiting if channel.requests or channel.total_outbufs_len else silent).append(channel)
    more = silent if len(silent) >= len(waiting) else waiting
    return min(more, key=lambda channel: channel.creation_time)


class _Samples:
    """The samples of all metrics, by name in the order of FAMILIES."""

    def __init__(self) -> None:
        self.by_name: dict[str, list[tuple[tuple[str, ...], float]]] = {name: [] for name in FAMILIES}

    def add(self, name: str, labels: tuple[str, ...], number: float) -> None:
        self.by_name[name].append((labels, float(number)))


def _add_queue(samples: _Samples, queue: WatchedQueue, *, is_up: bool) -> None:
    """Add what is known about a queue, even if it cannot be read now."""
    label, totals = (queue.label,), queue.totals
    samples.add("crondor_queue_up", label, is_up)
    samples.add("crondor_poll_seconds", label, queue.seconds)
    samples.add("crondor_runs_due_total", label, totals.due)
    samples.add("crondor_runs_started_total", label, totals.started)
    samples.add("crondor_runs_unknown_total", label, totals.unknown)
    samples.add("crondor_starts_unplanned_total", label, totals.unplanned)
    for cause in Cause:
        samples.add("crondor_runs_missed_total", (*label, cause.value), totals.missed[cause])
        samples.add("crondor_runs_lost_total", (*label, cause.value), totals.lost[cause])


def _add_look(samples: _Samples, name: str, look: Look) -> None:
    label = (name,)
    samples.add("crondor_runs_late", label, look.late)
    states, troubled, drift, gates, corrections = Counter[str](), 0, 0, 0, 0
    for number, each in enumerate(look.jobs):
        states[each.state.value] += 1
        troubled += each.status.is_troubled
        drift += any(fault.kind == DRIFT for fault in each.trouble)
        gates += each.is_gate_open
        corrections += each.right_time is not None
        if number < MOST_JOBS:
            _add_job(samples, name, each)
    for state, number in states.items():
        samples.add("crondor_jobs", (*label, state), number)
    samples.add("crondor_jobs_trouble", label, troubled)
    samples.add("crondor_jobs_drift", label, drift)
    samples.add("crondor_gates_open", label, gates)
    samples.add("crondor_guard_corrections", label, corrections)


def _add_job(samples: _Samples, name: str, each: JobStanding) -> None:
    labels = (name, str(each.job), each.owner or "")
    coming = each.next
    for moment, time in (
        ("next_start", None if coming is None else coming.time),
        ("last_start", each.last_start),
        ("last_success", each.last_success),
    ):
        if time is not None:
            samples.add(f"crondor_job_{moment}_timestamp_seconds", labels, time)
    samples.add("crondor_job_gate_open", labels, each.is_gate_open)
    if each.latest is not None and each.latest.verdict is Verdict.LATE:
        samples.add("crondor_job_late", labels, 1)
    missed = each.outcome
    if missed is not None and missed.verdict is not Verdict.STARTED and missed.cause is not None:
        samples.add("crondor_job_missed", (*labels, missed.cause.value), 1)


def _add_router(samples: _Samples, path: str, report: RouterReport | None) -> None:
    label = (path,)
    samples.add("crondor_router_up", label, report is not None and report.answered)
    if report is None:
        return
    samples.add("crondor_router_claims_total", label, report.counts.get("claimed", 0))
    samples.add("crondor_router_copies_total", label, report.counts.get("submitted", 0))
    for what in _FAILURES:
        samples.add("crondor_router_failures_total", (*label, what), report.counts.get(what, 0))
    samples.add("crondor_router_poll_seconds", label, report.poll_seconds)
    samples.add("crondor_router_last_poll_timestamp_seconds", label, report.polled)
