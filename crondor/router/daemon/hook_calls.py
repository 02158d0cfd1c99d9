"""A hook is asked about a job: it is started, the job waits, and its answer is taken when it is there.

HTCondor: JobRouterHookMgr.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal, TypeAlias

from crondor.classad.ad import ClassAd
from crondor.hooks.hook_types import HookType
from crondor.hooks.router_hooks import Consequence
from crondor.router.daemon.context import RouterContext
from crondor.router.daemon.log import RouterEvent
from crondor.router.daemon.routed_job import RoutedJob
from crondor.router.table.route import Route


class _Waiting(Enum):
    WAITING = "waiting"


WAITING: Final = _Waiting.WAITING
"""The hook has not answered yet."""

Answer: TypeAlias = "Consequence | Literal[_Waiting.WAITING] | None"


def ask(context: RouterContext, job: RoutedJob, kind: HookType, route: Route | None = None) -> Answer:
    """Return what a hook says about a job: None without a hook, WAITING until it has answered.

    Each poll asks again; a program that has been started is waited for.
    """
    hooks = context.options.hooks
    if hooks is None:
        return None
    if job.hook is None:
        found, job.hook = hooks.begin(kind, job.source or ClassAd(), job.copy, route, context.context)
        said = found.path or "UNDEFINED"
        if found.problem is not None:
            context.say(RouterEvent.HOOK, job, f" {kind.value}: {found.problem.message}")
        context.say(RouterEvent.HOOK, job, f" {kind.value}: {said}")
        if job.hook is None:
            return None
        job.hook_tries = job.hook_tries + 1 if job.hook_type is kind else 1
        job.hook_type = kind
    run = job.hook.poll()
    if run is None:
        return WAITING
    job.hook = None
    answer = hooks.conclude(kind, run, job.hook_tries)
    context.say(RouterEvent.HOOK_ANSWER, job, f" {kind.value}: {answer.reason}")
    return answer
