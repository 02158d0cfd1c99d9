"""Draw pictures: the same picture has the same bytes on every host."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from crondor.rights.replacing import whole_file


def save_figure(draw: Callable[[], Figure], path: str) -> None:
    """Draw into a file; its suffix sets the format. Raises OSError."""
    form = Path(path).suffix[1:].lower()
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a character missing from the font is drawn as a box
        mpl.rcdefaults()  # not the user's settings: a picture looks the same everywhere
        mpl.rc("font", size=9)
        mpl.rc("svg", hashsalt="crondor")  # the same picture has the same bytes
        mpl.rc("text", parse_math=False)  # a file's name is not a formula
        figure = draw()
        with whole_file(path) as file:
            figure.savefig(file, format=form, metadata={"Date": None} if form == "svg" else None)
