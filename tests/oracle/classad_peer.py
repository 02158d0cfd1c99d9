"""Evaluate expressions with HTCondor's own library; run as a program, for one of its calls may crash the process.

Reads cases, one JSON object a line (expr, my, target, question), and writes one result a line. A case that kills the
library is reported as a crash; the cases after it are evaluated in a new process.
"""

import json
import os
import sys
from typing import Any


def _ad(library: Any, texts: dict[str, str]) -> Any:  # noqa: ANN401 - the library ships no types
    return library.ClassAd("[" + "; ".join(f"{name} = {text}" for name, text in texts.items()) + "]")


def answer(case: dict[str, Any]) -> dict[str, str]:
    """Return the printed value of a case, or what there is in place of one."""
    import classad2  # noqa: PLC0415 - after htcondor2, which brings the daemons' semantics

    try:
        expression = classad2.ExprTree(case["expr"])
        my = _ad(classad2, case["my"])
        target = None if case["target"] is None else _ad(classad2, case["target"])
    except classad2.ClassAdException:
        return {"refused": ""}
    try:
        return {"value": _QUESTIONS[case["question"]](expression, my, target)}
    except classad2.ClassAdException:
        return {"failure": ""}
    except UnicodeDecodeError:
        return {"crash": "not UTF-8"}


def _value(expression: Any, my: Any, target: Any) -> str:  # noqa: ANN401
    return repr(expression.simplify(my, target))


def _flattened(expression: Any, my: Any, _target: Any) -> str:  # noqa: ANN401
    my["flattened"] = my.flatten(expression)
    return repr(my.lookup("flattened"))


def _names(expression: Any, my: Any, _target: Any) -> str:  # noqa: ANN401
    return "; ".join(_found(look, expression) for look in (my.externalRefs, my.internalRefs))


def _found(look: Any, expression: Any) -> str:  # noqa: ANN401
    try:
        return " ".join(sorted({name for name in look(expression) if name}))
    except ValueError:
        return "none"


_QUESTIONS = {"value": _value, "flatten": _flattened, "references": _names}


def _answers(cases: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Evaluate cases in a child process until one kills it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "w") as out:
            for case in cases:
                out.write(json.dumps(answer(case)) + "\n")
                out.flush()
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as lines:
        found = [json.loads(line) for line in lines]
    os.waitpid(child, 0)
    return found


def main() -> None:
    """Answer all cases of the standard input."""
    import htcondor2  # noqa: F401, PLC0415 - turns the daemons' semantics on

    cases = [json.loads(line) for line in sys.stdin]
    done: list[dict[str, str]] = []
    while len(done) < len(cases):
        done += _answers(cases[len(done) :])
        if len(done) < len(cases):
            done.append({"crash": "killed"})
    for result in done:
        sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
