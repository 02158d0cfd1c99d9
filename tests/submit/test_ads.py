"""Job ads of submit descriptions: each rule of condor_submit 25.14 for the scheduling part and Requirements."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.classad import UnparseForm, code_tree, unparse
from crondor.classad.ad import ClassAd
from crondor.diagnostics import Source
from crondor.macro.evaluated import as_boolean, as_integer
from crondor.submit import InvalidSubmit, SubmitHost, job_ads, read_submit
from crondor.submit.ad import COMMANDS, JobAd, draft
from crondor.submit.ad.draft import SubmitKnobs
from tests.rows import rows

BASE = "executable = /bin/sleep\n"
ARCH = '(TARGET.Arch == "X86_64")'
OPSYS = '(TARGET.OpSys == "LINUX")'
DISK = "(TARGET.Disk >= RequestDisk)"
NEWER = f'(versionGE(split(TARGET.CondorVersion)[1],"25.12.0") || {DISK})'
MEMORY = "(TARGET.Memory >= RequestMemory)"
DOMAIN = "(TARGET.FileSystemDomain == MY.FileSystemDomain)"
MOVES = f"({DOMAIN} || (TARGET.HasFileTransfer))"
WAITS = (
    "(((time() + ScheddInterval) >= (DeferralTime - DeferralPrepTime)) && (time() < (DeferralTime + DeferralWindow)))"
)
INSTEAD = "does not work for scheduler universe jobs. Consider submitting this job using the local universe, instead"
VANILLA = (ARCH, OPSYS, NEWER, MEMORY, MOVES)
LOCAL = (ARCH, OPSYS, DISK, MEMORY)


def _plugins(*methods: str) -> str:
    wanted = (f'stringListIMember("{method}",TARGET.HasFileTransferPluginMethods)' for method in methods)
    return f"({' && '.join(('TARGET.HasFileTransfer', *wanted))})"


def groups(text: str, config: Mapping[str, str] | None = None, host: SubmitHost | None = None) -> list[JobAd]:
    """Return the ads of a description, in order; it has an executable."""
    file = read_submit(Source(BASE + text, "job.sub"), host=host or SubmitHost())
    return list(job_ads(file, config=config, in_order=True))


def shown(ad: ClassAd, name: str) -> str | None:
    """Return an attribute as the tools print it, None where it is not set."""
    return unparse(code_tree(ad.code(name)), UnparseForm.OLD) if name in ad else None


def one(text: str, *names: str, config: Mapping[str, str] | None = None) -> list[str | None]:
    """Return attributes of the one job of a description."""
    ad = groups(text + "\nqueue\n", config)[0].ad
    return [shown(ad, name) for name in names]


def clauses(text: str, config: Mapping[str, str] | None = None) -> str | None:
    """Return the Requirements of the one job of a description."""
    return one(text, "Requirements", config=config)[0]


def faults(text: str, config: Mapping[str, str] | None = None) -> list[str]:
    """Return the messages of the faults of a description."""
    with pytest.raises(InvalidSubmit) as caught:
        groups(text + "\nqueue\n", config)
    return [fault.message for fault in caught.value.diagnostics]


def _fate(text: str) -> int:
    """Return how many ads a description gives, or else how many faults."""
    try:
        return len(groups(f"{text}\nqueue\n"))
    except InvalidSubmit as error:
        return len(error.diagnostics)


def _all(*parts: str) -> str:
    return " && ".join(parts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", VANILLA),
        ("universe = local", LOCAL),
        ("universe = scheduler", LOCAL),
        ("universe = 7", LOCAL),
        ("universe = docker\ndocker_image = x", (ARCH, "TARGET.HasDocker", NEWER, MEMORY, MOVES)),
        ("container_image = x.sif", (ARCH, "TARGET.HasContainer", "TARGET.HasSIF", NEWER, MEMORY, MOVES)),
        ("docker_image = x", (ARCH, "TARGET.HasContainer", "TARGET.HasDockerURL", NEWER, MEMORY, MOVES)),
        ("container_image = dir/", (ARCH, "TARGET.HasContainer", "TARGET.HasSandboxImage", NEWER, MEMORY, MOVES)),
        ("universe = java\narguments = Main", ("TARGET.HasJava", DISK, MEMORY, MOVES)),
        ("universe = parallel\nmachine_count = 2", (ARCH, OPSYS, DISK, MEMORY, MOVES)),
        ("universe = grid\ngrid_resource = batch slurm", ("true",)),
        ("universe = grid\ngrid_resource = condor a b", (ARCH, OPSYS, DISK, MEMORY)),
        ("requirements = Arch == 1", ("(Arch == 1)", *VANILLA[1:])),
        ("requirements = TARGET.OpSysName == 1", ("(TARGET.OpSysName == 1)", ARCH, *VANILLA[2:])),
        ("requirements = Disk > 5", ("(Disk > 5)", ARCH, OPSYS, DISK, MEMORY, MOVES)),
        ("requirements = HasFileTransfer", ("(HasFileTransfer)", *VANILLA[:4])),
        ("requirements = FileSystemDomain == 1", ("(FileSystemDomain == 1)", *VANILLA[:4], "(TARGET.HasFileTransfer)")),
        ("requirements = TARGET.Cpus > 1\nrequest_cpus = 2", ("(TARGET.Cpus > 1)", *VANILLA)),
        ("request_cpus = 2", (*VANILLA[:4], "(TARGET.Cpus >= RequestCpus)", MOVES)),
        ("request_cpus = Foo", (*VANILLA[:4], "(TARGET.Cpus >= RequestCpus)", MOVES)),
        ("request_memory = 1", (*VANILLA[:3], MOVES)),
        ("request_disk = 0", (ARCH, OPSYS, MEMORY, MOVES)),
        ("request_gpus = 1", (*VANILLA[:4], "(TARGET.GPUs >= RequestGPUs)", MOVES)),
        (
            "request_gpus = 1\nrequire_gpus = Capability > 7",
            (*VANILLA[:4], "(countMatches(MY.RequireGPUs,TARGET.AvailableGPUs) >= RequestGPUs)", MOVES),
        ),
        ('request_licence = "a"', (*VANILLA[:4], "regexp(Requestlicence,TARGET.licence)", MOVES)),
        ("request_Slots = 0", VANILLA),
        ("should_transfer_files = NO", (*VANILLA[:4], DOMAIN)),
        ("should_transfer_files = YES", (*VANILLA[:4], "(TARGET.HasFileTransfer)")),
        ("tool_daemon_cmd = x", (*VANILLA[:4], "TARGET.HasTDP", MOVES)),
        ("encrypt_execute_directory = true", (*VANILLA[:4], "TARGET.HasEncryptExecuteDirectory", MOVES)),
        (
            "encrypt_input_files = a\nshould_transfer_files = YES",
            (*VANILLA[:4], "(TARGET.HasFileTransfer && TARGET.HasPerFileEncryption)"),
        ),
        (
            "transfer_input_files = a, https://x/y, chtc+osdf://z\nshould_transfer_files = YES",
            (*VANILLA[:4], _plugins("https", "osdf")),
        ),
        ("checkpoint_exit_code = 85", (*VANILLA, "TARGET.HasSelfCheckpointTransfers")),
        ("cuda_version = 12.1", (*VANILLA, "CUDAVersion <= TARGET.CUDAMaxSupportedVersion")),
        ("cron_hour = 1", (*VANILLA, "TARGET.HasJobDeferral", WAITS)),
        ("+DeferralTime = 5", (*VANILLA, "TARGET.HasJobDeferral", WAITS)),
        ("universe = local\ndeferral_time = 5", (*LOCAL, WAITS)),
        ("+Requirements = Foo", ("Foo",)),
    ],
)
def test_requirements(text: str, expected: tuple[str, ...]) -> None:
    """What a job needs is added to Requirements, and what they name themselves is left to them."""
    assert clauses(text) == _all(*expected)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"APPEND_REQUIREMENTS": "Good"}, ("(Good)", *VANILLA)),
        ({"append_req_vanilla": "Fine", "APPEND_REQUIREMENTS": "Good"}, ("(Fine)", *VANILLA)),
        ({"JOB_DEFAULT_REQUESTCPUS": "4"}, (*VANILLA[:4], "(TARGET.Cpus >= RequestCpus)", MOVES)),
        ({"SUBMIT_DEFAULT_SHOULD_TRANSFER_FILES": "always"}, (*VANILLA[:4], "(TARGET.HasFileTransfer)")),
        ({"DEFAULT_UNIVERSE": "Local"}, LOCAL),
    ],
)
def test_requirements_of_a_configuration(config: dict[str, str], expected: tuple[str, ...]) -> None:
    """The configuration of the submit machine has a say."""
    assert clauses("", config) == _all(*expected)


def test_requirements_name_the_submit_machine() -> None:
    """Arch, OpSys and the domain are the host's, which the caller may replace."""
    host = SubmitHost(arch="AARCH64", opsys="OSX", filesystem_domain="cs.example.org", schedd_interval=60)
    ad = groups("cron_minute = 5\nqueue\n", host=host)[0].ad
    assert str(shown(ad, "Requirements")).startswith('(TARGET.Arch == "AARCH64") && (TARGET.OpSys == "OSX")')
    assert shown(ad, "FileSystemDomain") == '"cs.example.org"'
    assert shown(ad, "ScheddInterval") == "60"


@pytest.mark.parametrize(("text", "names", "expected"), rows("submit/attributes"))
def test_attributes(text: str, names: list[str], expected: list[str | None]) -> None:
    """Each command gives its attribute, in HTCondor's order of precedence."""
    assert one(text, *names) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("deferral_time = -1", "deferral_time = -1 is invalid, must eval to a non-negative integer."),
        ("DeferralTime = 1.5", "deferral_time = 1.5 is invalid, must eval to a non-negative integer."),
        (
            "cron_hour = 1\ncron_window = true",
            "deferral_window = true is invalid, must eval to a non-negative integer.",
        ),
        ("cron_hour = 1\nCronPrepTime = (", "deferral_prep_time = ( is invalid, must eval to a non-negative integer."),
        ("+CronMinute = 0x5", "Parse error in expression: CronMinute = 0x5"),
        ("universe = nope", "I don't know about the 'nope' universe."),
        ("universe = standard", "'Standard' is not a supported universe."),
        ("universe = 99", "'Unknown' is not a supported universe."),
        ("universe = scheduler\ndeferral_time = 5", f"DeferralTime {INSTEAD}"),
        ("universe = 7\ncron_hour = 1\ndeferral_time = 5", f"CronHour {INSTEAD}"),
        ("hold = maybe", "hold=maybe is invalid, must eval to a boolean."),
        ("priority = x y", "priority=x y is invalid, must eval to an integer."),
        ("on_exit_hold = (", "Parse error in expression: OnExitHold = ("),
        (
            "requirements = Requirements",
            "Requirements = Requirements Is Circular. Did you intend to use $(Requirements) ?",
        ),
        ("retry_until = a b", "retry_until=a b is invalid, it must be an integer or boolean expression."),
        ("concurrency_limits = a-b", "Invalid concurrency limit 'a-b'"),
        ("executable =", "No 'executable' parameter was provided"),
        ("universe = docker", "docker jobs require a docker_image"),
        ("universe = grid", "grid_resource attribute not defined for grid universe job"),
        ("universe = parallel", "No machine_count specified!"),
        ("notification = soon", "Notification must be 'Never', 'Always', 'Complete', 'Start', or 'Error'"),
        ("cuda_version = new", "cuda_version must be of the form 'x' or 'x.y', where x and y are positive integers."),
        ("should_transfer_files = maybe", "invalid value (maybe) for ShouldTransferFiles."),
    ],
)
def test_faults(text: str, message: str) -> None:
    """Refusals have HTCondor's words, and the place of the value."""
    assert message in faults(text)


def test_all_faults_come_at_once() -> None:
    """HTCondor stops at the first; here all of them are told, each at its place."""
    with pytest.raises(InvalidSubmit) as caught:
        groups("hold = maybe\ndeferral_time = -1\nuniverse = nope\nqueue\n")
    places = [(fault.kind, fault.span and fault.span.line) for fault in caught.value.diagnostics]
    assert sorted(places) == [("submit-number", 3), ("submit-universe", 4), ("submit-value", 2)]


def test_a_parse_error_is_underlined() -> None:
    """The span is the piece of the expression that cannot be read."""
    with pytest.raises(InvalidSubmit) as caught:
        groups("periodic_hold = 1 + * 2\nqueue\n")
    span = caught.value.diagnostics[0].span
    assert span is not None
    assert (span.line, span.column, span.text) == (2, 21, "*")


def test_an_old_environment_that_cannot_be_written_is_refused() -> None:
    """Read it may be, by another sign between its variables; the ad's sign is the semicolon."""
    with pytest.raises(InvalidSubmit, match="not compatible with V1 syntax: B=2;3"):
        groups("env = |B=2;3|A=1\nqueue\n")
    assert one("environment = |B=2;3|A=1", "Environment") == ['"A=1 B=2;3"']


def test_the_ads_before_a_fault_are_given() -> None:
    """The jobs of an earlier queue statement are yielded; the error then names the faults of all others."""
    text = "queue 2\nhold = maybe\nqueue\nperiodic_hold = (\nqueue\n"
    made: list[JobAd] = []
    with pytest.raises(InvalidSubmit) as caught:
        made.extend(job_ads(read_submit(Source(BASE + text, "job.sub"))))
    assert [group.jobs.count for group in made] == [2]
    assert {fault.kind for fault in caught.value.diagnostics} == {"submit-value", "submit-expression"}


def test_jobs_inherit_from_the_first_of_the_cluster() -> None:
    """What a later job does not set is the first job's, across items and queue statements."""
    made = groups("deferral_time = $(t)\nqueue t in (5)\ndeferral_time =\nrequest_memory = 9\nqueue 2\n")
    assert [(group.jobs.count, shown(group.ad, "DeferralTime")) for group in made] == [(1, "5"), (2, "5")]
    assert [shown(group.ad, "RequestMemory") for group in made] == ["128", "9"]
    assert [shown(group.ad, "ProcId") for group in made] == ["0", "1"]


def test_the_first_job_of_a_cluster_may_stand_alone() -> None:
    """An attribute written out makes the jobs after the first one deferred ones, as in HTCondor 25.14."""
    made = groups("+CronHour = 5\nqueue 3\n")
    assert [(group.jobs.count, shown(group.ad, "DeferralWindow")) for group in made] == [(1, None), (2, "0")]


def test_submit_attrs_of_the_configuration() -> None:
    """They are in every job: below the commands, or with a plus over them."""
    config = {"SUBMIT_ATTRS": "XSite, +JobPrio, Bad", "XSite": "5", "JobPrio": "7", "Bad": "("}
    assert one("priority = 3", "XSite", "JobPrio", "Bad", config=config) == ["5", "7", None]


def test_policy_defaults_of_the_configuration() -> None:
    """SUBMIT_INSERT_DEFAULT_POLICY_EXPRS gives the expressions that 25.14 leaves out."""
    config = {"SUBMIT_INSERT_DEFAULT_POLICY_EXPRS": "true"}
    names = ("PeriodicHold", "PeriodicVacate", "OnExitRemove", "OnExitHold", "PeriodicHoldReason")
    assert one("", *names, config=config) == ["false", "false", "true", "false", None]


def test_late_materialization_has_one_ad() -> None:
    """The cluster's ad stands for all its jobs."""
    made = groups("max_materialize = 2\narguments = $(Process)\nqueue 50\n")
    assert [(group.jobs.count, "ProcId" in group.ad) for group in made] == [(50, False)]


def test_equal_jobs_cost_nothing() -> None:
    """A million equal jobs are two ads at most."""
    assert [group.jobs.count for group in groups("cron_minute = 5\nqueue 1000000\n")] == [1_000_000]


@pytest.mark.parametrize(
    "text",
    [
        "arguments = " + "'" * 50_000,
        'arguments = "' + "'a'" * 50_000,
        'environment = "' + "a=b " * 20_000 + '"',
        "requirements = " + "(" * 50_000,
        "deferral_time = " + "9" * 100_000,
        "priority = " + "-" * 50_000,
        "request_memory = " + "1" * 100_000 + "K",
        "concurrency_limits = " + "a," * 50_000,
        "transfer_input_files = " + "a://b," * 20_000,
        "retry_until = " + "a?" * 20_000,
        "universe = " + "9" * 100_000,
        "cuda_version = " + "1" * 100_000,
        "+Requirements = Requirements",
        "request_" + "a" * 1000 + " = 1",
        'retry_until = split("a b").c',
        "job_lease_duration = 1e400",
        "priority = 1e400",
        'request_gpus = 1\nrequire_gpus = split("a b").c\ngpus_minimum_memory = 1',
    ],
)
def test_hostile_texts_end(text: str) -> None:
    """Whatever is written gives ads or faults, not a traceback."""
    assert _fate(text)


def test_neighbours_only_are_one_group_in_order() -> None:
    """Without order, equal items are one group wherever they stand."""
    file = read_submit(Source(BASE + "prio = $(t)\nqueue t in (1 2 2 1)\n", "job.sub"))
    assert [group.jobs.count for group in job_ads(file)] == [2, 2]
    assert [(group.jobs.count, group.jobs.first[1]) for group in job_ads(file, in_order=True)] == [
        (1, 0),
        (2, 1),
        (1, 3),
    ]


@pytest.mark.parametrize(("use", "window"), [("T", "0"), ("T()", "0"), ("T( 5 )", "1"), ("T(,5)", "1")])
def test_a_template_asks_whether_an_argument_is_given(use: str, window: str) -> None:
    """In $(1?60) the words after the question mark mean nothing."""
    config = {"SUBMIT_TEMPLATE_NAMES": "T", "SUBMIT_TEMPLATE_T": "cron_window = $(1?60)"}
    source = Source(f"{BASE}cron_hour = 1\nuse template : {use}\nqueue\n", "job.sub")
    [(_, ad)] = job_ads(read_submit(source, config=config))
    assert shown(ad, "DeferralWindow") == window


@pytest.mark.parametrize(
    ("text", "base", "expected"),
    [
        ("1", draft.KIB, 1),
        ("1.5M", draft.KIB, 1536),
        (".5g", draft.MIB, 512),
        ("1 Kb", draft.MIB, 1),
        (" 3 ", draft.MIB, 3),
        ("-1", draft.MIB, 0),
        ("1KK", draft.MIB, None),
        ("x", draft.MIB, None),
        ("", draft.MIB, None),
    ],
)
def test_amounts(text: str, base: int, expected: int | None) -> None:
    """Amounts have units of bytes, and are rounded up."""
    found = draft.amount(text, base)
    assert (None if found is None else found.value) == expected


@pytest.mark.parametrize(
    ("text", "flag", "number"),
    [
        ("true", True, 1),
        ("FALSE ", False, 0),
        ("1", True, 1),
        ("2", True, 2),
        ("1 == 2", False, 0),
        ("2 * 3", True, 6),
        ("7.9", True, 7),
        ("truely", None, None),
        ("(", None, None),
        ('"a"', None, None),
    ],
)
def test_words_for_booleans_and_integers(text: str, flag: bool | None, number: int | None) -> None:
    """Both may be expressions."""
    assert (as_boolean(text), as_integer(text)) == (flag, number)


def test_knobs() -> None:
    """A knob set to nothing is not set, a default then does not count either; names have no case."""
    knobs = SubmitKnobs({"Job_Default_RequestCpus": "", "DEFAULT_JOB_MAX_RETRIES": "x"})
    assert knobs.get("JOB_DEFAULT_REQUESTCPUS") is None
    assert knobs.get("job_default_requestmemory") == "128"
    assert knobs.number("DEFAULT_JOB_MAX_RETRIES") == 2


_LINES = st.sampled_from(
    (
        *(
            "cron_minute = 5",
            "CronHour = $(Process)",
            "deferral_time = 5",
            "deferral_window = 60",
            "cron_prep_time = 1",
        ),
        *(
            "universe = local",
            "request_memory = 2G",
            "request_gpus = 1",
            "requirements = Arch == 1",
            "+X1 = $(Process)",
        ),
        *("max_retries = 2", "on_exit_remove = true", "arguments = a b", "prio = 3", "rank = Memory", "+Deferral = 1"),
        *("should_transfer_files = YES", "hold = true", "leave_in_queue = false", "container_image = x.sif"),
    )
)


def _ads(lines: list[str], jobs: int) -> list[tuple[int, ClassAd]]:
    made = groups("\n".join((*lines, f"queue {jobs}\n")))
    return [(group.jobs.count, group.ad) for group in made]


@given(st.lists(_LINES, unique=True, max_size=8).flatmap(lambda x: st.tuples(st.just(x), st.permutations(x))))
def test_the_order_of_commands_does_not_matter(lines: tuple[list[str], list[str]]) -> None:
    """Different commands are independent of each other."""
    assert _ads(lines[0], 2) == _ads(lines[1], 2)


@given(st.lists(_LINES, unique=True, max_size=8), st.integers(1, 4))
def test_every_job_is_in_one_group(lines: list[str], jobs: int) -> None:
    """The groups in order have all jobs, and the same description makes the same ads."""
    made = _ads(lines, jobs)
    assert made == _ads(lines, jobs)
    assert sum(count for count, _ in made) == jobs
    first = [int(str(shown(ad, "ProcId"))) for _, ad in made]
    assert first == [sum(count for count, _ in made[:at]) for at in range(len(made))]


@given(st.sampled_from(COMMANDS), st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), max_size=20))
def test_any_value_gives_ads_or_faults(command: str, value: str) -> None:
    """Return the messages of the faults of a description."""
    """Return the Requirements of the one job of a description."""
    """Return attributes of the one job of a description."""
    """Return an attribute as the tools print it, None where it is not set."""
    """Return the ads of a description, in order; it has an executable."""
    """No command takes a value that makes it fail otherwise."""
    assert _fate(f"{command} = {value}") >= 1


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("kill_sig = 9", ["KillSig"], ['"SIGKILL"']),
        ("kill_sig = sigusr1\nkill_sig_timeout = 7z", ["KillSig", "KillSigTimeout"], ['"SIGUSR1"', "7"]),
        ("universe = local", ["KillSig"], ['"SIGTERM"']),
        ("universe = vanilla", ["KillSig"], [None]),
        ("output = o\nstream_output = true", ["StreamOut", "StreamErr"], ["true", None]),
        ("image_size = 1.5", ["ImageSize"], ["2"]),
        ("executable = a/./b//c", ["Cmd"], ['"a/./b/c"']),
        ('batch_name = "', ["JobBatchName"], ['""']),
        ("priority = time()", ["JobPrio"], ["1700000000"]),
        ("getenv = A*, !AB", ["Environment"], ["\"A=x' 'y\""]),
        ("getenv = true\nenv = B=1", ["Env"], ['"A=x y;AB=2;B=1"']),
        ("retry_until = a ?: b", ["OnExitRemove"], ["NumJobCompletions > JobMaxRetries || ExitCode =?= 0 || a ?: b"]),
        ("request_memory = 1G, 2G, X", ["RequestMemory", "RetryRequestMemory"], ["1024", "{ 2048,X }"]),
        (
            "request_memory = 1\nretry_request_memory_max = 9\nretry_request_memory_increase = RequestMemory * 2",
            ["MaxRequestMemory", "NextRequestMemory", "TransformOnEvict"],
            ["9", "RequestMemory * 2", '"RequestMemory"'],
        ),
        ("+OCUWanted = true", ["MaxJobRetirementTime"], [None]),
    ],
)
def test_attributes_as_the_library_of_htcondor_makes_them(
    text: str, names: list[str], expected: list[str | None]
) -> None:
    """Compared with htcondor 24.12.24, Submit.jobs(), where the source of 25.14 is the same."""
    source = Source(f"executable = a\n{text}\nqueue\n")
    file = read_submit(source, environ={"A": "x y", "AB": "2"}, now=1_700_000_000)
    (made,) = job_ads(file)
    assert [shown(made.ad, name) for name in names] == expected


def test_a_request_is_evaluated_in_the_ad_of_a_new_job() -> None:
    """NumJobStarts is 0 there, so that the clause is known to be of no use."""
    assert "TARGET.GPUs" not in str(clauses("request_gpus = NumJobStarts > 3"))
    assert "TARGET.GPUs" in str(clauses("request_gpus = Unknown"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kill_sig = TERM", "invalid signal TERM"),
        ("hold_kill_sig = 999", "invalid signal 999"),
        ("stream_error = Y", "stream_error=Y is invalid, must eval to a boolean."),
        ("image_size = 0", "Image Size must be positive"),
        ("job_machine_attrs_history_length = -1", "history_length=-1 is out of bounds 0 to 2147483647"),
        ("request_memory = 1, 3, 2", "request_memory must have an increasing sequence of values, but 2"),
        ("request_disk = 1, (", "request_disk=( is invalid. must be an expression or number"),
        (
            "request_memory = 1\nretry_request_memory_increase = 5 + X",
            "retry increment must be a positive number or an expression that references RequestMemory",
        ),
        ("max_retries = time()", "max_retries=time() depends on the time of submission, which crondor does not know"),
    ],
)
def test_values_that_the_library_of_htcondor_refuses(text: str, message: str) -> None:
    """In its words."""
    assert any(message in fault for fault in faults(text))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("", ['"/dev/null"', "false", None]),
        ("output = /dev/null\nstream_output = true", ['"/dev/null"', "false", None]),
        ("output = $(Cluster).out", ['"7.out"', None, "false"]),
        ("stdout = o\nstream_output = true", ['"o"', None, "true"]),
        ("output = o\ntransfer_output = false", ['"o"', "false", None]),
    ],
)
def test_where_the_output_goes(lines: str, expected: list[str | None]) -> None:
    """As SetStdout does: no file is /dev/null and not transferred; StreamOut is said of what is transferred."""
    (made,) = job_ads(read_submit(Source(f"{BASE}{lines}\nqueue\n", "job.sub")), cluster=7)
    ad = made.ad
    assert [str(ad[name]) if name in ad else None for name in ("Out", "TransferOut", "StreamOut")] == expected
    assert ad.python("ClusterId") == 7
