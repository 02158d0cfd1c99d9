"""What `crondor config` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict

from crondor_cli.kit.results import Diagnostic, Result


class Package(TypedDict):
    """A package that an extra of crondor needs."""

    extra: Annotated[str, "what is written in brackets: crondor[htcondor]"]
    package: Annotated[str, "the package"]
    version: Annotated[str | None, "null where it is not installed"]


class Access(TypedDict):
    """Whether the schedd allows this user a level of access."""

    level: Annotated[str, "what was asked for", ("READ", "WRITE")]
    allowed: Annotated[bool, "whether the schedd lets this user"]
    user: Annotated[str | None, "who one is to the schedd"]
    methods: Annotated[str | None, "how the schedd knows"]


class Offset(TypedDict):
    """The offsets of both zones at an instant."""

    time: Annotated[int, "an instant (epoch seconds)"]
    theirs: Annotated[int, "the schedd's clock then (minutes east of UTC)"]
    ours: Annotated[int, "ours then (minutes east of UTC)"]


class Live(TypedDict):
    """The schedd that --live names, and what this user may do there."""

    bindings: Annotated[str | None, "the release of the official bindings"]
    schedd: Annotated[str | None, "its name"]
    machine: Annotated[str | None, "its host"]
    address: Annotated[str | None, "where it listens"]
    release: Annotated[str | None, "its release of HTCondor"]
    access: Annotated[Iterable[Access], "what this user may do there"]
    schedd_interval: Annotated[int | None, "its SCHEDD_INTERVAL (seconds); null where it does not say"]
    seconds_ahead: Annotated[
        int | None, "how far its clock is ahead of ours (seconds); null where it has no job to say so"
    ]
    offsets: Annotated[Iterable[Offset], "its zone compared with ours; empty where it has no job to say so"]
    log: Annotated[str | None, "its job_queue.log, where it is"]


class DoctorResult(TypedDict):
    """What crondor finds on this host."""

    crondor: Annotated[str | None, "its version; null in a checkout that is not installed"]
    python: Annotated[str, "the version of Python"]
    executable: Annotated[str, "the path of Python"]
    zone: Annotated[str, "the IANA name of the zone that is reckoned with"]
    configuration: Annotated[str | None, "HTCondor's own configuration on this host; null where none is found"]
    packages: Annotated[Iterable[Package], "the packages that the extras of crondor bring"]
    live: Annotated[Live | None, "the schedd that --live names; null without it"]
    diagnostics: Annotated[Iterable[Diagnostic], "what will go wrong"]


class Setting(TypedDict):
    """A setting, its value, and where the value comes from."""

    name: Annotated[str, "the key, with its table: check.ignore"]
    meaning: Annotated[str, "what it sets"]
    variable: Annotated[str, "the environment variable"]
    default: Annotated[str | None, "what counts where it is not set; null for a list"]
    value: Annotated[str | int | bool | Iterable[str] | None, "what it is set to; null where it is not"]
    source: Annotated[str | None, "the file or the variable that sets it; null for the default"]
    line: Annotated[int | None, "the line of the file (a line, from 1)"]


class ShowResult(TypedDict):
    """All settings, and the files that set them."""

    files: Annotated[Iterable[str], "the files that were read, the user's first"]
    settings: Annotated[Iterable[Setting], "all settings there are"]


RESULTS = {
    "config-doctor": Result("What is installed, and whether a schedd can be worked with", DoctorResult),
    "config-show": Result("The settings, and where each comes from", ShowResult),
}
