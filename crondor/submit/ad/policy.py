"""Policies of a job: hold, periodic, exit, retries, rank, limits, and commands that set one attribute."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from crondor.classad import (
    ERROR,
    UNDEFINED,
    AdValue,
    CircularReference,
    ClassAdSyntaxError,
    EvaluationFailed,
    Format,
    UnparseForm,
    lower,
    read_ads,
    unparse,
)
from crondor.classad.tree import Ternary
from crondor.codes import SUBMITTED_ON_HOLD
from crondor.job.attributes import boolean_of, exact_integer_of, int32_of
from crondor.knowledge.words import CommandType, Setting, submit_commands
from crondor.macro.evaluated import as_integer
from crondor.macro.functions import leading_int
from crondor.schedule import COMMANDS as SCHEDULING
from crondor.schedule import Universe
from crondor.submit.ad.draft import Draft, SubmitKnobs, amount, literal, parse, shown, without_quotes, words

_IDLE: Final = 1
_HELD: Final = 5
_ATTRIBUTE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_BLANK: Final = re.compile(r"[ \t\n\v\f\r]")
_INT: Final = range(-(2**31), 2**31)


class _Check(NamedTuple):
    """A policy expression, and its default if SUBMIT_INSERT_DEFAULT_POLICY_EXPRS is set."""

    command: str
    attribute: str
    default: bool | None = False


_PERIODIC: Final = (
    _Check("periodic_hold", "PeriodicHold"),
    _Check("periodic_hold_reason", "PeriodicHoldReason", None),
    _Check("periodic_hold_subcode", "PeriodicHoldSubCode", None),
    _Check("periodic_release", "PeriodicRelease"),
    _Check("periodic_remove", "PeriodicRemove"),
    _Check("periodic_vacate", "PeriodicVacate"),
    _Check("on_exit_hold_reason", "OnExitHoldReason", None),
    _Check("on_exit_hold_subcode", "OnExitHoldSubCode", None),
)
_REMOVE: Final = _Check("on_exit_remove", "OnExitRemove", default=True)
_HOLD: Final = _Check("on_exit_hold", "OnExitHold")
_NOTIFICATIONS: Final = {"never": 0, "always": 1, "complete": 2, "error": 3, "start": 4}

POLICY_NAMES: Final = (
    *(name for check in (*_PERIODIC, _REMOVE, _HOLD) for name in (check.command, check.attribute.lower())),
    *("hold", "rank", "preferences", "leave_in_queue", "leavejobinqueue", "notification", "jobnotification"),
    *("max_retries", "jobmaxretries", "success_exit_code", "jobsuccessexitcode", "retry_until"),
    *("concurrency_limits", "concurrency_limits_expr", "nice_user", "niceuser"),
    *("accounting_group", "accountinggroup", "accounting_group_user", "acctgroupuser"),
    *("project_name", "projectname"),
)


def set_status(draft: Draft) -> None:
    """Set JobStatus: a new job is idle, or held if ``hold`` says so (HTCondor: SubmitHash::SetJobStatus)."""
    hold = draft.flag("hold")
    draft.set("JobStatus", _HELD if hold else _IDLE)
    if hold:
        draft.set("HoldReasonCode", SUBMITTED_ON_HOLD)
        draft.set("HoldReason", "submitted on hold at user's request")


def settle_status(draft: Draft) -> None:
    """Make a JobStatus that the file has set a number: HTCondor treats any other value as idle."""
    status = int32_of(draft.value("JobStatus"))
    draft.set("JobStatus", _IDLE if status is None else status)


def set_notification(draft: Draft) -> None:
    """Set JobNotification (HTCondor: SubmitHash::SetNotification)."""
    names = ("notification", "jobnotification")
    text = draft.command(*names) or draft.knobs.get("JOB_DEFAULT_NOTIFICATION") or "never"
    number = _NOTIFICATIONS.get(lower(text))
    if number is None:
        message = "Notification must be 'Never', 'Always', 'Complete', 'Start', or 'Error'"
        draft.fault("submit-value", draft.written(*names), message, "write one of these")
    else:
        draft.set("JobNotification", number)


def set_rank(draft: Draft) -> None:
    """Set Rank from the command or the configuration (HTCondor: SubmitHash::SetRank)."""
    knobs = draft.knobs
    is_vanilla = draft.cluster.universe == Universe.VANILLA
    default = (knobs.get("DEFAULT_RANK_VANILLA") if is_vanilla else None) or knobs.get("DEFAULT_RANK")
    append = (knobs.get("APPEND_RANK_VANILLA") if is_vanilla else None) or knobs.get("APPEND_RANK")
    rank = draft.command("rank", "preferences") or default
    if append is not None:
        rank = append if rank is None else f"({rank}) + ({append})"
    if rank is None:
        draft.set("Rank", 0.0)
    else:
        draft.expression("Rank", rank, draft.written("rank", "preferences"))


def set_periodic(draft: Draft) -> None:
    """Set the periodic_* expressions, the reason and subcode of on_exit_hold, and LeaveJobInQueue.

    HTCondor: SubmitHash::SetPeriodicExpressions, SubmitHash::SetLeaveInQueue.
    """
    for check in _PERIODIC:
        _set_check(draft, check)
    if not draft.copy_expression("LeaveJobInQueue", "leave_in_queue", "leavejobinqueue") and not draft.has(
        "LeaveJobInQueue"
    ):
        draft.set("LeaveJobInQueue", value=False)


def _set_check(draft: Draft, check: _Check) -> None:
    given = draft.copy_expression(check.attribute, check.command, check.attribute.lower())
    if given or check.default is None or draft.has(check.attribute):
        return
    if draft.knobs.flag("SUBMIT_INSERT_DEFAULT_POLICY_EXPRS", default=False):
        draft.set(check.attribute, check.default)


def set_retries(draft: Draft) -> None:
    """Set OnExitRemove and OnExitHold, with the retries of max_retries and similar commands (SetJobRetries)."""
    most = draft.integer("max_retries", "jobmaxretries")
    code = draft.integer("success_exit_code", "jobsuccessexitcode", is_int=True)
    until = draft.command("retry_until")
    if most is None and code is None and until is None:
        _set_check(draft, _REMOVE)
        _set_check(draft, _HOLD)
        return
    if most is None and not draft.has("JobMaxRetries"):
        most = draft.knobs.number("DEFAULT_JOB_MAX_RETRIES")
    if most is not None:
        draft.set("JobMaxRetries", most)
    if not draft.copy_expression("OnExitHold", "on_exit_hold", "onexithold") and not draft.has("OnExitHold"):
        draft.set("OnExitHold", value=False)
    if draft.has("OnExitRemove") and code is None and until is None:
        return
    if code is not None:
        draft.set("JobSuccessExitCode", code)
    success = "0" if code is None else "JobSuccessExitCode"
    clauses = [f"NumJobCompletions > JobMaxRetries || ExitCode =?= {success}"]
    clauses += [clause for clause in (_until(draft, until), _own_remove(draft)) if clause]
    draft.expression("OnExitRemove", " || ".join(clauses))


def _until(draft: Draft, text: str | None) -> str | None:
    """Return the clause of retry_until, an exit code or an expression."""
    if text is None:
        return None
    clause = _wrapped(text)
    try:
        is_number = clause is not None and not any(parse(text).references()[:2])
    except CircularReference:  # references that cannot be determined name none
        is_number = True
    if is_number:
        code = as_integer(text, draft.context)
        if code is not None:
            clause = f"ExitCode =?= {code}" if code in _INT else None
    if clause is None:
        message = f"retry_until={shown(text)} is invalid, it must be an integer or boolean expression."
        draft.fault("submit-value", "retry_until", message, "write the exit code, or the condition, that ends it")
    return clause


def _own_remove(draft: Draft) -> str | None:
    names = ("on_exit_remove", "onexitremove")
    text = draft.command(*names)
    clause = None if text is None else _wrapped(text)
    if text is not None and clause is None:
        message = f"on_exit_remove={shown(text)} is invalid, it must be a boolean expression."
        draft.fault("submit-value", draft.written(*names), message, "write one complete ClassAd expression")
    return clause


def _wrapped(text: str) -> str | None:
    """Return an expression in parentheses if it needs them next to ``||``; None if it is invalid.

    HTCondor treats ``a ?: b`` as the tightest operator, and leaves it as it is.
    """
    try:
        tree = parse(text).tree
    except ClassAdSyntaxError:
        return None
    return f"({unparse(tree, UnparseForm.OLD)})" if isinstance(tree, Ternary) else text


def set_limits(draft: Draft) -> None:
    """Set ConcurrencyLimits: sorted lower-case names, or an expression (SubmitHash::SetConcurrencyLimits)."""
    text, expression = draft.command("concurrency_limits"), draft.command("concurrency_limits_expr")
    if text is None:
        draft.copy_expression("ConcurrencyLimits", "concurrency_limits_expr")
        return
    if expression is not None:
        message = "concurrency_limits and concurrency_limits_expr can't be used together"
        draft.fault("submit-limits", "concurrency_limits_expr", message, "remove one of them")
        return
    limits = sorted(words(lower(text)))
    for limit in limits:
        if not all(map(_ATTRIBUTE.match, limit.split(":")[0].split(".", 1))):
            message = f"Invalid concurrency limit '{shown(limit)}'"
            draft.fault("submit-limits", "concurrency_limits", message, "write names such as licence:2")
    if limits:
        draft.set("ConcurrencyLimits", ",".join(limits))


def set_accounting(draft: Draft) -> None:
    """Set the accounting group and the project of a job (HTCondor: SubmitHash::SetAccountingGroup)."""
    draft.string("ProjectName", "project_name", "projectname")
    group = draft.command("accounting_group", "accountinggroup")
    if draft.flag("nice_user", "niceuser"):
        group = group or draft.knobs.get("NICE_USER_ACCOUNTING_GROUP_NAME")
        draft.set("MaxJobRetirementTime", 0)
    member = draft.command("accounting_group_user", "acctgroupuser")
    if group is None and member is None:
        return
    for name, text in (("accounting_group", group), ("accounting_group_user", member)):
        if text is not None and _BLANK.search(text):
            draft.fault("submit-value", name, f"Invalid {name}: {shown(text)}", "write a name without blanks")
    member = member or draft.host.user
    draft.set("AcctGroupUser", member)
    if group is not None:
        draft.set("AcctGroup", group)
    draft.set("AccountingGroup", member if group is None else f"{group}.{member}")


_ASKED: Final = {"RequestMemory": 102, "RequestDisk": 104}  # VacateReasonSubCode
_JOINT: Final = "\x1e"  # what stands for a line end in the job queue
_LIST: Final = ("retry_request_memory", "retry_request_disk")
_MOST: Final = "retry_request_memory_max"
_MORE: Final = "retry_request_memory_increase"

_CHECKS: Final = ("on_evict_checks", "transformonevict")
BODIES: Final = ("transform_body_", "transformbody_")

RETRY_NAMES: Final = (*_LIST, _MOST, _MORE, *_CHECKS)


# Transforms defined in the file, and more memory or disk for a job that was evicted for lack of it.
class _Steps(NamedTuple):
    """A list of amounts: numbers, and optionally an expression as the last."""

    numbers: list[int]
    last: str = ""

    @property
    def texts(self) -> list[str]:
        """All of them as expressions."""
        return [*map(str, self.numbers), *([self.last] if self.last else [])]


def set_transforms(draft: Draft) -> None:
    """Set the transforms that on_evict_checks names and that have a body."""
    checks = draft.command(*_CHECKS)
    if checks is None:
        return
    tags: list[str] = []
    for tag in words(checks):
        name = draft.written(*(f"{prefix}{tag}".lower() for prefix in BODIES))
        if name:
            tags.append(tag)
            lines = (line.strip() for line in (draft.command(name) or "").split("\n"))
            draft.set(f"TransformBody_{tag}", _JOINT.join(line for line in lines if line and not line.startswith("#")))
    draft.set("TransformOnEvict", " ".join(tags))


def set_retries_of(draft: Draft, attribute: str, rest: str, base: int) -> None:
    """Set what an evicted job requests next; ``rest`` is the text of its request after the first comma."""
    name = "request_memory" if attribute == "RequestMemory" else "request_disk"
    if rest:
        _set_steps(draft, attribute, name, name, rest, base)
        return
    given = draft.command(f"retry_{name}")
    if attribute == "RequestMemory":
        draft.command(_MORE)
        draft.command(_MOST)
    if given is not None:
        reported = name if attribute == "RequestDisk" else f"retry_{name}"
        _set_steps(draft, attribute, f"retry_{name}", reported, given, base)
    elif attribute == "RequestMemory":
        _set_increase(draft, attribute, base)


def _set_steps(draft: Draft, attribute: str, name: str, reported: str, text: str, base: int) -> None:
    steps = _steps(draft, name, reported, text, base)
    if steps is None or not steps.texts:
        return
    *before, last = steps.texts
    if not before:
        _set_body(draft, attribute, f"{'EVALSET' if steps.last else 'SET'} {attribute} {last}")
        return
    retry = f"Retry{attribute}"
    draft.expression(retry, "{" + ",".join(steps.texts) + "}")
    index = f"{retry}Index"
    lines = (f"EVALSET {attribute} {retry}[{index}?:0]", f"EVALSET {index} MIN({{size({retry})-1, ({index}?:0)+1}})")
    _set_body(draft, attribute, _JOINT.join(lines))


def _steps(draft: Draft, name: str, reported: str, text: str, base: int) -> _Steps | None:
    """Read a list of amounts that must grow."""
    numbers: list[int] = []
    rest = text
    while (found := amount(rest, base, in_list=True)) is not None:
        numbers.append(found.value)
        rest = found.rest
        if not rest:
            break
    rest = rest.strip()
    if rest:
        try:
            rest = parse(rest).unparse(UnparseForm.OLD)
        except ClassAdSyntaxError:
            message = f"{reported}={shown(rest)} is invalid. must be an expression or number"
            draft.fault("submit-value", name, message, "write amounts such as 1G, 2G")
            return None
    before = 0
    for number in numbers if len(numbers) > 1 else ():
        if number <= before:
            message = (
                f"{reported} must have an increasing sequence of values, but {number} is not greater than {before}"
            )
            draft.fault("submit-value", name, message, "write each amount larger than the one before")
            return None
        before = number
    return _Steps(numbers, rest)


def _set_increase(draft: Draft, attribute: str, base: int) -> None:
    """Let the request grow by an amount or expression, up to a limit if one is given."""
    limit, more = draft.command(_MOST), draft.command(_MORE)
    if more is None:
        if limit is not None:
            _set_steps(draft, attribute, _MOST, _MOST, limit, base)
        return
    steps = _steps(draft, _MOST, _MOST, limit, base) if limit is not None else _Steps([])
    if steps is None:
        return
    if len(steps.texts) > 1:
        _set_steps(draft, attribute, _MOST, _MOST, limit or "", base)
        return
    found = amount(more, base)
    text = more if found is None else f"{attribute} + {found.value}"
    if (found is None and not _grows(more, attribute)) or (found is not None and found.value <= 0):
        message = f"{attribute} retry increment must be a positive number or an expression that references {attribute}"
        draft.fault("submit-value", _MORE, message, f"write 512M, or {attribute} * 2")
        return
    if steps.texts:
        draft.expression(f"Max{attribute}", steps.texts[0])
        draft.expression(f"Next{attribute}", text)
        _set_body(draft, attribute, f"EVALSET {attribute} MIN({{Next{attribute}, Max{attribute}}})")
        return
    try:
        value = exact_integer_of(draft.ad.evaluate(text, None, draft.context))
    except (EvaluationFailed, ClassAdSyntaxError):
        value = None
    if value is None:
        message = f"{attribute} retry increment ({shown(more)}) must evaluate to an integer at submit time"
        draft.fault("submit-value", _MORE, message, f"write 512M, or {_MOST} as well")
        return
    _set_body(draft, attribute, f"SET {attribute} {value}")


def _grows(text: str, attribute: str) -> bool:
    """Return whether an expression names the request that it replaces."""
    own = AdValue({lower(attribute): "0"}, {lower(attribute): attribute})
    try:
        found = parse(text).references(own)
    except (ClassAdSyntaxError, CircularReference):
        return False
    return lower(attribute) in map(lower, found.internal)


def _set_body(draft: Draft, attribute: str, body: str) -> None:
    """Set the transform that the schedd applies to the job when it is evicted."""
    when = draft.knobs.get(f"ON_EVICT_CHECK_{attribute}_REQUIREMENTS")
    code = f"(VacateReasonCode==21 || VacateReasonCode == 34) && VacateReasonSubCode == {_ASKED[attribute]}"
    draft.set(f"TransformBody_{attribute}", f"REQUIREMENTS {when or code}{_JOINT}{body}")
    tags = (draft.text("TransformOnEvict") or "").split()
    if lower(attribute) not in map(lower, tags):
        draft.set("TransformOnEvict", " ".join([*tags, attribute]))


_UNQUOTED: Final = frozenset((CommandType.BARE, CommandType.BARE_LIST, CommandType.BARE_FILE))
_LISTS: Final = frozenset((CommandType.LIST, CommandType.BARE_LIST))
_FILES: Final = frozenset((CommandType.FILE, CommandType.BARE_FILE))


# The source is HTCondor 25.14: SubmitHash::do_simple_commands, SetExtendedJobExprs. It is not checked whether files
# exist.
class Simple(NamedTuple):
    """A command and its attribute; ``alternative``: another spelling of the command before it, used without it."""

    command: str
    attribute: str
    type: CommandType
    alternative: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the command, in order of precedence."""
        return self.command, self.attribute.lower()


TABLE: Final = tuple(
    Simple(command.name, command.attribute, command.type, command.setting is Setting.ALTERNATIVE)
    for command in submit_commands()
    if command.setting is not Setting.MADE
)

SIMPLE_NAMES: Final = frozenset((*SCHEDULING, *(name for simple in TABLE for name in simple.names)))


_PLACES: Final[dict[str, list[int]]] = {}
for _place, _simple in enumerate(TABLE):
    for _name in _simple.names:
        _PLACES.setdefault(_name, []).append(_place)


def set_simple(draft: Draft) -> None:
    """Set the attributes of all simple commands that are given, and of those that the administrator has added."""
    before = -1
    for place in sorted({place for name in draft.commands for place in _PLACES.get(name, ())}):
        simple = TABLE[place]
        if simple.alternative and before == place - 1:
            continue
        text = draft.command(*simple.names)
        if text is not None:
            before = place
            _set(draft, simple, text)
    for simple in extended(draft.knobs):
        text = draft.command(*simple.names)
        if text is not None:
            _set(draft, simple, text)


def extended(knobs: SubmitKnobs) -> Iterator[Simple]:
    """Yield the commands that the administrator has added (EXTENDED_SUBMIT_COMMANDS), each under its attribute's name.

    They are spelled as in the configuration, as in HTCondor's errors. The configured value of each gives its type; one
    that is undefined is no command.
    """
    text = knobs.get("EXTENDED_SUBMIT_COMMANDS")
    if text is None:
        return
    for ad in read_ads(text, Format.LONG, report=lambda _: None):
        for name, expression in ad.items():
            found = literal(expression.tree)
            kind = CommandType.EXPRESSION if found is None else _kind(found.value)
            if kind is not None:
                yield Simple(name, name, kind)


def _kind(value: object) -> CommandType | None:
    """Return how to read a value that must have the type of another; None if it is no command."""
    kind: CommandType | None = CommandType.EXPRESSION
    if value is UNDEFINED or value is ERROR:
        kind = None if value is UNDEFINED else CommandType.DISABLED
    elif isinstance(value, bool):
        kind = CommandType.BOOLEAN
    elif isinstance(value, int):
        kind = CommandType.INTEGER if value < 0 else CommandType.COUNT
    elif isinstance(value, str):
        is_file = lower(value).startswith("file")
        kind = CommandType.BARE_LIST if "," in value else CommandType.BARE_FILE if is_file else CommandType.BARE
    return kind


def _set(draft: Draft, simple: Simple, text: str) -> None:
    kind = simple.type
    if kind is CommandType.EXPRESSION:
        draft.copy_expression(simple.attribute, *simple.names)
    elif kind is CommandType.DISABLED:
        message = f"{simple.attribute}={shown(text)} has been disabled by the administrator."
        page = draft.knobs.get("EXTENDED_SUBMIT_HELPFILE")
        instead = "remove it" if page is None else f"remove it; the pool's own commands are explained in {page}"
        draft.fault("submit-disabled", draft.written(*simple.names), message, instead)
    elif kind is CommandType.BOOLEAN:
        flag = draft.flag(*simple.names)
        if flag is not None:
            draft.set(simple.attribute, flag)
    elif kind is CommandType.INTEGER or kind is CommandType.COUNT:
        number = draft.integer(*simple.names)
        if number is not None and number < 0 and kind is CommandType.COUNT:
            draft.refuse(simple.names, text, "must eval to a non-negative integer", "write an integer from 0 up")
        elif number is not None:
            draft.set(simple.attribute, number)
    else:
        text = without_quotes(text) if kind in _UNQUOTED else text
        if kind in _FILES and text:
            text = draft.path(text)
        draft.set(simple.attribute, ",".join(words(text)) if kind in _LISTS else text)


# In the order of their numbers on Linux, on any machine; HTCondor has no name for some.
_ORDER: Final = (
    "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM - CHLD CONT STOP TSTP TTIN TTOU URG "
    "XCPU XFSZ - PROF WINCH IO - SYS"
)
_SIGNALS: Final = {number: f"SIG{name}" for number, name in enumerate(_ORDER.split(), 1) if name != "-"}
_KILLING: Final = (("kill_sig", "KillSig"), ("remove_kill_sig", "RemoveKillSig"), ("hold_kill_sig", "HoldKillSig"))
_TIMEOUT: Final = ("kill_sig_timeout", "killsigtimeout")


class _Stream(NamedTuple):
    """The commands of a stream, and its attributes: the file, and whether it is transferred or streamed."""

    files: tuple[str, str]
    stream: str
    transfer: str
    file_attribute: str
    stream_attribute: str
    transfer_attribute: str


_STREAMS: Final = (
    _Stream(("input", "stdin"), "stream_input", "transfer_input", "In", "StreamIn", "TransferIn"),
    _Stream(("output", "stdout"), "stream_output", "transfer_output", "Out", "StreamOut", "TransferOut"),
    _Stream(("error", "stderr"), "stream_error", "transfer_error", "Err", "StreamErr", "TransferErr"),
)
_NO_FILE: Final = "/dev/null"

PROCESS_NAMES: Final = (
    *(name for command, attribute in _KILLING for name in (command, attribute.lower())),
    *_TIMEOUT,
    *(
        name
        for each in _STREAMS
        for name in (
            *each.files,
            each.stream,
            each.stream_attribute.lower(),
            each.transfer,
            each.transfer_attribute.lower(),
        )
    ),
)


def set_signals(draft: Draft) -> None:
    """Set the signals that stop a job (SubmitHash::SetKillSig); all universes except vanilla have a default."""
    for command, attribute in _KILLING:
        text = draft.command(command, attribute.lower())
        if text is None:
            if attribute == "KillSig" and draft.cluster.universe != Universe.VANILLA:
                draft.set(attribute, "SIGTERM")
            continue
        number = leading_int(text)
        name = _SIGNALS.get(number) if number else text.upper()
        if name is None or name not in _SIGNALS.values():
            written = draft.written(command, attribute.lower())
            draft.fault("submit-signal", written, f"invalid signal {shown(text)}", "write SIGTERM, or its number")
        else:
            draft.set(attribute, name)
    timeout = draft.command(*_TIMEOUT)
    if timeout is not None:
        draft.set("KillSigTimeout", leading_int(timeout))


def set_streams(draft: Draft) -> None:
    """Set In, Out and Err, and how each is transferred (SubmitHash::SetStdin, SetStdout and SetStderr of 25.14).

    A stream without a file is /dev/null, and is not transferred; a virtual machine has no such files.
    """
    for each in _STREAMS:
        before = boolean_of(draft.value(each.transfer_attribute)) is not False
        given = draft.flag(each.transfer, each.transfer_attribute.lower())
        transfers = before if given is None else given
        is_changed = transfers != before
        streams = draft.flag(each.stream, each.stream_attribute.lower())
        if streams is None:
            streams = draft.holds(each.stream_attribute)
        path = draft.command(*each.files)
        if path is not None or not draft.has(each.file_attribute):
            path = path or _NO_FILE
            if path == _NO_FILE:
                transfers = streams = False
            elif draft.cluster.universe == Universe.VM:
                message = (
                    "You cannot use input, ouput, and error parameters in the submit description file for vm universe"
                )
                draft.fault("submit-vm", draft.written(*each.files), message, "remove it")
            draft.set(each.file_attribute, path)
        if transfers:
            draft.set(each.stream_attribute, streams)
        if is_changed or not transfers:
            draft.set(each.transfer_attribute, transfers)
