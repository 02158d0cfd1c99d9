"""What `crondor route` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, TypedDict

from crondor.diagnostics import Severity
from crondor.lint.report import PlaceData, PositionData
from crondor.router.daemon.log import RouterEvent
from crondor.router.daemon.status import RouteReason
from crondor.router.match.matcher import Limit
from crondor.router.plan.copy_schedule import CopySchedule, PlannedOutcome
from crondor_cli.kit.results import (
    Acted,
    Diagnostic,
    Findings,
    Judged,
    NotRequired,
    QueueSource,
    Result,
    Statistics,
    Verdict,
    names,
)


class Change(TypedDict):
    """An attribute in which the copy differs from the source."""

    name: Annotated[str, "the attribute"]
    before: Annotated[str | None, "its expression in the source; null: it is not there"]
    after: Annotated[str | None, "its expression in the copy; null: it is not there"]


class Proxy(TypedDict):
    """A proxy that several jobs share, of which the copy gets its own."""

    file: Annotated[str, "the proxy"]
    copy: Annotated[str, "where it would be copied to"]


class RouteApply(TypedDict):
    """What a route makes of one job."""

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


class Transform(TypedDict):
    """A transform, in the language of today."""

    name: Annotated[str, "its name"]
    place: Annotated[PlaceData, "where it stands"]
    commands: Annotated[Iterable[str], "its lines"]


class Route(Transform):
    """A route, in the language of today."""

    was: Annotated[str, "its name before"]
    knob: Annotated[str, "the knob that it came from"]


class Verified(TypedDict):
    """How the new routes were tested."""

    jobs: Annotated[int, "made jobs that went through the old routes and the new"]
    differences: Annotated[int, "how many ways there are in which some come out otherwise; the findings say which"]


class ConvertFinding(TypedDict):
    """A difference to the old routes, or something to look at."""

    code: Annotated[str, "the kind of finding, stable"]
    severity: Annotated[str, "how bad it is", Severity]
    message: Annotated[str, "what, and why"]
    help: Annotated[str | None, "what to write instead"]
    place: Annotated[PlaceData | None, "where it is"]


class ConvertResult(TypedDict):
    """The routes of a configuration in the language of today."""

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
    """A route that has another name in the new table."""

    before: Annotated[str, "the old name"]
    after: Annotated[str, "the new name"]


class Rejected(TypedDict):
    """A route that only the new table leaves out."""

    route: Annotated[str, "its name"]
    reason: Annotated[str, "why it is left out"]


class Order(TypedDict):
    """The order in which both tables try the routes that they share."""

    before: Annotated[Iterable[str], "before"]
    after: Annotated[Iterable[str], "after"]


class Listed(TypedDict):
    """Differences between the lists of routes."""

    added: Annotated[Iterable[str], "routes that only the new table has"]
    dropped: Annotated[Iterable[str], "routes that only the old table has"]
    renamed: Annotated[Iterable[Renamed], "routes that are called otherwise now"]
    rejected: Annotated[Iterable[Rejected], "routes that are left out only now"]
    order: Annotated[Order | None, "the routes of both in their order; null: the same"]


class Example(TypedDict):
    """A job that shows a difference."""

    job: Annotated[str, "ClusterId.ProcId"]
    attributes: Annotated[
        Mapping[str, object] | None,
        "of a made job what is not as in the plainest one, null: not there; of another job null",
    ]


class Shown(TypedDict):
    """A difference that jobs show."""

    jobs: Annotated[int, "how many jobs"]
    example: Annotated[Example, "one of them"]


class Moved(Shown):
    """Jobs that change from one route to another."""

    before: Annotated[str | None, "the route before; null: none"]
    after: Annotated[str | None, "the route now; null: none"]
    reason: Annotated[str | None, "why the example does"]


class Text(TypedDict):
    """The text of an attribute before and after."""

    before: Annotated[str | None, "before; null: not there"]
    after: Annotated[str | None, "now; null: not there"]
    job: Annotated[str, "a job with both"]


class Copied(Shown):
    """An attribute of copies that changes."""

    route_before: Annotated[str, "the route before"]
    route_after: Annotated[str, "the route now"]
    attribute: Annotated[str | None, "its name, or that of the route's macro; null: a copy cannot be made"]
    texts: Annotated[Iterable[Text], "some of the texts"]
    is_cut: Annotated[bool, "there are more texts"]


class Unreached(TypedDict):
    """A route that no job takes in one of the tables."""

    route: Annotated[str, "its name"]
    is_added: Annotated[bool, "only the new table has it"]
    jobs_before: Annotated[int, "how many jobs it took"]
    taken_by: Annotated[str | None, "the route that takes its jobs; null: no job meets its requirements"]
    example: Annotated[Example | None, "a job that it would take; null: there is none"]


class Overlap(Shown):
    """Jobs that two routes would take."""

    first: Annotated[str, "the route that takes them"]
    second: Annotated[str, "the route that would too"]
    is_new: Annotated[bool, "it is so in the new table; false: in the old one"]


class Setting(TypedDict):
    """A limit or another value that changes."""

    route: Annotated[str | None, "whose it is; null: the router's"]
    name: Annotated[str, "the knob, or the route's macro"]
    before: Annotated[str | None, "before; null: not given"]
    after: Annotated[str | None, "now; null: not given"]


class DiffResult(TypedDict):
    """Differences between two configurations of a job router."""

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


class Job(Judged):
    """A job, and the route that takes it."""

    job: Annotated[str, "ClusterId.ProcId"]
    route: Annotated[str | None, "the route that takes it; null: none"]


class Explained(TypedDict):
    """Every job with what each route says of it; without --summary."""

    jobs: Annotated[Iterable[Job], "the jobs in the order read"]
    rejected: Annotated[Iterable[str], "names of routes that are listed and rejected"]


class Match(TypedDict):
    """A job that a route takes."""

    job: Annotated[str, "ClusterId.ProcId"]
    route: Annotated[str, "the route that takes it"]


class RouteLoad(TypedDict):
    """How many jobs a route has, and whether it takes more."""

    route: Annotated[str, "the route"]
    jobs: Annotated[int, "how many are on it"]
    idle: Annotated[int, "how many of them are idle"]
    limit: Annotated[str | None, "why it takes no more; null: it does", Limit]


class Matches(TypedDict):
    """The jobs that routes take, and the load of the routes; with --summary."""

    umbrella: Annotated[str | None, "the umbrella constraint; null: no route takes jobs"]
    matches: Annotated[Iterable[Match], "which job goes to which route, in the order found"]
    jobs_read: Annotated[int, "how many were looked at"]
    is_stopped: Annotated[bool, "nothing takes jobs any more; the jobs after that were not looked at"]
    routes: Annotated[Iterable[RouteLoad], "the routes after the matches"]
    rejected: Annotated[Iterable[str], "names of routes that are listed and rejected"]


class HistoryRoute(TypedDict):
    """The jobs of a route that have left."""

    route: Annotated[str, "the route"]
    completed: Annotated[int, "how many completed"]
    aborted: Annotated[int, "how many did not"]
    completed_seconds: Annotated[int, "the run time of those that completed (seconds)"]


class HistoryJob(TypedDict):
    """A routed job that has left."""

    job: Annotated[str, "ClusterId.ProcId"]
    state: Annotated[str, "the letter of its state"]
    route: Annotated[str, "RouteName"]
    run_time: Annotated[float, "how long it ran (seconds)"]
    iwd: Annotated[str, "Iwd, its folder"]
    time: Annotated[float | None, "when it left; null where the ad does not say (epoch seconds)"]


_From = TypedDict("_From", {"from": Annotated[int, "where the period begins (epoch seconds)"]})


class HistoryResult(_From):
    """The routed jobs that left the queue in a period."""

    zone: Annotated[str, "the zone (IANA name)"]
    now: Annotated[int, "the time taken for now (epoch seconds)"]
    until: Annotated[int, "where it ends (epoch seconds)"]
    routes: Annotated[Iterable[HistoryRoute], "the summary by route"]
    jobs: Annotated[Iterable[HistoryJob], "the jobs that left in the period"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about the history"]


class PlanJob(TypedDict):
    """A job that was read."""

    job: Annotated[str, "ClusterId.ProcId"]
    name: Annotated[str, "where it comes from"]
    is_planned: Annotated[bool, "whether it has a schedule"]


class Room(TypedDict):
    """The jobs of a route and of the router, and how many they may have."""

    jobs: Annotated[int, "how many the route has"]
    max_jobs: Annotated[int, "how many it may have"]
    idle: Annotated[int, "how many of them are idle"]
    max_idle_jobs: Annotated[int, "how many may be; negative: no limit"]
    managed: Annotated[int, "how many all routes have"]
    max_managed: Annotated[int, "how many the router may have; negative: no limit"]


class Cure(TypedDict):
    """What to add to the route, so that the copy runs as the source would."""

    text: Annotated[str, "the commands to add to the route"]
    conduct: Annotated[str, "how the copy keeps to its time with them", CopySchedule]


class PlannedRow(Judged):
    """A coming run of a job, and what becomes of it, as the table has it too."""

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


class Run(PlannedRow):
    """A coming run of a job, and what becomes of it."""

    cure: Annotated[Cure | None, "what to write"]
    codes: Annotated[Iterable[str], "codes of the findings that this run brought"]
    ad: Annotated[Mapping[str, object] | None, "the routed copy"]


class PlanResult(TypedDict):
    """The coming runs of scheduled jobs, and the route of each."""

    at_gate: Annotated[bool, "whether a job is routed when its gate opens (`--at-gate`)"]
    polling_period: Annotated[int, "JOB_ROUTER_POLLING_PERIOD (seconds)"]
    now: Annotated[int, "the time taken for now (epoch seconds)"]
    until: Annotated[int | None, "where the plan ends; null: where no end was named (epoch seconds)"]
    run_time: Annotated[int | None, "how long copies run; null: until the next run of their job (seconds)"]
    queue_time: Annotated[int, "how long copies wait at the site before (seconds)"]
    jobs: Annotated[Iterable[PlanJob], "the jobs, in the order read"]
    rejected: Annotated[Iterable[str], "names of routes that are listed and rejected"]
    runs: Annotated[Iterable[Run], "the runs, in order of time"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings"]


class QJob(TypedDict):
    """A routed job in the queue."""

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
    """Jobs counted by state."""

    completed: Annotated[int, "JobStatus 4"]
    removed: Annotated[int, "JobStatus 3"]
    idle: Annotated[int, "JobStatus 1"]
    running: Annotated[int, "JobStatus 2 and 6"]
    held: Annotated[int, "JobStatus 5"]
    suspended: Annotated[int, "JobStatus 7"]


class Totals(TypedDict):
    """Jobs counted by state, without those of the scheduler universe."""

    query: Annotated[States, "of the jobs asked for"]
    all_users: Annotated[States | None, "of all jobs; null where they are not known"]


class Jobs(QueueSource):
    """The routed jobs one by one; without -S, -R, -I and -H."""

    jobs: Annotated[Iterable[QJob], "the routed jobs"]
    totals: Annotated[Totals, "how many jobs there are by state, those of the scheduler universe aside"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about the queue"]


class QCounted(TypedDict):
    """Routed jobs that have the state, the route and the GridResource in common."""

    jobs: Annotated[int, "how many"]
    state: Annotated[str, "the letter of their state; `?`: none that is known"]
    route: Annotated[str, "RouteName"]
    grid_resource: Annotated[str, "GridResource, may be empty"]


class Summary(QueueSource):
    """The routed jobs, counted; with -S, -R, -I or -H."""

    summary: Annotated[Iterable[QCounted], "the jobs that are alike, counted"]
    diagnostics: Annotated[Iterable[Diagnostic], "findings about the queue"]


class Removed(Acted):
    """What was removed, and how much was not."""

    constraint: Annotated[str, "what chose the jobs"]


class Entry(TypedDict):
    """An entry of the router's log."""

    time: Annotated[int, "when (epoch seconds)"]
    what: Annotated[str, "what was done, or found", names(RouterEvent)]
    job: Annotated[str, "the source, the copy and the route as condor_job_router writes them; may be empty"]
    text: Annotated[str, "the line of the log"]


class Unrouted(TypedDict):
    """How many jobs are where they are for the same reason."""

    reason: Annotated[str, "why", RouteReason]
    route: Annotated[str | None, "the route that the reason is about"]
    count: Annotated[int, "how many jobs"]


class Stays(Unrouted):
    """Jobs that the next poll would not route; with --dry-run."""

    time: Annotated[int, "when (epoch seconds)"]
    what: Annotated[str, "the jobs stay where they are", ("stays",)]


class ShowRoute(TypedDict):
    """A route of the table."""

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
    place: Annotated[PositionData | None, "where the text stands"]


class ShowTransform(TypedDict):
    """A transform that every routed job passes."""

    name: Annotated[str, "its name"]
    text: Annotated[str, "its commands as HTCondor prints them"]


class ShowRejected(TypedDict):
    """A route that is listed and rejected."""

    name: Annotated[str, "the route"]
    diagnostics: Annotated[Iterable[Diagnostic], "why"]


class Setter(TypedDict):
    """What gave a variable its value."""

    source: Annotated[
        str, "a knob, HTCondor's default, the route, or a transform", ("knob", "default", "route", "transform")
    ]
    name: Annotated[str, "its name"]
    place: Annotated[PositionData | None, "where; null: nowhere in a file"]


class Variable(TypedDict):
    """A variable, as it is when the transform begins."""

    name: Annotated[str, "its name"]
    value: Annotated[str | None, "its text, macros replaced; null: nobody set it"]
    default: Annotated[str | None, "what replaces it then; null: nothing"]
    set_by: Annotated[Setter | None, "who set it; null: nobody"]
    place: Annotated[PositionData, "where it is read"]


class Passed(TypedDict):
    """A transform that the job passes."""

    position: Annotated[str, "where it stands", ("pre-route", "route", "post-route")]
    name: Annotated[str, "its name, or the route's"]
    is_applied: Annotated[bool, "whether the job, as it is then, meets its REQUIREMENTS"]
    requirements: Annotated[str | None, "its REQUIREMENTS; null: none"]
    place: Annotated[PositionData | None, "where its text stands; null: nowhere as it is"]
    variables: Annotated[Iterable[Variable], "the variables that it reads and does not set first itself"]


class Effective(Job):
    """A job, the route that takes it, and the transforms that it passes."""

    transforms: Annotated[Iterable[Passed], "the transforms in their order; one that fails is the last"]
    is_routed: Annotated[bool, "whether a route takes it, and no transform fails"]


class ShowResult(TypedDict):
    """The routing table of a configuration."""

    is_enabled: Annotated[bool, "whether anything is routed"]
    routes: Annotated[
        Iterable[ShowRoute], "the routes in their order, also where the value of a knob keeps jobs from them"
    ]
    before: Annotated[Iterable[ShowTransform], "the transforms before each route"]
    after: Annotated[Iterable[ShowTransform], "the transforms after each route"]
    rejected: Annotated[Iterable[ShowRejected], "the routes that are listed and not taken"]
    diagnostics: Annotated[Iterable[Diagnostic], "everything else that was found, warnings too"]
    effective: NotRequired[Annotated[Effective, "with --effective: what one job passes"]]


class Router(TypedDict):
    """The router that runs over this queue."""

    started: Annotated[int, "when it was started (epoch seconds)"]
    polled: Annotated[int, "its last poll (epoch seconds)"]
    answered: Annotated[bool, "whether the queue answered then"]
    pause: Annotated[int, "for how many polls nothing is written, after a refusal"]


class StatusRoute(RouteLoad):
    """How a route stands."""

    max_jobs: Annotated[int, "how many may be"]
    max_idle_jobs: Annotated[int, "how many of them may be; negative: no limit"]
    text: Annotated[str | None, "the same in words"]
    throttle: Annotated[float | None, "how many it may take; null: no throttle, or none is known (jobs a second)"]
    window: Annotated[int | None, "since when the next four are counted; null where no router is known (epoch seconds)"]
    routed: Annotated[int | None, "how many were routed"]
    failed: Annotated[int | None, "how many failed"]
    succeeded: Annotated[int | None, "how many did not"]
    failure_rate: Annotated[float | None, "how many of them failed (failures a second)"]
    failure_rate_threshold: Annotated[float, "from which on it is throttled (failures a second)"]


class Asked(TypedDict):
    """Why a job is not routed now; with --job."""

    job: Annotated[str, "ClusterId.ProcId"]
    reason: Annotated[str, "why", RouteReason]
    text: Annotated[str | None, "the same in words"]
    routes: Annotated[Iterable[Verdict], "what each route says of it"]


class StatusResult(TypedDict):
    """How the routes and the jobs of a queue stand."""

    name: Annotated[str, "JOB_ROUTER_NAME"]
    now: Annotated[int, "the time taken for now (epoch seconds)"]
    router: Annotated[Router | None, "the router that runs here; null: none is known"]
    routes: Annotated[Iterable[StatusRoute], "the routes in their order"]
    jobs: Annotated[Iterable[Unrouted], "all jobs of the queue by why they are routed or not"]
    unpaired: Annotated[Iterable[str], "sources of this router without a copy"]
    rejected: Annotated[Iterable[str], "names of routes that are listed and rejected"]
    job: NotRequired[Annotated[Asked, "why this job is not routed; only with `--job`"]]


class Unmet(TypedDict):
    """An expectation that the routes do not meet."""

    what: Annotated[str, "`route`, `reason`, `copy`, or an attribute of the copy"]
    expected: Annotated[str, "what the test says"]
    found: Annotated[str, "what the routes do"]


class Tried(TypedDict):
    """A test of a file, and what came of it."""

    file: Annotated[str, "the file of the test"]
    line: Annotated[int, "where it begins there"]
    name: Annotated[str, "its name"]
    route: Annotated[str | None, "the expected route; null: none"]
    passed: Annotated[bool, "whether all is as expected"]
    unmet: Annotated[Iterable[Unmet], "what is not"]


class TestResult(TypedDict):
    """Whether routes do what files of tests expect."""

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
