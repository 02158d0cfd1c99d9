"""Sandboxes: what goes into the spool, what comes back, and what never does."""

import os
import socket
import stat
from pathlib import Path

import pytest

from crondor.classad import Expression
from crondor.job_queue import JobId
from crondor.router.sandbox import FilesRefused, Sandbox, SandboxLimits, Spool
from crondor.router.sandbox.reach import kept_apart, restored, rewritten, text
from tests.router.sandbox.places import JOB, NOBODY, Place, as_root, codes, ends_at, me, nobody


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A user's folder and a spool."""
    return Place(tmp_path)


# The spool


def test_a_sandbox_is_where_htcondors_schedd_has_it(tmp_path: Path) -> None:
    """Cluster and proc modulo 10000, then the whole numbers (gen_ckpt_name)."""
    spool = Spool(tmp_path)
    assert spool.place(JobId(12_345, 6)) == tmp_path / "2345/6/cluster12345.proc6.subproc0"
    assert spool.place(JobId(7, 10_001)) == tmp_path / "7/1/cluster7.proc10001.subproc0"


def test_a_sweep_deletes_what_is_ours_and_over(place: Place) -> None:
    """A folder without our note is left alone, also one with the name of a sandbox."""
    place.spooled()
    foreign = place.spool.folder / "1/0/cluster1.proc0.subproc0"
    foreign.mkdir(parents=True)
    assert place.spool.sweep(lambda job: job == JOB) == []
    assert place.inside.is_dir()
    assert place.spool.sweep(lambda _: False) == [JOB]
    assert not place.inside.exists()
    assert foreign.is_dir()
    assert sorted(each.name for each in place.spool.folder.iterdir()) == ["1"]


def test_a_sandbox_that_is_not_ours_is_not_written_to(place: Place) -> None:
    """As in the spool of a real schedd."""
    place.inside.mkdir(parents=True)
    (place.inside / "theirs").touch()
    with pytest.raises(FilesRefused) as error:
        place.sandbox.spool_in(JOB, place.ad())
    assert codes(error) == ["spool-foreign"]
    assert place.tree() == ["theirs"]


# Input


def test_all_that_a_job_needs_goes_in(place: Place) -> None:
    """The list, the program, its input, the proxy, each relative to Iwd; what the site fetches by itself does not."""
    for name in ("a.txt", "in/b.txt", "prog.sh", "stdin.txt", "x509"):
        place.put(name, name, 0o755 if name == "prog.sh" else 0o640)
    place.spooled(
        TransferInput="a.txt, in/b.txt, https://example.org/c",
        Cmd="prog.sh",
        TransferExecutable=True,
        In=str(place.home / "stdin.txt"),
        x509userproxy=str(place.home / "x509"),
    )
    assert place.tree() == ["a.txt", "b.txt", "prog.sh", "stdin.txt", "x509"]
    modes = {name: stat.S_IMODE((place.inside / name).stat().st_mode) for name in place.tree()}
    assert modes == {"a.txt": 0o640, "b.txt": 0o640, "prog.sh": 0o755, "stdin.txt": 0o640, "x509": 0o600}
    assert stat.S_IMODE(place.inside.stat().st_mode) == 0o700
    assert (place.inside / "b.txt").read_text() == "in/b.txt"


def test_folders_go_with_all_that_is_in_them(place: Place) -> None:
    """With a slash at the end: what is in it, which the list then names; without: the folder itself."""
    for name in ("d/1", "d/sub/2", "e/3", "e/sub/4"):
        place.put(name)
    (place.home / "e/empty").mkdir()
    ad = place.spooled(TransferInput="d/, e")
    assert place.tree() == ["1", "e", "e/3", "e/empty", "e/sub", "e/sub/4", "sub", "sub/2"]
    assert text(ad, "TransferInput") == "1,sub,e"
    assert text(ad, "SUBMIT_TransferInput") == "d/1,d/sub,e"


def test_relative_paths_are_kept_where_the_job_says_so(place: Place) -> None:
    """PreserveRelativePaths; a full path loses its folders all the same."""
    place.put("a/b/c")
    other = place.put("x/y")
    ad = place.spooled(TransferInput=f"a/b/c, {other}", PreserveRelativePaths=True)
    assert place.tree() == ["a", "a/b", "a/b/c", "y"]
    assert text(ad, "TransferInput") == "a/b/c,y"
    with pytest.raises(FilesRefused) as error:
        place.sandbox.prepared(place.ad(TransferInput="a/../x/y", PreserveRelativePaths=True))
    assert codes(error) == ["spool-outside"]


def test_all_that_is_missing_is_said_at_once_before_anything_is_submitted(place: Place) -> None:
    """Files, folders to expand, a program."""
    place.put("there")
    with pytest.raises(FilesRefused) as error:
        place.sandbox.prepared(place.ad(TransferInput="gone1, there, gone2", Cmd="gone3", TransferExecutable=True))
    assert codes(error) == ["spool-missing"] * 3
    assert "gone2" in error.value.diagnostics[1].message
    with pytest.raises(FilesRefused) as error:
        place.sandbox.prepared(place.ad(TransferInput="gone4/, gone5/"))
    assert codes(error) == ["spool-missing"] * 2
    assert not place.spool.folder.exists()


def test_no_file_outside_of_the_folders_is_read(place: Place, tmp_path: Path) -> None:
    """Neither by its path, nor by a link, nor by a link within a folder."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (place.home / "link").symlink_to(secret)
    (place.home / "d").mkdir()
    (place.home / "d/link").symlink_to(secret)
    for path in (str(secret), "../secret", "link", "d"):
        with pytest.raises(FilesRefused) as error:
            place.sandbox.prepared(place.ad(TransferInput=path))
        assert codes(error) == ["spool-outside"], path
    place.sandbox.prepared(place.ad(TransferInput=str(secret)), [str(secret)])


def test_links_within_the_folders_are_followed_to_files_only(place: Place) -> None:
    """As HTCondor does it: one to a folder is left out, and that is said."""
    place.put("d/a")
    place.put("real")
    (place.home / "d/file").symlink_to("../real")
    (place.home / "d/folder").symlink_to(place.home)
    place.spooled(TransferInput="d")
    assert place.tree() == ["d", "d/a", "d/file"]
    assert not (place.inside / "d/file").is_symlink()
    assert [each.kind for each in place.reports] == ["file-link"]


def test_pipes_and_sockets_are_left_out_and_never_waited_for(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """As HTCondor does it; a device is refused."""
    place.put("d/a")
    os.mkfifo(place.home / "d/pipe")
    monkeypatch.chdir(place.home)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("d/socket")
        place.spooled(TransferInput="d")
    assert place.tree() == ["d", "d/a"]
    assert [each.kind for each in place.reports] == ["spool-special"] * 2
    everything = Sandbox(place.spool, ["/"], accounts=me)
    with pytest.raises(FilesRefused) as error:
        everything.prepared(place.ad(TransferInput="/dev/zero"))
    assert codes(error) == ["spool-special"]


def test_of_two_files_of_a_name_the_later_one_is_there(place: Place) -> None:
    """As in HTCondor, where nothing says so."""
    place.put("a/x", "first")
    place.put("b/x", "second")
    place.spooled(TransferInput="a/x, b/x")
    assert (place.inside / "x").read_text() == "second"
    assert [each.kind for each in place.reports] == ["sandbox-twice"]


@pytest.mark.parametrize("limits", [SandboxLimits(most_bytes=9), SandboxLimits(most_files=2), SandboxLimits(deepest=1)])
def test_a_sandbox_has_bounds(tmp_path: Path, limits: SandboxLimits) -> None:
    """Bytes, files, depth; nothing is left of one that is too large."""
    place = Place(tmp_path, limits=limits)
    place.put("d/e/f/g", "12345")
    place.put("d/h", "12345")
    with pytest.raises(FilesRefused) as error:
        place.sandbox.prepared(place.ad(TransferInput="d"))
    assert [code.partition("-")[0] for code in codes(error)] == ["sandbox"]


def test_a_file_that_grows_meanwhile_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is counted is what is copied."""
    place = Place(tmp_path, limits=SandboxLimits(most_bytes=100))
    path = place.put("a", "x" * 90)
    begin = place.spool.begin

    def grows(job: JobId) -> Path:
        path.write_text("x" * 200)
        return begin(job)

    monkeypatch.setattr(place.spool, "begin", grows)
    with pytest.raises(FilesRefused) as error:
        place.sandbox.spool_in(JOB, place.ad(TransferInput="a"))
    assert codes(error) == ["file-io"]
    assert not place.spool.is_whole(JOB)


# The ad


def test_what_spooling_writes_into_the_ad() -> None:
    """As the schedd's rewriteSpooledJobAd: SUBMIT_ keeps what was there; remaps to URLs stay for the site."""
    from crondor.classad.ad import ClassAd  # noqa: PLC0415 - one test's

    ad = ClassAd(
        {
            "Iwd": "/home/alice",
            "Cmd": "/home/alice/prog",
            "In": "/dev/null",
            "TransferInput": "data/a,https://example.org/b,c",
            "UserLog": "logs/job.log",
            "TransferOutputRemaps": "a=/x/a;b=https://example.org/b",
        }
    )
    edits = rewritten(ad, "/spool/1")
    assert edits == {
        "SUBMIT_Iwd": "/home/alice",
        "Iwd": "/spool/1",
        "SUBMIT_TransferOutputRemaps": "a=/x/a",
        "TransferOutputRemaps": "b=https://example.org/b",
        "SUBMIT_Cmd": "/home/alice/prog",
        "Cmd": "prog",
        "SUBMIT_TransferInput": "data/a,https://example.org/b,c",
        "TransferInput": "a,https://example.org/b,c",
        "SUBMIT_UserLog": "logs/job.log",
        "UserLog": "job.log",
    }
    for name, value in edits.items():
        ad.set(name, value)
    assert rewritten(ad, "/spool/1") == {}
    assert text(restored(ad), "TransferInput") == "data/a,https://example.org/b,c"
    bare = rewritten(ClassAd({"TransferExecutable": False, "Cmd": "/bin/true"}), "/s")
    undefined = Expression("undefined")
    assert bare == {"SUBMIT_Iwd": undefined, "Iwd": "/s", "TransferOutputRemaps": undefined}


def test_output_in_other_folders_is_kept_in_the_sandbox_until_it_is_brought_back(place: Place) -> None:
    """As condor_submit -spool does; a name without a folder, a stream and /dev/null stay."""
    ad = place.ad(Out="logs/out;1", Err="/x/err", TransferOutputRemaps="a=b;")
    assert kept_apart(ad) == {
        "Out": "_condor_stdout",
        "Err": "_condor_stderr",
        "TransferOutputRemaps": "a=b;_condor_stdout=logs/out\\;1;_condor_stderr=/x/err",
    }
    assert kept_apart(place.ad(Out="both/x", Err="both/x"))["Err"] == "_condor_stdout"
    assert kept_apart(place.ad(Out="out", Err="/dev/null")) == {}
    assert kept_apart(place.ad(Out="a/out", StreamOut=True)) == {}


# Output


def test_new_and_changed_files_come_back(place: Place) -> None:
    """Not the input as it was, not folders, not the program, not the proxy: as HTCondor does without a list."""
    for name in ("same", "changed", "prog", "x509"):
        place.put(name, "before")
    ad = place.spooled(TransferInput="same,changed", Cmd="prog", TransferExecutable=True, x509userproxy="x509")
    for name in ("changed", "new", "prog", "x509", "folder/deep"):
        (place.inside / name).parent.mkdir(exist_ok=True)
        (place.inside / name).write_text("after it")
    for name in ("same", "changed"):
        (place.home / name).write_text("mine")
    assert place.sandbox.fetch_back(JOB, ad).files == 2
    assert {path.name: path.read_text() for path in place.home.iterdir()} == {
        "same": "mine",
        "changed": "after it",
        "new": "after it",
        "prog": "before",
        "x509": "before",
    }


def test_output_goes_where_the_remaps_say(place: Place) -> None:
    """Relative to the source's Iwd, full paths, whole folders; the job's own output with them; URLs are the site's."""
    (place.home / "results").mkdir()
    remaps = f"a=results/b; tree=results/t; c={place.home}/d; u=https://example.org/u"
    ad = place.spooled(Out="results/out.txt", Err="err", TransferOutput="a,tree,c,u", TransferOutputRemaps=remaps)
    for name in ("a", "c", "u", "tree/x", "tree/deep/y", "_condor_stdout", "err"):
        (place.inside / name).parent.mkdir(exist_ok=True, parents=True)
        (place.inside / name).write_text(name)
    place.sandbox.fetch_back(JOB, ad)
    found = sorted(str(path.relative_to(place.home)) for path in place.home.rglob("*") if path.is_file())
    assert found == ["d", "err", "results/b", "results/out.txt", "results/t/deep/y", "results/t/x"]
    assert (place.home / "results/out.txt").read_text() == "_condor_stdout"


def test_output_that_is_missing_is_an_error_with_nothing_moved(place: Place) -> None:
    """Everything that is missing, at once; the job's own output as well where there is a list."""
    ad = place.spooled(Out="out", TransferOutput="a,b")
    (place.inside / "a").touch()
    with pytest.raises(FilesRefused) as error:
        place.sandbox.fetch_back(JOB, ad)
    assert [(each.kind, each.message.partition(" ")[0]) for each in error.value.diagnostics] == [
        ("output-missing", "b"),
        ("output-missing", "out"),
    ]
    assert list(place.home.iterdir()) == []
    ad = ad.copy()
    ad.prune("TransferOutput")
    place.sandbox.fetch_back(JOB, ad)
    assert [path.name for path in place.home.iterdir()] == ["a"]
    assert [each.kind for each in place.reports] == ["output-missing"]


def test_spooled_output_files_win(place: Place) -> None:
    """What the shadow has written down is what there is."""
    ad = place.spooled(TransferOutput="never")
    (place.inside / "a").touch()
    ad.set("SpooledOutputFiles", "a")
    place.sandbox.fetch_back(JOB, ad)
    assert [path.name for path in place.home.iterdir()] == ["a"]


def test_a_job_cannot_have_others_files_brought_to_it(place: Place, tmp_path: Path) -> None:
    """A link out of the sandbox is not followed: refused where it is listed, else passed over."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    ad = place.spooled()
    (place.inside / "link").symlink_to(secret)
    (place.inside / "d").mkdir()
    (place.inside / "d/link").symlink_to(secret)
    (place.inside / "real").write_text("real")
    (place.inside / "inner").symlink_to("real")
    place.sandbox.fetch_back(JOB, ad)
    assert {path.name: path.read_text() for path in place.home.iterdir()} == {"real": "real", "inner": "real"}
    assert [each.kind for each in place.reports] == ["file-link"]
    ad.set("TransferOutput", "d")
    place.sandbox.fetch_back(JOB, ad)
    assert list((place.home / "d").iterdir()) == []
    for name in ("link", str(secret), "../secret", "d/../../secret"):
        ad.set("TransferOutput", name)
        with pytest.raises(FilesRefused):
            place.sandbox.fetch_back(JOB, ad)


@pytest.mark.parametrize("target", ["../outside", "{tmp}/outside", "link/outside", "d", "d/", "gone/x", "..", "a/.."])
def test_output_goes_to_the_allowed_folders_only(place: Place, tmp_path: Path, target: str) -> None:
    """Neither beside them, nor through a link, nor in the place of a folder; no folder is made for it."""
    (tmp_path / "other").mkdir()
    (place.home / "d").mkdir()
    (place.home / "d/a").mkdir()
    (place.home / "link").symlink_to(tmp_path / "other")
    ad = place.spooled(TransferOutput="a", TransferOutputRemaps=f"a={target.format(tmp=tmp_path)}")
    (place.inside / "a").touch()
    with pytest.raises(FilesRefused):
        place.sandbox.fetch_back(JOB, ad)
    assert list((tmp_path / "other").iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "other", "spool"]
    assert sorted(path.name for path in place.home.iterdir()) == ["d", "link"]


def test_a_link_in_the_place_of_an_output_is_replaced(place: Place, tmp_path: Path) -> None:
    """What it leads to stays as it is."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (place.home / "out").symlink_to(victim)
    ad = place.spooled(TransferOutput="out")
    (place.inside / "out").write_text("job's")
    place.sandbox.fetch_back(JOB, ad)
    assert victim.read_text() == "mine"
    assert not (place.home / "out").is_symlink()
    assert (place.home / "out").read_text() == "job's"


def test_remaps_without_end_are_refused(place: Place) -> None:
    """And said."""
    ad = place.spooled(TransferOutput="a", TransferOutputRemaps="a=b;b=a")
    (place.inside / "a").touch()
    with pytest.raises(FilesRefused) as error:
        place.sandbox.fetch_back(JOB, ad)
    assert codes(error) == ["endless-remaps"]


# Accounts


@as_root
def test_root_gives_the_sandbox_to_the_owner_and_the_output_as_well(tmp_path: Path) -> None:
    """All of it, and no folder above."""
    tmp_path.chmod(0o755)
    for folder in list(tmp_path.parents)[:-2]:
        if folder.stat().st_uid == os.geteuid() and folder != Path("/tmp"):  # noqa: S108 - only not that one
            folder.chmod(folder.stat().st_mode | 0o755)
    place = Place(tmp_path, accounts=nobody)
    os.chown(place.home, NOBODY.uid, NOBODY.gid)
    place.put("d/a")
    ad = place.spooled(Owner="nobody", TransferInput="d", TransferOutput="new")
    assert {path.stat().st_uid for path in (place.inside, *place.inside.rglob("*"))} == {NOBODY.uid}
    assert place.inside.parent.stat().st_uid == 0
    (place.inside / "new").touch()
    os.chown(place.inside / "new", NOBODY.uid, NOBODY.gid)
    place.sandbox.fetch_back(JOB, ad)
    assert (place.home / "new").stat().st_uid == NOBODY.uid


@as_root
def test_root_reads_and_writes_what_the_owner_might(tmp_path: Path) -> None:
    """A file that is not for him, a folder that he may not enter or write to, an account that is not there."""
    for folder in (tmp_path, *list(tmp_path.parents)[:-2]):
        if folder != Path("/tmp"):  # noqa: S108 - only not that one
            folder.chmod(folder.stat().st_mode | 0o755)
    place = Place(tmp_path, accounts=nobody)
    place.put("secret", mode=0o600)
    place.put("closed/open")
    (place.home / "closed").chmod(0o700)
    for name in ("secret", "closed/open", "closed"):
        with pytest.raises(FilesRefused) as error:
            place.sandbox.prepared(place.ad(Owner="nobody", TransferInput=name))
        assert codes(error) == ["file-denied"], name
    ad = place.spooled(Owner="nobody", TransferOutput="new")
    (place.inside / "new").touch()
    os.chown(place.inside / "new", NOBODY.uid, NOBODY.gid)
    with pytest.raises(FilesRefused) as error:
        place.sandbox.fetch_back(JOB, ad)
    assert codes(error) == ["file-denied"]
    place.home.chmod(0o1777)
    (place.home / "new").touch()
    with pytest.raises(FilesRefused) as error:
        place.sandbox.fetch_back(JOB, ad)
    assert codes(error) == ["file-denied"]
    with pytest.raises(FilesRefused) as error:
        place.sandbox.prepared(place.ad(Owner="alice"))
    assert codes(error) == ["no-account"]


# Crashes


def test_spooling_that_ends_anywhere_is_done_by_the_next_one(place: Place) -> None:
    """A sandbox that is there is whole, whatever was ended, and when."""
    place.put("a", "x" * 1000)
    place.put("d/b", "y")
    ad = place.ad(TransferInput="a,d")
    number = 0
    while ends_at(number, lambda: place.sandbox.spool_in(JOB, ad)):
        if place.inside.exists():
            assert place.tree() == ["a", "d", "d/b"]
            assert (place.inside / "a").read_text() == "x" * 1000
            assert place.spool.is_whole(JOB)
        place.sandbox.spool_in(JOB, ad)
        assert place.tree() == ["a", "d", "d/b"]
        assert sorted(path.name for path in place.inside.parent.iterdir()) == [
            "cluster12345.proc6.subproc0",
            "cluster12345.proc6.subproc0.crondor",
        ]
        place.sandbox.remove(JOB)
        number += 1
    assert number > 20


def test_spooling_that_was_ended_leaves_nothing_that_a_sweep_does_not_find(place: Place) -> None:
    """Also where the job is gone when the next process looks."""
    place.put("a")
    ad = place.ad(TransferInput="a")
    number = 0
    while ends_at(number, lambda: place.sandbox.spool_in(JOB, ad)):
        place.spool.sweep(lambda _: False)
        assert [path.name for path in place.spool.folder.rglob("*") if path.is_file()] == []
        number += 1
    assert number > 10


def test_fetching_that_ends_anywhere_is_done_by_the_next_one(place: Place) -> None:
    """Each file is the old one or the new one, never half of it; nothing is left beside them."""
    ad = place.spooled(TransferOutput="a,b,d")
    for name in ("a", "b", "d/c"):
        (place.inside / name).parent.mkdir(exist_ok=True)
        (place.inside / name).write_text("new" * 1000)
    number = 0
    while True:
        for name in ("a", "b"):
            place.put(name, "old")
        ended = ends_at(number, lambda: place.sandbox.fetch_back(JOB, ad))
        for name in ("a", "b"):
            assert (place.home / name).read_text() in ("old", "new" * 1000)
        place.sandbox.fetch_back(JOB, ad)
        assert sorted(path.name for path in place.home.iterdir()) == ["a", "b", "d"]
        assert {path.read_text() for path in place.home.rglob("*") if path.is_file()} == {"new" * 1000}
        if not ended:
            break
        number += 1
    assert number > 10


def test_removing_that_ends_anywhere_is_done_by_the_next_one(place: Place) -> None:
    """The note goes last."""
    place.put("a")
    number = 0
    while True:
        place.spooled(TransferInput="a")
        ended = ends_at(number, lambda: place.sandbox.remove(JOB))
        place.spool.sweep(lambda _: False)
        assert [path for path in place.spool.folder.rglob("*") if path.is_file()] == []
        if not ended:
            break
        number += 1
    assert number >= 3
