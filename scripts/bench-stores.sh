#!/bin/bash
# The stores beside each other on generated chunks, in one run: time to load,
# size and what of it there is on the disk, latency of one client and of eight. Prints Markdown.
#
#   scripts/bench-stores.sh           100,000 chunks of 384 dimensions (N=…, DIM=…)
#   scripts/bench-stores.sh --recall  recall of HNSW graphs by their settings
set -euo pipefail
cd "$(dirname "$0")/.."
n=${N:-100000} dim=${DIM:-384}
dir=$(mktemp -d "${TMPDIR:-/tmp}/kb-bench-stores.XXXXXX")
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/benchstores" ./scripts/benchstores
export N="$n" DIM="$dim" DIR="$dir"
if [ "${1:-}" = --recall ]; then
  scripts/services.sh postgres chroma milvus -- sh -c '"$DIR/benchstores" -n "$N" -dim "$DIM" -recall \
    postgres="$KB_TEST_POSTGRES_URL?schema=bench" chroma="$KB_TEST_CHROMA_URL/recall" milvus="$KB_TEST_MILVUS_URL/recall"'
else
  scripts/services.sh postgres chroma milvus -- sh -c '"$DIR/benchstores" -n "$N" -dim "$DIM" \
    -data "$DIR,$KB_TEST_POSTGRES_DATA/base,$KB_TEST_CHROMA_DATA,$KB_TEST_MILVUS_DATA" \
    flat="$DIR/index.jsonl.zst" flat-resident="$DIR/index.jsonl.zst" \
    postgres="$KB_TEST_POSTGRES_URL?schema=bench" postgres-exact="$KB_TEST_POSTGRES_URL?schema=bench&exact=1" \
    chroma="$KB_TEST_CHROMA_URL/bench" milvus="$KB_TEST_MILVUS_URL/bench" milvus-indexed="$KB_TEST_MILVUS_URL/bench"'
fi
