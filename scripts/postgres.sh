#!/bin/bash
# One PostgreSQL server for tests, in a folder of its own; see services.sh.
#
#   postgres.sh start DIR PORT   makes a database in DIR if there is none, starts
#                                it on 127.0.0.1 and prints its URL
#   postgres.sh kill DIR         kills all of its processes with SIGKILL
#   postgres.sh stop DIR
#
# KB_TEST_POSTGRES_HOME is the folder of the installation. As PostgreSQL refuses
# to run as root, root runs it as the user nobody.
set -euo pipefail
action=$1 dir=$2
bin=$KB_TEST_POSTGRES_HOME/bin
as_user=()
[ "$(id -u)" != 0 ] || as_user=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
cd /

# The password is there to be looked for in messages.
create() {
  mkdir -p "$dir"
  echo 'not-to-be-shown' >"$dir/password"
  mkdir "$dir/data"
  [ "$(id -u)" != 0 ] || chown -R nobody:nogroup "$dir"
  "${as_user[@]}" "$bin/initdb" -D "$dir/data" -U kb --pwfile="$dir/password" --auth=scram-sha-256 \
    --encoding=UTF8 --locale=C >"$dir/initdb.log" 2>&1 || { cat "$dir/initdb.log" >&2; exit 1; }
}

pid() { head -n 1 "$dir/data/postmaster.pid" 2>/dev/null; }

case $action in
start)
  [ -d "$dir/data" ] || create
  "${as_user[@]}" "$bin/pg_ctl" start -D "$dir/data" -l "$dir/log" --wait --timeout=60 \
    -o "-h 127.0.0.1 -p $3 -k '' -c max_connections=60 -c shared_buffers=512MB -c max_wal_size=4GB -c maintenance_work_mem=512MB" \
    >"$dir/pg_ctl.log" 2>&1 9>&- || { cat "$dir/pg_ctl.log" "$dir/log" >&2; exit 1; }
  echo "postgres://kb:not-to-be-shown@127.0.0.1:$3/postgres"
  ;;
kill)
  server=$(pid)
  processes="$server $(cat "/proc/$server/task/$server/children")"
  kill -9 $processes
  for process in $processes; do
    while kill -0 "$process" 2>/dev/null; do sleep 0.05; done
  done
  ;;
stop)
  [ -z "$(pid)" ] || "${as_user[@]}" "$bin/pg_ctl" stop -D "$dir/data" --mode=immediate --silent >&2
  ;;
*)
  echo "postgres.sh: no action $action" >&2
  exit 2
  ;;
esac
