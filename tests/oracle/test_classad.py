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
from crondor.job.attributes import join_arguments
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


PEER_ARGUMENTS = Path(__file__).with_name("arguments_peer.py")
PIECES = ("'", '"', "$", "$$", "(", ")", "$(", "$$(", "$(DOLLAR)", "$ENV(", " ", "\t", "a", "x", "[", "\\", "%", "#",
          ":", "DOLLAR", "=", ";", "\r", "é", "@")  # fmt: skip


def test_random_arguments_are_read_back() -> None:
    """Macros, quotes and blanks in any order; seeded."""
    chance = random.Random(7)  # noqa: S311 - texts, no secrets
    cases = [
        ["".join(chance.choices(PIECES, k=chance.randrange(12))) for _ in range(chance.randrange(1, 4))]
        for _ in range(5000)
    ]
    environment = {**os.environ, "CONDOR_CONFIG": "/dev/null"}
    ended = subprocess.run(
        [sys.executable, str(PEER_ARGUMENTS)],
        input=json.dumps([join_arguments(case) for case in cases]),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env=environment,
    )
    assert json.loads(ended.stdout) == cases


_WRITTEN = r"""
a b A é . \d \w \s \b ^ $ [a-c] [^a] [[:alpha:]] (a) (b|c) (?:ab) (a)? (?i)a \x41 \x{41} \x{100} \u0041 \1 \n
# \Q.\E \R \C \K (?=a) (?<!b) (?<n>a) \k<n> a* a+? a{2} a{,2} a{1,} a{1,2} a{1, x++ (*UTF8) (?R) \p{L} \X \h \N \A \z \Z
[ ( ) ] * ? { \ (?#c) (?P<m>b) (?(1)a|b) \xff [é] \é () | \o{101} \101 \0 \cA \e (?s). (?m)^a (?-i)a \E [\d-z] [z-a]
(?|(a)|(b)) (?>a*) a** \g1 \g{-1} (?1) (*FAIL) \L \U0041 \y \8 [{,2}] \\ \{,2}
"""
PIECES_REGEXPS = _WRITTEN.split()
SUBJECTS = [
    "",
    "a",
    "aa",
    "abc",
    "b",
    "AB",
    "é",
    "a b",
    "a\nb",
    "\n",
    "a\r\nb",
    "x1 y2",
    "a,b",
    "-",
    "a{,2}",
    "日本",
    "\t",
]
BYTES = ['"\\377"', '"a\\303"', '"\\200b"', '"a\\000b"', 'substr("é", 0, 1)', 'substr("日本", 1, 2)']
OPTIONS = ["", "i", "m", "s", "x", "g", "f", "u", "I", "ix", "gf", "ifg", "e", "q", "imsxgf", "é", " "]
NEW = ["", "x", r"\0", r"\1", r"<\0>", r"\1\2", r"\9", r"\\0", r"\a", "\\", "$1", "é", r"\10"]


def _case(dice: random.Random) -> dict[str, object]:
    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    pattern = quoted("".join(dice.choices(PIECES_REGEXPS, k=dice.choice([1, 1, 2, 3]))))
    subject = dice.choice([quoted(dice.choice(SUBJECTS) + dice.choice(SUBJECTS)), dice.choice(BYTES), "undefined", "5"])
    options, new = quoted(dice.choice(OPTIONS)), quoted(dice.choice(NEW))
    call = dice.choice(
        [
            f"regexp({pattern}, {subject}, {options})",
            f"regexps({pattern}, {subject}, {new}, {options})",
            f"replace({pattern}, {subject}, {new}, {options})",
            f"replaceAll({pattern}, {subject}, {new})",
            f'regexpMember({pattern}, {{{subject}, "ab"}}, {options})',
            f'stringList_regexpMember({pattern}, {subject}, ",", {options})',
        ]
    )
    return {"expr": call, "my": {}, "target": None, "question": "value"}


@pytest.mark.skipif(importlib.util.find_spec("htcondor2") is None, reason="HTCondor's bindings exist for Linux only")
@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_regular_expressions_agree(seed: int) -> None:
    """Also on bytes that are no UTF-8, and with options that nobody knows."""
    dice = random.Random(f"regexps {seed}")  # noqa: S311 - test data
    cases = [_case(dice) for _ in range(3000)]
    assert [(case["expr"], ours(case), recorded) for case, recorded in zip(cases, answers(cases), strict=True)
            if ours(case) != recorded] == []  # fmt: skip
