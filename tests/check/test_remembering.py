"""A check that remembers the one before it finds what a fresh one finds, and looks at less."""

import gzip
import json
import random

from crondor.diagnostics import Source
from crondor.lint import CheckSettings, check_submit
from crondor.lint.subject import CheckMemory
from crondor.submit import read_submit
from crondor.submit.ad import job_ads
from tests.cli.running import EXAMPLES, ROOT
from tests.examples import TIMES

SETTINGS = CheckSettings(1_795_195_625, "Europe/Berlin")
JOB = "executable = /bin/run{0}\ncron_minute = {0}\ncron_hour = 6\nrequest_memory = 1024\nqueue\n"
PIECES = (
    *("", "1", "0", "MON", "*/7", "1-5", "60", "x", "\n", "$(x)", "#", '"', " && ", "(", ")"),
    *("x = 3\n", "queue\n", "queue 2\n", "cron_minute = 5\n", "cron_day_of_week = 1\n", "universe = local\n"),
    *("on_exit_remove = false\n", "requirements = DeferralTime > 3\n", "deferral_window = 10\n", "+CronHour = 3\n"),
    *("submit.cron_hour = 7\n", "job_lease_duration = 3\n", "if $(x)\n", "endif\n", "arguments = $(ProcId)\n"),
)


def texts() -> list[str]:
    """Return the examples, recorded descriptions, and one of many jobs."""
    lines = gzip.decompress((ROOT / "tests/golden/submit/submit.jsonl.gz").read_bytes()).splitlines()
    return [
        *(path.read_text(encoding="utf-8") for path in EXAMPLES),
        *(json.loads(line)["submit"] for line in lines[::60]),
        "".join(JOB.format(number) for number in range(6)),
    ]


def edited(text: str, dice: random.Random) -> str:
    """Return a text with a piece of it replaced."""
    low = dice.randrange(len(text) + 1)
    return text[:low] + dice.choice(PIECES) + text[min(len(text), low + dice.choice((0, 0, 1, 5))) :]


def test_edits_one_after_the_other_find_what_a_fresh_check_finds() -> None:
    """Places, words, fixes, and what was silenced."""
    dice = random.Random(3)  # noqa: S311 - which edits, no secret
    choices = texts()
    for _ in range(5 * TIMES):
        memory, text = CheckMemory(), dice.choice(choices)
        for _ in range(12):
            text = edited(text, dice)
            source = Source(text, "a.sub")
            assert check_submit(source, SETTINGS, memory=memory) == check_submit(source, SETTINGS), text


def test_an_ad_is_made_of_the_changed_job_alone() -> None:
    """And of the first one, which decides about all."""
    memory = CheckMemory().made
    text = "".join(JOB.format(number) for number in range(20))
    assert len(list(job_ads(read_submit(Source(text)), memory=memory))) == 20
    memory.turn()
    assert len(list(job_ads(read_submit(Source(text)), memory=memory))) == 1
    memory.turn()
    changed = text.replace("cron_minute = 7\n", "cron_minute = 8\n")
    assert [each.jobs.first[0] for each in job_ads(read_submit(Source(changed)), memory=memory)] == [0, 7]


def test_what_was_looked_up_is_known_of_jobs_that_are_not_made_again() -> None:
    """So that no line seems to be unused."""
    memory = CheckMemory().made
    seen = []
    for _ in range(2):
        used: set[str] = set()
        text = "".join(JOB.format(number) for number in range(3)) + "transfer_input_files = $(x)\nx = a\nqueue\n"
        assert list(job_ads(read_submit(Source(text)), memory=memory, used=used))
        seen.append(used)
        memory.turn()
    assert seen[0] == seen[1]
    assert "x" in seen[0]
