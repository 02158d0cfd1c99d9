"""What the schedd changes in a job that was evicted (HTCondor 25.14: SetOnEvictExpressions, SetBuiltInOnEvictCheck).

Transforms that the file writes out, and more memory or disk for a job that was evicted for want of it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from crondor.classad import AdValue, CircularReference, ClassAdSyntaxError, EvaluationFailed, UnparseForm, lower
from crondor.job.attributes import exact_integer_of
from crondor.submit.ad import values
from crondor.submit.ad.draft import Draft, shown

_ASKED: Final = {"RequestMemory": 102, "RequestDisk": 104}  # VacateReasonSubCode
_JOINT: Final = "\x1e"  # what stands for a line end in the job queue
_LIST: Final = ("retry_request_memory", "retry_request_disk")
_MOST: Final = "retry_request_memory_max"
_MORE: Final = "retry_request_memory_increase"

_CHECKS: Final = ("on_evict_checks", "transformonevict")
BODIES: Final = ("transform_body_", "transformbody_")

NAMES: Final = (*_LIST, _MOST, _MORE, *_CHECKS)


class _Steps(NamedTuple):
    """A list of amounts: numbers, and an expression that may be the last of them."""

    numbers: list[int]
    last: str = ""

    @property
    def texts(self) -> list[str]:
        """All of them as expressions."""
        return [*map(str, self.numbers), *([self.last] if self.last else [])]


def set_transforms(draft: Draft) -> None:
    """Set the transforms that on_evict_checks names, those that have a body."""
    checks = draft.command(*_CHECKS)
    if checks is None:
        return
    tags: list[str] = []
    for tag in values.words(checks):
        name = draft.written(*(f"{prefix}{tag}".lower() for prefix in BODIES))
        if name is None:
            continue
        tags.append(tag)
        lines = (line.strip() for line in (draft.command(name) or "").split("\n"))
        draft.set(f"TransformBody_{tag}", _JOINT.join(line for line in lines if line and not line.startswith("#")))
    draft.set("TransformOnEvict", " ".join(tags))


def set_retries_of(draft: Draft, attribute: str, rest: str, base: int) -> None:
    """Set what an evicted job requests next; ``rest`` is what its request has behind the first comma."""
    name = "request_memory" if attribute == "RequestMemory" else "request_disk"
    if rest:
        _set_steps(draft, attribute, name, name, rest, base)
        return
    given = draft.command(f"retry_{name}")
    if attribute == "RequestMemory":
        draft.use(_MORE)
        draft.use(_MOST)
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
    lines = (
        f"EVALSET {attribute} {retry}[{index}?:0]",
        f"EVALSET {index} MIN({{size({retry})-1, ({index}?:0)+1}})",
    )
    _set_body(draft, attribute, _JOINT.join(lines))


def _steps(draft: Draft, name: str, reported: str, text: str, base: int) -> _Steps | None:
    """Read a list of amounts that must grow."""
    numbers: list[int] = []
    rest = text
    while (found := values.amount(rest, base, in_list=True)) is not None:
        numbers.append(found.value)
        rest = found.rest
        if not rest:
            break
    rest = rest.strip()
    if rest:
        try:
            rest = values.parse(rest).unparse(UnparseForm.OLD)
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
    """Let the request grow by an amount or expression, up to a limit where one is given."""
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
    found = values.amount(more, base)
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
    """Say whether an expression names the request that it is to replace."""
    own = AdValue({lower(attribute): "0"}, {lower(attribute): attribute})
    try:
        found = values.parse(text).references(own)
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
