"""docs/cli on `crondor queue`: the JSON keys are those of real output."""

import shlex
from collections import defaultdict
from pathlib import Path

import pytest

from tests.cli.running import crondor
from tests.docs.json_types import unseen

NOW = ("--now", "2026-11-20 12:00")

FILES = {
    "report.sub": "executable = /bin/date\ncron_minute = 0\ncron_hour = 1-10/3\nqueue\n",
    "held.sub": "executable = /bin/date\ncron_minute = 61\nqueue\n",
    "once.sub": "executable = /bin/date\ndeferral_time = 1\ncron_minutes = 5\nqueue\n",
    "ads": 'ClusterId = 9\nProcId = 0\nCronMinute = "0"\nJobStatus = 5\n\nCronMinute = "0"\n\nCronMinute = ((\n\n'
    'ClusterId = 8\nProcId = 0\nCronMinute = "0"\nJobStatus = 1\n',
}
# Each line is a command; its output is looked at as JSON.
SESSION = (
    "status",
    "submit report.sub",
    "submit held.sub",
    "submit once.sub",
    "submit report.sub once.sub",
    "recalc --dialect htcondor",
    "recalc --dialect htcondor --apply",
    "guard --once",
    "edit 2.0 --set JobStatus=1 --set DeferralTime=5",
    "edit 1.0 9.0 --set A=1 --if JobStatus==7",
    "guard --once --apply",
    "edit 1.0 --set CrondorCatchUp=86400 --set QDate=1",
    "guard --once",
    "guard --once --apply",
    "edit 1.0 --set DeferralTime='\"x\"'",
    "guard --once",
    "status",
    "status 7.7",
    "status --ads ads",
    "recalc --ads ads",
    "next",
    "next 7.7",
    "next --ads ads",
    "recalc 2.0 7.7",
    "hold 1.0 7.7",
    "hold 1.0",
    "release 1.0 7.7",
    "rm 1.0 7.7",
    "history",
)


def test_json_keys_are_those_documented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each key of real output is documented with its types, and each documented key occurs with all of them."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    (tmp_path / "queue").mkdir()
    odd = 'A = 1\n*** Offset = 0 ClusterId = -1 ProcId = -1 Owner = "?" CompletionDate = -1 CurrentTime = 0\n'
    (tmp_path / "queue" / "history").write_text(odd, encoding="utf-8")
    printed = defaultdict(list)
    for line in SESSION:
        name, *given = shlex.split(line)
        env = {"CRONDOR_QUEUE": str(tmp_path / "queue")}
        words = ("next", "--list") if name == "next" else ("queue", name)
        result = crondor(*words, *NOW, *given, "--format", "json", env=env)
        assert result.out, (line, result.err)
        printed[name].append(result.data)
    starts = printed.pop("next")
    assert not [at for at in unseen("next", starts) if at[0] == "starts[]"]
    assert {name: missing for name, data in printed.items() if (missing := unseen(f"queue-{name}", data))} == {}
