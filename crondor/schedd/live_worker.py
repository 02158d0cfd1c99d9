"""The process that talks to a real schedd through the official bindings; it is started as a program of its own.

The bindings hold the interpreter while they wait, and can crash it (measured with htcondor 25.14): both end here. It
reads one JSON request a line from standard input and answers with JSON lines: ads in portions, then a result, or an
error. It imports nothing of crondor.
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
    """Answers requests; connects when the first one comes."""

    def __init__(self, bindings: Any, send: Send) -> None:  # noqa: ANN401 - a module without types
        """Take the module htcondor2, and where answers go."""
        self._bindings = bindings
        self._send = send
        self._schedd: Any = None
        self._location: Any = None

    def outcome(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what a request asks for, and return what to send in the end."""
        try:
            return {"done": self.answer(request)}
        except Exception as error:  # noqa: BLE001 - whatever it is, the process that asked says it
            self._schedd = self._location = None  # a schedd that was started again has another address
            return {"error": str(error), "kind": type(error).__name__}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what a request asks for."""
        if request["do"] == "schedds":
            return self._schedds(request.get("pool"))
        if self._schedd is None:
            self._location = self._located(request)
            self._schedd = self._connected(self._location)
        method: Callable[[dict[str, Any]], dict[str, Any]] = getattr(self, f"do_{request['do']}")
        return method(request)

    def _schedds(self, pool: str | None) -> dict[str, Any]:
        """Return the names of the schedds that a collector knows."""
        collector = self._bindings.Collector(pool) if pool else self._bindings.Collector()
        found = collector.query(self._bindings.AdTypes.Schedd, "true", ["Name"])
        return {"names": [str(ad["Name"]) for ad in found if "Name" in ad]}

    def _located(self, request: dict[str, Any]) -> Any:  # noqa: ANN401
        """Return the ad that says where the schedd is, None for the one of this host."""
        name, pool = request.get("name"), request.get("pool")
        if name is None and pool is None:
            return self._addressed(request.get("address_file"))
        collector = self._bindings.Collector(pool) if pool else self._bindings.Collector()
        kind = self._bindings.DaemonType.Schedd
        where = collector.locate(kind, name) if name else collector.locate(kind)
        if where is None:  # never another one: what is removed or edited there would be somebody else's
            called = f"of the name {name!r} " if name else ""
            raise LookupError(f"cannot locate a schedd {called}in the pool {pool or 'of this host'}")
        return where

    def _addressed(self, file: str | None) -> Any:  # noqa: ANN401
        """Return the ad that a schedd's address file stands for: its address and its version, a line each."""
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

    def _connected(self, where: Any) -> Any:  # noqa: ANN401
        return self._bindings.Schedd() if where is None else self._bindings.Schedd(where)

    def _where(self) -> Any:  # noqa: ANN401
        """Return the ad that says where the schedd is, for what the bindings ask of any daemon."""
        if self._location is None:
            self._location = self._bindings.Collector().locate(self._bindings.DaemonType.Schedd)
        return self._location

    def do_about(self, request: dict[str, Any]) -> dict[str, Any]:
        """Say which bindings these are, and which schedd it is; nobody is asked for that but a collector."""
        where = self._where()
        return {"bindings": str(self._bindings.version()), **_texts(where, request["attributes"])}

    def do_ping(self, request: dict[str, Any]) -> dict[str, Any]:
        """Ask the schedd for a level of access and nothing else (condor_ping)."""
        return _texts(self._bindings.ping(self._where(), request["level"]), request["attributes"])

    def do_knobs(self, request: dict[str, Any]) -> dict[str, Any]:
        """Ask the schedd for values of its configuration."""
        found = self._bindings.RemoteParam(self._where())
        return {name: str(found[name]) for name in request["names"] if name in found}

    def do_query(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send the jobs of a constraint, all of them or as many as are wanted."""
        limit = {} if request.get("limit") is None else {"limit": request["limit"]}
        return self._send_ads(self._schedd.query(request["constraint"], request["projection"], **limit))

    def do_history(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send the jobs that have left."""
        match = -1 if request["limit"] is None else request["limit"]
        return self._send_ads(self._schedd.history(request["constraint"], request["projection"], match))

    def do_edit(self, request: dict[str, Any]) -> dict[str, Any]:
        """Set one attribute; where no job matches the bindings raise, and a query tells that from other failures."""
        constraint = request["constraint"]
        try:
            count = self._schedd.edit(constraint, request["attribute"], request["value"])
        except self._bindings.HTCondorException as error:
            if "matching constraint" not in str(error) or self._schedd.query(constraint, ["ClusterId"]):
                raise
            count = 0
        return {"count": int(count)}

    def do_act(self, request: dict[str, Any]) -> dict[str, Any]:
        """Hold, release or remove; a reason counts only as (text, code)."""
        action = getattr(self._bindings.JobAction, _ACTIONS[request["action"]])
        totals = self._schedd.act(action, request["constraint"], reason=(request["reason"], str(request["code"])))
        names = ("TotalSuccess", "TotalAlreadyDone", "TotalBadStatus", "TotalPermissionDenied", "TotalNotFound")
        return {"totals": [int(totals.get(name, 0)) for name in names]}

    def do_submit(self, request: dict[str, Any]) -> dict[str, Any]:
        """Submit one job, and send the ad that the bindings have made of the commands.

        Each command is set by itself: of a dictionary they make lines and read those.
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
    # What the bindings' C code prints must not get between the answers.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="surrogateescape")
    os.dup2(2, 1)

    def send(message: dict[str, Any]) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    try:
        import htcondor2  # noqa: PLC0415 - its absence is an answer
    except ImportError as error:
        send({"error": str(error), "kind": "ImportError"})
        return
    if hasattr(htcondor2, "enable_debug"):
        htcondor2.enable_debug()  # what an exception does not say is printed, as why authentication failed
    worker = Worker(htcondor2, send)
    for line in sys.stdin:
        send(worker.outcome(json.loads(line)))


if __name__ == "__main__":
    del sys.path[0]  # this folder: its modules must not stand in for others
    main()
