"""Who tells whom about a job in a simulation, as lines of text or as data."""

from __future__ import annotations

from crondor.diagnostics import printable, shortened
from crondor.job_queue import JobId
from crondor.pool.daemons.flow.messages import Listener, Message
from crondor_cli.common.output import say
from crondor_cli.simulate.lines import number_of
from crondor_cli.simulate.runs import Simulated
from crondor_cli.times.text import local_text

_LONGEST = 60  # characters of a value


def print_messages(simulated: Simulated, into: list[dict[str, object]] | None) -> Listener:
    """Return what prints each message, or keeps it for JSON."""
    labels: dict[JobId, str] = {}

    def note(message: Message) -> None:
        job = message.job
        if job.cluster and job not in labels:
            labels[job] = simulated.groups[number_of(simulated, *job)].label
        sender, _, receiver = message.link.value.partition("-")
        if into is not None:
            into.append(
                {
                    "time": message.time,
                    "job": str(job) if job.cluster else None,
                    "from": sender,
                    "to": receiver,
                    "what": message.why,
                    "arrived": message.arrived,
                    "attributes": message.whole or len(message.values),
                    "values": [{"name": name, "text": text} for name, text in message.values.items()],
                }
            )
            return
        when = local_text(message.time, simulated.clock.zone)
        place = f"{job!s:<7} {labels[job]}" if job.cluster else "all jobs"
        say(f"{when}  {place}  {sender} -> {receiver}: {', '.join(_said(message))}")

    return note


def _said(message: Message) -> list[str]:
    said = [message.why]
    if not message.arrived:
        said.append("FAILED")
    if message.whole:
        said.append(f"{message.whole} attributes")
    for name, text in message.values.items():
        shown = shortened(text, _LONGEST)
        said.append(printable(f"{name} = {shown}"))
    return said
