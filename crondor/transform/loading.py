"""Several sets of rules in a row, as condor_transform_ads takes them: files, and knobs of the configuration."""

from __future__ import annotations

import re

from crondor.diagnostics import Diagnostic
from crondor.macro import Budget
from crondor.macro.statement import is_name
from crondor.source import Source
from crondor.transform.apply import Run
from crondor.transform.compiled import Transform
from crondor.transform.errors import InvalidTransform, fault, warning
from crondor.transform.facts import Facts
from crondor.transform.program import Form, read_program
from crondor.transform.statements import compile_line

JOB_TRANSFORM = "JOB_TRANSFORM_"
JOB_ROUTE = "JOB_ROUTER_ROUTE_"


class Rules:
    """Transforms gathered one after the other; ``facts`` are those given, with the macros of rules files as knobs.

    ``diagnostics`` has what was found: faults of rules that are taken all the same, and warnings. ``macros`` are
    defined before the first rule of each ad.
    """

    def __init__(self, facts: Facts) -> None:
        """Begin with none."""
        self.facts = facts
        self.transforms: list[Transform] = []
        self.diagnostics: list[Diagnostic] = []
        self.macros: dict[str, str] = {}

    def define(self, name: str, value: str) -> None:
        """Define a macro that all rules see from the beginning; ``+name`` is MY.name.

        Raises InvalidTransform for what is no name.
        """
        key = "my." + name[1:].lower() if name[:1] == "+" else name.lower()
        if not is_name(key):
            span = Source(name, "NAME=VALUE").span()
            raise InvalidTransform(fault("macro-name", f"invalid attribute name '{name}'", span))
        self.macros[key] = value

    def add_file(self, source: Source) -> None:
        """Add a rules file. One without any command is configuration for the knobs that follow.

        Raises InvalidTransform for rules that HTCondor does not load, and behind rules that iterate.
        """
        self._check_last(source.name)
        transform = Transform.parse(source, facts=self.facts, strict=False)
        self.diagnostics += (*transform.faults, *transform.warnings)
        self.facts = self.facts.with_knobs(_macros(source, self.facts))
        if transform.does_something:
            self.transforms.append(transform)

    def add_knob(self, prefix: str, name: str) -> None:
        """Add the rules of a knob; one that is missing, empty or not valid is left out and reported, as HTCondor does.

        Raises InvalidTransform behind rules that iterate.
        """
        knob = prefix + name
        self._check_last(knob)
        text = self.facts.knobs.get(knob.lower())
        source = Source(text or "", knob)
        if not (text or "").strip():
            what = "is not defined" if text is None else "is empty"
            self.diagnostics.append(warning("knob", f"{knob} {what}: it is left out", source.span()))
            return
        if source.text.lstrip().startswith("["):
            message = f"{knob} is written as a ClassAd, which HTCondor 25 does not take any more: it is left out"
            self.diagnostics.append(fault("old-syntax", message, source.span(0, 1), "write it as commands"))
            return
        try:
            transform = Transform.parse(source, name=name, form=Form.KNOB, facts=self.facts, strict=False)
        except InvalidTransform as error:
            self.diagnostics += error.diagnostics
            return
        self.diagnostics += (*transform.faults, *transform.warnings)
        self.transforms.append(transform)

    def add_knobs(self, prefix: str, names: str) -> None:
        """Add the rules of knobs whose names are separated by commas or blanks."""
        for name in re.findall(r"[^, \t\r\n]+", names):
            self.add_knob(prefix, name)

    def _check_last(self, name: str) -> None:
        if self.transforms and self.transforms[-1].iterates:
            message = f"Error at {name}. Previous transform was an iterating transform"
            span = self.transforms[-1].source.span(0, 0)
            raise InvalidTransform(fault("iterates", message, span, "put the rules with TRANSFORM last"))


def _macros(source: Source, facts: Facts) -> dict[str, str]:
    """Return what a rules file defines when it is loaded without an ad."""
    program = read_program(source, Form.FILE, "")
    macros: dict[str, str] = {}
    statements = [compile_line(line) for line in program.lines]
    Run(statements, None, facts, macros, facts.defaults(iterates=False), Budget()).check()
    return macros
