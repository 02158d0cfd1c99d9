"""The router's hooks in its life: programs that are run, and what their answers do to source and copy."""

import os
import pwd
import time
from dataclasses import replace
from pathlib import Path

from crondor.classad import ClassAd, Context
from crondor.event_log import EventType
from crondor.hooks.kinds import HookType, RouterHooks
from crondor.hooks.runner import HookCall, HookEnd, HookRunner, RunningHook
from crondor.router.daemon import HookRunners, RoutedState, RouterEvent, RouterOptions
from crondor.router.daemon.rehearsal import Site, SiteFault
from tests.router.daemon.scenes import ROUTE, Stage, job, table

TRANSLATE = "sed '1,/^------$/d'; echo Translated = true"


def start(call: HookCall) -> RunningHook:
    """Start a hook and wait until it has answered, so that a poll finds it."""
    running = HookRunner(time.monotonic).start(call)
    running.finish()
    return running


def stage_of(folder: Path, site: Site, **scripts: str) -> Stage:
    """Return a stage with hooks of the keyword HK."""
    knobs = {"JOB_ROUTER_HOOK_KEYWORD": "HK"}
    for kind, script in scripts.items():
        path = folder / kind
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        knobs[f"HK_HOOK_{kind}"] = str(path)
    hooks = RouterHooks(knobs, {"PATH": "/usr/bin:/bin"})
    return Stage(table({"Site1": ROUTE}), [site], options=RouterOptions(hooks=HookRunners(hooks, start)))


def test_all_four_hooks(tmp_path: Path) -> None:
    """The copy begins as the hook's ad; updates go to the copy, the last ones to the source."""
    log = tmp_path / "calls"
    stage = stage_of(
        tmp_path,
        Site("Site1", run_time=20),
        TRANSLATE_JOB=TRANSLATE,
        UPDATE_JOB_INFO="cat > /dev/null; echo HookUpdated = 1; echo ExitReason = '\"hook\"'",
        JOB_FINALIZE=f"cat > {log}.finalize; echo FinalNote = '\"done\"'",
        JOB_CLEANUP=f"cat > {log}.cleanup",
    )
    (found,) = stage.submit(job())
    stage.poll()
    (copy,) = stage.copies()
    assert copy.python("Translated") is True
    stage.poll(7)
    assert stage.values(found, "JobStatus", "ExitReason", "FinalNote", "Managed") == [4, "hook", "done", "ScheddDone"]
    assert "RoutedFromJobId" in (tmp_path / "calls.cleanup").read_text()
    assert "------" in (tmp_path / "calls.finalize").read_text()
    assert stage.states() == []


def test_a_router_that_ends_leaves_no_hook_running(tmp_path: Path) -> None:
    """The program is ended with it; the source is given back by the next router."""
    stage = stage_of(tmp_path, Site("Site1"), TRANSLATE_JOB="exec sleep 1000")
    running: list[RunningHook] = []

    def begin(call: HookCall) -> RunningHook:
        running.append(HookRunner(time.monotonic).start(call))
        return running[-1]

    assert stage.options.hooks is not None
    stage.options = replace(stage.options, hooks=replace(stage.options.hooks, start=begin))
    stage.start()
    (found,) = stage.submit(job())
    stage.poll()
    assert [each.poll() for each in running] == [None]
    stage.router.close()
    assert [each.poll() is not None for each in running] == [True]
    stage.options = replace(stage.options, hooks=None)
    stage.start()
    stage.poll()
    assert stage.values(found, "Managed") == ["Schedd"]


def test_a_translation_that_fails_is_a_failure_of_the_route(tmp_path: Path) -> None:
    """The job is given back, and tried again."""
    stage = stage_of(tmp_path, Site("Site1"), TRANSLATE_JOB="exit 3")
    (found,) = stage.submit(job())
    stage.poll()
    assert stage.values(found, "Managed") == ["Schedd"]
    assert stage.copies() == []
    assert stage.router.routes()[0].throttle.failed == 1


def test_an_update_that_fails_delays_the_mirroring(tmp_path: Path) -> None:
    """After the first look, which no hook sees."""
    stage = stage_of(tmp_path, Site("Site1", delay=15, run_time=1000), UPDATE_JOB_INFO="exit 1")
    (found,) = stage.submit(job())
    stage.poll(5)
    assert stage.values(found, "JobStatus") == [1]
    assert stage.states() == [RoutedState.SUBMITTED]


def test_a_cleanup_that_fails_is_tried_again(tmp_path: Path) -> None:
    """Until it succeeds; the source waits."""
    stage = stage_of(tmp_path, Site("Site1", fault=SiteFault.REMOVES), JOB_CLEANUP=f"test -e {tmp_path}/go")
    (found,) = stage.submit(job())
    stage.poll()
    copy = stage.copy()
    stage.sites.change(Site("Site1", fault=SiteFault.SWALLOWS))
    stage.edit(copy, Note=1)
    stage.source.remove(found, "by alice")
    stage.poll(3)
    assert stage.states() == [RoutedState.CLEANUP]
    (tmp_path / "go").touch()
    stage.poll()
    assert stage.source.jobs(found) == []
    assert len(stage.said(RouterEvent.CLEANED_UP)) == 1


def test_a_source_that_is_removed_does_not_wait_for_a_hook(tmp_path: Path) -> None:
    """The hook is ended, its answer is nobody's, and no copy is made."""
    stage = stage_of(tmp_path, Site("Site1"), TRANSLATE_JOB="sleep 1000", JOB_CLEANUP="exit 1")
    hooks = stage.options.hooks
    assert hooks is not None
    runner = HookRunner(time.monotonic)
    stage.options = replace(stage.options, hooks=replace(hooks, start=runner.start))
    stage.start()
    (found,) = stage.submit(job())
    stage.poll(2)
    assert stage.states() == [RoutedState.CLAIMED]
    stage.source.remove(found, "by alice")
    stage.poll()
    assert stage.source.jobs() == []
    assert stage.told() == [EventType.JOB_ABORTED]


def test_a_hook_has_the_rights_of_the_owner_where_they_can_be_given(tmp_path: Path) -> None:
    """A hook for an owner whom the system does not know is not started; without ``as_owner`` it has the router's."""
    path = tmp_path / "translate"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    hooks = RouterHooks({"JOB_ROUTER_HOOK_KEYWORD": "HK", "HK_HOOK_TRANSLATE_JOB": str(path)}, {})
    calls: list[HookCall] = []

    def noted(call: HookCall) -> RunningHook:
        calls.append(call)
        return start(replace(call, user=None))

    known = pwd.getpwuid(os.geteuid()).pw_name
    for ad, as_owner in (({"Owner": known}, True), ({"Owner": known}, False)):
        context = HookRunners(hooks, noted, as_owner=as_owner)
        context.begin(HookType.TRANSLATE_JOB, ClassAd(ad), None, None, Context(now=0))
    assert [call.user for call in calls] == [known, None]
    for owner in ("nobody-knows-him", None):
        context = HookRunners(hooks, start, as_owner=True)
        source = ClassAd() if owner is None else ClassAd({"Owner": owner})
        _, running = context.begin(HookType.TRANSLATE_JOB, source, None, None, Context(now=0))
        run = None if running is None else running.poll()
        assert run is not None
        assert run.ended is HookEnd.NOT_STARTED
