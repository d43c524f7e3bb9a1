# shellcheck shell=bash
# Fault injection.  The main loop calls do_due_work; nothing here waits.

agenda=()        # "TIME-IN-US ACTION ARGUMENTS...", of the functions monitor, guest, do_fault
waiting_for=()   # "ID NODE...": faults the guests have not confirmed yet
declare -a expected_dead

now_us() { now=${EPOCHREALTIME/[.,]/}; }

later() { # SECONDS ACTION ARGUMENTS...; seconds with or without a fraction
  local fraction=0
  [[ $1 != *.* ]] || fraction=${1#*.}
  fraction=${fraction}000000
  now_us
  agenda+=("$((now + 10#${1%.*} * 1000000 + 10#${fraction:0:6})) ${*:2}")
}

check_fault() { # KIND ARGUMENTS...
  local number='^[0-9]+(\.[0-9]+)?$' argument=${2:-}
  [[ $argument =~ ^[0-9]+$ ]] || return
  case $1 in
    kill) (($# == 2)) && return ;;
    stop) (($# == 3)) && [[ $3 =~ $number ]] && return ;;
    netem) (($# >= 4 && argument >= 1 && argument <= nodes)) && [[ $3 =~ $number ]] && return ;;
    unplug | ifdown | freeze) (($# == 3 && argument >= 1 && argument <= nodes)) && [[ $3 =~ $number ]] && return ;;
    poweroff) (($# == 2 && argument >= 1 && argument <= nodes)) && return ;;
  esac
  return 1
}

check_timed_fault() { # AFTER KIND ARGUMENTS...
  [[ $# -ge 2 && $1 =~ ^[0-9]+(\.[0-9]+)?$ ]] && check_fault "${@:2}"
}

do_fault() { # ID KIND ARGUMENTS...; ctl/done.ID gets the status once the fault is in force
  local id=$1 kind=$2 node=${3:-} seconds=${4:-0} i k
  if ! check_fault "${@:2}"; then
    say "bad fault: ${*:2}"
    echo 2 > "$run/ctl/done.$id"
    return
  fi
  case $kind in
    kill | stop)
      for ((i = 1; i <= nodes; i++)); do guest "$i" "fault-here $id ${*:2}"; done
      waiting_for+=("$id $(seq -s ' ' 1 "$nodes")")
      return ;;
    netem | ifdown)
      guest "$node" "fault-here $id $kind ${*:4}"
      waiting_for+=("$id $node")
      return ;;
    unplug)
      for ((k = 0; k < devices; k++)); do
        monitor "$node" "set_link rdma$k-nic off"
        [[ $seconds == 0 ]] || later "$seconds" monitor "$node" "set_link rdma$k-nic on"
      done ;;
    freeze)
      monitor "$node" stop
      [[ $seconds == 0 ]] || later "$seconds" monitor "$node" cont ;;
    poweroff)
      expected_dead[node]=1
      monitor "$node" quit
      # mpirun 4.1 can wait for ever for the daemon of a node that is gone
      if [[ -n $mpi ]]; then
        later 30 guest 1 "pkill -TERM -x 'mpirun.*'"
        later 35 guest 1 "pkill -KILL -x 'mpirun.*'"
      fi ;;
  esac
  echo 0 > "$run/ctl/done.$id"
}

do_due_work() {
  local i entry
  now_us
  for i in "${!agenda[@]}"; do
    entry=${agenda[i]}
    ((now >= ${entry%% *})) || continue
    unset "agenda[i]"
    # shellcheck disable=SC2086  # the arguments are words
    set -- $entry
    case $2 in
      do_fault) do_fault "${@:3}" ;;
      *) "$2" "$3" "${*:4}" ;;
    esac
  done
  for i in "${!waiting_for[@]}"; do
    # shellcheck disable=SC2086
    set -- ${waiting_for[i]}
    if confirmed "$@"; then unset "waiting_for[i]"; fi
  done
}

confirmed() { # ID NODE...
  local id=$1 node worst=0
  shift
  for node; do
    [[ -s $run/ctl/part.$id.$node ]] || return
    worst=$((worst | $(< "$run/ctl/part.$id.$node")))
  done
  echo "$worst" > "$run/ctl/done.$id"
}
