"""Submit descriptions: what a file asks for, read without running or guessing anything.

``read_submit(source)`` reads one; files are opened only where the caller hands over ``Files``.
"""

from crondor.submit.errors import InvalidSubmit
from crondor.submit.file import SubmitFile
from crondor.submit.host import SubmitHost
from crondor.submit.jobs import JobGroup, Queue
from crondor.submit.reader import read_submit
from crondor.submit.scope import Origin

__all__ = ["InvalidSubmit", "JobGroup", "Origin", "Queue", "SubmitFile", "SubmitHost", "read_submit"]
