"""What the router asks of a job's ad; whatever is not of the kind that is asked for counts as missing."""

from __future__ import annotations

import re
from typing import Final

from crondor.classad import Context, truth
from crondor.classad.ad import ClassAd
from crondor.diagnostics import CrondorError
from crondor.queued import JobStatus

EXTERNAL: Final = "External"
SCHEDD: Final = "Schedd"
SCHEDD_DONE: Final = "ScheddDone"

ROUTED_BY: Final = "RoutedBy"
ROUTED_FROM: Final = "RoutedFromJobId"
ROUTED_TO: Final = "RoutedToJobId"
ROUTE_NAME: Final = "RouteName"
HOLD_COPIED: Final = "HoldCopiedFromTargetJob"

RUNNING: Final = (JobStatus.RUNNING, JobStatus.TRANSFERRING_OUTPUT)


_DIGITS: Final = re.compile(r"0|[1-9][0-9]{0,17}").fullmatch
_STRING: Final = re.compile(r'"[ !#-\[\]-~]*"').fullmatch
_STATUS: Final = {int(status): status for status in JobStatus}


def string(ad: ClassAd, name: str) -> str | None:
    """Return an attribute's value where it is a string."""
    value = _value(ad, name)
    return value if isinstance(value, str) else None


def integer(ad: ClassAd, name: str) -> int | None:
    """Return an attribute's value where it is a number; true is 1, as HTCondor reads it."""
    value = _value(ad, name)
    return int(value) if isinstance(value, (int, float)) and value == value else None  # noqa: PLR0124 - NaN is none


def is_true(ad: ClassAd, name: str, context: Context | None = None) -> bool:
    """Say whether an attribute is true, or a number that is not zero."""
    value = _value(ad, name, context)
    return value is not None and truth(value) is True  # type: ignore[arg-type]


def status(ad: ClassAd | None) -> JobStatus | None:
    """Return a job's status, None for one that HTCondor does not have."""
    number = None if ad is None else integer(ad, "JobStatus")
    return None if number is None else _STATUS.get(number)


def is_managed_by(ad: ClassAd, name: str) -> bool:
    """Say whether a router of this name has a job."""
    return string(ad, "Managed") == EXTERNAL and string(ad, "ManagedManager") == name


def _value(ad: ClassAd, name: str, context: Context | None = None) -> object:
    text = ad.codes.get(name.lower())
    if text is None:
        return None
    if text.__class__ is str:  # what most attributes are can be told by looking
        if _DIGITS(text):
            return int(text)
        if _STRING(text):
            return text[1:-1]
    try:
        return ad.value(name) if context is None else ad.value(name, None, context)
    except CrondorError:  # a text that is no expression, or one without a value
        return None
