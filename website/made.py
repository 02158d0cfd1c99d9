"""The pages that are made from the code: the rules, the knobs of a job router, and the interface of the library."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from crondor.access_point import read_access_point
from crondor.config import read_config
from crondor.diagnostics import Source, render
from crondor.knowledge import Release
from crondor.lint import CheckSettings, Finding, check_submit, page
from crondor.lint.dags import check_dag
from crondor.lint.routes import check_routes
from crondor.lint.rule import Rule
from crondor.macro.files import Files
from crondor.router.table.loading import KNOBS
from crondor.submit import read_submit

_NOW = 1_795_305_600  # Sun 2026-11-22
_BLOCK = re.compile(r"^```(submit|condor|dag)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CONFIG = re.compile(r"^```config\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TARGET = re.compile(r"^With `--target (\S+)`:$", re.MULTILINE)
_FIXES = {None: "none", True: "`--fix` applies it", False: "`--fix --unsafe` applies it"}


def rule_pages(submit: Mapping[str, Rule[Any]], routes: Mapping[str, Rule[Any]]) -> Iterator[tuple[str, str]]:
    """Yield place and Markdown of the rules' pages: ``rules/CRN101/`` of each, which the findings' links name."""
    table = ["# Rules", "", "Each finding has the code of its rule; `crondor check --explain CRN101` prints the page."]
    codes = []
    for title, rules in (("Submit files", submit), ("Routes", routes)):
        table += ["", f"## {title}", "", "| code | name | severity | fix | what it finds |", "|---|---|---|---|---|"]
        for code, rule in rules.items():
            text = page(code)
            found = example_of(code, text)
            name, _, what = text.splitlines()[0].removeprefix(f"# {code} ").partition(": ")
            cells = (f"[{code}]({code}/index.md)", name, rule.severity.value, _fix(found), what.replace("|", r"\|"))
            table.append(f"| {' | '.join(cells)} |")
            if code not in codes:
                codes.append(code)
                yield f"rules/{code}/index.md", _with_facts(text, rule, found)
    yield "rules/index.md", "\n".join([*table, ""])


def example_of(code: str, text: str) -> Finding | None:
    """Return what a rule finds in the first example of its page, None where there is none."""
    block = _BLOCK.search(text)
    if block is None:
        return None
    found: Iterable[Finding]
    if block[1] == "dag":
        files = Files((), base=".")
        reports = check_dag(Source(block[2], "x.dag"), _settings(text), files, lambda source, _: read_submit(source))
        found = chain.from_iterable(report.findings for report in reports)
    elif block[1] == "condor":
        reports = check_routes(read_config(Source(block[2], "routes.conf"))).reports
        found = chain.from_iterable(report.findings for report in reports)
    else:
        with TemporaryDirectory() as folder:
            (Path(folder) / "clean.sh").touch(0o644)  # named by a page; no other file is there
            read = partial(read_submit, files=Files([folder], base=folder), now=_NOW)
            found = check_submit(Source(block[2], "job.sub"), _settings(text), read).findings
    return next((each for each in found if each.diagnostic.code == code), None)


def _settings(text: str) -> CheckSettings:
    """Return what a page says its examples are checked with."""
    settings = CheckSettings(_NOW, "Europe/Berlin")
    config, target = "".join(_CONFIG.findall(text)), _TARGET.search(text)
    if config:
        return replace(settings, access_point=read_access_point(read_config(Source(config, "site.conf"))))
    return replace(settings, target=Release.parse(target[1])) if target else settings


def _fix(found: Finding | None) -> str:
    return _FIXES[None if found is None or found.fix is None else found.fix.safe]


def _with_facts(text: str, rule: Rule[Any], found: Finding | None) -> str:
    """Return a rule's page with a link to the table of all, how severe it is, its fix, and what is printed."""
    title, _, rest = text.partition("\n")
    if found is not None:
        printed = f"crondor prints:\n\n```text\n{render(found.diagnostic)}\n```"
        rest = _BLOCK.sub(lambda block: f"{block[0]}\n\n{printed}", rest, count=1)
    facts = f"Severity: {rule.severity.value}. Fix: {_fix(found)}."
    return f"{title}\n\n[All rules](../index.md)\n\n{facts}\n{rest}"


def knob_page() -> str:
    """Return the page of a job router's knobs."""
    lines = ["# The knobs of a job router", ""]
    lines += ["| knob | type | default | releases | meaning |", "|---|---|---|---|---|"]
    for knob in KNOBS:
        default = f"`{knob.default}`" if knob.default else ""
        releases = f"up to {knob.releases.until}" if knob.is_removed else ""
        cells = (f"`{knob.name}`", knob.kind.value, default, releases, knob.sentence)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


MODULES = (
    "crondor.spec",
    "crondor.recurrence",
    "crondor.schedule",
    "crondor.deferral",
    "crondor.words",
    "crondor.zones",
    "crondor.algebra",
    "crondor.compile.meaning",
    "crondor.diagnostics",
    "crondor.submit",
    "crondor.lint",
    "crondor.lint.baseline",
    "crondor.classad",
    "crondor.config",
    "crondor.transform",
    "crondor.access_point",
    "crondor.router",
    "crondor.router_bridge",
    "crondor.job_queue",
    "crondor.job.policy",
    "crondor.schedd_adapter",
    "crondor.event_log",
    "crondor.knowledge",
)
ELSEWHERE = {"crondor.zones": "Policy"}  # shown on the page of crondor.recurrence, where people look for it
GATHERED = {"crondor.schedd_adapter"}  # whose names have their place in other modules as well


def library_pages() -> Iterator[tuple[str, str]]:
    """Yield place and text of the library_pages: one for each module, and an index that says what each is for."""
    lines = [
        "# Interface",
        "",
        "Made of the docstrings and types. [The library](../python.md) begins with examples.",
        "",
    ]
    lines += ["| module | what it is |", "|---|---|"]
    for name in MODULES:
        module = importlib.import_module(name)
        sentence = (module.__doc__ or "").splitlines()[0]
        lines.append(f"| [`{name}`]({name}.rst) | {sentence} |")
        members = "   :members:\n   :show-inheritance:\n"
        members += "   :imported-members:\n" if hasattr(module, "__all__") else ""
        members += f"   :exclude-members: {ELSEWHERE[name]}\n" if name in ELSEWHERE else ""
        members += "   :no-index:\n" if name in GATHERED else ""
        yield f"interface/{name}.rst", f"{name}\n{'=' * len(name)}\n\n.. automodule:: {name}\n{members}"
    entries = "\n".join(MODULES)
    yield "interface/index.md", "\n".join([*lines, "", f"```{{toctree}}\n:hidden:\n\n{entries}\n```", ""])
