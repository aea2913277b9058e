#!/usr/bin/env bash
# package_test.sh CPACK BUILD: a Debian package with what it needs.
set -eu
cpack=$1 build=$2
for tool in dpkg-shlibdeps dpkg-deb; do
  command -v $tool >/dev/null || { echo "skipped: no $tool" >&2; exit 77; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
"$cpack" -G DEB --config "$build/CPackConfig.cmake" -B "$folder" >"$folder/log" 2>&1 || { cat "$folder/log"; fail cpack; }
set -- "$folder"/gradcast_*.deb
[ -s "$1" ] || fail "there is no package"
depends=$(dpkg-deb -f "$1" Depends)
case $depends in *libc6*) ;; *) fail "it depends on '$depends'" ;; esac
if "$GRADCAST_PROGRAM" version -f csv | grep -q simgrid-exact; then
  case $depends in *libsimgrid*) ;; *) fail "it depends on '$depends', and not on SimGrid" ;; esac
fi
dpkg-deb -c "$1" >"$folder/files"
for file in ./usr/bin/gradcast ./usr/share/gradcast/models/resnet-50.csv ./usr/share/doc/gradcast/copyright; do
  grep -q " $file\$" "$folder/files" || fail "it lacks $file"
done
dpkg-deb -x "$1" "$folder/tree"
"$folder/tree/usr/bin/gradcast" version >/dev/null || fail "its program does not run"
