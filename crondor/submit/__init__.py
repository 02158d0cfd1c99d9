"""Submit descriptions: the jobs of a file, read without running or guessing anything.

``read_submit(source)`` reads one; files are opened only if the caller passes ``Files``. ``job_ads(file)`` makes the ads
of its jobs; it is imported on first use, since most readers need no ads.
"""

from typing import TYPE_CHECKING

from crondor._types import late
from crondor.submit.facts import InvalidSubmit, SubmitHost
from crondor.submit.file import SubmitFile
from crondor.submit.jobs import JobGroup, Origin, QueuedItems
from crondor.submit.reader import UnreadableLines, read_submit

if TYPE_CHECKING:
    from crondor.submit.ad.make import job_ads

__all__ = [
    "InvalidSubmit",
    "JobGroup",
    "Origin",
    "QueuedItems",
    "SubmitFile",
    "SubmitHost",
    "UnreadableLines",
    "job_ads",
    "read_submit",
]

__getattr__, __dir__ = late(__name__, {"crondor.submit.ad.make": "job_ads"})
