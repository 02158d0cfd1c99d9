"""Editor features for a text being written: findings, descriptions, completions.

Based on texts, offsets in characters and findings, without a protocol: a language server and a page in a browser share
them. ``kind_of`` returns the language of a text, ``check_text`` the findings of `crondor check`, `crondor route check`
and the readers. ``ReadText`` is a text for the other modules: ``hovering``, ``completing``, ``names``, ``structure``,
``schedules``, and ``changes`` for fixing findings.
"""

from crondor.editing.findings import CheckedText, check_text
from crondor.editing.reading import EditSettings, ReadText, TextKind, kind_of

__all__ = ["CheckedText", "EditSettings", "ReadText", "TextKind", "check_text", "kind_of"]
