"""Waiting that a signal ends."""

from __future__ import annotations

import signal
import time

from crondor_cli.waking import Waker


def test_a_signal_ends_a_wait() -> None:
    """At once, also where it came before; however often it was woken, the next wait takes its time."""
    with Waker() as waker:
        before = signal.signal(signal.SIGALRM, lambda *_: waker.set())
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            began = time.monotonic()
            waker.wait(60)
            assert time.monotonic() - began < 30
        finally:
            signal.signal(signal.SIGALRM, before)
        for _ in range(100_000):  # more than a pipe holds
            waker.set()
        waker.wait(60)
        began = time.monotonic()
        waker.wait(0.02)
        assert time.monotonic() - began >= 0.02
