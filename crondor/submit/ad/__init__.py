"""The job ads that condor_submit 25.14 makes of a submit description: every attribute that depends on the file.

One module a part: ``simple`` is the table of commands that go into an attribute as they are; ``universe``,
``executable``, ``containers``, ``arguments``, ``environment``, ``process``, ``tool``, ``credentials``, ``grid``,
``machine``, ``policy``, ``retries``, ``resources``, ``deferral``, ``transfer``, ``finish`` and ``requirements`` set the
others; ``make`` goes through them in HTCondor's order. Each sets attributes of a ``draft``; ``knobs`` is the
configuration and ``values`` how words are read.
"""

from typing import TYPE_CHECKING

from crondor._types import late

if TYPE_CHECKING:
    from crondor.submit.ad.make import COMMANDS, JobAd, job_ads

__all__ = ["COMMANDS", "JobAd", "job_ads"]

# For reading single words import ``values``, without the 40 ms of all the others.

__getattr__, __dir__ = late(__name__, {"crondor.submit.ad.make": "COMMANDS JobAd job_ads"})
