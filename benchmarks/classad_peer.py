"""HTCondor's own ClassAd library as a peer: a process of its own that times one round of a case when it is told to.

``python -m benchmarks`` starts it and asks for a round after each round of crondor's. It reads JSON values, a line
each: the inputs first, then the names of cases; and answers with microseconds for one item, or with why it cannot.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

LOOPS = {"requirements": 3000, "match": 3000, "parse": 3000, "read": 1, "rewrite": 1, "copy": 1}


class Peer:
    """The process; ``missing`` says why there is none."""

    def __init__(self, inputs: Mapping[str, object]) -> None:
        """Start it and give it its inputs."""
        environ = {**os.environ, "CONDOR_CONFIG": "/dev/null"}
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ
        )
        answer = self._ask(inputs)
        self.missing = None if answer == "ready" else str(answer)

    def round(self, case: str) -> float:
        """Return the microseconds of one item in one round of a case."""
        answer = self._ask(case)
        if not isinstance(answer, float):
            raise TypeError(answer)
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def _ask(self, question: object) -> object:
        questions, answers = self._process.stdin, self._process.stdout
        if questions is None or answers is None:
            raise BrokenPipeError
        print(json.dumps(question), file=questions, flush=True)
        answer: object = json.loads(answers.readline() or '"the process ended"')
        return answer


def _cases(inputs: Mapping[str, Any]) -> dict[str, tuple[Callable[[], object], int]]:
    """Return the work of each case, and how many items it is."""
    import htcondor2  # noqa: F401, PLC0415 - turns the daemons' semantics on
    from classad2 import ClassAd, ExprTree, parseNext  # noqa: PLC0415 - in this process only
    from classad2 import ParserType as Parser  # noqa: PLC0415

    def ad(texts: Mapping[str, str]) -> Any:  # noqa: ANN401 - the library ships no types
        return ClassAd("[" + "; ".join(f"{name} = {text}" for name, text in texts.items()) + "]")

    job, machine, text = ad(inputs["job"]), ad(inputs["machine"]), inputs["text"]
    expression, texts, few = ExprTree(text), inputs["texts"], inputs["texts"][: inputs["few"]]
    if expression.eval(job, machine) is not True or not job.symmetricMatch(machine):
        raise ValueError("the job and the machine do not match")

    def read() -> None:
        for one in few:
            parseNext(one, Parser.Old).eval("ImageSize")

    def rewrite() -> str:
        found = []
        for one in texts:
            changed = parseNext(one, Parser.Old)
            changed["Managed"] = "External"
            found.append(changed.printOld())
        return "\n".join(found)

    def copy() -> str:
        return "\n".join(parseNext(one, Parser.Old).printOld() for one in texts)

    return {
        "requirements": (lambda: expression.eval(job, machine), 1),
        "match": (lambda: job.symmetricMatch(machine), 1),
        "parse": (lambda: ExprTree(text), 1),
        "read": (read, len(few)),
        "rewrite": (rewrite, len(texts)),
        "copy": (copy, len(texts)),
    }


def one_round(work: Callable[[], object], loops: int) -> float:
    """Return the microseconds of a call."""
    start = perf_counter()
    for _ in range(loops):
        work()
    return (perf_counter() - start) / loops * 1e6


def _serve() -> None:
    """Answer until the questions end."""
    try:
        cases = _cases(json.loads(sys.stdin.readline()))
    except (ImportError, ValueError) as error:
        print(json.dumps(f"{type(error).__name__}: {error}"), flush=True)
        return
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        name = json.loads(line)
        work, items = cases[name]
        print(json.dumps(one_round(work, LOOPS[name]) / items), flush=True)


if __name__ == "__main__":
    _serve()
