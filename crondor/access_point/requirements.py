"""SUBMIT_REQUIREMENT_ and JOB_TRANSFORM_ knobs, the access point's policies, and unknown values.

HTCondor: Scheduler::checkSubmitRequirements (src/condor_schedd.V6/schedd.cpp). A requirement is evaluated in the
schedd's own ad, with the job's as TARGET; SCHEDD and JOB are other names for the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from typing import Final, NamedTuple

from crondor._types import Made
from crondor.classad import UnparseForm, print_string
from crondor.classad.ad import ClassAd
from crondor.classad.expression import Expression
from crondor.classad.operators import truth
from crondor.classad.parser import parse_ad
from crondor.classad.scope import UNKNOWN, Context, Value
from crondor.classad.text import lower
from crondor.classad.tree import CircularReference, ClassAdSyntaxError, Literal, Reference, nodes
from crondor.config import Configuration, InvalidConfig, Knob
from crondor.diagnostics import Diagnostic, Severity, Source, Span, similar
from crondor.job.attributes import exact_integer, printed, result
from crondor.job.expressions import NEW_JOB
from crondor.job.policy import SystemExpression, SystemPolicy
from crondor.knowledge.words import hold_name
from crondor.macro.lines import BLANKS, LogicalLine
from crondor.submit import JobGroup
from crondor.submit.ad import JobAd
from crondor.transform import InvalidTransform, RuleSource, Transform, TransformFacts
from crondor.transform.classad_form import Ad, EntryAttributes, LegacyEntry, Placed, convert_faithfully

_NAME = re.compile(r"[^, \t\r\n]+")
_LONGEST = 1 << 20  # characters of an expression that is read


class ScheddKnobs(Made):
    """A configuration as the schedd sees it, and the findings of reading it."""

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = replace(configuration, subsystem="SCHEDD")
        self.found: list[Diagnostic] = []

    def __repr__(self) -> str:
        return f"ScheddKnobs({self.configuration!r})"

    def _made_of(self) -> tuple[object, ...]:
        return (self.configuration,)

    def place(self, name: str) -> Span | None:
        """Return the place of a knob's value in a file; None if it has none."""
        knob = self.knob(name)
        return None if knob is None else knob.span

    def knob(self, name: str) -> Knob | None:
        """Return a knob that is set."""
        knob = self.configuration.find(name)
        return None if knob is None or knob.is_default else knob

    def string(self, name: str) -> str | None:
        """Return a knob's text with its macros replaced; None if that is empty, or fails."""
        try:
            return self.configuration.string(name)
        except InvalidConfig as error:
            self.found += error.diagnostics
            return None

    def boolean(self, name: str, *, default: bool) -> bool:
        """Return a truth value; the default if the text is not one."""
        try:
            return self.configuration.boolean(name, default=default)
        except InvalidConfig as error:
            self.found += error.diagnostics
            return default

    def integer(self, name: str, default: int, least: int = -(1 << 31)) -> int:
        """Return an integer; the default if the text is not one."""
        try:
            return self.configuration.integer(name, default, least)
        except InvalidConfig as error:
            self.found += error.diagnostics
            return default

    def expression(self, name: str, ignored: str, *, old: bool) -> Expression | None:
        """Return a knob's expression; None if it is not set, or invalid: then ``ignored`` is the consequence.

        ``old`` is how HTCondor reads most knobs; without it only the beginning has to be an expression.
        """
        text = self.string(name)
        if text is None or len(text) > _LONGEST:
            return None
        try:
            return Expression.parse(Source(text, name), old=old, partial=not old, open_choice=old)
        except ClassAdSyntaxError as error:
            place = self.place(name)
            for fault in error.diagnostics:
                at = fault if place is None else fault.relocated(place)
                message = f"{name} is not an expression, and {ignored}: {fault.message}"
                self.found.append(replace(at, kind="access-point", message=message, severity=Severity.WARNING))
            return None

    def names(self, name: str) -> Iterator[tuple[str, Span | None]]:
        """Yield the names of a list, each once, with their places in the file."""
        text = self.string(name)
        place = self.place(name)
        at = {} if place is None else {each[0]: place.part(*each.span()) for each in _NAME.finditer(place.text)}
        for word in dict.fromkeys(_NAME.findall(text or "")):
            yield word, at.get(word, place)

    def missing(self, prefix: str, name: str, place: Span | None) -> None:
        """Add a warning that a list names an undefined knob."""
        begin = prefix.lower()
        defined = {
            key[len(begin) :]: knob.name[len(begin) :]
            for key, knob in self.configuration.knobs.items()
            if key.startswith(begin)
        }
        near = similar(name.lower(), list(defined), 0.8)
        help_text = f"did you mean {defined[near[0]]}?" if near else "define it, or remove it from the list"
        self.warn(f"{prefix}{name} is not defined: the schedd ignores it", place, help_text)

    def warn(self, message: str, place: Span | None, help: str | None = None) -> None:
        """Add a warning about something that the schedd ignores."""
        self.found.append(Diagnostic("access-point", message, Severity.WARNING, place, help))


OF_JOB: Final = frozenset(
    (
        *("executablesize", "executablesize_raw", "imagesize", "imagesize_raw", "diskusage", "diskusage_raw"),
        *("transferinputsizemb", "globaljobid"),
        *("x509userproxysubject", "x509userproxyemail", "x509userproxyvoname", "x509userproxyfqan"),
        *("x509userproxyfirstfqan", "x509userproxyexpiration"),
    )
)
"""Attributes of a job that depend on the submit machine, in lower case."""

# From the manual's list of the schedd's attributes (25.14), and what every daemon's ad has.
_OF_SCHEDD: Final = (
    *("autoclusters", "collectorhost", "condorversion", "condorplatform", "daemonstarttime", "daemoncoredutycycle"),
    *("daemonlastreconfigtime", "detectedcpus", "detectedmemory", "effectiveflocklist", "filesystemdomain"),
    *("jobqueuebirthdate", "machine", "maxjobsrunning", "maxjobssubmitted", "maxjobsperowner", "maxjobspersubmission"),
    *("monitorselfage", "monitorselfcpuusage", "monitorselfimagesize", "monitorselfresidentsetsize", "myaddress"),
    *("mycurrenttime", "name", "numjobstartsdelayed", "numpendingclaims", "numusers", "numowners"),
    *("publicnetworkipaddr", "scheddipaddr", "startlocaluniverse", "startscheduleruniverse", "statslastupdatetime"),
    *("totalflockedjobs", "totalheldjobs", "totalidlejobs", "totaljobads", "totallocaljobsidle", "totalremovedjobs"),
    *("totallocaljobsrunning", "totalrunningjobs", "totalschedulerjobsidle", "totalschedulerjobsrunning"),
    *("transferqueueuserexpr", "updateinterval", "updatesequencenumber", "virtualmemory", "uiddomain", "wantresad"),
)
_BY_PREFIX: Final = (
    *("jobsaccum", "jobsbadput", "jobscompleted", "jobsexit", "jobsrestart", "jobsrunning", "jobsshadow", "jobsshould"),
    *("jobsstarted", "jobssubmitted", "jobssizes", "recentjobs", "recentstats", "recentshadows", "shadowsr"),
    *("filetransfer", "transferqueue", "monitorself"),
)
_TEXTS: Final = ("x509", "globaljobid", "name", "machine", "version", "platform", "domain", "addr", "host", "flocklist")
_SCOPES: Final = frozenset(("schedd", "my"))
_NUMBERS: Final = ("0", "1", "1000000000")
_STRINGS: Final = ('""', '"?"')
_TURNS: Final = 6
_MOST_NAMES: Final = 1000
_MOST_LITERALS: Final = 20


# The schedd's own ad (its counters, its address) and the job's attributes that only the submit machine knows (sizes of
# files, proxies) are unknown. An expression that refers to one of them is evaluated with several values; if they make
# no difference, as in ``JOB.RequestCpus > 64 || SCHEDD.TotalRunningJobs > 100`` of a large job, the result is known.
def schedd_ad(known: Mapping[str, object]) -> ClassAd:
    """Return the known part of the schedd's ad, in which SCHEDD and JOB are names of the two ads of a match."""
    ad = ClassAd({"MyType": "Scheduler", **known})
    ad.set_text("SCHEDD", "MY")
    ad.set_text("JOB", "TARGET")
    return ad


def asked_with(expression: Expression, job: ClassAd, schedd: ClassAd, context: Context) -> Iterator[Value]:
    """Yield the value of an expression in the schedd's ad, with a job as TARGET.

    If it refers to something unknown, there are several values, one for each that was tried.
    """
    found = _unknown(expression, job, schedd)
    if not found.of_schedd and not found.of_job:
        yield result(expression, schedd, context, job)
        return
    for turn in range(_TURNS + len(found.literals)):
        mine, theirs = schedd.copy(), ClassAd().chain(job)
        for ad, names in ((mine, found.of_schedd), (theirs, found.of_job)):
            for name in names:
                tried = _tried(name, found.literals)
                ad.set_text(name, tried[min(turn, len(tried) - 1)])
        yield result(expression, mine, context, theirs)


def _tried(name: str, literals: tuple[str, ...]) -> tuple[str, ...]:
    """Return values that an unknown attribute may have: numbers or strings if the type is known.

    The literals of the expression that it is compared with are tried, too.
    """
    strings = (*_STRINGS, *(text for text in literals if text[:1] == '"'))
    if name.startswith("x509"):
        return ("undefined", *strings)
    if any(part in name for part in _TEXTS):
        return strings
    numbers = (*_NUMBERS, *(text for text in literals if text[:1] != '"'))
    return numbers if name in OF_JOB or is_of_schedd(name) else ("undefined", *numbers, *strings)


class _Unknown(NamedTuple):
    """Unknown attributes of the schedd and of the job, and literals that they may be compared with."""

    of_schedd: set[str]
    of_job: set[str]
    literals: tuple[str, ...]


def _unknown(expression: Expression, job: ClassAd, schedd: ClassAd) -> _Unknown:
    """Return the unknown attributes that an expression refers to, directly or through attributes of the job."""
    literals: dict[str, None] = {}
    of_schedd: set[str] = set()
    of_job: set[str] = set()
    seen: set[str] = set()
    waiting = [(expression, True)]
    while waiting and len(seen) < _MOST_NAMES:
        each, is_schedds = waiting.pop()
        try:
            tree = each.tree
        except (ClassAdSyntaxError, CircularReference):
            continue
        for node in nodes(tree):
            if (
                isinstance(node, Literal)
                and len(literals) < _MOST_LITERALS
                and isinstance(node.value, (int, float, str))
            ):
                literals[print_string(node.value) if isinstance(node.value, str) else str(node.value).lower()] = None
            if not isinstance(node, Reference):
                continue
            name = lower(node.name)
            scope = lower(node.scope.name) if isinstance(node.scope, Reference) and node.scope.scope is None else ""
            is_mine = scope in _SCOPES if is_schedds else scope in {"target", "schedd"}
            if is_schedds and name not in schedd and (is_mine or (not scope and is_of_schedd(name))):
                of_schedd.add(name)
            elif not is_mine and name in OF_JOB and name not in job:
                of_job.add(name)
            elif not is_mine and name in job and name not in seen:
                seen.add(name)
                try:
                    waiting.append((job[name], False))
                except ClassAdSyntaxError:
                    continue
    return _Unknown(of_schedd, of_job, tuple(literals))


def is_of_schedd(name: str) -> bool:
    """Return whether a schedd's ad has a lower-case attribute that the job does not have."""
    return name in _OF_SCHEDD or name.startswith(_BY_PREFIX)


REQUIREMENT_NAMES: Final = "SUBMIT_REQUIREMENT_NAMES"
REQUIREMENT_PREFIX: Final = "SUBMIT_REQUIREMENT_"


class Answer(Enum):
    """The result of a requirement: MET or not, no truth value, or unknown."""

    MET = "met"
    UNMET = "unmet"
    NO_BOOLEAN = "not a boolean"
    UNKNOWN = "unknown"


def names_in(expression: Expression) -> tuple[str, ...]:
    """Return the attributes that an expression refers to, in the order of the text."""
    found = [node for node in nodes(expression.tree) if isinstance(node, Reference)]
    return tuple(dict.fromkeys(node.name for node in sorted(found, key=lambda node: node.start)))


class SubmitRequirement(NamedTuple):
    """A requirement: ``reason`` gives a refusal's message; with ``is_warning`` the job is accepted all the same."""

    name: str
    expression: Expression
    reason: Expression | None = None
    is_warning: bool = False
    place: Span | None = None

    @property
    def knob(self) -> str:
        """The knob's name."""
        return REQUIREMENT_PREFIX + self.name

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that it refers to, in the order of the text."""
        return names_in(self.expression)

    def ask(self, job: ClassAd, schedd: ClassAd, context: Context) -> tuple[Answer, str]:
        """Return its result for a job, and the schedd's message (empty if met or unknown)."""
        values = set(asked_with(self.expression, job, schedd, context))
        if len(values) > 1:
            return Answer.UNKNOWN, ""
        said = truth(values.pop())
        if said is None:
            return Answer.NO_BOOLEAN, f"Submit requirement {self.name} evaluated to non-boolean."
        return (Answer.MET, "") if said else (Answer.UNMET, self._words(job, schedd, context))

    def _words(self, job: ClassAd, schedd: ClassAd, context: Context) -> str:
        default = f"Submit requirement {self.name} not met."
        if self.reason is None:
            return default
        found = list(asked_with(self.reason, job, schedd, context))
        if len(set(map(str, found))) > 1:
            return f"{default} (the text of its reason depends on unknown values)"
        return found[0] if isinstance(found[0], str) else default


def read_requirements(knobs: ScheddKnobs) -> Iterator[SubmitRequirement]:
    """Yield the requirements in their order, with warnings for those that the schedd ignores."""
    for name, place in knobs.names(REQUIREMENT_NAMES):
        if name == "REQUIREMENT_NAMES":
            continue
        knob = REQUIREMENT_PREFIX + name
        if knobs.string(knob) is None:
            knobs.missing(REQUIREMENT_PREFIX, name, place)
            continue
        expression = knobs.expression(knob, "the schedd ignores it", old=False)
        if expression is None:
            continue
        reason = knobs.expression(f"{knob}_REASON", "the schedd uses a default message", old=False)
        is_warning = knobs.boolean(f"{knob}_IS_WARNING", default=False)
        yield SubmitRequirement(name, expression, reason, is_warning, knobs.place(knob))


_KNOBS: Final = {
    "PeriodicHold": "SYSTEM_PERIODIC_HOLD",
    "PeriodicRelease": "SYSTEM_PERIODIC_RELEASE",
    "PeriodicRemove": "SYSTEM_PERIODIC_REMOVE",
}
"""By the attribute evaluated before. SYSTEM_PERIODIC_VACATE is read and never evaluated (25.14)."""

_IGNORED: Final = "the schedd ignores it"


# HTCondor: UserPolicy::Config (src/condor_utils/user_job_policy.cpp).
def read_policies(knobs: ScheddKnobs) -> SystemPolicy:
    """Return the expressions by attribute: those of _NAMES in their order, then the one without a name."""
    found = {attribute: tuple(_of(knobs, base)) for attribute, base in _KNOBS.items()}
    return {attribute: expressions for attribute, expressions in found.items() if expressions}


def _of(knobs: ScheddKnobs, base: str) -> Iterator[SystemExpression]:
    for name, place in knobs.names(f"{base}_NAMES"):
        if name.upper() == "NAMES":
            continue
        if knobs.knob(f"{base}_{name}") is None:
            knobs.missing(f"{base}_", name, place)
        yield from _one(knobs, base, f"{base}_{name}")
    yield from _one(knobs, base, base)


def _one(knobs: ScheddKnobs, base: str, knob: str) -> Iterator[SystemExpression]:
    expression = knobs.expression(knob, _IGNORED, old=True)
    if expression is None or (expression.code.const is not UNKNOWN and expression.code.const is False):
        return
    reason = knobs.expression(f"{knob}_REASON", "HTCondor uses a default message", old=True)
    subcode = knobs.expression(f"{knob}_SUBCODE", "the subcode is 0", old=True)
    text = expression.unparse(UnparseForm.OLD)
    yield SystemExpression(base, knob, expression, text, reason, subcode, knobs.place(knob))


TRANSFORM_NAMES: Final = "JOB_TRANSFORM_NAMES"
TRANSFORM_PREFIX: Final = "JOB_TRANSFORM_"
FIRST_WITHOUT_CLASSADS: Final = (25, 8, 0)
"""The first release that no longer accepts a ClassAd (commit of HTCONDOR-3118, in 25.8)."""


# HTCondor: JobTransforms::initAndReconfig (src/condor_schedd.V6/job_transforms.cpp). Up to 25.7 a knob may be a
# ClassAd, which is converted like old routes, with its macros replaced; 25.8 ignores it.
class SubmitTransform(NamedTuple):
    """A transform of the schedd. ``place`` is the place of its knob's value; ``is_classad``: it was converted."""

    name: str
    transform: Transform
    place: Span | None = None
    is_classad: bool = False

    @property
    def knob(self) -> str:
        """The knob's name."""
        return TRANSFORM_PREFIX + self.name


def read_transforms(knobs: ScheddKnobs, facts: TransformFacts) -> Iterator[SubmitTransform]:
    """Yield the transforms that the schedd loads, with warnings for those that it ignores.

    A fault that depends on the job is a warning here: the transform fails on such a job.
    """
    for name, place in knobs.names(TRANSFORM_NAMES):
        if name.upper() == "TRANSFORM_NAMES":
            continue
        knob = knobs.knob(TRANSFORM_PREFIX + name)
        if knob is None:
            knobs.missing(TRANSFORM_PREFIX, name, place)
        elif not knob.text.strip(BLANKS):
            knobs.warn(f"{TRANSFORM_PREFIX}{name} is empty: the schedd ignores it", knob.name_span or place)
        elif knob.text.lstrip(BLANKS).startswith("["):
            yield from _classad(knobs, name, knob, facts)
        else:
            yield from _commands(knobs, name, knob, facts)


def _commands(knobs: ScheddKnobs, name: str, knob: Knob, facts: TransformFacts) -> Iterator[SubmitTransform]:
    try:
        made = Transform.parse(
            knob.source, name=name, form=RuleSource.KNOB, facts=facts, strict=False, lines=_lines(knob)
        )
    except InvalidTransform as error:
        for fault in error.diagnostics:
            message = f"{TRANSFORM_PREFIX}{name} is malformed, and the schedd ignores it: {fault.message}"
            knobs.warn(message, fault.span or knob.span, fault.help)
        return
    knobs.found += [replace(fault, severity=Severity.WARNING) for fault in made.faults]
    knobs.found += made.warnings
    yield SubmitTransform(name, made.once(), knob.span)


def _lines(knob: Knob) -> tuple[LogicalLine, ...]:
    lines = knob.lines()
    return () if any("\r" in line.text for line in lines) else lines


def _classad(knobs: ScheddKnobs, name: str, knob: Knob, facts: TransformFacts) -> Iterator[SubmitTransform]:
    place = knob.place()
    if facts.version >= FIRST_WITHOUT_CLASSADS:
        release = ".".join(map(str, facts.version[:2]))
        message = f"{TRANSFORM_PREFIX}{name} is a ClassAd, which HTCondor {release} no longer accepts: it is skipped"
        knobs.warn(message, place.part(0, 1), "write it as commands: crondor preview --target 25.7 shows what it did")
        return
    text = (knobs.string(TRANSFORM_PREFIX + name) or "").lstrip(BLANKS)
    source = Source(text, TRANSFORM_PREFIX + name)
    try:
        tree = parse_ad(source)
    except ClassAdSyntaxError as error:
        for fault in error.diagnostics:
            message = f"{TRANSFORM_PREFIX}{name} is a malformed ClassAd, and the schedd ignores it: {fault.message}"
            knobs.warn(message, place, fault.help)
        return
    placed = Placed.of(source)
    read = EntryAttributes(Ad(tree, 0, len(text)), placed)
    made = convert_faithfully(LegacyEntry(name, read.ad(), TRANSFORM_PREFIX + name, 0, source.span(), read.places))
    if made is None:
        knobs.warn(f"{TRANSFORM_PREFIX}{name} cannot be converted, and the schedd ignores it", place)
        return
    try:
        rules = Source(made[1], f"{TRANSFORM_PREFIX}{name} (converted)")
        transform = Transform.parse(rules, name=made[0] or name, form=RuleSource.FILE, facts=facts, strict=False)
    except InvalidTransform as error:
        for fault in error.diagnostics:
            knobs.warn(
                f"{TRANSFORM_PREFIX}{name} cannot be converted, and is skipped: {fault.message}", place, fault.help
            )
        return
    yield SubmitTransform(name, transform.once(), place, is_classad=True)


_OF_JOB: Final = ("ProcId", "JobStatus")


# HTCondor: SubmitHash::init_base_ad and fold_job_into_base_ad (src/condor_utils/submit_utils.cpp). The first job's ad
# goes into the cluster's; a job's own ad has only what differs from it, beside ProcId and JobStatus.
class Submitter(NamedTuple):
    """The submitter: the account ``owner`` of ``domain`` (UID_DOMAIN), at ``now`` (epoch seconds)."""

    owner: str
    domain: str
    now: int


class SentJob(NamedTuple):
    """An ad as it is sent: ``ad`` has the job's own attributes, its parent is the cluster's.

    ``jobs`` are the jobs that share it except for ProcId, which is the first one's.
    """

    jobs: JobGroup
    ad: ClassAd

    def each(self) -> Iterator[ClassAd]:
        """Yield an ad for each of the jobs."""
        first = int(self.ad.text("ProcId"))
        for number in range(self.jobs.count):
            made = self.ad.copy()
            made.set("ProcId", first + number)
            yield made


def sent_jobs(made: Iterable[JobAd], submitter: Submitter, count: int) -> Iterator[SentJob]:
    """Yield the ads of one cluster, from job_ads(), as they are sent; ``count`` is the number of jobs.

    Jobs that are made late have one ad, the cluster's, which the schedd transforms like that of job 0.
    """
    cluster: ClassAd | None = None
    for jobs, ad in made:
        whole = _complete(ad, submitter)
        if cluster is None:
            cluster = whole.copy()
            cluster.prune("ProcId")
            cluster.set("TotalSubmitProcs", count)
        job = ClassAd().chain(cluster)
        if "ProcId" not in ad:
            job.set("ProcId", 0)
            job.set("JobStatus", 1)
            job.set("JobFactoryId", int(ad.text("ClusterId")))
            yield SentJob(replace(jobs, count=1), job)
            continue
        for name in _OF_JOB:
            job.put(name, whole.codes[name.lower()])
        whole.set("TotalSubmitProcs", count)
        for key, name in whole.names.items():
            if key not in cluster.codes or printed(cluster, name) != printed(whole, name):
                job.put(name, whole.codes[key])
        for key, name in cluster.names.items():
            if key not in whole.codes:
                job.put(name, "undefined")
        yield SentJob(jobs, job)


def _complete(ad: ClassAd, submitter: Submitter) -> ClassAd:
    """Return an ad with the attributes that condor_submit puts into every job, and that the schedd adds on arrival."""
    made = ClassAd(NEW_JOB)
    made.prune("CompletionDate")  # condor_submit writes it, and a schedd does not store it
    for name, value in (("QDate", submitter.now), ("EnteredCurrentStatus", submitter.now), ("JobSubmitMethod", 0)):
        made.set(name, value)
    for key, name in ad.names.items():
        made.put(name, ad.codes[key])
    code = exact_integer(ad, "HoldReasonCode")
    if code is not None:
        made.set("NumHolds", 1)
        made.set("NumHoldsByReason", {hold_name(code): 1})
    for name, account in (("Owner", submitter.owner), ("User", f"{submitter.owner}@{submitter.domain}")):
        if name not in ad or printed(ad, name) == "undefined":
            made.set(name, account)
    return made
