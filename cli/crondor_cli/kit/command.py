"""Commands and groups of commands: help, usage errors, settings as defaults."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import IO, Any, Final, TypeVar

import click

from crondor.diagnostics import similar
from crondor_cli.kit.files import may_be_set
from crondor_cli.kit.progress import PROGRESS
from crondor_cli.kit.screen import COLORS, SCREEN, clean_line, not_installed, usage

_MEANT: Final = {
    "--start": "--from",
    "--since": "--from",
    "--begin": "--from",
    "--end": "--until",
    "--to": "--until",
    "--timezone": "--tz",
    "--time-zone": "--tz",
    "--interval": "--schedd-interval",
    "--number": "--count",
    "--json": "--format",
    "--output-format": "--format",
    "--out": "--output",
    "--overwrite": "--force",
}
"""Other programs' words for options that have another name here."""

RENAMED: Final = {
    "prev": "next --previous",
    "at": "next --at",
    "advertise": "queue advertise",
    "transform": "classad transform",
    "doctor": "config doctor",
    "schema": "config schema",
    "service": "config service",
    "service install": "config service",
    "schedd": "queue",
    "schedd next": "next --queue",
    "queue next": "next --queue",
    "route match": "route explain",
}
"""Commands of earlier versions, with their new names."""


_Function = TypeVar("_Function", bound=Callable[..., Any])


class CommandMissing(click.UsageError):
    """A group was called without a command: the error is its help, on stderr."""

    def __init__(self, ctx: click.Context) -> None:
        super().__init__(ctx.get_help(), ctx)

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the help only."""
        (file or sys.stderr).write(f"{self.message}\n")


def no_such_option(error: click.NoSuchOption, command: click.Command, ctx: click.Context) -> click.UsageError:
    """Return the error for an unknown option, with the option of that meaning or a similar name."""
    known = [name for param in command.get_params(ctx) for name in param.opts if name.startswith("--")]
    meant = _MEANT.get(error.option_name)
    bare = {name.lstrip("-"): name for name in known}
    near = [bare[name] for name in similar(error.option_name.lstrip("-"), bare)]
    likely = meant if meant in known else next(iter(near), None)
    hint = f" Did you mean '{likely}'?" if likely else ""
    return click.UsageError(f"No such option '{error.option_name}'.{hint}", ctx)


def missing(error: click.MissingParameter, ctx: click.Context) -> click.UsageError:
    """Return the error for a missing parameter, with its choices on one line."""
    kind = None if error.param is None else error.param.type
    if not (isinstance(error.param, click.Option) and isinstance(kind, click.Choice)):
        return error
    *others, last = map(str, kind.choices)
    return click.UsageError(f"Missing option '{error.param.opts[0]}': {', '.join(others)} or {last}", ctx)


def with_default(
    option: str, default: object, text: str, kind: object = None, *, metavar: str | None = None, name: str | None = None
) -> Callable[[_Function], _Function]:
    """Add an option whose help shows its default; ``name`` is that of the parameter if it has another."""
    names = (option,) if name is None else (option, name)
    return click.option(*names, type=kind, default=default, show_default=True, metavar=metavar, help=text)


def need_processes(name: str) -> None:
    """Raise UsageError on Windows for a command that forks, or acts as other users."""
    if not hasattr(os, "fork"):
        raise usage(f"crondor {name} needs a system with Linux-like processes")


def need_package(name: str, package: str) -> None:
    """Raise UsageError for a command whose package, in the extra of the command's name, is not installed."""
    if find_spec(package) is None:
        raise not_installed(f"crondor {name}", package, name)


def installed_version(package: str = "crondor") -> str | None:
    """Return the version of a package, None if it is not installed, such as crondor run from a checkout."""
    from importlib import metadata  # noqa: PLC0415 - 23 ms, and rarely asked for

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


INTERRUPTED = 130
"""The exit status of a command ended with Ctrl-C, as in shells."""


class Command(click.Command):
    """A command with an example, which its help shows below the summary.

    A slow command shows its progress on a terminal, unless it ``is_endless``: it runs until it is stopped.
    """

    def __init__(self, *args: Any, example: str = "", is_endless: bool = False, **kwargs: Any) -> None:  # noqa: ANN401 - click's
        """Store the example, one or more lines; the rest is click's."""
        super().__init__(*args, **kwargs)
        self.example = example
        self.is_endless = is_endless

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options; for an unknown option suggest one of that meaning or a similar name."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise no_such_option(error, self, ctx) from None
        except click.MissingParameter as error:
            raise missing(error, ctx) from None

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's
        """Run the command with a progress display; Ctrl-C ends it with 130 and a clean line."""
        PROGRESS.start(is_wanted=not (self.is_endless or ctx.params.get("quiet")))
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            PROGRESS.stop()
            clean_line()
            raise click.exceptions.Exit(INTERRUPTED) from None
        finally:
            PROGRESS.stop()

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Write the summary, the example, and the rest."""
        first, _, rest = inspect.cleandoc(self.help or "").partition("\n\n")
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(first)
        if self.example:
            with formatter.section("Example"):
                formatter.write(
                    "".join(f"{'':{formatter.current_indent}}{line}\n" for line in self.example.splitlines())
                )
        if rest:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(rest)


_COLOR = "color"
_NO_CONFIG = "no_config"
HELP = frozenset({"-h", "-help", "--help"})


def prepare(ctx: click.Context, name: str, command: click.Command, args: Sequence[str]) -> None:
    """Give a command of a group the shared options, and settings as defaults.

    With --help among ``args`` there are no settings: invalid settings must not prevent the help.
    """
    if all(param.name != _COLOR for param in command.params):
        command.params += shared_options(hidden=True)
    is_wanted = not (ctx.resilient_parsing or is_without_config(ctx) or HELP.intersection(args))
    ctx.default_map = {name: Defaults(command, is_wanted=is_wanted)}


def is_without_config(ctx: click.Context) -> bool:
    """Return whether --no-config was given."""
    return bool(ctx.meta.get(_NO_CONFIG))


def shared_options(*, hidden: bool = False) -> list[click.Parameter]:
    """Return --color and --no-config, which may be before or after a command; its help does not repeat them."""
    color = click.Option(
        [f"--{_COLOR}"],
        type=click.Choice(COLORS),
        is_eager=True,
        expose_value=False,
        hidden=hidden,
        callback=_choose_screen,
        help="When to colour (default: auto, on a terminal).",
    )
    no_config = click.Option(
        ["--no-config"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        hidden=hidden,
        callback=_forget,
        help="Ignore all settings (see crondor config).",
    )
    return [color, no_config]


def _choose_screen(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    """Store the choice nearest to the command, and the configured width."""
    if ctx.parent is None:
        SCREEN.color, SCREEN.width = value or "auto", None
        ctx.meta[_COLOR] = value
    elif ctx.get_parameter_source(_COLOR) is click.core.ParameterSource.COMMANDLINE or not ctx.meta.get(_COLOR):
        SCREEN.color = value or "auto"
    width = ctx.lookup_default("width")
    if width is not None:
        SCREEN.width = int(width)


def _forget(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        ctx.default_map = None
        ctx.meta[_NO_CONFIG] = True


class Defaults(Mapping[str, Any]):
    """The settings by the names of a command's parameters, loaded on first use."""

    def __init__(self, command: click.Command, *, is_wanted: bool) -> None:
        """Take the command; completion reads no file."""
        self._command = command
        self._values: dict[str, Any] | None = None if is_wanted else {}

    def _found(self) -> dict[str, Any]:
        if self._values is None:
            self._values = {}  # loaded once, even if that fails
            if may_be_set():
                from crondor_cli.kit.settings import values_for  # noqa: PLC0415 - only with settings

                self._values = values_for(self._command)
        return self._values

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - of any type
        return self._found()[key]

    def __contains__(self, key: object) -> bool:
        """Return whether a parameter is set; --no-config cannot be."""
        return key != _NO_CONFIG and key in self._found()

    def __iter__(self) -> Iterator[str]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())


class LazyGroup(click.Group):
    """Loads a subcommand on demand, and suggests corrections.

    ``modules`` maps a name to one line of help and its module: ``module`` for its ``command``, or ``module:name``;
    ``unlisted`` has further ones.
    ``default`` is the command used if none is given.
    """

    def __init__(
        self,
        *args: Any,  # noqa: ANN401 - click's
        modules: Mapping[str, tuple[str, str]],
        unlisted: Mapping[str, tuple[str, str]] | None = None,
        default: str | None = None,
        **kwargs: Any,  # noqa: ANN401 - click's
    ) -> None:
        """Store the tables; the rest is click's."""
        super().__init__(*args, **kwargs)
        self._modules = modules
        self._all = {**modules, **(unlisted or {})}
        self._default = default

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order of the table."""
        return list(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - the same
        """Import and return a command, None if it is not in the table."""
        if cmd_name not in self._all:
            return None
        place, line = self._all[cmd_name]
        module, _, name = place.partition(":")
        command = getattr(import_module(module), name or "command")
        if not isinstance(command, click.Command):
            raise TypeError(cmd_name)
        command.short_help = line
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Show the help without arguments; suggest an option for an unknown one."""
        if self._default is not None and not HELP.intersection(args[:1]) and (not args or args[0].startswith("-")):
            args = [self._default, *args]
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            raise CommandMissing(ctx)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise no_such_option(error, self, ctx) from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Raise a usage error with the most similar name for an unknown command."""
        if args and not args[0].startswith("-") and args[0] not in self._all:
            self._refuse_renamed(ctx, args)
            close = similar(args[0], self._modules)
            hint = f" Did you mean {close[0]}?" if close else f" There are {', '.join(self._modules)}."
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and command is not None and not isinstance(command, click.Group):
            prepare(ctx, name, command, rest)
        return name, command, rest

    @staticmethod
    def _refuse_renamed(ctx: click.Context, args: list[str]) -> None:
        """Raise UsageError for a command's name in an earlier version."""
        group = ctx.command_path.split()[1:]
        for size in (2, 1):
            words = " ".join([*group, *args[:size]])
            if words in RENAMED:
                ctx.fail(f"No such command {' '.join(args[:size])!r}. It is now crondor {RENAMED[words]}.")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - the same
        """List the commands from the table, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._modules.items()])
