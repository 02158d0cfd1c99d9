"""CRN62.: lines of a transform that do something else than they say."""

from __future__ import annotations

import re
from collections.abc import Iterator

from crondor.check.rule import Rule, RuleHit, rule
from crondor.classad.errors import CircularReference
from crondor.classad.expression import Expression
from crondor.classad.tree import Binary, Literal, Node, Reference, bare, nodes
from crondor.classad.unparse import unparse
from crondor.diagnostics import Severity
from crondor.router.match.umbrella import Clause
from crondor.router.rules.subject import CheckedTable, commands
from crondor.router.table.route import Route
from crondor.source import Span
from crondor.transform.variables import defined_by, read_by

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
"""Macros that every HTCondor defines itself."""


@rule("CRN621", "keyword-assigned", Severity.WARNING, "a command that is written as an assignment")
def _assigned(table: CheckedTable) -> Iterator[RuleHit]:
    """``REQUIREMENTS = expr`` defines a macro; the route or transform then takes every job."""
    for transform in table.readable:
        for each in transform.warnings:
            if each.code == "CRN621":
                help_text = f"write {each.fix}" if each.fix and len(each.fix) <= 100 else each.help
                yield RuleHit(each.message, each.span, help_text)


@rule("CRN622", "transform-trap", Severity.WARNING, "a line of a transform that HTCondor takes otherwise")
def _trap(table: CheckedTable) -> Iterator[RuleHit]:
    """Commands that fail softly, macros with blanks, conditions that do not hold what they enclose."""
    loaded = {id(transform) for transform in table.transforms}
    for transform in table.readable:
        faults = transform.faults if id(transform) in loaded else ()  # else CRN612 has them
        for each in (*transform.warnings, *faults):
            if each.code not in _OWN:
                yield RuleHit(each.message, each.span, each.help)


@rule("CRN623", "target-undefined", Severity.WARNING, "TARGET where there is no other ad")
def _target(table: CheckedTable) -> Iterator[RuleHit]:
    """A route looks at the job alone: TARGET is undefined, and what depends on it is not true."""
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
    """An undefined macro leaves nothing in its place, without a word.

    Below ``if defined NAME`` somebody has thought of that; and a transform around routes may ask for what only some
    routes define, as HTCondor-CE's own do, where all of a string is such a macro: it is empty then. Where there is no
    route yet, nobody knows what routes will define.
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
                if id(transform) in around and _is_all(line.text, span.text):
                    continue
                if name not in known and f"my.{name}" not in known and span.text.startswith("$("):
                    shown = _name(span.text, name)
                    message = f"nothing defines the macro {shown}: it leaves nothing in its place"
                    help_text = (
                        f"define it, give it a default as in $({shown}:0), or write $(MY.{shown}) for the attribute"
                    )
                    yield RuleHit(message, span, help_text)


class _Guards:
    """The names that the conditions around a line say are defined."""

    def __init__(self) -> None:
        self._branches: list[tuple[str, bool]] = []

    def read(self, text: str) -> None:
        """Take a line: what it opens, changes or closes."""
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
        """Say whether a lower-case name is defined where the line stands."""
        return (name, True) in self._branches


def _is_all(text: str, macro: str) -> bool:
    """Say whether all of a string in a line is one macro."""
    return f'"{macro}"' in text


@rule("CRN625", "set-in-vain", Severity.NOTE, "an attribute that the router sets itself afterwards")
def _in_vain(table: CheckedTable) -> Iterator[RuleHit]:
    """After all transforms the router sets the copy's ids, its times and where it comes from."""
    for route in table.routes:
        if route.edit_job_in_place is not None:
            continue
        for each in commands(route.transform):
            if each.target in _IN_VAIN and each.keyword != "EVALMACRO":
                message = (
                    f"the router sets {_name(each.line.text, each.target)} after all transforms: this has no effect"
                )
                yield RuleHit(message, each.line.span(), "leave it out")


@rule("CRN626", "name-after-subscript", Severity.WARNING, "a name selected from what a subscript by a name gives")
def _selected(table: CheckedTable) -> Iterator[RuleHit]:
    """HTCondor 25.14 looks for it in memory that it has given back: it is undefined, or the router dies."""
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
            message = f"{shown} is undefined for HTCondor, which has lost {scope} by then"
            yield RuleHit(message, place, f'write {scope}["{found.name}"]')


def _is_selected(node: Node) -> bool:
    """Say whether a node is a name behind subscripts of which one is a text."""
    scope = bare(node.scope) if isinstance(node, Reference) and node.scope is not None else None
    while isinstance(scope, Binary) and scope.op == "[]":
        if isinstance(scope.right, Literal) and isinstance(scope.right.value, str):
            return True
        scope = bare(scope.left)
    return False


@rule("CRN630", "circle", Severity.ERROR, "an attribute that a route or transform makes refer to itself")
def _circle(table: CheckedTable) -> Iterator[RuleHit]:
    """SET stores the expression, in which the attribute's own name is the attribute as it is then."""
    for each in table.table.circles:
        yield RuleHit(each.message, each.span, each.help, severity=each.severity)


def _tests(route: Route) -> dict[str, Expression | None]:
    """Return what a route asks of jobs beside its REQUIREMENTS."""
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


TRAP_RULES: tuple[Rule[CheckedTable], ...] = (_assigned, _trap, _target, _undefined, _in_vain, _selected, _circle)
