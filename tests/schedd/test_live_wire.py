"""What the real bindings send to a schedd of what the live adapter gives them: no pool is needed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from crondor.classad.ad import ClassAd
from crondor.classad.formats import Format, ReadMode, read_ads
from crondor.diagnostics import Source
from crondor.job_queue import JobId
from crondor.schedd.live import LiveSchedd
from crondor.schedd.live_process import refusal
from crondor.schedd.protocol import Forbidden, ScheddError
from tests.schedd.ads_to_submit import ADS
from tests.schedd.conftest import PATIENCE
from tests.schedd.wire import CLUSTER, WireSchedd

pytest.importorskip("htcondor2", reason="the bindings are for Linux only")

# What a schedd's own transaction needs, and what the adapter sets where an ad has none.
GIVEN = {"clusterid", "procid", "mytype", "targettype", "owner"}
OURS = {"jobstatus": "1", "jobuniverse": "5"}
TIMES = {"qdate", "enteredcurrentstatus"}


@pytest.mark.parametrize("name", ADS)
def test_an_ad_arrives_attribute_for_attribute(name: str, tmp_path: Path) -> None:
    """In one transaction; what the ad does not have is undefined, so that no daemon finds it."""
    ad = ClassAd({"Cmd": "/bin/true", **ADS[name]})
    with WireSchedd(tmp_path) as wire, LiveSchedd(timeout=PATIENCE, environment=wire.environment) as live:
        assert live.submit([ad]) == [JobId(CLUSTER, 0)]
        assert wire.writes == 1
        text = "\n".join(f"{attribute} = {value}" for attribute, value in wire.sent.items())
        (sent,) = read_ads(Source(text), Format.LONG, ReadMode.STRICT)
    assert {attribute: sent[attribute] for attribute in ad} == {attribute: ad[attribute] for attribute in ad}
    rest = {low: sent.text(low) for low in sent.names if low not in ad.names and low not in GIVEN | TIMES}
    assert {low: value for low, value in rest.items() if value != "undefined"} == {
        low: value for low, value in OURS.items() if low not in ad.names
    }


def test_what_the_host_adds_to_every_ad_is_seen(tmp_path: Path) -> None:
    """SUBMIT_ATTRS of the configuration: the bindings say what they have sent, and the next ad goes without."""
    ad, more = ClassAd({"Cmd": "/bin/true"}), 'SUBMIT_ATTRS = Project\nProject = "here"'
    with WireSchedd(tmp_path, more=more) as wire, LiveSchedd(timeout=PATIENCE, environment=wire.environment) as live:
        with pytest.raises(ScheddError):  # the job would be edited now, which this schedd does not offer
            live.submit([ad])
        assert wire.sent["Project"] == '"here"'
        live.submit([ad])
        assert wire.sent["Project"] == "undefined"


def test_why_a_write_is_refused_is_said(tmp_path: Path) -> None:
    """What the security layer says, which the bindings tell for a submission and only print for all else."""
    with WireSchedd(tmp_path, lies=True) as wire, LiveSchedd(timeout=PATIENCE, environment=wire.environment) as live:
        calls: list[Callable[[], object]] = [
            lambda: live.submit([ClassAd({"Cmd": "/bin/true"})]),
            lambda: live.edit_if(JobId(1, 0), "true", {"JobPrio": 1}),
        ]
        for call in calls:
            with pytest.raises(Forbidden) as error:
                call()
            (fault,) = error.value.diagnostics
            assert "authentication (FS) failed: Directory name doesn't match server's network address" in fault.message
            assert "SEC_FS_ENFORCE_CHANNEL_BINDING = false" in (fault.help or "")
        assert wire.writes == len(calls)


def test_a_configuration_that_was_mended_is_read_anew(tmp_path: Path) -> None:
    """After a refusal of the security layer, so that nobody need start the program again."""
    more = "SEC_CLIENT_AUTHENTICATION_METHODS = IDTOKENS"
    with WireSchedd(tmp_path, more=more) as wire, LiveSchedd(timeout=PATIENCE, environment=wire.environment) as live:
        with pytest.raises(Forbidden) as error:
            live.submit([ClassAd({"Cmd": "/bin/true"})])
        assert "SEC_CLIENT_AUTHENTICATION_METHODS" in (error.value.diagnostics[0].help or "")
        config = tmp_path / "config"
        config.write_text(config.read_text().replace(more, ""))
        assert live.submit([ClassAd({"Cmd": "/bin/true"})]) == [JobId(CLUSTER, 0)]


TOKEN = "/home/alice/.condor/tokens.d/token"  # noqa: S105 - where it is
EXAMINED = f"IDTOKENS: Examining {TOKEN} for valid tokens from issuer example.org.\n"
OTHER = "Ignoring token as it is from trust domain other.org (server trust domain is example.org).\n"
KEY = "Ignoring token as it was signed with key LOCAL (not known to the server).\n"
NO_TOKEN = "TOKEN: No token found.\n"  # noqa: S105 - that there is none
FAILED = """\
AUTHENTICATE: method 2048 (IDTOKENS) failed.
SECMAN: required authentication with <127.0.0.1:9618> failed, so aborting command DC_SEC_QUERY.
ERROR: AUTHENTICATE:1003:Failed to authenticate with any method|AUTHENTICATE:1004:Failed to authenticate using IDTOKENS
"""
DENIED = 'ERROR: SECMAN:2010:Received "DENIED" from server for user alice@example.org using method IDTOKENS.\n'


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        (NO_TOKEN + FAILED, "no token was found here"),
        (EXAMINED + NO_TOKEN + FAILED, f"no token of {TOKEN} can be used: it must be this user's and have mode 0600"),
        (
            EXAMINED + OTHER + NO_TOKEN + FAILED,
            "the token here is for the trust domain other.org, but the schedd's is example.org",
        ),
        (
            EXAMINED + KEY + NO_TOKEN + FAILED,
            "the token here is signed with the key LOCAL, which the schedd does not have",
        ),
        (
            EXAMINED + FAILED,
            f"the schedd does not accept the token of {TOKEN}: it is expired, revoked or signed with another key",
        ),
        (FAILED, "Failed to authenticate using IDTOKENS"),
    ],
    ids=["none", "not readable", "trust domain", "key", "ended", "nothing printed"],
)
def test_what_is_wrong_with_it(printed: str, reason: str) -> None:
    """The reason stands in the message, and the help says where tokens come from."""
    error = refusal("HTCondorException", "Failed to start command.", printed)
    assert isinstance(error, Forbidden)
    (found,) = error.diagnostics
    assert found.message == f"the schedd cannot identify the user: authentication (IDTOKENS) failed: {reason}"
    assert found.help is not None
    assert ("condor_token_list" in found.help) is (printed != FAILED)


def test_a_token_for_reading_alone() -> None:
    """It is known who asks, and he may not."""
    (found,) = refusal("HTCondorException", "Failed to start command.", DENIED).diagnostics
    assert found.message.startswith(
        'the schedd does not allow this user to do that: Received "DENIED" from server for user'
    )
    assert found.help is not None
    assert "its scope" in found.help


def test_another_method_has_no_token() -> None:
    """Whatever stands in the text besides."""
    printed = EXAMINED + FAILED.replace("IDTOKENS", "FS")
    (found,) = refusal("HTCondorException", "Failed to start command.", printed).diagnostics
    assert "Failed to authenticate using FS" in found.message


def test_what_others_have_named_is_shown_as_text() -> None:
    """A trust domain is whatever somebody has put into a token."""
    printed = EXAMINED + OTHER.replace("other.org", "\x1b[31mx") + NO_TOKEN + FAILED
    (found,) = refusal("HTCondorException", "Failed to start command.", printed).diagnostics
    assert "\x1b" not in found.message
