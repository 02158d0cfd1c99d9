"""The items of a queue statement that do not stand on its line: rows that follow, rows of a file, names of files.

HTCondor: SubmitHash::load_inline_q_foreach_items, SubmitHash::load_external_q_foreach_items.
"""

from __future__ import annotations

from collections.abc import Callable

from crondor.diagnostics import CrondorError, Source, Span, shortened
from crondor.macro import LineReader, LogicalLine
from crondor.macro.files import FileRefused, Files, of_kind
from crondor.macro.queue_statement import Items, ItemSource, Part, QueueArguments
from crondor.macro.reader import is_name
from crondor.submit.facts import SubmitFindings

MAX_ROWS = 10_000_000  # lines of one item list
_HIDDEN = "its jobs are not known"


class ListReader:
    """Fills the lists of the queue statements of one reading."""

    def __init__(self, files: Files | None, found: SubmitFindings, word: Callable[[str, str], str]) -> None:
        """Take the files that may be read; ``word`` gives the value of a command of the file by its two names."""
        self._files = files
        self._found = found
        self._word = word
        self.sources: list[Source] = []
        self._is_whole = True

    def fill(self, arguments: QueueArguments, lines: LineReader, span: Span) -> QueueArguments:
        """Return the arguments with all their items; those that cannot be known are left out, and that is said."""
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
            self.hide("unknown-items", message, span, "write the rows into a file, or here")
        if arguments.kinds:
            arguments = arguments._replace(items=self._names(items, arguments.kinds, span))
        if items.are_rows and not arguments.kinds:
            self._warn_of_rows(items, is_file=source is ItemSource.FILE)
        return self._with_header(arguments, span)._replace(is_whole=self._is_whole)

    def hide(self, kind: str, message: str, span: Span, hint: str | None) -> None:
        """Note that items are not known."""
        self._is_whole = False
        self._found.hide(kind, message, span, hint)

    def _command(self, path: str, span: Span) -> None:
        if not path.endswith("|"):
            self._found.error("queue-list", "not a valid command, | must be at the end", span, "end it with |")
            return
        message = (
            f"condor_submit would run {_short(path)} and take its output for rows; crondor runs nothing: {_HIDDEN}"
        )
        self.hide("runs-command", message, span, "write the rows into a file, or here")

    def _rows(self, items: Items, lines: LineReader, span: Span) -> None:
        """Read the lines of a list up to its closing parenthesis."""
        while (row := lines.item()) is not None:
            if row.text.startswith(")") and not row.is_ragged:
                return
            if not row.text.startswith("#"):
                self._add(items, row, span)
        message = "Reached end of file without finding closing brace ')' for this queue statement"
        self._found.error("queue-list", message, span, "put ) on a line of its own behind the last item")

    def _add(self, items: Items, row: LogicalLine, span: Span) -> None:
        items.add(row)
        if items.lines > MAX_ROWS:
            self._found.error("queue-list", f"crondor reads no more than {MAX_ROWS} lines of a list", span)
            self._found.check()

    def _rows_of_file(self, items: Items, path: str, span: Span) -> None:
        if self._files is None:
            message = f"the rows stand in {_short(path)}, and crondor opens no file here: {_HIDDEN}"
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
        """Report a file that was not read: one that lies outside hides something, all else is a fault."""
        for fault in error.diagnostics:
            if isinstance(error, FileRefused) and error.is_outside:
                self.hide(fault.kind, f"{fault.message}: {hidden}", span, fault.help)
            else:
                self._found.error(fault.kind, fault.message, fault.span or span, fault.help)

    def _names(self, items: Items, kinds: str, span: Span) -> Items:
        """Return the names of files that the patterns match."""
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
        """Warn of the first row that is probably not meant as one."""
        if items.blank is not None:
            message = "a blank line in a list is a row: its jobs get the values of the row before"
            self._found.warn("blank-row", message, items.blank.span(), "remove it")
        if is_file and items.comment is not None:
            message = "a comment in a file of rows is a row like any other"
            self._found.warn("comment-row", message, items.comment.span(), "remove it")

    def _with_header(self, arguments: QueueArguments, span: Span) -> QueueArguments:
        """Take the names of the variables from the row that a table has them in."""
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
            message = f"no names of variables: {_short(', '.join(wrong))}: HTCondor takes this row for data"
            place = row.part.line.span() if row.part.line is not None else span
            self._found.warn("table-header", message, place, "name the columns")
            return arguments
        items.drop(layout.header, max(0, layout.header - 1 + layout.skip) if layout.header else 0)
        if not names:
            message = "the row of headings is blank: HTCondor leaves it out, and the variables keep their names"
            self._found.warn("table-header", message, span, "name the columns")
        return arguments._replace(variables=tuple(name.lower() for name in names) or arguments.variables)


def _short(text: str) -> str:
    return shortened(text, 60)
