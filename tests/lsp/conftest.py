"""Tests of editors are there where the editors are: no test is skipped, and none pretends to have run."""

from __future__ import annotations

import shutil

collect_ignore = [
    name for program, name in (("nvim", "test_neovim.py"), ("emacs", "test_emacs.py")) if shutil.which(program) is None
]
