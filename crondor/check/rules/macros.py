"""CRN54..: macros that nobody defines, and values that are replaced before a job has them."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.check.crontab import NAMES as CRON_NAMES
from crondor.check.given import is_same
from crondor.check.macros import MacroUse
from crondor.check.rule import MANY, Fix, RuleHit, TextEdit, rule
from crondor.check.subject import CheckedFile
from crondor.diagnostics import Severity, similar
from crondor.knowledge import submit_commands, submit_macros
from crondor.knowledge.slips import one_slip
from crondor.source import Span

_FIELDS = frozenset(name for names in CRON_NAMES.values() for name in names)
_REQUESTS = {f"request_{what}": f"my.request{what}" for what in ("cpus", "disk", "gpus", "memory")}
_LIKENESS = 0.8
_SHORTEST, _LONG = 3, 5  # letters of a name of which another one may be a misprint; of one that hardly is by chance
_MOST = 20  # names of one file that are compared with all others


@rule("CRN540", "macro-undefined", Severity.WARNING, "a macro that is used and nowhere defined", misses=True, most=MANY)
def undefined_macro(file: CheckedFile) -> Iterator[RuleHit]:
    """condor_submit puts nothing in the place of a macro that is not defined, without a word."""
    if file.macros is None or not file.is_whole or file.errors:
        return  # a queue statement with a fault may be what defines them
    for number, use in enumerate(file.macros.unknown):
        close = (_close(use.name, file) or _loop(use, file)) if number < _MOST else None
        message = f"{use.span.text} is nowhere defined: condor_submit puts nothing there"
        if close is None and use.key in _FIELDS and use.is_alone:
            continue  # CRN109 speaks of the field that is empty then
        if close is None:
            help_text = "define it, or write $(NAME:default), unless a DAG's VARS or condor_submit NAME=value gives it"
            yield RuleHit(message, use.span, help_text.replace("NAME", use.name), severity=Severity.NOTE)
        else:
            yield RuleHit(message, use.span, f"did you mean $({close})?", _renamed(use, close, file))
    for use in file.macros.late:
        message = f"{use.span.text} is defined behind the queue statement only: condor_submit puts nothing there"
        yield RuleHit(message, use.span, "move the definition before the queue statement")


@rule("CRN541", "value-lost", Severity.WARNING, "a value that another one replaces before any job has it", most=MANY)
def value_lost(file: CheckedFile) -> Iterator[RuleHit]:
    """The last definition before a queue statement counts; what stood there before it has no effect."""
    for lost in file.submit.lost if file.submit is not None else ():
        name = file.submit.name(lost.key) if file.submit is not None else None
        shown = name.text if name is not None else lost.key
        line = lost.later.span.line
        message = f"{shown} is set again at line {line}, before any job has this value"
        is_macro = not lost.key.startswith("my.") and lost.key not in submit_commands()
        grave = Severity.NOTE if is_macro else None  # who builds a value up knows what he does
        yield RuleHit(message, lost.earlier.span, "remove one of the two lines", severity=grave)
    yield from _overridden(file)


def _overridden(file: CheckedFile) -> Iterator[RuleHit]:
    """Yield requests beside the attribute that is made of them: what stands behind a plus goes into the job last."""
    told: set[Span] = set()
    for job in file.given.jobs:
        for key, own in _REQUESTS.items():
            value, other = job.first(key), job.first(own)
            if value is None or other is None or value.span in told or is_same(value, other):
                continue
            told.add(value.span)
            name = file.submit.name(own) if file.submit is not None else None
            shown = name.text if name is not None else own
            message = f"{shown} = {other.text[:40]} at line {other.span.line} takes the place of this value"
            yield RuleHit(message, value.span, "remove one of the two lines")


def _close(name: str, file: CheckedFile) -> str | None:
    """Return the macro that a misprint means, in the way the file writes it.

    Short names are alike by chance: they count where what is meant is used nowhere else.
    """
    if file.submit is None or file.macros is None:
        return None
    provided, own = _provided(), sorted(file.macros.defined)
    near = [other for other in (*own, *provided) if one_slip(name, other)] or similar(name[:40], own, _LIKENESS)
    near = [other for other in near if len(name) >= _LONG or (len(name) >= _SHORTEST and other not in file.macros.used)]
    if not near:
        return None
    written = file.submit.name(near[0])
    return written.text if written is not None else provided.get(near[0], near[0])


def _loop(use: MacroUse, file: CheckedFile) -> str | None:
    """Return the variable of the queue statement that nobody uses, where nothing else can be meant."""
    if file.submit is None or file.macros is None or len(file.macros.unknown) > 1 or len(file.submit.queues) != 1:
        return None
    variables = file.submit.queues[0].arguments.variables
    idle = [name for name in variables if name not in file.macros.used and name != "item"]
    return idle[0] if len(idle) == 1 and use.key else None


def _provided() -> dict[str, str]:
    """Return the macros that HTCondor provides, by their lower-case names."""
    return {name: macro.name for name, macro in submit_macros().items() if not macro.arguments}


def _renamed(use: MacroUse, close: str, file: CheckedFile) -> Fix | None:
    text = use.span.text
    if use.span.source is not file.source or not text.lower().endswith(f"({use.name})"):
        return None
    place = use.span.part(len(text) - 1 - len(use.name), len(text) - 1)
    return Fix(f"write {close}", (TextEdit(place, close),), safe=False)
