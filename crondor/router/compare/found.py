"""What two routing tables do differently: each difference with a job that shows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from crondor.classad.ad import ClassAd


class Witness(NamedTuple):
    """A job that shows something: its id and its ad."""

    job: str
    ad: ClassAd


@dataclass
class RouteChange:
    """Jobs that go on another route; None: on none. With round robin a side names all routes, by turns.

    ``why`` is the reason in the new table, of the witness; ``jobs`` how many there are.
    """

    old: str | None
    new: str | None
    witness: Witness
    jobs: int = 0
    why: str = ""


class TextPair(NamedTuple):
    """An attribute's text in the old copy and in the new one, None where it is not there, and a job that has both."""

    old: str | None
    new: str | None
    job: str


@dataclass
class CopyChange:
    """An attribute of the routed copy that differs, for the jobs that go from one route to another, or stay on one.

    ``pairs`` are some of the texts; ``is_cut``: there are more. ``name`` of what is no attribute of the copy is that
    of the route's macro: EditJobInPlace, JobShouldBeSandboxed, and "" where a copy cannot be made.
    """

    old_route: str
    new_route: str
    name: str
    witness: Witness
    pairs: list[TextPair] = field(default_factory=list)
    jobs: int = 0
    is_cut: bool = False


@dataclass
class Overlap:
    """Jobs that the first route takes, and that the second would take as well, in one of the tables alone."""

    first: str
    second: str
    is_new: bool
    witness: Witness
    jobs: int = 0


class Unreached(NamedTuple):
    """A route of the new table that no job goes on: one that took jobs before, or is new.

    ``taken_by`` is the route that takes a job which this one wants, the witness; None: this one wants none.
    """

    route: str
    is_added: bool
    jobs_before: int
    taken_by: str | None
    witness: Witness | None


class SettingChange(NamedTuple):
    """A limit or another value that differs; ``route`` None: of the router. None: not given."""

    route: str | None
    name: str
    old: str | None
    new: str | None


class RouteListChange(NamedTuple):
    """Routes that come, go, or are left out for a fault now; the order of the others, if it differs.

    ``renamed`` are the old and the new name of those that are called otherwise now.
    """

    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    rejected: tuple[tuple[str, str], ...] = ()
    order: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    renamed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class TablesComparison:
    """Everything that differs. ``jobs`` were read, ``candidates`` of them could be routed.

    ``unproven`` are the routes whose rules differ by their texts while no job shows a difference; that alone is none.
    ``is_cut``: there were more kinds of differences than are kept.
    """

    jobs: int
    candidates: int
    routes: RouteListChange
    moved: tuple[RouteChange, ...]
    copies: tuple[CopyChange, ...]
    unreached: tuple[Unreached, ...]
    overlaps: tuple[Overlap, ...]
    settings: tuple[SettingChange, ...]
    unproven: tuple[str, ...] = ()
    is_cut: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs."""
        listed = self.routes
        others = (self.moved, self.copies, self.unreached, self.overlaps, self.settings)
        return not (listed.added or listed.dropped or listed.rejected or listed.renamed or any(others))
