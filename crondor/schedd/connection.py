"""Whether a live schedd can be worked with: who may read and write there, and whether clock, zone and pass are ours.

Each question stands alone, so that what one cannot say, another does. Nothing is written: READ and WRITE are asked for
as condor_ping asks, and the schedd's zone and clock are read off the answers to constraints that it evaluates itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Final, NamedTuple

from crondor.diagnostics import Diagnostic, Severity, printable
from crondor.job import attributes
from crondor.schedd.ads import job_id
from crondor.schedd.live import LiveSchedd
from crondor.schedd.protocol import ScheddError
from crondor.schedd.selection import Selection

LEVELS: Final = ("READ", "WRITE")
KNOBS: Final = ("SCHEDD_INTERVAL", "JOB_QUEUE_LOG")
INTERVAL: Final = 300  # seconds, where SCHEDD_INTERVAL is not set (manual)

_STEP: Final = 15  # minutes; all zones of today are apart by whole quarters of an hour
_FIRST, _LAST = -12 * 60, 14 * 60  # minutes east of UTC
_NEAR: Final = 2  # seconds that an answer may take
_VERSION: Final = re.compile(r"\d+\.\d+\.\d+").search
_FORM: Final = "%Y%m%d%H%M"


class Access(NamedTuple):
    """What a schedd answers to whoever asks for a level of access; ``fault`` says why it is refused."""

    level: str
    user: str = ""
    methods: str = ""
    fault: Diagnostic | None = None


class Offset(NamedTuple):
    """Minutes east of UTC at an instant (epoch seconds), there and here."""

    time: int
    theirs: int
    ours: int


class Connection(NamedTuple):
    """What was found out. Releases are as ``25.14.1``, empty where nobody says; ``fault``: nothing could be asked.

    ``ahead`` is how many seconds the schedd's clock is ahead of ours; None where that, as its zone, cannot be read off
    for it has no job.
    """

    bindings: str = ""
    name: str = ""
    machine: str = ""
    address: str = ""
    release: str = ""
    access: tuple[Access, ...] = ()
    interval: int | None = None
    log: str = ""
    ahead: int | None = None
    offsets: tuple[Offset, ...] = ()
    fault: Diagnostic | None = None

    @property
    def may_read(self) -> bool:
        """Whether questions are answered."""
        return any(each.level == "READ" and each.fault is None for each in self.access)

    def findings(self, interval: int) -> Iterator[Diagnostic]:
        """Yield what will go wrong, for a SCHEDD_INTERVAL (seconds) that we reckon with."""
        if self.fault is not None:
            yield self.fault
        told: dict[Diagnostic, list[str]] = {}
        for each in self.access:
            if each.fault is not None:
                told.setdefault(each.fault, []).append(each.level)
        for fault, levels in told.items():
            yield replace(fault, message=f"{' and '.join(levels)}: {fault.message}")
        if self.interval is not None and self.interval != interval:
            message = f"SCHEDD_INTERVAL is {self.interval} s there, and {interval} s is reckoned with here"
            hint = f"schedd-interval = {self.interval} in crondor.toml, or --schedd-interval {self.interval}"
            yield Diagnostic("doctor-interval", message, Severity.WARNING, help=hint)
        if self.ahead is not None and abs(self.ahead) > _NEAR:
            word = "ahead of" if self.ahead > 0 else "behind"
            message = f"the schedd's clock is {abs(self.ahead)} s {word} this one: jobs start by its clock"
            yield Diagnostic("doctor-clock", message, Severity.WARNING, help="let both follow a time server (chrony)")
        if any(each.theirs != each.ours for each in self.offsets):
            message = "the schedd reads crontab fields in another zone than the one reckoned with here"
            hint = "name its zone with --tz ZONE, or tz = in crondor.toml"
            yield Diagnostic("doctor-zone", message, Severity.WARNING, help=hint)
        if self.may_read and not self.offsets:
            message = "the schedd's zone and clock are not known: its queue has no job to read them off"
            yield Diagnostic("doctor-empty", message, Severity.NOTE, help="submit one on hold (hold = true)")


def connection_of(schedd: LiveSchedd, zone: tzinfo, clock: Callable[[], int]) -> Connection:
    """Find out what there is to know of a live schedd; ``clock`` gives the epoch seconds of now, ``zone`` is ours.

    Raises nothing: what cannot be found out is among the findings.
    """
    try:
        about = schedd.about()
    except ScheddError as error:
        return Connection(fault=error.diagnostics[0])
    found = Connection(
        bindings=_release(about["bindings"]),
        name=printable(about.get("Name", "")),
        machine=printable(about.get("Machine", "")),
        address=printable(about.get("MyAddress", "")),
        release=_release(about.get("CondorVersion", "")),
        access=tuple(_access(schedd, level) for level in LEVELS),
    )
    if not found.may_read:
        return found
    with suppress(ScheddError):
        knobs = schedd.knobs(KNOBS)
        text = knobs.get("SCHEDD_INTERVAL", str(INTERVAL))
        found = found._replace(
            interval=int(text) if text.isdecimal() else None, log=printable(knobs.get("JOB_QUEUE_LOG", ""))
        )
    with suppress(ScheddError):
        found = _asked_a_job(found, schedd, zone, clock)
    return found


def _access(schedd: LiveSchedd, level: str) -> Access:
    try:
        said = schedd.ping(level)
    except ScheddError as error:
        return Access(level, fault=error.diagnostics[0])
    user, methods = (printable(said.get(name, "")) for name in ("MyRemoteUserName", "AuthMethods"))
    if said.get("AuthorizationSucceeded", "").lower() == "true":
        return Access(level, user, methods)
    message = f"the schedd lets {user or 'this user'} not do that"
    hint = f"its ALLOW_{level} must have the user, and no DENY_{level}"
    return Access(level, user, methods, Diagnostic("schedd-forbidden", message, help=hint))


def _asked_a_job(found: Connection, schedd: LiveSchedd, zone: tzinfo, clock: Callable[[], int]) -> Connection:
    """Ask about one job, which the schedd answers by its clock and in its zone."""
    ads = schedd.jobs(None, ["ServerTime"], limit=1)
    job = job_id(ads[0]) if ads else None
    if job is None:
        return found
    now = clock()
    theirs = attributes.integer(ads[0], "ServerTime")
    year = datetime.fromtimestamp(now, timezone.utc).year
    seasons = (int(datetime(year, month, 1, 12, tzinfo=timezone.utc).timestamp()) for month in (1, 7))
    one = Selection(jobs=(job,))
    offsets = [Offset(time, _their_offset(schedd, one, time, _ours(time, zone)), _ours(time, zone)) for time in seasons]
    return found._replace(ahead=None if theirs is None else theirs - now, offsets=tuple(offsets))


def _their_offset(schedd: LiveSchedd, job: Selection, time: int, ours: int) -> int:
    """Return the schedd's minutes east of UTC at an instant: as ours, or else found by halving."""
    if _is(schedd, job, time, "==", ours):
        return ours
    steps: Sequence[int] = range(_FIRST, _LAST + 1, _STEP)
    low, high = 0, len(steps) - 1
    while low < high:
        middle = (low + high) // 2
        if _is(schedd, job, time, ">", steps[middle]):
            low = middle + 1
        else:
            high = middle
    return steps[low]


def _is(schedd: LiveSchedd, job: Selection, time: int, comparison: str, offset: int) -> bool:
    """Say whether the schedd's clock face at an instant compares so with that of an offset (digits: as numbers)."""
    face = (datetime.fromtimestamp(time, timezone.utc) + timedelta(minutes=offset)).strftime(_FORM)
    return bool(schedd.jobs(job.where(f'int(formatTime({time}, "{_FORM}")) {comparison} {face}'), ["ClusterId"]))


def _ours(time: int, zone: tzinfo) -> int:
    offset = datetime.fromtimestamp(time, zone).utcoffset() or timedelta()
    return offset // timedelta(minutes=1)


def _release(version: str) -> str:
    found = _VERSION(version)
    return found[0] if found else printable(version)
