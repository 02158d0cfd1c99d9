"""Which jobs the router looks at: the clauses of HTCondor's umbrella constraint, one by one and as one text.

HTCondor: JobRouter::GetCandidateJobs.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.evaluate import holds
from crondor.classad.expression import Expression
from crondor.classad.scope import AdValue, Attributes, Context
from crondor.classad.unparse import print_string
from crondor.router.table.route import Route
from crondor.router.table.table import RoutingTable

_REQUIREMENTS = {"requirements": "Requirements"}
_ASKED = Expression("MY.Requirements").code
EVERY = "True"
"""What stands for a route without REQUIREMENTS."""


class Clause(str, Enum):
    """A condition that a job has to meet before any route is asked."""

    SOURCE_CONSTRAINT = "JOB_ROUTER_SOURCE_JOB_CONSTRAINT"
    ROUTES = "the requirements of the routes, asked with the job as TARGET"
    JOB = "it is a job"
    IDLE = "it is idle"
    NOT_SPOOLING = "its input is not being spooled"
    NOT_DONE = "no manager has finished it"
    NOT_EXTERNAL = "nobody else manages it"
    OWNED = "it has an Owner"
    NOT_COPY = "it is not a copy that this router made"
    OWN = "it belongs to the user that the router runs as"


class BuiltIn(NamedTuple):
    """A clause that is always there, and its expression."""

    clause: Clause
    text: str
    expression: Expression


def built_in(name: str, owner: str | None = None) -> tuple[BuiltIn, ...]:
    """Return the clauses that HTCondor 25.14 adds, in its order.

    ``name`` is JOB_ROUTER_NAME. ``owner``: whose jobs alone are looked at, None where the router runs as root.
    """
    texts = [
        (Clause.JOB, "target.ProcId >= 0"),
        (Clause.IDLE, "target.JobStatus == 1"),
        (Clause.NOT_SPOOLING, "(target.StageInStart is undefined || target.StageInFinish isnt undefined)"),
        (Clause.NOT_DONE, 'target.Managed isnt "ScheddDone"'),
        (Clause.NOT_EXTERNAL, 'target.Managed isnt "External"'),
        (Clause.OWNED, "target.Owner isnt Undefined"),
        (Clause.NOT_COPY, f"target.RoutedBy isnt {print_string(name)}"),
    ]
    if owner is not None:
        texts.append((Clause.OWN, f"(target.Owner == {print_string(owner)})"))
    return tuple(BuiltIn(clause, text, Expression(text)) for clause, text in texts)


def umbrella_text(table: RoutingTable, accepting: Iterable[Route], owner: str | None = None) -> str:
    """Return the umbrella constraint as HTCondor writes it, for the routes that take jobs now."""
    clauses = built_in(table.settings.name, owner)
    inner = " && ".join(each.text for each in clauses if each.clause is not Clause.OWN)
    own = "".join(f" && {each.text}" for each in clauses if each.clause is Clause.OWN)
    return f"{routes_text(table, accepting)} && ({inner}){own}"


def routes_text(table: RoutingTable, accepting: Iterable[Route], *, reprinted: bool = False) -> str:
    """Return the part of the umbrella constraint that the configuration makes: the source constraint and the routes.

    Routes stand in the order of their names, each text once. ``reprinted``: as crondor prints expressions.
    """
    texts = dict.fromkeys(
        _text(route, reprinted=reprinted) for route in sorted(accepting, key=lambda route: route.name.lower())
    )
    constraint, written = table.settings.source_constraint, table.settings.source_constraint_text
    head = "" if constraint is None else f"({written if written and not reprinted else constraint.unparse()}) && "
    return f"{head}( {' || '.join(f'({text})' for text in texts)} )"


def _text(route: Route, *, reprinted: bool) -> str:
    required = route.transform.requirements
    if required is None:
        return EVERY
    return required.expression.unparse() if reprinted else required.text


class UmbrellaQuestion:
    """The umbrella's part of the configuration as an expression that is asked of many jobs, each as TARGET.

    MY is an ad that has nothing but this expression as its Requirements, as in HTCondor's query.
    """

    __slots__ = ("_code", "_my")

    def __init__(self, table: RoutingTable, accepting: Iterable[Route]) -> None:
        """Read the text; it is that of the knobs, so that strings count as in new syntax there."""
        routes = tuple(accepting)
        try:
            code = Expression(routes_text(table, routes)).code
        except ClassAdSyntaxError:  # a text that is read as old syntax alone
            code = Expression(routes_text(table, routes, reprinted=True)).code
        self._code = code
        self._my = AdValue({"requirements": code}, _REQUIREMENTS)

    def holds(self, job: Attributes, context: Context) -> bool:
        """Say whether a job passes."""
        return holds(_ASKED, self._my, job, context)

    def reason(self, job: Attributes, context: Context) -> str | None:
        """Return the shortest reason why a job does not pass, None if it does."""
        return Expression.of(self._code).explain(self._my, job, context).reason()
