"""--pool-config: the configuration of the access point that takes the jobs, for the commands that ask what it does."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from crondor.diagnostics import CrondorError, Diagnostic, Severity
from crondor.preview.jobs import Job, ReadingTerms
from crondor.submit import SubmitFile, SubmitHost
from crondor_cli.kit.jobs import Through
from crondor_cli.kit.options import ConfigFiles, tree_options
from crondor_cli.kit.screen import show
from crondor_cli.kit.settings import ReleaseType

if TYPE_CHECKING:
    from crondor.access_point import AccessPoint
    from crondor.knowledge.releases import Release
    from crondor_cli.kit.options import Clock

HOST: Final = "host"
"""The word for this host's own configuration in the place of a file."""

_OPTION: Final = "--pool-config"
_SCHEDD: Final = "SCHEDD"
_Function = TypeVar("_Function", bound=Callable[..., None])


def pool_config_options(function: _Function) -> _Function:
    """Add --pool-config FILE, --config-root DIR and --ce, all three as ``pool_config``: ConfigFiles, None without."""

    @wraps(function)
    def command(*, pool_config: tuple[str, ...], config_root: str | None, ce: bool, **others: Any) -> None:  # noqa: ANN401 - whatever the command takes
        context = click.get_current_context(silent=True)
        source = None if context is None else context.get_parameter_source("pool_config")
        is_placed = config_root is not None or ce
        paths = () if is_placed and source is not click.core.ParameterSource.COMMANDLINE else pool_config
        function(pool_config=pool_files(paths, config_root, ce=ce) if paths or is_placed else None, **others)

    return click.option(
        _OPTION,
        metavar="FILE",
        multiple=True,
        help=f"The access point's configuration; the word {HOST}: this host's own. Repeatable, later lines win.",
    )(tree_options(command))  # type: ignore[return-value]


def pool_files(paths: Sequence[str], tree: str | None = None, *, ce: bool = False) -> ConfigFiles:
    """Return the configuration of an access point that is named. Raises UsageError for the word host beside files."""
    if HOST in paths and len(paths) > 1:
        message = f"{_OPTION} {HOST} stands alone: it is all files of this host's configuration"
        raise click.UsageError(message, click.get_current_context(silent=True))
    return ConfigFiles(() if HOST in paths else tuple(paths), tree, ce, _OPTION)


def target_option(function: _Function) -> _Function:
    """Add --target RELEASE, as ``target``."""
    return click.option(
        "--target",
        type=ReleaseType(),
        metavar="RELEASE",
        help="The access point's release of HTCondor: 23, 24, 25, or as 25.7 (default: 25).",
    )(function)


def check_target(pool_config: ConfigFiles | None) -> None:
    """Refuse --target where there is no access point to have it. Raises UsageError."""
    context = click.get_current_context(silent=True)
    is_typed = context is not None and context.get_parameter_source("target") is click.core.ParameterSource.COMMANDLINE
    if is_typed and pool_config is None:
        raise click.UsageError("--target goes with --pool-config", context)


def interval_of(given: int, access_point: AccessPoint | None) -> int:
    """Return the SCHEDD_INTERVAL (seconds) that counts: the option where it is typed, else the access point's own."""
    context = click.get_current_context(silent=True)
    source = None if context is None else context.get_parameter_source("schedd_interval")
    if access_point is None or source is click.core.ParameterSource.COMMANDLINE:
        return given
    return access_point.schedd_interval if access_point.configuration.is_set("SCHEDD_INTERVAL") else given


def host_of(access_point: AccessPoint | None, owner: str | None = None) -> SubmitHost:
    """Return the facts of the submit machine, as far as an access point's configuration says them."""
    if access_point is None:
        return SubmitHost()
    import getpass  # noqa: PLC0415 - 0.5 ms of every command that has the option, and few name an access point

    return access_point.host(SubmitHost(user=owner or getpass.getuser(), folder=os.getcwd()))


def read_pool(
    config: ConfigFiles | None,
    allow_dirs: Sequence[str],
    clock: Clock,
    target: Release | None = None,
    *,
    beside: Sequence[str] = (),
) -> AccessPoint:
    """Return the access point that a configuration describes; None: one with HTCondor's defaults.

    ``target`` is its release, the newest where it is None; ``beside`` are the other files that the command reads.
    What its schedd passes over is said on stderr. Raises CrondorError for what no schedd starts with, and for what is
    no text, and UsageError for a file that cannot be read.
    """
    # These take 60 ms, which a command without --pool-config does not need.
    from crondor.access_point import read_access_point  # noqa: PLC0415
    from crondor.classad.scope import Context  # noqa: PLC0415
    from crondor.config import read_config  # noqa: PLC0415
    from crondor.knowledge.releases import NEWEST  # noqa: PLC0415
    from crondor.transform import TransformFacts  # noqa: PLC0415
    from crondor_cli.kit.configs import ConfigReader, check_paths  # noqa: PLC0415

    version = (target or NEWEST).version
    context = Context(now=clock.now, zone=clock.zone)
    if config is None:
        configuration = read_config({}, subsystem=_SCHEDD, context=context, version=version)
    else:
        check_paths((*config.paths, *beside))
        configuration = ConfigReader(config, allow_dirs, context, subsystem=_SCHEDD, version=version).read()
    found = read_access_point(configuration, TransformFacts(environ=os.environ, context=context))
    faults = [each for each in found.diagnostics if each.severity is Severity.ERROR]
    show(each for each in found.diagnostics if each not in faults)
    if faults:
        raise CrondorError(faults)
    return found


def through(access_point: AccessPoint) -> Through:
    """Return how the commands that read schedules take the jobs of files that are submitted to an access point."""
    from crondor.preview.stored import schedules_of  # noqa: PLC0415 - 60 ms, for who has an access point

    def schedules(file: SubmitFile, terms: ReadingTerms) -> tuple[list[Job], list[Diagnostic]]:
        return schedules_of(file, access_point, terms)

    return Through(host_of(access_point), access_point.commands, schedules)
