"""What is watched as metrics for Prometheus, served on an address of its own (extra ``monitor``)."""

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
from crondor.monitor.watched import WatchedQueue
from crondor.router.daemon import RouterReport
from crondor.router.daemon.lock import is_locked

if TYPE_CHECKING:
    from prometheus_client.core import Metric


LOOPBACK: Final = "127.0.0.1"
MOST_JOBS: Final = 10_000  # of a queue that have series of their own
MOST_CONNECTIONS: Final = 64
_WORKERS: Final = 2  # threads that make answers
_LONGEST_SILENCE: Final = 10  # seconds that a connection may send and take nothing
_MOST_ASKED: Final = 1 << 14  # bytes of a request
_STATUS: Final = ".status"  # of the file that a router leaves beside its lock
_QUEUE: Final = ("schedd",)
_CAUSE: Final = ("schedd", "cause")
_JOB: Final = ("schedd", "job_id", "owner")  # a label `job` is Prometheus' own
_ROUTER: Final = ("router",)

FAMILIES: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "crondor_last_poll_timestamp_seconds": ("when it was looked last", ()),
    "crondor_queue_up": ("1 where the last look could read the queue", _QUEUE),
    "crondor_poll_seconds": ("how long the last look took", _QUEUE),
    "crondor_runs_due_total": ("due times", _QUEUE),
    "crondor_runs_started_total": ("due times whose program began", _QUEUE),
    "crondor_runs_missed_total": ("due times missed, by cause", _CAUSE),
    "crondor_runs_lost_total": ("due times lost, by cause", _CAUSE),
    "crondor_runs_unknown_total": ("due times of which nothing is known", _QUEUE),
    "crondor_starts_unplanned_total": ("programs that began and belong to no due time", _QUEUE),
    "crondor_runs_late": ("due times that are late now", _QUEUE),
    "crondor_jobs": ("scheduled jobs, by state", ("schedd", "state")),
    "crondor_jobs_trouble": ("scheduled jobs that something keeps from running", _QUEUE),
    "crondor_gates_open": ("idle jobs whose gate is open: they may be matched now", _QUEUE),
    "crondor_guard_corrections": ("idle jobs whose DeferralTime is not the manual's", _QUEUE),
    "crondor_job_next_start_timestamp_seconds": ("the job's next start", _JOB),
    "crondor_job_last_start_timestamp_seconds": ("when its program began last", _JOB),
    "crondor_job_last_success_timestamp_seconds": ("when it ended last with exit code 0", _JOB),
    "crondor_job_gate_open": ("1 where it may be matched now", _JOB),
    "crondor_job_late": ("1 while its last due time is late", _JOB),
    "crondor_job_missed": ("1 from a missed or lost due time to the next start", (*_JOB, "cause")),
    "crondor_router_up": ("1 where a router runs and its queues answer", _ROUTER),
    "crondor_router_claims_total": ("jobs that the router has claimed", _ROUTER),
    "crondor_router_copies_total": ("copies that it has submitted", _ROUTER),
    "crondor_router_failures_total": ("what went wrong, by event", ("router", "cause")),
    "crondor_router_poll_seconds": ("how long its last poll took", _ROUTER),
    "crondor_router_last_poll_timestamp_seconds": ("when it polled last", _ROUTER),
}
"""What each metric is, and its labels; a name that ends in _total is a counter's, any other a gauge's."""

_FAILURES: Final = (
    "not_claimed", "route_gone", "not_transformed", "no_owner", "no_sandbox", "not_submitted", "unsure", "not_edited",
    "lag", "not_whole", "not_updated", "copy_not_updated", "not_finalized", "no_log", "failed", "not_removed",
    "not_yielded", "files_left", "passed_over", "unreachable",
)  # fmt: skip


class Address(NamedTuple):
    """Where the metrics are."""

    host: str
    port: int

    def shown(self, port: int) -> str:
        """Return it as part of a URL, with the port that it has got."""
        return f"[{self.host}]:{port}" if ":" in self.host else f"{self.host}:{port}"


class Metrics:
    """The metrics of the last looks; made after each look, and handed out as they are."""

    def __init__(self, routers: Iterable[str] = ()) -> None:
        """Begin with none. ``routers`` are the status files of routers.

        Raises ImportError where the extra ``monitor`` is missing.
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
        """Yield the metrics, as a collector of prometheus_client does."""
        yield from self._families

    def update(self, looks: Mapping[WatchedQueue, Look | None], now: int) -> None:
        """Make them of what was found at ``now`` (epoch seconds)."""
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
        """Serve them, and give the port, until the block ends. Raises CrondorError where it cannot be had."""
        from prometheus_client import CollectorRegistry, make_wsgi_app  # noqa: PLC0415 - see above

        registry = CollectorRegistry()
        registry.register(self)
        try:
            server = _Server(self._waitress, make_wsgi_app(registry), address)
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or error
            message = f"the metrics cannot be served on {address.shown(address.port)}: {reason}"
            raise CrondorError(Diagnostic("monitor-address", message, help="name another HOST:PORT")) from error
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
        """Return what a router has left; None where none runs, or what it left cannot be read."""
        lock = path.removesuffix(_STATUS)
        if lock != path and not is_locked(Path(lock)):
            return None  # one that ended otherwise than it should
        try:
            return RouterReport.read(path)
        except CrondorError as error:
            self.findings += error.diagnostics
            return None


class _Server:
    """Answers requests in threads of its own; who connects and sends nothing costs neither a thread nor the answer.

    Of too many connections the one that has waited longest is closed, so that a new one is always answered.
    """

    def __init__(self, waitress: ModuleType, application: Callable[..., object], address: Address) -> None:
        """Begin. Raises OSError where the address cannot be had."""
        logging.getLogger("waitress").addHandler(logging.NullHandler())  # what others send is no news
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
        """Close what is open, and wait for it."""
        self._is_over = True
        self._server.pull_trigger()
        self._thread.join()
        self._server.task_dispatcher.shutdown()
        self._asyncore.close_all(self._open)  # not by the thread, which might close the trigger before it is pulled


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
    """A connection, as far as it is needed of waitress' HTTPChannel."""

    requests: Sequence[object]
    total_outbufs_len: int
    creation_time: float

    def handle_close(self) -> None: ...


def _one_too_many(channels: Iterable[_Channel]) -> _Channel:
    """Return the oldest of those that wait for an answer or of those that do not, whichever are more.

    So neither many that never ask nor many that never take their answer push out one that has just come.
    """
    waiting: list[_Channel] = []
    silent: list[_Channel] = []
    for channel in channels:
        (waiting if channel.requests or channel.total_outbufs_len else silent).append(channel)
    more = silent if len(silent) >= len(waiting) else waiting
    return min(more, key=lambda channel: channel.creation_time)


class _Samples:
    """The samples of all metrics, by name in the order of FAMILIES; those of no queue and no router are left out."""

    def __init__(self) -> None:
        self.by_name: dict[str, list[tuple[tuple[str, ...], float]]] = {name: [] for name in FAMILIES}

    def add(self, name: str, labels: tuple[str, ...], number: float) -> None:
        self.by_name[name].append((labels, float(number)))


def _add_queue(samples: _Samples, queue: WatchedQueue, *, is_up: bool) -> None:
    """Add what is known of a queue also where it cannot be read now."""
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
    for state, number in Counter(each.status.state.value for each in look.jobs).items():
        samples.add("crondor_jobs", (*label, state), number)
    samples.add("crondor_jobs_trouble", label, sum(each.status.is_troubled for each in look.jobs))
    samples.add("crondor_gates_open", label, sum(each.is_gate_open for each in look.jobs))
    samples.add("crondor_guard_corrections", label, sum(each.right_time is not None for each in look.jobs))
    for each in look.jobs[:MOST_JOBS]:
        _add_job(samples, name, each)


def _add_job(samples: _Samples, name: str, each: JobStanding) -> None:
    labels = (name, each.status.id, each.status.queued.string("Owner") or "")
    coming = each.status.next
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
