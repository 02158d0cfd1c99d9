"""The words of include and use statements, and the templates that a use statement names.

HTCondor: parse_include_options, MetaKnobAndArgs::init_from_string.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from crondor.macro.errors import Budget
from crondor.macro.expand import expand_self
from crondor.macro.lines import BLANKS

# Few texts include others: these are compiled when one does.
_ARGUMENT = r"\$\(([0-9]+)(?![0-9])([?#+]?)(:?)"
_PLAIN = r"[^()]*"
_MACRO = r"\$\(([A-Za-z0-9_./]+)"
_MOST_NAMES = 1000


class Include(NamedTuple):
    """An include statement: ``may_miss`` is ifexist, ``into`` where the output of a command would be kept."""

    is_command: bool = False
    may_miss: bool = False
    into: str = ""


def parse_include(words: str) -> Include | None:
    """Read the words between ``include`` and its colon, whose case matters; None for others than HTCondor knows.

    include_words = ("ifexist" | "ifexists")? (("command" | "output") ("into" word)?)?
    """
    rest = words.split()
    made = Include()
    if rest[:1] in (["ifexist"], ["ifexists"]):
        made, rest = made._replace(may_miss=True), rest[1:]
    if not rest:
        return made
    if rest[0] not in {"output", "command"}:
        return None
    made, rest = made._replace(is_command=True), rest[1:]
    if rest[:1] != ["into"]:
        return made
    return made._replace(into=rest[1]) if len(rest) > 1 else None


class UsedTemplate(NamedTuple):
    """A template that a use statement asks for, with its arguments, None without parentheses."""

    name: str
    arguments: str | None


def parse_uses(text: str) -> list[UsedTemplate]:
    r"""Read what stands behind ``use CATEGORY :``: names with arguments, separated by commas or blanks.

    uses = ("," | template ("(" text ")")?)*
    template = [^, \t\r\n\v\f(]+
    """
    uses: list[UsedTemplate] = []
    closings = _closings(text)
    at = 0
    while (found := re.compile(r"[, \t\r\n\v\f]*([^, \t\r\n\v\f(]+)[ \t\r\n\v\f]*").match(text, at)) is not None:
        at = found.end()
        arguments = None
        if text.startswith("(", at):
            end = closings.get(at, -1)
            arguments = text[at + 1 : end] if end > at else None
            at = max(end, at) + 1
        uses.append(UsedTemplate(found[1], arguments))
    return uses


def _closings(text: str) -> dict[int, int]:
    """Return where each bracket closes that does."""
    closings: dict[int, int] = {}
    opened: list[int] = []
    for found in re.finditer(r"[\[\]()]", text):
        if found[0] in "([":
            opened.append(found.start())
        elif opened:
            closings[opened.pop()] = found.start()
    return closings


def template_text(config: Mapping[str, str], use: UsedTemplate, budget: Budget) -> str | None:
    """Return the text of a template with its arguments in place, None where the configuration has none of that name.

    ``config`` has the knobs by lower-case name. Macros that the configuration defines are replaced, as HTCondor does
    it when it loads the templates; all others are those of the submit file. Raises MacroError.
    """
    known = {name.lower() for name in re.split(r"[, \t\r\n]+", config.get("submit_template_names", "")) if name}
    text = config.get(f"submit_template_{use.name.lower()}")
    if text is None or use.name.lower() not in known or use.name.lower() == "names":
        return None
    for name in list(dict.fromkeys(found.lower() for found in re.findall(_MACRO, text)))[:_MOST_NAMES]:
        value = config.get(name)
        if value is not None:
            text = expand_self(text, name, value, budget)
    return with_arguments(text, use, budget)


def with_arguments(text: str, use: UsedTemplate, budget: Budget) -> str:
    """Return the text of a template with the arguments of its use in place. Raises MacroError.

    HTCondor: expand_meta_args.
    """
    if use.arguments is None and "$(" not in text:
        return text
    given = use.arguments or ""
    budget.spend(len(text) + len(given) * text.count("$("))
    items = list(_items(given))
    closings = [found.start() for found in re.finditer(r"\)", text)]
    ends: dict[int, int] = {}
    parts: list[str] = []
    begin = 0
    for found in re.finditer(_ARGUMENT, text):
        end = _argument_end(text, found.end(), closings, ends, is_default=bool(found[3]))
        if found.start() >= begin and end:
            default = text[found.end() : end - 1] if found[3] else None
            parts += text[begin : found.start()], _argument(given, items, int(found[1][:9]), found[2], default)
            begin = end
    return "".join((*parts, text[begin:]))


def _argument_end(text: str, at: int, closings: list[int], ends: dict[int, int], *, is_default: bool) -> int:
    """Return the end of $(number) from behind its number and sign, 0: it has none; ``ends`` are those known before.

    A default may have one level of parentheses. Without a colon, what stands behind the number and its sign is passed
    over: $(1?60) is $(1?).
    """
    seen: list[int] = []
    end = -1
    while end < 0:
        if at in ends:
            end = ends[at]
            break
        seen.append(at)
        found = re.compile(_PLAIN).match(text, at)
        at = found.end() if found else at
        if text.startswith(")", at):
            end = at + 1
        else:
            number = bisect_right(closings, at) if is_default and text.startswith("(", at) else len(closings)
            end = -1 if number < len(closings) else 0
            at = closings[number] + 1 if number < len(closings) else at
    if is_default:
        ends.update(dict.fromkeys(seen, end))
    return end


def _items(given: str) -> Iterator[tuple[int, str]]:
    """Yield the arguments that are not blank, each with the place where it begins."""
    at = 0
    for item in given.split(","):
        if item.strip(", \t\r\n\v\f"):
            yield at, item
        at += len(item) + 1


def _argument(given: str, items: Sequence[tuple[int, str]], number: int, suffix: str, default: str | None) -> str:
    """Return what ``$(number)`` of a template stands for: 0 is all arguments, ``+`` these and all that follow."""
    counts, asks = suffix[:1] in {"#", "+"}, suffix[:1] == "?"
    if number == 0:
        value = str(len(items)) if counts else given
    elif number > len(items):
        value = default or ""
    else:
        value = given[items[number - 1][0] :] if counts else items[number - 1][1]
    value = value.strip(BLANKS)
    return ("1" if value else "0") if asks else value
