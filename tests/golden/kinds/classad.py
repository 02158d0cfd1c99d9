"""The ClassAd kinds: what the library read and printed, evaluated, matched, and named as references."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from crondor.classad import (
    AbsTime,
    AdValue,
    ClassAdSyntaxError,
    Code,
    Context,
    EvaluationFailed,
    Exceptional,
    Expression,
    ListValue,
    RelTime,
    UnparseForm,
    Value,
    code_of,
    lower,
    parse_ad,
    print_name,
    print_value,
    read,
    to_tree,
    truth,
    unparse,
)
from crondor.classad.evaluate import references_of, value_of
from crondor.classad.tokens import print_abstime
from crondor.classad.tree import AdNode
from crondor.diagnostics import Source
from tests.golden.kinds.case import (
    Case,
    Difference,
    Malformed,
    Replay,
    check_fields,
    compare,
    mapping,
    optional_text,
    shown,
    text,
    texts,
)

_NOW = Context(now=1_700_000_000)  # the recordings hold nothing that depends on the time, beyond predicates
_FAILED = {"type": "failure", "repr": "failed to evaluate expression"}
_SIDES = ("job", "machine")


def _replay_parse(case: Case) -> list[Difference]:
    """Compare acceptance and all three printed forms; a form that is absent is equal to the one before it."""
    record = case.record(["expr", "ok"], ["unparsed", "compact", "old"])
    forms = ["unparsed", "compact", "old"]
    expected: dict[str, object] = {"ok": record["ok"]}
    if record["ok"] is True:
        check_fields(record, ["unparsed"], record)
        expected["unparsed"] = text(record, "unparsed")
        expected["compact"] = text(record, "compact") if "compact" in record else expected["unparsed"]
        expected["old"] = optional_text(record, "old") if "old" in record else expected["compact"]
    else:
        check_fields([field for field in record if field in forms], ())
    for shorter, longer in (("compact", "unparsed"), ("old", "compact")):
        if shorter in record and record[shorter] == expected[longer]:
            raise Malformed(shorter, f"is absent where it is the same as {longer}")
    return compare("", expected, _printed(text(record, "expr")))


def _printed(source: str) -> dict[str, object]:
    try:
        expression = Expression(source)
    except ClassAdSyntaxError:
        return {"ok": False}
    old: str | None = expression.unparse(UnparseForm.OLD, faithful=True)
    try:
        str(old).encode()
    except UnicodeEncodeError:
        old = None  # bytes that are not UTF-8 cannot stand in a recording
    pretty, compact = (expression.unparse(form, faithful=True) for form in (UnparseForm.PRETTY, UnparseForm.COMPACT))
    return {"ok": True, "unparsed": pretty, "compact": compact, "old": old}


def _replay_eval(case: Case) -> list[Difference]:
    """Compare type, repr and printed text of a value; the members of a list are evaluated one by one."""
    record = case.record(["expr", "my", "target"], ["value", "unparsed_value"])
    expression = text(record, "expr")
    my = _ad(case, record, "my")
    target = None if record["target"] is None else _ad(case, record, "target")
    value = _evaluated(expression, my, target)
    printed = None if value is None else print_value(value, faithful=True)
    if "upstream_defect" in record and "value" not in record:
        return [Difference("value", f"recorded {record['upstream_defect']}, crondor says {printed}")]
    check_fields(record, ["value", "unparsed_value"], record)
    expected = mapping(record, "value")
    said = _member(expression, my, target)
    if isinstance(value, ListValue) and "len" in expected:  # its members were not asked: the library would crash
        said = {"type": "list", "repr": None, "len": len(value)}
    return compare("value", expected, said) + compare("unparsed_value", record["unparsed_value"], printed)


def _member(expression: str, my: AdValue, target: AdValue | None) -> Mapping[str, object]:
    """Return the value of an expression; if it is a list, each of its members evaluated by a subscript."""
    value = _evaluated(expression, my, target)
    if isinstance(value, ListValue):
        members = [_member(f"({expression})[{at}]", my, target) for at in range(len(value))]
        return {"type": "list", "repr": members}
    return _FAILED if value is None else _described(value)


def _described(value: Value) -> Mapping[str, object]:  # noqa: PLR0911 - a type is a line
    """Return a value that is no list as the recordings hold it."""
    if isinstance(value, Exceptional):
        return {"type": str(value), "repr": None}
    if isinstance(value, str):
        return _described_string(value)
    if isinstance(value, float):
        return {"type": "real", "repr": repr(value)}
    if isinstance(value, AbsTime):
        return {"type": "abstime", "repr": print_abstime(value)}
    if isinstance(value, RelTime):
        return {"type": "reltime", "repr": repr(value.seconds)}
    if isinstance(value, (ListValue, AdValue)):
        tree = to_tree(value)
        items = tree.items if isinstance(tree, AdNode) else ()
        return {"type": "classad", "repr": [[name, unparse(part, faithful=True)] for name, part in items]}
    return {"type": "boolean" if isinstance(value, bool) else "integer", "repr": value}


def _described_string(value: str) -> Mapping[str, object]:
    try:
        value.encode()
    except UnicodeEncodeError:
        return {"type": "bytes", "repr": None}
    return {"type": "string", "repr": value}


def _replay_match(case: Case) -> list[Difference]:
    """Compare both directions of a match, and Requirements and Rank on both sides."""
    values = [f"{side}_{attribute}_value" for side in _SIDES for attribute in ("requirements", "rank")]
    decisions = ["job_matches_machine", "machine_matches_job", "symmetric"]
    record = case.record([*_SIDES, *decisions, *values])
    ads = {side: _ad(case, record, side) for side in _SIDES}
    said: dict[str, object] = {}
    counting = {}
    for side, other in (_SIDES, _SIDES[::-1]):
        for attribute in ("requirements", "rank"):
            value = _evaluated(f"MY.{attribute}", ads[side], ads[other]) if attribute in ads[side].codes else None
            said[f"{side}_{attribute}_value"] = None if value is None else print_value(value, faithful=True)
            if attribute == "requirements":
                counting[side] = _counts(value)
                said[f"{side}_matches_{other}"] = counting[side]
    said["symmetric"] = all(counting.values())
    return compare("", {name: record[name] for name in (*decisions, *values)}, said)


def _counts(value: Value | None) -> bool:
    """Say whether a value counts as a match in the recordings, where a length of time counts like a number."""
    if isinstance(value, RelTime):
        return value.seconds != 0
    return value is not None and truth(value) is True


def _replay_refs(case: Case) -> list[Difference]:
    """Compare external and internal references, or that there is no answer; their order has no meaning."""
    record = case.record(["expr", "ad", "external", "internal"])
    ad = _ad(case, record, "ad")
    code = read(text(record, "expr"))
    found = []
    for field in ("external", "internal"):
        names = references_of(code, ad, internal=field == "internal")
        said = {"error": "ValueError"} if names is None else sorted(_as_the_binding_says(names))
        recorded = record[field]
        expected = sorted(texts(record, field)) if isinstance(recorded, list) else recorded
        found += compare(field, expected, said)
    return found


def _as_the_binding_says(names: list[str]) -> set[str]:
    """Return names as Python gets them: joined and taken apart again at every comma, also at one within a name."""
    return {piece for name in names for piece in name.split(",")}


def _evaluated(source: str, my: AdValue, target: AdValue | None) -> Value | None:
    try:
        return value_of(read(source), my, target, _NOW)
    except EvaluationFailed:
        return None


def _ad(case: Case, record: Mapping[str, object], field: str) -> AdValue:
    """Return the ad of a field: a base under its own attributes; null removes. Names are compared without case."""
    given = mapping(record, field)
    base = given.get("@base")
    found: dict[str, tuple[str, str]] = {}
    if base is not None:
        named = _named(case.folder)
        if base not in named:
            raise Malformed(field, f"there is no ad named {shown(base)}")
        found = {lower(name): (name, body) for name, body in named[str(base)].items()}
    for name, body in given.items():
        spelled = found.pop(lower(name), (name, ""))[0]
        if name != "@base" and body is not None:
            found[lower(name)] = (spelled, text(given, name))
    joined = "; ".join(f"{print_name(name)} = {body}" for name, body in found.values())
    try:
        tree = parse_ad(Source(f"[{joined}]"))
    except ClassAdSyntaxError as error:
        raise Malformed(field, error.diagnostics[0].message) from error
    codes: dict[str, Code | str] = {lower(name): code_of(part) for name, part in tree.items}
    return AdValue(codes, {lower(name): name for name, _ in tree.items})


@cache
def _named(folder: Path) -> Mapping[str, Mapping[str, str]]:
    plain = folder / "named_ads.json"
    content = plain.read_bytes() if plain.exists() else gzip.decompress((folder / "named_ads.json.gz").read_bytes())
    loaded: dict[str, dict[str, str]] = json.loads(content)
    return loaded


KINDS: Mapping[str, Replay] = {
    "classad-parse": _replay_parse,
    "classad-eval": _replay_eval,
    "classad-match": _replay_match,
    "classad-refs": _replay_refs,
}
