"""The report of one text: its findings, minus those that comments silence, as objects and as plain data."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypedDict

from crondor.compile.markers import BEGIN, END, EXPECTED, MEANINGS, SETTING, TO_CRONDOR, meant
from crondor.diagnostics import Severity, Source, Span, similar
from crondor.lint.rule import Finding, Fix, Rule, RuleHit, place, rule
from crondor.macro.files import Files
from crondor.submit.edits import TextEdit
from crondor.submit.facts import Variable

_ORDER = re.compile(r"[ \t]*(ignore|ignore-file)[ \t]*\[([^\[\]]*)\][ \t]*\r?")
_CODE = re.compile(r"[A-Za-z0-9]+")
_LIST = re.compile(r"[ \t]*[A-Za-z0-9]+[ \t]*(,[ \t]*[A-Za-z0-9]+[ \t]*)*")
_MOST = 1000  # suppressions in one source
SITE_CODE = re.compile(r"(?!CRN)[A-Z]{2,16}[0-9]{1,6}")
"""The code of a rule that is not crondor's own."""


GROUP = "crondor.rules"
"""The entry point group in which a package registers a Rule, or several in a tuple."""


class Suppression(NamedTuple):
    """One code in a comment: its place, and the lines it applies to (from 1; all lines if ``last`` is None)."""

    span: Span
    prefix: str  # the code, or its beginning, in upper case
    first: int
    last: int | None

    def covers(self, code: str, line: int) -> bool:
        """Return whether it applies to a finding with that code that begins on that line."""
        return code.startswith(self.prefix) and self.first <= line and (self.last is None or line <= self.last)


class Comments:
    """The crondor comments of a source: ``orders`` in their order, and the ``malformed`` ones."""

    def __init__(self, source: Source) -> None:
        self.orders: list[Suppression] = []
        self.malformed: list[Span] = []
        self._compiled: list[Suppression] = []
        self._by_line: dict[int, list[Suppression]] = {}
        if "crondor" in source.text:
            self._read(source)
        for order in self.orders:
            self._by_line.setdefault(0 if order.last is None else order.first, []).append(order)
        self._firsts = sorted(self._by_line)

    def covering(self, code: str, line: int) -> Iterator[Suppression]:
        """Yield the orders that silence a finding; markers of compiled lines are orders too."""
        yield from (order for order in self._compiled if order.covers(code, line))
        if not self._firsts:
            return
        near = self._firsts[bisect_right(self._firsts, line) - 1] if line >= self._firsts[0] else 0
        for first in dict.fromkeys((0, near)):  # statements do not overlap
            yield from (order for order in self._by_line.get(first, ()) if order.covers(code, line))

    def _read(self, source: Source) -> None:
        statements = _Statements(source)
        for comment in TO_CRONDOR.finditer(source.text):
            if self._is_of_schedule(source, comment):
                continue
            order = _ORDER.fullmatch(comment[1])
            if order is None or not _LIST.fullmatch(order[2]) or len(self.orders) + order[2].count(",") >= _MOST:
                self.malformed.append(source.span(comment.start(), comment.start() + len(comment[0].rstrip("\r"))))
                if len(self.malformed) >= _MOST:
                    return
                continue
            whole = order[1] == "ignore-file"
            first, last = (1, None) if whole else statements.below(source.position(comment.start())[0])
            at = comment.start(1) + order.start(2)
            spans = (source.span(at + c.start(), at + c.end()) for c in _CODE.finditer(order[2]))
            self.orders += [Suppression(span, span.text.upper(), first, last) for span in spans]

    def _is_of_schedule(self, source: Source, comment: re.Match[str]) -> bool:
        """Return whether a comment is a schedule, a policy or a marker of compiled lines, and record it if so."""
        text = comment[0].rstrip("\r")
        if BEGIN.fullmatch(text):
            span, line = source.span(comment.start(), comment.end()), source.position(comment.start())[0]
            self._compiled = [Suppression(span, code, line, None) for code in EXPECTED]
        elif END.fullmatch(text):
            last = source.position(comment.start())[0]
            self._compiled = [order._replace(last=last) for order in self._compiled]
        else:
            setting = SETTING.fullmatch(text)
            return setting is not None and setting["name"].lower() in MEANINGS
        return True


class Silence(NamedTuple):
    """The comments of a source, the orders that silenced something, and all codes.

    ``is_whole``: the text could be read completely, so that no finding was missed.
    """

    comments: Comments
    used: frozenset[Suppression]
    codes: frozenset[str]
    is_whole: bool = True


class _Statements:
    """Finds the statement below a line, for lines in ascending order."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._count = source.text.count("\n") + 1
        self._found = (0, 0)

    def below(self, line: int) -> tuple[int, int]:
        """Return the first and the last line of the statement that follows a line (from 1)."""
        if line < self._found[0]:
            return self._found  # only comments and blank lines in between
        first = line + 1
        while first < self._count and _is_passed_over(self._source.line(first)):
            first += 1
        last = first
        while last < self._count and _continues(self._source.line(last)):
            last += 1
        self._found = first, last
        return self._found


def _continues(text: str) -> bool:
    """Return whether the statement continues below a line; a comment within it does not end it."""
    return text.rstrip().endswith("\\") or text.lstrip().startswith("#")


def _is_passed_over(text: str) -> bool:
    text = text.strip()
    return not text or text.startswith("#")


_FEW = 20  # mistakes of one file that are compared with every code


@rule("CRN901", "unused-ignore", Severity.NOTE, "a comment that silences nothing")
def unused_ignore(silence: Silence) -> Iterator[RuleHit]:
    """An unused suppression would hide the next finding of its code."""
    for order in silence.comments.orders if silence.is_whole else ():
        if order not in silence.used and _is_known(order, silence.codes):
            yield RuleHit(f"nothing is found here with code {order.prefix}", order.span, "remove it from the comment")


@rule("CRN902", "bad-ignore", Severity.WARNING, "a comment for crondor that cannot be read")
def bad_ignore(silence: Silence) -> Iterator[RuleHit]:
    """A comment that crondor cannot read silences nothing."""
    for span in silence.comments.malformed:
        message = "crondor cannot read this comment"
        help_text = "write # crondor: ignore[CRN101], or ignore-file, with the codes in brackets"
        setting = meant(span.text)
        yield RuleHit(message, span, f"did you mean {setting} = ...?" if setting else help_text)
    known: dict[str, str | None] = {}
    for order in silence.comments.orders:
        if not _is_known(order, silence.codes) and not _is_of_site(order, silence.codes):
            if order.prefix not in known:
                known[order.prefix] = _close(order.prefix, silence.codes) if len(known) < _FEW else None
            close = known[order.prefix]
            help_text = f"did you mean {close}?" if close else "crondor check --rules lists the codes"
            fix = Fix(f"write {close}", (TextEdit(order.span, close),), safe=False) if close else None
            yield RuleHit(f"no rule has the code {order.prefix}", order.span, help_text, fix)


def _is_known(order: Suppression, codes: frozenset[str]) -> bool:
    return any(code.startswith(order.prefix) for code in codes)


def _is_of_site(order: Suppression, codes: frozenset[str]) -> bool:
    """Return whether a code may be that of a rule that another host has."""
    return SITE_CODE.fullmatch(order.prefix) is not None and _close(order.prefix, codes) is None


def _close(prefix: str, codes: frozenset[str]) -> str | None:
    return next(iter(similar(prefix[:20], sorted(codes), 0.8)), None)


COMMENT_RULES: tuple[Rule[Silence], ...] = (unused_ignore, bad_ignore)


class NodeText(NamedTuple):
    """How the description of a DAG's node is read: the files that it may name, and its variables."""

    files: Files | None
    variables: tuple[Variable, ...]


class CheckReport(NamedTuple):
    """A description's findings in line order, and the silenced ones; ``included`` are the other files read for it.

    ``node`` is that of a DAG whose description it is, None for a file of its own; ``is_dag``: it is a DAG file.
    """

    source: Source
    findings: tuple[Finding, ...]
    silenced: tuple[Finding, ...] = ()
    included: tuple[Source, ...] = ()
    node: NodeText | None = None
    is_dag: bool = False

    def __repr__(self) -> str:
        """Return the name of the description, and the codes of what was found."""
        codes = ", ".join(dict.fromkeys(each.diagnostic.code for each in self.findings)) or "nothing"
        return f"<CheckReport of {self.source.name!r}: {codes}>"


def report(source: Source, findings: Iterable[Finding], codes: Collection[str], *, is_whole: bool) -> CheckReport:
    """Separate the findings that comments silence from the others, and add faults of the comments of ``source``.

    ``codes`` are all codes that a comment may name; ``is_whole``: the text could be read completely, so that no finding
    was missed.
    """
    comments: dict[Source, Comments] = {source: Comments(source)}
    used: set[Suppression] = set()
    found: list[Finding] = []
    silenced: list[Finding] = []
    for finding in findings:
        span = finding.diagnostic.span
        orders: list[Suppression] = []
        if span is not None:
            if span.source not in comments:
                comments[span.source] = Comments(span.source)
            orders = list(comments[span.source].covering(finding.diagnostic.code, span.line))
        used.update(orders)
        (silenced if orders else found).append(finding)
    silence = Silence(comments[source], frozenset(used), frozenset(codes), is_whole)
    for comment_rule in COMMENT_RULES:
        found += comment_rule.findings(silence)
    return CheckReport(source, tuple(sorted(found, key=place)), tuple(silenced))


def select(findings: Iterable[Finding], chosen: tuple[str, ...], ignored: tuple[str, ...]) -> Iterator[Finding]:
    """Return the findings whose code begins with one of ``chosen`` (all if empty) and with none of ``ignored``.

    If both match a code, the longer prefix wins, as in other linters.
    """
    for finding in findings:
        code = finding.diagnostic.code
        taken = max((len(prefix) for prefix in chosen if code.startswith(prefix)), default=-1 if chosen else 0)
        left = max((len(prefix) for prefix in ignored if code.startswith(prefix)), default=-1)
        if taken > left:
            yield finding


class PositionData(TypedDict):
    """A position in a file."""

    file: Annotated[str, "the file, which may be an included one"]
    line: Annotated[int, "the line (from 1)"]
    column: Annotated[int, "the column (characters, from 1)"]


class PlaceData(PositionData):
    """A piece of a file, from its first character to its end."""

    end_line: Annotated[int, "the line of the end (from 1)"]
    end_column: Annotated[int, "the column just after the end (characters, from 1)"]


class FixEditData(TypedDict):
    """A change that a fix makes to a text."""

    place: Annotated[PlaceData, "what is replaced"]
    text: Annotated[str, "by what"]


class FixData(TypedDict):
    """What cures a finding."""

    title: Annotated[str, "what it does"]
    safe: Annotated[bool, "whether `--fix` makes it without `--unsafe`"]
    edits: Annotated[Iterable[FixEditData], "the changes; one that covers nothing inserts"]


class FindingData(TypedDict):
    """What a rule of `crondor check` found."""

    code: Annotated[str, "the rule: `CRN101`"]
    name: Annotated[str, "the rule's name"]
    severity: Annotated[str, "how bad it is", Severity]
    message: Annotated[str, "what, and why"]
    help: Annotated[str | None, "what to write instead"]
    url: Annotated[str | None, "the address of its page, if it is a rule of a site"]
    place: Annotated[PlaceData | None, "where; the end of the file for something that it lacks"]
    fix: Annotated[FixData | None, "the cure, where there is one"]


class ReportData(TypedDict):
    """A checked file."""

    name: Annotated[str, "the path as named, or found below the directory named"]
    findings: Annotated[Iterable[FindingData], "in the order of the lines"]
    silenced: Annotated[int, "how many a comment silenced"]


def report_data(report: CheckReport) -> ReportData:
    """Return the report of one description: its name, the findings in the order of lines, the number silenced."""
    findings = [finding_data(finding) for finding in report.findings]
    return {"name": report.source.name, "findings": findings, "silenced": len(report.silenced)}


def finding_data(finding: Finding) -> FindingData:
    """Return one finding; the keys are those of the schema `check`."""
    diagnostic = finding.diagnostic
    return {
        "code": diagnostic.code,
        "name": finding.name,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "help": diagnostic.help,
        "url": finding.url or None,
        "place": diagnostic.span and place_data(diagnostic.span),
        "fix": finding.fix and _fix(finding.fix),
    }


def place_data(span: Span) -> PlaceData:
    """Return the place of a piece of a source."""
    end_line, end_column = span.source.position(span.end)
    return {
        "file": span.source.name,
        "line": span.line,
        "column": span.column,
        "end_line": end_line,
        "end_column": end_column,
    }


def _fix(fix: Fix) -> FixData:
    edits: list[FixEditData] = [{"place": place_data(edit.span), "text": edit.text} for edit in fix.edits]
    return {"title": fix.title, "safe": fix.safe, "edits": edits}


def page(code: str) -> str:
    """Return the page of a rule: Markdown with an example, its cause, the source, and what to write.

    Raises KeyError for a code that no rule has.
    """
    file = page_file(code)
    if not file.is_file():
        raise KeyError(code)
    return file.read_text(encoding="utf-8")


def page_of(rule: Rule[Any]) -> str:
    """Return the page of any rule."""
    return rule.text or page(rule.code)


def address_of(rule: Rule[Any]) -> str:
    """Return the address of any rule's page, or its name."""
    return rule.url or (f"urn:crondor:rule:{rule.code}" if rule.text else address(rule.code))


def codes_by_name() -> dict[str, str]:
    """Return the code of every rule by its name, read from the pages without loading the rules."""
    files = page_file("CRN").parent.glob("*.md")
    heads = (file.read_text(encoding="utf-8").partition(":")[0].split() for file in files)
    return {name: code for _, code, name in sorted(heads)}


def page_file(code: str) -> Path:
    """Return the file of a rule's page."""
    return Path(__file__).with_name("pages") / f"{code}.md"


def address(code: str) -> str:
    """Return the stable address of a rule's page: for links, and for programs that compare addresses.

    It is below the "Rules" address of the project (``project.urls`` of its metadata); without one it is the name
    ``urn:crondor:rule:CRN101``, which no host has to resolve.
    """
    try:
        urls = metadata.metadata("crondor").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:  # run from a checkout
        urls = []
    places = dict(url.split(", ", 1) for url in urls if ", " in url)
    return f"{places['Rules'].rstrip('/')}/{code}" if "Rules" in places else f"urn:crondor:rule:{code}"
