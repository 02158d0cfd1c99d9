"""All ads of a queue by key; those that nobody has asked for stay packed, and nobody else knows.

``ads[key]`` is an ad's own dictionary and stays it: from then on the ad is unpacked. Whoever only wants to look asks
``texts``, ``text`` or ``parts``, which leave it as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, MutableMapping
from typing import Final

from crondor.classad.text import lower
from crondor.job_queue import packed
from crondor.job_queue.keys import JobId

Texts = Mapping[str, str]

_NO_NAMES: Final[Texts] = {}


class _Lowered(dict[str, str]):
    """Names in lower case by each spelling seen; the first one of a name becomes its usual one in ``spelled``."""

    __slots__ = ("spelled",)

    def __init__(self) -> None:
        super().__init__()
        self.spelled: dict[str, str] = {}
        for name in packed.IMPLIED.values():
            self[name]

    def __missing__(self, name: str) -> str:
        low = self[name] = sys.intern(lower(name))
        self.spelled.setdefault(low, name)
        return low


class Ads(MutableMapping[str, dict[str, str]]):
    """Texts in old syntax by name in lower case, by key; ``held`` are these, or a packed ad's bytes.

    ``jobs`` are the keys of jobs by cluster and proc.
    """

    __slots__ = ("_lowered", "_odd", "held", "jobs")

    def __init__(self) -> None:
        """Begin without any ad."""
        self.held: dict[str, dict[str, str] | bytes] = {}
        self.jobs: dict[int, dict[int, str]] = {}
        self._lowered = _Lowered()
        self._odd: dict[str, dict[str, str]] = {}  # names of an ad that are not in their usual spelling

    # As a mapping

    def __getitem__(self, key: str) -> dict[str, str]:
        """Return an ad's own dictionary. Raises KeyError."""
        ad = self.held[key]
        if not isinstance(ad, bytes):
            return ad
        texts, names = packed.parts(ad, self._lowered.__getitem__)
        spelled = self._lowered.spelled
        odd = {low: name for low, name in names.items() if spelled[low] != name}
        if odd:
            self._odd[key] = odd
        self.held[key] = texts
        return texts

    def __setitem__(self, key: str, texts: dict[str, str]) -> None:
        """Put an ad in, a job into its cluster too."""
        self.held[key] = texts
        job = JobId.parse(key)
        if job is not None:
            self.jobs.setdefault(job.cluster, {})[job.proc] = key

    def __delitem__(self, key: str) -> None:
        """Remove an ad. Raises KeyError."""
        del self.held[key]
        self._odd.pop(key, None)
        job = JobId.parse(key)
        if job is not None:
            procs = self.jobs[job.cluster]
            procs.pop(job.proc, None)
            if not procs:
                del self.jobs[job.cluster]

    def __contains__(self, key: object) -> bool:
        """Say whether there is an ad of this key."""
        return key in self.held

    def __iter__(self) -> Iterator[str]:
        """Return the keys, in the order in which their ads were made."""
        return iter(self.held)

    def __len__(self) -> int:
        """Return the number of ads."""
        return len(self.held)

    # Looking

    def texts(self, key: str) -> Texts:
        """Return what an ad has, not to be changed. Raises KeyError."""
        ad = self.held[key]
        return packed.parts(ad, self._lowered.__getitem__)[0] if isinstance(ad, bytes) else ad

    def text(self, key: str, low: str) -> str | None:
        """Return an attribute's text, None where the ad has none. Raises KeyError."""
        ad = self.held[key]
        return packed.find(ad, low) if isinstance(ad, bytes) else ad.get(low)

    def parts(self, key: str) -> tuple[Texts, dict[str, str]]:
        """Return what an ad has, and the spelling of its names. Raises KeyError."""
        ad = self.held[key]
        if isinstance(ad, bytes):
            return packed.parts(ad, self._lowered.__getitem__)
        return ad, self.spellings(key, ad)

    def spellings(self, key: str, lows: Collection[str], new: Texts = _NO_NAMES) -> dict[str, str]:
        """Return the spelling that names have in an ad; ``new`` are those of names that no ad has had yet."""
        spelled = self._lowered.spelled
        names = {low: spelled.get(low) or new.get(low, low) for low in lows}
        if key in self._odd:
            names |= {low: name for low, name in self._odd[key].items() if low in lows}
        return names

    def differing(self, key: str, other: Ads) -> frozenset[str]:
        """Return the names, in lower case, that have other texts in an ad than in another queue's of the same key."""
        if self.held[key] == other.held[key]:
            return frozenset()
        mine, theirs = self.texts(key), other.texts(key)
        return frozenset(low for low in mine.keys() | theirs.keys() if mine.get(low) != theirs.get(low))

    # Changing

    def low_of(self, key: str, ad: Texts, name: str) -> str:
        """Return a name in lower case for an ad that gets it: its first spelling there is the one that it has."""
        low = self._lowered[name]
        if low not in ad and self._lowered.spelled[low] != name:
            self._odd.setdefault(key, {})[low] = name
        return low

    def drop(self, key: str, ad: dict[str, str], low: str) -> None:
        """Take an attribute from an ad, if it has it."""
        ad.pop(low, None)
        if key in self._odd:
            self._odd[key].pop(low, None)

    def take_away(self, key: str, ad: bytes, name: str, instead: str | None) -> None:
        """Take an attribute from a packed ad, or set it to another text."""
        record = f"104 {key} {name}\n" if instead is None else f"103 {key} {name} {instead}\n"
        self.edit(key, ad, record.encode("utf-8", "surrogateescape"))

    def edit(self, key: str, ad: bytes, records: bytes) -> None:
        """Append records to a packed ad."""
        self.held[key] = packed.edited(ad, records, self._lowered.__getitem__)
