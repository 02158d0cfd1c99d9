"""The universe of a description's jobs, by the names that people and the table of commands give it."""

from __future__ import annotations

from typing import Final

from crondor.diagnostics import CrondorError
from crondor.knowledge.commands import SubmitCommand
from crondor.submit import SubmitFile
from crondor.submit.universes import COMMANDS, NAMES, universe_number

_IMAGES: Final = ("container_image", "containerimage", "docker_image", "dockerimage")
_CONTAINERS: Final = ("docker", "container")
_VANILLA: Final = "vanilla"

AT_HOME: Final = ("local", "scheduler")
"""The universes whose jobs run on the access point."""


def universes_of(file: SubmitFile) -> tuple[str, ...]:
    """Return the names of the universe that the first job has, and so all; none where it is not known.

    A vanilla job with an image is a container universe job, and one of docker's is that as well.
    """
    try:
        group = next(file.groups((*COMMANDS, *_IMAGES)), None)
    except CrondorError:
        return ()
    if group is None:
        return ()
    given = next((group.values[name].strip() for name in COMMANDS if group.values.get(name, "").strip()), _VANILLA)
    if given.lower() in _CONTAINERS:
        return (given.lower(), *_CONTAINERS, _VANILLA)
    number = universe_number(given)
    name = NAMES[number].lower() if 0 < number < len(NAMES) else ""
    if name == _VANILLA and any(group.values.get(image, "").strip() for image in _IMAGES):
        return ("container", *_CONTAINERS, _VANILLA)
    return (name,) if name else ()


def in_universe(command: SubmitCommand, universes: tuple[str, ...]) -> bool:
    """Say whether a command counts in one of some universes."""
    return not command.universes or not set(universes).isdisjoint(command.universes)
