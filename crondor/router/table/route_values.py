"""What a route says of itself by its macros: numbers, texts and expressions, read once when it is loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from crondor.classad.ad import ClassAd
from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.expression import Expression
from crondor.config import Knob
from crondor.config.values import as_integer, as_real
from crondor.macro import MacroError
from crondor.macro.statement import split
from crondor.source import Source, Span
from crondor.transform import Transform, TransformFacts
from crondor.transform.apply import TransformRun

Warn = Callable[[str, str, "Span | None", "str | None"], None]
"""Takes a warning: its code, its message, its place, and what to write instead."""


class _Asked(TransformRun):
    """What expands the macros of a route; ``failed`` are the functions that HTCondor prints an error of."""

    def __init__(
        self, ad: ClassAd | None, facts: TransformFacts, macros: dict[str, str], defaults: Mapping[str, str]
    ) -> None:
        super().__init__(ad, facts, macros, defaults)
        self.failed: list[tuple[str, str | None]] = []

    def warn(self, code: str, message: str, help: str | None) -> None:  # noqa: A002, ARG002 - as Run's
        """Keep a failure, which no line of the rules stands for."""
        self.failed.append((message, help))


class RouteValues:
    """What a route says of itself by its macros, read once it is loaded: never in the light of a job."""

    def __init__(self, name: str, knob: Knob, transform: Transform, facts: TransformFacts, warn: Warn) -> None:
        """Take the macros of a route; ``warn`` is told what is found."""
        self._name = name
        self._knob = knob
        self._context = facts.context
        self._say = warn
        self._run = _Asked(None, facts, transform.definitions(facts), facts.defaults(iterates=False))

    def place(self, name: str) -> Span:
        """Return the last line that assigns a macro, or says a keyword; the whole value if none does."""
        found = [line for line in self._knob.lines() if split(line.text).name.lower() == name.lower()]
        return found[-1].span() if found else self._knob.place()

    def text(self, name: str) -> str | None:
        """Return a macro's text, its own macros replaced; None where it is not defined."""
        raw = self._run.lookup(name.lower())
        self._run.failed.clear()
        text = None
        try:
            text = None if raw is None else self._run.expand(raw)
        except MacroError as error:
            for fault in error.diagnostics:
                self._warn("route-macro", f"{name}: {fault.message}", name, fault.help)
        for message, help_text in self._run.failed:
            self._warn("route-macro", f"{name}: {message}", name, help_text)
        return text

    def integer(self, name: str, default: Callable[[], int]) -> int:
        """Return an integer; what is none gives the default, without a word from HTCondor."""
        text = self.text(name)
        if text is None:
            return default()
        value = as_integer(text, self._context)
        if value is None:
            instead = default()
            message = f"{name} = {text[:40]} is no integer: it becomes {instead}"
            self._warn(
                "route-limit", message, name, "write a number; a macro of the job is not known when a route loads"
            )
            return instead
        return max(-(1 << 31), min(value, (1 << 31) - 1))

    def real(self, name: str, default: float) -> float:
        """Return a number; what is none gives the default."""
        text = self.text(name)
        value = None if text is None else as_real(text, self._context)
        if text is not None and value is None:
            self._warn(
                "route-limit", f"{name} = {text[:40]} is no number: it becomes {default:g}", name, "write a number"
            )
        return default if value is None else value

    def unquoted(self, name: str) -> str | None:
        """Return a text without the quotes around it."""
        text = self.text(name)
        if text is None:
            return None
        text = text.strip()
        return text[1:-1] if text and text[0] == text[-1] == '"' else text

    def expression(self, name: str, *, empty: str = "") -> Expression | None:
        """Return an expression; what is none counts as not given. ``empty`` stands for a text without any."""
        text = self.text(name)
        if text is None:
            return None
        try:
            return (
                Expression.parse(Source(text.strip() or empty, name), old=True, open_choice=True)
                if text.strip() or empty
                else None
            )
        except ClassAdSyntaxError as error:
            why = error.diagnostics[0]
            self._warn("route-expression", f"{name} is no expression, and never holds: {why.message}", name, why.help)
            return None

    def _warn(self, code: str, message: str, name: str, help: str | None) -> None:  # noqa: A002 - Diagnostic's word
        self._say(code, f"{self._name}: {message}", self.place(name), help)
