"""Random expressions have the value that HTCondor's own library gives them."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from crondor.classad import ClassAdSyntaxError, Context, EvaluationFailed, Expression, print_value
from tests.classad.helpers import ad

PEER = Path(__file__).with_name("classad_peer.py")
SEEDS = int(os.environ.get("CRONDOR_FUZZ_SEEDS", "2"))
CASES = 2000
NAMES = [
    "a",
    "b",
    "c",
    "d",
    "x",
    "y",
    "MY",
    "TARGET",
    "my",
    "other",
    "self",
    "parent",
    "n",
    "l",
    "s",
    "t",
    "root",
    "ad",
    "LEFT",
    "A",
    "X",
]
STRINGS = [
    "a",
    "A",
    "b",
    "a,b",
    "1.5",
    " 2x",
    "",
    "1+2",
    "x",
    "true",
    "a b",
    "<",
    "a@b",
    "25.1.0",
    "^a.*",
    "é",
    "2020-01-01T00:00:00Z",
    "A=1 B=2",
    ", ",
    "a;b",
    "MY.x + y",
    "%H:%M",
    "slot1@node",
    "a='b c'",
]
CONSTANTS = [
    "1",
    "0",
    "-1",
    "2",
    "3",
    "7",
    "1.5",
    "-0.5",
    "0.0",
    "1e30",
    "true",
    "false",
    "undefined",
    "error",
    "100",
    "9223372036854775807",
    "-9223372036854775808",
    "relTime(5)",
    "absTime(0)",
    "absTime(3600,3600)",
    'relTime("1:00")',
    'absTime("2020-01-01T00:00:00+01:00")',
]
OPERATORS = [
    "+",
    "-",
    "*",
    "/",
    "%",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "&&",
    "||",
    "=?=",
    "=!=",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    ">>>",
    "?:",
]
FUNCTIONS = [
    "isUndefined",
    "isError",
    "isString",
    "isInteger",
    "isReal",
    "isList",
    "isClassAd",
    "isBoolean",
    "member",
    "identicalMember",
    "size",
    "sum",
    "avg",
    "min",
    "max",
    "anyCompare",
    "allCompare",
    "getYear",
    "getMonth",
    "getDayOfYear",
    "getDays",
    "getHours",
    "getSeconds",
    "splitTime",
    "strcat",
    "join",
    "toUpper",
    "toLower",
    "substr",
    "strcmp",
    "stricmp",
    "versioncmp",
    "versionLE",
    "versionGE",
    "versionEQ",
    "version_in_range",
    "regexp",
    "regexpMember",
    "regexps",
    "replace",
    "replaceAll",
    "int",
    "real",
    "string",
    "bool",
    "absTime",
    "relTime",
    "unparse",
    "unresolved",
    "floor",
    "ceiling",
    "round",
    "pow",
    "quantize",
    "ifThenElse",
    "interval",
    "eval",
    "stringListsIntersect",
    "stringListSize",
    "stringListSum",
    "stringListAvg",
    "stringListMin",
    "stringListMember",
    "stringListIMember",
    "stringListSubsetMatch",
    "stringList_regexpMember",
    "splitUserName",
    "splitSlotName",
    "split",
    "argsToList",
    "listToArgs",
    "envV1ToV2",
    "mergeEnvironment",
    "evalInEachContext",
    "countMatches",
    "noSuchFunction",
]


class _Grammar:
    """Expressions over two ads, most of them of types that go together now and then."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)  # noqa: S311 - test data

    def atom(self) -> str:
        kind = self.dice.random()
        if kind < 0.3:
            return self.dice.choice(NAMES)
        return f'"{self.dice.choice(STRINGS)}"' if kind < 0.6 else self.dice.choice(CONSTANTS)

    def expression(self, depth: int) -> str:
        if depth <= 0:
            return self.atom()
        part = [self.expression(depth - 1) for _ in range(3)]
        some = self.dice.randrange(4)
        return self.dice.choice(
            [
                f"({part[0]}) {self.dice.choice(OPERATORS)} ({part[1]})",
                f"({part[0]}) {self.dice.choice(OPERATORS)} ({part[1]})",
                f"{self.dice.choice('!-+~')} ({part[0]})",
                f"({part[0]}) ? ({part[1]}) : ({part[2]})",
                f"{self.dice.choice(FUNCTIONS)}({', '.join(part[:some])})",
                f"{self.dice.choice(FUNCTIONS)}({', '.join(part[:2])})",
                "{" + ", ".join(part[:some]) + "}",
                "[" + "; ".join(f"{self.dice.choice('abcdxyn')} = {text}" for text in part[:some]) + "]",
                f"({part[0]}).{self.dice.choice(NAMES)}",
                f"({part[0]})[{part[1]}]",
                f"{self.dice.choice(['MY', 'TARGET'])}.{self.dice.choice('abcdxyn')}",
            ]
        )

    def attributes(self) -> dict[str, str]:
        names = self.dice.sample("abcdxynlst", self.dice.randrange(8))
        return {name: self.expression(self.dice.randrange(3)) for name in names}

    def case(self) -> dict[str, object]:
        target = None if self.dice.random() < 0.3 else self.attributes()
        return {"expr": self.expression(self.dice.choice([1, 2, 2, 3])), "my": self.attributes(), "target": target}


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
    grammar = _Grammar(seed)
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
