"""A command as data: what its help says, part by part, and what its options take."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from textwrap import dedent
from typing import NamedTuple

import click

from crondor_cli.kit.command import Command
from crondor_cli.kit.settings import Setting, setting_of

_DEFAULT = re.compile(r" ?\(default: (.+)\)(?=[.;]|$)")
_WHOLE = 1000  # characters: no title is cut
_AS_WRITTEN = "\b"  # click's sign for a paragraph whose lines stay as they are


class OptionFacts(NamedTuple):
    """An option: its names as they are typed, what it takes (empty: nothing), and what holds without it, in words."""

    names: tuple[str, ...]
    value: str
    default: str
    meaning: str
    is_required: bool
    setting: Setting | None


class CommandFacts(NamedTuple):
    """A command or a group: the words that are typed, a few words for a list of commands, and the parts of its help.

    ``notes`` are paragraphs; one whose first line ends with a colon has lines below it that stay as they are.
    """

    path: tuple[str, ...]
    title: str
    sentence: str
    synopsis: str
    notes: tuple[str, ...]
    example: str
    examples: str
    exit_status: str
    options: tuple[OptionFacts, ...]
    is_group: bool

    @property
    def name(self) -> str:
        """What is typed: ``crondor queue status``."""
        return " ".join(self.path)


def commands(root: click.Command, name: str = "crondor") -> Iterator[CommandFacts]:
    """Yield the facts of a command and of all below it, in the order of their groups."""
    yield from _below(root, _context(root, name), (name,))


def _below(command: click.Command, context: click.Context, path: tuple[str, ...]) -> Iterator[CommandFacts]:
    yield _facts(command, context, path)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None and not inner.hidden:
                yield from _below(inner, _context(inner, name, context), (*path, name))


def _context(command: click.Command, name: str, parent: click.Context | None = None) -> click.Context:
    """Return a context with the command's own settings: click keeps the help option of the first that asks for it."""
    return click.Context(command, info_name=name, parent=parent, **command.context_settings)


def _facts(command: click.Command, context: click.Context, path: tuple[str, ...]) -> CommandFacts:
    sentence, *more = _paragraphs(command.help or "")
    said = [*more, *_paragraphs(command.epilog or "")]
    examples = [text for text in said if text.startswith(("Examples:\n", "To begin with:\n"))]
    exits = [text for text in said if text.startswith("Exit status")]
    return CommandFacts(
        path,
        command.get_short_help_str(_WHOLE),
        sentence,
        " ".join([*path, *command.collect_usage_pieces(context)]),
        tuple(text for text in said if text not in examples and text not in exits),
        command.example if isinstance(command, Command) else "",
        "\n".join(dedent(text.partition("\n")[2]) for text in examples),
        " ".join(exits),
        tuple(_option(each, command, context) for each in _shown(command)),
        isinstance(command, click.Group),
    )


def _paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a help text, each a line; where its lines stay as they are, so do they here."""
    found = []
    for part in re.split(r"\n\s*\n", inspect.cleandoc(text).strip("\n")):
        if part.startswith(_AS_WRITTEN):
            found.append(part.removeprefix(_AS_WRITTEN).strip("\n"))
        elif part.strip():
            found.append(" ".join(part.split()))
    return found


def _shown(command: click.Command) -> Iterator[click.Option]:
    return (each for each in command.params if isinstance(each, click.Option) and not each.hidden)


def _option(param: click.Option, command: click.Command, context: click.Context) -> OptionFacts:
    text = (param.help or "").strip()
    written = _DEFAULT.search(text)
    meaning = _DEFAULT.sub("", text)
    if limits := _limits(param.type):
        meaning = f"{meaning.removesuffix('.')} ({limits})."
    if param.multiple and "repeatable" not in meaning.lower():
        meaning = f"{meaning} Repeatable."
    return OptionFacts(
        (*param.opts, *param.secondary_opts),
        "" if param.is_flag else _value(param),
        written[1].strip('"') if written else _default(param, context),
        meaning,
        param.required,
        setting_of(command, param),
    )


def _value(param: click.Option) -> str:
    """Return what an option takes, as the help calls it: a word, or the values that there are."""
    if param.metavar:
        return param.metavar
    if isinstance(param.type, click.Choice):
        return f"[{'|'.join(map(str, param.type.choices))}]"
    return "N" if param.type.name.startswith("integer") else param.type.name.upper()


def _default(param: click.Option, context: click.Context) -> str:
    """Return the default of an option; of two names for yes and no the one that holds."""
    value = param.get_default(context, call=False)
    if not isinstance(value, (str, int, float)) or (param.is_flag and not param.secondary_opts):
        return ""  # None, or what a version of click has in its place
    return (param.opts if value else param.secondary_opts)[0] if param.is_flag else str(value)


def _limits(kind: click.ParamType[object]) -> str:
    """Return the least and the most that a number may be, in words."""
    if not isinstance(kind, (click.IntRange, click.FloatRange)):
        return ""
    low, high = (None if edge is None else f"{edge:,}" for edge in (kind.min, kind.max))
    if low is None or high is None:
        return f"at least {low}" if low is not None else f"at most {high}" if high is not None else ""
    return f"{low} to {high}"
