"""What is said of a token that a schedd does not take: as the bindings print it, HTCondor 25.14 on both sides.

Each text is what a real one printed for a token that was made so; addresses and names are others.
"""

import pytest

from crondor.schedd.live_process import refusal
from crondor.schedd.protocol import Forbidden

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
