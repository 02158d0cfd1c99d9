"""What was chosen for the screens of this process: colours and width."""

from __future__ import annotations

import os
from typing import TextIO

COLORS = ("auto", "always", "never")


class Screen:
    """The choice of --color, and the width of lines in columns, None where the terminal decides."""

    def __init__(self) -> None:
        """Begin with what a terminal can do."""
        self.color = "auto"
        self.width: int | None = None

    def wants_colour(self, stream: TextIO | None) -> bool:
        """Say whether what goes to a stream is coloured.

        ``--color`` decides, then NO_COLOR, then FORCE_COLOR (each set to anything but nothing), then whether the stream
        is a terminal that has colours.
        """
        if stream is None or self.color == "never":
            return False
        if self.color == "always":
            return True
        if os.environ.get("NO_COLOR"):
            return False
        if os.environ.get("FORCE_COLOR"):
            return True
        return stream.isatty() and os.environ.get("TERM") != "dumb"


SCREEN = Screen()
