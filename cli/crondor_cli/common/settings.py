"""The settings: crondor.toml of the host, a user and a project, [tool.crondor] of pyproject.toml, CRONDOR_* variables.

What is nearer counts: an option of the command line, a variable, the nearest crondor.toml or pyproject.toml with a
section of ours from this folder upwards, the user's own crondor.toml, /etc/crondor.toml, the option's default. Nothing
in a file is run, and none can name a file to write.

A file is trusted as git trusts a repository: it belongs to this user, to root, or, for root, to the user who called
sudo. /etc/crondor.toml must belong to root, and only root may write it. Other files are ignored, with a warning.
Whoever changes a project need not be whoever checks it, so the paths in a project's own file stay below its folder.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

import click

from crondor.diagnostics import CrondorError, Diagnostic, Severity, printable, similar
from crondor.rights.accounts import ROOT, current_user, user_name
from crondor.rights.walk import HAS_DESCRIPTORS, followed, open_file, open_plain
from crondor.source import Source, Span
from crondor_cli.common.setting_table import BY_KEYS, PATHS, SETTINGS, TABLES, Setting
from crondor_cli.common.settings_places import MAX_BYTES, OWN_FILE, PROJECT_FILE, folders_upwards, may_say, system_file
from crondor_cli.common.toml_places import TomlPlaces, error_place, parse_toml
from crondor_cli.times.zone import find_zone

_LONGEST_ID: Final = 10  # digits of a user's number


class BadSettings(CrondorError, ValueError):
    """Settings that cannot be used."""


class SettingValue(NamedTuple):
    """A value, where it was found (a file, a variable), and the place in a file."""

    setting: Setting
    value: Any
    source: str
    span: Span | None = None


class Found(NamedTuple):
    """All values that are set, by the setting's keys; the files they are from, the farthest first; the warnings."""

    values: dict[tuple[str, ...], SettingValue]
    files: tuple[str, ...]
    warnings: tuple[Diagnostic, ...] = ()


def find_settings(environ: Mapping[str, str], user_folder: str, folder: str | None = None) -> Found:
    """Return what files and variables set for a folder (None: the current one).

    Raises BadSettings with all that is wrong.
    """
    files = _Files(environ)
    finds = (files.of_host, partial(files.of_user, user_folder), partial(files.of_project, folder))
    reads: list[Callable[[], Iterable[SettingValue]]] = [partial(files.values, find) for find in finds]
    reads += [partial(_from_variable, each, environ) for each in SETTINGS if environ.get(each.variable)]
    values: dict[tuple[str, ...], SettingValue] = {}
    faults: list[Diagnostic] = []
    for read in reads:
        values.update({value.setting.keys: value for value in _tried(read, faults)})
    if faults:
        raise BadSettings(faults)
    return Found(values, tuple(files.used), tuple(files.warnings))


def _tried(read: Callable[[], Iterable[SettingValue]], faults: list[Diagnostic]) -> list[SettingValue]:
    """Return what can be read; what is wrong is added to the faults."""
    try:
        return list(read())
    except BadSettings as error:
        faults += error.diagnostics
        return []


class _File(NamedTuple):
    path: str
    text: str
    section: tuple[str, ...] = ()
    is_project: bool = False


class _Files:
    """The files of settings that are trusted, and warnings about what is ignored."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.used: list[str] = []
        self.warnings: list[Diagnostic] = []
        self._looked_at: set[str] = set()
        self._trusted = {ROOT, current_user()}
        caller = environ.get("SUDO_UID", "")
        if current_user() == ROOT and caller.isascii() and caller.isdecimal() and len(caller) <= _LONGEST_ID:
            self._trusted.add(int(caller))

    def of_host(self) -> _File | None:
        path = system_file()
        return None if path is None else self._opened(path, _host_doubt)

    def of_user(self, folder: str) -> _File | None:
        return self._opened(os.path.join(folder, OWN_FILE), self._doubt)

    def of_project(self, begin: str | None) -> _File | None:
        """Return the nearest file that sets anything, from a folder upwards; crondor.toml before pyproject.toml."""
        for folder in folders_upwards(begin):
            path = os.path.join(folder, OWN_FILE)
            if path in self._looked_at:  # the folder is the user's own of settings, or /etc
                return None
            own = self._opened(path, self._doubt)
            if own is not None:
                return own._replace(is_project=True)
            project = self._opened(os.path.join(folder, PROJECT_FILE), self._doubt, may_say)
            if project is not None:
                return project._replace(section=("tool", "crondor"), is_project=True)
        return None

    def values(self, find: Callable[[], _File | None]) -> Iterator[SettingValue]:
        """Yield the values of the file that is found. Raises BadSettings."""
        file = find()
        if file is not None:
            self.used.append(file.path)
            for value in _read(file):
                yield from self._inside(file, value) if file.is_project else (value,)

    def _inside(self, file: _File, found: SettingValue) -> Iterator[SettingValue]:
        """Yield a value without the paths that lead out of the folder of its file."""
        if found.setting.key not in PATHS:
            yield found
            return
        paths: list[str] = found.value if found.setting.many else [found.value]
        inside = [path for path in paths if not _leads_out(file.path, path)]
        for path in paths:
            if path not in inside:
                message = f"{printable(path)} is ignored: a project's own file names nothing outside of its folder"
                hint = f"name it with {found.setting.option}, or in your own {OWN_FILE} (crondor config says where)"
                self._warn(message, found.span, hint)
        if inside:
            yield found._replace(value=inside if found.setting.many else inside[0])

    def _opened(
        self, path: str, doubt: Callable[[os.stat_result], str], sets: Callable[[str], bool] | None = None
    ) -> _File | None:
        """Return a trusted file that may set anything, None where there is none. Raises BadSettings."""
        self._looked_at.add(path)
        data = b""
        try:
            descriptor = open_file(followed(path)) if HAS_DESCRIPTORS else open_plain(path)
            with os.fdopen(descriptor, "rb") as file:
                reason = doubt(os.fstat(descriptor))
                data = file.read(MAX_BYTES + 1)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except (OSError, ValueError) as error:
            reason = _doubt_there(path, doubt)
            if not reason:
                why = error.strerror if isinstance(error, OSError) else str(error)
                raise _unreadable(path, why or str(error)) from None
        if reason:
            if sets is None or sets(data.decode("utf-8", "replace")):
                hint = "settings count in files of yours and of root; give what you need as options"
                self._warn(f"this file is ignored: {reason}", Source("", path).span(), hint)
            return None
        if len(data) > MAX_BYTES:
            raise _unreadable(path, "it is larger than 1 MiB")
        try:
            text = data.decode()
        except ValueError:
            raise _unreadable(path, "it is not UTF-8") from None
        return _File(path, text) if sets is None or sets(text) else None

    def _doubt(self, state: os.stat_result) -> str:
        """Return why something is not trusted, nothing where it is."""
        return "" if state.st_uid in self._trusted else f"it belongs to another user, {user_name(state.st_uid)}"

    def _warn(self, message: str, span: Span | None, hint: str) -> None:
        self.warnings.append(Diagnostic("settings", message, Severity.WARNING, span, hint))


def _host_doubt(state: os.stat_result) -> str:
    """Return why what is in /etc is not trusted, nothing where it is."""
    is_writable = not stat.S_ISLNK(state.st_mode) and state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return "it must belong to root, and only root may write it" if state.st_uid != ROOT or is_writable else ""


def _doubt_there(path: str, doubt: Callable[[os.stat_result], str]) -> str:
    """Return why what cannot be opened is not trusted: a link, or what it leads to. Nothing where both are."""
    for look in (os.lstat, os.stat):
        try:
            reason = doubt(look(path))
        except (OSError, ValueError):
            continue
        if reason:
            return reason
    return ""


def _unreadable(path: str, reason: str) -> BadSettings:
    return BadSettings([Diagnostic("settings", f"cannot read {printable(path)}: {reason}")])


def _leads_out(file: str, path: str) -> bool:
    """Say whether a path is not below the folder of a file, links followed; nothing is opened."""
    folder = os.path.realpath(os.path.dirname(file))
    try:
        return os.path.commonpath((folder, os.path.realpath(os.path.join(folder, path)))) != folder
    except ValueError:  # a NUL in it, or another drive
        return True


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
        is_stream = setting.key in {"baseline", "pool-config"} and str(each).startswith(("/dev/", "/proc/"))
        reason = f"{printable(str(each))} is not a plain file" if is_stream else _refused(setting, each)
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


def _from_variable(setting: Setting, environ: Mapping[str, str]) -> Iterator[SettingValue]:
    """Yield the value of a variable. Raises BadSettings."""
    text = environ[setting.variable]
    source = Source(text, setting.variable)
    parts = [text]
    if setting.many:
        parts = text.split(os.pathsep if setting.key == "allow-dir" else ",")
    for part in parts:
        reason = _refused(setting, part)
        if reason:
            raise BadSettings([Diagnostic("settings", f"{setting.name}: {reason}", span=source.span())])
    value = setting.takes.convert(text, None, None) if setting.is_flag else text
    yield SettingValue(setting, parts if setting.many else value, setting.variable)
