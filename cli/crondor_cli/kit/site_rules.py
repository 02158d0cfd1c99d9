"""The rules of a site: those in the files of settings, and those of installed packages."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, Final

from crondor._toml import TomlPlaces
from crondor.diagnostics import CrondorError, Diagnostic, Source, Span, printable
from crondor.knowledge.releases import NEWEST, Release
from crondor.lint import Rule
from crondor.lint.site import InvalidRules, SiteRule, installed_rules, read_rules, site_rules
from crondor.lint.subject import CheckedFile, SiteRules
from crondor_cli.kit.files import user_folder
from crondor_cli.kit.settings import Found, SettingsFile, SettingsFiles, read_values, show_warnings

_DEEPEST: Final = 10  # files that extend one another

_made = lru_cache(1)(site_rules)
_installed = cache(installed_rules)


def read_site(release: Release | None, folder: str | None = None, *, has_settings: bool = True) -> SiteRules | None:
    """Return the rules for a folder (None: this one), None if there are none. Raises CrondorError with all faults."""
    rules: list[SiteRule | Rule[CheckedFile]] = [*_installed()]
    if has_settings:
        rules += rules_here(folder)
    return _made(tuple(rules), release or NEWEST) if rules else None


def rules_here(folder: str | None = None) -> list[SiteRule]:
    """Return the rules in the host's, the user's and the project's file for a folder; of one code the last.

    Raises CrondorError with all faults.
    """
    files = SettingsFiles(os.environ)
    reading = _Reading(files)
    for find in files.finds(user_folder(), folder):
        file = find()
        if file is not None:
            reading.add(file, by_host=find == files.of_host)
    show_warnings(Found({}, (), tuple(files.warnings)))
    return reading.result()


def rules_of_file(source: Source) -> list[SiteRule]:
    """Return the rules in one file that was named, and in those that it extends. Raises CrondorError."""
    reading = _Reading(SettingsFiles({}))
    file = SettingsFile(source.name, source.text)
    read_values(file)
    reading.add(file, by_host=False)
    return reading.result()


class _Reading:
    """The rules read so far by their codes, and the faults found."""

    def __init__(self, files: SettingsFiles) -> None:
        self._files = files
        self._rules: dict[str, SiteRule] = {}
        self._faults: list[Diagnostic] = []
        self._met: set[str] = set()

    def result(self) -> list[SiteRule]:
        """Return the rules. Raises InvalidRules."""
        if self._faults:
            raise InvalidRules(self._faults)
        return list(self._rules.values())

    def add(self, file: SettingsFile, above: tuple[str, ...] = (), *, by_host: bool) -> None:
        """Add the rules of the files that a file extends, each once, then its own."""
        if not above:
            self._met = set()
        try:
            table = file.tables().get("check", {})
            check: Mapping[str, Any] = table if isinstance(table, dict) else {}
            for other in self._extended(file, check.get("extend", []), above, by_host=by_host):
                self.add(other, (*above, file.path), by_host=by_host)
            if "rule" in check:
                rules = read_rules(file.source, check["rule"], (*file.section, "check", "rule"))
                self._rules.update({each.code: each for each in rules})
        except CrondorError as error:
            self._faults += error.diagnostics

    def _extended(
        self, file: SettingsFile, value: object, above: tuple[str, ...], *, by_host: bool
    ) -> Iterator[SettingsFile]:
        span = TomlPlaces(file.source).key(*file.section, "check", "extend")
        paths = [value] if isinstance(value, str) else value
        if not isinstance(paths, list) or not all(isinstance(each, str) for each in paths):
            self._fault("check.extend must be a path, or a list of paths", span)
            return
        for path in self._files.inside(file, paths, span) if file.is_project else paths:
            full = os.path.normpath(os.path.join(os.path.dirname(file.path), path))
            extends_it = full in (*above, file.path)
            if extends_it or len(above) >= _DEEPEST:
                again = f"{printable(path)} already extends this file"
                self._fault(again if extends_it else f"more than {_DEEPEST} files extend one another", span)
                continue
            if full in self._met:
                continue
            self._met.add(full)
            other = self._files.extended(full, by_host=by_host)
            if other is not None:
                read_values(other)
                yield other._replace(is_project=file.is_project)
            elif not self._files.warned(full):
                self._fault(f"there is no file '{printable(path)}'", span)

    def _fault(self, message: str, span: Span) -> None:
        self._faults.append(Diagnostic("site-rule", message, span=span))
