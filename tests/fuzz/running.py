"""A child that tries input after input with little memory, and the parent that sees it stumble."""

import json
import resource
import select
import signal
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from random import Random
from time import perf_counter
from types import FrameType
from typing import NoReturn, TextIO

from crondor.diagnostics import CrondorError
from tests.fuzz.texts import Input

Try = Callable[[str, Random], str]
_SHOWN = 2000
_START = 60.0  # seconds a child may take to begin


@dataclass
class Result:
    """What came of the inputs: how many, by target and outcome, the slowest (seconds), the peak memory (MiB)."""

    inputs: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[dict[str, object]] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, -1)
    before: float = 0.0
    peak: float = 0.0


class TooSlow(BaseException):
    """The time for one input is over; no handler of the tested code takes it for an error of its own."""


def attempt(given: Input, action: Try, seconds: float) -> tuple[str, str | None]:
    """Return the outcome of one input, and what is wrong with it if anything is."""

    def too_slow(_: int, __: FrameType | None) -> NoReturn:
        raise TooSlow(f"not ready after {seconds} s")

    old = signal.signal(signal.SIGALRM, too_slow)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return action(given.text, Random(given.number)), None  # noqa: S311 - test data
    except CrondorError as error:
        return _rendered(error)
    except (Exception, TooSlow) as error:  # noqa: BLE001 - that is what is looked for
        return type(error).__name__, "".join(traceback.format_exception(error)[-6:])[-_SHOWN:]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def _rendered(error: CrondorError) -> tuple[str, str | None]:
    try:
        str(error).encode()
    except Exception as other:  # noqa: BLE001 - an error that cannot be shown is a fault as well
        return type(other).__name__, f"{type(error).__name__} cannot be shown: {other!r}"
    return type(error).__name__, None


def memory() -> float:
    """Return the peak memory of this process in MiB."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def work(inputs: Iterator[Input], actions: dict[str, Try], seconds: float, out: TextIO) -> None:
    """Try inputs; write each number before it is tried, each fault, and at last the counts, a JSON value a line."""
    outcomes: Counter[str] = Counter()
    slowest, before = (0.0, -1), memory()
    for given in inputs:
        print(given.number, file=out, flush=True)
        begin = perf_counter()
        outcome, wrong = attempt(given, actions[given.target], seconds)
        slowest = max(slowest, (perf_counter() - begin, given.number))
        outcomes[f"{given.target}: {outcome}"] += 1
        if wrong is not None:
            fault = {"number": given.number, "target": given.target, "text": given.text[:_SHOWN], "wrong": wrong}
            print(json.dumps({"fault": fault}), file=out, flush=True)
    done = {"outcomes": outcomes, "slowest": slowest, "before": before, "peak": memory()}
    print(json.dumps(done), file=out, flush=True)


def watch(command: Callable[[int], list[str]], patience: float) -> Result:
    """Run children until one ends by itself; ``command`` begins with a number.

    A child that dies, or says nothing for ``patience`` seconds, is a fault of the input under way; the next one goes
    on after it.
    """
    result = Result()
    first = 0
    for _ in count():
        with subprocess.Popen(command(first), stdout=subprocess.PIPE, text=True) as child:
            last = _listen(child, result, patience)
            status = child.wait()
        if status == 0 or last is None:
            if status:
                result.faults.append({"number": first, "target": "start", "text": "", "wrong": f"status {status}"})
            return result
        name = signal.Signals(-status).name if status < 0 else f"status {status}"
        result.faults.append({"number": last, "target": "process", "text": "", "wrong": f"the child ended: {name}"})
        first = last + 1
    raise AssertionError


def _listen(child: subprocess.Popen[str], result: Result, patience: float) -> int | None:
    """Take in what a child says; return the input it tried last."""
    last = None
    wait = max(patience, _START)
    assert child.stdout is not None
    while select.select([child.stdout], [], [], wait)[0]:
        wait = patience
        line = child.stdout.readline()
        if not line:
            return last
        found = json.loads(line)
        if isinstance(found, int):
            last = found
            result.inputs += 1
        elif "fault" in found:
            result.faults.append(found["fault"])
        else:
            result.outcomes.update(found["outcomes"])
            result.slowest = max(result.slowest, tuple(found["slowest"]))
            result.before, result.peak = found["before"], max(result.peak, found["peak"])
    child.kill()
    return last
