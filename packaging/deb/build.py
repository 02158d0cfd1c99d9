"""`make deb`: lay the wheel of crondor, and its one dependency that Debian has not, into a Debian package.

Nothing is compiled and nothing is fetched here: the wheels come as arguments. Bytes depend on the wheels, on the files
of this checkout, on SOURCE_DATE_EPOCH and on the maintainer (DEBFULLNAME, DEBEMAIL) alone. What goes
where is in docs/install.md.
"""

from __future__ import annotations

import argparse
import email
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import parse_wheel_filename
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent.parent
MODULES = "usr/lib/python3/dist-packages"
SHARE = {  # a folder of the wheel's share/, and where Debian looks for it
    "man/man1": "usr/share/man/man1",
    "bash-completion/completions": "usr/share/bash-completion/completions",
    "zsh/site-functions": "usr/share/zsh/vendor-completions",
    "fish/vendor_completions.d": "usr/share/fish/vendor_completions.d",
}
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
DEBIAN = {
    "click": "python3-click",
    "python-dateutil": "python3-dateutil",
    "tomli": "python3-tomli",
    "tzlocal": "python3-tzlocal",
    "wcwidth": "python3-wcwidth",
    "tzdata": "tzdata",
}
BUNDLED = {"pcre2"}
TEXTS = Path(__file__).resolve().parent


class Unfit(Exception):
    """These wheels make no package; the message says why."""


@dataclass(frozen=True)
class Bundle:
    """What the wheels of pcre2 are good for."""

    wheels: tuple[Path, ...]
    pythons: tuple[int, ...]  # minor versions: 13 for Python 3.13
    architecture: str
    libc: str

    @classmethod
    def of(cls, wheels: list[Path]) -> Bundle:
        """Read the names of the wheels.

        Raises:
            Unfit: they are for several architectures or for Pythons with a gap, or for none that is known.

        """
        tags = [tag for wheel in wheels for tag in parse_wheel_filename(wheel.name)[3]]
        pythons = sorted({int(tag.interpreter.removeprefix("cp3")) for tag in tags})
        if not pythons or pythons != list(range(pythons[0], pythons[-1] + 1)):
            named = ", ".join(f"3.{minor}" for minor in pythons)
            message = f"the wheels of pcre2 are for Python {named}; name those in between as well"
            raise Unfit(message)
        platforms = [re.fullmatch(r"manylinux_(\d+)_(\d+)_(\w+)", tag.platform) for tag in tags]
        found = [match for match in platforms if match]
        machines = {match[3] for match in found}
        if len(machines) != 1 or not machines <= ARCHITECTURES.keys():
            message = (
                f"the wheels of pcre2 must be for one of {', '.join(ARCHITECTURES)}, and are for {sorted(machines)}"
            )
            raise Unfit(message)
        libc = max((int(match[1]), int(match[2])) for match in found)
        return cls(tuple(wheels), tuple(pythons), ARCHITECTURES[machines.pop()], f"{libc[0]}.{libc[1]}")


def main() -> None:
    """Build the package, and say its path."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path, help="the wheel of crondor")
    parser.add_argument("pcre2", type=Path, nargs="+", help="the wheels of pcre2, one for each Python")
    parser.add_argument("--directory", type=Path, default=Path("dist"), help="where the package goes (dist)")
    given = parser.parse_args()
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not epoch.isdecimal():
        sys.exit("packaging/deb/build.py: set SOURCE_DATE_EPOCH to the time of this release, in epoch seconds")
    try:
        print(build(given.wheel, Bundle.of(given.pcre2), given.directory, int(epoch)))
    except Unfit as error:
        sys.exit(f"packaging/deb/build.py: {error}")


def build(wheel: Path, bundle: Bundle, directory: Path, epoch: int) -> Path:
    """Write the package into a directory, and return its path; epoch (seconds) is the time of all in it.

    Raises:
        Unfit: the wheel asks for something that the package cannot give.

    """
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "crondor")
        metadata = _lay_wheel(wheel, tree)
        for each in bundle.wheels:
            _lay_modules(each, tree, r"pcre2/(__init__\.py|[^/]+\.so)$|pcre2-[^/]+\.dist-info/")
        version = debian_version(metadata["Version"])
        maintainer = f"{os.environ.get('DEBFULLNAME', 'Local build')} <{os.environ.get('DEBEMAIL', 'root@localhost')}>"
        _lay_documents(tree, version, maintainer, epoch)
        _write(tree / "usr/share/lintian/overrides/crondor", (TEXTS / "lintian-overrides").read_bytes())
        _write(tree / "usr/bin/crondor", (TEXTS / "crondor").read_bytes(), 0o755)
        fields = {
            "VERSION": version,
            "ARCHITECTURE": bundle.architecture,
            "MAINTAINER": maintainer,
            "DEPENDS": ", ".join(depends(metadata.get_all("Requires-Dist", []), bundle)),
            "SIZE": str(-(-sum(path.stat().st_size for path in tree.rglob("*") if path.is_file()) // 1024)),
        }
        _lay_control(tree, fields)
        for path in [tree, *tree.rglob("*")]:
            os.utime(path, (epoch, epoch))
            if path.is_dir():
                path.chmod(0o755)
        directory.mkdir(parents=True, exist_ok=True)
        target = directory / f"crondor_{version}_{bundle.architecture}.deb"
        command = ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(tree), str(target)]
        subprocess.run(
            command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)}
        )
    return target


def debian_version(version: str) -> str:
    """Return the version as Debian orders it: 1.0rc1 comes before 1.0."""
    return re.sub(r"(?<=\d)\.?(a|b|rc|dev)(?=\d)", r"~\1", version) + "-1"


def depends(requirements: list[str], bundle: Bundle) -> list[str]:
    """Return the field Depends: the wheel's requirements by the names that Debian has for them.

    Raises:
        Unfit: Debian has a requirement under no name that is known here.

    """
    first, last = bundle.pythons[0], bundle.pythons[-1]
    found = [f"libc6 (>= {bundle.libc})", f"python3 (>= 3.{first}), python3 (<< 3.{last + 1})"]
    for each in map(Requirement, requirements):
        if each.name in BUNDLED or not _counts(each.marker, bundle):
            continue
        if each.name not in DEBIAN:
            message = f"no package of Debian is named here for {each.name}: add it to DEBIAN, or bundle its wheel"
            raise Unfit(message)
        lowest = next(each.version for each in each.specifier if each.operator == ">=")
        found.append(f"{DEBIAN[each.name]} (>= {_zones(lowest) if each.name == 'tzdata' else lowest})")
    return found


def _counts(marker: Marker | None, bundle: Bundle) -> bool:
    """Say whether a requirement is one of the package's Pythons, without any extra."""
    return marker is None or any(
        marker.evaluate({"python_version": f"3.{minor}", "sys_platform": "linux", "extra": ""})
        for minor in bundle.pythons
    )


def _zones(version: str) -> str:
    """Return the release of the zone rules as their authors write it: PyPI's 2024.1 is 2024a."""
    year, number = Version(version).release
    return f"{year}{chr(ord('a') + number - 1)}"


def _lay_wheel(wheel: Path, tree: Path) -> email.message.Message:
    """Lay modules, manual pages and completions, and return the metadata."""
    _lay_modules(wheel, tree, r"crondor(_cli)?/|crondor-[^/]+\.dist-info/")
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            match = re.fullmatch(r"crondor-[^/]+\.data/data/share/(.+)/([^/]+)", name)
            if match is None:
                continue
            if match[1] not in SHARE:
                message = f"the wheel has {name}, and where Debian looks for that is not said here: add it to SHARE"
                raise Unfit(message)
            folder, content = tree / SHARE[match[1]], archive.read(name)
            if "/man/" in SHARE[match[1]]:
                _write(folder / f"{match[2]}.gz", gzip.compress(content, 9, mtime=0))
            else:
                _write(folder / match[2], content)
        (metadata,) = (name for name in archive.namelist() if re.fullmatch(r"crondor-[^/]+\.dist-info/METADATA", name))
        return email.message_from_bytes(archive.read(metadata))


def _lay_modules(wheel: Path, tree: Path, wanted: str) -> None:
    """Lay files of a wheel where Debian's Python imports from; RECORD goes, so that pip leaves dpkg's files alone."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(("/", "/RECORD")) or not re.match(wanted, name):
                continue
            _write(tree / MODULES / name, archive.read(name))
            if name.endswith("/METADATA"):
                _write((tree / MODULES / name).with_name("INSTALLER"), b"dpkg\n")


def _lay_documents(tree: Path, version: str, maintainer: str, epoch: int) -> None:
    """Lay the licence, both changelogs and the examples."""
    folder = tree / "usr/share/doc/crondor"
    _write(folder / "copyright", (TEXTS / "copyright").read_bytes())
    _write(folder / "changelog.gz", gzip.compress((ROOT / "CHANGELOG.md").read_bytes(), 9, mtime=0))
    entry = (
        f"crondor ({version}) unstable; urgency=medium\n\n"
        f"  * Built from the wheel; changelog.gz says what is new in crondor.\n\n"
        f" -- {maintainer}  {formatdate(epoch)}\n"
    )
    _write(folder / "changelog.Debian.gz", gzip.compress(entry.encode(), 9, mtime=0))
    for path in sorted((ROOT / "examples").iterdir()):
        if path.is_file():
            _write(folder / "examples" / path.name, path.read_bytes())


def _lay_control(tree: Path, fields: dict[str, str]) -> None:
    """Lay what dpkg reads: the description, the scripts, and a checksum of each file."""
    sums = "".join(
        f"{hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()}  {path.relative_to(tree).as_posix()}\n"
        for path in sorted(tree.rglob("*"))
        if path.is_file()
    )
    control = (TEXTS / "control").read_text(encoding="utf-8")
    _write(tree / "DEBIAN/control", re.sub(r"@([A-Z]+)@", lambda match: fields[match[1]], control).encode())
    _write(tree / "DEBIAN/md5sums", sums.encode())
    for name in ("postinst", "prerm"):
        _write(tree / "DEBIAN" / name, (TEXTS / name).read_bytes(), 0o755)


def _write(path: Path, content: bytes, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)


if __name__ == "__main__":
    if shutil.which("dpkg-deb") is None:
        sys.exit("packaging/deb/build.py: there is no dpkg-deb here (Debian, Ubuntu: apt install dpkg)")
    main()
