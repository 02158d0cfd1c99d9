"""Changes what a recording expects and prints what no replay notices: ``python tests/golden/mutate.py KIND FILE``."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # works from any folder, installed or not

from tests.golden.kinds import KINDS
from tests.golden.mutating import Change, Outcome, mutate
from tests.golden.pinned_zones import WrongZones, pin_zones
from tests.golden.recording import Unreadable, read_recording
from tests.golden.survivors import Listed, read_survivors

_SAMPLE, _CHANGES = 12, 300
_EPILOG = """\
Each line of LIST has, with tabs between them: a kind (or KIND:SHAPE), a field, what was done to it (or *, sometimes,
mostly), and the reason; a * in the first two stands for anything. Exit status: 0 every survivor is listed, 1 some are
not, 2 nothing could be replayed."""


def main() -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(prog="mutate", description=__doc__, epilog=_EPILOG)
    parser.add_argument("kind", metavar="KIND", choices=list(KINDS), help=", ".join(KINDS))
    parser.add_argument("file", metavar="FILE", type=Path, help="the recording, JSON lines, may be gzipped")
    parser.add_argument("--sample", metavar="N", type=int, default=_SAMPLE, help="lines of each shape (%(default)s)")
    parser.add_argument(
        "--changes", metavar="N", type=int, default=_CHANGES, help="changes of each shape (%(default)s)"
    )
    parser.add_argument("--seed", metavar="N", type=int, default=1, help="another one changes other places (1)")
    parser.add_argument("--accept", metavar="LIST", type=Path, help="survivors to accept, with a reason each")
    options = parser.parse_args()
    try:
        pin_zones()
        listed = read_survivors(options.accept) if options.accept else []
        cases = read_recording(options.file)
    except (Unreadable, WrongZones) as error:
        sys.stderr.write(f"mutate: {error}\n")
        return 2
    replay = KINDS[options.kind]
    outcome = mutate(options.kind, replay, cases, sample=options.sample, changes=options.changes, seed=options.seed)
    if not outcome.lines:
        sys.stderr.write(f"mutate: no line of {options.file} passes as {options.kind}: nothing was changed\n")
        return 2
    unlisted = _print(outcome, listed)
    return 1 if unlisted else 0


def _print(outcome: Outcome, listed: list[Listed]) -> int:
    """Print the survivors, those that no list has with an example, and return how many these are."""
    lines = []
    counts = {True: 0, False: 0}
    for change, count in sorted(outcome.survived.items()):
        reason = next((each.reason for each in listed if each.has(change, outcome)), None)
        counts[reason is not None] += count
        lines.append(f"{_share(outcome, change)} {change.shape} {change.field} {change.what}")
        lines.append(f"    {outcome.examples[change] if reason is None else 'listed: ' + reason}")
    total = outcome.noticed.total() + outcome.survived.total()
    lines.append(
        f"{outcome.lines} lines, {total} changes: {outcome.noticed.total()} noticed, "
        f"{counts[True]} survived and are listed, {counts[False]} survived"
    )
    sys.stdout.write("".join(f"{line}\n" for line in lines).encode("ascii", "backslashreplace").decode())
    return counts[False]


def _share(outcome: Outcome, change: Change) -> str:
    survived = outcome.survived[change]
    return f"{survived}/{survived + outcome.noticed[change]}"


if __name__ == "__main__":
    sys.exit(main())
