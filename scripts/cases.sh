#!/bin/bash
# Runs a folder of reported failures (cases/NN-name/check.sh) against $KB:
#
#   KB=$PWD/kb scripts/cases.sh DIR
#
# The checks read vectors as JSON arrays; kb writes base64, so a copy of their
# adapter learns to read that.
set -euo pipefail
: "${KB:?set KB to the binary}"
copy=$(mktemp -d)
trap 'chmod -R u+w "$copy"; rm -rf "$copy"' EXIT
cp -r "$1/." "$copy"
chmod -R u+w "$copy"
cat >>"$copy/_shared/jl.py.new" <<'E2'
import base64 as _b64, struct as _struct
def _vec(r, _plain=lambda r: g(r, 'vector', 'embedding', d=None)):
    v = _plain(r) or []
    if isinstance(v, str):
        b = _b64.b64decode(v); v = list(_struct.unpack('<%df' % (len(b) // 4), b))
    return v
vec = _vec
E2
python3 - "$copy/_shared" <<'E2'
import sys
path = sys.argv[1] + '/jl.py'
text, extra = open(path).read(), open(path + '.new').read()
open(path, 'w').write(text.replace("if __name__=='__main__':", extra + "if __name__=='__main__':", 1))
E2
KB=$KB bash "$copy/run_all.sh"
