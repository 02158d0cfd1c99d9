"""Neovim, where it is installed, with what editors/nvim has for it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.cli.running import NOW, ROOT, SLOWEST, ZONE, environment

EDITORS = ROOT / "editors"
PROGRAM = [sys.executable, "-c", "from crondor_cli.main import main; main()", "lsp", "--now", NOW, "--tz", ZONE]
TEXT = "executable = /bin/x\ncron_minutes = 0\ncron_hour = 6\nqueue\n"


def test_neovim_shows_findings_and_makes_fixes(tmp_path: Path) -> None:
    """Its own client: findings, hover, completion, all fixes, and on saving; a schedule is compiled."""
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
    assert found["compiled"][0] == "# crondor: schedule = every 2 days at 06:00 from 2026-11-20"
    assert "# crondor: end of compiled lines" in found["compiled"]
