"""What a submit description may know beside its own text: machine, moment, environment and seed, as the caller says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, NamedTuple

from crondor.macro import MacroError
from crondor.submit.host import SubmitHost

if TYPE_CHECKING:
    from random import Random

_BY_MOMENT = frozenset(("year", "month", "day", "submit_time"))
_BY_MACHINE = frozenset(("arch", "islinux", "iswindows", "opsys", "opsysandver", "opsysmajorver", "opsysver", "spool"))
_FIXED = {
    "taskid": "0",
    "jobid": "$(ClusterId).$(ProcId)",
    "joblistid": "$(ClusterId)",
    "request_cpus": "$(RequestCPUs)",
    "request_memory": "$(RequestMemory)",
    "vm_memory": "$(Request_Memory)",
    "vm_vcpus": "$(Request_CPUs)",
}


_CLUSTER = frozenset(("cluster", "clusterid"))


class SubmitFacts(NamedTuple):
    """The surroundings of one reading.

    ``now`` is in epoch seconds, ``zone`` the zone of $(YEAR), $(MONTH) and $(DAY). None in ``environ``, ``now``,
    ``zone`` or ``seed``: not known, and a fault where a value needs it. ``cluster`` is the jobs' ClusterId, 1 where
    the schedd has not given a number yet, as condor_submit -dry-run shows it; ``node`` is what $(Node) stands for.
    """

    host: SubmitHost
    environ: Mapping[str, str] | None = None
    now: int | None = None
    zone: tzinfo | None = None
    seed: int | None = None
    cluster: int = 1
    node: str = ""

    def builtin(self, key: str) -> str | None:
        """Return the text of a built-in macro that does not depend on the job; raises MacroError if not known."""
        if key in _CLUSTER:
            return str(self.cluster)
        if key == "node":
            return self.node
        value = _FIXED.get(key)
        if value is None and key in _BY_MACHINE:
            value = self.host.macro(key)
            if value is None:
                raise _unknown(key, "machine")
        if value is None and key in _BY_MOMENT:
            value = self._moment(key)
        return value

    def _moment(self, key: str) -> str:
        if self.now is None:
            raise _unknown(key, "moment")
        if key == "submit_time":
            return str(self.now)
        if self.zone is None:
            raise _unknown(key, "moment")
        try:
            when = datetime.fromtimestamp(self.now, self.zone)
        except (OverflowError, OSError, ValueError):
            raise _unknown(key, "moment") from None
        return {"year": f"{when.year:04}", "month": f"{when.month:02}", "day": f"{when.day:02}"}[key]


class JobDice:
    """Random numbers that one value of one job has for itself, whatever else is asked for and in whatever order."""

    def __init__(self, seed: int, what: str, drawn: Callable[[], None]) -> None:
        """Begin for ``what``; ``drawn`` is called with each number."""
        self._key = f"{seed} {what}"
        self._random: Random | None = None
        self._drawn = drawn

    def randrange(self, stop: int, /) -> int:
        """Return a number from 0 up to ``stop``, which is not included."""
        if self._random is None:
            from random import Random  # noqa: PLC0415 - 0.7 ms, and few files roll dice

            self._random = Random(self._key)  # noqa: S311 - a preview, no secret
        self._drawn()
        return self._random.randrange(stop)


def _unknown(key: str, what: str) -> MacroError:
    message = f"$({key}) depends on the {what} of submission, which crondor does not know"
    return MacroError("unknown-macro", message, "write the value out")
