"""Every fault that reading a schedule can report is the business of exactly one rule."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import crondor
from crondor.check import rules

_READERS = ("_spec/faults.py", "spec.py", "_schedule/submit_terms.py", "_schedule/job_terms.py")
_NOT_OF_MANUAL = {"schedd-character", "schedd-step", "schedd-empty"}  # CRN116 goes by what they mean
_NOT_OF_JOBS = {"cron-fields"}  # of a crontab line with another number of words
_NEVER = {"not-evaluated"}  # check gives the readers the means to evaluate
_BY_FUNCTION = {"submit-misspelt"}  # misspelt() gives nothing else, and one rule calls it


def calls(path: Path, *names: str) -> Iterator[list[str]]:
    """Yield the literal texts that are the arguments of each call of a function or method."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in names:
                yield [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]


def reported() -> set[str]:
    """Return the codes that the readers of a schedule give."""
    found = set()
    folder = Path(crondor.__file__).parent
    for name in _READERS:
        prefix = "cron-" if name == "_spec/faults.py" else ""
        found |= {prefix + texts[0] for texts in calls(folder / name, "_fault", "_note") if texts}
        found |= {texts[0] for texts in calls(folder / name, "Diagnostic") if texts and texts[0] != "cron-"}
    for node in ast.walk(ast.parse((folder / "_spec/faults.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Tuple) and len(node.elts) in {3, 4} and isinstance(node.elts[0], ast.Constant):
            first = node.elts[0].value  # of a fault that is handed on as a tuple
            found |= {f"cron-{first}"} if isinstance(first, str) and "_" not in first else set()
    return found


def claimed() -> Counter[str]:
    """Return how often the rules ask for each code."""
    folder = Path(rules.__file__).parent
    texts = [call for path in folder.glob("*.py") for call in calls(path, "faults", "_faults", "_placed_faults")]
    return Counter(code for call in texts for code in call)


def test_every_code_has_exactly_one_rule() -> None:
    """A code without a rule is a silence, a code with two is said twice."""
    codes = reported() - _NOT_OF_MANUAL - _NOT_OF_JOBS - _BY_FUNCTION - _NEVER
    assert {code: claimed()[code] for code in codes if claimed()[code] != 1} == {}


def test_no_rule_asks_for_a_code_that_does_not_exist() -> None:
    """A code that is renamed would be lost otherwise."""
    assert {code for code in claimed() if code.startswith(("cron-", "submit-"))} <= reported()


def test_the_list_of_codes_is_not_empty() -> None:
    """The test above reads the sources; it must find what is known to be there."""
    assert reported() >= {"cron-range", "cron-name", "cron-unsupported", "cron-type", "submit-number", "window-alone"}
