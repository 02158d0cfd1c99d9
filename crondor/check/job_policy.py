"""What the policy of a job that is still to be submitted will ask for: the ad that it will be asked of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from crondor._schedule.leaving import RETRIES
from crondor.check.policy_names import NAMES, POLICIES, REMOVE
from crondor.check.subject import CheckedJob
from crondor.job.status import JobStatus

_LITERALS: Final = {"true": False, "false": True}  # most of on_exit_remove; they need no engine
_LONGEST: Final = 2000  # characters of the expressions that are tried on every outcome
_NUMBER: Final = re.compile(r"\d+")
_MANY: Final = 1_000_000  # runs
_LATE: Final = 50 * 366 * 86400  # seconds from now


def repeats(job: CheckedJob) -> bool:
    """Say whether the job is idle again after a run that ends well."""
    return _stays(job, [(1, 0, False)], job.settings.now)


def never_removed(job: CheckedJob) -> bool:
    """Say whether the job is idle again whatever the outcome of a run, now and in fifty years, the first or last."""
    if not repeats(job):
        return False
    text = " ".join(job.values.get(name, "") for name in POLICIES)
    if len(text) > _LONGEST:
        return False  # nobody knows, and trying it out takes long
    ends = [(code, False) for code in range(256)] + [(signal, True) for signal in range(1, 32)]
    named = set(_NUMBER.findall(text))
    ends.sort(key=lambda end: str(end[0]) not in named)  # an outcome that is named is most often the one that counts
    return _stays(job, [(times, *end) for times in (1, _MANY) for end in ends], job.settings.now + _LATE)


def stays(job: CheckedJob, status: JobStatus, state: Mapping[str, object], moments: Iterable[int]) -> bool:
    """Say whether the policy leaves a job alone, at all of some moments (epoch seconds), whose ad says ``state``.

    What the schedd passes over leaves it alone, too. A policy that is no expression does not: condor_submit refuses it.
    """
    if _is_plain(job):
        return True
    from crondor.check.expressions import left_alone  # noqa: PLC0415 - the engine takes 17 ms, and few jobs need it

    return left_alone(job, _policies(job), status, state, moments)


def _stays(job: CheckedJob, runs: Iterable[tuple[int, int, bool]], now: int) -> bool:
    """Say whether the job stays in the queue, and idle, after each of some runs: the how many-th, and its ending.

    With max_retries and its like condor_submit makes OnExitRemove of them, OR on_exit_remove: success ends the job.
    """
    name = job.first(*REMOVE)
    if name != REMOVE[0] and job.first(*RETRIES) is not None:
        return False  # unless success_exit_code is another one; then that ends it
    text = "true" if name is None else job.values[name].strip().lower()
    if text in _LITERALS and _is_plain(job):
        return _LITERALS[text]
    from crondor.check.expressions import idle_again  # noqa: PLC0415 - the engine takes 17 ms, and few jobs need it

    return idle_again(job, _policies(job), runs, now)


def _is_plain(job: CheckedJob) -> bool:
    """Say whether a job has no policy beside on_exit_remove: then nobody needs the engine to tell."""
    return not any(
        text.strip() and key not in REMOVE and (key in POLICIES or key.startswith("my."))
        for key, text in job.values.items()
    )


def _policies(job: CheckedJob) -> dict[str, str]:
    """Return the texts of the policies by attribute."""
    found = ((attribute, job.first(*names)) for attribute, names in NAMES.items())
    return {attribute: job.values[name] for attribute, name in found if name is not None}
