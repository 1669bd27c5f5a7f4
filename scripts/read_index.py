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

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def floats(text):
    raw = base64.b64decode(text)
    return struct.unpack(f"<{len(raw) // 4}f", raw)


def numbers(text):
    """Numbers in base 32, least digit first; all digits but the last of one are 32 greater."""
    value = shift = 0
    for c in text:
        digit = DIGITS.index(c)
        value, shift = value | (digit & 31) << shift, shift + 5
        if digit < 32:
            yield value
            value = shift = 0


def elements(record):
    """The vector of a line; None where the chunk has none."""
    if "dim" not in record:
        return record["vector"] and floats(record["vector"])
    vector, at, values = [0.0] * record["dim"], 0, floats(record["values"])
    places = numbers(record["places"])
    for gap, value in zip(places, places):
        vector[at + gap] = values[value]
        at += gap + 1
    return vector


path = sys.argv[1] if len(sys.argv) > 1 else "index.jsonl.zst"
zstd = subprocess.Popen(["zstd", "-dcq", path], stdout=subprocess.PIPE)
kinds, texts, first = collections.Counter(), {}, None
for line in zstd.stdout:
    record = json.loads(line)
    kinds[record["kind"]] += 1
    if record["kind"] == "index":
        if record["reader"] > 2:
            sys.exit(f"{path} needs a reader of format {record['reader']}")
        print(f"model {record['model']!r}, {record['dim']} dimensions, version {record['version']}")
    elif record["kind"] == "chunk" and first is None:
        texts[record["id"]] = record["text"]
    elif record["kind"] == "vector" and first is None and (first := elements(record)):
        print("text  ", repr(texts[record["id"]][:60]))
        print("vector", *(f"{x:.4f}" for x in first[:6]), "…", f"length {sum(x * x for x in first) ** 0.5:.6f}")
if zstd.wait() != 0:
    sys.exit(f"{path} is damaged")
for kind, n in kinds.items():
    print(f"{n:8} {kind}")
