"""`make bench`: every case with its ratio to cronsim, medians of interleaved rounds in one run."""

from __future__ import annotations

import sys

from benchmarks import process, recurrence
from benchmarks.measure import measure


def main() -> None:
    """Print the table; the ratios are what to trust, not the microseconds."""
    print(f"Python {sys.version.split()[0]}; microseconds are medians; x: how many times faster than cronsim")
    print(f"{'case':<44} {'crondor':>9} {'cronsim':>9} {'croniter':>9} {'x':>7} {'goal':>6}")
    for case in recurrence.cases():
        found = measure(case)
        ratio = found["cronsim"] / found["crondor"]
        croniter = f"{found['croniter']:>9.1f}" if "croniter" in found else f"{'-':>9}"
        print(
            f"{case.name:<44} {found['crondor']:>9.1f} {found['cronsim']:>9.1f} {croniter} {ratio:>7.1f} "
            f"{case.goal:>6.3g}{'' if ratio >= case.goal else '  missed'}",
            flush=True,
        )
    whole, click = process.ratio()
    missed = "" if whole <= click * process.GOAL else "  missed"
    print(f"crondor next, whole process: {whole * 1e3:.0f} ms, `import click` {click * 1e3:.0f} ms: "
          f"{whole / click:.2f} times (at most {process.GOAL}){missed}")  # fmt: skip


if __name__ == "__main__":
    main()
