"""The moments of one run of a deferred job, the checks before it, and the starter's verdict; only numbers.

HTCondor: Starter::jobWaitUntilExecuteTime.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from crondor._types import expect
from crondor.codes import MISSED_DEFERRED_EXECUTION_TIME
from crondor.diagnostics import CrondorError, Diagnostic, Severity

DEFAULT_WINDOW = 0
DEFAULT_PREP_TIME = 300
DEFAULT_SCHEDD_INTERVAL = 300

MISSED_REASON = "Job missed deferred execution time"


GATE = (
    "(((time() + ScheddInterval) >= (DeferralTime - DeferralPrepTime)) && (time() < (DeferralTime + DeferralWindow)))"
)
"""The clause that condor_submit adds (SubmitHash::SetRequirements); ``Deferral.may_match`` computes it."""

MACHINE_DEFERS = "TARGET.HasJobDeferral"
"""The clause about the machine, if there is one: its starter waits for the time."""

LATEST = 253402300799  # the last second of the year 9999


def passed_over(times: Iterable[int], interval: int, kept: int | None = None) -> list[int]:
    """Return the times (seconds, ascending) that are less than ``interval`` after the last one kept.

    A schedd that only computes a job's next time once in ``interval`` seconds (SCHEDD_INTERVAL) may miss them. ``kept``
    is the last time kept before, None for none.
    """
    found = []
    for time in times:
        if kept is not None and time - kept < interval:
            found.append(time)
        else:
            kept = time
    return found


class InvalidDeferral(CrondorError, ValueError):
    """Numbers with which no job can run: a time that is not positive, or a negative length."""


class Verdict(str, Enum):
    """The starter's decision on a job that has arrived."""

    WAIT = "wait"
    START = "start"
    MISSED = "missed"


class Arrival(NamedTuple):
    """The starter's verdict on a job whose files are transferred (manual, Deferral Window; HTCondor 25.14).

    ``seconds`` is how long it waits (WAIT) or how late it is (START, MISSED).
    """

    verdict: Verdict
    seconds: int

    @property
    def hold_reason(self) -> str | None:
        """The HoldReason of a missed run, else None."""
        return MISSED_REASON if self.verdict is Verdict.MISSED else None

    @property
    def hold_code(self) -> int | None:
        """The HoldReasonCode of a missed run, else None."""
        return MISSED_DEFERRED_EXECUTION_TIME if self.verdict is Verdict.MISSED else None


_PLAIN: Final = {int}


@dataclass(frozen=True, slots=True)
class Deferral:
    """One run: DeferralTime (epoch seconds), its window and prep time and the schedd's interval (seconds).

    Raises InvalidDeferral for a time that is not positive (the starter holds the job) or after the year 9999, and for a
    negative length.
    """

    time: int
    window: int = DEFAULT_WINDOW
    prep_time: int = DEFAULT_PREP_TIME
    schedd_interval: int = DEFAULT_SCHEDD_INTERVAL

    def __post_init__(self) -> None:
        """Raise InvalidDeferral for impossible numbers."""
        time, window, prep_time, interval = numbers = (self.time, self.window, self.prep_time, self.schedd_interval)
        is_plain = {*map(type, numbers)} == _PLAIN
        if is_plain and 0 < time <= LATEST and window >= 0 and prep_time >= 0 and interval >= 0:
            return
        if not is_plain:  # rare: a subclass of int, or not a number
            for name, number in zip(("time", "window", "prep_time", "schedd_interval"), numbers, strict=True):
                expect(name, number, (int, float), "a number of seconds")
        faults = []
        if self.time <= 0:
            held = f"the starter holds the job (code {MISSED_DEFERRED_EXECUTION_TIME})"
            message = f"DeferralTime {self.time} is not a time: {held}"
            faults.append(Diagnostic("deferral-time", message, help="write a positive number of epoch seconds"))
        if self.time > LATEST:
            message = f"DeferralTime {str(self.time)[:20]} is after the year 9999"
            faults.append(Diagnostic("deferral-time", message, help=_far_help(self.time)))
        for name, value in (
            ("window", self.window),
            ("prep time", self.prep_time),
            ("SCHEDD_INTERVAL", self.schedd_interval),
        ):
            if value < 0:
                message = f"the {name} is negative: {value}"
                faults.append(Diagnostic("deferral-length", message, help="write a number of seconds, 0 or more"))
        if faults:
            raise InvalidDeferral(faults)

    @property
    def nominal_match(self) -> int:
        """When the job may be matched according to the manual: ``time - prep_time``."""
        return self.time - self.prep_time

    @property
    def match_opens(self) -> int:
        """When Requirements and the schedd's start test actually allow a match: SCHEDD_INTERVAL earlier."""
        return self.time - self.prep_time - self.schedd_interval

    @property
    def last_match(self) -> int:
        """The last second at which Requirements still match; with window 0 it is before ``time``."""
        return self.time + self.window - 1

    @property
    def last_start(self) -> int:
        """The last second at which the starter still starts the job: exactly the window's end."""
        return self.time + self.window

    def may_start(self, now: int) -> bool:
        """Apply the schedd's start test at ``now``: time() + SCHEDD_INTERVAL >= DeferralTime - CronPrepTime."""
        return now + self.schedd_interval >= self.time - self.prep_time

    def may_match(self, now: int) -> bool:
        """Evaluate the clause that condor_submit adds to Requirements at ``now``; the window's end is excluded."""
        return self.may_start(now) and now < self.time + self.window

    def arrival(self, now: int) -> Arrival:
        """Return the starter's verdict on a job that is ready at ``now`` (epoch seconds of the execute machine)."""
        late = now - self.time
        if late < 0:
            return Arrival(Verdict.WAIT, -late)
        return Arrival(Verdict.START if late <= self.window else Verdict.MISSED, late)


def past(run: Deferral, now: int) -> Diagnostic | None:
    """Return a diagnostic if the only time of a job is past at ``now`` (epoch seconds), else None.

    Within its window the job starts at once; afterwards its Requirements never match again.
    """
    if run.time > now:
        return None
    if now <= run.last_match:
        message = f"the time is past: the job would start at once, if it is matched within {run.last_match - now} s"
        return Diagnostic("time-past", message, Severity.NOTE)
    message = "the time is past, and its window too: the job would never match and stay idle forever"
    return Diagnostic("time-past", message, help="set a later deferral_time, or a longer deferral_window")


def _far_help(time: int) -> str:
    if time // 1000 <= LATEST:
        return f"it looks like milliseconds: write {time // 1000}"
    return "write a number of epoch seconds"
