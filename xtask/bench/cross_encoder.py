"""A cross-encoder out of an encoder, with a head drawn at random: for speed alone.

    pip install torch transformers
    python cross_encoder.py FOLDER OUT [HIDDEN LAYERS HEADS INTERMEDIATE]

Writes OUT as a folder of Hugging Face transformers. With onnx, onnxscript and onnxruntime there is
also OUT/fused.onnx, the graph that onnxruntime's optimiser makes of it for BERT. With sizes every
weight is drawn at random, FOLDER gives the tokenizer and what else is configured, and there is no
graph.
"""

import pathlib
import shutil
import sys

import torch
import transformers

SEED = 42
SIZES = ["hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"]


def main():
    folder, out = map(pathlib.Path, sys.argv[1:3])
    sizes = dict(zip(SIZES, map(int, sys.argv[3:])))
    torch.manual_seed(SEED)
    if sizes:
        config = transformers.BertConfig.from_pretrained(folder, num_labels=1, **sizes)
        model = transformers.BertForSequenceClassification(config)
    else:
        model = transformers.AutoModelForSequenceClassification.from_pretrained(
            folder, num_labels=1, dtype=torch.float32, attn_implementation="eager"
        ).eval()
    model.save_pretrained(out)
    shutil.copy(folder / "tokenizer.json", out / "tokenizer.json")
    if not sizes:
        export(model, out)


def export(model, out):
    try:
        import onnx  # noqa: F401
        import onnxscript  # noqa: F401
        from onnxruntime.transformers import optimizer
    except ImportError as missing:
        print(f"no graph: {missing}", file=sys.stderr)
        return
    ids = torch.ones(2, 16, dtype=torch.long)
    names = ["input_ids", "attention_mask", "token_type_ids"]
    axes = {name: {0: "batch", 1: "pieces"} for name in names} | {"logits": {0: "batch"}}
    plain = out / "plain.onnx"
    torch.onnx.export(
        model, (ids, ids, torch.zeros_like(ids)), str(plain), input_names=names,
        output_names=["logits"], dynamic_axes=axes, opset_version=17, dynamo=False,
    )
    config = model.config
    fused = optimizer.optimize_model(
        str(plain), model_type="bert", num_heads=config.num_attention_heads,
        hidden_size=config.hidden_size, opt_level=1, use_gpu=False,
    )
    print(fused.get_fused_operator_statistics(), file=sys.stderr)
    fused.save_model_to_file(str(out / "fused.onnx"))
    plain.unlink()


if __name__ == "__main__":
    main()
