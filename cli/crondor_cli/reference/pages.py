"""The pages of docs/cli: a command each, with parts that are made of its options and parts that are written by hand.

A part that is made stands between two comments; everything else of a page is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from crondor_cli.kit.settings import SETTINGS
from crondor_cli.main import cli
from crondor_cli.reference import markdown
from crondor_cli.reference.commands import CommandFacts, commands
from crondor_cli.reference.json_keys import documents, shared_objects
from crondor_cli.schema.catalogue import names, schema, shared

INDEX = "README.md"
_BEGIN, _END = "<!-- made by `make docs`: {} -->", "<!-- end of {} -->"
_EXIT = re.compile(r"^Exit status(, as of diff\(1\))?: ")
_FEW = 5  # commands that are named one by one
_HEAD, _REFERENCE = "what it is", "options, exit status, JSON"


class BrokenPage(Exception):
    """A page lacks one of the comments between which a part is made."""


def page_name(command: CommandFacts) -> str:
    """Return the name of a command's page, that of the whole for the index."""
    return f"{'-'.join(command.path[1:])}.md" if command.path[1:] else INDEX


def made_parts() -> dict[str, dict[str, str]]:
    """Return the parts that are made, by page and by what they have."""
    every = list(commands(cli))
    found = {
        page_name(each): {
            _HEAD: "\n\n".join(_head(each, code)),
            _REFERENCE: "\n\n".join(_reference(each, every, code)),
        }
        for each in every
        for code in [markdown.code_words(each.options, [other.name for other in every if other.path[1:]])]
    }
    found["json.md"] = {"shared objects": "\n\n".join(_shared())}
    found["settings.md"] = {"all settings": _settings(every)}
    return found


def updated(folder: Path) -> dict[str, str]:
    """Return the pages that are behind, by name, as they should be. Raises BrokenPage, and OSError for the folder."""
    behind = {}
    for name, parts in made_parts().items():
        path = folder / name
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        after = _replaced(name, before or _skeleton(parts), parts)
        if after != before:
            behind[name] = after
    return behind


def _skeleton(parts: dict[str, str]) -> str:
    return "\n".join(f"{_BEGIN.format(name)}\n{_END.format(name)}\n" for name in parts)


def _replaced(page: str, text: str, parts: dict[str, str]) -> str:
    for name, made in parts.items():
        begin, end = _BEGIN.format(name), _END.format(name)
        if text.count(begin) != 1 or text.count(end) != 1:
            raise BrokenPage(f"{page}: a line {begin} and a line {end} have to stand in it, once each")
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n\n{made}\n\n{end}{rest.partition(end)[2]}"
    return text


def _head(command: CommandFacts, code: re.Pattern[str]) -> Iterator[str]:
    yield f"# {command.name}"
    yield markdown.paragraphs(command.sentence, code)
    yield markdown.block(command.synopsis)
    for note in command.notes:
        yield markdown.paragraphs(note, code)


def _reference(command: CommandFacts, every: Sequence[CommandFacts], code: re.Pattern[str]) -> Iterator[str]:
    inner = [each for each in every if each.path[:-1] == command.path]
    if inner:
        yield "## Commands"
        yield markdown.table(("command", "what it does"), _listed(inner, every))
    if command.options:
        yield "## Options"
        yield markdown.options(command, code)
    if command.examples:
        yield "## Command lines"
        yield markdown.block(command.examples)
    if command.exit_status:
        yield "## Exit status"
        yield markdown.paragraphs(_EXIT.sub("", command.exit_status), code)
    name = "-".join(command.path[1:])
    if name in names():
        yield "## JSON"
        yield f"`crondor config schema {name}` prints this as a JSON Schema; all commands share [json.md](json.md)."
        yield markdown.json(documents(schema(name), shared()))


def _listed(inner: Sequence[CommandFacts], every: Sequence[CommandFacts]) -> Iterator[tuple[str, str]]:
    """Yield the rows of a list of commands; below a group stand its own."""
    for each in inner:
        yield f"[`{each.name}`]({page_name(each)})", markdown.prose(each.title)
        yield from _listed([below for below in every if below.path[:-1] == each.path], every)


def _shared() -> Iterator[str]:
    for name, (said, found) in shared_objects(shared()).items():
        yield f"### {name}"
        yield markdown.prose(said)
        if found.keys:
            yield markdown.keys(found, {name: f"#{name}"}, "")


def _settings(every: Sequence[CommandFacts]) -> str:
    rows = []
    for setting in SETTINGS:
        users = [each for each in every for option in each.options if option.setting is setting]
        pages = [f"[{' '.join(each.path[1:])}]({page_name(each)})" for each in users if each.path[1:]]
        whose = ", ".join(pages) if len(pages) <= _FEW else f"all with `{setting.option}`"
        names = (f"`{setting.name}`", f"`{setting.variable}`")
        rows.append((*names, setting.default, markdown.prose(setting.meaning), whose if pages else "all"))
    return markdown.table(("setting", "variable", "default", "meaning", "commands"), rows)
