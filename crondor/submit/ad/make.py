"""The ads of the jobs of a submit description: the steps of condor_submit, in its order, group by group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from crondor.classad import lower
from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic
from crondor.schedule import Universe
from crondor.submit.ad import (
    arguments,
    environment,
    policy,
    process,
    requirements,
    resources,
    simple,
    transfer,
    universe,
    values,
)
from crondor.submit.ad.deferral import check_scheduler, set_deferral
from crondor.submit.ad.draft import Cluster, Draft
from crondor.submit.ad.knobs import Knobs
from crondor.submit.errors import InvalidSubmit
from crondor.submit.file import LIMIT, SubmitFile
from crondor.submit.host import SubmitHost
from crondor.submit.jobs import JobGroup

_MOST: Final = 100  # faults in one error
_SHORTEST_LEASE: Final = 20
_LEASED: Final = frozenset((Universe.VANILLA, Universe.JAVA, Universe.PARALLEL, Universe.VM))
_TOOL: Final = ("tool_daemon_cmd", "tooldaemoncmd")
_LATE: Final = (
    ("max_materialize", "jobmaterializelimit"),
    ("max_idle", "jobmaterializemaxidle"),
    ("materialize_max_idle", "jobmaterializemaxidle"),
)
_ATTRIBUTE: Final = "my."

COMMANDS: Final = tuple(
    dict.fromkeys(
        (
            *simple.NAMES,
            *arguments.NAMES,
            *environment.NAMES,
            *policy.NAMES,
            *process.NAMES,
            *requirements.NAMES,
            *resources.NAMES,
            *transfer.NAMES,
            *universe.NAMES,
            *_TOOL,
            *(name for names in _LATE for name in names),
        )
    )
)


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
) -> Iterator[JobAd]:
    """Yield the ad of each group of jobs, as crondor.submit.job_ads says."""
    file = file.in_cluster(cluster)
    maker = _Maker(file, file.host, Knobs(config or {}), cluster)
    faults: list[Diagnostic] = []
    groups = file.groups(maker.names, limit, in_order=in_order)
    while True:
        try:
            group = next(groups, None)
        except InvalidSubmit as error:
            raise InvalidSubmit(dict.fromkeys((*faults[:_MOST], *error.diagnostics))) from None
        if group is None:
            break
        made = maker.make(group)
        faults += maker.faults
        if len(faults) >= _MOST:
            break
        if not faults:
            yield from made
        if maker.is_late:
            break
    if faults:
        raise InvalidSubmit(dict.fromkeys(faults[:_MOST]))


class _Maker:
    """Makes the ads of one cluster; its first job decides about those behind it."""

    def __init__(self, file: SubmitFile, host: SubmitHost, knobs: Knobs, number: int) -> None:
        loops = [name for queue in file.queues for name in queue.arguments.variables]
        own = [key for key in (*file.keys, *loops) if key.startswith((_ATTRIBUTE, resources.PREFIX))]
        self.names = tuple(dict.fromkeys((*COMMANDS, *own)))
        places = {key: file.name(key) for key in own}
        self.spellings = {key: place.text for key, place in places.items() if place is not None}
        self.host = host
        self.knobs = knobs
        self.number = number
        self.moment = file.now, file.environ
        self.jobs = file.job_count
        self.cluster: Cluster | None = None
        self.faults: list[Diagnostic] = []
        self.is_late = False

    def make(self, group: JobGroup) -> list[JobAd]:
        """Return the ad of a group; two, where its first job is the cluster's first and differs by that."""
        self.faults = []
        if self.cluster is not None:
            return [JobAd(group, self._job(group, self.cluster))]
        cluster = Cluster(now=self.moment[0], environ=self.moment[1])
        self.cluster = cluster
        draft = self._draft(group, cluster)
        universe.start_cluster(draft)
        universe.set_universe(draft)
        self.is_late = _is_late(draft)
        self.faults += draft.faults
        cluster.ad = draft.ad
        ad = self._job(group, cluster)
        if self.is_late:
            for name in ("ProcId", "JobStatus"):
                del ad[name]
            return [JobAd(replace(group, count=self.jobs), ad)]
        cluster.ad = ad.copy()
        if group.count == 1 or self.faults:
            return [JobAd(group, ad)]
        statement, first = group.first
        others = replace(group, count=group.count - 1, first=(statement, first + 1))
        next_ad = self._job(others, cluster)
        if {**next_ad, "ProcId": None} == {**ad, "ProcId": None}:
            return [JobAd(group, ad)]
        return [JobAd(replace(group, count=1), ad), JobAd(others, next_ad)]

    def _draft(self, group: JobGroup, cluster: Cluster) -> Draft:
        return Draft(group.values, group.spans, self.spellings, self.host, self.knobs, cluster)

    def _job(self, group: JobGroup, cluster: Cluster) -> ClassAd:
        draft = self._draft(group, cluster)
        for step in _STEPS:
            step(draft)
        draft.ad.set("ClusterId", self.number)
        draft.ad.set("ProcId", group.first[1])
        policy.settle_status(draft)
        requirements.set_requirements(draft)
        self.faults += draft.faults
        return draft.ad


def _is_late(draft: Draft) -> bool:
    """Say whether the schedd makes the jobs later from the cluster's ad (want_factory_submit)."""
    return any(draft.integer(*names, is_int=True) is not None for names in _LATE)


def _set_tool(draft: Draft) -> None:
    tool = draft.command(*_TOOL)
    if tool is not None:
        draft.set("ToolDaemonCmd", tool)


def _set_automatic(draft: Draft) -> None:
    """Set what HTCondor sets where nothing else did (SetAutoAttributes), and correct a short lease."""
    if not draft.has("MaxHosts") and draft.cluster.universe != universe.MPI:
        draft.set("MinHosts", 1)
        draft.set("MaxHosts", 1)
    if draft.has("SuccessCheckpointExitCode"):
        draft.set("WantFTOnCheckpoint", value=True)
    if draft.value("OCUWanted") in {True, False}:
        draft.set("MaxJobRetirementTime", 2**31 - 1)
    lease = draft.knobs.get("JOB_DEFAULT_LEASE_DURATION")
    if draft.cluster.universe in _LEASED and not draft.has("JobLeaseDuration") and lease is not None:
        draft.expression("JobLeaseDuration", lease)
    if not draft.has("JobPrio"):
        draft.set("JobPrio", 0)
    given = draft.get("JobLeaseDuration")
    number = None if given is None else values.literal_number(given)
    if number is not None and 1 <= number < _SHORTEST_LEASE and not draft.cluster.corrected_lease:
        draft.cluster.corrected_lease = True  # only once: a later job keeps what is too short (25.14)
        draft.set("JobLeaseDuration", _SHORTEST_LEASE)


def _check_output(draft: Draft) -> None:
    if draft.has("OutputDestination") and draft.has("OutputDirectory"):
        message = "You cannot use both output_destination and output_directory in the same submit file"
        draft.fault("submit-transfer", "output_directory", message, "remove one of them")


def _set_forced(draft: Draft) -> None:
    """Set the attributes that the configuration and the file write out, over all that commands have set."""
    for name in draft.knobs.attributes():
        attribute = name[1:] if name.startswith("+") else name[3:] if lower(name).startswith(_ATTRIBUTE) else ""
        text = draft.knobs.get(attribute)
        if attribute and text is not None:
            draft.expression(attribute, text)
    for name in draft.named((_ATTRIBUTE,)):
        attribute = _bare(draft.spellings.get(name, name))
        draft.expression(attribute, draft.commands[name] or "undefined", name)


def _bare(spelling: str) -> str:
    return spelling[len(_ATTRIBUTE) :] if lower(spelling).startswith(_ATTRIBUTE) else spelling.lstrip("+-")


_STEPS: Final[tuple[Callable[[Draft], None], ...]] = (
    universe.set_executable,
    arguments.set_arguments,
    universe.set_grid,
    universe.set_machine,
    universe.set_parallel,
    environment.set_environment,
    policy.set_status,
    _set_tool,
    process.set_streams,
    policy.set_notification,
    policy.set_rank,
    policy.set_periodic,
    policy.set_leave_in_queue,
    policy.set_retries,
    resources.set_resources,
    policy.set_limits,
    policy.set_accounting,
    simple.set_simple,
    set_deferral,
    process.set_size,
    transfer.set_transfer,
    process.set_signals,
    _set_automatic,
    check_scheduler,
    process.check_history,
    _check_output,
    _set_forced,
    resources.set_required_properties,
)
