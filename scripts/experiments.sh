#!/bin/bash
# Puts questions to indexes that differ in one setting at a time, and prints
# Markdown tables:
#
#   KB=$PWD/kb scripts/experiments.sh [DIR]
#
# On notes/, and on the public sets in DIR (see scripts/eval-public.sh) where it
# is given: sizes and overlaps of chunks, analyzers by modes, refusal floors.
# The offline defaults hold for everything else. Chunks are judged on documents
# joined from 20 passages each, where a hit must hold the gold answer, over some
# 600 questions a set; the rest as in eval-public.sh, over some 1,200. "make
# experiments" writes eval/experiments.md; it takes twenty minutes of two
# processors with the public sets, half a minute without. Needs jq.
set -euo pipefail
. "$(dirname "$0")/public.sh"
: "${KB:?set KB to the binary}"
kb=$(realpath "$KB")
dir=${1:-}
offline
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT

sizes='300 500 800'
overlaps='0 80 160'
floors='[0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 0.9]'
per_document=20 # passages
budget=2000     # characters of hits that an answer draws on: four chunks of 500

# sets PATTERN: the names of the sets
sets() {
  local corpus
  [ -n "$dir" ] || return 0
  for corpus in "$dir"/*/corpus.jsonl; do
    basename "$(dirname "$corpus")"
  done | grep -E -- "$1" || true
}

# build FILE ANALYZER: the index of the chunks that come in
build() { "$kb" embed 2>/dev/null | "$kb" index --index "$1" --analyzer "$2" >/dev/null; }

# sample FILE N: about N of its lines, evenly
sample() {
  awk -v total="$(wc -l <"$1")" -v some="$2" \
    'BEGIN { n = int(total / some + 0.5); if (n < 1) n = 1 } NR % n == 1 % n' "$1"
}

# cell NAME SIZE OVERLAP: figures of $work/NAME.questions on $work/NAME.documents
cell() {
  "$kb" chunk --size "$2" --overlap "$3" <"$work/$1.documents" >"$work/c"
  rm -f "$work/index"
  build "$work/index" ngram <"$work/c"
  jq -c 'select(.kind == "chunk") | {key: .id, value: (.text | length)}' "$work/c" >"$work/lengths"
  "$kb" eval "$work/$1.questions" --index "$work/index" --mode auto --json |
    jq -cn --slurpfile lengths "$work/lengths" --arg set "$1" --argjson size "$2" --argjson overlap "$3" --argjson budget "$budget" '
      ($lengths | from_entries) as $length
      # whether a wanted hit is among the first that fit the budget
      | def fits: reduce .hits[] as $h ({left: $budget, found: false};
          .left -= $length[$h.id] | .found = (.found or (.left >= 0 and $h.wanted == true))) | .found;
      reduce inputs as $r ({set: $set, size: $size, overlap: $overlap, chunks: ($lengths | length), fit: 0, answerable: 0};
        if $r.kind == "judgment" and $r.answerable then .answerable += 1 | .fit += (if $r | fits then 1 else 0 end)
        elif $r.kind == "report" and $r.tag == "" then . + ($r | {hit1, hit, mrr})
        else . end)
      | .fit /= .answerable' >>"$work/cells"
}

# pivot METRIC TITLE: a table of the cells, a row a setting, a column a set
pivot() {
  printf '\n### %s\n\n' "$2"
  jq -rs --arg metric "$1" "$figure"'
    (reduce .[].set as $s ([]; if index([$s]) then . else . + [$s] end)) as $sets
    | def row: "| " + join(" | ") + " |";
      (["size", "overlap"] + $sets | row), ([range(2 + ($sets | length)) | "---"] | row),
      (group_by([.size, .overlap])[] | (map({key: .set, value: .[$metric]}) | from_entries) as $of
       | ["\(.[0].size)", "\(.[0].overlap)", ($sets[] | $of[.]
         | if $metric == "chunks" then tostring else . * 100 | figure(1) end)] | row)' "$work/cells"
}

chunks() {
  local set layout size overlap names=(notes)
  cp eval/questions.jsonl "$work/notes.questions"
  for set in $(sets '^(cmrc|xquad-zh|xquad-en)$'); do
    joined_questions "$dir/$set" "$per_document" >"$work/all"
    for layout in plain sections; do
      joined "$dir/$set" "$per_document" "$layout" >"$work/$set $layout.documents"
      sample "$work/all" 600 >"$work/$set $layout.questions"
      names+=("$set $layout")
    done
  done
  for set in "${names[@]}"; do
    for size in $sizes; do
      for overlap in $overlaps; do
        cell "$set" "$size" "$overlap"
      done
    done
  done
  printf '\n## Size and overlap of chunks\n\n'
  printf 'Questions with an answer:'
  jq -rs 'reduce .[] as $c ({}; .[$c.set] = $c.answerable) | to_entries | map(" \(.value) of \(.key)") | join(",") + "."' "$work/cells"
  pivot fit "The answer is in the first hits, as many as fit $budget characters (%)"
  pivot hit1 'Hit@1 (%)'
  pivot hit 'Hit@4 (%)'
  pivot mrr 'MRR@10 (× 100)'
  pivot chunks 'Chunks'
}

# report SET ANALYZER: rows of the table of modes, for the reports that come in
report() {
  jq -r --arg set "$1" --arg analyzer "$2" "$figure"'
    select(.kind == "report" and .tag == "")
    | "| \($set) | \($analyzer) | \(.mode) | \(.questions) | \(.hit1 * 100 | figure(1)) | \(.hit * 100 | figure(1)) | \(.mrr * 100 | figure(1)) |"'
}

modes() {
  local set analyzer
  printf '\n## Analyzers and modes\n\nThe last two modes of each differ in the reranker alone.\n\n'
  printf '| set | analyzer | mode | questions | Hit@1 %% | Hit@4 %% | MRR@10 × 100 |\n| --- | --- | --- | --- | --- | --- | --- |\n'
  for set in notes $(sets '^(cmrc|xquad-zh|xquad-en)$'); do
    for analyzer in ngram gse; do
      "$kb" eval "$work/$set.q" --index "$work/$set.$analyzer" --mode all --json | report "$set" "$analyzer"
    done
  done
}

# curve SET ANALYZER: how each floor does, for the judgments that come in
curve() {
  jq -cn --arg set "$1" --arg analyzer "$2" --argjson floors "$floors" '
    [inputs | select(.kind == "judgment")] as $all
    | ($all | map(select(.answerable))) as $with | ($all | map(select(.answerable | not))) as $without
    | def refused($floor): map(select((.hits | length) == 0 or (.confidence != null and .confidence < $floor))) | length;
      $floors[] as $floor
      | {set: $set, analyzer: $analyzer, with: ($with | length), without: ($without | length), floor: $floor,
         recall: (($without | refused($floor)) / ($without | length)), false: (($with | refused($floor)) / ($with | length))}'
}

refusals() {
  local set analyzer
  for set in notes $(sets '-refusal$'); do
    for analyzer in ngram gse; do
      "$kb" eval "$work/$set.q" --index "$work/$set.$analyzer" --mode auto --json | curve "$set" "$analyzer" >>"$work/floors"
    done
  done
  printf '\n## Refusal floors\n\n'
  printf 'Of the questions without an answer the share that a floor of the confidence refuses, of those with one too (false\nrefusals), and the balanced accuracy.\n'
  jq -rs "$figure"'
    group_by(.set | if . == "notes" then "" else . end)[]
    | "\n### \(.[0].set): \(.[0].with) questions with an answer, \(.[0].without) without\n",
      "| floor | ngram: refused % | false refusals % | balanced accuracy | gse: refused % | false refusals % | balanced accuracy |",
      "| --- | --- | --- | --- | --- | --- | --- |",
      (group_by(.floor)[] | sort_by(.analyzer != "ngram")
       | "| \(.[0].floor) | " + (map((.recall * 100, .false * 100 | figure(1)), ((.recall + 1 - .false) / 2 | figure(3))) | join(" | ")) + " |")' "$work/floors"
}

# held_out: floors that are fitted on every other question and tested on the rest
held_out() {
  local set analyzer
  [ -n "$(sets '-refusal$')" ] || return 0
  mkdir "$work/refusal"
  for set in $(sets '-refusal$'); do ln -s "$(realpath "$dir/$set")" "$work/refusal/$set"; done
  printf '\n### Floors fitted on every other question, tested on the rest\n\n'
  for analyzer in ngram gse; do
    { KB_ANALYZER=$analyzer KB=$kb scripts/eval-public.sh "$work/refusal" || true; } | # its gate is not meant here
      cut -d '|' -f 1-11 | sed "1s/set/analyzer | set/; 2s/^/| --- /; 3,\$s/^|/| $analyzer |/; s/\$/|/" >"$work/held"
    if [ "$analyzer" = ngram ]; then cat "$work/held"; else tail -n +3 "$work/held"; fi
  done
}

# indexes: of notes and the sets, by both analyzers; of a set a passage is one chunk
indexes() {
  local set analyzer
  cp eval/questions.jsonl "$work/notes.q"
  "$kb" chunk <"$work/notes.documents" >"$work/notes.c"
  for set in $(sets .); do
    questions "$dir/$set" >"$work/questions"
    sample "$work/questions" 1200 >"$work/$set.q"
    passages "$dir/$set" | "$kb" chunk --size 2000 --overlap 0 >"$work/$set.c"
  done
  for set in notes $(sets .); do
    for analyzer in ngram gse; do build "$work/$set.$analyzer" "$analyzer" <"$work/$set.c"; done
  done
}

printf '# Experiments\n\n%s, `make experiments`; what was concluded stands in results.md. Chunks of 500 characters with an overlap\n' "$(date +%F)"
printf 'of 80, analyzer ngram, offline embedder and reranker, mode auto (hybrid with reranking), where nothing else is said.\n'
printf 'notes is notes/ with eval/questions.jsonl. For chunks, documents of %d passages each were joined from the sets, without\n' "$per_document"
printf 'headings (plain) or with one where the article changes (sections), and a hit must be of the right document and hold\nthe gold answer; elsewhere a passage is a chunk.\n'
"$kb" load notes >"$work/notes.documents"
chunks >"$work/chunks.md" &
{
  indexes
  modes
  refusals
  held_out
} >"$work/rest.md"
wait $!
cat "$work/chunks.md" "$work/rest.md"
