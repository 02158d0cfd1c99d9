"""Rules of a site proposed from the SUBMIT_REQUIREMENT_ and JOB_TRANSFORM_ knobs of an access point."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from crondor.access_point import AccessPoint, SubmitRequirement, SubmitTransform
from crondor.access_point.requirements import OF_JOB, is_of_schedd, names_in
from crondor.classad import ClassAd, ClassAdSyntaxError
from crondor.classad.expression import Expression
from crondor.classad.text import lower
from crondor.classad.tree import Literal, Reference, nodes
from crondor.diagnostics import Severity, Source, Span, printable
from crondor.lint.table import RuleLine, commands

_SETS: Final = frozenset(("SET", "EVALSET"))
_CONDITION: Final = re.compile(r"[ \t]*if\b", re.IGNORECASE)
_SETS_IT: Final = 'member("{}", CrondorSets)'
_OF_SCHEDD: Final = frozenset(("my", "schedd"))
_SCOPES: Final = frozenset((*_OF_SCHEDD, "job", "target"))


class _Proposal(NamedTuple):
    """A rule without its code, or the reason why there is none."""

    knob: str
    place: Span | None
    name: str
    severity: Severity = Severity.NOTE
    key: str = "when"
    expression: str = ""
    message: str = ""
    reason: str = ""


def suggested(access_point: AccessPoint) -> Iterator[str]:
    """Yield the lines of a TOML file with rules that find what an access point would refuse or change.

    They are for hosts without its configuration. A knob without a rule is a comment with the reason.
    """
    number = 0
    changed: dict[str, str] = {}  # the knob of a transform by the attributes that it changes
    changes: list[_Proposal] = []
    for transform in access_point.transforms:
        changes += _changed(transform, changed)
        changed |= {each.target: transform.knob for each in commands(transform.transform) if each.target}
    proposals = [*(_required(each, access_point.schedd, changed) for each in access_point.requirements), *changes]
    for each in proposals:
        where = "" if each.place is None else f" ({each.place.source.name}:{each.place.line})"
        yield f"# {printable(each.knob + where)}{f': {each.reason}' if each.reason else ''}"
        if not each.reason:
            number += 1
            yield "[[check.rule]]"
            yield f'code = "SITE{number:03}"'
            yield f'name = "{_kebab(each.name)}"'
            yield f'severity = "{each.severity.value}"'
            yield f"{each.key} = {_toml(each.expression)}"
            yield f"message = {_toml(each.message)}"
        yield ""
    if not proposals:
        yield "# there are no SUBMIT_REQUIREMENT_NAMES and no JOB_TRANSFORM_NAMES"


def _required(requirement: SubmitRequirement, schedd: ClassAd, changed: Mapping[str, str]) -> _Proposal:
    """Propose the requirement itself: a rule reads it as the schedd does, with the job as TARGET."""
    about = _Proposal(requirement.knob, requirement.place, requirement.name)
    unknown = _unknown(requirement.expression, schedd)
    if unknown:
        return about._replace(reason=f"no rule, since {unknown} is unknown before submission")
    changes = _changes(requirement.expression, changed)
    if changes:
        return about._replace(reason=changes)
    severity = Severity.WARNING if requirement.is_warning else Severity.ERROR
    return about._replace(
        severity=severity, key="require", expression=str(requirement.expression), message=_message(requirement, schedd)
    )


def _message(requirement: SubmitRequirement, schedd: ClassAd) -> str:
    reason = requirement.reason
    if reason is not None and isinstance(reason.tree, Literal) and isinstance(reason.tree.value, str):
        return reason.tree.value.replace("{", "{{").replace("}", "}}")
    if reason is None or isinstance(reason.tree, Literal) or _unknown(reason, schedd) or set("{}") & set(str(reason)):
        return f"Submit requirement {requirement.name} not met."
    return f"{{{reason}}}"


def _unknown(expression: Expression, schedd: ClassAd) -> str:
    """Return the first attribute of an expression that is known only at submission, empty if there is none."""
    for node in nodes(expression.tree):
        if isinstance(node, Reference):
            scope = lower(node.scope.name) if isinstance(node.scope, Reference) else ""
            is_bare = not scope and lower(node.name) not in _SCOPES
            of_schedd = is_bare and (node.name in schedd or is_of_schedd(lower(node.name)))
            if scope in _OF_SCHEDD or of_schedd or lower(node.name) in OF_JOB:
                return f"{node.scope.name}.{node.name}" if isinstance(node.scope, Reference) else node.name
    return ""


def _changes(expression: Expression, changed: Mapping[str, str]) -> str:
    """Return why there is no rule if a transform changes what an expression reads, otherwise empty."""
    found = (name for name in names_in(expression) if lower(name) in changed)
    return next((f"no rule, since {changed[lower(name)]} changes {name}" for name in found), "")


def _changed(transform: SubmitTransform, changed: Mapping[str, str]) -> Iterator[_Proposal]:
    """Propose a note for each attribute that a transform sets or deletes, whatever the job has there."""
    asked = transform.transform.requirements
    condition = "" if asked is None else str(asked.expression)
    about = _Proposal(transform.knob, transform.place, transform.name)
    lines = [each for each in commands(transform.transform) if each.keyword in {*_SETS, "DELETE"}]
    is_conditional = any(_CONDITION.match(line.text) for line in transform.transform.lines)
    reason = "no rule, since it has conditions" if is_conditional else asked and _changes(asked.expression, changed)
    if reason:
        yield about._replace(reason=reason)
        return
    for each in lines:
        found = about._replace(place=each.line.span(), name=f"{transform.name}-{each.target or ''}")
        yield _change(found, each, condition)
    if not lines:
        yield about._replace(reason="no rule, since it neither sets nor deletes an attribute")


def _change(about: _Proposal, line: RuleLine, condition: str) -> _Proposal:
    if line.target is None or "$(" in line.value or "$(" in condition:
        return about._replace(reason="no rule, since it has macros or a pattern")
    name = line.line.text.split()[1].strip('",=')
    if line.keyword == "DELETE":
        tests, what = [_SETS_IT.format(name)], f"deletes {name}"
    else:
        try:
            value = str(Expression.parse(Source(line.value)))
        except ClassAdSyntaxError:
            return about._replace(reason="no rule, since its value is not an expression")
        tests = [_SETS_IT.format(name), f"{name} =!= ({value})"]
        braces = value.replace("{", "{{").replace("}", "}}")
        what = f"sets {name} to {braces}"
    tests = [f"({condition})", *tests] if condition else tests
    return about._replace(expression=" && ".join(tests), message=f"the access point {what}: {{{name}}} has no effect")


def _kebab(name: str) -> str:
    found = "-".join(re.findall("[a-z0-9]+", name.lower()))
    return found if found[:1].isalpha() else f"rule-{found}"


def _toml(text: str) -> str:
    """Return a TOML string, without escapes if possible."""
    if "'" not in text and text.isprintable():
        return f"'{text}'" if '"' in text or "\\" in text else f'"{text}"'
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
