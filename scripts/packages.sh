# The Debian packages that gradcast is built from, how they get onto a machine, and how it is built.
# Debian 12, Debian 13 and Ubuntu 24.04 have all of them, by these names.
# Sourced by the scripts beside it; not a command.

# The comment at the head of the script that runs.
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$(dirname "${BASH_SOURCE[0]}")/$(basename "$0")"; }

# answer_help "$@": a script that is asked for help prints its usage and does nothing else.
answer_help() {
  case "${1:-}" in -h | --help) usage; exit 0 ;; esac
}

# Runs a command silently; where it fails, its whole output goes to standard error.
quietly() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 || status=$?
  [ "$status" -eq 0 ] || cat "$log" >&2
  rm -f "$log"
  return "$status"
}

gradcast_packages="g++ cmake ninja-build libsimgrid-dev libboost-dev libcxxopts-dev libfccp-dev \
nlohmann-json3-dev libtomlplusplus-dev libssl-dev zlib1g-dev libeigen3-dev catch2 librapidcheck-dev libboost-context-dev libsimdjson-dev libsqlite3-dev"

# Says what it installs, and nothing when all is there. Sets gradcast_installed to yes or no.
install_missing_packages() {
  local missing=() package as_root=()
  gradcast_installed=no
  for package in $gradcast_packages; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
      missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0

  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "gradcast: please install, as root: apt-get install ${missing[*]}" >&2
      return 5
    fi
    as_root=(sudo)
  fi
  echo "gradcast: installing ${missing[*]}" >&2
  quietly "${as_root[@]}" apt-get update -qq
  quietly "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}"
  gradcast_installed=yes
}

# Succeeds where a build folder was configured with every one of $configure_flags ("-DNAME=VALUE").
configured_as_asked() {
  local flag name
  [ -f "$1/build.ninja" ] || return 1
  for flag in "${configure_flags[@]}"; do
    name=${flag#-D}
    grep -qxE "${name%%=*}:[A-Z]+=${name#*=}" "$1/CMakeCache.txt" || return 1
  done
}

# build_targets PRESET FOLDER TARGET...: configures where that is due (with $configure_flags), builds;
# quiet when there is nothing to do.
configure_flags=()
build_targets() {
  local preset=$1 folder=$2
  shift 2
  # A build that was configured before its packages came would go on without them.
  if ! configured_as_asked "$folder" || [ "$gradcast_installed" = yes ]; then
    echo "gradcast: configuring $folder/" >&2
    quietly cmake --preset "$preset" "${configure_flags[@]}"
  fi
  # Only a build that takes a while is worth a line. The sleeper must not hold the caller's streams.
  (sleep 2 >/dev/null 2>&1; echo "gradcast: building $folder/ (minutes the first time)" >&2) &
  local announcer=$! status=0
  quietly ninja -C "$folder" "$@" || status=$?
  kill "$announcer" 2>/dev/null || true
  wait "$announcer" 2>/dev/null || true
  return "$status"
}

# What one file with <regex> takes to compile, in CPU seconds: the measure of this machine's hour, for limits.
cpu_seconds_of_known_file() {
  local TIMEFORMAT="%U"
  { echo '#include <regex>
    bool f(const char* s) { return std::regex_match(s, std::regex("(a|b)*c[0-9]+")); }' |
    { time "${CXX:-c++}" -std=c++20 -O2 -x c++ -c -o /dev/null -; }; } 2>&1
}
