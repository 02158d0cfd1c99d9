"""Random expressions have the value that HTCondor's own library gives them."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crondor.classad import ClassAdSyntaxError, Context, EvaluationFailed, Expression, print_value
from tests.classad.grammar import Grammar
from tests.classad.helpers import ad

PEER = Path(__file__).with_name("classad_peer.py")
SEEDS = int(os.environ.get("CRONDOR_FUZZ_SEEDS", "2"))
CASES = 2000


def _ours(case: dict[str, object]) -> dict[str, str]:
    my, target = case["my"], case["target"]
    assert isinstance(my, dict)
    try:
        for texts in (my, target):
            if isinstance(texts, dict):
                for text in texts.values():
                    Expression(text)
        expression = Expression(str(case["expr"]))
    except ClassAdSyntaxError:
        return {"refused": ""}
    try:
        value = expression.evaluate(ad(**my), ad(**target) if isinstance(target, dict) else None, Context())
    except EvaluationFailed:
        return {"failure": ""}
    return {"value": print_value(value)}


@pytest.mark.skipif(importlib.util.find_spec("htcondor2") is None, reason="HTCondor's bindings exist for Linux only")
@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_expressions_agree(seed: int) -> None:
    """Value, failure or refusal; what crashes the library only has to end here."""
    grammar = Grammar(seed)
    cases = [grammar.case() for _ in range(CASES)]
    done = subprocess.run(
        [sys.executable, str(PEER)],
        input="".join(json.dumps(case) + "\n" for case in cases),
        env={"CONDOR_CONFIG": "/dev/null", "TZ": "UTC", "PATH": os.environ.get("PATH", "")},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    theirs = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(theirs) == CASES
    for case, recorded in zip(cases, theirs, strict=True):
        found = _ours(case)
        text = json.dumps(case)
        if "crash" in recorded or "9223372036854775808" in text or "absTime()" in text:
            continue  # years beyond C's calendar are not defined, and the library's clock is not ours
        assert found == recorded, json.dumps(case)
