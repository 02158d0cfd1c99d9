"""The two configurations of `crondor route diff`: what each is made of, and the tables they make."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import click

from crondor.classad.scope import Context
from crondor.config.deployed import EXCLUDED
from crondor.diagnostics import Diagnostic, Severity, printable
from crondor.router import RoutingTable
from crondor.transform.circular import as_warnings
from crondor_cli.common.config_options import ConfigFiles
from crondor_cli.common.file_problem import file_problem
from crondor_cli.common.given_files import FoundPath
from crondor_cli.common.route_options import load_route_table

_is_left_out = re.compile(EXCLUDED).search
_ROOTS = ("etc/condor/condor_config", "etc/condor-ce/condor_config")


class Side(NamedTuple):
    """One configuration: what it was called, the files that were named, in their order, and its table."""

    name: str
    files: tuple[str, ...]
    table: RoutingTable

    @property
    def faults(self) -> list[Diagnostic]:
        """Why routing is switched off, and warnings of what refers to itself."""
        found = [each for each in self.table.diagnostics if each.severity is Severity.ERROR]
        return [*found, *as_warnings(self.table.circles)]


class LoadingOptions(NamedTuple):
    """What both are read with: files before either, HTCondor-CE's rules, folders to include from, old routes."""

    base: tuple[str, ...]
    is_entrypoint: bool
    allow_dirs: tuple[str, ...]
    legacy: bool


def load_side(name: str, given: LoadingOptions, context: Context) -> Side:
    """Load a configuration. Raises as load_config() does."""
    if _is_tree(name):
        config = ConfigFiles(given.base, name, given.is_entrypoint)
        if given.base:
            message = f"'{printable(name)}' is a tree with a configuration of its own: leave out --config"
            raise click.UsageError(message, click.get_current_context(silent=True))
        shown: tuple[str, ...] = (name,)
    else:
        shown = (*given.base, *files_of_side(name))
        config = ConfigFiles(shown, None, given.is_entrypoint)
    return Side(name, shown, load_route_table(config, given.allow_dirs, context, legacy=given.legacy))


def files_of_side(name: str) -> tuple[str, ...]:
    """Return a file, or the files of a folder as HTCondor reads a LOCAL_CONFIG_DIR: by name, without backups.

    Raises UsageError for a folder without any, for one that cannot be read, and for a link that leads out of it.
    """
    if name == "-" or not os.path.isdir(name):
        return (name,)
    try:
        found = tuple(_below(name, sorted(os.listdir(name))))
    except OSError as error:
        raise file_problem("read", name, error) from None
    if not found:
        raise click.UsageError(f"'{printable(name)}' holds no file", click.get_current_context(silent=True))
    return found


def _is_tree(name: str) -> bool:
    """Say whether a folder is the root of a tree in which HTCondor or HTCondor-CE is configured."""
    return any(os.path.isfile(os.path.join(name, root)) for root in _ROOTS)


def _below(folder: str, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        path = FoundPath.below(folder, os.path.join(folder, name))
        if _is_left_out(name) or not os.path.isfile(path):
            continue
        if path.leads_out():
            message = f"'{printable(path)}' is a link that leads out of {printable(folder)}: name the files one by one"
            raise click.UsageError(message, click.get_current_context(silent=True))
        yield path
