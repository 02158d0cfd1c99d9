"""The ads of the jobs of a submit description: the steps of condor_submit, in its order, group by group.

HTCondor: SubmitHash::make_job_ad.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from crondor._schedule import CRON_COMMANDS, TIME_COMMANDS
from crondor._types import Memory, expect
from crondor.classad import ClassAdSyntaxError, lower
from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic
from crondor.job.attributes import boolean_of
from crondor.schedule import Universe
from crondor.submit.ad import policy, program, requirements, transfer, universe
from crondor.submit.ad.draft import (
    KIB,
    ClusterAd,
    Draft,
    SubmitKnobs,
    amount,
    literal_number,
    parse,
    shown,
    without_quotes,
)
from crondor.submit.ad.requirements import deferred_by, set_deferral
from crondor.submit.facts import MPI, PREFIX, InvalidSubmit, SubmitHost
from crondor.submit.file import LIMIT, SubmitFile
from crondor.submit.jobs import JobGroup

ATTRIBUTE: Final = "my."
JOB_SET: Final = "jobset."
_NAME_OF_SET: Final = f"{JOB_SET}name"
_SHORTEST_LEASE: Final = 20
_LEASED: Final = frozenset((Universe.VANILLA, Universe.JAVA, Universe.PARALLEL, Universe.VM))
_SIZE: Final = ("image_size", "imagesize")
_OF_THE_CLUSTER: Final = ("JobSetId", "JobSetName", "JobUniverse", "Owner")

NAMES: Final = _SIZE


# SetImageSize, SetAutoAttributes, ReportCommonMistakes, SetForcedAttributes, ProcessJobsetAttributes.
def set_size(draft: Draft) -> None:
    """Set ImageSize (KiB) if given, or a virtual machine's size; only the submit machine knows the executable's."""
    text = draft.command(*_SIZE)
    if text is None:
        size = draft.ad.get("ExecutableSize")
        if size is not None and not draft.has("ImageSize"):
            draft.ad.set("ImageSize", size)
        return
    found = amount(text, KIB)
    if found is None or found.value < 1:
        name = draft.written(*_SIZE)
        draft.fault("submit-value", name, "Image Size must be positive", "write a number of KiB, or 2G")
    else:
        draft.set("ImageSize", found.value)


def set_automatic(draft: Draft) -> None:
    """Set HTCondor's defaults for unset attributes, and correct a short lease."""
    if not draft.has("MaxHosts") and draft.cluster.universe != MPI:
        draft.set("MinHosts", 1)
        draft.set("MaxHosts", 1)
    if draft.has("SuccessCheckpointExitCode"):
        draft.set("WantFTOnCheckpoint", value=True)
    if not draft.has("MaxJobRetirementTime") and draft.holds("NiceUser"):
        draft.set("MaxJobRetirementTime", 0)
    if boolean_of(draft.value("OCUWanted")) is not None:
        draft.set("MaxJobRetirementTime", 2**31 - 1)
    lease = draft.knobs.get("JOB_DEFAULT_LEASE_DURATION")
    if draft.cluster.universe in _LEASED and not draft.has("JobLeaseDuration") and lease is not None:
        draft.expression("JobLeaseDuration", lease)
    if not draft.has("JobPrio"):
        draft.set("JobPrio", 0)
    if draft.has("JobStarterLog") and not draft.has("JobStarterDebug"):
        draft.set("JobStarterDebug", value=True)
    given = draft.ad.get("JobLeaseDuration")
    number = None if given is None else literal_number(given)
    if number is not None and 1 <= number < _SHORTEST_LEASE and not draft.cluster.corrected_lease:
        draft.cluster.corrected_lease = True  # only once: a later job keeps a short lease (25.14)
        draft.set("JobLeaseDuration", _SHORTEST_LEASE)


def check_attributes(draft: Draft) -> None:
    """Refuse too many remembered machines, a deferral time without a starter to wait for it, two places for output."""
    expression = draft.ad.get("JobMachineAttrsHistoryLength")
    length = None if expression is None else literal_number(expression)
    if isinstance(length, int) and not 0 <= length < 2**31:
        message = f"job_machine_attrs_history_length={length} is out of bounds 0 to {2**31 - 1}"
        draft.fault("submit-value", "job_machine_attrs_history_length", message, "write a small number")
    if draft.cluster.universe == Universe.SCHEDULER and draft.has("DeferralTime"):
        message = (
            f"{deferred_by(draft) or 'DeferralTime'} does not work for scheduler universe jobs. "
            "Consider submitting this job using the local universe, instead"
        )
        draft.fault("submit-scheduler", draft.written(*TIME_COMMANDS), message, "write universe = local")
    if draft.has("OutputDestination") and draft.has("OutputDirectory"):
        message = "You cannot use both output_destination and output_directory in the same submit file"
        draft.fault("submit-transfer", "output_directory", message, "remove one of them")


def set_forced(draft: Draft) -> None:
    """Set the attributes that the configuration and the file assign directly, overriding all commands."""
    for name in draft.knobs.attributes():
        attribute = name[1:] if name.startswith("+") else name[3:] if lower(name).startswith(ATTRIBUTE) else ""
        text = draft.knobs.get(attribute)
        if attribute and text is not None:
            draft.expression(attribute, text)
    for name in draft.named(ATTRIBUTE):
        spelling = draft.spelled(name)
        bare = spelling[len(ATTRIBUTE) :] if lower(spelling).startswith(ATTRIBUTE) else spelling.lstrip("+-")
        draft.expression(bare, draft.command(name) or "undefined", name)


def set_job_set(draft: Draft) -> None:
    """Set JobSetName for jobs that a JOBSET. command puts into a set; all jobs of a cluster must be in the same."""
    if draft.process > 0:
        _check_job_set(draft)
        return
    given = [name for name in draft.named(JOB_SET) if draft.command(name)]
    for name in given:
        if name != _NAME_OF_SET:
            _check_expression(draft, name)
    if given and draft.text("JobSetName") is None:
        named = draft.command(_NAME_OF_SET)
        draft.set("JobSetName", str(draft.cluster.number) if named is None else without_quotes(named))


def _check_expression(draft: Draft, name: str) -> None:
    try:
        parse(draft.commands[name])
    except ClassAdSyntaxError:
        attribute = draft.spelled(name)[len(JOB_SET) :]
        message = f"Parse error in JOBSET expression: {attribute} = {shown(draft.commands[name])}"
        draft.fault("submit-expression", name, message, "write one complete ClassAd expression")


def _check_job_set(draft: Draft) -> None:
    first, mine = (ad.text("JobSetName") if "JobSetName" in ad else "" for ad in (draft.cluster.ad, draft.ad))
    if mine in {"", first}:
        return
    number = draft.cluster.number
    message = (
        f"({number}.0:{shown(first)} != {number}.{draft.process}:{shown(mine)}) "
        "All jobs from a single submission must be in the same JOBSET"
    )
    draft.fault("submit-jobset", draft.written("jobset", "jobsetname"), message, "name the same set for all")


def keep_to_cluster(draft: Draft) -> None:
    """Give a later job the attributes of the first that only a cluster has, whatever the file says."""
    for name in _OF_THE_CLUSTER if draft.process > 0 else ():
        first = draft.cluster.ad.get(name)
        if first is not None:
            draft.ad.set(name, first)
        elif draft.has(name):
            del draft.ad[name]


_MOST: Final = 100  # faults in one error
_BY_FACTORY: Final = ", or omit late materialization"
LATE: Final = (
    ("max_materialize", "jobmaterializelimit"),
    ("max_idle", "jobmaterializemaxidle"),
    ("materialize_max_idle", "jobmaterializemaxidle"),
)
"""Commands with which the schedd makes the jobs later, from the cluster's ad."""

# Prefixes of names that become part of an attribute or of its value.
_PREFIXES: Final = (ATTRIBUTE, JOB_SET, requirements.PREFIX, *universe.PREFIXES, *policy.BODIES)

COMMANDS: Final = tuple(
    dict.fromkeys(
        (
            *policy.SIMPLE_NAMES,
            *program.ARGUMENT_NAMES,
            *program.CONTAINER_NAMES,
            *transfer.CREDENTIAL_NAMES,
            *program.ENVIRONMENT_NAMES,
            *program.EXECUTABLE_NAMES,
            *NAMES,
            *universe.GRID_NAMES,
            *universe.MACHINE_NAMES,
            *policy.POLICY_NAMES,
            *policy.PROCESS_NAMES,
            *requirements.REQUIREMENTS_NAMES,
            *requirements.RESOURCE_NAMES,
            *policy.RETRY_NAMES,
            *program.TOOL_NAMES,
            *transfer.TRANSFER_NAMES,
            *universe.UNIVERSE_COMMANDS,
            *(name for names in LATE for name in names),
        )
    )
)


_KNOWN: Final = frozenset(COMMANDS)

# Commands of the first job that affect other jobs only by being present, not by their values.
_UNREAD: Final = frozenset(name for names in CRON_COMMANDS for name in names)


class JobAd(NamedTuple):
    """The ad shared by some jobs; its ProcId is the first job's.

    ``jobs`` are the jobs in terms of the language. Jobs that are materialized late have one ad, the cluster's, without
    ProcId and JobStatus.
    """

    jobs: JobGroup
    ad: ClassAd

    def each(self, **defaults: str | int) -> Iterator[ClassAd]:
        """Yield an ad for each job, with its ProcId, and with these attributes if the ad lacks them."""
        first = self.jobs.first[1]
        for proc in range(first, first + self.jobs.count):
            ad = self.ad.copy()
            ad.set("ProcId", proc)
            for name, value in defaults.items():
                if name not in ad:
                    ad.set(name, value)
            yield ad


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
    """Yield the job ads that condor_submit 25.14 would send, each with the group of jobs that share it.

    An ad has every attribute that depends on the file; it lacks those of each job (counters, QDate), and those that
    only the submit machine knows (sizes of files, the owner). The facts behind Requirements' defaults and the folder of
    relative file names are the file's ``host``; ``config`` has the knobs of the configuration that condor_submit uses,
    by name. All jobs are of one ``cluster``, whose first job decides what is not set again for later ones, as in
    HTCondor. With ``factory`` all are made late, as with condor_submit -factory; one ad, the cluster's, then represents
    them. ``in_order`` does not merge equal jobs that are not neighbours; ``limit`` is that of SubmitFile.groups(). A
    set ``used`` is filled with the lower-case names that condor_submit looks up and finds: commands, and the macros in
    their values. Raises InvalidSubmit, after all jobs were made, with all faults; the ads before the first faulty job
    are yielded.

    ``memory`` has jobs known to have no fault, with the names that were looked up for them: their ads are not made or
    yielded, unless they are the cluster's first.
    """
    expect("file", file, SubmitFile, "a SubmitFile", "write read_submit(Source(text))")
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
    """Makes the ads of one cluster; its first job decides for those after it."""

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
        known = _KNOWN.union(each.command.lower() for each in policy.extended(knobs))
        own = [  # names that users made, in whole or in part
            name
            for name in assigned
            if name.startswith(_PREFIXES) or name.endswith(program.PORT) or transfer.OF_SERVICE.search(name)
        ]
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
        """Return the ad of a group; two if its first job is the cluster's first and therefore differs."""
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
        self.is_late = self.is_late or any(draft.integer(*names, is_int=True) is not None for names in LATE)
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
        """Store what was seen of the jobs after a first one like this; nothing else depends on their ads."""
        if self.memory is not None:
            environ = None if cluster.environ is None else tuple(cluster.environ.items())
            about = (self.host, self.knobs.all, tuple(self.spellings.items()), cluster.file, cluster.now, environ)
            values = tuple((name, bool(text) if name in _UNREAD else text) for name, text in first.values.items())
            self.memory.about((*about, self.number, first.first[1], values))

    def _next(self, group: JobGroup, cluster: ClusterAd) -> list[JobAd]:
        """Return the ad of a group that is not the cluster's first, none if it is known to have no fault."""
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
        """Yield the names that were looked up so far, with the macros in their values in a group."""
        for name in self.cluster.used if self.cluster else ():
            yield name
            yield from (origin.name for origin in group.origins.get(name, ()))

    def _draft(self, group: JobGroup, cluster: ClusterAd) -> Draft:
        return Draft(group.first[1], group.values, group.spans, self.spellings, self.host, self.knobs, cluster)

    def _job(self, group: JobGroup, cluster: ClusterAd) -> ClassAd:
        draft = self._draft(group, cluster)
        for step in _STEPS:
            step(draft)
        draft.ad.set("ClusterId", self.number)
        draft.ad.set("ProcId", draft.process)
        policy.settle_status(draft)
        requirements.set_requirements(draft)
        keep_to_cluster(draft)
        self.faults += draft.faults
        return draft.ad


_STEPS: Final[tuple[Callable[[Draft], None], ...]] = (
    program.check_filechecks,
    program.set_folder,
    program.set_executable,
    program.set_arguments,
    universe.set_grid,
    universe.set_machine,
    program.set_java_arguments,
    universe.set_parallel,
    program.set_environment,
    policy.set_status,
    program.set_tool,
    policy.set_streams,
    transfer.set_credentials,
    policy.set_notification,
    policy.set_rank,
    policy.set_periodic,
    policy.set_retries,
    policy.set_transforms,
    policy.set_signals,
    program.set_services,
    requirements.set_resources,
    policy.set_limits,
    policy.set_accounting,
    transfer.set_services,
    policy.set_simple,
    set_deferral,
    set_size,
    transfer.set_transfer,
    set_automatic,
    check_attributes,
    set_forced,
    set_job_set,
    requirements.set_required_properties,
)
