#!/bin/bash
# Fails when kb falls below what it reached on public question sets:
#
#   KB=$PWD/kb scripts/gate-public.sh DIR
#
# DIR has a folder for each set, with corpus.jsonl and questions.jsonl as
# scripts/eval-public.sh reads them. Of each set that is there, with the
# offline defaults:
#
#   Hit@1 and Hit@4 of mode auto, over all questions
#   its MRR is not below BM25's by more than 0.003, and above it on one set
#   the three sentences of the extractive answer hold the gold answer
#   twenty runs, and an index built from shuffled chunks, give the same hits
#   in the same order with the same scores
#
# Needs jq.
set -euo pipefail
: "${KB:?set KB to the binary}"
dir=${1:?name the folder of the sets}
unset $(env | sed -n "s/^\(KB_[A-Z_]*\)=.*/\1/p") # the figures are those of the offline defaults
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fail SET WHAT
fail() {
  echo "$1: $2" >&2
  return 1
}

# chunks SET: one a passage, so that a hit is judged by its id
chunks() {
  jq -c '{kind: "document", id, path: .id, title, media_type: "text/plain", hash: .id, text}' "$dir/$1/corpus.jsonl" |
    "$kb" chunk --size 2000 --overlap 0
}

# index FILE: the index of the chunks that come in
index() { "$kb" embed 2>/dev/null | "$kb" index --index "$1" >/dev/null; }

# mrr SET MODE FLAGS…
mrr() {
  local set=$1 mode=$2
  shift 2
  "$kb" eval "$work/$set.questions" --index "$work/$set.zst" --mode "$mode" --json "$@" >"$work/$set.$mode" || return
  jq 'select(.kind == "report" and .tag == "").mrr' "$work/$set.$mode"
}

# same SET: the hits of some questions, in every run and from any order of chunks
same() {
  head -n 40 "$work/$1.questions" | jq -c '{q, id}' >"$work/$1.some"
  chunks "$1" | sort -t '"' -k 8 -r | index "$work/$1.shuffled"
  "$kb" search --index "$work/$1.zst" <"$work/$1.some" >"$work/$1.once"
  for n in $(seq 20); do
    "$kb" search --index "$work/$1.zst" <"$work/$1.some" | cmp -s - "$work/$1.once" || fail "$1" "run $n gives other hits"
  done
  "$kb" search --index "$work/$1.shuffled" <"$work/$1.some" | cmp -s - "$work/$1.once" ||
    fail "$1" 'an index built from shuffled chunks gives other hits'
}

# answers SET: the share of the answers of three sentences that hold the gold answer
answers() {
  jq -c '{q, id}' "$work/$1.sample" |
    "$kb" search --index "$work/$1.zst" --top-k 20 | "$kb" rerank --top-k 4 | "$kb" answer >"$work/$1.answers"
  jq -n --slurpfile questions "$work/$1.sample" --slurpfile answers "$work/$1.answers" '
    def plain: ascii_downcase | gsub("\\s|\\[[0-9]+\\]"; "");
    ($answers | map({(.query): (.text | plain)}) | add) as $text
    | [$questions[] | . as $q | (.answers | any(plain as $a | $text[$q.id] | contains($a)))]
    | (map(select(.)) | length) / length'
}

# gate SET HIT1 HIT4 ANSWERS SAMPLE: one row of the table; every SAMPLE-th question is answered
gate() {
  local set=$1 bm25 auto held
  jq -c 'select(.q | test("\\S"))' "$dir/$set/questions.jsonl" >"$work/$set.questions"
  awk -v n="$5" 'NR % n == 1 || n == 1' "$work/$set.questions" >"$work/$set.sample"
  chunks "$set" | index "$work/$set.zst"
  same "$set"
  bm25=$(mrr "$set" bm25)
  auto=$(mrr "$set" auto --min "hit1=$2,hit=$3")
  held=$(answers "$set")
  jq -r --arg set "$set" --argjson mrr "[$bm25, $auto]" --argjson held "$held" '
    def figure: . * 1000 | round / 1000;
    select(.kind == "report" and .tag == "")
    | "| \([$set, .questions, (.hit1, .hit, $mrr[0], $mrr[1], $held | figure)] | map(tostring) | join(" | ")) |"' "$work/$set.auto"
  if jq -ne "$auto > $bm25" >/dev/null; then touch "$work/$set.better"; fi
  jq -ne "$auto >= $bm25 - 0.003" >/dev/null || fail "$set" "MRR $auto with reranking, $bm25 by BM25 alone"
  jq -ne "$held >= $4" >/dev/null || fail "$set" "$held of the answers hold the gold answer, want $4"
}

kb=$(realpath "$KB")
sets=()
pids=()
while read -r set floors; do
  if [ -f "$dir/$set/questions.jsonl" ]; then
    sets+=("$set")
    gate "$set" $floors >"$work/$set.row" &
    pids+=($!)
  fi
done <<'E2'
xquad-zh .935 .985 .90 1
cmrc .955 .992 .84 4
xquad-en .943 .985 .90 1
E2
[ ${#sets[@]} -gt 0 ] || fail "$dir" 'none of the sets is there'
failed=0
for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
echo '| set | questions | Hit@1 | Hit@4 | MRR bm25 | MRR auto | gold answer in the answer |'
echo '| --- | --- | --- | --- | --- | --- | --- |'
for set in "${sets[@]}"; do cat "$work/$set.row"; done
compgen -G "$work/*.better" >/dev/null || fail "$dir" 'reranking is above BM25 on no set'
exit $failed
