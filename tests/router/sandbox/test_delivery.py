"""A router that moves files, on the embedded schedd: one scenario for each rule of HTCondor 25.14's job router."""

from functools import partial
from pathlib import Path

import pytest

from crondor.classad import UNDEFINED
from crondor.classad.ad import ClassAd
from crondor.config import read_config
from crondor.diagnostics import Diagnostic
from crondor.job_queue import JobId
from crondor.router.daemon import LogEntry, RoutedState, Router, RouterEvent, RouterOptions
from crondor.router.daemon.rehearsal import Site, Sites
from crondor.router.sandbox import FileDelivery, Proxies, Sandbox, Spool, TokenFiles, TokenRequest, read_tokens
from crondor.schedd.embedded import EmbeddedSchedd, MemorySchedd
from tests.router.daemon.scenes import NOW, ROUTE, job, table
from tests.router.sandbox.places import ends_at, me

_STRIDE = 3  # of some 90 changes of the disk, so that the test is short; with each of them it holds as well
SANDBOXED = f"{ROUTE}JobShouldBeSandboxed = true\n"


class World:
    """A folder with a home, a queue on disk, a spool, a router over them, and a site that does what a job would."""

    def __init__(self, folder: Path, rules: str = SANDBOXED, knobs: str = "", now: int = NOW) -> None:
        """Open the queue, as a process does."""
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir(exist_ok=True)
        self.now = now
        self.entries: list[LogEntry] = []
        self.reports: list[Diagnostic] = []
        self.table = table({"Site1": rules}, knobs)
        self.plan = read_tokens(read_config(knobs))
        self.schedd = EmbeddedSchedd(folder / "queue", clock=lambda: self.now)
        self.sites = Sites(self.schedd, [Site("Site1", run_time=20)], self.now)
        self.spool = Spool(folder / "spool")
        self.delivery = self.make_delivery()
        options = RouterOptions(log=self.entries.append, delivery=self.delivery)
        self.router = Router(self.table, self.schedd, clock=lambda: self.now, options=options)

    def make_delivery(self) -> FileDelivery:
        """Return what moves the files, as a new process has it."""
        report = self.reports.append
        return FileDelivery(
            self.schedd,
            Sandbox(self.spool, [self.home, self.folder / "tokens"], accounts=me, report=report),
            clock=lambda: self.now,
            proxies=Proxies(self.folder / "state/proxies", accounts=me, report=report),
            tokens=TokenFiles(self.plan, issued, self.folder / "state/tokens", accounts=me, report=report),
            report=report,
        )

    def submit(self, **attributes: object) -> JobId:
        """Submit a job of alice's in her folder."""
        base = {"Iwd": str(self.home), "TransferExecutable": False}
        return self.schedd.submit([job(**{**base, **attributes})])[0]

    def poll(self, times: int = 1) -> None:
        """Let time pass, and the router poll."""
        for _ in range(times):
            self.now += 10
            self.sites.advance(self.now)
            for copy in self.schedd.jobs('RoutedBy =?= "jobrouter" && JobStatus == 2'):
                self.run(copy)
            self.router.poll()

    def run(self, copy: ClassAd) -> None:
        """Do what a job of this test does: copy ``input`` in its sandbox to ``output``."""
        sandbox = Path(str(copy.python("Iwd")))
        if (sandbox / "input").exists():
            (sandbox / "output").write_text((sandbox / "input").read_text().upper())

    def copies(self) -> list[ClassAd]:
        """Return the copies in the queue."""
        return self.schedd.jobs('RoutedBy =?= "jobrouter"')

    def ad(self, found: JobId) -> ClassAd:
        """Return a job as it is, or as it left."""
        return (self.schedd.jobs(found) or self.schedd.history(found))[0]

    def said(self, what: RouterEvent) -> list[str]:
        """Return what the router has said of a kind."""
        return [entry.text for entry in self.entries if entry.what is what]

    def left(self) -> list[str]:
        """Return the files beside the queue and the home."""
        kept = ("queue", "home")
        return sorted(
            str(path.relative_to(self.folder))
            for path in self.folder.rglob("*")
            if path.is_file() and path.relative_to(self.folder).parts[0] not in kept
        )


def issued(request: TokenRequest) -> str:
    """Make a token that says who it is for."""
    return f"token-of-{request.subject}-at-{request.now}"


def values(ad: ClassAd, *names: str) -> list[object]:
    """Return attributes of an ad."""
    return [ad.python(name) if name in ad else None for name in names]


def test_input_goes_in_and_output_comes_back(tmp_path: Path) -> None:
    """The whole way: on hold, spooled, released, run, fetched, let go, and the sandbox deleted."""
    pool = World(tmp_path)
    (pool.home / "input").write_text("hello")
    found = pool.submit(TransferInput="input", TransferOutput="output", TransferOutputRemaps="output=result.txt")
    pool.poll()
    (copy,) = pool.copies()
    place = pool.spool.place(JobId(2, 0))
    assert values(copy, "JobStatus", "Iwd", "SUBMIT_Iwd", "StageInStart", "StageInFinish", "ReleaseReason") == [
        1, str(place), str(pool.home), pool.now, pool.now, "Data files spooled",
    ]  # fmt: skip
    assert values(copy, "LastHoldReason", "LastHoldReasonCode") == ["Spooling input data files", 16]
    assert values(copy, "SUBMIT_TransferOutputRemaps", "TransferOutputRemaps") == ["output=result.txt", UNDEFINED]
    assert (place / "input").read_text() == "hello"
    pool.poll(6)
    assert values(pool.ad(found), "JobStatus", "Managed") == [4, "ScheddDone"]
    assert (pool.home / "result.txt").read_text() == "HELLO"
    assert pool.left() == ["state/tokens"] or pool.left() == []
    assert not place.exists()
    pool.schedd.close()


def test_a_source_that_was_spooled_itself(tmp_path: Path) -> None:
    """Its files are those in its own sandbox, and the output goes back there; what is kept of it is not the copy's."""
    pool = World(tmp_path)
    (pool.home / "input").write_text("hello")
    kept = {"SUBMIT_Iwd": "/far", "SUBMIT_TransferInput": "far/input", "SUBMIT_TransferOutputRemaps": "output=far/o"}
    pool.submit(TransferInput="input", TransferOutput="output", **kept)
    pool.poll()
    (copy,) = pool.copies()
    assert values(copy, "SUBMIT_Iwd", "SUBMIT_TransferInput") == [str(pool.home), None]
    pool.poll(6)
    assert (pool.home / "output").read_text() == "HELLO"
    pool.schedd.close()


def test_a_copy_without_a_sandbox_is_left_as_it_is(tmp_path: Path) -> None:
    """Nothing is spooled, and nothing is rewritten."""
    pool = World(tmp_path, ROUTE)
    pool.submit(TransferInput="gone")
    pool.poll()
    assert values(pool.copies()[0], "JobStatus", "Iwd", "SUBMIT_Iwd") == [1, str(pool.home), None]
    assert not pool.spool.folder.exists()
    pool.schedd.close()


def test_a_file_that_is_missing_fails_the_submission(tmp_path: Path) -> None:
    """No copy is made; all is said, and the job is given back."""
    pool = World(tmp_path)
    found = pool.submit(TransferInput="gone1,gone2")
    pool.poll()
    (said,) = pool.said(RouterEvent.NOT_SUBMITTED)
    assert "gone1" in said
    assert "gone2" in said
    assert pool.schedd.next_cluster == 2
    assert values(pool.ad(found), "JobStatus", "Managed") == [1, "Schedd"]
    pool.schedd.close()


def test_input_that_goes_between_submission_and_spooling_takes_the_copy_with_it(tmp_path: Path) -> None:
    """The copy is removed, its sandbox too, and the job waits for its next try."""
    pool = World(tmp_path)
    path = pool.home / "input"
    path.write_text("x")
    found = pool.submit(TransferInput="input")
    begin = pool.schedd.submit

    def submit(ads: list[ClassAd]) -> list[JobId]:
        path.unlink()
        return begin(ads)

    pool.schedd.submit = submit  # type: ignore[method-assign, assignment]
    pool.poll()
    assert len(pool.said(RouterEvent.NOT_SUBMITTED)) == 1
    assert pool.copies() == []
    assert values(pool.ad(found), "JobStatus", "Managed") == [1, "Schedd"]
    assert pool.left() in ([], ["state/tokens"])
    pool.schedd.close()


def test_output_that_cannot_be_fetched_makes_the_source_idle(tmp_path: Path) -> None:
    """It does not leave its queue as completed: it is routed again (HTCondor 25.14's job router, finalise)."""
    pool = World(tmp_path)
    found = pool.submit(TransferOutput="never")
    pool.poll(4)
    assert len(pool.said(RouterEvent.NOT_FINALIZED)) == 1
    assert "never is not in the sandbox" in pool.said(RouterEvent.NOT_FINALIZED)[0]
    assert values(pool.ad(found), "JobStatus", "Managed") == [1, "Schedd"]
    assert pool.schedd.jobs(found) != []
    pool.poll(2)
    assert len(pool.said(RouterEvent.SUBMITTED)) == 2
    pool.schedd.close()


def test_a_removed_source_leaves_no_files(tmp_path: Path) -> None:
    """The copy goes, and what was spooled for it."""
    pool = World(tmp_path)
    (pool.home / "input").write_text("x")
    found = pool.submit(TransferInput="input")
    pool.poll()
    assert pool.spool.is_whole(JobId(2, 0))
    pool.schedd.remove(found, "by alice")
    pool.poll(2)
    assert pool.copies() == []
    assert pool.left() in ([], ["state/tokens"])
    pool.schedd.close()


def test_a_shared_proxy_goes_into_the_sandbox(tmp_path: Path) -> None:
    """x509userproxy names it there; the copy of the file is deleted (HTCondor 25.14's job router)."""
    proxy = tmp_path / "proxy"
    proxy.write_text("certificate")
    rules = f'{SANDBOXED}UseSharedX509UserProxy = true\nSharedX509UserProxy = "{proxy}"\n'
    pool = World(tmp_path, rules)
    pool.submit()
    pool.poll()
    (copy,) = pool.copies()
    assert values(copy, "x509userproxy", "SUBMIT_x509userproxy") == ["proxy.1.0", f"{proxy}.1.0"]
    inside = pool.spool.place(JobId(2, 0)) / "proxy.1.0"
    assert (inside.read_text(), inside.stat().st_mode & 0o777) == ("certificate", 0o600)
    assert not (tmp_path / "proxy.1.0").exists()
    pool.poll(6)
    assert [path.name for path in pool.home.iterdir()] == []
    assert proxy.exists()
    pool.schedd.close()


def test_a_shared_proxy_that_cannot_be_read_fails_the_submission(tmp_path: Path) -> None:
    """As does a route without a sandbox."""
    rules = f'{SANDBOXED}UseSharedX509UserProxy = true\nSharedX509UserProxy = "{tmp_path}/gone"\n'
    pool = World(tmp_path, rules)
    pool.submit()
    pool.poll()
    assert "cannot read the shared proxy" in pool.said(RouterEvent.NOT_SUBMITTED)[0]
    assert pool.copies() == []
    pool.schedd.close()


def tokens_of(folder: Path) -> str:
    """Return knobs for a token."""
    return (
        f"SEC_TOKEN_DIRECTORY = {folder / 'tokens'}\nJOB_ROUTER_CREATE_IDTOKEN_NAMES = site\n"
        'JOB_ROUTER_CREATE_IDTOKEN_site = sub = "router"\nJOB_ROUTER_IDTOKEN_REFRESH = 100\n'
    )


def test_token_files_go_with_the_jobs(tmp_path: Path) -> None:
    """Before the other input files, and with a sandbox into that (HTCondor 25.14's job router)."""
    (tmp_path / "tokens").mkdir()
    pool = World(tmp_path, f'{SANDBOXED}SendIDTokens = "site"\n', tokens_of(tmp_path))
    (pool.home / "input").write_text("x")
    pool.submit(TransferInput="input")
    pool.poll()
    (copy,) = pool.copies()
    assert values(copy, "TransferInput", "SUBMIT_TransferInput") == ["site,input", f"{tmp_path}/tokens/site,input"]
    assert (pool.spool.place(JobId(2, 0)) / "site").read_text() == f"token-of-router-at-{NOW + 10}\n"
    pool.poll(10)
    assert (tmp_path / "tokens/site").read_text() == f"token-of-router-at-{NOW + 110}\n"
    pool.schedd.close()


def test_token_files_go_with_jobs_without_a_sandbox(tmp_path: Path) -> None:
    """By their paths; the global knob is for routes that say nothing."""
    (tmp_path / "tokens").mkdir()
    pool = World(tmp_path, ROUTE, f"{tokens_of(tmp_path)}JOB_ROUTER_SEND_ROUTE_IDTOKENS = site\n")
    pool.submit(TransferInput="input")
    pool.poll()
    assert values(pool.copies()[0], "TransferInput") == [f"{tmp_path}/tokens/site,input"]
    pool.schedd.close()


def test_an_unknown_token_fails_the_job(tmp_path: Path) -> None:
    """With a reason; the job is given back."""
    pool = World(tmp_path, f'{ROUTE}SendIDTokens = "site other"\n')
    found = pool.submit()
    pool.poll()
    assert pool.said(RouterEvent.NOT_TRANSFORMED) == [": unknown IDTOKEN site"]
    assert values(pool.ad(found), "JobStatus", "Managed") == [1, "Schedd"]
    pool.schedd.close()


def test_a_schedd_that_has_a_spool_of_its_own_is_not_spooled_for(tmp_path: Path) -> None:
    """A live one: said before anything is submitted."""
    schedd = MemorySchedd(clock=lambda: NOW, atomic_edits=False)
    delivery = FileDelivery(schedd, Sandbox(Spool(tmp_path / "spool"), [tmp_path], accounts=me), clock=lambda: NOW)
    entries: list[LogEntry] = []
    options = RouterOptions(log=entries.append, delivery=delivery)
    router = Router(table({"Site1": SANDBOXED}), schedd, clock=lambda: NOW, options=options)
    schedd.submit([job(Iwd=str(tmp_path), TransferExecutable=False)])
    router.poll()
    assert [
        "this schedd has its own spool" in entry.text for entry in entries if entry.what is RouterEvent.NOT_SUBMITTED
    ] == [True]
    assert len(schedd.jobs()) == 1


def test_a_copy_whose_router_ended_before_its_input_was_spooled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next router spools it; the hold is not mirrored, and the job is not submitted again."""
    pool = World(tmp_path)
    (pool.home / "input").write_text("hello")
    found = pool.submit(TransferInput="input")
    monkeypatch.setattr(pool.delivery, "spool", lambda _: None)
    pool.poll()
    assert values(pool.copies()[0], "JobStatus", "HoldReasonCode") == [5, 16]
    pool.schedd.close()
    pool = World(tmp_path, now=pool.now)
    pool.poll()
    assert len(pool.said(RouterEvent.ADOPTED)) == 1
    assert values(pool.copies()[0], "JobStatus", "StageInFinish") == [1, pool.now]
    assert values(pool.ad(found), "JobStatus") == [1]
    assert [each.state for each in pool.router.jobs.values()] == [RoutedState.SUBMITTED]
    pool.schedd.close()


def live(folder: Path, now: int, polls: int = 6) -> None:
    """Live for some polls, as a process does."""
    proxy = folder / "proxy"
    rules = f'{SANDBOXED}UseSharedX509UserProxy = true\nSharedX509UserProxy = "{proxy}"\nSendIDTokens = "site"\n'
    pool = World(folder, rules, tokens_of(folder), now)
    pool.poll(polls)
    pool.schedd.close()


def test_a_process_that_ends_anywhere_loses_nothing(tmp_path: Path) -> None:
    """At many changes of the disk, of the queue's and the files': the job is done once, and no file is left or half."""
    number = 0
    while True:
        folder = tmp_path / str(number)
        (folder / "tokens").mkdir(parents=True)
        (folder / "proxy").write_text("certificate")
        (folder / "home").mkdir()
        (folder / "home/input").write_text("hello")
        with EmbeddedSchedd(folder / "queue", clock=lambda: NOW) as schedd:
            iwd = str(folder / "home")
            (found,) = schedd.submit([job(Iwd=iwd, TransferExecutable=False, TransferInput="input")])
        ended = ends_at(number, partial(live, folder, NOW))
        live(folder, NOW + 200, 14)
        with EmbeddedSchedd(folder / "queue", clock=lambda: NOW + 1000) as schedd:
            assert schedd.jobs() == [], number
            assert {ad.python("JobStatus") for ad in schedd.history(found)} == {4}
            ran = schedd.history('RoutedBy =?= "jobrouter" && NumJobStarts > 0')
            assert len({ad.python("ClusterId") for ad in ran}) == 1, number
        assert {path.name: path.read_text() for path in (folder / "home").iterdir()} == {
            "input": "hello",
            "output": "HELLO",
        }
        assert not [path for path in (folder / "spool").rglob("*") if path.is_file()], number
        assert [path.name for path in folder.iterdir() if path.name.startswith("proxy")] == ["proxy"], number
        if not ended:
            break
        number += _STRIDE
    assert number > 70
