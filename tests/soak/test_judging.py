"""What grows is found, and what only moves is not; and a process is measured with those that it has started."""

import sys
from pathlib import Path

import pytest

from tests.soak.judging import Sample, growth, slope, table
from tests.soak.processes import Process, family

HOUR = 60
WARM_UP = 900.0
STEADY = Sample(0.0, 100.0, 50.0, 10, 2, 0.0, 1.0, 2000)
WAITS = """\
import subprocess, sys
program = "print('ready', flush=True); input()"
child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE)
child.wait()
"""


def samples(**more: float) -> list[Sample]:
    """Return an hour's samples of a process of which some numbers grow by so much each minute."""
    return [
        STEADY._replace(
            second=60.0 * minute, **{name: getattr(STEADY, name) + minute * by for name, by in more.items()}
        )
        for minute in range(HOUR)
    ]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"memory": 0.4}, "memory grew"),
        ({"helpers": 0.2}, "memory of its helpers grew"),
        ({"descriptors": 0.1}, "descriptors grew"),
        ({"threads": 0.1}, "threads grew"),
        ({"poll": 0.03}, "time of a poll grew"),
        ({"series": 10}, "series of its metrics grew"),
    ],
    ids=lambda each: next(iter(each)) if isinstance(each, dict) else "",
)
def test_what_grows_is_found(more: dict[str, float], said: str) -> None:
    """Each number by itself."""
    (found,) = growth(samples(**more), WARM_UP)
    assert said.partition(" grew")[0] + " grew" in found


def test_what_is_steady_is_fine() -> None:
    """Also with a spike now and then, with a warm-up that grew, and where there are no polls and no metrics."""
    assert growth(samples(), WARM_UP) == []
    late = [each._replace(memory=10.0) if each.second < WARM_UP else each for each in samples()]
    assert growth(late, WARM_UP) == []
    spikes = [each._replace(descriptors=14, poll=9.0) if each.second % 420 == 0 else each for each in samples()]
    assert growth(spikes, WARM_UP) == []
    assert growth([each._replace(poll=None, series=None) for each in samples()], WARM_UP) == []


def test_a_little_is_no_growth_and_a_fall_neither() -> None:
    """Within the bounds."""
    assert growth(samples(memory=0.05, poll=0.001), WARM_UP) == []
    assert growth(samples(memory=-0.5, poll=-0.01), WARM_UP) == []


def test_too_few_samples_are_no_verdict() -> None:
    """Nobody is told that all is well."""
    with pytest.raises(ValueError, match="too few"):
        growth(samples()[:20], WARM_UP)


def test_the_slope_is_that_of_the_memory() -> None:
    """In MiB an hour."""
    assert slope(samples(memory=0.5), WARM_UP) == pytest.approx(30.0)
    assert slope(samples()[:1], 0.0) == 0.0


def test_a_table_has_a_line_for_each_sample() -> None:
    """And a stroke for what is not known."""
    lines = table("router", [STEADY._replace(poll=None, series=None)])
    assert lines[0] == "router"
    assert lines[2].split() == ["0.0", "100.0", "50.0", "10", "2", "0", "-", "-"]


@pytest.mark.skipif(sys.platform != "linux", reason="it is /proc that tells")
def test_a_process_is_measured_with_its_helpers(tmp_path: Path) -> None:
    """Until it is told to end, and then it says how it did."""
    process = Process("waits", [sys.executable, "-c", WAITS], tmp_path)
    try:
        while not process.out.read_text() and process.is_running:
            pass
        process.measure(0.0, 1.5, 7)
        (found,) = process.samples
        assert found.memory > 1
        assert found.helpers > 1
        assert found.descriptors >= 3
        assert (found.threads, found.poll, found.series) == (1, 1.5, 7)
        helpers = family(process.process)[1:]
        assert len(helpers) == 1
    finally:
        process.end()
    assert (process.is_running, process.status) == (False, -15)
