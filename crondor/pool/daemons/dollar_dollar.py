"""``$$`` in a job's ad, which the schedd expands with the machine's when it starts the shadow.

The rules are those of HTCondor 25.14 (``dollarDollarExpand``): ``$$(Attribute)``, ``$$(Attribute:fallback)``,
``$$([expression])`` and ``$$(DOLLARDOLLAR)``; what was expanded is kept in the queue as MATCH_EXP_<job attribute>, and
each attribute of the machine that was used as MATCH_<machine attribute>.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from crondor.classad import ClassAdSyntaxError, Context, EvaluationFailed, Expression, UnparseForm, lower
from crondor.classad.ad import ClassAd
from crondor.job.attributes import expression as job_expression
from crondor.source import Source

_MATCH: Final = "MATCH_"
_MATCH_EXP: Final = "MATCH_EXP_"
_BEGIN: Final = re.compile(r"\$\$\((?:([A-Za-z0-9_][A-Za-z0-9_.]*)(:[^)]*)?\)|\[)").search
_END: Final = re.compile(r"\]\s*\)").search
_ESCAPED: Final = re.compile(r'\\(["\\])')
_MOST: Final = 10_000  # pieces of an attribute, which is longer with each of them
_LONGEST: Final = 1 << 20  # characters


@dataclass
class Expansion:
    """A copy of a job's ad with ``$$`` expanded, in the attributes that are named; what the queue keeps of it.

    ``failed`` is the piece that cannot be expanded.
    """

    ad: ClassAd
    expanded: list[str] = field(default_factory=list)
    records: dict[str, object] = field(default_factory=dict)
    failed: str | None = None


class _Failed(Exception):
    """A piece that cannot be expanded."""


def expand(ad: ClassAd, machine: ClassAd | None, context: Context) -> Expansion:
    """Expand what an ad has of ``$$`` with a machine's ad; without one (local universe) with what the queue keeps.

    The ad stays as it is. What comes out and is no expression leaves the attribute as it was, as in HTCondor.
    """
    made = Expansion(ad.copy())
    for name in list(ad):
        if lower(name).startswith("match_") or "$$(" not in ad.text(name):
            continue
        code, kept = job_expression(ad, name), f"{_MATCH_EXP}{name}"
        before = job_expression(ad, kept) if machine is None else None
        if before is not None:
            made.ad[name] = before
            made.expanded.append(name)
            continue
        if code is None:
            continue
        try:
            text = _expanded(code.unparse(UnparseForm.OLD), ad, machine, context, made.records)
        except _Failed as failed:
            made.failed = str(failed)
            return made
        if text is None:
            continue
        try:
            expression = Expression.parse(Source(text, name), old=True)
        except ClassAdSyntaxError:
            continue
        made.ad[name] = expression
        made.expanded.append(name)
        made.records[kept] = expression
    return made


def _expanded(
    text: str, ad: ClassAd, machine: ClassAd | None, context: Context, records: dict[str, object]
) -> str | None:
    """Return a text with its pieces expanded from left to right, once each; None for one without any."""
    done: list[str] = []
    at = size = 0
    while len(done) < _MOST and size < _LONGEST:
        found = _BEGIN(text, at) if text.find(")", at) >= 0 else None
        if found is None:
            break
        if found[1] is not None:
            value, end = _attribute(found[1], found[2], ad, machine, records), found.end()
        else:
            closing = _END(text, found.end())
            if closing is None:
                break
            body = text[found.end() : closing.start()]
            value, end = _evaluated(body, ad, machine, context), closing.end()
        done += [text[at : found.start()], value]
        size += len(value)
        at = end
    return "".join([*done, text[at:]]) if done else None


def _attribute(
    name: str, fallback: str | None, ad: ClassAd, machine: ClassAd | None, records: dict[str, object]
) -> str:
    """Return an attribute of the machine as its text stands there, a string without its quotes."""
    if "." in name:
        raise _Failed(name)
    if lower(name) == "dollardollar":
        return "$$"
    source, key = (machine, name) if machine is not None else (ad, f"{_MATCH}{name}")
    expression = job_expression(source, key)
    if expression is not None:
        if machine is not None:
            records[f"{_MATCH}{name}"] = expression
        text = expression.unparse(UnparseForm.OLD)
    elif fallback is not None:
        text = fallback[1:]
    else:
        raise _Failed(name)
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def _evaluated(body: str, ad: ClassAd, machine: ClassAd | None, context: Context) -> str:
    """Return the value of an expression about the job (MY) and the machine (TARGET) as a string."""
    plain = _ESCAPED.sub(r"\1", body)
    try:
        expression = Expression.parse(Source(f"string({plain})", "$$"), old=True)
        value = expression.evaluate(ad, machine, context)
    except (ClassAdSyntaxError, EvaluationFailed):
        raise _Failed(f"[{body}]") from None
    if not isinstance(value, str):
        raise _Failed(f"[{body}]")
    return value
