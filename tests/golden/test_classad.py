"""The ClassAd engine does what HTCondor's library did, line by line of the recordings."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.golden.kinds import classad

RECORDINGS = Path(__file__).parent / "classad"
KINDS: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "parse": classad.replay_parse,
    "eval": classad.replay_eval,
    "match": classad.replay_match,
    "refs": classad.replay_refs,
}
LINES = {"parse": 955, "eval": 4490, "match": 160, "refs": 202}


def _accepted(kind: str) -> Counter[str]:
    rows = (RECORDINGS / "accepted.txt").read_text().splitlines()
    fields = [row.split("\t") for row in rows if not row.startswith("#")]
    assert all(len(field) == 3 and field[2] for field in fields), "each accepted difference has a reason"
    return Counter(json.loads(field[1]) for field in fields if field[0] == f"classad-{kind}")


@pytest.mark.parametrize("kind", KINDS)
def test_every_line_agrees_or_is_accepted_with_a_reason(kind: str) -> None:
    """A line differs if and only if it is marked as a defect and listed as accepted."""
    text = gzip.decompress((RECORDINGS / f"{kind}.jsonl.gz").read_bytes()).decode()
    lines = [json.loads(row) for row in text.splitlines()]
    assert len(lines) == LINES[kind]
    differing: Counter[str] = Counter()
    for line in lines:
        differences = KINDS[kind](line)
        if differences:
            assert "upstream_defect" in line, f"{line.get('expr') or line}: {differences}"
            differing[line["expr"]] += 1
    assert differing == _accepted(kind)
