"""The hooks of the job router and the starter: their input, environment and consequences.

What belongs to the daemons themselves is left out: CONDOR_INHERIT and CONDOR_PRIVATE_INHERIT (secrets of their
sockets), CONDOR_PARENT_ID, the address of the condor_procd, and the ancestors by which it finds processes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from operator import itemgetter
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol

from crondor.classad.ad import ClassAd
from crondor.classad.formats.long_form import read_value
from crondor.classad.formats.pieces import ReadMode
from crondor.classad.printing import Format, Order
from crondor.classad.scope import Code, Context
from crondor.classad.text import lower
from crondor.classad.tree import MAX_TEXT, ClassAdSyntaxError
from crondor.codes import HOOK_PREPARE_JOB_FAILURE
from crondor.diagnostics import Diagnostic, Severity, Source
from crondor.hooks.runner import (
    DEFAULT_LIMITS,
    PATH_FAULTS,
    PIPE_BUFFER_MAX,
    HookCall,
    HookEnd,
    HookLimits,
    HookRun,
    check_path,
)
from crondor.job.attributes import ending, exact_integer, int32, split_arguments, string
from crondor.rights.trust import MACHINES, PATH


class HookConsequence(Enum):
    """The next action: of the router with its job, of the starter, of the startd."""

    USE_AD = "use-ad"
    """TRANSLATE_JOB: the ad replaces the source's as the start of the copy; conversion and transforms follow."""

    UPDATE_COPY = "update-copy"
    """UPDATE_JOB_INFO: set the attributes on the copy in its queue, then mirror its status as usual."""

    MIRROR = "mirror"
    """UPDATE_JOB_INFO: nothing to set; mirror the copy's status."""

    SKIP_POLL = "skip-poll"
    """No action at this poll (UPDATE_JOB_INFO: no mirroring; JOB_FINALIZE: not started); called again at the next."""

    FINALIZE = "finalize"
    """JOB_FINALIZE: set the attributes, if any, on the source, then finalise the job."""

    REROUTE = "reroute"
    """JOB_FINALIZE: the source goes back to Idle unless it is completed, and the copy is removed."""

    FINISH = "finish"
    """JOB_CLEANUP: cleanup continues."""

    RETRY_CLEANUP = "retry-cleanup"
    """JOB_CLEANUP: the job stays in cleanup; the hook is called again at the next poll."""

    CLEAN_UP = "clean-up"
    """The job goes to cleanup, and counts as a failure of its route."""

    START_JOB = "start-job"
    """PREPARE_JOB, PREPARE_JOB_BEFORE_TRANSFER: set the attributes on the job, and continue to start it."""

    HOLD_JOB = "hold-job"
    """PREPARE_JOB: the job is held, with code 19 and the hook's status as subcode."""

    IDLE_JOB = "idle-job"
    """PREPARE_JOB: the job goes back to Idle, and may be matched again."""

    OFFER_JOB = "offer-job"
    """FETCH_WORK: the slot decides whether to accept the job."""

    NO_WORK = "no-work"
    """FETCH_WORK: there is nothing to run; a slot that is idle with a fetched claim gives it up."""

    NO_HOOK = "no-hook"
    """The router's hooks: the program may not be called, and the router continues as if none was configured."""

    NOTHING = "nothing"
    """The answer is ignored."""


class Consequence(NamedTuple):
    """The meaning of a hook's answer: the action, its attributes, and why.

    ``ad`` is empty if the action needs none. ``reason`` is a sentence for the log and for the job's owner.
    ``diagnostics`` are findings about the call. ``upstream`` is what HTCondor 25.14 does instead; empty: the same.
    ``hold_code`` and ``hold_subcode`` are for HOLD_JOB.
    """

    action: HookConsequence
    ad: ClassAd
    reason: str
    diagnostics: tuple[Diagnostic, ...] = ()
    upstream: str = ""
    hold_code: int = 0
    hold_subcode: int = 0


class Knobs(Protocol):
    """HTCondor's configuration: the text of a knob, None if it is not set."""

    def get(self, name: str, /) -> str | None:
        """Return the value of a knob with its macros expanded."""


class HookType(str, Enum):
    """A hook; JOB_EXIT is the starter's, and an old name of the router's JOB_FINALIZE."""

    TRANSLATE_JOB = "TRANSLATE_JOB"
    UPDATE_JOB_INFO = "UPDATE_JOB_INFO"
    JOB_FINALIZE = "JOB_FINALIZE"
    JOB_CLEANUP = "JOB_CLEANUP"
    JOB_EXIT = "JOB_EXIT"
    FETCH_WORK = "FETCH_WORK"
    REPLY_FETCH = "REPLY_FETCH"
    EVICT_CLAIM = "EVICT_CLAIM"
    PREPARE_JOB_BEFORE_TRANSFER = "PREPARE_JOB_BEFORE_TRANSFER"
    PREPARE_JOB = "PREPARE_JOB"


def knob_name(keyword: str, hook: HookType) -> str:
    """Return the knob that names the program of a hook: ``<KEYWORD>_HOOK_<TYPE>``."""
    return f"{keyword}_HOOK_{hook.value}"


def knob(knobs: Knobs, name: str) -> str:
    """Return the stripped value of a knob; empty if it is not set."""
    return (knobs.get(name) or "").strip()


_PRIVATE: Final = frozenset({"capability", "childclaimids", "claimid", "claimidlist", "claimids", "transferkey"})
_PRIVATE_PREFIX: Final = "_condor_priv"
_BLANKS: Final = " \t\r\f\v"
IS_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*").fullmatch
_MOST_FAULTS: Final = 20


class Output(NamedTuple):
    """The output of a hook, read as an ad; ``faults`` are the first lines that are not attributes.

    ``odd`` are warnings about invalid names that are accepted.
    """

    ad: ClassAd
    faults: tuple[Diagnostic, ...]
    odd: tuple[Diagnostic, ...] = ()


def ad_text(ad: ClassAd) -> str:
    """Return an ad for standard input: a line for each attribute, by the bytes of the names, without private ones.

    A line end inside a string, which HTCondor prints raw, becomes a blank: otherwise the owner of a job could write
    attributes of his own, and the end of the ad.
    """
    codes, names = ad.codes, ad.names
    shown = {key: name for key, name in names.items() if key not in _PRIVATE and not key.startswith(_PRIVATE_PREFIX)}
    ordered = sorted(shown.items(), key=itemgetter(1))
    made = ClassAd.of({key: codes[key] for key, _ in ordered}, dict(ordered))
    try:
        text = made.print(Format.LONG, Order.KEPT)
    except ClassAdSyntaxError:
        text = ""
    if text.count("\n") == len(made):
        return text
    return "".join(f"{_one_line(made, name)}\n" for name in made)


def _one_line(ad: ClassAd, name: str) -> str:
    try:
        one = ClassAd.of({lower(name): ad.code(name)}, {lower(name): name})
        text = one.print(Format.LONG)
    except ClassAdSyntaxError:  # an expression that HTCondor wrote and cannot be read
        text = f"{name} = {ad.text(name)}\n"
    return text.removesuffix("\n").replace("\n", " ")


def read_line(line: str) -> tuple[str, Code | str]:
    """Return name and expression of a line, parsed like HTCondor's daemons.

    Raises ValueError with the reason; its second argument is the offset of the fault.
    """
    if "\0" in line:
        raise ValueError("a NUL character: HTCondor stops reading there", line.index("\0"))
    if line.startswith("'"):
        raise ValueError("a quoted name is not supported here", 0)
    before, sign, right = line.partition("=")
    name = before.rstrip(" ")
    if not sign:
        raise ValueError("this line has no =", 0)
    if not name:
        raise ValueError("an attribute needs a name before its =", 0)
    text = right.lstrip(" ")
    if len(text) > MAX_TEXT:
        raise ValueError(f"an expression has at most {MAX_TEXT} characters", 0)
    try:
        return name, read_value(text, ReadMode.DAEMON)
    except ClassAdSyntaxError as error:
        found = error.diagnostics[0]
        raise ValueError(found.message, len(line) - len(text) + (found.span.start if found.span else 0)) from None


def read_output(text: str, name: str, *, takes_odd_names: bool = False) -> Output:
    """Return the ad that a hook printed, and every invalid line; ``name`` is its name in messages.

    Blanks around lines and empty lines are ignored. An invalid attribute name is a fault, since the schedd refuses it
    later; ``takes_odd_names``: it is accepted, if no schedd sees it (startd, starter).
    """
    source = Source(text, name)
    ad = ClassAd()
    faults: list[Diagnostic] = []
    odd: list[Diagnostic] = []
    more = at = 0
    for line in text.split("\n"):
        stripped = line.strip(_BLANKS)
        if stripped:
            start = at + len(line) - len(line.lstrip(_BLANKS))
            fault = _add(ad, stripped, source, start, takes_odd_names=takes_odd_names)
            if fault is not None and takes_odd_names and fault.kind == "hook-name":
                odd += [replace(fault, severity=Severity.WARNING)] if len(odd) < _MOST_FAULTS else []
            elif fault is not None:
                more += len(faults) >= _MOST_FAULTS
                faults += [fault] if len(faults) < _MOST_FAULTS else []
        at += len(line) + 1
    if more:
        faults.append(Diagnostic("hook-output", f"{name}: {more} more lines are not attributes", Severity.NOTE))
    return Output(ad, tuple(faults), tuple(odd))


def _add(ad: ClassAd, line: str, source: Source, start: int, *, takes_odd_names: bool) -> Diagnostic | None:
    try:
        name, code = read_line(line)
    except ValueError as error:
        message, offset = error.args
        span = source.span(start + offset, start + len(line))
        return Diagnostic("hook-output", str(message), span=span, help="print lines of the form Name = expression")
    if IS_NAME(name) or takes_odd_names:
        ad.put(name, code)
    if IS_NAME(name):
        return None
    span = source.span(start, start + len(name))
    return Diagnostic("hook-name", "this is not a valid name", span=span, help="a name is letters, digits and _")


ROUTER_HOOKS: Final = (HookType.TRANSLATE_JOB, HookType.UPDATE_JOB_INFO, HookType.JOB_FINALIZE, HookType.JOB_CLEANUP)
SEPARATOR: Final = "------"
CLEANUP_TRIES: Final = 10
"""How often a JOB_CLEANUP hook may fail before the router finishes the job without it."""

UPSTREAM: Final = {
    HookEnd.SIGNALED: "treats a death by signal as success",
    HookEnd.TIMED_OUT: "waits for it endlessly",
    HookEnd.FLOODED: f"reads {PIPE_BUFFER_MAX} bytes of it, closes the pipe, and uses what it has",
}
_NOT_UPDATED: Final = ("MyType", "TargetType")


# The router performs a Consequence. If HTCondor's router aborts or repeats a hook forever, here the job fails with a
# reason and the router continues; ``Consequence.upstream`` says what HTCondor would have done. HTCondor:
# JobRouterHookMgr, TranslateClient::hookExited, StatusClient::hookExited, CleanupClient::hookExited.
class HookProgram(NamedTuple):
    """The program of a hook: ``path`` None if there is none; ``problem`` is why a configured one is not used.

    HTCondor's router treats an unusable program like no hook, and routes the job by itself.
    """

    hook: HookType
    path: str | None = None
    knob: str = ""
    problem: Diagnostic | None = None


@dataclass(frozen=True)
class RouterHooks:
    """The hooks of a configuration.

    ``environ`` is their environment, ``folder`` their working directory: the router's own. ``cleanup_tries`` is how
    often JOB_CLEANUP is called for one job before giving up; HTCondor has no limit.
    """

    knobs: Knobs
    environ: Mapping[str, str]
    folder: str | None = None
    limits: HookLimits = DEFAULT_LIMITS
    cleanup_tries: int = CLEANUP_TRIES

    def keyword(self, source: ClassAd, context: Context | None = None) -> str:
        """Return the keyword of a job: its HookKeyword, else JOB_ROUTER_HOOK_KEYWORD; empty: no hooks.

        A HookKeyword of the job counts even if no hook is configured for it.
        """
        given = string(source, "HookKeyword", context or Context())
        return knob(self.knobs, "JOB_ROUTER_HOOK_KEYWORD") if given is None else given

    def find(self, hook: HookType, source: ClassAd, context: Context | None = None) -> HookProgram:
        """Return the program for a job; JOB_FINALIZE is also looked up by its old name JOB_EXIT.

        The path is checked each time, as in HTCondor: a program may appear and disappear while the router runs.
        """
        keyword = self.keyword(source, context)
        problem = None
        for each in (hook, HookType.JOB_EXIT) if hook is HookType.JOB_FINALIZE else (hook,):
            name = knob_name(keyword, each)
            path = knob(self.knobs, name) if keyword else ""
            if path:
                found = check_path(path, name)
                if found is None:
                    return HookProgram(hook, path, name)
                problem = problem or found
        return HookProgram(hook, problem=problem)

    def call(
        self,
        found: HookProgram,
        source: ClassAd,
        copy: ClassAd | None = None,
        route: ClassAd | None = None,
        user: str | None = None,
    ) -> HookCall | None:
        """Return the call of a program that was found, None if there is nothing to call.

        ``source`` and ``copy`` are whole ads, cluster and proc; ``route`` is ``route_ad(...)``, for TRANSLATE_JOB.
        ``user`` is the job's owner if the router is root: HTCondor calls hooks with the owner's rights. JOB_CLEANUP is
        not called for a job that never had a copy.
        """
        if found.path is None or (found.hook is HookType.JOB_CLEANUP and not copy):
            return None
        stdin = hook_input(found.hook, source, copy, route)
        return HookCall(
            found.path,
            stdin=stdin,
            environ=self.environ,
            folder=self.folder,
            limits=self.limits,
            user=user,
            name=found.knob,
        )

    def conclude(self, hook: HookType, run: HookRun, tries: int = 1) -> Consequence:
        """Return the meaning of a hook's answer; ``tries``: how often it was called for this job so far."""
        if hook is HookType.TRANSLATE_JOB:
            return _translated(run)
        if hook is HookType.UPDATE_JOB_INFO:
            return _updated(run)
        if hook is HookType.JOB_CLEANUP:
            if run.succeeded:
                return Consequence(HookConsequence.FINISH, ClassAd(), "the hook has cleaned up", run.diagnostics)
            if tries < self.cleanup_tries:
                return _failed(HookConsequence.RETRY_CLEANUP, run)
            reason = f"{run.reason}; given up after {tries} tries"
            return Consequence(
                HookConsequence.FINISH, ClassAd(), reason, run.diagnostics, "calls the hook at each poll, forever"
            )
        return _finalized(run, is_last=tries >= self.cleanup_tries)


def route_ad(name: str, universe: int, grid_resource: str | None = None) -> ClassAd:
    """Return the description of the route for TRANSLATE_JOB."""
    route = ClassAd({"Name": name, "TargetUniverse": universe})
    if grid_resource:
        route["GridResource"] = grid_resource
    return route


def hook_input(hook: HookType, source: ClassAd, copy: ClassAd | None = None, route: ClassAd | None = None) -> str:
    """Return the input of a router hook.

    TRANSLATE_JOB: the route in new syntax, a line of six dashes, the source. JOB_FINALIZE: the source, an empty line,
    six dashes, the copy. The others: the copy.
    """
    if hook is HookType.TRANSLATE_JOB:
        return f"{(route or ClassAd()).print()}\n{SEPARATOR}\n{ad_text(source)}"
    copied = ad_text(copy or ClassAd())
    if hook in {HookType.JOB_FINALIZE, HookType.JOB_EXIT}:
        return f"{ad_text(source)}\n{SEPARATOR}\n{copied}"
    return copied


def _translated(run: HookRun) -> Consequence:
    if not run.succeeded:
        return _failed(HookConsequence.CLEAN_UP, run)
    output = read_output(run.stdout, run.call.name)
    if output.faults:
        return Consequence(HookConsequence.CLEAN_UP, ClassAd(), _bad_line(run), (*run.diagnostics, *output.faults))
    if not run.stdout:
        reason = f"{run.call.name} printed no ad for the copy"
        upstream = "calls the hook again at each poll, forever"
        problem = Diagnostic("hook-output-empty", reason, help="print all attributes of the copy")
        return Consequence(HookConsequence.CLEAN_UP, ClassAd(), reason, (*run.diagnostics, problem), upstream)
    if exact_integer(output.ad, "JobUniverse") is None:
        reason = f"{run.call.name} printed an ad without an integer JobUniverse"
        problem = Diagnostic("hook-universe", reason, help="print the source's JobUniverse, too")
        upstream = "aborts, and again at each restart"
        return Consequence(HookConsequence.CLEAN_UP, ClassAd(), reason, (*run.diagnostics, problem), upstream)
    return Consequence(HookConsequence.USE_AD, output.ad, "the copy begins as the hook's ad", run.diagnostics)


def _updated(run: HookRun) -> Consequence:
    if not run.succeeded:
        return _failed(HookConsequence.SKIP_POLL, run)
    output = read_output(run.stdout, run.call.name)
    if output.faults:
        return Consequence(HookConsequence.CLEAN_UP, ClassAd(), _bad_line(run), (*run.diagnostics, *output.faults))
    if not run.stdout:
        return Consequence(HookConsequence.MIRROR, ClassAd(), "the hook has nothing to update", run.diagnostics)
    for name in _NOT_UPDATED:
        output.ad.pop(name, None)
    return Consequence(
        HookConsequence.UPDATE_COPY, output.ad, "the hook's attributes are set on the copy", run.diagnostics
    )


def _finalized(run: HookRun, *, is_last: bool) -> Consequence:
    if run.ended is HookEnd.NOT_STARTED and not is_last:  # the copy's results are not thrown away for that
        return Consequence(HookConsequence.SKIP_POLL, ClassAd(), run.reason, run.diagnostics)
    if not run.succeeded:
        return _failed(HookConsequence.REROUTE, run)
    output = read_output(run.stdout, run.call.name)
    if output.faults:
        return Consequence(HookConsequence.REROUTE, ClassAd(), _bad_line(run), (*run.diagnostics, *output.faults))
    reason = "the hook's attributes are set on the source" if output.ad else "the hook has nothing to set"
    return Consequence(HookConsequence.FINALIZE, output.ad, reason, run.diagnostics)


def _failed(action: HookConsequence, run: HookRun) -> Consequence:
    return Consequence(action, ClassAd(), run.reason, run.diagnostics, UPSTREAM.get(run.ended, ""))


def _bad_line(run: HookRun) -> str:
    return f"{run.call.name} printed a line that is not an attribute"


STARTER_HOOKS: Final = (
    HookType.PREPARE_JOB_BEFORE_TRANSFER,
    HookType.PREPARE_JOB,
    HookType.UPDATE_JOB_INFO,
    HookType.JOB_EXIT,
)
EXIT_REASONS: Final = ("exit", "remove", "hold", "evict")
"""HookPrepareJobFailure."""

EXIT_TIMEOUT: Final = 30
"""Seconds of a JOB_EXIT hook, unless <KEYWORD>_HOOK_JOB_EXIT_TIMEOUT is set."""

FIRST_UPDATE: Final = 8
UPDATE: Final = 300
_FIRST_IDLE: Final = 300


# HTCondor: StarterHookMgr::tryHookPrepareJob, StarterHookMgr::hookUpdateJobInfo, StarterHookMgr::tryHookJobExit.
def starter_keyword(job: ClassAd, knobs: Knobs) -> str:
    """Return the keyword of a job's hooks on the machine; empty: none.

    STARTER_JOB_HOOK_KEYWORD applies to every job; else the job's HookKeyword, else STARTER_DEFAULT_JOB_HOOK_KEYWORD. A
    HookKeyword without configured hooks still overrides the default, as in HTCondor 25.14.
    """
    forced = knob(knobs, "STARTER_JOB_HOOK_KEYWORD")
    if forced:
        return forced
    return string(job, "HookKeyword") or knob(knobs, "STARTER_DEFAULT_JOB_HOOK_KEYWORD")


def prepare_arguments(keyword: str, knobs: Knobs) -> tuple[str, ...]:
    """Return the arguments of both prepare hooks: <KEYWORD>_HOOK_PREPARE_JOB_ARGS, split at blanks.

    Single quotes keep blanks, double quotes are ordinary characters. Raises InvalidArguments.
    """
    raw = knob(knobs, f"{knob_name(keyword, HookType.PREPARE_JOB)}_ARGS")
    return tuple(split_arguments('"' + raw.replace('"', '""') + '"')) if raw else ()


def exit_timeout(keyword: str, knobs: Knobs) -> int:
    """Return the time limit of a JOB_EXIT hook in seconds."""
    return _integer(knobs, f"{knob_name(keyword, HookType.JOB_EXIT)}_TIMEOUT", EXIT_TIMEOUT)


def update_intervals(knobs: Knobs) -> tuple[int, int]:
    """Return the seconds from a job's start to its first UPDATE_JOB_INFO, and between two later ones.

    They are STARTER_INITIAL_UPDATE_INTERVAL (8), at most the other, and STARTER_UPDATE_INTERVAL (300).
    """
    between = max(1, _integer(knobs, "STARTER_UPDATE_INTERVAL", UPDATE))
    return min(between, _integer(knobs, "STARTER_INITIAL_UPDATE_INTERVAL", FIRST_UPDATE)), between


def _integer(knobs: Knobs, name: str, default: int) -> int:
    raw = knob(knobs, name)
    return int(raw) if raw.isascii() and raw.isdecimal() and len(raw) < 10 else default


def conclude_starter(hook: HookType, run: HookRun) -> Consequence:
    """Return the meaning of a starter hook's answer for the job."""
    if hook in {HookType.PREPARE_JOB, HookType.PREPARE_JOB_BEFORE_TRANSFER}:
        return _prepared(hook, run)
    word = "waits for it" if hook is HookType.JOB_EXIT else "does not wait for it"
    reason = f"the starter {word}, and ignores its status and its output"
    return Consequence(HookConsequence.NOTHING, ClassAd(), reason, run.diagnostics)


def _prepared(hook: HookType, run: HookRun) -> Consequence:
    """Return the meaning of a prepare hook's answer (HookPrepareJobClient::hookExited).

    HookStatusCode in its output replaces the exit status, HookStatusMessage goes to the job's log. 0 starts the job, 1
    to 299 hold it, all others send it back to Idle. The first line that is not an attribute ends the output.
    """
    ad, faults, odd = read_output(run.stdout, run.call.name, takes_odd_names=True)
    if faults:
        ad = read_output(_before(run.stdout, faults[0]), run.call.name, takes_odd_names=True).ad
    findings = (*run.diagnostics, *(replace(fault, severity=Severity.WARNING) for fault in faults), *odd)
    if run.ended in {HookEnd.NOT_STARTED, HookEnd.TIMED_OUT, HookEnd.FLOODED, HookEnd.CANCELLED}:
        upstream = "waits for the hook endlessly, or stops reading"
        if run.ended is HookEnd.NOT_STARTED:
            is_path = any(each.kind in PATH_FAULTS for each in run.diagnostics)
            upstream = "ends the starter before, and the job is Idle again, forever" if is_path else ""
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
    """Return the status that counts, and its description."""
    if run.status is None:
        return -(run.signal_number or 0), f"died with signal {run.signal_number}"
    code = int32(ad, "HookStatusCode")
    if code is not None and code >= 0:
        return code, f"reported status {code:03}"
    return run.status, f"exited with status {run.status}"


def _before(text: str, fault: Diagnostic) -> str:
    """Return the lines before the one with a fault."""
    return "" if fault.span is None else text[: text.rfind("\n", 0, fault.span.start) + 1]


_KEPT: Final = (*MACHINES, "HOME", "LOGNAME", "PATH", "USER")


class Scratch(NamedTuple):
    """Where a starter runs a job: its scratch folder, the job's working folder, the slot's name without its host.

    ``execute`` is the folder of all scratch folders, empty for the local universe. ``ending`` is the result of
    ``main_job_end``, for JOB_EXIT. ``devices`` are (name, value) of assigned resources: ``("GPUs", "CUDA0")``.
    """

    folder: str
    iwd: str
    slot: str = ""
    execute: str = ""
    bin: str = "/usr/bin"
    ending: Mapping[str, str] = MappingProxyType({})
    devices: tuple[tuple[str, str], ...] = ()

    @property
    def job_ad(self) -> str:
        """The file with the job's ad."""
        return f"{self.folder}/.job.ad"

    @property
    def machine_ad(self) -> str:
        """The file with the slot's ad."""
        return f"{self.folder}/.machine.ad"


def daemon_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the part of the daemon's environment that hooks of a router or startd see."""
    kept = {name: environ[name] for name in _KEPT if name in environ}
    return {"PATH": PATH, **kept}


def main_job_end(job: ClassAd) -> dict[str, str]:
    """Return the variable with the end of a job's program for JOB_EXIT, from its ad: its signal or its exit code.

    It is one of the two, never both (``UserProc::PublishToEnv``, src/condor_starter.V6.1/user_proc.cpp, 25.14); none if
    the ad does not have it.
    """
    found = ending(job)
    if found is None:
        return {}
    return {f"_CONDOR_MAINJOB_EXIT_{'SIGNAL' if found.by_signal else 'CODE'}": str(found.number)}


def starter_environment(base: Mapping[str, str], scratch: Scratch) -> dict[str, str]:
    """Return the environment of a starter's hooks, based on the daemon's."""
    found = {
        **base,
        "BATCH_SYSTEM": "HTCondor",
        **dict.fromkeys(("TEMP", "TMP", "TMPDIR", "_CONDOR_SCRATCH_DIR"), scratch.folder),
        "_CONDOR_BIN": scratch.bin,
        "_CONDOR_JOB_AD": scratch.job_ad,
        "_CONDOR_JOB_IWD": scratch.iwd,
        "_CONDOR_JOB_PIDS": "",
        "_CONDOR_MACHINE_AD": scratch.machine_ad,
        "_CONDOR_SLOT": scratch.slot,
    }
    if scratch.execute:
        found["_CONDOR_EXECUTE"] = scratch.execute
    found |= scratch.ending
    found |= {f"_CONDOR_Assigned{name}": value for name, value in scratch.devices}
    return found
