"""HTCondor's job router: routing tables, which route takes a job, and the copy that it makes.

``load_table(configuration)`` makes the table; ``difference(old, new)`` says what another configuration changes.
``Matcher(table).match(jobs, route_state, context)`` finds candidates and gives them routes, ``Candidates`` keeps the
jobs of a queue and looks at what has changed; ``why(table, job, route_state, context)`` says why or why not.
``RouteState`` is what a router counts: the load and the throttle of each route. ``apply_route(table, route, ad)`` makes
the routed copy.
"""

from crondor.router.apply.applying import Routed, apply_route
from crondor.router.match.candidates import Candidates, Poll
from crondor.router.match.limits import Limit, RouteLoad
from crondor.router.match.matcher import Match, Matcher, Search
from crondor.router.match.reasons import Outcome, Verdict, Why, why
from crondor.router.match.route_state import RouteState
from crondor.router.match.throttle import Throttle
from crondor.router.table.job_ids import id_text
from crondor.router.table.loading import Difference, difference, load_table
from crondor.router.table.route import Route
from crondor.router.table.settings import RouterSettings, ScheddContact
from crondor.router.table.table import Rejected, RoutingTable

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
    "RouteState",
    "Routed",
    "RouterSettings",
    "RoutingTable",
    "ScheddContact",
    "Search",
    "Throttle",
    "Verdict",
    "Why",
    "apply_route",
    "difference",
    "id_text",
    "load_table",
    "why",
]
