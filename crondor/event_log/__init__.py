"""User logs of jobs: what happened to a job, event by event, as HTCondor 25.14 writes them and reads them.

``read_events(text)`` reads the text form (and the older one with dates like ``11/20``), XML and JSON, whichever it is;
``write_event(event)`` writes the text form.
"""

from crondor.event_log.event import EventType, InvalidEvent, JobEvent
from crondor.event_log.read import read_events
from crondor.event_log.write import write_event

__all__ = ["EventType", "InvalidEvent", "JobEvent", "read_events", "write_event"]
