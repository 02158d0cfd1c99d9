"""`crondor config schema`: print the JSON Schema of a command's output, or of crondor.toml."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import CompletionItem

from crondor.diagnostics import Severity, similar
from crondor.lint.report import SITE_CODE
from crondor.lint.site import LISTS, TEXTS
from crondor_cli.kit.command import Command
from crondor_cli.kit.files import OWN_FILE
from crondor_cli.kit.results import results, schema
from crondor_cli.kit.screen import say
from crondor_cli.kit.settings import SETTINGS, TABLES, Setting
from crondor_cli.kit.tables import echo_json

EPILOG = """\b
Examples:
  crondor config schema                          the commands that have one
  crondor config schema next
  crondor config schema queue status            the same as queue-status
  crondor config schema next > next.schema.json
  crondor config schema crondor.toml > crondor.schema.json

A schema needs no other file, and explains each key, with its unit. It allows no other keys; later versions may add
keys. Those of commands are draft 2020-12. That of the settings is draft-07, which editors and SchemaStore read.

Exit status: 0 shown, 2 no such schema."""


_TITLE = "The settings, also in [tool.crondor] of pyproject.toml"


def settings_schema() -> dict[str, Any]:
    """Return the JSON Schema of crondor.toml (draft-07), by the rules of SchemaStore."""
    tables: dict[str, dict[str, Any]] = {
        name: {
            "type": "object",
            "description": f"The options of crondor {name}.",
            "properties": {each.key: _value(each) for each in SETTINGS if each.table == name},
            "additionalProperties": False,
        }
        for name in sorted(TABLES)
    }
    paths = {"type": "array", "items": {"type": "string"}}
    tables["check"]["properties"] |= {
        "extend": {"description": "Files with more rules.", "anyOf": [{"type": "string"}, paths]},
        "rule": {"description": "Rules of the site.", "type": "array", "items": _rule()},
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "https://www.schemastore.org/crondor.json",
        "title": _TITLE,
        "type": "object",
        "properties": {each.key: _value(each) for each in SETTINGS if not each.table} | tables,
        "additionalProperties": False,
    }


def _rule() -> dict[str, Any]:
    """Return the schema of a rule of the site."""
    patterns: dict[str, dict[str, Any]] = {
        "code": {"pattern": f"^{SITE_CODE.pattern}$"},
        "severity": {"enum": [each.value for each in Severity]},
        "url": {"pattern": "^https?://"},
    }
    texts = {key: {"description": text, "type": "string", **patterns.get(key, {})} for key, text in TEXTS.items()}
    items = {"type": "array", "items": {"type": "string"}}
    return {
        "type": "object",
        "properties": texts | {key: {"description": text, **items} for key, text in LISTS.items()},
        "required": ["code", "message"],
        "additionalProperties": False,
    }


def _value(setting: Setting) -> dict[str, Any]:
    """Return the schema of a value; its default if that is a value, otherwise in words."""
    found: dict[str, Any] = {"type": "string"}
    if setting.is_flag:
        found = {"type": "boolean"}
    elif isinstance(setting.takes, click.IntRange):
        found = {"type": "integer", "minimum": setting.takes.min, "maximum": setting.takes.max}
    elif isinstance(setting.takes, click.Choice):
        found["enum"] = list(setting.takes.choices)
    elif setting.many:
        found = {"type": "array", "items": found}
    elif setting.table:
        found = {"anyOf": [found, {"type": "integer"}]}
    default: Any = {"true": True, "false": False}.get(setting.default, setting.default)
    if found.get("type") == "integer" and setting.default.isdecimal():
        default = int(default)
    meaning = f"{setting.meaning[:1].upper()}{setting.meaning[1:]}."
    if not isinstance(default, str) or default in found.get("enum", ()):
        return {"description": meaning, **found, "default": default}
    return {"description": f"{meaning} Default: {default}." if default else meaning, **found}


def _completed(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the completions of a name; words before are parts of the name."""
    before = "".join(f"{word}-" for word in ctx.params.get("words") or ())
    found = [name.removeprefix(before) for name in (OWN_FILE, *results()) if name.startswith(before)]
    return [CompletionItem(name) for name in found if name.startswith(incomplete)]


@click.command("schema", cls=Command, example="crondor config schema next", epilog=EPILOG)
@click.argument("words", nargs=-1, metavar="[COMMAND]...", shell_complete=_completed)
def command(words: tuple[str, ...]) -> None:
    """Print the JSON Schema of a command's output with --format json, or of crondor.toml; without either, list them."""
    known = results()
    if words == (OWN_FILE,):
        echo_json(settings_schema())
        return
    if not words:
        width = max(map(len, known))
        for each in known:
            say(f"{each:<{width}}  {known[each].title}")
        say(f"{OWN_FILE:<{width}}  {_TITLE}")
        return
    name = "-".join(words)
    if name not in known:
        close = [each for each in known if each.startswith(f"{name}-")] or similar(name, (*known, OWN_FILE))
        hint = f"Did you mean {' or '.join(close[:3])}?" if close else "crondor config schema lists them."
        raise click.UsageError(f"No schema of {' '.join(words)!r}. {hint}")
    echo_json(schema(name))
