"""Rules of a site: ClassAd expressions over a job's ad in TOML, with their tests, and functions of other packages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, partial
from importlib import metadata
from itertools import islice
from typing import Any, Final, NamedTuple

from crondor._toml import TomlPlaces
from crondor.access_point import read_access_point
from crondor.access_point.requirements import names_in
from crondor.classad import ClassAdSyntaxError, ReadMode, read_ads
from crondor.classad.ad import ClassAd
from crondor.classad.expression import Expression
from crondor.classad.operators import truth
from crondor.classad.scope import Allowance, Context, Value, to_tree
from crondor.classad.text import lower
from crondor.classad.tree import ERROR, Call, Literal, Reference, nodes
from crondor.config import read_config
from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source, Span, shortened, similar
from crondor.job.attributes import result
from crondor.job.policy import QueuedJob
from crondor.knowledge import classad_functions
from crondor.knowledge.releases import NEWEST, Release
from crondor.lint.made import spellings
from crondor.lint.report import GROUP, SITE_CODE
from crondor.lint.rule import MANY, Rule, RuleHit
from crondor.lint.rules.conditions import is_known, meant
from crondor.lint.subject import AdmittedJobs, CheckedFile, CheckedJob, CheckSettings, SiteRules
from crondor.lint.submit import read_file, report_of
from crondor.spec import FIELDS
from crondor.times import JobTimes
from crondor.zones import zone_of

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_VALUE: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
_TEXT: Final = 'isUndefined({0}) ? "undefined" : unparse({0})'
_URL: Final = re.compile(r"https?://\S+")
TEXTS: Final = {
    "code": "the code, letters and digits, such as SITE001",
    "name": "the name in kebab case; default: the code",
    "severity": "error, warning or note; default: warning",
    "when": "a ClassAd expression that is true for jobs to report",
    "require": "instead of when: a ClassAd expression that is true for all other jobs",
    "message": "what is wrong, with ClassAd expressions in braces, such as {RequestMemory}",
    "help": "what to write instead, with expressions in braces",
    "url": "the address of a page about it",
}
"""The keys of a rule with texts, and their meaning."""

LISTS: Final = {
    "match": "tests: submit lines, or ads in brackets, that the rule must report",
    "no-match": "tests: submit lines, or ads in brackets, that the rule must not report",
}
"""The keys of a rule with lists of texts."""

_QUEUE: Final = re.compile(r"(?im)^[ \t]*queue\b")
_MOST: Final = 1000  # rules of one file
_STEPS: Final = 4_000_000  # of about a microsecond, for the rules of one file; a rule and a job get a part of them
_LONGEST: Final = 200  # characters of a value in a message
_MOST_TIMES: Final = 10_080  # of a schedule, of which requirements may exclude some: the minutes of a week
_STEPS_OF_TIME: Final = 20  # for the requirements at one time
_MOST_SCHEDULES: Final = 100  # of one file, whose runs are counted
_DAY: Final = 86400

COMPUTED: Final = {
    "CrondorNextRun": "the next run (epoch seconds)",
    "CrondorTimes": 'the times of day at which the job starts: {"02:00", "14:00"}',
    "CrondorRunsPerDay": "the runs in the 24 hours from the next one",
    "CrondorJobsAt": 'the jobs of the file by time of day: CrondorJobsAt["02:00"] is their number',
    "CrondorSets": 'the attributes that the submit file sets: member("RequestDisk", CrondorSets)',
}
"""Attributes that a rule may use besides those of the job; those of times are undefined for a job without any."""

_SCHEDULE: Final = (*(field.attribute for field in FIELDS), "DeferralTime")
_COMPUTED: Final = {lower(name): name for name in COMPUTED}


class InvalidRules(CrondorError, ValueError):
    """Rules of a site that cannot be used, with all faults."""


def site_rules(rules: Iterable[SiteRule | Rule[CheckedFile]], release: Release = NEWEST) -> SiteRules:
    """Return rules for CheckSettings; of one code the last wins.

    Without an access point's configuration, they see what one of a release with HTCondor's defaults stores.
    """
    made = {each.code: each.rule if isinstance(each, SiteRule) else each for each in rules}
    configuration = read_config({}, subsystem="SCHEDD", version=release.version)
    return SiteRules(tuple(made.values()), read_access_point(configuration))


@dataclass(frozen=True)
class SiteRule:
    """One rule of a file: it finds jobs for which ``when`` is true, or ``require`` is not.

    ``message`` may contain ClassAd expressions in braces. ``match`` and ``no_match`` are its tests. Source: the rule
    sees what SUBMIT_REQUIREMENT_NAMES see of a job, which is also TARGET and JOB.
    """

    code: str
    name: str
    severity: Severity
    expression: Expression
    is_required: bool
    message: str
    help: str | None = None
    url: str = ""
    match: tuple[str, ...] = ()
    no_match: tuple[str, ...] = ()
    places: Mapping[str, Span] = field(default_factory=dict, compare=False)

    @property
    def rule(self) -> Rule[CheckedFile]:
        """The rule as the checks use it."""
        title = " ".join(self.message.split())
        return Rule(self.code, self.name, self.severity, title, self.hits, misses=True, url=self.url, text=self.page)

    @property
    def page(self) -> str:
        """Its page, in Markdown."""
        key = "require" if self.is_required else "when"
        place = self.places.get("code")
        where = "" if place is None else f" It is defined at {place.source.name}:{place.line}."
        more = "".join(f"\n\n{text}" for text in (self.help and f"What to write: {self.help}", self.url) if text)
        head = f"# {self.code} {self.name}: {self.message}"
        what = f"A rule of this site, of severity {self.severity.value}.{where}"
        return f"{head}\n\n{what}\n\n    {key} = {self.expression}{more}\n"

    @property
    def about(self) -> Iterator[str]:
        """The attributes that the rule is about, the first that it names before others."""
        for name in names_in(self.expression):
            if lower(name) not in _COMPUTED:
                yield name
            elif name.lower() == "crondorsets":
                found = [node for node in nodes(self.expression.tree) if isinstance(node, Literal)]
                yield from (node.value for node in found if isinstance(node.value, str))
            else:
                yield from _SCHEDULE

    def hits(self, file: CheckedFile) -> Iterator[RuleHit]:
        """Yield a hit for each group of equal jobs that the rule finds, at the first command it is about."""
        for subject in JobSubject.of_file(file):
            found = self.found(subject)
            place = subject.jobs and subject.jobs.place(*self.about)
            if subject.is_exhausted:
                message = f"{self.code} is not decided from this job on: the rules of the site take too long"
                yield RuleHit(message, place, severity=Severity.NOTE)
                return
            if found is not None:
                message, severity = found
                help_text = self.help and _VALUE.sub(subject.written, self.help)
                yield RuleHit(message, place, help_text, severity=severity)

    def found(self, subject: JobSubject) -> tuple[str, Severity | None] | None:
        """Return the message for a job that the rule finds, with a severity if it differs; None for other jobs."""
        value = subject.value(self.expression)
        if value is ERROR and not self.is_required:
            return f"{self.code} cannot be decided for this job: {self.expression} is an error", Severity.NOTE
        if (truth(value) is not True) if self.is_required else (truth(value) is True):
            return _VALUE.sub(subject.written, self.message), None
        return None


class JobSubject:
    """The ad of a job for rules, with what they may ask besides; ``jobs`` and ``file`` are None for an ad alone."""

    def __init__(
        self,
        ad: ClassAd,
        settings: CheckSettings,
        jobs: AdmittedJobs | None = None,
        file: CheckedFile | None = None,
        left: Allowance | None = None,
    ) -> None:
        self._ad, self._settings, self.jobs, self._file = ad, settings, jobs, file
        self._zone = zone_of(settings.zone).info
        self._seen = ClassAd().chain(ad)
        self._seen.set_text("JOB", "MY")
        self._left = left or Allowance(_STEPS)

    @classmethod
    def of_file(cls, file: CheckedFile) -> list[JobSubject]:
        """Return the jobs of a file, made once, which share the effort of evaluating its rules."""
        if "subjects" not in file.kept:
            left = Allowance(_STEPS)
            made = [cls(jobs.admission.after, file.settings, jobs, file, left) for jobs in file.stored]
            file.kept["subjects"] = made
        subjects: list[JobSubject] = file.kept["subjects"]
        return subjects

    def value(self, expression: Expression) -> Value:
        """Return the value of an expression; ERROR if it has none, or takes too long."""
        for name in {lower(each) for each in names_in(expression)}.intersection(_COMPUTED):
            known = None if _COMPUTED[name] in self._seen.own() else _COMPUTING[_COMPUTED[name]](self)
            if known is not None:
                self._seen.set(_COMPUTED[name], known)
        steps = min(_STEPS // 20, self._left.left)
        effort = Allowance(steps)
        context = Context(now=self._settings.now, zone=self._zone, effort=effort)
        value = result(expression, self._seen, context, self._seen)
        self._left.left -= steps - effort.left
        return value

    @property
    def is_exhausted(self) -> bool:
        """Whether the effort of the file's rules is used up."""
        return self._left.left <= 0

    def written(self, found: re.Match[str]) -> str:
        """Return the value of an expression in braces, as a text."""
        if found[1] is None:
            return found[0][0]
        return self.shown(found[1])

    def shown(self, text: str) -> str:
        """Return the value of an expression as a text."""
        value = self.value(Expression.parse(Source(text)))
        return shortened(value if isinstance(value, str) else str(Expression.of(to_tree(value))), _LONGEST)

    def next_run(self) -> int | None:
        """Return the next run (epoch seconds), None if there is none."""
        return next(self._runs(self._times), None)

    def runs_per_day(self) -> int | None:
        """Return the number of runs in the 24 hours from the next one."""
        first = self.next_run()
        return None if first is None else sum(1 for _ in self._runs(self._times, first + _DAY - 1))

    def times(self) -> list[str] | None:
        """Return the times of day at which the job starts."""
        times = self._times
        return None if times is None else sorted(self._times_of_day(times))

    def jobs_at(self) -> dict[str, int] | None:
        """Return the number of jobs of the file by time of day."""
        if self._file is None:
            return dict.fromkeys(self.times() or (), 1)
        if "jobs at" not in self._file.kept:
            self._file.kept["jobs at"] = self._counted(self._file.jobs)
        counts: dict[str, int] = self._file.kept["jobs at"]
        return counts

    def _counted(self, jobs: Iterable[CheckedJob]) -> dict[str, int]:
        counts: dict[str, int] = {}
        known: dict[tuple[object, ...], frozenset[str]] = {}
        for job in jobs:
            times, key = job.times, (*job.use.cron, job.values.get("requirements"), job.values.get("deferral_time"))
            if times is not None and key not in known and len(known) < _MOST_SCHEDULES:
                known[key] = self._times_of_day(times)
            for time in known.get(key, ()):
                counts[time] = counts.get(time, 0) + job.group.count
        return counts

    def sets(self) -> list[str]:
        """Return the attributes that the submit file sets; of an ad alone all."""
        spans = None if self.jobs is None else self.jobs.jobs.spans
        return [name for name in self._ad if spans is None or any(each in spans for each in spellings(name))]

    @cached_property
    def _times(self) -> JobTimes | None:
        job = QueuedJob(self._ad)
        try:
            return JobTimes.from_queue(job, self._settings.now, zone=self._zone) if job.is_scheduled else None
        except CrondorError:  # other rules report it
            return None

    def _runs(self, times: JobTimes | None, until: int | None = None) -> Iterator[int]:
        """Yield the coming runs, as far as the effort allows."""
        if times is None:
            return
        cost = _STEPS_OF_TIME if times.is_restricted else 1
        try:
            for time in islice(times.named(self._settings.now - 1, until), _MOST_TIMES):
                self._left.left -= cost
                if self._left.left < 0:
                    return
                if not times.excludes(time):
                    yield time
        except CrondorError:  # it never runs
            return

    def _times_of_day(self, times: JobTimes) -> frozenset[str]:
        """Return the times of day, HH:MM, at which a job starts; if its requirements name times, the coming ones."""
        recurrence = times.schedule.recurrence
        if recurrence is not None and not times.is_restricted:
            return frozenset(f"{at // 3600:02}:{at // 60 % 60:02}" for at in recurrence.wall_clock.table)
        return frozenset(datetime.fromtimestamp(run, self._zone).strftime("%H:%M") for run in self._runs(times))


_COMPUTING: Final[Mapping[str, Callable[[JobSubject], object]]] = {
    "CrondorNextRun": JobSubject.next_run,
    "CrondorTimes": JobSubject.times,
    "CrondorRunsPerDay": JobSubject.runs_per_day,
    "CrondorJobsAt": JobSubject.jobs_at,
    "CrondorSets": JobSubject.sets,
}


def read_rules(source: Source, data: object, keys: tuple[str, ...] = ("check", "rule")) -> tuple[SiteRule, ...]:
    """Return the rules of a TOML text, given as the value of its key ``keys``. Raises InvalidRules with all faults."""
    read = _Reading(source, keys)
    if not isinstance(data, list) or not all(isinstance(each, dict) for each in data) or len(data) > _MOST:
        read.fault(None, None, f"rules are tables [[{'.'.join(keys)}]], at most {_MOST:,}")
        data = []
    rules = [rule for number, table in enumerate(data) if (rule := read.rule(number, table)) is not None]
    if read.faults:
        raise InvalidRules(read.faults)
    return tuple(rules)


class _Reading:
    """The rules of one file, and the faults found."""

    def __init__(self, source: Source, keys: tuple[str, ...]) -> None:
        self._source, self._keys = source, keys
        self._places = TomlPlaces(source)
        self._codes: dict[str, int] = {}
        self.faults: list[Diagnostic] = []

    def rule(self, number: int, table: Mapping[str, Any]) -> SiteRule | None:
        """Return the rule of a table, None if it has a fault."""
        before = len(self.faults)
        for key, value in table.items():
            self._check_key(number, key, value)
        texts = {key: value if isinstance(value := table.get(key, ""), str) else "" for key in TEXTS}
        if table.keys() <= {*TEXTS, *LISTS}:  # otherwise a key that seems to be missing is perhaps misspelt
            self._check_missing(number, table)
        self._check_code(number, texts["code"])
        name = texts["name"] or texts["code"].lower()
        if texts["name"] and not _NAME.fullmatch(name):
            self.fault(
                number, "name", f"the name {shortened(name, 40)} is not in kebab case", "write it like big-memory"
            )
        severity = texts["severity"] or Severity.WARNING.value
        if severity not in {each.value for each in Severity}:
            self.fault(
                number, "severity", f"there is no severity {shortened(severity, 40)}", "write error, warning or note"
            )
        if texts["url"] and not _URL.fullmatch(texts["url"]):
            self.fault(number, "url", "this is not an address", "write it with https://")
        expression, key = None, "when"
        for key in (each for each in ("when", "require") if isinstance(table.get(each), str)):
            expression = self._expression(number, key, texts[key])
        self._check_values(number, "message", texts["message"])
        self._check_values(number, "help", texts["help"])
        if expression is None or len(self.faults) > before:
            return None
        return SiteRule(
            texts["code"],
            name,
            Severity(severity),
            expression,
            key == "require",
            texts["message"],
            texts["help"] or None,
            texts["url"],
            tuple(table.get("match", ())),
            tuple(table.get("no-match", ())),
            {each: self._place(number, each) for each in ("code", *LISTS)},
        )

    def _check_missing(self, number: int, table: Mapping[str, Any]) -> None:
        for key in ("code", "message"):
            if not str(table.get(key, "")).strip():
                self.fault(number, None, f"the rule has no {key}", f'add {key} = "..."')
        if ("when" in table) is ("require" in table):
            help_text = "remove one" if "when" in table else 'write when = "RequestMemory > 65536"'
            self.fault(number, None, "the rule needs either when or require", help_text)

    def _check_key(self, number: int, key: str, value: object) -> None:
        if key in TEXTS:
            if not isinstance(value, str):
                self.fault(number, key, f"{key} must be a text", f'write {key} = "..."')
        elif key in LISTS:
            if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
                self.fault(number, key, f"{key} must be a list of texts", f'write {key} = ["..."]')
        else:
            near = similar(key, (*TEXTS, *LISTS))
            known = f"a rule has {', '.join((*TEXTS, *LISTS))}"
            self.fault(
                number, key, f"a rule has no {shortened(key, 40)}", f"did you mean {near[0]}?" if near else known
            )

    def _check_code(self, number: int, code: str) -> None:
        if code and not SITE_CODE.fullmatch(code):
            own = "codes that begin with CRN are crondor's own"
            message = own if code.startswith("CRN") else f"{shortened(code, 40)} is not a code"
            self.fault(number, "code", message, "write 2 to 16 capitals and 1 to 6 digits, such as SITE001")
        elif code in self._codes:
            other = self._place(self._codes[code], "code").line
            self.fault(number, "code", f"line {other} has a rule with the code {code} already")
        self._codes.setdefault(code, number)

    def _check_values(self, number: int, key: str, text: str) -> None:
        for found in _VALUE.finditer(text):
            if found[1] is not None:
                self._expression(number, key, found[1], "{")
        if re.search(r"[{}]", _VALUE.sub("", text)):
            self.fault(number, key, "a brace stands alone", "write {{ and }} for braces, {RequestMemory} for a value")

    def _expression(self, number: int, key: str, text: str, before: str = "") -> Expression | None:
        place = self._place(number, key)
        at = self._source.text.find(before + text, place.end) + len(before)
        is_here = place.end <= at < place.end + 200
        onto = self._source.span(at, at + len(text)) if is_here else place
        try:
            made = Expression.parse(Source(text, self._source.name))
        except ClassAdSyntaxError as error:
            self.faults += (replace(each.relocated(onto), kind="site-rule") for each in error.diagnostics)
            return None
        for node in (each for each in nodes(made.tree) if isinstance(each, (Call, Reference))):
            message, near = _unknown(node)
            if message:
                start = node.start if isinstance(node, Call) else node.end - len(node.name)
                span = onto.part(start, start + len(node.name)) if is_here else place
                help_text = f"did you mean {near}?" if near else None
                self.faults.append(Diagnostic("site-rule", message, span=span, help=help_text))
        return made

    def _place(self, number: int | None, key: str | None) -> Span:
        return self._places.key(*self._keys, *(() if number is None else (str(number),)), *((key,) if key else ()))

    def fault(self, number: int | None, key: str | None, message: str, help_text: str | None = None) -> None:
        """Add a fault of a key, of a rule, or of all rules."""
        self.faults.append(Diagnostic("site-rule", message, span=self._place(number, key), help=help_text))


def _unknown(node: Call | Reference) -> tuple[str, str]:
    """Return what is wrong with a name, and the name that is perhaps meant; both empty if nothing is."""
    name, small, known = node.name, lower(node.name), classad_functions()
    if isinstance(node, Call):
        near = [known[each].name for each in similar(small, known)]
        return ("", "") if small in known else (f"there is no function {name}", "".join(near))
    if is_known(name, _COMPUTED):
        return "", ""
    attribute = meant(name)
    near = [attribute.name] if attribute else [_COMPUTED[each] for each in similar(small, _COMPUTED, 0.8)]
    return (f"jobs have no attribute {name}" if near else "", "".join(near))


def _guarded(code: str, function: Callable[[CheckedFile], Iterable[RuleHit]], file: CheckedFile) -> Iterator[RuleHit]:
    """Yield what a function of another package finds, if nowhere at the file's start; its error is a finding."""
    start = file.source.span(0)
    hits, error = _tried(lambda: [hit._replace(span=hit.span or start) for hit in islice(function(file), MANY)])
    yield from hits or ()
    if error:
        yield RuleHit(f"the rule {code} failed: {error}", start, severity=Severity.ERROR)


def _tried(function: Callable[[], Any]) -> tuple[Any, str]:
    """Return the result of another package's function, or None and its error."""
    try:
        return function(), ""
    except (Exception, SystemExit) as error:  # noqa: BLE001 - it may raise anything
        return None, shortened(repr(error), _LONGEST)


def installed_rules() -> tuple[Rule[CheckedFile], ...]:
    """Return the rules that installed packages register in the entry point group ``crondor.rules``.

    Such a package is loaded, so its code is run. Raises InvalidRules if that fails.
    """
    found: list[Rule[CheckedFile]] = []
    faults: list[Diagnostic] = []
    for point in metadata.entry_points(group=GROUP):
        loaded, error = _tried(point.load)
        if error:
            faults.append(Diagnostic("site-rule", f"the rules {point.value} cannot be loaded: {error}"))
            continue
        for each in loaded if isinstance(loaded, tuple) else (loaded,):
            if isinstance(each, Rule) and SITE_CODE.fullmatch(each.code):
                head = f"# {each.code} {each.name}: {each.title}"
                text = each.text or f"{head}\n\n{each.function.__doc__ or ''}\n"
                found.append(replace(each, function=partial(_guarded, each.code, each.function), text=text))
            else:
                message = f"{point.value} is not a rule with a code of its own"
                faults.append(Diagnostic("site-rule", message, help="decorate a function: @rule('ACME001', ...)"))
    if faults:
        raise InvalidRules(faults)
    return tuple(found)


class TriedRule(NamedTuple):
    """The results of a rule's tests: how many passed, and a fault for each that failed."""

    passed: int
    faults: tuple[Diagnostic, ...]


def try_rule(rule: SiteRule, settings: CheckSettings) -> TriedRule:
    """Test a rule with the jobs of its ``match`` and ``no_match``: ads in brackets, or submit lines."""
    settings = replace(settings, files=False, site=site_rules([rule], settings.target))
    faults: list[Diagnostic] = []
    for key, texts, is_wanted in (("match", rule.match, True), ("no-match", rule.no_match, False)):
        for number, text in enumerate(texts, 1):
            which = f"number {number} of {key}"
            try:
                subject = _tested_job(text, settings)
                matches = any((rule.found(each) or ("", Severity.NOTE))[1] is None for each in subject)  # and decided
            except CrondorError as error:
                message = f"{rule.code}: {which} is not a job: {error.diagnostics[0].message}"
                faults.append(Diagnostic("site-rule", message, span=rule.places.get(key)))
                continue
            if matches is not is_wanted:
                message = f"{rule.code} {'does not report' if is_wanted else 'reports'} {which}"
                seen = ((name, subject[0].shown(_TEXT.format(name)).split()) for name in names_in(rule.expression))
                values = "; ".join(f"{name} is {' '.join(words)}" for name, words in seen)
                faults.append(Diagnostic("site-rule", message, span=rule.places.get(key), help=values or None))
    return TriedRule(len(rule.match) + len(rule.no_match) - len(faults), tuple(faults))


def _tested_job(text: str, settings: CheckSettings) -> list[JobSubject]:
    """Return the jobs of a test. Raises CrondorError."""
    if text.lstrip().startswith("["):
        return [JobSubject(ad, settings) for ad in read_ads(text, None, ReadMode.STRICT, name="test")]
    lines = text if _QUEUE.search(text) else f"{text}\nqueue\n"
    read = read_file(Source(f"executable = /bin/true\n{lines}", "test"), settings)
    if read.errors or not read.stored:
        refused = [each.diagnostic for each in report_of(read).findings if each.diagnostic.severity is Severity.ERROR]
        raise CrondorError(read.errors or refused or [Diagnostic("site-rule", "the lines cannot be submitted")])
    return JobSubject.of_file(read)
