"""A comparison of two routing tables for people."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.diagnostics import printable, shortened
from crondor.router.compare import CopyChange, SettingChange, Unreached
from crondor_cli.common.columns import plural
from crondor_cli.route.diff_report import DiffReport, route_words, text_words

_LONGEST = 160
_MOST = 50  # of one kind; whoever wants all of them asks for JSON


def lines(report: DiffReport) -> Iterator[str]:
    """Yield the lines: what differs by kinds, each with a job that shows it; then how much was compared."""
    found = report.found
    parts = (
        ("Routes", list(_listed(report))),
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
        yield "There are more differences than are told apart here."
    if found.unproven:
        names = ", ".join(found.unproven)
        yield _short(f"no job shows a difference: {names}, whose rules are other texts")
    verdict = "no difference" if found.is_empty else "they differ"
    yield printable(f"{report.old.name} and {report.new.name}: {verdict}; compared over {report.compared}")


def _listed(report: DiffReport) -> Iterator[list[str]]:
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
