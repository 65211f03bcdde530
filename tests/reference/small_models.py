"""Makes the small models in models/ from free texts. In the root of the repository:

    pip install torch transformers
    cargo build --release
    python tests/reference/small_models.py make CMU_WIKI_QA

`make` runs the other steps, each of which can be run alone.

CMU_WIKI_QA is a folder with corpus.jsonl.gz, queries.jsonl.gz and qrels.tsv.gz of the
Question-Answer Dataset of Smith, Heilman and Hwa (2008-2010): Wikipedia articles, here in
passages of six sentences, and questions about them (GFDL and CC BY-SA 3.0). A relevant passage
has the answer of its question as a string. About two tenths of the articles are kept for the test
and one for development; every text that a model sees in training is of the others.

A pseudo-query is a few words of a passage, in their order: with these a model of random weights
learns to compare a query with a passage.
"""

import argparse
import gzip
import hashlib
import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import tokenizers
import torch
import transformers
from safetensors.torch import load_file, save_file

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "models"
SEED = 20_261_127
UPDATES = {"encoder": 1_500, "epic": 1_000, "doc2query": 1_500, "monot5": 1_000}
VOCABULARY = 8_192
MAX_QUERY, MAX_TEXT = 24, 128
PSEUDO_QUERIES = 2
NEGATIVES = {"question": (24, 0), "pseudo": (7, 8)}
FREQUENT = set("a an and are as at be by for from had has have he her his in is it its not of on "
               "or she that the their they this to was were which who with".split())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    steps = parser.add_subparsers(dest="step", required=True)
    for step in (make, collection, encoder, ranker, epic, doc2query, monot5, card):
        one = steps.add_parser(step.__name__)
        one.add_argument("source", type=Path)
        if step is not make:
            one.add_argument("out", type=Path)
        one.add_argument("--updates", type=int, default=UPDATES.get(step.__name__))
        one.add_argument("--axioscope", type=Path, default=ROOT / "target/release/axioscope")
        one.set_defaults(run=step)
    options = parser.parse_args()
    random.seed(SEED)
    torch.manual_seed(SEED)
    if "out" in options:
        options.out.mkdir(parents=True, exist_ok=True)
    options.run(options)


def make(options):
    """Runs all steps, each in a process of its own, as if it were run alone."""
    source = ROOT / "target/small-models/collection"
    run = lambda *words: subprocess.run([sys.executable, __file__, *map(str, words),
                                         "--axioscope", options.axioscope], check=True)
    run("collection", options.source, source)
    run("encoder", source, MODELS / "tiny-bert")
    for name in ("colbert", "cross-encoder"):
        run("ranker", source, MODELS / f"tiny-{name}")
    for name in ("epic", "doc2query", "monot5"):
        run(name, source, MODELS / f"tiny-{name}")
    for name in CARDS:
        run("card", source, MODELS / name)


# The training collection


def read_lines(path):
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
        return [line.rstrip("\n") for line in lines]


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def split_of(article):
    tenth = hashlib.sha256(article.encode()).digest()[0] % 10
    return {0: "test", 1: "test", 2: "dev"}.get(tenth, "train")


def pseudo_query(text):
    """Returns three to eight words of a sentence of the text, rarely function words."""
    sentences = [it.split() for it in re.split(r"(?<=[.!?])\s+", text)]
    words = random.choice([it for it in sentences if len(it) > 3] or [text.split()])
    start = random.randrange(max(1, len(words) - 12))
    words = [it.strip(".,;:!?()[]\"'") for it in words[start:start + 12]]
    kept = [it for it in words if it and (it.lower() not in FREQUENT or random.random() < 0.2)]
    while len(kept) > 3 and (len(kept) > 8 or random.random() < 0.3):
        kept.pop(random.randrange(len(kept)))
    return " ".join(kept or words).lower()


def collection(options):
    source = options.source
    documents = [json.loads(it) for it in read_lines(source / "corpus.jsonl.gz")]
    questions = [json.loads(it) for it in read_lines(source / "queries.jsonl.gz")]
    relevant = {}
    for line in read_lines(source / "qrels.tsv.gz"):
        query, _, document, grade = line.split("\t")
        if int(grade) > 0:
            relevant.setdefault(query, []).append(document)
    by_article = {}
    for it in documents:
        by_article.setdefault(it["title"], []).append(it["_id"])
    titles = {it["_id"]: it["title"] for it in documents}
    queries = [("question", it["_id"], it["text"], relevant[it["_id"]])
               for it in questions if it["_id"] in relevant]
    for it in documents:
        if split_of(it["title"]) == "train":
            queries += [("pseudo", f"p{it['_id']}-{n}", pseudo_query(it["text"]), [it["_id"]])
                        for n in range(PSEUDO_QUERIES)]
    everything = [it["_id"] for it in documents if split_of(it["title"]) == "train"]
    judgments, splits = [], []
    for kind, query, _, good in queries:
        near, far = NEGATIVES[kind]
        article = titles[good[0]]
        others = [it for it in by_article[article] if it not in good]
        bad = random.sample(others, min(near, len(others))) + random.sample(everything, far)
        judgments += [f"{query}\t0\t{it}\t1" for it in good]
        judgments += [f"{query}\t0\t{it}\t0" for it in dict.fromkeys(bad) if it not in good]
        splits.append(f"{query}\t{split_of(article)}")
    as_line = lambda **fields: json.dumps(fields, ensure_ascii=False)
    write_lines(options.out / "corpus.jsonl",
                [as_line(_id=it["_id"], title=it["title"], text=it["text"]) for it in documents])
    write_lines(options.out / "queries.jsonl",
                [as_line(_id=query, text=text) for _, query, text, _ in queries])
    write_lines(options.out / "qrels.tsv", judgments)
    write_lines(options.out / "splits.tsv", splits)
    print(f"{len(documents)} passages, {len(queries)} queries, {len(judgments)} judgments")


class Collection:
    def __init__(self, folder):
        texts = map(json.loads, read_lines(folder / "corpus.jsonl"))
        self.texts = {it["_id"]: it["text"] for it in texts}
        self.queries = {it["_id"]: it["text"]
                        for it in map(json.loads, read_lines(folder / "queries.jsonl"))}
        splits = dict(it.split("\t") for it in read_lines(folder / "splits.tsv"))
        judged = {}
        for line in read_lines(folder / "qrels.tsv"):
            query, _, document, grade = line.split("\t")
            judged.setdefault(query, ([], []))[grade == "0"].append(document)
        self.train = [(query, good, bad) for query, (good, bad) in judged.items()
                      if splits[query] == "train" and bad]
        self.train_texts = sorted({it for _, good, bad in self.train for it in good + bad})

    def pairs(self, n, n_negatives):
        """Returns n queries, and for each a relevant text and then others. Every second query is
        a question."""
        questions = [it for it in self.train if not it[0].startswith("p")]
        queries, texts = [], []
        for place in range(n):
            query, good, bad = random.choice(questions if place % 2 else self.train)
            queries.append(self.queries[query])
            chosen = [random.choice(good)] + random.choices(bad, k=n_negatives)
            texts.append([self.texts[it] for it in chosen])
        return queries, texts


# Training


def train(parameters, options, loss_of_batch, rate=1e-3):
    optimizer = torch.optim.AdamW(parameters, lr=rate, weight_decay=0.01)
    warmup = options.updates // 10
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda n: min((n + 1) / warmup, (options.updates - n) / (options.updates - warmup)))
    mean = None
    for update in range(options.updates):
        optimizer.zero_grad()
        loss = loss_of_batch()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        schedule.step()
        mean = loss.item() if mean is None else 0.98 * mean + 0.02 * loss.item()
        if update % 100 == 99:
            print(f"{update + 1} of {options.updates} updates, loss {mean:.3f}", flush=True)


def ranker(options):
    """Makes a cross-encoder or a ColBERT of the encoder beside it, with `axioscope train`."""
    name = options.out.name.removeprefix("tiny-")
    work = options.source.parent / options.out.name
    settings = EPOCHS[name] + RANKER_SETTINGS
    subprocess.run(
        [options.axioscope, "train", "--model", name, "--from", options.out.parent / "tiny-bert",
         "--collection", options.source, "--test", "test", "--out", work,
         *(f"--set={it}" for it in settings)], check=True)
    for file in ("config.json", "tokenizer.json", "recipe.toml", "training.json", "curves.jsonl"):
        shutil.copy(work / file, options.out)
    names = {name: it.half() for name, it in load_file(work / "model.safetensors").items()}
    save_file(names, options.out / "model.safetensors", metadata={"format": "pt"})
    # The hash of the file that is shipped.
    path = options.out / "training.json"
    summary = json.loads(path.read_text())
    weights = (options.out / "model.safetensors").read_bytes()
    summary["sha256"] = hashlib.sha256(weights).hexdigest()
    path.write_text(json.dumps(summary) + "\n")
    # What was asked for, as a training in a study file or on a page has it.
    spec = {"model": name, "from": "tiny-bert", "pool": "judged", "split": "train", "dev": "dev",
            "test": "test", "recipe": "default", "set": settings, "seed": 1}
    (options.out / "training-spec.json").write_text(json.dumps(spec) + "\n")
    declare(options.out, (work / "ranker.toml").read_text())


def declare(folder, settings):
    """Writes ranker.toml with the name that tables have."""
    # The others get the name of their use, as in "Tiny ColBERT".
    label = {"tiny-bert": "Tiny BERT", "tiny-cross-encoder": "Tiny cross-encoder",
             "tiny-monot5": "Tiny monoT5"}.get(folder.name, "Tiny")
    header = f'label = "{label}"\nnote = "tiny, own data"\n'
    (folder / "ranker.toml").write_text(header + settings)


def write_weights(folder, model, config):
    names = {name: it.detach().half().contiguous() for name, it in model.state_dict().items()
             if not name.startswith("cls.predictions.decoder.")}
    save_file(names, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def word_pieces(texts, shipped):
    """Returns the tokenizer of a folder, or one of its own for the texts. Its training is not the
    same on every run, hence the first."""
    if (shipped / "tokenizer.json").exists():
        return tokenizers.Tokenizer.from_file(str(shipped / "tokenizer.json"))
    made = tokenizers.BertWordPieceTokenizer(lowercase=True)
    made.train_from_iterator(texts, vocab_size=VOCABULARY, min_frequency=2, show_progress=False)
    return tokenizers.Tokenizer.from_str(made.to_str())


def bert_config(hidden, layers):
    return transformers.BertConfig(
        vocab_size=VOCABULARY, hidden_size=hidden, num_hidden_layers=layers,
        num_attention_heads=hidden // 32, intermediate_size=4 * hidden,
        max_position_embeddings=256, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0, attn_implementation="sdpa")


def as_published(config, architecture):
    fields = config.to_dict()
    keep = ("vocab_size hidden_size num_hidden_layers num_attention_heads intermediate_size "
            "max_position_embeddings hidden_act layer_norm_eps type_vocab_size pad_token_id "
            "model_type d_model d_kv d_ff num_layers num_decoder_layers num_heads "
            "relative_attention_num_buckets relative_attention_max_distance feed_forward_proj "
            "tie_word_embeddings decoder_start_token_id eos_token_id is_encoder_decoder "
            "layer_norm_epsilon").split()
    kept = {name: fields[name] for name in keep if fields.get(name) is not None}
    if fields["model_type"] == "bert":
        kept |= {"hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1}
    return {"architectures": [architecture]} | kept


def encode_pairs(tokenizer, queries, texts):
    """Returns ids, mask and segments of `[CLS] query [SEP] text [SEP]`; without queries of
    `[CLS] text [SEP]`."""
    cls, sep = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    plain = lambda all: [it.ids for it in tokenizer.encode_batch(all, add_special_tokens=False)]
    rows = []
    for query, text in zip(plain(queries), plain(texts)):
        rows.append(([cls] + query[:MAX_QUERY - 1] + [sep], text[:MAX_TEXT - 1] + [sep]))
    return pad(rows)


def pad(rows):
    longest = max(len(first) + len(second) for first, second in rows)
    ids, mask, segments = (torch.zeros(len(rows), longest, dtype=torch.long) for _ in range(3))
    for row, (first, second) in enumerate(rows):
        n = len(first) + len(second)
        ids[row, :n] = torch.tensor(first + second)
        mask[row, :n] = 1
        segments[row, len(first):n] = 1
    return ids, mask, segments


def masked(ids, mask, mask_id):
    """Hides 15 % of the tokens, four fifths of them behind [MASK]; returns ids and places."""
    special = ids < 5
    hidden = (torch.rand(ids.shape) < 0.15) & (mask == 1) & ~special
    draw = torch.rand(ids.shape)
    ids = ids.clone()
    ids[hidden & (draw < 0.8)] = mask_id
    other = hidden & (draw >= 0.9)
    ids[other] = torch.randint(5, VOCABULARY, (int(other.sum()),))
    return ids, hidden


def start_mimetic(model):
    """Lets a token attend to its repetitions from the start, and words count more than their
    places, which helps where texts are few (Trockman and Kolter 2023, "Mimetic initialization of
    self-attention layers")."""
    embeddings = model.bert.embeddings
    torch.nn.init.normal_(embeddings.word_embeddings.weight, std=0.05)
    torch.nn.init.normal_(embeddings.position_embeddings.weight, std=0.01)
    for layer in model.bert.encoder.layer:
        attention = layer.attention.self
        for linear in (attention.query, attention.key):
            width = linear.weight.shape[0]
            with torch.no_grad():
                linear.weight.copy_(0.7 * torch.eye(width) + 0.02 * torch.randn(width, width))


def masked_language_model(texts, tokenizer, hidden, layers, options):
    config = bert_config(hidden, layers)
    model = transformers.BertForMaskedLM(config)
    start_mimetic(model)
    model.train()
    mask_id = tokenizer.token_to_id("[MASK]")

    def loss_of_batch():
        chosen = random.choices(texts, k=32)
        ids, mask, segments = encode_pairs(tokenizer, [pseudo_query(it) for it in chosen], chosen)
        input_ids, places = masked(ids, mask, mask_id)
        states = model.bert(input_ids, attention_mask=mask, token_type_ids=segments)
        logits = model.cls(states.last_hidden_state[places])
        return torch.nn.functional.cross_entropy(logits, ids[places])

    train(list(model.parameters()), options, loss_of_batch)
    return model, config


def encoder(options):
    """A BERT of three layers that predicts hidden tokens of a passage and of a pseudo-query."""
    source = Collection(options.source)
    texts = [source.texts[it] for it in source.train_texts]
    tokenizer = word_pieces(texts, options.out)
    model, config = masked_language_model(texts, tokenizer, 128, 3, options)
    write_weights(options.out, model, as_published(config, "BertForMaskedLM"))
    tokenizer.save(str(options.out / "tokenizer.json"))
    declare(options.out, "")


def activate(x):
    return torch.log1p(torch.nn.functional.softplus(x))


def epic(options):
    """EPIC from a masked language model of two layers of 64 units."""
    source = Collection(options.source)
    texts = [source.texts[it] for it in source.train_texts]
    tokenizer = word_pieces(texts, options.out.parent / "tiny-bert")
    model, config = masked_language_model(texts, tokenizer, 64, 2, options)
    for name in ("query_salience", "doc_salience", "doc_quality"):
        setattr(model, name, torch.nn.Linear(64, 1))

    def loss_of_batch():
        queries, chosen = source.pairs(16, 3)
        n = len(chosen[0])
        texts = [it for one in chosen for it in one]
        ids, mask, _ = encode_pairs(tokenizer, [""] * len(queries), queries)
        ids, mask = ids[:, 1:], mask[:, 1:]
        ids[:, 0] = tokenizer.token_to_id("[CLS]")
        ids, mask = ids[:, :32], mask[:, :32]
        states = model.bert(ids, attention_mask=mask).last_hidden_state
        inner = (mask == 1) & (ids >= 5)
        salience = activate(model.query_salience(states).squeeze(-1)) * inner
        text_ids, text_mask, _ = encode_pairs(tokenizer, [""] * len(texts), texts)
        text_ids, text_mask = text_ids[:, 1:], text_mask[:, 1:]
        text_ids[:, 0] = tokenizer.token_to_id("[CLS]")
        states = model.bert(text_ids, attention_mask=text_mask,
                            token_type_ids=text_mask).last_hidden_state
        inner = ((text_mask == 1) & (text_ids >= 5)).float()
        weight = activate(model.doc_salience(states).squeeze(-1)) * inner
        quality = torch.sigmoid(model.doc_quality(states[:, 0]).squeeze(-1))
        transformed = model.cls.predictions.transform(states)
        repeated = ids.repeat_interleave(n, dim=0)
        embeddings = model.bert.embeddings.word_embeddings.weight[repeated]
        logits = transformed @ embeddings.transpose(1, 2)
        logits = logits + model.cls.predictions.bias[repeated][:, None]
        best = (activate(logits) * weight[..., None]).max(dim=1).values
        scores = quality * (best * salience.repeat_interleave(n, dim=0)).sum(dim=1)
        return torch.nn.functional.cross_entropy(
            scores.view(-1, n), torch.zeros(len(queries), dtype=torch.long))

    train(list(model.parameters()), options, loss_of_batch, rate=5e-4)
    write_weights(options.out, model, as_published(config, "BertForMaskedLM"))
    tokenizer.save(str(options.out / "tokenizer.json"))
    declare(options.out, 'architecture = "epic"\n')


# T5


def sentence_pieces(texts, shipped):
    """Returns the tokenizer of a folder, or one of its own for the texts, as T5's."""
    if (shipped / "tokenizer.json").exists():
        return tokenizers.Tokenizer.from_file(str(shipped / "tokenizer.json"))
    made = tokenizers.Tokenizer(tokenizers.models.Unigram())
    made.normalizer = tokenizers.normalizers.Sequence([
        tokenizers.normalizers.NFKC(), tokenizers.normalizers.Lowercase()])
    made.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([
        tokenizers.pre_tokenizers.WhitespaceSplit(),
        tokenizers.pre_tokenizers.Metaspace(),
        tokenizers.pre_tokenizers.Punctuation("isolated")])
    made.decoder = tokenizers.decoders.Metaspace()
    made.train_from_iterator(texts, tokenizers.trainers.UnigramTrainer(
        vocab_size=5_000, unk_token="<unk>", special_tokens=["<pad>", "</s>", "<unk>"],
        show_progress=False))
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)])
    return made


def t5_model(tokenizer):
    config = transformers.T5Config(
        vocab_size=tokenizer.get_vocab_size(), d_model=80, d_kv=20, num_heads=4, d_ff=240,
        num_layers=2, num_decoder_layers=2, feed_forward_proj="relu", dropout_rate=0.0,
        tie_word_embeddings=True, decoder_start_token_id=0, eos_token_id=1)
    return transformers.T5ForConditionalGeneration(config).train(), config


def t5_batch(tokenizer, texts, most):
    """Returns ids and mask of texts with the end token."""
    rows = [it.ids[:most] for it in tokenizer.encode_batch(texts, add_special_tokens=False)]
    ids, mask, _ = pad([([], it + [1]) for it in rows])
    return ids, mask


def write_t5(options, model, config, tokenizer):
    folder = options.out
    tied = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight")
    names = {name: it.half().contiguous() for name, it in model.state_dict().items()
             if name not in tied}
    save_file(names, folder / "model.safetensors", metadata={"format": "pt"})
    fields = as_published(config, "T5ForConditionalGeneration")
    (folder / "config.json").write_text(json.dumps(fields, indent=2) + "\n")
    tokenizer.save(str(folder / "tokenizer.json"))
    declare(folder, f'architecture = "{folder.name.removeprefix("tiny-")}"\n')


def doc2query(options):
    """A T5 that writes a query for a passage."""
    source = Collection(options.source)
    texts = [source.texts[it] for it in source.train_texts]
    tokenizer = sentence_pieces(texts, options.out)
    model, config = t5_model(tokenizer)

    def loss_of_batch():
        queries, chosen = source.pairs(32, 0)
        ids, mask = t5_batch(tokenizer, [it[0] for it in chosen], 160)
        labels, label_mask = t5_batch(tokenizer, queries, 32)
        labels[label_mask == 0] = -100
        return model(input_ids=ids, attention_mask=mask, labels=labels).loss

    train(list(model.parameters()), options, loss_of_batch, rate=3e-3)
    write_t5(options, model, config, tokenizer)


def monot5(options):
    """A monoT5 that goes on from the doc2query model beside it."""
    source = Collection(options.source)
    before = options.out.parent / options.out.name.replace("monot5", "doc2query")
    tokenizer = sentence_pieces([], before)
    tokenizer.add_tokens(["▁true", "▁false"])
    model, config = t5_model(tokenizer)
    weights = {name: it.float() for name, it in load_file(before / "model.safetensors").items()}
    known = weights.pop("shared.weight")
    model.load_state_dict(weights, strict=False)
    with torch.no_grad():
        model.shared.weight.normal_(std=known.std())[:len(known)] = known
    yes, no = (tokenizer.token_to_id(it) for it in ("▁true", "▁false"))

    def loss_of_batch():
        queries, chosen = source.pairs(12, 3)
        prompts = [f"Query: {query} Document: {cut(text)} Relevant:"
                   for query, texts in zip(queries, chosen) for text in texts]
        ids, mask = t5_batch(tokenizer, prompts, 200)
        start = torch.zeros(len(ids), 1, dtype=torch.long)
        logits = model(input_ids=ids, attention_mask=mask, decoder_input_ids=start).logits[:, 0]
        log_true = torch.log_softmax(logits[:, [yes, no]], dim=1)[:, 0].view(len(queries), -1)
        target = torch.zeros(len(queries), dtype=torch.long)
        return torch.nn.functional.cross_entropy(log_true, target)

    train(list(model.parameters()), options, loss_of_batch)
    write_t5(options, model, config, tokenizer)


def cut(text):
    return " ".join(text.split()[:90])


# Model cards


def card(options):
    """Writes the model card from evaluations of the stored model."""
    evaluate = lambda collection, *words: subprocess.run(
        [options.axioscope, "models", "evaluate", options.out, "--collection", collection, *words],
        check=True, capture_output=True, text=True).stdout.strip()
    ours = evaluate(options.source, "--split", "test", "--trained-on", "train")
    demo = evaluate(ROOT / "demo")
    warnings = [it for it in ours.splitlines() if it.startswith("**")]
    table = lambda printed: printed[printed.index("| ranking"):]
    name = options.out.name
    settings = (options.out / "ranker.toml").read_text()
    weights = options.out / "model.safetensors"
    n_weights = sum(it.numel() for it in load_file(weights).values())
    facts = CARDS[name] | {
        "weights": f"{n_weights:,}, {weights.stat().st_size / 1e6:.1f} MB in 16 bits",
        "SHA-256 of the weights": f"`{hashlib.sha256(weights.read_bytes()).hexdigest()}`",
    }
    source = Collection(options.source)
    n_pseudo = sum(it[0].startswith("p") for it in source.train)
    n_passages, n_questions = n_pseudo // PSEUDO_QUERIES, len(source.train) - n_pseudo
    rows = "\n".join(f"| {key} | {value} |" for key, value in facts.items()
                     if key not in ("is", "use"))
    about = "".join(f"{it}\n\n" for it in warnings)
    (options.out / "README.md").write_text(CARD.format(
        name=name, warnings=about, facts=rows, ours=table(ours), demo=table(demo),
        passages=f"{n_passages:,}", questions=n_questions,
        titles="passages without their titles" if "read_titles = false" in settings
        else "titles and passages",
        **{it: facts[it] for it in ("is", "use")}),
        encoding="utf-8")


CARD = """# {name}

{warnings}{is}

| | |
|---|---|
{facts}
| license of the weights | CC BY-SA 3.0 |

## Use

{use} It is not a ranker for search, and its figures say nothing about larger models of the same
kind. It reads English, in lower case.

## Training texts

{passages} passages of Wikipedia articles and {questions} training questions about them, from
the Question-Answer Dataset of Smith, Heilman and Hwa (2008-2010; CC BY-SA 3.0, older parts also
under the GFDL), and two pseudo-queries for each passage: a few of its words, in their order. A
passage is relevant if it contains the answer to the question as a string: a weak judgment,
which favors rankers that match words. `tests/reference/small_models.py` makes the model again;
the weights then differ, and the figures below with them, since they are of one training with
one seed.

## Effectiveness on the test questions

Questions about articles of which no passage and no question was seen in training; a few
articles have a passage in common. The candidates of a question are the relevant passages and up
to 24 others of its article, drawn at random.

{ours}

## Effectiveness on the demo collection

The 64 queries in `demo/`, whose texts and grades from 0 to 3 were written for Axioscope; from
grade 1 on a passage counts as relevant. None of these texts was seen in training. The
candidates of a query are the 16 passages on its subject.

{demo}

## How to read the tables

The first row is the model; all rows of a table are over the same queries. The standard error is
that of the model's mean over the queries; no difference between rows was tested. BM25 has
k1 1.2, b .75 and Porter's stemmer, and reads the texts that the model reads: {titles}. "Ranked for
another query": each query's candidates, ranked by the model for the text of another query of the
table. "One score for all": ties are ordered by document id, descending, as in trec_eval.
"""

PRETRAINED = "a masked language model of the same passages, trained from random weights"
CARDS = {
    "tiny-bert": {
        "is": "A BERT of three layers, evaluated here as a bi-encoder, whose vector is the mean "
              "of the last hidden states. It was trained to predict hidden words, not to rank. It "
              "is what `tiny-colbert` and `tiny-cross-encoder` were before fine-tuning.",
        "use": "To see what fine-tuning changes, and how late interaction (`:late`) and SPLADE "
               "(`:splade`) look without it; the tables are of `:bi`.",
        "layers, units": "3, 128",
        "training": "masked language model over a pseudo-query and its passage, 1,500 updates "
                    "of 32 pairs, from random weights",
    },
    "tiny-colbert": {
        "is": "A ColBERT without markers and `[MASK]` tokens, as in Formal et al. (2021), "
              "fine-tuned from `tiny-bert`.",
        "use": "To see late interaction at work: which tokens match, term importance, spectra of "
               "token vectors (\"A White Box Analysis of ColBERT\", ECIR 2021), and axioms. On the "
               "demo collection its AP is higher than that of BM25.",
        "layers, units, vector": "3, 128, 128",
        "training": "`axioscope train --model colbert`; `recipe.toml` has all numbers, "
                    "`curves.jsonl` the learning curve",
    },
    "tiny-cross-encoder": {
        "is": "A cross-encoder with one label, fine-tuned from `tiny-bert`.",
        "use": "To see attention maps and axioms of a ranker that reads query and document "
               "together. On the demo collection its AP is higher than that of BM25.",
        "layers, units": "3, 128",
        "training": "`axioscope train --model cross-encoder`; `recipe.toml` has all numbers, "
                    "`curves.jsonl` the learning curve",
    },
    "tiny-epic": {
        "is": "An EPIC: it weighs the tokens of a query, and for a document all tokens of the "
              "vocabulary.",
        "use": "To see weights of tokens and axioms of a sparse ranker. On the demo collection its "
               "AP is higher than that of BM25.",
        "layers, units": "2, 64",
        "training": f"{PRETRAINED} in 1,000 updates; then 1,000 updates of 16 queries with a "
                    "relevant and three other passages, softmax cross-entropy",
    },
    "tiny-doc2query": {
        "is": "A T5 that writes queries for a document; BM25 scores the document with four of "
              "them appended.",
        "use": "To see document expansion. The queries are made of words of the document more "
               "than of questions that it answers.",
        "layers, units": "2 in the encoder and 2 in the decoder, 80",
        "training": "1,500 updates of 32 passages with one of their queries, from random weights",
    },
    "tiny-monot5": {
        "is": "A T5 that reads query and document and predicts `true` or `false`.",
        "use": "To see that a monoT5 runs, and what a ranker that ignores the query looks like in "
               "axioms and controls. Its scores have no other use.",
        "layers, units": "2 in the encoder and 2 in the decoder, 80",
        "training": "from `tiny-doc2query`; 1,000 updates of 12 queries with a relevant and three "
                    "other passages, softmax cross-entropy over log P(true)",
    },
}
# A ColBERT matches tokens from the start, and ranks worse again after some hundred updates.
EPOCHS = {"colbert": ["epochs=8", "updates_per_epoch=30", "weights=best"],
          "cross-encoder": ["epochs=2"]}
RANKER_SETTINGS = ["learning_rate=0.0005", "batch_size=16", "max_query_tokens=24",
                   "max_document_tokens=128", "read_titles=false"]


if __name__ == "__main__":
    main()
