"""The commands of a DAG file: its lines, their words, and what each command may say.

HTCondor 25.14: DagLexer and DagParser in src/condor_utils/dag_parser.cpp, COMMAND_SYNTAX in dag_commands.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from typing import Final, NamedTuple, TypeAlias

from crondor.diagnostics import Source, Span, shortened
from crondor.knowledge.words import columns, lines
from crondor.macro.lines import BLANKS, LogicalLine
from crondor.submit.facts import Variable

SYNTAX: Final[Mapping[str, str]] = dict(map(columns, lines("dag_commands.txt")))
"""The commands of a DAG file, in capitals and with underscores, and how to write each."""


def written(keyword: str) -> str:
    """Return how a command is usually written."""
    return SYNTAX[keyword].split()[0]


ALL_NODES: Final = "ALL_NODES"
_WORD: Final = re.compile(r"""[ \t\r]*((?:[^ \t\r"']+|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*)""", re.DOTALL)
_QUOTED: Final = re.compile(r"""(["'])((?:(?!\1)[^\\]|\\.)*)\1""", re.DOTALL)
_KEY: Final = re.compile(r"[ \t\r]*([^ \t\r\"'=]*)[ \t\r]*")
_PAIR: Final = re.compile(r"""[ \t\r]*((?!(?i:queue))[A-Za-z_]\w*)[ \t\r]*=[ \t\r]*(["'])([^"'\\]*)\2(?=[ \t\r]|$)""")
_INT: Final = re.compile(r"[+-]?[0-9]+")
_MOST_INT: Final = 1 << 31
_DIGITS: Final = 20


class Fault(Exception):
    """A line that DAGMan cannot read: the reason, and the place in the line."""

    def __init__(self, message: str, start: int = 0, end: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.start = start
        self.end = end


class Word(NamedTuple):
    """A word: the text with its quotes as DAGMan keeps them, and its place in the line."""

    text: str
    start: int
    end: int


class Words:
    """The words of a line, one after the other (DagLexer)."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def next(self) -> Word | None:
        """Return the next word, None at the end. Raises Fault for a quote without an end."""
        text = self.text
        found = _WORD.match(text, self.at)
        end = self.at if found is None else found.end()
        if end < len(text) and text[end] in "\"'":
            raise Fault("the quote has no end", end)
        self.at = end
        if found is None or not (raw := found[1]):
            return None
        if "\\" in raw and ('"' in raw or "'" in raw):
            raw = _QUOTED.sub(lambda each: each[1] + re.sub(r"\\(.)", r"\1", each[2]) + each[1], raw)
        return Word(raw, found.start(1), end)

    def bare(self, missing: str) -> Word:
        """Return the next word without its quotes; empty ones are skipped. Raises Fault if there is none."""
        while (word := self.next()) is not None:
            text = _QUOTED.sub(lambda each: each[2], word.text) if '"' in word.text or "'" in word.text else word.text
            if text:
                return word._replace(text=text)
        raise self.missing(missing)

    def need(self, missing: str) -> Word:
        """Return the next word. Raises Fault if there is none."""
        word = self.next()
        if word is None:
            raise self.missing(missing)
        return word

    def expect(self, keyword: str) -> None:
        """Take a keyword. Raises Fault if the next word is another."""
        word = self.next()
        if not is_word(word, keyword):
            raise self.missing(keyword) if word is None else unexpected(word)

    def missing(self, what: str) -> Fault:
        """Return the fault of a line that ends too early."""
        end = len(self.text)
        return Fault(f"{what} is missing", end, end)

    def number(self, what: str, low: int = -_MOST_INT, high: int = _MOST_INT - 1) -> int:
        """Return the next word as a number; like std::stoi, DAGMan ignores what follows the digits. Raises Fault."""
        return _number(self.need(what), what, low, high)

    def rest(self) -> tuple[str, int]:
        """Return the rest of the line, and where it begins."""
        rest = self.text[self.at :]
        begin = self.at + len(rest) - len(rest.lstrip(BLANKS))
        self.at = len(self.text)
        return self.text[begin:].rstrip(BLANKS), begin

    def end(self) -> None:
        """Raise Fault if there is another word."""
        word = self.next()
        if word is not None:
            raise unexpected(word)


def unexpected(word: Word) -> Fault:
    """Return the fault of a word that a command does not have here."""
    return Fault(f"{shortened(word.text, 60)} is unexpected here", word.start, word.end)


def _number(word: Word, what: str, low: int, high: int) -> int:
    found = _INT.match(word.text)
    number = int(found[0]) if found is not None and len(found[0]) < _DIGITS else _MOST_INT
    if not low <= number <= high:
        bounds = "" if low < 0 else f" from {low} on" if high == _MOST_INT - 1 else f" from {low} to {high}"
        raise Fault(f"{shortened(word.text, 60)} is not {what}: it must be a number{bounds}", word.start, word.end)
    return number


def is_word(word: Word | None, *keywords: str) -> bool:
    """Return whether a word is one of some keywords: - and _, and small and capital letters are the same."""
    return word is not None and word.text.replace("-", "_").upper() in keywords


class Lines:
    """The logical lines of a DAG file (DagParser::getnextline): pieces joined by a blank, without comments."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.at = 0

    def __iter__(self) -> Iterator[LogicalLine]:
        return self

    def __next__(self) -> LogicalLine:
        found = self._physical()
        if found is not None and found[1][-1] != "\\":
            return LogicalLine(self.source, found[1], (0,), (found[0],))
        parts: list[str] = []
        at: list[int] = []
        is_begun = False
        while found is not None:
            start, text = found
            parts.append(f" {text}" if is_begun else text)
            at.append(start - is_begun)
            is_begun = is_begun or text != "\\"
            if not text.endswith("\\"):
                starts = (0, *accumulate(map(len, parts[:-1])))
                return LogicalLine(self.source, "".join(parts), starts, tuple(at))
            parts[-1] = parts[-1][:-1]
            found = self._physical()
        raise StopIteration  # a last line that ends with a backslash is ignored

    def block(self, end: str, opening: Word) -> tuple[Span, LogicalLine]:
        """Return the lines until the one that begins with ``end``, and the rest of that one. Raises Fault."""
        begin = self.at
        while end and (found := self._physical()) is not None:
            start, text = found
            if text == end or text.startswith(f"{end} "):
                low = self.source.text.rfind("\n", 0, start) + 1
                rest = start + len(end)
                return self.source.span(begin, low), LogicalLine(self.source, text[len(end) :], (0,), (rest,))
        message = f"the description has no end: {end} on its own line is missing" if end else "write @=NAME"
        raise Fault(message, opening.start, opening.end)

    def _physical(self) -> tuple[int, str] | None:
        """Return the next line that is no comment, and where it begins; None at the end."""
        text = self.source.text
        while self.at < len(text):
            begin, end = self.at, text.find("\n", self.at)
            end = len(text) if end < 0 else end
            self.at = end + 1
            body = text[begin:end].lstrip(BLANKS)
            start = end - len(body)
            body = body.rstrip(BLANKS)
            if body and body[0] != "#" and not body.startswith("//"):
                return start, body
        return None


def inline_end(word: str) -> str | None:
    """Return what ends a description that begins with a word, None if the word is the name of a file."""
    if word.startswith("{"):
        return "}"
    return "@" * (len(word) > 2) + word[2:] if word.startswith("@=") else None


class Command(NamedTuple):
    """What a command says: names and files in order, the children of PARENT, the type of SCRIPT, a pin's number."""

    words: tuple[Word, ...] = ()
    children: tuple[Word, ...] = ()
    variables: tuple[Variable, ...] = ()
    kind: str = ""
    number: int = 0


_Reading: TypeAlias = "Callable[[Words, LogicalLine], Command]"
_NODE: Final = "the name of the node"
_NUMBERS: Final = {
    "number": ("a number", -_MOST_INT, _MOST_INT - 1),
    "count": ("a number", 0, _MOST_INT - 1),
    "status": ("an exit code", -_MOST_INT, _MOST_INT - 1),
    "exit": ("an exit code", 0, 255),
    "pin": ("the number of a pin", 1, _MOST_INT - 1),
}
_FORMS: Final = {
    "ABORT_DAG_ON": "name status [RETURN] exit",
    "CATEGORY": "name name",
    "CONFIG": "file",
    "CONNECT": "name name",
    "DONE": "name",
    "INCLUDE": "file",
    "JOBSTATE_LOG": "file",
    "MAXJOBS": "name count",
    "PIN_IN": "name pin",
    "PIN_OUT": "name pin",
    "PRE_SKIP": "name exit",
    "PRIORITY": "name number",
    "REJECT": "",
    "RETRY": "name count [UNLESS_EXIT] status",
}
"""The words of the simple commands; those from a keyword in brackets on may be missing."""


def joined(folder: str, path: str) -> str:
    """Return a path that is relative to a folder, which may be empty."""
    return path if not folder or path.startswith("/") else f"{folder.rstrip('/')}/{path}"


def _formed(form: str) -> _Reading:
    """Return how to read a simple command."""

    def read(words: Words, _line: LogicalLine) -> Command:
        found: list[Word] = []
        number = 0
        for part in form.split():
            if part in _NUMBERS:
                number = words.number(*_NUMBERS[part])
            elif part == "file":
                found.append(words.bare("the file"))
            elif part == "name":
                found.append(words.need("the name"))
            elif (word := words.next()) is None:
                break
            elif not is_word(word, part.strip("[]")):
                raise unexpected(word)
        words.end()
        return Command(tuple(found), number=number)

    return read


def _dependency(words: Words, _line: LogicalLine) -> Command:
    parents: list[Word] = []
    children: list[Word] = []
    into, word = parents, words.next()
    if word is None or is_word(word, "CHILD"):
        raise words.missing("the parent") if word is None else unexpected(word)
    while word is not None:
        following = words.next()
        if not is_word(word, "CHILD"):
            into.append(word)
        elif following is None:
            raise words.missing("the child")
        else:
            into = children
        word = following
    if into is parents:
        raise words.missing("CHILD")
    return Command(tuple(parents), tuple(children))


def _weak(words: Words, line: LogicalLine) -> Command:
    words.expect("PARENT")
    return _dependency(words, line)


def _script(words: Words, _line: LogicalLine) -> Command:
    while not is_word(word := words.need("PRE, POST or HOLD"), "PRE", "POST", "HOLD"):
        if is_word(word, "DEFER"):
            words.number("an exit code"), words.number("a number of seconds")
        elif is_word(word, "DEBUG"):
            words.need("the file after DEBUG")
            stream = words.need("STDOUT, STDERR or ALL")
            if not is_word(stream, "STDOUT", "STDERR", "ALL"):
                raise unexpected(stream)
        else:
            raise unexpected(word)
    node = words.need(_NODE)
    rest, begin = words.rest()
    if not rest:
        raise words.missing("the program")
    program = rest.split(maxsplit=1)[0]
    return Command((node, Word(program, begin, begin + len(program))), kind=word.text.upper())


def _tolerance(words: Words, _line: LogicalLine) -> Command:
    node, word = words.need(_NODE), words.need("the number of failures")
    _number(word, "a number of failures", 0, _MOST_INT - 1)
    following = words.next()
    if following is not None and following.text == "%" and not word.text.endswith("%"):
        following = words.next()
    if following is not None and not is_word(following, "FAIL_FAST", "WAIT"):
        raise unexpected(following)
    words.end()
    return Command((node,))


def _save_point(words: Words, _line: LogicalLine) -> Command:
    node = words.need(_NODE)
    if node.text.upper() == ALL_NODES:
        raise Fault(f"{ALL_NODES} is not possible here: name one node", node.start, node.end)
    words.next()
    words.end()
    return Command((node,))


def _dot(words: Words, _line: LogicalLine) -> Command:
    words.bare("the file")
    while (word := words.next()) is not None:
        if is_word(word, "INCLUDE"):
            words.need("the file after INCLUDE")
        elif not is_word(word, "UPDATE", "DONT_UPDATE", "OVERWRITE", "DONT_OVERWRITE"):
            raise unexpected(word)
    return Command()


def _status_file(words: Words, _line: LogicalLine) -> Command:
    words.bare("the file")
    while (word := words.next()) is not None:
        if not is_word(word, "ALWAYS_UPDATE") and _INT.match(word.text) is None:
            raise unexpected(word)
    return Command()


def _environment(words: Words, _line: LogicalLine) -> Command:
    word = words.need("SET or GET")
    if not is_word(word, "SET", "GET"):
        raise unexpected(word)
    return _rest(words, _line)


def _rest(words: Words, _line: LogicalLine) -> Command:
    if not words.rest()[0]:
        raise words.missing("the name and value")
    return Command()


def _vars(words: Words, line: LogicalLine) -> Command:
    node, begin = words.need(_NODE), words.at
    placement = words.next()
    if not is_word(placement, "PREPEND", "APPEND"):
        words.at = begin
    is_last = is_word(placement, "APPEND")
    found: list[Variable] = []
    while (variable := _variable(words, line, is_last=is_last)) is not None:
        found.append(variable)
    if not found:
        raise words.missing('name="value"')
    return Command((node,), variables=tuple(found))


def _variable(words: Words, line: LogicalLine, *, is_last: bool) -> Variable | None:
    """Return the next name and value of VARS (DagLexer::next_key_value_pair), None at the end."""
    pair = _PAIR.match(words.text, words.at)
    if pair is not None:  # nearly all
        words.at = pair.end()
        return Variable(pair[1].lower(), pair[3], line.span(*pair.span(3)), line.span(*pair.span(1)), is_last)
    text, found = words.text, _KEY.match(words.text, words.at)
    key, at = (found[1], found.end()) if found is not None else ("", len(text))
    if not key and at >= len(text):
        return None
    start, end = found.span(1) if found is not None else (at, at)
    if not key or text[at : at + 1] in {'"', "'"}:
        raise Fault("a name is expected here, then =", at, at + 1)
    if text[at : at + 1] != "=":
        raise Fault(f"= is missing after {shortened(key, 60)}", start, end)
    words.at = at + 1
    value = words.need(f"the value of {shortened(key, 60)}")
    if value.text.startswith("="):
        raise Fault("one = is enough", at, value.start + 1)
    name = key[1:] if key.startswith("+") else key.lower().removeprefix("my.")
    if not name or name.lower().startswith("queue"):
        why = "it needs a name after it" if not name else "no name begins with queue"
        raise Fault(f"{key} cannot be set: {why}", start, end)
    is_quoted = value.text[0] in "\"'"
    low, high = (value.start + 1, value.end - 1) if is_quoted else (value.start, value.end)
    lower = f"my.{name.lower()}" if key.startswith("+") else key.lower()
    return Variable(
        lower, value.text[1:-1] if is_quoted else value.text, line.span(low, high), line.span(start, end), is_last
    )


GRAMMAR: Final[Mapping[str, _Reading]] = {
    **{keyword: _formed(form) for keyword, form in _FORMS.items()},
    "DOT": _dot,
    "ENV": _environment,
    "NODE_STATUS_FILE": _status_file,
    "PARENT": _dependency,
    "SAVE_POINT_FILE": _save_point,
    "SCRIPT": _script,
    "SET_JOB_ATTR": _rest,
    "TOLERANCE": _tolerance,
    "VARS": _vars,
    "WEAK": _weak,
}
"""How to read each command that is applied when the nodes are known."""
