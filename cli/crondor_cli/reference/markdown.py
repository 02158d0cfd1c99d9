"""Facts on commands as Markdown: paragraphs, tables, and the links to what several commands share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from textwrap import fill

from crondor_cli.reference.commands import CommandFacts, OptionFacts
from crondor_cli.reference.json_keys import JsonDocument, JsonKey, JsonObject, Kind
from crondor_cli.reference.shared_options import page_of

WIDTH = 120
_CODE = re.compile(r"(`[^`]*`)")
_SIGNS = re.compile(r"[\\*<]")
_OPTION = r"--[a-z][a-z-]*"
_PAGE = re.compile(r"\bdocs/([\w-]+\.md)\b")


def code_words(options: Sequence[OptionFacts], names: Iterable[str]) -> re.Pattern[str]:
    """Return what is code in the texts of a command: commands by ``names``, options with a value that they take."""
    values = [f"{each.names[-1]} (?:{each.value[1:-1]})" for each in options if each.value.startswith("[")]
    commands = "|".join(sorted(names, key=len, reverse=True))
    words = "|".join([rf"(?:{commands})(?: {_OPTION}(?: [A-Z]+\b)?)*", *values, "--format json", _OPTION])
    return re.compile(rf"(?<![\w`-])(?:{words})(?![\w-])")


_OPTIONS = re.compile(rf"(?<![\w`-])(?:{_OPTION})(?![\w-])")


def prose(text: str, code: re.Pattern[str] = _OPTIONS) -> str:
    """Return a text of a help as Markdown: what would be a sign of it stands for itself, ``code`` is marked."""
    parts = [part if part.startswith("`") else _plain(part, code) for part in _CODE.split(text)]
    return "".join(parts)


def _plain(text: str, code: re.Pattern[str]) -> str:
    marked = code.sub(r"`\g<0>`", _SIGNS.sub(r"\\\g<0>", text))
    return _PAGE.sub(r"[docs/\1](../\1)", marked)


def paragraphs(text: str, code: re.Pattern[str] = _OPTIONS) -> str:
    """Return a paragraph of a help as Markdown; lines of it that are indented are a block."""
    found = []
    for is_block, lines in groupby(text.splitlines(), lambda line: line.startswith("  ")):
        if is_block:
            found.append(block("\n".join(line.removeprefix("  ") for line in lines)))
        else:
            found.append(fill(prose(" ".join(lines), code), WIDTH, break_long_words=False, break_on_hyphens=False))
    return "\n\n".join(found)


def block(text: str, language: str = "") -> str:
    """Return lines as a fenced block."""
    return f"```{language}\n{text}\n```"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; a column in which nothing stands is left out."""
    listed = [list(row) for row in rows]
    kept = [at for at in range(len(head)) if any(row[at] for row in listed)]
    lines = [[row[at] for at in kept] for row in (head, *listed)]
    shown = [" | ".join(cell.replace("|", r"\|") for cell in line) for line in lines]
    return "\n".join([f"| {shown[0]} |", f"|{'---|' * len(kept)}", *(f"| {line} |" for line in shown[1:])])


def options(command: CommandFacts, code: re.Pattern[str]) -> str:
    """Return the options of a command as a table."""
    head = ("option", "default", "meaning", "setting, variable")
    return table(head, (_option(each, command, code) for each in command.options))


def _option(option: OptionFacts, command: CommandFacts, code: re.Pattern[str]) -> tuple[str, ...]:
    *short, last = option.names
    names = ", ".join(f"`{name}`" for name in (*short, f"{last} {option.value}".rstrip()))
    page = page_of(option.names, command.path)
    default = "must be given" if option.is_required else prose(option.default)
    setting = f"`{option.setting.name}`, `{option.setting.variable}`" if option.setting else ""
    return (f"[{names}]({page})" if page else names, default, prose(option.meaning, code), setting)


def json(forms: Sequence[JsonDocument]) -> str:
    """Return the tables of what a command prints as JSON, each under the paths of its object."""
    found = []
    seen: Counter[str] = Counter()
    for form in forms:
        if form.when:
            found.append(f"### {prose(form.when.rstrip('.'))}")
        anchors = dict(_anchors(form, seen))
        if form.kind.is_list:
            found.append("An array." if form.objects else f"An {kind_words(form.kind, anchors, 'json.md')}.")
        for each in form.objects:
            if each.paths != ("",):
                found.append(f"{'####' if form.when else '###'} {heading(each)}")
            found.append(keys(each, anchors))
    return "\n\n".join(found)


def _anchors(form: JsonDocument, seen: Counter[str]) -> Iterator[tuple[str, str]]:
    """Yield the fragment for the object at each path; a heading that is there already gets a number, as on GitHub."""
    for each in form.objects:
        name = slug(heading(each))
        number = seen[name]
        seen[name] += 1
        for path in each.paths:
            yield path, f"#{name}-{number}" if number else f"#{name}"


def heading(found: JsonObject) -> str:
    """Return the paths of an object as a heading."""
    return ", ".join(f"`{path}`" for path in found.paths)


def keys(found: JsonObject, anchors: Mapping[str, str], shared: str = "json.md") -> str:
    """Return the keys of an object as a table, with links to other objects: on this page, and on the ``shared`` one."""
    return table(("key", "type", "unit", "meaning"), (_key(each, anchors, shared) for each in found.keys))


def _key(key: JsonKey, anchors: Mapping[str, str], shared: str) -> tuple[str, ...]:
    words = kind_words(key.kind, anchors, shared)
    return (f"`{key.name}`", f"{words}; optional" if key.is_optional else words, key.unit, prose(key.meaning))


def kind_words(kind: Kind, anchors: Mapping[str, str], shared: str) -> str:
    """Return what a value may be: "array of objects", "string or null"."""
    many = "objects" if kind.is_list else "object"
    linked = [
        f"[{path[1:]}]({shared}#{path[1:]})" if path.startswith("$") else f"[{many}]({anchors[path]})"
        for path in kind.objects
    ]
    null = ["null"] * kind.is_nullable
    if kind.is_list:
        return " or ".join([f"array of {_joined([*linked, *kind.words])}", *null])
    return _joined([*linked, *kind.words, *null])


def _joined(words: Sequence[str]) -> str:
    """Return alternatives as words: "a", "a or b", "a, b or c"."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def slug(text: str) -> str:
    """Return the fragment by which a heading is linked, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", text).lower().replace(" ", "-")
