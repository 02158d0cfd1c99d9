"""When a crontab job leaves the queue: the schedule alone does not repeat it (manual, on_exit_remove)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# condor_submit puts attributes with + or MY. into the ad last, so they win.
REMOVE: Final = ("my.onexitremove", "on_exit_remove", "onexitremove")
RETRIES: Final = ("max_retries", "jobmaxretries", "success_exit_code", "jobsuccessexitcode", "retry_until")
LEAVING: Final = (*REMOVE, *RETRIES)


def leaves_by(values: Mapping[str, str]) -> str | None:
    """Return which command makes a crontab job leave the queue after its first run or its first success.

    ``values`` are those of lower-case submit commands. It is empty where ``on_exit_remove`` is missing, whose default
    is true; None where the job may stay.
    """
    own = REMOVE[0]
    if not values.get(own, "").strip():
        retries = next((name for name in RETRIES if values.get(name, "").strip()), None)
        if retries is not None:
            return retries
    given = next((name for name in REMOVE if values.get(name, "").strip()), None)
    if given is None:
        return ""
    return given if values[given].strip().lower() == "true" else None


def leaving_words(found: str) -> str:
    """Return what ``leaves_by`` found as a sentence, with what to write instead."""
    if found in RETRIES:
        return f"{found} makes the job leave the queue at its first success, whatever on_exit_remove says"
    way = "add on_exit_remove = false" if not found else f"write {found} = false"
    return f"the job leaves the queue after its first run; to repeat it, {way}"
