"""The tables of functions and macros: what the engines know stands in them, and nothing else."""

import crondor.classad.functions  # noqa: F401 - declares them
from crondor.classad.functions.registry import FUNCTIONS
from crondor.diagnostics import Source
from crondor.knowledge import classad_functions, submit_macros
from crondor.macro import MacroError
from crondor.submit import InvalidSubmit, read_submit
from crondor.submit.facts import SubmitFacts, SubmitHost


def test_the_functions_are_those_of_the_engine() -> None:
    """A row for each, with its arguments, what it gives and one sentence."""
    assert set(classad_functions()) == set(FUNCTIONS)
    for function in classad_functions().values():
        assert function.sentence.endswith(".")
        assert function.type


def test_the_macros_are_those_that_are_provided() -> None:
    """Those that the machine or the moment gives, and those of the job."""
    of_jobs = {"process", "procid", "step", "row", "itemindex", "item", "submit_file"}
    for name, macro in submit_macros().items():
        assert macro.sentence.endswith(".")
        assert bool(macro.arguments) is name.startswith("$")
        assert _is_function(macro.name) if macro.arguments else name in of_jobs or _is_provided(name)
    assert not _is_provided("nothing")
    assert not _is_function("$NOTHING")


def _is_function(name: str) -> bool:
    """Say whether condor_submit calls what a text begins with, and does not leave it as it is."""
    file = read_submit(Source(f"arguments = {name}(n)\nqueue\n", "job.sub"))
    try:
        return next(file.groups(["arguments"])).values["arguments"] != f"{name}(n)"
    except InvalidSubmit:
        return True


def _is_provided(name: str) -> bool:
    """Say whether a macro that does not depend on the job has a value, known or not."""
    try:
        return SubmitFacts(SubmitHost()).builtin(name) is not None
    except MacroError:
        return True
