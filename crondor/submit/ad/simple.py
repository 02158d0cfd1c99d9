"""The commands whose value goes into an attribute as it is: one rule for all of them.

The source is HTCondor 25.14: SubmitHash::do_simple_commands, SetExtendedJobExprs. Whether files are
there is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from crondor.classad import ERROR, UNDEFINED, Format, lower, read_ads
from crondor.knowledge.commands import CommandType, Setting, submit_commands
from crondor.schedule import COMMANDS as SCHEDULING
from crondor.submit.ad import values
from crondor.submit.ad.draft import Draft, shown
from crondor.submit.ad.knobs import SubmitKnobs

_UNQUOTED: Final = frozenset((CommandType.BARE, CommandType.BARE_LIST, CommandType.BARE_FILE))
_LISTS: Final = frozenset((CommandType.LIST, CommandType.BARE_LIST))
_FILES: Final = frozenset((CommandType.FILE, CommandType.BARE_FILE))


class Simple(NamedTuple):
    """A command and its attribute; ``alternative``: another spelling of the command before it, looked at without it."""

    command: str
    attribute: str
    type: CommandType
    alternative: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names a value may be given by, in order of precedence."""
        return self.command, self.attribute.lower()


TABLE: Final = tuple(
    Simple(command.name, command.attribute, command.type, command.setting is Setting.ALTERNATIVE)
    for command in submit_commands()
    if command.setting is not Setting.MADE
)

NAMES: Final = frozenset((*SCHEDULING, *(name for simple in TABLE for name in simple.names)))


_PLACES: Final[dict[str, list[int]]] = {}
for _place, _simple in enumerate(TABLE):
    for _name in _simple.names:
        _PLACES.setdefault(_name, []).append(_place)


def set_simple(draft: Draft) -> None:
    """Set the attributes of all simple commands that are given."""
    before = -1
    for place in sorted({place for name in draft.commands for place in _PLACES.get(name, ())}):
        simple = TABLE[place]
        if simple.alternative and before == place - 1:
            continue
        text = draft.command(*simple.names)
        if text is not None:
            before = place
            _set(draft, simple, text)


def extended(knobs: SubmitKnobs) -> Iterator[Simple]:
    """Yield the commands that the administrator has added (EXTENDED_SUBMIT_COMMANDS), each under its attribute's name.

    They are spelled as there, which is how HTCondor names them in its errors. The value of each in the configuration
    says what it must be; one of undefined is no command.
    """
    text = knobs.get("EXTENDED_SUBMIT_COMMANDS")
    if text is None:
        return
    for ad in read_ads(text, Format.LONG, report=lambda _: None):
        for name, expression in ad.items():
            found = values.literal(expression.tree)
            kind = CommandType.EXPRESSION if found is None else _kind(found.value)
            if kind is not None:
                yield Simple(name, name, kind)


def _kind(value: object) -> CommandType | None:
    """Return how a value is read that must be like another one; None for what is no command."""
    kind: CommandType | None = CommandType.EXPRESSION
    if value is UNDEFINED or value is ERROR:
        kind = None if value is UNDEFINED else CommandType.DISABLED
    elif isinstance(value, bool):
        kind = CommandType.BOOLEAN
    elif isinstance(value, int):
        kind = CommandType.INTEGER if value < 0 else CommandType.COUNT
    elif isinstance(value, str):
        is_file = lower(value).startswith("file")
        kind = CommandType.BARE_LIST if "," in value else CommandType.BARE_FILE if is_file else CommandType.BARE
    return kind


def set_extended(draft: Draft) -> None:
    """Set the attributes of the commands that the administrator has added."""
    for simple in extended(draft.knobs):
        text = draft.command(*simple.names)
        if text is not None:
            _set(draft, simple, text)


def _set(draft: Draft, simple: Simple, text: str) -> None:
    kind = simple.type
    if kind is CommandType.EXPRESSION:
        draft.copy_expression(simple.attribute, *simple.names)
    elif kind is CommandType.DISABLED:
        message = f"{simple.attribute}={shown(text)} has been disabled by the administrator."
        page = draft.knobs.get("EXTENDED_SUBMIT_HELPFILE")
        instead = "remove it" if page is None else f"remove it; the pool's own commands are explained in {page}"
        draft.fault("submit-disabled", draft.written(*simple.names) or "", message, instead)
    elif kind is CommandType.BOOLEAN:
        flag = draft.flag(*simple.names)
        if flag is not None:
            draft.set(simple.attribute, flag)
    elif kind is CommandType.INTEGER or kind is CommandType.COUNT:
        number = draft.integer(*simple.names)
        if number is not None and number < 0 and kind is CommandType.COUNT:
            draft.refuse(simple.names, text, "must eval to a non-negative integer", "write an integer from 0 up")
        elif number is not None:
            draft.set(simple.attribute, number)
    else:
        draft.set(simple.attribute, _string(draft, kind, text))


def _string(draft: Draft, kind: CommandType, text: str) -> str:
    text = values.unquoted(text) if kind in _UNQUOTED else text
    if kind in _FILES and text:
        return draft.path(text)
    return ",".join(values.words(text)) if kind in _LISTS else text
