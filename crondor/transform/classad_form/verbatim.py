"""A route written as a ClassAd to commands, exactly as condor_transform_ads -convertoldroutes of HTCondor 25.14 does.

Commands stand in sections, each sorted by attribute without case: copy, delete, set, eval_set. What refers to
attributes of the route itself is flattened. Defects of HTCondor's are kept here; ``mended`` has none of them.

HTCondor: ConvertClassadJobRouterRouteToXForm.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from crondor.classad import EvaluationFailed, Expression, UnparseForm, lower, unparse
from crondor.classad.errors import CircularReference, ClassAdSyntaxError
from crondor.classad.scope import Inlining
from crondor.classad.tree import Node
from crondor.classad.values import INT_MAX
from crondor.source import Source
from crondor.transform.classad_form.entry import LegacyEntry, bounded
from crondor.transform.classad_form.rewrite import Change, literal_text, rewrite, scope_to_my, without_scope
from crondor.transform.universes import universe_name

EVALUATED = frozenset(
    (
        "editjobinplace",
        "failureratethreshold",
        "jobfailuretest",
        "jobshouldbesandboxed",
        "overrideroutingentry",
        "sharedx509userproxy",
        "usesharedx509userproxy",
    )
)
"""Attributes whose expressions the router evaluates in the job's ad: flattened, TARGET becomes MY."""

_LIFTED = re.compile(r"[ \t\v\f]*(?i:(name|requirements|universe|transform))[ \t\v\f]+(?![=: \t\v\f])(.*)", re.DOTALL)
_TARGET = frozenset(("target",))
AS_HTCONDOR = Inlining(parentheses=False, open=frozenset())


class Commands:
    """The commands of one route, by section and lower-case attribute."""

    def __init__(self, entry: LegacyEntry) -> None:
        """Convert."""
        self.entry = entry
        self.name = ""
        self.universe = 0
        self.requirements = ""
        self.assignments: dict[str, tuple[str, str]] = {}
        self.copies: dict[str, tuple[str, str]] = {}
        self.deletes: dict[str, tuple[str, str]] = {}
        self.sets: dict[str, tuple[str, str]] = {}
        self.eval_sets: dict[str, tuple[str, str]] = {}
        self.strings: set[str] = set()
        self.temporary: dict[str, str] = {}
        sections: tuple[tuple[str, Callable[[str, str], None]], ...] = (
            ("copy_", self.copy),
            ("delete_", self.delete),
            ("set_", self.set),
            ("eval_set_", self.eval_set),
        )
        for name in entry.ad:
            for prefix, command in sections:
                if lower(name).startswith(prefix):
                    command(name, name[len(prefix) :])
                    break
            else:
                self._plain(name)

    def _plain(self, name: str) -> None:
        key = lower(name)
        if key == "name":
            value = self.entry.value(name)
            self.name = value if isinstance(value, str) else ""
        elif key == "targetuniverse":
            self.target_universe(name)
        elif key == "requirements":
            self.require(name)
        else:
            self.assign(name)

    def tree(self, name: str) -> Node:
        """Return the expression of an attribute."""
        return self.entry.ad[name].tree

    def printed(self, node: Node) -> str:
        """Return an expression as it stands in a command."""
        return unparse(node, UnparseForm.OLD, faithful=True)

    def copy(self, name: str, attribute: str) -> None:
        """Take ``copy_X = "Y"``."""
        value = self.entry.value(name)
        if isinstance(value, str):
            self.copies[lower(attribute)] = (attribute, value)

    def delete(self, name: str, attribute: str) -> None:  # noqa: ARG002 - the value does not matter
        """Take ``delete_X``, whatever its value."""
        self.deletes[lower(attribute)] = (attribute, "")

    def set(self, name: str, attribute: str) -> None:
        """Take ``set_X = expression``."""
        if lower(attribute) != "inputrsl":
            self.sets[lower(attribute)] = (attribute, self.printed(self.tree(name)))

    def eval_set(self, name: str, attribute: str) -> None:
        """Take ``eval_set_X = expression``: flattened only where it refers to attributes of the route."""
        expression = Expression.of(self.tree(name))
        own = self.own_names(expression)
        text = self.printed(expression.tree)
        if own:
            text = self._special(expression, scope_to_my(_TARGET))
            try:
                own = self.own_names(Expression.parse(Source(text)))
            except ClassAdSyntaxError:
                own = ()
        self.eval_sets[lower(attribute)] = (attribute, text)
        self.temporary.update((lower(each), each) for each in own)

    def own_names(self, expression: Expression) -> tuple[str, ...]:
        """Return the attributes of the route that an expression leads to."""
        try:
            found = expression.references(self.entry.ad).internal
        except CircularReference:
            return ()
        return tuple(re.split(r"[.\[]", each, maxsplit=1)[0] for each in found)

    def _special(self, expression: Expression, change: Change) -> str:
        """Return an expression flattened, with other names."""
        try:
            node = expression.flatten(self.entry.ad, bounded(), inlining=AS_HTCONDOR).tree
        except EvaluationFailed:
            node = expression.tree
        return self.printed(rewrite(node, change))

    def target_universe(self, name: str) -> None:
        """Take TargetUniverse, an integer or a truth value: HTCondor reads a string's address for one."""
        value = self.entry.value(name)
        if isinstance(value, str):
            self.universe = -1
        elif isinstance(value, int) and -INT_MAX <= value <= INT_MAX:
            self.universe = (value + (1 << 31)) % (1 << 32) - (1 << 31)

    def require(self, name: str) -> None:
        """Take Requirements: flattened, TARGET left out."""
        self.requirements = self._special(Expression.of(self.tree(name)), without_scope(_TARGET))

    def assign(self, name: str) -> None:
        """Take any other attribute as a macro: a literal string without its quotes, but for GridResource."""
        key = lower(name)
        node = self.tree(name)
        literal = None if key == "gridresource" else literal_text(node)
        if key in EVALUATED:
            text = self._special(Expression.of(node), scope_to_my(_TARGET))
        else:
            text = self.printed(node) if literal is None else literal
        if text:
            self.assignments[key] = (name, text)
            if literal is not None or key in EVALUATED or key == "gridresource":
                self.strings.add(key)

    def body(self) -> Iterator[str]:
        """Yield the commands."""
        yield f"# autoconversion of route '{self.name}' from old route syntax"
        for _, (name, text) in sorted(self.assignments.items()):
            yield f"{name} = {text}"
        for title, keyword, section in (
            ("copy", "COPY", self.copies),
            ("delete", "DELETE", self.deletes),
            ("set", "SET", self.sets),
        ):
            if section:
                yield f"# {title}_* rules"
            for _, (name, text) in sorted(section.items()):
                yield f"{keyword} {name} {text}" if keyword != "DELETE" else f"DELETE {name}"
        needed = [
            (key, name)
            for key, name in sorted(self.temporary.items())
            if key in self.assignments and key not in self.sets
        ]
        if needed:
            yield "# temporarily SET attrs because eval_set_ rules refer to them"
            yield from (f"SET {name} {self.borrowed(key, name)}" for key, name in needed)
        if self.eval_sets:
            yield "# eval_set_* rules"
            yield from (f"EVALSET {name} {text}" for _, (name, text) in sorted(self.eval_sets.items()))
        if needed:
            yield "# remove temporary attrs"
            yield from (f"DELETE {name}" for _, name in needed)

    def borrowed(self, key: str, name: str) -> str:
        """Return the value of an attribute of the route that an EVALSET needs."""
        return f'"$({name})"' if key in self.strings else f"$({name})"

    def universe_name(self) -> str:
        """Return the name of the universe, nothing where there is none."""
        return universe_name(self.universe) if self.universe else ""


def convert_faithfully(entry: LegacyEntry, *, name_as: Callable[[str], str] | None = None) -> tuple[str, str] | None:
    """Return name and text of a route as condor_transform_ads prints them, None where it prints nothing.

    ``name_as`` gives the knob's name: where that is the same, the text has no NAME.
    """
    made = Commands(entry)
    head = {"name": made.name, "universe": made.universe_name(), "requirements": made.requirements}
    lines: list[str] = []
    given = [f"REQUIREMENTS {made.requirements}"] if made.requirements else []
    # HTCondor writes the route down and reads it again: a line end inside of a string makes two lines of one.
    for line in re.split(r"[\r\n]+", "\n".join([*given, *made.body()])):
        found = _LIFTED.fullmatch(line)
        keyword = found[1].lower() if found else ""
        if keyword == "transform":
            break
        if found is None:
            lines += [line] if line else []
        elif keyword == "name":
            head[keyword] = head[keyword] or found[2].strip()
        else:
            head[keyword] = found[2]
        if keyword == "requirements" and not _is_expression(head[keyword]):
            return None
    name = head["name"]
    if name and name_as is not None and name_as(name) == name:
        del head["name"]
    return name, "\n".join([*(f"{keyword.upper()} {text}" for keyword, text in head.items() if text), *lines])


def _is_expression(text: str) -> bool:
    try:
        Expression.parse(Source(text), old=True)
    except ClassAdSyntaxError:
        return False
    return True
