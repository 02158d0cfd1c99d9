"""A folder of submit files and an embedded queue, both in the test's own folder."""

from pathlib import Path

import pytest

from crondor.classad.ad import ClassAd
from crondor.schedd.embedded import EmbeddedSchedd
from tests.cli.running import NOW, NOW_EPOCH, ZONE, Result, crondor


class Desk:
    """A folder of submit files, a queue, and the commands."""

    def __init__(self, path: Path) -> None:
        """Begin with an empty folder and no queue."""
        self.folder = path / "jobs"
        self.queue = path / "q"
        self.folder.mkdir()

    def write(self, name: str, *lines: str) -> None:
        """Write a submit file of a job at one hour a day, with more lines."""
        text = "\n".join(("executable = /bin/date", "on_exit_remove = false", "cron_minute = 0", *lines, "queue"))
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{text}\n", encoding="utf-8")

    def run(self, command: str, *arguments: str, stdin: str = "", now: str = NOW) -> Result:
        """Run plan or apply on the folder and the queue, or a command of the queue."""
        words = (command, str(self.folder)) if command in {"plan", "apply"} else ("queue", command)
        return crondor(*words, "--queue", str(self.queue), "--now", now, *arguments, stdin=stdin)

    def schedd(self) -> EmbeddedSchedd:
        """Open the queue."""
        return EmbeddedSchedd(self.queue, clock=lambda: NOW_EPOCH, zone=ZONE)

    def ads(self) -> list[ClassAd]:
        """Return the jobs in the queue."""
        with self.schedd() as schedd:
            return schedd.jobs()

    def values(self, *names: str) -> list[tuple[object, ...]]:
        """Return some attributes of the jobs in the queue."""
        return [tuple(ad.python(name) for name in names) for ad in self.ads()]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return the folder, the queue and the commands of this test."""
    return Desk(tmp_path)
