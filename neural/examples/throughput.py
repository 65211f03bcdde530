"""How fast peers do the same on the CPU: the peers of throughput.rs.

    pip install torch transformers onnxruntime
    OMP_WAIT_POLICY=PASSIVE python throughput.py encode|pairs|pairs-onnx FOLDER FILE THREADS

Sorted by length, 32 in a batch, padded to the longest of the batch; sdpa attention in PyTorch, the
graph FOLDER/fused.onnx in onnxruntime; tokenising is not counted. Prints one line of JSON.
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

MAX_PIECES = {"encode": 256, "pairs": 512, "pairs-onnx": 512}
BATCH = 32


def main():
    mode, folder, file, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    folder = pathlib.Path(folder)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=MAX_PIECES[mode])
    lines = pathlib.Path(file).read_text(encoding="utf-8").split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    lines = lines if mode == "encode" else [tuple(json.loads(line)) for line in lines]
    encoded = [tokenizer.encode(*line) if mode != "encode" else tokenizer.encode(line)
               for line in lines]
    order = sorted(range(len(encoded)), key=lambda at: -len(encoded[at].ids))
    batches = [order[first : first + BATCH] for first in range(0, len(order), BATCH)]
    inputs = [padded([encoded[at] for at in batch]) for batch in batches]
    run = {"encode": encoder, "pairs": classifier, "pairs-onnx": graph}[mode](folder, threads)

    with torch.inference_mode():
        run(*inputs[-1])
        start = time.perf_counter()
        outputs = [run(*batch) for batch in inputs]
        seconds = time.perf_counter() - start

    scores = [0.0] * len(order)
    if mode != "encode":
        for batch, output in zip(batches, outputs):
            for at, score in zip(batch, output.reshape(-1).tolist()):
                scores[at] = score
    print(json.dumps({
        "sequences_per_s": len(order) / seconds,
        "tokens_per_s": sum(len(it.ids) for it in encoded) / seconds,
        "threads": torch.get_num_threads(),
        "scores": scores if mode != "encode" else [],
    }))


def padded(batch):
    longest = max(len(it.ids) for it in batch)
    pad = lambda numbers: numbers + [0] * (longest - len(numbers))
    ids = torch.tensor([pad(it.ids) for it in batch])
    mask = torch.tensor([pad([1] * len(it.ids)) for it in batch])
    segments = torch.tensor([pad(it.type_ids) for it in batch])
    return ids, mask, segments


def encoder(folder, threads):
    model = transformers.BertModel.from_pretrained(
        folder, add_pooling_layer=False, attn_implementation="sdpa", dtype=torch.float32
    ).eval()

    def run(ids, mask, segments):
        hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state  # [b, t, h]
        kept = mask.unsqueeze(-1).float()
        return torch.nn.functional.normalize((hidden * kept).sum(1) / kept.sum(1), dim=-1)

    return run


def classifier(folder, threads):
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        folder, attn_implementation="sdpa", dtype=torch.float32
    ).eval()
    return lambda ids, mask, segments: model(
        input_ids=ids, attention_mask=mask, token_type_ids=segments
    ).logits


def graph(folder, threads):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(threads)
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(folder / "fused.onnx"), options, providers=["CPUExecutionProvider"]
    )
    names = {it.name: it.type for it in session.get_inputs()}
    kinds = {"tensor(int32)": torch.int32, "tensor(int64)": torch.int64}

    def run(ids, mask, segments):
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": segments}
        feed = {name: given[name].to(kinds[kind]).numpy() for name, kind in names.items()}
        return session.run(["logits"], feed)[0]

    return run


if __name__ == "__main__":
    main()
