"""Evaluate clauses with HTCondor's own library, in the zone of the environment's TZ; run as a program.

Reads one JSON object a line (clause, times) and writes the list of times for which the clause is true, or null where
the library refuses it.
"""

from __future__ import annotations

import json
import sys


def main() -> None:
    """Answer line by line."""
    import htcondor2  # noqa: F401, PLC0415 - it brings the daemons' semantics

    import classad2  # noqa: PLC0415 - after htcondor2

    for line in sys.stdin:
        case = json.loads(line)
        found = []
        try:
            ad = classad2.ClassAd()
            ad["Clause"] = classad2.ExprTree(case["clause"])
            for time in case["times"]:
                ad["DeferralTime"] = time
                if ad.eval("Clause") is True:
                    found.append(time)
        except classad2.ClassAdException:
            found = None
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
