"""A DAG on a schedule: the submit file of a crontab job, and the script that it runs for each run of the DAG.

DAGMan is a job of the scheduler universe, which never defers. A job of the local universe does, and its script submits
DAGMan with condor_submit_dag and waits for its end. DAGMan works in the folder of the DAG file, so that relative names
mean what they mean in a run by hand; its own files (rescue DAGs, logs) are in a folder of each run.
"""

from __future__ import annotations

import re
from importlib.resources import files
from shlex import quote
from typing import Final, NamedTuple

MADE: Final = "# Made by crondor compile --dag"
"""How the second line of a script begins."""

_ODD: Final = re.compile(r"[^A-Za-z0-9._ @:+-]")


class ScheduledDag(NamedTuple):
    """A DAG to run on a schedule.

    ``folder`` is the folder of the DAG file, relative to that of the script, and ``file`` its name there; ``runs`` is
    the folder for the folders of the runs, relative to the DAG's. ``continues``: a failed run is continued at the next
    time with its rescue DAG, instead of a new run. ``overlaps``: a run starts even if the one before is in the queue.
    """

    folder: str
    file: str
    runs: str
    continues: bool = False
    overlaps: bool = False

    def submit_file(self, schedule: str, program: str) -> str:
        """Return the submit file of the crontab job, whose schedule is to be compiled; ``program`` is the script."""
        stem = program.removesuffix(".sh")
        names = {"program": _literal(program), "stem": _literal(stem), "shown": _ODD.sub("_", f"{stem}.out")}
        return _SUBMIT.format(dag=_ODD.sub("_", self.file), schedule=schedule, **names)

    def script(self) -> str:
        """Return the script: POSIX sh, with the tools of HTCondor."""
        given = {
            "folder": self.folder or ".",
            "dag": self.file,
            "runs": f"./{self.runs}",  # - and = at the beginning of a path mean something to some tools
            "batch": _ODD.sub("_", self.file),
            "continues": _said(self.continues),
            "overlaps": _said(self.overlaps),
        }
        values = "".join(f"{name}={quote(text)}\n" for name, text in given.items())
        head = f"#!/bin/sh\n{MADE} for {_ODD.sub('_', self.file)}.\n{_ABOUT}set -u\n{values}"
        return head + files(__package__).joinpath("scheduled.sh").read_text(encoding="utf-8")


def _said(is_so: bool) -> str:  # noqa: FBT001 - its only argument
    return "yes" if is_so else "no"


def _literal(text: str) -> str:
    """Return a text for a submit file without macros."""
    return text.replace("$", "$(DOLLAR)")


_SUBMIT: Final = """\
# {dag} on a schedule: each run is started and awaited by the executable. Submit this file from its folder.
# crondor: schedule = {schedule}
universe = local
executable = {program}
getenv = CONDOR_CONFIG, PATH, HOME, USER, LANG, LC_ALL, TZ
output = {stem}.out
error = {stem}.err
log = {stem}.log
batch_name = {dag} on a schedule
on_exit_remove = false
on_exit_hold = ExitBySignal =?= true || ExitCode =!= 0
on_exit_hold_reason = strcat("DAG of ", formatTime(DeferralTime, "%F %R"), ": exit code ", ExitCode, ", see {shown}")
periodic_release = HoldReasonCode == 20
queue
"""

_ABOUT: Final = """\
# Its exit code is that of DAGMan: 0 if the run succeeded, 1 if it failed, 2 if it was aborted. Others: 65 the run was
# removed, 70 its end is unknown, 73 a file cannot be written, 75 HTCondor does not answer, 76 the DAG was not accepted.
"""
