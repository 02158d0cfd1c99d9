"""Where a job is at home: its folder, names of files relative to it, and what one job leaves to the next."""

import pytest

from crondor.classad.ad import ClassAd
from crondor.diagnostics import Source
from crondor.submit import InvalidSubmit, SubmitFile, SubmitHost, job_ads, read_submit

HERE = SubmitHost(folder="/home/alice")
NOWHERE = SubmitHost()


def read(text: str, host: SubmitHost = HERE, environ: dict[str, str] | None = None) -> SubmitFile:
    """Read a description whose jobs have a program."""
    return read_submit(Source(f"executable = run\n{text}", "job.sub"), host=host, environ=environ)


def ads(text: str, host: SubmitHost = HERE) -> list[ClassAd]:
    """Return the ads of a description in order."""
    return [each.ad for each in job_ads(read(text, host), in_order=True)]


def texts(ad: ClassAd, *names: str) -> list[object]:
    """Return the values of some attributes, None for one that is not set."""
    return [ad.value(name) if name in ad else None for name in names]


@pytest.mark.parametrize(
    ("lines", "folder", "log"),
    [
        ("", "/home/alice", "/home/alice/x.log"),
        ("initialdir = a\n", "/home/alice/a", "/home/alice/a/x.log"),
        ("Initial_Dir = //a//b/\n", "/a/b/", "/a/b/x.log"),
        ("iwd = /a\ninitialdir =\n", "/home/alice", "/home/alice/x.log"),
    ],
)
def test_a_log_is_in_the_folder_of_its_job(lines: str, folder: str, log: str) -> None:
    """The program is not: it is looked for where condor_submit is started."""
    (ad,) = ads(f"{lines}log = x.log\nqueue\n")
    assert texts(ad, "Iwd", "UserLog", "Cmd", "JobSubmitFile") == [folder, log, "/home/alice/run", "job.sub"]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("", [None, "x.log", "run"]),
        ("initialdir = a\n", [None, "x.log", "run"]),
        ("initialdir = /a\n", ["/a", "/a/x.log", "run"]),
    ],
)
def test_names_stay_relative_to_a_folder_that_is_not_known(lines: str, expected: list[str | None]) -> None:
    """What condor_submit would put before them is not guessed."""
    (ad,) = ads(f"{lines}log = x.log\nqueue\n", NOWHERE)
    assert texts(ad, "Iwd", "UserLog", "Cmd") == expected


def test_each_job_has_its_folder() -> None:
    """$Ff() follows the job, and has no folder before there is any."""
    made = ads("initialdir = d$(Process)\nlog = x\narguments = $Ff(y)\nqueue 2\n")
    assert [texts(ad, "UserLog", "Args") for ad in made] == [
        [f"/home/alice/d{process}/x", f"/home/alice/d{process}/y"] for process in range(2)
    ]
    queues = read("queue a in ($Ff(x))\nqueue a in ($Ff(x))\n").queues
    assert [[item.text for item in queue.arguments.items or ()] for queue in queues] == [["x"], ["/home/alice/x"]]


@pytest.mark.parametrize(("universe", "node"), [("parallel", "#pArAlLeLnOdE#"), ("8", "#MpInOdE#"), ("vanilla", "")])
def test_a_node_is_known_at_its_start_only(universe: str, node: str) -> None:
    """$(Node) stays a mark in the universes that have nodes, from the first job on."""
    begin = f"universe = {universe}\nmachine_count = 2\n"
    made = ads(f"{begin}queue x in (a$(Node))\noutput = o$(Node)$(x)\nqueue x in ($(Node)b)\n")
    assert texts(made[1], "Out") == [f"o{node}{node}b"]


def test_a_factory_has_one_ad() -> None:
    """condor_submit -factory has the jobs made late, whatever the file says, and nothing after its queue statement."""
    (made,) = job_ads(read("arguments = $(Process)\nqueue 5\n# a comment\n"), factory=True)
    assert made.jobs.count == 5
    assert texts(made.ad, "Args", "ProcId", "JobStatus", "ClusterId") == ["0", None, None, 1]
    with pytest.raises(InvalidSubmit, match="Extra data found after queue statement") as caught:
        list(job_ads(read("queue 5\nlog = x\n"), factory=True))
    assert [str(each.span and each.span.location) for each in caught.value.diagnostics] == ["job.sub:3:1"]


@pytest.mark.parametrize(
    ("arguments", "jobs"),
    [
        ("$ENV(NOPE)", None),
        ("2 * $ENV(NOPE)", None),
        ("$(empty)", None),
        ("$ENV(NOPE:3)", 3),
        ("$ENV(TWO)", 2),
        ("$ENV(TWO:3)", 2),
        ("$ENV(NOPE) x in (a b)", 2),  # UNDEFINED is taken for a variable
        ("x in ($ENV(NOPE))", 1),
        ("$(undefined)", 1),
        ("$(undefined:4)", 4),
        ("$(undefined) x in (a b)", 2),
    ],
)
def test_what_is_not_defined_counts_in_a_queue_statement(arguments: str, jobs: int | None) -> None:
    """A variable that the environment lacks is the word UNDEFINED, which is not a number; a macro is nothing."""
    text = f"empty = $ENV(NOPE)\nqueue {arguments}\n"
    if jobs is not None:
        assert read(text, environ={"TWO": "2"}).job_count == jobs
        return
    with pytest.raises(InvalidSubmit, match=r"Invalid Queue count expression: .*UNDEFINED is not a whole number"):
        read(text, environ={"TWO": "2"})


def test_an_environment_that_is_not_known_is_not_empty() -> None:
    """What a variable holds is not guessed either."""
    with pytest.raises(InvalidSubmit, match="which is not known here"):
        read("queue $ENV(NOPE)\n")
