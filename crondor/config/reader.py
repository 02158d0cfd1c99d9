"""From the text of a configuration to its knobs, by the rules of HTCondor 25.14's Parse_macros; all faults at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import NoReturn

from crondor._types import expect
from crondor.classad.expression import Expression
from crondor.classad.scope import Context
from crondor.classad.tree import ClassAdSyntaxError
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span, has_error, shortened, similar
from crondor.macro import BLANKS, Around, Budget, LineReader, LogicalLine, MacroError, expand, expand_self, reader
from crondor.macro.conditions import Conditions, parse_uses, with_arguments
from crondor.macro.evaluated import as_boolean, as_integer, as_real
from crondor.macro.expand import KNOWN, TEMPLATES, is_template
from crondor.macro.files import Files
from crondor.macro.lines import Dice
from crondor.macro.reader import KEYWORDS, Statement, StatementReader, Words

VERSION = (25, 14, 0)
_INTEGER_LEAST, _INTEGER_MOST = -(1 << 31), (1 << 31) - 1
_NAMES = re.compile(r"[^, \t\r\n]+")


# HTCondor: lookup_macro, param in src/condor_utils/condor_config.cpp.
class InvalidConfig(CrondorError, ValueError):
    """A configuration, or a knob of it, that HTCondor does not accept."""


@dataclass(frozen=True)
class Knob:
    """A name with a text, as it was set last.

    ``text`` is the value as written, including macros except the knob's own earlier text. ``span`` is the place of the
    value, ``name_span`` that of the name; None: it comes from a mapping or is a default. ``is_default``: it was not
    set.
    """

    name: str
    text: str
    span: Span | None = None
    name_span: Span | None = None
    is_default: bool = False
    _begin: int = field(default=-1, repr=False, compare=False)  # of the first line in the source; -1: none
    _skip: int = field(default=0, repr=False, compare=False)  # characters of that line before the value

    @property
    def source(self) -> Source:
        """The value as a text of its own, named like the knob."""
        return Source(self.text, self.name)

    def lines(self) -> tuple[LogicalLine, ...]:
        """Return the lines of the value in its file, none if the value is not there literally."""
        if self._begin < 0 or self.span is None:
            return ()
        reader = LineReader(self.span.source, self._begin)
        found: list[LogicalLine] = []
        while reader.at < self.span.end and (line := reader.statement()) is not None:
            found.append(line)
        if self._skip and found:
            found[0] = found[0].behind(self._skip)
        return tuple(found) if "\n".join(line.text for line in found) == self.text else ()

    def place(self) -> Span:
        """Return the place of the value, or the value itself if it has none."""
        return self.span if self.span is not None else self.source.span()


@dataclass(frozen=True, repr=False)
class Configuration:
    """Knobs by name, ignoring case.

    A name is looked up as in HTCondor for the daemon ``subsystem``: with ``local_name`` and a dot before it, with the
    subsystem and a dot, and alone. ``knobs`` has the settings by lower-case name, ``defaults`` applies to what is not
    set. ``environ`` is read by $ENV(), None: unknown. ``diagnostics`` are the findings of reading; with an ERROR among
    them HTCondor does not start. ``is_followed``: the files of LOCAL_CONFIG_DIR and similar knobs were read, or
    reported as not read.
    """

    knobs: Mapping[str, Knob] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    sources: tuple[Source, ...] = ()
    environ: Mapping[str, str] | None = None
    context: Context = field(default_factory=Context)
    subsystem: str = "JOB_ROUTER"
    local_name: str = ""
    version: tuple[int, int, int] = VERSION
    is_followed: bool = False

    def __repr__(self) -> str:
        names = ", ".join(each.name for each in self.sources[:3]) + (", ..." if len(self.sources) > 3 else "")
        return f"<Configuration of {len(self.knobs)} knobs{f' from {names}' if names else ''}>"

    @property
    def is_valid(self) -> bool:
        """Whether HTCondor would start with it."""
        return not has_error(self.diagnostics)

    def find(self, name: str) -> Knob | None:
        """Return a knob, a default too; None for an unknown name."""
        key = name.lower()
        for prefix in self._prefixes():
            knob = self.knobs.get(prefix + key)
            if knob is not None:
                return knob
        text = self.defaults.get(key)
        return None if text is None else Knob(name, text, is_default=True)

    def raw(self, name: str) -> str | None:
        """Return the text of a knob as written, None if it is not set or empty (param_unexpanded)."""
        knob = self.find(name)
        return knob.text or None if knob is not None else None

    def string(self, name: str, default: str | None = None) -> str | None:
        """Return a knob's text with macros replaced, the default if empty (param). Raises InvalidConfig if it fails."""
        knob = self.find(name)
        if knob is None:
            return default
        try:
            return self.expand(knob.text).strip() or default
        except MacroError as error:
            raise InvalidConfig(_moved(each, knob) for each in error.diagnostics) from None

    def integer(self, name: str, default: int = 0, least: int = _INTEGER_LEAST, most: int = _INTEGER_MOST) -> int:
        """Return a knob that is an integer, or an expression with an integer. Raises InvalidConfig."""
        text = self.string(name)
        if text is None:
            return default
        value = as_integer(text, self.context)
        if value is None or not least <= value <= most:
            what = "is not an integer" if value is None else f"is not between {least} and {most}"
            raise self._refused(name, text, what, f"write an integer; without this line it is {default}")
        return value

    def real(self, name: str, default: float = 0.0, least: float = -inf, most: float = inf) -> float:
        """Return a knob that is a number, or an expression with a number. Raises InvalidConfig."""
        text = self.string(name)
        if text is None:
            return default
        value = as_real(text, self.context)
        if value is None or value < least or value > most:
            what = "is not a number" if value is None else f"is not between {least:g} and {most:g}"
            raise self._refused(name, text, what, f"write a number; without this line it is {default:g}")
        return value

    def boolean(self, name: str, *, default: bool = False) -> bool:
        """Return a knob that is a truth value, or an expression with one. Raises InvalidConfig."""
        text = self.string(name)
        if text is None:
            return default
        value = as_boolean(text, self.context)
        if value is None:
            instead = f"write true or false; without this line it is {str(default).lower()}"
            raise self._refused(name, text, "is not a valid boolean", instead)
        return value

    def expression(self, name: str, default: Expression | None = None) -> Expression | None:
        """Return a knob that is a ClassAd expression, the default if it is not set. Raises InvalidConfig."""
        text = self.string(name)
        if text is None:
            return default
        try:
            return Expression.parse(Source(text, name), old=True)
        except ClassAdSyntaxError as error:
            knob = self.find(name)
            if knob is None:
                raise
            raise InvalidConfig(_moved(each, knob, text) for each in error.diagnostics) from None

    def names(self, name: str) -> tuple[str, ...]:
        """Return a knob that is a list of names, separated by commas or blanks. Raises InvalidConfig."""
        return tuple(_NAMES.findall(self.string(name) or ""))

    def is_set(self, name: str) -> bool:
        """Return whether a knob was set to something that is not empty."""
        knob = self.find(name)
        return knob is not None and not knob.is_default and bool(knob.text)

    def lookup(self, key: str) -> str | None:
        """Return the text of a lower-case name, for macros."""
        knob = self.find(key)
        return None if knob is None else knob.text

    def expand(self, text: str) -> str:
        """Return a text with the knobs in it replaced. Raises MacroError."""
        return expand(text, self.lookup, Budget(), self.around()) if "$" in text else text

    def around(self) -> Around:
        """Return the context of functions in a text."""
        return Around(self.environ, Dice(self.context.seed), "", None, self.context.now, lambda _: None)

    get = string
    """Look a knob up as the hooks do."""

    def texts(self) -> dict[str, str]:
        """Return all knobs by lower-case name as the subsystem sees them, as written."""
        found = dict(self.defaults)
        prefixes = [prefix for prefix in self._prefixes() if prefix]
        found.update((key, knob.text) for key, knob in self.knobs.items())
        for prefix in reversed(prefixes):
            for key, knob in self.knobs.items():
                if key.startswith(prefix):
                    found[key[len(prefix) :]] = knob.text
        return found

    def _prefixes(self) -> Iterator[str]:
        for word in (self.local_name, self.subsystem):
            if word:
                yield f"{word.lower()}."
        yield ""

    def _refused(self, name: str, text: str, what: str, help: str) -> InvalidConfig:
        knob = self.find(name) or Knob(name, text)
        shown = shortened(text, 60)
        message = f"{name} in the condor configuration {what} ({shown})"
        return InvalidConfig(Diagnostic("knob-value", message, span=knob.place(), help=help))


def _moved(found: Diagnostic, knob: Knob, text: str | None = None) -> Diagnostic:
    """Return a finding about a knob's value with its place."""
    place = knob.place()
    if found.span is None or text is None or text != place.text:
        message = f"{knob.name}: {found.message}"
        return Diagnostic(found.kind, message, found.severity, place, found.help)
    return found.relocated(place)


# HTCondor: src/condor_utils/param_info.in.
DEFAULTS: Mapping[str, str] = {
    "arch": "X86_64",
    "islinux": "true",
    "iswindows": "false",
    "job_router": "$(LIBEXEC)/condor_job_router",
    "job_router_lock": "$(LOCK)/$(JOB_ROUTER_NAME)Lock",
    "job_router_log": "$(LOG)/JobRouterLog",
    "job_router_name": "jobrouter",
    "job_router_polling_period": "10",
    "job_router_round_robin_selection": "false",
    "max_job_mirror_update_lag": "600",
    "max_periodic_expr_interval": "1200",
    "opsys": "LINUX",
    "periodic_expr_interval": "60",
    "periodic_expr_timeslice": "0.01",
}
"""By lower-case name."""

MOST = 100
"""Errors after which reading ends; warnings and notes are limited to the same number."""


class TooMany(Exception):
    """Ends a reading with too many errors."""


class ConfigFindings:
    """The findings in the order they were made."""

    def __init__(self, earlier: Iterable[Diagnostic] = ()) -> None:
        self._found = list(earlier)
        self._errors = 0
        self._others = 0

    def all(self) -> tuple[Diagnostic, ...]:
        """Return them."""
        return tuple(self._found)

    def error(self, code: str, message: str, span: Span, help: str | None = None, fix: str | None = None) -> None:
        """Add something that HTCondor does not accept. Raises TooMany."""
        self._found.append(Diagnostic(code, message, Severity.ERROR, span, help, fix))
        self._errors += 1
        if self._errors >= MOST:
            message = f"reading stops after {MOST} errors"
            self._found.append(Diagnostic("config-many", message, Severity.ERROR, span))
            self.stop()

    def warn(self, code: str, message: str, span: Span, help: str | None = None, fix: str | None = None) -> None:
        """Add a warning."""
        self._add(Diagnostic(code, message, Severity.WARNING, span, help, fix))

    hide = warn

    def note(self, code: str, message: str, span: Span, help: str | None = None) -> None:
        """Add a note."""
        self._add(Diagnostic(code, message, Severity.NOTE, span, help))

    def stop(self) -> NoReturn:
        """End the reading."""
        raise TooMany

    def _add(self, found: Diagnostic) -> None:
        self._others += 1
        if self._others <= MOST:
            self._found.append(found)


MAX_LINES = 1_000_000
_NO_TEXT = re.compile("[\\0\\ud800-\\udc7f\\udd00-\\udfff]")


def read_config(
    source: Source | str | Mapping[str, str],
    *,
    files: Files | None = None,
    environ: Mapping[str, str] | None = None,
    base: Configuration | Mapping[str, str] | None = None,
    templates: Mapping[str, str] | None = None,
    subsystem: str = "JOB_ROUTER",
    local_name: str = "",
    context: Context | None = None,
    version: tuple[int, int, int] = VERSION,
) -> Configuration:
    """Read a configuration: a text, or a mapping from names to texts as after a ``=``.

    ``base`` is known before the first line: the configuration of the files read before, or defaults by name (None:
    those of a job router). ``files`` opens the files of ``include : FILE``; without it none is opened. Commands
    (``include command``, a ``|``) are never run. ``environ`` is read by $ENV(). ``templates`` has the text of ``use
    CATEGORY : NAME`` by ``category.name``; others are reported as unknown. ``subsystem`` and ``local_name`` are
    prefixes (with a dot) that override a plain name. ``context`` has the clock and the seed of expressions, ``version``
    is compared by ``if version``.

    Never fails: faults are in the result's ``diagnostics``, with HTCondor's messages if it refuses something.
    """
    expect("source", source, (str, Source, Mapping), "text, a Source, or a mapping of knobs")
    begun = (
        base
        if isinstance(base, Configuration)
        else Configuration(
            defaults={name.lower(): text for name, text in (DEFAULTS if base is None else base).items()},
            environ=environ,
            context=context or Context(),
            subsystem=subsystem,
            local_name=local_name,
            version=version,
        )
    )
    reader = _Reader(begun, files, {name.lower(): text for name, text in (templates or {}).items()})
    if isinstance(source, Mapping):
        reader.take(source)
    else:
        reader.read(Source(source) if isinstance(source, str) else source)
    return reader.configuration()


class _Reader(StatementReader):
    """One reading: the knobs so far, and the findings."""

    words = Words(
        reader="HTCondor",
        contents="its settings are unknown",
        conditional="config-if",
        name="config-name",
        line_end="config-line",
        comment="config-comment",
        include="config-include",
        hidden="config-hidden",
        use="config-use",
        heredoc="config-heredoc",
        nested="config-nested",
        error="config-error",
        warning="config-warning",
    )

    def __init__(self, base: Configuration, files: Files | None, templates: Mapping[str, str]) -> None:
        super().__init__(files, Budget())
        self.base = base
        self.templates = templates
        self.knobs = dict(base.knobs)
        self.found: ConfigFindings = ConfigFindings(base.diagnostics)
        self.sources = list(base.sources)
        self.at = 0  # where the present line begins
        self.left = MAX_LINES
        self.seen = replace(base, knobs=self.knobs, diagnostics=(), sources=(), is_followed=False)

    def configuration(self) -> Configuration:
        found, sources = self.found.all(), tuple(self.sources)
        return replace(self.seen, diagnostics=found, sources=sources)

    def take(self, texts: Mapping[str, str]) -> None:
        for name, text in texts.items():
            value = Source(text, name)
            broken = _NO_TEXT.search(text) or _NO_TEXT.search(name)
            try:
                if broken or not reader.is_name(name):
                    what = "the value is not text" if reader.is_name(name) else f"Illegal Identifier: <{name[:60]}>"
                    self.found.error("config-name", what, value.span(), _NAMES_ARE)
                    continue
                self._set(name, value)
            except TooMany:
                return

    def _set(self, name: str, value: Source) -> None:
        try:
            self._define(name, value.text.strip(BLANKS), None, None)
        except MacroError as error:
            self.macro_fault(error, value.span())

    def read(self, source: Source) -> None:
        self.sources.append(source)
        try:
            self.run(source)
        except TooMany:
            return

    def run(self, source: Source) -> None:
        broken = _NO_TEXT.search(source.text)
        if broken is not None:
            what = "a NUL character" if broken[0] == "\0" else "half of a surrogate pair"
            self.found.error("config-text", f"the file is not text: it has {what}", source.span(*broken.span()))
            return
        if source.text.startswith("\ufeff"):
            message = "the file begins with a byte order mark, which HTCondor reads as part of the first name"
            self.found.error("config-text", message, source.span(0, 1), "save it without one", fix="")
        super().run(source)

    def run_inside(self, source: Source) -> None:
        """Read a text inside the present one, whose line is restored afterwards."""
        at = self.at
        super().run_inside(source)
        self.at = at

    def next_line(self) -> LogicalLine | None:
        """Return the next line, up to a limit."""
        self.at = self.lines.at
        line = super().next_line()
        self.left -= 1
        if self.left < 0 and line is not None:
            self.found.error("config-long", f"crondor reads no more than {MAX_LINES} lines", line.span())
            self.found.stop()
        return line

    def macro_fault(self, error: MacroError, span: Span) -> None:
        for fault in error.diagnostics:
            inside = f"; it is met in the text of {error.inside}" if error.inside else ""
            self.found.error(fault.kind, fault.message + inside, span, fault.help)
        if self.budget.left < 0:
            self.found.stop()

    def conditions(self, span: Span) -> Conditions:

        def known(use: str) -> bool:
            given = use.replace(":", ".").strip().lower().removesuffix(".")
            return is_template(use) or any(key == given or key.startswith(f"{given}.") for key in self.templates)

        return Conditions(self.seen.lookup, lambda text: self.expanded(text, span), self.base.version, known)

    def expanded(self, text: str, _span: Span) -> str:
        return expand(text, self.seen.lookup, self.budget, self.seen.around()) if "$" in text else text

    def other(self, parts: Statement, line: LogicalLine) -> None:
        r"""Read an assignment; a word in brackets is skipped.

        other = assignment | "[" word
        """
        if parts.operator:
            self._assignment(parts, line)
        elif line.text[0] != "[" or len(parts.name) < len(line.text):
            self._no_statement(parts, line)

    def _no_statement(self, parts: Statement, line: LogicalLine) -> None:
        name, rest = parts.name, line.text[len(parts.name) :].strip(BLANKS)
        help_text = f"write {name} = {rest or '...'}" if reader.is_name(name) and len(rest) <= 60 else None
        if name.upper() in {"SET", "DELETE", "COPY", "RENAME", "EVALSET", "DEFAULT", "REQUIREMENTS", "NAME"}:
            help_text = "a transform's commands belong in a knob: JOB_ROUTER_ROUTE_name @=end, the commands, @end"
        if name.lower() in KEYWORDS:
            category, _, listed = rest.partition(" ")
            words = f"use {category or 'CATEGORY'} : {listed.strip() or 'NAME'}" if name.lower() == "use" else ""
            help_text = f"write {words or f'{name} : {rest}'}"[:80]
        message = "this line is not an assignment: HTCondor stops reading here"
        self.found.error("config-line", message, line.span(), help_text)

    def _assignment(self, parts: Statement, line: LogicalLine) -> None:
        """Read the definition of a knob; a colon instead of ``=`` is obsolete. Raises MacroError.

        assignment = name text? ("=" | append | ":") text | name text? "@=" tag body
        """
        span = line.span(0, max(1, len(parts.name)))
        name = self.expanded(parts.name, span)
        if not reader.is_name(name):
            self.found.error("config-name", f"Illegal Identifier: <{name[:60]}>", span, _NAMES_ARE)
            if parts.operator == "@=":
                self.body(parts, line)
            return
        if parts.is_sentence:
            extra = line.text[len(parts.name) : parts.at].strip(BLANKS)
            message = f"HTCondor sets {name} here, and ignores {extra[:60]}"
            self.found.warn("config-words", message, span, "a name has no blanks")
        if parts.operator == ":":
            message = f"obsolete use of ':' for parameter assignment at {name}"
            self.found.warn("config-colon", message, line.span(parts.at, parts.at + 1), "write = instead of :", "=")
        if parts.operator == "@=":
            self._heredoc(name, parts, line)
            return
        text = line.text[parts.value :]
        is_whole = True
        if parts.operator == "+=":
            earlier = self.seen.lookup(name.lower())
            if earlier:
                self.budget.spend(len(earlier))
                text, is_whole = earlier + parts.joint + text, False
        # A line after a colon begins after it; its value can only be found from the line's own beginning.
        skip = len(self._line_at(line)) - len(line.text) + parts.value
        begin = self.at if is_whole else -1
        self._define(name, text, line.span(parts.value), span, begin=begin, skip=skip)

    def _line_at(self, line: LogicalLine) -> str:
        """Return all of the present line, including a colon before it."""
        whole = LineReader(line.source, self.at).statement() if line.offset(0) != self.at else line
        return line.text if whole is None else whole.text

    def _define(
        self, name: str, text: str, span: Span | None, name_span: Span | None, *, begin: int = -1, skip: int = 0
    ) -> None:
        """Set a knob. Raises MacroError."""
        key = name.lower()
        if "$" in text and len(text) <= self.budget.size:
            text = self._self_expanded(key, text)
        if len(text) > self.budget.size:
            raise MacroError("macro-size", f"{name} has more than {self.budget.size} characters")
        self.knobs[key] = Knob(name, text, span, name_span, _begin=begin, _skip=skip)

    def _self_expanded(self, key: str, text: str) -> str:
        """Replace references of a text to its own name, with or without the prefix of its daemon."""
        lowered = text.lower()
        names = [key]
        for word in (self.base.local_name.lower(), self.base.subsystem.lower()):
            if word and key.startswith(f"{word}."):
                names.append(key[len(word) + 1 :])
                break
        for name in names:
            if name in lowered:
                earlier = self.seen.lookup(name)
                text = expand_self(text, name, earlier, self.budget, self.seen.lookup, self.seen.around())
        return text

    def _heredoc(self, name: str, parts: Statement, line: LogicalLine) -> None:
        begin = self.lines.at
        lines = self.body(parts, line)
        if lines is not None:
            end = self.at
            source = line.source
            low = begin + len(source.text[begin:end]) - len(source.text[begin:end].lstrip(BLANKS))
            place = source.span(min(low, end), max(low, low + len(source.text[low:end].rstrip(BLANKS))))
            text = "\n".join(inner.text for inner in lines)
            self._define(name, text, place, line.span(0, len(parts.name)), begin=begin)

    def command(self, command: str, into: str, span: Span, **_: bool) -> None:
        """Report a command; existing output of an earlier run is read."""
        shown = shortened(command, 60)
        message = f"HTCondor would run {shown} and read its output; crondor runs nothing"
        self.found.hide("config-command", message, span, "put the lines it prints into a file, and include that")
        if into and self.files is not None:
            self.include_file(into, span, may_miss=True)

    def refused(self, error: CrondorError, span: Span, *, may_miss: bool) -> None:
        for fault in error.diagnostics:
            if fault.kind == "file-missing" and may_miss:
                continue
            if fault.kind == "file-outside":
                message = f"{fault.message}: {self.words.contents}"
                self.found.hide(self.words.hidden, message, span, fault.help)
            else:
                self.found.error(self.words.include, fault.message, span, fault.help)

    def use(self, category: str, listed: str, span: Span) -> None:
        """Read templates, each with its arguments; the contents of HTCondor's own are unknown."""
        if category.upper() not in TEMPLATES and not any(
            key.startswith(f"{category.lower()}.") for key in self.templates
        ):
            message = f"at use {category[:60]}:{listed[:60]}: unknown category"
            near = _near(category.upper(), list(TEMPLATES))
            self.found.error("config-use", message, span, near or f"the categories are {', '.join(TEMPLATES)}")
            return
        for use in parse_uses(listed):
            key = f"{category}.{use.name}".lower()
            text = self.templates.get(key)
            if text is not None:
                place = f"use {category} : {use.name} of {span.location}"
                template = Source(with_arguments(text, use, self.budget), place)
                self.sources.append(template)
                self.run_template(category, use, template, span)
            elif key in KNOWN:
                message = f"crondor does not know the settings of use {category} : {use.name}, which is HTCondor's own"
                is_router = self.base.subsystem == "JOB_ROUTER"
                help_text = "no template of HTCondor 25.14 sets JOB_ROUTER_ knobs" if is_router else None
                self.found.note("config-template", message, span, help_text)
            else:
                message = f"use {category}: does not recognise {use.name[:60]}"
                near = _near(use.name, list(TEMPLATES.get(category.upper(), ())))
                self.found.error("config-use", message, span, near)
                return


_NAMES_ARE = "names are made of letters, digits, _ . and /"


def _near(word: str, known: list[str]) -> str | None:
    by_lower = {each.lower(): each for each in known}
    found = similar(word[:40].lower(), by_lower, 0.7)
    return f"did you mean {by_lower[found[0]]}?" if found else None
