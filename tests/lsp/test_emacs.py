"""Emacs, where it is installed, with what editors/emacs has for it."""

import shutil
import subprocess

from tests.cli.running import ROOT, SLOWEST, environment

EDITORS = ROOT / "editors"


def test_emacs_takes_its_modes() -> None:
    """Without a warning, and a submit file has its mode and its colours."""
    script = """(progn (load (concat (getenv "EDITORS") "/emacs/crondor.el") nil t)
      (with-temp-buffer (insert "cron_hour = 6\\nqueue\\n") (setq buffer-file-name "/nowhere/a.sub") (set-auto-mode)
        (font-lock-ensure)
        (princ (list major-mode (get-text-property 1 'face) (get-text-property 16 'face)))
        (setq buffer-file-name nil) (set-buffer-modified-p nil)))"""
    program = shutil.which("emacs") or "emacs"
    done = subprocess.run(
        [program, "-Q", "--batch", "--eval", script],
        env=environment(EDITORS=str(EDITORS)),
        timeout=SLOWEST,
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "(htcondor-submit-mode font-lock-variable-name-face font-lock-keyword-face)"
