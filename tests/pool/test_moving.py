"""Whether an expression moves is remembered, and found out anew when what it can reach has changed."""

from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import ClassAd, Expression
from crondor.pool.daemons import pool_job
from crondor.pool.daemons.pool_job import CLOCK, VOLATILE, is_moving

NAMES = ("A", "B", "C", "JobStatus", "My", "Cpus")
TEXTS = (
    "1", "undefined", '"text"', "time()", "A + 1", "B", "C > 2", "MY.A", "TARGET.Cpus", "TARGET.A > B",
    "JobStatus == 2",
    "CurrentTime - A", "[A = time()]", "[A = 1].A", "B.A", "B[0]", "{A, B}", "My.C", "eval(B)", "isUndefined(A)",
    "nope(A)", "A.B.C", ".A", "OTHER.B", "ServerTime", "size(A)",
)  # fmt: skip
CHANGES = st.lists(
    st.tuples(st.booleans(), st.sampled_from(NAMES), st.one_of(st.none(), st.sampled_from(TEXTS))), max_size=12
)


@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3), CHANGES, st.sampled_from([CLOCK, VOLATILE | CLOCK]))
def test_the_answer_is_that_without_a_memory(
    texts: list[str], changes: list[tuple[bool, str, str | None]], names: frozenset[str]
) -> None:
    """Whatever changes in both ads between two questions, one name after the other."""
    job, machine = ClassAd(), ClassAd()
    parts = [Expression(text) for text in texts]
    for is_job, name, text in changes:
        ad = job if is_job else machine
        if text is not None:
            ad.put(name, text)
        elif name in ad:
            del ad[name]
        remembered = [is_moving(part, job, machine, names) for part in parts]
        pool_job._MOVING.clear()
        assert remembered == [is_moving(part, job, machine, names) for part in parts]
        assert remembered == [is_moving(part, job, machine, names) for part in parts]


def test_a_new_text_of_a_reached_attribute_counts() -> None:
    """Of the job's, and of the machine's."""
    job, machine = ClassAd.of_texts({"A": "B", "B": "1"}), ClassAd.of_texts({"Load": "2"})
    part = Expression("A > TARGET.Load")
    assert not is_moving(part, job, machine, CLOCK)
    job.set_text("B", "time()")
    assert is_moving(part, job, machine, CLOCK)
    job.set_text("B", "3")
    assert not is_moving(part, job, machine, CLOCK)
    machine.set_text("Load", "time() % 3")
    assert is_moving(part, job, machine, CLOCK)
