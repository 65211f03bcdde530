"""How fast PyTorch trains the interaction rankers on the CPU: the peer of train_interaction.rs.

    pip install torch numpy
    OMP_WAIT_POLICY=PASSIVE python train_interaction.py THREADS [SECONDS]

Random texts of the lengths of WikiQA, the sizes and batches of the recipe `wikiqa-reference`, plain
gradient descent. Batches are padded to 20 and 40 terms, KNRM's and Conv-KNRM's to their longest
texts. Histograms are computed before. Prints one line of JSON for each network.
"""

import json
import os
import sys
import time

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch: spinning threads cost others

import torch
import torch.nn as nn
import torch.nn.functional as F

N_WORDS, N_PAIRS, DIMENSIONS, QUERY, DOCUMENT = 23_600, 2_000, 50, 20, 40


class Texts:
    def __init__(self):
        vectors = F.normalize(torch.randn(N_WORDS + 1, DIMENSIONS), dim=1)
        vectors[0] = 0
        self.vectors = vectors
        self.idf = torch.rand(N_WORDS + 1) * 9 + 1
        self.idf[0] = 0
        self.query = self.draw(QUERY, 3, 10)
        self.document = self.draw(DOCUMENT, 4, 42)
        self.document[:, 0] = self.query[:, 0]

    def draw(self, width, least, most):
        ids = torch.randint(1, N_WORDS + 1, (N_PAIRS, width))
        lengths = torch.randint(least, most, (N_PAIRS, 1))
        return ids * (torch.arange(width) < lengths)

    def crop(self, ids):
        return ids[:, : int((ids > 0).sum(1).max())]


class Histogram(nn.Module):
    def __init__(self, texts, bins):
        super().__init__()
        self.texts = texts
        is_term = (texts.query > 0)[..., None]
        self.histograms = torch.rand(N_PAIRS, QUERY, bins) * is_term
        self.idf = texts.idf[texts.query]
        self.layers = nn.Sequential(nn.Linear(bins, 20), nn.Tanh(), nn.Linear(20, 1))
        self.gate = nn.Parameter(torch.full((1,), 0.01))

    def forward(self, rows):
        scores = self.layers(self.histograms[rows]).squeeze(-1)
        return (torch.softmax(self.idf[rows] * self.gate, 1) * scores).sum(1)


class Duet(nn.Module):
    def __init__(self, texts):
        super().__init__()
        self.texts = texts
        self.local = nn.Conv1d(DOCUMENT, 32, DOCUMENT, padding="same")
        self.local_hidden, self.local_output = nn.Linear(32 * QUERY, 30), nn.Linear(30, 1)
        self.of_query = nn.Conv1d(DIMENSIONS, 32, 3, padding="same")
        self.query_linear = nn.Linear(32, 32)
        self.of_document = nn.Conv1d(DIMENSIONS, 32, 3, padding="same")
        self.window = nn.Conv1d(32, 32, 1)
        self.hidden, self.output = nn.Linear(32 * 13, 30), nn.Linear(30, 1)
        self.dropout = nn.Dropout(0.5)

    def forward(self, rows):
        query, document = self.texts.query[rows], self.texts.document[rows]
        same = (document[:, :, None] == query[:, None]).float()
        x = self.dropout(torch.tanh(self.local(same))).flatten(1)
        local = self.local_output(self.dropout(torch.tanh(self.local_hidden(x))))
        vectors = self.texts.vectors
        x = self.dropout(torch.tanh(self.of_query(vectors[query].transpose(1, 2))))
        query = self.query_linear(x.amax(2))
        x = self.dropout(torch.tanh(self.of_document(vectors[document].transpose(1, 2))))
        x = self.dropout(torch.tanh(self.window(F.max_pool1d(x, 3))))
        x = self.hidden((query[..., None] * x).flatten(1))
        return (local + self.output(self.dropout(x))).squeeze(1)


class MatchPyramid(nn.Module):
    """The nine products of shifted texts make the stretched matrix of a convolution cheap."""

    def __init__(self, texts):
        super().__init__()
        self.texts = texts
        self.vectors = nn.Parameter(texts.vectors.clone())
        self.filters, self.output = nn.Linear(9, 64), nn.Linear(64 * 30, 1)
        self.dropout = nn.Dropout(0.95)

    def forward(self, rows):
        def shifted(ids, n):
            lengths = (ids > 0).sum(1, keepdim=True)
            places = torch.arange(n) * lengths // ids.shape[1]
            padded = F.pad(ids, (1, 1))
            for shift in range(3):
                yield F.embedding(padded.gather(1, places + shift), self.vectors, padding_idx=0)

        query = list(shifted(self.texts.query[rows], 18))
        document = [it.transpose(1, 2) for it in shifted(self.texts.document[rows], 40)]
        products = torch.stack([a @ b for a in query for b in document], -1)
        found = F.max_pool2d(self.filters(products).permute(0, 3, 1, 2), (6, 4)).relu()
        return self.output(self.dropout(found.flatten(1))).squeeze(1)


class KernelPooling(nn.Module):
    def __init__(self, texts, longest):
        super().__init__()
        self.texts = texts
        means = [-0.9, -0.7, -0.5, -0.3, -0.1, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0]
        self.means = nn.Parameter(torch.tensor(means))
        self.widths = nn.Parameter(torch.tensor([0.1] * 10 + [0.001]))
        sizes = range(1, longest + 1)
        self.convolutions = nn.ModuleList(nn.Conv1d(DIMENSIONS, 128, n) for n in sizes)
        self.output = nn.Linear(11 * max(longest, 1) ** 2, 1)

    def ngrams(self, ids):
        vectors = self.texts.vectors[ids]
        if not self.convolutions:
            return [vectors]
        vectors = vectors.transpose(1, 2)
        found = [it(F.pad(vectors, (0, n))) for n, it in enumerate(self.convolutions)]
        return [F.normalize(it.transpose(1, 2), dim=2) for it in found]

    def forward(self, rows):
        query = self.texts.crop(self.texts.query[rows])
        document = self.texts.crop(self.texts.document[rows])
        of_query, of_document = (query > 0).float(), (document > 0).float()
        of_document_ngrams = self.ngrams(document)
        products = [
            a @ b.transpose(1, 2) for a in self.ngrams(query) for b in of_document_ngrams
        ]
        products = torch.stack(products, 1)  # [b, matrices, q, d]
        features = []
        for mean, width in zip(self.means, self.widths):
            kernel = torch.exp(-0.5 * ((products - mean) / width) ** 2)
            sums = (kernel * of_document[:, None, None]).sum(3)
            features.append((torch.log(sums + 1e-6) * of_query[:, None]).sum(2))
        return self.output(torch.cat(features, 1)).squeeze(1)


NETWORKS = {
    "drmm": (lambda texts: Histogram(texts, 60), 100),
    "anmm": (lambda texts: Histogram(texts, 20), 100),
    "duet": (Duet, 100),
    "matchpyramid": (MatchPyramid, 100),
    "knrm": (lambda texts: KernelPooling(texts, 0), 16),
    "conv-knrm": (lambda texts: KernelPooling(texts, 3), 16),
}


def main():
    threads, seconds = int(sys.argv[1]), float((sys.argv[2:] or [5])[0])
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    texts = Texts()
    for name, (make, batch) in NETWORKS.items():
        network = make(texts).train()
        optimizer = torch.optim.SGD(network.parameters(), lr=1e-3)

        def update():
            scores = network(torch.randint(N_PAIRS, (2 * batch,)))
            loss = F.relu(1 - scores[:batch] + scores[batch:]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        for _ in range(10):
            update()
        start, steps = time.perf_counter(), 0
        while time.perf_counter() - start < seconds:
            update()
            steps += 1
        print(json.dumps({
            "model": name,
            "updates_per_s": steps / (time.perf_counter() - start),
            "pairs_per_update": 2 * batch,
            "parameters": sum(it.numel() for it in network.parameters()),
            "threads": torch.get_num_threads(),
        }), flush=True)


if __name__ == "__main__":
    main()
