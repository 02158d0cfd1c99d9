"""`crondor route show --effective`: the transforms that one job passes, and the variables that they read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import click

from crondor.config import Configuration
from crondor.diagnostics import printable
from crondor.router import JobVerdict, RouteState, RoutingTable, why
from crondor.router.apply.passing import PassedTransform, PassedVariable, Passing, Setter, passing
from crondor.source import Span
from crondor_cli.common.ad_findings import AdFindings
from crondor_cli.common.output import say
from crondor_cli.route.explain import explained, lines
from crondor_cli.route.jobs import CandidateJob, JobFiles

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
        raise click.UsageError(f"'{printable(files.paths[0])}' has {what}", click.get_current_context(silent=True))
    verdict = why(table, found.ad, RouteState(), files.context)
    passed = None if verdict.chosen is None else passing(table, configuration, verdict.chosen, found.ad)
    return Effective(found, verdict, passed, others)


def print_effective(found: Effective) -> None:
    """Print where the job goes, and each transform with its variables."""
    for line in lines(found.job, found.verdict):
        say(line)
    for passed in found.passed.transforms if found.passed is not None else ():
        say()
        for line in _lines(passed):
            say(line)
    for each in found.passed.routed.diagnostics if found.passed is not None else ():
        say(printable(f"{each.severity.value}: {each.message}"), err=True)
    if found.others:
        one = "job is" if found.others == 1 else "jobs are"
        say(f"{found.others} more {one} in the file; --job C.P looks at another", err=True)


def _lines(passed: PassedTransform) -> Iterator[str]:
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


def effective_data(found: Effective) -> dict[str, object]:
    """Return an object; `crondor config schema route show` has the keys."""
    return {
        **explained(found.job, found.verdict),
        "transforms": [_data(each) for each in (found.passed.transforms if found.passed is not None else ())],
        "is_routed": found.is_routed,
    }


def _data(passed: PassedTransform) -> dict[str, object]:
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


def _place(span: Span) -> dict[str, object]:
    return {"file": span.source.name, "line": span.line, "column": span.column}
