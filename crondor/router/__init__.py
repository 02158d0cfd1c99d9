"""HTCondor's job router: routing tables, which route takes a job, and the copy that it makes.

``load_table(configuration)`` makes the table; ``difference(old, new)`` says what another configuration changes.
``Matcher(table).match(jobs, route_state, context)`` finds candidates and gives them routes, ``Candidates`` keeps the
jobs of a queue and looks at what has changed; ``why(table, job, route_state, context)`` says why or why not.
``RouteState`` is what a router counts: the load and the throttle of each route. ``apply_route(table, route, ad)`` makes
the routed copy.
"""

from crondor.router.apply.applying import RoutedAd, apply_route
from crondor.router.match.candidates import Candidates, MatchPoll
from crondor.router.match.limits import Limit, RouteLoad
from crondor.router.match.matcher import Match, Matcher, Search
from crondor.router.match.reasons import JobVerdict, RouteOutcome, RouteVerdict, why
from crondor.router.match.route_state import RouteState
from crondor.router.match.throttle import Throttle
from crondor.router.table.job_ids import id_text
from crondor.router.table.loading import TableDifference, difference, load_table
from crondor.router.table.route import Route
from crondor.router.table.settings import RouterSettings, ScheddContact
from crondor.router.table.table import Rejected, RoutingTable

__all__ = [
    "Candidates",
    "JobVerdict",
    "Limit",
    "Match",
    "MatchPoll",
    "Matcher",
    "Rejected",
    "Route",
    "RouteLoad",
    "RouteOutcome",
    "RouteState",
    "RouteVerdict",
    "RoutedAd",
    "RouterSettings",
    "RoutingTable",
    "ScheddContact",
    "Search",
    "TableDifference",
    "Throttle",
    "apply_route",
    "difference",
    "id_text",
    "load_table",
    "why",
]
