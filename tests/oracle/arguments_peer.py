"""Read values of arguments with HTCondor's own library: one JSON list on stdin, one on stdout; run as a program."""

import json
import sys


def main() -> None:
    """Expand each value in a submit description, and split it as the daemons do."""
    import classad2  # noqa: PLC0415 - not installed everywhere, and never in the process of the tests
    import htcondor2  # noqa: PLC0415 - the same

    found = []
    for value in json.load(sys.stdin):
        expanded = htcondor2.Submit(f"executable = /bin/sh\narguments = {value}\nqueue\n").expand("arguments")
        raw = expanded[1:-1].replace('""', '"')
        found.append(list(classad2.ExprTree(f"argsToList({classad2.quote(raw)})").eval()))
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
