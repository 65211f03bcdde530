"""Counts where two runs differ once more, for tests/src/compare.rs. Needs nothing but Python.

    python differ.py FOLDER FIRST SECOND STOP_LIST

FOLDER holds corpus.jsonl.gz, queries.jsonl.gz, qrels.tsv.gz and runs/FIRST, runs/SECOND (packed),
STOP_LIST has one word a line. A list is ordered by score in 32 bits, equal ones by document id, the
last first. A document is relevant from grade 2 on; queries with such a document count. A token is a
run of letters a-z and digits in lower case that is no stop word. Documents without text or token
are passed over. Prints a name, a tab and a number, a line each.
"""

import collections
import gzip
import json
import pathlib
import re
import struct
import sys

EDGES = [0.1, 0.15, 0.2, 0.25]


def rows(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield line.rstrip("\n")


def read_run(path):
    lists = collections.defaultdict(list)
    for row in rows(path):
        query, _, doc, _, score, *_ = row.split()
        single = struct.unpack("f", struct.pack("f", float(score)))[0]
        lists[query].append((single, doc.encode(), doc))
    return {query: [it[2] for it in sorted(found, reverse=True)] for query, found in lists.items()}


def main():
    folder, first, second, stops = sys.argv[1:]
    folder = pathlib.Path(folder)
    lines = pathlib.Path(stops).read_text(encoding="utf-8").split("\n")
    stops = {line.strip().lower() for line in lines if line.strip() and not line.startswith("#")}

    def tokens(text):
        return [it for it in re.findall("[a-z0-9]+", text.lower()) if it not in stops]

    runs = [read_run(folder / "runs" / it) for it in (first, second)]
    grades = collections.defaultdict(dict)
    for row in rows(folder / "qrels.tsv.gz"):
        query, _, doc, grade = row.split("\t")
        grades[query][doc] = int(grade)
    wanted = {doc for run in runs for docs in run.values() for doc in docs[:10]}
    docs = {}
    for row in map(json.loads, rows(folder / "corpus.jsonl.gz")):
        if row["_id"] in wanted:
            docs[row["_id"]] = tokens((row.get("title", "") + " " + row["text"]).strip())

    table = []
    for row in map(json.loads, rows(folder / "queries.jsonl.gz")):
        query, text = row["_id"], row["text"]
        relevant = {doc for doc, grade in grades[query].items() if grade >= 2}
        if not relevant or not all(run.get(query) for run in runs):
            continue
        asked = set(tokens(text))
        tops = [run[query][:10] for run in runs]
        fqt, fnt, rr = [], [], []
        for top in tops:
            texts = [docs[doc] for doc in top if docs.get(doc)]
            query_tokens = [sum(it in asked for it in text) / len(text) for text in texts]
            novel = [len(set(text) - asked) / len(set(text)) for text in texts]
            fqt.append(sum(query_tokens) / len(texts))
            fnt.append(sum(novel) / len(texts))
            ranks = [rank for rank, doc in enumerate(top, 1) if doc in relevant]
            rr.append(1 / ranks[0] if ranks else 0)
        common = [len(set(tops[0][:i]) & set(tops[1][:i])) for i in range(1, 11)]
        bigram = " ".join(it.lower() for it in text.split()[:2])
        table.append((fqt, fnt, rr, common, len(text.split()), bigram))

    n = len(table)
    found = {"queries": n}
    for name, at in (("fqt", 0), ("fnt", 1), ("rr", 2)):
        for side in (0, 1):
            found[f"{name} {side}"] = sum(it[at][side] for it in table) / n
            found[f"{name} higher {side}"] = sum(it[at][side] > it[at][1 - side] for it in table)
    for side in (0, 1):
        for bucket in range(5):
            here = [it for it in table if sum(it[0][side] >= edge for edge in EDGES) == bucket]
            found[f"bucket {bucket} {side}"] = len(here)
            if here:
                found[f"bucket {bucket} {side} rr"] = sum(it[2][side] for it in here) / len(here)
    gains = [it[2][1] - it[2][0] for it in table]
    found["won"] = sum(it == 1 for it in gains)
    found["better"] = sum(it > 0 for it in gains)
    found["equal"] = sum(it == 0 for it in gains)
    found["worse"] = sum(it < 0 for it in gains)
    found["lost"] = sum(it == -1 for it in gains)
    common = [sum(it[3][i] for it in table) / n for i in range(10)]
    for i, mean in enumerate(common, 1):
        found[f"mur {i}"] = mean
    slope = sum((i - 5.5) * mean for i, mean in enumerate(common, 1)) / 82.5
    found["slope"] = slope
    found["intercept"] = sum(common) / 10 - slope * 5.5
    for length, count in sorted(collections.Counter(min(it[4], 11) for it in table).items()):
        found[f"length {length}"] = count
    bigrams = collections.Counter(it[5] for it in table)
    for bigram, count in sorted(bigrams.items(), key=lambda it: (-it[1], it[0]))[:4]:
        found[f"bigram {bigram}"] = count
    for name, number in found.items():
        shown = number if isinstance(number, int) else f"{number:.9f}"
        print(f"{name}\t{shown}")


if __name__ == "__main__":
    main()
