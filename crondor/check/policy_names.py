"""The names of the policies of a job that matter when it runs again and again, the one that counts most first."""

from __future__ import annotations

from typing import Final

# condor_submit puts attributes with + or MY. into the ad last, so these win.
NAMES: Final = {
    attribute: (f"my.{attribute.lower()}", command, attribute.lower())
    for attribute, command in (
        ("OnExitRemove", "on_exit_remove"),
        ("OnExitHold", "on_exit_hold"),
        ("PeriodicRelease", "periodic_release"),
        ("PeriodicRemove", "periodic_remove"),
        ("PeriodicHold", "periodic_hold"),
    )
}
REMOVE: Final = NAMES["OnExitRemove"]
RELEASE: Final = NAMES["PeriodicRelease"]
PERIODIC_HOLD: Final = NAMES["PeriodicHold"]
PERIODIC: Final = (*NAMES["PeriodicRemove"], *PERIODIC_HOLD)
POLICIES: Final = tuple(name for names in NAMES.values() for name in names)
CONDITIONS: Final = (*POLICIES, "retry_until", "leave_in_queue")  # asked of the job's own ad

ALWAYS_RELEASED: Final = "whatever the job is held for, it is released at once: a fault that stays makes that a loop"
RELEASE_FOR: Final = "name the reason and an end: HoldReasonCode == 20, NumJobStarts < 5"
