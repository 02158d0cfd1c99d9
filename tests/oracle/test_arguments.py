"""HTCondor's own library reads the arguments that crondor writes as the same texts."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

from crondor.job.attributes import join_arguments

PEER = Path(__file__).with_name("arguments_peer.py")
PIECES = ("'", '"', "$", "$$", "(", ")", "$(", "$$(", "$(DOLLAR)", "$ENV(", " ", "\t", "a", "x", "[", "\\", "%", "#",
          ":", "DOLLAR", "=", ";", "\r", "é", "@")  # fmt: skip


def test_random_arguments_are_read_back() -> None:
    """Macros, quotes and blanks in any order; seeded."""
    chance = random.Random(7)  # noqa: S311 - texts, no secrets
    cases = [
        ["".join(chance.choices(PIECES, k=chance.randrange(12))) for _ in range(chance.randrange(1, 4))]
        for _ in range(5000)
    ]
    environment = {**os.environ, "CONDOR_CONFIG": "/dev/null"}
    ended = subprocess.run(
        [sys.executable, str(PEER)],
        input=json.dumps([join_arguments(case) for case in cases]),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env=environment,
    )
    assert json.loads(ended.stdout) == cases
