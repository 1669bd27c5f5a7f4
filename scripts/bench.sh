#!/bin/bash
# What kb costs, beside other programs that do the same, as ratios in one run,
# with the budgets. Prints Markdown.
#
#   scripts/bench.sh              needs ./kb (make build); five minutes, the first
#                                 time two more for what npm compiles
#   KB_BENCH=quick                10,000 chunks only, a minute
#   KB_BENCH=large                1,000,000 chunks too; 16 GB of disk, 14 GB of memory
#   KB_BENCH_DIR=FOLDER           where data goes and the peers from npm stay
#                                 (default: kb-bench in the cache folder)
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
[ -x kb ] || { echo 'bench: no ./kb; run "make build"' >&2; exit 1; }
dir=${KB_BENCH_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/kb-bench}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
cd scripts/bench
exec go run . -kb "$root/kb" -notes "$root/notes" -dir "$dir"
