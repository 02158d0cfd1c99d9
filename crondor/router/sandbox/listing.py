"""Which files a sandbox has: those that a job needs, and those that it has made.

HTCondor: FileTransfer::ExpandInputFileList.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic
from crondor.router.sandbox.faults import FilesRefused, fault, warning
from crondor.router.sandbox.reach import Reach
from crondor.router.sandbox.rewriting import NOWHERE, base, is_false, is_true, is_url, listed, text
from crondor.router.sandbox.spool import Known
from crondor.router.table.remaps import EndlessRemaps, remapped

_LINKS_SKIPPED: Final = "a link to a folder is not followed"


@dataclass(frozen=True)
class SandboxLimits:
    """How much one sandbox may hold: bytes, files and folders, and how deep folders stand in one another."""

    most_bytes: int = 1 << 40
    most_files: int = 100_000
    deepest: int = 64


class SandboxItem(NamedTuple):
    """A file or folder to copy: from where, to where, the permissions of its mode."""

    source: str
    target: str
    mode: int
    is_folder: bool


@dataclass
class Listing:
    """What is to be copied, folders before what is in them; what is wrong, and what was passed over."""

    limits: SandboxLimits
    is_output: bool = False
    items: list[SandboxItem] = field(default_factory=list)
    faults: list[Diagnostic] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)
    _bytes: int = 0

    def add(self, item: SandboxItem, size: int = 0) -> None:
        """Note a file of a size in bytes, or a folder. Raises FilesRefused where it is too much."""
        self.items.append(item)
        self._bytes += size
        if len(self.items) > self.limits.most_files:
            message = f"a sandbox may hold no more than {self.limits.most_files:,} files"
            raise FilesRefused(fault("sandbox-large", message, item.source))
        if self._bytes > self.limits.most_bytes:
            message = f"a sandbox may hold no more than {self.limits.most_bytes:,} bytes"
            raise FilesRefused(fault("sandbox-large", message, item.source))

    def check(self) -> None:
        """Raise FilesRefused with all that is wrong, if anything is."""
        if self.faults:
            raise FilesRefused(self.faults)

    def tree(self, reach: Reach, path: str, target: str, depth: int = 0) -> None:
        """Note a file, or a folder with all that is in it. Raises FilesRefused."""
        state = reach.state(path)
        if stat.S_ISREG(state.st_mode):
            with reach.file(path):
                pass
            self.add(SandboxItem(path, target, stat.S_IMODE(state.st_mode) & 0o777, is_folder=False), state.st_size)
        elif stat.S_ISDIR(state.st_mode):
            self.add(SandboxItem(path, target, stat.S_IMODE(state.st_mode) & 0o777, is_folder=True))
            self.inside(reach, path, f"{target}/", depth)
        elif stat.S_ISFIFO(state.st_mode) or stat.S_ISSOCK(state.st_mode):
            self.warnings.append(warning("spool-special", f"{path} is a pipe or a socket: it is not copied", path))
        else:
            raise FilesRefused(fault("spool-special", f"{path} is neither a plain file nor a folder", path))

    def inside(self, reach: Reach, path: str, prefix: str, depth: int = 0) -> None:
        """Note all that is in a folder. Raises FilesRefused."""
        if depth > self.limits.deepest:
            message = f"folders may stand in one another no more than {self.limits.deepest} deep"
            raise FilesRefused(fault("sandbox-deep", message, path))
        for name in names(reach, path):
            below = f"{path.rstrip('/')}/{name}"
            if os.path.islink(below) and os.path.isdir(below):  # noqa: PTH112, PTH114 - what is there is checked later
                self.warnings.append(warning("file-link", f"{below}: {_LINKS_SKIPPED}", below))
                continue
            try:
                self.tree(reach, below, f"{prefix}{name}", depth + 1)
            except FilesRefused as error:
                if any(each.kind.startswith("sandbox-") for each in error.diagnostics):
                    raise
                if self.is_output and os.path.islink(below):  # noqa: PTH114 - as above
                    self.skip_link(below)
                else:
                    self.faults += error.diagnostics

    def skip_link(self, path: str) -> None:
        """Note that a link of the output is left where it is."""
        self.warnings.append(warning("file-link", f"{path}: a link out of the sandbox is not followed", path))


def names(reach: Reach, path: str) -> list[str]:
    """Return the names in a folder, in order. Raises FilesRefused."""
    with reach.folder(path) as opened:
        return sorted(os.listdir(opened.descriptor))  # noqa: PTH208 - a folder that is open


def expanded(ad: ClassAd, reach: Reach) -> str | None:
    """Return TransferInput with each folder that ends with a slash replaced by what is in it; None: as it is.

    So the schedd can name what is in the spool without looking (HTCondor's ``ExpandInputFileList``). Raises
    FilesRefused with all the folders that cannot be read.
    """
    given = text(ad, "TransferInput")
    entries = listed(given)
    found: list[str] = []
    faults: list[Diagnostic] = []
    for entry in entries:
        if is_url(entry) or not entry.endswith("/"):
            found.append(entry)
            continue
        try:
            found += [f"{entry}{name}" for name in names(reach, _full(ad, entry))]
        except FilesRefused as error:
            faults += error.diagnostics
    commas = [entry for entry in found if "," in entry]
    faults += [fault("file-comma", f"{each}: no name in a list of files can have a comma", each) for each in commas]
    if faults:
        raise FilesRefused(faults)
    return None if given is None or found == entries else ",".join(found)


def input_entries(ad: ClassAd) -> list[str]:
    """Return the files that a job needs, as its ad names them, each once; not those that its site fetches by itself."""
    entries = [*listed(text(ad, "TransferInput")), *listed(text(ad, "PublicInputFiles"))]
    if not is_false(ad, "TransferIn"):
        entries.append(text(ad, "In") or "")
    entries += [text(ad, "DataReuseManifestSHA256") or "", text(ad, "x509userproxy") or ""]
    if not is_false(ad, "TransferExecutable"):
        entries.append(text(ad, "Cmd") or "")
    return list(dict.fromkeys(each for each in entries if each not in NOWHERE and not is_url(each)))


def inputs(ad: ClassAd, reach: Reach, limits: SandboxLimits) -> Listing:
    """Return what goes into the sandbox of a job whose ad is not rewritten yet. Raises FilesRefused for too much.

    Of two files of a name the later one is there in the end, as in HTCondor, and a warning says so.
    """
    listing = Listing(limits)
    keeps = is_true(ad, "PreserveRelativePaths")
    seen: dict[str, str] = {}
    for entry in input_entries(ad):
        path = _full(ad, entry)
        name = entry if keeps and not entry.startswith("/") else base(entry)
        if not is_legal(name):
            listing.faults.append(fault("spool-outside", f"{entry} has no name that it could have in a sandbox", entry))
            continue
        if seen.setdefault(name, path) != path:
            message = f"{seen[name]} and {path} are both {name} in the sandbox: the latter takes the place"
            listing.warnings.append(warning("sandbox-twice", message, path, "rename one of them"))
        for folder in _parents(name):
            listing.add(SandboxItem("", folder, 0o700, is_folder=True))
        try:
            listing.tree(reach, path, name)
        except FilesRefused as error:
            if any(each.kind.startswith("sandbox-") for each in error.diagnostics):
                raise
            listing.faults += error.diagnostics
    return listing


def outputs(
    ad: ClassAd, place: str, known: dict[str, Known], reach: Reach, limits: SandboxLimits, uploaded: str = ""
) -> Listing:
    """Return what of a sandbox is brought back, and where to; the ad is as it was before spooling.

    SpooledOutputFiles or else TransferOutput name the files, the job's output and errors go with them; a job with
    neither has all files brought back that are new or have changed. ``uploaded`` are the remaps by which the site has
    sent files elsewhere; those are not here. Raises FilesRefused for too much.
    """
    listing = Listing(limits, is_output=True)
    chosen = text(ad, "SpooledOutputFiles")
    chosen = text(ad, "TransferOutput") if chosen is None else chosen
    streams = _streams(ad)
    if chosen is None:
        wanted = _changed(ad, place, known, reach, listing)
        lost = [each for each in streams if not os.path.lexists(f"{place}/{each}")]
        listing.warnings += [warning("output-missing", f"{each} is not in the sandbox", each) for each in lost]
    else:
        wanted = [each for each in dict.fromkeys([*listed(chosen), *streams]) if not _is_uploaded(each, uploaded)]
    rules, iwd = text(ad, "TransferOutputRemaps") or "", text(ad, "Iwd") or ""
    for name in wanted:
        found = _output(name, place, reach, limits)
        listing.faults += found.faults
        listing.warnings += found.warnings
        for item in found.items:
            target = _target(item.target, rules, iwd, listing)
            if target is not None:
                size = 0 if item.is_folder else os.lstat(item.source).st_size
                listing.add(item._replace(target=target), size)
    return listing


def _streams(ad: ClassAd) -> list[str]:
    """Return the files of a job's output and errors that are not streamed."""
    named = [
        text(ad, name) for name, streamed in (("Out", "StreamOut"), ("Err", "StreamErr")) if not is_true(ad, streamed)
    ]
    return [name for name in named if name is not None and name not in NOWHERE]


def _output(name: str, place: str, reach: Reach, limits: SandboxLimits) -> Listing:
    """Return a file or a folder of a sandbox by the name that the ad gives it; a fault leaves it out as a whole."""
    listing = Listing(limits, is_output=True)
    entry = name if os.path.lexists(f"{place}/{name}") else base(name)
    if not is_legal(entry):
        listing.faults.append(fault("spool-outside", f"{name} is no name of a file in a sandbox", name))
    elif not os.path.lexists(f"{place}/{entry}"):
        message = f"{name} is not in the sandbox: the job has not made it"
        listing.faults.append(fault("output-missing", message, name))
    else:
        try:
            listing.tree(reach, f"{place}/{entry}", base(entry))
        except FilesRefused as error:
            return Listing(limits, faults=list(error.diagnostics))
    return listing


def _is_uploaded(name: str, rules: str) -> bool:
    try:
        return is_url(name) or is_url(remapped(rules, name) or "")
    except EndlessRemaps:
        return False


def _changed(ad: ClassAd, place: str, known: dict[str, Known], reach: Reach, listing: Listing) -> list[str]:
    """Return the files of a sandbox, not of its folders, that the job has made or changed."""
    own = {base(text(ad, name) or "") for name in ("Cmd", "x509userproxy")}
    found = []
    for name in names(reach, place):
        if name in own:
            continue
        path = f"{place}/{name}"
        state = os.lstat(path)
        if stat.S_ISLNK(state.st_mode):
            try:
                state = reach.state(path)
            except FilesRefused:
                listing.skip_link(path)
                continue
        if stat.S_ISREG(state.st_mode) and known.get(name) != Known(state.st_size, state.st_mtime_ns):
            found.append(name)
    return found


def _target(name: str, rules: str, iwd: str, listing: Listing) -> str | None:
    try:
        found = remapped(rules, name)
    except EndlessRemaps:
        listing.faults.append(fault("endless-remaps", f"TransferOutputRemaps lead on from {name} without end", name))
        return None
    place = name if found is None else found
    if is_url(place):
        return None
    if place.endswith("/"):
        place += base(name)
    if base(place) in (".", "..") or not (iwd or place.startswith("/")):
        listing.faults.append(fault("spool-outside", f"{name} would go to {place}, which is no name of a file", name))
        return None
    return place if place.startswith("/") else f"{iwd}/{place}"


def _parents(name: str) -> Iterator[str]:
    pieces = name.split("/")[:-1]
    for number in range(len(pieces)):
        yield "/".join(pieces[: number + 1])


def is_legal(name: str) -> bool:
    """Say whether a name is one of something in a sandbox, and leads nowhere else."""
    pieces = name.split("/")
    return all(piece not in ("", ".", "..") and "\0" not in piece for piece in pieces)


def _full(ad: ClassAd, path: str) -> str:
    return path if path.startswith("/") else f"{text(ad, 'Iwd') or '.'}/{path}"
