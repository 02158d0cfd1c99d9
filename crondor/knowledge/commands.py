"""The commands of submit descriptions, by name and by release (HTCondor: submit_utils.h, prunable_keywords)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import cache, cached_property
from typing import Final, NamedTuple

from crondor._types import Made
from crondor.knowledge.releases import NEWEST, Releases
from crondor.knowledge.rows import columns, lines
from crondor.knowledge.slips import one_slip


class CommandType(Enum):
    """How a command's value is read; the value is the word to show.

    DISABLED is what people write for another command, or what an administrator has taken away.
    """

    STRING = "string"
    BARE = "bare"
    LIST = "list"
    BARE_LIST = "bare list"
    FILE = "file"
    BARE_FILE = "bare file"
    FILES = "files"
    EXPRESSION = "expression"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    COUNT = "count"
    MIB = "mib"
    KIB = "kib"
    ARGUMENTS = "arguments"
    ENVIRONMENT = "environment"
    SIGNAL = "signal"
    UNIVERSE = "universe"
    FIELD = "field"
    CHOICE = "choice"
    DISABLED = "disabled"


class Setting(Enum):
    """How a command's attribute comes about."""

    AS_IT_IS = "="
    ALTERNATIVE = "~"
    MADE = ""


class SubmitCommand(NamedTuple):
    """A command: its name, what its value is, the attribute that it becomes, when and where it counts.

    ``others`` are further names of it, the attribute's among them where condor_submit takes that. A name with
    ``<name>`` stands for many. ``choices`` are the words that a CHOICE may be; ``universes`` is empty for all.
    """

    name: str
    others: tuple[str, ...]
    attribute: str
    setting: Setting
    type: CommandType
    choices: tuple[str, ...]
    releases: Releases
    universes: tuple[str, ...]
    sentence: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names a value may be given by."""
        return self.name, *self.others

    @property
    def is_in_use(self) -> bool:
        """Whether the newest release has the command."""
        return self.type is not CommandType.DISABLED and NEWEST in self.releases


class CommandTable(Made):
    """The commands of all releases; names are looked up whatever their case.

    A command is made of its row when it is asked for: of hundreds a description has a few.
    """

    def __init__(self, table: Iterable[str]) -> None:
        """Take the rows; of two with one name the first is found by it."""
        self._rows = tuple(table)
        self._named: dict[str, str] = {}
        for row in self._rows:
            name, others, made, _ = row.split(" | ", 3)
            if "<" not in name:
                for each in (name, *_others(others, made)):
                    self._named.setdefault(each.lower(), row)

    def __repr__(self) -> str:
        """Return the number of commands."""
        return f"<CommandTable of {len(self._rows)} commands>"

    def _made_of(self) -> tuple[object, ...]:
        return (self._rows,)

    @cached_property
    def _all(self) -> tuple[SubmitCommand, ...]:
        return tuple(map(_command, self._rows))

    @cached_property
    def _many(self) -> list[tuple[re.Pattern[str], SubmitCommand]]:
        """The commands that stand for many, each by what its names look like; a file of known names needs none."""
        many = (_command(row) for row in self._rows if "<" in row[: row.index(" ")])
        return [(_pattern(name), each) for each in many for name in each.names]

    def __iter__(self) -> Iterator[SubmitCommand]:
        """Iterate over the commands; those that are copied in the order in which condor_submit does it."""
        return iter(self._all)

    def __len__(self) -> int:
        """Return how many commands there are."""
        return len(self._rows)

    def __contains__(self, name: str) -> bool:
        """Say whether a name is that of a command, or of one that stands for many."""
        return self.get(name) is not None

    def get(self, name: str) -> SubmitCommand | None:
        """Return the command of a name, or the one that stands for it, None for a name that is not known."""
        row = self._named.get(name.lower())
        if row is not None:
            return _command(row)
        return next((command for pattern, command in self._many if pattern.fullmatch(name)), None)

    def is_one(self, name: str) -> bool:
        """Say whether a lower-case name is that of one command, and not of one that stands for many."""
        return name in self._named

    def names(self) -> Iterator[str]:
        """Iterate over the lower-case names of commands that have any, attributes' names among them."""
        return iter(self._named)

    def near(self, name: str) -> list[SubmitCommand]:
        """Return the commands with a name that is one slip of the hand away, see one_slip, those in use alone."""
        found = (_command(row) for key, row in self._named.items() if one_slip(name.lower(), key))
        return [command for command in dict.fromkeys(found) if command.is_in_use]


_WILD: Final = "<name>"


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(r"\w+".join(re.escape(part) for part in name.split(_WILD)), re.IGNORECASE | re.ASCII)


@cache
def submit_commands() -> CommandTable:
    """Return the commands of HTCondor 23.0 to the newest, and those that are gone and still met."""
    return CommandTable(lines("submit_commands.txt"))


@cache
def _command(row: str) -> SubmitCommand:
    name, others, made, value, releases, universes, sentence = columns(row)
    setting, attribute = _attribute(made)
    choices = tuple(value.split("/")) if "/" in value else ()
    return SubmitCommand(
        name,
        tuple(dict.fromkeys(other for other in _others(others, made) if other != name.lower())),
        attribute.strip("()"),
        setting,
        CommandType.CHOICE if choices else CommandType(value),
        choices,
        Releases.parse(releases),
        tuple(_listed(universes)),
        sentence,
    )


def _others(others: str, made: str) -> Iterator[str]:
    """Yield further names of a command, the one of its attribute last."""
    yield from _listed(others)
    _, attribute = _attribute(made)
    if attribute and not attribute.startswith("("):
        yield attribute.lower()


def _attribute(text: str) -> tuple[Setting, str]:
    for setting in (Setting.AS_IT_IS, Setting.ALTERNATIVE):
        if text.startswith(setting.value):
            return setting, text[1:].strip()
    return Setting.MADE, "" if text == "-" else text


def _listed(text: str) -> Iterator[str]:
    if text != "-":
        yield from (word.strip() for word in text.split(","))
