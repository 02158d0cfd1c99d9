"""The values that a description gives its jobs: its expressions, the files and macros it names, the policies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

from crondor.diagnostics import Span
from crondor.knowledge import CommandType, submit_commands
from crondor.knowledge.words import one_slip
from crondor.macro.expand import MacroFound, MacroKind, Scanner
from crondor.macro.files import FileRefused
from crondor.submit import InvalidSubmit, JobGroup, SubmitFile
from crondor.submit.facts import FOLDER_NAMES as FOLDERS

_MOST_VALUES = 100_000  # of all different jobs; a mistake is hardly in the fiftieth job only
_FEWEST_JOBS = 5
_MOST_JOBS = 50


MATCHING: Final = frozenset(("requirements", "my.requirements", "rank", "my.rank", "preferences"))
"""Expressions that see the machine's ad besides the job's."""

_CONDITIONS: Final = frozenset(("requirements", "my.requirements"))
OF_GPUS: Final = ("require_gpus", "requiregpus", "my.requiregpus")
"""Evaluated in the ad of each GPU, which has only its properties."""

AMOUNTS: Final = {
    "request_memory": 1024 * 1024,
    "requestmemory": 1024 * 1024,
    "request_disk": 1024,
    "requestdisk": 1024,
}
"""Commands whose numbers may have a unit, K, M, G or T, with the bytes of the unit of a plain number."""

_PLAIN: Final = re.compile(r'[-+]?\d+(\.\d+)?|(?i:true|false|undefined)|"[^"\\]*"')
AMOUNT: Final = re.compile(r"(?P<number>\d+(?:\.\d+)?)[ \t]*(?P<unit>[kmgt]b?)?", re.IGNORECASE)
_UNITS: Final = {"": 0, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_DIGITS: Final = 15
_HOLE: Final = re.compile(
    r"\{\w*\}"
)  # {name}, a placeholder of Python's str.format; to ClassAds it is a list of one name
MOST: Final = 2000  # expressions of one description that are read
LONGEST: Final = 20_000  # characters of one expression; longer ones are not written by a person


class GivenValue(NamedTuple):
    """A value of some job: the lower-case name, the expanded text, and its place."""

    key: str
    text: str
    span: Span

    @property
    def is_literal(self) -> bool:
        """Whether the text is in the file literally, without a macro and on one line."""
        return self.span.text == self.text

    def place(self, start: int, end: int) -> Span:
        """Return the place of some characters of the text: the whole value if macros were expanded in it."""
        return self.span.part(start, end) if self.is_literal else self.span


class GivenJob(NamedTuple):
    """Equal jobs of one queue statement, their values by lower-case name, and how many they are."""

    values: Mapping[str, GivenValue]
    queue: Span | None
    number: int = 1

    def first(self, *names: str) -> GivenValue | None:
        """Return the value of the first of some names that has one, None if none has."""
        return next((self.values[name] for name in names if name in self.values and self.values[name].text), None)


class GivenValues:
    """The values of a file's jobs; ``all`` has each once, however many jobs have it."""

    def __init__(self, file: SubmitFile | None) -> None:
        """Expand them for a limited number of jobs; a file that cannot be read has none."""
        self.jobs = tuple(_jobs(file)) if file is not None else ()
        seen: dict[tuple[str, str, int], GivenValue] = {}
        before: Mapping[str, GivenValue] = {}
        for job in self.jobs:
            for key, value in job.values.items():
                if before.get(key) is not value:
                    seen.setdefault((key, value.text, value.span.start), value)
            before = job.values
        self.all = tuple(seen.values())
        self._named: dict[str, list[GivenValue]] = {}
        for value in self.all:
            self._named.setdefault(value.key, []).append(value)

    def of(self, names: Iterable[str]) -> Iterator[GivenValue]:
        """Yield the values of some lower-case names, in the order of the names."""
        for name in names:
            yield from self._named.get(name, ())


def _jobs(file: SubmitFile) -> Iterator[GivenJob]:
    names = {name for queue in file.queues for name in queue.arguments.variables}
    keys = (*file.keys, *sorted(names - set(file.keys)))
    limit = max(_FEWEST_JOBS, min(_MOST_JOBS + len(file.queues), _MOST_VALUES // max(1, len(keys))))
    groups = file.groups(keys, limit)
    before: Mapping[str, GivenValue] = {}
    try:
        for group in groups:
            job = _job(group, before)
            before = job.values
            yield job
    except InvalidSubmit:  # the rules about reading report it
        return


def _job(group: JobGroup, before: Mapping[str, GivenValue]) -> GivenJob:
    """Return equal jobs; a value equal to that of the jobs before is the same object."""
    values = {}
    for key, text in group.values.items():
        value, span, stripped = before.get(key), group.spans[key], text.strip()
        is_same = value is not None and value.span is span and value.text == stripped
        values[key] = value if value is not None and is_same else GivenValue(key, stripped, span)
    return GivenJob(values, group.queue, group.count)


def is_expression(key: str) -> bool:
    """Return whether condor_submit puts the value of a lower-case name into the job ad as an expression."""
    if key.startswith("my.") or key in AMOUNTS:
        return True
    command = submit_commands().get(key)
    return command is not None and command.type is CommandType.EXPRESSION and command.name not in OF_GPUS


def is_plain(key: str, text: str) -> bool:
    """Return whether a value is just a number, a truth value, an amount or a string, with nothing to check.

    So is a text with a template's placeholder; but a string is checked where a condition is expected.
    """
    if not text or (key in AMOUNTS and AMOUNT.fullmatch(text)) or _HOLE.fullmatch(text):
        return True
    return _PLAIN.fullmatch(text) is not None and not (text[0] == '"' and key in _CONDITIONS)


def is_same(value: GivenValue, attribute: GivenValue) -> bool:
    """Return whether a request and the attribute of the same name are the same amount, or text."""
    if value.text.lower() == attribute.text.lower():
        return True
    found = AMOUNT.fullmatch(value.text)
    if found is None or not attribute.text.isdecimal() or len(attribute.text) > _DIGITS:
        return False
    base = AMOUNTS.get(value.key, 1)
    unit = _UNITS[(found["unit"] or "")[:1].lower()] or base
    return float(found["number"]) * unit == int(attribute.text) * base


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
_NO_PROGRAM: Final = frozenset(("vm", "13"))  # universes whose executable is only a label
_AT_HOME: Final = frozenset(("local", "scheduler", "12", "7"))
_VANILLA: Final = frozenset(("vanilla", "5"))
_IN_IMAGE: Final = frozenset(("docker", "container"))
_FALSE: Final = frozenset(("false", "no", "f", "0", "n"))
_MOST_NAMED: Final = 10_000
_MOST_LOOKS: Final = 500  # names of one description that are checked
_MOST_NAMES: Final = 400  # of a folder, searched for a name similar to a missing one


class NamedFile(NamedTuple):
    """A file or folder that is needed: its name as written, the place, the path to check, and its role."""

    name: str
    span: Span
    path: str
    role: str
    is_folder: bool = False


class Places:
    """The files a description names in folders that crondor may read; ``missing`` are those that do not exist.

    ``is_at_home``: some named file exists, so that the others can be expected too.
    """

    def __init__(self, file: SubmitFile, jobs: tuple[GivenJob, ...]) -> None:
        """Check them; nothing is checked if the reader of the file had no files."""
        self.missing: list[NamedFile] = []
        self.is_at_home = False
        self._files = file.files
        self._names: dict[str, list[str]] = {}
        known: dict[str, str | None] = {}
        named = (each for job in jobs for each in _named(job))
        for each in dict.fromkeys(islice(named, _MOST_NAMED)) if file.files is not None else ():
            if each.path not in known:
                if len(known) >= _MOST_LOOKS:
                    break
                known[each.path] = self.kind(each.path)
            kind = known[each.path]
            if kind == "" and not any(each.path == other.path for other in self.missing):
                self.missing.append(each)
            self.is_at_home = self.is_at_home or (kind == "file")

    def near(self, named: NamedFile) -> str | None:
        """Return a name of the same folder and kind that is one slip from the missing one, or None."""
        folder, slash, name = named.path.rstrip("/").rpartition("/")
        if folder not in self._names:
            self._names[folder] = self._names_in(folder)
        small, size, suffix = name.lower(), len(name), _suffix(name)
        like = [each for each in self._names[folder] if -1 <= len(each) - size <= 1 and _suffix(each) == suffix]
        close = (each for each in like if each.lower() == small or one_slip(each.lower(), small))
        kind = "folder" if named.is_folder else "file"
        return next((each for each in close if self.kind(f"{folder}{slash}{each}") == kind), None)

    def kind(self, path: str) -> str | None:
        """Return what kind of file a path leads to, empty if none; None if crondor may not look."""
        try:
            return self._files.kind(path) if self._files is not None else None
        except FileRefused:
            return None

    def is_executable(self, path: str) -> bool | None:
        """Return whether anybody may execute a file; None if it does not exist, or crondor may not look."""
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
    """Yield the files that condor_submit, the shadow or the starter reads on the access point."""
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
    """Yield the files that are read when the job starts."""
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
    """Yield the executable at the place where condor_submit expects it: relative to its own folder, not the job's."""
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
    """Return whether the executable is started in place: on the access point, or on a shared file system."""
    universe = job.first("universe", "jobuniverse")
    kind = universe.text.lower() if universe is not None else "vanilla"
    in_image = job.first("container_image", "containerimage", "docker_image", "dockerimage") is not None
    return kind in _AT_HOME or (kind in _VANILLA and _stays(job) and not in_image)


def _stays(job: GivenJob) -> bool:
    transfer = job.first("transfer_executable", "transferexecutable")
    return transfer is not None and transfer.text[0] in "fF"


def items_of(value: GivenValue) -> Iterator[tuple[str, Span]]:
    """Yield the items of a list of files with their places, separated by commas (SubmitHash::SetTransferFiles)."""
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
    """Return whether a name is that of a local file: not an address, nothing that depends on the match or the job."""
    if not name or name.startswith(("docker:", '"', "'")):
        return False  # CRN584 reports quotes
    return not any(sign in name for sign in ("://", "$$", "\n"))


def _below(folder: str, name: str) -> str:
    return name if not folder or name.startswith("/") else f"{folder.rstrip('/')}/{name}"


def _says_no(values: Mapping[str, GivenValue], name: str) -> bool:
    value = values.get(name) or values.get(name.replace("_", ""))
    return value is not None and value.text.lower() in _FALSE


AS_WRITTEN: Final = ("ec2_parameter_", "transform_body_", "transformbody_")  # whose meaning depends on others
_OF_FILES: Final = re.compile(r"F[pnxdqabfwuPNXDQABFWU]*")
_OF_DAGS: Final = frozenset(("job", "retry", "dag_status", "failed_count", "dagmanjobid", "dag_parent_names", "dollar"))
_MOST_USES: Final = 20_000  # references that are examined


class MacroUse(NamedTuple):
    """A reference without a default to a macro, by its lower-case name."""

    name: str
    span: Span
    key: str = ""  # whose value contains it; empty for a queue statement
    is_alone: bool = False  # whether it is the whole value


class Macros:
    """The macros of a description: ``defined`` by it or by HTCondor, ``unknown`` if by neither.

    ``late`` are defined only after the queue statement that uses them.
    """

    def __init__(self, file: SubmitFile) -> None:
        """Examine every value that a job may have, and the queue statements."""
        variables = {name for queue in file.queues for name in queue.arguments.variables}
        self.defined = frozenset((*file.keys, *variables, "item"))
        self.used: set[str] = set()
        unknown: dict[str, MacroUse] = {}
        left = _MOST_USES
        for use in _uses(file):
            left -= 1
            if left < 0:
                break
            self.used.add(use.name)
            is_known = f"submit.{use.name}" in self.defined or use.name in self.defined or use.name in _OF_DAGS
            if not is_known and use.name not in unknown and not file.provides(use.name):
                unknown[use.name] = use
        self.unknown = tuple(unknown.values())
        self.late = tuple(_late(file)) if len(file.queues) == 1 and file.behind_queue is not None else ()


def _late(file: SubmitFile) -> Iterator[MacroUse]:
    """Yield the macros that the only queue statement uses and that are defined after it."""
    (queue,) = file.queues
    first: dict[str, int] = {}
    for key, definition in file.definitions:
        first.setdefault(key, definition.version)
    late = {key for key, version in first.items() if version > queue.version} - set(queue.arguments.variables)
    told: set[str] = set()
    for use in _uses(file, queue.version) if late else ():
        if use.name in late - told and not file.provides(use.name):
            told.add(use.name)
            yield use


def _uses(file: SubmitFile, until: int | None = None) -> Iterator[MacroUse]:
    """Yield the macros that queue statements refer to, and values of names defined until a version."""
    for key, definition in file.definitions:
        if "$" in definition.text and not key.startswith(AS_WRITTEN) and (until is None or definition.version <= until):
            yield from _of_text(definition.text, definition.span, key)
    for queue in file.queues[:_MOST_USES] if until is None else ():
        if "$" in queue.span.text:
            yield from _of_text(queue.span.text.partition("\n")[0], queue.span)


def _of_text(text: str, span: Span, key: str = "") -> Iterator[MacroUse]:
    scanner, place, whole = Scanner(text), places_in(span, text), text.strip()
    at = text.find("$")
    while at >= 0:
        found = scanner.scan(at)
        name = _name(text, found)
        if name:
            yield MacroUse(name, place(found.at, found.end), key, text[found.at : found.end] == whole)
        at = text.find("$", found.resume)


def _name(text: str, found: MacroFound) -> str:
    """Return the macro that a reference needs, empty if it has a default."""
    if found.kind is MacroKind.MACRO:
        return found.name if found.default < 0 else ""
    if found.kind is MacroKind.FUNCTION and _OF_FILES.fullmatch(found.name):
        body = text[text.index("(", found.at) + 1 : found.end - 1]
        return body.lower() if re.fullmatch(r"[\w.]+", body) else ""
    return ""


def places_in(span: Span, text: str) -> Callable[[int, int], Span]:
    """Return a function that gives the place of parts of a definition, called in their order.

    They are in its own text, or found by their text if lines were joined.
    """
    written = span.text
    if written.startswith(text):
        return span.part
    at = 0

    def found(start: int, end: int) -> Span:
        nonlocal at
        here = written.find(text[start:end], at)
        if here < 0:
            return span
        at = here
        return span.part(here, here + end - start)

    return found


ARGUMENTS: Final = ("arguments", "args")
_SHELL: Final = re.compile(r"(?:.*/)?(?:(?:ba|da|k|z|c|tc|fi|mk)?sh|busybox|cmd(?:\.exe)?|powershell(?:\.exe)?|pwsh)")
_CALLED: Final = re.compile(r"(?:^|[\s\"'/])(?:ba|da|k|z|c|tc)?sh[\s\"']|\beval\b|<<<")


def has_shell(job: GivenJob) -> bool:
    """Return whether a shell may read a job's arguments: the program is one, calls one, or is unknown."""
    program, arguments = job.first(*EXECUTABLE), job.first(*ARGUMENTS)
    if program is None or "$$" in program.text or job.first("shell") is not None:
        return True
    return _SHELL.fullmatch(program.text) is not None or (
        arguments is not None and _CALLED.search(arguments.text) is not None
    )


# condor_submit puts attributes with + or MY. into the ad last, so these win.
POLICY_NAMES: Final = {
    attribute: (f"my.{attribute.lower()}", command, attribute.lower())
    for attribute, command in (
        ("OnExitRemove", "on_exit_remove"),
        ("OnExitHold", "on_exit_hold"),
        ("PeriodicRelease", "periodic_release"),
        ("PeriodicRemove", "periodic_remove"),
        ("PeriodicHold", "periodic_hold"),
    )
}
REMOVE: Final = POLICY_NAMES["OnExitRemove"]
RELEASE: Final = POLICY_NAMES["PeriodicRelease"]
PERIODIC_HOLD: Final = POLICY_NAMES["PeriodicHold"]
PERIODIC: Final = (*POLICY_NAMES["PeriodicRemove"], *PERIODIC_HOLD)
POLICIES: Final = tuple(name for names in POLICY_NAMES.values() for name in names)
CONDITIONS: Final = (*POLICIES, "retry_until", "leave_in_queue")  # evaluated in the job's own ad

ALWAYS_RELEASED: Final = "the job is released at once, whatever it is held for: with a lasting fault this is a loop"
RELEASE_FOR: Final = "name the reason and a limit: HoldReasonCode == 20, NumJobStarts < 5"
