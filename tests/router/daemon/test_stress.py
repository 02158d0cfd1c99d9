"""Weeks of a router's life by lot: users, sites, crashes, reloads, silence, a second router, clocks set back."""

import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from crondor.classad.ad import ClassAd
from crondor.job.attributes import JobStatus
from crondor.job_queue import JobId
from crondor.job_queue.mirror import AdChange, ChangeKind
from crondor.router.daemon import LogEntry, Router, RouterOptions
from crondor.router.daemon.rehearsal import Site, SiteFault, Sites
from crondor.router.table.route import RoutingTable
from crondor.schedd.embedded import EmbeddedSchedd, MemorySchedd
from crondor.schedd.protocol import Acted, ChangeList, Hold, JobChange, Which
from tests.examples import TIMES
from tests.router.daemon.faults import Crash, Fault, unreachable
from tests.router.daemon.scenes import NOW, ROUTE, job, table

ROUTERS = ("jobrouter", "other")
LIVE = (1, 2, 5, 6)
ACTS, CALM = 60, 500
LAG = 60


def tables(name: str, lot: random.Random) -> RoutingTable:
    """Return a table of one to three routes with limits by lot; each router has routes of its own."""
    routes = {
        f"{name}{number}": f"{ROUTE}DELETE WantJobRouter\n"
        f"MaxJobs = {lot.randint(1, 4)}\nMaxIdleJobs = {lot.randint(1, 3)}\n"
        for number in sorted(lot.sample(range(3), lot.randint(1, 3)))
    }
    knobs = [
        f"JOB_ROUTER_NAME = {name}",
        f"JOB_ROUTER_MAX_JOBS = {lot.choice([-1, 3, 5])}",
        f"JOB_ROUTER_ROUND_ROBIN_SELECTION = {lot.choice(['true', 'false'])}",
        f"JOB_ROUTER_RELEASE_ON_HOLD = {lot.choice(['true', 'false'])}",
        f"MAX_JOB_MIRROR_UPDATE_LAG = {LAG}",
    ]
    return table(routes, "\n".join(knobs))


class Life:
    """One or two queues, two routers, six sites, and what happens to them; ``wrong`` is what must not have been."""

    def __init__(self, seed: int) -> None:
        """Set it up."""
        self.lot = lot = random.Random(seed)  # noqa: S311 - a test's lot
        self.real, self.behind = NOW, 0
        self.wrong: list[str] = []
        self.log: list[str] = []
        atomic = lot.random() < 0.5
        self.source = MemorySchedd(clock=lambda: self.now, atomic_edits=atomic)
        two = lot.random() < 0.5
        self.copies = MemorySchedd(clock=lambda: self.now, atomic_edits=atomic) if two else self.source
        self.names = ROUTERS[: lot.randint(1, 2)]
        self.site_names = [f"{name}{number}" for name in self.names for number in range(3)]
        self.sites = Sites(self.copies, [self._site(each, SiteFault.RUNS) for each in self.site_names], self.real)
        self.tables = {name: tables(name, lot) for name in self.names}
        self.routers = {name: self._start(name) for name in self.names}
        self.faults = Fault(kind=self._fault)
        self.polling: list[str] = []
        self.meddles = lot.random() < 0.5
        self.silent_until = 0
        self.held: set[str] = set()
        self.jobs: list[JobId] = []
        for schedd in {id(each): each for each in (self.source, self.copies)}.values():
            self.faults.watch(schedd)
            self._silence(schedd)
        self.copies.mirror.subscribe(self._look)
        self.were: dict[JobId, tuple[str | None, ...]] = {}
        self.source.mirror.subscribe(self._look_at_sources)

    @property
    def now(self) -> int:
        """What the clock of schedds and routers shows; time itself, in which sites work, does not go back."""
        return self.real - self.behind

    def _site(self, name: str, fault: SiteFault) -> Site:
        return Site(name, self.lot.randint(1, 3), self.lot.randint(1, 20), self.lot.randint(5, 60), fault)

    def _start(self, name: str) -> Router:
        """Return a router that knows the queues alone; each has a view of changes of its own."""
        options = RouterOptions(log=self._say)
        copies = None if self.copies is self.source else Own(self.copies, self)
        return Router(self.tables[name], Own(self.source, self), copies, clock=lambda: self.now, options=options)

    def _say(self, entry: LogEntry) -> None:
        self.log.append(f"{entry.time - NOW} {entry}")

    def _silence(self, schedd: MemorySchedd) -> None:
        """Have a schedd not answer for a while, to routers."""
        original = schedd.jobs

        def jobs(*args: object) -> object:
            if self.faults.is_armed and self.real < self.silent_until:
                raise unreachable()
            return original(*args)  # type: ignore[arg-type]

        schedd.jobs = jobs  # type: ignore[method-assign, assignment]

    def _look(self, changes: tuple[AdChange, ...]) -> None:
        """Look at the queue of copies after every transaction: limits hold where a copy comes, no source has two."""
        mirror = self.copies.mirror
        live = [
            each
            for each in mirror
            if mirror.text(each, "RoutedBy") and int(mirror.text(each, "JobStatus") or 0) in LIVE
        ]
        of = Counter((mirror.text(each, "RoutedFromJobId"), mirror.text(each, "RoutedBy")) for each in live)
        sources = Counter(mirror.text(each, "RoutedFromJobId") for each in live)
        self.wrong += [f"{self.now - NOW}: {each} has {n} copies" for each, n in sources.items() if n > 1]
        for change in changes:
            found = JobId.parse(change.key)
            if change.kind is not ChangeKind.CREATED or found is None or found not in live:
                continue
            by, name = (str(mirror.text(found, each)).strip('"') for each in ("RoutedBy", "RouteName"))
            made = self.tables[by]
            route = made.route(name)
            mine = [each for each in live if mirror.text(each, "RouteName") == f'"{name}"']
            idle = [each for each in mine if mirror.text(each, "JobStatus") in ("1", "5")]
            if route is None or len(mine) > route.max_jobs:
                self.wrong.append(f"{self.now - NOW}: {name} has {len(mine)} jobs")
            if sum(n for (_, each), n in of.items() if each == f'"{by}"') > made.settings.max_jobs >= 0:
                self.wrong.append(f"{self.now - NOW}: {by} has too many")
            if route is not None and not self.meddles and len(idle) > route.max_idle_jobs:
                self.wrong.append(f"{self.now - NOW}: {name} has {len(idle)} idle")
            where = self.source.mirror
            source = JobId.parse(str(mirror.text(found, "RoutedFromJobId")).strip('"'))
            if source is None or source not in where or where.text(source, "ManagedManager") != f'"{by}"':
                self.wrong.append(f"{self.now - NOW}: {found} is a copy of {source}, which is not the router's")

    def _look_at_sources(self, changes: tuple[AdChange, ...]) -> None:
        """Look at each source that changes: what users did stays done, and only idle jobs of nobody are taken."""
        mirror = self.source.mirror
        for found in filter(None, (JobId.parse(change.key) for change in changes)):
            if found not in mirror or mirror.text(found, "RoutedBy"):
                continue
            status, copied, managed = was = self.were.get(found, (None, None, None))
            now = tuple(mirror.text(found, each) for each in ("JobStatus", "HoldCopiedFromTargetJob", "Managed"))
            self.were[found] = now
            if not self.faults.is_armed:
                continue
            if (status == "3" or (status == "5" and copied != "true")) and now[0] != status:
                self.wrong.append(f"{self.now - NOW}: {found} was {was}, is {now}")
            if managed != '"External"' and now[2] == '"External"' and now[0] != "1":
                self.wrong.append(f"{self.now - NOW}: {found} was taken with status {now[0]}")

    # What happens

    def _act(self) -> None:
        """Do something, by lot."""
        act = self.lot.choice(
            [
                *self._users(),
                *(self._submit, self._submit, self._change_site, self._change_site, self._crash, self._reload),
                *(self._reload, self._fail, self._fail, self._go_silent, self._set_clock_back),
            ]
        )
        self.log.append(f"{self.now - NOW} -- {act.__name__}")
        act()

    def _users(self) -> list[Callable[[], None]]:
        """Return what users and sites do to jobs."""
        mine = [self._hold, self._release, self._remove, self._edit]
        return [*mine, self._hold_copy, self._release_copy, self._remove_copy]

    def _fault(self) -> BaseException:
        return self.lot.choice([Crash(), unreachable()])

    def meddle(self) -> None:
        """Do something to jobs while a router is between two operations, by lot."""
        if not self.meddles or not self.faults.is_armed or self.lot.random() > 0.05:
            return
        others = [each for each in self.names if each not in self.polling]
        if others and self.lot.random() < 0.5:
            self._poll_one(self.lot.choice(others))
            return
        act = self.lot.choice(self._users())
        self.log.append(f"{self.now - NOW} -- meanwhile {act.__name__}")
        self.faults.is_armed = False
        act()
        self.faults.is_armed = True

    def _one(self) -> JobId | None:
        known = [each for each in self.jobs if each in self.source.mirror]
        return self.lot.choice(known) if known else None

    def _a_copy(self) -> str:
        return f"RoutedBy =!= undefined && JobStatus =!= 4 && ClusterId % {self.lot.randint(1, 3)} == 0"

    def _submit(self) -> None:
        self.jobs += [self.source.submit([job()])[0] for _ in range(self.lot.randint(1, 4))]

    def _hold(self) -> None:
        found = self._one()
        if found is not None:
            self.held.add(str(found))
            self.source.hold(found, Hold("by alice"))

    def _release(self) -> None:
        self.source.release("RoutedBy =?= undefined", "by alice")

    def _remove(self) -> None:
        found = self._one()
        if found is not None:
            self.source.remove(found, "by alice")

    def _edit(self) -> None:
        found = self._one()
        if found is not None:
            self.source.edit_if(found, "true", {"JobPrio": self.lot.randint(0, 9), "ExitCode": self.lot.randint(0, 9)})

    def _hold_copy(self) -> None:
        self.copies.hold(self._a_copy(), Hold("by the site"))

    def _release_copy(self) -> None:
        self.copies.release("RoutedBy =!= undefined", "by the site")

    def _remove_copy(self) -> None:
        self.copies.remove(self._a_copy(), "by the site")

    def _change_site(self) -> None:
        self.sites.change(self._site(self.lot.choice(self.site_names), self.lot.choice(list(SiteFault))))

    def _crash(self) -> None:
        name = self.lot.choice(self.names)
        self.routers[name] = self._start(name)

    def _reload(self) -> None:
        name = self.lot.choice(self.names)
        self.tables[name] = tables(name, self.lot)
        self.routers[name].reload(self.tables[name])

    def _fail(self) -> None:
        self.faults.at |= {2 * self.faults.count + self.lot.randint(0, 30) for _ in range(self.lot.randint(1, 4))}

    def _go_silent(self) -> None:
        self.silent_until = self.real + self.lot.choice([20, 20, 60, 300])

    def _set_clock_back(self) -> None:
        self.behind += self.lot.choice([1, 60, 3600, 30 * 86400])

    def _poll(self) -> None:
        self.real += 10
        self.sites.advance(self.real)
        self.source.clear_finished()
        self.copies.clear_finished()
        self.faults.is_armed = True
        for name in self.names:
            self._poll_one(name)
        self.faults.is_armed = False

    def _poll_one(self, name: str) -> None:
        self.polling.append(name)
        try:
            self.routers[name].poll()
        except Crash:
            self.log.append(f"{self.now - NOW} -- {name} crashes")
            self.routers[name] = self._start(name)
        finally:
            self.polling.remove(name)

    def live(self) -> None:
        """Live, and come to rest."""
        for _ in range(ACTS):
            for _ in range(self.lot.randint(0, 2)):
                self._act()
            self._poll()
        self.silent_until, self.meddles = 0, False
        self.faults.at = set()
        for name in self.site_names:
            self.sites.change(Site(name, 3, 1, 5))
        for _ in range(CALM):
            self._release()
            self._release_copy()
            self._poll()
            if (
                not self.source.jobs()
                and not self.copies.jobs()
                and not any(each.jobs for each in self.routers.values())
            ):
                break
        self._end()

    def _end(self) -> None:
        """Look at what is left."""
        self.wrong += [f"{ad['ClusterId']} is left with {ad['JobStatus']}" for ad in self.source.jobs()]
        self.wrong += [f"copy {ad['ClusterId']} is left" for ad in self.copies.jobs() if "RoutedBy" in ad]
        done = Counter(self.sites.ended)
        for found in self.jobs:
            past = self.source.history(found)
            if len(past) != 1:
                self.wrong.append(f"{found} has ended {len(past)} times")
                continue
            ended = JobStatus(int(str(past[0].python("JobStatus"))))
            if ended not in (JobStatus.COMPLETED, JobStatus.REMOVED):
                self.wrong.append(f"{found} has ended as {ended}")
            if done[str(found)] > 1 and str(found) not in self.held:
                self.wrong.append(f"{found} was done {done[str(found)]} times")


class Own:
    """A schedd as one of several routers sees it: with changes of its own, and others who do something in between."""

    def __init__(self, schedd: MemorySchedd, life: Life) -> None:
        """Begin anew."""
        self.capabilities = schedd.capabilities
        self._schedd = schedd
        self._life = life
        self._changes = ChangeList(schedd.mirror)

    def changes(self) -> list[JobChange]:
        """Return what has changed since this router asked last."""
        return self._changes.take()

    def jobs(self, which: Which = None, projection: object = None) -> list[ClassAd]:  # noqa: ARG002
        """Return jobs."""
        self._life.meddle()
        return self._schedd.jobs(which)

    def edit_if(self, job_id: JobId, condition: str, edits: Mapping[str, object]) -> bool:
        """Edit a job, attribute by attribute where the schedd cannot do otherwise."""
        self._life.meddle()
        if self.capabilities.atomic_edits:
            return self._schedd.edit_if(job_id, condition, edits)
        for name, value in edits.items():
            if not self._schedd.edit_if(job_id, condition, {name: value}):
                return False
            condition = "true"
            self._life.meddle()
        return True

    def submit(self, ads: Sequence[ClassAd]) -> list[JobId]:
        """Submit jobs."""
        self._life.meddle()
        found = self._schedd.submit(ads)
        self._life.meddle()
        return found

    def remove(self, which: Which, reason: str) -> Acted:
        """Remove jobs."""
        self._life.meddle()
        return self._schedd.remove(which, reason)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever it is
        """Return what this has in common with the schedd."""
        return getattr(self._schedd, name)


@pytest.mark.parametrize("seed", range(15 * TIMES))
def test_whatever_happens(seed: int) -> None:
    """No job lost, none run twice, no copy without a source, limits hold, and everything ends."""
    life = Life(seed)
    life.live()
    assert life.wrong == []


ROOT = Path(__file__).resolve().parents[3]
DIES = 9


def live(folder: Path, fatal: int, now: int) -> int:
    """Run a process, and return its status."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "cli")])}
    command = [sys.executable, "-m", "tests.router.daemon.mortal", str(folder), str(fatal), str(now)]
    return subprocess.run(command, env=environ, cwd=ROOT, capture_output=True, check=False).returncode


@pytest.mark.parametrize("fatal", [1, 2, 4, 9])
def test_a_process_that_ends_loses_no_job(tmp_path: Path, fatal: int) -> None:
    """Killed at a transaction of its own or of the sites', and again: both jobs complete, each once."""
    folder = tmp_path / "queue"
    with EmbeddedSchedd(folder, clock=lambda: NOW) as schedd:
        schedd.submit([job()])
        schedd.submit([job()])
    assert live(folder, fatal, NOW) == DIES
    assert live(folder, 1, NOW + 1000) == DIES
    assert live(folder, 10_000, NOW + 2000) == 0
    with EmbeddedSchedd(folder, clock=lambda: NOW + 9000) as schedd:
        assert schedd.jobs() == []
        history = schedd.history()
    sources = [ad for ad in history if "RoutedFromJobId" not in ad]
    copies = [ad for ad in history if "RoutedFromJobId" in ad]
    assert sorted(int(str(ad["ClusterId"])) for ad in sources) == [1, 2]
    assert {str(ad["JobStatus"]) for ad in sources} == {"4"}
    assert sorted(str(ad.python("RoutedFromJobId")) for ad in copies) == ["1.0", "2.0"]
    assert {str(ad["NumJobStarts"]) for ad in copies} == {"1"}
