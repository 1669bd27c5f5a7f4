#!/bin/bash
# Runs the tests of what must have the same bits on every machine as arm64, by
# emulation: the kernel, and the index that is searched with it. The plain Go
# form of the kernel is run on this machine, too.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
export CGO_ENABLED=0

"$go" test -tags purego ./pkg/vector
qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static || true)
if [ -z "$qemu" ]; then
  echo 'arm64: skipped, qemu-aarch64 is missing (apt-get install qemu-user-static)'
  exit 0
fi
GOARCH=arm64 "$go" test -exec "$qemu" ./pkg/vector
GOARCH=arm64 "$go" test -exec "$qemu" -short -run 'TestNearestIsExact|TestFormat1|TestNumbers|TestWords|TestConformance$' ./pkg/store/flat
