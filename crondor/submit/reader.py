"""From the text of a submit description to its definitions and queue statements, all faults at once.

HTCondor: SubmitHash::parse_up_to_q_line, SubmitHash::parse_q_args.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import tzinfo

from crondor._types import expect
from crondor.diagnostics import CrondorError, Diagnostic, Source, Span, shortened
from crondor.macro import (
    BLANKS,
    Budget,
    LineReader,
    LogicalLine,
    MacroError,
    expand,
    expand_self,
    queue_statement,
    reader,
)
from crondor.macro.conditions import Conditions, parse_uses, template_text
from crondor.macro.expand import is_template
from crondor.macro.files import Files
from crondor.macro.queue_statement import ItemSource, QueueArguments, QueueError
from crondor.macro.reader import Statement, StatementReader, Words
from crondor.submit.facts import (
    Definition,
    InvalidSubmit,
    Lost,
    SubmitFacts,
    SubmitFindings,
    SubmitHost,
    Table,
    Variable,
)
from crondor.submit.file import SubmitFile
from crondor.submit.jobs import JobNumbers, ListReader, Origin, QueuedItems, Scope, node_of_jobs, way_of

MAX_QUEUES = 100_000
_MOST_LOST = 1000  # values replaced unseen that are kept
_USED_UP = "<Queue_item>"  # HTCondor's value of a loop variable after its queue statement


class Workspace:
    """The state of one reading, between two lines."""

    def __init__(self, source: Source, facts: SubmitFacts, default_universe: str) -> None:
        """Start empty; ``default_universe`` applies if the file names none."""
        self.facts = facts
        self.default_universe = default_universe
        self.table = Table(source)
        self.found = SubmitFindings()
        self.budget = Budget()
        self.queues: list[QueuedItems] = []
        self.jobs = 0
        self.last_job = JobNumbers()
        self.after_queue: Span | None = None
        self._looked_up: dict[str, Origin] = {}

    def add(self, arguments: QueueArguments, span: Span, *, is_implied: bool = False) -> None:
        """Add a queue statement, and the state HTCondor has after it: used loop variables, the last job."""
        queue = QueuedItems(len(self.queues), span, self.table.keep(), self.jobs, arguments, is_implied)
        self.queues.append(queue)
        if len(self.queues) > MAX_QUEUES:
            self.found.error("queue-many", f"crondor reads no more than {MAX_QUEUES} queue statements of a file", span)
            self.found.check()
        self.after_queue = None
        if arguments.per_item == 0:
            self.found.warn("queue-zero", "queue 0 makes one job", span, "remove the line if there should be none")
        if not queue.jobs:
            if not any(each.span == span for each in self.found.unknown):
                self.found.warn("queue-empty", "the list is empty: this makes no job", span)
            return
        if queue.is_outside:
            message = "the slice begins outside the list: HTCondor makes a job there whose loop variables are empty"
            self.found.warn("queue-slice", message, span, "begin the slice at an item of the list")
        if not self.jobs:
            node = node_of_jobs(queue, self.table, self.facts, self.default_universe)
            self.facts = self.facts._replace(node=node)
        self.jobs += queue.jobs
        self.last_job = JobNumbers(self.jobs - 1, queue.steps - 1, queue.selected[-1])
        if arguments.items is None:
            self.leave("item", "", span)
        for variable in arguments.variables:
            self.leave(variable, _USED_UP, span)

    def leave(self, key: str, text: str, span: Span) -> None:
        """Set the text a name has after a queue statement."""
        now = self.table.at(key, self.table.version)
        if now is None or now.text != text:
            self.table.define(key, text, span)

    def define(self, key: str, text: str, value: Span, name: Span) -> None:
        """Assign a text, with the places of value and name."""
        self.table.define(key, text, value, name)
        if self.queues and self.after_queue is None:
            self.after_queue = name

    def replaced(self, key: str) -> Definition | None:
        """Return the value that a definition of a key would replace unused: by no job and no line."""
        return None if key in self._looked_up else self.table.unseen(key)

    def lose(self, key: str, earlier: Definition | None) -> None:
        """Record that the present value of a key has replaced another one of the same text, unused."""
        later = self.table.at(key, self.table.version)
        if earlier is None or later is None or later.version == earlier.version or key in self._looked_up:
            return
        is_made_of_it = "$" in later.span.text and key.removeprefix("my.") in later.span.text.lower()
        is_same = earlier.text.lower() == later.text.lower() or not earlier.text.strip(BLANKS)
        is_of_one_text = earlier.span.source is later.span.source
        if is_of_one_text and not is_same and not is_made_of_it and len(self.table.lost) < _MOST_LOST:
            self.table.lost.append(Lost(key, earlier, later))

    def self_expanded(self, key: str, text: str, span: Span) -> str:
        """Return a text with references to its own name replaced."""
        if "$" not in text:
            return text
        now = self.now()
        earlier = now.lookup(key) if key in text.lower() else None
        around = now.around(f"{span.start}", lambda error: self.macro_warning(error, span))
        return expand_self(text, key, earlier, self.budget, now.lookup, around)

    def expanded(self, text: str, span: Span) -> str:
        """Return a text with its macros expanded at this line. Raises MacroError."""
        if "$" not in text:
            return text
        now = self.now()
        around = now.around(f"{span.start}", lambda error: self.macro_warning(error, span))
        return expand(text, now.lookup, self.budget, around)

    def macro_warning(self, error: MacroError, span: Span) -> None:
        """Add a warning for a failure that HTCondor prints and ignores."""
        for fault in error.diagnostics:
            self.found.warn(fault.kind, fault.message, span, fault.help)

    def macro_fault(self, error: MacroError, span: Span) -> None:
        """Add a fault of a macro, with the macros that lead to it."""
        way = way_of(error, self.now())
        for fault in error.diagnostics:
            help_text = f"{fault.help or 'look there'}; the fault comes {way}" if way else fault.help
            self.found.error(fault.kind, fault.message, span, help_text)
        if self.budget.left < 0:
            self.found.check()  # later lines could not be expanded either

    def now(self) -> Scope:
        """Return the values of names here, between the jobs of the last queue statement and those of the next."""
        scope = Scope(self.table, self.facts, self.table.version, self.last_job)
        scope.has_folder = self.jobs > 0
        scope.used = self._looked_up
        return scope

    @property
    def looked_up(self) -> frozenset[str]:
        """The names used by the lines themselves: in conditions, lists, and values of their own name."""
        return frozenset(self._looked_up)

    def word(self, name: str, snake: str) -> str:
        """Return the present value of a command with two spellings, empty if it is not assigned."""
        now = self.now()
        text = now.lookup(name.lower()) or now.lookup(snake) or ""
        try:
            return expand(text, now.lookup, self.budget).strip(BLANKS)
        except MacroError:
            return ""


_FACTS = SubmitHost()
_OF_LINES = frozenset(("colon", "bad-name", "no-statement"))  # nothing else depends on the meaning of such a line
_MOST_LINES = 8  # with more of them it may be another kind of text


class UnreadableLines(InvalidSubmit):
    """A submit description with lines that are not statements, or with a faulty queue statement.

    ``readable`` is the description without such lines, for finding other faults. A faulty queue statement has its
    probable jobs there. ``has_all_commands``: no command is in a faulty line. ``unknown_items`` are variables whose
    items are unknown; they are empty.
    """

    def __init__(
        self,
        diagnostics: Iterable[Diagnostic],
        readable: SubmitFile,
        *,
        has_all_commands: bool = False,
        unknown_items: Iterable[str] = (),
    ) -> None:
        super().__init__(diagnostics)
        self.readable = readable
        self.has_all_commands = has_all_commands
        self.unknown_items = frozenset(unknown_items)


def read_submit(
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
    variables: Iterable[Variable] = (),
) -> SubmitFile:
    """Read a submit description like condor_submit 25.14; nothing is run, and no file is opened without ``files``.

    ``environ`` is read by $ENV(); ``now`` (epoch seconds) and ``zone`` determine $(SUBMIT_TIME), $(YEAR), $(MONTH) and
    $(DAY); ``seed`` determines $RANDOM_INTEGER() and $RANDOM_CHOICE(), the same for the same seed; ``config`` has the
    knobs of the configuration by name, of which SUBMIT_TEMPLATE_* are used; ``append`` and ``queue`` are
    condor_submit's -append lines and -queue arguments, ``variables`` are those of a DAG's node. None means unknown:
    SubmitFile.groups() reports values that need it.

    Commands that HTCondor would run, and files that may not be read, are not faults: the result's ``unknown`` names
    them. Raises InvalidSubmit with all faults at once, including those of included files; UnreadableLines if the rest
    can be read.
    """
    expect("source", source, Source, "a Source", "write Source(text, 'job.sub')")
    facts = SubmitFacts(host, environ, now, zone, seed)
    knobs = None if config is None else {name.lower(): text for name, text in config.items()}
    return _Reader(source, facts, files, knobs, tuple(variables)).read(tuple(append), queue)


class _Reader(StatementReader):
    """One reading: the lines, the definitions so far, and the findings."""

    words = Words(
        reader="condor_submit",
        contents="its contents are unknown",
        conditional="conditional",
        name="bad-name",
        line_end="no-line-end",
        comment="comment-in-line",
        include="include",
        hidden="unknown-include",
        use="use",
        heredoc="heredoc",
        nested="",
        error="error-statement",
        warning="warning-statement",
    )

    def __init__(
        self,
        source: Source,
        facts: SubmitFacts,
        files: Files | None,
        config: Mapping[str, str] | None,
        variables: tuple[Variable, ...],
    ) -> None:
        self.source = source
        self.work = Workspace(source, facts, (config or {}).get("default_universe", ""))
        super().__init__(files, self.work.budget)
        self.found: SubmitFindings = self.work.found
        self.config = config
        self.ifs_ended = False
        self.sources = [source]
        self.append: tuple[str, ...] = ()
        self.variables = variables
        self.has_lines = False
        self.behind_queue: Span | None = None
        self.queue_faults: set[Diagnostic] = set()
        self.unknown_items: set[str] = set()  # the variables of a queue statement whose items cannot be read

    def read(self, append: tuple[str, ...], queue: str | None) -> SubmitFile:
        self.append = append
        self._define_variables(are_last=False)
        self.run(self.source)
        end = self.source.span(len(self.source.text))
        if not self.has_lines:
            self.found.error("empty-file", "the file has no submit command", end)
        if queue is not None:
            self._queue_of_command_line(queue)
        if self.found.errors:
            rest = self._readable(end)
            if rest is None:
                raise InvalidSubmit(self.found.errors)
            raise UnreadableLines(
                self.found.errors,
                rest,
                has_all_commands=self.queue_faults.issuperset(self.found.errors),
                unknown_items=self.unknown_items,
            )
        if not self.work.queues:
            self._queue_implied(end)
        elif self.work.after_queue is not None:
            message = "this comes after the last queue statement and has no effect"
            self.found.warn("after-queue", message, self.work.after_queue, "move it before the queue statement")
        return self._file()

    def _readable(self, end: Span) -> SubmitFile | None:
        """Return the file without its faulty lines, None if there are other faults."""
        if not self.work.queues:
            self._append_lines()
            self.work.add(QueueArguments(), end, is_implied=True)
        others = [fault for fault in self.found.errors if fault not in self.queue_faults]
        is_text = len(others) > _MOST_LINES
        return None if is_text or any(fault.kind not in _OF_LINES for fault in others) else self._file()

    def _file(self) -> SubmitFile:
        warnings = (*self.found.warnings, *self.found.unknown)
        unknown = tuple(self.found.unknown)
        queues, sources = tuple(self.work.queues), tuple(self.sources)
        table, facts, looked_up = self.work.table, self.work.facts, self.work.looked_up
        return SubmitFile(sources, queues, warnings, unknown, table, facts, self.behind_queue, looked_up, self.files)

    def run(self, source: Source) -> None:
        self._check_text(source)
        super().run(source)

    def next_line(self) -> LogicalLine | None:
        """Return the next line, and record that there is one, and whether it is after a queue statement."""
        line = super().next_line()
        if line is not None:
            self.has_lines = True
            if self.work.queues and self.behind_queue is None and not self.depth:
                self.behind_queue = line.span()
        return line

    def _check_text(self, source: Source) -> None:
        text = source.text
        if text.startswith("\ufeff"):
            message = (
                "Illegal Identifier: the file begins with a byte order mark, which condor_submit reads as part of "
                "the first name"
            )
            self.found.error("byte-order-mark", message, source.span(0, 1), "save it without one", fix="")
        nul = text.find("\0")
        if nul >= 0:
            self.found.error("not-text", "the file is not text: it has a NUL character", source.span(nul, nul + 1))
            self.found.check()
        half = None if text.isascii() else re.search("[\ud800-\udc7f\udd00-\udfff]", text)
        if half is not None:
            message = "the text is not valid Unicode: it has half of a surrogate pair"
            self.found.error("not-text", message, source.span(half.start(), half.end()))
            self.found.check()

    def expanded(self, text: str, span: Span) -> str:
        """Return a text as it is between the jobs before this line and those after it."""
        return self.work.expanded(text, span)

    def macro_fault(self, error: MacroError, span: Span) -> None:
        self.work.macro_fault(error, span)

    def conditions(self, span: Span) -> Conditions:
        """Return what is defined here, including what only the machine knows."""

        def lookup(key: str) -> str | None:
            try:
                return self.work.now().lookup(key)
            except MacroError:
                return key  # it is defined, whatever its value

        version = self.work.facts.host.version_numbers
        return Conditions(lookup, lambda text: self.expanded(text, span), version, is_template)

    def condition_help(self, reason: str) -> str | None:
        """Return what to write, also if a queue statement has ended the conditionals around it."""
        if self.ifs_ended and "without" in reason:
            return "a queue statement ends each if around it: write the if around the lines before it"
        return super().condition_help(reason)

    def command(self, command: str, into: str, span: Span, *, is_pipe: bool) -> None:
        """Report a command; existing output of an earlier run is read, as HTCondor does without running it."""
        if is_pipe and not command.endswith("|"):
            self.found.error("include", "not a valid command, | must be at the end", span, "end it with |")
            return
        if into.endswith("|"):
            self.found.error("include", "destination for 'include into' may not be a script", span)
            return
        shown = shortened(command, 60)
        kept = f" and keep it in {into[:60]}" if into else ""
        message = f"condor_submit would run {shown} and read its output{kept}; crondor runs nothing"
        self.found.hide("runs-command", message, span, "put the lines it prints into a file, and include that")
        if into and self.files is not None:
            self.include_file(into, span, may_miss=True)

    def refused(self, error: CrondorError, span: Span, *, may_miss: bool) -> None:
        if not (may_miss and any(fault.kind == "file-missing" for fault in error.diagnostics)):
            self._listing().refused(error, span, self.words.contents)

    def use(self, category: str, listed: str, span: Span) -> None:
        """Read templates of the configuration (SUBMIT_TEMPLATE_*), each with its arguments."""
        if category.lower() != "template":
            message = f"at use {category[:60]}: a submit description has only templates to use"
            self.found.error("use", message, span, "write use template : NAME")
            return
        for use in parse_uses(listed):
            if self.config is None:
                message = f"the template {use.name[:60]} is in the configuration, which is unknown here"
                self.found.hide("unknown-template", message, span, "pass the configuration")
                continue
            text = template_text(self.config, use, self.budget)
            if text is None:
                self.found.error("use", f"use template: does not recognise {use.name[:60]}", span)
                return
            source = Source(text, f"template {use.name} of {span.location}")
            self.run_template("template", use, source, span)

    def other(self, parts: Statement, line: LogicalLine) -> None:
        """Read a queue statement or an assignment.

        other = queue | assignment
        """
        is_queue = parts.is_sentence or parts.operator in {"", ":"} or parts.name.lower() == "queue"
        if is_queue:
            self._queue_or_fault(parts, line)
        else:
            self._assignment(parts, line)

    def _queue_or_fault(self, parts: Statement, line: LogicalLine) -> None:
        """Read a queue statement, or guess what else the line was meant to be, and report that.

        queue = ("queue" | "iter" | "itera" | "iterat" | "iterate") arguments
        """
        begin = reader.queue_arguments(line.text)
        if begin is not None:
            self._queue(begin, line)
            return
        if parts.operator == ":" and parts.name and not parts.is_sentence:
            message = f"condor_submit does not read a colon after {parts.name}"
            self.found.error("colon", message, line.span(parts.at, parts.at + 1), "write = instead of :", fix="=")
            if reader.is_name(parts.name):
                self._define_macro(parts.name.lower(), parts, line)
            return
        name, rest = parts.name, line.text[len(parts.name) :].strip(BLANKS)
        shown = f"{name} = {rest or '...'}"
        is_meant = reader.is_name(name) and "=" not in rest
        self.found.error(
            "no-statement",
            "this line is neither an assignment nor a queue statement",
            line.span(),
            f"write {shown}" if is_meant and len(shown) <= 80 else None,
        )
        if is_meant and rest:
            self.work.define(name.lower(), rest, line.span(len(name)), line.span(0, len(name)))

    def _assignment(self, parts: Statement, line: LogicalLine) -> None:
        """Read the definition of a macro or an attribute. Raises MacroError.

        assignment = attribute "=" text | name ("=" | append) text | name "@=" tag body
        attribute = [-+] word
        """
        name = parts.name
        if "$" in name:
            name = self.expanded(name, line.span())
        is_attribute = parts.operator == "=" and name[:1] in {"+", "-"}
        key = f"my.{name[1:]}".lower() if is_attribute else name.lower()
        earlier = None if self.is_inside_if else self.work.replaced(key)
        if is_attribute:
            self._define_attribute(name, parts, line)
        elif not reader.is_name(name):
            message = f"Illegal Identifier: <{name}>: names are made of letters, digits, _ . and /"
            self.found.error("bad-name", message, line.span(0, len(parts.name)))
        elif parts.operator == "@=":
            self._heredoc(key, parts, line)
        else:
            self._define_macro(key, parts, line)
        self.work.lose(key, earlier)

    def _define_attribute(self, name: str, parts: Statement, line: LogicalLine) -> None:
        """Define +Attr, or -Attr, which always makes the attribute undefined; any name is accepted."""
        key = f"my.{name[1:].lower()}"
        value = parts.value if name[0] == "+" else len(line.text)
        text = line.text[value:]
        earlier = self.work.table.at(key, self.work.table.version)
        if earlier is not None:
            text = expand_self(text, key, earlier.text, self.budget)
        self.work.define(key, text, line.span(value), line.span(0, len(parts.name)))

    def _define_macro(self, key: str, parts: Statement, line: LogicalLine) -> None:
        text = line.text[parts.value :]
        if parts.operator == "+=":
            earlier = self.work.now().lookup(key)
            if earlier:
                self.budget.spend(len(earlier))
                text = earlier + parts.joint + text
                if len(text) > self.budget.size:
                    raise MacroError("macro-size", f"{key} has grown to more than {self.budget.size} characters")
        text = self.work.self_expanded(key, text, line.span())
        self.work.define(key, text, line.span(parts.value), line.span(0, len(parts.name)))

    def _heredoc(self, key: str, parts: Statement, line: LogicalLine) -> None:
        """Define a macro whose value has several lines; comments and blank lines are dropped."""
        lines = self.body(parts, line)
        if lines is not None:
            first, last = (lines[0].span(), lines[-1].span()) if lines else (line.span(parts.value),) * 2
            place = Span(first.source, first.start, last.end)
            text = self.work.self_expanded(key, "\n".join(inner.text for inner in lines), place)
            self.work.define(key, text, place, line.span(0, len(parts.name)))

    def _queue(self, begin: int, line: LogicalLine) -> None:
        """Read a queue statement with its list and add its jobs."""
        span, line = line.span(), line.unstripped()
        if self.depth:
            message = "Queue statement not allowed in include file or command"
            self.found.error("queue-included", message, span, "move it into the submit file itself")
        else:
            self._end_ifs(span)
            self._append_lines()
        known = len(self.found.errors)
        arguments = self._arguments(begin, line)
        if arguments.items is not None:
            listing = self._listing()
            arguments = listing.fill(arguments, self.lines, span)
            self.sources += listing.sources
        faults = self.found.errors[known:]
        self.queue_faults.update(faults)
        if faults and arguments.items is not None and not len(arguments.items):
            arguments = QueueArguments(variables=arguments.variables)
            self.unknown_items.update(arguments.variables)
        if not self.depth:
            self.work.add(arguments, span)

    def _arguments(self, begin: int, line: LogicalLine) -> QueueArguments:
        """Read the arguments of a queue statement; if faulty, add the fault and return the probable ones."""
        text = raw = line.text[begin:]
        try:
            text = self.expanded(raw, line.span(begin))
            return queue_statement.parse(text, line if text == raw else None, begin)
        except MacroError as error:
            self.macro_fault(error, line.span(begin))
        except QueueError as error:
            self.found.error(error.code, error.message, line.span(begin), error.help)
        likely = queue_statement.likely(text)
        if raw.endswith("(") and likely.source is not ItemSource.LINES:
            self._skip_rows()
        return likely

    def _end_ifs(self, span: Span) -> None:
        """Forget the conditionals around a queue statement: HTCondor reads the rest as a separate text."""
        if self.is_inside_if:
            place = self.opened[-1] if self.opened else span
            message = (
                "this if is still open at the queue statement, where HTCondor ends it: an endif after it is a fault"
            )
            self.found.warn("conditional", message, place, "close it with endif before the queue statement")
            self.opened.clear()
            self.ifs_ended = True
        self.ifs = None

    def _queue_of_command_line(self, arguments: str) -> None:
        line = LineReader(Source(f"queue {arguments}", "-queue")).statement()
        if self.work.queues:
            message = "-queue argument conflicts with queue statement in submit file"
            self.found.error("queue-twice", message, self.work.queues[0].span, "leave one of them out")
        elif line is not None:
            self._queue(len("queue "), line)

    def _queue_implied(self, end: Span) -> None:
        # Recorded with 25.14; the first such release is unknown.
        self._append_lines()
        self.found.check()
        message = "the file has no queue statement: HTCondor 25.14 makes one job of it, older releases refuse it"
        self.found.warn("no-queue", message, end, "end the file with a line that says queue")
        self.work.add(QueueArguments(), end, is_implied=True)

    def _define_variables(self, *, are_last: bool) -> None:
        """Define the values that a node has before, or after, the lines of its file (DirectSubmit::SubmitInternal)."""
        for each in self.variables:
            if each.is_last is are_last:
                self.work.table.define(each.key, each.text, each.value, each.name)

    def _append_lines(self) -> None:
        self._define_variables(are_last=True)
        self.depth += 1
        for text in self.append:
            self.run(Source(text, "-append"))
        self.depth -= 1

    def _listing(self) -> ListReader:
        return ListReader(self.files, self.found, self.work.word)

    def _skip_rows(self) -> None:
        """Skip the lines of a list after a faulty statement."""
        while (row := self.lines.item()) is not None and not row.text.startswith(")"):
            continue
