"""What a transform changed in an ad, and how to take it back (HTCondor: XFormAdUndo::Revert)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, overload

from crondor.classad.ad import ClassAd
from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.scope import Code
from crondor.classad.show import code_tree
from crondor.classad.text import lower
from crondor.classad.unparse import UnparseForm, unparse


class AttributeChange(NamedTuple):
    """One attribute: its name, and its expression in new syntax before and after (None: the ad had none itself).

    A deleted attribute that the parent of the ad has is ``undefined`` afterwards, since it hides the parent's.
    """

    name: str
    before: str | None
    after: str | None

    @property
    def lines(self) -> tuple[str | None, str | None]:
        """Both as lines of a -long ad, None where there is none: ``X = 2.5`` for 2.500000000000000E+00."""
        return _line(self.name, self.before), _line(self.name, self.after)


class _Old(NamedTuple):
    name: str
    code: Code | str | None


class Changes(Sequence[AttributeChange]):
    """The attributes that differ, in the order of their names; ``undo`` gives an ad its old attributes back."""

    __slots__ = ("_changes", "_old", "_order")

    def __init__(self, before: ClassAd, after: ClassAd) -> None:
        """Compare what two ads have themselves, their parents aside."""
        mine, theirs = before.own(), after.own()
        self._old: list[_Old] = []
        self._changes: list[AttributeChange] = []
        self._order = list(mine.names)
        for key in sorted(mine.codes.keys() | theirs.codes.keys()):
            old, new = mine.codes.get(key), theirs.codes.get(key)
            name = mine.names.get(key, theirs.names.get(key, key))
            if old is not new or name != theirs.names.get(key, name):
                first, last = _text(old), _text(new)
                is_renamed = name != theirs.names.get(key, name)
                if first != last or is_renamed:
                    self._old.append(_Old(name, old))
                    if is_renamed or not _is_same(old, new):
                        self._changes.append(AttributeChange(theirs.names.get(key, name), first, last))

    def __repr__(self) -> str:
        """Return the names of the attributes."""
        names = [each.name for each in self._changes]
        return f"<Changes of {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}>"

    def _state(self) -> tuple[object, ...]:
        return self._changes, self._order, [_Old(name, _text(code)) for name, code in self._old]

    def __eq__(self, other: object) -> bool:
        """Compare what changed, and what it would be taken back to."""
        return self._state() == other._state() if isinstance(other, Changes) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as other sequences of what may change

    def __getstate__(self) -> tuple[object, ...]:
        """Return what changed, expressions as texts."""
        return self._state()

    def __setstate__(self, state: tuple[list[AttributeChange], list[str], list[_Old]]) -> None:
        """Take what changed."""
        self._changes, self._order, self._old = state

    @overload
    def __getitem__(self, index: int) -> AttributeChange: ...
    @overload
    def __getitem__(self, index: slice) -> list[AttributeChange]: ...
    def __getitem__(self, index: int | slice) -> AttributeChange | list[AttributeChange]:
        """Return a change, or some."""
        return self._changes[index]

    def __len__(self) -> int:
        """Return the number of attributes that changed."""
        return len(self._changes)

    def __iter__(self) -> Iterator[AttributeChange]:
        """Iterate over the changes."""
        return iter(self._changes)

    def undo(self, ad: ClassAd) -> ClassAd:
        """Give an ad the old attributes back, and return it; what else was changed in it stays.

        Where nothing else was changed, the ad is as it was, the order and the spelling of its names included.
        """
        for old in self._old:
            ad.prune(old.name)
            if old.code is not None:
                ad.put(old.name, old.code)
        now = ad.own()
        if list(now.names) != self._order and now.names.keys() == set(self._order):
            for name in (now.names[key] for key in self._order):
                ad.prune(name)
                ad.put(name, now.codes[lower(name)])
        return ad


def _line(name: str, text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return f"{name} = {unparse(code_tree(text), UnparseForm.OLD)}"
    except ClassAdSyntaxError:
        return f"{name} = {text}"


def _is_same(old: Code | str | None, new: Code | str | None) -> bool:
    """Say whether two texts differ in nothing but how they are written, as 2.5 and 2.5E0 do."""
    if old is None or new is None:
        return old is new
    try:
        return unparse(code_tree(old)) == unparse(code_tree(new))
    except ClassAdSyntaxError:
        return False


def _text(code: Code | str | None) -> str | None:
    return code if code is None or isinstance(code, str) else unparse(code_tree(code))
