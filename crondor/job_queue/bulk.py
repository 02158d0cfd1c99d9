"""The usual records of a log, taken as bytes an ad at a time; what is unusual is left to whoever reads line by line.

Usual is what a schedd writes: keys in their one spelling, single blanks, and values. One expression finds each run of
records of an ad and checks the values that are literals; other values are read once for all ads that have them.
"""

from __future__ import annotations

import re
from typing import Final

from crondor.classad.errors import ClassAdSyntaxError
from crondor.job_queue.mirror import Mirror

_NUMBER: Final = rb"[1-9][0-9]{0,8}"
_JOB: Final = rb"(%s)\.(0|%s)" % (_NUMBER, _NUMBER)
_OTHER: Final = rb"0%s\.-1|%s\.-2|0\.(?:0|%s)" % (_NUMBER, _NUMBER, _NUMBER)
_KEY: Final = rb"(?:%s\.(?:0|%s)|%s)" % (_NUMBER, _NUMBER, _OTHER)
_NAME: Final = rb"[!-~]+"
_VALUE: Final = (  # by what it begins with, which is how the engine of expressions chooses
    rb'(?:[1-9][0-9]{0,17}(?:\.[0-9]{1,20})?|"[^"\\\n\0]*"|0(?:\.[0-9]{1,20})?|false|true|undefined'
    rb"|-(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,20})?)\n"
)
_MORE: Final = b"{0,1000}"  # lines at once: a run may be as long as the log, and the engine remembers each line
_RUNS: Final = re.compile(
    b"|".join(
        (
            rb"101 (%(job)s|%(other)s) ([A-Za-z0-9_]+|\(empty\)) [!-~]+\n((?:103 \1 %(name)s %(value)s)%(more)s)",
            rb"103 (%(key)s) %(name)s %(value)s(?:103 \6 %(name)s %(value)s)%(more)s",
            rb"103 (%(key)s) (%(name)s [!-~\x80-\xff](?:[^\n\0]*[!-~\x80-\xff])?)\n",
            rb"(105) \n",
            rb"(106) (?:#[^\r\n\0]+)?\n",
            rb"104 (%(key)s) (%(name)s)\n",
            rb"102 (%(key)s)\n",
            rb"[^\n]*\n",
        )
    )
    % {b"job": _JOB, b"other": _OTHER, b"key": _KEY, b"name": _NAME, b"value": _VALUE, b"more": _MORE}
)
_NEW, _SET, _ODD, _BEGIN, _END, _DELETE, _DESTROY = 5, 6, 8, 9, 10, 12, 13  # the last group of each
_KEYS: Final = {_SET: _SET, _ODD: _ODD - 1, _DELETE: _DELETE - 1}  # of records that change an ad: where its key is
_MOST_READ: Final = 1 << 13
_LONGEST_READ: Final = 1 << 11


class Bulk:
    """Takes stretches of a log into a mirror that notes no changes."""

    def __init__(self) -> None:
        """Begin without a mirror: each call of ``take`` names it."""
        self.had_transactions = False
        self._mirror = Mirror()
        self._read: set[bytes] = set()  # names with values that are expressions
        self._raw = b""  # the key of the ad whose records are not in the mirror yet
        self._key = ""
        self._ad: bytes | None = None  # what the mirror has of it

    def take(  # noqa: C901, PLR0912 - all of reading is in this loop: a call for what each turn does costs 6 %
        self, mirror: Mirror, data: bytes, at: int, stop: int, *, under_way: bool, ended: bool, ends: bool
    ) -> tuple[int, bool]:
        """Take records up to the first that is unusual; return where that is, and if a transaction is under way there.

        A record begins at ``at``. ``under_way``: a transaction is so there. ``ended``: all records count, so that one
        may begin; ``ends``: its end is nothing special.
        """
        self._mirror, live = mirror, mirror.live
        start = end = at  # of the records of one ad
        for match in _RUNS.finditer(data, at, stop):
            kind = match.lastindex
            if kind in _KEYS:
                raw = match[_KEYS[kind]]
                if raw != self._raw:
                    self._flush(data, start, end)
                    start = match.start()
                    if not self._turn(raw):
                        break
                if kind == _ODD and match[_ODD] not in self._read and not self._reads(match[_ODD]):
                    break
                if kind == _DELETE and live and self._hides(match[_DELETE]):
                    self._flush(data, start, end)
                    mirror.delete(self._key, match[_DELETE].decode())
                end = match.end()
            elif kind == _NEW:
                self._flush(data, start, end)
                if not self._create(match, live=live and under_way):
                    break
                start, end = match.span()
            elif kind == _BEGIN:
                if under_way or not ended:
                    break
                under_way = self.had_transactions = True
            elif kind == _END:
                if not (under_way and ends):
                    break
                under_way = False
                mirror.new.clear()
            elif kind == _DESTROY:
                self._flush(data, start, end)
                if not mirror.destroy(match[_DESTROY].decode()):
                    break
            else:
                break
            at = match.end()
        self._flush(data, start, end)
        return at, under_way

    def _create(self, match: re.Match[bytes], *, live: bool) -> bool:
        """Make an ad; say whether there was none."""
        raw, cluster, proc = match.group(1, 2, 3)
        key, ads = raw.decode(), self._mirror.ads
        if key in ads.held:
            return False
        if proc is not None:
            ads.jobs.setdefault(int(cluster), {})[int(proc)] = key
        if live:
            self._mirror.new.add(key)
        self._raw, self._key, self._ad = raw, key, None
        return True

    def _turn(self, raw: bytes) -> bool:
        """Turn to another ad; say whether it is there, and packed."""
        key = raw.decode()
        ad = self._mirror.ads.held.get(key)
        if not isinstance(ad, bytes):
            return False
        self._raw, self._key, self._ad = raw, key, ad
        return True

    def _hides(self, name: bytes) -> bool:
        """Say whether the cluster has what a record deletes of its job."""
        return self._key not in self._mirror.new and self._mirror.inherits(self._key, name.decode().lower())

    def _flush(self, data: bytes, start: int, end: int) -> None:
        """Put the records of an ad into the mirror."""
        if not self._raw:
            return
        if self._ad is None:
            self._mirror.ads.held[self._key] = data[start:end]
        elif start < end:
            self._mirror.ads.edit(self._key, self._ad, data[start:end])
        self._raw = b""

    def _reads(self, line: bytes) -> bool:
        """Say whether a name's value is an expression."""
        value = line.partition(b" ")[2].decode("utf-8", "surrogateescape")
        try:
            self._mirror.values[value]
        except ClassAdSyntaxError:
            return False
        if len(line) <= _LONGEST_READ:
            if len(self._read) >= _MOST_READ:
                self._read.clear()
            self._read.add(line)
        return True
