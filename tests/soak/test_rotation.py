"""What a monitor tells hangs on no rotation: of log, history and user logs, whenever they come between its looks."""

from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.soak.files import Files, Rotation
from tests.soak.watched import SIX, clock_at, watched

NEVER = Rotation(1 << 40, 1 << 40, 1 << 40)
ALWAYS = Rotation(0, 0, 0)
MINUTES = 15
CLUSTERS, JOBS = 4, 10  # jobs of a cluster; those of two clusters have a user log in common

Told = list[tuple[object, ...]]


def told(folder: Path, rotation: Rotation, pause: int) -> Told:
    """Return the last verdicts of all due times that a monitor has told, which looks every ``pause`` minutes."""
    folder.mkdir()
    files = Files(folder, SIX, rotation)
    found: Told = []
    with patch("tests.soak.files._SHARED", 2 * JOBS), ExitStack() as stack:
        for _ in range(CLUSTERS):
            files.fill(JOBS)
        queue = watched(files, stack)
        for minute in range(1, MINUTES + 1):
            now = SIX + 60 * minute + 30
            files.turn_over(JOBS, now)
            if minute % pause:
                continue
            look = queue.look(clock_at(now))
            assert look is not None
            assert queue.findings == []
            found += [(run.job, run.run.time, run.verdict, run.cause, run.started, run.detail) for run in look.runs]
        stack.callback(files.close)
    return found


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Told]:
    """Return what is told where nothing is ever rotated, by the pause between looks."""
    return {pause: told(tmp_path_factory.mktemp("soak") / "plain", NEVER, pause) for pause in (1, 3)}


@pytest.mark.parametrize("pause", [1, 3])
@pytest.mark.parametrize(
    "rotation",
    [ALWAYS, NEVER._replace(log=0), NEVER._replace(history=0), NEVER._replace(compaction=0), Rotation(1500, 6000, 180)],
    ids=["all", "user logs", "history", "log", "now and then"],
)
def test_nothing_is_missed_and_nothing_told_twice(
    tmp_path: Path, rotation: Rotation, pause: int, plain: dict[int, Told]
) -> None:
    """The same verdicts in the same order as where nothing is ever rotated."""
    expected = plain[pause]
    assert len(expected) > 2 * MINUTES
    assert len(set(expected)) == len(expected)
    assert told(tmp_path / "rotated", rotation, pause) == expected
