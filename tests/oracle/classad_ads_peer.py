"""Read texts with HTCondor's own library; run as a program, for one of its calls may crash the process.

Reads one JSON string a line, a text of ``-long`` ads, and writes the ads found: names to texts, or an error.
"""

import json
import os
import sys


def answer(text: str) -> dict[str, object]:
    """Return the ads of a text, or that the library stops with an error."""
    import classad2  # noqa: PLC0415 - after htcondor2, which brings the daemons' semantics

    try:
        found = list(classad2.parseAds(text, classad2.ParserType.Old))
    except ValueError:
        return {"error": ""}
    try:
        return {
            "ads": [{name: repr(ad.lookup(name)) for name in ad} for ad in found],
            "old": [ad.printOld() for ad in found],
        }
    except UnicodeDecodeError:
        return {"skip": "not UTF-8"}


def main() -> None:
    """Answer all texts of the standard input."""
    import htcondor2  # noqa: F401, PLC0415 - turns the daemons' semantics on

    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    os.environ.setdefault("CONDOR_CONFIG", "/dev/null")
    main()
