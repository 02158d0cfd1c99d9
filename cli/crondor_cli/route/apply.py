"""`crondor route apply`: the routed ads."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import click

from crondor.classad.ad import ClassAd
from crondor.classad.formats import Format, Order
from crondor.classad.formats.reading import Frame
from crondor.classad.scope import Context
from crondor.diagnostics import Diagnostic, printable
from crondor.job.attributes import string
from crondor.router import Matcher, Route, RoutedAd, apply_route
from crondor.router.match.matcher import Judged, Search, judge
from crondor.transform import TraceStep
from crondor.transform.expressions import universe_name
from crondor.transform.loading import new_warnings
from crondor_cli.kit.ads import NearAd
from crondor_cli.kit.command import Command
from crondor_cli.kit.configs import complete_route
from crondor_cli.kit.parallel import jobs_option
from crondor_cli.kit.screen import SCREEN, emit, say, styled, together
from crondor_cli.kit.tables import diagnostic_data
from crondor_cli.route.asking import Asking, CandidateJob, asking_options

if TYPE_CHECKING:
    from crondor_cli.route import results

_NOW = Context()


class View(NamedTuple):
    """A way to print routed ads: the text of each job, None if there is none, and the text around them."""

    text: Callable[[str, RoutedAd], str | None]
    frame: Frame = Frame()


def _long(job: str, routed: RoutedAd) -> str | None:
    """Return the routed ad as HTCondor's tools print it, followed by an empty line; an edited job gets a title."""
    ad = routed.ad or routed.edited
    if ad is None:
        return None
    title = "" if routed.edited is None else printable(f"# {job} {_way(routed)} {routed.route.name}") + "\n"
    return f"{title}{ad.print(Format.LONG, Order.NAME)}\n"


def _diff(job: str, routed: RoutedAd) -> str:
    """Return the differences between a job and its copy, with the old text of an attribute before the new one."""
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


def _data(job: str, routed: RoutedAd) -> results.RouteApply:
    return {
        "job": job,
        "route": routed.route.name,
        "applied": list(routed.applied),
        "ad": None if routed.ad is None else json.loads(routed.ad.print(Format.JSON, Order.NAME)),
        "in_place": routed.in_place is not None,
        "changes": [{"name": each.name, "before": each.before, "after": each.after} for each in routed.changes],
        "sandboxed": routed.sandboxed,
        "input_files": list(routed.input_files),
        "proxy": None if (proxy := routed.proxy) is None else {"file": proxy.file, "copy": proxy.copy},
        "id_tokens": list(routed.id_tokens),
        "diagnostics": [diagnostic_data(found) for found in routed.diagnostics],
    }


_HEAD = f"{'JOB':<12} {'ROUTE':<20} {'RESULT':<10} {'CHANGES':>7}  {'UNIVERSE':<9} GRIDRESOURCE\n"

LONG = View(_long)
DIFF = View(_diff)
FORMS = {
    "long": LONG,
    "json": View(lambda job, routed: json.dumps(_data(job, routed)), Frame("[\n", ",\n", "\n]\n", "[]\n")),
    "table": View(_row, Frame(before=_HEAD, empty=_HEAD)),
}

EXAMPLE = """\
echo 'JOB_ROUTER_ROUTE_NAMES = A' > r.conf
echo 'JOB_ROUTER_ROUTE_A = REQUIREMENTS true' >> r.conf
printf 'shell = date\\ncron_hour = 3\\nqueue\\n' > job.sub
crondor route apply --config r.conf job.sub"""

EPILOG = """\b
Examples:
  crondor route apply --config 50-routes.conf jobs.ads > routed.ads
  crondor route apply --config 50-routes.conf job.sub --diff
  crondor route apply --config 50-routes.conf --route Site1 jobs.ads --trace
  crondor route apply --config 50-routes.conf job_queue.log --format table

Each matched job is routed as condor_job_router_info -route-jobs of HTCondor 25.14 does it; nothing is submitted,
spooled or changed. If a route edits a job in place, the edited job is printed below a comment; --diff and json show
the changes. FILES are read as crondor route explain reads them.

Exit status: 0 fine; 1 a job could not be routed or read, or routing is switched off; 2 wrong usage."""


@click.command("apply", cls=Command, example=EXAMPLE, epilog=EPILOG)
@asking_options("long", "json", "table")
@click.option(
    "--route",
    "route_name",
    metavar="NAME",
    shell_complete=complete_route,
    help="Use this route for all jobs, whether they match or not.",
)
@click.option("--diff", is_flag=True, help="Print the changes of each job instead of the routed ad.")
@click.option("--trace", is_flag=True, help="Print the effect of each line of the rules on stderr.")
@click.option("--faithful", is_flag=True, help="Word failures as HTCondor 25.14 does.")
@jobs_option
def command(
    asking: Asking, format_: str, route_name: str | None, diff: bool, trace: bool, faithful: bool, jobs: int | None
) -> None:
    """Route jobs, and print the routed copies."""
    table = asking.table
    if route_name is not None and table.route(route_name) is None:
        names = ", ".join(route.name for route in table.routes) or "none"
        raise click.UsageError(f"--route: there is no route '{printable(route_name)}' (routes: {printable(names)})")
    view = DIFF if diff else FORMS[format_]
    routing = _Routing(asking, view, is_traced=trace, faithful=faithful)
    routed = routing.on_their_routes(jobs) if route_name is None else routing.all_on(route_name, jobs)
    with closing(routed):
        for text in view.frame.around(_said(asking, routed)):
            emit(text) if view is LONG else say(text, nl=False, fits=view is FORMS["table"])
    asking.end()


class _Copy(NamedTuple):
    """The result for a job on a route: its text and the findings."""

    job: str
    route: str
    text: str | None
    applied: tuple[str, ...]
    trace: tuple[TraceStep, ...]
    diagnostics: tuple[Diagnostic, ...]
    failed: bool


class _Tried(NamedTuple):
    """A job's copy on the first matching route; with its ad, if another route may take it since that one is full."""

    at: int
    copy: _Copy
    ad: NearAd | None


class _Routing:
    """Routes jobs according to the command line."""

    def __init__(self, asking: Asking, view: View, *, is_traced: bool, faithful: bool) -> None:
        self._asking = asking
        self._table = asking.table
        self._view = view
        self._is_traced = is_traced
        self._faithful = faithful
        self._known = {each.message for each in self._table.circles}

    def all_on(self, name: str, jobs: int | None) -> Generator[_Copy, None, None]:
        """Route all jobs with one route."""
        route = self._table.route(name)

        def copies(found: Iterator[CandidateJob]) -> Iterator[_Copy]:
            for job in found:
                if route is not None:
                    yield self._copy(job.id, job.ad, route)

        return self._asking.made(copies, jobs)

    def on_their_routes(self, jobs: int | None) -> Generator[_Copy, None, None]:
        """Route each matched job with the route that takes it.

        While no route is full, that is the first match, which is tried as soon as the job is read.
        """
        asking, routes = self._asking, self._table.routes
        matcher = Matcher(self._table, asking.owner)

        def tried(found: Iterator[CandidateJob]) -> Iterator[Judged[_Tried | None]]:
            for job, matched, ad in judge(matcher, found, asking.route_state, asking.context):
                yield job, matched, self._try(job, ad, matched & open_routes) if matched & open_routes else None

        with closing(asking.made(tried, jobs)) as judged:
            search = Search(matcher, judged, asking.route_state)
            open_routes = search.accepting
            for job, route in search:
                tried_on = search.kept
                if tried_on is None:
                    continue
                if routes[tried_on.at] is route or tried_on.ad is None:
                    yield tried_on.copy
                else:
                    yield self._copy(job, asking.near(tried_on.ad), route)

    def _try(self, job: str, ad: ClassAd, matched: int) -> _Tried:
        first = matched & -matched
        at = first.bit_length() - 1
        return _Tried(at, self._copy(job, ad, self._table.routes[at]), None if first == matched else NearAd.of(ad))

    def _copy(self, job: str, ad: ClassAd, route: Route) -> _Copy:
        made = apply_route(self._table, route, ad, trace=self._is_traced, faithful=self._faithful)
        after = made.ad or made.edited
        if after is not None and (circles := new_warnings(ad, after, self._known)):
            made = made._replace(diagnostics=(*made.diagnostics, *circles))
        text = self._view.text(job, made)
        return _Copy(job, route.name, text, made.applied, made.trace, made.diagnostics, made.failed)


def _said(asking: Asking, copies: Iterator[_Copy]) -> Iterator[str]:
    """Yield the texts of the routed jobs, and print actions and faults on stderr."""
    count = 0
    for each in copies:
        count += 1
        if each.trace:
            say(f"# job {each.job}, route {printable(each.route)}: {printable(', '.join(each.applied))}", err=True)
            for step in each.trace:
                say(printable(str(step)), err=True)
        asking.findings.add(each.diagnostics, counts=False)
        if each.failed:
            asking.findings.failed = True
            say(f"job {each.job} could not be routed by {printable(each.route)}", err=True)
        if each.text is not None:
            yield each.text
    if asking.count and not count:
        say("no job is routed; crondor route explain says why", err=True)
