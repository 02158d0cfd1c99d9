"""The settings there are: each has a name, the options it stands for, and what it takes."""

from __future__ import annotations

from typing import Any, NamedTuple

import click

from crondor.spec import Dialect
from crondor.zones import Policy
from crondor_cli.common.release import ReleaseType
from crondor_cli.common.screen import COLORS

WIDTHS = click.IntRange(40, 1000)
MOST_JOBS = 64
MAX_INTERVAL = 86400  # seconds
HINTS = ("next-run", "macros", "all", "none")


class Setting(NamedTuple):
    """A setting: its key in a file; ``table`` is the command it is for, empty for all commands that have ``option``.

    ``takes`` converts a value, ``many`` says that it is a list, ``is_flag`` that it is true or false. The default is
    ``default`` in words, where the option has none.
    """

    key: str
    meaning: str
    takes: click.ParamType[Any]
    table: str = ""
    many: bool = False
    is_flag: bool = False
    default: str = ""

    @property
    def keys(self) -> tuple[str, ...]:
        """The table and the key."""
        return (self.table, self.key) if self.table else (self.key,)

    @property
    def name(self) -> str:
        """The key with its table: ``simulate.slots``."""
        return ".".join(self.keys)

    @property
    def variable(self) -> str:
        """The environment variable: ``CRONDOR_SIMULATE_SLOTS``."""
        return "CRONDOR_" + "_".join(self.keys).upper().replace("-", "_")

    @property
    def option(self) -> str:
        """The option of the command line."""
        return f"--{self.key}"


SETTINGS = (
    Setting("tz", "the submit host's time zone", click.STRING, default="this host's"),
    Setting(
        "schedd-interval", "the schedd's SCHEDD_INTERVAL, in seconds", click.IntRange(0, MAX_INTERVAL), default="300"
    ),
    Setting(
        "dialect", "how crontab fields are read", click.Choice([d.value for d in Dialect]), default="the command's own"
    ),
    Setting(
        "policy",
        "runs in hours that clocks skip or repeat",
        click.Choice([p.value for p in Policy]),
        default="compatible",
    ),
    Setting("jobs", "processes that share much work", click.IntRange(1, MOST_JOBS), default="the processors"),
    Setting("color", "when output is coloured", click.Choice(COLORS), default="auto"),
    Setting("width", "columns of lines on a terminal", WIDTHS, default="the terminal's"),
    Setting("pool-config", "the access point's configuration, or host", click.STRING, many=True),
    Setting("allow-dir", "folders that files may be read from", click.STRING, many=True),
    Setting("select", "rules whose codes begin so", click.STRING, "check", many=True),
    Setting("ignore", "no rules whose codes begin so", click.STRING, "check", many=True),
    Setting("strict", "whether notes count for the exit status", click.BOOL, "check", is_flag=True, default="false"),
    Setting("baseline", "a file of findings that are known and stay quiet", click.STRING, "check"),
    Setting(
        "no-files",
        "whether named files are not looked for",
        click.BOOL,
        "check",
        is_flag=True,
        default="false",
    ),
    Setting("target", "the release of HTCondor that files are submitted to", ReleaseType(), "check", default="newest"),
    Setting("hints", "what stands in grey behind a line", click.Choice(HINTS), "lsp", default="next-run"),
    Setting("slots", "jobs that run at once", click.IntRange(1, 1_000_000), "simulate", default="1"),
    Setting("machine", "machines, as cpus=N,memory=SIZE", click.STRING, "simulate", many=True),
    Setting("run-time", "how long a program runs", click.STRING, "simulate", default="60"),
    Setting("match-delay", "how long the negotiator takes", click.STRING, "simulate", default="0-60"),
    Setting("transfer", "how long files travel", click.STRING, "simulate", default="1"),
    Setting("exit-code", "how programs end", click.STRING, "simulate", default="0"),
    Setting("preempt", "when the pool takes a machine back", click.STRING, "simulate", default="never"),
    Setting("fail", "updates that fail", click.STRING, "simulate", many=True),
    Setting("knob", "knobs of the daemons, as NAME=VALUE", click.STRING, "simulate", many=True),
    Setting(
        "skew",
        "seconds that the execute machine's clock is ahead",
        click.IntRange(-86_400, 86_400),
        "simulate",
        default="0",
    ),
)
PATHS = frozenset(("allow-dir", "baseline", "pool-config"))
"""The keys of settings that name files and folders."""

BY_KEYS = {setting.keys: setting for setting in SETTINGS}
TABLES = {setting.table for setting in SETTINGS if setting.table}
