"""What `crondor simulate` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict

from crondor.pool.daemons.events import PoolEventKind
from crondor.pool.settings import Party
from crondor.router.daemon.status import RouteReason
from crondor.router.match.matcher import Limit
from crondor.spec import Dialect
from crondor_cli.kit.results import Diagnostic, JobHead, NotRequired, Result


class Change(TypedDict):
    """A change to a submit file that would be enough."""

    file: Annotated[str, "the file"]
    line: Annotated[int | None, "the line to change, or before which to add one (from 1)"]
    command: Annotated[str, "the submit command"]
    before: Annotated[str | None, "its value; null: it is missing"]
    after: Annotated[int, "the value to write (seconds)"]


class Job(JobHead):
    """Equal jobs, and the outcome of their runs."""

    is_deferred: Annotated[bool, "whether they have a schedule"]
    planned: Annotated[
        int, "how many runs the schedd of this reading planned: the sum of the seven outcomes, from `on_time`"
    ]
    named: Annotated[int, "the runs that the fields mean, as the manual reads them; `planned` if the job has left"]
    on_time: Annotated[int, "started at their time"]
    late: Annotated[int, "started after it, in the window"]
    missed_held: Annotated[int, "arrived too late: held with code 20"]
    missed: Annotated[int, "not matched in time; the schedd went on to the next time"]
    missed_idle: Annotated[int, "not matched in time, and the job stays idle forever"]
    skipped: Annotated[int, "skipped while the run before went on"]
    held: Annotated[int, "skipped while the job was on hold"]
    starts: Annotated[int, "how often a program started"]
    evicted: Annotated[int, "ended from outside after their start"]
    untold: Annotated[int, "ended without the schedd learning it: the job was queued again"]
    repeated: Annotated[
        int, "matched again for a time already run: the execute clock is ahead, and the run ended before its time"
    ]
    is_stranded: Annotated[
        bool, "the only run is over, the job was queued again, and its window is over: it is idle forever"
    ]
    idle_slot: Annotated[int, "how long slots waited for the start times of their jobs (seconds)"]
    has_left: Annotated[bool, "whether all of them left the queue before the end"]
    hold_reason: Annotated[str | None, "why one is held at the end"]
    removed: Annotated[str | None, "why a policy took one out of the queue"]
    trouble: Annotated[Iterable[str], "why nothing can be planned"]
    enough_prep_time: Annotated[
        int | None, "the smallest prep time with which all runs are on time; null: none, or not requested (seconds)"
    ]
    enough_window: Annotated[int | None, "the smallest window with which none is missed (seconds)"]
    changes: Annotated[Iterable[Change], "what to write; each change alone is enough"]


class Reading(TypedDict):
    """The jobs in one dialect."""

    dialect: Annotated[str, "the reading", Dialect]
    jobs: Annotated[Iterable[Job], "the jobs in the order of the files, equal ones together"]


class Event(TypedDict):
    """An event of a job."""

    time: Annotated[int, "when, by the schedd's clock (epoch seconds)"]
    job: Annotated[str, "cluster and proc; each file is a cluster"]
    what: Annotated[str, "what happened; `left`: LeaveJobInQueue had kept it", PoolEventKind]
    detail: Annotated[str, "more about it, may be empty"]


class Value(TypedDict):
    """An attribute of a message."""

    name: Annotated[str, "the attribute"]
    text: Annotated[str, "its expression, as in `-long` ads"]


_Sender = TypedDict(
    "_Sender",
    {
        "from": Annotated[
            str,
            "who sent it: `user`, `schedd`, `shadow`, `starter` or `startd`",
            ("user", "schedd", "negotiator", "shadow", "startd", "starter", "router", "history", "startd-history"),
        ]
    },
)


class Message(_Sender):
    """A message between two daemons."""

    time: Annotated[int, "when, by the schedd's clock (epoch seconds)"]
    job: Annotated[str | None, "cluster and proc; null: all jobs, if the router could not read the log"]
    to: Annotated[str, "the receiver: these, `negotiator`, `router` or `history`", Party]
    what: Annotated[str, "the kind of message: `start`, `update`, `final`, `pull` and others"]
    arrived: Annotated[bool, "whether it arrived"]
    attributes: Annotated[int, "the number of its attributes"]
    values: Annotated[Iterable[Value], "the attributes new to the receiver; of a whole ad, those expanded"]


_From = TypedDict("_From", {"from": Annotated[int, "when the jobs are submitted (epoch seconds)"]})


class Pool(_From):
    """The result of a pool; without --routes."""

    zone: Annotated[str, "the zone (IANA name)"]
    until: Annotated[int, "the end (epoch seconds)"]
    schedd_interval: Annotated[int, "SCHEDD_INTERVAL (seconds)"]
    match_delay: Annotated[str, "how long matches take, as in the option"]
    transfer: Annotated[str, "how long the transfer of input takes, as in the option"]
    run_time: Annotated[str, "how long programs run, as in the option"]
    slots: Annotated[int, "how many slots there are"]
    skew: Annotated[int, "how far the execute clock is ahead (seconds)"]
    seed: Annotated[int, "the seed"]
    machines: Annotated[Iterable[str], "the partitionable machines, as strings; empty: `slots` are used"]
    exit_code: Annotated[str, "the exit codes of programs"]
    preempt: Annotated[str | None, "when jobs are preempted"]
    fail: Annotated[Iterable[str], "the updates that fail, as strings"]
    readings: Annotated[Iterable[Reading], "the results by dialect, htcondor first"]
    diagnostics: Annotated[Iterable[Diagnostic], "all findings"]
    events: NotRequired[Annotated[Iterable[Event], "what happened in the first reading; only with `--events`"]]
    flow: NotRequired[Annotated[Iterable[Message], "the messages in the first reading; only with `--trace flow`"]]


class Ends(TypedDict):
    """The outcome of jobs or copies."""

    copies: Annotated[int, "copies that were made"]
    runs: Annotated[int, "runs of programs"]
    done: Annotated[int, "how many were done"]
    failed: Annotated[int, "how many failed"]
    removed: Annotated[int, "how many were removed"]
    held: Annotated[int, "how many are on hold at the end"]
    running: Annotated[int, "how many run at the end"]
    idle: Annotated[int, "how many are idle at the end"]


class RoutedJob(JobHead, Ends):
    """Equal jobs, and their outcome."""


class Route(Ends):
    """A route, and the outcome of its copies."""

    route: Annotated[str, "the route"]
    limit: Annotated[
        str | None, "why it takes no more jobs at the end: `full`, `idle limit`, `throttled`; null: it does", Limit
    ]
    text: Annotated[str | None, "the same in words"]
    throttle: Annotated[str, "its limit in jobs per second at the end, as condor_job_router prints it; `none`"]


class NotRouted(TypedDict):
    """Jobs that are not routed at the end, for one reason."""

    reason: Annotated[str, "why", RouteReason]
    route: Annotated[str | None, "the route concerned"]
    count: Annotated[int, "how many"]


class Timeline(TypedDict):
    """The lanes of the table; only with `--timeline`."""

    seconds: Annotated[int, "the length of a column (seconds)"]
    jobs: Annotated[Iterable[str], "the lane of each entry of `jobs`, a letter per column"]
    routes: Annotated[Iterable[str], "the lane of each route"]


class RoutedEvent(TypedDict):
    """A line of the router's log, or a change of a copy."""

    time: Annotated[int, "when (epoch seconds)"]
    text: Annotated[str, "what happened"]


class Routes(_From):
    """The result of routes; with --routes."""

    zone: Annotated[str, "the zone (IANA name)"]
    until: Annotated[int, "the end (epoch seconds)"]
    seed: Annotated[int, "the seed"]
    router: Annotated[str, "JOB_ROUTER_NAME"]
    polling_period: Annotated[int, "JOB_ROUTER_POLLING_PERIOD (seconds)"]
    sites: Annotated[Iterable[str], "the sites, as strings"]
    jobs: Annotated[Iterable[RoutedJob], "the jobs of each queue statement, and their outcome"]
    routes: Annotated[Iterable[Route], "the routes, and the outcome of their copies"]
    not_routed: Annotated[Iterable[NotRouted], "jobs that are not routed at the end"]
    diagnostics: Annotated[Iterable[Diagnostic], "all findings"]
    timeline: NotRequired[Annotated[Timeline, "the lanes of the table; only with `--timeline`"]]
    events: NotRequired[
        Annotated[Iterable[RoutedEvent], "the router's log, and each change of a copy; only with `--events`"]
    ]


RESULTS = {"simulate": Result("The outcome of jobs in a pool, or with --routes of routes", Pool | Routes)}
