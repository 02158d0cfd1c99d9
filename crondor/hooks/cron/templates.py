"""The templates of HTCondor 25.14 that set cron jobs: ``use FEATURE : ScheddCronPeriodic(TAG, 1m, PROGRAM, ARGS)``."""

from __future__ import annotations

from typing import Final


def _hook(name: str, first: int, *settings: str) -> str:
    """Return a template whose arguments are prefix, tag, those of ``settings``, and from ``first`` program and ARGS."""
    lines = [
        f"if ! $({first}?)",
        f"error : use FEATURE : {name} requires at least {first} arguments",
        "endif",
        "$(1)_JOBLIST = $($(1)_JOBLIST) $(2)",
        *(f"$(1)_$(2)_{setting}" for setting in settings),
        f"$(1)_$(2)_EXECUTABLE = $({first})",
        f"if $({first + 1}?)",
        f"$(1)_$(2)_ARGS = $({first + 1})",
        "endif",
    ]
    return "\n".join(lines)


_HOOKS: Final = {
    "OneShot": _hook("OneShotCronHook", 3, "MODE = OneShot", "KILL = true", "RECONFIG_RERUN = true"),
    "Periodic": _hook("PeriodicCronHook", 4, "MODE = Periodic", "PERIOD = $(3)"),
    "Continuous": _hook("ContinuousCronHook", 3, "MODE = WaitForExit", "PERIOD = 0"),
}

_MONITOR: Final = """\
if ! $(5?)
error : use FEATURE : Monitor requires at least 5 arguments
endif
STARTD_CRON_JOBLIST = $(STARTD_CRON_JOBLIST) $(1)_MONITOR
STARTD_CRON_$(1)_MONITOR_MODE = $(2)
STARTD_CRON_$(1)_MONITOR_PERIOD = $(3)
STARTD_CRON_$(1)_MONITOR_EXECUTABLE = $(4)
STARTD_CRON_$(1)_MONITOR_METRICS = $(5+)
"""
_GPU_PROGRAM: Final = "$(GPU_MONITOR:$(LIBEXEC)/condor_gpu_utilization)"
_GPUS: Final = f"""\
use FEATURE : Monitor(GPUs, WaitForExit, 300, {_GPU_PROGRAM}, SUM:GPUs, PEAK:GPUsMemory)
STARTD_CRON_GPUs_MONITOR_CONDITION = TotalGPUs > 0 && OpSys =!= "WINDOWS"
"""

TEMPLATES: Final = {
    "FEATURE.Monitor": _MONITOR,
    "FEATURE.GPUsMonitor": _GPUS,
    **{f"FEATURE.{name}CronHook": text for name, text in _HOOKS.items()},
    **{
        f"FEATURE.{daemon}Cron{name}": f"use FEATURE : {name}CronHook({daemon.upper()}_CRON, $(0))"
        for daemon in ("Startd", "Schedd")
        for name in _HOOKS
    },
}
"""What ``read_config`` needs to read them, by ``category.name``."""
