"""HTCondor's job router: routing tables, which route takes a job, and the copy that it makes.

``load_table(configuration)`` makes the table; ``difference(old, new)`` says what another configuration changes.
"""

from crondor.router.loading import Difference, difference, load_table
from crondor.router.route import Route
from crondor.router.settings import RouterSettings, ScheddContact
from crondor.router.table import Rejected, RoutingTable

__all__ = [
    "Difference",
    "Rejected",
    "Route",
    "RouterSettings",
    "RoutingTable",
    "ScheddContact",
    "difference",
    "load_table",
]
