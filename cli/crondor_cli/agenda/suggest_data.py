"""A suggestion as JSON; `crondor config schema agenda` has the keys."""

from __future__ import annotations

from crondor.spreading import Load
from crondor_cli.agenda.days import LISTED
from crondor_cli.agenda.suggest import Suggestion
from crondor_cli.agenda.suggest_text import why
from crondor_cli.common.data import diagnostic_data, iso
from crondor_cli.common.options import Clock


def suggestion_data(suggestion: Suggestion, clock: Clock, *, is_written: bool) -> dict[str, object]:
    """Return a suggestion as what JSON has."""
    spreading = suggestion.spreading
    return {
        "from": suggestion.time.start,
        "until": suggestion.time.end,
        "run_time": suggestion.time.run_time,
        "before": _load(spreading.before, suggestion, clock),
        "after": _load(spreading.after, suggestion, clock),
        "moves": [
            {
                "jobs": list(move.jobs),
                "minute": move.before.text,
                "proposed": move.after.text,
                "hour": move.hours[0],
                "proposed_hour": move.hours[1],
                "is_own": move.is_own,
                "starts": list(move.starts),
                "held": list(move.held),
                "reason": why(suggestion, number),
            }
            for number, move in enumerate(suggestion.moves)
        ],
        "fixed": [{"job": number, "reason": reason} for number, reason in sorted(spreading.fixed.items())],
        "files": [old.name for old, _ in suggestion.files],
        "written": is_written,
        "diagnostics": [diagnostic_data(each) for each in suggestion.problems],
    }


def _load(load: Load, suggestion: Suggestion, clock: Clock) -> dict[str, object]:
    minutes = []
    for minute in load.busiest(LISTED):
        at = suggestion.time.start + 60 * minute
        local = iso(at, clock.zone)
        minutes.append({"time": at, "local": local, "starts": load.starts[minute], "held": load.held[minute]})
    return {"most_starts": load.most_starts, "most_held": load.most_held, "busiest": minutes}
