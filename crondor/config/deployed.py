"""A deployed configuration: the root file, and the files that it names, in the order of HTCondor's daemons.

``find_root`` finds the root file like HTCondor's tools, ``follow`` reads what a configuration names: the folders of
LOCAL_CONFIG_DIR, then the files of LOCAL_CONFIG_FILE, then the folders again if one of these changed them. Nothing is
run: the output of a command is passed in, or reported as unknown.

HTCondor: real_config, process_directory, process_locals, find_file in src/condor_utils/condor_config.cpp.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from crondor.classad.regexp import GivenUp, Regex, compiled
from crondor.classad.scope import Context
from crondor.config.reader import VERSION, Configuration, InvalidConfig, read_config
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span, lines_of
from crondor.macro.evaluated import as_boolean
from crondor.macro.files import FileRefused, Files

VARIABLE: Final = "CONDOR_CONFIG"
ONLY_VARIABLES: Final = "ONLY_ENV"
"""The value of CONDOR_CONFIG if no file is to be read."""

PLACES: Final = ("/etc/condor/condor_config", "/usr/local/etc/condor_config")
"""Where HTCondor's tools look for the root file, before condor_config in the home folder of the user condor."""

FOLDERS: Final = (
    *("/etc/condor", "/etc/condor-ce", "/usr/share/condor", "/usr/share/condor-ce"),
    *("/usr/lib/condor", "/usr/lib64/condor", "/usr/local/etc"),
)
"""Where packages of HTCondor and HTCondor-CE keep configuration."""

MOST_FILES: Final = 1000
EXCLUDED: Final = (
    r"^((\..*)|(.*\.pl)|(.*\.py)|(.*\.sh)|(.*~)|(#.*)|(.*\.rpmsave)|(.*\.rpmnew)|(.*\.dpkg-old)|(.*\.dpkg-dist)"
    r"|(.*\.cfsaved))$"
)
"""The default of LOCAL_CONFIG_DIR_EXCLUDE_REGEXP in HTCondor 25.14."""

_DIR, _FILE = "LOCAL_CONFIG_DIR", "LOCAL_CONFIG_FILE"
_EXCLUDE = "LOCAL_CONFIG_DIR_EXCLUDE_REGEXP"
_PREFIX = "_condor_"
_NAME = re.compile(r"[A-Za-z_][\w./]*")
_MOST_SAID = 1000  # findings
_MOST_WORK = 2_000_000  # of all searches in names by a regular expression


def find_root(files: Files, environ: Mapping[str, str]) -> str | None:
    """Return the path of the root file: CONDOR_CONFIG, else the first existing one of HTCondor's places.

    None: there is none, or CONDOR_CONFIG is ONLY_ENV.
    """
    named = environ.get(VARIABLE)
    if named is not None:
        return None if named.upper() == ONLY_VARIABLES or not named else named
    home = _home_of_condor(files)
    return next(
        (path for path in (*PLACES, *([f"{home}/condor_config"] if home else [])) if _is_there(files, path)), None
    )


def with_variables(configuration: Configuration, environ: Mapping[str, str]) -> Configuration:
    """Return a configuration overridden by the variables _CONDOR_<knob> of the environment, like HTCondor's tools."""
    given = {
        name[len(_PREFIX) :]: text
        for name, text in environ.items()
        if name.lower().startswith(_PREFIX) and _NAME.fullmatch(name[len(_PREFIX) :])
    }
    if not given:
        return configuration
    return replace(read_config(given, base=configuration), is_followed=configuration.is_followed)


def follow(
    configuration: Configuration,
    files: Files,
    *,
    named: Collection[str] = (),
    printed: Mapping[str, Source] | None = None,
    is_whole: bool = True,
) -> Configuration:
    """Return a configuration with all files that LOCAL_CONFIG_DIR and LOCAL_CONFIG_FILE name read after it.

    ``files`` opens them; a forbidden one is reported (``config-hidden``) and skipped. ``named`` are the real paths of
    files that are read elsewhere, and are skipped here. ``printed`` has the output of commands, by path. Never fails: a
    missing file is an ERROR if HTCondor does not start without it; if ``is_whole`` is false, it may exist on the
    deployed host, and is reported as not read.
    """
    return _Follower(configuration, files, named, printed or {}, is_whole=is_whole).run()


class _Follower:
    """One walk through the files that a configuration names."""

    def __init__(
        self,
        configuration: Configuration,
        files: Files,
        named: Collection[str],
        printed: Mapping[str, Source],
        *,
        is_whole: bool,
    ) -> None:
        self._is_whole = is_whole
        self._made = configuration
        self._files = files
        self._named = named
        self._printed = printed
        self._left = MOST_FILES
        self._work = _MOST_WORK

    def run(self) -> Configuration:
        folders = self._text(_DIR)
        self._read_folders(folders)
        self._read_listed()
        changed = self._text(_DIR)
        if changed != folders:
            self._read_folders(changed)
        return replace(self._made, is_followed=True)

    def _read_folders(self, text: str) -> None:
        """Read the files of each folder of a list, in the order of their names."""
        for folder in _words(text):
            try:
                names = self._files.plain_names(folder)
            except FileRefused as error:
                if error.is_outside or error.diagnostics[0].kind == "file-many" or not self._is_whole:
                    self._hidden(_DIR, folder, error.diagnostics[0])
                continue  # HTCondor ignores a missing folder too
            excluded = self._excluded()
            for name in names:
                if not self._finds(excluded, name):
                    self._read(_DIR, posixpath.join(folder, name))

    def _read_listed(self) -> None:
        """Read the files of LOCAL_CONFIG_FILE; one of them may change the list, whose rest then counts."""
        done: set[str] = set()
        text, waiting = "", list[str]()
        while self._left > 0:
            if (now := self._text(_FILE)) != text:
                text = now
                listed = [text.strip()] if text.rstrip().endswith("|") else _words(text)
                waiting = [each for each in dict.fromkeys(listed) if each not in done][::-1]
            if not waiting:
                return
            done.add(waiting[-1])
            self._read(_FILE, waiting.pop())

    def _read(self, knob: str, path: str) -> None:
        self._left -= 1
        if self._left <= 0:
            if self._left == 0:
                self._say("config-many", f"crondor reads no more than {MOST_FILES} files", self._place(knob))
            return
        if path.endswith("|"):
            self._command(knob, path)
            return
        try:
            if self._files.real(path) in self._named:
                return
            source = self._files.read(path)
        except FileRefused as error:
            fault = error.diagnostics[0]
            if error.is_outside or not self._is_whole:
                self._hidden(knob, path, fault)
            elif self._is_required():
                help_text = "HTCondor does not start without it, unless REQUIRE_LOCAL_CONFIG_FILE is false"
                self._say("config-missing", f"{knob}: {fault.message}", self._place(knob), help_text)
            return
        except CrondorError as error:
            self._made = replace(self._made, diagnostics=(*self._made.diagnostics, *error.diagnostics))
            return
        self._take(source, posixpath.dirname(path))

    def _take(self, source: Source, folder: str) -> None:
        self._made = read_config(source, files=self._files.based(folder or "."), base=self._made)

    def _command(self, knob: str, path: str) -> None:
        """Use the output of a command if it is known; it is never run."""
        words = path[:-1].split()
        source = self._printed.get(words[0]) if len(words) == 1 else None
        if source is not None:
            self._take(source, "/")
            return
        program = path[:-1].strip()[:80]
        message = (
            f"HTCondor reads the output of {program}, because of {knob}; crondor does not run it: its settings are "
            "unknown"
        )
        help_text = "save its output in a file, and name that file with the others; for HTCondor-CE's own: --ce"
        self._say("config-hidden", message, self._place(knob), help_text, Severity.WARNING)

    def _hidden(self, knob: str, path: str, fault: Diagnostic) -> None:
        message = f"HTCondor also reads {path[:80]}, because of {knob}, and crondor does not: its settings are unknown"
        self._say("config-hidden", message, self._place(knob), fault.help or "name it as well", Severity.WARNING)

    def _say(
        self,
        code: str,
        message: str,
        span: Span | None,
        help_text: str | None = None,
        severity: Severity = Severity.ERROR,
    ) -> None:
        if len(self._made.diagnostics) >= _MOST_SAID:
            return
        found = Diagnostic(code, message, severity, span, help_text)
        self._made = replace(self._made, diagnostics=(*self._made.diagnostics, found))

    def _place(self, name: str) -> Span | None:
        knob = self._made.find(name)
        return None if knob is None else knob.span

    def _text(self, name: str) -> str:
        try:
            return self._made.string(name) or ""
        except InvalidConfig as error:
            self._made = replace(self._made, diagnostics=(*self._made.diagnostics, *error.diagnostics))
            return ""

    def _is_required(self) -> bool:
        text = self._text("REQUIRE_LOCAL_CONFIG_FILE")
        return not text or as_boolean(text, self._made.context) is not False

    def _finds(self, expression: Regex | None, name: str) -> bool:
        """Return whether an expression matches in a name; one that takes too long does not."""
        try:
            if expression is None or self._work < 0:
                return False
            return expression.first(name.encode("utf-8", "surrogateescape"), self._spend) is not None
        except GivenUp:
            return False

    def _spend(self, cost: int) -> None:
        self._work -= cost
        if self._work < 0:
            raise GivenUp

    def _excluded(self) -> Regex | None:
        text = self._text(_EXCLUDE) or EXCLUDED
        made = compiled(text, "")
        if made is None:
            message = f"{_EXCLUDE} is not a valid regular expression: HTCondor does not start"
            self._say("config-regexp", message, self._place(_EXCLUDE), "remove the line to use HTCondor's default")
        return made


def _words(text: str) -> list[str]:
    return re.findall(r"[^, \t\r\n]+", text)


def _is_there(files: Files, path: str) -> bool:
    try:
        files.read(path)
    except FileRefused:
        return False
    except CrondorError:
        return True  # it exists, but is not text: its reader reports that
    return True


def _home_of_condor(files: Files) -> str:
    """Return the home folder of the user condor from /etc/passwd, empty if there is none."""
    try:
        lines = lines_of(files.read("/etc/passwd").text)
    except CrondorError:
        return ""
    users = (line.rstrip().split(":") for line in lines)
    homes = (fields[5] for fields in users if fields[0] == "condor" and len(fields) > 5)
    return next((home for home in homes if home.startswith("/")), "")


def find_host_config(environ: Mapping[str, str]) -> str | None:
    """Return the root file of a host's configuration; None if there is none, or only variables count."""
    return find_root(Files(["/"], base="/"), environ)


def read_host_config(
    environ: Mapping[str, str],
    *,
    subsystem: str = "SCHEDD",
    context: Context | None = None,
    version: tuple[int, int, int] = VERSION,
) -> Configuration:
    """Return a host's configuration.

    Raises InvalidConfig if there is none, and CrondorError for a file that is not text. ``environ`` has CONDOR_CONFIG
    and the variables _CONDOR_. Faults in the files are in ``diagnostics``.
    """
    root = find_host_config(environ)
    if root is None and environ.get(VARIABLE, "").upper() != ONLY_VARIABLES:
        message = f"this host has no configuration of HTCondor: none of {', '.join(PLACES)} exists"
        raise InvalidConfig(Diagnostic("config-host", message, help=f"set {VARIABLE}, or name a file"))
    made = read_config({}, environ=environ, subsystem=subsystem, context=context, version=version)
    if root is not None:
        path = os.path.abspath(root)
        files = Files(["/"], base=os.path.dirname(path))
        made = follow(read_config(files.read(path), files=files, base=made), files)
    return with_variables(made, environ)


ROOT: Final = "/etc/condor-ce/condor_config"
GENERATOR: Final = "/usr/share/condor-ce/condor_ce_router_defaults"
SYSCONFIG: Final = ("/etc/sysconfig/condor-ce-collector", "/etc/sysconfig/condor-ce")
SITE_VARIABLES: Final = ("/var/lib/osg/osg-job-environment.conf", "/var/lib/osg/osg-local-job-environment.conf")
VARIABLES: Final[Mapping[str, str]] = {
    VARIABLE: ROOT,
    "LCMAPS_DB_FILE": "/etc/lcmaps.db",
    "LCMAPS_DEBUG_LEVEL": "2",
    "LCMAPS_POLICY_NAME": "authorize_only",
    "LLGT_LIFT_PRIVILEGED_PROTECTION": "1",
    "LLGT_LOG_IDENT": "htcondor-ce",
}
"""The environment of HTCondor-CE's programs."""

READ_BY_TRANSFORMS: Final = frozenset(
    (
        *("default_cerequirements", "default_maxmemory", "default_maxwalltime", "default_pilot_job_env"),
        *("default_queue", "default_xcount", "targetuniverse"),
    )
)
"""The variables of routes that HTCondor-CE's own transforms read, in lower case."""

OPTIONAL_TRANSFORMS: Final = frozenset(("uidacctgroup", "x509acctgroup"))
"""The transforms that HTCondor-CE ships for a pool of HTCondor and that a site may list, in lower case."""

_MADE_SINCE_6 = "JOB_ROUTER_TRANSFORM_Env"
_EXPORT = re.compile(r"\s*export\s+([A-Za-z_]\w*)")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.+)")
_VARIABLE = re.compile(r'"?\$(\w*)"?')
_PLAIN = re.compile(r"[^$`\\]*")
_ADVERTISE = 'ifThenElse($(DISABLE_PILOT_ADS) =?= True, "", strcat("CONDORCE_COLLECTOR_HOST=", "$(COLLECTOR_HOST)"))'
_TRANSFORM = """\
JOB_ROUTER_TRANSFORM_Env @=end
    EVALMACRO default_env {advertise}
    if $(USE_CE_HOME_DIR)
        EVALMACRO use_ce_home userHome(Owner, "/")
        default_env = $(default_env) HOME=$(use_ce_home)
    endif
    if ! defined default_pilot_job_env
        default_pilot_job_env = ""
    endif
    SET osg_environment "{site}"
    EVALSET environment mergeEnvironment("$(default_env)", osg_environment, orig_environment, \
$(CONDORCE_PILOT_JOB_ENV), $(default_pilot_job_env))
@end
JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES = $(JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES) Env
"""


# The generator, condor_ce_router_defaults, is a program named in HTCondor-CE's configuration; since version 6 it prints
# one transform, Env, which depends only on two small files. It is not run: its output is made here from these.
# HTCondor-CE: condor_ce_env_bootstrap, condor_ce_router_defaults (versions 6 to 25).
def variables(files: Files, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of HTCondor-CE's programs: this one, its own, and the exports of its sysconfig file."""
    found = {**environ}
    for path in SYSCONFIG:
        text = _text(files, path)
        if text is None:
            continue
        for line in map(str.rstrip, lines_of(text)):
            assigned = re.fullmatch(r"\s*export\s+([A-Za-z_]\w*)=(\S*|\"[^\"]*\"|'[^']*')\s*(?:#.*)?", line)
            if assigned is not None and _PLAIN.fullmatch(assigned[2]):
                found[assigned[1]] = assigned[2].strip("\"'")
        break
    return {**found, **VARIABLES}


def generated(files: Files, environ: Mapping[str, str]) -> dict[str, Source]:
    """Return the generator's output, by its path; empty if it does not exist, or is older than version 6."""
    program = _text(files, GENERATOR)
    if program is None or _MADE_SINCE_6 not in program:
        return {}
    site: dict[str, str] = {}
    for path in SITE_VARIABLES:
        site |= _exported(_text(files, path) or "", environ)
    text = " ".join(f"{name}={value}" for name, value in site.items())
    advertise = '""' if environ.get("DISABLE_GLIDEIN_ADS", "").lower() == "true" else _ADVERTISE
    made = _TRANSFORM.replace("{advertise}", advertise).replace("{site}", text)
    return {GENERATOR: Source(made, f"<{GENERATOR.rpartition('/')[2]}>")}


def _exported(text: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the exports of a site's file, each value quoted for a job's environment, not for a shell."""
    exports: set[str] = set()
    values: dict[str, str] = {}
    for line in map(str.strip, lines_of(text)):
        if line.startswith("#"):
            continue
        if (found := _EXPORT.match(line)) is not None:
            exports.add(found[1])
        if (found := _ASSIGNED.match(line)) is None:
            continue
        name, value = found.groups()
        if (variable := _VARIABLE.match(value)) is not None:
            value = environ.get(variable[1], "")
            if not value:
                continue
        values[name] = _quoted(value)
    return {name: value for name, value in values.items() if name in exports}


def _quoted(value: str) -> str:
    if value[:1] == value[-1:] == '"':
        value = value[1:-1]
    inner = value.replace("\\", "").replace('"', '""').replace("'", "''")
    return f"'{inner}'"


def _text(files: Files, path: str) -> str | None:
    try:
        return files.read(path).text
    except CrondorError:
        return None


def _hook(name: str, first: int, *settings: str) -> str:
    """Return a template with the arguments prefix, tag, those of ``settings``, and from ``first`` program and ARGS."""
    lines = [
        f"if ! $({first}?)",
        f"error : use FEATURE : {name} requires at least {first} arguments",
        "endif",
        "$(1)_JOBLIST = $($(1)_JOBLIST) $(2)",
        *(f"$(1)_$(2)_{setting}" for setting in settings),
        f"$(1)_$(2)_EXECUTABLE = $({first})",
        f"if $({first + 1}?)",
        f"$(1)_$(2)_ARGS = $({first + 1})",
        "endif",
    ]
    return "\n".join(lines)


_HOOKS: Final = {
    "OneShot": _hook("OneShotCronHook", 3, "MODE = OneShot", "KILL = true", "RECONFIG_RERUN = true"),
    "Periodic": _hook("PeriodicCronHook", 4, "MODE = Periodic", "PERIOD = $(3)"),
    "Continuous": _hook("ContinuousCronHook", 3, "MODE = WaitForExit", "PERIOD = 0"),
}

_MONITOR: Final = """\
if ! $(5?)
error : use FEATURE : Monitor requires at least 5 arguments
endif
STARTD_CRON_JOBLIST = $(STARTD_CRON_JOBLIST) $(1)_MONITOR
STARTD_CRON_$(1)_MONITOR_MODE = $(2)
STARTD_CRON_$(1)_MONITOR_PERIOD = $(3)
STARTD_CRON_$(1)_MONITOR_EXECUTABLE = $(4)
STARTD_CRON_$(1)_MONITOR_METRICS = $(5+)
"""
_GPU_PROGRAM: Final = "$(GPU_MONITOR:$(LIBEXEC)/condor_gpu_utilization)"
_GPUS: Final = f"""\
use FEATURE : Monitor(GPUs, WaitForExit, 300, {_GPU_PROGRAM}, SUM:GPUs, PEAK:GPUsMemory)
STARTD_CRON_GPUs_MONITOR_CONDITION = TotalGPUs > 0 && OpSys =!= "WINDOWS"
"""

TEMPLATES: Final = {
    "FEATURE.Monitor": _MONITOR,
    "FEATURE.GPUsMonitor": _GPUS,
    **{f"FEATURE.{name}CronHook": text for name, text in _HOOKS.items()},
    **{
        f"FEATURE.{daemon}Cron{name}": f"use FEATURE : {name}CronHook({daemon.upper()}_CRON, $(0))"
        for daemon in ("Startd", "Schedd")
        for name in _HOOKS
    },
}
"""The templates that ``read_config`` needs, by ``category.name``."""
