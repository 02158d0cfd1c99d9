"""`crondor classad transform`: apply rules in HTCondor's transform language to ads."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click

from crondor.classad.ad import ClassAd, Place
from crondor.classad.formats import Format, Order
from crondor.classad.formats.reading import Frame, frame_of, print_among
from crondor.classad.scope import Context
from crondor.config import InvalidConfig
from crondor.diagnostics import Diagnostic, Severity, printable
from crondor.knowledge.kinds import FileKind
from crondor.macro.files import Files
from crondor.transform import TraceStep, TransformFacts, TransformOutcome, transform_ads
from crondor.transform.compiled import MOST_ADS
from crondor.transform.loading import JOB_ROUTE, JOB_TRANSFORM, Rules, new_warnings
from crondor_cli.kit.ads import AdFindings, Report, SharedAds, byte_chunks, lenient_option, mode_of, name_of
from crondor_cli.kit.command import Command, with_default
from crondor_cli.kit.configs import load_config
from crondor_cli.kit.files import FileProblem, check_stdin, open_given, read_source, refuse_overwriting, write_texts
from crondor_cli.kit.options import Clock, ConfigFiles, clock_options, config_options, include_option, output_option
from crondor_cli.kit.parallel import sharing_options
from crondor_cli.kit.screen import say

EXAMPLE = """\
echo 'SET Site "A"' > site.rules
echo 'ClusterId = 1' | crondor classad transform --rules site.rules"""

EPILOG = """\b
Examples:
  crondor classad transform --rules site.rules jobs.ads
  condor_q -long | crondor classad transform --rules one.rules \\
      --rules two.rules --format json
  crondor classad transform --rules site.rules jobs.ads --diff
  crondor classad transform --rules site.rules jobs.ads --trace > new.ads
  crondor classad transform --config 50-site.conf \\
      --job-transform Accounting jobs.ads
  crondor classad transform --rules site.rules -D queue=long \\
      monday.ads tuesday.ads

Rules are applied as condor_transform_ads of HTCondor 25.14 applies them: --rules first, then --job-transform, then
--job-route. Ads are written as they are transformed: the input may be of any length. Long input is shared among
processes (--jobs), with the same output in the same order; ads in forms other than -long, or with --lenient, are read
by one process.

Exit status: 0 every command succeeded; 1 rules with a fault, an ad that cannot be read, a transform that failed, or
a command that failed; 2 wrong usage."""

_MANY = 1 << 16  # characters written at once
_FORMS = [form.value for form in Format]


@click.command("transform", cls=Command, example=EXAMPLE, epilog=EPILOG)
@click.argument("ads", metavar="[ADS]...", nargs=-1)
@click.option(
    "--rules",
    metavar="FILE",
    multiple=True,
    help="Rules, - for standard input; several files are applied in their order.",
)
@output_option("Where to write the new ads; - prints them.")
@click.option("--from", "from_", type=click.Choice(_FORMS), help="The form of the ads (default: by their beginning).")
@with_default("--format", Format.LONG.value, "The form of the new ads.", click.Choice(_FORMS), name="format_")
@with_default(
    "--order",
    Order.NAME.value,
    "The order of attributes: by name as HTCondor's tools print them, HTCondor's own, or as they were read.",
    click.Choice([order.value for order in Order]),
)
@click.option("--diff", is_flag=True, help="Print the changes of each ad instead of the ad.")
@click.option("--trace", is_flag=True, help="Print the effect of each line of the rules on stderr.")
@config_options
@click.option("--job-transform", metavar="NAMES", multiple=True, help="The knobs JOB_TRANSFORM_<name> of --config.")
@click.option("--job-route", metavar="NAME", multiple=True, help="The knob JOB_ROUTER_ROUTE_<name> of --config.")
@click.option("-D", "--define", metavar="NAME=VALUE", multiple=True, help="A macro that is defined before the rules.")
@with_default("--seed", 0, "The seed of $RANDOM_CHOICE().", int, metavar="N")
@with_default(
    "--max-ads", MOST_ADS, "The most ads that a TRANSFORM may make of each ad.", click.IntRange(1), metavar="N"
)
@include_option
@clock_options
@lenient_option
@sharing_options
def command(
    ads: tuple[str, ...],
    rules: tuple[str, ...],
    out: str,
    from_: str | None,
    format_: str,
    order: str,
    diff: bool,
    trace: bool,
    config: ConfigFiles,
    job_transform: tuple[str, ...],
    job_route: tuple[str, ...],
    define: tuple[str, ...],
    seed: int,
    max_ads: int,
    clock: Clock,
    lenient: bool,
    jobs: int | None,
    allow_dirs: tuple[str, ...],
) -> None:
    """Apply transform rules to the ads of the files ADS; - or no file is standard input."""
    if not rules and not job_transform and not job_route:
        raise click.UsageError("no rules: give a file with --rules, or knobs with --job-transform or --job-route")
    paths = ads or ("-",)
    check_stdin(*paths, *rules, *config.paths)
    for path in paths:  # before the first ad is written
        if path != "-" and (reason := _why_not(path)):
            raise FileProblem(f"cannot read '{printable(path)}': {reason}")
    refuse_overwriting(out, (*paths, *rules, *config.paths))
    context = Context(now=clock.now, zone=clock.zone, seed=seed)
    folder = str(Path.cwd())
    files = Files([folder, *(str(Path(path).resolve().parent) for path in rules)], base=folder)
    findings = AdFindings()
    needs_config = config != ConfigFiles() or (bool(job_transform or job_route) and not rules)
    knobs = _knobs(config, allow_dirs, context, findings) if needs_config else {}
    loaded = Rules(TransformFacts(knobs, environ=os.environ, context=context, files=files))
    try:
        _load(loaded, rules, job_transform, job_route, define)
    finally:
        findings.add(loaded.diagnostics, counts=False)
    known = {each.message for each in loaded.diagnostics}
    shape = _Shape(None, Order(order)) if diff else _Shape(Format(format_), Order(order))

    def make(read: Iterator[ClassAd], _report: Report) -> Iterator[_Batch]:
        outcomes = transform_ads(loaded.transforms, read, loaded.facts, macros=loaded.macros, trace=trace, most=max_ads)
        return _batches(outcomes, shape, known)

    form = None if from_ is None else Format(from_)
    shared = SharedAds(make, mode_of(lenient))
    parts = (part for path in paths for part in shared.parts(byte_chunks(path), name_of(path), form))
    with closing(shared.made(parts, lambda found: findings.add([found]), jobs)) as batches:
        texts = shape.frame.around(_told(batches, findings))
        try:
            write_texts(texts, out)
        finally:
            findings.end()
    if findings.failed:
        raise click.exceptions.Exit(1)


def _knobs(
    config: ConfigFiles, allow_dirs: tuple[str, ...], context: Context, findings: AdFindings
) -> Mapping[str, str]:
    """Read the configuration and report its faults. Raises CrondorError if HTCondor would not start."""
    configuration = replace(load_config(config, allow_dirs, context), subsystem="XFORM")
    faults = [each for each in configuration.diagnostics if each.severity is Severity.ERROR]
    findings.add((each for each in configuration.diagnostics if each not in faults), counts=False)
    if faults:
        raise InvalidConfig(faults)
    return configuration.texts()


def _load(
    loaded: Rules, files: tuple[str, ...], knobs: tuple[str, ...], routes: tuple[str, ...], define: tuple[str, ...]
) -> None:
    """Load all rules given on the command line. Raises CrondorError and UsageError."""
    for each in define:
        name, sign, value = each.partition("=")
        if not sign:
            raise click.UsageError(f"--define {printable(each)}: write NAME=VALUE")
        loaded.define(name.strip(), value.strip())
    for path in files:
        loaded.add_file(read_source(path, FileKind.RULES))
    for names in knobs:
        loaded.add_knobs(JOB_TRANSFORM, names)
    for name in routes:
        loaded.add_knobs(JOB_ROUTE, name)
    loaded.finish()


def _why_not(path: str) -> str:
    """Return why a file cannot be read, empty if it can."""
    try:
        open_given(path).close()
    except (OSError, ValueError) as error:
        return (error.strerror if isinstance(error, OSError) else None) or str(error)
    return ""


class _Shape(NamedTuple):
    """How to print an outcome: as an ad of a form, or as its changes (None)."""

    form: Format | None
    order: Order

    @property
    def frame(self) -> Frame:
        """The text around and between the ads."""
        return Frame() if self.form is None else frame_of(self.form)

    def printed(self, outcome: TransformOutcome, ad: ClassAd) -> str:
        """Return the text of an outcome."""
        return _diff(outcome) if self.form is None else print_among(ad, self.form, self.order)


class _Said(NamedTuple):
    """The messages about an outcome."""

    place: Place | None
    applied: tuple[str, ...]
    trace: tuple[TraceStep, ...]
    diagnostics: tuple[Diagnostic, ...]


class _Batch(NamedTuple):
    """Consecutive outcomes: number, text, and messages about the last; ``failed``: that has no ad, and is the end."""

    outcomes: int
    text: str | None
    said: _Said | None = None
    failed: bool = False


def _batches(outcomes: Iterator[TransformOutcome], shape: _Shape, known: Container[str]) -> Iterator[_Batch]:
    """Yield outcomes as texts, combining those without messages; ``known`` messages were shown."""
    between = shape.frame.between
    texts: list[str] = []
    size = 0
    try:
        for outcome in outcomes:
            before, ad, applied, diagnostics, trace = outcome
            if ad is not None and (circles := new_warnings(before, ad, known)):
                diagnostics = (*diagnostics, *circles)
            plain = ad is not None and not diagnostics and not trace
            if (not plain or size >= _MANY) and texts:
                yield _Batch(len(texts), between.join(texts))
                texts, size = [], 0
            text = None if ad is None else shape.printed(outcome, ad)
            if plain and text is not None:
                texts.append(text)
                size += len(text)
            else:
                yield _Batch(1, text, _Said(before.place, applied, trace, diagnostics), failed=text is None)
    except Exception:  # earlier outcomes are written first
        if texts:
            yield _Batch(len(texts), between.join(texts))
        raise
    if texts:
        yield _Batch(len(texts), between.join(texts))


def _told(batches: Iterator[_Batch], findings: AdFindings) -> Iterator[str]:
    """Yield the texts, and print actions and faults on stderr; end after a failed outcome."""
    number = 0
    for outcomes, text, said, failed in batches:
        number += outcomes
        if said is not None:
            where = "" if said.place is None else printable(f" of {said.place.name}:{said.place.line}")
            if said.trace:
                say(f"# ad {number}{where}: {printable(', '.join(said.applied))}", err=True)
                for step in said.trace:
                    say(printable(str(step)), err=True)
            findings.add(said.diagnostics)
            if failed:
                say(f"Transform of ad {number}{where} failed!", err=True)
        if text is not None:
            yield text
        if failed:
            return


def _diff(outcome: TransformOutcome) -> str:
    """Return the changes of an ad, with the old text of an attribute before the new one."""
    place = outcome.before.place
    lines = [f"@@ {'ad' if place is None else f'{place.name}:{place.line}'} @@"]
    for change in outcome.changes:
        lines += [sign + line for sign, line in zip("-+", change.lines, strict=True) if line is not None]
    return "\n".join(map(printable, lines)) + "\n"
