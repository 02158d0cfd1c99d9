"""The grammars that docstrings state: whether they are closed, and texts made by them.

A rule is a paragraph of a docstring or a part of one: ``name = ...`` and lines that go on with ``|``. There are
``"literals"``, ``[classes]`` of characters, ``(groups)``, ``? * +``, names of rules, and TERMINALS, which the module
has as a name, as a member of an Enum, or as a kind of token.
"""

from __future__ import annotations

import ast
import inspect
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from types import ModuleType
from typing import NamedTuple

_RULE = re.compile(r"[ ]*([a-z_]+) = (\S.*)")
_PIECE = re.compile(r"""\s*("[^"]*"|'[^']*'|\[(?:\\.|[^\]\\])+\]|[A-Za-z_]+|[()|?*+])""")
_CHARACTERS = "7aBeu_.- x\\'"
_DEEP = 8


class Node(NamedTuple):
    """A part of a rule; its kind is literal, class, rule, terminal, any (of its parts), row, or one of ``? * +``."""

    kind: str
    text: str = ""
    parts: tuple[Node, ...] = ()

    def leaves(self) -> Iterator[Node]:
        """Yield the parts that have none."""
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.leaves()


class _Reader:
    def __init__(self, text: str) -> None:
        self.pieces = _PIECE.findall(text)
        assert not _PIECE.sub("", text).strip(), text
        self.at = 0

    def next(self) -> str:
        return self.pieces[self.at] if self.at < len(self.pieces) else ""

    def choice(self) -> Node:
        parts = [self.row()]
        while self.next() == "|":
            self.at += 1
            parts.append(self.row())
        return parts[0] if len(parts) == 1 else Node("any", "", tuple(parts))

    def row(self) -> Node:
        parts = []
        while self.next() not in {"", "|", ")"}:
            parts.append(self.repeated())
        return Node("row", "", tuple(parts))

    def repeated(self) -> Node:
        piece = self.next()
        self.at += 1
        if piece == "(":
            node = self.choice()
            assert self.next() == ")"
            self.at += 1
        elif piece[0] in "\"'":
            node = Node("literal", piece[1:-1])
        elif piece[0] == "[":
            node = Node("class", piece)
        else:
            node = Node("rule" if piece.islower() else "terminal", piece)
        while self.next() in {"?", "*", "+"}:
            node = Node(self.next(), "", (node,))
            self.at += 1
        return node


def rules_of(*modules: ModuleType) -> dict[str, Node]:
    """Return the rules of all docstrings of modules."""
    texts: dict[str, str] = {}
    for module in modules:
        for found in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(found, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                name = ""
                for line in (ast.get_docstring(found) or "").splitlines():
                    begun = _RULE.fullmatch(line)
                    if begun:
                        name = begun[1]
                        assert name not in texts, f"{name} is defined twice"
                        texts[name] = begun[2]
                    elif name and line.lstrip().startswith("|"):
                        texts[name] += " " + line.lstrip()
                    else:
                        name = ""
    return {name: _whole(text) for name, text in texts.items()}


def _whole(text: str) -> Node:
    reader = _Reader(text)
    node = reader.choice()
    assert not reader.next(), text
    return node


def faults(starts: Iterable[str], modules: Iterable[ModuleType], borrowed: Iterable[str]) -> list[str]:
    """Return what is wrong with a grammar: rules that are missing or unused, terminals and words that are unknown."""
    rules = rules_of(*modules)
    names = {name.lstrip("_") for module in modules for name in _names(module)}
    constants = "".join(map(_constants, modules))
    known: dict[str, Callable[[str], bool]] = {
        "rule": lambda text: text in rules or text in borrowed,
        "terminal": lambda text: text in names or f"\n{text.lower()}\n" in constants,
        "literal": lambda text: all(word in constants for word in re.findall(r"[a-z_]+|[^\sa-z_]", text.lower())),
        "class": lambda text: bool(re.compile(text)),
        "row": lambda text: not text,
    }
    leaves = [(name, leaf) for name, rule in rules.items() for leaf in rule.leaves()]
    unknown = [f"{name}: no {leaf.kind} {leaf.text}" for name, leaf in leaves if not known[leaf.kind](leaf.text)]
    used = {leaf.text for _, leaf in leaves}.union(starts)
    unknown += [f"{name}: no rule" for name in starts if name not in rules]
    return unknown + [f"{name}: no rule asks for it" for name in rules if name not in used]


def _names(module: ModuleType) -> Iterator[str]:
    for name, value in vars(module).items():
        yield name
        if isinstance(value, type) and issubclass(value, Enum):
            yield from value.__members__


def _constants(module: ModuleType) -> str:
    tree = ast.parse(inspect.getsource(module))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docstrings)
    return "\n" + "\n".join(str(node.value) for node in nodes).lower() + "\n"


def sentence(start: str, rules: Mapping[str, Node], samples: Mapping[str, str], joint: str, dice: random.Random) -> str:
    """Return a text of a rule; ``joint`` stands between its parts, but not in rules that have classes of characters."""
    return _text(Node("rule", start), rules, samples, joint, dice, 0)


def _text(
    node: Node, rules: Mapping[str, Node], samples: Mapping[str, str], joint: str, dice: random.Random, depth: int
) -> str:
    def made(part: Node) -> str:
        return _text(part, rules, samples, joint, dice, depth)

    found = samples.get(node.text, node.text)
    if node.kind == "rule" and node.text not in samples:
        rule = rules[node.text]
        joint = "" if any(leaf.kind == "class" for leaf in rule.leaves()) else joint
        found = _text(rule, rules, samples, joint, dice, depth + 1)
    elif node.kind == "class":
        found = dice.choice([each for each in _CHARACTERS if re.fullmatch(node.text, each)] or [node.text[1]])
    elif node.kind == "any":
        plain = [part for part in node.parts if all(leaf.kind != "rule" for leaf in part.leaves())]
        found = made(dice.choice((depth > _DEEP and plain) or node.parts))
    elif node.kind == "row":
        found = joint.join(filter(None, map(made, node.parts)))
    elif node.kind in {"?", "*", "+"}:
        most = 0 if depth > _DEEP else 1 if node.kind == "?" else 2
        found = joint.join(made(node.parts[0]) for _ in range(max(dice.randint(0, most), node.kind == "+")))
    return found
