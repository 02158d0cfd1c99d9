"""HTCondor's job router: routing tables, which route takes a job, and the copy that it makes.

``load_table(configuration)`` makes the table; ``difference(old, new)`` says what another configuration changes.
``Matcher(table).match(jobs, route_state, context)`` finds candidates and gives them routes, ``Candidates`` keeps the
jobs of a queue and looks at what has changed; ``why(table, job, route_state, context)`` says why or why not.
``RouteState`` is what a router counts: the load and the throttle of each route. ``apply_route(table, route, ad)`` makes
the routed copy.
"""

from typing import TYPE_CHECKING

from crondor._types import late

if TYPE_CHECKING:
    from crondor.router.applying import RoutedAd, apply_route
    from crondor.router.match.matcher import Limit, Match, Matcher, RouteLoad, RouteState, Search, Throttle
    from crondor.router.match.reasons import Candidates, JobVerdict, MatchPoll, RouteOutcome, RouteVerdict, why
    from crondor.router.table.loading import TableDifference, difference, load_table
    from crondor.router.table.route import Rejected, Route, RouterSettings, RoutingTable, ScheddContact, id_text

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

# Matching jobs does not need the code that makes copies.

_HOMES = {
    "crondor.router.applying": "RoutedAd apply_route",
    "crondor.router.match.matcher": "Limit Match Matcher RouteLoad RouteState Search Throttle",
    "crondor.router.match.reasons": "Candidates JobVerdict MatchPoll RouteOutcome RouteVerdict why",
    "crondor.router.table.loading": "TableDifference difference load_table",
    "crondor.router.table.route": "Rejected Route RouterSettings RoutingTable ScheddContact id_text",
}
__getattr__, __dir__ = late(__name__, _HOMES)
