"""Files and folders that a description names: which of them are there, as far as crondor may look; none is opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

from crondor.check.given import GivenJob, GivenValue
from crondor.knowledge.slips import one_slip
from crondor.macro.files import FileRefused
from crondor.source import Span
from crondor.submit import SubmitFile
from crondor.submit.folders import NAMES as FOLDERS

EXECUTABLE: Final = ("executable", "cmd")
PROGRAM: Final = "the executable"
PROXY: Final = "the proxy"
JOB_FOLDER: Final = "the folder of the job"
_INPUT: Final = ("input", "stdin")
INPUT_LISTS: Final = ("transfer_input_files", "transferinputfiles")
OUTPUT_LISTS: Final = ("transfer_output_files", "transferoutputfiles")
FILE_LISTS: Final = (*INPUT_LISTS, *OUTPUT_LISTS)
_LISTS: Final = (*INPUT_LISTS, "transferinput", "jar_files")
_WRITTEN: Final = ("log", "output", "stdout", "error", "stderr")
_NO_PROGRAM: Final = frozenset(("vm", "13"))  # universes whose executable is a mere name
_AT_HOME: Final = frozenset(("local", "scheduler", "12", "7"))
_VANILLA: Final = frozenset(("vanilla", "5"))
_IN_IMAGE: Final = frozenset(("docker", "container"))
_FALSE: Final = frozenset(("false", "no", "f", "0", "n"))
_MOST_NAMED: Final = 10_000
_MOST: Final = 500  # names of one description that are looked for
_MOST_NAMES: Final = 400  # of a folder in which a name like a missing one is looked for


class NamedFile(NamedTuple):
    """A file or folder that is needed: its name as it is written, where, the path to look for, and for what."""

    name: str
    span: Span
    path: str
    role: str
    is_folder: bool = False


class Places:
    """What a description names within the folders that crondor may look into, ``missing`` what of that is not there.

    ``is_at_home``: some file that it names is there, so that the others can be expected beside it.
    """

    def __init__(self, file: SubmitFile, jobs: tuple[GivenJob, ...]) -> None:
        """Look; nothing is looked for where the reader of the file had no files."""
        self.missing: list[NamedFile] = []
        self.is_at_home = False
        self._files = file.files
        self._names: dict[str, list[str]] = {}
        known: dict[str, str | None] = {}
        named = (each for job in jobs for each in _named(job))
        for each in dict.fromkeys(islice(named, _MOST_NAMED)) if file.files is not None else ():
            if each.path not in known:
                if len(known) >= _MOST:
                    break
                known[each.path] = self.kind(each.path)
            kind = known[each.path]
            if kind == "" and not any(each.path == other.path for other in self.missing):
                self.missing.append(each)
            self.is_at_home = self.is_at_home or (kind == "file")

    def near(self, named: NamedFile) -> str | None:
        """Return a name of the same folder and kind that is one slip from the one that is missing, or None."""
        folder, slash, name = named.path.rstrip("/").rpartition("/")
        if folder not in self._names:
            self._names[folder] = self._names_in(folder)
        small, size, suffix = name.lower(), len(name), _suffix(name)
        like = [each for each in self._names[folder] if -1 <= len(each) - size <= 1 and _suffix(each) == suffix]
        close = (each for each in like if each.lower() == small or one_slip(each.lower(), small))
        kind = "folder" if named.is_folder else "file"
        return next((each for each in close if self.kind(f"{folder}{slash}{each}") == kind), None)

    def kind(self, path: str) -> str | None:
        """Return what a path leads to, nothing where nothing is there; None where crondor may not look."""
        try:
            return self._files.kind(path) if self._files is not None else None
        except FileRefused:
            return None

    def is_executable(self, path: str) -> bool | None:
        """Say whether anybody may execute a file; None where none is there, or crondor may not look."""
        try:
            return self._files.is_executable(path) if self._files is not None else None
        except FileRefused:
            return None

    def _names_in(self, folder: str) -> list[str]:
        try:
            return self._files.names(folder, _MOST_NAMES) if self._files is not None else []
        except FileRefused:
            return []


def _suffix(name: str) -> str:
    return name.lower().rpartition(".")[2] if "." in name else ""


def _named(job: GivenJob) -> Iterator[NamedFile]:
    """Yield what condor_submit, the shadow or the starter will look for on the access point."""
    folder = job.first(*FOLDERS)
    start = folder.text if folder is not None and _is_path(folder.text) else ""
    if folder is not None and not start:
        return
    if folder is not None:
        yield NamedFile(folder.text, folder.span, folder.text, JOB_FOLDER, is_folder=True)
    yield from _program(job)
    yield from _read(job, start)
    for key in _WRITTEN:
        value = job.first(key)
        parent = value.text.rpartition("/")[0] if value is not None and _is_path(value.text) else ""
        if value is not None and parent:
            yield NamedFile(parent, value.span, _below(start, parent), f"the folder of {key}", is_folder=True)


def _read(job: GivenJob, start: str) -> Iterator[NamedFile]:
    """Yield the files that are read when the job is to start."""
    standard = job.first(*_INPUT)
    if standard is not None and _is_path(standard.text) and not _says_no(job.values, "transfer_input"):
        yield NamedFile(standard.text, standard.span, _below(start, standard.text), "the standard input")
    for value in filter(None, map(job.first, _LISTS)):
        for name, span in items_of(value):
            if _is_path(name):
                yield NamedFile(name, span, _below(start, name), "an input file")
    proxy = job.first("x509userproxy")
    if proxy is not None and _is_path(proxy.text):
        yield NamedFile(proxy.text, proxy.span, _below(start, proxy.text), PROXY)
    image = job.first("container_image")
    if image is not None and _is_path(image.text) and ("/" in image.text or image.text.endswith((".sif", ".img"))):
        yield NamedFile(image.text, image.span, _below(start, image.text), "the image of the container")


def _program(job: GivenJob) -> Iterator[NamedFile]:
    """Yield the executable where condor_submit looks for it: from its own folder, not the job's."""
    value, universe = job.first(*EXECUTABLE), job.first("universe", "jobuniverse")
    kind = universe.text.lower() if universe is not None else ""
    if value is None or not _is_path(value.text) or job.first("shell") is not None or kind in _NO_PROGRAM:
        return
    if _stays(job) or (kind == "grid" and job.first("grid_resource") is None):
        return
    resource = job.first("grid_resource")
    if resource is not None and resource.text.lower().startswith(("ec2", "gce", "azure")):
        return
    in_image = kind in _IN_IMAGE or job.first("container_image", "docker_image") is not None
    if not (in_image and value.text.startswith("/")):
        yield NamedFile(value.text, value.span, value.text, PROGRAM)


def is_in_place(job: GivenJob) -> bool:
    """Say whether the executable is started where it lies: on the access point, or where its file system is shared."""
    universe = job.first("universe", "jobuniverse")
    kind = universe.text.lower() if universe is not None else "vanilla"
    in_image = job.first("container_image", "containerimage", "docker_image", "dockerimage") is not None
    return kind in _AT_HOME or (kind in _VANILLA and _stays(job) and not in_image)


def _stays(job: GivenJob) -> bool:
    transfer = job.first("transfer_executable", "transferexecutable")
    return transfer is not None and transfer.text[0] in "fF"


def items_of(value: GivenValue) -> Iterator[tuple[str, Span]]:
    """Yield the items of a list of files with their places: commas part them (SubmitHash::SetTransferFiles)."""
    text, is_literal = value.text, value.is_literal
    at = 0
    if len(text) > 1 and text[0] == text[-1] == '"':
        text, at = text[1:-1], 1
    for item in text.split(","):
        name = item.strip()
        begin = at + item.find(name) if name else at
        if name:
            yield name, value.span.part(begin, begin + len(name)) if is_literal else value.span
        at += len(item) + 1


def _is_path(name: str) -> bool:
    """Say whether a name is that of a file here: no address, nothing that only the match or the job gives."""
    if not name or name.startswith(("docker:", '"', "'")):
        return False  # CRN584 speaks of quotes
    return not any(sign in name for sign in ("://", "$$", "\n"))


def _below(folder: str, name: str) -> str:
    return name if not folder or name.startswith("/") else f"{folder.rstrip('/')}/{name}"


def _says_no(values: Mapping[str, GivenValue], name: str) -> bool:
    value = values.get(name) or values.get(name.replace("_", ""))
    return value is not None and value.text.lower() in _FALSE
