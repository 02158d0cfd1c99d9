"""An access point as its configuration describes it: what it stores, refuses and limits."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import islice
from typing import Final, NamedTuple

from crondor.access_point.requirements import (
    Answer,
    ScheddKnobs,
    SubmitRequirement,
    Submitter,
    SubmitTransform,
    asked_with,
    read_policies,
    read_requirements,
    read_transforms,
    schedd_ad,
    sent_jobs,
)
from crondor.classad.ad import ClassAd
from crondor.classad.circles import circles, new_circles
from crondor.classad.expression import Expression
from crondor.classad.operators import truth
from crondor.classad.scope import Allowance, Context
from crondor.classad.text import lower
from crondor.classad.tree import ClassAdSyntaxError
from crondor.config import Configuration
from crondor.deferral import DEFAULT_SCHEDD_INTERVAL
from crondor.diagnostics import Diagnostic, Severity, Source, Span
from crondor.job.attributes import JobStatus, alone, exact_integer, printed
from crondor.job.policy import NO_POLICY, SystemPolicy
from crondor.macro import MacroError
from crondor.macro.functions import leading_int
from crondor.schedule import Universe
from crondor.submit import InvalidSubmit, JobGroup, SubmitFile, SubmitHost, job_ads
from crondor.submit.ad.draft import SubmitKnobs
from crondor.submit.ad.make import LATE
from crondor.submit.ad.policy import extended
from crondor.transform import AttributeChange, Changes, TraceStep, TransformFacts
from crondor.transform.loading import instead

FAILED: Final = "Failed to apply a required job transform."
"""The schedd's message for a failed transform, whatever the reason, which is only in its log."""


SCHEDULING: Final = frozenset(
    (
        *("cronminute", "cronhour", "crondayofmonth", "cronmonth", "crondayofweek"),
        *("deferraltime", "deferralwindow", "deferralpreptime", "scheddinterval", "jobuniverse", "onexitremove"),
    )
)
"""Attributes, in lower case, that determine when a job runs and whether it repeats."""


# HTCondor: CheckTransaction (src/condor_schedd.V6/qmgmt.cpp): for each job of the submission, the transforms in their
# order, each if the job, changed by those before, meets its REQUIREMENTS; then the submit requirements, which see the
# changed job. The first that refuses ends the whole submission. So does a transform that fails.
class Kind(Enum):
    """What refuses a job, or warns about it."""

    REQUIREMENT = "requirement"
    TRANSFORM = "transform"
    LIMIT = "limit"


class Verdict(NamedTuple):
    """One refusal or warning: the knob, the schedd's message, and the place of the knob."""

    kind: Kind
    knob: str
    reason: str
    place: Span | None = None
    help: str | None = None


class TransformStep(NamedTuple):
    """A transform that ran: its changes of the stored job, and what each of its lines did."""

    transform: SubmitTransform
    changes: Changes
    trace: tuple[TraceStep, ...]

    def place(self, name: str) -> Span | None:
        """Return the last line that changed an attribute, if known; else the place of the transform."""
        if self.transform.is_classad:
            return self.transform.place
        words = (name.lower(), f"my.{name.lower()}")
        lines = [step.span for step in self.trace if not step.is_detail and words[0] in step.span.text.lower()]
        return lines[-1] if lines else self.transform.place


@dataclass(frozen=True)
class Admission:
    """The result of submitting a job.

    ``before`` is its ad as condor_submit sends it, ``after`` as the schedd would store it; both have all attributes.
    ``steps`` are the transforms that ran, ``refusal`` is why it is refused, None if it is accepted. ``warnings`` are
    requirements that only warn, ``unsure`` those that depend on unknown values.
    """

    before: ClassAd
    after: ClassAd
    steps: tuple[TransformStep, ...] = ()
    refusal: Verdict | None = None
    warnings: tuple[Verdict, ...] = ()
    unsure: tuple[Verdict, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def schedule_changes(self) -> tuple[tuple[TransformStep, AttributeChange], ...]:
        """The changes by transforms of when and where the job runs, each with the transform."""
        return tuple((step, each) for step in self.steps for each in step.changes if lower(each.name) in SCHEDULING)

    @property
    def changes(self) -> Changes:
        """All differences between the two ads."""
        return Changes(self.before, self.after)


SECURE: Final = (
    "x509userProxySubject x509UserProxyEmail x509UserProxyVOName x509UserProxyFirstFQAN x509UserProxyFQAN "
    "TotalSubmitProcs AuthTokenSubject AuthTokenIssuer AuthTokenGroups AuthTokenId AuthTokenScopes AuthTokenProject "
    "OsUser"
)
_WITH_USERS: Final = (25, 4, 0)
_ROUNDED: Final = {
    **dict.fromkeys(("proportionalsetsizekb", "residentsetsize", "executablesize", "imagesize", "diskusage"), "25%"),
    "numckpts": "4",
}
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BEGINS: Final = (JobStatus.IDLE, JobStatus.HELD, 9, 10)  # and BLOCKED, PREPARING
_STATUS: Final = "jobstatus"
_FIXED: Final = ("ClusterId", "Owner", "User")


# HTCondor: JobTransforms::set_dirty_attributes, SetAttribute and ModifyAttrCheck (src/condor_schedd.V6/qmgmt.cpp).
def secure_names(knobs: ScheddKnobs) -> frozenset[str]:
    """Return the attributes, in lower case, that only the schedd sets: a transform's setting of them is ignored."""
    default = SECURE if knobs.configuration.version >= _WITH_USERS else SECURE.replace(" OsUser", "")
    lists = (knobs.string("SYSTEM_SECURE_JOB_ATTRS") or default, knobs.string("SECURE_JOB_ATTRS") or "")
    return frozenset(lower(name) for text in lists for name in re.findall(r"[^, \t\r\n]+", text))


class StoreFault(NamedTuple):
    """An attribute that the queue does not store unchanged, and why."""

    name: str
    message: str


@dataclass(frozen=True)
class Store:
    """The rules of a queue.

    ``secure`` are the attributes, in lower case, that only the schedd sets. ``checks_status``: since 25.13 a job's
    first JobStatus must be that of an idle or a held one.
    """

    secure: frozenset[str] = frozenset(map(lower, SECURE.split()))
    checks_status: bool = True
    knobs: ScheddKnobs | None = None

    def fault(self, before: ClassAd, after: ClassAd) -> StoreFault | None:
        """Return why the queue rejects the result of a transform; None if it does not."""
        for name in _FIXED:
            if name in before and (name not in after or printed(before, name) != printed(after, name)):
                return StoreFault(name, f"nothing may change {name} of a job: take it out of the transform")
        for name in after.own().names.values():
            if not _NAME.fullmatch(name):
                return StoreFault(name, f"the queue accepts no attribute named {name[:80]}")
        old, new = before.codes.get(_STATUS), after.codes.get(_STATUS)
        if old is new or not self.checks_status:
            return None
        status = 0 if new is None else leading_int(printed(after, "JobStatus"))
        if status in _BEGINS:
            return None
        return StoreFault("JobStatus", f"a new job cannot have JobStatus {status}: set it to 1 (idle) or 5 (held)")

    def kept(self, before: ClassAd, after: ClassAd) -> ClassAd:
        """Return the ad without the changes that the queue passes over, of ProcId and of what only the schedd sets."""
        made = after
        for key in (*self.secure, "procid"):
            old, new = before.codes.get(key), after.codes.get(key)
            if old is not new:
                made = made.copy() if made is after else made
                made.prune(key)
                if key in before.own().codes and old is not None:
                    made.put(before.names[key], old)
        return made

    def rounded(self, ad: ClassAd, before: ClassAd | None = None) -> ClassAd:
        """Return an ad with its numbers rounded as in the queue, each with its original value.

        Numbers that are unchanged from ``before`` are rounded already.
        """
        made = ad
        for key in ad.codes:
            how = self._rounding(key)
            if not how or (before is not None and before.codes.get(key) == ad.codes[key]):
                continue
            number = alone(ad.codes[key])
            if isinstance(number, (int, float)) and not isinstance(number, bool):
                made = made.copy() if made is ad else made
                made.set(f"{ad.names[key]}_RAW", number)
                made.set(ad.names[key], rounded(number, how))
        return made

    def _rounding(self, key: str) -> str:
        default = _ROUNDED.get(key, "")
        if self.knobs is None:
            return default
        found = self.knobs.knob(f"SCHEDD_ROUND_ATTR_{key}")
        text = default if found is None else (self.knobs.string(found.name) or "")
        return "" if text == "0" else text


def rounded(number: float, how: str) -> float:
    """Return a number rounded up to a share of its magnitude (``25%``), or to a power of ten (``2``: hundreds)."""
    if how.endswith("%"):
        try:
            percent = float(how[:-1])
        except ValueError:
            return number
        if abs(number) < 1e-6 or percent < 1e-6:
            return number
        step = 10.0 ** int(math.log(abs(number / 5)) / math.log(10) + 1) * percent / 100
        whole = math.ceil(number / step) * step
        return int(whole) if isinstance(number, int) else whole
    base = 10 ** int(how) if how.isdecimal() and len(how) == 1 else 1
    up = (int(number) + base - 1) // base * base
    return up if isinstance(number, int) else float(up)


_STEPS: Final = 2_000_000  # steps of about a microsecond for the expressions of one job
_START: Final = {
    Universe.LOCAL: ("START_LOCAL_UNIVERSE", "TotalLocalJobsRunning < 200"),
    Universe.SCHEDULER: ("START_SCHEDULER_UNIVERSE", "TotalSchedulerJobsRunning < 500"),
}
_CHAINED: Final = (25, 13, 0)  # CheckTransaction chains the ads of a submission (HTCONDOR-3624)
_LIMITS: Final = (
    ("MAX_JOBS_SUBMITTED", 2147483647),
    ("MAX_JOBS_PER_OWNER", 100_000),
    ("MAX_JOBS_PER_SUBMISSION", 20_000),
)


@dataclass(frozen=True, repr=False)
class AccessPoint:
    """The rules of one access point.

    ``configuration`` is as the schedd sees it. ``schedd_interval`` is SCHEDD_INTERVAL (seconds). ``submit_knobs`` are
    the knobs as condor_submit sees them, expanded, by lower-case name. ``policy`` has the ``SYSTEM_PERIODIC_*``
    expressions. ``diagnostics`` are what the schedd ignores, and the findings of reading the configuration.
    """

    configuration: Configuration
    transforms: tuple[SubmitTransform, ...] = ()
    requirements: tuple[SubmitRequirement, ...] = ()
    policy: SystemPolicy = field(default_factory=lambda: NO_POLICY)
    schedd_interval: int = DEFAULT_SCHEDD_INTERVAL
    limits: Mapping[str, int] = field(default_factory=dict)
    start: Mapping[Universe, Expression] = field(default_factory=dict)
    submit_knobs: Mapping[str, str] = field(default_factory=dict)
    facts: TransformFacts = field(default_factory=TransformFacts)
    schedd: ClassAd = field(default_factory=lambda: schedd_ad({}))
    store: Store = field(default_factory=Store)
    diagnostics: tuple[Diagnostic, ...] = ()

    def __repr__(self) -> str:
        """Return the configuration, and how many transforms and requirements it has."""
        counts = f"{len(self.transforms)} transforms, {len(self.requirements)} requirements"
        return f"<AccessPoint: {counts}, {self.configuration!r}>"

    def place(self, knob: str) -> Span | None:
        """Return the place of a knob in a file; None if it has none."""
        found = self.configuration.find(knob)
        return None if found is None else found.span

    def host(self, host: SubmitHost) -> SubmitHost:
        """Return the facts of a submit machine, updated from the configuration."""
        knobs = self.submit_knobs
        return host._replace(
            schedd_interval=self.schedd_interval,
            version=".".join(map(str, self.configuration.version)),
            uid_domain=knobs.get("uid_domain") or host.uid_domain,
            filesystem_domain=knobs.get("filesystem_domain") or host.filesystem_domain,
            spool=knobs.get("spool") or host.spool,
            opsysver=knobs.get("opsysver") or host.opsysver,
            opsysandver=knobs.get("opsysandver") or host.opsysandver,
            opsysmajorver=knobs.get("opsysmajorver") or host.opsysmajorver,
        )

    def too_many(self, file: SubmitFile) -> Verdict | None:
        """Return why the number of jobs of a file is refused even for an empty queue; None if it is not.

        HTCondor: NewProc. Jobs in the queue count too, but are unknown; jobs that are made late come as fast as the
        limits allow.
        """
        jobs = file.job_count
        broken = [(most, knob) for knob, most in self.limits.items() if jobs > most]
        if not broken or self._makes_late(file):
            return None
        most, knob = min(broken)
        reason = f"Number of submitted jobs would exceed {knob}"
        help_text = f"{knob} is {most}, and the file queues {jobs:,} jobs: submit fewer at once, or set max_materialize"
        return Verdict(Kind.LIMIT, knob, reason, self.place(knob), help_text)

    def _makes_late(self, file: SubmitFile) -> bool:
        by_default = SubmitKnobs(self.submit_knobs).flag("SUBMIT_FACTORY_JOBS_BY_DEFAULT", default=False)
        return by_default or not {name for names in LATE for name in names}.isdisjoint(file.keys)

    def starts(self, ad: ClassAd, universe: int) -> bool | None:
        """Return whether a job of the local or scheduler universe may start; None if unknown."""
        expression = next((code for kind, code in self.start.items() if kind == universe), None)
        if expression is None:
            return True
        said = {truth(each) is True for each in asked_with(expression, ad, self.schedd, self._context())}
        return said.pop() if len(said) == 1 else None

    def _context(self) -> Context:
        known = self.facts.context
        return Context(
            known.now, known.zone, known.seed, known.current_time, known.maps, known.effort or Allowance(_STEPS)
        )

    @property
    def commands(self) -> frozenset[str]:
        """The submit commands that the administrator has added (EXTENDED_SUBMIT_COMMANDS), in lower case."""
        return frozenset(each.command.lower() for each in extended(SubmitKnobs(self.submit_knobs)))

    @property
    def tells_jobs_apart(self) -> bool:
        """Whether two jobs that differ only in their number may have different results."""
        texts = [each.transform.source.text for each in self.transforms]
        texts += [str(each.expression) + str(each.reason or "") for each in self.requirements]
        return any(name in text.lower() for text in texts for name in ("procid", "globaljobid"))

    def admit(self, ad: ClassAd, *, trace: bool = True) -> Admission:
        """Return the result for a job's ad, whose parent is that of its cluster. Both stay unchanged."""
        job = self._sent(ad)
        before = job.flat()
        steps: list[TransformStep] = []
        found: list[Diagnostic] = []
        macros: dict[str, str] = {}
        states = [job]
        for each in self.transforms:
            if not each.transform.matches(states[-1], self._context()):
                continue
            outcome = each.transform.apply(states[-1], self.facts, macros=macros, trace=trace).outcomes[0]
            found += outcome.diagnostics
            if outcome.ad is None:
                refusal = Verdict(Kind.TRANSFORM, each.knob, FAILED, each.place, _why(outcome.diagnostics))
                return Admission(before, states[-1].flat(), tuple(steps), refusal, diagnostics=tuple(found))
            changes = Changes(states[-1].flat(), outcome.ad.flat())
            steps.append(TransformStep(each, changes, outcome.trace))
            states.append(outcome.ad)
        stored = self._stored(states)
        found += _circles(before, stored, steps)
        admission = Admission(before, stored, tuple(steps), diagnostics=tuple(found))
        fault = self.store.fault(job, states[-1])
        if fault is not None:
            culprit = next(step for step, made in zip(steps, states[1:], strict=True) if self.store.fault(job, made))
            place = culprit.place(fault.name) or culprit.transform.place
            return replace(
                admission, refusal=Verdict(Kind.TRANSFORM, culprit.transform.knob, FAILED, place, fault.message)
            )
        return self._asked(admission, states[-1])

    def admitted(self, file: SubmitFile, now: int, most: int) -> Iterator[tuple[JobGroup, Admission]]:
        """Yield the results for the jobs of a file that is submitted at ``now`` (epoch seconds).

        Of equal jobs only the first is submitted; at most ``most`` are, and none after one that condor_submit refuses.
        """
        who = Submitter(file.host.user, self.submit_knobs.get("uid_domain") or file.host.uid_domain, now)
        made = job_ads(file, config=self.submit_knobs, limit=most + len(file.queues))
        with suppress(InvalidSubmit):
            for sent in islice(sent_jobs(made, who, file.job_count), most):
                yield sent.jobs, self.admit(sent.ad)

    def _stored(self, states: list[ClassAd]) -> ClassAd:
        """Return what is stored of the last of a job's states; a deleted attribute is then undefined."""
        job = states[-1]
        after = self.store.kept(states[0], job).flat()
        for state in states:
            for key, name in state.names.items():
                if key not in after.codes and key not in self.store.secure:
                    after.put(name, "undefined")
        after.prune("JobFactoryId")
        status = exact_integer(after, "JobStatus")
        if self.configuration.version >= _CHAINED and status not in {None, JobStatus.IDLE}:
            after.put("InitialJobStatus", after.codes["jobstatus"])
        return self.store.rounded(after, states[0].flat())

    def _sent(self, ad: ClassAd) -> ClassAd:
        """Return an ad as transforms see it: since 25.13 with its cluster's as parent, before that all in one.

        So in 25.13 a pattern of names (``DELETE /^Num.*/``) only finds the job's own attributes, which are few.
        """
        if ad.parent is None or self.configuration.version < _CHAINED:
            return self.store.rounded(ad.flat())
        return self.store.rounded(ad.own()).chain(self.store.rounded(ad.parent))

    def _asked(self, admission: Admission, job: ClassAd) -> Admission:
        """Return the result of the requirements for a transformed job."""
        context = self._context()
        warnings: list[Verdict] = []
        unsure: list[Verdict] = []
        refusal: Verdict | None = None
        for each in self.requirements:
            answer, words = each.ask(job, self.schedd, context)
            if answer is Answer.MET:
                continue
            verdict = Verdict(Kind.REQUIREMENT, each.knob, words, each.place)
            if answer is Answer.UNKNOWN:
                unsure.append(verdict)
            elif each.is_warning and answer is Answer.UNMET:
                warnings.append(verdict)
            else:
                refusal = verdict
                break
        return replace(admission, refusal=refusal, warnings=tuple(warnings), unsure=tuple(unsure))


def read_access_point(configuration: Configuration, facts: TransformFacts | None = None) -> AccessPoint:
    """Return the access point of a configuration; never fails: faults are in ``diagnostics``.

    ``facts`` has the clock, the zone, the environment and the files of transforms; their knobs and release are the
    configuration's own.
    """
    knobs = ScheddKnobs(configuration)
    given = facts or TransformFacts()
    from_knobs = TransformFacts(
        _as("XFORM", configuration).texts(),
        environ=given.environ,
        context=given.context,
        files=given.files,
        version=configuration.version,
    )
    transforms = tuple(read_transforms(knobs, from_knobs))
    requirements = tuple(read_requirements(knobs))
    made = AccessPoint(
        knobs.configuration,
        transforms,
        requirements,
        read_policies(knobs),
        knobs.integer("SCHEDD_INTERVAL", DEFAULT_SCHEDD_INTERVAL),
        {name: knobs.integer(name, most) for name, most in _LIMITS},
        _start(knobs),
        _expanded(_as("SUBMIT", configuration)),
        from_knobs,
        schedd_ad(_known_of_schedd(knobs)),
        Store(secure_names(knobs), configuration.version >= _CHAINED, knobs),
        (),
    )
    found = dict.fromkeys((*configuration.diagnostics, *knobs.found))
    return replace(made, diagnostics=tuple(found))


def _circles(before: ClassAd, after: ClassAd, steps: Sequence[TransformStep]) -> Iterator[Diagnostic]:
    """Yield a fault for each circle among the attributes of a stored job, at the line that closes it."""
    new = {frozenset(each.names) for each in new_circles(before.codes, after.codes)}
    for circle in circles(after.codes):
        message = circle.message(after.names)
        if frozenset(circle.names) not in new:
            yield Diagnostic("circle-job", message, circle.severity)
            continue
        step, name = next(
            (step, change.name)
            for step in reversed(steps)
            for change in step.changes
            if lower(change.name) in circle.names
        )
        help_text = f"{step.transform.knob} closes the circle: {instead(circle, after.names, '')}"
        yield Diagnostic("circle", message, circle.severity, step.place(name), help_text)


def _why(found: Iterable[Diagnostic]) -> str | None:
    return next((each.message for each in found if each.severity is Severity.ERROR), None)


def _as(subsystem: str, configuration: Configuration) -> Configuration:
    return replace(configuration, subsystem=subsystem)


def _start(knobs: ScheddKnobs) -> dict[Universe, Expression]:
    found = {}
    for universe, (name, default) in _START.items():
        text = knobs.string(name) or default
        try:
            found[universe] = Expression.parse(Source(text, name), old=True)
        except ClassAdSyntaxError:
            knobs.warn(f"{name} is no expression: no such job starts", knobs.place(name), "write one, as 'true'")
            found[universe] = Expression("false")
    return found


def _known_of_schedd(knobs: ScheddKnobs) -> dict[str, object]:
    found = {"Name": knobs.string("SCHEDD_NAME"), "UidDomain": knobs.string("UID_DOMAIN")}
    return {name: text for name, text in found.items() if text and ("@" in text or name != "Name")}


def _expanded(configuration: Configuration) -> dict[str, str]:
    """Return all knobs with their macros replaced, without those that cannot be."""
    found = {}
    for name, text in configuration.texts().items():
        with suppress(MacroError):
            found[name] = configuration.expand(text).strip()
    return found
