"""Knobs that look like those of a cron job, and that nobody reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from crondor.diagnostics import Diagnostic, Severity, printable, similar
from crondor.hooks.cron.settings import CronSettings

_OF_ALL: Final = ("JOBLIST", "MAX_JOB_LOAD", "AUTOPUBLISH", "LOG_NON_ZERO_EXIT", "NAME")
_OF_A_JOB: Final = (
    *("EXECUTABLE", "MODE", "PERIOD", "PREFIX", "ARGS", "ENV", "CWD", "KILL", "RECONFIG", "RECONFIG_RERUN", "JOB_LOAD"),
    *("CONDITION", "SLOTS", "METRICS", "CONFIG_VAL_PROG"),
)


def misspelt(settings: CronSettings, listed: str, names: Iterable[str]) -> Iterator[Diagnostic]:
    """Yield a warning for each of some knobs that is of no job that is ``listed``, or none that a job has."""
    prefix = f"{settings.manager.value}_"
    jobs = [name.upper() for name in listed.replace(",", " ").split()]
    for name in sorted(name.upper() for name in names if name.upper().startswith(prefix)):
        rest = name.removeprefix(prefix)
        if rest in _OF_ALL:
            continue
        known = [*_OF_ALL, *(f"{job}_{item}" for job in jobs for item in _OF_A_JOB)]
        if rest not in known:
            near = similar(rest, known, 0.8)
            hint = f"did you mean {prefix}{near[0]}?" if near else f"jobs are named in {prefix}JOBLIST"
            yield Diagnostic("hook-cron-unknown", f"{printable(name)} is read by nobody", Severity.WARNING, help=hint)
