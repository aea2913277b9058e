#!/usr/bin/env bash
# Completions are what their shells read, and bash's offers what it should. $GRADCAST_PROGRAM is the program.
# A shell that is not there is not asked.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

fail() {
  echo "FAILED: $*" >&2
  failed=1
}

for shell in bash zsh fish; do
  "$GRADCAST_PROGRAM" completion $shell -o "$folder/$shell" || fail "completion $shell"
  command -v $shell >/dev/null || continue
  $shell -n "$folder/$shell" || fail "$shell does not read its completion"
done

# As bash calls it: what is offered for the words, the last of which is being typed.
mkdir "$folder/bin" "$folder/work"
ln -s "$GRADCAST_PROGRAM" "$folder/bin/gradcast"
PATH=$folder/bin:$PATH
. "$folder/bash"
touch "$folder/work/my-model.csv"
cd "$folder/work" || exit 1
offers() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  _gradcast gradcast "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
}
expect() { # wanted, then the words
  local wanted=$1
  shift
  offers "$@"
  case " ${COMPREPLY[*]} " in
    *" $wanted "*) ;;
    *) fail "'$*' offers '${COMPREPLY[*]}', not '$wanted'" ;;
  esac
}
expect_not() {
  local unwanted=$1
  shift
  offers "$@"
  case " ${COMPREPLY[*]} " in *" $unwanted "*) fail "'$*' offers '$unwanted'" ;; esac
}

expect simulate gradcast sim
expect_not compare gradcast sim
expect --help gradcast --
expect --nic-bandwidth gradcast simulate --nic
expect_not --model gradcast simulate --nic
expect resnet-50 gradcast simulate --model res
expect resnet-50 gradcast simulate --model = res
expect resnet-50 gradcast simulate --model =
expect my-model.csv gradcast simulate --model my
expect 10gbe-4x4 gradcast simulate --cluster 10gbe-
expect gaussian gradcast simulate --compressor ""
expect my-model.csv gradcast simulate --compressor my
expect json gradcast simulate -f j
expect topk,gaussian gradcast calibrate --compressors topk,gau
expect exit-codes gradcast help exit
expect fish gradcast completion f
expect formats gradcast man form
expect my-model.csv gradcast simulate -o my
offers gradcast simulate --density ""
[ ${#COMPREPLY[@]} -eq 0 ] || fail "a density is offered as '${COMPREPLY[*]}'"

# A file that a person adds is offered at once.
mkdir -p "$folder/data/models" "$folder/data/traces"
touch "$folder/data/models/my-own.csv"
GRADCAST_DATA=$folder/data expect my-own gradcast simulate --model my-o

if command -v fish >/dev/null; then
  offered=$(fish --no-config -c "source $folder/fish; complete -C 'gradcast simulate --model res'" | cut -f1)
  grep -qx resnet-50 <<<"$offered" || fail "fish offers '$offered' for a model"
  offered=$(fish --no-config -c "source $folder/fish; complete -C 'gradcast sim'" | cut -f1)
  [ "$offered" = simulate ] || fail "fish offers '$offered' for 'sim'"
  offered=$(fish --no-config -c "source $folder/fish; complete -C 'gradcast calibrate --compressors topk,gau'" | cut -f1)
  [ "$offered" = topk,gaussian ] || fail "fish offers '$offered' for a list"
fi
exit $failed
