"""Routing tables for the tests, out of configurations as people write them."""

from collections.abc import Mapping

from crondor.classad import ClassAd, Context
from crondor.config import read_config
from crondor.diagnostics import Source
from crondor.router import RoutingTable, load_table

_NAMES = "JOB_ROUTER_ROUTE_NAMES"


def table_of(routes: Mapping[str, str], config: str = "", context: Context | None = None) -> RoutingTable:
    """Return the table of routes in their order, each a text of commands; ``config`` has more knobs."""
    lines = [config, f"{_NAMES} = {' '.join(routes)}"]
    lines += [f"JOB_ROUTER_ROUTE_{name} @=end\n{text}\n@end" for name, text in routes.items()]
    context = context or Context()
    table = load_table(read_config(Source("\n".join(lines) + "\n", "routes.conf"), context=context), context=context)
    assert [route.name for route in table.routes] == list(routes), table.rejected
    return table


def job(**attributes: str) -> ClassAd:
    """Return a job's ad: a candidate, with texts of attributes on top."""
    texts = {"ClusterId": "1", "ProcId": "0", "JobUniverse": "5", "JobStatus": "1", "Owner": '"alice"'}
    return ClassAd.of_texts({**texts, **attributes})
