"""A conversion tried out: the old table and the new one compared over jobs that are made to reach every branch.

What compares them is ``crondor.router.compare``, as `crondor route diff` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from crondor.classad import lower
from crondor.classad.ad import ClassAd
from crondor.classad.expression import Expression
from crondor.classad.parser import unparse
from crondor.classad.scope import Context
from crondor.classad.tree import ClassAdSyntaxError
from crondor.config import read_config
from crondor.diagnostics import Diagnostic, Severity, Source
from crondor.router.compare import CopyDifference, MadeJob, TablesComparison, Witness, compare_tables, made_jobs
from crondor.router.compare.outcomes import UNCHANGED
from crondor.router.legacy.configuration import CONSTRAINT, NewRoute, NewTable
from crondor.router.legacy.routes import legacy_table, without_old
from crondor.router.legacy.table import NAMES, ROUTE, LegacyTable, live_name
from crondor.router.table.loading import load_table
from crondor.router.table.route import Route, RoutingTable
from crondor.transform import InvalidTransform, RuleSource, Transform
from crondor.transform.classad_form import convert_faithfully, current_time, rewrite

MOST_JOBS: Final = 5000
"""The maximum number of jobs for testing a conversion."""
_MOST_SAID: Final = 100
_SHOWN: Final = 60
_NOT_THERE: Final = "missing"
_RULES: Final = ("set_", "eval_set_", "copy_")


class Verified(NamedTuple):
    """The number of jobs made, and the differences: a finding for each route and attribute."""

    jobs: int
    diagnostics: tuple[Diagnostic, ...]


class ComparedTables(NamedTuple):
    """A table and its conversion, for comparison.

    ``alone`` is the new table without the transforms around its routes, if these are new for a route; the finding
    legacy-around reports these transforms.
    """

    old: RoutingTable
    new: RoutingTable
    alone: RoutingTable


def verify(table: LegacyTable, made: NewTable, context: Context | None = None, most: int = MOST_JOBS) -> Verified:
    """Compare a table as HTCondor 23 has it with its conversion, over at most ``most`` jobs made from both.

    ``table`` is read with all macros replaced, as by that release. The routes themselves are compared; then, with the
    transforms around them, the attributes that the rules of a route set. If a site's file does not set the source
    constraint, which routes without Requirements need, every job meets it. Never fails.
    """
    context = context or Context()
    entries = {lower(route.name): route for route in made.routes}
    both = compared_tables(table, made, context)
    jobs = made_jobs([both.old, both.new], context, most)
    trial = _Trial({job.id: job for job in jobs}, entries)
    trial.note(compare_tables(both.old, both.alone, _of(jobs), context, counts=is_other, called=UNCHANGED))
    if both.new.before or both.new.after:
        set_by = {key: _set_by(entry) for key, entry in entries.items() if not entry.entry.is_knob}

        def is_lost(route: Route, found: CopyDifference) -> bool:
            return lower(found.name) in set_by.get(lower(route.name), ()) and is_other(route, found)

        trial.note_copies(compare_tables(both.old, both.new, _of(jobs), context, counts=is_lost, called=UNCHANGED))
    tried = [*_tried(made.transforms, context, most)]
    for job in tried:
        trial.transformed(job, made.transforms)
    return Verified(len(jobs) + len(tried), tuple(trial.found.values()))


def compared_tables(table: LegacyTable, made: NewTable, context: Context | None = None) -> ComparedTables:
    """Return a table as HTCondor 23 has it, with the route names of the conversion, and the loaded conversion."""
    if not table.configuration.is_set(CONSTRAINT):
        table = replace(table, configuration=read_config({CONSTRAINT: "true"}, base=table.configuration))
    names = {lower(live_name(route.entry)): route.name for route in made.routes}
    old = _called(legacy_table(table, context, faithful=True), names)
    new = load_table(read_config(Source(str(made), "<converted>"), base=without_old(table)), context=context)
    were_entries = {lower(route.name) for route in made.routes if not route.entry.is_knob}
    alone = tuple(
        replace(route, takes_transforms=False) if lower(route.name) in were_entries else route for route in new.routes
    )
    return ComparedTables(old, new, replace(new, routes=alone))


class _Trial:
    """The findings of a comparison: ``found`` has one for each route and attribute."""

    def __init__(self, jobs: Mapping[str, MadeJob], entries: Mapping[str, NewRoute]) -> None:
        self._jobs = jobs
        self._entries = entries
        self.found: dict[tuple[str, str], Diagnostic] = {}

    def note(self, compared: TablesComparison) -> None:
        """Add all differences between two tables."""
        listed = compared.routes
        for name in listed.added:
            self._say(name, "", f"{name} now takes jobs; HTCondor 23 rejected it")
        for name, why in (*((name, "") for name in listed.dropped), *listed.rejected):
            self._say(name, "", f"{name} is now rejected{why and f': {why}'}")
        if listed.order is not None:
            self._say("", "order", f"the routes are asked in another order: {', '.join(listed.order[1])}")
        for moved in compared.moved:
            said = f"{self._job(moved.witness)} takes {moved.new or 'no route'}, and took {moved.old or 'none'}"
            self._say(moved.new or moved.old or "", f" {moved.old}", said)
        for each in compared.overlaps:
            now, was = ("would", "would not") if each.is_new else ("would not", "would")
            said = f"{each.second} {now} take {self._job(each.witness)} of {each.first}, and {was} before"
            self._say(each.second, f" {each.first}", said)
        for value in compared.settings:
            of = f"{value.route}: " if value.route else ""
            texts = [text or _NOT_THERE for text in (value.new, value.old)]
            self._say(value.route or "", value.name, f"{of}{value.name} is {texts[0]}, and was {texts[1]}")
        self.note_copies(compared)

    def note_copies(self, compared: TablesComparison) -> None:
        """Add the attributes of copies that differ on the same route."""
        for row in compared.copies:
            if lower(row.old_route) == lower(row.new_route):
                pair = row.pairs[0]
                self._attribute(row.new_route, row.name, pair.old, pair.new, self._job(row.witness))

    def transformed(self, job: MadeJob, transforms: Sequence[NewRoute]) -> None:
        """Add the differences of a job after transforms of the schedd."""
        for each in transforms:
            old, new = (_transformed(text, job.ad) for text in (_verbatim(each), each.text))
            for name in {lower(name): name for name in (*old, *new)}.values():
                was, now = (ad.text(name) if name in ad else None for ad in (old, new))
                if not _is_same(was, now):
                    self._attribute(f"JOB_TRANSFORM_{each.name}", name, was, now, f"a job with {_chosen(job)}")

    def _attribute(self, of: str, name: str, old: str | None, new: str | None, job: str) -> None:
        texts = [(text or _NOT_THERE)[:_SHOWN] for text in (new, old)]
        self._say(of, name, f"{of}: {name or 'its copy'} is {texts[0]}, and was {texts[1]}, for {job}")

    def _job(self, witness: Witness) -> str:
        job = self._jobs.get(witness.job)
        return f"a job with {_chosen(job)}" if job is not None else f"job {witness.job}"

    def _say(self, route: str, what: str, message: str) -> None:
        entry = self._entries.get(lower(route))
        span = None if entry is None else entry.entry.span.part(0, 1)
        if len(self.found) < _MOST_SAID:
            help_text = "crondor route apply shows the whole copy, with --legacy the old one"
            found = Diagnostic("legacy-differs", message, Severity.WARNING, span, help_text)
            self.found.setdefault((lower(route), lower(what)), found)


def _called(table: RoutingTable, names: Mapping[str, str]) -> RoutingTable:
    """Return a table with the route names of the conversion."""
    return replace(
        table,
        routes=tuple(replace(route, name=names.get(lower(route.name), route.name)) for route in table.routes),
        rejected=tuple(replace(each, name=names.get(lower(each.name), each.name)) for each in table.rejected),
    )


def _of(jobs: Iterable[MadeJob]) -> Iterator[tuple[str, ClassAd]]:
    return ((job.id, job.ad) for job in jobs)


def is_other(_route: Route, found: CopyDifference) -> bool:
    """Return whether a difference of two copies counts: CurrentTime is HTCondor's old name for time()."""
    return not _is_same(found.old, found.new)


def _is_same(old: str | None, new: str | None) -> bool:
    """Return whether two expressions are the same; CurrentTime is HTCondor's old name for time()."""
    if old == new or old is None or new is None or "currenttime" not in old.lower():
        return old == new
    try:
        trees = [rewrite(Expression.parse(Source(text)).tree, current_time) for text in (old, new)]
    except ClassAdSyntaxError:
        return False
    return unparse(trees[0]) == unparse(trees[1])


def _tried(transforms: Sequence[NewRoute], context: Context, most: int) -> list[MadeJob]:
    """Make jobs for transforms of the schedd, like those for routes with the same commands."""
    if not transforms:
        return []
    names = [f"T{number}" for number in range(len(transforms))]
    tables = []
    for texts in ([_verbatim(each) for each in transforms], [each.text for each in transforms]):
        routes = {f"{ROUTE}{name}": text for name, text in zip(names, texts, strict=True)}
        tables.append(load_table(read_config({**routes, NAMES: " ".join(names), CONSTRAINT: "true"}), context=context))
    return made_jobs(tables, context, most)


def _verbatim(route: NewRoute) -> str:
    return (convert_faithfully(route.entry) or ("", ""))[1]


def _transformed(text: str, job: ClassAd) -> ClassAd:
    """Return a job after the commands of a transform, the job itself if they do not apply or fail."""
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


def _chosen(job: MadeJob) -> str:
    """Return the special attributes of a made job."""
    said = [f"no {name}" if text is None else f"{name} = {text}" for name, text in job.chosen.items()]
    return ", ".join(said)[:200] or "nothing special"
