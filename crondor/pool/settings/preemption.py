"""When the pool takes a machine back from a job that is on it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from crondor.diagnostics import CrondorError, Diagnostic
from crondor.pool.settings.lengths import Lengths, chance, share
from crondor.source import Source

_SHARE: Final = re.compile(r"\s*(\d{1,3}(?:\.\d{1,6})?)\s*%\s*@(.*)", re.ASCII | re.DOTALL).fullmatch
_ALL: Final = 100


class InvalidPreemption(CrondorError, ValueError):
    """A share of the runs that is none."""


@dataclass(frozen=True)
class Preemption:
    """A part of the runs (0 to 1) loses its machine, ``after`` so long a time from the match; what ends before, not."""

    after: Lengths
    share: float = 1.0

    @classmethod
    def parse(cls, text: str, name: str = "<preemption>") -> Preemption:
        """Read a length, ``exp:8h``, or a share of the runs before it: ``10%@5m-2h``.

        Raises InvalidPreemption and InvalidLength.
        """
        found = _SHARE(text)
        if found is None:
            return cls(Lengths.parse(text, name))
        percent = float(found[1])
        if percent > _ALL:
            span = Source(text, name).span()
            raise InvalidPreemption(
                Diagnostic("preemption", f"{found[1]} % are more than all runs", span=span, help="write 0 % to 100 %")
            )
        return cls(Lengths.parse(found[2], name), percent / _ALL)

    def drawn(self, lot: int) -> int | None:
        """Return after how many seconds the run of a chance loses its machine, None for not at all."""
        return self.after.drawn(chance(1, after=lot)) if share(lot) < self.share else None

    def __str__(self) -> str:
        """Return it as it is written."""
        return str(self.after) if self.share == 1 else f"{self.share * _ALL:g}%@{self.after}"
