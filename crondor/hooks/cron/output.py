"""What a cron job prints, blocks of attributes ended by a dash, and the ads they make.

HTCondor: CronJobOut::Output, ClassAdCronJob::ProcessOutput.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.classad.expression import Expression
from crondor.classad.scope import Context, Value
from crondor.classad.text import lower
from crondor.classad.tree import UNDEFINED
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source
from crondor.hooks.cron.settings import AutoPublish, CronJob, Manager
from crondor.hooks.kinds import IS_NAME, read_line
from crondor.job import attributes
from crondor.job.attributes import boolean_of

MOST_BLOCK: Final = 4 << 20
"""Characters of one block; the rest is dropped, with a warning."""

MOST_LINE: Final = 64 << 10
"""Characters of a line, as in HTCondor; the rest is dropped."""

_WORDS: Final = re.compile(r"[, \t\r\n]+")
_LITERAL: Final = re.compile(r"true|1|false|0", re.IGNORECASE).match
_NULS: Final = re.compile("\0+").sub
_MOST_SHOWN: Final = 20


class Block(NamedTuple):
    """An ad that a job published: its name (the job's, or ``job.tag``), and whether it requests an update.

    ``update`` None: not given, the configuration decides.
    """

    name: str
    ad: ClassAd
    update: bool | None = None


@dataclass
class BlockReader:
    """Reads a job's output, piece by piece and run by run, and yields each block when it ends.

    As in HTCondor 25.14 (LineBuffer, CronJobOut): a NUL ends a line like a line end; text after the last line end of a
    run is put before the first line of the next; a tag after a dash that ends an empty block names the next block that
    ends without one.
    """

    job: CronJob
    ignores_tags: bool = False
    _rest: str = ""
    _line: int = 0
    _tag: str = ""

    def __post_init__(self) -> None:
        self._lines: list[str] = []
        self._size = 0
        self._is_full = False
        self._has_nul = False
        self.findings: list[Diagnostic] = []

    def feed(self, text: str, now: int) -> list[Block]:
        """Add a piece of output, and return the blocks that end in it; ``now`` is LastUpdate (epoch seconds)."""
        if "\0" in text:
            text = _NULS("\n", text)
            if not self._has_nul:
                message = f"{self.job.name} printed a NUL character: HTCondor ends the line there"
                self._find(Diagnostic("hook-cron-nul", message, Severity.WARNING, help="print text"))
            self._has_nul = True
        *lines, rest = (self._rest + text).split("\n")
        self._rest = rest[: MOST_LINE + 1]
        if self._is_full and not any(line.startswith("-") for line in lines):
            self._line += len(lines)
            return []
        found = (self._take(line, now) for line in lines)
        return [block for block in found if block is not None]

    def end(self, now: int, *, restarts: bool = False) -> list[Block]:
        """Add the end of a run's output, which ends the last block, but not the last line.

        ``restarts``: the job is restarted at the same moment, which drops a block that no dash has ended.
        """
        if len(self._rest) > MOST_LINE:
            line, self._rest = self._rest, ""
            self._take(line, now)
        elif self._rest:
            message = f"{self.job.name}: the last line has no line end, and HTCondor reads it with the next run's first"
            hint = 'end the line: printf "Name = 1\\n"'
            self._find(Diagnostic("hook-cron-no-line-end", message, Severity.WARNING, help=hint))
        if restarts and self._lines:
            message = f"{self.job.name}: text after the last dash is dropped as the job is started again"
            self._find(
                Diagnostic("hook-cron-block-lost", message, Severity.WARNING, help="end the output with a line -")
            )
            self._lines, self._size = [], 0
        block = self._publish(now)
        self._has_nul = False
        self._line = 0
        self._tag = ""
        return [] if block is None else [block]

    def _take(self, line: str, now: int) -> Block | None:
        self._line += 1
        if line.startswith("-"):
            if len(line) > 1:
                self._tag = line[1:].strip()
                if not self._lines and self._tag:
                    message = f"{self.job.name}: line {self._line} ends a block without attributes"
                    hint = "HTCondor keeps its tag for the next block that has none; remove the line"
                    self._find(Diagnostic("hook-cron-empty-block", message, Severity.WARNING, help=hint))
            return self._publish(now)
        if len(line) > MOST_LINE:
            message = f"{self.job.name}: line {self._line} has more than {MOST_LINE} characters and is dropped"
            self._find(Diagnostic("hook-cron-long-line", message))
        elif line and not self._is_full and self._size + len(line) > MOST_BLOCK:
            self._is_full = True
            message = f"{self.job.name}: a block has more than {MOST_BLOCK} characters; the rest is dropped"
            self._find(Diagnostic("hook-cron-long-block", f"{message}, from line {self._line} on"))
        elif line and not self._is_full:
            self._lines.append(self.job.prefix + line)
            self._size += len(line)
        return None

    def _publish(self, now: int) -> Block | None:
        lines, self._lines = self._lines, []
        self._size = 0
        self._is_full = False
        if not lines:
            return None
        arguments, self._tag = self._tag, ""
        ad = ClassAd()
        for line in lines:
            self._add(ad, line)
        if not ad:
            return None
        ad.put(f"{self.job.prefix}LastUpdate", str(now))
        if self.ignores_tags:
            return Block(self.job.name, ad)
        tag, update = self._arguments(arguments, ad)
        return Block(f"{self.job.name}.{tag}" if tag else self.job.name, ad, update)

    def _add(self, ad: ClassAd, line: str) -> None:
        source = Source(line, f"output of {self.job.name}")
        try:
            name, code = read_line(line.lstrip(" \t"))
        except ValueError as error:
            message, offset = error.args
            text = f"can't insert this line: {message}"
            self._find(Diagnostic("hook-cron-output", text, Severity.WARNING, source.span(offset)))
            return
        if not IS_NAME(name):
            message = "this name has characters that are invalid in an attribute name; HTCondor accepts it anyway"
            span = source.span(0, len(line) - len(line.lstrip(" \t")) + len(name))
            self._find(Diagnostic("hook-cron-name", message, Severity.WARNING, span))
        ad.put(name, code)

    def _arguments(self, text: str, ad: ClassAd) -> tuple[str, bool | None]:
        """Return tag and update from the text after a dash: the first word is the tag unless it has a colon."""
        words = [word for word in _WORDS.split(text) if word]
        tag = words.pop(0) if words and ":" not in words[0] else ""
        wants = is_said = False
        for word in words:
            name, colon, value = word.partition(":")
            if name == "update":
                wants, is_read = _boolean(value, ad) if colon else (True, True)
                is_said = is_said or is_read
                if not is_read:
                    message = f"{self.job.name}: {word} is neither true nor false; HTCondor reads {str(wants).lower()}"
                    self._find(
                        Diagnostic("hook-cron-update", message, Severity.WARNING, help="write update:true or false")
                    )
        return tag, wants if wants or is_said else None

    def _find(self, found: Diagnostic) -> None:
        if len(self.findings) < _MOST_SHOWN:
            self.findings.append(found)


def _boolean(text: str, ad: ClassAd) -> tuple[bool, bool]:
    """Return how HTCondor reads the value of an update, and whether it is valid (string_is_boolean_param).

    It is true, false, 1, 0 or an expression in the ad. Anything else counts as true, unless it begins like false.
    """
    word = _LITERAL(text)
    said = word is None or word[0].lower() in {"true", "1"}
    if word is not None and not text[word.end() :].strip():
        return said, True
    value = boolean_of(_evaluated(text, ad))
    return (said, False) if value is None else (value, True)


def _evaluated(text: str, ad: ClassAd) -> Value:
    try:
        return ad.evaluate(Expression(text)) if text else UNDEFINED
    except CrondorError:
        return UNDEFINED


NEVER_MERGED: Final = frozenset({"name", "slotid", "slotmergeconstraint", "slotname", "slottypeid"})


# HTCondor: NamedClassAdList::Replace, StartdNamedClassAd::MergeInto, StartdNamedClassAd::AggregateInto.
class Published(NamedTuple):
    """The result of a block: whether its ad is new or different, and whether it updates the collector."""

    changed: bool
    updates: bool


class CronAds:
    """The ads of one manager's jobs, in the order in which they are merged: later ones override.

    A job's own name is registered when the job is created, its tags when they first appear: so in the manual's example
    the job's own ad has its value for all slots, and the tagged ones come on top.
    """

    def __init__(self, manager: Manager, auto_publish: AutoPublish = AutoPublish.NEVER) -> None:
        self.manager = manager
        self.auto_publish = auto_publish
        self._ads: dict[str, ClassAd | None] = {}
        self._jobs: dict[str, CronJob] = {}

    def add_job(self, job: CronJob) -> None:
        """Register a job, or its new settings."""
        self._jobs[job.name] = job
        self._ads.setdefault(job.name, None)

    def remove_job(self, name: str) -> None:
        """Forget a job and its ads."""
        self._jobs.pop(name, None)
        for ad in [ad for ad in self._ads if _job_of(ad, self._jobs, name) == name]:
            del self._ads[ad]

    def publish(self, job: CronJob, block: Block) -> Published:
        """Add a block: it replaces the ad of its name, or is added to it if the job has metrics."""
        before = self._ads.get(block.name)
        ignored = lower(f"{job.prefix}LastUpdate")
        changed = before is None or _differs(before, block.ad, ignored)
        ad = block.ad if not job.metrics or before is None else before.copy()
        if ad is not block.ad:
            _aggregate(ad, block.ad, job)
        self._ads[block.name] = ad
        if block.update is not None:
            return Published(changed, block.update)
        automatic = {AutoPublish.ALWAYS: True, AutoPublish.IF_CHANGED: changed}
        return Published(changed, automatic.get(self.auto_publish, False))

    def named(self) -> list[tuple[str, ClassAd]]:
        """Return the published ads by name, in their order."""
        return [(name, ad) for name, ad in self._ads.items() if ad is not None]

    def merged(self, into: ClassAd, context: Context | None = None) -> ClassAd:
        """Return the ad of a slot, or of the schedd, with all ads that belong in it.

        Metrics are aggregated over all ads of a job that belong to the slot (two GPUs, two tags), and come last.
        """
        made = into.flat()
        context = context or Context()
        totals = ClassAd()
        slot = attributes.int32(made, "SlotID", context)
        for name, ad in self.named():
            job = self._jobs[_job_of(name, self._jobs, name)]
            if self.manager is Manager.SCHEDD:
                _merge(made, ad, frozenset())
            elif (job.slots and slot not in job.slots) or not _belongs(ad, made, context):
                continue
            elif job.metrics:
                _aggregate(totals, ad, job)
            else:
                _merge(made, ad, NEVER_MERGED)
        _merge(made, totals, NEVER_MERGED)
        return made


def _job_of(ad: str, jobs: Iterable[str], default: str) -> str:
    """Return the job an ad's name begins with."""
    if ad in jobs:
        return ad
    name = ad.partition(".")[0]
    longest = max((job for job in jobs if ad.startswith(f"{job}.")), key=len, default=name)
    return longest or default


def _belongs(ad: ClassAd, slot: ClassAd, context: Context) -> bool:
    """Return whether an ad belongs in a slot's: the first of some attributes decides; without any it does."""
    if "SlotMergeConstraint" in ad:
        return attributes.boolean(ad, "SlotMergeConstraint", context, slot) is True
    theirs = attributes.string(slot, "Name", context)
    wanted = next((v for n in ("SlotName", "Name") if (v := attributes.string(ad, n, context)) is not None), "")
    if wanted and theirs is not None:
        return theirs.startswith(wanted)
    for name in ("SlotTypeId", "SlotId"):
        mine, other = attributes.int32(ad, name, context), attributes.int32(slot, name, context)
        if mine is not None and other is not None:
            return mine == other
    return True


def _merge(into: ClassAd, ad: ClassAd, left_out: frozenset[str]) -> None:
    codes, names = ad.codes, ad.names
    for key, name in names.items():
        if key not in left_out:
            into.put(name, codes[key])


def _aggregate(into: ClassAd, ad: ClassAd, job: CronJob) -> None:
    """Add an ad to another: metrics by sum or peak, everything else unchanged."""
    kinds = {lower(name): is_sum for name, is_sum in job.metrics}
    for key, name in ad.names.items():
        if key not in kinds:
            if key != "slotmergeconstraint":
                into.put(name, ad.codes[key])
            continue
        new, old = attributes.number(ad, name), attributes.number(into, name)
        if new is None:
            continue
        if old is not None:
            new = old + new if kinds[key] else max(old, new)
        into[name] = float(new)
        if "LastUpdate" in ad:
            into.put(f"LastUpdate{name}", ad.codes["lastupdate"])


def _differs(before: ClassAd, ad: ClassAd, ignored: str) -> bool:
    """Return whether an ad lacks an attribute of the one before, or has another value (ClassAdsAreSame).

    A new attribute makes no difference in HTCondor 25.14.
    """
    old, new = before.own(), ad.own()
    old.prune(ignored)
    for key in [key for key in new.codes if key not in old.codes]:
        new.prune(key)
    return old != new
