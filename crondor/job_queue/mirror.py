"""The queue in memory: ads by key, jobs chained to their cluster's ad, and subscribers to changes.

HTCondor: LogNewClassAd::Play and similar methods, JobQueueCluster::AttachJob.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, MutableMapping
from enum import Enum
from typing import Final, NamedTuple

from crondor.classad.ad import ClassAd
from crondor.classad.formats.long_form import read_lazily, read_value
from crondor.classad.formats.pieces import ReadMode
from crondor.classad.text import lower
from crondor.job.attributes import alone, int32_of
from crondor.job_queue.records import (
    HEADER,
    IMPLIED,
    JobId,
    Op,
    Probe,
    Record,
    Traits,
    canonical,
    cluster_key,
    cluster_of,
    deletion,
    edited,
    find,
    implied,
    is_key,
    keyless,
    parts,
    shortened,
)

Texts = Mapping[str, str]

_NO_NAMES: Final[Texts] = {}
_NO_PROCS: Final[dict[int, None]] = {}
_ALONE: Final[dict[int, None]] = {0: None}  # the procs of each cluster with a single job


# ``ads[key]`` is an ad's own dictionary and remains so: from then on the ad is unpacked. To read only, use ``texts``,
# ``text`` or ``parts``, which do not unpack it.
class _Lowered(dict[str, str]):
    """Lowercase names by each spelling seen; the first spelling of a name becomes the usual one in ``spelled``."""

    __slots__ = ("spelled",)

    def __init__(self) -> None:
        super().__init__()
        self.spelled: dict[str, str] = {}
        for name in IMPLIED.values():
            self[name]

    def __missing__(self, name: str) -> str:
        low = self[name] = sys.intern(lower(name))
        self.spelled.setdefault(low, name)
        return low


class Ads(MutableMapping[str, dict[str, str]]):
    """Texts in old syntax by lowercase name, by key; ``held`` has these dictionaries, or a packed ad's bytes.

    ``jobs`` are the procs of each cluster with jobs. ``changed`` are the keys of the ads that may have changed since it
    was set; None: nobody has set it.
    """

    __slots__ = ("_lowered", "_odd", "changed", "held", "jobs")

    def __init__(self) -> None:
        self.held: dict[str, dict[str, str] | bytes] = {}
        self.jobs: dict[int, dict[int, None]] = {}
        self.changed: set[str] | None = None
        self._lowered = _Lowered()
        self._odd: dict[str, dict[str, str]] = {}  # unusual spellings of names, by ad

    # As a mapping

    def __getitem__(self, key: str) -> dict[str, str]:
        """Return an ad's own dictionary. Raises KeyError."""
        ad = self.held[key]
        self._note(key)
        if not isinstance(ad, bytes):
            return ad
        texts, names = parts(ad, self._lowered.__getitem__)
        spelled = self._lowered.spelled
        odd = {low: name for low, name in names.items() if spelled[low] != name}
        if odd:
            self._odd[key] = odd
        self.held[key] = texts
        return texts

    def __setitem__(self, key: str, texts: dict[str, str]) -> None:
        """Add an ad; a job is also added to its cluster."""
        self.hold(key, texts)
        job = JobId.parse(key)
        if job is not None:
            self.join(*job)

    def __delitem__(self, key: str) -> None:
        """Remove an ad. Raises KeyError."""
        del self.held[key]
        self._note(key)
        self._odd.pop(key, None)
        job = JobId.parse(key)
        if job is not None:
            procs = self.jobs[job.cluster]
            if len(procs) == 1:
                del self.jobs[job.cluster]
            else:
                del procs[job.proc]

    def __contains__(self, key: object) -> bool:
        return key in self.held

    def __iter__(self) -> Iterator[str]:
        """Iterate over the keys, in the order in which the ads were created."""
        return iter(self.held)

    def __len__(self) -> int:
        return len(self.held)

    def _note(self, key: str) -> None:
        if self.changed is not None:
            self.changed.add(key)

    def hold(self, key: str, ad: dict[str, str] | bytes) -> None:
        """Hold an ad, new or changed."""
        self.held[key] = ad
        self._note(key)

    def shorten(self, keys: Iterable[str]) -> None:
        """Take from packed ads the records that later ones replace."""
        for key in keys:
            ad = self.held.get(key)
            if isinstance(ad, bytes):
                self.held[key] = shortened(ad, self._lowered.__getitem__)

    def join(self, cluster: int, proc: int) -> None:
        """Add a job to its cluster."""
        procs = self.jobs.get(cluster)
        if procs is None:
            self.jobs[cluster] = {proc: None} if proc else _ALONE
        elif procs is _ALONE:
            self.jobs[cluster] = {**_ALONE, proc: None}
        else:
            procs[proc] = None

    # Reading

    def texts(self, key: str) -> Texts:
        """Return an ad's texts, not to be modified. Raises KeyError."""
        ad = self.held[key]
        return parts(ad, self._lowered.__getitem__)[0] if isinstance(ad, bytes) else ad

    def text(self, key: str, low: str) -> str | None:
        """Return an attribute's text, None if the ad lacks it. Raises KeyError."""
        ad = self.held[key]
        return find(ad, low) if isinstance(ad, bytes) else ad.get(low)

    def parts(self, key: str) -> tuple[Texts, dict[str, str]]:
        """Return an ad's texts and the spelling of its names. Raises KeyError."""
        ad = self.held[key]
        if isinstance(ad, bytes):
            return parts(ad, self._lowered.__getitem__)
        return ad, self.spellings(key, ad)

    def spellings(self, key: str, lows: Collection[str], new: Texts = _NO_NAMES) -> dict[str, str]:
        """Return the spelling of names in an ad; ``new`` has the spellings of names that no ad has had yet."""
        spelled = self._lowered.spelled
        names = {low: spelled.get(low) or new.get(low, low) for low in lows}
        if key in self._odd:
            names |= {low: name for low, name in self._odd[key].items() if low in lows}
        return names

    def differing(self, key: str, other: Ads) -> frozenset[str]:
        """Return the lowercase names whose texts differ between an ad and the ad of the same key in another queue."""
        if self.held[key] == other.held[key]:
            return frozenset()
        mine, theirs = self.texts(key), other.texts(key)
        return frozenset(low for low in mine.keys() | theirs.keys() if mine.get(low) != theirs.get(low))

    # Changing

    def low_of(self, key: str, ad: Texts, name: str) -> str:
        """Return the lowercase form of a name set in an ad: the first spelling there is recorded."""
        low = self._lowered[name]
        if low not in ad and self._lowered.spelled[low] != name:
            self._odd.setdefault(key, {})[low] = name
        return low

    def drop(self, key: str, ad: dict[str, str], low: str) -> None:
        """Delete an attribute of an ad, if present."""
        ad.pop(low, None)
        if key in self._odd:
            self._odd[key].pop(low, None)

    def take_away(self, key: str, ad: bytes, name: str, instead: str | None) -> None:
        """Delete an attribute of a packed ad, or set it to another text."""
        self.edit(key, ad, deletion(ad, name, instead))

    def edit(self, key: str, ad: bytes, records: bytes) -> None:
        """Append records to a packed ad."""
        self.hold(key, edited(ad, records, self._lowered.__getitem__))


_LITERAL: Final = re.compile(r'"[^"\\]*"|-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,20})?|true|false|undefined').fullmatch
_BLANK: Final = " \t\v\f\r"
_MAX_KNOWN: Final = 1 << 15
_MAX_KNOWN_TEXT: Final = 256
_MOST_VIEWS: Final = 1 << 6
_UNDEFINED: Final = "undefined"


class ChangeKind(Enum):
    """What happened to an ad."""

    CREATED = "created"
    CHANGED = "changed"
    DESTROYED = "destroyed"


class AdChange(NamedTuple):
    """The net change of one ad in a transaction.

    ``attributes`` are the lowercase names whose texts have changed; empty unless CHANGED. A change of a cluster's ad
    also changes its jobs, without separate entries.
    """

    key: str
    kind: ChangeKind
    attributes: frozenset[str] = frozenset()


class RecordOutcome(Enum):
    """The result of applying a record; all but DONE leave the queue unchanged."""

    DONE = "done"
    NO_SUCH_AD = "there is no such ad"
    AD_IS_THERE = "this ad exists already"
    NO_KEY = "this is not an ad's key, and the schedd would take it for another key"


Subscriber = Callable[[tuple[AdChange, ...]], None]


class Values(dict[str, str]):
    """Recently seen texts of values, so that equal ones share an object; a new one is checked.

    Raises ClassAdSyntaxError for a text that is not an expression.
    """

    __slots__ = ()

    def __missing__(self, text: str) -> str:
        """Return a valid expression, stripped of surrounding blanks."""
        value = text
        if not _LITERAL(text):
            value = text.strip(_BLANK)
            read_value(value, ReadMode.STRICT)
        if len(text) <= _MAX_KNOWN_TEXT:
            if len(self) >= _MAX_KNOWN:
                self.clear()
            self[text] = value
        return value


_MARKED: Final = rb"(?m)^103 0*([0-9]+)\.(?:-1|[0-9]+) +(?i:(%b)|%b) +(?:(%b)\n)?"
_SIMPLE: Final = rb'"[^"\\\n]*"|-?[0-9]+|(?i:undefined|true|false)'
_MADE: Final = re.compile(rb"(?m)^101 0*([0-9]+)\.-1 ").findall


class JobFilter:
    """Selects the ads that a mirror holds if few jobs matter: those of clusters with a marked attribute.

    Only some of their attributes are held, but all attributes of a cluster in which one of ``plain`` is an expression,
    since it may refer to any other. Nothing else is stored; if it turns out to matter, the log must be read again.
    """

    def __init__(self, marks: Iterable[str], plain: Iterable[str], kept: Iterable[str] | None) -> None:
        """Take lowercase names; ``kept`` None: all attributes."""
        one, more = ("|".join(map(re.escape, names)).encode() for names in (marks, plain))
        self._find = re.compile(_MARKED % (one, more, _SIMPLE)).finditer
        self._kept = None if kept is None else frozenset(kept)
        names = b"|".join(re.escape(name.encode()) for name in self._kept or ())
        self._drop = re.compile(rb"(?m)^10[34] [^ \n]+ (?!(?i:%b)[ \n])[^\n]*\n" % names)
        self._clusters: set[int] = set()
        self._whole: set[int] = set()

    def forget(self) -> None:
        """Forget which clusters matter."""
        self._clusters.clear()
        self._whole.clear()

    def scan(self, data: bytes) -> bool:
        """Find the clusters that matter in lines of a log; return whether skipped lines turned out to matter."""
        marked, whole = set[int](), set[int]()
        for cluster, mark, simple in (found.groups() for found in self._find(data)):
            if mark:
                marked.add(int(cluster))
            if simple is None and self._kept is not None:
                whole.add(int(cluster))
        new = (marked - self._clusters) | (whole & (marked | self._clusters) - self._whole)
        self._clusters |= marked
        self._whole |= whole
        return not new <= set(map(int, _MADE(data))) if new else False

    def wants(self, key: bytes) -> bool:
        """Return whether an ad is held, by its key in canonical spelling."""
        cluster, _, proc = key.partition(b".")
        return proc != b"-2" and int(cluster) in self._clusters

    def takes(self, record: Record) -> bool:
        """Return whether a record concerns the held ads and attributes."""
        key = canonical(record.key).encode("utf-8", "surrogateescape")
        if not is_key(record.key) or not self.wants(key):
            return not is_key(record.key)
        if record.op not in (Op.SET, Op.DELETE) or self._kept is None or self._is_whole(key):
            return True
        return lower(record.name) in self._kept

    def kept(self, key: bytes, records: bytes) -> bytes:
        """Return the records of an ad that concern held attributes, without the key."""
        is_all = self._kept is None or self._is_whole(key)
        return keyless(records if is_all else self._drop.sub(b"", records), key)

    def _is_whole(self, key: bytes) -> bool:
        return int(key.partition(b".")[0]) in self._whole


class Mirror:
    """All ads of a queue, or those selected by ``only``.

    ``sequence`` is the number in the log's first line, which grows by one at each compaction, ``created`` the time of
    the log's creation (epoch seconds); both None if the log lacks them.

    ``live`` selects the view if an attribute is deleted (104) from a job whose cluster's ad has it too: the running
    schedd then has ``undefined`` in the job, a schedd that recovered from the log the cluster's value.
    """

    def __init__(self, *, live: bool = False, only: JobFilter | None = None) -> None:
        self.only = only
        self.sequence: int | None = None
        self.created: int | None = None
        self.live = live
        self.values = Values()
        self.ads = Ads()
        self.new: set[str] = set()  # ads created in the current transaction, if that matters
        self._cluster_views: dict[int, ClassAd] = {}
        self._subscribers: list[Subscriber] = []
        self._before: dict[str, dict[str, str | None] | None] | None = None

    def __len__(self) -> int:
        return sum(map(len, self.ads.jobs.values()))

    def __contains__(self, key: object) -> bool:
        """Return whether there is an ad with this key, or of this job."""
        return self.key(key) in self.ads if isinstance(key, (str, JobId)) else False

    def __iter__(self) -> Iterator[JobId]:
        """Iterate over the jobs, cluster by cluster, in the order of the log."""
        for cluster, procs in self.ads.jobs.items():
            for proc in procs:
                yield JobId(cluster, proc)

    def keys(self) -> Iterable[str]:
        """Return the keys of all ads, including those of clusters, users and the queue itself."""
        return self.ads.keys()

    def clusters(self) -> Iterable[int]:
        """Return the clusters that have jobs."""
        return self.ads.jobs.keys()

    def procs(self, cluster: int) -> list[JobId]:
        """Return the jobs of a cluster."""
        return [JobId(cluster, proc) for proc in self.ads.jobs.get(cluster, ())]

    def key(self, ad: str | JobId) -> str:
        """Return the key of an ad in this queue."""
        if isinstance(ad, JobId):
            return str(ad)
        return ad if ad in self.ads else canonical(ad)

    def own(self, ad: str | JobId) -> Texts:
        """Return an ad's own texts: old syntax by lowercase name, without the cluster's.

        This is the queue's own dictionary: do not modify it. Raises KeyError.
        """
        return self.ads[self.key(ad)]

    def changed_clusters(self) -> set[int] | None:
        """Return the clusters whose ads or jobs may have changed since the last call; None for all.

        Edited ads are shortened, which is not worthwhile after each edit.
        """
        changed, self.ads.changed = self.ads.changed, set()
        self.ads.shorten(self.ads.held if changed is None else changed)
        return None if changed is None else {int(key.partition(".")[0]) for key in changed}

    def having(self, names: Iterable[str], clusters: Iterable[int] | None = None) -> list[JobId]:
        """Return the jobs with any of some attributes, of their own or from their cluster, whatever the value.

        ``clusters``: only jobs of these.
        """
        has_any, held = Probe(map(lower, names)), self.ads.held
        found: list[JobId] = []
        for cluster in self.ads.jobs if clusters is None else clusters:
            procs = self.ads.jobs.get(cluster, _NO_PROCS)
            parent = held.get(cluster_key(cluster))
            if parent is not None and has_any(parent):
                found += [JobId(cluster, proc) for proc in procs]
            else:
                found += [job for proc in procs if has_any(held[str(job := JobId(cluster, proc))])]
        return found

    def packed(self, job: JobId) -> Hashable:
        """Return a key for a job's whole text, including its cluster's. Raises KeyError."""
        own, parent = self.ads.held[str(job)], self.ads.held.get(cluster_key(job.cluster))
        if isinstance(own, dict) or isinstance(parent, dict):
            return tuple([tuple(ad.items()) if isinstance(ad, dict) else ad for ad in (own, parent)])
        return own, parent

    def traits(self, ad: str | JobId, traits: Traits) -> Hashable:
        """Return an ad's own traits, without its cluster's; None if there is no such ad."""
        found = self.ads.held.get(self.key(ad))
        return None if found is None else traits(found)

    def spelling(self, ad: str | JobId, name: str) -> str:
        """Return the spelling of an attribute's name in an ad."""
        low = lower(name)
        key = self.key(ad)
        own = self.ads.parts(key)[1] if key in self.ads else _NO_NAMES
        return own.get(low) or self.ads.spellings(key, (low,), {low: name})[low]

    def text(self, ad: str | JobId, name: str) -> str | None:
        """Return an attribute's text in old syntax, for a job also its cluster's; None if both lack it.

        Raises KeyError for a missing ad.
        """
        key = self.key(ad)
        low = lower(name)
        found = self.ads.text(key, low)
        if found is None:
            job = ad if isinstance(ad, JobId) else JobId.parse(key)
            if job is not None and (parent := cluster_key(job.cluster)) in self.ads:
                found = self.ads.text(parent, low)
        return found

    def ad(self, ad: str | JobId) -> ClassAd:
        """Return an ad's current state, a job's chained to its cluster's. Later changes do not affect it.

        Jobs of a cluster share the parent: do not modify it. Raises KeyError.
        """
        key = self.key(ad)
        cluster = cluster_of(key)
        if cluster is not None:
            return self._cluster_view(cluster).copy()
        view = self._view(key)
        job = JobId.parse(key)
        if job is not None and cluster_key(job.cluster) in self.ads:
            view.chain(self._cluster_view(job.cluster))
        return view

    def _cluster_view(self, cluster: int) -> ClassAd:
        view = self._cluster_views.get(cluster)
        if view is None:
            if len(self._cluster_views) >= _MOST_VIEWS:  # a walk over the jobs goes cluster by cluster
                self._cluster_views.clear()
            view = self._cluster_views[cluster] = self._view(cluster_key(cluster))
        return view

    def _view(self, key: str) -> ClassAd:
        texts, names = self.ads.parts(key)
        if self.only is None:
            return ClassAd.of({low: read_lazily(text) for low, text in texts.items()}, names)
        # Of few jobs each value is read once, and is not worth caching.
        return ClassAd.of({low: text if _LITERAL(text) else read_lazily(text) for low, text in texts.items()}, names)

    def make_ad(self, key: str, texts: Texts, new: Mapping[str, str] = _NO_NAMES) -> ClassAd:
        """Return an ad of texts by lowercase name, with the spelling that the names have in an ad.

        ``new`` are the spellings of names that no ad has had yet.
        """
        names = self.ads.spellings(key, texts, new)
        return ClassAd.of({low: read_lazily(text) for low, text in texts.items()}, names)

    def next_cluster(self) -> int | None:
        """Return the right NextClusterNum if it is too low for the existing jobs; the schedd refuses such a log.

        None if it is right or missing: the schedd then counts anew.
        """
        text = self.ads.text(HEADER, "nextclusternum") if HEADER in self.ads else None
        known = None if text is None else int32_of(alone(text))
        least = max(self.ads.jobs, default=0) + 1
        return least if known is not None and 0 < known < least else None

    def orphans(self) -> Iterator[JobId]:
        """Return the jobs whose cluster has no ad; the schedd removes them when it starts."""
        for cluster in self.ads.jobs:
            if cluster_key(cluster) not in self.ads:
                yield from self.procs(cluster)

    # Applying the log

    def apply(self, record: Record) -> RecordOutcome:
        """Apply a record.

        Raises ClassAdSyntaxError for a value that is not an expression.
        """
        if self.only is not None and not self.only.takes(record):
            if record.op is Op.SET:
                self.values[record.value]
            return RecordOutcome.DONE
        if record.op is Op.NEW:
            return self._create(record.key, record.name)
        key = record.key if record.key in self.ads else canonical(record.key)
        if key not in self.ads:
            return RecordOutcome.NO_SUCH_AD if is_key(key) else RecordOutcome.NO_KEY
        if record.op is Op.SET:
            self._set(key, self.ads[key], record.name, self.values[record.value])
        elif record.op is Op.DELETE:
            self.delete(key, record.name)
        elif record.op is Op.DESTROY:
            self.destroy(key)
        return RecordOutcome.DONE

    def _create(self, key: str, my_type: str) -> RecordOutcome:
        job = JobId.parse(key)
        if job is None:
            key = canonical(key)
            job = JobId.parse(key)
        if key in self.ads:
            return RecordOutcome.AD_IS_THERE
        if not is_key(key):
            return RecordOutcome.NO_KEY
        if self._before is not None:
            self._before.setdefault(key, None)
        self.ads[key] = {low: self.values[text] for low, text in implied(my_type).items()}
        if self.live:
            self.new.add(key)
        return RecordOutcome.DONE

    def _set(self, key: str, ad: dict[str, str], name: str, value: str) -> None:
        low = self.ads.low_of(key, ad, name)
        self._remember(key, ad, low)
        ad[low] = value

    def delete(self, key: str, name: str) -> bool:
        """Delete an attribute of an ad, as a 104 does; return whether the ad exists."""
        held = self.ads.held.get(key)
        if held is None:
            return False
        low = lower(name)
        hides = self.live and key not in self.new and self.inherits(key, low)
        if isinstance(held, bytes) and self._before is None:
            self._forget_view(key)
            self.ads.take_away(key, held, name, _UNDEFINED if hides else None)
            return True
        ad = self.ads[key]
        self._remember(key, ad, low)
        if hides:
            ad[self.ads.low_of(key, ad, name)] = _UNDEFINED
        else:
            self.ads.drop(key, ad, low)
        return True

    def inherits(self, key: str, low: str) -> bool:
        """Return whether a key is a job's whose cluster has an attribute, given by its lowercase name."""
        job = JobId.parse(key)
        parent = "" if job is None else cluster_key(job.cluster)
        return parent in self.ads and self.ads.text(parent, low) is not None

    def destroy(self, key: str) -> bool:
        """Remove an ad, as a 102 does; return whether it existed."""
        if key not in self.ads:
            return False
        before = self._before
        if before is not None:
            texts = before.setdefault(key, {})
            if texts is not None:
                before[key] = {**self.ads.texts(key), **texts}
        del self.ads[key]
        self._forget_view(key)
        return True

    def _forget_view(self, key: str) -> None:
        if self._cluster_views and key[0] == "0":
            self._cluster_views.pop(cluster_of(key) or 0, None)

    # Changes

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call a function with the changes of each transaction; return a function that ends this.

        Subscribers are called in order, after the transaction is in the mirror; each record outside a transaction is
        its own transaction. An error of a subscriber stops neither the transaction nor the other subscribers: it is
        raised after all have been called.
        """
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    @property
    def has_subscribers(self) -> bool:
        """Whether there are subscribers."""
        return bool(self._subscribers)

    def begin(self) -> None:
        """Start recording changes, until ``changes`` is called."""
        self._before = {}

    def changes(self) -> tuple[AdChange, ...]:
        """Return the changes since ``begin``, and stop recording."""
        before, self._before = self._before or {}, None
        self.new.clear()
        found = []
        for key, texts in before.items():
            now = self.ads.texts(key) if key in self.ads else None
            if texts is None or now is None:
                if (texts is None) != (now is None):
                    found.append(AdChange(key, ChangeKind.CREATED if texts is None else ChangeKind.DESTROYED))
                continue
            names = frozenset(low for low, text in texts.items() if now.get(low) != text)
            if names:
                found.append(AdChange(key, ChangeKind.CHANGED, names))
        return tuple(found)

    def settle(self) -> None:
        """End a transaction without recorded changes: update the views and the effects of 104."""
        self.new.clear()
        self._cluster_views.clear()

    def tell(self, changes: tuple[AdChange, ...]) -> None:
        """Call the subscribers."""
        failed = [error for error in map(_called(changes), tuple(self._subscribers) if changes else ()) if error]
        if failed:
            raise failed[0]

    def _remember(self, key: str, ad: dict[str, str], low: str) -> None:
        """Record an attribute's text before its first change."""
        before = self._before
        if before is not None and before.get(key, _NO_NAMES) is None:
            return  # an ad of this transaction, not visible yet
        self._forget_view(key)
        if before is None:
            return
        texts = before.setdefault(key, {})
        if texts is not None:
            texts.setdefault(low, ad.get(low))

    def replace(self, other: Mirror) -> tuple[AdChange, ...]:
        """Take over the contents of another mirror, and return the differences; subscribers remain."""
        found = self.differences(other)
        self.adopt(other)
        return found

    def differences(self, other: Mirror) -> tuple[AdChange, ...]:
        """Return the changes that turn this mirror into another one."""
        mine, theirs = self.ads, other.ads
        found = [AdChange(key, ChangeKind.DESTROYED) for key in mine if key not in theirs]
        for key in theirs:
            if key not in mine:
                found.append(AdChange(key, ChangeKind.CREATED))
            elif names := mine.differing(key, theirs):
                found.append(AdChange(key, ChangeKind.CHANGED, names))
        return tuple(found)

    def adopt(self, other: Mirror) -> None:
        """Take over the contents of another mirror."""
        self.sequence, self.created = other.sequence, other.created
        self.ads, self.values = other.ads, other.values
        self.settle()


def _called(changes: tuple[AdChange, ...]) -> Callable[[Subscriber], Exception | None]:
    """Return a function that calls a subscriber and returns its error, so that the others are called too."""

    def call(subscriber: Subscriber) -> Exception | None:
        try:
            subscriber(changes)
        except Exception as error:  # noqa: BLE001 - raised after all have been called
            return error
        return None

    return call
