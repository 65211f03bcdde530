"""How fast PyTorch scores the vectors of a ColBERT on the CPU: the peer of maxsim.rs.

    pip install torch transformers
    OMP_WAIT_POLICY=PASSIVE python maxsim.py FOLDER THREADS

Makes FOLDER where there is none: a ColBERT of one layer with random weights and FOLDER/texts.txt,
so that a query has 32 vectors and each of 256 texts 180, of 128 numbers. Scores them in two ways,
text by text and all in one product, and prints one line of JSON with the faster one.
"""

import json
import os
import pathlib
import random
import sys
import time

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch: spinning threads cost others

import safetensors.torch
import tokenizers
import torch
import transformers

TOKENIZER = pathlib.Path(__file__).parent.parent / "tests/fixtures/colbert-tiny/tokenizer.json"
WORDS = "where do rivers end a river flows down into the sea lake or of in".split()
ROUNDS = 20


def main():
    folder, threads = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    if not folder.exists():
        make(folder)
    query, texts = vectors(folder)
    one_by_one = lambda: [(query @ text.T).amax(1).sum() for text in texts]
    all_texts = torch.stack(texts).transpose(1, 2).contiguous()  # [n, 128, 180]
    at_once = lambda: (query @ all_texts).amax(2).sum(1)
    rates = {name: rate(way, len(texts)) for name, way in [("each", one_by_one), ("all", at_once)]}
    print(json.dumps({
        "scores_per_s": max(rates.values()),
        **{f"{name}_per_s": it for name, it in rates.items()},
        "threads": torch.get_num_threads(),
        "first": at_once()[0].item(),
    }))


def rate(way, n):
    way()
    start = time.perf_counter()
    for _ in range(ROUNDS):
        way()
    return ROUNDS * n / (time.perf_counter() - start)


def make(folder):
    torch.manual_seed(29)
    random.seed(29)
    folder.mkdir(parents=True)
    tokenizer = tokenizers.Tokenizer.from_file(str(TOKENIZER))
    config = transformers.BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=64,
        num_hidden_layers=1,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=192,
        architectures=["HF_ColBERT"],
    )
    model = transformers.BertModel(config, add_pooling_layer=False)
    tensors = {f"bert.{name}": 10 * it for name, it in model.state_dict().items()}
    tensors["linear.weight"] = torch.randn(128, 64)
    safetensors.torch.save_file(tensors, folder / "model.safetensors")
    config.save_pretrained(folder)
    change = json.loads((folder / "config.json").read_text()) | {"architectures": ["HF_ColBERT"]}
    (folder / "config.json").write_text(json.dumps(change))
    tokenizer.save(str(folder / "tokenizer.json"))
    lines = [" ".join(random.choices(WORDS, k=177)) for _ in range(256)]
    (folder / "texts.txt").write_text("\n".join(lines))


def vectors(folder):
    """As Stanford's code has it: of the first text as a query, of all as texts."""
    tensors = safetensors.torch.load_file(folder / "model.safetensors")
    linear = tensors.pop("linear.weight")
    config = transformers.AutoConfig.from_pretrained(folder, attn_implementation="eager")
    model = transformers.BertModel(config, add_pooling_layer=False).eval()
    model.load_state_dict({name.removeprefix("bert."): it for name, it in tensors.items()})
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    lines = (folder / "texts.txt").read_text().split("\n")
    special = [tokenizer.token_to_id(it) for it in ("[CLS]", "[unused0]", "[unused1]", "[SEP]")]
    cls, of_query, of_text, sep = special

    def read(text, marker, most):
        own = tokenizer.encode(text, add_special_tokens=False).ids[: most - 3]
        hidden = model(input_ids=torch.tensor([[cls, marker, *own, sep]])).last_hidden_state[0]
        return torch.nn.functional.normalize(hidden @ linear.T, dim=-1)

    return read(lines[0], of_query, 32), [read(it, of_text, 180) for it in lines]


if __name__ == "__main__":
    main()
