"""The router's hooks, call by call: a program is asked, the job waits, and the answer is a Consequence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from crondor.classad import Context
from crondor.classad.ad import ClassAd
from crondor.hooks.hook_types import HookType
from crondor.hooks.router_hooks import Consequence, HookProgram, RouterHooks, route_ad
from crondor.hooks.runner import HookCall, HookRun
from crondor.router.table.route import Route
from crondor.schedd.ads import owner_of


class HookInProgress(Protocol):
    """A call that has been started."""

    def poll(self) -> HookRun | None:
        """Return how it ended; None: it has not."""

    def cancel(self) -> HookRun:
        """End it now."""


@dataclass(frozen=True)
class HookRunners:
    """The hooks of a configuration, and what starts one, as ``HookRunner.start`` does.

    ``as_owner``: a hook runs as the job's owner, as HTCondor's router has it where it is root: with his rights and his
    environment. One of an owner whom the system does not know is not started (JobRouterHookMgr): the router's rights
    are for nobody's job.
    """

    hooks: RouterHooks
    start: Callable[[HookCall], HookInProgress]
    as_owner: bool = False

    def begin(
        self, kind: HookType, source: ClassAd, copy: ClassAd | None, route: Route | None, context: Context
    ) -> tuple[HookProgram, HookInProgress | None]:
        """Start a hook; None where there is none to be called."""
        found = self.hooks.find(kind, source, context)
        told = None if route is None else route_ad(route.name, route.universe, route.grid_resource)
        user = owner_of(source) if self.as_owner else None
        call = self.hooks.call(found, source, copy, told, user)
        return found, None if call is None else self.start(call)

    def conclude(self, kind: HookType, run: HookRun, tries: int) -> Consequence:
        """Return what an answer means."""
        return self.hooks.conclude(kind, run, tries)
