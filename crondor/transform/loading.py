"""Several sets of rules in a row, as condor_transform_ads takes them: files, and knobs of the configuration.

HTCondor: src/condor_tools/transform_ads.cpp.
"""

from __future__ import annotations

import re

from crondor.diagnostics import Diagnostic
from crondor.macro.statement import is_name
from crondor.source import Source
from crondor.transform.circular import as_warnings, find_circles
from crondor.transform.compiled import Transform
from crondor.transform.errors import InvalidTransform, fault, warning
from crondor.transform.facts import TransformFacts
from crondor.transform.program import RuleSource

JOB_TRANSFORM = "JOB_TRANSFORM_"
JOB_ROUTE = "JOB_ROUTER_ROUTE_"


class Rules:
    """Transforms gathered one after the other, to be applied with ``facts``.

    ``diagnostics`` has what was found: faults of rules that are taken all the same, and warnings. ``macros`` are
    defined before the first rule of each ad.
    """

    def __init__(self, facts: TransformFacts) -> None:
        """Begin with none."""
        self.facts = facts
        self.transforms: list[Transform] = []
        self.diagnostics: list[Diagnostic] = []
        self.macros: dict[str, str] = {}
        self._known: dict[str, str] = {}
        self._left_out: list[Transform] = []

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
        """Add a rules file. One without any command may only define knobs for what follows.

        Raises InvalidTransform for rules that HTCondor does not load, and behind rules that iterate.
        """
        self._check_last(source.name)
        transform = Transform.parse(source, facts=self._on_loading(), strict=False)
        self.diagnostics += (*transform.faults, *transform.warnings)
        self._known.update(transform.definitions(self.facts))
        if transform.iterates or transform.reached:
            self.transforms.append(transform)
        elif transform.has_commands:
            self._left_out.append(transform)

    def finish(self) -> None:
        """Say which files were left out, and take them all the same where nothing else is there.

        condor_transform_ads takes a file for configuration where its check on loading comes to no command: where the
        first one is wrong, or all depend on the ad. Raises InvalidTransform where there is nothing to apply.
        """
        if not self.transforms:
            self.transforms += [each for each in self._left_out if not each.faults]
        if not self.transforms:
            why = "no transform rules are left" if self._left_out else "no transform rules specified"
            raise InvalidTransform(fault("no-rules", why, Source("", "rules").span()))
        for transform in self._left_out:
            if transform not in self.transforms:
                message = f"{transform.name} is left out: condor_transform_ads takes it for configuration"
                help_text = "a command that runs without an ad, before any other line, makes it a transform"
                self.diagnostics.append(warning("left-out", message, transform.source.span(0, 0), help_text))
        self.diagnostics += as_warnings(find_circles(self.transforms, self.facts))

    def add_knob(self, prefix: str, name: str) -> None:
        """Add the rules of a knob; one that is missing, empty or not valid is left out and reported, as HTCondor does.

        Raises InvalidTransform behind rules that iterate.
        """
        self.add_knobs(prefix, name)

    def add_knobs(self, prefix: str, names: str) -> None:
        """Add the rules of knobs whose names are separated by commas or blanks, as add_knob() does.

        As in condor_transform_ads only the last of them may iterate, and only the last is left out where its check on
        loading comes to no command.
        """
        given = re.findall(r"[^, \t\r\n]+", names)
        self._check_last(prefix + (given[0] if given else ""))
        begin = len(self.transforms)
        for name in given:
            self._add_knob(prefix, name)
        for number in range(begin, len(self.transforms) - 1):
            if self.transforms[number].iterates:
                self._do_once(number)
        last = self.transforms[-1] if len(self.transforms) > begin else None
        if last is not None and not last.iterates and not last.reached:
            self._left_out += [self.transforms.pop()] if last.has_commands else []

    def _do_once(self, number: int) -> None:
        transform = self.transforms[number]
        message = f"TRANSFORM of {transform.name} has no effect: HTCondor looks at that of the last transform alone"
        self.diagnostics.append(warning("transform-ignored", message, transform.source.span(0, 0), "put it last"))
        self.transforms[number] = transform.once()

    def _add_knob(self, prefix: str, name: str) -> None:
        knob = prefix + name
        text = self._known.get(knob.lower(), self.facts.knobs.get(knob.lower()))
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
            transform = Transform.parse(source, name=name, form=RuleSource.KNOB, facts=self._on_loading(), strict=False)
        except InvalidTransform as error:
            self.diagnostics += error.diagnostics
            return
        self.diagnostics += (*transform.faults, *transform.warnings)
        self.transforms.append(transform)

    def _on_loading(self) -> TransformFacts:
        """Return what a check on loading sees: what the files before define, too."""
        facts = self.facts
        if not self._known:
            return facts
        knobs = {**facts.knobs, **self._known}
        return TransformFacts(
            knobs, environ=facts.environ, context=facts.context, files=facts.files, version=facts.version
        )

    def _check_last(self, name: str) -> None:
        if self.transforms and self.transforms[-1].iterates:
            message = f"Error at {name}. Previous transform was an iterating transform"
            span = self.transforms[-1].source.span(0, 0)
            raise InvalidTransform(fault("iterates", message, span, "put the rules with TRANSFORM last"))
