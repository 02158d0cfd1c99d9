"""What is done with a text. Each function returns what came of it; whatever it raises beyond our errors is a fault."""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timezone
from random import Random

from crondor.classad import (
    ClassAd,
    Context,
    Expression,
    Format,
    Order,
    ReadMode,
    UnparseForm,
    detect,
    print_ad,
    print_value,
    read_ad,
    read_ads,
)
from crondor.compile.meaning import read_schedule
from crondor.compile.walls import InvalidSchedule
from crondor.diagnostics import CrondorError, Diagnostic, Source
from crondor.submit import InvalidSubmit, job_ads, read_submit
from crondor.transform import RuleSource as RulesForm
from crondor.transform import Transform, TransformFacts

_CONTEXT = Context(now=1_700_000_000)
_MY = ClassAd.of_texts(
    {
        "a": "1",
        "b": "a + x",
        "c": "[ a = 2; b = parent.a; c = MY.a ]",
        "d": "{ 1, a, c, undefined }",
        "l": "{ c, c }",
        "n": "c.b",
        "s": '"a,b"',
        "t": "absTime(0)",
        "x": "TARGET.x",
        "y": "x",
        "Requirements": "TARGET.a >= a",
    }
)
_TARGET = ClassAd.of_texts({"a": "MY.s", "x": "5", "y": "TARGET.y", "c": "MY.c", "s": '"^a.*"', "q": "1.5"})
_PIECES = (1, 7, 4096)
_MOST_JOBS = 300  # of a submit description that are looked at one by one
_MOST = 20  # ads of a text that are printed in all forms
_AS_HTCONDOR = re.compile(r'absTime\(\\?"|:-?nan\\?"|relTime\(\\?"-?[0-9]+\+-|[0-9]\.[^0-9]')
"""What HTCondor prints too, and reads back as something else: times beyond its integers, a number before a dot."""


class Wrong(AssertionError):
    """An answer contradicts another one."""


def _expression(text: str, _: Random) -> str:
    return _printed(Expression(text))


def _old(text: str, _: Random) -> str:
    return _printed(Expression.parse(Source(text, "fuzz"), old=True, partial=len(text) % 2 == 0))


def _printed(found: Expression) -> str:
    """Print in every form; what is printed is read again, and after that stays as it is."""
    found.unparse(UnparseForm.OLD)
    if _AS_HTCONDOR.search(found.unparse()):
        return "read"
    for form in (UnparseForm.COMPACT, UnparseForm.PRETTY):
        again = Expression(Expression(found.unparse(form)).unparse(form))
        if Expression(again.unparse(form)).unparse(form) != again.unparse(form):
            raise Wrong("a text that is printed and read prints differently each time")
    return "read"


def _evaluate(text: str, _: Random) -> str:
    expression = Expression(text)
    _look(expression.references)
    _look(expression.flatten)
    explanation = expression.explain(_MY, _TARGET, _CONTEXT)
    explanation.reason()
    sum(map(len, explanation.lines()))
    expression.holds(_TARGET, _MY, _CONTEXT)
    value = expression.evaluate(_MY, _TARGET, _CONTEXT)
    print_value(value)
    holder = _MY.copy()
    holder["value"] = expression
    holder.python("value", _TARGET, _CONTEXT)
    return "value"


def _detect(text: str, _: Random) -> str:
    return detect(text).value


def _ads(text: str, dice: Random) -> str:
    """Read in a mode, whole and in pieces, print in every form, and read again what was printed."""
    mode = dice.choice(list(ReadMode))
    form = dice.choice([None, None, detect(text), *Format])
    size = dice.choice(_PIECES)
    pieces = [text[at : at + size] for at in range(0, len(text), size)] if len(text) < 100_000 else [text]
    faults: list[Diagnostic] = []
    reported = list(read_ads(pieces, form, mode, name="fuzz", report=faults.append))
    str(CrondorError(faults))
    texts = [_texts(ad) for ad in reported]  # as they stand: who evaluates an attribute has it printed anew
    for ad in reported[:_MOST]:
        _evaluated(ad)
        _print(ad, mode)
    try:
        found = list(read_ads(text, form, mode))
    except CrondorError:
        if not faults and mode is not ReadMode.DAEMON:
            raise Wrong("an error where the report says nothing") from None
        raise
    if faults:
        raise Wrong(f"the report says {faults[0].message!r}, and nothing is raised")
    if mode is ReadMode.STRICT and list(read_ads(text, form, ReadMode.LAZY)) != found:
        raise Wrong("read lazily the text has different ads")
    if [_texts(ad) for ad in found] != texts:
        raise Wrong("whole and in pieces the text has different ads")
    return f"{mode.value} ads" if found else "no ad"


def _evaluated(ad: ClassAd) -> None:
    """Evaluate some attributes."""
    for name in list(ad)[:5]:
        with suppress(CrondorError):
            print_value(ad.value(name, _TARGET, _CONTEXT))
            ad.python(name, _TARGET, _CONTEXT)


def _texts(ad: ClassAd) -> list[tuple[str, str]]:
    return [(name, ad.text(name)) for name in ad]


def _print(ad: ClassAd, mode: ReadMode) -> None:
    """Print an ad in every form; a strictly read one can be printed, and read from all but ``-long``."""
    ad.copy().flat()
    for form in Format:
        try:
            text = print_ad(ad, form, Order.NAME)
        except CrondorError as error:
            if mode is ReadMode.STRICT:
                raise Wrong(f"a strictly read ad cannot be printed as {form.value}") from error
            continue
        if form in (Format.JSON, Format.JSON_LINES):
            json.loads(text)
        if form is not Format.LONG and mode is ReadMode.STRICT and not _AS_HTCONDOR.search(text):
            try:
                read_ad(text, form)
            except CrondorError as error:
                raise Wrong(f"a printed ad cannot be read as {form.value}: {error}") from error


def _look(into: Callable[[ClassAd], object]) -> None:
    """Take a result or our error, and ask either for its text."""
    try:
        str(into(_MY))
    except CrondorError as error:
        str(error)


def _submit(text: str, dice: Random) -> str:
    """Read a submit description, expand what it assigns, and make its ads: all that may fail says InvalidSubmit."""
    environ = {"HOME": "/home/alice", "A": "b c"} if dice.random() < 0.8 else None
    try:
        file = read_submit(Source(text, "fuzz"), environ=environ, now=1_700_000_000, zone=timezone.utc, seed=1)
        with suppress(InvalidSubmit):
            sum(group.count for group in file.groups(file.keys[:50], _MOST_JOBS))
        made = sum(len(each.ad) > 0 for each in job_ads(file, limit=_MOST_JOBS))
    except CrondorError as error:
        if not isinstance(error, InvalidSubmit):
            raise Wrong(f"{error.__class__.__name__} instead of InvalidSubmit: {error}") from error
        raise
    return "ads" if made else "none"


def _transform(text: str, dice: Random) -> str:
    """Compile rules, apply them and take it all back; a knob's text is cut into lines by other rules."""
    form = dice.choice(list(RulesForm))
    facts = TransformFacts({"KNOB": "5"}, environ={"A": "b c"}, context=_CONTEXT)
    transform = Transform.parse(Source(text, "fuzz"), form=form, facts=facts, strict=False)
    result = transform.apply(_JOB, facts, trace=True)
    for outcome in result.outcomes[:_MOST]:
        if outcome.ad is not None:
            outcome.ad.print(Format.LONG)
            if outcome.changes.undo(outcome.ad.copy()).print(Format.NEW) != _JOB.print(Format.NEW):
                raise Wrong("undone, the ad is another one")
    return "failed" if result.failed else "ads"


_JOB = ClassAd.of_texts({"A": "5", "B": '"two words"', "C": "A + 1", "Owner": '"alice"', "TransferErr": "{ 1,A }"})


def _schedule(text: str, _: Random) -> str:
    """Read a schedule; what is read answers, and its sentence is one line."""
    try:
        found = read_schedule(text, zone="Europe/Berlin", start=1_796_083_200, name="fuzz")
    except InvalidSchedule as error:
        if any(each.span is None or each.help is None for each in error.diagnostics):
            raise Wrong("a fault without its place or cure") from error
        str(error)
        return "InvalidSchedule"
    first, last = found.next(1_796_083_200), found.previous(1_796_083_200)
    for instant in (first, last):
        if instant is not None and not found.matches(instant):
            raise Wrong("an answer that is not in the set")
    if "\n" in found.words or not found.words:
        raise Wrong("no sentence")
    return "read"


TARGETS: Mapping[str, Callable[[str, Random], str]] = {
    "expression": _expression,
    "old": _old,
    "evaluate": _evaluate,
    "ads": _ads,
    "detect": _detect,
    "submit": _submit,
    "transform": _transform,
    "schedule": _schedule,
}
