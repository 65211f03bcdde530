"""How fast PyTorch encodes the same texts on the CPU: the peer of throughput.rs.

    pip install torch transformers
    OMP_WAIT_POLICY=PASSIVE python throughput.py FOLDER TEXTS THREADS

Texts sorted by length, 32 in a batch, padded to the longest of the batch, sdpa attention, mean
pooling over pieces, unit vectors; tokenising is not counted. Prints one line of JSON.
"""

import json
import os
import pathlib
import sys
import time

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch: spinning threads cost others

import tokenizers
import torch
import transformers

MAX_PIECES = 256
BATCH = 32


def main():
    folder, texts, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    model = transformers.BertModel.from_pretrained(
        folder, add_pooling_layer=False, attn_implementation="sdpa", dtype=torch.float32
    ).eval()
    tokenizer = tokenizers.Tokenizer.from_file(str(pathlib.Path(folder) / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=MAX_PIECES)
    lines = pathlib.Path(texts).read_text(encoding="utf-8").split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    ids = sorted((tokenizer.encode(line).ids for line in lines), key=len, reverse=True)
    batches = [padded(ids[first : first + BATCH]) for first in range(0, len(ids), BATCH)]

    with torch.inference_mode():
        encode(model, *batches[-1])
        start = time.perf_counter()
        for batch in batches:
            encode(model, *batch)
        seconds = time.perf_counter() - start

    print(json.dumps({
        "sequences_per_s": len(ids) / seconds,
        "tokens_per_s": sum(map(len, ids)) / seconds,
        "threads": torch.get_num_threads(),
    }))


def padded(batch):
    longest = max(map(len, batch))
    ids = torch.tensor([text + [0] * (longest - len(text)) for text in batch])
    mask = torch.tensor([[1] * len(text) + [0] * (longest - len(text)) for text in batch])
    return ids, mask


def encode(model, ids, mask):
    hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state  # [b, t, h]
    kept = mask.unsqueeze(-1).float()
    return torch.nn.functional.normalize((hidden * kept).sum(1) / kept.sum(1), dim=-1)


if __name__ == "__main__":
    main()
