"""The submit kinds: what condor_submit -dry-run accepted, said about scheduling commands, and made of each job.

``submit`` compares the attributes that bear on scheduling; ``submit-full`` all that depend on the file.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from crondor.classad import UnparseForm, code_tree, unparse
from crondor.classad.ad import ClassAd
from crondor.diagnostics import Source
from crondor.macro.files import Files
from crondor.submit import InvalidSubmit, SubmitHost, job_ads, read_submit
from crondor.submit.file import unused_names
from tests.golden.kinds.case import (
    Case,
    Difference,
    Malformed,
    NotApplicable,
    Replay,
    compare,
    integer,
    items,
    mapping,
    optional_text,
    text,
    texts,
)

_NAME = "job.sub"
_HOST = SubmitHost(folder="/home/alice")
_ENVIRON = {"GOLD": "gold value", "HOME": "/home/alice", "USER": "alice", "TZ": "UTC", "GOLDMIN": "45"}
_NOW = 1_700_000_000  # nothing recorded depends on it
_PARALLEL = "11"  # the universe
_SEED = 1  # nor on this: $RANDOM_CHOICE() has one choice where a recording shows it
_SHOWS = frozenset({"-verbose", "-terse"})
_FLAGS = frozenset({"-allow-crlf-script", "-single-cluster", "-disable"})
_BATCH = {"-batch-name": "JobBatchName", "-batch-id": "JobBatchId"}
_TAKE_ONE = frozenset({"-a", "-append", "-dry-run", "-maxjobs", *_BATCH})
_DEFINITION = re.compile(r"([A-Za-z_][A-Za-z0-9_.]*)=")
_KNOB = re.compile(r"(\w+)[ \t]*(@?=)(.*)")
# What the recordings restrict themselves to (README.md), beside the attributes a line shows.
_COMPARED = re.compile(
    r"(Cron|Deferral|OnExit|Periodic|HoldReason)\w*|X\w+|ScheddInterval|JobUniverse|Requirements|LeaveJobInQueue"
    r"|JobStatus|Args|Arguments|Cmd|ClusterId|ProcId|JobPrio|Rank|RequestCpus|RequestMemory|RequestGPUs"
    r"|ConcurrencyLimits|JobLeaseDuration|JobNotification|Err|Environment|MinHosts|MaxHosts|GridResource|JobMaxRetries"
)
# What a full recording leaves out: it depends on the machine, or is the same for every file.
_NOT_OF_THE_FILE = re.compile(r"DiskUsage|ExecutableSize|FileSystemDomain|ImageSize|Iwd|JobSubmitFile")
_DEFAULTS = {
    "JobLeaseDuration": "2400",
    "JobNotification": "0",
    "RequestCpus": "1",
    "RequestMemory": "128",
    "Err": '"/dev/null"',
    "Environment": '""',
    "Rank": "0.0",
    "MinHosts": "1",
    "MaxHosts": "1",
    "Owner": "undefined",
}
# A message of condor_submit begins with one of these; after the head of an error may stand where it was found.
_MESSAGES = re.compile(r"\n+(?=ERROR|WARNING|Warning|Submit:-1:|condor_submit:)|(?<=\S)(?=WARNING: )")
_HEAD = re.compile(
    r"(?:ERROR(?: at)?|Submit:-1:Error|condor_submit):? ?(?:\S+, Line [0-9]+(?:, Include Depth [0-9]+)?:\s+)?"
    r"(?:(?:on|Queue statement on) Line [0-9]+(?: of \S+)?:\s+)?"
)
_UNUSED = re.compile(r"the (?:line|queue variable) '([\w./]+)(?: = [^\n]*)?' was unused by condor_submit")
_STEP = re.compile(r"\s+at Step [0-9]+, ItemIndex [0-9]+\s*\Z")
# Where crondor says the same in words of its own: HTCondor's words, and crondor's, with the same groups in them; a bar
# parts words of which either will do.
_OTHER_WORDS = (
    (r"Failed to parse command file \(line [0-9]+\)\.?", ""),
    (r"Could not get attribute references from Requirements: .*", "Parse error in expression: Requirements = "),
    (r"cannot parse: (\S+) : .*", "condor_submit does not read a colon after {}"),
    (r"cannot parse: .*", "this line is neither an assignment nor a queue statement"),
    (r"invalid queue statement\.?", "condor_submit does not read a colon after |this line is neither an assignment"),
    ("Illegal Identifier: <\ufeffuniverse>", "the file begins with a byte order mark"),
    (r"(Reached end of file without finding closing brace '\)' for )Queue command on line [0-9]+", "{}this queue"),
    ("at use (?:feature|template):.*", "use "),
    (r"'.*' is not valid for Image Size", "Image Size must be positive"),
    (
        "You explicitly requested that the executable be transfered, but for this to work, .*",
        "should_transfer_files is off",
    ),
    (
        r"you specified (?:both|a value for both) tdp_daemon_args and tdp_daemon_arguments",
        "you specified a value for both",
    ),
)


@dataclass
class _Said:
    """What crondor makes of a submit description: the ads up to the first fault, and what it has to say.

    ``late`` is how many jobs the factory would make, whose ad stands for them all. ``shows`` is how condor_submit was
    asked to show what it did: nothing at all, where it does not even begin. ``unused`` are the names of the lines and
    queue variables that it says were unused, None where it was told not to.
    """

    ads: list[dict[str, str]] = field(default_factory=list)
    faults: tuple[str, ...] = ()
    warnings: list[str] = field(default_factory=list)
    late: int = 0
    shows: str | None = ""
    unused: list[str] | None = None


def _bears_on_scheduling(name: str) -> bool:
    return _COMPARED.fullmatch(name) is not None


def _depends_on_the_file(name: str) -> bool:
    return _NOT_OF_THE_FILE.fullmatch(name) is None


def _replay_submit(case: Case) -> list[Difference]:
    """Compare acceptance, what is printed, each error, and the attributes that bear on scheduling."""
    return _replay(case, _bears_on_scheduling)


def _replay_submit_full(case: Case) -> list[Difference]:
    """Compare the same, and every attribute that depends on the file."""
    return _replay(case, _depends_on_the_file)


def _replay(case: Case, is_compared: Callable[[str], bool]) -> list[Difference]:
    record = case.record(["submit", "rc", "stdout", "stderr", "ads"], ["config", "files", "args"])
    expected = [_expected(ad, n) for n, ad in enumerate(items(record, "ads"))]
    made = _said(json.dumps({name: record[name] for name in ("submit", "config", "files", "args") if name in record}))
    said = replace(made, ads=[*made.ads])
    found = compare("rc", integer(record["rc"], "rc"), 1 if said.faults else 0)
    found += _compare_errors(text(record, "stderr"), said)
    if not found and not said.faults and said.unused is not None:
        found += compare("unused", sorted(_UNUSED.findall(text(record, "stderr").lower())), said.unused)
    found += compare("stdout", _printed_lines(text(record, "stdout")), _tool_says(said))
    if not found and said.faults:
        del said.ads[len(expected) :]
    shown = [_shown(ad, other, is_compared) for ad, other in zip(said.ads, expected, strict=False)]
    return found + compare("ads", expected, shown + [dict(ad) for ad in said.ads[len(expected) :]])


def _expected(ad: object, number: int) -> dict[str, str]:
    record = {f"ads[{number}]": ad}
    attributes = mapping(record, f"ads[{number}]")
    for name in attributes:
        if attributes[name] == _DEFAULTS.get(name):
            raise Malformed(f"ads[{number}].{name}", "is left out where it has the default value")
    return {name: text(attributes, name) for name in attributes}


def _shown(ad: Mapping[str, str], expected: Mapping[str, str], is_compared: Callable[[str], bool]) -> dict[str, str]:
    """Return the attributes of an ad that the recording would show."""
    return {
        name: value
        for name, value in ad.items()
        if name in expected or (is_compared(name) and value != _DEFAULTS.get(name))
    }


def _compare_errors(stderr: str, said: _Said) -> list[Difference]:
    """Compare each error of condor_submit with what crondor says, and that there is one where it finds a fault."""
    messages = [_alike(fault) for fault in (*said.faults, *said.warnings)]
    parts = [each.lstrip("\n") for each in _MESSAGES.split(stderr)]
    errors = [_flat(_STEP.sub("", part[head.end() :])) for part in parts if (head := _HEAD.match(part))]
    found = [
        Difference("stderr", f"recorded {error!r}, crondor says {[*said.faults, *said.warnings]}")
        for error in errors
        if error and not any(_is_said(error, message) for message in messages)
    ]
    return found or compare("stderr has an error", bool(errors) or not said.faults, True)


def _is_said(error: str, message: str) -> bool:
    """Say whether a message of crondor has the same in it: word by word, or its beginning, or in its own words."""
    for theirs, ours in _OTHER_WORDS:
        match = re.fullmatch(theirs, error)
        if match is not None:
            return any(_alike(each.format(*match.groups())) in message for each in ours.split("|"))
    return _alike(error) in message or _alike(error).startswith(message)


def _alike(message: str) -> str:
    """Return a message without what is the tool's way of writing: breaks, quotation marks, capitals, a last dot."""
    return _flat(message).replace('"', "").rstrip(".").lower()


def _flat(message: str) -> str:
    return " ".join(message.split())


def _tool_says(said: _Said) -> str:
    """Return what condor_submit prints for what crondor made."""
    if said.shows is None:
        return ""
    if said.shows == "-terse" and not said.faults:
        return f"1.0 - 1.{len(said.ads) - 1}"
    nodes = bool(said.ads) and said.ads[0].get("JobUniverse") == _PARALLEL  # they are one job together
    count = said.late or (1 if nodes else len(said.ads))
    dots = "" if said.late or said.shows else "." * len(said.ads)
    begun = f"Dry-Run job(s){dots}"
    return begun if said.faults or said.shows or not count else f"{begun}\n{count} job(s) dry-run to cluster 1."


def _printed_lines(stdout: str) -> str:
    """Return what condor_submit printed, without the ads, which -verbose repeats with what the machine has."""
    return stdout.partition("\n** Proc ")[0].rstrip("\n")


@lru_cache(maxsize=8)
def _said(given: str) -> _Said:
    record: dict[str, object] = json.loads(given)
    config = _config(optional_text(record, "config") or "") if "config" in record else {}
    command = _Command.of(texts(record, "args") if "args" in record else ["-dry-run", "out.ads", _NAME])
    if command.wrong:
        return _Said(faults=(command.wrong,), shows=None)
    submit = "".join(f"{line}\n" for line in command.definitions) + text(record, "submit")
    said = _Said(shows=command.shows)
    with tempfile.TemporaryDirectory() as folder:
        files = {_NAME: submit, "out.ads": "", **(mapping(record, "files") if "files" in record else {})}
        for name, content in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(str(content).encode("utf-8", "surrogateescape"))
        try:
            _make(submit, folder, config, command, said)
        except InvalidSubmit as error:
            said.faults = tuple(fault.message for fault in error.diagnostics)
            before = _before(error, submit)
            if not said.ads and before:  # the tool makes the jobs of each queue statement before it reads on
                try:
                    _make(before, folder, config, command, said)
                except InvalidSubmit as earlier:
                    said.faults += tuple(fault.message for fault in earlier.diagnostics)
            return said
    if 0 < command.most < len(said.ads):
        said.faults = (f"Number of submitted jobs would exceed -maxjobs ({command.most})",)
        del said.ads[command.most :]
    return said


def _make(submit: str, folder: str, config: Mapping[str, str], command: _Command, said: _Said) -> None:
    """Add the ads of a submit description as the tool prints them. Raises InvalidSubmit."""
    file = read_submit(
        Source(submit, _NAME),
        files=Files([folder], base=folder),
        environ=_ENVIRON,
        now=_NOW,
        seed=_SEED,
        host=_HOST,
        config=config,
        append=(*command.append, *command.batch),
        queue=command.queue,
    )
    if any(fault.kind == "runs-command" for fault in file.unknown):
        raise NotApplicable("a command would have to be run, which crondor says and does not do")
    said.warnings += [each.message for each in file.warnings]
    used: set[str] = set()
    for jobs, ad in job_ads(file, config=config, in_order=True, factory=command.factory, used=used):
        said.ads += _printed(ad, jobs.count)
        said.warnings += [each.message for each in jobs.findings]
        said.late = file.job_count if "ProcId" not in ad else 0
    said.unused = None if command.is_quiet else sorted(each.key for each in unused_names(file, used))


def _before(error: InvalidSubmit, submit: str) -> str:
    """Return the lines before the first fault, as far as there is a queue statement among them."""
    places = [fault.span.start for fault in error.diagnostics if fault.span and fault.span.source.name == _NAME]
    lines = submit[: submit.rfind("\n", 0, min(places, default=0)) + 1]
    return lines if re.search(r"(?im)^[ \t]*(queue|iter)", lines) else ""


def _printed(ad: ClassAd, count: int) -> Iterator[dict[str, str]]:
    """Yield the ad of each job of a group as the tool prints it."""
    printed = {name: unparse(code_tree(ad.code(name)), UnparseForm.OLD) for name in ad}
    # The tool prints a line break in a string as one: whoever reads its lines gets what stands before it.
    printed = {name: value.split("\n")[0] for name, value in printed.items()}
    if "ProcId" not in printed:
        yield printed
        return
    for number in range(count):
        yield {**printed, "ProcId": str(int(printed["ProcId"]) + number)}


class _Command(NamedTuple):
    """A command line of condor_submit: lines to define first and to append, a queue statement, what is wrong.

    ``batch`` are the lines that name a batch, after all others; ``most`` is how many jobs may be made, 0 for any
    number; ``factory`` has them made late; ``shows`` is the option that says what is printed,
    ``is_quiet`` that nothing is said of unused lines.
    """

    definitions: tuple[str, ...] = ()
    append: tuple[str, ...] = ()
    queue: str | None = None
    wrong: str = ""
    most: int = 0
    batch: tuple[str, ...] = ()
    factory: bool = False
    shows: str = ""
    is_quiet: bool = False

    @classmethod
    def of(cls, words: list[str]) -> _Command:
        """Read the arguments that recordings have. Raises NotApplicable and Malformed."""
        made, rest = cls(), list(words)
        while rest:
            word = rest.pop(0)
            if word in _TAKE_ONE and rest:
                made = made._with(word, rest.pop(0))
            elif word == "-factory":
                made = made._replace(factory=True)
            elif word == "-unused":
                made = made._replace(is_quiet=not made.is_quiet)
            elif word in _SHOWS:
                made = made._replace(shows=word)
            elif word == "-name":
                raise NotApplicable("the schedd of another machine is looked up")
            elif word == "-queue":
                made, rest = made._replace(queue=" ".join(rest)), []
            elif "=" in word:
                made = made._defined(word)
            elif word != _NAME and word not in _FLAGS:
                raise Malformed("args", f"{word} is not known here")
        return made

    def _with(self, word: str, value: str) -> _Command:
        if word in {"-a", "-append"}:
            return self._replace(append=(*self.append, value))
        if word in _BATCH:
            line = f"MY.{_BATCH[word]} = " + (value if value.startswith('"') else f'"{value}"')
            return self._replace(batch=(*self.batch, line))
        if word == "-maxjobs" and not value.isdecimal():
            raise Malformed("args", f"{word} {value} is no number")
        return self._replace(most=int(value)) if word == "-maxjobs" else self

    def _defined(self, word: str) -> _Command:
        if _DEFINITION.match(word):
            return self._replace(definitions=(*self.definitions, word))
        return self._replace(wrong=f"invalid attribute name '{word.partition('=')[0]}' for attrib=value assigment")


def _config(content: str) -> dict[str, str]:
    """Return the macros of a configuration, with their own former values put in."""
    knobs: dict[str, str] = {}
    lines = iter(content.splitlines())
    for line in lines:
        match = _KNOB.match(line.strip())
        if match is None:
            continue
        name, sign, value = match[1], match[2], match[3].strip()
        if sign == "@=":
            body = []
            for inner in lines:
                if inner.strip() == f"@{value}":
                    break
                body.append(f"{inner}\n")
            value = "".join(body)
        else:
            value = value.replace(f"$({name})", knobs.get(name, ""))
        knobs[name] = value
    return knobs


KINDS: Mapping[str, Replay] = {"submit": _replay_submit, "submit-full": _replay_submit_full}
