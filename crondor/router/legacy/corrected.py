"""A route written as a ClassAd to commands that load and mean the same: the conversion without HTCondor's defects.

Every place in which the result parts from ``faithful`` is reported with a code of its own; docs/router-files.md has
them all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from typing import NamedTuple

from crondor.classad import ClassAd, EvaluationFailed, Expression, lower, print_string, unparse
from crondor.classad.parser import UnparseForm
from crondor.classad.scope import Inlining
from crondor.classad.tree import ClassAdSyntaxError, Literal, Node, literal_text
from crondor.diagnostics import Diagnostic, Severity, Source
from crondor.job.attributes import exact_integer_of, number_of
from crondor.macro.evaluated import as_integer, as_real
from crondor.macro.expand import MacroKind, Scanner
from crondor.transform import InvalidTransform, Transform
from crondor.transform import RuleSource as Rules
from crondor.transform.classad_form import (
    AS_HTCONDOR,
    Change,
    Commands,
    LegacyEntry,
    bounded,
    current_time,
    rewrite,
    scope_to_my,
    without_scope,
)
from crondor.transform.expressions import UNIVERSES, universe_name

_OTHERS = frozenset(("target", "other"))
_LIMITS = frozenset(("maxjobs", "maxidlejobs", "failureratethreshold"))
_QUEUES = ("remote_queue", "batch_queue")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RAW = re.compile(r"[^\s\\](?:[^\r\n\0]*[^\s\\])?")
_OPEN = Inlining()
_MOST_FAULTS = 1000


class CorrectedRoute(NamedTuple):
    """The commands of a route, without NAME, and the changes and losses."""

    head: tuple[str, ...]
    body: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def has_commands(self) -> bool:
        """Whether any line is more than a comment."""
        return any(not line.startswith("#") for line in (*self.head, *self.body))

    def text(self, name: str = "") -> str:
        """Return the commands, with NAME if a name is given."""
        return "\n".join([*([f"NAME {name}"] if name else []), *self.head, *self.body])


def convert_mended(entry: LegacyEntry, around: Collection[str] | None = ()) -> CorrectedRoute:
    """Convert a route; what cannot be a command is dropped and reported as an ERROR. Never fails.

    ``around`` are the lower-case names of the variables that the transforms before and after routes read: attributes of
    such names that the route sets become variables too. So does each ``default_`` of HTCondor-CE. None: it is a
    transform of the schedd, not a route.
    """
    made = _Mended(entry)
    if around is not None:
        made.add_variables(around)
    head, body = made.head(), [*made.body()]
    return CorrectedRoute(tuple(head), tuple(made.loadable(head, body)), tuple(dict.fromkeys(made.found)))


class _Mended(Commands):
    """The commands of one route."""

    def __init__(self, entry: LegacyEntry) -> None:
        self.found: list[Diagnostic] = []
        self.left_out: list[str] = []
        self.raw: dict[str, str] = {}
        self.evaluated: dict[str, tuple[str, str]] = {}
        super().__init__(entry)
        self.name = entry.name

    def add_variables(self, around: Collection[str]) -> None:
        """Make variables of the attributes that the transforms around the route read as variables."""
        if self.universe and "targetuniverse" not in self.assignments:
            name = next(each for each in self.entry.ad if lower(each) == "targetuniverse")
            self.assignments["targetuniverse"] = (name, str(self.universe))
        for name in self.entry.ad:
            prefix = next((each for each in ("set_", "eval_set_") if lower(name).startswith(each)), "")
            attribute = name[len(prefix) :]
            key = lower(attribute)
            if prefix and key in _QUEUES and "default_queue" in around:
                self._batch_queue(name, key, is_evaluated=prefix != "set_")
            is_made = key in (self.sets if prefix == "set_" else self.eval_sets)
            if not prefix or not is_made or key in self.assignments:
                continue
            if key.startswith("default_") or key in around:
                self._variable(name, attribute, is_evaluated=prefix != "set_")

    def _batch_queue(self, name: str, key: str, *, is_evaluated: bool) -> None:
        """Set BatchQueue, which HTCondor-CE uses since version 6, if a rule sets the queue by its old name."""
        section = self.eval_sets if is_evaluated else self.sets
        if key in section and "batchqueue" not in self.sets and "batchqueue" not in self.eval_sets:
            section["batchqueue"] = ("BatchQueue", section[key][1])
            self.say("variable", f"{name} also sets BatchQueue, which HTCondor-CE uses now", name)

    def _variable(self, name: str, attribute: str, *, is_evaluated: bool) -> None:
        """Set a variable to the attribute of its name: a literal unchanged, else evaluated for each job."""
        key = lower(attribute)
        node = self.tree(name)
        text = literal_text(node)
        if isinstance(node, Literal) and text is None:
            self.assignments[key] = (attribute, self.printed(node))
        elif text is not None and (_RAW.fullmatch(text) or not text):
            if text:
                self.assignments[key] = (attribute, text if self.entry.expand is not None else _escaped(text))
        else:
            self.evaluated[key] = (attribute, (self.eval_sets if is_evaluated else self.sets)[key][1])
        message = f"{name} also sets the variable {attribute}: transforms around the route read it as $({attribute})"
        self.say("variable", message, name)

    def body(self) -> Iterator[str]:
        """Yield the commands, with the variables that are evaluated at the end."""
        yield from super().body()
        if self.evaluated:
            yield "# variables for the transforms after the route"
        yield from (f"EVALMACRO {name} {text}" for _, (name, text) in sorted(self.evaluated.items()))

    def say(self, code: str, message: str, name: str, severity: Severity = Severity.NOTE, help_text: str = "") -> None:
        """Report something about an attribute."""
        span = self.entry.place(name)
        shown = f"{self.entry.name}: {message}"
        self.found.append(Diagnostic(f"legacy-{code}", shown, severity, span, help_text or None))

    def lost(self, code: str, message: str, name: str, help_text: str = "") -> None:
        """Report an attribute that no command can replace."""
        self.say(code, f"{message}: it is dropped", name, Severity.ERROR, help_text)

    def printed(self, node: Node) -> str:
        """Return an expression as written in a command; text that looks like a macro is escaped."""
        text = unparse(node, UnparseForm.OLD)
        return text if self.entry.expand is not None else _escaped(text)

    def copy(self, name: str, attribute: str) -> None:
        """Process ``copy_X = "Y"``, if Y can be a name."""
        value = self.entry.value(name)
        if not isinstance(value, str):
            self.lost("copy", f"{name} is not a string, and copies nothing", name, f'write {name} = "NewName"')
        elif not _NAME.fullmatch(attribute) or not _NAME.fullmatch(self.filled(value)):
            word = value if _NAME.fullmatch(attribute) else attribute
            message = f"{name}: no attribute can be called {word[:40]!r}"
            self.lost("copy", message, name, "names are made of letters, digits and _")
        else:
            self.copies[lower(attribute)] = (attribute, value)

    def delete(self, name: str, attribute: str) -> None:
        """Process ``delete_X``, if X can be a name."""
        if self._is_name(name, attribute):
            value = self.entry.value(name)
            if value is False:
                self.say("delete", f"{name} = false also deletes {attribute}", name)
            super().delete(name, attribute)

    def set(self, name: str, attribute: str) -> None:
        """Process ``set_X``: the expression unchanged, including TARGET, which a later match resolves."""
        if not self._is_name(name, attribute):
            return
        if lower(attribute) == "inputrsl":
            message = f"{name} is kept; condor_transform_ads silently drops it"
            self.say("inputrsl", message, name)
        text = self.printed(self._timed(name, self.tree(name)))
        if self._is_line(name, text):
            self.sets[lower(attribute)] = (attribute, text)

    def eval_set(self, name: str, attribute: str) -> None:
        """Process ``eval_set_X``: attributes of the route are inlined, TARGET and other become MY."""
        if not self._is_name(name, attribute):
            return
        node = self._timed(name, self.tree(name))
        expression = Expression.of(node)
        if self.own_names(expression):
            node = self._inlined(name, expression, self.entry.ad)
        changed = self._without_others(name, node, scope_to_my)
        is_new = rewrite(node, scope_to_my(frozenset(("target",)))) is not node
        if is_new and not self.own_names(expression):
            message = f"{name}: TARGET is now MY; condor_transform_ads keeps it, and it would be undefined"
            self.say("eval-target", message, name)
        text = self.printed(changed)
        if self._is_line(name, text):
            self.eval_sets[lower(attribute)] = (attribute, text)
            self.temporary.update((lower(each), each) for each in self.own_names(Expression.of(changed)))

    def target_universe(self, name: str) -> None:
        """Process TargetUniverse, if it is the number of a universe."""
        value = self.entry.value(name)
        universe = exact_integer_of(value)
        if universe is not None and 0 < universe < len(UNIVERSES):
            self.universe = universe
        elif value != 0:
            shown = self.entry.ad.text(name)[:40]
            named = value.upper() if isinstance(value, str) else ""
            help_text = f"write {UNIVERSES.index(named)}" if named and named in UNIVERSES else "write 9, 5 or 12"
            message = f"{name} = {shown} is not the number of a universe: the route is a grid route, as before"
            self.say("universe", message, name, Severity.WARNING, help_text)

    def require(self, name: str) -> None:
        """Process Requirements: attributes of the route inlined, TARGET and other removed, macros replaced.

        A route whose Requirements cannot be written takes no job at all, rather than every job.
        """
        node = self._inlined(name, self._with_macros(self._timed(name, self.tree(name))), self._ad_with_macros())
        text = self.filled(unparse(self._without_others(name, node, without_scope), UnparseForm.OLD))
        reason = "it has a line end in it" if re.search(r"[\r\n]", text) else ""
        try:
            Expression.parse(Source(text), old=True)
        except ClassAdSyntaxError as error:
            reason = reason or error.diagnostics[0].message
        if reason:
            message = f"{name} cannot be written as {text[:60]!r}: {reason}; the route now takes no job"
            self.say("requirements", message, name, Severity.ERROR, "rewrite the expression")
        self.requirements = "false" if reason else text

    def assign(self, name: str) -> None:
        """Process any other attribute as a macro."""
        key = lower(name)
        if key == "gridresource":
            self._grid_resource(name)
        elif key in _LIMITS:
            self._limit(name)
        elif not self._is_name(name, name):
            return
        elif (literal := literal_text(self.tree(name))) is not None and key not in _EVALUATED:
            self._literal(name, literal)
        else:
            node = self._timed(name, self.tree(name))
            if key in _EVALUATED:
                node = self._inlined(name, Expression.of(node), self.entry.ad)
                node = self._without_others(name, node, scope_to_my)
            text = self.printed(node)
            if self._is_line(name, text):
                self.assignments[key] = (name, text)
                self.raw[key] = text

    def borrowed(self, key: str, name: str) -> str:
        """Return the value itself, if there is no macro of that name."""
        return self.raw.get(key) or super().borrowed(key, name)

    def head(self) -> list[str]:
        """Return UNIVERSE and REQUIREMENTS."""
        head = [f"UNIVERSE {universe_name(self.universe)}"] if self.universe else []
        if self.requirements:
            return [*head, f"REQUIREMENTS {self.requirements}"]
        return head

    def filled(self, text: str) -> str:
        """Return a text with its remaining macros replaced."""
        return self.entry.expand(text) if self.entry.expand is not None else text

    def loadable(self, head: list[str], body: list[str]) -> Iterator[str]:
        """Yield the commands; those that HTCondor would refuse to load become comments."""
        faults = _faults([*head, *body])
        for number, line in enumerate(body, start=len(head) + 1):
            why = faults.get(number)
            if why is None:
                yield line
                continue
            name = line.split(" ", 1)[0]
            message = f"HTCondor refuses the line {line[:60]}: {why}; it is now a comment, and nothing needs it"
            self.say("keyword", message, name, Severity.WARNING, "rename the attribute to keep it")
            yield f"# {line}"

    def _is_name(self, name: str, attribute: str) -> bool:
        if _NAME.fullmatch(attribute):
            return True
        self.lost("name", f"{name!r}: {attribute!r} is not an attribute name that a command can have", name)
        return False

    def _is_line(self, name: str, text: str) -> bool:
        """Return whether a text fits on one line."""
        if not re.search(r"[\r\n]", text):
            return True
        message = f"the value of {name} has a line end in it, which no command can have"
        self.lost("line", message, name, "write the string without it")
        return False

    def _timed(self, name: str, node: Node) -> Node:
        """Return an expression with time() for CurrentTime, unless the route has an attribute of that name."""
        if "currenttime" in self.entry.ad:
            return node
        changed = rewrite(node, current_time)
        if changed is not node:
            self.say("current-time", f"{name}: CurrentTime becomes time()", name)
        return changed

    def _with_macros(self, node: Node) -> Expression:
        """Return an expression with its macros replaced: a comparison with such a text can then be computed."""
        text = unparse(node, UnparseForm.OLD)
        filled = self.filled(text)
        with suppress(ClassAdSyntaxError):
            return Expression.of(node) if filled == text else Expression.parse(Source(filled), old=True)
        return Expression.of(node)

    def _ad_with_macros(self) -> ClassAd:
        """Return the route's ad with its macros replaced."""
        made = self.entry.ad.copy()
        for name in self.entry.ad:
            text = self.entry.ad.text(name)
            filled = self.filled(text)
            with suppress(ClassAdSyntaxError):
                if filled != text:
                    made.set_text(name, filled)
        return made

    def _inlined(self, name: str, expression: Expression, ad: ClassAd) -> Node:
        """Return an expression with the attributes of the route inlined."""
        try:
            made = expression.flatten(ad, bounded(), inlining=_OPEN)
            other = expression.flatten(ad, bounded(), inlining=AS_HTCONDOR)
        except EvaluationFailed as error:
            message = f"{name} cannot be simplified and stays as it is: {error.diagnostics[0].message}"
            self.say("flatten", message, name, Severity.WARNING, "it probably refers to itself")
            return expression.tree
        if made != other:
            message = f"{name} gets parentheses to keep its meaning, and its clock; condor_transform_ads has {other}"
            self.say("inlined", message[:300], name)
        return made.tree

    def _without_others(self, name: str, node: Node, change: Callable[[frozenset[str]], Change]) -> Node:
        made = rewrite(node, change(frozenset(("target",))))
        changed = rewrite(made, change(_OTHERS))
        if changed is not made:
            message = f"{name}: other is read like TARGET; condor_transform_ads keeps it, and it would be undefined"
            self.say("other", message, name)
        return changed

    def _literal(self, name: str, text: str) -> None:
        """Process a string without its quotes, if that is possible."""
        key = lower(name)
        if not text:
            return
        quoted = self.printed(Literal(text))
        self.raw[key] = quoted
        if _RAW.fullmatch(text):
            self.assignments[key] = (name, text if self.entry.expand is not None else _escaped(text))
            self.strings.add(key)
        elif self._is_line(name, quoted):
            self.say("quoted", f"{name} keeps its quotes: blanks or a backslash at its ends would be lost", name)
            self.assignments[key] = (name, quoted)

    def _grid_resource(self, name: str) -> None:
        """Process GridResource, whose text HTCondor 25 does not evaluate."""
        value = self.entry.value(name)
        if not isinstance(value, str):
            shown = self.entry.ad.text(name)[:60]
            message = f"{name} = {shown} is not a string: the route has none"
            self.say("grid-resource", message, name, Severity.WARNING, "write a string, or remove the line")
            return
        text = value if self.entry.expand is not None else _escaped(value)
        plain = '"' not in value and "\\" not in value
        shown = f'"{text}"' if plain else text
        if not self._is_line(name, shown):
            return
        if not plain and not _RAW.fullmatch(text):
            message = f"{name} = {self.entry.ad.text(name)[:60]} begins or ends with a blank or a backslash"
            self.lost("grid-resource", message, name, "write the resource without that")
            return
        self.assignments[lower(name)] = (name, shown)
        self.raw[lower(name)] = print_string(value, UnparseForm.OLD)
        if literal_text(self.tree(name)) is None:
            message = f"{name} is now {value[:60]!r}; its expression would be read as the text of the resource"
            self.say("grid-resource", message, name)
        elif not plain:
            message = f"{name} is written without quotes; the outer ones are removed, and the inner ones stay escaped"
            self.say("grid-resource", message, name)

    def _limit(self, name: str) -> None:
        """Process MaxJobs, MaxIdleJobs and FailureRateThreshold, which HTCondor 25 reads without the route's ad."""
        key = lower(name)
        node = self.tree(name)
        found = self.entry.value(name)
        literal = literal_text(node)
        # HTCondor removes the quotes of a string before it looks for a number.
        value: int | float | None = exact_integer_of(found) if literal is None else as_integer(literal, bounded())
        if value is None and key == "failureratethreshold" and not isinstance(found, bool):
            value = number_of(found) if literal is None else as_real(literal, bounded())
        if value is None:
            what = "number" if key == "failureratethreshold" else "integer"
            message = f"{name} = {self.entry.ad.text(name)[:60]} is not a valid {what}: the default applies, as before"
            self.say("limit", message, name, Severity.WARNING, "write a number")
            return
        text = self.printed(Literal(value))
        if not isinstance(node, Literal):
            self.say("limit", f"{name} is now {text}; it is read without the attributes of the route", name)
        self.assignments[key] = (name, text)
        self.raw[key] = text


_EVALUATED = frozenset(
    ("editjobinplace", "jobfailuretest", "jobshouldbesandboxed", "overrideroutingentry")
) | frozenset(("sharedx509userproxy", "usesharedx509userproxy"))


def _escaped(text: str) -> str:
    """Return a text in which nothing is read as a macro."""
    if "$" not in text:
        return text
    parts: list[str] = []
    begin, at = 0, text.find("$")
    scanner = Scanner(text)
    while at >= 0:
        found = scanner.scan(at)
        if found.kind is not MacroKind.PLAIN:
            parts += [text[begin:at], "$(DOLLAR)"]
            begin = at + 1
        at = text.find("$", max(found.resume, at + 1))
    return "".join(parts) + text[begin:]


def _faults(lines: list[str]) -> dict[int, str]:
    """Return why HTCondor would refuse to load lines, by their numbers from 1."""
    kept = list(lines)
    found: dict[int, str] = {}
    while len(found) < _MOST_FAULTS:
        try:
            faults = Transform.parse("\n".join(kept), form=Rules.KNOB, strict=False).faults
        except InvalidTransform as error:
            faults = error.diagnostics
        fresh = [(each.span.line, each.message) for each in faults if each.span is not None]
        fresh = [(number, message) for number, message in fresh if number not in found and 0 < number <= len(kept)]
        if not fresh:
            break
        for number, message in fresh:
            found.setdefault(number, message)
            kept[number - 1] = "#"
    return found
