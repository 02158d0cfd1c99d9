"""The lines of a transform that are no commands: assignments, values of several lines, and what is not allowed.

HTCondor: Parse_macros.
"""

from __future__ import annotations

from crondor.macro import BLANKS, LogicalLine
from crondor.macro.statement import Statement as Parts
from crondor.macro.statement import conditional, is_hidden_if, is_name, split
from crondor.source import Span
from crondor.transform.apply import RunnableLine, TransformRun
from crondor.transform.command_line import command
from crondor.transform.commands import LineFault
from crondor.transform.errors import Stop, fault, short

_FORBIDDEN = {
    "include": ("include statement is not allowed in this context", "paste the lines in place of this one"),
    "use": ("use statement is not allowed in this context", "write the lines of the template out"),
}


class Condition(RunnableLine):
    """An if, elif, else or endif."""

    __slots__ = ("keyword", "text")
    is_condition = True

    def __init__(self, line: LogicalLine, keyword: str) -> None:
        """Take the line."""
        super().__init__(line)
        self.keyword = keyword
        self.text = line.text[len(keyword) :].lstrip(BLANKS)

    def run(self, run: TransformRun) -> int | None:
        """Test it."""
        run.condition(self.keyword, self.text)
        return None

    check = run


class Hidden(RunnableLine):
    """A line behind a colon, which is seen inside a conditional only."""

    __slots__ = ("inside", "outside")

    def __init__(self, line: LogicalLine) -> None:
        """Compile both readings."""
        super().__init__(line)
        self.inside = _behind_colon(line)
        self.outside = self.inside if is_hidden_if(line.text) else _plain(line)

    def seen(self, *, is_inside: bool) -> RunnableLine:
        """Return the line without its colon inside an if; an if behind a colon is seen everywhere."""
        return self.inside if is_inside else self.outside


class Assignment(RunnableLine):
    """``name = text``, ``name += text``, and ``+name = text`` for MY.name."""

    __slots__ = ("_parts", "key", "text")

    def __init__(self, line: LogicalLine, parts: Parts) -> None:
        """Take the line apart."""
        super().__init__(line)
        self._parts = parts
        self.text = line.text[parts.value :]
        # A plain name with a plain text is defined at once; all else is looked at when it is run.
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
                run.spend(len(earlier))
                text = earlier + parts.joint + text
        run.define(key, text)
        return None

    check = run


class Heredoc(RunnableLine):
    """``name @=tag``: the value is the lines up to one that is ``@tag``."""

    __slots__ = ("_end", "_parts", "_text", "tag")

    def __init__(self, line: LogicalLine, parts: Parts) -> None:
        """Take the line apart."""
        super().__init__(line)
        self._parts = parts
        self.tag = "@" + line.text[parts.value :]
        self._text: str | None = None
        self._end = 0

    def run(self, run: TransformRun) -> int | None:
        """Define the macro, and go on behind the tag."""
        name = self._parts.name
        if "$" in name:
            name = run.expand(name)
        if not is_name(name):
            message = f"Illegal Identifier: <{short(name)}>: names are made of letters, digits, _ . and /"
            raise Stop(fault("macro-name", message, self.line.span(0, max(1, len(self._parts.name)))))
        if self._text is None:
            self._read(run)
        run.define(name.lower(), self._text or "")
        return self._end

    check = run

    def _read(self, run: TransformRun) -> None:
        tag = self.tag
        begin = run.at
        end = next((n for n in range(begin, run.count) if run.text_of(n) == tag), None)
        if end is None:
            run.to_end()
            message = f"Found end-of-file while scanning for '{short(tag)}'"
            raise Stop(fault("heredoc", message, self.line.span(), f"end the value with a line {short(tag)}"))
        self._text = "\n".join(run.text_of(n) for n in range(begin, end))
        self._end = end + 1


class Said(RunnableLine):
    """``error : text`` and ``warning : text``."""

    __slots__ = ("_at", "_is_error")

    def __init__(self, line: LogicalLine, at: int, *, is_error: bool) -> None:
        """Keep where the text begins."""
        super().__init__(line)
        self._at = at
        self._is_error = is_error

    def run(self, run: TransformRun) -> int | None:
        """Say it."""
        said = run.expand(self.line.text[self._at :])
        if self._is_error:
            raise Stop(
                fault("error-statement", f"the rules themselves say that this is wrong: {said}", self.line.span())
            )
        run.warn("warning-statement", f"the rules themselves warn: {said}", None)
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
    """Return what a line does inside of an if; only one colon is stepped over, and no blank behind it.

    A blank hides the first word from HTCondor's look for a conditional and for the name of a macro.

    behind_colon = line | command
    """
    behind = line.behind(1)
    if behind.text.startswith(":"):
        return _plain(behind)
    if line.text[1:2] in {*BLANKS} and not behind.text.startswith(("=", "+=", "@=")):
        return command(behind)
    return compile_line(behind)


def _plain(line: LogicalLine) -> RunnableLine:
    """Return what a line does that is no conditional.

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
