"""What policies ask for: values that are no condition, what is not there when they are asked, what always holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crondor.check.given import GivenValue
from crondor.check.naming import is_known, meant
from crondor.check.policy_names import ALWAYS_RELEASED, CONDITIONS, NAMES, POLICIES, RELEASE, RELEASE_FOR, REMOVE
from crondor.check.rule import Fix, RuleHit, TextEdit
from crondor.check.subject import CheckedFile
from crondor.check.universe import universes_of
from crondor.check.written import EQUAL, WrittenExpression, comparison, joined_by, references, scope_of
from crondor.classad import CircularReference, ClassAd, EvaluationFailed
from crondor.classad.tree import CHANGING, Literal, Reference, bare, functions, nodes
from crondor.hold_codes import HOLD_CODES, USER_REQUEST
from crondor.job.attributes import fires
from crondor.job.policy import expressions
from crondor.job.status import JobStatus
from crondor.knowledge.slips import one_slip

_PERIODIC: Final = frozenset(name for key, names in NAMES.items() if key.startswith("Periodic") for name in names)
_STAYS: Final = ("leave_in_queue", "leavejobinqueue", "my.leavejobinqueue")
_MEANT: Final = {"never": "false", "no": "false", "off": "false", "always": "true", "yes": "true", "on": "true"}
_ATTRIBUTES: Final = {name: attribute for attribute, names in NAMES.items() for name in names}
_STATE: Final = frozenset(("jobstatus", "holdreasoncode"))
_MOST_READ: Final = 200  # conditions joined by && and ||


def no_condition(each: WrittenExpression, file: CheckedFile) -> Iterator[RuleHit]:
    """Yield a policy that is one word, and no ad has an attribute of that name."""
    word = bare(each.tree) if each.tree is not None else None
    if each.value.key not in CONDITIONS or each.value.key.startswith("my."):  # CRN551 speaks of MY.
        return
    if not isinstance(word, Reference) or word.scope is not None or is_known(word.name, file.own_attributes):
        return
    small = word.name.lower()
    new = _MEANT.get(small) or next((truth for truth in ("true", "false") if one_slip(small, truth)), None)
    if new is None and meant(word.name) is not None:
        return  # CRN552 speaks of it
    message = f"{word.name} is neither true nor false but an attribute that no ad has: the condition is undefined"
    fix = _fix(each.value, file, each.value.text, new) if new is not None else None
    yield RuleHit(message, each.value.span, f"write {new or 'true, false or a condition'}", fix)


def out_of_reach(each: WrittenExpression, file: CheckedFile) -> Iterator[RuleHit]:
    """Yield what a policy asks of an ad that it does not see, or of a job that is gone."""
    if each.tree is None or each.value.key not in POLICIES:
        return
    for node in references(each.tree):
        if scope_of(node) == "target":
            message = f"TARGET.{node.name} is undefined here: a policy sees the job's ad alone, and no machine's"
            yield RuleHit(message, each.place(node), "ask the job: MY.RequestMemory, MY.MemoryProvisioned and the like")
        elif node.name.lower() == "exitstatus" and "scheduler" not in (
            universes_of(file.submit) if file.submit else ()
        ):
            message = "ExitStatus is not the exit code of the program: it stays 0, and ExitCode has the code"
            place = each.place(node)
            fix = _fix(each.value._replace(span=place), file, node.name, "ExitCode")
            yield RuleHit(message, place, "write ExitCode", fix)
    completed = []
    if each.value.key in _PERIODIC and file.submit is not None and not any(key in file.submit.keys for key in _STAYS):
        completed = list(_completed(each))
    yield from completed or _never(each)


def always(each: WrittenExpression) -> Iterator[RuleHit]:
    """Yield a condition that holds whenever it is asked, of a policy that is not meant to."""
    if each.value.key in REMOVE or _settled(each) is not True:
        return
    attribute = _ATTRIBUTES[each.value.key]
    help_text = "add a condition, such as NumJobStarts > 5"
    if each.value.key in RELEASE:
        yield RuleHit(ALWAYS_RELEASED, each.value.span, RELEASE_FOR)
    elif attribute == "OnExitHold":
        yield RuleHit("every job meets this when its program ends: it is held", each.value.span, help_text)
    else:
        act = "removed" if attribute == "PeriodicRemove" else "held"
        yield RuleHit(f"every job meets this as long as it is asked: it is {act} at once", each.value.span, help_text)


def _never(each: WrittenExpression) -> Iterator[RuleHit]:
    """Yield a condition that asks for a state that no job is in when it is asked."""
    if _settled(each) is not False:
        return
    attribute = _ATTRIBUTES[each.value.key]
    statuses = _statuses(attribute)
    if len(statuses) == 1:
        states = f"when it is asked, JobStatus is {statuses[0]:d} ({statuses[0].name.lower()})"
    else:
        others = [f"{status:d} ({status.name.lower()})" for status in JobStatus if status not in statuses]
        states = f"it is not asked while JobStatus is {' or '.join(others)}"
    if attribute == "PeriodicRelease" and _asks(each) >= {"holdreasoncode"}:
        states += f" and HoldReasonCode is not {USER_REQUEST} (by a user)"
    what = "the job stays in the queue" if attribute == "OnExitRemove" else "this never holds"
    yield RuleHit(f"{states}: {what}", each.value.span, "leave the state out, or write the policy of that state")


def _asks(each: WrittenExpression) -> set[str]:
    return set() if each.tree is None else {node.name.lower() for node in references(each.tree)}


def _settled(each: WrittenExpression) -> bool | None:
    """Return what a policy comes to in every state in which it is asked; None where that depends on more."""
    if each.tree is None or each.value.key not in POLICIES:
        return None
    attribute, asked = _ATTRIBUTES[each.value.key], _asks(each)
    if (asked and not asked & _STATE) or functions(each.tree) & CHANGING:
        return None
    literals = {node.value for node in nodes(each.tree) if isinstance(node, Literal) and type(node.value) is int}
    codes = sorted({*HOLD_CODES, *literals} - {USER_REQUEST})  # a user holds a job, and releases it
    found: set[bool] = set()
    for status in _statuses(attribute):
        is_held = status is JobStatus.HELD
        for code in codes if is_held and "holdreasoncode" in asked else (None,):
            ad = ClassAd({"JobStatus": int(status)} if code is None else {"JobStatus": 5, "HoldReasonCode": code})
            ad.set_text(attribute, each.value.text)
            try:
                if ad[attribute].flatten(ad).references().external:
                    return None
                found.add(fires(ad, attribute))
            except (CircularReference, EvaluationFailed):
                return None
        if len(found) > 1:
            return None
    return found.pop()


def _statuses(attribute: str) -> list[JobStatus]:
    """Return the states of a job in which one of its policies is asked."""
    return [status for status in JobStatus if attribute in expressions(status)] or [JobStatus.RUNNING]


def _completed(each: WrittenExpression) -> Iterator[RuleHit]:
    """Yield the condition that the job is completed, where nothing keeps it in the queue until it is asked for."""
    parts = [part for either in joined_by(each.tree, "||") for part in joined_by(either, "&&")] if each.tree else []
    for part in parts[:_MOST_READ]:
        found = comparison(part)
        if (
            found is not None
            and found.op in EQUAL
            and found.attribute.name.lower() == "jobstatus"
            and found.constant.value == JobStatus.COMPLETED
        ):
            message = "a completed job leaves the queue: no policy is asked of it, unless it is submitted with -spool"
            yield RuleHit(message, each.place(found.node), "write on_exit_remove or leave_in_queue for such jobs")


def _fix(value: GivenValue, file: CheckedFile, old: str, new: str) -> Fix | None:
    is_here = value.span.source is file.source and value.span.text == old
    return Fix(f"write {new}", (TextEdit(value.span, new),), safe=False) if is_here else None
