"""Which configuration of HTCondor a command reads: its files, a tree that they stand in, or this host's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Final, NamedTuple, TypeVar

import click

CONFIG_HELP: Final = "A configuration file and those it names, - for standard input; later lines win."
_F = TypeVar("_F", bound=Callable[..., None])


class ConfigFiles(NamedTuple):
    """What the command line says: the files, the tree that absolute paths are of, and whether HTCondor-CE's rules hold.

    Without files it is the configuration of the tree, or of this host. ``option`` is the one that names files.
    """

    paths: tuple[str, ...] = ()
    tree: str | None = None
    is_entrypoint: bool = False
    option: str = "--config"

    @property
    def is_host(self) -> bool:
        """Whether it is this host's own: no file and no tree is named."""
        return not self.paths and self.tree is None


def config_options(function: _F) -> _F:
    """Add --config FILE, --config-root DIR and --ce to a command, all three as ``config``, a ConfigFiles."""

    @wraps(function)
    def command(*, config: tuple[str, ...], config_root: str | None, ce: bool, **others: Any) -> None:  # noqa: ANN401 - whatever the command takes
        function(config=ConfigFiles(config, config_root, ce), **others)

    return click.option("--config", metavar="FILE", multiple=True, help=CONFIG_HELP)(tree_options(command))  # type: ignore[return-value]


def tree_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add --config-root DIR and --ce to a command, as ``config_root`` and ``ce``: where its configuration stands."""
    for add in (
        click.option("--ce", is_flag=True, help="As the programs of HTCondor-CE: /etc/condor-ce, and what it sets."),
        click.option("--config-root", metavar="DIR", help="Read the configuration of a tree as if it were /."),
    ):
        function = add(function)
    return function


def config_of(config: ConfigFiles | Sequence[str]) -> ConfigFiles:
    """Return a configuration that may be given by the paths of its files alone."""
    return config if isinstance(config, ConfigFiles) else ConfigFiles(tuple(config))


def given_config(context: click.Context) -> ConfigFiles:
    """Return what a half-typed command line says, for completion."""
    params = context.params
    return ConfigFiles(tuple(params.get("config") or ()), params.get("config_root"), bool(params.get("ce")))
