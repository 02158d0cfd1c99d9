"""A command whose help begins with an example that works as it is typed, in an empty folder."""

from __future__ import annotations

import inspect
from typing import Any

import click

from crondor_cli.common.progress import PROGRESS
from crondor_cli.common.status_line import clean_line
from crondor_cli.common.usage import missing, no_such_option

INTERRUPTED = 130
"""The exit status of a command that Ctrl-C has ended, as shells have it."""


class Command(click.Command):
    """A command with an example, which its help shows below the line that says what it does.

    One that takes long says on a terminal how far it is, unless it ``is_endless``: it runs until it is told to end.
    """

    def __init__(self, *args: Any, example: str = "", is_endless: bool = False, **kwargs: Any) -> None:  # noqa: ANN401 - click's
        """Keep the example, a line or several; everything else is click's."""
        super().__init__(*args, **kwargs)
        self.example = example
        self.is_endless = is_endless

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options; for one that is not there, name the one that other programs call so, or that is like it."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise no_such_option(error, self, ctx) from None
        except click.MissingParameter as error:
            raise missing(error, ctx) from None

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's
        """Run it, and say how far it is; Ctrl-C ends it with 130 and a clean line."""
        PROGRESS.start(is_wanted=not (self.is_endless or ctx.params.get("quiet")))
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            PROGRESS.stop()
            clean_line()
            raise click.exceptions.Exit(INTERRUPTED) from None
        finally:
            PROGRESS.stop()

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Write what the command does, the example, and the rest."""
        first, _, rest = inspect.cleandoc(self.help or "").partition("\n\n")
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(first)
        if self.example:
            with formatter.section("Example"):
                formatter.write(
                    "".join(f"{'':{formatter.current_indent}}{line}\n" for line in self.example.splitlines())
                )
        if rest:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(rest)
