"""The fuzzer finds what it looks for; and a short run of it, always the same, finds nothing in crondor."""

import io
import json
import subprocess
import sys
from itertools import count
from pathlib import Path
from random import Random

import pytest

from crondor.classad import Expression
from tests.fuzz.running import attempt, watch, work
from tests.fuzz.targets import TARGETS
from tests.fuzz.texts import Input, Texts

ROOT = Path(__file__).resolve().parent.parent.parent
LONG = 60.0


def test_a_short_run_finds_nothing() -> None:
    """In a child with little memory, as `make fuzz` does it for minutes; every target and our errors are met."""
    command = [sys.executable, "-m", "tests.fuzz", "--seed", "1", "--count", "300", "--bound", str(LONG)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("300 inputs, seed 1, 0 faults\n")
    for outcome in ("ads: strict ads", "evaluate: value", "expression: ClassAdSyntaxError", "old: read", "detect: xml"):
        assert outcome in done.stdout


def test_inputs_depend_on_seed_and_number_alone() -> None:
    """A fault can be repeated without what came before it."""
    texts = Texts(5)
    one = texts.input(17)
    assert texts.input(18) != one
    assert Texts(5).input(17) == one
    assert Texts(6).input(17) != one


def test_an_error_of_ours_is_no_fault() -> None:
    """Its class is the outcome."""
    assert attempt(Input(0, "", "1 +"), TARGETS["expression"], LONG) == ("ClassAdSyntaxError", None)
    assert attempt(Input(0, "", "1 + 2"), TARGETS["evaluate"], LONG) == ("value", None)


def _loses_its_way(text: str, _: Random) -> str:
    names: dict[str, str] = {}
    return names[text]


def _recurses(text: str, dice: Random) -> str:
    return _recurses(text, dice) + "."


def _eats(text: str, _: Random) -> str:
    raise MemoryError(text)


def _hangs(__: str, ___: Random) -> str:
    for _ in count():
        Expression("1")
    return ""


@pytest.mark.parametrize(
    ("action", "outcome", "seconds"),
    [
        (_loses_its_way, "KeyError", LONG),
        (_recurses, "RecursionError", LONG),
        (_eats, "MemoryError", LONG),
        (_hangs, "TooSlow", 0.05),
    ],
)
def test_everything_else_is_a_fault(action: object, outcome: str, seconds: float) -> None:
    """Other errors, recursion, memory and time, each with its traceback."""
    assert callable(action)
    found, wrong = attempt(Input(0, "", "x"), action, seconds)
    assert found == outcome
    assert wrong is not None
    assert outcome in wrong


def test_a_child_says_what_it_does() -> None:
    """The number before each input, faults as they come, the counts at the end."""
    out = io.StringIO()
    work(iter([Input(3, "a", "x"), Input(4, "b", "1")]), {"a": _eats, "b": TARGETS["evaluate"]}, LONG, out)
    first, fault, second, done = map(json.loads, out.getvalue().splitlines())
    assert (first, second) == (3, 4)
    assert (fault["fault"]["number"], fault["fault"]["text"]) == (3, "x")
    assert done["outcomes"] == {"a: MemoryError": 1, "b: value": 1}
    assert done["peak"] >= done["before"] > 0


@pytest.mark.parametrize(
    ("script", "patience", "wrong"),
    [
        ("os.kill(os.getpid(), signal.SIGABRT)", LONG, "the child ended: SIGABRT"),
        ("sys.exit(3)", LONG, "the child ended: status 3"),
        ("signal.pause()", 0.05, "the child ended: SIGKILL"),
    ],
)
def test_a_child_that_dies_is_a_fault_and_the_next_goes_on(script: str, patience: float, wrong: str) -> None:
    """The parent names the input under way, and begins anew after it."""
    started = []

    def command(first: int) -> list[str]:
        started.append(first)
        done = 'import json; print(json.dumps({"outcomes": {"x": 1}, "slowest": [1, 8], "before": 1, "peak": 2}))'
        return [sys.executable, "-c", f"import os, signal, sys; print(7, flush=True); {script}" if first == 0 else done]

    result = watch(command, patience)
    assert started == [0, 8]
    assert [(fault["number"], fault["wrong"]) for fault in result.faults] == [(7, wrong)]
    assert (result.inputs, result.outcomes["x"], result.peak) == (1, 1, 2)
