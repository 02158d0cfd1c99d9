
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
