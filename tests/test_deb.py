"""The Debian package that `make deb` builds: what is in it, on what it depends, that it runs, and again."""

import gzip
import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from crondor_cli.main import cli
from reference.facts import commands

ROOT = Path(__file__).resolve().parent.parent
MODULES = "usr/lib/python3/dist-packages"
VERSION = importlib.metadata.version("crondor")


def _pcre2(folder: Path) -> Path:
    """Make a wheel of the pcre2 that is installed here."""
    tag = f"cp3{sys.version_info.minor}"
    found = importlib.metadata.distribution("pcre2")
    wheel = folder / f"pcre2-{found.version}-{tag}-{tag}-manylinux_2_28_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path in found.files or ():
            if path.parts[0].startswith("pcre2") and path.suffix != ".pyc":
                archive.write(path.locate().__fspath__(), path.as_posix())
    return wheel


def _build(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "packaging/deb/build.py"), *map(str, arguments)]
    environment["DPKG_DEB_COMPRESSOR_LEVEL"] = "0"  # the best takes seconds
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def wheels(built: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the two wheels that go into the package."""
    return next(built.glob("*.whl")), _pcre2(tmp_path_factory.mktemp("wheels"))


@pytest.fixture(scope="module")
def package(wheels: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the package."""
    folder = tmp_path_factory.mktemp("deb")
    done = _build(*wheels, "--directory", folder, SOURCE_DATE_EPOCH="1795195625")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{folder}/crondor_{VERSION}-1_amd64.deb\n"
    return Path(done.stdout.strip())


@pytest.fixture(scope="module")
def root(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the package."""
    folder = tmp_path_factory.mktemp("root")
    program = shutil.which("dpkg-deb") or "dpkg-deb"
    subprocess.run([program, "--extract", str(package), str(folder)], check=True)
    subprocess.run([program, "--control", str(package), str(folder / "DEBIAN")], check=True)
    return folder


def test_everything_is_where_debian_looks_for_it(root: Path) -> None:
    """Manual pages compressed, completions of three shells, licence and changelogs."""
    pages = {path.name for path in (root / "usr/share/man/man1").iterdir()}
    assert pages == {f"{'-'.join(each.path)}.1.gz" for each in commands(cli)}
    page = gzip.decompress((root / "usr/share/man/man1/crondor-next.1.gz").read_bytes())
    assert b'.TH "CRONDOR' in page
    for path in (
        "usr/share/bash-completion/completions/crondor",
        "usr/share/zsh/vendor-completions/_crondor",
        "usr/share/fish/vendor_completions.d/crondor.fish",
        "usr/share/doc/crondor/copyright",
        "usr/share/doc/crondor/changelog.gz",
        "usr/share/doc/crondor/examples/nightly.sub",
        f"{MODULES}/crondor/py.typed",
    ):
        assert (root / path).is_file()
    assert (root / "usr/bin/crondor").read_text(encoding="utf-8").startswith("#!/usr/bin/python3\n")
    assert (root / "usr/bin/crondor").stat().st_mode & 0o777 == 0o755


def test_it_depends_on_what_the_wheel_asks_for(root: Path) -> None:
    """By Debian's names, with the same lower bounds, and for the Python that the extension module is for."""
    control = (root / "DEBIAN/control").read_text(encoding="utf-8")
    (line,) = (line for line in control.splitlines() if line.startswith("Depends: "))
    minor = sys.version_info.minor
    assert {f"python3 (>= 3.{minor})", f"python3 (<< 3.{minor + 1})", "tzdata (>= 2024a)"} <= set(
        line.removeprefix("Depends: ").split(", ")
    )
    for name in ("python3-click", "python3-dateutil", "python3-tzlocal", "python3-wcwidth"):
        assert f"{name} (>= " in line


def test_every_file_has_its_checksum(root: Path) -> None:
    """What `dpkg --verify` compares."""
    sums = (root / "DEBIAN/md5sums").read_text(encoding="utf-8").splitlines()
    found = {line.split("  ")[1]: line.split("  ")[0] for line in sums}
    there = {
        path.relative_to(root).as_posix(): hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()
        for path in root.rglob("*")
        if path.is_file() and "DEBIAN" not in path.parts and path.suffix != ".pyc"
    }
    assert found == there


def test_what_is_unpacked_runs(root: Path, tmp_path: Path) -> None:
    """Its own modules, its own pcre2 and its own version, whatever is installed otherwise."""
    script = (
        f"import sys; sys.path.insert(0, {str(root / MODULES)!r}); import crondor, crondor_cli, pcre2; "
        "from crondor_cli.main import script; print(crondor.__file__, crondor_cli.__file__, pcre2.__file__); script()"
    )
    command = [sys.executable, "-B", "-c", script, "classad", "eval", 'regexp("a+b", "caab")']
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    *files, answer = done.stdout.split()
    assert answer == "true"
    assert all(path.startswith(str(root)) for path in files)


def test_the_same_wheels_make_the_same_bytes(wheels: tuple[Path, Path], package: Path, tmp_path: Path) -> None:
    """Whatever umask and folder."""
    old = os.umask(0o077)
    try:
        done = _build(*wheels, "--directory", tmp_path, SOURCE_DATE_EPOCH="1795195625")
    finally:
        os.umask(old)
    assert Path(done.stdout.strip()).read_bytes() == package.read_bytes()


def test_a_faulty_call_is_answered_in_a_line(wheels: tuple[Path, Path], tmp_path: Path) -> None:
    """No time, or wheels for Pythons with a gap between them."""
    done = _build(*wheels, "--directory", tmp_path, SOURCE_DATE_EPOCH="")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("packaging/deb/build.py: set SOURCE_DATE_EPOCH")
    other = tmp_path / "pcre2-0.7.1-cp399-cp399-manylinux_2_28_x86_64.whl"
    done = _build(*wheels, other, SOURCE_DATE_EPOCH="1795195625")
    assert done.returncode == 1
    assert f"for Python 3.{sys.version_info.minor}, 3.99; name those in between" in done.stderr
