"""Feed the ClassAd parsers and the evaluator with broken text: ``python -m tests.fuzz --seed 1 --seconds 300``.

Anything but an error of ours (CrondorError) is a fault, and so are more memory or more time than allowed. Prints the
counts and each fault with the command that repeats it; status 1 if there was one.
"""

import argparse
import resource
import sys
from collections.abc import Iterator
from itertools import count, islice
from time import perf_counter

from tests.fuzz.running import Result, watch, work
from tests.fuzz.targets import TARGETS
from tests.fuzz.texts import Input, Texts


def main() -> None:
    """Run the fuzzer, or one of its children."""
    options = _options()
    if options.child:
        most = options.memory << 20
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        work(_inputs(options, Texts(options.seed)), dict(TARGETS), options.bound, sys.stdout)
        return
    if options.only is not None:
        given = Texts(options.seed).input(options.only)
        print(f"{given.target}: {given.text!r}")
    begin = perf_counter()

    def command(first: int) -> list[str]:
        left = [] if options.seconds is None else ["--seconds", str(options.seconds - (perf_counter() - begin))]
        return [sys.executable, "-m", "tests.fuzz", *sys.argv[1:], *left, "--child", "--first", str(first)]

    result = watch(command, 3 * options.bound + 30)
    _report(result, options)
    sys.exit(bool(result.faults))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="the same inputs for the same seed (default: 1)")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--seconds", type=float, help="how long to go on")
    length.add_argument("--count", type=int, help="how many inputs to try (default: 20000)")
    length.add_argument("--only", type=int, metavar="N", help="show input N and try it alone")
    parser.add_argument("--bound", type=float, default=10.0, help="seconds one input may take (default: 10)")
    parser.add_argument("--memory", type=int, default=1024, help="MiB of address space of the child (default: 1024)")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    return parser.parse_args()


def _inputs(options: argparse.Namespace, texts: Texts) -> Iterator[Input]:
    if options.only is not None:
        yield from [texts.input(options.only)] if options.first == 0 else []
    elif options.seconds is None:
        total = 20_000 if options.count is None else options.count
        yield from map(texts.input, range(options.first, total))
    else:
        end = perf_counter() + options.seconds
        for number in count(options.first):
            if perf_counter() >= end:
                return
            yield texts.input(number)


def _report(result: Result, options: argparse.Namespace) -> None:
    print(f"{result.inputs} inputs, seed {options.seed}, {len(result.faults)} faults")
    for outcome, times in sorted(result.outcomes.items()):
        print(f"  {outcome:<40}{times:>9}")
    print(f"slowest {result.slowest[0]:.2f} s (input {result.slowest[1]}, at most {options.bound:g} s)")
    print(f"peak memory {result.peak:.0f} MiB, {result.before:.0f} before the first input ({options.memory} allowed)")
    for fault in islice(result.faults, 50):
        print(f"\nfault: python -m tests.fuzz --seed {options.seed} --only {fault['number']}    ({fault['target']})")
        print(f"  {fault['text']!r}\n{fault['wrong']}")


if __name__ == "__main__":
    main()
