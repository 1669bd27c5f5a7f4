#!/bin/sh
# Runs each fuzz target for FUZZTIME.
set -eu
GO=${GO:-go}
FUZZTIME=${FUZZTIME:-10s}
for dir in $($GO list -f '{{.Dir}}' ./...); do
  for target in $(grep -hos '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go | sed 's/func //'); do
    echo "$target (${dir#"$PWD"/})"
    (cd "$dir" && $GO test -run '^$' -fuzz "^$target\$" -fuzztime "$FUZZTIME" -fuzzminimizetime 1s .)
  done
done
