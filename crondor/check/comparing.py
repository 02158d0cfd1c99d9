"""Comparisons that never hold, or always: found by what the attributes of machines and jobs can be."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Final, NamedTuple

from crondor.check.rule import RuleHit
from crondor.check.written import (
    EQUAL,
    ORDERED,
    UNEQUAL,
    Comparison,
    WrittenExpression,
    attribute_of,
    comparison,
    comparisons,
    joined_by,
    scope_of,
)
from crondor.classad.tree import Binary, Literal, Node, nodes
from crondor.classad.values import Constant
from crondor.diagnostics import Severity
from crondor.knowledge import AttributeType, job_attributes, machine_attributes

# The values of Arch and OpSys: sysapi_translate_arch and init_arch of HTCondor 25.14; left, what people write.
_ARCH: Final = {
    **dict.fromkeys(("x86-64", "x64", "amd64", "em64t", "intel64", "x8664", "x86_64bit", "64bit"), "X86_64"),
    **dict.fromkeys(("x86", "i386", "i486", "i586", "i686"), "INTEL"),
    **dict.fromkeys(("arm64", "armv8"), "aarch64"),
}
_SYSTEMS: Final = {
    **dict.fromkeys(("linux64", "linux_64", "linux-64", "gnu/linux", "unix"), "LINUX"),
    **dict.fromkeys(("darwin", "mac", "macosx"), "macOS"),
    **dict.fromkeys(("windows10", "windows11", "win10", "win11", "win"), "WINDOWS"),
}
_DISTRIBUTIONS: Final = ("almalinux", "centos", "debian", "fedora", "redhat", "rhel", "rocky", "scientificsl", "ubuntu")
_EXACT: Final = {"arch": ("X86_64", "INTEL", "aarch64"), "opsys": ("LINUX", "WINDOWS", "macOS", "FREEBSD")}

_NUMBERS: Final = frozenset((AttributeType.INTEGER, AttributeType.REAL, AttributeType.TIME, AttributeType.SECONDS))
_TYPED: Final = EQUAL | ORDERED | frozenset(("!=",))  # of which values of other types make an error, or false


class _Reason(NamedTuple):
    message: str
    help: str


def never(each: WrittenExpression, own: Container[str]) -> Iterator[RuleHit]:
    """Yield the comparisons of an expression that never hold; as a part of requirements they are errors.

    ``own`` are the lower-case names of the attributes that the description gives a meaning of its own.
    """
    if each.tree is None:
        return
    is_requirement = each.value.key in {"requirements", "my.requirements"}
    parts = joined_by(each.tree, "&&")
    deadly = {(part.start, part.end) for part in parts} if is_requirement else set()
    if is_requirement and any(isinstance(part, Literal) and isinstance(part.value, str) for part in parts):
        message = "a string is no condition: the job matches no machine"
        yield RuleHit(message, each.value.span, "write the condition without the quotes", severity=Severity.ERROR)
    for found in comparisons(each.tree):
        why = None if attribute_of(found.attribute) in own else _never(found)
        if why is not None:
            grave = Severity.ERROR if (found.node.start, found.node.end) in deadly else None
            yield RuleHit(why.message, each.place(found.node), why.help, severity=grave)
    yield from _at_odds(each, parts, Severity.ERROR if is_requirement else None)


def always(each: WrittenExpression) -> Iterator[RuleHit]:
    """Yield the parts of an OR of which one holds whatever the attribute is."""
    tree = each.tree
    ors = [node for node in nodes(tree) if isinstance(node, Binary) and node.op == "||"] if tree is not None else []
    told: set[int] = set()
    for node in ors:
        seen: dict[tuple[str, str], Constant] = {}
        for found in _comparisons(joined_by(node, "||")):
            key, value = _key(found), _folded(found)
            if found.op in UNEQUAL and seen.setdefault(key, value) != value and found.node.start not in told:
                told.add(found.node.start)
                message = f"whatever {found.attribute.name} is, it is not one of the two: this excludes nothing"
                yield RuleHit(message, each.place(found.node), "join the two with &&")


def _never(found: Comparison) -> _Reason | None:
    """Return why a comparison never holds, and what to write; None for one that may."""
    value, op = found.constant.value, found.op
    reason = _of_types(found) if op in _TYPED else None
    return _of_values(found, value) if reason is None and isinstance(value, str) and op in EQUAL else reason


def _of_types(found: Comparison) -> _Reason | None:
    """Return why an attribute and a constant of two types never compare."""
    value, op, shown, name = found.constant.value, found.op, found.attribute.name, attribute_of(found.attribute)
    known = (table.get(name) for table in (job_attributes(), machine_attributes()))
    kinds = {attribute.type for attribute in known if attribute is not None}
    small = value.strip().lower() if isinstance(value, str) else ""
    if kinds and isinstance(value, str) and kinds <= _NUMBERS:
        return _Reason(f"{shown} is a number, and never compares with a string", f"write {shown} {op} {value.strip()}")
    if kinds == {AttributeType.BOOLEAN} and isinstance(value, str):
        return _Reason(f"{shown} is true or false, and never compares with a string", f"write {shown} {op} {small}")
    if kinds == {AttributeType.STRING} and isinstance(value, (int, float)) and not isinstance(value, bool):
        return _Reason(f"{shown} is a string, and never compares with a number", f'write {shown} {op} "{value}"')
    return None


def _of_values(found: Comparison, value: str) -> _Reason | None:
    """Return why no machine has a value; of Arch and OpSys all are known."""
    op, shown, name, small = found.op, found.attribute.name, attribute_of(found.attribute), value.lower()
    exact = next((each for each in _EXACT.get(name, ()) if each.lower() == small), value)
    if op != "==" and exact != value:
        message = f'{op} tells capitals from small letters, and {shown} is "{exact}"'
        return _Reason(message, f'write {shown} == "{exact}"')
    right = {"arch": _ARCH, "opsys": _SYSTEMS}.get(name, {}).get(small, "")
    if right:
        return _Reason(f'no machine has {shown} "{value}"', f'write {shown} == "{right}"')
    if name == "opsys" and small.startswith(_DISTRIBUTIONS):
        return _Reason(f'no machine has {shown} "{value}": it is "LINUX" for all distributions', "ask for OpSysAndVer")
    return None


def _at_odds(each: WrittenExpression, parts: Sequence[Node], grave: Severity | None) -> Iterator[RuleHit]:
    """Yield the comparisons joined by && that cannot both hold: two values of one attribute, or an empty range."""
    equal: dict[tuple[str, str], Constant] = {}
    least: dict[tuple[str, str], float] = {}
    most: dict[tuple[str, str], float] = {}
    for found in _comparisons(parts):
        key, value, name = _key(found), _folded(found), found.attribute.name
        if found.op in EQUAL and isinstance(value, (str, int, float)):
            first = equal.setdefault(key, value)
            if type(first) is type(value) and first != value:
                message = f"{name} has one value, and && asks for two"
                yield RuleHit(message, each.place(found.node), "join the two with ||", severity=grave)
        elif found.op in ORDERED and isinstance(value, (int, float)) and not isinstance(value, bool):
            if found.op in {">", ">="}:
                least[key] = max(least.get(key, value), value)
            else:
                most[key] = min(most.get(key, value), value)
            if key in least and key in most and least[key] > most[key]:
                message = f"{name} is not above {least.pop(key)} and below {most.pop(key)} at once"
                yield RuleHit(message, each.place(found.node), "join the two with ||, or turn one", severity=grave)


def _comparisons(parts: Sequence[Node]) -> Iterator[Comparison]:
    yield from (found for found in map(comparison, parts) if found is not None)


def _key(found: Comparison) -> tuple[str, str]:
    return scope_of(found.attribute), attribute_of(found.attribute)


def _folded(found: Comparison) -> Constant:
    value = found.constant.value
    return value.lower() if isinstance(value, str) else value
