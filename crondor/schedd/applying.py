"""Writing what a pass over crontab jobs has found, job by job, into a schedd of any kind."""

from __future__ import annotations

from collections.abc import Iterable

from crondor.hold_codes import INVALID_CRON_SETTINGS
from crondor.schedd.cron_tabs import HOLD_SUBCODE, CronEdit
from crondor.schedd.protocol import Hold, Schedd
from crondor.schedd.selection import Selection

_IDLE = "JobStatus == 1"


def hold_of(edit: CronEdit) -> Hold:
    """Return why a job with an invalid schedule is held."""
    return Hold(edit.hold or "", INVALID_CRON_SETTINGS, HOLD_SUBCODE)


def apply_edits(schedd: Schedd, edits: Iterable[CronEdit]) -> list[CronEdit]:
    """Write edits while their jobs are idle, and return those that were written.

    Each is one attribute, or one hold, under its condition: wherever it ends, the rest is what the next pass finds.
    Raises what the schedd raises.
    """
    return [edit for edit in edits if _apply(schedd, edit)]


def _apply(schedd: Schedd, edit: CronEdit) -> bool:
    if edit.time is not None:
        return schedd.edit_if(edit.job, _IDLE, {"DeferralTime": edit.time})
    return schedd.hold(Selection(jobs=(edit.job,)).where(_IDLE), hold_of(edit)).done > 0
