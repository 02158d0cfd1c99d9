"""What the rules of a transform define, as knobs."""

from crondor.diagnostics import Source
from crondor.transform.apply import definitions
from crondor.transform.expressions import NOTHING
from crondor.transform.program import RuleSource, read_program
from crondor.transform.statements import compile_line


def read_knobs(source: Source, form: RuleSource = RuleSource.FILE) -> dict[str, str]:
    """Return the definitions of rules that may be no transform."""
    return definitions([compile_line(line) for line in read_program(source, form, "").lines], NOTHING)
