"""Signals that end a wait."""

import os
import signal
import time

import pytest

from crondor_cli.kit.services import waking

FOR_EVER = 100_000.0  # seconds


def test_a_signal_ends_a_wait() -> None:
    """At once, also where it came before; however many have come, the next wait takes its time."""
    came: list[int] = []
    with waking({"SIGALRM": lambda number, _: came.append(number)}) as waker:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        waker.wait(FOR_EVER)
        for _ in range(100_000):  # more than a pipe holds
            os.kill(os.getpid(), signal.SIGALRM)
        waker.wait(FOR_EVER)
        assert set(came) == {signal.SIGALRM}
        began = time.monotonic()
        waker.wait(0.02)
        assert time.monotonic() - began >= 0.02


def test_the_handlers_of_before_come_back() -> None:
    """Also where the block fails; a signal that this system does not have is left out."""
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(ZeroDivisionError), waking({"SIGALRM": lambda *_: None, "SIGNOTHING": lambda *_: None}):
        assert 1 / (signal.getsignal(signal.SIGALRM) is before)
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.set_wakeup_fd(-1) == -1
