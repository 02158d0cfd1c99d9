"""The hooks kind: recorded calls of hooks, cron jobs and the ads they made, with crondor in the daemons' place.

A line is one of three. A call (calls.jsonl): arguments, HTCondor's environment variables, standard input taken apart
and put together again, and what the recorded answer means, which is checked against what is recorded to have come of
it (jobs.jsonl, and the calls that followed). A cron job (cron_jobs.jsonl): its configuration gives arguments,
environment and, on the virtual clock, its starts. Ads (cron_ads.jsonl): what the slots have at a time, from the jobs
of cron_jobs.jsonl at the times they are recorded to have started.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from crondor.classad.ad import ClassAd
from crondor.classad.formats import read_ad
from crondor.hooks.fetch.driver import SlotState, completed, conclude_fetch, decide, slot_input
from crondor.hooks.kinds import (
    HookType,
    RouterHooks,
    Scratch,
    ad_text,
    conclude_starter,
    daemon_environment,
    hook_input,
    main_job_end,
    prepare_arguments,
    read_output,
    starter_environment,
)
from crondor.hooks.runner import HookCall, HookEnd, HookRun
from tests.golden.kinds.case import Case, Difference, Malformed, NotApplicable, Replay, compare, mapping, text
from tests.golden.kinds.hook_cron import replay_ads, replay_job
from tests.golden.kinds.hook_files import config_of, lines_of

_DAEMONS_OWN = re.compile(
    r"_CONDOR_ANCESTOR_\d+|CONDOR_(PRIVATE_)?INHERIT|CONDOR_PRIVATE_SHARED_PORT_COOKIE|CONDOR_PARENT_ID"
    r"|CONDOR_PROCD_ADDRESS(_BASE)?|CONDOR_STARTER_PID|_CONDOR_CHIRP_CONFIG"
).fullmatch  # sockets, secrets and process numbers of the daemons, and the file of a chirp server
_LATE = 3.0  # seconds between an answer of FETCH_WORK and REPLY_FETCH


def _replay_hooks(case: Case) -> list[Difference]:
    """Compare a line of one of the three files."""
    if not isinstance(case.value, dict):
        raise Malformed("line", "an object is expected")
    if "type" in case.value:
        return _replay_call(case)
    return replay_ads(case) if "daemon" in case.value else replay_job(case)


def _replay_call(case: Case) -> list[Difference]:
    record = case.record(
        ["run", "keyword", "type", "n", "t", "argv", "cwd", "stdin", "stdout", "stderr", "rc"], ["env"]
    )
    hook, given = HookType(text(record, "type")), text(record, "stdin")
    is_starter = text(record, "cwd").endswith("/scratch")
    config = config_of(case.folder)
    found = compare("argv", record["argv"], _arguments(hook, record, config, is_starter=is_starter))
    found += _environment(record, is_starter=is_starter)
    if not given.startswith("<"):
        found += _stdin(hook, given, is_starter=is_starter)
    run = _run(record, _path(config, text(record, "keyword"), hook))
    if hook is HookType.REPLY_FETCH:
        return found + _completed(case, record)
    if hook is HookType.FETCH_WORK:
        return found + _fetched(case, record, run)
    said = _consequence(hook, run, is_starter=is_starter)
    return found + compare("consequence", _recorded_consequence(case, record, hook, is_starter=is_starter), said)


def _run(record: Mapping[str, object], path: str) -> HookRun:
    """Return how a recorded call went; a negative status is the signal that ended it."""
    status = record["rc"] if isinstance(record["rc"], int) else 0
    run = HookRun(HookCall(path), HookEnd.EXITED, status, None, text(record, "stdout"), text(record, "stderr"))
    return run if status >= 0 else replace(run, ended=HookEnd.SIGNALED, status=None, signal_number=-status)


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
        scratch = Scratch(
            folder,
            told["_CONDOR_JOB_IWD"],
            slot=told["_CONDOR_SLOT"],
            execute="" if "local_univ_execute" in folder else folder.partition("/dir_")[0],
            ending=main_job_end(read_ad(text(record, "stdin"))) if record["type"] == HookType.JOB_EXIT.value else {},
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
    if is_starter:
        said = conclude_starter(hook, run)
    elif run.ended is HookEnd.SIGNALED:  # a failure in crondor; the recording has what its ``upstream`` says
        said = RouterHooks({}, {}).conclude(hook, replace(run, ended=HookEnd.EXITED, status=0))
    else:
        said = RouterHooks({}, {}).conclude(hook, run)
    if said.hold_code:
        return [said.action.value, said.reason, said.hold_code, said.hold_subcode]
    return said.action.value


def _recorded_consequence(case: Case, record: Mapping[str, object], hook: HookType, *, is_starter: bool) -> object:
    """Return what the recording has to have come of an answer, by what the daemons did and said."""
    if is_starter:
        return _prepared(case, record) if hook.value.startswith("PREPARE") else "nothing"
    return _routed(_log(case.folder, text(record, "stdin"), hook), record, hook)


def _routed(lines: Sequence[str], record: Mapping[str, object], hook: HookType) -> str:
    """Return what the router did with an answer, by its log of the job, which has other calls, too."""
    failed = bool(record["rc"])
    is_bad = any("Failed to insert" in line for line in lines) and bool(read_output(text(record, "stdout"), "").faults)
    if hook is HookType.TRANSLATE_JOB:
        refused = is_bad or (failed and any("exited with return status" in line for line in lines))
        return "use-ad" if not refused and any("submitted job" in line for line in lines) else "clean-up"
    if hook is HookType.JOB_CLEANUP:
        is_said = any("HOOK_JOB_CLEANUP" in line and "failed" in line for line in lines)
        return "retry-cleanup" if failed and is_said else "finish"
    if hook is HookType.JOB_FINALIZE:
        return "finalize" if not (failed or is_bad) and any("finalized job" in line for line in lines) else "reroute"
    if failed:
        return "skip-poll"
    if is_bad:
        return "clean-up"
    is_set = bool(record["stdout"]) and any("updated routed job status" in line for line in lines)
    return "update-copy" if is_set else "mirror"


def _completed(case: Case, record: Mapping[str, object]) -> list[Difference]:
    """Compare the job of a REPLY_FETCH with what FETCH_WORK printed just before, completed."""
    calls = [each for each in lines_of(case.folder / "calls.jsonl") if each["run"] == record["run"]]
    calls = [each for each in calls if each["keyword"] == record["keyword"]]
    before = [c for c in calls if c["type"] == "FETCH_WORK" and float(str(c["t"])) <= float(str(record["t"]))]
    run = HookRun(HookCall("/hook"), HookEnd.EXITED, status=0, stdout=str(before[-1]["stdout"]))
    ours = completed(conclude_fetch(run).ad, text(record, "keyword"), is_static=True)
    return compare("job", ad_text(_offer(text(record, "stdin"))[0]).split("\n"), ad_text(ours).split("\n"))


def _reply(case: Case, record: Mapping[str, object]) -> Mapping[str, object] | None:
    """Return the call of REPLY_FETCH that followed a FETCH_WORK at once, None where there is none."""
    calls = [each for each in lines_of(case.folder / "calls.jsonl") if each["run"] == record["run"]]
    mine = float(str(record["t"]))
    replies = [c for c in calls if c["type"] == "REPLY_FETCH" and c["keyword"] == record["keyword"]]
    return next((each for each in replies if 0 <= float(str(each["t"])) - mine < _LATE), None)


def _fetched(case: Case, record: Mapping[str, object], run: HookRun) -> list[Difference]:
    """Compare an answer with the call that followed: with that job if it was one, else there is none."""
    reply, said = _reply(case, record), conclude_fetch(run)
    if reply is None:
        return compare("consequence", "no-work", said.action.value)
    found = compare("consequence", "offer-job", said.action.value)
    if found:
        return found
    ours = completed(said.ad, text(record, "keyword"), is_static=True)
    return compare("stdout", ad_text(_offer(text(reply, "stdin"))[0]).split("\n"), ad_text(ours).split("\n"))


def _prepared(case: Case, record: Mapping[str, object]) -> object:
    job = read_ad(text(record, "stdin"))
    cluster = job.value("ClusterId")
    for line in lines_of(case.folder / "jobs.jsonl"):
        if record["run"] == "starter" and line["cluster"] == cluster:
            source = line["source"]
            if isinstance(source, dict) and source.get("LastHoldReasonCode") == "19":
                reason = str(source["LastHoldReason"])[1:-1].partition(": ")[2]  # after the slot's name
                return ["hold-job", reason, 19, int(source["LastHoldReasonSubCode"])]
            if f"{record['type']} (" in str(line.get("user_log", "")).partition(" failed (")[0].rpartition("\n")[2]:
                return "idle-job"
    return "start-job"


def _log(folder: Path, given: str, hook: HookType) -> list[str]:
    """Return the router's lines about the job that a hook was called for."""
    head = given.partition("\n------\n")[2] if hook is HookType.TRANSLATE_JOB else given.partition("\n------\n")[0]
    job = read_ad(head)
    routed = job.value("RoutedFromJobId")
    cluster = str(routed).partition(".")[0] if isinstance(routed, str) else str(job.value("ClusterId"))
    for line in lines_of(folder / "jobs.jsonl"):
        log = line["router_log"]
        if str(line["cluster"]) == cluster and isinstance(log, list) and log:
            return [str(each) for each in log]
    raise NotApplicable(f"no line of jobs.jsonl is for cluster {cluster}")


def _path(config: Mapping[str, str], keyword: str, hook: HookType) -> str:
    return config.get(f"{keyword}_HOOK_{hook.value}", f"/usr/libexec/condor/hooks/{keyword}_{hook.value}")


KINDS: dict[str, Replay] = {"hooks": _replay_hooks}
