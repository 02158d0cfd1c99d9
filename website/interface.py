"""The pages of the library's interface, for Sphinx to fill from docstrings and types."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

MODULES = (
    "crondor.spec",
    "crondor.recurrence",
    "crondor.schedule",
    "crondor.deferral",
    "crondor.words",
    "crondor.zones",
    "crondor.algebra",
    "crondor.compile.text",
    "crondor.diagnostics",
    "crondor.source",
    "crondor.submit",
    "crondor.check",
    "crondor.check.baseline",
    "crondor.check.fixing",
    "crondor.classad",
    "crondor.config",
    "crondor.transform",
    "crondor.access_point",
    "crondor.router",
    "crondor.router_bridge",
    "crondor.job_queue",
    "crondor.job.queued",
    "crondor.schedd_adapter",
    "crondor.event_log",
    "crondor.knowledge",
)
ELSEWHERE = {"crondor.zones": "Policy"}  # shown on the page of crondor.recurrence, where people look for it
GATHERED = {"crondor.schedd_adapter"}  # whose names have their place in other modules as well


def pages() -> Iterator[tuple[str, str]]:
    """Yield place and text of the pages: one for each module, and an index that says what each is for."""
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
