"""Routed ads: in the -long form, as what changes, as a table, and for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator

from crondor.classad.formats import Format, Order
from crondor.classad.scope import Context
from crondor.diagnostics import printable
from crondor.job.attributes import string
from crondor.router import RoutedAd
from crondor.transform.universes import universe_name
from crondor_cli.common.data import diagnostic_data
from crondor_cli.common.output import styled, together
from crondor_cli.common.screen import SCREEN

_NOW = Context()


def long(routed: Iterable[tuple[str, RoutedAd]]) -> Iterator[str]:
    """Yield the routed ads as HTCondor's tools print them, each followed by an empty line."""
    for _, each in routed:
        if each.ad is not None:
            yield f"{each.ad.print(Format.LONG, Order.NAME)}\n"


def diff(routed: Iterable[tuple[str, RoutedAd]]) -> Iterator[str]:
    """Yield what differs between each job and its copy, the old text of an attribute before the new one."""
    colours = {"-": "red", "+": "green"} if SCREEN.wants_colour(sys.stdout) else {}
    for job, each in routed:
        head = f"@@ {job} {_way(each)} {each.route.name} @@"
        shown = printable(head)
        yield together(styled(shown, bold=True) if colours else shown, "\n")
        for change in each.changes:
            for sign, text in zip("-+", change.lines, strict=True):
                if text is not None:
                    line = printable(sign + text)
                    yield together(styled(line, colour=colours[sign]) if colours else line, "\n")


def _way(routed: RoutedAd) -> str:
    if routed.failed:
        return "fails on"
    return "->" if routed.in_place is None else "edited in place by"


def table(routed: Iterable[tuple[str, RoutedAd]]) -> Iterator[str]:
    """Yield a line for each job."""
    yield f"{'JOB':<12} {'ROUTE':<20} {'RESULT':<10} {'CHANGES':>7}  {'UNIVERSE':<9} GRIDRESOURCE\n"
    for job, each in routed:
        result = "failed" if each.failed else "edited" if each.in_place is not None else "copied"
        resource, universe = "", ""
        if each.ad is not None:
            resource = string(each.ad, "GridResource", _NOW) or ""
            universe = universe_name(each.route.universe)
            result = "spooled" if each.sandboxed else result
        row = f"{job:<12} {each.route.name:<20} {result:<10} {len(each.changes):>7}  {universe:<9} {resource}"
        yield f"{printable(row.rstrip())}\n"


def json_lines(routed: Iterable[tuple[str, RoutedAd]]) -> Iterator[str]:
    """Yield a list of objects, a line each; `crondor schema route apply` has the keys."""
    begin = "[\n"
    for job, each in routed:
        yield begin + json.dumps(_data(job, each))
        begin = ",\n"
    yield "\n]\n" if begin != "[\n" else "[]\n"


def _data(job: str, routed: RoutedAd) -> dict[str, object]:
    return {
        "job": job,
        "route": routed.route.name,
        "applied": list(routed.applied),
        "ad": None if routed.ad is None else json.loads(routed.ad.print(Format.JSON, Order.NAME)),
        "in_place": routed.in_place is not None,
        "changes": [change._asdict() for change in routed.changes],
        "sandboxed": routed.sandboxed,
        "input_files": list(routed.input_files),
        "proxy": routed.proxy and {"file": routed.proxy.file, "copy": routed.proxy.copy},
        "id_tokens": list(routed.id_tokens),
        "diagnostics": [diagnostic_data(found) for found in routed.diagnostics],
    }
