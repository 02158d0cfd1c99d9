"""The parts of a file name that $F(), $BASENAME() and $DIRNAME() give."""

from __future__ import annotations

from typing import NamedTuple

_SEPARATORS = "/\\"


class Parts(NamedTuple):
    """A path cut at its last separator and at the last dot behind it; ``extension`` has its dot."""

    folder: str
    stem: str
    extension: str

    @classmethod
    def of(cls, path: str) -> Parts:
        """Cut a path; a dot at the beginning of a name begins no extension."""
        at = max(path.rfind(separator) for separator in _SEPARATORS) + 1
        name = path[at:]
        dot = name.rfind(".")
        end = dot if dot > 0 else len(name)
        return cls(path[:at], name[:end], name[end:])


def pick(text: str, letters: str, folder: str) -> str:
    """Return the parts of a file name that ``letters`` ask for, as $F with these letters does.

    ``folder`` is what ``f`` puts before a relative path.
    """
    wanted = frozenset(letters.lower())
    path = _unquoted(text, "'" if wanted >= {"q", "a"} else '"')
    if "f" in wanted and folder and not path.startswith("/"):
        path = folder.rstrip("/") + "/" + path.removeprefix("./")
    if "u" in wanted or "w" in wanted:
        last = next(letter for letter in reversed(letters.lower()) if letter in "uw")
        path = path.replace("\\", "/") if last == "u" else path.replace("/", "\\")
    chosen = _chosen(Parts.of(path), path, wanted, letters.lower().count("d"))
    if "q" in wanted:
        quote = "'" if "a" in wanted else '"'
        return f"{quote}{chosen}{quote}"
    return chosen


def base_name(text: str, suffix: str) -> str:
    """Return a file's name without its folder, and without ``suffix`` where it ends in that."""
    path = _unquoted(text, '"')
    parts = Parts.of(path)
    name = parts.stem + parts.extension
    if suffix and name.lower().endswith(suffix.lower()):
        return name[: len(name) - len(suffix)]
    return name


def _chosen(  # noqa: PLR0911 - a rule is a line, and a return
    parts: Parts, path: str, wanted: frozenset[str], folders: int
) -> str:
    name, extension, bare = "n" in wanted, "x" in wanted, "b" in wanted
    if not parts.folder and (name or extension):
        folders = 0
        wanted -= {"p"}
    if folders:
        head = _last_folders(parts.folder, folders)
        if not name and not extension:
            return head[:-1] if bare else head
        return head + parts.stem + (parts.extension if extension else "")
    if "p" in wanted:
        if extension:
            return path
        if name:
            return parts.folder + parts.stem
        return parts.folder[:-1] if bare else parts.folder
    if name:
        return parts.stem + (parts.extension if extension else "")
    if extension:
        return parts.extension[1:] if bare else parts.extension
    return path


def _last_folders(folder: str, count: int) -> str:
    """Return the last ``count`` folders with the separators behind them, all of them if there are no more."""
    at = len(folder)
    for _ in range(count + 1):
        at = max(folder.rfind(separator, 0, at) for separator in _SEPARATORS)
        if at < 0:
            return folder
    return folder[at + 1 :]


def _unquoted(text: str, quote: str) -> str:
    """Return a text without the quotes around it; a quote at its beginning alone goes too."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    if text[:1] in {'"', quote} and text:
        first, text = text[0], text[1:]
        text = text.removesuffix(first)
    return text
