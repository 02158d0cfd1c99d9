"""if, elif, else and endif of HTCondor's files, and include.

A condition is a number, a truth value, ``defined NAME`` or ``version OPERATOR NUMBER``, optionally after a ``!``
(HTCondor 25.14, Evaluate_config_if). The texts of the errors are HTCondor's.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from crondor.diagnostics import shortened
from crondor.macro.expand import expand_self
from crondor.macro.lines import BLANKS, Budget

MAX_NESTING = 63
KEYWORDS = frozenset(("if", "elif", "else", "endif"))
_COMPLEX = "complex conditionals are not supported"
_NO_CONDITION = "expression is not a conditional"
_TRUE, _FALSE = frozenset(("true", "yes", "t")), frozenset(("false", "no", "f"))
# Few texts have an if: these are compiled when one is found.
_VERSION = r"(!?)([<=>]?)(=?)[ \t\r\n\v\f]*[vV]?(.*)"
_NUMBERS = r"[ \t]*([-+]?[0-9]{1,9})\.[ \t]*([-+]?[0-9]{1,9})(?:\.[ \t]*([-+]?[0-9]{1,9}))?"
_NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"


class ConditionError(Exception):
    """A line of a conditional that HTCondor refuses, in its words."""


_Kind: TypeAlias = Literal["number", "truth", "name", "version", "defined", "none", "complex"]


class Conditions(NamedTuple):
    """The context of a condition.

    ``lookup`` returns the text of a macro by its lower-case name; ``expand`` replaces macros; ``version`` is HTCondor's
    (major, minor, sub-minor); ``templates`` tells whether ``use CATEGORY:OPTION`` is known; ``truth`` decides on what
    HTCondor does not accept as a condition (None: it is an error).
    """

    lookup: Callable[[str], str | None]
    expand: Callable[[str], str]
    version: tuple[int, int, int]
    templates: Callable[[str], bool] = lambda _: False
    truth: Callable[[str], bool | None] = lambda _: None

    def test(self, text: str) -> bool:
        """Return whether a condition holds.

        Raises ConditionError with the reason (HTCondor: Test_config_if_expression).

        condition = "!"? (NUMBER | truth | "version" BLANKS comparison | "defined" (BLANKS definition)?)
        truth = "true" | "yes" | "t" | "false" | "no" | "f"
        """
        given = text
        if "$" in text:
            given = self.expand(text).rstrip(BLANKS)
        given = given.lstrip(BLANKS)
        inverted = given.startswith("!")
        given = given[1:].lstrip(BLANKS) if inverted else given
        if not given and "$" in text:
            return inverted
        return self._holds(given) is not inverted

    def _holds(self, text: str) -> bool:
        kind = _kind(text, with_keywords=True)
        word = text.strip(BLANKS).lower()
        if kind == "number":
            number = re.match(_NUMBER, text)
            return number is not None and float(number[0]) != 0
        if kind in {"truth", "name"} and word in _TRUE | _FALSE:
            return word in _TRUE
        if kind == "version":
            return self._holds_version(text[len("version") :].lstrip(BLANKS))
        if kind == "defined":
            return self._is_defined(text[len("defined") :].lstrip(BLANKS))
        if kind != "complex":
            raise ConditionError(_NO_CONDITION)
        holds = self.truth(text)
        if holds is None:
            raise ConditionError(_COMPLEX)
        return holds

    def _holds_version(self, text: str) -> bool:
        """Compare a version with HTCondor's.

        comparison = ("<" | "<=" | "=" | "==" | ">" | ">=" | "!=" | "!==") BLANKS? [vV]? NUMBERS
        """
        parts = re.fullmatch(_VERSION, text, re.DOTALL)
        numbers = re.match(_NUMBERS, parts[4]) if parts else None
        if parts is None or numbers is None or int(numbers[1]) < 6:
            raise ConditionError("the version literal is invalid")
        least = self.version[2] if numbers[3] is None else int(numbers[3])
        other = (int(numbers[1]), int(numbers[2]), least)
        operator, equal = parts[2], bool(parts[3])
        if operator == "<":
            holds = self.version < other
        elif operator == ">":
            holds = self.version > other
        else:
            holds = self.version == other
        holds = holds or (equal and self.version == other)
        return holds is not bool(parts[1])

    def _is_defined(self, text: str) -> bool:
        """Return whether a macro or template exists; a number or a truth value is always defined.

        definition = NAME | NUMBER | truth | "use " (NAME | [A-Za-z_/]+ ":" [A-Za-z_/]+)
        """
        if not text:
            return False
        kind = _kind(text, with_keywords=False)
        if kind == "name":
            value = self.lookup(text.lower())
            return bool(value) if value is not None else text.strip(BLANKS).lower() in _TRUE | _FALSE
        if kind in {"number", "truth"}:
            return True
        if text[:4].lower() != "use ":
            raise ConditionError("defined argument must be param name, boolean, or number")
        template = text[4:].lstrip(BLANKS)
        if any(blank in template for blank in " \t\r"):
            raise ConditionError("defined use meta argument with internal spaces will never match")
        return self.templates(template)


class IfStack:
    """The conditionals around the present line of one file."""

    def __init__(self) -> None:
        self._levels: list[_Level] = []

    @property
    def holds(self) -> bool:
        """Whether the present line is read."""
        return not self._levels or self._levels[-1].holds

    @property
    def is_open(self) -> bool:
        """Whether an endif is still to come."""
        return bool(self._levels)

    def enter(self, keyword: str, condition: str, conditions: Conditions) -> None:
        """Process a line with one of the keywords. Raises ConditionError; a bad condition then counts as false."""
        if keyword == "if":
            self._begin(condition, conditions)
        elif not self._levels:
            if keyword == "elif":
                _tested(keyword, condition, conditions)
            raise ConditionError(f"{keyword} without matching if")
        elif keyword == "endif":
            self._levels.pop()
        else:
            self._next(keyword, condition, conditions)

    def _begin(self, condition: str, conditions: Conditions) -> None:
        outer = self.holds
        level = _Level(outer)
        if len(self._levels) >= MAX_NESTING:
            self._levels.append(level)
            raise ConditionError("if nesting too deep!")
        self._levels.append(level)
        level.holds = outer and _tested("if", condition, conditions)
        level.was_taken = level.holds

    def _next(self, keyword: str, condition: str, conditions: Conditions) -> None:
        level = self._levels[-1]
        level.holds = False
        asks = level.outer and not level.was_taken
        is_true = asks and keyword == "elif" and _tested("elif", condition, conditions)
        if level.in_else:
            raise ConditionError(f"{keyword} is not allowed after else")
        level.in_else = keyword == "else"
        if asks:
            level.holds = level.in_else or is_true
            level.was_taken = level.holds and not level.in_else


@dataclass
class _Level:
    """One if with its branches."""

    outer: bool
    holds: bool = False
    was_taken: bool = False
    in_else: bool = False


def _tested(keyword: str, condition: str, conditions: Conditions) -> bool:
    try:
        return conditions.test(condition)
    except ConditionError as error:
        shown = shortened(condition, 80)
        raise ConditionError(f"{shown} is not a valid {keyword} condition because {error}") from None


def _kind(text: str, *, with_keywords: bool) -> _Kind:  # noqa: PLR0911 - a rule is a line, and a return
    """Return a condition's kind from the kinds of its characters, like Characterize_config_if_expression."""
    body = text.strip(BLANKS)
    has = _characters(body.removeprefix("-"))
    keyword = _keyword(body) if with_keywords else ""
    if not has:
        return "none"
    if has in ({"digit"}, {"digit", "float"}):
        return "number"
    if has == {"letter"} and body.lower() in {"true", "false"}:
        return "truth"
    if keyword == "version" and (has == {"letter"} or has - {"float"} == {"letter", "blank", "compare", "digit"}):
        return "version"
    if keyword == "defined" and (has == {"letter"} or _is_definition(has)):
        return "defined"
    if "letter" in has and has <= {"letter", "digit", "mark", "float"}:
        # A final dot counts as part of a number: HTCondor has no name for "e." and the like.
        return "complex" if "float" in has and "digit" not in has else "name"
    return "complex"


def _keyword(body: str) -> str:
    """Return the first word, if it ends there."""
    word = re.match(r"[A-Za-z]*", body)
    return word[0].lower() if word and not body[word.end() : word.end() + 1].isalnum() else ""


def _is_definition(has: set[str]) -> bool:
    """Return whether the characters may be those of ``defined NAME`` or of ``defined use CATEGORY:OPTION``."""
    rest = has - {"letter", "blank"}
    if not has >= {"letter", "blank"}:
        return False
    is_name = rest <= {"digit", "mark"} or rest in ({"digit", "float"}, {"digit", "mark", "float"})
    return is_name or ("colon" in rest and rest <= {"colon", "mark"})


_DIGITS = "0123456789"
_CHARACTERS = {
    **dict.fromkeys(_DIGITS, "digit"),
    **dict.fromkeys("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "letter"),
    **dict.fromkeys("_/", "mark"),
    **dict.fromkeys("<=>", "compare"),
    **dict.fromkeys(BLANKS, "blank"),
    ":": "colon",
}


def _characters(text: str) -> set[str]:
    """Return the kinds of characters in a text; whether a dot, an e or a sign is part of a number depends on order."""
    has: set[str] = set()
    for index, char in enumerate(text):
        if char == ".":
            following = text[index + 1 : index + 2]
            has.add("float" if has == {"digit"} or not following or following in _DIGITS else "mark")
        elif char in "eE" and has - {"float"} == {"digit"}:
            has.add("float")
        elif char not in "+-" or has != {"digit", "float"}:
            has.add(_CHARACTERS.get(char) or ("compare" if text.startswith("!=", index) else "other"))
    return has


# Few texts include others: these are compiled when one does.
_ARGUMENT = r"\$\(([0-9]+)(?![0-9])([?#+]?)(:?)"
_PLAIN = r"[^()]*"
_MACRO = r"\$\(([A-Za-z0-9_./]+)"
_MOST_NAMES = 1000


# HTCondor: parse_include_options, MetaKnobAndArgs::init_from_string.
class Include(NamedTuple):
    """An include statement: ``may_miss`` is ifexist, ``into`` is the file for the output of a command."""

    is_command: bool = False
    may_miss: bool = False
    into: str = ""


def parse_include(words: str) -> Include | None:
    """Read the words between ``include`` and its colon, case-sensitive; None for unknown ones.

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
    """A template of a use statement, with its arguments, None without parentheses."""

    name: str
    arguments: str | None


def parse_uses(text: str) -> list[UsedTemplate]:
    r"""Read the text after ``use CATEGORY :``: names with arguments, separated by commas or blanks.

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
    closings: dict[int, int] = {}
    opened: list[int] = []
    for found in re.finditer(r"[\[\]()]", text):
        if found[0] in "([":
            opened.append(found.start())
        elif opened:
            closings[opened.pop()] = found.start()
    return closings


def template_text(config: Mapping[str, str], use: UsedTemplate, budget: Budget) -> str | None:
    """Return the text of a template with its arguments inserted, None if the configuration has none of that name.

    ``config`` has the knobs by lower-case name. Macros that the configuration defines are replaced, as HTCondor does
    when it loads the templates; others belong to the submit file. Raises MacroError.
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
    """Return the text of a template with its arguments inserted. Raises MacroError. HTCondor: expand_meta_args."""
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
    """Return the end of $(number) after its number and sign, 0: it has none; ``ends`` are those known before.

    A default may have one level of parentheses. Without a colon, the text after the number and its sign is ignored:
    $(1?60) is $(1?).
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
    """Yield the non-blank arguments, each with its offset."""
    at = 0
    for item in given.split(","):
        if item.strip(", \t\r\n\v\f"):
            yield at, item
        at += len(item) + 1


def _argument(given: str, items: Sequence[tuple[int, str]], number: int, suffix: str, default: str | None) -> str:
    """Return the text for ``$(number)`` of a template: 0 is all arguments, ``+`` this one and all after it."""
    counts, asks = suffix[:1] in {"#", "+"}, suffix[:1] == "?"
    if number == 0:
        value = str(len(items)) if counts else given
    elif number > len(items):
        value = default or ""
    else:
        value = given[items[number - 1][0] :] if counts else items[number - 1][1]
    value = value.strip(BLANKS)
    return ("1" if value else "0") if asks else value
