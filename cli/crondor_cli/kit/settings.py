"""The settings of crondor: their names, their sources, and their options."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

import click

from crondor._toml import TomlPlaces, error_place, parse_toml
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span, printable, render, similar
from crondor.rights.trust import ROOT, current_user, user_name
from crondor.rights.walk import HAS_DESCRIPTORS, followed, open_file, open_plain
from crondor.spec import Dialect
from crondor.zones import Policy
from crondor_cli.kit.files import (
    HAS_RULES,
    MOST_SETTINGS,
    OWN_FILE,
    PROJECT_FILE,
    folders_upwards,
    leads_out,
    may_say,
    system_file,
    user_folder,
)
from crondor_cli.kit.options import MOST_JOBS, ReleaseType, UsageProblem
from crondor_cli.kit.screen import COLORS, show
from crondor_cli.kit.times import find_zone

WIDTHS = click.IntRange(40, 1000)
MAX_INTERVAL = 86400  # seconds
HINTS = ("next-run", "macros", "all", "none")


class Setting(NamedTuple):
    """A setting: its key in a file; ``table`` is its command, empty for all commands that have ``option``.

    ``takes`` converts a value, ``many``: it is a list, ``is_flag``: it is true or false. ``default`` describes the
    default, if the option has none.
    """

    key: str
    meaning: str
    takes: click.ParamType[Any]
    table: str = ""
    many: bool = False
    is_flag: bool = False
    default: str = ""

    @property
    def keys(self) -> tuple[str, ...]:
        """The table and the key."""
        return (self.table, self.key) if self.table else (self.key,)

    @property
    def name(self) -> str:
        """The key with its table: ``simulate.slots``."""
        return ".".join(self.keys)

    @property
    def variable(self) -> str:
        """The environment variable: ``CRONDOR_SIMULATE_SLOTS``."""
        return "CRONDOR_" + "_".join(self.keys).upper().replace("-", "_")

    @property
    def option(self) -> str:
        """The option of the command line."""
        return f"--{self.key}"


SETTINGS = (
    Setting("tz", "the submit host's time zone", click.STRING, default="this host's"),
    Setting(
        "schedd-interval", "the schedd's SCHEDD_INTERVAL, in seconds", click.IntRange(0, MAX_INTERVAL), default="300"
    ),
    Setting(
        "dialect", "how crontab fields are read", click.Choice([d.value for d in Dialect]), default="the command's own"
    ),
    Setting(
        "policy",
        "runs in hours that clocks skip or repeat",
        click.Choice([p.value for p in Policy]),
        default="compatible",
    ),
    Setting("jobs", "processes that share much work", click.IntRange(1, MOST_JOBS), default="the processors"),
    Setting("color", "when output is coloured", click.Choice(COLORS), default="auto"),
    Setting("width", "columns of lines on a terminal", WIDTHS, default="the terminal's"),
    Setting("pool-config", "the access point's configuration, or host", click.STRING, many=True),
    Setting("allow-dir", "folders that files may be read from", click.STRING, many=True),
    Setting("select", "rules whose codes begin so", click.STRING, "check", many=True),
    Setting("ignore", "no rules whose codes begin so", click.STRING, "check", many=True),
    Setting("strict", "whether notes count for the exit status", click.BOOL, "check", is_flag=True, default="false"),
    Setting("baseline", "a file of known findings, which are not reported", click.STRING, "check"),
    Setting("no-files", "whether named files are not checked", click.BOOL, "check", is_flag=True, default="false"),
    Setting("target", "the release of HTCondor that files are submitted to", ReleaseType(), "check", default="newest"),
    Setting("hints", "hints shown in grey after a line", click.Choice(HINTS), "lsp", default="next-run"),
    Setting("slots", "jobs that run at once", click.IntRange(1, 1_000_000), "simulate", default="1"),
    Setting("machine", "machines, as cpus=N,memory=SIZE", click.STRING, "simulate", many=True),
    Setting("run-time", "how long a program runs", click.STRING, "simulate", default="60"),
    Setting("match-delay", "how long the negotiator takes", click.STRING, "simulate", default="0-60"),
    Setting("transfer", "how long the transfer of files takes", click.STRING, "simulate", default="1"),
    Setting("exit-code", "how programs end", click.STRING, "simulate", default="0"),
    Setting("preempt", "when jobs are preempted", click.STRING, "simulate", default="never"),
    Setting("fail", "updates that fail", click.STRING, "simulate", many=True),
    Setting("knob", "knobs of the daemons, as NAME=VALUE", click.STRING, "simulate", many=True),
    Setting(
        "skew",
        "seconds that the execute machine's clock is ahead",
        click.IntRange(-86_400, 86_400),
        "simulate",
        default="0",
    ),
)
PATHS = frozenset(("allow-dir", "baseline", "pool-config"))
"""The keys of settings that are paths."""

RULE_KEYS: Final = frozenset((("check", "rule"), ("check", "extend")))
"""The keys of a site's rules, and of files with more: see crondor_cli.kit.site_rules."""

BY_KEYS = {setting.keys: setting for setting in SETTINGS}
TABLES = {setting.table for setting in SETTINGS if setting.table}
_LONGEST_ID: Final = 10  # digits of a user id


# In order of precedence: an option of the command line, a variable, the nearest crondor.toml or pyproject.toml with a
# section of ours from this folder upwards, the user's own crondor.toml, /etc/crondor.toml, the option's default.
# Nothing in a file is run, and no file can set an output file.
# Files are trusted as git trusts repositories: if they belong to this user, to root, or, for root, to the user who
# called sudo. /etc/crondor.toml must belong to root and be writable only by root. Other files are ignored, with a
# warning. The author of a project is not always the user who checks it, so the paths in a project's own file must stay
# below its folder.
class BadSettings(CrondorError, ValueError):
    """Invalid settings."""


class SettingValue(NamedTuple):
    """A value, its source (a file, a variable), and its place in a file."""

    setting: Setting
    value: Any
    source: str
    span: Span | None = None


class Found(NamedTuple):
    """All values by the setting's keys; their files, the farthest first; the warnings; whether a file has rules."""

    values: dict[tuple[str, ...], SettingValue]
    files: tuple[str, ...]
    warnings: tuple[Diagnostic, ...] = ()
    has_rules: bool = False


def find_settings(environ: Mapping[str, str], user_folder: str, folder: str | None = None) -> Found:
    """Return the values of files and variables for a folder (None: this one). Raises BadSettings with all faults."""
    files = SettingsFiles(environ)
    finds = files.finds(user_folder, folder)
    reads: list[Callable[[], Iterable[SettingValue]]] = [partial(files.values, find) for find in finds]
    reads += [partial(_from_variable, each, environ) for each in SETTINGS if environ.get(each.variable)]
    values: dict[tuple[str, ...], SettingValue] = {}
    faults: list[Diagnostic] = []
    for read in reads:
        values.update({value.setting.keys: value for value in _tried(read, faults)})
    if faults:
        raise BadSettings(faults)
    return Found(values, tuple(files.used), tuple(files.warnings), files.has_rules)


def _tried(read: Callable[[], Iterable[SettingValue]], faults: list[Diagnostic]) -> list[SettingValue]:
    """Return the values that can be read; add faults to the list."""
    try:
        return list(read())
    except BadSettings as error:
        faults += error.diagnostics
        return []


class SettingsFile(NamedTuple):
    """A file of settings: its text, and whether it is a project's."""

    path: str
    text: str
    is_project: bool = False

    @property
    def section(self) -> tuple[str, ...]:
        """The keys of its section."""
        return ("tool", "crondor") if os.path.basename(self.path) == PROJECT_FILE else ()

    @property
    def source(self) -> Source:
        """The text with its name."""
        return Source(self.text, self.path)

    def tables(self) -> dict[str, Any]:
        """Return its section. Raises BadSettings."""
        source = self.source
        try:
            section: Any = parse_toml(self.text)
        except RecursionError:  # arrays in arrays, thousands deep
            raise BadSettings([Diagnostic("settings", "this is nested too deeply", span=source.span(0, 1))]) from None
        except ValueError as error:
            message = re.sub(r" \(at .*\)$", "", str(error))
            span = error_place(source, str(error))
            raise BadSettings([Diagnostic("settings", f"this is not TOML: {message}", span=span)]) from None
        for key in self.section:
            section = section.get(key, {}) if isinstance(section, dict) else section
        if not isinstance(section, dict):
            span = TomlPlaces(source).key(*self.section)
            raise BadSettings([Diagnostic("settings", f"{'.'.join(self.section)} is not a table", span=span)])
        return section


class SettingsFiles:
    """The trusted files of settings, and warnings about ignored ones."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.used: list[str] = []
        self.warnings: list[Diagnostic] = []
        self.has_rules = False
        self._looked_at: set[str] = set()
        self._trusted = {ROOT, current_user()}
        caller = environ.get("SUDO_UID", "")
        if current_user() == ROOT and caller.isascii() and caller.isdecimal() and len(caller) <= _LONGEST_ID:
            self._trusted.add(int(caller))

    def finds(self, user_folder: str, folder: str | None) -> tuple[Callable[[], SettingsFile | None], ...]:
        """Return how to find the host's file, the user's, and the project's for a folder (None: this one)."""
        return self.of_host, partial(self.of_user, user_folder), partial(self.of_project, folder)

    def of_host(self) -> SettingsFile | None:
        """Return the file for all users of this host."""
        path = system_file()
        return None if path is None else self._opened(path, _host_doubt)

    def of_user(self, folder: str) -> SettingsFile | None:
        """Return the user's own file."""
        return self._opened(os.path.join(folder, OWN_FILE), self._doubt)

    def of_project(self, begin: str | None) -> SettingsFile | None:
        """Return the nearest file with settings, from a folder upwards; crondor.toml before pyproject.toml."""
        for folder in folders_upwards(begin):
            path = os.path.join(folder, OWN_FILE)
            if path in self._looked_at:  # the folder is the user's own settings folder, or /etc
                return None
            own = self._opened(path, self._doubt)
            if own is not None:
                return own._replace(is_project=True)
            project = self._opened(os.path.join(folder, PROJECT_FILE), self._doubt, may_say)
            if project is not None:
                return project._replace(is_project=True)
        return None

    def values(self, find: Callable[[], SettingsFile | None]) -> Iterator[SettingValue]:
        """Yield the values of the file found. Raises BadSettings."""
        file = find()
        if file is not None:
            self.used.append(file.path)
            self.has_rules |= _has_rules(file)
            for value in read_values(file):
                yield from self._inside(file, value) if file.is_project else (value,)

    def _inside(self, file: SettingsFile, found: SettingValue) -> Iterator[SettingValue]:
        """Yield a value without the paths that lead out of its file's folder."""
        if found.setting.key not in PATHS:
            yield found
            return
        paths: list[str] = found.value if found.setting.many else [found.value]
        inside = self.inside(file, paths, found.span, f"set it with {found.setting.option}, or ")
        if inside:
            yield found._replace(value=inside if found.setting.many else inside[0])

    def inside(self, file: SettingsFile, paths: list[str], span: Span | None, hint: str = "") -> list[str]:
        """Return the paths of a project's file that do not lead out of its folder; warn of the others."""
        inside = [path for path in paths if not leads_out(os.path.dirname(file.path), path)]
        for path in paths:
            if path not in inside:
                message = f"{printable(path)} is ignored: a project's own file may only name paths in its folder"
                self._warn(message, span, f"{hint}set it in your own {OWN_FILE} (crondor config says where)")
        return inside

    def warned(self, path: str) -> bool:
        """Return whether a file is ignored, which a warning says."""
        return any(each.span is not None and each.span.source.name == path for each in self.warnings)

    def extended(self, path: str, *, by_host: bool) -> SettingsFile | None:
        """Return a trusted file that another extends, None if there is none. Raises BadSettings."""
        return self._opened(path, _host_doubt if by_host else self._doubt)

    def _opened(
        self, path: str, doubt: Callable[[os.stat_result], str], sets: Callable[[str], bool] | None = None
    ) -> SettingsFile | None:
        """Return a trusted file that may have settings, None if there is none. Raises BadSettings."""
        self._looked_at.add(path)
        data = b""
        try:
            descriptor = open_file(followed(path)) if HAS_DESCRIPTORS else open_plain(path)
            with os.fdopen(descriptor, "rb") as file:
                reason = doubt(os.fstat(descriptor))
                data = file.read(MOST_SETTINGS + 1)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except (OSError, ValueError) as error:
            reason = _doubt_there(path, doubt)
            if not reason:
                why = error.strerror if isinstance(error, OSError) else str(error)
                raise _unreadable(path, why or str(error)) from None
        if reason:
            if sets is None or sets(data.decode("utf-8", "replace")):
                hint = "only settings files of your own and of root are used; use options instead"
                self._warn(f"this file is ignored: {reason}", Source("", path).span(), hint)
            return None
        if len(data) > MOST_SETTINGS:
            raise _unreadable(path, "it is larger than 1 MiB")
        try:
            text = data.decode("utf-8-sig")
        except ValueError:
            raise _unreadable(path, "it is not UTF-8") from None
        return SettingsFile(path, text) if sets is None or sets(text) else None

    def _doubt(self, state: os.stat_result) -> str:
        """Return why a file is not trusted, empty if it is."""
        return "" if state.st_uid in self._trusted else f"it belongs to another user, {user_name(state.st_uid)}"

    def _warn(self, message: str, span: Span | None, hint: str) -> None:
        self.warnings.append(Diagnostic("settings", message, Severity.WARNING, span, hint))


def _host_doubt(state: os.stat_result) -> str:
    """Return why a file in /etc is not trusted, empty if it is."""
    is_writable = not stat.S_ISLNK(state.st_mode) and state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return "it must belong to root, and only root may write it" if state.st_uid != ROOT or is_writable else ""


def _doubt_there(path: str, doubt: Callable[[os.stat_result], str]) -> str:
    """Return why a link or its target is not trusted, empty if both are."""
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


def read_values(file: SettingsFile) -> list[SettingValue]:
    """Return the values of a file. Raises BadSettings."""
    section, places = file.tables(), TomlPlaces(file.source)
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


def _has_rules(file: SettingsFile) -> bool:
    """Return whether a file may have rules; one that is wrong is reported elsewhere."""
    return any(re.search(rf"\b{key}\b", file.text) for _, key in RULE_KEYS)


def _flat(section: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in section.items():
        if key in TABLES and isinstance(value, dict):
            yield from (((key, inner), each) for inner, each in value.items() if (key, inner) not in RULE_KEYS)
        else:
            yield (key,), value


def _fault(keys: tuple[str, ...], value: object, span: Span) -> Diagnostic | None:
    setting = BY_KEYS.get(keys)
    name = printable(".".join(keys))
    if setting is None:
        if len(keys) == 1 and keys[0] in TABLES:
            return Diagnostic("settings", f"{name} is a table: [{name}]", span=span)
        known = [each.name for each in SETTINGS] + [".".join(each) for each in sorted(RULE_KEYS)]
        elsewhere = [each for each in known if each.rpartition(".")[2] == keys[-1]]
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
    """Return the expected type of a TOML value, None if it is right."""
    if setting.is_flag:
        return None if isinstance(value, bool) else "true or false"
    if setting.many:
        good = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return None if good else "a list of strings"
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


_SAID = "crondor.settings"
_HOST = "host"  # a value of pool-config that is not a path


def values_for(command: click.Command) -> dict[str, Any]:
    """Return the settings for the options of a command; raise UsageProblem for invalid files and variables."""
    try:
        found = find_settings(os.environ, user_folder())
    except BadSettings as error:
        raise UsageProblem(error) from None
    show_warnings(found)
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta[HAS_RULES] = found.has_rules
    params = {setting: param for param in command.params if (setting := setting_of(command, param)) is not None}
    values: dict[str, Any] = {}
    for value in found.values.values():
        param = params.get(value.setting)
        if value.setting.key == "width":
            values["width"] = value.value
        elif param is None or (isinstance(param.type, click.Choice) and value.value not in param.type.choices):
            continue  # `crondor next --previous` has no dialect htcondor
        else:
            values[param.name] = as_given(value)
    return values


def show_warnings(found: Found) -> None:
    """Show the warnings about settings files, once per command line."""
    context = click.get_current_context(silent=True)
    said: set[str] = set() if context is None else context.meta.setdefault(_SAID, set())
    show(each for each in found.warnings if render(each) not in said)
    said.update(map(render, found.warnings))


def setting_of(command: click.Command, param: click.Parameter) -> Setting | None:
    """Return the setting that is the default of an option, None if there is none."""
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


def as_given(value: SettingValue) -> Any:  # noqa: ANN401 - whatever a setting holds
    """Return a value in the form of the command line; paths in a file are relative to its folder."""
    if value.setting.key in PATHS and value.span is not None:
        folder = os.path.dirname(value.source)
        if isinstance(value.value, list):
            return [path if path == _HOST else os.path.join(folder, path) for path in value.value]
        return os.path.join(folder, str(value.value))
    return value.value if isinstance(value.value, (bool, list)) else str(value.value)


_HOMES: Final = ("/home/", "/root/")


def home_path(path: str) -> str | None:
    """Return the path with its links resolved if it is in a home folder, otherwise None."""
    real = os.path.realpath(path)
    return real if real.startswith(_HOMES) else None
