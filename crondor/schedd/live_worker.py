"""The process that talks to a real schedd through the official bindings; run as a program of its own.

The bindings hold the interpreter while they wait, and can crash it (measured with htcondor 25.14): here neither affects
crondor. It reads one JSON request per line from standard input and answers with JSON lines: ads in portions, then a
result or an error. It imports nothing of crondor.
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

_PORTION = 100  # ads in one line
_ADDRESS = 4096  # bytes of an address file
_ACTIONS = {"hold": "Hold", "release": "Release", "remove": "Remove"}

Send = Callable[[dict[str, Any]], None]


class Worker:
    """Answers requests; connects at the first one."""

    def __init__(self, bindings: Any, send: Send) -> None:  # noqa: ANN401 - a module without types
        """Take the module htcondor2, and a function that sends answers."""
        self._bindings = bindings
        self._send = send
        self._schedd: Any = None
        self._location: Any = None

    def outcome(self, request: dict[str, Any]) -> dict[str, Any]:
        """Process a request, and return the final message."""
        try:
            return {"done": self.answer(request)}
        except Exception as error:  # noqa: BLE001 - the parent process reports it
            self._schedd = self._location = None  # a restarted schedd has another address
            return {"error": str(error), "kind": type(error).__name__}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Process a request."""
        if request["do"] == "schedds":
            return self._schedds(request.get("pool"))
        if self._schedd is None:
            self._location = self._located(request)
            self._schedd = self._bindings.Schedd() if self._location is None else self._bindings.Schedd(self._location)
        method: Callable[[dict[str, Any]], dict[str, Any]] = getattr(self, f"do_{request['do']}")
        return method(request)

    def _schedds(self, pool: str | None) -> dict[str, Any]:
        """Return the names of the schedds that a collector has."""
        collector = self._bindings.Collector(pool) if pool else self._bindings.Collector()
        found = collector.query(self._bindings.AdTypes.Schedd, "true", ["Name"])
        return {"names": [str(ad["Name"]) for ad in found if "Name" in ad]}

    def _located(self, request: dict[str, Any]) -> Any:  # noqa: ANN401
        """Return the ad with the schedd's location, None for the schedd of this host."""
        name, pool = request.get("name"), request.get("pool")
        if name is None and pool is None:
            return self._addressed(request.get("address_file"))
        collector = self._bindings.Collector(pool) if pool else self._bindings.Collector()
        kind = self._bindings.DaemonType.Schedd
        where = collector.locate(kind, name) if name else collector.locate(kind)
        if where is None:  # never use another schedd: edits and removals would hit another queue
            called = f"of the name {name!r} " if name else ""
            raise LookupError(f"cannot locate a schedd {called}in the pool {pool or 'of this host'}")
        return where

    def _addressed(self, file: str | None) -> Any:  # noqa: ANN401
        """Return an ad for a schedd's address file: its address and its version, a line each."""
        if not file:
            return None
        try:
            with pathlib.Path(file).open(encoding="utf-8") as opened:
                lines = opened.read(_ADDRESS).split("\n")
        except OSError as error:
            raise LookupError(f"cannot locate the schedd by its address file {file}: {error.strerror}") from error
        if not lines or not lines[0].startswith("<"):
            raise LookupError(f"cannot locate the schedd: {file} has no address")
        return import_module("classad2").ClassAd({"MyAddress": lines[0], "CondorVersion": "".join(lines[1:2])})

    def _where(self) -> Any:  # noqa: ANN401
        """Return the ad with the schedd's location, for requests that go to any daemon."""
        if self._location is None:
            self._location = self._bindings.Collector().locate(self._bindings.DaemonType.Schedd)
        return self._location

    def do_about(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the version of the bindings and the schedd found; only a collector is queried."""
        where = self._where()
        return {"bindings": str(self._bindings.version()), **_texts(where, request["attributes"])}

    def do_ping(self, request: dict[str, Any]) -> dict[str, Any]:
        """Request a level of access from the schedd, and nothing else (condor_ping)."""
        return _texts(self._bindings.ping(self._where(), request["level"]), request["attributes"])

    def do_knobs(self, request: dict[str, Any]) -> dict[str, Any]:
        """Query values of the schedd's configuration."""
        found = self._bindings.RemoteParam(self._where())
        return {name: str(found[name]) for name in request["names"] if name in found}

    def do_query(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send the jobs of a constraint, up to a limit, and return the number of jobs of another one (``total``)."""
        limit = {} if request.get("limit") is None else {"limit": request["limit"]}
        done = self._send_ads(self._schedd.query(request["constraint"], request["projection"], **limit))
        if request.get("total") is None:
            return done
        only = self._bindings.QueryOpts.SummaryOnly
        (summary,) = self._schedd.query(request["total"], ["ClusterId"], opts=only)
        return {"total": int(summary["Jobs"])}

    def do_history(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send the jobs that have left."""
        match = -1 if request["limit"] is None else request["limit"]
        return self._send_ads(self._schedd.history(request["constraint"], request["projection"], match))

    def do_edit(self, request: dict[str, Any]) -> dict[str, Any]:
        """Set one attribute; if no job matches, the bindings raise, and a query tells that from other failures."""
        constraint = request["constraint"]
        try:
            count = self._schedd.edit(constraint, request["attribute"], request["value"])
        except self._bindings.HTCondorException as error:
            if "matching constraint" not in str(error) or self._schedd.query(constraint, ["ClusterId"]):
                raise
            count = 0
        return {"count": int(count)}

    def do_act(self, request: dict[str, Any]) -> dict[str, Any]:
        """Hold, release or remove; a reason is only used as (text, code)."""
        action = getattr(self._bindings.JobAction, _ACTIONS[request["action"]])
        totals = self._schedd.act(action, request["constraint"], reason=(request["reason"], str(request["code"])))
        names = ("TotalSuccess", "TotalAlreadyDone", "TotalBadStatus", "TotalPermissionDenied", "TotalNotFound")
        return {"totals": [int(totals.get(name, 0)) for name in names]}

    def do_submit(self, request: dict[str, Any]) -> dict[str, Any]:
        """Submit one job, and send the ad that the bindings made of the commands.

        Each command is set separately: a dictionary would be turned into lines and parsed.
        """
        submit = self._bindings.Submit()
        for name, value in request["commands"].items():
            submit[name] = value
        result = self._schedd.submit(submit, count=1)
        self._send_ads([result.clusterad()])
        return {"cluster": int(result.cluster())}

    def _send_ads(self, ads: Iterable[Any]) -> dict[str, Any]:
        portion: list[str] = []
        for ad in ads:
            portion.append(ad.printOld())
            if len(portion) == _PORTION:
                self._send({"ads": portion})
                portion = []
        if portion:
            self._send({"ads": portion})
        return {}


def _texts(ad: Any, names: list[str]) -> dict[str, str]:  # noqa: ANN401
    return {name: str(ad[name]) for name in names if name in ad}


def main() -> None:
    """Answer until the input ends."""
    # Output of the bindings' C code must not mix with the answers.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="surrogateescape")
    os.dup2(2, 1)

    def send(message: dict[str, Any]) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    try:
        import htcondor2  # noqa: PLC0415 - its absence is reported
    except ImportError as error:
        send({"error": str(error), "kind": "ImportError"})
        return
    if hasattr(htcondor2, "enable_debug"):
        htcondor2.enable_debug()  # prints details that an exception lacks, as why authentication failed
    worker = Worker(htcondor2, send)
    for line in sys.stdin:
        send(worker.outcome(json.loads(line)))


if __name__ == "__main__":
    del sys.path[0]  # this folder: its modules must not shadow others
    main()
