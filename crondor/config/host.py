"""A host's own configuration, from the files that HTCondor's tools read, in their order; nothing of it is run."""

from __future__ import annotations

import os
from collections.abc import Mapping

from crondor.classad.scope import Context
from crondor.config.configuration import VERSION, Configuration, InvalidConfig
from crondor.config.deployed import ONLY_VARIABLES, PLACES, VARIABLE, find_root, follow, with_variables
from crondor.config.reader import read_config
from crondor.diagnostics import Diagnostic
from crondor.macro.files import Files


def find_host_config(environ: Mapping[str, str]) -> str | None:
    """Return the root file of a host's configuration; None where there is none, or only variables count."""
    return find_root(Files(["/"], base="/"), environ)


def read_host_config(
    environ: Mapping[str, str],
    *,
    subsystem: str = "SCHEDD",
    context: Context | None = None,
    version: tuple[int, int, int] = VERSION,
) -> Configuration:
    """Return a host's configuration. Raises InvalidConfig where there is none, and CrondorError for what is no text.

    ``environ`` has CONDOR_CONFIG and the variables _CONDOR_. Whatever is wrong in the files is in ``diagnostics``.
    """
    root = find_host_config(environ)
    if root is None and environ.get(VARIABLE, "").upper() != ONLY_VARIABLES:
        message = f"this host has no configuration of HTCondor: none of {', '.join(PLACES)} is there"
        raise InvalidConfig(Diagnostic("config-host", message, help=f"set {VARIABLE}, or name a file"))
    made = read_config({}, environ=environ, subsystem=subsystem, context=context, version=version)
    if root is not None:
        path = os.path.abspath(root)  # noqa: PTH100 - the links on the way are those of the files that follow
        files = Files(["/"], base=os.path.dirname(path))  # noqa: PTH120
        made = follow(read_config(files.read(path), files=files, base=made), files)
    return with_variables(made, environ)
