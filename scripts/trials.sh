#!/bin/bash
# Asks three groups of questions as a user would, and prints what comes as
# Markdown: scores, hits and answers, so that the gap between the groups can
# be seen:
#
#   KB=$PWD/kb scripts/trials.sh TITLE
#
# The index is built anew with the embedder that is configured; "make trials"
# writes eval/trials.md with the offline defaults. Needs jq.
set -euo pipefail
: "${KB:?set KB to the binary}"
kb=$(realpath "$KB")
index=$(mktemp -d)/index.jsonl.zst
trap 'rm -rf "$(dirname "$index")"' EXIT
"$kb" build --text --index "$index" notes >/dev/null 2>&1

# group TITLE: the questions of standard input, a line each
group() {
  printf '\n### %s\n\n| question | confidence | best hit | vector | bm25 | rerank | outcome |\n| --- | --- | --- | --- | --- | --- | --- |\n' "$1"
  while read -r q; do
    questions+=("$q")
    "$kb" search --json --index "$index" --top-k 20 "$q" 2>/dev/null | "$kb" rerank --json --top-k 4 >"$index.hits"
    "$kb" answer --json <"$index.hits" >"$index.answer"
    jq -rn --slurpfile all "$index.hits" --slurpfile answer "$index.answer" '
      def figure: if . == null then "–" else (. * 100 | round / 100) end;
      ($all | map(select(.kind == "query"))[0]) as $q | ($all | map(select(.kind == "hit"))[0]) as $h
      | [$q.text, ($q.confidence | figure), ($h.path // "–"), ($h.scores.vector, $h.scores.bm25, $h.scores.rerank | figure),
         (if $answer[0].refused then "refused" else "answered" end)]
      | "| " + (map(tostring) | join(" | ")) + " |"'
  done
}

questions=()
printf '## %s\n' "$1"
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
printf '\n### As printed\n\n```console\n'
for q in "${questions[@]}"; do
  printf '$ kb ask "%s"\n' "$q"
  "$kb" ask --text --index "$index" "$q" 2>/dev/null || true
  echo
done
echo '```'
