"""How condor_submit reads a word that must be a boolean, an integer or an amount of memory (HTCondor 25.14)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from crondor.classad import AdValue, ClassAdSyntaxError, Context, EvaluationFailed, Expression, Value
from crondor.classad.tree import Literal, Node, bare
from crondor.job.attributes import boolean_of, integer_of
from crondor.source import Source

_SPACE: Final = " \t\n\v\f\r"
_BOOLEAN: Final = re.compile(r"(?i:(true|1)|false|0)[ \t\n\v\f\r]*\Z")
_INTEGER: Final = re.compile(r"[ \t\n\v\f\r]*([+-]?[0-9]+)[ \t\n\v\f\r]*\Z")
_AMOUNT: Final = re.compile(
    r"[ \t\n\v\f\r]*([+-]?[0-9]+)?(\.[0-9]*)?[ \t\n\v\f\r]*(?:(?P<unit>[kKmMgGtT])[bB]?)?[ \t\n\v\f\r]*"
)
_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://.", re.DOTALL)
_UNITS: Final = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_LARGEST: Final = 2**63 - 1
_NO_TIME: Final = Context(now=0)
_LONGEST: Final = 40  # digits of a number: more say nothing more

KIB: Final = 1 << 10
MIB: Final = 1 << 20


class Amount(NamedTuple):
    """A number of KiB or MiB, whether a unit was written, and what stands behind a comma."""

    value: int
    has_unit: bool
    rest: str


def parse(text: str, name: str = "") -> Expression:
    """Read an expression by the rules of job attributes (ParseClassAdRvalExpr).

    Raises ClassAdSyntaxError, whose span lies in a source ``name`` that has the text.
    """
    return Expression.parse(Source(text, name), old=True)


def literal(node: Node) -> Literal | None:
    """Return a literal, also one in parentheses (ExprTreeIsLiteral); None for anything else."""
    inner = bare(node)
    return inner if isinstance(inner, Literal) else None


def literal_number(expression: Expression) -> float | int | None:
    """Return the value of a literal number or truth value, None for anything else (ExprTreeIsLiteralNumber)."""
    found = literal(expression.tree)
    return found.value if found is not None and isinstance(found.value, (int, float)) else None


def boolean(text: str, context: Context = _NO_TIME) -> bool | None:
    """Return a truth value written out or as an expression; None: it is none (string_is_boolean_param)."""
    match = _BOOLEAN.match(text)
    if match is not None:
        return match[1] is not None
    return boolean_of(_computed(text, context))


def integer(text: str, context: Context = _NO_TIME) -> int | None:
    """Return an integer written out or as an expression; None: it is none (string_is_long_param)."""
    match = _INTEGER.match(text)
    if match is not None:
        return _cut(match[1])
    return integer_of(_computed(text, context))


def amount(text: str, base: int, *, in_list: bool = False) -> Amount | None:
    """Return an amount in units of ``base`` bytes, rounded up; None: it is none, but an expression.

    ``in_list``: more may stand behind a comma. The unit is K, M, G or T, with a B or without; a number without a unit
    counts ``base``.

    HTCondor: parse_int64_bytes.
    """
    match = _AMOUNT.match(text)
    if match is None or (match[1] is None and match[2] is None):
        return None
    rest = text[match.end() :]
    if rest and not (in_list and rest[0] == ","):
        return None
    unit = match["unit"]
    number = _cut(match[1] or "0") + float("0" + (match[2] or "")[:4].ljust(2, "0"))
    product = number * (_UNITS[unit.lower()] if unit else base) + base - 1
    whole = int(product) if abs(product) <= _LARGEST else -_LARGEST - 1
    value = abs(whole) // base
    return Amount(value if whole >= 0 else -value, unit is not None, rest[1:])


def unquoted(text: str) -> str:
    """Return a text without blanks and without the double quotes around it (trim_and_strip_quotes)."""
    text = text.strip(_SPACE)
    return text[1:-1] if text.startswith('"') and text.endswith('"') else text  # of a lone quote nothing is left


def is_url(text: str) -> bool:
    """Say whether a text is an address with a scheme (IsUrl)."""
    return _URL.match(text) is not None


def transfer_method(text: str) -> str | None:
    """Return the last part of the scheme of an address, None for what is none: chtc+https gives https (getURLType)."""
    url = _URL.match(text)
    return re.split(r"[+.-]", url[1])[-1] if url is not None else None


def words(text: str, separators: str = ", \t\r\n") -> list[str]:
    """Return the items of a list, without blanks around them and without empty ones."""
    pieces = re.split(f"[{re.escape(separators)}]", text)
    return [piece for piece in (item.strip(_SPACE) for item in pieces) if piece]


def _cut(digits: str) -> int:
    """Return an integer, cut at the ends of 64 bits as strtol does."""
    number = int(digits) if len(digits) <= _LONGEST else (-1 if digits[0] == "-" else 1) << 64
    return max(-_LARGEST - 1, min(number, _LARGEST))


def _computed(text: str, context: Context) -> Value | None:
    try:
        return parse(text).evaluate(AdValue({}, {}), None, context)
    except (ClassAdSyntaxError, EvaluationFailed):
        return None
