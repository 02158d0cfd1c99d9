"""`crondor config schema`: print the JSON Schema of a command's output."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from crondor.diagnostics import similar
from crondor_cli.kit.command import Command
from crondor_cli.kit.results import results, schema
from crondor_cli.kit.screen import say
from crondor_cli.kit.tables import echo_json

EPILOG = """\b
Examples:
  crondor config schema                          the commands that have one
  crondor config schema next
  crondor config schema queue status            the same as queue-status
  crondor config schema next > next.schema.json

A schema (draft 2020-12) needs no other file, and explains each key, with its unit. It allows no other keys; later
versions may add keys.

Exit status: 0 shown, 2 no such schema."""


def _completed(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the completions of a name; words before are parts of the name."""
    before = "".join(f"{word}-" for word in ctx.params.get("words") or ())
    found = [name.removeprefix(before) for name in results() if name.startswith(before)]
    return [CompletionItem(name) for name in found if name.startswith(incomplete)]


@click.command("schema", cls=Command, example="crondor config schema next", epilog=EPILOG)
@click.argument("words", nargs=-1, metavar="[COMMAND]...", shell_complete=_completed)
def command(words: tuple[str, ...]) -> None:
    """Print the JSON Schema of a command's output with --format json; without a command, list them."""
    known = results()
    if not words:
        width = max(map(len, known))
        for each in known:
            say(f"{each:<{width}}  {known[each].title}")
        return
    name = "-".join(words)
    if name not in known:
        close = [each for each in known if each.startswith(f"{name}-")] or similar(name, known)
        hint = f"Did you mean {' or '.join(close[:3])}?" if close else "crondor config schema lists them."
        raise click.UsageError(f"No schema of {' '.join(words)!r}. {hint}")
    echo_json(schema(name))
