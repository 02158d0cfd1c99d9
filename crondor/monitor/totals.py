"""What many looks come to: how many times were due, started, missed, lost, and by what cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from crondor.monitor.verdicts import Cause, DueRun, Verdict

_BEGUN = frozenset((Verdict.STARTED, Verdict.LOST))


@dataclass
class Totals:
    """Counts of due times since the monitor began; the last one before that of each job is among them.

    A run that began and was cut off later is counted among the started and the lost.
    """

    due: int = 0
    started: int = 0
    unknown: int = 0
    unplanned: int = 0
    missed: Counter[Cause] = field(default_factory=Counter)
    lost: Counter[Cause] = field(default_factory=Counter)

    def add(self, runs: Iterable[DueRun]) -> None:
        """Count the news of a look."""
        for run in runs:
            if run.verdict is Verdict.UNPLANNED:
                self.unplanned += 1
                continue
            self.due += run.before is None
            if run.verdict is Verdict.STARTED:
                self.started += run.before not in _BEGUN
            elif run.verdict is Verdict.UNKNOWN:
                self.unknown += 1
            elif run.verdict is Verdict.MISSED and run.cause is not None:
                self.missed[run.cause] += run.before is not Verdict.MISSED
            elif run.verdict is Verdict.LOST and run.cause is not None:
                self.started += run.started is not None and run.before not in _BEGUN
                self.lost[run.cause] += run.before is not Verdict.LOST
