"""What spooling writes into a job's ad, and how it is undone to bring the output back.

What the schedd of HTCondor 25.14 does (``rewriteSpooledJobAd``): the job then runs in its folder of the spool, its
files are named without their folders, and what was there before is kept as SUBMIT_...
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crondor.classad import Expression, lower
from crondor.classad.ad import ClassAd
from crondor.job import attributes

PREFIX: Final = "SUBMIT_"
MARK: Final = "SUBMIT_Iwd"
"""A job that has it was rewritten."""

STDOUT: Final = "_condor_stdout"
STDERR: Final = "_condor_stderr"
NOWHERE: Final = ("", "/dev/null")
UNDEFINED: Final = Expression("undefined")
_REMAPS: Final = "TransferOutputRemaps"
_NAMES: Final = (
    ("Cmd", "TransferExecutable"),
    ("In", "TransferIn"),
    ("TransferInput", ""),
    ("UserLog", ""),
    ("x509userproxy", ""),
    ("DataReuseManifestSHA256", ""),
)


def text(ad: ClassAd, name: str) -> str | None:
    """Return an attribute's value where it is a string."""
    return attributes.string(ad, name)


def is_true(ad: ClassAd, name: str) -> bool:
    """Say whether an attribute is there and true."""
    return attributes.boolean(ad, name) is True


def is_false(ad: ClassAd, name: str) -> bool:
    """Say whether an attribute is there and false."""
    return attributes.boolean(ad, name) is False


def is_url(path: str) -> bool:
    """Say whether an entry of a list of files is fetched where the job runs, and not from here."""
    scheme, found, _ = path.partition("://")
    return bool(found) and scheme.replace("+", "").replace("-", "").replace(".", "").isalnum()


def listed(value: str | None) -> list[str]:
    """Return the entries of a list of files."""
    return [] if value is None else [stripped for each in value.split(",") if (stripped := each.strip())]


def base(path: str) -> str:
    """Return the last piece of a path, empty where it ends with a slash."""
    return path.rpartition("/")[2]


def kept_apart(ad: ClassAd) -> dict[str, object]:
    """Return the edits that keep a copy's own output and errors in its sandbox until they are brought back.

    That is what condor_submit -spool does; HTCondor's router does not, and a copy with an Out in another folder writes
    there while it runs, or fails.
    """
    edits: dict[str, object] = {}
    remaps = text(ad, _REMAPS) or ""
    places: dict[str, str] = {}
    for name, stream, working in (("Out", "StreamOut", STDOUT), ("Err", "StreamErr", STDERR)):
        place = text(ad, name)
        if place is None or place in NOWHERE or "/" not in place or is_true(ad, stream):
            continue
        if place not in places:
            places[place] = working
            escaped = place.replace(";", "\\;")
            remaps = ";".join(filter(None, (remaps.rstrip("; "), f"{working}={escaped}")))
        edits[name] = places[place]
    if places:
        edits[_REMAPS] = remaps
    return edits


def rewritten(ad: ClassAd, place: str) -> dict[str, object]:
    """Return the edits that make a job run in its folder of the spool; none where they were made already."""
    if MARK in ad:
        return {}
    iwd = text(ad, "Iwd")
    edits: dict[str, object] = {MARK: UNDEFINED if iwd is None else iwd, "Iwd": place}
    edits |= dict(_remaps(ad))
    for name, transfers in _NAMES:
        before = text(ad, name)
        if before is None or before in NOWHERE or (transfers and is_false(ad, transfers)):
            continue
        after = ",".join(_in_sandbox(ad, before)) if name == "TransferInput" else base(before)
        if after != before:
            edits[PREFIX + name] = before
            edits[name] = after
    return edits


def _remaps(ad: ClassAd) -> Iterator[tuple[str, object]]:
    """Yield what becomes of the remaps: those to URLs are for the site, the others wait for the output."""
    saved, left = PREFIX + _REMAPS, ""
    if _REMAPS in ad:
        rules = text(ad, _REMAPS)
        if rules is None:
            yield saved, ad[_REMAPS]
        else:
            each = [rule.strip() for rule in rules.split(";") if rule.strip()]
            left = ";".join(rule for rule in each if is_url(rule.partition("=")[2].strip()))
            yield saved, ";".join(rule for rule in each if not is_url(rule.partition("=")[2].strip()))
    elif saved in ad:
        yield saved, UNDEFINED
    yield _REMAPS, left or UNDEFINED


def _in_sandbox(ad: ClassAd, files: str) -> Iterator[str]:
    keeps = is_true(ad, "PreserveRelativePaths")
    for path in listed(files):
        yield path if is_url(path) or (keeps and not path.startswith("/")) else base(path)


def fresh(ad: ClassAd) -> ClassAd:
    """Return a copy's ad without what spooling its source has left in it, which would lead its own files astray."""
    made = ad.copy()
    for name in list(ad):
        if lower(name).startswith(lower(PREFIX)):
            made.prune(name)
    return made


def restored(ad: ClassAd) -> ClassAd:
    """Return a rewritten job's ad as it was before."""
    made = ad.flat()
    for name in list(ad):
        if lower(name).startswith(lower(PREFIX)):
            made.set_text(name[len(PREFIX) :], ad.text(name))
    return made
