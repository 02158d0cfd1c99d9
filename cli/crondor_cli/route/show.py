"""`crondor route show`: the routing table of a configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from crondor.classad.scope import Context
from crondor.config import Configuration
from crondor.diagnostics import Diagnostic, Severity, Span, printable
from crondor.router import JobVerdict, Rejected, Route, RouteState, RoutingTable, why
from crondor.router.applying import PassedTransform, PassedVariable, Passing, Setter, passing
from crondor.router.table.route import printed_route, printed_transform
from crondor.transform import Transform
from crondor.transform.expressions import universe_name
from crondor_cli.kit.ads import AdFindings
from crondor_cli.kit.configs import ConfigCommand, config_option, load_config
from crondor_cli.kit.options import Clock, ConfigFiles, Surroundings, clock_options, format_option
from crondor_cli.kit.route_tables import legacy_option, show_faults, table_of
from crondor_cli.kit.screen import say, show, usage
from crondor_cli.kit.tables import diagnostic_data, echo_json
from crondor_cli.route.asking import CandidateJob, JobFiles
from crondor_cli.route.explain import explained, lines

if TYPE_CHECKING:
    from crondor_cli.kit.results import Position
    from crondor_cli.route import results

_WIDEST = 28  # columns for names


@dataclass(frozen=True)
class Effective:
    """What becomes of one job: which route takes it, and what it passes there; ``others`` are not looked at."""

    job: CandidateJob
    verdict: JobVerdict
    passed: Passing | None
    others: int

    @property
    def is_routed(self) -> bool:
        """Whether a route takes the job, and nothing on the way fails."""
        return self.passed is not None and not self.passed.routed.failed


def effective_of(files: JobFiles, wanted: str | None, table: RoutingTable, configuration: Configuration) -> Effective:
    """Look at one job of a file: the first, or the one of a number. Raises UsageError where it has none such."""
    files.check()
    findings = AdFindings()
    found, others = None, 0
    for job in files.jobs(findings):
        if found is None and wanted in {None, job.id}:
            found = job
        else:
            others += 1
    findings.end()
    if found is None:
        what = "no job" if wanted is None else f"no job {printable(wanted)}"
        raise usage(f"'{printable(files.paths[0])}' has {what}")
    verdict = why(table, found.ad, RouteState(), files.context)
    passed = None if verdict.chosen is None else passing(table, configuration, verdict.chosen, found.ad)
    return Effective(found, verdict, passed, others)


def print_effective(found: Effective) -> None:
    """Print where the job goes, and each transform with its variables."""
    for line in lines(found.job, found.verdict):
        say(line)
    for passed in found.passed.transforms if found.passed is not None else ():
        say()
        for line in _effective_lines(passed):
            say(line)
    for each in found.passed.routed.diagnostics if found.passed is not None else ():
        say(printable(f"{each.severity.value}: {each.message}"), err=True)
    if found.others:
        one = "job is" if found.others == 1 else "jobs are"
        say(f"{found.others} more {one} in the file; --job C.P looks at another", err=True)


def _effective_lines(passed: PassedTransform) -> Iterator[str]:
    where = f"  ({_location(passed.place)})" if passed.place is not None else ""
    yield printable(f"{passed.position:<10} {passed.transform.name}{where}")
    if not passed.is_applied and passed.transform.requirements is not None:
        yield printable(f"  passed over: the job, as it is here, does not meet {passed.transform.requirements.text}")
    width = min(_WIDEST, max((len(each.name) for each in passed.variables), default=0))
    for each in passed.variables:
        yield printable(f"  {each.name:<{width}} {_said(each)}")


def _said(variable: PassedVariable) -> str:
    if variable.setter is None:
        return f"{'is not set' if variable.default is None else f'is not set: {variable.default} stands in its place'}"
    return f"= {variable.value or ''}  ({_who(variable.setter)})"


def _who(setter: Setter) -> str:
    at = f", {_location(setter.place)}" if setter.place is not None else ""
    return f"{'HTCondor' if setter.kind == 'default' else f'{setter.kind} {setter.name}'}{at}"


def _location(place: Span) -> str:
    return f"{place.source.name}:{place.line}"


def effective_data(found: Effective) -> results.Effective:
    """Return an object; `crondor config schema route show` has the keys."""
    return {
        **explained(found.job, found.verdict),
        "transforms": [_data(each) for each in (found.passed.transforms if found.passed is not None else ())],
        "is_routed": found.is_routed,
    }


def _data(passed: PassedTransform) -> results.Passed:
    asked = passed.transform.requirements
    return {
        "position": passed.position,
        "name": passed.transform.name,
        "is_applied": passed.is_applied,
        "requirements": None if asked is None else asked.text,
        "place": passed.place and _place(passed.place),
        "variables": [
            {
                "name": each.name,
                "value": each.value,
                "default": each.default,
                "set_by": each.setter
                and {
                    "source": each.setter.kind,
                    "name": each.setter.name,
                    "place": each.setter.place and _place(each.setter.place),
                },
                "place": _place(each.place),
            }
            for each in passed.variables
        ],
    }


def _place(span: Span) -> Position:
    return {"file": span.source.name, "line": span.line, "column": span.column}


def print_table(table: RoutingTable) -> None:
    """Print transforms, routes, and what was rejected."""
    for line in _lines(table):
        say(line)


def remarks(table: RoutingTable, *, legacy: bool = False) -> Iterator[str]:
    """Yield what has to be said beside the table; of routes that are ClassAds another command says more."""
    if not table.is_enabled:
        yield "JobRouter is disabled."
    found = Counter(each.severity for each in _by_place(table.diagnostics))
    others = [(found[kind], kind.value) for kind in (Severity.WARNING, Severity.NOTE) if found[kind]]
    if others:
        said = " and ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in others)
        yield f"{said}: see crondor route {'convert' if legacy else 'check'}"


def _by_place(found: Iterable[Diagnostic]) -> Iterable[Diagnostic]:
    """Return one finding for each code and place: what the defaults or a route say may be said for many."""
    kept: dict[object, Diagnostic] = {}
    for each in found:
        span = each.span
        at = each.message if span is None else (span.source.name, span.start, span.end)
        kept.setdefault((each.code, at), each)
    return kept.values()


def _lines(table: RoutingTable) -> Iterator[str]:
    for kind, transforms in (("Pre", table.before), ("Post", table.after)):
        for transform in transforms:
            yield f"{kind}-Route Transform : {printable(transform.name)}"
            yield from _indented(printed_transform(transform))
            yield ""
    for number, route in enumerate(table.routes or table.idle, start=1):
        yield f"Route {number}"
        yield from _route(route)
        yield ""
    if table.rejected:
        yield "Rejected routes:"
        for rejected in table.rejected:
            yield from _rejected(rejected)


def _route(route: Route) -> Iterator[str]:
    asked = route.transform.requirements
    rows = (
        ("Name", f'"{route.name}"'),
        ("Source", route.name),
        ("Universe", str(route.universe)),
        ("MaxJobs", str(route.max_jobs)),
        ("MaxIdleJobs", str(route.max_idle_jobs)),
        ("GridResource", route.grid_resource or ""),
        ("Requirements", asked.text if asked is not None else ""),
    )
    for name, value in rows:
        yield f"{name:<12} : {printable(value)}".rstrip()
    yield from _indented(printed_route(route))


def _indented(lines: list[str]) -> Iterator[str]:
    return (f"\t{printable(line.replace(chr(9), '    '))}" for line in lines)


def _rejected(rejected: Rejected) -> Iterator[str]:
    yield f"Name         : {printable(rejected.name)}"
    for found in rejected.diagnostics:
        place = f" ({found.span.location})" if found.span is not None else ""
        yield f"Reason       : {printable(found.message + place)}"


def print_json(table: RoutingTable, effective: results.Effective | None = None) -> None:
    """Print one object, with what one job passes if that was asked; `crondor config schema route show` has the keys."""
    data: results.ShowResult = {
        "is_enabled": table.is_enabled,
        "routes": [_route_data(route) for route in table.routes or table.idle],
        "before": [_transform_data(transform) for transform in table.before],
        "after": [_transform_data(transform) for transform in table.after],
        "rejected": [
            {"name": each.name, "diagnostics": [diagnostic_data(found) for found in each.diagnostics]}
            for each in table.rejected
        ],
        "diagnostics": [diagnostic_data(found) for found in table.diagnostics],
    }
    if effective is not None:
        data["effective"] = effective
    echo_json(data)


def _route_data(route: Route) -> results.ShowRoute:
    asked = route.transform.requirements
    return {
        "name": route.name,
        "universe": route.universe,
        "universe_name": universe_name(route.universe),
        "max_jobs": route.max_jobs,
        "max_idle_jobs": route.max_idle_jobs,
        "failure_rate_threshold": route.failure_rate_threshold,
        "grid_resource": route.grid_resource,
        "requirements": asked.text if asked is not None else None,
        "is_legacy": route.is_legacy,
        "text": "\n".join(printed_route(route)),
        "place": route.place and _place(route.place),
    }


def _transform_data(transform: Transform) -> results.ShowTransform:
    return {"name": transform.name, "text": "\n".join(printed_transform(transform))}


EXAMPLE = """\
echo 'JOB_ROUTER_ROUTE_NAMES = A' > r.conf
echo 'JOB_ROUTER_ROUTE_A = REQUIREMENTS true' >> r.conf
crondor route show --config r.conf"""

EPILOG = """\b
Examples:
  crondor route show --config 50-routes.conf
  crondor route show --config 10-base.conf --config 50-routes.conf \\
      --format json
  crondor route show --ce --config-root ./image --effective job.sub

Routes are shown as condor_job_router_info -config of HTCondor 25.14 shows them. Routes that it silently leaves out
follow, with the reason and the place. If the value of another router knob cannot be read, nothing is routed: the routes
are still shown, and stderr says why.

--effective shows the transforms that one job passes: before the route, the route, after it. Each is shown with the
variables that it reads, their values there, and what set them. FILE is a submit file or ads.

Exit status: 0 every listed route is there; 1 a route is rejected, routing is switched off, or a file is no text,
with --effective no route takes the job; 2 wrong usage, or a file that cannot be read."""


@click.command("show", example=EXAMPLE, cls=ConfigCommand, epilog=EPILOG)
@config_option
@legacy_option
@click.option("--effective", metavar="FILE", help="Show the transforms that a job of this file passes, in order.")
@click.option("--job", metavar="C.P", help="With --effective: the job of this number, not the first.")
@format_option("table", "json", text="How to print the table.")
@clock_options
def command(
    config: ConfigFiles,
    allow_dirs: tuple[str, ...],
    legacy: bool,
    effective: str | None,
    job: str | None,
    format_: str,
    clock: Clock,
) -> None:
    """Show the routes of a configuration in the order in which they are tried, and the transforms around them."""
    context = Context(now=clock.now, zone=clock.zone)
    if job is not None and effective is None:
        raise usage("--job needs --effective FILE")
    configuration = load_config(config, allow_dirs, context)
    table = table_of(configuration, config, allow_dirs, context, legacy=legacy)
    if effective is not None:
        files = JobFiles((effective,), clock, Surroundings(allow_dirs=allow_dirs))
        found = effective_of(files, job, table, configuration)
        if format_ == "json":
            print_json(table, effective_data(found))
        else:
            print_effective(found)
            show_faults(table)
        raise click.exceptions.Exit(int(not found.is_routed))
    if format_ == "json":
        print_json(table)
    else:
        print_table(table)
        show(each for each in table.diagnostics if each.severity is Severity.ERROR)
        for line in remarks(table, legacy=legacy):
            say(line, err=True)
    raise click.exceptions.Exit(int(bool(table.rejected) or not table.is_enabled))
