"""Releases of HTCondor, and which of them have a command or a knob: `crondor next` needs these without the tables."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_TEXT: Final = re.compile(r"(\d{1,3})(?:\.(\d{1,3}))?")
_LAST: Final = 10**6  # a minor version that no release reaches
_NEWEST_MINOR: Final = {23: 10, 24: 12, 25: 14}  # of each series that the tables know


class Release(NamedTuple):
    """A release of HTCondor, such as 24.3; fixes (24.3.1) do not count, since they bring no command."""

    major: int
    minor: int

    @classmethod
    def parse(cls, text: str) -> Release:
        """Read ``24.3``, or ``24`` for the last release of that series; raises ValueError for any other text."""
        found = _TEXT.fullmatch(text)
        if found is None:
            raise ValueError(text)
        return cls(int(found[1]), _LAST if found[2] is None else int(found[2]))

    @property
    def is_series(self) -> bool:
        """Whether it stands for the newest release of its series."""
        return self.minor == _LAST

    @property
    def version(self) -> tuple[int, int, int]:
        """The numbers for `if version` of a configuration and for a schedd's rules."""
        return self.major, _NEWEST_MINOR.get(self.major, self.minor) if self.is_series else self.minor, 0

    def __str__(self) -> str:
        """Return it as written."""
        return str(self.major) if self.is_series else f"{self.major}.{self.minor}"


NEWEST: Final = Release(25, 14)
"""The release from whose source and programs the tables and the readers were made."""

OLDEST: Final = Release(23, 0)
"""The oldest release for which the tables know new commands."""


class Releases(NamedTuple):
    """The releases that have something; None: no known beginning, or no end."""

    since: Release | None = None
    until: Release | None = None

    @classmethod
    def parse(cls, text: str) -> Releases:
        """Read ``24.3-``, ``-25.7``, ``23.6-24.11`` or ``-``; raises ValueError for any other text."""
        since, _, until = text.partition("-")
        return cls(Release.parse(since) if since else None, Release.parse(until) if until else None)

    def __contains__(self, release: object) -> bool:
        if not isinstance(release, Release):
            return False
        return (self.since is None or self.since <= release) and (self.until is None or release <= self.until)
