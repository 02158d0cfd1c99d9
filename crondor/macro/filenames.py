"""The parts of a file name that $F(), $BASENAME() and $DIRNAME() give, as HTCondor does it on Linux.

HTCondor: condor_basename_plus_dirs, strdup_path_quoted.
"""

from __future__ import annotations

import re

_NAME, _EXTENSION, _PATH, _FOLDERS = 1, 2, 4, 8
_PARTS = {"n": _NAME, "x": _EXTENSION, "p": _PATH, "d": _FOLDERS}
_SEPARATOR = r"[/\\]"  # for $Fd only: otherwise a backslash is a character of a name


def pick(text: str, letters: str, folder: str) -> str:
    """Return the parts of a file name that ``letters`` ask for, as $F with these letters does.

    ``folder`` is what ``f`` puts before a relative path. Parts that are not there may cost a quote of ``q``.
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
    """Return a file's name without its folder, and without ``suffix`` where it ends in that."""
    path = _unquoted(text, '"')
    name = path[path.rfind("/") + 1 :]
    if suffix and name.lower().endswith(suffix.lower()):
        return name[: len(name) - len(suffix)]
    return name


def _chosen(path: str, letters: str) -> tuple[int, int]:
    """Return where the parts begin and end in a path, whose quotes count as characters of it."""
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
        return _last_folders(path, letters.count("d")), end
    return 0 if parts & _PATH or not parts else name, end


def _last_folders(path: str, count: int) -> int:
    """Return where the last ``count`` folders of a path begin, 0 if there are no more."""
    separators = [match.end() for match in re.finditer(_SEPARATOR, path)]
    return separators[-count - 1] if count < len(separators) else 0


def _quoted(path: str, start: int, end: int, quote: str) -> str:
    """Put back the quotes that were cut off, in the place HTCondor has for them."""
    chars = [*path, "", ""]
    if chars[start] != quote:
        start -= 1
        chars[start] = quote
    if end > 1 and chars[end - 1] == quote:
        end -= 1
    chars[end] = quote
    return "".join(chars[start : end + 1])


def _unquoted(text: str, quote: str) -> str:
    """Return a text without the quotes around it; a quote at its beginning alone goes too."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    if text[:1] in {'"', quote} and text:
        first, text = text[0], text[1:]
        text = text.removesuffix(first)
    return text
