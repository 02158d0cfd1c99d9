"""Names in expressions that no ad has: words that want quotes, and attributes that are misspelt."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import Final

from crondor.check.rule import Fix, RuleHit, TextEdit
from crondor.check.subject import CheckedFile
from crondor.check.written import COMPARED, WrittenExpression, references
from crondor.classad.tree import Binary, Call, Node, Reference, Unary, bare, nodes
from crondor.diagnostics import Severity
from crondor.knowledge import (
    Attribute,
    AttributeTable,
    AttributeType,
    classad_functions,
    gpu_properties,
    job_attributes,
    machine_attributes,
)
from crondor.knowledge.slips import one_slip
from crondor.source import Span

_WORD: Final = re.compile(r"[A-Za-z_][\w.+-]*|'[^']*'")
_SHORTEST: Final = 5  # letters of a name of which another one may be a slip; shorter ones are alike by chance
_OTHERS: Final = frozenset(("my", "target", "parent", "self", "root", "toplevel", "currenttime"))


def unquoted(each: WrittenExpression, file: CheckedFile) -> Iterator[RuleHit]:
    """Yield the words that stand for themselves: as the whole value of an attribute, or beside a string attribute."""
    if each.tree is None:
        return
    own = file.own_attributes
    if each.value.key.startswith("my.") and _WORD.fullmatch(each.value.text) and _is_word(each.tree, own):
        name = each.value.key.removeprefix("my.")
        shown = _spelt(file, each.value.key) or name
        text = each.value.text.strip("'")
        message = f"{each.value.text} is no string but an attribute, and none has that name: {shown} is undefined"
        yield _quoting(file, each, each.value.span, text, message)
        return
    for node in nodes(each.tree):
        if not isinstance(node, Binary) or node.op.lower() not in COMPARED:
            continue
        for one, other in ((node.left, node.right), (node.right, node.left)):
            word, beside = bare(one), bare(other)
            if not isinstance(word, Reference) or word.scope is not None or is_known(word.name, own):
                continue
            is_single = each.value.text[word.start : word.start + 1] == "'"
            if is_single or _is_string(beside):
                why = "single quotes name an attribute" if is_single else "a word without quotes names an attribute"
                message = f"{why}, and no ad has {word.name}: the comparison is undefined"
                yield _quoting(file, each, each.place(word), word.name, message)


def misspelt(each: WrittenExpression, file: CheckedFile) -> Iterator[RuleHit]:
    """Yield the attributes that nobody knows and whose names are one slip from one that is known."""
    for node in references(each.tree) if each.tree is not None else ():
        if len(node.name) < _SHORTEST or is_known(node.name, file.own_attributes):
            continue
        near = meant(node.name)
        if near is not None:
            message = f"neither jobs nor machines have an attribute {node.name}: it is undefined"
            yield _slip(file, each, node, near.name, message)


def misspelt_property(each: WrittenExpression, file: CheckedFile) -> Iterator[RuleHit]:
    """Yield the properties that no GPU has and whose names are one slip from one that GPUs have."""
    for node in references(each.tree) if each.tree is not None else ():
        near = gpu_properties().near(node.name) if len(node.name) >= _SHORTEST else []
        if len(near) == 1 and node.name not in gpu_properties() and not is_known(node.name, file.own_attributes):
            yield _slip(file, each, node, near[0].name, f"GPUs have no property {node.name}: it is undefined")


def _slip(file: CheckedFile, each: WrittenExpression, node: Reference, name: str, message: str) -> RuleHit:
    place = each.place(node)
    if each.value.is_literal:
        place = place.part(len(place.text) - len(node.name))
    return RuleHit(message, place, f"did you mean {name}?", _renaming(file, place, node.name, name))


def functions(each: WrittenExpression, file: CheckedFile) -> Iterator[RuleHit]:
    """Yield the calls of functions that HTCondor does not have, and functions without the parentheses of a call."""
    known = classad_functions()
    for node in nodes(each.tree) if each.tree is not None else ():
        name = node.name if isinstance(node, (Call, Reference)) else ""
        small = name.lower()
        if isinstance(node, Call) and small not in known:
            close = next((known[other].name for other in known if one_slip(small, other)), None)
            place = each.value.place(node.start, node.start + len(name))
            message = f"HTCondor has no function {name}: its value is an error, and what asks for it never holds"
            if close is None:
                help_text = "see that the pool has it, by CLASSAD_USER_LIBS"
                yield RuleHit(message, place, help_text, severity=Severity.NOTE)
            else:
                fix = _renaming(file, place, name, close)
                yield RuleHit(message, place, f"did you mean {close}?", fix)
        elif isinstance(node, Reference) and _is_uncalled(node, file.own_attributes):
            place = each.place(node)
            message = f"{name} is a function: without parentheses it is an attribute, and none has that name"
            yield RuleHit(message, place, f"write {name}()", _renaming(file, place, name, f"{name}()"))


def _is_uncalled(node: Reference, own: Container[str]) -> bool:
    """Say whether a name is that of a function without arguments, and of no attribute."""
    function = classad_functions().get(node.name.lower()) if node.scope is None else None
    return function is not None and not function.arguments and not is_known(node.name, own)


def _renaming(file: CheckedFile, place: Span, name: str, new: str) -> Fix | None:
    is_here = place.source is file.source and place.text == name
    return Fix(f"write {new}", (TextEdit(place, new),), safe=False) if is_here else None


def meant(name: str) -> Attribute | None:
    """Return the known attribute that a name is one slip from, None if there is none or there are several."""
    near = {found.name: found for table in (machine_attributes(), job_attributes()) for found in table.near(name)}
    return next(iter(near.values())) if len(near) == 1 else None


def _quoting(file: CheckedFile, each: WrittenExpression, place: Span, text: str, message: str) -> RuleHit:
    is_here = each.value.is_literal and place.source is file.source
    fix = Fix(f'write "{text}"', (TextEdit(place, f'"{text}"'),), safe=False) if is_here else None
    return RuleHit(message, place, f'write "{text}"', fix)


def _is_word(tree: Node, own: Container[str]) -> bool:
    """Say whether nothing in the tree of a word, dashes and dots in it, is the name of a known attribute."""
    for node in nodes(tree):
        if isinstance(node, Reference):
            is_scope = node.name.lower() in _OTHERS
            if (is_known(node.name, own) and not is_scope) or (
                len(node.name) >= _SHORTEST and meant(node.name) is not None
            ):
                return False
        elif not (isinstance(node, Binary) and node.op in {"-", "+"}) and not isinstance(node, Unary):
            return False
    return True


def _is_string(node: Node) -> bool:
    """Say whether a node asks for an attribute that is a string in every ad that has it."""
    if not isinstance(node, Reference):
        return False
    found = [table.get(node.name) for table in (job_attributes(), machine_attributes())]
    return any(found) and all(each is None or each.type is AttributeType.STRING for each in found)


def is_known(name: str, own: Container[str]) -> bool:
    """Say whether jobs or machines have an attribute of a name, or the description sets it (lower-case ``own``)."""
    small = name.lower()
    return (
        small in own or small in _OTHERS or any(_has(table, name) for table in (job_attributes(), machine_attributes()))
    )


def _has(table: AttributeTable, name: str) -> bool:
    """Say whether a table has a name; one that stands for many, Request<X>, does not cover a slip of another one."""
    found = table.get(name)
    return found is not None and ("<" not in found.name or len(table.near(name)) != 1)


def _spelt(file: CheckedFile, key: str) -> str:
    """Return the name of an attribute as the description spells it."""
    name = file.submit.name(key) if file.submit is not None else None
    return re.sub(r"^(\+|MY\.)", "", name.text, flags=re.IGNORECASE) if name is not None else ""
