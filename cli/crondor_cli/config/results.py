"""What `crondor config` prints as JSON: a type for each object, with a description of each key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict

from crondor_cli.kit.results import Diagnostic, Result


class Package(TypedDict):
    """A package that an extra of crondor needs."""

    extra: Annotated[str, "the text in brackets: crondor[htcondor]"]
    package: Annotated[str, "the package"]
    version: Annotated[str | None, "null if it is not installed"]


class Access(TypedDict):
    """Whether the schedd allows this user a level of access."""

    level: Annotated[str, "the level", ("READ", "WRITE")]
    allowed: Annotated[bool, "whether the schedd allows it"]
    user: Annotated[str | None, "the schedd's name for this user"]
    methods: Annotated[str | None, "the authentication methods"]


class Offset(TypedDict):
    """The offsets of both zones at a time."""

    time: Annotated[int, "a time (epoch seconds)"]
    theirs: Annotated[int, "the schedd's clock then (minutes east of UTC)"]
    ours: Annotated[int, "this host's clock then (minutes east of UTC)"]


class Live(TypedDict):
    """The schedd of --live, and this user's access."""

    bindings: Annotated[str | None, "the release of the official bindings"]
    schedd: Annotated[str | None, "its name"]
    machine: Annotated[str | None, "its host"]
    address: Annotated[str | None, "its address"]
    release: Annotated[str | None, "its release of HTCondor"]
    access: Annotated[Iterable[Access], "this user's access"]
    schedd_interval: Annotated[int | None, "its SCHEDD_INTERVAL (seconds); null if it is unknown"]
    seconds_ahead: Annotated[
        int | None, "how far its clock is ahead of ours (seconds); null if it has no job to find out"
    ]
    offsets: Annotated[Iterable[Offset], "its zone compared with ours; empty if it has no job to find out"]
    log: Annotated[str | None, "the path of its job_queue.log"]


class DoctorResult(TypedDict):
    """What crondor finds on this host."""

    crondor: Annotated[str | None, "its version; null in a checkout that is not installed"]
    python: Annotated[str, "the version of Python"]
    executable: Annotated[str, "the path of Python"]
    zone: Annotated[str, "the IANA name of the zone used"]
    configuration: Annotated[str | None, "HTCondor's own configuration on this host; null if none is found"]
    packages: Annotated[Iterable[Package], "the packages of crondor's extras"]
    live: Annotated[Live | None, "the schedd of --live; null without it"]
    diagnostics: Annotated[Iterable[Diagnostic], "coming problems"]


class Setting(TypedDict):
    """A setting, its value, and the source of the value."""

    name: Annotated[str, "the key, with its table: check.ignore"]
    meaning: Annotated[str, "what it sets"]
    variable: Annotated[str, "the environment variable"]
    default: Annotated[str | None, "the default; null for a list"]
    value: Annotated[str | int | bool | Iterable[str] | None, "its value; null if it is not set"]
    source: Annotated[str | None, "the file or the variable that sets it; null for the default"]
    line: Annotated[int | None, "the line of the file, from 1"]


class ShowResult(TypedDict):
    """All settings, and the files used."""

    files: Annotated[Iterable[str], "the files read, the user's first"]
    settings: Annotated[Iterable[Setting], "all settings"]


RESULTS = {
    "config-doctor": Result("The installation, and whether a schedd can be used", DoctorResult),
    "config-show": Result("The settings, and the source of each", ShowResult),
}
