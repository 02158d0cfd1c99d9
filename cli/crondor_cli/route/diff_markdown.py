"""A comparison of two routing tables as Markdown, for a comment on a change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from crondor.diagnostics import printable, shortened
from crondor.router.compare import TablesComparison
from crondor_cli.common.columns import plural
from crondor_cli.route.diff_report import DiffReport, route_words, text_words

_LONGEST = 200
_MOST = 30


def lines(report: DiffReport) -> Iterator[str]:
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
    for row in rows[:_MOST]:
        yield f"| {' | '.join(row)} |"
    if len(rows) > _MOST:
        yield ""
        yield f"and {plural(len(rows) - _MOST, 'row')} more."


def _cell(text: str) -> str:
    """Return text that is no markup."""
    shown = printable(text)
    shown = shortened(shown, _LONGEST)
    return re.sub(r"([\\`*_{}\[\]<>#|~@])", r"\\\1", shown)


def _code(text: str) -> str:
    """Return text as code, in a cell of a table."""
    shown = printable(text)
    shown = shortened(shown, _LONGEST)
    longest = max((len(each) for each in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    space = " " if shown[:1] == "`" or shown[-1:] == "`" or not shown else ""
    return f"{fence}{space}{shown}{space}{fence}".replace("|", "\\|")
