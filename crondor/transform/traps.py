"""Warnings of our own: what HTCondor takes without a word, and what is hardly meant."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from crondor.diagnostics import Diagnostic, Severity
from crondor.macro.lines import LogicalLine
from crondor.macro.statement import split
from crondor.transform.apply import Statement
from crondor.transform.commands import KEYWORDS, Command, Fault, MoveMany
from crondor.transform.errors import short, warning
from crondor.transform.expressions import settled, why_not
from crondor.transform.statements import Heredoc
from crondor.transform.words import next_word

_SPACED = re.compile(r"\$\([ \t]+[A-Za-z0-9_.]+[ \t]*\)|\$\([A-Za-z0-9_.]+[ \t]+\)")
_TARGET = re.compile(r"(?i)\btarget\.")
_MEANT = {
    "REQUIREMENTS": "this defines a macro: the transform has no REQUIREMENTS and takes every ad",
    "TRANSFORM": "this defines a macro: nothing is done more than once",
}


def find_traps(statements: Sequence[Statement]) -> Iterator[Diagnostic]:
    """Yield warnings for lines that HTCondor takes for something else than their author."""
    for statement in statements:
        line = statement.line
        yield from _assigned_keyword(line)
        for found in _SPACED.finditer(line.text):
            message = f"{short(found[0])} stays as it is: a macro has no blanks inside its parentheses"
            yield warning("macro-blanks", message, line.span(*found.span()), fix=re.sub(r"[ \t]+", "", found[0]))
        if isinstance(statement, Command):
            yield from _command(statement)


def find_hidden_faults(statements: Sequence[Statement], faults: Collection[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield warnings for lines that HTCondor refuses where an ad leads to them; its check on loading does not."""
    tag = None
    known = {each.span.source.position(each.span.start)[0] for each in faults if each.span is not None}
    for statement in statements:
        if tag is not None:
            tag = None if statement.line.text == tag else tag
            continue
        if isinstance(statement, Heredoc):
            tag = statement.tag
        found = statement.seen(is_inside=True)
        if isinstance(found, Fault) and found.line.span().line not in known:
            message = f"{found.diagnostic.message}: an ad that leads here fails"
            yield replace(found.diagnostic, message=message, severity=Severity.WARNING)


def _assigned_keyword(line: LogicalLine) -> Iterator[Diagnostic]:
    parts = split(line.text)
    keyword = parts.name.upper()
    if keyword in KEYWORDS and parts.operator in {"=", "+=", "@="} and not parts.is_sentence:
        message = _MEANT.get(keyword, f"this defines a macro named {parts.name}, it is no command")
        value = line.text[parts.value :]
        yield warning(
            "keyword-assigned", message, line.span(0, parts.value), "leave the sign out", f"{keyword} {value}"
        )


def _command(of: Command) -> Iterator[Diagnostic]:
    second = of.words[1]
    raw = second.text
    if not isinstance(of, MoveMany) and raw[-1:] in {",", "="} and of.keyword != "DELETE":
        message = f"HTCondor 25.14 makes a name of {raw} that ends in a NUL character; crondor takes {of.name}"
        yield warning(
            "name-sign", message, of.line.span(second.start, second.end), "put a blank before the sign", of.name
        )
    if isinstance(of, MoveMany):
        yield from _pattern(of)
    if of.keyword == "DELETE":
        if not isinstance(of, MoveMany) and next_word(of.line.text, second.next) is not None:
            message = "DELETE takes one name: what follows it is not looked at"
            yield warning("delete-words", message, of.line.span(second.end), "write a line for each name")
        return
    if of.keyword in {"SET", "DEFAULT"} and of.rest.is_plain and settled(of.rest.text) is None:
        reason = why_not(of.rest.text)
        begin = len(of.line.text) - len(of.rest.text)
        help_text = f"{reason.message}; " if reason is not None else ""
        message = f"SET {of.name} invalid expression : {of.rest.text}"
        place = of.line.span(begin)
        if reason is not None and reason.span is not None and reason.span.start < len(of.rest.text):
            place = of.line.span(begin + reason.span.start, begin + max(reason.span.end, reason.span.start + 1))
        yield warning("set-expression", message, place, f"{help_text}HTCondor says so for each ad")
    if of.keyword in {"EVALSET", "EVALMACRO"} and _TARGET.search(of.rest.text):
        message = f"TARGET is undefined in {of.keyword}: the expression is evaluated in the ad alone"
        yield warning("evalset-target", message, of.line.span(), "write MY. or the bare name")


def _pattern(of: MoveMany) -> Iterator[Diagnostic]:
    regex = of.compiled()
    if regex is None:
        message = f"Error compiling regex '{of.name}': this entry will be ignored"
        yield warning("regex", message, of.line.span(of.words[1].start), "mend the expression")
        return
    for found in re.finditer(r"\\([0-9])", "" if of.keyword == "DELETE" else of.rest.text):
        if int(found[1]) > regex.groups:
            message = f"{found[0]} stays as it is: the expression has {regex.groups} groups"
            begin = len(of.line.text) - len(of.rest.text)
            place = of.line.span(begin + found.start(), begin + found.end())
            yield warning("regex-group", message, place, "put parentheses around what is meant")
    if "g" in of.options:
        message = "the option g makes the expression match at the beginning of a name alone"
        yield warning(
            "regex-g", message, of.line.span(of.words[1].start), "leave it out: all names are looked at anyway"
        )
