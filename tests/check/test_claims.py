"""Every fault that reading a schedule can report is the business of exactly one rule."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import crondor
from crondor.codes import CODES, KINDS
from crondor.lint import RULES, rules
from crondor.lint.routes import ROUTE_RULES

_READERS = ("_spec.py", "spec.py", "_schedule.py")
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
    """Return the kinds of fault that the readers of a schedule give."""
    found = set()
    folder = Path(crondor.__file__).parent
    for name in _READERS:
        prefix = "cron-" if name == "_spec.py" else ""
        found |= {prefix + texts[0] for texts in calls(folder / name, "_fault", "_note") if texts}
        found |= {texts[0] for texts in calls(folder / name, "Diagnostic") if texts and texts[0] != "cron-"}
    for node in ast.walk(ast.parse((folder / "_spec.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Tuple) and len(node.elts) in {3, 4} and isinstance(node.elts[0], ast.Constant):
            first = node.elts[0].value  # of a fault that is handed on as a tuple
            found |= {f"cron-{first}"} if isinstance(first, str) and "_" not in first else set()
    return found


def test_every_kind_has_its_rule() -> None:
    """A kind without a rule is a silence: `check` passes on what has a code of its own, and a rule must ask for it."""
    kinds = reported() - _NOT_OF_JOBS - _NEVER
    assert {kind for kind in kinds if CODES.get(kind) not in RULES} == set()


def test_every_code_has_a_rule_and_a_page() -> None:
    """Whatever is printed after a fault can be looked up."""
    assert {code for code in KINDS if code not in {**RULES, **ROUTE_RULES}} == set()


def test_rules_about_values_ask_for_their_own_code_alone() -> None:
    """A code that two rules ask for is said twice, and one that none asks for is lost."""
    folder = Path(rules.__file__).parent
    texts = [call for path in folder.glob("*.py") for call in calls(path, "faults", "_faults")]
    texts += [call[:1] for path in folder.glob("*.py") for call in calls(path, "passed_on")]
    asked = Counter(code for call in texts for code in call)
    values = {CODES[kind] for kind in reported() - _NOT_OF_JOBS - _NEVER - _BY_FUNCTION - _NOT_OF_MANUAL}
    assert {code: asked[code] for code in values if asked[code] != 1} == {}


def test_a_kind_with_a_page_comes_from_what_the_page_is_about() -> None:
    """What hooks, queues, pools and sandboxes say has names of its own: a page on submit files would mislead."""
    folder = Path(crondor.__file__).parent
    rooms = (
        "classad",
        "event_log",
        "hooks",
        "job_queue",
        "pool",
        "rights",
        "router/daemon",
        "router/sandbox",
        "schedd",
    )
    named = {
        texts[0]
        for room in (*rooms, "router/sandbox")
        for path in (folder / room).rglob("*.py")
        for texts in calls(path, "Diagnostic", "fault", "warning", "fail", "warn")
        if texts
    }
    assert len(named) > 100
    assert named & CODES.keys() == set()


def test_the_list_of_codes_is_not_empty() -> None:
    """The test above reads the sources; it must find what is known to be there."""
    assert reported() >= {"cron-range", "cron-name", "cron-unsupported", "cron-type", "submit-number", "window-alone"}
