"""What a preview is made of: runs, rows of two readings side by side, and reasons for their difference."""

from __future__ import annotations

from crondor._named_tuple import NamedTuple
from crondor.deferral import Deferral
from crondor.recurrence import ClockMark, ScheddAnswer


class RunSide(NamedTuple):
    """One side of a row; ``answer`` is the schedd's own, which says whether it is a retry.

    ``mark`` says what a clock change did to it.
    """

    deferral: Deferral
    answer: ScheddAnswer | None = None
    mark: ClockMark | None = None

    @property
    def remark(self) -> str:
        """What stands behind its time: nothing for most."""
        said = "retry" if self.is_retry else "" if self.mark is None else str(self.mark)
        return f" ({said})" if said else ""

    @property
    def is_retry(self) -> bool:
        """Say whether the schedd put the job off by two minutes."""
        return self.answer is not None and self.answer.is_retry


class RunRow(NamedTuple):
    """A run in the dialect asked for, or in MANUAL, and beside it what the real schedd does at that time.

    ``compared`` is False where there is nothing to compare with: one dialect only, or a chain that was cut before.
    """

    number: int
    run: RunSide | None
    schedd: RunSide | None = None
    compared: bool = False

    @property
    def differs(self) -> bool:
        """Say whether the two sides part."""
        if not self.compared:
            return False
        return (self.run and self.run.deferral.time) != (self.schedd and self.schedd.deferral.time)


class DialectReason(NamedTuple):
    """Why the real schedd differs, and what to write so that it does not."""

    code: str
    why: str
    write: str | None = None
    is_clause: bool = False  # to be added to requirements, not to replace a line
