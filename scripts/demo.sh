#!/bin/sh
# Builds an index of notes/ in a temporary folder and asks it three questions.
set -eu
unset $(env | sed -n "s/^\(KB_[A-Z_]*\)=.*/\1/p") # the index of notes/ is made offline
kb=$PWD/kb
index=$(mktemp -d)/index.jsonl.zst
trap 'rm -rf "$(dirname "$index")"' EXIT

say() { printf '\n$ %s\n' "$*"; }

say kb build notes
"$kb" build --text --index "$index" notes
for question in '建议每天学多久？' 'how do I pick a hotel under the limit?' '黑洞蒸发辐射的物理机制是什么？'; do
  say "kb ask \"$question\""
  "$kb" ask --text --index "$index" "$question"
done
