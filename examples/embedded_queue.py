"""HTCondor's scheduling inside a program of one's own: python embedded_queue.py FOLDER FILE.sub..."""

import sys
import time
from pathlib import Path

from crondor.deferral import Verdict
from crondor.diagnostics import Source
from crondor.schedd_adapter import EmbeddedSchedd, StatusReader, job_id
from crondor.submit import job_ads, read_submit


def serve(schedd: EmbeddedSchedd, now: int) -> None:
    """Make one pass: compute times, and start what is due. A real service would start a program here."""
    schedd.recalculate()  # new jobs, runs that have ended, missed times
    for found in StatusReader(zone="UTC").looks(schedd.jobs("JobStatus == 1 && DeferralTime > 0"), now):
        job, schedule = job_id(found.queued.ad), found.schedule
        if job and schedule:
            arrival = schedule.deferral(found.deferral_time or now, now).arrival(now)
            if arrival.verdict is Verdict.START and schedd.edit_if(job, "JobStatus == 1", {"JobStatus": 2}):
                print(f"{job} runs {found.queued.string('Cmd')}, {arrival.seconds} s late", flush=True)
                schedd.edit_if(job, "JobStatus == 2", {"JobStatus": 1})  # its run has ended
                if found.queued.leaves:
                    schedd.remove(job, "its run has ended")


def main(folder: str, *files: str) -> None:
    """Submit files into the queue of a folder, and serve it until Ctrl-C."""
    with EmbeddedSchedd(folder, clock=lambda: int(time.time()), zone="UTC") as schedd:
        for file in files:
            ads = job_ads(read_submit(Source(Path(file).read_text("utf-8"), file)), cluster=schedd.next_cluster)
            schedd.submit([made.ad for made in ads for _ in range(made.jobs.count)])
        while True:
            serve(schedd, int(time.time()))
            time.sleep(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
