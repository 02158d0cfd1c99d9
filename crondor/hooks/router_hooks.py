"""The job router's four hooks: whose program is called, what it gets, and what its answer means for the job.

The router's part is to do what a Consequence says. Where HTCondor's router aborts or repeats a hook for ever, the job
fails with a reason and the router goes on; ``Consequence.upstream`` says what HTCondor would have done.

HTCondor: JobRouterHookMgr, TranslateClient::hookExited, StatusClient::hookExited, CleanupClient::hookExited.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Context
from crondor.diagnostics import Diagnostic
from crondor.hooks.consequence import Consequence, HookConsequence
from crondor.hooks.hook_types import HookType, Knobs, knob, knob_name
from crondor.hooks.paths import check_path
from crondor.hooks.runner import DEFAULT_LIMITS, PIPE_BUFFER_MAX, HookCall, HookEnd, HookLimits, HookRun
from crondor.hooks.texts import ad_text, read_output
from crondor.job.attributes import exact_integer, string

__all__ = [
    "CLEANUP_TRIES",
    "ROUTER_HOOKS",
    "SEPARATOR",
    "Consequence",
    "HookConsequence",
    "HookProgram",
    "RouterHooks",
    "hook_input",
    "route_ad",
]

ROUTER_HOOKS: Final = (
    HookType.TRANSLATE_JOB,
    HookType.UPDATE_JOB_INFO,
    HookType.JOB_FINALIZE,
    HookType.JOB_CLEANUP,
)
SEPARATOR: Final = "------"
CLEANUP_TRIES: Final = 10
"""How often a JOB_CLEANUP hook may fail before the router finishes the job without it."""

_UPSTREAM: Final = {
    HookEnd.SIGNALED: "takes a death by signal for success",
    HookEnd.TIMED_OUT: "waits for it without end",
    HookEnd.FLOODED: f"takes {PIPE_BUFFER_MAX} bytes of it, closes the pipe, and reads what it has",
}
_NOT_UPDATED: Final = ("MyType", "TargetType")


class HookProgram(NamedTuple):
    """The program of a hook: ``path`` None where there is none; ``problem`` is why a configured one is not used.

    HTCondor's router treats a program that may not be used as no hook at all, and routes the job by itself.
    """

    hook: HookType
    path: str | None = None
    knob: str = ""
    problem: Diagnostic | None = None


@dataclass(frozen=True)
class RouterHooks:
    """The hooks of a configuration.

    ``environ`` is what they get as environment, ``folder`` their working directory: the router's own. ``cleanup_tries``
    is how often JOB_CLEANUP is called for one job before it is given up; HTCondor knows no end.
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
        """Return the program for a job; JOB_FINALIZE is looked up by its old name JOB_EXIT, too.

        The path is looked at each time, as HTCondor does: a program may come and go while the router runs.
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
        """Return the call of a program that was found, None where there is nothing to call.

        ``source`` and ``copy`` are whole ads, cluster and proc; ``route`` is ``route_ad(...)``, for TRANSLATE_JOB.
        ``user`` is the job's owner where the router is root: HTCondor calls hooks with his rights.
        JOB_CLEANUP is not called for a job that never had a copy.
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
        """Return what the answer of a hook means; ``tries``: how often it was called for this job so far."""
        if hook is HookType.TRANSLATE_JOB:
            return _translated(run)
        if hook is HookType.UPDATE_JOB_INFO:
            return _updated(run)
        if hook is HookType.JOB_CLEANUP:
            return _cleaned_up(run, tries, self.cleanup_tries)
        return _finalized(run, is_last=tries >= self.cleanup_tries)


def route_ad(name: str, universe: int, grid_resource: str | None = None) -> ClassAd:
    """Return what TRANSLATE_JOB is told of the route."""
    route = ClassAd({"Name": name, "TargetUniverse": universe})
    if grid_resource:
        route["GridResource"] = grid_resource
    return route


def hook_input(hook: HookType, source: ClassAd, copy: ClassAd | None = None, route: ClassAd | None = None) -> str:
    """Return what a router hook reads.

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
        upstream = "calls the hook again at each poll, for ever"
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
    if run.ended is HookEnd.NOT_STARTED and not is_last:  # what the copy has done is not thrown away for that
        return Consequence(HookConsequence.SKIP_POLL, ClassAd(), run.reason, run.diagnostics)
    if not run.succeeded:
        return _failed(HookConsequence.REROUTE, run)
    output = read_output(run.stdout, run.call.name)
    if output.faults:
        return Consequence(HookConsequence.REROUTE, ClassAd(), _bad_line(run), (*run.diagnostics, *output.faults))
    reason = "the hook's attributes are set on the source" if output.ad else "the hook has nothing to set"
    return Consequence(HookConsequence.FINALIZE, output.ad, reason, run.diagnostics)


def _cleaned_up(run: HookRun, tries: int, most: int) -> Consequence:
    if run.succeeded:
        return Consequence(HookConsequence.FINISH, ClassAd(), "the hook has cleaned up", run.diagnostics)
    if tries < most:
        return _failed(HookConsequence.RETRY_CLEANUP, run)
    reason = f"{run.reason}; given up after {tries} tries"
    return Consequence(
        HookConsequence.FINISH, ClassAd(), reason, run.diagnostics, "calls the hook at each poll, for ever"
    )


def _failed(action: HookConsequence, run: HookRun) -> Consequence:
    return Consequence(action, ClassAd(), run.reason, run.diagnostics, _UPSTREAM.get(run.ended, ""))


def _bad_line(run: HookRun) -> str:
    return f"{run.call.name} printed a line that is no attribute"
