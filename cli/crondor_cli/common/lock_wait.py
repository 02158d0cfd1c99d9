"""Commands that change a queue wait for one another, and say that they do."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from crondor.diagnostics import printable
from crondor_cli.common.output import say

PATIENCE: Final = 5.0  # seconds: a command has a queue for much less, a router or crondor run as long as it goes on
_PAUSE: Final = 0.05  # seconds between two tries


class LockWait:
    """Waits for a queue that another process has, as long as one wants to wait for a command."""

    def __init__(
        self,
        folder: Path,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        """Take the queue's folder, for the message; ``clock`` and ``sleep`` count seconds."""
        self._folder = folder
        self._clock = clock
        self._sleep = sleep
        self._end: float | None = None

    def __call__(self) -> bool:
        """Wait a little, and say whether to try again."""
        if self._end is None:
            shown = printable(str(self._folder))
            say(f"another process writes the queue in {shown}: waiting up to {PATIENCE:.0f} s for it", err=True)
            self._end = self._clock() + PATIENCE
        if self._clock() >= self._end:
            return False
        self._sleep(_PAUSE)
        return True
