"""The arguments of a job, in the old syntax (V1) or the new one in double quotes (V2): ArgList of HTCondor 25.14."""

from __future__ import annotations

import re
from typing import Final

from crondor.schedule import Universe
from crondor.submit.ad.draft import Draft, shown

NAMES: Final = ("arguments", "args", "arguments2", "shell", "allow_arguments_v1")

_BLANKS: Final = " \t\n\r"
_PLAIN: Final = re.compile(r"[^ \t\n\r']+")
_WORD: Final = re.compile(r"[^ \t\n\r]+")
_SPECIAL: Final = re.compile(r"[ \t\n\r']+")
_SPACE: Final = " \t\n\v\f\r"
_BOTH: Final = (
    "If you wish to specify both 'arguments' and 'arguments2' for maximal compatibility with different versions of "
    "Condor, then you must also specify allow_arguments_v1=true."
)


class WrongQuotes(ValueError):
    """A text whose quotes cannot be taken apart."""


def set_arguments(draft: Draft) -> None:
    """Set Args or Arguments (SubmitHash::SetArguments)."""
    shell = draft.command("shell")
    if shell is not None:
        draft.set("Arguments", joined(["-c", shell]))
        return
    old, new = draft.command("arguments", "args"), draft.command("arguments2")
    allowed = draft.flag("allow_arguments_v1")
    if old is not None and new is not None and not allowed:
        draft.fault("submit-arguments", "arguments2", _BOTH, "keep one of them")
        return
    text = old if new is None else new
    if text is None:
        if not draft.has("Args", "Arguments"):
            draft.set("Arguments", "")
            _need_class(draft, [])
        return
    try:
        is_new = new is not None or is_quoted(text)
        found = split(unquoted(text)) if is_new else _plain(text)
    except WrongQuotes as error:
        message = f"{error} The full arguments you specified were: {shown(text)}"
        name = "arguments2" if new is not None else draft.written("arguments", "args") or ""
        draft.fault("submit-arguments", name, message, "write arguments = \"one 'two three'\"")
        return
    draft.set("Arguments" if is_new else "Args", joined(found) if is_new else " ".join(found))
    _need_class(draft, found)


def _need_class(draft: Draft, found: list[str]) -> None:
    if draft.cluster.universe == Universe.JAVA and not found:
        message = "In Java universe, you must specify the class name to run."
        draft.fault("submit-arguments", "arguments", message, "write arguments = MyClass")


def is_quoted(text: str) -> bool:
    """Say whether a text is in the new syntax."""
    return text.lstrip(_SPACE).startswith('"')


def _plain(text: str) -> list[str]:
    """Split the old syntax at blanks; a double quote needs a backslash before it."""
    out, at = [], 0
    while (quote := text.find('"', at)) >= 0:
        if quote == at or text[quote - 1] != "\\":
            raise WrongQuotes(f"Found illegal unescaped double-quote: {shown(text[quote:])}")
        out.append(text[at : quote - 1] + '"')
        at = quote + 1
    return _WORD.findall("".join(out) + text[at:])


def unquoted(text: str) -> str:
    """Return what stands in the double quotes; a doubled one stands for itself."""
    text = text.lstrip(_SPACE)
    if not text.startswith('"'):
        raise WrongQuotes("Expecting double-quoted input string (V2 format).")
    pieces, at = [], 1
    while True:
        quote = text.find('"', at)
        if quote < 0:
            raise WrongQuotes("Unterminated double-quote.")
        pieces.append(text[at:quote])
        if not text.startswith('"', quote + 1):
            break
        pieces.append('"')
        at = quote + 2
    if text[quote + 1 :].strip(_SPACE):
        raise WrongQuotes(
            "Unexpected characters following double-quote.  Did you forget to escape the double-quote by repeating it? "
            f" Here is the quote and trailing characters: {shown(text[quote:])}"
        )
    return "".join(pieces)


def split(text: str) -> list[str]:
    """Split the new syntax at blanks outside of single quotes; a doubled one inside stands for itself."""
    found: list[str] = []
    pieces: list[str] = []
    at = 0
    while at < len(text):
        if text[at] in _BLANKS:
            if pieces:
                found.append("".join(pieces))
                pieces = []
            at += 1
        elif text[at] == "'":
            piece, at = _quoted(text, at)
            pieces.append(piece)
        else:
            plain = _PLAIN.match(text, at)
            at = plain.end() if plain else at + 1
            pieces.append(plain[0] if plain else "")
    return [*found, "".join(pieces)] if pieces else found


def _quoted(text: str, start: int) -> tuple[str, int]:
    """Return what stands in single quotes that begin at ``start``, and where the rest begins."""
    pieces, at = [], start + 1
    while True:
        quote = text.find("'", at)
        if quote < 0:
            raise WrongQuotes(f"Unbalanced quote starting here: {shown(text[start:])}")
        pieces.append(text[at:quote])
        if not text.startswith("'", quote + 1):
            return "".join(pieces), quote + 1
        pieces.append("'")
        at = quote + 2


def joined(arguments: list[str]) -> str:
    """Return arguments in the new syntax: blanks and quotes stand in single quotes, nothing else does."""
    return " ".join(_SPECIAL.sub(_in_quotes, argument) or "''" for argument in arguments)


def _in_quotes(match: re.Match[str]) -> str:
    return "'" + match[0].replace("'", "''") + "'"
