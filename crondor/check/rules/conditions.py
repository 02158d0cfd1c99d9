"""CRN55..: expressions that condor_submit refuses for an operator, or takes and that never, or always, hold.

Each rule looks for something only where the description has expressions at all: the engine is loaded for them then.
"""

from __future__ import annotations

from collections.abc import Iterator

from crondor.check.given import LONGEST, OF_GPUS
from crondor.check.policy_names import POLICIES
from crondor.check.rule import MANY, RuleHit, rule
from crondor.check.subject import CheckedFile
from crondor.diagnostics import Severity


@rule("CRN550", "operator", Severity.ERROR, "an operator that ClassAds do not have", most=MANY)
def operator(file: CheckedFile) -> Iterator[RuleHit]:
    """A condition is written with ==, &&, || and !; a single = compares nothing, and condor_submit refuses it."""
    yield from (each.hit for each in file.unread if each.code == "CRN550" and each.value.key not in POLICIES)


@rule("CRN551", "unquoted", Severity.WARNING, "a word without quotes: an attribute that no ad has", most=MANY)
def unquoted(file: CheckedFile) -> Iterator[RuleHit]:
    """A word is the name of an attribute, and one that is not there is undefined; a string stands in double quotes."""
    if file.written:
        from crondor.check.naming import unquoted as found  # noqa: PLC0415 - with the engine, which few files need

        for each in file.written:
            yield from found(each, file)


@rule(
    "CRN552",
    "misspelt-attribute",
    Severity.WARNING,
    "an attribute whose name is one letter from a known one",
    most=MANY,
)
def misspelt_attribute(file: CheckedFile) -> Iterator[RuleHit]:
    """An attribute that neither the job nor the machine has is undefined, and so is most of what asks for it."""
    if file.written:
        from crondor.check.naming import misspelt  # noqa: PLC0415 - with the engine, which few files need

        for each in file.written:
            yield from misspelt(each, file)
    for value in file.given.of(OF_GPUS):
        from crondor.check.naming import misspelt_property  # noqa: PLC0415 - with the engine
        from crondor.check.written import WrittenExpression, parsed  # noqa: PLC0415 - with the engine

        if value.text and len(value.text) <= LONGEST:
            yield from misspelt_property(WrittenExpression(value, parsed(value.text)), file)


@rule("CRN553", "never-true", Severity.WARNING, "a comparison that no machine and no job can meet", most=MANY)
def never_true(file: CheckedFile) -> Iterator[RuleHit]:
    """What no machine has, or compares a number with a string, is never true; as a part of && nothing is."""
    if file.written:
        from crondor.check.comparing import never  # noqa: PLC0415 - with the engine, which few files need

        for each in file.written:
            yield from never(each, file.own_attributes)


@rule("CRN554", "always-true", Severity.WARNING, "unequal or unequal: a condition that excludes nothing", most=MANY)
def always_true(file: CheckedFile) -> Iterator[RuleHit]:
    """`A != x || A != y` holds for every A: what is not x is taken, and x itself is not y."""
    if file.written:
        from crondor.check.comparing import always  # noqa: PLC0415 - with the engine, which few files need

        for each in file.written:
            yield from always(each)


@rule("CRN555", "no-function", Severity.WARNING, "a function that HTCondor does not have", most=MANY)
def no_function(file: CheckedFile) -> Iterator[RuleHit]:
    """condor_submit takes any name before a parenthesis; what it is to call is looked for when the job is matched."""
    if file.written:
        from crondor.check.naming import functions  # noqa: PLC0415 - with the engine, which few files need

        for each in file.written:
            yield from functions(each, file)
