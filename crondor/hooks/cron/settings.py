"""The configuration of a daemon's cron jobs: the knobs STARTD_CRON_*, SCHEDD_CRON_* and BENCHMARKS_*.

HTCondor: CronJobMgr::ParseJobList, CronJobParams::Initialize.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from crondor.classad.expression import Expression
from crondor.diagnostics import CrondorError, Diagnostic, Severity, printable, similar
from crondor.hooks.kinds import Knobs, knob
from crondor.job.attributes import split_environment, split_raw_arguments

MOST_PERIOD: Final = 1 << 40
"""Seconds; a longer period is refused."""

_BENCHMARKS: Final = {"MIPS": "condor_mips", "KFLOPS": "condor_kflops"}
_DEFAULTED: Final = frozenset({"hook-cron-number"})  # faults of a number that has a default: the job runs nevertheless
_PERIOD: Final = re.compile(r"\s*([+-]?\d{1,18})(.?)", re.ASCII | re.DOTALL).match
_NUMBER: Final = re.compile(r"[+-]?(\d{1,18}(\.\d*)?|\.\d{1,18})([eE][+-]?\d{1,3})?", re.ASCII).fullmatch
_SEPARATORS: Final = re.compile(r"[, \t\r\n]+")


class Manager(Enum):
    """Who runs the jobs, by the prefix of its knobs."""

    STARTD = "STARTD_CRON"
    SCHEDD = "SCHEDD_CRON"
    BENCHMARKS = "BENCHMARKS"


class CronMode(Enum):
    """When a job runs."""

    PERIODIC = "Periodic"
    WAIT_FOR_EXIT = "WaitForExit"
    ONE_SHOT = "OneShot"
    ON_DEMAND = "OnDemand"


class AutoPublish(Enum):
    """When a startd's job updates the collector automatically."""

    NEVER = "never"
    ALWAYS = "always"
    IF_CHANGED = "if_changed"


@dataclass(frozen=True)
class CronJob:
    """One job; ``period`` is in seconds, 0 if unused. ``slots`` empty: all.

    ``metrics`` are pairs of an attribute to aggregate and whether by its sum (else by its peak). ``config_val`` is the
    value of SCHEDD_CONFIG_VAL for a schedd's job.
    """

    name: str
    executable: str
    mode: CronMode = CronMode.PERIODIC
    period: int = 0
    prefix: str = ""
    arguments: tuple[str, ...] = ()
    environ: tuple[tuple[str, str], ...] = ()
    folder: str | None = None
    kill: bool = False
    reconfig: bool = False
    reconfig_rerun: bool = False
    load: float = 0.01
    condition: Expression | None = None
    slots: tuple[int, ...] = ()
    metrics: tuple[tuple[str, bool], ...] = ()
    config_val: str = ""


@dataclass(frozen=True)
class CronSettings:
    """The jobs of one manager, in the order of its list, and common settings.

    ``listed`` is the configured list, including jobs that cannot run.
    """

    manager: Manager
    jobs: tuple[CronJob, ...] = ()
    max_load: float = 0.1
    auto_publish: AutoPublish = AutoPublish.NEVER
    log_non_zero_exit: bool = False
    diagnostics: tuple[Diagnostic, ...] = field(default=(), compare=False)
    listed: str = field(default="", compare=False)

    def job(self, name: str) -> CronJob | None:
        """Return a job by name."""
        return next((job for job in self.jobs if job.name == name), None)


def read_settings(manager: Manager, knobs: Knobs) -> CronSettings:
    """Return the configured jobs of a manager; faults are diagnostics, and exclude their job.

    Like in HTCondor, a boolean is true if its value begins with t. Arguments are split at blanks unless their value
    begins with a double quote; then it is the new syntax, in which single quotes keep blanks. All knobs of a job are
    read, even after a fault.
    """
    reader = _Reader(manager.value, knobs)
    benchmarks = manager is Manager.BENCHMARKS
    names = reader.knob(f"{manager.value}_JOBLIST") or ("mips kflops" if benchmarks else "")
    jobs: dict[str, CronJob] = {}
    for name in filter(None, _SEPARATORS.split(names)):
        if name in jobs:
            reader.warn("hook-cron-twice", f"{manager.value}_JOBLIST names {name} twice; the second is ignored")
            continue
        job = _JobReader(f"{manager.value}_{name}", knobs, reader.found).job(name, manager)
        if job is not None:
            jobs[name] = job
    most = reader.number("MAX_JOB_LOAD", 1.0 if benchmarks else 0.1, 0.01, 1000.0)
    return CronSettings(
        manager,
        tuple(jobs.values()),
        most,
        reader.auto_publish() if manager is Manager.STARTD else AutoPublish.NEVER,
        log_non_zero_exit=reader.text("LOG_NON_ZERO_EXIT").lower() in {"true", "t", "yes", "y", "1"},
        diagnostics=tuple(reader.found),
        listed=names,
    )


class _Reader:
    """Reads the knobs of one prefix, and collects their faults."""

    def __init__(self, prefix: str, knobs: Knobs, found: list[Diagnostic] | None = None) -> None:
        self.prefix = prefix
        self.knobs = knobs
        self.found: list[Diagnostic] = [] if found is None else found
        self.broken: set[str] = set()

    def text(self, item: str) -> str:
        return self.knob(f"{self.prefix}_{item}")

    def knob(self, name: str) -> str:
        """Return the text of a knob, empty if it is not set, or faulty because its macros cannot be replaced."""
        try:
            return knob(self.knobs, name)
        except CrondorError as error:
            if name not in self.broken:
                self.broken.add(name)
                messages = "; ".join(each.message for each in error.diagnostics if each.severity is Severity.ERROR)
                self.fail("hook-cron-value", f"{name} cannot be read: {messages}")
            return ""

    def is_missing(self, item: str) -> bool:
        """Return whether a knob is not set."""
        return not self.text(item) and f"{self.prefix}_{item}" not in self.broken

    def flag(self, item: str) -> bool:
        text = self.text(item)
        if text and text.lower() not in {"true", "false", "t", "f"}:
            read = "true" if text[0] in "tT" else "false"
            message = f"{self.prefix}_{item} = {text} is read as {read}: HTCondor looks at its first letter only"
            self.warn("hook-cron-boolean", message, "write true or false")
        return text[:1] in {"t", "T"}

    def number(self, item: str, default: float, low: float, high: float) -> float:
        text = self.text(item)
        if not text:
            return default
        value = float(text) if _NUMBER(text) else None
        if value is None or not low <= value <= high:
            message = f"{self.prefix}_{item} = {text} is not a number from {low:g} to {high:g}"
            self.fail("hook-cron-number", message, f"the default is {default:g}")
            return default
        return value

    def auto_publish(self) -> AutoPublish:
        text = self.text("AUTOPUBLISH")
        values = {"never": AutoPublish.NEVER, "false": AutoPublish.NEVER, "always": AutoPublish.ALWAYS}
        values |= dict.fromkeys(("if_changed", "ifchanged", "ifdifferent", "if_different"), AutoPublish.IF_CHANGED)
        if text and text.lower() not in values:
            message = f"{self.prefix}_AUTOPUBLISH = {text} is not Never, Always or If_Changed; Never applies"
            self.fail("hook-cron-autopublish", message)
        return values.get(text.lower(), AutoPublish.NEVER)

    def fail(self, code: str, message: str, help_text: str | None = None) -> None:
        self.found.append(Diagnostic(code, message, help=help_text))

    def warn(self, code: str, message: str, help_text: str | None = None) -> None:
        self.found.append(Diagnostic(code, message, Severity.WARNING, help=help_text))


class _JobReader(_Reader):
    """Reads the knobs of one job."""

    def job(self, name: str, manager: Manager) -> CronJob | None:
        before = len(self.found)
        is_benchmark = manager is Manager.BENCHMARKS
        executable = self._executable(name, is_benchmark=is_benchmark)
        mode = self._mode(CronMode.ON_DEMAND if is_benchmark else CronMode.PERIODIC)
        made = CronJob(
            name,
            executable,
            mode or CronMode.ON_DEMAND,
            0 if mode is None else self._period(mode),
            self.text("PREFIX"),
            self._arguments(),
            self._environ(),
            self.text("CWD") or None,
            kill=self.flag("KILL"),
            reconfig=self.flag("RECONFIG"),
            reconfig_rerun=self._reruns(manager),
            load=self.number("JOB_LOAD", 1.0 if is_benchmark else 0.01, 0.0, 100.0),
            condition=self._condition() if manager is Manager.STARTD else None,
            slots=self._slots() if manager is Manager.STARTD else (),
            metrics=self._metrics() if manager is Manager.STARTD else (),
            config_val=self.text("CONFIG_VAL_PROG"),
        )
        faults = [each for each in self.found[before:] if each.severity is Severity.ERROR]
        return None if any(each.kind not in _DEFAULTED for each in faults) else made

    def _executable(self, name: str, *, is_benchmark: bool) -> str:
        """Return the program; HTCondor's own benchmarks have theirs in LIBEXEC."""
        program = _BENCHMARKS.get(name.upper())
        libexec = self.knob("LIBEXEC") if is_benchmark else ""
        default = f"{libexec}/{program}" if libexec and program else ""
        executable = self.text("EXECUTABLE") or default
        if not default and self.is_missing("EXECUTABLE"):
            self.fail("hook-cron-executable", f"{self.prefix}_EXECUTABLE is not set: the job has no program")
        return executable

    def _reruns(self, manager: Manager) -> bool:
        found = self.flag("RECONFIG_RERUN")
        if found and manager is Manager.BENCHMARKS:
            self.warn("hook-cron-rerun", f"{self.prefix}_RECONFIG_RERUN has no effect: a benchmark is not run again")
            return False
        return found

    def _mode(self, default: CronMode) -> CronMode | None:
        text = self.text("MODE")
        if not text and not self.is_missing("MODE"):
            return None
        found = {mode.value.lower(): mode for mode in CronMode}.get(text.lower()) if text else default
        if found is None:
            words = ", ".join(mode.value for mode in CronMode)
            self.fail("hook-cron-mode", f"{self.prefix}_MODE = {text} is not one of {words}")
        elif default is CronMode.ON_DEMAND and found is not default:
            self.fail("hook-cron-mode", f"{self.prefix}_MODE = {text}: a benchmark is OnDemand")
        return found

    def _period(self, mode: CronMode) -> int:
        text = self.text("PERIOD")
        name = f"{self.prefix}_PERIOD"
        if mode in {CronMode.ONE_SHOT, CronMode.ON_DEMAND}:
            if text:
                self.warn("hook-cron-period", f"{name} has no effect in mode {mode.value}")
            return 0
        if not text:
            if self.is_missing("PERIOD"):
                self.fail(
                    "hook-cron-period", f"{name} is not set, and mode {mode.value} needs it", "write 5m, for example"
                )
            return 0
        match = _PERIOD(text)
        unit = {"": 1, "s": 1, "m": 60, "h": 3600}.get(match[2].lower()) if match else None
        if match is None or unit is None:
            self.fail("hook-cron-period", f"{name} = {text} is not a period", "write a number and s, m or h: 5m")
            return 0
        seconds = int(match[1]) * unit
        if text[match.end() :].strip():
            self.warn("hook-cron-period", f"{name} = {text}: HTCondor only reads {match[0].strip()}")
        if not 0 <= seconds <= MOST_PERIOD or (seconds == 0 and mode is CronMode.PERIODIC):
            self.fail("hook-cron-period", f"{name} = {text}: mode {mode.value} does not accept this period")
        return seconds

    def _arguments(self) -> tuple[str, ...]:
        try:
            return tuple(split_raw_arguments(self.text("ARGS")))
        except CrondorError as error:
            self.fail("hook-cron-args", f"{self.prefix}_ARGS: {error.diagnostics[0].message}")
            return ()

    def _environ(self) -> tuple[tuple[str, str], ...]:
        try:
            return tuple(split_environment(self.text("ENV")).items())
        except CrondorError as error:
            self.fail("hook-cron-env", f"{self.prefix}_ENV: {error.diagnostics[0].message}")
            return ()

    def _condition(self) -> Expression | None:
        text = self.text("CONDITION")
        try:
            return Expression(text) if text else None
        except CrondorError as error:
            self.fail("hook-cron-condition", f"{self.prefix}_CONDITION = {text}: {error.diagnostics[0].message}")
            return None

    def _slots(self) -> tuple[int, ...]:
        words = [word for word in _SEPARATORS.split(self.text("SLOTS")) if word]
        for word in words:
            if not word[:1].isdecimal():
                self.warn("hook-cron-slots", f"{self.prefix}_SLOTS: {word} is not a slot number; all slots get the ads")
                return ()
        return tuple(int(re.match(r"\d{1,9}", word)[0]) for word in words)  # type: ignore[index]

    def _metrics(self) -> tuple[tuple[str, bool], ...]:
        found = []
        for word in filter(None, _SEPARATORS.split(self.text("METRICS"))):
            kind, sign, resource = word.partition(":")
            is_sum, is_peak = kind[:3].upper() == "SUM", kind[:4].upper() == "PEAK"
            if sign and resource and (is_sum or is_peak):
                found.append((f"Uptime{resource}{'Seconds' if is_sum else 'PeakUsage'}", is_sum))
            else:
                hint = "write SUM:resource or PEAK:resource"
                self.warn("hook-cron-metrics", f"{self.prefix}_METRICS: {word} is not a metric", hint)
        return tuple(found)


_OF_ALL: Final = ("JOBLIST", "MAX_JOB_LOAD", "AUTOPUBLISH", "LOG_NON_ZERO_EXIT", "NAME")
_OF_A_JOB: Final = (
    *("EXECUTABLE", "MODE", "PERIOD", "PREFIX", "ARGS", "ENV", "CWD", "KILL", "RECONFIG", "RECONFIG_RERUN", "JOB_LOAD"),
    *("CONDITION", "SLOTS", "METRICS", "CONFIG_VAL_PROG"),
)


def misspelt(settings: CronSettings, listed: str, names: Iterable[str]) -> Iterator[Diagnostic]:
    """Yield a warning for each knob that does not belong to a ``listed`` job, or that no job has."""
    prefix = f"{settings.manager.value}_"
    jobs = [name.upper() for name in listed.replace(",", " ").split()]
    for name in sorted(name.upper() for name in names if name.upper().startswith(prefix)):
        rest = name.removeprefix(prefix)
        if rest in _OF_ALL:
            continue
        known = [*_OF_ALL, *(f"{job}_{item}" for job in jobs for item in _OF_A_JOB)]
        if rest not in known:
            near = similar(rest, known, 0.8)
            hint = f"did you mean {prefix}{near[0]}?" if near else f"jobs are named in {prefix}JOBLIST"
            yield Diagnostic(
                "hook-cron-unknown", f"{printable(name)} is not read by HTCondor", Severity.WARNING, help=hint
            )
