"""The environment of a job in its two syntaxes (HTCondor 25.14: SubmitHash::SetEnvironment, Env).

``getenv`` sees the variables that the caller of read_submit() passes, and none besides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from crondor.job.arguments import old_entries
from crondor.job.attributes import string
from crondor.submit.ad import values
from crondor.submit.ad.arguments import WrongQuotes, is_quoted, joined, split, unquoted
from crondor.submit.ad.draft import Draft, shown

_GETENV: Final = ("getenv", "get_env")
NAMES: Final = ("environment", "env", "environment2", "allow_environment_v1", *_GETENV)
_DELIMITER: Final = ";"
_QUOTED: Final = "write environment = \"A=1 B='two words'\""


def set_environment(draft: Draft) -> None:
    """Set Environment, or Env where the old command gives the old syntax.

    A job behind the first of its cluster has the variables of the first as well, whether its own command names them or
    not; without a command it has just them, and getenv is not looked at.
    """
    first, second = draft.command("environment", "env"), draft.command("environment2")
    allowed = draft.flag("allow_environment_v1")
    if draft.process and first is None and second is None:
        return
    draft.use(*_GETENV)
    if first is not None and second is None:
        draft.use("env")
    if first is not None and second is not None and not allowed:
        message = (
            "If you wish to specify both 'environment' and 'environment2' for maximal compatibility with different "
            "versions of Condor, then you must also specify allow_environment_v1=true."
        )
        draft.fault("submit-environment", "environment2", message, "keep one of them")
        return
    text = (first if second is None else second) or ""
    is_new = second is not None or is_quoted(text)
    try:
        given = _variables(unquoted(text) if is_new else text, is_new=is_new)
    except WrongQuotes as error:
        message = f"{error} The environment you specified was: '{shown(text)}'"
        name = "environment2" if second is not None else draft.written("environment", "env") or ""
        draft.fault("submit-environment", name, message, _QUOTED)
        return
    submitter = _of_submitter(draft, may_delimit=first is None or second is not None)
    found = {**submitter, **_inherited(draft), **given}
    if found or not draft.has("Env", "Environment"):
        _write(draft, found, is_old=second is None and _is_old(draft.command("env")))


def _inherited(draft: Draft) -> dict[str, str | None]:
    """Return the variables that a job has from the first of its cluster, none for that job itself (Env::MergeFrom)."""
    if not draft.process:
        return {}
    first = draft.cluster.ad
    new, old = string(first, "Environment"), string(first, "Env")
    try:
        return _variables(new if new is not None else old or "", is_new=new is not None)
    except WrongQuotes:
        return {}


def _variables(text: str, *, is_new: bool) -> dict[str, str | None]:
    """Return the variables of a text in the new syntax, without double quotes, or the old one. Raises WrongQuotes."""
    return dict(map(_pair, filter(None, split(text)) if is_new else old_entries(text)))


def _is_old(env: str | None) -> bool:
    """Say whether a value of the old command is written in the old syntax."""
    return env is not None and not is_quoted(env)


def _write(draft: Draft, found: Mapping[str, str | None], *, is_old: bool) -> None:
    """Set the attribute of the syntax, and the other one too where the ad has it already."""
    pairs = [name if found[name] is None else f"{name}={found[name]}" for name in sorted(found)]
    if is_old or draft.has("Env"):
        wrong = next((pair for pair in pairs if _DELIMITER in pair or "\n" in pair), None)
        if wrong is not None:
            why = f"Environment entry is not compatible with V1 syntax: {shown(wrong)}"
            message = f"failed to insert environment into job ad: {why}"
            draft.fault("submit-environment", draft.written("environment", "env") or "", message, _QUOTED)
            return
        draft.set("Env", _DELIMITER.join(pairs))
        draft.set("EnvDelim", _DELIMITER)
    if not is_old or draft.has("Environment"):
        draft.set("Environment", joined(pairs))


def _of_submitter(draft: Draft, *, may_delimit: bool) -> dict[str, str]:
    """Return the submitter's variables that getenv asks for.

    Values that cannot be written down are left out, as HTCondor does it without a word.
    """
    text = draft.command(*_GETENV)
    wanted = values.boolean(text, draft.context) if text is not None else False
    environ = draft.cluster.environ
    if text is None or wanted is False or environ is None:
        return {}
    if wanted and not draft.knobs.flag("SUBMIT_ALLOW_GETENV", default=True):
        message = "getenv = true command not allowed because administrator has set SUBMIT_ALLOW_GETENV = false"
        draft.fault("submit-environment", draft.written(*_GETENV) or "", message, "name the variables")
        return {}
    is_taken = _selection([] if wanted else values.words(text, ",; \t\r\n"))
    forbidden = {"\n"} if may_delimit else {"\n", _DELIMITER}
    return {name: value for name, value in environ.items() if forbidden.isdisjoint(value) and is_taken(name)}


def _selection(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Return what tells if a name is taken: by one of the patterns, if any, and by none that begins with ``!``."""
    white = [_pattern(each) for each in patterns if not each.startswith("!")]
    black = [_pattern(each[1:]) for each in patterns if each.startswith("!") and len(each) > 1]

    def is_taken(name: str) -> bool:
        if any(pattern.fullmatch(name) for pattern in black):
            return False
        return not white or any(pattern.fullmatch(name) for pattern in white)

    return is_taken


def _pattern(text: str) -> re.Pattern[str]:
    """Return a name with stars as a regular expression that tries no star twice."""
    first, *rest = map(re.escape, re.split(r"\*+", text))
    if not rest:
        return re.compile(first, re.IGNORECASE)
    middle = "".join(f"(?=(?P<g{n}>.*?{piece}))(?P=g{n})" for n, piece in enumerate(rest[:-1]))
    return re.compile(f"(?s:{first}{middle}.*{rest[-1]})", re.IGNORECASE)


def _pair(entry: str) -> tuple[str, str | None]:
    """Return a variable and its value, None where it is a $$() macro for the machine to replace.

    HTCondor: Env::SetEnvWithErrorMessage.
    """
    name, sign, value = entry.partition("=")
    if not sign and "$$" in entry:
        return entry, None
    if not sign:
        raise WrongQuotes(f"ERROR: Missing '=' after environment variable '{shown(name)}'.")
    if not name:
        raise WrongQuotes(f"ERROR: missing variable in '{shown(entry)}'.")
    return name, value
