"""Recorded cron jobs, and the ads that they made: two of the three lines of the hooks kind."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final

from crondor.classad.ad import ClassAd
from crondor.hooks.cron.output import BlockReader, CronAds
from crondor.hooks.cron.schedule import CronManager, CronOutput, cron_environment
from crondor.hooks.cron.settings import AutoPublish, CronJob, CronMode, CronSettings, Manager, read_settings
from tests.golden.kinds.case import Case, Difference, Malformed, compare, items, mapping, text
from tests.golden.kinds.hook_files import config_of, knob_of, lines_of

_LATE: Final = 3.0  # seconds that a recorded start may be off: poll of the recording, and a busy pool
_RENEWED: Final = 150.0  # seconds from t0 at which the startd was reconfigured


class _Starts:
    """Programs of cron jobs that take the recorded seconds, run by run, and note when they were started."""

    def __init__(self, lengths: Sequence[float]) -> None:
        self.times: list[float] = []
        self._lengths = lengths

    def start(self, job: CronJob, now: float) -> _Sleeping:  # noqa: ARG002 - as the protocol has it
        length = self._lengths[min(len(self.times), len(self._lengths) - 1)]
        self.times.append(now)
        return _Sleeping(now + length)


class _Sleeping:
    """A program that ends at its time, or by a signal."""

    def __init__(self, ends: float) -> None:
        self._ends = ends

    def progress(self, now: float) -> CronOutput:
        return CronOutput("", ended=now >= self._ends)

    def send(self, number: signal.Signals, now: float) -> None:
        if number is not signal.SIGHUP:
            self._ends = now


def _settings(manager: Manager, record: Mapping[str, object]) -> CronSettings:
    name = text(record, "job")
    knobs = dict(map(knob_of, map(str, items(record, "config"))))
    knobs |= {f"{manager.value}_JOBLIST": name, f"{manager.value}_MAX_JOB_LOAD": "1.0"}
    knobs[f"{manager.value}_AUTOPUBLISH"] = "If_Changed"
    return read_settings(manager, knobs)


_JOB_FIELDS = ["manager", "job", "config", "output", "argv", "cwd", "env", "env_names", "starts", "first_start", "log"]


def replay_job(case: Case) -> list[Difference]:
    """Compare a line of cron_jobs.jsonl."""
    record = case.record(_JOB_FIELDS)
    settings = _settings(Manager[text(record, "manager")], record)
    if not settings.jobs:
        return [Difference("config", settings.diagnostics[0].message)] if record["starts"] else []
    job = settings.jobs[0]
    found = compare("argv", record["argv"], list(job.arguments))
    found += compare("env", record["env"], cron_environment({}, settings, job))
    starts = [float(str(each)) for each in items(record, "starts")]
    outputs = [each for each in items(record, "output") if isinstance(each, dict)]
    renewed = round(_RENEWED - float(str(record["first_start"]))) if settings.manager is Manager.STARTD else None
    found += _rhythm(job, settings, starts, [_length(each) for each in outputs], renewed)
    faults = [line for line in map(str, items(record, "log")) if line.startswith("Can't insert")]
    reader = BlockReader(job, ignores_tags=settings.manager is Manager.SCHEDD)
    for output in outputs:
        reader.feed(str(output["out"]), 0)
        reader.end(0, restarts=_restarts(job, _length(output)))
    ours = [
        f"Can't insert '{d.span.source.text}' into '{job.name}' ClassAd"
        for d in reader.findings
        if d.kind == "hook-cron-output" and d.span is not None
    ]
    return found + compare("log", list(dict.fromkeys(faults)), list(dict.fromkeys(ours)))


def _length(output: Mapping[str, object]) -> float:
    return float(str(output.get("sleep", 0)))


def _restarts(job: CronJob, length: float) -> bool:
    """Say whether a job is started again in the moment in which it ends."""
    is_killed = job.mode is CronMode.PERIODIC and job.kill and length > job.period
    return is_killed or (job.mode is CronMode.WAIT_FOR_EXIT and not job.period)


def _rhythm(
    job: CronJob, settings: CronSettings, starts: Sequence[float], lengths: Sequence[float], renewed: int | None
) -> list[Difference]:
    """Compare what lies between the starts with the same on the virtual clock, second by second.

    ``renewed``: the second at which the configuration was read again.
    """
    programs = _Starts(lengths)
    manager = CronManager(settings, programs)
    list(manager.configure(settings, 0))
    for now in range(int(max([*starts, 0]) + _LATE) + 1):
        if now == renewed:
            list(manager.configure(settings, now))
        list(manager.step(now))
        list(manager.step(now))  # what takes no time has ended
    ours = programs.times
    if job.mode in {CronMode.ONE_SHOT, CronMode.ON_DEMAND}:
        return compare("starts", len(starts), len(ours))
    found = [
        Difference("starts", f"recorded {gap:g} s apart at {at:g}, crondor says {planned:g}")
        for at, gap, planned in zip(starts, _gaps(starts), _gaps(ours), strict=False)
        if abs(gap - planned) > _LATE
    ]
    # A real run takes a moment, which adds up where the period counts from its end; the last start is a border case.
    drift = 1 + 0.3 * len(starts) / max(job.period, 1)
    counted = sum(at <= starts[-1] for at in ours)
    if abs(len(starts) - counted) > drift:
        found.append(Difference("starts", f"recorded {len(starts)} in {starts[-1]:g} s, crondor says {counted}"))
    return found


def _gaps(times: Sequence[float]) -> list[float]:
    return [later - earlier for earlier, later in pairwise(times)]


def replay_ads(case: Case) -> list[Difference]:
    """Compare a line of cron_ads.jsonl: the attributes whose names begin as the recorded ones."""
    record = case.record(["t", "daemon", "ads"])
    at = float(str(record["t"]))
    manager = Manager[text(record, "daemon").upper()]
    t0 = int(config_of(case.folder)["t0"])
    ads, times = _published(case.folder, manager, at, t0)
    found: list[Difference] = []
    prefixes = _prefixes(case.folder)
    recorded = mapping(record, "ads")
    if not recorded:
        raise Malformed("ads", "that of a slot is expected at least")
    for name, attributes in recorded.items():
        number = re.match(r"slot(\d+)", name)
        slot = ClassAd({"Name": name, **({"SlotID": int(number[1])} if number else {})})
        made = ads.merged(slot)
        ours = {each: made.text(each) for each in made if each.startswith(prefixes)}
        theirs = dict(attributes) if isinstance(attributes, dict) else {}
        for each in {*ours, *theirs}:
            # The collector has what came with the last update: that of some run of the job so far, not the last one.
            is_time = each.endswith("LastUpdate") and each in ours and each in theirs
            if is_time and any(abs(time - int(theirs[each])) <= _LATE for time in times[each]):
                ours[each] = theirs[each]
        found += compare(name, theirs, ours)
    return found


@lru_cache(maxsize=2)
def _prefixes(folder: Path) -> tuple[str, ...]:
    """Return what the recorded attributes begin with: ``Sh_``."""
    ads = [mapping(line, "ads") for line in lines_of(folder / "cron_ads.jsonl")]
    attributes = [each for ad in ads for each in ad.values() if isinstance(each, dict)]
    return tuple(sorted({name.partition("_")[0] + "_" for each in attributes for name in each})) or ("Sh_",)


def _published(folder: Path, manager: Manager, at: float, t0: int) -> tuple[CronAds, dict[str, list[int]]]:
    """Return the ads that all jobs of a manager have published by a time, and the values each LastUpdate had."""
    ads = CronAds(manager, AutoPublish.IF_CHANGED)
    lines = [line for line in lines_of(folder / "cron_jobs.jsonl") if line["manager"] == manager.name]
    runs: list[tuple[float, BlockReader, dict[str, object]]] = []
    for line in lines:
        settings = _settings(manager, line)
        if not settings.jobs:
            continue
        job = settings.jobs[0]
        ads.add_job(job)
        starts = [float(str(s)) + float(str(line["first_start"])) for s in items(line, "starts")]
        outputs = [each for each in items(line, "output") if isinstance(each, dict)]
        period = max(job.period, 1)
        if len(starts) == 30 and job.mode is not CronMode.ONE_SHOT:  # no more than these are recorded
            starts += [starts[-1] + period * n for n in range(1, int(max(0, at - starts[-1]) // period) + 1)]
        reader = BlockReader(job, ignores_tags=manager is Manager.SCHEDD)
        runs += [(start, reader, outputs[min(n, len(outputs) - 1)]) for n, start in enumerate(starts) if start <= at]
    times: dict[str, list[int]] = {}
    for start, reader, output in sorted(runs, key=lambda each: each[0]):
        job, now = reader.job, int(t0 + start)
        length = _length(output)
        for block in (*reader.feed(str(output["out"]), now), *reader.end(now, restarts=_restarts(job, length))):
            ads.publish(job, block)
            times.setdefault(f"{job.prefix}LastUpdate", []).extend((now, int(now + length)))
    return ads, times
