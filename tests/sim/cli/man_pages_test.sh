#!/usr/bin/env bash
# groff and man take every manual page without a warning. $GRADCAST_PROGRAM is the program.
set -u
command -v groff >/dev/null || { echo "skipped: no groff" >&2; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
for page in $("$GRADCAST_PROGRAM" completion --names pages); do
  "$GRADCAST_PROGRAM" man "$page" -o "$folder/page" || failed=1
  said=$(groff -ww -man -Tutf8 "$folder/page" 2>&1 >"$folder/text")
  [ -z "$said" ] || { echo "groff, $page: $said" >&2; failed=1; }
  grep -q 'gradcast' "$folder/text" || { echo "$page is empty" >&2; failed=1; }
  command -v man >/dev/null || continue
  said=$(MANROFFSEQ='' MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings -l "$folder/page" 2>&1 >/dev/null)
  [ -z "$said" ] || { echo "man, $page: $said" >&2; failed=1; }
done
exit $failed
