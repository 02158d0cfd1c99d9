"""The line of a command taken apart: what it does, or why HTCondor refuses it (HTCondor: ParseRulesCallback)."""

from __future__ import annotations

from crondor.diagnostics import Diagnostic, similar
from crondor.macro.lines import BLANKS, LogicalLine
from crondor.transform.apply import RunnableLine
from crondor.transform.commands import (
    Delete,
    EvalMacro,
    EvalSet,
    LateFault,
    LineFault,
    Move,
    NamedCommand,
    Nothing,
    Set,
    is_name,
)
from crondor.transform.errors import fault
from crondor.transform.patterns import ByPattern
from crondor.transform.words import Word, next_word, pattern

_TWO = frozenset(("COPY", "DEFAULT", "EVALMACRO", "EVALSET", "RENAME", "SET"))
_WITH_PATTERN = frozenset(("COPY", "DELETE", "RENAME"))
ENVELOPE = frozenset(("NAME", "REQUIREMENTS", "TRANSFORM", "UNIVERSE"))
KEYWORDS = _TWO | _WITH_PATTERN | ENVELOPE
_KINDS: dict[str, type[NamedCommand]] = {
    "SET": Set,
    "DEFAULT": Set,
    "EVALSET": EvalSet,
    "EVALMACRO": EvalMacro,
    "COPY": Move,
    "RENAME": Move,
    "DELETE": Delete,
}


def command(line: LogicalLine) -> RunnableLine:
    """Return what a line that is no assignment does; a line that is wrong is a LineFault.

    command = ("SET" | "DEFAULT" | "EVALSET" | "EVALMACRO") word ("=" | ",")? text
            | ("COPY" | "RENAME") (word | pattern) ("=" | ",")? text
            | "DELETE" (word | pattern)
            | ENVELOPE text
    """
    first = next_word(line.text, 0)
    if first is None or first.text == "#":
        return Nothing(line)
    keyword = first.text.upper()
    if keyword not in KEYWORDS:
        return LineFault(line, lambda: _unknown(line, first))
    second = next_word(line.text, first.next)
    if keyword in ENVELOPE and (second is not None or keyword == "TRANSFORM"):
        return Nothing(line, is_command=True)
    if second is None:
        return LineFault(line, lambda: _too_few(line, first), is_command=True)
    return _with_arguments(line, keyword, first, second)


def _with_arguments(line: LogicalLine, keyword: str, first: Word, second: Word) -> RunnableLine:
    text = line.text
    found, rest, behind = None, second, second.next
    if keyword in _WITH_PATTERN and text.startswith("/", second.at):
        found = pattern(text, second)
        if found is None:
            return LineFault(line, lambda: _bad_pattern(line, second), is_command=True)
        behind = found.next
    if keyword in _TWO:
        third = next_word(text, behind)
        if third is not None and third.text in {"=", ","}:
            third = next_word(text, third.next)
        if third is None:
            return LateFault(line, lambda: _too_few(line, first, second), is_command=True)
        rest = third
    if found is not None:
        return ByPattern(line, (first, second), found, text[rest.start :] if keyword in _TWO else "")
    name = second.text
    return _KINDS[keyword](line, (first, second), name[:-1] if name[-1:] in {",", "="} else name, text[rest.start :])


def _unknown(line: LogicalLine, word: Word) -> Diagnostic:
    message = f"{word.text} is not a valid transform keyword"
    span = line.span(word.at, max(word.end, word.at + 1))
    near = _nearest(word.text.upper())
    help_text = f"the commands are {', '.join(sorted(KEYWORDS))}; NAME = VALUE defines a macro"
    if word.text.lower() == "queue":
        help_text = "queue belongs to submit files, and HTCondor takes it for no macro either: choose another name"
    if line.unterminated and line.text[:1] in BLANKS:
        help_text = "HTCondor strips no blanks from a last line without a line end: end the file with one"
    if line.text[word.end : word.end + 1] in {"", " "} and word.text[-1:] in {"=", ":"}:
        help_text = "a command has no = or : behind its keyword"
    return fault("keyword", message, span, f"did you mean {near}?" if near else help_text, near)


def _nearest(word: str) -> str | None:
    return next(iter(similar(word[:40], sorted(KEYWORDS), 0.7)), None)


def _too_few(line: LogicalLine, first: Word, second: Word | None = None) -> Diagnostic:
    keyword = first.text.upper()
    span = line.span(first.start)
    if keyword in ENVELOPE or keyword == "DELETE":
        return fault("arguments", f"{keyword} needs an argument", span, "write it behind the keyword")
    name, sign, value = second.text.partition("=") if second is not None else ("", "", "")
    if is_name(name) and sign and value:
        shown = f"{first.text} {name} {value}"
        return fault(
            "arguments", f"{keyword} needs 2 arguments: a blank stands between them", span, f"write {shown}", shown
        )
    return fault("arguments", f"{keyword} needs 2 arguments", span, f"write {_USAGE[keyword]}")


_USAGE = {
    "COPY": "COPY attribute newname",
    "DEFAULT": "DEFAULT attribute expression",
    "EVALMACRO": "EVALMACRO macro expression",
    "EVALSET": "EVALSET attribute expression",
    "RENAME": "RENAME attribute newname",
    "SET": "SET attribute expression",
}


def _bad_pattern(line: LogicalLine, word: Word) -> Diagnostic:
    help_text = (
        "write /expression/ with nothing but g, i, m or U behind it; a slash inside cannot be escaped, . finds it"
    )
    return fault("regex", "invalid regex", line.span(word.at), help_text)
