"""HTCondor's job router: routing tables, which route takes a job, and the copy that it makes.

``load_table(configuration)`` makes the table; ``difference(old, new)`` says what another configuration changes.
``Matcher(table).match(jobs, standing, context)`` finds candidates and gives them routes, ``Candidates`` keeps the jobs
of a queue and looks at what has changed; ``why(table, job, standing, context)`` says why or why not. ``Standing`` is
what a router counts: the load and the throttle of each route. ``apply_route(table, route, ad)`` makes the routed copy.
"""

from crondor.router.applying import Routed, apply_route
from crondor.router.candidates import Candidates, Poll
from crondor.router.job_ids import id_text
from crondor.router.limits import Limit, RouteLoad
from crondor.router.loading import Difference, difference, load_table
from crondor.router.matching import Match, Matcher, Search
from crondor.router.route import Route
from crondor.router.settings import RouterSettings, ScheddContact
from crondor.router.standing import Standing
from crondor.router.table import Rejected, RoutingTable
from crondor.router.throttle import Throttle
from crondor.router.why import Outcome, Verdict, Why, why

__all__ = [
    "Candidates",
    "Difference",
    "Limit",
    "Match",
    "Matcher",
    "Outcome",
    "Poll",
    "Rejected",
    "Route",
    "RouteLoad",
    "Routed",
    "RouterSettings",
    "RoutingTable",
    "ScheddContact",
    "Search",
    "Standing",
    "Throttle",
    "Verdict",
    "Why",
    "apply_route",
    "difference",
    "id_text",
    "load_table",
    "why",
]
