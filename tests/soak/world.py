"""What the soak needs of a queue whose jobs come and go."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol


class Load(NamedTuple):
    """How many jobs a queue has, how many leave and come a minute, and the seconds between two polls."""

    jobs: int
    turn_over: int
    poll: int


class World(Protocol):
    """A queue whose jobs come and go; ``come`` and ``gone`` count them."""

    come: int
    gone: int

    @property
    def status_file(self) -> Path:
        """Where the router leaves how it stands."""

    def fill(self, jobs: int) -> None:
        """Make the jobs that are there at the begin."""

    def turn_over(self, jobs: int, now: int) -> int:
        """Remove the oldest clusters, so many jobs at least, make as many, and return how many.

        ``now`` is epoch seconds.
        """

    def close(self) -> None:
        """Clean up."""

    def monitored(self) -> Sequence[str]:
        """Return the options by which crondor monitor watches the queue."""

    def routed(self, load: Load) -> Sequence[str]:
        """Return the command of the router."""
