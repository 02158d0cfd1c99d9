"""The settings that are for a command, by the names of its parameters."""

from __future__ import annotations

import os
from typing import Any

import click

from crondor.diagnostics import render
from crondor_cli.common.options import UsageProblem
from crondor_cli.common.setting_table import PATHS, SETTINGS, Setting
from crondor_cli.common.settings import BadSettings, Found, SettingValue, find_settings
from crondor_cli.common.settings_places import user_folder
from crondor_cli.common.show import show

_SAID = "crondor.settings"
_HOST = "host"  # of pool-config, and no path


def values_for(command: click.Command) -> dict[str, Any]:
    """Return the values for the options of a command; raises UsageProblem for files and variables that are wrong."""
    try:
        found = find_settings(os.environ, user_folder())
    except BadSettings as error:
        raise UsageProblem(error) from None
    show_warnings(found)
    params = {setting: param for param in command.params if (setting := setting_of(command, param)) is not None}
    values: dict[str, Any] = {}
    for value in found.values.values():
        param = params.get(value.setting)
        if value.setting.key == "width":
            values["width"] = value.value
        elif param is not None and _fits(value, param):
            values[param.name] = as_given(value)
    return values


def show_warnings(found: Found) -> None:
    """Show the warnings about files of settings, once for all commands and groups of a command line."""
    context = click.get_current_context(silent=True)
    said: set[str] = set() if context is None else context.meta.setdefault(_SAID, set())
    show(each for each in found.warnings if render(each) not in said)
    said.update(map(render, found.warnings))


def setting_of(command: click.Command, param: click.Parameter) -> Setting | None:
    """Return the setting that an option of a command has its default from, None for one that has none."""
    if not isinstance(param, click.Option):
        return None
    return next(
        (
            each
            for each in SETTINGS
            if each.option in param.opts and each.table in {"", command.name} and each.many == param.multiple
        ),
        None,
    )


def _fits(value: SettingValue, param: click.Parameter) -> bool:
    """Say whether an option takes what is set for all: `crondor next --previous` knows no dialect htcondor, for one."""
    return not isinstance(param.type, click.Choice) or value.value in param.type.choices


def as_given(value: SettingValue) -> Any:  # noqa: ANN401 - whatever a setting holds
    """Return a value as the command line would have it; paths in a file are below the file's own folder."""
    if value.setting.key in PATHS and value.span is not None:
        folder = os.path.dirname(value.source)
        if isinstance(value.value, list):
            return [path if path == _HOST else os.path.join(folder, path) for path in value.value]
        return os.path.join(folder, str(value.value))
    return value.value if isinstance(value.value, (bool, list)) else str(value.value)
