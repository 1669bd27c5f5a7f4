#!/usr/bin/env python3
"""Reads an index of kb with nothing but Python and the zstd command.

usage: read_index.py [index.jsonl.zst]

Prints what the header says, how many lines of each kind there are, and the
first vector that there is with the text that it belongs to.
"""
import base64
import collections
import json
import struct
import subprocess
import sys

path = sys.argv[1] if len(sys.argv) > 1 else "index.jsonl.zst"
zstd = subprocess.Popen(["zstd", "-dcq", path], stdout=subprocess.PIPE)
kinds, texts, first = collections.Counter(), {}, None
for line in zstd.stdout:
    record = json.loads(line)
    kinds[record["kind"]] += 1
    if record["kind"] == "index":
        if record["reader"] > 1:
            sys.exit(f"{path} needs a reader of format {record['reader']}")
        print(f"model {record['model']!r}, {record['dim']} dimensions, version {record['version']}")
    elif record["kind"] == "chunk" and first is None:
        texts[record["id"]] = record["text"]
    elif record["kind"] == "vector" and first is None and record["vector"]:
        raw = base64.b64decode(record["vector"])
        first = struct.unpack(f"<{len(raw) // 4}f", raw)
        print("text  ", repr(texts[record["id"]][:60]))
        print("vector", *(f"{x:.4f}" for x in first[:6]), "…", f"length {sum(x * x for x in first) ** 0.5:.6f}")
if zstd.wait() != 0:
    sys.exit(f"{path} is damaged")
for kind, n in kinds.items():
    print(f"{n:8} {kind}")
