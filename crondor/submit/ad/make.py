"""The ads of the jobs of a submit description: the steps of condor_submit, in its order, group by group.

HTCondor: SubmitHash::make_job_ad.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from crondor._memory import Memory
from crondor._schedule.job_terms import CRON_COMMANDS
from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic
from crondor.submit.ad import (
    arguments,
    containers,
    credentials,
    environment,
    executable,
    finish,
    grid,
    machine,
    policy,
    process,
    requirements,
    resources,
    retries,
    simple,
    tool,
    transfer,
    universe,
)
from crondor.submit.ad.deferral import check_scheduler, set_deferral
from crondor.submit.ad.draft import ClusterAd, Draft
from crondor.submit.ad.knobs import SubmitKnobs
from crondor.submit.errors import InvalidSubmit
from crondor.submit.file import LIMIT, SubmitFile
from crondor.submit.host import SubmitHost
from crondor.submit.jobs import JobGroup
from crondor.submit.table import PREFIX

_MOST: Final = 100  # faults in one error
_BY_FACTORY: Final = ", or leave the jobs' late materialization out"
LATE: Final = (
    ("max_materialize", "jobmaterializelimit"),
    ("max_idle", "jobmaterializemaxidle"),
    ("materialize_max_idle", "jobmaterializemaxidle"),
)
"""Commands with which the schedd makes the jobs later, from the cluster's ad."""

# Names that become a part of an attribute, or of what stands in one, begin so.
_PREFIXES: Final = (finish.ATTRIBUTE, finish.JOB_SET, resources.PREFIX, *grid.PREFIXES, *retries.BODIES)

COMMANDS: Final = tuple(
    dict.fromkeys(
        (
            *simple.NAMES,
            *arguments.NAMES,
            *containers.NAMES,
            *credentials.NAMES,
            *environment.NAMES,
            *executable.NAMES,
            *finish.NAMES,
            *grid.NAMES,
            *machine.NAMES,
            *policy.NAMES,
            *process.NAMES,
            *requirements.NAMES,
            *resources.NAMES,
            *retries.NAMES,
            *tool.NAMES,
            *transfer.NAMES,
            *universe.NAMES,
            *(name for names in LATE for name in names),
        )
    )
)


_KNOWN: Final = frozenset(COMMANDS)

# Commands of the first job's whose values no other job's ad is made with: only that they are there counts.
_UNREAD: Final = frozenset(name for names in CRON_COMMANDS for name in names)


class JobAd(NamedTuple):
    """The ad that some jobs have in common; its ProcId is the first job's.

    ``jobs`` are the jobs as the language sees them. Jobs that are materialized late have one ad, the cluster's,
    without ProcId and JobStatus.
    """

    jobs: JobGroup
    ad: ClassAd


def job_ads(
    file: SubmitFile,
    *,
    config: Mapping[str, str] | None = None,
    in_order: bool = False,
    limit: int = LIMIT,
    cluster: int = 1,
    factory: bool = False,
    used: set[str] | None = None,
    memory: Memory[frozenset[str]] | None = None,
) -> Iterator[JobAd]:
    """Yield the ad of each group of jobs, as crondor.submit.job_ads says.

    ``memory`` has the jobs that were seen to have no fault, with the names that were looked up for them: of these no ad
    is made or yielded, unless they are the cluster's first.
    """
    knobs = SubmitKnobs(config or {})
    file = file.in_cluster(cluster, knobs.get("DEFAULT_UNIVERSE") or "")
    maker = _Maker(file, file.host, knobs, cluster, is_late=factory, memory=memory)
    is_one_queue = knobs.flag("SUBMIT_PREVENT_MULTI_QUEUE", default=False)
    faults: list[Diagnostic] = []
    groups = file.groups(maker.names, limit, in_order=in_order)
    while True:
        try:
            group = next(groups, None)
        except InvalidSubmit as error:
            raise InvalidSubmit(dict.fromkeys((*faults[:_MOST], *error.diagnostics))) from None
        if group is None or (is_one_queue and group.first[0] > 0):
            break
        made = maker.make(group)
        faults += maker.faults
        if used is not None:
            used.update(maker.used_by(group))
        if len(faults) >= _MOST:
            break
        if not faults:
            yield from made
        if maker.is_late:
            break
    if file.behind_queue is not None and (maker.is_late or is_one_queue):
        message = "Extra data found after queue statement"
        help_text = "write all lines before one queue statement" + _BY_FACTORY * maker.is_late
        faults.append(Diagnostic("submit-late", message, span=file.behind_queue, help=help_text))
    if faults:
        raise InvalidSubmit(dict.fromkeys(faults[:_MOST]))


class _Maker:
    """Makes the ads of one cluster; its first job decides about those behind it."""

    def __init__(
        self,
        file: SubmitFile,
        host: SubmitHost,
        knobs: SubmitKnobs,
        number: int,
        *,
        is_late: bool,
        memory: Memory[frozenset[str]] | None = None,
    ) -> None:
        loops = [name for queue in file.queues for name in queue.arguments.variables]
        assigned = dict.fromkeys(name.removeprefix(PREFIX) for name in (*file.keys, *loops))
        known = _KNOWN.union(each.command.lower() for each in simple.extended(knobs))
        own = [name for name in assigned if _is_named_by_its_user(name)]
        self.names = tuple(dict.fromkeys((*(name for name in assigned if name in known), *own)))
        places = {key: file.name(key) for key in own}
        self.spellings = {key: place.text for key, place in places.items() if place is not None}
        self.host = host
        self.knobs = knobs
        self.number = number
        self.file = file
        self.jobs = file.job_count
        self.cluster: ClusterAd | None = None
        self.memory = memory
        self.faults: list[Diagnostic] = []
        has_many = bool(file.queues) and file.queues[0].jobs > 1
        self.is_late = is_late or (has_many and knobs.flag("SUBMIT_FACTORY_JOBS_BY_DEFAULT", default=False))

    def make(self, group: JobGroup) -> list[JobAd]:
        """Return the ad of a group; two, where its first job is the cluster's first and differs by that."""
        self.faults = []
        if self.cluster is not None:
            return self._next(group, self.cluster)
        file = self.file
        name = "" if file.source.name.startswith("<") else file.source.name
        cluster = ClusterAd(number=self.number, file=name, now=file.now, environ=file.environ)
        self.cluster = cluster
        draft = self._draft(group, cluster)
        universe.start_cluster(draft)
        universe.set_universe(draft)
        self.is_late = self.is_late or _is_late(draft)
        self.faults += draft.faults
        cluster.ad = draft.ad
        ad = self._job(group, cluster)
        if self.is_late:
            for name in ("ProcId", "JobStatus"):
                del ad[name]
            return [JobAd(replace(group, count=self.jobs), ad)]
        cluster.ad = ad.copy()
        self._remember(group, cluster)
        if group.count == 1 or self.faults:
            return [JobAd(group, ad)]
        statement, first = group.first
        others = replace(group, count=group.count - 1, first=(statement, first + 1))
        next_ad = self._job(others, cluster)
        if {**next_ad, "ProcId": None} == {**ad, "ProcId": None}:
            return [JobAd(group, ad)]
        return [JobAd(replace(group, count=1), ad), JobAd(others, next_ad)]

    def _remember(self, first: JobGroup, cluster: ClusterAd) -> None:
        """Keep in memory what was seen of the jobs behind a first one like this; nothing else is behind their ads."""
        if self.memory is not None:
            environ = None if cluster.environ is None else tuple(cluster.environ.items())
            about = (self.host, self.knobs.all, tuple(self.spellings.items()), cluster.file, cluster.now, environ)
            values = tuple((name, bool(text) if name in _UNREAD else text) for name, text in first.values.items())
            self.memory.about((*about, self.number, first.first[1], values))

    def _next(self, group: JobGroup, cluster: ClusterAd) -> list[JobAd]:
        """Return the ad of a group that is not the cluster's first, none of one that is known to have no fault."""
        key = (group.first[1], cluster.corrected_lease, tuple(group.values.items()))
        known = None if self.memory is None else self.memory.get(key)
        if known is not None:
            cluster.used |= known
            return []
        others, cluster.used = cluster.used, set()
        ad = self._job(group, cluster)
        if self.memory is not None and not self.faults and cluster.corrected_lease == key[1]:
            self.memory.keep(key, frozenset(cluster.used))
        cluster.used |= others
        return [JobAd(group, ad)]

    def used_by(self, group: JobGroup) -> Iterator[str]:
        """Yield the names that were looked up so far, with the macros that their values are made of in a group."""
        for name in self.cluster.used if self.cluster else ():
            yield name
            yield from (origin.name for origin in group.origins.get(name, ()))

    def _draft(self, group: JobGroup, cluster: ClusterAd) -> Draft:
        process = group.first[1]
        return Draft(process, group.values, group.spans, self.spellings, self.host, self.knobs, cluster)

    def _job(self, group: JobGroup, cluster: ClusterAd) -> ClassAd:
        draft = self._draft(group, cluster)
        for step in _STEPS:
            step(draft)
        draft.ad.set("ClusterId", self.number)
        draft.ad.set("ProcId", draft.process)
        policy.settle_status(draft)
        requirements.set_requirements(draft)
        finish.keep_to_cluster(draft)
        self.faults += draft.faults
        return draft.ad


def _is_named_by_its_user(key: str) -> bool:
    """Say whether a command has a name that its user has made, in whole or in part."""
    return key.startswith(_PREFIXES) or key.endswith(containers.PORT) or credentials.is_of_service(key)


def _is_late(draft: Draft) -> bool:
    """Say whether the schedd makes the jobs later from the cluster's ad (want_factory_submit)."""
    return any(draft.integer(*names, is_int=True) is not None for names in LATE)


_STEPS: Final[tuple[Callable[[Draft], None], ...]] = (
    executable.check_filechecks,
    executable.set_folder,
    executable.set_executable,
    arguments.set_arguments,
    grid.set_grid,
    machine.set_machine,
    arguments.set_java_arguments,
    universe.set_parallel,
    environment.set_environment,
    policy.set_status,
    tool.set_tool,
    process.set_streams,
    credentials.set_credentials,
    policy.set_notification,
    policy.set_rank,
    policy.set_periodic,
    policy.set_leave_in_queue,
    policy.set_retries,
    retries.set_transforms,
    process.set_signals,
    containers.set_services,
    resources.set_resources,
    policy.set_limits,
    policy.set_accounting,
    credentials.set_services,
    simple.set_simple,
    simple.set_extended,
    set_deferral,
    finish.set_size,
    transfer.set_transfer,
    finish.set_automatic,
    finish.check_history,
    check_scheduler,
    finish.check_output,
    finish.set_forced,
    finish.set_job_set,
    resources.set_required_properties,
)
