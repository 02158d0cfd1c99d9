"""A command whose help begins with an example that works as it is typed, in an empty folder."""

from __future__ import annotations

import inspect
from typing import Any

import click


class Command(click.Command):
    """A command with an example, which its help shows below the line that says what it does."""

    def __init__(self, *args: Any, example: str = "", **kwargs: Any) -> None:  # noqa: ANN401 - click's
        """Keep the example, a line or several; everything else is click's."""
        super().__init__(*args, **kwargs)
        self.example = example

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
