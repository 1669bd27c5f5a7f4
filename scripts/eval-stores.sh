#!/bin/bash
# Evaluates the databases of scripts/services.sh beside the file, on the
# questions of eval/ and on public sets, and fails where Hit@1, Hit@4 or MRR
# differ by more than 0.005 in any mode:
#
#   scripts/services.sh postgres -- env KB=$PWD/kb scripts/eval-stores.sh [DIR [SET…]]
#
# The databases get what kb export writes. DIR has the sets (xquad-zh, if none is
# named), see eval-public.sh; of each every third question is asked. Needs jq.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/public.sh
: "${KB:?set KB to the binary}"
dir=${1:-}
shift || true
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset KB_INDEX

# stores: name and URL of each database, of an index named SET
stores() {
  [ -z "${KB_TEST_POSTGRES_URL:-}" ] || echo "postgres $KB_TEST_POSTGRES_URL?exact=1&schema=eval_${1//-/_}"
  [ -z "${KB_TEST_CHROMA_URL:-}" ] || echo "chroma $KB_TEST_CHROMA_URL/eval_${1//-/_}"
  [ -z "${KB_TEST_MILVUS_URL:-}" ] || echo "milvus $KB_TEST_MILVUS_URL/eval_${1//-/_}"
  [ -z "${KB_TEST_MILVUSLITE_URL:-}" ] || echo "milvus-lite $KB_TEST_MILVUSLITE_URL/eval_${1//-/_}"
}

# scores INDEX QUESTIONS: mode, Hit@1, Hit@4 and MRR of each mode
scores() {
  "$KB" eval "$2" --index "$1" --mode all --json |
    jq -r 'select(.kind == "report" and .tag == "") | [.mode, .hit1, .hit, .mrr, .latency_p50_ms] | @tsv'
}

# compare SET QUESTIONS: the rows of a set whose index is $work/SET.zst
compare() {
  scores "$work/$1.zst" "$2" >"$work/flat"
  awk -v set="$1" -F'\t' '{ printf "| %s | file | %s | %.4f | %.4f | %.4f | %.1f |\n", set, $1, $2, $3, $4, $5 }' "$work/flat"
  stores "$1" | while read -r name url; do
    "$KB" export --index "$work/$1.zst" | "$KB" index --index "$url" >/dev/null
    scores "$url" "$2" >"$work/other"
    paste "$work/flat" "$work/other" | awk -v set="$1" -v name="$name" -F'\t' '
      { printf "| %s | %s | %s | %.4f | %.4f | %.4f | %.1f |\n", set, name, $6, $7, $8, $9, $10
        for (i = 2; i <= 4; i++) { d = $i - $(i + 5); if (d < -0.005 || d > 0.005) bad = 1 } }
      END { exit bad ? 4 : 0 }' || { echo "$name: not the scores of the file on $1" >&2; exit 4; }
  done
}

echo '| set | store | mode | Hit@1 | Hit@4 | MRR | p50 ms |'
echo '| --- | --- | --- | --- | --- | --- | --- |'
"$KB" build --index "$work/notes.zst" notes >/dev/null 2>&1
compare notes eval/questions.jsonl
for set in ${dir:+${*:-xquad-zh}}; do
  passages "$dir/$set" | "$KB" chunk --size 2000 --overlap 0 | "$KB" embed 2>/dev/null | "$KB" index --index "$work/$set.zst" >/dev/null
  questions "$dir/$set" | awk 'NR % 3 == 1' >"$work/questions.jsonl"
  compare "$set" "$work/questions.jsonl"
done
