"""Laws of the algebra, on random schedules: order, agreement with enumeration, firstness, portable spelling."""

from datetime import datetime, timedelta
from itertools import islice
from typing import NamedTuple
from zoneinfo import ZoneInfo

from hypothesis import assume, event, example, given
from hypothesis import strategies as st

from crondor.algebra import (
    Difference,
    Untranslatable,
    day_zero_clause,
    field_differences,
    first_collision,
    first_difference,
    has_day_zero,
    is_subset,
    portable,
    reread,
    same_meaning,
    translate,
)
from crondor.recurrence import NeverRuns, OutOfRange, Policy, Recurrence
from crondor.spec import DAY_OF_MONTH, DAY_OF_WEEK, FIELDS, HOUR, MINUTE, MONTH, CronSpec, Dialect, Field, InvalidSpec
from tests.engine.random_schedules import SETS, items, texts
from tests.examples import examples

DAY = 86400
ZONES = [
    "Africa/Cairo",
    "America/New_York",
    "America/Santiago",
    "Antarctica/Troll",
    "Asia/Gaza",
    "Asia/Tokyo",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "Pacific/Apia",
]
START = 1_795_132_800  # 2026-11-20
FOLD = 3 * 3600  # none is longer
FIVE_YEARS = 5 * 366 * DAY


# Few times a day, so that years can be enumerated; around the hours in which clocks change.
FEW_MINUTES = st.sampled_from(["0", "30", "0,30", "*/30", "0-30/30", "15", "15,45", "5-59/20"])
FEW_HOURS = st.sampled_from(
    ["0", "1", "2", "3", "0-3", "2,3", "*/12", "*/8", "0,12", "23", "1-3", "*", "*", "*/2", "0-23"]
)


@st.composite
def specs(draw: st.DrawFn, dialect: Dialect | None = None, *, few: bool = False) -> CronSpec:
    """Return a valid schedule; with ``few`` one of few runs a day."""
    times = (FEW_MINUTES, FEW_HOURS) if few else (texts(MINUTE), texts(HOUR))
    days = (st.just("*") | texts(field) for field in FIELDS[2:])
    line = " ".join(draw(text) for text in (*times, *days))
    try:
        return CronSpec.from_line(line, dialect=dialect or draw(st.sampled_from(SETS)))
    except InvalidSpec:
        assume(False)
        raise


RELATED = [
    ["0", "0,30", "*/30", "0-59/30", "*/15", "*/10", "0-59", "*"],
    ["2", "2,3", "1-3", "*/1", "0-23", "*", "*/2", "2-4/2"],
    ["29", "28-31", "1-31", "*", "*/1", "*/2", "1-31/2", "1"],
    ["2", "2,4", "*", "1-12", "*/2", "3"],
    ["1", "1-5", "0-6", "*", "*/2", "0,2,4,6", "*/7", "0"],
]


@st.composite
def related(draw: st.DrawFn) -> CronSpec:
    """Return a schedule of a small family, in which many contain one another."""
    line = " ".join(draw(st.sampled_from(choices)) for choices in RELATED)
    return CronSpec.from_line(line, dialect=draw(st.sampled_from(SETS)))


@st.composite
def variant(draw: st.DrawFn, of: CronSpec) -> CronSpec:
    """Return a schedule that differs from another in no field, one or two, or only in its dialect or spelling."""
    fields = [text or "*" for text in of.given]
    for index in draw(st.sets(st.integers(0, 4), max_size=2)):
        fields[index] = draw(st.sampled_from(RELATED[index]))
    try:
        found = CronSpec.from_line(" ".join(fields), dialect=draw(st.sampled_from([of.dialect, *SETS])))
    except InvalidSpec:
        assume(False)
        raise
    return CronSpec.from_line(str(found), dialect=found.dialect) if draw(st.booleans()) else found


@st.composite
def pairs(draw: st.DrawFn) -> tuple[CronSpec, CronSpec]:
    """Return two schedules of few runs a day, mostly akin."""
    first = draw(specs(few=True))
    return first, draw(variant(first) | specs(few=True))


SOME_ZONE = st.none() | st.sampled_from(ZONES)
POLICIES = st.none() | st.sampled_from(Policy)


def widened(draw: st.DrawFn, schedule: CronSpec) -> CronSpec:
    """Return a schedule that mostly contains another: minutes, hours and months are added, or starred."""
    fields = [text or "*" for text in schedule.given]
    index = draw(st.sampled_from([0, 1, 3]))
    fields[index] = draw(st.sampled_from(["*", fields[index] + "," + RELATED[index][1], fields[index]]))
    return CronSpec.from_line(
        " ".join(fields), dialect=draw(st.sampled_from([schedule.dialect, schedule.dialect, *SETS]))
    )


@st.composite
def chains(draw: st.DrawFn) -> tuple[CronSpec, CronSpec, CronSpec]:
    """Return three schedules, each often a subset of the next."""
    first = draw(related())
    second = widened(draw, first)
    return first, second, widened(draw, second)


# --- Order -----------------------------------------------------------------------------------------------------------


@examples(15)
@given(spec=specs(), zone=SOME_ZONE)
def test_a_schedule_is_its_own_subset(spec: CronSpec, zone: str | None) -> None:
    """Reflexive, and the same meaning as its canonical text."""
    assert is_subset(spec, spec, zone)
    assert same_meaning(spec, CronSpec.from_line(str(spec), dialect=spec.dialect), zone)


@examples(15)
@given(chain=chains(), zone=SOME_ZONE)
def test_subsets_of_subsets_are_subsets(chain: tuple[CronSpec, CronSpec, CronSpec], zone: str | None) -> None:
    """Transitive, with and without clock changes."""
    a, b, c = chain
    if is_subset(a, b, zone) and is_subset(b, c, zone):
        event("a chain")
        assert is_subset(a, c, zone)


@examples(19)
@given(pair=pairs(), zone=SOME_ZONE)
def test_subsets_of_each_other_have_the_same_meaning(pair: tuple[CronSpec, CronSpec], zone: str | None) -> None:
    """Antisymmetric up to the meaning; symmetric in the meaning; and with a zone never more than without."""
    a, b = pair
    same = same_meaning(a, b, zone)
    event(f"same: {same}")
    assert (is_subset(a, b, zone) and is_subset(b, a, zone)) == same
    assert same_meaning(b, a, zone) == same
    if same:
        assert same_meaning(a, b)
    if a == b:
        assert same


@examples(15)
@given(pair=pairs(), zone=SOME_ZONE, start=st.integers(0, 200 * 365 * DAY))
def test_a_subset_s_runs_are_runs(pair: tuple[CronSpec, CronSpec], zone: str | None, start: int) -> None:
    """What is_subset says holds for the instants of three years, clock changes included."""
    a, b = (Recurrence(spec, zone or "UTC") for spec in pair)
    if a.wall_clock.never or not is_subset(*pair, zone):
        return
    event("a subset")
    assert set(a.between(start, start + 3 * 366 * DAY)) <= set(b.between(start, start + 3 * 366 * DAY))


# --- Agreement with enumeration --------------------------------------------------------------------------------------


@examples(15)
@given(pair=pairs(), zone=SOME_ZONE, start=st.integers(0, 220 * 365 * DAY))
def test_same_meaning_agrees_with_five_years(pair: tuple[CronSpec, CronSpec], zone: str | None, start: int) -> None:
    """Same: five years are equal, and there is no first difference. Not the same: there is one, and nothing before."""
    a, b = (Recurrence(spec, zone or "UTC") for spec in pair)
    same = same_meaning(*pair, zone)
    event(f"same: {same}")
    if a.wall_clock.never or b.wall_clock.never:
        assert same == (a.wall_clock.never and b.wall_clock.never)
        return
    five = [list(r.between(start, start + FIVE_YEARS)) for r in (a, b)]
    if five[0] != five[1]:
        assert not same
    found = first_difference(a, b, 0)
    assert (found is None) == same
    if found is None:
        assert five[0] == five[1]
    else:
        assert a.matches(found.instant) != b.matches(found.instant)


@st.composite
def comparisons(draw: st.DrawFn) -> tuple[Recurrence, Recurrence, int]:
    """Return two recurrences in one zone under any policies, and a start that is often near a clock change."""
    zone = ZoneInfo(draw(st.sampled_from(ZONES)))
    a, b = (Recurrence(spec, zone, draw(POLICIES)) for spec in draw(pairs()))
    start = draw(st.integers(366 * DAY, 200 * 365 * DAY))
    return a, b, (change_after(zone, start) or start) + draw(st.integers(-2 * DAY, DAY))


def change_after(zone: ZoneInfo, epoch: int) -> int | None:
    """Return a day of a change of offset in the year after an instant."""

    def offset(at: int) -> timedelta | None:
        return datetime.fromtimestamp(at, zone).utcoffset()

    days = range(epoch, epoch + 366 * DAY, DAY)
    return next((day for day in days if offset(day) != offset(day + DAY)), None)


def enumerated(recurrence: Recurrence, start: int, end: int) -> list[int]:
    """Return the runs of an interval, none for a schedule that never runs."""
    return [] if recurrence.wall_clock.never else list(recurrence.between(start, end))


@examples(15)
@given(asked=comparisons(), length=st.sampled_from([2 * DAY, 90 * DAY, 900 * DAY]))
def test_the_first_difference_is_the_first(asked: tuple[Recurrence, Recurrence, int], length: int) -> None:
    """Within an interval it is what two enumerations show, before the interval's end and at it."""
    a, b, start = asked
    end = start + length
    if a.wall_clock.never or b.wall_clock.never:
        return
    ours, theirs = enumerated(a, start, end), enumerated(b, start, end)
    alone = sorted(set(ours) ^ set(theirs))
    found = first_difference(a, b, start, end)
    if not alone:
        assert found is None
        return
    event("a difference")
    assert found is not None
    assert found.instant == alone[0]
    assert found == Difference(*(next((run for run in runs if run >= alone[0]), None) for runs in (ours, theirs)))
    assert first_difference(b, a, start, end) == (found.second, found.first)
    assert first_difference(a, b, start, alone[0] - 1) is None
    assert first_difference(a, b, start, alone[0]) is not None


@examples(15)
@given(asked=comparisons(), length=st.sampled_from([2 * DAY, 90 * DAY, 900 * DAY]))
def test_the_first_collision_is_the_first(asked: tuple[Recurrence, Recurrence, int], length: int) -> None:
    """Within an interval it is the first common run of two enumerations."""
    a, b, start = asked
    end = start + length
    both = sorted(set(enumerated(a, start, end)) & set(enumerated(b, start, end)))
    found = first_collision(a, b, start, end)
    assert found == (both[0] if both else None)
    assert first_collision(b, a, start, end) == found
    if found is not None:
        event("a collision")
        assert first_collision(a, b, start, found - 1) is None
        assert first_collision(a, b, found - 1, found) == found


@examples(10)
@given(pair=pairs(), zones=st.tuples(st.sampled_from(ZONES), st.sampled_from(ZONES)), start=st.integers(0, 4 * 10**9))
def test_two_zones(pair: tuple[CronSpec, CronSpec], zones: tuple[str, str], start: int) -> None:
    """In different zones both are what the enumerations of a year say."""
    a, b = (Recurrence(spec, zone) for spec, zone in zip(pair, zones, strict=True))
    end = start + 366 * DAY
    ours, theirs = set(enumerated(a, start, end)), set(enumerated(b, start, end))
    assert first_collision(a, b, start, end) == min(ours & theirs, default=None)
    if not (a.wall_clock.never or b.wall_clock.never):
        found = first_difference(a, b, start, end)
        assert (None if found is None else found.instant) == min(ours ^ theirs, default=None)


@examples(15)
@given(spec=specs(Dialect.MANUAL, few=True), zone=st.sampled_from(["UTC", *ZONES]), start=st.integers(0, 4 * 10**9))
@example(spec=CronSpec.from_line("0 6 * * 1"), zone="UTC", start=START)
def test_the_chains_of_two_readings(spec: CronSpec, zone: str, start: int) -> None:
    """MANUAL and HTCONDOR readings of one text part where two chains of answers do, walked by hand."""
    try:
        schedd = Recurrence(reread(spec, Dialect.HTCONDOR), zone)
        manual = Recurrence(spec, zone)
        answers = [list(islice(r.upcoming(start), 400)) for r in (manual, schedd)]
    except (InvalidSpec, NeverRuns):
        assume(False)
        raise
    expected = next((Difference(*two) for two in zip(*answers, strict=False) if two[0] != two[1]), None)
    end = min(answers[0][-1], answers[1][-1])
    if expected is None:
        assert first_difference(manual, schedd, start, end) is None
        return
    event("a difference")
    found = first_difference(manual, schedd, start, max(time for time in expected if time is not None))
    assert found == expected
    assert first_difference(schedd, manual, start, max(expected[0] or 0, expected[1] or 0)) == expected[::-1]
    assert first_difference(manual, schedd, start, expected.instant - 1) is None


# --- Portable spelling and translation -------------------------------------------------------------------------------


@st.composite
def portables(draw: st.DrawFn, *, few: bool = False) -> tuple[CronSpec, CronSpec]:
    """Return a schedule and its portable spelling; a UNIX schedule that has none is drawn again."""
    spec = draw(specs(few=few))
    try:
        return spec, portable(spec)
    except Untranslatable:
        # Only the AND of two day fields cannot be said.
        assert spec.dialect is Dialect.UNIX
        assert spec.stars[DAY_OF_MONTH.index] or spec.stars[DAY_OF_WEEK.index]
        assert spec.bits[DAY_OF_MONTH.index] != DAY_OF_MONTH.full
        assert spec.bits[DAY_OF_WEEK.index] != DAY_OF_WEEK.full
        assume(False)
        raise


@examples(19)
@given(drawn=portables())
@example(drawn=(CronSpec.from_line("0 6 1-31 * 0-6"), portable(CronSpec.from_line("0 6 1-31 * 0-6"))))
def test_a_portable_spelling_means_the_same_in_every_dialect(drawn: tuple[CronSpec, CronSpec]) -> None:
    """It keeps the instants, leaves no field that differs, and UNIX and the schedd read what MANUAL reads."""
    spec, found = drawn
    assert found.dialect is Dialect.MANUAL
    assert same_meaning(found, spec)
    assert field_differences(found) == []
    assert same_meaning(reread(found, Dialect.UNIX), spec)
    schedd = reread(found, Dialect.HTCONDOR)
    assert schedd.bits[MINUTE.index] == found.bits[MINUTE.index]
    assert [schedd.bits[f.index] for f in (HOUR, MONTH)] == [found.bits[f.index] for f in (HOUR, MONTH)]
    assert has_day_zero(schedd) == has_day_zero(found)
    if not has_day_zero(found):
        assert same_meaning(translate(schedd, Dialect.MANUAL), spec)
    again = portable(found)
    assert again.given == found.given
    assert same_meaning(again, spec)


@examples(15)
@given(drawn=portables(few=True), zone=st.sampled_from(["UTC", *ZONES]), start=st.integers(366 * DAY, 2 * 10**9))
@example(drawn=(CronSpec.from_line("0 6 * * 1"), CronSpec.from_line("0 6 * * 1")), zone="UTC", start=START)
@example(drawn=(CronSpec.from_line("30 * * * *"), CronSpec.from_line("30 * * * *")), zone="Europe/Berlin", start=START)
def test_after_it_only_day_zero_and_clock_changes_differ(
    drawn: tuple[CronSpec, CronSpec], zone: str, start: int
) -> None:
    """MANUAL and the schedd part on a portable text only where day 0 strikes, or beside a clock change."""
    _, found = drawn
    info = ZoneInfo(zone)
    try:
        manual, schedd = Recurrence(found, info), Recurrence(reread(found, Dialect.HTCONDOR), info)
        manual.next(start)
    except NeverRuns:
        assume(False)
        raise
    end = start + 500 * DAY
    while (difference := first_difference(manual, schedd, start, end)) is not None:
        if has_day_zero(found) and ends_a_month(difference, info):
            event("day 0")
            return
        # In the first pass of a fold the change is still to come, and the schedd may take the second pass instead.
        changed = offset_changes(info, difference.instant - DAY, difference.instant + FOLD)
        assert changed, (found, difference)
        event("clock change")
        start = difference.instant + DAY


def ends_a_month(difference: Difference, zone: ZoneInfo) -> bool:
    """Say whether the schedd's answer lies on the last day of a month, or is a retry that left it by two minutes."""
    if difference.second is None:
        return False
    moment = datetime.fromtimestamp(difference.second - 120, zone)
    return (moment + timedelta(days=1)).day == 1 or (moment + timedelta(days=1, minutes=2)).day == 1


def offset_changes(zone: ZoneInfo, start: int, end: int) -> bool:
    """Say whether the clocks change in an interval of a day or so."""
    return datetime.fromtimestamp(start, zone).utcoffset() != datetime.fromtimestamp(end, zone).utcoffset()


@examples(15)
@given(spec=specs(), start=st.integers(0, 4 * 10**9))
def test_translation_there_and_back(spec: CronSpec, start: int) -> None:
    """MANUAL to UNIX and back keep the wall clock, and so does what a schedd can be told."""
    assert translate(spec, spec.dialect) is spec
    for dialect in Dialect:
        found = translated(spec, dialect)
        if found is None:
            continue
        assert found.dialect is dialect
        back = translate(found, spec.dialect)
        assert same_meaning(back, spec)
        if dialect is Dialect.HTCONDOR and not Recurrence(spec).wall_clock.never:
            expected = list(islice(Recurrence(spec).upcoming(start), 100))
            assert list(islice(Recurrence(found).upcoming(start), 100)) == expected


def translated(spec: CronSpec, dialect: Dialect) -> CronSpec | None:
    """Return the translation, None where it is refused for day 0 or the AND of two day fields."""
    try:
        return translate(spec, dialect)
    except Untranslatable as error:
        (found,) = error.diagnostics
        if found.kind == "untranslatable":
            refusable = spec.dialect is Dialect.UNIX and any(spec.stars[2::2])
        else:
            refusable = dialect is Dialect.HTCONDOR and has_day_zero(portable(spec))
        if not (found.help and refusable):
            raise
        return None


class ScheddText(NamedTuple):
    """Five texts of what the schedd lets pass."""

    minute: str
    hour: str
    day_of_month: str
    month: str
    day_of_week: str


def schedd_texts(field: Field) -> st.SearchStrategy[str]:
    """Return a text for the schedd, out of range, reversed and empty items among them."""
    odd = st.sampled_from(["99", "5-99", "10-5", "*", "**", "1.5", "", "*/2", "/3", "0", "6/3", "1-2-3"])
    return st.lists(items(field) | odd, min_size=1, max_size=2).map(",".join)


@examples(15)
@given(
    line=st.builds(ScheddText, *(st.just("*") | schedd_texts(field) for field in FIELDS)),
    start=st.integers(0, 4 * 10**9),
)
def test_what_the_schedd_reads_can_be_said(line: ScheddText, start: int) -> None:
    """In UTC the schedd's chain is the translation, unless day 0 strikes."""
    try:
        spec = CronSpec(**line._asdict(), dialect=Dialect.HTCONDOR)
    except InvalidSpec:
        assume(False)
        raise
    if has_day_zero(spec):
        event("day 0")
        return
    for dialect in SETS:
        found = translate(spec, dialect)
        try:
            chain = list(islice(Recurrence(spec).upcoming(start), 60))
        except NeverRuns:
            assert Recurrence(found).wall_clock.never
            return
        assert list(islice(Recurrence(found).upcoming(start), 60)) == chain


@examples(10)
@given(spec=specs(Dialect.MANUAL), start=st.integers(0, 4 * 10**9))
def test_a_day_zero_clause_names_the_moments_of_the_schedule(spec: CronSpec, start: int) -> None:
    """Of any schedule of weekdays each run passes its clause: it is judged term by term."""
    fields = [text or "*" for text in spec.given]
    spec = CronSpec.from_line(" ".join((*fields[:2], "*", *fields[3:])))
    clause = day_zero_clause(spec)
    runs: list[int] = []
    try:
        runs = list(islice(Recurrence(spec).upcoming(start), 30))
    except OutOfRange:
        assume(False)
    terms = clause.split(" && ")
    assert all(
        term.startswith(("formatTime(DeferralTime, ", "stringListMember(formatTime(DeferralTime, ")) for term in terms
    )
    for run in runs:
        moment = datetime.fromtimestamp(run, ZoneInfo("UTC"))
        for term in terms:
            form = term.split('"')[1]
            assert moment.strftime(form) in term.split('"')[3].split(",")
