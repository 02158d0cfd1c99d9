"""A router over queues in memory, with sites, on a virtual clock; the tests' stage."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from crondor.classad import Expression
from crondor.classad.ad import ClassAd
from crondor.config import read_config
from crondor.event_log import JobEvent
from crondor.job_queue import JobId
from crondor.router.daemon import LogEntry, RoutedState, Router, RouterEvent, RouterOptions
from crondor.router.daemon.rehearsal import Site, Sites
from crondor.router.table.loading import load_table
from crondor.router.table.route import RoutingTable
from crondor.schedd.embedded import MemorySchedd
from crondor.schedd.protocol import Schedd

NOW = 1_795_200_000
ROUTE = "REQUIREMENTS WantJobRouter\nUNIVERSE vanilla\n"


def table(routes: Mapping[str, str], knobs: str = "") -> RoutingTable:
    """Return a routing table, which has no fault."""
    text = f"JOB_ROUTER_ROUTE_NAMES = {' '.join(routes)}\n{knobs}\n"
    for name, rules in routes.items():
        text += f"JOB_ROUTER_ROUTE_{name} @=end\n{rules}\n@end\n"
    made = load_table(read_config(text))
    assert made.is_enabled, made.diagnostics
    assert not made.rejected
    return made


def job(**attributes: object) -> ClassAd:
    """Return a job that wants to be routed."""
    base: dict[str, object] = {
        "Owner": "alice", "User": "alice@example.org", "Cmd": "/bin/true", "JobUniverse": 5, "WantJobRouter": True,
    }  # fmt: skip
    return ClassAd({**base, **attributes})


class Stage:
    """A schedd, or one for sources and one for copies; a router; sites; the clock."""

    def __init__(
        self,
        made: RoutingTable,
        sites: Iterable[Site] = (),
        *,
        options: RouterOptions | None = None,
        atomic: bool = True,
        two: bool = False,
    ) -> None:
        """Set it up; nobody polls yet."""
        self.now = NOW
        self.table = made
        self.entries: list[LogEntry] = []
        self.events: list[JobEvent] = []
        self.log_works = True
        self.source = MemorySchedd(clock=lambda: self.now, atomic_edits=atomic)
        self.destination = MemorySchedd(clock=lambda: self.now, atomic_edits=atomic) if two else self.source
        self.sites = Sites(self.destination, sites, self.now)
        self.options = replace(options or RouterOptions(), log=self.entries.append, write_event=self._write)
        self.router = self.start()

    def start(self, source: Schedd | None = None, destination: Schedd | None = None) -> Router:
        """Return a new router, as after a restart."""
        source = source or self.source
        copies = destination or (None if self.destination is self.source else self.destination)
        self.router = Router(self.table, source, copies, clock=lambda: self.now, options=self.options)
        # A new process sees a queue anew.
        self.source.forget_changes()
        if self.destination is not self.source:
            self.destination.forget_changes()
        return self.router

    def _write(self, _ad: ClassAd, event: JobEvent) -> bool:
        if self.log_works:
            self.events.append(event)
        return self.log_works

    def submit(self, *ads: ClassAd) -> list[JobId]:
        """Submit sources, a cluster each."""
        return [self.source.submit([ad])[0] for ad in ads]

    def poll(self, times: int = 1, seconds: int = 10) -> None:
        """Let the router poll, and time pass before each."""
        for _ in range(times):
            self.now += seconds
            self.sites.advance(self.now)
            if self.source is not self.destination:
                self.source.clear_finished()
            self.router.poll()

    def ad(self, job_id: JobId) -> ClassAd:
        """Return a source's ad as it is, or as it left."""
        found = self.source.jobs(job_id) or self.source.history(job_id)
        return found[0]

    def values(self, job_id: JobId, *names: str) -> list[object]:
        """Return attributes of a source."""
        ad = self.ad(job_id)
        return [ad.python(name) if name in ad else None for name in names]

    def copies(self) -> list[ClassAd]:
        """Return the copies in the queue."""
        return self.destination.jobs('RoutedBy =?= "jobrouter"')

    def copy(self) -> JobId:
        """Return the only copy."""
        (ad,) = self.copies()
        return JobId(int(str(ad.python("ClusterId"))), int(str(ad.python("ProcId"))))

    def edit(self, job_id: JobId, **edits: object) -> None:
        """Edit a job, source or copy."""
        schedd = self.source if job_id in self.source.mirror else self.destination
        assert schedd.edit_if(job_id, "true", edits)

    def said(self, what: RouterEvent) -> list[LogEntry]:
        """Return what the router has said of a kind."""
        return [entry for entry in self.entries if entry.what is what]

    def states(self) -> Sequence[RoutedState]:
        """Return the states of the jobs that the router has."""
        return [found.state for found in self.router.jobs.values()]

    def told(self) -> list[int]:
        """Return the numbers of the events written."""
        return [event.number for event in self.events]


UNDEFINED = Expression("undefined")
