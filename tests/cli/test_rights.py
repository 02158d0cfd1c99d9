"""Commands where other users have a hand in the files: whom they believe, and as whom they write."""

import json
import os
import pwd
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.running import NOW, Result, crondor
from tests.cli.test_route_run import started
from tests.cli.test_run import run, wait_for
from tests.rights.people import ALICE, BOB, IS_ROOT, as_root, home, open_folder

USER = "daemon"  # a user that every system has
ROUTES = """JOB_ROUTER_ROUTE_NAMES = Site1
JOB_ROUTER_LOCK = {lock}
JOB_ROUTER_HOOK_KEYWORD = HK
HK_HOOK_TRANSLATE_JOB = {hook}
JOB_ROUTER_POLLING_PERIOD = 1
JOB_ROUTER_ROUTE_Site1 @=end
  REQUIREMENTS WantJobRouter
  UNIVERSE vanilla
@end
"""


def spoil(path: Path) -> None:
    """Make a folder another user's, with all in it; who is not root lets everybody write there."""
    if not IS_ROOT:
        path.chmod(0o777)
        return
    for each in (path, *path.rglob("*")):
        os.lchown(each, BOB.uid, BOB.gid)


# Queues that another user has planted


@pytest.fixture(scope="module")
def original() -> Iterator[Path]:
    """A folder with a submit file, and beside it a queue of its name, whose job touches a canary; and its copy."""
    with open_folder() as commons:
        folder = commons / "jobs"
        folder.mkdir()
        for name, script in (("evil.sh", f"touch {commons}/canary"), ("good.sh", f"touch {commons}/good")):
            (folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / name).chmod(0o755)
        text = "universe = local\nexecutable = {}\nqueue\n"
        (folder / "job.sub").write_text(f"hold = true\n{text.format(folder / 'evil.sh')}")
        assert "held in .crondor/job.sub" in run(folder, "job.sub").err
        log = folder / ".crondor/job.sub/job_queue.log"
        log.write_text(log.read_text().replace(" JobStatus 5\n", " JobStatus 1\n"))
        (folder / "job.sub").write_text(text.format(folder / "good.sh"))
        yield folder.rename(commons / "original")


@pytest.fixture
def jobs(original: Path) -> Iterator[Path]:
    """Return that folder as it was made."""
    commons = original.parent
    yield Path(shutil.copytree(original, commons / "jobs", ignore=shutil.ignore_patterns("bell")))  # a pipe
    for each in (path for path in commons.iterdir() if path != original):
        shutil.rmtree(each) if each.is_dir() else each.unlink()


def test_a_queue_of_ones_own_is_gone_on_with(jobs: Path) -> None:
    """What the next tests plant would run."""
    assert run(jobs, "job.sub").status == 0
    assert (jobs.parent / "canary").exists()


def only(*names: str) -> Callable[[Path], None]:
    """Return what makes some of the files another user's, and leaves the others."""

    def plant(jobs: Path) -> None:
        for name in names:
            spoil(jobs / name)

    return plant


def linked(jobs: Path) -> None:
    """Put a link of another user's in the place of the queue's folder, to one that is root's."""
    if not IS_ROOT:
        spoil(jobs)
        return
    (jobs / ".crondor").rename(jobs / "elsewhere")
    (jobs / ".crondor").symlink_to("elsewhere")
    os.lchown(jobs / ".crondor", BOB.uid, BOB.gid)


PLANTED: dict[str, Callable[[Path], None]] = {
    "all of it": only("."),
    "the queue's folder": only(".crondor/job.sub"),
    "the folder of the queues": only(".crondor"),
    "the records of runs": only(".crondor/job.sub/runs"),
    "the requests": only(".crondor/job.sub/requests"),
    "a link": linked,
    "a folder for everybody": lambda jobs: jobs.chmod(0o777),
    "a log for everybody": lambda jobs: (jobs / ".crondor/job.sub/job_queue.log").chmod(0o666),
}


@pytest.mark.parametrize("what", PLANTED)
def test_a_queue_that_others_could_have_planted_runs_nothing(jobs: Path, what: str) -> None:
    """It is said which folder, whose it is, and what to do; with a folder of one's own the job runs."""
    PLANTED[what](jobs)
    found = run(jobs, "job.sub")
    assert (found.status, "[not-trusted]" in found.err, "--state DIR" in found.err) == (1, True, True), found.err
    assert f"{BOB.uid}" in found.err or "everybody" in found.err
    good = jobs.parent / "good"
    assert not (jobs.parent / "canary").exists()
    assert not good.exists()
    assert (run(jobs, "job.sub", "--state", str(jobs.parent / "state")).status, good.exists()) == (0, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ("submit", "job.sub"),
        ("hold", "1.0"),
        ("release", "1.0"),
        ("rm", "1.0"),
        ("edit", "1.0", "--set", 'Cmd="/bin/true"'),
        ("guard", "--once", "--apply"),
    ],
)
def test_a_queue_of_another_user_is_changed_by_nobody_else(
    jobs: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """Not by root either; looking at it is no harm."""
    monkeypatch.chdir(jobs)
    queue = jobs / ".crondor/job.sub"
    before = (queue / "job_queue.log").read_bytes()
    spoil(queue)
    found = crondor("queue", arguments[0], "--queue", str(queue), *arguments[1:], "--now", NOW)
    assert (found.status, found.out) == (1, "")
    assert "[not-trusted]" in found.err
    assert "--queue PATH" in found.err
    assert (queue / "job_queue.log").read_bytes() == before
    assert crondor("queue", "status", "--queue", str(queue), "1.0", "--now", NOW).status == 0


def test_a_journal_in_another_users_folder_gives_no_work(commons: Path) -> None:
    """Whose it is could have any job run a second time, or never; nothing is made there."""
    specs, state = commons / "specs", commons / "state"
    specs.mkdir()
    state.mkdir()
    (specs / "a.sub").write_text("executable = /bin/true\ntransfer_executable = false\ncron_minute = 0\nqueue\n")
    spoil(state)
    options = ("--specs", str(specs), "--state", str(state), "--tz", "UTC", "--now", "2026-11-25 12:00")
    found = crondor("hook", "fetch-work", *options)
    assert (found.status, found.out) == (1, "")
    assert "run as one user, who owns the folder" in found.err
    assert list(state.iterdir()) == []


@as_root
def test_a_link_to_another_users_jobs_gives_no_work(commons: Path) -> None:
    """Whoever may put a link into the folder could have anybody's file run in that user's name."""
    specs = commons / "specs"
    specs.mkdir()
    theirs = home(commons, ALICE) / "job.txt"
    theirs.write_text("executable = /bin/true\ntransfer_executable = false\ncron_minute = 0\nqueue\n")
    os.chown(theirs, ALICE.uid, ALICE.gid)
    (specs / "a.sub").symlink_to(theirs)
    options = ("--specs", str(specs), "--state", str(commons / "state"), "--tz", "UTC", "--now", "2026-11-25 12:00")
    os.lchown(specs / "a.sub", BOB.uid, BOB.gid)
    found = crondor("hook", "fetch-work", *options)
    assert (found.status, found.out) == (1, "")
    assert "it is a link of 61002's to a file of 61001's" in found.err
    for uid in (ALICE.uid, 0):
        os.lchown(specs / "a.sub", uid, uid)
        assert "a.sub#0" in crondor("hook", "fetch-work", *options, "--list").out


# What crondor run writes


@pytest.mark.parametrize("name", ["log", "output", "error", "initialdir"])
@as_root
def test_a_link_of_another_user_does_not_lead_what_a_job_writes(commons: Path, name: str) -> None:
    """Root's own job in a folder of alice's: no file of root's is written over, and it is said."""
    victim = commons / "victim"
    victim.mkdir()
    (victim / "file").write_text("mine\n")
    theirs = home(commons, ALICE)
    (theirs / "link").symlink_to(victim if name == "initialdir" else victim / "file")
    os.lchown(theirs / "link", ALICE.uid, ALICE.gid)
    lines = [f"{name} = {theirs}/link"] + (["output = file"] if name == "initialdir" else [])
    (commons / "job.sub").write_text("\n".join(["universe = local", "executable = /bin/id", *lines, "queue\n"]))
    found = run(commons, "job.sub")
    assert (victim / "file").read_text() == "mine\n"
    assert found.status == (0 if name == "log" else 1)
    assert f"{theirs}/link is a link of another user" in found.err
    os.lchown(theirs / "link", 0, 0)
    shutil.rmtree(commons / ".crondor")
    assert run(commons, "job.sub").status == 0
    assert (victim / "file").read_text() != "mine\n" or name == "error"


def test_a_pipe_in_the_place_of_a_log_keeps_nobody_waiting(commons: Path) -> None:
    """The job runs without it, and that is said."""
    os.mkfifo(commons / "pipe")
    (commons / "job.sub").write_text("universe = local\nexecutable = /bin/true\nlog = pipe\nqueue\n")
    found = run(commons, "job.sub")
    assert (found.status, "the user log" in found.err) == (0, True)


# What the router writes and runs


class Router:
    """A router over a queue, both whose the tests are, with the jobs of a user."""

    def __init__(self, folder: Path, user: str) -> None:
        """Write the configuration, and a hook that tells what it sees."""
        self.folder, self.user = folder, user
        hook = folder / "hook"
        hook.write_text("#!/bin/sh\nenv > /dev/fd/2; pwd >&2; umask >&2; id -u >&2; exit 3\n")
        hook.chmod(0o755)
        self.configure()

    def configure(self, lock: str = "") -> None:
        """Write the configuration."""
        text = ROUTES.format(lock=lock, hook=self.folder / "hook")
        (self.folder / "routes.conf").write_text(text)

    def submit(self, *lines: str) -> None:
        """Put a job into the queue."""
        text = "\n".join(["executable = /bin/true", "+WantJobRouter = true", *lines, "queue\n"])
        environ = {"LOGNAME": self.user}
        found = crondor("queue", "submit", "--queue", str(self.folder / "queue"), "-", stdin=text, env=environ)
        assert found.status == 0, found.err

    def poll(self, *arguments: str) -> Result:
        """Make a poll."""
        queue = str(self.folder / "queue")
        return crondor(
            "route", "run", "--config", str(self.folder / "routes.conf"), "--queue", queue, "--once", *arguments
        )

    def remove(self, reason: str) -> None:
        """Remove the job."""
        queue = str(self.folder / "queue")
        assert crondor("queue", "rm", "--queue", queue, "1.0", "--reason", reason).status == 0


@as_root
@pytest.mark.parametrize("whose", ["another's", "his own"])
def test_a_removal_reason_is_no_line_of_somebodys_file(commons: Path, whose: str) -> None:
    """Root's router writes the log of a user's job as that user: where he may, and nowhere else."""
    user = pwd.getpwnam(USER)
    place = home(commons, ALICE if whose == "another's" else ALICE._replace(uid=user.pw_uid, gid=user.pw_gid))
    log = place / "authorized_keys"
    log.write_text("ssh-ed25519 first\n")
    os.chown(log, place.stat().st_uid, place.stat().st_gid)
    log.chmod(0o644)
    router = Router(commons, USER)
    router.submit(f"log = {log}")
    assert "submitted job" in router.poll("--user-logs", str(commons)).out
    router.remove("ssh-ed25519 second")
    found = router.poll("--user-logs", str(commons))
    if whose == "another's":
        assert log.read_text() == "ssh-ed25519 first\n"
        assert "failed to write the user log" in found.out
        assert f"as {USER}: Permission denied" in found.err
    else:
        assert "\tssh-ed25519 second\n" in log.read_text()
        assert (found.err, log.stat().st_uid) == ("", user.pw_uid)


@as_root
def test_a_user_whom_the_system_does_not_know_has_no_log(commons: Path) -> None:
    """Root writes none for him, whatever he names."""
    router = Router(commons, "nobody-knows-him")
    router.submit(f"log = {commons}/log")
    router.poll()
    router.remove("done")
    found = router.poll("--user-logs", str(commons))
    assert "this machine has no account 'nobody-knows-him' to write a log as" in found.err
    assert not (commons / "log").exists()


@as_root
def test_a_hook_that_runs_as_an_owner_sees_nothing_of_roots(commons: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A token in root's environment is not for every user who has a job."""
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    monkeypatch.setenv("HOME", "/root")
    router = Router(commons, USER)
    router.submit()
    hook = commons / "hook"
    theirs = home(commons, ALICE._replace(uid=pwd.getpwnam(USER).pw_uid))
    said = theirs / "said"
    script = f"env > {said}; pwd >> {said}; umask >> {said}; id -u >> {said}; mv {said} {said}.done"
    hook.write_text(f"#!/bin/sh\n{script}\n")
    with started(commons, "--hooks"):
        wait_for(theirs / "said.done")
    lines = (theirs / "said.done").read_text().splitlines()
    user = pwd.getpwnam(USER)
    assert lines[-3:] == [os.path.realpath(user.pw_dir), "0022", str(user.pw_uid)]
    found = dict(line.partition("=")[::2] for line in lines[:-3])
    assert (found["HOME"], found["USER"], found["LOGNAME"]) == (user.pw_dir, USER, USER)
    assert (found["SHELL"], found["PATH"]) == (user.pw_shell, "/usr/bin:/bin")
    assert "s3cret" not in "\n".join(lines)


def test_a_router_whose_lock_others_may_write_is_refused(commons: Path) -> None:
    """It is said which folder, and what names another one; a queue of another user's is refused as well."""
    locks = commons / "locks"
    locks.mkdir()
    router = Router(commons, USER)
    router.submit()
    spoil(locks)
    router.configure(str(locks / "lock"))
    found = router.poll()
    assert (found.status, "JOB_ROUTER_LOCK = PATH" in found.err) == (1, True)
    assert list(locks.iterdir()) == []
    router.configure()
    assert router.poll().status == 0
    spoil(commons / "queue")
    found = router.poll()
    assert (found.status, "--queue PATH" in found.err) == (1, True)


def test_no_text_of_a_job_makes_a_line_of_the_routers_log(commons: Path) -> None:
    """What a hook says, for example: an entry is a line."""
    router = Router(commons, pwd.getpwuid(os.geteuid()).pw_name)
    router.submit('+HookKeyword = "HK"')
    (commons / "hook").unlink()
    (commons / "routes.conf").write_text((commons / "routes.conf").read_text().replace("/hook", "/h\x1b[2Jk"))
    found = router.poll("--hooks")
    assert "\x1b" not in found.out
    assert all(" JobRouter" in line for line in found.lines)
    for line in router.poll("--hooks", "--log-format", "json").lines:
        json.loads(line)
