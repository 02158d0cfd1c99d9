"""Replays of the ClassAd recordings: what our engine says against what HTCondor's library said."""

from __future__ import annotations

from typing import Any

from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.parser import parse_expression
from crondor.classad.unparse import Form, unparse
from crondor.source import Source

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
