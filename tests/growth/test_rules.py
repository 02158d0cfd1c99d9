"""No rule takes more than in proportion to the length of a value or the number of lines: work is counted, not timed.

Counted are calls of functions, and the characters that methods of texts go over: ``count`` in a loop is one call each.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType

import pytest

from crondor.config import read_config
from crondor.lint import CheckSettings, check_submit
from crondor.lint.routes import check_routes
from crondor.lint.rule import Finding, Rule
from crondor.lint.written import STRING

SETTINGS = CheckSettings(1_795_195_625, "Europe/Berlin", files=False)
PIECES_OF_A_VALUE, LINES_OF_A_FILE, MORE_LINES = (15, 60), (50, 150), (210, 630)
"""How many there are."""
BOUNDED = {"+A{n} = A{n}0", "cron_minute = {n}\nqueue"}
"""Of these rules compare up to 200 with each other."""
BOUND = 40
"""How many jobs or conditions rules look at that compare each with each, before they give up."""
MOST = 2.0
"""How much more than in proportion work may grow; as a square it would be 3 and 4 times."""
LEAST = 500
"""Less work says nothing by itself: what several rules ask for is counted for whichever asks first."""

SCANNING = frozenset(
    ("count", "replace", "lower", "upper", "casefold", "split", "rsplit", "splitlines", "translate", "encode")
)
PIECES = (
    *("a ", "a,", "a;", "'a' ", '"a" ', "(", "() ", "a && ", "a || ", "$(X) ", "${X} ", "${HOME} ", "$(X "),
    *("$ENV(X) ", "$$(X) ", "\\ ", "1-2,", "1,", "= ", "> f ", "2>&1 ", "| ", "< f ", "'", '"', '""', '\\"', "a=b "),
    *("a=b;", "/x", "../", "#", "- ", "-- ", "$INT(a) ", "MY.a + ", "! ", "? : ", "strcat(", "\u201ca\u201d "),
    *("\u2013 ", "[a] ", "{a} ", "%d ", "* ", "*/5,", "MON,", "JobStatus == 5 || ", "DeferralTime % 60 == 0 && "),
    *("$", "$(", "*?", "~/", "ifThenElse(a, ", "x@y ", "a:b ", "http://x/,", "1 GB ", "0x1 "),
)
COMMANDS = (
    *("arguments", "environment", "requirements", "rank", "cron_minute", "cron_day_of_week", "cron_hour", "input"),
    *("deferral_time", "cron_window", "on_exit_remove", "on_exit_hold", "periodic_release", "periodic_remove", "log"),
    *("executable", "output", "error", "initialdir", "transfer_input_files", "transfer_output_remaps", "notify_user"),
    *("request_memory", "batch_name", "container_image", "concurrency_limits", "max_retries", "retry_until", "getenv"),
    *("+Attr", "unknown_name", "grid_resource", "accounting_group"),
)
LINES = (
    *("a{n} = 1", "a = {n}", "+A{n} = 1", "+A{n} = A{n}0", "a{n} = $(b{n})", "# c", "queue"),
    *(
        "# crondor: ignore[CRN101]",
        "arguments = {n}\nqueue",
        "cron_minute = {n}\nqueue",
        "if true\nendif",
        "cron_minut{n} = 1",
        "",
        "a \\",
    ),
    *("include : f{n}", "transfer_input_files = f{n}\nqueue", "output = o{n}\nqueue", "requirements = a == {n}\nqueue"),
    *("on_exit_remove = ExitCode == 7 + {n}0\nqueue", "junk {n}", "queue 1 x in ({n})", "=", "A{n} @=e\nx\n@e"),
)
ROUTED = (
    *("REQUIREMENTS {}", "SET A {}", "EVALSET A {}", "DEFAULT A {}", "COPY A {}", "RENAME /{}/ b", "DELETE {}"),
    *("GridResource = {}", "MaxJobs = {}", "UNIVERSE {}", "A = {}", "# {}", "{}"),
)
ROUTE_LINES = ("SET A{n} 1", "EVALSET A{n} B{n}", "COPY A{n} B{n}", "RENAME A{n} B{n}", "a{n} = $(b{n})", "# c", "x")


@pytest.fixture(autouse=True)
def _low_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have rules that give up do so early."""
    for bound in ("submit.edits._MOST_JOBS", "lint.rules.deferral._MOST_JOBS", "lint.rules.conditions._MOST_READ"):
        monkeypatch.setattr(f"crondor.{bound}", BOUND)


def work_of(check: Callable[[], object], patch: pytest.MonkeyPatch) -> Counter[str]:
    """Return how many calls, and characters gone over, each rule takes in a check; what no rule does is reading."""
    done: dict[str, list[int]] = {"reading": [0]}
    own = done["reading"]
    findings = Rule.findings

    def counted(rule: Rule[object], subject: object) -> Iterator[Finding]:
        nonlocal own
        before, own = own, done.setdefault(rule.code, [0])
        try:
            yield from list(findings(rule, subject))
        finally:
            own = before

    def profile(_frame: FrameType, event: str, given: object) -> None:
        if event == "call":
            own[0] += 1
        elif event == "c_call":
            own[0] += 1
            if given.__name__ in SCANNING and type(text := given.__self__) is str:  # type: ignore[attr-defined]
                own[0] += len(text)

    with patch.context() as inner:
        inner.setattr(Rule, "findings", counted)
        old = sys.getprofile()
        sys.setprofile(profile)
        try:
            check()
        finally:
            sys.setprofile(old)
    return Counter({rule: count for rule, (count,) in done.items()})


def hold_in_proportion(
    check: Callable[[str], object], text: Callable[[int], str], counts: tuple[int, int], patch: pytest.MonkeyPatch
) -> None:
    """Hold that a text of so many times as many pieces takes each rule not much more than so many times the work."""
    check(text(2))
    few, many = (work_of(partial(check, text(count)), patch) for count in counts)
    most = MOST * counts[1] / counts[0]
    assert few["reading"] > 0
    few["all"], many["all"] = few.total(), many.total()
    grown = {rule: (few[rule], many[rule]) for rule in many if few[rule] >= LEAST and many[rule] > most * few[rule]}
    assert grown == {}


def submit(text: str) -> object:
    """Check a submit description."""
    return check_submit(text, SETTINGS)


def route(lines: str) -> object:
    """Check the configuration of a router with one route."""
    text = f"JOB_ROUTER_ROUTE_NAMES = A\nJOB_ROUTER_ROUTE_A @=end\n{lines}\n@end\n"
    return check_routes(read_config(text))


def lines_of(line: str, count: int) -> str:
    """Return a line so many times, each with its number."""
    return "".join(f"{line}\n".replace("{n}", str(number)) for number in range(count))


@pytest.mark.parametrize("piece", PIECES)
def test_long_values_of_commands(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all commands at once, made of one piece."""

    def text(count: int) -> str:
        return "".join(f"{command} = {piece * count}\n" for command in COMMANDS) + "queue\n"

    hold_in_proportion(submit, text, PIECES_OF_A_VALUE, monkeypatch)


@pytest.mark.parametrize("line", LINES)
def test_many_lines(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Definitions, comments, statements, and jobs."""

    def text(count: int) -> str:
        return f"executable = x\ncron_minute = 0\n{lines_of(line, count)}queue\n"

    hold_in_proportion(submit, text, MORE_LINES if line in BOUNDED else LINES_OF_A_FILE, monkeypatch)


@pytest.mark.parametrize("piece", PIECES)
def test_long_values_of_routes(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all commands of a route at once."""

    def text(count: int) -> str:
        return "\n".join(line.replace("{}", piece * count) for line in ROUTED)

    hold_in_proportion(route, text, PIECES_OF_A_VALUE, monkeypatch)


@pytest.mark.parametrize("line", ROUTE_LINES)
def test_many_lines_of_a_route(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that are each about another attribute."""
    hold_in_proportion(route, partial(lines_of, line), LINES_OF_A_FILE, monkeypatch)


def test_many_routes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with its own requirements."""

    def check(text: str) -> object:
        return check_routes(read_config(text))

    def text(count: int) -> str:
        names = " ".join(f"R{number}" for number in range(count))
        body = lines_of("JOB_ROUTER_ROUTE_R{n} @=e\nREQUIREMENTS a == {n}\nSET B {n}\n@e", count)
        return f"JOB_ROUTER_ROUTE_NAMES = {names}\n{body}"

    hold_in_proportion(check, text, (25, 100), monkeypatch)


@pytest.mark.parametrize("text", ['"', '"a', '"\\"' * 9, '\\"' * 9, '"a"', '"a\\', '""', '"a\\"b" "c'])
def test_a_string_that_is_not_closed_is_looked_at_once(text: str) -> None:
    """Where each quote of it could begin one that fails at the end, n quotes would take n times their length."""
    at = text.index('"')
    found = STRING.match(text, at)
    assert found is not None
    rest = text[found.end() :]
    assert bool(found[1]) == (found[0] != '"' and found[0].endswith('"') and not found[0].endswith('\\"'))
    assert found[1] or rest in {"", "\\"}
