# shellcheck shell=bash
# A suite: many tests in the same VMs, each with a log and a status of its own.

suite_names=() suite_lines=()

read_suite() { # FILE
  local number=0 name seconds text seconds_sum=0
  while read -r name seconds text || [[ -n $name ]]; do
    number=$((number + 1))
    [[ -n $name && $name != '#'* ]] || continue
    [[ $name =~ ^[A-Za-z0-9_][A-Za-z0-9_.+-]*$ ]] ||
      usage "$1:$number: not a test name (letters, digits, _ . + -): $name"
    [[ $seconds =~ ^[1-9][0-9]{0,5}$ ]] || usage "$1:$number: $name: the time limit in seconds is missing: $seconds"
    [[ -n $text ]] || usage "$1:$number: $name: no command"
    [[ " ${suite_names[*]} " != *" $name "* ]] || usage "$1:$number: $name is there twice"
    [[ $name =~ $only ]] || continue
    suite_names+=("$name")
    suite_lines+=("$name $seconds $text")
    seconds_sum=$((seconds_sum + seconds + 30))
  done < "$1"
  ((${#suite_names[@]})) || usage "$1: no test to run"
  : "${limit:=$((boot_limit + seconds_sum))}"
}

note_unfinished() { # STATUS of the lab
  local name
  for name in "${suite_names[@]}"; do
    [[ ! -e $results/$name.rc ]] || continue
    if [[ -e $results/$name.log ]]; then
      echo "oriel-lab: the lab ended (status $1) while this test ran" >> "$results/$name.log"
      say "$name was interrupted"
    else
      say "$name did not run"
    fi
  done
}

cmd_suite() {
  ((${#words[@]} == 1)) || usage "suite takes one FILE"
  [[ -n $results ]] || usage "suite needs --results DIR"
  [[ -r ${words[0]} && -f ${words[0]} ]] || usage "cannot read ${words[0]}"
  read_suite "${words[0]}"
  mkdir -p "$results" 2> /dev/null && results=$(cd "$results" && pwd -P) && [[ -w $results ]] ||
    fail "cannot write to $results"
  [[ $results/ == "$rw"/* ]] || usage "--results $results must lie in the writable folder $rw (--rw)"
  local name
  for name in "${suite_names[@]}"; do rm -f "$results/$name".{rc,log}; done
  lab_log=$results/lab.log
  : > "$lab_log"
  : "${logs:=$results/lab}"
  prepare_run() { printf '%s\n' "${suite_lines[@]}" > "$run/ctl/suite"; }
  finish_run() { note_unfinished "$1"; }
  run_lab "exec lab-suite /run/oriel-lab/ctl/suite $(printf %q "$results")"
}
