"""A process that routes the jobs of a queue on disk and ends without a word at its n-th transaction: FOLDER N NOW."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crondor.job_queue import Transaction
from crondor.router.daemon import Router
from crondor.router.daemon.rehearsal import Site, Sites
from crondor.schedd.embedded import EmbeddedSchedd
from tests.router.daemon.scenes import ROUTE, table

POLLS = 30


def main(folder: str, fatal: int, now: int) -> None:
    """Poll; print the time that was reached."""
    clock = [now]
    count = [0]
    with EmbeddedSchedd(folder, clock=lambda: clock[0]) as schedd:
        original = schedd._queue.transaction

        @contextmanager
        def transaction(*, durable: bool = True, comment: str = "") -> Iterator[Transaction]:
            if count[0] == fatal:
                os._exit(9)
            count[0] += 1
            with original(durable=durable, comment=comment) as change:
                yield change
            if count[0] == fatal:
                os._exit(9)

        schedd._queue.transaction = transaction  # type: ignore[method-assign]
        sites = Sites(schedd, [Site("Site1", slots=2, run_time=20)], clock[0])
        router = Router(table({"Site1": ROUTE}), schedd, clock=lambda: clock[0])
        for _ in range(POLLS):
            clock[0] += 10
            sites.advance(clock[0])
            router.poll()
        sys.stdout.write(f"{count[0]}\n")


if __name__ == "__main__":
    main(str(Path(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3]))
