"""The peer gensim: word2vec on the same texts as shared/examples/lexical.rs, one thread.

`python gensim_peer.py FOLDER` reads `texts.jsonl` there, then does what each line of standard
input names and prints a line of JSON for it.
"""

import json
import pathlib
import re
import sys
from time import process_time  # gensim trains on a thread of its own

import gensim
from gensim.models import Word2Vec

DIMS, WINDOW, LEAST, PASSES = 50, 10, 5, 5


def main():
    file = pathlib.Path(sys.argv[1]) / "texts.jsonl"
    texts = [json.loads(line) for line in file.read_text().splitlines()]
    texts = [re.findall("[a-z0-9]+", text.lower()) for text in texts]
    for task in sys.stdin:
        answer = {
            "glove": lambda: train(texts),
            "version": lambda: {"version": gensim.__version__},
        }[task.strip()]()
        print(json.dumps(answer), flush=True)


def train(texts):
    start = process_time()
    model = Word2Vec(
        texts, vector_size=DIMS, window=WINDOW, min_count=LEAST, workers=1, sg=1, epochs=PASSES,
        seed=42,
    )
    seconds = process_time() - start
    return {"seconds": seconds, "n_tokens": PASSES * sum(map(len, texts)), "n_words": len(model.wv)}


if __name__ == "__main__":
    main()
