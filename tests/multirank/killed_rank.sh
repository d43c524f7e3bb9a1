#!/bin/bash
# killed_rank.sh PROGRAM: a job under mpirun, one rank of which is killed in the middle of a fence, ends soon, with a status other
# than 0, and leaves nothing: no process, nothing in /dev/shm, nothing in the folder for temporary files.
set -u
program=$1
here=$(dirname "${BASH_SOURCE[0]}")
token=oriel-killed-rank-$$-$RANDOM
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

# Segments of Open MPI's own: those of this job go into the scratch folder, those of others come and go.
shm_entries() { find /dev/shm -mindepth 1 ! -name 'vader_segment.*' 2> /dev/null | sort; }

before=$(shm_entries)
export TMPDIR=$scratch OMPI_MCA_btl_vader_backing_directory=$scratch
SECONDS=0
timeout --kill-after=5 60 "$here/../support/run-ranks" 4 -- "$program" "$token" > "$scratch/output" 2>&1
status=$?
cat "$scratch/output"
grep -q 'about to die' "$scratch/output" || fail "the job did not get as far as its fences (status $status)"
[[ $SECONDS -lt 60 ]] || fail "the job did not end within 60 s"
[[ $status != 0 ]] || fail "the job ended with status 0"

for _ in $(seq 50); do  # mpirun does not wait for all of its ranks
  left=$(pgrep -f -- "$token" | tr '\n' ' ')
  [[ -n ${left// /} ]] || break
  sleep 0.2
done
[[ -z ${left// /} ]] || fail "still there: $(pgrep -af -- "$token")"

new=$(comm -13 <(echo "$before") <(shm_entries))
new=$(for entry in $new; do sleep 1; [[ ! -e $entry ]] || echo "$entry"; done)  # others may use the folder as well
[[ -z $new ]] || fail "left in /dev/shm: $new"
left=$(find "$scratch" -mindepth 1 ! -name output ! -path "$scratch/ompi.*" ! -name 'vader_segment.*')
[[ -z $left ]] || fail "left in the folder for temporary files: $left"
echo "the job ended with status $status and left nothing"
