"""Files that a text may name: opened only below the folders the caller allows, and only so far as bounds go.

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

MAX_ENTRIES = 1_000_000  # names of folders looked at for one pattern
_MOST_LINKS = 40  # as the kernel
_LONGEST = 4096  # characters of a pattern, as of a path
_MAGIC = frozenset("*?[")

# No link is followed any more, a pipe does not wait for somebody to write, and Windows changes no line end.
_READING = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class FileRefused(CrondorError, ValueError):
    """A file that is not there, cannot be read, or lies outside of the allowed folders (code ``file-outside``)."""

    @property
    def is_outside(self) -> bool:
        """Whether the file was not looked at at all, since it lies outside."""
        return self.diagnostics[0].kind == "file-outside"


class Files:
    """The files below some folders. Links are resolved first, so none leads out.

    ``base`` is the folder that relative paths begin in. ``limit`` is the largest size of a file in bytes. A source is
    called as the path is written, or, ``is_named_whole``, by what leads there from where ``base`` does.
    With ``tree`` all of it is as if that folder were ``/``: an absolute path begins there, links and ``..`` stay in it,
    and a source is called by where it is from here.
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
        """Return the same files, with relative paths that begin in another folder."""
        made = copy(self)
        made.base = os.path.join(self.base, base)
        return made

    def limited(self, limit: int) -> Files:
        """Return the same files, those larger than ``limit`` bytes refused too."""
        made = copy(self)
        made.limit = min(self.limit, limit)
        return made

    def real(self, path: str) -> str:
        """Return where a path leads. Raises FileRefused where that is outside."""
        return self._resolved(path)

    def read(self, path: str) -> Source:
        """Return the text of a file. Raises FileRefused, and InvalidText for what is no text."""
        real = self._resolved(path)
        try:
            opened = os.open(real, _READING)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise _refused("file-missing", f"can't open file {path}: {reason}") from None
        try:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise _refused("file-special", f"can't read {path}: it is not a plain file")
            if place_of(opened) not in {real, ""}:  # a folder on the way has become a link
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
        """Return ``folder`` or ``file`` for what a path leads to, nothing where nothing is there; nothing is opened.

        Raises FileRefused where that is outside.
        """
        real = self._resolved(path)
        try:
            return "folder" if stat.S_ISDIR(os.stat(real).st_mode) else "file"
        except (OSError, ValueError):
            return ""

    def is_executable(self, path: str) -> bool | None:
        """Return whether its mode lets anybody execute a file; None where none is there.

        Raises FileRefused where that is outside.
        """
        real = self._resolved(path)
        try:
            mode = os.stat(real).st_mode
        except (OSError, ValueError):
            return None
        return bool(mode & 0o111) or os.name == "nt" if stat.S_ISREG(mode) else None

    def names(self, folder: str, most: int) -> list[str]:
        """Return the names in a folder, none where there are more than ``most``; raises FileRefused outside."""
        try:
            with os.scandir(self._resolved(folder or ".")) as entries:
                found = [entry.name for entry in islice(entries, most + 1)]
        except OSError:
            return []
        return found if len(found) <= most else []

    def matching(self, pattern: str) -> list[str]:
        """Return the paths that a pattern of the shell matches, in order, folders with a slash at the end.

        The stars of a pattern match no name that begins with a dot, as in glob(3). Raises FileRefused where the
        pattern leads outside, and where there are too many names to look at.
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
                    yield below  # a link that leads out: its name is here, and what it leads to is left alone
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
        except (OSError, re.error):  # no folder; or [z-a], which matches nothing
            return []
        return found

    def plain_names(self, folder: str) -> list[str]:
        """Return the names of what is in a folder and is no folder itself, in the order of their bytes.

        Raises FileRefused where it leads outside, cannot be read, or has too many names.
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
        except OSError:  # links in a circle
            return False

    def _is_link(self, path: str) -> bool:
        """Whether a name is there, be it a link that leads nowhere."""
        folder, name = os.path.split(self._joined(path))
        return os.path.lexists(os.path.join(self._real(folder or "."), name))

    def _real(self, path: str) -> str:
        """Return the path with all links followed, inside of the tree if there is one. Raises OSError, ValueError."""
        return os.path.realpath(path) if self._tree is None else _real_inside(self._tree, path)

    def _resolved(self, path: str) -> str:
        """Return the path with all links followed. Raises FileRefused where that is outside."""
        try:
            real = self._real(self._joined(path))
        except (OSError, ValueError) as error:
            raise _refused("file-missing", f"can't open file {path}: {error}") from None
        if not any(f"{_slashed(real)}/".startswith(f"{root}/") for root in self._roots):
            raise _outside(path)
        return real


def _slashed(path: str) -> str:
    """Return a path with slashes between its names, as all systems but Windows have them."""
    return path if os.sep == "/" else path.replace(os.sep, "/")


def _real_inside(tree: str, path: str) -> str:
    """Return where a path of a tree leads when that folder is taken for ``/``; no link leads out of it.

    Raises OSError for links that lead in a circle.
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
        except OSError:  # no link, or not there
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
    return _refused("file-outside", f"{path} lies outside of the folders that crondor may read", _ALLOW)


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
    """Return the names that a pattern of ``matching files`` or ``matching dirs`` takes; all for other ``kinds``.

    HTCondor takes any name for that of a folder where its last piece is no pattern: glob(3) does not look then.
    """
    looks = kinds == "files" or (kinds == "dirs" and not _MAGIC.isdisjoint(pattern.rstrip("/").rpartition("/")[2]))
    return [name for name in found if not looks or name.endswith("/") is (kinds == "dirs")]
