"""The hooks by name, and how a configuration names the program of one (HTCondor: getHookTypeString)."""

from __future__ import annotations

from enum import Enum
from typing import Protocol


class Knobs(Protocol):
    """HTCondor's configuration: the text of a knob, None where it is not set."""

    def get(self, name: str, /) -> str | None:
        """Return the value of a knob with its macros expanded."""


class HookType(str, Enum):
    """A hook; JOB_EXIT is the starter's, and an old name of the router's JOB_FINALIZE."""

    TRANSLATE_JOB = "TRANSLATE_JOB"
    UPDATE_JOB_INFO = "UPDATE_JOB_INFO"
    JOB_FINALIZE = "JOB_FINALIZE"
    JOB_CLEANUP = "JOB_CLEANUP"
    JOB_EXIT = "JOB_EXIT"
    FETCH_WORK = "FETCH_WORK"
    REPLY_FETCH = "REPLY_FETCH"
    EVICT_CLAIM = "EVICT_CLAIM"
    PREPARE_JOB_BEFORE_TRANSFER = "PREPARE_JOB_BEFORE_TRANSFER"
    PREPARE_JOB = "PREPARE_JOB"


def knob_name(keyword: str, hook: HookType) -> str:
    """Return the knob that names the program of a hook: ``<KEYWORD>_HOOK_<TYPE>``."""
    return f"{keyword}_HOOK_{hook.value}"


def knob(knobs: Knobs, name: str) -> str:
    """Return the value of a knob without blanks around it; empty where it is not set."""
    return (knobs.get(name) or "").strip()
