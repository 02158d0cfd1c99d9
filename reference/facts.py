"""A command as data: the parts of its help, its options, and the objects of its JSON."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from textwrap import dedent
from typing import Any, NamedTuple

import click

from crondor_cli.kit.command import Command
from crondor_cli.kit.settings import Setting, setting_of

EXIT_STATUS = re.compile(r"^Exit status(, as of diff\(1\))?: ")  # how that part of a help begins
_DEFAULT = re.compile(r" ?\(default: (.+)\)(?=[.;]|$)")
_WHOLE = 1000  # characters: no title is cut
_AS_WRITTEN = "\b"  # click's sign for a paragraph whose lines stay as they are
_UNIT = re.compile(
    r" \(("
    r"epoch seconds|seconds(?:; of \w+ epoch seconds)?|from 1|a line, from 1|characters, from 1|"
    r"ISO 8601[^()]*|IANA name|megabytes|processes|(?:jobs|failures) a second"
    r")\)"
)
_REFERENCE = "#/$defs/"
_MANY = {"string": "strings", "integer": "integers", "number": "numbers", "boolean": "booleans", "array": "arrays"}


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


# JSON


class Kind(NamedTuple):
    """What a value, or each of a list, may be: words such as ``string``, and objects by the paths at which they stand.

    A path that begins with ``$`` is the name of a definition that several commands share. ``is_nullable`` says that
    there may be null in the value's place, or in the list's.
    """

    words: tuple[str, ...]
    objects: tuple[str, ...]
    is_list: bool
    is_nullable: bool


class JsonKey(NamedTuple):
    """A key of an object."""

    name: str
    kind: Kind
    unit: str
    meaning: str
    is_optional: bool


class JsonObject(NamedTuple):
    """An object: the paths at which it stands (``jobs[].runs[]``, empty for the document itself), and its keys."""

    paths: tuple[str, ...]
    keys: tuple[JsonKey, ...]


class JsonDocument(NamedTuple):
    """One form of what a command prints: when it is printed (empty: always), what it is, and its objects.

    An object stands before those that are in it.
    """

    when: str
    kind: Kind
    objects: tuple[JsonObject, ...]


def documents(schema: Mapping[str, Any], shared: Mapping[str, Any]) -> tuple[JsonDocument, ...]:
    """Return the forms of what a schema describes; ``shared`` are definitions that are told in one place for all."""
    forms = schema.get("oneOf", [schema])
    found = []
    for form in forms:
        reader = _Reader(schema.get("$defs", {}), shared)
        whole = reader.resolved(form)
        when = str(whole.get("description", "")) if len(forms) > 1 else ""
        found.append(JsonDocument(when, *reader.read(whole)))
    return tuple(found)


def shared_objects(shared: Mapping[str, Any]) -> dict[str, tuple[str, JsonObject]]:
    """Return the shared definitions by name: what each is, and its keys; one without keys has none."""
    reader = _Reader(shared, shared)
    return {
        name: (str(part.get("description", "")), JsonObject((name,), reader.keys(part, name)))
        for name, part in shared.items()
    }


class _Reader:
    """Goes through a schema; an object that stands at several paths is one."""

    def __init__(self, definitions: Mapping[str, Any], shared: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._shared = shared
        self._waiting: list[tuple[str, Mapping[str, Any]]] = []

    def resolved(self, part: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a part, or what it refers to."""
        return self._definitions[_name(part)] if "$ref" in part else part

    def read(self, whole: Mapping[str, Any]) -> tuple[Kind, tuple[JsonObject, ...]]:
        """Return what a document is, and its objects."""
        kind = self._kind(whole, "")
        found: dict[int, JsonObject] = {}  # by definition: of the second place only the path is told
        while self._waiting:
            path, part = self._waiting.pop(0)
            known = found.get(id(part))
            if known is not None:
                found[id(part)] = known._replace(paths=(*known.paths, path))
                continue
            rest, self._waiting = self._waiting, []
            found[id(part)] = JsonObject((path,), self.keys(part, path))
            self._waiting += rest  # what stands in an object follows it
        return kind, tuple(found.values())

    def keys(self, part: Mapping[str, Any], path: str) -> tuple[JsonKey, ...]:
        """Return the keys of an object at a path."""
        required = part.get("required", ())
        return tuple(
            self._key(name, said, f"{path}.{name}".lstrip("."), is_optional=name not in required)
            for name, said in part.get("properties", {}).items()
        )

    def _key(self, name: str, said: Mapping[str, Any], path: str, *, is_optional: bool) -> JsonKey:
        text = str(said["description"])
        unit = _UNIT.search(text)
        return JsonKey(name, self._kind(said, path), unit[1] if unit else "", _UNIT.sub("", text), is_optional)

    def _kind(self, part: Mapping[str, Any], path: str) -> Kind:
        words: list[str] = []
        objects: list[str] = []
        is_list = is_nullable = False
        for each in self._alternatives(part):
            found = self.resolved(each)
            if _is_null(found):
                is_nullable = True
            elif "$ref" in each and _name(each) in self._shared:
                objects.append(f"${_name(each)}")
            elif found.get("type") == "array":
                inner = self._kind(found["items"], f"{path}[]")
                words += [_MANY.get(word, word) for word in inner.words] + ["null"] * inner.is_nullable
                objects += inner.objects
                is_list = True
            elif "properties" in found:
                objects.append(path)
                self._waiting.append((path, found))
            else:
                words += _simple(found)
        return Kind(tuple(words), tuple(objects), is_list, is_nullable)

    @staticmethod
    def _alternatives(part: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Yield what a part may be, each with one type or one value."""
        for each in part.get("anyOf", [part]):
            if isinstance(each.get("type"), list):
                yield from ({**each, "type": kind} for kind in each["type"])
            elif "enum" in each:
                yield from ({"const": value} for value in each["enum"])
            else:
                yield each


def _name(part: Mapping[str, Any]) -> str:
    return str(part["$ref"]).removeprefix(_REFERENCE)


def _is_null(part: Mapping[str, Any]) -> bool:
    return part.get("type") == "null" or ("const" in part and part["const"] is None)


def _simple(part: Mapping[str, Any]) -> list[str]:
    """Return what a value may be that holds no objects with known keys."""
    if "const" in part:
        return [f"`{part['const']}`"]
    if part.get("type") == "object":
        inner = part.get("additionalProperties")
        return [f"object of {_MANY[inner['type']]}" if isinstance(inner, dict) else "object"]
    return [str(part["type"])]
