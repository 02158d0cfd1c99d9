"""Routed ads: in the -long form, as what changes, as a table, and for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import NamedTuple

from crondor.classad.formats import Format, Order
from crondor.classad.formats.writing import Frame
from crondor.classad.scope import Context
from crondor.diagnostics import printable
from crondor.job.attributes import string
from crondor.router import RoutedAd
from crondor.transform.universes import universe_name
from crondor_cli.common.data import diagnostic_data
from crondor_cli.common.output import styled, together
from crondor_cli.common.screen import SCREEN

_NOW = Context()


class View(NamedTuple):
    """A way to show routed ads: the text of each job, None where there is none, and what stands around them."""

    text: Callable[[str, RoutedAd], str | None]
    frame: Frame = Frame()


def _long(job: str, routed: RoutedAd) -> str | None:
    """Return the routed ad as HTCondor's tools print it, followed by an empty line; an edited job has a title."""
    ad = routed.ad or routed.edited
    if ad is None:
        return None
    title = "" if routed.edited is None else printable(f"# {job} {_way(routed)} {routed.route.name}") + "\n"
    return f"{title}{ad.print(Format.LONG, Order.NAME)}\n"


def _diff(job: str, routed: RoutedAd) -> str:
    """Return what differs between a job and its copy, the old text of an attribute before the new one."""
    colours = {"-": "red", "+": "green"} if SCREEN.wants_colour(sys.stdout) else {}
    shown = printable(f"@@ {job} {_way(routed)} {routed.route.name} @@")
    pieces = [styled(shown, bold=True) if colours else shown, "\n"]
    for change in routed.changes:
        for sign, text in zip("-+", change.lines, strict=True):
            if text is not None:
                line = printable(sign + text)
                pieces += [styled(line, colour=colours[sign]) if colours else line, "\n"]
    return together(*pieces)


def _way(routed: RoutedAd) -> str:
    if routed.failed:
        return "fails on"
    return "->" if routed.in_place is None else "edited in place by"


def _row(job: str, each: RoutedAd) -> str:
    """Return a line."""
    result = "failed" if each.failed else "edited" if each.in_place is not None else "copied"
    resource, universe = "", ""
    if each.ad is not None:
        resource = string(each.ad, "GridResource", _NOW) or ""
        universe = universe_name(each.route.universe)
        result = "spooled" if each.sandboxed else result
    row = f"{job:<12} {each.route.name:<20} {result:<10} {len(each.changes):>7}  {universe:<9} {resource}"
    return f"{printable(row.rstrip())}\n"


def _json(job: str, routed: RoutedAd) -> str:
    """Return an object on a line; `crondor config schema route apply` has the keys."""
    return json.dumps(_data(job, routed))


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


_HEAD = f"{'JOB':<12} {'ROUTE':<20} {'RESULT':<10} {'CHANGES':>7}  {'UNIVERSE':<9} GRIDRESOURCE\n"

LONG = View(_long)
DIFF = View(_diff)
FORMS = {
    "long": LONG,
    "json": View(_json, Frame("[\n", ",\n", "\n]\n", "[]\n")),
    "table": View(_row, Frame(before=_HEAD, empty=_HEAD)),
}
