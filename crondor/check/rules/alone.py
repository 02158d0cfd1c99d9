"""CRN516: commands that condor_submit puts into the job, and that nobody asks for there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crondor.check.rule import RuleHit, rule
from crondor.check.subject import CheckedFile
from crondor.check.universe import AT_HOME, universes_of
from crondor.diagnostics import Severity

_HOLDS: Final = ("periodic_hold", "on_exit_hold")
_WHY: Final = ("reason", "subcode")
_HELD: Final = {
    f"{hold}_{what}": (hold, hold.replace("_", ""), f"my.{hold.replace('_', '')}") for hold in _HOLDS for what in _WHY
}
_ASKED_WITH: Final = {  # commands that go into the job and are asked for beside one of some others only
    **_HELD,
    **dict.fromkeys(("notify_user", "email_attributes"), ("notification", "jobnotification", "my.jobnotification")),
}
_RANKS: Final = ("rank", "preferences")


@rule(
    "CRN516", "nobody-asks", Severity.WARNING, "a command that counts beside another one only, or not here", misses=True
)
def nobody_asks(file: CheckedFile) -> Iterator[RuleHit]:
    """The attribute is in the job and does nothing, so that condor_submit does not say that the line was unused."""
    keys = file.submit.keys if file.submit is not None else ()
    told: set[str] = set()
    for key, needed in _ASKED_WITH.items():
        span = file.submit.name(key) if file.submit is not None and key in keys else None
        if span is not None and needed[0] not in told and not any(name in keys for name in needed):
            told.add(needed[0])
            then = "no e-mail is sent" if needed[0] == "notification" else "nobody asks for it"
            yield RuleHit(f"{span.text} counts beside {needed[0]} only: {then}", span, f"write {needed[0]} as well")
    for key in (key for key in _RANKS if key in keys):
        universes = universes_of(file.submit) if file.submit is not None else ()
        if file.submit is not None and not set(universes).isdisjoint(AT_HOME):
            message = f"{key} counts where machines are matched, and a {universes[0]} job runs on the access point"
            yield RuleHit(message, file.submit.name(key), "remove it")
