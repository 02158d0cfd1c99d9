"""A conversion tried out: made jobs through the old table and the new one, and what differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from crondor.classad import lower
from crondor.classad.ad import ClassAd
from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.expression import Expression
from crondor.classad.scope import Context
from crondor.classad.unparse import unparse
from crondor.config import read_config
from crondor.diagnostics import Diagnostic, Severity
from crondor.router.apply.applying import apply_route
from crondor.router.legacy.configuration import NewRoute, NewTable
from crondor.router.legacy.made_jobs import BASE, MOST_JOBS, made_jobs
from crondor.router.legacy.routes import legacy_table, live_name, without_old
from crondor.router.legacy.table import LegacyTable
from crondor.router.match.reasons import why
from crondor.router.match.route_state import RouteState
from crondor.router.table.loading import load_table
from crondor.router.table.route import Route
from crondor.router.table.table import RoutingTable
from crondor.source import Source
from crondor.transform import InvalidTransform, RuleSource, Transform
from crondor.transform.classad_form.rewrite import current_time, rewrite
from crondor.transform.classad_form.verbatim import convert_faithfully

_MOST_WORK: Final = 50_000  # jobs times routes
_MOST_SAID: Final = 100
_SHOWN: Final = 60
_NOT_THERE: Final = "not there"
_RULES: Final = ("set_", "eval_set_", "copy_")


class Verified(NamedTuple):
    """How many jobs were tried and came out otherwise, and what differs: a finding for each route and attribute."""

    jobs: int
    different: int
    diagnostics: tuple[Diagnostic, ...]


class _Side(NamedTuple):
    """A table, and what its routes are called in the new one."""

    table: RoutingTable
    names: Mapping[str, str]


def verify(table: LegacyTable, made: NewTable, context: Context | None = None, most: int = MOST_JOBS) -> Verified:
    """Send made jobs through a table as HTCondor 23 has it, and through its conversion.

    ``table`` is read with all macros replaced, as that release does. The routes themselves are compared as they are;
    then, with the transforms around them, the attributes that the rules of a route set. Never fails.
    """
    context = context or Context()
    old = legacy_table(table, context, faithful=True)
    configuration = without_old(table)
    new = load_table(read_config(Source(str(made), "<converted>"), base=configuration), context=context)
    names = {lower(live_name(route.entry)): route.name for route in made.routes}
    entries = {lower(route.name): route for route in made.routes}
    count = max(1, min(most, _MOST_WORK // max(1, len(made.routes))))
    jobs = [*made_jobs(_expressions(made.routes), count)]
    trial = _Trial(_Side(old, names), _Side(new, {}), entries, context)
    different = sum([trial.differs(job) for job in jobs])
    tried = [*made_jobs(_expressions(made.transforms), most)] if made.transforms else []
    different += sum([trial.differs_transformed(job, made.transforms) for job in tried])
    return Verified(len(jobs) + len(tried), different, tuple(trial.found.values()))


class _Trial:
    """One comparison: ``found`` has a finding for each route and attribute."""

    def __init__(self, old: _Side, new: _Side, entries: Mapping[str, NewRoute], context: Context) -> None:
        self.old, self.new = old, new
        self.entries = entries
        self.context = context
        self.found: dict[tuple[str, str], Diagnostic] = {}

    def differs(self, job: ClassAd) -> bool:
        """Say whether a job comes out otherwise, and note how."""
        before = why(self.old.table, job, RouteState(), self.context).chosen
        after = why(self.new.table, job, RouteState(), self.context).chosen
        name = None if before is None else self.old.names.get(lower(before.name), before.name)
        if before is None or after is None or lower(name or "") != lower(after.name):
            if before is None and after is None:
                return False
            self._say(
                name or "", "", f"a job with {_witness(job)} goes on {_named(after)}, and went on {name or 'none'}"
            )
            return True
        found = [*self._attributes(before, replace(after, takes_transforms=before.takes_transforms), job, own=False)]
        if after.takes_transforms != before.takes_transforms:
            found += self._attributes(before, after, job, own=True)
        for attribute, old, new in found:
            said = (
                f"{after.name}: {attribute} is {new[:_SHOWN]}, and was {old[:_SHOWN]}, for a job with {_witness(job)}"
            )
            self._say(after.name, attribute, said)
        return bool(found)

    def differs_transformed(self, job: ClassAd, transforms: Sequence[NewRoute]) -> bool:
        """Say whether a transform of the schedd makes something else of a job, and note how."""
        is_different = False
        for each in transforms:
            old, new = (
                _transformed(text, job) for text in ((convert_faithfully(each.entry) or ("", ""))[1], each.text)
            )
            for name in {lower(name): name for name in (*old, *new)}.values():
                texts = [ad.text(name) if name in ad else _NOT_THERE for ad in (old, new)]
                if not _is_same(*texts):
                    is_different = True
                    said = f"JOB_TRANSFORM_{each.name}: {name} is {texts[1][:_SHOWN]}, and was {texts[0][:_SHOWN]}"
                    self._say(f"JOB_TRANSFORM_{each.name}", name, f"{said}, for a job with {_witness(job)}")
        return is_different

    def _attributes(self, before: Route, after: Route, job: ClassAd, *, own: bool) -> Iterator[tuple[str, str, str]]:
        """Yield attributes that differ, with both texts; ``own``: of those alone that the route's rules set."""
        old, new = (
            {lower(each.name): each for each in apply_route(side.table, route, job).changes}
            for side, route in ((self.old, before), (self.new, after))
        )
        entry = self.entries.get(lower(after.name))
        rules = _set_by(entry) if own and entry is not None else None
        for key in sorted({*old, *new} - _BESIDE):
            if rules is not None and key not in rules:
                continue
            unchanged = job.text(key) if key in job else None
            texts = [side[key].after if key in side else unchanged for side in (old, new)]
            if not _is_same(*texts):
                yield (new.get(key) or old[key]).name, texts[0] or _NOT_THERE, texts[1] or _NOT_THERE

    def _say(self, route: str, attribute: str, message: str) -> None:
        entry = self.entries.get(lower(route))
        span = None if entry is None else entry.entry.span.part(0, 1)
        if len(self.found) < _MOST_SAID:
            help_text = "crondor route apply shows the whole copy, with --legacy the old one"
            found = Diagnostic("legacy-differs", message, Severity.WARNING, span, help_text)
            self.found.setdefault((lower(route), lower(attribute)), found)


_BESIDE = frozenset(("routename",))


def _is_same(old: str | None, new: str | None) -> bool:
    """Say whether two expressions are one; CurrentTime is HTCondor's old name for time()."""
    if old == new or old is None or new is None or "currenttime" not in old.lower():
        return old == new
    try:
        trees = [rewrite(Expression.parse(Source(text)).tree, current_time) for text in (old, new)]
    except ClassAdSyntaxError:
        return False
    return unparse(trees[0]) == unparse(trees[1])


def _transformed(text: str, job: ClassAd) -> ClassAd:
    """Return what the commands of a transform make of a job, the job itself where they do not apply or fail."""
    try:
        transform = Transform.parse(text, form=RuleSource.KNOB, strict=False)
    except InvalidTransform:
        return job
    if transform.requirements is not None and not transform.matches(job, Context()):
        return job
    return transform.apply(job).ad or job


def _set_by(route: NewRoute) -> frozenset[str]:
    """Return the lower-case names of the attributes that the rules of a route set."""
    found = set()
    for name in route.entry.ad:
        for prefix in _RULES:
            if lower(name).startswith(prefix):
                value = route.entry.value(name) if prefix == "copy_" else name[len(prefix) :]
                found.add(lower(value) if isinstance(value, str) else "")
    return frozenset(found)


def _expressions(routes: Sequence[NewRoute]) -> Iterator[Expression]:
    for route in routes:
        yield from (route.entry.ad[name] for name in route.entry.ad)


def _witness(job: ClassAd) -> str:
    """Return what is special about a made job."""
    base = {lower(name): text for name, text in BASE.items()}
    said = [
        f"{name} = {job.text(name)}"
        for name in job
        if lower(name) not in _IDS and base.get(lower(name)) != job.text(name)
    ]
    said += [f"no {name}" for name in BASE if name not in job]
    return ", ".join(said)[:200] or "nothing special"


_IDS = frozenset(("clusterid", "procid"))


def _named(route: Route | None) -> str:
    return "none" if route is None else route.name
