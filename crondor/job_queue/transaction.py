"""What is to change in a queue, gathered and checked: all of it is written, or nothing.

HTCondor: Transaction::Commit.
"""

from __future__ import annotations

import re
from typing import Final, NoReturn

from crondor.classad.ad import ClassAd
from crondor.classad.errors import ClassAdSyntaxError
from crondor.classad.pythonic import to_code
from crondor.classad.show import code_tree
from crondor.classad.text import lower
from crondor.classad.unparse import UnparseForm, unparse
from crondor.diagnostics import Diagnostic
from crondor.job.attributes import alone, int32_of
from crondor.job_queue.faults import InvalidChange
from crondor.job_queue.history import History
from crondor.job_queue.keys import HEADER, JobId, cluster_key, is_key
from crondor.job_queue.mirror import Mirror
from crondor.job_queue.records import EMPTY_TYPE, Op, Record
from crondor.source import Source

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*\Z").match
_WORD: Final = re.compile(r"[^\s\0]+\Z").match
_EXACT: Final = 1 << 63
_NEXT_CLUSTER: Final = "NextClusterNum"
_TOTAL_PROCS: Final = "TotalSubmitProcs"
_PRIVATE: Final = -2


class Transaction:
    """The changes of one transaction; reading sees them, nobody else does until it ends.

    An ad is named by its key (``"01.-1"``, ``"0.0"``) or a JobId. A wrong change raises InvalidChange at once and
    leaves the ones before as they are.
    """

    def __init__(self, mirror: Mirror) -> None:
        """Begin without a change."""
        self._mirror = mirror
        self.records: list[Record] = []
        self.moves: list[tuple[History, ClassAd, int]] = []
        self._ads: dict[str, dict[str, str] | None] = {}  # as they will be; None: gone
        self._more: dict[int, int] = {}  # by how many a cluster's jobs have changed
        self._spelled: dict[str, str] = {}  # names in lower case: as they are first written here
        self._low: dict[str, str] = {}  # names that were written here, in lower case

    # Reading

    def __contains__(self, ad: str | JobId) -> bool:
        """Say whether there will be such an ad."""
        return self._own(self._mirror.key(ad)) is not None

    def text(self, ad: str | JobId, name: str) -> str | None:
        """Return the text an attribute will have, a job's from its cluster where it has none. Raises InvalidChange."""
        key = self._mirror.key(ad)
        low = lower(name)
        found = self._there(key).get(low)
        job = JobId.parse(key)
        if found is None and job is not None:
            found = (self._own(cluster_key(job.cluster)) or {}).get(low)
        return found

    def _own(self, key: str) -> dict[str, str] | None:
        if key in self._ads:
            return self._ads[key]
        return self._mirror.ads.get(key)

    def _there(self, key: str) -> dict[str, str]:
        found = self._own(key)
        if found is None:
            return _refuse(key, "there is no such ad", "create it first")
        return found

    def _to_change(self, key: str) -> dict[str, str]:
        """Return an ad's texts as a copy of the transaction's own."""
        texts = self._ads.get(key)
        if texts is None:
            texts = self._ads[key] = dict(self._there(key))
        return texts

    # Changing

    def create(self, ad: str | JobId, my_type: str = "Job") -> None:
        """Make an ad; ``my_type`` becomes its MyType, and a Job gets TargetType Machine. Raises InvalidChange."""
        key = self._mirror.key(ad)
        if self._own(key) is not None:
            _refuse(key, "this ad is there already", "set its attributes")
        if not is_key(key):
            _refuse(key, "a key is two numbers below 2,147,483,648 with a dot between", "write cluster.proc")
        if my_type and (not _WORD(my_type) or '"' in my_type or "\\" in my_type or my_type == EMPTY_TYPE):
            _refuse(my_type, "a type is a word without blanks and quotes", "write Job")
        self._count(key, 1)
        self.records.append(Record(Op.NEW, key, my_type))
        texts = self._ads[key] = {"mytype": f'"{my_type}"'}
        if lower(my_type) == "job":
            texts["targettype"] = '"Machine"'
        job = JobId.parse(key)
        if job is not None and HEADER in self and 0 < self._counter(HEADER, _NEXT_CLUSTER) <= job.cluster:
            self.set_text(HEADER, _NEXT_CLUSTER, str(job.cluster + 1))  # else the schedd would not start again

    def set(self, ad: str | JobId, name: str, value: object) -> None:
        """Set an attribute to a Python value or an Expression (a ``str`` is a string). Raises InvalidChange."""
        if value.__class__ is int and -_EXACT < value < _EXACT:
            text = str(value)
        else:
            try:
                text = unparse(code_tree(to_code(value)), UnparseForm.OLD)
            except ClassAdSyntaxError as error:
                raise InvalidChange(error.diagnostics) from None
        self.set_text(ad, name, text)

    def set_text(self, ad: str | JobId, name: str, text: str) -> None:
        """Set an attribute to an expression in old syntax, as it stands in a log or a ``-long`` ad.

        Raises InvalidChange.
        """
        key = ad if ad.__class__ is str and ad in self._ads else self._mirror.key(ad)
        low = self._low.get(name)
        if low is None:
            self._check_name(name)
            low = self._low[name] = lower(name)
        if "\n" in text or "\0" in text:
            _refuse(text, "a value with a line end or a NUL, which no log can hold", "leave them out")
        texts = self._to_change(key)
        try:
            if not text.isascii():
                text.encode("utf-8", "surrogateescape")
            texts[low] = value = self._mirror.values[text]
        except UnicodeEncodeError:
            _refuse(text, "half of a surrogate pair, which no UTF-8 text can hold", "leave it out")
        except ClassAdSyntaxError as error:
            raise InvalidChange(error.diagnostics) from None
        self._spelled.setdefault(low, name)
        self.records.append(Record(Op.SET, key, name, value))

    def delete(self, ad: str | JobId, name: str) -> None:
        """Take an attribute from an ad; a job whose cluster has it gets ``undefined``, as in the schedd.

        One that is not there is fine. Raises InvalidChange.
        """
        key = self._mirror.key(ad)
        self._check_name(name)
        low = lower(name)
        job = JobId.parse(key)
        if job is not None and low in (self._own(cluster_key(job.cluster)) or {}):
            self.set_text(ad, name, "undefined")
        elif low in self._there(key):
            del self._to_change(key)[low]
            self.records.append(Record(Op.DELETE, key, name))

    def destroy(self, ad: str | JobId) -> None:
        """Remove an ad, that one only. Raises InvalidChange."""
        key = self._mirror.key(ad)
        self._there(key)
        self._ads[key] = None
        self._count(key, -1)
        self.records.append(Record(Op.DESTROY, key))

    def _count(self, key: str, change: int) -> None:
        job = JobId.parse(key)
        if job is not None:
            self._more[job.cluster] = self._more.get(job.cluster, 0) + change

    def _check_name(self, name: str) -> None:
        if not _NAME(name):
            _refuse(name, "no attribute of a log has this name", "use letters, digits and _")

    # Jobs

    def new_cluster(self) -> int:
        """Return the number of a new cluster, with its ad made; numbers are never used twice. Raises InvalidChange."""
        if HEADER not in self:
            self.create(HEADER)
        cluster = self._counter(HEADER, _NEXT_CLUSTER) or max(self._mirror.clusters(), default=0) + 1
        while self._mirror.procs(cluster) or cluster_key(cluster) in self:
            cluster += 1
        self.set_text(HEADER, _NEXT_CLUSTER, str(cluster + 1))
        self.create(cluster_key(cluster))
        self.set_text(cluster_key(cluster), "ClusterId", str(cluster))
        return cluster

    def new_proc(self, cluster: int) -> JobId:
        """Return a new job of a cluster, with its ad made: its ProcId is set, all else is up to the caller.

        The cluster's TotalSubmitProcs counts the jobs made, so that no number is used twice. Raises InvalidChange.
        """
        parent = cluster_key(cluster)
        self._there(parent)
        procs = [job.proc for job in self._mirror.procs(cluster)]
        proc = max(self._counter(parent, _TOTAL_PROCS), max(procs, default=-1) + 1)
        job = JobId(cluster, proc)
        self.create(job)
        self.set_text(job, "ProcId", str(proc))
        self.set_text(parent, _TOTAL_PROCS, str(proc + 1))
        return job

    def remove(self, job: JobId) -> None:
        """Remove a job; the last one of a cluster takes the cluster's ads with it. Raises InvalidChange."""
        self.destroy(job)
        if self._mirror.proc_count(job.cluster) + self._more.get(job.cluster, 0):
            return
        for key in (cluster_key(job.cluster), str(JobId(job.cluster, _PRIVATE))):
            if key in self:
                self.destroy(key)

    def move_to_history(self, job: JobId, history: History, now: int) -> None:
        """Remove a job and write it, as it will be, to the history; ``now`` is epoch seconds. Raises InvalidChange.

        The history is written first: a crash in between leaves the job in the queue, never nowhere.
        """
        key = self._mirror.key(job)
        own, parent = self._there(key), self._own(cluster_key(job.cluster)) or {}
        self.moves.append((history, self._mirror.make_ad(key, {**parent, **own}, self._spelled), now))
        self.remove(job)

    def _counter(self, key: str, name: str) -> int:
        text = self.text(key, name)
        return max(0, int32_of(alone(text)) or 0)


def _refuse(text: str, message: str, hint: str) -> NoReturn:
    raise InvalidChange(Diagnostic("queue-change", message, span=Source(text, "<change>").span(), help=hint))
