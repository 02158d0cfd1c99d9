"""Any schedule as cron fields and a clause: superset, clause, spacing and proof; and times that are excluded."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from crondor.algebra import day_zero_clause
from crondor.calendar import DAY, lowest
from crondor.classad import Expression
from crondor.classad.parser import UnparseForm, unparse
from crondor.classad.tree import Binary, Node, Reference, bare, nodes
from crondor.compile.days import MINUTES, DaySet, members, seconds_of
from crondor.compile.meaning import read_schedule
from crondor.compile.writing.clause import (
    TIME,
    WORTH,
    Change,
    Day,
    EpochClock,
    HostClock,
    Way,
    by_clock,
    grouped,
    one_of,
    runs_between,
    ways,
)
from crondor.compile.writing.evaluation import Clause
from crondor.compile.writing.superset import Proof, Superset, local_days, prove, smallest, split, wanted_days, within
from crondor.compile.writing.wish import (
    CAUGHT_UP,
    CannotCompile,
    Compiled,
    CompiledJob,
    LineOptions,
    Spacing,
    Wish,
    default_end,
    hurried,
    spacing,
    spoiled,
)
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.schedule import JobSchedule, Universe
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, FIELDS, HOUR, MINUTE, MONTH, CronSpec, Dialect, Field
from crondor.zones import Zone

_MOST_LEFT_OUT = 20_000  # minutes that are examined one by one
_SPAN_OF_DAYS = 8  # from so many excluded days in a row on, a span of time is used
_NEVER = 1 << 40
Moment = tuple[int, int]  # a day and a minute


class Said(NamedTuple):
    """A way's whole text, and whether it may be valid forever: only times before its first one are excluded."""

    text: str
    is_rule: bool
    is_local: bool
    ends: bool  # no time passes after the last wanted one


def complete(way: Way, days: dict[int, Day]) -> Said:
    """Return a way's text with the wrongly accepted times excluded."""
    is_local = way.clock.is_local
    is_endless = not (way.is_list or way.clock.ends)
    if way.clock.has_table and not way.clock.is_local:
        way = _by_utc(way)
    whole, spans = _left_out(way, days)
    parts = [grouped(way.text)] if way.text else []
    if whole:
        text = way.clock.day_in(whole)
        parts.append(f"!{text}" if text.startswith(("member", "stringList")) else text.replace(" == ", " != "))
    single = [low for low, high in spans if low == high]
    if len(single) == 1:
        parts.append(f"{TIME} != {single[0]}")
    elif single:
        parts.append(f"!{one_of(TIME, single)}")
    parts += [_outside(low, high) for low, high in spans if low != high]
    is_rule = is_endless and not whole and all(low < 0 and high < _NEVER for low, high in spans)
    return Said(" && ".join(parts), is_rule, is_local, any(high >= _NEVER for _, high in spans))


def _by_utc(way: Way) -> Way:
    """Return a way that excludes UTC days, which need no table; unchanged if there are too many."""
    if sum(bits.bit_count() for bits in way.excess.values()) > _MOST_LEFT_OUT:
        return way
    found: dict[int, int] = {}
    for day, bits in way.excess.items():
        for minute in members(bits):
            at = way.clock.instant(day, minute)
            found[at // DAY] = found.get(at // DAY, 0) | 1 << at % DAY // 60
    return Way(way.text, EpochClock((Change(0, 0),)), found, way.is_list)


def _outside(low: int, high: int) -> str:
    if low < 0:
        return f"{TIME} > {high}"
    if high >= _NEVER:
        return f"{TIME} < {low}"
    return f"({TIME} < {low} || {TIME} > {high})"


def _left_out(way: Way, days: dict[int, Day]) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the days to exclude as a whole, and the spans (both ends included) to exclude, in order of time."""
    if not way.excess:
        return [], []
    table = by_clock(days, way.clock)
    if any(day not in table for day in way.excess):
        return [], []
    filled = sorted(day for day, (_, wanted) in table.items() if wanted)
    whole: list[int] = []
    left: list[tuple[int, int]] = []
    for low, high in _joined(way.excess, table, filled):
        inside = range(low[0], high[0] + 1)
        is_edge = not filled or low < (filled[0], 0) or high > (filled[-1], MINUTES)
        if not is_edge and len(inside) <= _SPAN_OF_DAYS and all(d not in table or not table[d].wanted for d in inside):
            whole += [d for d in inside if d in way.excess]
            continue
        before = not filled or low < (filled[0], lowest(table[filled[0]].wanted))
        after = not filled or high > (filled[-1], table[filled[-1]].wanted.bit_length() - 1)
        left.append((-1 if before else way.clock.instant(*low), _NEVER if after else way.clock.instant(*high)))
    return whole, left


def _joined(excess: dict[int, int], table: dict[int, Day], filled: list[int]) -> Iterator[tuple[Moment, Moment]]:
    """Yield the spans of wrongly accepted minutes, joined unless a wanted one is between them."""
    start: Moment | None = None
    last: Moment = (0, 0)
    for day in sorted(excess):
        wanted = table[day].wanted
        for low, high in _gaps(excess[day], wanted):
            if start is not None and _has_wanted(table, filled, last, (day, low)):
                yield start, last
                start = None
            start = (day, low) if start is None else start
            last = day, high
    if start is not None:
        yield start, last


@lru_cache(maxsize=2048)
def _gaps(excess: int, wanted: int) -> tuple[tuple[int, int], ...]:
    if not wanted:
        return ((lowest(excess), excess.bit_length() - 1),)
    return tuple(runs_between(excess, excess | wanted))


def _has_wanted(table: dict[int, Day], filled: list[int], low: Moment, high: Moment) -> bool:
    """Return whether there is a wanted minute between two moments."""
    between_ = (1 << high[1]) - 1
    if low[0] == high[0]:
        return bool(table[low[0]].wanted & between_ >> low[1] << low[1])
    if table[low[0]].wanted >> low[1] or table[high[0]].wanted & between_:
        return True
    at = bisect_right(filled, low[0])
    return at < len(filled) and filled[at] < high[0]


LONGEST_CLAUSE = 4000
"""Characters allowed for a clause: each negotiation evaluates it for each slot."""

_TRIED = 4  # of the shortest ways
_MOST_JOBS = 12
_BEYOND = 12 * 366 * DAY  # a rule without a table must be valid this long after the horizon, or it ends there
_LIVELY = 3 * 366 * DAY  # and still have times in the last of these years
_STEPS = 64  # parts of the time; the longest with a clause is searched in these steps
_MOST_LISTED = 10_000  # times beyond it
_FEW = 4  # times a day, up to which the fields are chosen for those years too


def compile_schedule(wish: Wish) -> Compiled:
    """Return the jobs of a schedule, proven.

    Raises CannotCompile with the reason: no time is wanted, a wrong time is too close before a right one for every
    number of jobs up to 12, a clause would be too long, or the schedd cannot reach a time (in an hour that its clock
    shows twice). With ``approximate`` the nearest solution is returned, with why it is not exact; for a schedule
    without a run, or with times that no fields name, there is none.
    """
    until, reason = _horizon(wish)
    wanted = wanted_days(wish.schedule, wish.after, until)
    if not wanted:
        zone = wish.schedule.zone
        first, last = (f"{zone.moment(each):%Y-%m-%d %H:%M}" for each in (wish.after, until))
        message = f"the schedule has no run from {first} to {last}"
        raise CannotCompile(Diagnostic("compile-empty", message, help="choose another --from, or a later --until"))
    compiling = _Compiling(wish, until, reason, wanted)
    try:
        return compiling.run()
    except CannotCompile as refusal:
        if not wish.approximate or refusal.diagnostics[0].kind != "compile-clause":
            raise
        return _as_long_as_it_fits(compiling, refusal)


def _as_long_as_it_fits(whole: _Compiling, refusal: CannotCompile) -> Compiled:
    """Return the jobs of about the longest time that has a clause. Raises the refusal if there is none."""
    low, high = whole.wish.after, whole.until
    least = max(DAY, (high - low) // _STEPS)
    best: Compiled | None = None
    while high - low > least:
        middle = (low + high) // 120 * 60
        wanted = wanted_days(whole.wish.schedule, whole.wish.after, middle)
        try:
            best = _Compiling(whole.wish, middle, "the clause holds no more", wanted).run() if wanted else best
        except CannotCompile:
            high = middle
        else:
            low = middle
    if best is None:
        raise refusal
    if best.is_open:
        return best
    later = wanted_days(whole.wish.schedule, best.proof.until, whole.until)
    times = (day * DAY + second for day, bits in later.items() for second in seconds_of(bits))
    count = sum(bits.bit_count() for bits in later.values())
    end = f"{whole.wish.host.moment(best.proof.until):%Y-%m-%d}"
    message = f"{refusal.diagnostics[0].message}: it holds until {end}, without the {count} wanted times after that"
    lost = (*best.proof.lost, *islice(times, _MOST_LISTED))
    return replace(best, proof=best.proof._replace(lost=lost), reasons=(*best.reasons, message))


def _horizon(wish: Wish) -> tuple[int, str]:
    known = wish.schedule.until
    if known is not None and known < wish.until:
        return known, wish.schedule.until_reason
    return wish.until, ""


class _Compiling:
    """One schedule being compiled."""

    def __init__(self, wish: Wish, until: int, reason: str, wanted: dict[int, int]) -> None:
        self.wish = wish
        self.until = until
        self.reason = reason
        self.wanted = wanted
        self.notes: list[str] = []
        self.reasons: list[str] = []
        self.spoiled: list[int] = []
        self._clauses: dict[str, Clause] = {}

    def run(self) -> Compiled:
        """Return the jobs."""
        whole = self._superset()
        parts = self._parted(whole)
        jobs, closed = [], True
        late: dict[int, int] = {}
        left = dict(self.wanted)
        for superset in parts:
            own = {}
            for day, bits in left.items():
                taken = bits & superset.minutes(day)
                if taken:
                    own[day] = taken
                    left[day] = bits ^ taken
            own = self._reachable(superset, own)
            if own:
                job, is_open = self._job(superset, own)
                closed = closed and not is_open
                jobs.append(job)
                for day, bits in hurried(own, self.wish.timing.pass_interval).items():
                    late[day] = late.get(day, 0) | bits
        proof = prove(
            self.wanted,
            [(job.superset, self._read(job.clause) if job.clause else None) for job in jobs],
            self.wish.start,
            self.until,
        )
        if not proof.is_exact:
            self._judge(proof)
        return Compiled(
            self.wish,
            tuple(jobs),
            proof,
            self.reason,
            not closed,
            tuple(dict.fromkeys(self.notes)),
            tuple(self.reasons),
            tuple(sorted(self.spoiled)),
            late,
        )

    def _reachable(self, superset: Superset, wanted: dict[int, int]) -> dict[int, int]:
        """Return the wanted times without those of second passes, which the schedd does not return."""
        found = dict(wanted)
        for low, last in superset.repeats(self.wish.start, self.until):
            for day in range(low // DAY, last // DAY + 1):
                if day in found:
                    found[day] &= ~within(day, low - 1, last - 60)
        return {day: bits for day, bits in found.items() if bits}

    def _superset(self) -> Superset:
        """Return the smallest superset; times that a clock change moves need no fields of their own."""
        host = self.wish.host
        changed = {
            c.start // DAY + more for c in host.changes(self.wish.start - DAY, self.until) for more in (-1, 0, 1)
        }
        calm = {day: bits for day, bits in self.wanted.items() if day not in changed}
        often = max(bits.bit_count() for bits in self.wanted.values())
        ahead = {}
        if self.wish.schedule.until is None and often <= _FEW and host.is_fixed:
            ahead = wanted_days(self.wish.schedule, self.until, self.until + _BEYOND)
        for days in (calm and {**calm, **ahead}, self.wanted):
            if days:
                found = Superset(smallest(local_days(days.items(), host)), host)
                if all(not bits & ~found.minutes(day) for day, bits in self.wanted.items()):
                    return found
        message = "its times are none that the submit host's clock shows"
        raise CannotCompile(Diagnostic("compile-superset", message))

    def _parted(self, whole: Superset) -> list[Superset]:
        """Return the superset, or several that share its times, so that wrong times are far enough from right ones."""
        needed = self.wish.timing.needed
        found = self._spacing(whole, self.wanted)
        if found.least is None or found.least >= needed:
            return [whole]
        best, lost = [whole], self._spoiled([whole])
        for parts in split(whole, local_days(self.wanted.items(), whole.zone), _MOST_JOBS):
            if all(self._is_far_enough(part) for part in parts):
                return parts
            if self.wish.approximate and len(some := self._spoiled(parts)) < len(lost):
                best, lost = parts, some
        timing = self.wish.timing
        message = (
            f"a time to skip is {found.least} s before a wanted one, but {needed} s are needed: window "
            f"{timing.window} + SCHEDD_INTERVAL {timing.schedd_interval} + prep time {timing.least_prep}"
        )
        help_text = "use a shorter --window, --prep-time or --schedd-interval (the schedd's)"
        if not self.wish.approximate:
            raise CannotCompile(Diagnostic("compile-distance", message, help=help_text))
        self.reasons.append(message)
        self.spoiled = lost
        return best

    def _spoiled(self, parts: list[Superset]) -> list[int]:
        """Return the wanted times that are too close after a wrong one of their job."""
        found: list[int] = []
        left = dict(self.wanted)
        for part in parts:
            own = {day: taken for day, bits in left.items() if (taken := bits & part.minutes(day))}
            left = {day: bits & ~own.get(day, 0) for day, bits in left.items()}
            found += spoiled(self._days(part, own), self.wish.timing.needed)
        return found

    def _is_far_enough(self, part: Superset) -> bool:
        own = {day: bits & part.minutes(day) for day, bits in self.wanted.items()}
        least = self._spacing(part, own).least
        return least is None or least >= self.wish.timing.needed

    def _spacing(self, superset: Superset, wanted: dict[int, int]) -> Spacing:
        return spacing(self._days(superset, wanted))

    def _days(self, superset: Superset, wanted: dict[int, int]) -> Iterator[tuple[int, int, int]]:
        """Yield all UTC days with the minutes that the schedd may set, and the wanted ones."""
        start, until = self.wish.start, self.until
        for day in range(start // DAY, until // DAY + 1):
            yield day, superset.minutes(day) & within(day, start, until), wanted.get(day, 0)

    def _job(self, superset: Superset, wanted: dict[int, int]) -> tuple[CompiledJob, bool]:
        """Return one job, and whether it continues after the horizon."""
        start, until, timing = self.wish.start, self.until, self.wish.timing
        guards = self._guards(superset, wanted)
        days: dict[int, Day] = {}
        for day in range(start // DAY, until // DAY + 1):
            offered = superset.minutes(day) & within(day, start, until)
            if offered:
                days[day] = Day(offered, wanted.get(day, 0))
        for low, high in guards:
            for day in range(low // DAY, high // DAY + 1):
                if day in days:
                    clear = within(day, low - 1, high) & ~days[day].wanted
                    days[day] = Day(days[day].offered & ~clear, days[day].wanted)
        space = spacing((day, some, taken) for day, (some, taken) in days.items())
        text, is_open = self._clause(superset, wanted, days, guards)
        prep = timing.prep_for(space.least)
        if prep is not None and prep < 0:
            prep = timing.least_prep
        window = timing.window or None
        return CompiledJob(superset, text, prep, window, space), is_open

    def _guards(self, superset: Superset, wanted: dict[int, int]) -> list[tuple[int, int]]:
        """Return the second passes of repeated hours in which the schedd must not start the job."""
        found = []
        for low, last in superset.repeats(self.wish.start, self.until):
            high = last + 119
            later = [t for t in range(last, high + 1, 60) if wanted.get(t // DAY, 0) >> t % DAY // 60 & 1]
            found.append((low, later[0] - 1 if later else high))
        return found

    def _clause(
        self, superset: Superset, wanted: dict[int, int], days: dict[int, Day], guards: list[tuple[int, int]]
    ) -> tuple[str, bool]:
        """Return the shortest proven clause, and whether it needs no end."""
        tail = [f"({TIME} < {low} || {TIME} > {high})" for low, high in guards]
        if all(offered == taken for offered, taken in days.values()):
            if self._goes_on(superset, None) and not tail:
                return "", True
            return self._open(" && ".join([*tail, f"{TIME} <= {self.until}"])), False
        best = ""
        for said in self._texts(days):
            text = said.text
            whole = " && ".join([grouped(text), *tail]) if tail else text
            is_open = False
            if not tail and said.is_rule:
                is_open = self._goes_on(superset, self._read(whole))
            if not is_open and not said.ends:
                whole = " && ".join([grouped(text), *tail, f"{TIME} <= {self.until}"])
            whole = self._open(whole)
            best = best or whole
            if len(whole) <= LONGEST_CLAUSE and self._is_right(superset, wanted, whole, guards):
                return whole, is_open
        return self._refused(best), False

    def _open(self, clause: str) -> str:
        """Return a clause that also lets a run match that a guard makes up, if there may be one."""
        return f"({clause}) || {CAUGHT_UP}" if self.wish.makes_up else clause

    def _texts(self, days: dict[int, Day]) -> list[Said]:
        """Return the best texts, the preferred one first."""
        found = [way for clock in self._clocks() for way in ways(days, clock)]
        found.sort(key=lambda way: (not way.clock.is_local, way.rank))
        is_lively = self._is_lively()
        texts = [said for way in found[:_TRIED] if (said := complete(way, days)).text]  # "" accepts all: it is wrong
        return sorted(
            texts,
            key=lambda said: (
                self.wish.local and "formatTime" not in said.text,
                len(said.text) + (WORTH if is_lively and not said.is_rule else 0),
            ),
        )

    def _is_lively(self) -> bool:
        """Return whether the schedule has times long after the horizon, so that a rule without an end is worthwhile."""
        found = (
            None if self.wish.schedule.until is not None else self.wish.schedule.next(self.until + _BEYOND - _LIVELY)
        )
        return found is not None and found <= self.until + _BEYOND

    def _clocks(self) -> Iterator[EpochClock]:
        """Yield the clocks by which the times are viewed."""
        zones = dict.fromkeys([self.wish.schedule.zone, self.wish.host])
        tables = [_changes(zone, self.wish.start, self.until) for zone in zones]
        if self.wish.local:
            yield HostClock(_changes(self.wish.host, self.wish.start, self.until))
        seen = set()
        for offset in (0, *(change.offset for table in tables for change in table)):
            if offset not in seen and not offset % 60:
                seen.add(offset)
                yield EpochClock((Change(0, offset),))
        for table in tables:
            if len({change.offset for change in table}) > 1 and not any(c.offset % 60 for c in table):
                yield EpochClock(table)

    def _is_right(self, superset: Superset, wanted: dict[int, int], text: str, guards: list[tuple[int, int]]) -> bool:
        """Return whether exactly the wanted times pass, of all that may be set."""
        clause = self._read(text)
        for day in range(self.wish.start // DAY, self.until // DAY + 1):
            offered = superset.minutes(day) & within(day, self.wish.start, self.until)
            if offered and clause.minutes(day, offered) != wanted.get(day, 0):
                return False
        return not any(clause.holds(at) for span in guards for at in span)

    def _read(self, text: str) -> Clause:
        """Return a clause, ready for evaluation."""
        found = self._clauses.get(text)
        if found is None:
            found = self._clauses[text] = Clause(text, self.wish.host)
        return found

    def _goes_on(self, superset: Superset, clause: Clause | None) -> bool:
        """Return whether the jobs stay right for years after the horizon, so that they need no end."""
        schedule = self.wish.schedule
        if schedule.until is not None:
            return False
        if any(superset.repeats(self.until, self.until + _BEYOND)):
            return False
        last = 0
        for day in range(self.until // DAY + 1, (self.until + _BEYOND) // DAY):
            bits = superset.minutes(day)
            if bits and clause is not None:
                bits = clause.minutes(day, bits)
            if bits != schedule.minutes(day):
                return False
            last = day if bits else last
        return last * DAY > self.until + _BEYOND - _LIVELY

    def _refused(self, text: str) -> str:
        size = len(text)
        if size > LONGEST_CLAUSE:
            message = f"the clause would have {size} characters, more than the limit of {LONGEST_CLAUSE}"
            help_text = "the schedule has no short rule for this long: an earlier --until makes the clause shorter"
        else:
            message = "no clause was found that only its times pass"
            help_text = "an earlier --until may help, or an `except` of whole days"
        raise CannotCompile(Diagnostic("compile-clause", message, help=help_text))

    def _judge(self, proof: Proof) -> None:
        """Return why the proof failed; raises CannotCompile unless the nearest solution is accepted."""
        zone = self.wish.host
        said = f"{zone.moment((proof.lost or proof.wrong)[0]):%Y-%m-%d %H:%M %z}"
        if proof.lost and not proof.wrong:
            message = (
                f"the schedd does not reach {len(proof.lost)} of {proof.wanted} wanted times, the first {said}: in an "
                "hour that its clock shows twice it returns only one pass"
            )
            help_text = "a submit host in UTC has no such hour; --approximate does without these times"
        else:
            message = f"{len(proof.wrong)} unwanted times would start, the first {said}"
            help_text = "--approximate accepts them"
        if not self.wish.approximate:
            raise CannotCompile(Diagnostic("compile-inexact", message, help=help_text))
        self.reasons.append(message)


def _changes(zone: Zone, start: int, until: int) -> tuple[Change, ...]:
    first = Change(0, zone.at(start - DAY).offset)
    return (first, *(Change(c.start, c.offset) for c in zone.changes(start - DAY, until + DAY)))


class WrittenJob(NamedTuple):
    """The job of a file: its fields as HTCondor's manual reads them, and its requirements ("" for none)."""

    spec: CronSpec
    requirements: str


def fit(schedule: DaySet, jobs: Iterable[WrittenJob], zone: Zone, start: int, until: int) -> Proof:
    """Compare a schedule with jobs from ``start`` to ``until`` (epoch seconds) on a submit host in a zone.

    Only the parts of requirements about DeferralTime count. Raises ClassAdSyntaxError.
    """
    if schedule.until is not None:
        until = min(until, schedule.until)
    pairs = []
    for job in jobs:
        text = clause_of(job.requirements)
        pairs.append((Superset(job.spec, zone), Clause(text, zone) if text else None))
    return prove(wanted_days(schedule, start, until), pairs, start, until)


def clause_of(requirements: str) -> str:
    """Return the parts of requirements about DeferralTime, joined by ``&&``. Raises ClassAdSyntaxError."""
    if "deferraltime" not in requirements.lower():
        return ""
    parts = [unparse(part, UnparseForm.COMPACT) for part in _parts(Expression(requirements).tree) if _speaks(part)]
    return " && ".join(f"({part})" for part in parts)


def _parts(node: Node) -> list[Node]:
    node = bare(node)
    if isinstance(node, Binary) and node.op == "&&":
        return _parts(node.left) + _parts(node.right)
    return [node]


def _speaks(node: Node) -> bool:
    return any(isinstance(each, Reference) and each.name.lower() == "deferraltime" for each in nodes(node))


class DayZeroCure(NamedTuple):
    """A clause against the schedd's day-0 defect, and the texts of fields that it needs.

    ``is_alike``: it means the same on every host that evaluates it.
    """

    clause: str
    texts: Mapping[Field, str]
    is_alike: bool


def day_zero_cure(wanted: CronSpec, schedule: JobSchedule | None, zone: Zone, now: int) -> DayZeroCure:
    """Return the fix for a job whose fields should mean ``wanted``; ``schedule`` has its universe and window.

    Jobs of the local universe are matched on the submit host, by its clock. If that never changes, the clause is
    arithmetic on the epoch; otherwise it is the result of compile, if that is valid forever; otherwise formatTime,
    which uses the zone of each host.
    """
    schedule = schedule or JobSchedule()
    if schedule.universe is Universe.LOCAL:
        return DayZeroCure(day_zero_clause(wanted), {}, is_alike=True)
    offset = zone.at(now).offset
    if zone.is_fixed and not offset % 60 and len(wanted.values(MONTH)) == 12:
        return DayZeroCure(_by_epoch(wanted, offset), {}, is_alike=True)
    if wanted.dialect is not Dialect.MANUAL:
        restricted = (field for field in FIELDS if wanted.bits[field.index] != field.full)
        wanted = CronSpec.from_mapping({f.attribute: ",".join(map(str, wanted.values(f))) for f in restricted})
    window = schedule.window if isinstance(schedule.window, int) else None
    commands = _for_ever(str(wanted), zone, now, window, schedule.schedd_interval)
    texts = {field: commands.get(field.command, "*") for field in FIELDS}
    changed = {field: text for field, text in texts.items() if text != (wanted.given[field.index] or "*")}
    if "requirements" in commands and "cron_prep_time" not in commands and set(changed) <= {DAY_OF_MONTH}:
        return DayZeroCure(commands["requirements"], changed, is_alike=True)
    return DayZeroCure(day_zero_clause(wanted), {}, is_alike=False)


def _by_epoch(wanted: CronSpec, offset: int) -> str:
    """Return the clause for a clock with a constant offset ahead of UTC (seconds)."""
    minutes, hours, weekdays = (wanted.values(field) for field in (MINUTE, HOUR, DAY_OF_WEEK))
    clock = EpochClock((Change(0, offset),))
    parts = [clock.weekday_in({*weekdays})]
    if len(hours) * len(minutes) == 1:
        parts.append(clock.minute_in([60 * hours[0] + minutes[0]]))
    else:
        parts += [clock.hour_in([*hours])] if len(hours) < 24 else []
        parts += [clock.minute_of_hour_in([*minutes])] if len(minutes) < 60 else []
    return " && ".join(parts)


@lru_cache(maxsize=256)
def _for_ever(text: str, zone: Zone, now: int, window: int | None, schedd_interval: int) -> Mapping[str, str]:
    """Return the commands of the one job that has a schedule forever, none if there is no such job."""
    options = LineOptions(window=window, schedd_interval=schedd_interval)
    try:
        compiled = compile_schedule(options.wish(read_schedule(text, zone=zone), zone, now, default_end(now)))
    except CrondorError:
        return {}
    return compiled.jobs[0].commands if compiled.exact and compiled.is_open and len(compiled.jobs) == 1 else {}
