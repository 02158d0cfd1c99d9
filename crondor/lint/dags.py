"""Check a DAG file: the DAG itself, and the submit files of its nodes with the VARS that DAGMan gives them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

from crondor.dag import Dag, Node, read_dag
from crondor.dag.commands import joined
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span
from crondor.lint.fixing import Checked, Choose, Cure, Cured, Kind, cured
from crondor.lint.report import CheckReport, NodeText, report
from crondor.lint.rule import Finding, distinct, place
from crondor.lint.rules import dags
from crondor.lint.subject import CheckedFile, CheckMemory, CheckSettings
from crondor.lint.submit import read_file, report_of, rules_for
from crondor.macro.files import FileRefused, Files
from crondor.schedule import COMMANDS
from crondor.submit import SubmitFile
from crondor.submit.facts import Variable

ReadNode = Callable[[Source, NodeText], SubmitFile]
"""How to read the description of a node. Raises CrondorError."""

_MOST_CHECKED: Final = 1000  # descriptions, each with different VARS
_MOST_VARIANTS: Final = 20  # of one description
_MOST_LOOKS: Final = 20_000  # named files that are looked up
_MOST_DAGS: Final = 100  # nested ones
_NAMED: Final = 2  # nodes that a message names
_OF_REPEATING: Final = "CRN401"  # a node is meant to end after its run
_NOT_INLINE: Final = ("CRN006", "CRN9")  # a description in a DAG needs no queue statement
_UNUSED_COMMENT: Final = "CRN901"
_UNUSED: Final = "CRN501"
_UNDEFINED: Final = "CRN540"
_WAITING: Final = frozenset(name for name in COMMANDS if "cron" in name or "deferral" in name)
_LIKENESS: Final = 0.75


def check_dag(source: Source, settings: CheckSettings, files: Files | None, read: ReadNode) -> tuple[CheckReport, ...]:
    """Apply every rule to a DAG file and to the descriptions of its nodes, each once per different VARS.

    The first report is that of the DAG with its splices and included files; those of submit files and of nested DAGs
    follow. Nothing is run; files are read only from ``files``. The cost is bounded. Raises nothing.
    """
    return tuple(_Checking(settings, read).reports(source, files, ()))


def fixed_dag(
    found: CheckReport,
    settings: CheckSettings,
    choose: Choose,
    files: Files | None,
    read: ReadNode,
    *,
    unsafe: bool = False,
) -> Cured:
    """Apply the safe fixes of a DAG's own text (with ``unsafe`` all of them) and check again; see ``fixed``."""

    def check(sources: Sequence[Source]) -> Checked[None]:
        return Checked(check_dag(sources[0], settings, files, read)[:1], None)

    def objection(before: Checked[None], after: Checked[None], _: object, cures: Sequence[Cure]) -> str | None:
        more = after.grave(Severity.NOTE).total() > before.grave(Severity.NOTE).total() - len(cures)
        return "the DAG would then have other findings" if more else None

    return cured(Kind("DAG", check, objection), Checked((found,), None), choose, unsafe=unsafe)[0]


class _Variant(NamedTuple):
    """The nodes with one description and the same VARS; the first stands for all."""

    nodes: list[Node]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """What DAGMan defines for the node (DagSubmit::InitVars), and its VARS."""
        node = self.nodes[0]
        own = (("job", node.name), ("retry", "0"), ("dag_status", "0"), ("failed_count", "0"))
        given = (Variable(key, text, node.place, node.place, is_last=False) for key, text in own)
        return (*given, *node.variables.values())


class _Checking:
    """One check: what was read, looked up and found so far."""

    def __init__(self, settings: CheckSettings, read: ReadNode) -> None:
        self.settings = settings
        self._read_node = read
        self.checks = 0
        self.kinds: dict[str, str | None] = {}
        self.dags: set[str] = set()
        self.unused: Counter[Span] = Counter()
        self.given: Counter[Span] = Counter()
        self.faults: list[Diagnostic] = []

    def reports(self, source: Source, files: Files | None, above: tuple[str, ...]) -> Iterator[CheckReport]:
        """Yield the reports of a DAG, of its nodes' descriptions, and of its nested DAGs."""
        dag = read_dag(source, files)
        of_dag: list[Finding] = []
        others: list[CheckReport] = []
        self.faults += dag.faults
        if self.settings.files and files is not None:
            self.faults += self._missing(dag, files)
        for variants in _groups(dag):
            here, there = self._description(dag, variants, files)
            of_dag += here
            others += [] if there is None else [there]
        of_dag = [each for each in of_dag if not self._is_used_elsewhere(each)]
        nested = list(self._nested(dag, files, (*above, source.name)))
        mine = [each for rule in dags.RULES for each in rule.findings((source, self.faults))]
        made = report(source, distinct((*mine, *of_dag)), rules_for(self.settings), is_whole=dag.is_whole)
        yield made._replace(included=dag.sources[1:], is_dag=True)
        yield from others
        yield from nested

    def _read(self, node: NodeText, source: Source) -> SubmitFile:
        return self._read_node(source, node)

    def _kind(self, path: str, files: Files) -> str | None:
        """Return what is at a path, empty if nothing, None if crondor may not look, or has looked often enough."""
        if path not in self.kinds and len(self.kinds) < _MOST_LOOKS:
            try:
                self.kinds[path] = files.kind(path)
            except FileRefused:
                self.kinds[path] = None
        return self.kinds.get(path)

    def _missing(self, dag: Dag, files: Files) -> Iterator[Diagnostic]:
        for each in dag.named:
            kind = self._kind(each.path, files)
            wanted = "folder" if each.is_folder else "file"
            if kind is not None and kind != wanted:
                severity = Severity.ERROR if each.is_needed else Severity.WARNING
                message = f"{each.role} {each.place.text} " + (f"is a {kind}" if kind else "does not exist")
                yield Diagnostic("dag-file", message, severity, each.place, "create it before the DAG needs it")

    def _description(
        self, dag: Dag, variants: list[_Variant], files: Files | None
    ) -> tuple[list[Finding], CheckReport | None]:
        """Return the findings of one description in the DAG's own files, and the report of its submit file."""
        first = variants[0].nodes[0]
        left = min(_MOST_VARIANTS, _MOST_CHECKED - self.checks)
        if 0 < left < len(variants):
            node = variants[left].nodes[0]
            message = f"crondor checks {left} of the {len(variants)} different VARS of this description, and not these"
            self._note(message, node)
        elif left == 0:
            self._note(f"crondor checks {_MOST_CHECKED} descriptions of a DAG, and not those from here on", first)
            self.checks += 1  # and says so once
        del variants[max(0, left) :]
        text = self._text(first, files) if variants else None
        if text is None:
            return [], None
        self.checks += len(variants)
        memory = CheckMemory()
        made: list[tuple[_Variant, CheckReport]] = []
        base = files.based(first.folder) if files is not None and first.folder else files
        for variant in variants:
            text_of = NodeText(base, variant.variables)
            file = read_file(text, self.settings, partial(self._read, text_of), memory)
            made.append((variant, report_of(file)._replace(node=text_of)))
            self.faults += _of_node(variant, file)
            self.given.update(each.name for each in text_of.variables)
        merged = _merged(made)
        merged = merged if first.inline is None else _relocated(merged, text, first.inline)
        here: list[Finding] = []
        there: list[Finding] = []
        for finding in merged.findings:
            span = finding.diagnostic.span
            (here if span is not None and span.source in dag.sources else there).append(finding)
            if span is not None and finding.diagnostic.code == _UNUSED:
                self.unused[span] += 1
        return here, None if first.inline is not None else merged._replace(findings=tuple(there))

    def _note(self, message: str, node: Node) -> None:
        self.faults.append(Diagnostic("dag-limit", message, Severity.NOTE, node.place))

    def _text(self, node: Node, files: Files | None) -> Source | None:
        """Return the description of a node, or the DAG of SUBDAG; None for one that cannot be read."""
        if node.inline is not None:
            return Source("\n" * (node.inline.line - 1) + node.inline.text, node.inline.source.name)
        try:
            return None if files is None else files.read(joined(node.folder, node.file))
        except CrondorError as error:
            is_unknown = node.has_pre or (isinstance(error, FileRefused) and error.is_outside)
            grave = Severity.WARNING if node.kind == "SUBDAG" else Severity.ERROR  # that may be written by another node
            severity = Severity.NOTE if is_unknown else grave
            help_text = "its PRE script may write it" if node.has_pre else "it must exist when the node runs"
            self.faults += (
                Diagnostic("dag-file", each.message, severity, node.file_place, each.help or help_text)
                for each in error.diagnostics
            )
            return None

    def _is_used_elsewhere(self, found: Finding) -> bool:
        """Return whether a value of VARS is unused by one description, and used by another."""
        span = found.diagnostic.span
        return found.diagnostic.code == _UNUSED and span is not None and self.unused[span] < self.given[span]

    def _nested(self, dag: Dag, files: Files | None, above: tuple[str, ...]) -> Iterator[CheckReport]:
        nodes = (node for node in reversed(dag.nodes) if node.kind == "SUBDAG" and not node.is_noop)
        first = {joined(node.folder, node.file): node for node in nodes}
        for node in reversed(first.values()):
            source = self._text(node, files)
            if source is None or files is None:
                continue
            if source.name in above:
                message = f"{node.file} is this DAG, or one that runs it: it would start itself without end"
                self.faults.append(Diagnostic("dag-recursive", message, Severity.ERROR, node.file_place))
            elif len(self.dags) >= _MOST_DAGS:
                self._note(f"crondor checks {_MOST_DAGS} nested DAGs, and not those from here on", node)
                return
            elif source.name not in self.dags:
                self.dags.add(source.name)
                nested = _Checking(self.settings, self._read_node)
                nested.checks, nested.dags = self.checks, self.dags
                yield from nested.reports(source, files.based(node.folder) if node.folder else files, above)
                self.checks = nested.checks


def _groups(dag: Dag) -> Iterator[list[_Variant]]:
    """Yield the nodes by description, and by their VARS."""
    groups: dict[object, dict[object, _Variant]] = {}
    for node in dag.nodes:
        if node.kind != "SUBDAG" and not node.is_noop:
            place = node.inline
            key = (node.folder, node.file if place is None else (place.source.name, place.start))
            given = tuple((each.key, each.text, each.is_last) for each in node.variables.values())
            groups.setdefault(key, {}).setdefault(given, _Variant([])).nodes.append(node)
    yield from (list(each.values()) for each in groups.values())


def _of_node(variant: _Variant, file: CheckedFile) -> Iterator[Diagnostic]:
    """Yield what is wrong with a description only in a DAG."""
    node, submit = variant.nodes[0], file.submit
    if submit is None:
        return
    name = node.file or "its description"
    waiting = next((key for key in submit.keys if key in _WAITING), None)
    if waiting is not None and (span := submit.name(waiting)) is not None:
        message = f"{name} sets {span.text} at line {span.line}: the node waits for that time, and the DAG with it"
        help_text = "remove the line, and schedule the whole DAG: crondor compile --dag"
        yield Diagnostic("dag-waits", message, Severity.WARNING, node.file_place, help_text)
    if len(submit.queues) > 1:  # SubmitHash::parse_up_to_q_line
        message = f"{name} has {len(submit.queues)} queue statements: DAGMan submits the jobs of the first one only"
        help_text = "use one queue statement, or a node for each"
        yield Diagnostic("dag-queues", message, Severity.WARNING, node.file_place, help_text)
    last = dict(submit.definitions)
    for variable in node.variables.values():
        found = last.get(variable.key)
        if variable.is_last or found is None or found.span == variable.value or found.text == variable.text:
            continue
        if not ("$" in found.span.text and variable.key in found.span.text.lower()):
            message = f"{name} sets {variable.name.text} again at line {found.span.line}: this value has no effect"
            help_text = "write VARS NODE APPEND, or remove the line of the submit file"
            yield Diagnostic("dag-replaced", message, Severity.WARNING, variable.name, help_text)


def _merged(made: list[tuple[_Variant, CheckReport]]) -> CheckReport:
    """Return one report of a description; a finding for only some of its nodes names them, and has no fix."""
    by: dict[object, list[tuple[_Variant, Finding]]] = {}
    for variant, each in made:
        for finding in each.findings:
            span = finding.diagnostic.span
            key = (finding.diagnostic.code, finding.diagnostic.message, span and (span.source.name, *span[1:]))
            by.setdefault(key, []).append((variant, finding))
    found: list[Finding] = []
    for some in by.values():
        finding = some[0][1]
        code = finding.diagnostic.code
        if code == _OF_REPEATING or (code == _UNUSED_COMMENT and len(some) < len(made)):
            continue
        if len(some) < len(made) and code != _UNUSED:
            nodes = [each.name for variant, _ in some for each in variant.nodes]
            more = f" and {len(nodes) - _NAMED} more" if len(nodes) > _NAMED else ""
            message = f"{finding.diagnostic.message} (node {', '.join(nodes[:_NAMED])}{more})"
            finding = finding._replace(diagnostic=replace(finding.diagnostic, message=message), fix=None)
        found.append(_certain(finding))
    included = dict.fromkeys(source for _, each in made for source in each.included)
    return made[0][1]._replace(findings=tuple(sorted(found, key=place)), included=tuple(included))


def _certain(found: Finding) -> Finding:
    """Return a finding about a macro that VARS might define as what it is: they do not."""
    diagnostic = found.diagnostic
    if diagnostic.code != _UNDEFINED or diagnostic.severity is not Severity.NOTE:
        return found
    help_text = f"{(diagnostic.help or '').partition(', unless')[0]}, or give it by VARS"
    return found._replace(diagnostic=replace(diagnostic, severity=Severity.WARNING, help=help_text))


def _relocated(made: CheckReport, text: Source, inline: Span) -> CheckReport:
    """Return the report of a description inside of a DAG file with its places there."""
    shift = inline.start - (inline.line - 1)

    def moved(span: Span) -> Span:
        return Span(inline.source, span.start + shift, span.end + shift) if span.source is text else span

    findings: list[Finding] = []
    for each in (*made.findings, *made.silenced):  # the comments of the whole file are applied later
        if each.diagnostic.code.startswith(_NOT_INLINE):
            continue
        span, fix = each.diagnostic.span, each.fix
        if fix is not None:
            fix = fix._replace(edits=tuple(edit._replace(span=moved(edit.span)) for edit in fix.edits))
        findings.append(Finding(replace(each.diagnostic, span=span and moved(span)), fix, each.name))
    return made._replace(source=inline.source, findings=tuple(findings), silenced=())
