"""A job router rehearsed: jobs, routes, sites, crashes and reconfigurations, on a virtual clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from crondor.classad.ad import ClassAd
from crondor.job_queue.keys import JobId
from crondor.pool.daemons.clock import Timetable
from crondor.router.daemon.context import RouterOptions
from crondor.router.daemon.log import LogEntry
from crondor.router.daemon.router import Router
from crondor.router.daemon.sites import Site, Sites
from crondor.router.table.table import RoutingTable
from crondor.schedd.memory import MemorySchedd

_SCHEDD_INTERVAL: Final = 300

Watcher = Callable[[LogEntry], None]


class Rehearsal:
    """A queue in memory, a router over it, and sites; nothing outside is touched.

    The router polls every JOB_ROUTER_POLLING_PERIOD; every ``schedd_interval`` seconds the schedd computes what is due
    of DeferralTime. ``schedd`` is the queue: submit, hold, release and remove jobs there as users would. ``watchers``
    are called with each entry of the router's journal. All times are epoch seconds.
    """

    def __init__(
        self,
        table: RoutingTable,
        sites: Iterable[Site],
        now: int,
        *,
        options: RouterOptions | None = None,
        schedd_interval: int = _SCHEDD_INTERVAL,
        seed: int = 0,
    ) -> None:
        """Begin at ``now`` with an empty queue. Raises UnknownZone."""
        self._timetable = Timetable(now)
        self._table = table
        self.entries: list[LogEntry] = []
        self.watchers: list[Watcher] = [self.entries.append]
        base = options or RouterOptions()
        self._options = replace(base, log=self._tell)
        self.schedd = MemorySchedd(clock=lambda: self.now, zone=base.zone)
        self.sites = Sites(self.schedd, sites, now, seed=seed)
        self.router = self._start()
        self._schedd_interval = schedd_interval
        self._timetable.at(now, self._poll)
        self._timetable.at(now, self._pass)

    @property
    def now(self) -> int:
        """How late it is."""
        return self._timetable.now

    def at(self, time: int, call: Callable[[Rehearsal], None]) -> None:
        """Have something done at a time: what users and administrators do."""
        self._timetable.at(time, lambda _: call(self))

    def submit(self, ads: Sequence[ClassAd]) -> list[JobId]:
        """Submit jobs, each a cluster of its own."""
        return [self.schedd.submit([ad])[0] for ad in ads]

    def advance(self, until: int) -> None:
        """Let time pass up to and including ``until``."""
        self._timetable.advance(until)
        self.sites.advance(until)

    def crash(self) -> None:
        """End the router at once, and start another one, which knows nothing but the queue."""
        self.router = self._start()

    def reconfigure(self, table: RoutingTable) -> None:
        """Give the router another table."""
        self._table = table
        self.router.reload(table)

    def _start(self) -> Router:
        self.schedd.forget_changes()
        return Router(self._table, self.schedd, clock=lambda: self.now, options=self._options)

    def _tell(self, entry: LogEntry) -> None:
        for watcher in self.watchers:
            watcher(entry)

    def _poll(self, now: int) -> None:
        self.sites.advance(now)
        self.router.poll()
        self._timetable.at(now + max(1, self._table.settings.polling_period), self._poll)

    def _pass(self, now: int) -> None:
        self.schedd.recalculate()
        self._timetable.at(now + max(1, self._schedd_interval), self._pass)
