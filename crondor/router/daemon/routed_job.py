"""One job that the router has: where it stands, and what the queues showed of it last."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from crondor.classad.ad import ClassAd
from crondor.job_queue.keys import JobId
from crondor.router.daemon.reading import RUNNING, status
from crondor.router.table.table import RoutingTable

if TYPE_CHECKING:
    from crondor.hooks.hook_types import HookType
    from crondor.router.daemon.hooks import HookInProgress


class RoutedState(str, Enum):
    """The states of a routed job, in the order in which it passes them (HTCondor 25.14's job router)."""

    UNCLAIMED = "unclaimed"
    CLAIMED = "claimed"
    SUBMITTED = "submitted"
    FINISHED = "finished"
    CLEANUP = "cleanup"
    RETIRED = "retired"


@dataclass(slots=True)
class RoutedJob:
    """What the router knows of a source and its copy; all of it can be found again in the queues.

    ``source`` and ``copy`` are their ads as they were seen last, with what the router itself has written; None: not
    there. ``left`` is the source's ad before it went, for its user log. ``since`` is when the copy was submitted, or
    might have been (epoch seconds), ``found_at_poll`` is the number of the poll that gave it to a route, 0 where it was
    adopted; ``retired`` when the job was done with. ``has_run`` says that the source shows as running, by what the
    router itself wrote. ``is_unsure`` says that nobody knows whether the schedd took the copy. ``is_interrupted``: the
    end is neither a success nor a failure of the route. ``settled`` are source, copy and table as they were when the
    source was found to show all that the copy does.
    """

    id: JobId
    source: ClassAd | None
    route: str
    state: RoutedState = RoutedState.UNCLAIMED
    copy_id: JobId | None = None
    copy: ClassAd | None = None
    left: ClassAd | None = None
    is_claimed: bool = False
    is_in_place: bool = False
    is_sandboxed: bool = False
    is_unsure: bool = False
    was_seen: bool = False
    is_running: bool = False
    has_run: bool = False
    is_done: bool = False
    is_success: bool = False
    is_interrupted: bool = False
    is_removed: bool = False
    is_evicted: bool = False
    since: int = 0
    found_at_poll: int = 0
    retired: int = 0
    retired_at_poll: int = 0
    hook: HookInProgress | None = None
    hook_type: HookType | None = None
    hook_tries: int = 0
    owed: dict[str, object] = field(default_factory=dict)
    settled: tuple[ClassAd | None, ClassAd | None, RoutingTable] | None = None

    @property
    def is_idle(self) -> bool:
        """Say whether it counts as idle on its route: whatever does not run (HTCondor 25.14's job router)."""
        return not self.is_running

    @property
    def counts(self) -> bool:
        """Say whether it counts on its route and for the router's maximum."""
        return self.state is not RoutedState.RETIRED

    def is_settled(self, table: RoutingTable) -> bool:
        """Say whether nothing has changed since source and copy were compared, and the source showed all there is."""
        if self.settled is None or self.state is not RoutedState.SUBMITTED:
            return False
        source, copy, then = self.settled
        return source is self.source and copy is self.copy and then is table

    def see_copy(self, ad: ClassAd | None) -> None:
        """Take what the queue shows of the copy now; that it runs counts when it is looked at, after the counting."""
        self.copy = ad
        if ad is not None:
            self.is_running = self.is_running and status(ad) in RUNNING

    def __str__(self) -> str:
        """Return what HTCondor's log calls it."""
        parts = [f"src={self.id}"]
        parts += [] if self.copy_id is None else [f"dest={self.copy_id}"]
        parts += [f"route={self.route}"] if self.route else []
        return ",".join(parts)
