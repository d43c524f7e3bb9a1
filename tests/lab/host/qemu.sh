# shellcheck shell=bash
# One QEMU per node.  It runs inside the run folder, so that its sockets and pipes have short names.

qemu=${ORIEL_LAB_QEMU:-qemu-system-x86_64}
declare -a pids helpers monitor_fd command_fd

helper() { # COMMAND...: runs beside the lab and dies with it
  setpriv --pdeathsig KILL "$@" &
  helpers+=($!)
  disown $! # no "Killed" messages
}

netdev() { # NODE NETWORK HUB: the NIC's netdev is called NETWORK.  Two nodes are joined by a pair of
  # datagram sockets, more by a hub in the QEMU of node 1.
  local i=$1 net=$2 hub=$3 j
  local socket="dgram,local.type=unix,remote.type=unix"
  if ((nodes == 2)); then
    echo "-netdev $socket,id=$net,local.path=$net.$i,remote.path=$net.$((3 - i))"
  elif ((i > 1)); then
    echo "-netdev $socket,id=$net,local.path=$net.$i,remote.path=$net.1-$i"
  else
    echo "-netdev hubport,id=$net,hubid=$hub"
    for ((j = 2; j <= nodes; j++)); do
      echo "-netdev $socket,id=$net-$j,local.path=$net.1-$j,remote.path=$net.$j"
      echo "-netdev hubport,id=$net-hub$j,hubid=$hub,netdev=$net-$j"
    done
  fi
}

nics() { # NODE; the guest tells its NICs by their MACs
  local i=$1 k
  ((nodes > 1)) || return
  netdev "$i" mgmt 0
  printf -- '-device virtio-net-pci,id=mgmt-nic,netdev=mgmt,romfile=,mac=52:54:00:76:00:%02x\n' "$i"
  for ((k = 0; k < devices; k++)); do
    netdev "$i" "rdma$k" $((k + 1))
    printf -- '-device virtio-net-pci,id=rdma%d-nic,netdev=rdma%d,romfile=,rx_queue_size=1024,mac=52:54:00:77:%02x:%02x\n' \
      "$k" "$k" "$k" "$i"
  done
}

start_node() { # NODE
  local i=$1 network output=()
  mkfifo "$run"/{mon,cmd}."$i".{in,out}
  helper cat "$run/mon.$i.out" > /dev/null
  helper cat "$run/cmd.$i.out" > /dev/null
  exec {monitor_fd[i]}<> "$run/mon.$i.in" {command_fd[i]}<> "$run/cmd.$i.in"
  mapfile -t network < <(nics "$i" | tr ' ' '\n')
  if ((i == 1)); then
    output=(-chardev "file,id=out,path=out" -device "virtserialport,chardev=out,name=out"
      -chardev "file,id=err,path=err" -device "virtserialport,chardev=err,name=err")
  fi
  # The PID stays the same from the subshell to QEMU, and QEMU dies when this script does.
  (cd "$run" && exec setpriv --pdeathsig KILL "$qemu" -name "oriel-lab-node$i" \
    -accel "$accel" -cpu "$cpu" -smp "$smp" -m "$mem" \
    -nodefaults -no-user-config -display none -no-reboot -kernel "/boot/vmlinuz-$kernel" -initrd initramfs \
    -append "console=ttyS0 quiet loglevel=5 panic=-1 oops=panic mitigations=off tsc=reliable no_timer_check oriel_lab.node=$i" \
    -serial "file:console.$i" \
    -chardev "pipe,id=mon,path=mon.$i" -mon chardev=mon,mode=readline \
    -device virtio-serial-pci -chardev "pipe,id=cmd,path=cmd.$i" -device virtserialport,chardev=cmd,name=cmd \
    -chardev "file,id=req,path=req" -device virtserialport,chardev=req,name=req "${output[@]}" \
    -virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap \
    -virtfs local,path=ctl,mount_tag=ctl,security_model=none \
    -virtfs "local,path=${rw//,/,,},mount_tag=rw,security_model=none,multidevs=remap" \
    "${network[@]}") < /dev/null > "$run/qemu.$i" 2>&1 &
  pids[i]=$!
  echo $! >> "$run/pids"
  disown $!
}

alive() { kill -0 "$1" 2> /dev/null; }
monitor() { echo "$2" >&"${monitor_fd[$1]}"; } # NODE COMMAND of QEMU
guest() { echo "$2" >&"${command_fd[$1]}"; }   # NODE SHELL-COMMAND
