"""How an access point's schedd treats a submitted job, according to its configuration.

``read_access_point(configuration)`` reads the knobs; ``access_point.admit(ad)`` transforms a job's ad and evaluates
SUBMIT_REQUIREMENTs, in the schedd's order. ``sent_jobs(made, submitter, count)`` yields what condor_submit sends.
"""

from crondor.access_point.access_point import AccessPoint, Admission, TransformStep, Verdict, read_access_point
from crondor.access_point.requirements import SentJob, SubmitRequirement, Submitter, SubmitTransform, sent_jobs

__all__ = [
    "AccessPoint",
    "Admission",
    "SentJob",
    "SubmitRequirement",
    "SubmitTransform",
    "Submitter",
    "TransformStep",
    "Verdict",
    "read_access_point",
    "sent_jobs",
]
