"""The text of a unit: systemd.unit(5), systemd.service(5) and systemd.exec(5), as of systemd 252."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

_PLAIN: Final = re.compile(r"[A-Za-z0-9_@+=:,./-]+")
_NAME: Final = re.compile(r"(?!.{241})[A-Za-z0-9_](?:[A-Za-z0-9_.\\:-]*[A-Za-z0-9_.:-])?")
_ACCOUNT: Final = re.compile(r"[^\s:/\\-](?:[^\s:/]*[^\s:/\\])?")
_LONGEST_LINE: Final = 1 << 20  # bytes that systemd reads
_FOR_A_UNIT: Final = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]*")
# What none of our services does: as root a router acts as the jobs' owners and needs its capabilities for that.
_HARDENING: Final = (
    "NoNewPrivileges=yes", "ProtectSystem=strict", "ProtectHome=read-only", "PrivateDevices=yes", "ProtectClock=yes",
    "ProtectHostname=yes", "ProtectKernelLogs=yes", "ProtectKernelModules=yes", "ProtectKernelTunables=yes",
    "ProtectControlGroups=yes", "RestrictNamespaces=yes", "RestrictRealtime=yes", "RestrictSUIDSGID=yes",
    "LockPersonality=yes", "SystemCallArchitectures=native", "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6",
)  # fmt: skip
_NO_CAPABILITIES: Final = ("CapabilityBoundingSet=", "AmbientCapabilities=")


class Kind(NamedTuple):
    """A command that can be a service: what is typed, and how its unit is. ``watchdog`` is in seconds."""

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
    """What a unit is made of; ``account`` None: a user of its own, made by systemd while it runs (DynamicUser)."""

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
        yield "# made by crondor config service; edits of your own belong into a drop-in: systemctl edit"
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
            yield from self._as_whom()
        if self.token is not None:
            # HTCondor takes no token that is not the service's own file, and a credential is root's.
            yield f"LoadCredential=crondor:{_escaped(self.token)}"
            yield from ("RuntimeDirectory=%N", "RuntimeDirectoryMode=0700")
            yield "ExecStartPre=/usr/bin/install -m 0600 %d/crondor %t/%N/crondor"
            yield "Environment=_CONDOR_SEC_TOKEN_DIRECTORY=%t/%N"
        yield from self._bounds()
        yield from ("", "[Install]", f"WantedBy={'multi-user' if self.is_system else 'default'}.target")

    def _as_whom(self) -> Iterator[str]:
        yield "DynamicUser=yes" if self.account is None else f"User={_escaped(self.account)}"
        # Of the unit alone: systemd gives the whole of it to the user of whichever unit starts.
        yield from ("StateDirectory=%N", "Environment=XDG_STATE_HOME=%S/%N")

    def _bounds(self) -> Iterator[str]:
        """Yield what the service cannot do: nothing of that for jobs, which are whatever they are."""
        if self.kind.runs_jobs or not self.is_system:
            return
        yield from _HARDENING
        yield f"PrivateTmp={'no' if self.is_live else 'yes'}"  # the schedd knows by a folder in /tmp who asks (FS)
        if self.account != "root":
            yield from _NO_CAPABILITIES
        yield from (f"ReadWritePaths={_one_word(_escaped(path))}" for path in self.writes)


def quoted(word: str) -> str:
    """Return a word as an ExecStart line takes it: no specifier, no variable, one argument."""
    return _one_word(_escaped(word).replace("$", "$$"))


def is_unit_name(name: str) -> bool:
    """Say whether systemd takes this for the name of a service, and it is no path."""
    return _NAME.fullmatch(name) is not None


def is_account(name: str) -> bool:
    """Say whether this can be the name of a user in a unit."""
    return _ACCOUNT.fullmatch(name) is not None


def is_line_end(text: str) -> bool:
    """Say whether a line may end with this: a backslash would go on with the next line, blanks would be cut off."""
    return not text.endswith(("\\", " ", "\t"))


def is_too_long(text: str) -> bool:
    """Say whether the text of a unit has a line that is longer than systemd reads."""
    return any(len(line) >= _LONGEST_LINE for line in text.encode().split(b"\n"))


def can_be_said(text: str) -> bool:
    """Say whether a text can stand in a unit: it is UTF-8, and no character of it ends its line."""
    return _FOR_A_UNIT.fullmatch(text) is not None


def _one_word(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _escaped(text: str) -> str:
    return text.replace("%", "%%")
