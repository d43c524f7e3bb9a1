# shellcheck shell=bash
# The Debian packages that Oriel needs, and how they get installed. Read by launcher/quickstart and tests/run.
# shellcheck disable=SC2034  # lists for whoever reads this file

# To build and run everything. ibverbs-providers: without it libibverbs finds no device, whatever is in the machine.
build_packages=(build-essential cmake ninja-build pkg-config libopenmpi-dev openmpi-bin libhwloc-dev
  libibverbs-dev librdmacm-dev ibverbs-providers libfmt-dev libspdlog-dev libcli11-dev nlohmann-json3-dev
  libpng-dev libgtest-dev libgmock-dev)
# For the tests, besides (those of the virtual machines are told by tests/lab/oriel-lab packages).
# The second line: existing MPI programs, most of it NWChem; tests without their package are skipped.
test_packages=(clang-14 clang-format-14 gnuplot-nox spin util-linux valgrind
  gfortran libcoarrays-openmpi-dev nwchem-openmpi python3-mpi4py python3-numpy)

missing_packages() { # PACKAGE...: prints those that are not installed
  local package
  for package in "$@"; do
    # shellcheck disable=SC2016  # dpkg-query's own variable
    [[ $(dpkg-query -W -f '${Status}' "$package" 2> /dev/null) == 'install ok installed'* ]] || echo "$package"
  done
}

# Status 1, after a message, when packages are missing and stay missing.
need_packages() { # install|check PACKAGE...
  local mode=$1 missing
  shift
  if ! command -v dpkg-query > /dev/null; then
    echo "note: no Debian packages here; if the build fails, install what corresponds to: $*" >&2
    return 0
  fi
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  if [[ $mode == check ]]; then
    echo "missing packages: ${missing[*]}" >&2
    echo "to install them, as root: apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
    return 1
  fi
  install_packages "${missing[@]}"
}

install_packages() { # PACKAGE...
  local root=()
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120)
  if ((EUID != 0)); then
    if ! command -v sudo > /dev/null || { [[ ! -t 0 ]] && ! sudo -n true 2> /dev/null; }; then
      echo "packages are missing, and only root can install them; as root:" >&2
      echo "  apt-get update && apt-get install -y --no-install-recommends $*" >&2
      return 1
    fi
    root=(sudo)
  fi
  echo "installing ${#} packages: $*"
  "${root[@]}" "${apt[@]}" update < /dev/null > /dev/null ||
    echo "note: apt-get update failed; trying with the package lists that are there" >&2
  "${root[@]}" "${apt[@]}" install -y --no-install-recommends "$@" < /dev/null || {
    echo "the packages could not be installed: $*" >&2
    echo "is this machine offline, or are its package sources not those of Debian 12?" >&2
    return 1
  }
}

# Compilers running side by side: one per core, and 1.5 GiB of memory for each.
build_jobs() {
  local cores kib
  cores=$(nproc)
  kib=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)
  local by_memory=$((${kib:-1572864} / 1572864))
  ((by_memory >= 1)) || by_memory=1
  echo $((cores < by_memory ? cores : by_memory))
}
