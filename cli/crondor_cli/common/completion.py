"""What the shell may complete: zones and rule codes, here; on any trouble there is nothing to complete.

Nothing is run or written, no schedd is asked, and a file that takes long is not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

import click

Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def completing(candidates: Callable[[click.Context], Iterable[str]]) -> Completer:
    """Return a completer that offers those of the candidates that begin as what was typed."""

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        with suppress(Exception):
            return sorted(text for text in candidates(ctx) if text.startswith(incomplete))
        return []

    return complete


def _zones(_: click.Context) -> Iterable[str]:
    from zoneinfo import available_timezones  # noqa: PLC0415 - for completion only, as all imports here

    return available_timezones()


def _codes(ctx: click.Context) -> Iterable[str]:
    if ctx.parent is not None and ctx.parent.info_name == "route":
        from crondor.router.rules import RULES as ROUTE_RULES  # noqa: PLC0415

        return ROUTE_RULES
    from crondor.check import RULES  # noqa: PLC0415

    return RULES


def complete_codes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Complete the last code of a list with commas."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{code}" for code in completing(_codes)(ctx, param, last)]


complete_zone = completing(_zones)
complete_code = completing(_codes)
