"""What a daemon's cron jobs do and make, for people and programs (`crondor config schema hook daemon-cron`)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from crondor.classad.ad import ClassAd
from crondor.diagnostics import printable
from crondor.hooks.cron.schedule import CronEvent, CronStep
from crondor.hooks.cron.settings import Manager
from crondor.job.attributes import printed, string
from crondor_cli.common.options import Clock
from crondor_cli.common.output import say
from crondor_cli.common.streaming import say_json
from crondor_cli.hook.text import ad_lines


class Screen:
    """Prints events as they come, and the ads at the end."""

    def __init__(self, format_: str, clock: Clock) -> None:
        """Take the form (table or json) and the zone to show times in."""
        self._is_json = format_ == "json"
        self._clock = clock
        self.failed = False

    def event(self, event: CronEvent) -> None:
        """Print what happened."""
        self.failed = self.failed or event.what is CronStep.FAILED_TO_START
        if self._is_json:
            say_json(_event_data(event))
            return
        moment = datetime.fromtimestamp(event.time, self._clock.zone)
        name = event.job if event.block is None else event.block.name
        said = event.text
        if event.published is not None:
            said = "update of the collector" if event.published.updates else "no update"
        say(printable(f"{moment:%H:%M:%S}  {name:12}  {event.what.value:15}  {said}".rstrip()))
        if event.block is not None:
            for line in ad_lines(event.block.ad):
                say(f"          {printable(line)}")

    def ads(self, manager: Manager, ads: Iterable[tuple[ClassAd, ClassAd]]) -> None:
        """Print what the jobs have added to the ads: pairs of an ad without and with it."""
        for before, after in ads:
            added = after.flat()
            for each in [n for n in after if n in before and printed(after, n) == printed(before, n)]:
                added.prune(each)
            shown = string(before, "Name") or "the ad"
            if self._is_json:
                values = {each: added.text(each) for each in added}
                say_json({"manager": manager.name.lower(), "ad": shown, "attributes": values})
            else:
                say(f"\n{printable(shown)}")
                for line in ad_lines(added) if added else ["nothing"]:
                    say(f"  {printable(line)}")


def _event_data(event: CronEvent) -> dict[str, object]:
    block, published = event.block, event.published
    return {
        "time": round(event.time, 3),
        "job": event.job,
        "what": event.what.value,
        "text": event.text,
        "ad": None if block is None else {"name": block.name, "attributes": {n: block.ad.text(n) for n in block.ad}},
        "changed": None if published is None else published.changed,
        "updates": None if published is None else published.updates,
    }
