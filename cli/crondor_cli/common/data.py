"""What several commands print for programs: findings, and instants as ISO 8601."""

from __future__ import annotations

from datetime import datetime, tzinfo

from crondor.deferral import Deferral
from crondor.diagnostics import Diagnostic


def diagnostic_data(diagnostic: Diagnostic) -> dict[str, object]:
    """Return a finding with its place."""
    span = diagnostic.span
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "help": diagnostic.help,
        "fix": diagnostic.fix,
        "file": span and span.source.name,
        "line": span and span.line,
        "column": span and span.column,
        "text": span and span.text[:200],
    }


def iso(epoch: int, zone: tzinfo) -> str | None:
    """Return an instant as ISO 8601 with offset, None beyond the calendar."""
    try:
        return datetime.fromtimestamp(epoch, zone).isoformat()
    except (OverflowError, OSError, ValueError):
        return None


def instant(epoch: int, zone: tzinfo) -> dict[str, object]:
    """Return an instant as epoch seconds and in the zone."""
    return {"time": int(epoch), "local": iso(epoch, zone)}


def moments(deferral: Deferral, zone: tzinfo) -> dict[str, object]:
    """Return a start and the moments around it."""
    return {
        "time": deferral.time,
        "local": iso(deferral.time, zone),
        "nominal_match": deferral.nominal_match,
        "match_opens": deferral.match_opens,
        "last_match": deferral.last_match,
        "last_start": deferral.last_start,
    }
