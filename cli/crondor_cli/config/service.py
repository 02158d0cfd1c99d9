"""`crondor config service`: write the systemd unit of a command that runs for months."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import click

from crondor.diagnostics import Diagnostic, Severity, printable
from crondor_cli.kit.command import Command
from crondor_cli.kit.files import file_problem, write_file
from crondor_cli.kit.options import QueueOptions, output_option, refuse_existing, which_queue
from crondor_cli.kit.screen import say, show, usage
from crondor_cli.kit.settings import home_path

_PLAIN: Final = re.compile(r"[A-Za-z0-9_@+=:,./-]+")
_NAME: Final = re.compile(r"(?!.{241})[A-Za-z0-9_](?:[A-Za-z0-9_.\\:-]*[A-Za-z0-9_.:-])?")
_ACCOUNT: Final = re.compile(r"[^\s:/\\-](?:[^\s:/]*[^\s:/\\])?")
_LONGEST_LINE: Final = 1 << 20  # bytes that systemd reads
_FOR_A_UNIT: Final = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]*")
# None of our services needs these; as root, a router acts as the jobs' owners and needs capabilities for that.
_HARDENING: Final = (
    "NoNewPrivileges=yes", "ProtectSystem=strict", "ProtectHome=read-only", "PrivateDevices=yes", "ProtectClock=yes",
    "ProtectHostname=yes", "ProtectKernelLogs=yes", "ProtectKernelModules=yes", "ProtectKernelTunables=yes",
    "ProtectControlGroups=yes", "RestrictNamespaces=yes", "RestrictRealtime=yes", "RestrictSUIDSGID=yes",
    "LockPersonality=yes", "SystemCallArchitectures=native", "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6",
)  # fmt: skip
_NO_CAPABILITIES: Final = ("CapabilityBoundingSet=", "AmbientCapabilities=")


class Kind(NamedTuple):
    """A command that can be a service: its words and the properties of its unit. ``watchdog`` is in seconds."""

    words: tuple[str, ...]
    description: str
    watchdog: int
    reloads: bool = False
    runs_jobs: bool = False
    only_reads: bool = False


KINDS: Final = {
    "router": Kind(("route", "run"), "crondor's job router", watchdog=600, reloads=True),
    "monitor": Kind(("monitor",), "crondor's monitor of scheduled jobs", watchdog=600, only_reads=True),
    "run": Kind(("run",), "crondor's runner of scheduled jobs", watchdog=300, runs_jobs=True),
}


class Unit(NamedTuple):
    """The contents of a unit; ``account`` None: systemd creates a user for it (DynamicUser)."""

    kind: Kind
    program: Sequence[str]
    arguments: Sequence[str]
    folder: str
    is_system: bool
    account: str | None = None
    token: str | None = None
    writes: Sequence[str] = ()
    is_live: bool = False

    def text(self) -> str:
        """Return the unit's text."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield "# made by crondor config service; put your own edits into a drop-in: systemctl edit"
        yield "[Unit]"
        yield f"Description={self.kind.description}"
        yield f"Documentation=man:crondor-{'-'.join(self.kind.words)}(1)"
        if self.is_system:
            yield "After=network-online.target condor.service"
            yield "Wants=network-online.target"
        yield from ("", "[Service]", "Type=notify", "NotifyAccess=main")
        yield f"ExecStart={' '.join(map(quoted, (*self.program, *self.kind.words, *self.arguments)))}"
        if self.kind.reloads:
            yield "ExecReload=/bin/kill -HUP $MAINPID"
        yield f"WorkingDirectory={_escaped(self.folder)}{'' if is_line_end(self.folder) else '/'}"
        yield from ("Restart=on-failure", "RestartSec=10", f"WatchdogSec={self.kind.watchdog}")
        yield "KillMode=mixed"
        if self.is_system:
            yield "DynamicUser=yes" if self.account is None else f"User={_escaped(self.account)}"
            # Only for this unit: systemd gives the whole folder to the user of whichever unit starts.
            yield from ("StateDirectory=%N", "Environment=XDG_STATE_HOME=%S/%N")
        if self.token is not None:
            # HTCondor accepts a token only in the service's own file, and a credential belongs to root.
            yield f"LoadCredential=crondor:{_escaped(self.token)}"
            yield from ("RuntimeDirectory=%N", "RuntimeDirectoryMode=0700")
            yield "ExecStartPre=/usr/bin/install -m 0600 %d/crondor %t/%N/crondor"
            yield "Environment=_CONDOR_SEC_TOKEN_DIRECTORY=%t/%N"
        yield from self._bounds()
        yield from ("", "[Install]", f"WantedBy={'multi-user' if self.is_system else 'default'}.target")

    def _bounds(self) -> Iterator[str]:
        """Yield the restrictions of the service; for arbitrary jobs there are none."""
        if self.kind.runs_jobs or not self.is_system:
            return
        yield from _HARDENING
        yield f"PrivateTmp={'no' if self.is_live else 'yes'}"  # the schedd identifies users by a folder in /tmp (FS)
        if self.account != "root":
            yield from _NO_CAPABILITIES
        yield from (f"ReadWritePaths={_one_word(_escaped(path))}" for path in self.writes)


def quoted(word: str) -> str:
    """Return a word quoted for an ExecStart line: no specifier, no variable, one argument."""
    return _one_word(_escaped(word).replace("$", "$$"))


def is_line_end(text: str) -> bool:
    """Return whether a line may end with this: a backslash would continue it, blanks would be cut off."""
    return not text.endswith(("\\", " ", "\t"))


def _one_word(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _escaped(text: str) -> str:
    return text.replace("%", "%%")


EXAMPLE = "crondor config service router --show -- --live --config routes.conf"

EPILOG = """\b
Examples:
  crondor config service router --system --run-as condor -- \\
      --live --config /etc/crondor/routes.conf
  crondor config service router --system --token /etc/crondor/token -- \\
      --name ap1.example.org --pool cm.example.org \\
      --config /etc/crondor/routes.conf
  crondor config service monitor --system --run-as condor -- \\
      --live --metrics 9811
  crondor config service run --user -- nightly.sub
  crondor config service router --show -- --live

The arguments after -- are passed to the command, and checked as at its start. Relative paths begin in the current
folder. systemctl is not run: the commands to type are printed.

A --system unit runs as the user of --run-as, or as a user that systemd creates. It can write to its state folder,
/var/lib/ and the name of the unit, and to the folders of --write. --token passes it a token that only the service can
read.

Exit status: 0 written, 1 it cannot be written, 2 wrong usage."""

_WRITING = ("queue", "destination_queue", "user_logs", "spool", "files_dirs")  # options of the commands: folders
_NOT_FOR_MONTHS = {"once": "--once", "dry_run": "--dry-run", "now": "--now", "watch": "--watch", "alerts": "--alerts"}


@click.command("service", cls=Command, example=EXAMPLE, epilog=EPILOG)
@click.argument("kind", type=click.Choice(list(KINDS)))
@click.argument("arguments", nargs=-1, metavar="[-- ARGUMENT...]")
@click.option("--system", "is_system", is_flag=True, help="Install for the whole machine, in /etc/systemd/system.")
@click.option("--user", "is_user", is_flag=True, help="Install for this user, in systemd/user of the settings folder.")
@click.option("--unit", "name", metavar="NAME", help="The unit's name (default: crondor-router and so on).")
@click.option("--run-as", "account", metavar="USER", help="With --system: the user it runs as.")
@click.option("--token", metavar="FILE", help="With --system: an HTCondor token for the service (LoadCredential).")
@click.option("--write", "writes", metavar="DIR", multiple=True, help="With --system: a folder it may write to.")
@click.option("--show", "is_shown", is_flag=True, help="Print the unit, and write nothing.")
@output_option("Write the unit to this folder instead.", "DIR", default=None)
def command(
    kind: str,
    arguments: tuple[str, ...],
    is_system: bool,
    is_user: bool,
    name: str | None,
    account: str | None,
    token: str | None,
    writes: tuple[str, ...],
    is_shown: bool,
    out: str | None,
    force: bool,
) -> None:
    """Write a systemd unit that runs `crondor route run`, `monitor` or `run`, and print how to start it."""
    if is_system and is_user:
        raise usage("choose one of --system and --user")
    if not is_system and not is_user and not is_shown:
        raise usage("choose --system or --user")
    is_system = not is_user
    if not is_system and (account or token or writes):
        raise usage("--run-as, --token and --write need --system")
    given = _checked(KINDS[kind], arguments)
    unit = Unit(
        KINDS[kind],
        _program(),
        arguments,
        os.getcwd(),
        is_system,
        account,
        None if token is None else os.path.abspath(token),
        [os.path.abspath(path) for path in (*writes, *([] if KINDS[kind].only_reads else _written(given)))],
        is_live=any(given.get(option) for option in ("live", "name", "pool")),
    )
    _check(unit)
    if is_shown:
        say(unit.text(), nl=False, fits=False)
        return
    unit_name = (name or f"crondor-{kind}").removesuffix(".service")
    if _NAME.fullmatch(unit_name) is None:
        message = "at most 240 letters, digits and :-_.\\, a letter, digit or _ first, no \\ last"
        raise usage(f"--unit {printable(unit_name)!r} is not the name of a unit: {message}")
    folder = _folder(is_system=is_system) if out is None else Path(out)
    path = folder / f"{unit_name}.service"
    if not force:
        refuse_existing([str(path)])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise file_problem("write", str(path), error) from None
    write_file(str(path), unit.text().encode())
    user = "" if is_system else " --user"
    say(f"wrote {printable(str(path))}")
    say(f"systemctl{user} daemon-reload && systemctl{user} enable --now {shlex.quote(unit_name)}", fits=False)
    say(f"journalctl{user} -fu {shlex.quote(unit_name)}", fits=False)
    if not is_system:
        say("loginctl enable-linger    lets it run while you are not logged in")
    show(_unreadable(unit))


def _checked(kind: Kind, arguments: tuple[str, ...]) -> dict[str, object]:
    """Parse the arguments like the command, and return its parameters. Raises UsageError."""
    found = click.get_current_context().find_root().command
    context = click.Context(found, info_name="crondor")
    for word in kind.words:
        inner = found.get_command(context, word) if isinstance(found, click.Group) else None
        if inner is None:
            raise AssertionError(f"there is a command {word}")
        found, context = inner, click.Context(inner, info_name=word, parent=context)
    typed = found.make_context(kind.words[-1], list(arguments), parent=context.parent)
    for param, option in _NOT_FOR_MONTHS.items():
        if typed.params.get(param):
            raise click.UsageError(f"{option} ends the command: a service would restart it again and again", typed)
    if "queue" in typed.params and not any(map(typed.params.get, (*QueueOptions._fields, "all_schedds"))):
        raise which_queue(typed)  # the service does not get this shell's variables
    return typed.params


def _check(unit: Unit) -> None:
    """Check that the unit can be written. Raises UsageError."""
    texts = (*unit.program, *unit.arguments, unit.folder, unit.account or "", unit.token or "", *unit.writes)
    for text in texts:
        if _FOR_A_UNIT.fullmatch(text) is None:
            raise usage(f"'{printable(text)}' cannot be in a unit: it has a control character, or is not UTF-8")
    if unit.account is not None and _ACCOUNT.fullmatch(unit.account) is None:
        raise usage(f"--run-as '{printable(unit.account)}' is not the name of a user")
    if unit.token is not None and not is_line_end(unit.token):
        raise usage(
            f"--token '{printable(unit.token)}' cannot be in a unit: rename it without the \\ or blank at its end"
        )
    if any(len(line) >= _LONGEST_LINE for line in unit.text().encode().split(b"\n")):
        raise usage("the arguments are too long: systemd reads lines of less than 1 MiB")


def _written(params: dict[str, object]) -> list[str]:
    """Return the folders that the command's own options write to."""
    found: list[str] = []
    for name in _WRITING:
        value = params.get(name)
        found += [value] if isinstance(value, str) else map(str, value) if isinstance(value, (list, tuple)) else []
    return found


def _program() -> list[str]:
    """Return the command line of this crondor, with its full path."""
    script = os.path.abspath(sys.argv[0])
    if os.path.basename(script) == "crondor" and os.access(script, os.X_OK):
        return [script]
    return [sys.executable, "-m", "crondor"]


def _folder(*, is_system: bool) -> Path:
    if is_system:
        return Path("/etc/systemd/system")
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "systemd" / "user"


def _unreadable(unit: Unit) -> list[Diagnostic]:
    """Return a warning if another user would start a program in a home folder."""
    program = home_path(unit.program[0])
    if not unit.is_system or unit.account == "root" or program is None:
        return []
    message = f"{program} is in a home folder, which the service's user cannot read"
    hint = "create an environment below /opt: python3 -m venv /opt/crondor (docs/queue.md)"
    return [Diagnostic("service-home", message, Severity.WARNING, help=hint)]
