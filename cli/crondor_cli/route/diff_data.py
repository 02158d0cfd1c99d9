"""A comparison of two routing tables for programs; `crondor config schema route diff` has the keys."""

from __future__ import annotations

import json
from collections.abc import Iterator

from crondor_cli.route.diff_report import DiffReport


def lines(report: DiffReport) -> Iterator[str]:
    """Yield one object."""
    yield json.dumps(_data(report), indent=2)


def _data(report: DiffReport) -> dict[str, object]:
    found = report.found
    routes = found.routes
    return {
        "before": list(report.old.files),
        "after": list(report.new.files),
        "differs": not found.is_empty,
        "jobs": {"source": report.kind, "read": found.jobs, "candidates": found.candidates},
        "routes": {
            "added": list(routes.added),
            "dropped": list(routes.dropped),
            "renamed": [{"before": old, "after": new} for old, new in routes.renamed],
            "rejected": [{"route": name, "reason": reason} for name, reason in routes.rejected],
            "order": routes.order and {"before": list(routes.order[0]), "after": list(routes.order[1])},
        },
        "moved": [
            {
                "before": each.old,
                "after": each.new,
                "jobs": each.jobs,
                "reason": each.why or None,
                "example": report.example_data(each.witness),
            }
            for each in found.moved
        ],
        "copies": [
            {
                "route_before": each.old_route,
                "route_after": each.new_route,
                "attribute": each.name or None,
                "jobs": each.jobs,
                "texts": [{"before": pair.old, "after": pair.new, "job": pair.job} for pair in each.pairs],
                "is_cut": each.is_cut,
                "example": report.example_data(each.witness),
            }
            for each in found.copies
        ],
        "unreached": [
            {
                "route": each.route,
                "is_added": each.is_added,
                "jobs_before": each.jobs_before,
                "taken_by": each.taken_by,
                "example": each.witness and report.example_data(each.witness),
            }
            for each in found.unreached
        ],
        "overlaps": [
            {
                "first": each.first,
                "second": each.second,
                "is_new": each.is_new,
                "jobs": each.jobs,
                "example": report.example_data(each.witness),
            }
            for each in found.overlaps
        ],
        "settings": [
            {"route": each.route, "name": each.name, "before": each.old, "after": each.new} for each in found.settings
        ],
        "unproven": list(found.unproven),
        "is_cut": found.is_cut,
    }
