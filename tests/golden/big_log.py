"""A synthetic job_queue.log of any size, the same for the same seed: what a schedd was given for ``big.json``."""

from collections.abc import Iterator
from typing import Final

_WORDS: Final = ("alpha", "beta", "gamma delta", 'q\\"uote', "x,y;z")
_FEWEST: Final = 50  # live jobs


class _Random:
    """A linear congruential generator, so that no version of Python changes the log."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def __call__(self, below: int) -> int:
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) & (2**64 - 1)
        return (self.state >> 33) % below


def big_log(seed: int, operations: int) -> Iterator[str]:
    """Yield lines, each with its line end, until there are as many as asked for; the last transaction is whole."""
    writer = _Writer(seed)
    count = 3
    yield "107 1 CreationTimestamp 1700000000\n"
    yield "101 0.0 Job Machine\n"
    yield "103 0.0 NextClusterNum 1\n"
    while count < operations:
        lines = writer.step()
        count += len(lines)
        yield "".join(f"{line}\n" for line in lines)


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = _Random(seed)
        self.cluster = 0
        self.live: list[tuple[int, int]] = []
        self.time = 1_700_000_000

    def step(self) -> list[str]:
        """Return the lines of one transaction, or of a record alone."""
        random = self.random
        self.time += random(5)
        kind = random(20)
        if kind < 5 or len(self.live) < _FEWEST:
            return ["105 ", *self._submit(), "106 "]
        if kind >= 17:
            return ["105 ", *self._remove(), "106 "]
        job = "{}.{}".format(*self.live[random(len(self.live))])
        if kind < 12:
            status = (1, 2, 5)[random(3)]
            changed = [f"JobStatus {status}", f"EnteredCurrentStatus {self.time}", f"NumJobStarts {random(9)}"]
            return ["105 ", *(f"103 {job} {change}" for change in changed), "106 "]
        if kind < 15:
            return [f"103 {job} DeferralTime {self.time + random(9999)}"]
        if kind < 16:
            return ["105 ", f"104 {job} NumJobStarts", f"104 {job} NoSuchAttr{random(3)}", "106 #tag"]
        host = f'"slot{random(9)}@node{random(99)}.example.org"'
        return ["105 ", f"103 {job} RemoteHost {host}", f"103 {job} RemoteWallClockTime {random(10000)}.5", "106 "]

    def _submit(self) -> Iterator[str]:
        random = self.random
        self.cluster += 1
        procs = 1 + random(4)
        yield f"103 0.0 NextClusterNum {self.cluster + 1}"
        yield f"101 0{self.cluster}.-1 Job Machine"
        for name, value in self._attributes():
            yield f"103 0{self.cluster}.-1 {name} {value}"
        for proc in range(procs):
            job = f"{self.cluster}.{proc}"
            yield f"101 {job} Job Machine"
            yield f"103 {job} ProcId {proc}"
            yield f"103 {job} JobStatus 1"
            yield f'103 {job} GlobalJobId "schedd.example.org#{job}#{self.time}"'
            yield f"103 {job} EnteredCurrentStatus {self.time}"
            if random(3) == 0:
                yield f"103 {job} RequestMemory {64 * (1 + random(40))}"
            self.live.append((self.cluster, proc))

    def _attributes(self) -> list[tuple[str, object]]:
        random = self.random
        return [
            ("ClusterId", self.cluster),
            ("Owner", '"alice"'),
            ("User", '"alice@example.org"'),
            ("JobUniverse", (5, 12, 7)[random(3)]),
            ("Cmd", '"/bin/sleep"'),
            ("QDate", self.time),
            ("Iwd", '"/home/alice"'),
            ("MyType", '"Job"'),
            ("RequestMemory", 128 * (1 + random(16))),
            ("RequestCpus", 1 + random(4)),
            ("Requirements", '(TARGET.Memory >= RequestMemory) && (TARGET.Arch == "X86_64")'),
            ("CronMinute", f'"*/{1 + random(30)}"'),
            ("OnExitRemove", "true"),
            ("Note", f'"{_WORDS[random(5)]}"'),
            ("JobPrio", random(10)),
        ]

    def _remove(self) -> Iterator[str]:
        at = self.random(len(self.live))
        cluster, proc = self.live[at]
        self.live[at] = self.live[-1]
        self.live.pop()
        yield f"102 {cluster}.{proc}"
        if not any(other == cluster for other, _ in self.live):
            yield f"102 0{cluster}.-1"
