"""A job ad in the making: the commands of one job, what they set so far, and what is wrong with them.

HTCondor: SubmitHash::AssignJobExpr, SubmitHash::AssignJobString, SubmitHash::AssignJobVal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from crondor.classad import ClassAdSyntaxError, Context, EvaluationFailed, Expression, Value, lower
from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic, shortened
from crondor.job.attributes import boolean_of, string_of
from crondor.job.expressions import NEW_JOB
from crondor.source import Span
from crondor.submit.ad import values
from crondor.submit.ad.knobs import SubmitKnobs
from crondor.submit.folders import full_path
from crondor.submit.host import SubmitHost

_LONGEST: Final = 200  # characters of a value that a message shows
_CLOCK: Final = re.compile(r"(?i)\b(?:time|interval|currenttime|daytime|abstime|formattime)[ \t]*\(")


@dataclass
class ClusterAd:
    """What the first job of a cluster decides for all: its ad, under those of the others, and its universe.

    ``file`` is the name of the submit file. ``forced`` are commands that the universe sets, whatever the file says.
    ``now`` is the moment of submission in epoch seconds and ``environ`` the submitter's variables, None where they are
    not known. ``used`` gathers the names that condor_submit has looked up and found, in any job.
    """

    ad: ClassAd = field(default_factory=ClassAd)
    number: int = 1
    file: str = ""
    universe: int = 0
    is_docker: bool = False
    is_container: bool = False
    grid_type: str = ""
    vm_type: str = ""
    forced: dict[str, str] = field(default_factory=dict)
    corrected_lease: bool = False
    now: int | None = None
    environ: Mapping[str, str] | None = None
    used: set[str] = field(default_factory=set)

    @cached_property
    def new_job(self) -> ClassAd:
        """What any job has, the moment of submission too where it is known."""
        moment = {} if self.now is None else {"QDate": self.now, "EnteredCurrentStatus": self.now}
        return ClassAd({**NEW_JOB, **moment})


class Draft:
    """The ad of one job while its parts are set; faults are gathered, and the first of them does not stop it.

    ``process`` is its ProcId; ``folder`` is its Iwd, empty where that is not known.
    """

    def __init__(
        self,
        process: int,
        commands: Mapping[str, str],
        spans: Mapping[str, Span],
        spellings: Mapping[str, str],
        host: SubmitHost,
        knobs: SubmitKnobs,
        cluster: ClusterAd,
    ) -> None:
        """Begin with what the cluster's first job has.

        ``commands`` are lower-case names with expanded values; ``spellings`` has the case of names that become parts
        of attributes.
        """
        self.process = process
        self.folder = host.folder
        self.commands = {**commands, **cluster.forced} if cluster.forced else commands
        self.spans = spans
        self.spellings = spellings
        self.host = host
        self.knobs = knobs
        self.cluster = cluster
        self.ad = cluster.ad.copy()
        self.context = Context(now=cluster.now or 0)
        self.faults: list[Diagnostic] = []

    def command(self, *names: str) -> str | None:
        """Return the value of a command, None where it is empty; a name that is assigned hides those behind it."""
        for name in names:
            if name in self.commands:
                self.cluster.used.add(name)
                return self.commands[name] or None
        return None

    def use(self, *names: str) -> None:
        """Note that condor_submit looks a command up, though nothing here depends on it."""
        self.command(*names)

    def written(self, *names: str) -> str | None:
        """Return the first of some names that is assigned."""
        for name in names:
            if name in self.commands:
                return name
        return None

    def flag(self, *names: str) -> bool | None:
        """Return a command that must be a boolean, None where it is not given."""
        text = self.command(*names)
        if text is None:
            return None
        found = values.boolean(text, self.context)
        if found is None:
            self.refuse(names, text, "must eval to a boolean", "write True or False")
        self._need_clock(names, text)
        return found

    def integer(self, *names: str, is_int: bool = False) -> int | None:
        """Return a command that must be an integer, with ``is_int`` of 32 bits; None where it is not given."""
        text = self.command(*names)
        if text is None:
            return None
        found = values.integer(text, self.context)
        self._need_clock(names, text)
        if found is None or (is_int and not -(2**31) <= found < 2**31 - 1):
            self.refuse(names, text, "must eval to an integer", "write an integer")
            return None
        return found

    def _need_clock(self, names: tuple[str, ...], text: str) -> None:
        if self.cluster.now is None and _CLOCK.search(text):
            message = f"{names[0]}={shown(text)} depends on the time of submission, which crondor does not know"
            self.fault("unknown-time", self.written(*names) or names[0], message, "write the value out")

    def refuse(self, names: tuple[str, ...], text: str, must: str, instead: str) -> None:
        """Note a value of the wrong kind, in HTCondor's words; the first name is the one it reports."""
        message = f"{names[0]}={shown(text)} is invalid, {must}."
        self.fault("submit-value", self.written(*names) or names[0], message, instead)

    def fault(self, code: str, name: str, message: str, instead: str | None = None) -> None:
        """Note a fault at the value of a command."""
        self.faults.append(Diagnostic(code, message, span=self.spans.get(name), help=instead))

    def set(self, attribute: str, value: str | float) -> None:
        """Set an attribute to a string, number or truth value."""
        self.ad.set(attribute, value)

    def expression(self, attribute: str, text: str, name: str = "") -> bool:
        """Set an attribute to an expression; ``name`` is the command to blame where it is none."""
        try:
            self.ad.set(attribute, values.parse(text, name))
        except ClassAdSyntaxError as error:
            message = f"Parse error in expression: {attribute} = {shown(text)}"
            for fault in error.diagnostics:
                place = self.spans.get(name)
                at = fault.relocated(place) if place is not None else replace(fault, span=None)
                instead = f"{fault.message}: write one complete ClassAd expression"
                self.faults.append(Diagnostic("submit-expression", message, span=at.span, help=instead))
            return False
        return True

    def copy_expression(self, attribute: str, *names: str) -> bool:
        """Set an attribute to the expression that a command gives; False where the command is not given."""
        text = self.command(*names)
        if text is None:
            return False
        self.expression(attribute, text, self.written(*names) or "")
        return True

    def string(self, attribute: str, *names: str) -> str | None:
        """Set an attribute to the text of a command, and return that; None where the command is not given."""
        text = self.command(*names)
        if text is not None:
            self.set(attribute, text)
        return text

    def path(self, text: str) -> str:
        """Return a file name of the job from the root, where its folder is known."""
        return full_path(text, self.folder)

    def spelled(self, name: str) -> str:
        """Return a lower-case name as it is written in the file."""
        return self.spellings.get(name, name)

    def has(self, *attributes: str) -> bool:
        """Say whether any of some attributes is set, be it to undefined."""
        codes = self.ad.codes
        return any(lower(attribute) in codes for attribute in attributes)

    def value(self, attribute: str) -> Value | None:
        """Return the value of an attribute, None where it is not set or has none."""
        expression = self.ad.get(attribute)
        if expression is None:
            return None
        if values.literal(expression.tree) is not None:
            return expression.evaluate()
        try:
            return self.ad.copy().chain(self.cluster.new_job).value(attribute, None, self.context)
        except (EvaluationFailed, ClassAdSyntaxError):
            return None

    def text(self, attribute: str) -> str | None:
        """Return an attribute whose value is a string, None for any other."""
        return string_of(self.value(attribute))

    def holds(self, attribute: str) -> bool:
        """Say whether an attribute is true, or a number that is not zero."""
        return boolean_of(self.value(attribute)) is True

    def get(self, attribute: str) -> Expression | None:
        """Return the expression of an attribute, None where it is not set."""
        return self.ad.get(attribute)

    def named(self, *prefixes: str) -> list[str]:
        """Return the assigned names that begin with one of some prefixes, sorted; none of them is used by that."""
        return sorted(name for name in self.commands if name.startswith(prefixes))


def shown(text: str) -> str:
    """Return a value as messages show it."""
    return shortened(text, _LONGEST)
