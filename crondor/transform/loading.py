"""Several sets of rules in a row, from files and knobs, and the circles of references they make.

HTCondor: src/condor_tools/transform_ads.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Final, TypeAlias, TypeVar

from crondor.classad.ad import ClassAd
from crondor.classad.circles import Circle, circles, entangled, new_circles
from crondor.classad.compile import code_of
from crondor.classad.scope import Code, code_tree
from crondor.classad.tree import ListNode
from crondor.diagnostics import Diagnostic, Severity, Source
from crondor.macro.lines import LogicalLine
from crondor.macro.reader import is_name
from crondor.transform.apply import RunnableLine, TransformRun
from crondor.transform.commands import ByPattern, NamedCommand
from crondor.transform.compiled import Transform
from crondor.transform.expressions import InvalidTransform, TransformFacts, fault, warning
from crondor.transform.program import RuleSource
from crondor.transform.statements import Condition

_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MOVES: Final = frozenset(("COPY", "RENAME"))
_SOME: Final = "TARGET.Unknown"
_FIXED: Final = re.compile(r"(?i)[ \t]*(?:!?[ \t]*(?:[0-9.]+|true|false|yes|no|t|f)|version\b.*)[ \t]*").fullmatch
_MOST_LINES: Final = 20_000
_ALL_WAYS: Final = 4  # conditions of which each combination is tried
_ONE_BY_ONE: Final = 30  # conditions each of which is tried against all others that matter
_OF_LANGUAGE: Final = frozenset(("my", "target", "true", "false", "undefined", "defined", "isundefined", "ifthenelse"))
_NO_WAY: Final[Mapping[int, bool]] = {}
_OF_THE_MACHINE: Final = frozenset(("requirements", "rank"))


# The lines are run on representative ads: one that has every attribute they name, with expressions without references,
# and one that has none; and on each path through their conditions.
def find_circles(transforms: Sequence[Transform], facts: TransformFacts) -> Iterator[Diagnostic]:
    """Yield a finding for each circle that lines of the transforms close, an error only if it is certain."""
    if sum(len(each.lines) for each in transforms) > _MOST_LINES:
        return
    told: set[frozenset[str]] = set()
    found = [each for names in (_names(transforms), []) for each in _of_ways(transforms, facts, names)]
    for circle, spelled, line in sorted(found, key=lambda each: not each[0].is_sure):
        if frozenset(circle.names) not in told:
            told.add(frozenset(circle.names))
            yield circular(circle, spelled, line)


def circular(circle: Circle, spelled: Mapping[str, str], line: LogicalLine | None) -> Diagnostic:
    """Return the finding for a circle that a line of a transform closes."""
    span = None if line is None else line.span()
    text = "" if line is None else line.text
    return Diagnostic("circle", circle.message(spelled), circle.severity, span, instead(circle, spelled, text))


def instead(circle: Circle, spelled: Mapping[str, str], text: str) -> str:
    """Return what to write instead of the text of a line that closes a circle."""
    keyword, *words = _WORD.findall(text) or [""]
    name = spelled.get(circle.names[0], circle.names[0])
    if keyword.upper() in _MOVES:
        return f"write EVALSET {' '.join(reversed(words[:2]))} to take the value, not the expression"
    if len(circle.names) > 1:
        return "COPY one of them to another name first, and refer to that"
    if name.lower() in _OF_THE_MACHINE or "target." in text.lower():
        return f"write $(MY.{name}) for the expression that the job has"
    return f"write EVALSET {name} for its value, or $(MY.{name}) for the expression that the job has"


def new_warnings(before: ClassAd, after: ClassAd, known: Container[str] = ()) -> list[Diagnostic]:
    """Return warnings about circles that changes of an ad have closed, without those whose message is known."""
    found = [circular(circle, after.names, None) for circle in new_circles(before.codes, after.codes)]
    return as_warnings(each for each in found if each.message not in known)


def as_warnings(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the findings of a command that continues after circles, like HTCondor: no notes, and no errors."""
    return [replace(each, severity=Severity.WARNING) for each in found if each.severity is not Severity.NOTE]


class _Probe(TransformRun):
    """A run along one path through conditions, which records which line set an attribute.

    ``way`` has the numbers of the conditions that hold; all others do not. Only commands about a name of ``wanted`` are
    run, None: all.
    """

    is_plannable = False  # each line is run separately

    def __init__(
        self,
        ad: ClassAd,
        facts: TransformFacts,
        way: Mapping[int, bool] = _NO_WAY,
        wanted: Container[str] | None = None,
    ) -> None:
        super().__init__(ad, facts, {}, facts.defaults(iterates=False))
        self.asked = 0
        self.writers: dict[str, LogicalLine] = {}
        self.spelled: dict[str, str] = {}
        self._way = way
        self._wanted = wanted

    def apply(self, statements: Sequence[RunnableLine], **_: bool) -> Diagnostic | None:
        return super().apply(statements)

    def _next(self) -> RunnableLine | None:
        statement = super()._next()
        while statement is not None and not self._wants(statement):
            statement = super()._next()
        return statement

    def _wants(self, statement: RunnableLine) -> bool:
        if self._wanted is None or not isinstance(statement, NamedCommand) or isinstance(statement, ByPattern):
            return True
        return statement.key in self._wanted or (
            statement.keyword in _MOVES and statement.rest.text.lower() in self._wanted
        )

    def condition(self, keyword: str, text: str) -> None:
        if _asks(keyword, text):
            text = "true" if self._way.get(self.asked, True) else "false"
            self.asked += 1
        super().condition(keyword, text)

    def put(self, key: str, name: str, code: Code | str) -> None:
        super().put(key, name, code)
        if self.line is not None:
            self.writers.pop(key, None)  # the last one comes last
            self.writers[key] = self.line.line
        self.spelled[key] = name


class _Everything(_Probe):
    """A run of all lines, whatever their conditions, in which an attribute may have several expressions.

    ``guards`` has the numbers of the conditions around the lines that set an attribute.
    """

    def __init__(self, ad: ClassAd, facts: TransformFacts) -> None:
        super().__init__(ad, facts)
        self.guards: dict[str, set[int]] = {}
        self._conditionals_around: list[list[int]] = []
        self._others: dict[str, list[Code | str]] = {}

    def _next(self) -> RunnableLine | None:
        while self.at < len(self._statements):
            self.line = statement = self._statements[self.at]
            self.at += 1
            if not isinstance(statement, Condition):
                return statement.seen(is_inside=bool(self._conditionals_around))
            if statement.keyword == "if":
                self._conditionals_around.append([])
            if _asks(statement.keyword, statement.text):
                for each in self._conditionals_around[-1:]:
                    each.append(self.asked)
                self.asked += 1
            if statement.keyword == "endif" and self._conditionals_around:
                self._conditionals_around.pop()
        return None

    def put(self, key: str, name: str, code: Code | str) -> None:
        self._leave(key)
        super().put(key, name, code)

    def delete(self, key: str) -> None:
        self._leave(key)
        super().delete(key)

    def _leave(self, key: str) -> None:
        earlier = self.codes.get(key)
        self.guards.setdefault(key, set()).update(number for each in self._conditionals_around for number in each)
        if not self._conditionals_around:
            self._others.pop(key, None)
        elif earlier is not None:
            self._others.setdefault(key, []).append(earlier)

    def all_codes(self) -> dict[str, Code | str]:
        """Return the expressions, all of an attribute together as a list."""
        found = dict(self.codes)
        for key, others in self._others.items():
            codes = [*others, *([found[key]] if key in found else [])]
            found[key] = code_of(ListNode(tuple(map(code_tree, codes))))
        return found


def _asks(keyword: str, text: str) -> bool:
    """Return whether a line is a condition that may be true or false."""
    return keyword in {"if", "elif"} and _FIXED(text) is None


_Run = TypeVar("_Run", bound=_Probe)
_Found: TypeAlias = "tuple[Circle, Mapping[str, str], LogicalLine]"


def _of_ways(transforms: Sequence[Transform], facts: TransformFacts, names: Sequence[str]) -> Iterator[_Found]:
    """Yield the circles on each path through the conditions that matter, for ads that have some attributes."""
    everything = _run(_Everything(_ad(names), facts), transforms)
    tangled = entangled(everything.all_codes(), everything.writers)
    if tangled.isdisjoint(everything.writers):
        return
    guards = sorted({number for name in tangled for number in everything.guards.get(name, ())})
    wanted = _leading_to(tangled, transforms)
    for way in _ways(guards):
        run = _run(_Probe(_ad(names), facts, way, wanted), transforms)
        yield from _closed(run, is_forced=bool(guards))


def _ways(guards: Sequence[int]) -> Iterator[Mapping[int, bool]]:
    """Yield which conditions hold: each combination of a few, else all, none, and each against all others."""
    if len(guards) <= _ALL_WAYS:
        yield from (dict(zip(guards, way, strict=True)) for way in product((True, False), repeat=len(guards)))
        return
    yield dict.fromkeys(guards, True)
    yield dict.fromkeys(guards, False)
    for taken in guards[:_ONE_BY_ONE]:
        yield {number: number == taken for number in guards}


def _leading_to(names: set[str], transforms: Sequence[Transform]) -> set[str]:
    """Return some names with all names in the lines about them."""
    lines = [
        {word.lower() for word in _WORD.findall(line.text)[1:]} - _OF_LANGUAGE
        for each in transforms
        for line in each.lines
    ]
    found, size = set(names), 0
    while len(found) > size:
        size = len(found)
        for words in lines:
            if not words.isdisjoint(found):
                found |= words
    return found


def _ad(names: Sequence[str]) -> ClassAd:
    return ClassAd.of(dict.fromkeys(map(str.lower, names), _SOME), {name.lower(): name for name in names})


def _run(run: _Run, transforms: Sequence[Transform]) -> _Run:
    for transform in transforms:
        if transform.run(run) is not None:
            break
    return run


def _closed(run: _Probe, *, is_forced: bool) -> Iterator[_Found]:
    for circle in circles(run.codes, run.writers):
        if run.writers.keys().isdisjoint(circle.names):
            continue
        is_sure = circle.is_sure and (not is_forced or len(circle.names) == 1)
        last = [name for name in run.writers if name in circle.names][-1]
        at = circle.names.index(last)
        turned = Circle((*circle.names[at:], *circle.names[:at]), is_sure)
        yield turned, run.spelled, run.writers[last]


def _names(transforms: Sequence[Transform]) -> list[str]:
    """Return every word of the lines, which includes the names of all attributes."""
    words = {word.lower(): word for each in transforms for line in each.lines for word in _WORD.findall(line.text)}
    return list(words.values())


JOB_TRANSFORM = "JOB_TRANSFORM_"
JOB_ROUTE = "JOB_ROUTER_ROUTE_"


class Rules:
    """Transforms collected one after the other, to be applied with ``facts``.

    ``diagnostics`` has the findings: faults of rules that are accepted nevertheless, and warnings. ``macros`` are
    defined before the first rule of each ad.
    """

    def __init__(self, facts: TransformFacts) -> None:
        self.facts = facts
        self.transforms: list[Transform] = []
        self.diagnostics: list[Diagnostic] = []
        self.macros: dict[str, str] = {}
        self._known: dict[str, str] = {}
        self._left_out: list[Transform] = []

    def define(self, name: str, value: str) -> None:
        """Define a macro for all rules; ``+name`` is MY.name. Raises InvalidTransform for an invalid name."""
        key = "my." + name[1:].lower() if name[:1] == "+" else name.lower()
        if not is_name(key):
            span = Source(name, "NAME=VALUE").span()
            raise InvalidTransform(fault("macro-name", f"invalid attribute name '{name}'", span))
        self.macros[key] = value

    def add_file(self, source: Source) -> None:
        """Add a rules file. One without any command may only define knobs for the next ones.

        Raises InvalidTransform for rules that HTCondor does not load, and after rules that iterate.
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
        """Report which files were dropped, but use them if nothing else is there.

        condor_transform_ads reads a file as configuration if its check on loading reaches no command: if the first is
        wrong, or all depend on the ad. Raises InvalidTransform if there is nothing to apply.
        """
        if not self.transforms:
            self.transforms += [each for each in self._left_out if not each.faults]
        if not self.transforms:
            why = "no transform rules are left" if self._left_out else "no transform rules specified"
            raise InvalidTransform(fault("no-rules", why, Source("", "rules").span()))
        for transform in self._left_out:
            if transform not in self.transforms:
                message = f"{transform.name} is ignored: condor_transform_ads reads it as configuration"
                help_text = "a command that runs without an ad, before any other line, makes it a transform"
                self.diagnostics.append(warning("left-out", message, transform.source.span(0, 0), help_text))
        self.diagnostics += as_warnings(find_circles(self.transforms, self.facts))

    def add_knobs(self, prefix: str, names: str) -> None:
        """Add the rules of knobs whose names are separated by commas or blanks.

        A knob that is missing, empty or invalid is dropped and reported, as by HTCondor. As in condor_transform_ads
        only the last of them may iterate, and only the last is dropped if its check on loading reaches no command.
        Raises InvalidTransform after rules that iterate.
        """
        given = re.findall(r"[^, \t\r\n]+", names)
        self._check_last(prefix + (given[0] if given else ""))
        begin = len(self.transforms)
        for name in given:
            self._add_knob(prefix, name)
        for number in range(begin, len(self.transforms) - 1):
            if (each := self.transforms[number]).iterates:
                message = f"TRANSFORM of {each.name} has no effect: HTCondor only uses that of the last transform"
                ignored = warning("transform-ignored", message, each.source.span(0, 0), "put it last")
                self.diagnostics.append(ignored)
                self.transforms[number] = each.once()
        last = self.transforms[-1] if len(self.transforms) > begin else None
        if last is not None and not last.iterates and not last.reached:
            self._left_out += [self.transforms.pop()] if last.has_commands else []

    def _add_knob(self, prefix: str, name: str) -> None:
        knob = prefix + name
        text = self._known.get(knob.lower(), self.facts.knobs.get(knob.lower()))
        source = Source(text or "", knob)
        if not (text or "").strip():
            what = "is not defined" if text is None else "is empty"
            self.diagnostics.append(warning("knob", f"{knob} {what}: it is ignored", source.span()))
            return
        if source.text.lstrip().startswith("["):
            message = f"{knob} is written as a ClassAd, which HTCondor 25 no longer accepts: it is ignored"
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
        """Return what a check on loading sees, including definitions of the files before."""
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
