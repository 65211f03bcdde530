"""The peer ir_axioms: TFC1, LNC1 and M-TDC over the pools of shared/examples/lexical.rs.

`python ir_axioms_peer.py FOLDER` reads `pools.json` there, then does what each line of standard
input names and prints a line of JSON for it. Its tools are ours: alnum tokens, Porter's stems
(each distinct token stemmed once), document frequencies of the whole collection. Every text is
analysed once a run, which is kind to it: left alone it analyses a text for every axiom.
"""

import collections
import importlib.metadata
import json
import math
import pathlib
import re
import sys
from time import thread_time  # what else runs on the machine does not count

import Stemmer
from ir_axioms.axiom.retrieval.length_norm import Lnc1Axiom
from ir_axioms.axiom.retrieval.term_frequency import LenModifiedTdcAxiom, Tfc1Axiom
from ir_axioms.model import Document, Query
from ir_axioms.precondition.length import LenPrecondition
from ir_axioms.tools import IndexStatistics, TermTokenizer, TextContents, TextStatistics


class Texts(TextContents):
    def contents(self, input):
        return input.text


class Terms(TermTokenizer):
    def __init__(self):
        self.stemmer = Stemmer.Stemmer("porter", 1_000_000)
        self.known = {}

    def terms(self, text):
        found = self.known.get(text)
        if found is None:
            found = self.stemmer.stemWords(re.findall("[a-z0-9]+", text.lower()))
            self.known[text] = found
        return found


class Counts(TextStatistics):
    def __init__(self, terms):
        self.terms = terms
        self.known = {}

    def term_frequencies(self, document):
        found = self.known.get(document.id)
        if found is None:
            found = collections.Counter(self.terms.terms(document.text))
            self.known[document.id] = found
        return found

    def term_frequency(self, document, term):
        return self.term_frequencies(document)[term]


class Collection(IndexStatistics):
    def __init__(self, n_docs, df):
        self.n_docs, self.df = n_docs, df

    @property
    def document_count(self):
        return self.n_docs

    def document_frequency(self, term):
        return self.df.get(term, 0)

    def inverse_document_frequency(self, term):
        return math.log((self.n_docs + 1) / (self.df.get(term, 0) + 1))


def main():
    given = json.loads((pathlib.Path(sys.argv[1]) / "pools.json").read_text())
    df = {term: n for pool in given["pools"] for term, n in pool["df"].items()}
    batch = []
    for number, pool in enumerate(given["pools"]):
        docs = zip(pool["docs"], pool["texts"])
        docs = [Document(id=str(doc), text=text) for doc, text in docs]
        batch.append((Query(id=str(number), text=pool["query"]), docs))
    terms = Terms()
    counts = Counts(terms)
    tools = {"text_contents": Texts(), "term_tokenizer": terms}
    close = {"precondition": LenPrecondition(**tools)}
    stats = {"text_statistics": counts, "index_statistics": Collection(given["n_docs"], df)}
    axioms = [
        Tfc1Axiom(**tools, **close, text_statistics=counts),
        Lnc1Axiom(**tools, text_statistics=counts),
        LenModifiedTdcAxiom(**tools, **close, **stats),
    ]

    def mine():
        start = thread_time()
        for axiom in axioms:
            for query, docs in batch:
                axiom.preferences(query, docs)
        return thread_time() - start

    for task in sys.stdin:
        if task.strip() == "version":
            answer = {"version": importlib.metadata.version("ir_axioms")}
        else:
            terms.known.clear()
            counts.known.clear()
            answer = {"from_texts": mine(), "from_counts": mine()}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
