"""What `crondor route run` is told about files: the spool, the folders of users, who makes tokens."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import click

from crondor.config import Configuration
from crondor.diagnostics import Diagnostic
from crondor.hooks.runner import HookCall, HookLimits, HookRunner
from crondor.router.sandbox import (
    FileDelivery,
    PlannedDelivery,
    Proxies,
    Sandbox,
    Spool,
    TokenFiles,
    TokenPlan,
    TokenRequest,
    read_tokens,
)
from crondor.schedd.protocol import Clock, Schedd
from crondor_cli.kit.screen import show, usage

_SECONDS = 30.0  # for one token
_F = TypeVar("_F", bound=Callable[..., object])


def file_options(command: _F) -> _F:
    """Add the options."""
    for option in (
        click.option(
            "--token-issuer",
            metavar="PROGRAM",
            help="Make tokens with this program: a request as JSON on its input, the token on its output.",
        ),
        click.option(
            "--files-dir",
            "files_dirs",
            metavar="DIR",
            multiple=True,
            help="Move sandboxed jobs' files at or below this folder only (repeatable; goes with --spool).",
        ),
        click.option(
            "--spool", metavar="DIR", help="Spool sandboxed jobs' files in this folder, which is the router's."
        ),
    ):
        command = option(command)
    return command


@dataclass(frozen=True)
class FileOptions:
    """The options, and how the configuration is read."""

    spool: str | None
    files_dirs: tuple[str, ...]
    token_issuer: str | None
    load: Callable[[], Configuration]

    def check(self, *, is_live: bool) -> None:
        """Raise UsageError for options that do not go together."""
        if self.spool is not None and is_live:
            raise usage("--spool goes with --queue: a live schedd has a spool of its own")
        if (self.spool is None) != (not self.files_dirs):
            raise usage("--spool and --files-dir go together")
        if self.token_issuer is not None and not Path(self.token_issuer).is_absolute():
            raise usage("--token-issuer needs the full path of a program")

    def planned(self) -> PlannedDelivery | None:
        """Return what only says what would be moved; None where nothing would be."""
        if self.spool is None and self.token_issuer is None:
            return None
        return PlannedDelivery(self._sandbox(), TokenPlan() if self.token_issuer is None else self.plan())

    def delivery(self, schedd: Schedd, lock: Path, clock: Clock) -> FileDelivery | None:
        """Return what moves files; None where nothing is to. What it must note stands beside the router's lock."""
        if self.spool is None and self.token_issuer is None:
            return None
        tokens = None
        if self.token_issuer is not None:
            issuer = _Program(self.token_issuer)
            tokens = TokenFiles(self.plan(), issuer, lock.with_name(f"{lock.name}.tokens"), report=_report)
        proxies = Proxies(lock.with_name(f"{lock.name}.proxies"), report=_report)
        return FileDelivery(schedd, self._sandbox(), clock=clock, proxies=proxies, tokens=tokens, report=_report)

    def reload(self, delivery: FileDelivery | None, now: int) -> None:
        """Read anew which tokens are asked for."""
        if delivery is not None:
            delivery.reload(self.plan(), now)

    def plan(self) -> TokenPlan:
        """Read which tokens are asked for, and say what is wrong with them."""
        found = read_tokens(self.load())
        show(found.diagnostics)
        return found

    def _sandbox(self) -> Sandbox | None:
        if self.spool is None:
            return None
        return Sandbox(Spool(self.spool), self.files_dirs, report=_report)


class _Program:
    """An issuer that is a program; no shell is in between."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __call__(self, request: TokenRequest) -> str:
        text = json.dumps(
            {
                "name": request.name,
                "sub": request.subject,
                "kid": request.key,
                "lifetime": request.lifetime,
                "scope": list(request.scopes),
                "now": request.now,
            }
        )
        limits = HookLimits(seconds=_SECONDS, output=64 << 10)
        call = HookCall(self._path, stdin=text, environ=dict(os.environ), limits=limits, name=self._path)
        run = HookRunner().run(call)
        if not run.succeeded:
            message = f"{self._path} {run.reason}: {run.stderr.strip()[:500]}" if run.stderr else run.reason
            raise ValueError(message)
        return run.stdout


def _report(found: Diagnostic) -> None:
    show([found])
