"""Folders of other users: root does nothing there that their owner could turn against somebody else."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from crondor.classad.ad import ClassAd
from crondor.diagnostics import Diagnostic
from crondor.rights.trust import Untrusted
from crondor.router.applying import SharedProxy
from crondor.router.sandbox import FilesRefused, Proxies, Sandbox, Spool, TokenFiles, TokenPlan, TokenRequest, TokenSpec
from crondor.router.sandbox import transfer as sandbox_module
from crondor.router.sandbox.reach import Reach
from tests.rights.people import ALICE, BOB, IS_ROOT, PEOPLE, as_root, home, link_in_place, swapping
from tests.router.sandbox.places import JOB, Place, codes

NOW = 1_795_200_000


def spoilt(folder: Path) -> None:
    """Have others be able to write in a folder: make it another user's, or everybody's."""
    if IS_ROOT:
        os.chown(folder, BOB.uid, BOB.gid)
    else:
        folder.chmod(0o777)


# Sandboxes


class Stage(Place):
    """Alice's folder, a victim of root's, and the spool."""

    def __init__(self, folder: Path) -> None:
        """Make them."""
        super().__init__(folder, accounts=PEOPLE.get)
        self.victim = folder / "victim"
        self.victim.mkdir()
        (self.victim / "out").write_text("mine")
        self.user = ALICE if IS_ROOT else PEOPLE["me"]
        self.own()

    def own(self) -> None:
        """Give all that is in the home to its owner."""
        for path in (self.home, *self.home.rglob("*")):
            os.lchown(path, self.user.uid, self.user.gid)

    def finished(self, name: str = "out") -> ClassAd:
        """Spool a job of the owner's and have it make a file."""
        ad = self.spooled(Owner=self.user.name, TransferOutput=name, TransferOutputRemaps=f"{name}=results/out")
        (self.inside / name).write_text("output")
        os.chown(self.inside / name, self.user.uid, self.user.gid)
        return ad


@pytest.mark.parametrize("moment", ["folder", "_stage", "_check"])
def test_output_goes_nowhere_else_when_a_folder_becomes_a_link(
    commons: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Between any two steps: what the link leads to stays as it is."""
    stage = Stage(commons)
    (stage.home / "results").mkdir()
    stage.own()
    ad = stage.finished()
    swap = link_in_place(stage.home / "results", stage.victim)
    owner = Reach if moment == "folder" else sandbox_module._Staging
    swapping(monkeypatch, owner, "real" if moment == "folder" else moment, swap)
    with pytest.raises(FilesRefused):
        stage.sandbox.fetch_back(JOB, ad)
    assert [path.name for path in stage.victim.iterdir()] == ["out"]
    assert (stage.victim / "out").read_text() == "mine"


@as_root
def test_output_is_made_by_its_owner(commons: Path) -> None:
    """Also where an access list or a file server decides: root gives nothing away that he could not make himself."""
    stage = Stage(commons)
    (stage.home / "results").mkdir()
    stage.own()
    ad = stage.finished()
    given: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in ("chown", "fchown", "lchown"):
            patch.setattr(os, name, lambda *_, name=name: given.append(name))
        stage.sandbox.fetch_back(JOB, ad)
    found = (stage.home / "results/out").stat()
    assert ((found.st_uid, found.st_gid), given) == ((ALICE.uid, ALICE.gid), [])


@as_root
def test_input_is_read_by_its_owner(commons: Path) -> None:
    """What only a group of his may read he has; what is for a group of root's he has not."""
    stage = Stage(commons)
    for name, group in (("shared", 61_100), ("secret", 0)):
        stage.put(name, mode=0o640)
        os.chown(stage.home / name, BOB.uid, group)
    stage.sandbox.prepared(stage.ad(Owner="alice", TransferInput="shared"))
    with pytest.raises(FilesRefused) as error:
        stage.sandbox.prepared(stage.ad(Owner="alice", TransferInput="secret, shared"))
    assert codes(error) == ["file-denied"]
    assert "as alice: Permission denied" in error.value.diagnostics[0].message


@as_root
def test_an_owner_that_the_ad_alone_names_does_not_count(commons: Path) -> None:
    """Older schedds take OsUser from any submit file."""
    stage = Stage(commons)
    stage.put("secret", mode=0o600)
    with pytest.raises(FilesRefused) as error:
        stage.sandbox.prepared(stage.ad(Owner="alice", OsUser="me", TransferInput="secret"))
    assert codes(error) == ["file-denied"]


SPOOLS: dict[str, Callable[[Path], None]] = {
    "the spool": spoilt,
    "a folder in it": lambda spool: spoilt(spool / "2345"),
    "above it": lambda spool: spoilt(spool.parent),
}


@pytest.mark.parametrize("what", SPOOLS)
def test_a_spool_that_others_may_write_is_not_used(commons: Path, what: str) -> None:
    """They could have any folder deleted, or given to them: nothing is made, fetched or deleted there."""
    (commons / "above").mkdir()
    place = Place(commons / "above")
    place.put("a")
    ad = place.spooled(TransferInput="a")
    SPOOLS[what](place.spool.folder)
    for act in (
        lambda: place.sandbox.spool_in(JOB, ad),
        lambda: place.sandbox.fetch_back(JOB, ad),
        lambda: place.sandbox.remove(JOB),
        lambda: place.spool.sweep(lambda _: False),
    ):
        with pytest.raises(FilesRefused) as error:
            act()
        assert codes(error) == ["not-trusted"]
    assert (place.inside / "a").exists()


@as_root
def test_a_spool_behind_a_link_of_another_user_is_not_used(commons: Path) -> None:
    """Where the link leads nobody but he decides."""
    (commons / "real").mkdir()
    (commons / "spool").symlink_to("real")
    os.lchown(commons / "spool", BOB.uid, BOB.gid)
    sandbox = Sandbox(Spool(commons / "spool"), [commons], accounts=PEOPLE.get)
    with pytest.raises(FilesRefused) as error:
        sandbox.spool_in(JOB, ClassAd({"Owner": "me", "Cmd": "/bin/true", "TransferExecutable": False, "Iwd": "/"}))
    assert codes(error) == ["not-trusted"]
    assert list((commons / "real").iterdir()) == []


# Notes, proxies and tokens


def test_a_note_that_another_user_could_have_written_is_not_believed(commons: Path) -> None:
    """What it says was made is deleted."""
    victim = commons / "victim"
    victim.write_text("known")
    state = commons / "state"
    Proxies(state / "note", accounts=PEOPLE.get)._made.add("7.0", str(victim), b"known")
    spoilt(state)
    for make in (lambda: Proxies(state / "note"), lambda: TokenFiles(TokenPlan(), lambda _: "", state / "note")):
        with pytest.raises(Untrusted):
            make()
    assert victim.read_text() == "known"


@as_root
def test_a_proxy_is_none_of_roots_where_another_user_has_the_folder(commons: Path) -> None:
    """A link of his could make any file of root's the proxy, and any folder the place of its copy."""
    secrets = commons / "secrets"
    secrets.mkdir(mode=0o700)
    (secrets / "key").write_text("secret")
    theirs = home(commons, ALICE)
    (theirs / "way").symlink_to(secrets)
    proxies = Proxies(commons / "state/proxies", accounts=PEOPLE.get)
    for folder in (theirs / "way", theirs):
        (theirs / "key").write_text("certificate")
        proxy = SharedProxy(f"{folder}/key", f"{folder}/key.7.0")
        with pytest.raises(FilesRefused) as error:
            proxies.prepare(proxy, "7.0", "alice")
        assert codes(error) == ["proxy-denied"]
    assert [path.name for path in secrets.iterdir()] == ["key"]
    assert sorted(path.name for path in theirs.iterdir()) == ["key", "way"]


class Issued:
    """Tokens with files in a folder."""

    def __init__(self, commons: Path, folder: Path, owner: str) -> None:
        """Make none yet."""
        self.said: list[Diagnostic] = []
        spec = TokenSpec("site", "site", "", -1, (), f"{folder}/site", owner)
        note = commons / "state/tokens"
        self.tokens = TokenFiles(TokenPlan((spec,)), self.issue, note, accounts=PEOPLE.get, report=self.said.append)

    @staticmethod
    def issue(request: TokenRequest) -> str:
        """Make one."""
        return f"token-of-{request.name}"


@as_root
def test_a_token_in_its_owners_folder_is_written_by_him(commons: Path) -> None:
    """And deleted by him; a folder that he turns to another one is none of his."""
    theirs = home(commons, ALICE)
    issued = Issued(commons, theirs, "alice")
    issued.tokens.refresh(NOW)
    found = (theirs / "site").stat()
    assert ((found.st_uid, found.st_gid, found.st_mode & 0o777), issued.said) == ((ALICE.uid, ALICE.gid, 0o600), [])
    victim = commons / "victim"
    victim.mkdir()
    (victim / "site").write_text("token-of-site\n")
    link_in_place(theirs, victim)()
    os.lchown(theirs, ALICE.uid, ALICE.gid)
    issued.tokens.refresh(NOW)
    issued.tokens.reconfigure(TokenPlan(), NOW)
    assert [path.name for path in victim.iterdir()] == ["site"]
    assert (victim / "site").stat().st_uid == 0
    assert {each.kind for each in issued.said} == {"file-denied", "file-io"}


@as_root
@pytest.mark.parametrize("owner", ["", "bob"])
def test_a_token_is_not_put_into_anybody_elses_folder(commons: Path, owner: str) -> None:
    """It would be his to take, or to lead elsewhere."""
    issued = Issued(commons, home(commons, ALICE), owner)
    issued.tokens.refresh(NOW)
    assert [each.kind for each in issued.said] == ["id-token-denied"]
    assert list((commons / "alice").iterdir()) == []


@as_root
def test_a_token_in_a_folder_of_roots_is_given_to_its_owner(commons: Path) -> None:
    """As before: nobody else can change that folder."""
    (commons / "tokens").mkdir()
    issued = Issued(commons, commons / "tokens", "alice")
    issued.tokens.refresh(NOW)
    assert ((commons / "tokens/site").stat().st_uid, issued.said) == (ALICE.uid, [])
