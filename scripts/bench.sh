#!/bin/bash
# What kb costs, as ratios in one run: processes against an empty Go program,
# then the benchmarks of the kernel, the index and the analyzer.
#
#   scripts/bench.sh [RUNS]      needs ./kb (make build)
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-50}
kb=$PWD/kb
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

printf 'package main\n\nfunc main() {}\n' >"$work/empty.go"
go build -o "$work/empty" "$work/empty.go"
cp -r notes "$work/notes"
cd "$work"
"$kb" build notes >/dev/null 2>&1
sleep 0.1
"$kb" build >/dev/null # from here on it knows sizes and times
mkdir -p many/notes
for i in $(seq 1000); do printf '# Note %s\n\nThe heron stands in pond %s.\n' "$i" "$((i % 17))" >"many/notes/n$i.md"; done
(cd many && "$kb" build notes >/dev/null 2>&1 && sleep 0.1 && "$kb" build >/dev/null)

# cpu COMMAND…: user and system time of one run, in ms, the mean of all runs
cpu() {
  local before after
  times >"$work/times"
  before=$(children)
  for _ in $(seq "$runs"); do "$@" >/dev/null 2>&1; done
  times >"$work/times"
  after=$(children)
  awk -v a="$before" -v b="$after" -v n="$runs" 'BEGIN { printf "%.2f", (b - a) * 1000 / n }'
}

# children prints the seconds of CPU that the children of the shell had used
# when it wrote its times down
children() {
  tail -n 1 "$work/times" | tr 'ms' '  ' | awk '{ print $1 * 60 + $2 + $3 * 60 + $4 }'
}

# peak COMMAND…: resident memory, in MB, where GNU time can say
peak() {
  if [ -x /usr/bin/time ]; then /usr/bin/time -f %M "$@" 2>&1 >/dev/null | tail -n 1 | awk '{ printf "%.1f", $1 / 1024 }'; else printf -- -; fi
}

base=$(cpu ./empty)
echo "| command | CPU ms | of an empty Go program | memory MB |"
echo "| --- | --- | --- | --- |"
row() {
  local name=$1 ms
  shift
  ms=$(cpu "$@")
  echo "| $name | $ms | $(awk -v a="$ms" -v b="$base" 'BEGIN { printf "%.1f ×", a / b }') | $(peak "$@") |"
}
echo "| empty Go program | $base | 1 × | $(peak ./empty) |"
row 'kb --version' "$kb" --version
row 'kb search ERR-5023 (notes/)' "$kb" search ERR-5023
row 'kb search --mode bm25 ERR-5023 (notes/)' "$kb" search --mode bm25 ERR-5023
row 'kb ask 建议每天学多久？ (notes/)' "$kb" ask '建议每天学多久？'
row 'kb build, nothing changed (notes/)' "$kb" build
cd many
row 'kb build, nothing changed (1,000 notes)' "$kb" build
cd "$OLDPWD" && cd - >/dev/null
echo
cd "$(dirname "$kb")"
go test -run '^$' -bench . -benchtime "${KB_BENCHTIME:-200ms}" ./pkg/vector ./pkg/store/flat ./pkg/text 2>&1 | grep -E '^(Benchmark|pkg:)'
