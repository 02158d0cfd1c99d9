"""Read a user log with HTCondor's own library: its path on the command line, JSON on stdout; run as a program."""

import json
import sys


def main() -> None:
    """Print the number, job, time and attributes of each event."""
    import htcondor2  # noqa: PLC0415 - not installed everywhere, and never in the process of the tests

    found = []
    for event in htcondor2.JobEventLog(sys.argv[1]).events(stop_after=0):
        values = {name: event[name] for name in event if isinstance(event[name], (bool, int, float, str))}
        found.append([int(event.type), event.cluster, event.proc, event.timestamp, values])
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
