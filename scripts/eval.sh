#!/bin/bash
# Puts eval/questions.jsonl to index.jsonl.zst in all modes:
#
#   scripts/eval.sh KB             fails below the gates, on a loss against eval/baseline.jsonl,
#                                  or if a ranking differs from eval/golden/; then judges the answers
#   scripts/eval.sh KB --update    writes the baseline and the golden files anew (needs jq)
#
# The baseline keeps of each judgment what a comparison looks at, so that it
# changes only where the fate of a question does.
set -euo pipefail
unset $(env | sed -n "s/^\(KB_[A-Z_]*\)=.*/\1/p") # the index of notes/ is made offline
kb=$(realpath "$1")
eval=("$kb" eval eval/questions.jsonl --index index.jsonl.zst --mode all --golden eval/golden)
if [ "${2:-}" != --update ]; then
  "${eval[@]}" --text --min hit=0.85,mrr=0.8,refusal=0.75,answered=0.9 --baseline eval/baseline.jsonl
  echo
  exec "$kb" eval eval/questions.jsonl --index index.jsonl.zst --answers --text \
    --min contains=0.7,citation_precision=0.75,citation_recall=0.9,supported=1
fi
new=$(mktemp)
trap 'rm -f "$new"' EXIT
"${eval[@]}" --update-golden --json |
  jq -c 'select(.kind == "judgment") | del(.confidence, .floor) | .hits |= map(select(.wanted))[:1]' >"$new"
cat "$new" >eval/baseline.jsonl
echo "eval/baseline.jsonl: $(wc -l <eval/baseline.jsonl) judgments written"
