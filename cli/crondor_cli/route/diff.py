"""`crondor route diff`: what another configuration does otherwise with jobs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import click

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Context
from crondor.config.deployed import EXCLUDED
from crondor.diagnostics import CrondorError, Diagnostic, Severity, printable, shortened
from crondor.router import RoutingTable
from crondor.router.compare import CopyChange, MadeJob, SettingChange, TablesComparison, Unreached, Witness, made_jobs
from crondor.router.compare.comparing import Comparing
from crondor.router.compare.outcomes import JobOutcome, JobOutcomes
from crondor.transform.loading import as_warnings
from crondor_cli.kit.ads import AdFindings, NearAd
from crondor_cli.kit.command import Command
from crondor_cli.kit.files import FoundPath, file_problem, find
from crondor_cli.kit.options import (
    Clock,
    ConfigFiles,
    Surroundings,
    UsageProblem,
    ads_option,
    clock_options,
    file_options,
    format_option,
)
from crondor_cli.kit.parallel import jobs_option
from crondor_cli.kit.route_tables import legacy_option, load_route_table
from crondor_cli.kit.screen import echo_lines, show, usage
from crondor_cli.kit.tables import plural
from crondor_cli.route.asking import CandidateJob, JobFiles, reading_jobs_options

if TYPE_CHECKING:
    from crondor_cli.route import results

_is_left_out = re.compile(EXCLUDED).search
_ROOTS = ("etc/condor/condor_config", "etc/condor-ce/condor_config")


class Side(NamedTuple):
    """One configuration: what it was called, the files that were named, in their order, and its table."""

    name: str
    files: tuple[str, ...]
    table: RoutingTable

    @property
    def faults(self) -> list[Diagnostic]:
        """Why routing is switched off, and warnings of what refers to itself."""
        found = [each for each in self.table.diagnostics if each.severity is Severity.ERROR]
        return [*found, *as_warnings(self.table.circles)]


class LoadingOptions(NamedTuple):
    """What both are read with: files before either, HTCondor-CE's rules, folders to include from, old routes."""

    base: tuple[str, ...]
    is_entrypoint: bool
    allow_dirs: tuple[str, ...]
    legacy: bool


def load_side(name: str, given: LoadingOptions, context: Context) -> Side:
    """Load a configuration. Raises as load_config() does."""
    if _is_tree(name):
        config = ConfigFiles(given.base, name, given.is_entrypoint)
        if given.base:
            message = f"'{printable(name)}' is a tree with a configuration of its own: leave out --config"
            raise usage(message)
        shown: tuple[str, ...] = (name,)
    else:
        shown = (*given.base, *files_of_side(name))
        config = ConfigFiles(shown, None, given.is_entrypoint)
    return Side(name, shown, load_route_table(config, given.allow_dirs, context, legacy=given.legacy))


def files_of_side(name: str) -> tuple[str, ...]:
    """Return a file, or the files of a folder as HTCondor reads a LOCAL_CONFIG_DIR: by name, without backups.

    Raises UsageError for a folder without any, for one that cannot be read, and for a link that leads out of it.
    """
    if name == "-" or not os.path.isdir(name):
        return (name,)
    try:
        found = tuple(_below(name, sorted(os.listdir(name))))
    except OSError as error:
        raise file_problem("read", name, error) from None
    if not found:
        raise usage(f"'{printable(name)}' holds no file")
    return found


def _is_tree(name: str) -> bool:
    """Say whether a folder is the root of a tree in which HTCondor or HTCondor-CE is configured."""
    return any(os.path.isfile(os.path.join(name, root)) for root in _ROOTS)


def _below(folder: str, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        path = FoundPath.below(folder, os.path.join(folder, name))
        if _is_left_out(name) or not os.path.isfile(path):
            continue
        if path.leads_out():
            message = f"'{printable(path)}' is a link that leads out of {printable(folder)}: name the files one by one"
            raise usage(message)
        yield path


_WORDS = {"made": "made job", "queue": "job of the queue", "submitted": "job of the submit files"}
_MANY = {"made": "made jobs", "queue": "jobs of the queue", "submitted": "jobs of the submit files"}
_MOST_CHOSEN = 6


class DiffReport(NamedTuple):
    """Both sides, what was found, where the jobs come from, and what was chosen of those that were made."""

    old: Side
    new: Side
    found: TablesComparison
    kind: str
    chosen: dict[str, dict[str, str | None]]

    @property
    def compared(self) -> str:
        """How many jobs were compared."""
        count = self.found.candidates
        said = f"{count:,} {_WORDS[self.kind] if count == 1 else _MANY[self.kind]}"
        others = self.found.jobs - count
        return f"{said} ({others:,} more are no candidates)" if others and self.kind != "made" else said

    def example(self, witness: Witness) -> str:
        """Return a job in words: its id, or what is chosen of one that was made."""
        chosen = self.chosen.get(witness.job)
        if chosen is None:
            return f"job {witness.job}"
        if not chosen:
            return "the plainest job"
        shown = [f"no {name}" if text is None else f"{name} = {text}" for name, text in chosen.items()]
        more = f" and {plural(len(shown) - _MOST_CHOSEN, 'attribute')} more" if len(shown) > _MOST_CHOSEN else ""
        return f"a job with {', '.join(shown[:_MOST_CHOSEN])}{more}"

    def example_data(self, witness: Witness) -> results.Example:
        """Return a job for programs."""
        return {"job": witness.job, "attributes": self.chosen.get(witness.job)}


def route_words(name: str | None) -> str:
    """Return a route, or that there is none."""
    return "no route" if name is None else name


def text_words(text: str | None) -> str:
    """Return an attribute's text, or that it is not there."""
    return "nothing" if text is None else text


def json_lines(report: DiffReport) -> Iterator[str]:
    """Yield one object."""
    yield json.dumps(_data(report), indent=2)


def _data(report: DiffReport) -> results.DiffResult:
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


_LONGEST_CELL = 200
_MOST_ROWS = 30


def markdown_lines(report: DiffReport) -> Iterator[str]:
    """Yield a heading, a table for each kind of difference, and how much was compared."""
    found = report.found
    verdict = "no difference" if found.is_empty else "routing changes"
    yield f"### Routes: {verdict}"
    yield ""
    yield f"{_code(report.old.name)} and {_code(report.new.name)}, compared over {report.compared}."
    for head, columns, rows in _tables(report):
        if rows:
            yield ""
            yield f"**{head}**"
            yield ""
            yield from _table(columns, rows)
    if found.unproven:
        yield ""
        yield f"No job shows a difference in {', '.join(map(_code, found.unproven))}, whose rules are other texts."


def _tables(report: DiffReport) -> Iterator[tuple[str, Sequence[str], list[list[str]]]]:
    found = report.found
    yield "Routes", ("route", "what"), _listed(found)
    yield (
        "Jobs that change their route",
        ("before", "after", "jobs", "example", "why"),
        [
            [
                *(_code(route_words(name)) for name in (each.old, each.new)),
                f"{each.jobs:,}",
                _cell(report.example(each.witness)),
                _cell(each.why),
            ]
            for each in found.moved
        ],
    )
    yield (
        "Routes that nobody reaches",
        ("route", "taken by", "jobs before", "example"),
        [
            [
                _code(each.route),
                _code(each.taken_by) if each.taken_by else "no job meets its REQUIREMENTS",
                f"{each.jobs_before:,}",
                _cell(report.example(each.witness)) if each.witness else "",
            ]
            for each in found.unreached
        ],
    )
    yield (
        "Attributes of the copy that change",
        ("route", "attribute", "jobs", "before", "after"),
        [
            [
                _code(each.new_route if each.old_route == each.new_route else f"{each.old_route} -> {each.new_route}"),
                _code(each.name) if each.name else "the copy cannot be made",
                f"{each.jobs:,}",
                _code(text_words(pair.old)),
                _code(text_words(pair.new)) + (" ..." if each.is_cut else ""),
            ]
            for each in found.copies
            for pair in each.pairs[:1]
        ],
    )
    yield (
        "Jobs that two routes would take",
        ("taken by", "also", "", "jobs", "example"),
        [
            [
                _code(each.first),
                _code(each.second),
                "new" if each.is_new else "no longer",
                f"{each.jobs:,}",
                _cell(report.example(each.witness)),
            ]
            for each in found.overlaps
        ],
    )
    yield (
        "Limits and settings",
        ("of", "what", "before", "after"),
        [
            [
                "the router" if each.route is None else _code(each.route),
                _code(each.name),
                *(_code(text_words(text)) for text in (each.old, each.new)),
            ]
            for each in found.settings
        ],
    )


def _listed(found: TablesComparison) -> list[list[str]]:
    routes = found.routes
    rows = [[_code(name), "added"] for name in routes.added]
    rows += [[_code(name), "dropped"] for name in routes.dropped]
    rows += [[_code(old), f"renamed: {_code(new)} now"] for old, new in routes.renamed]
    rows += [[_code(name), f"left out: {_cell(reason)}"] for name, reason in routes.rejected]
    if routes.order is not None:
        rows.append(["order", f"{_code(', '.join(routes.order[0]))}, now {_code(', '.join(routes.order[1]))}"])
    return rows


def _table(columns: Sequence[str], rows: list[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"|{'---|' * len(columns)}"
    for row in rows[:_MOST_ROWS]:
        yield f"| {' | '.join(row)} |"
    if len(rows) > _MOST_ROWS:
        yield ""
        yield f"and {plural(len(rows) - _MOST_ROWS, 'row')} more."


def _cell(text: str) -> str:
    """Return text that is no markup."""
    shown = printable(text)
    shown = shortened(shown, _LONGEST_CELL)
    return re.sub(r"([\\`*_{}\[\]<>#|~@])", r"\\\1", shown)


def _code(text: str) -> str:
    """Return text as code, in a cell of a table."""
    shown = printable(text)
    shown = shortened(shown, _LONGEST_CELL)
    longest = max((len(each) for each in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    space = " " if shown[:1] == "`" or shown[-1:] == "`" or not shown else ""
    return f"{fence}{space}{shown}{space}{fence}".replace("|", "\\|")


_LONGEST = 160
_MOST = 50  # of one kind; whoever wants all of them asks for JSON


def text_lines(report: DiffReport) -> Iterator[str]:
    """Yield the text_lines: what differs by kinds, each with a job that shows it; then how much was compared."""
    found = report.found
    parts = (
        ("Routes", list(_listed_text(report))),
        ("Jobs that change their route", list(_moved(report))),
        ("Routes that nobody reaches", [_unreached(report, each) for each in found.unreached]),
        ("Attributes of the copy that change", list(_copies(report))),
        ("Jobs that two routes would take", list(_overlaps(report))),
        ("Limits and settings", [_setting(each) for each in found.settings]),
    )
    for head, rows in parts:
        if rows:
            yield head
            for row in rows[:_MOST]:
                yield from (f"  {_short(line)}" for line in row)
            if len(rows) > _MOST:
                yield f"  and {len(rows) - _MOST:,} more; --format json has them all"
            yield ""
    if found.is_cut:
        yield "Further differences are not listed."
    if found.unproven:
        names = ", ".join(found.unproven)
        yield _short(f"no job shows a difference: {names}, whose rules are other texts")
    verdict = "no difference" if found.is_empty else "they differ"
    yield printable(f"{report.old.name} and {report.new.name}: {verdict}; compared over {report.compared}")


def _listed_text(report: DiffReport) -> Iterator[list[str]]:
    routes = report.found.routes
    yield from ([f"added    {name}"] for name in routes.added)
    yield from ([f"dropped  {name}"] for name in routes.dropped)
    yield from ([f"renamed  {old} -> {new}"] for old, new in routes.renamed)
    yield from ([f"left out {name}: {reason}"] for name, reason in routes.rejected)
    if routes.order is not None:
        yield [f"order    {', '.join(routes.order[0])} -> {', '.join(routes.order[1])}"]


def _moved(report: DiffReport) -> Iterator[list[str]]:
    for each in report.found.moved:
        head = f"{route_words(each.old)} -> {route_words(each.new)}: {plural(each.jobs, 'job')}"
        yield [head, f"    as {report.example(each.witness)}", *([f"    {each.why}"] if each.why else [])]


def _unreached(report: DiffReport, each: Unreached) -> list[str]:
    before = "it is new" if each.is_added else f"it had {plural(each.jobs_before, 'job')}"
    if each.witness is None or each.taken_by is None:
        return [f"{each.route}: no job meets its REQUIREMENTS ({before})"]
    return [f"{each.route}: {each.taken_by} takes its jobs ({before})", f"    as {report.example(each.witness)}"]


def _copies(report: DiffReport) -> Iterator[list[str]]:
    """Yield what differs on one route, or on one that has another name now; of a job that moves the names alone."""
    renamed = report.found.routes.renamed
    moved: dict[str, list[str]] = {}
    for each in report.found.copies:
        if each.old_route == each.new_route or (each.old_route, each.new_route) in renamed:
            head = f"{_way(each)}, {each.name or 'the copy cannot be made'}: {plural(each.jobs, 'job')}"
            yield [head, *_texts(report, each)]
        else:
            moved.setdefault(_way(each), []).append(each.name or "the copy cannot be made")
    yield from ([f"{way}: {', '.join(names)}"] for way, names in moved.items())


def _way(each: CopyChange) -> str:
    return each.new_route if each.old_route == each.new_route else f"{each.old_route} -> {each.new_route}"


def _texts(report: DiffReport, each: CopyChange) -> Iterator[str]:
    for pair in each.pairs:
        shown = "" if pair.job in report.chosen else f"   (job {pair.job})"
        yield f"    {text_words(pair.old)} -> {text_words(pair.new)}{shown}"
    if each.is_cut:
        yield "    ..."


def _overlaps(report: DiffReport) -> Iterator[list[str]]:
    for each in report.found.overlaps:
        said = "would take" if each.is_new else "would have taken, and no longer would,"
        head = f"{each.second} {said} {plural(each.jobs, 'job')} of {each.first}"
        yield [head, f"    as {report.example(each.witness)}"]


def _setting(each: SettingChange) -> list[str]:
    name = each.name if each.route is None else f"{each.route}: {each.name}"
    return [f"{name} {text_words(each.old)} -> {text_words(each.new)}"]


def _short(line: str) -> str:
    shown = printable(line)
    return shortened(shown, _LONGEST)


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

Exit status, as of diff(1): 0 no difference, 1 they differ, 2 trouble (wrong usage, a file or job that cannot be
read, no routes on either side)."""

_FORMS: dict[str, Callable[[DiffReport], Iterator[str]]] = {
    "text": text_lines,
    "markdown": markdown_lines,
    "json": json_lines,
}


@click.command("diff", cls=Command, example=EXAMPLE, epilog=EPILOG)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--config", metavar="FILE", multiple=True, help="A file that is read before OLD and before NEW.")
@click.option("--ce", is_flag=True, help="Read the configuration as HTCondor-CE does, from /etc/condor-ce.")
@ads_option
@click.option("--spec", "specs", multiple=True, metavar="FILE", help="A submit file: its jobs.")
@click.option(
    "--made", is_flag=True, help="Generate jobs from the routes' requirements (default without --ads and --spec)."
)
@click.option("--owner", metavar="USER", help="Route only this user's jobs, as a router that is not root.")
@legacy_option
@file_options
@reading_jobs_options
@clock_options
@jobs_option
@format_option(*_FORMS, text="How to print the comparison; markdown: for a review comment.")
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
    surroundings: Surroundings,
    job_owner: str | None,
    ignore_prior_routing: bool,
    lenient: bool,
    clock: Clock,
    jobs: int | None,
    format_: str,
) -> None:
    """Compare two configurations: which jobs change their route, what changes in copies, which routes no job reaches.

    Limits, new routes and removed routes are compared as well. For each difference a job is given that shows it.
    """
    if made and (ads or specs):
        raise click.UsageError("--made makes the jobs: leave out --ads and --spec")
    paths = (*find(specs), *ads)
    files = JobFiles(paths, clock, surroundings, job_owner, lenient, ignore_prior_routing)
    files.check((old, new, *config))
    given = LoadingOptions(config, ce, surroundings.allow_dirs, legacy)
    try:
        sides = load_side(old, given, files.context), load_side(new, given, files.context)
    except CrondorError as error:
        raise UsageProblem(error) from None
    _show_faults(sides)
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
    report = DiffReport(sides[0], sides[1], found, _kind(ads, specs), _chosen(own))
    echo_lines(_FORMS[format_](report), fits=format_ == "text")
    status = 2 if findings.failed else int(not found.is_empty)
    if status:
        raise click.exceptions.Exit(status)


def _compared(files: JobFiles, outcomes: JobOutcomes, findings: AdFindings, jobs: int | None) -> TablesComparison:
    """Compare what the jobs of files come to, which so many processes find out."""

    def come_to(found: Iterator[CandidateJob]) -> Iterator[tuple[str, JobOutcome | None, NearAd]]:
        for job, ad in found:
            yield job, outcomes.of(ad), NearAd.of(ad)

    shared = files.shared(come_to)
    comparing: Comparing[NearAd] = Comparing(outcomes, lambda near: files.near(shared, near))
    with closing(shared.made(files.parts(shared, findings), lambda found: findings.add([found]), jobs)) as taken:
        for job, outcome, near in taken:
            comparing.take(job, outcome, near)
    return comparing.end()


def _kind(ads: tuple[str, ...], specs: tuple[str, ...]) -> str:
    return "queue" if ads else "submitted" if specs else "made"


def _chosen(jobs: list[MadeJob]) -> dict[str, dict[str, str | None]]:
    return {job.id: job.chosen for job in jobs}


def _show_faults(sides: tuple[Side, Side]) -> None:
    """Say why routing is off, and exit with 2 where it is on both sides: nothing can be compared."""
    for side in sides:
        show(side.faults)
    if not any(side.table.is_enabled for side in sides):
        raise click.exceptions.Exit(2)
