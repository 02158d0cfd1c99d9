"""What a live schedd had done already when it failed: its changes are made one by one, and none is taken back."""

from __future__ import annotations

from crondor.diagnostics import Diagnostic, Severity
from crondor.schedd.protocol import ScheddError


def halfway(error: ScheddError, done: list[str]) -> ScheddError:
    """Return an error that says as well what was done before, in sentences; the error itself where that is nothing."""
    if not done:
        return error
    said = Diagnostic("schedd-halfway", f"before that {'; '.join(done)}", Severity.WARNING, help="that is not undone")
    return ScheddError((*error.diagnostics, said))
