"""Transforms: compiled once, applied to many ads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from crondor.classad.ad import ClassAd
from crondor.classad.errors import EvaluationFailed
from crondor.classad.evaluate import value_of
from crondor.classad.operators import truth
from crondor.classad.scope import Context
from crondor.diagnostics import Diagnostic, Severity
from crondor.macro import Budget, MacroError, expand
from crondor.source import Source
from crondor.transform.apply import Run
from crondor.transform.commands import Fault
from crondor.transform.errors import InvalidTransform, Stop, fault, warning
from crondor.transform.facts import NOTHING, Facts
from crondor.transform.iterate import Items, read_items
from crondor.transform.program import Form, Iteration, Program, Requirements, read_program
from crondor.transform.statements import Condition, Heredoc, Hidden, compile_line, macro_fault
from crondor.transform.trace import Step
from crondor.transform.traps import find_traps
from crondor.transform.undo import Changes

MOST_ADS = 100_000


@dataclass(frozen=True)
class Outcome:
    """What became of one ad in one round: the new ad, None where a transform failed.

    ``applied`` are the names of the transforms whose REQUIREMENTS it met, ``trace`` what they did (empty unless asked
    for), ``diagnostics`` the failures: an ERROR ended the transform, a WARNING was passed over.
    """

    before: ClassAd
    ad: ClassAd | None
    applied: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    trace: tuple[Step, ...]

    @property
    def changes(self) -> Changes:
        """What differs between the ad as it was and as it is; ``changes.undo(ad)`` takes it back."""
        return Changes(self.before, self.before if self.ad is None else self.ad)


@dataclass(frozen=True)
class Result:
    """What became of one ad: one outcome, or one for each round of a transform that iterates."""

    outcomes: tuple[Outcome, ...]

    @property
    def failed(self) -> bool:
        """Whether a transform failed; the ads made before it did are there."""
        return any(outcome.ad is None for outcome in self.outcomes)

    @property
    def ads(self) -> tuple[ClassAd, ...]:
        """The new ads."""
        return tuple(outcome.ad for outcome in self.outcomes if outcome.ad is not None)

    @property
    def ad(self) -> ClassAd:
        """The only new ad. Raises InvalidTransform where a transform failed, ValueError where there are more ads."""
        if self.failed:
            raise InvalidTransform(each for each in self.diagnostics if each.severity is Severity.ERROR)
        if len(self.outcomes) != 1:
            raise ValueError(f"the transform made {len(self.outcomes)} ads of one")
        return self.ads[0]

    @property
    def changes(self) -> Changes:
        """The changes of the only new ad; raises as ``ad`` does."""
        return Changes(self.outcomes[0].before, self.ad)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The failures of all rounds."""
        return tuple(each for outcome in self.outcomes for each in outcome.diagnostics)

    @property
    def trace(self) -> tuple[Step, ...]:
        """What was done, in all rounds."""
        return tuple(each for outcome in self.outcomes for each in outcome.trace)


class Transform:
    """A compiled transform. ``name`` is its NAME, else that of its source or the one given.

    ``requirements`` are what an ad must meet, None: every ad is transformed. ``universe`` is the text of UNIVERSE,
    which concerns the job router alone. ``faults`` are what HTCondor finds on loading, ``warnings`` what will
    surprise; ``reached`` is the number of commands that this check came to before the first fault.
    """

    __slots__ = (
        "_is_straight",
        "_iteration",
        "_statements",
        "faults",
        "name",
        "reached",
        "requirements",
        "source",
        "universe",
        "warnings",
    )

    def __init__(self, program: Program, facts: Facts) -> None:
        """Compile; ``parse`` is the way here."""
        self.source = program.source
        self.name: str = program.name
        self.requirements: Requirements | None = program.requirements
        self.universe: str | None = program.universe
        self._iteration: Iteration | None = program.iteration
        self._statements = [compile_line(line) for line in program.lines]
        self._is_straight = not any(isinstance(each, (Condition, Heredoc, Hidden)) for each in self._statements)
        self.reached = 0
        found = list(program.diagnostics)
        if not program.is_broken:
            run = Run(self._statements, None, facts, {}, facts.defaults(iterates=self.iterates), Budget())
            found += run.check()
            found += run.found
            self.reached = run.reached
        found += find_traps(self._statements)
        found = list(dict.fromkeys(found))
        self.faults = tuple(each for each in found if each.severity is Severity.ERROR)
        self.warnings = tuple(each for each in found if each.severity is not Severity.ERROR)

    @classmethod
    def parse(
        cls,
        source: Source | str,
        *,
        name: str = "",
        form: Form = Form.FILE,
        facts: Facts = NOTHING,
        strict: bool = True,
    ) -> Transform:
        """Compile rules.

        ``name`` is what they are called where they have no NAME (of a KNOB: whatever NAME says). ``facts`` has the
        knobs that conditions may look at on loading. Raises InvalidTransform with all faults that HTCondor's own
        check on loading would stop at one by one; with ``strict`` false only where there is nothing to run: like
        condor_transform_ads, a transform with faults then fails where an ad leads to one.
        """
        text = Source(source) if isinstance(source, str) else source
        nul = text.text.find("\0")
        if nul >= 0:
            raise InvalidTransform(fault("not-text", "rules are text, and this has a NUL", text.span(nul, nul + 1)))
        program = read_program(text, form, name)
        made = cls(program._replace(name=program.name or text.name), facts)
        if made.faults and (strict or program.is_broken):
            raise InvalidTransform(made.faults)
        return made

    @property
    def iterates(self) -> bool:
        """Whether a TRANSFORM asks for more than one round."""
        return self._iteration is not None

    @property
    def has_commands(self) -> bool:
        """Whether any line is a command, or is meant for one."""
        return any(each.is_command or isinstance(each, Fault) for each in self._statements)

    def matches(self, ad: ClassAd, context: Context | None = None) -> bool:
        """Say whether an ad meets REQUIREMENTS: true, or a number that is not zero; no value at all counts as met."""
        if self.requirements is None:
            return True
        try:
            return truth(value_of(self.requirements.expression.code, ad, None, context or Context())) is True
        except EvaluationFailed:
            return True

    def apply(
        self, ad: ClassAd, facts: Facts = NOTHING, *, macros: dict[str, str] | None = None, trace: bool = False
    ) -> Result:
        """Transform an ad, which itself stays as it is.

        ``macros`` are those of the transforms before, by lower-case name; what this one defines is added.
        """
        return apply_all((self,), ad, facts, macros=macros, trace=trace)

    def items(self, facts: Facts, macros: dict[str, str]) -> Items:
        """Return what a TRANSFORM goes over. Raises Stop."""
        if self._iteration is None:
            return Items(1, (), (), is_once=True)
        defaults = facts.defaults(iterates=True)

        def lookup(key: str) -> str | None:
            return macros.get(key, defaults.get(key))

        try:
            text = expand(self._iteration.text, lookup, Budget())
        except MacroError as error:
            raise macro_fault(error, self._iteration.span) from None
        return read_items(self._iteration, text, facts.files)

    def missing(self, items: Items) -> list[Diagnostic]:
        """Return warnings for patterns of TRANSFORM ... MATCHING that match no file."""
        of = self._iteration
        if of is None:
            return []
        return [warning("no-match", f"'{each}' does not match any files", of.span) for each in items.missing]

    def run(self, ad: ClassAd, state: Chain) -> Diagnostic | None:
        """Run the lines on an ad, which is changed; return why they ended, None if they did not."""
        run = Run(self._statements, ad, state.facts, state.macros, state.defaults, state.budget, state.steps)
        ended = run.apply(is_straight=self._is_straight)
        state.found += run.found
        if ended is not None:
            state.found.append(ended)
        return ended


@dataclass
class Chain:
    """What transforms in a row share."""

    facts: Facts
    macros: dict[str, str]
    steps: list[Step] | None
    defaults: Mapping[str, str]
    found: list[Diagnostic] = field(default_factory=list)
    budget: Budget = field(default_factory=Budget)

    def live(self, values: Mapping[str, int]) -> None:
        """Give the macros of the present round their values."""
        self.defaults = {**self.defaults, **{name: str(value) for name, value in values.items()}}

    def round(self, transforms: Sequence[Transform], ad: ClassAd) -> Outcome:
        """Apply transforms to a copy of an ad; a failed one does not keep those behind it from running."""
        made, applied, failed = ad.copy(), [], False
        for transform in transforms:
            if transform.matches(made, self.facts.context):
                applied.append(transform.name)
                failed = transform.run(made, self) is not None or failed
        steps, found = tuple(self.steps or ()), tuple(self.found)
        self.found = []
        if self.steps is not None:
            self.steps.clear()
        return Outcome(ad, None if failed else made, tuple(applied), found, steps)


def each_round(
    transforms: Sequence[Transform],
    ad: ClassAd,
    facts: Facts = NOTHING,
    *,
    macros: dict[str, str] | None = None,
    trace: bool = False,
) -> Iterator[Outcome]:
    """Apply transforms in a row to an ad, and yield the outcome of each round as it is made; a failed one is the last.

    Only the last transform may iterate: each round begins with the ad as it was, and with the macros as they were at
    the beginning of its row. Raises InvalidTransform where another one iterates.
    """
    for transform in transforms[:-1]:
        if transform.iterates:
            message = f"Error at {transforms[-1].name}. Previous transform was an iterating transform"
            raise InvalidTransform(fault("iterates", message, transform.source.span(0, 0), "put it last"))
    table = {} if macros is None else macros
    last = transforms[-1] if transforms else None
    iterates = last is not None and last.iterates
    chain = Chain(facts, table, [] if trace else None, facts.defaults(iterates=iterates))
    if last is None or not last.iterates:
        yield chain.round(transforms, ad)
        return
    try:
        items = last.items(facts, table)
    except Stop as stop:
        yield Outcome(ad, None, (), (stop.diagnostic,), ())
        return
    chain.found += last.missing(items)
    yield from _rounds(transforms, ad, chain, items)


def _rounds(transforms: Sequence[Transform], ad: ClassAd, chain: Chain, items: Items) -> Iterator[Outcome]:
    kept = dict(chain.macros)
    count = 0
    for row, step, text in items.rounds():
        if step == 0:
            chain.macros.clear()
            chain.macros.update(kept)
            chain.macros.update(items.values(text))
        live = {"step": step, "row": row, "itemindex": row, "xformid": count, "iterating": 1}
        chain.live(live)
        chain.budget = Budget()
        outcome = chain.round(transforms, ad)
        yield outcome
        count += 1
        if outcome.ad is None:
            break
    if not count:
        live = {"step": 0, "row": 0, "itemindex": 0, "xformid": 0, "iterating": 0 if items.is_once else 1}
        chain.live(live)
        chain.macros.update(items.values(None))
        yield chain.round(transforms, ad)
    chain.macros.clear()
    chain.macros.update(kept)


def apply_all(
    transforms: Iterable[Transform],
    ad: ClassAd,
    facts: Facts = NOTHING,
    *,
    macros: dict[str, str] | None = None,
    trace: bool = False,
) -> Result:
    """Apply transforms in a row to an ad, which itself stays as it is, and return all outcomes.

    Raises InvalidTransform where a transform that iterates is not the last, and for more than MOST_ADS ads.
    """
    outcomes: list[Outcome] = []
    for outcome in each_round(tuple(transforms), ad, facts, macros=macros, trace=trace):
        outcomes.append(outcome)
        if len(outcomes) > MOST_ADS:
            message = f"the transform makes more than {MOST_ADS} ads of one; each_round() gives them one by one"
            raise InvalidTransform(Diagnostic("too-many-ads", message))
    return Result(tuple(outcomes))
