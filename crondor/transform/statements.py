"""The lines of a transform that are not commands: assignments, long values, and common mistakes.

HTCondor: Parse_macros.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from crondor.diagnostics import Diagnostic, Severity, Span
from crondor.macro import BLANKS, LogicalLine
from crondor.macro.reader import Statement as Parts
from crondor.macro.reader import conditional, is_hidden_if, is_name, split
from crondor.transform.apply import RunnableLine, TransformRun
from crondor.transform.commands import (
    KEYWORDS,
    ByPattern,
    LineFault,
    NamedCommand,
    command,
    is_attribute_name,
    next_word,
)
from crondor.transform.expressions import Stop, evaluation, fault, settled, short, warning, why_not

_FORBIDDEN = {
    "include": ("include statement is not allowed in this context", "paste the lines in place of this one"),
    "use": ("use statement is not allowed in this context", "write the lines of the template out"),
}


class Condition(RunnableLine):
    """An if, elif, else or endif."""

    is_condition = True

    def __init__(self, line: LogicalLine, keyword: str) -> None:
        super().__init__(line)
        self.keyword = keyword
        self.text = line.text[len(keyword) :].lstrip(BLANKS)

    def run(self, run: TransformRun) -> int | None:
        """Evaluate it."""
        run.condition(self.keyword, self.text)
        return None

    check = run


class Hidden(RunnableLine):
    """A line after a colon, which only counts inside a conditional."""

    def __init__(self, line: LogicalLine) -> None:
        super().__init__(line)
        self.inside = _behind_colon(line)
        self.outside = self.inside if is_hidden_if(line.text) else _plain(line)

    def seen(self, *, is_inside: bool = False, **_: bool) -> RunnableLine:
        """Return the line without its colon inside an if; an if after a colon counts everywhere."""
        return self.inside if is_inside else self.outside


class Assignment(RunnableLine):
    """``name = text``, ``name += text``, and ``+name = text`` for MY.name."""

    def __init__(self, line: LogicalLine, parts: Parts) -> None:
        super().__init__(line)
        self._parts = parts
        self.text = line.text[parts.value :]
        # A plain name with a plain text is defined at once; others are processed when run.
        self.key = parts.name.lower() if parts.operator == "=" and is_name(parts.name) and "$" not in self.text else ""

    @property
    def name_span(self) -> Span:
        """Where the name is written."""
        return self.line.span(0, len(self._parts.name))

    def run(self, run: TransformRun) -> int | None:
        """Define the macro."""
        if self.key:
            run.define(self.key, self.text)
            return None
        parts = self._parts
        name, text = parts.name, self.text
        if "$" in name:
            name = run.expand(name)
        if parts.operator == "=" and name[:1] in {"+", "-"}:
            run.define(f"my.{name[1:].lower()}", text if name[0] == "+" else "", is_raw=True)
            return None
        if not is_name(name):
            message = f"Illegal Identifier: <{short(name)}>: names are made of letters, digits, _ . and /"
            raise Stop(fault("macro-name", message, self.line.span(0, max(1, len(parts.name)))))
        key = name.lower()
        if parts.operator == "+=":
            earlier = run.lookup(key)
            if earlier:
                run.budget.spend(len(earlier))
                text = earlier + parts.joint + text
        run.define(key, text)
        return None

    check = run


class Heredoc(RunnableLine):
    """``name @=tag``: the value is the lines up to one that is ``@tag``."""

    def __init__(self, line: LogicalLine, parts: Parts) -> None:
        super().__init__(line)
        self._parts = parts
        self.tag = "@" + line.text[parts.value :]
        self._body: tuple[str, int] | None = None

    def run(self, run: TransformRun) -> int | None:
        """Define the macro, and continue after the tag."""
        name = self._parts.name
        if "$" in name:
            name = run.expand(name)
        if not is_name(name):
            message = f"Illegal Identifier: <{short(name)}>: names are made of letters, digits, _ . and /"
            raise Stop(fault("macro-name", message, self.line.span(0, max(1, len(self._parts.name)))))
        if self._body is None:
            self._body = run.body(self.tag)
        if self._body is None:
            message = f"Found end-of-file while scanning for '{short(self.tag)}'"
            raise Stop(fault("heredoc", message, self.line.span(), f"end the value with a line {short(self.tag)}"))
        text, end = self._body
        run.define(name.lower(), text)
        return end

    check = run


class Said(RunnableLine):
    """``error : text`` and ``warning : text``."""

    def __init__(self, line: LogicalLine, at: int, *, is_error: bool) -> None:
        super().__init__(line)
        self._at = at
        self._is_error = is_error

    def run(self, run: TransformRun) -> int | None:
        """Report it."""
        said = run.expand(self.line.text[self._at :])
        if self._is_error:
            raise Stop(fault("error-statement", f"the rules have an error statement: {said}", self.line.span()))
        run.warn("warning-statement", f"the rules have a warning statement: {said}", None)
        return None

    check = run


def compile_line(line: LogicalLine) -> RunnableLine:
    """Return what a line does.

    line = conditional | ":" behind_colon | plain
    """
    keyword = conditional(line.text)
    if keyword:
        return Condition(line, keyword)
    if line.text.startswith(":"):
        return Hidden(line)
    return _plain(line)


def _behind_colon(line: LogicalLine) -> RunnableLine:
    """Return the effect of a line inside an if; only one colon is skipped, and no blank after it.

    A blank hides the first word from HTCondor's search for a conditional and for the name of a macro.

    behind_colon = line | command
    """
    behind = line.behind(1)
    if behind.text.startswith(":"):
        return _plain(behind)
    if line.text[1:2] in {*BLANKS} and not behind.text.startswith(("=", "+=", "@=")):
        return command(behind)
    return compile_line(behind)


def _plain(line: LogicalLine) -> RunnableLine:
    """Return the effect of a line that is not a conditional.

    plain = ("error" | "warning") ":" text | assignment | command
    assignment = attribute "=" text | name ("=" | append) text | name "@=" tag body
    attribute = [-+] word
    """
    parts = split(line.text)
    word = parts.name.removeprefix("@").lower()
    if parts.operator == ":" and word in {"error", "warning"}:
        return Said(line, parts.value, is_error=word == "error")
    if parts.operator == ":" and word in _FORBIDDEN:
        message, help_text = _FORBIDDEN[word]
        return LineFault(line, lambda: fault(word, message, line.span(), help_text))
    if parts.is_sentence or parts.operator in {"", ":"} or parts.name.lower() == "queue":
        return command(line)
    return Heredoc(line, parts) if parts.operator == "@=" else Assignment(line, parts)


_SPACED = re.compile(r"\$\([ \t]+[A-Za-z0-9_.]+[ \t]*\)|\$\([A-Za-z0-9_.]+[ \t]+\)")
_TARGET = re.compile(r"(?i)\btarget\.")
_EVALUATED = frozenset(("EVALSET", "EVALMACRO"))
_MEANT = {
    "REQUIREMENTS": "this defines a macro: the transform has no REQUIREMENTS and applies to every ad",
    "TRANSFORM": "this defines a macro: nothing is done more than once",
}


def find_traps(statements: Sequence[RunnableLine]) -> Iterator[Diagnostic]:
    """Yield warnings for lines that HTCondor reads differently than intended."""
    for statement in statements:
        line = statement.line
        yield from _assigned_keyword(line)
        for found in _SPACED.finditer(line.text):
            message = f"{short(found[0])} stays as it is: a macro has no blanks inside its parentheses"
            yield warning("macro-blanks", message, line.span(*found.span()), fix=re.sub(r"[ \t]+", "", found[0]))
        if isinstance(statement, NamedCommand):
            yield from _command(statement)


def find_hidden_faults(statements: Sequence[RunnableLine], faults: Collection[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield warnings for lines that HTCondor refuses when an ad reaches them, but not on loading."""
    tag = None
    known = {each.span.source.position(each.span.start)[0] for each in faults if each.span is not None}
    for statement in statements:
        if tag is not None:
            tag = None if statement.line.text == tag else tag
            continue
        if isinstance(statement, Heredoc):
            tag = statement.tag
        found = statement.seen(is_inside=True)
        if isinstance(found, LineFault) and found.line.span().line not in known:
            message = f"{found.diagnostic.message}: an ad that leads here fails"
            yield replace(found.diagnostic, message=message, severity=Severity.WARNING)


def _assigned_keyword(line: LogicalLine) -> Iterator[Diagnostic]:
    parts = split(line.text)
    keyword = parts.name.upper()
    if keyword in KEYWORDS and parts.operator in {"=", "+=", "@="} and not parts.is_sentence:
        message = _MEANT.get(keyword, f"this defines a macro named {parts.name}, not a command")
        value = line.text[parts.value :]
        yield warning("keyword-assigned", message, line.span(0, parts.value), "remove the sign", f"{keyword} {value}")


def _command(of: NamedCommand) -> Iterator[Diagnostic]:
    second = of.words[1]
    raw = second.text
    if not isinstance(of, ByPattern) and raw[-1:] in {",", "="}:
        then = ", so that nothing is deleted" if of.keyword == "DELETE" else ""
        message = f"HTCondor 25.14 makes a name of {raw} that ends in a NUL character{then}; crondor takes {of.name}"
        yield warning(
            "name-sign", message, of.line.span(second.start, second.end), "put a blank before the sign", of.name
        )
    if isinstance(of, ByPattern):
        yield from _pattern(of)
    else:
        yield from _name(of)
    if of.keyword == "DELETE":
        if not isinstance(of, ByPattern) and next_word(of.line.text, second.next) is not None:
            message = "DELETE takes one name: the text after it is ignored"
            yield warning("delete-words", message, of.line.span(second.end), "write one line per name")
        return
    yield from _rest(of)


def _name(of: NamedCommand) -> Iterator[Diagnostic]:
    """Yield a warning for a name that is probably not an attribute: it is used literally."""
    name, second = of.name, of.words[1]
    span = of.line.span(second.start, second.end)
    head, dot, tail = name.partition(".")
    if "$(" in name:
        message = f"{short(name)} is the name itself: no macro is replaced in the name after {of.keyword}"
        yield warning("name-macro", message, span, "write the name out; only what follows it may have macros")
    elif of.keyword == "EVALMACRO":
        return
    elif dot and head.lower() in {"my", "target"}:
        message = f"{short(name)} is an attribute with a dot in its name, not {short(tail)} of the ad"
        fix = tail if second.start == second.at and is_attribute_name(tail) else None
        yield warning("name-scope", message, span, f"leave {head}. out: commands are about the ad itself", fix)
    elif of.keyword in {"SET", "DEFAULT", "EVALSET"} and not is_attribute_name(name):
        message = f"{short(name) or 'an empty text'} is not a plain name: expressions need single quotes around it"
        yield warning(
            "name-odd", message, span, "a name is made of letters, digits and _, and does not begin with a digit"
        )


def _rest(of: NamedCommand) -> Iterator[Diagnostic]:
    """Yield warnings for the text after the name."""
    text = of.rest.text
    if of.keyword in _EVALUATED and _TARGET.search(text):
        message = f"TARGET is undefined in {of.keyword}: the expression is evaluated in the ad alone"
        yield warning("evalset-target", message, _rest_span(of), "write MY. or the bare name")
    if not of.rest.is_plain:
        return
    if of.keyword in {"SET", "DEFAULT"}:
        yield from _set(of)
    elif of.keyword in _EVALUATED:
        yield from _evaluated(of)
    elif of.keyword in {"COPY", "RENAME"} and not isinstance(of, ByPattern) and not is_attribute_name(text):
        message = f"{of.keyword} {of.name} new name {text} is not valid"
        help_text = "nothing is done: a name is made of letters, digits and _, and does not begin with a digit"
        yield warning("new-name", message, _rest_span(of), help_text)


def _rest_span(of: NamedCommand, start: int = 0, end: int | None = None) -> Span:
    """Return the place of the text after the name, or of a piece of it."""
    begin = len(of.line.text) - len(of.rest.text)
    return of.line.span(begin + start, None if end is None else begin + end)


def _set(of: NamedCommand) -> Iterator[Diagnostic]:
    """Yield a warning for an invalid expression, or one that is only valid at its beginning."""
    text = of.rest.text
    if settled(text) is None:
        reason = why_not(text, open_choice=True)
        help_text = f"{reason.message}; " if reason is not None else ""
        message = f"SET {of.name} invalid expression : {text}"
        span = _rest_span(of)
        if reason is not None and reason.span is not None and reason.span.start < len(text):
            span = _rest_span(of, reason.span.start, max(reason.span.end, reason.span.start + 1))
        yield warning("set-expression", message, span, f"{help_text}HTCondor reports this for each ad")
    elif "?" in text and (reason := why_not(text)) is not None:
        message = f"{of.keyword} takes only the beginning of {short(text)} that is an expression"
        yield warning("set-rest", message, _rest_span(of), reason.message)


def _evaluated(of: NamedCommand) -> Iterator[Diagnostic]:
    """Yield a warning for an expression to evaluate that is invalid, or only valid at its beginning."""
    text = of.rest.text
    reason = why_not(text, old=False)
    if reason is None:
        return
    if evaluation(text).is_none:
        message = f"{of.keyword} {of.name} could not evaluate : {text}"
        help_text = f"{reason.message}; HTCondor reports this for each ad"
        yield warning(of.keyword.lower(), message, _rest_span(of), help_text)
    else:
        message = f"{of.keyword} takes only the beginning of {short(text)} that is an expression"
        yield warning("evalset-rest", message, _rest_span(of), reason.message)


def _pattern(of: ByPattern) -> Iterator[Diagnostic]:
    regex = of.compiled()
    if regex is None:
        message = f"Error compiling regex '{of.name}': this entry will be ignored"
        yield warning("regex", message, of.line.span(of.words[1].start), "correct the expression")
        return
    for found in re.finditer(r"\\([0-9])", "" if of.keyword == "DELETE" else of.rest.text):
        if int(found[1]) > regex.groups:
            message = f"{found[0]} stays as it is: the expression has {regex.groups} groups"
            yield warning("regex-group", message, _rest_span(of, *found.span()), "put parentheses around what is meant")
    if "g" in of.options:
        message = "with the option g the expression only matches at the beginning of a name"
        yield warning("regex-g", message, of.line.span(of.words[1].start), "remove it: all names are searched anyway")
