"""The values of ``arguments`` and ``environment`` in a submit description: lists of texts to one value, and back.

The rules are those of the manual (condor_submit, ``arguments`` and ``environment``), new syntax and old.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from crondor.diagnostics import CrondorError, Diagnostic

_DELIMITERS = "!#$%&*+,-/:;<>?@^`|~\x1f"  # with which an old environment may begin
_BLANKS = " \t\r\n"
_WORD = re.compile(r"[^ \t\r\n]+")
_PIECE = re.compile(r"'((?:[^']|'')*)'|([^' \t\r\n]+)")
# What condor_submit would take for the beginning of a macro or a macro function.
_MACRO = re.compile(r"(?<!\$)(\$+)(\w*)\((?=(dollar\b|[\w./]*:)?)", re.ASCII | re.IGNORECASE)
_UNWRITTEN = re.compile(r"[\n\0]|\$\$\w*\(|\$\w*\((dollar\b|[\w./]*:)|\\\Z", re.ASCII | re.IGNORECASE)


class InvalidArguments(CrondorError, ValueError):
    """A value of ``arguments`` or ``environment`` that condor_submit refuses."""


def as_text(text: str) -> str:
    """Return ``text`` so that it stays itself as the value of a submit command: no macro of it is expanded.

    Raises InvalidArguments for what has no spelling: a line end, a NUL character, ``$$(``, blanks at the ends, a
    backslash at the end (which would continue the line).
    """
    if _UNWRITTEN.search(text) or text != text.strip(" \t\r\v\f"):
        raise _invalid(f"{text[:40]!r} cannot be written as the value of a submit command")
    return _MACRO.sub(r"$(DOLLAR)\2(", text)


def join_arguments(arguments: Iterable[str]) -> str:
    """Return the value of ``arguments``, in the new syntax, that gives these arguments and no others.

    Raises InvalidArguments for a line end or a NUL character, for which there is no spelling.
    """
    return '"' + " ".join(map(_quoted, arguments)) + '"'


def join_environment(variables: Mapping[str, str]) -> str:
    """Return the value of ``environment``, in the new syntax; raises InvalidArguments as ``join_arguments`` does."""
    return join_arguments(f"{name}={value}" for name, value in variables.items())


def split_arguments(value: str) -> list[str]:
    """Return the arguments of a value whose macros are expanded, in either syntax. Raises InvalidArguments."""
    value = value.strip(_BLANKS)
    if value.startswith('"'):
        return list(_split(_inside(value)))
    bare = value.replace('\\"', "")
    if '"' in bare:
        raise _invalid('a double quote inside the old syntax is written as \\"')
    return [word.replace('\\"', '"') for word in _WORD.findall(value)]


def split_raw_arguments(value: str) -> list[str]:
    """Return the arguments of a knob: in double quotes the new syntax, else words between blanks, as they stand.

    Quotes and backslashes in such words are characters like others (``ArgList::AppendArgsV1RawOrV2Quoted``,
    src/condor_utils/condor_arglist.cpp, 25.14). Raises InvalidArguments.
    """
    value = value.strip(_BLANKS)
    return list(_split(_inside(value))) if value.startswith('"') else _WORD.findall(value)


def split_environment(value: str) -> dict[str, str]:
    """Return the variables of a value whose macros are expanded, in either syntax. Raises InvalidArguments."""
    value = value.strip(_BLANKS)
    entries = _split(_inside(value)) if value.startswith('"') else old_entries(value)
    found: dict[str, str] = {}
    for entry in entries:
        name, equals, text = entry.partition("=")
        if not equals or not name:
            raise _invalid(f"{entry[:40]!r} is not of the form name=value")
        found[name] = text
    return found


def old_entries(value: str) -> list[str]:
    """Return the variables of an environment in the old syntax, which may begin with the sign that parts them.

    HTCondor: Env::MergeFromV1AutoDelim.
    """
    sign = value[:1] if value[:1] in _DELIMITERS else ""
    parts = re.split(f"[{re.escape(sign or ';')}\n]", value[len(sign) :])
    return [entry for part in parts if (entry := part.lstrip(" \t\r\n"))]


def _quoted(text: str) -> str:
    """Quote one argument."""
    if re.search(r"[\n\0]", text):
        raise _invalid("a line end or a NUL character cannot be written in a submit file")
    if re.fullmatch(r"[\w@%+:,./=-]+", text, re.ASCII):
        return text
    return "'" + _MACRO.sub(_unexpanded, text.replace("'", "''")).replace('"', '""') + "'"


def _unexpanded(macro: re.Match[str]) -> str:
    """Return what looks like the beginning of a macro so that it is none.

    ``$$(name)`` is one as well, which the schedd expands when it starts the job; ``$(DOLLAR)`` behind a dollar sign
    becomes one, before ``(DOLLAR)`` it makes another of itself, and before ``(name:`` it hides those that follow.
    There the quotes are closed before the parenthesis and opened behind it.
    """
    dollars, name, again = macro.groups()
    return f"{dollars}{name}'('" if again or len(dollars) > 1 else f"$(DOLLAR){name}("


def _inside(value: str) -> str:
    """Return what stands between the double quotes of the new syntax, doubled ones made single."""
    if len(value) < 2 or not value.endswith('"') or '"' in value[1:-1].replace('""', ""):
        raise _invalid('in the new syntax double quotes surround all of the value, and one inside is written ""')
    return value[1:-1].replace('""', '"')


def _split(text: str) -> Iterator[str]:
    """Yield the texts between blanks; pieces in single quotes keep their blanks, and ``''`` in them is a quote."""
    at, size = 0, len(text)
    while True:
        while at < size and text[at] in _BLANKS:
            at += 1
        if at == size:
            return
        pieces: list[str] = []
        while at < size and text[at] not in _BLANKS:
            found = _PIECE.match(text, at)
            if found is None:
                raise _invalid("a single quote is not closed")
            pieces.append(found[2] if found[1] is None else found[1].replace("''", "'"))
            at = found.end()
        yield "".join(pieces)


def _invalid(message: str) -> InvalidArguments:
    help_text = "write \"one 'two words' 'it''s'\", for example"
    return InvalidArguments(Diagnostic("submit-quotes", message, help=help_text))
