"""Shared proxies: a copy for each job, its owner's alone, and gone when it is in the sandbox."""

import os
import stat
from pathlib import Path

import pytest

from crondor.diagnostics import Diagnostic
from crondor.router.applying import SharedProxy
from crondor.router.sandbox import FilesRefused, Proxies
from tests.router.sandbox.places import NOBODY, as_root, codes, ends_at, me, nobody


@pytest.fixture
def proxy(tmp_path: Path) -> SharedProxy:
    """A proxy of the router's."""
    path = tmp_path / "proxy"
    path.write_text("certificate")
    path.chmod(0o600)
    return SharedProxy(str(path), f"{path}.7.0")


@pytest.fixture
def proxies(tmp_path: Path) -> Proxies:
    """What copies it."""
    return Proxies(tmp_path / "state/proxies", accounts=me)


def test_a_copy_is_made_for_a_source_and_deleted_again(tmp_path: Path, proxy: SharedProxy, proxies: Proxies) -> None:
    """<file>.<source's id>, mode 0600; deleted once, and nothing else."""
    proxies.prepare(proxy, "7.0", "alice")
    copy = tmp_path / "proxy.7.0"
    assert (copy.read_text(), stat.S_IMODE(copy.stat().st_mode)) == ("certificate", 0o600)
    assert proxies.files == (str(copy),)
    proxies.remove("8.0")
    assert copy.exists()
    proxies.remove("7.0")
    proxies.remove("7.0")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["proxy", "state"]


@as_root
def test_root_gives_it_to_the_owner(tmp_path: Path, proxy: SharedProxy) -> None:
    """An account that is not there fails the job, as in HTCondor."""
    proxies = Proxies(tmp_path / "state/proxies", accounts=nobody)
    proxies.prepare(proxy, "7.0", "nobody")
    assert Path(proxy.copy).stat().st_uid == NOBODY.uid
    with pytest.raises(FilesRefused) as error:
        proxies.prepare(proxy, "7.0", "alice")
    assert codes(error) == ["no-account"]


def test_who_is_not_root_keeps_it_and_says_so(
    tmp_path: Path, proxy: SharedProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy is there, and the router's."""
    reports: list[Diagnostic] = []
    monkeypatch.setattr("crondor.router.sandbox.delivery.is_root", lambda: False)
    proxies = Proxies(tmp_path / "state/proxies", accounts=nobody, report=reports.append)
    proxies.prepare(proxy, "7.0", "nobody")
    assert Path(proxy.copy).stat().st_uid == os.geteuid()
    assert [each.kind for each in reports] == ["proxy-owner"]


def test_what_is_no_proxy_is_not_copied(tmp_path: Path, proxy: SharedProxy, proxies: Proxies) -> None:
    """Missing, a folder, a link, a pipe, too large."""
    (tmp_path / "link").symlink_to(proxy.file)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b"x" * ((1 << 20) + 1))
    for name in ("gone", "link", "pipe", "large", "state"):
        (tmp_path / "state").mkdir(exist_ok=True)
        with pytest.raises(FilesRefused):
            proxies.prepare(SharedProxy(str(tmp_path / name), str(tmp_path / "copy")), "7.0", "alice")
    assert not (tmp_path / "copy").exists()


@as_root
def test_a_proxy_is_the_routers_own(proxy: SharedProxy, tmp_path: Path) -> None:
    """SharedX509UserProxy is evaluated in the job: it must not name somebody's file."""
    os.chown(proxy.file, NOBODY.uid, NOBODY.gid)
    with pytest.raises(FilesRefused) as error:
        Proxies(tmp_path / "state", accounts=me).prepare(proxy, "7.0", "alice")
    assert codes(error) == ["proxy-denied"]
    Proxies(tmp_path / "state", accounts=me, owners=[NOBODY.uid]).prepare(proxy, "7.0", "alice")


def test_no_file_of_somebody_else_is_overwritten_or_deleted(proxy: SharedProxy, tmp_path: Path) -> None:
    """Also one that takes the place of the copy later."""
    reports: list[Diagnostic] = []
    proxies = Proxies(tmp_path / "state", accounts=me, report=reports.append)
    Path(proxy.copy).write_text("theirs", encoding="utf-8")
    with pytest.raises(FilesRefused) as error:
        proxies.prepare(proxy, "7.0", "alice")
    assert codes(error) == ["proxy-foreign"]
    Path(proxy.copy).unlink()
    proxies.prepare(proxy, "7.0", "alice")
    Path(proxy.copy).write_text("theirs", encoding="utf-8")
    proxies.remove("7.0")
    assert Path(proxy.copy).read_text(encoding="utf-8") == "theirs"
    assert [each.kind for each in reports] == ["proxy-foreign"]


def test_no_copy_outlives_a_crash(tmp_path: Path, proxy: SharedProxy) -> None:
    """The note comes first; a new process deletes what no job waits for."""
    number = 0
    while ends_at(number, lambda: Proxies(tmp_path / "state", accounts=me).prepare(proxy, "7.0", "alice")):
        Proxies(tmp_path / "state", accounts=me).sweep(lambda source: source == "8.0")
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith("proxy.")] == []
        number += 1
    assert number > 8
    Proxies(tmp_path / "state", accounts=me).sweep(lambda source: source == "7.0")
    assert Path(proxy.copy).exists()
