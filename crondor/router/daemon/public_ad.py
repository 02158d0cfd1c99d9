"""The ad with which a job router tells a collector that it is there (HTCondor 25.14: ``JobRouter::InitPublicAd``)."""

from __future__ import annotations

from typing import Final

from crondor.classad.ad import ClassAd
from crondor.classad.errors import ClassAdSyntaxError
from crondor.config import Configuration
from crondor.diagnostics import Diagnostic, Severity

MY_TYPE: Final = "Job_Router"
"""A type of its own, which a collector keeps among its generic ads."""

_LISTS: Final = ("JOB_ROUTER_ATTRS", "JOB_ROUTER_EXPRS", "SYSTEM_JOB_ROUTER_ATTRS")


def public_ad(configuration: Configuration, host: str, now: int) -> tuple[ClassAd, list[Diagnostic]]:
    """Return the ad of a router at ``now`` (epoch seconds), and a warning for each attribute that it cannot have.

    ``host`` is the full name of its machine. It has the attributes that JOB_ROUTER_ATTRS lists. Nothing of routes and
    jobs is in it: HTCondor's router does not say how it stands. What only a process knows is left out: its address,
    its start, the number of the update, the version.
    """
    name = configuration.string("JOB_ROUTER_NAME") or "jobrouter"
    made = ClassAd({"MyType": MY_TYPE, "Name": daemon_name(name, host)})
    faults = []
    listed = dict.fromkeys(each for knob in _LISTS for each in configuration.names(knob))
    for attribute in listed:
        text = configuration.string(f"JOB_ROUTER_{attribute}") or configuration.string(attribute)
        if not text:
            continue
        try:
            made.set_text(attribute, text)
        except ClassAdSyntaxError as error:
            reason = error.diagnostics[0].message
            message = f"JOB_ROUTER_ATTRS lists {attribute}, whose value is no expression: {reason}"
            hint = f'write a string in quotes: {attribute} = "..."'
            knob = configuration.find(f"JOB_ROUTER_{attribute}") or configuration.find(attribute)
            span = None if knob is None else knob.span
            faults.append(Diagnostic("router-ad-attribute", message, Severity.WARNING, span, hint))
    made.set("MyCurrentTime", now)
    made.set("Machine", host)
    return made, faults


def daemon_name(name: str, host: str) -> str:
    """Return what a daemon of a name is called at its host, as ``build_valid_daemon_name`` makes it."""
    if "@" in name:
        return name
    same = name.lower() in (host.lower(), host.lower().partition(".")[0])
    return host if same else f"{name}@{host}"
