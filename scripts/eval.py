#!/usr/bin/env python3
"""Runs the questions of a file through "kb search | kb rerank | kb answer" and
reports Hit@1, Hit@4, MRR and refusals, in all and by tag; exit 4 below a gate.

    scripts/eval.py ./kb index.jsonl.zst eval/questions.jsonl hit=0.8 mrr=0.7 refusal=0.5

A question is a JSON object: "q", "must_contain" (text that the hit must hold)
and "source" (glob of its path); with neither it should be refused.
"""
import collections, fnmatch, json, subprocess, sys, unicodedata

kb, index, file, *gates = sys.argv[1:]
questions = [json.loads(line) for line in open(file, encoding="utf-8") if line.strip()]


def run(data, *args):
    done = subprocess.run([kb, *args], input=data, stdout=subprocess.PIPE, check=True)
    return done.stdout


def fold(text):
    return "".join(unicodedata.normalize("NFKC", text).split())


def fits(question, hit):
    wanted = question.get("must_contain", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    sources = question.get("source", [])
    sources = [sources] if isinstance(sources, str) else sources
    return all(fold(w) in fold(hit["text"]) for w in wanted) and (
        not sources or any(fnmatch.fnmatchcase(hit["path"], s) for s in sources))


asked = "".join(json.dumps({"q": q["q"], "id": str(i)}, ensure_ascii=False) + "\n" for i, q in enumerate(questions))
hits_out = run(run(asked.encode(), "search", "--index", index, "--top-k", "20"), "rerank", "--top-k", "4")
answers = {a["query"]: a for a in map(json.loads, run(hits_out, "answer").splitlines()) if a["kind"] == "answer"}
hits = collections.defaultdict(list)
for record in map(json.loads, hits_out.splitlines()):
    if record["kind"] == "hit":
        hits[record["query"]].append(record)

rows = collections.defaultdict(list)
for i, q in enumerate(questions):
    refused = answers[str(i)]["refused"]
    rank = next((h["rank"] for h in hits[str(i)] if fits(q, h)), 0)
    answerable = "must_contain" in q or "source" in q
    for tag in ["all", *q.get("tags", [])]:
        rows[tag].append((answerable, rank, refused))

print("| questions | answerable | Hit@1 | Hit@4 | MRR | refused rightly | refused wrongly |")
print("| --- | --- | --- | --- | --- | --- | --- |")
figures = {}
for tag, row in rows.items():
    yes, no = [r for r in row if r[0]], [r for r in row if not r[0]]
    share = lambda part, whole: len(part) / len(whole) if whole else float("nan")
    values = (share([r for r in yes if r[1] == 1], yes), share([r for r in yes if r[1]], yes),
              sum(1 / r[1] for r in yes if r[1]) / len(yes) if yes else float("nan"),
              share([r for r in no if r[2]], no), share([r for r in yes if r[2]], yes))
    print(f"| {tag} | {len(yes)} of {len(row)} | " + " | ".join("–" if v != v else f"{v:.3f}" for v in values) + " |")
    if tag == "all":
        figures = {"hit": values[1], "mrr": values[2], "refusal": values[3]}

failed = [g for g in gates if figures[g.split("=")[0]] < float(g.split("=")[1])]
for gate in failed:
    print(f"below the gate: {gate}, it is {figures[gate.split('=')[0]]:.3f}", file=sys.stderr)
sys.exit(4 if failed else 0)
