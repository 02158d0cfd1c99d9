"""What every command takes without saying so: the settings as defaults of its options, --color and --no-config."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from typing import Any

import click

from crondor_cli.common.screen import COLORS, SCREEN
from crondor_cli.common.settings_places import may_be_set

_COLOR = "color"
_NO_CONFIG = "no_config"
HELP = frozenset({"-h", "-help", "--help"})


def prepare(ctx: click.Context, name: str, command: click.Command, args: Sequence[str]) -> None:
    """Give a command of a group the shared options, and the settings as its defaults.

    One that is asked for its help among ``args`` gets none: settings that are wrong must not keep the help away.
    """
    if all(param.name != _COLOR for param in command.params):
        command.params += shared_options(hidden=True)
    is_wanted = not (ctx.resilient_parsing or is_without_config(ctx) or HELP.intersection(args))
    ctx.default_map = {name: Defaults(command, is_wanted=is_wanted)}


def is_without_config(ctx: click.Context) -> bool:
    """Say whether --no-config was given."""
    return bool(ctx.meta.get(_NO_CONFIG))


def shared_options(*, hidden: bool = False) -> list[click.Parameter]:
    """Return --color and --no-config: they go before a command, and behind it, where its help does not repeat them."""
    color = click.Option(
        [f"--{_COLOR}"],
        type=click.Choice(COLORS),
        is_eager=True,
        expose_value=False,
        hidden=hidden,
        callback=_choose_screen,
        help="When to colour (default: auto, on a terminal).",
    )
    no_config = click.Option(
        ["--no-config"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        hidden=hidden,
        callback=_forget,
        help="Pass over all settings, for which see crondor config.",
    )
    return [color, no_config]


def _choose_screen(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    """Keep the choice that stands nearest to the command, and the width that is set."""
    if ctx.parent is None:
        SCREEN.color, SCREEN.width = value or "auto", None
        ctx.meta[_COLOR] = value
    elif ctx.get_parameter_source(_COLOR) is click.core.ParameterSource.COMMANDLINE or not ctx.meta.get(_COLOR):
        SCREEN.color = value or "auto"
    width = ctx.lookup_default("width")
    if width is not None:
        SCREEN.width = int(width)


def _forget(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        ctx.default_map = None
        ctx.meta[_NO_CONFIG] = True


class Defaults(MutableMapping[str, Any]):
    """The settings by the names of a command's parameters, looked for when the first of them is asked for."""

    def __init__(self, command: click.Command, *, is_wanted: bool) -> None:
        """Take the command; one that is only completed reads no file."""
        self._command = command
        self._values: dict[str, Any] | None = None if is_wanted else {}

    def _found(self) -> dict[str, Any]:
        if self._values is None:
            self._values = {}  # asked for once, whatever comes of it
            if may_be_set():
                from crondor_cli.common.option_settings import values_for  # noqa: PLC0415 - 5 ms, for those who set any

                self._values = values_for(self._command)
        return self._values

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - whatever a setting holds
        """Return the value of a parameter."""
        return self._found()[key]

    def __contains__(self, key: object) -> bool:
        """Say whether a parameter is set; --no-config is none that can be."""
        return key != _NO_CONFIG and key in self._found()

    def __iter__(self) -> Iterator[str]:
        """Go over the parameters that are set."""
        return iter(self._found())

    def __len__(self) -> int:
        """Count them."""
        return len(self._found())

    def __setitem__(self, key: str, value: Any) -> None:  # noqa: ANN401 - as click wants it
        """Set one."""
        self._found()[key] = value

    def __delitem__(self, key: str) -> None:
        """Take one away."""
        del self._found()[key]
