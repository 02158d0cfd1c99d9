"""The worker process of the live adapter: one request at a time, with a time limit, and its errors."""

from __future__ import annotations

import contextlib
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import IO, Any, Final, NamedTuple

from crondor.diagnostics import Diagnostic, printable
from crondor.rights.trust import Account, owner_environment
from crondor.schedd.protocol import Forbidden, Refused, ScheddError, Unreachable

_MOST: Final = 500  # characters of the bindings' output
_SAYS: Final = re.compile(r"\b[A-Z][A-Z_]+:[0-9]+:[^\n]*")  # a CondorError: SUBSYSTEM:code:text|SUBSYSTEM:code:text
_METHOD: Final = re.compile(r"using ([A-Z_]+)").findall
_DENIED: Final = 'Received "DENIED"'
_BINDING: Final = "Directory name doesn't match server's network address"
# Errors of the bindings before anything is committed, or when the schedd does not commit.
_NOTHING: Final = (
    "Failed to create", "Failed to send", "Failed to get parent ad", "Unable to edit job", "invalid Queue statement",
)  # fmt: skip
_COMMIT: Final = re.compile(r"Unable to commit transaction[,:] ?[A-Z]+:[0-9]+:").match
_AWAY: Final = ("locate", "connect", "contact", "communicat", "collector")
INSTALL: Final = "in a clone of crondor: pip install '.[htcondor]' (Linux only)"


def refusal(kind: str, text: str, printed: str = "") -> ScheddError:
    """Return an error for an exception of the bindings: its type and text, and their output meanwhile."""
    if kind == "ImportError":
        message = f"HTCondor's Python bindings are missing: {text}"
        return Unreachable(Diagnostic("schedd-bindings", message, help=INSTALL))
    said = printable(text.strip()[:_MOST]) or kind
    security = _security(text, printed) or _security(printed, printed)
    if security is not None:
        return Forbidden(security)
    if any(word in said.lower() for word in _AWAY):
        hint = "check that it runs and that CONDOR_CONFIG names its pool (condor_status -schedd)"
        return Unreachable(Diagnostic("schedd-unreachable", f"no schedd answers: {said}", help=hint))
    fault = Diagnostic("schedd-refused", f"the request to the schedd failed: {said}", help=_hint(said))
    return Refused(fault) if said.startswith(_NOTHING) or _COMMIT(said) else ScheddError(fault)


def _hint(said: str) -> str | None:
    """Return a possible reason for an edit that finds its jobs and fails: the schedd gives none."""
    if "edit jobs matching constraint" not in said:
        return None
    return "the jobs exist: only their owner or QUEUE_SUPER_USERS may edit them, and not all attributes"


def _security(text: str, printed: str) -> Diagnostic | None:
    """Return the last message of the security layer in a text; None if there is none."""
    found = [line for line in _SAYS.findall(text) if line.startswith(("AUTHENTICATE:", "SECMAN:"))]
    if not found:
        return None
    parts = [part.split(":", 2)[-1].strip() for part in printable(found[-1][:_MOST]).split("|")]
    reason = parts[-1].rstrip(".")
    if _DENIED in reason:
        message = f"the schedd does not allow this user to do that: {reason}"
        hint = "its ALLOW_WRITE (ALLOW_READ for queries) must list the user, and the matching DENY_ must not"
        hint += _SCOPE if _TOKENS in reason else ""
    elif found[-1].startswith("AUTHENTICATE:"):
        methods = dict.fromkeys(method for part in parts for method in _METHOD(part))
        how = f" ({', '.join(methods)})" if methods else ""
        token = _token(printed) if _TOKENS in methods else ""
        message = f"the schedd cannot identify the user: authentication{how} failed: {token or reason}"
        hint = _SEE_TOKENS if token else _WHAT_TO_SET.get(reason, _ANY_METHOD)
    else:
        return None
    return Diagnostic("schedd-forbidden", message, help=hint)


def _token(printed: str) -> str:
    """Return the fault of a token, as far as the bindings print it (D_SECURITY); empty if they do not."""
    printed = printable(printed)
    other = _OTHER_DOMAIN(printed)
    if other is not None:
        return f"the token here is for the trust domain {other[1]}, but the schedd's is {other[2] or 'empty'}"
    key = _OTHER_KEY(printed)
    if key is not None:
        return f"the token here is signed with the key {key[1]}, which the schedd does not have"
    files = dict.fromkeys(_EXAMINED(printed))
    named = ", ".join(files)[:_MOST]
    if _NONE_FOUND in printed:
        return f"no token of {named} can be used: it must be this user's and have mode 0600" if files else _NONE_HERE
    return f"the schedd does not accept the token of {named}: {_TAKES_NONE}" if files else ""


_TOKENS: Final = "IDTOKENS"
_OTHER_DOMAIN: Final = re.compile(r"token as it is from trust domain (\S+) \(server trust domain is ([^)\n]*)\)").search
_OTHER_KEY: Final = re.compile(r"token as it was signed with key (\S+) \(not known").search
_EXAMINED: Final = re.compile(r"Examining (\S+) for valid tokens").findall
_NONE_FOUND: Final = "No token found"
_NONE_HERE: Final = "no token was found here"
_TAKES_NONE: Final = "it is expired, revoked or signed with another key"
_SCOPE: Final = "; a token may be for some levels only (its scope, condor_token_list)"
_SEE_TOKENS: Final = (
    "condor_token_list shows the tokens here, their issuer, key and end (exp); condor_token_fetch makes one, or the"
    " administrator's condor_token_create, for ~/.condor/tokens.d"
)
_ANY_METHOD: Final = (
    "compare the methods of both sides: SEC_CLIENT_AUTHENTICATION_METHODS here, SEC_WRITE_AUTHENTICATION_METHODS and"
    " SEC_DEFAULT_AUTHENTICATION_METHODS there; FS needs a /tmp that both share"
)
_WHAT_TO_SET: Final = {
    _BINDING: "the schedd is older than these bindings, which ask it to prove its address: set"
    " SEC_FS_ENFORCE_CHANNEL_BINDING = false in the HTCondor configuration here (or in the environment:"
    " _CONDOR_SEC_FS_ENFORCE_CHANNEL_BINDING=false), or upgrade the schedd"
}

_PROGRAM: Final = str(Path(__file__).with_name("live_worker.py"))
_READ: Final = 1 << 16
_LONGEST: Final = 1 << 30  # bytes of one answer
_CONFIGURING: Final = ("_CONDOR_", "PYTHONPATH")  # HTCondor's configuration, and the location of the bindings
_SAYS_WHY: Final = {"_CONDOR_TOOL_DEBUG": "D_SECURITY"}  # without it a failing method gives no reason
_UMASK: Final = 0o022
_SAID: Final = 500  # characters of the worker's output


class Answer(NamedTuple):
    """The worker's answer: ads in old syntax (``name = value`` lines), and the rest."""

    ads: list[str]
    done: dict[str, Any]


class Crashed(Unreachable):
    """The worker ended during a request."""


class TimedOut(Unreachable):
    """The worker did not answer in time, and was ended."""


class WorkerProcess:
    """Starts the worker when it is needed, and again if it was lost."""

    def __init__(self, environment: Mapping[str, str] | None = None, account: Account | None = None) -> None:
        """Start nothing yet; ``environment`` has changes to this process's environment.

        ``account``: the user to run as; then only the machine's part of this process's environment is passed. The
        answers of such a worker are as trustworthy as that user.
        """
        self._environment = dict(environment or {})
        self.account = account
        self._process: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] | None = None
        self._rest = b""

    def ask(self, request: Mapping[str, Any], limit: float) -> Answer:
        """Send a request and return the answer; ``limit`` is in seconds.

        Raises TimedOut and Crashed, after which the worker is gone, ScheddError for exceptions of the bindings, and
        Refused if the worker cannot be run as its account.
        """
        process = self._started()
        if self._said is not None:
            self._said.seek(0)
            self._said.truncate()
        stdin = process.stdin
        if stdin is None:
            raise AssertionError("the worker has a standard input")
        deadline = monotonic() + limit
        try:
            stdin.write(json.dumps(dict(request)).encode() + b"\n")
            stdin.flush()
        except OSError:
            pass  # it has ended: its output is read below
        ads: list[str] = []
        while True:
            message = self._message(process, deadline, limit)
            if "ads" in message:
                ads += message["ads"]
            elif "error" in message:
                raise self._refused(str(message["kind"]), str(message["error"]))
            else:
                return Answer(ads, message["done"])

    def interrupt(self) -> None:
        """Kill the worker; a thread that waits for its answer sees it end."""
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End the worker."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    if stream is not None:
                        stream.close()
        if self._said is not None:
            self._said.close()
            self._said = None
        self._rest = b""

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
            try:
                self._process = self._start(self._said)
            except OSError as error:
                raise _not_as(self.account, error) from error
        return self._process

    def _start(self, said: IO[bytes]) -> subprocess.Popen[bytes]:
        account = self.account
        kept = dict(os.environ)
        if account is not None:
            kept = {name: value for name, value in kept.items() if name.startswith(_CONFIGURING)}
            kept |= owner_environment(os.environ, account)
        return subprocess.Popen(  # noqa: S603 - a program of this package, with no user input
            [sys.executable, _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            env={**_SAYS_WHY, **kept, **self._environment},
            user=None if account is None else account.uid,
            group=None if account is None else account.gid,
            extra_groups=None if account is None else sorted({account.gid, *account.groups}),
            umask=-1 if account is None else _UMASK,
            cwd=None if account is None else "/",
        )

    def _message(self, process: subprocess.Popen[bytes], deadline: float, limit: float) -> dict[str, Any]:
        while b"\n" not in self._rest:
            data = self._more(process, deadline, limit)
            if not data or len(self._rest) > _LONGEST:
                status = process.wait() if not data else 0
                said = self._printed()
                self.close()
                raise Crashed(_crash(status, said))
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        message = _read_message(line)
        if message is None:
            self.close()
            raise Crashed(Diagnostic("schedd-crashed", "the process that talks to the schedd gave an invalid answer"))
        return message

    def _more(self, process: subprocess.Popen[bytes], deadline: float, limit: float) -> bytes:
        if process.stdout is None:
            raise AssertionError("the worker has a standard output")
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            if not selector.select(max(0.0, deadline - monotonic())):
                self.close()
                message = f"the schedd has not answered within {limit:g} s"
                hint = "check that it runs (condor_status -schedd), or allow more time"
                raise TimedOut(Diagnostic("schedd-timeout", message, help=hint))
        return os.read(process.stdout.fileno(), _READ)

    def _refused(self, kind: str, text: str) -> ScheddError:
        """Return an error for an exception of the bindings; they reread their configuration if it is about that."""
        error = refusal(kind, text, self._printed())
        if isinstance(error, Forbidden):
            self.close()
        return error

    def _printed(self) -> str:
        if self._said is None:
            return ""
        self._said.seek(0)
        return self._said.read(_READ).decode("utf-8", "replace").strip()


def _read_message(line: bytes) -> dict[str, Any] | None:
    """Return a line of the worker, None if it is invalid; the user who runs it could send anything."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict):
        return None
    ads, done = message.get("ads"), message.get("done")
    is_ads = isinstance(ads, list) and all(isinstance(ad, str) for ad in ads)
    return message if is_ads or isinstance(done, dict) or {"error", "kind"} <= message.keys() else None


def _not_as(account: Account | None, error: OSError) -> ScheddError:
    who = "" if account is None else f" as {account.name}"
    message = f"the process that talks to the schedd cannot be run{who}: {error.strerror}"
    return Refused(Diagnostic("schedd-worker", message, help=f"that user must be able to run {sys.executable}"))


def _crash(status: int, said: str) -> Diagnostic:
    how = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
    message = f"the process that talks to the schedd has ended ({how})"
    return Diagnostic("schedd-crashed", f"{message}: {said[-_SAID:]}" if said else message)
