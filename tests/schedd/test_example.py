"""The program of examples/ with an embedded queue: it is run as it stands, on a clock of the test's."""

import runpy
import time
from pathlib import Path

import pytest

from crondor.job_queue import JobId
from crondor.schedd.embedded import EmbeddedSchedd

PROGRAM = Path(__file__).parents[2] / "examples" / "embedded_queue.py"
NOW = 1_795_195_625
HOUR = NOW - NOW % 3600 + 3600


def test_the_program_is_short() -> None:
    """Under forty lines, comments and all."""
    assert len(PROGRAM.read_text(encoding="utf-8").splitlines()) < 40


def test_jobs_start_at_their_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An hourly job each hour, a job of one time once; what has run for the last time is in the history."""
    hourly, once = tmp_path / "hourly.sub", tmp_path / "once.sub"
    hourly.write_text("executable = /bin/date\ncron_minute = 0\ncron_window = 60\non_exit_remove = false\nqueue\n")
    once.write_text(f"executable = /bin/df\ndeferral_time = {HOUR + 600}\ndeferral_window = 5\nqueue\n")
    clock = [NOW]

    def sleep(seconds: float) -> None:
        clock[0] += int(seconds)
        if clock[0] > HOUR + 3700:
            raise KeyboardInterrupt
        if clock[0] % 600 == 30:  # the night is long
            clock[0] += 560

    monkeypatch.setattr(time, "time", lambda: float(clock[0]))
    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr("sys.argv", [str(PROGRAM), str(tmp_path / "queue"), str(hourly), str(once)])
    with pytest.raises(KeyboardInterrupt):
        runpy.run_path(str(PROGRAM), run_name="__main__")
    assert capsys.readouterr().out.splitlines() == [
        "1.0 runs /bin/date, 0 s late",
        "2.0 runs /bin/df, 0 s late",
        "1.0 runs /bin/date, 0 s late",
    ]
    with EmbeddedSchedd(tmp_path / "queue", clock=lambda: clock[0]) as schedd:
        assert [ad.python("ClusterId") for ad in schedd.history()] == [2]
        (ad,) = schedd.jobs()
        assert (ad.python("ClusterId"), ad.python("DeferralTime")) == (JobId(1, 0).cluster, HOUR + 7200)
