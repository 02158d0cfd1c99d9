"""What the configuration of the submit machine says to condor_submit, with HTCondor 25.14's own defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from crondor.submit.ad import values

# The knobs that have a default (param_info.in); all others are empty unless the configuration sets them.
_DEFAULTS: Final = {
    "job_default_requestcpus": "1",
    "job_default_requestdisk": "MAX({1024, (TransferInputSizeMB+1) * 1.25}) * 1024",
    "job_default_requestmemory": "128",
    "job_default_lease_duration": "2400",
    "default_job_max_retries": "2",
    "nice_user_accounting_group_name": "nice-user",
    "container_shared_fs": "/cvmfs",
}


class SubmitKnobs:
    """The configuration: macros by name without case, expanded."""

    def __init__(self, config: Mapping[str, str]) -> None:
        """Take what the configuration sets."""
        self._set = {name.lower(): text.strip() for name, text in config.items()}

    @property
    def all(self) -> tuple[tuple[str, str], ...]:
        """What the configuration sets, by lower-case name."""
        return tuple(self._set.items())

    def get(self, name: str) -> str | None:
        """Return the text of a macro, None where it is empty or not set."""
        key = name.lower()
        return self._set.get(key, _DEFAULTS.get(key, "")) or None

    def flag(self, name: str, *, default: bool) -> bool:
        """Return a macro as a truth value; the default where it is not set, or is none."""
        text = self.get(name)
        found = None if text is None else values.boolean(text)
        return default if found is None else found

    def number(self, name: str) -> int:
        """Return a macro that has a default as an integer; the default where it is none."""
        found = values.integer(self.get(name) or "")
        return int(_DEFAULTS[name.lower()]) if found is None else found

    def attributes(self) -> tuple[str, ...]:
        """Return the attributes that SUBMIT_ATTRS and its like put into every job; some begin with + or MY."""
        lists = (self.get(name) or "" for name in ("SUBMIT_ATTRS", "SUBMIT_EXPRS", "SYSTEM_SUBMIT_ATTRS"))
        found = {name.lower(): name for text in lists for name in values.words(text)}
        return tuple(found[key] for key in sorted(found))
