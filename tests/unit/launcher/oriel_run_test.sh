#!/bin/bash
# oriel-run with the real mpirun and small shell programs as ranks.
# usage: oriel_run_test.sh ORIEL_RUN ORIEL_INFO PROGRAMS [DROP_IN]: the folder of the programs that oriel-info looks at, and liboriel_mpi.so
set -u
run=$(realpath "$1")
info=$(realpath "$2")
programs=$(realpath "$3")
drop_in=${4:+$(realpath "$4")}
for name in $(compgen -v | grep -E '^(ORIEL|OMPI_MCA)_'); do unset "$name"; done

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/tmp"
export TMPDIR=$dir/tmp DIR=$dir
failures=0

fail() {
  echo "FAILED: $case: $*"
  sed 's/^/    stderr: /' "$dir/err" 2>/dev/null | head -20
  failures=$((failures + 1))
}
begin() {
  case=$1
  rm -f "$dir"/{err,out,up,go,scratch} "$dir"/pid.*
}
status_is() { [ "$1" = "$2" ] || fail "status $1, not $2"; }
err_has() { grep -qE -- "$1" "$dir/err" || fail "standard error lacks: $1"; }

# Waits for something that must come; gives up only when the test as a whole has surely failed.
await() {
  for _ in $(seq 2400); do
    "$@" && return 0
    sleep 0.05
  done
  fail "in vain: $*"
  return 1
}
is_there() { [ -e "$1" ]; }
has_line() { grep -q "$2" "$1"; }
# A zombie is gone as far as we care.
is_gone() { [ ! -e "/proc/$1" ] || grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null; }

nothing_left() {
  local pid
  for pid in $(cat "$dir"/pid.* 2>/dev/null); do await is_gone "$pid"; done
  [ -z "$(ls -A "$dir/tmp")" ] || fail "left in the folder for temporary files: $(ls -A "$dir/tmp")"
  [ ! -s "$dir/scratch" ] || [ ! -e "$(cat "$dir/scratch")" ] || fail "left: $(cat "$dir/scratch")"
}

# A rank: says that it is there, waits until mpirun has passed a line on (by then all ranks have
# started), lets the victim act, and would then stay for ever.
cat >"$dir/rank" <<'EOF'
#!/bin/bash
trap '' TERM
rank=$OMPI_COMM_WORLD_RANK
echo "$OMPI_MCA_orte_tmpdir_base" >"$DIR/scratch"
echo $$ >"$DIR/pid.$rank"
if [ "$rank" = 0 ]; then
  read -r _
  while [ "$(ls "$DIR" | grep -c '^pid\.')" != "$OMPI_COMM_WORLD_SIZE" ]; do sleep 0.02; done
  touch "$DIR/go"
fi
while [ ! -e "$DIR/go" ]; do sleep 0.02; done
[ "$rank" = "$1" ] && eval "$2"
exec sleep 100000
EOF
chmod +x "$dir/rank"

# An mpirun that cannot be stopped gently; it is killed after the grace time, while the rest runs.
mkdir "$dir/stubborn"
cat >"$dir/stubborn/mpirun" <<'EOF'
#!/bin/bash
trap '' TERM
sleep 100000 &
echo $! >"$DIR/stubborn/child"
wait
EOF
chmod +x "$dir/stubborn/mpirun"
(
  PATH=$dir/stubborn:$PATH "$run" -n 1 true 2>"$dir/stubborn/err" &
  echo $! >"$dir/stubborn/pid"
  wait $!
  echo $? >"$dir/stubborn/status"
) &
case=stubborn
await is_there "$dir/stubborn/child" && kill -TERM "$(cat "$dir/stubborn/pid")"

begin 'the status of a rank that exits is passed on, and the rank named'
echo | "$run" -n 3 "$dir/rank" 1 'exit 5' 2>"$dir/err"
status_is $? 5
err_has '^oriel-run: rank 1 exited with status 5; hint: '
nothing_left

begin 'a rank killed by SIGKILL is named, and leaves nothing'
echo | "$run" -n 3 "$dir/rank" 2 'kill -9 $$' 2>"$dir/err"
status_is $? 137
err_has '^oriel-run: rank 2 on node .+ was killed by signal 9 \(SIGKILL\); hint: '
nothing_left

mkfifo "$dir/endless"
exec 9<>"$dir/endless"
stop_case() {  # NAME SIGNAL TARGET STATUS: sends the signal once all ranks are there
  begin "$1"
  "$run" -n 2 "$dir/rank" none true 2>"$dir/err" <&9 &
  local pid=$!
  echo >&9
  await is_there "$dir/go"
  [ -s "$dir/scratch" ] && [ -d "$(cat "$dir/scratch")" ] || fail 'no private directory while it runs'
  case $3 in
    oriel-run) kill "-$2" $pid ;;
    mpirun) kill "-$2" "$(pgrep -P $pid -x mpirun)" ;;
  esac
  wait $pid 2>/dev/null
  status_is $? "$4"
}

stop_case 'SIGTERM stops the ranks and leaves nothing' TERM oriel-run 143
err_has '^oriel-run: the job was stopped by signal 15 \(SIGTERM\)'
nothing_left
stop_case 'SIGINT stops the ranks and leaves nothing' INT oriel-run 130
nothing_left
stop_case 'a killed mpirun leaves neither ranks nor files' KILL mpirun 137
err_has '^oriel-run: mpirun itself was killed by signal 9 \(SIGKILL\)'
nothing_left

stop_case 'a killed oriel-run leaves no ranks, and the next one removes its files' KILL oriel-run 137
for file in "$dir"/pid.*; do await is_gone "$(cat "$file")"; done
next_run_sweeps() { "$run" -n 1 true && [ ! -e "$(cat "$dir/scratch")" ]; }
await next_run_sweeps
nothing_left

begin '--dry-run runs nothing, and what it prints runs when pasted'
"$run" --dry-run -n 2 touch "$dir/ran" >"$dir/out" 2>"$dir/err"
status_is $? 0
[ ! -e "$dir/ran" ] || fail 'it ran'
"$run" --dry-run -n 2 --env 'WORDS=a  b' sh -c 'echo "[$WORDS] [$1]"' sh "it's \$HOME" >"$dir/paste" 2>"$dir/err"
bash "$dir/paste" >"$dir/out" 2>>"$dir/err"
status_is $? 0
[ "$(cat "$dir/out")" = "$(printf '%s\n' "[a  b] [it's \$HOME]" "[a  b] [it's \$HOME]")" ] ||
  fail "pasted: $(cat "$dir/out")"

refused() {  # TEXT ARGS…: not started, one line that says why
  local text=$1
  shift
  begin "refused: $*"
  "$run" "$@" >"$dir/out" 2>"$dir/err"
  status_is $? 2
  err_has "^oriel-run: .*$text"
  [ "$(wc -l <"$dir/err")" = 1 ] || fail 'not one line'
  [ ! -s "$dir/out" ] || fail 'it wrote on standard output'
}
refused 'no PROGRAM'
refused '--frob' --frob true
refused '--ranks' -n 0 true
refused 'auto,shm,verbs' --fabric ucx true
refused '"a:x"' --hosts a:x true
refused 'never closed' --mpirun-args "'x" true
refused 'no program' -n 1 "$dir/missing"
echo text >"$dir/plain"
refused 'may not be executed' -n 1 "$dir/plain"
refused 'slots of --hosts' --hosts node1:1,node2:1 -n 5 true
refused 'one machine only' --hosts node1:1,node2:1 --fabric shm true
ORIEL_FABRIK=shm refused 'ORIEL_FABRIK' -n 1 true
ORIEL_LOG=loud refused 'debug.info.warning' -n 1 true
mkdir "$dir/empty"
cat >"$dir/run-without-path" <<EOF
#!/bin/sh
PATH=$dir/empty exec $run "\$@"
EOF
chmod +x "$dir/run-without-path"
run=$dir/run-without-path refused 'openmpi-bin' -n 1 /bin/true
refused 'linked against libmpich.so.12, another MPI' --mpi -n 1 "$programs/mpich_user"
cp "$run" "$dir/oriel-run-alone"
run=$dir/oriel-run-alone refused 'no liboriel_mpi.so .looked for ' --mpi -n 1 true
if "$info" --json | grep -q '"devices": \[\]'; then
  refused 'modprobe rdma_rxe.* rdma link add rxe0 type rxe netdev' -n 1 --fabric verbs true
fi

begin 'standard input reaches rank 0'
seq 1000 | "$run" -n 2 cat >"$dir/out" 2>"$dir/err"
status_is $? 0
seq 1000 | cmp -s - "$dir/out" || fail 'other bytes came out'

# mpirun mixes the ranks' bytes within lines too, so that they can only be counted.
begin 'no output is lost'
"$run" -n 2 sh -c 'seq 200000; seq 200000 >&2' >"$dir/out" 2>"$dir/err"
status_is $? 0
for file in out err; do
  [ "$(wc -lc <"$dir/$file")" = "$({ seq 200000; seq 200000; } | wc -lc)" ] || fail "standard $file"
done
"$run" -n 1 sh -c 'seq 200000 >&2' 2>"$dir/err"
seq 200000 | cmp -s - "$dir/err" || fail 'standard error is not the same bytes'

begin 'standard error comes at once, without a newline too'
"$run" -n 1 sh -c 'printf "half a line" >&2; while [ ! -e "$DIR/go" ]; do sleep 0.05; done' 2>"$dir/err" &
await has_line "$dir/err" 'half a line'
touch "$dir/go"
wait $!
status_is $? 0

begin 'a reader of standard error that goes away does not end the job'
"$run" -n 1 sh -c 'seq 100000 >&2; echo done' 2> >(true) >"$dir/out"
status_is $? 0
[ "$(cat "$dir/out")" = done ] || fail 'the rank did not get to its end'

begin 'options become variables of the ranks'
ORIEL_DEVICE=rxe7 "$run" -n 1 --fabric shm --log info --env OTHER=1 \
  sh -c 'echo "$ORIEL_FABRIC $ORIEL_LOG $ORIEL_DEVICE $OTHER"' >"$dir/out" 2>"$dir/err"
[ "$(cat "$dir/out")" = 'shm info rxe7 1' ] || fail "they are: $(cat "$dir/out")"

if [ -n "$drop_in" ]; then
  begin '--mpi puts the drop-in before the MPI of the ranks, and leaves mpirun alone'
  OTHER=$(ls /lib/*/libm.so.6 /lib64/libm.so.6 2>/dev/null | head -1)
  LD_PRELOAD=$OTHER "$run" --mpi -n 2 bash -c 'echo "$LD_PRELOAD $(grep -c liboriel_mpi /proc/$PPID/maps)"' \
    >"$dir/out" 2>"$dir/err"
  status_is $? 0
  [ "$(sort -u "$dir/out")" = "$drop_in:$OTHER 0" ] || fail "they say: $(cat "$dir/out")"
  err_has 'note: bash is not linked against MPI'

  begin '--mpi says nothing of a script'
  printf '#!/bin/sh\nexit 0\n' >"$dir/script"
  chmod +x "$dir/script"
  "$run" --mpi -n 1 "$dir/script" 2>"$dir/err"
  status_is $? 0
  [ ! -s "$dir/err" ] || fail 'it said something'
fi

begin 'binding to cores as planned is accepted by mpirun'
"$run" -n 1 --bind core true 2>"$dir/err"
status_is $? 0
"$run" true 2>"$dir/err"
status_is $? 0

begin 'oriel-info works without mpirun and without a device'
for option in '' --json --options; do
  PATH=$dir/empty "$info" $option >"$dir/out" 2>"$dir/err"
  status_is $? 0
  grep -q ORIEL_ "$dir/out" || fail "nothing about variables with '$option'"
done
"$info" --frob >"$dir/out" 2>"$dir/err"
status_is $? 2

begin 'oriel-info --mpi tells which calls are taken over'
"$info" --mpi "$programs/open_mpi_user" >"$dir/out" 2>"$dir/err"
status_is $? 0
grep -A1 '^Oriel takes over' "$dir/out" | grep -q 'MPI_Get MPI_Init MPI_Put mpi_put_ mpi_win_fence_f08_' || fail "it says: $(cat "$dir/out")"
grep -A1 '^Stay with MPI' "$dir/out" | grep -q 'MPI_Send PMPI_Put mpi_send_f08_' || fail "it says: $(cat "$dir/out")"
"$info" --json --mpi "$programs/open_mpi_user" >"$dir/out" 2>"$dir/err"
status_is $? 0
grep -q '"taken_over"' "$dir/out" || fail 'no JSON'
"$info" --mpi "$dir/missing" >"$dir/out" 2>"$dir/err"
status_is $? 1
err_has 'there is no program'

begin 'an mpirun that ignores SIGTERM is killed, with what it has started'
await is_there "$dir/stubborn/status"
status_is "$(cat "$dir/stubborn/status")" 143
is_gone "$(cat "$dir/stubborn/child")" || fail 'its child lives'
nothing_left

[ $failures = 0 ] && echo 'all passed'
exit $((failures > 0))
