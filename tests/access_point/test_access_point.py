"""What an access point makes of a job: transforms in their order, requirements, limits, policy, what it passes over."""

import pytest

from crondor.access_point import AccessPoint, Admission, Submitter, read_access_point, sent_jobs
from crondor.classad.scope import Context
from crondor.config import read_config
from crondor.diagnostics import Source
from crondor.job.attributes import printed
from crondor.job.policy import Act, Ruling, periodic
from crondor.submit import InvalidSubmit, SubmitHost, job_ads, read_submit
from crondor.transform import TransformFacts

NOW = 1_795_600_000
JOB = "executable = /bin/true\ncron_hour = 3\nqueue\n"


def access_point(config: str, version: tuple[int, int, int] = (25, 14, 0)) -> AccessPoint:
    """Return the access point of a configuration."""
    made = read_config(Source(config, "site.conf"), subsystem="SCHEDD", version=version)
    return read_access_point(made, TransformFacts(context=Context(now=NOW)))


def admissions(config: str, job: str = JOB, version: tuple[int, int, int] = (25, 14, 0)) -> list[Admission]:
    """Return what becomes of the jobs of a description."""
    point = access_point(config, version)
    file = read_submit(Source(job, "job.sub"), host=point.host(SubmitHost()), now=NOW)
    made = job_ads(file, config=point.submit_knobs)
    return [point.admit(sent.ad) for sent in sent_jobs(made, Submitter("alice", "example.org", NOW), file.job_count)]


def admission(config: str, job: str = JOB, version: tuple[int, int, int] = (25, 14, 0)) -> Admission:
    """Return what becomes of the only job of a description."""
    (found,) = admissions(config, job, version)
    return found


def stored(config: str, name: str, job: str = JOB, version: tuple[int, int, int] = (25, 14, 0)) -> str | None:
    """Return an attribute as it is stored."""
    after = admission(config, job, version).after
    return printed(after, name) if name in after else None


def words(config: str) -> list[str]:
    """Return what the schedd passes over in a configuration."""
    return [found.message for found in access_point(config).diagnostics]


TWO = """\
JOB_TRANSFORM_NAMES = Second, First
JOB_TRANSFORM_First = SET Seen "$(MY.Made)"
JOB_TRANSFORM_Second = SET Made "second"
"""


def test_transforms_run_in_the_order_of_their_list() -> None:
    """Each sees what those before it made; macros are shared between them."""
    found = admission(TWO)
    assert [step.transform.name for step in found.steps] == ["Second", "First"]
    assert printed(found.after, "Seen") == '"second"'
    shared = "JOB_TRANSFORM_NAMES = A B\nJOB_TRANSFORM_A = x = 7\nJOB_TRANSFORM_B = SET X $(x)\n"
    assert stored(shared, "X") == "7"


def test_a_transform_whose_requirements_are_not_met_does_not_run() -> None:
    """They see the job as the transforms before it left it."""
    config = "JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A @=end\nREQUIREMENTS JobUniverse == 12\nSET X 1\n@end\n"
    assert stored(config, "X") is None
    assert stored(config, "X", "universe = local\n" + JOB) == "1"


def test_each_change_knows_its_transform_and_its_line() -> None:
    """The line in the file that sets the knob."""
    config = 'JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A @=end\n  SET X 1\n  SET CronMinute "7"\n@end\n'
    (step,) = admission(config).steps
    place = step.place("CronMinute")
    assert place is not None
    assert (place.source.name, place.line) == ("site.conf", 4)
    assert [change.name for _, change in admission(config).schedule_changes] == ["CronMinute"]


OLD = 'JOB_TRANSFORM_NAMES = Old\nJOB_TRANSFORM_Old = [ set_X = 5; eval_set_Y = RequestMemory + 1; copy_Cmd = "C"; ]\n'


def test_a_transform_that_is_a_classad_is_converted_up_to_25_7() -> None:
    """And passed over from 25.8 on."""
    for version in ((23, 9, 6), (24, 12, 0), (25, 7, 2)):
        assert stored(OLD, "X", version=version) == "5"
        assert stored(OLD, "Y", version=version) == "129"
    assert stored(OLD, "X", version=(25, 8, 0)) is None
    assert "no longer accepts" in words(OLD)[0]


PATTERN = "JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A = DELETE /^Num.*/\n"


def test_a_pattern_finds_what_the_job_has_itself_since_25_13() -> None:
    """Before that the ad of the cluster was in that of the job."""
    assert stored(PATTERN, "NumJobStarts") == "0"
    assert stored(PATTERN, "NumJobStarts", version=(25, 12, 2)) == "undefined"


def test_what_is_deleted_is_stored_as_undefined() -> None:
    """A queue hides an attribute of the cluster so."""
    assert stored("JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A = DELETE Rank\n", "Rank") == "undefined"


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        ('SET Owner "bob"', "nothing may change Owner"),
        ("SET ClusterId 7", "nothing may change ClusterId"),
        ("SET JobStatus 2", "a new job cannot have JobStatus 2"),
        ("DELETE JobStatus", "a new job cannot have JobStatus 0"),
        ("SET a/b 1", "accepts no attribute named a/b"),
    ],
)
def test_what_the_queue_does_not_take_refuses_the_job(rules: str, why: str) -> None:
    """With words that say nothing; ours say what it was."""
    found = admission(f"JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A = {rules}\n").refusal
    assert found is not None
    assert (found.knob, found.reason) == ("JOB_TRANSFORM_A", "Failed to apply a required job transform.")
    assert why in (found.help or "")


def test_attributes_that_only_the_schedd_sets_are_left_alone() -> None:
    """Quietly: the others of the transform are stored."""
    rules = "SET Mine 1\nSET TotalSubmitProcs 9\nSET X 1\n"
    config = f"SECURE_JOB_ATTRS = Mine\nJOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A @=end\n{rules}@end\n"
    assert [stored(config, name) for name in ("Mine", "TotalSubmitProcs", "X")] == [None, "1", "1"]


def test_numbers_are_rounded_as_the_queue_rounds_them() -> None:
    """Up to a quarter of their magnitude, beside what they were; a power of ten rounds to it."""
    config = "JOB_TRANSFORM_NAMES = A\nJOB_TRANSFORM_A @=end\nSET DiskUsage 1234567\nSET X 1234\n@end\n"
    assert [stored(config, name) for name in ("DiskUsage", "DiskUsage_RAW")] == ["1250000", "1234567"]
    assert stored(f"{config}SCHEDD_ROUND_ATTR_X = 2\n", "X") == "1300"
    assert stored(f"{config}SCHEDD_ROUND_ATTR_DiskUsage = 0\n", "DiskUsage") == "1234567"


def requirement(text: str, more: str = "") -> str:
    """Return a configuration with one submit requirement."""
    return f"SUBMIT_REQUIREMENT_NAMES = A\nSUBMIT_REQUIREMENT_A = {text}\n{more}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("RequestMemory < 1000", None),
        ("JOB.RequestMemory < 1000 && TARGET.RequestMemory < 1000", None),
        ("1", None),
        ("0.0", "Submit requirement A not met."),
        ("false", "Submit requirement A not met."),
        ("NoSuchAttribute", "Submit requirement A evaluated to non-boolean."),
        ('"yes"', "Submit requirement A evaluated to non-boolean."),
        ('MyType == "Scheduler" && JOB.MyType == "Job"', None),
        ("SCHEDD.RequestMemory is undefined", None),
        ("true this is not looked at", None),
    ],
)
def test_a_requirement_is_asked_in_the_schedds_ad(text: str, reason: str | None) -> None:
    """SCHEDD and JOB are names of the two; only the beginning of the text has to be an expression."""
    found = admission(requirement(text))
    if "SCHEDD.RequestMemory" in text:
        assert [each.knob for each in found.unsure] == ["SUBMIT_REQUIREMENT_A"]
    assert (None if found.refusal is None else found.refusal.reason) == reason


def test_the_first_requirement_that_is_not_met_refuses() -> None:
    """With its reason, evaluated in the same ads; one that is no string is skipped."""
    config = """\
SUBMIT_REQUIREMENT_NAMES = Yes No Later
SUBMIT_REQUIREMENT_Yes = true
SUBMIT_REQUIREMENT_No = RequestMemory > 1000
SUBMIT_REQUIREMENT_No_REASON = strcat(Owner, " asks for ", JOB.RequestMemory)
SUBMIT_REQUIREMENT_Later = false
"""
    found = admission(config).refusal
    assert found is not None
    assert (found.knob, found.reason) == ("SUBMIT_REQUIREMENT_No", "alice asks for 128")
    other = admission(config.replace("strcat(Owner", "size(Owner")).refusal
    assert other is not None
    assert other.reason == "Submit requirement No not met."


def test_a_warning_lets_the_job_pass() -> None:
    """Only where the requirement has a truth value."""
    found = admission(requirement("false", "SUBMIT_REQUIREMENT_A_IS_WARNING = true\n"))
    assert found.refusal is None
    assert [each.reason for each in found.warnings] == ["Submit requirement A not met."]
    none = admission(requirement("NoSuch", "SUBMIT_REQUIREMENT_A_IS_WARNING = true\n"))
    assert none.refusal is not None


@pytest.mark.parametrize(
    ("text", "is_known"),
    [
        ("SCHEDD.TotalIdleJobs < 100", False),
        ("TotalIdleJobs < 100", False),
        ("JOB.TotalIdleJobs is undefined", True),
        ("SCHEDD.TotalIdleJobs < 100 || true", True),
        ("RequestCpus == 1 || SCHEDD.TotalIdleJobs < 100", True),
        ("JOB.DiskUsage < 100", False),
        ("JOB.RequestDisk < 2000000", False),
        ("JOB.RequestDisk < 100", True),
        ("SCHEDD.TotalIdleJobs == 77", False),
        ("JOB.RequestDisk > 100 || RequestCpus == 1", True),
        ("JOB.x509UserProxyVOName is undefined", False),
        ('SCHEDD.Name == "here"', False),
    ],
)
def test_what_nobody_knows_is_said(text: str, is_known: bool) -> None:
    """Where it makes no difference, the answer is known all the same."""
    found = admission(requirement(text))
    assert bool(found.unsure) is not is_known


def test_requirements_see_the_transformed_job() -> None:
    """Transforms come first."""
    config = requirement("JOB.X =?= 1", "JOB_TRANSFORM_NAMES = T\nJOB_TRANSFORM_T = SET X 1\n")
    assert admission(config).refusal is None


def test_what_is_wrong_is_passed_over_and_said() -> None:
    """As the schedd does it, with the place and what was meant."""
    config = """\
JOB_TRANSFORM_NAMES = Acount Empty Bad
JOB_TRANSFORM_Account = SET X 1
JOB_TRANSFORM_Empty =
JOB_TRANSFORM_Bad = REQUIREMENTS ((
SUBMIT_REQUIREMENT_NAMES = Gone Wrong
SUBMIT_REQUIREMENT_Wrong = (((
SYSTEM_PERIODIC_HOLD = )
SCHEDD_INTERVAL = soon
"""
    point = access_point(config)
    said = {found.message.split(" ")[0]: found for found in point.diagnostics}
    assert said["JOB_TRANSFORM_Acount"].help == "did you mean Account?"
    assert {"JOB_TRANSFORM_Empty", "JOB_TRANSFORM_Bad", "SUBMIT_REQUIREMENT_Gone"} <= said.keys()
    assert {"SUBMIT_REQUIREMENT_Wrong", "SYSTEM_PERIODIC_HOLD", "SCHEDD_INTERVAL"} <= said.keys()
    assert all(found.span is not None for found in point.diagnostics)
    assert (point.transforms, point.requirements, dict(point.policy), point.schedd_interval) == ((), (), {}, 300)


def test_the_schedds_own_knobs_win() -> None:
    """SCHEDD. before a name, as every daemon has it; SUBMIT. for condor_submit."""
    config = "SCHEDD.SCHEDD_INTERVAL = 60\nSCHEDD_INTERVAL = 90\nSUBMIT.JOB_DEFAULT_REQUESTMEMORY = 512\n"
    assert access_point(config).schedd_interval == 60
    assert stored(config, "RequestMemory") == "512"


def test_what_condor_submit_adds() -> None:
    """SUBMIT_ATTRS, APPEND_REQUIREMENTS, JOB_DEFAULT_..., extended commands with their types."""
    config = """\
SUBMIT_ATTRS = Site, +Forced
Site = "Here"
Forced = RequestCpus * 2
APPEND_REQUIREMENTS = TARGET.Site == "Here"
EXTENDED_SUBMIT_COMMANDS @=end
  LongJob = true
  Parts = "a,b"
@end
"""
    found = admission(config, f"longjob = 1\nparts = x, y\n{JOB}").after
    assert [printed(found, name) for name in ("Site", "Forced", "LongJob", "Parts")] == [
        '"Here"',
        "RequestCpus * 2",
        "true",
        '"x,y"',
    ]
    assert printed(found, "Requirements").startswith('(TARGET.Site == "Here")')
    assert access_point(config).commands == {"longjob", "parts"}


def test_a_disabled_command_names_the_pools_page() -> None:
    """EXTENDED_SUBMIT_HELPFILE."""
    config = "EXTENDED_SUBMIT_COMMANDS = Old = error\nEXTENDED_SUBMIT_HELPFILE = https://pool.example.org/commands\n"
    with pytest.raises(InvalidSubmit) as refused:
        admission(config, f"old = 1\n{JOB}")
    (fault,) = refused.value.diagnostics
    assert fault.message == "Old=1 has been disabled by the administrator."
    assert "https://pool.example.org/commands" in (fault.help or "")


@pytest.mark.parametrize(
    ("config", "jobs", "knob"),
    [
        ("", 20_001, "MAX_JOBS_PER_SUBMISSION"),
        ("", 20_000, None),
        ("MAX_JOBS_PER_OWNER = 5", 6, "MAX_JOBS_PER_OWNER"),
        ("MAX_JOBS_SUBMITTED = 5", 6, "MAX_JOBS_SUBMITTED"),
        ("MAX_JOBS_SUBMITTED = 5", 5, None),
    ],
)
def test_more_jobs_than_are_taken(config: str, jobs: int, knob: str | None) -> None:
    """What is in the queue already is not known."""
    file = read_submit(Source(f"executable = /bin/true\nqueue {jobs}\n", "job.sub"))
    found = access_point(config).too_many(file)
    assert (None if found is None else found.knob) == knob
    late = read_submit(Source(f"executable = /bin/true\nmax_materialize = 2\nqueue {jobs}\n", "job.sub"))
    assert access_point(config).too_many(late) is None


def test_the_policy_is_asked_after_the_jobs_own() -> None:
    """Those with names first; the reason is evaluated in the job's ad."""
    point = access_point("""\
SYSTEM_PERIODIC_HOLD_NAMES = Long, Never
SYSTEM_PERIODIC_HOLD_Long = time() - QDate > 60
SYSTEM_PERIODIC_HOLD_Long_REASON = strcat("too long for ", Owner)
SYSTEM_PERIODIC_HOLD_Long_SUBCODE = 40 + 2
SYSTEM_PERIODIC_HOLD_Never = false
SYSTEM_PERIODIC_HOLD = NumJobStarts > 3 && Owner is "alice"
SYSTEM_PERIODIC_VACATE = true
""")
    ad = admission("").after
    assert [each.knob for each in point.policy["PeriodicHold"]] == ["SYSTEM_PERIODIC_HOLD_Long", "SYSTEM_PERIODIC_HOLD"]

    def ruling(now: int) -> Ruling:
        return periodic(ad, 1, now, Context(now=now), system=point.policy)

    assert ruling(NOW + 60).act is Act.STAY
    held = ruling(NOW + 61)
    assert (held.act, held.reason, held.code, held.subcode) == (Act.HOLD, "too long for alice", 26, 42)
    ad.set("NumJobStarts", 4)
    printed_text = 'NumJobStarts > 3 && Owner =?= "alice"'
    assert ruling(NOW).reason == f"The system macro SYSTEM_PERIODIC_HOLD expression '{printed_text}' evaluated to TRUE"
    ad.set_text("PeriodicHold", "true")
    assert ruling(NOW).code == 3


@pytest.mark.parametrize(
    ("config", "starts"),
    [
        ("", None),
        ("START_LOCAL_UNIVERSE = false", False),
        ("START_LOCAL_UNIVERSE = true", True),
        ("START_LOCAL_UNIVERSE = TARGET.RequestMemory < 10", False),
        ("START_LOCAL_UNIVERSE = TotalLocalJobsRunning < 1", None),
    ],
)
def test_whether_a_local_job_may_start(config: str, starts: bool | None) -> None:
    """Asked in the schedd's ad, whose counters nobody knows."""
    ad = admission(config, f"universe = local\n{JOB}").after
    assert access_point(config).starts(ad, 12) is starts
    assert access_point(config).starts(ad, 5) is True


def test_hostile_configurations_are_bounded() -> None:
    """What is nested too deep is skipped, what costs too much has no value."""
    deep = requirement("(" * 5000 + "true" + ")" * 5000)
    assert admission(deep).refusal is None
    long = requirement("regexp(strcat(" + ",".join(["Owner"] * 500) + "), Owner)")
    assert admission(long).refusal is not None


def test_nothing_is_run() -> None:
    """A command of the configuration is said, and not done."""
    said = words("include command : touch /tmp/crondor-was-here\nLOCAL_CONFIG_FILE = touch x |\n")
    assert any("crondor runs nothing" in each for each in said)
