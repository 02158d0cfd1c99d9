"""The live adapter: a worker that hangs, crashes or finds no pool, and reasons as the bindings take them."""

import json
import os
from collections.abc import Iterator

import pytest

from crondor.classad import ClassAdSyntaxError, Expression, print_string
from crondor.classad.ad import ClassAd
from crondor.schedd.live import LiveSchedd
from crondor.schedd.protocol import SUBMITTING, Hold, NotOffered, ScheddError, Selection, Unreachable
from crondor.schedd.reading import job_id
from tests.schedd.conftest import PATIENCE, StandIn

SHORT = 0.3  # seconds; what is waited for with it never comes


@pytest.fixture
def live(stand_in: StandIn) -> Iterator[LiveSchedd]:
    """A live schedd with the stand-in behind it."""
    with LiveSchedd(timeout=PATIENCE, environment=stand_in.environment) as schedd:
        yield schedd


def code(error: pytest.ExceptionInfo[ScheddError]) -> str:
    """Return the code of an error's only diagnostic."""
    (found,) = error.value.diagnostics
    return found.kind


def test_a_question_is_repeated_when_the_worker_crashes(live: LiveSchedd, stand_in: StandIn) -> None:
    """Once, by a new worker; a second crash is said."""
    job = stand_in.add(ClassAd({"Owner": "alice"}))
    stand_in.fail(("query", "crash"))
    assert len(live.jobs(job)) == 1
    stand_in.fail(("query", "crash"), ("query", "crash"))
    with pytest.raises(Unreachable) as error:
        live.jobs(job)
    assert code(error) == "schedd-crashed"
    assert "SIGABRT" in error.value.diagnostics[0].message


def test_what_writes_is_never_repeated(live: LiveSchedd, stand_in: StandIn) -> None:
    """Where its answer is lost the error says that it may have been done."""
    job = stand_in.add(ClassAd({"Owner": "alice"}))
    stand_in.fail(("edit", "crash"))
    with pytest.raises(Unreachable) as error:
        live.edit_if(job, "true", {"JobPrio": 1})
    assert "may have been done" in error.value.diagnostics[0].message
    assert stand_in.read()["calls"].count("edit") == 1


def test_a_call_that_holds_the_interpreter_ends_in_time(stand_in: StandIn) -> None:
    """In the worker, which is ended; ours goes on."""
    stand_in.fail(("query", "hang"))
    with LiveSchedd(timeout=SHORT, retries=0, environment=stand_in.environment) as schedd:
        with pytest.raises(Unreachable) as error:
            schedd.jobs()
        assert code(error) == "schedd-timeout"


def test_no_pool_is_said_clearly(live: LiveSchedd, stand_in: StandIn) -> None:
    """With what to look at; a schedd that has come since is found."""
    stand_in.path.rename(stand_in.path.with_suffix(".away"))
    with pytest.raises(Unreachable) as error:
        live.jobs()
    assert code(error) == "schedd-unreachable"
    assert "CONDOR_CONFIG" in (error.value.diagnostics[0].help or "")
    stand_in.path.with_suffix(".away").rename(stand_in.path)
    assert live.jobs() == []


def test_missing_bindings_are_said_clearly(stand_in: StandIn) -> None:
    """With what to install. A module that cannot be imported stands in for one that is not there."""
    folder = stand_in.path.parent / "broken"
    folder.mkdir()
    (folder / "htcondor2.py").write_text("raise ImportError('No module named htcondor2')\n")
    with (
        LiveSchedd(timeout=PATIENCE, environment={"PYTHONPATH": str(folder)}) as schedd,
        pytest.raises(Unreachable) as e,
    ):
        schedd.jobs()
    assert code(e) == "schedd-bindings"
    assert ".[htcondor]" in (e.value.diagnostics[0].help or "")


def test_the_real_bindings_without_a_pool() -> None:
    """The bindings themselves, where there is no configuration: an error of ours, and no hang."""
    with LiveSchedd(timeout=PATIENCE, environment={"CONDOR_CONFIG": os.devnull}) as schedd:
        with pytest.raises(Unreachable) as error:
            schedd.jobs()
        assert code(error) in {"schedd-unreachable", "schedd-bindings"}


def test_a_reason_is_a_pair(live: LiveSchedd, stand_in: StandIn) -> None:
    """A plain text would be dropped by the bindings without a word."""
    job = stand_in.add(ClassAd({"JobStatus": 1}))
    live.hold(job, Hold("because", 7))
    held = stand_in.read()["jobs"][str(job)]
    assert (held["HoldReason"], held["HoldReasonSubCode"]) == ('"because (by user alice)"', "7")


def texts(ad: ClassAd) -> dict[str, str]:
    """Return an ad's expressions by name, as the stand-in keeps them."""
    return {name: ad.text(name) for name in ad}


def test_a_submitted_job_is_its_ad(live: LiveSchedd, stand_in: StandIn) -> None:
    """Whatever submit would add is undefined: the starter prefers its Arguments to the job's Args."""
    ad = ClassAd({"Cmd": "/bin/date", "Args": "a b", "Env": "A=1", "JobUniverse": 12, "In": "in", "TransferIn": False})
    ad["Requirements"] = Expression("TARGET.Disk > 1")
    (job,) = live.submit([ad])
    made = stand_in.read()["jobs"][str(job)]
    assert texts(ad).items() <= made.items()
    assert (made["Arguments"], made["Environment"], made["TransferOut"]) == ("undefined",) * 3
    assert (made["JobStatus"], made["Owner"]) == ("1", '"alice"')
    assert stand_in.read()["calls"] == ["submit"]
    (held,) = live.submit([ClassAd({"Cmd": "/bin/date", "JobStatus": 5})])
    assert stand_in.read()["jobs"][str(held)]["JobStatus"] == "5"


@pytest.mark.parametrize(
    "text",
    [
        "C:\\dir\\new", "end\\", 'a "b"', "$(HOME) $ENV(HOME) $$(OpSys) $$$(x) $INT(x,%d) a$b $", "\ttab", "é\x01",
    ],
)  # fmt: skip
def test_a_text_arrives_as_it_is(live: LiveSchedd, stand_in: StandIn, text: str) -> None:
    """HTCondor reads old syntax, where a backslash stands for itself, and submit would expand macros."""
    (job,) = live.submit([ClassAd({"Cmd": "/bin/date", "Note": text})])
    (ad,) = live.jobs(f"Note == {print_string(text)}")
    assert (job_id(ad), ad.python("Note")) == (job, text)
    assert live.edit_if(job, "true", {"Other": text})
    (ad,) = live.jobs("Other == Note")
    assert ad.python("Other") == text
    assert stand_in.read()["calls"].count("edit") == 1


def test_what_old_syntax_cannot_hold_is_refused(live: LiveSchedd, stand_in: StandIn) -> None:
    """A schedd would set such an attribute to undefined, without a word."""
    job = stand_in.add(ClassAd({"Cmd": "/bin/date"}))
    for value in (["end\\", "x"], "two\nlines", Expression('{ "a\\\\", 1 }')):
        with pytest.raises(ClassAdSyntaxError):
            live.edit_if(job, "true", {"Note": value})
        with pytest.raises(ClassAdSyntaxError):
            live.submit([ClassAd({"Cmd": "/bin/date", "Note": value})])
    with pytest.raises(ClassAdSyntaxError):
        live.jobs('(Cmd == "a\\\\") && true')
    with pytest.raises(ClassAdSyntaxError):
        live.hold(Selection(jobs=(job,), constraint=Expression('Cmd == "a\\\\"')), Hold("x"))
    assert stand_in.read()["calls"] == []


def test_what_the_bindings_change_all_the_same_is_set_right(live: LiveSchedd, stand_in: StandIn) -> None:
    """The job is on hold meanwhile, also where that ends halfway; what they add is known from then on."""
    ad = ClassAd({"Cmd": "/bin/date", "Requirements": Expression("TARGET.Disk > 1")})
    stand_in.write({**stand_in.read(), "adds": {"Requirements": "TARGET.Disk > 1 && true", "Site": '"here"'}})
    stand_in.fail(("edit", "permission denied"))
    with pytest.raises(ScheddError):
        live.submit([ad])
    (left,) = stand_in.read()["jobs"].values()
    assert left["JobStatus"] == "5"
    assert json.loads(left["HoldReason"]).startswith(SUBMITTING)
    (job,) = live.submit([ad])
    made = stand_in.read()["jobs"][str(job)]
    assert (made["JobStatus"], made["Requirements"], made["Site"]) == ("1", "TARGET.Disk > 1", "undefined")
    stand_in.write({**stand_in.read(), "adds": {}, "calls": []})
    (job,) = live.submit([ad])
    assert stand_in.read()["jobs"][str(job)]["Site"] == "undefined"
    assert stand_in.read()["calls"] == ["submit"]


def test_an_ad_cannot_bring_commands_along(live: LiveSchedd, stand_in: StandIn) -> None:
    """A line end in a value would begin another command; a job without a program is none."""
    with pytest.raises(ClassAdSyntaxError):
        live.submit([ClassAd({"Cmd": "/bin/date\nexecutable = /bin/sh"})])
    with pytest.raises(NotOffered):
        live.submit([ClassAd({"Owner": "alice"})])
    assert stand_in.read()["jobs"] == {}


def test_many_jobs_come_in_portions(live: LiveSchedd, stand_in: StandIn) -> None:
    """More than one line of the worker's answer holds."""
    state = stand_in.read()
    state["jobs"] = {f"{n}.0": {"ClusterId": str(n), "ProcId": "0", "Note": '"x"'} for n in range(1, 351)}
    stand_in.write(state)
    assert [ad.python("ClusterId") for ad in live.jobs()] == list(range(1, 351))


def test_a_line_that_cannot_be_read_is_said(live: LiveSchedd, stand_in: StandIn) -> None:
    """One bad line hides neither the rest of its ad nor the other jobs."""
    bad = stand_in.add(ClassAd({"Note": "two\nlines", "Owner": "bob"}))
    good = stand_in.add(ClassAd({"Owner": "alice"}))
    ads = live.jobs()
    assert [ad.python("ClusterId") for ad in ads] == [bad.cluster, good.cluster]
    assert [ad.python("Owner") for ad in ads] == ["bob", "alice"]
    assert live.diagnostics
    live.jobs(good)
    assert not live.diagnostics
