"""CRN61. to CRN63.: which jobs routes take, and surprising effects of routes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations, islice
from typing import NamedTuple, TypeAlias

from crondor.classad.expression import Expression
from crondor.classad.operators import truth
from crondor.classad.parser import unparse
from crondor.classad.tree import (
    ERROR,
    UNDEFINED,
    Binary,
    CircularReference,
    Literal,
    Node,
    Reference,
    Unary,
    bare,
    measure,
    nodes,
)
from crondor.diagnostics import Severity, Span
from crondor.lint.rule import RuleHit, rule
from crondor.lint.table import CheckedTable, commands, constant, is_false
from crondor.router.compare.models import name_of
from crondor.router.match.umbrella import Clause
from crondor.router.table.route import Route
from crondor.transform.compiled import defined_by, read_by

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OPERATORS = frozenset(("<", "<=", ">", ">=", "==", "!=", "=?=", "is", "=!=", "isnt"))
_LARGEST = 300  # nodes of an expression that is compared with another one
_Point: TypeAlias = "float | str"


class Comparison(NamedTuple):
    """A comparison of an attribute (lower case) with a number or a text; ``text``, ``shown``: as written."""

    name: str
    operator: str
    value: _Point
    text: str
    shown: str

    def holds(self, point: _Point) -> bool:
        """Return whether it holds for a value of the same type, as HTCondor compares: == ignores case."""
        if isinstance(point, str) or isinstance(self.value, str):
            mine, theirs = str(self.value), str(point)
            if self.operator in {"==", "!="}:
                mine, theirs = mine.lower(), theirs.lower()
            return (mine == theirs) is (self.operator in {"==", "=?=", "is"})
        operator, value = self.operator, self.value
        if operator in {"<", "<="}:
            return point < value or (operator == "<=" and point == value)
        if operator in {">", ">="}:
            return point > value or (operator == ">=" and point == value)
        return (point == value) is (operator in {"==", "=?=", "is"})


def comparison(node: Node) -> Comparison | None:
    """Return a comparison of an attribute with a number or a text, None for anything else."""
    whole = bare(node)
    if not isinstance(whole, Binary) or whole.op not in _OPERATORS:
        return None
    left, right, operator = bare(whole.left), bare(whole.right), whole.op
    if isinstance(left, Literal):
        left, right, operator = right, left, _FLIPPED.get(operator, operator)
    if not isinstance(left, Reference):
        return None
    name = name_of(left)
    value = right.value if isinstance(right, Literal) else None
    if name is None or isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if isinstance(value, str) and operator in _FLIPPED:
        return None
    return Comparison(name, operator, value, unparse(whole), left.name)


def parts(node: Node, operator: str) -> Iterator[Node]:
    """Yield the parts of a conjunction or a disjunction, or the whole expression if it is neither."""
    work = [node]
    while work:
        each = bare(work.pop())
        if isinstance(each, Binary) and each.op == operator:
            work += (each.right, each.left)
        else:
            yield each


def exclude_each_other(first: Comparison, second: Comparison) -> bool:
    """Return whether no value satisfies both."""
    if not _are_alike(first, second):
        return False
    return not any(first.holds(point) and second.holds(point) for point in _points(first, second))


def leave_nothing(first: Comparison, second: Comparison) -> bool:
    """Return whether every value of that type satisfies at least one."""
    if not _are_alike(first, second):
        return False
    return all(first.holds(point) or second.holds(point) for point in _points(first, second))


class Conclusions:
    """Finds which of many conditions follow from which, as far as comparisons with constants show.

    Results for a part are kept with the part, so that a route is not printed for each of the others.
    """

    def __init__(self) -> None:
        self._small: dict[int, tuple[Node, bool]] = {}
        self._seen: dict[int, _Part] = {}

    def implies(self, node: Node, other: Node) -> bool:
        """Return whether another condition is true whenever a node is."""
        return self._is_small(node) and self._is_small(other) and self._implies(node, other)

    def _is_small(self, node: Node) -> bool:
        if id(node) not in self._small:
            self._small[id(node)] = node, max(measure(node)) <= _LARGEST
        return self._small[id(node)][1]

    def _part(self, node: Node) -> _Part:
        if id(node) not in self._seen:
            self._seen[id(node)] = _Part(node, unparse(node), comparison(node))
        return self._seen[id(node)]

    def _implies(self, node: Node, other: Node) -> bool:
        wanted = bare(other)
        if isinstance(wanted, Binary) and wanted.op == "&&":
            return all(self._implies(node, each) for each in parts(wanted, "&&"))
        choices = list(parts(node, "||"))
        if len(choices) > 1:
            return all(self._implies(each, other) for each in choices)
        if isinstance(wanted, Binary) and wanted.op == "||":
            return any(self._implies(node, each) for each in parts(wanted, "||"))
        return any(_follows(self._part(each), self._part(wanted)) for each in parts(node, "&&"))


class _Part(NamedTuple):
    """A part of a condition, as it is printed, and as a comparison if it is one."""

    node: Node
    text: str
    comparison: Comparison | None


def _follows(given: _Part, wanted: _Part) -> bool:
    if given.text == wanted.text or ('"' not in given.text and given.text.lower() == wanted.text.lower()):
        return True
    first, second = given.comparison, wanted.comparison
    if first is not None and second is not None and _are_alike(first, second):
        return all(second.holds(point) for point in _points(first, second) if first.holds(point))
    node = given.node
    return isinstance(wanted.node, Unary) and wanted.node.op == "!" and isinstance(node, Unary) and node == wanted.node


def _are_alike(first: Comparison, second: Comparison) -> bool:
    return first.name == second.name and isinstance(first.value, str) is isinstance(second.value, str)


def _points(first: Comparison, second: Comparison) -> list[_Point]:
    """Return values that represent all others: the constants, and values below, between and above them."""
    one, other = first.value, second.value
    if isinstance(one, str) or isinstance(other, str):
        texts = [str(one), str(other)]
        return [*texts, *(text.swapcase() for text in texts), "".join(texts) + "x"]
    low, high = sorted((one, other))
    return [low - 1, low, (low + high) / 2, high, high + 1]


@rule("CRN631", "never-matches", Severity.WARNING, "a route that no job meets")
def _never(table: CheckedTable) -> Iterator[RuleHit]:
    """A candidate is idle and not managed; REQUIREMENTS must be true or a nonzero number."""
    for route in table.routes:
        asked = route.transform.requirements
        if asked is None:
            continue
        value = constant(asked.expression)
        if is_false(asked.expression) and value is not None:
            shown = "false" if truth(value) is False else "no truth value"
            shown = "undefined" if value is UNDEFINED else "an error" if value is ERROR else shown
            message = f"no job matches route {route.name}: for every candidate its REQUIREMENTS are {shown}"
            yield RuleHit(message, asked.span, "a candidate has JobStatus 1; TARGET is undefined; a string is not true")


@rule("CRN632", "unreachable", Severity.WARNING, "a route after one that takes every job it could get")
def _unreachable(table: CheckedTable) -> Iterator[RuleHit]:
    """Routes are tried in order, and the first that matches takes the job unless it is full or throttled."""
    if table.table.settings.round_robin:
        return
    all_taken: Route | None = None
    asked: dict[Expression, Route] = {}
    conclusions = Conclusions()
    for route in table.routes:
        if not (route.max_jobs > 0 and route.max_idle_jobs != 0):
            continue
        required = route.transform.requirements
        earlier = all_taken or (_wider(required.expression, asked, conclusions) if required is not None else None)
        if earlier is not None:
            takes = f"every job that meets {route.name} also meets {earlier.name}"
            if earlier is all_taken:
                takes = f"{earlier.name} takes every candidate"
            message = f"{route.name} gets a job only while {earlier.name} is full or throttled: {takes}"
            limits = any(table.assigned(earlier, name) for name in ("MaxJobs", "MaxIdleJobs"))
            limits = limits or any(table.configuration.is_set(name) for name in _LIMITS)
            help_text = f"put {route.name} before {earlier.name}, or narrow the REQUIREMENTS of {earlier.name}"
            yield RuleHit(message, table.place(route), help_text, severity=Severity.NOTE if limits else None)
        if all_taken is None and id(route) in table.unconditional:
            all_taken = route
        if required is not None:
            asked.setdefault(required.expression, route)


def _wider(expression: Expression, asked: Mapping[Expression, Route], conclusions: Conclusions) -> Route | None:
    """Return an earlier route that requires the same as this one or less."""
    same = asked.get(expression)
    if same is not None:
        return same
    earlier = asked.items() if len(asked) <= _MOST_EARLIER else ()
    return next((route for other, route in earlier if conclusions.implies(expression.tree, other.tree)), None)


_MOST_EARLIER = 60
_LIMITS = ("JOB_ROUTER_DEFAULT_MAX_JOBS_PER_ROUTE", "JOB_ROUTER_DEFAULT_MAX_IDLE_JOBS_PER_ROUTE")


@rule("CRN633", "remove-loop", Severity.WARNING, "a copy whose removal routes the job again")
def _remove(table: CheckedTable) -> Iterator[RuleHit]:
    """After its copy is removed, the source is idle again, and immediately a candidate."""
    edited = {id(route.transform) for route in table.routes if route.edit_job_in_place is not None}
    for transform in table.transforms:
        if id(transform) in edited:
            continue
        for each in commands(transform):
            if each.target != "periodicremove" or each.keyword not in {"SET", "EVALSET", "DEFAULT"}:
                continue
            if each.value.strip().lower() not in {"false", "undefined", "0"}:
                message = "if PeriodicRemove removes the copy, the source becomes idle and is routed again"
                help_text = (
                    "set PeriodicHold instead, or add a condition to REQUIREMENTS, such as (NumShadowStarts ?: 0) < 3"
                )
                yield RuleHit(message, each.line.span(), help_text)


@rule("CRN634", "edits-again", Severity.WARNING, "a route that edits the same job at every poll")
def _edits(table: CheckedTable) -> Iterator[RuleHit]:
    """A job that is edited in place stays a candidate until the edit stops it from matching."""
    for route in table.routes:
        test = route.edit_job_in_place
        if test is None or is_false(test):
            continue
        changed = table.changed(route)
        if None not in changed and not changed & _asked(table, route):
            message = (
                f"{route.name} edits a job again at every poll: nothing that it changes decides whether it matches"
            )
            help_text = "ask for an attribute that the route sets: REQUIREMENTS Edited =!= true and SET Edited true"
            yield RuleHit(message, table.assigned(route, "EditJobInPlace") or table.place(route), help_text)


def _asked(table: CheckedTable, route: Route) -> set[str]:
    """Return the lower-case names of the attributes that decide whether a route takes a job."""
    required = route.transform.requirements
    found = {"jobstatus", "managed", "owner", "procid", "stageinstart", "stageinfinish", "routedby"}
    for asked in (required and required.expression, table.table.settings.source_constraint, route.edit_job_in_place):
        if asked is not None:
            try:
                names = asked.references()
            except CircularReference:
                continue
            for name in (*names.internal, *names.external):
                found.add(name.lower().removeprefix("target.").removeprefix("my."))
    return found


@rule("CRN636", "contradiction", Severity.WARNING, "comparisons that exclude each other, or leave nothing")
def _contradiction(table: CheckedTable) -> Iterator[RuleHit]:
    """No value is both above 8000 and below 4000; every text differs from "a" or from "b"."""
    for transform in table.readable:
        required = transform.requirements
        if required is None:
            continue
        for choice in parts(required.expression.tree, "||"):
            found = _first_pair(parts(choice, "&&"), exclude_each_other)
            if found is not None:
                message = f"never true: no {found[0].shown} meets both {found[0].text} and {found[1].text}"
                yield RuleHit(message, required.span, "join alternatives with ||")
        found = _first_pair(parts(required.expression.tree, "||"), leave_nothing)
        if found is not None:
            message = f"true of every job that has {found[0].shown}: it meets {found[0].text} or {found[1].text}"
            yield RuleHit(message, required.span, "join conditions that must all hold with &&")


def _first_pair(
    of: Iterable[Node], test: Callable[[Comparison, Comparison], bool]
) -> tuple[Comparison, Comparison] | None:
    """Return the first two comparisons for which a test holds."""
    compared = [found for each in islice(of, _MOST_EARLIER) if (found := comparison(each)) is not None]
    return next((pair for pair in combinations(compared, 2) if test(*pair)), None)


_OWN = ("CRN621", "CRN623")
_CONDITION = re.compile(r"[ \t]*(if|elif|else|endif)\b(?:[ \t]*(![ \t]*)?defined[ \t]+([\w.]+))?", re.IGNORECASE)
_IN_VAIN = frozenset(
    (
        *("clusterid", "enteredcurrentstatus", "leavejobinqueue", "procid", "qdate"),
        *("routedby", "routedfromjobid", "routedtojobid", "routename"),
    )
)
_OF_HTCONDOR = frozenset(
    (
        *("arch", "bin", "collector_host", "collector_name", "condor_admin", "condor_host"),
        *("config_root", "detected_cores", "detected_cpus", "detected_memory", "dollar", "etc"),
        *("execute", "filesystem_domain", "full_hostname", "hostname", "ip_address", "ipv4_address"),
        *("ipv6_address", "lib", "libexec", "local_config_dir", "local_dir", "lock"),
        *("log", "localname", "network_hostname", "opsys", "opsysandver", "opsysmajorver"),
        *("opsysver", "pid", "ppid", "real_gid", "real_uid", "release_dir"),
        *("run", "sbin", "schedd_name", "share", "spool", "subsystem"),
        *("tilde", "uid_domain", "uname_arch", "uname_opsys", "username", "sec_token_directory"),
    )
)
"""Macros that every HTCondor defines."""


@rule("CRN621", "keyword-assigned", Severity.WARNING, "a command that is written as an assignment")
def _assigned(table: CheckedTable) -> Iterator[RuleHit]:
    """``REQUIREMENTS = expr`` defines a macro, so the route or transform takes every job."""
    for transform in table.readable:
        for each in transform.warnings:
            if each.code == "CRN621":
                help_text = f"write {each.fix}" if each.fix and len(each.fix) <= 100 else each.help
                yield RuleHit(each.message, each.span, help_text)


@rule("CRN622", "transform-trap", Severity.WARNING, "a line of a transform that HTCondor reads differently")
def _trap(table: CheckedTable) -> Iterator[RuleHit]:
    """Commands that fail silently, macros with blanks, conditions that do not apply to what they enclose."""
    loaded = {id(transform) for transform in table.transforms}
    for transform in table.readable:
        faults = transform.faults if id(transform) in loaded else ()  # otherwise CRN612 reports them
        for each in (*transform.warnings, *faults):
            if each.code not in _OWN:
                yield RuleHit(each.message, each.span, each.help)


@rule("CRN623", "target-undefined", Severity.WARNING, "TARGET where there is no other ad")
def _target(table: CheckedTable) -> Iterator[RuleHit]:
    """A route sees only the job: TARGET is undefined, and conditions on it are not true."""
    for transform in table.readable:
        for each in transform.warnings:
            if each.code == "CRN623":
                yield RuleHit(each.message, each.span, each.help)
    for route in table.routes:
        for name, test in _tests(route).items():
            try:
                asked = test.references().target if test is not None else ()
            except CircularReference:
                continue
            if asked:
                message = (
                    f"{name} is evaluated in the job's ad alone: TARGET.{asked[0]} is undefined, which counts as false"
                )
                yield RuleHit(message, table.assigned(route, name), f"write MY.{asked[0]}, or {asked[0]}")


@rule("CRN624", "undefined-macro", Severity.WARNING, "a macro that nothing defines")
def _undefined(table: CheckedTable) -> Iterator[RuleHit]:
    """An undefined macro silently expands to nothing.

    Not reported: macros below ``if defined NAME``; a string that is only a macro, in a transform around routes, which
    may use what only some routes define, like those of HTCondor-CE; and macros if there is no route yet.
    """
    known = set(table.table.facts.knobs) | set(table.table.facts.defaults(iterates=False)) | _OF_HTCONDOR
    known |= set(table.table.facts.defaults(iterates=True))
    known |= {name for transform in table.readable for line in transform.lines if (name := defined_by(line))}
    around = {id(transform) for transform in (*table.table.before, *table.table.after)}
    has_routes = any(id(transform) not in around for transform in table.readable)
    for transform in table.readable:
        if id(transform) in around and not has_routes:
            continue
        guards = _Guards()
        for line in transform.lines:
            guards.read(line.text)
            for name, span, default, is_asked in read_by(line):
                if default is not None or is_asked or guards.has(name):
                    continue
                if id(transform) in around and f'"{span.text}"' in line.text:
                    continue
                if name not in known and f"my.{name}" not in known and span.text.startswith("$("):
                    shown = _name(span.text, name)
                    message = f"nothing defines the macro {shown}: it expands to nothing"
                    help_text = (
                        f"define it, give it a default as in $({shown}:0), or write $(MY.{shown}) for the attribute"
                    )
                    yield RuleHit(message, span, help_text)


class _Guards:
    """The names that the conditions around a line check to be defined."""

    def __init__(self) -> None:
        self._branches: list[tuple[str, bool]] = []

    def read(self, text: str) -> None:
        """Read a line: a condition that it opens, changes or closes."""
        found = _CONDITION.match(text)
        if found is None:
            return
        word = found[1].lower()
        if word != "if" and self._branches:
            name, holds = self._branches.pop()
            if word == "else":
                self._branches.append((name, not holds))
        if word in {"if", "elif"}:
            self._branches.append(((found[3] or "").lower(), not found[2]))

    def has(self, name: str) -> bool:
        """Return whether a lower-case name is known to be defined at this line."""
        return (name, True) in self._branches


@rule("CRN625", "set-in-vain", Severity.NOTE, "an attribute that the router overwrites")
def _in_vain(table: CheckedTable) -> Iterator[RuleHit]:
    """After all transforms, the router sets the copy's ids, its times and its origin."""
    for route in table.routes:
        if route.edit_job_in_place is not None:
            continue
        for each in commands(route.transform):
            if each.target in _IN_VAIN and each.keyword != "EVALMACRO":
                message = (
                    f"the router sets {_name(each.line.text, each.target)} after all transforms: this has no effect"
                )
                yield RuleHit(message, each.line.span(), "leave it out")


@rule(
    "CRN626", "name-after-subscript", Severity.WARNING, "an attribute selected from the result of a subscript by name"
)
def _selected(table: CheckedTable) -> Iterator[RuleHit]:
    """HTCondor 25.14 looks it up in freed memory: the result is undefined, or the router crashes."""
    asked: list[tuple[Expression | None, Span | None]] = []
    for route in table.routes:
        required = route.transform.requirements
        asked.append((None if required is None else required.expression, table.place(route)))
        asked += [(test, table.assigned(route, name)) for name, test in _tests(route).items()]
    knob = table.configuration.find(Clause.SOURCE_CONSTRAINT.value)
    asked.append((table.table.settings.source_constraint, None if knob is None else knob.span))
    for expression, place in asked:
        found = None if expression is None else next(filter(_is_selected, nodes(expression.tree)), None)
        if isinstance(found, Reference) and found.scope is not None:
            shown, scope = unparse(found)[:80], unparse(found.scope)[:80]
            message = f"{shown} is undefined: HTCondor has discarded {scope} by then"
            yield RuleHit(message, place, f'write {scope}["{found.name}"]')


def _is_selected(node: Node) -> bool:
    """Return whether a node selects a name after subscripts of which one is a text."""
    scope = bare(node.scope) if isinstance(node, Reference) and node.scope is not None else None
    while isinstance(scope, Binary) and scope.op == "[]":
        if isinstance(scope.right, Literal) and isinstance(scope.right.value, str):
            return True
        scope = bare(scope.left)
    return False


@rule("CRN630", "circle", Severity.ERROR, "an attribute that a route or transform makes refer to itself")
def _circle(table: CheckedTable) -> Iterator[RuleHit]:
    """SET stores the expression, in which the attribute's own name then refers to itself."""
    for each in table.table.circles:
        yield RuleHit(each.message, each.span, each.help, severity=each.severity)


def _tests(route: Route) -> dict[str, Expression | None]:
    """Return the conditions of a route besides its REQUIREMENTS."""
    return {
        "JobFailureTest": route.job_failure_test,
        "JobShouldBeSandboxed": route.job_should_be_sandboxed,
        "EditJobInPlace": route.edit_job_in_place,
        "UseSharedX509UserProxy": route.use_shared_x509_user_proxy,
    }


def _name(text: str, lowered: str) -> str:
    """Return a name as a text spells it."""
    found = re.search(re.escape(lowered), text, re.IGNORECASE)
    return found[0] if found else lowered
