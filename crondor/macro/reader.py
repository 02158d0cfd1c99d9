r"""What submit descriptions and configurations have in common as texts of statements: HTCondor 25.14's Parse_macros.

Conditionals, included files and templates, values of several lines, the lines a text says itself. What an assignment
means, and which other statements there are, a language says itself. Each method that reads a piece of the text states
the rule it reads in EBNF; blanks may stand between the pieces of a rule without [classes], and case does not matter.

word = [^ \t\r\n\v\f=:]*
text = [^\n]*
tag = [^\n]*
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from crondor._files import odd_comment
from crondor.diagnostics import CrondorError, Source, Span
from crondor.macro import BLANKS
from crondor.macro.conditions import ConditionError, IfStack, parse_include
from crondor.macro.lines import Budget, LineReader, LogicalLine, MacroError

if TYPE_CHECKING:
    from crondor.macro.conditions import Conditions, UsedTemplate
    from crondor.macro.files import Files

_HEAD = re.compile(r"([^ \t\r\n\v\f=:]*)([ \t\r\n\v\f]*)")
_OPERATOR = re.compile(r"[=:@+]")
_APPEND = r"\+(?:([,;|&*])(\1)?)?="
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./")
_CONDITIONALS = frozenset(("if", "elif", "else", "endif"))
_QUEUES = frozenset(("queue", "iter", "itera", "iterat", "iterate"))
_LONGEST = len("iterate") + 1


class Statement(NamedTuple):
    """A parsed line: ``operator`` is ``=``, ``:``, ``@=``, ``+=`` or nothing; ``value`` is where a value begins.

    ``is_sentence``: there are words between the name and the operator; ``joint`` is what ``+=`` puts between the old
    text and the new one.
    """

    name: str
    operator: str
    at: int
    value: int
    is_sentence: bool
    joint: str = " "


def split(text: str) -> Statement:
    """Parse a line; never fails, since anything but a statement has no operator.

    parts = word text? operator text
    operator = "=" | ":" | "@=" | append
    append = "+" ([,;|&*] | ",," | ";;" | "||" | "&&" | "**")? "="
    """
    head = _HEAD.match(text)
    name, at = (head[1], head.end()) if head else ("", 0)
    is_sentence = False
    found = _OPERATOR.match(text, at)
    if found is None and at < len(text):
        is_sentence = True
        found = _OPERATOR.search(text, at)
    if found is None:
        return Statement(name, "", at, at, is_sentence)
    at, operator, end, joint = found.start(), found[0], found.end(), " "
    if operator == "@":
        operator, end = ("@=", end + 1) if text.startswith("=", end) else ("", end)
    elif operator == "+":
        append = re.compile(_APPEND).match(text, at)
        operator, end = ("+=", append.end()) if append else ("", end)
        if append and append[1]:
            joint = f" {append[1] * 2} " if append[2] else append[1]
    value = len(text) - len(text[end:].lstrip(BLANKS))
    return Statement(name, operator, at, value, is_sentence, joint)


def is_name(text: str) -> bool:
    """Return whether HTCondor accepts the text as the name of a macro (is_valid_param_name).

    name = [A-Za-z0-9_./]+
    """
    return bool(text) and _NAME.issuperset(text)


def is_hidden_if(text: str) -> bool:
    """Return whether a line is an if after a colon, which hides it from releases without conditionals."""
    return text[:3] == ":if" and text[3:4] in {"", *BLANKS}


def conditional(text: str) -> str:
    """Return the keyword of an if, elif, else or endif line in lower case, else nothing."""
    word = _first_word(text)
    return word if word in _CONDITIONALS else ""


def queue_arguments(text: str) -> int | None:
    """Return where the arguments of a queue statement begin, None if the line is none (``iterate`` is the same)."""
    word = _first_word(text)
    if word not in _QUEUES:
        return None
    return len(text) - len(text[len(word) :].lstrip(BLANKS))


def _first_word(text: str) -> str:
    """Return the first word in lower case, cut if it is too long to matter."""
    word = text[:_LONGEST]
    for index, char in enumerate(word):
        if char in BLANKS:
            return word[:index].lower()
    return word.lower()


MAX_DEPTH = 20  # HTCondor's CONFIG_MAX_NESTING_DEPTH
MAX_INCLUDES = 1000  # of one file, so that files which include each other twice end
KEYWORDS = frozenset(("include", "use", "error", "warning"))
_CONDITION = "write a number, true or false, defined NAME, or version >= 8.1.6, with ! for the contrary"


class Words(NamedTuple):
    """The wording of a language for common faults: its reader, the contents of a file, the codes of the findings.

    An empty code: the language does not check that.
    """

    reader: str
    contents: str
    conditional: str
    name: str
    line_end: str
    comment: str
    include: str
    hidden: str
    use: str
    heredoc: str
    nested: str
    error: str
    warning: str


class StatementFindings(Protocol):
    """Collects findings; each method may raise when it makes no sense to continue."""

    def error(self, code: str, message: str, span: Span, help: str | None = None, fix: str | None = None) -> None:
        """Add a fault."""

    def warn(self, code: str, message: str, span: Span, help: str | None = None) -> None:
        """Add a warning."""

    def hide(self, code: str, message: str, span: Span, help: str | None = None) -> None:
        """Add a warning for what HTCondor would read or run, and crondor does not."""

    def stop(self) -> None:
        """End the reading, which has an error."""


class StatementReader(ABC):
    """One reading of a text and of those it includes; ``lines`` are those of the present one.

    ``depth`` counts the texts around it, ``ifs`` has the conditionals around the present line, ``opened`` where they
    begin; ``sources`` are the texts read so far.
    """

    words: ClassVar[Words]
    found: StatementFindings

    def __init__(self, files: Files | None, budget: Budget) -> None:
        """Read included files if ``files`` are given; all macros together cost no more than ``budget``."""
        self.files = files
        self.budget = budget
        self.lines = LineReader(Source(""))
        self.ifs: IfStack | None = None
        self.opened: list[Span] = []
        self.depth = 0
        self.sources: list[Source] = []
        self._includes = 0

    # Defined by each language.

    @abstractmethod
    def expanded(self, text: str, span: Span) -> str:
        """Return a text with its macros expanded at the present line. Raises MacroError."""

    @abstractmethod
    def macro_fault(self, error: MacroError, span: Span) -> None:
        """Add the fault of a macro."""

    @abstractmethod
    def conditions(self, span: Span) -> Conditions:
        """Return the context of the condition of an if."""

    @abstractmethod
    def other(self, parts: Statement, line: LogicalLine) -> None:
        """Read a statement that is not a conditional and begins with no keyword. May raise MacroError."""

    @abstractmethod
    def use(self, category: str, listed: str, span: Span) -> None:
        """Read the templates of a use statement. May raise MacroError."""

    @abstractmethod
    def command(self, command: str, into: str, span: Span, *, is_pipe: bool) -> None:
        """Report the command of an include; ``into`` is the file for its output, if any."""

    @abstractmethod
    def refused(self, error: CrondorError, span: Span, *, may_miss: bool) -> None:
        """Report why a file cannot be included."""

    def condition_help(self, reason: str) -> str | None:
        """Return what to write instead of a conditional that is refused for a reason."""
        return _CONDITION if "complex" in reason or "expression" in reason else None

    def next_line(self) -> LogicalLine | None:
        """Return the next line that is neither blank nor a comment, None at the end."""
        return self.lines.statement()

    # Common to all.

    def run(self, source: Source) -> None:
        """Read a text in place of the present line.

        statements = line*
        """
        odd = odd_comment(source)
        if odd is not None and odd.span is not None:
            self.found.warn(odd.kind, odd.message, odd.span, odd.help)
        around = self.lines, self.ifs, self.opened
        self.lines, self.ifs, self.opened = LineReader(source), None, []
        while (line := self.next_line()) is not None:
            self._line(line)
        if self.is_inside_if:
            message = "endif(s) not found before end-of-file"
            end = source.span(len(source.text))
            self.found.error(self.words.conditional, message, end, "close each if with endif")
        self.lines, self.ifs, self.opened = around

    def run_inside(self, source: Source) -> None:
        """Read a text that a statement of the present one includes."""
        self.depth += 1
        self.run(source)
        self.depth -= 1

    @property
    def is_inside_if(self) -> bool:
        """Whether an endif is still to come."""
        return self.ifs is not None and self.ifs.is_open

    def _line(self, line: LogicalLine) -> None:
        """Read a line; a colon hides an if, and its contents, from releases without conditionals.

        line = ":"? (conditional | statement)
        """
        if line.text[0] == ":" and len(line.text) > 1 and (self.is_inside_if or is_hidden_if(line.text)):
            if line.text[1] in BLANKS:
                self._nameless(line)
                return
            line = line.behind(1)
        keyword = conditional(line.text)
        try:
            if keyword:
                self._conditional(keyword, line)
            elif self.ifs is None or self.ifs.holds:
                self._statement(line)
        except MacroError as error:
            self.macro_fault(error, line.span())

    def _nameless(self, line: LogicalLine) -> None:
        """Report a line with a blank after its colon: not even an if is recognized in it."""
        if self.ifs is None or self.ifs.holds:
            shown = line.behind(1)
            blanks = line.span(1, len(line.text) - len(shown.text))
            message = f"a blank comes after the colon, so that {self.words.reader} finds no name here"
            self.found.error(self.words.name, message, blanks, f"write :{shown.text[:60]}")

    def _conditional(self, keyword: str, line: LogicalLine) -> None:
        """Read a line that begins or ends a branch.

        conditional = ("if" | "elif") condition | "else" | "endif"
        """
        if self.ifs is None:
            self.ifs = IfStack()
        if keyword == "if":
            self.opened.append(line.span())
        elif keyword == "endif" and self.opened:
            self.opened.pop()
        condition = line.text[len(keyword) :].lstrip(BLANKS)
        try:
            self.ifs.enter(keyword, condition, self.conditions(line.span()))
        except ConditionError as error:
            reason = str(error)
            self.found.error(self.words.conditional, reason, line.span(), self.condition_help(reason))

    def _statement(self, line: LogicalLine) -> None:
        """Read a line that is not a conditional. Raises MacroError.

        statement = include | use | ("error" | "warning") ":" text | other
        """
        words = self.words
        if line.is_ragged:
            message = f"{words.reader} does not read an indented last line without a line end"
            self.found.error(words.line_end, message, line.span(), "end the file with a line end")
            return
        if line.swallowed:
            message = f"{words.reader} reads the last character of this comment as part of the line it interrupts"
            self.found.warn(words.comment, message, line.swallowed, "end the comment with a backslash")
        parts = split(line.text)
        word = parts.name.removeprefix("@").lower()
        if parts.operator != ":" or word not in KEYWORDS:
            self.other(parts, line)
        elif word == "include":
            self._include(parts, line)
        elif word == "use":
            self._use(parts, line)
        else:
            said = self.expanded(line.text[parts.value :], line.span())
            if word == "error":
                self.found.error(words.error, f"the file has an error statement: {said}", line.span())
            else:
                self.found.warn(words.warning, f"the file has a warning statement: {said}", line.span())

    def _include(self, parts: Statement, line: LogicalLine) -> None:
        """Read the file or report the command (which is not run) of an include statement.

        include = "include" include_words ":" text
        """
        span = line.span()
        words = line.text[len(parts.name) : parts.at].strip(BLANKS)
        include = parse_include(words)
        if include is None:
            message = f"unexpected keyword(s) '{words[:60]}' after include"
            self.found.error(self.words.include, message, span, "write include : FILE, or include ifexist : FILE")
            return
        named = self.expanded(line.text[parts.value :], span)
        into = self.expanded(include.into, span)
        if not named and include.may_miss:
            return
        if include.is_command or "|" in named:
            self.command(named, into, span, is_pipe=not include.is_command)
        else:
            self.include_file(named, span, may_miss=include.may_miss)

    def include_file(self, path: str, span: Span, *, may_miss: bool) -> None:
        """Read a file in place of the present line; one that ``may_miss`` may be missing. Raises MacroError."""
        if self.files is None:
            message = f"crondor opens no file here, including {path[:60]}: {self.words.contents}"
            self.found.hide(self.words.hidden, message, span, "paste its lines in place of this one")
            return
        self._includes += 1
        if self.depth + 1 >= MAX_DEPTH or self._includes > MAX_INCLUDES:
            message = "includes nested too deep"
            self.found.error(self.words.include, message, span, "a file probably includes itself")
            self.found.stop()
        try:
            source = self.files.read(path)
        except CrondorError as error:
            self.refused(error, span, may_miss=may_miss)
            return
        self.sources.append(source)
        self.budget.spend(len(source.text))
        self.run_inside(source)

    def _use(self, parts: Statement, line: LogicalLine) -> None:
        """Read a use statement. Raises MacroError.

        use = "use" word ":" uses
        """
        span = line.span()
        category = self.expanded(line.text[len(parts.name) : parts.at].strip(BLANKS), span)
        self.use(category, line.text[parts.value :], span)

    def run_template(self, category: str, use: UsedTemplate, text: Source, span: Span) -> None:
        """Read the text of a template in place of the present line."""
        if self.depth + 1 >= MAX_DEPTH:
            message = f"use {category}: {use.name[:60]} nesting too deep"
            self.found.error(self.words.use, message, span)
            self.found.stop()
        self.run_inside(text)

    def body(self, parts: Statement, line: LogicalLine) -> list[LogicalLine] | None:
        r"""Read the lines of a value up to its tag; None if there is none. Raises MacroError.

        body = ("\n" text)* "\n" "@" tag
        """
        tag = "@" + line.text[parts.value :]
        found: list[LogicalLine] = []
        size = 0
        near: LogicalLine | None = None
        while (inner := self.next_line()) is not None and inner.text != tag:
            size += len(inner.text) + 1
            near = inner if inner.text.lower() == tag.lower() else near
            if self.words.nested and inner.text.endswith(tag[1:]):
                self._warn_of_nested(parts, tag, inner)
            if size <= self.budget.size:
                found.append(inner)
        if inner is None:
            message = f"Found end-of-file while scanning for '{tag[:60]}'"
            help_text = f"end the value with a line {tag[:60]}"
            if near is not None:
                help_text += f"; {near.text[:60]} in line {near.span().line} is another word"
            self.found.error(self.words.heredoc, message, line.span(), help_text)
            return None
        if size > self.budget.size + 1:
            raise MacroError("macro-size", f"the value has more than {self.budget.size} characters")
        return found

    def _warn_of_nested(self, parts: Statement, tag: str, inner: LogicalLine) -> None:
        """Warn about a value that begins inside one with the same tag: the end of the outer one is missing."""
        begun = split(inner.text)
        if begun.operator == "@=" and inner.text[begun.value :] == tag[1:]:
            message = (
                f"the {tag[:60]} of {parts.name[:60]} is missing, so {begun.name[:60]} is read as part of its value"
            )
            self.found.warn(self.words.nested, message, inner.span(), f"write a line {tag[:60]} before this one")
