#!/bin/bash
# Tests the page of kb serve in Chromium, or takes pictures of it:
#
#   scripts/browser.sh ./kb            the tests
#   scripts/browser.sh ./kb --shots    pictures, into scripts/browser/shots
#
# Chromium, and for pictures a Chinese font, are installed from Debian's packages
# if they are missing and root runs this; else the packages are named.
set -euo pipefail
kb=$(realpath "$1")
cd "$(dirname "$0")/browser"

packages=()
for name in chromium chromium-browser google-chrome headless-shell; do
  ! command -v "$name" >/dev/null || chromium=$name
done
[ -n "${chromium:-}" ] || packages+=(chromium)
if [ "${2:-}" = --shots ] && ! fc-list 2>/dev/null | grep -qi 'cjk\|yahei\|pingfang\|wqy'; then
  packages+=(fonts-noto-cjk)
fi
if [ ${#packages[@]} -gt 0 ]; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "browser: missing packages: ${packages[*]} (their names in Debian)" >&2
    exit 1
  fi
  apt-get update -qq && apt-get install -y -qq "${packages[@]}" >/dev/null
fi

if [ "${2:-}" = --shots ]; then
  mkdir -p shots
  go test -count=1 -run '^TestPictures$' . -kb "$kb" -shots "$PWD/shots"
  echo "scripts/browser/shots: $(ls shots | wc -l) pictures"
  exit
fi
go vet ./...
go test -count=1 . -kb "$kb"
