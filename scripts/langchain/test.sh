#!/bin/bash
# Runs the LangChain chain on the sample notes and compares it with kb ask: it
# must cite the note that kb cites, and refuse where kb refuses.
#
#	KB=./kb scripts/langchain/test.sh
#
# LangChain is installed from PyPI into ~/.cache/kb-langchain, once.
set -euo pipefail
cd "$(dirname "$0")/../.."
kb=$(realpath "${KB:-./kb}")
venv=${XDG_CACHE_HOME:-$HOME/.cache}/kb-langchain
wanted=langchain-core==1.8.3

if ! "$venv/bin/pip" freeze 2>/dev/null | grep -qx "$wanted"; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check "$wanted"
fi
# A user's settings must not decide the result, and LangSmith gets nothing.
for name in $(compgen -e | grep -E '^(KB_|LANG(CHAIN|SMITH)_)'); do unset "$name"; done

questions=('建议每天学多久？' 'What is ERR-5023?' 'how long do we keep logs?' '黑洞蒸发辐射的物理机制是什么？')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$venv/bin/python" scripts/langchain/chain.py --kb "$kb" --index index.jsonl.zst "${questions[@]}" >"$work/chain"
for q in "${questions[@]}"; do "$kb" ask --json --index index.jsonl.zst "$q" 2>/dev/null; done >"$work/kb"
outline='[.refused, (.citations[0].path // "none"), (.invalid_citations | length)] | @tsv'
if ! diff <(jq -r "$outline" "$work/chain") <(jq -r "$outline" "$work/kb"); then
  echo 'langchain: the chain and kb ask do not agree' >&2
  exit 1
fi
[ "$(jq -s 'map(select(.refused)) | length' "$work/chain")" = 1 ]
echo "langchain: ${#questions[@]} questions, the chain cites and refuses as kb ask does"
