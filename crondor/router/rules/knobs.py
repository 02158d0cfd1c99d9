"""CRN60.: the configuration as a whole, and its knobs."""

from __future__ import annotations

from collections.abc import Iterator

from crondor.check.rule import Rule, RuleHit, rule
from crondor.config.entrypoint import OPTIONAL_TRANSFORMS
from crondor.diagnostics import Severity
from crondor.router.rules.reported import said, told
from crondor.router.rules.subject import CheckedTable
from crondor.router.table.knobs import SettingsReader
from crondor.router.table.loading import AFTER, BEFORE, NAMES, ROUTE, TRANSFORM, is_misspelt_list

# What keeps the value of a knob from being one, beside its own faults.
_UNREADABLE = ("classad-syntax", "macro-cycle", "macro-depth", "macro-size", "macro-work")


@rule("CRN601", "config-refused", Severity.ERROR, "a line over which HTCondor stops reading its configuration")
def _refused(table: CheckedTable) -> Iterator[RuleHit]:
    """One bad line keeps every daemon and every tool that reads the file from starting."""
    for each in table.configuration.diagnostics:
        if each.severity is Severity.ERROR:
            yield RuleHit(each.message, each.span, each.help)


@rule("CRN609", "unlisted", Severity.WARNING, "a route or a transform that no list names")
def _unlisted(table: CheckedTable) -> Iterator[RuleHit]:
    """Only what the lists name is loaded; HTCondor says nothing of the rest, and HTCondor-CE brings some to choose."""
    took = table.configuration
    for prefix, lists, optional in ((ROUTE, (NAMES,), ()), (TRANSFORM, (BEFORE, AFTER), OPTIONAL_TRANSFORMS)):
        listed = {name.lower() for each in lists for name in _names(table, each)}.union(optional)
        for key, knob in took.knobs.items():
            begin = prefix.lower()
            name = key.removeprefix(f"{took.subsystem.lower()}.")
            if name.startswith(begin) and name not in _LISTS and name[len(begin) :] not in listed:
                meant = f"did you mean {lists[0]}?" if is_misspelt_list(knob.name) else f"add it to {lists[0]}"
                yield RuleHit(f"no list names {knob.name}: it has no effect", knob.name_span, meant)


@rule("CRN606", "bad-knob", Severity.ERROR, "a knob with a value over which the router gives up")
def _bad(table: CheckedTable) -> Iterator[RuleHit]:
    """A value of the wrong type, outside of its range, or whose macros cannot be replaced."""
    yield from told(table.table.diagnostics[len(table.configuration.diagnostics) :], "CRN606", _UNREADABLE)


def _names(table: CheckedTable, name: str) -> tuple[str, ...]:
    return SettingsReader(table.configuration).names(name)


_LISTS = frozenset(name.lower() for name in (NAMES, BEFORE, AFTER))

KNOB_RULES: tuple[Rule[CheckedTable], ...] = (
    _refused,
    said(
        "CRN602",
        "config-unread",
        Severity.WARNING,
        "a part of the configuration that HTCondor reads and crondor does not",
    ),
    said("CRN603", "config-odd", Severity.WARNING, "a line of the configuration that is read otherwise than meant"),
    said("CRN604", "unknown-knob", Severity.WARNING, "a knob that no job router looks at"),
    said("CRN605", "removed-knob", Severity.WARNING, "a knob that HTCondor 25 took out"),
    _bad,
    said("CRN607", "no-routes", Severity.ERROR, "a configuration without a list of routes"),
    said("CRN608", "bad-transform", Severity.ERROR, "a transform around routes that switches routing off"),
    _unlisted,
)
