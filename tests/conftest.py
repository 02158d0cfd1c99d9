"""What every test starts from: the same examples in each run, a usual umask, Ctrl-C as a terminal has it."""

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.examples import TIMES
from tests.rights.people import open_folder

# A test that passes here passes there: no example depends on chance, and none on how busy the machine is.
settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    max_examples=15 * TIMES,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.function_scoped_fixture,
        HealthCheck.differing_executors,
    ],
    print_blob=True,
)
# CRONDOR_EXAMPLES=10 make test PYTEST_ARGS="--hypothesis-profile random" looks for others.
settings.register_profile("random", settings.get_profile("repeatable"), derandomize=False)
settings.load_profile("repeatable")

# A shell without job control starts what is in the background, and nohup everything, with these signals ignored, and
# programs inherit that. The tests send them.
for _number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number is signal.SIGINT else signal.SIG_DFL)

# The tests start hundreds of processes: each finds what another one has compiled.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Files in memory are not synced, and tests that sync at each step need not wait. A container's 64 MB are too few.
_MEMORY = Path("/dev/shm")  # noqa: S108 - pytest makes a folder of its own in it
if os.access(_MEMORY, os.W_OK):
    _place = os.statvfs(_MEMORY)
    if _place.f_bavail * _place.f_frsize >= 2 << 30 and not _place.f_flag & os.ST_NOEXEC:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

os.umask(0o022)  # accounts look at each other's files; a test whose subject is the umask sets its own


def pytest_collection_finish() -> None:
    """Have the collector of garbage, and whoever is forked, pass over the tests themselves."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def commons() -> Iterator[Path]:
    """Return a folder that all users of the machine may pass, as those of pytest are not."""
    with open_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build wheel and sdist from this checkout, and return the folder with both."""
    folder = tmp_path_factory.mktemp("built")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder
