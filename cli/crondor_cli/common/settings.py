"""The settings of a user and of a project: crondor.toml, [tool.crondor] of pyproject.toml, CRONDOR_* variables.

What is nearer counts: an option of the command line, a variable, the nearest crondor.toml or pyproject.toml with a
section of ours from this folder upwards, the user's own crondor.toml, the option's default. Nothing in a file is run,
and none can name a file to write.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import click

from crondor.diagnostics import CrondorError, Diagnostic, Severity, printable, similar
from crondor.source import Source, Span
from crondor_cli.common.setting_table import BY_KEYS, SETTINGS, TABLES, Setting
from crondor_cli.common.settings_places import MAX_BYTES, OWN_FILE, PROJECT_FILE, folders_upwards, may_say
from crondor_cli.common.toml_places import TomlPlaces, error_place, parse_toml
from crondor_cli.times.zone import find_zone


class BadSettings(CrondorError, ValueError):
    """Settings that cannot be used."""


class SettingValue(NamedTuple):
    """A value, where it was found (a file, a variable), and the place in a file."""

    setting: Setting
    value: Any
    source: str
    span: Span | None = None


class Found(NamedTuple):
    """All values that are set, by the setting's keys; the files they are from, the user's first; the warnings."""

    values: dict[tuple[str, ...], SettingValue]
    files: tuple[str, ...]
    warnings: tuple[Diagnostic, ...] = ()


def find_settings(environ: Mapping[str, str], user_folder: str, folder: str | None = None) -> Found:
    """Return what files and variables set for a folder (None: the current one).

    Raises BadSettings with all that is wrong.
    """
    values: dict[tuple[str, ...], SettingValue] = {}
    faults: list[Diagnostic] = []
    files = [file for file in (_user_file(user_folder), _project_file(folder)) if file is not None]
    warnings: list[Diagnostic] = []
    for file in files:
        try:
            read = _read(file)
        except BadSettings as error:
            faults += error.diagnostics
            continue
        warnings += list(_untrusted(file, read))
        values.update({value.setting.keys: value for value in read if not _is_passed_over(file, value)})
    for setting in SETTINGS:
        text = environ.get(setting.variable)
        if text:
            try:
                values[setting.keys] = _from_variable(setting, text)
            except BadSettings as error:
                faults += error.diagnostics
    if faults:
        raise BadSettings(faults)
    return Found(values, tuple(file.path for file in files), tuple(warnings))


class _File(NamedTuple):
    path: str
    text: str
    owner: int | None
    section: tuple[str, ...] = ()


def _user_file(folder: str) -> _File | None:
    return _opened(os.path.join(folder, OWN_FILE))


def _project_file(begin: str | None) -> _File | None:
    """Return the nearest file that sets anything, from a folder upwards; crondor.toml before pyproject.toml."""
    for folder in folders_upwards(begin):
        own = _opened(os.path.join(folder, OWN_FILE))
        if own is not None:
            return own
        project = _opened(os.path.join(folder, PROJECT_FILE), ("tool", "crondor"))
        if project is not None and may_say(project.text):
            return project
    return None


def _opened(path: str, section: tuple[str, ...] = ()) -> _File | None:
    """Return the text of a regular file, None where none is. Raises BadSettings."""
    try:
        if not os.path.isfile(path):
            return None
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read(MAX_BYTES + 1)
            owner = os.fstat(file.fileno()).st_uid if sys.platform != "win32" else None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise BadSettings([Diagnostic("settings", f"cannot read {printable(path)}: {reason}")]) from None
    if len(text) > MAX_BYTES:
        raise BadSettings([Diagnostic("settings", f"cannot read {printable(path)}: it is larger than 1 MiB")])
    return _File(path, text, owner, section)


def _read(file: _File) -> list[SettingValue]:
    """Return the values of a file. Raises BadSettings."""
    source = Source(file.text, file.path)
    try:
        data = parse_toml(file.text)
    except RecursionError:  # arrays in arrays, thousands deep
        raise BadSettings([Diagnostic("settings", "this is nested too deeply", span=source.span(0, 1))]) from None
    except ValueError as error:
        message = re.sub(r" \(at .*\)$", "", str(error))
        span = error_place(source, str(error))
        raise BadSettings([Diagnostic("settings", f"this is no TOML: {message}", span=span)]) from None
    places = TomlPlaces(source)
    section: Any = data
    for key in file.section:
        section = section.get(key, {}) if isinstance(section, dict) else section
    if not isinstance(section, dict):
        span = places.key(*file.section)
        raise BadSettings([Diagnostic("settings", f"{'.'.join(file.section)} is no table", span=span)])
    values: list[SettingValue] = []
    faults: list[Diagnostic] = []
    for keys, value in _flat(section):
        span = places.key(*file.section, *keys)
        fault = _fault(keys, value, span)
        if fault is None:
            values.append(SettingValue(BY_KEYS[keys], value, file.path, span))
        else:
            faults.append(fault)
    if faults:
        raise BadSettings(faults)
    return values


def _flat(section: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in section.items():
        if key in TABLES and isinstance(value, dict):
            for inner, each in value.items():
                yield (key, inner), each
        else:
            yield (key,), value


def _fault(keys: tuple[str, ...], value: object, span: Span) -> Diagnostic | None:
    setting = BY_KEYS.get(keys)
    name = printable(".".join(keys))
    if setting is None:
        if len(keys) == 1 and keys[0] in TABLES:
            return Diagnostic("settings", f"{name} is a table: [{name}]", span=span)
        known = {each.name: each for each in SETTINGS}
        elsewhere = [each.name for each in SETTINGS if each.key == keys[-1]]
        near = elsewhere or similar(name, known)
        hint = f"did you mean {near[0]}?" if near else "crondor config lists the settings"
        return Diagnostic("settings", f"there is no setting {name}", span=span, help=hint)
    wrong = _wrong_type(setting, value)
    if wrong:
        return Diagnostic("settings", f"{name} must be {wrong}", span=span)
    for each in value if isinstance(value, list) else [value]:
        reason = _refused(setting, each)
        if reason:
            return Diagnostic("settings", f"{name}: {reason}", span=span)
    return None


def _wrong_type(setting: Setting, value: object) -> str | None:
    """Return what a value of TOML should have been, None where it is that."""
    if setting.is_flag:
        return None if isinstance(value, bool) else "true or false"
    if setting.many:
        good = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return None if good else "a list of texts"
    if isinstance(setting.takes, click.IntRange):
        return None if isinstance(value, int) and not isinstance(value, bool) else "a number"
    good = isinstance(value, str) or (bool(setting.table) and isinstance(value, int) and not isinstance(value, bool))
    return None if good else "a text"


def _refused(setting: Setting, value: object) -> str | None:
    try:
        setting.takes.convert(value, None, None)
        if setting.key == "tz":
            find_zone(str(value))
    except click.BadParameter as error:
        return error.message
    except CrondorError as error:
        return "; ".join(found.message for found in error.diagnostics)
    return None


def _from_variable(setting: Setting, text: str) -> SettingValue:
    """Return the value of a variable. Raises BadSettings."""
    source = Source(text, setting.variable)
    parts = [text]
    if setting.many:
        parts = text.split(os.pathsep if setting.key == "allow-dir" else ",")
    for part in parts:
        reason = _refused(setting, part)
        if reason:
            raise BadSettings([Diagnostic("settings", f"{setting.name}: {reason}", span=source.span())])
    value = setting.takes.convert(text, None, None) if setting.is_flag else text
    return SettingValue(setting, parts if setting.many else value, setting.variable)


def _is_passed_over(file: _File, found: SettingValue) -> bool:
    """Say whether a file may not set this: what is read from elsewhere is named by this user or root alone."""
    if file.owner is None or file.owner in {0, os.geteuid()}:
        return False
    return found.setting.key == "allow-dir" or (found.setting.key == "pool-config" and _leads_out(file, found.value))


def _leads_out(file: _File, paths: list[str]) -> bool:
    """Say whether one of some paths is not below the file's own folder, links followed; nothing is opened."""
    folder = os.path.realpath(os.path.dirname(file.path))
    try:
        return any(
            os.path.commonpath((folder, os.path.realpath(os.path.join(folder, each)))) != folder for each in paths
        )
    except ValueError:  # a NUL in it, or another drive
        return True


def _untrusted(file: _File, values: list[SettingValue]) -> Iterator[Diagnostic]:
    for found in values:
        if _is_passed_over(file, found):
            message = f"{found.setting.key} is passed over: the file belongs to another user"
            hint = f"name it on the command line, with --{found.setting.key}"
            yield Diagnostic("settings", message, Severity.WARNING, found.span, hint)
