"""A log that is read for scheduled jobs alone tells of them what the whole log does, however it grows."""

from collections.abc import Hashable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.job_queue import JobId
from crondor.monitor.queue_watch import job_filter, texts_of
from crondor.schedd.protocol import Selection
from crondor.schedd.reading import QueueLogSchedd, job_id
from tests.monitor.made import SIX

keys = st.sampled_from(["01.-1", "1.0", "1.1", "02.-1", "2.0", "03.-1", "3.0"])
values = st.sampled_from(
    [
        *("CronMinute 5", 'CronHour "3"', "cronminute Mine + 1", "DeferralTime 1795586400", "DeferralWindow Mine"),
        *("Mine 7", "JobStatus 2", 'Owner "alice"', "QDate 1795000000", 'Other "x"', "JobStatus 1", "Bad {"),
    ]
)
records = st.one_of(
    st.builds("101 {} Job Machine\n".format, keys),
    st.builds("103 {} {}\n".format, keys, values),
    st.builds("103 {} {}\n".format, keys, values),
    st.builds("104 {} {}\n".format, keys, st.sampled_from(["CronMinute", "Mine", "JobStatus", "Other"])),
    st.builds("102 {}\n".format, keys),
)
HEADER = "107 1 CreationTimestamp 1700000000\n"
whole = st.lists(records, max_size=12).map(lambda each: "".join(["105 \n", *each, "106 \n"]))
pieces = st.one_of(records, whole, st.sampled_from(["105 \n", "106 \n", HEADER, "\n", "105 \n103 1.0"]))
steps = st.lists(pieces, max_size=14)


@given(steps=steps)
def test_the_jobs_are_the_same(tmp_path_factory: pytest.TempPathFactory, steps: list[str]) -> None:
    """After each step, and where a compaction has written the log anew; and where only changed ads are told."""
    path = tmp_path_factory.mktemp("log") / "job_queue.log"
    path.write_text(HEADER, encoding="utf-8")
    every = QueueLogSchedd(path, clock=lambda: SIX)
    some, again = (QueueLogSchedd(path, clock=lambda: SIX, only=job_filter()) for _ in range(2))
    texts: dict[JobId, Hashable] = {}
    for step in steps:
        if step == HEADER:
            path.unlink()
        with path.open("a", encoding="utf-8") as file:
            file.write(step)
        wanted = {job_id(ad): texts_of(ad) for ad in every.scheduled().ads}
        answer, changed = some.unread(Selection()), again.unread(Selection(), anew=False)
        texts = {ad.job: texts[ad.job] if ad.text is None else ad.text for ad in changed}
        assert texts == {ad.job: ad.text for ad in answer}
        found = {ad.job: read for ad in answer if (read := ad.read()) is not None}
        assert {job: texts_of(ad) for job, ad in found.items()} == wanted
        whole = {job: every.jobs(job)[0] for job in found}
        refers = [job for job in found if "mine" in str(texts_of(whole[job])).lower()]
        assert [whole[job].get("Mine") for job in refers] == [found[job].get("Mine") for job in refers]
