"""Names of an expression replaced by others, at any depth (HTCondor: convert_target_to_my, strip_target_attr_ref)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeAlias

from crondor.classad import lower
from crondor.classad.tree import (
    AdNode,
    Binary,
    Call,
    ListNode,
    Literal,
    Node,
    Reference,
    Ternary,
    Unary,
    children,
)

Change: TypeAlias = Callable[[Node], "Node | None"]
"""Gives what stands in place of a node, None: the node stays, and its parts are looked at."""


def rewrite(tree: Node, change: Change) -> Node:
    """Return the tree with all changes made, from the outside in; the tree itself where there are none."""
    work: list[tuple[Node, bool]] = [(tree, False)]
    done: list[Node] = []
    while work:
        node, is_read = work.pop()
        if is_read:
            count = len(children(node))
            parts = done[-count:]
            del done[-count:]
            same = all(one is other for one, other in zip(parts, children(node), strict=True))
            done.append(node if same else _rebuilt(node, parts))
            continue
        changed = change(node)
        if changed is not None:
            done.append(changed)
        elif children(node):
            work.append((node, True))
            work.extend((part, False) for part in reversed(children(node)))
        else:
            done.append(node)
    return done[0]


def _rebuilt(node: Node, parts: list[Node]) -> Node:  # noqa: PLR0911 - a kind is a line, and a return
    if isinstance(node, Binary):
        return node._replace(left=parts[0], right=parts[1])
    if isinstance(node, Unary):
        return node._replace(operand=parts[0])
    if isinstance(node, Ternary):
        return node._replace(test=parts[0], yes=parts[1], no=parts[2])
    if isinstance(node, Call):
        return node._replace(arguments=tuple(parts))
    if isinstance(node, ListNode):
        return node._replace(items=tuple(parts))
    if isinstance(node, AdNode):
        return node._replace(items=tuple((name, part) for (name, _), part in zip(node.items, parts, strict=True)))
    if isinstance(node, Reference):
        return node._replace(scope=parts[0])
    return node


def without_scope(scopes: Collection[str]) -> Change:
    """Return the change of ``TARGET.x`` to ``x``; ``scopes`` are names in lower case."""

    def change(node: Node) -> Node | None:
        if isinstance(node, Reference) and _is_name(node.scope, scopes):
            return node._replace(scope=None)
        return None

    return change


def scope_to_my(scopes: Collection[str]) -> Change:
    """Return the change of ``TARGET.x`` to ``MY.x``, and of a bare ``TARGET`` to ``MY``."""

    def change(node: Node) -> Node | None:
        return node._replace(name="MY") if isinstance(node, Reference) and _is_name(node, scopes) else None

    return change


def current_time(node: Node) -> Node | None:
    """Return ``time()`` in place of CurrentTime, which HTCondor dropped from its ads."""
    if not isinstance(node, Reference) or lower(node.name) != "currenttime":
        return None
    is_bare = node.scope is None or _is_name(node.scope, {"my", "target", "other"})
    return Call("time", ()) if is_bare else None


def literal_text(node: Node) -> str | None:
    """Return the text of a string literal, with parentheses around it or not; None: it is none."""
    while isinstance(node, Unary) and node.op == "()":
        node = node.operand
    return node.value if isinstance(node, Literal) and isinstance(node.value, str) else None


def _is_name(node: Node | None, names: Collection[str]) -> bool:
    return isinstance(node, Reference) and node.scope is None and lower(node.name) in names
