"""CRN512, CRN316: attributes that the author writes out himself, and hardly means."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from crondor.check.rule import Fix, RuleHit, TextEdit, rule
from crondor.check.subject import CheckedFile
from crondor.diagnostics import Severity

_OWN: Final = "my."
_LONG_ENOUGH: Final = 8  # letters from which on a name that is one slip from another is hardly the author's own


@rule("CRN512", "own-attribute", Severity.WARNING, "an attribute whose name is one slip from one that HTCondor reads")
def own_attribute(file: CheckedFile) -> Iterator[RuleHit]:
    """Any name will do behind a plus: a misspelt one becomes an attribute that nobody reads."""
    keys = file.submit.keys if file.submit is not None else ()
    own = [key for key in keys if key.startswith(_OWN) and len(key) >= len(_OWN) + _LONG_ENOUGH]
    if file.submit is None or not own:
        return
    from crondor.knowledge.attributes import job_attributes, machine_attributes  # noqa: PLC0415 - 2 ms, and few files have any

    for key in own:
        name = key.removeprefix(_OWN)
        if job_attributes().is_one(name) or machine_attributes().is_one(name) or _is_read(file, name):
            continue
        near = next(iter(job_attributes().near(name)), None)
        span = file.submit.name(key)
        if near is None or span is None:
            continue
        shown = span.text
        written = shown[: len(shown) - len(name)]
        fix = Fix(f"write {written}{near.name}", (TextEdit(span, f"{written}{near.name}"),), safe=False)
        message = f"{shown} becomes an attribute that HTCondor does not read"
        is_here = span.source is file.source
        yield RuleHit(message, span, f"did you mean {written}{near.name}?", fix if is_here else None)


@rule("CRN316", "refers-to-itself", Severity.ERROR, "an attribute of the job that refers to itself")
def circle(file: CheckedFile) -> Iterator[RuleHit]:
    """HTCondor takes such a reference for undefined: Requirements with one never match."""
    for each in () if file.made is None else file.made.circles:
        yield RuleHit(each.message, each.span, each.help, severity=each.severity)


def _is_read(file: CheckedFile, name: str) -> bool:
    """Say whether the file itself refers to an attribute that it writes out."""
    return len(re.findall(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", file.source.text, re.IGNORECASE)) > 1
