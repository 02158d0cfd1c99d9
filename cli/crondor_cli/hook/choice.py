"""A hook named on the command line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from crondor.diagnostics import printable, similar
from crondor.hooks.hook_types import HookType

if TYPE_CHECKING:
    _Choice = click.Choice[str]
else:
    _Choice = click.Choice  # click 8.1, which Debian trixie has, knows it without a parameter only


class HookChoice(_Choice):
    """One of some hooks, in capitals or not."""

    def __init__(self, hooks: Iterable[HookType]) -> None:
        """Take the hooks that may be named."""
        super().__init__([hook.value for hook in hooks], case_sensitive=False)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the hook's name; a wrong one is answered with the nearest, or with all."""
        names = [str(choice) for choice in self.choices]
        name = value.upper()
        if name in names:
            return name
        near = similar(name, names, 0.7)
        hint = f"did you mean {near[0]}?" if near else f"it is one of {', '.join(names)}"
        return self.fail(f"'{printable(value)}' is no hook: {hint}", param, ctx)
