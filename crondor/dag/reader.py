"""From the text of a DAG file to its nodes, their descriptions and VARS, all faults at once; nothing is run.

HTCondor 25.14: dag_parser.cpp and dag_commands.cpp of condor_utils (lines and words), DagProcessor in
condor_dagman/parse.cpp and condor_dag_checker.cpp (meaning).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Final, NamedTuple

from crondor.dag.commands import (
    ALL_NODES,
    GRAMMAR,
    SYNTAX,
    Command,
    Fault,
    Lines,
    Word,
    Words,
    inline_end,
    is_word,
    joined,
    unexpected,
    written,
)
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span, shortened, similar
from crondor.knowledge.words import one_slip
from crondor.macro.files import FileRefused, Files
from crondor.macro.lines import LogicalLine
from crondor.submit.facts import Variable

_NODES: Final = ("JOB", "FINAL", "PROVISIONER", "SERVICE", "SUBDAG")
_RESERVED: Final = frozenset(("PARENT", "CHILD", ALL_NODES))
_ALONE: Final = frozenset(("FINAL", "PROVISIONER", "SERVICE"))  # nodes without dependencies
_LIKENESS: Final = 0.75
_MOST_COMPARED: Final = 20  # misspelt names that are compared with others
_MOST_KNOWN: Final = 10_000  # others
_SHORTEST: Final = 3  # characters of a name that may be misspelt
_LONGEST: Final = 60
_LONGEST_MESSAGE: Final = 1000
_MOST_CYCLES: Final = 20
_SHOWN: Final = 8  # nodes of a cycle that are named
_ENDING: Final = ".condor.sub"


class DagLimits(NamedTuple):
    """How much is read: levels of files, files in all (a file spliced twice counts twice), nodes, faults.

    ``size``: characters of the files and of the names of splices in those of nodes; ``steps``: values and dependencies
    that commands for many nodes give.
    """

    depth: int = 20
    files: int = 10_000
    nodes: int = 1_000_000
    faults: int = 1000
    size: int = 1 << 26
    steps: int = 3_000_000


@dataclass(slots=True)
class Node:
    """A node: its kind (JOB, FINAL, PROVISIONER, SERVICE or SUBDAG) and full name (SPLICE+NAME).

    ``file`` is its submit file (of SUBDAG its DAG file), relative to ``folder``, which is relative to the DAG's base;
    ``inline`` is the place of a description inside of a DAG file, None for a file.
    """

    kind: str
    name: str
    place: Span
    file: str
    file_place: Span
    inline: Span | None
    folder: str
    is_noop: bool
    has_pre: bool = False
    variables: dict[str, Variable] = field(default_factory=dict)


class NamedPath(NamedTuple):
    """A file or folder that a DAG names: its path relative to the base, the place, and its role.

    ``is_needed``: DAGMan does not start the DAG without it; a node may create others.
    """

    path: str
    place: Span
    role: str
    is_needed: bool
    is_folder: bool = False


@dataclass(frozen=True)
class Dag:
    """The nodes of a DAG file and of its splices and included files; ``sources`` are the files that were read.

    ``named`` are other files that it names. ``is_whole``: every line of every file was read.
    """

    sources: tuple[Source, ...]
    nodes: tuple[Node, ...]
    named: tuple[NamedPath, ...]
    faults: tuple[Diagnostic, ...]
    is_whole: bool

    @property
    def source(self) -> Source:
        """The DAG file itself."""
        return self.sources[0]


_USUAL: Final = DagLimits()


def read_dag(source: Source, files: Files | None = None, limits: DagLimits = _USUAL) -> Dag:
    """Read a DAG file like DAGMan 25.14; splices and included files only from ``files``.

    Relative names are in the folder ``files.base``: that of the DAG file, as with condor_submit_dag -usedagdir, or if
    it is started there. Raises nothing: ``faults`` has what is wrong.
    """
    return _Reader(source, files, limits).dag()


class _Statement(NamedTuple):
    """A command that is applied when the nodes of the file are known."""

    keyword: str
    line: LogicalLine
    command: Command

    def span(self, at: int = 0) -> Span:
        """Return the place of one of its words."""
        word = self.command.words[at]
        return self.line.span(word.start, word.end)


class _Level:
    """One DAG: the main one or a splice, with the files it includes. Nodes are numbers of ``_Reader.nodes``."""

    def __init__(self, scope: str = "") -> None:
        self.scope = scope
        self.nodes: dict[str, int] = {}
        self.splices: dict[str, _Level] = {}
        self.final: Span | None = None
        self.provisioner: Span | None = None
        self.includes = False
        self.is_open = False  # whether a file was not read that may define more nodes
        self.own: list[int] = []  # in order, without those of splices
        self.pins: dict[str, dict[int, list[int]]] = {"PIN_IN": {}, "PIN_OUT": {}}
        self.first: list[int] = []
        self.last: list[int] = []


class _Reader:
    """One reading: the nodes and the faults so far."""

    def __init__(self, source: Source, files: Files | None, limits: DagLimits) -> None:
        self.sources = [source]
        self.files = files
        self.limits = limits
        self.faults: dict[Diagnostic, None] = {}
        self.nodes: list[Node] = []
        self.named: list[NamedPath] = []
        self.descriptions: dict[str, Span] = {}
        self.children: dict[int, dict[int, LogicalLine]] = {}
        self.parented: set[int] = set()
        self.joins = 0  # numbers below 0, which stand between many parents and many children
        self.config: Span | None = None
        self.is_whole = True
        self.reading: list[str] = []
        self.compared = 0
        self.size = len(source.text)
        self.steps = 0
        self.limited: set[str] = set()
        self.level = _Level()
        self.folder = ""

    def dag(self) -> Dag:
        name = self._real(self.sources[0].name.rpartition("/")[2])
        self.reading.append(name)
        self._file(self.sources[0])
        self._describe()
        self._cycles()
        return Dag(tuple(self.sources), tuple(self.nodes), tuple(self.named), tuple(self.faults), self.is_whole)

    def fault(
        self,
        kind: str,
        message: str,
        span: Span,
        help: str | None = None,
        fix: str | None = None,
        *,
        note: bool = False,
    ) -> None:
        if len(self.faults) < self.limits.faults:
            severity = Severity.NOTE if note else Severity.ERROR
            self.faults[Diagnostic(kind, shortened(message, _LONGEST_MESSAGE), severity, span, help, fix)] = None
        else:
            self.is_whole = False

    def syntax(self, keyword: str, fault: Fault, line: LogicalLine) -> None:
        """Report a command that cannot be read; a line without a keyword has a faulty first word."""
        help_text = f"write {SYNTAX[keyword]}" if keyword in SYNTAX else None
        self.fault("dag-syntax", fault.message, line.span(fault.start, fault.end), help_text)

    def near(self, name: str, known: Iterable[str]) -> str | None:
        """Return the known name that a misspelt one means, None if none is similar."""
        if self.compared >= _MOST_COMPARED or not _SHORTEST <= len(name) <= _LONGEST:
            return None
        self.compared += 1
        some = list(islice(known, _MOST_KNOWN))
        slips = (each for each in some if one_slip(each.lower(), name.lower()))
        return next(slips, None) or next(iter(similar(name, some, _LIKENESS)), None)

    def _is_much(self, steps: int, place: Span) -> bool:
        """Count what a command for many nodes gives; report and return whether it is too much."""
        self.steps += steps
        if self.steps > self.limits.steps:
            self._limit(f"{self.limits.steps} values and dependencies of many nodes", place)
        return self.steps > self.limits.steps

    def _limit(self, what: str, place: Span) -> None:
        """Report once that something is not read."""
        if what not in self.limited:
            self.limited.add(what)
            self.fault("dag-limit", f"crondor reads no more than {what}", place, note=True)
        self.is_whole = False

    def _real(self, path: str) -> str:
        try:
            return self.files.real(path) if self.files is not None else path
        except FileRefused:
            return path

    def _nested(self, path: str, place: Span, command: str) -> None:
        """Read another DAG file into this level."""
        whole = joined(self.folder, path)
        real = self._real(whole)
        if real in self.reading:
            self.fault("dag-recursive", f"{path} is read already: {command} would read it again without end", place)
            return
        limits = self.limits
        levels = f"{limits.depth} levels of DAG files" if len(self.reading) >= limits.depth else ""
        files = f"{limits.files} DAG files" if len(self.sources) >= limits.files else ""
        size = f"{limits.size} characters of DAG files" if self.size >= limits.size else ""
        if what := levels or files or size:
            self._limit(what, place)
            self.level.is_open = True
            return
        if self.files is None:
            self.is_whole, self.level.is_open = False, True
            return
        try:
            source = self.files.read(whole)
        except CrondorError as error:
            self.is_whole, self.level.is_open = False, True
            for each in error.diagnostics:
                outside = isinstance(error, FileRefused) and error.is_outside
                self.fault("dag-file", each.message, place, each.help, note=outside)
            return
        self.sources.append(source)
        self.size += len(source.text)
        self.reading.append(real)
        self._file(source)
        self.reading.pop()

    def _file(self, source: Source) -> None:
        """Read a file: its nodes and splices first, the other commands then in their order, as DAGMan does."""
        later: list[_Statement] = []
        lines = Lines(source)
        for line in lines:
            words = Words(line.text)
            keyword = ""
            try:
                first = words.next()
                if first is None:
                    continue
                keyword = first.text.replace("-", "_").upper()
                if keyword not in SYNTAX:
                    self._unknown(first, line)
                    continue
                if keyword in _NODES:
                    self._node(keyword, words, line, lines)
                elif keyword == "SUBMIT_DESCRIPTION":
                    self._description(words, lines)
                elif keyword == "SPLICE":
                    self._splice(words, line)
                else:
                    later.append(_Statement(keyword, line, GRAMMAR[keyword](words, line)))
                    self.level.includes |= keyword == "INCLUDE"
            except Fault as fault:
                self.syntax(keyword, fault, line)
        for each in later:
            self._apply(each)

    def _unknown(self, word: Word, line: LogicalLine) -> None:
        """Report a line that begins with no command."""
        name = word.text.replace("-", "_").upper()
        near = self.near(name, SYNTAX)
        span = line.span(word.start, word.end)
        message = f"{shortened(word.text, 60)} is not a command of DAG files"
        if near is None:
            self.fault("dag-syntax", message, span, "a comment begins with #" if word.text[0] in ";%/" else None)
        else:
            self.fault("dag-syntax", message, span, f"did you mean {written(near)}?", written(near))

    def _node(self, keyword: str, words: Words, line: LogicalLine, lines: Lines) -> None:
        if keyword == "SUBDAG":
            words.expect("EXTERNAL")
        name = words.need("the name of the node")
        file = words.bare("the DAG file" if keyword == "SUBDAG" else "the submit file")
        place, file_place, inline = line.span(name.start, name.end), line.span(file.start, file.end), None
        if keyword != "SUBDAG" and (closing := inline_end(file.text)) is not None:
            inline, line = lines.block(closing, file)
            words = Words(line.text)
        if name.text.upper() in _RESERVED or "+" in name.text:
            why = "+ separates the names of splices" if "+" in name.text else "it is a word of DAG files"
            self.fault("dag-syntax", f"{shortened(name.text, 60)} cannot be the name of a node: {why}", place)
            return
        folder, is_noop = self.folder, False
        try:
            while (word := words.next()) is not None:
                if is_word(word, "NOOP"):
                    is_noop = True
                elif is_word(word, "DIR"):
                    folder = self._dir(words, line)
                elif not is_word(word, "DONE"):
                    raise unexpected(word)
        except Fault as fault:
            self.syntax(keyword, fault, line)
            return
        if keyword == "JOB" and inline is None and file.text.endswith(_ENDING):
            dag = file.text.removesuffix(_ENDING)
            message = "DAGMan refuses JOB with the submit file of a DAG"
            self.fault("dag-role", message, file_place, f"write SUBDAG EXTERNAL {name.text} {dag}")
            return
        self._add(Node(keyword, name.text, place, "" if inline else file.text, file_place, inline, folder, is_noop))

    def _dir(self, words: Words, line: LogicalLine, *, is_needed: bool = False) -> str:
        """Return the folder after DIR, relative to the base."""
        given = words.bare("the folder after DIR")
        folder = joined(self.folder, given.text)
        self.named.append(NamedPath(folder, line.span(given.start, given.end), "the folder", is_needed, is_folder=True))
        return folder

    def _add(self, node: Node) -> None:
        level = self.level
        if self._is_taken(node.name, node.place):
            return
        if node.kind == "FINAL" and level.scope:
            self.fault(
                "dag-role",
                "a splice has no FINAL node: the DAG would not start",
                node.place,
                "move it out of the splice",
            )
        for kind, first in (("FINAL", level.final), ("PROVISIONER", level.provisioner)):
            if node.kind == kind and first is not None:
                self.fault("dag-twice", f"the DAG has a {kind} node already, at line {first.line}", node.place)
                return
        if len(self.nodes) >= self.limits.nodes:
            self._limit(f"{self.limits.nodes} nodes", node.place)
            return
        level.final = node.place if node.kind == "FINAL" else level.final
        level.provisioner = node.place if node.kind == "PROVISIONER" else level.provisioner
        level.nodes[node.name] = len(self.nodes)
        level.own.append(len(self.nodes))
        self.nodes.append(node)

    def _is_taken(self, name: str, place: Span) -> bool:
        number = self.level.nodes.get(name)
        if number is None and name not in self.level.splices:
            return False
        line = "" if number is None else f" at {_line_of(self.nodes[number].place, place)}"
        what = "splice" if number is None else "node"
        self.fault("dag-twice", f"the {what} {name} is defined already{line}", place, "choose another name")
        return True

    def _description(self, words: Words, lines: Lines) -> None:
        name, begin = words.need("the name"), words.need("the { before the description")
        end = inline_end(begin.text)
        if end is None:
            raise Fault("the { before the description is missing", begin.start, begin.end)
        inline, _ = lines.block(end, begin)
        self.descriptions[name.text] = inline

    def _splice(self, words: Words, line: LogicalLine) -> None:
        name, file, folder = words.need("the name of the splice"), words.bare("the DAG file"), self.folder
        if (word := words.next()) is not None:
            if not is_word(word, "DIR"):
                raise unexpected(word)
            folder = self._dir(words, line, is_needed=True)
            words.end()
        if self._is_taken(name.text, line.span(name.start, name.end)):
            return
        outer, outer_folder = self.level, self.folder
        self.level, self.folder = _Level(f"{outer.scope}{name.text}+"), folder
        self._nested(file.text, line.span(file.start, file.end), f"SPLICE {name.text}")
        inner, self.level, self.folder = self.level, outer, outer_folder
        outer.splices[name.text] = inner
        self.size += len(name.text) * len(inner.nodes)
        if inner.nodes and self.size > self.limits.size:
            self._limit(f"{self.limits.size} characters of names", line.span(name.start, name.end))
            inner.is_open = True
            return
        for each, number in inner.nodes.items():
            self.nodes[number].name = f"{name.text}+{self.nodes[number].name}"
            outer.nodes[f"{name.text}+{each}"] = number
        inner.is_open |= any(each.is_open for each in inner.splices.values())
        able = [number for number in inner.nodes.values() if self.nodes[number].kind not in _ALONE]
        inner.first = [number for number in able if number not in self.parented]
        inner.last = [number for number in able if number not in self.children]

    def _apply(self, each: _Statement) -> None:
        keyword, command = each.keyword, each.command
        if keyword in {"PARENT", "WEAK"}:
            above = self._ends(each, command.words, is_parent=True)
            self._edges(above, self._ends(each, command.children, is_parent=False), each.line)
        elif keyword == "REJECT":
            message = "DAGMan does not run a DAG with REJECT"
            self.fault("dag-reject", message, each.line.span(), "remove the line when the DAG is complete")
        elif keyword == "INCLUDE":
            self._nested(command.words[0].text, each.span(), keyword)
        elif keyword == "CONFIG":
            place = each.span()
            if self.config is not None:
                self.fault("dag-twice", f"the DAG has a CONFIG already, at {_line_of(self.config, place)}", place)
            self.config = self.config or place
            path = joined(self.folder, command.words[0].text)
            self.named.append(NamedPath(path, place, "the configuration", is_needed=True))
        elif keyword == "CONNECT":
            self._connect(each)
        elif keyword not in {"JOBSTATE_LOG", "MAXJOBS"} and command.words:
            self._modify(each)

    def _modify(self, each: _Statement) -> None:
        """Apply a command about one node, or all."""
        keyword, command = each.keyword, each.command
        name = command.words[0].text
        if name.upper() == ALL_NODES and keyword not in {"DONE", "PIN_IN", "PIN_OUT"}:
            steps = len(self.level.own) * (len(command.variables) if keyword == "VARS" else keyword == "SCRIPT")
            own = self.level.own if steps and not self._is_much(steps, each.span()) else ()
            numbers = [number for number in own if self.nodes[number].kind not in _ALONE]
        else:
            found = self._find(each)
            if found is None:
                return
            numbers = [found]
            self._check_role(keyword, self.nodes[found], each.span())
        if keyword == "VARS":
            for number in numbers:
                known = self.nodes[number].variables
                for variable in command.variables:  # a second value keeps the placement of the first: Node::AddVar
                    first = known.get(variable.key, variable)
                    is_moved = first.is_last != variable.is_last
                    known[variable.key] = variable._replace(is_last=first.is_last) if is_moved else variable
        elif keyword == "SCRIPT" and numbers:
            for number in numbers:
                self.nodes[number].has_pre |= command.kind == "PRE"
            program = command.words[1].text
            if program[0] not in "\"'":
                path = joined(self.nodes[numbers[0]].folder, program)
                self.named.append(NamedPath(path, each.span(1), "the script", is_needed=False))
        elif keyword in self.level.pins:
            self.level.pins[keyword].setdefault(command.number, []).extend(numbers)

    def _check_role(self, keyword: str, node: Node, place: Span) -> None:
        """Report a command that DAGMan refuses for a kind of node (DagProcessor::Process...)."""
        refused = {
            "RETRY": _ALONE,
            "PRIORITY": _ALONE,
            "CATEGORY": _ALONE,
            "SAVE_POINT_FILE": _ALONE,
            "ABORT_DAG_ON": frozenset(("FINAL",)),
        }
        if node.kind in refused.get(keyword, ()):
            written = SYNTAX[keyword].split()[0]
            self.fault(
                "dag-role", f"{written} is not possible for a {node.kind} node: DAGMan does not start the DAG", place
            )
        elif keyword == "DONE" and node.kind in _ALONE:
            self.fault("dag-role", f"DONE has no effect for a {node.kind} node", place)

    def _find(self, each: _Statement) -> int | None:
        """Return the node that a command is about; report one that does not exist."""
        name = each.command.words[0].text
        number = self.level.nodes.get(name)
        if number is not None:
            return number
        if name in self.level.splices:
            message = f"{name} is a splice, and {written(each.keyword)} is about one node"
            self.fault("dag-role", message, each.span(), f"name a node of it, as {name}+NODE")
        else:
            self._missing("node", name, each.span(), self.level.nodes)
        return None

    def _missing(self, what: str, name: str, place: Span, known: Iterable[str]) -> None:
        """Report a name without a node or splice; an unread file may define it."""
        of_splice = self.level.splices.get(name.partition("+")[0])
        if not (self.level.is_open or (of_splice is not None and of_splice.is_open)):
            near = self.near(name, known)
            message = f"the DAG has no {what} {shortened(name, 60)}"
            command = "SPLICE" if what == "splice" else "JOB"
            help_text = f"did you mean {near}?" if near else f"define it with {command}"
            if self.level.includes and near is None:
                help_text = "define it before this line: DAGMan reads an included file only at its INCLUDE"
            self.fault("dag-unknown", message, place, help_text, near)

    def _ends(self, each: _Statement, words: Iterable[Word], *, is_parent: bool) -> list[int]:
        """Return the nodes that a dependency on some names is about: of a splice its last or first ones."""
        found: dict[int, None] = {}
        for word in words:
            level, number = self.level.splices.get(word.text), self.level.nodes.get(word.text)
            if level is not None:
                of_splice = level.last if is_parent else level.first
                if not self._is_much(len(of_splice), each.span()):
                    found.update(dict.fromkeys(of_splice))
            elif number is None:
                known = chain(self.level.nodes, self.level.splices)
                self._missing("node", word.text, each.line.span(word.start, word.end), known)
            elif (kind := self.nodes[number].kind) in _ALONE:
                message = f"a {kind} node has no dependencies: DAGMan does not start the DAG"
                self.fault("dag-role", message, each.line.span(word.start, word.end))
            else:
                found[number] = None
        return list(found)

    def _edges(self, above: list[int], below: list[int], line: LogicalLine) -> None:
        if len(above) > 1 and len(below) > 1:  # as DAGMan: one node between them, not a product of edges
            self.joins -= 1
            self._edges(above, [self.joins], line)
            above = [self.joins]
        if not above:
            return
        for parent in above:
            known = self.children.setdefault(parent, {}) if below else {}
            for child in below:
                known.setdefault(child, line)
        self.parented.update(below)

    def _connect(self, each: _Statement) -> None:
        """Add the dependencies of CONNECT (Dag::ConnectSplices)."""
        sides: list[dict[int, list[int]]] = []
        for at, pins in enumerate(("PIN_OUT", "PIN_IN")):
            name = each.command.words[at].text
            level = self.level.splices.get(name)
            if level is None:
                self._missing("splice", name, each.span(at), self.level.splices)
                return
            if not level.pins[pins]:
                if not level.is_open:
                    help_text = f"add {SYNTAX[pins]} to its file"
                    self.fault("dag-unknown", f"the splice {name} has no {pins}", each.span(at), help_text)
                return
            sides.append(level.pins[pins])
        out, into = sides
        one, other = (word.text for word in each.command.words)
        is_open = self.level.splices[one].is_open or self.level.splices[other].is_open
        if not is_open and out.keys() != into.keys():
            message = f"the pins of {one} and {other} have different numbers"
            self.fault("dag-unknown", message, each.line.span(), "give each PIN_OUT a PIN_IN of the same number")
        for number in out.keys() & into.keys():
            if not self._is_much(len(out[number]) + len(into[number]), each.span()):
                self._edges(out[number], into[number], each.line)

    def _describe(self) -> None:
        """Replace the names of shared descriptions by the descriptions; all levels share their names."""
        for node in self.nodes:
            if node.inline is None and node.kind != "SUBDAG":
                node.inline = self.descriptions.get(node.file)

    def _cycles(self) -> None:
        """Report cycles of dependencies, each at a line that closes it."""
        waits: dict[int, int] = {}
        for below in self.children.values():
            for child in below:
                waits[child] = waits.get(child, 0) + 1
        ready = [number for number in self.children if number not in waits]
        while ready:
            for child in self.children.get(ready.pop(), ()):
                waits[child] -= 1
                if not waits[child]:
                    ready.append(child)
        left = {number for number, count in waits.items() if count}
        for _ in range(_MOST_CYCLES):
            left = self._inner(left)
            if not left:
                return
            path = [min(left, key=lambda each: (each < 0, each))]
            places: dict[int, int] = {}
            while path[-1] not in places:
                places[path[-1]] = len(path) - 1
                path.append(next(child for child in self.children[path[-1]] if child in left))
            cycle = path[places[path[-1]] :]
            names = [self.nodes[number].name for number in cycle if number >= 0]
            names += names[:1] if cycle[-1] < 0 else []
            shown = " -> ".join(names if len(names) <= _SHOWN else [*names[: _SHOWN - 1], "...", names[-1]])
            span = self.children[cycle[-2]][cycle[-1]].span()
            self.fault(
                "dag-cycle",
                f"these nodes wait for each other, and never run: {shown}",
                span,
                "remove one of the dependencies",
            )
            left -= set(cycle)

    def _inner(self, left: set[int]) -> set[int]:
        """Return the numbers without those that lead to no cycle."""
        counts = {number: sum(child in left for child in self.children.get(number, ())) for number in left}
        above: dict[int, list[int]] = {}
        for number in left:
            for child in self.children.get(number, ()):
                above.setdefault(child, []).append(number)
        gone = [number for number, count in counts.items() if not count]
        while gone:
            number = gone.pop()
            del counts[number]
            for parent in above.get(number, ()):
                counts[parent] -= 1
                if not counts[parent]:
                    gone.append(parent)
        return set(counts)


def _line_of(span: Span, other: Span) -> str:
    return f"line {span.line}" + ("" if span.source is other.source else f" of {span.source.name}")
