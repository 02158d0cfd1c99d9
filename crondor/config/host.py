"""A host's own configuration, from the files that HTCondor's tools read, in their order.

HTCondor: real_config, find_file (src/condor_utils/condor_config.cpp): the root file, the files of LOCAL_CONFIG_DIR,
those of LOCAL_CONFIG_FILE, and the variables _CONDOR_ of the environment. What these files name is never run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Final

from crondor.classad.scope import Context
from crondor.config.configuration import VERSION, Configuration, InvalidConfig
from crondor.config.reader import read_config
from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.macro.files import Files

VARIABLE: Final = "CONDOR_CONFIG"
PLACES: Final = ("/etc/condor/condor_config", "/usr/local/etc/condor_config", "~condor/condor_config")
_NO_FILE: Final = "ONLY_ENV"
_PREFIX: Final = "_condor_"
_EXCLUDED: Final = r"^((\..*)|(.*~)|(#.*)|(.*\.rpmsave)|(.*\.rpmnew)|(.*\.dpkg-.*))$"
_MOST_FILES: Final = 300


def find_host_config(environ: Mapping[str, str]) -> str | None:
    """Return the root file of a host's configuration; None where there is none, or only variables count."""
    named = environ.get(VARIABLE)
    if named is not None:
        return None if named == _NO_FILE else named
    return next((path for path in map(os.path.expanduser, PLACES) if os.access(path, os.R_OK)), None)


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
    if root is None and environ.get(VARIABLE) != _NO_FILE:
        message = f"this host has no configuration of HTCondor: none of {', '.join(PLACES)} is there"
        raise InvalidConfig(Diagnostic("config-host", message, help=f"set {VARIABLE}, or name a file"))
    reader = _HostReader(environ, subsystem, context, version)
    if root is not None:
        reader.read(root)
        folders = reader.folders()
        reader.read_all(folders)
        reader.read_listed()
        reader.read_all([folder for folder in reader.folders() if folder not in folders])
    return reader.with_variables()


class _HostReader:
    """One reading, file after file."""

    def __init__(
        self, environ: Mapping[str, str], subsystem: str, context: Context | None, version: tuple[int, int, int]
    ) -> None:
        self._environ = environ
        self._made = read_config({}, environ=environ, subsystem=subsystem, context=context, version=version)
        self._left = _MOST_FILES

    def read(self, path: str) -> None:
        """Read one more file. Raises CrondorError where it cannot be read."""
        self._left -= 1
        files = Files(["/"], base=os.path.dirname(path) or ".")  # noqa: PTH120
        source = files.read(os.path.realpath(path))
        self._made = read_config(source, files=files, environ=self._environ, base=self._made)

    def folders(self) -> list[str]:
        """Return the folders of LOCAL_CONFIG_DIR."""
        return re.findall(r"[^, \t\r\n]+", self._string("LOCAL_CONFIG_DIR"))

    def read_all(self, folders: list[str]) -> None:
        """Read the files of some folders, each folder in the order of its names."""
        for folder in folders:
            for path in self._files_of(folder):
                self._read_if_there(path)

    def read_listed(self) -> None:
        """Read the files of LOCAL_CONFIG_FILE; a file may change the list."""
        done: list[str] = []
        while self._left > 0:
            listed = re.findall(r"[^, \t\r\n]+", self._string("LOCAL_CONFIG_FILE"))
            following = next((path for path in listed if path not in done), None)
            if following is None or "|" in following:
                return
            done.append(following)
            self._read_if_there(following)

    def with_variables(self) -> Configuration:
        """Return the configuration, with the variables of the environment over it."""
        given = {
            name[len(_PREFIX) :]: text
            for name, text in self._environ.items()
            if name.lower().startswith(_PREFIX) and re.fullmatch(r"[A-Za-z_][\w.]*", name[len(_PREFIX) :])
        }
        return read_config(given, base=self._made) if given else self._made

    def _read_if_there(self, path: str) -> None:
        if self._left <= 0:
            return
        try:
            self.read(path)
        except CrondorError as error:
            fault = error.diagnostics[0]
            message = f"a part of this host's configuration is not read: {fault.message}"
            found = Diagnostic("config-host", message, Severity.WARNING, None, fault.help)
            made = self._made
            self._made = Configuration(**{**vars(made), "diagnostics": (*made.diagnostics, found)})

    def _files_of(self, folder: str) -> Iterator[str]:
        pattern = self._string("LOCAL_CONFIG_DIR_EXCLUDE_REGEXP") or _EXCLUDED
        try:
            excluded = re.compile(pattern)
            names = sorted(os.listdir(folder))  # noqa: PTH208
        except (OSError, ValueError, re.error):
            return
        for name in names:
            path = os.path.join(folder, name)  # noqa: PTH118
            if not excluded.search(name) and os.path.isfile(path):  # noqa: PTH113
                yield path

    def _string(self, name: str) -> str:
        try:
            return self._made.string(name) or ""
        except InvalidConfig:
            return ""
