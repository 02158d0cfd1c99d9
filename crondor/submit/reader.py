"""From the text of a submit description to its definitions and queue statements, all faults at once."""

from __future__ import annotations

from crondor.macro import BLANKS, Budget, LineReader, LogicalLine, MacroError, expand, expand_self
from crondor.source import Source, Span
from crondor.submit import queue as queue_statement
from crondor.submit import statement
from crondor.submit.errors import Findings
from crondor.submit.file import SubmitFile
from crondor.submit.jobs import Queue
from crondor.submit.queue import Arguments, Part, QueueError
from crondor.submit.scope import Job, Scope
from crondor.submit.statement import Statement
from crondor.submit.table import Table

MAX_ROWS = 1_000_000  # lines of one item list
_USED_UP = "<Queue_item>"  # what HTCondor leaves in a loop variable behind its queue statement
_KEYWORDS = frozenset(("include", "use", "error", "warning"))


def read_submit(source: Source) -> SubmitFile:
    """Read a submit description; nothing is run, opened or looked up outside of the text.

    Raises InvalidSubmit with all faults at once: what HTCondor refuses, and what crondor does not read yet
    (conditionals, include, use, @=, items from files or commands). A macro function such as $ENV() is no fault here:
    SubmitFile.groups() says so when a value asked for needs it.
    """
    return _Reader(source).read()


class _Reader:
    """One reading: the lines, what they defined so far, and what was found wrong."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.lines = LineReader(source)
        self.table = Table(source)
        self.found = Findings()
        self.budget = Budget()
        self.queues: list[Queue] = []
        self.jobs = 0
        self.last_job = Job()
        self.after_queue: Span | None = None
        self.inside_if = 0

    def read(self) -> SubmitFile:
        self._check_text()
        is_empty = True
        while (line := self.lines.statement()) is not None:
            is_empty = False
            self._line(line)
        end = self.source.span(len(self.source.text))
        if is_empty:
            self.found.error("empty-file", "the file holds no submit command", end)
        self.found.check()
        if not self.queues:
            # Recorded of 25.14; since which release is not known.
            message = "the file has no queue statement: HTCondor 25.14 makes one job of it, older releases refuse it"
            self.found.warn("no-queue", message, end, "end the file with a line that says queue")
            self._add(Arguments(), end, is_implied=True)
        elif self.after_queue is not None:
            message = "this stands behind the last queue statement and has no effect"
            self.found.warn("after-queue", message, self.after_queue, "move it before the queue statement")
        return SubmitFile(self.source, tuple(self.queues), tuple(self.found.warnings), self.table)

    def _check_text(self) -> None:
        text = self.source.text
        if text.startswith("\ufeff"):
            message = "the file begins with a byte order mark, which condor_submit takes for a part of the first name"
            self.found.error("byte-order-mark", message, self.source.span(0, 1), "save it without one", fix="")
        nul = text.find("\0")
        if nul >= 0:
            self.found.error("not-text", "the file is not text: it has a NUL character", self.source.span(nul, nul + 1))
            self.found.check()

    def _line(self, line: LogicalLine) -> None:
        text = line.text
        keyword = statement.conditional(text)
        if keyword or self.inside_if:
            self._conditional(keyword, line)
            return
        if line.is_ragged:
            message = "condor_submit does not read an indented last line without a line end"
            self.found.error("no-line-end", message, line.span(), "end the file with a line end")
            return
        if line.swallowed:
            message = "condor_submit reads the last character of this comment as part of the line it interrupts"
            self.found.warn("comment-in-line", message, line.swallowed, "end the comment with a backslash")
        parts = statement.split(text)
        word = parts.name.removeprefix("@").lower()
        if parts.operator == ":" and word in _KEYWORDS:
            self._keyword(word, parts, line)
        elif parts.is_sentence or not parts.operator or parts.operator == ":" or parts.name.lower() == "queue":
            self._queue_or_fault(parts, line)
        else:
            self._assignment(parts, line)

    def _conditional(self, keyword: str, line: LogicalLine) -> None:
        """Report the outermost if and step over what it holds: which branch holds is not known here."""
        if keyword == "if":
            self.inside_if += 1
            if self.inside_if == 1:
                instead = "write the lines of the branch that holds without if and endif"
                self.found.unread("this is a conditional", line.span(), instead)
        elif keyword and not self.inside_if:
            self.found.error("conditional", f"{keyword} without an if before it", line.span())
        elif keyword == "endif":
            self.inside_if -= 1

    def _keyword(self, word: str, parts: Statement, line: LogicalLine) -> None:
        span = line.span()
        said = line.text[parts.value :]
        if word == "include":
            self.found.unread("this includes other text", span, "paste what it includes in its place")
        elif word == "use":
            self.found.unread("this uses a template of the configuration", span, "paste the template in its place")
        elif word == "error":
            self.found.error("error-statement", f"the file itself says that it is wrong: {said}", span)
        else:
            self.found.warn("warning-statement", f"the file itself warns: {said}", span)

    def _queue_or_fault(self, parts: Statement, line: LogicalLine) -> None:
        begin = statement.queue_arguments(line.text)
        if begin is not None:
            self._queue(begin, line)
            return
        if parts.operator == ":" and not parts.is_sentence:
            message = f"condor_submit does not read a colon behind {parts.name}"
            self.found.error("colon", message, line.span(parts.at, parts.at + 1), "write = instead of :", fix="=")
            return
        name, rest = parts.name, line.text[len(parts.name) :].strip(BLANKS)
        shown = f"{name} = {rest or '...'}"
        self.found.error(
            "no-statement",
            "this line is neither an assignment nor a queue statement",
            line.span(),
            f"write {shown}" if statement.is_name(name) and len(shown) <= 80 and "=" not in rest else None,
        )

    def _assignment(self, parts: Statement, line: LogicalLine) -> None:
        name = parts.name
        try:
            if "$" in name:
                name = expand(name, self._now().lookup, self.budget)
            if parts.operator == "=" and name[:1] in {"+", "-"}:
                self._define_attribute(name, parts, line)
            elif not statement.is_name(name):
                message = f"{name or 'nothing'} is not a name: names are made of letters, digits, _ . and /"
                self.found.error("bad-name", message, line.span(0, len(parts.name)))
            elif parts.operator == "@=":
                self._heredoc(parts, line)
            else:
                self._define_macro(name.lower(), parts, line)
        except MacroError as error:
            self._macro_fault(error, line.span())

    def _define_attribute(self, name: str, parts: Statement, line: LogicalLine) -> None:
        """Define +Attr, or -Attr, which makes the attribute undefined whatever follows; any name will do."""
        key = f"my.{name[1:].lower()}"
        value = parts.value if name[0] == "+" else len(line.text)
        text = line.text[value:]
        earlier = self.table.at(key, self.table.version)
        if earlier is not None:
            text = expand_self(text, key, earlier.text, self.budget)
        self._define(key, text, value, line, len(parts.name))

    def _define_macro(self, key: str, parts: Statement, line: LogicalLine) -> None:
        text = line.text[parts.value :]
        if parts.operator == "+=":
            earlier = self._now().lookup(key)
            if earlier:
                self.budget.spend(len(earlier))
                text = earlier + parts.joint + text
                if len(text) > self.budget.size:
                    raise MacroError("macro-size", f"{key} has grown to more than {self.budget.size} characters")
        if "$" in text:
            text = expand_self(text, key, self._now().lookup(key), self.budget)
        self._define(key, text, parts.value, line, len(parts.name))

    def _define(self, key: str, text: str, value: int, line: LogicalLine, name: int) -> None:
        """Assign a text; the value stands at ``value`` in the line, and the name is ``name`` characters long."""
        self.table.define(key, text, line.place(value), line.place(0, name))
        if self.queues and self.after_queue is None:
            self.after_queue = line.span(0, name)

    def _heredoc(self, parts: Statement, line: LogicalLine) -> None:
        """Report a value of several lines and step over them."""
        self.found.unread("this begins a value of several lines", line.span(), "write the value on one line, behind =")
        tag = "@" + line.text[parts.value :]
        while (inner := self.lines.statement()) is not None:
            if inner.text == tag:
                return
        self.found.error("heredoc", f"the file ends without a line {tag}", line.span())

    def _macro_fault(self, error: MacroError, span: Span) -> None:
        for fault in error.diagnostics:
            self.found.error(fault.code, fault.message, span, fault.help)
        if self.budget.left < 0:
            self.found.check()  # nothing that follows could be expanded either

    def _now(self) -> Scope:
        """Return what names mean here, between the jobs of the last queue statement and those of the next."""
        return Scope(self.table, self.table.version, self.last_job)

    def _queue(self, begin: int, line: LogicalLine) -> None:
        """Read a queue statement with its list and add its jobs."""
        raw = line.text[begin:]
        span = line.span()
        try:
            text = expand(raw, self._now().lookup, self.budget)
            arguments = queue_statement.parse(text, line if text == raw else None, begin)
        except MacroError as error:
            self._macro_fault(error, line.span(begin))
            return
        except QueueError as error:
            self.found.error(error.code, error.message, line.span(begin), error.help)
            if raw.endswith("("):
                self._rows(span)
            return
        if arguments.is_open:
            arguments = arguments._replace(parts=(*(arguments.parts or ()), *self._list(arguments, span)))
        self._add(arguments, span)

    def _list(self, arguments: Arguments, span: Span) -> list[Part]:
        rows = self._rows(span)
        if arguments.is_row_list:
            blank = next((row for row in rows if not row.text.strip(BLANKS)), None)
            if blank is not None:
                message = "a blank line in a list is a row: its jobs get the values of the row before"
                self.found.warn("blank-row", message, blank.span(), "remove it")
        return [Part(row.text, row, 0, arguments.is_row_list) for row in rows]

    def _rows(self, span: Span) -> list[LogicalLine]:
        """Read the lines of a list up to its closing parenthesis."""
        rows: list[LogicalLine] = []
        while (row := self.lines.item()) is not None:
            if row.text.startswith(")") and not row.is_ragged:
                return rows
            if not row.text.startswith("#"):
                rows.append(row)
            if len(rows) > MAX_ROWS:
                self.found.error("queue-list", f"crondor reads no more than {MAX_ROWS} lines of a list", span)
                self.found.check()
        message = "the file ends without the closing parenthesis of this list"
        self.found.error("queue-list", message, span, "put ) on a line of its own behind the last item")
        return rows

    def _add(self, arguments: Arguments, span: Span, *, is_implied: bool = False) -> None:
        """Add a queue statement, and leave behind it what HTCondor leaves: used loop variables, the last job."""
        rows = 1 if arguments.parts is None else sum(1 for part in arguments.parts for _ in part.items())
        queue = Queue(len(self.queues), span, self.table.keep(), self.jobs, arguments, rows, is_implied)
        self.queues.append(queue)
        self.after_queue = None
        if arguments.per_item == 0:
            self.found.warn("queue-zero", "queue 0 makes one job", span, "remove the line if there should be none")
        if not queue.jobs:
            self.found.warn("queue-empty", "the list is empty: this makes no job", span)
            return
        self.jobs += queue.jobs
        self.last_job = Job(self.jobs - 1, queue.steps - 1, queue.selected[-1])
        if arguments.parts is None:
            self._leave("item", "", span)
        for variable in arguments.variables:
            self._leave(variable, _USED_UP, span)

    def _leave(self, key: str, text: str, span: Span) -> None:
        now = self.table.at(key, self.table.version)
        if now is None or now.text != text:
            self.table.define(key, text, (span.start, span.end))
