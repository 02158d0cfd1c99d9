"""A slot that fetches work: which keyword it has, whether it takes a job, how long it waits, what its hooks get.

HTCondor: Resource::tryFetchWork, Resource::evalNextFetchWorkDelay.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.classad.printing import Format
from crondor.classad.scope import Context
from crondor.diagnostics import Diagnostic
from crondor.hooks.consequence import Consequence, HookConsequence
from crondor.hooks.hook_types import Knobs, knob
from crondor.hooks.runner import PIPE_BUFFER_MAX, HookEnd, HookRun
from crondor.hooks.texts import ad_text, read_output
from crondor.job import attributes

SEPARATOR: Final = "-----"
DEFAULT_DELAY: Final = 300
"""Seconds from the end of one fetch to the next, where FetchWorkDelay is no integer."""

_UPSTREAM: Final = {
    HookEnd.SIGNALED: "takes what was printed",
    HookEnd.TIMED_OUT: "waits for it without end",
    HookEnd.FLOODED: f"takes {PIPE_BUFFER_MAX} bytes of it, closes the pipe, and reads what it has",
}
_REQUESTS: Final = ("RequestCpus", "RequestMemory", "RequestDisk")


class SlotState(Enum):
    """What a slot does, as far as fetching is concerned."""

    UNCLAIMED = "unclaimed"
    CLAIMED = "claimed"
    IDLE_FETCHED = "idle-fetched"
    """Claimed for fetched work whose job has ended."""

    PREEMPTING = "preempting"


class Decision(NamedTuple):
    """Whether a slot takes a fetched job, its rank there, and why."""

    accepted: bool
    rank: float
    reason: str


def fetch_keyword(slot: str, knobs: Knobs) -> str:
    """Return the keyword of a slot (``slot1``): SLOT<N>_JOB_HOOK_KEYWORD, else STARTD_JOB_HOOK_KEYWORD; empty: none."""
    return knob(knobs, f"{slot.upper()}_JOB_HOOK_KEYWORD") or knob(knobs, "STARTD_JOB_HOOK_KEYWORD")


def conclude_fetch(run: HookRun) -> Consequence:
    """Return the job that FETCH_WORK printed; its exit status does not count, and one bad line voids the whole.

    A hook that did not end by itself has offered nothing, whatever it printed before: HTCondor would run it. A line
    end is an answer, too: a job without attributes (FetchClient::hookExited).
    """
    if run.ended is not HookEnd.EXITED:
        return Consequence(
            HookConsequence.NO_WORK, ClassAd(), run.reason, run.diagnostics, _UPSTREAM.get(run.ended, "")
        )
    output = read_output(run.stdout, run.call.name, takes_odd_names=True)
    if output.faults:
        reason = f"{run.call.name} printed a line that is no attribute, which voids its answer"
        return Consequence(HookConsequence.NO_WORK, ClassAd(), reason, (*run.diagnostics, *output.faults))
    if not run.stdout:
        return Consequence(HookConsequence.NO_WORK, ClassAd(), "there is no work", run.diagnostics)
    if not output.ad:
        reason = f"{run.call.name} printed nothing but blanks, which is a job without attributes"
        problem = Diagnostic("hook-output-empty", reason, help="print nothing at all where there is no work")
        return Consequence(HookConsequence.OFFER_JOB, ClassAd(), reason, (*run.diagnostics, problem))
    findings = (*run.diagnostics, *output.odd)
    return Consequence(HookConsequence.OFFER_JOB, output.ad, "the slot decides whether it takes the job", findings)


def is_void(said: Consequence) -> bool:
    """Say whether an answer of FETCH_WORK was no ad: then the startd does not even give an idle claim up."""
    return said.action is HookConsequence.NO_WORK and any(each.kind == "hook-output" for each in said.diagnostics)


def completed(job: ClassAd, keyword: str, *, is_static: bool) -> ClassAd:
    """Return a fetched job with what the startd adds: HookKeyword, and the requests for a slot that is not divided.

    HTCondor: Resource::createOrUpdateFetchClaim.
    """
    found = job.copy()
    if is_static:
        for name in _REQUESTS:
            if name not in found:
                found[name] = 1
    if attributes.string(found, "HookKeyword") is None:
        found["HookKeyword"] = keyword
    return found


def decide(
    job: ClassAd, slot: ClassAd, state: SlotState, current_rank: float = 0.0, context: Context | None = None
) -> Decision:
    """Return whether a slot takes a fetched job (StartdHookMgr::handleHookFetchWork).

    The slot's Requirements (START and more) decide; what the job requires does not count in HTCondor 25.14. A slot
    that runs something takes only a job that it ranks strictly higher.
    """
    if state is SlotState.PREEMPTING:
        return Decision(accepted=False, rank=0.0, reason="the slot is still preempting its last job")
    context = context or Context()
    asked = "Requirements" if "Requirements" in slot else "Start"
    if not attributes.boolean(slot, asked, context, job):
        return Decision(accepted=False, rank=0.0, reason=f"the slot's {asked} is not true for the job")
    rank = _rank(slot, job, context)
    if state is SlotState.CLAIMED and rank <= current_rank:
        reason = f"its rank {rank:g} is not above {current_rank:g}, that of the running job"
        return Decision(accepted=False, rank=rank, reason=reason)
    return Decision(accepted=True, rank=rank, reason="the slot takes the job")


def is_willing(slot: ClassAd, context: Context | None = None) -> bool:
    """Say whether a slot would run anything at all, which it must to fetch: START may be anything but false."""
    return attributes.boolean(slot, "Start", context or Context()) is not False


def has_ended(slot: ClassAd) -> bool:
    """Say whether a slot that fetches runs no job any more, by its State and Activity.

    A slot that is divided runs jobs in others than itself, and nothing is known of them.
    """
    is_divided = attributes.boolean(slot, "PartitionableSlot")
    state = attributes.string(slot, "State"), attributes.string(slot, "Activity")
    return not is_divided and (state[0] in {"Owner", "Unclaimed"} or state == ("Claimed", "Idle"))


def refuses(slot: ClassAd, job: ClassAd, context: Context) -> bool:
    """Say whether a slot has a job already that it would not give up: it asks then, too, every FetchWorkDelay."""
    current = attributes.number(slot, "CurrentRank")
    is_busy = attributes.string(slot, "State") == "Claimed" and attributes.string(slot, "Activity") != "Idle"
    return is_busy and current is not None and _rank(slot, job, context) <= current


def fetch_delay(slot: ClassAd, job: ClassAd | None = None, context: Context | None = None) -> int:
    """Return how many seconds after its last fetch a slot fetches again: FetchWorkDelay in the slot and its job."""
    delay = attributes.int32(slot, "FetchWorkDelay", context or Context(), job)
    return DEFAULT_DELAY if delay is None else delay


def slot_input(job: ClassAd, slot: ClassAd, claim: str | None) -> str:
    """Return what REPLY_FETCH and EVICT_CLAIM read: the job, a line of five dashes, the slot with its claim, if any.

    Quotes inside a claim's id get a backslash, so that the line can be read; HTCondor 25.14 prints them as they are.
    """
    claimed = "" if claim is None else ClassAd({"ClaimId": claim}).print(Format.LONG)
    return f"{ad_text(job)}{SEPARATOR}\n{ad_text(slot)}{claimed}"


def _rank(slot: ClassAd, job: ClassAd, context: Context) -> float:
    return float(attributes.number(slot, "Rank", context, job) or 0)
