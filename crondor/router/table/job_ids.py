"""The id of a job as the router writes it: the text ``cluster.proc``."""

from __future__ import annotations

import re

from crondor.classad.scope import Attributes, Code, Context
from crondor.job.attributes import job_numbers

_PLAIN = re.compile(r"(?:0|[1-9][0-9]{0,17})\.(?:0|[1-9][0-9]{0,17})").fullmatch


def id_text(ad: Attributes, context: Context | None = None) -> str | None:
    """Return the id of a job's ad, ``cluster.proc``; None where one of both is no integer.

    ``crondor.schedd.ads.job_id`` returns the same as a JobId, where a queue could have such a job.
    """
    get = ad.codes.get
    plain = plain_id(get("clusterid"), get("procid"))
    if plain is not None:
        return plain
    numbers = job_numbers(ad, context or Context())
    return None if numbers is None else f"{numbers[0]}.{numbers[1]}"


def plain_id(cluster: Code | str | None, proc: Code | str | None) -> str | None:
    """Return the id where both expressions are texts of integers as HTCondor writes them; None: they are not."""
    if isinstance(cluster, str) and isinstance(proc, str):
        made = f"{cluster}.{proc}"
        if _PLAIN(made):
            return made
    return None
