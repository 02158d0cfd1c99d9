"""The words of HTCondor's languages: submit commands, attributes, knobs, functions, and the releases that have them."""

from __future__ import annotations

import os  # not pathlib, which takes 6 ms to import: every check reads a table
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import cache, cached_property
from typing import Final, NamedTuple

from crondor._types import Made
from crondor.knowledge.releases import NEWEST, Releases

_FOLDER: Final = f"{os.path.dirname(__file__)}/data"  # noqa: PTH120


def lines(name: str) -> list[str]:
    """Return the rows of a table unchanged; blank lines and those that begin with # are skipped."""
    with open(f"{_FOLDER}/{name}", encoding="utf-8") as file:  # noqa: PTH123
        return [line for line in file.read().splitlines() if line and line[0] != "#"]


def columns(line: str) -> list[str]:
    """Return the columns of a row."""
    return list(map(str.strip, line.split(" | ")))


def rows(name: str) -> Iterator[list[str]]:
    """Yield the columns of each row of a table."""
    return map(columns, lines(name))


def one_slip(word: str, other: str) -> bool:
    """Return whether one letter is wrong, missing or extra, or two neighbours are swapped.

    False for equal words. Case counts.
    """
    if abs(len(word) - len(other)) > 1 or word == other:
        return False
    at = next((at for at, (ours, theirs) in enumerate(zip(word, other, strict=False)) if ours != theirs), None)
    if at is None:
        return True
    rest, others = word[at:], other[at:]
    if len(word) != len(other):
        return rest[1:] == others or rest == others[1:]
    return rest[1:] == others[1:] or (rest[:2] == others[1::-1] and rest[2:] == others[2:])


class AttributeType(Enum):
    """The type of an attribute's value; the value is the word to show."""

    STRING = "string"
    INTEGER = "integer"
    REAL = "real"
    BOOLEAN = "boolean"
    TIME = "time"
    SECONDS = "seconds"
    LIST = "list"
    AD = "ad"
    EXPRESSION = "expression"


class Attribute(NamedTuple):
    """An attribute: its name in HTCondor's spelling, the type of its value, and a sentence.

    A name with ``<X>`` or ``<N>`` is a pattern for many names, with any word or number there: ``Request<X>``.
    """

    name: str
    type: AttributeType
    sentence: str


class AttributeTable(Made):
    """The attributes of a type of ad, ignoring case; one is made when needed, as a description uses few of hundreds."""

    def __init__(self, table: Iterable[str]) -> None:
        self._rows: dict[str, str] = {}
        self._many: list[tuple[str, str, str]] = []  # patterns: prefix and suffix, and the row
        for row in table:
            name = row[: row.index(" ")].lower()
            if "<" in name:
                self._many.append((name[: name.index("<")], name[name.rindex(">") + 1 :], row))
            else:
                self._rows[name] = row

    def __repr__(self) -> str:
        return f"<AttributeTable of {len(self)} attributes>"

    def _made_of(self) -> tuple[object, ...]:
        return ((*self._rows.values(), *(row for _, _, row in self._many)),)

    def __iter__(self) -> Iterator[Attribute]:
        """Iterate over the attributes, without patterns."""
        return map(_attribute, self._rows.values())

    def __len__(self) -> int:
        """Return the number of attributes, without patterns."""
        return len(self._rows)

    def __contains__(self, name: str) -> bool:
        """Return whether a name is that of an attribute, or matches a pattern."""
        return self.get(name) is not None

    def get(self, name: str) -> Attribute | None:
        """Return the attribute of a name, or the pattern it matches, None for an unknown name."""
        small = name.lower()
        row = self._rows.get(small)
        if row is not None:
            return _attribute(row)
        many = (_attribute(row) for begin, end, row in self._many if small.startswith(begin) and small.endswith(end))
        return next((each for each in many if _pattern(each.name).fullmatch(name)), None)

    def is_one(self, name: str) -> bool:
        """Return whether a name is that of one attribute, and not just a match of a pattern."""
        return name.lower() in self._rows

    def near(self, name: str) -> list[Attribute]:
        """Return the attributes whose names are one slip away from a name: see one_slip."""
        return [_attribute(row) for key, row in self._rows.items() if one_slip(name.lower(), key)]

    def names(self) -> Iterator[str]:
        """Iterate over the names, in HTCondor's spelling, without patterns."""
        return (row[: row.index(" ")] for row in self._rows.values())


_WILD: Final = {"<X>": r"\w+", "<N>": r"\d+"}


@cache
def _pattern(name: str) -> re.Pattern[str]:
    parts = re.split(r"(<[XN]>)", name)
    return re.compile("".join(_WILD.get(part, re.escape(part)) for part in parts), re.IGNORECASE | re.ASCII)


@cache
def job_attributes() -> AttributeTable:
    """Return the attributes that a job's ad may have."""
    return AttributeTable(lines("job_attributes.txt"))


@cache
def machine_attributes() -> AttributeTable:
    """Return the attributes that the ad of a machine's slot may have."""
    return AttributeTable(lines("machine_attributes.txt"))


@cache
def gpu_properties() -> AttributeTable:
    """Return the properties of a GPU, whose ad is used to evaluate ``require_gpus``."""
    return AttributeTable(lines("gpu_properties.txt"))


@cache
def _attribute(row: str) -> Attribute:
    name, kind, sentence = columns(row)
    return Attribute(name, AttributeType(kind), sentence)


class CommandType(Enum):
    """How a command's value is read; the value is the word to show.

    DISABLED is for names that people write for another command, or that an administrator has disabled.
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
    """How a command's attribute is set."""

    AS_IT_IS = "="
    ALTERNATIVE = "~"
    MADE = ""


class SubmitCommand(NamedTuple):
    """A command: its name, the type of its value, its attribute, and when and where it has an effect.

    ``others`` are other names of it, including the attribute's if condor_submit accepts that. A name with ``<name>`` is
    a pattern. ``choices`` are the words of a CHOICE; ``universes`` is empty for all.
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
        """The names of the command."""
        return self.name, *self.others

    @property
    def is_in_use(self) -> bool:
        """Whether the newest release has the command."""
        return self.type is not CommandType.DISABLED and NEWEST in self.releases


class CommandTable(Made):
    """The commands of all releases, ignoring case; one is made when needed, as a description uses few of hundreds."""

    def __init__(self, table: Iterable[str]) -> None:
        """Take the rows; for a repeated name the first is found."""
        self._rows = tuple(table)
        self._named: dict[str, str] = {}
        for row in self._rows:
            name, others, made, _ = row.split(" | ", 3)
            if "<" not in name:
                for each in (name, *_others(others, made)):
                    self._named.setdefault(each.lower(), row)

    def __repr__(self) -> str:
        return f"<CommandTable of {len(self._rows)} commands>"

    def _made_of(self) -> tuple[object, ...]:
        return (self._rows,)

    @cached_property
    def _all(self) -> tuple[SubmitCommand, ...]:
        return tuple(map(_command, self._rows))

    @cached_property
    def _many(self) -> list[tuple[re.Pattern[str], SubmitCommand]]:
        """The patterns among the commands, each with a regular expression; a file with known names needs none."""
        many = (_command(row) for row in self._rows if "<" in row[: row.index(" ")])
        return [(_command_pattern(name), each) for each in many for name in each.names]

    def __iter__(self) -> Iterator[SubmitCommand]:
        """Iterate over the commands; copied ones in the order of condor_submit."""
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: str) -> bool:
        """Return whether a name is that of a command, or matches a pattern."""
        return self.get(name) is not None

    def get(self, name: str) -> SubmitCommand | None:
        """Return the command of a name, or the pattern it matches, None for an unknown name."""
        row = self._named.get(name.lower())
        if row is not None:
            return _command(row)
        return next((command for pattern, command in self._many if pattern.fullmatch(name)), None)

    def is_one(self, name: str) -> bool:
        """Return whether a lower-case name is that of one command, and not just a match of a pattern."""
        return name in self._named

    def names(self) -> Iterator[str]:
        """Iterate over the lower-case names of commands, including attributes' names."""
        return iter(self._named)

    def near(self, name: str) -> list[SubmitCommand]:
        """Return the commands in use with a name that is one slip away, see one_slip."""
        found = (_command(row) for key, row in self._named.items() if one_slip(name.lower(), key))
        return [command for command in dict.fromkeys(found) if command.is_in_use]


_ANY_NAME: Final = "<name>"


def _command_pattern(name: str) -> re.Pattern[str]:
    return re.compile(r"\w+".join(re.escape(part) for part in name.split(_ANY_NAME)), re.IGNORECASE | re.ASCII)


@cache
def submit_commands() -> CommandTable:
    """Return the commands of HTCondor 23.0 to the newest, and removed ones that are still found."""
    return CommandTable(lines("submit_commands.txt"))


@cache
def _command(row: str) -> SubmitCommand:
    name, others, made, value, releases, universes, sentence = columns(row)
    setting, attribute = _set_attribute(made)
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
    """Yield other names of a command, the one of its attribute last."""
    yield from _listed(others)
    _, attribute = _set_attribute(made)
    if attribute and not attribute.startswith("("):
        yield attribute.lower()


def _set_attribute(text: str) -> tuple[Setting, str]:
    for setting in (Setting.AS_IT_IS, Setting.ALTERNATIVE):
        if text.startswith(setting.value):
            return setting, text[1:].strip()
    return Setting.MADE, "" if text == "-" else text


def _listed(text: str) -> Iterator[str]:
    if text != "-":
        yield from map(str.strip, text.split(","))


JOB_ROUTER: Final = "job router"
"""Whose knobs a job router reads; the table has all of them."""


class KnobKind(Enum):
    """What a knob's value is."""

    STRING = "string"
    PATH = "path"
    INTEGER = "integer"
    REAL = "real"
    BOOLEAN = "boolean"
    EXPRESSION = "expression"
    NAMES = "list of names"
    TRANSFORM = "transform"
    CLASSADS = "ClassAds"


class ConfigKnob(NamedTuple):
    """A knob: ``<name>`` in its name matches any. ``default`` is in configuration syntax, empty: unset.

    ``whose`` is the daemon or tool that reads it.
    """

    name: str
    kind: KnobKind
    default: str
    whose: str
    releases: Releases
    sentence: str

    @property
    def is_removed(self) -> bool:
        """Whether the newest release no longer reads it."""
        return NEWEST not in self.releases


class KnobTable(Made):
    """The knobs; names are looked up ignoring case."""

    def __init__(self, knobs: Iterable[ConfigKnob]) -> None:
        self._all = tuple(knobs)
        self._named = {knob.name.lower(): knob for knob in self._all if "<" not in knob.name}
        self._many = [(_knob_pattern(knob.name), knob) for knob in self._all if "<" in knob.name]

    def __repr__(self) -> str:
        return f"<KnobTable of {len(self)} knobs>"

    def _made_of(self) -> tuple[object, ...]:
        return (self._all,)

    def __iter__(self) -> Iterator[ConfigKnob]:
        """Iterate over the knobs, the job router's first."""
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def get(self, name: str) -> ConfigKnob | None:
        """Return the knob of a name, or the pattern it matches, None for an unknown name.

        A setting for one daemon, ``SCHEDD.NAME``, is the knob NAME.
        """
        key = name.lower().rpartition(".")[2]
        found = self._named.get(key)
        return found or next((knob for pattern, knob in self._many if pattern.fullmatch(key)), None)


@cache
def config_knobs() -> KnobTable:
    """Return the knobs of HTCondor 23.0 to the newest that crondor knows."""
    return KnobTable(_read())


def _read() -> Iterator[ConfigKnob]:
    for name, kind, default, whose, releases, sentence in rows("config_knobs.txt"):
        yield ConfigKnob(
            name, KnobKind(kind), "" if default == "-" else default, whose, Releases.parse(releases), sentence
        )


def _knob_pattern(name: str) -> re.Pattern[str]:
    parts = re.split(r"(<\w+>)", name.lower())
    return re.compile("".join(_WILD_KNOB.get(part, r"\w+") if part[:1] == "<" else re.escape(part) for part in parts))


_WILD_KNOB: Final = {"<n>": r"\d+"}


class ClassAdFunction(NamedTuple):
    """A function: its name as in the manual, its arguments in words, the type of its value, a sentence."""

    name: str
    arguments: str
    type: str
    sentence: str


class SubmitMacro(NamedTuple):
    """A macro that HTCondor provides, or a function of the submit language (``$ENV``), which has arguments."""

    name: str
    arguments: str
    sentence: str


class TransformCommand(NamedTuple):
    """A command of the job transform language: its name, its arguments in words, a sentence."""

    name: str
    arguments: str
    sentence: str


@cache
def transform_commands() -> Mapping[str, TransformCommand]:
    """Return the commands of transforms in HTCondor 25.14 by their lower-case names."""
    return {name.lower(): TransformCommand(name, words, text) for name, words, text in rows("transform_commands.txt")}


@cache
def classad_functions() -> Mapping[str, ClassAdFunction]:
    """Return the functions of HTCondor 25.14's ClassAds by their lower-case names."""
    table = rows("classad_functions.txt")
    found = (ClassAdFunction(name, _arguments(words), kind, text) for name, words, kind, text in table)
    return {function.name.lower(): function for function in found}


@cache
def submit_macros() -> Mapping[str, SubmitMacro]:
    """Return the macros and functions that HTCondor 25.14 provides, by their lower-case names."""
    found = (SubmitMacro(name, _arguments(words), text) for name, words, text in rows("submit_macros.txt"))
    return {macro.name.lower(): macro for macro in found}


def _arguments(words: str) -> str:
    return "" if words == "-" else words


@cache
def hold_codes() -> Mapping[int, str]:
    """Return the names of all hold codes."""
    codes, names = zip(*map(str.split, lines("hold_codes.txt")), strict=True)
    return dict(zip(map(int, codes), names, strict=True))


def hold_name(code: int) -> str:
    """Return the name by which NumHoldsByReason counts a hold."""
    return hold_codes().get(code, hold_codes()[0])


@cache
def other_words() -> Mapping[str, str]:
    """Return the submit commands by the words that users of other systems write for them."""
    return dict(map(columns, lines("other_words.txt")))
