//! Descriptions of the further axioms on the aspects of a query, diversity and meaning.

use super::super::ProbeDescription;

pub(super) const REG: ProbeDescription = ProbeDescription {
    name: "REG",
    short_title: "least similar",
    statement: "Of two equally long documents, the one with more occurrences of the query term \
         least similar to the other query terms scores higher.",
    formula: "|d1| ≈ |d2| (10 %), c(w,d1) > c(w,d2) for each w ∈ Q with the least Σ cos(w, w') ⇒ \
              S(d1) > S(d2)",
    source: "Zheng & Fang, ECIR 2010; as in ir_axioms",
    known_issues: "Similarity is that of word vectors; the package uses WordNet or fastText. It \
         divides counts by document length, and its length precondition is never applied \
         (variant code).",
    example: &[],
};

pub(super) const ANTI_REG: ProbeDescription = ProbeDescription {
    name: "ANTI-REG",
    short_title: "most similar",
    statement: "Of two equally long documents, the one with more occurrences of the query term \
         most similar to the other query terms scores higher.",
    formula: "|d1| ≈ |d2| (10 %), c(w,d1) > c(w,d2) for each w ∈ Q with the greatest Σ cos(w, w') \
              ⇒ S(d1) > S(d2)",
    known_issues: "The reverse of REG, as a control. Deviations of the package are the same as \
         for REG (variant code).",
    ..REG
};

pub(super) const ASPECT_REG: ProbeDescription = ProbeDescription {
    name: "ASPECT-REG",
    short_title: "more aspects",
    statement: "Of two documents, the one that covers more aspects of the query scores higher; \
         all query terms must be about equally rare.",
    formula: "idf equal over Q (10 %), more clusters of {w ∈ Q: cos above its mean} with a term in \
              d1 than in d2 ⇒ S(d1) > S(d2)",
    known_issues: "The package only tests whether a document covers any aspect, for which any \
         query term suffices (variant code), and its clusters depend on the iteration order of \
         a set.",
    ..REG
};

pub(super) const AND: ProbeDescription = ProbeDescription {
    name: "AND",
    short_title: "all terms",
    statement: "A document with all query terms scores higher than one that lacks a query term.",
    formula: "Q ⊆ d1, Q ⊄ d2 ⇒ S(d1) > S(d2)",
    source: "Zheng & Fang, ECIR 2010, and Wu & Fang, SIGIR 2012; as in ir_axioms",
    known_issues: "Neither length nor the number of occurrences is controlled.",
    example: &["river bank", "the river bank", "the river river river"],
};

pub(super) const LEN_AND: ProbeDescription = ProbeDescription {
    name: "LEN-AND",
    statement: "Like AND, for two equally long documents.",
    formula: "|d1| ≈ |d2| (10 %), Q ⊆ d1, Q ⊄ d2 ⇒ S(d1) > S(d2)",
    known_issues: "The number of occurrences is not controlled.",
    example: &["river bank", "river bank mud", "river river mud"],
    ..AND
};

pub(super) const M_AND: ProbeDescription = ProbeDescription {
    name: "M-AND",
    short_title: "more distinct terms",
    statement: "A document with more distinct query terms scores higher.",
    formula: "|Q ∩ d1| > |Q ∩ d2| ⇒ S(d1) > S(d2)",
    known_issues: "Length, rarity and the number of occurrences are not controlled.",
    ..AND
};

pub(super) const LEN_M_AND: ProbeDescription = ProbeDescription {
    name: "LEN-M-AND",
    statement: "Like M-AND, for two equally long documents.",
    formula: "|d1| ≈ |d2| (10 %), |Q ∩ d1| > |Q ∩ d2| ⇒ S(d1) > S(d2)",
    known_issues: "Rarity and the number of occurrences are not controlled.",
    example: LEN_AND.example,
    ..M_AND
};

pub(super) const DIV: ProbeDescription = ProbeDescription {
    name: "DIV",
    short_title: "less overlap",
    statement: "Of two documents, the one whose vocabulary overlaps less with the query scores \
         higher.",
    formula: "|Q ∩ d1| / |Q ∪ d1| < |Q ∩ d2| / |Q ∪ d2| ⇒ S(d1) > S(d2)",
    source: "Gollapudi & Sharma, WWW 2009; as in ir_axioms",
    known_issues: "Stated for the diversity of a result list. For a single ranking it \
         contradicts relevance, and longer documents satisfy it by their length.",
    example: &["river bank", "river bank mud sand", "river bank mud"],
};

pub(super) const LEN_DIV: ProbeDescription = ProbeDescription {
    name: "LEN-DIV",
    statement: "Like DIV, for two equally long documents.",
    formula: "|d1| ≈ |d2| (10 %), |Q ∩ d1| / |Q ∪ d1| < |Q ∩ d2| / |Q ∪ d2| ⇒ S(d1) > S(d2)",
    known_issues: "The issues of DIV apply, except the one about length.",
    example: &["river bank", "river bank mud sand", "river bank mud mud"],
    ..DIV
};

pub(super) const STMC1: ProbeDescription = ProbeDescription {
    name: "STMC1@ir_axioms",
    short_title: "more similar words",
    statement: "Of two documents, the one whose words are on average more similar to those of \
         the query scores higher.",
    formula: "mean cos(t, w) over t ∈ d1, w ∈ Q above that over d2 ⇒ S(d1) > S(d2)",
    source: "Fang & Zhai, SIGIR 2006; as in ir_axioms",
    known_issues: "Query terms count among the words of a document, so this axiom mostly \
         repeats M-AND. Means that differ by at most 1e-12 are equal in every variant; in the \
         package, rounding decides.",
    example: &[],
};

pub(super) const STMC2: ProbeDescription = ProbeDescription {
    name: "STMC2@ir_axioms",
    short_title: "exact term",
    statement: "If one document contains a query term about as often, relative to length, as \
         another one contains the word most similar to it, the document with the query term \
         scores higher.",
    formula: "(t, w) = argmax cos over t ∉ Q in d1 or d2, w ∈ Q: |d2| / |d1| ≈ c(t,d2) / c(w,d1) \
              (20 %) ⇒ S(d1) > S(d2)",
    source: "Fang & Zhai, SIGIR 2006; as in ir_axioms",
    known_issues: "The package divides counts by document length; where both orders qualify, it \
         prefers the document that comes first (variant code).",
    example: &[],
};
