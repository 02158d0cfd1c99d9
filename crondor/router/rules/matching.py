"""CRN63.: which jobs a route takes, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations, islice

from crondor.check.rule import Rule, RuleHit, rule
from crondor.classad.errors import CircularReference
from crondor.classad.expression import Expression
from crondor.classad.operators import truth
from crondor.classad.tree import Node
from crondor.classad.values import ERROR, UNDEFINED
from crondor.diagnostics import Severity
from crondor.router.rules.logic import Comparison, Conclusions, comparison, exclude_each_other, leave_nothing, parts
from crondor.router.rules.subject import CheckedTable, commands, constant, is_false
from crondor.router.table.route import Route


@rule("CRN631", "never-matches", Severity.WARNING, "a route that no job meets")
def _never(table: CheckedTable) -> Iterator[RuleHit]:
    """A candidate is idle and not managed; REQUIREMENTS must be true of it, or a number that is not zero."""
    for route in table.routes:
        asked = route.transform.requirements
        if asked is None:
            continue
        value = constant(asked.expression)
        if is_false(asked.expression) and value is not None:
            shown = "false" if truth(value) is False else "no truth value"
            shown = "undefined" if value is UNDEFINED else "an error" if value is ERROR else shown
            message = f"no job matches route {route.name}: for every candidate its REQUIREMENTS are {shown}"
            yield RuleHit(message, asked.span, "a candidate has JobStatus 1; TARGET is undefined; a text is not true")


@rule("CRN632", "unreachable", Severity.WARNING, "a route behind one that takes every job it could get")
def _unreachable(table: CheckedTable) -> Iterator[RuleHit]:
    """Routes are asked in their order, and the first that matches takes the job, unless it is full or throttled."""
    if table.table.settings.round_robin:
        return
    all_taken: Route | None = None
    asked: dict[Expression, Route] = {}
    conclusions = Conclusions()
    for route in table.routes:
        if not _accepts(route):
            continue
        required = route.transform.requirements
        earlier = all_taken or (_wider(required.expression, asked, conclusions) if required is not None else None)
        if earlier is not None:
            takes = "takes every candidate" if earlier is all_taken else "asks for the same"
            if required is not None and takes != "takes every candidate" and required.expression not in asked:
                takes = "asks for no more"
            message = f"{route.name} gets a job only while {earlier.name} is full or throttled: that one {takes}"
            limits = any(table.assigned(earlier, name) for name in ("MaxJobs", "MaxIdleJobs"))
            limits = limits or any(table.configuration.is_set(name) for name in _LIMITS)
            help_text = f"put {route.name} before {earlier.name}, or narrow the REQUIREMENTS of {earlier.name}"
            yield RuleHit(message, table.place(route), help_text, severity=Severity.NOTE if limits else None)
        if all_taken is None and id(route) in table.unconditional:
            all_taken = route
        if required is not None:
            asked.setdefault(required.expression, route)


def _wider(expression: Expression, asked: Mapping[Expression, Route], conclusions: Conclusions) -> Route | None:
    """Return an earlier route that asks for the same, or for what follows from this."""
    same = asked.get(expression)
    if same is not None:
        return same
    earlier = asked.items() if len(asked) <= _MOST_EARLIER else ()
    return next((route for other, route in earlier if conclusions.implies(expression.tree, other.tree)), None)


_MOST_EARLIER = 60
_LIMITS = ("JOB_ROUTER_DEFAULT_MAX_JOBS_PER_ROUTE", "JOB_ROUTER_DEFAULT_MAX_IDLE_JOBS_PER_ROUTE")


def _accepts(route: Route) -> bool:
    return route.max_jobs > 0 and route.max_idle_jobs != 0


@rule("CRN633", "remove-loop", Severity.WARNING, "a copy whose removal routes the job again")
def _remove(table: CheckedTable) -> Iterator[RuleHit]:
    """A removed copy gives its source back as idle, and it is a candidate again at once."""
    edited = {id(route.transform) for route in table.routes if route.edit_job_in_place is not None}
    for transform in table.transforms:
        if id(transform) in edited:
            continue
        for each in commands(transform):
            if each.target != "periodicremove" or each.keyword not in {"SET", "EVALSET", "DEFAULT"}:
                continue
            if each.value.strip().lower() not in {"false", "undefined", "0"}:
                message = "a copy that PeriodicRemove removes is routed again: its source goes back to idle"
                help_text = (
                    "set PeriodicHold instead, or let the REQUIREMENTS turn such a job down,"
                    " as with (NumShadowStarts ?: 0) < 3"
                )
                yield RuleHit(message, each.line.span(), help_text)


@rule("CRN634", "edits-again", Severity.WARNING, "a route that edits the same job at every poll")
def _edits(table: CheckedTable) -> Iterator[RuleHit]:
    """A job that is edited in place stays a candidate until the edit makes it stop matching."""
    for route in table.routes:
        test = route.edit_job_in_place
        if test is None or is_false(test):
            continue
        changed = table.changed(route)
        if None not in changed and not changed & _asked(table, route):
            message = (
                f"{route.name} edits a job again at every poll: nothing that it changes decides whether it matches"
            )
            help_text = "ask for an attribute that the route sets: REQUIREMENTS Edited =!= true and SET Edited true"
            yield RuleHit(message, table.assigned(route, "EditJobInPlace") or table.place(route), help_text)


def _asked(table: CheckedTable, route: Route) -> set[str]:
    """Return the lower-case names of the attributes that decide whether a route takes a job."""
    required = route.transform.requirements
    found = {"jobstatus", "managed", "owner", "procid", "stageinstart", "stageinfinish", "routedby"}
    for asked in (required and required.expression, table.table.settings.source_constraint, route.edit_job_in_place):
        if asked is not None:
            try:
                names = asked.references()
            except CircularReference:
                continue
            for name in (*names.internal, *names.external):
                found.add(name.lower().removeprefix("target.").removeprefix("my."))
    return found


@rule("CRN636", "contradiction", Severity.WARNING, "comparisons that exclude each other, or leave nothing")
def _contradiction(table: CheckedTable) -> Iterator[RuleHit]:
    """No value is above 8000 and below 4000; every text is not "a" or not "b"."""
    for transform in table.readable:
        required = transform.requirements
        if required is None:
            continue
        for choice in parts(required.expression.tree, "||"):
            found = _first_pair(parts(choice, "&&"), exclude_each_other)
            if found is not None:
                message = f"never true: no {found[0].shown} meets both {found[0].text} and {found[1].text}"
                yield RuleHit(message, required.span, "join with || what is to hold one or the other")
        found = _first_pair(parts(required.expression.tree, "||"), leave_nothing)
        if found is not None:
            message = f"true of every job that has {found[0].shown}: it meets {found[0].text} or {found[1].text}"
            yield RuleHit(message, required.span, "join with && what is to hold both")


def _first_pair(
    of: Iterable[Node], test: Callable[[Comparison, Comparison], bool]
) -> tuple[Comparison, Comparison] | None:
    """Return the first two comparisons for which a test holds."""
    compared = [found for each in islice(of, _MOST_EARLIER) if (found := comparison(each)) is not None]
    return next((pair for pair in combinations(compared, 2) if test(*pair)), None)


MATCHING_RULES: tuple[Rule[CheckedTable], ...] = (_never, _unreachable, _remove, _edits, _contradiction)
