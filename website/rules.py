"""The page of each rule at its stable address, and a table of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crondor.check.pages import page as submit_page
from crondor.router.rules.pages import page as route_page


def pages(submit: Iterable[str], routes: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield place and Markdown of the rules' pages: ``rules/CRN101/`` of each, which the findings' links name."""
    table = ["# Rules", "", "Each finding has the code of its rule; `crondor check --explain CRN101` prints the page."]
    codes = []
    for title, rules, page in (("Submit files", submit, submit_page), ("Routes", routes, route_page)):
        table += ["", f"## {title}", "", "| code | name | what it finds |", "|---|---|---|"]
        for code in rules:
            text = page(code)
            name, _, what = text.splitlines()[0].removeprefix(f"# {code} ").partition(": ")
            cells = (f"[{code}]({code}/index.md)", name, what.replace("|", r"\|"))
            table.append(f"| {' | '.join(cells)} |")
            if code not in codes:
                codes.append(code)
                yield f"rules/{code}/index.md", _with_way_up(text)
    yield "rules/index.md", "\n".join([*table, ""])


def _with_way_up(text: str) -> str:
    """Return a rule's page with a link to the table of all; the navigation of every page does not list them."""
    title, _, rest = text.partition("\n")
    return f"{title}\n\n[All rules](../index.md)\n{rest}"
