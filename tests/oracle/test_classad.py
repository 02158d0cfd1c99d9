"""Random expressions have the value that HTCondor's own library gives them."""

import importlib.util
import itertools
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from crondor.classad import AdValue, ClassAdSyntaxError, Context, EvaluationFailed, Expression, print_value
from crondor.classad.evaluate import references_of
from tests.classad.grammar import Grammar
from tests.classad.helpers import ad

PEER = Path(__file__).with_name("classad_peer.py")
_LEFT_OUT = {
    "value": re.compile(r"\Z."),
    "flatten": re.compile(r"Time|\bsplit|argsToList|evalInEachContext"),
    "references": re.compile(r"\Z."),
}
"""The Python binding makes a flattened time another one, and has no place for a list that a function made."""
SEEDS = int(os.environ.get("CRONDOR_FUZZ_SEEDS", "2"))
CASES = 700


def ours(case: dict[str, object]) -> dict[str, str]:
    """Return what crondor answers, in the words of the peer."""
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
        if case["question"] == "flatten":
            return {"value": expression.flatten(ad(**my)).unparse(faithful=True)}
        if case["question"] == "references":
            return {"value": "; ".join(_names(expression, ad(**my), internal=which) for which in (False, True))}
        value = expression.evaluate(
            ad(**my), ad(**target) if isinstance(target, dict) else None, Context(faithful=True)
        )
    except EvaluationFailed:
        return {"failure": ""}
    return {"value": print_value(value, faithful=True)}


def _names(expression: Expression, my: AdValue, *, internal: bool) -> str:
    names = references_of(expression.code, my, internal=internal)
    return "none" if names is None else " ".join(sorted({piece for name in names for piece in name.split(",")}))


def answers(cases: Sequence[object], peer: Path = PEER) -> list[dict[str, Any]]:
    """Return what HTCondor's library answers, in a process of its own."""
    done = subprocess.run(
        [sys.executable, str(peer)],
        input="".join(json.dumps(case) + "\n" for case in cases),
        env={"CONDOR_CONFIG": "/dev/null", "TZ": "UTC", "PATH": os.environ.get("PATH", "")},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    theirs = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(theirs) == len(cases)
    return theirs


@pytest.mark.skipif(importlib.util.find_spec("htcondor2") is None, reason="HTCondor's bindings exist for Linux only")
@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("question", ["value", "flatten", "references"])
def test_random_expressions_agree(seed: int, question: str) -> None:
    """Value, failure or refusal; what crashes the library only has to end here."""
    grammar = Grammar(seed)
    cases = [{**grammar.case(), "question": question} for _ in range(CASES)]
    cases = [case for case in cases if not _LEFT_OUT[question].search(json.dumps(case))]
    for case, recorded in zip(cases, answers(cases), strict=True):
        found = ours(case)
        text = json.dumps(case)
        if "crash" in recorded or "9223372036854775808" in text or "absTime()" in text:
            continue  # years beyond C's calendar are not defined, and the library's clock is not ours
        assert found == recorded, json.dumps(case)


NESTED = {
    "v": "[q = [z = 1; y = w; s = [t = 2; u = w]; l = {[z = 7],3}]; w = 5; l = {[z = 7; y = w],[z = x],3}]",
    "x": "3",
    "w": "50",
    "l": "{[z = 7],[z = x],3}",
    "a": 'v["q"]',
    "b": 'v["l"]',
    "n": '"q"',
}
_HEADS = ("v", "a", "b", "l", '[k = v["q"]]', '{v["q"]}', "(true ? a : 1)", 'eval("v")', "v.q", "(a ?: 1)")
_STEPS = ('["q"]', '["l"]', '["z"]', '["y"]', '["k"]', '["s"]', "[n]", "[0]", "[1]", ".q", ".l", ".z", ".y", ".s", ".t")


@pytest.mark.skipif(importlib.util.find_spec("htcondor2") is None, reason="HTCondor's bindings exist for Linux only")
def test_what_a_subscript_gives_is_a_copy_where_faithful() -> None:
    """Of which names are undefined, and which is all there is to names in it; some of it crashes the library.

    Where that does not, it may read memory that it has given back: what differs is asked again, in a new process.
    """
    steps = itertools.product(_HEADS, _STEPS, ("", *_STEPS), ("", ".z", '["z"]', " =?= undefined"))
    paths = [path for path in map("".join, steps) if "l.l" not in path]  # lists of lists are another matter
    paths = random.Random(0).sample(paths, CASES)  # noqa: S311 - test data
    cases: list[dict[str, object]] = [
        {"expr": text, "my": NESTED, "target": None, "question": "value"} for text in paths
    ]
    for _ in range(2):
        found = [(case, ours(case), recorded) for case, recorded in zip(cases, answers(cases), strict=True)]
        differing = [each for each in found if each[1] != each[2] and "crash" not in each[2]]
        cases = [case for case, _, _ in differing]
    assert differing == []
    assert Expression('v["q"].z').evaluate(ad(**NESTED)) == 1
