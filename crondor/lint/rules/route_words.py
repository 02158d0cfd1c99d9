"""CRN60. to CRN64.: the knobs and routes of a router, and misspelled words in them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache
from typing import NamedTuple

from crondor.classad.expression import Expression
from crondor.classad.tree import Binary, ClassAdSyntaxError, Node, Reference, bare, nodes
from crondor.config.deployed import OPTIONAL_TRANSFORMS
from crondor.diagnostics import Severity, Span, similar
from crondor.knowledge import AttributeType, job_attributes, machine_attributes, submit_commands
from crondor.knowledge.words import one_slip
from crondor.lint.rule import Fix, Rule, RuleHit, rule
from crondor.lint.table import CheckedTable, commands, said, told
from crondor.macro.reader import split
from crondor.router.compare.models import name_of
from crondor.router.table.loading import AFTER, BEFORE, NAMES, ROUTE, TRANSFORM, SettingsReader, is_misspelt_list
from crondor.router.table.route import GRID
from crondor.submit.edits import TextEdit

ROUTE_MACROS = (
    *("MaxJobs", "MaxIdleJobs", "FailureRateThreshold", "JobFailureTest", "JobShouldBeSandboxed"),
    *("EditJobInPlace", "UseSharedX509UserProxy", "SharedX509UserProxy", "SendIDTokens", "TargetUniverse"),
    "GridResource",
)
"""Settings that a route makes by macros (HTCondor 25.14, JobRoute::ParseRoute)."""
GRID_TYPES = ("arc", "azure", "batch", "condor", "ec2", "gce", "lsf", "naregi", "nqs", "pbs", "sge", "slurm")
"""The first word of a GridResource (HTCondor 25.14, SubmitHash::SetUniverse)."""
BATCH_SYSTEMS = ("condor", "flux", "kubernetes", "lsf", "nqs", "pbs", "sfapi", "sge", "slurm")
"""The second word after ``batch`` (HTCondor 25.14, supported_lrms of blah.config)."""
_OF_CE = """
    batch_queue BatchProject BatchRuntime Bosco_Cream_Batch CERequirements CondorCE default_BatchProject
    default_BatchRuntime default_CERequirements default_maxMemory default_maxWallTime default_osg_environment
    default_pilot_job_env default_queue default_remote_CERequirements default_remote_NodeNumber default_remote_queue
    default_remote_SMPGranularity default_RequestCpus default_RequestGPUs default_WholeNodes default_xcount
    GlideinCpusIsGood GlideinGPUsIsGood HostNumber InputRSL JobCpus JobGPUs JobIsRunning JobMemory maxMemory
    maxWallTime minWallTime NonHTCondorResource NodeNumber orig_environment OriginalCpus OriginalGPUs OriginalMemory
    osg_environment queue remote_CERequirements remote_NodeNumber remote_OriginalMemory remote_queue
    remote_SMPGranularity RoutedJob SMPGranularity WantWholeNode WholeNodes xcount
"""
_SPELLED = {name.lower(): name for name in _OF_CE.split()}
OF_CE = frozenset(_SPELLED)
"""Attributes (lower case) that HTCondor-CE's routes and jobs use and HTCondor does not."""


@cache
def is_known(name: str) -> bool:
    """Return whether HTCondor or a CE knows an attribute, of a job or of a machine."""
    return name.lower() in OF_CE or name in job_attributes() or name in machine_attributes()


@cache
def meant(name: str) -> str | None:
    """Return the job attribute that an unknown name is one slip away from."""
    job, machine = job_attributes(), machine_attributes()
    if len(name) < _SHORTEST or name.lower() in OF_CE or job.is_one(name) or machine.is_one(name):
        return None  # a name that matches a pattern such as Request<X> may still be a slip
    near = next((each.name for each in job.near(name)), None)
    return near or next((_SPELLED[key] for key in _SPELLED if one_slip(name.lower(), key)), None)


_SHORTEST = 6  # letters; shorter words are too similar to each other

_OLD = re.compile(r"(?i)(eval_set|set|copy|delete)_([A-Za-z_][A-Za-z0-9_]*)").fullmatch
_BEGIN = re.compile(r"[ \t]*[A-Za-z0-9_.]+[ \t]*@=[ \t]*([A-Za-z0-9_]+)[ \t]*\r?")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MACRO = re.compile(r"\$[A-Za-z_]*\(([A-Za-z0-9_.]+)")
_EQUAL = frozenset(("==", "!=", "=?=", "=!=", "is", "isnt"))
_SETTING = frozenset(("SET", "DEFAULT", "EVALSET"))
_QUEUES = frozenset(("batch_queue", "default_queue", "queue", "remote_queue"))
_CONSTANTS = frozenset(("true", "false", "undefined", "error"))


class _Asked(NamedTuple):
    """An expression of a configuration and its place."""

    tree: Node
    span: Span

    def place(self, name: str) -> Span:
        """Return the place of a name in it, or of all of it."""
        found = re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", self.span.text)
        return self.span if found is None else self.span.part(*found.span())


@rule("CRN616", "old-syntax", Severity.WARNING, "a line of the old route syntax in a new route")
def _old(table: CheckedTable) -> Iterator[RuleHit]:
    """``set_Foo = 5`` only defines a macro of that name here."""
    used = _macros(table)
    for transform in table.readable:
        for line in transform.lines:
            parts = split(line.text)
            found = _OLD(parts.name) if parts.operator == "=" else None
            if found is None or parts.name.lower() in used:
                continue
            keyword = {"eval_set": "EVALSET"}.get(found[1].lower(), found[1].upper())
            value = "" if keyword == "DELETE" else f" {line.text.partition('=')[2].strip()}"
            message = f"`{parts.name} = ...` is old route syntax: here it defines an unused macro and changes no job"
            yield RuleHit(message, line.span(), f"write {keyword} {found[2]}{value}"[:200])


@rule("CRN617", "text-after-end", Severity.WARNING, "text after the word that ends a value of several lines")
def _after_end(table: CheckedTable) -> Iterator[RuleHit]:
    """Only a line with just @ and the word ends the value; otherwise the next lines are included."""
    for source in table.configuration.sources:
        word: str | None = None
        at = 0
        for line in source.text.split("\n"):
            text = line.strip()
            if word is None:
                found = _BEGIN.fullmatch(line)
                word = None if found is None else f"@{found[1]}".lower()
            elif text.lower() == word:
                word = None
            elif text.lower().startswith(word) and not text[len(word)].isalnum():
                begin = at + line.index("@")
                message = f"text after {text[: len(word)]}, so this line does not end the value"
                yield RuleHit(message, source.span(begin, begin + len(text)), f"write only {text[: len(word)]}")
            at += len(line) + 1


@rule("CRN627", "macro-slip", Severity.WARNING, "a misspelled setting of a route")
def _macro(table: CheckedTable) -> Iterator[RuleHit]:
    """A route may define any macro; one that nothing reads and that is similar to a setting is a slip."""
    used = _macros(table)
    known = {name.lower(): name for name in ROUTE_MACROS}
    for route in table.routes:
        for line in route.transform.lines:
            parts = split(line.text)
            name = parts.name.lower()
            if parts.operator != "=" or name in known or name in used or len(name) < 6:
                continue
            sure = [each for each in known if one_slip(name, each)]
            near = next(iter(sure or similar(name[:40], known, 0.87)), None)
            if near is not None:
                message = f"{route.name}: no router reads {parts.name}, and nothing reads it as a macro"
                begin = line.text.find(parts.name)
                span = line.span(begin, begin + len(parts.name)) if begin >= 0 else line.span()
                cure = _instead(table, span, parts.name, known[near]) if len(sure) == 1 else None
                yield RuleHit(message, span, f"did you mean {known[near]}?", cure)


@rule("CRN628", "attribute-slip", Severity.WARNING, "an attribute that is one letter from one that jobs have")
def _attribute(table: CheckedTable) -> Iterator[RuleHit]:
    """Nothing sets it and HTCondor does not know it: it is undefined in every job, or nothing reads it."""
    assigned = _assigned(table)
    for asked in _expressions(table):
        for name in _names_asked(asked.tree):
            near = None if name.lower() in assigned else meant(name)
            if near is not None:
                message = f"no job has {name}: it is undefined, and so are expressions with it"
                yield RuleHit(message, asked.place(name), f"did you mean {near}?")
    read = {name.lower() for asked in _expressions(table) for name in _names_asked(asked.tree)} | _macros(table)
    for transform in table.readable:
        for each in commands(transform):
            if each.target is None or each.keyword not in _SETTING or each.target in read:
                continue
            near = None if _attribute_of(each.target) else meant(each.target)
            if near is not None and f"my.{each.target}" not in read:
                name = _spelled(each.line.text, each.target)
                at = each.line.text.find(name)
                yield RuleHit(f"nothing reads {name}", each.line.span(at, at + len(name)), f"did you mean {near}?")


@rule("CRN629", "submit-command", Severity.WARNING, "a submit command where an attribute belongs")
def _command(table: CheckedTable) -> Iterator[RuleHit]:
    """A route works on the job's ad, where request_gpus is RequestGPUs."""
    read = {name.lower() for asked in _expressions(table) for name in _names_asked(asked.tree)} | _macros(table)
    for transform in table.readable:
        assigned = {each.target for each in commands(transform)}
        for each in commands(transform):
            name = each.target
            if name is None or each.keyword not in _SETTING or name in OF_CE or name in read or f"my.{name}" in read:
                continue
            attribute = _attribute_of(name)
            if attribute is not None:
                shown = _spelled(each.line.text, name)
                at = each.line.text.find(shown)
                message = f"{shown} is a submit command, not a job attribute: this line has no effect"
                span = each.line.span(at, at + len(shown))
                cure = None if attribute.lower() in assigned else _instead(table, span, shown, attribute)
                yield RuleHit(message, span, f"write {attribute}", cure)


@rule("CRN635", "missing-quotes", Severity.WARNING, "a string without quotes")
def _quotes(table: CheckedTable) -> Iterator[RuleHit]:
    """A word without quotes is an attribute, undefined in most jobs; and undefined =?= undefined is true."""
    assigned = _assigned(table)
    for asked in _expressions(table):
        for node in nodes(asked.tree):
            sides = (bare(node.left), bare(node.right)) if isinstance(node, Binary) and node.op in _EQUAL else ()
            names = [side.name for side in sides if isinstance(side, Reference) and side.scope is None]
            if len(names) != 2 or names[0].lower() == names[1].lower():
                continue
            strange = [name for name in names if not is_known(name) and name.lower() not in assigned and name.islower()]
            if strange:
                word = strange[-1]
                message = f"without quotes {word} is an attribute, which no job has"
                if isinstance(node, Binary) and node.op in {"=?=", "is"}:
                    message += (
                        f"; if {names[0] if word == names[1] else names[1]} is undefined too, the comparison is true"
                    )
                yield RuleHit(message, asked.place(word), f'write "{word}"')
    for transform in table.readable:
        for each in commands(transform):
            if each.keyword not in _SETTING or each.target is None or not _WORD.fullmatch(each.value):
                continue
            known = job_attributes().get(each.target)
            is_text = each.target in _QUEUES or (known is not None and known.type is AttributeType.STRING)
            word = each.value
            if is_text and not is_known(word) and word.lower() not in assigned | _CONSTANTS:
                at = each.line.text.rfind(word)
                message = f"without quotes {word} is an attribute, which no job has"
                span = each.line.span(at, at + len(word))
                yield RuleHit(message, span, f'write "{word}"', _instead(table, span, word, f'"{word}"'))


@rule("CRN645", "unknown-grid", Severity.WARNING, "a GridResource with a system that HTCondor does not know")
def _grid(table: CheckedTable) -> Iterator[RuleHit]:
    """Its first word is a grid type; after batch, the second is a batch system."""
    for route in table.routes:
        words = (route.grid_resource or "").split()
        if route.universe != GRID or not words:
            continue
        kind, place = words[0].lower(), table.assigned(route, "GridResource") or table.place(route)
        if kind not in GRID_TYPES:
            near = similar(kind[:40], GRID_TYPES, 0.6)
            help_text = f"did you mean {near[0]}?" if near else f"the types are {', '.join(GRID_TYPES)}"
            yield RuleHit(f"{route.name}: HTCondor has no grid type {words[0][:40]}", place, help_text)
        elif kind == "batch" and len(words) > 1 and words[1].lower() not in BATCH_SYSTEMS:
            near = similar(words[1][:40].lower(), BATCH_SYSTEMS, 0.7)
            help_text = f"did you mean {near[0]}?" if near else f"it supports {', '.join(BATCH_SYSTEMS)}"
            message = f"{route.name}: HTCondor's blahp has no scripts for the batch system {words[1][:40]}"
            yield RuleHit(message, place, help_text, severity=None if near else Severity.NOTE)


def _instead(table: CheckedTable, span: Span, old: str, new: str) -> Fix | None:
    """Return the fix that replaces one word by another, if the file has it literally."""
    if span.text != old or not any(span.source is each for each in table.configuration.sources):
        return None
    return Fix(f"{new} in place of {old}", (TextEdit(span, new),))


def _expressions(table: CheckedTable) -> Iterator[_Asked]:
    """Yield the requirements of all transforms, and the expressions they evaluate in the job."""
    for transform in table.readable:
        required = transform.requirements
        if required is not None:
            yield _Asked(required.expression.tree, required.span)
        for each in commands(transform):
            if each.keyword in {"EVALSET", "EVALMACRO"} and "$" not in each.value:
                tree = _tree(each.value)
                if tree is not None:
                    yield _Asked(tree, each.line.span())


@cache
def _tree(text: str) -> Node | None:
    try:
        return Expression(text).tree
    except ClassAdSyntaxError:
        return None


def _names_asked(tree: Node) -> list[str]:
    """Return the names of the job's attributes in an expression, each once, as spelled there."""
    found = {each.name: None for each in nodes(tree) if isinstance(each, Reference) and name_of(each) is not None}
    return sorted(found)


def _assigned(table: CheckedTable) -> frozenset[str]:
    """Return the attributes and macros that the configuration sets, in lower case."""
    found = {each.target for transform in table.readable for each in commands(transform) if each.target is not None}
    for transform in table.readable:
        for each in commands(transform):
            if each.keyword in {"COPY", "RENAME"}:
                found.update(word.lower() for word in each.line.text.split()[1:2])
    return frozenset(found)


def _macros(table: CheckedTable) -> frozenset[str]:
    """Return the macros that some text of the configuration reads, in lower case."""
    texts = [line.text for transform in table.readable for line in transform.lines]
    texts += [knob.text for knob in table.configuration.knobs.values()]
    found = {name.lower() for text in texts for name in _MACRO.findall(text)}
    defined = {word.lower() for text in texts for word in re.findall(r"(?i)\bdefined[ \t]+([A-Za-z0-9_.]+)", text)}
    return frozenset(found | defined)


def _attribute_of(name: str) -> str | None:
    """Return the attribute that a submit command sets, None if it is not a command, or an attribute too."""
    command = submit_commands().get(name) if submit_commands().is_one(name) else None
    if command is None or job_attributes().is_one(name):
        return None
    attribute = command.attribute
    return attribute if attribute and attribute.lower() != name and "<" not in attribute else None


def _spelled(text: str, lowered: str) -> str:
    found = re.search(re.escape(lowered), text, re.IGNORECASE)
    return found[0] if found else lowered


# Faults that make a knob's value invalid, besides its own.
_UNREADABLE = ("classad-syntax", "macro-cycle", "macro-depth", "macro-size", "macro-work")


@rule("CRN601", "config-refused", Severity.ERROR, "a line at which HTCondor stops reading its configuration")
def _refused(table: CheckedTable) -> Iterator[RuleHit]:
    """One invalid line prevents every daemon and tool that reads the file from starting."""
    for each in table.configuration.diagnostics:
        if each.severity is Severity.ERROR:
            yield RuleHit(each.message, each.span, each.help)


@rule("CRN609", "unlisted", Severity.WARNING, "a route or a transform that no list names")
def _unlisted(table: CheckedTable) -> Iterator[RuleHit]:
    """Only listed routes and transforms are loaded; HTCondor does not report the others.

    HTCondor-CE ships unlisted ones.
    """
    took = table.configuration
    for prefix, lists, optional in ((ROUTE, (NAMES,), ()), (TRANSFORM, (BEFORE, AFTER), OPTIONAL_TRANSFORMS)):
        listed = {name.lower() for each in lists for name in _names(table, each)}.union(optional)
        for key, knob in took.knobs.items():
            begin = prefix.lower()
            name = key.removeprefix(f"{took.subsystem.lower()}.")
            if name.startswith(begin) and name not in _LISTS and name[len(begin) :] not in listed:
                meant = f"did you mean {lists[0]}?" if is_misspelt_list(knob.name) else f"add it to {lists[0]}"
                yield RuleHit(f"no list names {knob.name}: it has no effect", knob.name_span, meant)


@rule("CRN606", "bad-knob", Severity.ERROR, "a knob whose value stops the router")
def _bad(table: CheckedTable) -> Iterator[RuleHit]:
    """A value of the wrong type or out of range, or with macros that cannot be expanded."""
    yield from told(table.table.diagnostics[len(table.configuration.diagnostics) :], "CRN606", _UNREADABLE)


def _names(table: CheckedTable, name: str) -> tuple[str, ...]:
    return SettingsReader(table.configuration).names(name)


_LISTS = frozenset(name.lower() for name in (NAMES, BEFORE, AFTER))

_PASSED_ON_KNOB = (
    said(
        "CRN602",
        "config-unread",
        Severity.WARNING,
        "a part of the configuration that HTCondor reads and crondor does not",
    ),
    said(
        "CRN603",
        "config-odd",
        Severity.WARNING,
        "a line of the configuration that HTCondor reads differently than intended",
    ),
    said("CRN604", "unknown-knob", Severity.WARNING, "a knob that the job router does not read"),
    said("CRN605", "removed-knob", Severity.WARNING, "a knob that HTCondor 25 removed"),
    said("CRN607", "no-routes", Severity.ERROR, "a configuration without a list of routes"),
    said("CRN608", "bad-transform", Severity.ERROR, "a transform around routes that disables routing"),
)

_OTHERS = ("CRN611", "CRN613", "CRN614")


def _rejected(code: str, name: str, title: str, *, but: Collection[str] = ()) -> Rule[CheckedTable]:
    """Make a rule of the reasons for rejecting routes: those with its code, or all ``but`` some."""

    def look(table: CheckedTable) -> Iterator[RuleHit]:
        for route in table.table.rejected:
            for each in route.diagnostics:
                if each.code not in but if but else each.code == code:
                    yield RuleHit(f"route {route.name} is left out: {each.message}", each.span, each.help)

    return Rule(code, name, Severity.ERROR, title, look)


_PASSED_ON_ROUTE = (
    _rejected("CRN611", "missing-route", "a listed route that is not defined"),
    _rejected("CRN612", "rejected-route", "a route that HTCondor does not load", but=_OTHERS),
    _rejected("CRN613", "classad-route", "a route written as a ClassAd"),
    _rejected("CRN614", "no-requirements", "a route that does not say which jobs it takes"),
    said("CRN615", "listed-twice", Severity.WARNING, "a route that is listed twice"),
)


@rule("CRN641", "never-accepts", Severity.WARNING, "a limit under which no job is routed")
def _never(table: CheckedTable) -> Iterator[RuleHit]:
    """A route accepts a job while it has fewer jobs than MaxJobs and fewer idle jobs than MaxIdleJobs."""
    for route in table.routes:
        if route.max_jobs <= 0:
            what = ', not "unlimited"' if route.max_jobs < 0 else ""
            message = f"{route.name} never accepts a job: MaxJobs = {route.max_jobs} means no jobs{what}"
            place = table.assigned(route, "MaxJobs") or _default(table, "JOB_ROUTER_DEFAULT_MAX_JOBS_PER_ROUTE")
            yield RuleHit(message, place or table.place(route), "write the limit you want, such as 10000")
        if route.max_idle_jobs == 0:
            message = f"{route.name} never accepts a job: MaxIdleJobs is 0, and a new job is idle"
            place = table.assigned(route, "MaxIdleJobs") or _default(
                table, "JOB_ROUTER_DEFAULT_MAX_IDLE_JOBS_PER_ROUTE"
            )
            yield RuleHit(message, place or table.place(route), "write at least 1, or -1 for no limit")
    if table.table.settings.max_jobs == 0:
        message = "the router never routes a job: JOB_ROUTER_MAX_JOBS is 0"
        yield RuleHit(message, _default(table, "JOB_ROUTER_MAX_JOBS"), "write -1 for no limit")


@rule("CRN646", "idle-limit", Severity.NOTE, "a limit of idle jobs that is never reached")
def _idle(table: CheckedTable) -> Iterator[RuleHit]:
    """A route that has MaxJobs jobs takes no more, idle or not."""
    for route in table.routes:
        own = table.assigned(route, "MaxIdleJobs")
        if own is not None and 0 < route.max_jobs < route.max_idle_jobs:
            message = (
                f"{route.name}: MaxIdleJobs {route.max_idle_jobs} is never reached, since MaxJobs is {route.max_jobs}"
            )
            yield RuleHit(message, own, "write a number below MaxJobs, or -1 for no limit of idle jobs")


def _default(table: CheckedTable, name: str) -> Span | None:
    knob = table.configuration.find(name)
    return knob.span if knob is not None else None


_PASSED_ON_LIMIT = (
    said("CRN642", "limit-ignored", Severity.WARNING, "a value that is not a number, so that the default is used"),
    said("CRN643", "bad-route-value", Severity.WARNING, "a value of a route that HTCondor ignores"),
    said("CRN644", "no-grid-resource", Severity.WARNING, "a grid route that names no resource"),
)
