"""The settings of files and variables: for all commands, what is nearer counts, and what is wrong is refused."""

import json
import os
import re
from pathlib import Path

import click
import pytest

from crondor.rights.trust import Account
from crondor_cli.kit import files, parallel, settings
from crondor_cli.kit.settings import BY_KEYS, SETTINGS, find_settings
from crondor_cli.lsp.server import GivenOptions, SettingsOfFolders
from crondor_cli.main import COMMANDS, cli
from tests.rights.people import ALICE, BOB, ME, as_root, be
from tests.rights.people import home as home_of

from .running import NOW, crondor

ZONES = ("Asia/Tokyo", "Asia/Kolkata", "Asia/Kathmandu", "Asia/Dubai")


@pytest.fixture
def home(commons: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a folder of a project; the user's own settings are in another; none is below /dev, where streams are."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(commons / "user"))
    (commons / "user" / "crondor").mkdir(parents=True)
    (commons / "project" / "below").mkdir(parents=True)
    monkeypatch.chdir(commons / "project" / "below")
    return commons


def zone_of(*arguments: str, **env: str) -> str:
    """Return the zone in which `crondor next` reads and shows times."""
    result = crondor(*arguments, "next", "--crontab", "0 6 * * *", "-n", "1", "--format", "json", env=env)
    zone: str = result.jobs[0]["zone"]
    return zone


def shown(*arguments: str, **env: str) -> dict[str, tuple[object, str | None]]:
    """Return each setting's value and source, as `crondor config` says."""
    data = crondor(*arguments, "config", "--format", "json", env=env).data
    return {each["name"]: (each["value"], each["source"]) for each in data["settings"]}


def test_what_is_nearer_counts(home: Path) -> None:
    """The user's file, the project's, a variable, an option: each beats those before it."""
    assert zone_of() == "Europe/Berlin"
    user, project = home / "user" / "crondor" / "crondor.toml", home / "project" / "pyproject.toml"
    user.write_text(f'tz = "{ZONES[0]}"\n')
    assert zone_of() == ZONES[0]
    project.write_text(f'[tool.crondor]\ntz = "{ZONES[1]}"\n')
    assert zone_of() == ZONES[1]
    assert zone_of(CRONDOR_TZ=ZONES[2]) == ZONES[2]
    found = crondor(
        "next", "--tz", ZONES[3], "--crontab", "0 6 * * *", "--format", "json", env={"CRONDOR_TZ": ZONES[2]}
    )
    assert found.jobs[0]["zone"] == ZONES[3]
    assert zone_of("--no-config", CRONDOR_TZ=ZONES[2]) == "Europe/Berlin"
    assert shown()["tz"] == (ZONES[1], str(project))
    assert shown(CRONDOR_TZ=ZONES[2])["tz"] == (ZONES[2], "CRONDOR_TZ")


def test_the_nearest_file_that_sets_anything_counts(home: Path) -> None:
    """A pyproject.toml of other tools is skipped; crondor.toml comes before one of ours in the same folder."""
    (home / "project" / "below" / "pyproject.toml").write_text("[tool.other]\nkey = 1\n")
    (home / "project" / "pyproject.toml").write_text(f'[tool.crondor]\ntz = "{ZONES[0]}"\n')
    assert zone_of() == ZONES[0]
    (home / "project" / "crondor.toml").write_text(f'tz = "{ZONES[1]}"\n')
    assert zone_of() == ZONES[1]


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in {"config", "help"}])
def test_every_command_with_the_option_gets_the_setting(name: str) -> None:
    """Whoever has an option of a setting's name takes the setting, and none has another idea of it."""
    context = click.Context(cli)
    command = cli.get_command(context, name)
    assert command is not None
    several = command.list_commands(context) if isinstance(command, click.Group) else [None]
    for sub in several:
        found = command if sub is None else command.get_command(context, sub)  # type: ignore[attr-defined]
        for param in found.params:
            for setting in (BY_KEYS.get((option.removeprefix("--"),)) for option in param.opts):
                if setting is not None and param.multiple == setting.many:
                    assert not param.envvar
                    kinds = (type(setting.takes), click.types.StringParamType)
                    assert isinstance(param.type, kinds), (name, sub, param.name)


@pytest.mark.parametrize(
    "text",
    [
        "[tool.crondor]\ntz = 3",
        ' [ tool . "crondor" ]\ntz = 3',
        "[tool]\ncrondor.tz = 3",
        "tool.'crondor'.tz = 3",
        '"tool".crondor = {tz = 3}',
        "tool = {crondor = {tz = 3}}",
    ],
)
def test_pyproject_may_be_spelled_in_many_ways(text: str, home: Path) -> None:
    """Each of them is read; TOML knows them all."""
    (home / "project" / "pyproject.toml").write_text(f"{text}\n")
    result = crondor("config")
    assert result.status == 2
    assert "pyproject.toml:" in result.err
    assert "tz must be a text" in result.err


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("zone = 'UTC'", "1:1", "there is no setting zone"),
        ("slots = 3", "1:1", "did you mean simulate.slots?"),
        ("[chek]\nselect = []", "1:2", "there is no setting chek"),
        ("[check]\nselct = []", "2:1", "did you mean check.select?"),
        ("[check]\nextends = 'a.toml'", "2:1", "did you mean check.extend?"),
        ("[[rule]]\ncode = 'SITE001'", "1:3", "did you mean check.rule?"),
        ("check.select = 'CRN1'", "1:1", "check.select must be a list of strings"),
        ("check = 3", "1:1", "check is a table: [check]"),
        ("\nschedd-interval = true", "2:1", "must be a number"),
        ("schedd-interval = 99999999", "1:1", "not in the range"),
        ("tz = 'Mars/Base'", "1:1", "Mars/Base"),
        ("dialect = 'cron'", "1:1", "'cron' is not one of"),
        ("[check]\nstrict = 1", "2:1", "must be true or false"),
        ("tz = [", "2:1", "this is not TOML"),
        ("tz = 'UTC'\ntz = 'UTC'", "", "this is not TOML"),
        ("allow-dir = " + "[" * 50_000, "1:1", "nested too deeply"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(text: str, place: str, message: str, home: Path) -> None:
    """By every command, and by `crondor config`; its help is there all the same."""
    path = home / "project" / "crondor.toml"
    path.write_text(f"{text}\n")
    for result in (crondor("config"), crondor("next", "--crontab", "0 6 * * *"), crondor("next", "--at", "noon")):
        assert (result.status, result.out) == (2, "")
        assert f"{path}:{place}" in result.err
        assert message in result.err
        assert "Traceback" not in result.err
    assert crondor("next", "-h").status == 0
    assert crondor("--no-config", "config").status == 0


def test_all_faults_are_told_at_once(home: Path) -> None:
    """Those of files and of variables."""
    (home / "project" / "crondor.toml").write_text("zone = 1\ncolour = 2\n")
    err = crondor("config", env={"CRONDOR_SCHEDD_INTERVAL": "soon"}).err
    assert "no setting zone" in err
    assert "did you mean color?" in err
    assert "CRONDOR_SCHEDD_INTERVAL:1:1: error: schedd-interval: 'soon' is not a valid integer" in err


def test_check_takes_its_table(home: Path) -> None:
    """And what the command line says comes before it."""
    (home / "project" / "crondor.toml").write_text('[check]\nignore = ["CRN4", "CRN3"]\nstrict = true\n')
    job = home / "job.sub"
    job.write_text("executable = /bin/true\ncron_minute = 60\nqueue\n")

    def found(*arguments: str) -> list[str]:
        data = crondor("check", "--now", NOW, "--format", "json", *arguments, str(job)).data
        return [finding["code"] for finding in data["files"][0]["findings"]]

    assert found() == ["CRN101"]
    assert found("--select", "CRN401") == ["CRN401"]
    assert "CRN401" in found("--no-config")
    assert "CRN401" in found("--ignore", "CRN5")


INCLUDING = "executable = x\ncron_minute = 0\ninclude : {}\nqueue\n"


def test_folders_are_those_of_the_file(home: Path) -> None:
    """Relative folders count from the file: in a project's own file below it, in the user's own anywhere."""
    for place in (home / "shared", home / "project" / "inside"):
        place.mkdir()
        (place / "more.sub").write_text("cron_hour = 6\n")
    (home / "project" / "below" / "job.sub").write_text(INCLUDING.format("../inside/more.sub"))
    other = home / "project" / "job.sub"
    other.write_text(INCLUDING.format("../shared/more.sub"))

    def hour_of(path: str) -> str:
        found: str = crondor("next", "--spec", path, "-n", "1", "--format", "json").jobs[0]["schedule"]["canonical"]
        return found.split()[1]

    assert (hour_of("job.sub"), hour_of(str(other))) == ("*", "*")
    (home / "project" / "crondor.toml").write_text('allow-dir = ["inside"]\n')
    assert (hour_of("job.sub"), hour_of(str(other))) == ("6", "*")
    (home / "user" / "crondor" / "crondor.toml").write_text('allow-dir = ["../../shared"]\n')
    (home / "project" / "crondor.toml").unlink()
    assert (hour_of("job.sub"), hour_of(str(other))) == ("*", "6")


@pytest.mark.parametrize("setting", ["allow-dir", "pool-config", "check.baseline"])
@pytest.mark.parametrize("name", ["../secret", "link", "{home}/secret", "./below/../../secret", "/etc"])
def test_a_project_names_nothing_outside_of_its_folder(setting: str, name: str, home: Path) -> None:
    """Whoever proposes a change of a project does not choose what the machine that checks it reads and shows."""
    (home / "secret").mkdir()
    (home / "project" / "link").symlink_to(home / "secret")
    named = name.format(home=home)
    value = f'"{named}"' if setting == "check.baseline" else f'["below", "{named}"]'
    job = home / "project" / "job.sub"
    job.write_text("executable = x\nqueue\n")
    for file, before in (("crondor.toml", ""), ("pyproject.toml", "tool.crondor.")):
        path = home / "project" / file
        path.write_text(f"{before}{setting} = {value}\n")
        err = crondor("config").err
        assert f"{path}:1:" in err
        assert f"warning: {named} is ignored: a project's own file may only name paths in its folder" in err
        assert shown()[setting][0] == (None if setting == "check.baseline" else ["below"])
        path.unlink()
    (home / "user" / "crondor" / "crondor.toml").write_text(f"{setting} = {value}\n")
    assert crondor("config").err == ""


def test_a_pull_request_shows_no_file_of_the_machine(home: Path) -> None:
    """By a folder that its own settings allow."""
    (home / "project" / "crondor.toml").write_text('allow-dir = ["/proc/self"]\n')
    job = home / "project" / "below" / "job.sub"
    job.write_text("executable = x\ninclude : /proc/self/environ\nqueue\n")
    result = crondor("check", "--now", NOW, str(job), env={"SECRET_OF_CI": "hunter2"})
    assert "hunter2" not in result.out + result.err
    assert "/proc/self is ignored" in result.err


@pytest.mark.parametrize("setting", ['pool-config = ["/dev/stdin"]', "check.baseline = '/proc/self/fd/0'"])
def test_no_setting_names_a_stream(setting: str, home: Path) -> None:
    """Standard input is what somebody types or pipes, for one command."""
    (home / "user" / "crondor" / "crondor.toml").write_text(f"{setting}\n")
    result = crondor("config")
    assert result.status == 2
    assert "is not a plain file" in result.err


STRANGER = 12345


@as_root
@pytest.mark.parametrize("text", ['tz = "Asia/Tokyo"', "tz = [", "zone = 1", "check.ignore = ['CRN']"])
@pytest.mark.parametrize("place", ["project", "project/below", "."])
def test_a_file_of_another_user_is_ignored(text: str, place: str, home: Path) -> None:
    """Broken or not, in this folder or above it; each command says so once, and settings farther away count."""
    (home / "user" / "crondor" / "crondor.toml").write_text(f'tz = "{ZONES[1]}"\n')
    path = home / place / "crondor.toml"
    path.write_text(f"{text}\n")
    os.chown(path, STRANGER, STRANGER)
    assert zone_of() == ZONES[1]
    for arguments in (("config",), ("next", "--crontab", "0 6 * * *"), ("route", "check", "--rules")):
        result = crondor(*arguments)
        assert result.status == 0
        assert result.err.count(f"{path}:1:1: warning: this file is ignored: it belongs to another user, 12345") == 1
    assert crondor("--no-config", "config").err == ""


@as_root
def test_the_editor_says_what_it_ignores(home: Path) -> None:
    """As the commands do."""
    path = home / "project" / "crondor.toml"
    path.write_text("tz = 3\n")
    os.chown(path, STRANGER, STRANGER)
    said: list[str] = []
    SettingsOfFolders(GivenOptions(tz="UTC"), said.append).of(str(home / "project" / "below" / "job.sub"))
    assert [line.partition(": warning: ")[0] for line in said] == [f"{path}:1:1"]


@as_root
def test_what_of_another_user_counts(home: Path) -> None:
    """As for git: root's, and that of the user who has called sudo. A link is of whoever has made it."""
    path = home / "project" / "crondor.toml"
    path.write_text(f'tz = "{ZONES[0]}"\n')
    os.chown(path, STRANGER, STRANGER)
    assert zone_of(SUDO_UID=str(STRANGER)) == ZONES[0]
    for user in ("0", "12346", "", "x", "-1", "9" * 5000):
        assert zone_of(SUDO_UID=user) == "Europe/Berlin"
    os.chown(path, 0, 0)
    path.rename(home / "other.toml")
    path.symlink_to(home / "other.toml")
    assert zone_of() == ZONES[0]
    os.lchown(path, STRANGER, STRANGER)
    assert zone_of() == "Europe/Berlin"


@as_root
def test_another_users_pyproject_is_ignored_where_it_sets_anything(home: Path) -> None:
    """One of other tools is nobody's business."""
    path = home / "project" / "pyproject.toml"
    for text, count in (("[tool.other]\ntz = 1\n", 0), ("[tool.crondor]\ntz = 1\n", 1)):
        path.write_text(text)
        os.chown(path, STRANGER, STRANGER)
        result = crondor("config")
        assert (result.status, result.err.count("this file is ignored")) == (0, count)


@as_root
def test_an_unreadable_file_of_another_user_breaks_nothing(commons: Path) -> None:
    """Nor does a pipe of his, which nobody waits for. An own file that cannot be read is an error."""
    place = home_of(commons, ALICE)
    (place / "crondor.toml").write_text("tz = 3\n")
    (place / "crondor.toml").chmod(0o600)

    def look(user: Account) -> str:
        def find() -> str:
            found = find_settings({}, "/nowhere", str(place))
            return " ".join((*found.files, *(each.message for each in found.warnings)))

        return be(user, find)

    assert "Permission denied" in look(BOB)
    os.chown(place / "crondor.toml", ALICE.uid, ALICE.gid)
    assert look(BOB) == "this file is ignored: it belongs to another user, 61001"
    assert "tz must be a text" in look(ALICE)
    (place / "crondor.toml").unlink()
    os.mkfifo(place / "crondor.toml")
    assert "not a plain file" in look(ME)
    os.chown(place / "crondor.toml", ALICE.uid, ALICE.gid)
    assert look(BOB) == "this file is ignored: it belongs to another user, 61001"


@as_root
def test_settings_of_the_host(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are the farthest; only root may write them; their paths lead where they like."""
    path, user = home / "etc.toml", home / "user" / "crondor" / "crondor.toml"
    for module in (settings, files):
        monkeypatch.setattr(module, "system_file", lambda: str(path))
    path.write_text(f'tz = "{ZONES[0]}"\nschedd-interval = 60\nallow-dir = ["/srv"]\n')
    assert zone_of() == ZONES[0]
    user.write_text(f'tz = "{ZONES[1]}"\n')
    assert shown()["tz"] == (ZONES[1], str(user))
    assert shown()["schedd-interval"] == (60, str(path))
    assert shown()["allow-dir"] == (["/srv"], str(path))
    assert f"files: {path}, {user}" in crondor("config").out
    assert f"{path}:2" in crondor("config").out
    user.unlink()
    for mode, owner in ((0o664, 0), (0o646, 0), (0o644, STRANGER)):
        path.chmod(mode)
        os.chown(path, owner, 0)
        assert zone_of() == "Europe/Berlin"
        message = f"{path}:1:1: warning: this file is ignored: it must belong to root, and only root may write it"
        assert message in crondor("config").err
    path.unlink()
    assert crondor("config").err == ""


def test_settings_of_the_simulation(home: Path) -> None:
    """Its pool."""
    (home / "project" / "crondor.toml").write_text("[simulate]\nslots = 7\nrun-time = 20\n")
    job = home / "job.sub"
    job.write_text("executable = x\ncron_minute = 0\nqueue\n")
    data = crondor("simulate", "--spec", str(job), "--days", "1", "--now", NOW, "--format", "json").data
    assert (data["slots"], data["run_time"]) == (7, "20")


def test_processes_that_are_set_share_much_work_and_those_asked_for_all(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A setting says how many there are at most; little work is done by one, unless --jobs asks for more."""
    asked: list[int | None] = []

    def processes(jobs: int | None) -> int:
        asked.extend([] if jobs == 1 else [jobs])
        return 1

    monkeypatch.setattr(parallel, "processes", processes)
    monkeypatch.setattr("crondor_cli.check.command.LEAST", 3)
    files = [home / "project" / f"{number}.sub" for number in range(3)]
    for file in files:
        file.write_text("executable = /bin/true\ncron_minute = 0\nqueue\n")
    (home / "project" / "crondor.toml").write_text("jobs = 3\n")
    one, all_of_them = [str(files[0])], list(map(str, files))
    crondor("check", *one)
    assert asked == []
    crondor("check", *all_of_them)
    crondor("check", *all_of_them, env={"CRONDOR_JOBS": "5"})
    crondor("check", *all_of_them, "--jobs", "2", env={"CRONDOR_JOBS": "5"})
    crondor("check", *one, "--jobs", "2")
    crondor("--no-config", "check", *all_of_them)
    assert asked == [3, 5, 2, 2, None]
    assert shown()["jobs"] == (3, str(home / "project" / "crondor.toml"))
    err = crondor("check", *one, env={"CRONDOR_JOBS": "0"}).err
    assert "CRONDOR_JOBS:1:1: error: jobs: 0 is not in the range 1<=x<=64" in err


def test_config_shows_where_each_value_comes_from(home: Path) -> None:
    """A file and its line, a variable, the default."""
    path = home / "project" / "crondor.toml"
    path.write_text('tz = "UTC"\n\n[check]\nignore = ["CRN4"]\n')
    lines = crondor("config", env={"CRONDOR_WIDTH": "90"}).lines
    rows = {line.split()[0]: line for line in lines if line}
    assert rows["tz"].split()[1:3] == ["UTC", f"{path}:1"]
    assert f"{path}:4" in rows["check.ignore"]
    assert "CRONDOR_WIDTH" in rows["width"]
    assert "default" in rows["policy"]
    assert len(SETTINGS) == sum(name in rows for name in (setting.name for setting in SETTINGS))


@pytest.mark.parametrize(
    ("arguments", "env", "coloured"),
    [
        ((), {}, False),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ((), {"CRONDOR_COLOR": "always", "NO_COLOR": "1"}, True),
        (("--color", "never"), {"CRONDOR_COLOR": "always", "FORCE_COLOR": "1"}, False),
    ],
)
@pytest.mark.parametrize("is_before", [True, False])
@pytest.mark.usefixtures("home")
def test_who_decides_on_colours(
    arguments: tuple[str, ...], env: dict[str, str], coloured: bool, is_before: bool
) -> None:
    """--color, the settings, NO_COLOR, FORCE_COLOR, the terminal: before the command and after it."""
    asked = ("next", "--crontab", "61 6 * * *")
    result = crondor(*arguments, *asked, env=env) if is_before else crondor(*asked, *arguments, env=env)
    assert ("\x1b[" in result.err) is coloured
    if coloured:
        assert "\x1b[31m\x1b[1m^^\x1b[0m" in result.err


def test_rows_that_differ_are_coloured() -> None:
    """Those that begin with an exclamation mark."""
    result = crondor("--color", "always", "next", "--crontab", "0 6 1-10/3 * *", "--now", NOW)
    marked = [line for line in result.lines if "  !" in line]
    assert any(line.startswith("\x1b[33m  !") for line in marked)
    assert "\x1b" not in crondor("--color", "never", "next", "--crontab", "0 6 1-10/3 * *", "--now", NOW).out


def test_a_folder_that_is_gone_has_no_settings(home: Path) -> None:
    """And no traceback."""
    (home / "gone").mkdir()
    os.chdir(home / "gone")
    (home / "gone").rmdir()
    result = crondor("next", "--crontab", "0 6 * * *", "-n", "1")
    assert (result.status, result.err) == (0, "")


@pytest.mark.usefixtures("home")
def test_json_names_every_setting() -> None:
    """With its variable."""
    data = json.loads(crondor("config", "--format", "json").out)
    assert [each["name"] for each in data["settings"]] == [setting.name for setting in SETTINGS]
    assert all(each["variable"].startswith("CRONDOR_") for each in data["settings"])
    assert data["files"] == []


@pytest.mark.parametrize(
    ("arguments", "coloured"),
    [
        (("agenda", "--crontab", "* * * * *", "--days", "1"), "\x1b[33m60"),
        (("explain", "--crontab", "0 6 * * 1"), "\x1b[33m  The real schedd (HTCondor 25.14) differs:\x1b[0m"),
        (("explain", "--crontab", "0 6 * * 1", "--at", "2026-12-01"), "\x1b[31m  hour "),
    ],
)
def test_what_matters_in_a_table_is_coloured(arguments: tuple[str, ...], coloured: str) -> None:
    """Where colours are wanted, and the same text where they are not."""
    on = crondor("--color", "always", *arguments, "--now", NOW).out
    assert ("\x1b[1m" in on, coloured in on) == (True, True)
    plain = crondor("--color", "never", *arguments, "--now", NOW).out
    assert re.sub(r"\x1b\[\d+m", "", on) == plain == crondor(*arguments, "--now", NOW).out
