"""How fast PyTorch fine-tunes encoders on the CPU: the peer of fine_tune.rs.

    pip install torch transformers tokenizers
    python fine_tune.py FOLDER THREADS [SECONDS]

The same texts, batches and numbers: dropout .1, cross-entropy of a positive among three negatives,
gradients clipped to the norm 1, AdamW without decay. A batch is padded to its longest text; queries
of a ColBERT are encoded once. Prints one line of JSON for each ranker.
"""

import json
import os
import sys
import time

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch: spinning threads cost others

import torch
import torch.nn as nn
import torch.nn.functional as F
from tokenizers import Tokenizer
from transformers import BertModel

N_QUERIES, N_NEGATIVES, QUERIES_PER_BATCH, WARM_UP = 200, 3, 4, 2


def texts(folder):
    with open(f"{folder}/tokenizer.json", encoding="utf-8") as file:
        vocabulary = json.load(file)["model"]["vocab"]
    is_word = lambda it: len(it) > 3 and it.isascii() and it.isalpha() and it.islower()
    words = sorted(filter(is_word, vocabulary))
    state = 1

    def below(n):
        nonlocal state
        state = (state * 1103515245 + 12345) % (1 << 31)
        return (state >> 8) % n

    def text(least, most):
        n = least + below(most - least + 1)
        return " ".join(words[below(len(words))] for _ in range(n))

    found = []
    for _ in range(N_QUERIES):
        query = text(4, 10)
        found.append((query, [text(8, 42) for _ in range(N_NEGATIVES + 1)]))
    return found


def batch(encodings):
    longest = max(len(it.ids) for it in encodings)
    pad = lambda rows: torch.tensor([it + [0] * (longest - len(it)) for it in rows])
    return {
        "input_ids": pad([it.ids for it in encodings]),
        "attention_mask": pad([it.attention_mask for it in encodings]),
        "token_type_ids": pad([it.type_ids for it in encodings]),
    }


class CrossEncoder(nn.Module):
    name = "cross-encoder"

    def __init__(self, bert, tokenizer):
        super().__init__()
        self.bert, self.tokenizer = bert, tokenizer
        self.dropout, self.out = nn.Dropout(0.1), nn.Linear(bert.config.hidden_size, 1)

    def forward(self, queries):
        pairs = [(query, document) for query, documents in queries for document in documents]
        states = self.bert(**batch(self.tokenizer.encode_batch(pairs))).pooler_output
        return self.out(self.dropout(states)).view(len(queries), -1)


class Colbert(nn.Module):
    name = "colbert"

    def __init__(self, bert, tokenizer):
        super().__init__()
        bert.pooler = None
        self.bert, self.tokenizer = bert, tokenizer
        self.out = nn.Linear(bert.config.hidden_size, 128, bias=False)

    def encode(self, texts):
        inputs = batch(self.tokenizer.encode_batch(texts))
        states = self.bert(**inputs).last_hidden_state
        return F.normalize(self.out(states), dim=-1), inputs["attention_mask"].bool()

    def forward(self, queries):
        n = N_NEGATIVES + 1
        query, is_query = self.encode([it[0] for it in queries])
        document, is_document = self.encode([it for _, them in queries for it in them])
        query, is_query = query.repeat_interleave(n, 0), is_query.repeat_interleave(n, 0)
        cosines = query @ document.transpose(1, 2)
        best = cosines.masked_fill(~is_document[:, None], -1).amax(2)
        return (best * is_query).sum(1).view(len(queries), -1)


def measure(network, queries, seconds):
    network.train()
    optimizer = torch.optim.AdamW(network.parameters(), lr=5e-5, eps=1e-8, weight_decay=0.0)
    first = torch.zeros(QUERIES_PER_BATCH, dtype=torch.long)
    start, n_updates = time.perf_counter(), -WARM_UP
    while n_updates <= 0 or time.perf_counter() - start < seconds:
        if n_updates == 0:
            start = time.perf_counter()
        place = (n_updates + WARM_UP) * QUERIES_PER_BATCH % N_QUERIES
        loss = F.cross_entropy(network(queries[place : place + QUERIES_PER_BATCH]), first)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        n_updates += 1
    rate = n_updates / (time.perf_counter() - start)
    n_pairs = QUERIES_PER_BATCH * (N_NEGATIVES + 1)
    line = {"model": network.name, "updates_per_s": rate, "pairs_per_update": n_pairs}
    print(json.dumps(line), flush=True)


def main():
    folder, n_threads = sys.argv[1], int(sys.argv[2])
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 20.0
    torch.set_num_threads(n_threads)
    torch.manual_seed(1)
    tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
    tokenizer.no_padding()
    tokenizer.enable_truncation(242)
    for kind in (CrossEncoder, Colbert):
        bert = BertModel.from_pretrained(folder, attn_implementation="sdpa")
        measure(kind(bert, tokenizer), texts(folder), seconds)


main()
