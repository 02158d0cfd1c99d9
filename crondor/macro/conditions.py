"""The if, elif, else and endif of HTCondor's files: what a condition may be, and which lines hold.

A condition is a number, a truth value, ``defined NAME`` or ``version OPERATOR NUMBER``, each with a ``!`` before it
if wanted; nothing else is (HTCondor 25.14, Evaluate_config_if). The words of the errors are HTCondor's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, TypeAlias

from crondor.diagnostics import shortened
from crondor.macro.lines import BLANKS

MAX_NESTING = 63
KEYWORDS = frozenset(("if", "elif", "else", "endif"))
_COMPLEX = "complex conditionals are not supported"
_NO_CONDITION = "expression is not a conditional"
_TRUE, _FALSE = frozenset(("true", "yes", "t")), frozenset(("false", "no", "f"))
# Few texts have an if: these are compiled when one is met.
_VERSION = r"(!?)([<=>]?)(=?)[ \t\r\n\v\f]*[vV]?(.*)"
_NUMBERS = r"[ \t]*([-+]?[0-9]{1,9})\.[ \t]*([-+]?[0-9]{1,9})(?:\.[ \t]*([-+]?[0-9]{1,9}))?"
_NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"


class ConditionError(Exception):
    """A line of a conditional that HTCondor refuses, in its words."""


_Kind: TypeAlias = Literal["number", "truth", "name", "version", "defined", "none", "complex"]


class Conditions:
    """What a condition asks about.

    ``lookup`` gives the text of a macro by its lower-case name; ``expand`` replaces macros; ``version`` is HTCondor's
    (major, minor, sub-minor); ``templates`` says whether ``use CATEGORY:OPTION`` is known; ``complex`` is asked for
    the truth of what HTCondor does not understand as a condition (None: it is an error).
    """

    def __init__(
        self,
        lookup: Callable[[str], str | None],
        expand: Callable[[str], str],
        version: tuple[int, int, int],
        templates: Callable[[str], bool] = lambda _: False,
        complex: Callable[[str], bool | None] = lambda _: None,  # noqa: A002 - HTCondor's word for it
    ) -> None:
        """Keep the five."""
        self._lookup = lookup
        self._expand = expand
        self._version = version
        self._templates = templates
        self._complex = complex

    def test(self, text: str) -> bool:
        """Say whether a condition holds. Raises ConditionError with the reason (HTCondor: Test_config_if_expression).

        condition = "!"? (NUMBER | truth | "version" BLANKS comparison | "defined" (BLANKS definition)?)
        truth = "true" | "yes" | "t" | "false" | "no" | "f"
        """
        given = text
        if "$" in text:
            given = self._expand(text).rstrip(BLANKS)
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
        holds = self._complex(text)
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
        least = self._version[2] if numbers[3] is None else int(numbers[3])
        other = (int(numbers[1]), int(numbers[2]), least)
        operator, equal = parts[2], bool(parts[3])
        if operator == "<":
            holds = self._version < other
        elif operator == ">":
            holds = self._version > other
        else:
            holds = self._version == other
        holds = holds or (equal and self._version == other)
        return holds is not bool(parts[1])

    def _is_defined(self, text: str) -> bool:
        """Say whether there is a macro or a template of a name; a number or a truth value is always defined.

        definition = NAME | NUMBER | truth | "use " (NAME | [A-Za-z_/]+ ":" [A-Za-z_/]+)
        """
        if not text:
            return False
        kind = _kind(text, with_keywords=False)
        if kind == "name":
            value = self._lookup(text.lower())
            return bool(value) if value is not None else text.strip(BLANKS).lower() in _TRUE | _FALSE
        if kind in {"number", "truth"}:
            return True
        if text[:4].lower() != "use ":
            raise ConditionError("defined argument must be param name, boolean, or number")
        template = text[4:].lstrip(BLANKS)
        if any(blank in template for blank in " \t\r"):
            raise ConditionError("defined use meta argument with internal spaces will never match")
        return self._templates(template)


class IfStack:
    """The conditionals around the present line of one file."""

    def __init__(self) -> None:
        """Begin outside of all."""
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
        """Take a line with one of the keywords. Raises ConditionError; a bad condition then counts as false."""
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


class _Level:
    """One if with its branches."""

    __slots__ = ("holds", "in_else", "outer", "was_taken")

    def __init__(self, outer: bool) -> None:  # noqa: FBT001 - its only value
        self.outer = outer
        self.holds = False
        self.was_taken = False
        self.in_else = False


def _tested(keyword: str, condition: str, conditions: Conditions) -> bool:
    try:
        return conditions.test(condition)
    except ConditionError as error:
        shown = shortened(condition, 80)
        raise ConditionError(f"{shown} is not a valid {keyword} condition because {error}") from None


def _kind(text: str, *, with_keywords: bool) -> _Kind:  # noqa: PLR0911 - a rule is a line, and a return
    """Say what a condition looks like, from the kinds of its characters alone, as HTCondor does.

    HTCondor: Characterize_config_if_expression.
    """
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
        # A dot at the end counts as a part of a number: HTCondor has no name for "e." and the like.
        return "complex" if "float" in has and "digit" not in has else "name"
    return "complex"


def _keyword(body: str) -> str:
    """Return the word at the beginning, if it ends there."""
    word = re.match(r"[A-Za-z]*", body)
    return word[0].lower() if word and not body[word.end() : word.end() + 1].isalnum() else ""


def _is_definition(has: set[str]) -> bool:
    """Whether the characters may be those of ``defined NAME`` or of ``defined use CATEGORY:OPTION``."""
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
    """Return the kinds of characters in a text; whether a dot, an e or a sign belongs to a number depends on order."""
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
