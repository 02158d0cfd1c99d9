"""The router-steps kind: all that was written into a source and its copies, by a real router and by everybody else.

What others wrote is written again, step by step; where the recorded router wrote something crondor's polls, until the
source and the copies show the same, at most three times.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import groupby

from crondor.classad import Expression, UnparseForm, lower
from crondor.classad.ad import ClassAd
from crondor.config import read_config
from crondor.diagnostics import Source
from crondor.job_queue import JobId
from crondor.router.daemon import Router
from crondor.router.table.loading import load_table
from crondor.router.table.route import RoutingTable
from crondor.schedd.embedded import MemorySchedd
from tests.golden.kinds.case import Case, Difference, Malformed, Replay, items, mapping, one_of, text, texts

_CONFIG = "steps.conf"
_FIELDS = ("name", "job", "copies", "steps")
_POLLS = 3
# HTCondor's copy has these of a source that a router gave back before; they say what an ad without them says.
_AS_NONE = {"Managed": ('"Schedd"',), "ManagedManager": ('""',)}
_NONE = frozenset(map(lower, _AS_NONE))
# What the recordings left out: numbers and kinds of ads, and what a schedd gives every job or copy at its beginning.
_LEFT_OUT = frozenset(
    [
        "clusterid",
        "procid",
        "mytype",
        "targettype",
        "totalsubmitprocs",
        "totalsuspensions",
        "lastsuspensiontime",
        "exitstatus",
        "cumulativesuspensiontime",
        "cumulativeslottime",
        "committedtime",
        "committedslottime",
        "committedsuspensiontime",
        "remotething",
        "remote_jobuniverse",
        "releasereason",
        "lastreleasereason",
    ]
)
_BY = (" (by user condor)",)  # what the schedd adds to the reason it is given


def _replay(case: Case) -> list[Difference]:
    """Compare each attribute that the router wrote, after each group of its writings, and what is left."""
    record = case.record(_FIELDS, [])
    life = _Life(record, (case.folder / _CONFIG).read_text())
    return list(life.live())


class _Life:
    """One source and its copies; ``source`` and ``copy1`` and so on are their names."""

    def __init__(self, record: Mapping[str, object], config: str) -> None:
        if not items(record, "steps"):
            raise Malformed("steps", "one is expected at least")
        self._steps = [mapping({f"steps[{n}]": step}, f"steps[{n}]") for n, step in enumerate(items(record, "steps"))]
        self._recorded = {text(record, "job"): "source"}
        self._recorded |= {copy: f"copy{n}" for n, copy in enumerate(texts(record, "copies"), 1)}
        self.now = 0
        self._schedd = MemorySchedd(clock=lambda: self.now)
        self._router = Router(_table(config), self._schedd, clock=lambda: self.now)
        self._jobs: dict[str, JobId] = {}
        self._known: dict[str, dict[str, Expression | None]] = {}
        self._sooner: set[str] = set()

    def live(self) -> Iterator[Difference]:
        """Go through the steps; the steps of the router that follow one another are one group."""
        for by, group in groupby(self._steps, key=lambda step: step.get("by", "pool")):
            steps = list(group)
            if by != "router":
                for step in steps:
                    yield from self._write(step)
                last = steps[-1]
                if last["job"] != "source" and "set" in last:
                    self._sooner |= set(map(lower, mapping(last, "set")))
                continue
            found: list[Difference] = []
            together = self._written(steps)
            for _ in range(_POLLS):
                self._tell_time(steps)
                self._router.poll()
                self._find_copies()
                found = [each for step in together for each in self._compare(*step)]
                found += [each for name in self._jobs for each in self._compare_rest(name)]
                if not found:
                    break
            yield from found
            if found:  # what follows would be compared with another job's life
                return

    def _written(self, steps: list[dict[str, object]]) -> list[tuple[str, dict[str, object]]]:
        """Return what the recorded router wrote in a group, and keep it. Raises Malformed."""
        for step in steps:
            if not mapping(step, "set"):
                raise Malformed("steps.set", "the router wrote something in each of its steps")
            if (text(step, "job") not in self._known) is not (step.get("made") is True):
                raise Malformed("steps.made", f"true is expected where {step['job']} begins, and only there")
        together = _together(steps)
        for name, values in together:
            self._note(name, {key: None if value is None else _value(str(value)) for key, value in values.items()})
        return together

    def _tell_time(self, steps: list[dict[str, object]]) -> None:
        for step in steps:
            for name in ("EnteredCurrentStatus", "QDate"):
                value = str(mapping(step, "set").get(name, "")) if "set" in step else ""
                self.now = max(self.now, int(value)) if value.isdigit() else self.now

    def _write(self, step: dict[str, object]) -> Iterator[Difference]:
        """Do what somebody else did."""
        self._tell_time([step])
        name = one_of(step, "job", {*self._recorded.values()})
        job = self._jobs.get(name)
        if step.get("gone"):
            self._schedd.clear_finished()
            if job is None or job in self._schedd.mirror:
                yield Difference(name, "recorded as gone; crondor keeps it")
            return
        values = {key: None if value is None else _value(str(value)) for key, value in mapping(step, "set").items()}
        self._note(name, values)
        if step.get("made"):
            (self._jobs[name],) = self._schedd.submit([ClassAd(values)])
        elif job is not None and job in self._schedd.mirror:
            self._schedd.write(job, values)
        elif name == "source":
            yield Difference(name, "crondor's has left, and the recorded one has not")

    def _note(self, name: str, values: Mapping[str, Expression | None]) -> None:
        """Keep what a job has by the recording."""
        self._known.setdefault(name, {}).update({lower(key): value for key, value in values.items()})

    def _compare_rest(self, name: str) -> Iterator[Difference]:
        """Compare what the recording has of a job with what crondor has beside what was written just now.

        What others wrote into a copy last, crondor's router may have in the source sooner than the recorded one.
        """
        ads = self._schedd.jobs(self._jobs[name])
        if not ads:
            return
        known, ids = self._known.get(name, {}), {str(job): each for each, job in self._jobs.items()}
        for key in {**dict.fromkeys(map(lower, ads[0])), **known}:
            if key in _LEFT_OUT or (name == "source" and key in self._sooner) or (name != "source" and key in _NONE):
                continue
            recorded = self._shown(known.get(key), self._recorded, ads[0])
            said = self._shown(ads[0].get(key), ids, ads[0])
            if recorded != said:
                yield Difference(f"{name}.{key}", f"recorded {recorded} in the end, crondor has {said}")

    def _find_copies(self) -> None:
        found = [*self._schedd.jobs("RoutedBy =!= undefined"), *self._schedd.history("RoutedBy =!= undefined")]
        ids = sorted(JobId(int(str(ad["ClusterId"])), int(str(ad["ProcId"]))) for ad in found)
        self._jobs |= {f"copy{n}": job for n, job in enumerate(ids, 1)}

    def _compare(self, name: str, values: Mapping[str, object]) -> Iterator[Difference]:
        job = self._jobs.get(name)
        ads = [] if job is None else self._schedd.jobs(job) or self._schedd.history(job)
        if not ads:
            yield Difference(name, "recorded, and crondor has none")
            return
        ids = {str(job): each for each, job in self._jobs.items()}
        for key, value in values.items():
            if name != "source" and key in _AS_NONE and value in _AS_NONE[key]:
                continue
            recorded = self._shown(None if value is None else _value(str(value)), self._recorded, ads[0])
            said = self._shown(ads[0].get(key), ids, ads[0])
            if recorded != said:
                yield Difference(f"{name}.{key}", f"recorded {recorded}, crondor says {said}")

    @staticmethod
    def _shown(value: Expression | None, ids: Mapping[str, str], ad: ClassAd) -> object:
        """Return a value so that what means the same is equal: other ids, other zeros, deleted or undefined."""
        if value is None:
            return "undefined"
        written = value.unparse(UnparseForm.OLD)
        made = _constant(written) if _is_constant(written) else ClassAd({"Value": value}).chain(ad).python("Value")
        if isinstance(made, str):
            for by in _BY:
                made = made.replace(by, "")
            return ids.get(made, made)
        return made if isinstance(made, (bool, int, float)) else written.lower()


_is_constant = re.compile(r'\d+|"[^"\\]*"|true|false|undefined').fullmatch


@cache
def _constant(written: str) -> object:
    return ClassAd.of_texts({"Value": written}).python("Value")


@cache
def _table(config: str) -> RoutingTable:
    return load_table(read_config(config))


def _together(steps: list[dict[str, object]]) -> list[tuple[str, dict[str, object]]]:
    """Return what is written after a group: of each job the last value of each attribute."""
    found: dict[str, dict[str, object]] = {}
    for step in steps:
        found.setdefault(text(step, "job"), {}).update(mapping(step, "set"))
    return list(found.items())


def _value(written: str) -> Expression:
    return Expression.parse(Source(written, "<recorded>"), old=True)


KINDS: Mapping[str, Replay] = {"router-steps": _replay}
