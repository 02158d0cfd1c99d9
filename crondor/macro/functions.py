"""The macro functions: $INT(), $SUBSTR(), $CHOICE() and the others, as HTCondor 25.14 reads them in all its files.

If HTCondor prints an error and continues with some text, a function here reports the same message and returns the same
text; unknown values (the environment, a random number without a seed) are errors.

HTCondor: evaluate_macro_func, string_is_long_param, string_is_double_param.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import copysign, isfinite
from typing import TYPE_CHECKING, NamedTuple

from crondor.diagnostics import shortened
from crondor.macro.lines import BLANKS, NOTHING, Around, Budget, MacroError

if TYPE_CHECKING:
    from crondor.macro.evaluated import Evaluated

_INTEGER = re.compile(r"[ \t\r\n\v\f]*([-+]?[0-9]+)[ \t\r\n\v\f]*")
_LEADING = re.compile(r"[ \t\r\n\v\f]*([-+]?[0-9]+)")
_REAL = (  # compiled when a real is read
    r"[ \t\r\n\v\f]*([-+]?(?:0[xX][0-9A-Fa-f]+(?:\.[0-9A-Fa-f]*)?(?:[pP][-+]?[0-9]+)?"
    r"|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|(?i:inf|infinity|nan)))[ \t\r\n\v\f]*"
)
_MOST_DIGITS = 4000  # Python limits the length; C gives the largest number for all of them
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


# HTCondor: string_is_long_param, string_is_double_param.
def as_integer(text: str, around: Around = NOTHING, budget: Budget | None = None) -> int | None:
    """Return a text as a 64 bit integer, None if it neither is one nor evaluates to one.

    A real number is truncated and a truth value is 0 or 1, as in HTCondor (string_is_long_param). ``around`` has the
    clock of the expression. Raises MacroError if the value depends on something unknown. ``budget`` is charged for the
    evaluation.
    """
    literal = _INTEGER.fullmatch(text)
    if literal is not None:
        return _bounded(literal[1])
    return _evaluated(text, around, budget).integer


def as_real(text: str, around: Around = NOTHING, budget: Budget | None = None) -> float | None:
    """Return a text as a real number, None if it neither is one nor evaluates to one (string_is_double_param)."""
    literal = re.fullmatch(_REAL, text)
    if literal is not None:
        return _read_real(literal[1])
    return _evaluated(text, around, budget).real


def as_string(text: str, around: Around = NOTHING, budget: Budget | None = None) -> str | None:
    """Return the string that a text evaluates to, None if it is invalid or its value is not a string."""
    value = _evaluated(text, around, budget).value
    return value if isinstance(value, str) else None


def evaluate(text: str, around: Around = NOTHING, budget: Budget | None = None) -> str | None:
    """Return the value of an expression as text, a string without its quotes; None if it has none."""
    return _evaluated(text, around, budget).printed


def leading_integer(text: str) -> int | None:
    """Return the number at the beginning of a text, like C's strtol; None if there is none."""
    found = _LEADING.match(text)
    return _bounded(found[1]) if found else None


def leading_int(text: str) -> int:
    """Return the 32 bit integer at the beginning of a text, 0 if there is none (C's atoi)."""
    return (((leading_integer(text) or 0) + 2**31) & 0xFFFFFFFF) - 2**31


def _read_real(text: str) -> float:
    if "x" not in text.lower():
        return float(text)
    try:
        return float.fromhex(text)
    except OverflowError:
        return float("-inf" if text[0] == "-" else "inf")


def _bounded(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        return _LEAST if digits[0] == "-" else _MOST
    return max(_LEAST, min(int(digits), _MOST))


def _evaluated(text: str, around: Around, budget: Budget | None) -> Evaluated:
    from crondor.macro.evaluated import Evaluated  # noqa: PLC0415 - the engine takes 17 ms, and a plain file needs no expression

    return Evaluated(text, around, budget)


_NAME, _EXTENSION, _PATH, _FOLDERS = 1, 2, 4, 8
_PARTS = {"n": _NAME, "x": _EXTENSION, "p": _PATH, "d": _FOLDERS}
_SEPARATOR = r"[/\\]"  # for $Fd only: otherwise a backslash is part of a name


# HTCondor: condor_basename_plus_dirs, strdup_path_quoted.
def pick(text: str, letters: str, folder: str) -> str:
    """Return the parts of a file name that ``letters`` select, like $F with these letters.

    ``folder`` is the prefix of ``f`` for a relative path. Missing parts may cost a quote of ``q``.
    """
    letters = letters.lower()
    quote = ("'" if "a" in letters else '"') if "q" in letters else ""
    path = _unquoted(text, quote or '"')
    last = next((letter for letter in reversed(letters) if letter in "uw"), "")
    if "f" in letters and folder and not path.startswith("/"):
        separators = ("/", "\\") if last == "w" else ("/",)
        own = len(path) > 2 and path.startswith(tuple(f".{each}" for each in separators))
        path = (folder[:-1] if folder.endswith(separators) else folder) + "/" + (path[2:] if own else path)
    if last:
        path = path.replace("\\", "/") if last == "u" else path.replace("/", "\\")
    path = f"{quote}{path}{quote}"
    start, end = _chosen(path, letters)
    return _quoted(path, start, end, quote) if quote else path[start:end]


def base_name(text: str, suffix: str) -> str:
    """Return a file's name without its folder, and without ``suffix`` if it ends in that."""
    path = _unquoted(text, '"')
    name = path[path.rfind("/") + 1 :]
    if suffix and name.lower().endswith(suffix.lower()):
        return name[: len(name) - len(suffix)]
    return name


def _chosen(path: str, letters: str) -> tuple[int, int]:
    """Return where the parts begin and end in a path, whose quotes count as characters."""
    parts = sum({_PARTS.get(letter, 0) for letter in letters})
    of_name = parts & (_NAME | _EXTENSION)
    end = len(path)
    name = path.rfind("/") + 1
    dot = path.rfind(".", name + 1)
    extension = dot if dot > 0 else end
    if of_name and not name:
        parts = of_name
    if parts & _FOLDERS and not name:
        return 1, 1
    if parts == _EXTENSION:
        return extension + ("b" in letters and extension < end), end
    if of_name == _NAME:
        end = extension
    elif parts and not of_name:
        end = name - 1 if "b" in letters and name else name
    if parts & _FOLDERS:
        separators = [match.end() for match in re.finditer(_SEPARATOR, path)]
        count = letters.count("d")
        return separators[-count - 1] if count < len(separators) else 0, end
    return 0 if parts & _PATH or not parts else name, end


def _quoted(path: str, start: int, end: int, quote: str) -> str:
    """Put back the removed quotes at HTCondor's places."""
    chars = [*path, "", ""]
    if chars[start] != quote:
        start -= 1
        chars[start] = quote
    if end > 1 and chars[end - 1] == quote:
        end -= 1
    chars[end] = quote
    return "".join(chars[start : end + 1])


def _unquoted(text: str, quote: str) -> str:
    """Return a text without the quotes around it; a single quote at its beginning is removed too."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    if text[:1] in {'"', quote} and text:
        first, text = text[0], text[1:]
        text = text.removesuffix(first)
    return text


LONGEST = 55  # of a formatted number that HTCondor keeps
_CONVERSION = r"(?s)%([#0\- +']*)([0-9]*)(\*?)(?:\.([0-9]*)(\*?))?([hlLqjzt]*)(.)"  # compiled when a format is read
_LETTERS = {"int": "diouxXc", "real": "eEfFgGaA", "string": "s"}
_PYTHON = {"i": "d", "u": "d", "a": "e", "A": "E"}  # %a comes here only for values that are not numbers
_BITS = {"": 32, "h": 16, "hh": 8}


# HTCondor: evaluate_macro_func.
class PrintfFormat(NamedTuple):
    """A parsed format: the text before and after its conversion, and the conversion."""

    before: str
    flags: str
    width: int
    precision: int | None
    length: str
    letter: str
    behind: str

    def of_int(self, value: int) -> str:
        """Return a number as C prints it with this conversion, whose size may be too small for it."""
        bits = _BITS.get(self.length, 64)
        value &= (1 << bits) - 1
        if self.letter in "di" and value >> (bits - 1):
            value -= 1 << bits
        if self.letter == "c":
            return self._cut(self._pad(chr(value & 0xFF).strip("\0")))
        flags = self.flags if self.letter in "di" else self.flags.translate({32: None, 43: None})
        return self._cut(self._python(flags, value))

    def of_real(self, value: float) -> str:
        """Return a real number."""
        if self.letter in "aA" and isfinite(value):
            return self._cut(self._hexadecimal(value))
        flags = self.flags if isfinite(value) else self.flags.replace("0", "")
        return self._cut(self._python(flags, value))

    def of_string(self, value: str) -> str:
        """Return a text, cut to the precision and padded to the width."""
        shown = value if self.precision is None else value[: self.precision]
        return f"{self.before}{self._pad(shown)}{self.behind}"

    def _python(self, flags: str, value: float) -> str:
        width = str(min(self.width, LONGEST + 1)) if self.width else ""
        precision = "" if self.precision is None else f".{min(self.precision, LONGEST + 1)}"
        letter = _PYTHON.get(self.letter, self.letter)
        made: str = f"%{flags}{width}{precision}{letter}" % value
        return made

    def _hexadecimal(self, value: float) -> str:
        """Return a number like C's %a: one digit before the point, then as many as needed or requested."""
        sign = "-" if copysign(1, value) < 0 else "+" if "+" in self.flags else " " if " " in self.flags else ""
        head, _, power = abs(value).hex().removeprefix("0x").partition("p")
        digits, _, fraction = head.partition(".")
        exponent, whole = int(power), int(digits + fraction, 16)
        if self.precision is not None and self.precision < len(fraction):
            cut = 4 * (len(fraction) - self.precision)
            rest, half = whole & ((1 << cut) - 1), 1 << (cut - 1)
            whole >>= cut
            whole += rest > half or (rest == half and whole & 1)
            fraction = f"{whole:0{self.precision + 1}x}"[1:]
        else:
            fraction = fraction.rstrip("0") if self.precision is None else fraction
        if self.precision is not None:
            fraction = fraction.ljust(min(self.precision, LONGEST + 1), "0")
            digits = f"{whole >> (4 * self.precision)}" if self.precision < 13 else digits
        point = "." if fraction or "#" in self.flags else ""
        body = f"{digits}{point}{fraction}p{exponent:+d}"
        fill = self.width - len(sign) - 2 - len(body)
        if "0" in self.flags and "-" not in self.flags:
            body = "0" * min(fill, LONGEST + 1) + body
        text = self._pad(f"{sign}0x{body}")
        return text.upper() if self.letter == "A" else text

    def _pad(self, text: str) -> str:
        return text.ljust(self.width) if "-" in self.flags else text.rjust(self.width)

    def _cut(self, text: str) -> str:
        return f"{self.before}{text}{self.behind}"[:LONGEST]


def parse(text: str, kind: str, most: int) -> PrintfFormat | None:
    """Read a format for an ``int``, a ``real`` or a ``string``; None if HTCondor refuses it.

    ``most`` is the largest width and precision of a string in characters; a wider one is refused too.

    format = plain conversion plain
    plain = ([^%] | "%" options "%")*
    conversion = "%" options LETTERS
    options = [-#0 +']* [0-9]* ("." [0-9]*)? [hlLqjzt]*
    """
    found: re.Match[str] | None = None
    for each in re.finditer(_CONVERSION, text):
        if each[7] == "%":
            continue
        if found is not None:
            return None
        found = each
    if found is None or found[3] or found[5] or found[7] not in _LETTERS[kind]:
        return None
    # Small enough to compare: nine digits are enough.
    width, precision = int(found[2][:10] or "0"), None if found[4] is None else int(found[4][:10] or "0")
    if kind == "string" and max(width, precision or 0) > most:
        return None
    before, behind = (re.sub(_CONVERSION, "%", piece) for piece in (text[: found.start()], text[found.end() :]))
    return PrintfFormat(before, found[1].replace("'", ""), width, precision, found[6], found[7], behind)


_INT = 1 << 31
_ALL = 1 << 30  # the default length of $SUBSTR


class MacroCall(NamedTuple):
    """One function with the text in its parentheses, and what is needed to expand its arguments."""

    name: str
    body: str
    default: str | None
    lookup: Callable[[str], str | None]
    expand: Callable[[str, str | None], str]
    budget: Budget
    around: Around
    names: Callable[[], Sequence[str]]

    def value(self, name: str) -> str | None:
        """Return the expanded text of a macro, None if there is none of that name."""
        key = name.lower()
        text = self.lookup(key)
        return text if text is None or "$" not in text else self.expand(text, key)

    def argument(self, text: str) -> str:
        """Return the value of an argument: the macro of that name, else the argument itself, expanded."""
        value = self.value(text)
        if value is not None:
            return value
        return self.expand(text, None) if "$" in text else text

    def fail(self, message: str) -> None:
        """Report a failure that HTCondor prints and ignores. Raises MacroError if nothing takes the report."""
        shown = shortened(self.body, 60)
        help_text = f"see ${self.name}({shown}): HTCondor prints this and goes on without the value"
        error = MacroError("macro-function", shortened(message, 300), help_text)
        error.chain = tuple(self.names())
        if self.around.soft is None:
            raise error
        self.around.soft(error)

    def unknown(self, code: str, message: str, help: str) -> MacroError:
        """Return the error for an unknown value."""
        return MacroError(code, f"${self.name}({self.body}) {message}", help)


def call(of: MacroCall) -> str:
    """Return the text of a function; it may contain macros. Raises MacroError."""
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
    """Return a number below ``count``; if there is only one, nothing is drawn."""
    if count == 1:
        return 0
    if of.around.dice is None:
        raise of.unknown("unknown-random", "is drawn again at each submission", "give a seed, or write the value out")
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


def _file_name(of: MacroCall) -> str:
    letters, folder = of.name[1:], of.around.folder
    if not isinstance(folder, str):
        folder = folder() if "f" in letters.lower() else ""
    return pick(of.argument(of.body), letters, folder)


_FUNCTIONS: dict[str, Callable[[MacroCall], str]] = {
    "BASENAME": _base_name,
    "CHOICE": _choice,
    "DIRNAME": lambda of: pick(of.argument(of.body), "p", ""),
    "ENV": _env,
    "EVAL": _eval,
    "INT": lambda of: _number(of, "int", "$INT() macro", "an integer"),
    "RANDOM_CHOICE": _random_choice,
    "RANDOM_INTEGER": _random_integer,
    "REAL": lambda of: _number(of, "real", "$REAL() macro", "an real"),
    "STRING": _string,
    "SUBSTR": _substr,
}
