"""What an editor asks of a text while it is written: what is wrong, what stands here, what may stand here.

It knows texts, offsets in characters and findings, and no protocol: a language server and a page in a browser stand on
the same answers. ``kind_of`` says which language a text is in, ``check_text`` finds what `crondor check`, `crondor
route check` and the readers find. ``ReadText`` is a text of which the modules beside it answer questions: ``hovering``,
``completing``, ``names``, ``structure``, ``schedules``, and ``changes`` for what can be done about findings.
"""

from crondor.editing.findings import CheckedText, check_text
from crondor.editing.reading import EditSettings, ReadText, TextKind, kind_of

__all__ = ["CheckedText", "EditSettings", "ReadText", "TextKind", "check_text", "kind_of"]
