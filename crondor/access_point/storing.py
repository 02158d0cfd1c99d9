"""What the schedd's queue keeps of a transformed ad: what it refuses, passes over and rounds.

HTCondor: JobTransforms::set_dirty_attributes, SetAttribute and ModifyAttrCheck (src/condor_schedd.V6/qmgmt.cpp).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from crondor.access_point.knobs import ScheddKnobs
from crondor.classad.ad import ClassAd
from crondor.classad.text import lower
from crondor.job.attributes import alone, printed
from crondor.job.status import JobStatus
from crondor.macro.numbers import leading_int

_SECURE: Final = (
    "x509userProxySubject x509UserProxyEmail x509UserProxyVOName x509UserProxyFirstFQAN x509UserProxyFQAN "
    "TotalSubmitProcs AuthTokenSubject AuthTokenIssuer AuthTokenGroups AuthTokenId AuthTokenScopes AuthTokenProject "
    "OsUser"
)
_WITH_USERS: Final = (25, 4, 0)
_ROUNDED: Final = {
    **dict.fromkeys(("proportionalsetsizekb", "residentsetsize", "executablesize", "imagesize", "diskusage"), "25%"),
    "numckpts": "4",
}
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BEGINS: Final = (JobStatus.IDLE, JobStatus.HELD, 9, 10)  # and BLOCKED, PREPARING
_STATUS: Final = "jobstatus"
_FIXED: Final = ("ClusterId", "Owner", "User")


def secure_names(knobs: ScheddKnobs) -> frozenset[str]:
    """Return the attributes, in lower case, that only the schedd sets: it passes over a transform that does."""
    default = _SECURE if knobs.configuration.version >= _WITH_USERS else _SECURE.replace(" OsUser", "")
    lists = (knobs.string("SYSTEM_SECURE_JOB_ATTRS") or default, knobs.string("SECURE_JOB_ATTRS") or "")
    return frozenset(lower(name) for text in lists for name in re.findall(r"[^, \t\r\n]+", text))


class StoreFault(NamedTuple):
    """An attribute that the queue does not take as it is, and why."""

    name: str
    message: str


@dataclass(frozen=True)
class Store:
    """The rules of a queue.

    ``secure`` are the attributes, in lower case, that only the schedd sets. ``checks_status``: since 25.13 no job
    begins with another JobStatus than that of an idle or a held one.
    """

    secure: frozenset[str] = frozenset(map(lower, _SECURE.split()))
    checks_status: bool = True
    knobs: ScheddKnobs | None = None

    def fault(self, before: ClassAd, after: ClassAd) -> StoreFault | None:
        """Return why the queue does not take what a transform made of a job; None where it does."""
        for name in _FIXED:
            if name in before and (name not in after or printed(before, name) != printed(after, name)):
                return StoreFault(name, f"nothing may change {name} of a job: take it out of the transform")
        for name in after.own().names.values():
            if not _NAME.fullmatch(name):
                return StoreFault(name, f"the queue takes no attribute named {name[:80]}")
        old, new = before.codes.get(_STATUS), after.codes.get(_STATUS)
        if old is new or not self.checks_status:
            return None
        status = 0 if new is None else leading_int(printed(after, "JobStatus"))
        if status in _BEGINS:
            return None
        return StoreFault("JobStatus", f"no job begins with JobStatus {status}: set it to 1 (idle) or 5 (held)")

    def kept(self, before: ClassAd, after: ClassAd) -> ClassAd:
        """Return the ad without the changes that the queue passes over, of ProcId and of what only the schedd sets."""
        made = after
        for key in (*self.secure, "procid"):
            old, new = before.codes.get(key), after.codes.get(key)
            if old is not new:
                made = made.copy() if made is after else made
                made.prune(key)
                if key in before.own().codes and old is not None:
                    made.put(before.names[key], old)
        return made

    def rounded(self, ad: ClassAd, before: ClassAd | None = None) -> ClassAd:
        """Return an ad with its numbers as the queue rounds them, each beside what it was.

        Those that are as ``before`` had them are rounded already.
        """
        made = ad
        for key in ad.codes:
            how = self._rounding(key)
            if not how or (before is not None and before.codes.get(key) == ad.codes[key]):
                continue
            number = alone(ad.codes[key])
            if isinstance(number, (int, float)) and not isinstance(number, bool):
                made = made.copy() if made is ad else made
                made.set(f"{ad.names[key]}_RAW", number)
                made.set(ad.names[key], rounded(number, how))
        return made

    def _rounding(self, key: str) -> str:
        default = _ROUNDED.get(key, "")
        if self.knobs is None:
            return default
        found = self.knobs.knob(f"SCHEDD_ROUND_ATTR_{key}")
        text = default if found is None else (self.knobs.string(found.name) or "")
        return "" if text == "0" else text


def rounded(number: float, how: str) -> float:
    """Return a number rounded up to a share of its magnitude (``25%``), or to a power of ten (``2``: hundreds)."""
    if how.endswith("%"):
        try:
            percent = float(how[:-1])
        except ValueError:
            return number
        if abs(number) < 1e-6 or percent < 1e-6:
            return number
        step = 10.0 ** int(math.log(abs(number / 5)) / math.log(10) + 1) * percent / 100
        whole = math.ceil(number / step) * step
        return int(whole) if isinstance(number, int) else whole
    base = 10 ** int(how) if how.isdecimal() and len(how) == 1 else 1
    up = (int(number) + base - 1) // base * base
    return up if isinstance(number, int) else float(up)
