"""Configurations of HTCondor, and the routes in them."""

from __future__ import annotations

import errno
import os
import re
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

import click

from crondor.classad.scope import Context
from crondor.config import Configuration, read_config
from crondor.config.deployed import (
    FOLDERS,
    ONLY_VARIABLES,
    PLACES,
    ROOT,
    TEMPLATES,
    VARIABLE,
    find_root,
    follow,
    generated,
    variables,
    with_variables,
)
from crondor.config.reader import DEFAULTS, VERSION
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, printable
from crondor.knowledge.kinds import FileKind
from crondor.macro.files import FileRefused, Files
from crondor.router import RoutingTable, load_table
from crondor.router import legacy as old_routes
from crondor.transform.loading import as_warnings
from crondor_cli.kit import options as opts
from crondor_cli.kit.command import Command
from crondor_cli.kit.files import check_stdin, file_problem, files_of, read_source
from crondor_cli.kit.options import ConfigFiles
from crondor_cli.kit.screen import show, usage


def files_below(config: ConfigFiles, allow_dirs: Iterable[str]) -> Files:
    """Return the files a configuration may name: in its own folders, allowed ones, and those of HTCondor's packages.

    In a tree it may name all files of the tree, and for this host's own configuration all files of the host.
    """
    if config.tree is not None:
        return Files(["/"], base="/", tree=config.tree)
    if config.is_host:
        return Files(["/"], base="/")
    folders = [os.path.dirname(path) or "." for path in config.paths if path != "-"]
    return Files((*folders, *allow_dirs, *FOLDERS), base=folders[0] if folders else ".", is_named_whole=True)


class ConfigReader:
    """Reads a configuration as it is deployed; ``sources`` are the given files, in order."""

    def __init__(
        self,
        config: ConfigFiles,
        allow_dirs: Iterable[str],
        context: Context | None,
        *,
        subsystem: str = "JOB_ROUTER",
        version: tuple[int, int, int] = VERSION,
    ) -> None:
        """Take the options, and the subsystem and version of the daemon that reads it. Raises UsageError."""
        self._config = config
        self._subsystem, self._version = subsystem, version
        self._folders = tuple(allow_dirs)
        self._context = context
        tree = config.tree
        if tree is not None and not os.path.isdir(tree):
            code = errno.ENOTDIR if os.path.exists(tree) else errno.ENOENT
            raise file_problem("read", tree, OSError(code, os.strerror(code)))
        self._files = files_below(config, self._folders)
        self._environ: Mapping[str, str] = variables(self._files, os.environ) if config.is_entrypoint else os.environ
        self.sources: list[Source] = []

    def read(self, texts: Iterable[tuple[str, Source]] | None = None) -> Configuration:
        """Read all of it; ``texts`` are the given files, if the caller has already read them.

        Raises CrondorError for a file that is not text, UsageError for an unreadable file, and if there is no
        configuration.
        """
        made = read_config(
            {},
            base=self._detected(),
            environ=self._environ,
            context=self._context,
            subsystem=self._subsystem,
            version=self._version,
        )
        for path, source in self.named() if texts is None else texts:
            self.sources.append(source)
            earlier = tuple(made.string(name) for name in _NAMING)
            made = read_config(source, files=self._included(path), base=made)
            if tuple(made.string(name) for name in _NAMING) != earlier:
                files = self._files.based(_folder(path))
                printed = generated(self._files, self._environ) if self._config.is_entrypoint else {}
                is_whole = self._config.tree is not None or self._config.is_host
                made = follow(made, files, named=self._named, printed=printed, is_whole=is_whole)
        made = replace(made, is_followed=True)
        return with_variables(made, self._environ) if self._config.is_host else made

    def named(self) -> Iterator[tuple[str, Source]]:
        """Yield the given files, or else the root file of the tree or of this host; each with its path.

        Raises as ``read`` does.
        """
        for path, found in self.tried():
            if isinstance(found, CrondorError):
                raise found
            yield path, found

    def tried(self) -> Iterator[tuple[str, Source | CrondorError]]:
        """Yield the given files as ``named`` does; for a file that is not text, the error. Raises UsageError."""
        root = None if self._config.paths else self._root()
        check_stdin(*self._config.paths)
        for path in self._config.paths if root is None else (root,):
            yield path, self._file(path)

    def _file(self, path: str) -> Source | CrondorError:
        is_own = self._is_inside(path) or not self._config.paths
        try:
            return self._files.read(path) if is_own else read_source(path, FileKind.CONFIG)
        except FileRefused as error:
            fault = error.diagnostics[0].message.rpartition(": ")[2]
            raise file_problem("read", path, ValueError(fault)) from None
        except CrondorError as error:
            return error

    def _root(self) -> str | None:
        """Return the root file; None: CONDOR_CONFIG declares that there is none. Raises UsageError if it is missing."""
        config = self._config
        if config.is_entrypoint:
            return ROOT
        environ = {} if config.tree is not None else self._environ
        root = find_root(self._files, environ)
        if root is None and config.tree is not None:
            try:
                os.listdir(config.tree)
            except OSError as error:
                raise file_problem("read", config.tree, error) from None
        if root is None and environ.get(VARIABLE, "").upper() != ONLY_VARIABLES:
            beside = f"; {ROOT} exists: add --ce" if self._is_entrypoint_there() else ""
            where = "no configuration: " if config.tree is None else f"{printable(config.tree)} has no configuration: "
            asked = "" if config.tree is not None else f"{VARIABLE} is not set, and "
            message = (
                f"{where}{asked}none of {', '.join(PLACES)} exists; give its files with {config.option} FILE{beside}"
            )
            raise usage(message)
        if root is not None and config.tree is None:
            root = os.path.abspath(root)
        return root

    def _is_entrypoint_there(self) -> bool:
        try:
            self._files.read(ROOT)
        except CrondorError:
            return False
        return True

    def _is_inside(self, path: str) -> bool:
        """Whether a path belongs to the tree: if it is absolute; relative paths belong to the working directory."""
        return self._config.tree is not None and path.startswith("/")

    def _included(self, path: str) -> Files:
        """Return the files that a file may include."""
        if self._config.is_host or self._is_inside(path) or not self._config.paths:
            return self._files.based(_folder(path))
        return files_of(path, self._folders)

    @property
    def _named(self) -> frozenset[str]:
        inside = [path for path in self._config.paths if path != "-"]
        return frozenset(self._files.real(path) if self._is_inside(path) else os.path.realpath(path) for path in inside)

    def _detected(self) -> Mapping[str, str]:
        """Return the defaults; for this host with its names, which are unknown for others."""
        if not self._config.is_host:
            return DEFAULTS
        host = socket.gethostname()
        return {**DEFAULTS, "hostname": host.partition(".")[0], "full_hostname": socket.getfqdn() or host}


_NAMING = ("LOCAL_CONFIG_DIR", "LOCAL_CONFIG_FILE")


def _folder(path: str) -> str:
    return "." if path == "-" else os.path.dirname(path) or "."


class ConfigCommand(Command):
    """A command without arguments; for a file alone, the error shows the option to give it with."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse a command line. Raises UsageError."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if not isinstance(error, click.MissingParameter) and type(error) is not click.UsageError:
                raise
            _, others, _ = self.make_parser(ctx).parse_args(list(given))
            if not others:
                raise
            named = [word for each in others for word in ("--config", each)]
            words = [printable(quote(each)) for each in (*without(given, others), *named)]
            raise click.UsageError(f"give the file with --config: {ctx.command_path} {' '.join(words)}", ctx) from error


_AUTOFORMAT = re.compile(r"--?(?:af|autoformat)(?::(.*))?", re.DOTALL).fullmatch


class OneDashCommand(Command):
    """A command whose long options may be written with one dash; -af[:OPTIONS] takes all words up to the next dash."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(*args, context_settings={"help_option_names": ["--help", "-help", "-h"]}, **kwargs)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments as if they had two dashes."""
        takes_value = {
            name: not option.is_flag and not option.count
            for option in self.get_params(ctx)
            if isinstance(option, click.Option)
            for name in option.opts
        }
        return super().parse_args(ctx, list(two_dashes(args, takes_value)))


def two_dashes(args: Sequence[str], takes_value: Mapping[str, bool]) -> Iterator[str]:
    """Yield arguments with two dashes before long names; the values of those that ``takes_value`` are unchanged."""
    words = list(args)
    while words:
        word = words.pop(0)
        autoformat = _AUTOFORMAT(word) if "--af" in takes_value else None
        if autoformat is not None:
            yield "--af"
            yield autoformat[1] or ""
            while words and not words[0].startswith("-"):
                yield "--attribute"
                yield words.pop(0)
            continue
        if f"-{word.partition('=')[0]}" in takes_value and len(word) > 2:
            word = f"-{word}"
        yield word
        if word == "--":
            yield from words
            return
        if takes_value.get(word) and words:
            yield words.pop(0)


def without(words: Sequence[str], others: Iterable[str]) -> list[str]:
    """Return words in order without ``others``: for each of those, the last equal word is removed."""
    left = list(reversed(words))
    for each in others:
        left.remove(each)
    return list(reversed(left))


config_option = opts.options_of(opts.config_options, opts.include_option)
"""--config FILE, --config-root DIR and --ce, as ``config``; --allow-dir DIR as ``allow_dirs``."""


def load_config(
    config: ConfigFiles | Sequence[str], allow_dirs: Iterable[str] = (), context: Context | None = None
) -> Configuration:
    """Read a configuration as it is deployed: each file, followed by the files that it names, in HTCondor's order.

    Raises CrondorError for a file that is not text, UsageError for an unreadable file and if there is none.
    """
    return ConfigReader(opts.config_of(config), allow_dirs, context).read()


def knobs_of(paths: tuple[str, ...], context: Context, subsystem: str) -> Configuration:
    """Return the knobs of configuration files. Raises UsageError for an unreadable file, and InvalidText."""
    found: Configuration | None = None
    for path in paths:
        folder = str(Path(path).resolve().parent)
        found = read_config(
            read_source(path),
            files=Files([folder], base=folder),
            environ=os.environ,
            base=found,
            templates=TEMPLATES,
            subsystem=subsystem,
            context=context,
        )
    return found or read_config("")


legacy_option = click.option(
    "--legacy", is_flag=True, help="Use routes written as ClassAds too, as HTCondor up to 24 does."
)
"""--legacy, as ``legacy``: see load_route_table()."""


def load_route_table(
    config: ConfigFiles | Sequence[str], allow_dirs: Iterable[str], context: Context, *, legacy: bool
) -> RoutingTable:
    """Make the table of the files; with ``legacy`` it includes the routes of JOB_ROUTER_ENTRIES and related knobs.

    JOB_ROUTER_ENTRIES_FILE is read below the folders of the files and the allowed ones; JOB_ROUTER_ENTRIES_CMD is not
    run. Raises as load_config() does.
    """
    folders, config = tuple(allow_dirs), opts.config_of(config)
    return table_of(load_config(config, folders, context), config, folders, context, legacy=legacy)


def table_of(
    configuration: Configuration, config: ConfigFiles, folders: tuple[str, ...], context: Context, *, legacy: bool
) -> RoutingTable:
    """Make the table of a configuration read from files, as load_route_table() does."""
    if not legacy:
        return load_table(configuration, context=context)
    read = old_routes.read_legacy(configuration, files=files_below(config, folders))
    return old_routes.legacy_table(read, context, faithful=True)


def _completed_routes(ctx: click.Context) -> Iterable[str]:
    """Return the routes of the selected configuration, for completion."""
    table = load_route_table(opts.given_config(ctx), (), Context(), legacy=bool(ctx.params.get("legacy")))
    return [route.name for route in table.routes]


complete_route = opts.completing(_completed_routes)


def show_faults(table: RoutingTable) -> None:
    """Print on stderr why routing is off, why routes are rejected, and which knobs refer to themselves."""
    show(each for each in table.diagnostics if each.severity is Severity.ERROR)
    for rejected in table.rejected:
        for each in rejected.diagnostics:
            if each.severity is Severity.ERROR:
                show([replace(each, message=f"route {rejected.name} is left out: {each.message}")])
    show(as_warnings(table.circles))


def one_for_each_place(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return one finding for each code and place: a fault in the defaults is found for each route."""
    kept: dict[object, Diagnostic] = {}
    for each in found:
        span = each.span
        key = (each.code, each.message) if span is None else (each.code, span.source.name, span.start, span.end)
        kept.setdefault(key, each)
    return list(kept.values())
