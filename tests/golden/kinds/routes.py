"""The kind of routes: a configuration of a job router, jobs, and what condor_job_router_info makes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.golden.kinds.case import Case, Difference, Replay
from tests.golden.kinds.routes_config import compare_config

_FIELDS = ("config", "config_out", "jobs", "matches", "options", "rc", "routed", "stderr", "stdout", "umbrella")

PARTS: tuple[Callable[[Mapping[str, object]], list[Difference]], ...] = (compare_config,)
"""What is compared of a line, one after the other."""


def _replay(case: Case) -> list[Difference]:
    """Compare all parts of a line."""
    record = case.record(_FIELDS)
    return [difference for part in PARTS for difference in part(record)]


KINDS: Mapping[str, Replay] = {"routes": _replay}
