"""What making the job ads of a description shows besides its schedule: refused jobs and unused lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

from crondor._schedule import CRON_COMMANDS, PREP_COMMANDS, TIME_COMMANDS, WINDOW_COMMANDS
from crondor._types import Memory
from crondor.classad.circles import circles
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.knowledge.words import SubmitCommand, submit_commands
from crondor.lint.values import POLICIES
from crondor.spec import FIELDS
from crondor.submit import InvalidSubmit, SubmitFile
from crondor.submit.ad import JobAd, job_ads
from crondor.submit.facts import COMMANDS, UNIVERSE_NAMES, universe_number
from crondor.submit.file import UnusedName, unused_names

MOST_JOBS = 50  # checked one by one; a mistake is hardly in the fiftieth job only
LONGEST = 50_000  # characters of a description; longer ones are not written by hand and may be slow on purpose

# A description with only these commands is checked without making job ads, which take a while to load: commands that
# take any text, policies (CRN312 parses them), and values that cannot make another command fail.
_ANY = frozenset(
    (
        *(name for field in FIELDS for name in (field.command, field.attribute.lower())),
        *(name for name in POLICIES if not name.startswith("my.")),
        *("executable", "output", "error", "log", "input", "initialdir", "notify_user", "batch_name"),
    )
)
_OF_POLICY = re.compile(r"periodic|onexit", re.IGNORECASE).search
_MADE_NAME = re.compile(r"\$\w*\([^()]*\$")
_WORD = re.compile(r"\w+")
_NUMBER = r"\d+"
_TRUTH = r"true|false"
_PLAIN: Mapping[str, str] = {
    "arguments": r"""[^"']*""",
    "universe": "vanilla|local",
    "should_transfer_files": "yes|no|if_needed",
    **dict.fromkeys(("request_memory", "request_disk"), r"\d+([KMGT]B?)?"),
    **dict.fromkeys(("request_cpus", "deferral_time", "deferral_window", "deferral_prep_time"), _NUMBER),
    **dict.fromkeys(("cron_window", "cron_prep_time", "max_retries"), _NUMBER),
    "transfer_executable": _TRUTH,
}


class MadeJobs(NamedTuple):
    """Results of making the jobs' ads: the faults, the names assigned in vain, attributes in a circle.

    ``is_plain``: the description has only the commonest commands, and no ads were made.
    """

    faults: tuple[Diagnostic, ...] = ()
    unused: tuple[UnusedName, ...] = ()
    is_plain: bool = False
    circles: tuple[Diagnostic, ...] = ()


def make_jobs(
    file: SubmitFile, config: Mapping[str, str] | None = None, memory: Memory[frozenset[str]] | None = None
) -> MadeJobs:
    """Make the ads of a description's jobs, as far as they may show anything; ``config`` is that of job_ads().

    ``memory`` has the jobs whose ads are known to be makeable.
    """
    if config is None and _is_plain(file):
        return MadeJobs(is_plain=True)
    used: set[str] = set()
    faults: tuple[Diagnostic, ...] = ()
    found: dict[Diagnostic, None] = {}
    try:
        for made in job_ads(file, config=config, limit=MOST_JOBS + len(file.queues), used=used, memory=memory):
            found.update(dict.fromkeys(_circles(made)))
    except InvalidSubmit as error:
        faults = error.diagnostics
    if found and memory is not None:
        memory.about(None)  # the memory of a job does not include its circles
    unchecked = {fault.kind for fault in faults if not fault.kind.startswith("submit-")}
    unused = unused_names(file, used) if unchecked <= {"too-many-variants"} else ()
    return MadeJobs(faults, tuple(_by_none(file, unused) if unchecked else unused), circles=tuple(found))


def _by_none(file: SubmitFile, unused: Iterable[UnusedName]) -> Iterator[UnusedName]:
    """Yield the names that the jobs that were not made cannot use either: they are written once, and no commands."""
    text = "\n".join((*(each.text for each in file.sources), *(each.text for _, each in file.definitions))).lower()
    names = {each.key: each for each in unused if each.key not in submit_commands()}
    if names and not _MADE_NAME.search(text):
        count = Counter(found[0] for found in _WORD.finditer(text) if found[0] in names)
        yield from (each for key, each in names.items() if count[key] == 1)


def _circles(made: JobAd) -> Iterator[Diagnostic]:
    """Yield a fault for each circle among the attributes of a job that the description sets at least one of."""
    ad = made.ad.flat()
    for circle in circles(ad.codes):
        names = [name for attribute in circle.names for name in spellings(ad.names[attribute])]
        span = next((made.jobs.spans[name] for name in names if name in made.jobs.spans), made.jobs.queue)
        name = ad.names[circle.names[0]]
        help_text = f"write TARGET.{name} for the machine's attribute, or $(MY.{name}) for the text written above"
        yield Diagnostic("circle-job", circle.message(ad.names), circle.severity, span, help_text)


def spellings(attribute: str) -> tuple[str, ...]:
    """Return the lower-case names by which a description may set an attribute."""
    key = attribute.lower()
    snake = "".join(f"_{sign}" if sign.isupper() and at else sign for at, sign in enumerate(attribute)).lower()
    return f"my.{key}", snake, key, *_commands_by_attribute().get(key, ())


@cache
def _commands_by_attribute() -> Mapping[str, tuple[str, ...]]:
    """Return the commands that set each attribute, all in lower case."""
    found: dict[str, tuple[str, ...]] = {}
    for command in submit_commands():
        key = (command.attribute or "").lower()
        found[key] = (*found.get(key, ()), command.name.lower())
    return found


def _is_plain(file: SubmitFile) -> bool:
    """Return whether nothing in a description can be refused or unused, except by the rules about its schedule."""
    if "executable" not in file.keys:
        return False
    rest = [key for key in file.keys if key not in _ANY]
    if any(_OF_POLICY(each.text) for key, each in file.definitions if key in POLICIES):
        return False  # a policy that refers to a policy, perhaps to itself
    if not _PLAIN.keys() >= set(rest) or any(queue.arguments.variables for queue in file.queues):
        return False
    has_time = any(name in file.keys for names in (*CRON_COMMANDS, TIME_COMMANDS) for name in names)  # so one counts
    if any(sum(name in rest for name in names) > has_time for names in (WINDOW_COMMANDS, PREP_COMMANDS)):
        return False
    try:
        groups = list(file.groups(rest, MOST_JOBS + len(file.queues)))
    except CrondorError:
        return False
    values = {(name, text) for group in groups for name, text in group.values.items() if text}
    return all(re.fullmatch(_PLAIN[name], text, re.IGNORECASE) for name, text in values)


_IMAGES: Final = ("container_image", "containerimage", "docker_image", "dockerimage")
_CONTAINERS: Final = ("docker", "container")
_VANILLA: Final = "vanilla"

AT_HOME: Final = ("local", "scheduler")
"""Universes whose jobs run on the access point."""


def universes_of(file: SubmitFile) -> tuple[str, ...]:
    """Return the names of the universe of the first job, and so of all jobs; none if it is unknown.

    A vanilla job with an image counts as container; a docker job counts as container too.
    """
    try:
        group = next(file.groups((*COMMANDS, *_IMAGES)), None)
    except CrondorError:
        return ()
    if group is None:
        return ()
    given = next((group.values[name].strip() for name in COMMANDS if group.values.get(name, "").strip()), _VANILLA)
    if given.lower() in _CONTAINERS:
        return (given.lower(), *_CONTAINERS, _VANILLA)
    number = universe_number(given)
    name = UNIVERSE_NAMES[number].lower() if 0 < number < len(UNIVERSE_NAMES) else ""
    if name == _VANILLA and any(group.values.get(image, "").strip() for image in _IMAGES):
        return ("container", *_CONTAINERS, _VANILLA)
    return (name,) if name else ()


def in_universe(command: SubmitCommand, universes: tuple[str, ...]) -> bool:
    """Return whether a command has an effect in one of some universes."""
    return not command.universes or not set(universes).isdisjoint(command.universes)
