"""Print a compiled schedule: the lines, their effect, the proof, the cost and the next runs; or as JSON."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from crondor.calendar import DAY
from crondor.compile.days import seconds_of
from crondor.compile.meaning import Beside, WrittenSchedule, read_schedule, schedule_line, whole_text
from crondor.compile.writing.compiler import compile_schedule
from crondor.compile.writing.wish import LAST, Compiled, LineOptions, Wish, default_end
from crondor.compiled_text import CompiledText, compile_text
from crondor.deferral import DEFAULT_PREP_TIME
from crondor.diagnostics import CrondorError, Source, Span, printable
from crondor.knowledge.kinds import FileKind
from crondor.macro.files import Files
from crondor.words import describe
from crondor.zones import Policy, zone_of
from crondor_cli.kit.files import read_source, write_source
from crondor_cli.kit.options import Clock, Surroundings, UsageProblem
from crondor_cli.kit.schedules import ScheduleRequest
from crondor_cli.kit.screen import emit, prose, say, show, usage
from crondor_cli.kit.tables import diagnostic_data, echo_json, instant, plural
from crondor_cli.kit.times import find_zone, length, local_text, relative, zone_text

if TYPE_CHECKING:
    from crondor_cli.compile import results


class Asked(NamedTuple):
    """The options that qualify the schedule; times are epoch seconds, None where not given."""

    clock: Clock
    own_zone: str | None
    start: int | None
    until: int | None
    excepted: tuple[str, ...]
    options: LineOptions
    schedd_interval: int
    name: str
    policy: Policy | None
    allow_dirs: tuple[str, ...]

    @property
    def begin(self) -> int:
        """Return the time after which the schedd may set times."""
        return self.clock.now

    @property
    def end(self) -> int:
        """Return the last time to prove: without --until a midnight in some years."""
        if self.until is None:
            return default_end(max(self.begin, self.start or 0))
        if self.until <= max(self.begin, (self.start or 0) - 1):
            said = "now" if self.start is None else "--from"
            raise usage(f"--until is not later than {said}: no run can lie between them")
        return min(self.until, LAST)

    def whole(self, text: str) -> str:
        """Return the schedule as one text, with the meaning of the options included.

        Raises UsageProblem for an unknown zone, InvalidSchedule for an invalid schedule.
        """
        try:
            zone = None if self.own_zone is None else find_zone(self.own_zone, label="--zone").key
        except CrondorError as error:
            raise UsageProblem(error) from None
        beside = Beside(zone, self.excepted, self.start, self.name, self.policy)
        return whole_text(text, beside, zone_of(self.clock.zone_name), "TEXT")

    def schedule(self, text: str | Span, folder: str = ".") -> WrittenSchedule:
        """Return the schedule of a complete text; .ics files must be below the folder or --allow-dir.

        Raises CrondorError for an invalid schedule.
        """
        files = Files((folder, *self.allow_dirs), base=folder)
        is_whole = self.until is not None
        return read_schedule(text, zone=self.clock.zone_name, files=files, label="TEXT", is_whole=is_whole)

    def compiled(self, schedule: WrittenSchedule) -> Compiled:
        """Return the jobs for a schedule. Raises CannotCompile."""
        return compile_schedule(self.wish(schedule, self.options))

    def wish(self, schedule: WrittenSchedule, options: LineOptions, universe: str | None = None) -> Wish:
        """Return the request to compile, for jobs of a universe."""
        options = options.over(LineOptions(schedd_interval=self.schedd_interval))
        host, first = zone_of(self.clock.zone_name), self.start or 0
        return options.wish(schedule, host, self.begin, self.end, universe=universe, first=first)


_STAYS = {"on_exit_remove": "false"}
_MOST = 20  # differences listed
_FEW = 5  # times that the schedd may skip
_WIDEST = 76  # columns


def print_compiled(
    schedule: WrittenSchedule,
    compiled: Compiled,
    clock: Clock,
    count: int,
    form: str,
    files: Mapping[str, str] | None = None,
) -> None:
    """Print the compiled schedule; with the files of --dag, the first of them in place of the lines."""
    show(schedule.warnings)
    made = next(iter(files.values())).rstrip("\n") if files else "\n".join(submit_lines(schedule, compiled))
    if form == "json":
        echo_json({**_data(schedule, compiled, clock, count), "files": files})
    elif form == "submit":
        emit(made, nl=True)
    else:
        say(made, fits=False)
        say("\n".join(["", *_words(schedule, compiled, clock, count)]))


def submit_lines(schedule: WrittenSchedule, compiled: Compiled) -> list[str]:
    """Return the lines for a submit file; several jobs each with a queue statement.

    A job leaves the queue after its first run, unless the file says that it stays.
    """
    lines = [f"# {printable(schedule.text)}"]
    for number, commands in enumerate(compiled.commands):
        if number:
            lines += ["queue", ""]
        lines += [f"{name} = {value}" for name, value in (commands if number else commands | _STAYS).items()]
    return lines


def _words(schedule: WrittenSchedule, compiled: Compiled, clock: Clock, count: int) -> list[str]:
    proof, zone = compiled.proof, clock.zone
    is_here = schedule.zone.name == clock.zone_name
    there = zone_text(clock) if is_here else f"{schedule.zone.name}; the submit host's must be {clock.zone_name}"
    rows = [("asked for", schedule.words), ("zone", there)]
    jobs = compiled.jobs
    for number, job in enumerate(jobs, 1):
        words = describe(job.superset.spec) + ("; the requirements admit only the wanted ones" if job.clause else "")
        rows.append((f"job {number} of {len(jobs)}" if len(jobs) > 1 else "fields", words))
    walked = f"{proof.walked:,} steps of the schedd's own search followed"
    compared = (
        f"exact: of {proof.offered:,} times that the fields name, the {proof.wanted:,} wanted ones match"
        if compiled.exact
        else f"NOT exact: the fields name {proof.offered:,} times; {proof.wanted:,} are wanted"
    )
    rows.append(("computed", f"{compared}; {walked}, until {local_text(proof.until, zone)}"))
    if compiled.until_reason:
        rows.append(("no further", compiled.until_reason))
    rows += [("", reason) for reason in compiled.reasons]
    rows.append(("started", _starts_words(compiled)))
    if compiled.is_open:
        rows.append(("afterwards", "the lines stay valid"))
    else:
        rows.append(("afterwards", "no run matches after that: compile again before then"))
    rows.append(("cost", _cost(compiled)))
    rows.append(("stays", "on_exit_remove = false keeps the job for its next run; omit it if the file already has one"))
    if compiled.wish.local:
        rows.append(("caveat", "formatTime uses the zone of the host that evaluates it: schedd, negotiator, startd"))
    lines = []
    wide = max(11, *(len(name) for name, _ in rows))
    for name, text in rows:
        lines += prose(printable(text), None, f"  {name:<{wide}} ", " " * (wide + 3), _WIDEST)
    differences = [("never runs", time) for time in proof.lost] + [("runs too", time) for time in proof.wrong]
    differences += [("may not run", time) for time in compiled.spoiled]
    if differences:
        differences.sort(key=lambda pair: pair[1])
        lines += ["", f"  {len(differences):,} differences:" if len(differences) > 1 else "  1 difference:"]
        lines += [f"    {what:<11}  {local_text(time, zone)}" for what, time in differences[:_MOST]]
        if len(differences) > _MOST:
            lines.append(f"    ... and {len(differences) - _MOST:,} more (--format json has all)")
    late = _moments(compiled.hurried)
    listed = list(islice(late, _FEW))
    if listed:
        more = sum(bits.bit_count() for bits in compiled.hurried.values()) - len(listed)
        lines += ["", "  the schedd may pass over:", *(f"    {local_text(time, zone)}" for time in listed)]
        lines += [f"    ... and {more:,} more"] if more else []
    runs = _runs(schedule, compiled, count)
    if runs:
        lines += ["", "  next runs"]
        lines += [f"    {local_text(run, schedule.zone.info)}  {relative(run - clock.now)}" for run in runs]
    return lines


def _cost(compiled: Compiled) -> str:
    wrong = sum(job.spacing.wrong for job in compiled.jobs)
    if not wrong:
        return "none: something runs at every time that the schedd sets"
    least = [job.spacing.least for job in compiled.jobs if job.spacing.least is not None]
    text = f"the schedd sets {plural(wrong, 'time')} at which nothing runs"
    if not least:
        return f"{text}; none is before a run"
    needed = length(compiled.wish.timing.needed)
    return f"{text}; the closest is {length(min(least))} before a run (at least {needed} needed)"


def _starts(compiled: Compiled) -> results.StartCounts:
    """Return how many of the computed times are certain to start, how many are not, and the settings."""
    timing, wanted = compiled.wish.timing, compiled.proof.wanted - len(compiled.proof.lost)
    late = sum(bits.bit_count() for bits in compiled.hurried.values())
    return {
        "certain": wanted - late,
        "may_be_passed_over": late,
        "schedd_interval": timing.schedd_interval,
        "window": timing.window,
        "prep_time": min(DEFAULT_PREP_TIME if job.prep_time is None else job.prep_time for job in compiled.jobs),
    }


def _starts_words(compiled: Compiled) -> str:
    starts = _starts(compiled)
    interval, late = starts["schedd_interval"], starts["may_be_passed_over"]
    lengths = f"with SCHEDD_INTERVAL {interval} s, window {starts['window']} s, prep time {starts['prep_time']} s"
    if not late:
        return f"every run can be computed in time, {lengths}"
    return (
        f"{starts['certain']:,} of them are certain {lengths}: the schedd computes the next time once in {interval} s, "
        f"and may pass over the other {late:,}, which lie closer to the time before (CRN206); --universe local, or "
        f"{interval} s between two times, would do"
    )


def _moments(days: Mapping[int, int]) -> Iterator[int]:
    """Yield the times in bit sets of minutes by UTC day."""
    return (day * DAY + second for day in sorted(days) for second in seconds_of(days[day]))


def _runs(schedule: WrittenSchedule, compiled: Compiled, count: int) -> list[int]:
    lost = {*compiled.proof.lost, *compiled.spoiled}
    wanted = (run for run in schedule.between(compiled.wish.after, compiled.proof.until) if run not in lost)
    return list(islice(wanted, count))


def _data(schedule: WrittenSchedule, compiled: Compiled, clock: Clock, count: int) -> results.CompileResult:
    proof, zone = compiled.proof, clock.zone
    return {
        **_head(schedule, clock),
        "exact": compiled.exact,
        "until": {**instant(proof.until, zone), "reason": compiled.until_reason},
        "goes_on": compiled.is_open,
        "jobs": [
            {
                "commands": job.commands | _STAYS,
                "words": describe(job.superset.spec),
                "unused": job.spacing.wrong,
                "least_distance": job.spacing.least,
            }
            for job in compiled.jobs
        ],
        "proof": {
            "from": instant(proof.start, zone),
            "until": instant(proof.until, zone),
            "compared": proof.offered,
            "wanted": proof.wanted,
            "walked": proof.walked,
        },
        "starts": {
            **_starts(compiled),
            "first_passed_over": [instant(time, zone) for time in islice(_moments(compiled.hurried), _MOST)],
        },
        "never_run": [instant(time, zone) for time in proof.lost],
        "run_too": [instant(time, zone) for time in proof.wrong],
        "may_not_run": [instant(time, zone) for time in compiled.spoiled],
        "runs": [instant(run, zone) for run in _runs(schedule, compiled, count)],
        "reason": "; ".join(compiled.reasons) or None,
        "files": None,
        "diagnostics": [diagnostic_data(each) for each in schedule.warnings],
    }


def print_refusal(schedule: WrittenSchedule, error: CrondorError, clock: Clock) -> None:
    """Print that a schedule cannot be expressed, and why, as JSON."""
    show(error.diagnostics)
    data: results.CompileResult = {
        **_head(schedule, clock),
        "exact": False,
        "until": None,
        "goes_on": False,
        "jobs": [],
        "proof": None,
        "starts": None,
        "never_run": [],
        "run_too": [],
        "may_not_run": [],
        "runs": [],
        "reason": "; ".join(each.message for each in error.diagnostics),
        "files": None,
        "diagnostics": list(map(diagnostic_data, (*schedule.warnings, *error.diagnostics))),
    }
    echo_json(data)


def _head(schedule: WrittenSchedule, clock: Clock) -> results.Head:
    return {
        "schedule": schedule.text,
        "words": schedule.words,
        "zone": schedule.zone.name,
        "submit_zone": clock.zone_name,
        "now": clock.now,
    }


def write_file(path: str, asked: Asked, surroundings: Surroundings) -> None:
    """Compile a submit file's own schedule into the file, and print the result.

    Raises UsageError for a file without a schedule or that cannot be written, CrondorError for a schedule that cannot
    be expressed, or for conflicting lines of the file.
    """
    if path == "-":
        raise usage("--write cannot change standard input")
    source = written = read_source(path, FileKind.SUBMIT)
    line = schedule_line(source)
    if line is None:
        message = f"'{printable(path)}' has no schedule: add a line such as # crondor: schedule = every Friday at 06:00"
        raise usage(message)
    whole = asked.whole(line.text)
    if whole != line.text:
        source = Source(source.text[: line.start] + whole + source.text[line.end :], source.name)
        line = source.span(line.start, line.start + len(whole))
    schedule = asked.schedule(line, os.path.dirname(path) or ".")
    show(schedule.warnings)
    request = ScheduleRequest(asked.clock, (path,), surroundings=surroundings)
    made = compile_text(
        source,
        lambda universe, options: asked.wish(schedule, options, universe),
        lambda read: request.read_from(read, path),
        asked.until,
        asked.options,
    )
    end = local_text(made.until, asked.clock.zone)
    if made.compiled is None and source is written:
        say(f"{printable(path)}: the lines match the schedule, until {end}; nothing was written")
        return
    if made.text != written.text:
        write_source(written, Source(made.text, source.name))
    if made.compiled is None:
        say(f"{printable(path)}: the schedule line is complete, and the lines match, until {end}")
        return
    print_written(printable(path), made, asked.clock)


def print_written(names: str, made: CompiledText, clock: Clock) -> None:
    """Print which files were written, and what their new lines do."""
    if made.compiled is None:
        return
    jobs = "1 job" if len(made.compiled.jobs) == 1 else f"{len(made.compiled.jobs)} jobs"
    result = "exact" if made.compiled.exact else "NOT exact"
    end = local_text(made.until, clock.zone)
    say(f"{names}: {jobs}, {result}, {made.compiled.proof.offered:,} times compared, until {end}")
    for reason in made.compiled.reasons:
        say(f"  {printable(reason)}")
    if made.compiled.wish.makes_up:
        say(
            "  missed runs: made up by crondor queue guard --live --apply, which must run there; HTCondor makes up none"
        )
