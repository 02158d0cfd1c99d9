"""Replays of the ClassAd recordings: what our engine says against what HTCondor's library said."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from crondor.classad.compile import code_of, read
from crondor.classad.errors import ClassAdSyntaxError, EvaluationFailed
from crondor.classad.evaluate import references_of, value_of
from crondor.classad.operators import truth
from crondor.classad.parser import parse_ad, parse_expression
from crondor.classad.scope import AdValue, Code, Context, ListValue, Value
from crondor.classad.show import print_value, to_tree
from crondor.classad.text import lower
from crondor.classad.times import print_abstime
from crondor.classad.tree import AdNode
from crondor.classad.unparse import Form, print_name, unparse
from crondor.classad.values import (
    AbsTime,
    Exceptional,
    RelTime,
)
from crondor.source import Source

NAMED = Path(__file__).parent.parent / "classad" / "named_ads.json.gz"

Line = dict[str, Any]


def _compare(differences: list[str], what: str, ours: object, theirs: object) -> None:
    if ours != theirs or type(ours) is not type(theirs):
        differences.append(f"{what}: ours {ours!r}, recorded {theirs!r}")


def replay_parse(line: Line) -> list[str]:
    """Compare acceptance and every printed form of an expression."""
    differences: list[str] = []
    try:
        node = parse_expression(Source(line["expr"]))
    except ClassAdSyntaxError as error:
        _compare(differences, f"ok ({error.diagnostics[0].message})", False, line["ok"])
        return differences
    _compare(differences, "ok", True, line["ok"])
    if line["ok"]:
        unparsed = line["unparsed"]
        compact = line.get("compact", unparsed)
        _compare(differences, "unparsed", unparse(node, Form.PRETTY), unparsed)
        _compare(differences, "compact", unparse(node, Form.COMPACT), compact)
        old = unparse(node, Form.OLD)
        try:
            shown: str | None = old.encode("utf-8").decode()
        except UnicodeEncodeError:
            shown = None
        _compare(differences, "old", shown, line.get("old", compact))
    return differences


RECORDED = Context(now=1_700_000_000)


def _ad(texts: dict[str, str]) -> AdValue:
    node = parse_ad(Source("[" + "; ".join(f"{_quoted(name)} = {text}" for name, text in texts.items()) + "]"))
    codes: dict[str, Code | str] = {lower(name): code_of(part) for name, part in node.items}
    return AdValue(codes, {lower(name): name for name, _ in node.items})


def _quoted(name: str) -> str:
    return print_name(name)


@cache
def _named() -> dict[str, dict[str, str]]:
    loaded: dict[str, dict[str, str]] = json.loads(gzip.decompress(NAMED.read_bytes()))
    return loaded


def _resolved(texts: dict[str, str | None]) -> dict[str, str]:
    """Return an ad with the attributes of its base under its own; null removes, names are compared without case."""
    base = texts.get("@base")
    found = {name.lower(): (name, text) for name, text in _named()[base].items()} if base else {}
    for name, text in texts.items():
        if name == "@base":
            continue
        if text is None:
            found.pop(name.lower(), None)
        else:
            found[name.lower()] = (found.get(name.lower(), (name,))[0], text)
    return dict(found.values())


def _described(value: Value) -> tuple[str, object]:  # noqa: PLR0911 - a type is a line
    """Return type and repr of a value as the recordings spell them."""
    if isinstance(value, Exceptional):
        return str(value), None
    if isinstance(value, bool):
        return "boolean", value
    if isinstance(value, int):
        return "integer", value
    if isinstance(value, float):
        return "real", repr(value)
    if isinstance(value, str):
        try:
            return "string", value.encode().decode()
        except UnicodeEncodeError:
            return "bytes", None
    if isinstance(value, AbsTime):
        return "abstime", print_abstime(value)
    if isinstance(value, RelTime):
        return "reltime", repr(value.seconds)
    return ("list", None) if isinstance(value, ListValue) else ("classad", None)


def _evaluated(text: str, my: AdValue, target: AdValue | None) -> Value | None:
    try:
        return value_of(read(text), my, target, RECORDED)
    except EvaluationFailed:
        return None


def replay_eval(line: Line) -> list[str]:
    """Compare type, repr and printed form of a value; the members of a list are evaluated one by one."""
    my = _ad(_resolved(line["my"]))
    target = None if line["target"] is None else _ad(_resolved(line["target"]))
    value = _evaluated(line["expr"], my, target)
    differences: list[str] = []
    recorded = line.get("value")
    if recorded is None:
        return [f"recorded: {line['upstream_defect']}; ours: {'no value' if value is None else print_value(value)}"]
    if value is None:
        _compare(differences, "type", "failure", recorded["type"])
        return differences
    kind, shown = _described(value)
    _compare(differences, "type", kind, recorded["type"])
    _compare(differences, "printed", print_value(value), line["unparsed_value"])
    if isinstance(value, ListValue):
        shown = None
        if recorded["repr"] is not None:
            members = [_evaluated(f"({line['expr']})[{at}]", my, target) for at in range(len(value))]
            shown = [
                {"type": "failure", "repr": None}
                if member is None
                else dict(zip(("type", "repr"), _described(member), strict=True))
                for member in members
            ]
            for ours, theirs in zip(shown, recorded["repr"], strict=False):
                if theirs["type"] in ("list", "classad"):
                    ours["repr"] = theirs["repr"]
        else:
            _compare(differences, "length", len(value), recorded["len"])
    if isinstance(value, AdValue):
        tree = to_tree(value)
        assert isinstance(tree, AdNode)
        shown = [[name, unparse(part)] for name, part in tree.items]
    if kind != "bytes":
        _compare(differences, "repr", shown, recorded["repr"])
    return differences


def replay_match(line: Line) -> list[str]:
    """Compare both directions of a match and the values of Requirements and Rank on both sides."""
    job, machine = _ad(_resolved(line["job"])), _ad(_resolved(line["machine"]))
    differences: list[str] = []
    results = {}
    for side, my, target in (("job", job, machine), ("machine", machine, job)):
        for attribute in ("Requirements", "Rank"):
            code = my.codes.get(attribute.lower())
            value = None if code is None else _evaluated(f"MY.{attribute}", my, target)
            printed = None if value is None else print_value(value)
            key = f"{side}_{attribute.lower()}_value"
            _compare(differences, key, printed, line[key])
            if attribute == "Requirements":
                results[side] = counts(value)
    _compare(differences, "job_matches_machine", results["job"], line["job_matches_machine"])
    _compare(differences, "machine_matches_job", results["machine"], line["machine_matches_job"])
    _compare(differences, "symmetric", results["job"] and results["machine"], line["symmetric"])
    return differences


def counts(value: Value | None) -> bool:
    """Say whether a value counts as a match in the recordings, where a length of time counts like a number."""
    if isinstance(value, RelTime):
        return value.seconds != 0
    return value is not None and truth(value) is True


def replay_refs(line: Line) -> list[str]:
    """Compare the external and the internal references."""
    ad = _ad(_resolved(line["ad"]))
    differences: list[str] = []
    for key in ("external", "internal"):
        found = references_of(read(line["expr"]), ad, internal=key == "internal")
        recorded = line[key]
        wanted = None if isinstance(recorded, dict) else sorted(recorded)
        _compare(differences, key, None if found is None else sorted(found), wanted)
    return differences
