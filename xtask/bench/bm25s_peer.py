"""The peer bm25s: the same terms as shared/examples/lexical.rs, numba backend, one thread.

`python bm25s_peer.py FOLDER` reads `terms.json` there, then does what each line of standard
input names and prints a line of JSON for it.
"""

import json
import os
import pathlib
import sys

os.environ["NUMBA_NUM_THREADS"] = "1"

from time import thread_time  # what else runs on the machine does not count

import bm25s
import numpy
from bm25s.tokenization import Tokenized

ROUNDS = 20
TOP = 100


def main():
    given = json.loads((pathlib.Path(sys.argv[1]) / "terms.json").read_text())
    names = {str(number): number for number in range(given["n_terms"])}
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75, backend="numba")
    index.index(Tokenized(given["docs"], names), show_progress=False)
    queries = Tokenized(given["queries"], names)
    search(index, queries)  # compiles
    for task in sys.stdin:
        answer = {
            "top": lambda: {"seconds": timed(lambda: search(index, queries))},
            "ranking": lambda: {"ranking": ranking(index, queries)},
            "version": lambda: {"version": bm25s.__version__},
        }[task.strip()]()
        print(json.dumps(answer), flush=True)


def search(index, queries):
    return index.retrieve(queries, k=TOP, n_threads=1, show_progress=False)


def ranking(index, queries):
    docs, scores = search(index, queries)
    pairs = zip(numpy.asarray(docs).tolist(), numpy.asarray(scores).tolist())
    return [list(zip(each, weights)) for each, weights in pairs]


def timed(work):
    start = thread_time()
    for _ in range(ROUNDS):
        work()
    return (thread_time() - start) / ROUNDS


if __name__ == "__main__":
    main()
