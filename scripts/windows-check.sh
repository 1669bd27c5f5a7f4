#!/bin/bash
# kb.exe under Wine: an index is built, changed, searched, verified and repaired.
# Wine 9 or newer; it cannot replace a file that somebody reads, which Windows
# can, so nothing is served here meanwhile.
#
#	scripts/windows-check.sh
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
GOOS=windows GOARCH=amd64 CGO_ENABLED=0 go build -trimpath -o "$work/kb.exe" ./cmd/kb
cp -r notes "$work/notes"
cd "$work"
export WINEDEBUG=-all
kb() { timeout 120 wine kb.exe "$@" 2>>errors; }
fail() { echo "windows: $*" >&2; cat errors >&2; exit 1; }

kb build notes >out || fail 'the first build'
echo 'Zebras graze near the gate.' >notes/zebra.md
kb build notes | grep -q '"path":"notes/zebra.md","status":"created"' || fail 'a build after a change'
kb search zebras | grep -q '"path":"notes/zebra.md"' || fail 'search'
kb rm 'notes\zebra.md' | grep -q removed || fail 'rm of a path with backslashes'
kb search --path 'notes\oncall*' on-call | grep -q '"path":"notes/oncall.md"' || fail '--path with backslashes'
rm notes/zebra.md
kb build >out || fail 'a build of the same folders'
kb load notes | kb chunk | kb embed | kb index --index piped.zst >out || fail 'the pipe'
cmp index.jsonl.zst piped.zst || fail 'the pipe gives other bytes than build'
printf 'XXXX' | dd of=index.jsonl.zst bs=1 seek=20000 conv=notrunc status=none
! kb index --verify >out || fail 'damage goes unseen'
kb index --repair >out || true # it lost documents
kb build >out || fail 'a build after the repair'
kb index --verify >out || fail 'verify after the repair'
cmp index.jsonl.zst piped.zst || fail 'the repaired index has other bytes'
echo 'windows: build, change, search, rm, pipe, verify and repair under Wine'
