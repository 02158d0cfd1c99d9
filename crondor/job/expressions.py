"""The expressions of a job evaluated in its ad: the ``evaluate`` of a JobSchedule, for a job about to be submitted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import tzinfo
from functools import partial

from crondor._schedule import ATTRIBUTES, CRON_COMMANDS, UNIVERSES, ExpressionText, read_literal
from crondor._types import Made
from crondor.classad import (
    AdValue,
    CircularReference,
    ClassAdSyntaxError,
    Context,
    EvaluationFailed,
    References,
    print_string,
    print_value,
    truth,
)
from crondor.classad import Expression as Code
from crondor.classad.ad import ClassAd
from crondor.classad.parser import unparse
from crondor.classad.scope import Effort
from crondor.classad.tree import UNDEFINED, Binary, Call, Literal, Node, Reference, Ternary, Unary, children, nodes
from crondor.deferral import DEFAULT_PREP_TIME, DEFAULT_SCHEDD_INTERVAL, DEFAULT_WINDOW
from crondor.diagnostics import Diagnostic, Severity, Source, Span, shortened
from crondor.recurrence import Policy
from crondor.schedule import InvalidSchedule, JobSchedule, Universe, commands_of, needs_evaluation, speaks_of_time
from crondor.spec import Dialect
from crondor.zones import zone_of

__all__ = ["NEW_JOB", "Admission", "JobExpressions", "admission", "needs_evaluation", "submitted_schedule"]

_BRIEF = 80
_FEW = 5
_LONGEST = 4000  # of requirements that are evaluated
_OF_CLOCK = frozenset(("time", "currenttime", "random"))
_OPEN_CALLS = frozenset((*_OF_CLOCK, "eval", "unparse", "unresolved"))  # their dependencies are not visible

# Attributes that condor_submit 25.14 writes into every job, if they depend on nothing else.
NEW_JOB: Mapping[str, object] = {
    "MyType": "Job",
    "TargetType": "Machine",
    "JobStatus": 1,
    "JobPrio": 0,
    "JobNotification": 0,
    "Rank": 0.0,
    "CompletionDate": 0,
    "CurrentHosts": 0,
    "MinHosts": 1,
    "MaxHosts": 1,
    "NumCkpts": 0,
    "NumJobCompletions": 0,
    "NumJobStarts": 0,
    "NumRestarts": 0,
    "NumSystemHolds": 0,
    "TotalSuspensions": 0,
    "ExitStatus": 0,
    "ExitBySignal": False,
    **dict.fromkeys(("RemoteUserCpu", "RemoteSysCpu", "RemoteWallClockTime"), 0.0),
    **dict.fromkeys(("CumulativeRemoteUserCpu", "CumulativeRemoteSysCpu"), 0.0),
    **dict.fromkeys(("CommittedTime", "CommittedSlotTime", "CommittedSuspensionTime", "CumulativeSlotTime"), 0),
    **dict.fromkeys(("CumulativeSuspensionTime", "LastSuspensionTime"), 0),
}


class JobExpressions(Made):
    """Evaluates expressions in a job's ad without another: neither the schedd nor the starter sees a machine.

    ``old``: texts are values of a submit file, with its rules for strings. Raises UnknownZone.
    """

    def __init__(
        self, ad: ClassAd, zone: str | tzinfo = "UTC", *, old: bool = False, effort: Effort | None = None
    ) -> None:
        self.ad = ad
        self._zone = zone_of(zone).info
        self._old = old
        self._effort = effort
        self._read: dict[str, Code] = {}

    def __repr__(self) -> str:
        return f"JobExpressions({self.ad!r}, {str(self._zone)!r})"

    def _made_of(self) -> tuple[object, ...]:
        return self.ad, self._zone, self._old, self._effort

    __hash__ = None  # type: ignore[assignment]  # its ad changes

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and pickle by the ad; texts are read again."""
        return partial(JobExpressions, old=self._old, effort=self._effort), (self.ad, self._zone)

    def __call__(self, text: str, now: int) -> object:
        """Return a value at ``now`` (epoch seconds) as JobSchedule takes it. Raises ClassAdSyntaxError."""
        code = self.read(text)
        try:
            value = code.evaluate(self.ad, None, Context(now=now, zone=self._zone, effort=self._effort))
        except EvaluationFailed as error:
            return ExpressionText(f"no value at all ({error.diagnostics[0].message})")
        if value is UNDEFINED:
            return None
        return value if isinstance(value, (bool, int, float, str)) else ExpressionText(_brief(print_value(value)))

    def for_run(self, time: int) -> JobExpressions:
        """Return an evaluator for the run at ``time`` (epoch seconds), which is then the job's DeferralTime."""
        made = JobExpressions(
            ClassAd({"DeferralTime": time}).chain(self.ad), self._zone, old=self._old, effort=self._effort
        )
        made._read = self._read
        return made

    def read(self, text: str, name: str = "<text>") -> Code:
        """Return a text as an expression of the ClassAd language, read once. Raises ClassAdSyntaxError."""
        found = self._read.get(text)
        if found is None:
            found = self._read[text] = Code.parse(Source(text, name), old=self._old)
        return found

    def surprises(self, attribute: str, text: str, span: Span | None) -> Iterator[Diagnostic]:
        """Yield warnings about an expression that has another value when it counts, or none."""
        code = self.read(text)
        try:
            found = code.references(self.ad)
        except CircularReference:
            found = References((), (), ())  # it has no value either, which is reported when it is needed
        shown = f"{attribute} = {_brief(text)}"
        if missing := [name for name in found.external if name.lower() != "currenttime"]:
            message = (
                f"{shown} asks for {_listed(missing)}, which the job's own ad does not have: undefined to the schedd "
                "and the starter, which evaluate it without a machine's ad"
            )
            help_text = "use attributes of the job: QDate, or one that the file sets with +"
            yield Diagnostic("expression-target", message, Severity.WARNING, span, help_text)
        if any(map(_asks_the_clock, [code.tree, *(self.ad[name].tree for name in found.internal)])):
            message = (
                f"{shown} has another value at each evaluation: at each match of Requirements, and when the job "
                "arrives at the starter; the value shown is that of now"
            )
            help_text = "write QDate for the time of submission"
            yield Diagnostic("expression-clock", message, Severity.WARNING, span, help_text)


def _asks_the_clock(tree: Node) -> bool:
    return any(isinstance(node, (Call, Reference)) and node.name.lower() in _OF_CLOCK for node in nodes(tree))


def submitted_schedule(
    commands: Mapping[str, str],
    now: int,
    *,
    spans: Mapping[str, Span] | None = None,
    proc_id: int = 0,
    dialect: Dialect = Dialect.MANUAL,
    schedd_interval: int = DEFAULT_SCHEDD_INTERVAL,
    zone: str | tzinfo = "UTC",
    policy: Policy | None = None,
    effort: Effort | None = None,
) -> JobSchedule:
    """Return the schedule of a job submitted at ``now`` (epoch seconds), its expressions evaluated in its ad.

    ``commands`` and ``spans`` are those of JobSchedule.from_submit; the ad has every ``my.x`` among them, QDate,
    JobStatus and the other attributes of a new job. ``notes`` warn about expressions that have another value when it
    counts; ``effort`` limits the cost of all evaluations. Raises InvalidSchedule or InvalidSpec, also for what
    condor_submit cannot parse.
    """
    places = spans or {}
    texts = _texts(commands, places)
    ad = _fresh_ad(texts, commands, now, proc_id, schedd_interval)
    expressions = JobExpressions(ad, zone, old=True, effort=effort)
    schedule = JobSchedule.from_submit(
        commands,
        spans=places,
        dialect=dialect,
        schedd_interval=schedd_interval,
        zone=zone,
        policy=policy,
        evaluate=expressions,
        now=now,
    )
    terms = {"DeferralTime": schedule.time, "DeferralWindow": schedule.window, "DeferralPrepTime": schedule.prep_time}
    if schedule.spec is not None:
        del terms["DeferralTime"]  # the schedd overwrites it
    notes = [
        note
        for attribute, value in terms.items()
        if isinstance(value, ExpressionText) and needs_evaluation({f"my.{attribute.lower()}": value.text})
        for note in expressions.surprises(attribute, value.text, _place(attribute, places))
    ]
    return replace(schedule, notes=(*schedule.notes, *notes))


def cron_literals(
    commands: Mapping[str, str],
    now: int,
    *,
    proc_id: int = 0,
    schedd_interval: int = DEFAULT_SCHEDD_INTERVAL,
    zone: str | tzinfo = "UTC",
    effort: Effort | None = None,
) -> dict[str, str]:
    """Return the Cron attributes that are expressions, by command name, as literals of their values at ``now``.

    The arguments are those of ``submitted_schedule``. Raises InvalidSchedule for what condor_submit cannot parse.
    """
    texts = _texts(commands, {})
    attributes = [f"my.{spellings[-1]}" for spellings in CRON_COMMANDS]
    names = [name for name in attributes if name in commands and needs_evaluation({name: commands[name]})]
    ad = _fresh_ad(texts, commands, now, proc_id, schedd_interval)
    evaluate = JobExpressions(ad, zone, old=True, effort=effort)
    return {name: _literal(evaluate(commands[name].strip(), now)) for name in names}


def _literal(value: object) -> str:
    if isinstance(value, str):
        return print_string(value)
    return "undefined" if value is None else str(value).lower()


def _texts(commands: Mapping[str, str], spans: Mapping[str, Span]) -> dict[str, Code]:
    """Read the attributes that the file sets, by lower-case name; raise InvalidSchedule for all their faults."""
    found: dict[str, Code] = {}
    faults = []
    for name, text in commands.items():
        is_expression = name.startswith("my.") or needs_evaluation({name: text})
        if not (is_expression and text.strip()):
            continue
        try:
            found[name] = Code.parse(Source(text.strip(), name), old=True)
        except ClassAdSyntaxError as error:
            onto = spans.get(name)
            told = [replace(d, kind="expression-syntax") for d in error.diagnostics]
            faults += told if onto is None else [d.relocated(onto) for d in told]
    if faults:
        raise InvalidSchedule(faults)
    return found


def _fresh_ad(
    texts: Mapping[str, Code], commands: Mapping[str, str], now: int, proc_id: int, schedd_interval: int
) -> ClassAd:
    ad = ClassAd(NEW_JOB)
    for name, value in (
        ("QDate", now),
        ("EnteredCurrentStatus", now),
        ("ProcId", proc_id),
        ("JobUniverse", int(UNIVERSES.get(commands.get("universe", "").strip().lower(), Universe.VANILLA))),
        ("ScheddInterval", schedd_interval),
        ("DeferralWindow", DEFAULT_WINDOW),
        ("DeferralPrepTime", DEFAULT_PREP_TIME),
    ):
        ad[name] = value
    strings = {name for names in CRON_COMMANDS for name in names}
    for attribute in ATTRIBUTES:
        command = next((n for n in commands_of(attribute)[1:] if commands.get(n, "").strip()), None)
        if command is None:
            continue
        text = commands[command].strip()
        if command in texts:
            ad[attribute] = texts[command]
        elif command in strings:
            ad.set_text(attribute, print_string(text))
        elif (
            text.isdecimal() and read_literal(text).value is not None
        ):  # 00 is not a number, which is reported elsewhere
            ad.set_text(attribute, text)
    for name, code in texts.items():
        if name.startswith("my."):
            ad[name.removeprefix("my.")] = code
    return ad


def _place(attribute: str, spans: Mapping[str, Span]) -> Span | None:
    return next((spans[name] for name in commands_of(attribute) if name in spans), None)


def _listed(names: list[str]) -> str:
    shown = ", ".join(_brief(name) for name in names[:_FEW])
    return f"{shown} and {len(names) - _FEW} more" if len(names) > _FEW else shown


def _brief(text: str) -> str:
    return shortened(text, _BRIEF)


class Admission(Made):
    """Tells at which DeferralTimes a job may match, as far as its requirements decide."""

    def __init__(self, parts: Iterable[tuple[Code, str]], zone: tzinfo, effort: Effort | None = None) -> None:
        self._parts = tuple(parts)
        self._zone = zone
        self._effort = effort

    def __repr__(self) -> str:
        return f"<Admission: {_brief(' && '.join(text for _, text in self._parts))}>"

    def _made_of(self) -> tuple[object, ...]:
        return self._parts, self._zone, self._effort

    def __call__(self, time: int) -> bool:
        """Return whether the job may match with DeferralTime ``time`` (epoch seconds). Raises EvaluationFailed."""
        return self.refusing(time) is None

    def refusing(self, time: int) -> str | None:
        """Return the first part that prevents a match at a DeferralTime, None if none does. Raises EvaluationFailed."""
        ad = AdValue({"deferraltime": str(time)}, {"deferraltime": "DeferralTime"})
        context = Context(now=time, zone=self._zone, effort=self._effort)
        for part, text in self._parts:
            value = part.evaluate(ad, None, context)
            if value is not UNDEFINED and not truth(value):
                return text
        return None


def admission(requirements: str, zone: tzinfo, effort: Effort | None = None) -> Admission | None:
    """Return a test whether a job may match at a DeferralTime (epoch seconds), as far as its requirements decide.

    Parts that depend on a machine, another attribute or the moment of the match count as possible. None if requirements
    do not depend on the time, or are invalid. ``effort`` limits the cost of all tests.
    """
    if not speaks_of_time(requirements) or len(requirements) > _LONGEST:
        return None
    try:
        parts = [(_decidable(part), part) for part in _conjuncts(Code(requirements).tree)]
    except (ClassAdSyntaxError, RecursionError):
        return None
    found = [
        (Code.of(known), _brief(unparse(part)))
        for known, part in parts
        if any(isinstance(node, Reference) for node in nodes(known))
    ]
    return Admission(found, zone, effort) if found else None


def _conjuncts(tree: Node) -> list[Node]:
    found: list[Node] = []
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, Binary) and node.op == "&&":
            left += (node.right, node.left)
        elif isinstance(node, Unary) and node.op == "()" and isinstance(node.operand, (Binary, Unary)):
            left.append(node.operand)
        else:
            found.append(node)
    return found


def _decidable(tree: Node) -> Node:
    """Return an expression with undefined for everything that does not depend only on DeferralTime."""
    if isinstance(tree, Binary) and tree.op in ("&&", "||"):
        return Binary(tree.op, _decidable(tree.left), _decidable(tree.right))
    if isinstance(tree, Unary) and tree.op in ("()", "!"):
        return Unary(tree.op, _decidable(tree.operand))
    if isinstance(tree, Ternary) and _is_decidable(tree.test):
        return Ternary(tree.test, _decidable(tree.yes), _decidable(tree.no))
    return tree if _is_decidable(tree) else Literal(UNDEFINED)


def _is_decidable(tree: Node) -> bool:
    """Return whether the value of an expression depends only on DeferralTime.

    CrondorCatchUpTime is undefined until a guard makes up a run.
    """
    if isinstance(tree, Reference):
        scope = tree.scope
        if scope is None or (isinstance(scope, Reference) and scope.scope is None and scope.name.lower() == "my"):
            return not tree.absolute and tree.name.lower() in ("deferraltime", "crondorcatchuptime")
        return _is_decidable(scope)  # splitTime(DeferralTime).Hours
    if isinstance(tree, Call) and (tree.name.lower() in _OPEN_CALLS or not tree.arguments):
        return False
    return all(map(_is_decidable, children(tree)))
