"""What nobody may edit in a job."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from crondor.classad import lower
from crondor.diagnostics import Diagnostic
from crondor.schedd.protocol import ScheddError
from crondor.source import Source

FIXED: Final = frozenset(("clusterid", "procid", "mytype", "targettype"))


def check_editable(names: Iterable[str], more: frozenset[str] = frozenset()) -> None:
    """Refuse the attributes that say which job it is, and ``more`` (lower case). Raises ScheddError."""
    faults = [
        Diagnostic(
            "schedd-fixed",
            f"{name} says which job it is, and cannot be edited"
            if lower(name) in FIXED
            else f"{name} is the schedd's own, and cannot be edited",
            span=Source(name, "<edit>").span(),
            help="submit another job" if lower(name) in FIXED else "hold, release or remove the job",
        )
        for name in names
        if lower(name) in FIXED | more
    ]
    if faults:
        raise ScheddError(faults)
