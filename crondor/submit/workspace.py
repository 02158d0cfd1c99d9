"""What a reading gathers: definitions, queue statements, faults; and what names mean at the present line."""

from __future__ import annotations

from crondor.macro import BLANKS, Budget, MacroError, expand, expand_self
from crondor.macro.queue_statement import QueueArguments
from crondor.source import Source, Span
from crondor.submit.errors import SubmitFindings
from crondor.submit.facts import SubmitFacts
from crondor.submit.jobs import QueuedItems, node_of_jobs, way_of
from crondor.submit.scope import JobNumbers, Origin, Scope
from crondor.submit.table import Definition, Lost, Table

MAX_QUEUES = 100_000
_MOST_LOST = 1000  # values replaced unseen that are kept; nobody reads more
_USED_UP = "<Queue_item>"  # what HTCondor leaves in a loop variable behind its queue statement


class Workspace:
    """The state of one reading, between two lines."""

    def __init__(self, source: Source, facts: SubmitFacts, default_universe: str) -> None:
        """Begin with nothing defined; ``default_universe`` is that of a file which names none."""
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
        """Add a queue statement, and leave behind it what HTCondor leaves: used loop variables, the last job."""
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
        """Give a name the text it has behind a queue statement."""
        now = self.table.at(key, self.table.version)
        if now is None or now.text != text:
            self.table.define(key, text, span)

    def define(self, key: str, text: str, value: Span, name: Span) -> None:
        """Assign a text, with the places of value and name."""
        self.table.define(key, text, value, name)
        if self.queues and self.after_queue is None:
            self.after_queue = name

    def replaced(self, key: str) -> Definition | None:
        """Return the value that a definition of a key would replace unseen: no job has it, no line has looked at it."""
        return None if key in self._looked_up else self.table.unseen(key)

    def lose(self, key: str, earlier: Definition | None) -> None:
        """Note that what a key means now has replaced another value of the same text, unseen, if it has."""
        later = self.table.at(key, self.table.version)
        if earlier is None or later is None or later.version == earlier.version or key in self._looked_up:
            return
        is_made_of_it = "$" in later.span.text and key.removeprefix("my.") in later.span.text.lower()
        is_same = earlier.text.lower() == later.text.lower() or not earlier.text.strip(BLANKS)
        is_of_one_text = earlier.span.source is later.span.source
        if is_of_one_text and not is_same and not is_made_of_it and len(self.table.lost) < _MOST_LOST:
            self.table.lost.append(Lost(key, earlier, later))

    def self_expanded(self, key: str, text: str, span: Span) -> str:
        """Return a text with the references to the name it is assigned to replaced."""
        if "$" not in text:
            return text
        now = self.now()
        earlier = now.lookup(key) if key in text.lower() else None
        around = now.around(f"{span.start}", lambda error: self.macro_warning(error, span))
        return expand_self(text, key, earlier, self.budget, now.lookup, around)

    def expanded(self, text: str, span: Span) -> str:
        """Return a text with its macros expanded as they are here. Raises MacroError."""
        if "$" not in text:
            return text
        now = self.now()
        around = now.around(f"{span.start}", lambda error: self.macro_warning(error, span))
        return expand(text, now.lookup, self.budget, around)

    def macro_warning(self, error: MacroError, span: Span) -> None:
        """Note a failure that HTCondor prints and passes over."""
        for fault in error.diagnostics:
            self.found.warn(fault.kind, fault.message, span, fault.help)

    def macro_fault(self, error: MacroError, span: Span) -> None:
        """Note a fault of a macro, and on what way it was met."""
        way = way_of(error, self.now())
        for fault in error.diagnostics:
            help_text = f"{fault.help or 'look there'}; the fault comes {way}" if way else fault.help
            self.found.error(fault.kind, fault.message, span, help_text)
        if self.budget.left < 0:
            self.found.check()  # nothing that follows could be expanded either

    def now(self) -> Scope:
        """Return what names mean here, between the jobs of the last queue statement and those of the next."""
        scope = Scope(self.table, self.facts, self.table.version, self.last_job)
        scope.has_folder = self.jobs > 0
        scope.used = self._looked_up
        return scope

    @property
    def looked_up(self) -> frozenset[str]:
        """The names that the lines themselves have asked for: conditions, lists, and values of their own name."""
        return frozenset(self._looked_up)

    def word(self, name: str, snake: str) -> str:
        """Return the value of a command of two spellings as it is here, nothing where it is not assigned."""
        now = self.now()
        text = now.lookup(name.lower()) or now.lookup(snake) or ""
        try:
            return expand(text, now.lookup, self.budget).strip(BLANKS)
        except MacroError:
            return ""
