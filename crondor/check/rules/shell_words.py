"""CRN542, CRN543, CRN585, CRN586: what a shell, a program or a word processor writes, and HTCondor takes as it is."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from crondor.check.given import GivenValue, is_expression
from crondor.check.macros import AS_WRITTEN, places_in
from crondor.check.rule import MANY, Fix, RuleHit, TextEdit, rule
from crondor.check.shells import ARGUMENTS, has_shell
from crondor.check.subject import CheckedFile
from crondor.diagnostics import Severity
from crondor.knowledge import submit_commands
from crondor.source import Span

_BRACES: Final = re.compile(r"(?<!\$)\$\{(?P<name>[A-Za-z_]\w*)\}")
_ENVIRONMENT: Final = frozenset(
    ("HOME", "USER", "LOGNAME", "PATH", "PWD", "HOSTNAME", "LD_LIBRARY_PATH", "PYTHONPATH", "TMPDIR", "SCRATCH", "WORK")
)
# $(name and then nothing that goes on with it; a name in brackets, or a macro within the name, is something else
_NO_MACRO: Final = re.compile(r"(?<!\$)\$\((?P<name>[A-Za-z_][\w./]*)(?=(?P<next>[^\w./:)$(]|\Z))")
_FUNCTION: Final = re.compile(
    r"(?<!\$)\$\((?P<name>ENV|INT|REAL|STRING|CHOICE|RANDOM_INTEGER|RANDOM_CHOICE|SUBSTR|BASENAME|DIRNAME)"
    r":(?P<argument>[^()$]*)\)"
)
_WORD: Final = re.compile(r"(?<!\S)\S+")
_SINGLE: Final = re.compile(r"'[^']*'")
_DOUBLED: Final = re.compile('""')
_ESCAPED: Final = re.compile(r'\\"')
_INTO: Final = re.compile(r"(?:[12&]?>>?)(?![\d=>])[\w./~$(){}&+-]*")
_NEXT: Final = frozenset(("|", "||", "&&", "<"))
_NUMBER: Final = re.compile(r"[-+]?[\d.]+(?:[eE][-+]?\d+)?")
_STRAIGHT: Final = str.maketrans("\u201c\u201d\u201e\u2018\u2019\u201a", "\"\"\"'''")
_CURLY: Final = re.compile("(?:(?<![^\\s=,])[\u201c\u201d\u201e\u2018\u201a]|[\u201c\u201d](?![^\\s,;]))")
_DASH: Final = re.compile("(?<!\\S)[\u2013\u2014](?=[A-Za-z-])")


@rule("CRN542", "shell-variable", Severity.WARNING, "a variable as shells write it, which HTCondor does not", most=MANY)
def shell_variable(file: CheckedFile) -> Iterator[RuleHit]:
    """A macro has parentheses; what stands in braces goes into the job as it is, and no shell reads it there."""
    is_told = False
    for text, span in _texts(file, "${"):
        place_of = places_in(span, text)
        for found in _BRACES.finditer(text):
            name = found["name"]
            new = _macro(file, name)
            if new is None and is_told:
                continue
            place = place_of(*found.span())
            message = f"{found[0]} is no macro to HTCondor: it stays as it is, and no shell stands between"
            if new is None:  # a template perhaps, in which one note is enough
                is_told = True
                help_text = "write $(NAME) for a macro, $ENV(NAME) for the environment of condor_submit"
                yield RuleHit(message, place, help_text, severity=Severity.NOTE)
            else:
                yield RuleHit(message, place, f"write {new}", _fix(file, place, found[0], new))


def _macro(file: CheckedFile, name: str) -> str | None:
    """Return what is meant by the name of a shell's variable, None where nobody can tell."""
    key = name.lower()
    if file.submit is not None and (
        file.submit.provides(key) or (key in file.submit.keys and key not in submit_commands())
    ):
        return f"$({name})"
    return f"$ENV({name})" if name in _ENVIRONMENT else None


@rule("CRN543", "no-macro", Severity.WARNING, "what looks like a macro or a function and is none", most=MANY)
def no_macro(file: CheckedFile) -> Iterator[RuleHit]:
    """Without its closing parenthesis, or with a blank in the name, the text stays as it is."""
    for text, span in _texts(file, "$("):
        place_of = places_in(span, text)
        for found in _NO_MACRO.finditer(text):
            rest = text[found.end() :]
            is_closed = found["next"].isspace() and ")" in rest
            end = found.end() + rest.index(")") + 1 if is_closed else found.end()
            place = place_of(found.start(), end)
            if is_closed:
                message = f"{text[found.start() : end][:60]} stays as it is: condor_submit runs no command in a value"
                yield RuleHit(message, place, "write what it gives, or $(NAME) with a definition of NAME")
            else:
                message = f"{found[0]} lacks its closing parenthesis: it stays as it is"
                yield RuleHit(message, place, f"write {found[0].partition('.')[0]})")
        place_of = places_in(span, text)
        for found in _FUNCTION.finditer(text):
            name, argument = found["name"], found["argument"]
            if file.macros is not None and name.lower() in file.macros.defined:
                continue
            place = place_of(*found.span())
            message = f"{found[0]} asks for a macro {name}, and {argument} is what stands in its place: no function"
            new = f"${name}({argument})"
            yield RuleHit(message, place, f"write {new}", _fix(file, place, found[0], new))


def _texts(file: CheckedFile, sign: str) -> Iterator[tuple[str, Span]]:
    """Yield the definitions that have a sign and whose text no shell reads."""
    shells = None
    for key, definition in file.submit.definitions if file.submit is not None else ():
        if sign not in definition.text or key.startswith(AS_WRITTEN) or key == "shell":
            continue
        if shells is None:
            shells = any(has_shell(job) for job in file.given.jobs)
        if not shells or (key not in ARGUMENTS and key in submit_commands()):
            yield definition.text, definition.span


def _fix(file: CheckedFile, place: Span, old: str, new: str) -> Fix | None:
    is_here = place.source is file.source and place.text == old
    return Fix(f"write {new}", (TextEdit(place, new),), safe=False) if is_here else None


@rule("CRN585", "curly-quotes", Severity.WARNING, "quotes or dashes of a word processor", most=MANY)
def curly_quotes(file: CheckedFile) -> Iterator[RuleHit]:
    """HTCondor knows the straight ones only: all others are letters like any."""
    for value in file.given.all:
        if value.text.isascii() or '"' in value.text or value.key not in submit_commands():
            continue
        found = _CURLY.search(value.text)
        if found is None and value.key in ARGUMENTS:
            found = _DASH.search(value.text)
        if found is not None:
            new = value.text.translate(_STRAIGHT)
            new = _DASH.sub("--", new) if value.key in ARGUMENTS else new
            message = f"{found[0]} is a letter like any to HTCondor: it becomes a part of the value"
            fix = Fix(f"write {new}", (TextEdit(value.span, new),), safe=False)
            is_here = value.is_literal and value.span.source is file.source and not is_expression(value.key)
            yield RuleHit(message, value.place(*found.span()), f"write {new[:60]}", fix if is_here else None)


@rule("CRN586", "redirection", Severity.WARNING, "a redirection or a pipe that no shell sees", most=MANY)
def redirection(file: CheckedFile) -> Iterator[RuleHit]:
    """The program is started with its arguments as they are: it gets > and the name behind it as two of them."""
    told: set[GivenValue] = set()
    for job in file.given.jobs:
        value = job.first(*ARGUMENTS)
        if value is None or value in told or has_shell(job):
            continue
        told.add(value)
        hit = _redirected(value)
        if hit is not None:
            yield hit


def _redirected(value: GivenValue) -> RuleHit | None:
    text = _SINGLE.sub(lambda found: "x" * len(found[0]), value.text)
    words = list(_WORD.finditer(text))
    quote = _DOUBLED if text.startswith('"') else _ESCAPED  # as the program gets it, in the new syntax and in the old
    ends = [found.end() for found in quote.finditer(text, 1)]
    for at, found in enumerate(words):
        if bisect_right(ends, found.start()) % 2:  # a shell would take it for a part of what is quoted
            continue
        following = words[at + 1][0] if at + 1 < len(words) else ""
        word, is_operand = found[0], bool(following) and _NUMBER.fullmatch(following.rstrip('"')) is None
        is_into = _INTO.fullmatch(word.rstrip('"')) is not None and (word[-1] not in ">&" or is_operand)
        if is_into or (word in _NEXT and at and is_operand):
            message = f"{word} is handed to the program as an argument: no shell reads the line"
            cure = "write output = FILE" if ">" in word else "write input = FILE" if word == "<" else ""
            return RuleHit(message, value.place(*found.span()), cure or "let a script do it, and name that executable")
    return None
