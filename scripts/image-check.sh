#!/bin/bash
# Builds the image of the Dockerfile without Docker and without a registry of
# images, and tries it: who it runs as, a folder of notes, the health check, an
# upload, a start on what is there. compose.yaml is only read, as a program would
# that starts it.
#
#   scripts/image-check.sh
#
# Needs Linux, root, Go, and of Debian buildah, busybox-static, jq, curl and
# python3 with venv. The base image has the Go and the certificates of this
# machine, and busybox.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/kb-image.XXXXXX")
images=(buildah --root "$dir/root" --runroot "$dir/run" --storage-driver vfs)
server=
finish() {
  [ -z "$server" ] || kill -- "-$server" 2>/dev/null || true
  "${images[@]}" rm --all >/dev/null 2>&1 || true
  rm -rf "$dir"
}
trap finish EXIT
fail() {
  echo "image-check: $*" >&2
  [ ! -s "$dir/log" ] || tail -n 20 "$dir/log" >&2
  exit 1
}

# base makes the image that the Dockerfile begins with.
base() {
  local name root
  name=$("${images[@]}" from scratch)
  root=$("${images[@]}" mount "$name")
  mkdir -p "$root"/{bin,usr/local,etc/ssl/certs,root,go} "$root/tmp"
  chmod 1777 "$root/tmp"
  cp "$(command -v busybox)" "$root/bin/"
  for program in sh mkdir; do ln -s busybox "$root/bin/$program"; done
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  cp -r "$(go env GOROOT)" "$root/usr/local/go"
  "${images[@]}" config --env PATH=/usr/local/go/bin:/bin --env GOPATH=/go "$name"
  "${images[@]}" commit --quiet --rm "$name" "docker.io/library/$(awk '$1 == "FROM" { print $2; exit }' Dockerfile)" >/dev/null
}

# Modules and what was compiled before come from the caches of this machine.
build() {
  "${images[@]}" build --quiet --format docker --isolation chroot --network host --pull-never --build-arg VERSION=0.0.1-image \
    --volume "$(go env GOMODCACHE):/go/pkg/mod" --volume "$(go env GOCACHE):/root/.cache/go-build" --tag kb . >"$dir/log" 2>&1 || fail 'the Dockerfile cannot be built'
}

# config VALUE: a value of the image's configuration.
config() { "${images[@]}" inspect --type image kb | jq -r ".Docker.config.$1"; }

# in_image COMMAND…: runs it as the image does, with the volume in $dir/data. That
# of the image is taken away, as buildah would put it on top.
in_image() {
  local name
  name=$("${images[@]}" from --pull-never kb)
  "${images[@]}" config --volume /data- "$name"
  exec "${images[@]}" run --isolation chroot --network host --volume "$dir/data:/data" --env KB_TOKEN=0123456789abcdef --workingdir /data "$name" -- "$@"
}

# serve starts the server that the image starts, on a port of its own.
serve() {
  setsid bash -c "$(declare -p images dir); $(declare -f in_image); in_image /usr/local/bin/kb serve --addr :$port" >"$dir/log" 2>&1 &
  server=$!
  for _ in $(seq 100); do
    ! (in_image /usr/local/bin/kb doctor --server "http://127.0.0.1:$port") >/dev/null 2>&1 || return 0
    kill -0 "$server" 2>/dev/null || break
  done
  fail 'the health check of a server does not succeed'
}

# compose reads compose.yaml, and has it name what is not set.
compose() {
  python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install --quiet --disable-pip-version-check podman-compose==1.6.0 || fail 'no podman-compose from PyPI'
  local read=("$dir/venv/bin/podman-compose" --file compose.yaml config)
  KB_TOKEN=0123456789abcdef POSTGRES_PASSWORD=x "${read[@]}" >"$dir/log" 2>&1 || fail 'compose.yaml cannot be read'
  ! env -u KB_TOKEN -u POSTGRES_PASSWORD "${read[@]}" >"$dir/log" 2>&1 && grep -q 'KB_TOKEN' "$dir/log" || fail 'compose.yaml does not ask for KB_TOKEN'
  : >"$dir/log"
}

compose
base
build
for want in 'User=65532:65532' 'WorkingDir=/data' 'Entrypoint|join(" ")=/usr/local/bin/kb' 'Cmd|join(" ")=serve --addr :8080' \
  'Healthcheck.Test|join(" ")=CMD /usr/local/bin/kb doctor --server http://127.0.0.1:8080'; do
  [ "$(config "${want%%=*}")" = "${want#*=}" ] || fail "${want%%=*} is $(config "${want%%=*}")"
done
mkdir -p "$dir/data/notes"
echo 'The kettle takes four minutes.' >"$dir/data/notes/kettle.md"
chown -R 65532:65532 "$dir/data"
[ "$(in_image /usr/local/bin/kb version)" = 'kb 0.0.1-image' ] || fail 'the version is another'
(in_image /usr/local/bin/kb build notes) >/dev/null 2>"$dir/log" || fail 'kb build fails'
[ "$(stat -c %u "$dir/data/index.jsonl.zst")" = 65532 ] || fail 'it does not run as the user of the image'
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
serve
curl -sf -H 'Authorization: Bearer 0123456789abcdef' -F 'file=@README.md' "http://127.0.0.1:$port/documents" >/dev/null || fail 'an upload fails'
kill -- "-$server"
wait "$server" || true
serve
curl -sf -H 'Authorization: Bearer 0123456789abcdef' "http://127.0.0.1:$port/documents" |
  jq -e '[.documents[].path] == ["notes/README.md", "notes/kettle.md"]' >/dev/null || fail 'a server that starts anew has other documents'
echo 'image-check: the image is built, runs as 65532, is healthy, takes an upload and has it after a start anew; compose.yaml can be read'
