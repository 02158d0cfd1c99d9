"""`crondor config service`, and what the commands that run for months tell a service manager."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crondor_cli.config.service import KINDS, Unit, quoted
from crondor_cli.kit.screen import Level, levelled
from crondor_cli.kit.services import ServiceManager, waking
from tests.cli.running import PROGRAM, SLOWEST, crondor, environment

ROUTES = "JOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ROUTE_A = REQUIREMENTS true\nJOB_ROUTER_POLLING_PERIOD = 3600\n"
NIGHTLY = "executable = /bin/true\ncron_hour = 3\ncron_day_of_month = 1\ncron_month = 1\nqueue\n"


class Heard:
    """The socket of a service manager."""

    def __init__(self, path: Path) -> None:
        """Listen."""
        self.path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        self._socket.settimeout(SLOWEST)

    def until(self, word: str) -> list[str]:
        """Return what is said until a line comes, and that."""
        lines: list[str] = []
        while word not in lines:
            lines += self._socket.recv(4096).decode().splitlines()
        return lines

    def close(self) -> None:
        """Listen no more."""
        self._socket.close()


@pytest.fixture
def heard(tmp_path: Path) -> Iterator[Heard]:
    """A service manager that listens."""
    made = Heard(tmp_path / "notify")
    yield made
    made.close()


def started(heard: Heard, folder: Path, *words: str, period: int = 100_000) -> subprocess.Popen[bytes]:
    """Start a command as a service manager does, with a watchdog of some microseconds."""
    env = environment(NOTIFY_SOCKET=str(heard.path), WATCHDOG_USEC=str(period))
    return subprocess.Popen([*PROGRAM, *words], cwd=folder, env=env, stdout=subprocess.DEVNULL)


def test_a_router_says_that_it_is_ready_alive_reloading_and_stopping(heard: Heard, tmp_path: Path) -> None:
    """Alive also while it waits for the next poll, an hour from now."""
    (tmp_path / "r.conf").write_text(ROUTES, "utf-8")
    (tmp_path / "job.sub").write_text(NIGHTLY, "utf-8")
    crondor("queue", "submit", "--queue", str(tmp_path / "q"), str(tmp_path / "job.sub"))
    router = started(heard, tmp_path, "route", "run", "--config", "r.conf", "--queue", "q")
    try:
        assert heard.until("READY=1") == ["READY=1"]
        heard.until("WATCHDOG=1")
        router.send_signal(signal.SIGHUP)
        assert heard.until("RELOADING=1")[-1].startswith("MONOTONIC_USEC=")
        heard.until("READY=1")
        router.send_signal(signal.SIGTERM)
        heard.until("STOPPING=1")
        assert router.wait(SLOWEST) == 0
    finally:
        router.kill()
        router.wait()


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("run", "job.sub"), id="a runner, which waits for a run that is months away"),
        pytest.param(("monitor", "--queue", "q"), id="a monitor of a queue that is not there yet"),
    ],
)
def test_others_say_so_too(heard: Heard, tmp_path: Path, command: tuple[str, ...]) -> None:
    """They are ready, alive and stopping."""
    (tmp_path / "job.sub").write_text(NIGHTLY, "utf-8")
    program = started(heard, tmp_path, *command)
    try:
        assert heard.until("READY=1") == ["READY=1"]
        heard.until("WATCHDOG=1")
        program.send_signal(signal.SIGTERM)
        heard.until("STOPPING=1")
        assert program.wait(SLOWEST) == 0
    finally:
        program.kill()
        program.wait()


@pytest.mark.parametrize(
    ("environ", "period"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "30000000"}, 15.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({"WATCHDOG_USEC": "9" * 400}, None),
    ],
)
def test_how_often_a_watchdog_wants_to_hear(environ: dict[str, str], period: float | None) -> None:
    """Half of its time, if it is for this process."""
    assert ServiceManager(environ).period == period


@pytest.mark.parametrize("address", ["", "vsock:2:1234", "relative", "/nowhere/notify", "@nobody-listens-there"])
def test_a_manager_that_is_not_there_is_no_reason_to_end(address: str) -> None:
    """Nothing is raised."""
    manager = ServiceManager({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "1000000"})
    manager.ready()
    manager.reloading()
    manager.alive()
    manager.stopping()


def test_an_abstract_address_is_understood() -> None:
    """As containers have them."""
    name = f"\0crondor-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(name)
        listening.settimeout(SLOWEST)
        ServiceManager({"NOTIFY_SOCKET": "@" + name[1:]}).ready("polls")
        assert listening.recv(100) == b"READY=1\nSTATUS=polls"


@pytest.mark.parametrize(
    ("word", "line"),
    [("a.sub", "a.sub"), ("a b", '"a b"'), ("50%", '"50%%"'), ("$HOME", '"$$HOME"'), ('"', '"\\""'), ("\\", '"\\\\"')],
)
def test_a_word_stays_one_argument(word: str, line: str) -> None:
    """Nothing in it is expanded."""
    assert quoted(word) == line


def test_a_unit_is_written_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to type next; not a second time without --force."""
    monkeypatch.chdir(tmp_path)
    env = {"XDG_CONFIG_HOME": str(tmp_path)}
    result = crondor("config", "service", "run", "--user", "--", "a b.sub", env=env)
    assert result.status == 0
    assert "systemctl --user daemon-reload && systemctl --user enable --now crondor-run" in result.out
    text = (tmp_path / "systemd" / "user" / "crondor-run.service").read_text("utf-8")
    assert ' run "a b.sub"\n' in text
    assert f"WorkingDirectory={tmp_path}\n" in text
    assert "WantedBy=default.target\n" in text
    assert "ProtectSystem" not in text
    again = crondor("config", "service", "run", "--user", "--", "b.sub", env=env)
    assert again.status == 2
    assert "--force overwrites" in again.err
    assert crondor("config", "service", "run", "--user", "--force", "--", "b.sub", env=env).status == 0


@pytest.mark.parametrize("name", ["back\\", "blank ", "two\\\\", "tab\t"])
def test_no_name_of_a_folder_changes_the_lines_of_a_unit(name: str) -> None:
    """A backslash at the end of a line goes on with the next one, and blanks are cut off."""
    unit = Unit(KINDS["run"], ["/bin/true"], [name], f"/{name}", is_system=True, writes=[f"/{name}"])
    plain = Unit(KINDS["run"], ["/bin/true"], ["x"], "/x", is_system=True, writes=["/x"])
    lines = unit.text().splitlines()
    assert len(lines) == len(plain.text().splitlines())
    assert not any(line.endswith(("\\", " ", "\t")) for line in lines)
    assert f"WorkingDirectory=/{name}/" in lines


def test_a_system_unit_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may write to the folders that its own options name; root keeps what it needs to act as the owners."""
    monkeypatch.chdir(tmp_path)
    words = ("config", "service", "router", "--show")
    out = crondor(*words, "--write", "more", "--", "--queue", "q", "--user-logs", "logs").out
    assert f"ReadWritePaths={tmp_path}/more\nReadWritePaths={tmp_path}/q\nReadWritePaths={tmp_path}/logs\n" in out
    assert "DynamicUser=yes\n" in out
    assert "PrivateTmp=yes\n" in out
    assert "CapabilityBoundingSet=\n" in out
    out = crondor(*words, "--write", "a $b", "--", "--queue", "q").out
    assert f'ReadWritePaths="{tmp_path}/a $b"\n' in out
    out = crondor(*words, "--run-as", "root", "--token", "token", "--", "--live").out
    assert "User=root\n" in out
    assert "PrivateTmp=no\n" in out
    assert "CapabilityBoundingSet" not in out
    assert f"LoadCredential=crondor:{tmp_path}/token\n" in out
    assert "RuntimeDirectoryMode=0700\nExecStartPre=/usr/bin/install -m 0600 %d/crondor %t/%N/crondor\n" in out
    assert "Environment=_CONDOR_SEC_TOKEN_DIRECTORY=%t/%N\n" in out


def test_a_unit_has_its_state_for_itself() -> None:
    """Two units of other users must not have one folder: systemd gives it to whoever starts last."""
    out = crondor("config", "service", "router", "--show", "--", "--live").out
    assert "StateDirectory=%N\nEnvironment=XDG_STATE_HOME=%S/%N\n" in out


def test_a_monitor_writes_nowhere() -> None:
    """It reads the queue that it is given."""
    out = crondor("config", "service", "monitor", "--show", "--", "--queue", "q").out
    assert "ReadWritePaths" not in out
    written = crondor("config", "service", "monitor", "--show", "--write", "/var/x", "--", "--live")
    assert "ReadWritePaths=/var/x\n" in written.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("router", "--system", "--", "--liv"), "Did you mean '--live'?"),
        (("router", "--system", "--", "--once"), "--once ends the command"),
        (("router", "--system", "--"), "give the queue: --live"),
        (("monitor", "--system", "--"), "give the queue: --live"),
        (("router", "--", "--live"), "choose --system or --user"),
        (("router", "--system", "--user"), "choose one of --system and --user"),
        (("run", "--user", "--run-as", "root", "--", "a.sub"), "need --system"),
        (("runner", "--user"), "runner"),
        (("run", "--user", "--", "a.sub\nExecStartPre=/bin/b"), "'a.sub\\nExecStartPre=/bin/b' cannot be in a unit"),
        (("run", "--user", "--", "\udce9.sub"), "'\\xe9.sub' cannot be in a unit"),
        (("run", "--system", "--run-as", "a\nb", "--", "a.sub"), "cannot be in a unit"),
        *(
            (("run", "--user", f"--unit={name}", "--", "a.sub"), "is not the name of a unit: at most 240 letters")
            for name in (
                "../a",
                "..",
                "a/b",
                "a b",
                "a ",
                "-rf",
                "--now",
                ".hidden",
                "a\\",
                "a\n",
                "a%i",
                "é",
                "a" * 241,
            )
        ),
        *(
            (("run", "--system", f"--run-as={name}", "--", "a.sub"), "is not the name of a user")
            for name in ("a ", " a", "a\\", "-a", "a:b", "../a", "")
        ),
        *(
            (("run", "--system", f"--token={name}", "--", "a.sub"), "cannot be in a unit: rename it")
            for name in ("token ", "token\\")
        ),
        (("run", "--user", "--", *(["a" * 100_000] * 11)), "the arguments are too long"),
    ],
)
def test_wrong_usage_is_said_before_anything_is_written(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    """By the command that is to run."""
    result = crondor("config", "service", *words, env={"XDG_CONFIG_HOME": str(tmp_path)})
    assert (result.status, list(tmp_path.iterdir())) == (2, [])
    assert said in result.err


if shutil.which("systemd-analyze"):

    @pytest.mark.parametrize("kind", list(KINDS))
    @pytest.mark.parametrize("is_system", [True, False])
    def test_systemd_takes_the_unit(kind: str, is_system: bool, tmp_path: Path) -> None:
        """No line of it is unknown, no value refused."""
        arguments = ["a b", "%q", "$x", "a\\", ";", "\\;"]
        unit = Unit(KINDS[kind], ["/bin/true"], arguments, "/a\\", is_system, writes=["/var/a b", "/var/a\\"])
        path = tmp_path / "crondor-test.service"
        path.write_text(unit.text(), "utf-8")
        scope = "--system" if is_system else "--user"
        command = ["systemd-analyze", "verify", "--man=no", scope, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert [line for line in done.stderr.splitlines() if "crondor-test" in line] == []


FOR_EVER = 100_000.0  # seconds


def test_a_signal_ends_a_wait() -> None:
    """At once, also where it came before; however many have come, the next wait takes its time."""
    came: list[int] = []
    with waking({"SIGALRM": lambda number, _: came.append(number)}) as waker:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        waker.wait(FOR_EVER)
        for _ in range(100_000):  # more than a pipe holds
            os.kill(os.getpid(), signal.SIGALRM)
        waker.wait(FOR_EVER)
        assert set(came) == {signal.SIGALRM}
        began = time.monotonic()
        waker.wait(0.02)
        assert time.monotonic() - began >= 0.02


def test_the_handlers_of_before_come_back() -> None:
    """Also where the block fails; a signal that this system does not have is left out."""
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(ZeroDivisionError), waking({"SIGALRM": lambda *_: None, "SIGNOTHING": lambda *_: None}):
        assert 1 / (signal.getsignal(signal.SIGALRM) is before)
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.set_wakeup_fd(-1) == -1


def stream_of(descriptor: int) -> str:
    """Return what systemd says of a stream that leads to the journal."""
    status = os.fstat(descriptor)
    return f"{status.st_dev}:{status.st_ino}"


def test_each_line_has_the_level(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one stream alone: another one may lead elsewhere."""
    with (tmp_path / "journal").open("w") as journal, (tmp_path / "other").open("w") as other:
        monkeypatch.setenv("JOURNAL_STREAM", stream_of(journal.fileno()))
        assert levelled("a\n b", Level.WARNING, journal) == "<4>a\n<4> b"
        assert levelled("a\n b", Level.WARNING, other) == "a\n b"
        assert levelled("a", Level.ERROR, None) == "a"
        for wrong in ("", "x", "1:", ":2"):
            monkeypatch.setenv("JOURNAL_STREAM", wrong)
            assert levelled("a", Level.ERROR, journal) == "a"
    assert levelled("a", Level.ERROR, journal) == "a"


@pytest.mark.parametrize("is_journal", [True, False])
def test_what_is_wrong_is_an_error_there(tmp_path: Path, is_journal: bool) -> None:
    """Its place and its help too, so that `journalctl -p err` shows all of it."""
    reader, writer = os.pipe()
    try:
        env = environment() | ({"JOURNAL_STREAM": stream_of(writer)} if is_journal else {})
        command = [*PROGRAM, "monitor", "--once", "--log", str(tmp_path / "none")]
        status = subprocess.run(command, stderr=writer, env=env, timeout=SLOWEST, check=False).returncode
    finally:
        os.close(writer)
    with os.fdopen(reader) as file:
        lines = file.read().splitlines()
    assert status == 1
    assert lines
    assert all(line.startswith("<3>") is is_journal for line in lines)
