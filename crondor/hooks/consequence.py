"""What the answer of a hook means for the job, as a value that a daemon acts on."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic


class HookConsequence(Enum):
    """What is done next: by the router with its job, by the starter, by the startd."""

    USE_AD = "use-ad"
    """TRANSLATE_JOB: the ad replaces the source's as the start of the copy; conversion and transforms follow."""

    UPDATE_COPY = "update-copy"
    """UPDATE_JOB_INFO: set the attributes on the copy in its queue, then mirror its status as usual."""

    MIRROR = "mirror"
    """UPDATE_JOB_INFO: nothing to set; mirror the copy's status."""

    SKIP_POLL = "skip-poll"
    """Nothing at this poll (UPDATE_JOB_INFO: no mirroring; JOB_FINALIZE: not started); called again at the next."""

    FINALIZE = "finalize"
    """JOB_FINALIZE: set the attributes, if any, on the source, then finalise the job."""

    REROUTE = "reroute"
    """JOB_FINALIZE: the source goes back to Idle unless it is completed, and the copy is removed."""

    FINISH = "finish"
    """JOB_CLEANUP: the cleaning up goes on."""

    RETRY_CLEANUP = "retry-cleanup"
    """JOB_CLEANUP: the job stays in cleanup; the hook is called again at the next poll."""

    CLEAN_UP = "clean-up"
    """The job goes to cleanup, and counts as a failure of its route."""

    START_JOB = "start-job"
    """PREPARE_JOB, PREPARE_JOB_BEFORE_TRANSFER: set the attributes on the job, and go on to start it."""

    HOLD_JOB = "hold-job"
    """PREPARE_JOB: the job is held, with code 19 and the hook's status as subcode."""

    IDLE_JOB = "idle-job"
    """PREPARE_JOB: the job goes back to Idle, and may be matched again."""

    OFFER_JOB = "offer-job"
    """FETCH_WORK: the slot decides whether it takes the job."""

    NO_WORK = "no-work"
    """FETCH_WORK: there is nothing to run; a slot that is idle with a fetched claim gives it up."""

    NO_HOOK = "no-hook"
    """The router's hooks: the program may not be called, and the router goes on as if none was configured."""

    NOTHING = "nothing"
    """Nobody looks at the answer."""


class Consequence(NamedTuple):
    """What a hook's answer means: what to do, with which attributes, and why.

    ``ad`` is empty where the action needs none. ``reason`` is a sentence for the log and for the job's owner.
    ``diagnostics`` are findings about the call. ``upstream`` says what HTCondor 25.14 does instead; empty: the same.
    ``hold_code`` and ``hold_subcode`` are for HOLD_JOB.
    """

    action: HookConsequence
    ad: ClassAd
    reason: str
    diagnostics: tuple[Diagnostic, ...] = ()
    upstream: str = ""
    hold_code: int = 0
    hold_subcode: int = 0
