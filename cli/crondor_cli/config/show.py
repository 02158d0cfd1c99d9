"""`crondor config show`: show the value and source of each setting."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from crondor_cli.kit.command import Command, is_without_config
from crondor_cli.kit.files import user_folder
from crondor_cli.kit.options import UsageProblem, format_option
from crondor_cli.kit.screen import say
from crondor_cli.kit.settings import SETTINGS, BadSettings, Found, Setting, SettingValue, find_settings, show_warnings
from crondor_cli.kit.tables import echo_json, print_rows

if TYPE_CHECKING:
    from crondor_cli.config import results

EPILOG = """\b
Examples:
  crondor config
  crondor config show --format json
  CRONDOR_TZ=Europe/Berlin crondor config

\b
A file crondor.toml, or [tool.crondor] in pyproject.toml:
  tz = "Europe/Berlin"
  schedd-interval = 60
  [check]
  ignore = ["CRN401"]
  [simulate]
  slots = 8

The first of these is used: an option; a variable CRONDOR_TZ, CRONDOR_CHECK_IGNORE and so on; the nearest of these
files from this folder upwards; crondor.toml in the user's settings folder; /etc/crondor.toml; the default.

Only your files, root's and, under sudo, the calling user's are read; others are ignored with a warning.
/etc/crondor.toml must be writable by root alone. Paths in a project's file stay below its folder.

Exit status: 0 shown, 2 an invalid file or variable."""


@click.command("show", cls=Command, example="CRONDOR_TZ=Europe/Berlin crondor config show", epilog=EPILOG)
@format_option("table", "json", text="How to print the settings.")
@click.pass_context
def command(ctx: click.Context, format_: str) -> None:
    """Show the value of each setting, and where it comes from: a file and its line, a variable, or the default."""
    try:
        found = Found({}, ()) if is_without_config(ctx) else find_settings(os.environ, user_folder())
    except BadSettings as error:
        raise UsageProblem(error) from None
    show_warnings(found)
    if format_ == "json":
        data: results.ShowResult = {"files": list(found.files), "settings": [_data(each, found) for each in SETTINGS]}
        echo_json(data)
        return
    rows = [[s.name, *_shown(s, found.values.get(s.keys)), s.meaning] for s in SETTINGS]
    print_rows(["setting", "value", "from", "meaning"], rows)
    say("")
    say(f"files: {', '.join(found.files) or 'none'}")


def _shown(setting: Setting, value: SettingValue | None) -> list[str]:
    if value is None:
        return [setting.default or "none", "default"]
    text = ", ".join(value.value) if isinstance(value.value, list) else str(value.value)
    text = text.lower() if isinstance(value.value, bool) else text
    place = value.source if value.span is None else f"{value.source}:{value.span.line}"
    return [text, place]


def _data(setting: Setting, found: Found) -> results.Setting:
    value = found.values.get(setting.keys)
    return {
        "name": setting.name,
        "meaning": setting.meaning,
        "variable": setting.variable,
        "default": setting.default or None,
        "value": None if value is None else value.value,
        "source": None if value is None else value.source,
        "line": None if value is None or value.span is None else value.span.line,
    }
