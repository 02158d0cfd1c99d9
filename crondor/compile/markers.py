"""The comments about a file's schedule: its text, its policies, and the markers of its compiled lines.

HTCondor ignores them. The compiled lines say the policies in HTCondor's words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from crondor.diagnostics import Diagnostic, Source, Span, lines_of, similar

BEGIN: Final = re.compile(
    r"[ \t]*#[ \t]*crondor:[ \t]*compiled lines until (?P<until>\S+)( on a host in (?P<zone>\S+))?"
    r"( \(made by crondor compile --write(?P<options>[^)\n]*)\))?[^\n]*",
    re.IGNORECASE,
)
END: Final = re.compile(r"[ \t]*#[ \t]*crondor:[ \t]*end of compiled lines[ \t]*", re.IGNORECASE)
SCHEDULE: Final = re.compile(r"[ \t]*#[ \t]*crondor:[ \t]*schedule[ \t]*=[^\n]*", re.IGNORECASE)
EXPECTED: Final = ("CRN203", "CRN207")
"""Findings about fields that name too many times, suppressed if a clause excludes these."""

TO_CRONDOR: Final = re.compile(r"^[ \t]*#[ \t]*crondor[ \t]*:(.*)$", re.MULTILINE)
SETTING: Final = re.compile(
    r"[ \t]*#[ \t]*crondor[ \t]*:[ \t]*(?P<name>[\w-]+)[ \t]*=[ \t]*(?P<value>(?:[^\r\n]*[^ \t\r\n])?)[ \t]*\r?"
)


def is_order(line: str) -> bool:
    """Return whether a line is a comment for crondor."""
    return TO_CRONDOR.match(line) is not None


_GUARD = "HTCondor makes up no run: a crondor queue guard --apply that runs there does"

MEANINGS: Final[Mapping[str, str]] = {
    "schedule": "when the jobs run, in any language; crondor compile --write FILE writes the lines",
    "overlap": (
        "what happens at a time when the run before is still there. skip: nothing, HTCondor's own behaviour; queue: one"
        f" run right after it ({_GUARD})"
    ),
    "start_deadline": "how late a run may start, such as 10m: its cron_window",
    "catch_up": f"once within 6h: after a downtime, one run for the last missed time, if that is not older ({_GUARD})",
    "suspended": "true: submitted on hold (hold = true), and not run until condor_release",
}
"""The settings of a file by name, each with its meaning."""

VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    "overlap": ("skip", "queue"),
    "start_deadline": ("10m", "1h"),
    "catch_up": ("once within 6h", "once within 1d"),
    "suspended": ("true", "false"),
}
"""The policies, with values to write."""

_CATCH_UP = re.compile(r"once[ \t]+within[ \t]+(.*)", re.IGNORECASE)
_LENGTH = re.compile(r"(?:\d{1,9}(?!\d)(?:[ \t]*[smhd])?[ \t]*)+", re.IGNORECASE | re.ASCII)
_PART = re.compile(r"(\d+)[ \t]*([smhd]?)", re.IGNORECASE | re.ASCII)
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_LONGEST = 366 * 86400
_TRUTH = {"true": True, "yes": True, "false": False, "no": False}
_REFUSED = {
    "allow": (
        "HTCondor runs a crontab job once at a time: the runs of one job cannot overlap",
        "write skip or queue; for runs that overlap, submit several jobs that share the times",
    ),
    "replace": (
        "HTCondor does not end a run because the next one is due",
        "write skip, and let the program end in time, such as by timeout(1)",
    ),
}
_COMMANDS = {"overlap": "MY.CrondorOverlap", "catch_up": "MY.CrondorCatchUp", "suspended": "hold"}
_OWN = {
    "start_deadline": re.compile(r"[ \t]*((?:cron|deferral)_?window)[ \t]*=", re.IGNORECASE),
    "suspended": re.compile(r"[ \t]*(hold)[ \t]*=", re.IGNORECASE),
}  # commands of the file that say the same


class Policies(NamedTuple):
    """A file's policies: None where it has none; lengths are seconds. ``places`` are the values by name.

    ``faults`` are those of all lines; a faulty one has no value.
    """

    overlap: str | None = None
    start_deadline: int | None = None
    catch_up: int | None = None
    suspended: bool | None = None
    places: Mapping[str, Span] = {}
    faults: tuple[Diagnostic, ...] = ()

    @property
    def makes_up(self) -> bool:
        """Whether a run may be made up, at a time that the schedule does not have."""
        return self.overlap == "queue" or self.catch_up is not None

    @property
    def commands(self) -> dict[str, str]:
        """The submit commands besides cron_window."""
        given = {
            "overlap": '"queue"' if self.overlap == "queue" else None,
            "catch_up": None if self.catch_up is None else str(self.catch_up),
            "suspended": "true" if self.suspended else None,
        }
        return {_COMMANDS[name]: text for name, text in given.items() if text is not None}

    def is_in(self, job: Mapping[str, str]) -> bool:
        """Return whether compiled lines of a job (commands by lower-case name) have these policies."""
        given = {name.lower(): text for name, text in self.commands.items()}
        window = self.start_deadline is None or job.get("cron_window", "0") == str(self.start_deadline)
        return window and given == {name: job[name] for name in map(str.lower, _COMMANDS.values()) if name in job}


def read_policies(source: Source) -> Policies:
    """Read the policies of a submit file, and find commands of its own that they would override."""
    if "crondor" not in source.text:
        return Policies()
    values: dict[str, str | int | bool] = {}
    places: dict[str, Span] = {}
    faults: list[Diagnostic] = []
    for line in TO_CRONDOR.finditer(source.text):
        setting = SETTING.fullmatch(line[0])
        name = setting["name"].lower() if setting else ""
        if setting is None or name not in VALUES:
            continue
        span = source.span(line.start() + setting.start("value"), line.start() + setting.end("value"))
        if not span.text:
            span = source.span(line.start(), line.start() + len(line[0].rstrip()))
        if name in places:
            message = f"the file has two lines for {name}, the first in line {places[name].line}"
            faults.append(Diagnostic("schedule-policy", message, span=span, help="keep one of them"))
            continue
        places[name] = span
        value = _value(name, setting["value"])
        if isinstance(value, tuple):
            faults.append(Diagnostic("schedule-policy", value[0], span=span, help=value[1]))
        else:
            values[name] = value
    if places:
        faults += _own(source, places)
    return Policies(**values, places=places, faults=tuple(faults))  # type: ignore[arg-type]  # each of its own type


def _value(name: str, text: str) -> str | int | bool | tuple[str, str]:
    """Return the value of a policy, or why it has none and what to write.

    policy = "overlap" "=" ("skip" | "queue") | "start_deadline" "=" length | "catch_up" "=" "once within" length
           | "suspended" "=" ("true" | "false")
    """
    word = text.lower()
    if name == "overlap":
        instead = _REFUSED.get(word, (f"{name} has no value `{text}`", "write skip or queue"))
        return word if word in VALUES[name] else instead
    if name == "suspended":
        return _TRUTH.get(word, (f"{name} has no value `{text}`", "write true or false"))
    match = _CATCH_UP.fullmatch(text) if name == "catch_up" else None
    length = text if name == "start_deadline" else match[1] if match else ""
    parts = _PART.findall(length) if _LENGTH.fullmatch(length) else [("-1", "")]
    seconds = sum(int(number) * _UNITS[unit.lower()] for number, unit in parts)
    if name == "catch_up" and not 0 < seconds <= _LONGEST:
        return f"`{text}` does not say how old the missed time may be", "write once within 6h, at most 366d"
    if not 0 <= seconds <= _LONGEST:
        return f"`{text}` is not a length of time of at most 366d", "write a number with s, m, h or d, such as 10m"
    return seconds


def _own(source: Source, places: Mapping[str, Span]) -> list[Diagnostic]:
    """Return the commands outside the compiled lines that say what a policy says."""
    faults: list[Diagnostic] = []
    at, is_inside = 0, False
    for line in lines_of(source.text):
        bare = line.rstrip("\r\n")
        is_inside = (is_inside or BEGIN.fullmatch(bare) is not None) and END.fullmatch(bare) is None
        for name, own in _OWN.items():
            match = own.match(bare) if name in places and not is_inside else None
            if match:
                message = f"the file sets {match[1]}, which {name} in line {places[name].line} writes"
                span = source.span(at + match.start(1), at + match.end(1))
                faults.append(Diagnostic("schedule-policy", message, span=span, help="remove one of the two lines"))
        at += len(line)
    return faults


def meant(comment: str) -> str | None:
    """Return the setting that an unknown one in a comment for crondor may mean, None if there is none."""
    setting = SETTING.fullmatch(comment)
    return next(iter(similar(setting["name"][:30].lower(), MEANINGS)), None) if setting else None
