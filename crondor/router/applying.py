"""Applying a route to a job: the transforms it passes, in order, and the variables each reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from crondor._types import expect
from crondor.classad.ad import ClassAd
from crondor.classad.evaluate import holds
from crondor.classad.expression import Expression
from crondor.classad.parser import print_string
from crondor.classad.scope import Context
from crondor.classad.tree import UNDEFINED
from crondor.config import Configuration
from crondor.deferral import Deferral
from crondor.diagnostics import Diagnostic, Span, has_error
from crondor.job.attributes import result, string, string_of
from crondor.job.policy import QueuedJob
from crondor.macro import MacroError
from crondor.router.table.route import AFTERWARDS, Route, RoutingTable, convert, id_text
from crondor.spec import FIELDS
from crondor.transform import Changes, TraceStep, Transform, TransformFacts
from crondor.transform.apply import TransformRun
from crondor.transform.compiled import defined_by, from_outside


# HTCondor: JobRoute::ApplyRoutingJobEdits, JobRoute::EditJobInPlace.
class TransformStep(NamedTuple):
    """A transform applied to a job, before it runs; ``run`` has the ad and the variables at that moment.

    ``position`` is pre-route, route or post-route; ``is_applied`` false: its REQUIREMENTS are not met.
    """

    position: str
    transform: Transform
    is_applied: bool
    run: TransformRun


Watch = Callable[[TransformStep], None]

_routed = tuple.__new__  # a NamedTuple's own call takes twice as long


class SharedProxy(NamedTuple):
    """The X.509 proxy of a route: the file to copy before submission, and the job's copy."""

    file: str
    copy: str


class RoutedAd(NamedTuple):
    """The result of a route for a job.

    ``ad`` is the routed copy as it would be submitted; None if the job is edited in place, or if routing failed.
    ``in_place`` are then the changes to the job itself. ``sandboxed``: the copy's files would be spooled;
    ``input_files`` are those that it names. ``proxy`` is to be copied, ``id_tokens`` are the names of its tokens.
    ``applied`` are the names of the transforms that ran. An ERROR among ``diagnostics`` is why it failed, a WARNING was
    skipped. ``trace`` is empty unless requested. ``edited`` is the job after an edit in place.
    """

    route: Route
    source: ClassAd
    ad: ClassAd | None = None
    in_place: Changes | None = None
    sandboxed: bool = False
    input_files: tuple[str, ...] = ()
    proxy: SharedProxy | None = None
    id_tokens: tuple[str, ...] = ()
    applied: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    trace: tuple[TraceStep, ...] = ()
    edited: ClassAd | None = None

    @property
    def failed(self) -> bool:
        """Whether there is neither a copy nor an edited job."""
        return self.ad is None and self.in_place is None

    @property
    def changes(self) -> Changes:
        """The differences between the job and the copy, or the edits; none if routing failed."""
        if self.in_place is not None:
            return self.in_place
        source = self.source.flat()
        return Changes(source, source if self.ad is None else self.ad)


class _Refused(Exception):
    """Routing of a job fails, for a reason outside the transforms."""

    def __init__(self, code: str, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(code, message, help=help)


def apply_route(
    table: RoutingTable,
    route: Route,
    ad: ClassAd,
    *,
    facts: TransformFacts | None = None,
    translated: ClassAd | None = None,
    id_tokens: Mapping[str, str] | None = None,
    trace: bool = False,
    faithful: bool = False,
    watch: Watch | None = None,
) -> RoutedAd:
    """Return the result of a route for a job, whose ad is not changed; whether it matches is not checked.

    ``translated`` is the result of a TRANSLATE_JOB hook, used instead of the job's ad. ``facts`` replaces those of the
    table: the time of day is in its context. ``id_tokens`` are the files of the tokens by name. Nothing is read,
    spooled or submitted. ``faithful`` words failures like HTCondor 25.14; ``watch`` is called for each transform.

    The order is HTCondor's: the default conversion, transforms before the route, the route, transforms after it, all
    with one table of macros; then RoutedFromJobId, RoutedBy and RouteName are set, which no rule can override. The
    first transform that fails ends it.
    """
    expect("table", table, RoutingTable, "a RoutingTable", "write load_table(read_config(text))")
    expect("route", route, Route, "a Route of the table", "write table.route('Name')")
    expect("ad", ad, ClassAd, "a ClassAd", "write read_ad(text)")
    facts = table.facts if facts is None else facts
    if translated is None and not trace and watch is None:
        course = table.course(route)
        made = course.run(ad, facts) if course.is_open else None
        if made is not None:
            return _routed(RoutedAd, (route, ad, made[0], None, False, (), None, (), made[1], (), (), None))
    applying = _Applying(table, route, ad, facts, trace=trace, faithful=faithful, watch=watch)
    return applying.run(ad if translated is None else translated, id_tokens or {})


class _Applying:
    """One application of a route."""

    def __init__(
        self,
        table: RoutingTable,
        route: Route,
        source: ClassAd,
        facts: TransformFacts,
        *,
        trace: bool,
        faithful: bool,
        watch: Watch | None,
    ) -> None:
        self.table = table
        self.route = route
        self.source = source
        self.facts = facts
        self.context: Context = facts.context
        self.faithful = faithful
        self.applied: list[str] = []
        self.found: list[Diagnostic] = []
        self.steps: list[TraceStep] | None = [] if trace else None
        self.watch = watch

    def run(self, begin: ClassAd, id_tokens: Mapping[str, str]) -> RoutedAd:
        """Do all steps."""
        route = self.route
        is_sandboxed, is_edited = self._true(route.job_should_be_sandboxed), self._true(route.edit_job_in_place)
        copy = begin.copy() if begin.parent is None else begin.flat()
        if not is_edited:
            self.found += convert(copy, route.universe, route.grid_resource, self.context, is_sandboxed=is_sandboxed)
            if self.found and has_error(self.found):
                return self._failed(sandboxed=is_sandboxed)
        if not self._transform(copy):
            return self._failed(sandboxed=is_sandboxed)
        if is_edited:
            return self._failed()._replace(in_place=Changes(self.source.flat(), copy), edited=copy)
        try:
            return self._finished(copy, id_tokens, is_sandboxed=is_sandboxed)
        except _Refused as refused:
            self.found.append(refused.diagnostic)
            return self._failed(sandboxed=is_sandboxed)

    def _failed(self, *, sandboxed: bool = False) -> RoutedAd:
        return RoutedAd(
            self.route,
            self.source,
            sandboxed=sandboxed,
            applied=tuple(self.applied),
            diagnostics=tuple(self.found),
            trace=tuple(self.steps or ()),
        )

    def _true(self, expression: Expression | None) -> bool:
        return expression is not None and holds(expression.code, self.source, None, self.context)

    def _transform(self, copy: ClassAd) -> bool:
        """Apply the transforms; return whether all succeeded."""
        run = TransformRun(copy, self.facts, {}, self.facts.defaults(iterates=False), self.steps)
        route, table = self.route, self.table
        before, after = (table.before, table.after) if route.takes_transforms else ((), ())
        done = self._all(run, before, "pre-route", copy) and self._applied(run, route.transform)
        done = done and self._all(run, after, "post-route", copy)
        self.found += run.found
        return done

    def _all(self, run: TransformRun, transforms: tuple[Transform, ...], position: str, copy: ClassAd) -> bool:
        """Apply transforms around the route, each if its REQUIREMENTS are met; return whether all succeeded."""
        for transform in transforms:
            required = transform.requirements
            if required is not None and not transform.matches(copy, self.context):
                if self.watch is not None:
                    self.watch(TransformStep(position, transform, is_applied=False, run=run))
            elif not self._applied(run, transform, position):
                return False
        return True

    def _applied(self, run: TransformRun, transform: Transform, position: str = "route") -> bool:
        """Apply a transform; return whether it succeeded."""
        if self.watch is not None:
            self.watch(TransformStep(position, transform, is_applied=True, run=run))
        self.applied.append(transform.name)
        ended = transform.run(run)
        if ended is None:
            return True
        # HTCondor's text, also for those after the route.
        said = "pre-route" if self.faithful else position
        named = f"(route={self.route.name})" if position == "route" else f"in {said} transform {transform.name}"
        run.found.append(replace(ended, message=f"JobRouter failure {named}: {ended.message}"))
        return False

    def _finished(self, copy: ClassAd, id_tokens: Mapping[str, str], *, is_sandboxed: bool) -> RoutedAd:
        """Set the attributes that come after all transforms. Raises _Refused."""
        source_id = id_text(self.source, self.context)
        if source_id is None:
            raise _Refused("no-job-id", "the job has no ClusterId and ProcId: its copy could not be told from others")
        codes = AFTERWARDS.make(copy)
        codes["routedfromjobid"] = f'"{source_id}"'
        codes["routedby"] = print_string(self.table.settings.name)
        codes["routename"] = print_string(self.route.name)
        proxy = self._proxy(source_id, is_sandboxed=is_sandboxed)
        if proxy is not None:
            copy.set("x509userproxy", proxy.copy)
        tokens = self._tokens(copy, id_tokens)
        if string(self.source, "Owner", self.context) is None:
            raise _Refused("no-owner", "the job has no Owner: its copy could not be submitted")
        return RoutedAd(
            self.route,
            self.source,
            copy,
            None,
            is_sandboxed,
            self._input_files(copy) if is_sandboxed else (),
            proxy,
            tokens,
            tuple(self.applied),
            tuple(self.found),
            tuple(self.steps or ()),
        )

    def _input_files(self, copy: ClassAd) -> tuple[str, ...]:
        files = string(copy, "TransferInput", self.context) or ""
        return tuple(stripped for each in files.split(",") if (stripped := each.strip()))

    def _proxy(self, source_id: str, *, is_sandboxed: bool) -> SharedProxy | None:
        route = self.route
        if not self._true(route.use_shared_x509_user_proxy):
            return None
        file = self._string(route.shared_x509_user_proxy)
        if file is None:
            message = "UseSharedX509UserProxy is true, but SharedX509UserProxy is invalid!"
            raise _Refused("shared-proxy", message, 'write SharedX509UserProxy = "/path/of/the/proxy"')
        if not is_sandboxed:
            message = "UseSharedX509UserProxy is true, but JobShouldBeSandboxed is false."
            raise _Refused("shared-proxy", message, "a shared proxy needs JobShouldBeSandboxed = true")
        return SharedProxy(file, f"{file}.{source_id}")

    def _tokens(self, copy: ClassAd, id_tokens: Mapping[str, str]) -> tuple[str, ...]:
        """Add the token files that the route sends to the front of the copy's input files."""
        expression = self.route.send_id_tokens
        listed = self.table.settings.route_id_tokens if expression is None else self._string(expression)
        if listed is None:
            if expression is not None and expression.code.const is UNDEFINED:
                return ()
            raise _Refused("id-tokens", "evaluated SendIDTokens value is invalid!", 'write SendIDTokens = "name, ..."')
        if not listed:
            return ()
        names = tuple(name for name in listed.replace(",", " ").split() if name)
        for name in names:
            if name not in id_tokens:
                raise _Refused("id-tokens", f"unknown IDTOKEN {name}", "name it in JOB_ROUTER_CREATE_IDTOKEN_NAMES")
        if names:
            files = [id_tokens[name] for name in names]
            given = string(copy, "TransferInput", self.context)
            copy.set("TransferInput", ",".join([*files, *([given] if given else [])]))
        return names

    def _string(self, expression: Expression | None) -> str | None:
        return None if expression is None else string_of(result(expression, self.source, self.context))


def one_run(source: ClassAd, run: Deferral | None) -> ClassAd:
    """Return a job with one time, which does not schedule itself and leaves its queue after its run.

    The Cron attributes are removed, and DeferralTime is the run's (None: unchanged); a job without them is unchanged.
    """
    made = source.copy()
    if not QueuedJob(source).is_crontab:
        return made
    for field in FIELDS:
        made.prune(field.attribute)
    if "OnExitRemove" in made:
        made.set("OnExitRemove", value=True)
    if run is not None:
        made.set("DeferralTime", run.time)
    return made


class Setter(NamedTuple):
    """The origin of a variable's value: ``knob``, ``default`` (HTCondor's), ``route`` or ``transform``; its name."""

    kind: str
    name: str
    place: Span | None = None


class PassedVariable(NamedTuple):
    """A variable that a transform reads, at the beginning of the transform.

    ``value`` is its text with macros replaced, None: not set. ``default`` is then used (None: nothing). ``place`` is
    where it is read.
    """

    name: str
    value: str | None
    default: str | None
    setter: Setter | None
    place: Span


class PassedTransform(NamedTuple):
    """A transform for a job. ``position`` is pre-route, route or post-route.

    ``is_applied`` is false if the job does not meet its REQUIREMENTS at that moment.
    """

    position: str
    transform: Transform
    is_applied: bool
    variables: tuple[PassedVariable, ...]

    @property
    def place(self) -> Span | None:
        """Return the place of its text, None if it has none."""
        if self.transform.requirements is not None:
            return self.transform.requirements.span
        return self.transform.lines[0].span() if self.transform.lines else None


class Passing(NamedTuple):
    """The transforms for a job, and their result."""

    transforms: tuple[PassedTransform, ...]
    routed: RoutedAd


def passing(table: RoutingTable, configuration: Configuration, route: Route, ad: ClassAd) -> Passing:
    """Return the transforms that a job passes on a route, whether or not the route matches; the ad stays as it is.

    ``configuration`` is that of the table: it says where knobs were set. A transform that fails is the last one.
    """
    seen: list[PassedTransform] = []

    def watch(step: TransformStep) -> None:
        run = step.run
        variables = []
        for name, read in from_outside(step.transform).items():
            setter = _setter(seen, configuration, run, name)
            at = read.span.text.lower().find(name)
            shown = read.span.text[at : at + len(name)] if at >= 0 else name
            variables.append(PassedVariable(shown, _value(run, name), read.default, setter, read.span))
        seen.append(PassedTransform(step.position, step.transform, step.is_applied, tuple(variables)))

    return Passing((), apply_route(table, route, ad, watch=watch))._replace(transforms=tuple(seen))


def _value(run: TransformRun, name: str) -> str | None:
    raw = run.lookup(name)
    try:
        return run.expand(raw).strip() if raw else None
    except MacroError:
        return raw


def _setter(seen: list[PassedTransform], configuration: Configuration, run: TransformRun, name: str) -> Setter | None:
    """Return who set a variable: the last transform before that did, else the configuration."""
    if name in run.macros:
        for passed in reversed(seen):
            lines = [line for line in passed.transform.lines if defined_by(line) == name] if passed.is_applied else []
            if lines:
                kind = "route" if passed.position == "route" else "transform"
                return Setter(kind, passed.transform.name, lines[-1].span())
    knob = configuration.find(name)
    if knob is not None and knob.text:
        return Setter("default" if knob.is_default else "knob", knob.name, knob.span)
    return Setter("default", name) if run.lookup(name) else None
