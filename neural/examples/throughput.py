"""How fast peers do the same: the peers of throughput.rs.

    pip install torch transformers onnxruntime
    export OMP_WAIT_POLICY=PASSIVE
    python throughput.py encode|pairs|pairs-onnx FOLDER FILE PIECES DEVICE PRECISION THREADS

DEVICE is cpu or cuda, PRECISION f32, f16 or bf16 (onnxruntime: cpu and f32). Sorted by length, 32
in a batch, on a GPU as many as have the pieces of a batch of ours, padded to the longest of the
batch; sdpa attention in PyTorch, the graph FOLDER/fused.onnx in onnxruntime; tokenising is not
counted. Each line of standard input asks for a pass, which prints one line of JSON.
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

BATCH = 32
PIECES_OF_BATCH = 16_384
DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def main():
    mode, folder, file, max_pieces, device, precision, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    folder = pathlib.Path(folder)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=int(max_pieces))
    lines = pathlib.Path(file).read_text(encoding="utf-8").split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    lines = lines if mode == "encode" else [tuple(json.loads(line)) for line in lines]
    encoded = [tokenizer.encode(*line) if mode != "encode" else tokenizer.encode(line)
               for line in lines]
    order = sorted(range(len(encoded)), key=lambda at: -len(encoded[at].ids))
    batches = []
    while order:
        room = PIECES_OF_BATCH // len(encoded[order[0]].ids) if device == "cuda" else BATCH
        batches.append(order[:room])
        order = order[room:]
    inputs = [padded([encoded[at] for at in batch]) for batch in batches]
    if mode == "pairs-onnx":
        run = graph(folder, threads)
    else:
        run = {"encode": encoder, "pairs": classifier}[mode](folder, device, DTYPES[precision])

    with torch.inference_mode():
        for batch in [inputs[0], inputs[-1]]:
            run(*batch)
        for _ in sys.stdin:
            wait(device)
            start = time.perf_counter()
            outputs = [run(*batch) for batch in inputs]
            wait(device)
            seconds = time.perf_counter() - start
            scores = [0.0] * len(encoded)
            if mode != "encode":
                for batch, output in zip(batches, outputs):
                    for at, score in zip(batch, output.reshape(-1).tolist()):
                        scores[at] = score
            print(json.dumps({
                "sequences_per_s": len(encoded) / seconds,
                "tokens_per_s": sum(len(it.ids) for it in encoded) / seconds,
                "threads": torch.get_num_threads(),
                "scores": scores,
            }), flush=True)


def wait(device):
    if device == "cuda":
        torch.cuda.synchronize()


def padded(batch):
    longest = max(len(it.ids) for it in batch)
    pad = lambda numbers: numbers + [0] * (longest - len(numbers))
    ids = torch.tensor([pad(it.ids) for it in batch])
    mask = torch.tensor([pad([1] * len(it.ids)) for it in batch])
    segments = torch.tensor([pad(it.type_ids) for it in batch])
    return ids, mask, segments


def encoder(folder, device, dtype):
    model = transformers.BertModel.from_pretrained(
        folder, add_pooling_layer=False, attn_implementation="sdpa", dtype=dtype
    ).eval().to(device)

    def run(ids, mask, segments):
        ids, mask = ids.to(device), mask.to(device)
        hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state  # [b, t, h]
        kept = mask.unsqueeze(-1).to(dtype)
        return torch.nn.functional.normalize((hidden * kept).sum(1) / kept.sum(1), dim=-1)

    return run


def classifier(folder, device, dtype):
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        folder, attn_implementation="sdpa", dtype=dtype
    ).eval().to(device)
    return lambda ids, mask, segments: model(
        input_ids=ids.to(device),
        attention_mask=mask.to(device),
        token_type_ids=segments.to(device),
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
