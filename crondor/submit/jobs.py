"""The jobs of one queue statement in groups of equal values, and the scope in which their macros are expanded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import islice
from typing import NamedTuple, Protocol, TypeAlias

from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span, shortened
from crondor.macro import Around, Budget, LineReader, LogicalLine, MacroError, expand, expand_defined
from crondor.macro.files import FileRefused, Files, of_kind
from crondor.macro.lines import Dice
from crondor.macro.queue_statement import Item, Items, ItemSource, Layout, Part, QueueArguments
from crondor.macro.reader import is_name
from crondor.submit.facts import COMMANDS as UNIVERSE
from crondor.submit.facts import FOLDER_NAMES as FOLDERS
from crondor.submit.facts import (
    PREFIX,
    Definition,
    InvalidSubmit,
    SubmitFacts,
    SubmitFindings,
    Table,
    job_folder,
    node_of,
)


# HTCondor: SubmitHash::submit_param, SubmitHash::setup_macro_defaults.
class Varies(IntEnum):
    """How a value differs between the jobs of one queue statement."""

    NOT = 0
    BY_ITEM = 1
    BY_JOB = 2


class JobNumbers(NamedTuple):
    """The numbers of one job: in its cluster, of its item, and in its item (all from 0)."""

    process: int = 0
    step: int = 0
    row: int = 0


class Live(NamedTuple):
    """The value of a loop variable for one item, and its place if it has one."""

    text: str
    span: Span | None


NOTHING = Live("", None)


class ItemRow:
    """The loop variables of one item; a column is extracted when needed."""

    __slots__ = ("_part", "_places", "_shift", "_text", "_variables")

    def __init__(self, variables: Mapping[str, int], item: Item, layout: Layout) -> None:
        """Take an item; ``variables`` has the column of each variable, the last one for a repeated name."""
        self._variables = variables
        self._part = item.part
        self._text = item.text
        self._shift = item.start
        self._places = layout.columns(item.text, max(variables.values(), default=-1) + 1)

    @property
    def is_blank(self) -> bool:
        """Whether the item gives no values."""
        return not self._places

    def get(self, name: str) -> Live | None:
        """Return the value of a loop variable, None for any other name."""
        column = self._variables.get(name)
        if column is None:
            return None
        if not self._places:
            return NOTHING
        start, end = self._places[column]
        return Live(self._text[start:end], self._part.span(self._shift + start, self._shift + end))


class LiveValues(Protocol):
    """Loop variables by their lower-case names."""

    def get(self, name: str, /) -> Live | None:
        """Return the value of a loop variable, None for any other name."""


class Origin(NamedTuple):
    """A macro in a value: its lower-case name, and the place of its text; None: HTCondor provides it.

    ``is_included``: the place is not in the submit file itself.
    """

    name: str
    span: Span | None
    is_included: bool = False

    def __str__(self) -> str:
        """Return words for a message: ``from $(hour), defined at line 3``."""
        if self.span is None:
            return f"from $({self.name}), which HTCondor provides"
        place = f" of {self.span.source.name}" if self.is_included else ""
        return f"from $({self.name}), defined at line {self.span.line}{place}"


class Scope:
    """The names that one job sees; ``varies`` is raised by each lookup that may differ for another job.

    ``used`` collects the macros that were looked up.
    """

    __slots__ = ("facts", "has_folder", "job", "live", "table", "used", "varies", "version")

    def __init__(
        self, table: Table, facts: SubmitFacts, version: int, job: JobNumbers, live: LiveValues | None = None
    ) -> None:
        """Look into ``table`` as it was at ``version``."""
        self.has_folder = True
        self.table = table
        self.facts = facts
        self.version = version
        self.job = job
        self.live = live
        self.varies = Varies.NOT
        self.used: dict[str, Origin] = {}

    def assigned(self, key: str) -> Live | Definition | None:
        """Return the loop variable or else the assignment of that name; one with the prefix SUBMIT. comes first."""
        if self.table.has_prefixes:
            prefixed = self.table.at(PREFIX + key, self.version)
            if prefixed is not None:
                return prefixed
        value = self.live.get(key) if self.live is not None else None
        if value is not None:
            self._note(Varies.BY_ITEM)
            return value
        return self.table.at(key, self.version)

    def lookup(self, key: str) -> str | None:
        """Return the unexpanded text of a name; raises MacroError for one that only condor_submit can know."""
        value = self.assigned(key)
        if value is not None:
            if key not in self.used:
                self.used[key] = self.origin(key, value.span)
            return value.text
        text = self.provided(key)
        if text is not None:
            self.used.setdefault(key, Origin(key, None))
        return text

    def origin(self, key: str, span: Span | None) -> Origin:
        """Return where the text of a name comes from."""
        return Origin(key, span, span is not None and span.source is not self.table.source)

    def around(self, name: str, soft: Callable[[MacroError], None]) -> Around:
        """Return the context of functions in the value of ``name``; ``soft`` takes failures that are skipped."""
        facts = self.facts
        seed = f"{facts.seed} {self.job.process} {name}"  # independent of what else is looked up, and in which order
        dice = None if facts.seed is None else Dice(seed, lambda: self._note(Varies.BY_JOB))
        return Around(facts.environ, dice, self.folder, None, facts.now, soft)

    def folder(self) -> str:
        """Return the prefix of $Ff() for a relative path: the folder of the job, empty before there is any job."""
        return job_folder(self._command, self.facts.host.folder) if self.has_folder else ""

    def _command(self, *names: str) -> str | None:
        """Return the value of the first of some commands that is assigned; $Ff() in it has no folder."""
        for name in names:
            value = self.assigned(name)
            if value is not None:
                around = self.around(name, _ignore)._replace(folder="")
                return expand(value.text, self.lookup, Budget(), around) or None
        return None

    def provided(self, key: str) -> str | None:
        """Return HTCondor's own value of a name, None if there is none; raises MacroError if crondor cannot know it."""
        if key in {"process", "procid"}:
            self._note(Varies.BY_JOB)
            return str(self.job.process)
        if key == "step":
            self._note(Varies.BY_JOB)
            return str(self.job.step)
        if key in {"row", "itemindex"}:
            self._note(Varies.BY_ITEM)
            return str(self.job.row)
        if key == "submit_file":
            return self.table.source.name
        return self.facts.builtin(key)

    def _note(self, varies: Varies) -> None:
        self.varies = max(self.varies, varies)


def _ignore(_: MacroError) -> None:
    """Ignore a failure: it is reported when the value itself is needed."""


_SHOWN = 8  # macros on the way to a fault that a message names
_MOST = 100  # findings of equal values that are kept
_AS_WRITTEN = "ec2_parameter_"  # condor_submit uses these values unchanged,
_OF_TRANSFORMS = ("transform_body_", "transformbody_")  # and expands defined macros in these


@dataclass(frozen=True)
class JobGroup:
    """Jobs of one queue statement that agree in every requested value.

    ``values`` has the expanded text of each assigned name, by its lower-case name; an empty text means that the name is
    assigned without a value (HTCondor then ignores a command and its other spellings, and makes an attribute ``my.x``
    undefined). ``spans`` has the place of each value. ``queue`` is the queue statement, None if the file has none.
    ``first`` is the statement's number, from 0, and the first job's ProcId. ``origins`` has the macros of each value
    that has any, in the order found; ``findings`` are messages about the values that condor_submit would print and
    ignore, such as for ``$INT(abc)``.
    """

    count: int
    values: Mapping[str, str]
    spans: Mapping[str, Span]
    queue: Span | None
    first: tuple[int, int]
    origins: Mapping[str, tuple[Origin, ...]] = field(default_factory=dict)
    findings: tuple[Diagnostic, ...] = ()


class QueuedItems(NamedTuple):
    """One queue statement, ``number`` from 0: ``version`` is the moment of its values, ``start`` its first ProcId.

    ``is_implied``: the one job of a file without a queue statement; ``span`` is then the end of the text.
    """

    number: int
    span: Span
    version: int
    start: int
    arguments: QueueArguments
    is_implied: bool = False

    @property
    def steps(self) -> int:
        """Jobs for each item: ``queue 0`` makes one, as HTCondor does."""
        return max(1, self.arguments.per_item)

    @property
    def jobs(self) -> int:
        """The number of jobs."""
        return self.steps * len(self.selected)

    @property
    def selected(self) -> range:
        """The numbers of the items in its slice; one without a list.

        A slice that begins outside the list has one item there, which is empty (HTCondor 25.14).
        """
        items, chosen = self.arguments.items, self.arguments.chosen
        size = 1 if items is None else len(items)
        start, stop = (
            default if end is None else end + size * (end < 0)
            for end, default in ((chosen.start, 0), (chosen.stop, size))
        )
        if not size or start >= stop:
            return range(0)
        step = chosen.step or 1
        is_alone = not 0 <= start < size and not 0 <= start + step < size
        return range(start, start + 1) if is_alone else range(start, min(stop, size), step)

    @property
    def is_outside(self) -> bool:
        """Whether the first item of the slice is outside the list."""
        items = self.arguments.items
        return items is not None and bool(self.selected) and not 0 <= self.selected[0] < len(items)

    def items(self) -> Iterator[tuple[int, LiveValues]]:
        """Yield the number of each item and its loop variables; a blank row keeps the values of the row before."""
        items = self.arguments.items
        if items is None:
            yield 0, {"item": NOTHING}
            return
        variables = {name: column for column, name in enumerate(self.arguments.variables)}
        before: ItemRow | None = None
        chosen = self.selected
        if self.is_outside:
            yield chosen[0], dict.fromkeys((*variables, "item"), NOTHING)
            chosen = chosen[1:]
        if not chosen:
            return
        for row, item in islice(enumerate(items), chosen.start, chosen.stop, chosen.step):
            live = ItemRow(variables, item, self.arguments.layout)
            if before is not None and live.is_blank:
                live = before
            before = live
            yield row, live


class Value(NamedTuple):
    """One name's expanded text and place, its macros, and how it differs between jobs."""

    text: str
    span: Span
    varies: Varies
    origins: tuple[Origin, ...] = ()
    findings: tuple[Diagnostic, ...] = ()


Values = dict[str, Value]
_Key: TypeAlias = "tuple[str, ...]"


class JobLimits:
    """Limits of one request: ``variants`` is how many jobs are compared one by one, ``budget`` limits the expansion."""

    def __init__(self, variants: int, budget: Budget | None = None) -> None:
        self.most = variants
        self.left = variants
        self.budget = budget or Budget()

    def take(self, queue: Span) -> None:
        """Count one more job; raises InvalidSubmit above the limit."""
        self.left -= 1
        if self.left < 0:
            message = f"the values differ from job to job, and crondor compares at most {self.most} jobs one by one"
            instead = "preview a file with a shorter list, or with fewer jobs"
            raise InvalidSubmit(Diagnostic("too-many-variants", message, span=queue, help=instead))


def evaluate(scope: Scope, names: Sequence[str], place: Span, budget: Budget) -> tuple[Values, list[Diagnostic]]:
    """Return the expanded values of the assigned ``names`` in a scope, and the faults of the others.

    ``place`` is for values without a place of their own.
    """
    values: Values = {}
    faults: list[Diagnostic] = []
    for name in names:
        scope.varies = Varies.NOT
        value = scope.assigned(name)
        if value is None:
            continue
        span = value.span or place
        if "$" not in value.text or name.startswith(_AS_WRITTEN):
            values[name] = Value(value.text, span, scope.varies)
            continue
        scope.used = {}
        soft: list[MacroError] = []
        around = scope.around(name, soft.append)
        if name in FOLDERS:
            around = around._replace(folder="")  # that of the job before, in HTCondor: the first has none
        expansion = expand_defined if name.startswith(_OF_TRANSFORMS) else expand
        try:
            text = expansion(value.text, scope.lookup, budget, around)
        except MacroError as error:
            faults += placed(error, name, span, scope)
        else:
            findings = [replace(d, severity=Severity.WARNING) for e in soft for d in placed(e, name, span, scope)]
            origins = tuple(scope.used.values())
            values[name] = Value(text, span, scope.varies, origins, tuple(dict.fromkeys(findings)))
    return values, faults


def node_of_jobs(queue: QueuedItems, table: Table, facts: SubmitFacts, default: str) -> str:
    """Return the text of $(Node) in the jobs of a cluster, decided by the first job of ``queue``, its first statement.

    ``default`` is the universe if the file does not set it.
    """
    first = next(queue.items(), None)
    if first is None:
        return ""
    scope = Scope(table, facts, queue.version, JobNumbers(queue.start, 0, first[0]), first[1])
    values, _ = evaluate(scope, UNIVERSE, queue.span, Budget())
    given = next((values[name].text for name in UNIVERSE if name in values), "")
    return node_of(given or default)


def placed(error: MacroError, name: str, span: Span, scope: Scope) -> list[Diagnostic]:
    """Return a macro's fault at the assignment that contains it, with the value and the macros that lead to it."""
    inner = scope.assigned(error.inside) if error.inside else None
    written = scope.table.name(name)
    shown = written.text if written else name
    place, way = (inner.span if inner else None) or span, way_of(error, scope)
    found = []
    for each in error.diagnostics:
        instead = f"{each.help}; the fault comes {way}" if each.help and way else each.help
        found.append(replace(each, message=f"{shown}: {each.message}", span=place, help=instead))
    return found


def way_of(error: MacroError, scope: Scope) -> str:
    """Return the macros that lead to a fault, each with its line: ``from $(a), defined at line 3``."""
    known = ((name, scope.assigned(name)) for name in dict.fromkeys(error.chain[-_SHOWN:]))
    return "; ".join(str(scope.origin(name, value.span)) for name, value in known if value is not None)


def groups(
    queue: QueuedItems, table: Table, facts: SubmitFacts, first: Values, limits: JobLimits, *, in_order: bool = False
) -> Iterator[JobGroup]:
    """Yield the groups of a queue statement, ``first`` being the values of its first job.

    Only differing values cost work: by item, and by job only if one depends on the job's number. ``in_order``: only
    neighbours are one group. Raises InvalidSubmit if a later job's value cannot be expanded, and if the limits are
    exceeded, after the groups of the jobs before.
    """
    names = [name for name, value in first.items() if value.varies]
    if not names:
        yield _group(queue, queue.jobs, first, queue.start)
        return
    merged: dict[_Key, tuple[int, int, Values]] = {}
    process = queue.start
    for row, live in queue.items():
        step = 0
        while step < queue.steps:
            try:
                limits.take(queue.span)
            except InvalidSubmit:
                yield from _groups(queue, first, merged)
                raise
            scope = Scope(table, facts, queue.version, JobNumbers(process, step, row), live)
            values, faults = evaluate(scope, names, queue.span, limits.budget)
            if faults:
                raise InvalidSubmit(faults)
            varies = max(value.varies for value in values.values())
            count = 1 if varies is Varies.BY_JOB else queue.steps - step
            key = tuple(value.text for value in values.values())
            if in_order and merged and key not in merged:
                yield from _groups(queue, first, merged)
                merged = {}
            known = merged.get(key)
            merged[key] = (
                (known[0] + count, known[1], _together(known[2], values)) if known else (count, process, values)
            )
            step += count
            process += count
    yield from _groups(queue, first, merged)


def _together(values: Values, others: Values) -> Values:
    """Return values with the findings of equal ones of another job: each failed in its own way."""
    if not any(value.findings for value in others.values()):
        return values
    return {
        name: value._replace(findings=tuple(dict.fromkeys((*value.findings, *others[name].findings)))[:_MOST])
        for name, value in values.items()
    }


def _groups(queue: QueuedItems, first: Values, merged: Mapping[_Key, tuple[int, int, Values]]) -> Iterator[JobGroup]:
    for count, start, values in merged.values():
        yield _group(queue, count, {**first, **values}, start)


def _group(queue: QueuedItems, count: int, values: Values, process: int) -> JobGroup:
    texts = {name: value.text for name, value in values.items()}
    spans = {name: value.span for name, value in values.items()}
    origins = {name: value.origins for name, value in values.items() if value.origins}
    findings = tuple(finding for value in values.values() for finding in value.findings)
    statement = None if queue.is_implied else queue.span
    first = (queue.number, process)
    return JobGroup(count, texts, spans, statement, first, origins, findings)


MAX_ROWS = 10_000_000  # lines of one item list
_HIDDEN = "its jobs are not known"


# HTCondor: SubmitHash::load_inline_q_foreach_items, SubmitHash::load_external_q_foreach_items.
class ListReader:
    """Fills the lists of the queue statements of one reading."""

    def __init__(self, files: Files | None, found: SubmitFindings, word: Callable[[str, str], str]) -> None:
        """Take the files that may be read; ``word`` returns the value of a command of the file by its two names."""
        self._files = files
        self._found = found
        self._word = word
        self.sources: list[Source] = []
        self._is_whole = True

    def fill(self, arguments: QueueArguments, lines: LineReader, span: Span) -> QueueArguments:
        """Return the arguments with all their items; unknown ones are left out, with a warning."""
        items = arguments.items
        if items is None:
            return arguments
        source = arguments.source
        if source is ItemSource.LINES:
            self._rows(items, lines, span)
        elif source is ItemSource.FILE:
            self._rows_of_file(items, arguments.path, span)
        elif source is ItemSource.COMMAND:
            self._command(arguments.path, span)
        elif source is ItemSource.STDIN:
            message = f"the rows are read from standard input at submission: {_HIDDEN}"
            self.hide("unknown-items", message, span, "write the rows into a file, or into this one")
        if arguments.kinds:
            arguments = arguments._replace(items=self._names(items, arguments.kinds, span))
        if items.are_rows and not arguments.kinds:
            self._warn_of_rows(items, is_file=source is ItemSource.FILE)
        return self._with_header(arguments, span)._replace(is_whole=self._is_whole)

    def hide(self, kind: str, message: str, span: Span, hint: str | None) -> None:
        """Add a warning that items are unknown."""
        self._is_whole = False
        self._found.hide(kind, message, span, hint)

    def _command(self, path: str, span: Span) -> None:
        if not path.endswith("|"):
            self._found.error("queue-list", "not a valid command, | must be at the end", span, "end it with |")
            return
        message = (
            f"condor_submit would run {_short(path)} and read rows from its output; crondor runs nothing: {_HIDDEN}"
        )
        self.hide("runs-command", message, span, "write the rows into a file, or into this one")

    def _rows(self, items: Items, lines: LineReader, span: Span) -> None:
        while (row := lines.item()) is not None:
            if row.text.startswith(")") and not row.is_ragged:
                return
            if not row.text.startswith("#"):
                self._add(items, row, span)
        message = "Reached end of file without finding closing brace ')' for this queue statement"
        self._found.error("queue-list", message, span, "put ) on a line of its own after the last item")

    def _add(self, items: Items, row: LogicalLine, span: Span) -> None:
        items.add(row)
        if items.lines > MAX_ROWS:
            self._found.error("queue-list", f"crondor reads no more than {MAX_ROWS} lines of a list", span)
            self._found.check()

    def _rows_of_file(self, items: Items, path: str, span: Span) -> None:
        if self._files is None:
            message = f"the rows are in {_short(path)}, and crondor opens no file here: {_HIDDEN}"
            self.hide("unknown-items", message, span, "write the rows out: queue a,b from ( rows )")
            return
        try:
            source = self._files.read(path)
        except CrondorError as error:
            self.refused(error, span, _HIDDEN)
            return
        self.sources.append(source)
        lines = LineReader(source)
        while (row := lines.item()) is not None:
            self._add(items, row, span)

    def refused(self, error: CrondorError, span: Span, hidden: str) -> None:
        """Report a file that was not read: one outside the allowed folders hides something, others are a fault."""
        for fault in error.diagnostics:
            if isinstance(error, FileRefused) and error.is_outside:
                self.hide(fault.kind, f"{fault.message}: {hidden}", span, fault.help)
            else:
                self._found.error(fault.kind, fault.message, fault.span or span, fault.help)

    def _names(self, items: Items, kinds: str, span: Span) -> Items:
        patterns = [item.text for item in items]
        if self._files is None:
            message = f"the items are names of files, and crondor looks into no folder here: {_HIDDEN}"
            self.hide("unknown-items", message, span, "write the names out: queue name in (a.dat b.dat)")
            return Items()
        if kinds == "*":
            kinds = self._kinds(span)
        repeats = self._says("SubmitAllowDuplicateMatches", "submit_allow_duplicate_matches")
        names: dict[str, None] = {}
        parts: list[Part] = []
        empty: list[str] = []
        for pattern in patterns:
            try:
                found = self._files.matching(pattern)
            except CrondorError as error:
                self.refused(error, span, _HIDDEN)
                continue
            found = of_kind(found, pattern, kinds)
            parts += [Part(name, None, 0, is_row=True) for name in found if repeats or name not in names]
            names.update(dict.fromkeys(found))
            empty += [] if found else [pattern]
        self._warn_of_none(empty, span)
        return Items(tuple(parts), are_rows=True)

    def _kinds(self, span: Span) -> str:
        word = self._word("SubmitMatchDirectories", "submit_match_directories").lower()
        if word in {"never", "no", "false"}:
            return "files"
        if word not in {"only", "yes", "true", ""}:
            self._found.error("queue-list", f"{_short(word)} is not a valid value for SubmitMatchDirectories", span)
        return "dirs" if word == "only" else "any"

    def _says(self, name: str, snake: str) -> bool:
        return self._word(name, snake).lower() in {"true", "yes", "t", "1"}

    def _warn_of_none(self, patterns: list[str], span: Span) -> None:
        if patterns and self._says("SubmitFailEmptyMatches", "submit_fail_empty_matches"):
            shown = " ".join(f"'{_short(pattern)}'" for pattern in patterns[:5])
            self._found.error("queue-list", f"no matches for pattern(s): {shown}", span)
            return
        for pattern in patterns:
            self._found.warn("no-match", f"'{_short(pattern)}' does not match any files", span)

    def _warn_of_rows(self, items: Items, *, is_file: bool) -> None:
        """Warn about the first row that is probably a mistake."""
        if items.blank is not None:
            message = "a blank line in a list is a row: its jobs get the values of the row before"
            self._found.warn("blank-row", message, items.blank.span(), "remove it")
        if is_file and items.comment is not None:
            message = "a comment in a file of rows is a row like any other"
            self._found.warn("comment-row", message, items.comment.span(), "remove it")

    def _with_header(self, arguments: QueueArguments, span: Span) -> QueueArguments:
        """Take the names of the variables from the row of headings."""
        items, layout = arguments.items, arguments.layout
        if items is None or layout.header < 0:
            return arguments
        row = next((item for number, item in enumerate(items) if number == layout.header), None)
        if row is None:
            message = f"Heading row {layout.header} is beyond the end of the table: the variables keep their names"
            self._found.warn("table-header", message, span, "write header=none for a table without headings")
            return arguments
        names = layout.split(row.text)
        wrong = [name for name in names if not is_name(name)]
        if wrong:
            message = f"no names of variables: {_short(', '.join(wrong))}: HTCondor reads this row as data"
            place = row.part.line.span() if row.part.line is not None else span
            self._found.warn("table-header", message, place, "name the columns")
            return arguments
        items.drop(layout.header, max(0, layout.header - 1 + layout.skip) if layout.header else 0)
        if not names:
            message = "the row of headings is blank: HTCondor ignores it, and the variables keep their names"
            self._found.warn("table-header", message, span, "name the columns")
        return arguments._replace(variables=tuple(name.lower() for name in names) or arguments.variables)


def _short(text: str) -> str:
    return shortened(text, 60)
