"""What two routes make of one job, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Context
from crondor.classad.text import lower
from crondor.diagnostics import Severity
from crondor.router.apply.applying import RoutedAd, apply_route
from crondor.router.table.route import Route
from crondor.router.table.table import RoutingTable
from crondor.transform import Changes, TransformFacts


class CopyDifference(NamedTuple):
    """An attribute of the copy, or a property of it, with both texts; None: it is not there."""

    name: str
    old: str | None
    new: str | None


class Copier:
    """Applies the routes of a table at a given time."""

    def __init__(self, table: RoutingTable, context: Context) -> None:
        """Take a table."""
        self._table = table
        facts = table.facts
        self._facts = TransformFacts(
            facts.knobs, environ=facts.environ, context=context, files=facts.files, version=facts.version
        )
        self._tokens = {name: f"{name}.file" for name, _ in table.settings.id_tokens}

    def copy(self, route: Route, ad: ClassAd) -> RoutedAd:
        """Return what a route makes of a job."""
        return apply_route(self._table, route, ad, facts=self._facts, id_tokens=self._tokens)


def copy_differences(old: RoutedAd, new: RoutedAd) -> Iterator[CopyDifference]:
    """Yield what differs between two copies of one job; RouteName aside where the routes have other names."""
    if old.failed or new.failed:
        if _failure(old) != _failure(new):
            yield CopyDifference("", _failure(old), _failure(new))
        return
    for name, first, last in (
        ("EditJobInPlace", _true(old.in_place is not None), _true(new.in_place is not None)),
        ("JobShouldBeSandboxed", _true(old.sandboxed), _true(new.sandboxed)),
        ("SharedX509UserProxy", old.proxy and old.proxy.file, new.proxy and new.proxy.file),
        ("SendIDTokens", ", ".join(old.id_tokens) or None, ", ".join(new.id_tokens) or None),
    ):
        if first != last:
            yield CopyDifference(name, first, last)
    is_renamed = lower(old.route.name) != lower(new.route.name)
    for each in Changes(made_ad(old), made_ad(new)):
        if not (is_renamed and each.name.lower() == "routename"):
            yield CopyDifference(each.name, each.before, each.after)


def made_ad(routed: RoutedAd) -> ClassAd:
    """Return the copy, or the job as it is edited."""
    if routed.ad is not None:
        return routed.ad
    edited = routed.source.flat().copy()
    for each in routed.in_place or ():
        if each.after is None:
            edited.prune(each.name)
        else:
            edited.set_text(each.name, each.after)
    return edited


def _failure(routed: RoutedAd) -> str | None:
    if not routed.failed:
        return None
    return next((each.message for each in routed.diagnostics if each.severity is Severity.ERROR), "it fails")


def _true(value: bool) -> str | None:  # noqa: FBT001 - a text for a value
    return "true" if value else None
