"""Which of HTCondor's languages a text is in, by what the editor calls it or by the name of its file."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final


class TextKind(Enum):
    """A language; the value is what editors call it (LSP: languageId)."""

    SUBMIT = "htcondor-submit"
    CONFIG = "htcondor-config"
    TRANSFORM = "htcondor-transform"
    AD = "classad"
    CRONTAB = "crontab"


_LANGUAGES: Final = {
    **{kind.value: kind for kind in TextKind},
    "condor": TextKind.SUBMIT,
    "condor-submit": TextKind.SUBMIT,
    "submit": TextKind.SUBMIT,
    "htcondor": TextKind.SUBMIT,
    "condor-config": TextKind.CONFIG,
    "classads": TextKind.AD,
    "cron": TextKind.CRONTAB,
}
_SUFFIXES: Final = {
    **dict.fromkeys((".sub", ".submit", ".jdl"), TextKind.SUBMIT),
    **dict.fromkeys((".conf", ".config"), TextKind.CONFIG),
    **dict.fromkeys((".rules", ".xform", ".transform"), TextKind.TRANSFORM),
    **dict.fromkeys((".ad", ".ads", ".classad", ".classads"), TextKind.AD),
    **dict.fromkeys((".crontab", ".cron"), TextKind.CRONTAB),
}
_CONFIG: Final = re.compile(r"condor_config(\..+)?").fullmatch


def kind_of(path: str, language: str = "") -> TextKind | None:
    """Return the language of a text: what an editor calls it decides, else the file's name; None: it is none of ours.

    A file in a folder ``cron.d``, or called ``crontab``, is a crontab; ``condor_config`` and ``condor_config.local``
    are configurations.
    """
    known = _LANGUAGES.get(language.lower())
    if known is not None:
        return known
    *folders, name = path.replace("\\", "/").lower().split("/")
    if name == "crontab" or folders[-1:] == ["cron.d"]:
        return TextKind.CRONTAB
    if _CONFIG(name):
        return TextKind.CONFIG
    dot = name.rfind(".")
    return _SUFFIXES.get(name[dot:]) if dot > 0 else None
