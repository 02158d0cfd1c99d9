"""The ads that cron jobs have published, and how they come into the ads of the slots or of the schedd.

HTCondor: NamedClassAdList::Replace, StartdNamedClassAd::MergeInto, StartdNamedClassAd::AggregateInto.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.classad.scope import Context
from crondor.classad.text import lower
from crondor.hooks.cron.output import Block
from crondor.hooks.cron.settings import AutoPublish, CronJob, Manager
from crondor.job import attributes

NEVER_MERGED: Final = frozenset({"name", "slotid", "slotmergeconstraint", "slotname", "slottypeid"})


class Published(NamedTuple):
    """What became of a block: whether its ad is new or different, and whether it makes an update of the collector."""

    changed: bool
    updates: bool


class CronAds:
    """The ads of one manager's jobs, in the order in which they are merged: later ones override.

    A job's own name is registered when the job is created, its tags when they first appear: so the manual's example
    has its value for all slots in the job's own ad, and the tagged ones on top.
    """

    def __init__(self, manager: Manager, auto_publish: AutoPublish = AutoPublish.NEVER) -> None:
        """Begin without jobs."""
        self.manager = manager
        self.auto_publish = auto_publish
        self._ads: dict[str, ClassAd | None] = {}
        self._jobs: dict[str, CronJob] = {}

    def add_job(self, job: CronJob) -> None:
        """Register a job, or take its new settings."""
        self._jobs[job.name] = job
        self._ads.setdefault(job.name, None)

    def remove_job(self, name: str) -> None:
        """Forget a job and its ads."""
        self._jobs.pop(name, None)
        for ad in [ad for ad in self._ads if _job_of(ad, self._jobs, name) == name]:
            del self._ads[ad]

    def publish(self, job: CronJob, block: Block) -> Published:
        """Take a block: it replaces the ad of its name, or is added to it where the job has metrics."""
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
        """Return the ad of a slot, or of the schedd, with everything that belongs into it.

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
    """Say whether an ad goes into a slot's: the first of some attributes decides, none of them means yes."""
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
    """Add an ad to another: metrics by sum or peak, everything else as it is."""
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
    """Say whether an ad lacks an attribute of the one before, or has another value (ClassAdsAreSame).

    An attribute that is new makes no difference in HTCondor 25.14.
    """
    old, new = before.own(), ad.own()
    old.prune(ignored)
    for key in [key for key in new.codes if key not in old.codes]:
        new.prune(key)
    return old != new
