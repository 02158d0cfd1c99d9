"""Expressions as users of the package hold them: read once, printed, evaluated, taken apart."""

from __future__ import annotations

from typing import NamedTuple

from crondor.classad.compile import code_of, read
from crondor.classad.errors import CircularReference
from crondor.classad.evaluate import EMPTY, holds, references_of, value_of
from crondor.classad.explain import Explanation, explain
from crondor.classad.flatten import flatten
from crondor.classad.limits import MAX_CACHED_TEXT
from crondor.classad.parser import parse_expression
from crondor.classad.scope import Attributes, Code, Context, Inlining, Value
from crondor.classad.show import code_tree
from crondor.classad.text import lower
from crondor.classad.tree import Node
from crondor.classad.unparse import UnparseForm, unparse
from crondor.diagnostics import Diagnostic
from crondor.source import Source

NOW_UNKNOWN = Context()


class References(NamedTuple):
    """The attributes an expression refers to, each with the spelling of its first occurrence, sorted without case.

    ``internal`` are found in its own ad, directly or through attributes that are; ``external`` are not: they may be
    in the other ad of a match, or nowhere. ``target`` are those of them it asks the other ad for by name.
    """

    internal: tuple[str, ...]
    external: tuple[str, ...]
    target: tuple[str, ...]


class Expression:
    """An expression; two are equal when they print alike."""

    __slots__ = ("_source", "code")

    def __init__(self, text: str) -> None:
        """Read an expression in new syntax.

        Raises ClassAdSyntaxError.
        """
        self.code = read(text)
        self._source: Source | None = None if len(text) > MAX_CACHED_TEXT else Source(text)

    @classmethod
    def parse(
        cls, source: Source, *, old: bool = False, partial: bool = False, open_choice: bool = False
    ) -> Expression:
        """Read an expression of a named source, so that its errors say where they are.

        ``old``: strings by the rules of ``-long`` ads. ``partial``: text after a complete expression is ignored;
        ``open_choice``: after a ``? :`` alone, as HTCondor's configuration and transforms are read.
        Raises ClassAdSyntaxError.
        """
        if partial or open_choice or len(source.text) > MAX_CACHED_TEXT:
            return cls.of(parse_expression(source, old=old, partial=partial, open_choice=open_choice), source)
        made = cls.__new__(cls)
        try:
            made.code = read(source.text, old=old)
        except ValueError:
            parse_expression(source, old=old)  # the same error, at the place people know
            raise
        made._source = source  # noqa: SLF001 - of its own class
        return made

    @classmethod
    def of(cls, node: Node | Code, source: Source | None = None) -> Expression:
        """Return a tree as an expression."""
        made = cls.__new__(cls)
        made.code = node if isinstance(node, Code) else code_of(node)
        made._source = source  # noqa: SLF001
        return made

    @property
    def tree(self) -> Node:
        """The syntax tree; its offsets are those of the text it was read from."""
        return code_tree(self.code)

    def evaluate(
        self, my: Attributes = EMPTY, target: Attributes | None = None, context: Context = NOW_UNKNOWN
    ) -> Value:
        """Return the value in an ad, or in a match of two.

        Raises EvaluationFailed.
        """
        return value_of(self.code, my, target, context)

    def holds(self, my: Attributes = EMPTY, target: Attributes | None = None, context: Context = NOW_UNKNOWN) -> bool:
        """Say whether the value is true, or a number that is not zero; whatever else happens is no."""
        return holds(self.code, my, target, context)

    def unparse(self, form: UnparseForm = UnparseForm.COMPACT, *, faithful: bool = False) -> str:
        """Return the text as HTCondor prints it, but so that it reads back; ``faithful``: exactly as HTCondor."""
        return unparse(self.tree, form, faithful=faithful)

    def references(self, ad: Attributes = EMPTY) -> References:
        """Return the attributes referred to, seen from an ad.

        Raises CircularReference, also for a selection from what is no ad.
        """
        inside = references_of(self.code, ad, internal=True)
        outside = None if inside is None else references_of(self.code, ad, internal=False)
        if inside is None or outside is None:
            message = "its references have no end: an attribute refers to itself, or a name is selected from no ad"
            span = None if self._source is None else self._source.span()
            raise CircularReference(Diagnostic("classad-references", message, span=span))
        prefixes = ("target.", "other.")
        target = tuple(name[len(prefix) :] for name in outside for prefix in prefixes if lower(name).startswith(prefix))
        return References(tuple(inside), tuple(outside), target)

    def flatten(
        self, ad: Attributes = EMPTY, context: Context = NOW_UNKNOWN, inlining: Inlining | None = None
    ) -> Expression:
        """Return what is left when all that the ad decides is computed; with ``inlining`` without names of the ad.

        Raises EvaluationFailed.
        """
        return Expression.of(flatten(self.code, ad, context, inlining))

    def explain(
        self, my: Attributes = EMPTY, target: Attributes | None = None, context: Context = NOW_UNKNOWN
    ) -> Explanation:
        """Return the values of all parts, and the shortest reason why the whole is not true."""
        return explain(self.code, my, target, context)

    def __str__(self) -> str:
        """Return the text as HTCondor prints it on one line."""
        return self.unparse()

    def __repr__(self) -> str:
        """Return a call that makes this expression."""
        return f"Expression({self.unparse()!r})"

    def __eq__(self, other: object) -> bool:
        """Compare the printed texts."""
        return self.unparse() == other.unparse() if isinstance(other, Expression) else NotImplemented

    def __hash__(self) -> int:
        """Hash the printed text."""
        return hash(self.unparse())

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and pickle by the text, which is compiled again where it is evaluated."""
        return _restored, (self.unparse(), self._source)


def _restored(text: str, source: Source | None) -> Expression:
    return Expression.of(read(text), source)
