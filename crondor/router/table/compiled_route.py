"""How plain jobs go on a route: what is the same for all that have the same names is worked out once.

Where a job turns out not to be plain (it is chained to its cluster's ad, its output is to be renamed, a line of a
transform fails), there is no answer, and ``crondor.router.apply.applying`` goes step by step.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from crondor.classad.ad import ClassAd
from crondor.classad.unparse import print_string
from crondor.macro import MacroError
from crondor.router.table.conversion import DELETED, OLD_UNIVERSE, RESET, UNIVERSE
from crondor.router.table.job_ids import plain_id
from crondor.router.table.route import GRID, Route
from crondor.router.table.settings import RouterSettings
from crondor.transform import Transform, TransformFacts
from crondor.transform.apply import TransformRun
from crondor.transform.errors import Stop
from crondor.transform.plan import NamePlan, Unplanned

_STRING = re.compile(r'"[^"\\]*"').fullmatch
_MOST_NAMES = 64  # mappings of names that are remembered
_LONGEST = 1000  # names of an ad that is worth a plan
_MOST_TRUST = 64
_PRICE = 4  # jobs that go this way for each that does not, or the next are not tried
_REST = 32  # jobs that are not tried then


class CompiledRoute:
    """A route with the transforms around it, for jobs that need nothing but their attributes changed.

    ``is_open`` says whether any job can go this way.
    """

    __slots__ = ("_rests", "_settings", "_stretches", "_trust", "is_open", "route")

    def __init__(
        self, route: Route, before: Sequence[Transform], after: Sequence[Transform], settings: RouterSettings
    ) -> None:
        """Take a route, and the transforms before and after it."""
        self.route = route
        asks = (route.job_should_be_sandboxed, route.edit_job_in_place, route.use_shared_x509_user_proxy)
        self.is_open = all(each is None for each in (*asks, route.send_id_tokens)) and not settings.route_id_tokens
        self._settings = settings
        self._stretches = [_Stretch(None)]
        self._stretches[0].parts.append(self._convert)
        for transform in (*before, route.transform, *after):
            if transform is not route.transform and transform.requirements is not None:
                self._stretches += (_Stretch(transform), _Stretch(None))
            else:
                self._stretches[-1].parts.append(transform.plan)
                self._stretches[-1].applied += (transform.name,)
        self._stretches[-1].parts.append(self._end)
        self._trust = _MOST_TRUST
        self._rests = 0

    def run(self, source: ClassAd, facts: TransformFacts) -> tuple[ClassAd, tuple[str, ...]] | None:
        """Return the routed copy of a job and the names of the transforms that ran; None: the job is not plain."""
        if self._rests:
            self._rests -= 1
            return None
        made = self._made(source, facts)
        if made is not None:
            self._trust += self._trust < _MOST_TRUST
            return made
        self._trust -= _PRICE
        if self._trust < 0:
            self._trust, self._rests = 0, _REST
        return None

    def _made(self, source: ClassAd, facts: TransformFacts) -> tuple[ClassAd, tuple[str, ...]] | None:
        if source.parent is not None:
            return None
        get = source.codes.get
        job = plain_id(get("clusterid"), get("procid"))
        if job is None or get("jobuniverse") is None or get("transferoutputremaps") is not None:
            return None
        copy = source.copy()
        codes, names = copy.shared_parts()
        run = TransformRun(copy, facts, {}, facts.defaults(iterates=False))
        applied: tuple[str, ...] = ()
        try:
            for stretch in self._stretches:
                if stretch.asked is None or stretch.asked.matches(copy, facts.context):
                    plan = stretch.known.get(id(names)) or stretch.learn(names)
                    plan.run(run, codes)
                    names = plan.after
                    copy.share_names(names)
                    applied = applied + stretch.applied if applied else stretch.applied
        except (Unplanned, MacroError, Stop):
            return None
        owner = codes.get("owner")
        if not (isinstance(owner, str) and _STRING(owner)):
            return None
        codes["routedfromjobid"] = f'"{job}"'
        return copy, applied

    def _convert(self, plan: NamePlan) -> None:
        """Add the default conversion, as crondor.router.table.conversion does it."""
        is_grid = self.route.universe == GRID
        for name in (*DELETED, "CurrentHosts") if is_grid else DELETED:
            plan.delete(name)
        for name, text in RESET:
            plan.put(name, text)
        plan.copy(UNIVERSE, OLD_UNIVERSE)
        plan.put(UNIVERSE, str(self.route.universe))
        if is_grid:
            plan.put("GridResource", print_string(self.route.grid_resource or ""))

    def _end(self, plan: NamePlan) -> None:
        """Add what is set after all transforms; the job's id is set in each copy."""
        plan.delete("RoutedToJobId")
        plan.put("RoutedFromJobId", "undefined")
        plan.put("RoutedBy", print_string(self._settings.name))
        plan.put("RouteName", print_string(self.route.name))


class _Stretch:
    """Changes in a row that all jobs come to that meet the requirements of ``asked``, None: all jobs.

    ``known`` are the plans by the identity of the names that they begin with, ``applied`` the names of transforms.
    """

    __slots__ = ("_seen", "applied", "asked", "known", "parts")

    def __init__(self, asked: Transform | None) -> None:
        """Begin with the transform that is asked."""
        self.asked = asked
        self.parts: list[Callable[[NamePlan], None]] = [] if asked is None else [asked.plan]
        self.applied: tuple[str, ...] = () if asked is None else (asked.name,)
        self.known: dict[int, NamePlan] = {}
        self._seen: dict[int, dict[str, str]] = {}

    def learn(self, names: dict[str, str]) -> NamePlan:
        """Return the plan for names, made when they come for the second time. Raises Unplanned: there is none."""
        if len(names) > _LONGEST:
            raise Unplanned
        if self._seen.pop(id(names), None) is None:
            if len(self._seen) >= _MOST_NAMES:
                self._seen.clear()
            self._seen[id(names)] = names
            raise Unplanned
        plan = NamePlan(names)
        for add in self.parts:
            add(plan)
        if len(self.known) >= _MOST_NAMES:
            self.known.clear()
        self.known[id(names)] = plan.close()
        return plan
