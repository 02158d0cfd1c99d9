"""`crondor route show`: show the routing table of a configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import click

from crondor.classad.scope import Context
from crondor.config import Configuration
from crondor.diagnostics import Severity, Span, printable
from crondor.router import JobVerdict, Route, RouteState, RoutingTable, why
from crondor.router.applying import PassedTransform, Passing, passing
from crondor.router.table.route import printed_route, printed_transform
from crondor.transform.expressions import universe_name
from crondor_cli.kit.ads import AdFindings
from crondor_cli.kit.configs import (
    ConfigCommand,
    config_option,
    legacy_option,
    load_config,
    one_for_each_place,
    show_faults,
    table_of,
)
from crondor_cli.kit.options import Clock, ConfigFiles, Surroundings, clock_options, format_option
from crondor_cli.kit.screen import say, show, usage
from crondor_cli.kit.tables import diagnostic_data, echo_json, plural
from crondor_cli.route.asking import CandidateJob, JobFiles
from crondor_cli.route.explain import explained, lines

if TYPE_CHECKING:
    from crondor.lint.report import PositionData
    from crondor_cli.route import results

_WIDEST = 28  # columns for names


class Effective(NamedTuple):
    """One job's route, and the transforms applied; ``others`` is the number of other jobs in the file."""

    job: CandidateJob
    verdict: JobVerdict
    passed: Passing | None
    others: int

    @property
    def data(self) -> results.Effective:
        """The JSON form."""
        passed = self.passed
        return {
            **explained(self.job, self.verdict),
            "transforms": [] if passed is None else [_passed(each) for each in passed.transforms],
            "is_routed": passed is not None and not passed.routed.failed,
        }


def _effective(files: JobFiles, wanted: str | None, table: RoutingTable, configuration: Configuration) -> Effective:
    """Examine one job of a file: the first, or the job with a number. Raises UsageError if it is missing."""
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


def _print_effective(found: Effective, data: results.Effective) -> None:
    """Print the job's route, and each transform with its variables."""
    for line in lines(data, found.job, found.verdict):
        say(line)
    for passed in data["transforms"]:
        say()
        for line in _effective_lines(passed):
            say(printable(line))
    for each in found.passed.routed.diagnostics if found.passed is not None else ():
        say(printable(f"{each.severity.value}: {each.message}"), err=True)
    if found.others:
        one = "job is" if found.others == 1 else "jobs are"
        say(f"{found.others} more {one} in the file; select another with --job C.P", err=True)


def _effective_lines(passed: results.Passed) -> Iterator[str]:
    where = f"  ({_location(passed['place'])})" if passed["place"] is not None else ""
    yield f"{passed['position']:<10} {passed['name']}{where}"
    if not passed["is_applied"] and passed["requirements"] is not None:
        yield f"  skipped: at this point the job does not meet {passed['requirements']}"
    width = min(_WIDEST, max((len(each["name"]) for each in passed["variables"]), default=0))
    for each in passed["variables"]:
        yield f"  {each['name']:<{width}} {_value(each)}"


def _value(variable: results.Variable) -> str:
    default, setter = variable["default"], variable["set_by"]
    if setter is None:
        return "is not set" if default is None else f"is not set: {default} is used"
    at = f", {_location(setter['place'])}" if setter["place"] is not None else ""
    who = "HTCondor" if setter["source"] == "default" else f"{setter['source']} {setter['name']}"
    return f"= {variable['value'] or ''}  ({who}{at})"


def _location(place: PositionData) -> str:
    return f"{place['file']}:{place['line']}"


def _passed(passed: PassedTransform) -> results.Passed:
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


def _place(span: Span) -> PositionData:
    return {"file": span.source.name, "line": span.line, "column": span.column}


def _result(table: RoutingTable) -> results.ShowResult:
    return {
        "is_enabled": table.is_enabled,
        "routes": [_route(route) for route in table.routes or table.idle],
        "before": [{"name": each.name, "text": "\n".join(printed_transform(each))} for each in table.before],
        "after": [{"name": each.name, "text": "\n".join(printed_transform(each))} for each in table.after],
        "rejected": [
            {"name": each.name, "diagnostics": [diagnostic_data(found) for found in each.diagnostics]}
            for each in table.rejected
        ],
        "diagnostics": [diagnostic_data(found) for found in table.diagnostics],
    }


def _route(route: Route) -> results.ShowRoute:
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


def _print_table(data: results.ShowResult) -> None:
    """Print transforms, routes, and rejected routes."""
    for kind, transforms in (("Pre", data["before"]), ("Post", data["after"])):
        for each in transforms:
            say(f"{kind}-Route Transform : {printable(each['name'])}")
            _print_indented(each["text"])
    for number, route in enumerate(data["routes"], start=1):
        say(f"Route {number}")
        _print_facts(
            ("Name", f'"{route["name"]}"'),
            ("Source", route["name"]),
            ("Universe", route["universe"]),
            ("MaxJobs", route["max_jobs"]),
            ("MaxIdleJobs", route["max_idle_jobs"]),
            ("GridResource", route["grid_resource"] or ""),
            ("Requirements", route["requirements"] or ""),
        )
        _print_indented(route["text"])
    for number, rejected in enumerate(data["rejected"]):
        if not number:
            say("Rejected routes:")
        reasons = [
            each["message"]
            if each["file"] is None
            else f"{each['message']} ({each['file']}:{each['line']}:{each['column']})"
            for each in rejected["diagnostics"]
        ]
        _print_facts(("Name", rejected["name"]), *(("Reason", reason) for reason in reasons))


def _print_facts(*facts: tuple[str, object]) -> None:
    for name, value in facts:
        say(f"{name:<12} : {printable(str(value))}".rstrip())


def _print_indented(text: str) -> None:
    for line in text.split("\n") if text else ():
        say(f"\t{printable(line.replace(chr(9), '    '))}")
    say("")


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
follow, with the reason and the place. If the value of another router knob cannot be read, nothing is routed: the
routes are still shown, and the reason is on stderr.

--effective shows the transforms that one job passes: before the route, the route, after it. Each is shown with its
variables, their values, and the lines that set them. FILE is a submit file or ads.

Exit status: 0 every listed route is valid; 1 a route is rejected, routing is switched off, or a file is no text,
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
    """Show the routes of a configuration in the order in which they are tried, and the transforms of routes."""
    context = Context(now=clock.now, zone=clock.zone)
    if job is not None and effective is None:
        raise usage("--job needs --effective FILE")
    configuration = load_config(config, allow_dirs, context)
    table = table_of(configuration, config, allow_dirs, context, legacy=legacy)
    if effective is not None:
        files = JobFiles(clock, (effective,), Surroundings(allow_dirs=allow_dirs))
        found = _effective(files, job, table, configuration)
        passed = found.data
        if format_ == "json":
            echo_json({**_result(table), "effective": passed})
        else:
            _print_effective(found, passed)
            show_faults(table)
        raise click.exceptions.Exit(int(not passed["is_routed"]))
    if format_ == "json":
        echo_json(_result(table))
    else:
        _print_table(_result(table))
        show(each for each in table.diagnostics if each.severity is Severity.ERROR)
        if not table.is_enabled:
            say("JobRouter is disabled.", err=True)
        counts = Counter(each.severity for each in one_for_each_place(table.diagnostics))
        others = [plural(counts[kind], kind.value) for kind in (Severity.WARNING, Severity.NOTE) if counts[kind]]
        if others:
            say(f"{' and '.join(others)}: see crondor route {'convert' if legacy else 'check'}", err=True)
    raise click.exceptions.Exit(int(bool(table.rejected) or not table.is_enabled))
