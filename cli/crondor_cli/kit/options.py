"""The options shared by several commands, and their values."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stderr, suppress
from datetime import tzinfo
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar
from zoneinfo import available_timezones

import click
from click.core import ParameterSource

from crondor.diagnostics import CrondorError, printable
from crondor.knowledge.releases import NEWEST, OLDEST, Release
from crondor.spec import FIELDS, Dialect
from crondor.zones import Policy
from crondor_cli.kit.files import find
from crondor_cli.kit.screen import show_error, usage
from crondor_cli.kit.times import find_zone, local_zone
from crondor_cli.kit.typed_times import parse_time

if TYPE_CHECKING:
    from crondor.access_point import AccessPoint
    from crondor.macro.files import Files


MOST_JOBS: Final = 64
"""The limit of processes that share work."""

HOST: Final = "host"
"""The word for this host's own configuration instead of a file."""

_OPTION: Final = "--pool-config"


def is_typed(name: str) -> bool:
    """Return whether an option of the running command is on its command line, not a setting or default."""
    context = click.get_current_context(silent=True)
    return context is not None and context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def check_target(pool_config: ConfigFiles | None) -> None:
    """Raise UsageError for --target without an access point."""
    if pool_config is None and is_typed("target"):
        raise usage("--target needs --pool-config")


def interval_of(given: int, access_point: AccessPoint | None) -> int:
    """Return the SCHEDD_INTERVAL (seconds): the option if given, else the access point's own."""
    if access_point is None or is_typed("schedd_interval"):
        return given
    return access_point.schedd_interval if access_point.configuration.is_set("SCHEDD_INTERVAL") else given


if TYPE_CHECKING:
    _ParamType = click.ParamType[Release]
else:
    _ParamType = click.ParamType  # click 8.1, which Debian trixie has, knows it without a parameter only


_SERIES: Final = ("23", "24", "25")


class ReleaseType(_ParamType):
    """Converts a release of HTCondor that the tables cover to a Release."""

    name = "release"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[click.shell_completion.CompletionItem]:
        """Return the series."""
        del ctx, param
        return [click.shell_completion.CompletionItem(each) for each in _SERIES if each.startswith(incomplete)]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Release:  # noqa: ANN401 - click's word for what it was given
        """Return the release of a text."""
        if isinstance(value, Release):
            return value
        try:
            release = Release.parse(str(value))
        except ValueError:
            self.fail(f"'{value}' is not a release of HTCondor: write 24, or 24.3", param, ctx)
        newest = release.major == NEWEST.major and release.is_series
        if release < OLDEST or (release > NEWEST and not newest):
            self.fail(f"crondor knows the releases from {OLDEST} to {NEWEST}, not {value}", param, ctx)
        return release


Completer = Callable[[click.Context, click.Parameter, str], list[str]]


# Completion runs no program, writes nothing, asks no schedd, and reads no large file.
def completing(candidates: Callable[[click.Context], Iterable[str]]) -> Completer:
    """Return a completer that offers the candidates that start with the typed text."""

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        with suppress(Exception), redirect_stderr(None):  # warnings about settings
            return sorted(text for text in candidates(ctx) if text.startswith(incomplete))
        return []

    return complete


def completing_list(candidates: Callable[[click.Context], Iterable[str]]) -> Completer:
    """Return a completer for the last part of a list with commas."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{text}" for text in completing(candidates)(ctx, param, last)]

    return complete


complete_zone = completing(lambda _: available_timezones())

_Function = TypeVar("_Function", bound=Callable[..., None])


def options_of(*options: Callable[[Any], Any]) -> Callable[[_Function], _Function]:
    """Return a decorator that adds some options, in the order of the help."""

    def add(function: _Function) -> _Function:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def gathered(
    name: str, make: Callable[..., object], *options: Callable[[Any], Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that passes options as one argument: the result of ``make`` for them, by their names."""
    names = signature(make).parameters.keys()

    def add(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def command(*args: object, **values: object) -> None:
            own = {each: values.pop(each) for each in names & values.keys()}
            values[name] = make(**own)
            function(*args, **values)

        for option in reversed(options):
            command = option(command)
        return command

    return add


class Clock(NamedTuple):
    """The time that the command takes for now (epoch seconds), and the zone for showing and reading times."""

    now: int
    zone_name: str
    zone: tzinfo
    is_given: bool = False  # the zone was given with --tz
    is_fixed: bool = False  # the time was given with --now

    def after(self, begin: str | None) -> int:
        """Return the time after which times count: now, or the second before --from, which is included."""
        return self.now if begin is None else max(0, self.read(begin, "--from") - 1)

    def last(self, until: str | None, nothing: str, begin: str | None = None) -> int | None:
        """Return the last time included by --until, None without it.

        ``nothing`` names the results that an --until before the start excludes, for the usage error.
        """
        end = None if until is None else self.read(until, "--until")
        if end is not None and end <= self.after(begin):
            said = "not later than now" if begin is None else "earlier than --from"
            raise usage(f"--until is {said}: {nothing} can lie between them")
        return end

    def read(self, text: str | None, option: str) -> int:
        """Return a typed time as epoch seconds, ``now`` for None; an invalid time is a usage error."""
        if text is None:
            return self.now

        try:
            return parse_time(text, self.now, self.zone, label=option)
        except CrondorError as error:
            raise UsageProblem(error) from None


class Surroundings(NamedTuple):
    """What submit files may use besides their own text: folders, a seed, variables for $ENV() (None: unknown).

    ``files`` are the files that one of them may read, if not those of this machine.
    """

    allow_dirs: tuple[str, ...] = ()
    seed: int | None = None
    environ: Mapping[str, str] | None = None
    files: Files | None = None

    def here(self) -> Surroundings:
        """Return a copy with the variables of this process, overridden by its own."""
        return self._replace(environ={**os.environ, **(self.environ or {})})


class UsageProblem(click.ClickException):
    """An invalid value on the command line, with the diagnostics to show."""

    exit_code = 2

    def __init__(self, error: CrondorError) -> None:
        super().__init__(str(error))
        self.error = error

    def show(self, file: object = None) -> None:  # noqa: ARG002 - click's signature
        """Write the diagnostics to stderr."""
        show_error(self.error)


def clock_of(now: str | None, tz: str | None) -> Clock:
    """Return the clock for --now and --tz; an invalid value is a usage error."""
    try:
        name, zone = (tz, find_zone(tz)) if tz is not None else local_zone(os.environ)
    except CrondorError as error:
        raise UsageProblem(error) from None
    clock = Clock(int(time.time()), name, zone)
    return Clock(clock.read(now, "--now"), name, zone, is_given=tz is not None, is_fixed=now is not None)


def submit_files(text: str = "A submit file, like FILES.") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add FILES and --spec FILE, as one argument ``paths``: all submit files, including those in folders."""
    return gathered(
        "paths",
        lambda files, specs: find((*specs, *files)),
        click.argument("files", nargs=-1, metavar="[FILES]..."),
        click.option("--spec", "specs", multiple=True, metavar="FILE", help=text),
    )


crontab_option = click.option("--crontab", metavar="LINE", help='A crontab line, such as "30 2 * * *".')
"""--crontab LINE, as ``crontab``."""


def _fields(
    minute: str | None, hour: str | None, day_of_month: str | None, month: str | None, day_of_week: str | None
) -> dict[str, str | None]:
    return {"minute": minute, "hour": hour, "day_of_month": day_of_month, "month": month, "day_of_week": day_of_week}


field_options = options_of(
    crontab_option,
    gathered(
        "fields",
        _fields,
        *(
            click.option(
                f"--{field.name.replace('_', '-')}",
                field.name,
                metavar="FIELD",
                help=f"{field.command} without a file: {field.low}-{field.high}.",
            )
            for field in FIELDS
        ),
    ),
)
"""A crontab line as ``crontab``, and single fields by name as ``fields``."""

schedule_options = options_of(submit_files(), field_options)
"""The ways to give schedules: submit files (as ``paths``), a crontab line, or single fields."""

ads_option = click.option(
    "--ads", metavar="FILE", multiple=True, help="Jobs in a queue, as condor_q -long, -json or -xml prints them."
)
"""--ads FILE, as ``ads``: the jobs of a queue."""


file_options = gathered(
    "surroundings",
    lambda allow_dirs, seed, variables: Surroundings(allow_dirs, seed, _environ(variables)),
    click.option("--allow-dir", "allow_dirs", multiple=True, metavar="DIR", help="A folder to read files from."),
    click.option(
        "--seed", type=int, metavar="N", help="Evaluate $RANDOM_CHOICE() and $RANDOM_INTEGER() with this seed."
    ),
    click.option("--env", "variables", multiple=True, metavar="NAME=VALUE", help="A variable for $ENV()."),
)
"""--allow-dir, --seed and --env, as one argument ``surroundings``."""


def _environ(variables: tuple[str, ...]) -> Mapping[str, str] | None:
    """Return the variables of --env, None without one; a name alone takes the value in this process."""
    found: dict[str, str] = {}
    for each in variables:
        name, sign, value = each.partition("=")
        if not sign:
            value = os.environ.get(name, "")
        if not name or (not sign and name not in os.environ):
            raise usage(f"--env {printable(each)}: write NAME=VALUE, or the name of a variable that is set here")
        found[name] = value
    return found or None


_NOW_OPTIONS = (
    click.option("--now", metavar="TIME", help="Use this time as now (default: the clock)."),
    click.option(
        "--tz", metavar="ZONE", shell_complete=complete_zone, help="The submit host's time zone (default: this host's)."
    ),
)
now_options = options_of(*_NOW_OPTIONS)
"""--now and --tz, as ``now`` and ``tz``."""

clock_options = gathered("clock", clock_of, *_NOW_OPTIONS)
"""--now and --tz, as one argument ``clock``."""


def from_option(text: str, name: str = "from_", default: str = "after now") -> Callable[[_Function], _Function]:
    """Add --from, as ``name``: ``text`` says what starts at that time, inclusive."""
    return click.option(
        "--from", name, metavar="TIME", help=f"{text} from this time on, inclusive (default: {default})."
    )


def until_option(text: str, default: str = "") -> Callable[[_Function], _Function]:
    """Add --until: ``text`` says what ends at that time, inclusive."""
    more = f" (default: {default})" if default else ""
    return click.option("--until", metavar="TIME", help=f"{text} until this time, inclusive{more}.")


def format_option(*formats: str, text: str = "How to print.") -> Callable[[_Function], _Function]:
    """Add --format, as ``format_``: one of the formats, by default the first."""
    kinds = click.Choice(formats)
    return click.option("--format", "format_", type=kinds, default=formats[0], show_default=True, help=text)


def output_option(
    text: str, metavar: str = "FILE", default: str | None = "-"
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add -o, as ``out``: where the output goes, ``-`` for standard output; and --force.

    An existing file is refused without --force; for a folder (``metavar`` DIR) the command gets ``force`` and checks.
    """

    def made(out: str | None, force: bool) -> str | None:
        if out not in {None, "-"} and not force:
            refuse_existing([str(out)])
        return out

    options = (
        click.option(
            "-o", "--output", "out", metavar=metavar, default=default, show_default=default is not None, help=text
        ),
        click.option("--force", is_flag=True, help="Overwrite existing files."),
    )
    return options_of(*options) if metavar == "DIR" else gathered("out", made, *options)


def refuse_existing(paths: Iterable[str]) -> None:
    """Raise UsageError if an output file exists; devices and pipes do not count."""
    taken = [path for path in paths if _is_taken(path)]
    if taken:
        exist = f"and {len(taken) - 1} more exist" if len(taken) > 1 else "exists"
        raise usage(f"'{printable(taken[0])}' {exist}: nothing was written; --force overwrites")


def _is_taken(path: str) -> bool:
    return "\0" not in path and (os.path.isfile(path) or (os.path.lexists(path) and not os.path.exists(path)))


interval_option = click.option(
    "--schedd-interval",
    type=click.IntRange(0, 86400),
    default=300,
    show_default=True,
    metavar="SECONDS",
    help="The schedd's SCHEDD_INTERVAL.",
)
"""--schedd-interval (seconds), as ``schedd_interval``."""


def asked_interval(seconds: int) -> int | None:
    """Return --schedd-interval if given on the command line, None if it is the default or a setting."""
    source = click.get_current_context().get_parameter_source("schedd_interval")
    return seconds if source in {ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT} else None


include_option = click.option(
    "--allow-dir", "allow_dirs", multiple=True, metavar="DIR", help="A folder to include files from."
)
"""--allow-dir for files that include others, as ``allow_dirs``."""


def _choice(name: str, values: Iterable[Dialect | Policy], text: str) -> Callable[[_Function], _Function]:
    """Return an option that takes one of some values by name."""
    named = {each.value: each for each in values}

    def read(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Dialect | Policy | None:
        return None if value is None else named[value]

    kinds = click.Choice(list(named), case_sensitive=False)
    return click.option(name, type=kinds, callback=read, help=text)


def reading_options(*, htcondor: bool) -> Callable[[_Function], _Function]:
    """Add --dialect and --policy; ``htcondor`` says whether the schedd's dialect is offered."""
    dialects = Dialect if htcondor else (Dialect.MANUAL, Dialect.UNIX)
    dialect = _choice("--dialect", dialects, "Read the fields in this way only.")
    return options_of(dialect, policy_option(" (default: compatible; unix: debian)"))


def policy_option(more: str = " (default: compatible)") -> Callable[[_Function], _Function]:
    """Add --policy; ``more`` ends its help."""
    return _choice("--policy", Policy, f"How to treat runs in hours that a clock change skips or repeats{more}.")


CONFIG_HELP: Final = "A configuration file (- is standard input); later lines win."


class ConfigFiles(NamedTuple):
    """The configuration options: the files, the tree for absolute paths, and whether HTCondor-CE's rules apply.

    Without files it is the configuration of the tree, or of this host. ``option`` is the option for files.
    """

    paths: tuple[str, ...] = ()
    tree: str | None = None
    is_entrypoint: bool = False
    option: str = "--config"

    @property
    def is_host(self) -> bool:
        """Whether it is this host's own: no file or tree is given."""
        return not self.paths and self.tree is None


_TREE = (
    click.option("--config-root", metavar="DIR", help="Read the configuration below DIR as if DIR were /."),
    click.option("--ce", is_flag=True, help="Read the configuration as HTCondor-CE does, from /etc/condor-ce."),
)


def _config(config: tuple[str, ...], config_root: str | None, ce: bool) -> ConfigFiles:
    return ConfigFiles(config, config_root, ce)


config_options = gathered(
    "config", _config, click.option("--config", metavar="FILE", multiple=True, help=CONFIG_HELP), *_TREE
)
"""--config FILE, --config-root DIR and --ce, all three as ``config``, a ConfigFiles."""


def _pool_config(pool_config: tuple[str, ...], config_root: str | None, ce: bool) -> ConfigFiles | None:
    is_placed = config_root is not None or ce
    paths = () if is_placed and not is_typed("pool_config") else pool_config
    return pool_files(paths, config_root, ce=ce) if paths or is_placed else None


pool_config_options = gathered(
    "pool_config",
    _pool_config,
    click.option(
        _OPTION,
        metavar="FILE",
        multiple=True,
        help=f"The access point's configuration; {HOST}: the configuration of this host. Repeatable, later lines win.",
    ),
    *_TREE,
)
"""--pool-config FILE, --config-root DIR and --ce, all three as ``pool_config``: ConfigFiles, None without them."""


def pool_files(paths: Sequence[str], tree: str | None = None, *, ce: bool = False) -> ConfigFiles:
    """Return the configuration of an access point. Raises UsageError for the word host with other files."""
    if HOST in paths and len(paths) > 1:
        raise usage(f"{_OPTION} {HOST} excludes other files: it is this host's whole configuration")
    return ConfigFiles(() if HOST in paths else tuple(paths), tree, ce, _OPTION)


target_option = click.option(
    "--target",
    type=ReleaseType(),
    metavar="RELEASE",
    help="The access point's release of HTCondor: 23, 24, 25 or 25.7 (default: 25).",
)
"""--target RELEASE, as ``target``."""


def config_of(config: ConfigFiles | Sequence[str]) -> ConfigFiles:
    """Return a configuration that may be given just by the paths of its files."""
    return config if isinstance(config, ConfigFiles) else ConfigFiles(tuple(config))


def given_config(context: click.Context) -> ConfigFiles:
    """Return the configuration on a partly typed command line, for completion."""
    params = context.params
    return ConfigFiles(tuple(params.get("config") or ()), params.get("config_root"), bool(params.get("ce")))


VARIABLE = "CRONDOR_QUEUE"
_WAYS = (
    ("live", "--live", "the schedd that runs here"),
    ("log", "--log FILE", "a schedd's job_queue.log"),
    ("ads", "--ads FILE", "what condor_q -long prints"),
    ("queue", "--queue PATH", f"an embedded queue, also set by {VARIABLE}"),
)


class QueueOptions(NamedTuple):
    """The options that select a queue."""

    queue: str | None = None
    log: str | None = None
    live: bool = False
    name: str | None = None
    pool: str | None = None
    ads: str | None = None
    address_file: str | None = None  # from the configuration, for a live schedd without a name

    @property
    def kind(self) -> str:
        """``queue``, ``log``, ``live`` or ``ads``. Raises UsageError for none and for more than one."""
        given = {"log": self.log, "live": self.is_live, "ads": self.ads, "queue": self.queue}
        chosen = [kind for kind, value in given.items() if value]
        if len(chosen) > 1:
            named = " and ".join(f"--{kind}" for kind in chosen)
            raise usage(f"{named} exclude each other: choose one")
        if not chosen and not os.environ.get(VARIABLE):
            raise which_queue(click.get_current_context(silent=True))
        return chosen[0] if chosen else "queue"

    @property
    def is_live(self) -> bool:
        """Return whether a live schedd is selected."""
        return bool(self.live or self.name or self.pool)

    @property
    def folder(self) -> Path:
        """The folder of the embedded queue."""
        return folder_of(self.queue)

    @property
    def dialect(self) -> Dialect:
        """How its Cron attributes are read: in the embedded queue like the manual, in a schedd's like the schedd."""
        return Dialect.MANUAL if self.kind == "queue" else Dialect.HTCONDOR


def folder_of(queue: str | None) -> Path:
    """Return the folder of the embedded queue. Raises UsageError without the option and the variable."""
    given = queue or os.environ.get(VARIABLE)
    if not given:
        raise which_queue(click.get_current_context(silent=True))
    return Path(given)


def which_queue(context: click.Context | None) -> click.UsageError:
    """Return the error for a command without a queue, with the options that select one."""
    known = {param.name for param in context.command.params} if context is not None else set()
    ways = [f"{option} ({what})" for name, option, what in _WAYS if name in known] or ["--queue PATH"]
    said = f"{', '.join(ways[:-1])} or {ways[-1]}" if len(ways) > 1 else ways[0]
    return click.UsageError(f"give the queue: {said}", context)


_QUEUE = click.option("--queue", metavar="PATH", help=f"The embedded queue's folder (default: {VARIABLE}).")
_LOG = click.option("--log", metavar="FILE", help="A schedd's job_queue.log, read only.")
_ADS = click.option("--ads", metavar="FILE", help="Ads as condor_q prints them; - reads standard input.")
_LIVE = (
    click.option("--live", is_flag=True, help="The schedd of this host (needs the htcondor package)."),
    click.option("--name", metavar="NAME", help="With --live: the schedd of this name."),
    click.option("--pool", metavar="HOST", help="With --live: the collector of another pool."),
)


_NAMES = click.option(
    "--name", "names", metavar="NAME", multiple=True, help="With --live: the schedd of this name; repeatable."
)


def _several(
    queue: str | None, live: bool, names: tuple[str, ...], pool: str | None, log: str | None = None,
    ads: str | None = None,
) -> tuple[QueueOptions, ...]:  # fmt: skip
    one = QueueOptions(queue, log, live, None, pool, ads)
    return tuple(one._replace(name=name) for name in dict.fromkeys(names)) or (one,)


def _without_ads(queue: str | None, log: str | None, live: bool, name: str | None, pool: str | None) -> QueueOptions:
    return QueueOptions(queue, log, live, name, pool)


source_options = gathered("asked", QueueOptions, _QUEUE, _LOG, *_LIVE, _ADS)
"""All ways to select a queue for reading, as one argument ``asked``."""

queue_options = gathered("asked", _without_ads, _QUEUE, _LOG, *_LIVE)
"""The ways to select a queue for reading except --ads, as one argument ``asked``."""

schedd_options = gathered("asked", QueueOptions, _QUEUE, *_LIVE)
"""The ways to select a queue for writing, as one argument ``asked``."""

several_schedds = gathered("queues", _several, _QUEUE, _LIVE[0], _NAMES, _LIVE[2])
"""The ways to select queues for writing, as one argument ``queues``: several live schedds are several queues."""

several_sources = gathered("queues", _several, _QUEUE, _LIVE[0], _NAMES, _LIVE[2], _LOG, _ADS)
"""All ways to select queues for reading, as one argument ``queues``."""

live_options = gathered("asked", QueueOptions, *_LIVE)
"""The ways to select a live schedd, as one argument ``asked``."""

constraint_option = click.option("--constraint", metavar="EXPR", help="Only jobs for which this expression is true.")
"""--constraint."""
