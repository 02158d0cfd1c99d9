"""A program is called with text, its answer is kept, and nothing it does goes beyond the bounds."""

import grp
import os
import pwd
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pytest

from crondor.hooks import runner
from crondor.hooks.runner import HookCall, HookEnd, HookLimits, HookRunner, check_path, wait
from tests.rights.people import ALICE, as_root, home

ENVIRON = {"PATH": "/usr/bin:/bin"}
Script = Callable[..., str]


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        """Begin at zero."""
        self.now = 0.0

    def __call__(self) -> float:
        """Return the seconds."""
        return self.now


def call(path: str, *arguments: str, stdin: str | None = None, limits: HookLimits | None = None) -> HookCall:
    """Return a call with a small environment."""
    return HookCall(path, arguments, stdin, ENVIRON, limits=limits or HookLimits())


def is_alive(process: int) -> bool:
    """Say whether there is a process of this number that is no zombie."""
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text(encoding="ascii")
    except OSError:
        return False


def ends(process: int) -> bool:
    """Say whether a process that was killed is gone, as soon as the kernel has got to it."""
    until = monotonic() + 180
    while is_alive(process) and monotonic() < until:
        os.sched_yield()
    return not is_alive(process)


def test_a_program_gets_arguments_text_and_environment(script: Script) -> None:
    """What is given arrives as it is, no shell in between."""
    path = script('echo "$#:$1:$2"; cat; echo "$PATH" >&2; exit 3')
    run = HookRunner().run(call(path, "a b; $(id)", "'", stdin='Name = "ä"\n'))
    assert run.ended is HookEnd.EXITED
    assert run.status == 3
    assert run.stdout == '2:a b; $(id):\'\nName = "ä"\n'
    assert run.stderr == "/usr/bin:/bin\n"
    assert not run.succeeded
    assert run.diagnostics[0].kind == "hook-status"


def test_long_input_that_nobody_reads_stops_nothing(script: Script) -> None:
    """A program may leave its standard input alone, however long it is."""
    run = HookRunner().run(call(script("echo done"), stdin="x" * (4 << 20)))
    assert run.succeeded
    assert run.stdout == "done\n"


def test_an_empty_standard_input_is_at_its_end(script: Script) -> None:
    """Without text, standard input is there and empty."""
    assert HookRunner().run(call(script("wc -c"))).stdout.strip() == "0"


def test_a_program_that_hangs_is_ended_with_its_children(script: Script) -> None:
    """At the time limit the whole process group ends, and the result says so."""
    clock = Clock()
    running = HookRunner(clock).start(call(script('trap "" TERM; sleep 1000 & echo $!; sleep 1000')))
    while not running._output:
        wait([running], 10)
        assert running.poll() is None
    clock.now = 300
    assert running.poll() is None  # SIGTERM, which it ignores
    clock.now = 302
    assert running.poll() is None  # SIGKILL
    run = running.finish()
    assert run.ended is HookEnd.TIMED_OUT
    assert run.status is None
    assert run.diagnostics[0].kind == "hook-timeout"
    assert ends(int(run.stdout))


def test_a_program_that_ends_on_sigterm_may_clean_up(script: Script) -> None:
    """Between SIGTERM and SIGKILL a program can still print something."""
    clock = Clock()
    running = HookRunner(clock).start(call(script("trap 'echo bye; exit 0' TERM; echo hi; sleep 1000 & wait")))
    while b"hi" not in running._output:
        wait([running], 10)
        running.poll()
    clock.now = 301
    run = running.finish()
    assert run.ended is HookEnd.TIMED_OUT
    assert run.stdout == "hi\nbye\n"


def test_a_flood_is_bounded(script: Script) -> None:
    """A gigabyte on standard output ends the program soon, and little of it is kept."""
    limits = HookLimits(output=100_000)
    run = HookRunner().run(call(script("head -c 1000000000 /dev/zero"), limits=limits))
    assert run.ended is HookEnd.FLOODED
    assert len(run.stdout) == 100_000
    assert run.diagnostics[0].kind == "hook-flood"


def test_a_flood_of_errors_is_counted_and_not_kept(script: Script) -> None:
    """Of standard error only the beginning is kept; the program is left alone."""
    run = HookRunner().run(call(script("head -c 3000000 /dev/zero >&2; echo fine")))
    assert run.succeeded
    assert len(run.stderr) == 64 << 10
    assert run.errors_dropped == 3_000_000 - (64 << 10)


def test_death_by_signal_is_failure(script: Script) -> None:
    """HTCondor's router takes it for exit status 0."""
    run = HookRunner().run(call(script("echo JobUniverse = 5; kill -SEGV $$")))
    assert run.ended is HookEnd.SIGNALED
    assert run.signal_number == 11
    assert not run.succeeded
    assert "SIGSEGV" in run.reason


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found in /proc")
def test_children_that_stay_are_ended(script: Script) -> None:
    """A child in a session of its own, with its descriptors closed, ends with the hook."""
    path = script("setsid sleep 1000 </dev/null >/dev/null 2>&1 &\necho $!; exit 0")
    run = HookRunner().run(call(path))
    assert run.succeeded
    assert run.left_running >= 1
    assert run.diagnostics[0].kind == "hook-left-running"
    assert ends(int(run.stdout))


def test_a_child_that_keeps_the_pipe_does_not_keep_the_call(script: Script) -> None:
    """The call is over when the program is, whoever still holds its standard output."""
    run = HookRunner().run(call(script("sleep 1000 & echo here")))
    assert run.succeeded
    assert run.stdout == "here\n"


def test_bytes_that_are_no_text_are_kept(script: Script) -> None:
    """NULs and bytes that are no UTF-8 come through."""
    run = HookRunner().run(call(script(r"printf 'a\000\377b'")))
    assert run.stdout == "a\0\udcffb"


def test_a_program_that_is_no_program_is_not_started(tmp_path: Path) -> None:
    """A file without an interpreter is a finding, no exception."""
    path = tmp_path / "hook"
    path.write_bytes(b"\0\1\2")
    path.chmod(0o755)
    run = HookRunner().run(call(str(path)))
    assert run.ended is HookEnd.NOT_STARTED
    assert run.diagnostics[0].kind == "hook-start"


def test_a_nul_in_an_argument_is_not_started(script: Script) -> None:
    """What no program can be given is refused."""
    assert HookRunner().run(call(script("true"), "a\0b")).ended is HookEnd.NOT_STARTED


def test_a_program_that_disappears_between_two_calls(script: Script) -> None:
    """Each call looks anew."""
    path = script("true")
    assert HookRunner().run(call(path)).succeeded
    Path(path).unlink()
    run = HookRunner().run(call(path))
    assert run.ended is HookEnd.NOT_STARTED
    assert run.diagnostics[0].kind == "hook-missing"


def test_more_than_htcondor_takes_is_said(script: Script) -> None:
    """The daemons close the pipe after PIPE_BUFFER_MAX bytes."""
    run = HookRunner().run(call(script("head -c 20000 /dev/zero")))
    assert run.succeeded
    assert run.diagnostics[0].kind == "hook-output-long"


def test_a_call_that_is_cancelled(script: Script) -> None:
    """Nothing of it is left running."""
    run = HookRunner().start(call(script("sleep 1000"))).cancel()
    assert run.ended is HookEnd.CANCELLED


def test_nothing_is_left_when_waiting_is_interrupted(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C reaches the caller, and the program has ended."""
    running = HookRunner().start(call(script("sleep 1000")))

    def interrupted(_: object, __: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("crondor.hooks.runner.wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        running.finish()
    assert running._process is not None
    assert running._process.wait() == -9
    found = running.poll()
    assert found is not None
    assert found.ended is HookEnd.CANCELLED


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give rights away")
def test_a_program_has_the_rights_of_a_user() -> None:
    """His groups are his own, none is left of the caller's."""
    run = HookRunner().run(HookCall("/usr/bin/id", ("-Gn",), environ=ENVIRON, user="daemon"))
    assert "root" not in run.stdout.split()
    assert run.succeeded
    assert HookRunner().run(HookCall("/usr/bin/id", environ=ENVIRON, user="no-one-here")).ended is HookEnd.NOT_STARTED


def test_the_path_must_be_safe(tmp_path: Path, script: Script) -> None:
    """HTCondor's rules, for each link on the way, too."""
    path = script("true")
    assert check_path(path) is None
    link = tmp_path / "link"
    link.symlink_to(path)
    assert check_path(str(link)) is None
    opened = tmp_path / "open"
    opened.mkdir()
    opened.chmod(0o777)
    (opened / "step").symlink_to(path)
    (tmp_path / "far").symlink_to(opened / "step")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (opened / "folder").symlink_to(tmp_path)
    (tmp_path / "near").symlink_to("./open/../hook")
    assert check_path(str(tmp_path / "near")) is None
    problems = {
        str(tmp_path / "none"): "hook-missing",
        str(tmp_path / "loop"): "hook-missing",
        str(tmp_path / "far"): "hook-writable",
        str(opened / "folder" / "hook"): "hook-writable",
        script("true", "written", 0o757): "hook-writable",
        script("true", "plain", 0o644): "hook-not-executable",
        str(opened): "hook-path",
        "hook": "hook-path",
        "/bin/\0": "hook-path",
    }
    opened.chmod(0o755)
    assert check_path(str(tmp_path / "far")) is None
    opened.chmod(0o777)
    for each, code in problems.items():
        found = check_path(each)
        assert found is not None, each
        assert found.kind == code, each


OWNER = "daemon"  # a user that every system has
ASKED = "id -u; id -gn; id -Gn; umask; pwd; echo $HOME $LOGNAME $USER $SHELL; env | cut -d= -f1 | sort | xargs"
_SECRET = {"SECRET_TOKEN": "x", "HOME": "/root", "USER": "root", "LD_PRELOAD": "", "PATH": "/sbin", "TZ": "UTC"}


@as_root
def test_a_program_that_runs_as_a_user_has_nothing_of_the_callers(tmp_path: Path) -> None:
    """Neither rights nor groups nor environment nor folder nor umask; but what is the machine's."""
    owner = pwd.getpwnam(OWNER)
    environ = {**_SECRET, "CONDOR_CONFIG": "/etc/condor/condor_config"}
    before = os.umask(0o077)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path)
            run = HookRunner().run(HookCall("/bin/sh", ("-c", ASKED), environ=environ, user=OWNER))
    finally:
        os.umask(before)
    assert (run.stderr, run.succeeded) == ("", True)
    uid, group, groups, umask, folder, who, names = run.stdout.splitlines()
    assert (int(uid), group) == (owner.pw_uid, grp.getgrgid(owner.pw_gid).gr_name)
    assert {grp.getgrnam(name).gr_gid for name in groups.split()} == set(os.getgrouplist(OWNER, owner.pw_gid))
    assert (int(umask, 8), folder) == (0o022, os.path.realpath(owner.pw_dir))
    assert who.split() == [owner.pw_dir, OWNER, OWNER, owner.pw_shell]
    own = {"HOME", "LOGNAME", "PATH", "SHELL", "USER", "CONDOR_CONFIG", "TZ"}
    assert set(names.split()) - {"PWD", "OLDPWD", "SHLVL", "_"} == {*own, "_CRONDOR_HOOK"}


@as_root
def test_a_program_is_not_led_where_its_user_may_not_go(commons: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home that is a link into a folder of root's: the program begins in the root folder, and sees nothing of it."""
    secrets = commons / "secrets"
    (secrets / "open").mkdir(parents=True)
    (secrets / "open/key").write_text("secret")
    secrets.chmod(0o700)
    theirs = home(commons, ALICE)
    (theirs / "home").symlink_to(secrets / "open")
    monkeypatch.setattr("crondor.hooks.runner.account_of", lambda _: ALICE._replace(home=f"{theirs}/home"))
    run = HookRunner().run(HookCall("/bin/sh", ("-c", "pwd; cat key"), environ={}, user="alice"))
    assert (run.stdout, run.status) == ("/\n", 1)
    run = HookRunner().run(HookCall("/bin/pwd", environ={}, user="alice", folder=f"{theirs}/home"))
    assert run.ended is HookEnd.NOT_STARTED
    assert "Permission denied" in run.diagnostics[0].message


def test_who_is_not_root_runs_nothing_as_another_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not started, and said."""
    monkeypatch.setattr("crondor.rights.replacing.is_root", lambda: False)
    monkeypatch.setattr("crondor.rights.replacing.current_user", lambda: ALICE.uid)
    run = HookRunner().run(HookCall("/bin/pwd", environ={}, user=OWNER))
    assert run.ended is HookEnd.NOT_STARTED
    assert "only root may act as another user" in run.diagnostics[0].message


PROCESS = "4242"


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of one process of a /proc of our own."""
    folder = tmp_path / PROCESS
    folder.mkdir()
    monkeypatch.setattr(runner, "_PROC", str(tmp_path))
    return folder


def shows(folder: Path, environ: str, *, state: str = "R", flags: int = 0, env: tuple[int, int] = (0, 0)) -> None:
    """Let a process show an environment, and the fields of proc(5) that say why it is empty."""
    fields = ["0"] * 53
    fields[3], fields[9], fields[50], fields[51] = state, str(flags), str(env[0]), str(env[1])
    (folder / "environ").write_text(environ, encoding="ascii")
    (folder / "stat").write_text(f"{PROCESS} (a ) name) {' '.join(fields[3:])}\n", encoding="ascii")


def test_a_process_is_looked_at_again_while_it_changes_programs(proc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within execve a process shows no environment, and is the hook's all the same."""
    pauses = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            shows(proc, f"{runner.MARK}=abc\0", env=(100, 200))

    monkeypatch.setattr(runner, "sleep", pause)
    shows(proc, "")
    assert runner._marked("abc", 0) == {int(PROCESS)}
    assert len(pauses) == 3


@pytest.mark.parametrize(
    "why",
    [
        pytest.param({"state": "Z"}, id="zombie"),
        pytest.param({"state": "X"}, id="dead"),
        pytest.param({"flags": 0x200000 | 0x40}, id="kernel thread"),
        pytest.param({"flags": 0x4}, id="exiting"),
        pytest.param({"env": (4096, 4096)}, id="empty environment"),
    ],
)
def test_a_process_without_environment_is_not_waited_for(
    proc: Path, monkeypatch: pytest.MonkeyPatch, why: dict[str, int]
) -> None:
    """Others show none for good."""
    monkeypatch.setattr(runner, "sleep", lambda _: pytest.fail("waited"))
    shows(proc, "", **why)  # type: ignore[arg-type]
    assert runner._marked("abc", 0) == set()


def test_a_process_that_never_gets_its_environment_is_given_up(proc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The looks are counted."""
    pauses: list[float] = []
    monkeypatch.setattr(runner, "sleep", pauses.append)
    shows(proc, "")
    assert runner._marked("abc", 0) == set()
    assert len(pauses) == runner._LOOKS


def test_a_process_that_begins_while_others_are_looked_at_is_found(
    proc: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its parent was there when they were listed, and had gone when its turn came."""
    parent, child, last = proc, tmp_path / "4243", tmp_path / "loadavg"
    last.write_text(f"0.00 0.00 0.00 1/1 {parent.name}\n", encoding="ascii")
    real = runner._environment

    def environment(process: str) -> bytes:
        if process == parent.name:
            child.mkdir()
            shows(child, f"{runner.MARK}=abc\0", env=(100, 200))
            last.write_text(f"0.00 0.00 0.00 1/1 {child.name}\n", encoding="ascii")
            raise FileNotFoundError
        return real(process)

    monkeypatch.setattr(runner, "_environment", environment)
    assert runner._marked("abc", 4241) == {int(child.name)}
