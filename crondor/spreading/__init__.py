"""Spreading: other minutes for the jobs of a pool, so that fewer of them want a slot at once.

``jobs`` says what is spread and when a slot is held, ``minutes`` which minutes a job may have instead of its own,
``propose`` chooses them, ``writing`` puts them into submit files.
"""

from crondor.spreading.jobs import Load, SpreadJob, SpreadTime
from crondor.spreading.propose import Move, Spreading, propose

__all__ = ["Load", "Move", "SpreadJob", "SpreadTime", "Spreading", "propose"]
