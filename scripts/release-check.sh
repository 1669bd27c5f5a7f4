#!/bin/bash
# What must hold before a release: kb compiles and vets for the systems that it
# is released for and cannot be tested on here, the same source gives the same
# bytes from another folder, everything linked has a licence, and
# .goreleaser.yaml is one that goreleaser reads.
#
#	scripts/release-check.sh
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CGO_ENABLED=0
flags=(-trimpath -buildvcs=false -ldflags '-s -w')

for system in windows/amd64 darwin/arm64; do
  export GOOS=${system%/*} GOARCH=${system#*/}
  go build "${flags[@]}" -o "$work/kb-$GOOS-$GOARCH" ./cmd/kb
  go vet ./cmd/... ./pkg/...
  echo "release: $system compiles"
done
unset GOOS GOARCH

go build "${flags[@]}" -o "$work/first" ./cmd/kb
cp -r go.mod go.sum cmd pkg "$work/" # the files, without the build cache's knowledge of their place
(cd "$work" && go build "${flags[@]}" -o second ./cmd/kb)
cmp "$work/first" "$work/second"
echo 'release: the same bytes from another folder'

go run ./scripts/notices >"$work/NOTICES.txt"
echo "release: $(($(grep -cE '^={78}$' "$work/NOTICES.txt") / 2)) licence texts"

(cd scripts/goreleaser && go run . ../../.goreleaser.yaml)
