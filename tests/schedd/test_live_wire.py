"""What the real bindings send to a schedd of what the live adapter gives them: no pool is needed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from crondor.classad.ad import ClassAd
from crondor.classad.formats import Format, ReadMode, read_ads
from crondor.diagnostics import Source
from crondor.job_queue import JobId
from crondor.schedd.live import LiveSchedd
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
