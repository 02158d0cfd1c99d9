"""Which jobs are meant: the routed copies, on some routes, in some state, for which a constraint holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from crondor.classad import print_string
from crondor.schedd.selection import Selection, read_constraint

ROUTED: Final = "RouteName =!= undefined"
IDLE: Final = "JobStatus == 1"
RUNNING: Final = "JobStatus == 2"
NOT_RUNNING: Final = "JobStatus != 2"
HELD: Final = "JobStatus == 5"


def routed(
    which: Selection | None = None,
    *,
    routes: Iterable[str] = (),
    states: Iterable[str] = (),
    constraints: Iterable[str] = (),
) -> Selection:
    """Return the routed copies among ``which`` (None: all jobs).

    ``routes`` are names, any of which will do, without regard to case; ``states`` and ``constraints`` must all hold.
    Each constraint is an expression by itself: ``x) || (true`` does not get out of its parentheses. Raises
    ClassAdSyntaxError.
    """
    chosen = (which or Selection()).where(ROUTED)
    for state in states:
        chosen = chosen.where(state)
    names = [f"RouteName == {print_string(name)}" for name in routes]
    if names:
        chosen = chosen.where(" || ".join(names))
    for text in constraints:
        chosen = chosen.where(str(read_constraint(text, "--constraint")))
    return chosen
