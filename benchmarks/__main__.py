"""`make bench`: every case with its ratio to a peer, and long spans with theirs to short ones; medians in one run.

``python -m benchmarks classad`` prints one table only; the others are ``recurrence``, ``spans``, ``agenda``,
``compile``, ``submit``, ``check``, ``editor``, ``job-queue``, ``schedd``, ``transform``, ``routes``, ``router``,
``route-diff``, ``hooks``, ``queues``, ``world`` and ``long``.
"""

from __future__ import annotations

import argparse
import sys
from itertools import chain

from benchmarks import (
    agenda,
    algebra,
    check,
    classad,
    compiling,
    editor,
    hooks,
    job_queue,
    long,
    pool,
    process,
    queues,
    recurrence,
    route_diff,
    router,
    routes,
    schedd,
    sharing,
    submit,
    transform,
)
from benchmarks.classad_ads import ADS
from benchmarks.measure import measure


def main() -> None:
    """Print the tables; the ratios are what to trust, not the microseconds."""
    tables = {
        "recurrence": _print_recurrence,
        "spans": _print_spans,
        "agenda": _print_agendas,
        "classad": _print_classads,
        "compile": _print_compile,
        "submit": _print_submit,
        "check": _print_check,
        "editor": _print_editor,
        "job-queue": _print_queue,
        "schedd": _print_schedd,
        "world": _print_world,
        "transform": _print_transform,
        "routes": _print_routes,
        "router": _print_router,
        "route-diff": _print_route_diff,
        "hooks": _print_hooks,
        "queues": _print_queues,
        "long": _print_long,
    }
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"any of {', '.join(tables)} (default: all)")
    chosen = parser.parse_args().tables or list(tables)
    if not set(chosen) <= tables.keys():
        parser.error(f"there are the tables {', '.join(tables)}")
    print(f"Python {sys.version.split()[0]}; microseconds are medians")
    for name in chosen:
        tables[name]()


def _print_recurrence() -> None:
    """Print the first table, x: how many times faster than cronsim, and the whole process."""
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
    for name, command in process.COMMANDS.items():
        whole, click = process.ratio(name)
        missed = "" if whole <= click * command.goal else "  missed"
        print(f"crondor {name}, whole process: {whole * 1e3:.0f} ms, `import click` {click * 1e3:.0f} ms: "
              f"{whole / click:.2f} times (at most {command.goal}){missed}")  # fmt: skip


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


def _print_compile() -> None:
    """Print what ten years of a schedule cost, compiled and proven."""
    print()
    for found in compiling.measured():
        task, missed = found.task, "  missed" if found.is_missed else ""
        print(
            f"crondor compile, {compiling.YEARS} years, {task.name}: {found.seconds:.2f} s of a processor "
            f"(at most {task.seconds}), "
            f"{found.megabytes:.1f} MB (at most {task.megabytes:.0f}), {found.compared:,} times compared{missed}",
            flush=True,
        )


def _print_submit() -> None:
    """Print what a line costs beside HTCondor's own parser, and how the cost grows with the items of a list."""
    ours, theirs = submit.per_line()
    beside = "-" if theirs is None else f"{theirs:.1f} us, {theirs / ours:.1f} times as long"
    print(f"\n{submit.LINES} lines: crondor {ours:.1f} us a line; htcondor2.Submit {beside}")
    for cost in submit.growth():
        time, size = cost.seconds / cost.items * 1e6, cost.peak / cost.items
        print(f"{cost.items:>9} items: {time:.1f} us and {size:.1f} bytes each", flush=True)


def _print_check() -> None:
    """Print what many files cost to check, and to cure, in seconds of the processor."""
    found = check.measured()
    print(
        f"\ncrondor check, {check.FILES:,} files: {found.seconds:.2f} s for {found.findings:,} findings; --fix "
        f"{found.fixing:.2f} s more for {found.cured:,} files that change; as they are read, {found.reading:.2f} s",
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


def _print_classads() -> None:
    """Print what ClassAds cost, x: how many times HTCondor's own library takes."""
    print(f"\n{'case; microseconds for one':<44} {'crondor':>9} {'classad2':>9} {'x':>7} {'limit':>6}")
    for found in classad.measured():
        if isinstance(found, str):
            print(f"no classad2 here ({found}): crondor alone")
            continue
        name, most, ratio = found.case.name, found.case.most, found.ratio
        if found.theirs is None or ratio is None:
            print(f"{name:<44} {found.ours:>9.1f} {'-':>9} {'-':>7} {most:>6.3g}", flush=True)
            continue
        missed = "" if ratio <= most else "  missed"
        print(f"{name:<44} {found.ours:>9.1f} {found.theirs:>9.1f} {ratio:>7.2f} {most:>6.3g}{missed}", flush=True)


def _print_world() -> None:
    print("\n1,000 hourly jobs in a simulated pool\ndays   seconds    starts  starts/s  peak memory")
    for days in (1, 4):
        found = pool.live(1000, days)
        print(f"{days:>4}{found.seconds:>10.1f}{found.starts:>10}{found.starts / found.seconds:>10.0f}", flush=True)
    for days in (1, 4):
        found = pool.live(200, days, memory=True)
        print(f"{days:>4}  of 200 jobs, {found.starts} starts{found.peak / 1e6:>20.1f} MB", flush=True)
    spent, goal = pool.year()
    missed = "" if spent <= goal else "  missed"
    print(
        f"one hourly job, a year: {spent:.2f} s, {pool.IMPORTS} times `import click` {goal:.2f} s{missed}", flush=True
    )


def _print_long() -> None:
    """Print what is asked for much at once costs, in seconds of the processor."""
    print()
    for task in long.TASKS:
        found = long.measured(task)
        limits = ((task.seconds, "s"), (task.megabytes, "MB"))
        goals = [f"{limit:g} {unit}" for limit, unit in limits if limit is not None]
        missed = "  missed" if found.is_missed else ""
        most = f" (at most {', '.join(goals)})" if goals else ""
        print(f"{task.name}: {found.seconds:.2f} s, {found.megabytes:.0f} MB{most}{missed}", flush=True)


def _print_editor() -> None:
    """Print what an editor waits for."""
    print(
        f"\ncrondor lsp, files of {editor.LINES} lines, from a keystroke to the findings (goal {editor.GOAL:,.0f} ms)"
    )
    for found in editor.measured():
        missed = "" if found.keystroke <= editor.GOAL else "  missed"
        print(f"  {found.what}: {found.keystroke:,.0f} ms, {found.processor:,.0f} of the processor{missed}; "
              f"hover {found.hover:,.0f} ms, {found.memory:,.0f} MiB", flush=True)  # fmt: skip


def _print_queue() -> None:
    """Print what a large job queue costs to read, to follow and to write."""
    print()
    for row in job_queue.rows():
        print(f"job queue, {row.name}: {row.figure} (goal {row.goal}){'' if row.good else '  missed'}", flush=True)


def _print_schedd() -> None:
    """Print what a schedd's passes over many crontab jobs cost."""
    print()
    for row in schedd.rows():
        print(f"schedd, {row.name}: {row.figure} (goal {row.goal}){'' if row.good else '  missed'}", flush=True)


def _print_transform() -> None:
    """Print what a transform costs an ad, beside what HTCondor's own library takes to read and write it."""
    found = transform.measured()
    beside = f"no classad2 here ({found.missing})"
    if found.theirs is not None and found.ratio is not None:
        missed = "" if found.ratio <= transform.MOST else "  missed"
        times = f"{found.ratio:.2f} times (at most {transform.MOST:.3g}){missed}"
        beside = f"classad2 reading and writing alone {found.theirs:.1f}: {times}"
    print(f"\n{ADS:,} ads of 60 attributes, -long to -long through {transform.COMMANDS} commands: "
          f"{found.ours:.1f} microseconds an ad, {beside}", flush=True)  # fmt: skip


def _print_routes() -> None:
    """Print what a job router costs a job: routing, matching in memory, and polls in which nothing has changed."""
    found = routes.routing()
    beside = f"no classad2 here ({found.missing})"
    if found.theirs is not None and found.ratio is not None:
        missed = "" if found.ratio <= routes.MOST else "  missed"
        times = f"{found.ratio:.2f} times (at most {routes.MOST:.3g}){missed}"
        beside = f"classad2 reading and writing alone {found.theirs:.1f}: {times}"
    print(f"\n{ADS:,} ads of 60 attributes, -long to -long, matched with and routed by {routes.ROUTES} routes: "
          f"{found.ours:.1f} microseconds an ad, {beside}", flush=True)  # fmt: skip
    many = routes.clusters()
    missed = "" if many.ratio <= routes.MOST_LOOP else "  missed"
    print(f"{routes.JOBS:,} jobs in memory, {routes.CLUSTERS:,} autoclusters: matched in {many.matching:.2f} s, a bare "
          f"loop over the keys {many.loop:.2f} s: {many.ratio:.2f} times (at most {routes.MOST_LOOP:.3g}){missed}",
          flush=True)  # fmt: skip
    for each in routes.polls():
        missed = "" if each.ratio <= routes.MOST_POLL else "  missed"
        print(f"a poll without a change of jobs that {each.what}: {each.few:.1f} microseconds for {routes.FEW:,} jobs, "
              f"{each.many:.1f} for {routes.MANY:,}: {each.ratio:.2f} times (at most {routes.MOST_POLL:.3g}){missed}",
              flush=True)  # fmt: skip


def _print_route_diff() -> None:
    """Print what a comparison of two tables costs beside a match with one."""
    found = route_diff.diffing()
    missed = "" if found.ratio <= route_diff.MOST else "  missed"
    print(
        f"\ntwo tables of {route_diff.ROUTES} routes over {route_diff.JOBS:,} ads: route diff {found.diff:.1f} s, "
        f"route match {found.match:.1f} s: {found.ratio:.2f} times (at most {route_diff.MOST:.3g}){missed}"
    )


def _print_router() -> None:
    """Print what a running router's polls cost, beside a look at everything, and jobs from submission to the end."""
    print()
    for row in router.rows():
        print(f"router, {row.name}: {row.figure} (goal {row.goal}){'' if row.good else '  missed'}", flush=True)


def _print_queues() -> None:
    """Print what whole queues of ads that differ cost, beside HTCondor's own programs, and what two processes do."""
    print()
    for row in chain(queues.rows(), sharing.rows()):
        print(f"whole queues, {row.name}: {row.figure} (goal {row.goal}){'' if row.good else '  missed'}", flush=True)


def _print_hooks() -> None:
    """Print a hook call beside a bare one, and what a run of a cron job takes beside its program."""
    found = hooks.call()
    print(f"a hook call {found.ours:.2f} ms, a bare one {found.bare:.2f} ms, x {found.ratio:.2f} (most {hooks.MOST:g})")
    runs, each = hooks.cron()
    print(f"{hooks.JOBS} cron jobs of {hooks.PERIOD} s for {hooks.SPAN} s: {runs} runs, {each:.1f} us each")


if __name__ == "__main__":
    main()
