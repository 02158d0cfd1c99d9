"""What a transform changed in an ad, and how to take it back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, overload

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Code
from crondor.classad.show import code_tree
from crondor.classad.text import lower
from crondor.classad.unparse import unparse


class Change(NamedTuple):
    """One attribute: its name, and its expression in new syntax before and after (None: the ad had none itself).

    A deleted attribute that the parent of the ad has is ``undefined`` afterwards, since it hides the parent's.
    """

    name: str
    before: str | None
    after: str | None


class _Old(NamedTuple):
    name: str
    code: Code | str | None


class Changes(Sequence[Change]):
    """The attributes that differ, in the order of their names; ``undo`` gives an ad its old attributes back."""

    __slots__ = ("_changes", "_old", "_order")

    def __init__(self, before: ClassAd, after: ClassAd) -> None:
        """Compare what two ads have themselves, their parents aside."""
        mine, theirs = before.own(), after.own()
        self._old: list[_Old] = []
        self._changes: list[Change] = []
        self._order = list(mine.names)
        for key in sorted(mine.codes.keys() | theirs.codes.keys()):
            old, new = mine.codes.get(key), theirs.codes.get(key)
            name = mine.names.get(key, theirs.names.get(key, key))
            if old is not new or name != theirs.names.get(key, name):
                first, last = _text(old), _text(new)
                if first != last or name != theirs.names.get(key, name):
                    self._old.append(_Old(name, old))
                    self._changes.append(Change(theirs.names.get(key, name), first, last))

    @overload
    def __getitem__(self, index: int) -> Change: ...
    @overload
    def __getitem__(self, index: slice) -> list[Change]: ...
    def __getitem__(self, index: int | slice) -> Change | list[Change]:
        """Return a change, or some."""
        return self._changes[index]

    def __len__(self) -> int:
        """Return the number of attributes that changed."""
        return len(self._changes)

    def __iter__(self) -> Iterator[Change]:
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


def _text(code: Code | str | None) -> str | None:
    return code if code is None or isinstance(code, str) else unparse(code_tree(code))
