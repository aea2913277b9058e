#!/usr/bin/env bash
# Makes reports from real results and from bad ones, and opens them in a browser.
# usage: report_browser_test.sh GRADCAST WEB_FOLDER WORK_FOLDER
#   GRADCAST    the program            WEB_FOLDER   where its build made bundle.js, which may be missing
#   WORK_FOLDER for packages, results, reports and screenshots
# Exit code: 0 all is well, 1 something is amiss, 77 skipped: no Node, npm, Chromium or packages.
set -euo pipefail
gradcast=$1 web=$2 work=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

skip() {
  echo "skipped: $*"
  exit 77
}
for tool in node npm; do
  command -v "$tool" >/dev/null || skip "no $tool"
done
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
  skip "no Chromium"

# ---- what reports are made from: one line a result -----------------------------------------------------
# result NAME ARGUMENT...: NAME.json is what `gradcast ARGUMENT...` prints.
results() {
  result simulate simulate --model resnet-50 --compressor gaussian --format json
  result table2 compare --format json
  # 504 points.
  result sweep sweep --model alexnet,vgg-16,resnet-50,inception-v4 --compressor dense,topk,randk,dgc,gaussian,trimmed \
    --nodes 1..64 --nic-bandwidth 1Gbps,10Gbps,100Gbps --engine analytic --format json
  # The results to look at have every figure of the large ones, and few points: a browser takes seconds
  # for a page of thousands of table cells, and each check of each window looks at all of them.
  result points sweep --model alexnet,resnet-50 --compressor dense,topk,gaussian --nodes 1,8,64 \
    --nic-bandwidth 1Gbps,100Gbps --engine analytic --format json
  result densities sweep --model resnet-50 --compressor topk,gaussian,fp16 --density 0.0001,0.001,0.01 \
    --engine analytic --format json
  result breakeven breakeven --model resnet-50 --compressor topk,terngrad --over nic-bandwidth --map --engine analytic --format json
  result roofline calibrate --device cpu --models lenet-5 --compressors topk,gaussian --seconds 0.001 --roofline --format json
  result timed simulate --model lenet-5 --fusion layer --overlap yes --timeline "$work/timeline.json.gz" --format json
  # One of each kind that people make most: question, verdict and picture must be on the first screen.
  result small sweep --model vgg-16 --compressor dense,topk,dgc,gaussian --nodes 2,8 \
    --nic-bandwidth 1Gbps,10Gbps,100Gbps --engine analytic --format json
  result dense sweep --model resnet-50,vgg-16 --compressor dense --nodes 4,64 \
    --nic-bandwidth 10Gbps,25Gbps,100Gbps --engine analytic --format json
  result decide decide --model gpt2-xl --preset today --format json
  hostile table2
  hostile points
}
# ---- and which report has which --------------------------------------------------------------------------
# report NAME RESULT...: NAME.html, looked at; glance NAME RESULT...: its first screen and axe-core alone;
# weigh NAME RESULT...: made, not looked at
reports() {
  report one simulate
  weigh sweep sweep  # `decision` has the same figures
  report decision points densities breakeven timed roofline timeline.json.gz table2
  for name in small dense breakeven decide table2; do glance "glance-$name" "$name"; done
  glance glance-timed timed timeline.json.gz
  report hostile-names table2-hostile points-hostile
  if [ "$(wc -c <"$work/sweep.html")" -gt 1500000 ]; then
    echo "the report of 504 points is larger than 1.5 MB"
    exit 1
  fi
}

result() {
  local name=$1
  shift
  "$gradcast" "$@" >"$work/$name.json" 2>"$work/$name.err" || {
    echo "gradcast $* failed:"
    cat "$work/$name.err"
    exit 1
  }
}
# A result whose names would be markup, were they not escaped.
hostile() {
  node -e '
    const {readFileSync, writeFileSync} = require("fs");
    const [from, to] = process.argv.slice(1);
    const attack = "</script><script>document.title=\"run\"</script><img src=x onerror=\"document.title=1\">";
    const document = JSON.parse(readFileSync(from, "utf8"));
    for (const row of document.results) {
      if (typeof row.model === "string") row.model += attack;
      if (typeof row.compressor === "string") row.compressor = `constructor ${row.compressor} & "quotes"`;
    }
    document.argv.push(attack);
    writeFileSync(to, JSON.stringify(document));
  ' "$work/$1.json" "$work/$1-hostile.json"
}
weigh() {
  local name=$1 inputs=() input
  shift
  for input in "$@"; do
    case $input in
      *.*) inputs+=("$work/$input") ;;
      *) inputs+=("$work/$input.json") ;;
    esac
  done
  "$gradcast" report "${inputs[@]}" -o "$work/$name.html"
}
made=()
report() {
  weigh "$@"
  made+=("$work/$1.html")
}

glances=()
glance() {
  weigh "$@"
  glances+=(--glance "$work/$1.html")
}

mkdir -p "$work"
cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$work/"
if ! cmp -s "$work/package-lock.json" "$work/node_modules/.installed"; then
  (cd "$work" && timeout 300 npm ci --prefer-offline --fetch-retries=1 --fetch-retry-mintimeout=1000 \
    --fetch-timeout=30000 >npm.log 2>&1) || skip "npm ci failed, see $work/npm.log"
  cp "$work/package-lock.json" "$work/node_modules/.installed"
fi

results
reports
script=$web/bundle.js expect=static
if [ -s "$script" ]; then expect=interactive; else script=; fi
node "$here/hostile_report.mjs" "$here/../../sim/report/web/report.css" ${script:+"$script"} \
  >"$work/hostile-figures.html"
made+=("$work/hostile-figures.html")
rm -rf "$work/screenshots"
node "$here/report_browser_test.mjs" --modules "$work" --browser "$browser" --expect "$expect" \
  --screenshots "$work/screenshots" "${glances[@]}" "${made[@]}"
