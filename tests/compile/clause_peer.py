"""Evaluate clauses with HTCondor's own library, in the zone of the environment's TZ; run as a program.

Reads one JSON object a line (clause, times) and writes the list of times for which the clause is true, or null where
the library refuses it.
"""

import json
import sys
from typing import Any


def _passes(ad: Any, time: int) -> bool:  # noqa: ANN401 - the library ships no types
    ad["DeferralTime"] = time
    return ad.eval("Clause") is True


def main() -> None:
    """Answer line by line."""
    import classad2  # noqa: PLC0415 - after htcondor2
    import htcondor2  # noqa: F401, PLC0415 - it brings the daemons' semantics

    for line in sys.stdin:
        case = json.loads(line)
        found: list[int] | None
        try:
            ad = classad2.ClassAd()
            ad["Clause"] = classad2.ExprTree(case["clause"])
            found = [time for time in case["times"] if _passes(ad, time)]
        except classad2.ClassAdException:
            found = None
        sys.stdout.write(f"{json.dumps(found)}\n")


if __name__ == "__main__":
    main()
