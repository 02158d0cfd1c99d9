"""Transforms: compiled once, applied to many ads.

HTCondor: MacroStreamXFormSource, ValidateXForm, TransformClassAd.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from crondor._types import Made
from crondor.classad.ad import ClassAd
from crondor.classad.operators import truth
from crondor.classad.scope import Attributes, Context
from crondor.diagnostics import Diagnostic, Severity, Source, Span
from crondor.macro import LogicalLine, MacroError
from crondor.macro.expand import MacroKind, Scanner
from crondor.macro.reader import split
from crondor.transform.apply import Changes, RunnableLine, TransformRun, definitions
from crondor.transform.commands import LineFault
from crondor.transform.expressions import (
    MOST,
    NOTHING,
    Evaluation,
    InvalidTransform,
    Stop,
    TraceStep,
    TransformFacts,
    check_text,
    fault,
    macro_fault,
    warning,
)
from crondor.transform.plan import NamePlan, Plans, Unplanned
from crondor.transform.program import (
    IteratedItems,
    Iteration,
    Requirements,
    RuleSource,
    TransformProgram,
    read_items,
    read_program,
)
from crondor.transform.statements import Condition, Heredoc, Hidden, compile_line, find_hidden_faults, find_traps

MOST_ADS = 100_000
MOST_KEPT = 1 << 28
"""Characters of names and values that a result may hold together."""

_NO_CONTEXT = Context()


class TransformOutcome(NamedTuple):
    """The result for one ad in one round: the new ad, None if a transform failed.

    ``applied`` are the names of the transforms whose REQUIREMENTS it met, ``trace`` what they did (empty unless
    requested), ``diagnostics`` the failures: an ERROR ended the transform, a WARNING was skipped.
    """

    before: ClassAd
    ad: ClassAd | None
    applied: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    trace: tuple[TraceStep, ...]

    @property
    def changes(self) -> Changes:
        """The differences between the old and new ad; ``changes.undo(ad)`` reverts them."""
        return Changes(self.before, self.before if self.ad is None else self.ad)


@dataclass(frozen=True)
class TransformResult:
    """The result for one ad: one outcome, or one for each round of a transform that iterates."""

    outcomes: tuple[TransformOutcome, ...]

    @property
    def failed(self) -> bool:
        """Whether a transform failed; the ads made before are kept."""
        return any(outcome.ad is None for outcome in self.outcomes)

    @property
    def ads(self) -> tuple[ClassAd, ...]:
        """The new ads."""
        return tuple(outcome.ad for outcome in self.outcomes if outcome.ad is not None)

    @property
    def ad(self) -> ClassAd:
        """The only new ad. Raises InvalidTransform if a transform failed, ValueError if there are more ads."""
        if self.failed:
            raise InvalidTransform(each for each in self.diagnostics if each.severity is Severity.ERROR)
        if len(self.outcomes) != 1:
            raise ValueError(f"the transform made {len(self.outcomes)} ads of one")
        return self.ads[0]

    @property
    def changes(self) -> Changes:
        """The changes of the only new ad; raises like ``ad``."""
        return Changes(self.outcomes[0].before, self.ad)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The failures of all rounds."""
        return tuple(each for outcome in self.outcomes for each in outcome.diagnostics)

    @property
    def trace(self) -> tuple[TraceStep, ...]:
        """What was done, in all rounds."""
        return tuple(each for outcome in self.outcomes for each in outcome.trace)


class Transform(Made):
    """A compiled transform. ``name`` is its NAME, else that of its source or the one given.

    ``requirements`` are the condition for an ad, None: every ad is transformed. ``universe`` is the text of UNIVERSE,
    which only the job router uses. ``faults`` are those that HTCondor finds on loading, ``warnings`` likely surprises;
    ``reached`` is the number of commands that this check reached before the first fault.
    """

    def __init__(self, program: TransformProgram, facts: TransformFacts) -> None:
        """Compile; use ``parse`` instead."""
        self._made = program, facts
        self.source = program.source
        self.name: str = program.name
        self.requirements: Requirements | None = program.requirements
        self.universe: str | None = program.universe
        required = program.requirements
        self._asks = None if required is None else Evaluation(required.expression.code)
        self._iteration: Iteration | None = program.iteration
        self._statements = [compile_line(line) for line in program.lines]
        self._is_straight = not any(isinstance(each, (Condition, Heredoc, Hidden)) for each in self._statements)
        self._plans = Plans(self._statements) if self._is_straight else None
        self.reached = 0
        found = list(program.diagnostics)
        if not program.is_broken:
            run = TransformRun(None, facts, {}, facts.defaults(iterates=self.iterates))
            found += run.check(self._statements)
            found += run.found
            self.reached = run.reached
        if len(found) < MOST:
            found += islice(find_hidden_faults(self._statements, found), MOST)
        found += islice(find_traps(self._statements), MOST)
        found = list(dict.fromkeys(found))
        self.faults = tuple(each for each in found if each.severity is Severity.ERROR)
        self.warnings = tuple(each for each in found if each.severity is not Severity.ERROR)

    @classmethod
    def parse(
        cls,
        source: Source | str,
        *,
        name: str = "",
        form: RuleSource = RuleSource.FILE,
        facts: TransformFacts = NOTHING,
        strict: bool = True,
        lines: Sequence[LogicalLine] = (),
    ) -> Transform:
        """Compile rules.

        ``name`` is used if they have no NAME (for a KNOB always). ``facts`` has the knobs for conditions on loading.
        ``lines`` are those of a KNOB in the file that sets it, so that findings have their place. Raises
        InvalidTransform with all faults at which HTCondor's own check on loading would stop one by one; with ``strict``
        false only if there is nothing to run: like in condor_transform_ads, a transform with faults then fails when an
        ad reaches one.
        """
        text = Source(source) if isinstance(source, str) else source
        check_text(text)
        program = read_program(text, form, name, lines)
        made = cls(program._replace(name=program.name or text.name), facts)
        if made.faults and (strict or program.is_broken):
            raise InvalidTransform(made.faults)
        return made

    @property
    def iterates(self) -> bool:
        """Whether a TRANSFORM asks for more than one round."""
        return self._iteration is not None

    def once(self) -> Transform:
        """Return the transform without its TRANSFORM."""
        program, facts = self._made
        made = Transform.__new__(Transform)
        vars(made).update(vars(self), _made=(program._replace(iteration=None), facts), _iteration=None)
        return made

    def __repr__(self) -> str:
        return f"<Transform {self.name!r}, {len(self._statements)} lines>"

    def _made_of(self) -> tuple[object, ...]:
        return self._made

    @property
    def lines(self) -> tuple[LogicalLine, ...]:
        """The lines that are run: all but NAME, REQUIREMENTS, UNIVERSE and TRANSFORM."""
        return tuple(each.line for each in self._statements)

    @property
    def has_commands(self) -> bool:
        """Whether any line is a command, or meant as one."""
        return any(each.is_command or isinstance(each, LineFault) for each in self._statements)

    def definitions(self, facts: TransformFacts = NOTHING) -> dict[str, str]:
        """Return the definitions of the lines when loaded without an ad, by lower-case name.

        Used for a configuration of assignments, and for settings of a route (MaxJobs, GridResource).
        """
        return definitions(self._statements, facts)

    def matches(self, ad: Attributes, context: Context | None = None) -> bool:
        """Return whether an ad meets REQUIREMENTS: true or a nonzero number; no REQUIREMENTS at all count as met."""
        if self._asks is None:
            return True
        value = self._asks.value(ad, context or _NO_CONTEXT)
        return value is None or truth(value) is True

    def apply(
        self, ad: ClassAd, facts: TransformFacts = NOTHING, *, macros: dict[str, str] | None = None, trace: bool = False
    ) -> TransformResult:
        """Transform an ad, which stays unchanged.

        ``macros`` are those of the transforms before, by lower-case name; this one's definitions are added.
        """
        return apply_all((self,), ad, facts, macros=macros, trace=trace)

    def items(
        self, facts: TransformFacts, macros: dict[str, str], found: list[Diagnostic], most: int | None
    ) -> IteratedItems:
        """Return the items of a TRANSFORM; ``found`` takes its failures, and its patterns that match no file.

        Raises Stop, also if it makes more than ``most`` ads of each ad.
        """
        of = self._iteration
        if of is None:
            return IteratedItems(1, (), (), is_once=True)
        without_knobs = TransformFacts(environ=facts.environ, context=facts.context)
        run = TransformRun(None, without_knobs, macros, facts.defaults(iterates=True))
        run.line = RunnableLine(of.line)
        try:
            text = run.expand(of.text)
        except MacroError as error:
            raise macro_fault(error, of.span) from None
        found += run.found
        items = read_items(of, text, facts.files)
        if most is not None and items.total > most:
            message = f"this TRANSFORM makes {items.total:,} ads of each ad that is read; the bound is {most:,}"
            help_text = f"write a smaller number, or raise the bound: --max-ads {items.total}"
            raise Stop(fault("too-many-ads", message, of.span, help_text))
        found += [warning("no-match", f"'{each}' does not match any files", of.span) for each in items.missing]
        return items

    def plan(self, plan: NamePlan) -> None:
        """Add the effects of the lines to a plan. Raises Unplanned if they cannot be known in advance."""
        if not self._is_straight:
            raise Unplanned
        plan.add(self._statements)

    def run(self, run: TransformRun) -> Diagnostic | None:
        """Run the lines on the ad of a run, which is changed; return why they ended early, None if they did not."""
        if self._plans is not None and self._plans.run(run):
            return None
        return run.apply(self._statements, is_straight=self._is_straight)


class Chain:
    """Transforms in a row, applied to one ad after the other. ``macros`` is shared and stays between ads.

    ``made`` counts the characters of names and values made in all rounds so far. ``most`` is how many ads a TRANSFORM
    may make of one (None: any number); one that requests more fails before its first round. Raises InvalidTransform if
    a transform that iterates is not the last.
    """

    def __init__(
        self,
        transforms: Iterable[Transform],
        facts: TransformFacts = NOTHING,
        macros: dict[str, str] | None = None,
        *,
        most: int | None = None,
    ) -> None:
        self._most = most
        self.transforms = tuple(transforms)
        for transform in self.transforms[:-1]:
            if transform.iterates:
                message = f"Error at {self.transforms[-1].name}. Previous transform was an iterating transform"
                raise InvalidTransform(fault("iterates", message, transform.source.span(0, 0), "put it last"))
        self.facts = facts
        self.macros = {} if macros is None else macros
        self.last = self.transforms[-1] if self.transforms and self.transforms[-1].iterates else None
        self.made = 0
        self._defaults = facts.defaults(iterates=self.last is not None)

    def rounds(self, ad: ClassAd, *, trace: bool = False) -> Iterator[TransformOutcome]:
        """Apply the transforms to an ad, and yield the outcome of each round; a failed one is the last.

        The ad itself stays unchanged. If the last transform iterates, each round begins with the original ad, and with
        the macros at the beginning of its row.
        """
        last = self.last
        if last is None:
            yield self._round(ad, self._defaults, trace=trace)
            return
        found: list[Diagnostic] = []
        try:
            items = last.items(self.facts, self.macros, found, self._most)
        except Stop as stop:
            yield TransformOutcome(ad, None, (), (*found, stop.diagnostic), ())
            return
        missing = tuple(found)
        kept = dict(self.macros)
        count = 0
        for row, step, text in items.rounds():
            if step == 0:
                self._set(kept, items.values(text))
            outcome = self._round(ad, self._live(step, row, count), trace=trace)
            yield outcome._replace(diagnostics=missing + outcome.diagnostics)
            count, missing = count + 1, ()
            if outcome.ad is None:
                break
        if not count:
            self._set(kept, items.values(None))
            outcome = self._round(ad, self._live(0, 0, 0, iterates=not items.is_once), trace=trace)
            yield outcome._replace(diagnostics=missing + outcome.diagnostics)
        self._set(kept, {})

    def _set(self, kept: Mapping[str, str], more: Mapping[str, str]) -> None:
        self.macros.clear()
        self.macros.update(kept)
        self.macros.update(more)

    def _live(self, step: int, row: int, count: int, *, iterates: bool = True) -> Mapping[str, str]:
        values = {"step": step, "row": row, "itemindex": row, "xformid": count, "iterating": int(iterates)}
        return {**self._defaults, **{name: str(value) for name, value in values.items()}}

    def _round(self, ad: ClassAd, defaults: Mapping[str, str], *, trace: bool) -> TransformOutcome:
        """Apply the transforms to a copy of an ad; after a failed one the others still run."""
        facts, failed = self.facts, False
        made = ad.copy()
        run = TransformRun(made, facts, self.macros, defaults, [] if trace else None)
        applied: list[str] = []
        for transform in self.transforms:
            if transform.matches(made, facts.context):
                applied.append(transform.name)
                ended = transform.run(run)
                if ended is not None:
                    run.found.append(ended)
                    failed = True
        self.made += run.made
        return TransformOutcome(ad, None if failed else made, tuple(applied), tuple(run.found), tuple(run.steps or ()))


def transform_ads(
    transforms: Iterable[Transform],
    ads: Iterable[ClassAd],
    facts: TransformFacts = NOTHING,
    *,
    macros: Mapping[str, str] | None = None,
    trace: bool = False,
    most: int | None = None,
) -> Iterator[TransformOutcome]:
    """Apply transforms in a row to many ads, and yield the outcomes; each ad begins with ``macros``.

    ``most`` is how many ads a TRANSFORM may make of one (None: any number). Like condor_transform_ads it ends after a
    failed transform. Raises InvalidTransform if a transform that iterates is not the last.
    """
    chain = Chain(transforms, facts, most=most)
    for ad in ads:
        chain.macros.clear()
        if macros:
            chain.macros.update(macros)
        for outcome in chain.rounds(ad, trace=trace):
            yield outcome
            if outcome.ad is None:
                return


def apply_all(
    transforms: Iterable[Transform],
    ad: ClassAd,
    facts: TransformFacts = NOTHING,
    *,
    macros: dict[str, str] | None = None,
    trace: bool = False,
) -> TransformResult:
    """Apply transforms in a row to an ad, which stays unchanged, and return all outcomes.

    Raises InvalidTransform if a transform that iterates is not the last, and for more than MOST_ADS ads, or more than
    MOST_KEPT characters in them.
    """
    outcomes: list[TransformOutcome] = []
    chain = Chain(transforms, facts, macros)
    for outcome in chain.rounds(ad, trace=trace):
        outcomes.append(outcome)
        if len(outcomes) > MOST_ADS or (len(outcomes) > 1 and chain.made > MOST_KEPT):
            most = f"{MOST_ADS} ads" if len(outcomes) > MOST_ADS else f"{MOST_KEPT} characters"
            message = f"the transform makes more than {most} of one ad; Chain.rounds() gives them one by one"
            raise InvalidTransform(Diagnostic("too-many-ads", message))
    return TransformResult(tuple(outcomes))


_EVALUATED = re.compile(r"[ \t]*EVALMACRO[ \t]+([^ \t]+)", re.IGNORECASE)
_CONDITION = re.compile(r"[ \t]*(?:if|elif)[ \t]+(?:![ \t]*)?defined[ \t]+([\w.]+)", re.IGNORECASE)
_ARGUMENT = re.compile(r"\$(?:INT|REAL|STRING|EVAL|CHOICE|SUBSTR|BASENAME|DIRNAME|F[pndxfqabuw]*)\(([A-Za-z_][\w.]*)")


class VariableRead(NamedTuple):
    """A variable that a line reads: its lower-case name, its place, and its default.

    ``default`` None: it has none. ``is_asked``: the line only tests whether it is defined.
    """

    name: str
    span: Span
    default: str | None = None
    is_asked: bool = False


def defined_by(line: LogicalLine) -> str | None:
    """Return the lower-case name that a line defines, by an assignment or EVALMACRO; None if it defines none."""
    parts = split(line.text.removeprefix(":"))
    if parts.operator in {"=", "+=", "@="} and not parts.is_sentence:
        return f"my.{parts.name[1:].lower()}" if parts.name[:1] in {"+", "-"} else parts.name.lower()
    found = _EVALUATED.match(line.text)
    return found[1].strip('",=').lower() if found is not None else None


def read_by(line: LogicalLine) -> Iterator[VariableRead]:
    """Yield the variables that a line reads; ``$(MY.name)`` is an attribute and not included."""
    for found in _reads(line):
        if not found.name.startswith("my."):
            yield found


def _reads(line: LogicalLine) -> Iterator[VariableRead]:
    asked = _CONDITION.match(line.text)
    if asked is not None and not asked[1].isdigit():
        yield VariableRead(asked[1].lower(), line.span(*asked.span(1)), is_asked=True)
    for found in _ARGUMENT.finditer(line.text):
        yield VariableRead(found[1].lower(), line.span(*found.span(1)))
    at = line.text.find("$")
    scanner = Scanner(line.text)
    while at >= 0:
        macro = scanner.scan(at)
        if macro.kind is MacroKind.MACRO and macro.name:
            default = line.text[macro.default : macro.end - 1] if macro.default >= 0 else None
            yield VariableRead(macro.name, line.span(macro.at, macro.end), default)
        at = line.text.find("$", max(macro.resume, at + 1))


def from_outside(transform: Transform) -> dict[str, VariableRead]:
    """Return the variables that a transform reads before it defines them, by name, in the order of its lines.

    If the first use has a default, or is in a condition, that one is kept.
    """
    own: set[str] = set()
    found: dict[str, VariableRead] = {}
    for line in transform.lines:
        for each in read_by(line):
            if each.name not in own and (each.name not in found or (found[each.name].is_asked and not each.is_asked)):
                found[each.name] = each
        if (name := defined_by(line)) is not None:
            own.add(name)
    return found
