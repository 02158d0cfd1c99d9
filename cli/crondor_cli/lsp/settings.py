"""What crondor.toml and the variables set for a file, as `crondor check` has it for that file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import click

from crondor.check import RULES, CheckSettings
from crondor.diagnostics import CrondorError, render
from crondor.editing import EditSettings
from crondor.editing.settings import HintKind
from crondor.knowledge.releases import NEWEST, Release
from crondor_cli.common.baseline_options import BaselineOptions
from crondor_cli.common.checked_files import read_checked
from crondor_cli.common.findings.result import ChosenReports
from crondor_cli.common.findings.rules import codes_of
from crondor_cli.common.jobs import files_of
from crondor_cli.common.option_settings import as_given
from crondor_cli.common.options import Clock, Surroundings, UsageProblem, clock_of
from crondor_cli.common.pool_config import interval_of, pool_files, read_pool
from crondor_cli.common.settings import find_settings
from crondor_cli.common.settings_places import user_folder

_INTERVAL = 300
_MINUTE = 60
_HINTS = {
    "none": frozenset[HintKind](),
    "next-run": frozenset((HintKind.NEXT_RUN,)),
    "macros": frozenset((HintKind.MACROS,)),
    "all": frozenset(HintKind),
}


class GivenOptions(NamedTuple):
    """What the command line says, whatever the settings of a folder say: a time for now, a zone, the hints to show."""

    now: str | None = None
    tz: str | None = None
    hints: str | None = None


class SettingsOfFolders:
    """Reads the settings of a file whenever they are asked for: they are few, and change while one writes.

    The configuration of an access point is kept as long as its files are the same. ``complain`` is told what cannot be
    used; defaults then stand in its place.
    """

    def __init__(self, given: GivenOptions, complain: Callable[[str], None]) -> None:
        """Take what the command line says."""
        self._given = given
        self._complain = complain
        self._pools: dict[tuple[object, ...], Any] = {}

    def of(self, path: str) -> EditSettings:
        """Return what the findings of a file depend on beside its text."""
        values = self._values(path)
        try:
            return self._settings(path, values)
        except (click.ClickException, CrondorError) as error:
            self._complain(_message(error))
            return self._settings(path, {})

    def _values(self, path: str) -> dict[str, Any]:
        try:
            found = find_settings(os.environ, user_folder(), os.path.dirname(path) or None)
        except CrondorError as error:
            self._complain(_message(error))
            return {}
        for warning in found.warnings:
            self._complain(render(warning).partition("\n")[0])
        return {each.setting.name: as_given(each) for each in found.values.values()}

    def _settings(self, path: str, values: dict[str, Any]) -> EditSettings:
        clock = clock_of(self._given.now, self._given.tz or values.get("tz"))
        if self._given.now is None:
            clock = clock._replace(now=clock.now - clock.now % _MINUTE)  # so that what is known holds for that long
        target = values.get("check.target")
        release = Release.parse(target) if target else None
        allow_dirs = tuple(values.get("allow-dir", ()))
        pool = self._pool(tuple(values.get("pool-config", ())), allow_dirs, clock, release)
        check = CheckSettings(
            clock.now,
            clock.zone,
            schedd_interval=interval_of(int(values.get("schedd-interval", _INTERVAL)), pool),
            files=not values.get("check.no-files", False),
            access_point=pool,
            target=release or NEWEST,
        )
        surroundings = Surroundings(allow_dirs)
        chosen = codes_of(values.get("check.select", ()), RULES)
        ignored = codes_of(values.get("check.ignore", ()), RULES)
        return EditSettings(
            check,
            lambda source: read_checked(source, check, surroundings),
            files_of(path, allow_dirs),
            os.environ,
            chosen,
            ignored,
            _baseline(values.get("check.baseline"), chosen, ignored),
            _HINTS[self._given.hints or values.get("lsp.hints", "next-run")],
        )

    def _pool(self, paths: Sequence[str], allow_dirs: Sequence[str], clock: Clock, release: Release | None) -> Any:  # noqa: ANN401 - an AccessPoint, which takes 60 ms to import
        if not paths:
            return None
        key = (tuple(paths), tuple(allow_dirs), clock.now // 3600, release, tuple(map(_stamp, paths)))
        if key not in self._pools:
            made = read_pool(pool_files(paths), allow_dirs, clock, release)
            self._pools = {key: made}
        return self._pools[key]


def _baseline(path: str | None, chosen: tuple[str, ...], ignored: tuple[str, ...]) -> Any:  # noqa: ANN401 - as EditSettings.new
    """Return what leaves out the findings that a baseline knows. Raises UsageError."""
    if path is None:
        return None
    from crondor_cli.common.findings.baseline import with_baseline  # noqa: PLC0415 - seldom set

    return with_baseline(ChosenReports((), chosen, ignored, strict=False), BaselineOptions(path, update=False)).new


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _message(error: click.ClickException | CrondorError) -> str:
    if isinstance(error, UsageProblem):
        error = error.error
    if isinstance(error, click.ClickException):
        return error.message
    return render(error.diagnostics[0]).partition("\n")[0]
