"""Which command of HTCondor a name was meant for that is none."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from crondor.diagnostics import similar
from crondor.knowledge.commands import submit_commands
from crondor.knowledge.slips import one_slip
from crondor.schedule import misspelt

REQUEST: Final = "request_"
REQUESTS: Final = tuple(f"{REQUEST}{name}" for name in ("cpus", "disk", "gpus", "memory"))

_ALIKE: Final = 0.85
_NOT_UNLIKE: Final = 0.75
_BEGUN: Final = 0.7  # of a command's letters
_LONG_ENOUGH: Final = 8  # letters from which on a name that is like a command is hardly one of the author's own
_LONGEST: Final = 60  # letters of a name that are compared
_WORDS_FOR: Final = {  # what people write who have other systems in mind
    **dict.fromkeys(("cores", "cpu", "cpus", "ncpus", "num_cpus"), "request_cpus"),
    **dict.fromkeys(("mem_request", "memory", "requestmem"), "request_memory"),
    **dict.fromkeys(("disk", "disk_request"), "request_disk"),
    **dict.fromkeys(("gpu", "gpus", "ngpus", "num_gpus"), "request_gpus"),
    **dict.fromkeys(
        ("initial_directory", "cwd", "work_dir", "workdir", "working_dir", "working_directory"), "initialdir"
    ),
    **dict.fromkeys(("job_name", "jobname"), "batch_name"),
    **dict.fromkeys(("in_files", "input_files", "inputfiles"), "transfer_input_files"),
    **dict.fromkeys(("out_files", "output_files", "outputfiles"), "transfer_output_files"),
    **dict.fromkeys(("email", "mail", "mail_user"), "notify_user"),
    **dict.fromkeys(("command", "exec", "exe", "program", "script"), "executable"),
    **dict.fromkeys(("container", "image", "singularity_image"), "container_image"),
    "docker": "docker_image",
    "err": "error",
    "out": "output",
    "retries": "max_retries",
    **dict.fromkeys(("request_core", "request_cores", "request_cpu", "request_cpus_count"), "request_cpus"),
    **dict.fromkeys(("request_mem", "request_ram"), "request_memory"),
    **dict.fromkeys(("request_disk_space", "request_storage"), "request_disk"),
    **dict.fromkeys(("request_gpu_memory", "request_gpus_memory"), "gpus_minimum_memory"),
    "request_gpu": "request_gpus",
    "request_ncpus": "request_cpus",
}


def meant_command(key: str, *, is_thorough: bool = True) -> str | None:
    """Return the command that a lower-case name is a slip of; None for a command, and for what is near none.

    Where it is not thorough only one slip of the hand counts, which takes a tenth of the time.
    """
    find = _meant if len(key) <= _LONGEST else _meant.__wrapped__
    return find(key, is_thorough)


@lru_cache(maxsize=4096)
def _meant(key: str, is_thorough: bool) -> str | None:  # noqa: FBT001 - what it is kept by
    if key in _WORDS_FOR:
        return _WORDS_FOR[key]
    table = submit_commands()
    if key in table:
        return None
    if is_thorough:
        return next(_candidates(key), None)
    return next((command.name for command in table.near(key)), None)


def meant_request(key: str) -> str | None:
    """Return the request that the name of a resource was meant for, None for one that has a name of its own."""
    if key in _WORDS_FOR:
        return _WORDS_FOR[key]
    near = (name for name in REQUESTS if one_slip(key, name))
    return next(near, None) or next(iter(similar(key[:_LONGEST], REQUESTS, _ALIKE)), None)


def is_slip(key: str, name: str) -> bool:
    """Say whether a name is so like a command that it is hardly one of the author's own."""
    return len(name) >= _LONG_ENOUGH and bool(similar(key[:_LONGEST], (name,), _ALIKE))


def _candidates(key: str) -> Iterator[str]:
    """Yield commands that may be meant, the likeliest first."""
    yield from (fault.fix for fault in misspelt([(key, None)]) if fault.fix)
    table = submit_commands()
    yield from sorted((command.name for command in table.near(key)), key=str.isupper)
    names = [command.name for command in table if command.is_in_use and "<" not in command.name]
    if len(key) >= _LONG_ENOUGH:
        yield from (name for name in names if name.replace("_", "").lower() == key.replace("_", ""))
        begun = [name for name in names if name.startswith(key)]
        yield from begun if len(begun) == 1 else ()
    yield from (name for name in similar(key[:_LONGEST], names, _NOT_UNLIKE, 5) if _is_like(key, name))


def _is_like(key: str, name: str) -> bool:
    """Say whether a name is very like a command, or begins like it."""
    shared = next((at for at, (ours, theirs) in enumerate(zip(key, name, strict=False)) if ours != theirs), len(key))
    return shared >= len(name) * _BEGUN or bool(similar(key[:_LONGEST], (name,), _ALIKE))
