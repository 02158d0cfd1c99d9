"""CRN0..: what reading a description says; every code that the reader can give belongs to exactly one rule."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

import crondor
from crondor.codes import KINDS
from crondor.diagnostics import Diagnostic, Severity, Source
from crondor.lint import RULES, CheckReport, CheckSettings, check_submit, refused
from crondor.lint.rules.reading import READING_RULES, owner
from crondor.macro import InvalidText, source_from_bytes
from crondor.macro.files import Files
from crondor.submit import read_submit
from tests.check.asking import NOW, SETTINGS, cured, found, places, report

_KEBAB = re.compile(r"[a-z]+(?:-[a-z0-9]+)*")
_GIVES = {"error", "warn", "hide", "unknown", "Diagnostic", "MacroError", "QueueError", "FileRefused"}
_GIVES |= {"_refused", "_refuse", "_refuse_at", "_fault", "fault"}


def given() -> Iterator[str]:
    """Yield the codes that the reader and the macro language name where they make a diagnostic."""
    root = Path(crondor.__file__).parent
    for path in (*root.glob("submit/*.py"), *root.glob("macro/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
            yield from [text for text in texts if name in _GIVES and _KEBAB.fullmatch(text)][:1]
            if name == "Words":
                words = [word.value for word in node.keywords if word.arg not in {"reader", "contents"}]
                yield from [str(word.value) for word in words if isinstance(word, ast.Constant) and word.value]


CLAIMS = {rule.code: KINDS[rule.code] for rule in READING_RULES}


def test_every_kind_of_the_reader_is_claimed_once() -> None:
    """A new kind must be put where it belongs; none is claimed that is no kind."""
    claimed = Counter(kind for kinds in KINDS.values() for kind in kinds)
    assert set(claimed.values()) == {1}
    # the last two are of check itself, and of all that read text
    assert {*given(), "too-many-jobs", "odd-comment"} == {kind for kinds in CLAIMS.values() for kind in kinds}


def test_the_codes_are_looked_for_where_they_are() -> None:
    """The search finds those of every kind of call."""
    assert {"colon", "runs-command", "file-outside", "not-utf8", "macro-work", "queue-count"} <= set(given())


def test_no_fault_is_lost() -> None:
    """A code that nobody claims is CRN001's, and each rule with claims exists."""
    assert owner(Diagnostic("something-new", "?")) == "CRN001"
    assert all(RULES[code].code == code for code in CLAIMS)


def read(folder: Path, text: str) -> CheckReport:
    """Check a description in a folder whose files may be read."""
    files = Files([str(folder)], base=str(folder))
    return check_submit(Source(text, "job.sub"), CheckSettings(NOW, "UTC"), partial(read_submit, files=files, now=NOW))


CASES = [
    ("cron_minute : 0\nqueue\n", "CRN001"),
    ("what is this\nqueue\n", "CRN001"),
    ("", "CRN001"),
    ("x @=end\n1\nqueue\n", "CRN001"),
    ("include : nul.sub\nqueue\n", "CRN002"),
    ("include : latin.sub\nqueue\n", "CRN002"),
    ("include command : ls\nqueue\n", "CRN003"),
    ("queue x from ls |\n", "CRN003"),
    ("include : ../other.sub\nqueue\n", "CRN004"),
    ("queue x from -\n", "CRN004"),
    ("a = $(b)\nb = $(a)\ncron_minute = $(a)\nqueue\n", "CRN005"),
    ("x = 1\n", "CRN006"),
    ("queue\nx = 1\n", "CRN007"),
    ("queue 0\n", "CRN008"),
    ("queue x in ()\n", "CRN008"),
    ("queue x from (\n1\n\n2\n)\n", "CRN008"),
    ("queue x matching *.none\n", "CRN008"),
    ("a = 1\\\n# b\nqueue\n", "CRN009"),
    ("\ufeffqueue\n", "CRN010"),
    ("queue\n  x = 1", "CRN010"),
    ("error : no\nqueue\n", "CRN011"),
    ("warning : no\nqueue\n", "CRN011"),
    ("if 1\nqueue\n", "CRN013"),
    ("queue -1\n", "CRN014"),
    ("queue x from (\n1\n", "CRN014"),
    ("include : inner.sub\nqueue\n", "CRN014"),
    ("include : missing.sub\nqueue\n", "CRN015"),
    ("queue x from missing.txt\n", "CRN015"),
    ("include : folder\nqueue\n", "CRN015"),
    ("cron_minute = $ENV(X)\nqueue\n", "CRN016"),
    ("cron_minute = $RANDOM_INTEGER(0,9)\nqueue\n", "CRN016"),
    ("use template : T\nqueue\n", "CRN016"),
]


@pytest.mark.parametrize(("text", "code"), CASES)
def test_each_kind_of_fault_has_its_rule(text: str, code: str, tmp_path: Path) -> None:
    """And no other rule of reading speaks of it."""
    (tmp_path / "nul.sub").write_bytes(b"a = \0\n")
    (tmp_path / "latin.sub").write_bytes(b"a = \xe9\n")
    (tmp_path / "inner.sub").write_text("queue\n", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    said = {f.diagnostic.code for f in read(tmp_path, text).findings if f.diagnostic.code.startswith("CRN0")}
    said -= {"CRN017"}  # most of these have no executable
    assert code in said
    assert said <= {code, "CRN001"} if code in {"CRN010", "CRN015"} else said == {code}


@pytest.mark.parametrize(
    "text",
    [
        "executable = x\nqueue\n",
        "executable = x\nqueue 3 a, b from (\n1 2\n3 4\n)\n",
        "if defined X\nerror : no\nendif\nqueue\n",
        "include : good.sub\nqueue\n",
        "queue x from rows.txt\n",
        "queue x matching *.txt\n",
        "include ifexist : missing.sub\nqueue\n",
        "a = 1\\\n# b\\\n2\nqueue\n",
        "arguments = $ENV(HOME)\nqueue\n",
        "queue 2000000000\n",
    ],
)
def test_good_descriptions_are_quiet(text: str, tmp_path: Path) -> None:
    """No rule of reading has anything to say."""
    (tmp_path / "good.sub").write_text("a = 1\n", encoding="utf-8")
    (tmp_path / "rows.txt").write_text("1\n2\n", encoding="utf-8")
    said = {f.diagnostic.code for f in read(tmp_path, text).findings}
    assert not {code for code in said - {"CRN017"} if code.startswith("CRN0")}


def test_what_else_is_wrong_is_said_beside_a_line_that_cannot_be_read(tmp_path: Path) -> None:
    """All faults at once; a line without its sign is taken for what it seems to say, and of what it may hide is not."""
    text = "executable /bin/true\ncron_minute = 61\nrequest_disk = 5QB\nperiodic_hold : a + * b\ncron_hour 25\nqueue\n"
    found = [each.diagnostic for each in read(tmp_path, text).findings]
    assert [(each.code, each.span.line) for each in found if each.span is not None] == [
        *(("CRN001", 1), ("CRN101", 2), ("CRN560", 3), ("CRN001", 4), ("CRN312", 4), ("CRN001", 5), ("CRN101", 5))
    ]


@pytest.mark.parametrize(
    "text",
    [
        "what is this\ncron_minute = $(minute)\nqueue\n",
        "if maybe\ncron_minute = 61\nendif\nqueue\n",
        "wrong\n" * 9 + "cron_minute = 61\nqueue\n",
    ],
)
def test_where_nobody_can_say_what_the_rest_is_nothing_is_said_of_it(text: str, tmp_path: Path) -> None:
    """A macro that an unread line may define, a branch, or what is hardly a submit description."""
    assert not [each for each in read(tmp_path, text).findings if each.diagnostic.code > "CRN1"]


def test_a_fault_in_an_included_file_is_shown_there(tmp_path: Path) -> None:
    """With the included file's name and line."""
    (tmp_path / "more.sub").write_text("a = 1\ncron_minute = 60\n", encoding="utf-8")
    (finding,) = [f for f in read(tmp_path, "include : more.sub\nqueue\n").findings if f.diagnostic.code == "CRN101"]
    assert finding.diagnostic.span is not None
    assert finding.diagnostic.span.location == "more.sub:2:15"
    assert finding.fix is None


@pytest.mark.parametrize("hidden", ["include : ../more.sub", "include command : more", "use template : T"])
def test_what_is_missing_is_not_said_where_lines_are_hidden(hidden: str, tmp_path: Path) -> None:
    """They may hold the command; a rule about what is there speaks as ever."""
    text = f"cron_hour = 1-23/2\n{hidden}\nqueue\n"
    said = {f.diagnostic.code for f in read(tmp_path, text).findings}
    assert not said & {code for code, rule in RULES.items() if rule.misses}
    assert "CRN102" in said
    seen = {f.diagnostic.code for f in read(tmp_path, text.replace(hidden, "a = 1")).findings}
    assert {"CRN102", "CRN208", "CRN401"} <= seen


def test_the_limit_of_crondor_is_no_error() -> None:
    """CRN016: condor_submit would take the file."""
    report = check_submit(Source("cron_minute = $ENV(X)\nqueue\n", "job.sub"), SETTINGS)
    assert [f.diagnostic.severity for f in report.findings] == [Severity.WARNING]


def test_bytes_that_are_no_text() -> None:
    """CRN002 before anything else is read."""
    with pytest.raises(InvalidText) as error:
        source_from_bytes(b"\xff\xfeq\0", "job.sub")
    assert [f.diagnostic.code for f in refused("job.sub", error.value, SETTINGS).findings] == ["CRN002"]


def test_cures() -> None:
    """A colon, a missing queue statement, a byte order mark, a missing line end."""
    assert cured("CRN001", "executable = x", "cron_minute : 0") == "executable = x\ncron_minute = 0\nqueue\n"
    assert cured("CRN006", "executable = x", queue="y = 1") == "executable = x\ny = 1\nqueue\n"
    assert cured("CRN010", "\ufeffexecutable = x") == "executable = x\nqueue\n"


@pytest.mark.parametrize(
    ("queue", "place"),
    [
        ("queue foo", "foo"),
        ("queue 1 2 x in (a b)", "1 2 x in (a b)"),
        ("queue x in files (a b)", "x in files (a b)"),
        ("queue x in [::0] (a b)", "x in [::0] (a b)"),
        ("queue x from table(csv (\na\n)", "x from table(csv ("),
        ("queue x from (\na\n", "queue x from ("),
        ("queue $(a", "$(a"),
    ],
)
def test_a_wrong_queue_statement_hides_no_other_finding(queue: str, place: str) -> None:
    """What is wrong with the lines above it is said as well, and nothing is said of the macros that it may define."""
    lines = ("executable = /bin/true", 'cron_hour = "3"', "cron_minute = 1", "period_hold = true", "arguments = $(x)")
    findings = report(*lines, queue=queue).findings
    codes = {each.diagnostic.code for each in findings}
    assert {"CRN107", "CRN501"} <= codes
    assert "CRN540" not in codes
    (fault,) = [each.diagnostic for each in findings if each.diagnostic.code in {"CRN014", "CRN012"}]
    assert fault.span is not None
    assert fault.span.text == place


def test_a_list_that_is_not_there_hides_no_other_finding(tmp_path: Path) -> None:
    """Where the values need its items, only what is there is spoken of."""
    files = Files((str(tmp_path),), base=str(tmp_path))

    def codes(*lines: str) -> set[str]:
        text = "\n".join(
            ("executable = /bin/true", "cron_hour = 3", "cron_day_of_month = 32", *lines, "queue h from none.txt\n")
        )
        found = check_submit(Source(text, "job.sub"), SETTINGS, lambda source: read_submit(source, files=files))
        return {each.diagnostic.code for each in found.findings}

    assert {"CRN015", "CRN101", "CRN208"} <= codes()
    with_items = codes("cron_minute = $(h)")
    assert {"CRN015", "CRN101"} <= with_items
    assert not {"CRN208", "CRN017", "CRN109"} & with_items


CRON = "cron_minute = 0"


@pytest.mark.parametrize(
    "name", ["cron_minutes", "Cron_Minuet", "cron_hours", "cron_dow", "deferral_tiem", "cron_windw"]
)
def test_a_misspelt_command(name: str) -> None:
    """CRN501 points at the name."""
    assert places("CRN501", f"{name} = 1") == [name]


@pytest.mark.parametrize(
    "line", ["cron_minute = 1", "CRON_MINUTE = 1", "CronMinute = 1", "croissant = 1", "my_cron = 1"]
)
def test_commands_and_own_macros(line: str) -> None:
    """CRN501 is silent for commands in any case, and for names that look like none."""
    assert not found("CRN501", line)


def test_the_cure_is_the_name() -> None:
    """The value and the rest of the line stay."""
    assert cured("CRN501", "cron_minutes  = 0 ") == "cron_minute  = 0 \nqueue\n"


def test_an_attribute_behind_the_back() -> None:
    """CRN502: window and prep time are missing, unless a command or the file itself gives them."""
    assert places("CRN502", '+CronMinute = "0"') == ['"0"']
    assert places("CRN502", "MY.DeferralTime = 2000000000") == ["2000000000"]
    assert not found("CRN502", '+CronMinute = "0"', "cron_hour = 6")
    assert not found("CRN502", '+CronMinute = "0"', "+DeferralWindow = 0", "+DeferralPrepTime = 300")


@pytest.mark.parametrize(
    ("code", "lines", "count"),
    [
        ("CRN503", ("universe = scheduler", "deferral_time = 2000000000"), 1),
        ("CRN503", ("universe = local", "deferral_time = 2000000000"), 0),
        ("CRN503", ("universe = scheduler", CRON), 0),
        ("CRN503", ("universe = scheduler",), 0),
        ("CRN504", ("universe = scheduler", CRON), 1),
        ("CRN504", ("u = Scheduler", "universe = $(u)", CRON), 1),
        ("CRN504", ("universe = 7", CRON), 1),
        ("CRN504", ("universe = vanilla", CRON), 0),
        ("CRN504", ("universe = scheduler",), 0),
        ("CRN505", ("universe = grid", CRON), 1),
        ("CRN505", ("universe = grid", "deferral_time = 2000000000"), 1),
        ("CRN505", ("universe = grid",), 0),
        ("CRN505", ("universe = docker", CRON), 0),
        ("CRN506", ("universe = vanila", CRON), 1),
        ("CRN506", ("universe = 99",), 1),
        ("CRN506", ("universe = container",), 0),
        ("CRN506", ("universe =",), 0),
    ],
)
def test_universes(code: str, lines: tuple[str, ...], count: int) -> None:
    """What each universe does with a time."""
    assert len(found(code, *lines)) == count


def test_each_queue_statement_has_its_universe() -> None:
    """A fault of the second is no fault of the first."""
    (place,) = places("CRN504", CRON, "queue", "universe = scheduler")
    assert place == "scheduler"
