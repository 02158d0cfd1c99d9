"""The reference pages of the commands, in Markdown: `docs/cli/NAME.md` for each, as the site shows them.

A page that is written by hand keeps its text, between what the command is and its options. Links are those of the
repository; the site leads them to its own places.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from textwrap import fill

from crondor_cli.kit.results import results, schema, shared
from crondor_cli.kit.settings import SETTINGS
from crondor_cli.main import cli
from reference.facts import (
    EXIT_STATUS,
    CommandFacts,
    JsonDocument,
    JsonKey,
    JsonObject,
    Kind,
    OptionFacts,
    commands,
    documents,
    shared_objects,
)

INDEX = "README.md"
WIDTH = 120
_FEW = 5  # commands that are named one by one
_CODE = re.compile(r"(`[^`]*`)")
_SIGNS = re.compile(r"[\\*<]")
_OPTION = r"--[a-z][a-z-]*"
_OPTIONS = re.compile(rf"(?<![\w`-])(?:{_OPTION})(?![\w-])")
_PAGE = re.compile(r"\bdocs/([\w-]+\.md)\b")
_FIELDS = ("--crontab", "--minute", "--hour", "--day-of-month", "--month", "--day-of-week")
# Where an option that means the same in several commands is explained, by its section of the index.
SECTIONS = {
    "which-schedule-which-jobs": (
        *("--spec", *_FIELDS, "--schedule", "--zone"),
        *("--ads", "--queue", "--log", "--live", "--name", "--pool", "--constraint"),
    ),
    "what-a-file-may-read": ("--allow-dir", "--env", "--seed"),
    "times": ("--now", "--tz", "--from", "--until", "--at"),
    "output": ("--output", "--force", "--watch", "--jobs"),
}
LINKS = {
    **{option: f"{INDEX}#{section}" for section, options in SECTIONS.items() for option in options},
    "--dialect": "../dialects.md",
    "--policy": "../clock-changes.md",
    "--schedd-interval": "../deferral.md",
}
# What has such a name and is something else, which the help itself says.
OTHERS = {
    ("simulate", "--log"),
    ("simulate", "--seed"),
    ("route plan", "--queue"),
    ("route plan", "--log"),
    ("hook run", "--env"),
    ("classad transform", "--from"),
    ("classad transform", "--seed"),
    ("classad convert", "--from"),
    ("compile", "--name"),
    ("compile", "--allow-dir"),
}


def page_name(command: CommandFacts) -> str:
    """Return the name of a command's page, that of the index for the whole."""
    return f"{'-'.join(command.path[1:])}.md" if command.path[1:] else INDEX


def pages(by_hand: Mapping[str, str]) -> dict[str, str]:
    """Return the page of each command by its name, around the text of the page that is written by hand."""
    every = list(commands(cli))
    names = [each.name for each in every if each.path[1:]]
    made = {}
    for each in every:
        code = code_words(each.options, names)
        _, _, hand = by_hand.get(page_name(each), "").partition("\n")
        parts = [*_head(each, code), hand.strip("\n"), *_reference(each, every, code)]
        made[page_name(each)] = "\n\n".join(filter(None, parts)) + "\n"
    return made


def _head(command: CommandFacts, code: re.Pattern[str]) -> Iterator[str]:
    yield f"# {command.name}"
    yield paragraphs(command.sentence, code)
    yield block(command.synopsis)
    for note in command.notes:
        yield paragraphs(note, code)


def _reference(command: CommandFacts, every: Sequence[CommandFacts], code: re.Pattern[str]) -> Iterator[str]:
    inner = [each for each in every if each.path[:-1] == command.path]
    if inner:
        yield "## Commands"
        yield table(("command", "what it does"), _listed(inner, every))
    if command.options:
        yield "## Options"
        yield _options(command, code)
    if command.examples:
        yield "## Command lines"
        yield block(command.examples)
    if not command.path[1:]:
        yield from ("## All settings", _settings(every), "## Shared objects", *_shared())
        return
    if command.exit_status:
        yield "## Exit status"
        yield paragraphs(EXIT_STATUS.sub("", command.exit_status), code)
    name = "-".join(command.path[1:])
    if name in results():
        yield "## JSON"
        words = " ".join(command.path[1:])
        yield f"[What all commands share]({INDEX}#json); `crondor config schema {words}` prints this as a JSON Schema."
        yield json(documents(schema(name), shared()))


def _listed(inner: Sequence[CommandFacts], every: Sequence[CommandFacts]) -> Iterator[tuple[str, str]]:
    """Yield the rows of a list of commands; those of a group follow it."""
    for each in inner:
        yield f"[`{each.name}`]({page_name(each)})", prose(each.title)
        yield from _listed([below for below in every if below.path[:-1] == each.path], every)


def _shared() -> Iterator[str]:
    for name, (meaning, found) in shared_objects(shared()).items():
        yield f"### {name}"
        yield prose(meaning)
        if found.keys:
            yield keys(found, {name: f"#{name}"}, "")


def _settings(every: Sequence[CommandFacts]) -> str:
    rows = []
    for setting in SETTINGS:
        users = [each for each in every for option in each.options if option.setting is setting]
        linked = [f"[{' '.join(each.path[1:])}]({page_name(each)})" for each in users if each.path[1:]]
        whose = ", ".join(linked) if len(linked) <= _FEW else f"all with `{setting.option}`"
        written = (f"`{setting.name}`", f"`{setting.variable}`")
        rows.append((*written, setting.default, prose(setting.meaning), whose if linked else "all"))
    return table(("setting", "variable", "default", "meaning", "commands"), rows)


def code_words(options: Sequence[OptionFacts], names: Iterable[str]) -> re.Pattern[str]:
    """Return what is code in the texts of a command: commands by ``names``, options with a value that they take."""
    values = [f"{each.names[-1]} (?:{each.value[1:-1]})" for each in options if each.value.startswith("[")]
    commands = "|".join(sorted(names, key=len, reverse=True))
    words = "|".join([rf"(?:{commands})(?: {_OPTION}(?: [A-Z]+\b)?)*", *values, "--format json", _OPTION])
    return re.compile(rf"(?<![\w`-])(?:{words})(?![\w-])")


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


def _options(command: CommandFacts, code: re.Pattern[str]) -> str:
    """Return the options of a command as a table."""
    head = ("option", "default", "meaning", "setting, variable")
    return table(head, (_option(each, command, code) for each in command.options))


def _option(option: OptionFacts, command: CommandFacts, code: re.Pattern[str]) -> tuple[str, ...]:
    *short, last = option.names
    names = ", ".join(f"`{name}`" for name in (*short, f"{last} {option.value}".rstrip()))
    page = _explained(option.names, command)
    default = "must be given" if option.is_required else prose(option.default)
    setting = f"`{option.setting.name}`, `{option.setting.variable}`" if option.setting else ""
    return (f"[{names}]({page})" if page else names, default, prose(option.meaning, code), setting)


def _explained(names: Iterable[str], command: CommandFacts) -> str:
    """Return the page and fragment that explain an option, empty where the table says all."""
    words = " ".join(command.path[1:])
    return next((LINKS[name] for name in names if name in LINKS and (words, name) not in OTHERS), "")


def json(forms: Sequence[JsonDocument]) -> str:
    """Return the tables of what a command prints as JSON, each under the paths of its object."""
    found = []
    seen: Counter[str] = Counter()
    for form in forms:
        if form.when:
            found.append(f"### {prose(form.when.rstrip('.'))}")
        anchors = dict(_anchors(form, seen))
        if form.kind.is_list:
            found.append("An array." if form.objects else f"An {kind_words(form.kind, anchors, INDEX)}.")
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


def keys(found: JsonObject, anchors: Mapping[str, str], shared: str = INDEX) -> str:
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
