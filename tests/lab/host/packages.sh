# shellcheck shell=bash
# What the lab needs on the host.

needed_packages=(qemu-system-x86 linux-image-amd64 busybox-static kmod cpio gzip xz-utils iproute2 perl-base
  util-linux procps rdma-core ibverbs-providers libibverbs1 librdmacm1 ibverbs-utils openmpi-bin)
useful_packages=(rdmacm-utils perftest gdb valgrind)

find_kernel() { # prints the newest installed kernel that has the rxe module
  local k
  while read -r k; do
    if [[ -e /boot/vmlinuz-$k ]] && modinfo -k "$k" rdma_rxe > /dev/null 2>&1; then
      echo "$k"
      return
    fi
  done < <(find /lib/modules -mindepth 1 -maxdepth 1 -printf '%f\n' 2> /dev/null | sort -rV)
  return 1
}

missing_of() { # PACKAGE...
  local p
  for p in "$@"; do
    # Any kernel with the module will do, whatever the name of its package.
    if [[ $p == linux-image-amd64 ]] && find_kernel > /dev/null; then continue; fi
    dpkg-query -W -f '${Status}' "$p" 2> /dev/null | grep -q '^install ok installed' || echo "$p"
  done
}

cmd_packages() { # status 0 when nothing that is needed is missing
  local missing useful install
  [[ $# == 0 || $* == --install ]] || usage "packages takes --install or nothing"
  command -v dpkg-query > /dev/null ||
    fail "no dpkg-query: this is no Debian system; install what corresponds to: ${needed_packages[*]}"
  mapfile -t missing < <(missing_of "${needed_packages[@]}")
  mapfile -t useful < <(missing_of "${useful_packages[@]}")
  echo "needed: ${needed_packages[*]}"
  echo "useful: ${useful_packages[*]}"
  echo "missing: ${missing[*]:-none}"
  echo "missing, useful: ${useful[*]:-none}"
  ((${#missing[@]})) || exit 0
  # QEMU's recommendations are large and of no use here.
  install="apt-get install -y --no-install-recommends ${missing[*]}"
  if [[ ${1:-} != --install ]]; then
    echo "to install: $install"
    exit 1
  fi
  ((EUID == 0)) || fail "only root can install; run: sudo sh -c 'apt-get update && $install'"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update || say "apt-get update failed; trying with the package lists that are there"
  $install || fail "this failed: $install"
  mapfile -t missing < <(missing_of "${missing[@]}")
  ((${#missing[@]} == 0)) || fail "still missing: ${missing[*]}"
}

require_tools() { # everything that can be known before a VM is started; sets kernel
  local tool
  for tool in "$qemu" busybox modprobe cpio gzip xz setpriv; do
    command -v "$tool" > /dev/null ||
      fail "no $tool; what to install is told by: $here/oriel-lab packages"
  done
  ! ldd "$(command -v busybox)" > /dev/null 2>&1 ||
    fail "busybox needs shared libraries; install the package busybox-static in its place"
  kernel=$(find_kernel) ||
    fail "no installed kernel has the module rdma_rxe (Debian's linux-image-amd64 has, the cloud kernel has not); see: $here/oriel-lab packages"
  [[ -r /boot/vmlinuz-$kernel ]] ||
    fail "/boot/vmlinuz-$kernel is not readable for $(id -un); run as root: chmod a+r /boot/vmlinuz-$kernel"
  [[ $accel != kvm || -w /dev/kvm ]] || fail "--kvm: /dev/kvm is missing or not writable for $(id -un)"
}
