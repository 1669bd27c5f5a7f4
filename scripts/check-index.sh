#!/bin/sh
# Fails when index.jsonl.zst is not, byte for byte, the index of notes/.
set -eu
unset $(env | sed -n "s/^\(KB_[A-Z_]*\)=.*/\1/p") # the index of notes/ is made offline
kb=$(realpath "$1")
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
"$kb" load notes | "$kb" chunk | "$kb" embed --reuse=false 2>"$fresh/log" | "$kb" index --index "$fresh/index.jsonl.zst" >"$fresh/records"
if ! cmp -s "$fresh/index.jsonl.zst" index.jsonl.zst; then
  echo 'index.jsonl.zst is stale: run "make index" and commit it' >&2
  exit 1
fi
echo 'index.jsonl.zst is the index of notes/'
