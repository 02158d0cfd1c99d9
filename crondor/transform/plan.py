"""The effect of a transform on all ads with the same names: computed once, so that only expressions are moved.

Ads of one text share the mapping of their names (ClassAd.of). For such a mapping the names that commands make, move and
delete are the same in each ad; the rest is a list of steps on the expressions. If anything differs (a command that
fails, a macro with macros inside), the lines are run one by one instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

from crondor.classad.printing import Spelling
from crondor.classad.scope import Code
from crondor.classad.text import lower
from crondor.macro import MacroError
from crondor.transform.apply import PREFIX, SHORT, RunnableLine, TransformRun, price
from crondor.transform.commands import ByPattern, Delete, EvalMacro, EvalSet, Move, NamedCommand, Nothing, Set
from crondor.transform.expressions import Evaluation, Stop, as_macro, evaluation, settled, stored
from crondor.transform.statements import Assignment

_Step = Callable[[TransformRun, "dict[str, Code | str]"], None]
_MOST_NAMES = 1000
_MOST_PLANS = 64
_MOST_TRUST = 64
_MOST_COPIED = 1 << 16
_MOST_FILLED = 1 << 20
_PRICE = 4  # planned ads needed per failed one, or the plan is dropped


class Unplanned(Exception):
    """The effect of the lines is not known in advance."""


def _refuse(_text: str) -> NoReturn:
    raise Unplanned


class NamePlan:
    """Steps for ads with certain names, and ``after``, the names of these ads afterwards.

    A step is a dict of expressions to set, or a function of a run and the expressions of its ad.
    """

    def __init__(self, names: dict[str, str]) -> None:
        self._before = self._shared = names  # kept, so that its id is not reused
        self._names = names.copy()
        self._defined: dict[str, str] = {}  # macros that have the same text in each run
        self._steps: list[_Step | dict[str, Code | str]] = []
        self._fixed = 0  # the price of what each run sets to the same
        self._copied = 0  # names that were copied for expressions to look at
        self._filled = 0  # characters of texts with macros that are the same in each run
        self.after = names
        self.trust = _MOST_TRUST

    def run(self, run: TransformRun, codes: dict[str, Code | str]) -> None:
        """Apply the steps to the ad of a run, which has these expressions. Raises Unplanned, and errors of lines.

        The names of the ad must then be set to ``after``.
        """
        run.made += self._fixed
        for step in self._steps:
            if step.__class__ is dict:
                codes.update(step)
            else:
                step(run, codes)  # type: ignore[operator]
        run.charge(0)

    def add(self, statements: Sequence[RunnableLine]) -> None:
        """Add the steps of lines. After Unplanned the plan is unusable."""
        for statement in statements:
            self._plan(statement)

    def close(self) -> NamePlan:
        """Finish the names, and return this plan, which is then complete."""
        self.after = Spelling(self._names)
        return self

    def put(self, name: str, code: Code | str) -> None:
        """Set an attribute; an existing one keeps its spelling and its place."""
        key = lower(name)
        self._names.setdefault(key, name)
        if not (self._steps and isinstance(self._steps[-1], dict)):
            self._steps.append({})
        last = self._steps[-1]
        if isinstance(last, dict):
            last[key] = code
        self._fixed += price(name, code)

    def delete(self, name: str) -> None:
        """Delete an attribute, if there is one of that name."""
        self._move("DELETE", lower(name), "")

    def copy(self, name: str, new: str) -> None:
        """Set an attribute to the expression of another, if there is one of that name."""
        self._move("COPY", lower(name), new)

    def _plan(self, statement: RunnableLine) -> None:
        if isinstance(statement, NamedCommand):
            self._command(statement)
        elif isinstance(statement, Assignment):
            if not statement.key or statement.key.startswith(PREFIX) or len(statement.text) > SHORT:
                raise Unplanned
            self._defined[statement.key] = statement.text
            self._fixed += price(statement.key, statement.text)
            self._steps.append(_define(statement.key, statement.text))
        elif not isinstance(statement, Nothing):
            raise Unplanned

    def _command(self, command: NamedCommand) -> None:
        if isinstance(command, Set):
            self._set(command)
        elif isinstance(command, EvalSet):
            self._evaluate(command, _evalset)
            self._names.setdefault(command.key, command.name)
        elif isinstance(command, EvalMacro) and not command.key.startswith(PREFIX):
            self._evaluate(command, _evalmacro)
            self._defined.pop(command.key, None)
        elif isinstance(command, Delete):
            self._move("DELETE", command.key, "")
        elif isinstance(command, Move) and command.new:
            self._move(command.keyword, command.key, command.rest.text)
        else:
            moves = command.moves(tuple(self._names.values())) if isinstance(command, ByPattern) else None
            if moves is None:
                raise Unplanned
            for key, new in moves:
                self._move(command.keyword, key, new)

    def _set(self, command: Set) -> None:
        key, rest, fixed = command.key, command.rest, command.fixed
        keeps = command.keyword == "DEFAULT" and key in self._names
        if not command.name or (fixed is None and not rest.is_simple):
            raise Unplanned
        if fixed is None and rest.asks_only(self._defined):
            fixed = settled(rest.fill(self._defined.get, _refuse))
            self._filled += 0 if fixed is None else len(fixed)
            if fixed is None or self._filled > _MOST_FILLED:
                raise Unplanned
        if fixed is not None:
            if not keeps:
                self.put(command.name, fixed)
            return
        self._names.setdefault(key, command.name)

        def put(run: TransformRun, codes: dict[str, Code | str]) -> None:
            text = settled(rest.fill(run.lookup, _refuse))
            if keeps:
                return
            if text is None:
                raise Unplanned
            run.charge(price(key, text))
            codes[key] = text

        self._steps.append(put)

    def _evaluate(
        self, command: EvalSet | EvalMacro, made: Callable[[str, Evaluation | None, NamedCommand], _Step]
    ) -> None:
        known, rest = command.evaluated, command.rest
        if not command.name or (known is None and not rest.is_simple):
            raise Unplanned
        if [*self._names.items()] != [*self._shared.items()]:
            self._copied += len(self._names)
            if self._copied > _MOST_COPIED:
                raise Unplanned
            self._shared = self._names.copy()
            self._steps.append(_share(self._shared))
        self._steps.append(made(command.key, known, command))

    def _move(self, keyword: str, key: str, name: str) -> None:
        if key not in self._names:
            return
        new = name.lower()
        if keyword != "COPY":
            del self._names[key]
        if keyword != "DELETE":
            self._names.setdefault(new, name)
        self._steps.append(_drop(key) if keyword == "DELETE" else _moved(keyword, key, new))


def _define(key: str, text: str) -> _Step:
    def define(run: TransformRun, _codes: dict[str, Code | str]) -> None:
        run.macros[key] = text

    return define


def _drop(key: str) -> _Step:
    def drop(_run: TransformRun, codes: dict[str, Code | str]) -> None:
        del codes[key]

    return drop


def _moved(keyword: str, key: str, new: str) -> _Step:
    known = price(new, "")
    keeps = keyword == "COPY"

    def move(run: TransformRun, codes: dict[str, Code | str]) -> None:
        code = codes[new] = codes[key] if keeps else codes.pop(key)
        run.made += known + len(code) if isinstance(code, str) else price(new, code)

    return move


def _share(names: dict[str, str]) -> _Step:
    def share(run: TransformRun, _codes: dict[str, Code | str]) -> None:
        run.ad.share_names(names)

    return share


def _evalset(key: str, known: Evaluation | None, command: NamedCommand) -> _Step:
    rest = command.rest

    def evalset(run: TransformRun, codes: dict[str, Code | str]) -> None:
        of = known or evaluation(rest.fill(run.lookup, _refuse))
        value = run.value(of, codes)
        if value is None:
            raise Unplanned
        text = stored(value)
        run.charge(price(key, text))
        codes[key] = text

    return evalset


def _evalmacro(key: str, known: Evaluation | None, command: NamedCommand) -> _Step:
    rest = command.rest

    def evalmacro(run: TransformRun, codes: dict[str, Code | str]) -> None:
        of = known or evaluation(rest.fill(run.lookup, _refuse))
        value = run.value(of, codes)
        if value is None:
            raise Unplanned
        text = as_macro(value)
        if len(text) > SHORT:
            raise Unplanned
        run.charge(price(key, text))
        run.macros[key] = text

    return evalmacro


class Plans:
    """The plans of a transform without conditions, made when the same names occur for the second time."""

    def __init__(self, statements: Sequence[RunnableLine]) -> None:
        self._statements = statements
        self._known: dict[int, tuple[dict[str, str], NamePlan | bool]] = {}

    def run(self, run: TransformRun) -> bool:
        """Apply the transform to the ad of a run by a plan; return False, without changes, if there is none."""
        if not run.is_plannable:
            return False
        codes, names = run.ad.shared_parts()
        plan = self._plan(names)
        if plan is None:
            return False
        kept, macros, spent = codes.copy(), run.macros.copy(), run.spent
        try:
            plan.run(run, codes)
        except (Unplanned, MacroError, Stop):
            codes.clear()
            codes.update(kept)
            run.macros.clear()
            run.macros.update(macros)
            run.spent = spent
            run.ad.share_names(names)
            plan.trust -= _PRICE
            if plan.trust < 0:
                self._known[id(names)] = (names, False)
            return False
        run.ad.share_names(plan.after)
        if plan.trust < _MOST_TRUST:
            plan.trust += 1
        return True

    def _plan(self, names: dict[str, str]) -> NamePlan | None:
        known = self._known.get(id(names))
        if known is None or known[0] is not names:
            if len(self._known) >= _MOST_PLANS:
                self._known.clear()
            self._known[id(names)] = (names, len(names) <= _MOST_NAMES)
            return None
        plan = known[1]
        if plan is True:
            try:
                plan = NamePlan(names)
                plan.add(self._statements)
                plan.close()
            except Unplanned:
                plan = False
            self._known[id(names)] = (names, plan)
        return None if isinstance(plan, bool) else plan
