"""The front page of the engine: everything public is there, and whole ads are imported when they are asked for."""

import subprocess
import sys
from pathlib import Path

import pytest

from crondor import classad

ROOT = Path(__file__).resolve().parent.parent.parent


def test_every_public_name_is_there() -> None:
    """Those that are imported late as well."""
    assert set(classad.__all__) <= set(dir(classad))
    for name in classad.__all__:
        assert getattr(classad, name) is not None
    assert classad.ClassAd({"a": 1}).print(classad.Format.LONG) == "a = 1\n"


def test_other_names_are_errors() -> None:
    """With the words of Python."""
    with pytest.raises(AttributeError, match=r"module 'crondor\.classad' has no attribute 'nope'"):
        _ = classad.nope


@pytest.mark.parametrize(
    ("line", "loaded"),
    [
        ("from crondor.classad import Expression; Expression('a.b + f(1)').evaluate()", False),
        ("from crondor.classad import ClassAd, read_ads", True),
    ],
)
def test_whole_ads_are_imported_late(line: str, loaded: bool) -> None:
    """Who evaluates expressions pays for no reader."""
    script = f"import sys; {line}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    late = {"crondor.classad.ad", "crondor.classad.formats", "crondor.classad.printing"}
    assert late & set(done.stdout.split()) == (late if loaded else set())
