# The Debian packages that gradcast is built from, how they get onto a machine, and how build/ is made.
# Sourced by scripts/run and scripts/test; not a command.

gradcast_packages="g++ cmake ninja-build libsimgrid-dev libboost-dev libcxxopts-dev libfccp-dev \
nlohmann-json3-dev libssl-dev catch2"

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
  "${as_root[@]}" apt-get update -qq >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
  gradcast_installed=yes
}

# Builds targets in build/; quiet when there is nothing to do, the whole log when it fails.
build_targets() {
  local log
  log=$(mktemp)
  # A build that was configured before its packages came would go on without them.
  if [ ! -f build/build.ninja ] || [ "$gradcast_installed" = yes ]; then
    echo "gradcast: configuring build/" >&2
    cmake --preset default >"$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; return 1; }
  fi
  if ninja -C build -n "$@" | grep -q '^\['; then
    echo "gradcast: building (minutes the first time)" >&2
  fi
  ninja -C build "$@" >"$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; return 1; }
  rm -f "$log"
}
