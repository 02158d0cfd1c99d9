"""What the words of HTCondor mean: the attributes of job and machine ads, each with its type and one sentence.

The tables are texts beside this module, read when they are first asked for: whoever does not ask pays nothing.
"""

from __future__ import annotations

from crondor.knowledge.attributes import Attribute, AttributeTable, AttributeType, job_attributes, machine_attributes

__all__ = ["Attribute", "AttributeTable", "AttributeType", "job_attributes", "machine_attributes"]
