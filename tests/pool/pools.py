"""Worlds to test with: jobs of submit text, in a pool without chance."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from crondor.classad.ad import ClassAd
from crondor.diagnostics import Source
from crondor.job_queue import JobId
from crondor.pool.daemons.events import PoolEvent
from crondor.pool.daemons.pool import Pool
from crondor.pool.settings import Lengths, PoolSettings
from crondor.submit import SubmitHost, job_ads, read_submit

if TYPE_CHECKING:
    from typing_extensions import Self

NOW = 1_795_608_000  # 2026-11-25 12:00 UTC
POOL = PoolSettings(match_delay=Lengths.fixed(10), transfer=Lengths.fixed(5), run_time=Lengths.fixed(20))


def ads(text: str, interval: int = 300) -> list[ClassAd]:
    """Return the ads of the jobs of a submit description, without its executable and queue statement."""
    whole = f"executable = /bin/true\n{text}\nqueue\n"
    file = read_submit(Source(whole, "job.sub"), now=NOW, host=SubmitHost(schedd_interval=interval))
    return [ad for jobs, ad in job_ads(file, in_order=True) for _ in range(jobs.count)]


class Seen:
    """A world, and what has happened in it."""

    def __init__(self, text: str, **changes: Any) -> None:  # noqa: ANN401 - fields of Settings
        """Submit the jobs of a description to the pool, some of whose settings are others."""
        settings = replace(POOL, **changes)
        self.pool = Pool(settings, NOW)
        self.happened: list[PoolEvent] = []
        self.pool.watchers.append(self.happened.append)
        self.jobs: list[JobId] = self.pool.submit(ads(text, settings.schedd_interval))

    def at(self, seconds: int) -> Self:
        """Let time pass until that long after the submission."""
        self.pool.advance(NOW + seconds)
        return self

    def ad(self, number: int = 0) -> ClassAd:
        """Return the ad of a job that is in the queue."""
        return self.pool.jobs[self.jobs[number]].ad

    def story(self, *names: str) -> list[tuple[int, str]]:
        """Return what happened, with the seconds since the submission; of these kinds only where some are named."""
        return [(h.time - NOW, h.what.value) for h in self.happened if not names or h.what.value in names]
