"""What `crondor route` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, TypedDict

from crondor.diagnostics import Severity
from crondor.router.daemon.status import RouteReason
from crondor.router.match.matcher import Limit
from crondor.router.plan.copy_schedule import CopySchedule, PlannedOutcome
from crondor_cli.kit.results import (
    Acted,
    Clause,
    Diagnostic,
    Findings,
    NotRequired,
    Place,
    QueueSource,
    Result,
    Statistics,
    Verdict,
)


class Change(TypedDict):
    """One of `changes`."""

    name: Annotated[str, "the attribute"]
    before: Annotated[str | None, "its expression in the source; null: it is not there"]
    after: Annotated[str | None, "its expression in the copy; null: it is not there"]


class Proxy(TypedDict):
    """The shared proxy that would be copied."""

    file: Annotated[str, "the proxy"]
    copy: Annotated[str, "where it would be copied to"]


class RouteApply(TypedDict):
    """Route apply."""

    job: Annotated[str, "ClusterId.ProcId of the source"]
    route: Annotated[str, "the route that takes it"]
    applied: Annotated[Iterable[str], "the transforms that ran"]
    ad: Annotated[Mapping[str, object] | None, "the copy; null where the job is edited in place or could not be routed"]
    in_place: Annotated[bool, "whether the job itself is edited"]
    changes: Annotated[Iterable[Change], "the attributes that differ"]
    sandboxed: Annotated[bool, "whether the copy's files would be spooled"]
    input_files: Annotated[Iterable[str], "the files that it names then"]
    proxy: Annotated[Proxy | None, "the shared proxy that would be copied"]
    id_tokens: Annotated[Iterable[str], "the tokens that it is sent"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about this job"]


class Route(TypedDict):
    """One of `routes`."""

    name: Annotated[str, "its name in the new language"]
    was: Annotated[str, "its name before"]
    knob: Annotated[str, "the knob that it came from"]
    place: Annotated[Place, "where it stands"]
    commands: Annotated[Iterable[str], "its lines"]


class Transform(TypedDict):
    """One of `transforms`."""

    name: Annotated[str, "its name"]
    place: Annotated[Place, "where it stands"]
    commands: Annotated[Iterable[str], "its lines"]


class Verified(TypedDict):
    """How it was tried out."""

    jobs: Annotated[int, "made jobs that went through the old routes and the new"]
    differences: Annotated[int, "how many ways there are in which some come out otherwise; the findings say which"]


class ConvertFinding(TypedDict):
    """One of `diagnostics`."""

    code: Annotated[str, "the kind of finding, stable"]
    severity: Annotated[str, "how bad it is", Severity]
    message: Annotated[str, "what, and why"]
    help: Annotated[str | None, "what to write instead"]
    place: Annotated[Place | None, "where it stands"]


class ConvertResult(TypedDict):
    """Routes in the new language."""

    routes: Annotated[Iterable[Route], "the routes in their order"]
    names: Annotated[Iterable[str], "the value of JOB_ROUTER_ROUTE_NAMES"]
    transforms: Annotated[Iterable[Transform], "the transforms JOB_TRANSFORM_<name> of the schedd that were ClassAds"]
    verified: Annotated[Verified, "how it was tried out"]
    macros: Annotated[Mapping[str, str], "the macros that the routes need, by name"]
    diagnostics: Annotated[Iterable[ConvertFinding], "what HTCondor would make otherwise, and what to look at"]


class Compared(TypedDict):
    """The jobs that were compared."""

    source: Annotated[
        str, "`made` from what routes ask for, of a `queue`, or `submitted`", ("made", "queue", "submitted")
    ]
    read: Annotated[int, "how many were read"]
    candidates: Annotated[int, "how many of them could be routed"]


class Renamed(TypedDict):
    """One of `renamed`."""

    before: Annotated[str, "the old name"]
    after: Annotated[str, "the new name"]


class Rejected(TypedDict):
    """One of `rejected`."""

    route: Annotated[str, "its name"]
    reason: Annotated[str, "why it is left out"]


class Order(TypedDict):
    """The routes of both in their order."""

    before: Annotated[Iterable[str], "before"]
    after: Annotated[Iterable[str], "after"]


class Listed(TypedDict):
    """Routes that come and go."""

    added: Annotated[Iterable[str], "routes that only the new table has"]
    dropped: Annotated[Iterable[str], "routes that only the old table has"]
    renamed: Annotated[Iterable[Renamed], "routes that are called otherwise now"]
    rejected: Annotated[Iterable[Rejected], "routes that are left out only now"]
    order: Annotated[Order | None, "the routes of both in their order; null: the same"]


class Example(TypedDict):
    """A job that shows it."""

    job: Annotated[str, "ClusterId.ProcId"]
    attributes: Annotated[
        Mapping[str, object] | None,
        "of a made job what is not as in the plainest one, null: not there; of another job null",
    ]


class Moved(TypedDict):
    """One of `moved`."""

    before: Annotated[str | None, "the route before; null: none"]
    after: Annotated[str | None, "the route now; null: none"]
    jobs: Annotated[int, "how many"]
    reason: Annotated[str | None, "why the example does"]
    example: Annotated[Example, "a job that shows it"]


class Text(TypedDict):
    """One of `texts`."""

    before: Annotated[str | None, "before; null: not there"]
    after: Annotated[str | None, "now; null: not there"]
    job: Annotated[str, "a job with both"]


class Copied(TypedDict):
    """One of `copies`."""

    route_before: Annotated[str, "the route before"]
    route_after: Annotated[str, "the route now"]
    attribute: Annotated[str | None, "its name, or that of the route's macro; null: a copy cannot be made"]
    jobs: Annotated[int, "how many"]
    texts: Annotated[Iterable[Text], "some of the texts"]
    is_cut: Annotated[bool, "there are more texts"]
    example: Annotated[Example, "a job that shows it"]


class Unreached(TypedDict):
    """One of `unreached`."""

    route: Annotated[str, "its name"]
    is_added: Annotated[bool, "only the new table has it"]
    jobs_before: Annotated[int, "how many jobs it took"]
    taken_by: Annotated[str | None, "the route that takes its jobs; null: no job meets its requirements"]
    example: Annotated[Example | None, "a job that it would take; null: there is none"]


class Overlap(TypedDict):
    """One of `overlaps`."""

    first: Annotated[str, "the route that takes them"]
    second: Annotated[str, "the route that would too"]
    is_new: Annotated[bool, "it is so in the new table; false: in the old one"]
    jobs: Annotated[int, "how many"]
    example: Annotated[Example, "a job that shows it"]


class Setting(TypedDict):
    """One of `settings`."""

    route: Annotated[str | None, "whose it is; null: the router's"]
    name: Annotated[str, "the knob, or the route's macro"]
    before: Annotated[str | None, "before; null: not given"]
    after: Annotated[str | None, "now; null: not given"]


class DiffResult(TypedDict):
    """What another configuration of a job router does otherwise."""

    before: Annotated[Iterable[str], "the files of the old configuration, in their order"]
    after: Annotated[Iterable[str], "the files of the new one"]
    differs: Annotated[bool, "whether anything differs"]
    jobs: Annotated[Compared, "the jobs that were compared"]
    routes: Annotated[Listed, "routes that come and go"]
    moved: Annotated[Iterable[Moved], "jobs that change their route"]
    copies: Annotated[Iterable[Copied], "attributes of routed copies that change"]
    unreached: Annotated[Iterable[Unreached], "routes that no job goes on any more, or not yet"]
    overlaps: Annotated[Iterable[Overlap], "jobs that a second route would take as well, in one table alone"]
    settings: Annotated[Iterable[Setting], "limits and other values that change"]
    unproven: Annotated[Iterable[str], "routes whose rules are other texts, while no job shows a difference"]
    is_cut: Annotated[bool, "there are more differences than are told apart"]


class Job(TypedDict):
    """One of `jobs`."""

    job: Annotated[str, "ClusterId.ProcId"]
    route: Annotated[str | None, "the route that takes it; null: none"]
    missed: Annotated[Iterable[Clause], "the clauses that keep it from being a candidate"]
    routes: Annotated[Iterable[Verdict], "what each route says of it"]


class Explained(TypedDict):
    """Without --summary."""

    jobs: Annotated[Iterable[Job], "the jobs in the order read"]
    rejected: Annotated[Iterable[str], "names of routes that are listed and not taken"]


class Match(TypedDict):
    """One of `matches`."""

    job: Annotated[str, "ClusterId.ProcId"]
    route: Annotated[str, "the route that takes it"]


class ExplainRoute(TypedDict):
    """One of `routes`."""

    route: Annotated[str, "the route"]
    jobs: Annotated[int, "how many are on it"]
    idle: Annotated[int, "how many of them are idle"]
    limit: Annotated[str | None, "why it takes no more: `full`, `idle limit`, `throttled`; null: it does", Limit]


class Matches(TypedDict):
    """With --summary."""

    umbrella: Annotated[str | None, "the umbrella constraint; null: no route takes jobs"]
    matches: Annotated[Iterable[Match], "which job goes on which route, in the order found"]
    jobs_read: Annotated[int, "how many were looked at"]
    is_stopped: Annotated[bool, "nothing takes jobs any more; those behind were not looked at"]
    routes: Annotated[Iterable[ExplainRoute], "the routes after the matches"]
    rejected: Annotated[Iterable[str], "names of routes that are listed and not taken"]


class HistoryRoute(TypedDict):
    """One of `routes`."""

    route: Annotated[str, "the route"]
    completed: Annotated[int, "how many completed"]
    aborted: Annotated[int, "how many did not"]
    completed_seconds: Annotated[int, "the run time of those that completed (seconds)"]


class HistoryJob(TypedDict):
    """One of `jobs`."""

    job: Annotated[str, "ClusterId.ProcId"]
    state: Annotated[str, "the letter of its state"]
    route: Annotated[str, "RouteName"]
    run_time: Annotated[float, "how long it ran (seconds)"]
    iwd: Annotated[str, "Iwd, its folder"]
    time: Annotated[float | None, "when it left; null where the ad does not say (epoch seconds)"]


_From = TypedDict("_From", {"from": Annotated[int, "where the period begins (epoch seconds)"]})


class HistoryResult(_From):
    """The routed jobs that have left."""

    zone: Annotated[str, "the zone (IANA name)"]
    now: Annotated[int, "the time taken for now (epoch seconds)"]
    until: Annotated[int, "where it ends (epoch seconds)"]
    routes: Annotated[Iterable[HistoryRoute], "the summary by route"]
    jobs: Annotated[Iterable[HistoryJob], "the jobs that left in the period"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about the history"]


class PlanJob(TypedDict):
    """One of `jobs`."""

    job: Annotated[str, "ClusterId.ProcId"]
    name: Annotated[str, "where it comes from"]
    is_planned: Annotated[bool, "whether it has a schedule"]


class Room(TypedDict):
    """How the route stands with this job."""

    jobs: Annotated[int, "how many the route has"]
    max_jobs: Annotated[int, "how many it may have"]
    idle: Annotated[int, "how many of them are idle"]
    max_idle_jobs: Annotated[int, "how many may be; negative: no limit"]
    managed: Annotated[int, "how many all routes have"]
    max_managed: Annotated[int, "how many the router may have; negative: no limit"]


class Cure(TypedDict):
    """What to write."""

    text: Annotated[str, "the commands to add to the route"]
    conduct: Annotated[str, "how the copy keeps to its time with them", CopySchedule]


class Run(TypedDict):
    """One of `runs`."""

    job: Annotated[str, "ClusterId.ProcId"]
    number: Annotated[int, "the run's number among those of its job (from 1)"]
    time: Annotated[int, "the run (epoch seconds)"]
    match_opens: Annotated[int, "when its gate opens (epoch seconds)"]
    last_start: Annotated[int, "its last start (epoch seconds)"]
    outcome: Annotated[str, "what becomes of it", PlannedOutcome]
    route: Annotated[str | None, "the route that takes it, or has its copy"]
    taken: Annotated[int | None, "when the router takes the job (epoch seconds)"]
    starts: Annotated[int | None, "when the copy starts (epoch seconds)"]
    ends: Annotated[int | None, "when the copy has ended (epoch seconds)"]
    conduct: Annotated[str | None, "how the copy keeps to its time; null where there is none", CopySchedule]
    room: Annotated[Room | None, "how the route stands with this job"]
    missed: Annotated[Iterable[Clause], "the clauses that keep it from being a candidate"]
    routes: Annotated[Iterable[Verdict], "what each route says of it"]
    cure: Annotated[Cure | None, "what to write"]
    codes: Annotated[Iterable[str], "codes of the findings that this run brought"]
    ad: Annotated[Mapping[str, object] | None, "the routed copy"]


class PlanResult(TypedDict):
    """The coming runs, and the route of each."""

    at_gate: Annotated[bool, "whether a job is routed when its gate opens (`--at-gate`)"]
    polling_period: Annotated[int, "JOB_ROUTER_POLLING_PERIOD (seconds)"]
    now: Annotated[int, "the time taken for now (epoch seconds)"]
    until: Annotated[int | None, "where the plan ends; null: where no end was named (epoch seconds)"]
    run_time: Annotated[int | None, "how long copies run; null: until the next run of their job (seconds)"]
    queue_time: Annotated[int, "how long copies wait at the site before (seconds)"]
    jobs: Annotated[Iterable[PlanJob], "the jobs, in the order read"]
    rejected: Annotated[Iterable[str], "names of routes that are listed and not taken"]
    runs: Annotated[Iterable[Run], "the runs, in order of time"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings"]


class QJob(TypedDict):
    """One of `jobs`."""

    job: Annotated[str | None, "ClusterId.ProcId"]
    owner: Annotated[str, "Owner"]
    route: Annotated[str, "RouteName"]
    routed_from: Annotated[str | None, "RoutedFromJobId, the source"]
    grid_resource: Annotated[str | None, "GridResource"]
    job_status: Annotated[
        int | None, "JobStatus: 1 idle, 2 running, 3 removed, 4 completed, 5 held, 6 transferring output, 7 suspended"
    ]
    submitted: Annotated[int | None, "QDate (epoch seconds)"]
    submitted_local: Annotated[str | None, "the same in the zone (ISO 8601 with offset)"]
    run_time: Annotated[int, "how long it has run (seconds)"]
    priority: Annotated[int, "JobPrio"]
    size_mb: Annotated[float | None, "the memory it takes (megabytes)"]
    batch_name: Annotated[str | None, "JobBatchName"]
    cmd: Annotated[str, "what condor_q shows of the command"]


class States(TypedDict):
    """Of the jobs asked for."""

    completed: Annotated[int, "JobStatus 4"]
    removed: Annotated[int, "JobStatus 3"]
    idle: Annotated[int, "JobStatus 1"]
    running: Annotated[int, "JobStatus 2 and 6"]
    held: Annotated[int, "JobStatus 5"]
    suspended: Annotated[int, "JobStatus 7"]


class Totals(TypedDict):
    """How many jobs there are by state, those of the scheduler universe aside."""

    query: Annotated[States, "of the jobs asked for"]
    all_users: Annotated[States | None, "of all jobs; null where they are not known"]


class Jobs(QueueSource):
    """Without -S."""

    jobs: Annotated[Iterable[QJob], "the routed jobs"]
    totals: Annotated[Totals, "how many jobs there are by state, those of the scheduler universe aside"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about the queue"]


class QCounted(TypedDict):
    """One of `summary`."""

    jobs: Annotated[int, "how many"]
    state: Annotated[str, "the letter of their state; `?`: none that is known"]
    route: Annotated[str, "RouteName"]
    grid_resource: Annotated[str, "GridResource, may be empty"]


class Summary(QueueSource):
    """With -S."""

    summary: Annotated[Iterable[QCounted], "the jobs that are alike, counted"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about the queue"]


class Removed(Acted):
    """What was removed."""

    constraint: Annotated[str, "what chose the jobs"]


class Entry(TypedDict):
    """What was done, or found."""

    time: Annotated[int, "when (epoch seconds)"]
    what: Annotated[
        str,
        "what was done, or found",
        (
            "found",
            "claimed",
            "not_claimed",
            "route_gone",
            "not_transformed",
            "no_owner",
            "no_sandbox",
            "not_submitted",
            "files_left",
            "unsure",
            "submitted",
            "edited",
            "not_edited",
            "source_gone",
            "no_status",
            "source_removed",
            "source_held",
            "source_taken",
            "not_yet",
            "lag",
            "not_whole",
            "copy_removed",
            "not_updated",
            "updated",
            "copy_updated",
            "copy_not_updated",
            "finished",
            "source_updated",
            "not_finalized",
            "no_log",
            "finalized",
            "failed",
            "again",
            "not_removed",
            "not_yielded",
            "yielded",
            "cleaned_up",
            "forgotten",
            "stale",
            "no_routing",
            "orphan_copy",
            "adopted",
            "orphan_source",
            "policy_held",
            "policy_removed",
            "hook",
            "hook_answer",
            "reloaded",
            "disabled",
            "passed_over",
            "clock_set_back",
            "unreachable",
        ),
    ]
    job: Annotated[str, "the source, the copy and the route as condor_job_router writes them; may be empty"]
    text: Annotated[str, "the line of the log"]


class Stays(TypedDict):
    """With --dry-run: jobs that are not routed."""

    time: Annotated[int, "when (epoch seconds)"]
    what: Annotated[str, "jobs stay where they are", ("stays",)]
    reason: Annotated[str, "why", RouteReason]
    route: Annotated[str | None, "the route that it is about"]
    count: Annotated[int, "how many"]


class RoutePlace(TypedDict):
    """Where the text stands."""

    file: Annotated[str, "the file"]
    line: Annotated[int, "the line (from 1)"]
    column: Annotated[int, "the column (characters, from 1)"]


class ShowRoute(TypedDict):
    """One of `routes`."""

    name: Annotated[str, "as the list spells it"]
    universe: Annotated[int, "the copy's JobUniverse"]
    universe_name: Annotated[str, "its name"]
    max_jobs: Annotated[int, "MaxJobs, or the default; 0 or less: never accepts"]
    max_idle_jobs: Annotated[int, "MaxIdleJobs, or the default; negative: unlimited"]
    failure_rate_threshold: Annotated[float, "from which on the route is throttled (failures a second)"]
    grid_resource: Annotated[str | None, "GridResource, for the grid universe"]
    requirements: Annotated[str | None, "as they are written; null: every candidate matches"]
    is_legacy: Annotated[bool, "written as a ClassAd"]
    text: Annotated[str, "the commands as HTCondor prints them"]
    place: Annotated[RoutePlace | None, "where the text stands"]


class ShowTransform(TypedDict):
    """One of `before`."""

    name: Annotated[str, "its name"]
    text: Annotated[str, "its commands as HTCondor prints them"]


class ShowRejected(TypedDict):
    """One of `rejected`."""

    name: Annotated[str, "the route"]
    diagnostics: Annotated[Iterable[Diagnostic], "why"]


class Setter(TypedDict):
    """Who gave a variable its value."""

    source: Annotated[
        str, "a knob, HTCondor's default, the route, or a transform", ("knob", "default", "route", "transform")
    ]
    name: Annotated[str, "its name"]
    place: Annotated[RoutePlace | None, "where; null: nowhere in a file"]


class Variable(TypedDict):
    """A variable, as it is when a transform begins."""

    name: Annotated[str, "its name"]
    value: Annotated[str | None, "its text, macros replaced; null: nobody set it"]
    default: Annotated[str | None, "what stands in its place then; null: nothing"]
    set_by: Annotated[Setter | None, "who set it; null: nobody"]
    place: Annotated[RoutePlace, "where it is read"]


class Passed(TypedDict):
    """A transform on the way of the job."""

    position: Annotated[str, "where it stands", ("pre-route", "route", "post-route")]
    name: Annotated[str, "its name, or the route's"]
    is_applied: Annotated[bool, "whether the job, as it is then, meets its REQUIREMENTS"]
    requirements: Annotated[str | None, "its REQUIREMENTS; null: none"]
    place: Annotated[RoutePlace | None, "where its text stands; null: nowhere as it is"]
    variables: Annotated[Iterable[Variable], "the variables that it reads and does not set first itself"]


class Effective(TypedDict):
    """What becomes of one job, and what it passes."""

    job: Annotated[str, "ClusterId.ProcId"]
    route: Annotated[str | None, "the route that takes it; null: none"]
    missed: Annotated[Iterable[Clause], "the clauses that keep it from being a candidate"]
    routes: Annotated[Iterable[Verdict], "what each route says of it"]
    transforms: Annotated[Iterable[Passed], "the transforms on its way, in order; one that fails is the last"]
    is_routed: Annotated[bool, "whether a route takes it, and nothing on the way fails"]


class ShowResult(TypedDict):
    """The routing table."""

    is_enabled: Annotated[bool, "whether anything is routed"]
    routes: Annotated[
        Iterable[ShowRoute], "the routes in their order, also where the value of a knob keeps jobs from them"
    ]
    before: Annotated[Iterable[ShowTransform], "the transforms before each route"]
    after: Annotated[Iterable[ShowTransform], "the transforms behind each route"]
    rejected: Annotated[Iterable[ShowRejected], "the routes that are listed and not taken"]
    diagnostics: Annotated[Iterable[Diagnostic], "everything else that was found, warnings too"]
    effective: NotRequired[Annotated[Effective, "with --effective: what one job passes"]]


class Router(TypedDict):
    """The router that runs here."""

    started: Annotated[int, "when it was started (epoch seconds)"]
    polled: Annotated[int, "its last poll (epoch seconds)"]
    answered: Annotated[bool, "whether the queue answered then"]
    pause: Annotated[int, "for how many polls nothing is written, after a refusal"]


class StatusRoute(TypedDict):
    """One of `routes`."""

    route: Annotated[str, "the route"]
    jobs: Annotated[int, "how many are on it"]
    max_jobs: Annotated[int, "how many may be"]
    idle: Annotated[int, "how many of them are idle"]
    max_idle_jobs: Annotated[int, "how many of them may be; negative: no limit"]
    limit: Annotated[str | None, "why it takes no more: `full`, `idle limit`, `throttled`; null: it does", Limit]
    text: Annotated[str | None, "the same in words"]
    throttle: Annotated[float | None, "how many it may take; null: no throttle, or none is known (jobs a second)"]
    window: Annotated[int | None, "since when the next four are counted; null where no router is known (epoch seconds)"]
    routed: Annotated[int | None, "how many were routed"]
    failed: Annotated[int | None, "how many failed"]
    succeeded: Annotated[int | None, "how many did not"]
    failure_rate: Annotated[float | None, "how many of them failed (failures a second)"]
    failure_rate_threshold: Annotated[float, "from which on it is throttled (failures a second)"]


class StatusJob(TypedDict):
    """One of `jobs`."""

    reason: Annotated[str, "why", RouteReason]
    route: Annotated[str | None, "the route that it is about"]
    count: Annotated[int, "how many"]


class Asked(TypedDict):
    """Why this job is not routed; only with `--job`."""

    job: Annotated[str, "ClusterId.ProcId"]
    reason: Annotated[str, "why", RouteReason]
    text: Annotated[str | None, "the same in words"]
    routes: Annotated[Iterable[Verdict], "what each route says of it"]


class StatusResult(TypedDict):
    """How routes and jobs stand."""

    name: Annotated[str, "JOB_ROUTER_NAME"]
    now: Annotated[int, "the time taken for now (epoch seconds)"]
    router: Annotated[Router | None, "the router that runs here; null: none is known"]
    routes: Annotated[Iterable[StatusRoute], "the routes in their order"]
    jobs: Annotated[Iterable[StatusJob], "all jobs of the queue by why they are routed or not"]
    unpaired: Annotated[Iterable[str], "sources of this router without a copy"]
    rejected: Annotated[Iterable[str], "names of routes that are listed and not taken"]
    job: NotRequired[Annotated[Asked, "why this job is not routed; only with `--job`"]]


class Unmet(TypedDict):
    """One of `unmet`."""

    what: Annotated[str, "`route`, `reason`, `copy`, or an attribute of the copy"]
    expected: Annotated[str, "what the test says"]
    found: Annotated[str, "what the routes do"]


class Tried(TypedDict):
    """One of `tests`."""

    file: Annotated[str, "the file of the test"]
    line: Annotated[int, "where it begins there"]
    name: Annotated[str, "its name"]
    route: Annotated[str | None, "the expected route; null: none"]
    passed: Annotated[bool, "whether all is as expected"]
    unmet: Annotated[Iterable[Unmet], "what is not"]


class TestResult(TypedDict):
    """Whether routes do what a file expects."""

    passed: Annotated[int, "how many tests passed"]
    failed: Annotated[int, "how many failed"]
    tests: Annotated[Iterable[Tried], "all tests, in their order"]


RESULTS = {
    "route-apply": Result("The routed ads, and what changes", Iterable[RouteApply]),
    "route-check": Result("Findings by file; with --statistics by rule", Findings | Statistics),
    "route-convert": Result("Routes in the new language", ConvertResult),
    "route-diff": Result("What another configuration of a job router does otherwise", DiffResult),
    "route-explain": Result("For each job and route: matched, or why not", Explained | Matches),
    "route-history": Result("The routed jobs that have left", HistoryResult),
    "route-plan": Result("The coming runs, and the route of each", PlanResult),
    "route-q": Result("The routed jobs; with -S their summary", Jobs | Summary),
    "route-rm": Result("What was removed", Removed),
    "route-run": Result("One line each: an entry of the log", Entry | Stays),
    "route-show": Result("The routing table", ShowResult),
    "route-status": Result("How routes and jobs stand", StatusResult),
    "route-test": Result("Whether routes do what a file expects", TestResult),
}
