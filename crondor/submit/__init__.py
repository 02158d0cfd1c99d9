"""Submit descriptions: what a file asks for, read without running, opening or guessing anything."""

from crondor.submit.errors import InvalidSubmit
from crondor.submit.file import SubmitFile
from crondor.submit.jobs import JobGroup, Queue
from crondor.submit.reader import read_submit

__all__ = ["InvalidSubmit", "JobGroup", "Queue", "SubmitFile", "read_submit"]
