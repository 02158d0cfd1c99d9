"""Move a routed job's files: sandbox, proxy and tokens, as the router requests."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeAlias

from crondor.classad import ClassAdSyntaxError, Expression, lower, print_string
from crondor.classad.ad import ClassAd
from crondor.codes import SPOOLING_INPUT
from crondor.config import Configuration, InvalidConfig
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span, has_error
from crondor.job.attributes import JobStatus, exact_integer, string
from crondor.job_queue.records import JobId
from crondor.rights.replacing import as_account
from crondor.rights.trust import Account, Accounts, account_of, is_root
from crondor.router.applying import RoutedAd, SharedProxy
from crondor.router.sandbox.reach import (
    FilesRefused,
    Made,
    Report,
    fault,
    fresh,
    ignored,
    listed,
    refused,
    rewritten,
    text,
    warning,
    worker,
    write_file,
)
from crondor.router.sandbox.transfer import Sandbox
from crondor.schedd.protocol import Clock, NotOffered, Schedd, Selection, edited, released

_MOST_PROXY: Final = 1 << 20
_FILE: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


# HTCondor: RoutedJob::PrepareSharedX509UserProxy.
class Proxies:
    """Makes and deletes the copies of shared proxies.

    ``note`` is a file of the router that lists its copies, so that none outlives a crash. A proxy must belong to this
    process's account, or to a user id in ``owners``: a path in a job's ad must not give the job another user's file.
    """

    def __init__(
        self,
        note: Path | str,
        *,
        owners: Collection[int] = (),
        accounts: Accounts = account_of,
        report: Report = ignored,
    ) -> None:
        """Read the note; nothing else is opened."""
        self._made = Made(note)
        self._owners = frozenset(owners)
        self._accounts = accounts
        self._report = report

    @property
    def files(self) -> tuple[str, ...]:
        """The existing copies."""
        return tuple(noted.path for noted in self._made)

    def prepare(self, proxy: SharedProxy, source: str, owner: str) -> None:
        """Make the copy of a proxy for a source, with mode 0600, and give it to the job's owner.

        If this process is not root, it keeps the file, and that is reported. Raises FilesRefused.
        """
        data = self._read(proxy.file)
        _refuse_others(proxy.copy)
        account = self._accounts(owner)
        if account is None and is_root():
            message = f"this machine has no account {owner!r} to give a copy of {proxy.file} to"
            raise FilesRefused(fault("no-account", message, proxy.file))
        is_anothers = account is not None and account.uid != os.geteuid()
        if is_anothers and not is_root():
            message = f"{proxy.copy} keeps the router's account as owner: only root can give it to {owner}"
            self._report(warning("proxy-owner", message, proxy.copy))
        found = self._made.find(proxy.copy)
        if found is None and os.path.lexists(proxy.copy):
            message = f"{proxy.copy} exists, but crondor did not create it"
            raise FilesRefused(fault("proxy-foreign", message, proxy.copy, "move it away"))
        self._made.add(source, proxy.copy, data)
        try:
            given = (account.uid, account.gid) if account is not None and is_anothers and is_root() else None
            write_file(proxy.copy, data, 0o600, given)
        except OSError as error:
            raise refused(proxy.copy, "cannot write", error) from error

    def remove(self, source: str) -> None:
        """Delete the copies that were made for a source. Raises FilesRefused."""
        for noted in self._made:
            if noted.key == source and not self._made.drop(noted.path):
                message = f"{noted.path} is not the file that the router wrote: it is not deleted"
                self._report(warning("proxy-foreign", message, noted.path))

    def sweep(self, is_needed: Callable[[str], bool]) -> None:
        """Delete copies left by an earlier process, for sources that no longer need them."""
        for source in {noted.key for noted in self._made}:
            if not is_needed(source):
                self.remove(source)

    def _read(self, path: str) -> bytes:
        _refuse_others(path)
        try:
            descriptor = os.open(path, _FILE)
        except (OSError, ValueError) as error:
            raise refused(path, "cannot read the shared proxy", error) from error
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            os.close(descriptor)
            raise FilesRefused(fault("spool-special", f"{path} is not a plain file", path))
        with os.fdopen(descriptor, "rb") as file:
            if state.st_uid != os.geteuid() and state.st_uid not in self._owners:
                message = f"{path} does not belong to the router's account, so it is not shared"
                raise FilesRefused(fault("proxy-denied", message, path, "change its owner to the router's"))
            try:
                data = file.read(_MOST_PROXY + 1)
            except OSError as error:
                raise refused(path, "cannot read the shared proxy", error) from error
        if len(data) > _MOST_PROXY:
            raise FilesRefused(
                fault("proxy-large", f"{path} has more than {_MOST_PROXY:,} bytes, too many for a proxy", path)
            )
        return data


def _refuse_others(path: str) -> None:
    """Raise FilesRefused if root would work in a user's folder, where a link could make any file of root a proxy."""
    try:
        who = worker(path)
    except OSError as error:
        raise refused(path, "cannot look at", error) from error
    if who is not None:
        message = f"{path} is in a folder of {who.name}, where root does not share proxies"
        raise FilesRefused(fault("proxy-denied", message, path, "use a folder where only root may write"))


NAMES: Final = "JOB_ROUTER_CREATE_IDTOKEN_NAMES"
TOKEN: Final = "JOB_ROUTER_CREATE_IDTOKEN_"  # noqa: S105 - the beginning of a knob's name
REFRESH: Final = "JOB_ROUTER_IDTOKEN_REFRESH"
DIRECTORY: Final = "SEC_TOKEN_DIRECTORY"

_TEXTS: Final = ("sub", "kid", "scope", "dir", "filename", "file", "owner", "ntdomain")
_LINE: Final = re.compile(r"[ \t]*([A-Za-z_][A-Za-z0-9_.]*)[ \t]*=(?![=?!])[ \t]*").match
_MOST_TOKENS: Final = 1000


# HTCondor: JobRouter::config.
class TokenSpec(NamedTuple):
    """One token: its contents and its file.

    ``lifetime`` is in seconds; negative: unlimited. ``scopes`` empty: all rights of its subject. ``owner`` is the
    account that gets the file; empty: the router's.
    """

    name: str
    subject: str
    key: str
    lifetime: int
    scopes: tuple[str, ...]
    path: str
    owner: str = ""


@dataclass(frozen=True)
class TokenPlan:
    """The tokens of a configuration, the period of their renewal (seconds; 0: never), and the faults found."""

    tokens: tuple[TokenSpec, ...] = ()
    refresh: int = 0
    diagnostics: tuple[Diagnostic, ...] = ()


def read_tokens(configuration: Configuration) -> TokenPlan:
    """Read the tokens of a configuration; a token with a fault is left out, as in HTCondor, and its faults are errors.

    HTCondor ignores a ``lifetime`` or ``scope`` of the wrong type, and makes a token that is unlimited; here it is a
    fault. The file name is ``filename``, as in HTCondor's source, or ``file``, as in its manual.
    """
    found: list[Diagnostic] = []
    try:
        names = tuple(dict.fromkeys(configuration.names(NAMES)))
        refresh = configuration.integer(REFRESH, 0)
        directory = configuration.string(DIRECTORY) or ""
    except InvalidConfig as error:
        return TokenPlan(diagnostics=error.diagnostics)
    tokens: dict[str, TokenSpec] = {}
    for name in names[:_MOST_TOKENS]:
        if name.upper() == "NAMES":
            continue
        reader = _Reader(configuration, name)
        spec = reader.spec(directory)
        if spec is not None and any(other.path == spec.path for other in tokens.values()):
            reader.fault(f"another token already uses the file {spec.path}", hint="give it a filename of its own")
            spec = None
        if spec is not None:
            tokens[name] = spec
        found += reader.found
    return TokenPlan(tuple(tokens.values()), max(0, refresh), tuple(found))


class _Reader:
    """Reads one knob."""

    def __init__(self, configuration: Configuration, name: str) -> None:
        self.name = name
        self.knob = TOKEN + name
        self.found: list[Diagnostic] = []
        found = configuration.find(self.knob)
        self._place = None if found is None else found.span
        self._lines = () if found is None else found.lines()
        try:
            self._text = configuration.string(self.knob) or ""
        except InvalidConfig as error:
            self.found += error.diagnostics
            self._text = ""
        self._source = Source(self._text, self.knob)
        self._pieces: dict[str, Span] = {}

    def fault(self, message: str, name: str = "", hint: str | None = None, severity: Severity = Severity.ERROR) -> None:
        """Record a fault of an attribute, or of the whole knob."""
        span = self._pieces.get(name, self._place or self._source.span())
        self.found.append(Diagnostic("id-token", f"{self.knob}: {message}", severity, span, hint))

    def spec(self, directory: str) -> TokenSpec | None:
        """Return the token, None if it has a fault."""
        if not self._text.strip():
            if not self.found:
                self.fault("the token is listed but not defined", hint='write sub = "..." and so on')
            return None
        ad = self._ad()
        texts = {name: self._string(ad, name) for name in _TEXTS}
        lifetime = self._lifetime(ad)
        file = texts["filename"] or texts["file"] or self.name
        if "/" in file or file in (".", "..") or "\0" in file:
            self.fault(f"{file!r} is not a file name", "filename" if texts["filename"] else "file", "use dir as well")
        folder = texts["dir"] or directory
        if not folder.startswith("/"):
            what = f"{folder!r} is not a full path" if folder else "the folder is missing"
            self.fault(what, "dir", f"write dir, or set {DIRECTORY}")
        if has_error(self.found):
            return None
        scopes = tuple(texts["scope"].replace(",", " ").split())
        path = f"{folder.rstrip('/')}/{file}"
        return TokenSpec(self.name, texts["sub"] or self.name, texts["kid"], lifetime, scopes, path, texts["owner"])

    def _ad(self) -> ClassAd:
        ad = ClassAd()
        for number, line in enumerate(self._text.split("\n")):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            found = _LINE(line)
            if found is None:
                self._pieces[""] = self._span(number, line, 0, len(line))
                self.fault("this line is not an attribute", "", 'write name = value, as in sub = "alice"')
                continue
            value = line[found.end() :].rstrip(" \t\r")
            piece = self._span(number, line, found.end(), found.end() + len(value))
            self._pieces[lower(found[1])] = piece
            if lower(found[1]) not in (*_TEXTS, "lifetime"):
                self.fault(f"HTCondor ignores {found[1]}", lower(found[1]), severity=Severity.WARNING)
            try:
                ad[found[1]] = Expression.parse(Source(value, self.knob), old=True)
            except ClassAdSyntaxError as error:
                self.found += [
                    replace(each.relocated(piece), message=f"{self.knob}: {each.message}") for each in error.diagnostics
                ]
        return ad

    def _string(self, ad: ClassAd, name: str) -> str:
        value = string(ad, name)
        if value is not None or name not in ad:
            return value or ""
        self.fault(f"{name} is not a string", name, f'write {name} = "..."')
        return ""

    def _lifetime(self, ad: ClassAd) -> int:
        value = exact_integer(ad, "lifetime")  # HTCondor truncates a real, surely not as intended
        if value is not None or "lifetime" not in ad:
            return -1 if value is None else value
        self.fault("lifetime is not an integer", "lifetime", "write it in seconds, without quotes")
        return -1

    def _span(self, number: int, line: str, start: int, end: int) -> Span:
        """Return the span of a part of a line; of the whole line or knob if the file has other text there."""
        if number < len(self._lines):
            written = self._lines[number]
            return written.span(start, end) if written.text == line else written.span()
        return self._source.span() if self._place is None else self._place


_MOST_TOKEN: Final = 64 << 10


# HTCondor: JobRouter::CreateIDTokenFile, JobRouter::refreshIDTokens.
class TokenRequest(NamedTuple):
    """The contents of a token: its name here, its subject, the signing key's id, seconds of life, scopes, the time."""

    name: str
    subject: str
    key: str
    lifetime: int
    scopes: tuple[str, ...]
    now: int


Issuer: TypeAlias = Callable[[TokenRequest], str]
"""Creates and signs a token. If it raises CrondorError, OSError or ValueError, the token is not created."""


class TokenFiles:
    """The token files of a plan.

    ``note`` is a file of the router that lists the files it created: those no longer needed are deleted, also by
    another process; other files never are. A token that cannot be renewed stays until it expires; HTCondor deletes it
    at once. ``report`` gets each failure.
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
        """Take the plan; nothing is created before the first refresh."""
        self._plan = plan
        self._issuer = issuer
        self._made = Made(note)
        self._accounts = accounts
        self._report = report
        self._due: int | None = None
        self._ends: dict[str, int | None] = {}

    @property
    def due(self) -> int | None:
        """When the tokens are renewed next (epoch seconds); None before the first time, and if they are not renewed."""
        return self._due

    def paths(self) -> Mapping[str, str]:
        """Return the existing token files by name: those that a route may send."""
        return {spec.name: spec.path for spec in self._plan.tokens if spec.path in self._ends}

    def reconfigure(self, plan: TokenPlan, now: int) -> None:
        """Use another plan: its tokens are created at once, and those not in it are deleted."""
        self._plan = plan
        self.refresh(now)

    def tick(self, now: int) -> None:
        """Create the tokens at the first call, and renew them every JOB_ROUTER_IDTOKEN_REFRESH seconds."""
        if self._due is None or (self._plan.refresh > 0 and now >= self._due):
            self.refresh(now)

    def refresh(self, now: int) -> None:
        """Create all tokens, and delete those no longer needed; ``now`` is in epoch seconds."""
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
        """Create one token. Raises FilesRefused."""
        account = self._accounts(spec.owner) if spec.owner else None
        if spec.owner and account is None:
            raise FilesRefused(fault("id-token-owner", f"token {spec.name}: there is no account {spec.owner!r}"))
        data = self._issued(spec, now)
        is_anothers = account is not None and account.uid != os.geteuid()
        if account is not None and is_anothers and not is_root():
            message = f"{spec.path} keeps the router's account as owner: only root can give it to {spec.owner}"
            self._report(warning("id-token-owner", message, spec.path))
        try:
            self._put(spec, data, account if is_root() else None)
        except OSError as error:
            raise refused(spec.path, "cannot write", error, account) from error
        self._ends[spec.path] = None if spec.lifetime < 0 else now + spec.lifetime

    def _put(self, spec: TokenSpec, data: bytes, account: Account | None) -> None:
        """Write a token's file, and give it to its owner; in the owner's folder, write it as the owner.

        Raises FilesRefused and OSError.
        """
        who = worker(spec.path)
        if who is not None and (account is None or account.uid != who.uid):
            message = f"{spec.path} is in a folder of {who.name}, but the token is for {spec.owner or 'the router'}"
            raise FilesRefused(fault("id-token-denied", message, spec.path, "use a folder where only root may write"))
        is_there = as_account(who, lambda: os.path.lexists(spec.path))
        if is_there and self._made.find(spec.path) is None:
            message = f"{spec.path} exists, but crondor did not create it"
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
        if not token or len(token) > _MOST_TOKEN or not token.isascii() or not token.isprintable():
            message = f"failed to create token {spec.name}: the issuer did not return a token of one line"
            raise FilesRefused(fault("id-token-issuer", message))
        return f"{token}\n".encode("ascii")

    def _drop(self, path: str) -> None:
        self._ends.pop(path, None)
        try:
            if not self._made.drop(path):
                message = f"{path} is not the file that the router wrote: it is not deleted"
                self._report(warning("id-token-foreign", message, path))
        except FilesRefused as error:
            for each in error.diagnostics:
                self._report(each)


SPOOLED: Final = "Data files spooled"
_WAITS: Final = f"JobStatus =?= {int(JobStatus.HELD)} && HoldReasonCode =?= {SPOOLING_INPUT}"
_SWEEPING: Final = 3600
_NO_TOKENS: Final = TokenPlan()
_NO_FILES: Final[Mapping[str, str]] = {}


class Carried(Protocol):
    """A routed job, as far as file delivery needs it."""

    @property
    def id(self) -> JobId:
        """The id of the source."""

    @property
    def source(self) -> ClassAd | None:
        """The source's ad."""

    @property
    def copy_id(self) -> JobId | None:
        """The id of the copy, once submitted."""

    @property
    def is_sandboxed(self) -> bool:
        """Whether the copy has a sandbox."""


class FileDelivery:
    """Moves the files of copies in a schedd whose queue can be edited directly and whose spool is ours.

    Every step finds its state in the queue and in the files, so that another process can continue: a copy is held
    (HoldReasonCode 16) until its input is spooled; its ad says where from (SUBMIT_...), and its output is fetched,
    again if necessary, before it leaves the queue. ``clock`` returns epoch seconds.
    """

    def __init__(
        self,
        schedd: Schedd,
        sandbox: Sandbox | None,
        *,
        clock: Clock,
        proxies: Proxies | None = None,
        tokens: TokenFiles | None = None,
        report: Report = ignored,
    ) -> None:
        """Take the schedd of the copies and the movers of their files; nothing is done before the first call.

        ``sandbox`` None: sandboxed jobs are refused.
        """
        self._schedd = schedd
        self._sandbox = sandbox
        self._clock = clock
        self._proxies = proxies
        self._tokens = tokens
        self._report = report
        self._sweep_due = 0

    def tick(self, now: int) -> None:
        """Do a poll's work: refresh tokens; at first and hourly, delete leftovers. Raises what the schedd raises."""
        if self._tokens is not None:
            self._tokens.tick(now)
        if now < self._sweep_due:
            return
        try:
            if self._sandbox is not None:
                self._sandbox.spool.sweep(lambda job: self._live(job) is not None)
            if self._proxies is not None:
                self._proxies.sweep(self._needs_proxy)
        except FilesRefused as error:
            for each in error.diagnostics:
                self._report(each)
        self._sweep_due = now + _SWEEPING

    def tokens(self) -> Mapping[str, str]:
        """Return the token files that routes may send, by name."""
        return _NO_FILES if self._tokens is None else self._tokens.paths()

    def prepare(self, job: Carried, routed: RoutedAd, copy: ClassAd) -> ClassAd:
        """Return the copy's ad to submit, and make the copy of its proxy. Raises CrondorError."""
        if not job.is_sandboxed:
            return copy
        sandbox = self._spooling()
        copy = fresh(copy)
        if routed.proxy is not None:
            if self._proxies is None:
                raise FilesRefused(fault("shared-proxy", "this router cannot share a proxy"))
            self._proxies.prepare(routed.proxy, str(job.id), text(copy, "Owner") or "")
        try:
            edits = sandbox.prepared(copy, self._own_files())
        except CrondorError:
            self._forget_proxy(job.id)
            raise
        return edited(copy, edits)

    def spool(self, job: Carried) -> None:
        """Rewrite a copy's ad, spool its input, release it; each step is done once, even if another process repeats it.

        Raises CrondorError.
        """
        if job.copy_id is None:
            return
        found = self._live(job.copy_id)
        if found is None or not _holds(found, _WAITS):
            return
        sandbox = self._spooling()
        edits: dict[str, object] = rewritten(found, str(sandbox.spool.place(job.copy_id)))
        if "StageInStart" not in found:
            edits["StageInStart"] = self._clock()
        if edits and not self._schedd.edit_if(job.copy_id, _WAITS, edits):
            return
        sandbox.spool_in(job.copy_id, edited(found.flat(), edits), self._own_files())
        self._schedd.edit_if(job.copy_id, f"{_WAITS} && StageInFinish =?= undefined", {"StageInFinish": self._clock()})
        found = self._live(job.copy_id)
        if found is not None and _holds(found, _WAITS):  # released as by a schedd: no other client may do it
            self._schedd.edit_if(job.copy_id, _WAITS, released(found, SPOOLED, self._clock()))
        self._forget_proxy(job.id)

    def fetch(self, job: Carried) -> None:
        """Bring a completed copy's output to its source. Raises CrondorError."""
        found = None if job.copy_id is None else self._live(job.copy_id)
        if job.copy_id is None or found is None:
            raise FilesRefused(fault("sandbox-missing", f"the copy of {job.id} left the queue with its output"))
        self._spooling().fetch_back(job.copy_id, found)

    def end(self, job: Carried) -> None:
        """Delete the files made for a finished job; a sandbox of a queued copy stays. Raises what the schedd raises."""
        try:
            self._forget_proxy(job.id)
            if self._sandbox is not None and job.copy_id is not None and self._is_over(job.copy_id):
                self._sandbox.remove(job.copy_id)
        except FilesRefused as error:
            for each in error.diagnostics:
                self._report(each)

    def reload(self, plan: TokenPlan, now: int) -> None:
        """Take the tokens of another configuration, at once."""
        if self._tokens is not None:
            self._tokens.reconfigure(plan, now)

    def _spooling(self) -> Sandbox:
        """Return the sandbox. Raises NotOffered."""
        if self._sandbox is None:
            raise _no_spool()
        if not self._schedd.capabilities.atomic_edits:
            message = "this schedd has its own spool: crondor spools only for an embedded queue"
            raise NotOffered(fault("spool-not-ours", message, help="remove JobShouldBeSandboxed from the route"))
        return self._sandbox

    def _own_files(self) -> tuple[str, ...]:
        """Return the files that copies may use outside the users' folders."""
        return (*(() if self._proxies is None else self._proxies.files), *self.tokens().values())

    def _forget_proxy(self, source: JobId) -> None:
        if self._proxies is not None:
            self._proxies.remove(str(source))

    def _live(self, job: JobId) -> ClassAd | None:
        return next(iter(self._schedd.jobs(Selection(jobs=(job,)))), None)

    def _is_over(self, job: JobId) -> bool:
        found = self._live(job)
        return found is None or _holds(found, _OVER)

    def _needs_proxy(self, source: str) -> bool:
        """Return whether a copy of a source still waits for input."""
        mine = f"RoutedFromJobId =?= {print_string(source)}"
        return bool(self._schedd.jobs(f"{mine} && {_WAITS}"))


class PlannedDelivery:
    """Reports the files that could not be moved, and moves none: for a dry run of a router."""

    def __init__(self, sandbox: Sandbox | None = None, plan: TokenPlan = _NO_TOKENS) -> None:
        self._sandbox = sandbox
        self._paths = {spec.name: spec.path for spec in plan.tokens}

    def tick(self, now: int) -> None:
        """Do nothing."""

    def tokens(self) -> Mapping[str, str]:
        """Return the paths that the tokens would have."""
        return self._paths

    def prepare(self, job: Carried, routed: RoutedAd, copy: ClassAd) -> ClassAd:
        """Return the ad that would be submitted, and check its input except tokens and proxy. Raises CrondorError."""
        if not job.is_sandboxed:
            return copy
        if self._sandbox is None:
            raise _no_spool()
        copy = fresh(copy)
        plain = copy.copy()
        if routed.proxy is not None:
            plain.prune("x509userproxy")
        files = listed(text(plain, "TransferInput"))
        plain.set("TransferInput", ",".join(each for each in files if each not in self._paths.values()))
        edits = self._sandbox.prepared(plain)
        edits.pop("TransferInput", None)
        return edited(copy, edits)

    def spool(self, job: Carried) -> None:
        """Do nothing."""

    def fetch(self, job: Carried) -> None:
        """Do nothing."""

    def end(self, job: Carried) -> None:
        """Do nothing."""


_OVER: Final = (
    f"JobStatus =?= {int(JobStatus.REMOVED)} || (JobStatus =?= {int(JobStatus.COMPLETED)} && !LeaveJobInQueue)"
)


def _no_spool() -> NotOffered:
    return NotOffered(fault("no-spool", "this router has no spool", help="give it one, or route without a sandbox"))


def _holds(ad: ClassAd, condition: str) -> bool:
    return Expression(condition).holds(ad)
