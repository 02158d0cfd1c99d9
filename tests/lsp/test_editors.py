"""Real editors with what editors/ has for them; those that are not installed are passed over."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from crondor.editing import TextKind
from tests.cli.running import NOW, ROOT, SLOWEST, ZONE, environment

EDITORS = ROOT / "editors"
PROGRAM = [sys.executable, "-c", "from crondor_cli.main import main; main()", "lsp", "--now", NOW, "--tz", ZONE]
TEXT = "executable = /bin/x\ncron_minutes = 0\ncron_hour = 6\nqueue\n"


@pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed")
def test_neovim_shows_findings_and_makes_fixes(tmp_path: Path) -> None:
    """Its own client: findings, hover, completion, all fixes, and on saving."""
    file, seen = tmp_path / "a.sub", tmp_path / "seen.json"
    file.write_text(TEXT, encoding="utf-8")
    own = {"EDITORS": str(EDITORS), "COMMAND": json.dumps(PROGRAM), "FILE": str(file), "SEEN": str(seen)}
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    command = ["nvim", "--headless", "-u", "NONE", "-S", str(Path(__file__).with_name("neovim.lua"))]
    subprocess.run(command, env=environment(**own, **home), timeout=SLOWEST, check=True, capture_output=True)
    found: dict[str, Any] = json.loads(seen.read_text(encoding="utf-8"))
    assert "fault" not in found, found
    assert found["filetype"] == "htcondor-submit"
    assert found["syntax"] == "htcondorName"
    assert ["CRN501", 1, 0] in found["found"]
    assert "The hours in which the job runs" in found["hover"]
    assert found["completion"] > 100
    assert found["text"][1] == "cron_minute = 0"
    assert found["saved"][1] == "cron_minute = 1"


@pytest.mark.skipif(shutil.which("emacs") is None, reason="Emacs is not installed")
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


def test_helix_knows_all_languages() -> None:
    """By the names that the server knows."""
    read = tomllib.loads((EDITORS / "helix/languages.toml").read_text(encoding="utf-8"))
    assert {each["language-id"] for each in read["language"]} == {kind.value for kind in TextKind}
    assert all(each["language-servers"] == ["crondor"] for each in read["language"])


def test_the_extension_knows_all_languages() -> None:
    """Each with a grammar that is there, and each command that it shows is one that it has."""
    folder = EDITORS / "vscode"
    package = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    offers = package["contributes"]
    languages = {kind.value for kind in TextKind}
    assert {each["id"] for each in offers["languages"]} == languages
    assert {each["language"] for each in offers["grammars"]} == languages
    for each in offers["grammars"]:
        grammar = json.loads((folder / each["path"]).read_text(encoding="utf-8"))
        assert grammar["scopeName"] == each["scopeName"]
    source = (folder / "src/extension.ts").read_text(encoding="utf-8")
    assert all(f'registerCommand("{each["command"]}"' in source for each in offers["commands"])
    assert all(f'"{language}"' in source for language in languages)
