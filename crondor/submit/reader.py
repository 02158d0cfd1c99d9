"""From the text of a submit description to its definitions and queue statements, all faults at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import tzinfo
from typing import TYPE_CHECKING

from crondor.diagnostics import CrondorError
from crondor.macro import BLANKS, LineReader, LogicalLine, MacroError, expand_self, statement
from crondor.macro import queue as queue_statement
from crondor.macro.queue import Arguments, QueueError
from crondor.macro.statement import Statement
from crondor.source import Source, Span
from crondor.submit.facts import Facts
from crondor.submit.file import SubmitFile
from crondor.submit.host import SubmitHost
from crondor.submit.workspace import Workspace

if TYPE_CHECKING:
    from crondor.macro.conditions import Conditions, IfStack
    from crondor.macro.files import Files
    from crondor.submit.listing import Listing

_KEYWORDS = frozenset(("include", "use", "error", "warning"))
_FACTS = SubmitHost()


def read_submit(  # noqa: PLR0913 - all that a submit description may see beside its text, by name
    source: Source,
    *,
    files: Files | None = None,
    environ: Mapping[str, str] | None = None,
    now: int | None = None,
    zone: tzinfo | None = None,
    seed: int | None = None,
    host: SubmitHost = _FACTS,
    config: Mapping[str, str] | None = None,
    append: Iterable[str] = (),
    queue: str | None = None,
) -> SubmitFile:
    """Read a submit description as condor_submit 25.14 does; nothing is run, and no file is opened without ``files``.

    ``environ`` is what $ENV() sees; ``now`` (epoch seconds) and ``zone`` make $(SUBMIT_TIME), $(YEAR), $(MONTH) and
    $(DAY); ``seed`` makes $RANDOM_INTEGER() and $RANDOM_CHOICE() draw, the same for the same seed; ``config`` has the
    knobs of the configuration by name, of which the SUBMIT_TEMPLATE_* matter; ``append`` and ``queue`` are
    condor_submit's -append lines and -queue arguments. What is None is not known: SubmitFile.groups() says so where a
    value asked for needs it.

    Commands that HTCondor would run, and files that may not be read, are no faults: reading goes on, and the result's
    ``unknown`` names them. Raises InvalidSubmit with all faults at once, those of included files too.
    """
    facts = Facts(host, environ, now, zone, seed)
    knobs = None if config is None else {name.lower(): text for name, text in config.items()}
    return _Reader(source, facts, files, knobs).read(tuple(append), queue)


class _Reader:
    """One reading: the lines, what they defined so far, and what was found wrong."""

    def __init__(self, source: Source, facts: Facts, files: Files | None, config: Mapping[str, str] | None) -> None:
        self.source = source
        self.work = Workspace(source, facts)
        self.files = files
        self.config = config
        self.lines = LineReader(source)
        self.ifs: IfStack | None = None
        self.ifs_ended = False
        self.sources = [source]
        self.append: tuple[str, ...] = ()
        self.depth = 0
        self.includes = 0
        self.has_lines = False

    def read(self, append: tuple[str, ...], queue: str | None) -> SubmitFile:
        self.append = append
        self._run(self.source)
        end = self.source.span(len(self.source.text))
        if not self.has_lines:
            self.work.found.error("empty-file", "the file holds no submit command", end)
        if queue is not None:
            self._queue_of_command_line(queue)
        self.work.found.check()
        if not self.work.queues:
            self._queue_implied(end)
        elif self.work.after_queue is not None:
            message = "this stands behind the last queue statement and has no effect"
            self.work.found.warn("after-queue", message, self.work.after_queue, "move it before the queue statement")
        warnings = (*self.work.found.warnings, *self.work.found.unknown)
        unknown = tuple(self.work.found.unknown)
        queues, sources = tuple(self.work.queues), tuple(self.sources)
        return SubmitFile(self.source, sources, queues, warnings, unknown, self.work.table, self.work.facts)

    def _run(self, source: Source) -> None:
        """Read a text in the place of the present line."""
        around = self.lines, self.ifs
        self._check_text(source)
        self.lines, self.ifs = LineReader(source), None
        while (line := self.lines.statement()) is not None:
            self.has_lines = True
            self._line(line)
        if self._inside_if:
            end = source.span(len(source.text))
            self.work.found.error(
                "conditional", "endif(s) not found before end-of-file", end, "close each if with endif"
            )
        self.lines, self.ifs = around

    def _check_text(self, source: Source) -> None:
        text = source.text
        if text.startswith("\ufeff"):
            message = (
                "Illegal Identifier: the file begins with a byte order mark,"
                " which condor_submit takes for a part of the first name"
            )
            self.work.found.error("byte-order-mark", message, source.span(0, 1), "save it without one", fix="")
        nul = text.find("\0")
        if nul >= 0:
            self.work.found.error("not-text", "the file is not text: it has a NUL character", source.span(nul, nul + 1))
            self.work.found.check()
        half = None if text.isascii() else re.search("[\ud800-\udc7f\udd00-\udfff]", text)
        if half is not None:
            message = "the text is no Unicode: it has half of a surrogate pair"
            self.work.found.error("not-text", message, source.span(half.start(), half.end()))
            self.work.found.check()

    def _line(self, line: LogicalLine) -> None:
        if line.text[0] == ":" and len(line.text) > 1 and (self._inside_if or statement.is_hidden_if(line.text)):
            line = line.behind(1)  # what older releases were not to see
            if line.is_empty:
                return
        keyword = statement.conditional(line.text)
        if keyword:
            self._conditional(keyword, line)
            return
        if self.ifs is not None and not self.ifs.holds:
            return
        if line.is_ragged:
            message = "condor_submit does not read an indented last line without a line end"
            self.work.found.error("no-line-end", message, line.span(), "end the file with a line end")
            return
        if line.swallowed:
            message = "condor_submit reads the last character of this comment as part of the line it interrupts"
            self.work.found.warn("comment-in-line", message, line.swallowed, "end the comment with a backslash")
        parts = statement.split(line.text)
        word = parts.name.removeprefix("@").lower()
        if parts.operator == ":" and word in _KEYWORDS:
            self._keyword(word, parts, line)
        elif parts.is_sentence or not parts.operator or parts.operator == ":" or parts.name.lower() == "queue":
            self._queue_or_fault(parts, line)
        else:
            self._assignment(parts, line)

    @property
    def _inside_if(self) -> bool:
        return self.ifs is not None and self.ifs.is_open

    def _conditional(self, keyword: str, line: LogicalLine) -> None:
        from crondor.macro.conditions import ConditionError, IfStack  # noqa: PLC0415 - most files have no if

        if self.ifs is None:
            self.ifs = IfStack()
        condition = line.text[len(keyword) :].lstrip(BLANKS)
        try:
            self.ifs.enter(keyword, condition, self._conditions(line))
        except ConditionError as error:
            help_text = None
            if "complex" in str(error) or "expression" in str(error):
                help_text = "write a number, true or false, defined NAME, or version >= 8.1.6, with ! for the contrary"
            elif self.ifs_ended and "without" in str(error):
                help_text = "a queue statement ends each if around it: write the if around the lines before it"
            self.work.found.error("conditional", str(error), line.span(), help_text)
        except MacroError as error:
            self.work.macro_fault(error, line.span())

    def _conditions(self, line: LogicalLine) -> Conditions:
        from crondor.macro.conditions import Conditions  # noqa: PLC0415
        from crondor.macro.templates import is_template  # noqa: PLC0415

        def lookup(key: str) -> str | None:
            try:
                return self.work.now().lookup(key)
            except MacroError:
                return key  # it is defined, whatever it is

        return Conditions(
            lookup,
            lambda text: self.work.expanded(text, line.span()),
            self.work.facts.host.version_numbers,
            is_template,
        )

    def _keyword(self, word: str, parts: Statement, line: LogicalLine) -> None:
        span = line.span()
        if word == "include":
            self._include(parts, line)
        elif word == "use":
            self._use(parts, line)
        else:
            try:
                said = self.work.expanded(line.text[parts.value :], span)
            except MacroError as error:
                self.work.macro_fault(error, span)
                return
            if word == "error":
                self.work.found.error("error-statement", f"the file itself says that it is wrong: {said}", span)
            else:
                self.work.found.warn("warning-statement", f"the file itself warns: {said}", span)

    def _include(self, parts: Statement, line: LogicalLine) -> None:
        from crondor.macro.including import parse_include  # noqa: PLC0415 - few files include others

        span = line.span()
        words = line.text[len(parts.name) : parts.at].strip(BLANKS)
        include = parse_include(words)
        if include is None:
            message = f"unexpected keyword(s) '{words[:60]}' after include"
            self.work.found.error("include", message, span, "write include : FILE, or include ifexist : FILE")
            return
        try:
            name = self.work.expanded(line.text[parts.value :], span)
            into = self.work.expanded(include.into, span)
        except MacroError as error:
            self.work.macro_fault(error, span)
            return
        if include.is_command or "|" in name:
            self._include_command(name, into, span, is_pipe=not include.is_command)
            return
        self._include_file(name, span, may_miss=include.may_miss)

    def _include_command(self, command: str, into: str, span: Span, *, is_pipe: bool) -> None:
        """Report a command; what an earlier run left in its file is read, as HTCondor does it without running it."""
        if is_pipe and not command.endswith("|"):
            self.work.found.error("include", "not a valid command, | must be at the end", span, "end it with |")
            return
        if into.endswith("|"):
            self.work.found.error("include", "destination for 'include into' may not be a script", span)
            return
        shown = command if len(command) <= 60 else command[:57] + "..."
        kept = f" and keep it in {into[:60]}" if into else ""
        message = f"condor_submit would run {shown} and read its output{kept}; crondor runs nothing"
        self.work.found.hidden("runs-command", message, span, "put the lines it prints into a file, and include that")
        if into and self.files is not None:
            self._include_file(into, span, may_miss=True)

    def _include_file(self, path: str, span: Span, *, may_miss: bool) -> None:
        from crondor.macro.including import MAX_DEPTH, MAX_INCLUDES  # noqa: PLC0415

        hidden = "what it holds is not known"
        if self.files is None:
            message = f"crondor opens no file here, {path[:60]} neither: {hidden}"
            self.work.found.hidden("unknown-include", message, span, "paste its lines in place of this one")
            return
        self.includes += 1
        if self.depth + 1 >= MAX_DEPTH or self.includes > MAX_INCLUDES:
            self.work.found.error("include", "includes nested too deep", span, "a file probably includes itself")
            self.work.found.check()
        try:
            source = self.files.read(path)
        except CrondorError as error:
            if not (may_miss and any(fault.code == "file-missing" for fault in error.diagnostics)):
                self._listing().refused(error, span, hidden)
            return
        self.sources.append(source)
        self.work.budget.spend(len(source.text))
        self.depth += 1
        self._run(source)
        self.depth -= 1

    def _use(self, parts: Statement, line: LogicalLine) -> None:
        from crondor.macro.including import MAX_DEPTH, parse_uses, template_text  # noqa: PLC0415 - few files have one

        span = line.span()
        try:
            category = self.work.expanded(line.text[len(parts.name) : parts.at].strip(BLANKS), span)
            if category.lower() != "template":
                message = f"at use {category[:60]}: a submit description has only templates to use"
                self.work.found.error("use", message, span, "write use template : NAME")
                return
            for use in parse_uses(line.text[parts.value :]):
                if self.config is None:
                    message = f"the template {use.name[:60]} stands in the configuration, which is not known here"
                    self.work.found.hidden("unknown-template", message, span, "hand over the configuration")
                    continue
                text = template_text(self.config, use, self.work.budget)
                if text is None:
                    self.work.found.error("use", f"use template: does not recognise {use.name[:60]}", span)
                    return
                if self.depth + 1 >= MAX_DEPTH:
                    self.work.found.error("use", f"use template: {use.name[:60]} nesting too deep", span)
                    self.work.found.check()
                self.depth += 1
                self._run(Source(text, f"template {use.name} of {span.location}"))
                self.depth -= 1
        except MacroError as error:
            self.work.macro_fault(error, span)

    def _queue_or_fault(self, parts: Statement, line: LogicalLine) -> None:
        begin = statement.queue_arguments(line.text)
        if begin is not None:
            self._queue(begin, line)
            return
        if parts.operator == ":" and not parts.is_sentence:
            message = f"condor_submit does not read a colon behind {parts.name}"
            self.work.found.error("colon", message, line.span(parts.at, parts.at + 1), "write = instead of :", fix="=")
            return
        name, rest = parts.name, line.text[len(parts.name) :].strip(BLANKS)
        shown = f"{name} = {rest or '...'}"
        self.work.found.error(
            "no-statement",
            "this line is neither an assignment nor a queue statement",
            line.span(),
            f"write {shown}" if statement.is_name(name) and len(shown) <= 80 and "=" not in rest else None,
        )

    def _assignment(self, parts: Statement, line: LogicalLine) -> None:
        name = parts.name
        try:
            if "$" in name:
                name = self.work.expanded(name, line.span())
            if parts.operator == "=" and name[:1] in {"+", "-"}:
                self._define_attribute(name, parts, line)
            elif not statement.is_name(name):
                message = f"Illegal Identifier: <{name}>: names are made of letters, digits, _ . and /"
                self.work.found.error("bad-name", message, line.span(0, len(parts.name)))
            elif parts.operator == "@=":
                self._heredoc(name.lower(), parts, line)
            else:
                self._define_macro(name.lower(), parts, line)
        except MacroError as error:
            self.work.macro_fault(error, line.span())

    def _define_attribute(self, name: str, parts: Statement, line: LogicalLine) -> None:
        """Define +Attr, or -Attr, which makes the attribute undefined whatever follows; any name will do."""
        key = f"my.{name[1:].lower()}"
        value = parts.value if name[0] == "+" else len(line.text)
        text = line.text[value:]
        earlier = self.work.table.at(key, self.work.table.version)
        if earlier is not None:
            text = expand_self(text, key, earlier.text, self.work.budget)
        self.work.define(key, text, line.span(value), line.span(0, len(parts.name)))

    def _define_macro(self, key: str, parts: Statement, line: LogicalLine) -> None:
        text = line.text[parts.value :]
        if parts.operator == "+=":
            earlier = self.work.now().lookup(key)
            if earlier:
                self.work.budget.spend(len(earlier))
                text = earlier + parts.joint + text
                if len(text) > self.work.budget.size:
                    raise MacroError("macro-size", f"{key} has grown to more than {self.work.budget.size} characters")
        text = self.work.self_expanded(key, text, line.span())
        self.work.define(key, text, line.span(parts.value), line.span(0, len(parts.name)))

    def _heredoc(self, key: str, parts: Statement, line: LogicalLine) -> None:
        """Read a value of several lines, up to one that is its tag; comments and blank lines are left out."""
        tag = "@" + line.text[parts.value :]
        texts: list[str] = []
        first = last = line.span(parts.value)
        size = 0
        while (inner := self.lines.statement()) is not None and inner.text != tag:
            last = inner.span()
            first = last if not texts else first
            texts.append(inner.text)
            size += len(inner.text) + 1
        if inner is None:
            message = f"Found end-of-file while scanning for '{tag[:60]}'"
            self.work.found.error("heredoc", message, line.span(), f"end the value with a line {tag[:60]}")
        elif size > self.work.budget.size:
            raise MacroError("macro-size", f"the value has more than {self.work.budget.size} characters")
        else:
            place = Span(first.source, first.start, last.end)
            self.work.define(
                key, self.work.self_expanded(key, "\n".join(texts), place), place, line.span(0, len(parts.name))
            )

    def _queue(self, begin: int, line: LogicalLine) -> None:
        """Read a queue statement with its list and add its jobs."""
        span, line = line.span(), line.unstripped()
        if self.depth:
            message = "Queue statement not allowed in include file or command"
            self.work.found.error("queue-included", message, span, "move it into the submit file itself")
        else:
            self._end_ifs(span)
            self._append_lines()
        raw = line.text[begin:]
        try:
            text = self.work.expanded(raw, line.span(begin))
            arguments = queue_statement.parse(text, line if text == raw else None, begin)
        except MacroError as error:
            self.work.macro_fault(error, line.span(begin))
            return
        except QueueError as error:
            self.work.found.error(error.code, error.message, line.span(begin), error.help)
            if raw.endswith("("):
                self._skip_rows()
            return
        if arguments.items is not None:
            listing = self._listing()
            arguments = listing.fill(arguments, self.lines, span)
            self.sources += listing.sources
        if not self.depth:
            self.work.add(arguments, span)

    def _end_ifs(self, span: Span) -> None:
        """Forget the conditionals around a queue statement: HTCondor reads what follows as a text of its own."""
        if self._inside_if:
            message = "HTCondor ends each if at a queue statement: an endif that follows it is a fault"
            self.work.found.warn("conditional", message, span, "close each if before the queue statement")
            self.ifs_ended = True
        self.ifs = None

    def _queue_of_command_line(self, arguments: str) -> None:
        line = LineReader(Source(f"queue {arguments}", "-queue")).statement()
        if self.work.queues:
            message = "-queue argument conflicts with queue statement in submit file"
            self.work.found.error("queue-twice", message, self.work.queues[0].span, "leave one of them out")
        elif line is not None:
            self._queue(len("queue "), line)

    def _queue_implied(self, end: Span) -> None:
        # Recorded of 25.14; since which release is not known.
        self._append_lines()
        self.work.found.check()
        message = "the file has no queue statement: HTCondor 25.14 makes one job of it, older releases refuse it"
        self.work.found.warn("no-queue", message, end, "end the file with a line that says queue")
        self.work.add(Arguments(), end, is_implied=True)

    def _append_lines(self) -> None:
        self.depth += 1
        for text in self.append:
            self._run(Source(text, "-append"))
        self.depth -= 1

    def _listing(self) -> Listing:
        from crondor.submit.listing import Listing  # noqa: PLC0415 - a plain file has no list

        return Listing(self.files, self.work.found, self.work.word)

    def _skip_rows(self) -> None:
        """Step over the lines of a list that a wrong statement begins."""
        while (row := self.lines.item()) is not None and not row.text.startswith(")"):
            continue
