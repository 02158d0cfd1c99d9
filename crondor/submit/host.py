"""The submit machine as a submit description sees it: the facts behind $(ARCH), $(SPOOL) and their like."""

from __future__ import annotations

from typing import NamedTuple


class SubmitHost(NamedTuple):
    """What condor_submit knows of its machine beside the file; None: not known, and a fault where it is needed.

    The values given are those that condor_submit 25.14 has on Linux without a configuration of its own; ``_replace``
    changes any of them. ``schedd_interval`` is in seconds; ``version`` is what ``if version`` compares;
    ``folder`` is where condor_submit is started, which relative file names are meant in, empty where it is not known.
    """

    version: str = "25.14.0"
    arch: str | None = "X86_64"
    opsys: str | None = "LINUX"
    opsysandver: str | None = None
    opsysmajorver: str | None = None
    opsysver: str | None = None
    spool: str | None = "/var/lib/condor/spool"
    islinux: bool = True
    iswindows: bool = False
    uid_domain: str = "example.org"
    filesystem_domain: str = "example.org"
    user: str = "alice"
    schedd_interval: int = 300
    folder: str = ""

    def macro(self, key: str) -> str | None:
        """Return the text of a lower-case built-in macro of the machine, None where it is not known."""
        if key in {"islinux", "iswindows"}:
            return "1" if getattr(self, key) else "0"
        value: str | None = getattr(self, key)
        return value

    @property
    def version_numbers(self) -> tuple[int, int, int]:
        """Major, minor and sub-minor number."""
        major, minor, sub = (int(number) for number in self.version.split("."))
        return major, minor, sub
