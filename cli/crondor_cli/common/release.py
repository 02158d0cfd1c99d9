"""A release of HTCondor as people write it: 24 for the newest of a series, 24.0 for one of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from crondor.knowledge.releases import Release

    _ParamType = click.ParamType[Release]
else:
    _ParamType = click.ParamType  # click 8.1, which Debian trixie has, knows it without a parameter only

_SERIES: Final = ("23", "24", "25")


class ReleaseType(_ParamType):
    """Takes releases of which the tables know the commands, and converts them to a Release."""

    name = "release"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[click.shell_completion.CompletionItem]:
        """Return the series."""
        del ctx, param
        return [click.shell_completion.CompletionItem(each) for each in _SERIES if each.startswith(incomplete)]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Release:  # noqa: ANN401 - click's word for what it was given
        """Return the release that a text names."""
        from crondor.knowledge.releases import NEWEST, OLDEST, Release  # noqa: PLC0415 - every command has settings, and one uses this

        if isinstance(value, Release):
            return value
        try:
            release = Release.parse(str(value))
        except ValueError:
            self.fail(f"'{value}' is no release of HTCondor: write 24, or 24.3", param, ctx)
        newest = release.major == NEWEST.major and release.is_series
        if release < OLDEST or (release > NEWEST and not newest):
            self.fail(f"crondor knows the releases from {OLDEST} to {NEWEST}, not {value}", param, ctx)
        return release
