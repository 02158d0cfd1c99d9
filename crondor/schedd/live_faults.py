"""What the bindings raised, as errors of ours: with the reason, which they often only print."""

from __future__ import annotations

import re
from typing import Final

from crondor.diagnostics import Diagnostic, printable
from crondor.schedd.protocol import Forbidden, Refused, ScheddError, Unreachable

_MOST: Final = 500  # characters of what the bindings say
_SAYS: Final = re.compile(r"\b[A-Z][A-Z_]+:[0-9]+:[^\n]*")  # a CondorError: SUBSYSTEM:code:text|SUBSYSTEM:code:text
_METHOD: Final = re.compile(r"using ([A-Z_]+)").findall
_DENIED: Final = 'Received "DENIED"'
_BINDING: Final = "Directory name doesn't match server's network address"
# What the bindings say before anything is committed, or where the schedd says that it does not commit.
_NOTHING: Final = (
    "Failed to create", "Failed to send", "Failed to get parent ad", "Unable to edit job", "invalid Queue statement",
)  # fmt: skip
_COMMIT: Final = re.compile(r"Unable to commit transaction[,:] ?[A-Z]+:[0-9]+:").match
_AWAY: Final = ("locate", "connect", "contact", "communicat", "collector")
INSTALL: Final = "in a clone of crondor: pip install '.[htcondor]' (Linux only)"


def refusal(kind: str, text: str, printed: str = "") -> ScheddError:
    """Return the error for an exception of the bindings: its type and text, and what they printed meanwhile."""
    if kind == "ImportError":
        message = f"HTCondor's Python bindings are not there: {text}"
        return Unreachable(Diagnostic("schedd-bindings", message, help=INSTALL))
    said = printable(text.strip()[:_MOST]) or kind
    security = _security(text, printed) or _security(printed, printed)
    if security is not None:
        return Forbidden(security)
    if any(word in said.lower() for word in _AWAY):
        hint = "see that it runs and that CONDOR_CONFIG names its pool (condor_status -schedd)"
        return Unreachable(Diagnostic("schedd-unreachable", f"no schedd answers: {said}", help=hint))
    fault = Diagnostic("schedd-refused", f"the schedd did not do it: {said}", help=_hint(said))
    return Refused(fault) if said.startswith(_NOTHING) or _COMMIT(said) else ScheddError(fault)


def _hint(said: str) -> str | None:
    """Return what may be behind an edit that finds its jobs and fails: the schedd gives no reason for it."""
    if "edit jobs matching constraint" not in said:
        return None
    return "the jobs are there: whoever edits must be their owner or one of QUEUE_SUPER_USERS, and the attribute free"


def _security(text: str, printed: str) -> Diagnostic | None:
    """Return what the security layer says in a text, the last of it; None where it says nothing."""
    found = [line for line in _SAYS.findall(text) if line.startswith(("AUTHENTICATE:", "SECMAN:"))]
    if not found:
        return None
    parts = [part.split(":", 2)[-1].strip() for part in printable(found[-1][:_MOST]).split("|")]
    reason = parts[-1].rstrip(".")
    if _DENIED in reason:
        message = f"the schedd lets this user not do that: {reason}"
        hint = "its ALLOW_WRITE must have the user (ALLOW_READ for a question), and no DENY_ of these"
        hint += _SCOPE if _TOKENS in reason else ""
    elif found[-1].startswith("AUTHENTICATE:"):
        methods = dict.fromkeys(method for part in parts for method in _METHOD(part))
        how = f" ({', '.join(methods)})" if methods else ""
        token = _token(printed) if _TOKENS in methods else ""
        message = f"the schedd cannot tell who asks: authentication{how} failed: {token or reason}"
        hint = _SEE_TOKENS if token else _WHAT_TO_SET.get(reason, _ANY_METHOD)
    else:
        return None
    return Diagnostic("schedd-forbidden", message, help=hint)


def _token(printed: str) -> str:
    """Return what was wrong with a token, as far as the bindings print it (D_SECURITY); empty where they do not."""
    printed = printable(printed)
    other = _OTHER_DOMAIN(printed)
    if other is not None:
        return f"the token here is of the trust domain {other[1]}, and the schedd's is {other[2] or 'empty'}"
    key = _OTHER_KEY(printed)
    if key is not None:
        return f"the token here is signed with the key {key[1]}, which the schedd does not have"
    files = dict.fromkeys(_EXAMINED(printed))
    named = ", ".join(files)[:_MOST]
    if _NONE_FOUND in printed:
        return f"no token of {named} can be used: it must be this user's, of mode 0600" if files else _NONE_HERE
    return f"the schedd does not take the token of {named}: {_TAKES_NONE}" if files else ""


_TOKENS: Final = "IDTOKENS"
_OTHER_DOMAIN: Final = re.compile(r"token as it is from trust domain (\S+) \(server trust domain is ([^)\n]*)\)").search
_OTHER_KEY: Final = re.compile(r"token as it was signed with key (\S+) \(not known").search
_EXAMINED: Final = re.compile(r"Examining (\S+) for valid tokens").findall
_NONE_FOUND: Final = "No token found"
_NONE_HERE: Final = "there is no token here"
_TAKES_NONE: Final = "it has ended, was revoked, or is signed with another key"
_SCOPE: Final = "; a token may be for some levels only (its scope, condor_token_list)"
_SEE_TOKENS: Final = (
    "condor_token_list shows the tokens here, their issuer, key and end (exp); condor_token_fetch makes one, or the"
    " administrator's condor_token_create, for ~/.condor/tokens.d"
)
_ANY_METHOD: Final = (
    "see which methods both sides have: SEC_CLIENT_AUTHENTICATION_METHODS here, SEC_WRITE_AUTHENTICATION_METHODS and"
    " SEC_DEFAULT_AUTHENTICATION_METHODS there; FS needs a /tmp that both share"
)
_WHAT_TO_SET: Final = {
    _BINDING: "the schedd is older than these bindings, which ask it to prove its address: set"
    " SEC_FS_ENFORCE_CHANNEL_BINDING = false in the HTCondor configuration here (or in the environment:"
    " _CONDOR_SEC_FS_ENFORCE_CHANNEL_BINDING=false), or upgrade the schedd"
}
