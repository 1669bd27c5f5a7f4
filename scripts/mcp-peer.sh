#!/bin/bash
# Has another implementation of MCP than the one in kb use it: the client of the
# PyPI package mcp, over standard input and output, and over HTTP with a token.
# It checks each result against the schema that the tool promises. It is
# installed once, below the cache folder (70 MB).
#
#   scripts/mcp-peer.sh ./kb
#
# Needs python3 (3.10 or newer) with venv.
set -euo pipefail
kb=$(realpath "${1:-./kb}")
here=$(cd "$(dirname "$0")" && pwd)
venv=${XDG_CACHE_HOME:-$HOME/.cache}/kb-mcp-peer
version=2.3.0
if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -c "import importlib.metadata as m; assert m.version('mcp') == '$version'" 2>/dev/null; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check "mcp==$version"
fi
"$venv/bin/python" "$here/mcp_peer.py" "$kb" "$here/.."
