"""What HTCondor-CE sets for its programs: the root file, variables, and what its generator of defaults would print.

The generator, condor_ce_router_defaults, is a program that the configuration of HTCondor-CE names; since version 6 it
prints one transform, Env, which depends on two small files alone. Nothing is run: its text is made here from these.

HTCondor-CE: condor_ce_env_bootstrap, condor_ce_router_defaults (versions 6 to 25).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from crondor.config.deployed import VARIABLE
from crondor.diagnostics import CrondorError
from crondor.macro.files import Files
from crondor.source import Source, lines_of

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
"""What the programs of HTCondor-CE see in their environment."""

READ_BY_TRANSFORMS: Final = frozenset(
    (
        *("default_cerequirements", "default_maxmemory", "default_maxwalltime", "default_pilot_job_env"),
        *("default_queue", "default_xcount", "targetuniverse"),
    )
)
"""The variables of routes that HTCondor-CE's own transforms read, in lower case."""

OPTIONAL_TRANSFORMS: Final = frozenset(("uidacctgroup", "x509acctgroup"))
"""The transforms that HTCondor-CE brings for a pool of HTCondor and leaves to the site to list, in lower case."""

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


def variables(files: Files, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of HTCondor-CE's programs: this one, its own, and what its sysconfig file exports."""
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
    """Return what the generator prints, by its path; nothing where it is not there, or older than version 6."""
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
    """Return what a file of a site exports, each value quoted for a job's environment; it is no shell's."""
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
