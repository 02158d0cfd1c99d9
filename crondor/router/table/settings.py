"""What a router is told beside its routes: the knobs of HTCondor's configuration that begin with JOB_ROUTER_.

HTCondor: JobRouter::config.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from crondor.classad.expression import Expression
from crondor.classad.text import lower


class ScheddContact(NamedTuple):
    """How a schedd is found: its name, its pool, the paths of its queue's log and of its address; empty: not given."""

    name: str = ""
    pool: str = ""
    job_queue_log: str = ""
    address_file: str = ""


NOBODY = ScheddContact()


@dataclass(frozen=True)
class RouterSettings:
    """The settings of a router, with the defaults of HTCondor 25.14; times in seconds.

    ``max_jobs`` negative: unlimited. ``source_constraint`` None: none. ``update_lag`` is MAX_JOB_MIRROR_UPDATE_LAG.
    ``periodic_interval`` of 0 or less: the source's periodic policy is not evaluated.
    """

    name: str = "jobrouter"
    polling_period: int = 10
    source_constraint: Expression | None = None
    source_constraint_text: str = ""
    """As it is written, its macros replaced; empty: as crondor prints it."""
    max_jobs: int = -1
    round_robin: bool = False
    release_on_hold: bool = True
    update_lag: int = 600
    entries_refresh: int = 0
    periodic_interval: int = 60
    update_interval: int = 300
    hook_keyword: str = ""
    attributes_to_copy: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(keyword, attributes) of each <KEYWORD>_ATTRS_TO_COPY."""
    delayed_update_prefix: tuple[str, ...] = ("Chirp*",)
    route_id_tokens: str = ""
    id_token_refresh: int = 0
    max_periodic_interval: int = 1200
    periodic_timeslice: float = 0.01
    lock: str = ""
    source_schedd: ScheddContact = NOBODY
    destination_schedd: ScheddContact = NOBODY
    """Without a log of its own it is the source schedd."""
    id_tokens: tuple[tuple[str, str], ...] = ()
    """(name, properties as attribute lines) of each token of JOB_ROUTER_CREATE_IDTOKEN_NAMES."""

    def copied_for(self, keyword: str | None) -> tuple[str, ...]:
        """Return the attributes of <KEYWORD>_ATTRS_TO_COPY for a job with a HookKeyword; None: it has none.

        The knob counts whether hooks are run or not; a knob's name has no case.
        """
        wanted = lower(self.hook_keyword if keyword is None else keyword)
        return next((names for each, names in self.attributes_to_copy if lower(each) == wanted), ())
