"""A stand-in for the official bindings: what they are documented to do, for the live adapter's worker to talk to.

The queue is a JSON file (``STAND_IN``), so that it outlives a worker that hangs or crashes. ``faults`` in it are what
is to go wrong next: ``[what to do, how]``, ``how`` being ``hang``, ``crash``, or the text of an exception. ``adds`` are
attributes that submit writes over those of the commands. What it is given is old syntax, as in HTCondor.
"""

import ctypes
import fcntl
import json
import os
from collections.abc import Mapping
from datetime import timedelta, timezone, tzinfo
from enum import Enum
from pathlib import Path
from typing import Any

from crondor.classad import Context, Expression, UnparseForm
from crondor.classad.ad import ClassAd
from crondor.diagnostics import Source

STATE = Path(os.environ["STAND_IN"])
RELEASE = "$CondorVersion: 23.9.6 2026-07-12 PackageID: stand-in $"
NOW = int(os.environ.get("STAND_IN_NOW", "0"))


class HTCondorException(Exception):
    """What the bindings raise."""


class QueryOpts(Enum):
    """How a query is answered."""

    Default = 0
    SummaryOnly = 0x10


class JobAction(Enum):
    """What act does."""

    Hold = "Hold"
    Release = "Release"
    Remove = "Remove"


class Ad(dict[str, str]):
    """An ad as far as the worker looks at it: expression texts by name."""

    def printOld(self) -> str:  # noqa: N802 - the bindings' name
        """Return ``name = value`` lines."""
        return "".join(f"{name} = {Expression(text).unparse(UnparseForm.OLD)}\n" for name, text in self.items())


class Submit(dict[str, str]):
    """A submit description."""


class Result:
    """What submit returns."""

    def __init__(self, cluster: int, ad: Mapping[str, str]) -> None:
        """Keep the number, and the ad that was sent."""
        self._cluster = cluster
        self._ad = Ad(ad)

    def cluster(self) -> int:
        """Return the number."""
        return self._cluster

    def clusterad(self) -> Ad:
        """Return the ad."""
        return self._ad


class DaemonType(Enum):
    """What is looked for."""

    Schedd = "Schedd"


class AdTypes(Enum):
    """What a collector is asked for."""

    Schedd = "Scheduler"


class Collector:
    """The collector of a pool; it knows every schedd that is not called nobody."""

    def __init__(self, pool: str | None = None) -> None:
        """Keep the pool's name."""
        self._pool = pool

    def query(self, ad_type: AdTypes, constraint: str, projection: list[str]) -> list[dict[str, str]]:
        """Return the ads of daemons: two schedds, and an ad without a name."""
        _read(f"{ad_type.value} {constraint} {projection} in {self._pool}")
        return [{"Name": "two@example.org"}, {"Name": "one@example.org"}, {}]

    def locate(self, daemon: DaemonType, name: str | None = None) -> dict[str, str | None] | None:
        """Return where a schedd is, None for one that is not known; it is noted among the calls."""
        state = _read(f"locate {name} in {self._pool}")
        if name == "nobody":
            return None
        found = {"MyType": daemon.value, "Name": name, "Next": str(state["next"])}
        return found | {"Machine": "ap1.example.org", "MyAddress": "<127.0.0.1:9618>", "CondorVersion": RELEASE}


def version() -> str:
    """Return the bindings' version."""
    return "$CondorVersion: 25.14.1 2026-09-24 BuildID: stand-in $"


def ping(_location: object, level: str) -> dict[str, object]:
    """Return what ``ping`` of the file says for a level: that it is allowed, without it."""
    state = _read(f"ping {level}")
    allowed = {"AuthorizationSucceeded": True, "AuthMethods": "FS", "MyRemoteUserName": "alice@example.org"}
    return {**allowed, **state.get("ping", {}).get(level, {})}


class RemoteParam(dict[str, str]):
    """The schedd's configuration: ``knobs`` of the file."""

    def __init__(self, _location: object) -> None:
        """Read it."""
        super().__init__(_read("knobs").get("knobs", {}))


class Schedd:
    """The schedd of the file."""

    def __init__(self, location: object = None) -> None:
        """Connect."""
        self._location = location
        if not STATE.exists():
            raise HTCondorException("Unable to locate local daemon.")

    def query(
        self,
        constraint: str = "true",
        projection: list[str] | None = None,
        _callback: object = None,
        limit: int = -1,
        opts: QueryOpts = QueryOpts.Default,
    ) -> list[Ad]:
        """Return ads with the attributes asked for; all for none. ``ahead`` is the clock's, ``offset`` the zone's."""
        state = _read("query")
        zone = timezone(timedelta(minutes=state.get("offset", 0)))
        now = state.get("now", NOW)
        ads = [{**ad, "ServerTime": str(now + state.get("ahead", 0))} for ad in state["jobs"].values()]
        names = projection and [*projection, "ServerTime"]  # a real schedd adds it to every ad
        found = [_projected(ad, names) for ad in ads if _holds(constraint, ad, zone, now)]
        if opts == QueryOpts.SummaryOnly:
            return [Ad({"MyType": '"Summary"', "Jobs": str(len(found))})]
        return found if limit < 0 else found[:limit]

    def history(self, constraint: str, projection: list[str], match: int = -1) -> list[Ad]:
        """Return the latest first."""
        state = _read("history")
        found = [_projected(ad, projection) for ad in reversed(state["history"]) if _holds(constraint, ad)]
        return found if match < 0 else found[:match]

    def edit(self, constraint: str, attribute: str, value: str) -> int:
        """Set one attribute of all jobs; none is an error, as recorded on a live pool."""
        state = _read("edit")
        found = [ad for ad in state["jobs"].values() if _holds(constraint, ad)]
        if not found:
            raise HTCondorException("Unable to edit jobs matching constraint")
        text = _new_text(value)  # one that is none would be refused
        for ad in found:
            ad[attribute] = text
        _write(state)
        return len(found)

    def act(self, action: JobAction, constraint: str, reason: tuple[str, str] | str | None = None) -> dict[str, int]:
        """Hold, release or remove; a reason that is no (text, code) tuple is dropped."""
        state = _read("act")
        text, code = reason if isinstance(reason, tuple) else ("via the bindings", "None")
        totals = dict.fromkeys(("TotalSuccess", "TotalAlreadyDone", "TotalBadStatus", "TotalNotFound"), 0)
        for key, ad in list(state["jobs"].items()):
            if _holds(constraint, ad):
                totals[_act(state, key, action, text, code)] += 1
        _write(state)
        return totals

    def submit(self, description: Submit, count: int = 0) -> Result:
        """Make a job of what submit adds to every ad, and of the MY.<attribute> commands."""
        state = _read("submit")
        cluster = state["next"]
        state["next"] += 1
        ad = {"ClusterId": str(cluster), "Cmd": json.dumps(description["executable"]), "Owner": '"alice"'}
        ad |= {"JobUniverse": {"vanilla": "5"}[description["universe"]], "Arguments": '""', "Environment": '""'}
        ad |= {"JobStatus": "1", "QDate": str(NOW), "EnteredCurrentStatus": str(NOW), "MyType": '"Job"'}
        ad |= {"Requirements": "TARGET.Memory > 0", "TransferIn": "false", "TransferOut": "false"}
        names = {name.lower(): name for name in ad}
        for name, text in description.items():
            if name.startswith("MY."):
                attribute = name.removeprefix("MY.")
                ad[names.get(attribute.lower(), attribute)] = _new_text(text.replace("$(DOLLAR)", "$"))
        ad |= state.get("adds", {})
        state["jobs"][f"{cluster}.0"] = {**ad, "ProcId": str(count - 1)}
        _write(state)
        return Result(cluster, ad)


def _act(state: dict[str, Any], key: str, action: JobAction, text: str, code: str) -> str:
    ad = state["jobs"][key]
    status = ad["JobStatus"]
    text += " (by user alice)"
    if action is JobAction.Hold:
        if status == "5":
            return "TotalAlreadyDone"
        ad |= {"JobStatus": "5", "HoldReason": json.dumps(text), "HoldReasonCode": "1", "HoldReasonSubCode": code}
    elif action is JobAction.Release:
        if status != "5":
            return "TotalBadStatus"
        ad["JobStatus"] = "1"
        ad["ReleaseReason"] = json.dumps(text)
        for name in ("HoldReason", "HoldReasonCode", "HoldReasonSubCode"):
            ad.pop(name, None)
    else:
        ad |= {"JobStatus": "3", "RemoveReason": json.dumps(text)}
        state["history"].append(state["jobs"].pop(key))
    return "TotalSuccess"


def _holds(constraint: str, ad: Mapping[str, str], zone: tzinfo = timezone.utc, now: int = NOW) -> bool:
    return Expression(_new_text(constraint)).holds(ClassAd.of_texts(ad), None, Context(now=now, zone=zone))


def _new_text(text: str) -> str:
    return Expression.parse(Source(text), old=True).unparse()


def _projected(ad: Mapping[str, str], projection: list[str] | None) -> Ad:
    wanted = {name.lower() for name in projection or ()}
    return Ad({name: text for name, text in ad.items() if not wanted or name.lower() in wanted})


def _read(doing: str) -> dict[str, Any]:
    with STATE.with_suffix(".lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several schedds are asked at the same time
        state: dict[str, Any] = json.loads(STATE.read_text(encoding="utf-8"))
        state["calls"].append(doing)
        fault = next((fault for fault in state["faults"] if fault[0] == doing), None)
        if fault is not None:
            state["faults"].remove(fault)
        _write(state)
    if fault is not None:
        _fail(fault[1])
    return state


def _fail(how: str) -> None:
    if how == "hang":
        ctypes.PyDLL(None).sleep(3600)  # the interpreter is held all the while, as by the real ones
    elif how == "crash":
        os.abort()
    elif how:  # an empty text: this call is counted, and works
        raise HTCondorException(how)


def _write(state: dict[str, Any]) -> None:
    STATE.write_text(json.dumps(state), encoding="utf-8")
