"""Submit descriptions: values, jobs and faults. The recorded cases are condor_submit -dry-run of HTCondor 25.14.0."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crondor.diagnostics import CrondorError, Diagnostic, Severity, Source
from crondor.submit import InvalidSubmit, JobGroup, SubmitFile, read_submit
from tests.rows import rows

FIELDS = ("cron_minute", "cron_hour", "cron_day_of_month", "cron_month", "cron_day_of_week")
NAMES = (*FIELDS, "cronminute", "my.cronminute", "deferral_time", "deferral_window", "m", "x")
SLOWEST = 60.0  # seconds of the processor; it takes a fraction of one


def read(text: str) -> SubmitFile:
    """Read a text that is expected to be right."""
    return read_submit(Source(text, "job.sub"))


def groups(text: str, *names: str, limit: int = 100_000) -> list[JobGroup]:
    """Return all groups of a text."""
    return list(read(text).groups(names or NAMES, limit))


def jobs(text: str, *names: str) -> list[tuple[str, ...]]:
    """Return the values of some names for each job, in the order of the jobs ('-' where one is not assigned)."""
    every = read("p = $(ProcId)\n" + text).groups((*names, "p"))
    rows = sorted((int(g.values["p"]), tuple(g.values.get(n, "-") for n in names)) for g in every)
    assert [process for process, _ in rows] == list(range(len(rows)))
    return [row for _, row in rows]


def values(text: str) -> dict[str, str]:
    """Return the values of the one group that a text has."""
    (group,) = groups(text + "\nqueue\n")
    return dict(group.values)


def faults(text: str) -> list[tuple[str, int]]:
    """Return code and line of each error."""
    with pytest.raises(InvalidSubmit) as caught:
        groups(text)
    return [(d.kind, d.span.line if d.span else 0) for d in caught.value.diagnostics]


def warnings(text: str) -> list[str]:
    """Return the codes of the warnings, each of which has a place and says what to do or why."""
    found = read(text).warnings
    assert all(d.severity is Severity.WARNING and d.span is not None for d in found)
    return [d.kind for d in found]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("cron_minute = 5", "5"),
        ("cron_minute=5", "5"),
        ("\t cron_minute   =   5,*  \t", "5,*"),
        ("Cron_MINUTE = 5", "5"),
        ("cron_minute = 5\ncron_minute = 6", "6"),
        ("cron_minute = 5 # c", "5 # c"),
        ("cron_minute == 5", "= 5"),
        ("cron_minute = a=b:c", "a=b:c"),
        ('cron_minute = "5"', '"5"'),
        ("cron_minute =", ""),
        ("cron_minute = $(undefined)", ""),
        ("cron_minute = 1,\\\n 2,\\\n 3", "1,2,3"),
        ("cron_minute = \\\n  5", "5"),
        ("cron_minute = 5\r", "5"),
        ("m = */4\ncron_minute = $(m)", "*/4"),
        ("cron_minute = $(m)\nm = 7", "7"),
        ("m = 4\nm = $(m)5\ncron_minute = $(m)", "45"),
        ("cron_minute = ${m}", "${m}"),
        ("cron_minute = $$(Minute)", "$$(Minute)"),
        ("cron_minute = $(Cluster).$(ClusterId)", "1.1"),
        ("cron_minute = $(JobId)", "1.0"),
        ("p = cron\n$(p)_minute = 3", "3"),
    ],
)
def test_value_of_a_command(text: str, value: str) -> None:
    """A value is the text right of the equals sign, expanded with what the file says in the end."""
    assert values(text)["cron_minute"] == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x = a\nx += b", "a b"),
        ("x = a\nx +;= b", "a;b"),
        ("x = a\nx +&&= b", "a && b"),
        ("x += b", "b"),
        ("m = 1\nx = $(m)\nx += $(m)", "1 1"),
    ],
)
def test_appending(text: str, value: str) -> None:
    """The += of HTCondor joins with a blank, or with the separator between the plus and the equals sign."""
    assert values(text)["x"] == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('+CronMinute = "5"', '"5"'),
        ('MY.CronMinute = "5"', '"5"'),
        ('my.cronminute = "5"\n+CronMinute = "6"', '"6"'),
        ("-CronMinute = 5", ""),
        ("+CronMinute =", ""),
        ("+CronMinute = 1\n+CronMinute = $(MY.CronMinute)2", "12"),
    ],
)
def test_attributes_have_one_key(text: str, value: str) -> None:
    """+X, -X and MY.X are the same key my.x; -X and an empty value make the attribute undefined."""
    assert values(text)["my.cronminute"] == value


def test_a_name_keeps_its_first_spelling_and_place() -> None:
    """The file knows how each key was first written, for messages that show it."""
    file = read("Cron_Minute = 1\ncron_minute = 2\n+CronHour = 3\nqueue m in (1)\n")
    assert file.keys == ("cron_minute", "my.cronhour")
    shown = [file.name(key) for key in file.keys]
    assert [span.text for span in shown if span] == ["Cron_Minute", "+CronHour"]
    assert file.name("m") is None


def test_spans_are_the_text_right_of_the_equals_sign() -> None:
    """The place of a value is where it is written, even over a continuation; of a loop variable, in its row."""
    text = "cron_minute =  1,\\\n  2  \ncron_hour = $(h)\nh = 3\nqueue cron_month,m from (\n 5, x\n)\n"
    (group,) = groups(text)
    assert group.spans["cron_minute"].text == "1,\\\n  2"
    assert group.spans["cron_hour"].text == "$(h)"
    assert (group.spans["cron_month"].text, group.spans["cron_month"].location) == ("5", "job.sub:6:2")
    assert (group.spans["m"].text, group.spans["m"].location) == ("x", "job.sub:6:5")
    assert group.queue is not None
    assert group.queue.text == "queue cron_month,m from ("


@pytest.mark.parametrize(("statement", "rows"), rows("submit/queue_statements"))
def test_jobs_of_a_queue_statement(statement: str, rows: list[str]) -> None:
    """Each job has its process, step and row, and the loop variables of its row."""
    text = "x = $(Process)/$(Step)/$(Row)/$(m)\n" + statement + "\n"
    assert [value for (value,) in jobs(text, "x")] == rows


def test_item_is_the_default_variable() -> None:
    """A list without variables sets Item; a queue statement without a list empties it, whatever the file says."""
    assert jobs("item = 9\nx = $(Item)\nqueue in (a b)\nqueue from (\n1 2\n)\nqueue\n", "x") == [
        ("a",),
        ("b",),
        ("1 2",),
        ("",),
    ]


def test_each_queue_statement_sees_what_stands_before_it() -> None:
    """Values are those at the statement, and processes are counted through all of them."""
    text = "cron_minute = $(m)\nm = 1\nqueue 2\nm = 2\ncron_hour = $(Process)\nqueue 2\n"
    assert jobs(text, *FIELDS[:2]) == [("1", "-"), ("1", "-"), ("2", "2"), ("2", "3")]
    firsts = [(g.count, g.first) for g in groups(text)]
    assert firsts == [(2, (0, 0)), (1, (1, 2)), (1, (1, 3))]


def test_a_used_loop_variable_holds_htcondors_placeholder() -> None:
    """After its statement a loop variable is not what it was before: HTCondor leaves a word of its own in it."""
    assert jobs("m = 7\nx = $(m)\nqueue m in (1)\nqueue\n", "x") == [("1",), ("<Queue_item>",)]
    assert jobs("x = $(m)\nqueue\nqueue m in (1)\n", "x") == [("",), ("1",)]


def test_user_variables_win_over_the_built_in_ones() -> None:
    """A file may call its own variable Process, and ProcId still counts."""
    assert jobs("x = $(Process) $(ProcId)\nqueue Process in (8,9)\n", "x") == [("8 0",), ("9 1",)]


def test_a_file_without_queue_is_one_job_and_a_warning() -> None:
    """HTCondor 25.14 makes one job of a file that has no queue statement; the group then has none either."""
    (group,) = groups("cron_minute = 5\n")
    assert (group.count, group.queue, dict(group.values)) == (1, None, {"cron_minute": "5"})
    assert warnings("cron_minute = 5\n") == ["no-queue"]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("x = 1\nqueue\n", []),
        ("queue\nx = 1\n", ["after-queue"]),
        ("queue 0\n", ["queue-zero"]),
        ("queue in ()\n", ["queue-empty"]),
        ("queue from (\na\n\nb\n)\n", ["blank-row"]),
        ("x = 1,\\\n# two\nqueue\n", ["comment-in-line"]),
        ("warning : careful\nqueue\n", ["warning-statement"]),
    ],
)
def test_surprises_are_warnings(text: str, codes: list[str]) -> None:
    """What HTCondor takes without a word, but not as it looks, is a warning on the result."""
    assert warnings(text) == codes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cron_minute : 5\nqueue", [("colon", 1)]),
        ("cron_hour 8\nqueue", [("no-statement", 1)]),
        ("foo bar = 1\nqueue", [("no-statement", 1)]),
        ("cron-minute = 5\nqueue", [("bad-name", 1)]),
        ("x@=end\nqueue", [("bad-name", 1)]),
        ("queue x", [("queue-count", 1)]),
        ("queue 2 foo", [("queue-count", 1)]),
        ("queue -1", [("queue-count", 1)]),
        ("queue 2147483647", [("queue-count", 1)]),
        ("queue m in [1;2] (a)", [("queue-slice", 1)]),
        ("queue m in files (a)", [("queue-keyword", 1)]),
        ("\nqueue m in (1,2\n", [("queue-list", 2)]),
        ("queue 1/0", [("queue-count", 1)]),
        ("queue m from table(sep=; (a)", [("queue-table", 1)]),
        ("queue m in table (a)", [("queue-keyword", 1)]),
        ("queue m matching files dirs (a)", [("queue-keyword", 1)]),
        ("queue m from | ls", [("queue-list", 1)]),
        ("include files : a.sub\nqueue", [("include", 1)]),
        ("include command into : a\nqueue", [("include", 1)]),
        ("include command into c| : a\nqueue", [("include", 1)]),
        ("include : | a b\nqueue", [("include", 1)]),
        ("use feature : GPUs\nqueue", [("use", 1)]),
        ("use template\nqueue", [("no-statement", 1)]),
        ("x @=end\na b c\n", [("heredoc", 1)]),
        ("if x\n junk\nelse\n junk\nendif\nqueue", [("conditional", 1), ("no-statement", 4)]),
        ("if $(m) > 3\nendif\nm = $(m)", [("conditional", 1)]),
        ("IF true\nendif\nendif\nqueue", [("conditional", 3)]),
        ("if true\nx = 1\n", [("conditional", 3)]),
        ("if $ENV(X)\nendif\nqueue", [("unknown-environment", 1)]),
        ("error : stop now\nqueue", [("error-statement", 1)]),
        ("\ufeffx = 1\nqueue", [("byte-order-mark", 1)]),
        ("x = 1\n  queue", [("no-line-end", 2)]),
        ("", [("empty-file", 1)]),
        ("# only a comment\n", [("empty-file", 2)]),
        ("x = \0", [("not-text", 1)]),
        ("x = $(x)$(x)aa\n" + "x = $(x)$(x)\n" * 20 + "queue", [("macro-size", 21)]),
    ],
)
def test_faults(text: str, expected: list[tuple[str, int]]) -> None:
    """What HTCondor refuses is an error with its line."""
    assert faults(text) == expected


def test_all_faults_come_at_once() -> None:
    """One reading reports every fault of a file, in order."""
    assert faults("cron_minute : 5\nif a\nendif\nfoo\nx = 1\nqueue y\n") == [
        ("colon", 1),
        ("conditional", 2),
        ("no-statement", 4),
        ("queue-count", 6),
    ]


def test_a_colon_has_a_fix() -> None:
    """The diagnostic of a colon between name and value carries the text that mends it."""
    with pytest.raises(InvalidSubmit) as caught:
        read("cron_minute : 5\nqueue\n")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.fix == "="
    assert diagnostic.span is not None
    assert diagnostic.span.location == "job.sub:1:13"


def test_functions_matter_only_where_they_are_needed() -> None:
    """A macro function in a value nobody asked for stops nothing; where it is needed, its place is shown."""
    text = "executable = $ENV(HOME)/a\nm = $ENV(M)\ncron_minute = 5\ncron_hour = $(m)\nqueue\n"
    (group,) = groups(text, "cron_minute")
    assert dict(group.values) == {"cron_minute": "5"}
    with pytest.raises(InvalidSubmit, match=r"cron_hour: \$ENV\(M\) takes a variable") as caught:
        groups(text, *FIELDS)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.span is not None
    assert diagnostic.span.location == "job.sub:2:5"


def test_faults_of_all_values_and_queue_statements_come_at_once() -> None:
    """Expansion reports every value that cannot be known, each once."""
    text = "cron_minute = $(a)\na = $(cron_minute)\ncron_hour = $(Day)\nqueue\nqueue\ncron_hour = $ENV(x)\nqueue\n"
    with pytest.raises(InvalidSubmit) as caught:
        groups(text)
    codes = [d.kind for d in caught.value.diagnostics]
    assert codes == ["macro-cycle", "unknown-macro", "unknown-environment"]


def test_equal_jobs_are_one_group_and_cost_nothing() -> None:
    """Jobs whose values agree are counted, not made, unless the value itself depends on the job."""
    begin = time.process_time()
    (group,) = groups("cron_minute = 5\narguments = $(Process)\nqueue 2000000000\n")
    assert group.count == 2_000_000_000
    by_item = groups("cron_minute = $(m)\nqueue 1000000 m in (5 6 5)\n", "cron_minute")
    assert [(g.count, g.values["cron_minute"], g.first) for g in by_item] == [
        (2_000_000, "5", (0, 0)),
        (1_000_000, "6", (0, 1_000_000)),
    ]
    assert time.process_time() - begin < SLOWEST


def test_a_million_different_jobs_are_refused_not_dropped() -> None:
    """Past the limit the error says so; a higher limit gives them all."""
    text = "cron_minute = $(Step)\nqueue 300\n"
    with pytest.raises(InvalidSubmit, match="at most 100 jobs one by one"):
        groups(text, limit=100)
    assert len(groups(text, limit=301)) == 300


# Recorded: the submit text after "universe = ..., executable = ..."; the attributes of each job without their quotes.
RECORDED = {
    "recorded.minute.bad16": ("cron_minute = 5\\\nqueue\n", [{"cron_minute": "5queue"}]),
    "lexical.014": (
        "n = 1\nCRON_HOUR = */5\ncron_minute=5\n\tcron_minute = 6\nqueue 2\n",
        [{"cron_hour": "*/5", "cron_minute": "6"}] * 2,
    ),
    "lexical.105": ("CRON_MINUTE = 1-10\ncron_minute = 5 \\\n\naccounting_group = a.b\nqueue", [{"cron_minute": "5 "}]),
    "lexical.197": ("  cron_minute   =   5,*  \ncron_minute = \\\n  5\nqueue\n", [{"cron_minute": "5"}]),
    "fields.028": ("w = 60\ncron_minute = $(undef)\ncron_month = */5\nqueue\n", [{"cron_month": "*/5"}]),
    "fields.091": ("m = */3\ncron_hour =   \nCRON_HOUR = 007\nqueue\n", [{"cron_hour": "007"}]),
    "queue.034": ("deferral_time = 2000000000 + $(Process)\nqueue m in (x)\n", [{"deferral_time": "2000000000 + 0"}]),
    "queue.066": (
        "cron_minute = $(m:7)\ncron_day_of_week = 2\nqueue cron_minute,cron_hour from (\n5 1\n*/7 2-4\nx 3\n)\n",
        [
            {"cron_minute": "5", "cron_hour": "1", "cron_day_of_week": "2"},
            {"cron_minute": "*/7", "cron_hour": "2-4", "cron_day_of_week": "2"},
            {"cron_minute": "x", "cron_hour": "3", "cron_day_of_week": "2"},
        ],
    ),
    "queue.063": (
        "m = */4\ncron_minute = $(m)\nqueue deferral_time from (\n2000000000\n2000000100\n)\n",
        [{"cron_minute": "*/4", "deferral_time": "2000000000"}, {"cron_minute": "*/4", "deferral_time": "2000000100"}],
    ),
    "queue.127": (
        "cron_minute = $(Row)\ncron_hour = $(Step)\nqueue m in 1,2,3\n",
        [{"cron_minute": str(row), "cron_hour": "0"} for row in range(3)],
    ),
    "queue.220": (
        "cron_minute = $(ItemIndex)\nqueue 3 \\\n m in \\\n (1,2)\n",
        [{"cron_minute": str(row)} for row in (0, 0, 0, 1, 1, 1)],
    ),
    "queue.249": (
        "w = 60\ncron_hour = $(w)\ncron_minute=$(m)\nqueue m in [1:] (1,2,3)\n",
        [{"cron_hour": "60", "cron_minute": "2"}, {"cron_hour": "60", "cron_minute": "3"}],
    ),
    "multiqueue.130": (
        "m = */4\ncron_hour = $(m)-$(m2:30)\nqueue 2\n \nqueue 1\ndeferral_window = 60*2\nqueue 1\n",
        [{"cron_hour": "*/4-30"}] * 3 + [{"cron_hour": "*/4-30", "deferral_window": "60*2"}],
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_recorded(name: str) -> None:
    """The jobs and their values are those that condor_submit made."""
    text, expected = RECORDED[name]
    names = (*FIELDS, "deferral_time", "deferral_window")
    found = jobs("universe = vanilla\nexecutable = /bin/sleep\n" + text, *names)
    wanted = [tuple(ad.get(n, "") for n in names) for ad in expected]
    assert [tuple(value.replace("-", "", value == "-") for value in row) for row in found] == wanted


BEGINNINGS = (
    "cron_minute = ",
    "x = $(x)",
    "queue ",
    "queue m in (",
    "if ",
    "endif",
    "+A = ",
    "-A",
    "include : ",
    "error : ",
)
INSIDES = (
    "$(y)",
    "$(Process)",
    "a b,c",
    "@=",
    "+=",
    ":",
    "$",
    "$(x:",
    "[1:2] ",
    "2",
    "99999999999",
    "$ENV(H)",
    "=",
    "#",
)
LISTS = ("from ", "from (\n", "in ", "matching ", "(", ")", "\x1f", "\t", "\r\n", "\n", "\\\n", "\xe9", "\ufeff")
PIECES = st.sampled_from((*BEGINNINGS, *INSIDES, *LISTS, *["\n"] * 5))


@given(st.lists(PIECES, max_size=40).map("".join))
def test_no_text_raises_anything_else(text: str) -> None:
    """Any text gives a SubmitFile whose groups count its jobs, or a CrondorError that can be shown."""
    said = "nothing"
    try:
        file = read(text)
        count = sum(group.count for group in file.groups(NAMES, limit=500))
    except CrondorError as error:
        said = str(error)
    else:
        assert count == file.job_count
    assert said


@given(st.text(max_size=100))
def test_garbage_is_refused_in_words(text: str) -> None:
    """Arbitrary characters never break the reader."""
    found: tuple[Diagnostic, ...] = ()
    try:
        read(text)
    except CrondorError as error:
        found = error.diagnostics
    assert all(d.message and d.span for d in found)


@pytest.mark.parametrize("piece", ["a\n", "$(", "$(x:", "queue in [1:] ", "x = $(x)$(x)\n", "if\n", "(", "\x01\xff"])
def test_a_megabyte_of_garbage_is_refused_at_once(piece: str) -> None:
    """Time grows with the size of a file, not faster."""
    begin = time.process_time()
    text = piece * (500_000 // len(piece))
    with pytest.raises(CrondorError):
        groups("x = 1\n" + text + "\ny = " + text.replace("\n", "") + "\n!\n")
    assert time.process_time() - begin < SLOWEST
