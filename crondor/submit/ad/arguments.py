"""Arguments in the old syntax (V1) or the new one in double quotes (V2): ArgList of HTCondor 25.14.

Those of the job, of Java's virtual machine, and of a tool that runs beside the job.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from crondor.schedule import Universe
from crondor.submit.ad.draft import Draft, shown

NAMES: Final = (
    *("arguments", "args", "arguments2", "shell", "allow_arguments_v1"),
    *("java_vm_args", "java_vm_arguments", "javavmargs", "java_vm_arguments2"),
)

_BLANKS: Final = " \t\n\r"
_PLAIN: Final = re.compile(r"[^ \t\n\r']+")
_WORD: Final = re.compile(r"[^ \t\n\r]+")
_SPECIAL: Final = re.compile(r"[ \t\n\r']+")
_SPACE: Final = " \t\n\v\f\r"


class ArgumentList(NamedTuple):
    """The commands of a list of arguments, its attributes in the old syntax and the new, and what errors call it.

    ``older`` is a command that may stand in the place of the first of ``old``.
    """

    old: tuple[str, ...]
    new: str
    attributes: tuple[str, str]
    older: str = ""
    error: str = "{0} The full arguments you specified were: {1}"


_OF_JOB: Final = ArgumentList(("arguments", "args"), "arguments2", ("Args", "Arguments"))
_OF_JAVA: Final = ArgumentList(
    ("java_vm_arguments", "javavmargs"),
    "java_vm_arguments2",
    ("JavaVMArgs", "JavaVMArguments"),
    "java_vm_args",
    "failed to parse java VM arguments: {0} The full arguments you specified were {1}",
)


class WrongQuotes(ValueError):
    """A text whose quotes cannot be taken apart."""


def set_arguments(draft: Draft) -> None:
    """Set Args or Arguments (SubmitHash::SetArguments)."""
    shell = draft.command("shell")
    draft.flag("allow_arguments_v1")
    if shell is not None:
        draft.use(*_OF_JOB.old)
        draft.use(_OF_JOB.new)
        draft.set("Arguments", joined(["-c", shell]))
        return
    found = read_arguments(draft, _OF_JOB)
    if found is not None:
        draft.set(*found.attribute(_OF_JOB))
        _need_class(draft, found.items)


def set_java_arguments(draft: Draft) -> None:
    """Set JavaVMArgs or JavaVMArguments (SubmitHash::SetJavaVMArgs)."""
    set_more(draft, _OF_JAVA)


def set_more(draft: Draft, of: ArgumentList) -> None:
    """Set arguments that stand in the ad only where there are any."""
    found = read_arguments(draft, of)
    if found is not None and found.items:
        draft.set(*found.attribute(of))


class WrittenArguments(NamedTuple):
    """Arguments, and whether they were written in the new syntax."""

    items: list[str]
    is_new: bool

    def attribute(self, of: ArgumentList) -> tuple[str, str]:
        """Return the attribute and its text."""
        return of.attributes[self.is_new], joined(self.items) if self.is_new else " ".join(self.items)


def read_arguments(draft: Draft, of: ArgumentList) -> WrittenArguments | None:
    """Return the arguments that the commands give; None where they are at fault, or the job before has them."""
    old, new = draft.command(*of.old), draft.command(of.new)
    older = draft.command(of.older) if of.older else None
    if _are_contradictory(draft, of, old, older, new):
        return None
    text = new or old or older
    if text is None:
        return None if draft.has(*of.attributes) else WrittenArguments([], is_new=True)
    is_new = new is not None or is_quoted(text)
    try:
        return WrittenArguments(split(unquoted(text)) if is_new else _plain(text), is_new)
    except WrongQuotes as error:
        name = of.new if new is not None else draft.written(*of.old, of.older) or ""
        message = of.error.format(str(error), shown(text))
        draft.fault("submit-arguments", name, message, "write arguments = \"one 'two three'\"")
    return None


def _are_contradictory(draft: Draft, of: ArgumentList, old: str | None, older: str | None, new: str | None) -> bool:
    """Say whether commands are given of which one is enough; that is a fault."""
    if old is not None and older is not None:
        message = f"you specified a value for both {of.older} and {of.old[0]}."
        draft.fault("submit-arguments", of.older, message, "keep one of them")
        return True
    if new is not None and (old or older) is not None and not draft.flag("allow_arguments_v1"):
        message = (
            f"If you wish to specify both '{of.old[0]}' and '{of.new}' for maximal compatibility with different "
            "versions of Condor, then you must also specify allow_arguments_v1=true."
        )
        draft.fault("submit-arguments", of.new, message, "keep one of them")
        return True
    return False


def _need_class(draft: Draft, found: list[str]) -> None:
    if draft.cluster.universe == Universe.JAVA and not found:
        message = "In Java universe, you must specify the class name to run."
        name = draft.written("arguments", "args") or draft.written("universe") or "arguments"
        draft.fault("submit-arguments", name, message, "write arguments = MyClass")


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
