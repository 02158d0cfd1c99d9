"""`make bench`: every case with its ratio to cronsim, and long spans with theirs to short ones; medians in one run."""

from __future__ import annotations

import sys

from benchmarks import agenda, algebra, job_queue, process, recurrence
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
    _print_spans()
    _print_agendas()
    _print_queue()


def _print_spans() -> None:
    """Print the second table: what a question costs, and how much more over the longer span."""
    print(f"\n{'case; short and long span, microseconds':<60} {'short':>9} {'long':>9} {'x':>7} {'limit':>6}")
    for case in algebra.cases():
        long, short = algebra.measured(case)
        if isinstance(case, algebra.Whole) or short is None:
            print(f"{case.name:<60} {'-':>9} {long:>9.1f}", flush=True)
            continue
        ratio = long / short
        print(
            f"{case.name:<60} {short:>9.1f} {long:>9.1f} {ratio:>7.1f} "
            f"{case.most:>6.3g}{'' if ratio <= case.most else '  missed'}",
            flush=True,
        )


def _print_agendas() -> None:
    """Print what many files cost, and how much of that is reading them."""
    print()
    for case in agenda.cases():
        missed = "" if case.ratio <= case.goal else "  missed"
        print(
            f"crondor agenda, {agenda.FILES:,} files over a week, {case.name}: {case.whole * 1e3:.0f} ms for "
            f"{case.starts:,} starts, reading alone {case.reading * 1e3:.0f} ms: "
            f"{case.ratio:.2f} times (at most {case.goal}){missed}",
            flush=True,
        )


def _print_queue() -> None:
    """Print what a large job queue costs to read, to follow and to write."""
    print()
    for row in job_queue.rows():
        print(f"job queue, {row.name}: {row.figure} (goal {row.goal}){'' if row.good else '  missed'}", flush=True)


if __name__ == "__main__":
    main()
