"""Schedules compared beside clock changes, against what the clock shows at every minute."""

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from crondor.algebra import Difference, first_collision, first_difference, is_subset, same_meaning
from crondor.audit import clock_changes
from crondor.recurrence import Policy, Recurrence
from crondor.spec import CronSpec, Dialect
from tests.engine.clock_oracle import DAY, ZONES, Change, changes, fires_on, minutes, runs
from tests.engine.random_schedules import SETS, near_days, sparse
from tests.examples import examples


class Pair(NamedTuple):
    """Two schedules in one zone, asked from ``low`` on (epoch seconds), some time about one of its changes."""

    specs: tuple[CronSpec, CronSpec]
    policies: tuple[Policy, Policy]
    zone: str
    change: Change
    low: int

    @property
    def recurrences(self) -> tuple[Recurrence, Recurrence]:
        """Both under their policies."""
        first, second = (Recurrence(s, self.zone, p) for s, p in zip(self.specs, self.policies, strict=True))
        return first, second

    @property
    def expected(self) -> tuple[list[int], list[int]]:
        """The runs of both from ``low`` to two days after the change, by looking at the clock."""
        span = self.change.instant - 2 * DAY, self.change.instant + 2 * DAY
        first, second = (runs(s, self.zone, p, *span) for s, p in zip(self.specs, self.policies, strict=True))
        return [run for run in first if run > self.low], [run for run in second if run > self.low]


@st.composite
def pairs(draw: st.DrawFn) -> Pair:
    """Return two schedules of a change's days, often one and the same text in two dialects or under two policies."""
    zone = draw(st.sampled_from([zone for zone in ZONES if changes(zone)]))
    change = draw(st.sampled_from(changes(zone)))
    a = draw(sparse(change) | near_days(change))
    line = " ".join(text or "*" for text in a.given)
    akin = st.sampled_from(SETS).map(lambda dialect: CronSpec.from_line(line, dialect=dialect))
    b = draw(st.one_of(akin, sparse(change), near_days(change)))
    policies = draw(st.tuples(st.sampled_from(Policy), st.sampled_from(Policy)))
    low = change.instant + draw(st.integers(-48, 8)) * 3600 + draw(st.sampled_from([0, -1, 1, 1800]))
    return Pair((a, b), policies, zone, change, max(0, low))


@examples(25)
@given(pair=pairs())
def test_the_first_difference_beside_a_change_is_the_first(pair: Pair) -> None:
    """Asked within two days of a change it is the first instant that one of the two clocks' lists has alone."""
    a, b = pair.recurrences
    high = pair.change.instant + 2 * DAY
    ours, theirs = pair.expected
    alone = min(set(ours) ^ set(theirs), default=None)
    if a.wall_clock.never or b.wall_clock.never:
        return
    found = first_difference(a, b, pair.low, high)
    if alone is None:
        assert found is None
    else:
        assert found == Difference(*(next((run for run in some if run >= alone), None) for some in (ours, theirs)))


@examples(25)
@given(pair=pairs())
def test_the_first_collision_beside_a_change_is_the_first(pair: Pair) -> None:
    """Asked within two days of a change it is the first instant that both lists have."""
    a, b = pair.recurrences
    ours, theirs = pair.expected
    both = min(set(ours) & set(theirs), default=None)
    assert first_collision(a, b, pair.low, pair.change.instant + 2 * DAY) == both


@examples(15)
@given(pair=pairs())
def test_a_subset_is_one_beside_every_change(pair: Pair) -> None:
    """What is a part of another, or means the same, is that about each change, under the policies of the dialects."""
    policies = [Policy.DEBIAN if spec.dialect is Dialect.UNIX else Policy.COMPATIBLE for spec in pair.specs]
    first, second = (set(some) for some in pair._replace(policies=(policies[0], policies[1]), low=0).expected)
    if is_subset(*pair.specs, pair.zone):
        assert first <= second
    if same_meaning(*pair.specs, pair.zone):
        assert first == second


@examples(15)
@given(pair=pairs())
def test_the_audit_of_a_change_shows_what_runs_there(pair: Pair) -> None:
    """A change is named where a skipped or repeated time is one of the schedule's, with each policy's runs in it."""
    spec, change = pair.specs[0], pair.change
    low, high = change.touched
    length = (high - low).total_seconds()
    touched = any(low <= m.wall < high and fires_on(spec, m.wall) for m in minutes(pair.zone, *[change.instant] * 2))
    found = list(clock_changes(spec, pair.zone, change.instant - 1, change.instant))
    assert bool(found) == touched
    for audited in found:
        assert (audited.instant, audited.seconds) == (change.instant, (change.new - change.old).total_seconds())
        assert (audited.low, audited.high) == (low, high)
        for policy in Policy:
            around = runs(spec, pair.zone, policy, change.instant - 2 * DAY, change.instant + 2 * DAY)
            start = change.instant - (0 if change.is_gap else length)
            end = change.instant + length
            expected = [run for run in around if start <= run < end or (change.is_gap and run == end)]
            assert list(audited.policies[policy]) == expected
