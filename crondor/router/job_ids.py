"""The id of a job as the router writes it: ``cluster.proc``."""

from __future__ import annotations

import re

from crondor.classad.errors import ClassAdSyntaxError, EvaluationFailed
from crondor.classad.evaluate import value_of
from crondor.classad.expression import Expression
from crondor.classad.scope import Attributes, Code, Context

_PLAIN = re.compile(r"(?:0|[1-9][0-9]{0,17})\.(?:0|[1-9][0-9]{0,17})").fullmatch
_CLUSTER, _PROC = Expression("ClusterId").code, Expression("ProcId").code


def job_id(ad: Attributes, context: Context | None = None) -> str | None:
    """Return the id of a job's ad, ``cluster.proc``; None where one of both is no integer."""
    get = ad.codes.get
    plain = plain_id(get("clusterid"), get("procid"))
    if plain is not None:
        return plain
    context = context or Context()
    try:
        found = [value_of(code, ad, None, context) for code in (_CLUSTER, _PROC)]
    except (EvaluationFailed, ClassAdSyntaxError):
        return None
    if not all(isinstance(value, int) and not isinstance(value, bool) for value in found):
        return None
    return f"{found[0]}.{found[1]}"


def plain_id(cluster: Code | str | None, proc: Code | str | None) -> str | None:
    """Return the id where both expressions are texts of integers as HTCondor writes them; None: they are not."""
    if isinstance(cluster, str) and isinstance(proc, str):
        made = f"{cluster}.{proc}"
        if _PLAIN(made):
            return made
    return None
