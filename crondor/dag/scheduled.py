"""A DAG on a schedule: the submit file of a crontab job, and the script that it runs for each run of the DAG.

DAGMan is a job of the scheduler universe, which never defers. A job of the local universe does, and its script submits
DAGMan with condor_submit_dag and waits for its end. DAGMan works in the folder of the DAG file, so that relative names
mean what they mean in a run by hand; its own files (rescue DAGs, logs) are in a folder of each run.
"""

from __future__ import annotations

import re
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
        return head + _SCRIPT


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

_SCRIPT: Final = r"""
job_ad=${_CONDOR_JOB_AD:-/dev/null}
# The tools take variables that begin with _CONDOR_ for configuration; these are of this job.
for name in $(env | sed -n 's/^\(_CONDOR_[A-Za-z0-9_]*\)=.*/\1/p'); do unset "$name"; done
cd -P -- "$(dirname -- "$0")/$folder" || exit 73
key=$(printf '%s' "$PWD/$runs" | cksum | tr ' ' .)

say() { printf '%s %s\n' "$(date '+%Y-%m-%d %H:%M:%S')" "$*"; }

# The cluster of a run that is in the queue, empty if none is.
cluster() {
    tries=0
    until found=$(condor_q -constraint "CrondorRun == \"$key/$1\"" -af ClusterId 2> "$runs/condor_q.err"); do
        tries=$((tries + 1))
        if [ "$tries" -ge 60 ]; then
            say "HTCondor does not answer: $(tail -n 1 "$runs/condor_q.err")" >&2
            return 75
        fi
        sleep 10
    done
    printf '%s' "$found"
}

# The exit code of a run by the log of DAGMan, empty while it is unknown.
result() {
    [ -f "$runs/$1/workflow.dag.dagman.log" ] || return 0
    awk '/^000 \(/ { code = "" } /^005 \(/ { ends = 1 } /^009 \(/ { code = 65 } /^\.\.\./ { ends = 0 }
        ends && /return value/ { sub(/.*return value /, ""); code = $0 + 0 }
        ends && /\(signal/ { sub(/.*\(signal /, ""); code = 128 + $0 }
        END { if (code != "") print code }' "$runs/$1/workflow.dag.dagman.log"
}

record() { printf '%s\n' "$2" > "$runs/$1/exit.new" && mv -- "$runs/$1/exit.new" "$runs/$1/exit" || exit 73; }

# Wait for the end of a run, and end with its exit code.
await() {
    unseen=0
    while code=$(result "$1") && [ -z "$code" ]; do
        found=$(cluster "$1") || exit 75
        if [ -n "$found" ]; then unseen=0; else unseen=$((unseen + 1)); fi
        [ "$unseen" -lt 3 ] || code=70
        [ -z "$code" ] || break
        condor_wait -wait 60 "$runs/$1/workflow.dag.dagman.log" > /dev/null 2>&1 &
        pid=$!
        wait "$pid" || sleep 1
        pid=
    done
    record "$1" "$code"
    say "run $1 ended with $code"
    exit "$code"
}

pid=
trap '[ -z "$pid" ] || kill "$pid" 2> /dev/null; say "stopped; a workflow in the queue goes on"; exit 143' TERM INT HUP

time=$(sed -n 's/^DeferralTime = \([0-9][0-9]*\)$/\1/p' "$job_ad" 2> /dev/null | head -n 1)
[ -n "$time" ] || time=$(date +%s)
run=$(date -u -d "@$time" +%Y-%m-%dT%H%MZ 2> /dev/null || date -u -r "$time" +%Y-%m-%dT%H%MZ 2> /dev/null) || run=$time
mkdir -p -- "$runs" || exit 73
for tool in condor_q condor_submit_dag condor_wait; do
    command -v "$tool" > /dev/null || { say "$tool is not in $PATH" >&2; exit 75; }
done

last=
for each in "$runs"/*/; do
    [ -d "$each" ] || continue
    before=${each%/}
    before=${before##*/}
    last=$before
    [ ! -f "$runs/$before/exit" ] || continue
    found=$(cluster "$before") || exit 75
    if [ -n "$found" ]; then
        if [ "$overlaps" = no ] || [ "$before" = "$run" ]; then
            [ "$before" = "$run" ] || say "run $run is skipped: run $before is in the queue as $found"
            await "$before"
        fi
    elif [ -f "$runs/$before/workflow.dag.dagman.log" ]; then
        code=$(result "$before")
        record "$before" "${code:-70}"
        say "run $before ended with ${code:-70}"
        [ "${code:-70}" = 0 ] || exit "${code:-70}"
    elif [ "$before" != "$run" ]; then
        record "$before" 70
        say "run $before was not started"
    fi
done
if [ -f "$runs/$run/exit" ]; then
    say "run $run has ended already"
    exit "$(cat "$runs/$run/exit")"
fi

force=-force
if [ "$continues" = yes ] && [ -n "$last" ] && [ "$(cat "$runs/$last/exit" 2> /dev/null || echo 0)" != 0 ]; then
    say "run $run continues run $last"
    run=$last force=
    rm -f -- "$runs/$run/exit"
fi
mkdir -p -- "$runs/$run" && cp -- "$dag" "$runs/$run/workflow.dag" || exit 73
say "run $run starts"
condor_submit_dag $force -batch-name "$batch $run" -append "+CrondorRun = \"$key/$run\""  \
    "$runs/$run/workflow.dag" > "$runs/$run/submit.out" 2>&1 || {
    found=$(cluster "$run") || exit 75
    if [ -z "$found" ]; then
        cat "$runs/$run/submit.out"
        record "$run" 76
        exit 76
    fi
}
[ "$overlaps" = no ] || exit 0
await "$run"
"""
