"""When does this job run? Every command, the editor and the library name the same times, with and without a clause."""

import json
import re
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from crondor.classad import Expression
from crondor.classad.ad import ClassAd
from crondor.classad.printing import Format, Order
from crondor.diagnostics import Source
from crondor.editing import EditSettings, ReadText, TextKind
from crondor.editing.hovering import schedules
from crondor.job.policy import QueuedJob, read_queue
from crondor.lint import CheckSettings
from crondor.monitor import QueueWatch
from crondor.recurrence import Recurrence
from crondor.spec import CronSpec, Dialect
from crondor.spreading import SpreadJob, SpreadTime, use_of
from crondor.submit import job_ads, read_submit
from crondor.times import JobTimes
from tests.cli.running import crondor
from tests.examples import TIMES
from website.play import engine

NOW = int(datetime(2026, 11, 27, 12, 30, 30, tzinfo=timezone.utc).timestamp())
END = NOW - NOW % 86400 + 86400 - 1  # the last second of the day
AT = ("--now", str(NOW), "--tz", "UTC")
LAST = ("--until", str(END))
MANY = ("-n", "100")


class Job(NamedTuple):
    """A job: its file, the same as an ad of the queue, its commands, and the times at which it runs until END."""

    path: str
    ads: str
    commands: dict[str, str]
    runs: list[int]

    @property
    def times(self) -> JobTimes:
        """Return what the library says."""
        return JobTimes.from_submit(self.commands)


def make(folder: Path, fields: dict[str, str], clause: str, machine: str = "") -> Job:
    """Write the job; its runs are the minutes that its fields name and for which the clause is true."""
    requirements = " && ".join(filter(None, (machine, f"({clause})" if machine and clause else clause)))
    commands = {"executable": "/bin/true", "on_exit_remove": "false", **fields}
    commands |= {"requirements": requirements} if requirements else {}
    path = folder / "job.sub"
    path.write_text("".join(f"{name} = {text}\n" for name, text in commands.items()) + "queue\n", encoding="utf-8")
    spec = CronSpec.from_mapping({name.replace("_", ""): text for name, text in fields.items()})
    test = Expression(clause or "true")
    runs = [time for time in Recurrence(spec).between(NOW, END) if test.evaluate(ClassAd({"DeferralTime": time}))]
    (made,) = job_ads(read_submit(Source(path.read_text(encoding="utf-8"), str(path))))
    ad = made.ad.copy()
    for name, value in (("ClusterId", 1), ("ProcId", 0), ("JobStatus", 1), ("Owner", "alice"), ("QDate", NOW)):
        ad[name] = value
    return Job(str(path), ad.print(Format.LONG, Order.KEPT), commands, runs)


def number(text: object) -> int:
    """Return a whole number."""
    return int(str(text))


def listed(*arguments: str, stdin: str = "") -> list[int]:
    """Return the numbers that a command prints."""
    return [int(line) for line in crondor(*arguments, *AT, "--format", "epoch", stdin=stdin).lines]


def of_prev(job: Job) -> list[int]:
    """Return the runs as seen from the end."""
    found = crondor("next", "--previous", job.path, "--from", str(END + 1), *MANY, *AT, "--format", "epoch").lines
    return [int(line) for line in reversed(found) if int(line) > NOW]


def of_calendar(job: Job) -> list[int]:
    """Return the events that `export` writes."""
    out = crondor("export", job.path, "--to", "ics", *MANY, *LAST, *AT).out
    starts = re.findall(r"^DTSTART:(\d{8}T\d{6})Z", out, re.MULTILINE)
    return [int(datetime.strptime(f"{text}+0000", "%Y%m%dT%H%M%S%z").timestamp()) for text in starts]


def of_schedd(job: Job) -> list[int]:
    """Return the starts that `next --queue` lists, the first of which `queue status` and `advertise` have as well."""
    ads = ("--ads", "-", *AT)
    data = crondor("next", "--list", *ads, *MANY, "--format", "json", stdin=job.ads).data
    found = [number(start["time"]) for start in data["starts"]]
    (status,) = crondor("queue", "status", *ads, "--format", "json", stdin=job.ads).jobs
    assert status["next"]["time"] == found[0]
    (ad,) = [job.ad for job in read_queue(crondor("queue", "advertise", *ads, stdin=job.ads).out.removesuffix("-\n"))]
    assert ad.value("CrondorNextDeferral") == found[0]
    assert re.findall(r"\bDeferral = (\d+)", ad.text("CrondorNext")) == [str(time) for time in found[:10]]
    return [time for time in found if time <= END]


def of_explain(job: Job) -> list[int]:
    """Return the next run, and those of the schedd's next answers that requirements let pass; --at agrees."""
    (told,) = crondor("explain", job.path, *AT, "--format", "json").jobs
    (chain,) = crondor("explain", job.path, *AT, "--dialect", "htcondor", "--format", "json").jobs
    answers = [answer["time"] for answer in chain["answers"] if not answer["excluded"]]
    for answer in chain["answers"]:
        at = crondor("explain", job.path, *AT, "--at", str(answer["time"]), "--format", "json").jobs[0]["at"]
        assert at["fires"] is not answer["excluded"]
    return sorted({told["next"]["time"], *answers})


def of_agenda(job: Job) -> list[int]:
    """Return the first starts; all are counted."""
    data = crondor("agenda", job.path, "--days", "1", *AT, "--format", "json").data
    assert data["jobs"][0]["runs"] == data["starts"] == len(job.runs)
    return [minute["time"] for minute in data["first"]]


def of_plan(job: Job) -> list[int]:
    """Return the runs that a router would give to a route."""
    routes = Path(job.path).with_name("routes.conf")
    routes.write_text("JOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ROUTE_A = UNIVERSE VANILLA\n", encoding="utf-8")
    plan = ("route", "plan", job.path, "--config", str(routes), "--at-gate", "--run-time", "1", "--job-owner", "alice")
    return [run["time"] for run in crondor(*plan, *LAST, *AT, "--format", "json").data["runs"]]


def of_monitor(job: Job) -> list[int]:
    """Return the due times of a monitor that follows the queue."""
    watch, found = QueueWatch(since=NOW), set()
    (queued,) = read_queue(job.ads)
    for now in range(NOW, END + 1, 3600):
        found |= {run.run.time for run in watch.look([queued.ad], now).runs}
    return sorted(found | {run.run.time for run in watch.look([queued.ad], END).runs})


def of_spreading(job: Job) -> list[int]:
    """Return the runs that hold a slot."""
    spread = SpreadJob("job.sub", job.times.schedule, "job.sub", requirements=job.times.requirements)
    return [run for run in use_of(spread.times, SpreadTime(NOW - NOW % 86400, END + 1)).runs if run > NOW]


def of_editor(job: Job) -> list[int]:
    """Return the runs that hover, lenses and hints show; those of the schedd are no others."""
    source = Source(Path(job.path).read_text(encoding="utf-8"), job.path)
    text = ReadText(source, TextKind.SUBMIT, EditSettings(CheckSettings(now=NOW, zone="UTC")))
    (shown,) = schedules(text, 100)
    assert shown.schedd is None
    return [run for run in shown.runs if run <= END]


def of_playground(job: Job) -> list[int]:
    """Return the runs that the page shows of a submit file."""
    text = Path(job.path).read_text(encoding="utf-8")
    answer = json.loads(engine.answer(json.dumps({"kind": "submit", "text": text, "zone": "UTC", "now": NOW})))
    return [run["manual"]["time"] for run in answer["jobs"][0]["runs"] if run["manual"]["time"] <= END]


FACES: list[Callable[[Job], list[int]]] = [
    lambda job: list(job.times.runs(NOW, END)),
    lambda job: [int(time) for time in job.times.in_dialect(Dialect.HTCONDOR).runs(NOW, END)],
    lambda job: list(JobTimes.from_queue(QueuedJob(next(read_queue(job.ads)).ad), NOW).runs(NOW, END)),
    lambda job: listed("next", "--spec", job.path, *MANY, *LAST),
    lambda job: listed("next", "--spec", job.path, "--dialect", "htcondor", *MANY, *LAST),
    lambda job: listed("next", "--ads", "-", *MANY, *LAST, stdin=job.ads),
    *(of_prev, of_calendar, of_schedd, of_explain, of_agenda, of_plan, of_monitor, of_spreading, of_editor),
    of_playground,
]
FIRST: dict[Callable[[Job], list[int]], int] = {of_explain: 1}  # of five answers some may be excluded


def agree(job: Job) -> None:
    """Ask everybody; some show only the first runs, and later ones than END."""
    for ask in FACES:
        found = [time for time in ask(job) if time <= END]
        assert found == job.runs[: len(found)], ask.__name__
        assert len(found) == len(job.runs) or len(found) >= FIRST.get(ask, 5), ask.__name__
    (reading,) = crondor("simulate", job.path, "--days", "1", *AT, "--format", "json").data["readings"]
    assert reading["jobs"][0]["planned"] == len(list(job.times.runs(NOW, NOW + 86400 - 1)))


MINUTES = st.sampled_from(["0", "30", "0,30", "*/20", "15,45", "7"])
HOURS = st.sampled_from(["*", "*/3", "13-22", "14,15,16,18"])
CLAUSES = st.one_of(
    st.just(""),
    st.builds("DeferralTime % {} == {}".format, st.sampled_from([3600, 7200, 10800, 5400]), st.sampled_from([0, 1800])),
    st.sampled_from(
        [
            'formatTime(DeferralTime, "%H") != "16"',
            f"DeferralTime >= {NOW + 7200} && DeferralTime <= {NOW + 30000}",
            f"DeferralTime / 3600 % 2 == 0 || DeferralTime == {NOW - NOW % 3600 + 3 * 3600}",
        ]
    ),
)
MACHINES = st.sampled_from(["", 'Arch == "X86_64"', 'TARGET.OpSys =?= "LINUX"', "(Memory > 5 || HasGpu)"])


@settings(
    max_examples=2 * TIMES,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # each example asks 20 commands
)
@given(MINUTES, HOURS, CLAUSES, MACHINES)
def test_everybody_names_the_same_times(tmp_path: Path, minute: str, hour: str, clause: str, machine: str) -> None:
    """With any fields, any clause, and any condition on machines beside it."""
    fields = {"cron_minute": minute} | ({"cron_hour": hour} if hour != "*" else {})
    agree(make(tmp_path, fields, clause, machine))


@pytest.mark.parametrize(
    "text", ["every 90 minutes from 2026-11-27 00:00", "every 2 hours except 18:00..19:00 from 2026-11-27 01:00"]
)
def test_everybody_names_the_times_of_compiled_lines(tmp_path: Path, text: str) -> None:
    """What `crondor compile` writes runs at the times of the text, whoever is asked."""
    lines = crondor("compile", text, *AT, "--format", "submit").lines
    found = {name.strip(): value for name, _, value in (line.partition(" = ") for line in lines)}
    fields = {name: value for name, value in found.items() if name in ("cron_minute", "cron_hour")}
    agree(make(tmp_path, fields, found.get("requirements", "")))
