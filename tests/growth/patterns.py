"""Every regular expression of the packages, how it is used, and strings that would make it slow."""

import ast
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import product
from pathlib import Path
from time import thread_time
from types import ModuleType
from typing import Any, NamedTuple

import crondor
import crondor_cli

# What takes a pattern apart; it has another name since Python 3.11.
_PARSER: Any = import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")


_METHODS = ("match", "fullmatch", "search", "findall", "finditer", "split", "sub", "subn")
_SEARCHING = frozenset(_METHODS[2:])
_ALPHABET = [*map(chr, range(128)), "\x85", "\xa0", "é", "日", "\u2028", "\udcff"]


class Use(NamedTuple):
    """A pattern as it is used: ``name`` is the module with the name or the line, ``method`` one of re's."""

    name: str
    pattern: re.Pattern[str] | re.Pattern[bytes]
    method: str


def modules() -> Iterator[ModuleType]:
    """Yield all modules of the packages that can be imported."""
    for package in (crondor, crondor_cli):
        yield package
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("live_worker"):  # a program, which needs the official bindings
                yield import_module(found.name)


def uses() -> list[Use]:
    """Return all uses of patterns: of constants by the methods that the source names, and of texts in calls."""
    found: dict[Use, None] = {}
    for module in modules():
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        found.update(dict.fromkeys(_by_name(module, tree)))
        found.update(dict.fromkeys(_in_calls(module, tree)))
    known = {use.pattern for use in found}
    for module in modules():
        for name, value in vars(module).items():
            for pattern, method in _held(value):
                if method or pattern not in known:
                    found[Use(f"{module.__name__}.{name}", pattern, method or "match")] = None
    return list({(use.pattern, use.method in _SEARCHING): use for use in found}.values())


def _by_name(module: ModuleType, tree: ast.Module) -> Iterator[Use]:
    """Yield what a module does with the patterns that it knows by a name of its own or of another module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in _METHODS:
            value = _compiled(vars(module).get(node.value.id))
            if isinstance(value, re.Pattern):
                yield Use(f"{module.__name__}.{node.value.id}", value, node.attr)


def _compiled(value: object) -> object:
    """Return a pattern in place of one that is compiled when it is first used."""
    return re.compile(*value._given) if type(value).__name__ == "regex" else value  # type: ignore[attr-defined]


def _held(value: object) -> Iterator[tuple[re.Pattern[str] | re.Pattern[bytes], str]]:
    """Yield the patterns that a value has in it, each with the method that is bound to it, if one is."""
    value = _compiled(value)
    owner = getattr(value, "__self__", None)
    if isinstance(value, re.Pattern):
        yield value, ""
    elif isinstance(owner, re.Pattern):
        yield owner, str(getattr(value, "__name__", ""))
    elif isinstance(value, (tuple, list, frozenset)):
        for member in value:
            yield from _held(member)
    elif isinstance(value, dict):
        for member in value.values():
            yield from _held(member)
    elif isinstance(value, type) and value.__module__.startswith("crondor"):
        for member in vars(value).values():
            yield from _held(member) if not isinstance(member, type) else ()


def _in_calls(module: ModuleType, tree: ast.Module) -> Iterator[Use]:
    """Yield the patterns that stand in the calls of re's functions themselves."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        of, method = node.func.value, node.func.attr
        if isinstance(of, ast.Call) and _is_re(of.func, "compile") and method in _METHODS:
            text, flags = of.args[0], of.args[1:]
        elif _is_re(node.func, *_METHODS):
            text, flags = node.args[0], node.args[2:] if method not in {"sub", "subn"} else []
        else:
            continue
        pattern = _evaluated(module, text)
        if isinstance(pattern, str):
            options: Any = _evaluated(module, flags[0]) if flags else 0
            yield Use(f"{module.__name__}:{node.lineno}", re.compile(pattern, options or 0), method)


def _is_re(node: ast.expr, *names: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr in names
        and isinstance(node.value, ast.Name)
        and node.value.id == "re"
    )


def _evaluated(module: ModuleType, node: ast.expr) -> object:
    """Return what an expression of constants gives, None where it takes more than the module's own names."""
    try:
        return eval(compile(ast.Expression(node), "", "eval"), vars(module))  # noqa: S307 - the package's own source
    except NameError:
        return None


def slow(use: Use) -> str | None:
    """Return the piece of text whose repetition makes a use take more than in proportion, None: there is none."""
    for before, pump, after in _texts(use.pattern):
        few, many = (_time(use, before + pump * times + after) for times in (50, 200))
        if many > 6 * few + 2e-5 and _grows(use, before, pump, after):
            return f"{before!r} + {pump!r} * n + {after!r}"
    return None


def _grows(use: Use, before: str, pump: str, after: str) -> bool:
    """Say whether eight times the text takes more than three times eight as long, where that can be told apart."""
    times = 100
    while times < 20_000:
        few = min(_time(use, before + pump * times + after) for _ in range(5))
        if few > 0.0003:
            return min(_time(use, before + pump * 8 * times + after) for _ in range(3)) > 24 * few
        times *= 2
    return False


def _time(use: Use, text: str) -> float:
    action = _action(use)
    given = text.encode("utf-8", "surrogateescape") if isinstance(use.pattern.pattern, bytes) else text
    begin = thread_time()
    action(given)
    return thread_time() - begin


def _action(use: Use) -> Callable[[object], object]:
    of = getattr(use.pattern, use.method)
    if use.method in {"sub", "subn"}:
        return lambda text: of("" if isinstance(text, str) else b"", text)
    if use.method == "finditer":
        return lambda text: sum(1 for _ in of(text))
    return of  # type: ignore[no-any-return]


def _texts(pattern: re.Pattern[str] | re.Pattern[bytes]) -> Iterator[tuple[str, str, str]]:
    """Yield what stands before, what is repeated, and what comes after, of the characters a pattern tells apart."""
    signs = _signs(pattern)
    pumps = [*signs, *("".join(pair) for pair in product(signs, repeat=2) if len(set(pair)) > 1)]
    befores = ["", *signs, *_beginnings(pattern)]
    for before, pump in product(befores, pumps[:80]):
        for after in ("", "\0", "\n", *signs[:4]):
            yield before, pump, after


def _signs(pattern: re.Pattern[str] | re.Pattern[bytes]) -> list[str]:
    """Return a character of each class that the sets of a pattern make."""
    sets = list(_sets(_parsed(pattern), pattern.flags))
    classes: dict[tuple[bool, ...], str] = {}
    for sign in _ALPHABET:
        if not isinstance(pattern.pattern, bytes) or sign.isascii():
            classes.setdefault(tuple(each.match(sign) is not None for each in sets), sign)
    return [sign for key, sign in classes.items() if any(key)][:14]


def _parsed(pattern: re.Pattern[str] | re.Pattern[bytes]) -> list[tuple[object, object]]:
    return list(_PARSER.parse(pattern.pattern, pattern.flags & ~re.DEBUG))


def _sets(items: object, flags: int) -> Iterator[re.Pattern[str]]:
    """Yield an expression for each literal and set of a parsed pattern."""
    for item in items if isinstance(items, (list, tuple, _PARSER.SubPattern)) else ():
        if isinstance(item, tuple) and len(item) == 2 and str(item[0]) in {"LITERAL", "NOT_LITERAL", "IN", "ANY"}:
            made = _as_expression(item)
            yield re.compile(made, flags & (re.IGNORECASE | re.DOTALL | re.ASCII))
        else:
            yield from _sets(item, flags)


def _as_expression(item: tuple[object, object]) -> str:
    kind, value = str(item[0]), item[1]
    if kind == "ANY":
        return "."
    if kind in {"LITERAL", "NOT_LITERAL"}:
        return f"[{'^' if kind == 'NOT_LITERAL' else ''}{re.escape(chr(value))}]"  # type: ignore[arg-type]
    parts = []
    for sort, what in value:  # type: ignore[attr-defined]
        if str(sort) == "NEGATE":
            parts.append("^")
        elif str(sort) == "LITERAL":
            parts.append(re.escape(chr(what)))
        elif str(sort) == "RANGE":
            parts.append(f"{re.escape(chr(what[0]))}-{re.escape(chr(what[1]))}")
        else:
            letter = {"DIGIT": "d", "SPACE": "s", "WORD": "w"}[str(what).rpartition("_")[2]]
            parts.append("\\" + (letter.upper() if "_NOT_" in str(what) else letter))
    return f"[{''.join(parts)}]"


def _beginnings(pattern: re.Pattern[str] | re.Pattern[bytes]) -> list[str]:
    """Return short texts that lead into a pattern."""
    made = {""}
    for length in (1, 2, 3, 5):
        made.add(_sample(_parsed(pattern), pattern.flags, length)[0])
    return sorted(made, key=len)[:6]


def _sample(items: object, flags: int, most: int) -> tuple[str, int]:
    """Return a text that the first items of a parsed pattern match, and how many items are left to take."""
    text = ""
    for kind, value in items:  # type: ignore[attr-defined]
        if most <= 0:
            break
        name = str(kind)
        if name in {"LITERAL", "NOT_LITERAL", "IN", "ANY"}:
            one = re.compile(_as_expression((kind, value)), flags & (re.IGNORECASE | re.DOTALL | re.ASCII))
            text += next((sign for sign in _ALPHABET if one.match(sign)), "")
            most -= 1
        elif name in {"MAX_REPEAT", "MIN_REPEAT"}:
            for _ in range(max(1, value[0]) if value[0] < 5 else 5):
                inner, most = _sample(value[2], flags, most)
                text += inner
        elif name == "SUBPATTERN":
            inner, most = _sample(value[3], flags, most)
            text += inner
        elif name == "BRANCH":
            inner, most = _sample(value[1][0], flags, most)
            text += inner
    return text, most
