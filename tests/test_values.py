"""Every public value can be shown, compared, copied, pickled, and sent to another process."""

import copy
import dataclasses
import enum
import inspect
import multiprocessing
import pickle
import pkgutil
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path

import pytest

import crondor
from crondor import (
    CheckSettings,
    ClassAd,
    CronSpec,
    Dialect,
    InvalidSchedule,
    InvalidSpec,
    JobSchedule,
    JobTimes,
    Matcher,
    Recurrence,
    RouteState,
    RoutingTable,
    Source,
    apply_route,
    check_submit,
    job_ads,
    load_table,
    read_ad,
    read_config,
    read_queue,
    read_submit,
)
from crondor.access_point import AccessPoint, read_access_point
from crondor.classad import Context, Expression
from crondor.compile.meaning import WrittenSchedule, read_schedule
from crondor.compile.walls import CronSchedule
from crondor.diagnostics import CrondorError, Diagnostic
from crondor.job.expressions import JobExpressions, admission
from crondor.job_queue import BadRecord
from crondor.knowledge import config_knobs, job_attributes, submit_commands
from crondor.macro import MacroError
from crondor.macro.files import Files
from crondor.schedd.protocol import PartlyEdited, Refused
from crondor.spec import FIELDS
from crondor.spreading import Load
from crondor.submit import UnreadableLines
from crondor.transform import Transform, TransformFacts
from crondor.zones import zone_of

NOW = 1_796_083_200  # 2026-12-01 00:00 UTC

# Public modules whose classes are pieces of their machinery.
MACHINERY = "crondor.compile."
OPEN = ("crondor.compile.meaning", "crondor.compile.walls")

NO_VALUES = {
    "runs, or stands on files, processes or a queue that changes": (
        "crondor.job_queue: Follower History HistoryFollower Index JobQueue Mirror Transaction",
        "crondor.monitor: JobHistory QueueWatch UserLogFollower",
        "crondor.router: Candidates Search",
        "crondor.router.daemon: QueueStatus Rehearsal RoutedJob Router RouterLock UserLogs",
        "crondor.router.sandbox: FileDelivery PlannedDelivery Proxies Sandbox Spool TokenFiles",
        "crondor.schedd_adapter: CronTabs EmbeddedSchedd Guard LiveSchedd QueueLogSchedd StatusReader",
        "crondor.transform: Chain",
    ),
    "is a step of a reading or an evaluation, and holds what surrounds it": (
        "crondor.lint: CheckedFile CheckedJob",
        "crondor.classad: AdValue Code ListValue",
        "crondor.classad.functions: CallArguments",
        "crondor.editing: ReadText",
        "crondor.macro: Budget LineReader",
        "crondor.router_bridge: PlannedJob",
    ),
    "is a constant with a function, told apart by identity": ("crondor.lint: Rule",),
}

SUBMIT = """\
executable = /bin/true
cron_minute = 0
cron_hour = 6
deferral_window = 600 + 60
Sites = a
on_exit_remove = false
+Color = "red"
arguments = $(Sites) $INT(abc)
queue 2
queue x from (
 a
 b
)
"""
CONFIG = """\
JOB_ROUTER_ROUTE_NAMES = A B
JOB_ROUTER_ROUTE_A @=end
 REQUIREMENTS Owner == "alice" && CronMinute =!= undefined
 UNIVERSE GRID
 GridResource = "batch slurm"
 SET X strcat(Owner, "1")
 EVALSET Y 1 + 1
@end
JOB_ROUTER_ROUTE_B @=end
 REQUIREMENTS ((
@end
JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES = P
JOB_ROUTER_TRANSFORM_P @=end
 NAME P
 SET Z 1
@end
JOB_TRANSFORM_NAMES = T
JOB_TRANSFORM_T @=end
 REQUIREMENTS Owner == "alice"
 SET W 2
@end
SUBMIT_REQUIREMENT_NAMES = R
SUBMIT_REQUIREMENT_R = Owner != "bob"
SYSTEM_PERIODIC_HOLD = NumJobStarts > 5
"""
AD = """\
ClusterId = 1
ProcId = 0
Owner = "alice"
JobUniverse = 5
JobStatus = 1
QDate = 1796000000
CronMinute = "0"
CronHour = "6"
DeferralTime = 1796104800
DeferralWindow = 600 + 60
DeferralPrepTime = 300
Requirements = DeferralTime % 7200 == 0 && (TARGET.Memory >= RequestMemory)
"""
CALENDAR = """\
BEGIN:VCALENDAR
VERSION:2.0
PRODID:x
BEGIN:VEVENT
UID:1
DTSTART:20261202T080000Z
DTEND:20261202T100000Z
END:VEVENT
END:VCALENDAR
"""


@cache
def public() -> dict[type, str]:
    """Return the public classes of the library, by all fronts, each with the front that has it."""
    modules = [each.name for each in pkgutil.walk_packages(crondor.__path__, "crondor.")]
    found: dict[type, str] = {}
    for name in ["crondor", *modules]:
        if "._" in name or (name.startswith(MACHINERY) and name not in OPEN) or name == "crondor.__main__":
            continue
        module = import_module(name)
        for each in getattr(module, "__all__", ()):
            value = getattr(module, each)
            if inspect.isclass(value) and value.__module__.startswith("crondor"):
                found.setdefault(value, f"{name}: {value.__name__}")
    return found


@cache
def excused() -> frozenset[str]:
    """Return the classes that are no values."""
    listed = (line.partition(": ") for lines in NO_VALUES.values() for line in lines)
    return frozenset(f"{module}: {name}" for module, _, names in listed for name in names.split())


def schedules() -> Iterator[object]:
    """Yield schedules, and what they answer."""
    berlin = Recurrence(CronSpec.from_line("30 2 * * *"), "Europe/Berlin")
    yield berlin
    yield from (berlin.why(NOW), berlin.gaps(), berlin.counts(), berlin.clock_mark(1_806_193_800))
    real = Recurrence(CronSpec(minute="0", dialect=Dialect.HTCONDOR))
    yield from (real, real.next(NOW), FIELDS, zone_of("Europe/Berlin"), zone_of("UTC"))
    yield CronSchedule(CronSpec.from_line("0 6 * * 1"), zone_of("UTC"))
    yield read_schedule("every weekday at 09:00 except 2026-12-24", zone="Europe/Berlin")
    yield JobSchedule.from_submit({"cron_minute": "0", "deferral_window": "QDate + 1"})
    yield JobTimes.from_submit({"cron_minute": "0", "requirements": "DeferralTime % 7200 == 0"})


def jobs() -> Iterator[object]:
    """Yield submit files, ads, queues, and what is said of them."""
    file = read_submit(Source(SUBMIT, "a.sub"), now=NOW)
    yield from (file, *file.groups(("cron_minute", "x", "arguments")), *job_ads(file))
    settings = CheckSettings(now=NOW, zone="Europe/Berlin")
    yield check_submit(Source(SUBMIT, "a.sub"), settings)
    ad = read_ad(AD)
    yield from (ad, ad["Requirements"], ad["Requirements"].references(ad), ad["Requirements"].explain(ad))
    (queued,) = read_queue(AD)
    yield from (queued, queued.schedule(NOW), queued.schedule(NOW).next(NOW))
    expressions = JobExpressions(ad, "Europe/Berlin")
    expressions("DeferralWindow + QDate", NOW)
    yield from (expressions, admission("DeferralTime % 7200 == 0", zone_of("UTC").info))
    yield from (config_knobs(), submit_commands(), job_attributes(), Load(3))


def pools() -> Iterator[object]:
    """Yield what configurations are read as, after it has been used."""
    configuration = read_config(Source(CONFIG, "condor_config"))
    table, ad = load_table(configuration), read_ad(AD)
    matcher = Matcher(table)
    yield from (configuration, table, matcher)
    yield from matcher.match([("1.0", ad)], RouteState(), Context(now=NOW))
    yield apply_route(table, table.routes[0], ad)
    point = read_access_point(configuration)
    yield from (point, point.admit(ad))
    transform = Transform.parse(Source("SET X 1\nDELETE Owner\nSET Y X + 1\n", "rules"))
    yield from (transform, transform.apply(ad, trace=True), transform.apply(ad).changes, transform.lines)
    yield TransformFacts({"A": "1"}, environ={"B": "2"}, files=Files(["/srv"], base="/srv"))


def parts(value: object) -> Iterator[object]:
    """Yield what a value holds, where it is one of ours or a plain container."""
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from value
    if type(value).__module__.startswith("crondor"):
        yield from getattr(value, "__dict__", {}).values()
        slots = (name for each in type(value).__mro__ for name in getattr(each, "__slots__", ()))
        yield from (getattr(value, name) for name in slots if hasattr(value, name))


@cache
def found() -> dict[type, object]:
    """Return a value of each public class that is met in what programs make."""
    kept: dict[int, object] = {}
    first: dict[type, object] = {}
    left = deque([*schedules(), *jobs(), *pools()])
    while left:
        value = left.popleft()
        if id(value) in kept or isinstance(value, type):
            continue
        kept[id(value)] = value
        if type(value) in public():
            first.setdefault(type(value), value)
        left.extend(parts(value))
    return first


def is_record(kind: type) -> bool:
    """Say whether a class is nothing but its fields: whether it can be sent is a question of those."""
    return hasattr(kind, "_fields") or dataclasses.is_dataclass(kind)


def record(kind: type) -> object:
    """Return a record with numbers in the place of its values."""
    if hasattr(kind, "_fields"):
        return tuple.__new__(kind, range(len(kind._fields)))
    made: object = object.__new__(kind)
    for number, each in enumerate(dataclasses.fields(kind)):
        object.__setattr__(made, each.name, number)
    return made


def values() -> dict[str, object]:
    """Return a value of each public class that is one."""
    listed: dict[str, object] = {}
    for kind, name in public().items():
        is_other = issubclass(kind, BaseException) or getattr(kind, "_is_protocol", False)
        if is_other or name in excused():
            continue
        if issubclass(kind, enum.Enum):
            listed[name] = list(kind)
        elif kind in found():
            listed[name] = found()[kind]
        elif is_record(kind):
            listed[name] = record(kind)
    return listed


def test_every_public_class_is_looked_at() -> None:
    """It is met in what programs make, or is a record, a protocol or an error, or the list says why it is no value."""
    left = [
        name
        for kind, name in public().items()
        if not issubclass(kind, BaseException) and not getattr(kind, "_is_protocol", False)
    ]
    assert sorted({*left} - {*values()} - excused()) == []
    assert sorted(excused() - {*public().values()}) == []


@pytest.fixture(scope="module", autouse=True)
def _made_now() -> None:
    """Make the values again: zones are equal by identity, and tests of recordings drop those that were read."""
    found.cache_clear()


@pytest.mark.parametrize("name", values())
def test_a_value_is_shown_compared_copied_and_pickled(name: str) -> None:
    """A copy is equal, has the same hash and the same short repr."""
    value = values()[name]
    shown = repr(value)
    assert " object at 0x" not in shown
    assert len(shown) < 4_000
    for other in (arrived(value), copy.copy(value), copy.deepcopy(value)):
        assert type(other) is type(value)
        assert other == value
        assert value == other
        assert value != object()
        assert repr(other) == shown
        if type(value).__hash__ is not None and not _has_unhashable(value):
            assert hash(other) == hash(value)


def _has_unhashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return True
    return False


def sent(given: dict[str, object]) -> tuple[dict[str, object], list[str]]:
    """Return values as they came, and what they look like here: another process calls it."""
    return given, [repr(each) for each in given.values()]


@pytest.fixture(scope="module")
def other_process() -> Iterator[ProcessPoolExecutor]:
    """Return a process that shares nothing with this one, as on another machine."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        yield pool


def test_values_go_to_another_process_and_back(other_process: ProcessPoolExecutor) -> None:
    """All that is public, and its text."""
    given = values()
    back, shown = other_process.submit(sent, given).result(timeout=300)
    assert back == given
    assert shown == [repr(each) for each in given.values()]


def arrived(value: object) -> object:
    """Return a value as it is after a round trip."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own


def test_a_recurrence_answers_the_same_after_a_round_trip() -> None:
    """Its zone and policy are the same, and its walks are built again."""
    first = Recurrence(CronSpec.from_line("30 2 * * *"), "Europe/Berlin")
    other = arrived(first)
    assert isinstance(other, Recurrence)
    assert list(islice(other.upcoming(NOW), 200)) == list(islice(first.upcoming(NOW), 200))
    assert other.zone == first.zone
    assert {first: 1}[other] == 1
    assert first != Recurrence(first.spec, "Europe/Paris")
    schedule = JobSchedule.from_attributes({"CronMinute": "0"}, zone="Europe/Berlin")
    assert copy.deepcopy(schedule).next(NOW) == schedule.next(NOW)


def test_a_written_schedule_takes_its_calendars_with_it(tmp_path: Path) -> None:
    """The text is read again where it arrives, and the files that it names need not be there."""
    (tmp_path / "x.ics").write_text(CALENDAR, "utf-8")
    text = "every hour except x.ics"
    first = read_schedule(text, zone="UTC", files=Files([str(tmp_path)], base=str(tmp_path)), until=NOW + 86_400)
    (tmp_path / "x.ics").unlink()
    other = arrived(first)
    assert isinstance(other, WrittenSchedule)
    assert list(other.between(NOW, NOW + 99_999)) == list(first.between(NOW, NOW + 99_999))
    assert (other.text, other.words, other.until) == (first.text, first.words, first.until)
    assert other == first
    assert other != read_schedule("every hour", zone="UTC")
    source = Source("# crondor: schedule = 0 0 9 ? * 2-6\n", "a.sub")
    (warning,) = read_schedule(source.span(22), zone="UTC").warnings
    (same,) = copy.deepcopy(read_schedule(source.span(22), zone="UTC")).warnings
    assert same == warning
    assert same.span is not None
    assert same.span.location.startswith("a.sub:1:")


def test_what_was_compiled_is_compiled_again_where_it_arrives() -> None:
    """Expressions, transforms, tables and matchers work after a round trip, also those that were used before."""
    table, ad = load_table(read_config(Source(CONFIG, "condor_config"))), read_ad(AD)
    expected = str(apply_route(table, table.routes[0], ad).ad)
    other = arrived(table)
    assert isinstance(other, RoutingTable)
    assert str(apply_route(other, other.routes[0], ad).ad) == expected
    matcher = Matcher(table)
    assert [each.job for each in matcher.match([("1.0", ad)], RouteState(), Context(now=NOW))] == ["1.0"]
    same = arrived(matcher)
    assert isinstance(same, Matcher)
    assert [each.job for each in same.match([("1.0", ad)], RouteState(), Context(now=NOW))] == ["1.0"]
    rules = Transform.parse(Source("SET X 1\nTRANSFORM 3\n", "rules"))
    assert len(copy.deepcopy(rules).apply(ad).ads) == 3
    assert len(copy.deepcopy(rules.once()).apply(ad).ads) == 1
    assert rules != rules.once()
    expression = Expression("QDate + 1")
    assert expression.evaluate(ad) == 1_796_000_001
    assert copy.deepcopy(expression).evaluate(ad) == 1_796_000_001
    long = Expression(" + ".join(["1"] * 2_000))
    assert arrived(long) == long
    changes = rules.once().apply(ad).changes
    changed = rules.once().apply(ad).ad
    undone = copy.deepcopy(changes).undo(changed)
    assert undone == ad
    point = read_access_point(read_config(Source(CONFIG, "condor_config")))
    point.admit(ad)
    there = arrived(point)
    assert isinstance(there, AccessPoint)
    assert there.admit(ad).after == point.admit(ad).after


def test_equal_texts_make_equal_values() -> None:
    """Read twice, or in two processes; other texts, other names and other zones make others."""
    assert read_submit(Source(SUBMIT, "a.sub"), now=NOW) == read_submit(Source(SUBMIT, "a.sub"), now=NOW)
    assert read_submit(Source(SUBMIT, "a.sub")) != read_submit(Source(SUBMIT, "b.sub"))
    assert Source("a", "b") == Source("a", "b") != Source("a", "c")
    assert len({Source("a", "b"), Source("a", "b"), Source("b", "b")}) == 2
    assert read_config(CONFIG) == read_config(CONFIG)
    assert load_table(read_config(CONFIG)) == load_table(read_config(CONFIG))
    assert Matcher(load_table(read_config(CONFIG))) == Matcher(load_table(read_config(CONFIG)))
    assert Matcher(load_table(read_config(CONFIG))) != Matcher(load_table(read_config(CONFIG)), "alice")
    assert isinstance(read_ad(AD), ClassAd)
    nowhere = read_schedule("every hour", zone="UTC", files=Files(["/srv"], base="/srv"), label="a.sub")
    assert nowhere == read_schedule("every hour", zone="UTC")
    assert nowhere != read_schedule("every hour", zone="Europe/Berlin")


def errors() -> list[Exception]:
    """Return an error of each public class, with what its class says beside the diagnostics."""
    found = Diagnostic("kind", "what is wrong", span=Source("abc", "here").span(1), help="write b")
    spec = InvalidSpec([found], stage="parse", error="no")
    special: dict[type, Exception] = {
        InvalidSpec: spec,
        InvalidSchedule: InvalidSchedule([found], spec),
        MacroError: MacroError("code", "message", "help"),
        PartlyEdited: PartlyEdited(Refused(found), ["A", "B"]),
        UnreadableLines: UnreadableLines([found], read_submit(Source("queue\n"))),
        BadRecord: BadRecord("why", 1, 2, "hint"),
    }
    return [special.get(kind) or kind([found]) for kind in public() if issubclass(kind, Exception)]


@pytest.mark.parametrize("error", errors(), ids=lambda error: type(error).__name__)
def test_an_error_keeps_all_that_it_says(error: Exception) -> None:
    """As it comes out of a future of another process."""
    for other in (arrived(error), copy.copy(error), copy.deepcopy(error)):
        assert type(other) is type(error)
        assert str(other) == str(error)
        if isinstance(error, CrondorError):
            assert isinstance(other, CrondorError)
            assert other.diagnostics == error.diagnostics
        own = {name: repr(value) for name, value in vars(error).items()}
        assert {name: repr(value) for name, value in vars(other).items()} == own


def refused(line: str) -> CronSpec:
    """Read five fields: another process calls it."""
    return CronSpec.from_line(line, dialect=Dialect.HTCONDOR)


def test_an_error_of_another_process_is_the_error(other_process: ProcessPoolExecutor) -> None:
    """Diagnostics, places and what its class adds."""
    with pytest.raises(InvalidSpec) as caught:
        other_process.submit(refused, "0 6 * * MON").result(timeout=300)
    assert caught.value.diagnostics[0].span is not None
    assert caught.value.diagnostics[0].span.text == "MON"
    assert caught.value.stage is not None
