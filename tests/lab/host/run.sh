# shellcheck shell=bash
# A run: the VMs are started, the job runs on node 1, everything is taken down again.

run=''

start_time_of() { # PID; a PID that is used again has another one
  local stat
  { stat=$(< "/proc/$1/stat"); } 2> /dev/null || return
  stat=${stat##*) }
  set -- $stat
  echo "${20}"
}

# A run folder is called oriel-lab.<host>.<pid>.<start time of pid>.<random>: whoever finds it can tell
# whether its owner lives.
make_run_folder() {
  local place=${TMPDIR:-/tmp} folder owner host=${HOSTNAME//[^A-Za-z0-9-]/-}
  for folder in "$place/oriel-lab.$host".*; do
    [[ -d $folder && -O $folder ]] || continue
    owner=${folder#"$place/oriel-lab.$host."}
    owner=${owner%.*}
    [[ $(start_time_of "${owner%.*}") == "${owner#*.}" ]] || remove_run_folder "$folder"
  done
  run=$(mktemp -d "$place/oriel-lab.$host.$$.$(start_time_of $$).XXXXXX") ||
    fail "cannot make a folder in $place; set TMPDIR to one that can be written to"
}

remove_run_folder() { # FOLDER; its QEMUs, should one be left, are told by their current folder
  local pid
  while read -r pid; do
    [[ $(readlink "/proc/$pid/cwd") != "$1"* ]] || kill -KILL "$pid"
  done 2> /dev/null < "$1/pids"
  rm -rf "$1"
}

# What a suite adds: a file for the guest before the start, notes after the end.
prepare_run() { :; }
finish_run() { :; } # STATUS

cleanup() {
  local rc=$? p i
  trap '' INT TERM HUP
  for p in "${pids[@]}" "${helpers[@]}"; do kill -KILL "$p" 2> /dev/null; done
  for p in "${pids[@]}" "${helpers[@]}"; do
    for ((i = 0; i < 100; i++)); do
      alive "$p" || break
      sleep 0.02
    done
  done
  if [[ -n $logs && -n $run ]]; then
    mkdir -p "$logs" && cp "$run"/console.* "$run"/ctl/times.* "$run"/qemu.* "$logs"/ 2> /dev/null
  fi
  finish_run $rc
  [[ -z $run ]] || rm -rf "$run"
}

forward_output() { # of the job; a suite keeps it in its log too
  mkfifo "$run"/{out,err,req}
  exec {request_fd}<> "$run/req"
  # opening a FIFO waits for its other end: that is left to the helpers
  local reader='exec tee "${@:2}" < "$1"'
  helper bash -c "$reader" - "$run/out" ${lab_log:+-a "$lab_log"}
  helper bash -c "$reader" - "$run/err" ${lab_log:+-a "$lab_log"} >&2
}

handle_request() { # from a guest
  case $1 in
    start)
      started=$now
      [[ -z $times ]] || say "the command started after $(((started - begin) / 1000)) ms"
      local i
      for i in "${!faults[@]}"; do later "${faults[i]%% *}" do_fault "host.$i" "${faults[i]#* }"; done ;;
    "fault "*)
      # shellcheck disable=SC2086  # words
      do_fault ${1#fault } ;;
  esac
}

check_nodes() { # sets status when the run is over
  local i
  for ((i = nodes; i >= 1; i--)); do
    alive "${pids[i]}" && continue
    if ((i == 1)) && [[ -s $run/ctl/rc ]]; then
      status=$(< "$run/ctl/rc")
      return
    fi
    [[ -z ${expected_dead[i]:-} || $i == 1 ]] || continue
    status=125
    say "node$i died without reporting a status; the end of its console:"
    tail -n 30 "$run/console.$i" "$run/qemu.$i" 2>&1 | show
    return
  done
}

check_limits() { # sets status when the time is up
  local i
  if [[ -z $started ]] && ((now - begin > boot_limit * 1000000)); then
    say "timeout: the VMs were not ready after $boot_limit s; a busy machine needs a larger --boot-timeout"
  elif ((now - begin > limit * 1000000)); then
    say "timeout after $limit s; processes and consoles:"
  else
    return
  fi
  status=124
  [[ -z $started ]] || for ((i = 1; i <= nodes; i++)); do
    guest "$i" 'ps -o pid,stat,wchan:20,args --ppid 2 -p 2 --deselect | tail -n 25'
  done
  [[ -z $started ]] || sleep 3
  for ((i = 1; i <= nodes; i++)); do
    [[ ! -e $run/console.$i ]] || tail -n 40 "$run/console.$i" | show
  done
}

write_job() { # SHELL-TEXT
  mkdir "$run/ctl"
  printf '%s=%q\n' NODES "$nodes" DEVICES "$devices" MTU "$mtu" GID "$gid" MEMLOCK "$memlock" \
    RWDIR "$rw" JOBDIR "$PWD" > "$run/ctl/config"
  printf '%s\n' "$1" > "$run/ctl/job"
}

run_lab() { # SHELL-TEXT to be run on node 1; ends the script
  local i f line now begin started=''
  status=''
  : "${limit:=300}"
  require_tools
  trap cleanup EXIT
  trap 'say "interrupted"; exit 126' INT TERM HUP
  make_run_folder
  write_job "$1"
  make_initramfs "$run/initramfs"
  prepare_run
  now_us
  begin=$now
  forward_output
  for ((i = nodes; i >= 1; i--)); do start_node "$i"; done
  while [[ -z $status ]]; do
    if IFS= read -r -t 0.1 -u "$request_fd" line; then
      now_us
      handle_request "$line"
    fi
    do_due_work
    check_nodes
    [[ -n $status ]] || check_limits
  done
  for i in "${!pids[@]}"; do kill -KILL "${pids[i]}" 2> /dev/null; done
  # the readers of out and err end by themselves once QEMU is gone: wait for what they still hold
  for f in "${helpers[@]:0:2}"; do
    for ((i = 0; i < 40; i++)); do
      alive "$f" || break
      sleep 0.05
    done
  done
  [[ -z $times ]] || report_times
  exit "$status"
}

report_times() {
  now_us
  say "whole run $(((now - begin) / 1000)) ms; uptimes of the guests in s:"
  cat "$run"/ctl/times.* | show
}
