"""A process that ends in the middle of its writing: `python tests/hooks/crashing.py ARGUMENTS` is such a crondor.

The variable PLAN names a file with a hook and a number: the next call of that hook ends at that point.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

CRASHED = 9


def crash_at(point: int) -> Callable[[], None]:
    """Have this process end, as if its power was cut, at a point of its writing: before, within or after a call.

    Returned is what passes one point more.
    """
    left = point

    def passing() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os._exit(CRASHED)

    def around(real: Callable[..., Any], *, has_half: bool = False) -> Callable[..., Any]:
        def call(first: object, *rest: Any, **named: Any) -> Any:  # noqa: ANN401 - that of any call
            passing()
            if has_half and left == 0:
                real(first, rest[0][: len(rest[0]) // 2])
            passing()
            result = real(first, *rest, **named)
            passing()
            return result

        return call

    os.write = around(os.write, has_half=True)
    os.fsync = around(os.fsync)
    os.ftruncate = around(os.ftruncate)
    os.unlink = around(os.unlink)
    Path.replace = around(Path.replace)  # type: ignore[method-assign]
    return passing


def crashing(point: int, act: Callable[[], str]) -> tuple[bool, str]:
    """Do something in a process that ends at the given point; say whether it did, and what it had said by then."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            write = os.write
            passing = crash_at(point)
            said = act()
            passing()
            write(writer, said.encode())
            passing()
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in {0, CRASHED}
    return status == CRASHED, said


def main() -> None:
    """Be crondor, and crash where the plan says so."""
    import click  # noqa: PLC0415 - only as a program

    from crondor_cli.main import main as crondor  # noqa: PLC0415 - the same

    plan = Path(os.environ["PLAN"])
    hook, point = plan.read_text(encoding="utf-8").split() if plan.exists() else ("", "0")
    if hook in sys.argv:
        plan.unlink()
        passing = crash_at(int(point))
        echo = click.echo  # noqa: TID251 - what all text goes through in the end

        def crashing_echo(*arguments: Any, **named: Any) -> None:  # noqa: ANN401 - those of click
            passing()
            echo(*arguments, **named)
            sys.stdout.flush()
            passing()

        click.echo = crashing_echo  # noqa: TID251 - the same
    crondor()


if __name__ == "__main__":
    main()
