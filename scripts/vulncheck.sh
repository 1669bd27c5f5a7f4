#!/bin/bash
# Known vulnerabilities in what kb calls, by govulncheck. Its database is asked for
# at vuln.go.dev; where only a module proxy can be reached, the same entries
# come from the module golang.org/x/vulndb. What it finds in the standard
# library goes away with a newer Go: GOTOOLCHAIN=go1.26.10 scripts/vulncheck.sh
#
#	scripts/vulncheck.sh
set -euo pipefail
cd "$(dirname "$0")/.."
govulncheck=golang.org/x/vuln/cmd/govulncheck@v1.9.0

if curl -sfI --max-time 10 https://vuln.go.dev/index/db.json >/dev/null; then
  exec go run $govulncheck ./...
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
module=$(cd "$work" && go mod download -json golang.org/x/vulndb@latest)
field() { sed -n "s/^\t\"$1\": \"\(.*\)\",\?$/\1/p" <<<"$module"; }
echo "vulncheck: vuln.go.dev cannot be reached, using golang.org/x/vulndb $(field Version)" >&2
go run "golang.org/x/vulndb/cmd/indexdb@$(field Version)" -vulns "$(field Dir)/data/osv" -out "$work/db"
go run $govulncheck -db "file://$work/db" ./...
