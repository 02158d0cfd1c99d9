"""Attributes that come and go in each copy alike: worked out once for all jobs with the same mapping of names."""

from __future__ import annotations

from collections.abc import Iterable

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Code
from crondor.classad.spelling import Spelling
from crondor.classad.text import lower

_MOST = 64  # mappings of names that are remembered


class NameChanges:
    """Names that are deleted, and names that are there afterwards."""

    __slots__ = ("_added", "_deleted", "_known")

    def __init__(self, deleted: Iterable[str], added: Iterable[str]) -> None:
        """Take the names as they are spelled; one that an ad has already keeps its spelling and its place."""
        self._deleted = tuple(map(lower, deleted))
        self._added = {lower(name): name for name in added}
        self._known: dict[int, tuple[dict[str, str], tuple[str, ...], dict[str, str]]] = {}

    def make(self, ad: ClassAd) -> dict[str, Code | str]:
        """Change the names of an ad without parent, and return its expressions: the added ones are to be set."""
        codes, names = ad.shared_parts()
        known = self._known.get(id(names))
        if known is None or known[0] is not names:
            known = self._learn(names)
        _, gone, left = known
        for key in gone:
            del codes[key]
        ad.share_names(left)
        return codes

    def _learn(self, names: dict[str, str]) -> tuple[dict[str, str], tuple[str, ...], dict[str, str]]:
        gone = tuple(key for key in self._deleted if key in names)
        added = {key: name for key, name in self._added.items() if key not in names}
        left = Spelling({**{key: name for key, name in names.items() if key not in set(gone)}, **added})
        if len(self._known) >= _MOST:
            self._known.clear()
        found = self._known[id(names)] = (names, gone, left)
        return found
