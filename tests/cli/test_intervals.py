"""--from and --until include their moment in every command that has them; without --from only times after now count."""

import re
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

import pytest

from crondor_cli.main import cli
from reference.facts import commands
from tests.cli.running import crondor

HOUR = 3600
TWO = int(datetime(2026, 12, 1, 2, tzinfo=timezone.utc).timestamp())
THREE, FOUR = TWO + HOUR, TWO + 2 * HOUR
SPRING = int(datetime(2027, 3, 28, 1, tzinfo=timezone.utc).timestamp())  # Berlin's clocks go forward
ROUTES = "JOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ROUTE_A = UNIVERSE VANILLA\n"
AD = (
    'ClusterId = 1\nProcId = 0\nJobStatus = 1\nJobUniverse = 5\nQDate = 1\nCronMinute = "0"\nCronHour = "2,3,4"\n'
    'OnExitRemove = false\nOwner = "a"\nDeferralWindow = 0\nDeferralPrepTime = 300\nScheddInterval = 300\n'
)


class Asked(NamedTuple):
    """A job at 02:00, 03:00 and 04:00, and a command at some clock with its options."""

    folder: Path
    now: int
    options: tuple[str, ...]

    def out(self, command: str, *arguments: str) -> str:
        """Return what the command prints."""
        return crondor(*command.split(), *arguments, *self.options, "--now", str(self.now), "--tz", "UTC").out

    @property
    def spec(self) -> str:
        """Return the job's file."""
        path = self.folder / "job.sub"
        fields = "cron_minute = 0\ncron_hour = 2,3,4\non_exit_remove = false"
        path.write_text(f"executable = /bin/true\n{fields}\nqueue\n", encoding="utf-8")
        return str(path)


def json_times(text: str) -> list[int]:
    """Return the times of a JSON text, each once."""
    return sorted({int(number) for number in re.findall(r'"time": (\d+)', text)})


def epochs(command: str) -> Callable[[Asked], list[int]]:
    """Return how to read the times that a command prints as numbers."""

    def read(asked: Asked) -> list[int]:
        return sorted(map(int, asked.out(command, asked.spec, "--format", "epoch", "-n", "3").split()))

    return read


def of_minutes(text: str) -> list[int]:
    """Return the first minutes with a start of an agenda."""
    return json_times(text[text.index('"first"') : text.index('"busiest"')])


def of_agenda(asked: Asked) -> list[int]:
    """Return the first minutes with a start."""
    return of_minutes(asked.out("agenda", asked.spec, "--format", "json"))


def of_calendar(asked: Asked) -> list[int]:
    """Return the events."""
    out = asked.out("export", asked.spec, "--to", "ics", "-n", "3")
    starts = re.findall(r"^DTSTART:(\d{8}T\d{6})Z", out, re.MULTILINE)
    return [int(datetime.strptime(f"{text}+0000", "%Y%m%dT%H%M%S%z").timestamp()) for text in starts]


def of_diff(asked: Asked) -> list[int]:
    """Return the times that the job has, and another one has not."""
    other = asked.folder / "other.sub"
    other.write_text("executable = /bin/true\ncron_minute = 1\ncron_month = 1\nqueue\n", encoding="utf-8")
    text = asked.out("diff", asked.spec, str(other), "-n", "3", "--format", "json")
    return json_times(text[text.index('"partings"') :])


def of_plan(asked: Asked) -> list[int]:
    """Return the runs on routes."""
    routes = asked.folder / "routes.conf"
    routes.write_text(ROUTES, encoding="utf-8")
    plan = ("--config", str(routes), "--at-gate", "--run-time", "1", "--job-owner", "a", "-n", "3", "--format", "json")
    return json_times(asked.out("route plan", asked.spec, *plan))


def of_monitor(asked: Asked) -> list[int]:
    """Return the due times of one look after them all."""
    ads = asked.folder / "queue.ads"
    ads.write_text(AD, encoding="utf-8")
    late = asked._replace(now=FOUR + 600)
    found = late.out("monitor", "--once", "--ads", str(ads), "--format", "json")
    return sorted(map(int, re.findall(r'"due": \{"time": (\d+)', found)))


def of_compiled(asked: Asked) -> list[int]:
    """Return the runs that are wanted."""
    text = asked.out("compile", "every day at 02:00,03:00,04:00", "--format", "json", "-n", "3")
    return json_times(text[text.index('"runs"') :])


def of_clock_changes(asked: Asked) -> list[int]:
    """Return the clock changes of the year."""
    at = ("--now", str(asked.now), "--tz", "Europe/Berlin", "--format", "json")
    data = crondor("explain", "--crontab", "30 2 * * *", *asked.options, *at).jobs[0]
    return [change["time"] for change in data["clock_changes"]]


def of_schedules(command: str) -> Callable[[Asked], list[int]]:
    """Return how to read the times of a schedule in any language."""
    text = ("--schedule", "every day at 02:00,03:00,04:00")
    if command == "agenda":
        return lambda asked: of_minutes(asked.out("agenda", *text, "--format", "json"))
    return lambda asked: sorted(map(int, asked.out(command, *text, "--format", "epoch", "-n", "3").split()))


HTCONDOR = ("--dialect", "htcondor")
FROM: list[tuple[str, Callable[[Asked], list[int]]]] = [
    ("next", epochs("next")),
    ("next", epochs("next --dialect htcondor")),
    ("next", of_schedules("next")),
    ("agenda", of_agenda),
    ("agenda", lambda asked: of_agenda(asked._replace(options=(*asked.options, *HTCONDOR)))),
    ("agenda", of_schedules("agenda")),
    ("compile", of_compiled),
    ("monitor", of_monitor),
]
UNTIL: list[tuple[str, Callable[[Asked], list[int]]]] = [
    *(each for each in FROM if each[0] != "monitor"),
    ("export", of_calendar),
    ("diff", of_diff),
    ("route plan", of_plan),
]
BACKWARDS = [epochs("next --previous"), of_schedules("next --previous")]
OTHERS = {
    ("classad convert", "--from"),  # a form of ads
    ("classad transform", "--from"),
    ("explain", "--until"),  # below: clock changes
    ("run", "--until"),  # on the real clock
}


def test_every_command_is_in_the_table() -> None:
    """Whoever adds such an option adds it here."""
    found = {
        (facts.name.removeprefix("crondor "), name)
        for facts in commands(cli)
        for option in facts.options
        for name in option.names
        if name in {"--from", "--until"}
    }
    assert found == {(name, "--from") for name, _ in FROM} | {(name, "--until") for name, _ in UNTIL} | OTHERS


def test_the_help_says_it_in_the_same_words() -> None:
    """Inclusive, and what holds without the option."""
    for facts in commands(cli):
        for option in facts.options:
            name = facts.name.removeprefix("crondor "), option.names[0]
            if name[1] in {"--from", "--until"} and not name[0].startswith("classad "):
                assert "this time" in option.meaning, name
                assert "inclusive" in option.meaning, name


@pytest.mark.parametrize(("command", "times"), FROM)
def test_from_includes_its_moment(command: str, times: Callable[[Asked], list[int]], tmp_path: Path) -> None:
    """A second later the time is not in it any more; without --from only times after now count."""
    assert times(Asked(tmp_path, TWO - HOUR, ("--from", str(TWO))))[:2] == [TWO, THREE], command
    assert times(Asked(tmp_path, TWO - HOUR, ("--from", str(TWO + 60))))[:2] == [THREE, FOUR], command
    if command != "monitor":
        assert times(Asked(tmp_path, TWO, ()))[:2] == [THREE, FOUR], command
        assert times(Asked(tmp_path, TWO - 1, ()))[:2] == [TWO, THREE], command


@pytest.mark.parametrize(("command", "times"), UNTIL)
def test_until_includes_its_moment(command: str, times: Callable[[Asked], list[int]], tmp_path: Path) -> None:
    """A minute earlier the time is not in it yet."""
    assert times(Asked(tmp_path, TWO, ("--until", str(FOUR)))) == [THREE, FOUR], command
    assert times(Asked(tmp_path, TWO, ("--until", str(FOUR - 60)))) == [THREE], command


@pytest.mark.parametrize("times", BACKWARDS)
def test_backwards_from_includes_its_moment(times: Callable[[Asked], list[int]], tmp_path: Path) -> None:
    """Without it only times before now are shown."""
    assert times(Asked(tmp_path, TWO, ("--from", str(FOUR))))[-2:] == [THREE, FOUR]
    assert times(Asked(tmp_path, TWO, ("--from", str(FOUR - 1))))[-2:] == [TWO, THREE]
    assert times(Asked(tmp_path, FOUR, ()))[-2:] == [TWO, THREE]
    assert times(Asked(tmp_path, FOUR + 1, ()))[-2:] == [THREE, FOUR]


def test_clock_changes_until_a_time_include_its_moment(tmp_path: Path) -> None:
    """As all others."""
    assert of_clock_changes(Asked(tmp_path, TWO, ("--until", str(SPRING)))) == [SPRING]
    assert of_clock_changes(Asked(tmp_path, TWO, ("--until", str(SPRING - 1)))) == []


def test_a_maintenance_has_the_runs_at_both_ends(tmp_path: Path) -> None:
    """From 02:00 to 04:00; a moment may be all of it; a length does not include its end."""
    between = ("--from", str(TWO), "--until", str(FOUR))
    for times in (epochs("next"), of_agenda):
        assert times(Asked(tmp_path, TWO - 9 * HOUR, between)) == [TWO, THREE, FOUR]
        assert times(Asked(tmp_path, TWO - HOUR, ("--from", str(TWO), "--until", str(TWO)))) == [TWO]
    days = Asked(tmp_path, TWO - 86400, ("--days", "1", "-n", "9"))
    assert TWO not in of_plan(days)


@pytest.mark.parametrize("command", ["next", "agenda"])
def test_an_interval_that_ends_before_it_begins_is_refused(command: str) -> None:
    """With what is wrong of it."""
    found = crondor(
        command, "--crontab", "0 2 * * *", "--from", str(TWO), "--until", str(TWO - 1), "--now", str(TWO - HOUR)
    )
    assert (found.status, "--until is earlier than --from" in found.err) == (2, True)
    found = crondor(command, "--crontab", "0 2 * * *", "--until", str(TWO), "--now", str(TWO))
    assert (found.status, "--until is not later than now" in found.err) == (2, True)


def test_an_agenda_ends_once() -> None:
    """After some days or at a time, and not too far away to be drawn."""
    many = ("agenda", "--crontab", "0 2 * * *", "--now", str(TWO))
    assert "choose one" in crondor(*many, "--until", str(FOUR), "--days", "1").err
    assert "show a shorter time" in crondor(*many, "--until", "2028-01-01").err
