"""Crontab and deferral-time scheduling of HTCondor jobs: preview, explain, check, route.

Here stands what a tool begins with; each name is imported when it is first asked for. ``CronSpec``, ``Recurrence`` and
``JobSchedule`` are schedules, ``read_submit`` and ``check_submit`` take submit files, ``ClassAd`` and ``read_queue``
ads, ``load_table``, ``Matcher``, ``apply_route`` and ``plan`` routes. docs/python.md begins with them.
"""

from typing import TYPE_CHECKING

from crondor._types import late

if TYPE_CHECKING:
    from crondor.classad import ClassAd, read_ad, read_ads
    from crondor.config import Configuration, read_config
    from crondor.deferral import Arrival, Deferral, InvalidDeferral, Verdict
    from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span
    from crondor.job.policy import read_queue
    from crondor.lint import CheckReport, CheckSettings, Finding, check_submit
    from crondor.recurrence import (
        NeverRuns,
        NotASet,
        OutOfRange,
        Policy,
        Recurrence,
        ScheddAnswer,
        ScheddHangs,
        never_reason,
    )
    from crondor.router import Matcher, RouteState, RoutingTable, apply_route, load_table
    from crondor.router_bridge import PlanOptions, plan
    from crondor.schedule import ExpressionText, InvalidSchedule, JobSchedule, Recalculation, Universe, UnknownValue
    from crondor.spec import CronSpec, Dialect, Field, InvalidSpec
    from crondor.submit import InvalidSubmit, SubmitFile, job_ads, read_submit
    from crondor.times import JobTimes
    from crondor.words import describe
    from crondor.zones import UnknownZone


__all__ = [
    "Arrival",
    "CheckReport",
    "CheckSettings",
    "ClassAd",
    "Configuration",
    "CronSpec",
    "CrondorError",
    "Deferral",
    "Diagnostic",
    "Dialect",
    "ExpressionText",
    "Field",
    "Finding",
    "InvalidDeferral",
    "InvalidSchedule",
    "InvalidSpec",
    "InvalidSubmit",
    "JobSchedule",
    "JobTimes",
    "Matcher",
    "NeverRuns",
    "NotASet",
    "OutOfRange",
    "PlanOptions",
    "Policy",
    "Recalculation",
    "Recurrence",
    "RouteState",
    "RoutingTable",
    "ScheddAnswer",
    "ScheddHangs",
    "Severity",
    "Source",
    "Span",
    "SubmitFile",
    "Universe",
    "UnknownValue",
    "UnknownZone",
    "Verdict",
    "apply_route",
    "check_submit",
    "describe",
    "job_ads",
    "load_table",
    "never_reason",
    "plan",
    "read_ad",
    "read_ads",
    "read_config",
    "read_queue",
    "read_submit",
]

_HOMES = {
    "crondor.classad": "ClassAd read_ad read_ads",
    "crondor.config": "Configuration read_config",
    "crondor.deferral": "Arrival Deferral InvalidDeferral Verdict",
    "crondor.diagnostics": "CrondorError Diagnostic Severity Source Span",
    "crondor.job.policy": "read_queue",
    "crondor.lint": "CheckReport CheckSettings Finding check_submit",
    "crondor.recurrence": "NeverRuns NotASet OutOfRange Policy Recurrence ScheddAnswer ScheddHangs never_reason",
    "crondor.router": "Matcher RouteState RoutingTable apply_route load_table",
    "crondor.router_bridge": "PlanOptions plan",
    "crondor.schedule": "ExpressionText InvalidSchedule JobSchedule Recalculation Universe UnknownValue",
    "crondor.spec": "CronSpec Dialect Field InvalidSpec",
    "crondor.submit": "InvalidSubmit SubmitFile job_ads read_submit",
    "crondor.times": "JobTimes",
    "crondor.words": "describe",
    "crondor.zones": "UnknownZone",
}
__getattr__, __dir__ = late(__name__, _HOMES)
