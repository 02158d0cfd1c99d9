"""TransferOutputRemaps: where an output file goes, by rules ``name = place; ...`` that may lead on to one another.

HTCondor: filename_remap_find.
"""

from __future__ import annotations

_MOST = 128
"""MAX_REMAP_RECURSIONS."""

_SPACES = " \t\n\v\f\r"


class EndlessRemaps(ValueError):
    """Rules that lead from one to the other without end."""


def remapped(rules: str, name: str) -> str | None:
    """Return where the file ``name`` goes, None where no rule is about it.

    What a rule leads to is looked up again. A rule about the folder of a file moves the file with it. Backslashes
    before ``=`` and ``;`` make them part of a name. Raises EndlessRemaps beyond 128 steps (HTCondor 25.14).
    """
    return _remapped(dict(reversed(_rules(rules))), name, 0)


def _remapped(rules: dict[str, str], name: str, level: int) -> str | None:
    if level > _MOST:
        raise EndlessRemaps(name)
    found = rules.get(name)
    if found is not None:
        further = _remapped(rules, found, level + 1)
        return found if further is None else further
    folder, slash, entry = name.rpartition("/")
    if not slash:
        return None
    moved = _remapped(rules, folder, level + 1)
    return None if moved is None else f"{moved}/{entry}"


def _rules(text: str) -> list[tuple[str, str]]:
    """Return the rules in their order; of two about a name the first counts."""
    text = text.translate({ord("\t"): None, ord("\n"): None})
    found: list[tuple[str, str]] = []
    at = 0
    while True:
        begin = at
        name, at = _piece(text, begin, "=")
        if at < 0:
            return found
        semicolon = name.find(";")
        if semicolon >= 0:  # what has no = is passed over
            at = begin + semicolon + 1
            continue
        place, at = _piece(text, at, ";")
        found.append((name, place))
        if at < 0:
            return found


def _piece(text: str, at: int, stop: str) -> tuple[str, int]:
    """Return the text up to a character that no backslash is before, trimmed, and the offset behind; -1: the end."""
    parts: list[str] = []
    while at < len(text):
        letter = text[at]
        if letter == "\\" and text[at + 1 : at + 2] == stop:
            parts.append(stop)
            at += 2
            continue
        if letter == stop:
            return "".join(parts).strip(_SPACES), at + 1
        parts.append(letter)
        at += 1
    return "".join(parts).strip(_SPACES), -1
