"""Token files: what a configuration asks for, made by the caller's issuer, refreshed, and deleted again."""

import os
import stat
from pathlib import Path

import pytest

from crondor.config import read_config
from crondor.diagnostics import Diagnostic, Severity, Source
from crondor.router.sandbox import TokenFiles, TokenPlan, TokenRequest, TokenSpec, read_tokens
from tests.router.sandbox.places import NOBODY, as_root, ends_at, me, nobody

NOW = 1_795_200_000
CONFIG = """SEC_TOKEN_DIRECTORY = /tokens
SITE = alpha
JOB_ROUTER_IDTOKEN_REFRESH = 600
JOB_ROUTER_CREATE_IDTOKEN_NAMES = one two, NAMES one three
JOB_ROUTER_CREATE_IDTOKEN_one @=end
  sub = "router@$(SITE)"
  kid = "POOL"
  lifetime = 60 * 60
  scope = "condor:/READ condor:/WRITE"
  dir = "/private"
  filename = "a.token"
  file = "b.token"
  owner = "alice"
@end
JOB_ROUTER_CREATE_IDTOKEN_two = file = "b.token"
JOB_ROUTER_CREATE_IDTOKEN_three = lifetime = 5
"""


def test_what_a_configuration_asks_for() -> None:
    """Macros are replaced; the name is the default of subject and file; each name counts once."""
    plan = read_tokens(read_config(CONFIG))
    assert plan.diagnostics == ()
    assert plan.refresh == 600
    scopes = ("condor:/READ", "condor:/WRITE")
    assert plan.tokens == (
        TokenSpec("one", "router@alpha", "POOL", 3600, scopes, "/private/a.token", "alice"),
        TokenSpec("two", "two", "", -1, (), "/tokens/b.token"),
        TokenSpec("three", "three", "", 5, (), "/tokens/three"),
    )


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('lifetime = "3600"', "lifetime is not an integer"),
        ("lifetime = 3600.5", "lifetime is not an integer"),
        ("lifetime = true", "lifetime is not an integer"),
        ('scope = {"condor:/READ"}', "scope is not a string"),
        ("sub = alice", "sub is not a string"),
        ('filename = "../x"', "'../x' is not a file name"),
        ('file = ".."', "'..' is not a file name"),
        ('dir = "tokens"', "'tokens' is not a full path"),
        ("sub", "this line is not an attribute"),
        ('sub = "', ""),
    ],
)
def test_a_token_with_a_fault_is_left_out(line: str, says: str) -> None:
    """Where HTCondor would make one without end or limits; the piece is underlined, and the others are made."""
    names = 'SEC_TOKEN_DIRECTORY = /t\nJOB_ROUTER_CREATE_IDTOKEN_NAMES = a b\nJOB_ROUTER_CREATE_IDTOKEN_b = sub = "x"\n'
    text = f'{names}JOB_ROUTER_CREATE_IDTOKEN_a @=end\n kid = "k"\n {line}\n@end\n'
    plan = read_tokens(read_config(Source(text, "router.conf")))
    assert [spec.name for spec in plan.tokens] == ["b"]
    (found,) = plan.diagnostics
    assert found.severity is Severity.ERROR
    assert says in found.message
    assert found.span is not None
    assert (found.span.source.name, found.span.line) == ("router.conf", 6)


def test_what_else_can_be_wrong_with_a_token() -> None:
    """No folder, a name without a knob, two in one file, an attribute that nobody looks at."""
    text = """JOB_ROUTER_CREATE_IDTOKEN_NAMES = a b c d e
JOB_ROUTER_CREATE_IDTOKEN_a = sub = "x"
JOB_ROUTER_CREATE_IDTOKEN_c = dir = "/t"
JOB_ROUTER_CREATE_IDTOKEN_d @=end
dir = "/t"
file = "c"
@end
JOB_ROUTER_CREATE_IDTOKEN_e @=end
dir = "/t"
subject = "x"
@end
"""
    plan = read_tokens(read_config(text))
    assert [spec.name for spec in plan.tokens] == ["c", "e"]
    said = [(each.severity.value, each.message.partition(": ")[2]) for each in plan.diagnostics]
    assert said == [
        ("error", "the folder is missing"),
        ("error", "the token is listed but not defined"),
        ("error", "another token already uses the file /t/c"),
        ("warning", "HTCondor ignores subject"),
    ]


class Issuer:
    """Counts what it is asked for."""

    def __init__(self) -> None:
        """Answer with a number."""
        self.asked: list[TokenRequest] = []
        self.fails: Exception | None = None
        self.answer = "token{}"

    def __call__(self, request: TokenRequest) -> str:
        """Make a token."""
        if self.fails is not None:
            raise self.fails
        self.asked.append(request)
        return self.answer.format(len(self.asked))


class Stage:
    """A folder for tokens, and what makes them."""

    def __init__(self, folder: Path) -> None:
        """Make both."""
        self.folder = folder / "tokens"
        self.folder.mkdir()
        self.note = folder / "state/tokens"
        self.issuer = Issuer()
        self.reports: list[Diagnostic] = []

    def plan(self, *names: str, lifetime: int = -1, refresh: int = 600, owner: str = "") -> TokenPlan:
        """Return a plan."""
        specs = (
            TokenSpec(name, f"{name}@site", "POOL", lifetime, ("condor:/READ",), str(self.folder / name), owner)
            for name in names
        )
        return TokenPlan(tuple(specs), refresh)

    def tokens(self, plan: TokenPlan) -> TokenFiles:
        """Return what makes the tokens of a plan, as a new process has it."""
        return TokenFiles(plan, self.issuer, self.note, accounts=me, report=self.reports.append)

    def there(self) -> dict[str, str]:
        """Return the files, and what is in them."""
        return {path.name: path.read_text() for path in sorted(self.folder.iterdir())}


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A folder for tokens."""
    return Stage(tmp_path)


def test_tokens_are_made_at_the_start_and_refreshed(stage: Stage) -> None:
    """Mode 0600, one line; the issuer is told all, the time included; by the clock that is given."""
    tokens = stage.tokens(stage.plan("a", "b", lifetime=3600))
    assert tokens.paths() == {}
    tokens.tick(NOW)
    assert stage.there() == {"a": "token1\n", "b": "token2\n"}
    assert stage.issuer.asked[0] == TokenRequest("a", "a@site", "POOL", 3600, ("condor:/READ",), NOW)
    assert stat.S_IMODE((stage.folder / "a").stat().st_mode) == 0o600
    assert tokens.paths() == {"a": str(stage.folder / "a"), "b": str(stage.folder / "b")}
    tokens.tick(NOW + 599)
    assert len(stage.issuer.asked) == 2
    tokens.tick(NOW + 600)
    assert stage.there() == {"a": "token3\n", "b": "token4\n"}
    assert tokens.due == NOW + 1200


def test_without_a_refresh_they_are_made_once(stage: Stage) -> None:
    """JOB_ROUTER_IDTOKEN_REFRESH = 0."""
    tokens = stage.tokens(stage.plan("a", refresh=0))
    tokens.tick(NOW)
    tokens.tick(NOW + 1_000_000)
    assert len(stage.issuer.asked) == 1


def test_tokens_that_are_no_longer_listed_are_deleted(stage: Stage) -> None:
    """By this process, and by the next one; files that we have not made, and those written since, stay."""
    tokens = stage.tokens(stage.plan("a", "b", "c"))
    tokens.tick(NOW)
    (stage.folder / "theirs").write_text("mine")
    (stage.folder / "c").write_text("rotated by somebody")
    tokens.reconfigure(stage.plan("b"), NOW + 1)
    assert stage.there() == {"b": "token4\n", "c": "rotated by somebody", "theirs": "mine"}
    assert [each.kind for each in stage.reports] == ["id-token-foreign"]
    stage.tokens(stage.plan()).tick(NOW + 2)
    assert list(stage.there()) == ["c", "theirs"]


def test_a_file_of_somebody_else_is_not_overwritten(stage: Stage) -> None:
    """Also not where it is a link."""
    (stage.folder / "a").write_text("mine")
    (stage.folder / "b").symlink_to(stage.folder / "a")
    tokens = stage.tokens(stage.plan("a", "b"))
    tokens.tick(NOW)
    assert tokens.paths() == {}
    assert stage.there() == {"a": "mine", "b": "mine"}
    assert [each.kind for each in stage.reports] == ["id-token-foreign"] * 2


def test_a_token_that_cannot_be_made_anew_is_kept_until_its_time_is_over(stage: Stage) -> None:
    """HTCondor deletes it at once, and all routes that send it fail."""
    tokens = stage.tokens(stage.plan("a", lifetime=1000))
    tokens.tick(NOW)
    stage.issuer.fails = OSError("no key")
    tokens.tick(NOW + 600)
    assert tokens.paths() == {"a": str(stage.folder / "a")}
    assert [each.message for each in stage.reports] == ["failed to create token a: no key"]
    tokens.tick(NOW + 1200)
    assert tokens.paths() == {}
    stage.issuer.fails = None
    tokens.tick(NOW + 1800)
    assert tokens.paths() == {"a": str(stage.folder / "a")}


@pytest.mark.parametrize("answer", ["", "  ", "two\nlines", "t\u00f6ken", "x" * 100_000])
def test_what_is_no_token_is_not_written(stage: Stage, answer: str) -> None:
    """One line of ASCII."""
    stage.issuer.answer = answer
    tokens = stage.tokens(stage.plan("a"))
    tokens.tick(NOW)
    assert tokens.paths() == {}
    assert stage.there() == {}
    assert [each.kind for each in stage.reports] == ["id-token-issuer"]


@as_root
def test_root_gives_a_token_to_its_owner(stage: Stage) -> None:
    """An account that is not there: no token, as in HTCondor."""
    plan = TokenPlan((*stage.plan("a", owner="nobody").tokens, *stage.plan("b", owner="alice").tokens))
    tokens = TokenFiles(plan, stage.issuer, stage.note, accounts=nobody, report=stage.reports.append)
    tokens.tick(NOW)
    assert list(tokens.paths()) == ["a"]
    assert (stage.folder / "a").stat().st_uid == NOBODY.uid
    assert [each.kind for each in stage.reports] == ["id-token-owner"]


def test_who_is_not_root_keeps_a_token_and_says_so(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is there, and the router's."""
    monkeypatch.setattr("crondor.router.sandbox.delivery.is_root", lambda: False)
    plan = stage.plan("a", owner="nobody")
    tokens = TokenFiles(plan, stage.issuer, stage.note, accounts=nobody, report=stage.reports.append)
    tokens.tick(NOW)
    assert (stage.folder / "a").stat().st_uid == os.geteuid()
    assert [each.kind for each in stage.reports] == ["id-token-owner"]


def test_tokens_survive_a_process_that_ends_anywhere(stage: Stage) -> None:
    """A file holds one token, the old one or the new one; what is no longer asked for is deleted by the next."""
    stage.issuer.answer = "old"
    number = 0
    while True:
        stage.tokens(stage.plan("a")).tick(NOW)
        stage.issuer.answer = "new"
        ended = ends_at(number, lambda: stage.tokens(stage.plan("a")).tick(NOW))
        stage.issuer.answer = "old"
        assert stage.there()["a"] in ("old\n", "new\n")
        stage.tokens(stage.plan()).tick(NOW)
        assert stage.there() == {}
        if not ended:
            break
        number += 1
    assert number > 8
