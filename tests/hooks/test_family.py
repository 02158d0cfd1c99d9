"""Processes of a hook are found by their environment, also where they have none at the moment."""

from pathlib import Path

import pytest

from crondor.hooks import runner

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
