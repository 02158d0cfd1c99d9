"""Every kind of recording that can be replayed, by name; a family of kinds is a module with a KINDS of its own."""

from collections.abc import Mapping

from tests.golden.kinds import (
    access_point,
    classad,
    classad_ads,
    crontab,
    daemon_timeline,
    hooks,
    legacy_routed,
    legacy_routes,
    queue_log,
    router_steps,
    router_timeline,
    router_tools,
    routes,
    submit,
    transforms,
)
from tests.golden.kinds.case import Replay

__all__ = ["KINDS"]

KINDS: Mapping[str, Replay] = {
    **crontab.KINDS,
    **classad.KINDS,
    **classad_ads.KINDS,
    **queue_log.KINDS,
    **daemon_timeline.KINDS,
    **hooks.KINDS,
    **router_timeline.KINDS,
    **router_steps.KINDS,
    **submit.KINDS,
    **transforms.KINDS,
    **routes.KINDS,
    **router_tools.KINDS,
    **legacy_routes.KINDS,
    **legacy_routed.KINDS,
    **access_point.KINDS,
}
