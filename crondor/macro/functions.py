"""The macro functions: $INT(), $SUBSTR(), $CHOICE() and the others, as HTCondor 25.14 reads them in all its files.

Where HTCondor prints an error and goes on with some text, a function here reports the same words and gives the same
text; what it cannot know (the environment, a random number without a seed) is an error.

HTCondor: evaluate_macro_func.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from crondor.diagnostics import shortened
from crondor.macro.around import Around
from crondor.macro.errors import Budget, MacroError
from crondor.macro.filenames import base_name, pick
from crondor.macro.lines import BLANKS
from crondor.macro.numbers import as_integer, as_real, as_string, evaluate, leading_integer
from crondor.macro.printf import LONGEST, parse

_INT = 1 << 31
_ALL = 1 << 30  # the length that $SUBSTR takes where none is given


class MacroCall(NamedTuple):
    """One function with the text in its parentheses, and the means to look up and expand its arguments."""

    name: str
    body: str
    default: str | None
    lookup: Callable[[str], str | None]
    expand: Callable[[str, str | None], str]
    budget: Budget
    around: Around
    names: Callable[[], Sequence[str]]

    def value(self, name: str) -> str | None:
        """Return the expanded text of a macro, None where there is none of that name."""
        key = name.lower()
        text = self.lookup(key)
        return text if text is None or "$" not in text else self.expand(text, key)

    def argument(self, text: str) -> str:
        """Return what an argument stands for: the macro of that name, else the argument itself, expanded."""
        value = self.value(text)
        if value is not None:
            return value
        return self.expand(text, None) if "$" in text else text

    def fail(self, message: str) -> None:
        """Report a failure that HTCondor prints and passes over. Raises MacroError where nobody takes the report."""
        shown = shortened(self.body, 60)
        help_text = f"see ${self.name}({shown}): HTCondor prints this and goes on without the value"
        error = MacroError("macro-function", shortened(message, 300), help_text)
        error.chain = tuple(self.names())
        if self.around.soft is None:
            raise error
        self.around.soft(error)

    def unknown(self, code: str, message: str, help: str) -> MacroError:  # noqa: A002 - Diagnostic's word
        """Return the error for what cannot be known."""
        return MacroError(code, f"${self.name}({self.body}) {message}", help)


def call(of: MacroCall) -> str:
    """Return the text that a function gives; it may have macros of its own. Raises MacroError."""
    return _FUNCTIONS.get(of.name, _file_name)(of)


def _env(of: MacroCall) -> str:
    if of.around.environ is None:
        message = "takes a variable of the environment, which is not known here"
        raise of.unknown("unknown-environment", message, "write the value out")
    value = of.around.environ.get(of.body)
    if value is None:
        return "UNDEFINED" if of.default is None else of.default
    return value


def _items(text: str, separators: str) -> list[str]:
    return [item for item in (each.strip(BLANKS) for each in re.split(f"[{separators}]", text)) if item]


def _random_choice(of: MacroCall) -> str:
    entries = _items(of.body, ",")
    if len(entries) == 1:
        value = of.value(entries[0])
        if value is not None:
            entries = _items(value, ", \t\r\n")
    if not entries:
        of.fail("$RANDOM_CHOICE() macro is empty!")
        return ""
    return entries[_draw(of, len(entries))]


def _random_integer(of: MacroCall) -> str:
    entries = [leading_integer(each) for each in _items(of.body, ",")[:3]]
    low = entries[0] if entries else None
    if low is None:
        of.fail("$RANDOM_INTEGER() config macro: invalid min!")
        low = 0
    high = entries[1] if len(entries) > 1 else None
    if high is None:
        of.fail("$RANDOM_INTEGER() config macro: invalid max!")
        high = low
    step = entries[2] if len(entries) > 2 else 1
    if step is None or step < 1:
        of.fail("$RANDOM_INTEGER() config macro: invalid step!")
        step = 1
    if low > high:
        of.fail("$RANDOM_INTEGER() config macro: min > max!")
        low = high
    return str(low + _draw(of, (step + high - low) // step) * step)


def _draw(of: MacroCall, count: int) -> int:
    """Return a number below ``count``; where there is only one, nothing is drawn."""
    if count == 1:
        return 0
    if of.around.dice is None:
        raise of.unknown("unknown-random", "is drawn anew by each submission", "give a seed, or write the value out")
    return of.around.dice.randrange(count)


def _choice(of: MacroCall) -> str:
    arguments = of.body.split(",", 1)
    chosen = of.argument(arguments[0].strip(BLANKS))
    index = as_integer(chosen, of.around, of.budget)
    if index is None or not 0 <= index < _INT - 1:
        of.fail(f"$CHOICE() error: '{chosen}' is invalid index")
        index = 0
    if len(arguments) == 1:
        of.fail("$CHOICE() error: no list")
        return ""
    items = arguments[1]
    if "," not in items:
        name = items.strip(BLANKS)
        value = of.value(name)
        if value is None:
            of.fail(f'$CHOICE() macro: no list named "{name}"!')
            return ""
        items = value
    entries = items.split(",", index + 1)
    if index >= len(entries):
        of.fail(f"$CHOICE() config macro: index {index} is out of range!")
        return ""
    return entries[index].strip(BLANKS)


def _substr(of: MacroCall) -> str:
    name, *numbers = of.body.split(",", 2)
    if not numbers:
        of.fail("$SUBSTR() macro: no length specified!")
        return ""
    places: list[int] = []
    for what, text in zip(("start index", "length "), numbers, strict=False):
        number = of.argument(text)
        place = as_integer(number, of.around, of.budget)
        if place is None or not -_INT <= place < _INT:
            of.fail(f"$SUBSTR() macro: {number} is invalid {what}!")
            return ""
        places.append(place)
    start, length = places[0], places[1] if len(places) > 1 else _ALL
    value = of.value(name) or ""
    start = max(0, start + len(value)) if start < 0 else start
    value = value[start:]
    return value[: max(0, len(value) + length) if length < 0 else length]


def _int(of: MacroCall) -> str:
    return _number(of, "int", "$INT() macro", "an integer")


def _real(of: MacroCall) -> str:
    return _number(of, "real", "$REAL() macro", "an real")


def _number(of: MacroCall, kind: str, title: str, noun: str) -> str:
    name, comma, given = of.body.partition(",")
    shape = parse(given, kind, LONGEST) if comma else None
    if comma and shape is None:
        of.fail(f"{title}: '{given}' is not a valid format specifier!")
        return given
    text = of.argument(name)
    if kind == "int":
        integer = as_integer(text, of.around, of.budget)
        if integer is not None:
            return shape.of_int(integer) if shape else str(integer)
    else:
        real = as_real(text, of.around, of.budget)
        if real is not None:
            made = shape.of_real(real) if shape else f"{real:.16G}"
            return made if shape is None or "." in made else made + ".0"
    of.fail(f"{title}: {text} does not evaluate to {noun}!")
    return ""


def _string(of: MacroCall) -> str:
    name, comma, given = of.body.partition(",")
    shape = parse(given, "string", of.budget.size) if comma else None
    if comma and shape is None:
        of.fail(f"$STRING macro: '{given}' is not a valid format specifier!")
        return given
    text = of.argument(name)
    value = as_string(text, of.around, of.budget)
    text = text if value is None else value
    return shape.of_string(text) if shape else text


def _eval(of: MacroCall) -> str:
    value = of.value(of.body)
    text = of.argument(of.body) if value is None else value
    result = of.around.evaluate(text) if of.around.evaluate else evaluate(text, of.around, of.budget)
    if result is not None:
        return result
    raw = of.lookup(of.body.lower())
    return text if "$" in (of.body if raw is None else raw) else ""


def _base_name(of: MacroCall) -> str:
    name, comma, suffix = of.body.rpartition(",")
    return base_name(of.argument(name if comma else of.body), suffix.lstrip(BLANKS) if comma else "")


def _folder_name(of: MacroCall) -> str:
    return pick(of.argument(of.body), "p", "")


def _file_name(of: MacroCall) -> str:
    letters, folder = of.name[1:], of.around.folder
    if not isinstance(folder, str):
        folder = folder() if "f" in letters.lower() else ""
    return pick(of.argument(of.body), letters, folder)


_FUNCTIONS: dict[str, Callable[[MacroCall], str]] = {
    "BASENAME": _base_name,
    "CHOICE": _choice,
    "DIRNAME": _folder_name,
    "ENV": _env,
    "EVAL": _eval,
    "INT": _int,
    "RANDOM_CHOICE": _random_choice,
    "RANDOM_INTEGER": _random_integer,
    "REAL": _real,
    "STRING": _string,
    "SUBSTR": _substr,
}
