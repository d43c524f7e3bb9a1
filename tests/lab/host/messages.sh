# shellcheck shell=bash
# Messages of the lab: to standard error, and to the log of a suite.

lab_log=''

say() {
  echo "oriel-lab: $*" >&2
  [[ -z $lab_log ]] || echo "oriel-lab: $*" >> "$lab_log"
}

fail() { # the lab itself cannot do its work
  say "$*"
  exit 126
}

show() { # lines of standard input
  if [[ -n $lab_log ]]; then tee -a "$lab_log" >&2; else cat >&2; fi
}
