"""What HTCondor's own tests expect of transforms: cmd_transform_ads, job_transform_names_test, test_transform_undo."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from crondor.classad import ClassAd, Format, read_ad
from crondor.diagnostics import Source
from crondor.macro.files import Files
from crondor.transform import Transform, TransformFacts, apply_all, transform_ads
from crondor.transform.loading import JOB_TRANSFORM, Rules
from tests.transform.knobs import read_knobs

JOB = """\
ClusterId = 100
Cmd = "x_sleep.pl"
DiskUsage = 60
Err = "sleep.err"
ExitBySignal = false
MaxHosts = 1
NiceUser = false
NumCkpts = 0
RemoteUser = "bob@example.org"
RequestCpus = 1
RequestDisk = DiskUsage
RequestMemory = ifThenElse(MemoryUsage =!= undefined,MemoryUsage,1)
ResidentSetSize = 500
TotalSuspensions = 0
TransferErr = false
TransferIn = false
TransferInputSizeMB = 0
User = "bob@example.org"
"""


def jobs() -> list[ClassAd]:
    """Return eight jobs."""
    found = [read_ad(JOB, Format.LONG) for _ in range(8)]
    for number, ad in enumerate(found):
        ad["ProcId"] = number
        ad["DiskUsage"] = 60 + number
    return found


def done(rules: str, facts: TransformFacts | None = None) -> list[ClassAd]:
    """Return what condor_transform_ads makes of the jobs."""
    loaded = Rules(facts or TransformFacts())
    loaded.add_file(Source(rules, "rules"))
    loaded.finish()
    made = [outcome.ad for outcome in transform_ads(loaded.transforms, jobs(), loaded.facts)]
    assert None not in made
    return [ad for ad in made if ad is not None]


def texts(ads: Sequence[ClassAd], name: str) -> list[str]:
    """Return the texts of an attribute as -long has them."""
    lines = [dict(line.split(" = ", 1) for line in ad.print(Format.LONG).splitlines()) for ad in ads]
    return [values[name] for values in lines]


def test_general() -> None:
    """SET, DEFAULT, COPY, RENAME, DELETE, and DELETE of what an expression finds."""
    rules = """\
SET ClusterId 200
DEFAULT Fooo "test"
COPY ExitBySignal TransferIn
RENAME NumCkpts NumCheckPoints
DELETE TransferInputSizeMB
DELETE /(.+)Err/
TRANSFORM 1"""
    ads = done(rules)
    assert len(ads) == 8
    for ad in ads:
        assert (ad.text("ClusterId"), ad.text("Fooo"), ad.text("TransferIn")) == ("200", '"test"', "false")
        assert (ad.text("NumCheckPoints"), ad.text("Err")) == ("0", '"sleep.err"')
        assert not {"NumCkpts", "TransferInputSizeMB", "TransferErr"} & set(ad)


def test_evaluation() -> None:
    """A value is stored by EVALSET, and put into the text of a SET by EVALMACRO."""
    rules = """\
EVALSET MemoryUsage ( ResidentSetSize / 100 )
EVALMACRO WantDisk = ( DiskUsage * 2 )
SET RequestDisk ( $(WantDisk) / 1024 )
TRANSFORM 1"""
    ads = done(rules)
    assert texts(ads, "MemoryUsage") == ["5"] * 8
    assert texts(ads, "RequestDisk") == [f"({2 * (60 + number)} / 1024)" for number in range(8)]


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ('argument in (2.0, 100, "test")', ["2.0", "100", '"test"']),
        ('2 argument in (2.0, 100, "test")', ["2.0", "2.0", "100", "100", '"test"', '"test"']),
    ],
)
def test_items_of_a_list(arguments: str, values: list[str]) -> None:
    """Each job goes through all of them, and their texts stay as they are."""
    assert texts(done(f"SET ARG1 $(argument)\nTRANSFORM {arguments}"), "ARG1") == values * 8


def test_a_count() -> None:
    """Makes so many ads of each."""
    assert len(done("TRANSFORM 5")) == 40


@pytest.mark.parametrize(
    ("arguments", "times"),
    [
        ("macro1, macro2 from (\n1000 120.0\n2000 128.0\n)", 1),
        ("macro1, macro2 from items.txt", 1),
        ("2 macro1, macro2 from (\n1000 120.0\n2000 128.0\n)", 2),
    ],
)
def test_rows_of_a_table(arguments: str, times: int, tmp_path: Path) -> None:
    """From the rules themselves, or from a file whose last line has no end."""
    (tmp_path / "items.txt").write_text("1000 120.0\n2000 128.0")
    facts = TransformFacts(files=Files([str(tmp_path)], base=str(tmp_path)))
    ads = done(f"SET SIZE_IMAGE $(macro1)\nSET SIZE_DISK $(macro2)\nTRANSFORM {arguments}", facts)
    assert texts(ads, "SIZE_IMAGE") == (["1000"] * times + ["2000"] * times) * 8
    assert texts(ads, "SIZE_DISK") == (["120.0"] * times + ["128.0"] * times) * 8


def test_regular_expressions() -> None:
    """One of them finds MaxHosts alone, the next RemoteUser but not User, which has nothing before it."""
    rules = "COPY /^Max(.+)/  TotalSuspensions\nRENAME /(.+)User/ Test\\0\nRENAME /^Request(.+)/ Time\\1\nTRANSFORM"
    for ad in done(rules):
        assert ad.text("TotalSuspensions") == ad.text("MaxHosts")
        assert {"User", "TestRemoteUser", "TimeCpus", "TimeMemory", "TimeDisk"} <= set(ad)
        assert not {"NiceUser", "RemoteUser", "RequestCpus", "RequestDisk", "RequestMemory"} & set(ad)


CONFIG = """\
OPSYSANDVER = AlmaLinux9
JOB_TRANSFORM_NAMES = ILLEGAL ALWAYS NEVER ALWAYS_NEWSCRIPT
JOB_TRANSFORM_ILLEGAL @=end
  REQUIREMENTS illegal =?= true
  SET ClusterId -999
@end
JOB_TRANSFORM_ALWAYS @=end
  REQUIREMENTS True
  SET AlwaysThere "Please work on $(OPSYSANDVER)"
  DELETE NeverThere2
  EVALSET OnlyProcZero ProcId == 0 ? "Please work - proc zero" : "Please work - proc non-zero"
@end
JOB_TRANSFORM_NEVER @=end
  REQUIREMENTS False
  SET NeverThere1 "Please work!"
@end
JOB_TRANSFORM_ALWAYS_NEWSCRIPT @=end
  SET AlwaysThereNew = "Please work on $(OPSYSANDVER)"
  DELETE NeverThereNew
@end
"""


def test_transforms_of_the_configuration() -> None:
    """In the order of their names, each where its REQUIREMENTS are met."""
    knobs = read_knobs(Source(CONFIG))
    rules = Rules(TransformFacts(knobs))
    rules.add_knobs(JOB_TRANSFORM, knobs["job_transform_names"])
    rules.finish()
    assert rules.diagnostics == []
    for number, words in enumerate(("proc zero", "proc non-zero")):
        job = ClassAd({"ClusterId": 1, "ProcId": number, "NeverThere2": "Please work!", "illegal": False})
        (outcome,) = apply_all(rules.transforms, job, rules.facts).outcomes
        assert outcome.applied == ("ALWAYS", "ALWAYS_NEWSCRIPT")
        assert outcome.ad is not None
        assert {name: outcome.ad.value(name) for name in outcome.ad if name not in job} == {
            "AlwaysThere": "Please work on AlmaLinux9",
            "OnlyProcZero": f"Please work - {words}",
            "AlwaysThereNew": "Please work on AlmaLinux9",
        }
        assert not {"NeverThere1", "NeverThere2", "NeverThereNew"} & set(outcome.ad)
    illegal = apply_all(rules.transforms, ClassAd({"ClusterId": 1, "ProcId": 0, "illegal": True}), rules.facts)
    assert illegal.outcomes[0].applied[0] == "ILLEGAL"
    assert illegal.changes[2] == ("ClusterId", "1", "-999")  # which no schedd takes


def test_a_transform_of_jobs_that_are_not_there_yet() -> None:
    """The attribute that is misspelled in job_xform_factory is empty, and the SET with it is skipped."""
    rules = """\
REQUIREMENTS SingularityImage isnt undefined
SET  TransferInput = "$(My.TransferInput),$(My.SingularityImage)"
SET  Requirements = $(MY.Requirments) && Target.HasSingularity
"""
    for name in ("aaa", "bbb"):
        job = ClassAd({"TransferInput": name, "SingularityImage": "si"})
        job.set_text("Requirements", "TARGET.NoMatch")
        result = Transform.parse(rules).apply(job)
        assert (result.ad.value("TransferInput"), result.ad.text("Requirements")) == (f"{name},si", "TARGET.NoMatch")
        assert [found.kind for found in result.diagnostics] == ["set-expression"]


MEMORY = (
    "REQUIREMENTS (VacateReasonCode==21 && VacateReasonSubCode==102) "
    "|| (VacateReasonCode == 34 && VacateReasonSubCode == 102)\n"
)
SEQUENCE = (
    "EVALSET RequestMemory RetryRequestMemory[RetryRequestMemoryIndex?:0]\n"
    "EVALSET RetryRequestMemoryIndex MIN({size(RetryRequestMemory)-1, (RetryRequestMemoryIndex?:0)+1})"
)
MERGED = (
    'REQUIREMENTS true\nCOPY Environment OldEnvironment\nEVALSET Environment mergeEnvironment(Environment, "FOO=BAR")'
)
NEXT = {"NextRequestMemory": "RequestMemory + 200", "MaxRequestMemory": "300"}
RENAMED = "REQUIREMENTS true\nDELETE LeaveJobInQueue\nSET    LeaveIt true\nRENAME LeaveIt LeaveJob"


@pytest.mark.parametrize(
    ("more", "rules", "rounds"),
    [
        ({}, f"{MEMORY}SET RequestMemory 2048", [{"RequestMemory": "2048"}, {}]),
        (
            NEXT,
            f"{MEMORY}EVALSET RequestMemory MIN({{NextRequestMemory, MaxRequestMemory}})",
            [{"RequestMemory": "250"}, {"RequestMemory": "300"}, {}],
        ),
        (
            {"RetryRequestMemory": "{ 250, 500 }"},
            MEMORY + SEQUENCE,
            [{"RequestMemory": "250", "RetryRequestMemoryIndex": "1"}, {"RequestMemory": "500"}, {}, {}],
        ),
        (
            {"Environment": '"FOO=BOO INFO=banner"'},
            MERGED,
            [
                {"Environment": '"FOO=BAR INFO=banner"', "OldEnvironment": '"FOO=BOO INFO=banner"'},
                {"OldEnvironment": '"FOO=BAR INFO=banner"'},
                {},
            ],
        ),
        # HTCondor lists LeaveIt too, which is there neither before nor after; its test says that this is wrong.
        ({}, RENAMED, [{"LeaveJob": "true", "LeaveJobInQueue": "undefined"}, {}]),
    ],
)
def test_changes_and_their_undoing(more: dict[str, str], rules: str, rounds: list[dict[str, str]]) -> None:
    """A proc ad over its cluster ad, changed at each eviction; undoing the changes gives it back as it was."""
    cluster = ClassAd({"ClusterId": 241, "Environment": "", "LeaveJobInQueue": False, "RequestMemory": 50})
    for name, text in more.items():
        cluster.set_text(name, text)
    job = ClassAd({"ProcId": 0, "VacateReasonCode": 21, "VacateReasonSubCode": 102}).chain(cluster)
    transform = Transform.parse(rules)
    for expected in rounds:
        before, above = job.copy(), cluster.copy()
        outcome = transform.apply(job).outcomes[0]
        assert outcome.ad is not None
        assert {change.name: change.after or "undefined" for change in outcome.changes} == expected
        reverted = outcome.changes.undo(outcome.ad.copy())
        assert (list(reverted.own()), reverted, cluster) == (list(before.own()), before, above)
        for change in outcome.changes:
            job.set_text(change.name, change.after or "undefined")
