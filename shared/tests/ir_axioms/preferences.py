"""Makes preferences.json: what the package ir_axioms 1.2.5 prefers among a few texts.

    pip install ir_axioms==1.2.5
    PYTHONHASHSEED=0 python preferences.py > preferences.json

Tools given to the package: tokens between spaces, counts of them, the texts below as the
collection, BM25 (k1 1.2, b .75, idf ln(1 + (N − n + .5)/(n + .5))) for LB1, cosines of the
vectors below, 0 where a word has none; such a word is never the nearest one of STMC2.
"""

import json
import math
import random
import warnings

warnings.filterwarnings("ignore")

import importlib.metadata

import numpy as np
from ir_axioms.axiom.retrieval.length_norm import Lnc1Axiom, TfLncAxiom
from ir_axioms.axiom.retrieval.lower_bound import Lb1Axiom
from ir_axioms.axiom.retrieval import proximity as px
from ir_axioms.axiom.retrieval import query_aspects as qa
from ir_axioms.axiom.retrieval import term_frequency as tf
from ir_axioms.axiom.retrieval.term_similarity import Stmc1Axiom, Stmc2Axiom
from ir_axioms.axiom.arithmetic import UniformAxiom
from ir_axioms.model import Query
from ir_axioms.model.retrieval import ScoredDocument
from ir_axioms.precondition.length import LenPrecondition
from ir_axioms.tools import (
    IndexStatistics,
    TermSimilarity,
    TermTokenizer,
    TextContents,
    TextStatistics,
)

WORDS = ["river", "bank", "tide", "mud", "stone", "sand", "reed"]
VECTORS = {
    "river": [1.0, 0.2, 0.0],
    "bank": [0.1, 1.0, 0.1],
    "tide": [0.9, 0.1, 0.3],
    "mud": [-0.5, 0.4, 0.8],
    "stone": [0.2, -0.9, 0.4],
    "sand": [0.3, 0.5, 0.7],
}
QUERIES = ["river bank", "river bank tide", "river river mud", "sand", "tide reed bank"]


class Contents(TextContents):
    def contents(self, input):
        return input.text


class Tokens(TermTokenizer):
    def terms(self, text):
        return text.split()


class Counts(TextStatistics):
    def term_counts(self, document):
        found = {}
        for term in document.text.split():
            found[term] = found.get(term, 0) + 1
        return found


class Collection(IndexStatistics):
    def __init__(self, texts):
        self.n = len(texts)
        self.df = {word: sum(word in it.split() for it in texts) for word in WORDS}

    @property
    def document_count(self):
        return self.n

    def document_frequency(self, term):
        return self.df.get(term, 0)


class Likeness(TermSimilarity):
    def __init__(self):
        unit = lambda it: np.array(it, np.float32).astype(float)
        norm = lambda it: it / np.sqrt((it * it).sum())
        self.rows = {
            word: norm(unit(it)).astype(np.float32).astype(float)
            for word, it in VECTORS.items()
        }

    def similarity(self, term1, term2):
        a, b = self.rows.get(term1), self.rows.get(term2)
        if a is None or b is None:
            return 0.0
        return sum(x * y for x, y in zip(a, b))

    def average_similarity(self, terms1, terms2):
        # The order of a set is another each time, and so are the last digits of a mean.
        return super().average_similarity(sorted(terms1), sorted(terms2))

    def max_similarity_pairs(self, terms1, terms2):
        known = [it for it in terms2 if it in self.rows]
        return super().max_similarity_pairs([it for it in terms1 if it in self.rows], known)


def bm25(query, text, texts):
    average = sum(len(it.split()) for it in texts) / len(texts)
    terms = text.split()
    score = 0.0
    for term in query.split():
        n = sum(term in it.split() for it in texts)
        idf = math.log(1 + (len(texts) - n + 0.5) / (n + 0.5))
        count = terms.count(term)
        score += idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * len(terms) / average))
    return score


def main():
    draw = random.Random(11)
    texts = [
        " ".join(draw.choice(WORDS) for _ in range(draw.randrange(1, 13))) for _ in range(28)
    ]
    # For TFC3: two terms in equally many texts, alone and together.
    texts += ["river bank mud", "river river mud", "mud bank bank"]
    texts += ["river", "river mud", "river sand", "river reed"]
    base = {"text_contents": Contents(), "term_tokenizer": Tokens()}
    close = {"precondition": LenPrecondition(**base)}
    counts = {"text_statistics": Counts()}
    index = {"index_statistics": Collection(texts)}
    like = {"term_similarity": Likeness()}
    axioms = {
        "tfc1@ir_axioms": tf.Tfc1Axiom(**base, **close, **counts),
        "tfc3": tf.Tfc3Axiom(**base, **close, **counts, **index),
        "mtdc@ir_axioms": tf.ModifiedTdcAxiom(**base, **counts, **index),
        "len_m_tdc": tf.LenModifiedTdcAxiom(**base, **close, **counts, **index),
        "lnc1@ir_axioms": Lnc1Axiom(**base, **counts),
        "tf_lnc": TfLncAxiom(**base, **counts),
        "lb1": Lb1Axiom(**base, **counts),
        "reg": qa.RegAxiom(**base, **close, **counts, **like),
        "anti_reg": qa.AntiRegAxiom(**base, **close, **counts, **like),
        "aspect_reg": qa.AspectRegAxiom(
            **base, **index, **like, term_discriminator_margin_fraction=0.1
        ),
        "and": qa.AndAxiom(**base),
        "len_and": qa.LenAndAxiom(**base, **close),
        "m_and": qa.ModifiedAndAxiom(**base),
        "len_m_and": qa.LenModifiedAndAxiom(**base, **close),
        "div": qa.DivAxiom(**base),
        "len_div": qa.LenDivAxiom(**base, **close),
        "prox1": px.Prox1Axiom(**base),
        "prox2": px.Prox2Axiom(**base),
        "prox3": px.Prox3Axiom(**base),
        "prox4": px.Prox4Axiom(**base),
        "prox5": px.Prox5Axiom(**base),
        "stmc1@ir_axioms": Stmc1Axiom(**base, **like),
        "stmc2@ir_axioms": Stmc2Axiom(**base, **counts, **like),
    }
    of = axioms.get
    two = UniformAxiom(scalar=2)
    combined = {
        "and&div": of("and") & of("div"),
        "prox3|prox1|m_and": of("prox3") | of("prox1") | of("m_and"),
        "m_and%prox1%div": of("m_and") % of("prox1") % of("div"),
        "m_and+prox1-2*div": of("m_and") + of("prox1") - two * of("div"),
        "-prox5|m_and": -of("prox5") | of("m_and"),
        "m_and if undecided(prox1)": of("m_and").with_precondition(
            of("prox1").as_precondition()
        )
        if hasattr(of("m_and"), "with_precondition")
        else None,
    }
    combined = {name: it for name, it in combined.items() if it is not None}
    preferences = {}
    for name, axiom in {**axioms, **combined}.items():
        rows = []
        for query in QUERIES:
            docs = [
                ScoredDocument(id=str(at), text=text, score=bm25(query, text, texts))
                for at, text in enumerate(texts)
            ]
            rows.append(
                [
                    "".join(
                        "+" if value > 0 else "-" if value < 0 else "0"
                        for value in (
                            # Of a text and itself STMC2 prefers the first.
                            0 if a is b else axiom.preference(Query(id="q", text=query), a, b)
                            for b in docs
                        )
                    )
                    for a in docs
                ]
            )
        preferences[name] = rows
    print(
        json.dumps(
            {
                "package": f"ir_axioms {importlib.metadata.version('ir_axioms')}",
                "vectors": VECTORS,
                "queries": QUERIES,
                "texts": texts,
                "preferences": preferences,
            },
            indent=0,
        )
    )


if __name__ == "__main__":
    main()
