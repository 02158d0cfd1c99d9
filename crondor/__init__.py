"""Crontab and deferral-time scheduling of HTCondor jobs: preview, explain, check."""

from crondor.deferral import Arrival, Deferral, InvalidDeferral, Verdict
from crondor.diagnostics import CrondorError, Diagnostic, Severity
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
from crondor.schedule import (
    Expression,
    InvalidSchedule,
    JobSchedule,
    Recalculation,
    Universe,
    UnknownValue,
)
from crondor.source import Source, Span
from crondor.spec import CronSpec, Dialect, Field, InvalidSpec
from crondor.words import describe
from crondor.zones import UnknownZone

__all__ = [
    "Arrival",
    "CronSpec",
    "CrondorError",
    "Deferral",
    "Diagnostic",
    "Dialect",
    "Expression",
    "Field",
    "InvalidDeferral",
    "InvalidSchedule",
    "InvalidSpec",
    "JobSchedule",
    "NeverRuns",
    "NotASet",
    "OutOfRange",
    "Policy",
    "Recalculation",
    "Recurrence",
    "ScheddAnswer",
    "ScheddHangs",
    "Severity",
    "Source",
    "Span",
    "Universe",
    "UnknownValue",
    "UnknownZone",
    "Verdict",
    "describe",
    "never_reason",
]
