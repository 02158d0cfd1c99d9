"""What an attribute or a call of a function comes to: in the ad where it stands, or in that of a description's job."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from crondor.classad import UNDEFINED, ClassAd, Value, print_value, read_ads
from crondor.diagnostics import CrondorError, Diagnostic, shortened
from crondor.editing.kinds import TextKind
from crondor.editing.reading import ReadText
from crondor.editing.spots import Spot, SpotKind
from crondor.submit import job_ads

_BLANK: Final = re.compile(r"\n[ \t\r]*(?=\n)")
_TARGET: Final = re.compile(r"(?i)\btarget\.$")
_LONGEST: Final = 2000  # characters of a call that is evaluated
_SHOWN: Final = 200


def value_at(text: ReadText, spot: Spot) -> str | None:
    """Return what stands at a place as a value and whose it is, in Markdown; None where there is none to speak of."""
    if text.kind is TextKind.AD:
        ad, whose = _ad_around(text, spot), "in this ad"
    elif text.kind is TextKind.SUBMIT:
        ad, whose = _job(text), "in the first job's ad"
    else:
        return None
    if ad is None:
        return None
    try:
        if spot.kind is SpotKind.FUNCTION:
            call = _call(text.source.text, spot.span.start)
            return None if call is None else _said(ad.evaluate(call, sample_machine(), text.settings.context), whose)
        name = spot.name.rpartition(".")[2]
        if _TARGET.search(text.source.text, max(0, spot.span.start - 20), spot.span.start) or name not in ad:
            machine = sample_machine()
            return _said(machine.value(name), "of a sample machine") if name in machine else None
        return _said(ad.value(name, sample_machine(), text.settings.context), whose)
    except CrondorError:
        return None


@cache
def sample_machine() -> ClassAd:
    """Return the ad of a machine such as many pools have: what stands for TARGET where no machine is known."""
    return ClassAd(
        {
            "Machine": "worker.example.org",
            "Arch": "X86_64",
            "OpSys": "LINUX",
            "OpSysAndVer": "AlmaLinux9",
            "OpSysMajorVer": 9,
            "Cpus": 8,
            "Memory": 16384,
            "Disk": 100_000_000,
            "GPUs": 0,
            "State": "Unclaimed",
            "Activity": "Idle",
            "HasFileTransfer": True,
        }
    )


def _said(value: Value, whose: str) -> str | None:
    shown = print_value(value)
    shown = shortened(shown, _SHOWN)
    fence = "``" if "`" in shown else "`"
    return f"{whose}: {fence}{shown}{fence}" if value is not UNDEFINED else f"{whose}: undefined"


def _ad_around(text: ReadText, spot: Spot) -> ClassAd | None:
    """Return the ad that a place stands in: of ``-long`` ads the one between blank lines."""
    whole, at = text.source.text, spot.span.start
    if not whole.lstrip().startswith(("[", "{", "<")):
        ends = [found.start() + 1 for found in _BLANK.finditer(whole)]
        begin = max((end for end in ends if end <= at), default=0)
        end = min((end for end in ends if end > at), default=len(whole))
        return next(iter(read_ads(whole[begin:end], report=_ignore)), None)
    name = spot.name.rpartition(".")[2]
    return next((ad for ad in read_ads(whole, report=_ignore) if spot.kind is SpotKind.FUNCTION or name in ad), None)


def _ignore(_: Diagnostic) -> None:
    """Pass over what is wrong with an ad: it is a finding already."""


def _job(text: ReadText) -> ClassAd | None:
    submit = text.jobs.submit
    try:
        return None if submit is None else next((made.ad for made in job_ads(submit, limit=1000)), None)
    except CrondorError:
        return None


def _call(text: str, begin: int) -> str | None:
    """Return a call of a function, up to its closing parenthesis on the same line; None where that is not there."""
    depth, quote = 0, ""
    for at in range(begin, min(len(text), begin + _LONGEST)):
        character = text[at]
        if character == "\n":
            return None
        if quote:
            quote = "" if character == quote and text[at - 1] != "\\" else quote
        elif character in "\"'":
            quote = character
        elif character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
            if depth == 0:
                return text[begin : at + 1]
    return None
