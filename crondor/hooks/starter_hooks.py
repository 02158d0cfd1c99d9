"""The starter's hooks: whose they are, what they get, and what becomes of the job.

HTCondor: StarterHookMgr::tryHookPrepareJob, StarterHookMgr::hookUpdateJobInfo, StarterHookMgr::tryHookJobExit.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic, Severity
from crondor.hold_codes import HOOK_PREPARE_JOB_FAILURE
from crondor.hooks.consequence import Consequence, HookConsequence
from crondor.hooks.hook_types import HookType, Knobs, knob, knob_name
from crondor.hooks.paths import PATH_FAULTS
from crondor.hooks.runner import HookEnd, HookRun
from crondor.hooks.texts import read_output
from crondor.job.arguments import split_arguments
from crondor.job.attributes import int32, string

STARTER_HOOKS: Final = (
    HookType.PREPARE_JOB_BEFORE_TRANSFER,
    HookType.PREPARE_JOB,
    HookType.UPDATE_JOB_INFO,
    HookType.JOB_EXIT,
)
EXIT_REASONS: Final = ("exit", "remove", "hold", "evict")
"""HookPrepareJobFailure."""

EXIT_TIMEOUT: Final = 30
"""Seconds of a JOB_EXIT hook, unless <KEYWORD>_HOOK_JOB_EXIT_TIMEOUT says otherwise."""

FIRST_UPDATE: Final = 8
UPDATE: Final = 300
_FIRST_IDLE: Final = 300


def starter_keyword(job: ClassAd, knobs: Knobs) -> str:
    """Return the keyword of a job's hooks on the machine; empty: none.

    STARTER_JOB_HOOK_KEYWORD is forced on every job; else the job's HookKeyword, else STARTER_DEFAULT_JOB_HOOK_KEYWORD.
    A HookKeyword for which nothing is configured keeps the default away, as in HTCondor 25.14.
    """
    forced = knob(knobs, "STARTER_JOB_HOOK_KEYWORD")
    if forced:
        return forced
    return string(job, "HookKeyword") or knob(knobs, "STARTER_DEFAULT_JOB_HOOK_KEYWORD")


def prepare_arguments(keyword: str, knobs: Knobs) -> tuple[str, ...]:
    """Return the arguments of both prepare hooks: <KEYWORD>_HOOK_PREPARE_JOB_ARGS, split at blanks.

    Single quotes keep blanks, double quotes are characters like others. Raises InvalidArguments.
    """
    raw = knob(knobs, f"{knob_name(keyword, HookType.PREPARE_JOB)}_ARGS")
    return tuple(split_arguments('"' + raw.replace('"', '""') + '"')) if raw else ()


def exit_timeout(keyword: str, knobs: Knobs) -> int:
    """Return the seconds that a JOB_EXIT hook has."""
    return _integer(knobs, f"{knob_name(keyword, HookType.JOB_EXIT)}_TIMEOUT", EXIT_TIMEOUT)


def update_intervals(knobs: Knobs) -> tuple[int, int]:
    """Return the seconds from a job's start to its first UPDATE_JOB_INFO, and from each to the next.

    They are STARTER_INITIAL_UPDATE_INTERVAL (8), at most the other, and STARTER_UPDATE_INTERVAL (300).
    """
    between = max(1, _integer(knobs, "STARTER_UPDATE_INTERVAL", UPDATE))
    return min(between, _integer(knobs, "STARTER_INITIAL_UPDATE_INTERVAL", FIRST_UPDATE)), between


def _integer(knobs: Knobs, name: str, default: int) -> int:
    raw = knob(knobs, name)
    return int(raw) if raw.isascii() and raw.isdecimal() and len(raw) < 10 else default


def conclude_starter(hook: HookType, run: HookRun) -> Consequence:
    """Return what the answer of a starter's hook means for the job."""
    if hook in {HookType.PREPARE_JOB, HookType.PREPARE_JOB_BEFORE_TRANSFER}:
        return _prepared(hook, run)
    word = "waits for it" if hook is HookType.JOB_EXIT else "does not wait for it"
    reason = f"the starter {word}, and looks neither at its status nor at its output"
    return Consequence(HookConsequence.NOTHING, ClassAd(), reason, run.diagnostics)


def _prepared(hook: HookType, run: HookRun) -> Consequence:
    """Return what a prepare hook's answer means (HookPrepareJobClient::hookExited).

    HookStatusCode in its output replaces the exit status, HookStatusMessage goes to the job's log. 0 starts the job,
    1 to 299 hold it, all others send it back to Idle. The first line that is no attribute ends the output.
    """
    ad, faults, odd = read_output(run.stdout, run.call.name, takes_odd_names=True)
    if faults:
        ad = read_output(_before(run.stdout, faults[0]), run.call.name, takes_odd_names=True).ad
    findings = (*run.diagnostics, *(replace(fault, severity=Severity.WARNING) for fault in faults), *odd)
    if run.ended in {HookEnd.NOT_STARTED, HookEnd.TIMED_OUT, HookEnd.FLOODED, HookEnd.CANCELLED}:
        upstream = "waits for the hook without end, or reads no further"
        if run.ended is HookEnd.NOT_STARTED:
            is_path = any(each.kind in PATH_FAULTS for each in run.diagnostics)
            upstream = "ends the starter before, and the job is Idle again, for ever" if is_path else ""
        return Consequence(
            HookConsequence.HOLD_JOB, ClassAd(), run.reason, findings, upstream, HOOK_PREPARE_JOB_FAILURE
        )
    status, said = _status(run, ad)
    text = string(ad, "HookStatusMessage") or "<no message>"
    outcome = "failed" if status else "succeeded"
    log = f"{hook.value} ({PurePosixPath(run.call.path).name}) {outcome} ({said}): {text}"
    if status == 0:
        return Consequence(HookConsequence.START_JOB, ad, log, findings)
    if 0 < status < _FIRST_IDLE:
        return Consequence(HookConsequence.HOLD_JOB, ClassAd(), log, findings, "", HOOK_PREPARE_JOB_FAILURE, status)
    return Consequence(HookConsequence.IDLE_JOB, ClassAd(), log, findings)


def _status(run: HookRun, ad: ClassAd) -> tuple[int, str]:
    """Return the status that counts, and the words for it."""
    if run.status is None:
        return -(run.signal_number or 0), f"died with signal {run.signal_number}"
    code = int32(ad, "HookStatusCode")
    if code is not None and code >= 0:
        return code, f"reported status {code:03}"
    return run.status, f"exited with status {run.status}"


def _before(text: str, fault: Diagnostic) -> str:
    """Return the lines before the one with a fault."""
    return "" if fault.span is None else text[: text.rfind("\n", 0, fault.span.start) + 1]
