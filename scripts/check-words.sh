#!/bin/bash
# Fails when pkg/text/gse/words.bin is not what gse's own dictionary gives, or
# when a run of Han characters of the notes, the questions in eval/ or the
# public sets in ../shared/data is cut in another way than by gse with its
# whole dictionary. Fetches gse; where that cannot be done it says so, and
# fails only in CI.
set -euo pipefail
cd "$(dirname "$0")/.."
kb=$(realpath "${1:-./kb}")
if ! (cd scripts/wordlist && go mod download); then
  echo 'words.bin is not checked: github.com/go-ego/gse cannot be fetched' >&2
  exit ${CI:+1}
fi
{
  "$kb" load notes
  cat eval/questions.jsonl
  find ../shared/data -name '*.jsonl' -exec cat {} + 2>/dev/null || true
} | go run -C scripts/wordlist . check ../../pkg/text/gse/words.bin -
