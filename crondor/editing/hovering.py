"""Hover texts and hints for a word or a line: descriptions, values, schedules, in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import cache
from itertools import islice
from typing import Final, NamedTuple

from crondor.classad import UNDEFINED, ClassAd, Value, print_value, read_ads
from crondor.compile.markers import MEANINGS, SETTING
from crondor.compile.writing.wish import LAST
from crondor.crontab.file import CrontabEntry, is_system_crontab, read_crontab
from crondor.crontab.import_ import entry_schedule, job_names
from crondor.diagnostics import CrondorError, Diagnostic, Span, shortened
from crondor.editing.findings import read_said, schedule_at, zone_at
from crondor.editing.reading import HintKind, LineKind, ReadText, Spot, SpotKind, TextKind, WrittenLine, spot_at
from crondor.editing.structure import definitions
from crondor.knowledge import (
    Attribute,
    ClassAdFunction,
    ConfigKnob,
    Releases,
    SubmitCommand,
    SubmitMacro,
    TransformCommand,
    classad_functions,
    config_knobs,
    job_attributes,
    machine_attributes,
    submit_commands,
    submit_macros,
    transform_commands,
)
from crondor.lint.subject import CheckedJob
from crondor.submit import job_ads
from crondor.times import JobTimes, requirements_of
from crondor.words import describe
from crondor.zones import Stretch, Zone, load_zone, zone_of


def of_command(command: SubmitCommand) -> str:
    """Return the description of a submit command: its type, effect and attribute, when and where it counts."""
    kind = ", ".join(command.choices) if command.choices else command.type.value
    facts = []
    if command.attribute:
        facts.append(f"job attribute `{command.attribute}`")
    facts += _releases(command.releases)
    if command.universes:
        facts.append(f"universes: {', '.join(command.universes)}")
    return _page(f"**{command.name}** ({kind})", command.sentence, "; ".join(facts))


def of_attribute(name: str) -> str | None:
    """Return the description of an attribute of a job's or a machine's ad, None if unknown."""
    found = [
        (where, attribute)
        for where, table in (("job", job_attributes()), ("machine", machine_attributes()))
        if (attribute := table.get(name)) is not None
    ]
    return "\n\n".join(_attribute(where, attribute) for where, attribute in found) or None


def of_function(name: str) -> str | None:
    """Return the description of a ClassAd function, None if unknown."""
    found = classad_functions().get(name.lower())
    return None if found is None else _page(f"`{signature(found)}` → {found.type}", found.sentence)


def signature(function: ClassAdFunction) -> str:
    """Return a function as it is called."""
    return f"{function.name}({function.arguments})"


def of_provided(macro: SubmitMacro) -> str:
    """Return the description of a macro or a function of the submit language that HTCondor provides."""
    shown = f"${macro.name.lstrip('$')}({macro.arguments})" if macro.arguments else f"$({macro.name})"
    return _page(f"`{shown}`", macro.sentence)


def of_rule(command: TransformCommand) -> str:
    """Return the description of a command of the transform language."""
    return _page(f"`{command.name} {command.arguments}`", command.sentence)


def of_knob(knob: ConfigKnob) -> str:
    """Return the description of a knob: its type, its effect, its reader, its default, its releases."""
    facts = [f"read by: {knob.whose}", f"default: `{knob.default}`" if knob.default else "no default"]
    return _page(f"**{knob.name}** ({knob.kind.value})", knob.sentence, "; ".join((*facts, *_releases(knob.releases))))


def _releases(releases: Releases) -> Iterator[str]:
    if releases.since is not None:
        yield f"since HTCondor {releases.since}"
    if releases.until is not None:
        yield f"until HTCondor {releases.until}"


def _attribute(where: str, attribute: Attribute) -> str:
    return _page(f"**{attribute.name}** ({where}, {attribute.type.value})", attribute.sentence)


def _page(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def code(text: str, most: int = 200) -> str:
    """Return a user's text as code in Markdown, on one line."""
    shown = " ".join(text.split()) if len(text) <= most else " ".join(text[:most].split()) + " ..."
    fence = "``" if "`" in shown else "`"
    blank = " " if "`" in shown else ""
    return f"{fence}{blank}{shown}{blank}{fence}" if shown else "(empty)"


def lines(texts: Iterator[str]) -> str:
    """Return a list in Markdown."""
    return "\n".join(f"- {text}" for text in texts)


_BLANK: Final = re.compile(r"\n[ \t\r]*(?=\n)")
_TARGET: Final = re.compile(r"(?i)\btarget\.$")
_LONGEST: Final = 2000  # characters of a call that is evaluated
_SHOWN: Final = 200


def value_at(text: ReadText, spot: Spot) -> str | None:
    """Return the value of the expression at a place and its ad, in Markdown; None if there is none."""
    if text.kind is TextKind.AD:
        ad, whose = _ad_around(text, spot), "in this ad"
    elif text.kind is TextKind.SUBMIT:
        ad, whose = _job(text), "in the first job's ad"
    else:
        return None
    if ad is None:
        return None
    try:
        if spot.kind is SpotKind.FUNCTION:
            call = _call(text.source.text, spot.span.start)
            return None if call is None else _said(ad.evaluate(call, sample_machine(), text.settings.context), whose)
        name = spot.name.rpartition(".")[2]
        if _TARGET.search(text.source.text, max(0, spot.span.start - 20), spot.span.start) or name not in ad:
            machine = sample_machine()
            return _said(machine.value(name), "of a sample machine") if name in machine else None
        return _said(ad.value(name, sample_machine(), text.settings.context), whose)
    except CrondorError:
        return None


@cache
def sample_machine() -> ClassAd:
    """Return the ad of a typical machine, used as TARGET when no machine is known."""
    return ClassAd(
        {
            "Machine": "worker.example.org",
            "Arch": "X86_64",
            "OpSys": "LINUX",
            "OpSysAndVer": "AlmaLinux9",
            "OpSysMajorVer": 9,
            "Cpus": 8,
            "Memory": 16384,
            "Disk": 100_000_000,
            "GPUs": 0,
            "State": "Unclaimed",
            "Activity": "Idle",
            "HasFileTransfer": True,
        }
    )


def _said(value: Value, whose: str) -> str | None:
    shown = print_value(value)
    shown = shortened(shown, _SHOWN)
    fence = "``" if "`" in shown else "`"
    return f"{whose}: {fence}{shown}{fence}" if value is not UNDEFINED else f"{whose}: undefined"


def _ad_around(text: ReadText, spot: Spot) -> ClassAd | None:
    """Return the ad around a place: in ``-long`` ads the one between blank lines."""
    whole, at = text.source.text, spot.span.start
    if not whole.lstrip().startswith(("[", "{", "<")):
        ends = [found.start() + 1 for found in _BLANK.finditer(whole)]
        begin = max((end for end in ends if end <= at), default=0)
        end = min((end for end in ends if end > at), default=len(whole))
        return next(iter(read_ads(whole[begin:end], report=_ignore)), None)
    name = spot.name.rpartition(".")[2]
    return next((ad for ad in read_ads(whole, report=_ignore) if spot.kind is SpotKind.FUNCTION or name in ad), None)


def _ignore(_: Diagnostic) -> None:
    """Ignore a fault of an ad: it is a finding already."""


def _job(text: ReadText) -> ClassAd | None:
    submit = text.jobs.submit
    try:
        return None if submit is None else next((made.ad for made in job_ads(submit, limit=1000)), None)
    except CrondorError:
        return None


def _call(text: str, begin: int) -> str | None:
    """Return a call of a function, up to its closing parenthesis on the same line; None if that is missing."""
    depth, quote = 0, ""
    for at in range(begin, min(len(text), begin + _LONGEST)):
        character = text[at]
        if character == "\n":
            return None
        if quote:
            quote = "" if character == quote and text[at - 1] != "\\" else quote
        elif character in "\"'":
            quote = character
        elif character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
            if depth == 0:
                return text[begin : at + 1]
    return None


_MOST = 200  # groups of jobs of one text whose runs are shown


class ScheduleShown(NamedTuple):
    """The schedule of equal jobs: its end, its queue statement, in words, its next runs (epoch seconds).

    ``schedd`` are those of the real schedd if they differ; ``fault`` is why there are none. ``excluded`` is the part of
    their requirements that excludes their next time, empty if none does.
    """

    fields: tuple[Span, ...]
    queue: Span | None
    jobs: int
    words: str
    runs: tuple[int, ...]
    schedd: tuple[int, ...] | None
    fault: str = ""
    excluded: str = ""


def schedules(text: ReadText, count: int) -> Iterator[ScheduleShown]:
    """Yield the schedules of a submit description with ``count`` runs each; none if its jobs cannot be made."""
    if text.kind is not TextKind.SUBMIT:
        return
    for job in islice(text.jobs.jobs, _MOST):
        fields = tuple(span for name, span in job.group.spans.items() if "cron" in name or "deferral" in name)
        if fields:
            yield _schedule_shown(job, fields, count, text.settings.check.now)


def counted(text: ReadText) -> Iterator[tuple[Span, int | None]]:
    """Yield the queue statements of a submit description with their number of jobs, None if unknown."""
    if text.kind is TextKind.SUBMIT and text.jobs.submit is not None:
        for queue in text.jobs.submit.queues:
            if not queue.is_implied and queue.span.source is text.source:
                yield queue.span, queue.jobs if queue.arguments.is_whole else None


def moment(time: int, zone: str | tzinfo) -> str:
    """Return an instant for people: ``Sat 2026-11-21 02:30 +0100``."""
    info = load_zone(zone) if isinstance(zone, str) else zone
    try:
        return datetime.fromtimestamp(time, info).strftime("%a %Y-%m-%d %H:%M %z")
    except (OverflowError, ValueError, OSError):
        return str(time)


def _schedule_shown(job: CheckedJob, fields: tuple[Span, ...], count: int, now: int) -> ScheduleShown:
    schedule = job.manual.schedule
    if schedule is None:
        fault = job.manual.faults[0].message if job.manual.faults else "it cannot be read"
        return ScheduleShown(fields, job.group.queue, job.group.count, "", (), None, fault)
    words = describe(schedule.spec) if schedule.spec is not None else ""
    times = JobTimes(schedule, requirements_of(job.values))
    runs = upcoming(times, count, now)
    real = job.schedd.schedule
    others = None if real is None else upcoming(replace(times, schedule=real), count, now)
    schedd = others if schedule.spec is not None and others != runs else None
    excluded = _excluded(times, now)
    return ScheduleShown(fields, job.group.queue, job.group.count, words, runs, schedd, excluded=excluded)


def _excluded(times: JobTimes, now: int) -> str:
    with suppress(CrondorError):
        return next((times.why_excluded(time) for time in times.named(now)), "")
    return ""


def upcoming(times: JobTimes, count: int, now: int) -> tuple[int, ...]:
    """Return the next runs, fewer if there are no more."""
    found: list[int] = []
    with suppress(CrondorError):
        found += islice(times.runs(now), count)
    return tuple(found)


_RUNS = 5
_VALUES = 3
_YEAR = 366 * 86400
_YEARS = 10 * _YEAR


class Hover(NamedTuple):
    """A text in Markdown and the piece of the source it is about."""

    span: Span
    text: str


def hover(text: ReadText, offset: int) -> Hover | None:
    """Return the hover at an offset, None for nothing."""
    zone = zone_at(text, offset)
    if zone is not None:
        return _zone(text, zone)
    if text.kind is TextKind.CRONTAB:
        return _entry(text, offset)
    said = schedule_at(text, offset)
    if said is not None:
        return _commented(text, said)
    policy = _policy(text, offset)
    if policy is not None:
        return policy
    spot = spot_at(text.outline, offset)
    if spot is None:
        return _value(text, offset)
    about = "\n\n---\n\n".join(part for part in _about(text, spot) if part)
    return Hover(spot.span, about) if about else None


def _policy(text: ReadText, offset: int) -> Hover | None:
    """Return the hover of a line with a policy: its meaning."""
    line = text.source.line(text.source.position(offset)[0])
    setting = SETTING.fullmatch(line) if text.kind is TextKind.SUBMIT else None
    if setting is None or setting["name"].lower() not in MEANINGS:
        return None
    begin = text.source.text.rfind("\n", 0, offset) + 1
    return Hover(text.source.span(begin, begin + len(line)), MEANINGS[setting["name"].lower()])


def _zone(text: ReadText, named: Span) -> Hover | None:
    """Return the hover of a zone: the time on its clock, and its next change."""
    now = text.settings.check.now
    try:
        zone = zone_of(named.text)
    except CrondorError:
        return None
    change = next(zone.changes(now, now + _YEAR), None)
    parts = [f"**{zone.name}**: it is {moment(now, zone.info)}"]
    parts.append("The clock is not changed within a year." if change is None else _change(change, zone))
    return Hover(named, "\n\n".join(parts))


def _change(change: Stretch, zone: Zone) -> str:
    minutes = (change.offset - change.before) // 60
    way = "forward" if minutes > 0 else "back"
    return f"On {moment(change.start, zone.info)} the clock goes {way} by {abs(minutes)} minutes."


def _commented(text: ReadText, said: Span) -> Hover | None:
    """Return the hover of the description's own schedule: its meaning and its next runs."""
    check = text.settings.check
    try:
        schedule = read_said(said, text.settings)
        runs = list(islice(schedule.between(check.now, check.now + _YEARS), _RUNS))
    except CrondorError as error:
        return Hover(said, f"No schedule: {error.diagnostics[0].message}")
    listed = lines(moment(run, schedule.zone.info) for run in runs)
    return Hover(said, f"{schedule.words[:1].upper()}{schedule.words[1:]}.\n\n{listed or 'There are no more runs.'}")


def _value(text: ReadText, offset: int) -> Hover | None:
    """Return the hover of the value of a cron field: when the job runs."""
    written = text.outline.at(offset)
    if written is None or text.kind is not TextKind.SUBMIT:
        return None
    span = written.line.span(written.value)
    said = _schedule(text, written.key, span)
    return Hover(span, said) if said and span.start <= offset else None


def _about(text: ReadText, spot: Spot) -> Iterator[str | None]:
    if spot.kind is SpotKind.COMMAND:
        yield of_rule(transform_commands()[spot.name])
    elif spot.kind is SpotKind.FUNCTION:
        yield of_function(spot.name)
        yield value_at(text, spot)
    elif spot.kind is SpotKind.ATTRIBUTE:
        yield of_attribute(spot.name.rpartition(".")[2])
        yield value_at(text, spot)
    elif spot.kind is SpotKind.MACRO_FUNCTION:
        found = submit_macros().get(f"${spot.name}".lower()) or submit_macros().get(spot.name.lower())
        yield None if found is None else of_provided(found)
    elif spot.kind is SpotKind.MACRO:
        yield _macro(text, spot)
    elif spot.kind is SpotKind.NAME:
        yield _name(text, spot)
        yield value_at(text, spot) if text.kind is TextKind.AD else None
        yield _schedule(text, spot.name, spot.written.line.span(spot.written.value))
    elif spot.kind is SpotKind.LISTED:
        yield _macro(text, spot)


def _name(text: ReadText, spot: Spot) -> str | None:
    """Return the hover of the name of an assignment."""
    if text.kind is TextKind.AD or spot.name.startswith("my."):
        return of_attribute(spot.name.rpartition(".")[2])
    if text.kind is TextKind.SUBMIT:
        command = submit_commands().get(spot.name)
        return of_command(command) if command is not None else _macro(text, spot)
    knob = None if spot.written.inside else config_knobs().get(spot.name)
    return _macro(text, spot) if knob is None else of_knob(knob)


def _macro(text: ReadText, spot: Spot) -> str | None:
    """Return the hover of a macro: provided by HTCondor, or its definition and values."""
    parts: list[str] = []
    provided = submit_macros().get(spot.name) if text.kind is TextKind.SUBMIT else None
    places = definitions(text, spot.span.start)
    if provided is not None and not places:
        parts.append(of_provided(provided))
    if places:
        parts.append(f"**{spot.span.text}**")
        parts.append(lines(map(_defined, islice(places, _RUNS))))
    values = list(islice(_values(text, spot.name), _VALUES))
    if values:
        parts.append("value: " + ", ".join(map(code, values)))
    elif not places and provided is None:
        return f"**{spot.span.text}** is not defined in this text." if spot.kind is SpotKind.MACRO else None
    return "\n\n".join(parts)


def _defined(span: Span) -> str:
    rest = span.source.line(span.line)
    value = rest[span.column - 1 + len(span.text) :].strip().removeprefix("=").strip()
    return f"line {span.line}: {code(value)}" if value else f"line {span.line}"


def _values(text: ReadText, name: str) -> Iterator[str]:
    """Yield the different values of a macro, each once."""
    with suppress(CrondorError):
        if text.kind is TextKind.CONFIG:
            value = text.configuration.string(name)
            if value is not None:
                yield value
        elif text.kind is TextKind.SUBMIT and text.jobs.submit is not None:
            groups = text.jobs.submit.groups((name,), 100)
            yield from dict.fromkeys(group.values[name] for group in groups if name in group.values)


def _schedule(text: ReadText, key: str, span: Span) -> str | None:
    """Return the hover of a line of a schedule: its meaning and its next runs."""
    if "cron" not in key and "deferral" not in key:
        return None
    here = [
        each
        for each in schedules(text, _RUNS)
        if any(field.start == span.start and field.source is span.source for field in each.fields)
    ]
    return "\n\n".join(said_of(each, text) for each in here[:_VALUES]) or None


def said_of(shown: ScheduleShown, text: ReadText) -> str:
    """Return a schedule in Markdown: the sentence, its next runs, what the real schedd does."""
    if shown.fault:
        return f"No run: {shown.fault}"
    zone = text.settings.check.zone
    parts = [f"Runs {shown.words}." if shown.words else ""]
    parts.append(lines(moment(run, zone) for run in shown.runs) or "There are no more runs.")
    if shown.excluded:
        parts.append(f"Requirements exclude the next time of the schedule, and others: {code(shown.excluded)}")
    if shown.schedd is not None:
        parts.append("The real schedd does something else:")
        parts.append(lines(moment(run, zone) for run in shown.schedd) or "no run")
    return "\n\n".join(part for part in parts if part)


def _entry(text: ReadText, offset: int) -> Hover | None:
    """Return the hover of the schedule of a crontab's line."""
    file = read_crontab(text.source, has_users=is_system_crontab(text.source.name))
    for entry, name in zip(file.entries, job_names(file), strict=True):
        if entry.schedule.start <= offset <= entry.schedule.end:
            return Hover(entry.schedule, _said_of_entry(entry, name, text))
    return None


def _said_of_entry(entry: CrontabEntry, name: str, text: ReadText) -> str:
    if entry.is_reboot:
        return "Runs once, when cron starts."
    check = text.settings.check
    try:
        schedule = entry_schedule(entry, name, zone_of(check.zone))
    except CrondorError as error:
        return f"No run: {error.diagnostics[0].message}"
    listed = lines(moment(run, check.zone) for run in islice(schedule.between(check.now, LAST), _RUNS))
    return f"Runs {schedule.words}.\n\n{listed or 'There are no more runs.'}"


_MOST_JOBS = 100  # that differ, whose values are shown
_FEW = 3  # values of one line that are shown
_LONGEST_HINT = 60  # characters of a value that are shown


class Hint(NamedTuple):
    """A hint after an offset, and its text on pointing at it."""

    offset: int
    text: str
    tooltip: str = ""


def hints(text: ReadText, start: int, end: int) -> Iterator[Hint]:
    """Yield the hints that the settings request, for lines between two offsets."""
    wanted = text.settings.hints
    found: list[Hint] = []
    if HintKind.NEXT_RUN in wanted:
        found += _entries(text, start, end) if text.kind is TextKind.CRONTAB else _next_runs(text)
    if HintKind.MACROS in wanted:
        found += _value_hints(text, start, end)
    yield from (hint for hint in found if start <= hint.offset <= end)


def _next_runs(text: ReadText) -> Iterator[Hint]:
    """Yield the next run after the last line of each schedule."""
    zone = text.settings.check.zone
    for shown in schedules(text, 1):
        own = [span for span in shown.fields if span.source is text.source]
        if own and shown.runs:
            yield Hint(max(span.end for span in own), f"next: {moment(shown.runs[0], zone)}", shown.words)


def _entries(text: ReadText, start: int, end: int) -> Iterator[Hint]:
    """Yield the next run after each line of a crontab."""
    check = text.settings.check
    file = read_crontab(text.source, has_users=is_system_crontab(text.source.name))
    for entry, name in zip(file.entries, job_names(file), strict=True):
        if entry.is_reboot or not start <= entry.span.end <= end:
            continue
        with suppress(CrondorError):
            schedule = entry_schedule(entry, name, zone_of(check.zone))
            run = schedule.next(check.now)
            if run is not None:
                yield Hint(entry.span.end, f"next: {moment(run, check.zone)}", schedule.words)


def _value_hints(text: ReadText, start: int, end: int) -> Iterator[Hint]:
    """Yield the expanded values with macros."""
    asked = [
        each
        for each in text.outline.lines
        if each.kind is LineKind.ASSIGNMENT and not each.inside and "$(" in each.line.text[each.value :]
    ]
    asked = [each for each in asked if start <= each.line.span().end <= end]
    if text.kind is TextKind.CONFIG:
        yield from _of_config(text, asked)
    elif text.kind is TextKind.SUBMIT:
        yield from _of_submit(text, asked)


def _of_config(text: ReadText, asked: list[WrittenLine]) -> Iterator[Hint]:
    for written in asked:
        with suppress(CrondorError):
            value = text.configuration.string(written.key)
            if value and written.until is None:
                yield _shown(written, [value])


def _of_submit(text: ReadText, asked: list[WrittenLine]) -> Iterator[Hint]:
    submit = text.jobs.submit
    if submit is None:
        return
    values: dict[int, dict[str, None]] = {}
    with suppress(CrondorError):
        for group in submit.groups({each.key for each in asked}, _MOST_JOBS):
            for key, span in group.spans.items():
                if span.source is text.source:
                    values.setdefault(span.start, {})[group.values[key]] = None
    for written in asked:
        found = list(values.get(written.line.span(written.value).start, ()))
        if found:
            yield _shown(written, found)


def _shown(written: WrittenLine, values: list[str]) -> Hint:
    shown = ", ".join(map(_short, values[:_FEW])) + (f" and {len(values) - _FEW} others" if len(values) > _FEW else "")
    return Hint(written.line.span().end, f"= {shown}", "\n".join(values[: _FEW * _FEW]))


def _short(value: str) -> str:
    value = " ".join(value.split()) or "nothing"
    return shortened(value, _LONGEST_HINT)
