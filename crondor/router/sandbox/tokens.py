"""Token files that go with routed jobs: made by an issuer that the caller has, refreshed, and deleted again.

HTCondor: JobRouter::CreateIDTokenFile, JobRouter::refreshIDTokens.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from crondor.diagnostics import CrondorError
from crondor.rights.accounts import Account, Accounts, account_of, is_root
from crondor.rights.acting import as_account
from crondor.router.sandbox.faults import FilesRefused, Report, fault, ignored, refused, warning
from crondor.router.sandbox.made import Made, worker
from crondor.router.sandbox.reach import write_file
from crondor.router.sandbox.token_plan import TokenPlan, TokenSpec

_MOST: Final = 64 << 10


class TokenRequest(NamedTuple):
    """What a token is to say: its name here, its subject, the signing key's id, seconds of life, scopes, the time."""

    name: str
    subject: str
    key: str
    lifetime: int
    scopes: tuple[str, ...]
    now: int


Issuer: TypeAlias = Callable[[TokenRequest], str]
"""Makes and signs a token. It may raise CrondorError, OSError or ValueError, and the token is not made."""


class TokenFiles:
    """The token files of a plan.

    ``note`` is a file of the router's own, which says what files it has made: one that is no longer asked for is
    deleted, by another process too, and no other ever is. A token that cannot be made anew is kept until its time is
    over; HTCondor deletes it at once. ``report`` is told what could not be done.
    """

    def __init__(
        self,
        plan: TokenPlan,
        issuer: Issuer,
        note: Path | str,
        *,
        accounts: Accounts = account_of,
        report: Report = ignored,
    ) -> None:
        """Take the plan; nothing is made before the first refresh."""
        self._plan = plan
        self._issuer = issuer
        self._made = Made(note)
        self._accounts = accounts
        self._report = report
        self._due: int | None = None
        self._ends: dict[str, int | None] = {}

    @property
    def due(self) -> int | None:
        """When the tokens are to be made anew (epoch seconds); None before the first time, and where they stay."""
        return self._due

    def paths(self) -> Mapping[str, str]:
        """Return the files of the tokens that there are, by name: those that a route may send."""
        return {spec.name: spec.path for spec in self._plan.tokens if spec.path in self._ends}

    def reconfigure(self, plan: TokenPlan, now: int) -> None:
        """Take another plan: its tokens are made at once, and those that it does not have are deleted."""
        self._plan = plan
        self.refresh(now)

    def tick(self, now: int) -> None:
        """Make the tokens at the first call, and anew when JOB_ROUTER_IDTOKEN_REFRESH seconds have passed."""
        if self._due is None or (self._plan.refresh > 0 and now >= self._due):
            self.refresh(now)

    def refresh(self, now: int) -> None:
        """Make all tokens, and delete those that are no longer asked for; ``now`` is in epoch seconds."""
        self._due = now + self._plan.refresh
        wanted = {spec.path for spec in self._plan.tokens}
        for spec in self._plan.tokens:
            self._try(spec, now)
        for noted in self._made:
            if noted.path not in wanted:
                self._drop(noted.path)

    def _try(self, spec: TokenSpec, now: int) -> None:
        try:
            self._make(spec, now)
        except FilesRefused as error:
            for each in error.diagnostics:
                self._report(each)
            end = self._ends.get(spec.path, now)
            if end is not None and end <= now:
                self._ends.pop(spec.path, None)

    def _make(self, spec: TokenSpec, now: int) -> None:
        """Make one token. Raises FilesRefused."""
        account = self._accounts(spec.owner) if spec.owner else None
        if spec.owner and account is None:
            raise FilesRefused(fault("id-token-owner", f"token {spec.name}: there is no account {spec.owner!r}"))
        data = self._issued(spec, now)
        is_anothers = account is not None and account.uid != os.geteuid()
        if account is not None and is_anothers and not is_root():
            message = f"{spec.path} stays with the router's account: only root can give it to {spec.owner}"
            self._report(warning("id-token-owner", message, spec.path))
        try:
            self._put(spec, data, account if is_root() else None)
        except OSError as error:
            raise refused(spec.path, "cannot write", error, account) from error
        self._ends[spec.path] = None if spec.lifetime < 0 else now + spec.lifetime

    def _put(self, spec: TokenSpec, data: bytes, account: Account | None) -> None:
        """Write a token's file, and give it to its owner; in a folder of his own it is he who writes it.

        Raises FilesRefused and OSError.
        """
        who = worker(spec.path)
        if who is not None and (account is None or account.uid != who.uid):
            message = f"{spec.path} lies in a folder of {who.name}'s, and the token is for {spec.owner or 'the router'}"
            raise FilesRefused(fault("id-token-denied", message, spec.path, "keep it where only root may write"))
        is_there = as_account(who, lambda: os.path.lexists(spec.path))
        if is_there and self._made.find(spec.path) is None:
            message = f"{spec.path} is there, and crondor has not made it"
            raise FilesRefused(fault("id-token-foreign", message, spec.path, "move it away, or use another filename"))
        self._made.add(spec.name, spec.path, data)
        owner = None if account is None or who is not None else (account.uid, account.gid)
        as_account(who, lambda: write_file(spec.path, data, 0o600, owner))

    def _issued(self, spec: TokenSpec, now: int) -> bytes:
        """Ask the issuer. Raises FilesRefused."""
        request = TokenRequest(spec.name, spec.subject, spec.key, spec.lifetime, spec.scopes, now)
        try:
            token = self._issuer(request)
        except CrondorError as error:
            said = "; ".join(each.message for each in error.diagnostics)
            raise FilesRefused(fault("id-token-issuer", f"failed to create token {spec.name}: {said}")) from error
        except (OSError, ValueError) as error:
            raise FilesRefused(fault("id-token-issuer", f"failed to create token {spec.name}: {error}")) from error
        token = token.strip()
        if not token or len(token) > _MOST or not token.isascii() or not token.isprintable():
            message = f"failed to create token {spec.name}: what the issuer gave is no token of one line"
            raise FilesRefused(fault("id-token-issuer", message))
        return f"{token}\n".encode("ascii")

    def _drop(self, path: str) -> None:
        self._ends.pop(path, None)
        try:
            if not self._made.drop(path):
                message = f"{path} is not what the router has put there, and stays"
                self._report(warning("id-token-foreign", message, path))
        except FilesRefused as error:
            for each in error.diagnostics:
                self._report(each)
