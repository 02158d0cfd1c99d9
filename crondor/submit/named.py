"""The jobs of a description with the attributes that their own values name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from crondor.diagnostics import Diagnostic
from crondor.submit.errors import InvalidSubmit
from crondor.submit.file import LIMIT, SubmitFile
from crondor.submit.jobs import JobGroup

_WORD = r"[a-z_][a-z0-9_]*"
_ROUNDS = 4  # attributes that name attributes; after so many all are taken, or a long chain takes long


def groups_with_attributes(
    file: SubmitFile, names: Iterable[str], limit: int = LIMIT, cut: list[Diagnostic] | None = None
) -> list[JobGroup]:
    """Return the groups of a file for some names, for the attributes (``+X``) that their values name, and so on.

    Whoever evaluates the values then finds all they refer to. ``limit`` is that of SubmitFile.groups(); with a list
    ``cut`` to say so in, only the jobs up to it are in the groups. Raises InvalidSubmit.
    """
    wanted = tuple(names)
    own = {key.removeprefix("my."): key for key in file.keys if key.startswith("my.") and key not in wanted}
    rounds = 0
    while True:
        groups = list(_until(file.groups(wanted, limit), cut))
        if not own:
            return groups
        texts = {text for group in groups for text in group.values.values()}
        words = {word for text in texts for word in re.findall(_WORD, text.lower())}
        more = tuple(own.pop(word) for word in sorted(words & own.keys()))
        if not more:
            return groups
        rounds += 1
        wanted += more
        if rounds == _ROUNDS:
            wanted += tuple(own.values())
            own = {}


def _until(groups: Iterator[JobGroup], cut: list[Diagnostic] | None) -> Iterator[JobGroup]:
    """Yield groups up to the limit of jobs, and note in ``cut`` that it was passed."""
    try:
        yield from groups
    except InvalidSubmit as error:
        if cut is None or any(fault.kind != "too-many-variants" for fault in error.diagnostics):
            raise
        cut[:] = error.diagnostics
