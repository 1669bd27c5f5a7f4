#!/bin/bash
# Evaluates kb on public question sets and prints one Markdown table:
#
#   KB=$PWD/kb scripts/eval-public.sh DIR            all sets in all modes
#   KB=$PWD/kb scripts/eval-public.sh DIR --refusal  refusals alone, on half of the questions
#
# KB_ANALYZER chooses the analyzer of the indexes.
#
# DIR has a folder for each set, as scripts/public.sh reads them.
# A passage becomes a document of one chunk, so that a hit is judged by its id.
# All sets are searched in all modes. In a set named *-refusal the articles of
# some questions are gone ("answerable": false): there the refusal floor is the
# default one, and then one fitted on every other question and tested on the
# rest. It must reach a balanced accuracy of 0.90 with at most 12 % false
# refusals, else the script fails. Needs jq.
set -euo pipefail
. "$(dirname "$0")/public.sh"
: "${KB:?set KB to the binary}"
dir=${1:?name the folder of the sets}
only=*
every=2 # questions: one to fit the floor, one to test it
if [ "${2:-}" = --refusal ]; then
  only='*-refusal'
  every=4
fi
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# index SET: the index of its corpus
index() {
  passages "$dir/$1" |
    "$KB" chunk --size 2000 --overlap 0 |
    "$KB" embed 2>"$work/$1.log" |
    "$KB" index --index "$work/$1.zst" >"$work/$1.indexed"
  if jq -e 'select(.chunks != 1 or .embedded != 1)' "$work/$1.indexed" >/dev/null; then
    echo "$1: a passage did not become one chunk with a vector" >&2
    exit 1
  fi
}

# rows SET QUESTIONS MODE NOTE: rows of the table
rows() {
  "$KB" eval "$2" --index "$work/$1.zst" --mode "$3" --json >"$work/out.jsonl"
  floor=$(jq -n 'first(inputs | select(.kind == "judgment").floor)' "$work/out.jsonl")
  jq -r --arg set "$1" --arg note "$4" --argjson floor "$floor" "$figure"'
    select(.kind == "report" and .tag == "")
    | [$set, .mode, .questions, (.hit1, .hit, .mrr, .ndcg | figure(3)),
       ((.refusal_precision | figure(3)) + " / " + (.refusal_recall | figure(3))),
       (.false_refusals | figure(3)), "\($floor) \($note)",
       (.latency_p50_ms, .latency_p95_ms | figure(1))]
    | "| " + (map(tostring) | join(" | ")) + " |"' "$work/out.jsonl"
}

# refusal SET: its rows, the last with a floor that was fitted on other questions
refusal() {
  awk -v n="$every" -v fit="$work/fit.jsonl" -v test="$work/test.jsonl" \
    'NR % n == 1 { print > fit } NR % n == (1 + n / 2) % n { print > test }' "$work/questions.jsonl"
  [ "$every" = 4 ] || rows "$1" "$work/test.jsonl" auto '(default)'
  "$KB" eval "$work/fit.jsonl" --index "$work/$1.zst" --calibrate --json >"$work/$1.calibration"
  rows "$1" "$work/test.jsonl" auto '(fitted on other questions)'
  jq -r --arg set "$1" 'select(.kind == "report" and .tag == "")
    | (.refusal_recall + 1 - .false_refusals) / 2 as $balanced
    | select($balanced < 0.9 or .false_refusals > 0.12)
    | "\($set): balanced accuracy \($balanced), false refusals \(.false_refusals): want 0.9 and at most 0.12"' \
    "$work/out.jsonl" >"$work/missed"
  if [ -s "$work/missed" ]; then
    cat "$work/missed" >&2
    failed=4
  fi
}

echo '| set | mode | questions | Hit@1 | Hit@4 | MRR@10 | nDCG@10 | refusal P / R | false refusals | floor | p50 ms | p95 ms |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |'
for corpus in "$dir"/$only/corpus.jsonl; do
  set=$(basename "$(dirname "$corpus")")
  index "$set"
  questions "$dir/$set" >"$work/questions.jsonl"
  case $set in
  *-refusal) refusal "$set" ;;
  *) rows "$set" "$work/questions.jsonl" all '(default)' ;;
  esac
done
exit "$failed"
