"""Counts measure-and-match samples once more, for tests/src/behavioral_tests.rs.

    pip install PyStemmer
    python measure_and_match.py FOLDER STOP_LIST

FOLDER holds corpus.jsonl.gz, queries.jsonl.gz and qrels.tsv.gz, STOP_LIST has one word a line. For
each query all judged documents are taken that have a text; a term is a run of letters a-z and
digits in lower case, not a stop word, after Porter's first algorithm. Every ordered pair of
documents is looked at, so nothing can be missed by an order. Prints `match:control:variable` and
the number of pairs, a line each; and for equal TF `walk:variable`, how many of these pairs a walk
over neighbours meets that are sorted by the sum of TF, each once, and with repeats.
"""

import collections
import gzip
import itertools
import json
import pathlib
import re
import sys

import Stemmer

PORTER = Stemmer.Stemmer("porter")


def rows(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield line.rstrip("\n")


def main():
    folder, stops = sys.argv[1:]
    folder = pathlib.Path(folder)
    lines = pathlib.Path(stops).read_text(encoding="utf-8").split("\n")
    stops = {line.strip().lower() for line in lines if line.strip() and not line.startswith("#")}

    def terms(text):
        tokens = re.findall("[a-z0-9]+", text.lower())
        return PORTER.stemWords([it for it in tokens if it not in stops])

    queries = {row["_id"]: row["text"] for row in map(json.loads, rows(folder / "queries.jsonl.gz"))}
    grades = collections.defaultdict(dict)
    for row in rows(folder / "qrels.tsv.gz"):
        query, _, doc, grade = row.split("\t")
        grades[query][doc] = int(grade)
    wanted = {doc for judged in grades.values() for doc in judged}
    docs = {}
    for row in map(json.loads, rows(folder / "corpus.jsonl.gz")):
        if row["_id"] in wanted:
            docs[row["_id"]] = terms((row.get("title", "") + " " + row["text"]).strip())

    names = ["relevance", "length", "tf", "sum-tf", "overlap"]
    found = collections.Counter()
    walked = collections.Counter()
    for query, text in queries.items():
        asked = sorted(set(terms(text)))
        measured = []
        for doc, grade in grades[query].items():
            if doc not in docs:
                continue
            counts = collections.Counter(docs[doc])
            vector = tuple(counts[term] for term in asked)
            total, length = sum(vector), len(docs[doc])
            overlap = total / length if total else None
            measured.append((grade, length, vector, total, overlap))
        for one, other in itertools.permutations(measured, 2):
            for control, variable in itertools.permutations(range(5), 2):
                if equal(one[control], other[control]) and larger(one[variable], other[variable]):
                    found[names[control], names[variable]] += 1
        for variable in [0, 1, 4]:
            met = [it for it in walk(measured) if larger(it[0][variable], it[1][variable])]
            walked[names[variable], "once"] += len({(id(one), id(other)) for one, other in met})
            walked[names[variable], "with repeats"] += len(met)
    for (control, variable), n in sorted(found.items()):
        print(f"match:{control}:{variable}\t{n}")
    for (variable, how), n in sorted(walked.items()):
        print(f"walk:{variable}\t{n}\t{how}")


def walk(measured):
    """Each text with those of equal TF next to it in the order of sums, as Python slices have it:
    for the first text the slice before it begins at the end of the list."""
    ordered = sorted(measured, key=lambda it: it[3])
    for place, one in enumerate(ordered):
        for other in itertools.chain(
            itertools.takewhile(lambda it: it[2] == one[2], ordered[place + 1 :]),
            itertools.takewhile(lambda it: it[2] == one[2], ordered[place - 1 :: -1]),
        ):
            yield one, other


def equal(a, b):
    return a is not None and b is not None and a == b


def larger(a, b):
    if a is None or b is None:
        return False
    if isinstance(a, tuple):
        return a != b and all(x >= y for x, y in zip(a, b))
    return a > b


if __name__ == "__main__":
    main()
