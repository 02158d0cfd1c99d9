"""Files that a text may name: only in folders that the caller allows, and within limits.

HTCondor: Open_macro_source, submit_expand_globs.
"""

from __future__ import annotations

import errno
import os  # not pathlib: it takes longer to import than a plain file to read
import re
import stat
from collections.abc import Iterable, Iterator
from copy import copy
from itertools import islice

from crondor.diagnostics import CrondorError, Diagnostic, Source
from crondor.macro.lines import MAX_BYTES, source_from_bytes
from crondor.rights.walk import place_of

MAX_ENTRIES = 1_000_000  # names in folders examined for one pattern
_MOST_LINKS = 40  # as the kernel
_LONGEST = 4096  # characters of a pattern, as of a path
_MAGIC = frozenset("*?[")

# No links are followed, opening a pipe does not block, and Windows does not convert line ends.
_READING = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class FileRefused(CrondorError, ValueError):
    """A file that does not exist, cannot be read, or is outside of the allowed folders (code ``file-outside``)."""

    @property
    def is_outside(self) -> bool:
        """Whether the file was not examined, since it is outside."""
        return self.diagnostics[0].kind == "file-outside"


class Files:
    """The files in some folders. Links are resolved first, so none leads out.

    ``base`` is the folder of relative paths. ``limit`` is the largest size of a file in bytes. A source is named by the
    path as written, or, if ``is_named_whole``, by the path from ``base``'s own base. With ``tree`` that folder acts as
    ``/``: absolute paths begin there, links and ``..`` stay in it, and a source is named by its path from here.
    """

    def __init__(
        self,
        roots: Iterable[str],
        *,
        base: str,
        limit: int = MAX_BYTES,
        entries: int = MAX_ENTRIES,
        is_named_whole: bool = False,
        tree: str | None = None,
    ) -> None:
        """Resolve the folders; nothing is opened."""
        self.base = base
        self._is_named_whole = is_named_whole
        self._shown = tree
        self._tree = None if tree is None else os.path.realpath(tree)
        self._roots = tuple(_slashed(self._real(root)).rstrip("/") for root in roots)
        self.limit = limit
        self._entries = entries

    def __repr__(self) -> str:
        return f"<Files below {', '.join(self._roots) or 'no folder'}>"

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if isinstance(other, Files) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._roots)

    def based(self, base: str) -> Files:
        """Return the same files, with relative paths in another folder."""
        made = copy(self)
        made.base = os.path.join(self.base, base)
        return made

    def limited(self, limit: int) -> Files:
        """Return the same files, with those larger than ``limit`` bytes refused too."""
        made = copy(self)
        made.limit = min(self.limit, limit)
        return made

    def real(self, path: str) -> str:
        """Return the resolved path. Raises FileRefused if it is outside."""
        return self._resolved(path)

    def read(self, path: str) -> Source:
        """Return the text of a file. Raises FileRefused, and InvalidText if it is not text."""
        real = self._resolved(path)
        try:
            opened = os.open(real, _READING)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise _refused("file-missing", f"can't open file {path}: {reason}") from None
        try:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise _refused("file-special", f"can't read {path}: it is not a plain file")
            if place_of(opened) not in {real, ""}:  # a folder on the way was replaced by a link
                raise _outside(path)
        except FileRefused:
            os.close(opened)
            raise
        with os.fdopen(opened, "rb") as file:
            data = file.read(self.limit + 1)
        return source_from_bytes(data, self._name(path), self.limit)

    def _name(self, path: str) -> str:
        if self._shown is not None:
            return os.path.join(self._shown, self._joined(path).lstrip("/"))
        return os.path.normpath(self._joined(path)) if self._is_named_whole else path

    def kind(self, path: str) -> str:
        """Return ``folder``, ``file``, or "" if nothing is there; nothing is opened. Raises FileRefused if outside."""
        real = self._resolved(path)
        try:
            return "folder" if stat.S_ISDIR(os.stat(real).st_mode) else "file"
        except (OSError, ValueError):
            return ""

    def is_executable(self, path: str) -> bool | None:
        """Return whether a file's mode lets anybody execute it, None if missing. Raises FileRefused for one outside."""
        real = self._resolved(path)
        try:
            mode = os.stat(real).st_mode
        except (OSError, ValueError):
            return None
        return bool(mode & 0o111) or os.name == "nt" if stat.S_ISREG(mode) else None

    def names(self, folder: str, most: int) -> list[str]:
        """Return the names in a folder, none if there are more than ``most``; raises FileRefused outside."""
        try:
            with os.scandir(self._resolved(folder or ".")) as entries:
                found = [entry.name for entry in islice(entries, most + 1)]
        except OSError:
            return []
        return found if len(found) <= most else []

    def matching(self, pattern: str) -> list[str]:
        """Return the paths that a shell pattern matches, in order, folders with a final slash.

        Stars do not match names that begin with a dot, as in glob(3). Raises FileRefused if the pattern leads outside,
        and if there are too many names.
        """
        if len(pattern) > _LONGEST:
            raise _refused("file-many", f"crondor takes no pattern of more than {_LONGEST} characters")
        pieces = [piece for piece in pattern.split("/") if piece]
        paths = ["/"] if pattern.startswith("/") else [""]
        budget = [self._entries]
        for number, piece in enumerate(pieces):
            is_last = number == len(pieces) - 1
            paths = [found for path in paths for found in self._step(path, piece, budget, is_last=is_last)]
        found = sorted(paths, key=os.fsencode) if pieces else []
        return [path for path in found if path.endswith("/")] if pattern.endswith("/") else found

    def _step(self, path: str, piece: str, budget: list[int], *, is_last: bool) -> Iterator[str]:
        """Yield the paths one piece deeper; all but the last piece must be folders."""
        if not _MAGIC.isdisjoint(piece):
            names: Iterable[str] = self._names(path, piece, budget)
        else:
            names = (re.sub(r"\\(.)", r"\1", piece),)
        for name in names:
            below = path + name
            try:
                real = self._resolved(below)
            except FileRefused:
                if _MAGIC.isdisjoint(piece):
                    raise
                if is_last:
                    yield below  # a link that leads out: its name is here, its target is ignored
                continue
            if os.path.isdir(real):
                yield below + "/"
            elif is_last and (os.path.lexists(real) or self._is_link(below)):
                yield below

    def _names(self, path: str, piece: str, budget: list[int]) -> list[str]:
        """Return the names in a folder that match one piece of a pattern."""
        found: list[str] = []
        try:
            matches = re.compile(_translated(piece)).fullmatch
            with os.scandir(self._resolved(path or ".")) as entries:
                for entry in entries:
                    budget[0] -= 1
                    if budget[0] < 0:
                        message = f"crondor looks at no more than {self._entries} names for one pattern"
                        raise _refused("file-many", message)
                    if matches(entry.name) and (entry.name[0] != "." or piece[0] == "."):
                        found.append(entry.name)
        except (OSError, re.error):  # not a folder; or [z-a], which matches nothing
            return []
        return found

    def plain_names(self, folder: str) -> list[str]:
        """Return the names in a folder that are not folders, in the order of their bytes.

        Raises FileRefused if it is outside, cannot be read, or has too many names.
        """
        found: list[str] = []
        try:
            with os.scandir(self._resolved(folder)) as entries:
                for count, entry in enumerate(entries):
                    if count >= self._entries:
                        raise _refused("file-many", f"crondor looks at no more than {self._entries} names of a folder")
                    if not self._is_folder(f"{folder}/{entry.name}"):
                        found.append(entry.name)
        except OSError as error:
            raise _refused("file-missing", f"can't open folder {folder}: {error.strerror}") from None
        return sorted(found, key=os.fsencode)

    def _joined(self, path: str) -> str:
        return os.path.join(self.base, path)

    def _is_folder(self, path: str) -> bool:
        try:
            return os.path.isdir(self._real(self._joined(path)))
        except OSError:  # a cycle of links
            return False

    def _is_link(self, path: str) -> bool:
        """Return whether a name exists, even as a dangling link."""
        folder, name = os.path.split(self._joined(path))
        return os.path.lexists(os.path.join(self._real(folder or "."), name))

    def _real(self, path: str) -> str:
        """Return the path with all links followed, inside of the tree if there is one. Raises OSError, ValueError."""
        return os.path.realpath(path) if self._tree is None else _real_inside(self._tree, path)

    def _resolved(self, path: str) -> str:
        """Return the path with all links followed. Raises FileRefused if it is outside."""
        try:
            real = self._real(self._joined(path))
        except (OSError, ValueError) as error:
            raise _refused("file-missing", f"can't open file {path}: {error}") from None
        if not any(f"{_slashed(real)}/".startswith(f"{root}/") for root in self._roots):
            raise _outside(path)
        return real


def _slashed(path: str) -> str:
    """Return a path with slashes between its names, as on all systems but Windows."""
    return path if os.sep == "/" else path.replace(os.sep, "/")


def _real_inside(tree: str, path: str) -> str:
    """Return the resolved path in a tree whose folder acts as ``/``; no link leads out of it.

    Raises OSError for a cycle of links.
    """
    left = path.split("/")[::-1]
    made: list[str] = []
    links = 0
    while left:
        piece = left.pop()
        if piece in {"", "."}:
            continue
        if piece == "..":
            del made[-1:]
            continue
        below = "/".join([tree.rstrip("/"), *made, piece])
        try:
            target = os.readlink(below)
        except OSError:  # not a link, or missing
            made.append(piece)
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if target.startswith("/"):
            made.clear()
        left += target.split("/")[::-1]
    return "/".join([tree.rstrip("/"), *made]) or "/"


_ALLOW = "allow its folder, or copy the file next to the one that names it"


def _outside(path: str) -> FileRefused:
    return _refused("file-outside", f"{path} is outside of the folders that crondor may read", _ALLOW)


def _refused(code: str, message: str, help: str | None = None) -> FileRefused:
    return FileRefused(Diagnostic(code, message, help=help))


def _translated(piece: str) -> str:
    """Return one piece of a shell pattern as a regular expression that never tries a star twice."""
    parts = [""]
    at = 0
    while at < len(piece):
        char = piece[at]
        at += 1
        if char == "*":
            parts += [""] if parts[-1] or len(parts) == 1 else []
        elif char == "?":
            parts[-1] += "."
        elif char == "[" and (found := re.compile(r"([!^]?)(\]?[^\]]*)\]").match(piece, at)):
            inside = re.sub(r"([\\\[\]&~|^])", r"\\\1", found[2])
            parts[-1] += f"[{'^' if found[1] else ''}{inside}]"
            at = found.end()
        else:
            if char == "\\" and at < len(piece):
                char, at = piece[at], at + 1
            parts[-1] += re.escape(char)
    if len(parts) == 1:
        return f"(?s:{parts[0]})"
    middle = "".join(f"(?=(?P<g{n}>.*?{part}))(?P=g{n})" for n, part in enumerate(parts[1:-1]))
    return f"(?s:{parts[0]}{middle}.*{parts[-1]})"


def of_kind(found: list[str], pattern: str, kinds: str) -> list[str]:
    """Return the names that a pattern of ``matching files`` or ``matching dirs`` selects; all for other ``kinds``.

    If its last piece is not a pattern, HTCondor treats any name as a folder: glob(3) does not check it.
    """
    looks = kinds == "files" or (kinds == "dirs" and not _MAGIC.isdisjoint(pattern.rstrip("/").rpartition("/")[2]))
    return [name for name in found if not looks or name.endswith("/") is (kinds == "dirs")]
