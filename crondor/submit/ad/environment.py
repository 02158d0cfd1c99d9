"""The environment of a job in its two syntaxes (HTCondor 25.14: SubmitHash::SetEnvironment, Env).

``getenv`` is not followed: what the variables of the submitter are, only the submit machine knows.
"""

from __future__ import annotations

from typing import Final

from crondor.submit.ad.arguments import WrongQuotes, is_quoted, joined, split, unquoted
from crondor.submit.ad.draft import Draft, shown

NAMES: Final = ("environment", "env", "environment2", "allow_environment_v1")
_DELIMITER: Final = ";"


def set_environment(draft: Draft) -> None:
    """Set Environment, or Env where the old command gives the old syntax."""
    first, second = draft.command("environment", "env"), draft.command("environment2")
    allowed = draft.flag("allow_environment_v1")
    if first is not None and second is not None and not allowed:
        message = (
            "If you wish to specify both 'environment' and 'environment2' for maximal compatibility with different "
            "versions of Condor, then you must also specify allow_environment_v1=true."
        )
        draft.fault("submit-environment", "environment2", message, "keep one of them")
        return
    text = first if second is None else second
    try:
        is_new = second is not None or is_quoted(text or "")
        entries = split(unquoted(text or "")) if is_new else (text or "").split(_DELIMITER)
        found = dict(map(_pair, filter(None, (entry if is_new else entry.lstrip() for entry in entries))))
    except WrongQuotes as error:
        message = f"{error} The environment you specified was: '{shown(text or '')}'"
        name = "environment2" if second is not None else draft.written("environment", "env") or ""
        draft.fault("submit-environment", name, message, "write environment = \"A=1 B='two words'\"")
        return
    if not found and draft.has("Env", "Environment"):
        return
    pairs = [f"{name}={value}" for name, value in sorted(found.items())]
    old = second is None and draft.command("env") is not None and not is_quoted(draft.command("env") or "")
    if old or draft.has("Env"):
        draft.set("Env", _DELIMITER.join(pairs))
        draft.set("EnvDelim", _DELIMITER)
    if not old or draft.has("Environment"):
        draft.set("Environment", joined(pairs))


def _pair(entry: str) -> tuple[str, str]:
    name, sign, value = entry.partition("=")
    if not sign:
        raise WrongQuotes(f"ERROR: Missing '=' after environment variable '{shown(name)}'.")
    if not name:
        raise WrongQuotes(f"ERROR: missing variable in '{shown(entry)}'.")
    return name, value
