"""What a live schedd had done already when it failed, or when Ctrl-C came: its changes are made one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from crondor.diagnostics import Diagnostic, Severity
from crondor.schedd.protocol import ScheddError
from crondor_cli.common.show import show


@contextmanager
def halfway(done: Callable[[ScheddError | None], list[str]], doubtful: Callable[[], str]) -> Iterator[None]:
    """Make changes one by one inside this block, and say what was done where it ends before the last of them.

    ``done`` says so in sentences, also of an error; ``doubtful`` what was asked for last: nobody has heard what became
    of it where Ctrl-C ends it. Raises ScheddError, which has it in it.
    """
    try:
        yield
    except ScheddError as error:
        said = done(error)
        if not said:
            raise
        warned = _warning(f"before that {'; '.join(said)}", "that is not undone")
        raise ScheddError((*error.diagnostics, warned)) from None
    except KeyboardInterrupt:
        before = "; ".join(done(None)) or "nothing done before"
        show([_warning(f"interrupted: {before}; {doubtful()}", "what was done is not undone: look with condor_q")])
        raise


def _warning(message: str, hint: str) -> Diagnostic:
    return Diagnostic("schedd-halfway", message, Severity.WARNING, help=hint)
