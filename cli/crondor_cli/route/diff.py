"""`crondor route diff`: compare how two configurations route jobs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import click

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Context
from crondor.config.deployed import EXCLUDED
from crondor.diagnostics import CrondorError, Diagnostic, Severity, printable, shortened
from crondor.router import RoutingTable
from crondor.router.compare import MadeJob, TablesComparison, Witness, made_jobs
from crondor.router.compare.comparing import Comparing
from crondor.router.compare.outcomes import JobOutcome, JobOutcomes
from crondor.transform.loading import as_warnings
from crondor_cli.kit import options as opts
from crondor_cli.kit.ads import AdFindings, NearAd
from crondor_cli.kit.command import Command
from crondor_cli.kit.configs import legacy_option, load_route_table
from crondor_cli.kit.files import FoundPath, file_problem, find
from crondor_cli.kit.options import ConfigFiles, UsageProblem
from crondor_cli.kit.parallel import sharing_options
from crondor_cli.kit.screen import echo_lines, show, usage
from crondor_cli.kit.tables import plural
from crondor_cli.route.asking import CandidateJob, JobFiles, reading_jobs_options

if TYPE_CHECKING:
    from crondor_cli.route import results

_is_left_out = re.compile(EXCLUDED).search
_ROOTS = ("etc/condor/condor_config", "etc/condor-ce/condor_config")


class Side(NamedTuple):
    """One configuration: its name, its files in order, and its table."""

    name: str
    files: tuple[str, ...]
    table: RoutingTable

    @property
    def faults(self) -> list[Diagnostic]:
        """Errors that switch routing off, and warnings about knobs that refer to themselves."""
        found = [each for each in self.table.diagnostics if each.severity is Severity.ERROR]
        return [*found, *as_warnings(self.table.circles)]


class LoadingOptions(NamedTuple):
    """Options for both: files read first, HTCondor-CE's rules, folders to include from, old routes."""

    base: tuple[str, ...]
    is_entrypoint: bool
    allow_dirs: tuple[str, ...]
    legacy: bool


def load_side(name: str, given: LoadingOptions, context: Context) -> Side:
    """Load a configuration. Raises the errors of load_config()."""
    if any(os.path.isfile(os.path.join(name, root)) for root in _ROOTS):  # a tree that configures HTCondor or its CE
        config = ConfigFiles(given.base, name, given.is_entrypoint)
        if given.base:
            raise usage(f"'{printable(name)}' is a tree with its own configuration: omit --config")
        shown: tuple[str, ...] = (name,)
    else:
        shown = (*given.base, *files_of_side(name))
        config = ConfigFiles(shown, None, given.is_entrypoint)
    return Side(name, shown, load_route_table(config, given.allow_dirs, context, legacy=given.legacy))


def files_of_side(name: str) -> tuple[str, ...]:
    """Return a file, or the files of a folder as HTCondor reads a LOCAL_CONFIG_DIR: sorted, without backups.

    Raises UsageError for an empty or unreadable folder, and for a link that leads out of it.
    """
    if name == "-" or not os.path.isdir(name):
        return (name,)
    try:
        found = tuple(_below(name, sorted(os.listdir(name))))
    except OSError as error:
        raise file_problem("read", name, error) from None
    if not found:
        raise usage(f"'{printable(name)}' has no files")
    return found


def _below(folder: str, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        path = FoundPath.below(folder, os.path.join(folder, name))
        if _is_left_out(name) or not os.path.isfile(path):
            continue
        if path.leads_out():
            message = f"'{printable(path)}' is a link that leads out of {printable(folder)}: give the files one by one"
            raise usage(message)
        yield path


_KINDS = {"made": "generated job{}", "queue": "job{} of the queue", "submitted": "job{} of the submit files"}
_MOST_CHOSEN = 6


class Report(NamedTuple):
    """The names of both configurations, and their differences."""

    old: str
    new: str
    data: results.DiffResult

    @property
    def compared(self) -> str:
        """The number of jobs compared."""
        source, count = self.data["jobs"]["source"], self.data["jobs"]["candidates"]
        said = f"{count:,} {_KINDS[source].format('' if count == 1 else 's')}"
        others = self.data["jobs"]["read"] - count
        return f"{said} ({others:,} more are not candidates)" if others and source != "made" else said


def _result(old: Side, new: Side, found: TablesComparison, kind: str, made: list[MadeJob]) -> results.DiffResult:
    chosen, routes = {job.id: job.chosen for job in made}, found.routes

    def example(witness: Witness) -> results.Example:
        return {"job": witness.job, "attributes": chosen.get(witness.job)}

    return {
        "before": list(old.files),
        "after": list(new.files),
        "differs": not found.is_empty,
        "jobs": {"source": kind, "read": found.jobs, "candidates": found.candidates},
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
                "example": example(each.witness),
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
                "example": example(each.witness),
            }
            for each in found.copies
        ],
        "unreached": [
            {
                "route": each.route,
                "is_added": each.is_added,
                "jobs_before": each.jobs_before,
                "taken_by": each.taken_by,
                "example": each.witness and example(each.witness),
            }
            for each in found.unreached
        ],
        "overlaps": [
            {
                "first": each.first,
                "second": each.second,
                "is_new": each.is_new,
                "jobs": each.jobs,
                "example": example(each.witness),
            }
            for each in found.overlaps
        ],
        "settings": [
            {"route": each.route, "name": each.name, "before": each.old, "after": each.new} for each in found.settings
        ],
        "unproven": list(found.unproven),
        "is_cut": found.is_cut,
    }


def _example(example: results.Example | None) -> str:
    """Return a job in words: its id, or the attributes of a generated job."""
    if example is None:
        return ""
    if (attributes := example["attributes"]) is None:
        return f"job {example['job']}"
    shown = [f"no {name}" if text is None else f"{name} = {text}" for name, text in attributes.items()]
    more = f" and {plural(len(shown) - _MOST_CHOSEN, 'attribute')} more" if len(shown) > _MOST_CHOSEN else ""
    return f"a job with {', '.join(shown[:_MOST_CHOSEN])}{more}" if shown else "the plainest job"


def _text(text: str | None) -> str:
    """Return an attribute's text, or that it is missing."""
    return "nothing" if text is None else text


def _way(each: results.Copied) -> str:
    before, after = each["route_before"], each["route_after"]
    return after if before == after else f"{before} -> {after}"


_LONGEST_CELL = 200
_MOST_ROWS = 30


def markdown_lines(report: Report) -> Iterator[str]:
    """Yield a heading, a table for each kind of difference, and the number of jobs compared."""
    data = report.data
    yield f"### Routes: {'routing changes' if data['differs'] else 'no difference'}"
    yield ""
    yield f"{_code(report.old)} and {_code(report.new)}, compared over {report.compared}."
    for head, columns, rows in _tables(data):
        if rows:
            yield from ("", f"**{head}**", "", f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}")
            yield from (f"| {' | '.join(row)} |" for row in rows[:_MOST_ROWS])
            if len(rows) > _MOST_ROWS:
                yield from ("", f"and {plural(len(rows) - _MOST_ROWS, 'row')} more.")
    if data["unproven"]:
        yield ""
        yield f"No job shows a difference in {', '.join(map(_code, data['unproven']))}, whose rules differ in text."


def _tables(data: results.DiffResult) -> Iterator[tuple[str, Sequence[str], list[list[str]]]]:
    routes = data["routes"]
    rows = [[_code(name), "added"] for name in routes["added"]]
    rows += [[_code(name), "dropped"] for name in routes["dropped"]]
    rows += [[_code(each["before"]), f"renamed: {_code(each['after'])} now"] for each in routes["renamed"]]
    rows += [[_code(each["route"]), f"left out: {_cell(each['reason'])}"] for each in routes["rejected"]]
    if (order := routes["order"]) is not None:
        rows += [["order", f"{_code(', '.join(order['before']))}, now {_code(', '.join(order['after']))}"]]
    yield "Routes", ("route", "what"), rows
    rows = []
    for moved in data["moved"]:
        before, after = (_code(name or "no route") for name in (moved["before"], moved["after"]))
        example, why = _cell(_example(moved["example"])), _cell(moved["reason"] or "")
        rows += [[before, after, f"{moved['jobs']:,}", example, why]]
    yield "Jobs that change their route", ("before", "after", "jobs", "example", "why"), rows
    rows = []
    for lost in data["unreached"]:
        taken_by = _code(lost["taken_by"]) if lost["taken_by"] else "no job meets its REQUIREMENTS"
        rows += [[_code(lost["route"]), taken_by, f"{lost['jobs_before']:,}", _cell(_example(lost["example"]))]]
    yield "Routes that no job reaches", ("route", "taken by", "jobs before", "example"), rows
    rows = []
    for copied in data["copies"]:
        name = _code(copied["attribute"]) if copied["attribute"] else "the copy cannot be made"
        for pair in islice(copied["texts"], 1):
            now = _code(_text(pair["after"])) + (" ..." if copied["is_cut"] else "")
            rows += [[_code(_way(copied)), name, f"{copied['jobs']:,}", _code(_text(pair["before"])), now]]
    yield "Attributes of the copy that change", ("route", "attribute", "jobs", "before", "after"), rows
    rows = []
    for both in data["overlaps"]:
        when, example = "new" if both["is_new"] else "no longer", _cell(_example(both["example"]))
        rows += [[_code(both["first"]), _code(both["second"]), when, f"{both['jobs']:,}", example]]
    yield "Jobs that two routes would take", ("taken by", "also", "", "jobs", "example"), rows
    rows = []
    for each in data["settings"]:
        owner = "the router" if each["route"] is None else _code(each["route"])
        rows += [[owner, _code(each["name"]), _code(_text(each["before"])), _code(_text(each["after"]))]]
    yield "Limits and settings", ("of", "what", "before", "after"), rows


def _cell(text: str) -> str:
    """Return text with markup escaped."""
    return re.sub(r"([\\`*_{}\[\]<>#|~@])", r"\\\1", shortened(printable(text), _LONGEST_CELL))


def _code(text: str) -> str:
    """Return text as code, for a cell of a table."""
    shown = shortened(printable(text), _LONGEST_CELL)
    longest = max((len(each) for each in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    space = " " if shown[:1] == "`" or shown[-1:] == "`" or not shown else ""
    return f"{fence}{space}{shown}{space}{fence}".replace("|", "\\|")


_LONGEST = 160
_MOST = 50  # entries of one kind; JSON has all of them


def text_lines(report: Report) -> Iterator[str]:
    """Yield the differences by kind, each with an example job; then the number of jobs compared."""
    data = report.data
    for head, rows in _blocks(data):
        if rows:
            yield head
            yield from (f"  {shortened(printable(line), _LONGEST)}" for row in rows[:_MOST] for line in row)
            if len(rows) > _MOST:
                yield f"  and {len(rows) - _MOST:,} more; --format json lists all"
            yield ""
    if data["is_cut"]:
        yield "Further differences are not listed."
    if data["unproven"]:
        line = f"no job shows a difference: {', '.join(data['unproven'])}, whose rules differ in text"
        yield shortened(printable(line), _LONGEST)
    verdict = "they differ" if data["differs"] else "no difference"
    yield printable(f"{report.old} and {report.new}: {verdict}; compared over {report.compared}")


def _blocks(data: results.DiffResult) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the lines of each difference, by kind."""
    routes = data["routes"]
    rows = [[f"added    {name}"] for name in routes["added"]]
    rows += [[f"dropped  {name}"] for name in routes["dropped"]]
    rows += [[f"renamed  {each['before']} -> {each['after']}"] for each in routes["renamed"]]
    rows += [[f"left out {each['route']}: {each['reason']}"] for each in routes["rejected"]]
    if (order := routes["order"]) is not None:
        rows += [[f"order    {', '.join(order['before'])} -> {', '.join(order['after'])}"]]
    yield "Routes", rows
    rows = []
    for moved in data["moved"]:
        head = f"{moved['before'] or 'no route'} -> {moved['after'] or 'no route'}: {plural(moved['jobs'], 'job')}"
        why = [f"    {moved['reason']}"] if moved["reason"] else []
        rows += [[head, f"    as {_example(moved['example'])}", *why]]
    yield "Jobs that change their route", rows
    yield "Routes that no job reaches", [_unreached(each) for each in data["unreached"]]
    yield "Attributes of the copy that change", list(_copies(data))
    rows = []
    for both in data["overlaps"]:
        said = "would take" if both["is_new"] else "would have taken, and no longer would,"
        head = f"{both['second']} {said} {plural(both['jobs'], 'job')} of {both['first']}"
        rows += [[head, f"    as {_example(both['example'])}"]]
    yield "Jobs that two routes would take", rows
    rows = []
    for each in data["settings"]:
        name = each["name"] if each["route"] is None else f"{each['route']}: {each['name']}"
        rows += [[f"{name} {_text(each['before'])} -> {_text(each['after'])}"]]
    yield "Limits and settings", rows


def _unreached(each: results.Unreached) -> list[str]:
    before = "it is new" if each["is_added"] else f"it had {plural(each['jobs_before'], 'job')}"
    if each["example"] is None or each["taken_by"] is None:
        return [f"{each['route']}: no job meets its REQUIREMENTS ({before})"]
    return [f"{each['route']}: {each['taken_by']} takes its jobs ({before})", f"    as {_example(each['example'])}"]


def _copies(data: results.DiffResult) -> Iterator[list[str]]:
    """Yield the changes in copies on one route, renamed or not; for a job that changes its route only the names."""
    renamed = [(each["before"], each["after"]) for each in data["routes"]["renamed"]]
    moved: dict[str, list[str]] = {}
    for each in data["copies"]:
        name, route = each["attribute"] or "the copy cannot be made", (each["route_before"], each["route_after"])
        if route[0] != route[1] and route not in renamed:
            moved.setdefault(_way(each), []).append(name)
            continue
        lines = [f"{_way(each)}, {name}: {plural(each['jobs'], 'job')}"]
        for pair in each["texts"]:
            job = "" if data["jobs"]["source"] == "made" else f"   (job {pair['job']})"
            lines.append(f"    {_text(pair['before'])} -> {_text(pair['after'])}{job}")
        yield [*lines, *(["    ..."] if each["is_cut"] else [])]
    yield from ([f"{way}: {', '.join(names)}"] for way, names in moved.items())


EXAMPLE = """\
echo 'JOB_ROUTER_ROUTE_NAMES = A' > old.conf
echo 'JOB_ROUTER_ROUTE_A = REQUIREMENTS RequestMemory < 8000' >> old.conf
echo 'JOB_ROUTER_ROUTE_NAMES = A' > new.conf
echo 'JOB_ROUTER_ROUTE_A = REQUIREMENTS RequestMemory <= 8000' >> new.conf
crondor route diff old.conf new.conf"""

EPILOG = """\b
Examples:
  crondor route diff 50-routes.conf new-routes.conf
  condor_q -long | crondor route diff old.conf new.conf --ads -
  crondor route diff old.conf new.conf --config 01-common.conf --spec job.sub
  crondor route diff /etc/condor-ce/config.d staging/config.d \\
      --format markdown > comment.md
  crondor route diff --ce / image/

OLD and NEW are files, folders of files as HTCondor reads a LOCAL_CONFIG_DIR, or trees with an etc/condor or, with --ce,
an etc/condor-ce; --config names files that are read before both. Without --ads and --spec jobs are generated from the
requirements of the routes: both sides of each comparison, each branch. No route counts as full or throttled.

Exit status, as of diff(1): 0 no difference, 1 they differ, 2 errors (wrong usage, a file or job that cannot be
read, no routes on either side)."""

_FORMS: dict[str, Callable[[Report], Iterator[str]]] = {
    "text": text_lines,
    "markdown": markdown_lines,
    "json": lambda report: iter((json.dumps(report.data, indent=2),)),
}


@click.command("diff", cls=Command, example=EXAMPLE, epilog=EPILOG)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--config", metavar="FILE", multiple=True, help="A file that is read before OLD and before NEW.")
@click.option("--ce", is_flag=True, help="Read the configuration as HTCondor-CE does, from /etc/condor-ce.")
@opts.ads_option
@click.option("--spec", "specs", multiple=True, metavar="FILE", help="A submit file: its jobs.")
@click.option(
    "--made", is_flag=True, help="Generate jobs from the routes' requirements (default without --ads and --spec)."
)
@click.option("--owner", metavar="USER", help="Route only this user's jobs, like a router that is not root.")
@legacy_option
@opts.file_options
@reading_jobs_options
@opts.clock_options
@sharing_options
@opts.format_option(*_FORMS, text="How to print the comparison; markdown: for a review comment.")
@opts.gathered("files", JobFiles)
def command(
    old: str,
    new: str,
    config: tuple[str, ...],
    ce: bool,
    ads: tuple[str, ...],
    specs: tuple[str, ...],
    made: bool,
    owner: str | None,
    legacy: bool,
    files: JobFiles,
    jobs: int | None,
    format_: str,
) -> None:
    """Compare two configurations: jobs that change their route, changes in copies, routes that no job reaches.

    Limits, new routes and removed routes are compared as well. Each difference has an example job.
    """
    if made and (ads or specs):
        raise click.UsageError("--made generates the jobs: omit --ads and --spec")
    paths = (*find(specs), *ads)
    files = files._replace(paths=paths)
    files.check((old, new, *config))
    given = LoadingOptions(config, ce, files.surroundings.allow_dirs, legacy)
    try:
        sides = load_side(old, given, files.context), load_side(new, given, files.context)
    except CrondorError as error:
        raise UsageProblem(error) from None
    for side in sides:
        show(side.faults)
    if not any(side.table.is_enabled for side in sides):  # nothing can be compared
        raise click.exceptions.Exit(2)
    findings = AdFindings()
    own = [] if paths else made_jobs([side.table for side in sides], files.context)
    outcomes = JobOutcomes(sides[0].table, sides[1].table, files.context, owner)
    if paths:
        found = _compared(files, outcomes, findings, jobs)
    else:
        comparing: Comparing[ClassAd] = Comparing(outcomes, lambda ad: ad)
        for each in own:
            comparing.take(each.id, outcomes.of(each.ad), each.ad)
        found = comparing.end()
    findings.end()
    kind = "queue" if ads else "submitted" if specs else "made"
    report = Report(old, new, _result(*sides, found, kind, own))
    echo_lines(_FORMS[format_](report), fits=format_ == "text")
    status = 2 if findings.failed else int(not found.is_empty)
    if status:
        raise click.exceptions.Exit(status)


def _compared(files: JobFiles, outcomes: JobOutcomes, findings: AdFindings, jobs: int | None) -> TablesComparison:
    """Compare the outcomes for the jobs of files, computed in a number of processes."""

    def come_to(found: Iterator[CandidateJob]) -> Iterator[tuple[str, JobOutcome | None, NearAd]]:
        for job, ad in found:
            yield job, outcomes.of(ad), NearAd.of(ad)

    shared = files.shared(come_to)
    comparing: Comparing[NearAd] = Comparing(outcomes, lambda near: files.near(shared, near))
    with closing(shared.made(files.parts(shared, findings), lambda found: findings.add([found]), jobs)) as taken:
        for job, outcome, near in taken:
            comparing.take(job, outcome, near)
    return comparing.end()
