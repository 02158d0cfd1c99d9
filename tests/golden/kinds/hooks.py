"""The hooks kind: recorded calls of hooks, cron jobs and the ads they made, with crondor in the daemons' place.

A line is one of three. A call (calls.jsonl): arguments, HTCondor's environment variables, standard input taken apart
and put together again, and what the recorded answer means, which is checked against what is recorded to have come of
it (jobs.jsonl, and the calls that followed). A cron job (cron_jobs.jsonl): its configuration gives arguments,
environment and, on the virtual clock, its starts. Ads (cron_ads.jsonl): what the slots have at a time, from the jobs
of cron_jobs.jsonl at the times they are recorded to have started.
"""

from __future__ import annotations

import gzip
import json
import re
import signal
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from crondor.classad.ad import ClassAd
from crondor.classad.formats import read_ad
from crondor.hooks.cron.ads import CronAds
from crondor.hooks.cron.live import cron_environment
from crondor.hooks.cron.output import BlockReader
from crondor.hooks.cron.schedule import CronManager, Progress
from crondor.hooks.cron.settings import AutoPublish, CronJob, CronSettings, Manager, Mode, read_settings
from crondor.hooks.environment import Scratch, daemon_environment, starter_environment
from crondor.hooks.fetch.slot import SlotState, completed, conclude_fetch, decide, slot_input
from crondor.hooks.hook_types import HookType
from crondor.hooks.router_hooks import RouterHooks, hook_input
from crondor.hooks.runner import Ended, HookCall, HookRun
from crondor.hooks.starter_hooks import conclude_starter, prepare_arguments
from crondor.hooks.texts import ad_text
from tests.golden.kinds.case import Case, Difference, Malformed, NotApplicable, Replay, compare, items, mapping, text

_DAEMONS_OWN = re.compile(
    r"_CONDOR_ANCESTOR_\d+|CONDOR_(PRIVATE_)?INHERIT|CONDOR_PRIVATE_SHARED_PORT_COOKIE|CONDOR_PARENT_ID"
    r"|CONDOR_PROCD_ADDRESS(_BASE)?|CONDOR_STARTER_PID|_CONDOR_CHIRP_CONFIG"
).fullmatch  # sockets, secrets and process numbers of the daemons, and the file of a chirp server
_LATE = 3.0  # seconds that a recorded start may be off: poll of the recording, and a busy pool


def _replay_hooks(case: Case) -> list[Difference]:
    """Compare a line of one of the three files."""
    if not isinstance(case.value, dict):
        raise Malformed("line", "an object is expected")
    if "type" in case.value:
        return _replay_call(case)
    return _replay_ads(case) if "daemon" in case.value else _replay_job(case)


class _Call(NamedTuple):
    hook: HookType
    run: HookRun
    ads: tuple[ClassAd, ...]


def _replay_call(case: Case) -> list[Difference]:
    record = case.record(
        ["run", "keyword", "type", "n", "t", "argv", "cwd", "stdin", "stdout", "stderr", "rc"], ["env"]
    )
    hook, given = HookType(text(record, "type")), text(record, "stdin")
    is_starter = text(record, "cwd").endswith("/scratch")
    config = _config(case.folder)
    found = compare("argv", record["argv"], _arguments(hook, record, config, is_starter=is_starter))
    found += _environment(record, is_starter=is_starter)
    if not given.startswith("<"):
        found += _stdin(hook, given, is_starter=is_starter)
    run = HookRun(
        HookCall(_path(config, text(record, "keyword"), hook)),
        Ended.EXITED,
        status=record["rc"] if isinstance(record["rc"], int) else 0,
        stdout=text(record, "stdout"),
        stderr=text(record, "stderr"),
    )
    if hook is HookType.REPLY_FETCH:
        return found + _completed(case, record)
    said = _consequence(hook, run, is_starter=is_starter)
    return found + compare("consequence", _recorded_consequence(case, record, hook, is_starter=is_starter), said)


def _arguments(
    hook: HookType, record: Mapping[str, object], config: Mapping[str, str], *, is_starter: bool
) -> list[str]:
    if hook in {HookType.PREPARE_JOB, HookType.PREPARE_JOB_BEFORE_TRANSFER}:
        return list(prepare_arguments(text(record, "keyword"), config))
    if hook is HookType.JOB_EXIT and is_starter:
        return [_exit_reason(_ads(text(record, "stdin"), "\n------\n")[0])]
    if hook is HookType.REPLY_FETCH:
        job, slot, _ = _offer(text(record, "stdin"))
        rank = slot.value("CurrentRank")
        decision = decide(job, slot, _state(slot), float(rank) if isinstance(rank, (int, float)) else 0.0)
        return ["accept" if decision.accepted else "reject"]
    return []


def _state(slot: ClassAd) -> SlotState:
    if slot.value("State") == "Claimed":
        return SlotState.IDLE_FETCHED if slot.value("Activity") == "Idle" else SlotState.CLAIMED
    return SlotState.PREEMPTING if slot.value("State") == "Preempting" else SlotState.UNCLAIMED


def _exit_reason(job: ClassAd) -> str:
    code, why = job.value("VacateReasonCode"), job.value("VacateReason")
    if not isinstance(code, int):
        return "exit"
    if isinstance(why, str) and "condor_rm" in why:
        return "remove"
    return "hold" if code == 1 else "evict"


def _environment(record: Mapping[str, object], *, is_starter: bool) -> list[Difference]:
    if "env" not in record:
        return []
    theirs = {name: value for name, value in mapping(record, "env").items() if not _DAEMONS_OWN(name)}
    told = {name: str(value) for name, value in theirs.items()}
    ours = daemon_environment(told)
    if is_starter:
        folder = text(record, "cwd")
        code = told.get("_CONDOR_MAINJOB_EXIT_CODE")
        scratch = Scratch(
            folder,
            told["_CONDOR_JOB_IWD"],
            slot=told["_CONDOR_SLOT"],
            execute="" if "local_univ_execute" in folder else folder.partition("/dir_")[0],
            exit_code=None if code is None else int(code),
            devices=tuple((n[16:], v) for n, v in told.items() if n.startswith("_CONDOR_Assigned")),
        )
        ours = starter_environment(ours, scratch)
    return compare("env", theirs, ours)


def _ads(given: str, separator: str) -> list[ClassAd]:
    return [read_ad(part) for part in given.split(separator)]


def _offer(given: str) -> tuple[ClassAd, ClassAd, str | None]:
    """Return job, slot and claim of a REPLY_FETCH; HTCondor prints the claim with its quotes, so that no ad has it."""
    job, _, rest = given.partition("-----\n")
    slot, sign, claim = rest.partition('\nClaimId = "')
    return read_ad(job), read_ad(slot + "\n"), claim.removesuffix('"\n') if sign else None


def _stdin(hook: HookType, given: str, *, is_starter: bool) -> list[Difference]:
    if hook is HookType.TRANSLATE_JOB:
        head, _, job = given.partition("\n------\n")
        made = hook_input(hook, read_ad(job), route=read_ad(head))
    elif hook in {HookType.REPLY_FETCH, HookType.EVICT_CLAIM}:
        made = slot_input(*_offer(given))
        made = re.sub(r'^ClaimId = ".*"$', lambda found: found[0].replace('\\"', '"'), made, flags=re.MULTILINE)
    elif hook is HookType.JOB_FINALIZE:
        source, copy = _ads(given, "\n------\n")
        made = hook_input(hook, source, copy)
    elif is_starter or hook is HookType.FETCH_WORK:
        made = ad_text(read_ad(given))
    else:
        made = hook_input(hook, ClassAd(), read_ad(given))
    return compare("stdin", given.split("\n"), made.split("\n"))


def _consequence(hook: HookType, run: HookRun, *, is_starter: bool) -> object:
    if hook is HookType.FETCH_WORK:
        said = conclude_fetch(run)
    elif is_starter:
        said = conclude_starter(hook, run)
    else:
        said = RouterHooks({}, {}).conclude(hook, run)
    if said.hold_code:
        return [said.action.value, said.reason, said.hold_code, said.hold_subcode]
    return said.action.value


def _recorded_consequence(case: Case, record: Mapping[str, object], hook: HookType, *, is_starter: bool) -> object:
    """Return what the recording has to have come of an answer, by what the daemons did and said."""
    if hook is HookType.FETCH_WORK:
        return _fetched(case, record)
    if is_starter:
        return _prepared(case, record) if hook.value.startswith("PREPARE") else "nothing"
    lines = _log(case.folder, text(record, "stdin"), hook)
    if hook is HookType.TRANSLATE_JOB:
        return "use-ad" if any("submitted job" in line for line in lines) else "clean-up"
    if hook is HookType.JOB_CLEANUP:
        return "retry-cleanup" if any("HOOK_JOB_CLEANUP" in line and "failed" in line for line in lines) else "finish"
    if hook is HookType.JOB_FINALIZE:
        return "finalize" if any("finalized job" in line for line in lines) else "reroute"
    return _mirrored(lines, record)


def _mirrored(lines: Sequence[str], record: Mapping[str, object]) -> str:
    """Return what the router did after UPDATE_JOB_INFO."""
    if any("updated routed job status" in line for line in lines):
        return "update-copy"
    if any("NOT updated" in line and "StatusClient" in line for line in lines):
        return "clean-up"
    return "skip-poll" if record["rc"] else "mirror"


def _completed(case: Case, record: Mapping[str, object]) -> list[Difference]:
    """Compare the job of a REPLY_FETCH with what FETCH_WORK printed just before, completed."""
    calls = [each for each in _lines(case.folder / "calls.jsonl") if each["run"] == record["run"]]
    before = [c for c in calls if c["type"] == "FETCH_WORK" and float(str(c["t"])) <= float(str(record["t"]))]
    run = HookRun(HookCall("/hook"), Ended.EXITED, status=0, stdout=str(before[-1]["stdout"]))
    ours = completed(conclude_fetch(run).ad, text(record, "keyword"), is_static=True)
    return compare("job", ad_text(_offer(text(record, "stdin"))[0]).split("\n"), ad_text(ours).split("\n"))


def _fetched(case: Case, record: Mapping[str, object]) -> str:
    """An answer was a job if REPLY_FETCH was called with it right afterwards."""
    calls = [each for each in _lines(case.folder / "calls.jsonl") if each["run"] == record["run"]]
    replies = [each for each in calls if each["type"] == "REPLY_FETCH"]
    mine, said = float(str(record["t"])), text(record, "stdout")
    key = re.search(r'JobKey = "(.*)"', said)
    found = [
        each
        for each in replies
        if 0 <= float(str(each["t"])) - mine < _LATE and (key is None or key[0] in str(each["stdin"]))
    ]
    return "offer-job" if found and said else "no-work"


def _prepared(case: Case, record: Mapping[str, object]) -> object:
    job = read_ad(text(record, "stdin"))
    cluster = job.value("ClusterId")
    for line in _lines(case.folder / "jobs.jsonl"):
        if record["run"] == "starter" and line["cluster"] == cluster:
            source = line["source"]
            if isinstance(source, dict) and source.get("LastHoldReasonCode") == "19":
                reason = str(source["LastHoldReason"])[1:-1].partition(": ")[2]  # behind the slot's name
                return ["hold-job", reason, 19, int(source["LastHoldReasonSubCode"])]
    return "start-job"


def _log(folder: Path, given: str, hook: HookType) -> list[str]:
    """Return the router's lines about the job that a hook was called for."""
    head = given.partition("\n------\n")[2] if hook is HookType.TRANSLATE_JOB else given.partition("\n------\n")[0]
    job = read_ad(head)
    routed = job.value("RoutedFromJobId")
    cluster = str(routed).partition(".")[0] if isinstance(routed, str) else str(job.value("ClusterId"))
    for line in _lines(folder / "jobs.jsonl"):
        log = line["router_log"]
        if str(line["cluster"]) == cluster and isinstance(log, list) and log:
            return [str(each) for each in log]
    raise NotApplicable(f"no line of jobs.jsonl is for cluster {cluster}")


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

    def progress(self, now: float) -> Progress:
        return Progress("", ended=now >= self._ends)

    def send(self, number: signal.Signals, now: float) -> None:
        if number is not signal.SIGHUP:
            self._ends = now


def _settings(manager: Manager, record: Mapping[str, object]) -> CronSettings:
    name = text(record, "job")
    knobs = dict(line.split(" = ", 1) for line in map(str, items(record, "config")))
    knobs |= {f"{manager.value}_JOBLIST": name, f"{manager.value}_MAX_JOB_LOAD": "1.0"}
    knobs[f"{manager.value}_AUTOPUBLISH"] = "If_Changed"
    return read_settings(manager, knobs)


_JOB_FIELDS = ["manager", "job", "config", "output", "argv", "cwd", "env", "env_names", "starts", "first_start", "log"]


def _replay_job(case: Case) -> list[Difference]:
    record = case.record(_JOB_FIELDS)
    settings = _settings(Manager[text(record, "manager")], record)
    if not settings.jobs:
        return [Difference("config", settings.diagnostics[0].message)]
    job = settings.jobs[0]
    found = compare("argv", record["argv"], list(job.arguments))
    found += compare("env", record["env"], cron_environment({}, settings, job))
    starts = [float(str(each)) for each in items(record, "starts")]
    outputs = [each for each in items(record, "output") if isinstance(each, dict)]
    found += _rhythm(job, settings, starts, [float(str(each.get("sleep", 0))) for each in outputs])
    faults = [line for line in map(str, items(record, "log")) if line.startswith("Can't insert")]
    reader = BlockReader(job, ignores_tags=settings.manager is Manager.SCHEDD)
    for output in outputs:
        reader.feed(str(output["out"]), 0)
        reader.end(0)
    ours = [
        f"Can't insert '{d.span.source.text}' into '{job.name}' ClassAd"
        for d in reader.findings
        if d.code == "cron-output" and d.span is not None
    ]
    return found + compare("log", faults, ours)


def _rhythm(
    job: CronJob, settings: CronSettings, starts: Sequence[float], lengths: Sequence[float]
) -> list[Difference]:
    """Compare what lies between the starts with the same on the virtual clock, second by second."""
    programs = _Starts(lengths)
    manager = CronManager(settings, programs)
    list(manager.configure(settings, 0))
    for now in range(int(starts[-1] + _LATE) + 1):
        list(manager.step(now))
        list(manager.step(now))  # what takes no time has ended
    ours = programs.times
    if job.mode is Mode.ONE_SHOT:
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


def _replay_ads(case: Case) -> list[Difference]:
    record = case.record(["t", "daemon", "ads"])
    at = float(str(record["t"]))
    manager = Manager[text(record, "daemon").upper()]
    t0 = int(_config(case.folder)["t0"])
    ads, times = _published(case.folder, manager, at, t0)
    found: list[Difference] = []
    for name, attributes in mapping(record, "ads").items():
        number = re.match(r"slot(\d+)", name)
        slot = ClassAd({"Name": name, **({"SlotID": int(number[1])} if number else {})})
        made = ads.merged(slot)
        ours = {each: made.text(each) for each in made if each.startswith("Sh_")}
        theirs = dict(attributes) if isinstance(attributes, dict) else {}
        for each in {*ours, *theirs}:
            # The collector has what came with the last update: that of some run of the job so far, not the last one.
            is_time = each.endswith("LastUpdate") and each in ours and each in theirs
            if is_time and any(abs(time - int(theirs[each])) <= _LATE for time in times[each]):
                ours[each] = theirs[each]
        found += compare(name, theirs, ours)
    return found


def _published(folder: Path, manager: Manager, at: float, t0: int) -> tuple[CronAds, dict[str, list[int]]]:
    """Return the ads that all jobs of a manager have published by a time, and the values each LastUpdate had."""
    ads = CronAds(manager, AutoPublish.IF_CHANGED)
    lines = [line for line in _lines(folder / "cron_jobs.jsonl") if line["manager"] == manager.name]
    runs: list[tuple[float, BlockReader, str]] = []
    for line in lines:
        settings = _settings(manager, line)
        job = settings.jobs[0]
        ads.add_job(job)
        starts = [float(str(s)) + float(str(line["first_start"])) for s in items(line, "starts")]
        outputs = [str(each["out"]) for each in items(line, "output") if isinstance(each, dict)]
        period = max(job.period, 1)
        if len(starts) == 30 and job.mode is not Mode.ONE_SHOT:  # no more than these are recorded
            starts += [starts[-1] + period * n for n in range(1, int(max(0, at - starts[-1]) // period) + 1)]
        reader = BlockReader(job, ignores_tags=manager is Manager.SCHEDD)
        runs += [(start, reader, outputs[min(n, len(outputs) - 1)]) for n, start in enumerate(starts) if start <= at]
    times: dict[str, list[int]] = {}
    for start, reader, output in sorted(runs, key=lambda each: each[0]):
        job, now = reader.job, int(t0 + start)
        restarts = job.mode is Mode.WAIT_FOR_EXIT and not job.period
        for block in (*reader.feed(output, now), *reader.end(now, restarts=restarts)):
            ads.publish(job, block)
            times.setdefault(f"{job.prefix}LastUpdate", []).append(now)
    return ads, times


@lru_cache(maxsize=8)
def _lines(path: Path) -> tuple[dict[str, object], ...]:
    """Return the lines of a file that lies beside the recording."""
    packed = path.with_name(f"{path.name}.gz")
    try:
        data = gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()
        lines = data.decode("utf-8").splitlines()
    except OSError as error:
        raise Malformed("folder", f"{path.name} must lie beside it: {error}") from None
    return tuple(json.loads(line) for line in lines if line)


@lru_cache(maxsize=2)
def _config(folder: Path) -> dict[str, str]:
    data = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    knobs = dict(line.split(" = ", 1) for line in data["hook_config"])
    return {**{name: value.replace("$(LOG)", "/var/log/condor") for name, value in knobs.items()}, "t0": data["t0"]}


def _path(config: Mapping[str, str], keyword: str, hook: HookType) -> str:
    return config.get(f"{keyword}_HOOK_{hook.value}", "/hook")


KINDS: dict[str, Replay] = {"hooks": _replay_hooks}
