#!/usr/bin/env bash
# install_test.sh CMAKE BUILD SOURCE: an installed tree works from wherever it lies.
set -eu
cmake=$1 build=$2 source=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
  echo "FAILED: $*" >&2
  exit 1
}

"$cmake" --install "$build" --prefix "$folder/first" --strip >"$folder/log" 2>&1 || { cat "$folder/log"; fail install; }
mv "$folder/first" "$folder/tree" # nothing may know where it was installed
cd "$folder/tree"
for file in bin/gradcast share/gradcast/models/resnet-50.csv share/gradcast/platforms/10gbe-4x4.csv \
  share/gradcast/traces/examples/measured.csv share/gradcast/schema/simulate.schema.json \
  share/bash-completion/completions/gradcast share/zsh/vendor-completions/_gradcast \
  share/fish/vendor_completions.d/gradcast.fish share/man/man1/gradcast.1* share/man/man1/gradcast-simulate.1* \
  share/man/man5/gradcast-formats.5* share/doc/gradcast/README.md share/doc/gradcast/copyright \
  share/doc/gradcast/traces/README.md; do
  [ -s "$file" ] || fail "$file is not there"
done

unset GRADCAST_DATA
export GRADCAST_CONFIG=none HOME=$folder
bin/gradcast version -f csv | grep -q "$folder/tree/share/gradcast" || fail "the data is not the tree's own"
GRADCAST_DATA='' bin/gradcast simulate --model resnet-50 --compressor topk --engine analytic -q -f csv >"$folder/installed"
GRADCAST_DATA=$source "$GRADCAST_PROGRAM" simulate --model resnet-50 --compressor topk --engine analytic -q -f csv >"$folder/built"
cmp "$folder/installed" "$folder/built" || fail "the installed program answers otherwise"
# SimGrid's module is the tree's own: one that stays in the build folder would not be found.
if "$GRADCAST_PROGRAM" version -f csv | grep -q simgrid-exact; then
  GRADCAST_DATA='' bin/gradcast simulate --model resnet-50 --engine simgrid -q -f csv >"$folder/installed" ||
    fail "the installed program does not find SimGrid"
  GRADCAST_DATA=$source "$GRADCAST_PROGRAM" simulate --model resnet-50 --engine simgrid -q -f csv >"$folder/built"
  cmp "$folder/installed" "$folder/built" || fail "the installed program answers otherwise by SimGrid"
fi

# PyTorch's operators as `calibrate` finds them: the modules and a model are there, a device of that name is not
# (2; 5 where there is no torch), and nothing was written beside the data.
if command -v python3 >/dev/null; then
  code=0
  python3 share/gradcast/torch_baseline.py --models resnet-50 --device none >"$folder/log" 2>&1 || code=$?
  case $code in 2 | 5) ;; *) cat "$folder/log"; fail "torch_baseline.py ended with $code" ;; esac
  [ -z "$(find share -name __pycache__)" ] || fail "torch_baseline.py wrote beside the data"
fi
[ ! -e share/gradcast/traces/recording ] || fail "modules of record_trace.py are there"

# The program knows the folder of the source as the last place to look for data, and no file in it (but what
# nvcc writes into its modules).
if grep -rlF "$source/" share; then fail "a file names the folder of the source"; fi
if grep -rqaE --exclude-dir=share "$source/[a-z_/]+\.(cpp|hpp)" .; then fail "the program names files of the source"; fi
