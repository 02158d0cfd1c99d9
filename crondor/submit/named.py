"""The jobs of a description with the attributes that their own values name."""

from __future__ import annotations

import re
from collections.abc import Iterable

from crondor.submit.file import SubmitFile
from crondor.submit.jobs import JobGroup

_WORD = r"[a-z_][a-z0-9_]*"


def groups_with_attributes(file: SubmitFile, names: Iterable[str]) -> list[JobGroup]:
    """Return the groups of a file for some names, for the attributes (``+X``) that their values name, and so on.

    Whoever evaluates the values then finds all they refer to. Raises InvalidSubmit.
    """
    wanted = tuple(names)
    own = {key.removeprefix("my."): key for key in file.keys if key.startswith("my.") and key not in wanted}
    while True:
        groups = list(file.groups(wanted))
        if not own:
            return groups
        texts = {text for group in groups for text in group.values.values()}
        words = {word for text in texts for word in re.findall(_WORD, text.lower())}
        more = tuple(own.pop(word) for word in sorted(words & own.keys()))
        if not more:
            return groups
        wanted += more
