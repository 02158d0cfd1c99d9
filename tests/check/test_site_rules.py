"""Rules of a site: expressions over a job's ad, their tests, what proposes them, and functions of packages."""

import gzip
import json
import os
import pickle
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor._toml import parse_toml
from crondor.access_point import read_access_point
from crondor.config import read_config
from crondor.diagnostics import Severity, Source
from crondor.lint import CheckSettings, check_submit
from crondor.lint.site import InvalidRules, SiteRule, read_rules, site_rules, try_rule
from crondor.lint.suggesting import suggested
from crondor.times import JobTimes
from tests.check.asking import NOW
from tests.cli.running import ROOT, crondor, process
from tests.lsp.client import serving

MEMORY = """\
[[check.rule]]
code = "SITE001"
name = "big-memory"
severity = "error"
when = 'RequestMemory > 65536 && AcctGroup =!= "large"'
message = "{RequestMemory / 1024} GB is too much"
help = "write request_memory = 64GB, or accounting_group = large"
url = "https://example.org/memory"
match = ["request_memory = 128GB", "[RequestMemory = 70000]"]
no-match = ["request_memory = 64GB", "request_memory = 128GB\\naccounting_group = large", "[RequestMemory = 1]"]
"""
BUSY = """\
[[check.rule]]
code = "SITE002"
when = 'member("02:00", CrondorTimes) && CrondorJobsAt["02:00"] > 200'
message = '{CrondorJobsAt["02:00"]} jobs start at 02:00'
match = ["cron_hour = 2\\ncron_minute = 0\\nqueue 201", "cron_hour = *\\ncron_minute = 0\\nqueue 100\\nqueue 101"]
no-match = ["cron_hour = 2\\ncron_minute = 0\\nqueue 200", "cron_hour = 3\\ncron_minute = 0\\nqueue 201", "queue 201"]
[[check.rule]]
code = "SITE003"
when = '!regexp("^(|false)$", unparse(PeriodicRelease)) && !regexp("Num[A-Z]", unparse(PeriodicRelease))'
message = "periodic_release has no limit"
match = ["periodic_release = HoldReasonCode == 20"]
no-match = ["periodic_release = NumHolds < 5", "periodic_release = false", ""]
[[check.rule]]
code = "SITE004"
when = 'CrondorRunsPerDay > 24 || CrondorNextRun - time() > 86400'
message = "{CrondorRunsPerDay} runs a day"
match = ["cron_minute = */5", "cron_month = 1\\ncron_day_of_month = 1"]
no-match = ["cron_minute = 0", "", "deferral_time = 1795305660"]
[[check.rule]]
code = "SITE005"
when = 'member("RequestDisk", CrondorSets)'
message = "leave request_disk out; {{braces}} stay"
match = ["request_disk = 1GB", "+RequestDisk = 5"]
no-match = ["request_cpus = 1"]
"""
SETTINGS = CheckSettings(NOW, "UTC", files=False)


def rules_in(text: str) -> tuple[SiteRule, ...]:
    """Return the rules of a file."""
    return read_rules(Source(text, "crondor.toml"), parse_toml(text)["check"]["rule"])


def checked(rules: str, *lines: str) -> list[tuple[str, str, str]]:
    """Return code, message and place of what rules find in a description."""
    settings = CheckSettings(NOW, "UTC", files=False, site=site_rules(rules_in(rules)))
    found = check_submit("\n".join(("executable = /bin/true", *lines)) + "\n", settings).findings
    assert pickle.loads(pickle.dumps(settings.site)) is not None  # noqa: S301 - it is sent to a cluster
    each = [each.diagnostic for each in found if each.diagnostic.code.startswith("SITE")]
    return [(d.code, d.message, d.span.text if d.span else "") for d in each]


def test_the_tests_of_rules_pass() -> None:
    """Those of the examples, which are also tests of what rules can ask."""
    for each in rules_in(MEMORY + BUSY):
        assert try_rule(each, SETTINGS) == (len(each.match) + len(each.no_match), ())


def test_a_test_that_fails_says_what_the_rule_saw() -> None:
    """With the values of the attributes, at the list of tests; a test that is no job fails too."""
    (wrong,) = rules_in(MEMORY.replace("128GB\\naccounting_group", "64GB\\nAccounting").replace("= 64GB", "= 128GB", 2))
    passed, faults = try_rule(wrong, SETTINGS)
    assert passed + len(faults) == 5
    assert [(each.message, each.help, each.span and each.span.text) for each in faults] == [
        ("SITE001 reports number 1 of no-match", "RequestMemory is 131072; AcctGroup is undefined", "no-match")
    ]
    (broken,) = rules_in(MEMORY.replace("request_memory = 128GB", "request_memory = = 1", 1))
    assert "number 1 of match is not a job" in try_rule(broken, SETTINGS).faults[0].message


def test_a_finding_has_values_and_the_place_of_the_command() -> None:
    """The first command that the rule is about; else the queue statement."""
    assert checked(MEMORY, "request_memory = 80GB", "queue") == [("SITE001", "80 GB is too much", "80GB")]
    assert checked(MEMORY, "request_memory = 8GB", "queue") == []
    assert checked(BUSY, "cron_hour = 2", "cron_minute = 0", "queue 201") == [
        ("SITE002", "201 jobs start at 02:00", "0")
    ]
    assert ("SITE005", "leave request_disk out; {braces} stay", "5GB") in checked(BUSY, "request_disk = 5GB", "queue")


def test_a_rule_that_cannot_be_decided_says_so() -> None:
    """An error is a note; an undefined value finds nothing with ``when``, and something with ``require``."""
    odd = MEMORY.replace("RequestMemory > 65536", "error > Foo").replace("match", "#")
    odd = odd[: odd.index("#")]
    assert checked(odd, "queue")[0][1].startswith("SITE001 cannot be decided for this job")
    assert checked(odd.replace("error >", "Foo >"), "queue") == []
    assert len(checked(odd.replace("when", "require").replace("error >", "Foo >"), "queue")) == 1
    (tried,) = (try_rule(each, SETTINGS) for each in rules_in(MEMORY.replace("RequestMemory >", "member(1) >")))
    assert "SITE001 does not report number 1 of match" in [fault.message for fault in tried.faults]
    (tried,) = (try_rule(each, SETTINGS) for each in rules_in(MEMORY.replace("128GB", "a b")))
    assert tried.faults[0].message.startswith("SITE001: number 1 of match is not a job: Parse error in expression")
    mixed = MEMORY.replace("RequestMemory > 65536", "(Foo == 1 || error)")
    assert checked(mixed, "+Foo = $(n)", "queue n in (0, 1)")[0][1].startswith("0 GB is too much; the same for 1")


@pytest.mark.parametrize(
    ("old", "new", "message", "place"),
    [
        ("> 65536", "> ", "a name, a value or ( is expected here", "&&"),
        ("RequestMemory >", "MY.RequestMemroy >", "jobs have no attribute RequestMemroy", "RequestMemroy"),
        ("RequestMemory >", "CrondorRunPerDay >", "jobs have no attribute CrondorRunPerDay", "CrondorRunPerDay"),
        ("RequestMemory >", "sise(Args) >", "there is no function sise", "sise"),
        ("RequestMemory / 1024", "sise(Args)", "there is no function sise", "sise"),
        ('"error"', '"bad"', "there is no severity bad", "severity"),
        ("SITE001", "CRN101", "codes that begin with CRN are crondor's own", "code"),
        ("SITE001", "site1", "site1 is not a code", "code"),
        ("big-memory", "Big Memory", "the name Big Memory is not in kebab case", "name"),
        ("https://", "gopher://", "this is not an address", "url"),
        ("message =", "massage =", "a rule has no massage", "massage"),
        ("when =", "# when =", "the rule needs either when or require", "check.rule"),
        ("/ 1024}", "/ 1024", "a brace stands alone", "message"),
        ("= 64GB, or", "= {64GB, or", "a brace stands alone", "help"),
        ("/ 1024}", "/ }", "an expression is expected, and the text ends", ""),
        ('"https://example.org/memory"', "3", "url must be a text", "url"),
        ('["request_memory = 64GB", ', "[3, ", "no-match must be a list of texts", "no-match"),
        ("[[check.rule]]", "[check.rule]", "rules are tables [[check.rule]], at most 1,000", "check.rule"),
    ],
)
def test_what_is_wrong_with_a_rule(old: str, new: str, message: str, place: str) -> None:
    """With its place."""
    with pytest.raises(InvalidRules) as error:
        rules_in(MEMORY.replace(old, new, 1))
    found = {each.message: each.span and each.span.text for each in error.value.diagnostics}
    assert message in found
    assert not place or found[message] == place


def test_all_faults_are_reported_at_once() -> None:
    """Of all rules; a code is used once in a file."""
    with pytest.raises(InvalidRules) as error:
        rules_in(f"{MEMORY}{MEMORY.replace('error', 'bad')}")
    assert [each.message for each in error.value.diagnostics] == [
        "line 2 has a rule with the code SITE001 already",
        "there is no severity bad",
    ]
    with pytest.raises(InvalidRules) as error:  # also after a key that is unknown, or no text
        rules_in(
            '[[check.rule]]\ncode = "a"\nmesage = "x"\nhelp = 3\nwhen = "(1 and 2)"\nrequire = "Cmmd"\n'
            '[[check.rule]]\ncode = "AB1"\nwhen = true\nrequire = "true"\nmessage = "Cmmd is {Cmmd}"\n'
        )
    assert [(each.message, each.help, each.span and each.span.location) for each in error.value.diagnostics] == [
        ("a rule has no mesage", "did you mean message?", "crondor.toml:3:1"),
        ("help must be a text", 'write help = "..."', "crondor.toml:4:1"),
        ("a is not a code", "write 2 to 16 capitals and 1 to 6 digits, such as SITE001", "crondor.toml:2:1"),
        ("an operator or ) is expected here", "write &&", "crondor.toml:5:12"),
        ("jobs have no attribute Cmmd", "did you mean Cmd?", "crondor.toml:6:12"),
        ("when must be a text", 'write when = "..."', "crondor.toml:9:1"),
        ("the rule needs either when or require", "remove one", "crondor.toml:7:3"),
        ("jobs have no attribute Cmmd", "did you mean Cmd?", "crondor.toml:11:21"),
    ]


def test_hostile_rules_and_jobs_are_bounded() -> None:
    """An endless expression, a regular expression that explodes, and a job without times."""
    deep = "(" * 5000 + "1" + ")" * 5000
    with pytest.raises(InvalidRules):
        rules_in(f"[[check.rule]]\ncode = 'A1'\nwhen = '{deep}'\nmessage = 'x'\n")
    pattern = 'regexp("(a*)*b", "' + "a" * 60 + '")'
    found = checked(f"[[check.rule]]\ncode = 'AB1'\nwhen = '''{pattern}'''\nmessage = 'x'\n", "queue 100000")
    assert found == []
    assert checked(BUSY, "cron_minute = 0", "cron_day_of_month = 31", "cron_month = 2", "queue") == []


def test_the_effort_of_all_rules_of_a_file_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times are computed once per job, not for each rule; after too many each rule is undecided once."""
    asked: list[int] = []
    excludes = JobTimes.excludes

    def counted(times: JobTimes, time: int) -> bool:
        asked.append(time)
        return excludes(times, time)

    monkeypatch.setattr(JobTimes, "excludes", counted)
    daily = ("cron_minute = *", "requirements = DeferralTime % 86400 == 7200", "queue 201")
    rules = BUSY + "".join(BUSY.replace("SITE", f"SITE{n}") for n in range(1, 9))
    assert {found[:2] for found in checked(rules, *daily)} >= {("SITE002", "201 jobs start at 02:00")}
    assert len(asked) < 50_000
    require = "[[check.rule]]\ncode = 'SITE009'\nrequire = 'CrondorRunsPerDay > 0'\nmessage = 'x'\n"
    other = (line for n in range(60) for line in (f"requirements = DeferralTime % 86400 == {n}", "queue"))
    undecided = [code for code, message, _ in checked(BUSY + require, *daily, *other) if "take too long" in message]
    assert undecided == ["SITE002", "SITE004", "SITE009", "SITE003", "SITE005"]


def test_every_queue_statement_counts() -> None:
    """Also the sixtieth; without any the place is the end of the file."""
    lines = [line for n in range(60) for line in (f"request_memory = {n + 65_480}", "queue")]
    assert [place for _, _, place in checked(MEMORY, *lines)] == ["65537", "65538", "65539"]
    settings = CheckSettings(NOW, "UTC", files=False, site=site_rules(rules_in(MEMORY.replace("> 65536", "> 1"))))
    found = [each.diagnostic for each in check_submit("executable = /bin/true\n", settings).findings]
    assert [d.span is not None for d in found if d.code == "SITE001"] == [True]


CONFIG = """\
SUBMIT_REQUIREMENT_NAMES = Mem, Proxy, Busy, Warn
SUBMIT_REQUIREMENT_Mem = TARGET.RequestMemory <= 65536 || JOB.AcctGroup == "large"
SUBMIT_REQUIREMENT_Mem_REASON = strcat("You asked for ", RequestMemory, " MB")
SUBMIT_REQUIREMENT_Proxy = x509UserProxySubject isnt undefined
SUBMIT_REQUIREMENT_Busy = SCHEDD.TotalIdleJobs < 5000
SUBMIT_REQUIREMENT_Warn = JobUniverse == 5
SUBMIT_REQUIREMENT_Warn_IS_WARNING = true
SUBMIT_REQUIREMENT_Warn_REASON = "it's not {vanilla} \\\\ at \\"all\\""
JOB_TRANSFORM_NAMES = A, B
JOB_TRANSFORM_A @=end
  REQUIREMENTS JobUniverse == 5
  SET RequestDisk 1000000
  DEFAULT Foo 3
  DELETE Bar
  SET X "a$(Y)"
@end
JOB_TRANSFORM_B = COPY A B
"""
CHANGING = """\
SUBMIT_REQUIREMENT_NAMES = R
SUBMIT_REQUIREMENT_R = Foo =?= 1
JOB_TRANSFORM_NAMES = A, B
JOB_TRANSFORM_A = DEFAULT Foo 1
JOB_TRANSFORM_B @=end
  REQUIREMENTS Foo == 1
  SET Bar 2
@end
"""


def proposed(config: str) -> str:
    """Return the rules proposed for a configuration."""
    access_point = read_access_point(read_config(Source(config, "site.conf"), subsystem="SCHEDD"))
    return "\n".join(suggested(access_point))


def test_rules_are_proposed_from_an_access_point() -> None:
    """For what can be known before submission; the rest is a comment with the reason."""
    text = proposed(CONFIG)
    assert [each.code for each in rules_in(text)] == ["SITE001", "SITE002", "SITE003", "SITE004"]
    assert [line for line in text.splitlines() if ": no rule" in line] == [
        "# SUBMIT_REQUIREMENT_Proxy (site.conf:4): no rule, since x509UserProxySubject is unknown before submission",
        "# SUBMIT_REQUIREMENT_Busy (site.conf:5): no rule, since SCHEDD.TotalIdleJobs is unknown before submission",
        "# JOB_TRANSFORM_A (site.conf:15): no rule, since it has macros or a pattern",
        "# JOB_TRANSFORM_B (site.conf:17): no rule, since it neither sets nor deletes an attribute",
    ]
    assert checked(text, "request_memory = 70000", "request_disk = 5", "+Bar = 7", "queue") == [
        ("SITE001", "You asked for 70000 MB", "70000"),
        ("SITE003", "the access point sets RequestDisk to 1000000: 5 has no effect", "5"),
        ("SITE004", "the access point deletes Bar: 7 has no effect", "7"),
    ]
    assert checked(text, "universe = local", "queue") == [("SITE002", 'it\'s not {vanilla} \\ at "all"', "local")]
    assert "no SUBMIT_REQUIREMENT_NAMES" in proposed("A = 1")
    assert proposed(CHANGING).count("no rule, since JOB_TRANSFORM_A changes Foo") == 2


def test_proposed_rules_say_what_the_schedd_said() -> None:
    """Each finds the jobs that its knob refused in the recorded submissions to an access point, and no others."""
    folder = ROOT / "tests/golden/access_point"
    source = Source((folder / "pool.conf").read_text(encoding="utf-8"), "pool.conf")
    access_point = read_access_point(read_config(source, subsystem="SCHEDD"))
    site = site_rules(rules_in("\n".join(suggested(access_point))))
    settings = CheckSettings(NOW, "UTC", files=False, site=site)
    judged = 0
    with gzip.open(folder / "submissions.jsonl.gz", "rt", encoding="utf-8") as lines:
        for each in map(json.loads, lines):
            is_other = re.search(
                "transform|disabled|exceed|window", each["refused"] or ""
            )  # other reasons of a refusal
            if each["release"] == "25.14.0" and not is_other:
                findings = [found.diagnostic for found in check_submit(each["submit"], settings).findings]
                errors = [d.message for d in findings if d.code.startswith("SITE") and d.severity is Severity.ERROR]
                refused = [each["refused"]] if each["refused"] else []
                assert errors[:1] == [text.replace("evaluated to non-boolean", "not met") for text in refused], each
                judged += 1
    assert judged > 20


ATTRIBUTES = st.sampled_from(("RequestMemory", "TARGET.RequestCpus", "JOB.JobPrio", "Foo", "NiceUser"))
TERMS = st.one_of(ATTRIBUTES, st.sampled_from(("0", "1", "64", "true", "undefined", "error", '"x"', "2.5")))
EXPRESSIONS = st.recursive(
    TERMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(("&&", "||", "<", "==", "=!=", "+")), inner).map(lambda t: f"({' '.join(t)})"),
        inner.map(lambda text: f"!{text}"),
    ),
    max_leaves=5,
)


@given(EXPRESSIONS, st.integers(0, 130), st.booleans())
def test_a_proposed_rule_finds_what_the_access_point_refuses(expression: str, memory: int, nice: bool) -> None:
    """The same jobs, whatever the requirement is."""
    config = f"SUBMIT_REQUIREMENT_NAMES = R\nSUBMIT_REQUIREMENT_R = {expression}\n"
    lines = (f"request_memory = {memory}", f"nice_user = {nice}", "queue")
    access_point = read_access_point(read_config(Source(config, "site.conf"), subsystem="SCHEDD"))
    settings = CheckSettings(NOW, "UTC", files=False, access_point=access_point)
    found = check_submit("\n".join(("executable = /bin/true", *lines)) + "\n", settings).findings
    assert bool(checked(proposed(config), *lines)) is any(each.diagnostic.code == "CRN701" for each in found)


PACKAGE = """\
from crondor.diagnostics import Severity
from crondor.lint import RuleHit, rule

@rule("ACME001", "no-shell", Severity.WARNING, "a job that runs a shell", url="https://example.org/shell")
def no_shell(file):
    \"\"\"Programs are installed, not written into arguments.\"\"\"
    for jobs in file.stored:
        if jobs.admission.after.python("Cmd") == "/bin/sh":
            yield RuleHit("this runs a shell", jobs.place("Cmd"))

@rule("ACME002", "broken", Severity.NOTE, "a rule with a fault")
def broken(file):
    raise KeyError(file.source.name)

@rule("ACME003", "exits", Severity.NOTE, "a rule that ends the program")
def exits(file):
    raise SystemExit(0)

@rule("ACME004", "text", Severity.NOTE, "a rule that finds no RuleHit")
def text(file):
    return ["a text"]

RULES = (no_shell, broken, exits, text)
"""


def package(folder: Path, value: str) -> dict[str, str]:
    """Install a package with an entry point into a folder; return the variables with which a process has it."""
    (folder / "acme.py").write_text(PACKAGE)
    about = folder / "acme-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[crondor.rules]\nacme = {value}\n")
    return {"PYTHONPATH": os.pathsep.join((str(folder), *filter(None, sys.path)))}


def test_a_package_registers_functions(tmp_path: Path) -> None:
    """They are rules with a page; one that fails is a finding."""
    job = tmp_path / "job.sub"
    job.write_text("executable = /bin/sh\nqueue\n")
    env = package(tmp_path, "acme:RULES")
    found = process("check", str(job), "--no-files", "--format", "json", env=env)
    findings = {each["code"]: each for each in json.loads(found.stdout)["files"][0]["findings"]}
    assert findings["ACME001"]["place"]["line"] == 1
    assert findings["ACME001"]["url"] == "https://example.org/shell"
    assert findings["ACME002"]["message"] == f"the rule ACME002 failed: KeyError({str(job)!r})"
    assert findings["ACME003"]["message"] == "the rule ACME003 failed: SystemExit(0)"
    assert "no attribute" in findings["ACME004"]["message"]
    assert findings["ACME004"]["place"]["line"] == 1
    assert "Programs are installed" in process("check", "--explain", "no-shell", env=env).stdout.decode()
    assert "ACME002" in process("check", "--rules", env=env).stdout.decode()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("acme:gone", "the rules acme:gone cannot be loaded"),
        ("acme:PACKAGE", "acme:PACKAGE cannot"),
        ("os:sep", "os:sep is not a rule"),
    ],
)
def test_a_package_without_rules_is_an_error(tmp_path: Path, value: str, message: str) -> None:
    """It is not passed over: rules would be missing."""
    (tmp_path / "job.sub").write_text("executable = /bin/sh\nqueue\n")
    found = process("check", str(tmp_path / "job.sub"), env=package(tmp_path, value))
    assert (found.returncode, message in found.stderr.decode()) == (2, True)


@pytest.fixture
def project(commons: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to the folder of a project with rules; nobody else has any."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(commons / "user"))
    (commons / "crondor.toml").write_text(MEMORY)
    (commons / "job.sub").write_text("executable = /bin/true\nrequest_memory = 80GB\nqueue\n")
    monkeypatch.chdir(commons)
    return commons


def codes(*arguments: str) -> list[str]:
    """Return the codes of the rules of the site that find something in a file."""
    found = crondor("check", "job.sub", "--no-files", "--format", "json", *arguments).data["files"][0]["findings"]
    return [each["code"] for each in found if not each["code"].startswith("CRN")]


def test_rules_are_treated_like_others(project: Path) -> None:
    """Selected, ignored, in a baseline, in a comment, explained, as SARIF, for GitHub, in a DAG, in a plan."""
    assert codes() == codes("--select", "SITE") == ["SITE001"]
    assert codes("--ignore", "SITE001") == codes("--select", "CRN1") == codes("--no-config") == []
    assert crondor("check", "job.sub", "--no-files").status == 1
    (project / "crondor.toml").write_text(MEMORY.replace("= 64GB, or", "= {65536}, or"))
    assert "write request_memory = 65536, or" in crondor("check", "job.sub", "--no-files").out
    assert "see: https://example.org/memory" in crondor("check", "job.sub", "--no-files").out
    assert "see: https://example.org/memory" in crondor("check", "job.sub", "--no-files", "--fix").err
    assert "https://example.org/memory" in crondor("check", "job.sub", "--no-files", "--format", "github").out
    sarif = crondor("check", "job.sub", "--select", "SITE", "--format", "sarif").data["runs"][0]
    assert sarif["tool"]["driver"]["rules"][0]["helpUri"] == "https://example.org/memory"
    assert "RequestMemory > 65536" in crondor("check", "--explain", "site001").out
    (project / "crondor.toml").write_text(MEMORY.replace(" is too much", "\\nis too much"))
    assert "big-memory           {RequestMemory / 1024} GB is too" in (listed := crondor("check", "--rules").out)
    assert all(line in listed for line in ("SITE001  error    big-memory", "CRN101   error    out-of-range"))
    assert crondor("check", "job.sub", "--baseline", "known.json", "--update-baseline").status == 0
    assert codes("--baseline", "known.json") == []
    (project / "a.dag").write_text("JOB A job.sub\n")
    assert "[SITE001]" in crondor("check", "a.dag").out
    (project / "jobs").mkdir()
    (project / "jobs" / "job.sub").write_text((project / "job.sub").read_text())
    assert "[SITE001]" in crondor("plan", "jobs", "--ads", "/dev/null").err
    (project / "job.sub").write_text(f"# crondor: ignore-file[SITE001]\n{(project / 'job.sub').read_text()}")
    assert codes() == codes("--no-config") == []
    assert "CRN90" not in crondor("check", "job.sub", "--no-config").out  # a rule of another host


def test_files_with_rules(project: Path) -> None:
    """The user's file and the project's are both used; of one code the nearer; shared files are extended."""
    user = project / "user" / "crondor"
    user.mkdir(parents=True)
    (user / "crondor.toml").write_text(f'[check]\nextend = "shared.toml"\n{BUSY}'.replace("SITE005", "SITE001"))
    (user / "shared.toml").write_text(BUSY.replace("SITE005", "SITE006"))
    assert codes() == ["SITE001"]
    (project / "crondor.toml").write_text(MEMORY.replace(" is too much", "\\nis too much"))
    assert "big-memory           {RequestMemory / 1024} GB is too" in (listed := crondor("check", "--rules").out)
    assert [f"SITE00{n}" in listed for n in range(1, 7)] == [True, True, True, True, False, True]
    (project / "crondor.toml").write_text(
        '[check]\nextend = ["rules.toml", "../out.toml", "gone.toml", "crondor.toml"]\n'
    )
    (project / "rules.toml").write_text(f"\ufeff{MEMORY}", encoding="utf-8")  # a byte order mark of Windows
    found = crondor("check", "job.sub")
    assert found.status == 2
    assert "../out.toml is ignored" in found.err
    assert "there is no file 'gone.toml'" in found.err
    assert "crondor.toml already extends this file" in found.err
    for n in range(9):  # each is read once, not 3 ** 9 times
        (project / f"x{n}.toml").write_text(f"[check]\nextend = {[f'x{n + 1}.toml', f'./x{n + 1}.toml'] * 2}\n")
    (project / "x9.toml").write_text(MEMORY)
    (project / "crondor.toml").write_text("[check]\nextend = 'x0.toml'\n")
    assert codes() == ["SITE001"]
    (project / "pyproject.toml").write_text(MEMORY.replace("check.rule", "tool.crondor.check.rule"))
    assert crondor("check", "--test-rules", "pyproject.toml").lines[-1] == "1 rule: 5 tests passed"
    (project / "x9.toml").write_text(MEMORY.replace("check.rule", "rule"))
    assert "did you mean check.rule?" in crondor("check", "job.sub").err
    (project / "crondor.toml").write_text("[check]\nextend = 3\n")
    assert "must be a path" in crondor("check", "job.sub").err
    (project / "crondor.toml").write_text(MEMORY.replace("> 65536", ">"))
    assert "a name, a value or ( is expected here" in crondor("check", "job.sub").err
    assert crondor("next", "--crontab", "0 1 * * *").status == 0  # other commands need no rules


def test_rules_are_tested(project: Path) -> None:
    """By the command, with the status of a test."""
    assert crondor("check", "--test-rules").lines == ["SITE001 big-memory: 5 tests passed", "1 rule: 5 tests passed"]
    (project / "more.toml").write_text(MEMORY.replace("70000", "7") + BUSY)
    found = crondor("check", "--test-rules", "more.toml")
    assert (found.status, found.lines[-1]) == (1, "5 rules: 21 tests passed, 1 failed")
    assert "RequestMemory is 7; AcctGroup is undefined" in found.err
    assert crondor("check", "--test-rules", "more.toml", "--format", "json").data["rules"][0]["failed"] == 1
    (project / "crondor.toml").unlink()
    assert "there are no rules" in crondor("check", "--test-rules").err
    (project / "site.conf").write_text(CONFIG)
    suggestion = crondor("check", "--suggest-rules", "--pool-config", "site.conf")
    assert suggestion.out == f"{proposed(CONFIG)}\n".replace("site.conf", "site.conf")
    assert "needs --pool-config" in crondor("check", "--suggest-rules").err


def test_an_editor_shows_them(project: Path) -> None:
    """With the address of their page, and their text on request."""
    path = project / "job.sub"
    with serving() as client:
        (found,) = [e for e in client.diagnostics(client.open(path, path.read_text())) if e["code"] == "SITE001"]
        page = client.ask("workspace/executeCommand", command="crondor.explain", arguments=["SITE001"])
    assert "RequestMemory > 65536" in page
    assert found["codeDescription"]["href"] == "https://example.org/memory"
