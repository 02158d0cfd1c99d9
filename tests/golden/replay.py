"""Replays a recording against crondor: ``python tests/golden/replay.py KIND FILE [--show N] [--accept LIST]``."""

import argparse
import sys
from difflib import get_close_matches
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # works from any folder, installed or not

from tests.golden.judging import Result, judge
from tests.golden.kinds import KINDS
from tests.golden.pinned_zones import WrongZones, pin_zones
from tests.golden.recording import Accepted, Unreadable, read_accepted, read_recording

_SHOW = 5
_EPILOG = """\
LIST has a line for each difference: the line's name, a tab, the reason. The name of a line is its field `name`, or
the digest that --show prints. Exit status: 0 no line failed, 1 some did, 2 nothing could be replayed."""


def main() -> int:
    """Run the command and return its exit status."""
    parser = _parser()
    options = parser.parse_args()
    if options.kind not in KINDS:
        close = get_close_matches(options.kind, KINDS, n=1, cutoff=0.4)
        meant = f"; did you mean {close[0]}?" if close else ""
        parser.error(f"unknown kind {options.kind!r}{meant} (kinds: {', '.join(KINDS)})")
    if options.show < 0:
        parser.error(f"--show: {options.show} is negative")
    try:
        pin_zones()
        accepted = read_accepted(options.accept) if options.accept else {}
        cases = read_recording(options.file)
    except (Unreadable, WrongZones) as error:
        sys.stderr.write(f"replay: {error}\n")
        return 2
    result = judge(KINDS[options.kind], cases, accepted)
    _warn(result, options, accepted)
    _print(result, options.show)
    return 1 if result.failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="replay", description=__doc__, epilog=_EPILOG)
    parser.add_argument("kind", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("file", metavar="FILE", type=Path, help="the recording, JSON lines, may be gzipped")
    show_help = f"how many of the lines that fail to show ({_SHOW} when not given)"
    parser.add_argument("--show", metavar="N", type=int, default=_SHOW, help=show_help)
    parser.add_argument("--accept", metavar="LIST", type=Path, help="differences to accept, by name with a reason")
    return parser


def _print(result: Result, show: int) -> None:
    lines = []
    for case, found in result.failed[:show]:
        lines.append(f"line {case.number} ({case.id}) differs:")
        lines += [f"    {field}: {text}" for field, text in found]
    if 0 < show < len(result.failed):
        lines.append(f"... and {len(result.failed) - show} more")
    lines += [f"line {case.number} ({case.id}) differs, accepted: {reason}" for case, reason in result.accepted]
    if result.accepted:
        lines.append(f"{len(result.accepted)} accepted")
    if result.not_applicable:
        reasons = ", ".join(f"{count} {reason}" for reason, count in result.not_applicable.most_common())
        lines.append(f"{result.not_applicable.total()} not applicable ({reasons})")
    lines.append(f"{result.passed} passed, {len(result.failed)} failed")
    sys.stdout.write("".join(f"{line}\n" for line in lines).encode("ascii", "backslashreplace").decode())
    sys.stdout.flush()


def _warn(result: Result, options: argparse.Namespace, accepted: dict[str, Accepted]) -> None:
    """Say on stderr what the figures do not."""
    for case_id, why in result.idle.items():
        sys.stderr.write(f"replay: {options.accept}, line {accepted[case_id].number}: {case_id}: {why}\n")
    if not (result.passed or result.failed or result.accepted):
        sys.stderr.write(f"replay: no line of {options.file} is for {options.kind}: nothing was compared\n")


if __name__ == "__main__":
    sys.exit(main())
