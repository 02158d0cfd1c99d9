"""Run commands as somebody whom the modes of files bind, root or not: arguments in, what each left behind out."""

from __future__ import annotations

import ctypes
import json
import os
import sys

from tests.cli.running import crondor

_DROP = 24  # PR_CAPBSET_DROP
_PASSING_MODES = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


def _bind() -> None:
    """Begin again without the rights by which root passes over modes; others have none, and Linux alone has these."""
    if sys.platform == "linux" and os.geteuid() == 0:
        for right in _PASSING_MODES:
            ctypes.CDLL(None).prctl(_DROP, right, 0, 0, 0)
    os.execv(sys.executable, [sys.executable, "-m", "tests.cli.denied", "bound"])  # noqa: S606 - this very program


if __name__ == "__main__":
    if sys.argv[1:] != ["bound"]:
        _bind()
    json.dump([crondor(*arguments) for arguments in json.load(sys.stdin)], sys.stdout)
